// SPDX-License-Identifier: Apache-2.0
/* What the writers of a block's function share: regions (shape_fast.c), barriers and warp
 * operations (shape_warp.c). */
#ifndef SOFT_PTX_FAST_H
#define SOFT_PTX_FAST_H

#include "softcuda/ptx/shape.h"

typedef struct fast_remat {
    uint32_t reg, def;
} fast_remat;

typedef struct fast {
    shape_writer w; /* first: emit->shape points here */
    shape *s;
    ptx_emit emit;
    uint32_t region;          /* being written */
    char name[16];            /* of the loop over threads being written: "T7a" */
    ptx_value index64;        /* the thread's index there */
    uint8_t *inside, *wanted; /* by register */
    fast_remat *chain;
    uint32_t chain_count;
    const uint8_t *ways; /* by block: the way of its branch that all take, + 1; or NULL */
} fast;

#define FAST_GUARDS_MAX 8u

/* ---- shape_guard.c ---- */
/* Whether all threads take the usual way at the branches of the region: an i1, worked out
 * once a block, and f->ways. False: there is no branch of which it can be said. */
bool fast_write_guards(fast *f, ptx_value *out);

/* ---- shape_warp.c ---- */
void fast_write_cut(fast *f); /* the barrier or warp operation of the current region */

/* ---- shape_fast.c ---- */
void fast_name_thread(fast *f);
void fast_set_scalar(fast *f, bool scalar); /* code for the block, or for a thread */
void fast_write_helpers(ptx_text *out);

#endif
