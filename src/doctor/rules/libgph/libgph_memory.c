// SPDX-License-Identifier: Apache-2.0
/* Rule libgph.memory-given-back. A pool's memory is mapped all the time: the driver knows
 * nothing of who has it. libgph says when it is given out and taken back:
 *
 *   block b, captured with it, b freed, another gets it, launch       reported at the free
 *   recording destroyed, an executable of its graph launched          at the destruction
 *
 * The same place of the program may get the block again, as a step's input gets that of the
 * step before: then it is as it was. */
#include "doctor/rules/libgph/rules_libgph.h"

#include <inttypes.h>

enum { LIVE_MAX = 1 << 16, GONE_MAX = 256, EXECS_LOOKED_AT = 256 };

typedef struct block {
    uint64_t bytes;
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

void gphi_libgph_memory_init(gphi_rule_run *run)
{
    gphi_libgph_memory *state = run->state;
    gphi_vec_init(&state->blocks, run->model->heap, sizeof(block));
    gphi_vec_init(&state->gone, run->model->heap, sizeof(gone));
}

void gphi_libgph_memory_fini(gphi_rule_run *run)
{
    gphi_libgph_memory *state = run->state;
    gphi_vec_fini(&state->blocks);
    gphi_vec_fini(&state->gone);
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
        *known = (block){.bytes = bytes, .taken = *at};
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
    else if (event->id == GPHI_NOTE_BLOCK && gphi_event_word(event, 2) == 0) {
        if (bytes != 0)
            given_out(run, first, bytes, &at);
        else
            taken_back(run, first, &at);
    }
}

/* ---- launches, and the end ---- */

void gphi_libgph_memory_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_libgph_memory *state = run->state;
    const gphi_exec_history *exec = run->history->launched;
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
