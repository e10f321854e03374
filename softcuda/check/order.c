// SPDX-License-Identifier: Apache-2.0
/* Reachability in the graph: for each node the set of those before it. */
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/check/touched.h"

#define ROWS_BYTES_MAX (256ull << 20)

/* Edges by where they begin, and how many end at each node. */
struct adjacency {
    uint32_t *first, *to, *open, *queue;
};

static void adjacency_fini(struct adjacency *a, const soft_race_options *o,
                           gph_allocator heap)
{
    gphi_heap_free(heap, a->first, (o->node_count + 2ull) * sizeof(uint32_t));
    gphi_heap_free(heap, a->to, (o->edge_count + 1) * sizeof(uint32_t));
    gphi_heap_free(heap, a->open, (o->node_count + 1ull) * sizeof(uint32_t));
    gphi_heap_free(heap, a->queue, (o->node_count + 1ull) * sizeof(uint32_t));
}

static bool adjacency_init(struct adjacency *a, const soft_race_options *o,
                           gph_allocator heap)
{
    a->first = gphi_heap_array(heap, o->node_count + 2ull, sizeof(uint32_t));
    a->to = gphi_heap_array(heap, o->edge_count + 1, sizeof(uint32_t));
    a->open = gphi_heap_array(heap, o->node_count + 1ull, sizeof(uint32_t));
    a->queue = gphi_heap_array(heap, o->node_count + 1ull, sizeof(uint32_t));
    if (!a->first || !a->to || !a->open || !a->queue)
        return false;
    for (uint64_t i = 0; i < o->edge_count; i++) {
        a->first[o->edges[i].from + 2]++;
        a->open[o->edges[i].to]++;
    }
    for (uint32_t i = 2; i < o->node_count + 2; i++)
        a->first[i] += a->first[i - 1];
    /* first[n + 1] moves from where n's edges begin to where they end. */
    for (uint64_t i = 0; i < o->edge_count; i++)
        a->to[a->first[o->edges[i].from + 1]++] = o->edges[i].to;
    return true;
}

/* `to` comes after `from` and all before it. */
static void pass_on(struct order *order, uint32_t from, uint32_t to)
{
    const uint64_t *above = &order->rows[(uint64_t)from * order->words];
    uint64_t *row = &order->rows[(uint64_t)to * order->words];
    for (uint32_t w = 0; w < order->words; w++)
        row[w] |= above[w];
    const uint32_t column = order->columns[from];
    if (column != SOFT_RACE_NO_NODE)
        row[column / 64] |= 1ull << (column % 64);
}

static void fill_rows(struct order *order, struct adjacency *a)
{
    uint32_t head = 0, tail = 0;
    for (uint32_t i = 0; i < order->node_count; i++)
        if (a->open[i] == 0)
            a->queue[tail++] = i;
    while (head < tail) {
        const uint32_t node = a->queue[head++];
        for (uint32_t e = a->first[node]; e < a->first[node + 1]; e++) {
            pass_on(order, node, a->to[e]);
            if (--a->open[a->to[e]] == 0)
                a->queue[tail++] = a->to[e];
        }
    }
}

static bool has_column(const soft_race_options *o, uint32_t node)
{
    bool wanted = o->touches[node] != 0;
    for (uint32_t i = 0; i < o->window_count && !wanted; i++)
        wanted = o->windows[i].alloc == node || o->windows[i].free == node;
    return wanted;
}

gph_status soft_order_init(struct order *order, const soft_race_options *o,
                           const gph_allocator heap, gph_error *error)
{
    order->node_count = o->node_count;
    order->columns = gphi_heap_array(heap, o->node_count + 1ull, sizeof(uint32_t));
    GPHI_TRY(gphi_made(error, order->columns, "the order of %u nodes", o->node_count));
    for (uint32_t i = 0; i < o->node_count; i++)
        order->columns[i] = has_column(o, i) ? order->column_count++ : SOFT_RACE_NO_NODE;
    order->words = (order->column_count + 63) / 64;
    const uint64_t words = (uint64_t)order->words * o->node_count;
    if (words * 8 > ROWS_BYTES_MAX)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "%u nodes, %u of which touch memory, are too many",
                         o->node_count, order->column_count);
    struct adjacency a = {NULL, NULL, NULL, NULL};
    order->rows = gphi_heap_array(heap, words + 1, sizeof(uint64_t));
    const bool done = order->rows && adjacency_init(&a, o, heap);
    if (done)
        fill_rows(order, &a);
    adjacency_fini(&a, o, heap);
    return done ? GPH_OK
                : gphi_fail(error, GPH_E_NO_MEMORY, "the order of %u nodes",
                            o->node_count);
}

void soft_order_fini(struct order *order, gph_allocator heap)
{
    gphi_heap_free(heap, order->rows,
                   ((uint64_t)order->words * order->node_count + 1) * sizeof(uint64_t));
    gphi_heap_free(heap, order->columns, (order->node_count + 1ull) * sizeof(uint32_t));
}

bool soft_order_find_total(const struct order *order, gph_allocator heap, uint8_t *out)
{
    /* How many come before or after, by column. */
    uint32_t *near = gphi_heap_array(heap, order->column_count + 1ull, sizeof(*near));
    if (!near)
        return false;
    for (uint32_t i = 0; i < order->node_count; i++) {
        if (order->columns[i] == SOFT_RACE_NO_NODE)
            continue;
        const uint64_t *row = &order->rows[(uint64_t)i * order->words];
        for (uint32_t w = 0; w < order->words; w++)
            for (uint64_t left = row[w]; left != 0; left &= left - 1) {
                near[w * 64 + (uint32_t)__builtin_ctzll(left)]++;
                near[order->columns[i]]++;
            }
    }
    for (uint32_t i = 0; i < order->node_count; i++)
        out[i] = order->columns[i] != SOFT_RACE_NO_NODE &&
                 near[order->columns[i]] + 1 == order->column_count;
    gphi_heap_free(heap, near, (order->column_count + 1ull) * sizeof(*near));
    return true;
}
