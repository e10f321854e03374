// SPDX-License-Identifier: Apache-2.0
/* The runner's graphs: nodes and edges come and go. */
#include <string.h>

#include "run.h"

static bool want_graph(int32_t slot, CUgraph *out, struct answer *answer)
{
    *out = slot == NONE ? NULL : run.graphs[slot];
    if (*out == NULL && slot != NONE)
        answer->code = SKIPPED;
    return answer->code != SKIPPED;
}

static bool want_nodes(const int32_t *slots, int count, CUgraphNode *out,
                       struct answer *answer)
{
    for (int i = 0; i < count; i++) {
        out[i] = run.nodes[slots[i]];
        if (out[i] == NULL)
            answer->code = SKIPPED;
    }
    return answer->code != SKIPPED;
}

static void put_graph(int32_t slot, CUgraph graph)
{
    run.graphs[slot] = graph;
    run.graph_in[slot] = NULL;
    run.graph_of[slot] = NULL;
}

static int slot_of_graph(CUgraph graph)
{
    for (int i = 0; i < GRAPHS; i++)
        if (run.graphs[i] == graph)
            return i;
    return MISSING;
}

static void graph_create(const int32_t *a, struct answer *out)
{
    CUgraph graph = NULL;
    out->code = (int32_t)cu.cuGraphCreate(&graph, (unsigned)a[1]);
    if (out->code == CUDA_SUCCESS)
        put_graph(a[0], graph);
}

static void graph_destroy(const int32_t *a, struct answer *out)
{
    CUgraph graph;
    if (!want_graph(a[0], &graph, out))
        return;
    out->code = (int32_t)cu.cuGraphDestroy(graph);
    if (out->code == CUDA_SUCCESS)
        run_forget_graph(graph);
}

static void graph_clone(const int32_t *a, struct answer *out)
{
    CUgraph graph, clone = NULL;
    if (!want_graph(a[1], &graph, out))
        return;
    out->code = (int32_t)cu.cuGraphClone(&clone, graph);
    if (out->code == CUDA_SUCCESS)
        put_graph(a[0], clone);
}

static void find_in_clone(const int32_t *a, struct answer *out)
{
    CUgraph graph;
    CUgraphNode node, found = NULL;
    if (!want_graph(a[2], &graph, out) || !want_nodes(&a[1], 1, &node, out))
        return;
    out->code = (int32_t)cu.cuGraphNodeFindInClone(&found, node, graph);
    if (out->code != CUDA_SUCCESS)
        return;
    const int slot = run_slot_of_node(found);
    answer_push(out, slot);
    if (slot < 0)
        run_put_node(a[0], found, graph);
}

/* Memory nodes: an alloc node gives its address out. */
static CUresult add_memory(const struct work *work, CUgraph graph,
                           const CUgraphNode *deps, size_t count, CUgraphNode *out)
{
    struct built b;
    run_build(work, &b);
    if (work->kind == WORK_FREE)
        return cu.cuGraphAddMemFreeNode(out, graph, deps, count, b.u.free);
    const CUresult code = cu.cuGraphAddMemAllocNode(
        out, graph, deps, count, work->bad == BAD_NULL ? NULL : &b.u.alloc);
    if (code == CUDA_SUCCESS)
        run.buffers[BUFFER_ALLOC + work->p[0]] = b.u.alloc.dptr;
    return code;
}

static CUresult add_typed(const struct work *work, CUgraph graph, const CUgraphNode *deps,
                          size_t count, CUgraphNode *out)
{
    struct built b;
    run_build(work, &b);
    const bool null = work->bad == BAD_NULL;
    switch (work->kind) {
    case WORK_KERNEL:
        return cu.cuGraphAddKernelNode(out, graph, deps, count,
                                       null ? NULL : &b.u.kernel);
    case WORK_MEMCPY:
        return cu.cuGraphAddMemcpyNode(out, graph, deps, count, null ? NULL : &b.u.memcpy,
                                       run.context);
    case WORK_MEMSET:
        return cu.cuGraphAddMemsetNode(out, graph, deps, count, null ? NULL : &b.u.memset,
                                       run.context);
    case WORK_HOST:
        return cu.cuGraphAddHostNode(out, graph, deps, count, null ? NULL : &b.u.host);
    case WORK_CHILD:
        return cu.cuGraphAddChildGraphNode(
            out, graph, deps, count, work->p[0] >= 0 ? run.graphs[work->p[0]] : NULL);
    case WORK_WAIT:
        return cu.cuGraphAddEventWaitNode(out, graph, deps, count,
                                          run.events[work->p[0]]);
    case WORK_RECORD:
        return cu.cuGraphAddEventRecordNode(out, graph, deps, count,
                                            run.events[work->p[0]]);
    case WORK_BATCH:
        return cu.cuGraphAddBatchMemOpNode(out, graph, deps, count,
                                           null ? NULL : &b.u.batch);
    case WORK_ALLOC:
    case WORK_FREE: return add_memory(work, graph, deps, count, out);
    default: return cu.cuGraphAddEmptyNode(out, graph, deps, count);
    }
}

/* The same edge data for each; NULL for the plain kind. */
static const CUgraphEdgeData *fill_data(int32_t kind, int count, CUgraphEdgeData *out)
{
    for (int i = 0; i < count; i++)
        out[i] =
            (CUgraphEdgeData){.from_port = (unsigned char)kind,
                              .type = kind == 1 ? CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
                                                : CU_GRAPH_DEPENDENCY_TYPE_DEFAULT};
    return kind ? out : NULL;
}

static void add_node(const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    const struct work work = step_work(step);
    CUgraph graph;
    CUgraphNode deps[DEPS_MAX], node = NULL;
    CUgraphEdgeData data[DEPS_MAX];
    if (!want_graph(a[1], &graph, out) || !want_nodes(&a[4], a[3], deps, out))
        return;
    if (work.kind == WORK_CHILD && work.p[0] >= 0 && run.graphs[work.p[0]] == NULL) {
        out->code = SKIPPED;
        return;
    }
    const CUgraphNode *list = (a[2] & 2) || a[3] == 0 ? NULL : deps;
    if (a[2] & 1) {
        struct built built;
        CUgraphNodeParams params;
        run_build(&work, &built);
        run_generic(&work, &built, &params);
        out->code = (int32_t)cu.cuGraphAddNode(
            &node, graph, list, fill_data(a[2] >> 2, a[3], data), (size_t)a[3], &params);
        if (out->code == CUDA_SUCCESS && work.kind == WORK_ALLOC)
            run.buffers[BUFFER_ALLOC + work.p[0]] = params.alloc.dptr;
    } else {
        out->code = (int32_t)add_typed(&work, graph, list, (size_t)a[3], &node);
    }
    if (out->code != CUDA_SUCCESS)
        return;
    run_put_node(a[0], node, graph);
    if (work.kind == WORK_CHILD && work.p[1] == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE &&
        (a[2] & 1)) {
        run.graph_in[work.p[0]] = graph;
        run.graph_of[work.p[0]] = node;
    }
}

static void destroy_node(const int32_t *a, struct answer *out)
{
    CUgraphNode node;
    if (!want_nodes(a, 1, &node, out))
        return;
    out->code = (int32_t)cu.cuGraphDestroyNode(node);
    if (out->code == CUDA_SUCCESS)
        run_forget_node(node);
}

static void edges(const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    CUgraph graph;
    CUgraphNode ends[4], from[2] = {NULL}, to[2] = {NULL};
    CUgraphEdgeData data[2];
    if (!want_graph(a[0], &graph, out) || !want_nodes(&a[2], 2 * a[1], ends, out))
        return;
    for (int i = 0; i < a[1]; i++) {
        from[i] = ends[2 * i];
        to[i] = ends[2 * i + 1];
    }
    const CUgraphEdgeData *list = fill_data(a[6], a[1], data);
    const size_t count = (size_t)a[1];
    out->code = step->op == OP_ADD_EDGES
                    ? (int32_t)cu.cuGraphAddDependencies(graph, from, to, list, count)
                    : (int32_t)cu.cuGraphRemoveDependencies(graph, from, to, list, count);
}

static CUresult set_typed(const struct work *work, CUgraphNode node)
{
    struct built b;
    run_build(work, &b);
    const bool null = work->bad == BAD_NULL;
    switch (work->kind) {
    case WORK_KERNEL:
        return cu.cuGraphKernelNodeSetParams(node, null ? NULL : &b.u.kernel);
    case WORK_MEMCPY:
        return cu.cuGraphMemcpyNodeSetParams(node, null ? NULL : &b.u.memcpy);
    case WORK_MEMSET:
        return cu.cuGraphMemsetNodeSetParams(node, null ? NULL : &b.u.memset);
    case WORK_HOST: return cu.cuGraphHostNodeSetParams(node, null ? NULL : &b.u.host);
    case WORK_WAIT: return cu.cuGraphEventWaitNodeSetEvent(node, run.events[work->p[0]]);
    case WORK_RECORD:
        return cu.cuGraphEventRecordNodeSetEvent(node, run.events[work->p[0]]);
    default: return cu.cuGraphBatchMemOpNodeSetParams(node, null ? NULL : &b.u.batch);
    }
}

static void set_params(const struct step *step, struct answer *out)
{
    const struct work work = step_work(step);
    CUgraphNode node;
    if (!want_nodes(step->a, 1, &node, out))
        return;
    if (step->a[1] & 1) {
        struct built built;
        CUgraphNodeParams params;
        run_build(&work, &built);
        run_generic(&work, &built, &params);
        out->code = (int32_t)cu.cuGraphNodeSetParams(node, &params);
    } else {
        out->code = (int32_t)set_typed(&work, node);
    }
}

static void child_graph(const int32_t *a, struct answer *out)
{
    CUgraphNode node;
    CUgraph child = NULL;
    if (!want_nodes(&a[1], 1, &node, out))
        return;
    out->code = (int32_t)cu.cuGraphChildGraphNodeGetGraph(node, &child);
    if (out->code != CUDA_SUCCESS)
        return;
    const int slot = slot_of_graph(child);
    answer_push(out, slot);
    if (slot >= 0)
        return;
    run.graphs[a[0]] = child;
    run.graph_in[a[0]] = run.node_in[a[1]];
    run.graph_of[a[0]] = node;
}

static void set_priority(const int32_t *a, struct answer *out)
{
    CUgraphNode node;
    if (!want_nodes(a, 1, &node, out))
        return;
    CUkernelNodeAttrValue value;
    memset(&value, 0, sizeof(value));
    value.priority = a[1];
    out->code = (int32_t)cu.cuGraphKernelNodeSetAttribute(
        node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
}

static void copy_attributes(const int32_t *a, struct answer *out)
{
    CUgraphNode nodes[2];
    if (want_nodes(a, 2, nodes, out))
        out->code = (int32_t)cu.cuGraphKernelNodeCopyAttributes(nodes[0], nodes[1]);
}

void run_graph_step(const struct step *step, struct answer *out)
{
    switch (step->op) {
    case OP_GRAPH_CREATE: graph_create(step->a, out); return;
    case OP_GRAPH_DESTROY: graph_destroy(step->a, out); return;
    case OP_GRAPH_CLONE: graph_clone(step->a, out); return;
    case OP_FIND_IN_CLONE: find_in_clone(step->a, out); return;
    case OP_ADD_NODE: add_node(step, out); return;
    case OP_DESTROY_NODE: destroy_node(step->a, out); return;
    case OP_ADD_EDGES:
    case OP_REMOVE_EDGES: edges(step, out); return;
    case OP_SET_PARAMS: set_params(step, out); return;
    case OP_CHILD_GRAPH: child_graph(step->a, out); return;
    case OP_COPY_ATTRIBUTES: copy_attributes(step->a, out); return;
    default: set_priority(step->a, out); return;
    }
}
