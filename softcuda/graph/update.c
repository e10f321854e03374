// SPDX-License-Identifier: Apache-2.0
/* Updates of executable graphs: all of it or nothing.
 *
 * A whole update pairs the nodes of a graph with the executable's, looks at each pair
 * whether it may change as it wants to, prepares the parameters of those that differ, and
 * only then edits. The nodes of a child graph are pairs of their own, looked at in their
 * parent's turn. */
#include "softcuda/device/alloc.h"
#include "softcuda/graph/exec.h"
#include "softcuda/graph/memnode.h"
#include "softcuda/graph/updatable.h"
#include "softcuda/rules/rules.h"

struct edit {
    uint32_t at;
    soft_exec_record *record;
    soft_work work; /* of the record, which is far away when all are committed */
};

struct update {
    soft_pairing pairing; /* first: the visitor's */
    soft_exec *exec;
    struct edit *edits;
    uint32_t count;
    soft_record_maker maker;
    soft_object_set *objects; /* of the new graph, later the old ones */
    soft_exec_memory *memory; /* the same */
};

/* Its parameters, if they differ and may, become an edit. */
static CUresult prepare(struct update *update, uint32_t at, soft_node *node)
{
    soft_exec_record *old = update->exec->current->records[at];
    if (!old || soft_change_is_none(old, node))
        return CUDA_SUCCESS;
    soft_content content = soft_content_of(node);
    soft_exec_record *record;
    content.updatable = old->is_updatable; /* the executable is compiled for that */
    update->maker.most = update->exec->shape.node_count - update->count;
    SOFT_TRY(soft_exec_record_create(&content, &update->maker, &record));
    soft_change change = {.type = node->type,
                          .flags = update->exec->flags,
                          .whole = true,
                          .launches = update->exec->side,
                          .old = old,
                          .new = record};
    const CUresult result = soft_change_check(&change);
    if (result != CUDA_SUCCESS) {
        soft_exec_record_release(record);
        return soft_pairing_refuse(&update->pairing, change.result, node, NULL);
    }
    update->edits[update->count++] =
        (struct edit){at, record, soft_version_bind(update->exec, at, record)};
    return CUDA_SUCCESS;
}

/* Of the old record what a comparison and its release read, and where the new one goes. */
static void fetch(const soft_pairing *pairing, uint32_t at)
{
    const struct update *update = (const struct update *)pairing;
    const soft_exec_record *old = update->exec->current->records[at];
    if (!old)
        return;
    soft_fetch(old, offsetof(soft_exec_record, backing));
    soft_fetch(&old->body.params, 1);
    soft_record_maker_fetch(&update->maker, sizeof(*old) - SOFT_RECORD_PARAM_BYTES);
}

/* Its handle, its type and how many bodies it has stay (R69f). */
static CUresult check_conditional(struct update *update, uint32_t at, soft_node *node)
{
    const soft_conditional *old = &update->exec->current->records[at]->task.u.conditional;
    const soft_conditional *new = &node->task.u.conditional;
    if (old->handle == new->handle && old->type == new->type && old->size == new->size)
        return CUDA_SUCCESS;
    soft_refuse(
        CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
        "a conditional node has type %u, %u bodies and handle %u, its partner %u, "
        "%u and %u",
        new->type, new->size, new->handle, old->type, old->size, old->handle);
    return soft_pairing_refuse(&update->pairing,
                               soft_rule(R69f) ? CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED
                                               : CU_GRAPH_EXEC_UPDATE_ERROR,
                               node, NULL);
}

static CUresult visit(soft_pairing *pairing, uint32_t at, soft_node *node)
{
    struct update *update = (struct update *)pairing;
    const soft_exec_node *old = &update->exec->shape.nodes[at];
    if (old->type != (uint8_t)node->type) {
        soft_refuse(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                    "a node has type %d, its partner has %u", (int)node->type, old->type);
        return soft_pairing_refuse(pairing,
                                   soft_rule(R68)
                                       ? CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED
                                       : CU_GRAPH_EXEC_UPDATE_ERROR,
                                   node, NULL);
    }
    if (node->child)
        return soft_pair_level(pairing, old->level, node->child);
    if (node->bodies)
        SOFT_TRY(check_conditional(update, at, node));
    SOFT_TRY(prepare(update, at, node));
    uint32_t level = old->level;
    for (uint32_t k = 0; node->bodies && soft_node_inner(node, k); k++) {
        SOFT_TRY(soft_pair_level(pairing, level, soft_node_inner(node, k)));
        level = update->exec->shape.levels[level].next;
    }
    return CUDA_SUCCESS;
}

/* From here on nothing fails. The old objects go with the launches under way (R107), and
 * so does the old graph's memory; that graph may have another executable from now on. */
static void commit(struct update *update, bool whole)
{
    soft_exec *exec = update->exec;
    const bool other_objects = whole && (exec->objects || update->objects);
    const bool other_memory = update->memory;
    if (other_objects) {
        soft_object_set *old = exec->objects;
        exec->objects = update->objects;
        update->objects = old;
    }
    if (other_memory) {
        soft_exec_memory *old = exec->memory;
        exec->memory = update->memory;
        update->memory = old;
        soft_exec_memory_disown(old);
    }
    if (update->count == 0 && !other_objects && !other_memory)
        return;
    soft_version *version = soft_version_open(exec);
    for (uint32_t i = 0; i < update->count; i++) {
        const struct edit *edit = &update->edits[i];
        if (i + SOFT_AHEAD < update->count)
            soft_version_fetch(version, edit[SOFT_AHEAD].at);
        soft_version_put(exec, version, edit->at, edit->record, &edit->work);
    }
    update->count = 0;
}

static CUresult update_level(struct update *update, uint32_t level, soft_graph *graph)
{
    update->pairing.visit = visit;
    update->pairing.fetch = fetch;
    update->pairing.in_order = level != 0 && soft_rule(R69k);
    SOFT_TRY(soft_pairing_init(&update->pairing, &update->exec->shape));
    const size_t room = update->exec->shape.node_count * sizeof(*update->edits);
    update->edits = soft_room_new(room);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!update->edits)
        soft_refuse(result, "no memory to update %u nodes",
                    update->exec->shape.node_count);
    else
        result = soft_pair_level(&update->pairing, level, graph);
    if (result == CUDA_SUCCESS && level == 0)
        result = soft_object_set_create(graph, &update->objects);
    if (result == CUDA_SUCCESS && level == 0 && soft_rule(M_update_memory))
        result = soft_exec_memory_create(graph, update->pairing.nodes,
                                         update->exec->shape.node_count,
                                         update->exec->memory, &update->memory);
    if (result == CUDA_SUCCESS || !soft_rule(R69j))
        commit(update, level == 0);
    soft_object_set_release(update->objects);
    soft_exec_memory_release(update->memory);
    for (uint32_t i = 0; i < update->count; i++)
        soft_exec_record_release(update->edits[i].record);
    soft_record_maker_fini(&update->maker);
    soft_room_delete(update->edits, room);
    soft_pairing_fini(&update->pairing);
    return result;
}

CUresult soft_exec_update(soft_exec *exec, soft_graph *graph,
                          CUgraphExecUpdateResultInfo *out)
{
    struct update update = {.exec = exec};
    if (soft_rule(R69g) && graph->parent)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the graph belongs to a child-graph node of another one");
    const bool is_updatable = exec->updatables && exec->updatables->own;
    if (soft_rule(R69b) && (is_updatable || soft_graph_is_updatable(graph)))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the device changes nodes of the %s graph",
                         is_updatable ? "executable" : "new");
    soft_light_lock(&exec->mutex);
    CUresult result;
    if (soft_rule(R69g) && soft_exec_memory_is_taken(graph, exec->memory))
        result = soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                           "the graph has alloc or free nodes and another executable");
    else
        result = update_level(&update, 0, graph);
    soft_light_unlock(&exec->mutex);
    if (result != CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
        return result;
    out->result = update.pairing.result;
    out->errorNode = (CUgraphNode)update.pairing.node;
    out->errorFromNode = (CUgraphNode)update.pairing.from;
    return result;
}

CUresult soft_exec_set_child(soft_exec *exec, uint32_t at, soft_graph *graph)
{
    struct update update = {.exec = exec};
    return update_level(&update, exec->shape.nodes[at].level, graph);
}
