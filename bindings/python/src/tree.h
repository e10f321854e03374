// SPDX-License-Identifier: Apache-2.0
/* A tree, as its functions and outputs see it. */
#ifndef GPHPY_TREE_H
#define GPHPY_TREE_H
#include "arena.h"

#include <stdatomic.h>

typedef struct gphpy_tree {
    PyObject_HEAD gph_tree *gph; /* NULL: closed */
    gphpy_runtime *runtime;
    PyObject *arena, *stream, *rng;
    PyObject *functions; /* a list: keepers, as long as the tree */
    gphpy_lock lock;
    /* Outputs to be released when the call that goes on is over, under a mutex that is held for
     * that alone. Each output that is held has its place here. */
    pthread_mutex_t late_mutex;
    gph_tree_output *late;
    _Atomic(uint32_t) late_count;
    uint32_t late_room, held_count;
} gphpy_tree;

/* False with an exception: closed, or called from inside a call of it. */
bool gphpy_tree_take(gphpy_tree *tree);
void gphpy_tree_give(gphpy_tree *tree);
/* Room for outputs to be held; -1 without exception: no memory. */
int gphpy_tree_reserve(gphpy_tree *tree, uint32_t more);
void gphpy_tree_unreserve(gphpy_tree *tree, uint32_t fewer);
/* Now, or when the tree's call is over. Never fails, never waits. */
void gphpy_tree_release(gphpy_tree *tree, gph_tree_output output);
PyObject *gphpy_tree_function_new(gphpy_tree *tree, PyObject *args, PyObject *kwargs);
#endif
