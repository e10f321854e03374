// SPDX-License-Identifier: Apache-2.0
/* What the driver is asked of captures, graphs and nodes; the lowest file of the room. */
#include "replay/query.h"
#include "base/fail.h"
#include "base/heap.h"
#include "cuda/status.h"
#include <gph/graph.h>

#include <stdbool.h>
#include <stdio.h>

CUresult gphi_capture_info_read(const gphi_cuda_table *cu, CUstream stream,
                                gphi_capture_info *out)
{
    *out = (gphi_capture_info){0};
    CUresult result =
        cu->cuStreamGetCaptureInfo(stream, &out->status, &out->id, &out->graph,
                                   &out->dependencies, &out->edges, &out->count);
    if (result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) {
        out->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
        result = CUDA_SUCCESS;
    }
    if (result != CUDA_SUCCESS || out->status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        const CUstreamCaptureStatus status = out->status;
        *out = (gphi_capture_info){.status = status};
    }
    return result;
}

gph_status gphi_nodes_read(const gph_runtime *runtime, CUgraph graph, gphi_vec *out,
                           gph_error *error)
{
    size_t count = 0;
    CUresult result = runtime->cu.cuGraphGetNodes(graph, NULL, &count);
    if (result == CUDA_SUCCESS && count > 0) {
        CUgraphNode *nodes = gphi_vec_add(out, count);
        GPHI_TRY(gphi_made(error, nodes, "reading %zu nodes", count));
        size_t filled = count;
        result = runtime->cu.cuGraphGetNodes(graph, nodes, &filled);
        out->count = filled < count ? filled : count;
    }
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuGraphGetNodes", "graph %p",
                              (void *)graph);
    return GPH_OK;
}

int64_t gphi_node_index(const gph_runtime *runtime, CUgraph graph, CUgraphNode node)
{
    const gphi_cuda_table *cu = &runtime->cu;
    size_t count = 0;
    if (!node || cu->cuGraphGetNodes(graph, NULL, &count) != CUDA_SUCCESS || count == 0)
        return -1;
    CUgraphNode *nodes = gphi_heap_array(runtime->heap, count, sizeof(*nodes));
    if (!nodes)
        return -1;
    int64_t found = -1;
    size_t filled = count;
    if (cu->cuGraphGetNodes(graph, nodes, &filled) == CUDA_SUCCESS)
        for (size_t i = 0; i < filled && i < count && found < 0; i++)
            if (nodes[i] == node)
                found = (int64_t)i;
    gphi_heap_free(runtime->heap, nodes, count * sizeof(*nodes));
    return found;
}

/* An attribute that a driver does not know is as it begins. */
static CUresult read_attribute(const gphi_cuda_table *cu, CUgraphNode node,
                               CUkernelNodeAttrID id, CUkernelNodeAttrValue *out)
{
    *out = (CUkernelNodeAttrValue){{0}};
    const CUresult result = cu->cuGraphKernelNodeGetAttribute(node, id, out);
    if (result == CUDA_SUCCESS)
        return result;
    *out = (CUkernelNodeAttrValue){{0}};
    const bool is_unknown =
        result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_NOT_SUPPORTED;
    return is_unknown ? CUDA_SUCCESS : result;
}

CUresult gphi_kernel_attributes_read(const gphi_cuda_table *cu, CUgraphNode node,
                                     gph_kernel_params *out)
{
    CUkernelNodeAttrValue value;
    CUresult result = read_attribute(cu, node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value);
    out->cooperative = value.cooperative != 0;
    GPHI_THEN(result, read_attribute(cu, node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    out->priority = value.priority;
    GPHI_THEN(result,
              read_attribute(cu, node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    out->cluster[0] = value.clusterDim.x;
    out->cluster[1] = value.clusterDim.y;
    out->cluster[2] = value.clusterDim.z;
    return result;
}

/* The kernel's name, or NULL. */
static const char *kernel_name(const gphi_cuda_table *cu, CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS params = {0};
    const char *name = NULL;
    if (cu->cuGraphKernelNodeGetParams(node, &params) != CUDA_SUCCESS)
        return NULL;
    const CUresult result = params.func ? cu->cuFuncGetName(&name, params.func)
                                        : cu->cuKernelGetName(&name, params.kern);
    return result == CUDA_SUCCESS ? name : NULL;
}

void gphi_node_describe(const gph_runtime *runtime, CUgraphNode node, size_t index,
                        const char *region, char *out, size_t bytes)
{
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    const char *kernel = NULL;
    const bool is_known = runtime->cu.cuGraphNodeGetType(node, &type) == CUDA_SUCCESS;
    if (is_known && type == CU_GRAPH_NODE_TYPE_KERNEL)
        kernel = kernel_name(&runtime->cu, node);
    snprintf(out, bytes, "node %zu (%s%s%.60s%s%.60s)", index,
             is_known ? gph_node_kind_name((gph_node_kind)type) : "?", kernel ? " " : "",
             kernel ? kernel : "", region ? ", region " : "", region ? region : "");
}
