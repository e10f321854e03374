// SPDX-License-Identifier: Apache-2.0
/* Rule memory.graph-memory-kept: what nodes of graphs allocate stays reserved for graphs
 * when the last of them is destroyed, until cuDeviceGraphMemTrim. Reported of a program that
 * has no such graph left, goes on allocating otherwise, and never trims. */
#include "doctor/rules/memory/rules_memory.h"

enum { GOES_ON = 32, BYTES_MIN = 64 << 20 };

static uint64_t bytes_of(const gphi_exec_history *exec)
{
    uint64_t bytes = 0;
    GPHI_EACH (const gphi_touch, touch, &exec->allocations)
        bytes += touch->writes ? 0 : touch->bytes;
    return bytes;
}

static bool is_other_alloc(uint32_t call)
{
    switch (call) {
    case GPHI_CALL_cuMemAlloc:
    case GPHI_CALL_cuMemAllocPitch:
    case GPHI_CALL_cuMemAllocAsync:
    case GPHI_CALL_cuMemAllocFromPoolAsync:
    case GPHI_CALL_cuMemCreate: return true;
    default: return false;
    }
}

void gphi_rule_graph_memory_kept_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_reserved_state *state = run->state;
    const uint32_t call = seen->call.call;
    if (seen->call.result != 0)
        return;
    if (call == GPHI_CALL_cuDeviceGraphMemTrim) {
        *state = (gphi_reserved_state){.bytes = 0};
        return;
    }
    if (is_other_alloc(call) && !seen->capture)
        state->others += state->bytes > 0;
    if (call != GPHI_CALL_cuGraphExecDestroy || !seen->exec)
        return;
    const gphi_exec_history *exec = gphi_history_exec(run->history, seen->exec);
    const uint64_t bytes = exec && exec->launches > 0 ? bytes_of(exec) : 0;
    if (bytes == 0)
        return;
    if (bytes > state->bytes)
        state->bytes = bytes;
    state->destroyed = seen->call;
    state->others = 0;
}

void gphi_rule_graph_memory_kept_end(gphi_rule_run *run)
{
    const gphi_reserved_state *state = run->state;
    const gphi_history *history = run->history;
    if (run->model->is_killed || history->is_dead || state->others < GOES_ON ||
        state->bytes < BYTES_MIN)
        return;
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        if (gphi_exec_is_alive(exec) && exec->allocations.count > 0)
            return;
    }
    gphi_draft *draft = gphi_finding_begin(run, &state->destroyed, 0);
    gphi_cause(draft,
               "the last graph that allocates was destroyed here; up to %s stay reserved "
               "for graphs, while the program allocates %s outside graphs",
               gphi_say_bytes(state->bytes), gphi_say_count(state->others, "time"));
}
