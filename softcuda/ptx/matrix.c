// SPDX-License-Identifier: Apache-2.0
/* The word of a matrix operation, and how many registers its fragments have. */
#include "softcuda/ptx/matrix.h"

uint32_t ptx_element_bits(ptx_element element)
{
    static const uint8_t bits[PTX_ELEMENT_COUNT] = {16, 16, 32, 32, 64, 8, 8,
                                                    8,  8,  4,  4,  1,  32};
    return element < PTX_ELEMENT_COUNT ? bits[element] : 0;
}

/* Fields from the lowest bit on: see ptx_matrix_unpack(). */
static void put(uint64_t *word, uint32_t *at, uint32_t bits, uint64_t value)
{
    *word |= value << *at;
    *at += bits;
}

static uint32_t get(uint64_t word, uint32_t *at, uint32_t bits)
{
    const uint32_t value = (uint32_t)(word >> *at) & ((1u << bits) - 1);
    *at += bits;
    return value;
}

uint64_t ptx_matrix_pack(const ptx_matrix *x)
{
    const uint8_t narrow[] = {x->a, x->b, x->c, x->d, x->count};
    const bool flags[] = {x->a_by_column, x->b_by_column, x->transposed, x->saturates,
                          x->takes_and,   x->is_shared,   x->is_wmma};
    uint64_t word = 0;
    uint32_t at = 0;
    put(&word, &at, 3, x->op);
    put(&word, &at, 6, x->m);
    put(&word, &at, 6, x->n);
    put(&word, &at, 9, x->k);
    put(&word, &at, 2, x->which);
    for (uint32_t i = 0; i < 5; i++)
        put(&word, &at, 4, narrow[i]);
    for (uint32_t i = 0; i < 7; i++)
        put(&word, &at, 1, flags[i]);
    put(&word, &at, 1, x->is_sparse);
    put(&word, &at, 2, x->selector);
    return word;
}

ptx_matrix ptx_matrix_unpack(uint64_t word)
{
    ptx_matrix x = {0};
    uint8_t *const narrow[] = {&x.a, &x.b, &x.c, &x.d, &x.count};
    bool *const flags[] = {&x.a_by_column, &x.b_by_column, &x.transposed, &x.saturates,
                           &x.takes_and,   &x.is_shared,   &x.is_wmma};
    uint32_t at = 0;
    x.op = (uint8_t)get(word, &at, 3);
    x.m = (uint8_t)get(word, &at, 6);
    x.n = (uint8_t)get(word, &at, 6);
    x.k = (uint16_t)get(word, &at, 9);
    x.which = (uint8_t)get(word, &at, 2);
    for (uint32_t i = 0; i < 5; i++)
        *narrow[i] = (uint8_t)get(word, &at, 4);
    for (uint32_t i = 0; i < 7; i++)
        *flags[i] = get(word, &at, 1) != 0;
    x.is_sparse = get(word, &at, 1) != 0;
    x.selector = (uint8_t)get(word, &at, 2);
    return x;
}

static ptx_element element_of(const ptx_matrix *x, char which)
{
    return (ptx_element)(which == 'a'   ? x->a
                         : which == 'b' ? x->b
                         : which == 'c' ? x->c
                                        : x->d);
}

uint32_t ptx_matrix_unit(const ptx_matrix *x, char which)
{
    return x->op <= PTX_MATRIX_MMA || x->op >= PTX_MATRIX_FRAGMENT
               ? element_of(x, which) == PTX_ELEMENT_F64 ? 8 : 4
               : 4;
}

/* wmma's A and B of f16 take 8 registers in each shape, those of m32n8k16 and m8n32k16
 * too: a lane has each element twice, or as often as it takes. */
uint32_t ptx_matrix_registers(const ptx_matrix *x, char which)
{
    const ptx_element element = element_of(x, which);
    const uint32_t rows = which == 'b' ? x->k : x->m;
    const uint32_t columns = which != 'a' ? x->n : x->is_sparse ? x->k / 2u : x->k;
    if (x->is_wmma && element == PTX_ELEMENT_F16 && (which == 'a' || which == 'b'))
        return 8;
    const uint32_t bytes = rows * columns * ptx_element_bits(element) / 8 / 32;
    return element == PTX_ELEMENT_F64 ? bytes / 8 : bytes / 4;
}

/* Four bits for each four of A (of tf32: two), 16 rows, 32 bits a lane of each four. */
uint32_t ptx_matrix_metadata_lanes(const ptx_matrix *x)
{
    const uint32_t group = x->a == PTX_ELEMENT_TF32 ? 2 : 4;
    return x->k / group * 4 * 16 / 32 / 8;
}
