// SPDX-License-Identifier: Apache-2.0
/* bench/replay on OpenMP: a task a node, with depend clauses. */
#include <stdlib.h>

#include "replay.h"

struct replay_peer {
    const replay_graph *graph;
    replay_fn *fn;
    int threads;
    char *token;
};

static replay_peer *build(const replay_graph *graph, replay_fn *fn, int threads)
{
    replay_peer *peer = calloc(1, sizeof(*peer));
    peer->graph = graph;
    peer->fn = fn;
    peer->threads = threads;
    peer->token = calloc(graph->node_count, 1);
    return peer;
}

static void replay(replay_peer *peer)
{
    const replay_graph *graph = peer->graph;
    char *const token = peer->token;
    replay_fn *const fn = peer->fn;
#pragma omp parallel num_threads(peer->threads) default(shared)
#pragma omp single
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t *const rounds = &graph->rounds[i];
        const int first = (int)graph->pred_first[i]; /* an iterator is an int */
        const int end = (int)graph->pred_first[i + 1];
        const uint32_t *const from = graph->from;
        /* gcc 12 does not count uses in an iterator. */
        (void)from, (void)first, (void)end, (void)token;
#pragma omp task firstprivate(rounds) default(shared) depend(iterator(e = first          \
                                                                      : end),            \
                                                             in                          \
                                                             : token[from[e]])           \
    depend(out                                                                           \
           : token[i])
        fn(rounds);
    }
}

static void destroy(replay_peer *peer)
{
    free(peer->token);
    free(peer);
}

const replay_executor replay_omp_depend = {"OpenMP", build, replay, destroy};
