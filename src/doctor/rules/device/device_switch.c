// SPDX-License-Identifier: Apache-2.0
/* Rule device.no-body: a SWITCH node gets a number that it has no body for, and nothing runs.
 * Softcuda says which; NVIDIA's driver does not. All bits set are taken for "none", which
 * programs use where they mean it. */
#include "doctor/rules/device/rules_device.h"

#include <inttypes.h>
#include <string.h>

enum { SWITCHES_MAX = 1024, VALUE = 7 }; /* VALUE: its word in GPHI_NOTE_DECISION */

void device_switch_call(gphi_rule_run *run, const gphi_seen *seen)
{
    device_state *state = run->state;
    const CUgraphNodeParams *any =
        seen->call.call == GPHI_CALL_cuGraphAddNode && seen->call.result == 0
            ? gphi_bytes_of(seen->event, GPHI_PART_STRUCT, 5, sizeof(*any))
            : NULL;
    if (!any || any->type != CU_GRAPH_NODE_TYPE_CONDITIONAL ||
        any->conditional.type != CU_GRAPH_COND_TYPE_SWITCH)
        return;
    const uint64_t node = gphi_event_word(seen->event, 0);
    device_switch *one =
        gphi_vec_keyed(&state->switches, &node, sizeof(node), SWITCHES_MAX);
    if (one) /* a handle that comes again is another node */
        *one = (device_switch){
            .node = node, .bodies = any->conditional.size, .made = seen->call};
}

/* The kernel that sets the handle, and the copy from the host to what it is given. */
static void find_source(const gphi_rule_run *run, device_switch *one)
{
    const device_state *state = run->state;
    const gphi_exec_history *exec = NULL;
    for (size_t i = state->conditions.count; i-- > 0 && !exec;) {
        const device_condition *of = gphi_vec_at(&state->conditions, i);
        if (of->node.number != one->made.number || of->setters != 1)
            continue;
        one->given = of->given;
        exec = of->exec ? gphi_history_exec(run->history, of->exec) : NULL;
    }
    for (size_t i = 0; exec && i < exec->touches.count; i++) {
        const gphi_touch *touch = gphi_vec_at(&exec->touches, i);
        if (gphi_snapshot_made(exec->source, touch->node)->number != one->given.number ||
            !touch->memory)
            continue;
        const gphi_memory_history *memory =
            gphi_history_memory(run->history, touch->memory);
        for (size_t k = 0; memory && k < memory->written.count; k++) {
            const gphi_range_history *range = gphi_vec_at(&memory->written, k);
            if (range->is_from_host && range->last.number > one->came.number)
                one->came = range->last;
        }
    }
}

void device_switch_event(gphi_rule_run *run, const gphi_event *event)
{
    if (event->kind != GPHI_EVENT_NOTE || event->id != GPHI_NOTE_DECISION ||
        gphi_event_word(event, 2) != CU_GRAPH_COND_TYPE_SWITCH)
        return;
    device_state *state = run->state;
    GPHI_EACH (device_switch, one, &state->switches) {
        if (one->node != gphi_event_word(event, 1))
            continue;
        one->times++;
        one->has_first |= gphi_event_word(event, 3) == 0;
        if (gphi_event_word(event, 3) != UINT64_MAX || event->word_count <= VALUE ||
            gphi_event_word(event, VALUE) == UINT32_MAX)
            continue;
        if (one->misses++ == 0) {
            one->value = gphi_event_word(event, VALUE);
            find_source(run, one);
        }
    }
}

void device_switch_end(gphi_rule_run *run)
{
    const device_state *state = run->state;
    GPHI_EACH (const device_switch, one, &state->switches) {
        if (one->misses == 0)
            continue;
        const gphi_call *at = one->came.number != 0 ? &one->came : &one->made;
        gphi_draft *draft = device_begin(run, DEVICE_NO_BODY, at, one->node);
        gphi_cause(draft,
                   "the SWITCH node has %s, from 0 on, and was given %" PRIu64
                   ": none of them ran (%" PRIu64 " of %" PRIu64 " times)",
                   one->bodies == 1 ? "1 body" : gphi_say("%u bodies", one->bodies),
                   one->value, one->misses, one->times);
        if (one->value == one->bodies && !one->has_first)
            gphi_evidence(draft,
                          "body 0 never ran, and the number is that of the bodies: "
                          "what sets the handle counts from 1");
        device_put_node(run, draft, &one->made);
        gphi_evidence_call(draft, &one->given, "the kernel was given the handle by");
        if (one->came.number != 0)
            gphi_evidence(draft, "that kernel reads what was copied there");
    }
}
