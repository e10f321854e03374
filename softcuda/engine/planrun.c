// SPDX-License-Identifier: Apache-2.0
/* Running a plan (drawn in program.h).
 *
 * Who takes part claims items that are ready and nothing else, so nobody ever holds what
 * another one waits for, and any number of threads will do, down to one. Finished items
 * are counted locally and added up when a thread has nothing to claim: whoever brings the
 * sum to the total owns the queue.
 *
 * A thread that comes late may still look at a plan whose launch is over, or at the next
 * launch of it: all it does to shared state is to compare and swap a claim from its epoch
 * - 1, which fails then. `visiting` keeps the plan itself allocated. */
#include <assert.h>
#include <sched.h>

#include "softcuda/engine/program.h"

enum {
    PATIENCE = 100,      /* rounds (of 25 ns and more) before it looks at the items of
                          * lists whose workers are there */
    PATIENCE_OWN = 4,    /* ... at its own further ones */
    YIELD_ROUNDS = 150,  /* rounds, 15 us, before it gives its CPU to other threads */
    FLUSH_ROUNDS = 64,   /* rounds before it adds up what it has finished */
    LEAVE_ROUNDS = 1024, /* rounds before it looks at other queues */
    LOST_NS = 50000,     /* for so long */
    LOOK_AHEAD = 4,      /* unclaimed items of another list that it looks at */
};

/* What one thread knows while it takes part in a launch. */
typedef struct visit {
    soft_queue *queue;
    soft_worker *worker;
    soft_plan *plan;
    uint32_t epoch;
    uint32_t own;      /* its list */
    uint32_t at;       /* first item of it that may be unclaimed */
    uint32_t met;      /* waits of that item that are over */
    uint32_t finished; /* items, not yet added up */
    bool drained;      /* nothing is left to claim */
    bool complete;     /* it owns the queue */
} visit;

/* Whether the waits of an item are over, from number *met on. */
static bool is_ready(const visit *v, const plan_item *item, uint32_t *met)
{
    const uint32_t count = item->wait_end - item->wait_first;
    for (; *met < count; (*met)++)
        /* Acquire: pairs with the release in run_item(). */
        if (atomic_load_explicit(&v->plan->flags[v->plan->waits[item->wait_first + *met]],
                                 memory_order_acquire) != v->epoch)
            return false;
    return true;
}

static bool is_claimed(const visit *v, uint32_t item)
{
    return atomic_load_explicit(&v->plan->claims[item], memory_order_relaxed) !=
           v->epoch - 1;
}

static bool claim(const visit *v, uint32_t item)
{
    uint32_t before = v->epoch - 1;
    /* Acquire: nothing after plan->works is read before the claim stands. */
    return atomic_compare_exchange_strong_explicit(&v->plan->claims[item], &before,
                                                   v->epoch, memory_order_acquire,
                                                   memory_order_relaxed);
}

static void run_node(visit *v, const plan_node *node, uint64_t *from)
{
    const soft_work *work = &v->plan->works[node->node];
    soft_work_inline(work, v->worker);
    if (!v->plan->measure)
        return;
    const uint64_t now = soft_ticks();
    const uint64_t ns = soft_span_ns(v->worker->engine, now - *from);
    soft_cost_update(&v->plan->program->cost[node->position], ns);
    soft_cost_update(work->cost_ns, ns);
    *from = now;
}

static void run_item(visit *v, uint32_t index)
{
    soft_plan *plan = v->plan;
    const plan_item *item = &plan->items[index];
    uint64_t from = plan->measure ? soft_ticks() : 0;
    for (uint32_t k = item->node_first; k < item->node_end; k++) {
        const plan_node *node = &plan->nodes[k];
        if (node->position != UINT32_MAX)
            run_node(v, node, &from);
        /* Release: pairs with the acquire in is_ready(). */
        if (node->flag != PLAN_NO_FLAG)
            atomic_store_explicit(&plan->flags[node->flag], v->epoch,
                                  memory_order_release);
    }
    v->finished++;
}

/* Adds up what was finished; true if that was all there is. */
static bool flush(visit *v)
{
    if (v->finished == 0)
        return false;
    const uint32_t count = v->finished;
    v->finished = 0;
    /* Acquire and release: the last one sees what all nodes wrote. */
    const uint32_t finished =
        atomic_fetch_add_explicit(&v->plan->finished, count, memory_order_acq_rel) +
        count;
    assert(finished <= v->plan->item_count && "an item ran twice");
    v->complete = finished == v->plan->item_count;
    return v->complete;
}

static uint64_t absent_bit(uint32_t list)
{
    return UINT64_C(1) << (list % 64);
}

/* Lists whose workers are not there. */
static uint64_t absent(const visit *v)
{
    return atomic_load_explicit(&v->plan->absent, memory_order_relaxed);
}

/* Relaxed: hints for who takes over. */
static void move_cursor(visit *v)
{
    soft_plan *plan = v->plan;
    atomic_store_explicit(&plan->cursors[v->own].at, (uint64_t)v->epoch << 32 | v->at,
                          memory_order_relaxed);
    if ((absent(v) & absent_bit(v->own)) != 0)
        atomic_fetch_and_explicit(&plan->absent, ~absent_bit(v->own),
                                  memory_order_relaxed);
}

/* The next of its own items, if it is ready. */
static bool run_own(visit *v)
{
    soft_plan *plan = v->plan;
    const uint32_t end = plan->list_first[v->own + 1];
    const uint32_t before = v->at;
    while (v->at < end && is_claimed(v, v->at)) {
        v->at++;
        v->met = 0;
    }
    if (v->at < end && is_ready(v, &plan->items[v->at], &v->met) && claim(v, v->at)) {
        const uint32_t item = v->at++;
        v->met = 0;
        move_cursor(v);
        run_item(v, item);
        return true;
    }
    if (v->at != before)
        move_cursor(v);
    return false;
}

/* One of the first ready items of a list. *empty is cleared if it has unclaimed ones. */
static bool run_other(visit *v, uint32_t list, bool *empty)
{
    soft_plan *plan = v->plan;
    const uint32_t end = plan->list_first[list + 1];
    const uint64_t cursor =
        atomic_load_explicit(&plan->cursors[list].at, memory_order_relaxed);
    uint32_t at =
        (uint32_t)(cursor >> 32) == v->epoch ? (uint32_t)cursor : plan->list_first[list];
    uint32_t first = UINT32_MAX;
    for (uint32_t seen = 0; at < end && seen < LOOK_AHEAD; at++) {
        if (is_claimed(v, at))
            continue;
        *empty = false;
        seen++;
        if (first == UINT32_MAX)
            first = at;
        uint32_t met = 0;
        if (is_ready(v, &plan->items[at], &met) && claim(v, at)) {
            /* Nobody else moves the cursor of an absent worker's list. */
            if ((absent(v) & absent_bit(list)) != 0)
                atomic_store_explicit(&plan->cursors[list].at,
                                      (uint64_t)v->epoch << 32 | first,
                                      memory_order_relaxed);
            run_item(v, at);
            return true;
        }
    }
    return false;
}

/* Any ready item of another list among `lists`. *empty says that none of these has one
 * left to claim. `missed`: the worker of that list is long due. */
static bool steal(visit *v, uint64_t lists, bool missed, bool *empty)
{
    const uint32_t count = v->plan->list_count;
    *empty = v->at == v->plan->list_first[v->own + 1];
    const uint32_t turn = (uint32_t)soft_random(v->worker);
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t list = (v->own + 1 + (i - 1 + turn) % (count - 1)) % count;
        if ((lists & absent_bit(list)) == 0)
            continue;
        if (run_other(v, list, empty)) {
            if (missed && (absent(v) & absent_bit(list)) == 0)
                atomic_fetch_or_explicit(&v->plan->absent, absent_bit(list),
                                         memory_order_relaxed);
            return true;
        }
    }
    return false;
}

/* Claims and runs until nothing is left to claim, or nothing has been for a while. */
static void take_part(visit *v)
{
    soft_plan *plan = v->plan;
    for (uint32_t round = 0; round < LEAVE_ROUNDS; round++) {
        const bool skip = soft_random(v->worker) % 4 == 1;
        if (!skip && run_own(v)) {
            round = 0;
            continue;
        }
        bool unused;
        if (round >= PATIENCE_OWN && run_other(v, v->own, &unused)) {
            round = 0;
            continue;
        }
        const bool own_done = v->at == plan->list_first[v->own + 1];
        const uint64_t lists = own_done || skip || round >= PATIENCE ? UINT64_MAX
                               : round >= PATIENCE_OWN               ? absent(v)
                                                                     : 0;
        if (lists != 0) {
            bool empty;
            if (steal(v, lists, round >= PATIENCE && !own_done, &empty)) {
                round = 0;
                continue;
            }
            v->drained = empty && lists == UINT64_MAX;
            if (v->drained)
                break;
        }
        if (round == FLUSH_ROUNDS && flush(v))
            return;
        if (round >= YIELD_ROUNDS && round % 16 == 0)
            sched_yield(); /* whoever it waits for has perhaps lost its CPU */
        for (uint32_t i = 0; i <= (round < 40 ? 0 : 4); i++)
            soft_relax();
        if (atomic_load_explicit(&plan->epoch, memory_order_relaxed) != v->epoch)
            return; /* come late: the launch is over */
    }
    flush(v);
}

static void begin_visit(visit *v)
{
    v->own = v->worker->slot % v->plan->list_count;
    const uint64_t cursor =
        atomic_load_explicit(&v->plan->cursors[v->own].at, memory_order_relaxed);
    v->at = (uint32_t)(cursor >> 32) == v->epoch ? (uint32_t)cursor
                                                 : v->plan->list_first[v->own];
}

/* Takes part in the launch of a ticket, if it is still under way: the plan may be gone
 * else. True if it finished it and so owns the queue. */
static bool join(soft_queue *queue, soft_worker *worker, uint64_t ticket, soft_plan *plan)
{
    if (worker->visits == VISITS_MAX)
        return false;
    /* Sequentially consistent, with soft_plan_destroy(): a plan is freed after its ticket
     * is gone and when no `visiting` names it. */
    _Atomic(soft_plan *) *const visiting = &worker->visiting[worker->visits++];
    atomic_store(visiting, plan);
    visit v = {.queue = queue, .worker = worker, .plan = plan, .epoch = (uint32_t)ticket};
    if (atomic_load(&queue->plan_ticket) == ticket) {
        begin_visit(&v);
        soft_queue *const before = worker->current;
        worker->current = queue;
        take_part(&v);
        worker->current = before;
    }
    atomic_store(visiting, NULL);
    worker->visits--;
    if (v.complete) {
        atomic_store(&queue->plan_ticket, 0);
    } else if (v.drained) {
        /* Fails if another launch has begun. */
        uint64_t same = ticket;
        atomic_compare_exchange_strong(&queue->plan_ticket, &same, 0);
    }
    return v.complete;
}

bool soft_plan_join(soft_queue *queue, soft_worker *worker)
{
    /* Acquire: pairs with the release in soft_plan_run(). */
    const uint64_t ticket =
        atomic_load_explicit(&queue->plan_ticket, memory_order_acquire);
    soft_plan *plan = atomic_load(&queue->plan);
    return ticket != 0 && join(queue, worker, ticket, plan);
}

/* With a seed: now and then a thread that could go on does not for a while, as if the system
 * had taken its CPU. */
static void lose_cpu(soft_worker *worker)
{
    if (worker->engine->seed == 0 || soft_random(worker) % 16 != 0)
        return;
    const uint64_t from = soft_ticks();
    while (soft_span_ns(worker->engine, soft_ticks() - from) < LOST_NS)
        sched_yield();
}

bool soft_plan_run(soft_queue *queue, soft_worker *worker, soft_program *program,
                   const soft_work *works, bool measure)
{
    soft_plan *plan = program->plan;
    plan->works = works;
    plan->measure = measure;
    const uint32_t epoch = atomic_load_explicit(&plan->epoch, memory_order_relaxed) + 1;
    for (uint32_t i = 0; i < plan->list_count; i++)
        atomic_store_explicit(&plan->cursors[i].at,
                              (uint64_t)epoch << 32 | plan->list_first[i],
                              memory_order_relaxed);
    atomic_store_explicit(&plan->finished, 0, memory_order_relaxed);
    const bool wake = plan->estimate_ns >= WAKE_MIN_NS;
    soft_queue_open(queue);
    atomic_store_explicit(&plan->epoch, epoch, memory_order_relaxed);
    atomic_store(&queue->plan, plan);
    queue->tickets += queue->tickets == UINT32_MAX ? 2 : 1; /* never 0 */
    /* Release: pairs with the acquire in soft_plan_join(). From here on others may take
     * part, finish the launch, and so own the queue and the plan. */
    const uint64_t ticket = (uint64_t)queue->tickets << 32 | epoch;
    atomic_store_explicit(&queue->plan_ticket, ticket, memory_order_release);
    if (wake)
        soft_queue_call(queue);
    lose_cpu(worker);
    /* This launch alone: if it is over, the queue may be at another one, which is whoever
     * ended this one's to begin and end. */
    return join(queue, worker, ticket, plan);
}
