// SPDX-License-Identifier: Apache-2.0
/* A thread's way through a part of a kernel, tried with numbers: whole numbers and addresses
 * are computed, everything else (floating point, what memory holds) is a hash of what it is
 * made of. Two pieces of code that leave the same marks for many starts do the same. */
#ifndef SOFT_PTX_FLOW_TRIAL_H
#define SOFT_PTX_FLOW_TRIAL_H

#include "softcuda/ptx/flow/flow.h"

#define TRIAL_STEPS_MAX 20000u /* instructions of one run */

typedef struct ptx_trial {
    const ptx_shape *s;
    uint64_t seed;        /* of what nothing is known of */
    uint32_t start;       /* the block in which runs start */
    uint32_t given;       /* a register that is said: `given_value` */
    uint64_t given_value; /* or SHAPE_NONE */
    /* By register: its value, and whether it has one, 1; or is being looked for, 2. */
    uint64_t *values;
    uint8_t *known;
    uint64_t stores, loads; /* marks: what was stored, in order; what was read */
    uint32_t steps;
    bool failed; /* it took too long, or meets what is not of its kind */
} ptx_trial;

/* Room for trials of a shape that knows what is alive. */
ptx_trial *ptx_trial_create(ptx_shape *s);
/* Forgets all values: the next run is of another thread. `reg`: see `given`. */
void ptx_trial_begin(ptx_trial *t, uint32_t start, uint64_t seed, uint32_t reg,
                     uint64_t value);
/* Runs the block, without its branch. */
void ptx_trial_block(ptx_trial *t, uint32_t block);
void ptx_trial_insn(ptx_trial *t, uint32_t insn);
/* Where its branch leads. */
uint32_t ptx_trial_next(ptx_trial *t, uint32_t block);
/* Of a register, at the start of a run if nothing has set it. */
uint64_t ptx_trial_value(ptx_trial *t, uint32_t reg);

#endif
