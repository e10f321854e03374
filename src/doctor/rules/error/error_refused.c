// SPDX-License-Identifier: Apache-2.0
/* Rule error.refused-call: the driver refused a call of a graph, a capture or work, no other
 * rule knows why, and the program did not deal with it.
 *
 *   refused, then the same call succeeds in that thread       dealt with: a second try
 *   refused, then other work of that thread succeeds          dealt with: another way
 *   refused, then nothing of that thread succeeds             reported
 *
 * So all is judged at the end. Later failures of the thread follow from the first. */
#include "doctor/findings/said.h"
#include "doctor/rules/error/rules_error.h"

#include <string.h>

enum { REFUSED_MAX = 128 };

/* The driver is gone, or was never asked to begin; room that is not there is a question that
 * programs ask; 900 to 908 are of captures, whose rules know all of them; after an error of
 * the device every call fails. */
static bool is_own_code(int32_t result)
{
    return result != 0 && result != CUDA_ERROR_NOT_READY &&
           result != CUDA_ERROR_DEINITIALIZED && result != CUDA_ERROR_OUT_OF_MEMORY &&
           !gphi_is_sticky(result) &&
           (result < CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED ||
            result > CUDA_ERROR_CAPTURED_EVENT);
}

/* Without it there is no driver at all; that there is no device is an answer. */
static bool is_lost_start(const gphi_seen *seen)
{
    return seen->call.call == GPHI_CALL_cuInit && seen->call.result != 0 &&
           seen->call.result != CUDA_ERROR_NO_DEVICE;
}

/* Calls that a program makes for what they do; getters and what cleans up are left out. */
static bool is_of_interest(const gphi_seen *seen)
{
    const char *name = gphi_call_name(seen->call.call);
    if (strstr(name, "Get") || strstr(name, "Destroy"))
        return false;
    return strncmp(name, "cuGraph", 7) == 0 || strncmp(name, "cuLaunch", 8) == 0 ||
           strncmp(name, "cuMemcpy", 8) == 0 || strncmp(name, "cuMemset", 8) == 0 ||
           strncmp(name, "cuStreamBeginCapture", 20) == 0;
}

static void settle(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_vec *all = run->state;
    for (size_t i = 0; i < all->count; i++) {
        gphi_refused *one = gphi_vec_at(all, i);
        if (one->call.thread == seen->call.thread &&
            (seen->work || one->call.call == seen->call.call))
            one->is_handled = true;
    }
}

void gphi_error_refused_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_vec *all = run->state;
    if (seen->call.result == 0)
        settle(run, seen);
    if ((!is_own_code(seen->call.result) || !is_of_interest(seen) ||
         (seen->call.flags & GPHI_CALL_HOST_NODE) != 0) &&
        !is_lost_start(seen))
        return;
    for (size_t i = 0; all->count == REFUSED_MAX && i < all->count; i++) {
        const gphi_refused *old = gphi_vec_at(all, i);
        if (old->is_handled || old->is_known)
            gphi_vec_remove(all, i);
    }
    if (all->count == REFUSED_MAX)
        return;
    gphi_refused new = {.call = seen->call, .is_known = gphi_is_told(run, &seen->call)};
    gphi_say_into(new.said, sizeof(new.said), "%s", gphi_said_of(run->said, &seen->call));
    if (gphi_vec_push(all, &new) != GPH_OK)
        gphi_short(run);
}

static bool is_left(const gphi_rule_run *run, const gphi_refused *one)
{
    return !one->is_handled && !one->is_known && !gphi_is_told(run, &one->call);
}

/* An earlier failure of the thread that was left alone as well, or that another rule
 * reports: this one may follow from it. */
static const gphi_refused *first_of(gphi_rule_run *run, size_t until)
{
    const gphi_vec *all = run->state;
    const gphi_refused *last = gphi_vec_at(all, until);
    for (size_t i = 0; i < until; i++) {
        const gphi_refused *one = gphi_vec_at(all, i);
        if (one->call.thread == last->call.thread && !one->is_handled)
            return one;
    }
    return last;
}

/* What the child of a fork() has of its parent's driver is dead; the fork is to blame. */
static gphi_draft *begin_forked(gphi_rule_run *run, const gphi_refused *one)
{
    const gphi_model *model = run->model;
    gphi_draft *draft = gphi_finding_begin(run, &model->forked, 0);
    gphi_cause(
        draft,
        "process %lu was made by fork() of process %lu, which had used the driver; the "
        "driver does not work in such a child, and %s was refused with %s",
        (unsigned long)model->process, (unsigned long)model->parent,
        gphi_say_call(&one->call), gphi_say_result(one->call.result));
    gphi_evidence_call(draft, &one->call, "it was refused in the child by");
    gphi_fix(draft,
             "Here: make the child before the first call of CUDA, or start it again "
             "instead (exec; in Python multiprocessing's \"spawn\"), and let it make "
             "all that it uses.");
    return draft;
}

static gphi_draft *begin(gphi_rule_run *run, const gphi_refused *one)
{
    if (one->call.result == CUDA_ERROR_NOT_INITIALIZED && run->model->forked.stack != 0)
        return begin_forked(run, one);
    const char *said = gphi_say_said(one->said);
    gphi_draft *draft = gphi_finding_begin(run, &one->call, 0);
    gphi_cause(
        draft,
        "%s was refused with %s%s; after it neither a second try nor any work of the "
        "thread succeeded",
        gphi_say_call(&one->call), gphi_say_result(one->call.result), said);
    gphi_fix(draft, "Here: gph explain %d says what the code means.",
             (int)one->call.result);
    return draft;
}

static void report(gphi_rule_run *run, const gphi_refused *one)
{
    const gphi_vec *all = run->state;
    const gphi_refused *end = gphi_vec_at(all, all->count);
    gphi_draft *draft = begin(run, one);
    for (const gphi_refused *next = one + 1; next < end; next++)
        if (next->call.thread == one->call.thread && is_left(run, next))
            gphi_consequence(draft, &next->call);
}

void gphi_error_refused_end(gphi_rule_run *run)
{
    const gphi_vec *all = run->state;
    for (size_t i = 0; i < all->count; i++) {
        const gphi_refused *one = gphi_vec_at(all, i);
        if (is_left(run, one) && first_of(run, i) == one)
            report(run, one);
    }
}
