// SPDX-License-Identifier: Apache-2.0
/* cuGraphAdd*Node and the parameters of nodes, added, read and changed.
 *
 *   struct of one type --widen--> CUgraphNodeParams --describe.c--> soft_node_params
 *
 * CUDA has a call and a struct for each type, and one call for all with a union of them:
 * both ways meet in that union, which describe.c checks; a node copies what a
 * soft_node_params borrows.
 *
 * Handles of nodes are looked up under the graph mutex, and what is read is copied out
 * before it is released. */
#include <string.h>

#include "softcuda/api/describe.h"
#include "softcuda/api/exports.h"

/* ---- adding ------------------------------------------------------------------------ */

struct add_in {
    CUgraphNode *out;
    CUgraph graph;
    const CUgraphNode *dependencies;
    const CUgraphEdgeData *data;
    size_t count;
};

/* The edges' array is the call's: the node keeps its own. */
static CUresult add_described(const struct add_in *in, soft_graph *graph,
                              const soft_node_params *params, soft_node **out)
{
    soft_edge_end *ends;
    SOFT_TRY(soft_api_edge_ends(in->dependencies, in->data, in->count, &ends));
    const CUresult result = soft_node_add(graph, params, ends, (uint32_t)in->count, out);
    soft_delete(ends);
    if (result == CUDA_SUCCESS)
        *in->out = (CUgraphNode)*out;
    return result;
}

/* What a node is described for whose graph is none: its own faults come first. */
static soft_graph nowhere;

/* `params` in the generic form; `is_typed`: made from the struct of one type. An alloc
 * node's address is written to them. */
static CUresult add(const struct add_in *in, CUgraphNodeParams *params, bool is_typed)
{
    soft_description d;
    memset(&d.params, 0, sizeof(d.params));
    soft_graph *graph = &nowhere;
    soft_node *node;
    soft_graph_lock();
    const CUresult found = soft_graph_find(in->graph, &graph);
    CUresult result = is_typed ? soft_describe_typed(params, graph, &d)
                               : soft_describe_any(params, graph, &d);
    SOFT_THEN(result, found);
    SOFT_THEN(result, add_described(in, graph, &d.params, &node));
    if (result == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        params->alloc.dptr = soft_memnode_address(node);
    if (result == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        params->conditional.phGraph_out = (CUgraph *)node->bodies;
    soft_graph_unlock();
    return result;
}

/* The typed calls: what they share is the order of their checks, out before
 * parameters. */
static CUresult add_typed(const char *call, const struct add_in *in, CUgraphNodeType type,
                          const void *params, size_t bytes)
{
    CUgraphNodeParams wide;
    SOFT_TRY(soft_enter_with(call, in->out, "phGraphNode"));
    SOFT_TRY(soft_params_widen(type, params, bytes, "nodeParams", &wide));
    return add(in, &wide, true);
}

/* The arguments that all calls begin with. */
#define ADD_IN (&(struct add_in){out, graph, dependencies, NULL, count})

CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph graph,
                                 const CUgraphNode *dependencies, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS *params)
{
    return add_typed(__func__, ADD_IN, CU_GRAPH_NODE_TYPE_KERNEL, params,
                     sizeof(*params));
}

CUresult cuGraphAddKernelNode(CUgraphNode *out, CUgraph graph,
                              const CUgraphNode *dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    return add_typed(__func__, ADD_IN, CU_GRAPH_NODE_TYPE_KERNEL, params,
                     sizeof(*params));
}

CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph graph,
                            const CUgraphNode *dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS *params)
{
    return add_typed(__func__, ADD_IN, CU_GRAPH_NODE_TYPE_HOST, params, sizeof(*params));
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *out, CUgraph graph,
                                  const CUgraphNode *dependencies, size_t count,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    return add_typed(__func__, ADD_IN, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, params,
                     sizeof(*params));
}

CUresult
cuGraphAddExternalSemaphoresSignalNode(CUgraphNode *out, CUgraph graph,
                                       const CUgraphNode *dependencies, size_t count,
                                       const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *params)
{
    return add_typed(__func__, ADD_IN, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, params,
                     sizeof(*params));
}

CUresult cuGraphAddExternalSemaphoresWaitNode(CUgraphNode *out, CUgraph graph,
                                              const CUgraphNode *dependencies,
                                              size_t count,
                                              const CUDA_EXT_SEM_WAIT_NODE_PARAMS *params)
{
    return add_typed(__func__, ADD_IN, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, params,
                     sizeof(*params));
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph graph,
                               const CUgraphNode *dependencies, size_t count,
                               CUdeviceptr address)
{
    return add_typed(__func__, ADD_IN, CU_GRAPH_NODE_TYPE_MEM_FREE, &address,
                     sizeof(address));
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph graph,
                                   const CUgraphNode *dependencies, size_t count,
                                   CUevent event)
{
    return add_typed(__func__, ADD_IN, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &event,
                     sizeof(event));
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph graph,
                                 const CUgraphNode *dependencies, size_t count,
                                 CUevent event)
{
    return add_typed(__func__, ADD_IN, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &event,
                     sizeof(event));
}

/* The child is copied as it is now (R61); moving it needs the call for all types. */
CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph,
                                  const CUgraphNode *dependencies, size_t count,
                                  CUgraph child)
{
    const CUDA_CHILD_GRAPH_NODE_PARAMS params = {
        .graph = child, .ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE};
    return add_typed(__func__, ADD_IN, CU_GRAPH_NODE_TYPE_GRAPH, &params, sizeof(params));
}

CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph,
                             const CUgraphNode *dependencies, size_t count)
{
    return add_typed(__func__, ADD_IN, CU_GRAPH_NODE_TYPE_EMPTY, "", 0);
}

/* The context that is named, or the current one, is where the node runs. */
CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph,
                              const CUgraphNode *dependencies, size_t count,
                              const CUDA_MEMCPY3D *params, CUcontext context)
{
    CUgraphNodeParams wide;
    SOFT_TRY(soft_enter_with(__func__, out, "phGraphNode"));
    SOFT_TRY(soft_params_of_copy(params, context, &wide));
    return add(ADD_IN, &wide, true);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph,
                              const CUgraphNode *dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
    CUgraphNodeParams wide;
    SOFT_TRY(soft_enter_with(__func__, out, "phGraphNode"));
    SOFT_TRY(soft_params_widen(CU_GRAPH_NODE_TYPE_MEMSET, params, sizeof(*params),
                               "memsetParams", &wide));
    wide.memset.ctx = context;
    return add(ADD_IN, &wide, true);
}

/* The address is given now, and stays for the life of the graph (R42). */
CUresult cuGraphAddMemAllocNode(CUgraphNode *out, CUgraph graph,
                                const CUgraphNode *dependencies, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    CUgraphNodeParams wide;
    SOFT_TRY(soft_enter_with(__func__, out, "phGraphNode"));
    SOFT_TRY(soft_params_widen(CU_GRAPH_NODE_TYPE_MEM_ALLOC, params, sizeof(*params),
                               "nodeParams", &wide));
    SOFT_TRY(add(ADD_IN, &wide, true));
    params->dptr = wide.alloc.dptr;
    return CUDA_SUCCESS;
}

/* Of an alloc node the address comes back in the same struct. */
CUresult cuGraphAddNode_v2(CUgraphNode *out, CUgraph graph,
                           const CUgraphNode *dependencies, const CUgraphEdgeData *data,
                           size_t count, CUgraphNodeParams *params)
{
    const struct add_in in = {out, graph, dependencies, data, count};
    SOFT_TRY(soft_enter_with(__func__, params, "nodeParams"));
    SOFT_TRY(soft_need(out, "phGraphNode"));
    return add(&in, params, false);
}

SOFT_OLDER(cuGraphAddNode,
           (CUgraphNode * out, CUgraph graph, const CUgraphNode *dependencies,
            size_t count, CUgraphNodeParams *params),
           cuGraphAddNode_v2(out, graph, dependencies, NULL, count, params))

/* ---- reading ----------------------------------------------------------------------- */

/* Without the rule softcuda reads what a node of another type has there, which memory
 * nodes alone have. */
static CUresult node_of_type(CUgraphNode handle, CUgraphNodeType type, soft_node **out)
{
    const bool of_memory =
        type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE;
    SOFT_TRY(soft_node_find(handle, out));
    if ((*out)->type != type && (of_memory || soft_rule(R17)))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the node is of type %d, not %d",
                         (int)(*out)->type, (int)type);
    return CUDA_SUCCESS;
}

/* Of what is not a node nothing is written. */
CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *out)
{
    SOFT_TRY(soft_enter_with(__func__, out, "type"));
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
    const soft_arguments *own = &node->arguments;
    if (own->extra) { /* again each time: the program may have written to them */
        size_t *bytes = (size_t *)(void *)&own->extra[SOFT_EXTRA_WORDS - 1];
        *bytes = launch->param_bytes;
        own->extra[0] = CU_LAUNCH_PARAM_BUFFER_SIZE;
        own->extra[1] = bytes;
        own->extra[2] = CU_LAUNCH_PARAM_BUFFER_POINTER;
        own->extra[3] = launch->param_bytes > 0 ? own->packed : NULL;
        own->extra[4] = CU_LAUNCH_PARAM_END;
    }
    return (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)launch->function,
                                     .gridDimX = launch->grid[0],
                                     .gridDimY = launch->grid[1],
                                     .gridDimZ = launch->grid[2],
                                     .blockDimX = launch->block[0],
                                     .blockDimY = launch->block[1],
                                     .blockDimZ = launch->block[2],
                                     .sharedMemBytes = launch->shared_bytes,
                                     .kernelParams = own->extra ? NULL : own->pointers,
                                     .extra = own->extra,
                                     .ctx = (CUcontext)node->context};
}

/* Handles and parameters again from the operations, after which is room for them. */
#define SEMAPHORE_PARAMS(node_params, each)                                              \
    {                                                                                    \
        const soft_batch *batch = &node->task.u.batch;                                   \
        each *all = (each *)(void *)(node->operations + batch->count + 1);               \
        CUexternalSemaphore *handles =                                                   \
            (CUexternalSemaphore *)(void *)(all + batch->count);                         \
        for (uint32_t i = 0; i < batch->count; i++) {                                    \
            all[i].params.fence.value = batch->ops[i].waitValue.value64;                 \
            all[i].flags = batch->ops[i].waitValue.flags;                                \
            handles[i] =                                                                 \
                (CUexternalSemaphore)(uintptr_t)batch->ops[i].waitValue.address;         \
        }                                                                                \
        *(node_params *)out = (node_params){handles, all, batch->count};                 \
        break;                                                                           \
    }

/* To the struct, or the handle, that a type's call gives out. */
static void read_params(soft_node *node, CUgraphNodeType type, void *out)
{
    switch ((int)type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        *(CUDA_KERNEL_NODE_PARAMS *)out = kernel_params(node);
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY: *(CUDA_MEMCPY3D *)out = node->copy; break;
    case CU_GRAPH_NODE_TYPE_MEMSET: *(CUDA_MEMSET_NODE_PARAMS *)out = node->fill; break;
    case CU_GRAPH_NODE_TYPE_HOST:
        *(CUDA_HOST_NODE_PARAMS *)out =
            (CUDA_HOST_NODE_PARAMS){node->task.u.host.function, node->task.u.host.user};
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH: *(CUgraph *)out = (CUgraph)node->child; break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        *(CUDA_BATCH_MEM_OP_NODE_PARAMS *)out =
            (CUDA_BATCH_MEM_OP_NODE_PARAMS){.ctx = (CUcontext)node->context,
                                            .count = node->task.u.batch.count,
                                            .paramArray = node->operations};
        break;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
        SEMAPHORE_PARAMS(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
                         CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS)
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        SEMAPHORE_PARAMS(CUDA_EXT_SEM_WAIT_NODE_PARAMS,
                         CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS)
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        *(CUDA_MEM_ALLOC_NODE_PARAMS *)out = *soft_memnode_params(node);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        *(CUdeviceptr *)out = soft_memnode_address(node);
        break;
    default: *(CUevent *)out = (CUevent)node->event;
    }
}

/* One lock for the look-up and the reading: the node may be destroyed by another
 * thread. */
static CUresult get(const char *call, CUgraphNode handle, CUgraphNodeType type, void *out,
                    const char *name)
{
    SOFT_TRY(soft_enter_with(call, out, name));
    soft_node *node;
    soft_graph_lock();
    const CUresult result = node_of_type(handle, type, &node);
    if (result == CUDA_SUCCESS)
        read_params(node, type, out);
    soft_graph_unlock();
    return result;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out)
{
    return get(__func__, node, CU_GRAPH_NODE_TYPE_KERNEL, out, "nodeParams");
}

/* The older struct ends before kern and ctx. */
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *out)
{
    SOFT_TRY(soft_need(out, "nodeParams"));
    CUDA_KERNEL_NODE_PARAMS wide;
    SOFT_TRY(get(__func__, node, CU_GRAPH_NODE_TYPE_KERNEL, &wide, "nodeParams"));
    memcpy(out, &wide, sizeof(*out)); /* its head */
    return CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *out)
{
    return get(__func__, node, CU_GRAPH_NODE_TYPE_MEMCPY, out, "nodeParams");
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *out)
{
    return get(__func__, node, CU_GRAPH_NODE_TYPE_MEMSET, out, "nodeParams");
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *out)
{
    return get(__func__, node, CU_GRAPH_NODE_TYPE_HOST, out, "nodeParams");
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node,
                                        CUDA_BATCH_MEM_OP_NODE_PARAMS *out)
{
    return get(__func__, node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, out, "nodeParams_out");
}

CUresult
cuGraphExternalSemaphoresSignalNodeGetParams(CUgraphNode node,
                                             CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *out)
{
    return get(__func__, node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, out, "params_out");
}

CUresult cuGraphExternalSemaphoresWaitNodeGetParams(CUgraphNode node,
                                                    CUDA_EXT_SEM_WAIT_NODE_PARAMS *out)
{
    return get(__func__, node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, out, "params_out");
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *out)
{
    return get(__func__, node, CU_GRAPH_NODE_TYPE_MEM_ALLOC, out, "params_out");
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *out)
{
    return get(__func__, node, CU_GRAPH_NODE_TYPE_MEM_FREE, out, "dptr_out");
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *out)
{
    return get(__func__, node, CU_GRAPH_NODE_TYPE_GRAPH, out, "phGraph");
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *out)
{
    return get(__func__, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, out, "event_out");
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *out)
{
    return get(__func__, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, out, "event_out");
}

/* ---- changing ---------------------------------------------------------------------- */

/* Copies and fills stay in the context that they were added for. */
static CUresult set_typed_locked(CUgraphNode handle, CUgraphNodeParams *params,
                                 soft_description *d)
{
    soft_node *node;
    SOFT_TRY(node_of_type(handle, params->type, &node));
    if (params->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        params->memcpy.copyCtx = (CUcontext)node->context;
    if (params->type == CU_GRAPH_NODE_TYPE_MEMSET)
        params->memset.ctx = (CUcontext)node->context;
    SOFT_TRY(soft_describe_typed(params, node->graph, d));
    return soft_node_set(node, &d->params);
}

/* All that is given is checked before the node changes (R19: then it is copied). */
static CUresult set_wide(CUgraphNode handle, CUgraphNodeParams *params)
{
    soft_description d;
    memset(&d.params, 0, sizeof(d.params));
    soft_graph_lock();
    const CUresult result = set_typed_locked(handle, params, &d);
    soft_graph_unlock();
    return result;
}

/* The type is the call's, and must be the node's (R17). */
static CUresult set_typed(const char *call, CUgraphNode handle, CUgraphNodeType type,
                          const void *params, size_t bytes)
{
    CUgraphNodeParams wide;
    SOFT_TRY(soft_enter(call));
    SOFT_TRY(soft_params_widen(type, params, bytes, "nodeParams", &wide));
    return set_wide(handle, &wide);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node,
                                       const CUDA_KERNEL_NODE_PARAMS *params)
{
    return set_typed(__func__, node, CU_GRAPH_NODE_TYPE_KERNEL, params, sizeof(*params));
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node,
                                    const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    return set_typed(__func__, node, CU_GRAPH_NODE_TYPE_KERNEL, params, sizeof(*params));
}

/* The node keeps its context, for which this call has no argument. */
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *params)
{
    CUgraphNodeParams wide;
    SOFT_TRY(soft_enter(__func__));
    SOFT_TRY(soft_params_of_copy(params, NULL, &wide));
    return set_wide(node, &wide);
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node,
                                    const CUDA_MEMSET_NODE_PARAMS *params)
{
    return set_typed(__func__, node, CU_GRAPH_NODE_TYPE_MEMSET, params, sizeof(*params));
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params)
{
    return set_typed(__func__, node, CU_GRAPH_NODE_TYPE_HOST, params, sizeof(*params));
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
    return set_typed(__func__, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &event,
                     sizeof(event));
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
    return set_typed(__func__, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &event,
                     sizeof(event));
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node,
                                        const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    return set_typed(__func__, node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, params,
                     sizeof(*params));
}

CUresult cuGraphExternalSemaphoresSignalNodeSetParams(
    CUgraphNode node, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *params)
{
    return set_typed(__func__, node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, params,
                     sizeof(*params));
}

CUresult
cuGraphExternalSemaphoresWaitNodeSetParams(CUgraphNode node,
                                           const CUDA_EXT_SEM_WAIT_NODE_PARAMS *params)
{
    return set_typed(__func__, node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, params,
                     sizeof(*params));
}

/* Alloc and free nodes refuse first, whatever else is wrong (R16). */
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
    SOFT_TRY(soft_enter_with(__func__, params, "nodeParams"));
    soft_description d;
    memset(&d.params, 0, sizeof(d.params));
    soft_node *node;
    soft_graph_lock();
    CUresult result = soft_node_find(handle, &node);
    SOFT_THEN(result, set_any(node, params, &d));
    soft_graph_unlock();
    return result;
}

/* ---- attributes of kernel nodes ---------------------------------------------------- */

/* Gets into `out`, or sets from `in`. */
static CUresult attribute(CUgraphNode handle, CUkernelNodeAttrID id,
                          CUkernelNodeAttrValue *out, CUkernelNodeAttrValue *in)
{
    soft_node *node;
    soft_graph_lock();
    CUresult result = node_of_type(handle, CU_GRAPH_NODE_TYPE_KERNEL, &node);
    SOFT_THEN(result, out ? soft_node_attribute_get(node, id, out)
                          : soft_node_attribute_set(node, id, in));
    soft_graph_unlock();
    return result;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                       CUkernelNodeAttrValue *out)
{
    SOFT_TRY(soft_enter_with(__func__, out, "value_out"));
    return attribute(node, id, out, NULL);
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                       const CUkernelNodeAttrValue *value)
{
    SOFT_TRY(soft_enter_with(__func__, value, "value"));
    /* The handle of a node that kernels change is written to it, const or not. */
    return attribute(node, id, NULL, (CUkernelNodeAttrValue *)(uintptr_t)value);
}

/* The node that is read is looked up first. */
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to_handle, CUgraphNode from_handle)
{
    SOFT_TRY(soft_enter(__func__));
    soft_node *to, *from;
    soft_graph_lock();
    CUresult result = node_of_type(from_handle, CU_GRAPH_NODE_TYPE_KERNEL, &from);
    SOFT_THEN(result, node_of_type(to_handle, CU_GRAPH_NODE_TYPE_KERNEL, &to));
    SOFT_THEN(result, soft_node_attributes_copy(to, from));
    soft_graph_unlock();
    return result;
}
