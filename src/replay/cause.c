// SPDX-License-Identifier: Apache-2.0
/* Why a capture failed. The call that reports it is rarely the cause: a forbidden call
 * invalidates the capture, and cuStreamEndCapture, much later, says so. The watch keeps
 * what the driver refused meanwhile, and from where. */
#include "base/fail.h"
#include "base/text.h"
#include "replay/capture.h"

#include <stdio.h>
#include <string.h>

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
     "end and wait for it in the captured stream, or begin with GPH_JOIN_AUTO"},
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

/* What gph_cause_last() lends, and the texts in it. */
struct memory {
    gph_cause cause;
    gphi_stack frames; /* `stack` is made of them when it is asked for */
    bool is_described;
    char call[64];
    char text[300];
    char caller[160];
    char stack[6144];
};
static _Thread_local struct memory memory;

void gphi_cause_forget(void)
{
    memory.is_described = true;
    memory.call[0] = memory.text[0] = memory.caller[0] = memory.stack[0] = '\0';
    memory.cause = (gph_cause){.call = memory.call,
                               .text = memory.text,
                               .caller = memory.caller,
                               .stack = memory.stack};
}

const gph_cause *gph_cause_last(void)
{
    if (!memory.cause.call)
        gphi_cause_forget();
    if (!memory.is_described)
        gphi_stack_describe(&memory.frames, memory.stack, sizeof(memory.stack));
    memory.is_described = true;
    return &memory.cause;
}

static void remember(const gphi_watch *watch, const struct gphi_refusal *first)
{
    snprintf(memory.call, sizeof(memory.call), "%s", first->call);
    snprintf(memory.text, sizeof(memory.text), "%s", first->text);
    memory.frames = first->stack;
    memory.is_described = false;
    gphi_stack_caller(&first->stack, memory.caller, sizeof(memory.caller));
    memory.cause.thread = first->thread;
    memory.cause.time_ns = first->time_ns;
    memory.cause.stream = gphi_refusal_stream(first);
    memory.cause.code = first->code;
    memory.cause.is_own = first->thread == watch->thread;
}

/* "; the first refusal since it began ...", without the sentence where the message has
 * it. The message is cut to make room. */
static void add_first(gph_error *error, const char *what)
{
    const gph_cause *cause = &memory.cause;
    char words[sizeof(error->message) * 3 / 4];
    gphi_text text;
    gphi_text_fix(&text, words, sizeof(words));
    gphi_text_add(&text, "; the first refusal since %s began, on ", what);
    if (cause->is_own)
        gphi_text_put(&text, "its own thread");
    else
        gphi_text_add(&text, "thread %llu", (unsigned long long)cause->thread);
    if (cause->caller[0] != '\0')
        gphi_text_add(&text, ", at %s", cause->caller);
    gphi_text_add(&text, ": %s", cause->call);
    if (cause->text[0] != '\0' && !strstr(error->message, cause->text))
        gphi_text_add(&text, "%s%s", cause->call[0] != '\0' ? ": " : "", cause->text);

    const size_t most = sizeof(error->message) - 1 - text.length;
    size_t at = strlen(error->message);
    if (at > most) {
        at = most;
        memcpy(error->message + at - 3, "...", 3);
    }
    memcpy(error->message + at, words, text.length + 1);
}

/* What was refused says so itself by its code; of other refusals, an allocation that did
 * not fit say, the stream's state does. */
bool gphi_cause_find(gph_capture *capture)
{
    gphi_watch_end(&capture->watch);
    const struct gphi_refusal *first =
        gphi_watch_first(&capture->watch, capture->mode == GPH_CAPTURE_GLOBAL);
    if (!first)
        return false;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    if (!gphi_refusal_is_of_capture(first) &&
        (capture->runtime->cu.cuStreamIsCapturing(capture->stream, &status) !=
             CUDA_SUCCESS ||
         status != CU_STREAM_CAPTURE_STATUS_INVALIDATED))
        return false;
    gphi_cause_forget();
    remember(&capture->watch, first);
    return true;
}

void gphi_cause_add(gph_capture *capture, gph_error *error)
{
    if (!gphi_cause_find(capture)) {
        gphi_cause_forget();
        return;
    }
    if (!error)
        return;
    add_first(error, "the capture");
    if (error->hint[0] == '\0')
        add_hint(capture->runtime, (CUresult)error->code, error);
}

gph_status gphi_capture_fail(const gph_capture *capture, CUresult result,
                             const char *call, gph_error *error)
{
    const struct gphi_refusal *first =
        gphi_watch_first(&capture->watch, capture->mode == GPH_CAPTURE_GLOBAL);
    const char *name = gph_status_name((gph_status)result);
    gphi_cause_forget();
    if (first)
        remember(&capture->watch, first);
    const bool names_forks =
        capture->forgotten[0] != '\0' && result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    if (names_forks)
        gphi_fail(error, (gph_status)result,
                  "capture of stream %p: %s returned %s; not joined: %s",
                  (void *)capture->stream, call, name, capture->forgotten);
    else if (first)
        gphi_fail(error, (gph_status)result, "capture of stream %p: %s returned %s",
                  (void *)capture->stream, call, name);
    else
        gphi_fail(error, (gph_status)result, "capture of stream %p: %s returned %s (%s)",
                  (void *)capture->stream, call, name,
                  gph_status_text((gph_status)result));
    if (error)
        error->call = call;
    if (error && first && !names_forks)
        add_first(error, "it");
    add_hint(capture->runtime, result, error);
    return (gph_status)result;
}
