// SPDX-License-Identifier: Apache-2.0
/* Of the page's data: communicators and what was called on them. */
#include "report/data.h"

#include <inttypes.h>

static const report_collective *at(const report_writing *w, size_t i)
{
    return gphi_vec_at(&w->report->collectives, i);
}

static int64_t from(report_writing *w, size_t i)
{
    return (int64_t)gphi_report_time(w->report, at(w, i)->from_ns);
}

static int64_t duration(report_writing *w, size_t i)
{
    return (int64_t)(at(w, i)->to_ns - at(w, i)->from_ns);
}

static int64_t stack(report_writing *w, size_t i)
{
    return gphi_report_stack_number(w, at(w, i)->stack);
}

static int64_t result(report_writing *w, size_t i)
{
    return at(w, i)->result;
}

/* 0 of all, 1 of two, 2 makes or ends a communicator. */
static int64_t kind(report_writing *w, size_t i)
{
    switch (gphi_collective_sort_of(at(w, i)->call)) {
    case GPHI_COLLECTIVE_ALL: return 0;
    case GPHI_COLLECTIVE_PAIR: return 1;
    default: return 2;
    }
}

/* Names and types as text: a program calls few. */
static void put_texts(report_writing *w)
{
    gphi_text_put(&w->out, ",\"n\":[");
    for (size_t i = 0; i < w->report->collectives.count; i++) {
        gphi_report_comma(w, i);
        gphi_text_add(&w->out, "\"%s\"", gphi_collective_name(at(w, i)->call));
    }
    gphi_text_put(&w->out, "],\"x\":[");
    for (size_t i = 0; i < w->report->collectives.count; i++) {
        const report_collective *one = at(w, i);
        const char *dtype =
            one->elements == 0 ? NULL : gphi_collective_dtype(one->call, one->dtype);
        gphi_report_comma(w, i);
        gphi_text_add(&w->out, "\"%s\"", dtype ? dtype : "");
    }
    gphi_text_put(&w->out, "]");
}

void gphi_report_put_collectives(report_writing *w)
{
    static const report_column columns[] = {
        {"t", from, REPORT_NO_MEMBER},
        {"d", duration, REPORT_NO_MEMBER},
        {"w", kind, REPORT_NO_MEMBER},
        {"c", NULL, REPORT_MEMBER(report_collective, comm), -1},
        {"h", NULL, REPORT_MEMBER(report_collective, thread), 0},
        {"e", NULL, REPORT_MEMBER(report_collective, elements), 0},
        {"o", NULL, REPORT_MEMBER(report_collective, is_open), 0},
        {"k", stack, REPORT_NO_MEMBER},
        {"r", result, REPORT_NO_MEMBER}};
    const gph_report *r = w->report;
    gphi_text_put(&w->out, ",\"collectives\":{");
    gphi_report_put_columns(w, &r->collectives, columns,
                            sizeof(columns) / sizeof(*columns));
    put_texts(w);
    gphi_text_put(&w->out, "},\"comms\":[");
    for (size_t i = 0; i < r->comms.count; i++) {
        const report_comm *comm = gphi_vec_at(&r->comms, i);
        gphi_report_comma(w, i);
        gphi_text_add(&w->out, "[\"0x%" PRIx64 "\",%u,%u,%u]", comm->handle,
                      comm->process, comm->rank, comm->ranks);
    }
    gphi_text_put(&w->out, "]");
}
