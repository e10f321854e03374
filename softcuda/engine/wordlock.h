// SPDX-License-Identifier: Apache-2.0
/* A lock for a few instructions, in a word: half of what a mutex costs where nobody waits. */
#ifndef SOFT_ENGINE_WORDLOCK_H
#define SOFT_ENGINE_WORDLOCK_H
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

static inline void soft_word_lock(_Atomic uint32_t *word)
{
    while (atomic_exchange_explicit(word, 1, memory_order_acquire) != 0)
        sched_yield(); /* its holder has lost its CPU, perhaps */
}

static inline void soft_word_unlock(_Atomic uint32_t *word)
{
    atomic_store_explicit(word, 0, memory_order_release);
}

#endif
