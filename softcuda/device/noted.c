// SPDX-License-Identifier: Apache-2.0
/* Notes on branches, rounds and launches of the device side. */
#include "softcuda/device/noted.h"

#include <string.h>

#include "base/clock.h"
#include "event/note.h"
#include "softcuda/engine/engine.h"

bool soft_noted_wanted(void)
{
    return gphi_note_find();
}

/* ---- conditional nodes ------------------------------------------------------------- */

static void note_one(const soft_decision *d, uint64_t now)
{
    uint64_t words[7 + SOFT_NOTED_ROUNDS] = {
        d->exec,   d->node,    d->type, d->body == SOFT_NO_BODY ? UINT64_MAX : d->body,
        d->rounds, d->from_ns, now};
    uint32_t starts = 0;
    if (d->type == 1) /* a loop */
        starts = d->rounds < SOFT_NOTED_ROUNDS ? (uint32_t)d->rounds : SOFT_NOTED_ROUNDS;
    memcpy(words + 7, d->starts_ns, starts * sizeof(words[0]));
    if (d->type == 2 && d->body == SOFT_NO_BODY) /* a SWITCH node without a body for it */
        words[7 + starts++] = d->value;
    gphi_note(GPHI_NOTE_DECISION, NULL, words, 7 + starts);
}

static void add_up(soft_decision *d)
{
    const uint32_t at = d->body < SOFT_NOTED_BODIES ? d->body : SOFT_NOTED_BODIES;
    d->rest++;
    d->rest_rounds += d->rounds;
    d->rest_of[at]++;
}

void soft_noted_choice(soft_decision *d, uint64_t round, uint32_t body)
{
    if (round == 0) {
        d->count = 0;
        d->is_open = false;
        return;
    }
    const uint32_t chosen = body < d->size ? body : SOFT_NO_BODY;
    const bool is_counted = d->count >= SOFT_NOTED_ONE_BY_ONE;
    const uint64_t now = is_counted ? 0 : gphi_clock_ns();
    if (round == 1) {
        d->from_ns = now;
        d->rounds = 0;
        d->body = chosen;
        d->is_open = true;
    }
    if (chosen != SOFT_NO_BODY) {
        if (d->rounds < SOFT_NOTED_ROUNDS)
            d->starts_ns[d->rounds] = now;
        d->rounds++;
        return;
    }
    if (!d->is_open)
        return;
    d->is_open = false;
    d->count++;
    if (is_counted)
        add_up(d);
    else
        note_one(d, now);
}

void soft_noted_end(soft_decision *d)
{
    if (d->rest == 0)
        return;
    uint64_t words[5 + SOFT_NOTED_BODIES + 1] = {d->exec, d->node, d->type, d->rest,
                                                 d->rest_rounds};
    memcpy(words + 5, d->rest_of, sizeof(d->rest_of));
    gphi_note(GPHI_NOTE_DECISIONS, NULL, words, sizeof(words) / sizeof(words[0]));
    d->rest = d->rest_rounds = 0;
    memset(d->rest_of, 0, sizeof(d->rest_of));
}

/* ---- launches by kernels ----------------------------------------------------------- */

static void note_runs(const soft_noted_run *run, uint64_t count, uint64_t from,
                      uint64_t now)
{
    const uint64_t words[] = {run->exec, run->parent, run->stream, count, from, now};
    gphi_note(GPHI_NOTE_DEVICE_RUN, NULL, words, sizeof(words) / sizeof(words[0]));
}

void soft_noted_begin_run(soft_noted_run *run, uint64_t now_ns)
{
    run->from_ns = now_ns;
    run->parent = run->next_parent;
    run->stream = run->next_stream;
}

/* Graphs launch themselves a million times: after the first runs a note stands for many. */
void soft_noted_end_run(soft_noted_run *run, uint64_t now_ns)
{
    if (run->noted < SOFT_NOTED_ONE_BY_ONE) {
        run->noted++;
        note_runs(run, 1, run->from_ns, now_ns);
        return;
    }
    if (run->rest++ == 0)
        run->rest_from_ns = run->from_ns;
    if (run->rest >= 4096)
        soft_noted_rest_of_runs(run, now_ns);
}

void soft_noted_rest_of_runs(soft_noted_run *run, uint64_t now_ns)
{
    if (run->rest > 0)
        note_runs(run, run->rest, run->rest_from_ns, now_ns);
    run->rest = 0;
}

void soft_noted_host(uint64_t function, uint64_t user, uint64_t from_ns, uint64_t cpu_ns)
{
    const uint64_t now = gphi_clock_ns();
    const uint64_t words[] = {function, user, from_ns, now, cpu_ns};
    if (now - from_ns >= SOFT_NOTED_HOST_NS)
        gphi_note(GPHI_NOTE_HOST, NULL, words, sizeof(words) / sizeof(words[0]));
}

void soft_noted_refused(uint64_t exec, uint64_t parent, const char *why)
{
    const uint64_t words[] = {exec, parent, gphi_clock_ns()};
    gphi_note(GPHI_NOTE_DEVICE_REFUSED, why, words, sizeof(words) / sizeof(words[0]));
}
