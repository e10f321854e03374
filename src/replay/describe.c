// SPDX-License-Identifier: Apache-2.0
/* From a graph of the driver to a graph as data. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/vec.h"
#include "cuda/runtime.h"
#include "cuda/status.h"
#include "replay/capture.h"

#include <string.h>

/* One graph being described; child graphs have their own. */
struct survey {
    const gph_runtime *runtime;
    CUgraph graph;
    uint32_t depth;
    size_t count;
    CUgraphNode *nodes; /* `count` of them, in the driver's order */
    gphi_map index;     /* from handle to index */
    gph_graph *out;
    gphi_node_name_fn *name; /* NULL: nodes have none */
    const void *name_user;
    gph_error *error;
};

static gph_status describe(struct survey *survey, gph_graph **out);

static gph_status fail_query(const struct survey *survey, CUresult result,
                             const char *call)
{
    return gphi_cuda_fail(survey->error, (gph_status)result, call, "describing graph %p",
                          (void *)survey->graph);
}

/* A driver query: passes its failure on with its name. */
#define QUERY(survey, name, arguments)                                                   \
    do {                                                                                 \
        const CUresult query_ = (survey)->runtime->cu.name arguments;                    \
        if (query_ != CUDA_SUCCESS)                                                      \
            return fail_query(survey, query_, #name);                                    \
    } while (0)

static gph_status fail_memory(const struct survey *survey)
{
    return gphi_fail(survey->error, GPH_E_NO_MEMORY, "describing %zu nodes",
                     survey->count);
}

/* Where the arguments of a kernel lie. */
static CUresult param_info(const gphi_cuda_table *cu,
                           const CUDA_KERNEL_NODE_PARAMS *params, size_t index,
                           size_t *offset, size_t *bytes)
{
    if (params->func != NULL)
        return cu->cuFuncGetParamInfo(params->func, index, offset, bytes);
    return cu->cuKernelGetParamInfo(params->kern, index, offset, bytes);
}

static gph_status list_args(const struct survey *survey,
                            const CUDA_KERNEL_NODE_PARAMS *params, gphi_vec *args)
{
    size_t offset, bytes;
    for (size_t i = 0;
         param_info(&survey->runtime->cu, params, i, &offset, &bytes) == CUDA_SUCCESS;
         i++) {
        gph_kernel_arg *arg = gphi_vec_add(args, 1);
        if (arg == NULL)
            return fail_memory(survey);
        *arg = (gph_kernel_arg){(uint32_t)offset, (uint32_t)bytes};
    }
    return GPH_OK;
}

/* The launch may have passed one buffer instead of a pointer an argument. */
static void find_buffer(void *const *extra, const void **buffer, size_t *bytes)
{
    *buffer = NULL;
    *bytes = 0;
    for (; extra != NULL && extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *bytes = *(const size_t *)extra[1];
    }
}

static gph_status copy_args(const struct survey *survey,
                            const CUDA_KERNEL_NODE_PARAMS *params, const gphi_vec *args,
                            gphi_vec *buffer)
{
    const void *whole;
    size_t whole_bytes;
    find_buffer(params->extra, &whole, &whole_bytes);
    size_t bytes = whole != NULL ? whole_bytes : 0;
    for (size_t i = 0; i < args->count; i++) {
        const gph_kernel_arg *arg = gphi_vec_at(args, i);
        const size_t end = (size_t)arg->offset + arg->bytes;
        bytes = end > bytes ? end : bytes;
    }
    if (bytes == 0)
        return GPH_OK;
    unsigned char *to = gphi_vec_add(buffer, bytes);
    if (to == NULL)
        return fail_memory(survey);

    if (whole != NULL) {
        memcpy(to, whole, whole_bytes);
        return GPH_OK;
    }
    for (size_t i = 0; params->kernelParams != NULL && i < args->count; i++) {
        const gph_kernel_arg *arg = gphi_vec_at(args, i);
        memcpy(to + arg->offset, params->kernelParams[i], arg->bytes);
    }
    return GPH_OK;
}

static gph_status add_node(const struct survey *survey, const gph_node *node)
{
    gph_node named = *node;
    if (survey->name != NULL)
        named.name = survey->name(survey->name_user, gph_graph_node_count(survey->out));
    return gph_graph_node_add(survey->out, &named, NULL, survey->error);
}

static gph_status add_kernel(const struct survey *survey, CUgraphNode handle)
{
    const gphi_cuda_table *cu = &survey->runtime->cu;
    CUDA_KERNEL_NODE_PARAMS params = {0};
    QUERY(survey, cuGraphKernelNodeGetParams, (handle, &params));
    const char *name = NULL;
    const CUresult named = params.func != NULL ? cu->cuFuncGetName(&name, params.func)
                                               : cu->cuKernelGetName(&name, params.kern);

    gphi_vec args, buffer;
    gphi_vec_init(&args, survey->runtime->heap, sizeof(gph_kernel_arg));
    gphi_vec_init(&buffer, survey->runtime->heap, 1);
    gph_status status = list_args(survey, &params, &args);
    if (status == GPH_OK)
        status = copy_args(survey, &params, &args, &buffer);
    if (status == GPH_OK) {
        const uintptr_t function =
            params.func != NULL ? (uintptr_t)params.func : (uintptr_t)params.kern;
        const gph_node node = {
            .kind = GPH_NODE_KERNEL,
            .u.kernel = {.function = named == CUDA_SUCCESS ? name : NULL,
                         .handle = function,
                         .grid = {params.gridDimX, params.gridDimY, params.gridDimZ},
                         .block = {params.blockDimX, params.blockDimY, params.blockDimZ},
                         .shared_bytes = params.sharedMemBytes,
                         .arg_count = (uint32_t)args.count,
                         .args = args.items,
                         .buffer = buffer.items,
                         .buffer_bytes = buffer.count}};
        status = add_node(survey, &node);
    }
    gphi_vec_fini(&buffer);
    gphi_vec_fini(&args);
    return status;
}

static uint64_t side_address(CUmemorytype type, const void *host, CUdeviceptr device,
                             CUarray array)
{
    switch (type) {
    case CU_MEMORYTYPE_HOST: return (uintptr_t)host;
    case CU_MEMORYTYPE_ARRAY: return (uintptr_t)array;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED: break;
    }
    return device;
}

static gph_status add_memcpy(const struct survey *survey, CUgraphNode handle)
{
    CUDA_MEMCPY3D copy = {0};
    QUERY(survey, cuGraphMemcpyNodeGetParams, (handle, &copy));
    const gph_node node = {
        .kind = GPH_NODE_MEMCPY,
        .u.memcpy = {.src = {.memory = copy.srcMemoryType,
                             .lod = (uint32_t)copy.srcLOD,
                             .address = side_address(copy.srcMemoryType, copy.srcHost,
                                                     copy.srcDevice, copy.srcArray),
                             .x_bytes = copy.srcXInBytes,
                             .y = copy.srcY,
                             .z = copy.srcZ,
                             .pitch_bytes = copy.srcPitch,
                             .height = copy.srcHeight},
                     .dst = {.memory = copy.dstMemoryType,
                             .lod = (uint32_t)copy.dstLOD,
                             .address = side_address(copy.dstMemoryType, copy.dstHost,
                                                     copy.dstDevice, copy.dstArray),
                             .x_bytes = copy.dstXInBytes,
                             .y = copy.dstY,
                             .z = copy.dstZ,
                             .pitch_bytes = copy.dstPitch,
                             .height = copy.dstHeight},
                     .width_bytes = copy.WidthInBytes,
                     .height = copy.Height,
                     .depth = copy.Depth}};
    return add_node(survey, &node);
}

static gph_status add_memset(const struct survey *survey, CUgraphNode handle)
{
    CUDA_MEMSET_NODE_PARAMS fill = {0};
    QUERY(survey, cuGraphMemsetNodeGetParams, (handle, &fill));
    const gph_node node = {.kind = GPH_NODE_MEMSET,
                           .u.memset = {.address = fill.dst,
                                        .pitch_bytes = fill.pitch,
                                        .width = fill.width,
                                        .height = fill.height,
                                        .value = fill.value,
                                        .element_bytes = fill.elementSize}};
    return add_node(survey, &node);
}

static gph_status add_child(const struct survey *survey, CUgraphNode handle)
{
    CUgraph inner = NULL;
    QUERY(survey, cuGraphChildGraphNodeGetGraph, (handle, &inner));
    gph_node node = {.kind = GPH_NODE_CHILD};
    struct survey within = {.runtime = survey->runtime,
                            .graph = inner,
                            .depth = survey->depth + 1,
                            .error = survey->error};
    GPHI_TRY(describe(&within, &node.u.child));
    const gph_status status = add_node(survey, &node);
    if (status != GPH_OK)
        gph_graph_destroy(node.u.child);
    return status;
}

/* Nodes that are an address or a handle. */
static gph_status add_small(const struct survey *survey, CUgraphNode handle,
                            CUgraphNodeType type)
{
    gph_node node = {.kind = (gph_node_kind)type};
    if (type == CU_GRAPH_NODE_TYPE_HOST) {
        CUDA_HOST_NODE_PARAMS host = {0};
        QUERY(survey, cuGraphHostNodeGetParams, (handle, &host));
        node.u.host.function = (uintptr_t)host.fn;
        node.u.host.user = (uintptr_t)host.userData;
    } else if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
        CUevent event = NULL;
        QUERY(survey, cuGraphEventRecordNodeGetEvent, (handle, &event));
        node.u.event.event = (uintptr_t)event;
    } else if (type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) {
        CUevent event = NULL;
        QUERY(survey, cuGraphEventWaitNodeGetEvent, (handle, &event));
        node.u.event.event = (uintptr_t)event;
    } else if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
        CUDA_MEM_ALLOC_NODE_PARAMS alloc = {0};
        QUERY(survey, cuGraphMemAllocNodeGetParams, (handle, &alloc));
        node.u.memory.address = alloc.dptr;
        node.u.memory.bytes = alloc.bytesize;
    } else if (type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
        CUdeviceptr address = 0;
        QUERY(survey, cuGraphMemFreeNodeGetParams, (handle, &address));
        node.u.memory.address = address;
    }
    return add_node(survey, &node);
}

static gph_status add_by_type(const struct survey *survey, CUgraphNode handle)
{
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    QUERY(survey, cuGraphNodeGetType, (handle, &type));
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return add_kernel(survey, handle);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return add_memcpy(survey, handle);
    case CU_GRAPH_NODE_TYPE_MEMSET: return add_memset(survey, handle);
    case CU_GRAPH_NODE_TYPE_GRAPH: return add_child(survey, handle);
    default: return add_small(survey, handle, type);
    }
}

static gph_status add_nodes(struct survey *survey)
{
    QUERY(survey, cuGraphGetNodes, (survey->graph, NULL, &survey->count));
    if (survey->count == 0)
        return GPH_OK;
    survey->nodes =
        gphi_heap_array(survey->runtime->heap, survey->count, sizeof(*survey->nodes));
    if (survey->nodes == NULL)
        return fail_memory(survey);

    size_t filled = survey->count;
    QUERY(survey, cuGraphGetNodes, (survey->graph, survey->nodes, &filled));
    for (size_t i = 0; i < survey->count; i++) {
        GPHI_TRY(add_by_type(survey, survey->nodes[i]));
        if (gphi_map_set(&survey->index, (uintptr_t)survey->nodes[i], i) != GPH_OK)
            return fail_memory(survey);
    }
    return GPH_OK;
}

static gph_status add_edge(const struct survey *survey, CUgraphNode from, CUgraphNode to,
                           const CUgraphEdgeData *data)
{
    const uint64_t *a = gphi_map_get(&survey->index, (uintptr_t)from);
    const uint64_t *b = gphi_map_get(&survey->index, (uintptr_t)to);
    if (a == NULL || b == NULL)
        return gphi_fail(survey->error, GPH_E_STATE,
                         "graph %p changed while it was described",
                         (void *)survey->graph);
    const gph_edge edge = {.from = (uint32_t)*a,
                           .to = (uint32_t)*b,
                           .from_port = data->from_port,
                           .to_port = data->to_port,
                           .type = data->type};
    return gph_graph_edge_add(survey->out, &edge, survey->error);
}

/* The driver's three parallel arrays, in one allocation each. */
struct edge_list {
    CUgraphNode *ends; /* `count` froms, then `count` tos */
    CUgraphEdgeData *data;
};

static gph_status read_edges(const struct survey *survey, size_t count,
                             const struct edge_list *list)
{
    size_t filled = count;
    QUERY(survey, cuGraphGetEdges,
          (survey->graph, list->ends, list->ends + count, list->data, &filled));
    for (size_t i = 0; i < count && i < filled; i++)
        GPHI_TRY(add_edge(survey, list->ends[i], list->ends[count + i], &list->data[i]));
    return GPH_OK;
}

static gph_status add_edges(const struct survey *survey)
{
    size_t count = 0;
    QUERY(survey, cuGraphGetEdges, (survey->graph, NULL, NULL, NULL, &count));
    if (count == 0)
        return GPH_OK;
    const gph_allocator heap = survey->runtime->heap;
    const struct edge_list list = {gphi_heap_array(heap, count, 2 * sizeof(*list.ends)),
                                   gphi_heap_array(heap, count, sizeof(*list.data))};
    gph_status status = GPH_E_NO_MEMORY;
    if (list.ends == NULL || list.data == NULL)
        status = fail_memory(survey);
    else
        status = read_edges(survey, count, &list);
    gphi_heap_free(heap, list.data, count * sizeof(*list.data));
    gphi_heap_free(heap, list.ends, count * 2 * sizeof(*list.ends));
    return status;
}

static gph_status describe(struct survey *survey, gph_graph **out)
{
    const gph_runtime *runtime = survey->runtime;
    if (survey->depth > GPH_GRAPH_DEPTH_MAX)
        return gphi_fail(survey->error, GPH_E_INVALID, "child graphs nest deeper than %d",
                         GPH_GRAPH_DEPTH_MAX);
    GPHI_TRY(gph_graph_create(&runtime->heap, &survey->out, survey->error));
    gphi_map_init(&survey->index, runtime->heap);

    gph_status status = add_nodes(survey);
    if (status == GPH_OK)
        status = add_edges(survey);
    gphi_map_fini(&survey->index);
    gphi_heap_free(runtime->heap, survey->nodes, survey->count * sizeof(*survey->nodes));
    if (status != GPH_OK) {
        gph_graph_destroy(survey->out);
        return status;
    }
    *out = survey->out;
    return GPH_OK;
}

gph_status gphi_graph_describe(const gph_runtime *runtime, CUgraph graph,
                               gphi_node_name_fn *name, const void *user, gph_graph **out,
                               gph_error *error)
{
    struct survey survey = {.runtime = runtime,
                            .graph = graph,
                            .depth = 1,
                            .name = name,
                            .name_user = user,
                            .error = error};
    return describe(&survey, out);
}

gph_status gph_graph_describe(gph_runtime *runtime, CUgraph graph, gph_graph **out,
                              gph_error *error)
{
    if (runtime == NULL || graph == NULL || out == NULL)
        return gphi_fail(error, GPH_E_INVALID, "runtime, graph or out is NULL");
    return gphi_graph_describe(runtime, graph, NULL, NULL, out, error);
}
