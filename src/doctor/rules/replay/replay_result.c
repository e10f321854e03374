// SPDX-License-Identifier: Apache-2.0
/* Rule replay.unread-result. Between launches of a graph the program reads, again and
 * again, memory that no graph is given and that nothing writes any more, and nobody reads
 * what the graph works on. */
#include "doctor/rules/replay/rules_replay.h"

#include <inttypes.h>

enum { POLLED_MAX = 64, TIMES_MIN = 3 };

void gphi_rule_unread_result(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_history *history = run->history;
    gphi_vec *items = run->state;
    gphi_call_ranges ranges;
    if (history->now.launches == 0 || !seen->work || seen->work->is_captured ||
        seen->call.result != 0 || !gphi_call_ranges_of(seen, &ranges) || !ranges.to_host)
        return;
    const gphi_allocation *memory = gphi_model_memory(run->model, ranges.read, false);
    if (!memory)
        return;
    gphi_polled *one = gphi_vec_keyed(items, &memory, sizeof(memory), POLLED_MAX);
    if (!one || one->launches == history->now.launches)
        return;
    if (one->number != memory->allocated.number)
        *one =
            (gphi_polled){.memory = memory,
                          .number = memory->allocated.number,
                          .first = seen->call,
                          .exec = history->recent[0] ? history->recent[0]->created : 0};
    if (history->recent[0] && history->recent[0]->created != one->exec)
        one->exec = UINT64_MAX; /* of several */
    one->launches = history->now.launches;
    one->times++;
}

/* Whether anybody has read, or may have, what lies in an allocation after a call. */
static bool is_read_after(const gphi_history *history, const gphi_allocation *memory,
                          uint64_t since)
{
    const gphi_memory_history *one = gphi_history_memory(history, memory);
    for (size_t i = 0; one && i < one->read.count; i++)
        if (((gphi_range_history *)gphi_vec_at(&one->read, i))->last.number > since)
            return true;
    for (size_t i = 0; one && i < one->pointers.count; i++)
        if (((gphi_touch *)gphi_vec_at(&one->pointers, i))->since > since)
            return true;
    return one && one->overflows;
}

/* Nobody looks at what the graph works on; it has no copies, by which it could go on. */
static bool is_unread(const gphi_history *history, const gphi_exec_history *exec)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node_kind kind = gph_graph_node(graph, i)->kind;
        if (kind != GPH_NODE_KERNEL && kind != GPH_NODE_MEMSET && kind != GPH_NODE_EMPTY)
            return false;
    }
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (!touch->memory || touch->memory->kind == GPHI_MEM_PINNED ||
            touch->memory->kind == GPHI_MEM_REGISTERED ||
            touch->memory->kind == GPHI_MEM_MANAGED ||
            is_read_after(history, touch->memory, exec->first_launch.number))
            return false;
    return exec->touches.count > 0;
}

static bool is_old(const gphi_history *history, const gphi_polled *of)
{
    const gphi_memory_history *one = gphi_history_memory(history, of->memory);
    for (size_t i = 0; one && i < one->written.count; i++)
        if (((gphi_range_history *)gphi_vec_at(&one->written, i))->last.number >
            of->first.number)
            return false;
    for (size_t i = 0; one && i < one->pointers.count; i++)
        if (((gphi_touch *)gphi_vec_at(&one->pointers, i))->since > of->first.number)
            return false;
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        GPHI_EACH (const gphi_touch, touch, &exec->touches)
            if (!touch->memory || touch->memory == of->memory)
                return false;
    }
    return one && !one->overflows && of->memory->freed.number == 0;
}

void gphi_rule_unread_result_end(gphi_rule_run *run)
{
    const gphi_history *history = run->history;
    const gphi_vec *items = run->state;
    GPHI_EACH (const gphi_polled, one, items) {
        const gphi_exec_history *exec = NULL;
        for (size_t k = 0; k < history->execs.count; k++)
            if (gphi_history_exec_at(history, k)->created == one->exec)
                exec = gphi_history_exec_at(history, k);
        if (!exec || one->times < TIMES_MIN || !is_old(history, one) ||
            !is_unread(history, exec))
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &one->first, 0);
        gphi_cause(draft,
                   "%s is read after each launch of the graph, which does not have that "
                   "address; nothing has written there since the first read, and nobody "
                   "reads what the graph works on",
                   gphi_say_allocation(run->model, one->memory));
        const gphi_touch *touch = gphi_vec_at(&exec->touches, 0);
        gphi_evidence(draft, "the graph has %s: %s", gphi_say_touch(exec, touch),
                      gphi_say_memory(run->model, touch->address));
        gphi_evidence_call(draft, &one->memory->allocated,
                           "what is read was allocated by");
        gphi_evidence_call(draft, &exec->first_launch, "the graph is launched by");
    }
}
