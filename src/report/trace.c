// SPDX-License-Identifier: Apache-2.0
/* A trace in Chrome's trace event format: what ui.perfetto.dev opens.
 *
 *   process 1: threads with their calls and captures   2: streams   3: executables
 *   4: bytes alive, as counters     5: by executable, what the device decided and launched
 *   findings are instants of threads
 *
 * An arrow leads from each launch to its work on the stream. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/json.h"
#include "base/save.h"
#include "doctor/language/language.h"
#include "report/report.h"
#include <gph/explain.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CPU = 1, GPU, GRAPHS, MEMORY, DEVICE };

typedef struct trace {
    gphi_text out;
    char buffer[4096]; /* of `out` */
    gph_report *report;
    gph_error *error;
    gphi_save *save;
    bool is_first;
    bool is_escaped; /* the last byte written was a backslash that escapes the next */
} trace;

/* Perfetto takes the quote after an escaped backslash for an escaped one, so that a name
 * which ends in a backslash would end the trace: backslashes are shown by their
 * number. */
static gph_status write_out(void *user, const void *data, size_t bytes)
{
    trace *t = user;
    const char *text = data;
    size_t done = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (t->is_escaped && text[i] == '\\') {
            GPHI_TRY(gphi_save_write(t->save, text + done, i - done));
            GPHI_TRY(gphi_save_write(t->save, "u005c", 5));
            done = i + 1;
        }
        t->is_escaped = !t->is_escaped && text[i] == '\\';
    }
    return gphi_save_write(t->save, text + done, bytes - done);
}

/* Begins an event: what every one has. Times are in microseconds. */
static void begin(trace *t, const char *phase, uint32_t process, uint64_t track,
                  uint64_t ns)
{
    gphi_text_add(&t->out, "%s\n{\"ph\":\"%s\",\"pid\":%u,\"tid\":%" PRIu64,
                  t->is_first ? "" : ",", phase, process, track);
    gphi_text_add(&t->out, ",\"ts\":%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
    t->is_first = false;
}

static void name_it(trace *t, const char *name)
{
    gphi_json_member(&t->out, "name", name ? name : "?");
}

static void put_duration(trace *t, uint64_t ns)
{
    gphi_text_add(&t->out, ",\"dur\":%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

static void end(trace *t)
{
    gphi_text_put(&t->out, "}");
}

static void put_label(trace *t, const char *what, uint32_t process, uint64_t track,
                      const char *label)
{
    begin(t, "M", process, track, 0);
    gphi_text_add(&t->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    gphi_json_text(&t->out, label);
    gphi_text_put(&t->out, "}}");
}

static void put_labels(trace *t)
{
    const gph_report *r = t->report;
    char name[128];
    put_label(t, "process_name", CPU, 0, "CPU: driver calls");
    put_label(t, "process_name", GPU, 0,
              r->gpu.count > 0 ? "GPU: streams" : "GPU: work as it was submitted");
    put_label(t, "process_name", GRAPHS, 0, "Graph launches");
    put_label(t, "process_name", MEMORY, 0, "Memory");
    GPHI_EACH (const report_thread, thread, &r->threads) {
        snprintf(name, sizeof(name), "%s (%u)",
                 thread->name[0] != 0 ? thread->name : "thread", thread->id);
        put_label(t, "thread_name", CPU, thread->id, name);
    }
    for (size_t i = 0; i < r->streams.count; i++) {
        const report_stream *stream = gphi_vec_at(&r->streams, i);
        snprintf(name, sizeof(name),
                 stream->is_legacy ? "legacy stream" : "stream 0x%" PRIx64,
                 stream->handle);
        put_label(t, "thread_name", GPU, i + 1, name);
    }
    for (size_t i = 0; i < r->execs.count; i++) {
        const report_exec *exec = gphi_vec_at(&r->execs, i);
        snprintf(name, sizeof(name), "executable 0x%" PRIx64, exec->handle);
        if (exec->graph != 0)
            gphi_report_graph_name(r, exec->graph - 1, name, sizeof(name));
        put_label(t, "thread_name", GRAPHS, i + 1, name);
        if (r->spans.count == 0)
            continue;
        put_label(t, "thread_name", DEVICE, 2 * (i + 1), name);
        put_label(t, "thread_name", DEVICE, 2 * (i + 1) + 1, name);
    }
}

/* A kernel is called by its name, all other work by its call. */
static const char *label_of(const gph_report *r, const report_call *call)
{
    const report_kind kind = gphi_report_kind(call->call);
    if (kind != REPORT_KERNEL || call->object == 0)
        return gphi_call_name(call->call);
    const char *name = gphi_vec_pointer(&r->functions, call->object - 1);
    return name ? name : gphi_call_name(call->call);
}

/* What shows on a stream: calls that a capture took never ran. */
static bool is_work(const report_call *call)
{
    const report_kind kind = gphi_report_kind(call->call);
    return call->stream != 0 && call->result == 0 && !call->is_captured &&
           (kind == REPORT_KERNEL || kind == REPORT_GRAPH || kind == REPORT_COPY);
}

static void put_call(trace *t, size_t index)
{
    static const char *const words[] = {"other",  "kernel", "graph", "copy",
                                        "memory", "build",  "event", "wait"};
    const gph_report *r = t->report;
    const report_call *call = gphi_report_call_at(r, index);
    const report_thread *thread = gphi_vec_at(&r->threads, call->thread);
    const uint64_t at = gphi_report_time(r, call->start_ns);
    begin(t, "X", CPU, thread->id, at);
    put_duration(t, call->duration_ns);
    name_it(t, gphi_call_name(call->call));
    gphi_text_add(&t->out, ",\"cat\":\"%s\",\"args\":{\"result\":%" PRId32,
                  words[gphi_report_kind(call->call)],
                  call->result == REPORT_UNRETURNED ? 0 : call->result);
    if (call->is_captured)
        gphi_text_put(&t->out, ",\"captured\":true");
    if (call->result == REPORT_UNRETURNED)
        gphi_text_put(&t->out, ",\"returned\":false");
    const gph_place *frame = gphi_report_own_frame(r, call->stack);
    if (frame) {
        gphi_json_member(&t->out, "function", frame->function);
        gphi_json_member(&t->out, "file", frame->file ? frame->file : "");
        gphi_text_add(&t->out, ",\"line\":%" PRId32, frame->line);
    }
    gphi_text_put(&t->out, "}");
    end(t);
}

/* Work on a stream, and the arrow to it. */
static void put_work(trace *t, size_t index, uint64_t duration)
{
    const gph_report *r = t->report;
    const report_call *call = gphi_report_call_at(r, index);
    const report_thread *thread = gphi_vec_at(&r->threads, call->thread);
    const uint64_t at = gphi_report_time(r, call->start_ns);
    begin(t, "X", GPU, call->stream, at);
    put_duration(t, duration);
    name_it(t, label_of(r, call));
    gphi_text_put(&t->out, ",\"cat\":\"work\"");
    end(t);
    begin(t, "s", CPU, thread->id, at);
    gphi_text_add(&t->out, ",\"name\":\"launch\",\"cat\":\"launch\",\"id\":%zu",
                  index + 1);
    end(t);
    begin(t, "f", GPU, call->stream, at);
    gphi_text_add(&t->out,
                  ",\"name\":\"launch\",\"cat\":\"launch\",\"bp\":\"e\",\"id\":%zu",
                  index + 1);
    end(t);
}

/* The same launch on the track of its executable, where launches of one graph line up. */
static void put_launch(trace *t, const report_call *call)
{
    begin(t, "X", GRAPHS, call->object, gphi_report_time(t->report, call->start_ns));
    put_duration(t, call->duration_ns);
    gphi_text_put(&t->out, ",\"name\":\"launch\",\"cat\":\"graph\"");
    end(t);
}

/* Slices of one track nest or are apart: work ends where the next of its stream begins.
 */
static gph_status put_calls(trace *t)
{
    const gph_report *r = t->report;
    const size_t count = r->calls.count, streams = r->streams.count;
    if (count == 0)
        return GPH_OK;
    uint64_t *ends = gphi_heap_array(r->heap, count + streams + 1, sizeof(*ends));
    GPHI_TRY(gphi_made(t->error, ends, "a trace of %zu calls", count));
    uint64_t *next = ends + count;
    for (size_t i = count; i-- > 0;) {
        const report_call *call = gphi_report_call_at(r, i);
        const uint64_t until = call->start_ns + call->duration_ns;
        if (!is_work(call))
            continue;
        ends[i] = next[call->stream] != 0 && next[call->stream] < until
                      ? next[call->stream]
                      : until;
        next[call->stream] = call->start_ns;
    }
    for (size_t i = 0; i < count; i++) {
        const report_call *call = gphi_report_call_at(r, i);
        put_call(t, i);
        if (is_work(call) && r->gpu.count == 0)
            put_work(t, i, ends[i] - call->start_ns);
        if (call->call == GPHI_CALL_cuGraphLaunch && call->object != 0 &&
            call->result == 0)
            put_launch(t, call);
    }
    gphi_heap_free(r->heap, ends, (count + streams + 1) * sizeof(*ends));
    return GPH_OK;
}

/* Kernels of one graph launch may run at once, but slices of a track must not overlap:
 * what does goes to further tracks of its stream, and on the last is cut where the next
 * begins. */
enum { SIDE_BY_SIDE = 8 };

static uint64_t track_of(trace *t, const report_gpu *gpu, uint64_t *ends)
{
    const uint64_t streams = t->report->streams.count + 1;
    uint64_t side = 0;
    while (side + 1 < SIDE_BY_SIDE && ends[side * streams + gpu->stream] > gpu->start_ns)
        side++;
    const uint64_t track = side * streams + gpu->stream;
    if (side > 0 && ends[track] == 0 && gpu->stream != 0) {
        char name[64];
        const report_stream *stream = gphi_vec_at(&t->report->streams, gpu->stream - 1U);
        snprintf(name, sizeof(name), "stream 0x%" PRIx64 ", at once (%" PRIu64 ")",
                 stream->handle, side + 1);
        put_label(t, "thread_name", GPU, track, name);
    }
    return track;
}

static void put_gpu(trace *t, uint64_t *ends)
{
    const gph_report *r = t->report;
    GPHI_EACH (const report_gpu, gpu, &r->gpu) {
        const uint64_t track = track_of(t, gpu, ends);
        const uint64_t from = gpu->start_ns > ends[track] ? gpu->start_ns : ends[track];
        ends[track] = gpu->end_ns > from ? gpu->end_ns : from;
        const char *name =
            gpu->name == 0 ? NULL : gphi_vec_pointer(&r->functions, gpu->name - 1);
        begin(t, "X", GPU, track, gphi_report_time(r, from));
        put_duration(t, ends[track] - from);
        name_it(t, name ? name : "work");
        gphi_text_put(&t->out, ",\"cat\":\"gpu\"");
        end(t);
    }
}

static gph_status put_measured(trace *t)
{
    const gph_report *r = t->report;
    const size_t tracks = (r->streams.count + 1) * SIDE_BY_SIDE;
    if (r->gpu.count == 0)
        return GPH_OK;
    uint64_t *ends = gphi_heap_array(r->heap, tracks, sizeof(*ends));
    GPHI_TRY(gphi_made(t->error, ends, "a trace of %zu streams", r->streams.count));
    put_gpu(t, ends);
    gphi_heap_free(r->heap, ends, tracks * sizeof(*ends));
    return GPH_OK;
}

/* Spans of an executable overlap by nesting: a loop and its rounds. Launches by kernels have
 * a track beside. */
static void put_device(trace *t)
{
    const gph_report *r = t->report;
    char name[160];
    if (r->spans.count > 0) {
        put_label(t, "process_name", DEVICE, 0, "On the device");
        for (uint64_t track = 0; track < 2;
             track++) /* of executables that nobody knows */
            put_label(t, "thread_name", DEVICE, track, "unknown executable");
    }
    GPHI_EACH (const report_span, span, &r->spans) {
        const bool is_launch = span->kind >= REPORT_SPAN_TAIL;
        begin(t, "X", DEVICE, 2 * span->exec + is_launch,
              gphi_report_time(r, span->from_ns));
        put_duration(t, span->to_ns > span->from_ns ? span->to_ns - span->from_ns : 0);
        snprintf(name, sizeof(name), "%s", gphi_report_span_word(span->kind));
        if (span->kind <= REPORT_SPAN_SWITCH && span->body == 0)
            snprintf(name, sizeof(name), "%s, no body",
                     gphi_report_span_word(span->kind));
        else if (span->kind == REPORT_SPAN_IF || span->kind == REPORT_SPAN_SWITCH)
            snprintf(name, sizeof(name), "%s, body %u", gphi_report_span_word(span->kind),
                     span->body - 1);
        name_it(t, name);
        gphi_text_add(&t->out, ",\"cat\":\"device\",\"args\":{\"rounds\":%" PRIu64,
                      span->rounds);
        if (is_launch && span->parent != 0 &&
            ((const report_exec *)gphi_vec_at(&r->execs, span->parent - 1))->graph != 0) {
            const report_exec *exec = gphi_vec_at(&r->execs, span->parent - 1);
            gphi_report_graph_name(r, exec->graph - 1, name, sizeof(name));
            gphi_json_member(&t->out, "by", name);
        }
        gphi_text_put(&t->out, "}");
        end(t);
    }
}

static void put_captures(trace *t)
{
    const gph_report *r = t->report;
    for (size_t i = 0; i < r->captures.count; i++) {
        const report_capture *capture = gphi_vec_at(&r->captures, i);
        const uint64_t last = capture->is_open ? r->last_ns : capture->end_ns;
        for (int is_end = 0; is_end < 2; is_end++) {
            begin(t, is_end ? "e" : "b", GPU, capture->stream + 1U,
                  gphi_report_time(r, is_end ? last : capture->begin_ns));
            gphi_text_add(
                &t->out,
                ",\"name\":\"capture%s\",\"cat\":\"capture\",\"id2\":{\"local\":"
                "\"%zu\"}",
                capture->is_bad ? ", invalidated" : "", i + 1);
            end(t);
        }
    }
}

/* ---- bytes alive ---- */

static gph_status put_memory(trace *t)
{
    static const char *const words[] = {"other",      "cuMemAlloc", "stream-ordered",
                                        "graph",      "managed",    "pinned",
                                        "registered", "virtual"};
    const gph_report *r = t->report;
    const size_t room = 2 * r->lifetimes.count;
    size_t count = 0;
    report_turn *turns = gphi_report_turns(r, &count);
    if (!turns)
        return room == 0 ? GPH_OK
                         : gphi_fail(t->error, GPH_E_NO_MEMORY,
                                     "a trace of %zu allocations", room / 2);
    uint64_t alive[8] = {0};
    for (size_t i = 0; i < count; i++) {
        const uint32_t kind = turns[i].kind < 8 ? turns[i].kind : 0;
        alive[kind] =
            turns[i].is_end ? alive[kind] - turns[i].bytes : alive[kind] + turns[i].bytes;
        begin(t, "C", MEMORY, 0, gphi_report_time(r, turns[i].ns));
        gphi_text_add(&t->out, ",\"name\":\"%s\",\"args\":{\"bytes\":%" PRIu64 "}",
                      words[kind], alive[kind]);
        end(t);
    }
    gphi_heap_free(r->heap, turns, room * sizeof(*turns));
    return GPH_OK;
}

/* Only those that have a time: what holds for the whole run has no place in a trace. */
static void put_findings(trace *t)
{
    const gph_doctor *doctor = t->report->doctor;
    for (uint32_t i = 0; i < gph_doctor_finding_count(doctor); i++) {
        const gph_finding *finding = gph_doctor_finding(doctor, i);
        if (finding->time_ns == 0)
            continue;
        begin(t, "i", CPU, finding->thread,
              gphi_report_time(t->report, finding->time_ns));
        name_it(t, finding->id);
        gphi_text_put(&t->out, ",\"s\":\"p\",\"cat\":\"finding\",\"args\":{\"title\":");
        gphi_json_text(&t->out, finding->title);
        gphi_json_member(&t->out, "cause", finding->cause);
        gphi_text_put(&t->out, "}");
        end(t);
    }
}

/* Perfetto takes events in any order, so they come as they lie in the report. */
static gph_status fill(void *user, gphi_save *save)
{
    trace *t = user;
    t->save = save;
    gphi_text_stream(&t->out, t->buffer, sizeof(t->buffer), write_out, t);
    gphi_text_put(&t->out,
                  "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"written by\":\"gph ");
    gphi_text_put(&t->out, gph_version_text());
    gphi_text_add(&t->out, "\",\"lost records\":%" PRIu64 "},\"traceEvents\":[",
                  t->report->lost);
    t->is_first = true;
    put_labels(t);
    GPHI_TRY(put_calls(t));
    GPHI_TRY(put_measured(t));
    put_device(t);
    put_captures(t);
    GPHI_TRY(put_memory(t));
    put_findings(t);
    gphi_text_put(&t->out, "\n]}\n");
    return gphi_text_end(&t->out, t->error);
}

gph_status gph_report_trace_save(gph_report *report, const gph_program *program,
                                 const gph_advice *advice, const char *path,
                                 gph_error *error)
{
    GPHI_TRY(gphi_need(error, report, path));
    (void)program, (void)advice;            /* Perfetto has no place for them */
    gphi_language_use(GPH_EXPLAIN_ENGLISH); /* as Perfetto's own labels are */
    gphi_report_settle(report);
    trace t = {.report = report, .error = error};
    return gphi_save_file(path, fill, &t, error);
}
