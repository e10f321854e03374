// SPDX-License-Identifier: Apache-2.0
/* New parameters for one node of an executable graph, and switching nodes off. */
#include <string.h>

#include "softcuda/graph/exec.h"
#include "softcuda/rules/rules.h"

/* The exec's node of a graph's node (R69i). Both mutexes held. */
static CUresult find(const soft_exec *exec, soft_node *node, uint32_t *at)
{
    *at = soft_shape_find(&exec->shape, node);
    if (*at != SOFT_NO_NODE)
        return CUDA_SUCCESS;
    if (!soft_rule(R69i)) {
        *at = 0;
        return CUDA_SUCCESS;
    }
    return soft_fail(CUDA_ERROR_INVALID_VALUE,
                     "the node %p is not of the graph that the executable one was made "
                     "from or updated with last",
                     (void *)node);
}

/* Parameters of a node, as they are to be: a kernel keeps its attributes, which no setter
 * of an executable graph can name. */
static CUresult set_record(soft_exec *exec, uint32_t at, const soft_node *node,
                           const soft_node_params *params)
{
    const soft_exec_record *old = exec->current->records[at];
    soft_task task = {0};
    if (params->task)
        task = *params->task;
    if (params->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        task.u.launch.cooperative = old->task.u.launch.cooperative;
        task.u.launch.priority = old->task.u.launch.priority;
        memcpy(task.u.launch.cluster, old->task.u.launch.cluster,
               sizeof(task.u.launch.cluster));
    }
    const soft_content content = {params->type, node->id,      params->context,
                                  &task,        params->event, old->is_updatable};
    soft_exec_record *record;
    SOFT_TRY(soft_exec_record_create(&content, NULL, &record));
    soft_change change = {.type = params->type,
                          .flags = exec->flags,
                          .launches = exec->side,
                          .old = old,
                          .new = record};
    const CUresult result = soft_change_check(&change);
    if (result != CUDA_SUCCESS) {
        soft_exec_record_release(record);
        return result;
    }
    const soft_work work = soft_version_bind(exec, at, record);
    soft_version_put(exec, soft_version_open(exec), at, record, &work);
    return CUDA_SUCCESS;
}

static CUresult set_locked(soft_exec *exec, soft_node *node,
                           const soft_node_params *params)
{
    uint32_t at;
    SOFT_TRY(find(exec, node, &at));
    const CUgraphNodeType type = (CUgraphNodeType)exec->shape.nodes[at].type;
    if (type != params->type)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the node has type %d, the parameters are for type %d",
                         (int)type, (int)params->type);
    if (type == CU_GRAPH_NODE_TYPE_GRAPH)
        return soft_exec_set_child(exec, at, (soft_graph *)(uintptr_t)params->child);
    if (!exec->current->records[at])
        return CUDA_SUCCESS; /* it has no parameters */
    return set_record(exec, at, node, params);
}

CUresult soft_exec_set_node(soft_exec *exec, soft_node *node,
                            const soft_node_params *params)
{
    if (params->type == CU_GRAPH_NODE_TYPE_GRAPH && params->child->memory &&
        soft_rule(M_set_child_memory)) /* whatever the node is */
        return soft_fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                         "the child graph has memory nodes");
    soft_light_lock(&exec->mutex);
    const CUresult result = set_locked(exec, node, params);
    soft_light_unlock(&exec->mutex);
    return result;
}

/* ---- enabled nodes ----------------------------------------------------------------- */

static CUresult find_switchable(const soft_exec *exec, soft_node *node, uint32_t *at)
{
    SOFT_TRY(find(exec, node, at));
    const uint8_t type = exec->shape.nodes[*at].type;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
        type == CU_GRAPH_NODE_TYPE_MEMSET || !soft_rule(R69h))
        return CUDA_SUCCESS;
    return soft_fail(CUDA_ERROR_INVALID_VALUE,
                     "a node of type %u is always enabled: kernels, copies and fills can "
                     "be switched off",
                     type);
}

/* A node that kernels change: what they have of it is made again, with the switch, even if that
 * stays as it was (on an H100, too). */
static CUresult renew(soft_exec *exec, uint32_t at, soft_exec_record **out)
{
    const soft_exec_record *old = exec->current->records[at];
    *out = NULL;
    if (!old || !old->is_updatable)
        return CUDA_SUCCESS;
    const soft_content content = {CU_GRAPH_NODE_TYPE_KERNEL,
                                  exec->shape.nodes[at].id,
                                  old->context,
                                  &old->task,
                                  NULL,
                                  true};
    return soft_exec_record_create(&content, NULL, out);
}

CUresult soft_exec_set_enabled(soft_exec *exec, soft_node *node, bool enabled)
{
    uint32_t at;
    soft_light_lock(&exec->mutex);
    CUresult result = find_switchable(exec, node, &at);
    if (result == CUDA_SUCCESS) {
        const bool is_new = exec->shape.nodes[at].enabled != enabled;
        soft_exec_record *record;
        result = renew(exec, at, &record);
        if (result == CUDA_SUCCESS && (is_new || record)) {
            exec->shape.nodes[at].enabled = enabled;
            soft_work work;
            if (record)
                work = soft_version_bind(exec, at, record);
            soft_version_put(exec, soft_version_open(exec), at, record,
                             record ? &work : NULL);
        }
    }
    soft_light_unlock(&exec->mutex);
    return result;
}

CUresult soft_exec_get_enabled(soft_exec *exec, soft_node *node, bool *out)
{
    uint32_t at;
    soft_light_lock(&exec->mutex);
    const CUresult result = find_switchable(exec, node, &at);
    if (result == CUDA_SUCCESS)
        *out = exec->shape.nodes[at].enabled;
    soft_light_unlock(&exec->mutex);
    return result;
}
