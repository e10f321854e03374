// SPDX-License-Identifier: Apache-2.0
/* Rules replay.*: the steps that ran before a capture show what a step is; a replay that
 * is another one computes something else.
 *
 *   frozen-value      an argument by value that was another one in each step
 *   turning-pointer   buffers that changed places, or took turns, from step to step
 *   missing-work      what each step cleared, reset or advanced, and no replay does
 *   unread-result     the program goes on to read what no replay writes
 *
 * Suspected at an executable's first launch, reported at the end: by then it is known whether
 * the program sets parameters, writes what it has to, or has another graph for each case. */
#include "doctor/rules/replay/rules_replay.h"
#include "doctor/findings/stacks.h"
#include "doctor/rules/rules.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LAUNCHES_MIN = 3, EXECS_MAX = 256 };

/* ---- arguments ---- */

/* Of an array, a global, the host's, whose heap may be anywhere: nothing is known of
 * them. */
static bool may_be_address(uint64_t value)
{
    return value >= UINT64_C(1) << 22 && value < UINT64_C(1) << 48;
}

/* ---- looking for what changes ---- */

/* The word in each round, oldest first, then in the graph; 0: not all are kept. */
static uint32_t values_of(const gphi_look *at, size_t kernel, const gphi_word *of,
                          uint64_t *values)
{
    const gphi_step_kernel *own = gphi_vec_at(&at->rounds->kernels, kernel);
    uint32_t count = 0;
    for (uint32_t i = at->rounds->count; i-- > 0;) {
        const gphi_eager *item = gphi_round_of(&at->state->log, at->rounds, i, kernel);
        const unsigned char *args = item ? gphi_eager_args(&at->state->log, item) : NULL;
        if (!args || of->offset + of->bytes > item->arg_bytes)
            return 0;
        values[count++] = gphi_word_in(args, of);
    }
    values[count++] = gphi_word_in(own->params->buffer, of);
    return count;
}

/* Between two steps the host did something: waited, read, uploaded. */
static bool has_steps(const gphi_look *at)
{
    const gphi_eager_log *log = &at->state->log;
    for (uint32_t i = 1; i < at->rounds->count; i++)
        if (gphi_round_of(log, at->rounds, i, at->kernel)->steps ==
            gphi_round_of(log, at->rounds, i - 1, at->kernel)->steps)
            return false;
    return true;
}

static void note_word(gphi_stray *to, const gphi_look *at, const gphi_word *of,
                      const uint64_t *values, uint32_t count)
{
    const gphi_eager_log *log = &at->state->log;
    to->arg = of->arg;
    to->offset = of->offset;
    to->bytes = of->bytes;
    to->count = count;
    memcpy(to->values, values, count * sizeof(*values));
    to->eager = gphi_round_of(log, at->rounds, 0, at->kernel)->call;
    to->before = gphi_round_of(log, at->rounds, 1, at->kernel)->call;
}

static bool is_near(double a, double b, double part)
{
    const double most = (a < 0 ? -a : a) * part;
    const bool are_numbers = a - a == 0 && b - b == 0; /* finite ones */
    return a != 0 && are_numbers && a - b <= most && b - a <= most;
}

/* Steps of one size, or each the same part of the one before, but for `part` of it: a counter, a
 * decay. What stays, or nearly does, is neither, nor what falls to nothing. */
static bool is_series(const double *v, uint32_t count, double part)
{
    bool adds = true, scales = true;
    for (uint32_t i = 2; i < count; i++) {
        const double factor = v[i - 2] != 0 ? v[i - 1] / v[i - 2] : 0;
        adds = adds && is_near(v[i] - v[i - 1], v[i - 1] - v[i - 2], part);
        scales = scales && factor > 1e-3 && factor < 1e3 &&
                 is_near(v[i] / v[i - 1] - 1, factor - 1, part);
    }
    return adds || scales;
}

/* What bends one way, in steps that shrink or grow: one less a power, its reciprocal, the root of
 * a count. A series by chance would have to bend so in each of its steps. */
static bool is_curve(const double *v, uint32_t count)
{
    enum { VALUES_MIN = 4 };
    const double first = v[1] - v[0], second = v[2] - v[1];
    const bool shrinks = second / first < 1;
    if (count < VALUES_MIN)
        return false;
    for (uint32_t i = 2; i < count; i++) {
        const double factor = (v[i] - v[i - 1]) / (v[i - 1] - v[i - 2]);
        if (!(factor > 0.1 && factor < 10) || factor == 1 || (factor < 1) != shrinks ||
            !(v[i] * v[i - 1] > 0 && v[i - 1] * v[i - 2] > 0))
            return false;
    }
    return true;
}

/* What is passed as a struct may have holes, where anything lies (an empty functor is a byte of it):
 * a change counts if it is a series, as an integer or as a number, of the whole word or of a half. */
static bool is_orderly(const uint64_t *values, uint32_t count)
{
    double words[2][GPHI_ROUNDS_MAX + 1], halves[4][GPHI_ROUNDS_MAX + 1];
    bool is_half = true;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&words[0][i], &values[i], sizeof(double));
        words[1][i] = (double)values[i];
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t half = (uint32_t)(values[i] >> (32 * k));
            float number;
            memcpy(&number, &half, sizeof(number));
            halves[k][i] = (double)(int32_t)half;
            /* tiny ones are integers, or parts of addresses */
            const bool is_number = number > 1e-30F || number < -1e-30F || number == 0;
            halves[2 + k][i] = is_number ? (double)number : (double)NAN;
            is_half = is_half && !may_be_address(half);
        }
    }
    /* integers step exactly; numbers are rounded */
    bool holds = is_series(words[0], count, 1e-3) || is_series(words[1], count, 0);
    for (uint32_t k = 0; k < 2; k++)
        holds = holds || (is_half && is_series(halves[k], count, 0)) ||
                is_series(halves[2 + k], count, 1e-3) || is_curve(halves[2 + k], count);
    return holds;
}

/* A float in a half of the word, of a size that values have and that holes hardly do. */
static double float_in(uint64_t word, uint32_t half)
{
    const uint32_t bits = (uint32_t)(word >> (32 * half));
    float number;
    memcpy(&number, &bits, sizeof(number));
    const float size = number < 0 ? -number : number;
    return size > 1e-9F && size < 1e9F ? (double)number : (double)NAN;
}

/* Not another one in each step, but three in all, each the same part of the one before: a scale
 * that grows now and then, a rate that falls. */
static bool is_growing(const uint64_t *values, uint32_t count, uint32_t half)
{
    double other[GPHI_ROUNDS_MAX + 1], factor = 1;
    uint32_t others = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double now = float_in(values[i], half);
        if (others > 0 && now == other[others - 1])
            continue;
        const double step = others > 0 ? now / other[others - 1] : 1;
        const bool is_step = step > 1.01 || (step > 0 && step < 0.99);
        if (others > 0 && (!is_step || (others > 1 && !is_near(step, factor, 1e-3))))
            return false;
        factor = step;
        other[others++] = now;
    }
    return others >= 3;
}

/* The half of the word that does is all that is meant. */
static void look_at_growth(const gphi_look *at, const gphi_word *of,
                           const uint64_t *values, uint32_t count)
{
    uint32_t half = 0;
    while (half < of->bytes / 4 && !is_growing(values, count, half))
        half++;
    gphi_stray *new = half < of->bytes / 4 ? gphi_stray_add(at, GPHI_FROZEN_VALUE) : NULL;
    if (!new)
        return;
    note_word(new, at, of, values, count);
    for (uint32_t i = 0; i < count; i++)
        new->values[i] = (uint32_t)(values[i] >> (32 * half));
    new->offset += 4 * half;
    new->bytes = 4;
    new->needs_reads = true;
}

static void look_at_value(const gphi_look *at, const gphi_word *of,
                          const uint64_t *values, uint32_t count)
{
    const bool is_random = at->exec->random_kernels > 0;
    if (at->rounds->kernels.count == 1 && !is_random && !has_steps(at))
        return;
    for (uint32_t i = 0; i < count; i++)
        if (of->bytes == 8 && may_be_address(values[i]))
            return;
    if (!of->is_number && !is_orderly(values, count))
        return;
    gphi_stray *new = gphi_stray_add(at, GPHI_FROZEN_VALUE);
    if (!new)
        return;
    note_word(new, at, of, values, count);
    new->needs_reads = is_random;
}

/* ---- pointers ---- */

typedef struct partner {
    const gphi_look *at;
    const uint64_t *values;
    uint32_t count;
    size_t kernel;
    bool is_found;
} partner;

/* A word whose value is, in each step, what the word in question is in the next. */
static void look_at_partner(void *user, const gphi_word *of)
{
    partner *p = user;
    uint64_t values[GPHI_ROUNDS_MAX + 1];
    const uint32_t count = of->bytes == 8 ? values_of(p->at, p->kernel, of, values) : 0;
    bool is_next = count == p->count && count >= 3;
    for (uint32_t i = 0; is_next && i + 2 < count; i++)
        is_next = values[i] == p->values[i + 1];
    /* what the graph would have to read next is what it writes now */
    p->is_found = p->is_found || (is_next && values[count - 1] != p->values[count - 1]);
}

static bool has_partner(const gphi_look *at, const uint64_t *values, uint32_t count)
{
    partner p = {.at = at, .values = values, .count = count};
    for (p.kernel = 0; p.kernel < at->rounds->kernels.count && !p.is_found; p.kernel++) {
        const gphi_step_kernel *kernel = gphi_vec_at(&at->rounds->kernels, p.kernel);
        gphi_each_word(kernel->params, look_at_partner, &p);
    }
    return p.is_found;
}

/* What the program did with the allocation that holds an address, outside graphs. */
static const gphi_memory_history *memory_of(const gphi_history *history, uint64_t address)
{
    const gphi_allocation *memory = gphi_model_memory(history->model, address, false);
    return memory ? gphi_history_memory(history, memory) : NULL;
}

/* Whether copies and fills outside graphs wrote there after call `since`. */
static bool is_filled(const gphi_history *history, uint64_t address, uint64_t bytes,
                      uint64_t since)
{
    const gphi_memory_history *memory = memory_of(history, address);
    for (size_t i = 0; memory && i < memory->written.count; i++) {
        const gphi_range_history *range = gphi_vec_at(&memory->written, i);
        if (range->last.number > since &&
            gphi_ranges_meet(range->start, range->end - range->start, address, bytes))
            return true;
    }
    return memory && memory->overflows;
}

static void look_at_pointer(const gphi_look *at, const gphi_word *of,
                            const uint64_t *values, uint32_t count)
{
    const gphi_history *history = at->run->history;
    bool are_filled = true;
    if (gphi_advance_look(at, values, count)) {
        gphi_stray *one = gphi_stray_add(at, GPHI_FROZEN_VALUE);
        if (one) {
            note_word(one, at, of, values, count);
            one->is_advance = one->needs_reads = true;
            one->address = values[count - 1];
        }
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        /* memory that comes and goes has the addresses that the allocator likes */
        const gphi_allocation *memory =
            gphi_model_memory(history->model, values[i], false);
        const gphi_eager *oldest =
            gphi_round_of(&at->state->log, at->rounds, at->rounds->count - 1, at->kernel);
        const uint64_t *block = gphi_map_get(&at->state->blocks, values[i]);
        if (!memory || memory->allocated.number > oldest->call.number ||
            (block && *block > oldest->call.number))
            return;
        are_filled = are_filled && is_filled(history, values[i], 1, 0);
    }
    if (!are_filled && !has_partner(at, values, count))
        return;
    gphi_stray *new = gphi_stray_add(at, GPHI_TURNING_POINTER);
    if (!new)
        return;
    note_word(new, at, of, values, count);
    new->how = has_partner(at, values, count) ? NULL : "filled";
}

static void look_at_word(void *user, const gphi_word *of)
{
    const gphi_look *at = user;
    uint64_t values[GPHI_ROUNDS_MAX + 1];
    const uint32_t count = values_of(at, at->kernel, of, values);
    if (count < 3)
        return;
    uint32_t addresses = 0;
    for (uint32_t i = 0; i < count && of->bytes == 8; i++)
        addresses += gphi_is_address(at->run->model, values[i]);
    if (addresses == count && gphi_is_changing(values, count))
        look_at_pointer(at, of, values, count);
    else if (addresses == 0 && gphi_is_changing(values, count))
        look_at_value(at, of, values, count);
    else if (addresses == 0)
        look_at_growth(at, of, values, count);
}

/* ---- calls ---- */

/* A cache of libgph's records its function for each bucket: sizes and addresses of other
 * calls are other buckets' business, or the cache's own. */
static bool is_of_cache(const gphi_rule_run *run, const gphi_exec_history *exec)
{
    const char *entered =
        gphi_stacks_entered(run->model->stacks, exec->exec->created.stack);
    return entered && strncmp(entered, "gph_cache_", 10) == 0;
}

static void first_launch(gphi_rule_run *run, gphi_exec_history *exec)
{
    gphi_replay_state *state = run->state;
    gphi_rounds rounds;
    const gphi_capture *capture = exec->source ? exec->source->capture : NULL;
    const uint64_t before = capture ? capture->begin.number : exec->created;
    if ((state->log.count < 2 && state->sent.count == 0) || state->execs++ >= EXECS_MAX)
        return;
    const bool has_rounds = gphi_rounds_find(&rounds, &state->log, exec, before);
    const bool is_cached = is_of_cache(run, exec);
    gphi_look at = {run, state, exec, &rounds, 0};
    gphi_sent_look(&at);
    gphi_host_look(&at, before);
    gphi_advance_copies(&at, before);
    gphi_branch_look(&at, before);
    at.kernel = 0;
    if (has_rounds) {
        for (; at.kernel < rounds.kernels.count && !is_cached; at.kernel++) {
            const gphi_step_kernel *own = gphi_vec_at(&rounds.kernels, at.kernel);
            gphi_each_word(own->params, look_at_word, &at);
        }
        at.kernel = 0;
        gphi_missing_look(&at);
        if (!is_cached)
            gphi_turn_look(&at, before);
    }
    gphi_rounds_fini(&rounds);
}

static void on_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_replay_state *state = run->state;
    gphi_exec_history *exec = run->history->launched;
    if (!gphi_eager_note(&state->log, run->model, seen))
        gphi_short(run);
    gphi_sent_note(run, seen);
    if (exec && exec->launches == 1)
        first_launch(run, exec);
}

/* ---- the end ---- */

/* The program knows that this has to be set. */
static bool is_set(const gphi_history *history, const gphi_stray *of)
{
    const gphi_exec_history *exec = of->exec;
    const gphi_snapshot *source = exec->source;
    if (exec->updated != of->updated || !source || !source->handles ||
        of->node >= source->node_count)
        return true;
    const uint64_t key = gphi_edit_key(exec->exec, source->handles[of->node]);
    return gphi_map_get(&history->edits, key);
}

/* Another graph of the same kernels has another value there: one for each case. */
static bool has_sibling(const gphi_history *history, const gphi_stray *of)
{
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *other = gphi_history_exec_at(history, i);
        if (other == of->exec || other->class_hash != of->exec->class_hash ||
            other->values_hash == of->exec->values_hash || other->launches == 0)
            continue;
        const gph_node *node =
            gph_graph_node(gphi_snapshot_graph(other->source), of->node);
        const gphi_word at = {.arg = of->arg, .offset = of->offset, .bytes = of->bytes};
        if (!node || node->kind != GPH_NODE_KERNEL || !node->u.kernel.buffer ||
            at.offset + at.bytes > node->u.kernel.buffer_bytes ||
            gphi_word_in(node->u.kernel.buffer, &at) != of->values[of->count - 1])
            return true;
    }
    return false;
}

/* By anybody but this graph, after its first launch, and before its last: what touches it then
 * may read the results. */
static bool is_written_after(const gphi_history *history, const gphi_stray *of,
                             uint64_t address, uint64_t bytes)
{
    const uint64_t since = of->exec->first_launch.number;
    const gphi_memory_history *memory = memory_of(history, address);
    if (!memory || is_filled(history, address, bytes, since))
        return true;
    GPHI_EACH (const gphi_touch, pointer, &memory->pointers)
        if ((pointer->since > of->exec->last_launch.number ? pointer->earlier
                                                           : pointer->since) > since &&
            gphi_touch_meets(history, pointer, address, bytes))
            return true;
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *other = gphi_history_exec_at(history, i);
        if (other != of->exec && other->last_launch.number > since &&
            gphi_history_touches(history, other, address, bytes))
            return true;
    }
    return false;
}

/* The graph itself copies or fills there. */
static bool is_own_copy(const gphi_history *history, const gphi_exec_history *exec,
                        uint64_t address)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (touch->writes && gphi_touch_meets(history, touch, address, 1))
            return true;
    return false;
}

/* Of buffers that take turns: one that the graph has not got is filled on and on. */
static uint64_t left_out(const gphi_history *history, const gphi_stray *of)
{
    for (uint32_t i = 0; i + 1 < of->count; i++)
        if (of->values[i] != of->values[of->count - 1] &&
            is_filled(history, of->values[i], 1, of->exec->first_launch.number) &&
            !gphi_history_touches(history, of->exec, of->values[i], 1))
            return of->values[i];
    return 0;
}

static const char *say_value(const gphi_model *model, const gphi_stray *of,
                             uint32_t index)
{
    return of->kind == GPHI_TURNING_POINTER
               ? gphi_say_memory(model, of->values[index])
               : gphi_say_number(of->values[index], of->bytes);
}

static const char *say_values(const gphi_model *model, const gphi_stray *of)
{
    const char *text = say_value(model, of, 0);
    for (uint32_t i = 1; i + 1 < of->count; i++)
        text = gphi_say("%s, %s", text, say_value(model, of, i));
    return text;
}

/* Whether a line of the program is known, and not a framework's alone: PyTorch captures
 * backward passes in a thread that has no line of Python. */
static bool has_line(const gphi_model *model, const gphi_call *call)
{
    uint32_t count = 0, frames = 0;
    const gph_place *at = gphi_stacks_frames(model->stacks, call->stack, &count);
    for (uint32_t i = 0; at && i < count; i++)
        frames += at[i].file && at[i].line > 0;
    return frames > 0;
}

/* Findings stand at the call that made the node: there the value was frozen; work that is missing
 * for the whole step, and what was captured where no line is known, at the launch. */
static gphi_draft *begin(gphi_rule_run *run, const gphi_stray *of)
{
    gphi_rule_run as = *run;
    const gphi_call *made = gphi_snapshot_made(of->exec->source, of->node);
    const gphi_call *launch = &of->exec->first_launch;
    const bool is_there = made->number && !of->is_update &&
                          (has_line(run->model, made) || !has_line(run->model, launch));
    as.rule = &gphi_rules_replay[of->kind];
    return gphi_finding_begin(&as, is_there ? made : launch, of->exec->created);
}

static void tell_word(gphi_rule_run *run, const gphi_stray *of)
{
    const gphi_exec_history *exec = of->exec;
    gphi_draft *draft = begin(run, of);
    if (gphi_is_changing(of->values, of->count))
        gphi_cause(
            draft,
            "argument %u of %s was another %s in each step before the capture (%s); "
            "the graph has %s, in all its %" PRIu64 " launches",
            of->arg, gphi_say_node(exec->source, of->node),
            of->kind == GPHI_FROZEN_VALUE ? "value" : "buffer",
            say_values(run->model, of), say_value(run->model, of, of->count - 1),
            exec->launches);
    else
        gphi_cause(draft,
                   "argument %u of %s went on changing in the steps before the capture "
                   "(%s); the graph has %s, in all its %" PRIu64 " launches",
                   of->arg, gphi_say_node(exec->source, of->node),
                   say_values(run->model, of), say_value(run->model, of, of->count - 1),
                   exec->launches);
    gphi_evidence_call(draft, &of->before, "a step was launched by");
    gphi_evidence_call(draft, &of->eager, "the last one before the capture by");
    gphi_evidence_call(draft, &exec->first_launch, "first launched by");
    if (of->how)
        gphi_evidence(draft,
                      "%s is written between launches, and the graph never reads it",
                      gphi_say_memory(run->model, left_out(run->history, of)));
}

static void tell_update(gphi_rule_run *run, const gphi_stray *of)
{
    const gphi_exec_history *exec = of->exec;
    gphi_draft *draft = begin(run, of);
    gphi_cause(draft,
               "%s, which the graph uses in %s, argument %u, was updated in each step "
               "before the capture, after the work that the graph has; since the first "
               "of its %" PRIu64 " launches nobody has",
               gphi_say_memory(run->model, of->address),
               gphi_say_node(exec->source, of->node), of->arg, exec->launches);
    gphi_evidence_call(draft, &of->before, "in a step it was done by");
    gphi_evidence_call(draft, &of->eager, "in the last one before the capture by");
    gphi_evidence_call(draft, &exec->last_launch, "last launched by");
    gphi_fix(
        draft,
        "PyTorch: optimizers pass over parameters without a gradient: let the tensors "
        "that the graph writes be their gradients.");
}

static void tell_missing(gphi_rule_run *run, const gphi_stray *of)
{
    const gphi_exec_history *exec = of->exec;
    gphi_draft *draft = begin(run, of);
    gphi_cause(
        draft,
        "%s, which the graph uses in %s, argument %u, was %s in each step before the "
        "capture; the graph does not do it, and nobody did between its %" PRIu64
        " launches",
        gphi_say_memory(run->model, of->address), gphi_say_node(exec->source, of->node),
        of->arg, of->how, exec->launches);
    gphi_evidence_call(draft, &of->before, "in a step it was done by");
    gphi_evidence_call(draft, &of->eager, "in the last one before the capture by");
    gphi_evidence_call(draft, &exec->first_launch, "first launched by");
    gphi_evidence(draft, "whether the kernel needs it is not known");
}

/* Somebody brings what the buffers have to where the graph looks for it. */
static bool is_brought(const gphi_history *history, const gphi_stray *of)
{
    for (uint32_t i = 0; i < of->count; i++)
        if (is_own_copy(history, of->exec, of->values[i]) ||
            (!of->how && is_written_after(history, of, of->values[i], 1)))
            return true;
    return of->how && left_out(history, of) == 0;
}

/* What the launches compute is looked at, or they get new inputs: this is not a benchmark. */
static bool is_used(const gphi_history *history, const gphi_stray *of)
{
    const uint64_t reads = history->now.reads - of->exec->made.reads;
    return reads * 2 >= of->exec->launches || of->exec->fed * 2 >= of->exec->launches;
}

static bool is_wrong(const gphi_rule_run *run, const gphi_stray *of)
{
    const gphi_history *history = run->history;
    if (of->exec->launches < LAUNCHES_MIN || is_set(history, of))
        return false;
    if (of->needs_reads && !is_used(history, of))
        return false;
    if (of->sent != 0 && !gphi_sent_is_lost(run, of))
        return false;
    if (of->is_host)
        return gphi_host_is_kept(run, of);
    if (of->is_copy)
        return gphi_turn_is_wrong(history, of);
    if (of->is_branch)
        return gphi_branch_is_wrong(run, of);
    if (of->kind == GPHI_MISSING_WORK)
        return !is_written_after(history, of, of->address, of->length);
    return !has_sibling(history, of) &&
           (of->kind == GPHI_FROZEN_VALUE || !is_brought(history, of));
}

/* One of a kind for an executable is enough: the others have the same cause. */
static bool is_told(const gphi_replay_state *state, const gphi_stray *of)
{
    GPHI_EACH (const gphi_stray, one, &state->suspects)
        if (one->is_told && one->exec == of->exec && one->kind == of->kind)
            return true;
    return false;
}

static void on_end(gphi_rule_run *run)
{
    const gphi_replay_state *state = run->state;
    GPHI_EACH (gphi_stray, one, &state->suspects) {
        if (is_told(state, one) || !is_wrong(run, one))
            continue;
        one->is_told = true;
        if (one->sent != 0)
            gphi_sent_report(run, one, begin(run, one));
        else if (one->is_advance)
            gphi_advance_report(run, one, begin(run, one));
        else if (one->is_host)
            gphi_host_report(run, one, begin(run, one));
        else if (one->is_update)
            tell_update(run, one);
        else if (one->is_branch)
            gphi_branch_report(run, one, begin(run, one));
        else if (one->is_copy)
            gphi_turn_report(run, one, begin(run, one));
        else if (one->kind == GPHI_MISSING_WORK)
            tell_missing(run, one);
        else
            tell_word(run, one);
    }
    gphi_source_end(run);
    gphi_number_end(run);
}

static void on_event(gphi_rule_run *run, const gphi_event *event)
{
    gphi_replay_state *state = run->state;
    if (event->kind == GPHI_EVENT_BLOCK &&
        gphi_map_set(&state->blocks, event->id, run->model->call_count + 1) != GPH_OK)
        gphi_short(run);
    if (event->kind == GPHI_EVENT_NUMBER)
        gphi_number_event(run, event);
    const gphi_exec_state *exec = event->kind == GPHI_EVENT_HOST && run->history
                                      ? gphi_model_exec(run->model, event->id)
                                      : NULL;
    if (!exec)
        return;
    gphi_source_event(run, event, exec);
    gphi_turn_event(run, event, exec);
    gphi_host_event(run, event, exec);
}

static void on_init(gphi_rule_run *run)
{
    gphi_replay_state *state = run->state;
    gphi_eager_init(&state->log, run->model->heap);
    gphi_vec_init(&state->suspects, run->model->heap, sizeof(gphi_stray));
    gphi_vec_init(&state->sent, run->model->heap, sizeof(gphi_sent));
    gphi_vec_init(&state->sources, run->model->heap, sizeof(gphi_source));
    gphi_vec_init(&state->numbers, run->model->heap, sizeof(gphi_number));
    gphi_vec_init(&state->hosts, run->model->heap, sizeof(gphi_host_source));
}

static void on_fini(gphi_rule_run *run)
{
    gphi_replay_state *state = run->state;
    gphi_eager_fini(&state->log);
    gphi_vec_fini(&state->suspects);
    gphi_vec_fini(&state->sent);
    gphi_vec_fini(&state->sources);
    gphi_vec_fini(&state->numbers);
    gphi_vec_fini(&state->hosts);
}

/* The first row watches for the two after it. */
const gphi_rule gphi_rules_replay[] = {
    GPHI_RULE("replay.frozen-value", WARNING, .state_bytes = sizeof(gphi_replay_state),
              .map_count = 1, .init = on_init, .event = on_event, .call = on_call,
              .end = on_end, .fini = on_fini),
    GPHI_RULE_NAME("replay.turning-pointer", WARNING),
    GPHI_RULE_NAME("replay.missing-work", WARNING),
    GPHI_RULE("replay.unread-result", WARNING, .state_bytes = sizeof(gphi_unread_state),
              .init = gphi_rule_unread_init, .call = gphi_rule_unread_result,
              .event = gphi_rule_unread_event, .end = gphi_rule_unread_result_end,
              .fini = gphi_rule_unread_fini),
    GPHI_RULE("replay.read-before-launch", WARNING, .list_bytes = sizeof(gphi_early),
              .call = gphi_rule_early, .end = gphi_rule_early_end),
    GPHI_RULE("replay.frozen-size", WARNING, .state_bytes = sizeof(gphi_size_state),
              .init = gphi_rule_size_init, .call = gphi_rule_size,
              .end = gphi_rule_size_end, .fini = gphi_rule_size_fini),
    {.id = NULL},
};
