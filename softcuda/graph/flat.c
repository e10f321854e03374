// SPDX-License-Identifier: Apache-2.0
/* A graph made flat.
 *
 *   a ──► [ child: c ──► d ] ──► b        a  entry  c  d  exit  b
 *                                         0    1    2  3   4    5
 *
 * A conditional node is followed by its bodies, each with an exit that leads to the next
 * one: none runs beside another.
 *
 * A child graph becomes an entry node, its own nodes and an exit node; the engine elides
 * the empty ones. The shape keeps what whole updates pair by: each node's dependencies in
 * their order, and each graph's sinks in the order in which they became sinks. */
#include "softcuda/graph/exec.h"
#include "softcuda/graph/memnode.h"

#include <stdlib.h>

#include "softcuda/device/alloc.h"
#include "softcuda/rules/rules.h"

static uint8_t kind_of(const soft_node *node)
{
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: /* how many blocks it has, kernels change, too */
        return node->updatable ? SOFT_WORK_CALL : SOFT_WORK_PARTS;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return SOFT_WORK_CALL;
    case CU_GRAPH_NODE_TYPE_HOST: return SOFT_WORK_HOST;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return soft_batch_waits(node->operations, node->task.u.batch.count)
                   ? SOFT_WORK_POLL
                   : SOFT_WORK_CALL;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return soft_memnode_has_work() ? SOFT_WORK_CALL : SOFT_WORK_EMPTY;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return SOFT_WORK_BRANCH;
    default: return SOFT_WORK_EMPTY;
    }
}

struct counts {
    uint64_t nodes, edges, deps, members, levels, bodies;
    uint32_t has;
};

static void count_flat(const soft_graph *graph, struct counts *counts)
{
    const bool has_inner = graph->has & SOFT_HAS_INNER;
    counts->levels++;
    counts->has |= graph->has;
    counts->members += graph->node_count;
    counts->nodes += graph->node_count;
    counts->edges += graph->edge_count;
    counts->deps += graph->edge_count;
    for (uint32_t i = 0; has_inner && i < graph->node_count; i++) {
        const soft_node *node = graph->nodes[i];
        const soft_graph *inner;
        for (uint32_t k = 0; (inner = soft_node_inner(node, k)); k++) {
            counts->nodes++;
            counts->edges += 2ull * inner->node_count + 1;
            counts->bodies += node->bodies != NULL;
            count_flat(inner, counts);
        }
    }
}

uint8_t soft_pack_edge(const CUgraphEdgeData *data)
{
    return (uint8_t)(data->type << 4 | data->from_port);
}

static int by_serial(const void *a, const void *b)
{
    const uint64_t x = (*(soft_node *const *)a)->sink_serial;
    const uint64_t y = (*(soft_node *const *)b)->sink_serial;
    return x < y ? -1 : x > y;
}

void soft_sink_add(soft_sinks *sinks, soft_node *node)
{
    if (node->dependents.count != 0)
        return;
    sinks->mixed |= sinks->count > 0 &&
                    sinks->list[sinks->count - 1]->sink_serial >= node->sink_serial;
    sinks->list[sinks->count++] = node;
}

void soft_sinks_order(soft_sinks *sinks)
{
    if (sinks->mixed && soft_rule(R67)) /* rare: nodes are born as sinks */
        qsort(sinks->list, sinks->count, sizeof(soft_node *), by_serial);
}

uint32_t soft_graph_sinks(const soft_graph *graph, soft_node **out)
{
    soft_sinks sinks = {.list = out};
    for (uint32_t i = 0; i < graph->node_count; i++)
        soft_sink_add(&sinks, graph->nodes[i]);
    soft_sinks_order(&sinks);
    return sinks.count;
}

/* How far the arrays of a shape are filled. */
struct filled {
    uint32_t deps, members, sinks;
};

/* `body` + 1: the body that it is in. */
static uint32_t add_node(soft_flat *flat, soft_node *node, uint32_t body, bool is_exit)
{
    const uint32_t at = flat->shape.node_count++;
    const bool works = !is_exit && !node->child;
    flat->body_of[at] = body;
    flat->nodes[at] = works ? node : NULL;
    flat->kinds[at] = works ? kind_of(node) : (uint8_t)SOFT_WORK_EMPTY;
    flat->priorities[at] = works && node->type == CU_GRAPH_NODE_TYPE_KERNEL
                               ? node->task.u.launch.priority
                               : 0;
    flat->shape.nodes[at] = (soft_exec_node){.source = is_exit ? NULL : node,
                                             .id = is_exit ? 0 : node->id,
                                             .type = (uint8_t)node->type,
                                             .kind = flat->kinds[at],
                                             .enabled = true,
                                             .in_body = body != 0};
    if (soft_flat_has_record(flat, at)) {
        const soft_content content = soft_content_of(node);
        flat->record_bytes += soft_record_bytes(&content);
    }
    return at;
}

static void add_edge(soft_flat *flat, uint32_t from, uint32_t to)
{
    flat->edges[flat->edge_count++] = (soft_edge){from, to};
}

/* A node's dependencies, for the program and for the shape. */
static void add_dependencies(soft_flat *flat, struct filled *filled,
                             const soft_node *node)
{
    soft_exec_node *out = &flat->shape.nodes[node->mark];
    out->dep_first = filled->deps;
    out->dep_count = node->dependencies.count;
    for (uint32_t k = 0; k < node->dependencies.count; k++) {
        const soft_edge_end *end = &node->dependencies.ends[k];
        if (end->data.type == 0 || soft_rule(M_programmatic_order))
            add_edge(flat, end->node->mark_out, node->mark);
        flat->shape.deps[filled->deps] = end->node->mark;
        flat->shape.dep_data[filled->deps++] = soft_pack_edge(&end->data);
    }
}

/* Of a graph without graphs in it: each node's number is known before it is reached, and one
 * walk does. Large graphs are like that, and do not fit the caches. */
static void flatten_plain(const soft_graph *graph, uint32_t body, soft_flat *flat,
                          struct filled *filled, uint32_t *members, soft_sinks *sinks)
{
    const uint32_t first = flat->shape.node_count;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        soft_node *node = graph->nodes[i];
        members[i] = node->mark = node->mark_out = add_node(flat, node, body, false);
        for (uint32_t k = 0; k < node->dependencies.count; k++) {
            soft_node *from = node->dependencies.ends[k].node;
            if (from->graph == graph) /* else R3 is switched off */
                from->mark = from->mark_out = first + from->place;
        }
        add_dependencies(flat, filled, node);
        soft_sink_add(sinks, node);
    }
}

/* Ties a graph's roots to what comes before and its sinks to its exit. */
static void add_inner_edges(soft_flat *flat, const soft_graph *graph, uint32_t entry,
                            uint32_t exit)
{
    add_edge(flat, entry, exit);
    for (uint32_t k = 0; k < graph->node_count; k++) {
        const soft_node *inner = graph->nodes[k];
        if (inner->dependencies.count == 0)
            add_edge(flat, entry, inner->mark);
        if (inner->dependents.count == 0)
            add_edge(flat, inner->mark_out, exit);
    }
}

static uint32_t flatten(const soft_graph *graph, uint32_t owner, uint32_t body,
                        soft_flat *flat, struct filled *filled);

/* The graphs of a node, each after the one before. */
static void flatten_inner(soft_node *node, uint32_t body, soft_flat *flat,
                          struct filled *filled)
{
    soft_shape *shape = &flat->shape;
    const uint32_t first = flat->body_count;
    uint32_t *link = &shape->nodes[node->mark].level;
    soft_graph *inner;
    for (uint32_t k = 0; node->bodies && soft_node_inner(node, k); k++)
        flat->body_owner[flat->body_count++] = node->mark;
    for (uint32_t k = 0; (inner = soft_node_inner(node, k)); k++) {
        const uint32_t entry = node->mark_out;
        const uint32_t inside = node->bodies ? first + k + 1 : body;
        *link = flatten(inner, node->mark, inside, flat, filled);
        link = &shape->levels[*link].next;
        node->mark_out = add_node(flat, node, body, true);
        add_inner_edges(flat, inner, entry, node->mark_out);
    }
}

/* Gives each node its place first (edges may point forwards), then the edges. Returns
 * the level. */
static uint32_t flatten(const soft_graph *graph, uint32_t owner, uint32_t body,
                        soft_flat *flat, struct filled *filled)
{
    soft_shape *shape = &flat->shape;
    const uint32_t level = shape->level_count++;
    const bool plain = !(graph->has & SOFT_HAS_INNER);
    uint32_t member = filled->members;
    filled->members += graph->node_count;
    shape->levels[level] = (soft_exec_level){.owner = owner,
                                             .next = SOFT_NO_NODE,
                                             .member_first = member,
                                             .member_count = graph->node_count};
    /* After the nodes there is room for the sinks of one graph. */
    soft_sinks sinks = {.list = flat->nodes + shape->node_count + graph->node_count};
    if (plain)
        flatten_plain(graph, body, flat, filled, &shape->members[member], &sinks);
    for (uint32_t i = 0; !plain && i < graph->node_count; i++) {
        soft_node *node = graph->nodes[i];
        node->mark = node->mark_out = add_node(flat, node, body, false);
        shape->members[member++] = node->mark;
        flatten_inner(node, body, flat, filled);
    }
    if (!plain)
        sinks.list = flat->nodes + shape->node_count;
    for (uint32_t i = 0; !plain && i < graph->node_count; i++) {
        add_dependencies(flat, filled, graph->nodes[i]);
        soft_sink_add(&sinks, graph->nodes[i]);
    }
    soft_sinks_order(&sinks);
    shape->levels[level].sink_first = filled->sinks;
    shape->levels[level].sink_count = sinks.count;
    for (uint32_t i = 0; i < sinks.count; i++) {
        shape->sinks[filled->sinks++] = sinks.list[i]->mark;
        sinks.list[i] = NULL;
    }
    return level;
}

void soft_shape_fini(soft_shape *shape)
{
    soft_delete(shape->nodes);
    soft_delete(shape->deps);
    soft_delete(shape->dep_data);
    soft_delete(shape->members);
    soft_delete(shape->sinks);
    soft_delete(shape->levels);
    *shape = (soft_shape){0};
}

void soft_flat_fini(soft_flat *flat)
{
    soft_shape_fini(&flat->shape);
    soft_delete(flat->nodes);
    soft_delete(flat->edges);
    soft_delete(flat->kinds);
    soft_delete(flat->priorities);
    soft_delete(flat->body_owner);
    soft_delete(flat->body_of);
}

CUresult soft_flat_init(soft_graph *graph, soft_flat *out)
{
    struct counts counts = {0};
    count_flat(graph, &counts);
    if (counts.nodes >= UINT32_MAX / 4 || counts.edges >= UINT32_MAX / 4)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "%llu nodes are too many",
                         (unsigned long long)counts.nodes);
    /* An empty graph is fine (R8); it becomes one empty node. After the nodes there is
     * room for the sinks of one graph. */
    const size_t room = counts.nodes + 1;
    soft_flat flat = {.nodes = soft_new_unset(2 * room * sizeof(soft_node *)),
                      .edges = soft_new_unset((counts.edges + 1) * sizeof(soft_edge)),
                      .kinds = soft_new_unset(room),
                      .priorities = soft_new_unset(room * sizeof(int)),
                      .body_owner = soft_new((counts.bodies + 1) * sizeof(uint32_t)),
                      .body_of = soft_new_unset(room * sizeof(uint32_t)),
                      .has = counts.has};
    soft_shape *shape = &flat.shape;
    shape->nodes = soft_new_unset(room * sizeof(*shape->nodes));
    shape->deps = soft_new_unset((counts.deps + 1) * sizeof(*shape->deps));
    shape->dep_data = soft_new_unset(counts.deps + 1);
    shape->members = soft_new_unset((counts.members + 1) * sizeof(*shape->members));
    shape->sinks = soft_new_unset((counts.members + 1) * sizeof(*shape->sinks));
    shape->levels = soft_new(counts.levels * sizeof(*shape->levels));
    if (!flat.nodes || !flat.edges || !flat.kinds || !flat.priorities ||
        !flat.body_owner || !flat.body_of || !shape->nodes || !shape->deps ||
        !shape->dep_data || !shape->members || !shape->sinks || !shape->levels) {
        soft_flat_fini(&flat);
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory to compile %llu nodes",
                         (unsigned long long)counts.nodes);
    }
    (void)flatten(graph, SOFT_NO_NODE, 0, &flat, &(struct filled){0});
    if (shape->node_count == 0) {
        flat.nodes[0] = NULL;
        flat.kinds[0] = SOFT_WORK_EMPTY;
        flat.priorities[0] = 0;
        flat.body_of[0] = 0;
        shape->nodes[0] = (soft_exec_node){0};
        shape->node_count = 1;
    }
    *out = flat;
    return CUDA_SUCCESS;
}

static bool is_it(const soft_exec_node *at, const soft_node *node)
{
    return at->source == node && at->id == node->id;
}

uint32_t soft_shape_find(const soft_shape *shape, soft_node *node)
{
    /* Who was made flat last left its number; else all are looked at. */
    if (node->mark < shape->node_count && is_it(&shape->nodes[node->mark], node))
        return node->mark;
    for (uint32_t i = 0; i < shape->node_count; i++)
        if (is_it(&shape->nodes[i], node))
            return node->mark = i;
    return SOFT_NO_NODE;
}
