// SPDX-License-Identifier: Apache-2.0
/* What the writers of a function's IR share: how registers and labels are named where
 * code is being written, and the pieces that the fast path, the slow path and device
 * functions have in common. */
#ifndef SOFT_PTX_SHAPE_SHAPE_H
#define SOFT_PTX_SHAPE_SHAPE_H

#include "softcuda/ptx/flow/flow.h"

/* emit->shape: how registers are named where code is being written. */
typedef struct ptx_writer {
    ptx_shape *s;
    bool scalar;           /* the part of a region that runs once a block */
    bool fast;             /* in a function that runs a block */
    const uint8_t *inside; /* uniform registers that have a slot by thread here */
    uint32_t label;        /* prefix of the labels of blocks */
    uint32_t region;
    ptx_value tid[3];
    ptx_value thread; /* slow path: ptr to ptx_thread, or "null" */
} ptx_writer;

void ptx_write_insn(ptx_emit *emit, uint32_t insn);
void ptx_write_slow_cut(ptx_emit *emit, uint32_t insn); /* as calls of the run time */
/* Waits until no other lane of the warp can come here first; a mask of those that came. */
ptx_value ptx_write_meeting(ptx_emit *emit, uint32_t place);
/* shape_matrix.c: a matrix operation as a call of the run time; does the function have
 * any? */
void ptx_write_slow_matrix(ptx_emit *emit, uint32_t insn);
bool ptx_has_matrix(const ptx_function *function);
void ptx_write_slots(ptx_emit *emit);
/* The names of block, grid, zero, shared, ntid ... at the start of every function. */
void ptx_write_head(ptx_emit *emit);
ptx_value ptx_special_register(ptx_emit *emit, ptx_sreg sreg);
ptx_value ptx_variable_address(ptx_emit *emit, uint32_t index);
void ptx_write_call(ptx_emit *emit, const ptx_insn *insn);
/* Branches to `label`s of blocks by the end of `block`; `target` names the label of each
 * successor. */
typedef void ptx_target_fn(ptx_emit *emit, uint32_t block, uint32_t nth, char *label,
                           size_t bytes);
void ptx_write_end(ptx_emit *emit, uint32_t block, ptx_target_fn *target);

/* ---- functions: shape_slow.c, shape_fast.c ---- */
void ptx_write_slow(ptx_shape *s);   /* @"t.<kernel>" */
void ptx_write_device(ptx_shape *s); /* @"f.<function>" */
const char *ptx_linkage(const ptx_build *p, uint32_t function);
void ptx_write_fast(ptx_shape *s); /* @"b.<kernel>"; of two forms "n." or "w.<kernel>" */
/* shape_forms.c: all forms of a kernel whose plan is made. */
void ptx_write_forms(ptx_shape *s);
/* shape_phase.c: of a warp's form, what each warp keeps over barriers. */
void ptx_plan_phases(ptx_shape *s, const ptx_shape *block_form);
/* shape_forms.c: whether it has a form for a warp, s->twin, too. */
void ptx_plan_forms(ptx_shape *s);
void ptx_write_tail(ptx_build *p); /* all that the functions refer to */
void ptx_analyze(ptx_shape *s);    /* compile.c: what every plan starts from */

/* ---- shape_describe.c: of an analyzed kernel, then of its plan ---- */
void ptx_describe_kernel(ptx_build *p, const ptx_shape *s, ptx_kernel *k);
void ptx_describe_plan(ptx_build *p, ptx_shape *s, ptx_kernel *k);
/* shape_flat.c: how a region of the fast path does without branches, for the kernel report:
 * how many lines, 0 or 1. */
uint32_t ptx_describe_region(ptx_shape *s, uint32_t region, ptx_cut *out);
bool ptx_uses_variable(const ptx_function *f, uint32_t variable);

#endif
