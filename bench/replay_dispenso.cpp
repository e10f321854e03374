// SPDX-License-Identifier: Apache-2.0
/* bench/replay on dispenso's graphs; the caller is one of the threads. */
#include <vector>

#include <dispenso/graph.h>
#include <dispenso/graph_executor.h>
#include <dispenso/task_set.h>
#include <dispenso/thread_pool.h>

#include "replay.h"

namespace {
struct dispenso_peer {
    dispenso::ThreadPool pool;
    dispenso::Graph graph;
    bool is_alone;

    dispenso_peer(const replay_graph *shape, replay_fn *fn, int threads)
        : pool((size_t)threads - 1), is_alone(threads == 1)
    {
        std::vector<dispenso::Node *> nodes;
        for (uint32_t i = 0; i < shape->node_count; i++) {
            uint32_t *rounds = &shape->rounds[i];
            nodes.push_back(&graph.addNode([=] { fn(rounds); }));
            for (uint32_t e = shape->pred_first[i]; e < shape->pred_first[i + 1]; e++)
                nodes[i]->dependsOn(*nodes[shape->from[e]]);
        }
    }

    void replay()
    {
        setAllNodesIncomplete(graph);
        if (is_alone) {
            dispenso::SingleThreadExecutor()(graph);
            return;
        }
        dispenso::ConcurrentTaskSet tasks(pool);
        dispenso::ConcurrentTaskSetExecutor()(tasks, graph);
    }
};

dispenso_peer *own(replay_peer *peer)
{
    return reinterpret_cast<dispenso_peer *>(peer);
}

replay_peer *build(const replay_graph *graph, replay_fn *fn, int threads)
{
    return reinterpret_cast<replay_peer *>(new dispenso_peer(graph, fn, threads));
}

void replay(replay_peer *peer)
{
    own(peer)->replay();
}

void destroy(replay_peer *peer)
{
    delete own(peer);
}
} // namespace

extern "C" {
extern const replay_executor replay_dispenso = {"dispenso", build, replay, destroy};
}
