// SPDX-License-Identifier: Apache-2.0
/* Reports of made logs: what they keep, refuse, and do without memory. */
#define _GNU_SOURCE /* access */
#include "fault.h"
#include "made_log.h"
#include "test.h"
#include <gph/gph_doctor.h>

#include <stdbool.h>
#include <unistd.h>

#define LOG "report_test.log"
#define OUT "report_test.out"

typedef struct read_log {
    gph_doctor *doctor;
    gph_report *report;
} read_log;

/* A log of `calls`, read; the report's memory comes from `heap`, or is the C library's.
 */
static gph_status read_made(uint32_t calls, uint32_t calls_max, fault_heap *heap,
                            read_log *out, gph_error *error)
{
    const gph_allocator allocator = {fault_realloc, heap};
    gph_report_options options = GPH_REPORT_OPTIONS_INIT;
    const made_log_options made = {.calls = calls, .nodes = 75};
    options.calls_max = calls_max;
    options.allocator = heap != NULL ? &allocator : NULL;
    *out = (read_log){NULL, NULL};
    gph_status status = access(LOG, F_OK) == 0 && heap != NULL
                            ? GPH_OK
                            : made_log_write(LOG, &made, error);
    if (status == GPH_OK)
        status = gph_doctor_create(NULL, &out->doctor, error);
    if (status == GPH_OK)
        status = gph_report_create(out->doctor, &options, &out->report, error);
    if (status == GPH_OK)
        status = gph_doctor_read(out->doctor, LOG, error);
    if (status == GPH_OK)
        status = gph_doctor_finish(out->doctor, error);
    return status;
}

static void drop(read_log *log)
{
    gph_report_destroy(log->report);
    gph_doctor_destroy(log->doctor);
    remove(OUT);
}

static char *slurp(void)
{
    FILE *file = fopen(OUT, "rb");
    static char text[1 << 20];
    if (file == NULL)
        return NULL;
    const size_t bytes = fread(text, 1, sizeof(text) - 1, file);
    text[bytes] = 0;
    fclose(file);
    return text;
}

static long count_in(const char *text, const char *what)
{
    long count = 0;
    for (const char *at = text; at != NULL && (at = strstr(at, what)) != NULL; at++)
        count++;
    return count;
}

static void thins_the_middle_and_keeps_what_failed(void)
{
    gph_error error = {0};
    read_log all, few;
    if (!CHECK_OK(read_made(2000, 0, NULL, &all, &error), error))
        return;
    CHECK_OK(gph_report_trace_save(all.report, NULL, NULL, OUT, &error), error);
    const long calls = count_in(slurp(), "\"result\":");
    drop(&all);
    CHECK_OK(read_made(2000, 200, NULL, &few, &error), error);
    CHECK_OK(gph_report_trace_save(few.report, NULL, NULL, OUT, &error), error);
    const char *text = slurp();
    const long kept = count_in(text, "\"result\":");
    CHECK(calls > 1900);
    CHECK(kept <= 200 && kept >= 100);
    CHECK(count_in(text, "\"result\":900") == 1);
    CHECK(count_in(text, "\"name\":\"cuGraphInstantiateWithParams\"") == 2);
    CHECK(count_in(text, "\"name\":\"cuInit\"") == 1);
    drop(&few);
}

static gph_status into_file(void *user, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, user) == bytes ? GPH_OK : GPH_E_IO;
}

static gph_status refuse(void *user, const void *data, size_t bytes)
{
    (void)user, (void)data, (void)bytes;
    return GPH_E_IO;
}

static void refuses_what_it_cannot_do(void)
{
    gph_error error = {0};
    gph_report *report = NULL;
    read_log log;
    CHECK(gph_report_create(NULL, NULL, &report, &error) == GPH_E_INVALID &&
          report == NULL);
    if (!CHECK_OK(read_made(300, 0, NULL, &log, &error), error))
        return;
    CHECK(gph_report_create(log.doctor, NULL, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_report_trace_save(log.report, NULL, NULL, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_report_trace_save(NULL, NULL, NULL, OUT, &error) == GPH_E_INVALID);
    CHECK(gph_report_trace_save(log.report, NULL, NULL, "no/such/folder", &error) ==
          GPH_E_IO);
    CHECK(gph_report_page_save(log.report, NULL, NULL, "no/such/folder", &error) ==
          (gph_report_has_page() ? GPH_E_IO : GPH_E_UNSUPPORTED));
    CHECK(gph_report_text_write(log.report, NULL, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_report_text_write(log.report, refuse, NULL, &error) == GPH_E_IO);
    drop(&log);
    gph_report_destroy(NULL);
}

/* A saved log has the command line as one text, its words on lines of their own. */
static void shows_the_words_of_a_saved_command(void)
{
    gph_error error = {0};
    read_log log;
    if (!CHECK_OK(read_made(300, 0, NULL, &log, &error), error))
        return;
    if (gph_report_has_page()) {
        CHECK_OK(gph_report_page_save(log.report, NULL, NULL, OUT, &error), error);
        const char *page = slurp();
        CHECK(count_in(page, "\"program\":[\"made\",\"--both\"]") == 1);
        CHECK(count_in(page, "<h1>made --both</h1>") == 1);
    }
    drop(&log);
}

/* Everything it writes, with an allocation that fails: each is whole or is not there. */
static void write_short_of_memory(read_log *log, fault_heap *heap)
{
    gph_error error = {0};
    const long left = atomic_load(&heap->fail_at);
    remove(OUT);
    gph_status status = gph_report_page_save(log->report, NULL, NULL, OUT, &error);
    CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY || !gph_report_has_page());
    CHECK((access(OUT, F_OK) == 0) == (status == GPH_OK));
    atomic_store(&heap->fail_at, left);
    status = gph_report_trace_save(log->report, NULL, NULL, OUT, &error);
    CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
    FILE *file = fopen(OUT, "wb");
    if (!CHECK(file != NULL))
        return;
    atomic_store(&heap->fail_at, left);
    status = gph_report_text_write(log->report, into_file, file, &error);
    CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
    fclose(file);
}

static void survives_every_failed_allocation(void)
{
    gph_error error = {0};
    read_log log;
    remove(LOG);
    CHECK_OK(read_made(150, 0, NULL, &log, &error), error);
    drop(&log);
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_status status = read_made(150, 64, &heap, &log, &error);
        CHECK(status == GPH_OK || (status == GPH_E_NO_MEMORY && log.report == NULL));
        if (status == GPH_OK)
            write_short_of_memory(&log, &heap);
        const bool is_over = status == GPH_OK && atomic_load(&heap.fail_at) >= 0;
        drop(&log);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (is_over || atomic_load(&test_failures) > 20)
            return;
    }
}

int main(void)
{
    RUN(thins_the_middle_and_keeps_what_failed);
    RUN(refuses_what_it_cannot_do);
    RUN(shows_the_words_of_a_saved_command);
    RUN(survives_every_failed_allocation);
    remove(LOG);
    return test_done();
}
