// SPDX-License-Identifier: Apache-2.0
/* The threads: workers, their sleep, and waiting threads that help.
 *
 *   worker 0 ... n-2     always threads of ours
 *   the place n-1        a thread of ours, or a thread that waits for a point: never both,
 *                        so that no more than n threads work, with a slot each
 *
 * A worker without work spins for a while (75 ns to see work, where a futex takes 25 us),
 * then sleeps. Whoever adds work wakes one sleeper, and only if nobody looks for work. A
 * thread that waits runs what its point depends on and nothing else: other work may wait
 * for what that thread does next. */
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/engine/state.h"

enum {
    SPIN_DEFAULT_US = 400,
    WORKERS_MAX = 1024,
    HELP_DEPTH = 16,
    LINGER_ROUNDS = 200,
    YIELD_ROUNDS = 1000,
    NAP_NS = 200000, /* of who watches held queues */
    QUIET_NAPS = 64  /* after which nobody uses them any more */
};

static uint32_t word_count(const soft_engine *engine)
{
    const uint32_t queues =
        atomic_load_explicit(&engine->queue_count, memory_order_relaxed);
    return (queues + 63) / 64;
}

static bool any_pending(soft_engine *engine)
{
    for (uint32_t i = 0; i < word_count(engine); i++)
        if (atomic_load(&engine->bits[i].pending) != 0)
            return true;
    return false;
}

/* Once around a loop that waits: gives the CPU away where threads outnumber CPUs, and to
 * other programs after 40 us or so. */
static void spin_once(const soft_engine *engine, uint32_t round)
{
    if (round % 64 == 63 && (engine->crowded || round > YIELD_ROUNDS))
        sched_yield();
    else
        soft_relax();
}

static bool must_stay_up(soft_worker *worker)
{
    soft_engine *engine = worker->engine;
    if (atomic_load(&engine->stop) != 0)
        return true;
    if (soft_worker_is_last(worker) && atomic_load(&engine->place) != PLACE_FREE) {
        soft_fence_rare(); /* with place_give_often() */
        if (atomic_load(&engine->place) != PLACE_FREE)
            return false;
    }
    return any_pending(engine);
}

/* Watches held queues between naps while they are used, if nobody else does. */
static void nap(soft_worker *worker)
{
    soft_engine *engine = worker->engine;
    uint32_t nobody = 0;
    uint64_t before = 0;
    if (soft_hold_any(engine, NULL) &&
        atomic_compare_exchange_strong(&engine->napping, &nobody, 1)) {
        for (uint32_t quiet = 0; quiet < QUIET_NAPS; quiet++) {
            soft_futex_wait(&worker->asleep, 1, NAP_NS);
            if (atomic_load(&worker->asleep) != 1)
                break;
            const uint64_t now = soft_hold_nap_over(engine);
            if (now != before)
                quiet = 0;
            before = now;
        }
        atomic_store(&engine->napping, 0);
    }
    soft_hold_unwatched(engine, NULL);
}

/* Sleeps until woken. Not counted as idle any more, and without the place. All of it
 * sequentially consistent: whoever adds work sets its bit and then looks for sleepers;
 * this says that it sleeps and then looks for bits. */
static void sleep_until_woken(soft_worker *worker)
{
    soft_engine *engine = worker->engine;
    atomic_store(&worker->asleep, 1);
    atomic_fetch_add(&engine->sleeping, 1);
    if (!must_stay_up(worker)) {
        nap(worker);
        while (atomic_load(&worker->asleep) == 1)
            soft_futex_wait(&worker->asleep, 1, UINT64_MAX);
    }
    uint32_t asleep = 1;
    if (atomic_compare_exchange_strong(&worker->asleep, &asleep, 0))
        atomic_fetch_sub(&engine->sleeping, 1);
}

/* ---- the last worker's place ------------------------------------------------------- */

static bool place_take(soft_engine *engine, uint32_t who)
{
    uint32_t nobody = PLACE_FREE;
    return atomic_load_explicit(&engine->place, memory_order_relaxed) == PLACE_FREE &&
           atomic_compare_exchange_strong(&engine->place, &nobody, who);
}

static void place_give(soft_engine *engine)
{
    atomic_store(&engine->place, PLACE_FREE);
    if (atomic_load(&engine->idle) == 0 && any_pending(engine))
        soft_engine_wake(engine);
}

/* The same by a thread that has run its own launch. Pairs with soft_engine_wake() and
 * must_stay_up(). */
static inline void place_give_often(soft_engine *engine)
{
    atomic_store_explicit(&engine->place, PLACE_FREE, memory_order_release);
    soft_fence_often();
    if (atomic_load_explicit(&engine->idle, memory_order_relaxed) == 0 &&
        any_pending(engine))
        soft_engine_wake(engine);
}

/* ---- looking for work -------------------------------------------------------------- */

/* Any of the queues in `bits`, each as likely as the others, whatever their priority. */
static soft_queue *pick_any(soft_worker *worker, uint32_t word, uint64_t bits)
{
    uint32_t skip = (uint32_t)soft_random(worker) % (uint32_t)__builtin_popcountll(bits);
    for (; skip > 0; skip--)
        bits &= bits - 1;
    return atomic_load_explicit(
        &worker->engine->queues[word * 64 + (uint32_t)__builtin_ctzll(bits)],
        memory_order_acquire);
}

/* One of the queues in `bits` (of word `word`): the first of the lowest priority, counted
 * from a place that changes, so that no queue is passed over forever. */
static soft_queue *pick(soft_worker *worker, uint32_t word, uint64_t bits)
{
    soft_engine *engine = worker->engine;
    if (engine->seed != 0)
        return pick_any(worker, word, bits);
    const uint32_t turn = worker->scan++ % 64;
    const uint64_t turned = bits >> turn | bits << (64 - turn) % 64;
    const uint32_t index = word * 64 + ((uint32_t)__builtin_ctzll(turned) + turn) % 64;
    soft_queue *best = atomic_load_explicit(&engine->queues[index], memory_order_acquire);
    if (atomic_load_explicit(&engine->many_priorities, memory_order_relaxed) == 0)
        return best;
    for (uint64_t rest = bits; rest != 0; rest &= rest - 1) {
        soft_queue *queue = atomic_load_explicit(
            &engine->queues[word * 64 + (uint32_t)__builtin_ctzll(rest)],
            memory_order_acquire);
        if (atomic_load_explicit(&queue->priority, memory_order_relaxed) <
            atomic_load_explicit(&best->priority, memory_order_relaxed))
            best = queue;
    }
    return best;
}

/* An owned queue that wanted an owner, or NULL. */
static soft_queue *take_pending(soft_worker *worker)
{
    soft_engine *engine = worker->engine;
    for (uint32_t i = 0; i < word_count(engine); i++) {
        uint64_t bits;
        while ((bits = atomic_load_explicit(&engine->bits[i].pending,
                                            memory_order_relaxed)) != 0) {
            soft_queue *queue = pick(worker, i, bits);
            const uint64_t bit = UINT64_C(1) << (queue->index % 64);
            atomic_fetch_and(&engine->bits[i].pending, ~bit);
            if (soft_queue_own(queue))
                return queue;
        }
    }
    return NULL;
}

/* A queue other than `except` whose step wants hands, or NULL. */
static soft_queue *find_open(soft_worker *worker, const soft_queue *except)
{
    soft_engine *engine = worker->engine;
    for (uint32_t i = 0; i < word_count(engine); i++)
        for (uint64_t bits =
                 atomic_load_explicit(&engine->bits[i].open, memory_order_relaxed);
             bits != 0; bits &= bits - 1) {
            soft_queue *queue = atomic_load_explicit(
                &engine->queues[i * 64 + (uint32_t)__builtin_ctzll(bits)],
                memory_order_acquire);
            if (queue != except && soft_queue_wants_workers(queue, worker))
                return queue;
        }
    return NULL;
}

static void no_longer_idle(soft_engine *engine, const soft_queue *taken)
{
    /* Whoever set other bits saw this worker idle and woke nobody. */
    if (atomic_fetch_sub(&engine->idle, 1) != 1)
        return;
    if (any_pending(engine))
        soft_engine_wake(engine);
    soft_hold_unwatched(engine, taken);
}

/* Whether an open queue wants hands again soon: the next grid of a chain follows within a
 * microsecond. A worker that stays neither counts itself in and out of the idle ones nor
 * scans all queues, which costs more than the hand-over itself: it looks at the word that
 * opens the next step. */
static bool linger(soft_worker *worker, const soft_queue *queue)
{
    soft_engine *engine = worker->engine;
    const struct queue_bits *bits = &engine->bits[queue->index / 64];
    const uint64_t bit = UINT64_C(1) << (queue->index % 64);
    for (uint32_t round = 0; round < LINGER_ROUNDS; round++) {
        if (soft_queue_wants_workers(queue, worker))
            return true;
        if (round % 8 == 7 &&
            (any_pending(engine) ||
             (atomic_load_explicit(&bits->open, memory_order_relaxed) & bit) == 0))
            return false;
        spin_once(engine, round);
    }
    return false;
}

static bool helper_waits(const soft_engine *engine)
{
    return atomic_load_explicit(&engine->helpers, memory_order_relaxed) != 0;
}

/* With a seed: what is ready waits now and then, so that more gets ready. */
static void dawdle(soft_worker *worker)
{
    soft_engine *engine = worker->engine;
    if (!any_pending(engine) || soft_random(worker) % 4 != 0)
        return;
    const double us = (double)(1u << soft_random(worker) % 8);
    const uint64_t from = soft_ticks(), ticks = (uint64_t)(us * 1000 / engine->tick_ns);
    for (uint32_t round = 0; soft_ticks() - from < ticks; round++)
        spin_once(engine, round);
}

/* Runs what its work has left to it. */
static void run_later(soft_worker *worker)
{
    soft_queue *queue;
    while ((queue = soft_later_take(worker)) != NULL)
        if (soft_queue_own(queue))
            soft_queue_advance(queue, worker, UINT64_MAX);
}

/* Runs one thing, if there is one. */
static bool work_once(soft_worker *worker)
{
    soft_engine *engine = worker->engine;
    if (engine->seed != 0)
        dawdle(worker);
    soft_queue *queue = take_pending(worker);
    if (queue) {
        no_longer_idle(engine, queue);
        soft_queue_advance(queue, worker, UINT64_MAX);
        run_later(worker);
        atomic_fetch_add(&engine->idle, 1);
        return true;
    }
    queue = find_open(worker, NULL);
    if (!queue)
        return false;
    no_longer_idle(engine, queue);
    if (worker->woken && atomic_load_explicit(&queue->calls, memory_order_relaxed))
        (void)soft_engine_call(engine);
    worker->woken = false;
    do {
        if (soft_queue_join(queue, worker))
            soft_queue_advance(queue, worker, UINT64_MAX);
        run_later(worker);
    } while (linger(worker, queue) &&
             !(soft_worker_is_last(worker) && helper_waits(engine)));
    atomic_fetch_add(&engine->idle, 1);
    return true;
}

bool soft_worker_relieve(soft_worker *worker)
{
    soft_queue *const before = worker->current;
    soft_queue *queue = soft_later_take(worker);
    while (queue && !soft_queue_own(queue))
        queue = soft_later_take(worker);
    if (!queue)
        queue = take_pending(worker);
    const bool pending = queue;
    if (!pending)
        queue = find_open(worker, before);
    if (!queue)
        return false;
    if (pending || soft_queue_join(queue, worker))
        soft_queue_advance(queue, worker,
                           atomic_load_explicit(&queue->done, memory_order_relaxed) + 1);
    worker->current = before;
    return true;
}

/* Looks for work until there has been none for a while. Counted as idle meanwhile. */
static void work_and_spin(soft_worker *worker)
{
    soft_engine *engine = worker->engine;
    atomic_fetch_add(&engine->idle, 1);
    uint64_t from = soft_ticks();
    for (uint32_t round = 0;; round++) {
        if (work_once(worker)) {
            from = soft_ticks();
            round = 0;
        }
        if (soft_worker_is_last(worker) && helper_waits(engine))
            break;
        if (round % 64 == 63)
            soft_hold_look(engine);
        if (round % 16 == 15 &&
            (soft_ticks() - from > engine->spin_ticks ||
             atomic_load_explicit(&engine->stop, memory_order_relaxed) != 0))
            break;
        spin_once(engine, round);
    }
    atomic_fetch_sub(&engine->idle, 1);
}

static void *worker_main(void *argument)
{
    soft_worker *worker = argument;
    soft_engine *engine = worker->engine;
    while (atomic_load_explicit(&engine->stop, memory_order_acquire) == 0) {
        if (!soft_worker_is_last(worker)) {
            work_and_spin(worker);
        } else if (place_take(engine, PLACE_WORKER)) {
            work_and_spin(worker);
            place_give(engine);
        }
        sleep_until_woken(worker);
        worker->woken = true;
    }
    return NULL;
}

/* ---- waiting and helping ----------------------------------------------------------- */

enum help { HELP_NOT_NOW, HELP_NEVER, HELP_DONE };

/* Runs what a point depends on, if this thread gets hold of it. HELP_NEVER: the point is
 * reached by what others run. */
static enum help help(soft_engine *engine, soft_point point)
{
    for (uint32_t depth = 0; depth < HELP_DEPTH; depth++) {
        soft_queue *queue = point.queue;
        const uint32_t state = atomic_load_explicit(&queue->state, memory_order_acquire);
        if (state == QUEUE_BLOCKED) {
            point = (soft_point){atomic_load(&queue->blocked_on),
                                 atomic_load(&queue->blocked_until)};
            continue;
        }
        if (atomic_load_explicit(&queue->is_fence, memory_order_relaxed))
            return HELP_NEVER;
        if (state == QUEUE_RUNNING && !soft_queue_is_open(queue))
            return HELP_NOT_NOW;
        if (!place_take(engine, PLACE_HELPER)) {
            soft_hold_urge(queue);
            return HELP_NOT_NOW;
        }
        if (soft_random(&engine->helper) % 4 ==
            1) { /* with a seed: somebody else, perhaps */
            soft_hold_urge(queue);
            place_give(engine);
            return HELP_NOT_NOW;
        }
        const bool owned = state == QUEUE_IDLE ? soft_queue_own(queue)
                                               : soft_queue_join(queue, &engine->helper);
        if (owned)
            soft_queue_advance(queue, &engine->helper, point.sequence);
        run_later(&engine->helper);
        while (!soft_point_reached(point) && linger(&engine->helper, queue))
            if (soft_queue_join(queue, &engine->helper))
                soft_queue_advance(queue, &engine->helper, point.sequence);
        /* What the point depends on has launched it. */
        run_later(&engine->helper);
        place_give(engine);
        return HELP_DONE;
    }
    return HELP_NOT_NOW;
}

/* The last worker has its place while none of those who wait can help. */
static void count_helper(soft_engine *engine, bool *is_counted, bool can_help)
{
    if (*is_counted != can_help)
        atomic_fetch_add(&engine->helpers, can_help ? 1 : UINT32_MAX);
    *is_counted = can_help;
}

/* Waits for at most `timeout_ns`; helps if there is no limit. */
static bool wait_for(soft_engine *engine, soft_point point, uint64_t timeout_ns)
{
    soft_queue *queue = point.queue;
    const bool helps = timeout_ns == UINT64_MAX;
    const uint64_t begin_ns = helps ? 0 : gphi_clock_ns();
    uint64_t left_ns = timeout_ns;
    bool is_counted = false;
    uint64_t from = 0; /* ticks: since when it has done nothing; 0: it has not looked */
    if (!helps)
        soft_hold_urge(queue);
    for (uint32_t round = 0; !soft_point_reached(point); round++) {
        const enum help way = helps ? help(engine, point) : HELP_NEVER;
        if (way == HELP_DONE) {
            from = 0;
            continue;
        }
        count_helper(engine, &is_counted, way != HELP_NEVER);
        from = from == 0 ? soft_ticks() : from;
        if (way == HELP_NEVER && engine->full && round % 16 == 15)
            sched_yield();
        else
            spin_once(engine, round);
        if (!helps) {
            const uint64_t spent = gphi_clock_ns() - begin_ns;
            if (spent >= timeout_ns)
                return soft_point_reached(point);
            left_ns = timeout_ns - spent;
        }
        if (soft_ticks() - from < engine->spin_ticks)
            continue;
        /* While it sleeps, the last worker may have its place back. */
        count_helper(engine, &is_counted, false);
        atomic_fetch_add(&queue->sleepers, 1);
        const uint32_t signal = atomic_load(&queue->signal);
        if (!soft_point_reached(point))
            soft_futex_wait(&queue->signal, signal, left_ns);
        atomic_fetch_sub(&queue->sleepers, 1);
    }
    count_helper(engine, &is_counted, false);
    return true;
}

/* Most waits: this thread has launched what it waits for, alone in a held queue, and nobody
 * else has been to it. True if it is over. */
static inline bool run_alone(soft_engine *engine, soft_point point)
{
    soft_queue *queue = point.queue;
    if (!atomic_load_explicit(&queue->held, memory_order_relaxed) || engine->seed != 0 ||
        !place_take(engine, PLACE_HELPER))
        return false;
    soft_worker *worker = &engine->helper;
    if (soft_queue_own(queue) && !soft_queue_advance_alone(queue, worker, point.sequence))
        soft_queue_advance(queue, worker, point.sequence);
    if (atomic_load_explicit(&worker->later_end, memory_order_relaxed) !=
        atomic_load_explicit(&worker->later_begin, memory_order_relaxed))
        run_later(worker);
    place_give_often(engine);
    return soft_queue_reached(queue, point.sequence);
}

/* For the streak of hold.c: the last submission is waited for. */
static inline void note_wait(soft_point point)
{
    if (atomic_load_explicit(&point.queue->tail, memory_order_relaxed) ==
            point.sequence &&
        !atomic_load_explicit(&point.queue->waited, memory_order_relaxed))
        atomic_store_explicit(&point.queue->waited, true, memory_order_relaxed);
}

static inline void wait_for_point(soft_engine *engine, soft_point point)
{
    note_wait(point);
    if (!soft_queue_reached(point.queue, point.sequence) && !run_alone(engine, point))
        wait_for(engine, point, UINT64_MAX);
}

void soft_point_wait(soft_engine *engine, soft_point point)
{
    if (point.queue)
        wait_for_point(engine, point);
}

soft_point soft_queue_wait(soft_queue *queue)
{
    const soft_point point = {queue,
                              atomic_load_explicit(&queue->tail, memory_order_acquire)};
    wait_for_point(queue->engine, point);
    return point;
}

bool soft_point_wait_for(soft_engine *engine, soft_point point, uint64_t timeout_ns)
{
    if (soft_point_reached(point))
        return true;
    return wait_for(engine, point, timeout_ns < UINT64_MAX ? timeout_ns : UINT64_MAX - 1);
}

/* ---- life -------------------------------------------------------------------------- */

static uint32_t usable_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return (uint32_t)CPU_COUNT(&set);
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (uint32_t)count;
}

uint32_t soft_engine_worker_count(const soft_engine *engine)
{
    return engine->worker_count;
}

static void stop_workers(soft_engine *engine)
{
    atomic_store(&engine->stop, 1);
    for (uint32_t i = 0; i < engine->started; i++) {
        uint32_t asleep = 1;
        if (atomic_compare_exchange_strong(&engine->workers[i].asleep, &asleep, 0)) {
            atomic_fetch_sub(&engine->sleeping, 1);
            soft_futex_wake(&engine->workers[i].asleep, 1);
        }
    }
    for (uint32_t i = 0; i < engine->started; i++)
        pthread_join(engine->workers[i].thread, NULL);
    engine->started = 0;
}

static gph_status start_workers(soft_engine *engine, gph_error *error)
{
    for (uint32_t i = 0; i < engine->worker_count; i++) {
        if (pthread_create(&engine->workers[i].thread, NULL, worker_main,
                           &engine->workers[i]) != 0) {
            stop_workers(engine);
            return gphi_fail(error, GPH_E_NO_MEMORY, "starting worker %u of %u", i,
                             engine->worker_count);
        }
        engine->started++;
    }
    return GPH_OK;
}

static void engine_free(soft_engine *engine)
{
    const gph_allocator heap = engine->heap;
    for (uint32_t i = 0; i < atomic_load(&engine->queue_count); i++)
        soft_queue_fini(atomic_load(&engine->queues[i]));
    pthread_mutex_destroy(&engine->mutex);
    gphi_heap_free(heap, engine->queues, QUEUE_MAX * sizeof(*engine->queues));
    soft_line_free(heap, engine->workers, engine->worker_count * sizeof(soft_worker));
    soft_line_free(heap, engine, sizeof(*engine));
}

static void set_up(soft_engine *engine, const soft_engine_options *options)
{
    const uint32_t cpus = usable_cpus();
    soft_fences_init();
    const uint32_t spin_us = options->spin_us ? options->spin_us : SPIN_DEFAULT_US;
    engine->seed = options->random_seed;
    engine->row = options->row;
    engine->tick_ns = soft_tick_ns();
    engine->tick_cost = soft_tick_cost();
    engine->spin_ticks = (uint64_t)(spin_us * 1000.0 / engine->tick_ns);
    engine->worker_count = options->workers ? options->workers : cpus;
    engine->share_count =
        engine->worker_count < SHARES_MAX ? engine->worker_count : SHARES_MAX;
    engine->crowded = engine->worker_count > cpus;
    engine->full = engine->worker_count >= cpus;
    pthread_mutex_init(&engine->mutex, NULL);
}

static void set_up_worker(soft_engine *engine, soft_worker *worker, uint32_t slot)
{
    worker->engine = engine;
    worker->slot = slot;
    worker->scan = slot * 7;
    worker->random =
        engine->seed == 0 ? 0 : engine->seed * UINT64_C(0x9e3779b97f4a7c15) + slot;
}

gph_status soft_engine_create(const soft_engine_options *options, soft_engine **out,
                              gph_error *error)
{
    const soft_engine_options none = {0};
    if (!options)
        options = &none;
    if (options->workers > WORKERS_MAX)
        return gphi_fail(error, GPH_E_INVALID, "%u workers, but the limit is %d",
                         options->workers, WORKERS_MAX);
    const gph_allocator heap = gphi_heap(options->allocator);
    soft_engine *engine = soft_line_alloc(heap, sizeof(*engine));
    if (!engine)
        goto out_of_memory;
    engine->heap = heap;
    set_up(engine, options);
    engine->workers =
        soft_line_alloc(heap, engine->worker_count * sizeof(*engine->workers));
    engine->queues = gphi_heap_array(heap, QUEUE_MAX, sizeof(*engine->queues));
    if (!engine->workers || !engine->queues)
        goto free_engine;
    for (uint32_t i = 0; i < engine->worker_count; i++)
        set_up_worker(engine, &engine->workers[i], i);
    set_up_worker(engine, &engine->helper, engine->worker_count - 1);

    soft_park_init(engine);
    gph_status status = soft_host_start(engine, error);
    if (status == GPH_OK) {
        status = start_workers(engine, error);
        if (status != GPH_OK)
            soft_host_stop(engine);
    }
    if (status != GPH_OK) {
        soft_park_stop(engine);
        engine_free(engine);
        return status;
    }
    *out = engine;
    return GPH_OK;

free_engine:
    engine_free(engine);
out_of_memory:
    return gphi_fail(error, GPH_E_NO_MEMORY, "an engine");
}

void soft_engine_destroy(soft_engine *engine)
{
    if (!engine)
        return;
    stop_workers(engine);
    soft_host_stop(engine);
    soft_park_stop(engine);
    engine_free(engine);
}

uint32_t soft_worker_slot(const soft_worker *worker)
{
    return worker->slot;
}
