// SPDX-License-Identifier: Apache-2.0
/* What conditional nodes decide, for gph doctor's report (device/noted.h). */
#include "softcuda/device/noted.h"

#include "softcuda/device/alloc.h"
#include "softcuda/graph/exec.h"
#include "softcuda/graph/graph.h"

static bool decides(const soft_node *node)
{
    return node && node->type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

CUresult soft_decisions_create(soft_exec *exec, const soft_flat *flat)
{
    uint32_t count = 0;
    if (!(flat->has & SOFT_HAS(CONDITIONAL)))
        return CUDA_SUCCESS;
    for (uint32_t i = 0; i < flat->shape.node_count; i++)
        count += decides(flat->nodes[i]);
    if (count == 0 || !soft_noted_wanted())
        return CUDA_SUCCESS;
    soft_decision *list = soft_new(count * sizeof(*list));
    SOFT_TRY(soft_made(list, "no memory to note what is decided by %u conditional nodes",
                       count));
    for (uint32_t i = 0; i < flat->shape.node_count; i++) {
        if (!decides(flat->nodes[i]))
            continue;
        const soft_conditional *node = &flat->nodes[i]->task.u.conditional;
        list[exec->decision_count++] =
            (soft_decision){.exec = (uint64_t)(uintptr_t)exec,
                            .node = (uint64_t)(uintptr_t)flat->nodes[i],
                            .type = node->type,
                            .size = node->size,
                            .flat = i};
    }
    exec->decisions = list;
    return CUDA_SUCCESS;
}

soft_decision *soft_exec_decision(const soft_exec *exec, uint32_t flat)
{
    for (uint32_t i = 0; i < exec->decision_count; i++)
        if (exec->decisions[i].flat == flat)
            return &exec->decisions[i];
    return NULL;
}

void soft_decisions_end(const soft_exec *exec)
{
    for (uint32_t i = 0; i < exec->decision_count; i++)
        soft_noted_end(&exec->decisions[i]);
}
