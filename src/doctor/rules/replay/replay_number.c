// SPDX-License-Identifier: Apache-2.0
/* Rule replay.frozen-value, of Python's numbers (GPHI_EVENT_NUMBER): code that ran in a capture
 * has read one, which is another at launches of the graph.
 *
 *   lr = 0.02    capture(step reads lr)    launch    lr = 0.016    launch    lr = 0.0128    launch
 *
 * Of a float, a kernel of the graph must have it among its arguments, as it is or as it is
 * mostly used; of a round one, which may be there by chance, the kernel must have been launched by
 * way of the file that has read it. A module's mode is in no
 * argument: its launches must come one after the other, with nothing of the graph's run outside
 * between, for which the mode could be meant. */
#include "doctor/findings/stacks.h"
#include "doctor/rules/replay/rules_replay.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBERS_MAX = 1024, SEEN_MIN = 3, WORD_BYTES = 4 };

static double number_of(const gphi_event *event, uint32_t index)
{
    const uint64_t word = gphi_event_word(event, index);
    double out;
    memcpy(&out, &word, sizeof(out));
    return out;
}

static bool is_kernel_of(const gphi_exec_state *exec, const gphi_eager *item)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind == GPH_NODE_KERNEL && node->u.kernel.handle == item->kernel)
            return true;
    }
    return false;
}

/* Whether the mode may be meant for something else: since it was seen as it was in the
 * capture, a kernel of the graph ran outside, or much else did. */
static bool is_for_others(const gphi_rule_run *run, const gphi_exec_state *exec,
                          uint64_t since)
{
    const gphi_replay_state *state = run->state;
    const gphi_exec_history *own = gphi_history_exec(run->history, exec);
    uint64_t kernels = 0;
    if (!own || run->history->recent[0] != own)
        return true;
    if (since < own->made.time_ns)
        since = own->made.time_ns;
    for (uint64_t i = state->log.count; i-- > 0;) {
        const gphi_eager *item = gphi_eager_at(&state->log, i);
        if (!item)
            return true;
        if (item->call.time_ns < since)
            break;
        if (item->kernel &&
            (is_kernel_of(exec, item) || ++kernels > SEEN_MIN * own->kernels))
            return true;
    }
    return false;
}

void gphi_number_event(gphi_rule_run *run, const gphi_event *event)
{
    enum { WHICH, MODE, BEFORE, NOW, SINCE, EXEC, WORDS };
    gphi_replay_state *state = run->state;
    const char *name = gphi_event_text(event, 0), *place = gphi_event_text(event, 1);
    const gphi_exec_state *exec =
        event->word_count >= WORDS
            ? gphi_model_exec(run->model, gphi_event_word(event, EXEC))
            : NULL;
    if (!exec || !name || !place || !run->history)
        return;
    const uint64_t key[] = {exec->created.number, gphi_event_word(event, WHICH)};
    gphi_number *one = gphi_vec_keyed(&state->numbers, key, sizeof(key), NUMBERS_MAX);
    if (!one)
        return;
    const double now = number_of(event, NOW);
    if (!one->exec) {
        one->exec = exec;
        one->is_mode = gphi_event_word(event, MODE) != 0;
        one->before = number_of(event, BEFORE);
        one->updated = exec->updated.number;
        gphi_say_into(one->name, sizeof(one->name), "%.200s", name);
        gphi_say_into(one->place, sizeof(one->place), "%.200s", place);
    }
    if (one->seen == 0 || now != one->now)
        one->values[one->seen == 0 ? 0 : 1] = now;
    one->now = now;
    if (++one->seen == SEEN_MIN && one->is_mode)
        one->is_excused = is_for_others(run, exec, gphi_event_word(event, SINCE));
}

/* Whether a node was captured by way of the file that has read the number. */
static bool is_of_reader(const gphi_rule_run *run, const gphi_call *made,
                         const gphi_number *of)
{
    uint32_t count = 0;
    const gph_place *at = gphi_stacks_frames(run->model->stacks, made->stack, &count);
    for (uint32_t i = 0; at && i < count; i++) {
        const size_t length = at[i].file ? strlen(at[i].file) : 0;
        if (length > 0 && strncmp(at[i].file, of->place, length) == 0 &&
            of->place[length] == ':')
            return true;
    }
    return false;
}

/* A number that kernels have for no reason of the program's. */
static bool is_common(double value)
{
    const double size = fabs(value);
    return !isfinite(value) || size == 0 || size == 0.5 || size == 1 || size == 2;
}

/* Not a round one. */
static bool is_odd(double value)
{
    enum { ROUND = 0x1fff };
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof(bits));
    return isfinite(value) && (bits & ROUND) != 0;
}

/* As exact as floats are that were divided. */
static bool is_near(double value, double wanted, double part)
{
    return fabs(value - wanted) <= fabs(wanted) * part;
}

/* The argument of a kernel that has the number; UINT32_MAX: none. */
static uint32_t argument_with(const gph_kernel_params *params, double value)
{
    static const double narrow_part = 3e-7, wide_part = 1e-12;
    for (uint32_t at = 0; at + WORD_BYTES <= params->buffer_bytes; at += WORD_BYTES) {
        float narrow;
        double wide = 0;
        memcpy(&narrow, params->buffer + at, sizeof(narrow));
        if (at + sizeof(wide) <= params->buffer_bytes)
            memcpy(&wide, params->buffer + at, sizeof(wide));
        if (!is_near(narrow, value, narrow_part) && !is_near(wide, value, wide_part))
            continue;
        for (uint32_t i = params->arg_count; i-- > 0;)
            if (params->args && params->args[i].offset <= at)
                return i;
        return 0;
    }
    return UINT32_MAX;
}

/* The node that has it; GPH_NODE_NONE: none, or its arguments are set. */
static uint32_t node_with(const gphi_rule_run *run, const gphi_number *of, uint32_t *arg)
{
    const double v = of->before;
    const double forms[] = {v, -v, 1 / v, 1 - v, 1 / (1 - v)};
    const gphi_snapshot *source = of->exec->source;
    const gph_graph *graph = gphi_snapshot_graph(source);
    for (uint32_t i = 0; source->handles && i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        const uint64_t handle = source->handles[i];
        if (node->kind != GPH_NODE_KERNEL || !node->u.kernel.buffer ||
            gphi_map_get(&run->history->edits, gphi_edit_key(NULL, handle)) ||
            gphi_map_get(&run->history->edits, gphi_edit_key(of->exec, handle)))
            continue;
        for (size_t k = 0; k < sizeof(forms) / sizeof(*forms); k++) {
            *arg = is_common(forms[k]) ? UINT32_MAX
                                       : argument_with(&node->u.kernel, forms[k]);
            if (*arg != UINT32_MAX &&
                (is_odd(forms[k]) ||
                 is_of_reader(run, gphi_snapshot_made(source, i), of)))
                return i;
        }
    }
    return GPH_NODE_NONE;
}

static void report_float(gphi_rule_run *run, const gphi_number *of,
                         const gphi_exec_history *exec, uint32_t node, uint32_t arg)
{
    const gphi_call *made = gphi_snapshot_made(of->exec->source, node);
    gphi_draft *draft =
        gphi_finding_begin(run, made->number ? made : &exec->first_launch, exec->created);
    const char *then = of->values[1] != 0 ? gphi_say(", %g", of->values[1]) : "";
    gphi_cause(draft,
               "%.200s was %g when it was captured, read at %.200s: argument %u of %s "
               "comes of it. It was %g%s at later launches, and the graph has the first "
               "in all its %" PRIu64 " launches",
               of->name, of->before, of->place, arg,
               gphi_say_node(of->exec->source, node), of->values[0], then,
               exec->launches);
    gphi_evidence_call(draft, &exec->first_launch, "first launched by");
    gphi_evidence_call(draft, &exec->last_launch, "last launched by");
}

static void report_mode(gphi_rule_run *run, const gphi_number *of,
                        const gphi_exec_history *exec)
{
    const gphi_call *made = gphi_snapshot_made(of->exec->source, 0);
    const bool was = of->before != 0;
    gphi_draft *draft =
        gphi_finding_begin(run, made->number ? made : &exec->first_launch, exec->created);
    gphi_cause(
        draft,
        "%.200s was %s when it was captured, read at %.200s; it was %s at later "
        "launches, between which nothing of the graph ran outside it, and the graph "
        "does what was captured in all its %" PRIu64 " launches",
        of->name, was ? "on" : "off", of->place, was ? "off" : "on", exec->launches);
    gphi_evidence_call(draft, &exec->first_launch, "first launched by");
    gphi_evidence_call(draft, &exec->last_launch, "last launched by");
    gphi_fix(draft, "Capture a graph for each mode, and launch the one that is meant: "
                    "train() and eval() change what is captured next.");
}

/* Another finding has it, of the same graph. */
static bool is_known(const gphi_replay_state *state, const gphi_number *of,
                     const gphi_exec_history *exec)
{
    GPHI_EACH (const gphi_stray, one, &state->suspects)
        if (one->is_told && one->exec == exec && one->kind == GPHI_FROZEN_VALUE)
            return true;
    GPHI_EACH (const gphi_number, one, &state->numbers)
        if (one->is_told && one->created == of->created)
            return true;
    return false;
}

void gphi_number_end(gphi_rule_run *run)
{
    gphi_replay_state *state = run->state;
    GPHI_EACH (gphi_number, one, &state->numbers) {
        const gphi_exec_history *exec = gphi_history_exec(run->history, one->exec);
        uint32_t arg = 0;
        if (one->seen < SEEN_MIN || one->is_excused || !exec ||
            exec->created != one->created || exec->updated != one->updated ||
            !one->exec->source || is_known(state, one, exec))
            continue;
        const uint32_t node = one->is_mode ? 0 : node_with(run, one, &arg);
        if (node == GPH_NODE_NONE)
            continue;
        one->is_told = true;
        if (one->is_mode)
            report_mode(run, one, exec);
        else
            report_float(run, one, exec, node, arg);
    }
}
