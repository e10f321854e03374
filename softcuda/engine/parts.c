// SPDX-License-Identifier: Apache-2.0
/* One piece of work, split over the team or run inline.
 *
 * A queue has one step record (drawn in state.h). Its owner opens it for an epoch:
 * everybody who looks claims units of the shares with a compare and swap, runs them, and
 * adds them to `finished`; whoever brings `finished` to the total owns the queue from
 * then on, and so starts what comes next without a hand-back. Nobody waits for a thread
 * that has claimed nothing, so a worker that the system took off its CPU holds up no one
 * but with what it has in hand. */
#include <assert.h>

#include "softcuda/engine/state.h"

/* Two time stamps and an addition that all workers make cost 0.1 us a step: not for each
 * short one. */
enum { TIMED_MIN_NS = 50000, TIMED_EVERY = 16 };
/* For so long (25 ns a round), from this cost on, what is left of a share is left to its
 * worker, which has the data in its cache. Shorter work is over sooner than it comes. */
enum { PATIENT_MIN_NS = 15000, PATIENCE = 20 };

static uint64_t open_word(uint32_t epoch, uint32_t shares, uint32_t units)
{
    return (uint64_t)epoch << 32 | (uint64_t)shares << 24 | units;
}

static uint32_t epoch_of(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static uint32_t shares_of(uint64_t open)
{
    return (uint32_t)open >> 24;
}

static uint32_t units_of(uint64_t open)
{
    return (uint32_t)open & UNITS_MAX;
}

/* The first unit of a share, and of the one after it. */
static uint32_t share_begin(uint64_t open, uint32_t share)
{
    const uint32_t units = units_of(open), shares = shares_of(open);
    const uint32_t longer = units % shares;
    return share * (units / shares) + (share < longer ? share : longer);
}

/* Units of a share that nobody has claimed; none either if `open` is over. */
static uint32_t left_in(uint64_t open, uint64_t word, uint32_t full)
{
    const uint32_t age = epoch_of(open) - epoch_of(word);
    return age == 0 ? (uint32_t)word : age <= INT32_MAX ? full : 0;
}

/* How many units to take of those left. */
static uint32_t claim_size(const soft_queue *queue, uint64_t open, uint32_t left)
{
    const uint32_t least = atomic_load_explicit(&queue->step.chunk, memory_order_relaxed);
    const uint32_t parts = shares_of(open) > 1 ? 2 : 2 * queue->engine->worker_count;
    if (left <= 4 * (uint64_t)least)
        return parts > 2 && least < left ? least : left;
    return left / parts < least ? least : left / parts;
}

/* Whether what is left of a share is worth a way there. A worker that has claimed a part of it
 * goes on until it is used up, so it may be left alone; an untouched one may not. */
static bool worth_taking(const soft_queue *queue, uint64_t open, uint64_t word)
{
    const uint32_t least = atomic_load_explicit(&queue->step.chunk, memory_order_relaxed);
    return least == 1 || epoch_of(open) != epoch_of(word) ||
           (uint32_t)word >= 2 * (uint64_t)least;
}

/* Claims up to `want` units of a share; 0: by what is left. Returns how many. */
static uint32_t claim_units(soft_queue *queue, uint64_t open, uint32_t share,
                            uint32_t want, uint32_t *first)
{
    _Atomic uint64_t *const word = &queue->share[share].word;
    const uint32_t begin = share_begin(open, share);
    const uint32_t full = share_begin(open, share + 1) - begin;
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    for (;;) {
        const uint32_t left = left_in(open, seen, full);
        if (left == 0)
            return 0;
        uint32_t take = want == 0     ? claim_size(queue, open, left)
                        : want < left ? want
                                      : left;
        if (queue->engine->seed != 0)
            take = 1; /* units that follow each other are not a run of parts */
        /* Success proves that the epoch is open, and keeps it so until these units are
         * finished. Acquire: nothing after it is read before the claim stands. */
        if (atomic_compare_exchange_weak_explicit(
                word, &seen, (uint64_t)epoch_of(open) << 32 | (left - take),
                memory_order_acquire, memory_order_relaxed)) {
            *first = begin + full - left;
            return take;
        }
    }
}

static void hold(soft_parts *parts, uint32_t first, uint32_t count)
{
    const soft_step *step = &parts->queue->step;
    const uint64_t unit = atomic_load_explicit(&step->unit, memory_order_relaxed);
    const uint32_t stride =
        parts->queue->engine->seed == 0
            ? 0
            : atomic_load_explicit(&step->stride, memory_order_relaxed);
    if (stride != 0) {
        const uint64_t offset = atomic_load_explicit(&step->offset, memory_order_relaxed);
        first = (uint32_t)(((uint64_t)first * stride + offset) % units_of(parts->open));
    }
    parts->units += count;
    parts->first = first * unit;
    parts->have = count * unit;
    if (parts->have > parts->total - parts->first)
        parts->have = parts->total - parts->first;
}

uint32_t soft_parts_units(const soft_parts *parts)
{
    return parts->queue ? units_of(parts->open) : 0;
}

bool soft_parts_refill(soft_parts *parts, uint64_t want)
{
    soft_queue *queue = parts->queue;
    const uint64_t unit = atomic_load_explicit(&queue->step.unit, memory_order_relaxed);
    const uint64_t units = want / unit + (want % unit != 0);
    uint32_t first;
    const uint32_t got =
        claim_units(queue, parts->open, parts->share,
                    units > UINT32_MAX ? UINT32_MAX : (uint32_t)units, &first);
    if (got == 0)
        return false;
    hold(parts, first, got);
    return true;
}

/* A mean that follows a change in a few samples; a single outlier (an interrupt) moves it
 * by a quarter at most. 0 means not measured. */
void soft_cost_update(uint32_t *cost_ns, uint64_t ns)
{
    if (!cost_ns)
        return;
    /* Relaxed: a number to plan by; a lost update is only a lost sample. */
    const uint32_t old = __atomic_load_n(cost_ns, __ATOMIC_RELAXED);
    uint64_t sample = ns == 0 ? 1 : ns > UINT32_MAX ? UINT32_MAX : ns;
    if (old != 0) {
        if (sample > 2 * (uint64_t)old + 200)
            sample = 2 * (uint64_t)old + 200;
        sample = ((uint64_t)old * 3 + sample + 3) / 4;
    }
    __atomic_store_n(cost_ns, (uint32_t)sample, __ATOMIC_RELAXED);
}

static void run_timed(const soft_work *work, soft_worker *worker, uint32_t *cost_ns)
{
    const uint64_t from = soft_ticks();
    soft_work_inline(work, worker);
    const uint64_t ticks = soft_ticks() - from;
    soft_cost_update(cost_ns, soft_span_ns(worker->engine, ticks));
}

/* A share that no step has used for half of all epochs would look like one of a later
 * epoch: all get a recent one now and then. Nobody can claim meanwhile. */
static void renew_shares(soft_queue *queue, uint32_t epoch)
{
    for (uint32_t i = 0; i < queue->engine->share_count; i++)
        atomic_store_explicit(&queue->share[i].word, (uint64_t)(epoch - 1) << 32,
                              memory_order_relaxed);
}

/* What has begun in a queue, as a number: the same in each run with the same seed. */
static uint64_t draw_here(const soft_queue *queue)
{
    return soft_draw(queue->engine, queue->index,
                     atomic_load_explicit(&queue->done, memory_order_relaxed),
                     queue->position);
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* With a seed, units that need not start in order start in another one. */
static void draw_units(soft_queue *queue, uint32_t units, bool ordered)
{
    uint32_t stride = 0, offset = 0;
    if (!ordered && units > 1) {
        const uint64_t draw = draw_here(queue);
        offset = (uint32_t)(draw >> 32) % units;
        stride = (uint32_t)draw % units;
        while (common_divisor(units, stride) != 1) /* so that each comes up once */
            stride = (stride + 1) % units;
    }
    atomic_store_explicit(&queue->step.stride, stride, memory_order_relaxed);
    atomic_store_explicit(&queue->step.offset, offset, memory_order_relaxed);
}

/* Returns the word. From here on the queue may go to another thread at any time. */
static uint64_t open_step(soft_queue *queue, const soft_worker *worker,
                          const soft_work *work, uint32_t cost_ns)
{
    soft_step *step = &queue->step;
    const uint32_t most = queue->engine->share_count;
    const uint64_t unit = work->parts / UNITS_MAX + 1;
    const uint32_t units = (uint32_t)(work->parts / unit + (work->parts % unit != 0));
    const bool ordered = work->in_order || work->all_at_once;
    const uint32_t shares = ordered ? 1 : units < most ? units : most;
    /* A claim that others look at costs 60 to 100 ns: half a microsecond at a time. */
    const uint64_t part_ns = cost_ns / work->parts;
    const uint64_t least = part_ns >= 500 || cost_ns == 0 ? 1 : 500 / (part_ns + 1);
    const uint32_t epoch =
        epoch_of(atomic_load_explicit(&step->open, memory_order_relaxed)) + 1;
    if ((epoch & 0x3fffffff) == 0)
        renew_shares(queue, epoch);
    atomic_store_explicit(&step->finished, 0, memory_order_relaxed);
    const bool timed = cost_ns == 0 || cost_ns >= TIMED_MIN_NS || queue->measure ||
                       epoch % TIMED_EVERY == 0;
    if (timed)
        atomic_store_explicit(&step->ticks, 0, memory_order_relaxed);
    atomic_store_explicit(&step->chunk, least == 0 ? 1 : (uint32_t)least,
                          memory_order_relaxed);
    /* With fewer shares than workers, the opener has one: it is here already. */
    atomic_store_explicit(&step->base, shares < most ? (uint16_t)worker->slot : 0,
                          memory_order_relaxed);
    atomic_store_explicit(&step->timed, timed, memory_order_relaxed);
    atomic_store_explicit(&step->patience,
                          shares > 1 && cost_ns >= PATIENT_MIN_NS ? PATIENCE : 0,
                          memory_order_relaxed);
    atomic_store_explicit(&step->unit, unit, memory_order_relaxed);
    if (queue->engine->seed != 0)
        draw_units(queue, units, ordered);
    step->work = *work;
    const uint64_t open = open_word(epoch, shares, units);
    /* Release: pairs with the acquire in soft_step_join(). */
    atomic_store_explicit(&step->open, open, memory_order_release);
    return open;
}

/* The share that a worker begins with. */
static uint32_t own_share(const soft_queue *queue, soft_worker *worker, uint64_t open)
{
    const uint32_t shares = shares_of(open), n = queue->engine->worker_count;
    const uint32_t base = atomic_load_explicit(&queue->step.base, memory_order_relaxed);
    const uint32_t turn = worker->random == 0 ? 0 : (uint32_t)soft_random(worker);
    const uint32_t place = worker->slot + n - base % n + turn % n;
    return place % n % shares;
}

enum { SHARE_NONE, SHARE_SOME, SHARE_LAST };

/* Runs what can be claimed of one share. SHARE_LAST if that finished the step. */
static int run_share(soft_queue *queue, soft_worker *worker, uint64_t open,
                     uint32_t share)
{
    soft_step *step = &queue->step;
    uint32_t first;
    const uint32_t got = claim_units(queue, open, share, 0, &first);
    if (got == 0)
        return SHARE_NONE;
    /* Only after the claim: until it is finished, nobody opens another epoch. */
    soft_parts parts = {
        .total = step->work.parts, .queue = queue, .open = open, .share = share};
    hold(&parts, first, got);
    soft_queue *const before = worker->current;
    worker->current = queue;
    if (atomic_load_explicit(&step->timed, memory_order_relaxed)) {
        const uint64_t from = soft_ticks();
        step->work.run_parts(step->work.argument, &parts, worker);
        atomic_fetch_add_explicit(&step->ticks, soft_ticks() - from,
                                  memory_order_relaxed);
    } else {
        step->work.run_parts(step->work.argument, &parts, worker);
    }
    worker->current = before;
    /* Acquire and release: the last one sees what all parts wrote, and the queue's run.
     */
    const uint32_t finished =
        atomic_fetch_add_explicit(&step->finished, parts.units, memory_order_acq_rel);
    assert(finished + parts.units <= units_of(open) && "a part ran twice");
    return finished + parts.units == units_of(open) ? SHARE_LAST : SHARE_SOME;
}

/* Units of all shares that nobody has claimed, as far as one can see. */
static bool any_left(const soft_queue *queue, uint64_t open)
{
    /* Relaxed: a hint. */
    for (uint32_t i = 0; i < shares_of(open); i++)
        if (left_in(open,
                    atomic_load_explicit(&queue->share[i].word, memory_order_relaxed),
                    1) != 0)
            return true;
    return false;
}

/* Runs parts until none is left to claim. True if this thread finished the step. */
static bool participate(soft_queue *queue, soft_worker *worker, uint64_t open)
{
    const uint32_t shares = shares_of(open), own = own_share(queue, worker, open);
    if (run_share(queue, worker, open, own) == SHARE_LAST)
        return true;
    const uint32_t patience =
        atomic_load_explicit(&queue->step.patience, memory_order_relaxed);
    /* Others' shares are not even looked at meanwhile: a line that is only read is taken
     * from its worker all the same, and its next claim is 200 ns later. */
    for (uint32_t i = 0; i < patience; i++) {
        if (atomic_load_explicit(&queue->step.open, memory_order_relaxed) != open)
            return false;
        soft_relax();
    }
    for (uint32_t i = 1; i < shares; i++) {
        const uint32_t other = own + i < shares ? own + i : own + i - shares;
        const uint64_t word =
            atomic_load_explicit(&queue->share[other].word, memory_order_relaxed);
        if (worth_taking(queue, open, word) &&
            run_share(queue, worker, open, other) == SHARE_LAST)
            return true;
    }
    worker->drained = open;
    worker->drained_queue = queue;
    return false;
}

bool soft_step_wants_workers(const soft_queue *queue, soft_worker *worker)
{
    /* Relaxed: a hint. */
    const uint64_t open = atomic_load_explicit(&queue->step.open, memory_order_relaxed);
    if (open == worker->drained && queue == worker->drained_queue)
        return false;
    /* Its own share first: those of others are on lines that they write just now. */
    const uint32_t own = shares_of(open) == 0 ? 0 : own_share(queue, worker, open);
    if (shares_of(open) != 0 &&
        left_in(open, atomic_load_explicit(&queue->share[own].word, memory_order_relaxed),
                1) != 0)
        return true;
    if (any_left(queue, open))
        return true;
    worker->drained = open;
    worker->drained_queue = queue;
    return false;
}

static void close_step(soft_queue *queue)
{
    if (!atomic_load_explicit(&queue->step.timed, memory_order_relaxed))
        return;
    const uint64_t ticks = atomic_load_explicit(&queue->step.ticks, memory_order_relaxed);
    const uint64_t ns = (uint64_t)((double)ticks * queue->engine->tick_ns);
    soft_cost_update(queue->step.work.cost_ns, ns);
    if (queue->step_cost != queue->step.work.cost_ns)
        soft_cost_update(queue->step_cost, ns);
}

bool soft_step_join(soft_queue *queue, soft_worker *worker)
{
    /* Acquire: pairs with the release in open_step(), for all that the step says. */
    const uint64_t open = atomic_load_explicit(&queue->step.open, memory_order_acquire);
    if (shares_of(open) == 0 || !participate(queue, worker, open))
        return false;
    close_step(queue);
    return true;
}

/* True if no hands are wanted: the work is cheap, or there is nobody to split it with. */
static bool runs_inline(const soft_queue *queue, const soft_work *work, uint32_t cost_ns)
{
    const soft_engine *engine = queue->engine;
    if (work->kind != SOFT_WORK_PARTS || work->parts < 2)
        return true;
    if (engine->seed != 0)
        return draw_here(queue) % 8 == 0;
    if (engine->worker_count < 2)
        return true;
    return cost_ns != 0 && !soft_pays_to_split(engine, work->parts, cost_ns);
}

bool soft_step_run(soft_queue *queue, soft_worker *worker, const soft_work *work,
                   uint32_t *cost_ns)
{
    uint32_t *const known = cost_ns ? cost_ns : work->cost_ns;
    uint32_t cost = known ? __atomic_load_n(known, __ATOMIC_RELAXED) : 0;
    if (cost == 0 && work->cost_ns)
        cost = __atomic_load_n(work->cost_ns, __ATOMIC_RELAXED);
    if (runs_inline(queue, work, cost)) {
        soft_queue *const before = worker->current;
        worker->current = queue;
        /* Known costs are sampled: two time stamps are 20 ns. */
        if (known && (cost == 0 || cost >= 1000 || ++worker->sample % 8 == 0))
            run_timed(work, worker, known);
        else
            soft_work_inline(work, worker);
        worker->current = before;
        return true;
    }
    queue->step_cost = cost_ns;
    soft_queue_open(queue);
    const uint64_t open = open_step(queue, worker, work, cost);
    if (cost >= WAKE_MIN_NS || cost == 0)
        soft_queue_call(queue);
    if (!participate(queue, worker, open))
        return false;
    close_step(queue);
    return true;
}
