// SPDX-License-Identifier: Apache-2.0
/* bench/replay on Taskflow: a task a node, the flow is made once and run again. */
#include <vector>

#include <taskflow/taskflow.hpp>

#include "replay.h"

namespace {
struct flow_peer {
    tf::Executor executor;
    tf::Taskflow flow;

    flow_peer(const replay_graph *shape, replay_fn *fn, int threads)
        : executor((size_t)threads)
    {
        std::vector<tf::Task> tasks;
        for (uint32_t i = 0; i < shape->node_count; i++) {
            uint32_t *rounds = &shape->rounds[i];
            tasks.push_back(flow.emplace([=] { fn(rounds); }));
            for (uint32_t e = shape->pred_first[i]; e < shape->pred_first[i + 1]; e++)
                tasks[shape->from[e]].precede(tasks[i]);
        }
    }
};

flow_peer *own(replay_peer *peer)
{
    return reinterpret_cast<flow_peer *>(peer);
}

replay_peer *build(const replay_graph *graph, replay_fn *fn, int threads)
{
    return reinterpret_cast<replay_peer *>(new flow_peer(graph, fn, threads));
}

void replay(replay_peer *peer)
{
    own(peer)->executor.run(own(peer)->flow).wait();
}

void destroy(replay_peer *peer)
{
    delete own(peer);
}
} // namespace

extern "C" {
extern const replay_executor replay_taskflow = {"Taskflow", build, replay, destroy};
}
