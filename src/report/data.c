// SPDX-License-Identifier: Apache-2.0
/* The page's data, as one JSON object of columns. Whatever names came from the examined
 * program may say anything: no '<' leaves this file, so none of it ends the element that
 * holds it or begins another. */
#include "report/data.h"
#include "base/fail.h"

#include <inttypes.h>
#include <string.h>

/* Passes text on with each '<' as JSON's escape for it: in JSON it stands in texts only.
 */
typedef struct report_filter {
    gph_write_fn *write;
    void *user;
} report_filter;

static gph_status filter(void *user, const void *data, size_t bytes)
{
    const report_filter *to = user;
    const char *text = data;
    while (bytes > 0) {
        const char *bad = memchr(text, '<', bytes);
        const size_t good = bad == NULL ? bytes : (size_t)(bad - text);
        if (good > 0)
            GPHI_TRY(to->write(to->user, text, good));
        if (bad == NULL)
            return GPH_OK;
        GPHI_TRY(to->write(to->user, "\\u003c", 6));
        text += good + 1;
        bytes -= good + 1;
    }
    return GPH_OK;
}

void gphi_report_column(report_writing *w, const char *name, size_t count,
                        gphi_report_value *value)
{
    gphi_putf(&w->out, "\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        gphi_putf(&w->out, i > 0 ? ",%" PRId64 : "%" PRId64, value(w, i));
    gphi_put(&w->out, "]");
}

static uint64_t hash_more(uint64_t hash, const char *text)
{
    for (; text != NULL && *text != 0; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash * 31 + 7;
}

uint32_t gphi_report_frame(report_writing *w, const gph_place *place)
{
    uint64_t hash = hash_more(1469598103934665603u, place->function);
    hash = hash_more(hash, place->file) ^
           (uint64_t)(uint32_t)place->line * 0x9e3779b97f4a7c15u;
    const uint32_t number = number_of(&w->frames, hash, &w->failed);
    while (w->places.count < w->frames.keys.count) {
        const gph_place **slot = gphi_vec_add(&w->places, 1);
        if (slot == NULL) {
            w->failed = true;
            return 0;
        }
        *slot = place;
    }
    return number;
}

uint32_t gphi_report_stack_number(report_writing *w, uint32_t stack)
{
    uint32_t count = 0;
    if (stack != 0 && gphi_doctor_frames(w->report->doctor, stack, &count) == NULL)
        stack = 0;
    return number_of(&w->stacks, count == 0 ? 0 : stack, &w->failed);
}

static void put_stacks(report_writing *w)
{
    gphi_put(&w->out, ",\"stacks\":[");
    for (size_t i = 0; i < w->stacks.keys.count; i++) {
        const uint64_t stack = *(const uint64_t *)gphi_vec_at(&w->stacks.keys, i);
        uint32_t count = 0;
        const gph_place *frames =
            stack == 0 ? NULL
                       : gphi_doctor_frames(w->report->doctor, (uint32_t)stack, &count);
        gphi_report_comma(w, i);
        gphi_put(&w->out, "[");
        for (uint32_t f = 0; frames != NULL && f < count; f++) {
            gphi_report_comma(w, f);
            gphi_putf(&w->out, "%u", gphi_report_frame(w, &frames[f]));
        }
        gphi_put(&w->out, "]");
    }
    gphi_put(&w->out, "],\"frames\":[");
    for (size_t i = 0; i < w->places.count; i++) {
        const gph_place *place = *(const gph_place *const *)gphi_vec_at(&w->places, i);
        gphi_report_comma(w, i);
        gphi_put(&w->out, "[");
        gphi_put_json_text(&w->out, place->function != NULL ? place->function : "");
        gphi_put(&w->out, ",");
        gphi_put_json_text(&w->out, place->file != NULL ? place->file : "");
        gphi_putf(&w->out, ",%" PRId32 ",%d]", place->line, place->is_python != 0);
    }
    gphi_put(&w->out, "]");
}

static void init(report_writing *w)
{
    const gph_allocator heap = w->report->heap;
    numbers_init(&w->calls, heap);
    numbers_init(&w->stacks, heap);
    numbers_init(&w->frames, heap);
    gphi_vec_init(&w->places, heap, sizeof(const gph_place *));
    gphi_vec_init(&w->shown, heap, sizeof(uint32_t));
    number_of(&w->stacks, 0, &w->failed);
}

static void fini(report_writing *w)
{
    numbers_fini(&w->calls);
    numbers_fini(&w->stacks);
    numbers_fini(&w->frames);
    gphi_vec_fini(&w->places);
    gphi_vec_fini(&w->shown);
}

gph_status gphi_report_data(gph_report *report, const gph_report_program *program,
                            gph_write_fn *write, void *user, gph_error *error)
{
    report_filter to = {write, user};
    report_writing w = {.report = report, .program = program};
    gphi_report_settle(report);
    init(&w);
    gphi_writer_begin(&w.out, filter, &to);
    gphi_put(&w.out, "{\"v\":1");
    gphi_report_put_head(&w);
    gphi_report_put_graphs(&w);
    gphi_report_put_calls(&w);
    gphi_report_put_memory(&w);
    gphi_report_put_notes(&w);
    gphi_report_put_advice(&w);
    gphi_report_put_findings(&w);
    put_stacks(&w); /* last: the others number them */
    gphi_put(&w.out, "}");
    const gph_status status = gphi_writer_end(&w.out, error);
    fini(&w);
    if (status == GPH_OK && w.failed)
        return gphi_fail(error, GPH_E_NO_MEMORY, "the data of a report");
    return status;
}
