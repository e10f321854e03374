// SPDX-License-Identifier: Apache-2.0
/* The arrays of a recipe: making, naming, ordering. */
#include "file/bundle.h"
#include "base/heap.h"

#include <string.h>

void gphi_bundle_init(gphi_bundle *bundle, gph_allocator heap)
{
    *bundle = (gphi_bundle){.heap = heap};
    gphi_vec_init(&bundle->text, heap, 1);
    gphi_vec_init(&bundle->ranges, heap, sizeof(struct gphi_bundle_range));
    gphi_vec_init(&bundle->args, heap, sizeof(gph_kernel_arg));
    gphi_vec_init(&bundle->kernels, heap, sizeof(struct gphi_bundle_kernel));
    gphi_vec_init(&bundle->eager, heap, sizeof(struct gphi_bundle_block));
    gphi_vec_init(&bundle->graphs, heap, sizeof(struct gphi_bundle_graph));
}

void gphi_bundle_graph_init(struct gphi_bundle_graph *graph, gph_allocator heap)
{
    *graph = (struct gphi_bundle_graph){0};
    gphi_vec_init(&graph->nodes, heap, sizeof(struct gphi_bundle_node));
    gphi_vec_init(&graph->edges, heap, sizeof(gph_edge));
    gphi_vec_init(&graph->copies, heap, sizeof(gph_memcpy_params));
    gphi_vec_init(&graph->fills, heap, sizeof(gph_memset_params));
    gphi_vec_init(&graph->attributes, heap, sizeof(struct gphi_bundle_attribute));
    gphi_vec_init(&graph->words, heap, sizeof(struct gphi_bundle_word));
    gphi_vec_init(&graph->flows, heap, sizeof(struct gphi_bundle_flow));
    gphi_vec_init(&graph->bodies, heap, sizeof(struct gphi_bundle_body));
    gphi_vec_init(&graph->handles, heap, sizeof(struct gphi_bundle_handle));
    gphi_vec_init(&graph->uses, heap, sizeof(struct gphi_bundle_use));
    gphi_vec_init(&graph->tensors, heap, sizeof(struct gphi_bundle_tensor));
    gphi_vec_init(&graph->blocks, heap, sizeof(struct gphi_bundle_block));
    gphi_vec_init(&graph->keys, heap, sizeof(int64_t));
    gphi_vec_init(&graph->refusals, heap, sizeof(struct gphi_bundle_refusal));
    gphi_vec_init(&graph->order, heap, sizeof(uint32_t));
    gphi_vec_init(&graph->data, heap, 1);
    gphi_vec_init(&graph->check_data, heap, 1);
}

void gphi_bundle_graph_fini(struct gphi_bundle_graph *graph)
{
    gphi_vec *all[] = {&graph->nodes,      &graph->edges,  &graph->copies,
                       &graph->fills,      &graph->words,  &graph->uses,
                       &graph->attributes, &graph->keys,   &graph->tensors,
                       &graph->refusals,   &graph->data,   &graph->check_data,
                       &graph->order,      &graph->blocks, &graph->flows,
                       &graph->bodies,     &graph->handles};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        gphi_vec_fini(all[i]);
}

void gphi_bundle_fini(gphi_bundle *bundle)
{
    for (size_t i = 0; i < bundle->graphs.count; i++)
        gphi_bundle_graph_fini(GPHI_BUNDLE_AT(&bundle->graphs, graph, i));
    gphi_vec_fini(&bundle->graphs);
    gphi_vec_fini(&bundle->eager);
    gphi_vec_fini(&bundle->kernels);
    gphi_vec_fini(&bundle->args);
    gphi_vec_fini(&bundle->ranges);
    gphi_vec_fini(&bundle->text);
}

gph_status gphi_bundle_text_add(gphi_bundle *bundle, const char *text, uint32_t *out)
{
    const size_t bytes = strlen(text) + 1;
    if (bundle->text.count == 0 && !gphi_vec_add(&bundle->text, 1))
        return GPH_E_NO_MEMORY;
    if (bytes == 1) {
        *out = 0;
        return GPH_OK;
    }
    if (bundle->text.count + bytes > UINT32_MAX / 2)
        return GPH_E_NO_MEMORY;
    char *at = gphi_vec_add(&bundle->text, bytes);
    if (!at)
        return GPH_E_NO_MEMORY;
    memcpy(at, text, bytes);
    *out = (uint32_t)(bundle->text.count - bytes);
    return GPH_OK;
}

bool gphi_bundle_is_name(const char *text)
{
    size_t count = 0;
    for (; text && text[count] != '\0'; count++)
        if ((unsigned char)text[count] < 0x20 || text[count] == 0x7f ||
            count == GPHI_BUNDLE_NAME_MAX)
            return false;
    return count > 0;
}

static bool is_in_order(const struct gphi_bundle_graph *graph)
{
    const gph_edge *edges = graph->edges.items;
    for (size_t i = 0; i < graph->edges.count; i++)
        if (edges[i].from >= edges[i].to)
            return false;
    return true;
}

/* Kahn's algorithm on counted lists. `first` has an entry a node and one more, `waits`
 * one a node, `to` one an edge. Returns how many nodes were placed. */
static uint32_t sort_nodes(const struct gphi_bundle_graph *graph, uint32_t *first,
                           uint32_t *waits, uint32_t *to)
{
    const uint32_t nodes = (uint32_t)graph->nodes.count;
    const uint32_t edge_count = (uint32_t)graph->edges.count;
    const gph_edge *edges = graph->edges.items;
    uint32_t *order = graph->order.items;
    for (uint32_t i = 0; i < edge_count; i++) {
        first[edges[i].from + 1]++;
        waits[edges[i].to]++;
    }
    for (uint32_t node = 0; node < nodes; node++)
        first[node + 1] += first[node];
    for (uint32_t i = edge_count; i-- > 0;) /* backwards: lists stay in order */
        to[--first[edges[i].from + 1]] = edges[i].to;
    /* first[n + 1] is now where n's list begins, and first[n + 2] where it ends. */
    uint32_t placed = 0;
    for (uint32_t node = 0; node < nodes; node++)
        if (waits[node] == 0)
            order[placed++] = node;
    for (uint32_t done = 0; done < placed; done++) {
        const uint32_t node = order[done];
        const uint32_t end = node + 2 <= nodes ? first[node + 2] : edge_count;
        for (uint32_t i = first[node + 1]; i < end; i++)
            if (--waits[to[i]] == 0)
                order[placed++] = to[i];
    }
    return placed;
}

uint32_t gphi_bundle_part_first(const struct gphi_bundle_graph *graph, uint32_t part)
{
    return part == 0 ? 0 : GPHI_BUNDLE_AT(&graph->bodies, body, part - 1)->first;
}

uint32_t gphi_bundle_part_end(const struct gphi_bundle_graph *graph, uint32_t part)
{
    return part < graph->bodies.count ? gphi_bundle_part_first(graph, part + 1)
                                      : (uint32_t)graph->nodes.count;
}

/* The last one that begins at the node or before it, and is not empty. */
uint32_t gphi_bundle_part(const struct gphi_bundle_graph *graph, uint32_t node)
{
    uint32_t low = 0, high = (uint32_t)graph->bodies.count;
    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;
        if (gphi_bundle_part_first(graph, middle) <= node)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Part after part, each in the order in which it was: a body's graph is there only after
 * its conditional node. Parts are rows of nodes, so each begins in the order where it
 * begins among nodes. */
static gph_status sort_parts(struct gphi_bundle_graph *graph)
{
    const size_t nodes = graph->nodes.count, parts = graph->bodies.count + 1;
    const gph_allocator heap = graph->nodes.heap;
    uint32_t *scratch = gphi_heap_array(heap, nodes + parts, sizeof(*scratch));
    if (!scratch)
        return GPH_E_NO_MEMORY;
    uint32_t *next = scratch + nodes, *order = graph->order.items;
    for (uint32_t i = 0; i < parts; i++)
        next[i] = gphi_bundle_part_first(graph, i);
    memcpy(scratch, order, nodes * sizeof(*order));
    for (size_t i = 0; i < nodes; i++)
        order[next[gphi_bundle_part(graph, scratch[i])]++] = scratch[i];
    gphi_heap_free(heap, scratch, (nodes + parts) * sizeof(*scratch));
    return GPH_OK;
}

gph_status gphi_bundle_order(struct gphi_bundle_graph *graph)
{
    const size_t nodes = graph->nodes.count, edges = graph->edges.count;
    const gph_allocator heap = graph->nodes.heap;
    graph->order.count = 0;
    if (nodes == 0)
        return GPH_OK;
    uint32_t *order = gphi_vec_add(&graph->order, nodes);
    if (!order)
        return GPH_E_NO_MEMORY;
    if (is_in_order(graph)) { /* as captured graphs are */
        for (uint32_t i = 0; i < nodes; i++)
            order[i] = i;
        return GPH_OK;
    }
    const size_t words = 2 * nodes + 1 + edges;
    uint32_t *scratch = gphi_heap_array(heap, words, sizeof(*scratch));
    if (!scratch)
        return GPH_E_NO_MEMORY;
    const uint32_t placed =
        sort_nodes(graph, scratch, scratch + nodes + 1, scratch + 2 * nodes + 1);
    gphi_heap_free(heap, scratch, words * sizeof(*scratch));
    if (placed != nodes)
        return GPH_E_INVALID;
    return graph->bodies.count > 0 ? sort_parts(graph) : GPH_OK;
}
