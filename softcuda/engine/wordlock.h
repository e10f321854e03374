// SPDX-License-Identifier: Apache-2.0
/* Locks that nobody waits for mostly: half of what a mutex costs then, since letting go
 * is a store.
 *
 *   soft_word   held for a few instructions; who waits gives its CPU away
 *   soft_light  may be held for long; who waits sleeps, for a millisecond at most, since the
 *               one that lets go may not see that somebody goes to sleep just then */
#ifndef SOFT_ENGINE_WORDLOCK_H
#define SOFT_ENGINE_WORDLOCK_H
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
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

/* Zeroed: nobody has it. */
typedef struct soft_light {
    _Atomic uint32_t word, sleepers;
} soft_light;

void soft_light_wait(soft_light *lock); /* wake.c: until it has the lock */
void soft_light_wake(soft_light *lock);

static inline bool soft_light_try(soft_light *lock)
{
    return atomic_exchange_explicit(&lock->word, 1, memory_order_acquire) == 0;
}

static inline void soft_light_lock(soft_light *lock)
{
    if (!soft_light_try(lock))
        soft_light_wait(lock);
}

/* The lock may be gone as soon as somebody else can have it: nothing of it is read after. */
static inline void soft_light_unlock(soft_light *lock)
{
    const uint32_t sleepers = atomic_load_explicit(&lock->sleepers, memory_order_relaxed);
    atomic_store_explicit(&lock->word, 0, memory_order_release);
    if (sleepers != 0)
        soft_light_wake(lock);
}

#endif
