// SPDX-License-Identifier: Apache-2.0
/* Rule replay.frozen-size, of a smaller batch whose result is one number: all that was sent
 * before the launches fills the graph's inputs, then less of each is sent once or twice, and the
 * host reads the same few bytes as ever. They are computed from the rest of an earlier batch, too:
 * of results row by row the host could leave some out, of one number it cannot.
 *
 *   x[0:64], y[0:64]    launch    read 4 bytes    ...    x[0:44], y[0:44]    launch    read 4 bytes
 *
 * Whatever else works where the graph does (a fill, a kernel, a number or a mask that is sent
 * whole) may say how many rows count, and nothing is reported. */
#include "doctor/rules/replay/rules_replay.h"

#include <inttypes.h>

enum { ITEMS_MAX = 64, WORKS_MAX = 64, FULL_MIN = 3, READ_MAX = 16 };

static gphi_partial *item_of(const gphi_rule_run *run, const gphi_exec_history *exec)
{
    gphi_size_state *state = run->state;
    const uint64_t key = exec->created;
    gphi_partial *one = gphi_vec_keyed(&state->partials, &key, sizeof(key), ITEMS_MAX);
    if (one)
        one->exec = exec;
    return one;
}

/* Which input begins there; `count`: none. */
static uint32_t input_at(const gphi_partial *of, uint64_t address)
{
    uint32_t i = 0;
    while (i < of->count && of->inputs[i].address != address)
        i++;
    return i;
}

/* Whether a fill, or a kernel outside, may say how many rows count: it works where the graph
 * does. Of a kernel of long ago nothing is known. */
static bool is_near(const gphi_history *history, const gphi_partial *of,
                    const gphi_work *work)
{
    if (work->write_bytes != 0)
        return gphi_history_touches(history, of->exec, work->write, work->write_bytes);
    if (work->function == 0)
        return false;
    const gphi_kernel_work *kernel = gphi_history_kernel(history, work->number);
    for (uint32_t i = 0; kernel && i < kernel->count; i++)
        if (gphi_history_touches(history, of->exec, kernel->pointers[i].address, 1))
            return true;
    return !kernel;
}

/* What was sent since the launch before, into `now`, by input; a first time is the rule. False:
 * something else was done, or more. */
static bool sent_before(const gphi_rule_run *run, gphi_partial *of, uint64_t *now)
{
    const gphi_history *history = run->history;
    const bool is_first = of->count == 0;
    bool has_any = false;
    const gphi_work *work;
    uint64_t at = history->before_work;
    for (int i = 0; (work = gphi_model_work_next(run->model, at)) &&
                    work->number < of->exec->last_work;
         i++, at = work->number) {
        const bool is_copy =
            work->write_bytes != 0 && (work->read_bytes != 0 || work->host != 0);
        if (i == WORKS_MAX)
            return false;
        if (work->is_captured || work->exec)
            continue;
        if (!is_copy) {
            if (is_near(history, of, work))
                return false;
            continue;
        }
        if (!gphi_history_touches(history, of->exec, work->write, work->write_bytes))
            continue;
        const uint32_t which = input_at(of, work->write);
        if (which == of->count && (!is_first || of->count == GPHI_PARTIAL_INPUTS))
            return false;
        if (which == of->count)
            of->inputs[of->count++] =
                (gphi_partial_input){work->write, work->write_bytes};
        now[which] = work->write_bytes;
        if (!has_any)
            of->sent = (gphi_partial_sent){work->call, work->write_bytes,
                                           of->inputs[which].bytes};
        has_any = true;
    }
    return true;
}

static void on_launch(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_exec_history *exec = run->history->launched;
    gphi_partial *of = exec->launches > 1 ? item_of(run, exec) : NULL;
    uint64_t now[GPHI_PARTIAL_INPUTS] = {0};
    uint32_t whole = 0, less = 0;
    if (!of || of->is_off)
        return;
    of->is_less_now = false;
    if (!sent_before(run, of, now)) {
        of->is_off = true;
        return;
    }
    for (uint32_t i = 0; i < of->count; i++) {
        whole += now[i] == of->inputs[i].bytes;
        less += now[i] != 0 && now[i] < of->inputs[i].bytes;
    }
    if (whole == of->count)
        of->whole++;
    else if (less == of->count && of->whole >= FULL_MIN) {
        of->is_less_now = true;
        if (of->less++ > 0)
            return;
        of->first_less = of->sent;
        of->launch = seen->call;
    } else
        of->is_off = true;
}

/* The host reads: of the small results the first is followed. */
static void on_read(gphi_rule_run *run, uint64_t address, uint64_t bytes)
{
    const gphi_exec_history *exec = run->history->recent[0];
    gphi_size_state *state = run->state;
    if (!exec || bytes > READ_MAX)
        return;
    GPHI_EACH (gphi_partial, of, &state->partials) {
        if (of->created != exec->created || of->count == 0 ||
            !gphi_history_touches(run->history, exec, address, bytes))
            continue;
        if (of->read == 0 && !of->is_less_now)
            of->read = address;
        if (of->read != address)
            continue;
        of->reads += !of->is_less_now;
        of->less_reads += of->is_less_now;
    }
}

void gphi_partial_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_call_ranges ranges;
    if (run->history->launched)
        on_launch(run, seen);
    else if (seen->work && !seen->work->is_captured && seen->call.result == 0 &&
             gphi_call_ranges_of(seen, &ranges) && ranges.to_host)
        on_read(run, ranges.read, ranges.read_bytes);
}

void gphi_partial_end(gphi_rule_run *run)
{
    const gphi_size_state *state = run->state;
    GPHI_EACH (const gphi_partial, of, &state->partials) {
        if (of->is_off || of->reads < FULL_MIN - 1 || of->less_reads == 0 ||
            of->less * FULL_MIN > of->whole)
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &of->first_less.call, of->created);
        gphi_cause(
            draft,
            "%s were sent here, where %s were sent before each of %" PRIu64
            " launches, and of each input of the graph less than ever; the rest is "
            "left over from an earlier launch, and the number that the host reads "
            "after this one as after the others is computed from all of it",
            gphi_say_bytes(of->first_less.bytes), gphi_say_bytes(of->first_less.whole),
            of->whole);
        gphi_evidence_call(draft, &of->launch, "launched then by");
        gphi_evidence_call(draft, &of->exec->first_launch, "first launched by");
    }
}
