// SPDX-License-Identifier: Apache-2.0
/* The shapes of bench/replay. */
#include <stdlib.h>

#include "replay.h"

static void add_edge(replay_graph *graph, uint32_t from, uint32_t to)
{
    graph->from[graph->edge_count] = from;
    graph->to[graph->edge_count++] = to;
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % below);
}

/* 100 layers of 100; one to three predecessors, different ones, in the layer before. */
static void layered_edges(replay_graph *graph)
{
    uint64_t state = 42;
    for (uint32_t i = 100; i < graph->node_count; i++) {
        const uint32_t layer = i / 100 * 100 - 100, count = 1 + draw(&state, 3);
        uint32_t preds[3];
        for (uint32_t n = 0; n < count;) {
            preds[n] = layer + draw(&state, 100);
            uint32_t same = 0;
            for (uint32_t k = 0; k < n; k++)
                same += preds[k] == preds[n];
            n += same == 0;
        }
        for (uint32_t n = 0; n < count; n++)
            add_edge(graph, preds[n], i);
    }
}

/* Node (row, column) is column * 4 + row: numbered along the wave. */
static void wave_edges(replay_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (i % 4 != 0)
            add_edge(graph, i - 1, i);
        if (i >= 4)
            add_edge(graph, i - 4, i);
    }
}

static void fan_edges(replay_graph *graph)
{
    const uint32_t last = graph->node_count - 1;
    for (uint32_t i = 1; i < last; i++)
        add_edge(graph, 0, i);
    for (uint32_t i = 1; i < last; i++)
        add_edge(graph, i, last);
}

replay_graph *replay_graph_make(int shape)
{
    static const struct {
        const char *name;
        uint32_t nodes;
    } shapes[SHAPE_COUNT] = {[SHAPE_CHAIN] = {"chain 1000", 1000},
                             [SHAPE_WAVE] = {"wave 4x1000", 4000},
                             [SHAPE_LAYERED] = {"layered 100x100", 10000},
                             [SHAPE_TREE] = {"tree 2^14", 16383},
                             [SHAPE_FAN] = {"fan 1000", 1002},
                             [SHAPE_SINGLE] = {"single", 1}};
    replay_graph *graph = calloc(1, sizeof(*graph));
    graph->name = shapes[shape].name;
    const uint32_t n = graph->node_count = shapes[shape].nodes;
    graph->from = calloc((size_t)n * 3, sizeof(uint32_t));
    graph->to = calloc((size_t)n * 3, sizeof(uint32_t));
    graph->rounds = calloc(n, sizeof(uint32_t));
    graph->pred_first = calloc(n + 1, sizeof(uint32_t));
    if (shape == SHAPE_LAYERED)
        layered_edges(graph);
    else if (shape == SHAPE_WAVE)
        wave_edges(graph);
    else if (shape == SHAPE_FAN)
        fan_edges(graph);
    for (uint32_t i = 1; i < n && (shape == SHAPE_CHAIN || shape == SHAPE_TREE); i++)
        add_edge(graph, shape == SHAPE_CHAIN ? i - 1 : (i - 1) / 2, i);
    uint32_t e = 0;
    for (uint32_t i = 0; i < n; i++) {
        graph->pred_first[i] = e;
        while (e < graph->edge_count && graph->to[e] == i)
            e++;
    }
    graph->pred_first[n] = e;
    return graph;
}

void replay_graph_free(replay_graph *graph)
{
    free(graph->from);
    free(graph->to);
    free(graph->rounds);
    free(graph->pred_first);
    free(graph);
}
