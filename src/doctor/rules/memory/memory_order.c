// SPDX-License-Identifier: Apache-2.0
/* Rules memory.read-before-done, memory.input-race and memory.output-overwritten: who
 * reads what a graph writes, and when. Only what was seen to be written is reported: by
 * copies and fills of the graph, or by a kernel where nobody else can have written what
 * is read.
 *
 *   launch ──────────┐ works on
 *       read-before-done: a reader that nothing orders after the launch
 *       input-race:       a copy into its input, before or after, in no order with it
 *       output-overwritten: the next launch, in no order with a reader of the last one
 *
 * Order is the model's (vector clocks of streams); what is in doubt counts as ordered. */
#include "doctor/rules/memory/rules_memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory.read-before-done ---- */

static void tell_basis(const gphi_history *history, gphi_draft *draft,
                       const gphi_exec_history *exec, const gphi_touch *touch)
{
    if (!touch->writes && touch->memory && gphi_history_private(history, touch->memory))
        gphi_evidence(draft,
                      "the graph has that address in %s, and the memory was allocated "
                      "while it was captured: nobody else writes there",
                      gphi_say_touch(exec, touch));
    else if (touch->writes)
        gphi_evidence(draft, "the graph writes there in %s", gphi_say_touch(exec, touch));
    else if (touch->is_written)
        gphi_evidence(draft,
                      "the graph has that address in %s, and the kernel's code stores "
                      "there",
                      gphi_say_touch(exec, touch));
    else if (touch->is_only)
        gphi_evidence(draft,
                      "the graph has that address in %s; that the kernel writes there is "
                      "concluded: it is given no other address",
                      gphi_say_touch(exec, touch));
    else
        gphi_evidence(draft,
                      "the graph has that address in %s; that the kernel writes there is "
                      "concluded from this: nothing else has copied there since the "
                      "first launch, and no kernel other "
                      "than the graph's own was given the address",
                      gphi_say_touch(exec, touch));
    gphi_evidence_call(draft, gphi_snapshot_made(exec->source, touch->node),
                       "the node was made by");
}

/* The record of the event that the reader's stream waited for after the launch, if it came
 * into the launch's stream before the launch: there the order is lost. NULL: not so. */
static const gphi_call *too_early(const gphi_seen *seen, const gphi_exec_history *exec)
{
    const gphi_stream *stream = seen->stream;
    const gphi_launch *launch =
        exec->exec->launches.count > 0
            ? gphi_vec_at(&exec->exec->launches, exec->exec->launches.count - 1)
            : NULL;
    return stream && launch && stream->waited.number > launch->call.number &&
                   stream->waited_for.number != 0 &&
                   stream->waited_for.number < launch->call.number &&
                   stream->recorded_on == launch->stream
               ? &stream->waited_for
               : NULL;
}

static void tell_early(gphi_rule_run *run, const gphi_seen *seen,
                       const gphi_exec_history *exec, const gphi_touch *touch,
                       uint64_t address)
{
    const gphi_call *record = too_early(seen, exec);
    gphi_draft *draft = gphi_finding_begin(run, record ? record : &seen->call, 0);
    if (!draft)
        return;
    gphi_cause(
        draft,
        "%s uses %s, where the graph that was launched before may still be writing: "
        "nothing orders it after the launch",
        gphi_say_call(&seen->call), gphi_say_memory(run->model, address));
    if (record) {
        gphi_evidence_call(draft, record, "the event was recorded before the launch, by");
        gphi_evidence_call(draft, &seen->stream->waited,
                           "the reader's stream waits for it by");
        gphi_evidence_call(draft, &seen->call, "the reader is");
    }
    gphi_evidence_call(draft, &exec->last_launch, "the graph was launched by");
    tell_basis(run->history, draft, exec, touch);
    if (seen->stream)
        gphi_evidence(draft, "the reader is on %s",
                      gphi_say_stream(run->model, seen->stream));
}

/* What the graph has at that address of memory that was allocated for captures: it alone writes
 * there, though others are given the address to read it. */
static const gphi_touch *private_touch(const gphi_history *history,
                                       const gphi_exec_history *exec, uint64_t address)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (touch->address == address && touch->memory && !touch->reads &&
            touch->memory->kind != GPHI_MEM_GRAPH &&
            gphi_history_private(history, touch->memory))
            return touch;
    return NULL;
}

static const gphi_touch *early_touch(const gphi_history *history, const gphi_seen *seen,
                                     const gphi_exec_history *exec, uint64_t *address)
{
    gphi_touch touches[64];
    gphi_call_ranges ranges;
    if (gphi_call_is_kernel(seen->call.call)) {
        const uint32_t count = gphi_call_pointers(history->model, seen, touches, 64);
        for (uint32_t i = 0; i < count; i++) {
            *address = touches[i].address;
            const gphi_touch *touch = gphi_history_writes(history, exec, *address, 1);
            if (touch && touch->address == *address)
                return touch;
            if ((touch = private_touch(history, exec, *address)) != NULL)
                return touch;
        }
        return NULL;
    }
    if (!gphi_call_ranges_of(seen, &ranges) || ranges.read_bytes == 0)
        return NULL;
    *address = ranges.read;
    return gphi_history_writes(history, exec, ranges.read, ranges.read_bytes);
}

/* Newest launch first: where two could have written, the later one has. */
void gphi_rule_read_before_done(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_history *history = run->history;
    if (!seen->work || seen->work->is_captured || seen->call.result != 0 ||
        history->launched)
        return;
    for (int i = 0; i < GPHI_RECENT && history->recent[i]; i++) {
        const gphi_exec_history *exec = history->recent[i];
        uint64_t address = 0;
        if (!gphi_exec_is_alive(exec) || exec->last_work == 0 ||
            gphi_model_ordered(run->model, exec->last_work, seen->work->number))
            continue;
        const gphi_touch *touch = early_touch(history, seen, exec, &address);
        if (touch) {
            tell_early(run, seen, exec, touch, address);
            return;
        }
    }
}

/* ---- memory.input-race ---- */

/* Its memory was freed before the work came: what lies there is another's, and the free
 * is what was too early. */
static bool is_gone(const gphi_touch *touch, const gphi_work *work)
{
    const gphi_allocation *memory = touch->memory;
    return memory && memory->allocated.number == touch->memory_number &&
           memory->freed.number != 0 && memory->freed.number < work->call.number;
}

/* What a kernel of the graph is given, or a copy or fill of it touches, in the range.
 * That a kernel goes as far as the range from a pointer before it is not known. */
static const gphi_touch *input_in(const gphi_history *history,
                                  const gphi_exec_history *exec, const gphi_work *work)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches) {
        const uint64_t bytes = touch->bytes != 0 ? touch->bytes : 1;
        if (touch->address < work->write + work->write_bytes &&
            work->write < touch->address + bytes && !touch->writes &&
            !is_gone(touch, work) && !gphi_touch_is_off(history, exec, touch))
            return touch;
    }
    return NULL;
}

/* A copy into memory by a call that does not wait, or a fill: cuMemset on its own waits
 * for nobody either. Fills of a start-up, before the first launch, are not meant. */
static bool is_refill(const gphi_work *work, bool is_again)
{
    if (work->is_captured || work->exec || work->write_bytes == 0)
        return false;
    return work->read_bytes != 0 || work->host != 0
               ? strstr(gphi_call_name(work->call.call), "Async") != NULL
               : is_again && strncmp(gphi_call_name(work->call.call), "cuMemset", 8) == 0;
}

static void tell_input_race(gphi_rule_run *run, const gphi_exec_history *exec,
                            const gphi_work *refill, const gphi_call *launch,
                            const gphi_touch *touch)
{
    const bool is_before = refill->call.number < launch->number;
    gphi_draft *draft = gphi_finding_begin(run, &refill->call, exec->created);
    gphi_cause(draft,
               "%s writes %s, which the graph uses in %s, %s: nothing orders the two",
               gphi_say_call(&refill->call), gphi_say_memory(run->model, refill->write),
               gphi_say_touch(exec, touch),
               is_before ? "and the launch after it may begin before that is done"
                         : "while the launch before it may still be at work");
    gphi_evidence_call(draft, launch, "the graph is launched by");
    if (refill->stream)
        gphi_evidence(draft,
                      refill->function != 0 ? "the kernel is on %s"
                      : refill->read_bytes != 0 || refill->host != 0
                          ? "the copy is on %s"
                          : "the fill is on %s",
                      gphi_say_stream(run->model, refill->stream));
    if (refill->function != 0)
        gphi_evidence(draft, "that the kernel writes there is concluded: its code stores "
                             "there, or it is given no other address");
    gphi_evidence_call(draft, gphi_snapshot_made(exec->source, touch->node),
                       "the node was made by");
}

/* Copies since the last launch of the graph, or the last ones, that this one does not
 * wait for. */
static void look_before(gphi_rule_run *run, const gphi_history *history,
                        const gphi_seen *seen)
{
    enum { WORKS_MAX = 256 };
    const uint64_t now = seen->work->number;
    const uint64_t oldest = now > WORKS_MAX ? now - WORKS_MAX : 0;
    const uint64_t since = history->before_work > oldest ? history->before_work : oldest;
    const gphi_work *work = gphi_model_work_next(run->model, since);
    for (; work && work->number < now;
         work = gphi_model_work_next(run->model, work->number)) {
        if (!is_refill(work, history->before_work != 0) ||
            gphi_model_ordered(run->model, work->number, now))
            continue;
        const gphi_touch *touch = input_in(history, history->launched, work);
        if (touch) {
            tell_input_race(run, history->launched, work, &seen->call, touch);
            return;
        }
    }
}

/* Not the same kernel, which may count atomically, nor atomic operations by both. */
static bool is_other_work(const gphi_touch *touch, const gphi_work *kernel)
{
    return touch->function != kernel->function &&
           (!touch->is_atomic || kernel->host == 0);
}

/* Before a launch: kernels since the launch before that nothing orders before it. */
static void look_before_kernels(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_kernel_writes *state = run->state;
    const gphi_history *history = run->history;
    for (uint32_t i = 0; i < GPHI_KERNEL_WRITES && history->before_work != 0; i++) {
        const gphi_work *work = &state->items[i];
        if (work->number <= history->before_work ||
            gphi_model_ordered(run->model, work->number, seen->work->number))
            continue;
        const gphi_touch *touch = input_in(history, history->launched, work);
        if (touch && is_other_work(touch, work)) {
            tell_input_race(run, history->launched, work, &seen->call, touch);
            return;
        }
    }
}

/* What a call writes: a copy or fill, or (in *kernel) a kernel that is kept for the
 * launches to come. NULL: neither. */
static const gphi_work *refill_of(gphi_rule_run *run, const gphi_seen *seen,
                                  gphi_work *kernel)
{
    gphi_kernel_writes *state = run->state;
    if (is_refill(seen->work, true))
        return seen->work;
    if (seen->work->is_captured || !gphi_call_is_kernel(seen->call.call))
        return NULL;
    gphi_touch touches[64];
    const uint32_t count = gphi_call_written(run->model, seen, touches, 64);
    if (count == 0)
        return NULL;
    *kernel = *seen->work;
    kernel->write = touches[0].address;
    kernel->write_bytes = 1;
    kernel->host = touches[0].is_atomic; /* of no use otherwise */
    state->items[state->count++ % GPHI_KERNEL_WRITES] = *kernel;
    return kernel;
}

void gphi_rule_input_race(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_history *history = run->history;
    gphi_work kernel;
    if (!seen->work || seen->call.result != 0)
        return;
    if (history->launched) {
        look_before(run, history, seen);
        look_before_kernels(run, seen);
        return;
    }
    const gphi_work *refill = refill_of(run, seen, &kernel);
    for (int i = 0; refill && i < GPHI_RECENT && history->recent[i]; i++) {
        const gphi_exec_history *exec = history->recent[i];
        if (!gphi_exec_is_alive(exec) || exec->last_work == 0 ||
            gphi_model_ordered(run->model, exec->last_work, refill->number))
            continue;
        const gphi_touch *touch = input_in(history, exec, refill);
        if (touch && (refill != &kernel || is_other_work(touch, &kernel))) {
            tell_input_race(run, exec, refill, &exec->last_launch, touch);
            return;
        }
    }
}

/* ---- memory.output-overwritten: a reader that the next launch does not wait for ---- */

static void tell_race(gphi_rule_run *run, const gphi_seen *seen,
                      const gphi_exec_history *exec, const gphi_work *reader,
                      const gphi_touch *touch, uint64_t address)
{
    gphi_draft *draft = gphi_finding_begin(run, &seen->call, 0);
    if (!draft)
        return;
    gphi_cause(
        draft,
        "the graph is launched again while %s, its output, may still be read by %s, "
        "which the launch does not wait for",
        gphi_say_memory(run->model, address), gphi_say_call(&reader->call));
    gphi_evidence_call(draft, &reader->call, "the reader is");
    if (reader->stream)
        gphi_evidence(draft, "it is on %s", gphi_say_stream(run->model, reader->stream));
    tell_basis(run->history, draft, exec, touch);
}

/* What the launch writes and the work reads: a copy, or a kernel that the graph has not got;
 * that one's code may only read there. */
static const gphi_touch *read_by(const gphi_history *history,
                                 const gphi_exec_history *exec, const gphi_work *work,
                                 uint64_t *address)
{
    const gphi_kernel_work *kernel =
        work->function != 0 ? gphi_history_kernel(history, work->number) : NULL;
    *address = work->read;
    if (work->read_bytes != 0)
        return gphi_history_writes(history, exec, work->read, work->read_bytes);
    for (uint32_t i = 0; kernel && i < kernel->count; i++) {
        const gphi_touch *pointer = &kernel->pointers[i];
        *address = pointer->address;
        GPHI_EACH (const gphi_touch, touch, &exec->touches)
            if (pointer->is_kept && touch->address == pointer->address &&
                touch->is_written && touch->memory == pointer->memory &&
                !gphi_touch_is_off(history, exec, touch))
                return touch;
    }
    return NULL;
}

/* Readers of the launch before. */
static void find_race(gphi_rule_run *run, const gphi_history *history,
                      const gphi_seen *seen)
{
    const gphi_exec_history *exec = history->launched;
    const gphi_work *work = gphi_model_work_next(run->model, history->before_work);
    for (int i = 0; i < 4096 && work && seen->work && work->number < seen->work->number;
         i++, work = gphi_model_work_next(run->model, work->number)) {
        if (work->is_captured || (work->read_bytes == 0 && work->function == 0) ||
            gphi_model_ordered(run->model, work->number, seen->work->number) ||
            !gphi_model_ordered(run->model, history->before_work, work->number))
            continue;
        uint64_t address;
        const gphi_touch *touch = read_by(history, exec, work, &address);
        if (touch) {
            tell_race(run, seen, exec, work, touch, address);
            return;
        }
    }
}

/* ---- ... and results of two launches that are read as two, after the second ---- */

/* Whether contents came from outside into what the graph uses since it was launched. */
static bool is_fresh(const gphi_history *history, const gphi_exec_history *exec,
                     uint64_t since, uint64_t until)
{
    const gphi_work *work = gphi_model_work_next(history->model, since);
    for (int i = 0; i < 1024 && work && work->number < until;
         i++, work = gphi_model_work_next(history->model, work->number))
        if (!work->is_captured && !work->exec && work->write_bytes != 0 &&
            gphi_history_touches(history, exec, work->write, work->write_bytes))
            return true;
    return false;
}

static void tell_twice(gphi_rule_run *run, const gphi_output_read *first,
                       const gphi_call *again, const gphi_touch *touch)
{
    const gphi_exec_history *exec = first->exec;
    gphi_draft *draft = gphi_finding_begin(run, &first->call, 0);
    if (!draft)
        return;
    gphi_cause(
        draft,
        "two results were read from %s after the last of %" PRIu64
        " launches with new inputs: both are the last one's, which has overwritten "
        "the others",
        gphi_say_memory(run->model, first->address), first->launches);
    gphi_evidence_call(draft, &first->call, "read by");
    gphi_evidence_call(draft, again, "and, without a launch between, by");
    gphi_evidence_call(draft, &exec->last_launch, "the last launch is");
    tell_basis(run->history, draft, exec, touch);
}

/* A range of an executable's output is one entry, which its next copy replaces. */
static gphi_output_read *read_of(gphi_vec *items, const gphi_exec_history *exec,
                                 uint64_t address, uint64_t bytes)
{
    GPHI_EACH (gphi_output_read, one, items)
        if (one->exec == exec && one->address == address && one->bytes == bytes)
            return one;
    return NULL;
}

static void note_read(gphi_rule_run *run, const gphi_history *history,
                      gphi_exec_history *exec, const gphi_seen *seen)
{
    enum { READS_MAX = 256 };
    gphi_vec *items = run->state;
    const gphi_work *work = seen->work;
    const gphi_touch *touch =
        gphi_history_writes(history, exec, work->read, work->read_bytes);
    if (!touch)
        return;
    exec->last_read = seen->call.number;
    gphi_output_read *one = read_of(items, exec, work->read, work->read_bytes);
    if (one && one->call.number > exec->last_launch.number) {
        if (one->launches >= 2 && one->fresh >= 2 && one->host != work->host &&
            one->host != 0 && work->host != 0)
            tell_twice(run, one, &seen->call, touch);
        return;
    }
    if (!one && items->count < READS_MAX)
        one = gphi_vec_add(items, 1);
    if (!one)
        return;
    *one = (gphi_output_read){.exec = exec,
                              .call = seen->call,
                              .address = work->read,
                              .bytes = work->read_bytes,
                              .host = work->host,
                              .launches = exec->launches - exec->launches_read,
                              .fresh = exec->fresh};
}

/* ---- ... and results of two graphs that share their place ---- */

/* The entry of a range of an executable that was read since its last launch, into other
 * memory of the host than now; NULL: there is none. */
static const gphi_output_read *read_before(const gphi_rule_run *run,
                                           const gphi_exec_history *exec,
                                           const gphi_work *work)
{
    gphi_vec *items = run->state;
    const gphi_output_read *one = read_of(items, exec, work->read, work->read_bytes);
    const bool is_other = one && one->call.number > exec->last_launch.number &&
                          one->launches >= 1 && one->host != work->host &&
                          one->host != 0 && work->host != 0;
    return is_other ? one : NULL;
}

/* A range is read twice, for two results, and nothing is launched between. Two graphs
 * write there; the later one was launched with new inputs, or has the place because a capture
 * gave it back, before anybody read what the earlier one had left. */
static void find_shared(gphi_rule_run *run, gphi_history *history, const gphi_seen *seen)
{
    const gphi_work *work = seen->work;
    const gphi_exec_history *later = history->recent[0];
    const gphi_output_read *one = later ? read_before(run, later, work) : NULL;
    for (int i = 1; one && i < GPHI_RECENT && history->recent[i]; i++) {
        const gphi_exec_history *earlier = history->recent[i];
        const gphi_touch *touch =
            gphi_exec_is_alive(earlier) && read_before(run, earlier, work)
                ? gphi_history_writes(history, earlier, work->read, work->read_bytes)
                : NULL;
        const gphi_call *freed = gphi_freed_inside(run, work->read);
        if (!touch ||
            (!freed && !is_fresh(history, later, earlier->last_work, later->last_work)))
            continue;
        gphi_draft *draft = gphi_finding_begin(run, freed ? freed : &one->call, 0);
        if (freed)
            gphi_cause(
                draft,
                "%s was given back to its pool while the graph that writes there "
                "was captured, and a graph that was captured later has it, too; it "
                "is read twice after launches of both, for two results",
                gphi_say_memory(run->model, work->read));
        else
            gphi_cause(
                draft,
                "%s is read twice, and nothing is launched between; two graphs write "
                "there, and the second was launched, with new inputs, before anybody "
                "had read the result of the first",
                gphi_say_memory(run->model, work->read));
        gphi_evidence_call(draft, &earlier->last_launch,
                           "the first graph is launched by");
        gphi_evidence_call(draft, &later->last_launch, "the second, which overwrites it");
        gphi_evidence_call(draft, &seen->call, "the second read is");
        if (draft)
            tell_basis(run->history, draft, earlier, touch);
        return;
    }
}

static void note_reads(gphi_rule_run *run, gphi_history *history, const gphi_seen *seen)
{
    find_shared(run, history, seen);
    for (int i = 0; i < GPHI_RECENT && history->recent[i]; i++)
        if (gphi_exec_is_alive(history->recent[i]))
            note_read(run, history, history->recent[i], seen);
}

/* A launch looks back at the readers of the one before; a copy to the host is kept, for
 * the next one of the same range. */
void gphi_rule_output_overwritten(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_history *history = run->history;
    gphi_exec_history *exec = history->launched;
    gphi_rule_output_kept(run, seen);
    if (exec && history->before_work != 0) {
        find_race(run, history, seen);
        if (exec->last_read > history->before.number) { /* a new row of launches */
            exec->launches_read = exec->launches - 1;
            exec->fresh = 0;
        }
    }
    if (exec) {
        exec->fresh += is_fresh(history, exec, history->before_work, exec->last_work);
        return;
    }
    if (!seen->work || seen->work->is_captured || seen->call.result != 0 ||
        seen->work->read_bytes == 0 || seen->work->write_bytes != 0)
        return;
    note_reads(run, history, seen);
}

/* ---- memory.host-read-before-done ---- */

static bool is_of_host(const gphi_allocation *memory)
{
    return memory &&
           (memory->kind == GPHI_MEM_PINNED || memory->kind == GPHI_MEM_REGISTERED ||
            memory->kind == GPHI_MEM_MANAGED);
}

/* Whether a kernel may report to the host how far the device is: it has a pointer into memory that
 * the host reads. */
static bool may_be_polled(const gphi_history *history)
{
    for (size_t i = 0; i < history->memories.count; i++) {
        const gphi_memory_history *memory = gphi_vec_pointer(&history->memories, i);
        if (is_of_host(memory->memory) && memory->pointers.count > 0)
            return true;
    }
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        GPHI_EACH (const gphi_touch, touch, &exec->touches)
            if (touch->bytes == 0 && is_of_host(touch->memory))
                return true;
    }
    return false;
}

/* The driver is not called: softcuda's check says it, by the thread that did it, or the attached
 * library, which closes the pages until a call may have waited. */
void gphi_rule_host_read(gphi_rule_run *run, const gphi_event *event)
{
    static const char softcuda[] = "host code ", attached[] = "host code uses ";
    if (event->kind != GPHI_EVENT_LOG)
        return;
    const char *text = gphi_event_text(event, 0);
    const bool is_attached = strncmp(text, attached, strlen(attached)) == 0;
    if (strncmp(text, softcuda, strlen(softcuda)) != 0 ||
        !strstr(text, "pinned memory at"))
        return;
    const gphi_call at = {.number = run->model->call_count + 1,
                          .time_ns = event->time_ns,
                          .call = GPHI_CALL_COUNT,
                          .thread = event->thread,
                          .stack = event->stack};
    gphi_draft *draft = gphi_finding_begin(run, &at, 0);
    gphi_cause(draft,
               "a queued copy had yet to write pinned memory that the host used here");
    if (!is_attached) {
        gphi_evidence_said(draft, text);
        return;
    }
    const char *byte = strstr(text, "byte ");
    char *of = NULL;
    const unsigned long at_byte = strtoul(byte ? byte + 5 : "", &of, 10);
    gphi_evidence(
        draft,
        "byte %lu of %lu was used, and no call that may wait was made after the "
        "copy",
        at_byte, strtoul(strncmp(of, " of ", 4) == 0 ? of + 4 : "", NULL, 10));
    if (run->history && may_be_polled(run->history)) {
        gphi_soften(draft);
        gphi_evidence(draft, "a kernel may have said so in memory that the host reads");
    }
}
