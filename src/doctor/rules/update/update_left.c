// SPDX-License-Identifier: Apache-2.0
/* Rules of edits that were begun and not brought to an end.
 *
 *   update.left-disabled   launched, a node switched off, launched again and again, and what
 *                          the node would have made is still read
 *   update.read-not-set    a node's parameters are read before each launch, and no call ever
 *                          sets them
 *
 * Both have a meaning that is none: a part that a program needs no more may stay off, which
 * nobody reads then; a program may look at its parameters, but hardly before each launch. */
#include "doctor/rules/update/update_left.h"
#include "doctor/history/history.h"

#include <inttypes.h>
#include <string.h>

enum { ITEMS_MAX = 256, LAUNCHES_MIN = 2, ROUNDS_MIN = 3 };

/* ---- update.left-disabled ---- */

static void note_switch(gphi_rule_run *run, const gphi_seen *seen)
{
    const uint64_t key[] = {seen->exec->created.number,
                            gphi_exec_node(seen->exec, gphi_event_word(seen->event, 1))};
    gphi_left *one = gphi_vec_keyed(run->state, key, sizeof(key), ITEMS_MAX);
    if (!one)
        return;
    one->is_back |= gphi_event_word(seen->event, 2) != 0;
    if (one->off.number != 0 || one->is_back || seen->exec->launch_count == 0)
        return;
    one->exec = seen->exec;
    one->off = seen->call;
}

/* An update may give the node other contents, and whether it is on is then another
 * matter. */
static void forget(gphi_vec *all, const gphi_exec_state *exec)
{
    GPHI_EACH (gphi_left, one, all)
        one->is_back |= one->exec == exec;
}

static bool is_of_node(const gphi_rule_run *run, const gphi_left *one,
                       const gphi_call_ranges *ranges)
{
    const gphi_exec_history *exec = gphi_history_exec(run->history, one->exec);
    const uint32_t node = gphi_snapshot_index(one->exec->source, one->node);
    if (!exec || exec->created != one->made || node == GPH_NODE_NONE)
        return false;
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (touch->node == node && !touch->reads &&
            gphi_touch_meets(run->history, touch, ranges->read, ranges->read_bytes))
            return true;
    return false;
}

void gphi_left_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_vec *all = run->state;
    gphi_call_ranges ranges;
    if (seen->call.result != 0)
        return;
    if (seen->call.call == GPHI_CALL_cuGraphNodeSetEnabled && seen->exec)
        note_switch(run, seen);
    if (all->count == 0)
        return;
    if (seen->call.call == GPHI_CALL_cuGraphExecUpdate)
        forget(all, seen->exec);
    const bool is_launch = gphi_is_launch(seen);
    const bool is_read = !is_launch && !seen->capture &&
                         gphi_call_ranges_of(seen, &ranges) && ranges.to_host;
    if (!is_launch && !is_read)
        return;
    GPHI_EACH (gphi_left, one, all) {
        if (one->off.number == 0 || one->is_back)
            continue;
        if (is_launch && one->exec == seen->exec) {
            one->launches++;
            one->launch = seen->call;
        }
        if (is_read && one->launches >= LAUNCHES_MIN && one->read.number == 0 &&
            is_of_node(run, one, &ranges))
            one->read = seen->call;
    }
}

void gphi_left_end(gphi_rule_run *run)
{
    GPHI_EACH (const gphi_left, one, (const gphi_vec *)run->state) {
        if (one->read.number == 0 || one->is_back ||
            one->exec->created.number != one->made)
            continue;
        const gphi_snapshot *source = one->exec->source;
        const uint32_t node = gphi_snapshot_index(source, one->node);
        gphi_draft *draft = gphi_finding_begin(run, &one->off, one->made);
        gphi_cause(
            draft,
            "%s of %s was disabled after it had run, and never enabled again: the graph "
            "was launched %s without it, and what it works on was still read",
            node != GPH_NODE_NONE ? gphi_say_node(source, node) : "a node",
            gphi_say_exec(run->model, one->exec), gphi_say_count(one->launches, "time"));
        if (node != GPH_NODE_NONE)
            gphi_evidence_node(draft, source, node, "the node");
        gphi_evidence_call(draft, &one->launch, "last launched by");
        gphi_evidence_call(draft, &one->read, "what it works on is read by");
    }
}

/* ---- update.read-not-set ---- */

static void note_read(gphi_rule_run *run, const gphi_seen *seen)
{
    const uint64_t node = gphi_event_word(seen->event, 0);
    gphi_unset *one = gphi_vec_keyed(run->state, &node, sizeof(node), ITEMS_MAX);
    if (!one)
        return;
    one->read = seen->call;
    one->is_read = true;
}

static void note_launch(gphi_vec *all, const gphi_seen *seen)
{
    GPHI_EACH (gphi_unset, one, all) {
        if (!one->is_read || one->is_set ||
            gphi_snapshot_index(seen->exec->source, one->node) == GPH_NODE_NONE)
            continue;
        one->is_read = false;
        one->rounds++;
        one->exec = seen->exec;
        one->launch = seen->call;
    }
}

/* Who sets any node reads the others to find that one (item 0 says so). Whole graphs may be
 * how a program sets them: all that was read until then counts as set. */
static void note_set(gphi_vec *all)
{
    const uint64_t any = 0;
    gphi_unset *one = gphi_vec_keyed(all, &any, sizeof(any), ITEMS_MAX + 1);
    if (one)
        one->is_set = true;
}

static void note_whole(gphi_vec *all)
{
    GPHI_EACH (gphi_unset, one, all)
        one->is_set |= one->node != 0;
}

void gphi_unset_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_vec *all = run->state;
    if (seen->call.call == GPHI_CALL_cuGraphKernelNodeGetParams) {
        if (seen->call.result == 0)
            note_read(run, seen);
    } else if (gphi_is_launch(seen) && seen->exec)
        note_launch(all, seen);
    else if (gphi_call_is_instantiation(seen->call.call) ||
             seen->call.call == GPHI_CALL_cuGraphExecUpdate)
        note_whole(all);
    else if (strstr(gphi_call_name(seen->call.call), "SetParams"))
        note_set(all);
}

void gphi_unset_end(gphi_rule_run *run)
{
    const gphi_vec *all = run->state;
    GPHI_EACH (const gphi_unset, one, all)
        if (one->node == 0)
            return;
    GPHI_EACH (const gphi_unset, one, all) {
        if (one->is_set || one->rounds < ROUNDS_MIN)
            continue;
        const uint32_t node = gphi_snapshot_index(one->exec->source, one->node);
        gphi_draft *draft = gphi_finding_begin(run, &one->read, one->node);
        gphi_cause(
            draft,
            "the parameters of %s were read %s, each time before a launch of %s, and "
            "no call ever set any: what is changed in the struct, or through its "
            "kernelParams, does not reach the executable",
            node != GPH_NODE_NONE ? gphi_say_node(one->exec->source, node) : "a node",
            gphi_say_count(one->rounds, "time"), gphi_say_exec(run->model, one->exec));
        gphi_evidence_call(draft, &one->launch, "launched, after it was read, by");
        gphi_evidence_call(draft, &one->exec->created, "the executable was made by");
    }
}
