// SPDX-License-Identifier: Apache-2.0
/* Rule memory.staging-overwritten: the host writes the next contents into host memory that
 * a copy reads, and has not waited for the copy before. Seen by the hashes of what lies
 * there: of a graph's copies in the HOST records before its launches, of copies outside of
 * graphs, out of pinned memory, in their calls.
 *
 *   fill staging    launch    fill staging    launch       no wait between: the first
 *                             ^ here                       launch may read the second
 *
 * Silent where the host may know by something else that the copy is done: a graph with host
 * nodes can have said so. */
#include "doctor/rules/memory/rules_memory.h"

#include <inttypes.h>
#include <string.h>

enum { STAGED_MAX = 256 };

/* Host memory that work reads, as it was when that was submitted. */
typedef struct staged {
    uint64_t key[2]; /* exec->created, or 0: outside of graphs; address */
    uint64_t hash, work, launches;
    gphi_call call;
} staged;

void gphi_rule_staging_init(gphi_rule_run *run)
{
    gphi_vec_init(run->state, run->model->heap, sizeof(staged));
}

void gphi_rule_staging_fini(gphi_rule_run *run)
{
    gphi_vec_fini(run->state);
}

static bool has_host_nodes(const gphi_exec_history *exec)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++)
        if (gph_graph_node(graph, i)->kind == GPH_NODE_HOST)
            return true;
    return !graph;
}

/* The record of `key`, made if it is new; NULL: no room. */
static staged *staged_of(gphi_rule_run *run, uint64_t created, uint64_t address)
{
    const uint64_t key[] = {created, address};
    return gphi_vec_keyed(run->state, key, sizeof(key), STAGED_MAX);
}

static void report_staging(gphi_rule_run *run, const staged *before, const gphi_call *now,
                           uint64_t bytes, uint64_t key)
{
    gphi_draft *draft = gphi_finding_begin(run, now, key);
    gphi_cause(
        draft,
        "the host has written other contents into the %" PRIu64
        " bytes of host memory at %s while the copy that %s submitted may not have "
        "read them: nothing has waited for it",
        bytes, gphi_say_memory(run->model, before->key[1]), gphi_say_call(&before->call));
    gphi_evidence_call(draft, &before->call, "what reads it was submitted by");
}

/* Before a launch: the host memory of the graph's copies as it is now. */
void gphi_rule_staging_event(gphi_rule_run *run, const gphi_event *event)
{
    const gphi_exec_state *state = event->kind == GPHI_EVENT_HOST && run->history
                                       ? gphi_model_exec(run->model, event->id)
                                       : NULL;
    const gphi_exec_history *exec = state ? gphi_history_exec(run->history, state) : NULL;
    if (!exec || has_host_nodes(exec))
        return;
    const gphi_call launch = {.number = run->model->call_count + 1,
                              .time_ns = event->time_ns,
                              .call = GPHI_CALL_cuGraphLaunch,
                              .thread = event->thread,
                              .stack = event->stack};
    const bool is_waited = exec->launches == 0 ||
                           gphi_model_ordered(run->model, exec->last_work, GPHI_WORK_NOW);
    for (uint32_t nth = 0; nth < event->part_count; nth++) {
        const gphi_part *part = gphi_event_part(event, GPHI_PART_HOST, nth);
        gphi_host_bytes now;
        if (!part || part->bytes < sizeof(now))
            return;
        memcpy(&now, part + 1, sizeof(now));
        staged *one = now.flags & GPHI_HOST_HASHED
                          ? staged_of(run, exec->created, now.address)
                          : NULL;
        if (!one)
            continue;
        one->call = exec->last_launch;
        if (!is_waited && one->launches == exec->launches && one->hash != now.hash)
            report_staging(run, one, &launch, now.bytes, exec->created);
        one->hash = now.hash;
        one->launches = exec->launches + 1; /* with the one that follows */
    }
}

static bool is_pinned(const gphi_model *model, uint64_t address)
{
    const gphi_allocation *memory = gphi_model_memory(model, address, false);
    return memory &&
           (memory->kind == GPHI_MEM_PINNED || memory->kind == GPHI_MEM_REGISTERED);
}

/* A copy outside of graphs, into memory that a graph has. */
void gphi_rule_staging(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_work *work = seen->work;
    const gphi_part *part = gphi_event_part(seen->event, GPHI_PART_HASH, 0);
    if (!part || part->bytes != sizeof(uint64_t) || !work || work->is_captured ||
        work->host == 0 || work->write_bytes == 0 || seen->call.result != 0 ||
        run->history->now.launches == 0 || !is_pinned(run->model, work->host))
        return;
    staged *one = staged_of(run, 0, work->host);
    if (!one)
        return;
    uint64_t hash;
    memcpy(&hash, part + 1, sizeof(hash));
    if (one->work != 0 && one->hash != hash &&
        !gphi_model_ordered(run->model, one->work, GPHI_WORK_NOW))
        report_staging(run, one, &seen->call, work->write_bytes, 0);
    one->hash = hash;
    one->work = work->number;
    one->call = seen->call;
}
