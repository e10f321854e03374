// SPDX-License-Identifier: Apache-2.0
/* Rule replay.frozen-value, of branches: the same input was sent before each step, and a line ran its
 * kernel more often in some steps than in others (layers left out by chance, an optimizer that steps
 * now and then). The host decided so each time; the graph has what it decided once.
 *
 *   upload K K K | upload K K | upload K K K K | capture: upload K K | upload, launch | ..
 *
 * A warm-up has more, or less, in its first steps: the number must rise and fall. */
#include "doctor/rules/replay/rules_replay.h"

#include <inttypes.h>
#include <string.h>

enum { STEPS_MIN = 4, STEPS_MAX = 8, LOOK_BACK = 4096, KERNELS_MAX = 64 };

/* Steps before a capture: items from[i] to from[i + 1], oldest first. */
typedef struct steps {
    uint64_t from[STEPS_MAX + 1];
    uint32_t count;
} steps;

/* What the host sends to the graph's memory, last before the capture. NULL: nothing. */
static const gphi_eager *last_input(const gphi_look *at, uint64_t *number)
{
    const gphi_eager_log *log = &at->state->log;
    for (uint64_t i = *number; i-- > 0 && i + LOOK_BACK > *number;) {
        const gphi_eager *item = gphi_eager_at(log, i);
        if (!item)
            return NULL;
        if (item->is_from_host && gphi_history_touches(at->run->history, at->exec,
                                                       item->address, item->bytes)) {
            *number = i;
            return item;
        }
    }
    return NULL;
}

/* Steps begin where the same input is sent. The first of all warms up. */
static void find_steps(const gphi_look *at, uint64_t before, steps *out)
{
    const gphi_eager_log *log = &at->state->log;
    uint64_t end = log->count, places[STEPS_MAX + 1], input;
    uint32_t count = 0;
    out->count = 0;
    while (end > 0 && gphi_eager_at(log, end - 1) &&
           gphi_eager_at(log, end - 1)->call.number > before)
        end--;
    input = end;
    const gphi_eager *like = last_input(at, &input);
    if (!like)
        return;
    uint64_t i = input + 1;
    while (i-- > 0 && i + LOOK_BACK > end && count <= STEPS_MAX) {
        const gphi_eager *item = gphi_eager_at(log, i);
        if (!item)
            break;
        if (item->is_from_host && item->address == like->address &&
            item->bytes == like->bytes)
            places[count++] = i;
    }
    if (count < STEPS_MIN + 1)
        return;
    out->count = count - 1;
    for (uint32_t k = 0; k < out->count; k++)
        out->from[k] = places[out->count - 1 - k];
    out->from[out->count] = end;
}

/* Whether the host sent and read as much in each: else they are steps of several kinds. */
static bool are_alike(const gphi_look *at, const steps *of)
{
    uint64_t first = 0;
    for (uint32_t k = 0; k < of->count; k++) {
        uint64_t hash = GPHI_HASH_START;
        for (uint64_t i = of->from[k]; i < of->from[k + 1]; i++) {
            const gphi_eager *item = gphi_eager_at(&at->state->log, i);
            if (item && (item->is_from_host || item->is_to_host))
                hash = gphi_hash_word(hash, item->bytes * 2 + item->is_to_host);
        }
        if (k > 0 && hash != first)
            return false;
        first = hash;
    }
    return true;
}

/* How often a kernel ran in each step, at the line of a captured call, or (NULL) at any. */
static void count_runs(const gphi_look *at, const steps *of,
                       const gphi_step_kernel *kernel, const gphi_call *made,
                       uint64_t *counts)
{
    for (uint32_t k = 0; k < of->count; k++) {
        counts[k] = 0;
        for (uint64_t i = of->from[k]; i < of->from[k + 1]; i++) {
            const gphi_eager *item = gphi_eager_at(&at->state->log, i);
            if (item && item->kernel && gphi_is_step_kernel(item, kernel) &&
                (!made || gphi_is_same_line(at->run->model, &item->call, made)))
                counts[k]++;
        }
    }
}

static bool rises_and_falls(const uint64_t *counts, uint32_t count)
{
    bool rises = false, falls = false;
    for (uint32_t i = 1; i < count; i++) {
        rises |= counts[i] > counts[i - 1];
        falls |= counts[i] < counts[i - 1];
    }
    return rises && falls;
}

/* How often the graph has the kernel, from that line. */
static uint64_t count_nodes(const gphi_look *at, const gphi_step_kernel *like,
                            const gphi_call *made)
{
    uint64_t count = 0;
    GPHI_EACH (const gphi_step_kernel, kernel, &at->rounds->kernels)
        count +=
            kernel->params->handle == like->params->handle &&
            gphi_is_step_shape(kernel, like) &&
            gphi_is_same_line(at->run->model,
                              gphi_snapshot_made(at->exec->source, kernel->node), made);
    return count;
}

static bool is_between(uint64_t value, const uint64_t *counts, uint32_t count)
{
    uint64_t least = counts[0], most = counts[0];
    for (uint32_t i = 1; i < count; i++) {
        least = counts[i] < least ? counts[i] : least;
        most = counts[i] > most ? counts[i] : most;
    }
    return value >= least && value <= most;
}

/* Whether the kernel's line decided otherwise from step to step. */
static bool look_at_kernel(const gphi_look *at, const steps *of,
                           const gphi_step_kernel *kernel)
{
    uint64_t counts[STEPS_MAX];
    const gphi_call *made = gphi_snapshot_made(at->exec->source, kernel->node);
    count_runs(at, of, kernel, NULL, counts);
    if (made->number == 0 || !rises_and_falls(counts, of->count))
        return false;
    count_runs(at, of, kernel, made, counts);
    const uint64_t nodes = count_nodes(at, kernel, made);
    if (!rises_and_falls(counts, of->count) || !is_between(nodes, counts, of->count))
        return false;
    gphi_stray *new = gphi_stray_add(at, GPHI_FROZEN_VALUE);
    if (!new)
        return true;
    const uint32_t kept = of->count < GPHI_ROUNDS_MAX ? of->count : GPHI_ROUNDS_MAX;
    new->is_branch = new->needs_reads = true;
    new->node = kernel->node;
    new->count = kept + 1;
    memcpy(new->values, counts + of->count - kept, kept * sizeof(*counts));
    new->values[kept] = nodes;
    new->before = gphi_eager_at(&at->state->log, of->from[of->count - 2])->call;
    new->eager = gphi_eager_at(&at->state->log, of->from[of->count - 1])->call;
    return true;
}

void gphi_branch_look(const gphi_look *at, uint64_t before)
{
    const gphi_vec *kernels = &at->rounds->kernels;
    steps all;
    find_steps(at, before, &all);
    if (all.count < STEPS_MIN || !are_alike(at, &all))
        return;
    const size_t step = kernels->count / KERNELS_MAX + 1;
    for (size_t i = 0; i < kernels->count; i += step)
        if (look_at_kernel(at, &all, gphi_vec_at(kernels, i)))
            return;
}

/* The program goes on to run it itself, now and then. */
static bool runs_eagerly(const gphi_rule_run *run, const gphi_stray *of)
{
    const gphi_replay_state *state = run->state;
    const gphi_call *made = gphi_snapshot_made(of->exec->source, of->node);
    for (uint64_t i = state->log.count; i-- > 0;) {
        const gphi_eager *item = gphi_eager_at(&state->log, i);
        if (!item || item->call.number < of->exec->first_launch.number)
            return false;
        if (item->kernel && gphi_is_same_line(run->model, &item->call, made))
            return true;
    }
    return false;
}

/* Another graph was captured at that line: one for each case. */
static bool has_other(const gphi_rule_run *run, const gphi_stray *of)
{
    const gphi_capture *own = of->exec->source ? of->exec->source->capture : NULL;
    for (size_t i = 0; i < run->history->execs.count; i++) {
        const gphi_exec_history *other = gphi_history_exec_at(run->history, i);
        const gphi_capture *its = other->source ? other->source->capture : NULL;
        if (other != of->exec && other->launches > 0 && own && its && own != its &&
            gphi_is_same_line(run->model, &own->begin, &its->begin))
            return true;
    }
    return false;
}

/* Each launch is a step: an input is sent before it. */
bool gphi_branch_is_wrong(const gphi_rule_run *run, const gphi_stray *of)
{
    return of->exec->fed * 4 >= of->exec->launches * 3 && !has_other(run, of) &&
           !runs_eagerly(run, of);
}

void gphi_branch_report(const gphi_rule_run *run, const gphi_stray *of, gphi_draft *draft)
{
    const gphi_exec_history *exec = of->exec;
    const char *times = gphi_say("%" PRIu64, of->values[0]);
    (void)run;
    for (uint32_t i = 1; i + 1 < of->count; i++)
        times = gphi_say("%s, %" PRIu64, times, of->values[i]);
    gphi_cause(
        draft,
        "the line that captured %s ran its kernel a different number of times in "
        "the steps before the capture (%s), as the host decided in each; the graph "
        "has %s of it, in all its %" PRIu64 " launches",
        gphi_say_node(exec->source, of->node), times,
        gphi_say_count(of->values[of->count - 1], "node"), exec->launches);
    gphi_evidence_call(draft, &of->before, "a step's input was sent by");
    gphi_evidence_call(draft, &of->eager, "the last one's before the capture by");
    gphi_evidence_call(draft, &exec->first_launch, "first launched by");
    gphi_fix(draft,
             "Let the device decide: multiply by a mask or a number in device memory "
             "that is written before each launch, or record a graph for each case.");
}
