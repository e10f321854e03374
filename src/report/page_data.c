// SPDX-License-Identifier: Apache-2.0
/* The page's data, as one JSON object of columns. Whatever names came from the examined
 * program may say anything: no '<' leaves this file, so none of it ends the element that
 * holds it or begins another. */
#include "base/fail.h"
#include "report/data.h"

#include <string.h>

/* Passes text on with each '<' as JSON's escape for it: in JSON it is in texts only.
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
        const size_t good = !bad ? bytes : (size_t)(bad - text);
        if (good > 0)
            GPHI_TRY(to->write(to->user, text, good));
        if (!bad)
            return GPH_OK;
        GPHI_TRY(to->write(to->user, "\\u003c", 6));
        text += good + 1;
        bytes -= good + 1;
    }
    return GPH_OK;
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

gph_status gphi_report_data(gph_report *report, const gph_program *program,
                            const gph_advice *advice, gph_write_fn *write, void *user,
                            gph_error *error)
{
    report_filter to = {write, user};
    report_writing w = {.report = report, .advice = advice};
    GPHI_TRY(
        gphi_options_read(&w.program, sizeof(w.program), "gph_program", program, error));
    gphi_language_use(gphi_doctor_language(report->doctor));
    gphi_report_settle(report);
    init(&w);
    gphi_text_stream(&w.out, w.buffer, sizeof(w.buffer), filter, &to);
    gphi_text_put(&w.out, "{\"v\":1");
    gphi_report_put_head(&w);
    gphi_report_put_graphs(&w);
    gphi_report_put_calls(&w);
    gphi_report_put_device(&w);
    gphi_report_put_collectives(&w);
    gphi_report_put_memory(&w);
    gphi_report_put_notes(&w);
    gphi_report_put_advice(&w);
    gphi_report_put_lines(&w);
    gphi_report_put_findings(&w);
    gphi_report_put_stacks(&w); /* last: the others number them */
    gphi_text_put(&w.out, "}");
    const gph_status status = gphi_text_end(&w.out, error);
    fini(&w);
    if (status == GPH_OK && w.failed)
        return gphi_fail(error, GPH_E_NO_MEMORY, "the data of a report");
    return status;
}
