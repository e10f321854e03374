// SPDX-License-Identifier: Apache-2.0
/* Updates of executable graphs: what may change, and all of it or nothing.
 *
 * A whole update pairs the nodes of a graph with the executable's, looks whether each
 * pair may change as it wants to, prepares the parameters of those that differ, and only
 * then edits. A child graph's own nodes are pairs of their own. */
#include <string.h>

#include "softcuda/device/heap.h"
#include "softcuda/graph/exec.h"
#include "softcuda/rules/rules.h"

/* ---- what may change ----------------------------------------------------------------
 */

static CUresult refuse(soft_change *change, CUgraphExecUpdateResult result,
                       const char *what)
{
    change->result = result;
    return soft_fail(change->whole ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
                                   : CUDA_ERROR_INVALID_VALUE,
                     "%s", what);
}

static CUresult check_kernel(soft_change *change)
{
    const soft_launch *old = &change->old->task.u.launch;
    const soft_launch *new = &change->new->task.u.launch;
    if (soft_rule(R69) && change->old->context != change->new->context)
        return refuse(change, CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE,
                      "the new function is of another context than the old one");
    if (soft_rule(R69a) && old->cooperative != new->cooperative)
        return refuse(change, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED,
                      "the kernel is cooperative in one graph and not in the other");
    const bool by_node = change->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    if (soft_rule(R69a) && by_node && old->priority != new->priority)
        return refuse(
            change, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED,
            "the priorities differ, and the graph was instantiated to use them");
    return CUDA_SUCCESS;
}

static bool is_flat(const soft_copy *copy)
{
    return copy->height <= 1 && copy->depth <= 1;
}

static CUresult check_copy(soft_change *change)
{
    const soft_copy *old = &change->old->task.u.copy, *new = &change->new->task.u.copy;
    const CUgraphExecUpdateResult changed = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    if (soft_rule(R69c) &&
        (old->src_type != new->src_type || old->dst_type != new->dst_type))
        return refuse(change, changed,
                      "the memory type of an operand of the copy cannot change");
    if (soft_rule(R69d) && (!is_flat(old) || !is_flat(new)))
        return refuse(change, changed, "copies of several rows cannot be updated");
    for (int i = 0; i < 2; i++) {
        const soft_backing *a = &change->old->backing[i], *b = &change->new->backing[i];
        if (soft_rule(M_U07_backing) && a->kind != b->kind)
            return refuse(change, changed,
                          i ? "the source moves between memory of a context and memory "
                              "of a pool, a mapped range or a graph"
                            : "the destination moves between memory of a context and "
                              "memory of a pool, a mapped range or a graph");
    }
    return CUDA_SUCCESS;
}

static CUresult check_fill(soft_change *change)
{
    const soft_fill *old = &change->old->task.u.fill, *new = &change->new->task.u.fill;
    const CUgraphExecUpdateResult changed = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    if (!soft_rule(M_U06_fill_shape))
        return CUDA_SUCCESS;
    if (old->height != new->height)
        return refuse(change, changed, "the number of rows of the fill cannot change");
    if (old->height > 1 && (old->width != new->width || old->pitch != new->pitch ||
                            old->element != new->element))
        return refuse(change, changed, "the shape of a fill of rows cannot change");
    return CUDA_SUCCESS;
}

CUresult soft_change_check(soft_change *change)
{
    switch (change->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return check_kernel(change);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return check_copy(change);
    case CU_GRAPH_NODE_TYPE_MEMSET: return check_fill(change);
    default: return CUDA_SUCCESS;
    }
}

/* ---- what differs -------------------------------------------------------------------
 */

static bool same_launch(const soft_launch *a, const soft_launch *b)
{
    return a->function == b->function && memcmp(a->grid, b->grid, sizeof(a->grid)) == 0 &&
           memcmp(a->block, b->block, sizeof(a->block)) == 0 &&
           a->shared_bytes == b->shared_bytes && a->cooperative == b->cooperative &&
           a->priority == b->priority &&
           (a->param_bytes == 0 || memcmp(a->params, b->params, a->param_bytes) == 0);
}

/* Whether the node wants what it has: most nodes of most updates. */
static bool is_same(const soft_exec_record *old, const soft_node *node)
{
    if (old->context != node->context || old->event != node->event)
        return false;
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return same_launch(&old->task.u.launch, &node->task.u.launch);
    case CU_GRAPH_NODE_TYPE_HOST:
        return old->task.u.host.function == node->task.u.host.function &&
               old->task.u.host.user == node->task.u.host.user;
    case CU_GRAPH_NODE_TYPE_MEMSET: {
        const soft_fill *a = &old->task.u.fill, *b = &node->task.u.fill;
        return a->dst == b->dst && a->pitch == b->pitch && a->width == b->width &&
               a->height == b->height && a->value == b->value && a->element == b->element;
    }
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return true;
    default: return false; /* a copy's memory may have changed under its address */
    }
}

/* ---- whole updates ------------------------------------------------------------------
 */

struct edit {
    uint32_t at;
    soft_exec_record *record;
};

struct update {
    soft_exec *exec;
    soft_pairing pairing;
    struct edit *edits;
    uint32_t count;
};

/* Its parameters, if they differ and may, become an edit. */
static CUresult prepare_node(struct update *update, uint32_t at)
{
    soft_node *node = update->pairing.nodes[at];
    const soft_exec_record *old = update->exec->current->records[at];
    if (old == NULL || is_same(old, node))
        return CUDA_SUCCESS;
    const soft_content content = soft_content_of(node);
    soft_exec_record *record;
    SOFT_TRY(soft_exec_record_create(&content, NULL, &record));
    soft_change change = {.type = node->type,
                          .flags = update->exec->flags,
                          .whole = true,
                          .old = old,
                          .new = record};
    const CUresult result = soft_change_check(&change);
    if (result != CUDA_SUCCESS) {
        soft_exec_record_release(record);
        update->pairing.result = change.result;
        update->pairing.node = node;
        return result;
    }
    update->edits[update->count++] = (struct edit){at, record};
    return CUDA_SUCCESS;
}

static CUresult check_type(struct update *update, uint32_t at)
{
    soft_node *node = update->pairing.nodes[at];
    if (!soft_rule(R68) || update->exec->shape.nodes[at].type == (uint8_t)node->type)
        return CUDA_SUCCESS;
    update->pairing.result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    update->pairing.node = node;
    return soft_fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                     "a node of type %d has become one of type %d",
                     (int)update->exec->shape.nodes[at].type, (int)node->type);
}

static CUresult prepare_level(struct update *update, uint32_t level, soft_graph *graph)
{
    const soft_shape *shape = &update->exec->shape;
    SOFT_TRY(soft_pair_level(&update->pairing, level, graph));
    const soft_exec_level *of = &shape->levels[level];
    for (uint32_t i = 0; i < of->member_count; i++)
        SOFT_TRY(check_type(update, shape->members[of->member_first + i]));
    for (uint32_t i = 0; i < of->member_count; i++) {
        const uint32_t at = shape->members[of->member_first + i];
        soft_node *node = update->pairing.nodes[at];
        if (node->child)
            SOFT_TRY(prepare_level(update, shape->nodes[at].level, node->child));
        else
            SOFT_TRY(prepare_node(update, at));
    }
    return CUDA_SUCCESS;
}

/* From here on nothing fails. `keys`: setters name the graph's nodes from now on. */
static void commit(struct update *update, bool keys)
{
    soft_exec *exec = update->exec;
    if (update->count > 0) {
        soft_version *version = soft_version_open(exec);
        for (uint32_t i = 0; i < update->count; i++)
            soft_version_put(exec, version, update->edits[i].at, update->edits[i].record);
    }
    update->count = 0;
    for (uint32_t i = 0; keys && i < exec->shape.node_count; i++) {
        const soft_node *node = update->pairing.nodes[i];
        if (node == NULL)
            continue;
        exec->shape.nodes[i].source = node;
        exec->shape.nodes[i].id = node->id;
    }
}

static CUresult update_level(struct update *update, uint32_t level, soft_graph *graph)
{
    SOFT_TRY(soft_pairing_init(&update->pairing, &update->exec->shape));
    update->edits = soft_new(update->exec->shape.node_count * sizeof(*update->edits));
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (update->edits == NULL)
        soft_refuse(result, "no memory to update %u nodes",
                    update->exec->shape.node_count);
    else
        result = prepare_level(update, level, graph);
    if (result == CUDA_SUCCESS)
        commit(update, level == 0);
    for (uint32_t i = 0; i < update->count; i++)
        soft_exec_record_release(update->edits[i].record);
    soft_delete(update->edits);
    soft_pairing_fini(&update->pairing);
    return result;
}

CUresult soft_exec_update(soft_exec *exec, soft_graph *graph,
                          CUgraphExecUpdateResultInfo *out)
{
    *out = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    struct update update = {.exec = exec};
    pthread_mutex_lock(&exec->mutex);
    const CUresult result = update_level(&update, 0, graph);
    pthread_mutex_unlock(&exec->mutex);
    out->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    if (result == CUDA_SUCCESS)
        return CUDA_SUCCESS;
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
