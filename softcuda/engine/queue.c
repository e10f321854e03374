// SPDX-License-Identifier: Apache-2.0
/* Queues: a ring of submissions each, and what starts when.
 *
 *   tail   the last submitted          written by submitters, under `submit`
 *   done   the last completed          written by the owner
 *
 * A submission's number is its place in the ring, counted for ever; the number is also
 * the sequence of the point that the caller gets. Nobody waits in here for a lock that is
 * held for long: an owner that has nothing to do lets go, and a submitter that finds the
 * queue idle sets its bit in the engine's list of queues that want an owner. */
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/engine/state.h"

static soft_submission *place_of(soft_queue *queue, uint64_t sequence)
{
    return &queue->ring[sequence & (RING_PLACES - 1)];
}

static uint64_t bit_of(const soft_queue *queue)
{
    return UINT64_C(1) << (queue->index % 64);
}

static struct queue_bits *bits_of(soft_queue *queue)
{
    return &queue->engine->bits[queue->index / 64];
}

void soft_queue_pend(soft_queue *queue)
{
    /* Sequentially consistent, here and where workers go to sleep: either the worker
     * sees the bit, or this thread sees the worker asleep. */
    atomic_fetch_or(&bits_of(queue)->pending, bit_of(queue));
    if (atomic_load(&queue->engine->idle) == 0)
        soft_engine_wake(queue->engine);
}

void soft_queue_open(soft_queue *queue)
{
    if (queue->is_open)
        return;
    queue->is_open = true;
    atomic_fetch_or(&bits_of(queue)->open, bit_of(queue));
}

void soft_queue_close(soft_queue *queue)
{
    /* Relaxed: a hint. */
    if (atomic_load_explicit(&queue->calls, memory_order_relaxed))
        atomic_store_explicit(&queue->calls, false, memory_order_relaxed);
    if (!queue->is_open)
        return;
    queue->is_open = false;
    /* Relaxed: a hint; what is open is said by the step's claim word. */
    atomic_fetch_and_explicit(&bits_of(queue)->open, ~bit_of(queue),
                              memory_order_relaxed);
}

void soft_queue_call(soft_queue *queue)
{
    atomic_store_explicit(&queue->calls, true, memory_order_relaxed);
    soft_engine_wake(queue->engine);
}

bool soft_queue_wants_hands(const soft_queue *queue, soft_worker *worker)
{
    /* Relaxed: a hint. */
    return atomic_load_explicit(&queue->plan_ticket, memory_order_relaxed) != 0 ||
           soft_step_wants_hands(queue, worker);
}

bool soft_queue_join(soft_queue *queue, soft_worker *worker)
{
    if (atomic_load_explicit(&queue->plan_ticket, memory_order_relaxed) != 0)
        return soft_plan_join(queue, worker);
    return soft_step_join(queue, worker);
}

/* ---- creation ---------------------------------------------------------------------- */

static size_t queue_bytes(const soft_engine *engine)
{
    return sizeof(soft_queue) + engine->share_count * sizeof(soft_share);
}

static gph_status new_queue(soft_engine *engine, soft_queue **out, gph_error *error)
{
    const uint32_t index = atomic_load(&engine->queue_count);
    if (index == QUEUE_MAX)
        return gphi_fail(error, GPH_E_UNSUPPORTED, "%u queues exist already", index);
    soft_queue *queue = soft_line_alloc(engine->heap, queue_bytes(engine));
    if (queue == NULL)
        goto out_of_memory;
    /* Not zeroed: pages of the ring that are never used are never there. */
    queue->ring = engine->heap.realloc(engine->heap.user, NULL, 0,
                                       RING_PLACES * sizeof(*queue->ring));
    if (queue->ring == NULL)
        goto free_queue;
    queue->engine = engine;
    queue->index = index;
    pthread_mutex_init(&queue->submit, NULL);
    atomic_store(&engine->queues[index], queue);
    atomic_store(&engine->queue_count, index + 1);
    *out = queue;
    return GPH_OK;

free_queue:
    soft_line_free(engine->heap, queue, queue_bytes(engine));
out_of_memory:
    return gphi_fail(error, GPH_E_NO_MEMORY, "making queue %u", index);
}

void soft_queue_set_priority(soft_queue *queue, int priority)
{
    atomic_store(&queue->priority, priority);
    if (priority != 0)
        atomic_store(&queue->engine->many_priorities, 1);
}

gph_status soft_queue_create(soft_engine *engine, int priority, soft_queue **out,
                             gph_error *error)
{
    gph_status status = GPH_OK;
    pthread_mutex_lock(&engine->mutex);
    soft_queue *queue = engine->free_queues;
    if (queue != NULL)
        engine->free_queues = queue->next_free;
    else
        status = new_queue(engine, &queue, error);
    if (status == GPH_OK) {
        soft_queue_set_priority(queue, priority);
        atomic_store(&queue->released, 0);
        *out = queue;
    }
    pthread_mutex_unlock(&engine->mutex);
    return status;
}

/* Puts a released queue that is idle on the list of free ones, once. */
static void recycle_if_idle(soft_queue *queue)
{
    if (atomic_load(&queue->done) != atomic_load(&queue->tail))
        return;
    uint32_t released = 1;
    if (!atomic_compare_exchange_strong(&queue->released, &released, 2))
        return;
    soft_engine *engine = queue->engine;
    pthread_mutex_lock(&engine->mutex);
    queue->next_free = engine->free_queues;
    engine->free_queues = queue;
    pthread_mutex_unlock(&engine->mutex);
}

void soft_queue_release(soft_queue *queue)
{
    /* Sequentially consistent: either the owner that completes the last submission sees
     * the release, or this thread sees that it is done. */
    atomic_store(&queue->released, 1);
    recycle_if_idle(queue);
}

void soft_queue_fini(soft_queue *queue)
{
    soft_engine *engine = queue->engine;
    pthread_mutex_destroy(&queue->submit);
    gphi_heap_free(engine->heap, queue->ring, RING_PLACES * sizeof(*queue->ring));
    soft_line_free(engine->heap, queue, queue_bytes(engine));
}

/* ---- submission -------------------------------------------------------------------- */

soft_point soft_queue_tail(const soft_queue *queue)
{
    return (soft_point){(soft_queue *)(uintptr_t)queue,
                        atomic_load_explicit(&queue->tail, memory_order_acquire)};
}

bool soft_point_reached(soft_point point)
{
    /* Acquire: pairs with the store in complete(), for all that the work wrote. */
    return point.queue == NULL ||
           atomic_load_explicit(&point.queue->done, memory_order_acquire) >=
               point.sequence;
}

/* Sleeps, after a while of spinning, until the queue has completed `sequence`. */
static void wait_done(soft_queue *queue, uint64_t sequence)
{
    const soft_point point = {queue, sequence};
    const uint64_t from = soft_ticks();
    while (!soft_point_reached(point)) {
        soft_relax();
        if (soft_ticks() - from < queue->engine->spin_ticks)
            continue;
        atomic_fetch_add(&queue->sleepers, 1);
        const uint32_t signal = atomic_load(&queue->signal);
        if (!soft_point_reached(point))
            soft_futex_wait(&queue->signal, signal, UINT64_MAX);
        atomic_fetch_sub(&queue->sleepers, 1);
    }
}

/* The next place of the ring, waited for if there is none. Under `submit`. */
static soft_submission *next_place(soft_queue *queue, uint64_t sequence)
{
    if (sequence > RING_PLACES)
        wait_done(queue, sequence - RING_PLACES);
    soft_submission *place = place_of(queue, sequence);
    place->wait_count = 0;
    return place;
}

static void publish(soft_queue *queue, uint64_t sequence)
{
    /* Sequentially consistent, as let_go(): either the owner that goes sees the new
     * tail, or this thread sees the queue idle. */
    atomic_store(&queue->tail, sequence);
    if (atomic_load(&queue->state) == QUEUE_IDLE)
        soft_queue_pend(queue);
}

/* Room for one more wait: a full place becomes a submission that does nothing but wait.
 */
static soft_submission *wait_place(soft_queue *queue, uint64_t *sequence,
                                   soft_submission *place)
{
    if (place->wait_count < RING_WAITS)
        return place;
    place->kind = SUBMIT_WORK;
    place->u.work = (soft_work){.kind = SOFT_WORK_EMPTY};
    publish(queue, *sequence);
    return next_place(queue, ++*sequence);
}

static bool needs_wait(const soft_queue *queue, soft_point point)
{
    return point.queue != queue && !soft_point_reached(point);
}

/* Appends `what` (its kind and union). */
static gph_status submit(soft_queue *queue, const soft_submission *what,
                         const soft_point *waits, uint32_t wait_count, soft_point *out)
{
    if (atomic_load_explicit(&queue->engine->stop, memory_order_relaxed) != 0)
        return GPH_E_STATE;
    pthread_mutex_lock(&queue->submit);
    uint64_t sequence = atomic_load_explicit(&queue->tail, memory_order_relaxed) + 1;
    soft_submission *place = next_place(queue, sequence);
    for (uint32_t i = 0; i < wait_count; i++)
        if (needs_wait(queue, waits[i])) {
            place = wait_place(queue, &sequence, place);
            place->waits[place->wait_count++] = waits[i];
        }
    if (what->kind == SUBMIT_LAUNCH) {
        /* R33: after the launch before it. `sequence` must not change after this. */
        place = wait_place(queue, &sequence, place);
        const soft_point before =
            soft_program_enqueue(what->u.launch.program, (soft_point){queue, sequence});
        if (needs_wait(queue, before))
            place->waits[place->wait_count++] = before;
    }
    place->kind = what->kind;
    place->u = what->u;
    publish(queue, sequence);
    pthread_mutex_unlock(&queue->submit);
    if (out != NULL)
        *out = (soft_point){queue, sequence};
    return GPH_OK;
}

gph_status soft_queue_submit(soft_queue *queue, const soft_work *work,
                             const soft_point *waits, uint32_t wait_count,
                             soft_point *out)
{
    const soft_submission what = {.kind = SUBMIT_WORK, .u.work = *work};
    return submit(queue, &what, waits, wait_count, out);
}

gph_status soft_queue_launch(soft_queue *queue, soft_program *program,
                             const soft_work *works, soft_run_fn *done, void *argument,
                             const soft_point *waits, uint32_t wait_count,
                             soft_point *out)
{
    const soft_submission what = {
        .kind = SUBMIT_LAUNCH,
        .u.launch = {
            .program = program, .works = works, .done = done, .argument = argument}};
    return submit(queue, &what, waits, wait_count, out);
}

/* ---- execution --------------------------------------------------------------------- */

bool soft_queue_own(soft_queue *queue)
{
    uint32_t idle = QUEUE_IDLE;
    /* Acquire: pairs with whoever made it idle, for the run's fields. */
    return atomic_load_explicit(&queue->state, memory_order_relaxed) == QUEUE_IDLE &&
           atomic_compare_exchange_strong(&queue->state, &idle, QUEUE_RUNNING);
}

static void let_go(soft_queue *queue)
{
    soft_queue_close(queue);
    atomic_store(&queue->state, QUEUE_IDLE);
    if (atomic_load(&queue->tail) != atomic_load(&queue->done))
        soft_queue_pend(queue);
    else if (atomic_load(&queue->released) == 1)
        recycle_if_idle(queue);
}

/* Every queue that was blocked on this one looks again. */
static void pop_waiters(soft_queue *queue)
{
    soft_queue *blocked = atomic_exchange(&queue->waiters, NULL);
    while (blocked != NULL) {
        soft_queue *const next =
            atomic_load_explicit(&blocked->next, memory_order_relaxed);
        let_go(blocked);
        blocked = next;
    }
}

/* The point may now be waited for by threads and queues: both look at `done` after they
 * have said so, and this looks for them after it has written `done`. */
static void complete(soft_queue *queue)
{
    const uint64_t done = atomic_load_explicit(&queue->done, memory_order_relaxed) + 1;
    queue->started = false;
    atomic_store(&queue->done, done);
    if (atomic_load(&queue->waiters) != NULL)
        pop_waiters(queue);
    if (atomic_load(&queue->sleepers) != 0) {
        atomic_fetch_add(&queue->signal, 1);
        soft_futex_wake(&queue->signal, INT32_MAX);
    }
}

/* Gives up ownership until the point may have been reached. */
static void block_on(soft_queue *queue, soft_point point)
{
    soft_queue *on = point.queue;
    soft_queue_close(queue);
    atomic_store(&queue->blocked_until, point.sequence);
    atomic_store(&queue->blocked_on, on);
    atomic_store(&queue->state, QUEUE_BLOCKED);
    soft_queue *first = atomic_load(&on->waiters);
    do
        atomic_store_explicit(&queue->next, first, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&on->waiters, &first, queue));
    if (soft_point_reached(point)) /* too late for complete() to see us, perhaps */
        pop_waiters(on);
}

/* Whether the head may start; if not, the queue is not ours any more. */
static bool waits_over(soft_queue *queue, const soft_submission *head)
{
    for (; queue->waits_met < head->wait_count; queue->waits_met++) {
        const soft_point point = head->waits[queue->waits_met];
        if (!soft_point_reached(point)) {
            block_on(queue, point);
            return false;
        }
    }
    return true;
}

const soft_submission *soft_queue_head(soft_queue *queue)
{
    return place_of(queue, atomic_load_explicit(&queue->done, memory_order_relaxed) + 1);
}

const soft_work *soft_queue_host_work(soft_queue *queue)
{
    const soft_submission *head = soft_queue_head(queue);
    return head->kind == SUBMIT_WORK ? &head->u.work : soft_program_node(queue, head);
}

void soft_queue_host_done(soft_queue *queue)
{
    let_go(queue);
}

/* Runs (or goes on with) the head. False if the queue has gone to another thread. */
static bool run_head(soft_queue *queue, soft_worker *worker, const soft_submission *head)
{
    if (head->kind == SUBMIT_LAUNCH)
        return soft_program_run(queue, worker, head);
    if (queue->position++ != 0)
        return true; /* another thread finished it, or the host thread */
    if (head->u.work.kind == SOFT_WORK_HOST) {
        soft_queue_close(queue);
        soft_host_post(queue);
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

/* Whether a worker should see to other queues before it goes on with this one. */
static bool should_yield(soft_queue *queue, soft_worker *worker, uint32_t served)
{
    soft_engine *engine = queue->engine;
    if (engine->seed != 0)
        return soft_random(worker) % 2 == 0;
    if (served % 16 != 0 &&
        atomic_load_explicit(&engine->many_priorities, memory_order_relaxed) == 0)
        return false;
    const uint32_t words =
        atomic_load_explicit(&engine->queue_count, memory_order_relaxed) / 64 + 1;
    for (uint32_t i = 0; i < words && i < QUEUE_WORDS; i++)
        if (atomic_load_explicit(&engine->bits[i].pending, memory_order_relaxed) != 0)
            return atomic_load_explicit(&engine->idle, memory_order_relaxed) == 0;
    return false;
}

void soft_queue_advance(soft_queue *queue, soft_worker *worker, uint64_t limit)
{
    for (uint32_t served = 1;; served++) {
        const uint64_t done = atomic_load_explicit(&queue->done, memory_order_relaxed);
        /* Acquire: pairs with publish(), for the place. */
        if (atomic_load_explicit(&queue->tail, memory_order_acquire) == done ||
            done >= limit)
            break;
        const soft_submission *head = place_of(queue, done + 1);
        if (!queue->started) {
            if (!waits_over(queue, head))
                return;
            queue->waits_met = 0;
            queue->started = true;
            queue->position = 0;
        }
        if (!run_head(queue, worker, head))
            return;
        if (head->kind == SUBMIT_LAUNCH) {
            soft_program *const program = head->u.launch.program;
            if (head->u.launch.done != NULL)
                head->u.launch.done(head->u.launch.argument, worker);
            complete(queue);
            soft_program_finished(program);
        } else {
            complete(queue);
        }
        if (should_yield(queue, worker, served))
            break;
    }
    let_go(queue);
}

/* ---- fences: owned for ever, so that nobody else is
 * ------------------------------------
 */

gph_status soft_fence_create(soft_engine *engine, soft_queue **out, gph_error *error)
{
    GPHI_TRY(soft_queue_create(engine, 0, out, error));
    while (!soft_queue_own(*out)) /* a recycled one: its last owner is just leaving */
        soft_relax();
    return GPH_OK;
}

soft_point soft_fence_arm(soft_queue *fence)
{
    return (soft_point){fence, atomic_fetch_add(&fence->tail, 1) + 1};
}

void soft_fence_reach(soft_queue *fence)
{
    complete(fence);
}

void soft_fence_release(soft_queue *fence)
{
    if (fence == NULL)
        return;
    atomic_store(&fence->state, QUEUE_IDLE);
    soft_queue_release(fence);
}
