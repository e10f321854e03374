// SPDX-License-Identifier: Apache-2.0
/* Builds graphs node by node, with the words that are addresses moved along.
 *
 * Kernels are found by image and name, and must take the arguments that were recorded: a
 * kernel of the same name in a newer build of a library would read other offsets.
 * Functions get the shared memory and carveout that they had, since a launch may fail
 * without.
 *
 * If nothing moves, nodes are made straight from the recipe's arrays; else from copies,
 * as a recipe may be loaded more than once. Nodes come in topological order with their
 * plain dependencies; edges with data (programmatic ones) are added after all nodes are
 * there. */
#include "recipe/build.h"
#include "base/fail.h"
#include "base/heap.h"
#include "cuda/status.h"
#include "graph/convert.h"
#include "module/module.h"
#include "recipe/parts.h"
#include "replay/flow.h"

#include <stdio.h>
#include <string.h>

/* Whether a function takes the arguments that were recorded: GPH_E_UNSUPPORTED if not. */
static gph_status check_layout(const gphi_cuda_table *cu, const gphi_bundle *bundle,
                               const struct gphi_bundle_kernel *kernel,
                               CUfunction function, gph_error *error)
{
    for (uint32_t i = 0; i <= kernel->arg_count && kernel->arg_count > 0; i++) {
        size_t offset = 0, bytes = 0;
        const CUresult result = cu->cuFuncGetParamInfo(function, i, &offset, &bytes);
        if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE)
            return gphi_cuda_fail(error, (gph_status)result, "cuFuncGetParamInfo",
                                  "looking for a kernel");
        const gph_kernel_arg *arg =
            i < kernel->arg_count ? gphi_vec_at(&bundle->args, kernel->arg_first + i)
                                  : NULL;
        const bool is_same =
            !arg ? result != CUDA_SUCCESS
                 : result == CUDA_SUCCESS && arg->offset == offset && arg->bytes == bytes;
        if (!is_same)
            return gphi_fail(error, GPH_E_UNSUPPORTED,
                             "kernel %.200s takes other arguments than were recorded",
                             gphi_bundle_text(bundle, kernel->name));
    }
    return GPH_OK;
}

/* Gives a function what it had been given when it was recorded. */
static gph_status set_up(const gphi_cuda_table *cu,
                         const struct gphi_bundle_kernel *kernel, CUfunction function,
                         gph_error *error)
{
    const struct {
        CUfunction_attribute id;
        int value;
        bool only_more;
    } wanted[] = {
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel->dynamic_shared_bytes,
         true},
        {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, kernel->carveout, false}};
    for (int i = 0; i < 2; i++) {
        int now = 0;
        CUresult result = cu->cuFuncGetAttribute(&now, wanted[i].id, function);
        if (result == CUDA_SUCCESS &&
            (wanted[i].only_more ? now < wanted[i].value : now != wanted[i].value))
            result = cu->cuFuncSetAttribute(function, wanted[i].id, wanted[i].value);
        GPHI_TRY(gphi_cuda_check(error, result, "cuFuncSetAttribute",
                                 "attribute %d of a kernel", (int)wanted[i].id));
    }
    return GPH_OK;
}

/* A kernel of libgph that sets conditions; NULL: another one. */
static CUfunction find_own(const gphi_kernels *setters, const gph_kernel_id *id)
{
    unsigned char hash[GPHI_BUNDLE_HASH_BYTES];
    gphi_sha256_text(gphi_setter_text.ptx, hash);
    if (!setters || memcmp(hash, id->image, sizeof(hash)) != 0)
        return NULL;
    for (int i = 0; i < GPHI_KERNELS_MAX && gphi_setter_text.names[i]; i++)
        if (strcmp(gphi_setter_text.names[i], id->name) == 0)
            return setters->functions[i];
    return NULL;
}

/* libgph's own modules are asked before the caller's: their answer is by hash, and
 * needs no trust. The error of the first is the one that is kept. */
static gph_status find_kernel(const gphi_build *build,
                              const struct gphi_bundle_kernel *kernel,
                              const gph_resolver *resolver, CUfunction *out,
                              gph_error *error)
{
    gph_runtime *runtime = build->runtime;
    const gphi_bundle *bundle = build->bundle;
    gph_kernel_id id = {.name = gphi_bundle_text(bundle, kernel->name)};
    memcpy(id.image, kernel->image, sizeof(id.image));
    CUfunction function = find_own(build->setters, &id);
    gph_status status =
        function ? GPH_OK : gphi_module_find(runtime, &id, &function, error);
    if (status == GPH_E_UNSUPPORTED && resolver && resolver->find) {
        gph_error other = {0};
        status = resolver->find(resolver->user, &id, &function, &other);
        if (status == GPH_OK && !function)
            return gphi_fail(error, GPH_E_UNSUPPORTED,
                             "kernel %.200s: the resolver gave no function", id.name);
        if (status != GPH_OK)
            return GPH_E_UNSUPPORTED; /* as reported by gphi_module_find() */
    }
    GPHI_TRY(status);
    GPHI_TRY(check_layout(&runtime->cu, bundle, kernel, function, error));
    GPHI_TRY(set_up(&runtime->cu, kernel, function, error));
    *out = function;
    return GPH_OK;
}

/* A kernel that is missing invalidates its graphs and no others, so it is noted with its
 * reason; what the driver fails with otherwise ends the load. */
gph_status gphi_find_kernels(const gphi_build *build, const gph_resolver *resolver)
{
    const gphi_bundle *bundle = build->bundle;
    struct gphi_found *found = build->found;
    for (size_t i = 0; i < bundle->kernels.count; i++) {
        gph_error why = {0};
        found[i].status = find_kernel(build, GPHI_BUNDLE_AT(&bundle->kernels, kernel, i),
                                      resolver, &found[i].function, &why);
        if (found[i].status == GPH_OK)
            continue;
        if (found[i].status != GPH_E_UNSUPPORTED &&
            found[i].status != (gph_status)CUDA_ERROR_NOT_FOUND) {
            if (build->error)
                *build->error = why;
            return found[i].status;
        }
        snprintf(found[i].why, sizeof(found[i].why), "%.255s", why.message);
    }
    return GPH_OK;
}

/* One graph on its way to the driver. */
struct job {
    const gphi_build *build;
    const gphi_cuda_table *cu;
    const struct gphi_bundle_graph *graph;
    unsigned char *data; /* the graph's own, or a copy with words moved */
    gph_memcpy_params *copies;
    gph_memset_params *fills;
    CUgraph out; /* of the part at hand */
    gphi_flows_built flows;
    CUgraphNode *nodes;
    CUgraphNode *before; /* room for the dependencies of one node */
    uint32_t *first;     /* of each node: its first edge in; one more at the end */
};

static gph_status fail_memory(const struct job *job)
{
    return gphi_fail(job->build->error, GPH_E_NO_MEMORY, "building a graph of %zu nodes",
                     job->graph->nodes.count);
}

/* GPH_OK, or a failure that names the node. */
static gph_status check_node(const struct job *job, CUresult result, const char *call,
                             uint32_t node)
{
    gph_error *error = job->build->error;
    const gph_status status =
        gphi_cuda_check(error, result, call, "building node %u", node);
    if (status != GPH_OK && error) {
        error->has_node = 1;
        error->node = node;
    }
    return status;
}

/* Most loads are at the recorded addresses: then nothing is copied. */
static bool must_move(const struct job *job)
{
    if (job->graph->handles.count > 0)
        return true;
    for (size_t i = 0; i < job->graph->words.count; i++)
        if (job->build->shift[GPHI_BUNDLE_AT(&job->graph->words, word, i)->range] != 0)
            return true;
    return false;
}

/* A copy of an array, to be changed; NULL also if it is empty. */
static void *copy_of(const gphi_vec *from)
{
    void *copy = from->count == 0
                     ? NULL
                     : gphi_heap_array(from->heap, from->count, from->item_bytes);
    if (copy)
        memcpy(copy, from->items, from->count * from->item_bytes);
    return copy;
}

static void free_copy(const gphi_vec *from, void *copy)
{
    if (copy != from->items)
        gphi_heap_free(from->heap, copy, from->count * from->item_bytes);
}

void *gphi_word_place(const struct gphi_bundle_graph *graph,
                      const struct gphi_bundle_word *word, unsigned char *data,
                      gph_memcpy_params *copies, gph_memset_params *fills)
{
    const struct gphi_bundle_node *node = GPHI_BUNDLE_AT(&graph->nodes, node, word->node);
    if (node->kind == GPH_NODE_KERNEL)
        return data + node->data_first + word->offset;
    if (node->kind == GPH_NODE_MEMSET)
        return &fills[node->item].address;
    return word->offset == GPHI_BUNDLE_DST ? &copies[node->item].dst.address
                                           : &copies[node->item].src.address;
}

static void move_word(const struct job *job, const struct gphi_bundle_word *word)
{
    uint64_t value;
    void *at = gphi_word_place(job->graph, word, job->data, job->copies, job->fills);
    memcpy(&value, at, sizeof(value)); /* words of packed arguments are not aligned */
    value += job->build->shift[word->range];
    memcpy(at, &value, sizeof(value));
}

static gph_status move_words(struct job *job)
{
    const struct gphi_bundle_graph *graph = job->graph;
    job->data = graph->data.items;
    job->copies = graph->copies.items;
    job->fills = graph->fills.items;
    if (!must_move(job))
        return GPH_OK;
    job->data = copy_of(&graph->data);
    job->copies = copy_of(&graph->copies);
    job->fills = copy_of(&graph->fills);
    if ((graph->data.count > 0 && !job->data) ||
        (graph->copies.count > 0 && !job->copies) ||
        (graph->fills.count > 0 && !job->fills))
        return fail_memory(job);
    for (size_t i = 0; i < graph->words.count; i++)
        move_word(job, GPHI_BUNDLE_AT(&graph->words, word, i));
    return GPH_OK;
}

static bool is_plain(const gph_edge *edge)
{
    return edge->from_port == 0 && edge->to_port == 0 && edge->type == 0;
}

/* The plain dependencies of a node; others have data, and are added apart. */
static size_t list_before(const struct job *job, uint32_t node)
{
    size_t count = 0;
    for (uint32_t i = job->first[node]; i < job->first[node + 1]; i++) {
        const gph_edge *edge = gphi_vec_at(&job->graph->edges, i);
        if (is_plain(edge))
            job->before[count++] = job->nodes[edge->from];
    }
    return count;
}

/* Arguments go as one buffer, as they were read: a recipe knows their offsets, and
 * types it never knew. */
static gph_status add_kernel(const struct job *job, uint32_t index, size_t before)
{
    const struct gphi_bundle_node *node = GPHI_BUNDLE_AT(&job->graph->nodes, node, index);
    size_t bytes = node->data_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, NULL, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    if (bytes > 0)
        extra[1] = job->data + node->data_first;
    const CUDA_KERNEL_NODE_PARAMS params = {
        .func = job->build->found[node->item].function,
        .gridDimX = node->grid[0],
        .gridDimY = node->grid[1],
        .gridDimZ = node->grid[2],
        .blockDimX = node->block[0],
        .blockDimY = node->block[1],
        .blockDimZ = node->block[2],
        .sharedMemBytes = node->shared_bytes,
        .extra = bytes > 0 ? extra : NULL,
    };
    GPHI_TRY(check_node(job,
                        job->cu->cuGraphAddKernelNode(&job->nodes[index], job->out,
                                                      job->before, before, &params),
                        "cuGraphAddKernelNode", index));
    for (uint32_t i = 0; i < node->attribute_count; i++) {
        const struct gphi_bundle_attribute *attribute =
            GPHI_BUNDLE_AT(&job->graph->attributes, attribute, node->attribute_first + i);
        CUlaunchAttributeValue value;
        memcpy(&value, attribute->value, sizeof(value));
        GPHI_TRY(
            check_node(job,
                       job->cu->cuGraphKernelNodeSetAttribute(
                           job->nodes[index], (CUlaunchAttributeID)attribute->id, &value),
                       "cuGraphKernelNodeSetAttribute", index));
    }
    return GPH_OK;
}

static gph_status add_copy(const struct job *job, uint32_t index, size_t before,
                           CUcontext context)
{
    const gph_memcpy_params *from =
        &job->copies[GPHI_BUNDLE_AT(&job->graph->nodes, node, index)->item];
    const CUDA_MEMCPY3D copy = gphi_memcpy_to_cuda(from);
    return check_node(job,
                      job->cu->cuGraphAddMemcpyNode(&job->nodes[index], job->out,
                                                    job->before, before, &copy, context),
                      "cuGraphAddMemcpyNode", index);
}

static gph_status add_fill(const struct job *job, uint32_t index, size_t before,
                           CUcontext context)
{
    const gph_memset_params *from =
        &job->fills[GPHI_BUNDLE_AT(&job->graph->nodes, node, index)->item];
    const CUDA_MEMSET_NODE_PARAMS fill = gphi_memset_to_cuda(from);
    return check_node(job,
                      job->cu->cuGraphAddMemsetNode(&job->nodes[index], job->out,
                                                    job->before, before, &fill, context),
                      "cuGraphAddMemsetNode", index);
}

static gph_status add_empty(const struct job *job, uint32_t index, size_t before)
{
    return check_node(
        job,
        job->cu->cuGraphAddEmptyNode(&job->nodes[index], job->out, job->before, before),
        "cuGraphAddEmptyNode", index);
}

/* Copies and fills want a context; it is the current one, in which the modules are. */
static gph_status add_nodes(struct job *job)
{
    CUcontext context = NULL;
    GPHI_TRY(check_node(job, job->cu->cuCtxGetCurrent(&context), "cuCtxGetCurrent", 0));
    const uint32_t *order = job->graph->order.items;
    uint32_t part = 0, end = 0; /* of the one before the first */
    for (size_t i = 0; i < job->graph->nodes.count; i++) {
        const uint32_t index = order[i];
        for (; index >= end; part++) {
            GPHI_TRY(gphi_flows_enter(&job->flows, job->build->runtime, job->graph, part,
                                      job->data, job->build->error));
            end = gphi_bundle_part_end(job->graph, part);
            job->out = job->flows.graphs[part];
        }
        const size_t before = list_before(job, index);
        switch (GPHI_BUNDLE_AT(&job->graph->nodes, node, index)->kind) {
        case GPH_NODE_KERNEL: GPHI_TRY(add_kernel(job, index, before)); break;
        case GPH_NODE_MEMCPY: GPHI_TRY(add_copy(job, index, before, context)); break;
        case GPH_NODE_MEMSET: GPHI_TRY(add_fill(job, index, before, context)); break;
        case GPH_NODE_CONDITIONAL:
            GPHI_TRY(gphi_flows_add(&job->flows, job->build->runtime, job->graph, index,
                                    job->before, before, &job->nodes[index],
                                    job->build->error));
            break;
        default: GPHI_TRY(add_empty(job, index, before)); break;
        }
    }
    return GPH_OK;
}

/* Edges with data cannot be given with a node; they come when both ends are there. */
static gph_status add_other_edges(const struct job *job)
{
    GPHI_EACH (const gph_edge, edge, &job->graph->edges) {
        if (is_plain(edge))
            continue;
        const CUgraphEdgeData data = {
            .from_port = edge->from_port, .to_port = edge->to_port, .type = edge->type};
        GPHI_TRY(check_node(job,
                            job->cu->cuGraphAddDependencies(
                                job->flows.graphs[gphi_bundle_part(job->graph, edge->to)],
                                &job->nodes[edge->from], &job->nodes[edge->to], &data, 1),
                            "cuGraphAddDependencies", edge->to));
    }
    return GPH_OK;
}

/* Where the edges into each node begin, and room for the most of one node. */
static gph_status list_edges(struct job *job, size_t *most)
{
    const size_t nodes = job->graph->nodes.count;
    job->first =
        gphi_heap_array(job->build->runtime->heap, nodes + 1, sizeof(*job->first));
    job->nodes = gphi_heap_array(job->build->runtime->heap, nodes, sizeof(*job->nodes));
    if (!job->first || !job->nodes)
        return fail_memory(job);
    for (size_t i = 0; i < job->graph->edges.count; i++)
        job->first[((const gph_edge *)gphi_vec_at(&job->graph->edges, i))->to + 1]++;
    *most = 1;
    for (size_t i = 0; i < nodes; i++) {
        *most = job->first[i + 1] > *most ? job->first[i + 1] : *most;
        job->first[i + 1] += job->first[i];
    }
    job->before = gphi_heap_array(job->build->runtime->heap, *most, sizeof(*job->before));
    return job->before ? GPH_OK : fail_memory(job);
}

/* All or nothing: a half-built graph is destroyed, and what was copied for it is
 * freed. */
gph_status gphi_build_graph(const gphi_build *build,
                            const struct gphi_bundle_graph *graph, CUgraph *out,
                            gph_recording **known)
{
    struct job job = {.build = build, .cu = &build->runtime->cu, .graph = graph};
    const gph_allocator heap = build->runtime->heap;
    const size_t nodes = graph->nodes.count;
    size_t most = 0;
    CUgraph made = NULL;
    GPHI_TRY(gphi_cuda_check(build->error, job.cu->cuGraphCreate(&made, 0),
                             "cuGraphCreate", "building a graph"));
    gph_status status =
        gphi_flows_begin(&job.flows, build->runtime, graph, made, build->error);
    if (status == GPH_OK && nodes > 0)
        status = move_words(&job);
    if (status == GPH_OK && nodes > 0)
        status = list_edges(&job, &most);
    if (status == GPH_OK && nodes > 0)
        status = add_nodes(&job);
    if (status == GPH_OK && nodes > 0)
        status = add_other_edges(&job);
    gphi_heap_free(heap, job.before, most * sizeof(*job.before));
    gphi_heap_free(heap, job.nodes, nodes * sizeof(*job.nodes));
    gphi_heap_free(heap, job.first, (nodes + 1) * sizeof(*job.first));
    if (nodes > 0) {
        free_copy(&graph->data, job.data);
        free_copy(&graph->copies, job.copies);
        free_copy(&graph->fills, job.fills);
    }
    gphi_flows_end(&job.flows, build->runtime, graph);
    if (status == GPH_OK) {
        if (job.flows.known) {
            job.flows.known->built = made;
            gphi_flow_list_add(job.flows.known);
        }
        *known = job.flows.known;
        *out = made;
        return GPH_OK;
    }
    gphi_ignore((gph_status)job.cu->cuGraphDestroy(made), "it is half built");
    if (job.flows.known)
        gphi_recording_release(job.flows.known);
    return status;
}

/* What two graphs must share to take turns in one executable: kinds, functions, sides
 * of copies and edges. Grids, arguments and addresses are left to the update. A graph
 * of equal hash that the driver refuses all the same gets its own executable. */
void gphi_topology_hash(const struct gphi_bundle_graph *graph,
                        unsigned char out[GPHI_BUNDLE_HASH_BYTES])
{
    gphi_sha256 hash;
    gphi_sha256_begin(&hash);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct gphi_bundle_node *node = GPHI_BUNDLE_AT(&graph->nodes, node, i);
        const uint32_t words[] = {node->kind,
                                  node->kind == GPH_NODE_KERNEL ? node->item : 0,
                                  node->attribute_count};
        gphi_sha256_add(&hash, words, sizeof(words));
        for (uint32_t j = 0; j < node->attribute_count; j++)
            gphi_sha256_add(&hash,
                            gphi_vec_at(&graph->attributes, node->attribute_first + j),
                            graph->attributes.item_bytes);
        if (node->kind == GPH_NODE_MEMCPY) {
            const gph_memcpy_params *copy = gphi_vec_at(&graph->copies, node->item);
            const uint32_t kinds[] = {copy->dst.memory, copy->src.memory};
            gphi_sha256_add(&hash, kinds, sizeof(kinds));
        }
    }
    if (graph->edges.count > 0)
        gphi_sha256_add(&hash, graph->edges.items, graph->edges.count * sizeof(gph_edge));
    gphi_sha256_end(&hash, out);
}
