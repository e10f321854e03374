// SPDX-License-Identifier: Apache-2.0
/* Building a graph, and looking at it. */
#include "graph/graph.h"
#include "base/fail.h"
#include "base/heap.h"

#include <string.h>

/* Node indices are 32 bits wide, and one value is spare. */
static const size_t NODES_MAX = UINT32_MAX - 1;

gph_status gph_graph_create(const gph_allocator *allocator, gph_graph **out,
                            gph_error *error)
{
    GPHI_TRY(gphi_need(error, out));
    const gph_allocator heap = gphi_heap(allocator);
    gph_graph *graph = gphi_heap_alloc(heap, sizeof(*graph));
    GPHI_TRY(gphi_made(error, graph, "making a graph"));

    graph->heap = heap;
    graph->depth = 1;
    gphi_vec_init(&graph->nodes, heap, sizeof(gph_node));
    gphi_vec_init(&graph->edges, heap, sizeof(gph_edge));
    *out = graph;
    return GPH_OK;
}

/* Nodes own their parts, so the constness of what they lend is ours to drop. */
static void free_part(gph_allocator heap, const void *part, size_t bytes)
{
    void *ptr;
    memcpy(&ptr, &part, sizeof(ptr));
    gphi_heap_free(heap, ptr, bytes);
}

static void free_text(gph_allocator heap, const char *text)
{
    if (text)
        free_part(heap, text, strlen(text) + 1);
}

static void node_fini(gph_allocator heap, gph_node *node)
{
    free_text(heap, node->name);
    if (node->kind == GPH_NODE_KERNEL) {
        gph_kernel_params *kernel = &node->u.kernel;
        free_text(heap, kernel->function);
        free_part(heap, kernel->args, kernel->arg_count * sizeof(*kernel->args));
        free_part(heap, kernel->buffer, kernel->buffer_bytes);
    }
    if (node->kind == GPH_NODE_BATCH_MEM_OP)
        free_part(heap, node->u.batch.ops,
                  node->u.batch.count * sizeof(*node->u.batch.ops));
    if (gphi_kind_has_graph(node->kind))
        gph_graph_destroy(node->u.child); /* at most GPH_GRAPH_DEPTH_MAX deep */
}

void gph_graph_destroy(gph_graph *graph)
{
    if (!graph)
        return;
    for (size_t i = 0; i < graph->nodes.count; i++)
        node_fini(graph->heap, gphi_vec_at(&graph->nodes, i));
    gphi_vec_fini(&graph->nodes);
    gphi_vec_fini(&graph->edges);
    gphi_heap_text_free(graph->heap, graph->name);
    gphi_heap_free(graph->heap, graph, sizeof(*graph));
}

gph_status gph_graph_name_set(gph_graph *graph, const char *name, gph_error *error)
{
    GPHI_TRY(gphi_need(error, graph));
    char *copy = gphi_heap_text(graph->heap, name);
    GPHI_TRY(gphi_made(error, copy || !name, "naming a graph"));
    gphi_heap_text_free(graph->heap, graph->name);
    graph->name = copy;
    return GPH_OK;
}

const char *gph_graph_name(const gph_graph *graph)
{
    return graph ? graph->name : NULL;
}

static gph_status check_kernel(const gph_kernel_params *kernel, gph_error *error)
{
    if ((kernel->arg_count > 0 && !kernel->args) ||
        (kernel->buffer_bytes > 0 && !kernel->buffer))
        return gphi_fail(error, GPH_E_INVALID, "kernel has %u arguments but no array",
                         (unsigned)kernel->arg_count);
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        const gph_kernel_arg arg = kernel->args[i];
        if (arg.offset > kernel->buffer_bytes ||
            arg.bytes > kernel->buffer_bytes - arg.offset)
            return gphi_fail(error, GPH_E_INVALID,
                             "kernel argument %u: %u bytes at %u lie outside %zu", i,
                             arg.bytes, arg.offset, kernel->buffer_bytes);
    }
    return GPH_OK;
}

/* Its name in a sentence. */
static const char *said(const gph_graph *graph)
{
    return graph->name ? graph->name : "without a name";
}

static gph_status check_child(const gph_graph *graph, const gph_graph *child,
                              gph_error *error)
{
    if (!child)
        return GPH_OK;
    if (child == graph || child->is_child)
        return gphi_fail(error, GPH_E_INVALID,
                         "graph %.100s cannot be a child of %.100s: %s", said(child),
                         said(graph),
                         child == graph ? "it is the same" : "it has a parent");
    if (child->depth + 1 > GPH_GRAPH_DEPTH_MAX)
        return gphi_fail(error, GPH_E_INVALID,
                         "graphs would nest %u deep, at most %d may", child->depth + 1,
                         GPH_GRAPH_DEPTH_MAX);
    return GPH_OK;
}

static gph_status check_bodies(const gph_conditional_params *params, gph_error *error)
{
    if (params->form > GPH_FORM_SWITCH)
        return gphi_fail(error, GPH_E_INVALID,
                         "conditional.form %u is not a gph_conditional_form",
                         params->form);
    if (gph_graph_edge_count(params->bodies) > 0)
        return gphi_fail(error, GPH_E_INVALID, "the bodies of a condition have edges");
    for (uint32_t i = 0; i < gph_graph_node_count(params->bodies); i++)
        if (gph_graph_node(params->bodies, i)->kind != GPH_NODE_CHILD)
            return gphi_fail(error, GPH_E_INVALID,
                             "body %u of a condition is not a child graph", (unsigned)i);
    return GPH_OK;
}

static gph_status check_node(const gph_graph *graph, const gph_node *node,
                             gph_error *error)
{
    if (graph->is_child)
        return gphi_fail(error, GPH_E_INVALID,
                         "graph %.100s is a child of another and may not change",
                         said(graph));
    if (graph->nodes.count >= NODES_MAX)
        return gphi_fail(error, GPH_E_INVALID, "a graph holds at most %zu nodes",
                         NODES_MAX);
    switch (node->kind) {
    case GPH_NODE_KERNEL: return check_kernel(&node->u.kernel, error);
    case GPH_NODE_CONDITIONAL:
        GPHI_TRY(check_bodies(&node->u.conditional, error));
        return check_child(graph, node->u.child, error);
    case GPH_NODE_CHILD: return check_child(graph, node->u.child, error);
    case GPH_NODE_BATCH_MEM_OP:
        if (node->u.batch.count > 0 && !node->u.batch.ops)
            return gphi_fail(error, GPH_E_INVALID, "batch of %u operations, but no array",
                             node->u.batch.count);
        return GPH_OK;
    case GPH_NODE_MEMSET: {
        const uint32_t bytes = node->u.memset.element_bytes;
        if (bytes != 1 && bytes != 2 && bytes != 4)
            return gphi_fail(error, GPH_E_INVALID,
                             "memset element of %u bytes: 1, 2 or 4 are possible", bytes);
        return GPH_OK;
    }
    default:
        if ((uint32_t)node->kind > GPH_NODE_CONDITIONAL)
            return gphi_fail(error, GPH_E_INVALID, "node kind %d is unknown",
                             (int)node->kind);
        return GPH_OK;
    }
}

static const void *copy_part(gph_allocator heap, const void *part, size_t bytes, bool *ok)
{
    if (bytes == 0)
        return NULL;
    void *copy = gphi_heap_alloc(heap, bytes);
    if (copy)
        memcpy(copy, part, bytes);
    else
        *ok = false;
    return copy;
}

static const char *copy_text(gph_allocator heap, const char *text, bool *ok)
{
    return text ? copy_part(heap, text, strlen(text) + 1, ok) : NULL;
}

/* A node that owns its parts; on failure it has what was copied, for node_fini(). */
static bool node_copy(gph_allocator heap, const gph_node *node, gph_node *out)
{
    bool ok = true;
    *out = *node;
    out->name = copy_text(heap, node->name, &ok);
    if (node->kind == GPH_NODE_KERNEL) {
        const gph_kernel_params *from = &node->u.kernel;
        gph_kernel_params *to = &out->u.kernel;
        to->function = copy_text(heap, from->function, &ok);
        to->args =
            copy_part(heap, from->args, from->arg_count * sizeof(*from->args), &ok);
        to->buffer = copy_part(heap, from->buffer, from->buffer_bytes, &ok);
    }
    if (node->kind == GPH_NODE_BATCH_MEM_OP)
        out->u.batch.ops =
            copy_part(heap, node->u.batch.ops,
                      node->u.batch.count * sizeof(*node->u.batch.ops), &ok);
    return ok;
}

gph_status gph_graph_node_add(gph_graph *graph, const gph_node *node, uint32_t *index,
                              gph_error *error)
{
    GPHI_TRY(gphi_need(error, graph, node));
    gph_node read, copy;
    GPHI_TRY(gphi_element_read(&read, sizeof(read), node, node->size, 0, error));
    read.size = sizeof(read); /* of the library's own nodes, which it lends */
    GPHI_TRY(check_node(graph, &read, error));
    if (!node_copy(graph->heap, &read, &copy))
        goto free_copy;
    gph_node *place = gphi_vec_add(&graph->nodes, 1);
    if (!place)
        goto free_copy;

    *place = copy;
    if (gphi_node_graph(node)) {
        node->u.child->is_child = true;
        if (graph->depth < node->u.child->depth + 1)
            graph->depth = node->u.child->depth + 1;
    }
    if (index)
        *index = (uint32_t)(graph->nodes.count - 1);
    return GPH_OK;

free_copy:
    if (gphi_kind_has_graph(copy.kind))
        copy.u.child = NULL; /* still the caller's */
    node_fini(graph->heap, &copy);
    return gphi_fail(error, GPH_E_NO_MEMORY, "adding node %zu", graph->nodes.count);
}

static bool is_kernel(const gph_graph *graph, uint32_t index)
{
    return gph_graph_node(graph, index)->kind == GPH_NODE_KERNEL;
}

/* CUgraphEdgeData (R13, R14): port 0 with type 0 from anywhere, port 1 or 2 from a
 * kernel, type programmatic between kernels from port 1 or 2, port 1 always programmatic.
 */
static bool is_edge_data_valid(const gph_graph *graph, const gph_edge *edge)
{
    if (edge->to_port != 0 || edge->reserved != 0 || edge->from_port > 2 ||
        edge->type > 1)
        return false;
    if (edge->from_port != 0 && !is_kernel(graph, edge->from))
        return false;
    if (edge->type == 1)
        return edge->from_port != 0 && is_kernel(graph, edge->to);
    return edge->from_port != 1;
}

gph_status gph_graph_edge_add(gph_graph *graph, const gph_edge *edge, gph_error *error)
{
    GPHI_TRY(gphi_need(error, graph, edge));
    if (graph->is_child)
        return gphi_fail(error, GPH_E_INVALID,
                         "graph %.100s is a child of another and may not change",
                         said(graph));
    if (edge->from >= graph->nodes.count || edge->to >= graph->nodes.count ||
        edge->from == edge->to)
        return gphi_fail(error, GPH_E_INVALID,
                         "no edge can go from %u to %u of %zu nodes", edge->from,
                         edge->to, graph->nodes.count);
    if (!is_edge_data_valid(graph, edge))
        return gphi_fail(error, GPH_E_INVALID,
                         "edge from %u to %u: port %u, type %u are not edge data of CUDA",
                         edge->from, edge->to, edge->from_port, edge->type);

    GPHI_TRY(gphi_made(error, gphi_vec_push(&graph->edges, edge) == GPH_OK,
                       "adding edge %zu", graph->edges.count));
    return GPH_OK;
}

uint32_t gph_graph_node_count(const gph_graph *graph)
{
    return graph ? (uint32_t)graph->nodes.count : 0;
}

uint64_t gph_graph_node_count_deep(const gph_graph *graph)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        const gph_graph *inner = gphi_node_graph(node);
        count += !inner || node->kind == GPH_NODE_CONDITIONAL;
        count += gph_graph_node_count_deep(inner);
    }
    return count;
}

size_t gph_graph_edge_count(const gph_graph *graph)
{
    return graph ? graph->edges.count : 0;
}

const gph_node *gph_graph_node(const gph_graph *graph, uint32_t index)
{
    return index < gph_graph_node_count(graph) ? gphi_vec_at(&graph->nodes, index) : NULL;
}

const gph_edge *gph_graph_edge(const gph_graph *graph, size_t index)
{
    return index < gph_graph_edge_count(graph) ? gphi_vec_at(&graph->edges, index) : NULL;
}

const char *gph_node_kind_name(gph_node_kind kind)
{
    switch (kind) {
#define X(name, value, text)                                                             \
    case name: return text;
        GPH_NODE_KINDS(X)
#undef X
    }
    return "unknown";
}
