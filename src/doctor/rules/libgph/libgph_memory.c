// SPDX-License-Identifier: Apache-2.0
/* Rule libgph.memory-given-back. A pool's memory is mapped all the time: the driver knows
 * nothing of who has it. libgph says when it is given out and taken back:
 *
 *   block b, captured with it, b freed, another gets it, launch       reported at the free
 *   recording destroyed, an executable of its graph launched          at the destruction
 *   block freed in the capture it was taken in, another capture
 *   gets it, both free it, work outside uses it                       at the free
 *
 * The same place of the program may get the block again, as a step's input gets that of the
 * step before: then it is as it was. */
#include "doctor/findings/stacks.h"
#include "doctor/rules/libgph/rules_libgph.h"

#include <inttypes.h>
#include <string.h>

enum {
    LIVE_MAX = 1 << 16,
    GONE_MAX = 256,
    INSIDE_MAX = 4096,
    EXECS_LOOKED_AT = 256,
    POINTERS_MAX = 64
};

typedef struct block {
    uint64_t address, bytes; /* bytes 0: nobody has it */
    gphi_call taken;
} block;

/* A block that an executable has, and that was given back; or (bytes 0) all that it has of its
 * recording. */
typedef struct gone {
    const gphi_exec_history *exec;
    uint64_t created, updated; /* of the executable */
    uint64_t address, bytes;
    uint32_t node, arg;
    gphi_call taken, freed, other,
        launch; /* other: who got it; launch: the first since */
    uint64_t launches;
} gone;

/* A block that was taken in a capture. */
typedef struct inside {
    uint64_t address, bytes;
    gphi_call taken, freed, other; /* freed: number 0: in use; other: who got it then */
} inside;

void gphi_libgph_memory_init(gphi_rule_run *run)
{
    gphi_libgph_memory *state = run->state;
    gphi_vec_init(&state->blocks, run->model->heap, sizeof(block));
    gphi_vec_init(&state->gone, run->model->heap, sizeof(gone));
    gphi_vec_init(&state->inside, run->model->heap, sizeof(inside));
}

void gphi_libgph_memory_fini(gphi_rule_run *run)
{
    gphi_libgph_memory *state = run->state;
    gphi_vec_fini(&state->blocks);
    gphi_vec_fini(&state->gone);
    gphi_vec_fini(&state->inside);
}

static gone *add_gone(gphi_rule_run *run, const gone *new)
{
    gphi_libgph_memory *state = run->state;
    if (state->gone.count >= GONE_MAX)
        return NULL;
    gone *out = gphi_vec_add(&state->gone, 1);
    if (out)
        *out = *new;
    else
        gphi_short(run);
    return out;
}

/* ---- blocks ---- */

static block *block_at(gphi_libgph_memory *state, uint64_t address)
{
    const uint64_t *known = gphi_map_get(&state->by_address, address);
    return known ? gphi_vec_at(&state->blocks, (size_t)*known) : NULL;
}

static void given_out(gphi_rule_run *run, uint64_t address, uint64_t bytes,
                      const gphi_call *at)
{
    gphi_libgph_memory *state = run->state;
    for (size_t i = state->gone.count; i-- > 0;) {
        gone *one = gphi_vec_at(&state->gone, i);
        if (!gphi_ranges_meet(one->address, one->bytes, address, bytes))
            continue;
        if (at->stack == one->taken.stack)
            gphi_vec_remove(&state->gone, i);
        else if (one->other.number == 0)
            one->other = *at;
    }
    block *known = block_at(state, address);
    if (!known && state->blocks.count < LIVE_MAX) {
        if (gphi_map_set(&state->by_address, address, state->blocks.count) == GPH_OK)
            known = gphi_vec_add(&state->blocks, 1);
        if (!known)
            gphi_short(run);
    }
    if (known)
        *known = (block){.address = address, .bytes = bytes, .taken = *at};
}

/* What an executable was given between the two calls, and has still. */
static const gphi_touch *touch_of(const gphi_history *history,
                                  const gphi_exec_history *exec, uint64_t address,
                                  uint64_t bytes, uint64_t since)
{
    const gphi_touch *touch = gphi_exec_is_alive(exec)
                                  ? gphi_history_touches(history, exec, address, bytes)
                                  : NULL;
    return touch && touch->since > since && touch->address - address < bytes ? touch
                                                                             : NULL;
}

static void taken_back(gphi_rule_run *run, uint64_t address, const gphi_call *at)
{
    const gphi_history *history = run->history;
    block *known = block_at(run->state, address);
    if (!known || known->bytes == 0 || at->stack == 0)
        return;
    for (size_t i = history->execs.count, n = 0; i-- > 0 && n < EXECS_LOOKED_AT; n++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        const gphi_touch *touch =
            touch_of(history, exec, address, known->bytes, known->taken.number);
        if (touch)
            (void)add_gone(run, &(gone){.exec = exec,
                                        .created = exec->created,
                                        .updated = exec->updated,
                                        .address = address,
                                        .bytes = known->bytes,
                                        .node = touch->node,
                                        .arg = touch->arg,
                                        .taken = known->taken,
                                        .freed = *at});
    }
    known->bytes = 0;
}

/* ---- blocks of captures ---- */

static void taken_from(gphi_libgph_memory *state, uint64_t address, uint64_t bytes,
                       const gphi_call *at)
{
    GPHI_EACH (inside, one, &state->inside) {
        if (one->freed.number == 0 || one->other.number != 0 ||
            !gphi_ranges_meet(one->address, one->bytes, address, bytes))
            continue;
        one->other = *at;
        if (state->passed_until == 0 || one->address < state->passed_from)
            state->passed_from = one->address;
        if (one->address + one->bytes > state->passed_until)
            state->passed_until = one->address + one->bytes;
    }
}

static inside *inside_at(gphi_libgph_memory *state, uint64_t address)
{
    GPHI_EACH (inside, one, &state->inside)
        if (one->address == address && one->freed.number == 0)
            return one;
    return NULL;
}

static void taken_inside(gphi_rule_run *run, uint64_t address, uint64_t bytes,
                         const gphi_call *at)
{
    gphi_libgph_memory *state = run->state;
    inside *known = inside_at(state, address);
    if (!known && state->inside.count < INSIDE_MAX) {
        known = gphi_vec_add(&state->inside, 1);
        if (!known)
            gphi_short(run);
    }
    if (known)
        *known = (inside){.address = address, .bytes = bytes, .taken = *at};
}

/* By the program. What libgph frees itself there it lends: outputs of a cache. */
static void freed_inside(gphi_rule_run *run, uint64_t address, const gphi_call *at)
{
    const char *by = gphi_stacks_entered(run->model->stacks, at->stack);
    inside *known = inside_at(run->state, address);
    if (known && by && strcmp(by, "gph_pool_free") == 0)
        known->freed = *at;
}

/* Whether somebody has it: who uses it may be them. */
static bool is_taken(const gphi_libgph_memory *state, uint64_t address)
{
    GPHI_EACH (const inside, one, &state->inside)
        if (one->freed.number == 0 && address - one->address < one->bytes)
            return true;
    GPHI_EACH (const block, one, &state->blocks)
        if (address - one->address < one->bytes)
            return true;
    return false;
}

static void report_inside(gphi_rule_run *run, const inside *of, const gphi_call *use)
{
    gphi_draft *draft = gphi_finding_begin(run, &of->freed, of->address);
    gphi_cause(draft,
               "a block of %s of a pool at 0x%" PRIx64 " was taken and freed in a "
               "capture, so that graphs of the pool may have it from there on, and one "
               "got it; %s then used it, though nobody had it any more: what lies there "
               "is what the graph that was launched last has put there",
               gphi_say_bytes(of->bytes), of->address, gphi_say_call(use));
    gphi_evidence(draft, "the block was taken at %s",
                  gphi_say_place(run->model, &of->taken));
    gphi_evidence(draft, "another got it at %s", gphi_say_place(run->model, &of->other));
    gphi_evidence_call(draft, use, "it was used after that by");
    gphi_fix(draft,
             "Here: do not free in the capture what is used after the replay; free "
             "it when the replay is destroyed.");
}

static void used(gphi_rule_run *run, const gphi_call *use, uint64_t address)
{
    gphi_libgph_memory *state = run->state;
    if (address - state->passed_from >= state->passed_until - state->passed_from)
        return;
    for (size_t i = state->inside.count; i-- > 0;) {
        inside *one = gphi_vec_at(&state->inside, i);
        if (one->other.number == 0 || address - one->address >= one->bytes)
            continue;
        const gphi_allocation *memory = gphi_model_memory(run->model, address, false);
        if (memory && memory->allocated.number < one->freed.number &&
            !is_taken(state, address))
            report_inside(run, one, use);
        return;
    }
}

/* Work that the program starts itself, in a capture or not: libgph's own is right. */
static void look_at_use(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_libgph_memory *state = run->state;
    gphi_touch touches[POINTERS_MAX];
    gphi_call_ranges ranges;
    if (state->passed_until == 0 || !seen->work || seen->exec || seen->call.result != 0 ||
        gphi_stacks_entered(run->model->stacks, seen->call.stack))
        return;
    const uint32_t count = gphi_call_pointers(run->model, seen, touches, POINTERS_MAX);
    for (uint32_t i = 0; i < count; i++)
        used(run, &seen->call, touches[i].address);
    if (!gphi_call_ranges_of(seen, &ranges))
        return;
    if (ranges.read_bytes != 0)
        used(run, &seen->call, ranges.read);
    if (ranges.write_bytes != 0)
        used(run, &seen->call, ranges.write);
}

/* ---- recordings ---- */

/* Executables that were made of its graph and are not its replays, which go with it. */
static void left(gphi_rule_run *run, uint64_t graph, const gphi_call *at)
{
    const gphi_history *history = run->history;
    for (size_t i = history->execs.count, n = 0; i-- > 0 && n < EXECS_LOOKED_AT; n++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        if (exec->exec->graph == graph && gphi_exec_is_alive(exec))
            (void)add_gone(run, &(gone){.exec = exec,
                                        .created = exec->created,
                                        .updated = exec->updated,
                                        .freed = *at});
    }
}

void gphi_libgph_memory_event(gphi_rule_run *run, const gphi_event *event)
{
    if (event->kind != GPHI_EVENT_NOTE || !run->history)
        return;
    const gphi_call at = gphi_libgph_at(run, event);
    const uint64_t first = gphi_event_word(event, 0), bytes = gphi_event_word(event, 1);
    if (event->id == GPHI_NOTE_LEFT)
        left(run, first, &at);
    if (event->id != GPHI_NOTE_BLOCK)
        return;
    const bool is_inside = gphi_event_word(event, 2) != 0;
    if (bytes != 0)
        taken_from(run->state, first, bytes, &at);
    if (bytes != 0 && is_inside)
        taken_inside(run, first, bytes, &at);
    else if (bytes != 0)
        given_out(run, first, bytes, &at);
    else if (is_inside)
        freed_inside(run, first, &at);
    else
        taken_back(run, first, &at);
}

/* ---- launches, and the end ---- */

void gphi_libgph_memory_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_libgph_memory *state = run->state;
    const gphi_exec_history *exec = run->history->launched;
    look_at_use(run, seen);
    if (!exec)
        return;
    GPHI_EACH (gone, one, &state->gone) {
        if (one->exec != exec || one->created != exec->created ||
            one->updated != exec->updated || (one->bytes != 0 && one->other.number == 0))
            continue;
        if (one->launches++ == 0)
            one->launch = seen->call;
    }
}

static void report_block(gphi_rule_run *run, gphi_draft *draft, const gone *of)
{
    gphi_cause(draft,
               "%s, argument %u, was captured with a block of %s of a pool at 0x%" PRIx64
               ", which was given back and then to another; the graph was launched %s "
               "since and works on what lies there",
               gphi_say_node(of->exec->source, of->node), of->arg,
               gphi_say_bytes(of->bytes), of->address,
               gphi_say_count(of->launches, "time"));
    gphi_evidence_call(draft, gphi_snapshot_made(of->exec->source, of->node),
                       "it was captured by");
    gphi_evidence(draft, "the block was taken at %s",
                  gphi_say_place(run->model, &of->taken));
    gphi_evidence(draft, "another got it at %s", gphi_say_place(run->model, &of->other));
}

void gphi_libgph_memory_end(gphi_rule_run *run)
{
    const gphi_libgph_memory *state = run->state;
    GPHI_EACH (const gone, one, &state->gone) {
        if (one->launches == 0)
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &one->freed, one->created);
        if (one->bytes != 0)
            report_block(run, draft, one);
        else
            gphi_cause(draft,
                       "%s was made of the graph of a recording that was destroyed, and "
                       "launched %s since: what the recording had allocated went back to "
                       "its pool, which gives it to others",
                       gphi_say_exec(run->model, one->exec->exec),
                       gphi_say_count(one->launches, "time"));
        gphi_evidence_call(draft, &one->exec->exec->created,
                           "the executable was made by");
        gphi_evidence_call(draft, &one->launch, "launched, then, by");
    }
}
