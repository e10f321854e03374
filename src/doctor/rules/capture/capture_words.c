// SPDX-License-Identifier: Apache-2.0
/* Rules capture.*: what findings say of captures, and of the cell of the matrix. */
#include "doctor/rules/capture/rules_capture.h"

#include <stdio.h>
#include <string.h>

enum { RING = 4, WORDS = 256 };

static char *next_words(void)
{
    static _Thread_local char ring[RING][WORDS];
    static _Thread_local unsigned at;
    return ring[at++ % RING];
}

const char *gphi_say_thread(const gphi_model *model, uint32_t thread)
{
    const gphi_thread *known = gphi_model_thread(model, thread);
    char *out = next_words();
    if (known && known->name[0] != '\0')
        (void)snprintf(out, WORDS, "thread %u \"%.15s\"", thread, known->name);
    else
        (void)snprintf(out, WORDS, "thread %u", thread);
    return out;
}

bool gphi_capture_is_blocking(const gphi_capture *capture)
{
    const gphi_capture_member *members = capture->members.items;
    for (size_t i = 0; i < capture->members.count; i++)
        if (members[i].stream && members[i].stream->is_blocking)
            return true;
    return capture->origin && capture->origin->is_blocking;
}

const char *gphi_say_capture(const gphi_model *model, const gphi_capture *capture,
                             uint32_t caller)
{
    char *out = next_words();
    const bool is_own = capture->thread == caller;
    (void)snprintf(out, WORDS, "%s %s capture of a %s stream%s%s",
                   is_own ? "its own" : "the", gphi_capture_mode_name(capture->mode),
                   gphi_capture_is_blocking(capture) ? "blocking" : "non-blocking",
                   is_own ? "" : " by ",
                   is_own ? "" : gphi_say_thread(model, capture->thread));
    return out;
}

void gphi_tell_capture(const gphi_model *model, gphi_draft *draft,
                       const gphi_capture *capture)
{
    const gphi_call *calls = capture->calls.items;
    gphi_evidence_call(draft, &capture->begin, "the capture began (%s mode, %s stream)",
                       gphi_capture_mode_name(capture->mode),
                       gphi_capture_is_blocking(capture) ? "blocking" : "non-blocking");
    gphi_evidence(draft, "captured: %s, until then %zu node%s",
                  gphi_say_stream(model, capture->origin), capture->calls.count,
                  capture->calls.count == 1 ? "" : "s");
    if (capture->calls.count)
        gphi_evidence_call(draft, &calls[capture->calls.count - 1],
                           "the last that was captured");
}

/* ---- the cell ---- */

static bool allowed(gphi_capture_cell cell)
{
    return gphi_capture_verdict(&cell) == CUDA_SUCCESS;
}

static gphi_capture_cell with_mode(gphi_capture_cell cell, uint32_t mode)
{
    cell.mode = mode;
    return cell;
}

static gphi_capture_cell with_caller(gphi_capture_cell cell, uint32_t mode)
{
    cell.caller = mode;
    return cell;
}

static gphi_capture_cell with_blocking(gphi_capture_cell cell, bool is_blocking)
{
    cell.is_blocking = is_blocking;
    return cell;
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

static void add(char *text, const char *word)
{
    const size_t have = strlen(text);
    (void)snprintf(text + have, WORDS - have, "%s%s", have ? ", " : "", word);
}

static void tell_neighbours(gphi_draft *draft, const gphi_capture_cell *cell)
{
    char yes[WORDS] = "", no[WORDS] = "";
    if (cell->mode != GPHI_MODE_THREAD_LOCAL)
        add(allowed(with_mode(*cell, GPHI_MODE_THREAD_LOCAL)) ? yes : no,
            "in a thread-local capture");
    if (cell->mode != GPHI_MODE_RELAXED)
        add(allowed(with_mode(*cell, GPHI_MODE_RELAXED)) ? yes : no,
            "in a relaxed capture");
    if (cell->caller != GPHI_MODE_RELAXED)
        add(allowed(with_caller(*cell, GPHI_MODE_RELAXED)) ? yes : no,
            "by a thread that exchanged its own mode to relaxed");
    if (cell->is_blocking)
        add(allowed(with_blocking(*cell, false)) ? yes : no,
            "while a non-blocking stream captures");
    gphi_evidence(draft, "the same call would be allowed %s%s%s",
                  yes[0] ? yes : "in none of the modes",
                  no[0] ? "; refused as well: " : "", no);
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
    if (allowed(with_caller(*cell, GPHI_MODE_RELAXED)))
        gphi_fix(
            draft,
            "If it cannot disturb what is captured, "
            "cuThreadExchangeStreamCaptureMode(relaxed) around it allows it; "
            "thread-local mode does not, for it is the capturing thread's own call.");
}

static void fix_other_thread(gphi_draft *draft, const gphi_capture_cell *cell)
{
    if (allowed(with_mode(*cell, GPHI_MODE_THREAD_LOCAL)))
        gphi_fix(draft,
                 "Here: begin the capture with CU_STREAM_CAPTURE_MODE_THREAD_LOCAL; it "
                 "then leaves calls of other threads alone.");
    if (allowed(with_caller(*cell, GPHI_MODE_THREAD_LOCAL)))
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
    const bool depends_on_mode = allowed(with_mode(*cell, GPHI_MODE_RELAXED));
    if (code == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
        gphi_fix(draft, "Here: put this work on a stream of its own, or on the capturing "
                        "stream if it belongs into the graph; a non-blocking capturing "
                        "stream would let it run at once, outside of the graph.");
    else if (!depends_on_mode)
        fix_refused(draft, cell, call);
    else if (cell->is_same_thread)
        fix_same_thread(draft, cell, call);
    else
        fix_other_thread(draft, cell);
}
