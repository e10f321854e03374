// SPDX-License-Identifier: Apache-2.0
/* launch.crash: the process was ended by a signal inside a driver call, which is known
 * from what the thread had noted before it. A thread that waits is not a suspect, and who is
 * killed from outside has done nothing wrong: that is info.
 *
 * launch.crash-elsewhere: so ended, but in no call. The mistake is the program's own or a
 * library's, and silence would read as an all-clear. */
#include "base/path.h"
#include "doctor/findings/stacks.h"
#include "doctor/rules/launch/rules_launch.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

static bool is_crash(uint32_t number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGILL ||
           number == SIGFPE || number == SIGABRT || number == SIGTRAP || number == SIGSYS;
}

static const char *signal_name(uint32_t number)
{
    switch (number) {
    case SIGSEGV: return " (SIGSEGV)";
    case SIGBUS: return " (SIGBUS)";
    case SIGILL: return " (SIGILL)";
    case SIGFPE: return " (SIGFPE)";
    case SIGABRT: return " (SIGABRT)";
    case SIGTRAP: return " (SIGTRAP)";
    case SIGKILL: return " (SIGKILL)";
    case SIGTERM: return " (SIGTERM)";
    case SIGINT: return " (SIGINT)";
    default: return "";
    }
}

/* It waits for others: for the GPU, or for host functions. */
static bool is_wait(const gphi_call *call)
{
    return strstr(gphi_call_name(call->call), "Synchronize");
}

void gphi_launch_unreturned(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_launch_crash *state = run->state;
    if (state->count == GPHI_LAUNCH_INSIDE)
        return;
    const uint32_t index = state->count++;
    state->calls[index] = seen->call;
    if (!gphi_model_dead(run->model, seen->event, &state->dead[index]))
        state->dead[index].what = NULL;
}

/* A thread that only crashed has not used the driver: it is the driver's own, or another's. */
void gphi_launch_crash_event(gphi_rule_run *run, const gphi_event *event)
{
    gphi_launch_crash *state = run->state;
    if (event->kind == GPHI_EVENT_THREAD) {
        state->threads++;
        state->silent = event->thread;
    } else if (event->thread == state->silent && event->kind == GPHI_EVENT_CALL)
        state->silent = 0;
    else if (event->thread == state->silent && event->kind == GPHI_EVENT_CRASHED)
        state->threads--;
}

/* Launches that nobody had waited for. */
static void tell_standing(gphi_rule_run *run, gphi_draft *draft)
{
    for (size_t i = 0; i < run->model->execs.count; i++) {
        const gphi_exec_state *exec = gphi_vec_pointer(&run->model->execs, i);
        const gphi_launch *pending = gphi_exec_pending(run->model, exec);
        if (!pending || exec->standing.count == 0)
            continue;
        gphi_evidence_call(draft, &pending->call, "in flight: %s, launched by",
                           gphi_say_exec(run->model, exec));
        (void)gphi_launch_put_standing(draft, exec);
    }
}

/* Host functions of graphs that were launched: they run in threads of the driver, without
 * a call of their own. Whether the host has yet to wait for that one. */
static bool tell_host_functions(gphi_rule_run *run, gphi_draft *draft)
{
    for (size_t i = run->model->execs.count; i-- > 0;) {
        const gphi_exec_state *exec = gphi_vec_pointer(&run->model->execs, i);
        const gph_graph *graph = exec->is_alive && exec->launch_count > 0 && exec->source
                                     ? exec->source->data
                                     : NULL;
        for (uint32_t n = 0; n < gph_graph_node_count(graph); n++)
            if (gph_graph_node(graph, n)->kind == GPH_NODE_HOST) {
                gphi_evidence_node(draft, exec->source, n,
                                   "a launched graph has a host function");
                return gphi_exec_pending(run->model, exec) != NULL;
            }
    }
    return false;
}

static void tell_others(const gphi_launch_crash *state, uint32_t but, gphi_draft *draft)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (i != but)
            gphi_evidence_call(draft, &state->calls[i], "another thread was inside");
}

static const char *say_dead(gphi_model *model, const gphi_dead *dead)
{
    const gphi_exec_state *exec = gphi_model_exec(model, dead->handle);
    if (exec && strcmp(dead->what, "executable") == 0)
        return gphi_say_exec(model, exec);
    if (strcmp(dead->what, "graph") == 0)
        return gphi_say_graph(model, dead->handle);
    return strcmp(dead->what, "stream") == 0
               ? gphi_say_stream(model, gphi_model_stream(model, dead->handle, 0, false))
               : gphi_say_event(model, dead->handle);
}

/* Whether the thread of a call, or any (NULL), raised the signal by itself. */
static bool is_raised(const gphi_model *model, const gphi_call *by)
{
    return model->crashed.number != 0 && model->crashed_by == model->signal &&
           (!by || model->crashed.thread == by->thread);
}

/* Which library it was in. */
static void tell_place(const gphi_rule_run *run, gphi_draft *draft)
{
    gphi_model *model = run->model;
    gph_place place = {.address = model->crashed_at};
    char words[256] = "";
    if (gphi_stacks_place(model->stacks, model->crashed_at, &place))
        gphi_say_into(words, sizeof(words), "%.120s (%.100s)",
                      place.function ? place.function : "?",
                      gphi_path_name(place.module));
    else
        gphi_say_into(words, sizeof(words), "0x%llx", (unsigned long long)place.address);
    if (model->crash_address != 0 || model->signal == SIGSEGV)
        gphi_evidence(draft, "the signal was raised in %s, about address 0x%llx", words,
                      (unsigned long long)model->crash_address);
    else
        gphi_evidence(draft, "the signal was raised in %s", words);
}

static void tell(gphi_rule_run *run, uint32_t index)
{
    const gphi_launch_crash *state = run->state;
    const gphi_call *call = &state->calls[index];
    const gphi_dead *dead = &state->dead[index];
    const uint32_t number = run->model->signal;
    const uint64_t now = run->model->last_ns;
    gphi_draft *draft = gphi_finding_begin(run, call, 0);
    if (!draft)
        return;
    if (number != 0)
        gphi_cause(draft,
                   "the process was ended by signal %u%s inside %s, at most %.1f ms "
                   "after the call began",
                   (unsigned)number, signal_name(number), gphi_say_call(call),
                   now > call->time_ns ? (double)(now - call->time_ns) / 1e6 : 0.0);
    else
        gphi_cause(draft, "the process ended inside %s, without exit()",
                   gphi_say_call(call));
    if (dead->what && dead->by.number != 0)
        gphi_evidence_call(draft, &dead->by, "%s, an argument, was destroyed by",
                           say_dead(run->model, dead));
    else if (dead->what)
        gphi_evidence(draft, "%s, an argument, was destroyed before",
                      say_dead(run->model, dead));
    if (is_raised(run->model, call))
        tell_place(run, draft);
    const bool has_host_function =
        is_crash(number) && is_wait(call) && tell_host_functions(run, draft);
    tell_standing(run, draft);
    tell_others(state, index, draft);
    if (is_crash(number) && state->threads > 1 && !is_raised(run->model, call))
        gphi_evidence(draft,
                      "%u threads of the process have used the driver: one that was in "
                      "no call may have crashed",
                      (unsigned)state->threads);
    /* Of one thread, which waits, the driver's alone goes on: with the host function. */
    const bool is_host_function = has_host_function && state->threads <= 1;
    if (!is_crash(number) || (is_wait(call) && !dead->what && !is_host_function))
        gphi_soften(draft);
}

void gphi_launch_crash_end(gphi_rule_run *run)
{
    const gphi_launch_crash *state = run->state;
    uint32_t best = 0;
    if (!run->model->is_killed || run->model->hung != 0 || state->count == 0 ||
        (run->model->signal == 0 && run->model->is_replaced))
        return;
    for (uint32_t i = 0; i < state->count; i++) {
        if (gphi_is_told(run, &state->calls[i]))
            return; /* and why */
        if (is_wait(&state->calls[best]) && !is_wait(&state->calls[i]))
            best = i;
    }
    tell(run, best);
}

/* ---- launch.crash-elsewhere ---- */

void gphi_launch_elsewhere_call(gphi_rule_run *run, const gphi_seen *seen)
{
    ((gphi_launch_elsewhere *)run->state)->last = seen->call;
}

void gphi_launch_elsewhere_unreturned(gphi_rule_run *run, const gphi_seen *seen)
{
    (void)seen;
    ((gphi_launch_elsewhere *)run->state)->is_inside = true;
}

void gphi_launch_elsewhere_event(gphi_rule_run *run, const gphi_event *event)
{
    ((gphi_launch_elsewhere *)run->state)->threads += event->kind == GPHI_EVENT_THREAD;
}

void gphi_launch_elsewhere_end(gphi_rule_run *run)
{
    const gphi_launch_elsewhere *state = run->state;
    const uint32_t number = run->model->signal;
    if (!run->model->is_killed || run->model->hung != 0 || state->is_inside ||
        state->last.number == 0 || !is_crash(number))
        return;
    const bool is_known = is_raised(run->model, NULL);
    const bool has_stack = is_known && run->model->crashed.stack != 0;
    gphi_draft *draft =
        gphi_finding_begin(run, has_stack ? &run->model->crashed : &state->last, 0);
    if (!draft)
        return;
    gphi_cause(draft,
               "the process was ended by signal %u%s while no thread of it was inside a "
               "driver call; the last one that returned is %s",
               (unsigned)number, signal_name(number), gphi_say_call(&state->last));
    if (is_known)
        tell_place(run, draft);
    if (has_stack)
        gphi_evidence_call(draft, &state->last, "the last call that returned");
    if (has_stack && number != SIGABRT && number != SIGTRAP)
        gphi_harden(draft);
    tell_standing(run, draft);
    if (state->threads > 1 && !is_known)
        gphi_evidence(draft,
                      "%u threads of the process have used the driver: any of them, or "
                      "one that never has, may have crashed",
                      (unsigned)state->threads);
}
