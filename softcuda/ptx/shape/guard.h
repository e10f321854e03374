// SPDX-License-Identifier: Apache-2.0
/* What is asked of the first and the last thread so that it is known of all of them: for
 * shape_guard.c, and for shape_jam.c, which makes several rounds of a loop together. */
#ifndef SOFT_PTX_GUARD_H
#define SOFT_PTX_GUARD_H

#include "softcuda/ptx/shape/fast.h"

#define PTX_GUARD_TERMS_MAX 8u

/* A sum of uniform terms and at most one index of the thread. */
typedef struct ptx_guard_terms {
    const ptx_operand *terms[PTX_GUARD_TERMS_MAX][2]; /* the second not NULL: a product */
    uint32_t count;
    uint32_t offset; /* a register whose steps so far count, too, or SHAPE_NONE */
    bool before;     /* it is read before it makes its step of this round, not after */
    int axis;        /* 0 x, 1 y, 2 z, 3 the lane of a warp, -1 none */
} ptx_guard_terms;

/* What must hold for all threads: `left cmp right` is `value`; or the two differ. */
typedef struct ptx_guard {
    const char *predicate; /* of icmp */
    bool is_signed, value, differs;
    ptx_guard_terms left, right;
} ptx_guard;

typedef struct ptx_guards {
    ptx_guard list[FAST_GUARDS_MAX];
    uint32_t count;
} ptx_guards;

/* ---- shape_terms.c ---- */
bool ptx_guard_is_uniform(const ptx_fast *f, const ptx_operand *operand);
/* Adds what `operand` of `use` is to the sum; false: it is something else. */
bool ptx_guard_add(const ptx_fast *f, const ptx_operand *operand, const ptx_insn *use,
                   ptx_guard_terms *to);
/* The sum when the region starts, but for the thread's index. */
ptx_value ptx_guard_sum(ptx_fast *f, const ptx_guard_terms *from);
/* `low` as it is `rounds` later, and whether it gets there without wrapping. */
ptx_value ptx_guard_later(ptx_fast *f, bool is_signed, const ptx_guard_terms *from,
                          uint32_t rounds, ptx_value *low);
/* Whether the first and the last thread give `value`, and the index does not wrap: then
 * all in between do. With `rounds`, so many rounds later: given that it holds now, then
 * in all rounds up to there. */
ptx_value ptx_guard_holds(ptx_fast *f, const ptx_guard *guard, uint32_t rounds);

/* ---- shape_jam.c ---- */
/* The copies for several rounds together of a loop that goes on where `all` hold. Leaves the
 * flow where one round is to be made. */
void ptx_guard_jam(ptx_fast *f, const ptx_guards *all);

#endif
