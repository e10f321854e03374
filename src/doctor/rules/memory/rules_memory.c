// SPDX-License-Identifier: Apache-2.0
/* Rules memory.*: a replay finds other memory than was captured, or memory is held for
 * nothing. Here: addresses that are dead.
 *
 *   an address of the graph      its memory          now there        reported as
 *   captured or set at call n    freed after n       nothing          freed-input
 *                                                    other memory     stale-address
 *                                                    of its pool,     alias-after-capture
 *                                                    and written to
 *
 * A launch is looked at only after something was freed since the last look, so a loop of
 * launches costs nothing. What is freed in a stream that does not wait for the last launch
 * is reported at the free (freed-input): the launch may still be at work. */
#include "doctor/rules/memory/rules_memory.h"
#include "doctor/rules/memory/memory_growth.h"
#include "doctor/rules/rules.h"

#include <inttypes.h>

/* ---- memory.stale-address, memory.freed-input, memory.alias-after-capture ---- */

typedef enum dead_kind {
    DEAD_NONE,
    DEAD_FREED,  /* nothing lies there now */
    DEAD_REUSED, /* something else does */
    DEAD_ALIASED /* something else of the same pool, and the graph writes there */
} dead_kind;

static bool is_of_graphs(const gphi_allocation *memory)
{
    return memory->kind == GPHI_MEM_GRAPH;
}

/* What became of the memory a touch was made for. Host memory of copies is the affair of
 * launch.dead-operand. */
static dead_kind dead_of(const gphi_model *model, const gphi_touch *touch,
                         gphi_allocation **now)
{
    const gphi_allocation *was = touch->memory;
    if (!was || was->allocated.number != touch->memory_number || was->freed.number == 0 ||
        was->freed.number <= touch->since || is_of_graphs(was))
        return DEAD_NONE;
    const bool is_host = was->kind == GPHI_MEM_PINNED || was->kind == GPHI_MEM_REGISTERED;
    if (is_host && touch->bytes != 0)
        return DEAD_NONE;
    *now = gphi_model_memory(model, touch->address, false);
    if (!*now)
        return DEAD_FREED;
    /* mapped again at its place: the program wants the address to be the same */
    if (was->kind == GPHI_MEM_VMM && (*now)->kind == GPHI_MEM_VMM)
        return DEAD_NONE;
    const bool is_pool = was->kind == GPHI_MEM_ASYNC && (*now)->kind == GPHI_MEM_ASYNC &&
                         was->pool == (*now)->pool;
    return is_pool && !touch->reads ? DEAD_ALIASED : DEAD_REUSED;
}

/* All touches are looked at even when one is found: has_dead is for the rules that follow
 * and for the next launch. */
static const gphi_touch *find_dead(gphi_history *history, gphi_exec_history *exec,
                                   dead_kind kind, gphi_allocation **now)
{
    if (exec->frees_checked == history->frees && !exec->has_dead)
        return NULL;
    const gphi_touch *found = NULL;
    bool has_dead = false;
    GPHI_EACH (const gphi_touch, touch, &exec->touches) {
        gphi_allocation *there = NULL;
        const dead_kind is = gphi_touch_is_off(history, exec, touch)
                                 ? DEAD_NONE
                                 : dead_of(history->model, touch, &there);
        has_dead = has_dead || is != DEAD_NONE;
        if (is == kind && !found) {
            found = touch;
            *now = there;
        }
    }
    exec->has_dead = has_dead;
    return found;
}

static void tell_past(const gphi_model *model, gphi_draft *draft,
                      const gphi_exec_history *exec, const gphi_touch *touch,
                      const gphi_call *launch)
{
    const gphi_allocation *was = touch->memory;
    gphi_evidence(draft, "the graph uses it in %s", gphi_say_touch(exec, touch));
    gphi_evidence_call(draft, gphi_snapshot_made(exec->source, touch->node),
                       "the node was made by");
    gphi_evidence_call(draft, &was->allocated, "%s was allocated by",
                       gphi_say_allocation(model, was));
    gphi_evidence_call(draft, &was->freed, "it was freed by");
    gphi_evidence_call(draft, launch, "the launch");
}

/* Where the program went wrong: what was freed before the first launch was never to be
 * launched with, and the free is to blame. After that the launch is: memory may be freed,
 * and the graph be captured again. */
static const gphi_call *place_of(const gphi_seen *seen, const gphi_exec_history *exec,
                                 const gphi_touch *touch)
{
    const gphi_call *freed = &touch->memory->freed;
    const bool is_early =
        freed->number > touch->since && freed->number < exec->first_launch.number;
    return is_early && freed->stack != 0 ? freed : &seen->call;
}

/* One finding for each allocation that is gone, however many nodes use it. */
static void tell_dead(gphi_rule_run *run, const gphi_seen *seen, dead_kind kind)
{
    gphi_history *history = run->history;
    gphi_exec_history *exec = history->launched;
    gphi_allocation *now = NULL;
    const gphi_touch *touch = exec ? find_dead(history, exec, kind, &now) : NULL;
    gphi_draft *draft =
        touch ? gphi_finding_begin(run, place_of(seen, exec, touch), touch->memory_number)
              : NULL;
    if (!draft)
        return;
    if (kind == DEAD_FREED)
        gphi_cause(draft,
                   "%s: made with an address in %s, which was freed before this launch; "
                   "nothing is allocated at that address now",
                   gphi_say_touch(exec, touch),
                   gphi_say_allocation(run->model, touch->memory));
    else
        gphi_cause(
            draft,
            "%s: made with an address in %s, which has been freed since; now %s is there",
            gphi_say_touch(exec, touch), gphi_say_allocation(run->model, touch->memory),
            gphi_say_allocation(run->model, now));
    tell_past(run->model, draft, exec, touch, &seen->call);
    if (kind != DEAD_FREED)
        gphi_evidence_call(draft, &now->allocated, "the address was given out again by");
    if (touch->bytes == 0)
        gphi_evidence(draft, "how much the kernel touches from there on, and whether it "
                             "writes, is not known");
}

static void stale_address(gphi_rule_run *run, const gphi_seen *seen)
{
    tell_dead(run, seen, DEAD_REUSED);
    gphi_rule_block_call(run, seen);
}

/* The touch of an executable by which it works in what this call has freed. */
static const gphi_touch *freed_under(const gphi_history *history,
                                     const gphi_exec_history *exec, const gphi_seen *seen)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (touch->memory && touch->memory->allocated.number == touch->memory_number &&
            touch->memory->freed.number == seen->call.number &&
            !gphi_touch_is_off(history, exec, touch))
            return touch;
    return NULL;
}

static void tell_freed_under(gphi_rule_run *run, const gphi_seen *seen,
                             const gphi_exec_history *exec, const gphi_touch *touch)
{
    gphi_draft *draft = gphi_finding_begin(run, &seen->call, 0);
    gphi_cause(draft,
               "%s is freed while the launch before may still be at work on it: nothing "
               "orders the free, on %s, after it",
               gphi_say_allocation(run->model, touch->memory),
               gphi_say_stream(run->model, seen->stream));
    gphi_fix(draft,
             "Here: record an event after the launch and let the stream of the free "
             "wait for it, or free in the stream of the launch.");
    gphi_evidence(draft, "the graph uses it in %s", gphi_say_touch(exec, touch));
    gphi_evidence_call(draft, gphi_snapshot_made(exec->source, touch->node),
                       "the node was made by");
    gphi_evidence_call(draft, &exec->last_launch, "the graph was launched by");
}

static void freed_input(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_history *history = run->history;
    const bool is_free = seen->call.call == GPHI_CALL_cuMemFreeAsync && seen->work &&
                         seen->call.result == 0 && !seen->work->is_captured;
    for (int i = 0; is_free && i < GPHI_RECENT && history->recent[i]; i++) {
        const gphi_exec_history *exec = history->recent[i];
        const gphi_touch *touch =
            exec->last_work != 0 && gphi_exec_is_alive(exec) &&
                    !gphi_model_ordered(run->model, exec->last_work, seen->work->number)
                ? freed_under(history, exec, seen)
                : NULL;
        if (touch) {
            tell_freed_under(run, seen, exec, touch);
            return;
        }
    }
    tell_dead(run, seen, DEAD_FREED);
}

/* The last of the three to look: now all addresses are looked at. */
static void alias_after_capture(gphi_rule_run *run, const gphi_seen *seen)
{
    tell_dead(run, seen, DEAD_ALIASED);
    gphi_history *history = run->history;
    if (history->launched)
        history->launched->frees_checked = history->frees;
}

/* ---- memory.pointer-before-launch ---- */

/* Memory of a graph that no launch has allocated, or none leaves allocated. */
static const gphi_graph_memory *unlaunched(const gphi_history *history,
                                           const gphi_seen *seen, uint64_t address)
{
    const gphi_graph_memory *memory =
        address != 0 ? gphi_history_graph_memory(history, address) : NULL;
    if (!memory)
        return NULL;
    const bool is_over =
        memory->is_freed_inside && seen->call.result == CUDA_ERROR_INVALID_VALUE;
    return memory->launched.number == 0 || is_over ? memory : NULL;
}

/* Memory of a graph is there from the first launch on; the address is given out at
 * capture already, and a kernel that uses it before then runs into nothing. */
static void pointer_before_launch(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_history *history = run->history;
    if (history->graph_memories.count == 0 || seen->capture)
        return;
    gphi_call_ranges ranges;
    gphi_touch touches[64];
    uint64_t address = 0;
    const gphi_graph_memory *memory = NULL;
    if (gphi_call_is_kernel(seen->call.call)) {
        const uint32_t count = gphi_call_pointers(run->model, seen, touches, 64);
        for (uint32_t i = 0; i < count && !memory; i++) {
            address = touches[i].address;
            memory = unlaunched(history, seen, address);
        }
    } else if (gphi_call_ranges_of(seen, &ranges)) {
        address = ranges.write;
        memory = unlaunched(history, seen, address);
        if (!memory)
            memory = unlaunched(history, seen, address = ranges.read);
    }
    gphi_draft *draft = memory ? gphi_finding_begin(run, &seen->call, 0) : NULL;
    gphi_cause(draft, "%s uses %s, which a node of a graph allocates; %s%s",
               gphi_say_call(&seen->call), gphi_say_memory(run->model, address),
               memory && memory->launched.number != 0
                   ? "the graph frees it again in every launch"
                   : "no launch has done so yet",
               seen->call.result != 0 ? ", and the call failed" : "");
    if (memory)
        gphi_evidence_call(draft, &memory->made, "it is allocated by");
}

/* ---- memory.foreign-free ---- */

static void tell_free_in_capture(gphi_rule_run *run, const gphi_seen *seen,
                                 uint64_t address)
{
    const gphi_allocation *memory = gphi_model_memory(run->model, address, false);
    if (!memory)
        memory = gphi_model_memory(run->model, address, true);
    gphi_draft *draft = gphi_finding_begin(run, &seen->call, 0);
    gphi_cause(
        draft,
        "the free of %s was captured, but no node of a graph allocates that address: "
        "the call failed with %d, the capture goes on without it",
        gphi_say_memory(run->model, address), (int)seen->call.result);
    if (memory)
        gphi_evidence_call(draft, &memory->allocated, "it was allocated by");
}

/* A free that failed, of memory that graphs allocate: what the driver's code does not say
 * is which of three things was wrong. */
static void foreign_free(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_history *history = run->history;
    const uint32_t call = seen->call.call;
    if (seen->call.result != CUDA_ERROR_INVALID_VALUE || !gphi_call_is_free(call))
        return;
    const uint64_t address = gphi_event_word(seen->event, 0);
    const gphi_graph_memory *memory = gphi_history_graph_memory(history, address);
    if (!memory) {
        if (seen->capture && call == GPHI_CALL_cuMemFreeAsync)
            tell_free_in_capture(run, seen, address);
        return;
    }
    gphi_draft *draft = gphi_finding_begin(run, &seen->call, 0);
    const char *what = draft ? gphi_say_memory(run->model, address) : "";
    if (memory->is_freed_inside)
        gphi_cause(draft, "%s is memory of a graph that frees it itself in every launch",
                   what);
    else if (memory->launched.number == 0)
        gphi_cause(
            draft,
            "%s is memory of a graph that has not been launched: nothing is allocated "
            "there",
            what);
    else
        gphi_cause(draft, "%s is memory of a graph that is freed already", what);
    gphi_evidence_call(draft, &memory->made, "it is allocated by");
    gphi_evidence_call(draft, &memory->freed, "it was freed by");
}

/* ---- the table ---- */

const gphi_rule gphi_rules_memory[] = {
    GPHI_RULE("memory.stale-address", ERROR, .state_bytes = sizeof(gphi_block_state),
              .map_count = 3, .init = gphi_rule_block_init, .call = stale_address,
              .event = gphi_rule_block_event, .end = gphi_rule_block_end,
              .fini = gphi_rule_block_fini),
    GPHI_RULE("memory.freed-input", ERROR, .call = freed_input),
    GPHI_RULE("memory.alias-after-capture", ERROR, .call = alias_after_capture),
    GPHI_RULE("memory.pointer-before-launch", ERROR, .call = pointer_before_launch),
    GPHI_RULE("memory.foreign-free", ERROR, .call = foreign_free),
    GPHI_RULE("memory.input-race", ERROR, .state_bytes = sizeof(gphi_kernel_writes),
              .call = gphi_rule_input_race),
    GPHI_RULE("memory.allocated-elsewhere", ERROR, .list_bytes = sizeof(gphi_pending),
              .call = gphi_rule_elsewhere),
    GPHI_RULE("memory.read-before-done", ERROR, .call = gphi_rule_read_before_done),
    GPHI_RULE("memory.host-read-before-done", ERROR, .event = gphi_rule_host_read),
    GPHI_RULE("memory.staging-overwritten", ERROR,
              .state_bytes = sizeof(gphi_staging_state), .init = gphi_rule_staging_init,
              .event = gphi_rule_staging_event, .call = gphi_rule_staging,
              .fini = gphi_rule_staging_fini),
    GPHI_RULE("memory.output-overwritten", WARNING,
              .state_bytes = sizeof(gphi_output_state), .init = gphi_rule_output_init,
              .call = gphi_rule_output_overwritten, .event = gphi_rule_output_event,
              .end = gphi_rule_output_end, .fini = gphi_rule_output_fini),
    GPHI_RULE("memory.input-not-refreshed", WARNING,
              .state_bytes = sizeof(gphi_input_state), .init = gphi_rule_input_init,
              .call = gphi_rule_input_not_refreshed,
              .end = gphi_rule_input_not_refreshed_end, .fini = gphi_rule_input_fini),
    GPHI_RULE("memory.pool-per-graph", WARNING, .end = gphi_rule_pool_per_graph),
    GPHI_RULE("memory.allocations-never-freed", WARNING,
              .end = gphi_rule_allocations_never_freed),
    GPHI_RULE("memory.graph-memory-leak", ERROR, .state_bytes = sizeof(gphi_trim_state),
              .call = gphi_rule_graph_memory_leak_call,
              .end = gphi_rule_graph_memory_leak),
    GPHI_RULE("memory.wrong-trim", WARNING, .state_bytes = sizeof(gphi_trim_state),
              .call = gphi_rule_wrong_trim),
    GPHI_RULE(
        "memory.graph-memory-kept", WARNING, .state_bytes = sizeof(gphi_reserved_state),
        .call = gphi_rule_graph_memory_kept_call, .end = gphi_rule_graph_memory_kept_end),
    GPHI_RULE("memory.executable-growth", WARNING, .end = gphi_rule_executable_growth),
    GPHI_RULE("memory.growth", WARNING, .state_bytes = sizeof(gphi_growth_state),
              .init = gphi_growth_init, .call = gphi_growth_call, .end = gphi_growth_end,
              .fini = gphi_growth_fini),
    GPHI_RULE("memory.workspace-in-capture", WARNING,
              .list_bytes = sizeof(gphi_workspace), .call = gphi_rule_workspace),
    GPHI_RULE("memory.leak-at-exit", INFO, .is_aside = true,
              .end = gphi_rule_leak_at_exit),
    {.id = NULL},
};
