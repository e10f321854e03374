// SPDX-License-Identifier: Apache-2.0
/* Rule replay.unread-result. Between launches of a graph the program reads, again and
 * again, memory that no graph is given and that nothing writes any more, and nobody reads
 * what the graph works on. It reads by a copy to the host, or by a kernel outside graphs,
 * whose result it copies. */
#include "doctor/rules/replay/rules_replay.h"

#include <inttypes.h>

enum { POLLED_MAX = 64, WORKED_MAX = 128, TIMES_MIN = 3, POINTERS_MAX = 16 };

void gphi_rule_unread_init(gphi_rule_run *run)
{
    gphi_unread_state *state = run->state;
    gphi_vec_init(&state->copies, run->model->heap, sizeof(gphi_polled));
    gphi_vec_init(&state->kernels, run->model->heap, sizeof(gphi_worked));
}

void gphi_rule_unread_fini(gphi_rule_run *run)
{
    gphi_unread_state *state = run->state;
    gphi_vec_fini(&state->copies);
    gphi_vec_fini(&state->kernels);
}

/* PyTorch gives a temporary the place of the one before: who works there each time has another
 * tensor. */
void gphi_rule_unread_event(gphi_rule_run *run, const gphi_event *event)
{
    gphi_unread_state *state = run->state;
    if (event->kind == GPHI_EVENT_BLOCK)
        GPHI_EACH (gphi_worked, one, &state->kernels)
            one->is_new |= one->address == event->id;
}

/* Once between launches. False: this is another time of the same. */
static bool note_time(gphi_polled *one, const gphi_rule_run *run, const gphi_seen *seen,
                      const gphi_allocation *memory)
{
    const gphi_history *history = run->history;
    const gphi_exec_history *last = history->recent[0];
    if (one->launches == history->now.launches)
        return false;
    if (one->number != memory->allocated.number)
        *one = (gphi_polled){.memory = memory,
                             .number = memory->allocated.number,
                             .first = seen->call,
                             .exec = last ? last->created : 0};
    if (last && last->created != one->exec)
        one->exec = UINT64_MAX; /* of several */
    one->launches = history->now.launches;
    one->times++;
    return true;
}

static void note_worked(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_unread_state *state = run->state;
    gphi_touch touches[POINTERS_MAX];
    const uint32_t count = gphi_call_pointers(run->model, seen, touches, POINTERS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t key[] = {touches[i].address, touches[i].function};
        gphi_worked *one = gphi_vec_keyed(&state->kernels, key, sizeof(key), WORKED_MAX);
        if (!one || one->is_new)
            continue;
        if (one->as.times == 0)
            one->begun = run->history->now.launches - 1;
        (void)note_time(&one->as, run, seen, touches[i].memory);
    }
}

void gphi_rule_unread_result(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_unread_state *state = run->state;
    gphi_call_ranges ranges;
    if (run->history->now.launches == 0 || !seen->work || seen->work->is_captured ||
        seen->call.result != 0)
        return;
    if (gphi_call_is_kernel(seen->call.call)) {
        note_worked(run, seen);
        return;
    }
    if (!gphi_call_ranges_of(seen, &ranges) || !ranges.to_host)
        return;
    const gphi_allocation *memory = gphi_model_memory(run->model, ranges.read, false);
    gphi_polled *one =
        memory ? gphi_vec_keyed(&state->copies, &memory, sizeof(memory), POLLED_MAX)
               : NULL;
    if (one)
        (void)note_time(one, run, seen, memory);
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
static bool is_unread(const gphi_history *history, const gphi_exec_history *exec,
                      bool is_read(const gphi_history *, const gphi_exec_history *,
                                   const gphi_touch *))
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
            touch->memory->kind == GPHI_MEM_MANAGED || is_read(history, exec, touch))
            return false;
    return exec->touches.count > 0;
}

static bool is_touch_read(const gphi_history *history, const gphi_exec_history *exec,
                          const gphi_touch *touch)
{
    return is_read_after(history, touch->memory, exec->first_launch.number);
}

/* The same, where an allocation holds many tensors: of those that are not the captures' own
 * only the address itself counts, of all others, and of what other graphs have, everything. */
static bool is_tensor_read(const gphi_history *history, const gphi_exec_history *exec,
                           const gphi_touch *touch)
{
    const gphi_memory_history *one = gphi_history_memory(history, touch->memory);
    const uint64_t since = exec->first_launch.number;
    if (!one || !one->is_cut || gphi_history_private(history, touch->memory)) {
        for (size_t i = 0; i < history->execs.count; i++) {
            const gphi_exec_history *other = gphi_history_exec_at(history, i);
            GPHI_EACH (const gphi_touch, theirs, &other->touches)
                if (other != exec && theirs->memory == touch->memory)
                    return true;
        }
        return is_read_after(history, touch->memory, since);
    }
    if (one->overflows)
        return true;
    GPHI_EACH (const gphi_range_history, range, &one->read)
        if (range->last.number > since &&
            gphi_ranges_meet(range->start, range->end - range->start, touch->address, 1))
            return true;
    GPHI_EACH (const gphi_touch, pointer, &one->pointers)
        if (pointer->since > since && pointer->address == touch->address)
            return true;
    return false;
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

/* An address that one kernel is given each time, and nobody else: that kernel reads it. */
static bool is_old_tensor(const gphi_history *history, const gphi_worked *of)
{
    const gphi_memory_history *one = gphi_history_memory(history, of->as.memory);
    if (!one || one->overflows)
        return false;
    GPHI_EACH (const gphi_range_history, range, &one->written)
        if (range->last.number > of->as.first.number &&
            gphi_ranges_meet(range->start, range->end - range->start, of->address, 1))
            return false;
    GPHI_EACH (const gphi_range_history, range, &one->read)
        if (range->last.number > of->as.first.number &&
            gphi_ranges_meet(range->start, range->end - range->start, of->address, 1))
            return false; /* it may be that kernel's result */
    GPHI_EACH (const gphi_touch, pointer, &one->pointers)
        if (pointer->address == of->address && pointer->function != of->function &&
            pointer->since > of->as.first.number)
            return false;
    for (size_t i = 0; i < history->execs.count; i++)
        if (gphi_history_touches(history, gphi_history_exec_at(history, i), of->address,
                                 1))
            return false;
    return of->as.memory->freed.number == 0 ||
           of->as.memory->freed.number > history->recent[0]->last_launch.number;
}

static const gphi_exec_history *exec_of(const gphi_history *history, uint64_t created)
{
    for (size_t i = 0; i < history->execs.count; i++)
        if (gphi_history_exec_at(history, i)->created == created)
            return gphi_history_exec_at(history, i);
    return NULL;
}

static void report(gphi_rule_run *run, const gphi_polled *of,
                   const gphi_exec_history *exec, const char *what)
{
    gphi_draft *draft = gphi_finding_begin(run, &of->first, 0);
    gphi_cause(draft,
               "%s is read after each launch of the graph, which does not have that "
               "address; nothing has written there since the first read, and nobody "
               "reads what the graph works on",
               what);
    const gphi_touch *touch = gphi_vec_at(&exec->touches, 0);
    gphi_evidence(draft, "the graph has %s: %s", gphi_say_touch(exec, touch),
                  gphi_say_memory(run->model, touch->address));
    gphi_evidence_call(draft, &of->memory->allocated, "what is read was allocated by");
    gphi_evidence_call(draft, &exec->first_launch, "the graph is launched by");
}

/* After nearly each launch, and the host looks at something. */
static bool is_steady(const gphi_history *history, const gphi_worked *of,
                      const gphi_exec_history *exec)
{
    const uint64_t launches = history->now.launches - of->begun;
    return of->as.times >= TIMES_MIN && of->as.times * 4 >= launches * 3 &&
           (history->now.reads - exec->made.reads) * 2 >= exec->launches;
}

void gphi_rule_unread_result_end(gphi_rule_run *run)
{
    const gphi_history *history = run->history;
    const gphi_unread_state *state = run->state;
    GPHI_EACH (const gphi_polled, one, &state->copies) {
        const gphi_exec_history *exec = exec_of(history, one->exec);
        if (exec && one->times >= TIMES_MIN && is_old(history, one) &&
            is_unread(history, exec, is_touch_read))
            report(run, one, exec, gphi_say_allocation(run->model, one->memory));
    }
    GPHI_EACH (const gphi_worked, one, &state->kernels) {
        const gphi_exec_history *exec = exec_of(history, one->as.exec);
        if (exec && !one->is_new && is_steady(history, one, exec) &&
            is_old_tensor(history, one) && is_unread(history, exec, is_tensor_read))
            report(run, &one->as, exec, gphi_say_memory(run->model, one->address));
    }
}
