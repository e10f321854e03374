// SPDX-License-Identifier: Apache-2.0
/* Rule memory.input-not-refreshed. A launch is suspected if contents came from the host
 * for something else than what the graph uses, of the size of an input that came that way
 * before, and nothing that the graph uses got new contents. It is reported at the end, if
 * nobody ever used what came. */
#include "doctor/rules/memory/rules_memory.h"

#include <inttypes.h>

enum { SUSPECTS_MAX = 256, WORKS_MAX = 1024 };

/* The range of the same size by which an input of the graph was filled from the host. */
static const gphi_range_history *input_of(const gphi_history *history,
                                          const gphi_exec_history *exec, uint64_t bytes)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches) {
        const gphi_memory_history *memory =
            touch->memory && !touch->writes ? gphi_history_memory(history, touch->memory)
                                            : NULL;
        for (size_t k = 0; memory && k < memory->written.count; k++) {
            const gphi_range_history *range = gphi_vec_at(&memory->written, k);
            if (range->is_from_host && range->end - range->start == bytes &&
                range->last.number < exec->last_launch.number &&
                gphi_touch_meets(history, touch, range->start, bytes))
                return range;
        }
    }
    return NULL;
}

/* Whether another graph that was launched since may write there. */
static bool is_touched_by_others(const gphi_history *history,
                                 const gphi_exec_history *exec, uint64_t address,
                                 uint64_t since)
{
    for (int k = 0; k < GPHI_RECENT && history->recent[k]; k++) {
        const gphi_exec_history *other = history->recent[k];
        if (other != exec && other->last_launch.number > since &&
            gphi_history_touches(history, other, address, 1))
            return true;
    }
    return false;
}

/* Whether kernels outside, or other graphs, may have written what the graph uses; `only`:
 * that input alone is looked at. */
static bool is_written_by_others(const gphi_history *history,
                                 const gphi_exec_history *exec, uint64_t since,
                                 const gphi_range_history *only)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches) {
        const gphi_memory_history *memory =
            touch->memory ? gphi_history_memory(history, touch->memory) : NULL;
        if (only &&
            !gphi_touch_meets(history, touch, only->start, only->end - only->start))
            continue;
        for (size_t k = 0; memory && k < memory->pointers.count; k++) {
            const gphi_touch *pointer = gphi_vec_at(&memory->pointers, k);
            if (pointer->since > since &&
                (!only || gphi_touch_meets(history, pointer, only->start,
                                           only->end - only->start)))
                return true;
        }
        if (is_touched_by_others(history, exec, touch->address, since))
            return true;
    }
    return false;
}

/* What came from the host since the launch before, and not for the graph; NULL if
 * something came for it. */
static const gphi_work *foreign_upload(const gphi_history *history,
                                       const gphi_exec_history *exec,
                                       const gphi_seen *seen)
{
    const gphi_work *found = NULL;
    const gphi_work *work = gphi_model_work_next(history->model, history->before_work);
    for (int i = 0; i < WORKS_MAX && work && work->number < seen->work->number;
         i++, work = gphi_model_work_next(history->model, work->number)) {
        if (work->is_captured || work->write_bytes == 0)
            continue;
        if (gphi_history_touches(history, exec, work->write, work->write_bytes))
            return NULL;
        if (work->read_bytes == 0 && work->host != 0)
            found = work;
    }
    return found;
}

/* PyTorch's allocator gives memory that is free out again at once: a batch that nobody
 * read makes way for a result. A kernel is given it, and the host reads less from there
 * than it had sent: the kernel has written it. */
static void note_anew(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_vec *items = run->state;
    gphi_call_ranges ranges;
    gphi_touch touches[64];
    const bool is_kernel = gphi_call_is_kernel(seen->call.call);
    if (items->count == 0 || !seen->work || seen->work->is_captured ||
        seen->call.result != 0 || (!is_kernel && !gphi_call_ranges_of(seen, &ranges)))
        return;
    const uint32_t count =
        is_kernel ? gphi_call_pointers(run->model, seen, touches, 64) : 0;
    GPHI_EACH (gphi_suspect, one, items) {
        bool is_met = false;
        for (uint32_t i = 0; i < count; i++)
            is_met |= touches[i].address - one->address < one->bytes;
        one->uses += is_met;
        if (is_kernel ||
            !gphi_ranges_meet(ranges.read, ranges.read_bytes, one->address, one->bytes))
            continue;
        one->is_anew |= one->uses == 1 && ranges.to_host && ranges.read == one->address &&
                        ranges.read_bytes < one->bytes;
        one->uses++;
    }
}

/* Kernels that were given it since it came. */
static uint32_t uses_of(const gphi_history *history, const gphi_allocation *memory,
                        const gphi_work *upload)
{
    const gphi_memory_history *one = gphi_history_memory(history, memory);
    uint32_t count = 0;
    for (size_t i = 0; one && i < one->pointers.count; i++) {
        const gphi_touch *pointer = gphi_vec_at(&one->pointers, i);
        count += pointer->since > upload->call.number &&
                 pointer->address - upload->write < upload->write_bytes;
    }
    return count;
}

/* Only launches that follow one of the same contents: after an update the input is
 * another. */
void gphi_rule_input_not_refreshed(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_history *history = run->history;
    gphi_vec *items = run->state;
    gphi_exec_history *exec = history->launched;
    gphi_rule_input_moved(run, seen);
    note_anew(run, seen);
    if (!exec || history->before_work == 0 || !seen->work ||
        items->count == SUSPECTS_MAX || history->before.number < exec->updated)
        return;
    const gphi_work *upload = foreign_upload(history, exec, seen);
    gphi_allocation *memory =
        upload ? gphi_model_memory(run->model, upload->write, false) : NULL;
    if (!memory)
        return;
    const gphi_range_history *input = input_of(history, exec, upload->write_bytes);
    if (!input)
        return;
    const bool is_same_place =
        input->last.stack != 0 && input->last.stack == upload->call.stack;
    if (is_written_by_others(history, exec, history->before.number,
                             is_same_place ? input : NULL))
        return;
    gphi_suspect *one = gphi_vec_add(items, 1);
    if (one)
        *one = (gphi_suspect){.exec = exec,
                              .launch = seen->call,
                              .upload = upload->call,
                              .input_call = input->last,
                              .address = upload->write,
                              .bytes = upload->write_bytes,
                              .number = memory->allocated.number,
                              .memory = memory,
                              .uses = uses_of(history, memory, upload),
                              .input = input->start};
}

/* By anything that may have read it, before the end. In doubt it was used. */
static bool was_used(const gphi_history *history, const gphi_suspect *of)
{
    const gphi_memory_history *memory = gphi_history_memory(history, of->memory);
    if (of->memory->allocated.number != of->number || !memory)
        return true; /* not known any more */
    if (memory->overflows && !of->is_anew)
        return true;
    GPHI_EACH (const gphi_range_history, range, &memory->read)
        if (!of->is_anew && range->last.number > of->upload.number)
            return true;
    GPHI_EACH (const gphi_touch, pointer, &memory->pointers)
        if (!of->is_anew && pointer->since > of->upload.number)
            return true;
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        if (exec->last_launch.number > of->upload.number &&
            gphi_history_touches(history, exec, of->address, of->bytes))
            return true;
    }
    return false;
}

/* One that was never used is not a habit: it may be for what this run did not come to. */
static uint32_t unused_of(const gphi_vec *items, const gphi_exec_history *exec)
{
    uint32_t count = 0;
    GPHI_EACH (const gphi_suspect, one, items)
        count += one->exec == exec && one->is_unused;
    return count;
}

void gphi_rule_input_not_refreshed_end(gphi_rule_run *run)
{
    enum { UNUSED_MIN = 3 };
    gphi_history *history = run->history;
    gphi_vec *items = run->state;
    gphi_rule_input_moved_end(run);
    GPHI_EACH (gphi_suspect, one, items)
        one->is_unused = !was_used(history, one);
    GPHI_EACH (const gphi_suspect, one, items) {
        if (!one->is_unused || unused_of(items, one->exec) < UNUSED_MIN)
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &one->launch, one->exec->created);
        gphi_cause(draft,
                   "the graph was launched again with the old contents of its input, %s; "
                   "the %s that came from the host before the launch went to %s, which "
                   "nothing ever read",
                   gphi_say_memory(run->model, one->input), gphi_say_bytes(one->bytes),
                   gphi_say_memory(run->model, one->address));
        if (!draft)
            continue;
        gphi_evidence_call(draft, &one->upload, "the new contents came by");
        gphi_evidence_call(draft, &one->input_call, "the input was last written by");
        gphi_evidence_call(draft, &one->exec->first_launch, "first launched by");
    }
}
