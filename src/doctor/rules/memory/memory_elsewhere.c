// SPDX-License-Identifier: Apache-2.0
/* Rule memory.allocated-elsewhere. cuMemAllocAsync gives an address at once, and memory in the
 * order of its stream:
 *
 *   a:  work ...  cuMemAllocAsync x               record E
 *   b:                         launch of a graph that has x       without a wait for E
 *
 * A graph launched where nothing orders it after the allocation may run before it. */
#include "doctor/rules/memory/rules_memory.h"

enum { PENDING_MAX = 1024 };

static void note_allocation(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_vec *pending = run->state;
    gphi_allocation *memory =
        gphi_model_memory(run->model, gphi_event_word(seen->event, 0), false);
    const gphi_pending new = {.memory = memory,
                              .number = memory ? memory->allocated.number : 0,
                              .work = seen->work->number};
    if (!memory || new.number != seen->call.number)
        return;
    if (pending->count == PENDING_MAX)
        gphi_vec_remove(pending, 0);
    if (gphi_vec_push(pending, &new) != GPH_OK)
        gphi_short(run);
}

static const gphi_touch *touch_of(const gphi_exec_history *exec, const gphi_pending *of)
{
    const uint32_t bit = gphi_memory_bit(of->memory);
    if (!(exec->memories[bit / 64] >> bit % 64 & 1))
        return NULL;
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (touch->memory == of->memory && touch->memory_number == of->number)
            return touch;
    return NULL;
}

static void report(gphi_rule_run *run, const gphi_seen *seen, const gphi_pending *of,
                   const gphi_touch *touch)
{
    const gphi_exec_history *exec = run->history->launched;
    gphi_draft *draft = gphi_finding_begin(run, &seen->call, exec->created);
    const gphi_work *work = gphi_model_work(run->model, of->work);
    gphi_cause(
        draft,
        "the graph uses %s in %s; it was allocated in the order of %s, and nothing "
        "orders this launch after that: the graph may run before it is there",
        gphi_say_allocation(run->model, of->memory), gphi_say_touch(exec, touch),
        work && work->stream ? gphi_say_stream(run->model, work->stream)
                             : "another stream");
    gphi_evidence_call(draft, &of->memory->allocated, "it was allocated by");
    gphi_evidence_call(draft, gphi_snapshot_made(exec->source, touch->node),
                       "the node was made by");
}

void gphi_rule_elsewhere(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_vec *pending = run->state;
    const gphi_exec_history *exec = run->history->launched;
    if (seen->work && !seen->work->is_captured && seen->call.result == 0 &&
        gphi_call_is_pool_alloc(seen->call.call))
        note_allocation(run, seen);
    if (!exec || !seen->work)
        return;
    for (size_t i = pending->count; i-- > 0;) {
        const gphi_pending one = *(const gphi_pending *)gphi_vec_at(pending, i);
        if (one.memory->allocated.number != one.number ||
            gphi_model_ordered(run->model, one.work, GPHI_WORK_NOW)) {
            gphi_vec_remove(pending, i);
            continue;
        }
        const gphi_touch *touch = touch_of(exec, &one);
        if (touch && !gphi_touch_is_off(run->history, exec, touch) &&
            !gphi_model_ordered(run->model, one.work, seen->work->number))
            report(run, seen, &one, touch);
    }
}
