// SPDX-License-Identifier: Apache-2.0
/* The words of a graph, read without describing it. Two graphs that are captured by the
 * same calls have their nodes and edges in one order, so both are compared place by place;
 * whatever is not so is left to the slower way, which says why. */
#include "cache/block.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/map.h"
#include "cuda/status.h"
#include "graph/convert.h"
#include "replay/query.h"

#include <string.h>

bool gphi_words_fit(const gph_node *a, const gph_node *b)
{
    const gph_kernel_params *x = &a->u.kernel, *y = &b->u.kernel;
    const bool fixed_grid = x->cooperative || x->cluster[0] > 0;
    return a->kind == GPH_NODE_KERNEL && x->handle == y->handle &&
           x->context == y->context && x->shared_bytes == y->shared_bytes &&
           x->cooperative == y->cooperative && x->priority == y->priority &&
           x->buffer_bytes == y->buffer_bytes &&
           memcmp(x->cluster, y->cluster, sizeof(x->cluster)) == 0 &&
           memcmp(x->block, y->block, sizeof(x->block)) == 0 &&
           (!fixed_grid || memcmp(x->grid, y->grid, sizeof(x->grid)) == 0);
}

static void put_grid(const gphi_patch_row *row, const gph_kernel_params *kernel,
                     unsigned char *out)
{
    const uint64_t grid[GPHI_PATCH_GRID_WORDS] = {
        kernel->grid[0] | (uint64_t)kernel->grid[1] << 32, kernel->grid[2]};
    memcpy(out + row->offset + row->words * sizeof(uint64_t), grid, sizeof(grid));
}

void gphi_words_put(const gphi_patch_row *row, const gph_kernel_params *kernel,
                    unsigned char *out)
{
    if (row->bytes > 0)
        memcpy(out + row->offset, kernel->buffer, row->bytes);
    put_grid(row, kernel, out);
}

/* ---- a graph of the class ---- */

/* Whether its arguments are where the kernel says, and nowhere else. */
static bool has_plain_arguments(const gph_kernel_params *kernel)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        const size_t end = (size_t)kernel->args[i].offset + kernel->args[i].bytes;
        bytes = end > bytes ? end : bytes;
    }
    return bytes == kernel->buffer_bytes;
}

static bool is_plain(const gph_snapshot *like)
{
    for (uint32_t i = 0; i < like->count; i++) {
        const gph_node *node = like->places[i].node;
        if (node->kind != GPH_NODE_KERNEL || !has_plain_arguments(&node->u.kernel))
            return false;
    }
    return like->level_count == 1;
}

static gph_status check(CUresult result, const char *call, gph_error *error)
{
    return gphi_cuda_check(error, result, call, "looking at a graph of a class");
}

static gph_status allocate(gphi_words *words, gph_error *error)
{
    const gph_allocator heap = words->runtime->heap;
    const size_t nodes = words->like->count + 1, edges = words->edges + 1;
    words->ends = gphi_heap_array(heap, edges, 2 * sizeof(*words->ends));
    words->data = gphi_heap_array(heap, edges, 2 * sizeof(*words->data));
    words->nodes = gphi_heap_array(heap, nodes, sizeof(*words->nodes));
    words->from = gphi_heap_array(heap, edges, 2 * sizeof(*words->from));
    GPHI_TRY(gphi_made(error, words->ends && words->data && words->nodes && words->from,
                       "%zu edges", words->edges));
    words->other = words->data + edges;
    words->to = words->from + edges;
    return GPH_OK;
}

static gph_status read_edges(const gphi_words *words, CUgraph graph,
                             CUgraphEdgeData *data, size_t *count, gph_error *error)
{
    *count = words->edges + 1;
    return check(
        words->runtime->cu.cuGraphGetEdges(graph, words->from, words->to, data, count),
        "cuGraphGetEdges", error);
}

/* By the handles of the snapshot, which are in the driver's order. */
static gph_status number_edges(gphi_words *words, gph_error *error)
{
    gphi_map index;
    gph_status status = GPH_OK;
    gphi_map_init(&index, words->runtime->heap);
    for (uint32_t i = 0; i < words->like->count && status == GPH_OK; i++)
        status = gphi_map_set(&index, (uintptr_t)words->like->places[i].handle, i);
    for (size_t i = 0; i < words->edges && status == GPH_OK; i++) {
        const uint64_t *from = gphi_map_get(&index, (uintptr_t)words->from[i]);
        const uint64_t *to = gphi_map_get(&index, (uintptr_t)words->to[i]);
        words->is_plain = words->is_plain && from && to;
        words->ends[2 * i] = from ? (uint32_t)*from : 0;
        words->ends[2 * i + 1] = to ? (uint32_t)*to : 0;
    }
    gphi_map_fini(&index);
    return gphi_made(error, status == GPH_OK, "%u nodes", words->like->count);
}

gph_status gphi_words_init(gphi_words *words, gph_runtime *runtime,
                           const gph_snapshot *like, gph_error *error)
{
    size_t count = 0;
    *words = (gphi_words){.runtime = runtime, .like = like, .is_plain = is_plain(like)};
    if (!words->is_plain)
        return GPH_OK;
    words->edges = like->levels[0].topology.edges;
    GPHI_TRY(allocate(words, error));
    GPHI_TRY(read_edges(words, like->source, words->data, &count, error));
    words->is_plain = count == words->edges;
    return words->is_plain ? number_edges(words, error) : GPH_OK;
}

void gphi_words_fini(gphi_words *words)
{
    const size_t nodes = words->like ? words->like->count + 1 : 0;
    const size_t edges = words->edges + 1;
    if (!words->runtime)
        return;
    const gph_allocator heap = words->runtime->heap;
    gphi_heap_free(heap, words->ends, edges * 2 * sizeof(*words->ends));
    gphi_heap_free(heap, words->data, edges * 2 * sizeof(*words->data));
    gphi_heap_free(heap, words->nodes, nodes * sizeof(*words->nodes));
    gphi_heap_free(heap, words->from, edges * 2 * sizeof(*words->from));
    *words = (gphi_words){0};
}

/* ---- another one ---- */

static gph_status same_edges(const gphi_words *words, CUgraph graph, bool *fits,
                             gph_error *error)
{
    size_t count = 0;
    GPHI_TRY(read_edges(words, graph, words->other, &count, error));
    *fits = count == words->edges &&
            memcmp(words->other, words->data, count * sizeof(*words->data)) == 0;
    for (size_t i = 0; i < words->edges && *fits; i++)
        *fits = words->from[i] == words->nodes[words->ends[2 * i]] &&
                words->to[i] == words->nodes[words->ends[2 * i + 1]];
    return GPH_OK;
}

static gph_status read_kernel(const gphi_words *words, uint32_t index,
                              const gphi_patch_row *row, unsigned char *out, bool *fits,
                              gph_error *error)
{
    const gphi_cuda_table *cu = &words->runtime->cu;
    const gph_node *like = words->like->places[index].node;
    const gph_kernel_params *known = &like->u.kernel;
    const CUgraphNode node = words->nodes[index];
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    CUDA_KERNEL_NODE_PARAMS params = {0};
    GPHI_TRY(check(cu->cuGraphNodeGetType(node, &type), "cuGraphNodeGetType", error));
    *fits = type == CU_GRAPH_NODE_TYPE_KERNEL;
    if (!*fits)
        return GPH_OK;
    GPHI_TRY(check(cu->cuGraphKernelNodeGetParams(node, &params),
                   "cuGraphKernelNodeGetParams", error));
    gph_node found = {.kind = GPH_NODE_KERNEL};
    gph_kernel_params *kernel = &found.u.kernel;
    gphi_kernel_from_cuda(&params, kernel);
    GPHI_TRY(check(gphi_kernel_attributes_read(cu, node, kernel),
                   "cuGraphKernelNodeGetAttribute", error));
    kernel->buffer_bytes = known->buffer_bytes; /* one handle has one layout */
    *fits = !params.extra && (params.kernelParams || known->arg_count == 0) &&
            !params.func == words->like->places[index].is_kern &&
            gphi_words_fit(like, &found);
    for (uint32_t i = 0; i < known->arg_count && *fits; i++)
        memcpy(out + row->offset + known->args[i].offset, params.kernelParams[i],
               known->args[i].bytes);
    put_grid(row, kernel, out);
    return GPH_OK;
}

gph_status gphi_words_read(gphi_words *words, CUgraph graph, const gphi_patch_row *rows,
                           unsigned char *out, bool *fits, gph_error *error)
{
    size_t count = words->like->count + 1;
    *fits = words->is_plain;
    if (!*fits)
        return GPH_OK;
    GPHI_TRY(check(words->runtime->cu.cuGraphGetNodes(graph, words->nodes, &count),
                   "cuGraphGetNodes", error));
    *fits = count == words->like->count;
    if (*fits)
        GPHI_TRY(same_edges(words, graph, fits, error));
    for (uint32_t i = 0; i < words->like->count && *fits; i++)
        GPHI_TRY(read_kernel(words, i, &rows[i], out, fits, error));
    return GPH_OK;
}
