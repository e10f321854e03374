// SPDX-License-Identifier: Apache-2.0
/* Rules capture.*: a capture is broken, or records something else than was meant. Here:
 * the table, the watch of each open capture, and what becomes of first causes. Which rule
 * a failing call breaks: capture_judge.c. */
#include "doctor/rules/capture/rules_capture.h"

#include "base/heap.h"
#include "doctor/rules/rules.h"
#include <string.h>

enum {
    KEEP_TRIED = 64, /* signatures a capture */
    KEEP_FAILED = 64 /* captures that failed and may yet be run eagerly */
};

/* ---- watches ---- */

static void watch_drop(gphi_capture_state *state, size_t index)
{
    gphi_watch *watch = gphi_watch_at(state, index);
    const gph_allocator heap = state->watches.heap;
    gphi_vec_fini(&watch->early);
    gphi_vec_fini(&watch->tried);
    gphi_vec_fini(&watch->escaped);
    gphi_map_fini(&watch->touched);
    gphi_heap_free(heap, watch, sizeof(*watch));
    gphi_vec_remove(&state->watches, index);
}

/* Of those that are over the oldest is forgotten when there are many: nobody runs its
 * work again any more. */
static void watch_bound(gphi_capture_state *state)
{
    size_t over = 0, oldest = SIZE_MAX;
    for (size_t i = state->watches.count; i-- > 0;)
        if (gphi_watch_at(state, i)->is_over) {
            over++;
            oldest = i;
        }
    if (over > KEEP_FAILED)
        watch_drop(state, oldest);
}

static void watch_begin(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    gphi_capture *capture = seen->stream ? seen->stream->capture : NULL;
    const gph_allocator heap = run->model->heap;
    if (!capture || gphi_watch_of(state, capture))
        return;
    gphi_watch *watch = gphi_heap_alloc(heap, sizeof(*watch));
    if (!watch || gphi_vec_push(&state->watches, &watch) != GPH_OK) {
        gphi_heap_free(heap, watch, sizeof(*watch));
        gphi_short(run);
        return;
    }
    watch->capture = capture;
    watch->begun = capture->begin.number;
    watch->work_before = run->model->work_count;
    gphi_vec_init(&watch->early, heap, sizeof(gphi_call));
    gphi_vec_init(&watch->tried, heap, sizeof(gphi_tried));
    gphi_vec_init(&watch->escaped, heap, sizeof(gphi_escaped));
    gphi_map_init(&watch->touched, heap);
    watch->context = capture->origin ? capture->origin->context : 0;
    if (watch->context == 0)
        watch->context = gphi_capture_context(state, seen->call.thread);
    state->open++;
    watch_bound(state);
}

/* ---- eager instead ---- */

static void note_tried(gphi_capture_state *state, gphi_watch *watch,
                       const gphi_seen *seen)
{
    const uint64_t signature = gphi_work_signature(seen);
    const gphi_tried *tried = watch->tried.items;
    if (signature == 0 || watch->tried.count >= KEEP_TRIED)
        return;
    for (size_t i = 0; i < watch->tried.count; i++)
        if (tried[i].signature == signature)
            return;
    const gphi_tried new = {.signature = signature};
    if (gphi_vec_push(&watch->tried, &new) != GPH_OK)
        state->is_short = true;
}

/* The work is run; true if most of what was tried is now. Some of it may be done in
 * another way eagerly, and one kernel may well be used elsewhere. */
static bool most_is_run(gphi_watch *watch, uint64_t signature)
{
    gphi_tried *tried = watch->tried.items;
    size_t run = 0;
    bool is_new = false;
    for (size_t i = 0; i < watch->tried.count; i++) {
        if (tried[i].signature == signature && !tried[i].is_run)
            is_new = tried[i].is_run = true;
        run += tried[i].is_run;
    }
    return is_new && run * 3 >= watch->tried.count * 2;
}

/* What the capture refused is captured after all, by another call. */
static void note_instead(gphi_watch *watch, const gphi_seen *seen)
{
    if (!watch->dropped || watch->dropped_work == 0 ||
        gphi_work_signature(seen) != watch->dropped_work)
        return;
    watch->dropped->handled++;
    watch->dropped = NULL;
}

/* A call that held, outside any capture of its stream: the program may run what it
 * could not capture. */
static void note_eager(const gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    const uint64_t signature = gphi_work_signature(seen);
    const bool is_work = seen->work && signature;
    const uint64_t site = gphi_call_site(run, &seen->call);
    for (size_t i = 0; i < state->watches.count; i++) {
        gphi_watch *watch = gphi_watch_at(state, i);
        gphi_incident *cause = watch->incident ? watch->incident : watch->dropped;
        if (!watch->is_over || watch->is_handled || !cause)
            continue;
        if (seen->call.thread == cause->root.thread &&
            seen->call.call == cause->root.call)
            cause->is_root_again = true;
        if (seen->call.thread != watch->capture->thread)
            continue;
        const bool again = watch->tried.count ? is_work && most_is_run(watch, signature)
                                              : site && site == cause->site;
        if (again) {
            watch->is_handled = true;
            cause->handled++;
        }
    }
}

/* ---- calls ---- */

/* The capture has ended, whatever the result. */
static void watch_end(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    for (size_t i = state->watches.count; i-- > 0;) {
        gphi_watch *watch = gphi_watch_at(state, i);
        if (watch->is_over || watch->capture->is_open)
            continue;
        watch->is_over = true;
        state->open--;
        gphi_tell_within(run, watch, &seen->call);
        if (seen->call.result == CUDA_SUCCESS)
            gphi_escape_end(run, watch, seen);
        if (!watch->incident && !watch->dropped && watch->early.count == 0)
            watch_drop(state, i);
    }
    watch_bound(state);
}

static bool is_load(uint32_t call)
{
    switch (call) {
    case GPHI_CALL_cuModuleLoad:
    case GPHI_CALL_cuModuleLoadData:
    case GPHI_CALL_cuModuleLoadDataEx:
    case GPHI_CALL_cuModuleLoadFatBinary:
    case GPHI_CALL_cuLibraryLoadData:
    case GPHI_CALL_cuLibraryLoadFromFile:
    case GPHI_CALL_cuModuleGetFunction:
    case GPHI_CALL_cuModuleGetGlobal:
    case GPHI_CALL_cuLibraryGetKernel:
    case GPHI_CALL_cuLibraryGetGlobal:
    case GPHI_CALL_cuLinkCreate:
    case GPHI_CALL_cuFuncLoad: return true;
    default: return false;
    }
}

/* Modules and functions that the thread of an open capture gets: something is set up. */
static void note_load(gphi_capture_state *state, const gphi_seen *seen)
{
    for (size_t i = 0; i < state->watches.count; i++) {
        gphi_watch *watch = gphi_watch_at(state, i);
        if (watch->is_over || watch->capture->thread != seen->call.thread)
            continue;
        if (watch->loads++ == 0)
            watch->load = seen->call;
    }
}

/* After a begin on the legacy stream the program went on: at once, or on a stream that
 * can capture. */
static void note_refused_begin(gphi_capture_state *state, const gphi_seen *seen)
{
    gphi_incident *begin = state->refused_begin;
    if (!begin || begin->root.thread != seen->call.thread ||
        (!seen->work && !gphi_call_is_begin(seen->call.call)))
        return;
    begin->handled++;
    state->refused_begin = NULL;
}

/* Which threads still are about their captures. */
static void note_own(gphi_capture_state *state, const gphi_call *call)
{
    for (size_t i = 0; i < state->watches.count; i++) {
        gphi_watch *watch = gphi_watch_at(state, i);
        if (!watch->is_over && watch->capture->thread == call->thread)
            watch->last_own = call->number;
    }
}

/* A call that succeeded: it begins a capture, is in one, or may be what a failed one was
 * for. */
static void note_held(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    gphi_watch *watch = gphi_watch_of(state, seen->capture);
    note_refused_begin(state, seen);
    if (gphi_call_is_begin(seen->call.call))
        watch_begin(run, seen);
    else if (watch && !watch->is_over) {
        if (gphi_call_is_work(seen->call.call)) {
            note_tried(state, watch, seen);
            note_instead(watch, seen);
            watch->nodes += seen->call.node != 0 || seen->work;
            watch->loads = 0; /* they were for this launch */
        }
    } else if (state->watches.count)
        note_eager(run, seen);
    if (state->open && is_load(seen->call.call))
        note_load(state, seen);
    const uint64_t site = gphi_call_site(run, &seen->call);
    if (site && gphi_capture_class(seen->call.call) != GPHI_CLASS_SAFE &&
        gphi_map_count(&state->sites, site) == 0)
        state->is_short = true;
}

static void on_init(gphi_rule_run *run)
{
    gphi_capture_state *state = run->state;
    const gph_allocator heap = run->model->heap;
    gphi_vec_init(&state->watches, heap, sizeof(gphi_watch *));
    gphi_vec_init(&state->incidents, heap, sizeof(gphi_incident *));
    gphi_vec_init(&state->frames, heap, sizeof(uint64_t));
    gphi_vec_init(&state->modules, heap, sizeof(gphi_loaded));
    gphi_vec_init(&state->hosts, heap, sizeof(gphi_host_copy));
}

static void on_event(gphi_rule_run *run, const gphi_event *event)
{
    gphi_capture_event(run, event);
    if (event->kind == GPHI_EVENT_HOST)
        gphi_host_launch(run, event);
}

/* Calls that a call of the driver makes itself are its own business. */
static void on_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    if (seen->call.flags & GPHI_CALL_NESTED)
        return;
    gphi_capture_contexts(state, seen);
    if (state->open)
        note_own(state, &seen->call);
    if (seen->call.result == CUDA_SUCCESS) {
        note_held(run, seen);
        gphi_escape_call(run, seen);
        gphi_escape_made(run, seen);
    } else if (seen->call.result != CUDA_ERROR_NOT_READY) {
        gphi_watch *watch = gphi_watch_of(state, seen->capture);
        if (watch && gphi_call_is_work(seen->call.call))
            note_tried(state, watch, seen);
        gphi_capture_judge(run, seen);
    }
    gphi_host_call(run, seen);
    if (state->is_short)
        gphi_short(run);
    if (state->open)
        watch_end(run, seen);
}

/* ---- the end ---- */

/* Who asks once, or once for each of a few sizes, asks; who asks at every step wanted a
 * graph. */
enum { TRIES_MIN = 6 };

/* The program tried to capture, could not, and ran the same work eagerly: that is how one
 * asks whether something can be captured. Nothing is wrong, but there is no graph. */
static bool is_probe(const gphi_incident *in)
{
    return in->captures > 0 && in->handled == in->captures && !in->is_misused &&
           (in->is_root_again || !in->is_other_thread);
}

/* 901 without a cause that was seen. */
static void end_unseen(gphi_rule_run *run, gphi_watch *watch)
{
    const gphi_call *first = watch->early.items;
    gphi_draft *draft = gphi_capture_find(run, GPHI_RULE_UNSAFE_CALL, first, first->call);
    gphi_cause(draft,
               "%s was refused (%d) because the capture was invalid already; the call "
               "that broke it was not seen%s.",
               gphi_say_call(first), (int)first->result,
               run->model->lost ? ", records were lost" : "");
    gphi_tell_capture(run->model, draft, watch->capture);
    for (size_t i = 1; i < watch->early.count; i++)
        gphi_consequence(draft, &first[i]);
}

static void on_end(gphi_rule_run *run)
{
    gphi_capture_state *state = run->state;
    for (size_t i = 0; i < state->watches.count; i++) {
        gphi_watch *watch = gphi_watch_at(state, i);
        if (watch->early.count && !watch->incident)
            end_unseen(run, watch);
        else if (!watch->is_over && !run->model->is_killed) {
            gphi_tell_within(run, watch, NULL);
            gphi_tell_never_ended(run, watch, NULL);
        }
    }
    for (size_t i = 0; i < state->incidents.count; i++) {
        gphi_incident *in = gphi_vec_pointer(&state->incidents, i);
        if (!is_probe(in))
            continue;
        if (in->rule == GPHI_RULE_SILENT_DROP) {
            gphi_withdraw(in->draft); /* the graph has it, in other calls */
            continue;
        }
        if (in->captures >= TRIES_MIN)
            gphi_evidence(in->draft,
                          "the program tried it %u times, and ran the work without a "
                          "capture each time: it goes on to try, and never gets a graph",
                          (unsigned)in->captures);
        else
            gphi_soften(in->draft);
        if (in->rule == GPHI_RULE_INVALID_WORK)
            gphi_evidence(in->draft,
                          "the program then ran the kernel without a capture, in another "
                          "form: whether that does what was refused is not known");
        else
            gphi_evidence(in->draft,
                          "the program then ran the work without a capture: what it "
                          "computed there is right, but not by a graph");
    }
}

static void on_fini(gphi_rule_run *run)
{
    gphi_capture_state *state = run->state;
    while (state->watches.count)
        watch_drop(state, state->watches.count - 1);
    for (size_t i = 0; i < state->incidents.count; i++)
        gphi_heap_free(state->incidents.heap, gphi_vec_pointer(&state->incidents, i),
                       sizeof(gphi_incident));
    gphi_vec_fini(&state->watches);
    gphi_vec_fini(&state->incidents);
    gphi_vec_fini(&state->frames);
    gphi_vec_fini(&state->modules);
    gphi_host_fini(run);
}

/* In the order of gphi_capture_rule. */
const gphi_rule gphi_rules_capture[] = {
    GPHI_RULE("capture.unsafe-call", ERROR, .state_bytes = sizeof(gphi_capture_state),
              .map_count = GPHI_CAPTURE_MAPS, .init = on_init, .call = on_call,
              .event = on_event, .end = on_end, .fini = on_fini),
    GPHI_RULE_NAME("capture.unsafe-call-other-thread", ERROR),
    GPHI_RULE_NAME("capture.legacy-stream", ERROR),
    GPHI_RULE_NAME("capture.isolation", ERROR),
    GPHI_RULE_NAME("capture.unjoined-fork", ERROR),
    GPHI_RULE_NAME("capture.merge", ERROR),
    GPHI_RULE_NAME("capture.begin-on-legacy", ERROR),
    GPHI_RULE_NAME("capture.captured-event-query", ERROR),
    GPHI_RULE_NAME("capture.event-after-capture", ERROR),
    GPHI_RULE_NAME("capture.unmatched-end", ERROR),
    GPHI_RULE_NAME("capture.wrong-thread-end", ERROR),
    GPHI_RULE_NAME("capture.never-ended", ERROR),
    GPHI_RULE_NAME("capture.silent-drop", ERROR),
    GPHI_RULE_NAME("capture.invalid-work", ERROR),
    GPHI_RULE_NAME("capture.escape", WARNING),
    GPHI_RULE_NAME("capture.empty-graph", WARNING),
    GPHI_RULE_NAME("capture.missing-warm-up", ERROR),
    GPHI_RULE_NAME("capture.destructor", ERROR),
    GPHI_RULE_NAME("capture.synchronize", ERROR),
    GPHI_RULE_NAME("capture.host-pointer", WARNING),
    GPHI_RULE_NAME("capture.wrong-device", ERROR),
    GPHI_RULE_NAME("capture.graph-launch", ERROR),
    {.id = NULL},
};
_Static_assert(sizeof(gphi_rules_capture) / sizeof(gphi_rules_capture[0]) - 1 ==
                   GPHI_RULE_CAPTURE_COUNT,
               "the table and gphi_capture_rule agree");
