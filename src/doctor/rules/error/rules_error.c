// SPDX-License-Identifier: Apache-2.0
/* Rule error.kept-by-layer: a call failed, the program dealt with it, and a layer that has
 * kept the code (a program's own, the runtime's last error) gives it out much later, where
 * every call has succeeded.
 *
 *   cuMemAlloc: 2    cuMemcpy.. cuLaunch.. cuLaunch..    "CUDA error: 2"
 *   failure          work that succeeded                 asked for: KEPT, or STDERR
 *
 * To ask late is right by itself: a program may log at its end what it met, or clear what is
 * left. So it counts if the program gives up there (no work after it, and it fails), or
 * if the same failure is given out again and again. While the function that called is still
 * active, it is dealing with its failure. */
#include "doctor/rules/error/rules_error.h"
#include "doctor/findings/said.h"
#include "doctor/findings/stacks.h"

#include <gph/explain.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FAILURES_MAX = 128, ASKED_MAX = 256, THREADS_MAX = 256, MATCHES = 4 };

typedef struct worker {
    uint32_t thread;
    uint64_t held; /* pieces of work that succeeded, ever */
    gphi_call last;
} worker;

typedef struct failure {
    gphi_call call;
    uint64_t held;        /* of its thread, before it */
    uint64_t late;        /* times that it was asked for after work */
    uint64_t first, last; /* of `asked`: the first and the last of these */
} failure;

/* Somebody wants to know a code, or says it. */
typedef struct asked {
    gphi_call at;
    gphi_kept_how how;    /* 0: on standard error */
    uint64_t held, since; /* work of the thread: ever, and since the failure */
    gphi_call before;     /* its last work */
} asked;

typedef struct error_state {
    gphi_vec workers;  /* of worker */
    gphi_vec failures; /* of failure: failure n stands at n % FAILURES_MAX */
    gphi_vec asked;    /* of asked */
    uint64_t failure_count;
    bool has_failed; /* its exit status is not 0, or it was killed */
} error_state;

static void on_init(gphi_rule_run *run)
{
    error_state *state = run->state;
    gphi_vec_init(&state->workers, run->model->heap, sizeof(worker));
    gphi_vec_init(&state->failures, run->model->heap, sizeof(failure));
    gphi_vec_init(&state->asked, run->model->heap, sizeof(asked));
    state->has_failed = true; /* until it says how it ended */
}

static void on_fini(gphi_rule_run *run)
{
    error_state *state = run->state;
    gphi_vec_fini(&state->workers);
    gphi_vec_fini(&state->failures);
    gphi_vec_fini(&state->asked);
}

static worker *worker_of(error_state *state, uint32_t thread)
{
    return gphi_vec_keyed(&state->workers, &thread, sizeof(thread), THREADS_MAX);
}

static void note_failure(gphi_rule_run *run, const gphi_call *call)
{
    error_state *state = run->state;
    const worker *of = worker_of(state, call->thread);
    const failure new = {.call = *call, .held = of ? of->held : 0};
    if (state->failures.count == FAILURES_MAX)
        *(failure *)gphi_vec_at(&state->failures, state->failure_count % FAILURES_MAX) =
            new;
    else if (gphi_vec_push(&state->failures, &new) != GPH_OK)
        gphi_short(run);
    state->failure_count++;
}

static void on_call(gphi_rule_run *run, const gphi_seen *seen)
{
    if (seen->call.result == CUDA_ERROR_NOT_READY)
        return;
    if (seen->call.result != CUDA_SUCCESS) {
        note_failure(run, &seen->call);
        return;
    }
    worker *of = seen->work ? worker_of(run->state, seen->call.thread) : NULL;
    if (!of)
        return;
    of->held++;
    of->last = seen->call;
}

/* ---- who asks ---- */

/* Of that code the newest failure, of that thread if it has one. */
static failure *failure_of(const error_state *state, int32_t code, uint32_t thread,
                           bool is_of_thread)
{
    failure *found = NULL;
    GPHI_EACH (failure, one, &state->failures) {
        const bool is_own = one->call.thread == thread;
        if (one->call.result != code || (is_of_thread && !is_own))
            continue;
        const bool was_own = found && found->call.thread == thread;
        if (!found || (is_own && !was_own) ||
            (is_own == was_own && one->call.number > found->call.number))
            found = one;
    }
    return found;
}

/* Whether the innermost function of the program that called has yet to return: then it
 * deals with its own failure. main never returns. */
static bool is_dealing(const gphi_rule_run *run, uint32_t failed, uint32_t asks)
{
    uint32_t left = 0, right = 0;
    const gph_place *a = gphi_stacks_frames(run->model->stacks, failed, &left);
    const gph_place *b = gphi_stacks_frames(run->model->stacks, asks, &right);
    if (left < 2 || right < left)
        return false;
    for (uint32_t i = 1; i < left; i++) {
        const gph_place *x = &a[left - i], *y = &b[right - i];
        if (!x->function || !y->function || strcmp(x->function, y->function) != 0 ||
            x->line != y->line)
            return false;
    }
    return a[0].function && b[right - left].function &&
           strcmp(a[0].function, b[right - left].function) == 0;
}

static void note_asked(gphi_rule_run *run, failure *of, const gphi_event *event,
                       gphi_kept_how how)
{
    error_state *state = run->state;
    const worker *who = worker_of(state, of->call.thread);
    const uint64_t held = who ? who->held : 0;
    if (held == of->held || state->asked.count == ASKED_MAX ||
        is_dealing(run, of->call.stack, event->stack))
        return;
    const asked new = {.at = {.number = run->model->call_count + 1,
                              .time_ns = event->time_ns,
                              .call = GPHI_CALL_COUNT,
                              .thread = event->thread,
                              .stack = event->stack,
                              .result = of->call.result},
                       .how = how,
                       .held = held,
                       .since = held - of->held,
                       .before = who->last};
    if (gphi_vec_push(&state->asked, &new) != GPH_OK) {
        gphi_short(run);
        return;
    }
    of->last = state->asked.count - 1;
    if (of->late++ == 0)
        of->first = of->last;
}

/* A code whose name, number or words stand in a text on standard error. */
static failure *failure_in(const error_state *state, const char *text, uint32_t thread)
{
    gph_explain_match found[MATCHES];
    const size_t count = gph_explain_find(text, strlen(text), found, MATCHES);
    for (size_t i = 0; i < count; i++)
        for (const char *const *code = found[i].entry->codes; *code; code++) {
            failure *of = failure_of(state, atoi(*code), thread, false);
            if (of)
                return of;
        }
    return NULL;
}

static void on_event(gphi_rule_run *run, const gphi_event *event)
{
    error_state *state = run->state;
    failure *of = NULL;
    gphi_kept_how how = 0;
    if (event->kind == GPHI_EVENT_EXIT)
        state->has_failed = event->id == 2 || gphi_event_word(event, 0) != 0;
    if (state->failures.count == 0)
        return;
    if (event->kind == GPHI_EVENT_KEPT) {
        how = (gphi_kept_how)gphi_event_word(event, 0);
        of = failure_of(state, (int32_t)event->id, event->thread, how != GPHI_KEPT_WORDS);
    } else if (event->kind == GPHI_EVENT_STDERR &&
               gphi_said_has(gphi_event_text(event, 0), "error"))
        of = failure_in(state, gphi_event_text(event, 0), event->thread);
    if (of)
        note_asked(run, of, event, how);
}

/* ---- judging ---- */

static const char *say_asking(gphi_kept_how how)
{
    switch (how) {
    case GPHI_KEPT_WORDS: return "the program asks for the text of this error";
    case GPHI_KEPT_TAKEN: return "cudaGetLastError() gives it";
    case GPHI_KEPT_SEEN: return "cudaPeekAtLastError() gives it";
    }
    return "the program prints it on standard error";
}

static void report(gphi_rule_run *run, const failure *of, bool gives_up)
{
    const error_state *state = run->state;
    const asked *last = gphi_vec_at(&state->asked, of->last);
    const asked *first = gphi_vec_at(&state->asked, of->first);
    const char *place = gphi_say_place(run->model, &first->at);
    gphi_draft *draft = gphi_finding_begin(run, &of->call, 0);
    gphi_cause(draft,
               "%s failed with %s, and the program went on: all that the thread "
               "launched, copied and filled after it (%" PRIu64
               ") succeeded; then the same error comes up again, where nothing failed",
               gphi_say_call(&of->call), gphi_say_result(of->call.result), first->since);
    if (!draft)
        return;
    if (place[0] != '\0')
        gphi_evidence(draft, "it comes up at %.300s: %s", place, say_asking(first->how));
    else
        gphi_evidence(draft, "it comes up: %s", say_asking(first->how));
    if (gives_up)
        gphi_evidence(draft, "after it the program does no more work, and fails");
    else
        gphi_evidence(draft, "it comes up %" PRIu64 " times", of->late);
    gphi_evidence_call(draft, &last->before, "the last work before it succeeded");
    if (gives_up)
        gphi_harden(draft);
}

static void on_end(gphi_rule_run *run)
{
    const error_state *state = run->state;
    GPHI_EACH (const failure, of, &state->failures) {
        if (of->late == 0)
            continue;
        const asked *first = gphi_vec_at(&state->asked, of->first);
        const asked *last = gphi_vec_at(&state->asked, of->last);
        const worker *who = worker_of(run->state, of->call.thread);
        const bool gives_up = state->has_failed && who && who->held == last->held;
        const bool is_repeated = first->held != last->held && of->late > 1;
        if (gives_up || is_repeated)
            report(run, of, gives_up);
    }
}

const gphi_rule gphi_rules_error[] = {
    GPHI_RULE("error.kept-by-layer", WARNING, .state_bytes = sizeof(error_state),
              .init = on_init, .call = on_call, .event = on_event, .end = on_end,
              .fini = on_fini),
    GPHI_RULE("error.refused-call", ERROR, .list_bytes = sizeof(gphi_refused),
              .call = gphi_error_refused_call, .end = gphi_error_refused_end),
    {.id = NULL},
};
