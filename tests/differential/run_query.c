// SPDX-License-Identifier: Apache-2.0
/* The runner's questions: nodes, edges, types, parameters read back. */
#include "run.h"

enum { LIST_MAX = 256 };

static void push_list(struct answer *out, const CUgraphNode *nodes, size_t count,
                      int32_t room)
{
    answer_push(out, (int32_t)count);
    for (int i = 0; room >= 0 && i < (room & 63); i++)
        answer_push(out, run_slot_of_node(nodes[i]));
}

static void get_nodes(CUgraph graph, int32_t first, struct answer *out)
{
    CUgraphNode nodes[LIST_MAX];
    size_t count = LIST_MAX;
    out->code = (int32_t)cu.cuGraphGetNodes(graph, nodes, &count);
    if (out->code != CUDA_SUCCESS)
        return;
    answer_push(out, (int32_t)count);
    for (size_t i = 0; i < count; i++) {
        if (run_slot_of_node(nodes[i]) < 0 && first >= 0 && first < NODES)
            run_put_node(first++, nodes[i], graph);
        answer_push(out, run_slot_of_node(nodes[i]));
    }
}

static void get_roots(CUgraph graph, int32_t room, struct answer *out)
{
    CUgraphNode nodes[LIST_MAX];
    size_t count = room < 0 ? LIST_MAX : (size_t)(room & 63);
    out->code = (int32_t)cu.cuGraphGetRootNodes(graph, room < 0 ? NULL : nodes, &count);
    if (out->code == CUDA_SUCCESS)
        push_list(out, nodes, count, room);
}

static void get_edges(CUgraph graph, int32_t room, struct answer *out)
{
    CUgraphNode from[LIST_MAX], to[LIST_MAX];
    CUgraphEdgeData data[LIST_MAX];
    size_t count = room < 0 ? LIST_MAX : (size_t)(room & 63);
    const bool list = room >= 0;
    out->code = (int32_t)cu.cuGraphGetEdges(graph, list ? from : NULL, list ? to : NULL,
                                            list && (room & 64) ? data : NULL, &count);
    if (out->code != CUDA_SUCCESS)
        return;
    answer_push(out, (int32_t)count);
    for (int i = 0; list && i < (room & 63); i++) {
        answer_push(out, run_slot_of_node(from[i]));
        answer_push(out, run_slot_of_node(to[i]));
        if ((room & 64) && from[i])
            answer_push(out, data[i].from_port | data[i].type << 4);
    }
}

static void get_ends(const struct step *step, CUgraphNode node, struct answer *out)
{
    CUgraphNode nodes[LIST_MAX];
    CUgraphEdgeData data[LIST_MAX];
    const int32_t room = step->a[1];
    size_t count = room < 0 ? LIST_MAX : (size_t)(room & 63);
    CUgraphNode *list = room < 0 ? NULL : nodes;
    CUgraphEdgeData *with = room >= 0 && (room & 64) ? data : NULL;
    out->code = step->op == OP_NODE_DEPS
                    ? (int32_t)cu.cuGraphNodeGetDependencies(node, list, with, &count)
                    : (int32_t)cu.cuGraphNodeGetDependentNodes(node, list, with, &count);
    if (out->code == CUDA_SUCCESS)
        push_list(out, nodes, count, room);
}

/* ---- parameters ---- */

static void get_kernel(CUgraphNode node, struct answer *out)
{
    CUDA_KERNEL_NODE_PARAMS p = {0};
    out->code = (int32_t)cu.cuGraphKernelNodeGetParams(node, &p);
    if (out->code != CUDA_SUCCESS)
        return;
    int function = 0;
    while (function < KERNELS && run.kernels[function] != p.func)
        function++;
    answer_push(out, function);
    answer_push(out, (int32_t)(p.gridDimX * p.gridDimY * p.gridDimZ));
    answer_push(out, (int32_t)(p.blockDimX * p.blockDimY * p.blockDimZ));
    if (function == KERNELS || p.kernelParams == NULL)
        return;
    answer_push(out, run_where(*(CUdeviceptr *)p.kernelParams[0]));
    if (function == KERNEL_STORE || function == KERNEL_ATOMIC) {
        answer_push(out, *(int32_t *)p.kernelParams[1]);
        return;
    }
    answer_push(out, run_where(*(CUdeviceptr *)p.kernelParams[1]));
    if (function == KERNEL_MIX)
        answer_push(out, *(int32_t *)p.kernelParams[2]);
    else
        answer_push(out, run_where(*(CUdeviceptr *)p.kernelParams[2]));
}

static void get_memcpy(CUgraphNode node, struct answer *out)
{
    CUDA_MEMCPY3D p = {0};
    out->code = (int32_t)cu.cuGraphMemcpyNodeGetParams(node, &p);
    if (out->code != CUDA_SUCCESS)
        return;
    const bool to_host = p.dstMemoryType == CU_MEMORYTYPE_HOST;
    const bool from_host = p.srcMemoryType == CU_MEMORYTYPE_HOST;
    answer_push(out, (int32_t)p.dstMemoryType);
    answer_push(out, (int32_t)p.srcMemoryType);
    answer_push(out, run_where(to_host ? (CUdeviceptr)p.dstHost : p.dstDevice));
    answer_push(out, run_where(from_host ? (CUdeviceptr)p.srcHost : p.srcDevice));
    answer_push(out, (int32_t)p.WidthInBytes);
    answer_push(out, (int32_t)p.Height);
    answer_push(out, (int32_t)p.Depth);
}

static void get_memset(CUgraphNode node, struct answer *out)
{
    CUDA_MEMSET_NODE_PARAMS p = {0};
    out->code = (int32_t)cu.cuGraphMemsetNodeGetParams(node, &p);
    if (out->code != CUDA_SUCCESS)
        return;
    answer_push(out, run_where(p.dst));
    answer_push(out, (int32_t)p.value);
    answer_push(out, (int32_t)p.elementSize);
    answer_push(out, (int32_t)p.width);
    answer_push(out, (int32_t)p.height);
}

static void get_host(CUgraphNode node, struct answer *out)
{
    CUDA_HOST_NODE_PARAMS p = {0};
    out->code = (int32_t)cu.cuGraphHostNodeGetParams(node, &p);
    if (out->code != CUDA_SUCCESS)
        return;
    const struct host_job *job = p.userData;
    for (int i = 0; i < 3; i++)
        answer_push(out, job->p[i]);
}

static void get_event(CUgraphNode node, int32_t kind, struct answer *out)
{
    CUevent event = NULL;
    out->code = kind == WORK_WAIT
                    ? (int32_t)cu.cuGraphEventWaitNodeGetEvent(node, &event)
                    : (int32_t)cu.cuGraphEventRecordNodeGetEvent(node, &event);
    int slot = 0;
    while (slot < EVENTS && run.events[slot] != event)
        slot++;
    if (out->code == CUDA_SUCCESS)
        answer_push(out, slot);
}

static void get_batch(CUgraphNode node, struct answer *out)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS p = {0};
    out->code = (int32_t)cu.cuGraphBatchMemOpNodeGetParams(node, &p);
    if (out->code == CUDA_SUCCESS)
        answer_push(out, (int32_t)p.count);
}

static void get_memory(CUgraphNode node, int32_t kind, struct answer *out)
{
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {0};
    CUdeviceptr at = 0;
    out->code = kind == WORK_ALLOC
                    ? (int32_t)cu.cuGraphMemAllocNodeGetParams(node, &alloc)
                    : (int32_t)cu.cuGraphMemFreeNodeGetParams(node, &at);
    if (out->code != CUDA_SUCCESS)
        return;
    answer_push(out, run_where(kind == WORK_ALLOC ? alloc.dptr : at));
    if (kind == WORK_FREE)
        return;
    answer_push(out, (int32_t)(alloc.bytesize >> 10));
    answer_push(out, (int32_t)alloc.poolProps.allocType);
    answer_push(out, (int32_t)alloc.poolProps.location.type);
    answer_push(out, (int32_t)alloc.accessDescCount);
}

static void get_params(CUgraphNode node, int32_t kind, struct answer *out)
{
    switch (kind) {
    case WORK_KERNEL: get_kernel(node, out); return;
    case WORK_MEMCPY: get_memcpy(node, out); return;
    case WORK_MEMSET: get_memset(node, out); return;
    case WORK_HOST: get_host(node, out); return;
    case WORK_WAIT:
    case WORK_RECORD: get_event(node, kind, out); return;
    case WORK_ALLOC:
    case WORK_FREE: get_memory(node, kind, out); return;
    default: get_batch(node, out); return;
    }
}

static void get_priority(CUgraphNode node, struct answer *out)
{
    CUkernelNodeAttrValue value = {0};
    out->code = (int32_t)cu.cuGraphKernelNodeGetAttribute(
        node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
    if (out->code == CUDA_SUCCESS)
        answer_push(out, value.priority);
}

static void node_type(CUgraphNode node, struct answer *out)
{
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    out->code = (int32_t)cu.cuGraphNodeGetType(node, &type);
    if (out->code == CUDA_SUCCESS)
        answer_push(out, (int32_t)type);
}

void run_query_step(const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    const bool of_graph = step->op == OP_GET_NODES || step->op == OP_GET_ROOTS ||
                          step->op == OP_GET_EDGES || step->op == OP_DOT;
    const CUgraph graph = of_graph && a[0] >= 0 ? run.graphs[a[0]] : NULL;
    const CUgraphNode node = of_graph ? NULL : run.nodes[a[0]];
    if (of_graph ? graph == NULL && a[0] != NONE : node == NULL) {
        out->code = SKIPPED;
        return;
    }
    switch (step->op) {
    case OP_GET_NODES: get_nodes(graph, a[1], out); return;
    case OP_GET_ROOTS: get_roots(graph, a[1], out); return;
    case OP_GET_EDGES: get_edges(graph, a[1], out); return;
    case OP_NODE_DEPS:
    case OP_NODE_DEPENDENTS: get_ends(step, node, out); return;
    case OP_GET_PARAMS: get_params(node, a[1], out); return;
    case OP_GET_PRIORITY: get_priority(node, out); return;
    case OP_DOT:
        out->code = (int32_t)cu.cuGraphDebugDotPrint(graph, "/dev/null", (unsigned)a[1]);
        return;
    default: node_type(node, out); return;
    }
}
