// SPDX-License-Identifier: Apache-2.0
/* Graphs: structure, executables, launches, and nodes whose parameters are the driver's.
 *
 * The runtime's handles of graphs, nodes and executables are the driver's own, so that a
 * program may mix both interfaces, as PyTorch's raw_cuda_graph() users do; and every rule
 * of a graph stays the driver's: nothing is checked twice. */
#include "softcuda/runtime/entry.h"

/* ---- structure --------------------------------------------------------------------------- */

RT_ENTRY(cudaGraphCreate, (CUgraph *, graph, unsigned, flags),
         cu->cuGraphCreate(graph, flags))
RT_ENTRY(cudaGraphDestroy, (CUgraph, graph), cu->cuGraphDestroy(graph))
RT_ENTRY(cudaGraphClone, (CUgraph *, clone, CUgraph, graph),
         cu->cuGraphClone(clone, graph))
RT_ENTRY(cudaGraphNodeFindInClone,
         (CUgraphNode *, out, CUgraphNode, node, CUgraph, clone),
         cu->cuGraphNodeFindInClone(out, node, clone))
RT_ENTRY(cudaGraphNodeGetType, (CUgraphNode, node, CUgraphNodeType *, type),
         cu->cuGraphNodeGetType(node, type))
RT_ENTRY(cudaGraphGetNodes, (CUgraph, graph, CUgraphNode *, nodes, size_t *, count),
         cu->cuGraphGetNodes(graph, nodes, count))
RT_ENTRY(cudaGraphGetRootNodes, (CUgraph, graph, CUgraphNode *, nodes, size_t *, count),
         cu->cuGraphGetRootNodes(graph, nodes, count))
RT_ENTRY(cudaGraphGetEdges,
         (CUgraph, graph, CUgraphNode *, from, CUgraphNode *, to, CUgraphEdgeData *,
          edges, size_t *, count),
         cu->cuGraphGetEdges(graph, from, to, edges, count))
RT_ENTRY(cudaGraphNodeGetDependencies,
         (CUgraphNode, node, CUgraphNode *, nodes, CUgraphEdgeData *, edges, size_t *,
          count),
         cu->cuGraphNodeGetDependencies(node, nodes, edges, count))
RT_ENTRY(cudaGraphNodeGetDependentNodes,
         (CUgraphNode, node, CUgraphNode *, nodes, CUgraphEdgeData *, edges, size_t *,
          count),
         cu->cuGraphNodeGetDependentNodes(node, nodes, edges, count))
RT_ENTRY(cudaGraphAddDependencies,
         (CUgraph, graph, const CUgraphNode *, from, const CUgraphNode *, to,
          const CUgraphEdgeData *, edges, size_t, count),
         cu->cuGraphAddDependencies(graph, from, to, edges, count))
RT_ENTRY(cudaGraphRemoveDependencies,
         (CUgraph, graph, const CUgraphNode *, from, const CUgraphNode *, to,
          const CUgraphEdgeData *, edges, size_t, count),
         cu->cuGraphRemoveDependencies(graph, from, to, edges, count))
RT_ENTRY(cudaGraphDestroyNode, (CUgraphNode, node), cu->cuGraphDestroyNode(node))
RT_ENTRY(cudaGraphDebugDotPrint, (CUgraph, graph, const char *, path, unsigned, flags),
         cu->cuGraphDebugDotPrint(graph, path, flags))

/* ---- executables -------------------------------------------------------------------------- */

RT_ENTRY(cudaGraphInstantiate, (CUgraphExec *, exec, CUgraph, graph, cuuint64_t, flags),
         cu->cuGraphInstantiateWithFlags(exec, graph, flags))
RT_ENTRY(cudaGraphInstantiateWithFlags,
         (CUgraphExec *, exec, CUgraph, graph, cuuint64_t, flags),
         cu->cuGraphInstantiateWithFlags(exec, graph, flags))
RT_TWINS(cudaGraphInstantiateWithParams, _ptsz,
         (CUgraphExec *, exec, CUgraph, graph, CUDA_GRAPH_INSTANTIATE_PARAMS *, params),
         cu->cuGraphInstantiateWithParams(exec, graph, params))
RT_ENTRY(cudaGraphExecGetFlags, (CUgraphExec, exec, cuuint64_t *, flags),
         cu->cuGraphExecGetFlags(exec, flags))
RT_ENTRY(cudaGraphExecDestroy, (CUgraphExec, exec), cu->cuGraphExecDestroy(exec))
RT_TWINS(cudaGraphLaunch, _ptsz, (CUgraphExec, exec, CUstream, stream),
         cu->cuGraphLaunch(exec, stream))
RT_TWINS(cudaGraphUpload, _ptsz, (CUgraphExec, exec, CUstream, stream),
         cu->cuGraphUpload(exec, stream))
RT_ENTRY(cudaGraphExecUpdate,
         (CUgraphExec, exec, CUgraph, graph, CUgraphExecUpdateResultInfo *, info),
         cu->cuGraphExecUpdate(exec, graph, info))
RT_ENTRY(cudaGraphNodeSetEnabled, (CUgraphExec, exec, CUgraphNode, node, unsigned, value),
         cu->cuGraphNodeSetEnabled(exec, node, value))
RT_ENTRY(cudaGraphNodeGetEnabled,
         (CUgraphExec, exec, CUgraphNode, node, unsigned *, value),
         cu->cuGraphNodeGetEnabled(exec, node, value))

/* ---- nodes -------------------------------------------------------------------------------- */

#define NEW_NODE                                                                         \
    CUgraphNode *, out, CUgraph, graph, const CUgraphNode *, after, size_t, count

RT_ENTRY(cudaGraphAddEmptyNode, (NEW_NODE),
         cu->cuGraphAddEmptyNode(out, graph, after, count))
RT_ENTRY(cudaGraphAddChildGraphNode, (NEW_NODE, CUgraph, child),
         cu->cuGraphAddChildGraphNode(out, graph, after, count, child))
RT_ENTRY(cudaGraphChildGraphNodeGetGraph, (CUgraphNode, node, CUgraph *, graph),
         cu->cuGraphChildGraphNodeGetGraph(node, graph))
RT_ENTRY(cudaGraphExecChildGraphNodeSetParams,
         (CUgraphExec, exec, CUgraphNode, node, CUgraph, child),
         cu->cuGraphExecChildGraphNodeSetParams(exec, node, child))
RT_ENTRY(cudaGraphAddEventRecordNode, (NEW_NODE, CUevent, event),
         cu->cuGraphAddEventRecordNode(out, graph, after, count, event))
RT_ENTRY(cudaGraphEventRecordNodeGetEvent, (CUgraphNode, node, CUevent *, event),
         cu->cuGraphEventRecordNodeGetEvent(node, event))
RT_ENTRY(cudaGraphEventRecordNodeSetEvent, (CUgraphNode, node, CUevent, event),
         cu->cuGraphEventRecordNodeSetEvent(node, event))
RT_ENTRY(cudaGraphExecEventRecordNodeSetEvent,
         (CUgraphExec, exec, CUgraphNode, node, CUevent, event),
         cu->cuGraphExecEventRecordNodeSetEvent(exec, node, event))
RT_ENTRY(cudaGraphAddEventWaitNode, (NEW_NODE, CUevent, event),
         cu->cuGraphAddEventWaitNode(out, graph, after, count, event))
RT_ENTRY(cudaGraphEventWaitNodeGetEvent, (CUgraphNode, node, CUevent *, event),
         cu->cuGraphEventWaitNodeGetEvent(node, event))
RT_ENTRY(cudaGraphEventWaitNodeSetEvent, (CUgraphNode, node, CUevent, event),
         cu->cuGraphEventWaitNodeSetEvent(node, event))
RT_ENTRY(cudaGraphExecEventWaitNodeSetEvent,
         (CUgraphExec, exec, CUgraphNode, node, CUevent, event),
         cu->cuGraphExecEventWaitNodeSetEvent(exec, node, event))
RT_ENTRY(cudaGraphAddHostNode, (NEW_NODE, const CUDA_HOST_NODE_PARAMS *, params),
         cu->cuGraphAddHostNode(out, graph, after, count, params))
RT_ENTRY(cudaGraphHostNodeGetParams, (CUgraphNode, node, CUDA_HOST_NODE_PARAMS *, params),
         cu->cuGraphHostNodeGetParams(node, params))
RT_ENTRY(cudaGraphHostNodeSetParams,
         (CUgraphNode, node, const CUDA_HOST_NODE_PARAMS *, params),
         cu->cuGraphHostNodeSetParams(node, params))
RT_ENTRY(cudaGraphExecHostNodeSetParams,
         (CUgraphExec, exec, CUgraphNode, node, const CUDA_HOST_NODE_PARAMS *, params),
         cu->cuGraphExecHostNodeSetParams(exec, node, params))
RT_ENTRY(cudaGraphAddMemAllocNode, (NEW_NODE, CUDA_MEM_ALLOC_NODE_PARAMS *, params),
         cu->cuGraphAddMemAllocNode(out, graph, after, count, params))
RT_ENTRY(cudaGraphMemAllocNodeGetParams,
         (CUgraphNode, node, CUDA_MEM_ALLOC_NODE_PARAMS *, params),
         cu->cuGraphMemAllocNodeGetParams(node, params))
RT_ENTRY(cudaGraphAddMemFreeNode, (NEW_NODE, CUdeviceptr, pointer),
         cu->cuGraphAddMemFreeNode(out, graph, after, count, pointer))
RT_ENTRY(cudaGraphMemFreeNodeGetParams, (CUgraphNode, node, CUdeviceptr *, pointer),
         cu->cuGraphMemFreeNodeGetParams(node, pointer))
RT_ENTRY(cudaGraphKernelNodeCopyAttributes, (CUgraphNode, to, CUgraphNode, from),
         cu->cuGraphKernelNodeCopyAttributes(to, from))
RT_ENTRY(cudaGraphKernelNodeGetAttribute,
         (CUgraphNode, node, CUkernelNodeAttrID, which, CUkernelNodeAttrValue *, value),
         cu->cuGraphKernelNodeGetAttribute(node, which, value))
RT_ENTRY(cudaGraphKernelNodeSetAttribute,
         (CUgraphNode, node, CUkernelNodeAttrID, which, const CUkernelNodeAttrValue *,
          value),
         cu->cuGraphKernelNodeSetAttribute(node, which, value))

/* ---- user objects, conditional handles ------------------------------------------------------ */

static cudaError_t handle_create(const rt_driver *cu, CUgraphConditionalHandle *out,
                                 CUgraph graph, unsigned value, unsigned flags)
{
    CUcontext context = NULL;
    const CUresult result = cu->cuCtxGetCurrent(&context);
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    return (cudaError_t)cu->cuGraphConditionalHandleCreate(out, graph, context, value,
                                                           flags);
}

RT_ENTRY(cudaGraphConditionalHandleCreate,
         (CUgraphConditionalHandle *, out, CUgraph, graph, unsigned, value, unsigned,
          flags),
         handle_create(cu, out, graph, value, flags))
RT_ENTRY(cudaUserObjectCreate,
         (CUuserObject *, out, void *, pointer, CUhostFn, destroy, unsigned, count,
          unsigned, flags),
         cu->cuUserObjectCreate(out, pointer, destroy, count, flags))
RT_ENTRY(cudaUserObjectRetain, (CUuserObject, object, unsigned, count),
         cu->cuUserObjectRetain(object, count))
RT_ENTRY(cudaUserObjectRelease, (CUuserObject, object, unsigned, count),
         cu->cuUserObjectRelease(object, count))
RT_ENTRY(cudaGraphRetainUserObject,
         (CUgraph, graph, CUuserObject, object, unsigned, count, unsigned, flags),
         cu->cuGraphRetainUserObject(graph, object, count, flags))
RT_ENTRY(cudaGraphReleaseUserObject,
         (CUgraph, graph, CUuserObject, object, unsigned, count),
         cu->cuGraphReleaseUserObject(graph, object, count))
