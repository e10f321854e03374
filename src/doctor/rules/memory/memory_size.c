// SPDX-License-Identifier: Apache-2.0
/* Rules of memory that is held for nothing, and of workspaces. All but the last are
 * looked for at the end of the program, over the whole of its history:
 *
 *   pool-per-graph           temporaries of graphs that never run together, a pool each
 *   allocations-never-freed  two that one graph, or two, could hold at one place
 *   graph-memory-leak        what the last launch of a destroyed graph left allocated
 *   leak-at-exit             executables that were alive at the end
 *   wrong-trim               a trim of pools where graphs hold the memory
 *   workspace-in-capture     what a library allocated in a capture and uses elsewhere,
 * too */
#include "doctor/findings/stacks.h"
#include "doctor/rules/memory/rules_memory.h"

#include <inttypes.h>
#include <string.h>

enum { SAVED_MIN = 1 << 20 }; /* less is not worth a word */

/* ---- memory.pool-per-graph ---- */

/* What one pool holds for one class of graphs. */
typedef struct pool_use {
    uint64_t pool, class_hash, bytes;
    const gphi_exec_history *exec;
    bool is_mixed; /* used by graphs of other classes, or by copies outside */
    bool is_own;   /* no pool of the driver: allocated while the graph was captured */
} pool_use;

/* Whether it was filled or read by copies outside: then it is more than a temporary. */
static bool is_temporary(const gphi_history *history, const gphi_allocation *memory)
{
    const gphi_memory_history *one = gphi_history_memory(history, memory);
    if (!one)
        return true;
    for (size_t i = 0; i < one->written.count; i++)
        if (!((gphi_range_history *)gphi_vec_at(&one->written, i))->is_fill)
            return false;
    return one->read.count == 0 && !one->overflows;
}

static pool_use *use_of(gphi_vec *uses, uint64_t pool, const gphi_exec_history *exec)
{
    pool_use *one = gphi_vec_keyed(uses, &pool, sizeof(pool), SIZE_MAX);
    if (!one)
        return NULL;
    if (!one->exec) {
        one->class_hash = exec->class_hash;
        one->exec = exec;
    }
    one->is_mixed = one->is_mixed || one->exec != exec;
    return one;
}

/* The pool of a temporary; 0: of none. An allocator that keeps a pool for each capture,
 * as PyTorch's does, gets memory from the driver while it captures. */
static uint64_t pool_of(const gphi_exec_history *exec, const gphi_allocation *memory)
{
    const gphi_capture *capture = exec->source ? exec->source->capture : NULL;
    if (memory->kind == GPHI_MEM_ASYNC)
        return memory->pool;
    if (memory->kind != GPHI_MEM_DEVICE || !capture ||
        memory->allocated.number < capture->begin.number ||
        memory->allocated.number > capture->end.number)
        return 0;
    return capture->begin.number;
}

/* Each allocation of a graph once. */
static void gather_pool(const gphi_history *history, gphi_vec *uses, gphi_map *done,
                        const gphi_exec_history *exec)
{
    const uint64_t newest =
        gphi_history_exec_at(history, history->execs.count - 1)->created;
    if (exec->destroyed.number != 0 && exec->destroyed.number < newest)
        return; /* gone when others were made */
    for (size_t k = 0; exec->launches > 0 && k < exec->touches.count; k++) {
        const gphi_touch *touch = gphi_vec_at(&exec->touches, k);
        const gphi_allocation *memory = touch->memory;
        if (!memory || memory->allocated.number != touch->memory_number ||
            pool_of(exec, memory) == 0 || gphi_map_get(done, (uintptr_t)memory) ||
            gphi_map_set(done, (uintptr_t)memory, 1) != GPH_OK ||
            !is_temporary(history, memory))
            continue;
        pool_use *use = use_of(uses, pool_of(exec, memory), exec);
        if (!use)
            continue;
        use->bytes += memory->bytes;
        use->is_own = memory->kind == GPHI_MEM_DEVICE;
    }
}

/* Graphs of one class count as one user of a pool only if they are one executable. */
static void gather_pools(const gphi_history *history, gphi_vec *uses)
{
    for (size_t i = 0; i < history->execs.count; i++) {
        gphi_map done;
        gphi_map_init(&done, history->model->heap);
        gather_pool(history, uses, &done, gphi_history_exec_at(history, i));
        gphi_map_fini(&done);
    }
}

static void tell_pools(gphi_rule_run *run, const gphi_vec *uses, const pool_use *first)
{
    uint64_t sum = 0, largest = 0;
    uint32_t count = 0;
    GPHI_EACH (const pool_use, one, uses) {
        if (one->class_hash != first->class_hash || one->is_mixed)
            continue;
        sum += one->bytes;
        largest = one->bytes > largest ? one->bytes : largest;
        count++;
    }
    /* Allocators take whole segments, large or small. */
    if (count < 3 || sum - largest < (first->is_own ? 32U : 1U) * (uint64_t)SAVED_MIN)
        return;
    /* a line that makes graphs of many kinds has one finding, and how many there are */
    gphi_draft *draft = gphi_finding_begin(run, &first->exec->exec->created, 0);
    gphi_cause(draft,
               "%u graphs of the same kernels have their temporaries in %u pools, %s "
               "together; no two launches were ever under way at the same time, so one "
               "pool of %s would do",
               count, count, gphi_say_bytes(sum), gphi_say_bytes(largest));
    for (size_t i = 0; i < uses->count && draft && i < 6; i++) {
        const pool_use *one = gphi_vec_at(uses, i);
        if (one->class_hash != first->class_hash || one->is_mixed)
            continue;
        if (one->is_own)
            gphi_evidence_call(draft, &one->exec->exec->created,
                               "%s, allocated during its capture, for the graph made by",
                               gphi_say_bytes(one->bytes));
        else
            gphi_evidence_call(
                draft, &one->exec->exec->created, "%s in %s for the graph made by",
                gphi_say_bytes(one->bytes), gphi_say_pool(run->model, one->pool));
    }
}

/* Each class of graphs is reported once, at the first pool of it. */
void gphi_rule_pool_per_graph(gphi_rule_run *run)
{
    const gphi_history *history = run->history;
    gphi_vec uses;
    if (history->launches_overlap)
        return;
    gphi_vec_init(&uses, run->model->heap, sizeof(pool_use));
    gather_pools(history, &uses);
    for (size_t i = 0; i < uses.count; i++) {
        const pool_use *one = gphi_vec_at(&uses, i);
        bool is_first = !one->is_mixed;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = ((pool_use *)gphi_vec_at(&uses, k))->class_hash != one->class_hash;
        if (is_first)
            tell_pools(run, &uses, one);
    }
    gphi_vec_fini(&uses);
}

/* ---- memory.allocations-never-freed ---- */

/* Whether a path leads from one node to another. Nodes of a capture are in an order in
 * which edges point forward; of others a few rounds more are made. */
static bool leads_to(const gphi_model *model, const gph_graph *graph, uint32_t from,
                     uint32_t to)
{
    const uint32_t count = gph_graph_node_count(graph);
    const size_t edges = gph_graph_edge_count(graph);
    enum { ROUNDS_MAX = 64 };
    gphi_vec seen;
    gphi_vec_init(&seen, model->heap, 1);
    char *at = gphi_vec_add(&seen, count);
    bool changed = at && from < count && to < count;
    if (changed)
        at[from] = 1;
    for (int round = 0; changed && round < ROUNDS_MAX; round++) {
        changed = false;
        for (size_t i = 0; i < edges; i++) {
            const gph_edge *edge = gph_graph_edge(graph, i);
            if (at[edge->from] && !at[edge->to])
                at[edge->to] = changed = true;
        }
    }
    const bool found = at && from < count && to < count && at[to];
    gphi_vec_fini(&seen);
    return found;
}

static bool is_kept_for_nothing(const gphi_graph_memory *memory)
{
    return memory->launched.number != 0 && !memory->is_freed_inside &&
           memory->used.number == 0;
}

static bool lies_in(const gphi_touch *touch, const gphi_graph_memory *memory)
{
    return touch->address - memory->address < memory->bytes;
}

/* Whether the last use of `a` is over before `b` is allocated. */
static bool is_over_before(const gphi_model *model, const gphi_exec_history *exec,
                           const gphi_graph_memory *a, const gphi_graph_memory *b)
{
    const gphi_touch *node = NULL;
    GPHI_EACH (const gphi_touch, one, &exec->allocations)
        if (one->address == b->address && !one->writes)
            node = one;
    uint32_t uses = 0;
    for (size_t i = 0; i < exec->touches.count && node; i++) {
        const gphi_touch *touch = gphi_vec_at(&exec->touches, i);
        if (!lies_in(touch, a))
            continue;
        uses++;
        if (touch->node == node->node ||
            !leads_to(model, exec->source->data, touch->node, node->node))
            return false;
    }
    return uses > 0;
}

static void tell_kept(gphi_rule_run *run, const gphi_graph_memory *a,
                      const gphi_graph_memory *b)
{
    const bool is_one = a->exec == b->exec;
    gphi_draft *draft = gphi_finding_begin(run, &b->made, 0);
    gphi_cause(draft,
               "%s and %s are both held%s, though the first is not used any more when "
               "the second is allocated, and nothing outside uses either: with free "
               "nodes they would share %s",
               gphi_say_bytes(a->bytes), gphi_say_bytes(b->bytes),
               is_one ? " by one graph" : " by two graphs that never run together",
               gphi_say_bytes(a->bytes < b->bytes ? a->bytes : b->bytes));
    gphi_evidence_call(draft, &a->made, "%s is allocated by",
                       gphi_say_memory(run->model, a->address));
    gphi_evidence_call(draft, &b->made, "%s is allocated by",
                       gphi_say_memory(run->model, b->address));
    gphi_evidence(draft, "neither is freed inside its graph");
}

/* What the nodes of one graph or two allocate. */
static uint64_t bytes_of(const gphi_history *history, const gphi_exec_history *a,
                         const gphi_exec_history *b)
{
    uint64_t bytes = 0;
    GPHI_EACH (const gphi_graph_memory, one, &history->graph_memories)
        bytes += one->exec == a || one->exec == b ? one->bytes : 0;
    return bytes;
}

/* Less than a quarter of what the graphs allocate is not worth free nodes. */
static bool could_share(const gphi_history *history, const gphi_graph_memory *a,
                        const gphi_graph_memory *b)
{
    if (!a->exec || !b->exec || !a->exec->source || !a->exec->source->data)
        return false;
    const uint64_t shared = a->bytes < b->bytes ? a->bytes : b->bytes;
    if (shared < SAVED_MIN || shared * 4 < bytes_of(history, a->exec, b->exec))
        return false;
    if (a->exec == b->exec)
        return a->exec->source->number == a->exec->source_number &&
               is_over_before(history->model, a->exec, a, b);
    return !history->launches_overlap && a->exec->launches > 1 && b->exec->launches > 1;
}

/* The first pair that would do is reported; one is enough to show how. Looks at 64 neighbors
 * of 64 allocations at most: all pairs would be a square of a program's length. */
void gphi_rule_allocations_never_freed(gphi_rule_run *run)
{
    const gphi_history *history = run->history;
    for (size_t i = 0; i < history->graph_memories.count && i < 64; i++) {
        const gphi_graph_memory *a = gphi_vec_at(&history->graph_memories, i);
        for (size_t k = i + 1;
             is_kept_for_nothing(a) && k < history->graph_memories.count && k < i + 64;
             k++) {
            const gphi_graph_memory *b = gphi_vec_at(&history->graph_memories, k);
            if (is_kept_for_nothing(b) && could_share(history, a, b)) {
                tell_kept(run, a, b);
                return;
            }
        }
    }
}

/* ---- memory.graph-memory-leak, memory.leak-at-exit ---- */

/* How much is launched after a call, 16 at most are counted. */
static uint32_t work_behind(const gphi_model *model, const gphi_call *call)
{
    enum { LOOK_MAX = 256, ENOUGH = 16 };
    uint32_t count = 0;
    for (uint64_t i = 0; i < LOOK_MAX && i < model->work_count && count < ENOUGH; i++) {
        const gphi_work *work = gphi_model_work(model, model->work_count - i);
        if (!work || work->call.number < call->number)
            break;
        count += work->exec || work->function != 0;
    }
    return count;
}

/* Memory that is left at the very end of a program goes with its context. It is lost if
 * the program goes on, or if more is lost each time. */
static bool is_lost(const gphi_rule_run *run, const gphi_trim_state *state,
                    const gphi_call *destroyed, uint32_t nth)
{
    enum { GOES_ON = 16 };
    const uint32_t behind = work_behind(run->model, destroyed);
    return behind >= GOES_ON || (nth > 0 && behind > 0) ||
           state->trimmed > destroyed->number;
}

void gphi_rule_graph_memory_leak_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_trim_state *state = run->state;
    if (seen->call.call == GPHI_CALL_cuDeviceGraphMemTrim)
        state->trimmed = seen->call.number;
}

void gphi_rule_graph_memory_leak(gphi_rule_run *run)
{
    const gphi_history *history = run->history;
    uint32_t orphans = 0;
    GPHI_EACH (const gphi_graph_memory, one, &history->graph_memories)
        orphans += one->is_live && !one->is_orphan && one->exec &&
                   one->exec->destroyed.number != 0;
    GPHI_EACH (const gphi_graph_memory, one, &history->graph_memories) {
        if (!one->is_live || one->is_orphan || !one->exec ||
            one->exec->destroyed.number == 0 || run->model->is_killed || history->is_dead)
            continue;
        if (!is_lost(run, run->state, &one->exec->destroyed, orphans - 1))
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &one->exec->destroyed, 0);
        gphi_cause(draft,
                   "%s was left allocated by the last launch of a graph that was "
                   "destroyed here; "
                   "nothing freed it until the program ended",
                   gphi_say_memory(run->model, one->address));
        gphi_evidence_call(draft, &one->made, "it is allocated by");
        gphi_evidence_call(draft, &one->launched, "the last launch is");
    }
}

/* A program that was killed, or whose context died, could not have freed anything. */
void gphi_rule_leak_at_exit(gphi_rule_run *run)
{
    const gphi_history *history = run->history;
    if (run->model->is_killed || history->is_dead)
        return;
    uint64_t execs = 0, bytes = 0, nodes = 0;
    const gphi_exec_history *last = NULL;
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *one = gphi_history_exec_at(history, i);
        if (!gphi_exec_is_alive(one))
            continue;
        last = one;
        execs++;
        nodes += one->nodes;
    }
    GPHI_EACH (const gphi_graph_memory, one, &history->graph_memories)
        if (one->is_live && one->exec && one->exec->destroyed.number == 0)
            bytes += one->bytes;
    if (execs == 0)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &last->exec->created, 0);
    gphi_cause(draft, "at the end %s with %s %s alive%s%s%s",
               gphi_say_count(execs, "executable graph"), gphi_say_count(nodes, "node"),
               execs == 1 ? "was" : "were", bytes > 0 ? ", and " : "",
               bytes > 0 ? gphi_say_bytes(bytes) : "",
               bytes > 0 ? " of graph memory allocated" : "");
    gphi_evidence_call(draft, &last->exec->created, "the newest was made by");
}

/* ---- memory.wrong-trim ---- */

void gphi_rule_wrong_trim(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_history *history = run->history;
    gphi_trim_state *state = run->state;
    const uint32_t call = seen->call.call;
    if (seen->call.result != 0)
        return;
    if (!seen->capture && gphi_call_is_pool_alloc(call))
        state->allocations++;
    if (call != GPHI_CALL_cuMemPoolTrimTo || state->allocations != 0)
        return;
    uint64_t bytes = 0;
    const gphi_graph_memory *first = NULL;
    GPHI_EACH (const gphi_graph_memory, one, &history->graph_memories) {
        if (one->launched.number == 0)
            continue;
        first = first ? first : one;
        bytes += one->bytes;
    }
    gphi_draft *draft = first ? gphi_finding_begin(run, &seen->call, 0) : NULL;
    if (!draft)
        return;
    gphi_cause(draft,
               "%s was trimmed, but nothing was ever allocated from a pool; %s were "
               "allocated by nodes of graphs, whose memory only cuDeviceGraphMemTrim "
               "gives back",
               gphi_say_pool(run->model, gphi_event_word(seen->event, 0)),
               gphi_say_bytes(bytes));
    gphi_evidence_call(draft, &first->made, "memory of a graph was allocated by");
    gphi_evidence_call(draft, &first->launched, "it was launched by");
}

/* ---- memory.workspace-in-capture ---- */

static const gphi_workspace *workspace_of(const gphi_vec *items, const gphi_touch *at)
{
    for (size_t i = 0; at->memory && i < items->count; i++) {
        const gphi_workspace *one = gphi_vec_at(items, i);
        if (one->memory == at->memory && one->number == at->memory_number)
            return one;
    }
    return NULL;
}

/* The same argument of the same kernel in a graph: the same use, not an output's. */
static const gphi_exec_history *graph_with(const gphi_history *history,
                                           const gphi_touch *at,
                                           const gphi_exec_history *but)
{
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        for (size_t k = 0;
             exec != but && gphi_exec_is_alive(exec) && k < exec->touches.count; k++) {
            const gphi_touch *touch = gphi_vec_at(&exec->touches, k);
            if (touch->address == at->address && touch->function == at->function &&
                touch->arg == at->arg && touch->bytes == 0)
                return exec;
        }
    }
    return NULL;
}

static void tell_workspace(gphi_rule_run *run, const gphi_seen *seen,
                           const gphi_workspace *of, const gphi_touch *at,
                           const gphi_exec_history *graph)
{
    const bool is_launch = gphi_is_launch(seen);
    gphi_draft *draft = gphi_finding_begin(run, &seen->call, 0);
    gphi_cause(
        draft,
        "%s was allocated while a graph was captured, and is argument %u of kernel "
        "%.200s "
        "in that graph and %s: who runs second overwrites what the first has there, and "
        "whoever frees it takes it from both",
        gphi_say_allocation(run->model, of->memory), at->arg,
        gphi_function_name(run->model, at->function),
        is_launch ? "in this one, which does not wait for it" : "here");
    gphi_evidence_call(draft, &of->made, "it was allocated by");
    gphi_evidence_call(draft, &graph->exec->created, "the graph was instantiated by");
}

/* Of the newest capture that the thread has open. */
static gphi_call begin_of(const gphi_model *model, uint32_t thread)
{
    for (size_t i = model->captures.count; i-- > 0;) {
        const gphi_capture *capture = gphi_vec_pointer(&model->captures, i);
        if (capture->is_open && capture->thread == thread)
            return capture->begin;
    }
    return (gphi_call){.number = 0};
}

static void note_workspace(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_vec *items = run->state;
    const gphi_thread *thread = gphi_model_thread(run->model, seen->call.thread);
    const uint32_t call = seen->call.call;
    const bool is_async = gphi_call_is_pool_alloc(call);
    const bool is_inside =
        is_async ? seen->capture != NULL : thread && thread->open_captures > 0;
    if (seen->call.result != 0 || !is_inside || items->count == 256 ||
        (!is_async && call != GPHI_CALL_cuMemAlloc && call != GPHI_CALL_cuMemAllocPitch))
        return;
    gphi_allocation *memory =
        gphi_model_memory(run->model, gphi_event_word(seen->event, 0), false);
    gphi_workspace *one = memory ? gphi_vec_add(items, 1) : NULL;
    if (one)
        *one = (gphi_workspace){memory, memory->allocated.number, seen->call,
                                begin_of(run->model, seen->call.thread)};
}

static const char *function_of(const gphi_model *model, const gphi_call *call)
{
    uint32_t count = 0;
    const gph_place *frames = gphi_stacks_frames(model->stacks, call->stack, &count);
    return count > 0 && frames[0].function ? frames[0].function : "";
}

/* Whether it is of those who use it, a library's: allocated by the function that launches
 * the kernel, and not by the one that captures. Else it is an output of the graph that
 * the program works on, in its order. */
static bool is_of_user(const gphi_model *model, const gphi_workspace *of,
                       const gphi_call *use)
{
    const char *maker = function_of(model, &of->made);
    return maker[0] == '\0' || (strcmp(maker, function_of(model, use)) == 0 &&
                                strcmp(maker, function_of(model, &of->begin)) != 0);
}

static void look_at_launch(gphi_rule_run *run, const gphi_history *history,
                           const gphi_seen *seen)
{
    const gphi_exec_history *exec = history->launched;
    for (size_t i = 0; i < exec->touches.count && seen->work; i++) {
        const gphi_touch *touch = gphi_vec_at(&exec->touches, i);
        const gphi_workspace *of = workspace_of(run->state, touch);
        const gphi_exec_history *other =
            of && touch->bytes == 0 ? graph_with(history, touch, exec) : NULL;
        if (!other || other->last_work == 0 ||
            gphi_model_ordered(run->model, other->last_work, seen->work->number))
            continue;
        tell_workspace(run, seen, of, touch, other);
        return;
    }
}

void gphi_rule_workspace(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_history *history = run->history;
    gphi_vec *items = run->state;
    gphi_touch touches[64];
    note_workspace(run, seen);
    if (items->count == 0)
        return;
    if (history->launched)
        look_at_launch(run, history, seen);
    if (!gphi_call_is_kernel(seen->call.call) || seen->capture || seen->call.result != 0)
        return;
    const uint32_t count = gphi_call_pointers(run->model, seen, touches, 64);
    for (uint32_t i = 0; i < count; i++) {
        const gphi_workspace *of = workspace_of(items, &touches[i]);
        const gphi_exec_history *graph =
            of ? graph_with(history, &touches[i], NULL) : NULL;
        const bool is_ordered =
            graph && seen->work &&
            (graph->last_work == 0 ||
             gphi_model_ordered(run->model, graph->last_work, seen->work->number));
        if (!graph || (is_ordered && !is_of_user(run->model, of, &seen->call)))
            continue;
        tell_workspace(run, seen, of, &touches[i], graph);
        return;
    }
}
