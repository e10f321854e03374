// SPDX-License-Identifier: Apache-2.0
/* What the device decided and launched, as softcuda notes it: branches that were taken, rounds
 * of loops, launches by kernels. */
#include "base/fail.h"
#include "report/report.h"

enum { SPANS_MAX = 100000, DECIDERS_MAX = 20000, REFUSALS_MAX = 200 };

/* 1 + the index of an executable, 0: it is not known. */
static uint32_t exec_of(const gph_report *report, uint64_t handle)
{
    const uint64_t *at = gphi_map_get(&report->exec_map, gphi_report_key(report, handle));
    return !at ? 0 : (uint32_t)*at;
}

static report_span_kind kind_of(uint64_t type)
{
    return type == 0   ? REPORT_SPAN_IF
           : type == 1 ? REPORT_SPAN_WHILE
                       : REPORT_SPAN_SWITCH;
}

/* A node's address may be another's later: the graph of its executable parts them. */
static uint64_t key_of(const gph_report *report, uint32_t graph, uint64_t node)
{
    return gphi_report_key(report, node) ^ gphi_hash_mix(((uint64_t)graph + 1) << 32);
}

static report_decider *decider_of(gph_report *report, const gphi_event *event)
{
    const uint32_t exec = exec_of(report, gphi_event_word(event, 0));
    const uint32_t graph =
        exec == 0 ? 0
                  : ((const report_exec *)gphi_vec_at(&report->execs, exec - 1))->graph;
    const uint64_t key = key_of(report, graph, gphi_event_word(event, 1));
    if (report->deciders.count >= DECIDERS_MAX)
        return NULL;
    report_decider *decider =
        gphi_report_item(&report->deciders, &report->decider_map, key, NULL);
    if (!decider)
        return NULL;
    decider->kind = kind_of(gphi_event_word(event, 2));
    return decider;
}

static gph_status add_span(gph_report *report, const report_span *span)
{
    if (report->spans.count >= SPANS_MAX)
        return GPH_OK;
    return gphi_vec_push(&report->spans, span);
}

/* The rounds whose beginnings are known; the last of them ends where the next began, or the
 * loop did. */
static gph_status add_rounds(gph_report *report, const gphi_event *event, uint32_t exec)
{
    const uint64_t rounds = gphi_event_word(event, 4);
    const uint32_t noted = event->word_count - 7u;
    const uint32_t known = noted < rounds ? noted : (uint32_t)rounds;
    for (uint32_t i = 0; i < known; i++) {
        if (i + 1 == known && known < rounds)
            break;
        const report_span round = {.from_ns = gphi_event_word(event, 7 + i),
                                   .to_ns = i + 1 == known
                                                ? gphi_event_word(event, 6)
                                                : gphi_event_word(event, 8 + i),
                                   .rounds = i + 1u,
                                   .exec = exec,
                                   .kind = REPORT_SPAN_ROUND};
        GPHI_TRY(add_span(report, &round));
    }
    return GPH_OK;
}

static gph_status take_decision(gph_report *report, const gphi_event *event)
{
    if (event->word_count < 7)
        return GPH_OK;
    const uint64_t body = gphi_event_word(event, 3), rounds = gphi_event_word(event, 4);
    report_decider *decider = decider_of(report, event);
    if (decider) {
        decider->times++;
        decider->rounds += rounds;
        decider->of[body < REPORT_BODIES ? body : REPORT_BODIES]++;
    }
    const report_span span = {.from_ns = gphi_event_word(event, 5),
                              .to_ns = gphi_event_word(event, 6),
                              .rounds = rounds,
                              .exec = exec_of(report, gphi_event_word(event, 0)),
                              .kind = kind_of(gphi_event_word(event, 2)),
                              .body = body > UINT16_MAX ? 0 : (uint32_t)body + 1};
    GPHI_TRY(add_span(report, &span));
    return add_rounds(report, event, span.exec);
}

static void take_sum(gph_report *report, const gphi_event *event)
{
    report_decider *decider = event->word_count < 5 ? NULL : decider_of(report, event);
    if (!decider)
        return;
    decider->times += gphi_event_word(event, 3);
    decider->rounds += gphi_event_word(event, 4);
    for (uint32_t i = 0; i <= REPORT_BODIES; i++)
        decider->of[i] += gphi_event_word(event, 5 + i);
}

static gph_status take_run(gph_report *report, const gphi_event *event)
{
    const uint64_t stream = gphi_event_word(event, 2);
    if (event->word_count < 6 || stream < 1 || stream > 3)
        return GPH_OK;
    const report_span span = {.from_ns = gphi_event_word(event, 4),
                              .to_ns = gphi_event_word(event, 5),
                              .rounds = gphi_event_word(event, 3),
                              .exec = exec_of(report, gphi_event_word(event, 0)),
                              .parent = exec_of(report, gphi_event_word(event, 1)),
                              .kind = (uint32_t)(REPORT_SPAN_TAIL + stream - 1)};
    if (span.exec != 0) {
        report_exec *exec = gphi_vec_at(&report->execs, span.exec - 1);
        exec->device_runs += span.rounds;
    }
    return add_span(report, &span);
}

static gph_status take_refusal(gph_report *report, const gphi_event *event)
{
    const uint32_t parent = exec_of(report, gphi_event_word(event, 1));
    if (parent != 0)
        ((report_exec *)gphi_vec_at(&report->execs, parent - 1))->refused++;
    if (report->refusals >= REFUSALS_MAX)
        return GPH_OK;
    report->refusals++;
    const report_span span = {.from_ns = gphi_event_word(event, 2),
                              .to_ns = gphi_event_word(event, 2),
                              .rounds = 1,
                              .exec = parent,
                              .parent = exec_of(report, gphi_event_word(event, 0)),
                              .kind = REPORT_SPAN_REFUSED};
    return add_span(report, &span);
}

gph_status gphi_report_device_note(gph_report *report, const gphi_event *event)
{
    switch (event->id) {
    case GPHI_NOTE_DECISION: return take_decision(report, event);
    case GPHI_NOTE_DECISIONS: take_sum(report, event); return GPH_OK;
    case GPHI_NOTE_DEVICE_RUN: return take_run(report, event);
    default: return take_refusal(report, event);
    }
}

const report_decider *gphi_report_decider(const gph_report *report, uint32_t graph,
                                          uint64_t node)
{
    const uint64_t *at =
        gphi_map_get(&report->decider_map, key_of(report, graph + 1, node));
    return !at ? NULL : gphi_vec_at(&report->deciders, *at - 1);
}

const char *gphi_report_span_word(uint32_t kind)
{
    static const char *const words[] = {"IF",      "WHILE",         "SWITCH",
                                        "round",   "tail launch",   "fire and forget",
                                        "sibling", "launch refused"};
    return kind < sizeof(words) / sizeof(words[0]) ? words[kind] : "?";
}
