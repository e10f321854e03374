// SPDX-License-Identifier: Apache-2.0
/* The table of device.*. The first row looks for all. */
#include "doctor/rules/device/rules_device.h"

#include <string.h>

/* ---- words of arguments ---- */

/* The handle of the kernel whose arguments the record has. */
static uint64_t function_of(const gphi_event *event, uint32_t arg)
{
    const CUgraphNodeParams *any =
        gphi_bytes_of(event, GPHI_PART_STRUCT, arg, sizeof(*any));
    const CUDA_KERNEL_NODE_PARAMS *kernel =
        gphi_bytes_of(event, GPHI_PART_STRUCT, arg, sizeof(*kernel));
    if (any)
        return any->kernel.func ? (uint64_t)(uintptr_t)any->kernel.func
                                : (uint64_t)(uintptr_t)any->kernel.kern;
    if (kernel)
        return kernel->func ? (uint64_t)(uintptr_t)kernel->func
                            : (uint64_t)(uintptr_t)kernel->kern;
    return gphi_event_word(event, event->u.call.call == GPHI_CALL_cuLaunchKernelEx);
}

static uint64_t word_at(const gphi_part *part, uint64_t at)
{
    uint64_t word = 0;
    if (at + sizeof(word) <= part->bytes)
        memcpy(&word, (const char *)gphi_part_bytes(part) + at, sizeof(word));
    return word;
}

/* Where arguments lie is known of most kernels; of the others each word may be one. */
void device_words(gphi_rule_run *run, const gphi_seen *seen, device_word_fn *on_word)
{
    const gphi_part *part = gphi_event_part(seen->event, GPHI_PART_PARAMS, 0);
    if (!part)
        return;
    const gphi_function *function =
        gphi_model_function(run->model, function_of(seen->event, part->arg));
    const gph_kernel_arg all = {.offset = 0, .bytes = part->bytes};
    const bool is_known = function && function->args && function->arg_count > 0;
    const gph_kernel_arg *args = is_known ? function->args : &all;
    for (uint32_t i = 0; i < (is_known ? function->arg_count : 1); i++)
        for (uint32_t at = 0; at + 8 <= args[i].bytes; at += 8) {
            const uint64_t here = (uint64_t)args[i].offset + at;
            on_word(run, seen, word_at(part, here), word_at(part, here + 8));
        }
}

/* ---- the rule ---- */

static void on_word(gphi_rule_run *run, const gphi_seen *seen, uint64_t word,
                    uint64_t next)
{
    if (word == 0)
        return;
    device_condition_word(run, seen, word);
    device_launch_word(run, seen, word, next);
    device_node_word(run, seen, word);
}

static void on_call(gphi_rule_run *run, const gphi_seen *seen)
{
    const device_state *state = run->state;
    const bool has_any = state->conditions.count > 0 || run->model->execs.count > 0 ||
                         state->nodes.count > 0;
    device_condition_call(run, seen);
    device_body_call(run, seen);
    device_launch_call(run, seen);
    device_endless_launch(run, seen);
    device_node_call(run, seen);
    device_switch_call(run, seen);
    if (has_any && seen->call.result == 0)
        device_words(run, seen, on_word);
}

static void on_event(gphi_rule_run *run, const gphi_event *event)
{
    device_switch_event(run, event);
    if (event->kind != GPHI_EVENT_LOG)
        return;
    const char *text = gphi_event_text(event, 0);
    device_launch_said(run, text);
    device_condition_said(run, text);
}

static void on_end(gphi_rule_run *run)
{
    device_endless_end(run);
    device_switch_end(run);
}

static void on_init(gphi_rule_run *run)
{
    device_state *state = run->state;
    const gph_allocator heap = run->model->heap;
    gphi_vec_init(&state->conditions, heap, sizeof(device_condition));
    gphi_vec_init(&state->execs, heap, sizeof(device_exec));
    gphi_vec_init(&state->uses, heap, sizeof(device_use));
    gphi_vec_init(&state->nodes, heap, sizeof(device_node));
    gphi_vec_init(&state->bodies, heap, sizeof(device_body));
    gphi_vec_init(&state->strangers, heap, sizeof(device_stranger));
    gphi_vec_init(&state->switches, heap, sizeof(device_switch));
}

static void on_fini(gphi_rule_run *run)
{
    device_state *state = run->state;
    gphi_vec_fini(&state->conditions);
    gphi_vec_fini(&state->execs);
    gphi_vec_fini(&state->uses);
    gphi_vec_fini(&state->nodes);
    gphi_vec_fini(&state->bodies);
    gphi_vec_fini(&state->strangers);
    gphi_vec_fini(&state->switches);
}

const gphi_rule gphi_rules_device[] = {
    GPHI_RULE("device.not-uploaded", WARNING, .state_bytes = sizeof(device_state),
              .init = on_init, .call = on_call, .event = on_event, .end = on_end,
              .fini = on_fini),
    GPHI_RULE_NAME("device.stale-upload", WARNING),
    GPHI_RULE_NAME("device.still-running", ERROR),
    GPHI_RULE_NAME("device.too-many-launches", ERROR),
    GPHI_RULE_NAME("device.self-launch", ERROR),
    GPHI_RULE_NAME("device.launch-outside", ERROR),
    GPHI_RULE_NAME("device.handle-never-set", WARNING),
    GPHI_RULE_NAME("device.foreign-handle", ERROR),
    GPHI_RULE_NAME("device.body-node", ERROR),
    GPHI_RULE_NAME("device.second-executable", ERROR),
    GPHI_RULE_NAME("device.update-overwritten", WARNING),
    GPHI_RULE_NAME("device.endless-loop", ERROR),
    GPHI_RULE_NAME("device.handle-unordered", ERROR),
    GPHI_RULE_NAME("device.branch-beside-launch", WARNING),
    GPHI_RULE_NAME("device.no-body", WARNING),
    {.id = NULL},
};
