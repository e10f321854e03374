// SPDX-License-Identifier: Apache-2.0
/* Work that is held back for whoever comes for it at once.
 *
 * A thread that launches and then waits runs the launch itself. To publish it first
 * costs both a cache line there and back (150 ns each), and where they sleep a wake (9 us):
 * more than a small launch takes. So a queue whose last submissions were all waited for at
 * once is *held*: submitting to it writes its tail and wakes nobody.
 *
 *   the submitter   writes tail       then reads idle and napping
 *   a watcher       writes itself out then reads the tails of held queues
 *
 * Between each two is a fence (a costly one for the watcher), so that work is held back only while a worker watches:
 * one that looks for work anyway, or one that sleeps for a moment at a time. Watchers look
 * at held queues every few microseconds; work that stands there in two looks nobody has
 * come for, and the queue is not held for a while. */
#include "softcuda/engine/state.h"

enum {
    STREAK = 4,          /* submissions in a row that were waited for at once */
    PENALTY_FIRST = 64,  /* submissions until it may be held again, doubled each time */
    PENALTY_MOST = 4096, /* ... up to this */
    LOOK_NS = 2000,      /* from one look to the next */
    LATER_NS = 10000,    /* that a worker may leave alone what it keeps for itself */
};

static uint64_t bit_of(const soft_queue *queue)
{
    return UINT64_C(1) << (queue->index % 64);
}

static _Atomic uint64_t *word_of(soft_queue *queue)
{
    return &queue->engine->bits[queue->index / 64].held;
}

static bool has_work(soft_queue *queue)
{
    return atomic_load(&queue->tail) != atomic_load(&queue->done);
}

static bool is_left(soft_queue *queue)
{
    return atomic_load(&queue->state) == QUEUE_IDLE && has_work(queue);
}

static bool is_watched(soft_engine *engine)
{
    return atomic_load(&engine->idle) != 0 || atomic_load(&engine->napping) != 0;
}

/* Under `submit`: a bit that is taken back too late would be another streak's. */
static void stop_holding(soft_queue *queue)
{
    if (!atomic_load_explicit(&queue->held, memory_order_relaxed))
        return;
    atomic_store(&queue->held, false);
    atomic_fetch_and(word_of(queue), ~bit_of(queue));
}

void soft_hold_forget(soft_queue *queue)
{
    soft_light_lock(&queue->submit); /* a watcher may be at it still */
    stop_holding(queue);
    queue->streak = queue->penalty = 0;
    soft_light_unlock(&queue->submit);
}

/* ---- submitters -------------------------------------------------------------------- */

void soft_hold_change(soft_queue *queue)
{
    if (!atomic_load_explicit(&queue->waited, memory_order_relaxed)) {
        queue->streak = 0;
        stop_holding(queue);
        return;
    }
    atomic_store_explicit(&queue->waited, false, memory_order_relaxed);
    if (atomic_load_explicit(&queue->held, memory_order_relaxed)) {
        queue->penalty = 0; /* HOLD_FORGIVE in a row */
        return;
    }
    if (++queue->streak < STREAK + queue->penalty)
        return;
    queue->streak = 0;
    atomic_fetch_or(word_of(queue), bit_of(queue));
    atomic_store(&queue->held, true);
}

bool soft_hold_back(soft_queue *queue)
{
    return atomic_load_explicit(&queue->held, memory_order_relaxed) &&
           is_watched(queue->engine);
}

/* ---- those who find it ------------------------------------------------------------- */

void soft_hold_urge(soft_queue *queue)
{
    const struct queue_bits *bits = &queue->engine->bits[queue->index / 64];
    if (is_left(queue) && (atomic_load(&bits->pending) & bit_of(queue)) == 0)
        soft_queue_pend(queue);
}

/* Nobody came for what is in it. (Whoever submits just now sees to all else.) */
static void give_out(soft_queue *queue)
{
    if (soft_light_try(&queue->submit)) {
        const uint32_t twice = queue->penalty == 0 ? PENALTY_FIRST : 2 * queue->penalty;
        queue->penalty = twice < PENALTY_MOST ? twice : PENALTY_MOST;
        queue->streak = 0;
        stop_holding(queue);
        soft_light_unlock(&queue->submit);
    }
    soft_hold_urge(queue);
}

static uint32_t word_count(const soft_engine *engine)
{
    const uint32_t queues =
        atomic_load_explicit(&engine->queue_count, memory_order_relaxed);
    return (queues + 63) / 64;
}

/* All held queues: those with work that a look before has seen too are given out. `now`: all
 * with work are, since nobody will look again. Returns the sum of the tails, which changes
 * when one is used. */
static uint64_t look(soft_engine *engine, bool now)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < word_count(engine); i++)
        for (uint64_t bits = atomic_load(&engine->bits[i].held); bits != 0;
             bits &= bits - 1) {
            soft_queue *queue =
                atomic_load(&engine->queues[i * 64 + (uint32_t)__builtin_ctzll(bits)]);
            const uint64_t tail = atomic_load(&queue->tail);
            sum += tail;
            if (!is_left(queue))
                continue;
            if (now)
                soft_hold_urge(queue);
            else if (atomic_load_explicit(&queue->seen, memory_order_relaxed) == tail)
                give_out(queue);
            else
                atomic_store_explicit(&queue->seen, tail, memory_order_relaxed);
        }
    return sum;
}

/* ---- what workers keep for themselves ---------------------------------------------- */

soft_queue *soft_later_take(soft_worker *worker)
{
    const uint32_t begin =
        atomic_load_explicit(&worker->later_begin, memory_order_relaxed);
    if (begin == atomic_load_explicit(&worker->later_end, memory_order_relaxed))
        return NULL;
    soft_queue *queue =
        atomic_load_explicit(&worker->later[begin % LATER_PLACES], memory_order_relaxed);
    atomic_store_explicit(&worker->later_begin, begin + 1, memory_order_relaxed);
    return queue;
}

bool soft_later_put(soft_worker *worker, soft_queue *queue)
{
    const uint32_t end = atomic_load_explicit(&worker->later_end, memory_order_relaxed);
    if (end - atomic_load_explicit(&worker->later_begin, memory_order_relaxed) ==
        LATER_PLACES)
        return false;
    atomic_store_explicit(&worker->later[end % LATER_PLACES], queue,
                          memory_order_relaxed);
    /* Release: pairs with the acquire in look_at_later(). */
    atomic_store_explicit(&worker->later_end, end + 1, memory_order_release);
    return true;
}

bool soft_later_is_safe(soft_engine *engine)
{
    return is_watched(engine) || atomic_load(&engine->sleeping) == 0;
}

/* Its work goes on for long, or waits for what it has launched. A place may be used again
 * meanwhile: then it has another queue, which loses nothing by it. */
static void give_out_later(soft_worker *worker, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i != end; i++)
        soft_hold_urge(
            atomic_load_explicit(&worker->later[i % LATER_PLACES], memory_order_relaxed));
}

/* One watcher at a time. */
static void look_at_later(soft_engine *engine, bool now)
{
    for (uint32_t i = 0; i <= engine->worker_count; i++) {
        soft_worker *worker =
            i < engine->worker_count ? &engine->workers[i] : &engine->helper;
        const uint32_t end =
            atomic_load_explicit(&worker->later_end, memory_order_acquire);
        const uint32_t begin =
            atomic_load_explicit(&worker->later_begin, memory_order_relaxed);
        if (end - begin - 1 >= LATER_PLACES) /* none; or the two are of different times */
            continue;
        const uint64_t word = (uint64_t)begin << 32 | end, ticks = soft_ticks();
        const bool is_same = atomic_exchange_explicit(&worker->later_seen, word,
                                                      memory_order_relaxed) == word;
        if (!is_same)
            atomic_store_explicit(&worker->later_since, ticks, memory_order_relaxed);
        const uint64_t since =
            atomic_load_explicit(&worker->later_since, memory_order_relaxed);
        if (now || (is_same && soft_span_ns(engine, ticks - since) > LATER_NS))
            give_out_later(worker, begin, end);
    }
}

bool soft_hold_any(const soft_engine *engine, const soft_queue *but)
{
    for (uint32_t i = 0; i < word_count(engine); i++) {
        uint64_t bits = atomic_load_explicit(&engine->bits[i].held, memory_order_relaxed);
        if (but && but->index / 64 == i)
            bits &= ~bit_of(but);
        if (bits != 0)
            return true;
    }
    return false;
}

void soft_hold_look(soft_engine *engine)
{
    uint64_t at = atomic_load_explicit(&engine->look_at, memory_order_relaxed);
    const uint64_t now = soft_ticks();
    /* One watcher at a time: two of them would look twice at once. */
    if (now >= at &&
        atomic_compare_exchange_strong(
            &engine->look_at, &at, now + (uint64_t)((double)LOOK_NS / engine->tick_ns))) {
        (void)look(engine, false);
        look_at_later(engine, false);
    }
}

/* `taken`: what the last watcher leaves for, or NULL. It needs no look: while it runs, who
 * submits to it does not hold back; and if it has ended meanwhile, there is nothing to stay away
 * for, and this thread watches again within microseconds. The fence, 13 us on some virtual
 * machines, would be before each part of a grid. */
void soft_hold_unwatched(soft_engine *engine, const soft_queue *taken)
{
    if (is_watched(engine))
        return;
    if (soft_hold_any(engine, taken)) {
        soft_fence_rare(); /* with soft_hold_publish() */
        (void)look(engine, true);
    }
    if (atomic_load(&engine->sleeping) != 0)
        look_at_later(engine, true);
}

uint64_t soft_hold_nap_over(soft_engine *engine)
{
    const uint64_t from = soft_ticks(), sum = look(engine, false);
    while (soft_span_ns(engine, soft_ticks() - from) < LOOK_NS)
        soft_relax();
    (void)look(engine, false);
    look_at_later(engine, true);
    return sum;
}
