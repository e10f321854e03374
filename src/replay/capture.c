// SPDX-License-Identifier: Apache-2.0
/* Capture: a stream is recorded instead of run. Whatever goes wrong, the stream comes
 * back.
 *
 * A capture with breaks is several of the driver's, one after the other:
 *
 *   begin ── segment 0 ── break ── segment 1 ── break ── segment 2 ── finish
 *                           fn                    fn
 */
#include "replay/capture.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"
#include "cuda/status.h"
#include "replay/flow.h"

#include <string.h>

/* ---- checks ---- */

/* Says on a line of its own why a stream cannot be captured now, if it cannot. */
static gph_status check_stream(const gph_runtime *runtime, CUstream stream,
                               gph_error *error)
{
    if (!stream || stream == CU_STREAM_LEGACY)
        return gphi_fail(error, GPH_E_INVALID,
                         "stream %p, the legacy default stream, cannot be captured",
                         (void *)stream);

    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    GPHI_TRY(gphi_cuda_check(error, runtime->cu.cuStreamIsCapturing(stream, &status),
                             "cuStreamIsCapturing", "stream %p", (void *)stream));
    if (status != CU_STREAM_CAPTURE_STATUS_NONE)
        return gphi_fail(error, GPH_E_STATE, "stream %p is captured already",
                         (void *)stream);
    return GPH_OK;
}

static gph_status read_options(const gph_capture_options *options,
                               gph_capture_options *out, gph_error *error)
{
    GPHI_TRY(gphi_options_read(out, sizeof(*out), "gph_capture_options", options, error));
    if (out->mode > GPH_CAPTURE_RELAXED)
        return gphi_fail(error, GPH_E_INVALID,
                         "options.mode %u is not a gph_capture_mode",
                         (unsigned)out->mode);
    if (out->join > GPH_JOIN_NAME)
        return gphi_fail(error, GPH_E_INVALID, "options.join %u is not a gph_join_mode",
                         (unsigned)out->join);
    if ((out->flags & ~(uint32_t)GPH_CAPTURE_RUN) != 0)
        return gphi_fail(error, GPH_E_INVALID, "options.flags 0x%x: only 0x%x are known",
                         (unsigned)out->flags, (unsigned)GPH_CAPTURE_RUN);
    if (out->stream_count > 0 && !out->streams)
        return gphi_fail(error, GPH_E_INVALID,
                         "options.streams is NULL, but %u were given",
                         (unsigned)out->stream_count);
    if (out->mode == 0)
        out->mode = GPH_CAPTURE_THREAD;
    return GPH_OK;
}

/* ---- the object ---- */

/* Everything of it but the stream and the watch. What it holds is released when no
 * capture is open. */
static void free_capture(gph_capture *capture)
{
    gphi_flow_unwind(capture);
    gphi_vec_fini(&capture->flows);
    if (capture->root)
        gphi_ignore((gph_status)capture->runtime->cu.cuGraphDestroy(capture->root),
                    "it is ours");
    gphi_fork_fini(capture);
    gphi_vec_fini(&capture->region_stack);
    gphi_vec_fini(&capture->nodes);
    gphi_vec_fini(&capture->current.regions);
    gph_recording_destroy(capture->recording);
    gphi_heap_free(capture->runtime->heap, capture, sizeof(*capture));
}

static gph_status copy_streams(gph_capture *capture, const gph_capture_options *options)
{
    if (options->stream_count == 0)
        return GPH_OK;
    CUstream *copy = gphi_vec_add(&capture->streams, options->stream_count);
    if (!copy)
        return GPH_E_NO_MEMORY;
    memcpy(copy, options->streams, options->stream_count * sizeof(*copy));
    return GPH_OK;
}

static gph_status copy_place(gph_recording *recording, const char *place)
{
    if (place)
        recording->place = gphi_heap_text(recording->runtime->heap, place);
    return place && !recording->place ? GPH_E_NO_MEMORY : GPH_OK;
}

static gph_status make_capture(gph_runtime *runtime, CUstream stream,
                               const gph_capture_options *options, const char *place,
                               gph_capture **out)
{
    const gph_allocator heap = runtime->heap;
    gph_capture *capture = gphi_heap_alloc(heap, sizeof(*capture));
    if (!capture)
        return GPH_E_NO_MEMORY;
    capture->runtime = runtime;
    capture->stream = stream;
    capture->mode = (gph_capture_mode)options->mode;
    capture->join = (gph_join_mode)options->join;
    capture->flags = options->flags;
    capture->thread = gphi_thread_id();
    gphi_vec_init(&capture->current.regions, heap, sizeof(uint32_t));
    gphi_vec_init(&capture->nodes, heap, sizeof(CUgraphNode));
    gphi_vec_init(&capture->region_stack, heap, sizeof(uint32_t));
    gphi_vec_init(&capture->streams, heap, sizeof(CUstream));
    gphi_vec_init(&capture->events, heap, sizeof(gphi_capture_event));
    gphi_vec_init(&capture->flows, heap, sizeof(gphi_flow_open));
    capture->recording = gphi_recording_create(runtime);
    if (!capture->recording || copy_streams(capture, options) != GPH_OK ||
        copy_place(capture->recording, place) != GPH_OK) {
        free_capture(capture);
        return GPH_E_NO_MEMORY;
    }
    *out = capture;
    return GPH_OK;
}

/* ---- segments ---- */

/* GPH_CAPTURE_RUN: the graph that was just recorded is launched once. */
static gph_status run_segment(gph_capture *capture, gph_error *error)
{
    if ((capture->flags & GPH_CAPTURE_RUN) == 0)
        return GPH_OK;
    const gph_recording *recording = capture->recording;
    const gphi_segment *last = gphi_segment_at(recording, recording->segments.count - 1);
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    options.upload_stream = capture->stream;
    gph_exec *exec = NULL;
    GPHI_TRY(gph_exec_create(capture->runtime, last->graph, &options, &exec, error));
    const gph_status status = gph_exec_launch(exec, capture->stream, error);
    capture->has_run = capture->has_run || status == GPH_OK;
    gph_exec_destroy(exec); /* in flight: it finishes */
    return status;
}

/* ---- begin, end ---- */

gph_status gph_capture_begin_at(const char *place, gph_runtime *runtime, CUstream stream,
                                const gph_capture_options *options, gph_capture **out,
                                gph_error *error)
{
    GPHI_TRY(gphi_need(error, runtime, out));
    gph_capture_options opt;
    GPHI_TRY(read_options(options, &opt, error));
    GPHI_TRY(check_stream(runtime, stream, error));

    gph_capture *capture = NULL;
    GPHI_TRY(gphi_made(error,
                       make_capture(runtime, stream, &opt, place, &capture) == GPH_OK,
                       "capturing stream %p", (void *)stream));
    gph_status status = gphi_bind_begin(capture, &opt, error);
    if (status != GPH_OK)
        goto free_capture;

    capture->pool = capture->recording->pool;
    gphi_watch_begin(&capture->watch);
    const CUresult result = gphi_segment_begin(capture, NULL, NULL);
    if (result != CUDA_SUCCESS) {
        gphi_watch_end(&capture->watch);
        status = gphi_capture_fail(capture, result, "cuStreamBeginCapture", error);
        goto unbind_pool;
    }
    gphi_log("capture", GPH_LOG_DEBUG, "stream %p begins", (void *)stream);
    *out = capture;
    return GPH_OK;

unbind_pool:
    gphi_bind_abort(capture);
free_capture:
    free_capture(capture);
    return status;
}

/* Its own name, which the header makes a macro. */
#undef gph_capture_begin
gph_status gph_capture_begin(gph_runtime *runtime, CUstream stream,
                             const gph_capture_options *options, gph_capture **out,
                             gph_error *error)
{
    return gph_capture_begin_at(NULL, runtime, stream, options, out, error);
}

/* What segments that were run may still use is given back next. */
static void wait_for_runs(const gph_capture *capture)
{
    const gphi_cuda_table *cu = &capture->runtime->cu;
    if (!capture->has_run)
        return;
    const CUstreamCaptureMode mode = gphi_relax(cu);
    gphi_ignore((gph_status)cu->cuStreamSynchronize(capture->stream),
                "work that failed has ended, too");
    gphi_unrelax(cu, mode);
}

/* Throws the whole away. The stream is out of capture. */
static void drop_capture(gph_capture *capture)
{
    wait_for_runs(capture);
    gphi_watch_end(&capture->watch);
    gphi_bind_abort(capture);
    free_capture(capture);
}

/* After a failure at the end everything is given back, but for the two statuses that say
 * that the capture was not taken. */
static gph_status give_up(gph_capture *capture, gph_status status)
{
    if (status == GPH_E_STATE || status == GPH_E_INVALID)
        capture->state = GPHI_CAPTURE_BROKEN;
    else
        drop_capture(capture);
    return status;
}

/* Ends the last segment; on failure gives up. */
static gph_status end_last(gph_capture *capture, gph_error *error)
{
    gph_status status = gphi_vec_reserve(&capture->recording->segments, 1);
    if (status != GPH_OK) {
        gphi_segment_drop(capture);
        gphi_fail(error, status, "ending the capture of stream %p",
                  (void *)capture->stream);
    } else {
        status = gphi_segment_end(capture, error);
    }
    if (status == GPH_OK) {
        gphi_watch_end(&capture->watch);
        gphi_segment_keep(capture, NULL, NULL);
        status = run_segment(capture, error);
    }
    return status == GPH_OK ? GPH_OK : give_up(capture, status);
}

static gph_status check_plain(const gph_capture *capture, gph_error *error)
{
    const gph_recording *recording = capture->recording;
    const char *what = NULL;
    if (recording->flows.count > 0)
        what = "has branches or loops, whose kernels it holds";
    else if (recording->segments.count > 0)
        what = "was broken into segments";
    else if (recording->pool)
        what = "has a pool";
    else if (recording->holds.count > 0)
        what = "holds objects";
    if (!what)
        return GPH_OK;
    gphi_fail(error, GPH_E_STATE, "the capture of stream %p %s, which a graph cannot be",
              (void *)capture->stream, what);
    gphi_hint(error, "end it with gph_capture_finish()");
    return GPH_E_STATE;
}

gph_status gph_capture_end(gph_capture *capture, CUgraph *out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, capture, out));
    GPHI_TRY(gphi_capture_check(capture, error));
    GPHI_TRY(gphi_flow_check_closed(capture, "the end of the capture", error));
    GPHI_TRY(check_plain(capture, error));
    GPHI_TRY(end_last(capture, error));

    gphi_segment *segment = gphi_segment_at(capture->recording, 0);
    *out = segment->graph;
    segment->graph = NULL;
    free_capture(capture);
    return GPH_OK;
}

gph_status gph_capture_finish(gph_capture *capture, gph_recording **out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, capture, out));
    GPHI_TRY(gphi_capture_check(capture, error));
    GPHI_TRY(gphi_flow_check_closed(capture, "the end of the capture", error));
    GPHI_TRY(end_last(capture, error));
    gph_status status = gphi_bind_end(capture, error);
    if (status == GPH_OK && (capture->flags & GPH_CAPTURE_RUN) != 0)
        status = gphi_bind_check(capture->recording, error); /* it has run once */
    if (status != GPH_OK)
        return give_up(capture, status);
    *out = capture->recording;
    if (capture->recording->flows.count > 0)
        gphi_flow_list_add(capture->recording);
    capture->recording = NULL;
    free_capture(capture);
    return GPH_OK;
}

gph_status gph_capture_abort(gph_capture *capture, gph_error *error)
{
    if (!capture)
        return GPH_OK;
    GPHI_TRY(gphi_capture_check_thread(capture, error));
    if (capture->state == GPHI_CAPTURE_BREAK)
        return gphi_fail(error, GPH_E_STATE, "stream %p is in a break of its capture",
                         (void *)capture->stream);
    if (capture->state == GPHI_CAPTURE_OPEN) {
        (void)gphi_cause_find(capture);
        gphi_segment_drop(capture);
    }
    drop_capture(capture);
    return GPH_OK;
}

void gphi_capture_abandon(gph_capture *capture, gph_error *error)
{
    if (capture->state == GPHI_CAPTURE_OPEN)
        gphi_cause_add(capture, error); /* else the break that failed has done so */
    gphi_ignore(gph_capture_abort(capture, NULL), "this thread began it");
}

/* ---- breaks ---- */

static gph_status call_function(gph_capture *capture, gph_error *error)
{
    const gph_recording *recording = capture->recording;
    const size_t index = recording->segments.count - 1;
    const gphi_segment *segment = gphi_segment_at(recording, index);
    const gph_break call = {.stream = capture->stream,
                            .index = (uint32_t)index,
                            .has_values = (capture->flags & GPH_CAPTURE_RUN) != 0};
    return gphi_break_call(segment, &call, error);
}

gph_status gph_capture_break(gph_capture *capture, gph_break_fn *function, void *user,
                             gph_error *error)
{
    GPHI_TRY(gphi_capture_check(capture, error));
    if (!function)
        return gphi_fail(error, GPH_E_INVALID,
                         "a break of the capture of stream %p has no function",
                         (void *)capture->stream);
    GPHI_TRY(gphi_flow_check_closed(capture, "a break of the capture", error));
    GPHI_TRY(gphi_made(error,
                       gphi_vec_reserve(&capture->recording->segments, 1) == GPH_OK,
                       "breaking the capture of stream %p", (void *)capture->stream));

    capture->state = GPHI_CAPTURE_BREAK;
    gph_status status = gphi_segment_end(capture, error);
    if (status == GPH_OK) {
        gphi_segment_keep(capture, function, user);
        status = run_segment(capture, error);
    }
    GPHI_THEN(status, call_function(capture, error));
    if (status == GPH_OK) {
        const CUresult result = gphi_segment_begin(capture, NULL, NULL);
        if (result != CUDA_SUCCESS)
            status = gphi_capture_fail(capture, result, "cuStreamBeginCapture", error);
    }
    capture->state = status == GPH_OK ? GPHI_CAPTURE_OPEN : GPHI_CAPTURE_BROKEN;
    return status;
}

/* ---- what it keeps ---- */

gph_status gph_capture_hold(gph_capture *capture, gph_defer_fn *release, void *user,
                            gph_error *error)
{
    GPHI_TRY(gphi_capture_check(capture, error));
    GPHI_TRY(gphi_need(error, release));
    GPHI_TRY(gphi_made(
        error,
        gphi_vec_push(&capture->recording->holds, &(gphi_hold){release, user}) == GPH_OK,
        "holding an object"));
    return GPH_OK;
}

gph_status gph_capture_output(gph_capture *capture, CUdeviceptr address, gph_error *error)
{
    GPHI_TRY(gphi_capture_check(capture, error));
    if (address == 0)
        return gphi_fail(error, GPH_E_INVALID,
                         "an output of the capture of stream %p is at address 0",
                         (void *)capture->stream);
    if (!capture->recording->pool)
        return gphi_fail(error, GPH_E_STATE, "the capture of stream %p has no pool",
                         (void *)capture->stream);
    GPHI_TRY(gphi_made(error,
                       gphi_vec_push(&capture->recording->outputs, &address) == GPH_OK,
                       "noting output 0x%llx", address));
    return GPH_OK;
}
