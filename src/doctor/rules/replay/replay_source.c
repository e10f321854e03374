// SPDX-License-Identifier: Apache-2.0
/* Rule replay.frozen-value, of variables: kernelParams named a variable of the program when
 * the kernel was captured, and the graph was launched for the first time with it as it was;
 * then it changes from launch to launch, and the graph keeps the first value.
 *
 *   capture K(&rate)    launch    rate = ...    launch    rate = ...    launch
 *
 * What setters or updates bring to the node is not meant, nor a variable that was another at
 * the first launch: it is used for something else by then. */
#include "doctor/rules/replay/rules_replay.h"

#include <inttypes.h>
#include <string.h>

enum { SOURCES_MAX = 256, CHANGES_MIN = 2 };

void gphi_source_event(gphi_rule_run *run, const gphi_event *event,
                       const gphi_exec_state *exec)
{
    gphi_replay_state *state = run->state;
    for (uint32_t nth = 0; nth < event->part_count; nth++) {
        const gphi_part *part = gphi_event_part(event, GPHI_PART_SOURCE, nth);
        gphi_source_value now;
        if (!part || part->bytes != sizeof(now))
            return;
        memcpy(&now, part + 1, sizeof(now));
        const uint64_t key[] = {exec->created.number, now.node, now.arg};
        gphi_source *one = gphi_vec_keyed(&state->sources, key, sizeof(key), SOURCES_MAX);
        if (!one)
            return;
        if (!one->exec) {
            one->exec = exec;
            one->bytes = now.bytes;
            one->values[0] = now.value;
            one->updated = exec->updated.number;
        } else if (one->last != now.value && ++one->changes < GPHI_SOURCE_VALUES)
            one->values[one->changes] = now.value;
        one->last = now.value;
    }
}

/* The word that the graph has there; false: it is not known. */
static bool captured_value(const gphi_source *of, uint32_t index, uint64_t *out)
{
    const gph_node *node = gph_graph_node(gphi_snapshot_graph(of->exec->source), index);
    const gph_kernel_params *params =
        node && node->kind == GPH_NODE_KERNEL ? &node->u.kernel : NULL;
    if (!params || !params->buffer || of->arg >= params->arg_count || !params->args ||
        params->args[of->arg].bytes != of->bytes)
        return false;
    const gphi_word word = {.offset = params->args[of->arg].offset, .bytes = of->bytes};
    *out = of->bytes > sizeof(*out)
               ? gphi_host_hash(of->bytes, params->buffer + word.offset, of->bytes)
               : gphi_word_in(params->buffer, &word);
    return true;
}

static const char *say_one(const gphi_rule_run *run, const gphi_source *of,
                           uint64_t value)
{
    return of->bytes == 8 && gphi_is_address(run->model, value)
               ? gphi_say_memory(run->model, value)
               : gphi_say_number(value, of->bytes);
}

static void report_source(gphi_rule_run *run, const gphi_source *of,
                          const gphi_exec_history *exec, uint32_t node)
{
    const gphi_call *made = gphi_snapshot_made(of->exec->source, node);
    gphi_draft *draft =
        gphi_finding_begin(run, made->number ? made : &exec->first_launch, exec->created);
    if (of->bytes > sizeof(of->last))
        gphi_cause(draft,
                   "argument %u of %s was taken from a struct of %u bytes that was at "
                   "the first launch as at the capture; it was changed between later "
                   "ones, and the graph has the first in all its %" PRIu64 " launches",
                   (uint32_t)of->arg, gphi_say_node(of->exec->source, node), of->bytes,
                   exec->launches);
    else
        gphi_cause(
            draft,
            "argument %u of %s was taken from a variable that was %s at the capture "
            "and at the first launch; it was %s, then %s, at later ones, and the graph "
            "has the first in all its %" PRIu64 " launches",
            (uint32_t)of->arg, gphi_say_node(of->exec->source, node),
            say_one(run, of, of->values[0]), say_one(run, of, of->values[1]),
            say_one(run, of, of->values[2]), exec->launches);
    gphi_evidence_call(draft, &exec->first_launch, "first launched by");
    gphi_evidence_call(draft, &exec->last_launch, "last launched by");
}

void gphi_source_end(gphi_rule_run *run)
{
    const gphi_replay_state *state = run->state;
    GPHI_EACH (const gphi_source, one, &state->sources) {
        const gphi_exec_history *exec = gphi_history_exec(run->history, one->exec);
        const gphi_snapshot *source = one->exec->source;
        uint64_t value;
        if (one->changes < CHANGES_MIN || !exec || exec->created != one->created ||
            exec->updated != one->updated || !source || !source->handles)
            continue;
        for (uint32_t i = 0; i < source->node_count; i++)
            if (source->handles[i] == one->node && captured_value(one, i, &value) &&
                value == one->values[0] &&
                !gphi_map_get(&run->history->edits, gphi_edit_key(NULL, one->node)) &&
                !gphi_map_get(&run->history->edits, gphi_edit_key(exec->exec, one->node)))
                report_source(run, one, exec, i);
    }
}
