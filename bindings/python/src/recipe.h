// SPDX-License-Identifier: Apache-2.0
/* Recipes: recipe.c has the types, recipe_cache.c what is a cache's. */
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

PyObject *gphpy_recipe_add_cache(gphpy_recipe *self, PyObject *args, PyObject *kwargs);
PyObject *gphpy_recipe_instantiate_cache(gphpy_recipe *self, PyObject *args,
                                         PyObject *kwargs);
#endif
