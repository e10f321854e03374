// SPDX-License-Identifier: Apache-2.0
/* What all files of the engine stand on: memory on cache lines, futexes, draws from the
 * seed, the wake of a worker that sleeps, and queues that want one. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/heap.h"
#include "softcuda/engine/state.h"

void *soft_line_alloc(gph_allocator heap, size_t bytes)
{
    char *raw = gphi_heap_alloc(heap, bytes + CACHE_LINE + sizeof(void *));
    if (!raw)
        return NULL;
    const uintptr_t from = (uintptr_t)raw + sizeof(void *);
    char *line = raw + sizeof(void *) + (CACHE_LINE - from % CACHE_LINE) % CACHE_LINE;
    memcpy(line - sizeof(void *), &raw, sizeof(raw));
    return line;
}

void soft_line_free(gph_allocator heap, void *ptr, size_t bytes)
{
    if (!ptr)
        return;
    void *raw;
    memcpy(&raw, (char *)ptr - sizeof(raw), sizeof(raw));
    gphi_heap_free(heap, raw, bytes + CACHE_LINE + sizeof(void *));
}

void soft_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
    struct timespec limit = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
                             .tv_nsec = (long)(timeout_ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value,
            timeout_ns == UINT64_MAX ? NULL : &limit, NULL, 0);
}

void soft_futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

bool soft_fences_are_uneven;

/* Sanitizers do not know the call, and need not: what it orders are atomics. */
void soft_fences_init(void)
{
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0)
        soft_fences_are_uneven = true;
}

void soft_fence_rare(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (soft_fences_are_uneven)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

enum { LIGHT_ROUNDS = 200, LIGHT_SLEEP_NS = 1000000 };

void soft_light_wait(soft_light *lock)
{
    for (uint32_t round = 0; round < LIGHT_ROUNDS; round++) {
        if (atomic_load_explicit(&lock->word, memory_order_relaxed) == 0 &&
            soft_light_try(lock))
            return;
        soft_relax();
    }
    atomic_fetch_add(&lock->sleepers, 1);
    while (!soft_light_try(lock))
        soft_futex_wait(&lock->word, 1, LIGHT_SLEEP_NS);
    atomic_fetch_sub(&lock->sleepers, 1);
}

void soft_light_wake(soft_light *lock)
{
    soft_futex_wake(&lock->word, 1);
}

/* xorshift64* (Vigna 2016). */
uint64_t soft_random(soft_worker *worker)
{
    if (worker->random == 0)
        return 0;
    worker->random ^= worker->random >> 12;
    worker->random ^= worker->random << 25;
    worker->random ^= worker->random >> 27;
    return worker->random * UINT64_C(0x2545f4914f6cdd1d) >> 32;
}

/* splitmix64 (Steele, Lea, Flood 2014), as a number for each state. */
uint64_t soft_draw_next(uint64_t state)
{
    return gphi_hash_mix(state + UINT64_C(0x9e3779b97f4a7c15));
}

uint64_t soft_draw(const soft_engine *engine, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t first = soft_draw_next(soft_draw_next(engine->seed) + a);
    return soft_draw_next(soft_draw_next(first + b) + c);
}

/* Whether a sleeping worker could work if woken. */
static bool wakeable(soft_engine *engine, soft_worker *worker)
{
    return atomic_load(&worker->asleep) == 1 &&
           (!soft_worker_is_last(worker) || atomic_load(&engine->place) == PLACE_FREE);
}

static bool wake(soft_engine *engine, soft_worker *worker)
{
    uint32_t asleep = 1;
    if (!wakeable(engine, worker) ||
        !atomic_compare_exchange_strong(&worker->asleep, &asleep, 0))
        return false;
    atomic_fetch_sub(&engine->sleeping, 1);
    soft_futex_wake(&worker->asleep, 1);
    return true;
}

bool soft_engine_call(soft_engine *engine)
{
    if (atomic_load(&engine->sleeping) == 0)
        return true;
    for (uint32_t i = 0; i < engine->worker_count; i++)
        if (wake(engine, &engine->workers[i]))
            return true;
    return false;
}

void soft_engine_wake(soft_engine *engine)
{
    if (soft_engine_call(engine))
        return;
    /* A thread that has just given the last place back has seen what is pending by now, or
     * its place is seen to be free. */
    soft_worker *last = &engine->workers[engine->worker_count - 1];
    if (atomic_load(&last->asleep) != 1)
        return;
    soft_fence_rare();
    (void)wake(engine, last);
}

void soft_queue_pend(soft_queue *queue)
{
    /* Sequentially consistent, here and where workers go to sleep: either the worker
     * sees the bit, or this thread sees the worker asleep. */
    atomic_fetch_or(&queue->engine->bits[queue->index / 64].pending,
                    UINT64_C(1) << (queue->index % 64));
    if (atomic_load(&queue->engine->idle) == 0)
        soft_engine_wake(queue->engine);
}
