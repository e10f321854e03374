// SPDX-License-Identifier: Apache-2.0
/* Rule memory.output-overwritten, of sums: a kernel outside graphs adds what a graph has written
 * to itself. Whoever kept the result of the launch before, to add the next one to it, has kept
 * the memory that the graph writes:
 *
 *   launch(writes g)    sum = g    launch(writes g)    sum += g    which is g += g
 *
 * PyTorch's gradients are such sums: without a gradient, the first one is kept as it is. A
 * program may double one buffer in place: several buffers, after several launches, are meant. */
#include "doctor/rules/memory/rules_memory.h"

#include <inttypes.h>

enum { ADDED_MAX = 256, OPERANDS = 3, MANY = 2 };

typedef struct added {
    uint64_t address;
    gphi_exec_history *exec;
    uint64_t launches, times; /* launches: of the executable, at the last of them */
    gphi_call first, step; /* step: a launch before it by another thread, or number 0 */
} added;

void gphi_added_init(gphi_rule_run *run)
{
    gphi_output_state *state = run->state;
    gphi_vec_init(&state->added, run->model->heap, sizeof(added));
}

/* The executable that was launched last and works there; NULL: none of late. */
static gphi_exec_history *writer_of(const gphi_history *history, uint64_t address)
{
    for (uint32_t i = 0; i < GPHI_RECENT && history->recent[i]; i++)
        GPHI_EACH (const gphi_touch, touch, &history->recent[i]->touches)
            if (touch->address == address && !touch->reads && !touch->is_kept)
                return history->recent[i];
    return NULL;
}

/* Autograd's threads have no line of the program: who has launched the forward pass has. */
static gphi_call launched_by_other(const gphi_history *history, uint32_t thread)
{
    for (uint32_t i = 0; i < GPHI_RECENT && history->recent[i]; i++)
        if (history->recent[i]->last_launch.thread != thread)
            return history->recent[i]->last_launch;
    return (gphi_call){.number = 0};
}

void gphi_added_note(gphi_rule_run *run, const gphi_touch *pointers, uint32_t count,
                     const gphi_call *call)
{
    static const char *const sums[] = {"functor_add", "add_kernel", NULL};
    gphi_output_state *state = run->state;
    if (count != OPERANDS || pointers[0].address != pointers[1].address ||
        pointers[0].address != pointers[2].address ||
        !gphi_name_has(gphi_function_name(run->model, pointers[0].function), sums))
        return;
    const uint64_t key = pointers[0].address;
    gphi_exec_history *exec = writer_of(run->history, key);
    added *one =
        exec ? gphi_vec_keyed(&state->added, &key, sizeof(key), ADDED_MAX) : NULL;
    if (!one || (one->exec == exec && one->launches == exec->launches))
        return;
    if (one->times++ == 0) {
        one->first = *call;
        one->step = launched_by_other(run->history, call->thread);
    }
    one->exec = exec;
    one->launches = exec->launches;
}

void gphi_added_end(gphi_rule_run *run)
{
    const gphi_output_state *state = run->state;
    const added *first = NULL;
    uint64_t buffers = 0, times = 0;
    GPHI_EACH (const added, one, &state->added) {
        if (one->times < MANY)
            continue;
        first = first ? first : one;
        buffers++;
        times = one->times > times ? one->times : times;
    }
    if (buffers < MANY)
        return;
    const bool has_step = first->step.number != 0;
    gphi_draft *draft =
        gphi_finding_begin(run, has_step ? &first->step : &first->first, 0);
    gphi_cause(draft,
               "%s is added to itself, together with %s more, after %" PRIu64
               " launches of the graph that writes there: the sum that was kept is the "
               "memory of the graph's result, and each launch overwrites it",
               gphi_say_memory(run->model, first->address),
               gphi_say_count(buffers - 1, "buffer"), times);
    gphi_evidence_call(draft, &first->first, "it is added by");
    gphi_evidence_call(draft, &first->exec->last_launch, "the last launch is");
    gphi_fix(draft, "Keep the sum in memory that no graph writes. In PyTorch: give each "
                    "parameter a gradient before the first step, and clear them by "
                    "zero_grad(set_to_none=False).");
}
