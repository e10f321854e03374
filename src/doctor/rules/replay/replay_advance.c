// SPDX-License-Identifier: Apache-2.0
/* Rule replay.frozen-value, of places: in each step before the capture a copy, or a kernel, worked
 * as much further on in one allocation, as a cache is filled token by token; the graph has the next
 * place, in all its launches.
 *
 *   copy to +0    copy to +s    copy to +2s    capture: copy to +3s    launch    launch */
#include "doctor/rules/replay/rules_replay.h"

#include <inttypes.h>

enum { STEPS_MIN = 3 };

/* Places, oldest first, the graph's last. */
static bool is_advance(const gphi_model *model, const uint64_t *at, uint32_t count)
{
    const gphi_allocation *memory =
        count > STEPS_MIN ? gphi_model_memory(model, at[0], false) : NULL;
    for (uint32_t i = 1; memory && i < count; i++)
        if (at[i] == at[i - 1] || at[i] - at[i - 1] != at[1] - at[0] ||
            gphi_model_memory(model, at[i], false) != memory)
            return false;
    return memory;
}

bool gphi_advance_look(const gphi_look *at, const uint64_t *values, uint32_t count)
{
    const gphi_eager *oldest =
        gphi_round_of(&at->state->log, at->rounds, at->rounds->count - 1, at->kernel);
    if (!is_advance(at->run->model, values, count))
        return false;
    for (uint32_t i = 0; i < count;
         i++) { /* PyTorch gives tensors out one after the other */
        const uint64_t *block = gphi_map_get(&at->state->blocks, values[i]);
        if (block && *block > oldest->call.number)
            return false;
    }
    return true;
}

/* The places of the last copies at the line of a captured one, of as many bytes. */
static bool copies_before(const gphi_look *at, const gphi_call *made, uint64_t bytes,
                          uint64_t before, gphi_stray *to)
{
    const gphi_eager_log *log = &at->state->log;
    uint32_t count = 0;
    for (uint64_t i = log->count; i-- > 0 && count < GPHI_ROUNDS_MAX;) {
        const gphi_eager *item = gphi_eager_at(log, i);
        if (!item)
            break;
        if (item->call.number > before || item->kernel || item->is_fill ||
            item->bytes != bytes || !gphi_is_same_line(at->run->model, &item->call, made))
            continue;
        if (count < 2)
            *(count == 0 ? &to->eager : &to->before) = item->call;
        to->values[GPHI_ROUNDS_MAX - 1 - count++] = item->address;
    }
    to->count = count;
    return count >= STEPS_MIN;
}

void gphi_advance_copies(gphi_look *at, uint64_t before)
{
    const gphi_snapshot *source = at->exec->source;
    const gph_graph *graph = gphi_snapshot_graph(source);
    for (uint32_t i = 0; graph && i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        gphi_stray found = {.count = 0};
        if (node->kind != GPH_NODE_MEMCPY)
            continue;
        const gphi_range range = gphi_copy_range(&node->u.memcpy, &node->u.memcpy.dst);
        if (!copies_before(at, gphi_snapshot_made(source, i), range.bytes, before,
                           &found))
            continue;
        const uint32_t from = GPHI_ROUNDS_MAX - found.count;
        found.values[GPHI_ROUNDS_MAX] = range.start;
        if (!is_advance(at->run->model, &found.values[from], found.count + 1))
            continue;
        gphi_stray *new = gphi_stray_add(at, GPHI_FROZEN_VALUE);
        if (!new)
            return;
        new->node = i;
        new->is_advance = new->is_placed_copy = new->needs_reads = true;
        new->values[0] = found.values[from];
        new->values[1] = found.values[from + 1];
        new->address = range.start;
        new->eager = found.eager;
        new->before = found.before;
    }
}

void gphi_advance_report(const gphi_rule_run *run, const gphi_stray *of,
                         gphi_draft *draft)
{
    const gphi_exec_history *exec = of->exec;
    const uint64_t step = of->values[1] > of->values[0] ? of->values[1] - of->values[0]
                                                        : of->values[0] - of->values[1];
    if (of->is_placed_copy)
        gphi_cause(draft,
                   "%s was %s further on in each step before the capture (the graph has "
                   "%s); the graph works there in all its %" PRIu64 " launches",
                   gphi_say_node(exec->source, of->node), gphi_say_bytes(step),
                   gphi_say_memory(run->model, of->address), exec->launches);
    else
        gphi_cause(draft,
                   "argument %u of %s was %s further on in each step before the capture "
                   "(the graph has %s); the graph works there in all its %" PRIu64
                   " launches",
                   of->arg, gphi_say_node(exec->source, of->node), gphi_say_bytes(step),
                   gphi_say_memory(run->model, of->address), exec->launches);
    gphi_evidence_call(draft, &of->before, "a step was launched by");
    gphi_evidence_call(draft, &of->eager, "the last one before the capture by");
    gphi_evidence_call(draft, &exec->first_launch, "first launched by");
}
