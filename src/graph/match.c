// SPDX-License-Identifier: Apache-2.0
/* Partners in two graphs. Of one topology, they are those that an update pairs. Else the
 * nodes are laid out in a row each, in topological order, and a longest common row is
 * taken, by kind and function (Myers 1986, "An O(ND) difference algorithm"):
 *
 *     memset  axpy  axpy  scale  memcpy
 *     memset  axpy        scale  gather  memcpy          axpy removed, gather added
 *
 * Rows that differ in more than DIFFERENCES_MAX places are paired first come first
 * served, so that no file takes longer than its length allows. */
#include "graph/match.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/map.h"
#include "graph/graph.h"
#include "graph/topology.h"

#include <string.h>

enum { DIFFERENCES_MAX = 1500 };

/* One graph's nodes in their row. */
struct row {
    gph_allocator heap;
    uint32_t count;
    uint32_t *order;  /* node by place */
    uint64_t *tokens; /* by place: equal for nodes that may be partners */
};

static uint64_t token_of(const gph_node *node)
{
    return gphi_hash_text(gphi_hash_word(GPHI_HASH_START, (uint64_t)node->kind),
                          node->kind == GPH_NODE_KERNEL ? node->u.kernel.function : NULL);
}

static gph_status row_init(struct row *row, const gph_graph *graph)
{
    *row = (struct row){.heap = graph->heap, .count = (uint32_t)graph->nodes.count};
    if (row->count == 0)
        return GPH_OK;
    row->order = gphi_heap_array(row->heap, row->count, sizeof(*row->order));
    row->tokens = gphi_heap_array(row->heap, row->count, sizeof(*row->tokens));
    if (!row->order || !row->tokens)
        return GPH_E_NO_MEMORY;
    const gph_status status = gph_graph_order(graph, row->order, NULL);
    if (status == GPH_E_NO_MEMORY)
        return status;
    for (uint32_t i = 0; i < row->count; i++) {
        if (status != GPH_OK) /* a cycle */
            row->order[i] = i;
        row->tokens[i] = token_of(gph_graph_node(graph, row->order[i]));
    }
    return GPH_OK;
}

static void row_fini(struct row *row)
{
    gphi_heap_free(row->heap, row->order, row->count * sizeof(*row->order));
    gphi_heap_free(row->heap, row->tokens, row->count * sizeof(*row->tokens));
}

/* What is left of two rows without their common ends. */
struct middle {
    const struct row *a, *b;
    uint32_t from;     /* in both */
    uint32_t n, m;     /* places of each */
    uint32_t *partner; /* by node of a */
};

static void pair_places(const struct middle *of, uint32_t x, uint32_t y)
{
    of->partner[of->a->order[of->from + x]] = of->b->order[of->from + y];
}

static bool equal(const struct middle *of, uint32_t x, uint32_t y)
{
    return of->a->tokens[of->from + x] == of->b->tokens[of->from + y];
}

static void trim(struct middle *of)
{
    uint32_t last_a = of->a->count, last_b = of->b->count;
    while (of->from < last_a && of->from < last_b && equal(of, 0, 0)) {
        pair_places(of, 0, 0);
        of->from++;
    }
    while (last_a > of->from && last_b > of->from &&
           of->a->tokens[last_a - 1] == of->b->tokens[last_b - 1])
        of->partner[of->a->order[--last_a]] = of->b->order[--last_b];
    of->n = last_a - of->from;
    of->m = last_b - of->from;
}

/* ---- the longest common row ---- */

/* reach[d * (d + 1) / 2 + ...]: how far into a the furthest path with d differences came
 * on diagonal k, k from -d to d in steps of 2: d + 1 entries. */
static uint32_t *reach_at(uint32_t *reach, int64_t d, int64_t k)
{
    return &reach[d * (d + 1) / 2 + (k + d) / 2];
}

static uint32_t step(const struct middle *of, uint32_t *reach, int64_t d, int64_t k)
{
    int64_t x = 0;
    if (d > 0) {
        const bool down = k == -d || (k != d && *reach_at(reach, d - 1, k - 1) <
                                                    *reach_at(reach, d - 1, k + 1));
        x = down ? (int64_t)*reach_at(reach, d - 1, k + 1)
                 : (int64_t)*reach_at(reach, d - 1, k - 1) + 1;
    }
    /* A path may leave the table; there it stays, as it came. */
    while (x - k >= 0 && x < of->n && x - k < of->m &&
           equal(of, (uint32_t)x, (uint32_t)(x - k)))
        x++;
    return (uint32_t)x;
}

/* Back along the path: what was equal are partners. */
static void trace(const struct middle *of, uint32_t *reach, int64_t d)
{
    int64_t x = of->n, y = of->m;
    for (; d >= 0; d--) {
        const int64_t k = x - y;
        int64_t from_x = 0, from_y = 0;
        bool down = false;
        if (d > 0) {
            down = k == -d || (k != d && *reach_at(reach, d - 1, k - 1) <
                                             *reach_at(reach, d - 1, k + 1));
            const int64_t from_k = down ? k + 1 : k - 1;
            from_x = *reach_at(reach, d - 1, from_k);
            from_y = from_x - from_k;
        }
        const int64_t start_x = d == 0 ? 0 : from_x + !down;
        while (x > start_x) {
            x--;
            y--;
            pair_places(of, (uint32_t)x, (uint32_t)y);
        }
        x = from_x;
        y = from_y;
    }
}

/* False: more differences than that. */
static gph_status pair_longest(const struct middle *of, bool *done)
{
    const int64_t most = (int64_t)of->n + of->m < DIFFERENCES_MAX ? (int64_t)of->n + of->m
                                                                  : DIFFERENCES_MAX;
    const size_t entries = (size_t)((most + 1) * (most + 2) / 2);
    *done = false;
    uint32_t *reach = gphi_heap_array(of->a->heap, entries, sizeof(*reach));
    if (!reach)
        return GPH_E_NO_MEMORY;
    for (int64_t d = 0; d <= most && !*done; d++)
        for (int64_t k = -d; k <= d && !*done; k += 2) {
            const uint32_t x = step(of, reach, d, k);
            *reach_at(reach, d, k) = x;
            if (x == of->n && (int64_t)x - k == of->m) {
                trace(of, reach, d);
                *done = true;
            }
        }
    gphi_heap_free(of->a->heap, reach, entries * sizeof(*reach));
    return GPH_OK;
}

/* ---- first come, first served ---- */

/* The next place of b with the same token, by place; `head` has the first of each. */
static gph_status pair_greedily(const struct middle *of)
{
    gph_status status = GPH_E_NO_MEMORY;
    gphi_map head;
    gphi_map_init(&head, of->a->heap);
    uint32_t *next = gphi_heap_array(of->a->heap, (size_t)of->m + 1, sizeof(*next));
    if (!next)
        goto done;
    for (uint32_t y = of->m; y-- > 0;) {
        const uint64_t token = of->b->tokens[of->from + y];
        const uint64_t *later = gphi_map_get(&head, token);
        next[y] = later ? (uint32_t)*later : UINT32_MAX;
        if (gphi_map_set(&head, token, y) != GPH_OK)
            goto done;
    }
    for (uint32_t x = 0; x < of->n; x++) {
        uint64_t *y = gphi_map_get(&head, of->a->tokens[of->from + x]);
        if (!y || *y == UINT32_MAX)
            continue;
        pair_places(of, x, (uint32_t)*y);
        *y = next[*y];
    }
    status = GPH_OK;
done:
    gphi_heap_free(of->a->heap, next, ((size_t)of->m + 1) * sizeof(*next));
    gphi_map_fini(&head);
    return status;
}

static gph_status match_rows(const gph_graph *a, const gph_graph *b, uint32_t *partner)
{
    struct row left, right = {0};
    bool done = false;
    gph_status status = row_init(&left, a);
    if (status == GPH_OK)
        status = row_init(&right, b);
    if (status == GPH_OK) {
        struct middle middle = {.a = &left, .b = &right, .partner = partner};
        trim(&middle);
        status = pair_longest(&middle, &done);
        if (status == GPH_OK && !done)
            status = pair_greedily(&middle);
    }
    row_fini(&right);
    row_fini(&left);
    return status;
}

/* ---- both ---- */

static bool same_kind(void *user, const gphi_pairing *pairing, uint32_t a, uint32_t b)
{
    (void)user;
    return gph_graph_node(pairing->a->graph, a)->kind ==
           gph_graph_node(pairing->b->graph, b)->kind;
}

gph_status gphi_match(const gph_graph *a, const gph_graph *b, uint32_t *partner,
                      bool *is_exact)
{
    gphi_topology left = {0}, right = {0};
    gphi_pairing pairing = {
        .a = &left, .b = &right, .visit = same_kind, .any_data = true};
    gph_status status = gphi_topology_init(&left, a);
    if (status == GPH_OK)
        status = gphi_topology_init(&right, b);
    if (status == GPH_OK) {
        status = gphi_pairing_run(&pairing);
        *is_exact = status == GPH_OK && pairing.mismatch == GPHI_MATCH;
        if (*is_exact && left.count > 0)
            memcpy(partner, pairing.partner, left.count * sizeof(*partner));
        gphi_pairing_fini(&pairing);
    }
    gphi_topology_fini(&right);
    gphi_topology_fini(&left);
    if (status != GPH_OK || *is_exact)
        return status;
    if (a->nodes.count > 0)
        memset(partner, 0xff, a->nodes.count * sizeof(*partner)); /* GPH_NODE_NONE */
    return match_rows(a, b, partner);
}
