// SPDX-License-Identifier: Apache-2.0
/* Checkpoints: the state of a process, which others may change. Every call waits while the
 * process is locked. */
#ifndef SOFT_DEVICE_CHECKPOINT_H
#define SOFT_DEVICE_CHECKPOINT_H
#include <stdatomic.h>

#include "cuda/abi.h"
#include "softcuda/device/log.h"

/* A CUprocessState; in memory that others map once soft_checkpoint_publish() was called. */
extern
    __attribute__((visibility("hidden"))) _Atomic uint32_t *_Atomic soft_checkpoint_word;

/* Acquire pairs with who unlocks. */
static inline uint32_t soft_checkpoint_state(void)
{
    return atomic_load_explicit(
        atomic_load_explicit(&soft_checkpoint_word, memory_order_relaxed),
        memory_order_acquire);
}

/* Returns when this process runs again. */
void soft_checkpoint_wait(void);

/* Lets other processes find this one's state; where the system refuses they do not. */
void soft_checkpoint_publish(void);
/* In a child: it has no state, and its parent's is not its own. */
void soft_checkpoint_after_fork(void);

/* The state of process `pid`. Fails as an H200 does: with OPERATING_SYSTEM where there is no
 * such process, with NOT_INITIALIZED where it does not use softcuda. */
CUresult soft_checkpoint_get(int pid, CUprocessState *out);
/* From one state to another: ILLEGAL_STATE where it is in neither. */
CUresult soft_checkpoint_change(int pid, CUprocessState from, CUprocessState to);
#endif
