// SPDX-License-Identifier: Apache-2.0
/* Rule memory.staging-overwritten: the host writes the next contents into host memory that
 * a copy reads, and has not waited for the copy before. Seen by the hashes of what lies
 * there: of a graph's copies in the HOST records before its launches, of copies outside of
 * graphs, out of pinned memory, in their calls.
 *
 *   fill staging    launch    fill staging    launch       no wait between: the first
 *                             ^ here                       launch may read the second
 *
 * Silent where anything but a wait may have shown the host that the copy is done: a word
 * that the device has written, a kernel with a pointer into memory that the host sees.
 * Also where the host may fill the memory after the submission, in the order of a stream:
 * by host functions (XLA fills and frees its staging buffers so), or as streams wait for
 * it; where another thread submits the next copy, and where events were lost. */
#include "doctor/rules/memory/rules_memory.h"

#include <inttypes.h>
#include <string.h>

enum { STAGED_MAX = 256 };

/* Host memory that work reads, as it was when that was submitted. */
typedef struct staged {
    uint64_t key[2]; /* exec->created, or 0: outside graphs; address */
    uint64_t hash, work, launches;
    gphi_call call;
} staged;

void gphi_rule_staging_init(gphi_rule_run *run)
{
    gphi_staging_state *state = run->state;
    gphi_vec_init(&state->staged, run->model->heap, sizeof(staged));
}

void gphi_rule_staging_fini(gphi_rule_run *run)
{
    gphi_staging_state *state = run->state;
    gphi_vec_fini(&state->staged);
}

/* ---- how the host knows without a wait ---- */

static bool is_seen_by_host(const gphi_allocation *memory)
{
    return memory &&
           (memory->kind == GPHI_MEM_PINNED || memory->kind == GPHI_MEM_REGISTERED ||
            memory->kind == GPHI_MEM_MANAGED);
}

static bool has_signal_nodes(const gph_graph *graph)
{
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        switch (node->kind) {
        case GPH_NODE_HOST:
        case GPH_NODE_BATCH_MEM_OP:
        case GPH_NODE_SEMAPHORE_SIGNAL:
        case GPH_NODE_SEMAPHORE_WAIT: return true;
        case GPH_NODE_CHILD:
            if (!node->u.child || has_signal_nodes(node->u.child))
                return true;
            break;
        case GPH_NODE_CONDITIONAL:
            if (!node->u.conditional.bodies ||
                has_signal_nodes(node->u.conditional.bodies))
                return true;
            break;
        default: break;
        }
    }
    return false;
}

/* Whether a launch of it after `work` may show the host how far the device is, or any
 * launch may have the host write in the order of a stream. */
static bool may_signal(const gphi_exec_history *exec, uint64_t work)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    if (graph && exec->source->number == exec->source_number && has_signal_nodes(graph))
        return true;
    if (exec->last_work < work)
        return false;
    if (!graph || exec->source->number != exec->source_number)
        return true; /* what was launched is not known any more */
    for (size_t i = 0; i < exec->touches.count; i++) {
        const gphi_touch *touch = gphi_vec_at(&exec->touches, i);
        if (touch->bytes == 0 && is_seen_by_host(touch->memory))
            return true; /* a kernel's flag */
    }
    return false;
}

static bool has_signal_pointers(const gphi_model *model, const gphi_seen *seen)
{
    gphi_touch touches[64];
    const uint32_t count = gphi_call_pointers(model, seen, touches, 64);
    for (uint32_t i = 0; i < count; i++)
        if (is_seen_by_host(touches[i].memory))
            return true;
    return false;
}

/* Takes in a call outside captures by which the host may know of the work before it. */
static void note_signal(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_staging_state *state = run->state;
    switch (seen->call.call) {
    case GPHI_CALL_cuStreamWriteValue32:
    case GPHI_CALL_cuStreamWriteValue64:
    case GPHI_CALL_cuSignalExternalSemaphoresAsync:
        state->signalled = run->model->work_count;
        return;
    case GPHI_CALL_cuLaunchHostFunc:
    case GPHI_CALL_cuStreamAddCallback:
    case GPHI_CALL_cuStreamWaitValue32:
    case GPHI_CALL_cuStreamWaitValue64:
    case GPHI_CALL_cuStreamBatchMemOp:
    case GPHI_CALL_cuWaitExternalSemaphoresAsync: state->is_ordered = true; return;
    default:
        if (gphi_call_is_kernel(seen->call.call) && state->staged.count > 0 &&
            has_signal_pointers(run->model, seen))
            state->signalled = run->model->work_count;
    }
}

/* Whether the host may know, without a wait, that `work` has been done. */
static bool may_know(const gphi_rule_run *run, uint64_t work)
{
    const gphi_staging_state *state = run->state;
    if (state->is_ordered || state->signalled >= work || run->model->lost > 0)
        return true;
    for (size_t i = 0; i < run->history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(run->history, i);
        if (exec->launches > 0 && may_signal(exec, work))
            return true;
    }
    return false;
}

/* ---- the comparison ---- */

/* The record of `key`, made if it is new; NULL: no room. */
static staged *staged_of(gphi_rule_run *run, uint64_t created, uint64_t address)
{
    gphi_staging_state *state = run->state;
    const uint64_t key[] = {created, address};
    return gphi_vec_keyed(&state->staged, key, sizeof(key), STAGED_MAX);
}

/* The last call of a thread, by its number: the place of one is another's if these meet. */
static gphi_call *last_of(gphi_staging_state *state, uint32_t thread)
{
    return &state->last[thread % (sizeof(state->last) / sizeof(state->last[0]))];
}

/* The write itself is not a call. Of a graph (`key`) it came after the thread's call before: that
 * is where the program lacks a wait. */
static void report_staging(gphi_rule_run *run, const staged *before, const gphi_call *now,
                           uint64_t bytes, uint64_t key)
{
    const gphi_call *last = last_of(run->state, now->thread);
    const bool is_between = key != 0 && last->thread == now->thread && last->stack != 0 &&
                            last->number >= before->call.number;
    gphi_draft *draft = gphi_finding_begin(run, is_between ? last : now, key);
    gphi_cause(
        draft,
        "the host has written other contents into the %" PRIu64
        " bytes of host memory at %s while the copy that %s submitted may not have "
        "read them: nothing has waited for it",
        bytes, gphi_say_memory(run->model, before->key[1]), gphi_say_call(&before->call));
    gphi_evidence_call(draft, &before->call, "what reads it was submitted by");
    if (is_between)
        gphi_evidence_call(draft, now, "the host wrote after %s, and before",
                           gphi_say_call(last));
}

/* Before a launch: the host memory of the graph's copies as it is now. */
void gphi_rule_staging_event(gphi_rule_run *run, const gphi_event *event)
{
    const gphi_exec_state *state = event->kind == GPHI_EVENT_HOST && run->history
                                       ? gphi_model_exec(run->model, event->id)
                                       : NULL;
    const gphi_exec_history *exec = state ? gphi_history_exec(run->history, state) : NULL;
    if (!exec)
        return;
    const gphi_call launch = {.number = run->model->call_count + 1,
                              .time_ns = event->time_ns,
                              .call = GPHI_CALL_cuGraphLaunch,
                              .thread = event->thread,
                              .stack = event->stack};
    const bool is_waited = exec->launches == 0 ||
                           gphi_model_ordered(run->model, exec->last_work, GPHI_WORK_NOW);
    gphi_host_bytes now;
    for (uint32_t nth = 0; gphi_event_host(event, nth, &now); nth++) {
        staged *one = now.flags & GPHI_HOST_HASHED
                          ? staged_of(run, exec->created, now.address)
                          : NULL;
        if (!one)
            continue;
        one->call = exec->last_launch;
        if (!is_waited && one->launches == exec->launches && one->hash != now.hash &&
            !may_know(run, exec->last_work))
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

/* A copy outside graphs, into memory that a graph has. */
static void look_at_copy(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_work *work = seen->work;
    const gphi_part *part = gphi_event_part(seen->event, GPHI_PART_HASH, 0);
    if (!part)
        part = gphi_event_part(seen->event, GPHI_PART_SAMPLE, 0);
    if (!part || part->bytes != sizeof(uint64_t) || !work || work->is_captured ||
        work->host == 0 || work->write_bytes == 0 || seen->call.result != 0 ||
        run->history->now.launches == 0 || !is_pinned(run->model, work->host))
        return;
    staged *one = staged_of(run, 0, work->host);
    if (!one)
        return;
    uint64_t hash;
    memcpy(&hash, part + 1, sizeof(hash));
    if (one->work != 0 && one->hash != hash && one->call.thread == seen->call.thread &&
        !gphi_model_ordered(run->model, one->work, GPHI_WORK_NOW) &&
        !may_know(run, one->work))
        report_staging(run, one, &seen->call, work->write_bytes, 0);
    one->hash = hash;
    one->work = work->number;
    one->call = seen->call;
}

void gphi_rule_staging(gphi_rule_run *run, const gphi_seen *seen)
{
    if (seen->call.result == 0 && !seen->capture)
        note_signal(run, seen);
    look_at_copy(run, seen);
    *last_of(run->state, seen->call.thread) = seen->call;
}
