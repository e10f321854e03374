// SPDX-License-Identifier: Apache-2.0
/* Boxes of tensors for a thread. What is read and written faults as the kernel's; in check
 * mode each row is an access like any other. */
#include <stdio.h>

#include "softcuda/kernel/run/env.h"
#include "softcuda/kernel/run/place.h"
#include "softcuda/kernel/run/rtcalls.h"
#include "softcuda/kernel/run/rtreach.h"
#include "softcuda/kernel/run/runner.h"
#include "softcuda/kernel/run/tensormap.h"

static void read_row(void *user, uint64_t address, void *to, uint32_t bytes)
{
    (void)soft_text_copy(
        to, soft_reach_at(user, address, bytes, PTX_CHECK_STRONG | PTX_CHECK_UNALIGNED),
        bytes);
}

static void write_row(void *user, uint64_t address, const void *from, uint32_t bytes)
{
    void *to = soft_reach_at(user, address, bytes,
                             PTX_CHECK_WRITE | PTX_CHECK_STRONG | PTX_CHECK_UNALIGNED);
    (void)soft_text_copy(to, from, bytes);
}

static void raise(ptx_block *view, uint32_t thread, gph_status code, uint64_t address,
                  const char *text)
{
    soft_block *block = soft_block_from(view);
    block->runner->raised.has_thread = true;
    block->runner->raised.thread = thread;
    soft_runner_raise(block->runner, code, address, text);
}

/* A rank that the cluster does not have is two faults on an H200: in a cluster of one block
 * another than in a larger one. */
uint32_t ptx_rt_multicast(ptx_block *view, uint32_t thread, uint32_t mask)
{
    const uint32_t size = view->grid->cluster_size, own = view->cluster_rank;
    uint32_t blocks = 0;
    char text[96];
    snprintf(text, sizeof(text), "a copy to blocks 0x%x of a cluster of %u", mask, size);
    if (mask >> size != 0)
        raise(view, thread,
              size == 1 ? SOFT_ERROR_ILLEGAL_INSTRUCTION : SOFT_ERROR_LAUNCH_FAILED, 0,
              text);
    for (uint32_t rank = 0; rank < size; rank++)
        blocks |= (mask >> rank & 1) << (rank + size - own) % size;
    return blocks;
}

uint32_t ptx_rt_tensor(ptx_block *view, uint32_t thread, uint32_t word, uint64_t map,
                       uint64_t box, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
                       uint32_t e, uint32_t first, uint32_t second, uint32_t blocks)
{
    const ptx_tensor form = ptx_tensor_unpack(word);
    const int32_t at[PTX_TENSOR_RANK_MAX] = {(int32_t)a, (int32_t)b, (int32_t)c,
                                             (int32_t)d, (int32_t)e};
    const uint16_t offsets[] = {(uint16_t)first, (uint16_t)(first >> 16),
                                (uint16_t)second};
    soft_reach m = {view, thread,
                    soft_block_from(view)->runner->launch->env->options.check != NULL};
    const soft_tensor_memory memory = {read_row, write_row, soft_reach_word, &m,
                                       (uint64_t)(uintptr_t)view->shared};
    soft_tensor_map made;
    /* Word by word: a parameter is a copy, which lies anywhere. */
    for (uint32_t i = 0; i < sizeof(made); i += 8)
        (void)soft_text_copy((unsigned char *)&made + i, soft_reach_at(&m, map + i, 8, 0),
                             8);
    char text[256];
    const char *why = soft_tensor_refuses(&made, &form, at);
    snprintf(text, sizeof(text), "an instruction with a tensor map: %s", why ? why : "");
    if (why)
        raise(view, thread, SOFT_ERROR_ILLEGAL_INSTRUCTION, map, text);
    if ((box - memory.shared) % SOFT_TENSOR_ALIGN != 0)
        raise(view, thread, SOFT_ERROR_MISALIGNED_ADDRESS, box - memory.shared,
              "an instruction with a tensor map: its place in shared memory is not a "
              "multiple of 128");
    uint32_t bytes = 0;
    for (uint32_t k = 0; blocks >> k != 0; k++)
        if (blocks >> k & 1)
            bytes = soft_tensor_move(&made, &form, &memory, box + k * PTX_CLUSTER_STRIDE,
                                     at, offsets);
    return bytes;
}
