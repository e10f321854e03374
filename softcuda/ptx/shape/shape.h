// SPDX-License-Identifier: Apache-2.0
/* What the writers of a function's IR share: how registers and labels are named where
 * code is being written, and the pieces that the fast path, the slow path and device
 * functions have in common. */
#ifndef SOFT_PTX_SHAPE_SHAPE_H
#define SOFT_PTX_SHAPE_SHAPE_H

#include "softcuda/ptx/flow/flow.h"

/* emit->shape: how registers are named where code is being written. */
typedef struct shape_writer {
    shape *s;
    bool scalar;           /* the part of a region that runs once a block */
    bool fast;             /* in a function that runs a block */
    const uint8_t *inside; /* uniform registers that have a slot by thread here */
    uint32_t label;        /* prefix of the labels of blocks */
    uint32_t region;
    ptx_value tid[3];
    ptx_value thread; /* slow path: ptr to ptx_thread, or "null" */
} shape_writer;

void shape_write_insn(ptx_emit *emit, uint32_t insn);
void shape_write_slow_cut(ptx_emit *emit, uint32_t insn); /* as calls of the run time */
void shape_write_slots(ptx_emit *emit);
/* The names of block, grid, zero, shared, ntid ... at the start of every function. */
void shape_write_head(ptx_emit *emit);
ptx_value shape_special_register(ptx_emit *emit, ptx_sreg sreg);
ptx_value shape_variable_address(ptx_emit *emit, uint32_t index);
void shape_write_call(ptx_emit *emit, const ptx_insn *insn);
/* Branches to `label`s of blocks by the end of `block`; `target` names the label of each
 * successor. */
typedef void shape_target_fn(ptx_emit *emit, uint32_t block, uint32_t nth, char *label,
                             size_t bytes);
void shape_write_end(ptx_emit *emit, uint32_t block, shape_target_fn *target);

/* ---- functions: shape_slow.c, shape_fast.c ---- */
void shape_write_slow(shape *s);   /* @"t.<kernel>" */
void shape_write_device(shape *s); /* @"f.<function>" */
void shape_write_fast(shape *s);   /* @"b.<kernel>" */

#endif
