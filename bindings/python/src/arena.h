// SPDX-License-Identifier: Apache-2.0
/* Arenas and pools, as the objects that use them see them. */
#ifndef GPHPY_ARENA_H
#define GPHPY_ARENA_H
#include "gphpy.h"

typedef struct gphpy_arena {
    PyObject_HEAD gph_arena *gph;
    gphpy_runtime *runtime;
    bool is_home; /* the runtime's */
} gphpy_arena;

typedef struct gphpy_pool {
    PyObject_HEAD gph_pool *gph;
    gphpy_runtime *runtime;
    gphpy_arena *arena;   /* NULL: it is lent */
    gphpy_scope *scope;   /* of what is recorded in it now, or NULL */
    bool is_scope_of_all; /* not only of captured streams */
} gphpy_pool;

gphpy_arena *gphpy_arena_make(gphpy_runtime *runtime, const gph_arena_options *options);
/* That of all who have none of their own: addresses are not without end. */
gphpy_arena *gphpy_arena_home(gphpy_runtime *runtime);
#endif
