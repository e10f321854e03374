// SPDX-License-Identifier: Apache-2.0
/* Rules capture.*: which rule a failing call breaks, and what is reported of it. A call is
 * judged once: by its result, then by the captures that it ran into. */
#include "doctor/findings/stacks.h"
#include "doctor/rules/capture/rules_capture.h"
#include "doctor/rules/memory/rules_memory.h"

#include <string.h>

static uint32_t caller_mode(const gphi_call *call)
{
    return ((uint32_t)call->flags >> GPHI_CALL_MODE_SHIFT) & 3U;
}

/* Events that the call waits for, asks or compares; 0: none. */
static uint64_t event_of(const gphi_seen *seen, uint32_t nth)
{
    switch (seen->call.call) {
    case GPHI_CALL_cuEventQuery:
    case GPHI_CALL_cuEventSynchronize:
        return nth == 0 ? gphi_event_word(seen->event, 0) : 0;
    case GPHI_CALL_cuStreamWaitEvent:
    case GPHI_CALL_cuCtxWaitEvent: return nth == 0 ? gphi_event_word(seen->event, 1) : 0;
    case GPHI_CALL_cuEventElapsedTime:
        return nth < 2 ? gphi_event_word(seen->event, 1 + nth) : 0;
    default: return 0;
    }
}

/* The event of the call that was recorded in a capture, or NULL. */
static const gphi_cuda_event *captured_event(const gphi_model *model,
                                             const gphi_seen *seen)
{
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t handle = event_of(seen, i);
        const gphi_cuda_event *event = handle ? gphi_model_event(model, handle) : NULL;
        if (event && event->recorded_in)
            return event;
    }
    return NULL;
}

static bool is_on_legacy(const gphi_seen *seen)
{
    if (seen->stream)
        return seen->stream->is_legacy;
    return gphi_capture_class(seen->call.call) == GPHI_CLASS_SYNC &&
           !(seen->call.flags & GPHI_CALL_PER_THREAD);
}

static gphi_capture_cell cell_of(const gphi_seen *seen, const gphi_capture *capture)
{
    gphi_capture_cell cell = {.class = gphi_capture_class(seen->call.call)};
    cell.is_same_thread = capture->thread == seen->call.thread;
    cell.is_blocking = gphi_capture_is_blocking(capture);
    cell.mode = capture->mode;
    cell.caller = caller_mode(&seen->call);
    cell.target = GPHI_TARGET_OTHER;
    if (is_on_legacy(seen))
        cell.target = GPHI_TARGET_LEGACY;
    else if (seen->capture)
        cell.target = GPHI_TARGET_CAPTURING;
    return cell;
}

/* ---- which capture ---- */

/* Whether the capture was open while the call was made: the call's record may come after
 * that of the end, if another thread ended it. */
static bool overlaps(const gphi_watch *watch, const gphi_call *call)
{
    const gphi_capture *capture = watch->capture;
    if (!watch->is_over)
        return true;
    return !watch->incident && watch->early.count &&
           capture->end.time_ns + capture->end.duration_ns >= call->time_ns;
}

/* The capture that the call ran into: the stream's own; else one that forbids it, of this
 * thread rather than of another; else any. */
static gphi_watch *hit_by(const gphi_capture_state *state, const gphi_seen *seen)
{
    gphi_watch *own = gphi_watch_of(state, seen->capture);
    gphi_watch *best = NULL;
    int best_rank = 0;
    for (size_t i = state->watches.count; !own && i-- > 0;) {
        gphi_watch *watch = gphi_watch_at(state, i);
        if (!overlaps(watch, &seen->call))
            continue;
        const gphi_capture_cell cell = cell_of(seen, watch->capture);
        const int rank = 1 + 2 * (gphi_capture_verdict(&cell) == seen->call.result) +
                         (watch->capture->thread == seen->call.thread);
        if (rank > best_rank) {
            best = watch;
            best_rank = rank;
        }
    }
    return own ? own : best;
}

/* All that it ran into. */
static void break_others(gphi_rule_run *run, const gphi_seen *seen,
                         const gphi_watch *first, gphi_incident *incident)
{
    gphi_capture_state *state = run->state;
    for (size_t i = 0; i < state->watches.count && !seen->capture; i++) {
        gphi_watch *watch = gphi_watch_at(state, i);
        const gphi_capture_cell cell = cell_of(seen, watch->capture);
        if (watch == first || watch->incident || !overlaps(watch, &seen->call) ||
            gphi_capture_verdict(&cell) != seen->call.result)
            continue;
        watch->incident = incident;
        incident->captures++;
        gphi_evidence_call(incident->fresh, &watch->capture->begin,
                           "it broke another capture as well, which began");
        gphi_watch_settle(watch);
    }
}

/* ---- what is reported ---- */

static gphi_incident *break_capture(gphi_rule_run *run, gphi_capture_rule rule,
                                    const gphi_seen *seen, gphi_watch *watch)
{
    gphi_incident *incident = gphi_capture_tell(run, rule, &seen->call, watch);
    if (incident && watch)
        gphi_watch_settle(watch);
    return incident;
}

static void tell_unsafe(gphi_rule_run *run, gphi_capture_rule rule, const gphi_seen *seen,
                        gphi_watch *watch)
{
    const gphi_capture *capture = watch->capture;
    gphi_incident *incident = break_capture(run, rule, seen, watch);
    if (!incident)
        return;
    incident->is_other_thread = capture->thread != seen->call.thread;
    break_others(run, seen, watch, incident);
    gphi_draft *draft = incident->fresh;
    const gphi_capture_cell cell = cell_of(seen, capture);
    gphi_cause(
        draft, "%s by %s returned %d during %s: that capture has been invalid since.",
        gphi_say_call(&seen->call), gphi_say_thread(run->model, seen->call.thread),
        (int)seen->call.result, gphi_say_capture(run->model, capture, seen->call.thread));
    gphi_tell_capture(run->model, draft, capture);
    gphi_tell_cell(draft, &cell, &seen->call);
}

static void say_cell_of(gphi_rule_run *run, gphi_capture_rule rule, const gphi_seen *seen,
                        gphi_watch *watch)
{
    tell_unsafe(run, rule, seen, watch);
    const gphi_capture_state *state = run->state;
    const uint64_t site = gphi_call_site(run, &seen->call);
    const uint64_t *before = site ? gphi_map_get(&state->sites, site) : NULL;
    gphi_draft *draft = watch->incident ? watch->incident->fresh : NULL;
    if (rule == GPHI_RULE_MISSING_WARM_UP) {
        if (watch->loads)
            gphi_evidence_call(draft, &watch->load,
                               "first use: %s was called inside the capture as well",
                               gphi_say_call(&watch->load));
        if (gphi_call_by_library(state, &seen->call))
            gphi_evidence(draft, "first use: the call is a library's, and this place in "
                                 "it had never run before the capture");
        if (gphi_call_by_once(state, &seen->call))
            gphi_evidence(draft,
                          "first use: the C library made the call for the program, "
                          "as pthread_once does");
    } else if (rule == GPHI_RULE_UNSAFE_CALL && before)
        gphi_evidence(draft,
                      "the same place made the call %s before without a capture: a "
                      "warm-up does not help",
                      gphi_say_count(*before, "time"));
    else if (rule == GPHI_RULE_UNSAFE_CALL && site)
        gphi_fix(draft, "If the call is made only the first time (this place had not run "
                        "before), run the region once before the capture.");
}

/* ---- unsafe calls, refined ---- */

/* It ends the life of something that is older than the capture. */
static bool is_destructor(const gphi_model *model, const gphi_seen *seen,
                          const gphi_capture *capture)
{
    const uint64_t handle = gphi_event_word(seen->event, 0);
    switch (seen->call.call) {
    case GPHI_CALL_cuGraphExecDestroy:
    case GPHI_CALL_cuModuleUnload:
    case GPHI_CALL_cuLibraryUnload:
    case GPHI_CALL_cuArrayDestroy:
    case GPHI_CALL_cuMipmappedArrayDestroy:
    case GPHI_CALL_cuTexObjectDestroy:
    case GPHI_CALL_cuSurfObjectDestroy:
    case GPHI_CALL_cuMemPoolDestroy: return true;
    case GPHI_CALL_cuMemFree:
    case GPHI_CALL_cuMemFreeHost:
    case GPHI_CALL_cuMemHostUnregister: {
        const gphi_allocation *memory = gphi_model_memory(model, handle, false);
        return handle != 0 && (!memory || memory->allocated.number == 0 ||
                               memory->allocated.number < capture->begin.number);
    }
    default: return false;
    }
}

/* What allocates again frees what it had: a buffer grows. The end of no object's life. */
static bool is_growth(const gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_allocation *memory =
        gphi_model_memory(run->model, gphi_event_word(seen->event, 0), false);
    uint32_t count = 0, made = 0;
    const gph_place *here =
        gphi_stacks_frames(run->model->stacks, seen->call.stack, &count);
    const gph_place *there =
        memory ? gphi_stacks_frames(run->model->stacks, memory->allocated.stack, &made)
               : NULL;
    return count > 0 && made > 0 && here->function && there->function && here->file &&
           there->file && strcmp(here->function, there->function) == 0 &&
           strcmp(here->file, there->file) == 0 && strcmp(here->function, "main") != 0;
}

/* A set-up that runs only once: in the same capture the thread loaded code, or the call
 * is a library's and its place had never run before. */
static bool is_first_use(const gphi_rule_run *run, const gphi_seen *seen,
                         const gphi_watch *watch)
{
    const gphi_capture_state *state = run->state;
    const uint64_t site = gphi_call_site(run, &seen->call);
    if (site && gphi_map_get(&state->sites, site))
        return false;
    return watch->loads > 0 || gphi_call_by_library(state, &seen->call) ||
           gphi_call_by_once(state, &seen->call);
}

/* NCCL's or its process group's thread asks whether work is done. */
static bool is_watchdog(const gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_call_class class = gphi_capture_class(seen->call.call);
    return (class == GPHI_CLASS_EVENT || class == GPHI_CLASS_WAIT) &&
           (gphi_is_nccl_thread(run->model, seen->call.thread) ||
            gphi_call_by_nccl(run->state, &seen->call));
}

static gphi_capture_rule unsafe_rule(const gphi_rule_run *run, const gphi_seen *seen,
                                     const gphi_watch *watch)
{
    const gphi_capture *capture = watch->capture;
    const gphi_call_class class = gphi_capture_class(seen->call.call);
    if (seen->call.call == GPHI_CALL_cuGraphLaunch && seen->capture)
        return GPHI_RULE_GRAPH_LAUNCH;
    if (seen->call.call == GPHI_CALL_cuCtxSynchronize ||
        (seen->capture && (class == GPHI_CLASS_WAIT || class == GPHI_CLASS_SYNC)))
        return GPHI_RULE_SYNCHRONIZE;
    if (gphi_call_is_instantiation(seen->call.call))
        return GPHI_RULE_DURING_CAPTURE;
    if (capture->thread != seen->call.thread && seen->capture != capture)
        return is_watchdog(run, seen) ? GPHI_RULE_WATCHDOG : GPHI_RULE_OTHER_THREAD;
    if (is_destructor(run->model, seen, capture) && !is_growth(run, seen))
        return GPHI_RULE_DESTRUCTOR;
    return is_first_use(run, seen, watch) ? GPHI_RULE_MISSING_WARM_UP
                                          : GPHI_RULE_UNSAFE_CALL;
}

static uint64_t call_key(const gphi_call *call)
{
    return (uint64_t)call->stack << 16 | call->call;
}

/* The capture was left and begun again: what it refuses since then follows from that. */
static bool follows_open(const gphi_watch *watch, const gphi_call *call)
{
    if (!watch->left_open)
        return false;
    gphi_consequence(watch->left_open, call);
    return true;
}

static void judge_unsupported(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    if (gphi_call_is_begin(seen->call.call)) {
        gphi_tell_begin_on_legacy(run, seen);
        return;
    }
    gphi_watch *watch = hit_by(state, seen);
    if (!watch)
        return;
    if (gphi_capture_class(seen->call.call) == GPHI_CLASS_DROPPED && seen->capture) {
        gphi_tell_dropped(run, seen, watch);
        return;
    }
    gphi_incident *known = watch->incident;
    if (!known && follows_open(watch, &seen->call))
        return;
    if (!known) {
        say_cell_of(run, unsafe_rule(run, seen, watch), seen, watch);
        return;
    }
    /* The capture is invalid already. This call would have broken it, too. */
    const uint64_t key = call_key(&seen->call);
    bool is_new = known->also < GPHI_ALSO_MAX && key != call_key(&known->root);
    for (uint32_t i = 0; i < known->also && is_new; i++)
        is_new = known->also_keys[i] != key;
    if (is_new) {
        known->also_keys[known->also++] = key;
        gphi_evidence_call(known->draft, &seen->call,
                           "forbidden in this capture as well, once the first is gone");
    }
    gphi_incident_noticed(known, &seen->call);
}

/* ---- other codes ---- */

static void judge_invalidated(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_watch *watch = gphi_watch_of(run->state, seen->capture);
    if (!watch)
        watch = hit_by(run->state, seen);
    if (watch && (watch->incident || !follows_open(watch, &seen->call)))
        gphi_watch_noticed(watch, &seen->call);
}

static void judge_legacy(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    gphi_watch *watch = NULL;
    for (size_t i = state->watches.count; i-- > 0 && !watch;) {
        gphi_watch *at = gphi_watch_at(state, i);
        if (overlaps(at, &seen->call) && gphi_capture_is_blocking(at->capture))
            watch = at;
    }
    if (!watch)
        watch = hit_by(state, seen);
    if (!watch || gphi_capture_class(seen->call.call) == GPHI_CLASS_ASK)
        return;
    if (watch->incident)
        gphi_watch_noticed(watch, &seen->call);
    else if (!follows_open(watch, &seen->call))
        tell_unsafe(run, GPHI_RULE_LEGACY_STREAM, seen, watch);
}

/* A code that is none of captures. */
static void judge_other(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_cuda_event *event = captured_event(run->model, seen);
    if (seen->call.result == CUDA_ERROR_INVALID_VALUE && event &&
        (!event->recorded_in->is_open || event->recorded_in->invalidated.number)) {
        gphi_watch *broken = gphi_watch_of(run->state, event->recorded_in);
        if (broken && broken->incident && !broken->is_over)
            gphi_watch_noticed(broken, &seen->call); /* invalid, and not ended */
        else
            gphi_tell_event_after(run, seen, event);
        return;
    }
    gphi_watch *watch = gphi_watch_of(run->state, seen->capture);
    if (!watch || watch->is_over) {
        gphi_tell_misuse(run, seen);
        return;
    }
    if (watch->incident)
        gphi_watch_noticed(watch, &seen->call);
    else if (seen->call.status == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
        gphi_tell_invalid_work(run, seen, watch);
    else if (seen->call.status == CU_STREAM_CAPTURE_STATUS_ACTIVE &&
             gphi_call_is_work(seen->call.call))
        gphi_tell_dropped(run, seen, watch);
}

void gphi_capture_judge(gphi_rule_run *run, const gphi_seen *seen)
{
    const bool is_control =
        gphi_capture_class(seen->call.call) == GPHI_CLASS_CONTROL &&
        seen->call.call != GPHI_CALL_cuStreamUpdateCaptureDependencies;
    switch (seen->call.result) {
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: judge_unsupported(run, seen); break;
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED: judge_invalidated(run, seen); break;
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: judge_legacy(run, seen); break;
    case CUDA_ERROR_STREAM_CAPTURE_MERGE:
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION: gphi_tell_foreign_event(run, seen); break;
    case CUDA_ERROR_CAPTURED_EVENT:
        gphi_tell_captured_event(run, seen, captured_event(run->model, seen));
        break;
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
    case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED:
    case CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD: gphi_tell_end(run, seen); break;
    default:
        if (is_control)
            gphi_tell_control(run, seen);
        else
            judge_other(run, seen);
    }
    if (gphi_call_is_instantiation(seen->call.call))
        gphi_tell_misuse(run, seen);
}
