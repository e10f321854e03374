// SPDX-License-Identifier: Apache-2.0
/* Recipes: recipe.c has the types, recipe_cache.c what is a cache's, recipe_kernels.c who names
 * kernels. */
#ifndef GPHPY_RECIPE_H
#define GPHPY_RECIPE_H
#include "gphpy.h"

typedef struct gphpy_recipe {
    PyObject_HEAD gph_recipe *gph;
    gphpy_lock lock;
} gphpy_recipe;

typedef struct gphpy_loaded {
    PyObject_HEAD gph_loaded *gph;
    gphpy_runtime *runtime;
    PyObject *owner; /* the pool or the tree that it lies in; or NULL */
} gphpy_loaded;

/* One without graphs yet. */
gphpy_loaded *gphpy_loaded_make(gphpy_runtime *runtime, PyObject *owner);
/* The runtime of an object that must be one; NULL with an exception. Its device is the thread's. */
gphpy_runtime *gphpy_runtime_of(PyObject *object);
/* Reads {range: (address, bytes)} into the options; `out` is free()d in any case, after them. */
int gphpy_places_read(PyObject *dict, gph_loaded_options *options,
                      gph_recipe_place **out);
uint32_t gphpy_load_flags(int check, int share, int lazy);

/* A function of Python that names kernels. What it gave is kept, whose names libgph reads. */
typedef struct gphpy_identify {
    gph_resolver resolver;
    PyObject *function, *answers;
    PyObject *type, *value, *trace; /* of the exception that it ended with */
} gphpy_identify;
/* *out is set if there is a function. -1 with an exception. */
int gphpy_identify_begin(gphpy_identify *self, PyObject *function,
                         const gph_resolver **out);
/* Takes and gives the result of the call; NULL where the function raised. */
PyObject *gphpy_identify_end(gphpy_identify *self, PyObject *result);

PyObject *gphpy_recipe_add_cache(gphpy_recipe *self, PyObject *args, PyObject *kwargs);
PyObject *gphpy_recipe_instantiate_cache(gphpy_recipe *self, PyObject *args,
                                         PyObject *kwargs);
#endif
