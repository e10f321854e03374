// SPDX-License-Identifier: Apache-2.0
/* Matrix operations of a warp as one word, between the code that is generated and the run
 * time that does them: mma.sync, wmma, ldmatrix, stmatrix, movmatrix.
 *
 * A warp's registers come as arrays of 32 lanes, one a register, in the order of the
 * operands: destinations first, then sources, then lanes' addresses and the stride. */
#ifndef SOFT_PTX_MATRIX_H
#define SOFT_PTX_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#define PTX_MATRIX_REGISTERS_MAX 40u

typedef enum ptx_matrix_op {
    PTX_MATRIX_MMA,      /* mma.sync, wmma.mma: d, a, b, c; mma.sp: metadata, too */
    PTX_MATRIX_LOAD,     /* ldmatrix: d, address */
    PTX_MATRIX_STORE,    /* stmatrix: a, address */
    PTX_MATRIX_MOVE,     /* movmatrix: d, a */
    PTX_MATRIX_FRAGMENT, /* wmma.load: d, address, stride */
    PTX_MATRIX_RESULT    /* wmma.store: a, address, stride */
} ptx_matrix_op;

typedef enum ptx_element {
    PTX_ELEMENT_F16,
    PTX_ELEMENT_BF16,
    PTX_ELEMENT_TF32,
    PTX_ELEMENT_F32,
    PTX_ELEMENT_F64,
    PTX_ELEMENT_E4M3,
    PTX_ELEMENT_E5M2,
    PTX_ELEMENT_S8,
    PTX_ELEMENT_U8,
    PTX_ELEMENT_S4,
    PTX_ELEMENT_U4,
    PTX_ELEMENT_B1,
    PTX_ELEMENT_S32,
    PTX_ELEMENT_COUNT
} ptx_element;

typedef struct ptx_matrix {
    uint8_t op;                    /* ptx_matrix_op */
    uint8_t m, n;                  /* rows of A, columns of B */
    uint16_t k;                    /* columns of A */
    uint8_t a, b, c, d;            /* ptx_element; of FRAGMENT and RESULT: a alone */
    uint8_t which;                 /* FRAGMENT: 'a', 'b' or 'c' - 'a'; RESULT: 3 */
    uint8_t count;                 /* LOAD, STORE: matrices, 1, 2 or 4 */
    bool a_by_column, b_by_column; /* as the matrices lie in memory; of wmma */
    bool transposed;               /* LOAD, STORE */
    bool saturates;                /* .satfinite */
    bool takes_and;                /* .and.popc, else .xor.popc */
    bool is_shared;                /* addresses are offsets in shared memory */
    bool is_wmma;
    bool is_sparse;   /* mma.sp: half of each row of A is there, metadata says which */
    uint8_t selector; /* its last operand: which lanes of four have the metadata */
} ptx_matrix;

/* All of it in 56 bits, and back: 53, and three of mma.sp. */
uint64_t ptx_matrix_pack(const ptx_matrix *matrix);
ptx_matrix ptx_matrix_unpack(uint64_t word);

uint32_t ptx_element_bits(ptx_element element);
/* Registers of a fragment: which is 'a', 'b', 'c' or 'd'. */
uint32_t ptx_matrix_registers(const ptx_matrix *matrix, char which);
/* Bytes of such a register: 8 of f64, else 4. */
uint32_t ptx_matrix_unit(const ptx_matrix *matrix, char which);

/* mma.sp: lanes of each four that have metadata, one or two or all. */
uint32_t ptx_matrix_metadata_lanes(const ptx_matrix *matrix);

#endif
