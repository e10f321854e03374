// SPDX-License-Identifier: Apache-2.0
/* Rule replay.read-before-launch. A capture runs nothing: what it captured to compute is not
 * there before the first launch.
 *
 *   end of capture, instantiation   D2H(out)   launch ...   and nobody reads out again
 *
 * A program that looks before and after is one that wants to see the difference; but not
 * where it reads in one place, step by step, and has waited for a step that did not run. */
#include "doctor/rules/replay/rules_replay.h"

enum { EARLY_MAX = 64, EXECS_LOOKED_AT = 16 };

/* Of another graph, or of a kernel that ran: then something has been computed. What bodies
 * of conditional nodes write is not known, and may be it. */
static bool is_computed(const gphi_history *history, const gphi_touch *touch,
                        uint64_t address, uint64_t bytes)
{
    const gphi_memory_history *memory =
        touch->memory ? gphi_history_memory(history, touch->memory) : NULL;
    for (size_t i = 0; memory && i < memory->pointers.count; i++)
        if (((gphi_touch *)gphi_vec_at(&memory->pointers, i))->address == touch->address)
            return true;
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        if (exec->launches > 0 &&
            (exec->has_bodies || gphi_history_touches(history, exec, address, bytes)))
            return true;
    }
    return false;
}

static void note_read(gphi_rule_run *run, const gphi_seen *seen, uint64_t address,
                      uint64_t bytes)
{
    const gphi_history *history = run->history;
    gphi_vec *items = run->state;
    const uint64_t is_wait = gphi_call_is_wait(seen->call.call);
    size_t looked = 0;
    for (size_t i = history->execs.count; i-- > 0 && looked < EXECS_LOOKED_AT; looked++) {
        gphi_exec_history *exec = gphi_history_exec_at(history, i);
        if (exec->launches > 0 || !gphi_exec_is_alive(exec))
            continue;
        const gphi_touch *touch = gphi_history_writes(history, exec, address, bytes);
        if (!touch || is_computed(history, touch, address, bytes) ||
            items->count >= EARLY_MAX)
            continue;
        const gphi_early new = {.created = exec->created,
                                .address = address,
                                .bytes = bytes,
                                .read = seen->call,
                                .made = *gphi_snapshot_made(exec->source, touch->node),
                                .instantiated = exec->exec->created,
                                .exec = exec,
                                .is_awaited =
                                    history->now.waits > exec->made.waits + is_wait,
                                .node = touch->node,
                                .is_exact = touch->writes};
        if (gphi_vec_push(items, &new) != GPH_OK)
            gphi_short(run);
        return;
    }
}

/* Read by the same line of the same loop, which waits for the step before it reads. */
static bool is_step(const gphi_early *one, const gphi_seen *seen)
{
    return one->is_awaited && one->read.stack != 0 &&
           one->read.stack == seen->call.stack && one->read.thread == seen->call.thread;
}

void gphi_rule_early(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_history *history = run->history;
    gphi_vec *items = run->state;
    gphi_call_ranges ranges;
    if (history->launched) {
        GPHI_EACH (gphi_early, one, items)
            if (one->created == history->launched->created && one->launch.number == 0)
                one->launch = seen->call;
        return;
    }
    if (!seen->work || seen->work->is_captured || seen->call.result != 0 ||
        !gphi_call_ranges_of(seen, &ranges) || !ranges.to_host)
        return;
    for (size_t i = items->count; i-- > 0;) {
        gphi_early *one = gphi_vec_at(items, i);
        one->is_again |= one->launch.number != 0 && is_step(one, seen);
        if (one->launch.number != 0 && !is_step(one, seen) &&
            gphi_ranges_meet(one->address, one->bytes, ranges.read, ranges.read_bytes))
            gphi_vec_remove(items, i);
    }
    note_read(run, seen, ranges.read, ranges.read_bytes);
}

static void tell_early(const gphi_rule_run *run, gphi_draft *draft, const gphi_early *one)
{
    if (one->is_again)
        gphi_cause(draft,
                   "%s was read when %s, which writes there, had been captured and not "
                   "launched: a capture runs nothing; the same line reads it after each "
                   "launch, so the first of these steps is missing",
                   gphi_say_memory(run->model, one->address),
                   gphi_say_node(one->exec->source, one->node));
    else
        gphi_cause(draft,
                   "%s was read when %s, which writes there, had been captured and not "
                   "launched: a capture runs nothing; after the launches nobody read it",
                   gphi_say_memory(run->model, one->address),
                   gphi_say_node(one->exec->source, one->node));
}

/* What another thread submitted meanwhile was not meant for the graph. */
void gphi_rule_early_end(gphi_rule_run *run)
{
    const gphi_vec *items = run->state;
    GPHI_EACH (const gphi_early, one, items) {
        if (one->launch.number == 0)
            continue;
        const bool is_strange =
            one->is_exact && one->made.thread != one->instantiated.thread;
        /* in a loop of steps the launch is what one of them lacks */
        gphi_draft *draft = gphi_finding_begin(run,
                                               is_strange      ? &one->made
                                               : one->is_again ? &one->launch
                                                               : &one->read,
                                               0);
        tell_early(run, draft, one);
        if (is_strange)
            gphi_evidence(draft, "that call was by another thread than the one that made "
                                 "the graph: its work was captured instead of run");
        gphi_evidence_call(draft, &one->made, "it was captured by");
        gphi_evidence_call(draft, &one->read, "read by");
        gphi_evidence_call(draft, &one->launch, "first launched by");
    }
}
