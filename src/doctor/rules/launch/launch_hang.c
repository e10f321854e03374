// SPDX-License-Identifier: Apache-2.0
/* launch.hang: gph doctor --watch saw a thread that did not come back from a call while a
 * launch was under way, or that asked for its end and did nothing else, and ended the
 * process. What the call waits for is what was launched and not waited for, on its stream
 * first. A call that launches or instantiates waits for nothing: then it hangs itself. */
#include "base/clock.h"
#include "doctor/rules/launch/rules_launch.h"

#include <inttypes.h>

enum { NODES_MAX = 8, EXECS_MAX = 4 };

void gphi_launch_hang_unreturned(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_launch_hang *state = run->state;
    if (run->model->hung == 0)
        return;
    if (seen->call.thread == run->model->hung && state->call.number == 0) {
        state->call = seen->call;
        state->has_stream = seen->stream;
        state->stream = state->has_stream ? seen->stream->handle : 0;
    } else if (state->count < GPHI_LAUNCH_INSIDE) {
        state->others[state->count++] = seen->call;
    }
}

/* The launch that the call waits for: of its stream, else the first that there is. */
static const gphi_exec_state *find_exec(const gphi_rule_run *run,
                                        const gphi_launch **launch)
{
    const gphi_launch_hang *state = run->state;
    const gphi_exec_state *best = NULL;
    for (size_t i = 0; i < run->model->execs.count; i++) {
        const gphi_exec_state *exec = gphi_vec_pointer(&run->model->execs, i);
        const gphi_launch *pending = gphi_exec_pending(run->model, exec);
        if (!pending)
            continue;
        const bool is_its = state->has_stream && pending->stream &&
                            pending->stream->handle == state->stream;
        if (best && !is_its)
            continue;
        best = exec;
        *launch = pending;
        if (is_its)
            break;
    }
    return best;
}

/* Operations that a log of an older library has not got may be any. */
static const char *wait_of_batch(const gph_batch_params *batch)
{
    if (batch->count == 0)
        return "it may wait for a value in memory";
    for (uint32_t i = 0; i < batch->count; i++)
        if (batch->ops[i].operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
            batch->ops[i].operation == CU_STREAM_MEM_OP_WAIT_VALUE_64)
            return "it waits for a value in memory";
    return NULL;
}

/* Which nodes may wait for what does not come. */
static const char *wait_of(const gph_node *node)
{
    switch (node->kind) {
    case GPH_NODE_EVENT_WAIT: return "it waits for an event";
    case GPH_NODE_SEMAPHORE_WAIT: return "it waits for a semaphore";
    case GPH_NODE_HOST: return "it calls a host function";
    case GPH_NODE_BATCH_MEM_OP: return wait_of_batch(&node->u.batch);
    default: return NULL;
    }
}

static void put_nodes(gphi_draft *draft, const gphi_snapshot *snapshot)
{
    const gph_graph *graph = gphi_snapshot_graph(snapshot);
    uint32_t shown = 0, kernels = 0;
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        const char *what = wait_of(node);
        kernels += node->kind == GPH_NODE_KERNEL;
        if (what && shown++ < NODES_MAX)
            gphi_evidence_node(draft, snapshot, i, what);
    }
    if (shown == 0 && kernels > 0)
        gphi_evidence(draft,
                      "no node of it waits for anything outside: one of its %u kernels "
                      "does not end",
                      (unsigned)kernels);
}

/* What cannot begin before the launch has ended: if it is what a node waits for, the two
 * wait for each other. */
static void put_queued(gphi_rule_run *run, gphi_draft *draft, const gphi_launch *launch)
{
    const gphi_work *work = gphi_model_work_next(run->model, launch->work);
    for (; work; work = gphi_model_work_next(run->model, work->number))
        if (work->stream == launch->stream && !work->is_captured) {
            gphi_evidence_call(draft, &work->call,
                               "waits in the same stream until the launch has ended");
            return;
        }
}

static void put_pending(gphi_rule_run *run, gphi_draft *draft, const gphi_exec_state *but)
{
    uint32_t shown = 0;
    for (size_t i = 0; i < run->model->execs.count && shown < EXECS_MAX; i++) {
        const gphi_exec_state *exec = gphi_vec_pointer(&run->model->execs, i);
        const gphi_launch *pending = gphi_exec_pending(run->model, exec);
        if (exec == but || !pending)
            continue;
        shown++;
        gphi_evidence_call(draft, &pending->call, "in flight as well: %s, launched by",
                           gphi_say_exec(run->model, exec));
    }
}

static double seconds(uint64_t from, uint64_t to)
{
    return (double)gphi_span_ns(from, to) / 1e9;
}

/* Where nothing that was launched goes on, it is the call itself. */
static void put_cause(gphi_rule_run *run, gphi_draft *draft, const gphi_exec_state *exec,
                      const gphi_launch *launch)
{
    const gphi_launch_hang *state = run->state;
    gphi_model *model = run->model;
    if (!exec) {
        gphi_cause(draft,
                   "%s has not returned after %.1f s, and no launch was under way: it is "
                   "not waiting for one; the driver or the device makes no progress",
                   gphi_say_call(&state->call),
                   seconds(state->call.time_ns, model->hung_ns));
        return;
    }
    const char *nodes =
        gphi_say_count(exec->source ? exec->source->node_count : 0, "node");
    const char *who = gphi_say_exec(model, exec);
    const char *where = gphi_say_stream(model, launch->stream);
    if (model->hung_asks)
        gphi_cause(draft,
                   "launch %" PRIu64
                   " of %s on %s, of %s, has not ended after %.1f s; the "
                   "program asks for its end again and again, and does nothing else",
                   exec->launch_count, who, where, nodes,
                   seconds(launch->call.time_ns, model->hung_ns));
    else
        gphi_cause(draft,
                   "%s has not returned after %.1f s: launch %" PRIu64
                   " of %s on %s, of %s, has not ended",
                   gphi_say_call(&state->call),
                   seconds(state->call.time_ns, model->hung_ns), exec->launch_count, who,
                   where, nodes);
}

void gphi_launch_hang_end(gphi_rule_run *run)
{
    const gphi_launch_hang *state = run->state;
    const gphi_launch *launch = NULL;
    if (run->model->hung == 0 || run->model->hung_ranks ||
        (state->call.number == 0 && !run->model->hung_asks))
        return;
    const gphi_exec_state *exec = find_exec(run, &launch);
    if (!exec && run->model->hung_asks)
        return;
    const gphi_call *at = run->model->hung_asks ? &launch->call : &state->call;
    gphi_draft *draft = gphi_finding_begin(run, at, 0);
    if (!draft)
        return;
    put_cause(run, draft, exec, launch);
    if (exec) {
        gphi_evidence_call(draft, &launch->call, "launched by");
        gphi_evidence_call(draft, &exec->created, "the executable was made by");
        if (!gphi_launch_put_standing(draft, exec))
            put_nodes(draft, exec->source);
        put_queued(run, draft, launch);
        put_pending(run, draft, exec);
    }
    for (uint32_t i = 0; i < state->count; i++)
        gphi_evidence_call(draft, &state->others[i], "another thread was inside");
}
