// SPDX-License-Identifier: Apache-2.0
/* Rule perf.pool-gives-back: the default pool keeps nothing over a synchronization unless
 * its release threshold is set. A step that allocates, frees and waits pays for memory of
 * the system each time. Reported only where the pool was empty at each wait, so that all of it
 * went back, and where the program has no pool of its own and sets nothing. */
#include "doctor/model/call_kinds.h"
#include "doctor/rules/perf/rules_perf.h"

#include <inttypes.h>

enum { ROUNDS_MIN = 8, BYTES_MIN = 1 << 20 };

static bool is_own_way(const gphi_seen *seen)
{
    switch (seen->call.call) {
    case GPHI_CALL_cuMemPoolSetAttribute:
    case GPHI_CALL_cuDeviceSetMemPool:
    case GPHI_CALL_cuMemPoolTrimTo:
    case GPHI_CALL_cuMemAllocFromPoolAsync: return true;
    default: return false;
    }
}

static void on_alloc(gphi_pool_rounds *state, const gphi_seen *seen)
{
    const uint64_t bytes = gphi_event_word(seen->event, 1);
    state->live++;
    if (state->is_empty && bytes >= BYTES_MIN) {
        if (state->rounds++ == 0)
            state->alloc = seen->call;
        state->bytes = bytes;
    }
    state->is_empty = false;
}

void gphi_rule_pool_rounds_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_pool_rounds *state = run->state;
    if (is_own_way(seen))
        state->is_own = true;
    if (state->is_own || seen->call.result != 0 || seen->capture)
        return;
    if (seen->call.call == GPHI_CALL_cuMemAllocAsync)
        on_alloc(state, seen);
    else if (gphi_call_is_free(seen->call.call)) {
        const gphi_allocation *gone =
            gphi_model_memory(run->model, gphi_event_word(seen->event, 0), true);
        if (gone && gone->kind == GPHI_MEM_ASYNC &&
            gone->freed.number == seen->call.number && state->live > 0)
            state->live--;
    } else if (gphi_call_is_wait(seen->call.call) && state->live == 0) {
        state->is_empty = true;
        state->wait = seen->call;
    }
}

void gphi_rule_pool_rounds_end(gphi_rule_run *run)
{
    const gphi_pool_rounds *state = run->state;
    if (state->is_own || state->rounds < ROUNDS_MIN)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &state->alloc, 0);
    gphi_cause(
        draft,
        "%" PRIu64
        " times the pool was empty when the host waited, gave its memory back to the "
        "system and took it again, the last time %s: its release threshold is 0",
        state->rounds, gphi_say_bytes(state->bytes));
    gphi_evidence_call(draft, &state->wait, "the last wait is");
}
