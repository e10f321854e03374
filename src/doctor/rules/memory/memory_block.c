// SPDX-License-Identifier: Apache-2.0
/* memory.stale-address and memory.freed-input for memory that PyTorch's allocator gives to tensors
 * (GPHI_EVENT_BLOCK): the driver still has it as allocated, but the tensor that a graph was
 * captured with is gone, and the next one that fits lies there.
 *
 *   block   in use at the begin of the capture and when the graph is made executable
 *   given back  by Python, when the last reference goes: at that line
 *   taken   by another tensor, before a launch: reported
 *
 * What is in a graph's private pool is another matter: it is only handed out to captures,
 * and replays may follow one another there. */
#include "base/heap.h"
#include "base/vec.h"
#include "doctor/findings/stacks.h"
#include "doctor/rules/memory/rules_memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WATCHED_MAX = 4096, GONE_MAX = 256, LIVE_MAX = 1 << 20 };

typedef struct block {
    uint64_t address, bytes;
    uint64_t segment; /* the number of the driver's allocation */
    uint64_t born;    /* of the last call before */
} block;

typedef struct watched {
    gphi_exec_history *exec;
    uint64_t created, updated; /* of the executable */
    block at;
    uint32_t node, arg;
    gphi_call freed; /* number 0: in use */
    uint64_t taken;  /* bytes of the tensor that lies there now, or 0 */
    uint64_t reads;  /* of the process, when it was given back */
    uint64_t launches, launches_taken;
} watched;

void gphi_rule_block_init(gphi_rule_run *run)
{
    gphi_block_state *state = run->state;
    gphi_vec_init(&state->live, run->model->heap, sizeof(block));
    gphi_vec_init(&state->watched, run->model->heap, sizeof(watched));
    gphi_vec_init(&state->gone, run->model->heap, sizeof(uint32_t));
    gphi_private_init(run);
}

void gphi_rule_block_fini(gphi_rule_run *run)
{
    gphi_block_state *state = run->state;
    gphi_vec_fini(&state->live);
    gphi_vec_fini(&state->watched);
    gphi_vec_fini(&state->gone);
    gphi_private_fini(run);
}

/* ---- blocks ---- */

static watched *gone_at(const gphi_block_state *state, size_t index)
{
    return gphi_vec_at(&state->watched,
                       *(const uint32_t *)gphi_vec_at(&state->gone, index));
}

static void take(gphi_block_state *state, uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < state->gone.count; i++) {
        watched *one = gone_at(state, i);
        if (one->taken == 0 &&
            gphi_ranges_meet(one->at.address, one->at.bytes, address, bytes))
            one->taken = bytes;
    }
}

static void add(gphi_rule_run *run, uint64_t address, uint64_t bytes)
{
    gphi_block_state *state = run->state;
    const gphi_allocation *memory = gphi_model_memory(run->model, address, false);
    const block new = {address, bytes, memory ? memory->allocated.number : 0,
                       run->model->call_count};
    const uint64_t *known = gphi_map_get(&state->indices, address);
    take(state, address, bytes);
    if (new.segment == 0)
        return;
    if (state->captures > 0 &&
        gphi_map_set(&state->private_segments, new.segment, 1) != GPH_OK)
        gphi_short(run);
    if (known)
        *(block *)gphi_vec_at(&state->live, (size_t)*known) = new;
    else if (state->live.count < LIVE_MAX &&
             gphi_map_set(&state->indices, address, state->live.count) == GPH_OK &&
             gphi_vec_push(&state->live, &new) != GPH_OK) {
        gphi_map_remove(&state->indices, address);
        gphi_short(run);
    }
}

static void leave(gphi_rule_run *run, const gphi_event *event)
{
    gphi_block_state *state = run->state;
    for (size_t i = 0; i < state->watched.count; i++) {
        watched *one = gphi_vec_at(&state->watched, i);
        const uint32_t index = (uint32_t)i;
        if (one->at.address != event->id || one->freed.number != 0 ||
            state->gone.count >= GONE_MAX ||
            gphi_vec_push(&state->gone, &index) != GPH_OK)
            continue;
        one->reads = run->history->now.reads;
        one->freed = (gphi_call){.number = run->model->call_count + 1,
                                 .time_ns = event->time_ns,
                                 .call = GPHI_CALL_COUNT,
                                 .thread = event->thread,
                                 .stack = event->stack};
    }
}

static void give_back(gphi_rule_run *run, const gphi_event *event)
{
    gphi_block_state *state = run->state;
    const uint64_t *known = gphi_map_get(&state->indices, event->id);
    if (!known)
        return;
    block *at = gphi_vec_at(&state->live, (size_t)*known);
    if (state->captures == 0 && gphi_map_get(&state->private_segments, at->segment))
        gphi_private_given_back(run, event, at->bytes, at->born);
    const block last = *(block *)gphi_vec_at(&state->live, state->live.count - 1);
    if (last.address != event->id) {
        *at = last;
        *gphi_map_get(&state->indices, last.address) = *known;
    }
    state->live.count--;
    gphi_map_remove(&state->indices, event->id);
    if (gphi_map_get(&state->addresses, event->id))
        leave(run, event);
}

void gphi_rule_block_event(gphi_rule_run *run, const gphi_event *event)
{
    if (event->kind != GPHI_EVENT_BLOCK)
        return;
    const uint64_t bytes = gphi_event_word(event, 0);
    if (bytes != 0)
        add(run, event->id, bytes);
    else
        give_back(run, event);
}

/* ---- executables ---- */

static int by_address(const void *left, const void *right)
{
    const block *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static const block *find(const block *blocks, size_t count, uint64_t address)
{
    size_t from;
    GPHI_HALVE(from, count, at, blocks[at].address <= address);
    const block *last = from > 0 ? &blocks[from - 1] : NULL;
    return last && address - last->address < last->bytes ? last : NULL;
}

/* Tables of many tensors: words that this launch has not set are those of one before. */
static bool is_table(const gphi_model *model, const gphi_touch *touch)
{
    static const char *const words[] = {"multi_tensor_apply", "CatArray", NULL};
    return touch->function != 0 &&
           gphi_name_has(gphi_function_name(model, touch->function), words);
}

static bool is_watched(const gphi_block_state *state, const gphi_exec_history *exec,
                       uint64_t address)
{
    for (size_t i = state->watched.count; i-- > 0;) {
        const watched *one = gphi_vec_at(&state->watched, i);
        if (one->exec != exec || one->created != exec->created)
            return false;
        if (one->at.address == address)
            return true;
    }
    return false;
}

static void watch(gphi_rule_run *run, gphi_exec_history *exec, const block *blocks)
{
    gphi_block_state *state = run->state;
    const gphi_capture *capture = exec->source ? exec->source->capture : NULL;
    const uint64_t begin = capture ? capture->begin.number : exec->created;
    GPHI_EACH (const gphi_touch, touch, &exec->touches) {
        const block *at = find(blocks, state->live.count, touch->address);
        if (!at || at->born >= begin || state->watched.count >= WATCHED_MAX ||
            is_table(run->model, touch) || is_watched(state, exec, at->address))
            continue;
        const watched new = {.exec = exec,
                             .created = exec->created,
                             .updated = exec->updated,
                             .at = *at,
                             .node = touch->node,
                             .arg = touch->arg};
        if (gphi_map_set(&state->addresses, at->address, 1) != GPH_OK ||
            gphi_vec_push(&state->watched, &new) != GPH_OK)
            gphi_short(run);
    }
}

static void made(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_block_state *state = run->state;
    gphi_exec_history *exec = gphi_history_exec(run->history, seen->exec);
    const size_t bytes = state->live.count * sizeof(block);
    block *blocks = exec && bytes ? gphi_heap_alloc(run->model->heap, bytes) : NULL;
    if (!blocks) {
        if (exec && bytes)
            gphi_short(run);
        return;
    }
    memcpy(blocks, gphi_vec_at(&state->live, 0), bytes);
    qsort(blocks, state->live.count, sizeof(block), by_address);
    watch(run, exec, blocks);
    gphi_heap_free(run->model->heap, blocks, bytes);
}

/* What lies in a graph's pool, and is read by a kernel or a copy outside graphs. */
static void look_at_reads(gphi_rule_run *run, const gphi_seen *seen)
{
    enum { POINTERS_MAX = 64 };
    const gphi_block_state *state = run->state;
    gphi_touch touches[POINTERS_MAX] = {{0}};
    uint32_t count = 0;
    if (!seen->work || seen->work->is_captured || seen->exec || seen->call.result != 0 ||
        run->history->now.launches == 0)
        return;
    if (gphi_call_is_kernel(seen->call.call))
        count = gphi_call_pointers(run->model, seen, touches, POINTERS_MAX);
    else if (seen->work->read_bytes != 0)
        touches[count++].address = seen->work->read;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *known = gphi_map_get(&state->indices, touches[i].address);
        const block *at = known ? gphi_vec_at(&state->live, (size_t)*known) : NULL;
        if (at && gphi_map_get(&state->private_segments, at->segment))
            gphi_private_read(run, seen, at->address, at->born);
    }
}

void gphi_rule_block_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_block_state *state = run->state;
    const gphi_exec_history *exec = run->history->launched;
    if (seen->call.result == 0) {
        state->captures += gphi_call_is_begin(seen->call.call);
        state->captures -= seen->call.call == GPHI_CALL_cuStreamEndCapture;
    }
    if (seen->exec && seen->call.result == 0 &&
        gphi_call_is_instantiation(seen->call.call))
        made(run, seen);
    look_at_reads(run, seen);
    gphi_private_call(run, seen);
    for (size_t i = 0; exec && i < state->gone.count; i++) {
        watched *one = gone_at(state, i);
        if (one->exec != exec || one->created != exec->created)
            continue;
        one->launches++;
        one->launches_taken += one->taken != 0;
    }
}

/* ---- the end ---- */

/* With nobody in its place what it had is still there: the results are right until then. */
static bool is_wrong(const gphi_rule_run *run, const watched *of)
{
    enum { LAUNCHES_MIN = 3 };
    const gphi_block_state *state = run->state;
    if (of->exec->created != of->created || of->exec->updated != of->updated ||
        gphi_map_get(&state->private_segments, of->at.segment))
        return false;
    return of->launches_taken > 0 ||
           (of->launches >= LAUNCHES_MIN &&
            (run->history->now.reads - of->reads) * 2 >= of->launches);
}

/* Casts of weights, which autocast keeps for as long as its block lasts: the graph reads those of
 * the weights as they were, whoever lies there. */
static bool is_of_autocast(const gphi_model *model, const watched *of)
{
    uint32_t count = 0;
    const gph_place *at = gphi_stacks_frames(model->stacks, of->freed.stack, &count);
    for (uint32_t i = 0; at && i < count && at[i].is_python; i++)
        if (at[i].file && strstr(at[i].file, "/torch/amp/autocast_mode.py"))
            return true;
    return false;
}

static void report(gphi_rule_run *run, const watched *of)
{
    const bool is_cast = is_of_autocast(run->model, of);
    const gphi_exec_history *exec = of->exec;
    const gphi_call *node = gphi_snapshot_made(exec->source, of->node);
    gphi_rule_run as = *run;
    if (of->launches_taken == 0)
        as.rule++; /* memory.freed-input */
    gphi_draft *draft = gphi_finding_begin(
        &as, of->freed.stack != 0 || node->number == 0 ? &of->freed : node,
        exec->created);
    gphi_cause(draft,
               "the tensor that %s was captured with, argument %u, %s at 0x%" PRIx64
               ", was given back to PyTorch's allocator; the graph was launched %" PRIu64
               " times since and works on what lies there",
               gphi_say_node(exec->source, of->node), of->arg,
               gphi_say_bytes(of->at.bytes), of->at.address, of->launches);
    if (of->taken != 0)
        gphi_evidence(draft,
                      "another tensor, of %s, lies there now: %" PRIu64
                      " launches have come since",
                      gphi_say_bytes(of->taken), of->launches_taken);
    gphi_evidence_call(draft, node, "it was captured by");
    if (of->freed.stack != 0)
        gphi_evidence(draft, "it was given back at %s",
                      gphi_say_place(run->model, &of->freed));
    gphi_evidence_call(draft, &exec->last_launch, "the graph was launched last by");
    if (is_cast) {
        gphi_evidence(draft,
                      "autocast kept it as the cast of a weight until its block ended");
        gphi_fix(draft,
                 "Capture with torch.autocast(..., cache_enabled=False), so that each "
                 "replay casts the weights as they are then.");
    }
    gphi_fix(draft,
             "Here: keep the tensor for as long as the graph is launched, and copy "
             "new values into it (tensor.copy_()) instead of assigning another one "
             "to its name.");
    if (draft && of->launches_taken == 0 && !is_cast)
        gphi_soften(draft);
}

void gphi_rule_block_end(gphi_rule_run *run)
{
    const gphi_block_state *state = run->state;
    for (size_t i = 0; i < state->gone.count; i++)
        if (is_wrong(run, gone_at(state, i)))
            report(run, gone_at(state, i));
    gphi_private_end(run);
}
