// SPDX-License-Identifier: Apache-2.0
/* Tensors in the private pools of PyTorch's graphs, which a capture was given and nobody else gets.
 *
 *   shared pool   graph B, captured first, used the block and gave it back; graph A's output lies
 *                 there now and is in use. A launch of B after A's writes over it, and then it is
 *                 read: memory.output-overwritten
 *   given back    a gradient, by the program, after the capture; the graph goes on to compute it, and
 *                 nobody reads what it computes: replay.missing-work
 *
 * The trees of torch.compile share a pool, too, and know what is in use: they are left alone. */
#include "doctor/findings/stacks.h"
#include "doctor/rules/memory/rules_memory.h"
#include "doctor/rules/rules.h"

#include <inttypes.h>
#include <string.h>

enum { DROPPED_MAX = 256, LAUNCHES_MIN = 5, POINTERS_MAX = 64 };

typedef struct dropped {
    gphi_exec_history *exec;
    uint64_t created; /* of the executable */
    uint64_t address, bytes;
    uint64_t launches, fed; /* of the executable, until then */
    gphi_call at;
    uint32_t node;
    bool is_used; /* by anybody, since */
} dropped;

void gphi_private_init(gphi_rule_run *run)
{
    gphi_block_state *state = run->state;
    gphi_vec_init(&state->dropped, run->model->heap, sizeof(dropped));
}

void gphi_private_fini(gphi_rule_run *run)
{
    gphi_block_state *state = run->state;
    gphi_vec_fini(&state->dropped);
}

/* Whether the capture was of a framework's that keeps account of the pool. */
static bool is_of_tree(const gphi_model *model, const gphi_capture *capture)
{
    uint32_t count = 0;
    const gph_place *at = gphi_stacks_frames(model->stacks, capture->begin.stack, &count);
    for (uint32_t i = 0; at && i < count && at[i].is_python; i++)
        if (at[i].file && strstr(at[i].file, "/torch/_inductor/"))
            return true;
    return false;
}

static const gphi_capture *capture_of(const gphi_exec_history *exec)
{
    return exec->source ? exec->source->capture : NULL;
}

/* The newest executable in whose capture a block was given out. */
static gphi_exec_history *owner_of(const gphi_history *history, uint64_t born)
{
    for (size_t i = history->execs.count; i-- > 0;) {
        gphi_exec_history *exec = gphi_history_exec_at(history, i);
        const gphi_capture *capture = capture_of(exec);
        if (capture && capture->begin.number <= born && born <= capture->end.number)
            return exec;
    }
    return NULL;
}

/* The last node's that has the address: of an output the one that makes it. */
static const gphi_touch *touch_at(const gphi_exec_history *exec, uint64_t address)
{
    const gphi_touch *last = NULL;
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (touch->address == address)
            last = touch;
    return last;
}

/* ---- a pool that graphs share ---- */

/* Another graph that had the block before, and was launched after its owner. */
static const gphi_exec_history *writer_over(const gphi_history *history,
                                            const gphi_exec_history *owner,
                                            uint64_t address, uint64_t born)
{
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *other = gphi_history_exec_at(history, i);
        const gphi_capture *capture = capture_of(other);
        if (other != owner && capture && capture->end.number < born &&
            other->last_work > owner->last_work && touch_at(other, address))
            return other;
    }
    return NULL;
}

static void report_over(gphi_rule_run *run, const gphi_exec_history *owner,
                        const gphi_exec_history *other, uint64_t address,
                        const gphi_seen *reader)
{
    const gphi_rule *rules = run->rule; /* the first row of its table */
    gphi_rule_run as = *run;
    const gphi_touch *touch = touch_at(owner, address);
    while (rules->id && strcmp(rules->id, "memory.output-overwritten") != 0)
        rules++;
    as.rule = rules;
    gphi_draft *draft =
        gphi_finding_begin(&as, &capture_of(owner)->begin, owner->created);
    gphi_cause(
        draft,
        "two graphs were captured into one memory pool, and the result of one, which "
        "%s makes at 0x%" PRIx64 ", lies where the other one, captured before it, "
        "works; that was launched after it, before the result was read: a shared pool "
        "needs the order of the captures",
        gphi_say_node(owner->source, touch->node), address);
    gphi_evidence_call(draft, &capture_of(other)->begin,
                       "the other capture was begun by");
    gphi_evidence_call(draft, &owner->last_launch, "the graph was launched last by");
    gphi_evidence_call(draft, &other->last_launch, "the other one after it by");
    gphi_evidence_call(draft, &reader->call, "then the result was read by");
    gphi_fix(draft,
             "PyTorch: launch the graphs in the order of their captures and read each "
             "result before the next launch, or give each a pool of its own (without "
             "pool=).");
}

void gphi_private_read(gphi_rule_run *run, const gphi_seen *reader, uint64_t address,
                       uint64_t born)
{
    gphi_block_state *state = run->state;
    gphi_exec_history *owner = owner_of(run->history, born);
    const gphi_exec_history *other =
        owner && owner->launches > 0 && touch_at(owner, address)
            ? writer_over(run->history, owner, address, born)
            : NULL;
    if (!other || state->has_told_shared || is_of_tree(run->model, capture_of(owner)) ||
        is_of_tree(run->model, capture_of(other)))
        return;
    state->has_told_shared = true;
    report_over(run, owner, other, address, reader);
}

/* ---- gradients that were given back ---- */

/* The only node that has the address, if autograd's thread captured it; NULL: it is no
 * gradient, or the graph uses it itself. */
static const gphi_touch *gradient_of(const gphi_exec_history *exec, uint64_t address)
{
    const gphi_touch *only = touch_at(exec, address);
    if (!only)
        return NULL;
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (touch->node != only->node && touch->address == address)
            return NULL;
    const gphi_call *made = gphi_snapshot_made(exec->source, only->node);
    return made->number != 0 && made->thread != capture_of(exec)->begin.thread ? only
                                                                               : NULL;
}

void gphi_private_given_back(gphi_rule_run *run, const gphi_event *event, uint64_t bytes,
                             uint64_t born)
{
    gphi_block_state *state = run->state;
    gphi_exec_history *exec = run->history ? owner_of(run->history, born) : NULL;
    const gphi_touch *touch = exec ? gradient_of(exec, event->id) : NULL;
    if (!touch || state->dropped.count >= DROPPED_MAX)
        return;
    const dropped new = {.exec = exec,
                         .created = exec->created,
                         .address = event->id,
                         .bytes = bytes,
                         .launches = exec->launches,
                         .fed = exec->fed,
                         .node = touch->node,
                         .at = {.number = run->model->call_count + 1,
                                .time_ns = event->time_ns,
                                .call = GPHI_CALL_COUNT,
                                .thread = event->thread,
                                .stack = event->stack}};
    if (gphi_vec_push(&state->dropped, &new) != GPH_OK)
        gphi_short(run);
}

static void use(gphi_block_state *state, uint64_t address, uint64_t bytes)
{
    GPHI_EACH (dropped, one, &state->dropped)
        if (gphi_ranges_meet(address, bytes, one->address, one->bytes))
            one->is_used = true;
}

void gphi_private_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_block_state *state = run->state;
    gphi_touch touches[POINTERS_MAX];
    gphi_call_ranges ranges;
    if (!seen->work || seen->exec || state->dropped.count == 0)
        return;
    const uint32_t count = gphi_call_pointers(run->model, seen, touches, POINTERS_MAX);
    for (uint32_t i = 0; i < count; i++)
        use(state, touches[i].address, 1);
    if (gphi_call_ranges_of(seen, &ranges))
        use(state, ranges.read, ranges.read_bytes);
}

void gphi_private_end(gphi_rule_run *run)
{
    const gphi_block_state *state = run->state;
    const dropped *first = NULL;
    uint32_t count = 0;
    GPHI_EACH (const dropped, one, &state->dropped) {
        const gphi_exec_history *exec = one->exec;
        const uint64_t launches = exec->launches - one->launches;
        if (exec->created != one->created)
            continue;
        if (one->is_used)
            return; /* somebody has them after all */
        if (launches < LAUNCHES_MIN || (exec->fed - one->fed) * 4 < launches * 3)
            continue;
        first = first ? first : one;
        count++;
    }
    if (!first)
        return;
    const gphi_exec_history *exec = first->exec;
    gphi_rule_run as = *run;
    const gphi_rule *rules = gphi_rules_replay;
    while (rules->id && strcmp(rules->id, "replay.missing-work") != 0)
        rules++;
    as.rule = rules;
    gphi_draft *draft = gphi_finding_begin(&as, &first->at, exec->created);
    gphi_cause(
        draft,
        "after the capture the program gave %s back to PyTorch that a backward pass of "
        "the graph writes, and nobody has read there since: the graph computes them in "
        "each of its %" PRIu64 " launches since, for nothing",
        gphi_say_count(count, "gradient"), exec->launches - first->launches);
    gphi_evidence_call(draft, gphi_snapshot_made(exec->source, first->node),
                       "one of them is written by the node of");
    gphi_evidence_call(draft, &exec->last_launch, "the graph was launched last by");
    gphi_fix(draft,
             "PyTorch: after the capture do not set gradients to None, as "
             "optimizer.zero_grad() does: the graph writes its own .grad again in each "
             "replay, and optimizers pass over parameters without one.");
}
