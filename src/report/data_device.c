// SPDX-License-Identifier: Apache-2.0
/* Of the page's data: what the device decided and launched. */
#include "report/data.h"

#include <inttypes.h>

static const report_span *span_at(const report_writing *w, size_t i)
{
    return gphi_vec_at(&w->report->spans, i);
}

static int64_t span_from(report_writing *w, size_t i)
{
    return (int64_t)gphi_report_time(w->report, span_at(w, i)->from_ns);
}

static int64_t span_for(report_writing *w, size_t i)
{
    const report_span *span = span_at(w, i);
    return span->to_ns > span->from_ns ? (int64_t)(span->to_ns - span->from_ns) : 0;
}

void gphi_report_put_device(report_writing *w)
{
    static const report_column columns[] = {
        {"t", span_from, REPORT_NO_MEMBER},
        {"d", span_for, REPORT_NO_MEMBER},
        {"w", NULL, REPORT_MEMBER(report_span, kind), 0},
        {"e", NULL, REPORT_MEMBER(report_span, exec), -1},
        {"p", NULL, REPORT_MEMBER(report_span, parent), -1},
        {"b", NULL, REPORT_MEMBER(report_span, body), -1},
        {"r", NULL, REPORT_MEMBER(report_span, rounds), 0}};
    gphi_text_put(&w->out, ",\"device\":{");
    gphi_report_put_columns(w, &w->report->spans, columns,
                            sizeof(columns) / sizeof(*columns));
    gphi_text_put(&w->out, "}");
}

void gphi_report_put_decided(report_writing *w, uint32_t index)
{
    const report_graph *graph = gphi_vec_at(&w->report->graphs, index);
    gphi_text_put(&w->out, ",\"decided\":[");
    for (size_t i = 0, many = 0; i < graph->nodes.count; i++) {
        const report_node *node = gphi_vec_at(&graph->nodes, i);
        const report_decider *decider =
            gphi_report_decider(w->report, index, node->handle);
        if (!decider)
            continue;
        gphi_report_comma(w, many++);
        gphi_text_add(&w->out, "[%zu,%u,%" PRIu64 ",%" PRIu64, i, decider->kind,
                      decider->times, decider->rounds);
        for (uint32_t b = 0; b <= REPORT_BODIES; b++)
            gphi_text_add(&w->out, ",%" PRIu64, decider->of[b]);
        gphi_text_put(&w->out, "]");
    }
    gphi_text_put(&w->out, "]");
}
