// SPDX-License-Identifier: Apache-2.0
/* bench/replay on oneTBB: a continue_node a node, with and without the lightweight
 * policy. In C++, as the other peers are: they have no C interface. */
#include <memory>
#include <vector>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>

#include "replay.h"

struct replay_peer {
    virtual ~replay_peer() = default;
    virtual void replay() = 0;
};

namespace {
using namespace oneapi::tbb;

using message = oneapi::tbb::flow::continue_msg;

template <typename node> struct peer_of : replay_peer {
    global_control limit;
    oneapi::tbb::flow::graph graph;
    std::vector<std::unique_ptr<node>> nodes;
    std::vector<node *> roots;

    peer_of(const replay_graph *shape, replay_fn *fn, int threads)
        : limit(global_control::max_allowed_parallelism, (size_t)threads)
    {
        for (uint32_t i = 0; i < shape->node_count; i++) {
            uint32_t *rounds = &shape->rounds[i];
            nodes.push_back(
                std::make_unique<node>(graph, [=](const message &) { fn(rounds); }));
            for (uint32_t e = shape->pred_first[i]; e < shape->pred_first[i + 1]; e++)
                oneapi::tbb::flow::make_edge(*nodes[shape->from[e]], *nodes[i]);
            if (shape->pred_first[i] == shape->pred_first[i + 1])
                roots.push_back(nodes[i].get());
        }
    }

    void replay() override
    {
        for (node *root : roots)
            root->try_put(message());
        graph.wait_for_all();
    }
};

template <typename node>
replay_peer *build(const replay_graph *graph, replay_fn *fn, int threads)
{
    return new peer_of<node>(graph, fn, threads);
}

void replay(replay_peer *peer)
{
    peer->replay();
}
void destroy(replay_peer *peer)
{
    delete peer;
}
} // namespace

extern "C" {
using namespace oneapi::tbb::flow;
const replay_executor replay_tbb_flow = {"TBB flow", build<continue_node<continue_msg>>,
                                         replay, destroy};
const replay_executor replay_tbb_light = {
    "TBB light", build<continue_node<continue_msg, lightweight>>, replay, destroy};
}
