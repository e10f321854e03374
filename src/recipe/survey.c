// SPDX-License-Identifier: Apache-2.0
/* From a graph of the driver to the arrays of a recipe. What a file cannot name, or what
 * would mean something else in another process, is refused here.
 *
 * Attributes of a kernel node are kept where they differ from those of a new node of the
 * same function, which is added to a scratch graph to ask: drivers have defaults that
 * depend on function and device, and setting all of them would turn defaults into
 * demands. What a driver does not know (CUDA_ERROR_INVALID_VALUE, _NOT_SUPPORTED) does
 * not count.
 *
 * Functions are met many times in a graph, so what is known of each is looked up by
 * handle (`index`, `known`); a refused one is noted as well, with its reason. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/map.h"
#include "cuda/status.h"
#include "device/setters.h"
#include "recipe/parts.h"

#include <stdlib.h>
#include <string.h>

/* Attributes of a launch that are kept if they differ from those of a new node. */
static const struct {
    CUlaunchAttributeID id;
    const char *refused; /* NULL: kept */
} attributes[] = {
    {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, "an access policy window"},
    {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, NULL},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, NULL},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, NULL},
    {CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, NULL},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, NULL},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, NULL},
    {CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, "updates from the device"},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, NULL},
};
enum { ATTRIBUTES = sizeof(attributes) / sizeof(*attributes) };

/* Kernels that talk to other processes by addresses and counters of this one, whoever
 * names their module. */
static const char *const communicators[] = {"ncclDevKernel", "ncclKernel", "nvshmem",
                                            "cross_device_reduce"};

/* A function of the driver that occurs in the graph. */
struct known {
    uint32_t kernel; /* GPHI_BUNDLE_NONE: refused, see `why` */
    uint32_t why;    /* text */
    bool has[ATTRIBUTES];
    CUlaunchAttributeValue plain[ATTRIBUTES]; /* of a new node */
};

struct reading {
    const gphi_survey *survey;
    const gphi_cuda_table *cu;
    struct gphi_bundle_graph *out;
    const gph_graph *graph; /* the part at hand as data */
    gphi_vec nodes;         /* CUgraphNode, of all parts that were read */
    uint32_t first;         /* node of the part in all */
    gphi_vec parts;         /* gphi_part */
    CUgraph scratch;        /* new nodes, for their attributes */
    gphi_map index;         /* from CUfunction to `known` */
    gphi_vec known;
};

static gph_status fail_memory(const gphi_survey *survey)
{
    return gphi_fail(survey->error, GPH_E_NO_MEMORY, "recording a graph");
}

static const gph_node *node_at(const struct reading *reading, uint32_t index)
{
    return gph_graph_node(reading->graph, index - reading->first);
}

static CUgraphNode driver_node(const struct reading *reading, uint32_t index)
{
    return *(CUgraphNode *)gphi_vec_at(&reading->nodes, index);
}

static gph_status check_call(const gphi_survey *survey, CUresult result, const char *call)
{
    return gphi_cuda_check(survey->error, result, call, "recording a graph");
}

/* The function that a node launches, which may be a kernel of a library. */
static gph_status read_function(const struct reading *reading, CUgraphNode node,
                                CUDA_KERNEL_NODE_PARAMS *params, CUfunction *out)
{
    *params = (CUDA_KERNEL_NODE_PARAMS){0};
    GPHI_TRY(check_call(reading->survey,
                        reading->cu->cuGraphKernelNodeGetParams(node, params),
                        "cuGraphKernelNodeGetParams"));
    *out = params->func;
    if (params->func)
        return GPH_OK;
    return check_call(reading->survey,
                      reading->cu->cuKernelGetFunction(out, params->kern),
                      "cuKernelGetFunction");
}

static const char *communicator(const char *name)
{
    for (size_t i = 0; i < sizeof(communicators) / sizeof(*communicators); i++)
        if (strncmp(name, communicators[i], strlen(communicators[i])) == 0)
            return communicators[i];
    return NULL;
}

/* libgph's own kernels: those that set conditions. */
static bool identify_own(const gphi_survey *survey, CUfunction function,
                         gph_kernel_id *out)
{
    const gphi_cuda_table *cu = &survey->runtime->cu;
    CUmodule module = NULL;
    if (cu->cuFuncGetModule(&module, function) != CUDA_SUCCESS ||
        gphi_kernels_text(survey->runtime, module) != &gphi_setter_text ||
        cu->cuFuncGetName(&out->name, function) != CUDA_SUCCESS)
        return false;
    gphi_sha256_text(gphi_setter_text.ptx, out->image);
    return true;
}

/* Asks libgph's modules, then the caller. */
static gph_status identify(const gphi_survey *survey, CUfunction function,
                           gph_kernel_id *out, gph_error *why)
{
    const gph_status status = gph_kernel_identify(survey->runtime, function, out, why);
    const gph_resolver *resolver = survey->resolver;
    if (status == GPH_E_UNSUPPORTED && identify_own(survey, function, out))
        return GPH_OK;
    if (status != GPH_E_UNSUPPORTED || !resolver || !resolver->identify)
        return status;
    gph_kernel_id id = {0};
    if (resolver->identify(resolver->user, function, &id, NULL) != GPH_OK)
        return GPH_E_UNSUPPORTED; /* `why` says so already */
    if (!gphi_bundle_is_name(id.name)) {
        return gphi_fail(why, GPH_E_UNSUPPORTED,
                         "the resolver's name of kernel %p is empty or not printable",
                         (void *)function);
    }
    *out = id;
    return GPH_OK;
}

/* Kernels of a bundle are few (a model has some dozens), so they are searched in a
 * row; functions of a graph are many, and have a map. */
static uint32_t find_kernel(const gphi_bundle *bundle, const gph_kernel_id *id)
{
    for (size_t i = 0; i < bundle->kernels.count; i++) {
        const struct gphi_bundle_kernel *kernel =
            GPHI_BUNDLE_AT(&bundle->kernels, kernel, i);
        if (memcmp(kernel->image, id->image, sizeof(id->image)) == 0 &&
            strcmp(gphi_bundle_text(bundle, kernel->name), id->name) == 0)
            return (uint32_t)i;
    }
    return GPHI_BUNDLE_NONE;
}

/* Bytes of the arguments: as far as they are declared, or as they were given. */
static size_t argument_bytes(const gph_kernel_params *params)
{
    size_t end = params->arg_count == 0 ? params->buffer_bytes : 0;
    for (uint32_t i = 0; i < params->arg_count; i++) {
        const size_t here = (size_t)params->args[i].offset + params->args[i].bytes;
        end = here > end ? here : end;
    }
    return end;
}

/* Names, arguments and settings are of the function as it is now: whoever sets its
 * shared memory after the capture has it kept so, as a launch of the graph would have
 * it. */
static gph_status add_kernel(const struct reading *reading, const gph_kernel_id *id,
                             CUfunction function, const gph_kernel_params *params,
                             uint32_t *out)
{
    const gphi_survey *survey = reading->survey;
    gphi_bundle *bundle = survey->bundle;
    struct gphi_bundle_kernel kernel = {.arg_first = (uint32_t)bundle->args.count,
                                        .arg_count = params->arg_count,
                                        .buffer_bytes = (uint32_t)argument_bytes(params)};
    memcpy(kernel.image, id->image, sizeof(kernel.image));
    const CUfunction_attribute wanted[] = {
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT};
    int *const values[] = {&kernel.dynamic_shared_bytes, &kernel.carveout};
    for (int i = 0; i < 2; i++) {
        GPHI_TRY(check_call(
            survey, reading->cu->cuFuncGetAttribute(values[i], wanted[i], function),
            "cuFuncGetAttribute"));
    }
    if (kernel.dynamic_shared_bytes < (int)params->shared_bytes) /* see add_plain() */
        kernel.dynamic_shared_bytes = (int)params->shared_bytes;
    if (gphi_bundle_text_add(bundle, id->name, &kernel.name) != GPH_OK)
        return fail_memory(survey);
    gph_kernel_arg *args =
        params->arg_count == 0 ? NULL : gphi_vec_add(&bundle->args, params->arg_count);
    if (params->arg_count > 0 && !args)
        return fail_memory(survey);
    if (args)
        memcpy(args, params->args, params->arg_count * sizeof(*args));
    if (gphi_vec_push(&bundle->kernels, &kernel) != GPH_OK)
        return fail_memory(survey);
    *out = (uint32_t)bundle->kernels.count - 1;
    return GPH_OK;
}

/* Adds a new node of a function. Its limit of shared memory may have been lower since the
 * capture: cuDNN sets it for each launch. Then it is raised for the moment. */
static gph_status add_plain(const struct reading *reading, CUfunction function,
                            const CUDA_KERNEL_NODE_PARAMS *params, CUgraphNode *out)
{
    const gphi_survey *survey = reading->survey;
    const gphi_cuda_table *cu = reading->cu;
    const CUfunction_attribute limit = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    int bytes = 0;
    GPHI_TRY(check_call(survey, cu->cuFuncGetAttribute(&bytes, limit, function),
                        "cuFuncGetAttribute"));
    const bool is_low = (unsigned)bytes < params->sharedMemBytes;
    if (is_low)
        GPHI_TRY(check_call(
            survey, cu->cuFuncSetAttribute(function, limit, (int)params->sharedMemBytes),
            "cuFuncSetAttribute"));
    gph_status status = check_call(
        survey, cu->cuGraphAddKernelNode(out, reading->scratch, NULL, 0, params),
        "cuGraphAddKernelNode");
    if (is_low)
        GPHI_THEN(status,
                  check_call(survey, cu->cuFuncSetAttribute(function, limit, bytes),
                             "cuFuncSetAttribute"));
    return status;
}

/* What the attributes of a node are that nobody set. */
static gph_status read_plain(struct reading *reading, CUfunction function,
                             const CUDA_KERNEL_NODE_PARAMS *params, struct known *known)
{
    const gphi_survey *survey = reading->survey;
    CUgraphNode node = NULL;
    GPHI_TRY(add_plain(reading, function, params, &node));
    for (int i = 0; i < ATTRIBUTES; i++) {
        const CUresult result = reading->cu->cuGraphKernelNodeGetAttribute(
            node, attributes[i].id, &known->plain[i]);
        known->has[i] = result == CUDA_SUCCESS;
        if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE &&
            result != CUDA_ERROR_NOT_SUPPORTED)
            return check_call(survey, result, "cuGraphKernelNodeGetAttribute");
    }
    return GPH_OK;
}

/* Fills in what is known of a function that was not met before. */
static gph_status learn(struct reading *reading, CUfunction function,
                        const CUDA_KERNEL_NODE_PARAMS *node,
                        const gph_kernel_params *params, struct known *known)
{
    const gphi_survey *survey = reading->survey;
    known->kernel = GPHI_BUNDLE_NONE;
    gph_kernel_id id = {0};
    gph_error why = {0};
    const gph_status status = identify(survey, function, &id, &why);
    if (status != GPH_OK && status != GPH_E_UNSUPPORTED) {
        if (survey->error)
            *survey->error = why;
        return status;
    }
    const char *talks = status == GPH_OK ? communicator(id.name) : NULL;
    if (talks)
        gphi_fail(&why, GPH_E_UNSUPPORTED,
                  "kernel %.200s talks to other processes by addresses of this one",
                  id.name);
    if (status != GPH_OK || talks) {
        if (gphi_bundle_text_add(survey->bundle, why.message, &known->why) != GPH_OK)
            return fail_memory(survey);
        return GPH_OK;
    }
    GPHI_TRY(read_plain(reading, function, node, known));
    known->kernel = find_kernel(survey->bundle, &id);
    if (known->kernel != GPHI_BUNDLE_NONE)
        return GPH_OK;
    return add_kernel(reading, &id, function, params, &known->kernel);
}

/* Asks about each function once. A pointer into `known` would not live until the next
 * function, so callers get an index. */
static gph_status know(struct reading *reading, CUfunction function,
                       const CUDA_KERNEL_NODE_PARAMS *node,
                       const gph_kernel_params *params, const struct known **out)
{
    const uint64_t *found = gphi_map_get(&reading->index, (uintptr_t)function);
    if (!found) {
        struct known *fresh = gphi_vec_add(&reading->known, 1);
        if (!fresh)
            return fail_memory(reading->survey);
        GPHI_TRY(learn(reading, function, node, params, fresh));
        if (gphi_map_set(&reading->index, (uintptr_t)function,
                         reading->known.count - 1) != GPH_OK)
            return fail_memory(reading->survey);
        *out = fresh;
        return GPH_OK;
    }
    *out = gphi_vec_at(&reading->known, *found);
    return GPH_OK;
}

/* Compared byte by byte with those of a new node: unions have no better equality, and
 * both were zeroed before the driver filled them in. */
static gph_status read_attributes(struct reading *reading, uint32_t index,
                                  const struct known *known,
                                  struct gphi_bundle_node *node)
{
    struct gphi_bundle_graph *out = reading->out;
    node->attribute_first = (uint32_t)out->attributes.count;
    for (int i = 0; i < ATTRIBUTES; i++) {
        if (!known->has[i])
            continue;
        CUlaunchAttributeValue value = {0};
        GPHI_TRY(check_call(reading->survey,
                            reading->cu->cuGraphKernelNodeGetAttribute(
                                driver_node(reading, index), attributes[i].id, &value),
                            "cuGraphKernelNodeGetAttribute"));
        if (memcmp(&value, &known->plain[i], sizeof(value)) == 0)
            continue;
        if (attributes[i].refused) {
            GPHI_TRY(gphi_refuse(reading->survey, out, index, GPH_NODE_KERNEL, -1,
                                 "its launch has %s", attributes[i].refused));
            continue;
        }
        struct gphi_bundle_attribute *kept = gphi_vec_add(&out->attributes, 1);
        if (!kept)
            return fail_memory(reading->survey);
        kept->id = (uint32_t)attributes[i].id;
        memcpy(kept->value, &value, sizeof(kept->value));
    }
    node->attribute_count = (uint32_t)out->attributes.count - node->attribute_first;
    return GPH_OK;
}

static gph_status read_kernel(struct reading *reading, uint32_t index,
                              struct gphi_bundle_node *node)
{
    const gphi_survey *survey = reading->survey;
    const gph_kernel_params *params = &node_at(reading, index)->u.kernel;
    CUDA_KERNEL_NODE_PARAMS raw;
    CUfunction function = NULL;
    const struct known *known = NULL;
    GPHI_TRY(read_function(reading, driver_node(reading, index), &raw, &function));
    GPHI_TRY(know(reading, function, &raw, params, &known));
    if (known->kernel == GPHI_BUNDLE_NONE)
        return gphi_refuse(survey, reading->out, index, GPH_NODE_KERNEL, -1, "%s",
                           gphi_bundle_text(survey->bundle, known->why));
    struct gphi_bundle_kernel *kernel =
        GPHI_BUNDLE_AT(&survey->bundle->kernels, kernel, known->kernel);
    const size_t bytes = argument_bytes(params);
    if (bytes != kernel->buffer_bytes || bytes > params->buffer_bytes ||
        bytes > GPHI_BUNDLE_ARGS_MAX)
        return gphi_refuse(survey, reading->out, index, GPH_NODE_KERNEL, -1,
                           "kernel %.200s has %zu bytes of arguments, and %u elsewhere",
                           gphi_bundle_text(survey->bundle, kernel->name), bytes,
                           kernel->buffer_bytes);
    if (kernel->dynamic_shared_bytes < (int)params->shared_bytes)
        kernel->dynamic_shared_bytes = (int)params->shared_bytes;
    node->item = known->kernel;
    memcpy(node->grid, params->grid, sizeof(node->grid));
    memcpy(node->block, params->block, sizeof(node->block));
    node->shared_bytes = params->shared_bytes;
    node->data_bytes = (uint32_t)bytes;
    /* Padded to words, so that each argument buffer begins at a multiple of 8. */
    node->data_first = reading->out->data.count;
    const size_t room = (bytes + 7) / 8 * 8;
    void *data = room == 0 ? NULL : gphi_vec_add(&reading->out->data, room);
    if (room > 0 && !data)
        return fail_memory(survey);
    if (bytes > 0)
        memcpy(data, params->buffer, bytes);
    return read_attributes(reading, index, known, node);
}

/* A copy of an array or of pageable memory names something of this process; a linear
 * one is its two sides. */
static gph_status read_copy(struct reading *reading, uint32_t index,
                            struct gphi_bundle_node *node)
{
    const gph_memcpy_params *copy = &node_at(reading, index)->u.memcpy;
    const gph_memcpy_side *const sides[] = {&copy->dst, &copy->src};
    for (int i = 0; i < 2; i++) {
        const char *side = i == 0 ? "writes" : "reads";
        if (sides[i]->memory == GPH_MEMORY_HOST)
            return gphi_refuse(reading->survey, reading->out, index, GPH_NODE_MEMCPY,
                               i * 8, "it %s host memory at 0x%llx", side,
                               (unsigned long long)sides[i]->address);
        if (sides[i]->memory == GPH_MEMORY_ARRAY)
            return gphi_refuse(reading->survey, reading->out, index, GPH_NODE_MEMCPY,
                               i * 8, "it %s a CUDA array", side);
    }
    if (gphi_vec_push(&reading->out->copies, copy) != GPH_OK)
        return fail_memory(reading->survey);
    node->item = (uint32_t)reading->out->copies.count - 1;
    return GPH_OK;
}

/* As a copy: the address is a word, the rest is kept as it is. */
static gph_status read_fill(struct reading *reading, uint32_t index,
                            struct gphi_bundle_node *node)
{
    const gph_memset_params *fill = &node_at(reading, index)->u.memset;
    if (gphi_vec_push(&reading->out->fills, fill) != GPH_OK)
        return fail_memory(reading->survey);
    node->item = (uint32_t)reading->out->fills.count - 1;
    return GPH_OK;
}

/* Why nodes of this kind are not kept, or NULL. */
static const char *refused_kind(gph_node_kind kind)
{
    switch (kind) {
    case GPH_NODE_KERNEL:
    case GPH_NODE_MEMCPY:
    case GPH_NODE_MEMSET:
    case GPH_NODE_EMPTY:
    case GPH_NODE_CONDITIONAL: return NULL;
    case GPH_NODE_HOST: return "it calls a function of this process";
    case GPH_NODE_CHILD: return "child graphs are not kept";
    case GPH_NODE_EVENT_WAIT:
    case GPH_NODE_EVENT_RECORD: return "its event is of this process";
    case GPH_NODE_SEMAPHORE_SIGNAL:
    case GPH_NODE_SEMAPHORE_WAIT: return "its semaphore is of this process";
    case GPH_NODE_MEM_ALLOC:
    case GPH_NODE_MEM_FREE: return "the driver chooses its address: use a pool";
    case GPH_NODE_BATCH_MEM_OP: return "memory operations in batches are not kept";
    }
    return "its kind is unknown";
}

/* What is not named here has no meaning in another process (events, host functions,
 * semaphores, conditions) or is the driver's own memory. */
static gph_status read_node(struct reading *reading, uint32_t index)
{
    const gph_node *from = node_at(reading, index);
    const char *refused = refused_kind(from->kind);
    struct gphi_bundle_node node = {.kind = (uint32_t)from->kind};
    gph_status status = GPH_OK;
    if (refused)
        status = gphi_refuse(reading->survey, reading->out, index, node.kind, -1, "%s",
                             refused);
    else if (from->kind == GPH_NODE_KERNEL)
        status = read_kernel(reading, index, &node);
    else if (from->kind == GPH_NODE_MEMCPY)
        status = read_copy(reading, index, &node);
    else if (from->kind == GPH_NODE_MEMSET)
        status = read_fill(reading, index, &node);
    else if (from->kind == GPH_NODE_CONDITIONAL) {
        node.item = (uint32_t)reading->out->flows.count;
        /* Its place is known before it is said where a node of its bodies is. */
        *(struct gphi_bundle_node *)gphi_vec_at(&reading->out->nodes, index) = node;
        status = gphi_parts_read(reading->survey, reading->out, index,
                                 driver_node(reading, index), from, &reading->parts);
    }
    if (status == GPH_OK)
        *(struct gphi_bundle_node *)gphi_vec_at(&reading->out->nodes, index) = node;
    return status;
}

static int by_end(const void *a, const void *b)
{
    const gph_edge *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Sorted by their ends, so that two captures of one work have the same bytes where
 * they have the same edges: words.c compares them so. */
static gph_status read_edges(struct reading *reading)
{
    const size_t count = gph_graph_edge_count(reading->graph);
    if (count == 0)
        return GPH_OK;
    gph_edge *edges = gphi_vec_add(&reading->out->edges, count);
    if (!edges)
        return fail_memory(reading->survey);
    for (size_t i = 0; i < count; i++) {
        edges[i] = *gph_graph_edge(reading->graph, i);
        edges[i].from += reading->first;
        edges[i].to += reading->first;
    }
    qsort(edges, count, sizeof(*edges), by_end);
    for (size_t i = 1; i < count; i++)
        if (by_end(&edges[i - 1], &edges[i]) == 0)
            return gphi_refuse(reading->survey, reading->out, edges[i].to,
                               (uint32_t)node_at(reading, edges[i].to)->kind, -1,
                               "two edges come from node %u", edges[i].from);
    return GPH_OK;
}

/* The nodes and edges of one part. */
static gph_status read_part(struct reading *reading, CUgraph graph)
{
    const gphi_survey *survey = reading->survey;
    const uint32_t count = gph_graph_node_count(reading->graph);
    size_t filled = count;
    if (count == 0)
        return GPH_OK;
    CUgraphNode *nodes = gphi_vec_add(&reading->nodes, count);
    if (!nodes)
        return fail_memory(survey);
    GPHI_TRY(check_call(survey, reading->cu->cuGraphGetNodes(graph, nodes, &filled),
                        "cuGraphGetNodes"));
    for (uint32_t i = 0; i < count; i++)
        GPHI_TRY(read_node(reading, reading->first + i));
    return read_edges(reading);
}

/* Parts are added while others are read. Their nodes follow each other, and so do edges,
 * since they stay in a part. */
static gph_status read_all(struct reading *reading, CUgraph graph)
{
    const gphi_survey *survey = reading->survey;
    const gphi_part root = {graph, reading->graph};
    const uint32_t count = gph_graph_node_count(reading->graph);
    if (count == 0)
        return GPH_OK;
    if (gphi_vec_push(&reading->parts, &root) != GPH_OK ||
        !gphi_vec_add(&reading->out->nodes, count))
        return fail_memory(survey);
    GPHI_TRY(check_call(survey, reading->cu->cuGraphCreate(&reading->scratch, 0),
                        "cuGraphCreate"));
    for (uint32_t i = 0; i < reading->parts.count; i++) {
        const gphi_part part = *(const gphi_part *)gphi_vec_at(&reading->parts, i);
        reading->graph = part.described;
        reading->first = gphi_bundle_part_first(reading->out, i);
        GPHI_TRY(read_part(reading, part.graph));
    }
    gphi_parts_find_set(reading->out, &reading->nodes);
    const gph_status status = gphi_bundle_order(reading->out);
    if (status == GPH_E_NO_MEMORY)
        return fail_memory(survey);
    if (status != GPH_OK)
        return gphi_refuse(survey, reading->out, -1, 0, -1, "its edges form a cycle");
    return GPH_OK;
}

gph_status gphi_survey_graph(const gphi_survey *survey, CUgraph graph,
                             struct gphi_bundle_graph *out)
{
    struct reading reading = {.survey = survey, .cu = &survey->runtime->cu, .out = out};
    gph_graph *described = NULL;
    GPHI_TRY(gph_graph_describe(survey->runtime, graph, &described, survey->error));
    reading.graph = described;
    gphi_map_init(&reading.index, survey->bundle->heap);
    gphi_vec_init(&reading.known, survey->bundle->heap, sizeof(struct known));
    gphi_vec_init(&reading.nodes, survey->bundle->heap, sizeof(CUgraphNode));
    gphi_vec_init(&reading.parts, survey->bundle->heap, sizeof(gphi_part));
    const gph_status status = read_all(&reading, graph);
    if (reading.scratch)
        gphi_ignore((gph_status)reading.cu->cuGraphDestroy(reading.scratch),
                    "nobody else knows it");
    gphi_vec_fini(&reading.parts);
    gphi_vec_fini(&reading.nodes);
    gphi_vec_fini(&reading.known);
    gphi_map_fini(&reading.index);
    gph_graph_destroy(described);
    return status;
}
