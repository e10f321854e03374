// SPDX-License-Identifier: Apache-2.0
/* One piece of work, split over the team or run inline.
 *
 * A queue has one step record. Its owner opens it for an epoch: everybody who looks
 * claims units with a compare and swap on (epoch, next unit), runs them, and adds them to
 * `finished`; whoever brings `finished` to the total owns the queue from then on, and so
 * starts what comes next without a hand-back. Nobody waits for a thread that has claimed
 * nothing, so a worker that the system took off its CPU holds up no one. */
#include "softcuda/engine/internal.h"

static uint64_t claim_word(uint32_t epoch, uint32_t left)
{
    return (uint64_t)epoch << 32 | left;
}

/* Claims up to `want` units of an epoch; 0: by what is left. Returns how many. */
static uint32_t claim_units(soft_step *step, uint32_t epoch, uint32_t want,
                            uint32_t share, uint32_t *first)
{
    uint64_t seen = atomic_load_explicit(&step->claim, memory_order_relaxed);
    for (;;) {
        const uint32_t left = (uint32_t)seen;
        if ((uint32_t)(seen >> 32) != epoch || left == 0)
            return 0;
        uint32_t take = want;
        if (take == 0) {
            const uint32_t least =
                atomic_load_explicit(&step->chunk_min, memory_order_relaxed);
            take = left / share < least ? least : left / share;
        }
        take = take > left ? left : take;
        /* Success proves that the epoch is open, and keeps it so until these units are
         * finished. Acquire: pairs with the release in open_step(), for the fields. */
        if (atomic_compare_exchange_weak_explicit(
                &step->claim, &seen, claim_word(epoch, left - take), memory_order_acquire,
                memory_order_relaxed)) {
            *first = atomic_load_explicit(&step->units, memory_order_relaxed) - left;
            return take;
        }
    }
}

bool soft_parts_refill(soft_parts *parts, uint64_t want)
{
    soft_step *step = parts->step;
    const uint64_t unit = atomic_load_explicit(&step->unit, memory_order_relaxed);
    const uint64_t units = want / unit + (want % unit != 0);
    uint32_t first;
    const uint32_t got =
        claim_units(step, parts->epoch, units > UINT32_MAX ? UINT32_MAX : (uint32_t)units,
                    parts->share, &first);
    if (got == 0)
        return false;
    parts->units += got;
    parts->first = first * unit;
    parts->have = got * unit;
    if (parts->have > parts->total - parts->first)
        parts->have = parts->total - parts->first;
    return true;
}

/* A mean that follows a change in a few samples; a single outlier (an interrupt) moves it
 * by a quarter at most. 0 means not measured. */
void soft_cost_update(uint32_t *cost_ns, uint64_t ns)
{
    if (cost_ns == NULL)
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

void soft_work_inline(const soft_work *work, soft_worker *worker)
{
    if (work->kind == SOFT_WORK_CALL) {
        work->run(work->argument, worker);
    } else if (work->kind == SOFT_WORK_PARTS) {
        soft_parts parts = {.have = work->parts, .total = work->parts};
        work->run_parts(work->argument, &parts, worker);
    }
}

static void run_timed(const soft_work *work, soft_worker *worker, uint32_t *cost_ns)
{
    const uint64_t from = soft_ticks();
    soft_work_inline(work, worker);
    const uint64_t ticks = soft_ticks() - from;
    soft_cost_update(cost_ns, soft_span_ns(worker->engine, ticks));
}

/* Returns the epoch. From here on the queue may go to another thread at any time. */
static uint32_t open_step(soft_queue *queue, const soft_work *work, uint32_t cost_ns)
{
    soft_step *step = &queue->step;
    const uint64_t unit = work->parts / UINT32_MAX + 1;
    const uint64_t units = work->parts / unit + (work->parts % unit != 0);
    /* A claim costs 60 to 100 ns: give out half a microsecond at a time. */
    const uint64_t part_ns = cost_ns / work->parts;
    const uint64_t least = part_ns >= 500 || cost_ns == 0 ? 1 : 500 / (part_ns + 1);
    atomic_store_explicit(&step->units, (uint32_t)units, memory_order_relaxed);
    atomic_store_explicit(&step->chunk_min, (uint32_t)(least == 0 ? 1 : least),
                          memory_order_relaxed);
    atomic_store_explicit(&step->unit, unit, memory_order_relaxed);
    step->work = *work;
    atomic_store_explicit(&step->finished, 0, memory_order_relaxed);
    atomic_store_explicit(&step->ticks, 0, memory_order_relaxed);
    const uint64_t old = atomic_load_explicit(&step->claim, memory_order_relaxed);
    const uint32_t epoch = (uint32_t)(old >> 32) + 1;
    /* Release: pairs with the acquire in claim_units(). */
    atomic_store_explicit(&step->claim, claim_word(epoch, (uint32_t)units),
                          memory_order_release);
    return epoch;
}

/* Runs parts until none is left to claim. True if this thread finished the step. */
static bool participate(soft_queue *queue, soft_worker *worker, uint32_t epoch)
{
    soft_step *step = &queue->step;
    soft_engine *engine = queue->engine;
    uint32_t first;
    const uint32_t share = 2 * engine->worker_count;
    const uint32_t got = claim_units(step, epoch, 0, share, &first);
    if (got == 0)
        return false;
    const uint64_t unit = atomic_load_explicit(&step->unit, memory_order_relaxed);
    /* Only after the claim: until it is finished, nobody opens another epoch. */
    soft_parts parts = {.first = first * unit,
                        .have = got * unit,
                        .total = step->work.parts,
                        .step = step,
                        .epoch = epoch,
                        .share = share,
                        .units = got};
    if (parts.have > parts.total - parts.first)
        parts.have = parts.total - parts.first;
    const uint32_t units = atomic_load_explicit(&step->units, memory_order_relaxed);
    soft_queue *const before = worker->current;
    worker->current = queue;
    const uint64_t from = soft_ticks();
    step->work.run_parts(step->work.argument, &parts, worker);
    const uint64_t ticks = soft_ticks() - from;
    worker->current = before;
    atomic_fetch_add_explicit(&step->ticks, ticks, memory_order_relaxed);
    /* Acquire and release: the last one sees what all parts wrote, and the queue's run.
     */
    return atomic_fetch_add_explicit(&step->finished, parts.units, memory_order_acq_rel) +
               parts.units ==
           units;
}

static void close_step(soft_queue *queue)
{
    const uint64_t ticks = atomic_load_explicit(&queue->step.ticks, memory_order_relaxed);
    const uint64_t ns = (uint64_t)((double)ticks * queue->engine->tick_ns);
    soft_cost_update(queue->step.work.cost_ns, ns);
    if (queue->step_cost != queue->step.work.cost_ns)
        soft_cost_update(queue->step_cost, ns);
}

bool soft_step_join(soft_queue *queue, soft_worker *worker)
{
    const uint64_t seen = atomic_load_explicit(&queue->step.claim, memory_order_relaxed);
    if (!participate(queue, worker, (uint32_t)(seen >> 32)))
        return false;
    close_step(queue);
    return true;
}

/* True if no hands are wanted: the work is cheap, or there is nobody to split it with. */
static bool runs_inline(const soft_engine *engine, const soft_work *work,
                        uint32_t cost_ns, soft_worker *worker)
{
    if (work->kind != SOFT_WORK_PARTS || work->parts < 2 || engine->worker_count < 2)
        return true;
    if (engine->seed != 0)
        return soft_random(worker) % 4 == 0;
    return cost_ns != 0 && cost_ns < WIDE_MIN_NS;
}

bool soft_step_run(soft_queue *queue, soft_worker *worker, const soft_work *work,
                   uint32_t *cost_ns)
{
    soft_engine *engine = queue->engine;
    uint32_t *const known = cost_ns != NULL ? cost_ns : work->cost_ns;
    uint32_t cost = known ? __atomic_load_n(known, __ATOMIC_RELAXED) : 0;
    if (cost == 0 && work->cost_ns != NULL)
        cost = __atomic_load_n(work->cost_ns, __ATOMIC_RELAXED);
    if (runs_inline(engine, work, cost, worker)) {
        soft_queue *const before = worker->current;
        worker->current = queue;
        /* Known costs are sampled: two time stamps are 20 ns. */
        if (known != NULL && (cost == 0 || cost >= 1000 || ++worker->sample % 8 == 0))
            run_timed(work, worker, known);
        else
            soft_work_inline(work, worker);
        worker->current = before;
        return true;
    }
    queue->step_cost = cost_ns;
    soft_queue_open(queue);
    const uint32_t epoch = open_step(queue, work, cost);
    if (cost >= WAKE_MIN_NS || cost == 0)
        soft_engine_wake(engine);
    if (!participate(queue, worker, epoch))
        return false;
    close_step(queue);
    return true;
}
