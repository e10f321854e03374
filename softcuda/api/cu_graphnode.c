// SPDX-License-Identifier: Apache-2.0
/* cuGraphAdd*Node and the parameters of nodes. Each parameter struct of CUDA is checked
 * by device/task.c and becomes a soft_node_params; the node copies what that borrows. */
#include <string.h>

#include "softcuda/api/describe.h"
#include "softcuda/api/exports.h"

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

/* What a node is described for whose graph is none: its own faults come first. */
static soft_graph nowhere;

/* Runs `expr`, which fills `d` and sees `graph`, and adds the node; one way out. */
#define ADD_NODE(in, expr)                                                               \
    do {                                                                                 \
        SOFT_TRY(soft_need((in)->out, "phGraphNode"));                                   \
        soft_description d;                                                              \
        memset(&d.params, 0, sizeof(d.params));                                          \
        soft_graph *graph = &nowhere;                                                    \
        soft_graph_lock();                                                               \
        const CUresult found_ = soft_graph_find((in)->graph, &graph);                    \
        CUresult result_ = (expr);                                                       \
        if (result_ == CUDA_SUCCESS)                                                     \
            result_ = found_;                                                            \
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
    ADD_NODE(&in, soft_describe_kernel(params, &d));
}

CUresult cuGraphAddKernelNode(CUgraphNode *out, CUgraph graph_handle,
                              const CUgraphNode *dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(params, "nodeParams"));
    const CUDA_KERNEL_NODE_PARAMS wider = soft_kernel_params_from_v1(params);
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, soft_describe_kernel(&wider, &d));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph_handle,
                              const CUgraphNode *dependencies, size_t count,
                              const CUDA_MEMCPY3D *params, CUcontext context)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, soft_describe_copy(params, context, &d));
}

CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph_handle,
                              const CUgraphNode *dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, soft_describe_fill(params, context, &d));
}

CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph graph_handle,
                            const CUgraphNode *dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS *params)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, soft_describe_host(params, &d));
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph_handle,
                                  const CUgraphNode *dependencies, size_t count,
                                  CUgraph child)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in,
             soft_describe_child(child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, graph, &d));
}

CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph_handle,
                             const CUgraphNode *dependencies, size_t count)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, soft_describe_empty(&d));
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph graph_handle,
                                   const CUgraphNode *dependencies, size_t count,
                                   CUevent event)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, soft_describe_event(event, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &d));
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph graph_handle,
                                 const CUgraphNode *dependencies, size_t count,
                                 CUevent event)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, soft_describe_event(event, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &d));
}

static CUresult add_any(const struct add_in *in, CUgraphNodeParams *params)
{
    ADD_NODE(in, soft_describe_any(params, graph, &d));
}

CUresult cuGraphAddNode_v2(CUgraphNode *out, CUgraph graph_handle,
                           const CUgraphNode *dependencies, const CUgraphEdgeData *data,
                           size_t count, CUgraphNodeParams *params)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(params, "nodeParams"));
    const struct add_in in = {out, graph_handle, dependencies, data, count};
    SOFT_TRY(add_any(&in, params));
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    if (params->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        return CUDA_SUCCESS;
    SOFT_TRY(cuGraphMemAllocNodeGetParams(*out, &alloc));
    params->alloc.dptr = alloc.dptr;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                        size_t count, CUgraphNodeParams *params)
{
    return cuGraphAddNode_v2(out, graph, dependencies, NULL, count, params);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *out, CUgraph graph_handle,
                                  const CUgraphNode *dependencies, size_t count,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    SOFT_ENTER();
    const struct add_in in = {out, graph_handle, dependencies, NULL, count};
    ADD_NODE(&in, soft_describe_batch(params, &d));
}

/* ---- reading
 * ---------------------------------------------------------------------------------- */

static CUresult node_of_type(CUgraphNode handle, CUgraphNodeType type, soft_node **out)
{
    SOFT_TRY(soft_node_find(handle, out));
    if ((*out)->type != type && soft_rule(R17))
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
    SOFT_TRY(soft_need(out, "type"));
    soft_node *node;
    soft_graph_lock();
    const CUresult result = soft_node_find(handle, &node);
    if (result == CUDA_SUCCESS)
        *out = node->type;
    soft_graph_unlock();
    return result;
}

/* The arguments in the form that they came in (R19). */
static CUDA_KERNEL_NODE_PARAMS kernel_params(soft_node *node)
{
    const soft_launch *launch = &node->task.u.launch;
    soft_arguments *own = &node->arguments;
    own->extra[0] = CU_LAUNCH_PARAM_BUFFER_SIZE;
    own->extra[1] = &own->bytes;
    own->extra[2] = CU_LAUNCH_PARAM_BUFFER_POINTER;
    own->extra[3] = own->packed;
    own->extra[4] = CU_LAUNCH_PARAM_END;
    return (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)launch->function,
                                     .gridDimX = launch->grid[0],
                                     .gridDimY = launch->grid[1],
                                     .gridDimZ = launch->grid[2],
                                     .blockDimX = launch->block[0],
                                     .blockDimY = launch->block[1],
                                     .blockDimZ = launch->block[2],
                                     .sharedMemBytes = launch->shared_bytes,
                                     .kernelParams = own->by_extra ? NULL : own->pointers,
                                     .extra = own->by_extra ? own->extra : NULL,
                                     .ctx = (CUcontext)node->context};
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *out)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(out, "nodeParams"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_KERNEL, node, result,
              *out = kernel_params(node););
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1 *out)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(out, "nodeParams"));
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
    SOFT_TRY(soft_need(out, "nodeParams"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_MEMCPY, node, result, *out = node->copy;);
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *out)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(out, "nodeParams"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_MEMSET, node, result, *out = node->fill;);
}

CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS *out)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(out, "nodeParams"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_HOST, node, result,
              out->fn = node->task.u.host.function;
              out->userData = node->task.u.host.user;);
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode handle,
                                        CUDA_BATCH_MEM_OP_NODE_PARAMS *out)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(out, "nodeParams_out"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, node, result,
              *out = ((CUDA_BATCH_MEM_OP_NODE_PARAMS){.ctx = (CUcontext)node->context,
                                                      .count = node->task.u.batch.count,
                                                      .paramArray = node->operations}););
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *out)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(out, "phGraph"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_GRAPH, node, result,
              *out = (CUgraph)node->child;);
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent *out)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(out, "event_out"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_EVENT_RECORD, node, result,
              *out = (CUevent)node->event;);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent *out)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(out, "event_out"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_WAIT_EVENT, node, result,
              *out = (CUevent)node->event;);
}

/* ---- changing
 * --------------------------------------------------------------------------------- */

#define SET_NODE(handle, type, expr)                                                     \
    do {                                                                                 \
        soft_description d;                                                              \
        memset(&d.params, 0, sizeof(d.params));                                          \
        WITH_NODE(handle, type, node, result, result = (expr);                           \
                  if (result == CUDA_SUCCESS) result = soft_node_set(node, &d.params);); \
    } while (0)

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode handle,
                                       const CUDA_KERNEL_NODE_PARAMS *params)
{
    SOFT_ENTER();
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_KERNEL, soft_describe_kernel(params, &d));
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode handle,
                                    const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(params, "nodeParams"));
    const CUDA_KERNEL_NODE_PARAMS wider = soft_kernel_params_from_v1(params);
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_KERNEL, soft_describe_kernel(&wider, &d));
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D *params)
{
    SOFT_ENTER();
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_MEMCPY,
             soft_describe_copy(params, (CUcontext)node->context, &d));
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode handle,
                                    const CUDA_MEMSET_NODE_PARAMS *params)
{
    SOFT_ENTER();
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_MEMSET,
             soft_describe_fill(params, (CUcontext)node->context, &d));
}

CUresult cuGraphHostNodeSetParams(CUgraphNode handle, const CUDA_HOST_NODE_PARAMS *params)
{
    SOFT_ENTER();
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_HOST, soft_describe_host(params, &d));
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode handle, CUevent event)
{
    SOFT_ENTER();
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
             soft_describe_event(event, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &d));
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode handle, CUevent event)
{
    SOFT_ENTER();
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
             soft_describe_event(event, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &d));
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode handle,
                                        const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    SOFT_ENTER();
    SET_NODE(handle, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, soft_describe_batch(params, &d));
}

static CUresult set_any(soft_node *node, const CUgraphNodeParams *params,
                        soft_description *d)
{
    SOFT_TRY(soft_api_check_settable(node->type, params->type));
    if (node->type != params->type && soft_rule(R15))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the node is of type %d, not %d",
                         (int)node->type, (int)params->type);
    SOFT_TRY(soft_describe_any(params, node->graph, d));
    return soft_node_set(node, &d->params);
}

CUresult cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams *params)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(params, "nodeParams"));
    soft_description d;
    memset(&d.params, 0, sizeof(d.params));
    soft_node *node;
    soft_graph_lock();
    CUresult result = soft_node_find(handle, &node);
    if (result == CUDA_SUCCESS)
        result = set_any(node, params, &d);
    soft_graph_unlock();
    return result;
}

/* ---- attributes of kernel nodes ---- */

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                       CUkernelNodeAttrValue *out)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(out, "value_out"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_KERNEL, node, result,
              result = soft_node_attribute_get(node, id, out););
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                       const CUkernelNodeAttrValue *value)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(value, "value"));
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_KERNEL, node, result,
              result = soft_node_attribute_set(node, id, value););
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to_handle, CUgraphNode handle)
{
    SOFT_ENTER();
    soft_node *to;
    WITH_NODE(handle, CU_GRAPH_NODE_TYPE_KERNEL, node, result,
              result = node_of_type(to_handle, CU_GRAPH_NODE_TYPE_KERNEL, &to);
              if (result == CUDA_SUCCESS) result = soft_node_attributes_copy(to, node););
}
