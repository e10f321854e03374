// SPDX-License-Identifier: Apache-2.0
/* New parameters for a node of an executable graph: what may change (R69-R69e, and what
 * an H100 does). */
#include <string.h>

#include "softcuda/device/device.h"
#include "softcuda/graph/exec.h"
#include "softcuda/memory/graphmem.h"
#include "softcuda/rules/rules.h"

#define PARAMETERS CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED
#define ATTRIBUTES CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED
#define FUNCTION CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE

/* The code, once the reason is said. */
static CUresult no(soft_change *change, CUgraphExecUpdateResult result)
{
    change->result = result;
    return change->whole ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
                         : CUDA_ERROR_INVALID_VALUE;
}
#define NO(change, update_result, ...)                                                   \
    (soft_refuse((change)->whole ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE                  \
                                 : CUDA_ERROR_INVALID_VALUE,                             \
                 __VA_ARGS__),                                                           \
     no((change), (update_result)))

static CUresult check_kernel(soft_change *change)
{
    const soft_launch *old = &change->old->task.u.launch;
    const soft_launch *new = &change->new->task.u.launch;
    if (soft_rule(R69) && change->old->context != change->new->context)
        return NO(change, FUNCTION,
                  "the new function is of another context than the old one");
    if (soft_rule(R71) && !change->launches &&
        new->function->code->kernel->launches_graphs)
        return NO(change, FUNCTION,
                  "the new function launches graphs; none did when the executable was "
                  "made");
    if (soft_rule(R69a) && old->cooperative != new->cooperative)
        return NO(change, ATTRIBUTES, "the kernel is %s cooperative any more",
                  new->cooperative ? "not non-" : "not");
    const bool by_node = change->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    if (soft_rule(R69a) && by_node && old->priority != new->priority)
        return NO(
            change, ATTRIBUTES,
            "the priority goes from %d to %d, and the graph was instantiated to use "
            "it",
            old->priority, new->priority);
    return CUDA_SUCCESS;
}

static bool is_flat(const soft_copy *copy)
{
    return copy->height <= 1 && copy->depth <= 1;
}

static bool same_copy(const soft_copy *a, const soft_copy *b)
{
    return a->dst == b->dst && a->src == b->src && a->width == b->width &&
           a->height == b->height && a->depth == b->depth && a->dst_type == b->dst_type &&
           a->src_type == b->src_type &&
           (is_flat(a) || (a->dst_pitch == b->dst_pitch && a->src_pitch == b->src_pitch &&
                           a->dst_slice == b->dst_slice && a->src_slice == b->src_slice));
}

static const char *name_of(soft_backing backing)
{
    switch (backing.kind) {
    case SOFT_BACKING_CONTEXT: return "memory of a context";
    case SOFT_BACKING_POOL: return "memory of a pool or a mapped range";
    default: return "memory of a graph";
    }
}

/* Memory that is gone, or of the host, has no context. */
static bool differ(const void *old_context, const void *new_context)
{
    return old_context && new_context && old_context != new_context;
}

/* Of a copy's source: ordinary host memory, which has no context, goes with the copy's,
 * unless it stays host memory. */
static bool differ_read(const soft_exec_record *old, const soft_exec_record *new)
{
    const void *from = old->backing[1].context, *to = new->backing[1].context;
    if (!from && !to)
        return false;
    return (from ? from : old->context) != (to ? to : new->context);
}

/* What memory an operand refers to (U07). The destination may come from another context. */
static CUresult check_backing(soft_change *change, bool is_source)
{
    const soft_backing old = change->old->backing[is_source];
    const soft_backing new = change->new->backing[is_source];
    const char *const what = is_source ? "source" : "destination";
    if (soft_rule(M_U07_backing) && old.kind != new.kind)
        return NO(change, PARAMETERS, "the %s of the copy moves from %s to %s", what,
                  name_of(old), name_of(new));
    if (soft_rule(M_U07_context) && is_source && differ_read(change->old, change->new))
        return NO(change, PARAMETERS, "the source of the copy moves to another context");
    return CUDA_SUCCESS;
}

static CUresult check_copy(soft_change *change)
{
    const soft_copy *old = &change->old->task.u.copy, *new = &change->new->task.u.copy;
    if (soft_rule(R69c) && old->dst_type != new->dst_type)
        return NO(change, PARAMETERS,
                  "the destination of the copy was declared of memory type %d, not %d",
                  (int)old->dst_type, (int)new->dst_type);
    if (soft_rule(R69c) && old->src_type != new->src_type)
        return NO(change, PARAMETERS,
                  "the source of the copy was declared of memory type %d, not %d",
                  (int)old->src_type, (int)new->src_type);
    if (soft_rule(R69d) && !(is_flat(old) && is_flat(new)) && !same_copy(old, new))
        return NO(change, PARAMETERS,
                  "copies of several rows cannot change: %zu x %zu x %zu to %zu x %zu x "
                  "%zu bytes",
                  old->width, old->height, old->depth, new->width, new->height,
                  new->depth);
    SOFT_TRY(check_backing(change, false));
    return check_backing(change, true);
}

/* Memory that is gone when its graph's launch ends. */
static bool is_freed_inside(uint64_t address)
{
    soft_allocation found;
    soft_graph_alloc *alloc;
    soft_device *device = soft_device_holding(address);
    if (!device || !soft_graph_known(device->memory, address, 1, &found) ||
        !soft_graph_alloc_find(device->memory, found.base, &alloc))
        return false;
    const bool freed = soft_graph_alloc_marks(alloc)->freed_inside;
    soft_graph_arena_release(soft_graph_alloc_arena(alloc));
    return freed;
}

static bool same_fill(const soft_fill *a, const soft_fill *b)
{
    return a->dst == b->dst && a->pitch == b->pitch && a->width == b->width &&
           a->height == b->height && a->value == b->value && a->element == b->element;
}

static CUresult check_fill(soft_change *change)
{
    const soft_fill *old = &change->old->task.u.fill, *new = &change->new->task.u.fill;
    if (soft_rule(M_capture_fill) && !same_fill(old, new) &&
        soft_fill_check(new) != CUDA_SUCCESS)
        return no(change, CU_GRAPH_EXEC_UPDATE_ERROR);
    if (soft_rule(M_U06_fill_shape) && old->height != new->height)
        return NO(change, PARAMETERS, "the fill has %zu rows, not %zu", old->height,
                  new->height);
    if (soft_rule(M_U06_fill_shape) && old->height > 1 &&
        (old->width != new->width || old->pitch != new->pitch ||
         old->element != new->element))
        return NO(change, PARAMETERS,
                  "a fill of several rows keeps its width, pitch and element: %zu, %zu, "
                  "%u, not %zu, %zu, %u",
                  old->width, old->pitch, old->element, new->width, new->pitch,
                  new->element);
    if (soft_rule(M_fill_freed) && new->dst != old->dst && is_freed_inside(old->dst) &&
        is_freed_inside(new->dst))
        return NO(
            change, CU_GRAPH_EXEC_UPDATE_ERROR,
            "the fill goes from 0x%llx to 0x%llx, both of which graphs allocate and "
            "free themselves",
            (unsigned long long)old->dst, (unsigned long long)new->dst);
    if (soft_rule(M_U07_context) &&
        differ(change->old->backing[0].context, change->new->backing[0].context))
        return NO(change, PARAMETERS,
                  "the memory that is filled is of another context than before");
    return CUDA_SUCCESS;
}

static CUresult check_batch(soft_change *change)
{
    const soft_batch *old = &change->old->task.u.batch, *new = &change->new->task.u.batch;
    if (soft_rule(R69e) && old->count != new->count)
        return NO(change, PARAMETERS, "the batch has %u operations, not %u", old->count,
                  new->count);
    for (uint32_t i = 0; soft_rule(R69e) && i < old->count; i++)
        if (old->ops[i].operation != new->ops[i].operation)
            return NO(change, PARAMETERS, "operation %u of the batch is %d, not %d", i,
                      (int)old->ops[i].operation, (int)new->ops[i].operation);
    if (soft_rule(R69e) && change->old->context != change->new->context)
        return NO(change, PARAMETERS, "the batch is of another context than before");
    return CUDA_SUCCESS;
}

CUresult soft_change_check(soft_change *change)
{
    switch (change->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return check_kernel(change);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return check_copy(change);
    case CU_GRAPH_NODE_TYPE_MEMSET: return check_fill(change);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return check_batch(change);
    default: return CUDA_SUCCESS;
    }
}

/* ---- what differs ------------------------------------------------------------------ */

static bool same_launch(const soft_launch *a, const soft_launch *b)
{
    return a->function == b->function && memcmp(a->grid, b->grid, sizeof(a->grid)) == 0 &&
           memcmp(a->block, b->block, sizeof(a->block)) == 0 &&
           memcmp(a->cluster, b->cluster, sizeof(a->cluster)) == 0 &&
           a->shared_bytes == b->shared_bytes && a->cooperative == b->cooperative &&
           a->priority == b->priority &&
           (a->param_bytes == 0 || memcmp(a->params, b->params, a->param_bytes) == 0);
}

static bool same_backing(soft_backing a, soft_backing b)
{
    return a.kind == b.kind && a.context == b.context;
}

bool soft_change_is_none(soft_exec_record *old, const soft_node *node)
{
    if (old->context != node->context)
        return false;
    soft_backing now[2];
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return same_launch(&old->task.u.launch, &node->task.u.launch);
    case CU_GRAPH_NODE_TYPE_HOST:
        return old->task.u.host.function == node->task.u.host.function &&
               old->task.u.host.user == node->task.u.host.user;
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_MEMCPY: {
        const bool copies = node->type == CU_GRAPH_NODE_TYPE_MEMCPY;
        if (copies ? !same_copy(&old->task.u.copy, &node->task.u.copy)
                   : !same_fill(&old->task.u.fill, &node->task.u.fill))
            return false;
        /* Other memory may be at the same address by now. */
        if (soft_backing_stays(&node->task, old->backing))
            return true;
        soft_backing_of(node->context, &node->task, now);
        if (!same_backing(old->backing[0], now[0]) ||
            !same_backing(old->backing[1], now[1]))
            return false;
        old->backing[0].changes = now[0].changes;
        old->backing[1].changes = now[1].changes;
        return true;
    }
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return old->task.u.conditional.initial == node->task.u.conditional.initial &&
               old->task.u.conditional.assigns == node->task.u.conditional.assigns;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return old->event == node->event;
    default: return false;
    }
}
