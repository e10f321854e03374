// SPDX-License-Identifier: Apache-2.0
/* Rules cache.* and tree.*: graphs kept for later, and what libgph says of its own.
 *
 *   given-up         updates are refused, and from then on kernels come one by one
 *   padding-waste    hits of larger buckets than were asked for, by notes of libgph
 *   re-record-storm  functions of a tree recorded more often than replayed, by notes
 *   frozen-choice    a kernel that lost a measurement after it was captured */
#include "doctor/rules/memory/rules_memory.h"
#include "doctor/rules/rules.h"

#include <gph/reason.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- cache.given-up ---- */

/* Refused updates, and what was launched without a graph since the last launch of one. */
typedef struct given_up {
    gphi_map functions; /* kernels of executables whose update was refused -> 1 */
    uint32_t refused, kernels;
    uint32_t launches; /* since the last refusal */
    uint64_t eager;
    gphi_call last_refused, last_launch, first_eager;
} given_up;

static void add_functions(given_up *state, const gph_graph *graph)
{
    uint32_t kernels = 0;
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind != GPH_NODE_KERNEL)
            continue;
        kernels++;
        if (gphi_map_set(&state->functions, node->u.kernel.handle, 1) != GPH_OK)
            return;
    }
    if (kernels > state->kernels)
        state->kernels = kernels;
}

static bool is_update(const gphi_seen *seen)
{
    switch (seen->call.call) {
    case GPHI_CALL_cuGraphExecUpdate:
    case GPHI_CALL_cuGraphExecKernelNodeSetParams:
    case GPHI_CALL_cuGraphExecMemcpyNodeSetParams:
    case GPHI_CALL_cuGraphExecMemsetNodeSetParams:
    case GPHI_CALL_cuGraphExecChildGraphNodeSetParams:
    case GPHI_CALL_cuGraphExecNodeSetParams: return true;
    default: return false;
    }
}

/* A program that launches graphs again has not given up. */
static void given_up_call(gphi_rule_run *run, const gphi_seen *seen)
{
    enum { GOES_ON = 8 };
    given_up *state = run->state;
    const gphi_history *history = run->history;
    if (history->launched) {
        state->last_launch = seen->call;
        state->eager = 0;
        if (++state->launches >= GOES_ON)
            state->refused = 0; /* it went on with graphs */
        return;
    }
    if (is_update(seen) && seen->call.result == 0)
        state->refused = 0;
    if (is_update(seen) && seen->call.result != 0 && seen->exec &&
        seen->exec->launch_count > 0) {
        state->refused++;
        state->launches = 0;
        state->last_refused = seen->call;
        if (seen->exec->source && seen->exec->source->data)
            add_functions(state, seen->exec->source->data);
        return;
    }
    if (state->refused == 0 || !gphi_call_is_kernel(seen->call.call) || seen->capture ||
        !gphi_map_get(&state->functions, gphi_launched_kernel(run->model, seen->event)))
        return;
    if (state->eager++ == 0)
        state->first_eager = seen->call;
}

static void given_up_end(gphi_rule_run *run)
{
    enum { REFUSED_MIN = 3, EAGER_MIN = 24 };
    const given_up *state = run->state;
    if (state->refused < REFUSED_MIN || state->eager < EAGER_MIN ||
        state->eager < 3 * (uint64_t)state->kernels ||
        state->first_eager.number < state->last_launch.number)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &state->last_refused, 0);
    gphi_cause(
        draft,
        "after %u refused updates no graph was launched any more; its kernels were "
        "launched one by one %" PRIu64 " times since",
        state->refused, state->eager);
    gphi_evidence_call(draft, &state->last_refused, "the last update was refused to");
    gphi_evidence_call(draft, &state->last_launch, "the last launch of a graph was");
    gphi_evidence_call(draft, &state->first_eager, "its kernels are now launched by");
}

/* ---- notes of libgph ---- */

/* A cache, or a function of a tree. */
typedef struct noted {
    uint64_t object, function;
    char name[64];
    gphi_call at; /* the last launch before the note, of the same thread */
    uint64_t replays, padded, asked, units;
    uint64_t records, again; /* recordings; and those that are not first ones */
    uint64_t reasons[16];
} noted;

typedef struct notes {
    gphi_vec items;
    gphi_call last; /* launch or call that made a stack */
} notes;

static void notes_init(gphi_rule_run *run)
{
    notes *state = run->state;
    gphi_vec_init(&state->items, run->model->heap, sizeof(noted));
}

/* A note has no call of its own: it is reported at the last launch or instantiation of its
 * thread. */
static void notes_call(gphi_rule_run *run, const gphi_seen *seen)
{
    notes *state = run->state;
    if (seen->call.call == GPHI_CALL_cuGraphLaunch ||
        gphi_call_is_instantiation(seen->call.call))
        state->last = seen->call;
}

static noted *noted_of(gphi_rule_run *run, const gphi_event *event, uint64_t function)
{
    notes *state = run->state;
    const uint64_t key[] = {gphi_event_word(event, 0), function};
    noted *one = gphi_vec_keyed(&state->items, key, sizeof(key), SIZE_MAX);
    if (one && one->name[0] == '\0')
        snprintf(one->name, sizeof(one->name), "%s", gphi_event_text(event, 0));
    if (one && state->last.thread == event->thread)
        one->at = state->last;
    return one;
}

static void notes_fini(gphi_rule_run *run)
{
    notes *state = run->state;
    gphi_vec_fini(&state->items);
}

/* ---- cache.padding-waste ---- */

static void padding_event(gphi_rule_run *run, const gphi_event *event)
{
    if (event->kind != GPHI_EVENT_NOTE || event->id != GPHI_NOTE_CACHE_HIT ||
        gphi_event_word(event, 3) > 1)
        return;
    noted *one = noted_of(run, event, 0);
    if (!one)
        return;
    one->replays++;
    one->padded += gphi_event_word(event, 3) == 1;
    one->asked += gphi_event_word(event, 1);
    one->units += gphi_event_word(event, 4);
}

static void padding_end(gphi_rule_run *run)
{
    enum { REPLAYS_MIN = 32 };
    const notes *state = run->state;
    GPHI_EACH (const noted, one, &state->items) {
        if (one->replays < REPLAYS_MIN || one->units <= one->asked ||
            (one->units - one->asked) * 10 < one->units * 4)
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &one->at, one->object);
        gphi_cause(draft,
                   "cache %.99s: %.0f %% of what its graphs worked on was padding "
                   "(%" PRIu64 " units asked for, %" PRIu64 " replayed)",
                   one->name,
                   100.0 * (double)(one->units - one->asked) / (double)one->units,
                   one->asked, one->units);
        gphi_evidence(draft,
                      "%" PRIu64 " replays, %" PRIu64 " of them in a larger bucket than "
                      "was asked for, as libgph reported",
                      one->replays, one->padded);
    }
}

/* ---- tree.re-record-storm ---- */

/* Of a log that a newer libgph wrote, too. */
static const char *reason_word(size_t reason)
{
    static const char *const words[GPH_TREE_REASONS_MAX] = {[GPH_TREE_NONE] = "none",
#define X(name, value, word, text) [name] = text,
                                                            GPH_TREE_REASON_MAP(X)
#undef X
    };
    const char *word = reason < GPH_TREE_REASONS_MAX ? words[reason] : NULL;
    return word ? word : "another reason";
}

static void storm_event(gphi_rule_run *run, const gphi_event *event)
{
    if (event->kind != GPHI_EVENT_NOTE ||
        (event->id != GPHI_NOTE_TREE_RECORD && event->id != GPHI_NOTE_TREE_REPLAY))
        return;
    noted *one = noted_of(run, event, gphi_event_word(event, 1));
    if (!one)
        return;
    if (event->id == GPHI_NOTE_TREE_REPLAY) {
        one->replays++;
        return;
    }
    const uint64_t why = gphi_event_word(event, 3);
    one->records++;
    one->again += why > 1;
    one->reasons[why < 16 ? why : 15]++;
}

static void storm_end(gphi_rule_run *run)
{
    enum { AGAIN_MIN = 4 };
    const notes *state = run->state;
    GPHI_EACH (const noted, one, &state->items) {
        if (one->again < AGAIN_MIN || one->replays >= 2 * one->again)
            continue;
        size_t most = 2;
        for (size_t k = 3; k < 16; k++)
            most = one->reasons[k] > one->reasons[most] ? k : most;
        gphi_draft *draft = gphi_finding_begin(run, &one->at, one->function);
        gphi_cause(
            draft,
            "function %.99s of a tree was recorded %" PRIu64 " times and replayed "
            "%" PRIu64 " times; %" PRIu64 " times it was recorded again because: %s",
            one->name, one->records, one->replays, one->reasons[most], reason_word(most));
        for (size_t k = 1; k < 16; k++)
            if (one->reasons[k] != 0)
                gphi_evidence(draft, "%s: %s",
                              gphi_say_count(one->reasons[k], "recording"),
                              reason_word(k));
    }
}

/* ---- cache.frozen-choice ---- */

/* A kernel of a library, as the program uses it outside graphs. */
typedef struct choice {
    uint64_t function;
    uint64_t tuned; /* number of the call that read the time of it; 0: never */
    uint64_t uses;  /* since, without being timed */
} choice;

typedef struct choices {
    gphi_map indices; /* of functions, in `items` */
    gphi_vec items;
    uint64_t pending[16]; /* launched since the last record of an event */
    uint64_t timed[16];   /* between the last two records */
    uint32_t pending_count, timed_count;
    uint64_t first_tuned;
} choices;

/* NULL: not seen outside graphs. */
static choice *choice_known(const choices *state, uint64_t function)
{
    const uint64_t *known = gphi_map_get(&state->indices, function);
    return known ? gphi_vec_at(&state->items, (size_t)*known) : NULL;
}

static choice *choice_of(choices *state, uint64_t function)
{
    choice *one = choice_known(state, function);
    if (one || state->items.count >= 1024 ||
        gphi_map_set(&state->indices, function, state->items.count) != GPH_OK)
        return one;
    if ((one = gphi_vec_add(&state->items, 1)))
        *one = (choice){.function = function};
    else
        gphi_map_remove(&state->indices, function);
    return one;
}

/* Kernels that libraries choose among by measuring, by words of their names. */
static bool is_chosen(const gphi_model *model, uint64_t function)
{
    static const char *const words[] = {
        "cudnn",  "conv",  "winograd", "implicit", "xmma",  "gemm",  "gemv", "cutlass",
        "splitk", "nvjet", "cublas",   "dgrad",    "wgrad", "fprop", NULL};
    return gphi_name_has(gphi_function_name(model, function), words);
}

static void choice_init(gphi_rule_run *run)
{
    choices *state = run->state;
    gphi_vec_init(&state->items, run->model->heap, sizeof(choice));
}

/* To measure is: record an event, launch, record another, ask for the time between. What
 * was launched between two records is what the next question for a time is about. */
static void choice_call(gphi_rule_run *run, const gphi_seen *seen)
{
    choices *state = run->state;
    if (seen->call.result != 0 || seen->capture)
        return;
    if (gphi_call_is_kernel(seen->call.call)) {
        const uint64_t function = gphi_launched_kernel(run->model, seen->event);
        choice *one = is_chosen(run->model, function) ? choice_of(state, function) : NULL;
        if (!one)
            return;
        one->uses++;
        if (state->pending_count < 16)
            state->pending[state->pending_count++] = function;
    } else if (seen->call.call == GPHI_CALL_cuEventElapsedTime) {
        for (uint32_t i = 0; i < state->timed_count; i++) {
            choice *one = choice_of(state, state->timed[i]);
            if (!one)
                continue;
            one->tuned = seen->call.number;
            one->uses = 0;
        }
        if (state->first_tuned == 0 && state->timed_count > 0)
            state->first_tuned = seen->call.number;
        state->pending_count = state->timed_count = 0;
    } else if (seen->call.call == GPHI_CALL_cuEventRecord) {
        memcpy(state->timed, state->pending, sizeof(state->timed));
        state->timed_count = state->pending_count;
        state->pending_count = 0;
    }
}

/* What was tuned and is used now; NULL: not one of them. */
static const choice *winner_of(const choices *state, const choice *but)
{
    enum { USES_MIN = 3 };
    const choice *found = NULL;
    GPHI_EACH (const choice, one, &state->items)
        if (one != but && one->tuned != 0 && one->uses >= USES_MIN &&
            (!found || one->uses > found->uses))
            found = one;
    return found;
}

/* Captured before it was measured, launched after, and not used outside since. */
static const choice *frozen_in(const gphi_rule_run *run, const gphi_exec_history *exec)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches) {
        const choice *one =
            touch->bytes == 0 ? choice_known(run->state, touch->function) : NULL;
        if (one && one->tuned > exec->created && one->uses == 0 &&
            exec->last_launch.number > one->tuned)
            return one;
    }
    return NULL;
}

static void choice_end(gphi_rule_run *run)
{
    const choices *state = run->state;
    const gphi_history *history = run->history;
    for (size_t i = 0; state->first_tuned != 0 && i < history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        const choice *frozen = frozen_in(run, exec);
        const choice *winner = frozen ? winner_of(state, frozen) : NULL;
        if (!winner)
            continue;
        gphi_draft *draft =
            gphi_finding_begin(run, &exec->exec->created, frozen->function);
        gphi_cause(
            draft,
            "the graph was captured with %s; compared with others since, it was slower: "
            "outside graphs %s is used now, the graph goes on with the old choice",
            gphi_function_name(run->model, frozen->function),
            gphi_function_name(run->model, winner->function));
        gphi_evidence_call(draft, &exec->last_launch, "the graph is still launched by");
        gphi_evidence(draft, "%s was launched %" PRIu64 " times since it was measured",
                      gphi_function_name(run->model, winner->function), winner->uses);
    }
}

static void choice_fini(gphi_rule_run *run)
{
    choices *state = run->state;
    gphi_vec_fini(&state->items);
}

/* ---- the table ---- */

const gphi_rule gphi_rules_cache[] = {
    GPHI_RULE("cache.shape-explosion", WARNING, .end = gphi_rule_shape_explosion),
    GPHI_RULE("cache.given-up", WARNING, .state_bytes = sizeof(given_up), .map_count = 1,
              .call = given_up_call, .end = given_up_end),
    GPHI_RULE("cache.padding-waste", WARNING, .state_bytes = sizeof(notes),
              .init = notes_init, .call = notes_call, .event = padding_event,
              .end = padding_end, .fini = notes_fini),
    GPHI_RULE("cache.frozen-choice", WARNING, .state_bytes = sizeof(choices),
              .map_count = 1, .init = choice_init, .call = choice_call, .end = choice_end,
              .fini = choice_fini),
    GPHI_RULE("tree.re-record-storm", WARNING, .state_bytes = sizeof(notes),
              .init = notes_init, .call = notes_call, .event = storm_event,
              .end = storm_end, .fini = notes_fini),
    {.id = NULL},
};
