// SPDX-License-Identifier: Apache-2.0
/* The rules of tables of slots. What libgph says when a slot is bound is all that is known
 * of a table; kernels have the address where they find it.
 *
 *   bind S = buffer ── launch: copied to S's place ── buffer written ── launch, launch
 *                                                     reported: the copy is not made again
 *   bind S ── launches of graphs, none of which has S's address: reported at the end
 *   a graph with gph_slot_feed, launched by no gph_slots_ function: reported */
#include "doctor/findings/stacks.h"
#include "doctor/rules/libgph/rules_libgph.h"

#include <gph/slot.h>
#include <inttypes.h>
#include <string.h>

enum { SLOTS_MAX = 256, POINTERS_MAX = 16 };

/* ---- what libgph says ---- */

void gphi_libgph_slots_event(gphi_rule_run *run, const gphi_event *event)
{
    const uint64_t key[] = {gphi_event_word(event, 0), gphi_event_word(event, 1)};
    if (event->kind != GPHI_EVENT_NOTE || event->id != GPHI_NOTE_SLOT)
        return;
    gphi_libgph_slot *slot = gphi_vec_keyed(run->state, key, sizeof(key), SLOTS_MAX);
    if (!slot)
        return;
    const uint64_t there = gphi_event_word(event, 5);
    if (slot->there != there) /* a table that was made where another one was */
        *slot = (gphi_libgph_slot){.table = key[0], .index = key[1]};
    gphi_say_into(slot->name, sizeof(slot->name), "%s", gphi_event_text(event, 0));
    slot->kind = gphi_event_word(event, 2);
    slot->buffer = gphi_event_word(event, 3);
    slot->bytes = gphi_event_word(event, 4);
    slot->there = there;
    slot->bound = gphi_libgph_at(run, event);
    slot->written.number = 0;
    slot->launches = slot->stale = 0;
    slot->binds++;
}

static const char *say_slot(const gphi_libgph_slot *slot)
{
    return slot->name[0] != '\0' ? gphi_say("\"%.60s\"", slot->name)
                                 : gphi_say("%" PRIu64, slot->index);
}

/* ---- libgph.slot-not-bound-again ---- */

/* Whether a piece of work outside graphs writes into the slot's buffer for certain: a copy,
 * a fill, or a kernel that is given nothing else. */
static bool writes(const gphi_rule_run *run, const gphi_seen *seen,
                   const gphi_libgph_slot *slot)
{
    gphi_touch touches[POINTERS_MAX];
    gphi_call_ranges ranges;
    if (gphi_call_ranges_of(seen, &ranges))
        return gphi_ranges_meet(ranges.write, ranges.write_bytes, slot->buffer,
                                slot->bytes);
    return gphi_call_is_kernel(seen->call.call) &&
           gphi_call_pointers(run->model, seen, touches, POINTERS_MAX) == 1 &&
           gphi_ranges_meet(touches[0].address, 1, slot->buffer, slot->bytes);
}

static void report_stale(gphi_rule_run *run, const gphi_libgph_slot *slot)
{
    gphi_draft *draft = gphi_finding_begin(run, &slot->launched, slot->there);
    gphi_cause(
        draft,
        "slot %s is copied once, at the first launch after it is bound; its buffer "
        "was written afterwards, and it was launched again without being bound: the "
        "graph computes with the old contents",
        say_slot(slot));
    gphi_evidence_call(draft, &slot->written, "the buffer was written by");
    gphi_evidence_call(draft, &slot->bound, "the slot was bound last");
}

static void launch_slot(gphi_rule_run *run, const gphi_seen *seen, gphi_libgph_slot *slot)
{
    enum {
        STALE_MIN = 2
    }; /* once may be on purpose: the buffer is taken for another use */
    if (slot->launches > 0 && slot->written.number != 0) {
        slot->launched = seen->call;
        if (++slot->stale == STALE_MIN)
            report_stale(run, slot);
    }
    slot->launches++;
    if (slot->stale < STALE_MIN)
        slot->written.number = 0;
}

void gphi_libgph_rebind_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_vec *slots = run->state;
    if (slots->count == 0 || seen->call.result != 0 || seen->capture || !seen->work)
        return;
    const gphi_exec_history *exec = gphi_is_launch(seen) && seen->exec
                                        ? gphi_history_exec(run->history, seen->exec)
                                        : NULL;
    GPHI_EACH (gphi_libgph_slot, slot, slots) {
        if (slot->kind != GPH_SLOT_COPY || slot->buffer == 0)
            continue;
        if (exec && gphi_history_touches(run->history, exec, slot->there, slot->bytes))
            launch_slot(run, seen, slot);
        else if (!exec && writes(run, seen, slot))
            slot->written = seen->call;
    }
}

/* ---- libgph.slot-unread ---- */

static bool is_feed(const gphi_touch *touch)
{
    return touch->name && strcmp(touch->name, "gph_slot_feed") == 0;
}

/* An address among the words of a table may be that of an array: then each may be read. */
static void look_for(gphi_rule_run *run, const gphi_exec_history *exec,
                     gphi_libgph_slot *slot)
{
    const gphi_allocation *memory = gphi_model_memory(run->model, slot->there, false);
    slot->is_unsure = slot->is_unsure || exec->has_bodies;
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (!is_feed(touch) && memory && touch->address >= memory->address &&
            touch->address - memory->address < memory->bytes)
            slot->is_read = true;
}

void gphi_libgph_unread_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_vec *slots = run->state;
    if (slots->count == 0 || !gphi_is_launch(seen) || !seen->exec)
        return;
    const gphi_exec_history *exec = gphi_history_exec(run->history, seen->exec);
    const char *entered = gphi_stacks_entered(run->model->stacks, seen->call.stack);
    GPHI_EACH (gphi_libgph_slot, slot, slots) {
        if (!exec || slot->there == 0)
            slot->is_unsure = true;
        else if (!slot->is_read)
            look_for(run, exec, slot);
        slot->launches += entered && strcmp(entered, "gph_slots_launch") == 0;
    }
}

/* Of a table whose other slots are read, or that is the only one, launches are its own. */
static bool is_launched(const gphi_vec *slots, const gphi_libgph_slot *of)
{
    bool is_only = true;
    GPHI_EACH (const gphi_libgph_slot, slot, slots) {
        if (slot->table == of->table && slot->is_read)
            return true;
        is_only = is_only && slot->table == of->table;
    }
    return is_only && of->launches > 0;
}

void gphi_libgph_unread_end(gphi_rule_run *run)
{
    const gphi_vec *slots = run->state;
    GPHI_EACH (const gphi_libgph_slot, slot, slots) {
        if (slot->is_read || slot->is_unsure || !is_launched(slots, slot))
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &slot->bound, slot->there);
        gphi_cause(draft,
                   "slot %s was bound (times: %" PRIu64
                   "), but no node of a graph that was "
                   "launched has the slot's address: what it is bound to is not used",
                   say_slot(slot), slot->binds);
    }
}

/* ---- libgph.slots-bypassed ---- */

static bool has_feed(const gphi_exec_state *exec)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind == GPH_NODE_KERNEL && node->u.kernel.function &&
            strcmp(node->u.kernel.function, "gph_slot_feed") == 0)
            return true;
    }
    return false;
}

/* Others of libgph's functions launch tables of their own. */
void gphi_libgph_bypass_call(gphi_rule_run *run, const gphi_seen *seen)
{
    if (!gphi_is_launch(seen) || !seen->exec || !has_feed(seen->exec))
        return;
    const char *entered = gphi_stacks_entered(run->model->stacks, seen->call.stack);
    if (entered && strcmp(entered, "gph_exec_launch") != 0)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &seen->call, 0);
    gphi_cause(
        draft,
        "%s was captured with gph_slots_feed(), but %s launched it, past its table: "
        "the addresses that were bound do not reach it, and the table counts one "
        "launch too few",
        gphi_say_exec(run->model, seen->exec),
        entered ? "gph_exec_launch()" : gphi_say_call(&seen->call));
    gphi_evidence_call(draft, &seen->exec->created, "it was made by");
}
