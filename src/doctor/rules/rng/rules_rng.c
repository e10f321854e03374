// SPDX-License-Identifier: Apache-2.0
/* Rule rng.frozen: a kernel that draws random numbers (by its name) is replayed with the
 * same arguments, and nothing it is given can be a state that advances. An address may be
 * a state unless it is seen to be data: copied from, or an argument of a kernel that
 * draws nothing and works on other addresses, too.
 *
 * And a generator of libgph's that is set back to the same state before each launch, or whose
 * words a recording reads, though it says that it takes no numbers. */
#include "doctor/rules/memory/rules_memory.h"
#include "doctor/rules/rules.h"

#include <inttypes.h>
#include <string.h>

enum {
    LAUNCHES_MIN = 3,
    LAUNCHES_MAX = 64, /* what is not frozen by then is not */
    SETS_MIN = 4,      /* a test may compare two or three replays */
    SETS_KEPT = 16,
    GRAPHS_MAX = 64
};

/* A generator of libgph's. */
typedef struct generator {
    uint64_t id, seed, offset;
    uint64_t times; /* set to that, each time after another launch */
    uint64_t launches;
    gphi_call first, last;
    bool is_other; /* it was set to something else as well */
} generator;

/* A recording whose step of the generator libgph has taken out. */
typedef struct undrawn {
    uint64_t graph, made, words; /* made: number of the call that made the graph */
} undrawn;

typedef struct frozen {
    gphi_map
        rows; /* gphi_exec_history -> launches without anything new for its kernels */
    generator sets[SETS_KEPT];
    uint32_t count;
    undrawn taken[SETS_KEPT];
    uint32_t taken_count;
} frozen;

/* A kernel that is given more than one address. */
static bool works_on_others(const gphi_exec_history *exec, const gphi_touch *at)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (touch->node == at->node && touch->address != at->address)
            return true;
    return false;
}

static bool is_data(const gphi_history *history, const gphi_exec_history *exec,
                    const gphi_touch *of)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches) {
        if (touch->is_random || touch->node == of->node)
            continue;
        if (touch->reads && gphi_touch_meets(history, touch, of->address, 1))
            return true;
        if (touch->bytes == 0 && touch->address == of->address &&
            works_on_others(exec, touch))
            return true;
    }
    const gphi_memory_history *memory =
        of->memory ? gphi_history_memory(history, of->memory) : NULL;
    for (size_t i = 0; memory && i < memory->read.count; i++) {
        const gphi_range_history *range = gphi_vec_at(&memory->read, i);
        if (range->start <= of->address && of->address < range->end)
            return true;
        if (!memory->is_cut && of->address == of->memory->address)
            return true;
    }
    return false;
}

/* Whether somebody wrote there, or may have, since the launch before. */
static bool is_renewed(const gphi_history *history, const gphi_touch *of)
{
    const gphi_memory_history *memory =
        of->memory ? gphi_history_memory(history, of->memory) : NULL;
    for (size_t i = 0; memory && i < memory->written.count; i++) {
        const gphi_range_history *range = gphi_vec_at(&memory->written, i);
        if (range->last.number > history->before.number && range->start <= of->address &&
            of->address < range->end)
            return true;
    }
    for (size_t i = 0; memory && i < memory->pointers.count; i++) {
        const gphi_touch *pointer = gphi_vec_at(&memory->pointers, i);
        if (pointer->since > history->before.number && pointer->address == of->address)
            return true;
    }
    return false;
}

/* The kernel whose addresses are all data and were not written; its first address. */
static const gphi_touch *find_frozen(const gphi_history *history,
                                     const gphi_exec_history *exec)
{
    const gphi_touch *found = NULL;
    uint32_t passed = UINT32_MAX;
    GPHI_EACH (const gphi_touch, touch, &exec->touches) {
        if (!touch->is_random || touch->node == passed)
            continue;
        if (found && found->node != touch->node)
            return found;
        if (!is_data(history, exec, touch) || is_renewed(history, touch)) {
            found = NULL;
            passed = touch->node;
        } else if (!found) {
            found = touch;
        }
    }
    return found;
}

/* Where a kernel node that is about to go is libgph's step: the words that it advances. */
static void note_taken(gphi_rule_run *run, uint64_t handle)
{
    frozen *state = run->state;
    const gphi_model *model = run->model;
    for (size_t i = model->graphs.count, n = 0; i-- > 0 && n < GRAPHS_MAX; n++) {
        const gphi_graph_state *graph = gphi_vec_pointer(&model->graphs, i);
        const gph_node *node = gph_graph_node(gphi_snapshot_graph(graph->last),
                                              gphi_snapshot_index(graph->last, handle));
        if (!graph->is_alive || !node)
            continue;
        const gph_kernel_params *kernel = &node->u.kernel;
        undrawn new = {.graph = graph->handle, .made = graph->created.number};
        if (node->kind != GPH_NODE_KERNEL || !kernel->function || !kernel->buffer ||
            strcmp(kernel->function, "gph_rng_step") != 0 ||
            kernel->buffer_bytes < sizeof(new.words))
            return;
        memcpy(&new.words, kernel->buffer, sizeof(new.words));
        state->taken[state->taken_count++ % SETS_KEPT] = new;
        return;
    }
}

/* Kernels are given the words, and nothing advances them. */
static void find_undrawn(gphi_rule_run *run, const gphi_exec_history *exec)
{
    const frozen *state = run->state;
    for (uint32_t i = 0; i < state->taken_count && i < SETS_KEPT; i++) {
        const undrawn *of = &state->taken[i];
        if (of->graph != exec->exec->graph || of->made != exec->exec->graph_made)
            continue;
        GPHI_EACH (const gphi_touch, touch, &exec->touches) {
            if (touch->address != of->words || touch->bytes != 0)
                continue;
            const gphi_call *made = gphi_snapshot_made(exec->source, touch->node);
            gphi_draft *draft = gphi_finding_begin(run, made, exec->created);
            gphi_cause(
                draft,
                "%s is given the words of a generator, and the recording says that "
                "it takes no numbers: nothing advances them, so the numbers are the "
                "same in each call",
                gphi_say_node(exec->source, touch->node));
            gphi_evidence_call(draft, &exec->last_launch, "launched again by");
            gphi_fix(draft,
                     "Here: set rng_count of the call to how many numbers it takes.");
            return;
        }
    }
}

static void frozen_call(gphi_rule_run *run, const gphi_seen *seen)
{
    if (seen->call.call == GPHI_CALL_cuGraphDestroyNode && seen->call.result == 0)
        note_taken(run, gphi_event_word(seen->event, 0));
    if (run->history->launched && run->history->launched->launches == LAUNCHES_MIN)
        find_undrawn(run, run->history->launched);

    frozen *state = run->state;
    const gphi_history *history = run->history;
    const gphi_exec_history *exec = history->launched;
    if (!exec || exec->random_kernels == 0 || history->before_work == 0 ||
        exec->launches > LAUNCHES_MAX)
        return;
    const gphi_touch *touch =
        exec->updated > history->before.number ? NULL : find_frozen(history, exec);
    const uint64_t *old = gphi_map_get(&state->rows, (uintptr_t)exec);
    const uint64_t row = touch ? (old ? *old : 1) + 1 : 0;
    if (gphi_map_set(&state->rows, (uintptr_t)exec, row) != GPH_OK || row != LAUNCHES_MIN)
        return;
    /* The launch that was captured has the seed, as a number that is captured has its. */
    const gphi_call *made = gphi_snapshot_made(exec->source, touch->node);
    gphi_draft *draft =
        gphi_finding_begin(run, made->number != 0 ? made : &seen->call, exec->created);
    gphi_cause(draft,
               "%s draws random numbers and was replayed %" PRIu64
               " times in a row with the same arguments; no state is written between "
               "the launches, so the numbers are the same each time",
               gphi_say_node(exec->source, touch->node), row);
    gphi_evidence(draft, "that it draws random numbers is concluded from its name, %s",
                  touch->name ? touch->name : "?");
    gphi_evidence(draft, "all the addresses that it is given are data of other work");
    gphi_evidence_call(draft, made, "it was captured by");
    gphi_evidence_call(draft, &seen->call, "launched again by");
}

/* ---- set back ---- */

static generator *generator_of(frozen *state, uint64_t id)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (state->sets[i].id == id)
            return &state->sets[i];
    generator *new = state->count < SETS_KEPT ? &state->sets[state->count++] : NULL;
    if (new)
        *new = (generator){.id = id};
    return new;
}

static void frozen_event(gphi_rule_run *run, const gphi_event *event)
{
    if (event->kind != GPHI_EVENT_NOTE || event->id != GPHI_NOTE_RNG || !run->history)
        return;
    const uint64_t launches = run->history->now.launches;
    const uint64_t seed = gphi_event_word(event, 1), offset = gphi_event_word(event, 2);
    generator *one = generator_of(run->state, gphi_event_word(event, 0));
    if (!one)
        return;
    const gphi_call at = {.number = run->model->call_count,
                          .time_ns = event->time_ns,
                          .call = GPHI_CALL_COUNT,
                          .thread = event->thread,
                          .stack = event->stack};
    if (one->times == 0) {
        one->seed = seed;
        one->offset = offset;
        one->first = at;
    } else if (one->launches == launches)
        return;
    one->is_other |= one->seed != seed || one->offset != offset;
    one->times++;
    one->launches = launches;
    one->last = at;
}

/* The one call of a loop: who compares replays sets it in more places, or once for each. */
static void frozen_end(gphi_rule_run *run)
{
    const frozen *state = run->state;
    for (uint32_t i = 0; i < state->count; i++) {
        const generator *one = &state->sets[i];
        const uint64_t launches = run->history->now.launches;
        if (one->is_other || one->times < SETS_MIN || one->first.stack == 0 ||
            one->first.stack != one->last.stack || launches > one->times)
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &one->last, one->id);
        gphi_cause(draft,
                   "a generator was set %s to the same seed, %" PRIu64
                   ", and offset, %" PRIu64
                   ", each time before a launch: all launches have the same numbers",
                   gphi_say_count(one->times, "time"), one->seed, one->offset);
        gphi_fix(draft, "Here: set it once; each launch goes on where the one before "
                        "has ended.");
    }
}

const gphi_rule gphi_rules_rng[] = {
    GPHI_RULE("rng.frozen", WARNING, .state_bytes = sizeof(frozen), .map_count = 1,
              .call = frozen_call, .event = frozen_event, .end = frozen_end),
    {.id = NULL},
};
