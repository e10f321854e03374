// SPDX-License-Identifier: Apache-2.0
/* Rules capture.*: what findings say of captures, and of the cell of the matrix. */
#include "doctor/language/language.h"
#include "doctor/rules/capture/rules_capture.h"

const char *gphi_say_capture(const gphi_model *model, const gphi_capture *capture,
                             uint32_t caller)
{
    const char *mode = gphi_capture_mode_name(capture->mode);
    const char *kind = gphi_capture_is_blocking(capture) ? "blocking" : "non-blocking";
    return capture->thread == caller
               ? gphi_say("its own %s capture of a %s stream", mode, kind)
               : gphi_say("the %s capture of a %s stream by %s", mode, kind,
                          gphi_say_thread(model, capture->thread));
}

void gphi_tell_capture(const gphi_model *model, gphi_draft *draft,
                       const gphi_capture *capture)
{
    const gphi_call *calls = capture->calls.items;
    gphi_evidence_call(draft, &capture->begin, "the capture began (%s mode, %s stream)",
                       gphi_capture_mode_name(capture->mode),
                       gphi_capture_is_blocking(capture) ? "blocking" : "non-blocking");
    gphi_evidence(draft, "captured: %s, until then %s",
                  gphi_say_stream(model, capture->origin),
                  gphi_say_count(capture->calls.count, "node"));
    if (capture->calls.count)
        gphi_evidence_call(draft, &calls[capture->calls.count - 1],
                           "the last that was captured");
}

/* ---- the cell ---- */

static bool allowed(gphi_capture_cell cell)
{
    return gphi_capture_verdict(&cell) == CUDA_SUCCESS;
}

/* Whether it would be, in a capture of another mode, by a thread of another mode. */
static bool allowed_in(gphi_capture_cell cell, uint32_t mode)
{
    cell.mode = mode;
    return allowed(cell);
}

static bool allowed_by(gphi_capture_cell cell, uint32_t caller)
{
    cell.caller = caller;
    return allowed(cell);
}

static const char *target_words(const gphi_capture_cell *cell)
{
    if (cell->target == GPHI_TARGET_LEGACY)
        return " on the legacy stream";
    if (cell->target == GPHI_TARGET_CAPTURING)
        return " on what is captured";
    const bool has_stream =
        cell->class != GPHI_CLASS_UNSAFE && cell->class != GPHI_CLASS_CONTEXT;
    return has_stream ? " on what is not captured" : "";
}

/* The cells next to it, and what they would allow. */
static void tell_neighbours(gphi_draft *draft, const gphi_capture_cell *cell)
{
    gphi_capture_cell free_stream = *cell;
    free_stream.is_blocking = false;
    const struct {
        bool is_other, is_allowed;
        const char *words;
    } rows[] = {
        {cell->mode != GPHI_MODE_THREAD_LOCAL, allowed_in(*cell, GPHI_MODE_THREAD_LOCAL),
         "in a thread-local capture"},
        {cell->mode != GPHI_MODE_RELAXED, allowed_in(*cell, GPHI_MODE_RELAXED),
         "in a relaxed capture"},
        {cell->caller != GPHI_MODE_RELAXED, allowed_by(*cell, GPHI_MODE_RELAXED),
         "by a thread that exchanged its own mode to relaxed"},
        {cell->is_blocking, allowed(free_stream), "while a non-blocking stream captures"},
    };
    char words[2][256]; /* what is refused, what is allowed */
    gphi_text texts[2];
    for (int i = 0; i < 2; i++)
        gphi_text_fix(&texts[i], words[i], sizeof(words[i]));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        gphi_text *text = &texts[rows[i].is_allowed];
        if (rows[i].is_other)
            gphi_text_say(text, "%s%s", text->length > 0 ? ", " : "", rows[i].words);
    }
    gphi_evidence(draft, "the same call would be allowed %s%s%s",
                  texts[1].length > 0 ? words[1] : "in none of the modes",
                  texts[0].length > 0 ? "; refused as well: " : "", words[0]);
}

static bool is_allocation(uint32_t call)
{
    return call == GPHI_CALL_cuMemAlloc || call == GPHI_CALL_cuMemAllocPitch ||
           call == GPHI_CALL_cuMemAllocManaged;
}

static void fix_same_thread(gphi_draft *draft, const gphi_capture_cell *cell,
                            const gphi_call *call)
{
    const char *name = gphi_say_call(call);
    if (cell->class == GPHI_CLASS_MEMORY)
        gphi_fix(draft,
                 "Here: give %s the stream that captures, or let its stream join the "
                 "capture first (cuEventRecord there, cuStreamWaitEvent here).",
                 name);
    else if (is_allocation(call->call))
        gphi_fix(draft,
                 "Here: allocate before the capture, or with cuMemAllocAsync on the "
                 "capturing stream, which becomes a node.");
    else if (call->call == GPHI_CALL_cuMemFree)
        gphi_fix(draft, "Here: free after the capture has ended.");
    else
        gphi_fix(draft,
                 "Here: make the call of %s before the capture begins, or after "
                 "it has ended.",
                 name);
    if (allowed_by(*cell, GPHI_MODE_RELAXED))
        gphi_fix(
            draft,
            "If it cannot disturb what is captured, "
            "cuThreadExchangeStreamCaptureMode(relaxed) around it allows it; "
            "thread-local mode does not, for it is the capturing thread's own call.");
}

static void fix_other_thread(gphi_draft *draft, const gphi_capture_cell *cell)
{
    if (allowed_in(*cell, GPHI_MODE_THREAD_LOCAL))
        gphi_fix(draft,
                 "Here: begin the capture with CU_STREAM_CAPTURE_MODE_THREAD_LOCAL; it "
                 "then leaves calls of other threads alone.");
    if (allowed_by(*cell, GPHI_MODE_THREAD_LOCAL))
        gphi_fix(draft,
                 "Or let the other thread exchange its own mode to thread-local or "
                 "relaxed around the call (cuThreadExchangeStreamCaptureMode).");
}

static void fix_refused(gphi_draft *draft, const gphi_capture_cell *cell,
                        const gphi_call *call)
{
    if (call->call == GPHI_CALL_cuStreamAddCallback)
        gphi_fix(draft, "Here: use cuLaunchHostFunc, which becomes a host node.");
    else if (call->call == GPHI_CALL_cuMemcpyPeerAsync ||
             call->call == GPHI_CALL_cuMemcpy3DPeerAsync)
        gphi_fix(draft, "Here: use cuMemcpyDtoDAsync or cuMemcpyAsync, which can be "
                        "captured.");
    else if (cell->class == GPHI_CLASS_DROPPED)
        gphi_fix(draft, "Here: one cuMemcpyAsync for each copy of the batch.");
    else
        gphi_fix(draft,
                 "Here: make the call of %s before the capture begins, or after it has "
                 "ended; no mode of the capture or of the thread allows it inside.",
                 gphi_say_call(call));
}

void gphi_tell_cell(gphi_draft *draft, const gphi_capture_cell *cell,
                    const gphi_call *call)
{
    const int32_t code = gphi_capture_verdict(cell);
    gphi_evidence(draft, "%s%s, from %s thread, during a %s capture of a %s stream%s: %d",
                  gphi_say_call(call), target_words(cell),
                  cell->is_same_thread ? "the capturing" : "another",
                  gphi_capture_mode_name(cell->mode),
                  cell->is_blocking ? "blocking" : "non-blocking",
                  cell->caller == GPHI_MODE_RELAXED        ? ", caller relaxed"
                  : cell->caller == GPHI_MODE_THREAD_LOCAL ? ", caller thread-local"
                                                           : "",
                  (int)code);
    tell_neighbours(draft, cell);
    const bool depends_on_mode = allowed_in(*cell, GPHI_MODE_RELAXED);
    if (code == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
        gphi_fix(draft, "Here: put this work on a stream of its own, or on the capturing "
                        "stream if it belongs in the graph; with a non-blocking "
                        "capturing stream it would run immediately, outside the graph.");
    else if (!depends_on_mode)
        fix_refused(draft, cell, call);
    else if (cell->is_same_thread)
        fix_same_thread(draft, cell, call);
    else
        fix_other_thread(draft, cell);
}
