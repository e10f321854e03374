// SPDX-License-Identifier: Apache-2.0
/* Kernel nodes that kernels change. */
#include "softcuda/graph/updatable.h"

#include "softcuda/device/alloc.h"
#include "softcuda/rules/rules.h"

#define ATTRIBUTE CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE

/* ---- nodes ------------------------------------------------------------------------- */

static bool wants(const soft_node *node)
{
    return node->attributes && (node->attributes->set & 1u << ATTRIBUTE) &&
           node->attributes->values[ATTRIBUTE].deviceUpdatableKernelNode.deviceUpdatable;
}

static CUgraphDeviceNode handle_of(const soft_node *node)
{
    return (CUgraphDeviceNode)(uintptr_t)soft_updatable_handle(node->updatable);
}

CUresult soft_updatable_adopt(soft_node *node, soft_updatable *of)
{
    if (!wants(node) || node->updatable)
        return CUDA_SUCCESS;
    if (of && soft_rule(M_updatable_copy)) {
        soft_updatable_retain(of);
        node->updatable = of;
        return CUDA_SUCCESS;
    }
    SOFT_TRY(soft_pass(
        soft_updatable_create(soft_allocator(), &node->updatable, soft_error())));
    node->attributes->values[ATTRIBUTE].deviceUpdatableKernelNode.devNode =
        handle_of(node);
    return CUDA_SUCCESS;
}

/* The handle is an answer, though the value is an argument: as an H200 gives it. */
CUresult soft_updatable_set(soft_node *node, CUlaunchAttributeValue *value)
{
    const bool wanted = value->deviceUpdatableKernelNode.deviceUpdatable;
    if (node->updatable && !wanted && soft_rule(R78))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the device changes node %llu: it stays so",
                         (unsigned long long)node->id);
    if (!node->attributes)
        node->attributes = soft_new(sizeof(*node->attributes));
    SOFT_TRY(soft_made(node->attributes, "no memory for node attributes"));
    if (wanted && !node->updatable)
        SOFT_TRY(soft_pass(
            soft_updatable_create(soft_allocator(), &node->updatable, soft_error())));
    if (wanted)
        value->deviceUpdatableKernelNode.devNode = handle_of(node);
    if (node->updatable)
        node->graph->has |= SOFT_HAS_UPDATABLE;
    node->attributes->set |= 1u << ATTRIBUTE;
    node->attributes->values[ATTRIBUTE] = *value;
    return CUDA_SUCCESS;
}

bool soft_graph_is_updatable(const soft_graph *graph)
{
    if (!(graph->has & (SOFT_HAS_UPDATABLE | SOFT_HAS_INNER)))
        return false;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const soft_node *node = graph->nodes[i];
        if (node->updatable)
            return true;
        const bool looks = !node->child || !soft_rule(M_updatable_copy);
        for (uint32_t k = 0; looks && soft_node_inner(node, k); k++)
            if (soft_graph_is_updatable(soft_node_inner(node, k)))
                return true;
    }
    return false;
}

CUresult soft_updatable_keep(const soft_node *node, const char *what)
{
    if (!node->updatable || !soft_rule(R78))
        return CUDA_SUCCESS;
    return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "the device changes node %llu: %s",
                     (unsigned long long)node->id, what);
}

/* ---- executable graphs ------------------------------------------------------------- */

CUresult soft_updatables_create(const soft_graph *graph, const soft_flat *flat,
                                soft_updatables **out)
{
    uint32_t count = 0;
    *out = NULL;
    if (!(flat->has & SOFT_HAS_UPDATABLE))
        return CUDA_SUCCESS;
    for (uint32_t i = 0; i < flat->shape.node_count; i++)
        count += flat->nodes[i] && flat->nodes[i]->updatable;
    if (count == 0)
        return CUDA_SUCCESS;
    soft_updatables *made = soft_new(sizeof(*made) + count * sizeof(made->list[0]));
    SOFT_TRY(soft_made(made, "no memory for %u nodes that the device changes", count));
    made->own = soft_graph_is_updatable(graph);
    for (uint32_t i = 0; i < flat->shape.node_count; i++) {
        if (!flat->nodes[i] || !flat->nodes[i]->updatable)
            continue;
        soft_updatable_retain(flat->nodes[i]->updatable);
        made->list[made->count].at = i;
        made->list[made->count++].updatable = flat->nodes[i]->updatable;
    }
    *out = made;
    return CUDA_SUCCESS;
}

void soft_updatables_destroy(const soft_exec *exec)
{
    soft_updatables *updatables = exec->updatables;
    for (uint32_t i = 0; updatables && i < updatables->count; i++) {
        soft_updatable_leave(updatables->list[i].updatable, exec);
        soft_updatable_release(updatables->list[i].updatable);
    }
    soft_delete(updatables);
}

void soft_updatables_activate(const soft_version *version, bool uploads)
{
    const soft_updatables *updatables = version->exec->updatables;
    for (uint32_t i = 0; i < updatables->count; i++)
        soft_updatable_activate(updatables->list[i].updatable,
                                version->records[updatables->list[i].at]->device,
                                uploads);
}
