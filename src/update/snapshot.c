// SPDX-License-Identifier: Apache-2.0
/* Describing a graph of the driver for updates: data, handles, and what memory copies and
 * fills refer to. */
#include "update/snapshot.h"
#include "base/fail.h"
#include "base/heap.h"
#include "cuda/status.h"
#include "graph/graph.h"
#include "replay/query.h"

#include <stdio.h>
#include <string.h>

/* ---- the row ---- */

static void count_nodes(const gph_graph *graph, uint64_t *nodes, uint64_t *levels)
{
    *nodes += gph_graph_node_count(graph);
    *levels += 1;
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (gphi_node_graph(node))
            count_nodes(node->u.child, nodes, levels); /* GPH_GRAPH_DEPTH_MAX */
    }
}

/* The next level: its nodes go to the end of the row, then those of its children. */
static gph_status add_level(gph_snapshot *snapshot, const gph_graph *graph,
                            uint32_t parent)
{
    const uint32_t index = snapshot->level_count++;
    gphi_level *level = &snapshot->levels[index];
    level->graph = graph;
    level->first = snapshot->count;
    level->count = gph_graph_node_count(graph);
    level->parent = parent;
    GPHI_TRY(gphi_topology_init(&level->topology, graph));
    snapshot->count += level->count;
    for (uint32_t i = 0; i < level->count; i++) {
        gphi_place *place = &snapshot->places[level->first + i];
        place->node = gph_graph_node(graph, i);
        place->level = index;
        place->child = GPH_NODE_NONE;
        const gph_node_kind kind = place->node->kind;
        snapshot->has_memory |= kind == GPH_NODE_MEM_ALLOC || kind == GPH_NODE_MEM_FREE;
        if (kind == GPH_NODE_CONDITIONAL)
            *(place->node->u.child ? &snapshot->has_bodies : &snapshot->has_unknown) =
                true;
        if (!gphi_node_graph(place->node))
            continue;
        place->child = snapshot->level_count;
        GPHI_TRY(add_level(snapshot, place->node->u.child, level->first + i));
    }
    return GPH_OK;
}

/* `snapshot` has the graph. */
static gph_status lay_out(gph_snapshot *snapshot, gph_error *error)
{
    const gph_allocator heap = snapshot->runtime->heap;
    uint64_t nodes = 0, levels = 0;
    gph_status status = GPH_E_NO_MEMORY;
    count_nodes(snapshot->graph, &nodes, &levels);
    if (nodes < GPH_NODE_NONE) {
        snapshot->places =
            gphi_heap_array(heap, nodes > 0 ? nodes : 1, sizeof(*snapshot->places));
        snapshot->levels = gphi_heap_array(heap, levels, sizeof(*snapshot->levels));
        if (snapshot->places && snapshot->levels)
            status = add_level(snapshot, snapshot->graph, GPH_NODE_NONE);
    }
    GPHI_TRY(gphi_made(error, status == GPH_OK, "describing %llu nodes",
                       (unsigned long long)nodes));
    return GPH_OK;
}

static void destroy(gph_snapshot *snapshot)
{
    const gph_allocator heap = snapshot->runtime->heap;
    uint64_t nodes = 0, levels = 0;
    if (snapshot->graph)
        count_nodes(snapshot->graph, &nodes, &levels);
    for (uint32_t i = 0; i < snapshot->level_count; i++)
        gphi_topology_fini(&snapshot->levels[i].topology);
    gphi_heap_free(heap, snapshot->levels, levels * sizeof(*snapshot->levels));
    gphi_heap_free(heap, snapshot->places,
                   (nodes > 0 ? nodes : 1) * sizeof(*snapshot->places));
    gph_graph_destroy(snapshot->graph);
    gphi_heap_free(heap, snapshot, sizeof(*snapshot));
}

static gph_snapshot *create(gph_runtime *runtime, CUgraph source)
{
    gph_snapshot *snapshot = gphi_heap_alloc(runtime->heap, sizeof(*snapshot));
    if (!snapshot)
        return NULL;
    atomic_init(&snapshot->references, 1);
    snapshot->runtime = runtime;
    snapshot->source = source;
    return snapshot;
}

/* ---- what the driver reports besides the graph ---- */

static gph_status check_query(const gph_snapshot *snapshot, CUresult result,
                              const char *call, gph_error *error)
{
    return gphi_cuda_check(error, result, call, "describing graph %p",
                           (void *)snapshot->source);
}

static gph_status read_handles(gph_snapshot *snapshot, const gphi_level *level,
                               CUgraph graph, gph_error *error)
{
    const gph_allocator heap = snapshot->runtime->heap;
    size_t filled = level->count;
    if (level->count == 0)
        return GPH_OK;
    CUgraphNode *handles = gphi_heap_array(heap, level->count, sizeof(*handles));
    GPHI_TRY(gphi_made(error, handles, "describing %u nodes", level->count));
    const CUresult result =
        snapshot->runtime->cu.cuGraphGetNodes(graph, handles, &filled);
    gph_status status = check_query(snapshot, result, "cuGraphGetNodes", error);
    if (status == GPH_OK && filled != level->count)
        status = gphi_fail(error, GPH_E_STATE, "graph %p changed while it was described",
                           (void *)graph);
    for (uint32_t i = 0; status == GPH_OK && i < level->count; i++)
        snapshot->places[level->first + i].handle = handles[i];
    gphi_heap_free(heap, handles, level->count * sizeof(*handles));
    return status;
}

/* Which allocation of the graph's own an address lies in, and whether it frees it. */
static bool is_own(const gph_snapshot *snapshot, uint64_t address, bool *freed)
{
    const gph_memory_params *found = NULL;
    for (uint32_t i = 0; !found && i < snapshot->count; i++) {
        const gph_node *node = snapshot->places[i].node;
        if (node->kind == GPH_NODE_MEM_ALLOC && address >= node->u.memory.address &&
            address - node->u.memory.address < node->u.memory.bytes)
            found = &node->u.memory;
    }
    *freed = false;
    for (uint32_t i = 0; found && !*freed && i < snapshot->count; i++) {
        const gph_node *node = snapshot->places[i].node;
        *freed =
            node->kind == GPH_NODE_MEM_FREE && node->u.memory.address == found->address;
    }
    return found;
}

static CUresult ask(const gph_snapshot *snapshot, uint64_t address, gphi_operand *out)
{
    CUcontext context = NULL;
    unsigned int type = 0;
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_CONTEXT,
                                  CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    void *data[] = {&context, &type};
    bool freed = false;
    if (snapshot->has_memory && is_own(snapshot, address, &freed)) {
        *out = (gphi_operand){.context = (uintptr_t)snapshot->context,
                              .backing = GPHI_BACKING_GRAPH,
                              .is_freed = freed};
        return CUDA_SUCCESS;
    }
    const CUresult result =
        snapshot->runtime->cu.cuPointerGetAttributes(2, what, data, address);
    if (result != CUDA_SUCCESS)
        return result;
    const bool in_context = context || type != CU_MEMORYTYPE_DEVICE;
    if (!in_context) /* such memory counts as the node's context's */
        context = snapshot->context;
    *out =
        (gphi_operand){.context = (uintptr_t)context,
                       .backing = in_context ? GPHI_BACKING_CONTEXT : GPHI_BACKING_POOL,
                       .is_nowhere = type == 0};
    return CUDA_SUCCESS;
}

CUresult gphi_operands_ask(const gph_snapshot *snapshot, gphi_place *place)
{
    const gph_node *node = place->node;
    if (node->kind == GPH_NODE_MEMSET)
        return ask(snapshot, node->u.memset.address, &place->dst);
    if (node->kind != GPH_NODE_MEMCPY)
        return CUDA_SUCCESS;
    const gph_memcpy_params *copy = &node->u.memcpy;
    CUresult result = CUDA_SUCCESS;
    if (copy->dst.memory != GPH_MEMORY_ARRAY)
        result = ask(snapshot, copy->dst.address, &place->dst);
    if (result == CUDA_SUCCESS && copy->src.memory != GPH_MEMORY_ARRAY)
        result = ask(snapshot, copy->src.address, &place->src);
    return result;
}

/* `kerns`: of level 0, whose nodes' parameters were asked for just now. */
static gph_status read_place(gph_snapshot *snapshot, uint32_t flat, const gphi_vec *kerns,
                             gph_error *error)
{
    gphi_place *place = &snapshot->places[flat];
    CUresult result = CUDA_SUCCESS;
    const char *call = "cuPointerGetAttributes";
    if (flat < kerns->count) {
        place->is_kern = *(const uint8_t *)gphi_vec_at(kerns, flat) != 0;
        result = gphi_operands_ask(snapshot, place);
    } else if (place->node->kind == GPH_NODE_KERNEL) {
        CUDA_KERNEL_NODE_PARAMS params = {0};
        call = "cuGraphKernelNodeGetParams";
        result = snapshot->runtime->cu.cuGraphKernelNodeGetParams(place->handle, &params);
        place->is_kern = !params.func;
    } else {
        result = gphi_operands_ask(snapshot, place);
    }
    return check_query(snapshot, result, call, error);
}

/* The driver's graph of a child node or of a body; NULL for that of a conditional node
 * itself. */
static gph_status find_graph(const gph_snapshot *snapshot, uint32_t flat, CUgraph *out,
                             gph_error *error)
{
    const gphi_place *place = &snapshot->places[flat];
    const gphi_level *level = &snapshot->levels[place->level];
    *out = NULL;
    if (place->node->kind == GPH_NODE_CONDITIONAL)
        return GPH_OK;
    if (place->handle)
        return check_query(
            snapshot,
            snapshot->runtime->cu.cuGraphChildGraphNodeGetGraph(place->handle, out),
            "cuGraphChildGraphNodeGetGraph", error);
    const CUgraphNode above = snapshot->places[level->parent].handle;
    *out = gphi_flow_body_graph(above, flat - level->first);
    if (!*out)
        return gphi_fail(error, GPH_E_STATE, "graph %p changed while it was described",
                         (void *)snapshot->source);
    return GPH_OK;
}

static gph_status read_driver(gph_snapshot *snapshot, const gphi_vec *kerns,
                              gph_error *error)
{
    const gphi_cuda_table *cu = &snapshot->runtime->cu;
    GPHI_TRY(check_query(snapshot, cu->cuCtxGetCurrent(&snapshot->context),
                         "cuCtxGetCurrent", error));
    for (uint32_t i = 0; i < snapshot->level_count; i++) {
        const gphi_level *level = &snapshot->levels[i];
        CUgraph graph = snapshot->source;
        if (level->parent != GPH_NODE_NONE) /* whose handles are read already */
            GPHI_TRY(find_graph(snapshot, level->parent, &graph, error));
        if (!graph)
            continue; /* the driver has no graph of bodies */
        GPHI_TRY(read_handles(snapshot, level, graph, error));
    }
    for (uint32_t i = 0; i < snapshot->count; i++)
        GPHI_TRY(read_place(snapshot, i, kerns, error));
    return GPH_OK;
}

/* ---- life ---- */

gph_status gph_snapshot_take(gph_runtime *runtime, CUgraph graph, gph_snapshot **out,
                             gph_error *error)
{
    GPHI_TRY(gphi_need(error, runtime, graph, out));
    gph_snapshot *snapshot = create(runtime, graph);
    GPHI_TRY(gphi_made(error, snapshot, "describing graph %p", (void *)graph));
    gphi_vec kerns;
    gphi_vec_init(&kerns, runtime->heap, sizeof(uint8_t));
    const gphi_graph_source from = {.runtime = runtime, .graph = graph, .kerns = &kerns};
    gph_status status = gphi_graph_describe(&from, &snapshot->graph, error);
    GPHI_THEN(status, lay_out(snapshot, error));
    GPHI_THEN(status, read_driver(snapshot, &kerns, error));
    gphi_vec_fini(&kerns);
    if (status != GPH_OK) {
        destroy(snapshot);
        return status;
    }
    *out = snapshot;
    return GPH_OK;
}

gph_status gphi_snapshot_given(gph_snapshot *given, const gph_runtime *runtime,
                               CUgraph graph, gph_snapshot **out, gph_error *error)
{
    if (given->source != graph || given->runtime != runtime)
        return gphi_fail(error, GPH_E_INVALID,
                         "options.snapshot is of graph %p, not of %p",
                         (void *)given->source, (void *)graph);
    *out = gph_snapshot_retain(given);
    return GPH_OK;
}

gph_snapshot *gph_snapshot_retain(gph_snapshot *snapshot)
{
    /* relaxed: who retains has a reference already. */
    atomic_fetch_add_explicit(&snapshot->references, 1, memory_order_relaxed);
    return snapshot;
}

void gph_snapshot_release(gph_snapshot *snapshot)
{
    /* acq_rel: the last one sees what others did with it. */
    if (snapshot &&
        atomic_fetch_sub_explicit(&snapshot->references, 1, memory_order_acq_rel) == 1)
        destroy(snapshot);
}

const gph_graph *gph_snapshot_graph(const gph_snapshot *snapshot)
{
    return snapshot ? snapshot->graph : NULL;
}

/* ---- copies ---- */

static gph_status copy_graph(gph_allocator heap, const gph_graph *from, gph_graph **out,
                             gph_error *error)
{
    gph_graph *copy = NULL;
    gph_status status = gph_graph_create(&heap, &copy, error);
    for (uint32_t i = 0; status == GPH_OK && i < gph_graph_node_count(from); i++) {
        gph_node node = *gph_graph_node(from, i);
        if (gphi_node_graph(&node))
            status = copy_graph(heap, node.u.child, &node.u.child, error); /* DEPTH_MAX */
        if (status != GPH_OK)
            break;
        status = gph_graph_node_add(copy, &node, NULL, error);
        if (status != GPH_OK && gphi_kind_has_graph(node.kind))
            gph_graph_destroy(node.u.child);
    }
    for (size_t i = 0; status == GPH_OK && i < gph_graph_edge_count(from); i++)
        status = gph_graph_edge_add(copy, gph_graph_edge(from, i), error);
    if (status != GPH_OK) {
        gph_graph_destroy(copy);
        return status;
    }
    *out = copy;
    return GPH_OK;
}

gph_status gphi_snapshot_copy(const gph_snapshot *from, gph_snapshot **out,
                              gph_error *error)
{
    gph_snapshot *copy = create(from->runtime, from->source);
    GPHI_TRY(gphi_made(error, copy, "copying what %u nodes hold", from->count));
    copy->context = from->context;
    gph_status status = copy_graph(from->runtime->heap, from->graph, &copy->graph, error);
    GPHI_THEN(status, lay_out(copy, error));
    if (status != GPH_OK) {
        destroy(copy);
        return status;
    }
    for (uint32_t i = 0; i < copy->count; i++) {
        copy->places[i].handle = from->places[i].handle;
        copy->places[i].dst = from->places[i].dst;
        copy->places[i].src = from->places[i].src;
        copy->places[i].is_kern = from->places[i].is_kern;
    }
    *out = copy;
    return GPH_OK;
}

gph_node *gphi_snapshot_node(gph_snapshot *copy, uint32_t flat)
{
    const gphi_level *level = &copy->levels[copy->places[flat].level];
    return gphi_vec_at(&level->graph->nodes, flat - level->first);
}

/* ---- names ---- */

uint32_t gphi_place_top(const gph_snapshot *snapshot, uint32_t flat)
{
    uint32_t parent = snapshot->levels[snapshot->places[flat].level].parent;
    while (parent != GPH_NODE_NONE) {
        flat = parent;
        parent = snapshot->levels[snapshot->places[flat].level].parent;
    }
    return flat;
}

void gphi_place_path(const gph_snapshot *snapshot, uint32_t flat, char *out, size_t bytes)
{
    const gphi_level *level = &snapshot->levels[snapshot->places[flat].level];
    size_t used = 0;
    if (level->parent != GPH_NODE_NONE) {
        gphi_place_path(snapshot, level->parent, out, bytes); /* DEPTH_MAX */
        used = strlen(out);
    }
    snprintf(out + used, bytes - used, "%s%u", used > 0 ? "/" : "", flat - level->first);
}
