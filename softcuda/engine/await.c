// SPDX-License-Identifier: Apache-2.0
/* Work that waits for work of its own (kernels that launch kernels): the worker runs what it
 * waits for, nested on its stack. While others have that in hand it runs what is ready in
 * queues of the same kind, whose work waits for nothing else. */
#include <sched.h>

#include "base/fail.h"
#include "softcuda/engine/state.h"

enum {
    DEPTH = 16,        /* queues that are blocked on each other */
    AWAITS_MAX = 64,   /* on one stack; deeper ones run only what they wait for */
    YIELD_ROUNDS = 200 /* 10 us or so */
};

uint32_t soft_worker_team(const soft_worker *worker)
{
    return worker->engine->worker_count;
}

gph_status soft_worker_queue(soft_worker *worker, soft_queue **out)
{
    GPHI_TRY(soft_queue_create(worker->engine, 0, out, NULL));
    atomic_store_explicit(&(*out)->is_nested, true, memory_order_relaxed);
    return GPH_OK;
}

/* Whether this thread got hold of something that the point depends on. */
static bool run_for(soft_worker *worker, soft_point point)
{
    for (uint32_t depth = 0; depth < DEPTH; depth++) {
        soft_queue *queue = point.queue;
        const uint32_t state = atomic_load_explicit(&queue->state, memory_order_acquire);
        if (state == QUEUE_BLOCKED) {
            point = (soft_point){atomic_load(&queue->blocked_on),
                                 atomic_load(&queue->blocked_until)};
            continue;
        }
        if (state == QUEUE_RUNNING && !soft_queue_is_open(queue))
            return false;
        const bool owned =
            state == QUEUE_IDLE ? soft_queue_own(queue) : soft_queue_join(queue, worker);
        if (owned)
            soft_queue_advance(queue, worker, point.sequence);
        return owned;
    }
    return false;
}

/* One piece of work of another such queue. */
static bool run_other(soft_worker *worker)
{
    soft_engine *engine = worker->engine;
    const uint32_t words =
        (atomic_load_explicit(&engine->queue_count, memory_order_relaxed) + 63) / 64;
    for (uint32_t i = 0; i < words; i++)
        for (uint64_t bits =
                 atomic_load_explicit(&engine->bits[i].pending, memory_order_relaxed);
             bits != 0; bits &= bits - 1) {
            soft_queue *queue = atomic_load_explicit(
                &engine->queues[i * 64 + (uint32_t)__builtin_ctzll(bits)],
                memory_order_acquire);
            if (!atomic_load_explicit(&queue->is_nested, memory_order_relaxed) ||
                !soft_queue_own(queue))
                continue;
            soft_queue_advance(queue, worker,
                               atomic_load_explicit(&queue->done, memory_order_relaxed) +
                                   1);
            return true;
        }
    return false;
}

void soft_worker_await(soft_worker *worker, soft_point point)
{
    soft_queue *const before = worker->current;
    worker->awaits++;
    for (uint32_t round = 0; !soft_point_reached(point); round++) {
        if (run_for(worker, point) ||
            (worker->awaits < AWAITS_MAX && run_other(worker))) {
            round = 0;
            continue;
        }
        if (round > YIELD_ROUNDS)
            sched_yield();
        else
            soft_relax();
    }
    worker->awaits--;
    worker->current = before;
}
