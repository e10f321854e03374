// SPDX-License-Identifier: Apache-2.0
/* Rules capture.*: what is reported of captures that are wrongly begun, forked, joined and
 * ended, and of work that they refuse. */
#include "doctor/findings/stacks.h"
#include "doctor/rules/capture/rules_capture.h"

enum { MAX_MEMBERS = 8 };

/* ---- begin ---- */

void gphi_tell_begin_on_legacy(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    gphi_incident *incident =
        gphi_capture_tell(run, GPHI_RULE_BEGIN_ON_LEGACY, &seen->call, NULL);
    if (!incident)
        return;
    incident->captures++;
    state->refused_begin = incident;
    gphi_cause(incident->fresh,
               "%s was called by %s on the legacy default stream (stream %s), which "
               "cannot capture: no capture is open, so what follows runs immediately.",
               gphi_say_call(&seen->call), gphi_say_thread(run->model, seen->call.thread),
               gphi_event_word(seen->event, 0) ? "CU_STREAM_LEGACY" : "0");
    gphi_fix(incident->fresh,
             "Here: capture on a stream of cuStreamCreate(CU_STREAM_NON_BLOCKING), or on "
             "the per-thread default stream (CU_STREAM_PER_THREAD).");
}

/* Whether a captured call launches what an earlier one did, from outside the function
 * that begins the capture and that launched it before. */
static bool is_made_again(const gphi_rule_run *run, const gphi_capture *capture,
                          size_t index)
{
    const gphi_call *calls = capture->calls.items;
    const gphi_call *begin = &capture->begin;
    if (index == 0 || gphi_caller_is_active(run, begin->stack, calls[index].stack) ||
        !gphi_caller_is_active(run, begin->stack, calls[index - 1].stack))
        return false;
    for (size_t i = 0; i < index; i++)
        if (calls[i].call == calls[index].call)
            return true;
    return false;
}

/* Whether the call that broke the capture was made by code that its region does not
 * have: then the capture was left open, and the call is not to blame. */
static bool is_outside(const gphi_rule_run *run, const gphi_watch *watch,
                       const gphi_call *root)
{
    const gphi_capture *capture = watch->capture;
    const gphi_call *calls = capture->calls.items;
    const uint32_t begin = capture->begin.stack;
    if (root->thread != capture->begin.thread)
        return watch->last_own < root->number; /* its own thread had left it */
    if (begin == 0 || root->stack == 0)
        return false;
    uint32_t depth = 0;
    (void)gphi_stacks_frames(run->model->stacks, begin, &depth);
    uint32_t region = depth ? depth - 1 : 0;
    for (size_t i = 0; i < capture->calls.count && i < 64; i++) {
        const uint32_t common = gphi_common_places(run, begin, calls[i].stack);
        if (calls[i].number >= root->number || common >= region)
            continue;
        if (is_made_again(run, capture, i))
            break; /* the region was left, and its work is done in another way */
        region = common;
    }
    return gphi_common_places(run, begin, root->stack) < region;
}

/* Of what failed after the first failure: the first call that the captured region does not
 * have. It would have been all right, had the capture been ended. */
static const gphi_call *first_outside(const gphi_rule_run *run, const gphi_watch *watch)
{
    const gphi_incident *in = watch->incident;
    for (uint32_t i = 0; i < in->noticed && i < 16; i++)
        if (is_outside(run, watch, &in->later[i]))
            return &in->later[i];
    return NULL;
}

static gphi_draft *tell_left_open(gphi_rule_run *run, const gphi_watch *watch,
                                  const gphi_call *again, const char *after,
                                  bool is_first)
{
    const gphi_capture *capture = watch->capture;
    gphi_incident *in = watch->incident;
    gphi_call begin = capture->begin;
    if (in && !is_first)
        begin.time_ns = in->root.time_ns + 1; /* since then: is after its cause */
    gphi_draft *draft = gphi_capture_find(run, GPHI_RULE_NEVER_ENDED, &begin, 0);
    if (in && is_first) {
        gphi_withdraw(in->draft);
        in->draft = draft;
        gphi_consequence(draft, &in->root);
        for (uint32_t i = 0; i < in->noticed && i < 16; i++)
            gphi_consequence(draft, &in->later[i]);
    }
    gphi_cause(draft,
               "The capture that %s begins here on %s is not ended%s; %s %s recorded.",
               gphi_say_thread(run->model, capture->thread),
               gphi_say_stream(run->model, capture->origin), after,
               gphi_say_count(capture->calls.count, "node"),
               capture->calls.count == 1 ? "was" : "were");
    gphi_tell_capture(run->model, draft, capture);
    if (in && !is_first) {
        const gphi_call *other = again ? again : first_outside(run, watch);
        gphi_evidence_call(draft, &in->root, "its first failure, reported by itself");
        gphi_evidence_call(draft, other, "failed only because the capture is still open");
    }
    if (again)
        gphi_consequence(draft, again);
    return draft;
}

void gphi_tell_never_ended(gphi_rule_run *run, gphi_watch *watch, const gphi_call *again)
{
    gphi_incident *in = watch->incident;
    if (watch->is_told || (in && in->captures > 1))
        return;
    watch->is_told = true;
    const bool is_first = !in || is_outside(run, watch, &in->root);
    if (is_first) {
        gphi_draft *draft =
            tell_left_open(run, watch, again,
                           again ? " when the same stream is to begin another"
                                 : " when the program ends",
                           true);
        watch->left_open = in ? NULL : draft;
    } else if (again || first_outside(run, watch)) {
        tell_left_open(run, watch, again, " after its first failure", false);
    } else if (in->noticed > 0) { /* else the program gave up */
        gphi_evidence(in->draft, "the capture was not ended afterwards: until "
                                 "cuStreamEndCapture its stream stays refused");
        gphi_fix(in->draft,
                 "Call cuStreamEndCapture on the way out after an error, too.");
    }
}

static uint32_t depth_of(const gphi_rule_run *run, uint32_t stack)
{
    uint32_t depth = 0;
    (void)gphi_stacks_frames(run->model->stacks, stack, &depth);
    return depth;
}

/* A begin further in than that of the open capture: called by what is being captured, or
 * by a second try after the first was left. The end will say whose it is. */
static bool note_within(const gphi_rule_run *run, gphi_watch *watch,
                        const gphi_call *again)
{
    const gphi_call *begin = &watch->capture->begin;
    if (again->thread != begin->thread ||
        depth_of(run, again->stack) <= depth_of(run, begin->stack))
        return false;
    if (watch->withins++ == 0)
        watch->within = *again;
    return true;
}

/* Whether the function that was refused its begin made the end all the same. */
static bool is_own_end(const gphi_rule_run *run, const gphi_call *within,
                       const gphi_call *end)
{
    const uint32_t depth = end ? depth_of(run, end->stack) : 0;
    return depth > 0 && end->thread == within->thread && end->result == CUDA_SUCCESS &&
           depth == depth_of(run, within->stack) &&
           gphi_caller_is_active(run, within->stack, end->stack);
}

static void tell_inner_end(gphi_rule_run *run, gphi_watch *watch, const gphi_call *end)
{
    const gphi_capture *capture = watch->capture;
    gphi_incident *incident =
        gphi_capture_tell(run, GPHI_RULE_UNSAFE_CALL, &watch->within, watch);
    if (!incident)
        return;
    watch->is_told = true;
    incident->is_misused = true; /* its capture is not the one that failed */
    gphi_cause(incident->fresh,
               "%s was called on %s, which was capturing already, and was refused with "
               "%d; the error was not checked, and the cuStreamEndCapture that belongs "
               "to it ended the outer capture, whose later work ran immediately.",
               gphi_say_call(&watch->within),
               gphi_say_stream(run->model, capture->origin), (int)watch->within.result);
    gphi_evidence_call(incident->fresh, end, "the outer capture was ended by");
    gphi_evidence_call(incident->fresh, &capture->begin, "it had begun");
    gphi_fix(incident->fresh,
             "Here: ask cuStreamIsCapturing first; where the stream captures already, "
             "make the calls without a capture of their own, so that the outer graph has "
             "them.");
}

void gphi_tell_within(gphi_rule_run *run, gphi_watch *watch, const gphi_call *end)
{
    const gphi_capture *capture = watch->capture;
    const gphi_call *within = &watch->within;
    if (watch->withins == 0 || watch->incident)
        return;
    if (is_own_end(run, within, end) && !is_outside(run, watch, within)) {
        tell_inner_end(run, watch, end);
        return;
    }
    if (!end || depth_of(run, end->stack) >= depth_of(run, within->stack)) {
        gphi_tell_never_ended(run, watch, within);
        return;
    }
    watch->is_told = true;
    gphi_draft *draft = gphi_capture_find(run, GPHI_RULE_UNSAFE_CALL, within, 0);
    gphi_cause(draft,
               "%s was called on %s, which was capturing already, and was refused with "
               "%d, %s: the outer capture went on without it.",
               gphi_say_call(within), gphi_say_stream(run->model, capture->origin),
               (int)within->result, gphi_say_count(watch->withins, "time"));
    gphi_evidence_call(draft, &capture->begin, "the outer capture began");
    gphi_evidence_call(draft, end, "and ended");
    gphi_fix(draft, "Here: ask cuStreamIsCapturing first; where the stream captures "
                    "already, make the calls without a capture of their own, so that the "
                    "outer graph has them.");
}

/* ---- end ---- */

static bool is_loose(const gphi_capture_member *member)
{
    return !member->is_origin && !member->is_joined && member->node_count != 0;
}

/* A stream that never came back, or NULL. */
static const gphi_capture_member *first_loose(const gphi_watch *watch)
{
    const gphi_vec *members = watch ? &watch->capture->members : NULL;
    for (size_t i = 0; members && i < members->count; i++) {
        const gphi_capture_member *member = gphi_vec_at(members, i);
        if (is_loose(member))
            return member;
    }
    return NULL;
}

/* The end that is refused is where it shows. Reported is the work that nothing waits for, or,
 * where another thread has it, the wait that drew its stream in. */
static gphi_draft *unjoined_cause(gphi_rule_run *run, const gphi_seen *seen,
                                  gphi_watch *watch, const gphi_capture_member *first)
{
    if (!first || watch->incident)
        return gphi_first_cause(run, GPHI_RULE_UNJOINED_FORK, seen, watch);
    const bool is_drawn = first->joined.thread != watch->capture->thread;
    const gphi_call *root = is_drawn ? &first->joined : &first->last_work;
    gphi_incident *incident =
        gphi_capture_tell(run, GPHI_RULE_UNJOINED_FORK, root, watch);
    if (!incident)
        return NULL;
    gphi_watch_settle(watch);
    gphi_evidence_call(incident->fresh, &seen->call,
                       "the end of the capture was refused");
    gphi_incident_noticed(incident, &seen->call);
    return incident->fresh;
}

/* Streams that were drawn in and never came back: each with the wait that drew it in. */
static void tell_unjoined(gphi_rule_run *run, const gphi_seen *seen, gphi_watch *watch)
{
    const gphi_capture_member *first = first_loose(watch);
    gphi_draft *draft = unjoined_cause(run, seen, watch, first);
    const gphi_capture *capture = watch ? watch->capture : NULL;
    if (!draft || !capture)
        return;
    uint32_t loose = 0;
    for (size_t i = 0; i < capture->members.count; i++) {
        const gphi_capture_member *member = gphi_vec_at(&capture->members, i);
        if (!is_loose(member) || loose++ >= MAX_MEMBERS)
            continue;
        gphi_evidence_call(draft, &member->joined, "%s was drawn into the capture",
                           gphi_say_stream(run->model, member->stream));
        gphi_evidence_call(draft, &member->last_work, "its last work of %llu",
                           (unsigned long long)member->node_count);
    }
    if (first)
        gphi_cause(draft,
                   "%s captured %s after it had waited for an event of the capture, and "
                   "%s waits for nothing that comes after the last of them%s.",
                   gphi_say_stream(run->model, first->stream),
                   gphi_say_count(first->node_count, "node"),
                   gphi_say_stream(run->model, capture->origin),
                   loose > 1 ? "; other streams, below, alike" : "");
    else
        gphi_cause(draft, "A stream that the capture had drawn in was not joined to %s.",
                   gphi_say_stream(run->model, capture->origin));
    gphi_evidence_call(draft, &capture->begin, "the capture began (%s mode)",
                       gphi_capture_mode_name(capture->mode));
    if (first)
        gphi_fix(draft,
                 "Here: cuEventRecord(event, %s) after that work, then "
                 "cuStreamWaitEvent(%s, event) before cuStreamEndCapture.",
                 gphi_say_stream(run->model, first->stream),
                 gphi_say_stream(run->model, capture->origin));
    if (first && first->joined.thread != capture->thread)
        gphi_fix(draft,
                 "If that work of %s does not belong in the graph, it must not wait for "
                 "an event that a capture records: the wait draws its stream in.",
                 gphi_say_thread(run->model, first->joined.thread));
}

static void tell_unmatched(gphi_rule_run *run, const gphi_seen *seen, gphi_watch *watch)
{
    gphi_draft *draft = gphi_first_cause(run, GPHI_RULE_UNMATCHED_END, seen, watch);
    if (!draft || !watch)
        return;
    gphi_cause(draft,
               "cuStreamEndCapture was called on %s, which only joined the capture: it "
               "began on %s, and has been invalid since.",
               gphi_say_stream(run->model, seen->stream),
               gphi_say_stream(run->model, watch->capture->origin));
    gphi_tell_capture(run->model, draft, watch->capture);
    gphi_fix(draft, "Here: cuStreamEndCapture(%s).",
             gphi_say_stream(run->model, watch->capture->origin));
}

static void tell_wrong_thread(gphi_rule_run *run, const gphi_seen *seen,
                              gphi_watch *watch)
{
    gphi_draft *draft = gphi_first_cause(run, GPHI_RULE_WRONG_THREAD_END, seen, watch);
    if (!draft || !watch)
        return;
    const gphi_capture *capture = watch->capture;
    gphi_cause(draft,
               "%s ended a %s capture that %s had begun. The capture is over all the "
               "same, without a graph: its own thread will get 401.",
               gphi_say_thread(run->model, seen->call.thread),
               gphi_capture_mode_name(capture->mode),
               gphi_say_thread(run->model, capture->thread));
    gphi_tell_capture(run->model, draft, capture);
    gphi_fix(draft,
             "Here: end it in %s, or begin it with "
             "CU_STREAM_CAPTURE_MODE_RELAXED.",
             gphi_say_thread(run->model, capture->thread));
}

void gphi_tell_end(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_watch *watch = gphi_watch_of(run->state, seen->capture);
    if (seen->call.result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
        tell_unjoined(run, seen, watch);
    else if (seen->call.result == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED)
        tell_unmatched(run, seen, watch);
    else
        tell_wrong_thread(run, seen, watch);
}

/* An end on a stream that does not capture. */
static void tell_stray_end(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    const gphi_watch *open = NULL;
    for (size_t i = state->watches.count; i-- > 0;) {
        const gphi_watch *watch = gphi_watch_at(state, i);
        if (watch->is_over && watch->incident && watch->capture->origin == seen->stream) {
            gphi_incident_noticed(watch->incident, &seen->call);
            return;
        }
        if (!watch->is_over && (!open || watch->capture->thread == seen->call.thread))
            open = watch;
    }
    gphi_incident *incident =
        gphi_capture_tell(run, GPHI_RULE_UNMATCHED_END, &seen->call, NULL);
    if (!incident)
        return;
    gphi_cause(incident->fresh,
               "cuStreamEndCapture was called by %s on %s, which is not capturing.",
               gphi_say_thread(run->model, seen->call.thread),
               gphi_say_stream(run->model, seen->stream));
    if (!open) {
        gphi_evidence(incident->fresh, "no capture is open in the process");
        return;
    }
    gphi_tell_capture(run->model, incident->fresh, open->capture);
    gphi_fix(incident->fresh,
             "Here: cuStreamEndCapture(%s), which is where the open "
             "capture began.",
             gphi_say_stream(run->model, open->capture->origin));
}

void gphi_tell_control(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    gphi_watch *watch = gphi_watch_of(state, seen->capture);
    const bool is_end = seen->call.call == GPHI_CALL_cuStreamEndCapture;
    if (seen->call.result != CUDA_ERROR_ILLEGAL_STATE) {
        if (watch)
            gphi_watch_noticed(watch, &seen->call);
        return;
    }
    gphi_incident *begin = state->refused_begin;
    for (size_t i = state->incidents.count; is_end && !begin && i-- > 0;) {
        gphi_incident *in = gphi_vec_pointer(&state->incidents, i);
        if (in->rule == GPHI_RULE_BEGIN_ON_LEGACY && in->root.thread == seen->call.thread)
            begin = in;
    }
    const bool is_legacy = seen->stream && seen->stream->is_legacy;
    if (is_end && !watch && begin && is_legacy) {
        begin->is_misused = true;
        gphi_incident_noticed(begin, &seen->call);
    } else if (is_end && !watch)
        tell_stray_end(run, seen);
    else if (!is_end && watch && watch->incident)
        gphi_watch_noticed(watch, &seen->call);
    else if (!is_end && watch && !note_within(run, watch, &seen->call))
        gphi_tell_never_ended(run, watch, &seen->call);
}

/* ---- events ---- */

static const gphi_cuda_event *waited_event(const gphi_rule_run *run,
                                           const gphi_seen *seen)
{
    const uint64_t handle = gphi_event_word(seen->event, 1);
    return handle ? gphi_model_event(run->model, handle) : NULL;
}

/* Both captures are invalid; it is one incident. */
static void tell_merge(gphi_rule_run *run, const gphi_seen *seen, gphi_watch *watch,
                       const gphi_cuda_event *event)
{
    gphi_watch *other = event ? gphi_watch_of(run->state, event->recorded_in) : NULL;
    gphi_draft *draft = gphi_first_cause(run, GPHI_RULE_MERGE, seen, watch);
    if (!draft)
        return;
    gphi_cause(draft,
               "%s is in one capture, and was made to wait for an event of another: both "
               "captures have been invalid since.",
               gphi_say_stream(run->model, seen->stream));
    if (watch)
        gphi_evidence_call(draft, &watch->capture->begin,
                           "the capture of the stream that waits began");
    if (other && other != watch) {
        gphi_evidence_call(draft, &other->capture->begin,
                           "the capture that recorded the event began");
        if (!other->incident && watch) {
            other->incident = watch->incident;
            watch->incident->captures++;
            gphi_watch_settle(other);
        }
    }
    if (event)
        gphi_evidence_call(draft, &event->recorded, "the event was recorded");
}

static void tell_isolation(gphi_rule_run *run, const gphi_seen *seen, gphi_watch *watch,
                           const gphi_cuda_event *event)
{
    gphi_draft *draft = gphi_first_cause(run, GPHI_RULE_ISOLATION, seen, watch);
    if (!draft)
        return;
    const gphi_stream *on = event ? event->recorded_on : NULL;
    gphi_cause(draft,
               "%s, which captures, was to wait for an event that %s%s: that work is not "
               "part of the capture.",
               gphi_say_stream(run->model, seen->stream),
               on ? "was recorded on " : "no capture recorded",
               on ? gphi_say_stream(run->model, on) : "");
    if (event) {
        const bool is_before =
            watch && event->recorded.number < watch->capture->begin.number;
        gphi_evidence_call(draft, &event->recorded, "the event was recorded %s",
                           is_before ? "before the capture began"
                                     : "on a stream that had not joined the capture");
    }
    if (watch)
        gphi_tell_capture(run->model, draft, watch->capture);
    if (on)
        gphi_fix(draft,
                 "Here: if the work of %s belongs in the graph, let that stream first "
                 "wait for an event of the capture; if not, wait before the capture, or "
                 "with CU_EVENT_WAIT_EXTERNAL.",
                 gphi_say_stream(run->model, on));
}

void gphi_tell_foreign_event(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_cuda_event *event = waited_event(run, seen);
    gphi_watch *watch = gphi_watch_of(run->state, seen->capture);
    if (!watch && event)
        watch = gphi_watch_of(run->state, event->recorded_in);
    if (seen->call.result == CUDA_ERROR_STREAM_CAPTURE_MERGE)
        tell_merge(run, seen, watch, event);
    else
        tell_isolation(run, seen, watch, event);
}

/* ---- work ---- */

static void tell_launch(gphi_draft *draft, const gphi_seen *seen)
{
    if (seen->call.call != GPHI_CALL_cuLaunchKernel &&
        seen->call.call != GPHI_CALL_cuLaunchCooperativeKernel)
        return;
    const uint64_t *words = gphi_event_words(seen->event);
    if (seen->event->word_count < 8)
        return;
    gphi_evidence(draft,
                  "launched with %llu x %llu x %llu blocks of %llu x %llu x %llu threads "
                  "(%llu a block) and %llu bytes of dynamic shared memory",
                  (unsigned long long)words[1], (unsigned long long)words[2],
                  (unsigned long long)words[3], (unsigned long long)words[4],
                  (unsigned long long)words[5], (unsigned long long)words[6],
                  (unsigned long long)(words[4] * words[5] * words[6]),
                  (unsigned long long)words[7]);
}

/* The context of the function or memory that the work is about, where it is known and not
 * the stream's. */
static uint64_t foreign_context(const gphi_rule_run *run, const gphi_seen *seen,
                                const gphi_watch *watch)
{
    const gphi_capture_state *state = run->state;
    uint64_t about[9] = {gphi_work_signature(seen)};
    bool unknown = false;
    const uint32_t count =
        1 + gphi_call_touches(run->model, seen, about + 1, 8, &unknown);
    for (uint32_t i = 0; i < count && watch->context; i++) {
        const uint64_t *owner = about[i] ? gphi_map_get(&state->owners, about[i]) : NULL;
        if (owner && *owner && *owner != watch->context)
            return *owner;
    }
    return 0;
}

void gphi_tell_invalid_work(gphi_rule_run *run, const gphi_seen *seen, gphi_watch *watch)
{
    const uint64_t foreign = foreign_context(run, seen, watch);
    gphi_draft *draft = gphi_first_cause(
        run, foreign ? GPHI_RULE_WRONG_DEVICE : GPHI_RULE_INVALID_WORK, seen, watch);
    if (!draft)
        return;
    if (foreign)
        gphi_cause(draft,
                   "%s returned %d: what it was given belongs to %s, the capturing "
                   "stream to %s. The capture has been invalid since.",
                   gphi_say_call(&seen->call), (int)seen->call.result,
                   gphi_say_context(run->model, foreign),
                   gphi_say_context(run->model, watch->context));
    else
        gphi_cause(
            draft,
            "%s returned %d and made the capture invalid: no work of that form can "
            "be run, captured or not.",
            gphi_say_call(&seen->call), (int)seen->call.result);
    tell_launch(draft, seen);
    gphi_tell_capture(run->model, draft, watch->capture);
}

/* The stream goes on capturing without that work: the first such call of a capture stands
 * for all that it lacks. */
void gphi_tell_dropped(gphi_rule_run *run, const gphi_seen *seen, gphi_watch *watch)
{
    if (seen->call.call == GPHI_CALL_cuMemFreeAsync)
        return; /* memory.foreign-free */
    if (watch->incident) {
        gphi_watch_noticed(watch, &seen->call);
        return;
    }
    const uint64_t foreign = foreign_context(run, seen, watch);
    gphi_incident *incident = gphi_capture_tell(
        run, foreign ? GPHI_RULE_WRONG_DEVICE : GPHI_RULE_SILENT_DROP, &seen->call, NULL);
    if (!incident)
        return;
    if (!watch->dropped) {
        watch->dropped = incident;
        watch->dropped_work = gphi_work_signature(seen);
        incident->captures++;
    }
    gphi_cause(incident->fresh,
               "%s returned %d, and the capture stays valid: the graph is made without "
               "this work, and nothing later will say so.",
               gphi_say_call(&seen->call), (int)seen->call.result);
    if (foreign)
        gphi_evidence(incident->fresh,
                      "what it was given belongs to %s, the capturing stream to %s",
                      gphi_say_context(run->model, foreign),
                      gphi_say_context(run->model, watch->context));
    tell_launch(incident->fresh, seen);
    gphi_tell_capture(run->model, incident->fresh, watch->capture);
    if (gphi_capture_class(seen->call.call) == GPHI_CLASS_DROPPED)
        gphi_fix(incident->fresh, "Here: one cuMemcpyAsync for each copy of the batch.");
}

/* ---- the use of what is not there ---- */

void gphi_tell_misuse(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    uint32_t arg = 0;
    bool is_use = true;
    switch (seen->call.call) {
    case GPHI_CALL_cuGraphInstantiateWithFlags:
    case GPHI_CALL_cuGraphInstantiateWithParams:
    case GPHI_CALL_cuGraphExecUpdate:
    case GPHI_CALL_cuGraphAddChildGraphNode: arg = 1; break;
    case GPHI_CALL_cuGraphLaunch:
    case GPHI_CALL_cuGraphUpload:
    case GPHI_CALL_cuGraphGetNodes: break;
    case GPHI_CALL_cuGraphDestroy:
    case GPHI_CALL_cuGraphExecDestroy: is_use = false; break;
    default: return;
    }
    if (gphi_event_word(seen->event, arg) != 0)
        return;
    for (size_t i = state->watches.count; i-- > 0;) {
        const gphi_watch *watch = gphi_watch_at(state, i);
        if (!watch->is_over || !watch->incident)
            continue;
        watch->incident->is_misused |= is_use;
        gphi_incident_noticed(watch->incident, &seen->call);
        return;
    }
}
