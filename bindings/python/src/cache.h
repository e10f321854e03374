// SPDX-License-Identifier: Apache-2.0
/* A cache: cache.c calls it, cache_options.c reads what it is made with. */
#ifndef GPHPY_CACHE_H
#define GPHPY_CACHE_H
#include "gphpy.h"

enum { GPHPY_CACHE_TENSORS = 64 };

typedef struct gphpy_cache {
    PyObject_HEAD vectorcallfunc call;
    gph_cache *gph;
    gphpy_keeper *keeper;
    PyObject *wanted; /* while it is made */
    PyObject *loaded; /* of a recipe; or NULL */
    gphpy_lock lock;  /* of starts, works and evictions */
    pthread_mutex_t last_mutex;
    gph_cache_match last;
    int64_t last_sizes[GPH_CACHE_AXES_MAX];
    uint32_t axis_count, input_count, output_count;
} gphpy_cache;

/* What the options point to. */
typedef struct gphpy_cache_given {
    gph_cache_options options;
    PyObject *function, *axes, *inputs, *outputs, *pool, *rng, *wanted, *lazy;
    PyObject *dict[GPH_CACHE_AXES_MAX]; /* copies, whose names stay; or NULL */
    gph_cache_axis axis[GPH_CACHE_AXES_MAX];
    int64_t *values[GPH_CACHE_AXES_MAX];
    uint64_t *counts[GPH_CACHE_AXES_MAX];
    gph_cache_tensor input[GPHPY_CACHE_TENSORS], output[GPHPY_CACHE_TENSORS];
} gphpy_cache_given;

/* Makes the gph_cache of options that were read, with the GIL. */
typedef gph_status gphpy_cache_create_fn(void *user, gphpy_runtime *runtime,
                                         const gph_cache_options *options,
                                         gph_cache **out, gph_error *error);
/* A Cache by such a function; arguments as Runtime.cache() has them. */
PyObject *gphpy_cache_made(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs,
                           gphpy_cache_create_fn *create, void *user);

/* Reads all of it; gphpy_cache_free() in any case. -1 with an exception. */
int gphpy_cache_read(gphpy_cache_given *given, PyObject *args, PyObject *kwargs);
void gphpy_cache_free(gphpy_cache_given *given);
#endif
