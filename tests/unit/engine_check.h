// SPDX-License-Identifier: Apache-2.0
/* A program whose nodes check that they run once a launch, and after all predecessors. */
#ifndef ENGINE_CHECK_H
#define ENGINE_CHECK_H
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "softcuda/engine/engine.h"
#include "test.h"

typedef struct check_node {
    struct check_graph *graph;
    uint32_t index;
    uint32_t pred_first, pred_count; /* into graph->preds */
    uint32_t spin;                   /* how much work it pretends to be */
    atomic_uint parts_done;          /* of this launch */
    atomic_uint runs;                /* launches in which it has completed */
    atomic_uchar *part_seen;         /* one a part: launches in which it ran */
} check_node;

typedef struct check_graph {
    uint32_t node_count;
    uint64_t edge_count;
    soft_edge *edges;
    uint32_t *preds;
    check_node *nodes;
    soft_work *works;
    uint8_t *kinds;
    atomic_uint launch;  /* the launch that runs: 1, 2, ... */
    atomic_uint running; /* launches at once: must be 1 */
    atomic_uint finished;
    atomic_uint wrong;
} check_graph;

static uint64_t check_seed = 88172645463325252u;
static inline uint32_t check_random(uint32_t below)
{
    check_seed ^= check_seed << 13;
    check_seed ^= check_seed >> 7;
    check_seed ^= check_seed << 17;
    return (uint32_t)(check_seed % below);
}

static inline void check_spin(uint32_t rounds)
{
    for (volatile uint32_t i = 0; i < rounds; i++) {
    }
}

/* EMPTY nodes never run, so what they depend on is checked through them. */
static inline void check_preds(check_node *node)
{
    check_graph *graph = node->graph;
    const unsigned launch = atomic_load_explicit(&graph->launch, memory_order_relaxed);
    for (uint32_t i = 0; i < node->pred_count; i++) {
        check_node *pred = &graph->nodes[graph->preds[node->pred_first + i]];
        if (graph->kinds[pred->index] == SOFT_WORK_EMPTY)
            check_preds(pred);
        else if (atomic_load_explicit(&pred->runs, memory_order_relaxed) != launch)
            atomic_fetch_add(&graph->wrong, 1);
    }
}

static inline void check_run(void *argument, soft_worker *worker)
{
    (void)worker;
    check_node *node = argument;
    check_preds(node);
    check_spin(node->spin);
    const unsigned launch =
        atomic_load_explicit(&node->graph->launch, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&node->runs, 1, memory_order_relaxed) + 1 != launch)
        atomic_fetch_add(&node->graph->wrong, 1);
}

static inline void check_run_parts(void *argument, soft_parts *parts, soft_worker *worker)
{
    check_node *node = argument;
    uint64_t first, count;
    while ((count = soft_parts_claim(parts, node->index % 3, &first)) != 0) {
        check_preds(node);
        if (first + count > soft_parts_total(parts))
            atomic_fetch_add(&node->graph->wrong, 1);
        const unsigned launch =
            atomic_load_explicit(&node->graph->launch, memory_order_relaxed);
        for (uint64_t i = first; i < first + count; i++) {
            check_spin(node->spin);
            if ((unsigned char)(atomic_fetch_add_explicit(&node->part_seen[i], 1,
                                                          memory_order_relaxed) +
                                1) != (unsigned char)launch)
                atomic_fetch_add(&node->graph->wrong, 1);
        }
        const uint64_t done =
            atomic_fetch_add_explicit(&node->parts_done, (unsigned)count,
                                      memory_order_relaxed) +
            count;
        if (done == soft_parts_total(parts)) {
            atomic_store_explicit(&node->parts_done, 0, memory_order_relaxed);
            atomic_fetch_add_explicit(&node->runs, 1, memory_order_relaxed);
        }
    }
    (void)worker;
}

/* The launch begins where no node of it runs: a node with which all start would need an
 * edge to each, so the count is moved by `done` of the launch before. */
static inline void check_done(void *argument, soft_worker *worker)
{
    (void)worker;
    check_graph *graph = argument;
    const unsigned launch = atomic_load_explicit(&graph->launch, memory_order_relaxed);
    for (uint32_t i = 0; i < graph->node_count; i++)
        if (graph->kinds[i] != SOFT_WORK_EMPTY &&
            atomic_load_explicit(&graph->nodes[i].runs, memory_order_relaxed) != launch)
            atomic_fetch_add(&graph->wrong, 1);
    atomic_fetch_add(&graph->finished, 1);
    atomic_store_explicit(&graph->launch, launch + 1, memory_order_relaxed);
}

/* kinds: the share of each kind in 16ths; the rest are CALL. */
typedef struct check_shape {
    uint32_t nodes, max_preds, window; /* predecessors are among the last `window` */
    uint32_t empty, parts, host;
    uint32_t max_parts, spin;
    uint32_t shuffle; /* number the nodes so that edges go both ways */
} check_shape;

static inline uint8_t check_kind(const check_shape *shape)
{
    const uint32_t draw = check_random(16);
    if (draw < shape->empty)
        return SOFT_WORK_EMPTY;
    if (draw < shape->empty + shape->parts)
        return SOFT_WORK_PARTS;
    if (draw < shape->empty + shape->parts + shape->host)
        return SOFT_WORK_HOST;
    return SOFT_WORK_CALL;
}

static inline void check_fill_node(check_graph *graph, const check_shape *shape,
                                   uint32_t i)
{
    check_node *node = &graph->nodes[i];
    node->graph = graph;
    node->index = i;
    node->spin = check_random(4) == 0 ? shape->spin : shape->spin / 8;
    soft_work *work = &graph->works[i];
    work->kind = graph->kinds[i] = check_kind(shape);
    work->argument = node;
    if (work->kind == SOFT_WORK_PARTS) {
        work->parts = 1 + check_random(shape->max_parts);
        work->run_parts = check_run_parts;
        node->part_seen = calloc(work->parts, sizeof(*node->part_seen));
    } else {
        work->run = check_run;
    }
}

static inline check_graph *check_graph_make(const check_shape *shape)
{
    check_graph *graph = calloc(1, sizeof(*graph));
    const uint32_t n = shape->nodes;
    graph->node_count = n;
    graph->edges = calloc((size_t)n * shape->max_preds + 1, sizeof(*graph->edges));
    graph->preds = calloc((size_t)n * shape->max_preds + 1, sizeof(*graph->preds));
    graph->nodes = calloc(n, sizeof(*graph->nodes));
    graph->works = calloc(n, sizeof(*graph->works));
    graph->kinds = calloc(n, 1);
    atomic_store(&graph->launch, 1);
    uint32_t *name = calloc(n, sizeof(*name));
    for (uint32_t i = 0; i < n; i++)
        name[i] = i;
    for (uint32_t i = n; shape->shuffle && i > 1; i--) {
        const uint32_t j = check_random(i), keep = name[j];
        name[j] = name[i - 1];
        name[i - 1] = keep;
    }
    for (uint32_t i = 0; i < n; i++) {
        check_fill_node(graph, shape, name[i]);
        check_node *node = &graph->nodes[name[i]];
        node->pred_first = (uint32_t)graph->edge_count;
        const uint32_t window = i < shape->window ? i : shape->window;
        const uint32_t count = window == 0 ? 0 : check_random(shape->max_preds + 1);
        for (uint32_t e = 0; e < count; e++) {
            const uint32_t from = name[i - 1 - check_random(window)];
            graph->preds[graph->edge_count] = from;
            graph->edges[graph->edge_count++] = (soft_edge){from, name[i]};
        }
        node->pred_count = count;
    }
    free(name);
    return graph;
}

static inline void check_graph_free(check_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++)
        free(graph->nodes[i].part_seen);
    free(graph->edges);
    free(graph->preds);
    free(graph->nodes);
    free(graph->works);
    free(graph->kinds);
    free(graph);
}

static inline void check_sleep_us(long us)
{
    const struct timespec t = {.tv_nsec = us * 1000};
    nanosleep(&t, NULL);
}
#endif
