// SPDX-License-Identifier: Apache-2.0
/* Rules instantiate.*: a graph that cannot become an executable, or cannot be copied or
 * cut to become one. All are failures of one call, reported where it is made; launches of the
 * executable that is not there follow from it. One rule of the table looks for all.
 *
 *   the call            its code                what is looked for, in this order
 *   cuGraphInstantiate  900                     an open capture
 *                       CUDA_ERROR_INVALID_VALUE  handle, flags, contexts, kinds, circle
 *                       CUDA_ERROR_NOT_SUPPORTED  conditional nodes, memory nodes
 *   cuGraphClone        CUDA_ERROR_NOT_SUPPORTED  conditional nodes, memory nodes
 *   cuGraphAdd...Node   CUDA_ERROR_NOT_SUPPORTED  of the child graph: the same
 *   cuGraphDestroyNode  CUDA_ERROR_NOT_SUPPORTED  memory nodes
 *
 * The driver's result struct and its log's sentence settle what they name. An H100 gives
 * neither for some graphs: then the graph is looked at, and only what is certain is
 * said. */
#include "doctor/rules/instantiate/rules_instantiate.h"
#include "doctor/findings/finding.h"
#include "doctor/findings/said.h"
#include "doctor/model/call_kinds.h"
#include "doctor/rules/rules.h"
#include "graph/topology.h"

#include <inttypes.h>
#include <string.h>

/* Rows of the table, in its order. */
enum {
    RULE_CYCLE,
    RULE_SECOND,
    RULE_CLONE,
    RULE_CHILD,
    RULE_REMOVE,
    RULE_NODE,
    RULE_FLAGS,
    RULE_CONDITIONAL,
    RULE_CONTEXTS,
    RULE_CAPTURE
};

/* CUgraphInstantiate_flags and CUgraphInstantiateResult, as records have them. */
enum { AUTO_FREE = 1, UPLOAD = 2, DEVICE_LAUNCH = 4, FLAGS_ALL = 15 };
enum { RESULT_ERROR = 1, STRUCTURE, NOT_SUPPORTED, CONTEXTS, HANDLE_UNUSED };
/* Nodes of a circle that are named; failed instantiations that launches may follow. */
enum { CYCLE_MAX = 6, FAILED_MAX = 8 };

/* An instantiation that gave nothing: what is launched in its place. */
struct failed {
    uint32_t thread;
    gphi_draft *draft;
};

struct look {
    struct failed failed[FAILED_MAX];
    uint32_t failed_count;
};

/* A call that instantiates, as all its forms have it. */
struct wish {
    const gphi_seen *seen;
    const gphi_snapshot *snapshot; /* of the graph, or NULL */
    uint64_t graph, flags, error_node;
    uint32_t result; /* CUgraphInstantiateResult, 0: not reported */
    const char *said;
};

static gphi_draft *find(const gphi_rule_run *run, uint32_t rule, const gphi_call *at)
{
    gphi_rule_run as = *run;
    as.rule = &gphi_rules_instantiate[rule];
    return gphi_finding_begin(&as, at, 0);
}

/* ---- what a graph is made of ---- */

/* Captured calls that made memory nodes, where no snapshot was written. */
static bool captured_memory(const gphi_capture *capture, gphi_call *out)
{
    for (size_t i = 0; capture && i < capture->calls.count; i++) {
        const gphi_call *call = gphi_vec_at(&capture->calls, i);
        if (gphi_call_is_pool_alloc(call->call) ||
            call->call == GPHI_CALL_cuMemFreeAsync) {
            *out = *call;
            return true;
        }
    }
    return false;
}

/* The call that made the graph's first memory node, as far as it is known. */
static bool memory_call(const gphi_rule_run *run, uint64_t handle, gphi_call *out)
{
    const gphi_graph_state *graph = gphi_model_graph(run->model, handle);
    const gphi_snapshot *snapshot = graph ? graph->last : NULL;
    memset(out, 0, sizeof(*out));
    if (!graph)
        return false;
    if (captured_memory(graph->capture, out))
        return true;
    if (!snapshot || !snapshot->data)
        return false;
    for (uint32_t i = 0; i < gph_graph_node_count(snapshot->data); i++) {
        const gph_node_kind kind = gph_graph_node(snapshot->data, i)->kind;
        if (kind != GPH_NODE_MEM_ALLOC && kind != GPH_NODE_MEM_FREE)
            continue;
        *out = *gphi_snapshot_made(snapshot, i);
        return true;
    }
    return snapshot->has_memory;
}

static bool has_kind(const gphi_snapshot *snapshot, gph_node_kind kind)
{
    const gph_graph *graph = gphi_snapshot_graph(snapshot);
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++)
        if (gph_graph_node(graph, i)->kind == kind)
            return true;
    return false;
}

static void tell_memory(const gphi_rule_run *run, gphi_draft *draft, uint64_t graph)
{
    gphi_call made;
    if (memory_call(run, graph, &made))
        gphi_evidence_call(draft, &made, "a memory node of the graph was made by");
}

/* ---- circles ---- */

/* Snapshots may have edges that lead in a circle: that is what is looked for. Without
 * recursion, since graphs are long chains; nodes as the topology numbers them. */
/* Depth first, against the edges. `words`: state, next dependency and path, by node. */
static uint32_t walk_back(const gphi_topology *of, uint32_t *words, uint32_t start,
                          uint32_t *cycle)
{
    uint32_t *state = words, *next = words + of->count, *path = words + 2 * of->count;
    uint32_t depth = 0, length = 0;
    path[depth++] = start;
    state[start] = 1;
    while (depth > 0) {
        const uint32_t node = path[depth - 1];
        if (of->first[node] + next[node] == of->first[node + 1]) {
            state[node] = 2;
            depth--;
            continue;
        }
        const uint32_t before = of->deps[of->first[node] + next[node]++];
        if (state[before] == 0) {
            state[before] = 1;
            path[depth++] = before;
        } else if (state[before] == 1) { /* on the path: a circle */
            while (depth > 0 && length < CYCLE_MAX) {
                cycle[length++] = path[--depth];
                if (path[depth] == before)
                    break;
            }
            return length;
        }
    }
    return 0;
}

static uint32_t find_cycle(const gphi_rule_run *run, const gph_graph *graph,
                           uint32_t *cycle)
{
    uint32_t found = 0;
    gphi_topology topology = {0};
    gphi_vec words;
    gphi_vec_init(&words, run->model->heap, sizeof(uint32_t));
    if (gph_graph_node_count(graph) > 0 &&
        gphi_topology_init(&topology, graph) == GPH_OK) {
        uint32_t *all = gphi_vec_add(&words, 3 * (size_t)topology.count);
        for (uint32_t i = 0; all && i < topology.count && found == 0; i++)
            if (all[i] == 0)
                found = walk_back(&topology, all, i, cycle);
    }
    gphi_topology_fini(&topology);
    gphi_vec_fini(&words);
    return found;
}

static gphi_draft *tell_cycle(gphi_rule_run *run, const struct wish *wish)
{
    uint32_t cycle[CYCLE_MAX] = {0}, length = 0;
    const gph_graph *graph = gphi_snapshot_graph(wish->snapshot);
    if (graph)
        length = find_cycle(run, graph, cycle);
    if (wish->result != STRUCTURE && length == 0 && !gphi_said_has(wish->said, "cycle"))
        return NULL;
    gphi_draft *draft = find(run, RULE_CYCLE, &wish->seen->call);
    const char *way = length > 0 ? gphi_say_node(wish->snapshot, cycle[0]) : "";
    for (uint32_t i = 1; draft && i < length; i++)
        way = gphi_say("%.400s -> %s", way, gphi_say_node(wish->snapshot, cycle[i]));
    if (draft && length > 0) /* a longer one is cut */
        way = gphi_say("%.400s -> %s", way,
                       length < CYCLE_MAX ? gphi_say_node(wish->snapshot, cycle[0])
                                          : "...");
    gphi_cause(draft, "the edges of %s form a cycle%s%s",
               gphi_say_graph(run->model, wish->graph), length > 0 ? ": " : "", way);
    for (uint32_t i = 0; draft && i < length; i++)
        gphi_evidence_node(draft, wish->snapshot, cycle[i], "on the cycle");
    return draft;
}

/* ---- instantiations ---- */

static gphi_draft *tell_conditional(gphi_rule_run *run, const struct wish *wish)
{
    gphi_draft *draft = find(run, RULE_CONDITIONAL, &wish->seen->call);
    if (wish->result == HANDLE_UNUSED ||
        gphi_said_has(wish->said, "unused conditional handle"))
        gphi_cause(
            draft,
            "a conditional handle was created for %s that no conditional node of it "
            "uses",
            gphi_say_graph(run->model, wish->graph));
    else
        gphi_cause(draft,
                   "%s has conditional nodes and was instantiated before: such a graph "
                   "can be instantiated only once",
                   gphi_say_graph(run->model, wish->graph));
    return draft;
}

/* Of a graph with memory nodes there may be one executable. One that was updated with the
 * graph counts as its own from then on. */
static gphi_draft *tell_second(gphi_rule_run *run, const struct wish *wish)
{
    const gphi_exec_state *other = NULL;
    for (size_t i = 0; i < run->model->execs.count; i++) {
        const gphi_exec_state *exec = gphi_vec_pointer(&run->model->execs, i);
        if (exec->is_alive && exec->source && exec->source->graph == wish->graph)
            other = exec;
    }
    gphi_draft *draft = find(run, RULE_SECOND, &wish->seen->call);
    gphi_cause(draft, "%s has memory nodes, and an executable already%s",
               gphi_say_graph(run->model, wish->graph),
               other && other->graph != wish->graph ? ": one that was updated with it"
                                                    : "");
    if (!draft)
        return draft;
    if (other && other->graph != wish->graph && other->updated.number != 0)
        gphi_evidence_call(draft, &other->updated, "that executable was updated by");
    else if (other)
        gphi_evidence_call(draft, &other->created, "that executable was made by");
    tell_memory(run, draft, wish->graph);
    return draft;
}

/* By kind: what no device graph may hold. */
static bool is_for_hosts(gph_node_kind kind)
{
    return kind == GPH_NODE_HOST || kind == GPH_NODE_EVENT_WAIT ||
           kind == GPH_NODE_EVENT_RECORD || kind == GPH_NODE_SEMAPHORE_SIGNAL ||
           kind == GPH_NODE_SEMAPHORE_WAIT || kind == GPH_NODE_MEM_ALLOC ||
           kind == GPH_NODE_MEM_FREE || kind == GPH_NODE_BATCH_MEM_OP;
}

static uint32_t first_for_hosts(const gph_graph *graph)
{
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++)
        if (is_for_hosts(gph_graph_node(graph, i)->kind))
            return i;
    return GPH_NODE_NONE;
}

/* The node that the driver names, else the first of a kind that is not allowed. */
static gphi_draft *tell_node_kind(gphi_rule_run *run, const struct wish *wish)
{
    const gphi_snapshot *snapshot = wish->snapshot;
    const uint32_t found = wish->error_node != 0
                               ? gphi_snapshot_index(snapshot, wish->error_node)
                               : first_for_hosts(gphi_snapshot_graph(snapshot));
    gphi_draft *draft = find(run, RULE_NODE, &wish->seen->call);
    gphi_cause(draft, "%s is not allowed in %s",
               found != GPH_NODE_NONE ? gphi_say_node(snapshot, found) : "a node of it",
               "a graph that is to be launched from the device");
    if (draft && found != GPH_NODE_NONE)
        gphi_evidence_node(draft, snapshot, found, "not allowed");
    return draft;
}

/* Of a node: as the graph has it, else of the call that made it; 0: not known. */
static uint64_t context_of(const gphi_snapshot *snapshot, uint32_t index)
{
    const gph_node *node = gph_graph_node(snapshot->data, index);
    switch (node->kind) {
    case GPH_NODE_KERNEL:
        if (node->u.kernel.context != 0)
            return node->u.kernel.context;
        break;
    case GPH_NODE_MEMCPY:
    case GPH_NODE_MEMSET: break;
    default: return 0;
    }
    return gphi_snapshot_made(snapshot, index)->context;
}

/* Two nodes that work in different contexts. */
static bool find_contexts(const gphi_snapshot *snapshot, uint32_t *first,
                          uint32_t *second)
{
    uint64_t known = 0;
    if (!snapshot || !snapshot->data)
        return false;
    for (uint32_t i = 0; i < gph_graph_node_count(snapshot->data); i++) {
        const uint64_t context = context_of(snapshot, i);
        *second = i;
        if (known != 0 && context != 0 && context != known)
            return true;
        if (known == 0 && context != 0) {
            known = context;
            *first = i;
        }
    }
    return false;
}

static void tell_context(const gphi_model *model, gphi_draft *draft,
                         const gphi_snapshot *snapshot, uint32_t index)
{
    gphi_evidence_node(
        draft, snapshot, index,
        gphi_say("in %s", gphi_say_context(model, context_of(snapshot, index))));
}

/* Two nodes that differ are named, one of each context. */
static gphi_draft *tell_contexts(gphi_rule_run *run, const struct wish *wish)
{
    uint32_t one = 0, other = 0;
    gphi_draft *draft = find(run, RULE_CONTEXTS, &wish->seen->call);
    gphi_cause(draft,
               "%s is to be launched from the device and has nodes of several contexts",
               gphi_say_graph(run->model, wish->graph));
    if (!draft || !wish->snapshot)
        return draft;
    if (find_contexts(wish->snapshot, &one, &other)) {
        tell_context(run->model, draft, wish->snapshot, one);
        tell_context(run->model, draft, wish->snapshot, other);
        return draft;
    }
    const uint32_t index = gphi_snapshot_index(wish->snapshot, wish->error_node);
    if (index != GPH_NODE_NONE)
        gphi_evidence_node(draft, wish->snapshot, index, "of another context");
    return draft;
}

static gphi_draft *tell_flags(gphi_rule_run *run, const struct wish *wish,
                              const char *why)
{
    gphi_draft *draft = find(run, RULE_FLAGS, &wish->seen->call);
    const uint64_t unknown = wish->flags & ~(uint64_t)FLAGS_ALL;
    gphi_cause(draft, "flags 0x%" PRIx64 ": %s", wish->flags, why);
    if (unknown != 0)
        gphi_fix(draft, "Here: leave out 0x%" PRIx64 ".", unknown);
    return draft;
}

/* Which flags cannot be, or NULL. */
static const char *wrong_flags(const struct wish *wish)
{
    const gph_graph *graph = gphi_snapshot_graph(wish->snapshot);
    if ((wish->flags & ~(uint64_t)FLAGS_ALL) != 0)
        return "there are no such flags";
    if ((wish->flags & DEVICE_LAUNCH) != 0 && (wish->flags & AUTO_FREE) != 0)
        return "a launch from the device and memory that is freed at the next launch "
               "exclude each other";
    if ((wish->flags & UPLOAD) != 0 &&
        wish->seen->call.call != GPHI_CALL_cuGraphInstantiateWithParams)
        return "an upload needs a stream, which only cuGraphInstantiateWithParams takes";
    if ((wish->flags & DEVICE_LAUNCH) != 0 &&
        (gphi_said_has(wish->said, "at least one non-empty node") ||
         gphi_said_has(wish->said, "a device graph needs a node") ||
         (graph && gph_graph_node_count(graph) == 0)))
        return "a graph that is launched from the device needs a node";
    return NULL;
}

/* The order is that of certainty: what the driver itself named, then what cannot be
 * otherwise (flags), then what the graph shows. */
static gphi_draft *tell_invalid(gphi_rule_run *run, const struct wish *wish)
{
    const char *flags = wrong_flags(wish);
    if (wish->result == HANDLE_UNUSED ||
        gphi_said_has(wish->said, "unused conditional handle"))
        return tell_conditional(run, wish);
    if (flags)
        return tell_flags(run, wish, flags);
    if (wish->result == CONTEXTS || gphi_said_has(wish->said, "of a second context") ||
        gphi_said_has(wish->said,
                      "must use the same context")) /* an H100, with a bare 1 */
        return tell_contexts(run, wish);
    if (wish->result == NOT_SUPPORTED ||
        gphi_said_has(wish->said, "graphs and conditional nodes do not support") ||
        gphi_said_has(wish->said, "a device graph holds"))
        return (wish->flags & DEVICE_LAUNCH) != 0 ? tell_node_kind(run, wish)
                                                  : NULL; /* a body's: device.body-node */
    gphi_draft *draft = tell_cycle(run, wish);
    uint32_t one = 0, other = 0;
    if (!draft && (wish->flags & DEVICE_LAUNCH) != 0 && wish->said[0] == '\0' &&
        find_contexts(wish->snapshot, &one, &other))
        return tell_contexts(run, wish);
    if (draft || (wish->flags & DEVICE_LAUNCH) == 0 || wish->said[0] != '\0' ||
        first_for_hosts(gphi_snapshot_graph(wish->snapshot)) == GPH_NODE_NONE)
        return draft;
    return tell_node_kind(run, wish);
}

/* The rules of captures know what was open and what follows; where they saw no capture
 * begin, it is reported here. */
static gphi_draft *tell_during_capture(gphi_rule_run *run, const struct wish *wish)
{
    const gphi_call *call = &wish->seen->call;
    for (size_t i = run->findings->drafts.count; i-- > 0;) {
        gphi_draft *draft = gphi_vec_pointer(&run->findings->drafts, i);
        if (draft->rule == &gphi_rules_instantiate[RULE_CAPTURE] &&
            draft->at.stack == call->stack && draft->at.thread == call->thread)
            return draft;
    }
    if (gphi_is_told(run, call))
        return NULL;
    gphi_draft *draft = find(run, RULE_CAPTURE, call);
    gphi_cause(draft, "a graph was instantiated while %u captures were open",
               (unsigned)wish->seen->event->u.call.open);
    return draft;
}

/* The two calls, and their older forms, put the same things in different places. */
static void read_wish(const gphi_seen *seen, const char *said, struct wish *out)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    const gphi_part *part = gphi_event_part(seen->event, GPHI_PART_STRUCT, 0);
    *out = (struct wish){.seen = seen,
                         .snapshot = seen->snapshot,
                         .graph = gphi_event_word(seen->event, 1),
                         .said = said};
    if (out->snapshot && out->snapshot->graph != out->graph)
        out->snapshot = NULL;
    if (seen->call.call == GPHI_CALL_cuGraphInstantiateWithFlags) {
        out->flags = gphi_event_word(seen->event, 2);
    } else if (part && part->bytes >= sizeof(params)) {
        memcpy(&params, part + 1, sizeof(params));
        out->flags = params.flags;
        out->error_node = (uint64_t)(uintptr_t)params.hErrNode_out;
        out->result = (uint32_t)params.result_out;
    }
}

/* What instantiates fails in two ways that need the graph: with 801 both conditional
 * nodes and memory nodes come into question, and memory nodes are the likelier. */
static void look_at_instantiate(gphi_rule_run *run, struct look *look,
                                const gphi_seen *seen)
{
    struct wish wish;
    gphi_call made;
    gphi_draft *draft = NULL;
    read_wish(seen, gphi_said_of(run->said, &seen->call), &wish);
    if (seen->call.result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
        draft = tell_during_capture(run, &wish);
    else if (seen->call.result == CUDA_ERROR_INVALID_VALUE)
        draft = tell_invalid(run, &wish);
    else if (seen->call.result == CUDA_ERROR_NOT_SUPPORTED)
        draft = gphi_said_has(wish.said, "conditional") ||
                        (has_kind(wish.snapshot, GPH_NODE_CONDITIONAL) &&
                         !memory_call(run, wish.graph, &made))
                    ? tell_conditional(run, &wish)
                : memory_call(run, wish.graph, &made) ? tell_second(run, &wish)
                                                      : NULL;
    if (!draft)
        return;
    gphi_evidence_said(draft, wish.said);
    look->failed[look->failed_count++ % FAILED_MAX] =
        (struct failed){seen->call.thread, draft};
}

/* ---- copies and cuts ---- */

/* A copy of memory nodes would free what is not its own. */
static void look_at_clone(gphi_rule_run *run, const gphi_seen *seen, const char *said)
{
    const uint64_t graph = gphi_event_word(seen->event, 1);
    gphi_call made;
    if (gphi_said_has(said, "conditional")) {
        gphi_draft *draft = find(run, RULE_CONDITIONAL, &seen->call);
        gphi_cause(draft, "%s has conditional nodes: it cannot be cloned",
                   gphi_say_graph(run->model, graph));
        gphi_evidence_said(draft, said);
        return;
    }
    if (!memory_call(run, graph, &made) && !gphi_said_has(said, "memory"))
        return;
    gphi_draft *draft = find(run, RULE_CLONE, &seen->call);
    gphi_cause(draft, "%s has memory nodes: it cannot be cloned",
               gphi_say_graph(run->model, graph));
    if (draft)
        tell_memory(run, draft, graph);
    gphi_evidence_said(draft, said);
}

/* `child`: the graph that was to become a node. */
static void look_at_child(gphi_rule_run *run, const gphi_seen *seen, const char *said,
                          uint64_t child)
{
    gphi_call made;
    const bool conditional = gphi_said_has(said, "conditional");
    if (!conditional && !memory_call(run, child, &made) && !gphi_said_has(said, "memory"))
        return;
    gphi_draft *draft =
        find(run, conditional ? RULE_CONDITIONAL : RULE_CHILD, &seen->call);
    gphi_cause(draft, "%s has %s nodes: it cannot be added as a child graph by copy",
               gphi_say_graph(run->model, child), conditional ? "conditional" : "memory");
    if (draft && !conditional)
        tell_memory(run, draft, child);
    gphi_evidence_said(draft, said);
}

/* A child by the call for any kind of node. */
static void look_at_add(gphi_rule_run *run, const gphi_seen *seen, const char *said)
{
    const gphi_part *part = gphi_event_part(seen->event, GPHI_PART_STRUCT, 0);
    CUgraphNodeParams params;
    if (!part || part->bytes < sizeof(params))
        return;
    memcpy(&params, part + 1, sizeof(params));
    if (params.type == CU_GRAPH_NODE_TYPE_GRAPH)
        look_at_child(run, seen, said, (uint64_t)(uintptr_t)params.graph.graph);
}

/* The graph is not an argument; the node's is the one whose snapshot has it. */
static const gphi_snapshot *snapshot_with(const gphi_model *model, uint64_t node,
                                          uint32_t *index)
{
    for (size_t i = model->graphs.count; i-- > 0;) {
        const gphi_graph_state *graph = gphi_vec_pointer(&model->graphs, i);
        const gphi_snapshot *last = graph->is_alive ? graph->last : NULL;
        *index = gphi_snapshot_index(last, node);
        if (*index != GPH_NODE_NONE)
            return last;
    }
    return NULL;
}

/* Taking a node out would leave a free without its allocation, or the reverse. */
static void look_at_remove(gphi_rule_run *run, const gphi_seen *seen, const char *said)
{
    const uint64_t node = gphi_event_word(seen->event, 0);
    uint32_t index = 0;
    const gphi_snapshot *snapshot = snapshot_with(run->model, node, &index);
    gphi_draft *draft = find(run, RULE_REMOVE, &seen->call);
    gphi_cause(draft,
               "%s cannot be taken out: its graph has nodes that allocate or free memory",
               snapshot ? gphi_say_node(snapshot, index) : "the node");
    if (draft && snapshot) {
        gphi_evidence_node(draft, snapshot, index, "to be taken out");
        tell_memory(run, draft, snapshot->graph);
    }
    gphi_evidence_said(draft, said);
}

/* ---- the rule ---- */

/* The launch of an executable that is not there, since its instantiation failed. */
static void look_at_launch(struct look *look, const gphi_seen *seen)
{
    const uint64_t exec = gphi_event_word(seen->event, 0);
    const uint32_t count =
        look->failed_count < FAILED_MAX ? look->failed_count : FAILED_MAX;
    if (seen->call.result == 0 || (seen->exec && seen->exec->is_alive) ||
        (exec != 0 && seen->exec) || count == 0)
        return;
    const struct failed *best = &look->failed[(look->failed_count - 1) % FAILED_MAX];
    for (uint32_t i = 0; i < count; i++) {
        const struct failed *failed =
            &look->failed[(look->failed_count - 1 - i) % FAILED_MAX];
        if (failed->thread == seen->call.thread) {
            best = failed;
            break;
        }
    }
    gphi_consequence(best->draft, &seen->call);
}

/* Calls that succeeded are of no interest here; the model has them. */
static void instantiate_call(gphi_rule_run *run, const gphi_seen *seen)
{
    struct look *look = run->state;
    const int32_t result = seen->call.result;
    if (result == 0)
        return;
    switch (seen->call.call) {
    case GPHI_CALL_cuGraphInstantiateWithFlags:
    case GPHI_CALL_cuGraphInstantiateWithParams:
        look_at_instantiate(run, look, seen);
        return;
    case GPHI_CALL_cuGraphLaunch:
    case GPHI_CALL_cuGraphUpload:
    case GPHI_CALL_cuGraphExecDestroy: look_at_launch(look, seen); return;
    default: break;
    }
    if (result != CUDA_ERROR_NOT_SUPPORTED)
        return;
    const char *said = gphi_said_of(run->said, &seen->call);
    switch (seen->call.call) {
    case GPHI_CALL_cuGraphClone: look_at_clone(run, seen, said); break;
    case GPHI_CALL_cuGraphAddChildGraphNode:
        look_at_child(run, seen, said, gphi_event_word(seen->event, 4));
        break;
    case GPHI_CALL_cuGraphAddNode: look_at_add(run, seen, said); break;
    case GPHI_CALL_cuGraphDestroyNode: look_at_remove(run, seen, said); break;
    default: break;
    }
}

/* The first looks for all but the last. */
const gphi_rule gphi_rules_instantiate[] = {
    GPHI_RULE("instantiate.cycle", ERROR, .state_bytes = sizeof(struct look),
              .call = instantiate_call),
    GPHI_RULE_NAME("instantiate.second-executable", ERROR),
    GPHI_RULE_NAME("instantiate.clone-memory-nodes", ERROR),
    GPHI_RULE_NAME("instantiate.child-memory-nodes", ERROR),
    GPHI_RULE_NAME("instantiate.remove-memory-node", ERROR),
    GPHI_RULE_NAME("instantiate.node-not-allowed", ERROR),
    GPHI_RULE_NAME("instantiate.flags", ERROR),
    GPHI_RULE_NAME("instantiate.conditional", ERROR),
    GPHI_RULE_NAME("instantiate.multiple-contexts", ERROR),
    GPHI_RULE_NAME("instantiate.during-capture", ERROR),
    GPHI_RULE("instantiate.appended-capture", WARNING,
              .list_bytes = sizeof(gphi_recorded_into),
              .call = gphi_rule_appended_capture),
    {.id = NULL},
};
