// SPDX-License-Identifier: Apache-2.0
/* cuGraph*: graphs and their topology. Nodes' parameters: cu_graphnode.c; executable
 * graphs: cu_graphexec.c.
 *
 * The graph mutex is held while handles are looked up and used: a program that destroys
 * a graph in another thread gets an error, not a crash. Functions that end in _locked
 * want it held. All lists follow one protocol for counts (R10). */
#include "softcuda/api/cu_graph.h"

#include <stdlib.h>

#include "softcuda/api/exports.h"
#include "softcuda/graph/conditional.h"
#include "softcuda/graph/memnode.h"
#include "softcuda/graph/updatable.h"
#include "softcuda/rules/rules.h"

/* One more than asked for, so that none is an array as well. */
CUresult soft_api_edge_ends(const CUgraphNode *nodes, const CUgraphEdgeData *data,
                            size_t count, soft_edge_end **out)
{
    if (soft_rule(R1) && !nodes && count > 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "dependencies are NULL with %zu of them", count);
    if (count > UINT32_MAX / 2)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%zu dependencies are too many",
                         count);
    soft_edge_end *ends = soft_new((count + 1) * sizeof(*ends));
    SOFT_TRY(soft_made(ends, "no memory for %zu dependencies", count));
    for (size_t i = 0; i < count; i++) {
        const CUresult result = soft_node_find(nodes[i], &ends[i].node);
        if (result != CUDA_SUCCESS) {
            soft_delete(ends);
            return result;
        }
        if (data)
            ends[i].data = data[i];
    }
    *out = ends;
    return CUDA_SUCCESS;
}

/* ---- graphs ------------------------------------------------------------------------ */

CUresult cuGraphCreate(CUgraph *out, unsigned int flags)
{
    SOFT_TRY(soft_enter_with(__func__, out, "phGraph"));
    if (flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x, not 0", flags);
    soft_graph *graph;
    soft_graph_lock();
    const CUresult result = soft_graph_create(&graph);
    soft_graph_unlock();
    if (result == CUDA_SUCCESS)
        *out = (CUgraph)graph;
    return result;
}

/* A graph that is captured into stays until the capture ends (R99); a child graph goes
 * with its node alone (R63). */
static CUresult destroy_locked(CUgraph handle)
{
    soft_graph *graph;
    SOFT_TRY(soft_graph_find(handle, &graph));
    if (graph->capture && soft_rule(M_R99_kept))
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE,
                         "a stream captures into the graph: end that capture first");
    if (graph->parent)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the graph belongs to a node of another one");
    soft_graph_destroy(graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph handle)
{
    SOFT_TRY(soft_enter(__func__));
    soft_graph_lock();
    const CUresult result = destroy_locked(handle);
    soft_graph_unlock();
    return result;
}

CUresult soft_api_check_plain(const soft_graph *graph)
{
    if (soft_rule(R86) && soft_graph_is_conditional(graph))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the graph has conditional nodes, or is the body of one");
    return CUDA_SUCCESS;
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *out, CUgraph handle,
                                        CUcontext context, unsigned int initial,
                                        unsigned int flags)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pHandle_out"));
    soft_graph *graph;
    soft_graph_lock();
    CUresult result = soft_graph_find(handle, &graph);
    if (result == CUDA_SUCCESS)
        result = soft_condition_create(graph, context, initial, flags, out);
    soft_graph_unlock();
    return result;
}

/* Memory nodes have addresses of their own, which a copy could not have (R23). */
static CUresult clone_locked(CUgraph *out, CUgraph handle)
{
    soft_graph *graph, *fresh;
    SOFT_TRY(soft_graph_find(handle, &graph));
    SOFT_TRY(soft_api_check_plain(graph));
    if (soft_rule(R78) && soft_graph_is_updatable(graph))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the device changes nodes of the graph: it is not cloned");
    if (soft_rule(R23) && soft_graph_has_memory(graph))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the graph has memory nodes: it cannot be cloned");
    SOFT_TRY(soft_graph_clone(graph, &fresh));
    *out = (CUgraph)fresh;
    return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph *out, CUgraph handle)
{
    SOFT_TRY(soft_enter_with(__func__, out, "phGraphClone"));
    soft_graph_lock();
    const CUresult result = clone_locked(out, handle);
    soft_graph_unlock();
    return result;
}

/* By the ids that a clone keeps of its originals (R24). */
static CUresult find_in_clone_locked(CUgraphNode *out, CUgraphNode handle,
                                     CUgraph clone_handle)
{
    soft_node *node, *found;
    soft_graph *clone;
    SOFT_TRY(soft_node_find(handle, &node));
    SOFT_TRY(soft_graph_find(clone_handle, &clone));
    *out = NULL; /* on failure, too, as on an H100 */
    SOFT_TRY(soft_node_find_in_clone(node, clone, &found));
    *out = (CUgraphNode)found;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode node, CUgraph clone)
{
    SOFT_TRY(soft_enter_with(__func__, out, "phNode"));
    soft_graph_lock();
    const CUresult result = find_in_clone_locked(out, node, clone);
    soft_graph_unlock();
    return result;
}

CUresult cuGraphDebugDotPrint(CUgraph handle, const char *path, unsigned int flags)
{
    SOFT_TRY(soft_enter_with(__func__, path, "path"));
    soft_graph *graph;
    soft_graph_lock();
    CUresult result = soft_graph_find(handle, &graph);
    SOFT_THEN(result, soft_graph_write_dot(graph, path, flags));
    soft_graph_unlock();
    return result;
}

/* ---- lists ------------------------------------------------------------------------- */

/* The count protocol (R10): NULL asks for the count; else up to *count are written, more
 * room than there is gets NULL, and *count becomes the number written. */
static CUresult check_room(size_t count)
{
    if (soft_rule(R10) && count == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "there is an array, with room for 0");
    return CUDA_SUCCESS;
}

/* In the order of creation. */
static CUresult give_nodes(soft_node *const *nodes, size_t have, CUgraphNode *out,
                           size_t *count)
{
    if (out) {
        SOFT_TRY(check_room(*count));
        for (size_t i = 0; i < *count && (i < have || soft_rule(R10)); i++)
            out[i] = i < have ? (CUgraphNode)nodes[i] : NULL;
        *count = have < *count ? have : *count;
    } else {
        *count = have;
    }
    return CUDA_SUCCESS;
}

/* Roots are listed as on an H100: what became one last comes first. */
static int by_root_serial(const void *a, const void *b)
{
    const uint64_t x = (*(soft_node *const *)a)->root_serial;
    const uint64_t y = (*(soft_node *const *)b)->root_serial;
    return x < y ? 1 : -(x > y);
}

static CUresult get_nodes_locked(CUgraph handle, CUgraphNode *out, size_t *count,
                                 bool roots)
{
    soft_graph *graph;
    SOFT_TRY(soft_graph_find(handle, &graph));
    if (!roots)
        return give_nodes(graph->nodes, graph->node_count, out, count);
    soft_node **found = soft_new((graph->node_count + 1ull) * sizeof(*found));
    SOFT_TRY(soft_made(found, "no memory to list the root nodes"));
    size_t have = 0;
    bool ordered = true;
    for (uint32_t i = graph->node_count; i-- > 0;) {
        if (graph->nodes[i]->dependencies.count != 0)
            continue;
        found[have++] = graph->nodes[i];
        ordered = ordered && (have == 1 || found[have - 2]->root_serial >
                                               found[have - 1]->root_serial);
    }
    if (!ordered)
        qsort(found, have, sizeof(*found), by_root_serial);
    const CUresult result = give_nodes(found, have, out, count);
    soft_delete(found);
    return result;
}

/* Roots are counted again at each call: a graph keeps no list of them. */
static CUresult get_nodes(const char *call, CUgraph handle, CUgraphNode *nodes,
                          size_t *count, bool roots)
{
    SOFT_TRY(soft_enter_with(call, count, roots ? "numRootNodes" : "numNodes"));
    soft_graph_lock();
    const CUresult result = get_nodes_locked(handle, nodes, count, roots);
    soft_graph_unlock();
    return result;
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
    return get_nodes(__func__, handle, nodes, count, false);
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
    return get_nodes(__func__, handle, nodes, count, true);
}

/* to_port and reserved bytes are 0 in every edge (R14). */
static bool has_data(const soft_edge_end *end)
{
    return end->data.type != 0 || end->data.from_port != 0;
}

static CUresult lossy(void)
{
    return soft_rule(R11) ? soft_fail(CUDA_ERROR_LOSSY_QUERY,
                                      "an edge has edge data, and edgeData is NULL")
                          : CUDA_SUCCESS;
}

/* Dependencies or dependents of one node. */
static CUresult give_ends(const soft_edge_list *list, CUgraphNode *nodes,
                          CUgraphEdgeData *data, size_t *count)
{
    if (!nodes) {
        *count = list->count;
        return CUDA_SUCCESS;
    }
    SOFT_TRY(check_room(*count));
    const size_t written = list->count < *count ? list->count : *count;
    for (size_t i = 0; !data && i < written; i++)
        if (has_data(&list->ends[i]))
            SOFT_TRY(lossy());
    for (size_t i = 0; i < *count; i++) {
        nodes[i] = i < written ? (CUgraphNode)list->ends[i].node : NULL;
        if (data)
            data[i] = i < written ? list->ends[i].data : (CUgraphEdgeData){0};
    }
    *count = written;
    return CUDA_SUCCESS;
}

struct ends_out {
    CUgraphNode *nodes;
    CUgraphEdgeData *data;
    size_t *count;
    bool dependents;
};

/* Edge data without nodes has nothing to be beside (R12). */
static CUresult get_ends(const char *call, CUgraphNode handle, const struct ends_out *out)
{
    SOFT_TRY(soft_enter(call));
    if (!out->count || (out->data && !out->nodes && soft_rule(R12)))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL",
                         out->count ? "the node array" : "the count");
    soft_node *node;
    soft_graph_lock();
    CUresult result = soft_node_find(handle, &node);
    SOFT_THEN(result, give_ends(out->dependents ? &node->dependents : &node->dependencies,
                                out->nodes, out->data, out->count));
    soft_graph_unlock();
    return result;
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return get_ends(__func__, node, &(struct ends_out){nodes, NULL, count, false});
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes,
                                       CUgraphEdgeData *data, size_t *count)
{
    return get_ends(__func__, node, &(struct ends_out){nodes, data, count, false});
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return get_ends(__func__, node, &(struct ends_out){nodes, NULL, count, true});
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes,
                                         CUgraphEdgeData *data, size_t *count)
{
    return get_ends(__func__, node, &(struct ends_out){nodes, data, count, true});
}

/* Edges come node by node, each node's in the order in which they were made. */
static CUresult get_edges_locked(CUgraph handle, CUgraphNode *from, CUgraphNode *to,
                                 CUgraphEdgeData *data, size_t *count)
{
    soft_graph *graph;
    SOFT_TRY(soft_graph_find(handle, &graph));
    if (from)
        SOFT_TRY(check_room(*count));
    size_t have = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const soft_node *node = graph->nodes[i];
        for (uint32_t k = 0; k < node->dependents.count; k++, have++) {
            const soft_edge_end *end = &node->dependents.ends[k];
            if (!from || have >= *count)
                continue;
            if (!data && has_data(end))
                SOFT_TRY(lossy());
            from[have] = (CUgraphNode)node;
            to[have] = (CUgraphNode)end->node;
            if (data)
                data[have] = end->data;
        }
    }
    for (size_t i = have; from && i < *count; i++) {
        from[i] = to[i] = NULL;
        if (data)
            data[i] = (CUgraphEdgeData){0};
    }
    *count = from && *count < have ? *count : have;
    return CUDA_SUCCESS;
}

static CUresult get_edges(const char *call, CUgraph handle, CUgraphNode *from,
                          CUgraphNode *to, CUgraphEdgeData *data, size_t *count)
{
    SOFT_TRY(soft_enter(call));
    if (!count || (from == NULL) != (to == NULL) || (data && !from && soft_rule(R12)))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s",
                         count ? "only one of the arrays is NULL" : "numEdges is NULL");
    soft_graph_lock();
    const CUresult result = get_edges_locked(handle, from, to, data, count);
    soft_graph_unlock();
    return result;
}

CUresult cuGraphGetEdges(CUgraph handle, CUgraphNode *from, CUgraphNode *to,
                         size_t *count)
{
    return get_edges(__func__, handle, from, to, NULL, count);
}

CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode *from, CUgraphNode *to,
                            CUgraphEdgeData *data, size_t *count)
{
    return get_edges(__func__, handle, from, to, data, count);
}

/* ---- edges ------------------------------------------------------------------------- */

struct edges_in {
    const CUgraphNode *from, *to;
    const CUgraphEdgeData *data;
    size_t count;
    bool remove;
};

/* All handles are looked at before any edge changes. */
static CUresult find_ends(const struct edges_in *in, soft_node **from, soft_node **to)
{
    for (size_t i = 0; i < in->count; i++) {
        SOFT_TRY(soft_node_find(in->from[i], &from[i]));
        SOFT_TRY(soft_node_find(in->to[i], &to[i]));
    }
    return CUDA_SUCCESS;
}

/* Without edges the arrays are not looked at, not even for NULL (R5); but a graph with
 * memory nodes refuses any removal, also of none (R48). */
static CUresult change_edges_locked(CUgraph handle, const struct edges_in *in)
{
    soft_graph *graph;
    SOFT_TRY(soft_graph_find(handle, &graph));
    if (in->remove) /* whatever else is wrong, and without edges too */
        SOFT_TRY(soft_memnode_check_delete(graph, "edges"));
    if (in->count == 0 && soft_rule(R5)) /* the arrays are ignored */
        return CUDA_SUCCESS;
    if (!in->from || !in->to || in->count > UINT32_MAX)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s with %zu edges",
                         !in->from ? "from is NULL"
                         : !in->to ? "to is NULL"
                                   : "there are too many",
                         in->count);
    soft_node **from = soft_new(in->count * sizeof(*from));
    soft_node **to = soft_new(in->count * sizeof(*to));
    CUresult result = CUDA_SUCCESS;
    if (!from || !to)
        result =
            soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for %zu edges", in->count);
    SOFT_THEN(result, find_ends(in, from, to));
    SOFT_THEN(result, in->remove ? soft_edges_remove(graph, from, to, in->count)
                                 : soft_edges_add(graph, from, to, in->data, in->count));
    soft_delete(from);
    soft_delete(to);
    return result;
}

static CUresult change_edges(const char *call, CUgraph handle, const struct edges_in *in)
{
    SOFT_TRY(soft_enter(call));
    soft_graph_lock();
    const CUresult result = change_edges_locked(handle, in);
    soft_graph_unlock();
    return result;
}

CUresult cuGraphAddDependencies(CUgraph handle, const CUgraphNode *from,
                                const CUgraphNode *to, size_t count)
{
    return change_edges(__func__, handle,
                        &(struct edges_in){from, to, NULL, count, false});
}

CUresult cuGraphAddDependencies_v2(CUgraph handle, const CUgraphNode *from,
                                   const CUgraphNode *to, const CUgraphEdgeData *data,
                                   size_t count)
{
    return change_edges(__func__, handle,
                        &(struct edges_in){from, to, data, count, false});
}

CUresult cuGraphRemoveDependencies(CUgraph handle, const CUgraphNode *from,
                                   const CUgraphNode *to, size_t count)
{
    return change_edges(__func__, handle,
                        &(struct edges_in){from, to, NULL, count, true});
}

CUresult cuGraphRemoveDependencies_v2(CUgraph handle, const CUgraphNode *from,
                                      const CUgraphNode *to, const CUgraphEdgeData *data,
                                      size_t count)
{
    return change_edges(__func__, handle,
                        &(struct edges_in){from, to, data, count, true});
}

/* Not while a stream captures into its graph, and no node of a graph with memory nodes
 * (R48, R99). */
static CUresult destroy_node_locked(CUgraphNode handle)
{
    soft_node *node;
    SOFT_TRY(soft_node_find(handle, &node));
    if (node->graph->capture && soft_rule(M_R99_kept))
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE,
                         "a stream captures into the graph: end that capture first");
    SOFT_TRY(soft_memnode_check_delete(node->graph, "nodes"));
    SOFT_TRY(soft_updatable_keep(node, "it is not destroyed"));
    soft_node_destroy(node);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroyNode(CUgraphNode handle)
{
    SOFT_TRY(soft_enter(__func__));
    soft_graph_lock();
    const CUresult result = destroy_node_locked(handle);
    soft_graph_unlock();
    return result;
}
