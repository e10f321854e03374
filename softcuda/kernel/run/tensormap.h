// SPDX-License-Identifier: Apache-2.0
/* What a CUtensorMap holds here (NVIDIA's own 128 bytes are not documented), and moving a
 * box of the tensor:
 *
 *   device/tensorencode.c: CUDA's arguments --> soft_tensor_map --+  (a kernel parameter,
 *                                                               |   or in memory)
 *   ptx_rt_tensor(), of a kernel: coordinates ------------------+--> rows of the box
 *
 * The arithmetic knows nothing of kernels: bytes move through two functions. */
#ifndef SOFT_KERNEL_RUN_TENSORMAP_H
#define SOFT_KERNEL_RUN_TENSORMAP_H

#include <gph/base.h>
#include <stdbool.h>
#include <stdint.h>

#include "softcuda/ptx/tensorform.h"

#define SOFT_TENSOR_MARK 0x70616d74u
#define SOFT_TENSOR_ALIGN 128u /* of a box in shared memory */

typedef enum soft_tensor_kind {
    SOFT_TENSOR_TILED = 1,
    SOFT_TENSOR_IM2COL,
    SOFT_TENSOR_WIDE
} soft_tensor_kind;

/* Numbers of CUDA's CUtensorMapDataType, CUtensorMapSwizzle and so on. */
enum {
    SOFT_TENSOR_U8,
    SOFT_TENSOR_U16,
    SOFT_TENSOR_U32,
    SOFT_TENSOR_S32,
    SOFT_TENSOR_U64,
    SOFT_TENSOR_S64,
    SOFT_TENSOR_F16,
    SOFT_TENSOR_F32,
    SOFT_TENSOR_F64,
    SOFT_TENSOR_BF16,
    SOFT_TENSOR_F32_FTZ,
    SOFT_TENSOR_TF32,
    SOFT_TENSOR_TF32_FTZ,
    SOFT_TENSOR_TYPES /* those after it are packed */
};

typedef struct soft_tensor_map {
    uint32_t mark;
    uint8_t kind; /* soft_tensor_kind */
    uint8_t type, rank, interleave, swizzle, promotion, fill, mode;
    uint64_t address;
    uint64_t stride[PTX_TENSOR_RANK_MAX - 1]; /* bytes, of dimension 1 and up */
    uint32_t last[PTX_TENSOR_RANK_MAX]; /* one less than the size, which may be 2^32 */
    uint16_t box[PTX_TENSOR_RANK_MAX];
    uint8_t step[PTX_TENSOR_RANK_MAX];
    int16_t lower[PTX_TENSOR_RANK_MAX - 2], upper[PTX_TENSOR_RANK_MAX - 2]; /* W, H, D */
    uint16_t channels, pixels;                                              /* im2col */
} soft_tensor_map;

/* Bytes of an element; 0 for the packed types. */
uint32_t soft_tensor_element(uint32_t type);

/* Moves bytes; does not return where that faults. */
typedef struct soft_tensor_memory {
    void (*read)(void *user, uint64_t address, void *to, uint32_t bytes);
    void (*write)(void *user, uint64_t address, const void *from, uint32_t bytes);
    /* Of an element that others change meanwhile: where it is, which can be written. */
    void *(*word)(void *user, uint64_t address, uint32_t bytes);
    void *user;
    uint64_t shared; /* address of the block's: swizzles use the offset from it */
} soft_tensor_memory;

/* One instruction, with the coordinates and im2col's offsets. The box lies at `box`.
 * Returns its bytes, those outside the tensor included. */
uint32_t soft_tensor_move(const soft_tensor_map *map, const ptx_tensor *form,
                          const soft_tensor_memory *memory, uint64_t box,
                          const int32_t at[PTX_TENSOR_RANK_MAX],
                          const uint16_t offsets[PTX_TENSOR_RANK_MAX - 2]);

/* What keeps a map from being used by an instruction at that place, or NULL. */
const char *soft_tensor_refuses(const soft_tensor_map *map, const ptx_tensor *form,
                                const int32_t at[PTX_TENSOR_RANK_MAX]);
#endif
