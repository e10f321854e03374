// SPDX-License-Identifier: Apache-2.0
/* Rules of speed that the graph itself shows: too many branches, one chain of what is
 * apart, runs of small kernels over the same buffers. Each looks at what living
 * executables hold at the end. */
#include "doctor/rules/perf/rules_perf.h"

#include <inttypes.h>

enum { LAUNCHED_MIN = 8, NODES_MAX = 20000 };

/* Calls `look` for each class of graphs that was launched often enough, its newest. */
static void each_graph(gphi_rule_run *run,
                       void (*look)(gphi_rule_run *run, const gphi_exec_history *exec))
{
    const gphi_history *history = run->history;
    gphi_map done;
    gphi_map_init(&done, run->model->heap);
    for (size_t i = history->execs.count; i-- > 0;) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        if (exec->exec->created.number != exec->created || !exec->source ||
            !exec->source->data || exec->launches < LAUNCHED_MIN ||
            exec->source->number != exec->source_number ||
            gph_graph_node_count(exec->source->data) > NODES_MAX || exec->nodes == 0 ||
            gphi_map_get(&done, exec->class_hash) ||
            gphi_map_set(&done, exec->class_hash, 1) != GPH_OK)
            continue;
        look(run, exec);
    }
    gphi_map_fini(&done);
}

/* ---- perf.too-many-branches ---- */

enum { BRANCHES_MAX = 32 }; /* CUDA_DEVICE_MAX_CONNECTIONS goes no further */

/* The most nodes at one distance from the roots. */
static uint32_t width_of(const gphi_model *model, const gph_graph *graph)
{
    const uint32_t count = gph_graph_node_count(graph);
    enum { ROUNDS_MAX = 64 };
    uint32_t widest = 0;
    gphi_vec words;
    gphi_vec_init(&words, model->heap, sizeof(uint32_t));
    uint32_t *level = gphi_vec_add(&words, 2 * (size_t)count);
    if (!level)
        return 0;
    uint32_t *width = level + count; /* by level */
    bool changed = true;
    /* edges mostly point forward, so that a round or two will do */
    for (int round = 0; changed && round < ROUNDS_MAX; round++) {
        changed = false;
        for (size_t i = 0; i < gph_graph_edge_count(graph); i++) {
            const gph_edge *edge = gph_graph_edge(graph, i);
            if (level[edge->to] > level[edge->from] || level[edge->from] + 1 >= count)
                continue;
            level[edge->to] = level[edge->from] + 1;
            changed = true;
        }
    }
    /* not at rest: nothing is said of it */
    for (uint32_t i = 0; !changed && i < count; i++)
        widest = ++width[level[i]] > widest ? width[level[i]] : widest;
    gphi_vec_fini(&words);
    return widest;
}

/* More branches than queues run one after the other, with the cost of being many. */
static void look_at_branches(gphi_rule_run *run, const gphi_exec_history *exec)
{
    const uint32_t width = width_of(run->model, exec->source->data);
    if (width <= BRANCHES_MAX)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &exec->exec->created, 0);
    gphi_cause(draft,
               "%u of the graph's %u nodes may run at the same time; a device has %d "
               "hardware queues at most",
               width, exec->nodes, (int)BRANCHES_MAX);
    gphi_evidence(draft, "it was launched %" PRIu64 " times", exec->launches);
}

void gphi_rule_too_many_branches(gphi_rule_run *run)
{
    each_graph(run, look_at_branches);
}

/* ---- chains ---- */

/* The node after each, UINT32_MAX: none. False: the graph is not a chain. */
static bool read_chain(const gph_graph *graph, uint32_t *next, uint32_t *first)
{
    const uint32_t count = gph_graph_node_count(graph);
    uint32_t heads = 0;
    for (uint32_t i = 0; i < count; i++)
        next[i] = UINT32_MAX;
    if (gph_graph_edge_count(graph) + 1 != count)
        return false;
    for (size_t i = 0; i < gph_graph_edge_count(graph); i++) {
        const gph_edge *edge = gph_graph_edge(graph, i);
        if (next[edge->from] != UINT32_MAX)
            return false;
        next[edge->from] = edge->to;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool is_head = true;
        for (uint32_t k = 0; k < count && is_head; k++)
            is_head = next[k] != i;
        heads += is_head;
        *first = is_head ? i : *first;
    }
    return heads == 1;
}

/* Touches stand in the order of their nodes: the first of a node, by halves. */
static size_t first_touch(const gphi_exec_history *exec, uint32_t node)
{
    const gphi_touch *touches = exec->touches.items;
    size_t low;
    GPHI_HALVE(low, exec->touches.count, at, touches[at].node < node);
    return low;
}

/* How many a node has, from *first on. */
static size_t touches_of(const gphi_exec_history *exec, uint32_t node, size_t *first)
{
    *first = first_touch(exec, node);
    return first_touch(exec, node + 1) - *first;
}

/* ---- perf.serialised ---- */

enum { CHAIN_MIN = 8, CHAIN_MAX = 2000 };

/* Whether two nodes may touch the same memory: an allocation is all one. */
static bool share_memory(const gphi_exec_history *exec, uint32_t a, uint32_t b)
{
    size_t first_a = 0, first_b = 0;
    const size_t count_a = touches_of(exec, a, &first_a);
    const size_t count_b = touches_of(exec, b, &first_b);
    if (count_a == 0 || count_b == 0)
        return true; /* what it touches is not known */
    for (size_t i = 0; i < count_a; i++)
        for (size_t k = 0; k < count_b; k++) {
            const gphi_touch *x = gphi_vec_at(&exec->touches, first_a + i);
            const gphi_touch *y = gphi_vec_at(&exec->touches, first_b + k);
            if (!x->memory || !y->memory || x->memory == y->memory)
                return true;
        }
    return false;
}

/* The longest path by memory alone, over the chain: a square of its length, so
 * bounded. */
static void look_at_chain(gphi_rule_run *run, const gphi_exec_history *exec)
{
    const gph_graph *graph = exec->source->data;
    const uint32_t count = gph_graph_node_count(graph);
    uint32_t longest = 0, first = 0, rank = 0;
    if (count < CHAIN_MIN || count > CHAIN_MAX || exec->kernels * 2 < count)
        return;
    gphi_vec words;
    gphi_vec_init(&words, run->model->heap, sizeof(uint32_t));
    uint32_t *next = gphi_vec_add(&words, 3 * (size_t)count);
    if (!next)
        return;
    uint32_t *depth = next + count, *at = depth + count; /* both by place in the chain */
    const bool is_chain = read_chain(graph, next, &first);
    for (uint32_t node = first; is_chain && node != UINT32_MAX; node = next[node]) {
        at[rank] = node;
        depth[rank] = 1;
        for (uint32_t k = 0; k < rank; k++)
            if (depth[k] >= depth[rank] && share_memory(exec, at[k], node))
                depth[rank] = depth[k] + 1;
        longest = depth[rank] > longest ? depth[rank] : longest;
        rank++;
    }
    gphi_vec_fini(&words);
    if (!is_chain || longest * 2 > count)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &exec->exec->created, 0);
    gphi_cause(
        draft,
        "the graph is one chain of %u nodes, but by the memory that they are given "
        "no more than %u of them need to run one after the other",
        count, longest);
    gphi_evidence(draft, "two nodes count as dependent if any of their addresses lie in "
                         "one allocation");
}

void gphi_rule_serialised(gphi_rule_run *run)
{
    each_graph(run, look_at_chain);
}

/* ---- perf.small-kernels-same-buffers ---- */

enum { RUN_MIN = 6, BLOCKS_MAX = 64 };

/* Fewer blocks than a GPU runs at once: its launch is most of what it costs. */
static bool is_small_kernel(const gph_node *node)
{
    const gph_kernel_params *kernel = &node->u.kernel;
    return node->kind == GPH_NODE_KERNEL &&
           (uint64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2] <= BLOCKS_MAX;
}

static bool has_address(const gphi_exec_history *exec, size_t first, size_t count,
                        uint64_t address)
{
    for (size_t i = 0; i < count; i++)
        if (((gphi_touch *)gphi_vec_at(&exec->touches, first + i))->address == address)
            return true;
    return false;
}

/* Whether `b` is given nothing that `a` is not given. */
static bool works_on_same(const gphi_exec_history *exec, uint32_t a, uint32_t b)
{
    size_t first_a = 0, first_b = 0;
    const size_t count_a = touches_of(exec, a, &first_a);
    const size_t count_b = touches_of(exec, b, &first_b);
    for (size_t i = 0; i < count_b; i++) {
        const gphi_touch *touch = gphi_vec_at(&exec->touches, first_b + i);
        if (!has_address(exec, first_a, count_a, touch->address))
            return false;
    }
    return count_b > 0;
}

/* The longest run of kernels of which each works on what the one before it has. */
static void look_at_runs(gphi_rule_run *run, const gphi_exec_history *exec)
{
    const gph_graph *graph = exec->source->data;
    const uint32_t count = gph_graph_node_count(graph);
    uint32_t best = 0, best_end = 0, first = 0, length = 0, before = UINT32_MAX;
    if (count < RUN_MIN || count > CHAIN_MAX)
        return;
    gphi_vec nexts;
    gphi_vec_init(&nexts, run->model->heap, sizeof(uint32_t));
    uint32_t *next = gphi_vec_add(&nexts, count);
    const bool is_chain = next && read_chain(graph, next, &first);
    for (uint32_t node = first; is_chain && node != UINT32_MAX; node = next[node]) {
        const bool goes_on = before != UINT32_MAX &&
                             is_small_kernel(gph_graph_node(graph, node)) &&
                             is_small_kernel(gph_graph_node(graph, before)) &&
                             works_on_same(exec, before, node);
        length = goes_on ? length + 1 : 1;
        before = node;
        if (length > best) {
            best = length;
            best_end = node;
        }
    }
    gphi_vec_fini(&nexts);
    if (best < RUN_MIN)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &exec->exec->created, 0);
    gphi_cause(
        draft,
        "%u kernels of at most %d blocks follow each other on the same buffers, the "
        "last of them %s; %" PRIu64 " launches",
        best, (int)BLOCKS_MAX, gphi_say_node(exec->source, best_end), exec->launches);
    gphi_evidence(draft,
                  "each is given only addresses that the one before it was given, too");
}

void gphi_rule_same_buffers(gphi_rule_run *run)
{
    each_graph(run, look_at_runs);
}
