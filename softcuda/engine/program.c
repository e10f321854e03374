// SPDX-License-Identifier: Apache-2.0
/* Compiling a graph, and running its nodes in order.
 *
 *   position   0     1     2     3   ...   nodes in an order that keeps every edge;
 *   order      n4    n0    n7    n2        EMPTY nodes are not in it
 *   mode       call  parts step  host      how the position is run
 *   cost       40    900   7e4   0         measured ns, 0: not yet
 *
 * A launch is the order run from front to back by the queue's owner: cheap nodes inline,
 * dear ones as a step that the team shares. Positions are all that a launch changes, so
 * nothing is reset between launches. */
#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "softcuda/engine/program.h"

/* ---- compiling --------------------------------------------------------------------- */

typedef struct soft_sort {
    gph_allocator heap;
    uint32_t node_count;
    uint64_t edge_count;
    const soft_edge *edges;
    const int *priorities; /* NULL: the lower number first */
    uint32_t *first;       /* node_count + 1: successors of i are at first[i] ... */
    uint32_t *to;          /* edge_count */
    uint32_t *missing;     /* predecessors not yet placed */
    uint32_t *ready;       /* a binary heap */
    uint32_t ready_count;
    uint32_t *order; /* node_count */
} soft_sort;

static bool sort_before(const soft_sort *sort, uint32_t a, uint32_t b)
{
    const int pa = sort->priorities ? sort->priorities[a] : 0;
    const int pb = sort->priorities ? sort->priorities[b] : 0;
    return pa != pb ? pa < pb : a < b;
}

static void ready_push(soft_sort *sort, uint32_t node)
{
    uint32_t at = sort->ready_count++;
    while (at > 0 && sort_before(sort, node, sort->ready[(at - 1) / 2])) {
        sort->ready[at] = sort->ready[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    sort->ready[at] = node;
}

static uint32_t ready_pop(soft_sort *sort)
{
    const uint32_t top = sort->ready[0];
    const uint32_t node = sort->ready[--sort->ready_count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= sort->ready_count)
            break;
        if (child + 1 < sort->ready_count &&
            sort_before(sort, sort->ready[child + 1], sort->ready[child]))
            child++;
        if (!sort_before(sort, sort->ready[child], node))
            break;
        sort->ready[at] = sort->ready[child];
        at = child;
    }
    sort->ready[at] = node;
    return top;
}

static void sort_free(soft_sort *sort)
{
    const size_t n = sort->node_count, e = (size_t)sort->edge_count;
    gphi_heap_free(sort->heap, sort->first, (n + 1) * sizeof(uint32_t));
    gphi_heap_free(sort->heap, sort->to, (e + 1) * sizeof(uint32_t));
    gphi_heap_free(sort->heap, sort->missing, n * sizeof(uint32_t));
    gphi_heap_free(sort->heap, sort->ready, n * sizeof(uint32_t));
    gphi_heap_free(sort->heap, sort->order, n * sizeof(uint32_t));
}

static bool sort_alloc(soft_sort *sort)
{
    const size_t n = sort->node_count, e = (size_t)sort->edge_count;
    sort->first = gphi_heap_array(sort->heap, n + 1, sizeof(uint32_t));
    sort->to = gphi_heap_array(sort->heap, e + 1, sizeof(uint32_t));
    sort->missing = gphi_heap_array(sort->heap, n, sizeof(uint32_t));
    sort->ready = gphi_heap_array(sort->heap, n, sizeof(uint32_t));
    sort->order = gphi_heap_array(sort->heap, n, sizeof(uint32_t));
    return sort->first && sort->to && sort->missing && sort->ready && sort->order;
}

/* Successor lists by counting. */
static void sort_lists(soft_sort *sort)
{
    for (uint64_t i = 0; i < sort->edge_count; i++) {
        sort->first[sort->edges[i].from]++;
        sort->missing[sort->edges[i].to]++;
    }
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= sort->node_count; i++) {
        sum += sort->first[i];
        sort->first[i] = sum; /* the end of its list; it becomes the start below */
    }
    for (uint64_t i = sort->edge_count; i-- > 0;)
        sort->to[--sort->first[sort->edges[i].from]] = sort->edges[i].to;
}

/* A node on a cycle: from one that was never ready, back along predecessors that were not
 * either, as many steps as there are nodes. */
static uint32_t find_cycle(soft_sort *sort)
{
    uint32_t *const before = sort->ready; /* one unplaced predecessor of each */
    for (uint32_t i = 0; i < sort->node_count; i++)
        for (uint32_t e = sort->first[i]; sort->missing[i] != 0 && e < sort->first[i + 1];
             e++)
            before[sort->to[e]] = i;
    uint32_t node = 0;
    while (sort->missing[node] == 0)
        node++;
    for (uint32_t i = 0; i < sort->node_count; i++)
        node = before[node];
    return node;
}

/* Fills `order`; false, with the node, if there is a cycle. */
static bool sort_nodes(soft_sort *sort, uint32_t *offender)
{
    sort_lists(sort);
    for (uint32_t i = 0; i < sort->node_count; i++)
        if (sort->missing[i] == 0)
            ready_push(sort, i);
    uint32_t placed = 0;
    while (sort->ready_count != 0) {
        const uint32_t node = ready_pop(sort);
        sort->order[placed++] = node;
        for (uint32_t e = sort->first[node]; e < sort->first[node + 1]; e++)
            if (--sort->missing[sort->to[e]] == 0)
                ready_push(sort, sort->to[e]);
    }
    if (placed == sort->node_count)
        return true;
    *offender = find_cycle(sort);
    return false;
}

static gph_status check_edges(uint32_t node_count, const soft_edge *edges,
                              uint64_t edge_count, gph_error *error)
{
    if (edge_count >= UINT32_MAX)
        return gphi_fail(error, GPH_E_UNSUPPORTED, "a graph of %llu edges",
                         (unsigned long long)edge_count);
    for (uint64_t i = 0; i < edge_count; i++)
        if (edges[i].from >= node_count || edges[i].to >= node_count)
            return gphi_fail(
                error, GPH_E_INVALID, "edge %llu goes from node %u to node %u of %u",
                (unsigned long long)i, edges[i].from, edges[i].to, node_count);
    return GPH_OK;
}

/* The positions: `order` without EMPTY nodes. NULL `order`: by number. */
static gph_status lay_out(soft_program *program, const uint32_t *order,
                          const uint8_t *kinds, const soft_bodies *bodies,
                          gph_error *error)
{
    for (uint32_t i = 0; i < program->node_count; i++) {
        if (kinds[i] > (bodies ? SOFT_WORK_BRANCH : SOFT_WORK_POLL))
            return gphi_fail(error, GPH_E_INVALID, "node %u has kind %u", i, kinds[i]);
        program->count += kinds[i] != SOFT_WORK_EMPTY;
        program->has_host = program->has_host || kinds[i] == SOFT_WORK_HOST;
        program->has_poll = program->has_poll || kinds[i] == SOFT_WORK_POLL;
    }
    program->count += bodies ? bodies->count : 0; /* each has a way back */
    if (program->count == 0)
        return GPH_OK;
    const gph_allocator heap = program->engine->heap;
    program->order = gphi_heap_array(heap, program->count, sizeof(uint32_t));
    program->cost = gphi_heap_array(heap, program->count, sizeof(uint32_t));
    program->mode = gphi_heap_array(heap, program->count, 1);
    GPHI_TRY(gphi_made(error, program->order && program->cost && program->mode,
                       "a program of %u nodes", program->node_count));
    if (bodies) {
        GPHI_TRY(soft_branches_create(program, order, kinds, bodies, error));
        soft_branches_lay_out(program, order, kinds);
        return GPH_OK;
    }
    uint32_t position = 0;
    for (uint32_t i = 0; i < program->node_count; i++) {
        const uint32_t node = !order ? i : order[i];
        if (kinds[node] == SOFT_WORK_EMPTY)
            continue;
        program->order[position] = node;
        program->mode[position++] = soft_mode_of(kinds[node]);
    }
    return GPH_OK;
}

/* Predecessors by place in the order: what a plan is made from. Two or more workers. */
static gph_status keep_edges(soft_program *program, const soft_edge *edges,
                             const uint32_t *order, gph_error *error)
{
    const gph_allocator heap = program->engine->heap;
    const uint32_t n = program->node_count, e = program->edge_count;
    uint32_t *rank = NULL;
    program->pred_first = gphi_heap_array(heap, n + 1, sizeof(uint32_t));
    program->pred = gphi_heap_array(heap, (size_t)e + 1, sizeof(uint32_t));
    if (order) {
        program->topo = gphi_heap_array(heap, n, sizeof(uint32_t));
        rank = gphi_heap_array(heap, n, sizeof(uint32_t));
    }
    if (!program->pred_first || !program->pred || (order && (!program->topo || !rank))) {
        gphi_heap_free(heap, rank, n * sizeof(uint32_t));
        return gphi_fail(error, GPH_E_NO_MEMORY, "a program of %u edges", e);
    }
    for (uint32_t i = 0; order && i < n; i++) {
        program->topo[i] = order[i];
        rank[order[i]] = i;
    }
    uint32_t *const first = program->pred_first;
    for (uint32_t i = 0; i < e; i++)
        first[rank ? rank[edges[i].to] : edges[i].to]++;
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= n; i++) {
        sum += first[i];
        first[i] = sum;
    }
    for (uint32_t i = e; i-- > 0;) {
        const uint32_t to = !rank ? edges[i].to : rank[edges[i].to];
        program->pred[--first[to]] = !rank ? edges[i].from : rank[edges[i].from];
    }
    gphi_heap_free(heap, rank, n * sizeof(uint32_t));
    return GPH_OK;
}

static void program_free(soft_program *program)
{
    const gph_allocator heap = program->engine->heap;
    const size_t n = program->node_count;
    soft_plan_destroy(program->engine, program->plan);
    soft_polled_destroy(program);
    soft_shuffle_destroy(program);
    soft_branches_destroy(program);
    gphi_heap_free(heap, program->topo, n * sizeof(uint32_t));
    gphi_heap_free(heap, program->pred_first, (n + 1) * sizeof(uint32_t));
    gphi_heap_free(heap, program->pred,
                   ((size_t)program->edge_count + 1) * sizeof(uint32_t));
    gphi_heap_free(heap, program->order, program->count * sizeof(uint32_t));
    gphi_heap_free(heap, program->cost, program->count * sizeof(uint32_t));
    gphi_heap_free(heap, program->mode, program->count);
    gphi_heap_free(heap, program, sizeof(*program));
}

/* Whether the caller's numbering is an order already, and nothing asks for another. */
static bool numbered_in_order(const soft_edge *edges, uint64_t edge_count,
                              const int *priorities, uint32_t node_count)
{
    for (uint64_t i = 0; i < edge_count; i++)
        if (edges[i].from >= edges[i].to)
            return false;
    for (uint32_t i = 1; priorities && i < node_count; i++)
        if (priorities[i] != priorities[0])
            return false;
    return true;
}

/* Those between nodes of one body: what else there is says no more than the branch. */
static gph_status keep_inner_edges(soft_program *program, const soft_edge *edges,
                                   const soft_bodies *bodies, const uint32_t *order,
                                   gph_error *error)
{
    const gph_allocator heap = program->engine->heap;
    const size_t bytes = ((size_t)program->edge_count + 1) * sizeof(soft_edge);
    soft_edge *inner = gphi_heap_alloc(heap, bytes);
    GPHI_TRY(gphi_made(error, inner, "a program of %u edges", program->edge_count));
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->edge_count; i++)
        if (bodies->of_node[edges[i].from] == bodies->of_node[edges[i].to])
            inner[count++] = edges[i];
    program->edge_count = count;
    const gph_status status = keep_edges(program, inner, order, error);
    gphi_heap_free(heap, inner, bytes);
    return status;
}

static gph_status keep_what_runs_need(soft_program *program, const soft_edge *edges,
                                      const soft_bodies *bodies, const uint32_t *order,
                                      gph_error *error)
{
    const bool seeded = program->engine->seed != 0;
    program->may_plan = program->engine->worker_count > 1 && !program->has_host &&
                        !program->has_poll && !bodies && program->count > 1;
    if (program->has_poll)
        GPHI_TRY(soft_polled_create(program, error));
    if (bodies && (program->has_poll || seeded))
        GPHI_TRY(keep_inner_edges(program, edges, bodies, order, error));
    else if (program->may_plan || program->has_poll || seeded)
        GPHI_TRY(keep_edges(program, edges, order, error));
    return seeded ? soft_shuffle_create(program, error) : GPH_OK;
}

static gph_status sort_and_lay_out(soft_program *program, soft_sort *sort,
                                   const uint8_t *kinds, const soft_bodies *bodies,
                                   gph_error *error)
{
    gph_status status;
    uint32_t offender;
    if (!sort_alloc(sort)) {
        status = gphi_fail(error, GPH_E_NO_MEMORY, "sorting %u nodes", sort->node_count);
    } else if (!sort_nodes(sort, &offender)) {
        status = gphi_fail(error, GPH_E_INVALID, "node %u depends on itself", offender);
        if (error) {
            error->has_node = 1;
            error->node = offender;
        }
    } else {
        status = lay_out(program, sort->order, kinds, bodies, error);
        if (status == GPH_OK)
            status =
                keep_what_runs_need(program, sort->edges, bodies, sort->order, error);
    }
    sort_free(sort);
    return status;
}

gph_status soft_program_create_nested(soft_engine *engine, uint32_t node_count,
                                      const soft_edge *edges, uint64_t edge_count,
                                      const uint8_t *kinds, const int *priorities,
                                      const soft_bodies *bodies, soft_program **out,
                                      gph_error *error)
{
    GPHI_TRY(check_edges(node_count, edges, edge_count, error));
    soft_program *program = gphi_heap_alloc(engine->heap, sizeof(*program));
    GPHI_TRY(gphi_made(error, program, "a program of %u nodes", node_count));
    program->engine = engine;
    program->node_count = node_count;
    program->edge_count = (uint32_t)edge_count;
    program->references = 1;

    gph_status status;
    if (numbered_in_order(edges, edge_count, priorities, node_count)) {
        status = lay_out(program, NULL, kinds, bodies, error);
        if (status == GPH_OK)
            status = keep_what_runs_need(program, edges, bodies, NULL, error);
    } else {
        soft_sort sort = {.heap = engine->heap,
                          .node_count = node_count,
                          .edge_count = edge_count,
                          .edges = edges,
                          .priorities = priorities};
        status = sort_and_lay_out(program, &sort, kinds, bodies, error);
    }
    if (status != GPH_OK) {
        program_free(program);
        return status;
    }
    *out = program;
    return GPH_OK;
}

/* ---- life -------------------------------------------------------------------------- */

void soft_program_finished(soft_program *program)
{
    soft_program_lock(program);
    const uint32_t before = program->references--;
    soft_program_unlock(program);
    assert(before > 0 && "a program was let go of twice");
    if (before == 1)
        program_free(program);
}

void soft_program_destroy(soft_program *program)
{
    if (program)
        soft_program_finished(program);
}

/* Whether this node and the next one are for one call. */
static inline bool is_row(const soft_program *program, uint32_t position,
                          const soft_work *works)
{
    soft_run_parts_fn *const of = program->engine->row.of;
    return of && works[program->order[position]].run_parts == of &&
           position + 1 < program->count &&
           works[program->order[position + 1]].run_parts == of;
}

/* Nodes that run inline, from `position` on; returns the first that does not. */
static uint32_t run_inline(const soft_program *program, uint32_t position,
                           const soft_work *works, soft_worker *worker)
{
    const soft_row *row = &program->engine->row;
    soft_parts parts = {0};
    for (; position < program->count; position++) {
        const soft_work *work = &works[program->order[position]];
        if (program->mode[position] == MODE_CALL) {
            work->run(work->argument, worker);
        } else if (program->mode[position] == MODE_PARTS) {
            if (is_row(program, position, works)) {
                position += row->run(works, &program->order[position],
                                     program->count - position, worker) -
                            1;
                continue;
            }
            parts.first = 0;
            parts.have = parts.total = work->parts;
            work->run_parts(work->argument, &parts, worker);
        } else {
            break;
        }
    }
    return position;
}

/* The first launches are cold and few: of those the least counts. */
static void update_cost(soft_program *program, uint32_t position, uint64_t ns)
{
    uint32_t *const cost = &program->cost[position];
    const uint32_t old = __atomic_load_n(cost, __ATOMIC_RELAXED);
    if (program->launches > MEASURE_FIRST || old == 0)
        soft_cost_update(cost, ns);
    else if (ns < old)
        __atomic_store_n(cost, ns == 0 ? 1 : (uint32_t)ns, __ATOMIC_RELAXED);
}

/* The same, with a time stamp a node. */
static uint32_t run_measured(soft_program *program, uint32_t position,
                             const soft_work *works, soft_worker *worker)
{
    uint64_t from = soft_ticks();
    for (; position < program->count && program->mode[position] <= MODE_PARTS;
         position++) {
        const soft_work *work = &works[program->order[position]];
        soft_work_inline(work, worker);
        const uint64_t now = soft_ticks();
        const uint64_t ns = soft_span_ns(program->engine, now - from);
        update_cost(program, position, ns);
        soft_cost_update(work->cost_ns, ns);
        from = now;
    }
    return position;
}

/* What the costs say about how nodes are run. */
static void choose_modes(soft_program *program, const soft_work *works)
{
    program->split_ns = 0;
    for (uint32_t i = 0; i < program->count; i++) {
        if (program->mode[i] != MODE_PARTS && program->mode[i] != MODE_STEP)
            continue;
        const uint32_t cost = program->cost[i];
        const uint64_t parts = works[program->order[i]].parts;
        const bool splits = soft_pays_to_split(program->engine, parts, cost);
        program->mode[i] = splits || cost == 0 ? MODE_STEP : MODE_PARTS;
        if (splits)
            program->split_ns += cost / 2;
    }
}

/* Whether all of its nodes run inline, so that a plan could spread them. */
static bool is_narrow(const soft_program *program)
{
    for (uint32_t i = 0; i < program->count; i++)
        if (program->mode[i] >= MODE_STEP)
            return false;
    return true;
}

static uint64_t sum_of_costs(const soft_program *program)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < program->count; i++)
        sum += __atomic_load_n(&program->cost[i], __ATOMIC_RELAXED);
    return sum;
}

static void make_plan(soft_program *program)
{
    soft_plan_destroy(program->engine, program->plan);
    program->plan = is_narrow(program) ? soft_plan_create(program, 0) : NULL;
    program->plan_launches = 0;
    program->plan_rest = PLAN_TRIAL;
    /* Time stamps make short nodes look longer: what one thread takes is seen first. */
    const bool is_fine = program->serial_ns / program->node_count < FINE_NS;
    program->rest_until = is_fine ? program->launches + 1 + PLAN_FIRST_REST : 0;
    program->plan_best_ns = program->rest_best_ns = UINT64_MAX;
    if (program->plan)
        gphi_log(
            "engine", GPH_LOG_DEBUG,
            "program of %u nodes: plan of %u items and %u waits, %llu us on %u "
            "workers instead of %llu us on one",
            program->node_count, program->plan->item_count, program->plan->wait_count,
            (unsigned long long)program->plan->estimate_ns / 1000,
            program->plan->list_count, (unsigned long long)program->serial_ns / 1000);
    /* Thinking again costs as much as hundreds of launches: ever more rarely. */
    program->plan_pause = program->plan_pause == 0 ? MEASURE_EVERY : program->plan_pause;
    program->plan_next = program->launches + program->plan_pause;
    if (program->plan_pause < PLAN_PAUSE_MAX)
        program->plan_pause *= 2;
}

/* After a launch in order that was measured. */
static void judge_order(soft_program *program)
{
    if (program->launches < MEASURE_FIRST)
        return;
    if (program->launches <= MEASURE_FIRST) {
        make_plan(program);
        return;
    }
    if (program->launches < program->plan_next)
        return;
    const uint64_t sum = sum_of_costs(program), old = program->serial_ns;
    if (sum > old + old / 4 || sum < old - old / 4)
        make_plan(program);
}

/* After a launch in order, though there is a plan: what one thread really takes. */
static void judge_rest(soft_program *program, uint64_t ns)
{
    if (ns < program->rest_best_ns)
        program->rest_best_ns = ns;
    if (program->launches + 1 < program->rest_until)
        return;
    program->serial_ns = program->rest_best_ns;
    program->rest_best_ns = UINT64_MAX;
}

/* After a launch with a plan. One that gains nothing over one thread, at its best, rests
 * for a while: something else may have the CPUs just now, so it is tried again. One that
 * is slower than it should be is made again from fresh costs. */
static void judge_plan(soft_program *program, uint64_t ns)
{
    if (ns < program->plan_best_ns)
        program->plan_best_ns = ns;
    if (++program->plan_launches % PLAN_TRIAL != 0)
        return;
    const uint64_t best = program->plan_best_ns;
    program->plan_best_ns = UINT64_MAX;
    if (best > program->serial_ns - program->serial_ns / 16) {
        gphi_log("engine", GPH_LOG_DEBUG,
                 "program of %u nodes: plan rests for %u launches, %llu us where one "
                 "worker takes %llu",
                 program->node_count, program->plan_rest, (unsigned long long)best / 1000,
                 (unsigned long long)program->serial_ns / 1000);
        program->rest_until = program->launches + 1 + program->plan_rest;
        if (program->plan_rest < PLAN_REST_MAX)
            program->plan_rest *= 2;
        return;
    }
    program->plan_rest = PLAN_TRIAL;
    if (best > program->plan->estimate_ns * 5 / 4 &&
        program->launches >= program->plan_next)
        make_plan(program);
}

/* All that follow each other: between them nobody need hear of the queue. */
static void post_hosts(soft_queue *queue, const soft_program *program,
                       const soft_work *works)
{
    const uint32_t first = queue->position;
    uint32_t end = first;
    while (end < program->count && program->mode[end] == MODE_HOST)
        end++;
    queue->position = end;
    soft_host_post(queue, (soft_host_row){works, &program->order[first], end - first});
}

/* Runs nodes in order, from where the queue's run is. */
static bool run_in_order(soft_queue *queue, soft_worker *worker, soft_program *program,
                         const soft_work *works)
{
    while (queue->position < program->count) {
        queue->position = queue->measure
                              ? run_measured(program, queue->position, works, worker)
                              : run_inline(program, queue->position, works, worker);
        if (queue->position == program->count)
            break;
        if (program->mode[queue->position] >= MODE_BRANCH) {
            if (!soft_branch_next(program, &queue->position, works))
                continue;
            soft_queue_close(queue);
            soft_queue_let_go(queue);
            return false;
        }
        if (program->mode[queue->position] == MODE_HOST) {
            soft_queue_close(queue);
            post_hosts(queue, program, works);
            return false;
        }
        const uint32_t position = queue->position++;
        const soft_work *work = &works[program->order[position]];
        if (!soft_step_run(queue, worker, work, &program->cost[position]))
            return false;
    }
    return true;
}

/* Whether a launch is a loop over the nodes and nothing else, until costs are measured next:
 * which is every so many launches. */
static bool is_straight(const soft_program *program)
{
    return program->launches >= MEASURE_FIRST && !program->branches &&
           !program->shuffle && !program->has_poll && !program->plan &&
           program->split_ns < CALL_MIN_NS && is_narrow(program);
}

static void begin_launch(soft_queue *queue, soft_program *program, const soft_work *works)
{
    program->launches++;
    if (program->branches)
        soft_branches_begin(program, works);
    if (program->shuffle) {
        soft_shuffle_begin(program);
        queue->measure = false;
        return;
    }
    program->planned = program->plan && program->launches >= program->rest_until;
    program->started_ticks = program->plan ? soft_ticks() : 0; /* to judge the plan */
    queue->measure =
        program->launches <= MEASURE_FIRST || program->launches % MEASURE_EVERY == 0;
    if (!program->planned && program->split_ns >= CALL_MIN_NS)
        soft_queue_call(queue);
}

static void end_launch(soft_queue *queue, soft_program *program, const soft_work *works)
{
    if (program->has_poll || program->shuffle)
        return;
    if (program->plan) {
        const uint64_t ticks = soft_ticks() - program->started_ticks;
        const uint64_t ns = (uint64_t)((double)ticks * program->engine->tick_ns);
        if (program->planned) {
            if (!queue->measure)
                judge_plan(program, ns);
            return;
        }
        judge_rest(program, ns);
    }
    if (queue->measure) {
        choose_modes(program, works);
        if (program->pred)
            judge_order(program);
        program->straight = is_straight(program);
    }
}

bool soft_program_run_straight(soft_queue *queue, soft_worker *worker,
                               const soft_launched *launch)
{
    soft_program *program = launch->program;
    if (!program->straight || (program->launches + 1) % MEASURE_EVERY == 0)
        return false;
    soft_queue *const before = worker->current;
    worker->current = queue;
    program->launches++;
    uint32_t end = 1;
    if (program->count == 1)
        soft_work_inline(&launch->works[program->order[0]], worker);
    else
        end = run_inline(program, 0, launch->works, worker);
    assert(end == program->count && "a node of a straight program is none");
    (void)end;
    worker->current = before;
    return true;
}

bool soft_program_run(soft_queue *queue, soft_worker *worker,
                      const soft_submission *launch)
{
    if (queue->position == 0 &&
        soft_program_run_straight(queue, worker, &launch->u.launch))
        return true;
    soft_program *program = launch->u.launch.program;
    const soft_work *works = launch->u.launch.works;
    soft_queue *const before = worker->current;
    worker->current = queue;
    bool here = true;
    if (queue->position == 0)
        begin_launch(queue, program, works);
    if (program->shuffled) {
        here = soft_shuffle_run(queue, worker, program, works);
    } else if (program->has_poll) {
        here = soft_polled_run(queue, worker, program, works);
    } else if (!program->planned) {
        here = run_in_order(queue, worker, program, works);
    } else if (queue->position == 0) {
        queue->position = 1;
        here = soft_plan_run(queue, worker, program, works, queue->measure);
    }
    worker->current = before;
    if (here)
        end_launch(queue, program, works);
    return here;
}
