// SPDX-License-Identifier: Apache-2.0
/* Graphs and executables: who made which node, what an executable holds, its updates and
 * launches. Snapshots are in model_snapshot.c. */
#include "base/fail.h"
#include "base/text.h"
#include "doctor/model/model_state.h"

#include <string.h>

enum { LAUNCHES_FIRST = 64, LAUNCHES_KEPT = 128 };

/* ---- life ---- */

void gphi_graph_clear(gphi_model *model, void *item)
{
    model_graph *graph = item;
    (void)model;
    gphi_vec_fini(&graph->made);
    gphi_map_fini(&graph->by_handle);
}

void gphi_exec_clear(gphi_model *model, void *item)
{
    model_exec *exec = item;
    gphi_clock_drop(model, &exec->clock);
    gphi_vec_fini(&exec->seen.launches);
    gphi_vec_fini(&exec->seen.standing);
    gphi_vec_fini(&exec->nodes);
}

static void use_snapshot(gphi_snapshot **place, gphi_snapshot *by)
{
    if (*place && ((model_snapshot *)*place)->uses > 0)
        ((model_snapshot *)*place)->uses--;
    if (by)
        ((model_snapshot *)by)->uses++;
    *place = by;
}

model_graph *gphi_graph_of(gphi_model *model, uint64_t handle, const gphi_call *created)
{
    model_graph *graph = gphi_table_find(&model->own->graphs, handle);
    if (graph && graph->seen.is_alive && !created)
        return graph;
    if (graph && graph->seen.is_alive && created)
        graph->seen.is_alive = false; /* its end was lost */
    graph = gphi_table_add(model, &model->own->graphs);
    if (!graph)
        return NULL;
    gphi_vec_init(&graph->made, model->heap, sizeof(model_made));
    gphi_map_init(&graph->by_handle, model->heap);
    graph->seen.handle = handle;
    graph->seen.is_alive = true;
    if (created)
        graph->seen.created = *created;
    return gphi_table_name(&model->own->graphs, handle, graph) == GPH_OK ? graph : NULL;
}

static model_exec *exec_of(gphi_model *model, uint64_t handle, const gphi_call *created)
{
    model_exec *exec = gphi_table_find(&model->own->execs, handle);
    if (exec && exec->seen.is_alive && !created)
        return exec;
    if (exec && !created)
        return exec; /* dead: the call is about what was there */
    if (exec && exec->seen.is_alive) {
        exec->seen.is_alive = false;
        use_snapshot(&exec->seen.source, NULL);
    }
    exec = gphi_table_add(model, &model->own->execs);
    if (!exec)
        return NULL;
    gphi_vec_init(&exec->seen.launches, model->heap, sizeof(gphi_launch));
    gphi_vec_init(&exec->seen.standing, model->heap, sizeof(uint8_t));
    gphi_vec_init(&exec->nodes, model->heap, sizeof(uint64_t));
    exec->seen.handle = handle;
    exec->seen.is_alive = true;
    if (created)
        exec->seen.created = *created;
    return gphi_table_name(&model->own->execs, handle, exec) == GPH_OK ? exec : NULL;
}

/* ---- nodes ---- */

gph_status gphi_graph_made(model_graph *graph, uint64_t node, uint64_t child,
                           const gphi_call *call)
{
    GPHI_TRY(gphi_vec_reserve(&graph->made, 1));
    if (node != 0)
        GPHI_TRY(gphi_map_set(&graph->by_handle, node, graph->made.count));
    model_made *made = gphi_vec_add(&graph->made, 1);
    *made = (model_made){.node = node, .child = child, .call = *call};
    return GPH_OK;
}

/* The calls of a capture, which are the nodes of its graph. */
static gph_status take_capture(model_graph *graph, gphi_capture *capture)
{
    const gphi_call *calls = capture->calls.items;
    for (size_t i = 0; i < capture->calls.count; i++)
        GPHI_TRY(gphi_graph_made(graph, calls[i].node, 0, &calls[i]));
    return GPH_OK;
}

static gph_status add_node(gphi_model *model, gphi_seen *seen)
{
    const gphi_event *event = seen->event;
    model_graph *graph = gphi_graph_of(model, gphi_event_word(event, 1), NULL);
    if (!graph)
        return GPH_E_NO_MEMORY;
    uint64_t child = 0;
    if (gphi_seen_is(seen, GPHI_CALL_cuGraphAddChildGraphNode))
        child = gphi_event_word(event, 4);
    if (gphi_seen_is(seen, GPHI_CALL_cuGraphAddNode)) {
        const CUgraphNodeParams *params =
            gphi_bytes_of(event, GPHI_PART_STRUCT, 5, sizeof(*params));
        if (params && params->type == CU_GRAPH_NODE_TYPE_GRAPH)
            child = (uint64_t)(uintptr_t)params->graph.graph;
    }
    return gphi_graph_made(graph, gphi_event_word(event, 0), child, &seen->call);
}

static gph_status clone_graph(gphi_model *model, gphi_seen *seen)
{
    model_graph *from =
        gphi_table_find(&model->own->graphs, gphi_event_word(seen->event, 1));
    model_graph *graph =
        gphi_graph_of(model, gphi_event_word(seen->event, 0), &seen->call);
    if (!graph)
        return GPH_E_NO_MEMORY;
    graph->seen.clone_of = from ? &from->seen : NULL;
    for (size_t i = 0; from && i < from->made.count; i++) {
        const model_made *made = gphi_vec_at(&from->made, i);
        GPHI_TRY(gphi_graph_made(graph, 0, made->child, &made->call));
    }
    return GPH_OK;
}

static gph_status end_capture(gphi_model *model, gphi_seen *seen)
{
    const uint64_t handle = gphi_event_word(seen->event, 1);
    gphi_capture *capture = seen->capture;
    if (handle == 0)
        return GPH_OK;
    const bool is_new = !capture || !capture->is_to_graph;
    model_graph *graph = gphi_graph_of(model, handle, is_new ? &seen->call : NULL);
    if (!graph)
        return GPH_E_NO_MEMORY;
    gphi_snapshot *snapshot = gphi_snapshot_of(model, handle, 0);
    if (capture) {
        GPHI_TRY(take_capture(graph, capture));
        capture->snapshot = snapshot;
        graph->seen.capture = capture;
    }
    if (snapshot) {
        snapshot->capture = capture;
        use_snapshot(&graph->seen.last, snapshot);
    }
    seen->snapshot = graph->seen.last;
    return GPH_OK;
}

/* ---- executables ---- */

static uint64_t instantiate_flags(const gphi_seen *seen)
{
    if (gphi_seen_is(seen, GPHI_CALL_cuGraphInstantiateWithFlags))
        return gphi_event_word(seen->event, 2);
    const CUDA_GRAPH_INSTANTIATE_PARAMS *params =
        gphi_bytes_of(seen->event, GPHI_PART_STRUCT, 2, sizeof(*params));
    return params ? params->flags : 0;
}

static gph_status instantiate(gphi_model *model, gphi_seen *seen)
{
    const uint64_t from = gphi_event_word(seen->event, 1);
    model_graph *graph = gphi_graph_of(model, from, NULL);
    gphi_snapshot *snapshot =
        gphi_snapshot_of(model, from, gphi_event_word(seen->event, 0));
    if (!graph)
        return GPH_E_NO_MEMORY;
    if (!snapshot)
        snapshot = graph->seen.last;
    else {
        use_snapshot(&graph->seen.last, snapshot);
        snapshot->capture = graph->seen.capture;
    }
    seen->snapshot = snapshot;
    if (seen->call.result != 0)
        return GPH_OK;
    model_exec *exec = exec_of(model, gphi_event_word(seen->event, 0), &seen->call);
    if (!exec)
        return GPH_E_NO_MEMORY;
    exec->seen.graph = from;
    exec->seen.graph_made = graph->seen.created.number;
    exec->seen.flags = instantiate_flags(seen);
    exec->seen.is_uploaded = (exec->seen.flags & 2) != 0; /* of the flags: UPLOAD */
    use_snapshot(&exec->seen.source, snapshot);
    if (snapshot && snapshot->why == GPHI_SNAPSHOT_INSTANTIATED)
        snapshot->exec = &exec->seen;
    graph->seen.exec_count++;
    seen->exec = &exec->seen;
    return GPH_OK;
}

/* Before the first update, which has another graph's nodes. */
static gph_status keep_nodes(model_exec *exec)
{
    const gphi_snapshot *source = exec->seen.source;
    if (exec->nodes.count > 0 || !source || !source->handles || source->node_count == 0)
        return GPH_OK;
    uint64_t *nodes = gphi_vec_add(&exec->nodes, source->node_count);
    if (!nodes)
        return GPH_E_NO_MEMORY;
    memcpy(nodes, source->handles, source->node_count * sizeof(*nodes));
    return GPH_OK;
}

static gph_status update(gphi_model *model, gphi_seen *seen)
{
    gphi_exec_state *exec = seen->exec;
    const uint64_t handle = gphi_event_word(seen->event, 1);
    gphi_snapshot *snapshot = gphi_snapshot_of(model, handle, 0);
    model_graph *graph = gphi_graph_of(model, handle, NULL);
    if (!graph)
        return GPH_E_NO_MEMORY;
    if (snapshot) {
        use_snapshot(&graph->seen.last, snapshot);
        snapshot->capture = graph->seen.capture;
    }
    snapshot = graph->seen.last;
    seen->snapshot = snapshot;
    if (!exec || !exec->is_alive)
        return GPH_OK;
    if (snapshot && snapshot->why == GPHI_SNAPSHOT_UPDATE)
        snapshot->exec = exec;
    if (seen->call.result == 0) {
        GPHI_TRY(keep_nodes((model_exec *)exec));
        exec->updated = seen->call;
        exec->update_count++;
        use_snapshot(&exec->source, snapshot);
        return GPH_OK;
    }
    const CUgraphExecUpdateResultInfo *info =
        gphi_bytes_of(seen->event, GPHI_PART_STRUCT, 2, sizeof(*info));
    exec->refused = seen->call;
    exec->refused_result = info ? (uint32_t)info->result : 0;
    use_snapshot(&exec->refused_by, snapshot);
    return GPH_OK;
}

static gph_status launch(gphi_seen *seen)
{
    gphi_exec_state *exec = seen->exec;
    if (!exec || seen->call.result != 0)
        return GPH_OK;
    if (seen->stream && seen->stream->capture)
        return GPH_OK; /* a child node; the executable does not run */
    exec->launch_count++;
    gphi_launch *place;
    if (exec->launches.count < LAUNCHES_KEPT) {
        place = gphi_vec_add(&exec->launches, 1);
        if (!place)
            return GPH_E_NO_MEMORY;
    } else {
        gphi_launch *at = exec->launches.items;
        memmove(&at[LAUNCHES_FIRST], &at[LAUNCHES_FIRST + 1],
                (LAUNCHES_KEPT - LAUNCHES_FIRST - 1) * sizeof(*at));
        place = &at[LAUNCHES_KEPT - 1];
    }
    *place = (gphi_launch){.call = seen->call,
                           .stream = seen->stream,
                           .work = seen->work ? seen->work->number : 0};
    return GPH_OK;
}

static void destroy_exec(gphi_seen *seen)
{
    gphi_exec_state *exec = seen->exec;
    if (!exec || !exec->is_alive || seen->call.result != 0)
        return;
    exec->is_alive = false;
    exec->destroyed = seen->call;
    use_snapshot(&exec->refused_by, NULL);
    if (exec->source && ((model_snapshot *)exec->source)->uses > 0)
        ((model_snapshot *)exec->source)->uses--; /* stays to be looked at */
}

static void destroy_graph(gphi_model *model, gphi_seen *seen)
{
    model_graph *graph =
        gphi_table_find(&model->own->graphs, gphi_event_word(seen->event, 0));
    if (!graph || !graph->seen.is_alive || seen->call.result != 0)
        return;
    graph->seen.is_alive = false;
    graph->seen.destroyed = seen->call;
    seen->snapshot = graph->seen.last;
    if (graph->seen.last && ((model_snapshot *)graph->seen.last)->uses > 0)
        ((model_snapshot *)graph->seen.last)->uses--;
}

static gph_status set_params(gphi_model *model, gphi_seen *seen)
{
    gphi_exec_state *exec = seen->exec;
    if (!exec || !exec->is_alive)
        return GPH_OK;
    seen->snapshot = exec->source;
    if (seen->call.result == 0) {
        exec->updated = seen->call;
        exec->update_count++;
        return gphi_snapshot_edit(model, exec, seen->event);
    }
    exec->refused = seen->call;
    exec->refused_result = 0;
    use_snapshot(&exec->refused_by, NULL);
    return GPH_OK;
}

static gph_status exec_call(gphi_model *model, gphi_seen *seen)
{
    const model_signature *has = &model->own->calls[seen->call.call];
    const char *name = gphi_call_name(seen->call.call);
    if (has->exec < 0)
        return GPH_OK;
    const uint64_t handle = gphi_event_word(seen->event, (uint32_t)has->exec);
    model_exec *exec = gphi_table_find(&model->own->execs, handle);
    if (!exec && seen->call.result == 0) /* made before we looked */
        exec = exec_of(model, handle, NULL);
    if (!exec)
        return seen->call.result == 0 ? GPH_E_NO_MEMORY : GPH_OK;
    seen->exec = &exec->seen;
    seen->snapshot = exec->seen.source;
    if (gphi_seen_is(seen, GPHI_CALL_cuGraphExecUpdate))
        return update(model, seen);
    if (gphi_seen_is(seen, GPHI_CALL_cuGraphLaunch))
        return launch(seen);
    if (gphi_seen_is(seen, GPHI_CALL_cuGraphExecDestroy))
        destroy_exec(seen);
    else if (gphi_seen_is(seen, GPHI_CALL_cuGraphUpload))
        exec->seen.is_uploaded |= seen->call.result == 0;
    else if (gphi_text_begins(name, "cuGraphExec") && strstr(name, "Set"))
        return set_params(model, seen);
    return GPH_OK;
}

gph_status gphi_graph_call(gphi_model *model, gphi_seen *seen)
{
    const char *name = gphi_call_name(seen->call.call);
    if (gphi_seen_is(seen, GPHI_CALL_cuStreamEndCapture))
        return seen->call.result == 0 ? end_capture(model, seen) : GPH_OK;
    if (!gphi_text_begins(name, "cuGraph"))
        return GPH_OK;
    if (gphi_text_begins(name, "cuGraphInstantiate"))
        return instantiate(model, seen);
    if (model->own->calls[seen->call.call].exec >= 0)
        return exec_call(model, seen);
    if (gphi_seen_is(seen, GPHI_CALL_cuGraphDestroy)) {
        destroy_graph(model, seen);
        return GPH_OK;
    }
    if (seen->call.result != 0)
        return GPH_OK;
    if (gphi_seen_is(seen, GPHI_CALL_cuGraphCreate))
        return gphi_graph_of(model, gphi_event_word(seen->event, 0), &seen->call)
                   ? GPH_OK
                   : GPH_E_NO_MEMORY;
    if (gphi_seen_is(seen, GPHI_CALL_cuGraphClone))
        return clone_graph(model, seen);
    if (gphi_text_begins(name, "cuGraphAdd") && strstr(name, "Node"))
        return add_node(model, seen);
    return GPH_OK;
}

/* ---- how far it is ---- */

/* Numbers in a record are not believed: as many states as there are words for. */
gph_status gphi_exec_stands(gphi_model *model, const gphi_event *event)
{
    enum { HEAD = 2, A_WORD = 32 };
    model_exec *exec = gphi_table_find(&model->own->execs, event->id);
    const uint64_t room = A_WORD * (uint64_t)event->word_count;
    const uint64_t said = gphi_event_word(event, 1);
    if (!exec || said + (uint64_t)HEAD * A_WORD > room)
        return GPH_OK;
    gphi_vec *standing = &exec->seen.standing;
    standing->count = 0;
    GPHI_TRY(gphi_vec_reserve(standing, said));
    for (uint32_t i = 0; i < said; i++) {
        const uint64_t word = gphi_event_word(event, HEAD + i / A_WORD);
        const uint8_t state = (uint8_t)(word >> 2 * (i % A_WORD) & 3);
        GPHI_TRY(gphi_vec_push(standing, &state));
    }
    exec->seen.launch_state = (uint32_t)gphi_event_word(event, 0);
    return GPH_OK;
}
