// SPDX-License-Identifier: Apache-2.0
/* Rule libgph.ignored-status: libgph refused a call, and the program went on as if it had
 * not. libgph says what it refuses (GPHI_NOTE_FAILED); what the program does with the status
 * shows in what its thread does next:
 *
 *   refused ── memory from elsewhere, another executable, kernels   it looked, and copes
 *           ├─ a result is copied to the host, the graph launched   reported: as `used`
 *           └─ nothing of the thread succeeds any more              reported at the end
 *
 * Which of the first counts depends on what was refused. What the driver refused has a
 * record of its own, and rules. */
#include "doctor/findings/stacks.h"
#include "doctor/rules/libgph/rules_libgph.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { REFUSALS_MAX = 128 };

gphi_call gphi_libgph_at(const gphi_rule_run *run, const gphi_event *event)
{
    return (gphi_call){.number = run->model->call_count,
                       .time_ns = event->time_ns,
                       .call = GPHI_CALL_COUNT,
                       .thread = event->thread,
                       .stack = event->stack};
}

static bool has_one_of(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strstr(name, *words))
            return true;
    return false;
}

static gphi_libgph_sort sort_of(const char *function)
{
    static const char *const memory[] = {"alloc", NULL};
    static const char *const change[] = {"update", "edit",   "_set",
                                         "bind",   "_track", NULL};
    static const char *const runs[] = {"launch", "call", "replay_run", "_run", NULL};
    static const char *const makes[] = {"capture", "record", "create",
                                        "open",    "load",   NULL};
    if (strncmp(function, "gph_callable_create", 19) == 0 ||
        !has_one_of(function, runs)) {
        if (has_one_of(function, memory))
            return GPHI_LIBGPH_MEMORY;
        if (has_one_of(function, change))
            return GPHI_LIBGPH_CHANGE;
        return has_one_of(function, makes) ? GPHI_LIBGPH_MAKE : GPHI_LIBGPH_OTHER;
    }
    return GPHI_LIBGPH_RUN;
}

/* ---- what libgph says ---- */

static gphi_libgph_refusal *last_of(gphi_rule_run *run, uint32_t thread)
{
    gphi_vec *all = run->state;
    for (size_t i = all->count; i-- > 0;) {
        gphi_libgph_refusal *one = gphi_vec_at(all, i);
        if (one->at.thread == thread)
            return one;
    }
    return NULL;
}

/* One that nobody has looked at stays the first: what is refused next may follow from it. */
static void note_refusal(gphi_rule_run *run, const gphi_event *event,
                         const char *function)
{
    gphi_vec *all = run->state;
    gphi_libgph_refusal *last = last_of(run, event->thread);
    if (last && last->is_open) {
        last->more++;
        return;
    }
    if (all->count == REFUSALS_MAX)
        return;
    gphi_libgph_refusal new = {.at = gphi_libgph_at(run, event),
                               .status = (gph_status)(int64_t)gphi_event_word(event, 0),
                               .sort = sort_of(function),
                               .is_open = true,
                               .is_left = true};
    gphi_say_into(new.function, sizeof(new.function), "%s", function);
    gphi_say_into(new.said, sizeof(new.said), "%s", gphi_event_text(event, 0));
    if (gphi_vec_push(all, &new) != GPH_OK)
        gphi_short(run);
}

/* A function that frees or reads may be refused where nothing depends on it. */
static bool is_of_interest(const char *function)
{
    static const char *const aside[] = {"destroy", "free",  "release",  "close", "write",
                                        "stats",   "query", "describe", NULL};
    return function && !has_one_of(function, aside);
}

void gphi_libgph_refused_event(gphi_rule_run *run, const gphi_event *event)
{
    if (event->kind != GPHI_EVENT_NOTE)
        return;
    gphi_libgph_refusal *last = last_of(run, event->thread);
    if (event->id == GPHI_NOTE_SLOT && last && last->is_open &&
        last->sort == GPHI_LIBGPH_CHANGE) /* bound after all */
        last->is_open = last->is_left = false;
    if (event->id != GPHI_NOTE_FAILED)
        return;
    if (gphi_event_word(event, 0) == 0) { /* in libgph, for a reason of its own */
        if (last && last->is_open && last->more > 0)
            last->more--;
        else if (last && last->is_open)
            last->is_open = last->is_left = false;
        return;
    }
    const char *function = gphi_stacks_entered(run->model->stacks, event->stack);
    if (is_of_interest(function))
        note_refusal(run, event, function);
}

/* ---- what the program does then ---- */

static bool takes_memory(uint32_t call)
{
    static const char *const words[] = {"Alloc",     "Free",  "Trim",
                                        "MemCreate", "Unmap", NULL};
    return has_one_of(gphi_call_name(call), words);
}

/* Whether a call that succeeded shows that the program has looked at the status. */
static bool is_remedy(const gphi_libgph_refusal *one, const gphi_seen *seen)
{
    const uint32_t call = seen->call.call;
    const bool is_kernel = gphi_call_is_kernel(call) && !seen->capture;
    const bool makes = gphi_call_is_begin(call) || gphi_call_is_instantiation(call);
    if (one->status != GPH_E_INVALID && one->status != GPH_E_STATE)
        return seen->work ||
               makes; /* it depends on the machine: who asks has another way */
    switch (one->sort) {
    case GPHI_LIBGPH_MEMORY: return takes_memory(call);
    case GPHI_LIBGPH_CHANGE:
        return makes || is_kernel || call == GPHI_CALL_cuGraphExecUpdate;
    case GPHI_LIBGPH_RUN: return is_kernel || makes || gphi_is_launch(seen);
    case GPHI_LIBGPH_MAKE: return is_kernel || makes || gphi_is_launch(seen);
    case GPHI_LIBGPH_OTHER: return seen->work != NULL;
    }
    return true;
}

/* Whether an argument of a kernel is 0 where it has 8 bytes: an address that is not there. */
static bool has_no_address(const gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_part *part = gphi_event_part(seen->event, GPHI_PART_PARAMS, 0);
    const gphi_function *function = gphi_model_kernel_function(
        run->model, gphi_launched_kernel(run->model, seen->event));
    if (!part || !function || !gphi_call_is_kernel(seen->call.call))
        return false;
    for (uint32_t i = 0; function->args && i < function->arg_count; i++) {
        uint64_t word = 1;
        if (function->args[i].bytes == 8 &&
            function->args[i].offset + sizeof(word) <= part->bytes)
            memcpy(&word, (const char *)(part + 1) + function->args[i].offset,
                   sizeof(word));
        if (word == 0)
            return true;
    }
    return false;
}

/* Whether a call uses what the function was to give. */
static bool is_use(const gphi_rule_run *run, const gphi_libgph_refusal *one,
                   const gphi_seen *seen)
{
    gphi_call_ranges ranges;
    switch (one->sort) {
    case GPHI_LIBGPH_MEMORY: return has_no_address(run, seen);
    case GPHI_LIBGPH_CHANGE: return gphi_is_launch(seen);
    case GPHI_LIBGPH_RUN:
        return !seen->capture && gphi_call_ranges_of(seen, &ranges) && ranges.to_host;
    default: return false;
    }
}

void gphi_libgph_refused_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_libgph_refusal *one = last_of(run, seen->call.thread);
    if (!one || seen->call.result != 0)
        return;
    one->is_left = one->is_left && !seen->work && !takes_memory(seen->call.call);
    if (!one->is_open)
        return;
    if (is_remedy(one, seen)) {
        one->is_open = one->is_left = false;
    } else if (is_use(run, one, seen)) {
        one->used = seen->call;
        one->is_open = false;
    }
}

/* ---- the end ---- */

static void report(gphi_rule_run *run, const gphi_libgph_refusal *one)
{
    gphi_draft *draft = gphi_finding_begin(run, &one->at, 0);
    gphi_cause(draft, "%s() failed with %s: \"%s\"", one->function,
               gph_status_name(one->status), one->said);
    if (one->used.number != 0)
        gphi_evidence_call(draft, &one->used,
                           "the program went on as if it had succeeded");
    else
        gphi_evidence(draft, "after it no work of the thread succeeded");
    if (one->more > 0)
        gphi_evidence(draft,
                      "before that libgph refused more calls of the thread: %" PRIu64,
                      one->more);
}

/* A machine that cannot do something is an answer, and a program may end with it. */
void gphi_libgph_refused_end(gphi_rule_run *run)
{
    const gphi_vec *all = run->state;
    GPHI_EACH (const gphi_libgph_refusal, one, all)
        if (one->used.number != 0 || (one->is_left && (one->status == GPH_E_INVALID ||
                                                       one->status == GPH_E_STATE)))
            report(run, one);
}
