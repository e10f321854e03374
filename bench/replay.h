// SPDX-License-Identifier: Apache-2.0
/* What bench/replay runs, on every executor alike: a graph whose node i calls
 * replay_node(i). */
#ifndef BENCH_REPLAY_H
#define BENCH_REPLAY_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct replay_graph {
    const char *name;
    uint32_t node_count;
    uint32_t edge_count;
    uint32_t *from, *to;  /* edges, in the order of `to`; from < to */
    uint32_t *pred_first; /* node_count + 1: edges into node i */
    uint32_t *rounds;     /* how much node i works */
} replay_graph;

/* The body of a node: `rounds` dependent multiplications. */
typedef void replay_fn(uint32_t *rounds);

/* An executor that has built the graph. */
typedef struct replay_peer replay_peer;
typedef struct replay_executor {
    const char *name;
    replay_peer *(*build)(const replay_graph *graph, replay_fn *fn, int threads);
    void (*replay)(replay_peer *peer); /* returns when all nodes are done */
    void (*destroy)(replay_peer *peer);
} replay_executor;

extern const replay_executor replay_serial, replay_ours, replay_tbb_flow,
    replay_tbb_light, replay_taskflow, replay_marl, replay_dispenso, replay_omp_depend,
    replay_softcuda;

/* shapes.c */
enum {
    SHAPE_CHAIN,
    SHAPE_WAVE,
    SHAPE_LAYERED,
    SHAPE_TREE,
    SHAPE_FAN,
    SHAPE_SINGLE,
    SHAPE_COUNT
};
replay_graph *replay_graph_make(int shape);
void replay_graph_free(replay_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
