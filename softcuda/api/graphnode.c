// SPDX-License-Identifier: Apache-2.0
/* cuGraphAdd*Node and the parameters of nodes. Each parameter struct of CUDA is checked
 * by device/task.c and becomes a soft_node_params; the node copies what that borrows. */
#include <string.h>

#include "softcuda/api/exports.h"
#include "softcuda/api/graph.h"

static CUresult need(const void *pointer, const char *name)
{
    if (pointer == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL", name);
    return CUDA_SUCCESS;
}

/* The context that a node names, or the current one. */
static CUresult context_of(CUcontext named, soft_context **out)
{
    if (named)
        return soft_context_find(named, out);
    *out = soft_context_current();
    if (*out == NULL)
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
    return soft_context_check(*out);
}

static CUresult describe_kernel(const CUDA_KERNEL_NODE_PARAMS *in,
                                struct soft_description *out)
{
    SOFT_TRY(need(in, "nodeParams"));
    soft_context *context;
    SOFT_TRY(context_of(in->func ? NULL : in->ctx, &context));
    const CUlaunchConfig config = {.gridDimX = in->gridDimX,
                                   .gridDimY = in->gridDimY,
                                   .gridDimZ = in->gridDimZ,
                                   .blockDimX = in->blockDimX,
                                   .blockDimY = in->blockDimY,
                                   .blockDimZ = in->blockDimZ,
                                   .sharedMemBytes = in->sharedMemBytes};
    const CUfunction function = in->func ? in->func : (CUfunction)in->kern;
    SOFT_TRY(soft_task_launch(context, &config, function, in->kernelParams, in->extra,
                              out->scratch, &out->task));
    out->params.type = CU_GRAPH_NODE_TYPE_KERNEL;
    out->params.context = out->task.u.launch.function->module->context;
    out->params.task = &out->task;
    return CUDA_SUCCESS;
}

static CUDA_KERNEL_NODE_PARAMS from_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *in)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = in->func,
                                     .gridDimX = in->gridDimX,
                                     .gridDimY = in->gridDimY,
                                     .gridDimZ = in->gridDimZ,
                                     .blockDimX = in->blockDimX,
                                     .blockDimY = in->blockDimY,
                                     .blockDimZ = in->blockDimZ,
                                     .sharedMemBytes = in->sharedMemBytes,
                                     .kernelParams = in->kernelParams,
                                     .extra = in->extra};
}

static CUresult describe_copy(const CUDA_MEMCPY3D *in, CUcontext named,
                              struct soft_description *out)
{
    SOFT_TRY(need(in, "copyParams"));
    SOFT_TRY(context_of(named, &out->params.context));
    SOFT_TRY(soft_task_copy(out->params.context, in, &out->task));
    out->copy = *in;
    out->params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    out->params.task = &out->task;
    out->params.copy = &out->copy;
    return CUDA_SUCCESS;
}

static CUresult describe_fill(const CUDA_MEMSET_NODE_PARAMS *in, CUcontext named,
                              struct soft_description *out)
{
    SOFT_TRY(need(in, "memsetParams"));
    SOFT_TRY(context_of(named, &out->params.context));
    SOFT_TRY(soft_task_fill(out->params.context, in, &out->task));
    out->fill = *in;
    out->params.type = CU_GRAPH_NODE_TYPE_MEMSET;
    out->params.task = &out->task;
    out->params.fill = &out->fill;
    return CUDA_SUCCESS;
}

static CUresult describe_host(const CUDA_HOST_NODE_PARAMS *in,
                              struct soft_description *out)
{
    SOFT_TRY(need(in, "nodeParams"));
    SOFT_TRY(need((const void *)(uintptr_t)in->fn, "the host function"));
    SOFT_TRY(context_of(NULL, &out->params.context));
    out->task =
        (soft_task){.kind = SOFT_TASK_HOST, .u.host = {in->fn, in->userData, false}};
    out->params.type = CU_GRAPH_NODE_TYPE_HOST;
    out->params.task = &out->task;
    return CUDA_SUCCESS;
}

static CUresult describe_event(CUevent handle, CUgraphNodeType type,
                               struct soft_description *out)
{
    SOFT_TRY(context_of(NULL, &out->params.context));
    SOFT_TRY(soft_event_find(handle, &out->params.event));
    out->params.type = type;
    return CUDA_SUCCESS;
}

static CUresult describe_child(CUgraph handle, const soft_graph *into,
                               struct soft_description *out)
{
    soft_graph *child;
    SOFT_TRY(soft_graph_find(handle, &child));
    if (child == into)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a graph cannot be its own child");
    if (child->capture)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "a stream captures into the child graph");
    out->params.type = CU_GRAPH_NODE_TYPE_GRAPH;
    out->params.child = child;
    return CUDA_SUCCESS;
}

/* ---- adding
 * ----------------------------------------------------------------------------------- */

struct add_in {
    CUgraphNode *out;
    CUgraph graph;
    const CUgraphNode *dependencies;
    const CUgraphEdgeData *data;
    size_t count;
};

static CUresult add_described(const struct add_in *in, soft_graph *graph,
                              const soft_node_params *params)
{
    soft_edge_end *ends;
    SOFT_TRY(soft_api_edge_ends(in->dependencies, in->data, in->count, &ends));
    soft_node *node;
    const CUresult result =
        soft_node_add(graph, params, ends, (uint32_t)in->count, &node);
    soft_delete(ends);
    if (result == CUDA_SUCCESS)
        *in->out = (CUgraphNode)node;
    return result;
}

/* Runs `expr`, which fills `d` and sees `graph`, and adds the node; one way out. */
#define ADD_NODE(in, expr)                                                               \
    do {                                                                                 \
        SOFT_TRY(need((in)->out, "phGraphNode"));                                        \
        struct soft_description d;                                                       \
        memset(&d.params, 0, sizeof(d.params));                                          \
        soft_graph *graph;                                                               \
        soft_graph_lock();                                                               \
        CUresult result_ = soft_graph_find((in)->graph, &graph);                         \
        if (result_ == CUDA_SUCCESS)                                                     \
            result_ = (expr);                                                            \
        if (result_ == CUDA_SUCCESS)                                                     \
            result_ = add_described((in), graph, &d.params);                             \
        soft_graph_unlock();                                                             \
        return result_;                                                                  \
    } while (0)

CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph graph_handle,
                                 const CUgraphNode *dependencies, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS *params)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, describe_kernel(params, &d));
}

CUresult cuGraphAddKernelNode(CUgraphNode *out, CUgraph graph_handle,
                              const CUgraphNode *dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    SOFT_ENTER();
    SOFT_TRY(need(params, "nodeParams"));
    const CUDA_KERNEL_NODE_PARAMS wider = from_v1(params);
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, describe_kernel(&wider, &d));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph_handle,
                              const CUgraphNode *dependencies, size_t count,
                              const CUDA_MEMCPY3D *params, CUcontext context)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, describe_copy(params, context, &d));
}

CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph_handle,
                              const CUgraphNode *dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, describe_fill(params, context, &d));
}

CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph graph_handle,
                            const CUgraphNode *dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS *params)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, describe_host(params, &d));
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph_handle,
                                  const CUgraphNode *dependencies, size_t count,
                                  CUgraph child)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, describe_child(child, graph, &d));
}

static CUresult describe_empty(struct soft_description *out)
{
    out->params.type = CU_GRAPH_NODE_TYPE_EMPTY;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph_handle,
                             const CUgraphNode *dependencies, size_t count)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, describe_empty(&d));
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph graph_handle,
                                   const CUgraphNode *dependencies, size_t count,
                                   CUevent event)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, describe_event(event, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &d));
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph graph_handle,
                                 const CUgraphNode *dependencies, size_t count,
                                 CUevent event)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, describe_event(event, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &d));
}

CUresult soft_api_describe(const CUgraphNodeParams *in, const soft_graph *into,
                           struct soft_description *out)
{
    const CUDA_MEMSET_NODE_PARAMS fill = {.dst = in->memset.dst,
                                          .pitch = in->memset.pitch,
                                          .value = in->memset.value,
                                          .elementSize = in->memset.elementSize,
                                          .width = in->memset.width,
                                          .height = in->memset.height};
    switch (in->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
        const CUDA_KERNEL_NODE_PARAMS kernel = {.func = in->kernel.func,
                                                .gridDimX = in->kernel.gridDimX,
                                                .gridDimY = in->kernel.gridDimY,
                                                .gridDimZ = in->kernel.gridDimZ,
                                                .blockDimX = in->kernel.blockDimX,
                                                .blockDimY = in->kernel.blockDimY,
                                                .blockDimZ = in->kernel.blockDimZ,
                                                .sharedMemBytes =
                                                    in->kernel.sharedMemBytes,
                                                .kernelParams = in->kernel.kernelParams,
                                                .extra = in->kernel.extra,
                                                .kern = in->kernel.kern,
                                                .ctx = in->kernel.ctx};
        return describe_kernel(&kernel, out);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return describe_copy(&in->memcpy.copyParams, in->memcpy.copyCtx, out);
    case CU_GRAPH_NODE_TYPE_MEMSET: return describe_fill(&fill, in->memset.ctx, out);
    case CU_GRAPH_NODE_TYPE_HOST: {
        const CUDA_HOST_NODE_PARAMS host = {in->host.fn, in->host.userData};
        return describe_host(&host, out);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH: return describe_child(in->graph.graph, into, out);
    case CU_GRAPH_NODE_TYPE_EMPTY: return describe_empty(out);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return describe_event(in->eventWait.event, in->type, out);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return describe_event(in->eventRecord.event, in->type, out);
    default:
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "nodes of type %d are not built into softcuda", (int)in->type);
    }
}

CUresult soft_api_check_reserved(const CUgraphNodeParams *in)
{
    SOFT_TRY(need(in, "nodeParams"));
    if (in->reserved0[0] || in->reserved0[1] || in->reserved0[2] || in->reserved2)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "reserved fields of nodeParams are set");
    return CUDA_SUCCESS;
}

CUresult cuGraphAddNode_v2(CUgraphNode *out, CUgraph graph_handle,
                           const CUgraphNode *dependencies, const CUgraphEdgeData *data,
                           size_t count, CUgraphNodeParams *params)
{
    SOFT_ENTER();
    SOFT_TRY(soft_api_check_reserved(params));
    const struct add_in in = {out, graph_handle, dependencies, data, count};
    ADD_NODE(&in, soft_api_describe(params, graph, &d));
}

CUresult cuGraphAddNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                        size_t count, CUgraphNodeParams *params)
{
    return cuGraphAddNode_v2(out, graph, dependencies, NULL, count, params);
}

/* ---- reading
 * ---------------------------------------------------------------------------------- */

static CUresult node_of_type(CUgraphNode handle, CUgraphNodeType type, soft_node **out)
{
    SOFT_TRY(soft_node_find(handle, out));
    if ((*out)->type != type)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the node is of type %d, not %d",
                         (int)(*out)->type, (int)type);
    return CUDA_SUCCESS;
}

/* Runs statements on a node of a type, under the mutex. */
#define WITH_NODE(handle, node_type, node, result, ...)                                  \
    do {                                                                                 \
        soft_graph_lock();                                                               \
        soft_node *node;                                                                 \
        CUresult result = node_of_type(handle, node_type, &node);                        \
        if (result == CUDA_SUCCESS) {                                                    \
            __VA_ARGS__                                                                  \
        }                                                                                \
        soft_graph_unlock();                                                             \
        return result;                                                                   \
    } while (0)

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *out)
{
    SOFT_ENTER();
    SOFT_TRY(need(out, "type"));
    soft_node *node;
    soft_graph_lock();
    const CUresult result = soft_node_find(handle, &node);
    if (result == CUDA_SUCCESS)
        *out = node->type;
    soft_graph_unlock();
    return result;
}

static CUDA_KERNEL_NODE_PARAMS kernel_params(const soft_node *node)
{
    const soft_launch *launch = &node->task.u.launch;
    return (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)launch->function,
                                     .gridDimX = launch->grid[0],
                                     .gridDimY = launch->grid[1],
                                     .gridDimZ = launch->grid[2],
                                     .blockDimX = launch->block[0],
                                     .blockDimY = launch->block[1],
                                     .blockDimZ = launch->block[2],
                                     .sharedMemBytes = launch->shared_bytes,
                                     .kernelParams = node->arguments.pointers,
                                     .ctx = (CUcontext)node->context};
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *out)
{
    SOFT_ENTER();
    SOFT_TRY(need(out, "nodeParams"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_KERNEL, node, result,
              *out = kernel_params(node););
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1 *out)
{
    SOFT_ENTER();
    SOFT_TRY(need(out, "nodeParams"));
    CUDA_KERNEL_NODE_PARAMS wide;
    SOFT_TRY(cuGraphKernelNodeGetParams_v2(handle, &wide));
    *out = (CUDA_KERNEL_NODE_PARAMS_v1){.func = wide.func,
                                        .gridDimX = wide.gridDimX,
                                        .gridDimY = wide.gridDimY,
                                        .gridDimZ = wide.gridDimZ,
                                        .blockDimX = wide.blockDimX,
                                        .blockDimY = wide.blockDimY,
                                        .blockDimZ = wide.blockDimZ,
                                        .sharedMemBytes = wide.sharedMemBytes,
                                        .kernelParams = wide.kernelParams,
                                        .extra = wide.extra};
    return CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D *out)
{
    SOFT_ENTER();
    SOFT_TRY(need(out, "nodeParams"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_MEMCPY, node, result, *out = node->copy;);
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *out)
{
    SOFT_ENTER();
    SOFT_TRY(need(out, "nodeParams"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_MEMSET, node, result, *out = node->fill;);
}

CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS *out)
{
    SOFT_ENTER();
    SOFT_TRY(need(out, "nodeParams"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_HOST, node, result,
              out->fn = node->task.u.host.function;
              out->userData = node->task.u.host.user;);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *out)
{
    SOFT_ENTER();
    SOFT_TRY(need(out, "phGraph"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_GRAPH, node, result,
              *out = (CUgraph)node->child;);
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent *out)
{
    SOFT_ENTER();
    SOFT_TRY(need(out, "event_out"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_EVENT_RECORD, node, result,
              *out = (CUevent)node->event;);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent *out)
{
    SOFT_ENTER();
    SOFT_TRY(need(out, "event_out"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_WAIT_EVENT, node, result,
              *out = (CUevent)node->event;);
}

/* ---- changing
 * --------------------------------------------------------------------------------- */

#define SET_NODE(handle, type, expr)                                                     \
    do {                                                                                 \
        struct soft_description d;                                                       \
        memset(&d.params, 0, sizeof(d.params));                                          \
        WITH_NODE(handle, type, node, result, result = (expr);                           \
                  if (result == CUDA_SUCCESS) result = soft_node_set(node, &d.params);); \
    } while (0)

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode handle,
                                       const CUDA_KERNEL_NODE_PARAMS *params)
{
    SOFT_ENTER();
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_KERNEL, describe_kernel(params, &d));
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode handle,
                                    const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    SOFT_ENTER();
    SOFT_TRY(need(params, "nodeParams"));
    const CUDA_KERNEL_NODE_PARAMS wider = from_v1(params);
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_KERNEL, describe_kernel(&wider, &d));
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D *params)
{
    SOFT_ENTER();
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_MEMCPY,
             describe_copy(params, (CUcontext)node->context, &d));
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode handle,
                                    const CUDA_MEMSET_NODE_PARAMS *params)
{
    SOFT_ENTER();
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_MEMSET,
             describe_fill(params, (CUcontext)node->context, &d));
}

CUresult cuGraphHostNodeSetParams(CUgraphNode handle, const CUDA_HOST_NODE_PARAMS *params)
{
    SOFT_ENTER();
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_HOST, describe_host(params, &d));
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode handle, CUevent event)
{
    SOFT_ENTER();
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
             describe_event(event, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &d));
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode handle, CUevent event)
{
    SOFT_ENTER();
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
             describe_event(event, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &d));
}

static CUresult set_any_locked(CUgraphNode handle, const CUgraphNodeParams *params,
                               struct soft_description *d)
{
    soft_node *node;
    SOFT_TRY(soft_node_find(handle, &node));
    if (node->type != params->type)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the node has type %d, the parameters are for type %d",
                         (int)node->type, (int)params->type);
    SOFT_TRY(soft_api_describe(params, node->graph, d));
    return soft_node_set(node, &d->params);
}

CUresult cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams *params)
{
    SOFT_ENTER();
    SOFT_TRY(soft_api_check_reserved(params));
    struct soft_description d;
    memset(&d.params, 0, sizeof(d.params));
    soft_graph_lock();
    const CUresult result = set_any_locked(handle, params, &d);
    soft_graph_unlock();
    return result;
}
