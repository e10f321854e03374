// SPDX-License-Identifier: Apache-2.0
/* A matrix operation taken apart: which form it is, and which operand means what. */
#ifndef SOFT_PTX_LOWER_MATRIX_FORM_H
#define SOFT_PTX_LOWER_MATRIX_FORM_H

#include "softcuda/ptx/matrix.h"
#include "softcuda/ptx/ptx.h"

typedef struct ptx_matrix_operands {
    /* Destinations, the first `written`, then sources. */
    const ptx_operand *registers[PTX_MATRIX_REGISTERS_MAX];
    uint8_t unit[PTX_MATRIX_REGISTERS_MAX]; /* bytes of each */
    uint32_t count, written;
    const ptx_operand *address, *stride; /* NULL: not written */
} ptx_matrix_operands;

/* False for a form that this build does not have. What is lent belongs to the function. */
bool ptx_matrix_read(const ptx_function *function, const ptx_insn *insn, ptx_matrix *form,
                     ptx_matrix_operands *operands);

#endif
