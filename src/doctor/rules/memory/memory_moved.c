// SPDX-License-Identifier: Apache-2.0
/* Rule memory.input-not-refreshed, of inputs that kernels make: between launches a kernel
 * with one address, so that it must write there, fills a buffer that nobody ever reads,
 * where the same launch at the same place has filled what the graph reads: a pointer was
 * exchanged that the graph keeps (`p.data = new`). */
#include "doctor/rules/memory/rules_memory.h"

#include <inttypes.h>

enum { MADE_MAX = 128, PLACES_MAX = 32, HOMES_MAX = 16, LOST_MIN = 3 };

/* A buffer that was made since the first launch. */
typedef struct made {
    uint64_t address, place;
    gphi_call call, launch; /* the launch after it */
    uint64_t launches;      /* of the process, before it */
    bool is_used;
} made;

/* A place of the program that launches such a kernel, and where it wrote. */
typedef struct place {
    uint64_t key;
    uint64_t homes[HOMES_MAX];
    uint32_t count; /* of homes */
} place;

void gphi_rule_input_init(gphi_rule_run *run)
{
    gphi_input_state *state = run->state;
    gphi_vec_init(&state->suspects, run->model->heap, sizeof(gphi_suspect));
    gphi_vec_init(&state->made, run->model->heap, sizeof(made));
    gphi_vec_init(&state->places, run->model->heap, sizeof(place));
}

void gphi_rule_input_fini(gphi_rule_run *run)
{
    gphi_input_state *state = run->state;
    gphi_vec_fini(&state->suspects);
    gphi_vec_fini(&state->made);
    gphi_vec_fini(&state->places);
}

/* What begins in a buffer, or before it and goes on into it, has it. */
static void note_use(gphi_vec *items, uint64_t address, uint64_t bytes)
{
    enum { BLOCK = 512 }; /* no allocator gives out less */
    GPHI_EACH (made, one, items)
        if (gphi_ranges_meet(one->address, BLOCK, address, bytes))
            one->is_used = true;
}

static place *place_of(gphi_vec *places, uint64_t key)
{
    place *one = gphi_vec_keyed(places, &key, sizeof(key), PLACES_MAX);
    return one;
}

static void note_home(place *of, uint64_t address)
{
    for (uint32_t i = 0; i < of->count; i++)
        if (of->homes[i] == address)
            return;
    if (of->count < HOMES_MAX)
        of->homes[of->count++] = address;
}

/* The oldest gives way: a loop that makes more than these in a step is not looked into. */
static void note_made(gphi_rule_run *run, uint64_t address, uint64_t key,
                      const gphi_call *call)
{
    gphi_input_state *state = run->state;
    const made new = {.address = address,
                      .place = key,
                      .call = *call,
                      .launches = run->history->now.launches};
    if (state->made.count < MADE_MAX)
        (void)gphi_vec_push(&state->made, &new);
    else
        *(made *)gphi_vec_at(&state->made, state->made_next++ % MADE_MAX) = new;
}

static void note_kernel(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_input_state *state = run->state;
    gphi_touch touches[64];
    const uint32_t count = gphi_call_pointers(run->model, seen, touches, 64);
    if (count != 1) {
        for (uint32_t i = 0; i < count; i++)
            note_use(&state->made, touches[i].address, 1);
        return;
    }
    const uint64_t words[] = {seen->call.stack, touches[0].function,
                              gphi_event_word(seen->event, 1),
                              gphi_event_word(seen->event, 4)};
    uint64_t key = 1;
    for (uint32_t i = 0; i < 4; i++)
        key = gphi_hash_word(key, words[i]);
    place *at = seen->call.stack != 0 ? place_of(&state->places, key) : NULL;
    if (at)
        note_home(at, touches[0].address);
    if (at && run->history->now.launches > 0)
        note_made(run, touches[0].address, key, &seen->call);
    else
        note_use(&state->made, touches[0].address, 1);
}

void gphi_rule_input_moved(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_input_state *state = run->state;
    gphi_call_ranges ranges;
    if (run->history->launched) {
        GPHI_EACH (made, one, &state->made)
            if (one->launch.number == 0)
                one->launch = seen->call;
        return;
    }
    if (!seen->work || seen->call.result != 0)
        return;
    if (gphi_call_is_kernel(seen->call.call) && !seen->work->is_captured)
        note_kernel(run, seen);
    else if (gphi_call_ranges_of(seen, &ranges))
        note_use(&state->made, ranges.read, ranges.read_bytes);
}

static bool is_lost(const gphi_history *history, const made *of)
{
    if (of->is_used || of->launch.number == 0)
        return false;
    for (size_t i = 0; i < history->execs.count; i++)
        if (gphi_history_touches(history, gphi_history_exec_at(history, i), of->address,
                                 1))
            return false;
    return true;
}

/* The executable that reads what the same place made, and its touch there. */
static const gphi_exec_history *reader_of(const gphi_history *history, const place *at,
                                          const gphi_touch **touch)
{
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        for (uint32_t k = 0; k < at->count && exec->launches >= LOST_MIN; k++)
            GPHI_EACH (const gphi_touch, one, &exec->touches)
                if (one->address == at->homes[k] && !one->writes) {
                    *touch = one;
                    return exec;
                }
    }
    return NULL;
}

/* In how many steps; *first: the oldest, or NULL. */
static uint32_t lost_of(const gphi_rule_run *run, uint64_t key, const made **first)
{
    const gphi_input_state *state = run->state;
    uint32_t count = 0;
    uint64_t last = 0;
    *first = NULL;
    GPHI_EACH (const made, one, &state->made) {
        if (one->place != key || one->launches == last || !is_lost(run->history, one))
            continue;
        last = one->launches;
        count++;
        if (!*first || one->call.number < (*first)->call.number)
            *first = one;
    }
    return count;
}

void gphi_rule_input_moved_end(gphi_rule_run *run)
{
    const gphi_input_state *state = run->state;
    GPHI_EACH (const place, at, &state->places) {
        const made *first;
        const gphi_touch *touch = NULL;
        if (lost_of(run, at->key, &first) < LOST_MIN)
            continue;
        const gphi_exec_history *exec = reader_of(run->history, at, &touch);
        if (!exec)
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &first->launch, exec->created);
        gphi_cause(draft,
                   "the graph reads %s in %s, which a kernel filled; before later "
                   "launches the same kernel filled %s instead, which nothing ever read",
                   gphi_say_memory(run->model, touch->address),
                   gphi_say_touch(exec, touch),
                   gphi_say_memory(run->model, first->address));
        gphi_evidence_call(draft, &first->call, "the new contents came by");
        gphi_evidence_call(draft, &exec->first_launch, "first launched by");
        gphi_evidence(draft, "that the kernel writes there is concluded: it is given no "
                             "other address");
    }
}
