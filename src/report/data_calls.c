// SPDX-License-Identifier: Apache-2.0
/* Of the page's data: its head, calls, threads, streams, captures, findings. */
#include "report/data.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The caller knows the command line; of a saved log only what the process recorded is
 * known. */
static void put_words(report_writing *w)
{
    const gph_program *program = &w->program;
    gphi_text_put(&w->out, "[");
    for (size_t i = 0; i < program->word_count; i++) {
        gphi_report_comma(w, i);
        gphi_json_text(&w->out, program->words[i]);
    }
    if (program->word_count == 0 && w->report->program) {
        const char *at = w->report->program;
        char word[512];
        for (size_t i = 0; *at != 0; i++) {
            const size_t long_one = strcspn(at, "\n");
            snprintf(word, sizeof(word), "%.*s", (int)(long_one < 500 ? long_one : 500),
                     at);
            gphi_report_comma(w, i);
            gphi_json_text(&w->out, word);
            at += long_one + (at[long_one] != 0);
        }
    }
    gphi_text_put(&w->out, "]");
}

/* A program may see devices that it never uses: all are listed. */
static void put_devices(report_writing *w)
{
    gphi_text_put(&w->out, ",\"devices\":[");
    for (size_t i = 0; i < w->report->devices.count; i++) {
        const report_device *device = gphi_vec_at(&w->report->devices, i);
        gphi_report_comma(w, i);
        gphi_text_put(&w->out, "{\"name\":");
        gphi_json_text(&w->out, device->name);
        gphi_text_add(&w->out, ",\"cc\":\"%u.%u\",\"mps\":%u,\"bytes\":%" PRIu64 "}",
                      device->major, device->minor, device->multiprocessors,
                      device->bytes);
    }
    gphi_text_put(&w->out, "]");
}

/* softcuda is known by its path: it reports a version of CUDA as any driver does. */
void gphi_report_put_head(report_writing *w)
{
    const gph_report *r = w->report;
    char driver[64];
    const bool is_soft = r->driver && strstr(r->driver, "/soft/");
    gphi_language_into(driver, sizeof(driver),
                       is_soft ? "softcuda, CUDA %u.%u" : "NVIDIA's, CUDA %u.%u",
                       r->driver_version / 1000, r->driver_version % 1000 / 10);
    gphi_text_put(&w->out, ",\"head\":{\"program\":");
    put_words(w);
    gphi_text_add(&w->out,
                  ",\"exit\":%d,\"pid\":%u,\"driver\":", (int)w->program.exit_code,
                  r->pid);
    gphi_json_text(&w->out, r->driver_version == 0 ? "" : driver);
    put_devices(w);
    const uint64_t span = r->last_ns > r->first_ns ? r->last_ns - r->first_ns : 0;
    gphi_text_add(&w->out,
                  ",\"began\":%" PRIu64 ",\"span\":%" PRIu64 ",\"calls\":%" PRIu64,
                  r->began_ms, span, r->call_count);
    gphi_text_add(&w->out,
                  ",\"lost\":%" PRIu64 ",\"dropped\":%" PRIu64 ",\"gph\":", r->lost,
                  r->dropped);
    gphi_json_text(&w->out, gph_version_text());
    gphi_text_put(&w->out, "}");
}

/* ---- columns ---- */

static int64_t call_start(report_writing *w, size_t i)
{
    const uint64_t before =
        i == 0 ? w->report->first_ns : gphi_report_call_at(w->report, i - 1)->start_ns;
    return (int64_t)(gphi_report_call_at(w->report, i)->start_ns - before);
}

/* Calls are numbered as they occur, since few of the 400 do. */
static int64_t call_name(report_writing *w, size_t i)
{
    return number_of(&w->calls, gphi_report_call_at(w->report, i)->call, &w->failed);
}

static int64_t call_stack(report_writing *w, size_t i)
{
    return gphi_report_stack_number(w, gphi_report_call_at(w->report, i)->stack);
}

static int64_t kind_of_name(report_writing *w, size_t i)
{
    return gphi_report_kind((uint32_t) *
                            (const uint64_t *)gphi_vec_at(&w->calls.keys, i));
}

/* Results other than 0, and calls that a capture took: few, so as pairs and places. */
static void put_few(report_writing *w)
{
    const gph_report *r = w->report;
    gphi_text_put(&w->out, ",\"r\":[");
    size_t many = 0;
    for (size_t i = 0; i < r->calls.count; i++) {
        const int32_t result = gphi_report_call_at(r, i)->result;
        if (result != 0)
            gphi_text_add(&w->out, "%s%zu,%" PRId32, many++ > 0 ? "," : "", i, result);
    }
    gphi_text_put(&w->out, "],\"x\":[");
    many = 0;
    for (size_t i = 0; i < r->calls.count; i++)
        if (gphi_report_call_at(r, i)->is_captured)
            gphi_text_add(&w->out, "%s%zu", many++ > 0 ? "," : "", i);
    gphi_text_put(&w->out, "]");
}

/* Names of the results that occur; the page has no list of CUDA's errors. */
static void put_results(report_writing *w)
{
    report_numbers seen;
    numbers_init(&seen, w->report->heap);
    for (size_t i = 0; i < w->report->calls.count; i++)
        if (gphi_report_call_at(w->report, i)->result > 0)
            number_of(&seen, (uint64_t)gphi_report_call_at(w->report, i)->result,
                      &w->failed);
    gphi_text_add(&w->out, ",\"results\":{\"%d\":", (int)REPORT_UNRETURNED);
    gphi_json_text(&w->out, gphi_language_of("never returned: the process ended in it"));
    for (size_t i = 0; i < seen.keys.count; i++) {
        const gph_status result =
            (gph_status) * (const uint64_t *)gphi_vec_at(&seen.keys, i);
        gphi_text_add(&w->out, ",\"%" PRId32 "\":\"%s (%" PRId32 ")\"", result,
                      gph_status_name(result), result);
    }
    gphi_text_put(&w->out, "}");
    numbers_fini(&seen);
}

/* CUDA's streams have no names; the function that made one says what it is for. */
static void put_stream_name(report_writing *w, const report_stream *stream,
                            const char *number)
{
    const gph_place *maker =
        stream->stack == 0 ? NULL : gphi_report_own_frame(w->report, stream->stack);
    char name[160];
    snprintf(name, sizeof(name), "%s%s%.90s", number, maker ? " · " : "",
             maker ? maker->function : "");
    gphi_json_text(&w->out, name);
}

/* Streams are numbered as they were first seen: handles differ from run to run. */
static void put_streams(report_writing *w)
{
    const gph_report *r = w->report;
    char name[64];
    uint32_t plain = 0;
    gphi_text_put(&w->out, ",\"streams\":[");
    for (size_t i = 0; i < r->streams.count; i++) {
        const report_stream *stream = gphi_vec_at(&r->streams, i);
        if (stream->is_legacy)
            gphi_language_into(name, sizeof(name), "legacy stream");
        else if (stream->is_per_thread)
            gphi_language_into(name, sizeof(name), "per-thread stream");
        else
            gphi_language_into(name, sizeof(name), "stream %u", ++plain);
        gphi_report_comma(w, i);
        gphi_text_add(&w->out, "[\"0x%" PRIx64 "\",", stream->handle);
        put_stream_name(w, stream, name);
        gphi_text_add(&w->out, ",%d,%u]", stream->is_blocking, stream->process);
    }
    gphi_text_put(&w->out, "],\"threads\":[");
    for (size_t i = 0; i < r->threads.count; i++) {
        const report_thread *thread = gphi_vec_at(&r->threads, i);
        gphi_report_comma(w, i);
        gphi_text_add(&w->out, "[%u,", thread->id);
        gphi_json_text(&w->out, thread->name);
        gphi_text_add(&w->out, ",%u,%d]", thread->process, (int)thread->rank);
    }
    gphi_text_put(&w->out, "]");
}

/* One that never ended is drawn to the end of the run, as bad. */
static void put_captures(report_writing *w)
{
    const gph_report *r = w->report;
    gphi_text_put(&w->out, ",\"captures\":[");
    for (size_t i = 0; i < r->captures.count; i++) {
        const report_capture *capture = gphi_vec_at(&r->captures, i);
        const uint64_t end = capture->is_open ? r->last_ns : capture->end_ns;
        gphi_report_comma(w, i);
        gphi_text_add(&w->out,
                      "{\"begin\":%" PRIu64 ",\"end\":%" PRIu64
                      ",\"thread\":%u,\"stream\":%u",
                      gphi_report_time(r, capture->begin_ns), gphi_report_time(r, end),
                      capture->thread, capture->stream);
        gphi_text_add(&w->out, ",\"nodes\":%u,\"bad\":%d}", capture->node_count,
                      capture->is_bad || capture->is_open);
    }
    gphi_text_put(&w->out, "]");
}

/* What the program's events measured, by the places of calls: those of calls that are
 * kept.
 */
static void put_events(report_writing *w)
{
    const gph_report *r = w->report;
    size_t many = 0;
    gphi_text_put(&w->out, ",\"waits\":[");
    GPHI_EACH (const report_event_wait, wait, &r->waits) {
        const uint32_t at = gphi_report_find(r, wait->wait);
        const uint32_t record = gphi_report_find(r, wait->record);
        if (at != UINT32_MAX && record != UINT32_MAX)
            gphi_text_add(&w->out, "%s%u,%u", many++ > 0 ? "," : "", at, record);
    }
    many = 0;
    gphi_text_put(&w->out, "],\"elapsed\":[");
    GPHI_EACH (const report_elapsed, elapsed, &r->elapsed) {
        const uint32_t begin = gphi_report_find(r, elapsed->begin);
        const uint32_t end = gphi_report_find(r, elapsed->end);
        const uint32_t asked = gphi_report_find(r, elapsed->asked);
        if (begin != UINT32_MAX && end != UINT32_MAX && asked != UINT32_MAX)
            gphi_text_add(&w->out, "%s%u,%u,%u,%" PRIu64, many++ > 0 ? "," : "", begin,
                          end, asked, elapsed->ns);
    }
    gphi_text_put(&w->out, "]");
}

/* ---- measured times ---- */

static const report_gpu *gpu_at(const report_writing *w, size_t i)
{
    return gphi_vec_at(&w->report->gpu, i);
}

static int64_t gpu_start(report_writing *w, size_t i)
{
    const uint64_t now = gphi_report_time(w->report, gpu_at(w, i)->start_ns);
    return (
        int64_t)(now -
                 (i == 0 ? 0 : gphi_report_time(w->report, gpu_at(w, i - 1)->start_ns)));
}

static int64_t gpu_duration(report_writing *w, size_t i)
{
    const report_gpu *gpu = gpu_at(w, i);
    return gpu->end_ns > gpu->start_ns ? (int64_t)(gpu->end_ns - gpu->start_ns) : 0;
}

static void put_gpu(report_writing *w)
{
    static const report_column columns[] = {
        {"t", gpu_start, REPORT_NO_MEMBER},
        {"d", gpu_duration, REPORT_NO_MEMBER},
        {"s", NULL, REPORT_MEMBER(report_gpu, stream), -1},
        {"w", NULL, REPORT_MEMBER(report_gpu, what), 0},
        {"n", NULL, REPORT_MEMBER(report_gpu, name), -1}};
    gphi_text_put(&w->out, ",\"gpu\":{");
    gphi_report_put_columns(w, &w->report->gpu, columns,
                            sizeof(columns) / sizeof(*columns));
    gphi_text_put(&w->out, "}");
}

void gphi_report_put_calls(report_writing *w)
{
    static const report_column columns[] = {
        {"t", call_start, REPORT_NO_MEMBER},
        {"d", NULL, REPORT_MEMBER(report_call, duration_ns), 0},
        {"c", call_name, REPORT_NO_MEMBER},
        {"h", NULL, REPORT_MEMBER(report_call, thread), 0},
        {"s", NULL, REPORT_MEMBER(report_call, stream), 0},
        {"o", NULL, REPORT_MEMBER(report_call, object), 0},
        {"k", call_stack, REPORT_NO_MEMBER}};
    static const report_column kinds = {"kinds", kind_of_name, REPORT_NO_MEMBER};
    const gph_report *r = w->report;
    gphi_text_put(&w->out, ",\"calls\":{");
    gphi_report_put_columns(w, &r->calls, columns, sizeof(columns) / sizeof(*columns));
    put_few(w);
    gphi_text_put(&w->out, "},");
    gphi_report_put_columns(w, &w->calls.keys, &kinds, 1);
    gphi_text_put(&w->out, ",\"names\":[");
    for (size_t i = 0; i < w->calls.keys.count; i++)
        gphi_text_add(&w->out, "%s\"%s\"", i > 0 ? "," : "",
                      gphi_call_name((uint32_t) *
                                     (const uint64_t *)gphi_vec_at(&w->calls.keys, i)));
    gphi_text_put(&w->out, "],\"counts\":[");
    for (uint32_t call = 0, many = 0; call < GPHI_CALL_COUNT; call++) {
        const report_count *c = &r->counts[call];
        if (c->count > 0)
            gphi_text_add(&w->out,
                          "%s[\"%s\",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu64 ",%d]",
                          many++ > 0 ? "," : "", gphi_call_name(call), c->count, c->ns,
                          c->longest_ns, c->failed, (int)gphi_report_kind(call));
    }
    gphi_text_put(&w->out, "],\"functions\":[");
    for (size_t i = 0; i < r->functions.count; i++) {
        const char *name = *(char *const *)gphi_vec_at(&r->functions, i);
        gphi_report_comma(w, i);
        gphi_json_text(&w->out, name ? name : gphi_language_of("kernel"));
    }
    gphi_text_put(&w->out, "]");
    put_results(w);
    put_streams(w);
    put_captures(w);
    put_events(w);
    put_gpu(w);
}

/* ---- advice ---- */

static void put_prediction(report_writing *w, const gph_prediction *p)
{
    static const char *const words[] = {"unknown", "pays", "does-not-pay",
                                        "cannot-capture", "needs-buckets"};
    gphi_text_add(&w->out, "{\"verdict\":\"%s\",\"launches\":%u,\"windows\":%u",
                  words[p->verdict <= GPH_VERDICT_NEEDS_BUCKETS ? p->verdict : 0],
                  p->launches, p->windows);
    gphi_text_add(&w->out, ",\"repetitions\":%" PRIu64 ",\"eager\":%.3f,\"busy\":%.3f",
                  p->repetitions, p->eager_us, p->busy_us);
    gphi_text_add(&w->out,
                  ",\"graph\":%.3f,\"once\":%.3f,\"even\":%.1f,\"why\":", p->graph_us,
                  p->once_us, p->break_even);
    gphi_json_text(&w->out, p->why ? p->why : "");
    gphi_text_add(&w->out, ",\"frame\":%u}", gphi_report_frame(w, &p->place));
}

void gphi_report_put_advice(report_writing *w)
{
    const gph_advice *advice = w->advice;
    if (!advice)
        return;
    gphi_text_put(&w->out, ",\"advice\":[");
    for (uint32_t i = 0; i < gph_advice_count(advice); i++) {
        gphi_report_comma(w, i);
        put_prediction(w, gph_advice_prediction(advice, i));
    }
    gphi_text_put(&w->out, "]");
}

/* ---- findings ---- */

void gphi_report_put_findings(report_writing *w)
{
    static const char *const words[] = {"info", "warning", "error"};
    const gph_report *r = w->report;
    const uint32_t count = gph_doctor_finding_count(r->doctor);
    gphi_text_put(&w->out, ",\"findings\":[");
    for (uint32_t i = 0; i < count; i++) {
        const gph_finding *f = gph_doctor_finding(r->doctor, i);
        gphi_report_comma(w, i);
        gphi_text_add(&w->out,
                      "{\"severity\":\"%s\",\"thread\":%" PRIu64 ",\"count\":%" PRIu64,
                      words[f->severity <= GPH_SEVERITY_ERROR ? f->severity : 0],
                      f->thread, f->count);
        if (f->rank_count > 0)
            gphi_text_add(&w->out, ",\"rank\":%u,\"process\":%" PRIu64, f->rank,
                          f->process);
        gphi_text_add(&w->out, ",\"t\":%" PRId64,
                      f->time_ns == 0 ? -1 : (int64_t)gphi_report_time(r, f->time_ns));
        gphi_json_member(&w->out, "id", f->id);
        gphi_json_member(&w->out, "title", f->title);
        gphi_json_member(&w->out, "cause", f->cause);
        gphi_json_member(&w->out, "fix", f->fix);
        gphi_json_member(&w->out, "vain", f->in_vain);
        gphi_json_member(&w->out, "docs", f->docs);
        gphi_json_list(&w->out, "evidence", f->evidence, f->evidence_count);
        gphi_json_list(&w->out, "consequences", f->consequences, f->consequence_count);
        gphi_text_put(&w->out, ",\"frames\":");
        gphi_report_put_frames(w, f->frames, f->frame_count);
        gphi_text_put(&w->out, "}");
    }
    gphi_text_put(&w->out, "]");
}
