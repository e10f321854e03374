// SPDX-License-Identifier: Apache-2.0
/* The kernels that give a conditional node its value: one thread each, which the stream
 * orders before the node. A driver alone resolves what they call (R80 ff.; libcudadevrt is
 * not needed: docs/design/device.md). */
#ifndef GPHI_DEVICE_SETTERS_H
#define GPHI_DEVICE_SETTERS_H
#include "device/kernels.h"

/* Entries of the text, with their parameters: how cuLaunchKernel takes them. */
typedef enum gphi_setter {
    GPHI_SET_VALUE,     /* u64 handle, u32 value */
    GPHI_SET_WORD,      /* u64 handle, u64 address: the u32 that is there */
    GPHI_SET_COMPARE,   /* gphi_compare_params by value: 1 or 0 */
    GPHI_SET_COUNT_DOWN /* u64 handle, u64 address of a u32: 0 stays; else it is counted
                           down by one, and what is left is the value */
} gphi_setter;

/* How what is compared is read. Floating point by IEEE 754: all but "not equal" are false
 * where one is NaN. */
typedef enum gphi_compare_type {
    GPHI_COMPARE_U32 = 0,
    GPHI_COMPARE_I32 = 1,
    GPHI_COMPARE_U64 = 2,
    GPHI_COMPARE_I64 = 3,
    GPHI_COMPARE_F32 = 4,
    GPHI_COMPARE_F64 = 5
} gphi_compare_type;

/* What holds between left and right, a bit each; a comparison is true if one that holds
 * is among its bits. */
enum {
    GPHI_IS_LESS = 1,
    GPHI_IS_EQUAL = 2,
    GPHI_IS_GREATER = 4,
    GPHI_IS_UNORDERED = 8,
    GPHI_COMPARE_BITS = 15,
    GPHI_COMPARE_FLAGS = 256 /* beside them: `handle` is the address of two words, which
                                become 1 and 0, or 0 and 1 */
};

/* The parameter of GPHI_SET_COMPARE, as the kernel reads it. */
typedef struct gphi_compare_params {
    uint64_t handle;
    CUdeviceptr left;
    CUdeviceptr right; /* 0: `constant` instead */
    uint64_t constant; /* the value's own bytes, low ones first */
    uint32_t type;     /* a gphi_compare_type */
    uint32_t accepts;  /* of the bits */
} gphi_compare_params;

extern const gphi_kernel_text gphi_setter_text;

/* What the kernel of GPHI_SET_COMPARE sets for two values that the host has: for a graph
 * that the host chooses. */
uint32_t gphi_compare_values(const gphi_compare_params *compare, uint64_t left,
                             uint64_t right);

/* Bytes of a value of the type; 0: the type is unknown. */
size_t gphi_compare_bytes(uint32_t type);
#endif
