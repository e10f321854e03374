// SPDX-License-Identifier: Apache-2.0
/* Planning: which worker runs which nodes, in which order, from measured costs.
 *
 * A list schedule (HEFT: Topcuoglu, Hariri, Wu 2002): nodes by the longest path below
 * them, each to the worker on which it starts first, where a dependency from another
 * worker costs HOP_NS. A node stays with the predecessor that it waits for longest unless
 * another worker would start it clearly earlier, so chains stay on one worker. Then each
 * worker's nodes are cut into items: a node joins the item before it if everything that
 * it waits for is in the item, or was over, by the schedule, when the item began. (By
 * that rule no two items can wait for each other: a wait goes back in time.) */
#include <sched.h>
#include <string.h>

#include "base/heap.h"
#include "softcuda/engine/program.h"

/* Below NODE_MIN_NS a node on average, the hops of any plan cost more than they gain. */
enum { HOP_NS = 200, ITEM_MIN_NS = 1000, ITEM_MAX_NS = 8000, NODE_MIN_NS = 20 };

/* All arrays are by place in the order of nodes. */
typedef struct planner {
    soft_program *program;
    gph_allocator heap;
    uint32_t n, workers;
    uint32_t *cost;
    uint32_t *position; /* of its cost, UINT32_MAX for an EMPTY node */
    uint64_t *below;    /* longest path from its start to the end */
    uint64_t *start, *end;
    uint32_t *worker;
    uint32_t *by_below; /* places by falling `below` */
    uint32_t *scratch;
    uint32_t *item; /* which item a place is in */
    uint32_t *rank; /* its number in plan.nodes */
} planner;

static void planner_free(planner *p)
{
    const size_t n = p->n;
    gphi_heap_free(p->heap, p->cost, n * sizeof(uint32_t));
    gphi_heap_free(p->heap, p->position, n * sizeof(uint32_t));
    gphi_heap_free(p->heap, p->below, n * sizeof(uint64_t));
    gphi_heap_free(p->heap, p->start, n * sizeof(uint64_t));
    gphi_heap_free(p->heap, p->end, n * sizeof(uint64_t));
    gphi_heap_free(p->heap, p->worker, n * sizeof(uint32_t));
    gphi_heap_free(p->heap, p->by_below, n * sizeof(uint32_t));
    gphi_heap_free(p->heap, p->scratch, n * sizeof(uint32_t));
    gphi_heap_free(p->heap, p->item, n * sizeof(uint32_t));
    gphi_heap_free(p->heap, p->rank, n * sizeof(uint32_t));
}

static bool planner_alloc(planner *p)
{
    const size_t n = p->n;
    p->cost = gphi_heap_array(p->heap, n, sizeof(uint32_t));
    p->position = gphi_heap_array(p->heap, n, sizeof(uint32_t));
    p->below = gphi_heap_array(p->heap, n, sizeof(uint64_t));
    p->start = gphi_heap_array(p->heap, n, sizeof(uint64_t));
    p->end = gphi_heap_array(p->heap, n, sizeof(uint64_t));
    p->worker = gphi_heap_array(p->heap, n, sizeof(uint32_t));
    p->by_below = gphi_heap_array(p->heap, n, sizeof(uint32_t));
    p->scratch = gphi_heap_array(p->heap, n, sizeof(uint32_t));
    p->item = gphi_heap_array(p->heap, n, sizeof(uint32_t));
    p->rank = gphi_heap_array(p->heap, n, sizeof(uint32_t));
    return p->cost && p->position && p->below && p->start && p->end && p->worker &&
           p->by_below && p->scratch && p->item && p->rank;
}

/* A cost from 1 to 2048 ns, in ns: short ones as likely as long ones. */
static uint32_t drawn_cost(uint64_t draws, uint32_t place)
{
    const uint64_t draw = soft_draw_next(draws + place);
    return 1 + (uint32_t)(draw >> 32) % (1u << draw % 12);
}

/* Costs by place. Returns their sum. A cost is at least 1, so that time moves along every
 * edge. */
static uint64_t read_costs(planner *p, uint64_t draws)
{
    const soft_program *program = p->program;
    uint32_t position = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        p->cost[i] = 1;
        p->position[i] = UINT32_MAX;
        if (position < program->count &&
            program->order[position] == soft_program_node_at(program, i)) {
            const uint32_t cost =
                __atomic_load_n(&program->cost[position], __ATOMIC_RELAXED);
            p->cost[i] = cost == 0 ? 1 : cost;
            p->position[i] = position++;
        }
        if (program->shuffle) /* other costs, another plan */
            p->cost[i] = drawn_cost(draws, i);
        sum += p->cost[i];
    }
    return sum;
}

static void longest_paths(planner *p)
{
    const soft_program *program = p->program;
    for (uint32_t i = p->n; i-- > 0;) {
        p->below[i] += p->cost[i]; /* it held the longest below until here */
        for (uint32_t e = program->pred_first[i]; e < program->pred_first[i + 1]; e++)
            if (p->below[program->pred[e]] < p->below[i])
                p->below[program->pred[e]] = p->below[i];
    }
}

/* Sorts `by_below`, stable, by falling `below`: a merge sort, since equal ones must stay
 * in order and the worst case must be good. */
static void sort_by_below(planner *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        p->by_below[i] = i;
    uint32_t *from = p->by_below, *to = p->scratch;
    for (uint64_t width = 1; width < p->n; width *= 2) {
        for (uint64_t low = 0; low < p->n; low += 2 * width) {
            const uint64_t mid = low + width < p->n ? low + width : p->n;
            const uint64_t high = mid + width < p->n ? mid + width : p->n;
            uint64_t a = low, b = mid, out = low;
            while (a < mid || b < high)
                to[out++] =
                    b >= high || (a < mid && p->below[from[a]] >= p->below[from[b]])
                        ? from[a++]
                        : from[b++];
        }
        uint32_t *const swap = from;
        from = to;
        to = swap;
    }
    if (from != p->by_below)
        memcpy(p->by_below, from, p->n * sizeof(uint32_t));
}

/* When place i could start on worker w, given when w is free. */
static uint64_t start_on(const planner *p, uint32_t i, uint32_t w, uint64_t available)
{
    const soft_program *program = p->program;
    uint64_t at = available;
    for (uint32_t e = program->pred_first[i]; e < program->pred_first[i + 1]; e++) {
        const uint32_t pred = program->pred[e];
        const uint64_t ready = p->end[pred] + (p->worker[pred] == w ? 0 : HOP_NS);
        at = ready > at ? ready : at;
    }
    return at;
}

/* The worker of the predecessor that ends last; without any, the one that is free first.
 */
static uint32_t home_of(const planner *p, uint32_t i, const uint64_t *available)
{
    const soft_program *program = p->program;
    uint32_t home = 0;
    uint64_t last = 0;
    for (uint32_t w = 1; w < p->workers; w++)
        home = available[w] < available[home] ? w : home;
    for (uint32_t e = program->pred_first[i]; e < program->pred_first[i + 1]; e++)
        if (p->end[program->pred[e]] > last) {
            last = p->end[program->pred[e]];
            home = p->worker[program->pred[e]];
        }
    return home;
}

/* Gives every place a worker and a time. Returns the end of the last. */
static uint64_t schedule(planner *p, uint64_t *available)
{
    uint64_t end = 0;
    for (uint32_t k = 0; k < p->n; k++) {
        const uint32_t i = p->by_below[k];
        uint32_t best = home_of(p, i, available);
        uint64_t at = start_on(p, i, best, available[best]);
        /* Away from home only for a gain that is worth the hops that follow. */
        const uint64_t worth = p->cost[i] / 8 < HOP_NS ? p->cost[i] / 8 : HOP_NS;
        for (uint32_t w = 0; w < p->workers; w++) {
            const uint64_t there = start_on(p, i, w, available[w]);
            if (there + worth < at) {
                best = w;
                at = there;
            }
        }
        p->worker[i] = best;
        p->start[i] = at;
        p->end[i] = available[best] = at + p->cost[i];
        end = p->end[i] > end ? p->end[i] : end;
    }
    return end;
}

/* ---- items ------------------------------------------------------------------------- */

/* Whether a place may join the item that began at `begin`. */
static bool joins(const planner *p, uint32_t i, uint32_t item, uint64_t begin)
{
    const soft_program *program = p->program;
    for (uint32_t e = program->pred_first[i]; e < program->pred_first[i + 1]; e++) {
        const uint32_t pred = program->pred[e];
        if (p->end[pred] > begin &&
            !(p->worker[pred] == p->worker[i] && p->item[pred] == item))
            return false;
    }
    return true;
}

/* Sorts places into lists by worker, `scratch`, keeping the order in which they were
 * scheduled (it is the order of time on each worker). first[w] is where w's begin. */
static void sort_by_worker(planner *p, uint32_t *first)
{
    memset(first, 0, (p->workers + 1) * sizeof(*first));
    for (uint32_t i = 0; i < p->n; i++)
        first[p->worker[i] + 1]++;
    for (uint32_t w = 0; w < p->workers; w++)
        first[w + 1] += first[w];
    for (uint32_t k = 0; k < p->n; k++)
        p->scratch[first[p->worker[p->by_below[k]]]++] = p->by_below[k];
    for (uint32_t w = p->workers; w > 0; w--)
        first[w] = first[w - 1];
    first[0] = 0;
}

/* Fills nodes, items and lists of the plan; the items' waits come later. */
static void cut_items(planner *p, soft_plan *plan, const uint32_t *first,
                      uint64_t item_ns)
{
    uint32_t count = 0;
    memset(p->item, 0xff, p->n * sizeof(uint32_t));
    for (uint32_t w = 0; w < p->workers; w++) {
        plan->list_first[w] = count;
        uint64_t begin = 0, spent = 0;
        for (uint32_t k = first[w]; k < first[w + 1]; k++) {
            const uint32_t i = p->scratch[k];
            if (k == first[w] || spent + p->cost[i] > item_ns ||
                !joins(p, i, count - 1, begin)) {
                plan->items[count++] = (plan_item){.node_first = k};
                begin = p->start[i];
                spent = 0;
            }
            spent += p->cost[i];
            p->item[i] = count - 1;
            p->rank[i] = k;
            plan->items[count - 1].node_end = k + 1;
            plan->nodes[k] = (plan_node){.node = soft_program_node_at(p->program, i),
                                         .position = p->position[i],
                                         .flag = PLAN_NO_FLAG};
        }
    }
    plan->list_first[p->workers] = count;
    plan->item_count = count;
}

/* What each item waits for: of each other item, the last node that it needs, since the
 * nodes of an item run in order. `latest` is by item: the wait it has in `waits`. */
static void add_waits(planner *p, soft_plan *plan, uint32_t *latest)
{
    const soft_program *program = p->program;
    uint32_t count = 0;
    memset(latest, 0xff, plan->item_count * sizeof(*latest));
    for (uint32_t x = 0; x < plan->item_count; x++) {
        plan_item *item = &plan->items[x];
        item->wait_first = count;
        for (uint32_t k = item->node_first; k < item->node_end; k++) {
            const uint32_t i = p->scratch[k];
            for (uint32_t e = program->pred_first[i]; e < program->pred_first[i + 1];
                 e++) {
                const uint32_t pred = program->pred[e], other = p->item[pred];
                if (other == x)
                    continue;
                uint32_t *wait = &latest[other];
                if (*wait == UINT32_MAX || *wait < item->wait_first) {
                    *wait = count;
                    plan->waits[count++] = p->rank[pred];
                } else if (plan->waits[*wait] < p->rank[pred]) {
                    plan->waits[*wait] = p->rank[pred];
                }
            }
        }
        item->wait_end = count;
    }
    plan->wait_count = count;
}

/* Ranks in `waits` become flags, numbered along the lists. */
static void number_flags(soft_plan *plan)
{
    for (uint32_t i = 0; i < plan->wait_count; i++)
        plan->nodes[plan->waits[i]].flag = 0;
    for (uint32_t k = 0; k < plan->node_count; k++)
        if (plan->nodes[k].flag != PLAN_NO_FLAG)
            plan->nodes[k].flag = plan->flag_count++;
    for (uint32_t i = 0; i < plan->wait_count; i++)
        plan->waits[i] = plan->nodes[plan->waits[i]].flag;
}

/* ---- life -------------------------------------------------------------------------- */

static bool plan_alloc(soft_plan *plan, uint32_t workers, uint32_t nodes, uint32_t edges)
{
    plan->list_count = workers;
    plan->node_count = nodes;
    plan->wait_count = edges;
    plan->list_first = gphi_heap_array(plan->heap, workers + 1, sizeof(uint32_t));
    plan->items = gphi_heap_array(plan->heap, nodes, sizeof(*plan->items));
    plan->nodes = gphi_heap_array(plan->heap, nodes, sizeof(*plan->nodes));
    plan->waits = gphi_heap_array(plan->heap, (size_t)edges + 1, sizeof(uint32_t));
    plan->flags = soft_line_alloc(plan->heap, (nodes + 1) * sizeof(*plan->flags));
    plan->claims = soft_line_alloc(plan->heap, nodes * sizeof(*plan->claims));
    plan->cursors = soft_line_alloc(plan->heap, workers * sizeof(*plan->cursors));
    return plan->list_first && plan->items && plan->nodes && plan->waits && plan->flags &&
           plan->claims && plan->cursors;
}

static void plan_free(soft_plan *plan, uint32_t nodes, uint32_t edges)
{
    const gph_allocator heap = plan->heap;
    const uint32_t workers = plan->list_count;
    gphi_heap_free(heap, plan->list_first, (workers + 1) * sizeof(uint32_t));
    gphi_heap_free(heap, plan->items, nodes * sizeof(*plan->items));
    gphi_heap_free(heap, plan->nodes, nodes * sizeof(*plan->nodes));
    gphi_heap_free(heap, plan->waits, ((size_t)edges + 1) * sizeof(uint32_t));
    soft_line_free(heap, plan->flags, (nodes + 1) * sizeof(*plan->flags));
    soft_line_free(heap, plan->claims, nodes * sizeof(*plan->claims));
    soft_line_free(heap, plan->cursors, workers * sizeof(*plan->cursors));
    soft_line_free(heap, plan, sizeof(*plan));
}

void soft_plan_destroy(soft_engine *engine, soft_plan *plan)
{
    if (!plan)
        return;
    /* No launch runs it: who visits it finds nothing to claim and leaves. */
    for (uint32_t i = 0; i <= engine->worker_count; i++) {
        soft_worker *worker =
            i == engine->worker_count ? &engine->helper : &engine->workers[i];
        for (uint32_t k = 0; k < VISITS_MAX; k++)
            while (atomic_load(&worker->visiting[k]) == plan)
                sched_yield();
    }
    plan_free(plan, plan->node_count, plan->program->edge_count);
}

/* The schedule as a plan, or NULL without memory. */
static soft_plan *make_plan(planner *p, uint64_t item_ns)
{
    soft_plan *plan = soft_line_alloc(p->heap, sizeof(*plan));
    if (!plan)
        return NULL;
    plan->heap = p->heap;
    plan->program = p->program;
    uint32_t *first = gphi_heap_array(p->heap, p->workers + 1, sizeof(uint32_t));
    if (!first || !plan_alloc(plan, p->workers, p->n, p->program->edge_count)) {
        gphi_heap_free(p->heap, first, (p->workers + 1) * sizeof(uint32_t));
        plan_free(plan, p->n, p->program->edge_count);
        return NULL;
    }
    sort_by_worker(p, first);
    cut_items(p, plan, first, item_ns);
    add_waits(p, plan, p->by_below); /* not needed any more; as long as the nodes */
    number_flags(plan);
    gphi_heap_free(p->heap, first, (p->workers + 1) * sizeof(uint32_t));
    return plan;
}

soft_plan *soft_plan_create(soft_program *program, uint64_t draws)
{
    soft_engine *engine = program->engine;
    planner p = {.program = program,
                 .heap = engine->heap,
                 .n = program->node_count,
                 .workers = engine->worker_count};
    soft_plan *plan = NULL;
    uint64_t *available = gphi_heap_array(p.heap, p.workers, sizeof(uint64_t));
    if (available && planner_alloc(&p)) {
        const uint64_t sum = read_costs(&p, draws);
        longest_paths(&p);
        sort_by_below(&p);
        const uint64_t end = schedule(&p, available);
        uint64_t item_ns = sum / p.workers / 32;
        item_ns = item_ns < ITEM_MIN_NS   ? ITEM_MIN_NS
                  : item_ns > ITEM_MAX_NS ? ITEM_MAX_NS
                                          : item_ns;
        program->serial_ns = sum;
        if (engine->seed != 0)
            plan = make_plan(&p, drawn_cost(draws, p.n));
        else if (sum >= PLAN_MIN_NS && sum / p.n >= NODE_MIN_NS && end < sum - sum / 8)
            plan = make_plan(&p, item_ns);
        if (plan)
            plan->estimate_ns = engine->seed != 0 ? WAKE_MIN_NS : end;
    }
    gphi_heap_free(p.heap, available, p.workers * sizeof(uint64_t));
    planner_free(&p);
    return plan;
}
