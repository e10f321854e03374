// SPDX-License-Identifier: Apache-2.0
/* The kernel that gives the kernel nodes after it other arguments and grids. It is the
 * first node of a graph whose other kernels are device-updatable (R78), so its changes
 * count in the launch that it belongs to, and launches of one executable, which come one
 * after the other (R33), each have their own. A driver alone resolves what it calls
 * (docs/design/device.md).
 *
 *   ring     pinned; launch n reads word n mod depth, the address of a block. After them
 *            a word that says how many launches have read theirs, and, on a cache line of
 *            its own, one that is not 0 once a change was refused
 *   block    serial, 0, then what each node gets
 *   state    launches so far, serial of the last block, then what each node has
 *   table    gphi_patch_row for each node: where in block and state its words are
 *
 * What a node gets is `words` words of arguments and two of its grid. */
#ifndef GPHI_DEVICE_PATCHER_H
#define GPHI_DEVICE_PATCHER_H
#include "device/kernels.h"

enum {
    GPHI_PATCH_HEAD_BYTES = 16, /* of a block and of the state */
    GPHI_PATCH_GRID_WORDS = 2,
    GPHI_PATCH_LINE_WORDS = 8 /* from the count after the ring to the refusal */
};

/* As the kernel reads it. */
typedef struct gphi_patch_row {
    uint64_t node;     /* CUgraphDeviceNode */
    uint32_t offset;   /* of its words, from the beginning of block and state */
    uint32_t bytes;    /* of arguments */
    uint32_t words;    /* of arguments, rounded up */
    uint32_t reserved; /* zero */
} gphi_patch_row;

/* Parameters of its one entry, a block of threads: u64 table, u64 ring, u64 state, u32
 * rows of the table, u32 depth, a power of two. */
extern const gphi_kernel_text gphi_patch_text;
#endif
