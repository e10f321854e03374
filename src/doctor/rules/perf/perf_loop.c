// SPDX-License-Identifier: Apache-2.0
/* Rule perf.host-loop: the host launches an executable again and again, and between two
 * launches does nothing but read one word, always the same: whether to go on. The device can
 * ask that itself.
 *
 *   launch, copy of a word to the host, wait, launch, ...    a round each
 *   other work, an edit, a copy to the device, two words     no such loop */
#include "doctor/rules/perf/rules_perf.h"

#include <inttypes.h>

/* A condition is one word; fewer rounds pay for no change. What a round costs beside its
 * nodes was measured on an H200 (docs/measurements.md, facts of the device side). */
enum { WORD_BYTES = 8, ROUNDS_MIN = 16 };
static const double wait_round_us = 7.4, while_round_us = 4.4;

static bool is_read(const gphi_seen *seen, gphi_call_ranges *out)
{
    return gphi_call_ranges_of(seen, out) && out->to_host && !out->is_fill &&
           out->read_bytes <= WORD_BYTES && out->read != 0;
}

/* Neither work nor an edit: whoever looks, waits or records an event changes nothing. */
static bool is_neutral(const gphi_seen *seen)
{
    return !seen->work && !seen->exec;
}

static void keep_longest(gphi_host_loop *loop)
{
    if (loop->now.rounds > loop->best.rounds)
        loop->best = loop->now;
}

static void begin(gphi_host_loop *loop, const gphi_seen *seen)
{
    keep_longest(loop);
    loop->now = (gphi_host_rounds){.exec = seen->exec, .first = seen->call};
    loop->is_read = loop->is_spoilt = false;
    loop->last_ns = 0;
}

static void on_launch(gphi_host_loop *loop, const gphi_seen *seen)
{
    gphi_host_rounds *now = &loop->now;
    const bool goes_on = now->exec == seen->exec && loop->is_read && !loop->is_spoilt;
    if (!goes_on) {
        begin(loop, seen);
        return;
    }
    now->rounds++;
    now->gap_ns +=
        seen->call.time_ns > loop->last_ns ? seen->call.time_ns - loop->last_ns : 0;
    now->launch_ns += seen->call.duration_ns;
    loop->is_read = false;
}

void gphi_rule_host_loop_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_host_loop *loop = run->state;
    gphi_call_ranges ranges;
    if (seen->call.result != 0 || seen->capture)
        return;
    if (gphi_is_launch(seen)) {
        on_launch(loop, seen);
        return;
    }
    if (!loop->now.exec)
        return;
    const uint64_t end = seen->call.time_ns + seen->call.duration_ns;
    if (is_read(seen, &ranges)) {
        const bool is_same = loop->now.rounds == 0 || loop->now.word == ranges.read;
        loop->is_spoilt |= !is_same || loop->is_read;
        loop->now.word = ranges.read;
        loop->now.read = seen->call;
        loop->is_read = true;
        loop->last_ns = end;
    } else if (gphi_call_is_wait(seen->call.call) && !seen->work)
        loop->last_ns = end;
    else if (!is_neutral(seen))
        loop->is_spoilt = true;
}

void gphi_rule_host_loop_end(gphi_rule_run *run)
{
    gphi_host_loop *loop = run->state;
    keep_longest(loop);
    const gphi_host_rounds *best = &loop->best;
    if (best->rounds < ROUNDS_MIN)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &best->first, 0);
    gphi_cause(
        draft,
        "%s was launched %" PRIu64
        " times in a row, and between two launches the host did nothing but read one "
        "word, at %s: if that word only says whether to go on, the device can decide it",
        gphi_say_exec(run->model, best->exec), best->rounds + 1,
        gphi_say_memory(run->model, best->word));
    gphi_evidence(draft,
                  "from the word's arrival to the next launch the host took %.1f us a "
                  "round, and %.1f us to launch it; on the device neither is there",
                  (double)best->gap_ns * 1e-3 / (double)best->rounds,
                  (double)best->launch_ns * 1e-3 / (double)best->rounds);
    gphi_evidence(draft,
                  "measured on an H200: a round costs %.1f us beside its nodes when the "
                  "host launches and waits, %.1f us in a WHILE node: here %.2f ms less, "
                  "and the host sleeps",
                  wait_round_us, while_round_us,
                  (double)best->rounds * (wait_round_us - while_round_us) * 1e-3);
    gphi_evidence_call(draft, &best->read, "the word is read by");
}
