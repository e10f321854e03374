// SPDX-License-Identifier: Apache-2.0
/* d = a * b + c of small matrices with the arithmetic of an H100's tensor cores. */
#ifndef SOFT_KERNEL_RUN_TENSOR_H
#define SOFT_KERNEL_RUN_TENSOR_H

#include "softcuda/ptx/matrix.h"

/* It all lies on the stacks of threads, which are small. */
#define SOFT_TENSOR_ELEMENTS 512 /* of a or b; integers twice that */
#define SOFT_TENSOR_RESULTS 256  /* of c or d */

/* a by rows, b by columns, so that both run along k; c and d by rows. Numbers of 4 and 8
 * bits are integers, f64 doubles, other floats the bits of their format; b1 are words of
 * 32, and `k` counts words. */
typedef struct soft_tensor {
    uint32_t m, n, k;
    uint8_t a_type, b_type, c_type, d_type; /* ptx_element */
    bool saturates, takes_and;
    bool short_blocks; /* wmma of tf32: in two halves */
    union {
        uint32_t bits[SOFT_TENSOR_ELEMENTS];
        int16_t ints[2 * SOFT_TENSOR_ELEMENTS];
        double doubles[SOFT_TENSOR_ELEMENTS / 2];
    } a, b;
    union {
        uint32_t bits[SOFT_TENSOR_RESULTS];
        double doubles[SOFT_TENSOR_RESULTS / 2];
    } c, d;
} soft_tensor;

/* Fills d from the rest. Thread: any. */
void soft_tensor_multiply(soft_tensor *t);

#endif
