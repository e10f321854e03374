// SPDX-License-Identifier: Apache-2.0
/* Rules of communicators, where their calls were seen (history/collectives.h): destroyed
 * before the graphs that recorded them, used afterwards, connected within a capture, in two
 * graphs at once. */
#include "base/clock.h"
#include "doctor/rules/nccl/rules_nccl.h"

#include <inttypes.h>

/* By its name, or by the line that made it. */
static const char *say_comm(const gphi_model *model, const gphi_comm *comm)
{
    if (comm->name[0] != '\0')
        return gphi_say("communicator '%.63s'", comm->name);
    const char *place = comm->made.number != 0 ? gphi_say_place(model, &comm->made) : "";
    return place[0] ? gphi_say("the communicator made in %.300s", place)
                    : gphi_say("communicator 0x%" PRIx64, comm->handle);
}

/* ---- nccl.destroy-before-graph ---- */

/* What has a reference to it: NCCL gives one to each graph, and to each executable. */
static const gphi_exec_state *living_exec(const gphi_model *model, const gphi_comm *comm)
{
    for (size_t i = 0; i < model->execs.count; i++) {
        const gphi_exec_state *exec = gphi_vec_pointer(&model->execs, i);
        if (exec->is_alive && gphi_comm_is_in(comm, exec->source))
            return exec;
    }
    return NULL;
}

static const gphi_graph_state *living_graph(const gphi_model *model,
                                            const gphi_comm *comm)
{
    for (size_t i = 0; i < model->graphs.count; i++) {
        const gphi_graph_state *graph = gphi_vec_pointer(&model->graphs, i);
        if (graph->is_alive && gphi_comm_is_in_graph(comm, graph))
            return graph;
    }
    return NULL;
}

static const char *recorded_in(const gphi_model *model, const gphi_exec_state *exec,
                               const gphi_graph_state *graph)
{
    return exec ? gphi_say_exec(model, exec) : gphi_say_graph(model, graph->handle);
}

static void put_destroyed(gphi_rule_run *run, gphi_comm *comm, const gphi_collective *at,
                          const gphi_exec_state *exec, const gphi_graph_state *graph)
{
    gphi_draft *draft = gphi_finding_begin(run, &at->call, 0);
    comm->early = draft;
    gphi_cause(draft,
               "%s of %s did not return while %s was alive, which has recorded "
               "collectives of it: it waits until there is no such graph",
               gphi_collective_name(at->id), say_comm(run->model, comm),
               recorded_in(run->model, exec, graph));
    if (!draft)
        return;
    gphi_evidence_call(draft, &comm->made, "the communicator was made by");
    if (!exec)
        return;
    gphi_evidence_call(draft, &exec->created, "the executable was made by");
    gphi_evidence_call(draft, gphi_last_launch(exec), "and launched last by");
}

/* Reported when the call begins, for it may never return; in other words when it does. */
void gphi_nccl_destroy(gphi_rule_run *run)
{
    gphi_collectives *of = run->collectives;
    if (!of->comm || of->comm->is_gph ||
        gphi_collective_sort_of(of->now.id) != GPHI_COLLECTIVE_END)
        return;
    const gphi_exec_state *exec = living_exec(run->model, of->comm);
    const gphi_graph_state *graph = exec ? NULL : living_graph(run->model, of->comm);
    if (!exec && !graph)
        return;
    if (!of->has_returned)
        put_destroyed(run, of->comm, &of->now, exec, graph);
    else
        gphi_cause(of->comm->early,
                   "%s of %s returned while %s was alive, which has recorded collectives "
                   "of it: a replay from now on uses what was freed",
                   gphi_collective_name(of->now.id), say_comm(run->model, of->comm),
                   recorded_in(run->model, exec, graph));
}

/* A replay of what was destroyed too early follows from that. */
void gphi_nccl_replayed(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_collectives *of = run->collectives;
    if (seen->call.call != GPHI_CALL_cuGraphLaunch || !seen->exec)
        return;
    for (size_t i = 0; i < of->comms.count; i++) {
        const gphi_comm *comm = gphi_vec_pointer(&of->comms, i);
        if (comm->early && gphi_comm_is_in(comm, seen->exec->source))
            gphi_consequence(comm->early, &seen->call);
    }
}

/* ---- nccl.used-after-destroy ---- */

/* Notes the end of a communicator, too: it is used no more from there on. */
void gphi_nccl_used(gphi_rule_run *run, const gphi_event *event)
{
    gphi_collectives *of = run->collectives;
    gphi_comm *comm = of->comm;
    const gphi_collective_sort sort = gphi_collective_sort_of(of->now.id);
    if (event->kind != GPHI_EVENT_COLLECTIVE || of->has_returned || !comm ||
        sort == GPHI_COLLECTIVE_MAKE || sort == GPHI_COLLECTIVE_GROUP)
        return;
    const bool is_work = sort == GPHI_COLLECTIVE_ALL || sort == GPHI_COLLECTIVE_PAIR;
    const gphi_call *by = comm->ended.number != 0 ? &comm->ended
                          : is_work               ? &comm->finalized
                                                  : NULL;
    if (by && by->number != 0) {
        gphi_draft *draft = gphi_finding_begin(run, &of->now.call, 0);
        gphi_cause(draft, "%s was given %s after %s had ended it",
                   gphi_say_collective(&of->now), say_comm(run->model, comm),
                   gphi_say_call(by));
        gphi_evidence_call(draft, by, "it was ended by");
        gphi_evidence_call(draft, &comm->made, "and made by");
        return;
    }
    if (sort == GPHI_COLLECTIVE_FINALIZE)
        comm->finalized = of->now.call;
    if (sort == GPHI_COLLECTIVE_END)
        comm->ended = of->now.call;
}

/* ---- nccl.lazy-connect ---- */

/* Only where it failed: NCCL connects within a capture where it can. */
void gphi_nccl_connect(gphi_rule_run *run, const gphi_event *event)
{
    const gphi_collectives *of = run->collectives;
    const gphi_comm *comm = of->comm;
    const gphi_collective *at = &of->now;
    if (event->kind != GPHI_EVENT_COLLECTIVE || !of->has_returned || !comm ||
        gphi_collective_sort_of(at->id) > GPHI_COLLECTIVE_PAIR || at->capture == 0 ||
        comm->is_gph || (comm->warm & UINT64_C(1) << at->id) != 0)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &at->call, 0);
    gphi_cause(draft,
               "%s is the first such call on %s, and was captured: NCCL connects the "
               "ranks in it, which a capture does not allow; it returned %d",
               gphi_say_collective(at), say_comm(run->model, comm), (int)at->result);
    const gphi_capture *capture = gphi_model_capture(run->model, at->capture);
    if (draft && capture)
        gphi_evidence_call(draft, &capture->begin, "the capture was begun by");
    gphi_evidence_call(draft, &comm->made, "the communicator was made by");
}

/* ---- nccl.unordered-graphs ---- */

enum { STREAMS_MAX = 16 };

/* The last launch in each other stream is enough: those before it are ordered with it. */
static void launched(gphi_rule_run *run, const gphi_seen *seen, gphi_comm *comm)
{
    GPHI_EACH (const gphi_comm_launch, other, &comm->launches) {
        if (other->stream == seen->stream || other->exec == seen->exec ||
            gphi_model_ordered(run->model, other->work, seen->work->number))
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &seen->call, 0);
        gphi_cause(draft,
                   "%s on %s and %s on %s both run collectives of %s, and nothing orders "
                   "the two launches: another rank may run them the other way round, and "
                   "then both wait forever",
                   gphi_say_exec(run->model, seen->exec),
                   gphi_say_stream(run->model, seen->stream),
                   gphi_say_exec(run->model, other->exec),
                   gphi_say_stream(run->model, other->stream),
                   say_comm(run->model, comm));
        gphi_evidence_call(draft, &other->call, "the other was launched by");
        break;
    }
    gphi_comm_launch *own =
        gphi_vec_keyed(&comm->launches, &seen->stream, sizeof(seen->stream), STREAMS_MAX);
    if (own)
        *own =
            (gphi_comm_launch){seen->stream, seen->exec, seen->work->number, seen->call};
}

void gphi_nccl_launched(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_collectives *of = run->collectives;
    if (of->comms.count == 0 || seen->call.call != GPHI_CALL_cuGraphLaunch ||
        seen->call.result != 0 || !seen->exec || !seen->stream || !seen->work)
        return;
    for (size_t i = 0; i < of->comms.count; i++) {
        gphi_comm *comm = gphi_vec_pointer(&of->comms, i);
        if (gphi_comm_is_in(comm, seen->exec->source))
            launched(run, seen, comm);
    }
}
