// SPDX-License-Identifier: Apache-2.0
/* A warp operation of the fast path while it is written: shape_warp.c and what it leaves
 * to shape_matrix.c. */
#ifndef SOFT_PTX_SHAPE_WARP_H
#define SOFT_PTX_SHAPE_WARP_H

#include "softcuda/ptx/shape/fast.h"

typedef struct ptx_warp {
    ptx_fast *f;
    ptx_emit *e;
    const ptx_region *region;
    ptx_cut_form cut;
    char base[16];     /* first thread of the warp, i64 */
    ptx_value active;  /* <32 x i1> */
    ptx_value bits;    /* the same as i32 */
    ptx_value members; /* the member mask: i32, or <32 x i32> */
    bool many_masks;   /* the member mask differs by lane */
} ptx_warp;

ptx_value ptx_warp_splat(ptx_warp *w, const char *type, const char *value);
/* 32 values of the array by thread that `array` and `n` name. */
ptx_value ptx_warp_load_lanes(ptx_warp *w, const char *type, const char *array,
                              uint32_t n);
/* A register with an array; any other operand has one value for all. */
bool ptx_warp_is_array(const ptx_warp *w, const ptx_operand *o);
/* Lanes that are elsewhere keep what they have. */
void ptx_warp_store_active(ptx_warp *w, const char *type, uint32_t reg, ptx_value value);

/* What is in [ ], as <32 x i64>, whatever its register is. */
ptx_value ptx_warp_addresses(ptx_warp *w, const ptx_operand *address);
ptx_value ptx_warp_lanes(ptx_warp *w, const ptx_operand *o, const char *type);
ptx_value ptx_warp_op(ptx_warp *w, const char *op, ptx_value a, const char *b);
ptx_value ptx_warp_number(ptx_warp *w, int number);
void ptx_warp_store_result(ptx_warp *w, const ptx_operand *out, ptx_value value);
void ptx_warp_store_predicate(ptx_warp *w, const ptx_operand *out, ptx_value value);

/* shape_match.c: match.any of small numbers. False, nothing written: it is another match. */
bool ptx_warp_match_bits(ptx_warp *w);

/* shape_sum.c: see flow/join.c. */
void ptx_warp_write_sum(ptx_warp *w);

/* shape_matrix.c: mma, ldmatrix and their like, as a call of the run time a warp. */
void ptx_warp_write_matrix(ptx_warp *w);

#endif
