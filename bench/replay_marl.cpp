// SPDX-License-Identifier: Apache-2.0
/* bench/replay on Marl, which has tasks and no graphs: a node counts its predecessors down,
 * goes on with the first successor that is ready, and schedules the others. One thread: the
 * caller's, as Marl does without workers. */
#include <atomic>
#include <memory>
#include <vector>

#include <marl/event.h>
#include <marl/scheduler.h>

#include "replay.h"

namespace {
marl::Scheduler::Config config(int threads)
{
    marl::Scheduler::Config out;
    out.setWorkerThreadCount(threads == 1 ? 0 : threads);
    return out;
}

struct marl_peer {
    const replay_graph *shape;
    replay_fn *fn;
    marl::Scheduler scheduler;
    std::vector<std::vector<uint32_t>> after;
    std::vector<uint32_t> roots;
    std::unique_ptr<std::atomic<uint32_t>[]> missing;
    std::atomic<uint32_t> left{0};
    std::unique_ptr<marl::Event> done;

    marl_peer(const replay_graph *graph, replay_fn *body, int threads)
        : shape(graph), fn(body), scheduler(config(threads)), after(graph->node_count),
          missing(new std::atomic<uint32_t>[graph->node_count])
    {
        for (uint32_t i = 0; i < graph->node_count; i++) {
            missing[i] = count(i);
            for (uint32_t e = graph->pred_first[i]; e < graph->pred_first[i + 1]; e++)
                after[graph->from[e]].push_back(i);
            if (count(i) == 0)
                roots.push_back(i);
        }
    }

    uint32_t count(uint32_t i) const
    {
        return shape->pred_first[i + 1] - shape->pred_first[i];
    }

    void run(uint32_t i)
    {
        for (bool more = true; more;) {
            fn(&shape->rounds[i]);
            missing[i].store(count(i), std::memory_order_relaxed); /* for the next replay */
            const uint32_t here = i;
            more = false;
            for (uint32_t next : after[here]) {
                if (missing[next].fetch_sub(1) != 1)
                    continue;
                if (more)
                    marl::schedule([this, next] { run(next); });
                else
                    i = next;
                more = true;
            }
            if (left.fetch_sub(1) == 1)
                done->signal();
        }
    }

    void replay()
    {
        left = shape->node_count;
        done->clear();
        for (uint32_t root : roots)
            marl::schedule([this, root] { run(root); });
        done->wait();
    }
};

marl_peer *own(replay_peer *peer)
{
    return reinterpret_cast<marl_peer *>(peer);
}

replay_peer *build(const replay_graph *graph, replay_fn *fn, int threads)
{
    marl_peer *peer = new marl_peer(graph, fn, threads);
    peer->done = std::make_unique<marl::Event>(marl::Event::Mode::Manual);
    return reinterpret_cast<replay_peer *>(peer);
}

void replay(replay_peer *peer)
{
    own(peer)->scheduler.bind(); /* of one peer at a time */
    own(peer)->replay();
    marl::Scheduler::unbind();
}

void destroy(replay_peer *peer)
{
    delete own(peer);
}
} // namespace

extern "C" {
extern const replay_executor replay_marl = {"Marl", build, replay, destroy};
}
