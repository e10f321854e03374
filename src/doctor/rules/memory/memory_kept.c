// SPDX-License-Identifier: Apache-2.0
/* Rule memory.output-overwritten, of results that are kept: a graph is launched several
 * times with new inputs, nobody looks at its output meanwhile, and after the last launch
 * the output is read as often as there were launches. A program that reads so takes it for as many
 * results.
 *
 *   launch launch launch launch   K(out) K(out) K(out) K(out)
 *   gap: 4                        run: 4
 *
 * That a kernel's pointer is an output is concluded: nobody but the graph's kernels was
 * given it before, and nothing is copied or filled there. */
#include "doctor/rules/memory/rules_memory.h"

#include <inttypes.h>

enum { KEPT_MAX = 256, GAP_MIN = 3 };

/* A reader outside graphs: a kernel, or (0) copies. */
typedef struct kept {
    gphi_exec_history *exec;
    uint64_t address, kernel;
    uint64_t launches; /* of the executable, at the last read */
    uint64_t gap, run, fresh;
    uint32_t node, arg; /* of the touch */
    gphi_call first;    /* of the run */
} kept;

/* ---- what a capture gives back ---- */

typedef struct inside {
    uint64_t address;
    gphi_call freed;
} inside;

void gphi_rule_output_event(gphi_rule_run *run, const gphi_event *event)
{
    gphi_output_state *state = run->state;
    if (event->kind != GPHI_EVENT_NOTE || event->id != GPHI_NOTE_BLOCK ||
        gphi_event_word(event, 1) != 0 || gphi_event_word(event, 2) == 0)
        return;
    const uint64_t address = gphi_event_word(event, 0);
    inside *one = gphi_vec_keyed(&state->inside, &address, sizeof(address), KEPT_MAX);
    if (one && one->freed.number == 0)
        one->freed = (gphi_call){.number = run->model->call_count,
                                 .time_ns = event->time_ns,
                                 .call = GPHI_CALL_COUNT,
                                 .thread = event->thread,
                                 .stack = event->stack};
}

const gphi_call *gphi_freed_inside(const gphi_rule_run *run, uint64_t address)
{
    const gphi_output_state *state = run->state;
    GPHI_EACH (const inside, one, &state->inside)
        if (one->address == address && one->freed.stack != 0)
            return &one->freed;
    return NULL;
}

void gphi_rule_output_init(gphi_rule_run *run)
{
    gphi_output_state *state = run->state;
    gphi_vec_init(&state->reads, run->model->heap, sizeof(gphi_output_read));
    gphi_vec_init(&state->kept, run->model->heap, sizeof(kept));
    gphi_vec_init(&state->inside, run->model->heap, sizeof(inside));
    gphi_added_init(run);
}

void gphi_rule_output_fini(gphi_rule_run *run)
{
    gphi_output_state *state = run->state;
    gphi_vec_fini(&state->reads);
    gphi_vec_fini(&state->kept);
    gphi_vec_fini(&state->inside);
    gphi_vec_fini(&state->added);
}

static bool is_written_outside(const gphi_memory_history *memory, uint64_t address)
{
    GPHI_EACH (const gphi_range_history, range, &memory->written)
        if (range->start <= address && address < range->end && !range->is_fill)
            return true;
    return memory->overflows;
}

static bool has_kernel(const gphi_exec_history *exec, uint64_t address, uint64_t kernel)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (touch->address == address && touch->function == kernel)
            return true;
    return false;
}

/* The touch by which the graph writes there, as far as is known; NULL: it may read. */
static const gphi_touch *output_at(const gphi_history *history,
                                   const gphi_exec_history *exec, uint64_t address)
{
    const gphi_touch *found = NULL;
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (touch->address == address && !touch->reads)
            found = touch;
    const gphi_memory_history *memory =
        found && found->memory ? gphi_history_memory(history, found->memory) : NULL;
    if (!found || found->writes || !memory)
        return found;
    GPHI_EACH (const gphi_touch, pointer, &memory->pointers)
        if (pointer->address == address && pointer->since < exec->last_launch.number &&
            !has_kernel(exec, address, pointer->function))
            return NULL;
    return is_written_outside(memory, address) ? NULL : found;
}

static void tell_kept(gphi_rule_run *run, kept *of)
{
    const gphi_exec_history *exec = of->exec;
    /* A copy to the host that is made again, with nothing between, gives the same bytes. */
    const bool is_habit = of->run == of->gap && of->gap >= GAP_MIN &&
                          (of->fresh >= GAP_MIN || of->kernel == 0);
    const bool is_new = of->fresh >= GAP_MIN;
    of->run = 0;
    if (!is_habit)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &of->first, 0);
    gphi_cause(draft,
               "%" PRIu64
               " results were read from %s after the last of as many launches%s"
               ", and none between them: all are the last one's, which "
               "has overwritten the others",
               of->gap, gphi_say_memory(run->model, of->address),
               is_new ? " with new inputs" : "");
    gphi_evidence_call(draft, &of->first, "the first of these reads is");
    gphi_evidence_call(draft, &exec->last_launch, "the last launch is");
    gphi_evidence(draft,
                  "the graph has that address in %s; before the launches nothing "
                  "but its kernels was given it",
                  gphi_say_node(exec->source, of->node));
    gphi_evidence_call(draft, gphi_snapshot_made(exec->source, of->node),
                       "the node was made by");
}

static kept *entry_of(gphi_vec *items, gphi_exec_history *exec, uint64_t address,
                      uint64_t kernel)
{
    GPHI_EACH (kept, one, items)
        if (one->exec == exec && one->address == address && one->kernel == kernel)
            return one;
    kept *new = items->count < KEPT_MAX ? gphi_vec_add(items, 1) : NULL;
    if (new)
        *new = (kept){.exec = exec, .address = address, .kernel = kernel};
    return new;
}

static void note(gphi_rule_run *run, gphi_exec_history *exec, uint64_t address,
                 uint64_t kernel, const gphi_call *call)
{
    gphi_output_state *state = run->state;
    const gphi_touch *touch = output_at(run->history, exec, address);
    kept *one = touch ? entry_of(&state->kept, exec, address, kernel) : NULL;
    if (!one)
        return;
    if (one->launches != exec->launches) {
        one->gap = exec->launches - one->launches;
        one->launches = exec->launches;
        one->run = 0;
        one->fresh = exec->fresh;
        one->first = *call;
        one->node = touch->node;
    }
    one->run++;
}

/* A launch ends the reads of the one before. */
void gphi_rule_output_kept(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_history *history = run->history;
    gphi_output_state *state = run->state;
    gphi_touch touches[64];
    if (history->launched) {
        GPHI_EACH (kept, one, &state->kept)
            if (one->exec == history->launched && one->run > 0)
                tell_kept(run, one);
        return;
    }
    gphi_exec_history *exec = history->recent[0];
    if (!exec || !gphi_exec_is_alive(exec) || !seen->work || seen->work->is_captured ||
        seen->call.result != 0)
        return;
    if (!gphi_call_is_kernel(seen->call.call)) {
        if (seen->work->read_bytes != 0)
            note(run, exec, seen->work->read, 0, &seen->call);
        return;
    }
    const uint32_t count = gphi_call_pointers(run->model, seen, touches, 64);
    for (uint32_t i = 0; i < count; i++)
        note(run, exec, touches[i].address, touches[i].function, &seen->call);
    gphi_added_note(run, touches, count, &seen->call);
}

void gphi_rule_output_end(gphi_rule_run *run)
{
    gphi_output_state *state = run->state;
    GPHI_EACH (kept, one, &state->kept)
        if (one->run > 0)
            tell_kept(run, one);
    gphi_added_end(run);
}
