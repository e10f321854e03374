// SPDX-License-Identifier: Apache-2.0
/* launch.dead-operand: pinned memory, an event or code that an executable uses goes, and
 * the executable is launched all the same. What goes is noted when it goes, and reported at the
 * launch: also at one that never returned, since a launch may crash then. */
#include "doctor/rules/launch/rules_launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { GONE_MAX = 256 };

static bool in_range(const gphi_launch_gone *gone, uint64_t address)
{
    return address >= gone->start && address < gone->end;
}

static bool uses(const gphi_model *model, const gphi_launch_gone *gone,
                 const gph_node *node)
{
    if (gone->is_code)
        return node->kind == GPH_NODE_KERNEL &&
               gphi_model_is_code_of(model, node->u.kernel.handle, gone->start);
    if (gone->end == 0)
        return (node->kind == GPH_NODE_EVENT_RECORD ||
                node->kind == GPH_NODE_EVENT_WAIT) &&
               node->u.event.event == gone->start;
    for (uint32_t i = 0; i < gphi_launch_operand_count(node); i++)
        if (in_range(gone, gphi_launch_operand_at(node, i)))
            return true;
    return false;
}

/* The node of the top graph; child graphs nest no deeper than GPH_GRAPH_DEPTH_MAX. */
static uint32_t find_user(const gphi_model *model, const gphi_launch_gone *gone,
                          const gph_graph *graph)
{
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind == GPH_NODE_CHILD
                ? find_user(model, gone, node->u.child) != GPH_NODE_NONE
                : uses(model, gone, node))
            return i;
    }
    return GPH_NODE_NONE;
}

/* Of all executables that hold it, at the moment it goes: later the snapshot may be of
 * another graph, and the address another's. */
static void note(gphi_rule_run *run, gphi_launch_gone gone)
{
    gphi_vec *all = run->state;
    for (size_t i = 0; i < run->model->execs.count; i++) {
        gphi_exec_state *exec = gphi_vec_pointer(&run->model->execs, i);
        if (!exec->is_alive || !exec->source || all->count >= GONE_MAX ||
            (gone.end == 0 && !gone.is_code && !exec->source->has_events))
            continue;
        gone.node = find_user(run->model, &gone, exec->source->data);
        if (gone.node == GPH_NODE_NONE)
            continue;
        gone.exec = exec;
        gone.made = exec->created.number;
        if (gphi_vec_push(all, &gone) != GPH_OK)
            gphi_short(run);
    }
}

static void remove_at(gphi_vec *all, size_t index)
{
    gphi_launch_gone *items = all->items;
    items[index] = items[--all->count];
}

/* Another one may have its place by now. */
static bool is_back(const gphi_model *model, const gphi_launch_gone *gone)
{
    const gphi_cuda_event *event;
    if (gone->end != 0 || gone->is_code)
        return !gone->is_code && gphi_model_memory(model, gone->start, false);
    event = gphi_model_event(model, gone->start);
    return event && event->is_alive;
}

static const char *how_it_went(const gphi_launch_gone *gone)
{
    return gone->is_code                                      ? "unloaded"
           : gone->call.call == GPHI_CALL_cuMemHostUnregister ? "unregistered"
           : gone->end != 0                                   ? "freed"
                                                              : "destroyed";
}

static void tell(gphi_rule_run *run, const gphi_launch_gone *gone, const gphi_call *at)
{
    const gphi_snapshot *snapshot = gone->exec->source;
    gphi_draft *draft = gphi_finding_begin(run, at, 0);
    if (!draft)
        return;
    const char *how = how_it_went(gone);
    gphi_cause(
        draft, "%s that %s of %s uses was %s before the launch%s",
        gone->is_code    ? "the code"
        : gone->end != 0 ? gphi_say_memory(run->model, gone->start)
                         : gphi_say_event(run->model, gone->start),
        gphi_say_node(snapshot, gone->node), gphi_say_exec(run->model, gone->exec), how,
        (at->flags & GPHI_CALL_UNRETURNED) != 0 ? ", in which the process ended" : "");
    gphi_evidence_node(draft, snapshot, gone->node, "the node");
    gphi_evidence_call(draft, &gone->call, "%s by", how);
    gphi_evidence_call(draft, &gone->exec->created, "the executable was made by");
}

static void on_launch(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_vec *all = run->state;
    for (size_t i = all->count; i-- > 0;) {
        gphi_launch_gone *gone = gphi_vec_at(all, i);
        if (gone->exec != seen->exec)
            continue;
        gone->node = seen->exec->source
                         ? find_user(run->model, gone, seen->exec->source->data)
                         : GPH_NODE_NONE;
        if (gone->made == seen->exec->created.number && gone->node != GPH_NODE_NONE &&
            !is_back(run->model, gone))
            tell(run, gone, &seen->call);
        remove_at(all, i);
    }
}

static void on_destroyed(gphi_rule_run *run, const gphi_exec_state *exec)
{
    gphi_vec *all = run->state;
    for (size_t i = all->count; i-- > 0;)
        if (((gphi_launch_gone *)gphi_vec_at(all, i))->exec == exec)
            remove_at(all, i);
}

void gphi_launch_operand(gphi_rule_run *run, const gphi_seen *seen)
{
    const uint64_t handle = gphi_event_word(seen->event, 0);
    switch (seen->call.call) {
    case GPHI_CALL_cuEventDestroy:
        if (seen->call.result == 0)
            note(run, (gphi_launch_gone){.start = handle, .call = seen->call});
        break;
    case GPHI_CALL_cuModuleUnload:
    case GPHI_CALL_cuLibraryUnload:
        if (seen->call.result == 0)
            note(run, (gphi_launch_gone){
                          .start = handle, .is_code = true, .call = seen->call});
        break;
    case GPHI_CALL_cuMemHostUnregister:
    case GPHI_CALL_cuMemFreeHost: {
        const gphi_allocation *memory = gphi_model_memory(run->model, handle, true);
        if (seen->call.result == 0 && memory && memory->bytes > 0)
            note(run, (gphi_launch_gone){.start = memory->address,
                                         .end = memory->address + memory->bytes,
                                         .call = seen->call});
        break;
    }
    case GPHI_CALL_cuGraphLaunch:
        if (seen->exec)
            on_launch(run, seen);
        break;
    case GPHI_CALL_cuGraphExecDestroy:
        if (seen->call.result == 0 && seen->exec)
            on_destroyed(run, seen->exec);
        break;
    default: break;
    }
}

void gphi_launch_operand_unreturned(gphi_rule_run *run, const gphi_seen *seen)
{
    if (seen->call.call == GPHI_CALL_cuGraphLaunch && seen->exec)
        on_launch(run, seen);
}
