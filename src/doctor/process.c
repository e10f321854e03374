// SPDX-License-Identifier: Apache-2.0
/* One process under examination: its records through model, rules and listeners.
 *
 *   record ──> saved log      as it came
 *          ──> renumber       its stacks get numbers of the doctor's
 *          ──> stacks, model  what the process has after it
 *          ──> said, history  what rules share
 *          ──> rules          in the order of the tables
 *          ──> listeners      report and advice
 *
 * A GRAPH record that repeats an earlier snapshot stands for that one's records, which
 * are fed after it (repeat.c). */
#include "base/fail.h"
#include "base/heap.h"
#include "base/plain.h"
#include "doctor/examination.h"
#include "doctor/history/history.h"
#include "doctor/language/language.h"
#include "doctor/rules/rules.h"

#include <string.h>

static const gphi_rule *const tables[] = {
#define X(class) gphi_rules_##class,
    GPHI_RULE_TABLES(X)
#undef X
};

/* ---- life ---- */

/* A rule's run, with the state that the row asks for. Once it is in the list its state is
 * freed with the process, however far the rest comes. */
static gph_status add_rule(gphi_process *process, const gphi_rule *rule)
{
    const gph_allocator heap = process->model->heap;
    const size_t bytes = rule->list_bytes > 0 ? sizeof(gphi_vec) : rule->state_bytes;
    GPHI_TRY(gphi_vec_reserve(&process->runs, 1));
    void *state = bytes > 0 ? gphi_heap_alloc(heap, bytes) : NULL;
    if (bytes > 0 && !state)
        return GPH_E_NO_MEMORY;
    gphi_rule_run *run = gphi_vec_add(&process->runs, 1);
    *run = (gphi_rule_run){.model = process->model,
                           .history = process->history,
                           .said = &process->said,
                           .collectives = &process->collectives,
                           .findings = &process->findings,
                           .state = state,
                           .rule = rule};
    if (rule->list_bytes > 0)
        gphi_vec_init(state, heap, rule->list_bytes);
    for (uint32_t i = 0; i < rule->map_count; i++)
        gphi_map_init((gphi_map *)state + i, heap);
    if (rule->init)
        rule->init(run);
    return GPH_OK;
}

static gph_status add_rules(gphi_process *process)
{
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (const gphi_rule *rule = tables[t]; rule->id; rule++)
            GPHI_TRY(add_rule(process, rule));
    return GPH_OK;
}

static void drop_rule(gph_doctor *doctor, gphi_rule_run *run)
{
    const gphi_rule *rule = run->rule;
    if (rule->fini)
        rule->fini(run);
    if (rule->list_bytes > 0)
        gphi_vec_fini(run->state);
    for (uint32_t i = 0; i < rule->map_count; i++)
        gphi_map_fini((gphi_map *)run->state + i);
    gphi_heap_free(doctor->heap, run->state,
                   rule->list_bytes > 0 ? sizeof(gphi_vec) : rule->state_bytes);
}

/* Takes a process that is half made, too. */
void gphi_process_free(gph_doctor *doctor, gphi_process *process)
{
    gphi_rule_run *runs = process->runs.items;
    for (size_t i = 0; i < process->runs.count; i++)
        drop_rule(doctor, &runs[i]);
    gphi_vec_fini(&process->runs);
    gphi_vec_fini(&process->first);
    gphi_map_fini(&process->blocks);
    gphi_repeats_fini(&process->repeats);
    if (process->model) {
        gphi_collectives_fini(&process->collectives);
        gphi_findings_fini(&process->findings);
    }
    gphi_history_destroy(process->history);
    gphi_model_destroy(process->model);
    gphi_stacks_destroy(process->stacks);
    if (process->ring)
        gphi_event_ring_close(process->ring);
    gphi_heap_text_free(doctor->heap, process->ring_path);
    gphi_heap_free(doctor->heap, process, sizeof(*process));
}

/* Blocks of stack numbers go to processes as they come. The first of all is the first
 * process's first, so that no stack's number is 0. Where all are given away, stacks are
 * unknown. */
static gph_status add_block(gph_doctor *doctor, gphi_process *process, uint64_t block)
{
    if (doctor->blocks.count > UINT32_MAX / GPHI_STACK_BLOCK)
        return GPH_OK;
    GPHI_TRY(gphi_map_set(&process->blocks, block + 1, doctor->blocks.count));
    return gphi_vec_push(&doctor->blocks, &process->index);
}

gph_status gphi_process_add(gph_doctor *doctor, uint64_t number, gphi_process **out)
{
    GPHI_TRY(gphi_vec_reserve(&doctor->processes, 1));
    gphi_process *process = gphi_heap_alloc(doctor->heap, sizeof(*process));
    if (!process)
        return GPH_E_NO_MEMORY;
    process->index = (uint32_t)doctor->processes.count;
    process->number = number;
    gphi_vec_init(&process->runs, doctor->heap, sizeof(gphi_rule_run));
    gphi_vec_init(&process->first, doctor->heap, 1);
    gphi_map_init(&process->blocks, doctor->heap);
    gphi_repeats_init(&process->repeats, doctor->heap);
    gph_status status = gphi_model_create(doctor->heap, &process->model);
    GPHI_THEN(status, gphi_stacks_create(doctor->heap, &process->stacks));
    GPHI_THEN(status, gphi_history_create(process->model, &process->history));
    if (status == GPH_OK) {
        process->model->stacks = process->stacks;
        process->model->process = number;
    }
    if (process->model) {
        gphi_collectives_init(&process->collectives, process->model);
        gphi_findings_init(&process->findings, process->model, process->stacks);
    }
    GPHI_THEN(status, add_rules(process));
    GPHI_THEN(status, add_block(doctor, process, 0));
    if (status != GPH_OK) {
        gphi_process_free(doctor, process);
        return status;
    }
    *(gphi_process **)gphi_vec_add(&doctor->processes, 1) = process;
    *out = process;
    return GPH_OK;
}

/* ---- records ---- */

/* The log has the processes' records in turn: a process's first record is repeated
 * wherever another's ended. One that cannot be written ends no examination: the first
 * failure is said at the end. */
static gph_status save_record(gph_doctor *doctor, gphi_process *process,
                              const gphi_event *event, gph_error *error)
{
    static const char later[] = "said when the log ends";
    if (event->kind == GPHI_EVENT_PROCESS && process->first.count == 0 &&
        gphi_event_keep(&process->first, event) != GPH_OK)
        return gphi_fail(error, GPH_E_NO_MEMORY, "keeping a process's record");
    if (!doctor->save)
        return GPH_OK;
    if (doctor->saved != process && event->kind != GPHI_EVENT_PROCESS &&
        process->first.count > 0)
        gphi_ignore(gphi_event_save_add(doctor->save, process->first.items, NULL), later);
    doctor->saved = process;
    gphi_ignore(gphi_event_save_add(doctor->save, event, NULL), later);
    return GPH_OK;
}

/* The doctor's number of a stack of a process. */
static gph_status number_stack(gph_doctor *doctor, gphi_process *process, uint32_t *stack)
{
    const uint64_t block = *stack / GPHI_STACK_BLOCK;
    const uint64_t *known = gphi_map_get(&process->blocks, block + 1);
    if (!known) {
        GPHI_TRY(add_block(doctor, process, block));
        known = gphi_map_get(&process->blocks, block + 1);
    }
    *stack = !known ? 0 : (uint32_t)*known * GPHI_STACK_BLOCK + *stack % GPHI_STACK_BLOCK;
    return GPH_OK;
}

/* The record with the doctor's numbers; those of a run's first process are its own. NULL:
 * no memory. */
static const gphi_event *renumber(gph_doctor *doctor, gphi_process *process,
                                  const gphi_event *event)
{
    const bool names_stack =
        event->kind == GPHI_EVENT_STACK || event->kind == GPHI_EVENT_PYTHON;
    uint32_t stack = event->stack, id = names_stack ? (uint32_t)event->id : 0;
    if ((stack != 0 && number_stack(doctor, process, &stack) != GPH_OK) ||
        (names_stack && number_stack(doctor, process, &id) != GPH_OK))
        return NULL;
    if (stack == event->stack && (!names_stack || id == event->id))
        return event;
    doctor->scratch.count = 0;
    if (gphi_event_keep(&doctor->scratch, event) != GPH_OK)
        return NULL;
    gphi_event *copy = doctor->scratch.items;
    copy->stack = stack;
    if (names_stack)
        copy->id = id;
    return copy;
}

/* The bytes of a text that are one name: all of them, but the first text of a PROCESS record
 * has the words of a command line, each with a newline after it. */
static size_t name_bytes(const gphi_event *event, uint32_t part, const char *at,
                         size_t left)
{
    const bool has_words = event->kind == GPHI_EVENT_PROCESS && part == 0;
    const char *end = has_words ? memchr(at, '\n', left) : NULL;
    return end ? (size_t)(end - at) : left;
}

/* The first name with bytes that a name may not have. */
static char *name_to_clean(const gphi_event *event, size_t *bytes)
{
    const gphi_part *part = gphi_event_parts(event);
    for (uint32_t i = 0; i < event->part_count; i++, part = gphi_part_next(part)) {
        const char *at = gphi_part_bytes(part), *end = at + part->bytes;
        for (; part->kind == GPHI_PART_TEXT && at < end; at += *bytes + 1) {
            *bytes = name_bytes(event, i, at, (size_t)(end - at));
            if (!gphi_is_plain(at, *bytes))
                return (char *)(uintptr_t)at;
        }
    }
    return NULL;
}

/* The record with names that cannot forge a line of a printer's, whichever that is: the
 * page, tables, JSON and sentences all print what is taken here. NULL: no memory. */
static const gphi_event *plain(gph_doctor *doctor, const gphi_event *event)
{
    /* What the program writes is cut into lines first; whoever does so makes them plain. */
    const bool is_written = event->kind == GPHI_EVENT_STDERR;
    size_t bytes = 0;
    char *name = is_written ? NULL : name_to_clean(event, &bytes);
    if (!name)
        return event;
    if (event != doctor->scratch.items) {
        doctor->scratch.count = 0;
        if (gphi_event_keep(&doctor->scratch, event) != GPH_OK)
            return NULL;
    }
    event = doctor->scratch.items;
    while ((name = name_to_clean(event, &bytes)))
        gphi_make_plain(name, bytes);
    return event;
}

/* Rules of calls get those that returned; a call in which the process ended has changed
 * nothing in the model, and has a function of its own. */
static void run_rules(gphi_process *process, const gphi_event *event,
                      const gphi_seen *seen)
{
    gphi_rule_run *runs = process->runs.items;
    const bool is_unreturned = seen && (seen->call.flags & GPHI_CALL_UNRETURNED) != 0;
    gphi_said_note(&process->said, event);
    gphi_collectives_note(&process->collectives, event, seen);
    if (seen && !is_unreturned)
        gphi_history_note(process->history, seen);
    for (size_t i = 0; i < process->runs.count; i++) {
        const gphi_rule *rule = runs[i].rule;
        if (is_unreturned) {
            if (rule->unreturned)
                rule->unreturned(&runs[i], seen);
        } else if (seen && rule->call)
            rule->call(&runs[i], seen);
        if (!seen && rule->event)
            rule->event(&runs[i], event);
    }
}

static gph_status take(gph_doctor *doctor, gphi_process *process, const gphi_event *event,
                       gph_error *error)
{
    event = renumber(doctor, process, event);
    GPHI_TRY(gphi_made(error, event, "reading a record"));
    gphi_seen seen;
    gph_status status =
        gphi_stacks_feed(process->stacks, event); /* opens files by name */
    event = plain(doctor, event);
    GPHI_TRY(gphi_made(error, event, "reading a record"));
    GPHI_THEN(status, gphi_model_feed(process->model, event, &seen));
    if (status != GPH_OK)
        return gphi_fail(error, status, "taking in record %llu",
                         (unsigned long long)doctor->events);
    if (event->kind == GPHI_EVENT_PROCESS)
        process->number = event->id;
    if (event->kind == GPHI_EVENT_EXIT && event->id < 2)
        process->has_exited = true;
    const gphi_seen *call = seen.event ? &seen : NULL;
    run_rules(process, event, call);
    if (call && (call->call.flags & GPHI_CALL_UNRETURNED) != 0)
        call = NULL; /* no call, to those who listen */
    for (size_t i = 0; i < GPHI_LISTENERS_MAX; i++)
        if (doctor->listeners[i].call)
            GPHI_TRY(
                doctor->listeners[i].call(doctor->listeners[i].user, event, call, error));
    return GPH_OK;
}

gph_status gphi_process_feed(gph_doctor *doctor, gphi_process *process,
                             const gphi_event *event, gph_error *error)
{
    const gphi_event *again;
    gphi_graph_event graph;
    size_t at = 0;
    gphi_language_use(doctor->language);
    doctor->now = process;
    doctor->events++;
    GPHI_TRY(save_record(doctor, process, event, error));
    GPHI_TRY(take(doctor, process, gphi_repeats_graph(&process->repeats, event, &graph),
                  error));
    GPHI_TRY(gphi_made(error, gphi_repeats_note(&process->repeats, event) == GPH_OK,
                       "keeping a graph's nodes"));
    if (event->kind != GPHI_EVENT_GRAPH || gphi_event_word(event, 8) == 0)
        return GPH_OK;
    while ((again = gphi_repeats_next(&process->repeats, event, &at)))
        GPHI_TRY(take(doctor, process, again, error));
    return GPH_OK;
}

void gphi_process_end(gphi_process *process)
{
    gphi_rule_run *runs = process->runs.items;
    process->model->is_killed = !process->has_exited;
    for (size_t i = 0; i < process->runs.count; i++)
        if (runs[i].rule->end)
            runs[i].rule->end(&runs[i]);
}
