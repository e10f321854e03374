// SPDX-License-Identifier: Apache-2.0
/* What the writers of a block's function share: regions (shape_fast.c), barriers and warp
 * operations (shape_warp.c). */
#ifndef SOFT_PTX_SHAPE_FAST_H
#define SOFT_PTX_SHAPE_FAST_H

#include "softcuda/ptx/shape/shape.h"

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
    bool round;          /* the copy in which all threads of a loop go round once more */
    bool again;          /* such a copy was written: it leads back into the loop */
    uint32_t rounds;     /* how many of them a thread makes in the copy being written */
    const uint8_t *ways; /* by block: the way of its branch that all take, + 1; or NULL */
} fast;

#define FAST_GUARDS_MAX 8u

/* ---- shape_remat.c ---- */
void fast_write_remat(fast *f);
void fast_load_context(fast *f, uint32_t reg); /* shape_fast.c */

/* ---- shape_guard.c ---- */
/* Region copies for threads that are all or the first ones, and for those that flags
 * pick. `scan` tells how many threads take part; in its top bit, that they are not the
 * first ones. */
void fast_write_choice(fast *f, const char *scan);
/* A copy for when all threads take the same ways, and one for when not. False, nothing
 * written: there is no such branch. */
bool fast_write_without_guards(fast *f);
/* Only threads whose x is a multiple of it have anything to do in the region. */
uint32_t fast_stride(const fast *f);

/* ---- shape_warp.c ---- */
/* The barrier or warp operation of the current region; `scan` as above, or "". */
void fast_write_cut(fast *f, const char *scan);

/* ---- shape_part.c ---- */
#define FAST_REGIONS_MAX 32u /* kernels of more have a function for each */
/* What is written between the two goes into a function of its own. `scan`: the value that
 * tells how many threads take part, or "". The code leads to R<n>.after or R<n>.back. */
void fast_begin_part(fast *f);
void fast_end_part(fast *f, const char *scan);
void fast_write_parts(fast *f); /* behind the kernel's function */

/* ---- shape_block.c ---- */
void fast_write_helpers(ptx_text *out);

/* ---- shape_fast.c ---- */
const shape_region *fast_region(const fast *f); /* the current one */
const char *fast_type(const fast *f, uint32_t reg);
const char *fast_memory_type(const fast *f, uint32_t reg);
void fast_move_offsets(fast *f);
bool fast_is_array(const fast *f, uint32_t reg);
bool fast_is_scalar(const shape *s, uint32_t insn);
bool fast_is_inside(const shape *s, uint32_t insn);
bool fast_heads_loop(const fast *f, uint32_t region, uint32_t *loop);
void fast_set_name(ptx_value *value, const char *name);
void fast_write_loops(fast *f, char copy, const char *from, const char *bound);
void fast_write_region(fast *f, uint32_t region);
void fast_name_thread(fast *f);
void fast_set_scalar(fast *f, bool scalar); /* code for the block, or for a thread */

#endif
