// SPDX-License-Identifier: Apache-2.0
/* From a graph of the driver to a graph as data. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/vec.h"
#include "cuda/runtime.h"
#include "cuda/status.h"
#include "graph/convert.h"
#include "replay/query.h"
#include <gph/replay.h>

#include <stdio.h>
#include <string.h>

/* Name and arguments of a kernel, asked for once a graph: most graphs launch few kernels
 * many times. */
struct known {
    const char *name;   /* the driver's; NULL: it has none */
    size_t first, args; /* of functions.args */
};

struct functions {
    gphi_map index; /* from CUfunction or CUkernel to known */
    gphi_vec known; /* of struct known */
    gphi_vec args;  /* of gph_kernel_arg */
    gphi_vec bytes; /* scratch: arguments of the node being described */
    bool is_kern;   /* the handle of that node is a CUkernel */
};

/* One graph being described; child graphs have their own. */
struct survey {
    const gph_runtime *runtime;
    CUgraph graph;
    uint32_t depth;
    size_t count;
    CUgraphNode *nodes; /* `count` of them, in the driver's order */
    gphi_map index;     /* from handle to index */
    struct functions *functions;
    gph_graph *out;
    gphi_node_name_fn *name; /* NULL: nodes have none */
    const void *name_user;
    gphi_vec *kerns; /* as in the source; NULL in graphs within */
    gph_error *error;
};

static gph_status describe(struct survey *survey, gph_graph **out);

/* Whose nodes gphi_conditional_region() names. */
struct body {
    const gphi_conditional *of;
    uint32_t index;
};

static gph_status check_query(const struct survey *survey, CUresult result,
                              const char *call)
{
    if (result == CUDA_SUCCESS)
        return GPH_OK;
    return gphi_cuda_fail(survey->error, (gph_status)result, call, "describing graph %p",
                          (void *)survey->graph);
}

/* A query of the driver as a status, with its name. */
#define ASK(survey, name, arguments)                                                     \
    check_query(survey, (survey)->runtime->cu.name arguments, #name)

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
    if (params->func)
        return cu->cuFuncGetParamInfo(params->func, index, offset, bytes);
    return cu->cuKernelGetParamInfo(params->kern, index, offset, bytes);
}

static gph_status list_args(const struct survey *survey,
                            const CUDA_KERNEL_NODE_PARAMS *params, struct known *known)
{
    gphi_vec *args = &survey->functions->args;
    size_t offset, bytes;
    known->first = args->count;
    for (size_t i = 0;; i++) {
        const CUresult result =
            param_info(&survey->runtime->cu, params, i, &offset, &bytes);
        known->args = args->count - known->first;
        if (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_NOT_SUPPORTED)
            return GPH_OK; /* that was the last one, or the driver reports none */
        if (result != CUDA_SUCCESS)
            return check_query(survey, result, "cuFuncGetParamInfo");
        if (gphi_vec_push(args, &(gph_kernel_arg){(uint32_t)offset, (uint32_t)bytes}) !=
            GPH_OK)
            return fail_memory(survey);
    }
}

static gph_status find_known(const struct survey *survey,
                             const CUDA_KERNEL_NODE_PARAMS *params, uint64_t handle,
                             struct known *out)
{
    const gphi_cuda_table *cu = &survey->runtime->cu;
    struct functions *functions = survey->functions;
    const uint64_t key = handle << 1 | (params->func == NULL);
    const uint64_t *at = gphi_map_get(&functions->index, key);
    if (at) {
        *out = *(const struct known *)gphi_vec_at(&functions->known, (size_t)*at);
        return GPH_OK;
    }
    *out = (struct known){NULL, 0, 0};
    const CUresult named = params->func ? cu->cuFuncGetName(&out->name, params->func)
                                        : cu->cuKernelGetName(&out->name, params->kern);
    if (named != CUDA_SUCCESS)
        out->name = NULL;
    GPHI_TRY(list_args(survey, params, out));
    if (gphi_vec_push(&functions->known, out) != GPH_OK)
        return fail_memory(survey);
    if (gphi_map_set(&functions->index, key, functions->known.count - 1) != GPH_OK)
        return fail_memory(survey);
    return GPH_OK;
}

/* The launch may have passed one buffer instead of a pointer an argument. */
static void find_buffer(void *const *extra, const void **buffer, size_t *bytes)
{
    *buffer = NULL;
    *bytes = 0;
    for (; extra && extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *bytes = *(const size_t *)extra[1];
    }
}

static gph_status copy_args(const struct survey *survey,
                            const CUDA_KERNEL_NODE_PARAMS *params,
                            const gph_kernel_arg *args, size_t count)
{
    gphi_vec *buffer = &survey->functions->bytes;
    const void *whole;
    size_t whole_bytes;
    find_buffer(params->extra, &whole, &whole_bytes);
    size_t bytes = whole ? whole_bytes : 0;
    for (size_t i = 0; i < count; i++) {
        const size_t end = (size_t)args[i].offset + args[i].bytes;
        bytes = end > bytes ? end : bytes;
    }
    buffer->count = 0;
    if (bytes == 0)
        return GPH_OK;
    unsigned char *to = gphi_vec_add(buffer, bytes);
    if (!to)
        return fail_memory(survey);

    if (whole) {
        memcpy(to, whole, whole_bytes);
        return GPH_OK;
    }
    for (size_t i = 0; params->kernelParams && i < count; i++)
        memcpy(to + args[i].offset, params->kernelParams[i], args[i].bytes);
    return GPH_OK;
}

static gph_status add_node(const struct survey *survey, const gph_node *node)
{
    gph_node named = *node;
    const uint8_t is_kern = survey->functions->is_kern;
    survey->functions->is_kern = false;
    if (survey->kerns && gphi_vec_push(survey->kerns, &is_kern) != GPH_OK)
        return fail_memory(survey);
    if (survey->name)
        named.name = survey->name(survey->name_user, gph_graph_node_count(survey->out));
    return gph_graph_node_add(survey->out, &named, NULL, survey->error);
}

static gph_status add_kernel(const struct survey *survey, CUgraphNode handle)
{
    CUDA_KERNEL_NODE_PARAMS params = {0};
    GPHI_TRY(ASK(survey, cuGraphKernelNodeGetParams, (handle, &params)));
    gph_node node = {.kind = GPH_NODE_KERNEL};
    gph_kernel_params *kernel = &node.u.kernel;
    gphi_kernel_from_cuda(&params, kernel);
    struct known known;
    GPHI_TRY(find_known(survey, &params, kernel->handle, &known));
    const gph_kernel_arg *args =
        known.args > 0 ? gphi_vec_at(&survey->functions->args, known.first) : NULL;
    GPHI_TRY(copy_args(survey, &params, args, known.args));
    kernel->function = known.name;
    kernel->arg_count = (uint32_t)known.args;
    kernel->args = args;
    kernel->buffer = survey->functions->bytes.items;
    kernel->buffer_bytes = survey->functions->bytes.count;
    GPHI_TRY(check_query(
        survey, gphi_kernel_attributes_read(&survey->runtime->cu, handle, kernel),
        "cuGraphKernelNodeGetAttribute"));
    survey->functions->is_kern = !params.func;
    return add_node(survey, &node);
}

static gph_status add_memcpy(const struct survey *survey, CUgraphNode handle)
{
    CUDA_MEMCPY3D copy = {0};
    GPHI_TRY(ASK(survey, cuGraphMemcpyNodeGetParams, (handle, &copy)));
    const gph_node node = {.kind = GPH_NODE_MEMCPY,
                           .u.memcpy = gphi_memcpy_from_cuda(&copy)};
    return add_node(survey, &node);
}

static gph_status add_memset(const struct survey *survey, CUgraphNode handle)
{
    CUDA_MEMSET_NODE_PARAMS fill = {0};
    GPHI_TRY(ASK(survey, cuGraphMemsetNodeGetParams, (handle, &fill)));
    const gph_node node = {.kind = GPH_NODE_MEMSET,
                           .u.memset = gphi_memset_from_cuda(&fill)};
    return add_node(survey, &node);
}

static gph_status add_child(const struct survey *survey, CUgraphNode handle)
{
    CUgraph inner = NULL;
    GPHI_TRY(ASK(survey, cuGraphChildGraphNodeGetGraph, (handle, &inner)));
    gph_node node = {.kind = GPH_NODE_CHILD};
    struct survey within = {.runtime = survey->runtime,
                            .graph = inner,
                            .depth = survey->depth + 1,
                            .functions = survey->functions,
                            .error = survey->error};
    GPHI_TRY(describe(&within, &node.u.child));
    const gph_status status = add_node(survey, &node);
    if (status != GPH_OK)
        gph_graph_destroy(node.u.child);
    return status;
}

static const char *name_in_body(const void *user, size_t index)
{
    const struct body *body = user;
    return gphi_conditional_region(body->of, body->index, index);
}

/* "then" and "else", "body", "case 2". */
static void say_body(const gphi_conditional *of, uint32_t index, char out[24])
{
    if (of->form == GPH_FORM_SWITCH)
        snprintf(out, 24, "case %u", (unsigned)index);
    else
        snprintf(out, 24, "%s",
                 of->form == GPH_FORM_WHILE ? "body"
                 : index == 0               ? "then"
                                            : "else");
}

static gph_status add_body(const struct survey *survey, const gphi_conditional *of,
                           uint32_t index, gph_graph *to)
{
    const struct body body = {of, index};
    char name[24];
    gph_node node = {.kind = GPH_NODE_CHILD};
    struct survey within = {.runtime = survey->runtime,
                            .graph = of->graphs[index],
                            .depth = survey->depth + 2,
                            .functions = survey->functions,
                            .name = name_in_body,
                            .name_user = &body,
                            .error = survey->error};
    GPHI_TRY(describe(&within, &node.u.child));
    say_body(of, index, name);
    gph_status status = gph_graph_name_set(node.u.child, name, survey->error);
    GPHI_THEN(status, gph_graph_node_add(to, &node, NULL, survey->error));
    if (status != GPH_OK)
        gph_graph_destroy(node.u.child);
    return status;
}

/* A driver says nothing of it: what libgph did not make stays a node of its kind. */
static gph_status add_conditional(const struct survey *survey, CUgraphNode handle)
{
    gphi_conditional of;
    gph_node node = {.kind = GPH_NODE_CONDITIONAL};
    if (!gphi_conditional_find(handle, &of))
        return add_node(survey, &node);
    gph_graph *bodies = NULL;
    GPHI_TRY(gph_graph_create(&survey->runtime->heap, &bodies, survey->error));
    gph_status status = gph_graph_name_set(bodies, "bodies", survey->error);
    for (uint32_t i = 0; i < of.count && status == GPH_OK; i++)
        status = add_body(survey, &of, i, bodies);
    node.u.conditional = (gph_conditional_params){.bodies = bodies, .form = of.form};
    GPHI_THEN(status, add_node(survey, &node));
    if (status != GPH_OK)
        gph_graph_destroy(bodies);
    return status;
}

static gph_status add_batch(const struct survey *survey, CUgraphNode handle)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {0};
    gphi_vec ops;
    GPHI_TRY(ASK(survey, cuGraphBatchMemOpNodeGetParams, (handle, &params)));
    gphi_vec_init(&ops, survey->runtime->heap, sizeof(gph_mem_op));
    gph_mem_op *to = params.count > 0 ? gphi_vec_add(&ops, params.count) : NULL;
    gph_status status = GPH_OK;
    if (params.count > 0 && !to)
        status = fail_memory(survey);
    for (unsigned int i = 0; to && i < params.count; i++)
        to[i] = gphi_mem_op_from_cuda(&params.paramArray[i]);
    if (status == GPH_OK) {
        const gph_node node = {.kind = GPH_NODE_BATCH_MEM_OP,
                               .u.batch = {.context = (uintptr_t)params.ctx,
                                           .count = params.count,
                                           .ops = ops.items}};
        status = add_node(survey, &node);
    }
    gphi_vec_fini(&ops);
    return status;
}

/* Nodes that are an address or a handle. */
static gph_status add_small(const struct survey *survey, CUgraphNode handle,
                            CUgraphNodeType type)
{
    gph_node node = {.kind = (gph_node_kind)type};
    if (type == CU_GRAPH_NODE_TYPE_HOST) {
        CUDA_HOST_NODE_PARAMS host = {0};
        GPHI_TRY(ASK(survey, cuGraphHostNodeGetParams, (handle, &host)));
        node.u.host = gphi_host_from_cuda(&host);
    } else if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
        CUevent event = NULL;
        GPHI_TRY(ASK(survey, cuGraphEventRecordNodeGetEvent, (handle, &event)));
        node.u.event.event = (uintptr_t)event;
    } else if (type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) {
        CUevent event = NULL;
        GPHI_TRY(ASK(survey, cuGraphEventWaitNodeGetEvent, (handle, &event)));
        node.u.event.event = (uintptr_t)event;
    } else if (type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL) {
        CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signal = {0};
        GPHI_TRY(
            ASK(survey, cuGraphExternalSemaphoresSignalNodeGetParams, (handle, &signal)));
        node.u.semaphore.count = signal.numExtSems;
    } else if (type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT) {
        CUDA_EXT_SEM_WAIT_NODE_PARAMS wait = {0};
        GPHI_TRY(
            ASK(survey, cuGraphExternalSemaphoresWaitNodeGetParams, (handle, &wait)));
        node.u.semaphore.count = wait.numExtSems;
    } else if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
        CUDA_MEM_ALLOC_NODE_PARAMS alloc = {0};
        GPHI_TRY(ASK(survey, cuGraphMemAllocNodeGetParams, (handle, &alloc)));
        node.u.memory.address = alloc.dptr;
        node.u.memory.bytes = alloc.bytesize;
    } else if (type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
        CUdeviceptr address = 0;
        GPHI_TRY(ASK(survey, cuGraphMemFreeNodeGetParams, (handle, &address)));
        node.u.memory.address = address;
    }
    return add_node(survey, &node);
}

static gph_status add_by_type(const struct survey *survey, CUgraphNode handle)
{
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    GPHI_TRY(ASK(survey, cuGraphNodeGetType, (handle, &type)));
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return add_kernel(survey, handle);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return add_memcpy(survey, handle);
    case CU_GRAPH_NODE_TYPE_MEMSET: return add_memset(survey, handle);
    case CU_GRAPH_NODE_TYPE_GRAPH: return add_child(survey, handle);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return add_batch(survey, handle);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return add_conditional(survey, handle);
    default: return add_small(survey, handle, type);
    }
}

static gph_status add_nodes(struct survey *survey)
{
    GPHI_TRY(ASK(survey, cuGraphGetNodes, (survey->graph, NULL, &survey->count)));
    if (survey->count == 0)
        return GPH_OK;
    survey->nodes =
        gphi_heap_array(survey->runtime->heap, survey->count, sizeof(*survey->nodes));
    if (!survey->nodes)
        return fail_memory(survey);

    size_t filled = survey->count;
    GPHI_TRY(ASK(survey, cuGraphGetNodes, (survey->graph, survey->nodes, &filled)));
    for (size_t i = 0; i < survey->count; i++) {
        GPHI_TRY(add_by_type(survey, survey->nodes[i]));
        if (gphi_map_set(&survey->index, (uintptr_t)survey->nodes[i], i) != GPH_OK)
            return fail_memory(survey);
    }
    return GPH_OK;
}

static gph_status fail_changed(const struct survey *survey)
{
    return gphi_fail(survey->error, GPH_E_STATE,
                     "graph %p changed while it was described", (void *)survey->graph);
}

/* The driver's three parallel arrays, and what orders them. cuGraphGetEdges lists edges
 * by their start; updates pair a node's dependencies in the order in which these were
 * added (R67), which cuGraphNodeGetDependencies reports. So a node with several has its
 * edges in that order, on the places that they have in the list. */
struct edge_list {
    size_t count;
    CUgraphNode *ends;     /* `count` froms, `count` tos, `count` dependencies by node */
    CUgraphEdgeData *data; /* `count` of the list, `count` of the dependencies */
    uint32_t *words;       /* see below */
    size_t word_count;
    uint32_t *to;    /* by edge: index of its end */
    uint32_t *first; /* by node: where its dependencies begin; one more */
    uint32_t *used;  /* by node: dependencies taken */
};

static gph_status edge_list_init(const struct survey *survey, size_t count,
                                 struct edge_list *list)
{
    const gph_allocator heap = survey->runtime->heap;
    list->count = count;
    list->word_count = count + 2 * survey->count + 1;
    list->ends = gphi_heap_array(heap, count, 3 * sizeof(*list->ends));
    list->data = gphi_heap_array(heap, count, 2 * sizeof(*list->data));
    list->words = gphi_heap_array(heap, list->word_count, sizeof(*list->words));
    if (!list->ends || !list->data || !list->words)
        return fail_memory(survey);
    list->to = list->words;
    list->first = list->to + count;
    list->used = list->first + survey->count + 1;
    return GPH_OK;
}

static void edge_list_fini(const struct survey *survey, struct edge_list *list)
{
    const gph_allocator heap = survey->runtime->heap;
    gphi_heap_free(heap, list->words, list->word_count * sizeof(*list->words));
    gphi_heap_free(heap, list->data, list->count * 2 * sizeof(*list->data));
    gphi_heap_free(heap, list->ends, list->count * 3 * sizeof(*list->ends));
}

static gph_status place_ends(const struct survey *survey, const struct edge_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const uint64_t *to =
            gphi_map_get(&survey->index, (uintptr_t)list->ends[list->count + i]);
        if (!to)
            return fail_changed(survey);
        list->to[i] = (uint32_t)*to;
        list->first[*to + 1]++;
    }
    for (size_t i = 0; i < survey->count; i++)
        list->first[i + 1] += list->first[i];
    return GPH_OK;
}

static uint32_t degree(const struct edge_list *list, size_t node)
{
    return list->first[node + 1] - list->first[node];
}

static gph_status read_dependencies(const struct survey *survey,
                                    const struct edge_list *list)
{
    for (size_t i = 0; i < survey->count; i++) {
        size_t filled = degree(list, i);
        if (filled < 2)
            continue;
        GPHI_TRY(ASK(survey, cuGraphNodeGetDependencies,
                     (survey->nodes[i], list->ends + 2 * list->count + list->first[i],
                      list->data + list->count + list->first[i], &filled)));
        if (filled != degree(list, i))
            return fail_changed(survey);
    }
    return GPH_OK;
}

static gph_status add_edge(const struct survey *survey, CUgraphNode from, uint32_t to,
                           const CUgraphEdgeData *data)
{
    const uint64_t *a = gphi_map_get(&survey->index, (uintptr_t)from);
    if (!a)
        return fail_changed(survey);
    const gph_edge edge = {.from = (uint32_t)*a,
                           .to = to,
                           .from_port = data->from_port,
                           .to_port = data->to_port,
                           .type = data->type};
    return gph_graph_edge_add(survey->out, &edge, survey->error);
}

static gph_status read_edges(const struct survey *survey, const struct edge_list *list)
{
    size_t filled = list->count;
    GPHI_TRY(
        ASK(survey, cuGraphGetEdges,
            (survey->graph, list->ends, list->ends + list->count, list->data, &filled)));
    if (filled != list->count)
        return fail_changed(survey);
    GPHI_TRY(place_ends(survey, list));
    const bool in_order = gphi_cuda_has(&survey->runtime->cu, cuGraphNodeGetDependencies);
    if (in_order)
        GPHI_TRY(read_dependencies(survey, list));
    for (size_t i = 0; i < list->count; i++) {
        const uint32_t to = list->to[i];
        size_t at = i;
        CUgraphNode from = list->ends[i];
        if (in_order && degree(list, to) > 1) {
            const uint32_t place = list->first[to] + list->used[to]++;
            at = list->count + place;
            from = list->ends[2 * list->count + place];
        }
        GPHI_TRY(add_edge(survey, from, to, &list->data[at]));
    }
    return GPH_OK;
}

static gph_status add_edges(const struct survey *survey)
{
    size_t count = 0;
    GPHI_TRY(ASK(survey, cuGraphGetEdges, (survey->graph, NULL, NULL, NULL, &count)));
    if (count == 0)
        return GPH_OK;
    struct edge_list list = {0};
    gph_status status = edge_list_init(survey, count, &list);
    GPHI_THEN(status, read_edges(survey, &list));
    edge_list_fini(survey, &list);
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
    GPHI_THEN(status, add_edges(survey));
    gphi_map_fini(&survey->index);
    gphi_heap_free(runtime->heap, survey->nodes, survey->count * sizeof(*survey->nodes));
    if (status != GPH_OK) {
        gph_graph_destroy(survey->out);
        return status;
    }
    *out = survey->out;
    return GPH_OK;
}

gph_status gphi_graph_describe(const gphi_graph_source *source, gph_graph **out,
                               gph_error *error)
{
    const gph_runtime *runtime = source->runtime;
    struct functions functions;
    struct survey survey = {.runtime = runtime,
                            .graph = source->graph,
                            .depth = 1,
                            .functions = &functions,
                            .name = source->name,
                            .name_user = source->user,
                            .kerns = source->kerns,
                            .error = error};
    functions.is_kern = false;
    gphi_map_init(&functions.index, runtime->heap);
    gphi_vec_init(&functions.known, runtime->heap, sizeof(struct known));
    gphi_vec_init(&functions.args, runtime->heap, sizeof(gph_kernel_arg));
    gphi_vec_init(&functions.bytes, runtime->heap, 1);
    const gph_status status = describe(&survey, out);
    gphi_vec_fini(&functions.bytes);
    gphi_vec_fini(&functions.args);
    gphi_vec_fini(&functions.known);
    gphi_map_fini(&functions.index);
    return status;
}

gph_status gph_graph_describe(gph_runtime *runtime, CUgraph graph, gph_graph **out,
                              gph_error *error)
{
    GPHI_TRY(gphi_need(error, runtime, graph, out));
    const gphi_graph_source source = {.runtime = runtime, .graph = graph};
    return gphi_graph_describe(&source, out, error);
}
