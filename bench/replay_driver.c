// SPDX-License-Identifier: Apache-2.0
/* bench/replay --driver: the same shapes as CUDA graphs of empty kernels (one block of
 * one thread) on softcuda, through the driver API: cuGraphLaunch and cuStreamSynchronize.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

static const char ptx[] = ".version 7.0\n"
                          ".target sm_70\n"
                          ".address_size 64\n"
                          ".visible .entry nothing() { ret; }\n";

#include "driver.h"

struct replay_peer {
    CUgraph graph;
    CUgraphExec exec;
    CUstream stream;
};

static CUfunction open_driver(int threads)
{
    static CUfunction nothing;
    if (nothing != NULL)
        return nothing;
    char count[16];
    snprintf(count, sizeof(count), "%d", threads);
    setenv("SOFTCUDA_WORKERS", count, 1);
    setenv("GPH_DRIVER", "soft", 1); /* the engine's peer, whatever is asked */
    driver_must_open(REPLAY_SOFTCUDA);
    CUmodule module;
    CU(cuModuleLoadData, &module, ptx);
    CU(cuModuleGetFunction, &nothing, module, "nothing");
    return nothing;
}

static replay_peer *build(const replay_graph *shape, replay_fn *fn, int threads)
{
    (void)fn;
    const CUfunction nothing = open_driver(threads);
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(nothing, NULL);
    replay_peer *peer = calloc(1, sizeof(*peer));
    CUgraphNode *nodes = calloc(shape->node_count, sizeof(CUgraphNode));
    CUgraphNode *preds = calloc(shape->node_count, sizeof(CUgraphNode));
    CU(cuGraphCreate, &peer->graph, 0);
    for (uint32_t i = 0; i < shape->node_count; i++) {
        size_t count = 0;
        for (uint32_t e = shape->pred_first[i]; e < shape->pred_first[i + 1]; e++)
            preds[count++] = nodes[shape->from[e]];
        CU(cuGraphAddKernelNode, &nodes[i], peer->graph, preds, count, &params);
    }
    CU(cuGraphInstantiateWithFlags, &peer->exec, peer->graph, 0);
    CU(cuStreamCreate, &peer->stream, 1);
    free(nodes);
    free(preds);
    return peer;
}

static void replay(replay_peer *peer)
{
    CU(cuGraphLaunch, peer->exec, peer->stream);
    CU(cuStreamSynchronize, peer->stream);
}

static void destroy(replay_peer *peer)
{
    CU(cuGraphExecDestroy, peer->exec);
    CU(cuGraphDestroy, peer->graph);
    CU(cuStreamDestroy, peer->stream);
    free(peer);
}

const replay_executor replay_softcuda = {"softcuda", build, replay, destroy};
