// SPDX-License-Identifier: Apache-2.0
/* Rule update.edit-without-effect. An executable is a copy of its graph, and a child node
 * one of the graph that it was given. What is edited afterwards is seen by nobody until
 * the graph is instantiated, updated from, added or cloned again.
 *
 *   edit of G ── instantiation, update, clone, child of G     -> nothing
 *             ├─ the executable's own node is set             -> nothing
 *             ├─ launches of what was made of a clone of G, taken before -> reported
 *             └─ launches of what was made of G before, then the end -> reported */
#include "doctor/rules/update/update_edit.h"
#include "doctor/history/history.h"

#include <string.h>

enum { EDITS_MAX = 256, GRAPHS_MAX = 64, DEPTH_MAX = 8 };

typedef struct edit {
    uint64_t graph, node; /* node 0: edges, nodes that come and go */
    uint64_t root;        /* what is instantiated: the graph itself, or what it lies in */
    uint64_t root_made;   /* number of the call that made the root */
    gphi_call call, launch, made; /* made: the executable */
    uint64_t launches, times;
    bool is_copied; /* into the root, as a child */
    bool is_cloned; /* nothing was made of the root, but of a clone of it */
} edit;

void gphi_edit_init(gphi_rule_run *run)
{
    gphi_edit_state *state = run->state;
    gphi_map_init(&state->graph_of, run->model->heap);
    gphi_map_init(&state->since, run->model->heap);
    gphi_map_init(&state->child_in, run->model->heap);
    gphi_map_init(&state->added, run->model->heap);
    gphi_vec_init(&state->edits, run->model->heap, sizeof(edit));
    gphi_vec_init(&state->over, run->model->heap, sizeof(gphi_over));
}

void gphi_edit_fini(gphi_rule_run *run)
{
    gphi_edit_state *state = run->state;
    gphi_map_fini(&state->graph_of);
    gphi_map_fini(&state->since);
    gphi_map_fini(&state->child_in);
    gphi_map_fini(&state->added);
    gphi_vec_fini(&state->edits);
    gphi_vec_fini(&state->over);
}

static void set(gphi_rule_run *run, gphi_map *map, uint64_t key, uint64_t value)
{
    if (gphi_map_set(map, key, value) != GPH_OK)
        gphi_short(run);
}

/* ---- graphs and what they lie in ----
 *
 * Handles are addresses of the driver: those of graphs and nodes that were destroyed come
 * again as others, when and which depends on its heap. So each look at what is known of a
 * handle asks whether it is still the one that it was. */

/* The number of the call that made a graph; UINT64_MAX: it is gone. */
static uint64_t made_of(const gphi_model *model, uint64_t graph)
{
    const gphi_graph_state *state = gphi_model_graph(model, graph);
    return state && state->is_alive ? state->created.number : UINT64_MAX;
}

/* The graph that a node was added to by hand; 0: by no call, or that graph is gone. */
static uint64_t added_to(const gphi_rule_run *run, uint64_t node)
{
    const gphi_edit_state *state = run->state;
    const uint64_t *known = gphi_map_get(&state->graph_of, node);
    const uint64_t *since = gphi_map_get(&state->since, node);
    const gphi_graph_state *graph =
        known && since ? gphi_model_graph(run->model, *known) : NULL;
    return graph && graph->is_alive && graph->created.number <= *since ? *known : 0;
}

/* The graph that has a node: of those added by hand by the call, of captured ones by the
 * newest snapshots; 0: not known. */
static uint64_t graph_of(const gphi_rule_run *run, uint64_t node)
{
    const gphi_model *model = run->model;
    const uint64_t known = added_to(run, node);
    if (known)
        return known;
    for (size_t i = model->graphs.count, n = 0; i-- > 0 && n < GRAPHS_MAX;) {
        const gphi_graph_state *graph = gphi_vec_pointer(&model->graphs, i);
        if (!graph->is_alive)
            continue;
        n++;
        if (gphi_snapshot_index(graph->last, node) != GPH_NODE_NONE)
            return graph->handle;
    }
    /* children of what is instantiated have nodes of their own */
    for (size_t i = model->snapshots.count, n = 0; i-- > 0 && n < GRAPHS_MAX; n++) {
        const gphi_snapshot *snapshot = gphi_vec_pointer(&model->snapshots, i);
        if (!snapshot->parent || gphi_snapshot_index(snapshot, node) == GPH_NODE_NONE)
            continue;
        while (snapshot->parent)
            snapshot = snapshot->parent;
        const gphi_graph_state *graph = gphi_model_graph(model, snapshot->graph);
        return graph && graph->is_alive && graph->last == snapshot ? snapshot->graph : 0;
    }
    return 0;
}

static uint64_t root_of(const gphi_rule_run *run, uint64_t graph)
{
    const gphi_edit_state *state = run->state;
    for (int i = 0; i < DEPTH_MAX; i++) {
        const uint64_t *in = gphi_map_get(&state->child_in, graph);
        if (!in)
            break;
        graph = *in;
    }
    return graph;
}

/* An executable of a graph that was made, or last updated, before a call; NULL: none. */
static gphi_exec_state *exec_before(const gphi_model *model, uint64_t graph,
                                    uint64_t number)
{
    const uint64_t made = made_of(model, graph);
    for (size_t i = model->execs.count; i-- > 0;) {
        gphi_exec_state *exec = gphi_vec_pointer(&model->execs, i);
        if (exec->is_alive && exec->graph == graph && exec->graph_made == made &&
            exec->created.number < number)
            return exec;
    }
    return NULL;
}

/* A living clone of a graph, whichever; NULL: none. */
static const gphi_graph_state *clone_of(const gphi_model *model, uint64_t graph)
{
    const gphi_graph_state *of = gphi_model_graph(model, graph);
    for (size_t i = model->graphs.count, n = 0; of && i-- > 0 && n < GRAPHS_MAX; n++) {
        const gphi_graph_state *other = gphi_vec_pointer(&model->graphs, i);
        if (other->is_alive && other->clone_of == of &&
            other->created.number > of->created.number)
            return other;
    }
    return NULL;
}

/* What had a handle is gone: what gets it next was not copied, and lies in nothing. */
static void forget(gphi_rule_run *run, uint64_t graph)
{
    gphi_edit_state *state = run->state;
    gphi_map_remove(&state->child_in, graph);
    gphi_map_remove(&state->added, graph);
}

/* ---- calls ---- */

/* The word of a call that changes a graph which names the graph or (*is_node) a node of
 * it; -1: the call edits none. */
static int edited_word(uint32_t call, bool *is_node)
{
    const char *name = gphi_call_name(call);
    *is_node = false;
    if (strncmp(name, "cuGraphExec", 11) == 0 || strncmp(name, "cuGraph", 7) != 0)
        return -1;
    if (call == GPHI_CALL_cuGraphAddDependencies ||
        call == GPHI_CALL_cuGraphRemoveDependencies)
        return 0;
    if (strncmp(name, "cuGraphAdd", 10) == 0)
        return 1;
    *is_node = true;
    const bool is_setter = strstr(name, "SetParams") || strstr(name, "NodeSetEvent") ||
                           strstr(name, "NodeSetAttribute");
    return is_setter || call == GPHI_CALL_cuGraphDestroyNode ||
                   call == GPHI_CALL_cuGraphKernelNodeCopyAttributes
               ? 0
               : -1;
}

static void note_edit(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_edit_state *state = run->state;
    bool is_node;
    const int word = edited_word(seen->call.call, &is_node);
    if (word < 0)
        return;
    const uint64_t named = gphi_event_word(seen->event, (uint32_t)word);
    const uint64_t graph = is_node ? graph_of(run, named) : named;
    if (word == 1) {
        set(run, &state->graph_of, gphi_event_word(seen->event, 0), graph);
        set(run, &state->since, gphi_event_word(seen->event, 0), seen->call.number);
    } else if (seen->call.call == GPHI_CALL_cuGraphDestroyNode)
        gphi_map_remove(&state->graph_of, named);
    const uint64_t root = graph ? root_of(run, graph) : 0;
    const uint64_t *added = gphi_map_get(&state->added, graph);
    const bool is_copied = added && *added < seen->call.number;
    const bool is_made = root && exec_before(run->model, root, seen->call.number);
    const bool is_cloned = root && !is_copied && !is_made && clone_of(run->model, root);
    if (!root || (!is_copied && !is_made && !is_cloned))
        return;
    const uint64_t key[] = {graph, is_node ? named : 0};
    edit *one = gphi_vec_keyed(&state->edits, key, sizeof(key), EDITS_MAX);
    if (!one)
        return;
    if (one->times++ == 0)
        one->call = seen->call;
    one->root = root;
    one->root_made = made_of(run->model, root);
    one->is_copied = is_copied;
    one->is_cloned = is_cloned;
}

/* The graph is taken up as it is now; so is what lies in it. */
static void take_up(gphi_rule_run *run, uint64_t graph)
{
    gphi_edit_state *state = run->state;
    for (size_t i = state->edits.count; i-- > 0 && graph;) {
        const edit *one = gphi_vec_at(&state->edits, i);
        if (one->graph == graph || (one->root == graph && !one->is_copied))
            gphi_vec_remove(&state->edits, i);
    }
}

static void note_child(gphi_rule_run *run, const gphi_seen *seen, uint64_t child)
{
    gphi_edit_state *state = run->state;
    take_up(run, child);
    if (!child)
        return;
    set(run, &state->child_in, child, gphi_event_word(seen->event, 1));
    set(run, &state->added, child, seen->call.number);
}

/* Bodies are graphs that no call makes. */
static void note_bodies(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_edit_state *state = run->state;
    const gphi_part *bodies = gphi_event_arg(seen->event, GPHI_PART_ARRAY, 5);
    for (size_t i = 0; bodies && i < bodies->bytes / sizeof(uint64_t); i++) {
        const uint64_t body = ((const uint64_t *)(bodies + 1))[i];
        forget(run, body);
        set(run, &state->child_in, body, gphi_event_word(seen->event, 1));
    }
}

static void note_use(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_event *event = seen->event;
    const CUgraphNodeParams *params;
    switch (seen->call.call) {
    case GPHI_CALL_cuGraphCreate:
    case GPHI_CALL_cuGraphDestroy: forget(run, gphi_event_word(event, 0)); break;
    case GPHI_CALL_cuStreamEndCapture:
        if (made_of(run->model, gphi_event_word(event, 1)) == seen->call.number)
            forget(run, gphi_event_word(event, 1));
        break;
    case GPHI_CALL_cuGraphClone:
        take_up(run, gphi_event_word(event, 1));
        forget(run, gphi_event_word(event, 0));
        break;
    case GPHI_CALL_cuGraphInstantiateWithFlags:
    case GPHI_CALL_cuGraphInstantiateWithParams:
    case GPHI_CALL_cuGraphExecUpdate: take_up(run, gphi_event_word(event, 1)); break;
    case GPHI_CALL_cuGraphExecChildGraphNodeSetParams:
        take_up(run, gphi_event_word(event, 2));
        break;
    case GPHI_CALL_cuGraphAddChildGraphNode:
        note_child(run, seen, gphi_event_word(event, 4));
        break;
    case GPHI_CALL_cuGraphAddNode:
        params = gphi_bytes_of(event, GPHI_PART_STRUCT, 5, sizeof(*params));
        if (params && params->type == CU_GRAPH_NODE_TYPE_GRAPH)
            note_child(run, seen, (uint64_t)(uintptr_t)params->graph.graph);
        if (params && params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            note_bodies(run, seen);
        break;
    case GPHI_CALL_cuGraphChildGraphNodeGetGraph:
        /* this one is the child itself, no copy */
        set(run, &((gphi_edit_state *)run->state)->child_in, gphi_event_word(event, 1),
            graph_of(run, gphi_event_word(event, 0)));
        break;
    default: break;
    }
}

/* The node is set in the executable as well, before or after. */
static bool is_set_there(const gphi_rule_run *run, const gphi_exec_state *exec,
                         uint64_t node)
{
    const uint64_t there = node ? gphi_exec_node(exec, node) : 0;
    return there && gphi_map_get(&run->history->edits, gphi_edit_key(exec, there));
}

/* A launch of what was made of a clone that the graph had before it was edited. */
static bool is_of_clone(const gphi_model *model, const edit *one,
                        const gphi_exec_state *exec)
{
    const gphi_graph_state *graph = gphi_model_graph(model, exec->graph);
    return one->is_cloned && graph && graph->created.number == exec->graph_made &&
           graph->clone_of && graph->clone_of->handle == one->root &&
           graph->clone_of->created.number == one->root_made &&
           exec->graph_made < one->call.number;
}

static bool is_of_edited(const edit *one, const gphi_exec_state *exec)
{
    return one->root == exec->graph && one->root_made == exec->graph_made &&
           (one->is_copied || exec->created.number <= one->call.number);
}

void gphi_edit_event(gphi_rule_run *run, const gphi_event *event)
{
    gphi_over_event(run, &((gphi_edit_state *)run->state)->over, event);
}

void gphi_edit_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_edit_state *state = run->state;
    if (seen->call.result != 0)
        return;
    note_edit(run, seen);
    note_use(run, seen);
    gphi_over_call(run, &state->over, seen);
    for (size_t i = 0; gphi_is_launch(seen) && seen->exec && i < state->edits.count;
         i++) {
        edit *one = gphi_vec_at(&state->edits, i);
        if (one->is_cloned ? !is_of_clone(run->model, one, seen->exec)
                           : !is_of_edited(one, seen->exec) ||
                                 is_set_there(run, seen->exec, one->node))
            continue;
        one->launch = seen->call;
        one->made = seen->exec->created;
        one->launches++;
    }
}

/* The first edit of each graph. */
void gphi_edit_end(gphi_rule_run *run)
{
    const gphi_edit_state *state = run->state;
    gphi_over_end(run, &state->over);
    GPHI_EACH (const edit, one, &state->edits) {
        if (one->launches == 0)
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &one->call, one->root);
        gphi_cause(draft,
                   "%s changed %s after %s; what was made of it was "
                   "launched %s more, as it was before",
                   gphi_say_call(&one->call), gphi_say_graph(run->model, one->graph),
                   one->is_copied   ? "it had been copied into another graph as a child"
                   : one->is_cloned ? "it had been cloned"
                                    : "it had been instantiated",
                   gphi_say_count(one->launches, "time"));
        gphi_evidence_call(draft, &one->made, "the executable was made by");
        gphi_evidence_call(draft, &one->launch, "last launched by");
        gphi_evidence(draft, "nothing instantiates, clones or adds that graph "
                             "afterwards, or updates an executable with it");
        if (one->is_cloned)
            gphi_fix(draft, "Here: a clone has nodes of its own; cuGraphNodeFindInClone "
                            "gives that of a node of the original.");
    }
}
