// SPDX-License-Identifier: Apache-2.0
/* A mutex whose rules clang checks (-Wthread-safety), a word to sleep on, and who the thread
 * is.
 *
 * A function that needs a lock to be held says so: `static void add_locked(queue *q)
 * GPHI_REQUIRES(&q->mutex);`. */
#ifndef GPHI_BASE_THREAD_H
#define GPHI_BASE_THREAD_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#if defined(__clang__)
#define GPHI_LOCK_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define GPHI_LOCK_ATTRIBUTE(attribute)
#endif
#define GPHI_REQUIRES(mutex) GPHI_LOCK_ATTRIBUTE(requires_capability(mutex))

typedef struct GPHI_LOCK_ATTRIBUTE(capability("mutex")) gphi_mutex {
    pthread_mutex_t native;
} gphi_mutex;

/* clang-format off */
#define GPHI_MUTEX_INIT {PTHREAD_MUTEX_INITIALIZER}
/* clang-format on */

static inline void gphi_mutex_lock(gphi_mutex *mutex)
    GPHI_LOCK_ATTRIBUTE(acquire_capability(mutex))
        GPHI_LOCK_ATTRIBUTE(no_thread_safety_analysis);
static inline void gphi_mutex_unlock(gphi_mutex *mutex)
    GPHI_LOCK_ATTRIBUTE(release_capability(mutex))
        GPHI_LOCK_ATTRIBUTE(no_thread_safety_analysis);

static inline void gphi_mutex_lock(gphi_mutex *mutex)
{
    pthread_mutex_lock(&mutex->native);
}

static inline void gphi_mutex_unlock(gphi_mutex *mutex)
{
    pthread_mutex_unlock(&mutex->native);
}

/* Sleeps until *word is not `value`, a wake, or the time is over; also in memory that
 * processes share. Wakes may be made in a signal handler. */
void gphi_futex_wait(atomic_uint *word, unsigned value, uint64_t ns);
void gphi_futex_wake(atomic_uint *word);

/* The kernel's number of this thread, as gdb and top show it. */
uint64_t gphi_thread_id(void);

/* How many processors this process may run on; at least 1. */
uint32_t gphi_processors(void);
#endif
