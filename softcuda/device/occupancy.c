// SPDX-License-Identifier: Apache-2.0
/* Blocks a multiprocessor: the least of what threads, registers, shared memory and the
 * number of block slots allow (CUDA C++ Programming Guide, table of compute
 * capabilities; units in which registers and shared memory are given out as in the
 * occupancy calculator). */
#include "softcuda/device/occupancy.h"

#include "softcuda/device/limits.h"

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint32_t soft_occupancy(const ptx_kernel *kernel, uint32_t threads,
                        uint64_t dynamic_shared_bytes)
{
    if (threads == 0 || threads > kernel->max_threads)
        return 0;
    const uint64_t shared = kernel->static_shared_bytes + dynamic_shared_bytes;
    if (shared > SOFT_SHARED_OPTIN_BYTES)
        return 0;
    const uint64_t warps = round_up(threads, 32) / 32;
    uint64_t blocks = least(SOFT_BLOCKS_PER_MP, SOFT_THREADS_PER_MP / 32 / warps);
    const uint64_t registers = round_up(kernel->registers * 32ull, SOFT_REGISTERS_UNIT);
    if (registers != 0)
        blocks = least(blocks, SOFT_REGISTERS / registers / warps);
    const uint64_t held = round_up(shared + SOFT_SHARED_RESERVED_BYTES, SOFT_SHARED_UNIT);
    return (uint32_t)least(blocks, SOFT_SHARED_PER_MP / held);
}
