// SPDX-License-Identifier: Apache-2.0
/* An instruction that moves a box of a tensor, as one word, between the code that is
 * generated and the run time that does it. */
#ifndef SOFT_PTX_TENSORFORM_H
#define SOFT_PTX_TENSORFORM_H

#include <stdbool.h>
#include <stdint.h>

#define PTX_TENSOR_RANK_MAX 5u

typedef enum ptx_tensor_op {
    PTX_TENSOR_LOAD,
    PTX_TENSOR_STORE,
    PTX_TENSOR_ADD, /* reductions: the box into the tensor */
    PTX_TENSOR_MIN,
    PTX_TENSOR_MAX,
    PTX_TENSOR_INC,
    PTX_TENSOR_DEC,
    PTX_TENSOR_AND,
    PTX_TENSOR_OR,
    PTX_TENSOR_XOR
} ptx_tensor_op;

typedef struct ptx_tensor {
    uint8_t op;   /* ptx_tensor_op */
    uint8_t rank; /* 1 ... 5 */
    bool is_im2col;
} ptx_tensor;

static inline uint32_t ptx_tensor_pack(const ptx_tensor *t)
{
    return (uint32_t)t->op | (uint32_t)t->rank << 4 | (uint32_t)t->is_im2col << 8;
}

static inline ptx_tensor ptx_tensor_unpack(uint32_t word)
{
    return (ptx_tensor){
        .op = word & 15, .rank = word >> 4 & 15, .is_im2col = (word >> 8 & 1) != 0};
}

#endif
