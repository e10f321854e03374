// SPDX-License-Identifier: Apache-2.0
/* What the body of a conditional node may hold (R83), asked when it is closed: the driver
 * says it at the instantiation, with a number and without a region. */
#include "base/fail.h"
#include "cuda/status.h"
#include "replay/flow.h"

/* Why a node of this type cannot be in a body; NULL: it can. */
static const char *refuse_type(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_HOST: return "calls the host";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return "concerns an event";
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: return "concerns semaphores";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return "allocates or frees by the driver (a pool of the capture's needs no node)";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return "is a batch of memory operations";
    default: return NULL;
    }
}

/* Host memory that was never pinned: the driver knows no type of it. */
static bool is_pageable(const gphi_cuda_table *cu, CUmemorytype type, const void *host,
                        CUdeviceptr unified)
{
    unsigned found = 0;
    void *data[] = {&found};
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_UNIFIED)
        return false;
    const CUdeviceptr at =
        type == CU_MEMORYTYPE_HOST ? (CUdeviceptr)(uintptr_t)host : unified;
    return cu->cuPointerGetAttributes(1, what, data, at) == CUDA_SUCCESS && found == 0;
}

static const char *refuse_copy(const gphi_cuda_table *cu, CUgraphNode node)
{
    CUDA_MEMCPY3D copy = {0};
    if (cu->cuGraphMemcpyNodeGetParams(node, &copy) != CUDA_SUCCESS)
        return NULL; /* the instantiation says what is wrong */
    if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY ||
        copy.dstMemoryType == CU_MEMORYTYPE_ARRAY)
        return "copies an array";
    if (is_pageable(cu, copy.srcMemoryType, copy.srcHost, copy.srcDevice) ||
        is_pageable(cu, copy.dstMemoryType, copy.dstHost, copy.dstDevice))
        return "copies pageable memory of the host, which a device cannot reach";
    return NULL;
}

/* A graph on the way down: those of child nodes are looked at, too. */
struct walk {
    const gph_capture *capture;
    const gphi_vec *regions; /* of the outermost graph's nodes */
    gph_error *error;
    int depth;
};

static gph_status check_graph(struct walk *walk, CUgraph graph, uint32_t *count);

static gph_status refuse(const struct walk *walk, CUgraphNode node, size_t index,
                         const char *why)
{
    char what[160];
    const gph_recording *recording = walk->capture->recording;
    const gphi_segment segment = {.regions = *walk->regions};
    const char *region =
        walk->depth == 0 ? gphi_segment_region(recording, &segment, index) : NULL;
    gphi_node_describe(walk->capture->runtime, node, index, region, what, sizeof(what));
    gphi_fail(walk->error, GPH_E_UNSUPPORTED,
              "%s%s %s: the body of a conditional node holds kernels, copies, fills, "
              "child graphs of such and conditional nodes (R83)",
              walk->depth > 0 ? "in a child graph, " : "", what, why);
    if (walk->error && walk->depth == 0) {
        walk->error->has_node = 1;
        walk->error->node = (int64_t)index;
    }
    return GPH_E_UNSUPPORTED;
}

static gph_status check_node(struct walk *walk, CUgraphNode node, size_t index)
{
    const gphi_cuda_table *cu = &walk->capture->runtime->cu;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    CUgraph inner = NULL;
    uint32_t unused = 0;
    GPHI_TRY(gphi_cuda_check(walk->error, cu->cuGraphNodeGetType(node, &type),
                             "cuGraphNodeGetType", "looking at a body"));
    const char *why = refuse_type(type);
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
        why = refuse_copy(cu, node);
    if (why)
        return refuse(walk, node, index, why);
    if (type != CU_GRAPH_NODE_TYPE_GRAPH || walk->depth == GPH_GRAPH_DEPTH_MAX)
        return GPH_OK;
    GPHI_TRY(gphi_cuda_check(walk->error, cu->cuGraphChildGraphNodeGetGraph(node, &inner),
                             "cuGraphChildGraphNodeGetGraph", "looking at a body"));
    walk->depth++;
    const gph_status status = check_graph(walk, inner, &unused);
    walk->depth--;
    return status;
}

static gph_status check_graph(struct walk *walk, CUgraph graph, uint32_t *count)
{
    gphi_vec nodes;
    gphi_vec_init(&nodes, walk->capture->runtime->heap, sizeof(CUgraphNode));
    gph_status status =
        gphi_nodes_read(walk->capture->runtime, graph, &nodes, walk->error);
    for (size_t i = 0; i < nodes.count && status == GPH_OK; i++)
        status = check_node(walk, *(CUgraphNode *)gphi_vec_at(&nodes, i), i);
    *count = (uint32_t)nodes.count;
    gphi_vec_fini(&nodes);
    return status;
}

gph_status gphi_body_check(const gph_capture *capture, gphi_flow_body *body,
                           gph_error *error)
{
    struct walk walk = {.capture = capture, .regions = &body->regions, .error = error};
    return check_graph(&walk, body->graph, &body->count);
}

/* ---- branches in line ---- */

static gph_status check_kernel(const gph_capture *capture, CUgraphNode node, size_t index,
                               gph_error *error)
{
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    char what[160];
    GPHI_TRY(gphi_cuda_check(error, capture->runtime->cu.cuGraphNodeGetType(node, &type),
                             "cuGraphNodeGetType", "looking at a branch"));
    if (type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_EMPTY)
        return GPH_OK;
    gphi_node_describe(capture->runtime, node, index, NULL, what, sizeof(what));
    gphi_fail(
        error, GPH_E_UNSUPPORTED,
        "%s takes no flag, and would run in both cases: with condition.flags a branch "
        "holds kernels",
        what);
    if (error) {
        error->has_node = 1;
        error->node = (int64_t)index;
    }
    return GPH_E_UNSUPPORTED;
}

gph_status gphi_flagged_check(const gph_capture *capture, size_t first, size_t *count,
                              gph_error *error)
{
    gphi_capture_info info = {0};
    gphi_vec nodes;
    *count = first;
    GPHI_TRY(gphi_cuda_check(
        error, gphi_capture_info_read(&capture->runtime->cu, capture->stream, &info),
        "cuStreamGetCaptureInfo", "stream %p", (void *)capture->stream));
    if (!info.graph)
        return GPH_OK; /* it is invalid, and its end says why */
    gphi_vec_init(&nodes, capture->runtime->heap, sizeof(CUgraphNode));
    gph_status status = gphi_nodes_read(capture->runtime, info.graph, &nodes, error);
    for (size_t i = first; i < nodes.count && status == GPH_OK; i++)
        status = check_kernel(capture, *(CUgraphNode *)gphi_vec_at(&nodes, i), i, error);
    *count = nodes.count;
    gphi_vec_fini(&nodes);
    return status;
}
