// SPDX-License-Identifier: Apache-2.0
/* Arenas and pools, as the objects that stand on them see them. */
#ifndef GPHPY_ARENA_H
#define GPHPY_ARENA_H
#include "gphpy.h"

typedef struct gphpy_arena {
    PyObject_HEAD gph_arena *gph;
    gphpy_runtime *runtime;
} gphpy_arena;

typedef struct gphpy_pool {
    PyObject_HEAD gph_pool *gph;
    gphpy_runtime *runtime;
    gphpy_arena *arena; /* NULL: it is lent */
    gphpy_scope *scope; /* borrowed: of what is recorded in it now */
} gphpy_pool;

gphpy_arena *gphpy_arena_make(gphpy_runtime *runtime, const gph_arena_options *options);
#endif
