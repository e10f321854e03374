// SPDX-License-Identifier: Apache-2.0
/* How far a replay was, node by node, as evidence: what the boards of gph doctor --watch
 * said when it hung, faulted, or the process was killed. */
#include "doctor/rules/launch/rules_launch.h"

enum { RUNNING_MAX = 16, WAITING_MAX = 8, DONE_MAX = 8 };

struct standing {
    gphi_draft *draft;
    const gphi_exec_state *exec;
    const gph_graph *graph;
    uint32_t counts[4]; /* by gph_node_state */
};

gph_node_state gphi_launch_node_state(const gphi_exec_state *exec, uint32_t node)
{
    const uint8_t *states = exec->standing.items;
    return node < exec->standing.count ? (gph_node_state)states[node] : GPH_NODE_UNKNOWN;
}

static gph_node_state state_of(const struct standing *of, uint32_t node)
{
    return gphi_launch_node_state(of->exec, node);
}

/* What it waits for that has not ended: the first, and how many. */
static uint32_t waits_of(const struct standing *of, uint32_t node, uint32_t *first)
{
    uint32_t count = 0;
    for (size_t i = 0; i < gph_graph_edge_count(of->graph); i++) {
        const gph_edge *edge = gph_graph_edge(of->graph, i);
        if (edge->to == node && state_of(of, edge->from) != GPH_NODE_DONE && count++ == 0)
            *first = edge->from;
    }
    return count;
}

/* What waits comes right after it. */
static bool is_last_done(const struct standing *of, uint32_t node)
{
    for (size_t i = 0; i < gph_graph_edge_count(of->graph); i++) {
        const gph_edge *edge = gph_graph_edge(of->graph, i);
        if (edge->from == node && state_of(of, edge->to) != GPH_NODE_DONE)
            return true;
    }
    return false;
}

static void put_waiting(const struct standing *of, uint32_t node)
{
    const gphi_snapshot *source = of->exec->source;
    const gphi_call *made = gphi_snapshot_made(source, node);
    const char *who = gphi_say_node(source, node);
    uint32_t first = 0;
    const uint32_t count = waits_of(of, node, &first);
    if (count == 0)
        gphi_evidence_node(of->draft, source, node, "it had not begun");
    else if (made->number == 0)
        gphi_evidence(of->draft, "%s waits for %s", who, gphi_say_node(source, first));
    else if (count == 1)
        gphi_evidence_call(of->draft, made, "%s waits for %s; made by", who,
                           gphi_say_node(source, first));
    else
        gphi_evidence_call(of->draft, made, "%s waits for %s and %u more; made by", who,
                           gphi_say_node(source, first), (unsigned)(count - 1));
}

/* Whoever looks for a hang looks here: these first. */
static void put_running(const struct standing *of)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < of->exec->standing.count && shown < RUNNING_MAX; i++)
        if (state_of(of, i) == GPH_NODE_RUNNING && shown++ < RUNNING_MAX)
            gphi_evidence_node(of->draft, of->exec->source, i, "it was running");
}

/* Who waits says for whom; of those that ended, what the others stand on is enough. */
static void put_others(const struct standing *of)
{
    uint32_t waiting = 0, done = 0;
    for (uint32_t i = 0; i < of->exec->standing.count; i++)
        if (state_of(of, i) == GPH_NODE_WAITING && waiting++ < WAITING_MAX)
            put_waiting(of, i);
    for (uint32_t i = 0; i < of->exec->standing.count; i++)
        if (state_of(of, i) == GPH_NODE_DONE && is_last_done(of, i) && done++ < DONE_MAX)
            gphi_evidence_node(of->draft, of->exec->source, i, "it had ended");
}

bool gphi_launch_put_standing(gphi_draft *draft, const gphi_exec_state *exec)
{
    struct standing of = {.draft = draft, .exec = exec};
    if (!exec->source || exec->standing.count == 0 ||
        exec->standing.count != exec->source->node_count ||
        exec->launch_state == GPH_LAUNCH_NONE)
        return false;
    of.graph = gphi_snapshot_graph(exec->source);
    for (uint32_t i = 0; i < exec->standing.count; i++)
        of.counts[state_of(&of, i)]++;
    /* Another launch, of another executable, holds up the stream. */
    if (exec->launch_state == GPH_LAUNCH_ENDED) {
        gphi_evidence(draft,
                      "all of its %u nodes had ended: the launch waited for its turn",
                      (unsigned)exec->standing.count);
        return true;
    }
    gphi_evidence(
        draft, "of its %u nodes %u had ended, %u ran, %u waited, %u are not known",
        (unsigned)exec->standing.count, (unsigned)of.counts[GPH_NODE_DONE],
        (unsigned)of.counts[GPH_NODE_RUNNING], (unsigned)of.counts[GPH_NODE_WAITING],
        (unsigned)of.counts[GPH_NODE_UNKNOWN]);
    put_running(&of);
    put_others(&of);
    return true;
}
