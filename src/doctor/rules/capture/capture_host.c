// SPDX-License-Identifier: Apache-2.0
/* Rule capture.host-pointer: a captured copy keeps the host's address, not its bytes, and
 * a captured host function the address of its data.
 * That is reported only with evidence: the memory lay on a stack that has been left, was
 * freed, or cannot be read any more. That pageable memory holds other bytes at a launch
 * is reported as info: a program may well write there for each replay. */
#include "doctor/rules/capture/rules_capture.h"

#include <string.h>

enum { KEEP_HOSTS = 4096 };

static void note_copy(gphi_rule_run *run, const gphi_seen *seen,
                      const gphi_host_bytes *host)
{
    gphi_capture_state *state = run->state;
    if (state->hosts.count >= KEEP_HOSTS)
        return;
    const gphi_host_copy copy = {.call = seen->call,
                                 .capture = seen->capture,
                                 .begun = seen->capture->begin.number,
                                 .first = *host,
                                 .memory =
                                     gphi_model_memory(run->model, host->address, false)};
    if (gphi_vec_push(&state->hosts, &copy) != GPH_OK)
        state->is_short = true;
}

static bool is_pinned(const gphi_host_copy *copy)
{
    return copy->memory && copy->memory->kind != GPHI_MEM_DEVICE &&
           copy->memory->kind != GPHI_MEM_ASYNC;
}

/* Other bytes in memory that is there. Contents that the program renews for each replay
 * look the same as memory that has become something else: the function that made the
 * copy, or one outside it, keeps what it has on the stack, and what it allocated,
 * until it returns. */
static const char *change_of(const gphi_rule_run *run, const gphi_host_copy *copy,
                             const gphi_host_bytes *now, const gphi_call *launch,
                             gph_severity *severity)
{
    if (is_pinned(copy) || !(now->flags & GPHI_HOST_HASHED) ||
        !(copy->first.flags & GPHI_HOST_HASHED) || now->hash == copy->first.hash)
        return NULL;
    if (copy->call.thread == launch->thread &&
        gphi_caller_is_active(run, copy->call.stack, launch->stack))
        return NULL;
    *severity = GPH_SEVERITY_INFO;
    return "held other bytes than when it was captured";
}

/* What has become of the memory, or NULL: nothing that is known to be wrong. */
static const char *fate_of(const gphi_rule_run *run, const gphi_host_copy *copy,
                           const gphi_host_bytes *now, const gphi_call *launch,
                           gph_severity *severity)
{
    *severity = GPH_SEVERITY_ERROR;
    if (is_pinned(copy) && copy->memory->freed.number)
        return NULL; /* launch.dead-operand */
    if (!(copy->first.flags & GPHI_HOST_READABLE))
        return NULL; /* a number that a host function is given */
    if (!(now->flags & GPHI_HOST_READABLE))
        return "was not mapped any more";
    if ((now->flags & GPHI_HOST_LEFT) && (copy->first.flags & GPHI_HOST_ON_STACK) &&
        copy->call.thread == launch->thread)
        return "lay on the stack of a function that has returned";
    if (!is_pinned(copy) && (now->flags & GPHI_HOST_FREED))
        return "had been freed";
    return change_of(run, copy, now, launch, severity);
}

static const char *kind_of(const gphi_host_copy *copy)
{
    if (is_pinned(copy))
        return "pinned";
    if (copy->call.call == GPHI_CALL_cuLaunchHostFunc)
        return "the host function's";
    return copy->first.flags & GPHI_HOST_ON_STACK ? "the stack's" : "pageable";
}

static void tell(gphi_rule_run *run, gphi_host_copy *copy, const gphi_call *launch,
                 const char *fate, gph_severity severity)
{
    copy->is_told = true;
    gphi_draft *draft =
        gphi_capture_find(run, GPHI_RULE_HOST_POINTER, &copy->call, copy->call.call);
    gphi_cause(draft,
               "%s captured the host address 0x%llx (%llu bytes of %s memory); when the "
               "graph was launched, that memory %s.",
               gphi_say_call(&copy->call), (unsigned long long)copy->first.address,
               (unsigned long long)copy->first.bytes, kind_of(copy), fate);
    if (severity == GPH_SEVERITY_ERROR)
        gphi_harden(draft);
    if (severity == GPH_SEVERITY_INFO) {
        gphi_soften(draft);
        gphi_evidence(draft, "that is as it should be if the program writes there for "
                             "each replay; it is wrong if the memory was freed and is "
                             "something else's now");
    }
    gphi_evidence_call(draft, launch, "the launch");
    gphi_evidence_call(draft, &copy->capture->begin, "the capture began");
    gphi_fix(draft, "Here: keep a pinned buffer (cuMemAllocHost) as long as the "
                    "executable graph, and copy the values there.");
}

/* Before a launch: the memory of its copies as it is now. */
void gphi_host_launch(gphi_rule_run *run, const gphi_event *event)
{
    gphi_capture_state *state = run->state;
    gphi_host_copy *copies = state->hosts.items;
    gphi_host_bytes now;
    const gphi_exec_state *exec = gphi_model_exec(run->model, event->id);
    const gphi_snapshot *source = exec ? exec->source : NULL;
    const gphi_call launch = {.number = run->model->call_count + 1,
                              .time_ns = event->time_ns,
                              .call = GPHI_CALL_cuGraphLaunch,
                              .thread = event->thread,
                              .stack = event->stack};
    for (uint32_t nth = 0; source && gphi_event_host(event, nth, &now); nth++)
        for (size_t i = 0; i < state->hosts.count; i++) {
            gphi_host_copy *copy = &copies[i];
            if (copy->is_told || copy->first.address != now.address ||
                copy->first.bytes != now.bytes || source->capture != copy->capture ||
                copy->begun != copy->capture->begin.number)
                continue;
            gph_severity severity;
            const char *fate = fate_of(run, copy, &now, &launch, &severity);
            if (fate)
                tell(run, copy, &launch, fate, severity);
        }
}

void gphi_host_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_host_bytes host;
    if (seen->call.result == CUDA_SUCCESS && seen->capture &&
        gphi_event_host(seen->event, 0, &host))
        note_copy(run, seen, &host);
}

void gphi_host_fini(gphi_rule_run *run)
{
    gphi_capture_state *state = run->state;
    gphi_vec_fini(&state->hosts);
}
