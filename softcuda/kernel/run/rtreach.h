// SPDX-License-Identifier: Apache-2.0
/* Where an instruction of a thread reads and writes memory by functions: in check mode each
 * is an access like any other. */
#ifndef SOFT_KERNEL_RUN_RTREACH_H
#define SOFT_KERNEL_RUN_RTREACH_H

#include <stdbool.h>

#include "softcuda/kernel/run/place.h"
#include "softcuda/kernel/run/rtcalls.h"

typedef struct soft_reach {
    ptx_block *view;
    uint32_t thread;
    bool checks;
} soft_reach;

/* Where the bytes are; `flags`: PTX_CHECK_. An access that is not aligned is a fault, unless
 * they say otherwise. */
static inline void *soft_reach_at(const soft_reach *by, uint64_t address, uint32_t bytes,
                                  uint32_t flags)
{
    if (by->checks)
        return ptx_rt_check(by->view, by->thread, address, bytes | flags, 0);
    return (void *)(uintptr_t)address;
}

/* A word for an atomic operation. Touched first, so that a fault is the kernel's. */
static inline void *soft_reach_word(void *by, uint64_t address, uint32_t bytes)
{
    unsigned char seen[8];
    void *at = soft_reach_at(by, address, bytes, PTX_CHECK_WRITE | PTX_CHECK_STRONG);
    (void)soft_text_copy(seen, at, bytes);
    return at;
}

#endif
