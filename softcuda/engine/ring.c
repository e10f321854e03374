// SPDX-License-Identifier: Apache-2.0
/* Queues: a ring of submissions each, their owners, and who waits for what. What an owner
 * does with its queue stands in queue.c.
 *
 *   tail   the last submitted          written by submitters, under `submit`
 *   done   the last completed          written by the owner
 *
 * A submission's number is its place in the ring, counted forever; the number is also
 * the sequence of the point that the caller gets. Nobody waits in here for a lock that is
 * held for long: an owner that has nothing to do lets go, and a submitter that finds the
 * queue idle sets its bit in the engine's list of queues that want an owner. */
#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/engine/program.h"

static uint64_t bit_of(const soft_queue *queue)
{
    return UINT64_C(1) << (queue->index % 64);
}

static struct queue_bits *bits_of(soft_queue *queue)
{
    return &queue->engine->bits[queue->index / 64];
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
    (void)soft_engine_call(queue->engine);
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
    if (!queue)
        goto out_of_memory;
    /* Not zeroed: pages of the ring that are never used are never there. */
    queue->ring = engine->heap.realloc(engine->heap.user, NULL, 0,
                                       RING_PLACES * sizeof(*queue->ring));
    if (!queue->ring)
        goto free_queue;
    queue->engine = engine;
    queue->index = index;
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
    assert((!queue || atomic_load(&queue->done) == atomic_load(&queue->tail)) &&
           "a queue with work in it was given out again");
    if (queue)
        engine->free_queues = queue->next_free;
    else
        status = new_queue(engine, &queue, error);
    if (status == GPH_OK) {
        soft_queue_set_priority(queue, priority);
        soft_hold_forget(queue);
        atomic_store(&queue->released, 0);
        atomic_store_explicit(&queue->is_nested, false, memory_order_relaxed);
        atomic_store_explicit(&queue->places, RING_PLACES, memory_order_relaxed);
        *out = queue;
    }
    pthread_mutex_unlock(&engine->mutex);
    return status;
}

void soft_queue_shorten(soft_queue *queue)
{
    atomic_store_explicit(&queue->places, RING_FEW, memory_order_relaxed);
}

/* Puts a released queue that is idle on the list of free ones, once. Both are looked at under
 * the mutex under which a queue gets its next user: else who has seen it idle may find it
 * released by that one, with work in it. */
static void recycle_if_idle(soft_queue *queue)
{
    soft_engine *engine = queue->engine;
    pthread_mutex_lock(&engine->mutex);
    if (atomic_load(&queue->released) == 1 &&
        atomic_load(&queue->done) == atomic_load(&queue->tail)) {
        atomic_store(&queue->released, 2);
        queue->next_free = engine->free_queues;
        engine->free_queues = queue;
    }
    pthread_mutex_unlock(&engine->mutex);
}

void soft_queue_release(soft_queue *queue)
{
    /* Sequentially consistent: either the owner that completes the last submission sees
     * the release, or this thread sees that it is done. */
    atomic_store(&queue->released, 1);
    soft_hold_urge(queue);
    recycle_if_idle(queue);
}

void soft_queue_fini(soft_queue *queue)
{
    soft_engine *engine = queue->engine;
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
    return !point.queue || soft_queue_reached(point.queue, point.sequence);
}

/* Sleeps, after a while of spinning, until the queue has completed `sequence`. */
static void wait_done(soft_queue *queue, uint64_t sequence)
{
    const soft_point point = {queue, sequence};
    const uint64_t from = soft_ticks();
    soft_hold_urge(queue);
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
static inline soft_submission *next_place(soft_queue *queue, uint64_t sequence)
{
    const uint32_t places = soft_queue_places(queue);
    if (sequence - queue->reached > places) {
        if (!soft_queue_reached(queue, sequence - places))
            wait_done(queue, sequence - places);
        queue->reached = atomic_load_explicit(&queue->done, memory_order_acquire);
    }
    soft_submission *place = soft_queue_place(queue, sequence);
    place->wait_count = 0;
    return place;
}

static inline void publish(soft_queue *queue, uint64_t sequence)
{
    if (soft_hold_publish(queue, sequence))
        return;
    /* Sequentially consistent, as soft_queue_let_go(): either the owner that goes sees the new
     * tail, or this thread sees the queue idle. */
    atomic_store(&queue->tail, sequence);
    if (atomic_load(&queue->state) == QUEUE_IDLE && !soft_hold_back(queue))
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

static inline bool needs_wait(const soft_queue *queue, soft_point point)
{
    return point.queue && point.queue != queue &&
           !soft_queue_reached(point.queue, point.sequence);
}

/* Gives the launch that is being submitted as `point` the point it has to wait for, and
 * counts it. */
static soft_point enqueue(soft_program *program, soft_point point)
{
    soft_program_lock(program);
    const soft_point before = program->last;
    program->last = point;
    program->references++;
    soft_program_unlock(program);
    return before;
}

/* Begins a submission: its place, with what it waits for. NULL: the engine is shutting down. */
__attribute__((always_inline)) static inline soft_submission *
begin_submit(soft_queue *queue, const soft_point *waits, uint32_t wait_count,
             uint64_t *sequence)
{
    if (atomic_load_explicit(&queue->engine->stop, memory_order_relaxed) != 0)
        return NULL;
    soft_light_lock(&queue->submit);
    soft_hold_begin(queue);
    *sequence = atomic_load_explicit(&queue->tail, memory_order_relaxed) + 1;
    soft_submission *place = next_place(queue, *sequence);
    for (uint32_t i = 0; i < wait_count; i++)
        if (needs_wait(queue, waits[i])) {
            place = wait_place(queue, sequence, place);
            place->waits[place->wait_count++] = waits[i];
        }
    return place;
}

static inline void end_submit(soft_queue *queue, uint64_t sequence, soft_point *out)
{
    publish(queue, sequence);
    soft_light_unlock(&queue->submit);
    if (out)
        *out = (soft_point){queue, sequence};
}

gph_status soft_queue_submit(soft_queue *queue, const soft_work *work,
                             const soft_point *waits, uint32_t wait_count,
                             soft_point *out)
{
    uint64_t sequence;
    soft_submission *place = begin_submit(queue, waits, wait_count, &sequence);
    if (!place)
        return GPH_E_STATE;
    place->kind = SUBMIT_WORK;
    place->u.work = *work;
    end_submit(queue, sequence, out);
    return GPH_OK;
}

gph_status soft_queue_launch(soft_queue *queue, soft_program *program,
                             const soft_work *works, soft_run_fn *done, void *argument,
                             const soft_point *waits, uint32_t wait_count,
                             soft_point *out)
{
    uint64_t sequence;
    soft_submission *place = begin_submit(queue, waits, wait_count, &sequence);
    if (!place)
        return GPH_E_STATE;
    /* R33: after the launch before it. `sequence` must not change after this. */
    place = wait_place(queue, &sequence, place);
    const soft_point before = enqueue(program, (soft_point){queue, sequence});
    if (needs_wait(queue, before))
        place->waits[place->wait_count++] = before;
    place->kind = SUBMIT_LAUNCH;
    place->u.launch = (soft_launched){program, works, done, argument};
    end_submit(queue, sequence, out);
    return GPH_OK;
}

uint64_t soft_queue_launch_kept(soft_queue *queue, const soft_launched *launch,
                                const soft_point *waits, uint32_t wait_count)
{
    uint64_t sequence;
    soft_submission *place = begin_submit(queue, waits, wait_count, &sequence);
    if (!place)
        return 0;
    place->kind = SUBMIT_RELAUNCH;
    place->u.launch = *launch;
    end_submit(queue, sequence, NULL);
    return sequence;
}

uint64_t soft_queue_launch_after(soft_queue *queue, const soft_launched *launch,
                                 soft_point after)
{
    if (atomic_load_explicit(&queue->engine->stop, memory_order_relaxed) != 0)
        return 0;
    soft_light_lock(&queue->submit);
    soft_hold_begin(queue);
    const uint64_t sequence =
        atomic_load_explicit(&queue->tail, memory_order_relaxed) + 1;
    soft_submission *place = next_place(queue, sequence);
    if (needs_wait(queue, after))
        place->waits[place->wait_count++] = after;
    place->kind = SUBMIT_RELAUNCH;
    place->u.launch = *launch;
    end_submit(queue, sequence, NULL);
    return sequence;
}

/* Whether to give it to the team costs more than to run it. */
static bool is_small(const soft_program *program)
{
    uint64_t ns = 0;
    if (program->count > LATER_NODES)
        return false;
    for (uint32_t i = 0; i < program->count; i++) {
        const uint32_t cost = __atomic_load_n(&program->cost[i], __ATOMIC_RELAXED);
        if (cost == 0 || program->mode[i] > MODE_PARTS)
            return false;
        ns += cost;
    }
    return ns <= LATER_MOST_NS;
}

/* publish() for the worker `by`. What it keeps is seen by watchers before the tail is: those that
 * look at it too early look again. */
static void publish_later(soft_queue *queue, uint64_t sequence, soft_worker *by)
{
    const bool is_kept = soft_later_put(by, queue);
    atomic_store(&queue->tail, sequence);
    if (atomic_load(&queue->state) == QUEUE_IDLE &&
        !(is_kept && soft_later_is_safe(queue->engine)))
        soft_queue_pend(queue);
}

gph_status soft_queue_relaunch(soft_queue *queue, soft_program *program,
                               const soft_work *works, soft_run_fn *done, void *argument,
                               soft_worker *by)
{
    soft_engine *engine = queue->engine;
    if (atomic_load_explicit(&engine->stop, memory_order_relaxed) != 0)
        return GPH_E_STATE;
    const uint64_t sequence =
        atomic_load_explicit(&queue->tail, memory_order_relaxed) + 1;
    soft_submission *place = next_place(queue, sequence);
    place->kind = SUBMIT_RELAUNCH;
    place->u.launch = (soft_launched){program, works, done, argument};
    assert(atomic_load(&queue->tail) == sequence - 1 && "a relaunch is not alone");
    if (by && engine->seed == 0 && is_small(program))
        publish_later(queue, sequence, by);
    else
        publish(queue, sequence);
    return GPH_OK;
}

gph_status soft_queue_repeat(soft_queue *queue, const soft_work *works)
{
    if (atomic_load_explicit(&queue->engine->stop, memory_order_relaxed) != 0)
        return GPH_E_STATE;
    const uint64_t done = atomic_load_explicit(&queue->done, memory_order_relaxed);
    soft_queue_place(queue, done + 1)->u.launch.works = works;
    assert(!queue->repeats && "a launch repeats twice");
    queue->repeats = true;
    return GPH_OK;
}

/* ---- ownership --------------------------------------------------------------------- */

/* After it was let go of: what came meanwhile. */
static inline void look_again(soft_queue *queue)
{
    if (atomic_load(&queue->tail) != atomic_load(&queue->done))
        soft_queue_pend(queue);
    else if (atomic_load(&queue->released) == 1)
        recycle_if_idle(queue);
}

void soft_queue_let_go(soft_queue *queue)
{
    soft_queue_close(queue);
    assert(atomic_load(&queue->state) != QUEUE_IDLE && "nobody's queue was let go of");
    atomic_store(&queue->state, QUEUE_IDLE);
    look_again(queue);
}

/* Every queue that was blocked on this one looks again. */
static void pop_waiters(soft_queue *queue)
{
    soft_queue *blocked = atomic_exchange(&queue->waiters, NULL);
    while (blocked) {
        soft_queue *const next =
            atomic_load_explicit(&blocked->next, memory_order_relaxed);
        soft_queue_let_go(blocked);
        blocked = next;
    }
}

/* Those who wait for what is done now. */
static inline void tell_completed(soft_queue *queue)
{
    if (atomic_load(&queue->waiters))
        pop_waiters(queue);
    if (atomic_load(&queue->sleepers) != 0) {
        atomic_fetch_add(&queue->signal, 1);
        soft_futex_wake(&queue->signal, INT32_MAX);
    }
}

/* The point may now be waited for by threads and queues: both look at `done` after they
 * have said so, and this looks for them after it has written `done`. */
void soft_queue_complete(soft_queue *queue)
{
    const uint64_t done = atomic_load_explicit(&queue->done, memory_order_relaxed) + 1;
    /* A fence may be reached before it is armed. */
    assert((done <= atomic_load(&queue->tail) ||
            atomic_load_explicit(&queue->is_fence, memory_order_relaxed)) &&
           "a submission ended that nobody made");
    queue->started = false;
    atomic_store(&queue->done, done);
    tell_completed(queue);
}

void soft_queue_complete_and_let_go(soft_queue *queue)
{
    const uint64_t done = atomic_load_explicit(&queue->done, memory_order_relaxed) + 1;
    assert(done <= atomic_load(&queue->tail) && "a submission ended that nobody made");
    queue->started = false;
    soft_queue_close(queue);
    /* Release: pairs with the acquire in soft_point_reached(). What else must see it before
     * this looks for it sees the state that follows, too. */
    atomic_store_explicit(&queue->done, done, memory_order_release);
    atomic_store(&queue->state, QUEUE_IDLE);
    tell_completed(queue);
    look_again(queue);
}

/* Gives up ownership until the point may have been reached. */
void soft_queue_block_on(soft_queue *queue, soft_point point)
{
    soft_queue *on = point.queue;
    soft_queue_close(queue);
    assert(atomic_load(&queue->state) == QUEUE_RUNNING && "a queue without an owner");
    atomic_store(&queue->blocked_until, point.sequence);
    atomic_store(&queue->blocked_on, on);
    atomic_store(&queue->state, QUEUE_BLOCKED);
    soft_queue *first = atomic_load(&on->waiters);
    do
        atomic_store_explicit(&queue->next, first, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&on->waiters, &first, queue));
    if (soft_point_reached(
            point)) /* too late for soft_queue_complete() to see us, perhaps */
        pop_waiters(on);
    else
        soft_hold_urge(on);
}

/* ---- fences: owned forever, so that nobody else is -------------------------------- */

gph_status soft_fence_create(soft_engine *engine, soft_queue **out, gph_error *error)
{
    GPHI_TRY(soft_queue_create(engine, 0, out, error));
    while (!soft_queue_own(*out)) /* a recycled one: its last owner is just leaving */
        soft_relax();
    atomic_store_explicit(&(*out)->is_fence, true, memory_order_relaxed);
    return GPH_OK;
}

soft_point soft_fence_arm(soft_queue *fence)
{
    return (soft_point){fence, atomic_fetch_add(&fence->tail, 1) + 1};
}

void soft_fence_reach(soft_queue *fence)
{
    soft_queue_complete(fence);
}

void soft_fence_release(soft_queue *fence)
{
    if (!fence)
        return;
    atomic_store_explicit(&fence->is_fence, false, memory_order_relaxed);
    atomic_store(&fence->state, QUEUE_IDLE);
    soft_queue_release(fence);
}
