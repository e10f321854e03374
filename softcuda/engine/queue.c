// SPDX-License-Identifier: Apache-2.0
/* What the owner of a queue does: it runs one submission after the other, each when its
 * waits are over, and lets go. */
#include <assert.h>

#include "softcuda/engine/program.h"

enum { VAIN_MAX = 4 };

bool soft_queue_wants_workers(const soft_queue *queue, soft_worker *worker)
{
    /* Relaxed: a hint. */
    return atomic_load_explicit(&queue->plan_ticket, memory_order_relaxed) != 0 ||
           soft_step_wants_workers(queue, worker);
}

bool soft_queue_join(soft_queue *queue, soft_worker *worker)
{
    if (atomic_load_explicit(&queue->plan_ticket, memory_order_relaxed) != 0)
        return soft_plan_join(queue, worker);
    return soft_step_join(queue, worker);
}

/* Whether the head may start; if not, the queue is not ours any more. */
static bool waits_over(soft_queue *queue, const soft_submission *head)
{
    for (; queue->waits_met < head->wait_count; queue->waits_met++) {
        const soft_point point = head->waits[queue->waits_met];
        if (!soft_point_reached(point)) {
            soft_queue_block_on(queue, point);
            return false;
        }
    }
    return true;
}

/* Runs (or goes on with) the head. False if the queue has gone to another thread. */
static bool run_head(soft_queue *queue, soft_worker *worker, const soft_submission *head)
{
    if (head->kind != SUBMIT_WORK)
        return soft_program_run(queue, worker, head);
    if (queue->position++ != 0)
        return true; /* another thread finished it, or the host thread */
    if (head->u.work.kind == SOFT_WORK_HOST) {
        soft_queue_close(queue);
        soft_host_post(queue, (soft_host_row){.works = &head->u.work, .count = 1});
        return false;
    }
    if (head->u.work.kind == SOFT_WORK_POLL) {
        if (head->u.work.poll(head->u.work.argument))
            return true;
        soft_queue_close(queue);
        soft_park_post(queue);
        return false;
    }
    return head->u.work.kind == SOFT_WORK_EMPTY ||
           soft_step_run(queue, worker, &head->u.work, NULL);
}

/* Whether another queue waits for an owner, and no worker looks for one. */
static bool is_wanted_elsewhere(soft_engine *engine)
{
    const uint32_t words =
        atomic_load_explicit(&engine->queue_count, memory_order_relaxed) / 64 + 1;
    for (uint32_t i = 0; i < words && i < QUEUE_WORDS; i++)
        if (atomic_load_explicit(&engine->bits[i].pending, memory_order_relaxed) != 0)
            return atomic_load_explicit(&engine->idle, memory_order_relaxed) == 0;
    return false;
}

/* Whether a worker should see to other queues before it goes on with this one. */
static bool should_yield(soft_queue *queue, soft_worker *worker, uint32_t served)
{
    soft_engine *engine = queue->engine;
    if (engine->seed != 0)
        return worker && soft_random(worker) % 2 == 0;
    if (served % 16 != 0 &&
        atomic_load_explicit(&engine->many_priorities, memory_order_relaxed) == 0)
        return false;
    return is_wanted_elsewhere(engine);
}

enum ending { END_MORE, END_REPEATS, END_GONE };

/* How far the owner comes: `seen` is the tail when it last looked, which takes the line from
 * the submitter. */
struct way {
    uint64_t limit, seen;
};

static bool has_more(const soft_queue *queue, uint64_t done, struct way *way)
{
    if (way->seen <= done) /* acquire: pairs with publish(), for the places */
        way->seen = atomic_load_explicit(&((soft_queue *)(uintptr_t)queue)->tail,
                                         memory_order_acquire);
    return way->seen > done;
}

/* Whether the next submission is likely to come within a microsecond: a program launches in a
 * row and waits for none. To let go of the queue, and for another one to come, costs three
 * lines back and forth. */
static bool may_linger(const soft_queue *queue)
{
    soft_queue *const q = (soft_queue *)(uintptr_t)queue;
    return soft_queue_places(queue) == RING_PLACES && queue->vain < VAIN_MAX &&
           queue->engine->seed == 0 && !queue->engine->crowded &&
           !atomic_load_explicit(&q->waited, memory_order_relaxed) &&
           !atomic_load_explicit(&q->held, memory_order_relaxed) &&
           !atomic_load_explicit(&q->released, memory_order_relaxed);
}

/* Until it is there, or for as long as that. */
static bool next_comes(soft_queue *queue, uint64_t done, struct way *way)
{
    enum { ROUNDS = 64 };
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (has_more(queue, done, way))
            return true;
        if (round % 8 == 7 && (!may_linger(queue) || is_wanted_elsewhere(queue->engine)))
            return false;
        soft_relax();
    }
    return false;
}

/* END_GONE if there is nothing more to do, and the queue was let go of. */
static inline enum ending complete(soft_queue *queue, uint64_t done, struct way *way)
{
    if (done + 1 < way->limit && has_more(queue, done + 1, way)) {
        queue->vain = 0; /* they come in rows */
        soft_queue_complete(queue);
        return END_MORE;
    }
    if (way->limit == UINT64_MAX && may_linger(queue)) {
        soft_queue_complete(queue);
        if (next_comes(queue, done + 1, way)) {
            queue->vain = 0;
            return END_MORE;
        }
        queue->vain++;
        soft_queue_let_go(queue);
        return END_GONE;
    }
    soft_queue_complete_and_let_go(queue);
    return END_GONE;
}

/* The head, a launch, has run. */
static inline enum ending end_launch(soft_queue *queue, soft_worker *worker,
                                     const soft_submission *head, uint64_t done,
                                     struct way *way)
{
    /* Of a relaunch it may be gone when `done` has run. */
    soft_program *const program =
        head->kind == SUBMIT_LAUNCH ? head->u.launch.program : NULL;
    if (head->u.launch.done)
        head->u.launch.done(head->u.launch.argument, worker);
    if (queue->repeats) {
        queue->repeats = false;
        queue->position = 0;
        return END_REPEATS;
    }
    const enum ending ending = complete(queue, done, way);
    if (program)
        soft_program_finished(program);
    return ending;
}

void soft_queue_advance(soft_queue *queue, soft_worker *worker, uint64_t limit)
{
    struct way way = {.limit = limit};
    for (uint32_t served = 1;; served++) {
        const uint64_t done = atomic_load_explicit(&queue->done, memory_order_relaxed);
        if (done >= limit || !has_more(queue, done, &way))
            break;
        const soft_submission *head = soft_queue_place(queue, done + 1);
        if (!queue->started) {
            if (!waits_over(queue, head))
                return;
            queue->waits_met = 0;
            queue->started = true;
            queue->position = 0;
        }
        if (!run_head(queue, worker, head))
            return;
        assert(atomic_load(&queue->state) == QUEUE_RUNNING && "a queue without an owner");
        assert(atomic_load(&queue->done) == done && "two threads ended one submission");
        const enum ending ending = head->kind == SUBMIT_WORK
                                       ? complete(queue, done, &way)
                                       : end_launch(queue, worker, head, done, &way);
        if (ending == END_GONE)
            return;
        /* Who has a limit came for one more launch, not for a row of them without end. */
        if (should_yield(queue, worker, served) ||
            (ending == END_REPEATS && limit != UINT64_MAX))
            break;
    }
    soft_queue_let_go(queue);
}

bool soft_queue_advance_alone(soft_queue *queue, soft_worker *worker, uint64_t sequence)
{
    const soft_submission *head = soft_queue_place(queue, sequence);
    const uint64_t done = atomic_load_explicit(&queue->done, memory_order_relaxed);
    /* Acquire: pairs with publish(), for the place. */
    if (atomic_load_explicit(&queue->tail, memory_order_acquire) != sequence ||
        done + 1 != sequence || queue->started || head->kind == SUBMIT_WORK ||
        head->wait_count != 0)
        return false;
    /* Nothing asks a queue how far a straight launch is. */
    if (!soft_program_run_straight(queue, worker, &head->u.launch)) {
        queue->waits_met = 0;
        queue->started = true;
        queue->position = 0;
        if (!soft_program_run(queue, worker, head))
            return true;
    }
    assert(atomic_load(&queue->state) == QUEUE_RUNNING && "a queue without an owner");
    assert(atomic_load(&queue->done) == done && "two threads ended one submission");
    struct way way = {sequence, sequence};
    if (end_launch(queue, worker, head, done, &way) != END_GONE)
        soft_queue_let_go(queue); /* it repeats, and others should have a turn */
    return true;
}

void soft_queue_call_host(soft_queue *queue)
{
    enum { PATIENCE = 200 }; /* for the host thread, which lets go of the one before */
    bool is_ours = soft_queue_own(queue);
    for (int i = 0; !is_ours && i < PATIENCE; i++) {
        soft_relax();
        is_ours = soft_queue_own(queue);
    }
    /* Nothing in it runs on a worker: it only ends the one before, and posts the next. */
    if (is_ours)
        soft_queue_advance(queue, NULL, UINT64_MAX);
}
