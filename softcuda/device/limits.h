// SPDX-License-Identifier: Apache-2.0
/* What a device can do: an H100's limits, but for the number of multiprocessors. */
#ifndef SOFT_DEVICE_LIMITS_H
#define SOFT_DEVICE_LIMITS_H

#define SOFT_MULTIPROCESSORS 4 /* without SOFTCUDA_MULTIPROCESSORS */
#define SOFT_MULTIPROCESSORS_MOST 1024
#define SOFT_BLOCK_THREADS_MAX 1024
#define SOFT_BLOCK_X_MAX 1024
#define SOFT_BLOCK_Y_MAX 1024
#define SOFT_BLOCK_Z_MAX 64
#define SOFT_GRID_X_MAX 0x7fffffff
#define SOFT_GRID_YZ_MAX 65535
#define SOFT_CLUSTER_PORTABLE 8 /* blocks; by CU_FUNC_ATTRIBUTE_NON_PORTABLE_...: */
#define SOFT_CLUSTER_MOST 16
#define SOFT_SHARED_BYTES 49152         /* a block, without asking for more */
#define SOFT_SHARED_OPTIN_BYTES 232448  /* 227 KiB, after cuFuncSetAttribute() */
#define SOFT_SHARED_PER_MP 233472       /* 228 KiB */
#define SOFT_SHARED_RESERVED_BYTES 1024 /* of it for each block that runs */
#define SOFT_THREADS_PER_MP 2048
#define SOFT_BLOCKS_PER_MP 32
#define SOFT_REGISTERS 65536    /* of a multiprocessor, and of a block */
#define SOFT_REGISTERS_UNIT 256 /* given out to warps in these */
#define SOFT_SHARED_UNIT 128    /* given out to blocks in these */
#endif
