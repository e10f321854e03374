// SPDX-License-Identifier: Apache-2.0
/* Snapshots: graphs as they were when they were captured, instantiated or given to an
 * update. Their records come in before the call they belong to; when that call comes they
 * are put together, children first. */
#include "base/fail.h"
#include "base/heap.h"
#include "doctor/model/model_node.h"
#include "doctor/model/model_state.h"
#include "graph/graph.h"

#include <string.h>

/* Nodes of all snapshots beyond which the oldest that nothing uses are emptied. */
enum { NODES_KEPT = 400000 };

static model_snapshot *at(const gphi_vec *list, size_t index)
{
    return gphi_vec_pointer(list, index);
}

/* ---- life ---- */

void gphi_snapshot_empty(gphi_model *model, model_snapshot *snapshot)
{
    gphi_snapshot *seen = &snapshot->seen;
    if (!snapshot->is_borrowed)
        gph_graph_destroy(seen->data);
    if (seen->handles || seen->made)
        model->own->snapshot_nodes -= seen->node_count;
    gphi_heap_free(model->heap, seen->handles, seen->node_count * sizeof(*seen->handles));
    gphi_heap_free(model->heap, seen->made, seen->node_count * sizeof(*seen->made));
    seen->data = NULL;
    seen->handles = NULL;
    seen->made = NULL;
    seen->node_count = 0;
}

/* Children borrow what their parent has. */
static void orphan(gphi_model *model, const gphi_snapshot *parent)
{
    for (size_t i = 0; i < model->snapshots.count; i++) {
        model_snapshot *child = at(&model->snapshots, i);
        if (child->seen.parent != parent)
            continue;
        if (child->is_borrowed)
            child->seen.data = NULL;
        child->seen.parent = NULL;
    }
}

void gphi_snapshot_clear(gphi_model *model, void *item)
{
    model_snapshot *snapshot = item;
    orphan(model, &snapshot->seen);
    gphi_snapshot_empty(model, snapshot);
    gphi_vec_fini(&snapshot->records);
    gphi_vec *const lists[] = {&model->own->pending, &model->own->fresh};
    for (size_t l = 0; l < 2; l++)
        for (size_t i = lists[l]->count; i-- > 0;)
            if (at(lists[l], i) == snapshot)
                gphi_vec_remove(lists[l], i);
}

static void empty_old(gphi_model *model)
{
    if (model->own->snapshot_nodes <= NODES_KEPT)
        return;
    for (size_t i = 0; i + 8 < model->snapshots.count; i++) {
        model_snapshot *snapshot = at(&model->snapshots, i);
        if (!snapshot->is_done || snapshot->uses > 0 || snapshot->seen.parent)
            continue;
        for (size_t c = 0; c < model->snapshots.count; c++) {
            model_snapshot *child = at(&model->snapshots, c);
            if (child->seen.parent == &snapshot->seen && child->is_borrowed)
                child->seen.data = NULL;
        }
        gphi_snapshot_empty(model, snapshot);
        if (model->own->snapshot_nodes <= NODES_KEPT / 2)
            return;
    }
}

/* ---- coming in ---- */

gph_status gphi_snapshot_begin(gphi_model *model, const gphi_event *event)
{
    model_snapshot *snapshot = gphi_table_add(model, &model->own->snapshots);
    if (!snapshot)
        return GPH_E_NO_MEMORY;
    const uint64_t parent = gphi_event_word(event, 5);
    snapshot->seen.number = gphi_event_word(event, 0);
    snapshot->seen.graph = event->id;
    snapshot->seen.why = (gphi_snapshot_why)gphi_event_word(event, 3);
    snapshot->claimed_exec = gphi_event_word(event, 4);
    snapshot->claimed_nodes = gphi_event_word(event, 1);
    snapshot->thread = event->thread;
    gphi_vec_init(&snapshot->records, model->heap, 1);
    if (parent != 0 && parent != snapshot->seen.number) {
        model_snapshot *of = gphi_table_find(&model->own->snapshots, parent);
        snapshot->seen.parent = of && !of->is_done ? &of->seen : NULL;
    }
    GPHI_TRY(gphi_vec_push(&model->own->pending, &snapshot));
    return gphi_table_name(&model->own->snapshots, snapshot->seen.number, snapshot);
}

gph_status gphi_snapshot_more(gphi_model *model, const gphi_event *event)
{
    const uint64_t number =
        event->kind == GPHI_EVENT_NODE ? gphi_event_word(event, 0) : event->id;
    model_snapshot *snapshot = gphi_table_find(&model->own->snapshots, number);
    if (!snapshot || snapshot->is_done)
        return GPH_OK;
    return gphi_event_keep(&snapshot->records, event);
}

/* ---- putting together ---- */

static const gphi_event *next_record(const model_snapshot *snapshot, size_t *offset)
{
    if (*offset >= snapshot->records.count)
        return NULL;
    const gphi_event *event =
        (const gphi_event *)(const void *)((const char *)snapshot->records.items +
                                           *offset);
    *offset += (size_t)event->units * sizeof(*event);
    return event;
}

/* The child's graph goes to the parent's node; the child's snapshot borrows it. */
static model_snapshot *child_for(gphi_model *model, const model_snapshot *parent,
                                 uint64_t graph)
{
    for (size_t i = 0; i < model->own->pending.count; i++) {
        model_snapshot *child = at(&model->own->pending, i);
        if (child->seen.parent == &parent->seen && child->seen.graph == graph &&
            child->seen.data && !child->is_borrowed)
            return child;
    }
    return NULL;
}

static bool add_node(gphi_model *model, model_snapshot *snapshot, gph_graph *graph,
                     const gphi_event *event)
{
    gph_node node;
    model_snapshot *child = NULL;
    if (gphi_event_word(event, GPHI_NODE_INDEX) != gph_graph_node_count(graph) ||
        !gphi_node_read(model, event, &node))
        return false;
    if (node.kind == GPH_NODE_CHILD) {
        const uint64_t *handle =
            gphi_bytes_of(event, GPHI_PART_STRUCT, 0, sizeof(*handle));
        child = handle ? child_for(model, snapshot, *handle) : NULL;
        node.u.child = child ? child->seen.data : NULL;
    }
    if (gph_graph_node_add(graph, &node, NULL, NULL) != GPH_OK)
        return false;
    snapshot->seen.has_memory |=
        node.kind == GPH_NODE_MEM_ALLOC || node.kind == GPH_NODE_MEM_FREE;
    snapshot->seen.has_events |=
        node.kind == GPH_NODE_EVENT_RECORD || node.kind == GPH_NODE_EVENT_WAIT;
    if (child) {
        child->is_borrowed = true;
        snapshot->seen.has_memory |= child->seen.has_memory;
        snapshot->seen.has_events |= child->seen.has_events;
    }
    return true;
}

static bool add_edges(gph_graph *graph, const gphi_event *event)
{
    for (uint32_t i = 0; i + 1 < event->word_count; i += 2) {
        const uint64_t ends = gphi_event_word(event, i);
        const uint64_t data = gphi_event_word(event, i + 1);
        const gph_edge edge = {.from = (uint32_t)(ends >> 32),
                               .to = (uint32_t)ends,
                               .from_port = (uint8_t)data,
                               .to_port = (uint8_t)(data >> 8),
                               .type = (uint8_t)(data >> 16)};
        if (gph_graph_edge_add(graph, &edge, NULL) != GPH_OK)
            return false;
    }
    return true;
}

static bool fill_graph(gphi_model *model, model_snapshot *snapshot, gph_graph *graph)
{
    const gphi_event *event;
    for (size_t offset = 0; (event = next_record(snapshot, &offset));)
        if (event->kind == GPHI_EVENT_NODE && !add_node(model, snapshot, graph, event))
            return false;
    for (size_t offset = 0; (event = next_record(snapshot, &offset));)
        if (event->kind == GPHI_EVENT_EDGES && !add_edges(graph, event))
            return false;
    return true;
}

/* Who made node `index`: by its handle, else, in a clone or a child, by its place. */
static gphi_call made_by(const model_graph *graph, uint64_t handle, size_t index,
                         size_t count)
{
    const gphi_call nobody = {.number = 0};
    if (!graph)
        return nobody;
    const uint64_t *known = gphi_map_get(&graph->by_handle, handle);
    if (known)
        return ((model_made *)gphi_vec_at(&graph->made, (size_t)*known))->call;
    if (graph->seen.clone_of && graph->made.count == count)
        return ((model_made *)gphi_vec_at(&graph->made, index))->call;
    return nobody;
}

/* The graph whose calls made a child's nodes: what its parent's node was made of. */
static const model_graph *origin_of_child(gphi_model *model, const model_snapshot *child)
{
    const model_snapshot *parent = (const model_snapshot *)child->seen.parent;
    const model_graph *graph =
        parent ? gphi_table_find(&model->own->graphs, parent->seen.graph) : NULL;
    const gphi_event *event;
    for (size_t offset = 0; graph && (event = next_record(parent, &offset));) {
        const uint64_t *handle =
            gphi_bytes_of(event, GPHI_PART_STRUCT, 0, sizeof(*handle));
        const uint64_t *known = gphi_map_get(&graph->by_handle, event->id);
        if (event->kind != GPHI_EVENT_NODE || !handle || !known ||
            *handle != child->seen.graph)
            continue;
        const model_made *made = gphi_vec_at(&graph->made, (size_t)*known);
        return made->child != 0 ? gphi_table_find(&model->own->graphs, made->child)
                                : NULL;
    }
    return NULL;
}

static gph_status name_nodes(gphi_model *model, model_snapshot *snapshot)
{
    const uint32_t count = gph_graph_node_count(snapshot->seen.data);
    gphi_snapshot *seen = &snapshot->seen;
    const model_graph *graph = gphi_table_find(&model->own->graphs, seen->graph);
    const model_graph *origin =
        seen->why == GPHI_SNAPSHOT_CHILD ? origin_of_child(model, snapshot) : NULL;
    if (count == 0)
        return GPH_OK;
    uint64_t *handles = gphi_heap_array(model->heap, count, sizeof(*handles));
    gphi_call *made = gphi_heap_array(model->heap, count, sizeof(*made));
    if (!handles || !made) {
        gphi_heap_free(model->heap, handles, count * sizeof(*handles));
        gphi_heap_free(model->heap, made, count * sizeof(*made));
        return GPH_E_NO_MEMORY;
    }
    seen->handles = handles;
    seen->made = made;
    seen->node_count = count;
    model->own->snapshot_nodes += count;
    const gphi_event *event;
    uint32_t index = 0;
    for (size_t offset = 0; (event = next_record(snapshot, &offset));) {
        if (event->kind != GPHI_EVENT_NODE || index >= count)
            continue;
        handles[index] = event->id;
        made[index] = made_by(graph, event->id, index, count);
        if (made[index].number == 0 && origin && index < origin->made.count)
            made[index] = ((model_made *)gphi_vec_at(&origin->made, index))->call;
        index++;
    }
    return GPH_OK;
}

static gph_status put_together(gphi_model *model, model_snapshot *snapshot)
{
    gph_graph *graph = NULL;
    GPHI_TRY(gph_graph_create(&model->heap, &graph, NULL));
    if (fill_graph(model, snapshot, graph) &&
        gph_graph_node_count(graph) == snapshot->claimed_nodes)
        snapshot->seen.data = graph;
    else
        gph_graph_destroy(graph);
    return GPH_OK;
}

gph_status gphi_snapshot_done(gphi_model *model, uint32_t thread)
{
    gphi_vec *pending = &model->own->pending, *fresh = &model->own->fresh;
    gph_status status = GPH_OK;
    fresh->count = 0;
    if (pending->count == 0)
        return GPH_OK;
    for (size_t i = pending->count; i-- > 0;) /* parents come first */
        if (at(pending, i)->thread == thread && status == GPH_OK)
            status = put_together(model, at(pending, i));
    size_t kept = 0;
    for (size_t i = 0; i < pending->count; i++) {
        model_snapshot *snapshot = at(pending, i);
        if (snapshot->thread != thread) {
            *(void **)gphi_vec_at(pending, kept++) = snapshot;
            continue;
        }
        snapshot->is_done = true;
        if (gphi_vec_push(fresh, &snapshot) != GPH_OK)
            status = GPH_E_NO_MEMORY;
    }
    pending->count = kept;
    return status;
}

gph_status gphi_snapshot_name(gphi_model *model)
{
    gphi_vec *fresh = &model->own->fresh;
    gph_status status = GPH_OK;
    for (size_t i = 0; i < fresh->count && status == GPH_OK; i++)
        status = name_nodes(model, at(fresh, i));
    for (size_t i = 0; i < fresh->count; i++)
        gphi_vec_fini(&at(fresh, i)->records);
    if (fresh->count > 0)
        empty_old(model);
    fresh->count = 0;
    return status;
}

gphi_snapshot *gphi_snapshot_of(gphi_model *model, uint64_t graph, uint64_t exec)
{
    const gphi_vec *fresh = &model->own->fresh;
    for (size_t i = fresh->count; i-- > 0;) {
        model_snapshot *snapshot = at(fresh, i);
        if (snapshot->seen.graph == graph && snapshot->seen.why != GPHI_SNAPSHOT_CHILD &&
            (exec == 0 || snapshot->claimed_exec == 0 || snapshot->claimed_exec == exec))
            return &snapshot->seen;
    }
    return NULL;
}

/* ---- edits of executables ---- */

/* Nodes own their parts; the constness of what they lend is the graph's to drop, and
 * this snapshot is ours. */
static void set_buffer(gph_kernel_params *kernel, const gphi_event *event)
{
    const gphi_part *params = gphi_event_part(event, GPHI_PART_PARAMS, 0);
    if (params && params->bytes == kernel->buffer_bytes && params->bytes > 0)
        memcpy((void *)(uintptr_t)kernel->buffer, params + 1, params->bytes);
}

/* The kernel's number and name go with its handle; the arguments' places stay. */
static void set_kernel(gphi_model *model, gph_kernel_params *kernel,
                       const gph_kernel_params *wanted, const gphi_event *event)
{
    const uint64_t number = gphi_model_kernel(model, wanted->handle);
    if (number != kernel->handle) {
        const gphi_function *function = gphi_model_function(model, wanted->handle);
        gphi_heap_text_free(model->heap, (char *)(uintptr_t)kernel->function);
        kernel->function = gphi_heap_text(model->heap, function ? function->name : NULL);
        kernel->handle = number;
    }
    memcpy(kernel->grid, wanted->grid, sizeof(kernel->grid));
    memcpy(kernel->block, wanted->block, sizeof(kernel->block));
    kernel->shared_bytes = wanted->shared_bytes;
    set_buffer(kernel, event);
}

/* A setter that was taken has as many as there were, of the same kinds. */
static void set_operations(gph_batch_params *batch, const gph_batch_params *wanted)
{
    if (batch->count == wanted->count && batch->count > 0)
        memcpy((gph_mem_op *)(uintptr_t)batch->ops, wanted->ops,
               batch->count * sizeof(*batch->ops));
}

gph_status gphi_snapshot_edit(gphi_model *model, gphi_exec_state *exec,
                              const gphi_event *event)
{
    gphi_snapshot *source = exec->source;
    const uint64_t handle = gphi_exec_node(exec, gphi_event_word(event, 1));
    const uint32_t index = gphi_snapshot_index(source, handle);
    if (!source || !source->data || source->exec != exec || index == GPH_NODE_NONE)
        return GPH_OK;
    gph_node *node = gphi_vec_at(&source->data->nodes, index), wanted;
    if (node->kind == GPH_NODE_EVENT_RECORD || node->kind == GPH_NODE_EVENT_WAIT)
        node->u.event.event = gphi_event_word(event, 2);
    if (!gphi_node_wanted(model, event, &wanted) || wanted.kind != node->kind)
        return GPH_OK;
    if (node->kind == GPH_NODE_KERNEL)
        set_kernel(model, &node->u.kernel, &wanted.u.kernel, event);
    else if (node->kind == GPH_NODE_BATCH_MEM_OP)
        set_operations(&node->u.batch, &wanted.u.batch);
    else
        node->u = wanted.u; /* copies, fills, host functions own nothing */
    return GPH_OK;
}
