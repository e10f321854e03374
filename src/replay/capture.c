// SPDX-License-Identifier: Apache-2.0
/* Capture: a stream is recorded instead of run. Whatever goes wrong, the stream comes
 * back.
 *
 * The cause of a failure is rarely the call that reports it: a forbidden call invalidates
 * the capture, and cuStreamEndCapture, much later, says so. The watch keeps the first
 * refusal. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"
#include "cuda/refusal.h"
#include "cuda/runtime.h"
#include "cuda/status.h"
#include <gph/replay.h>

struct gph_capture {
    gph_runtime *runtime;
    CUstream stream;
    gph_capture_mode mode;
    uint64_t thread; /* that began it */
    gphi_watch watch;
};

/* What to try, by the code of a failed capture. */
static const struct {
    CUresult code;
    const char *hint;
} hints[] = {
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
     "synchronizing and most allocating calls are forbidden while a stream is captured: "
     "do them before, or capture in GPH_CAPTURE_RELAXED"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
     "a call between begin and end was forbidden and its error went unread: check every "
     "call, the first that failed is the cause"},
    {CUDA_ERROR_STREAM_CAPTURE_MERGE,
     "an event of one capture was waited for in another: end one before, or capture both "
     "in one"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
     "end the capture in the stream in which it began"},
    {CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
     "a stream that joined by cuStreamWaitEvent never came back: record an event at its "
     "end and wait for it in the captured stream"},
    {CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
     "the captured stream waited for an event that was recorded outside the capture: "
     "record it inside, or wait before the capture begins"},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
     "the legacy default stream was used meanwhile: use other streams, or make the "
     "captured one with CU_STREAM_NON_BLOCKING"},
    {CUDA_ERROR_CAPTURED_EVENT,
     "an event that was recorded in a capture cannot be queried or synchronized with"},
};

static void add_hint(const gph_runtime *runtime, CUresult code, gph_error *error)
{
    for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
        if (hints[i].code == code)
            gphi_hint(error, "%s%s", hints[i].hint,
                      runtime->is_told ? "" : "; a driver of CUDA 12.9 would name it");
}

static gph_status fail_capture(const gph_capture *capture, CUresult result,
                               const char *call, gph_error *error)
{
    const struct gphi_refusal *own = &capture->watch.own, *other = &capture->watch.other;
    const struct gphi_refusal *first = own->thread != 0 ? own : other;
    const char *name = gph_status_name((gph_status)result);
    if (first->thread == 0)
        gphi_fail(error, (gph_status)result, "capture of stream %p: %s returned %s (%s)",
                  (void *)capture->stream, call, name,
                  gph_status_text((gph_status)result));
    else
        gphi_fail(error, (gph_status)result,
                  "capture of stream %p: %s returned %s; the first refusal since it "
                  "began, on %s %llu: %s%s%s",
                  (void *)capture->stream, call, name,
                  first == own ? "its own thread" : "thread",
                  (unsigned long long)first->thread, first->call,
                  first->call[0] != '\0' && first->text[0] != '\0' ? ": " : "",
                  first->text);
    if (error != NULL)
        error->call = call;
    add_hint(capture->runtime, result, error);
    return (gph_status)result;
}

/* Says on a line of its own why a stream cannot be captured now, if it cannot. */
static gph_status check_stream(const gph_runtime *runtime, CUstream stream,
                               gph_error *error)
{
    if (stream == NULL || stream == CU_STREAM_LEGACY)
        return gphi_fail(error, GPH_E_INVALID,
                         "the legacy default stream cannot be captured");

    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult result = runtime->cu.cuStreamIsCapturing(stream, &status);
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuStreamIsCapturing",
                              "stream %p", (void *)stream);
    if (status != CU_STREAM_CAPTURE_STATUS_NONE)
        return gphi_fail(error, GPH_E_STATE, "stream %p is captured already",
                         (void *)stream);
    return GPH_OK;
}

static gph_status read_mode(const gph_capture_options *options, gph_capture_mode *out,
                            gph_error *error)
{
    gph_capture_options opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), options, error));
    if (opt.mode > GPH_CAPTURE_RELAXED)
        return gphi_fail(error, GPH_E_INVALID, "options.mode %u is no gph_capture_mode",
                         (unsigned)opt.mode);
    *out = opt.mode == 0 ? GPH_CAPTURE_THREAD : (gph_capture_mode)opt.mode;
    return GPH_OK;
}

gph_status gph_capture_begin(gph_runtime *runtime, CUstream stream,
                             const gph_capture_options *options, gph_capture **out,
                             gph_error *error)
{
    if (runtime == NULL || out == NULL)
        return gphi_fail(error, GPH_E_INVALID, "runtime or out is NULL");
    gph_capture_mode mode = GPH_CAPTURE_THREAD;
    GPHI_TRY(read_mode(options, &mode, error));
    GPHI_TRY(check_stream(runtime, stream, error));

    gph_capture *capture = gphi_heap_alloc(runtime->heap, sizeof(*capture));
    if (capture == NULL)
        return gphi_fail(error, GPH_E_NO_MEMORY, "capturing stream %p", (void *)stream);
    capture->runtime = runtime;
    capture->stream = stream;
    capture->mode = mode;
    capture->thread = gphi_thread_id();
    gphi_watch_begin(&capture->watch);
    gphi_capture_open();

    const CUresult result =
        runtime->cu.cuStreamBeginCapture(stream, (CUstreamCaptureMode)(mode - 1));
    if (result != CUDA_SUCCESS) {
        gphi_capture_close();
        gphi_watch_end(&capture->watch);
        fail_capture(capture, result, "cuStreamBeginCapture", error);
        gphi_heap_free(runtime->heap, capture, sizeof(*capture));
        return (gph_status)result;
    }
    gphi_log("capture", GPH_LOG_DEBUG, "stream %p begins", (void *)stream);
    *out = capture;
    return GPH_OK;
}

static gph_status check_thread(const gph_capture *capture, gph_error *error)
{
    const uint64_t thread = gphi_thread_id();
    if (capture->mode != GPH_CAPTURE_RELAXED && capture->thread != thread)
        return gphi_fail(error, GPH_E_STATE,
                         "thread %llu began the capture of stream %p, thread %llu cannot "
                         "end it",
                         (unsigned long long)capture->thread, (void *)capture->stream,
                         (unsigned long long)thread);
    return GPH_OK;
}

/* A driver may refuse to end a capture without leaving it; ending what is by then invalid
 * does leave it (R97). */
static void give_stream_back(const gphi_cuda_table *cu, CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (cu->cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
        status == CU_STREAM_CAPTURE_STATUS_NONE)
        return;
    CUgraph graph = NULL;
    const CUresult result = cu->cuStreamEndCapture(stream, &graph);
    if (result == CUDA_SUCCESS && graph != NULL)
        gphi_ignore((gph_status)cu->cuGraphDestroy(graph), "it is thrown away");
    else if (cu->cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
             status != CU_STREAM_CAPTURE_STATUS_NONE)
        gphi_log("capture", GPH_LOG_ERROR, "stream %p stays captured: %s", (void *)stream,
                 gph_status_name((gph_status)result));
}

gph_status gph_capture_end(gph_capture *capture, CUgraph *out, gph_error *error)
{
    if (capture == NULL || out == NULL)
        return gphi_fail(error, GPH_E_INVALID, "capture or out is NULL");
    GPHI_TRY(check_thread(capture, error));

    gph_runtime *runtime = capture->runtime;
    CUgraph graph = NULL;
    CUresult result = runtime->cu.cuStreamEndCapture(capture->stream, &graph);
    gphi_watch_end(&capture->watch);
    if (result == CUDA_SUCCESS) {
        *out = graph;
        gphi_log("capture", GPH_LOG_DEBUG, "stream %p ends: graph %p",
                 (void *)capture->stream, (void *)graph);
    } else {
        give_stream_back(&runtime->cu, capture->stream);
        fail_capture(capture, result, "cuStreamEndCapture", error);
    }
    gphi_capture_close();
    gphi_heap_free(runtime->heap, capture, sizeof(*capture));
    return (gph_status)result;
}

gph_status gph_capture_abort(gph_capture *capture, gph_error *error)
{
    if (capture == NULL)
        return GPH_OK;
    GPHI_TRY(check_thread(capture, error));

    gph_runtime *runtime = capture->runtime;
    gphi_watch_end(&capture->watch);
    give_stream_back(&runtime->cu, capture->stream);
    gphi_capture_close();
    gphi_heap_free(runtime->heap, capture, sizeof(*capture));
    return GPH_OK;
}
