// SPDX-License-Identifier: Apache-2.0
/* Nodes from records. */
#include "doctor/model/model_node.h"
#include "doctor/model/model_state.h"
#include "graph/convert.h"

#include <string.h>

static uint32_t word32(const gphi_event *event, uint32_t index)
{
    return (uint32_t)gphi_event_word(event, index);
}

static bool read_kernel(const gphi_model *model, const gphi_event *event,
                        gph_kernel_params *out)
{
    const gphi_function *function =
        gphi_model_function(model, gphi_event_word(event, GPHI_NODE_FUNCTION));
    const gphi_part *params = gphi_event_part(event, GPHI_PART_PARAMS, 0);
    out->handle = gphi_model_kernel(model, gphi_event_word(event, GPHI_NODE_FUNCTION));
    for (uint32_t i = 0; i < 3; i++) {
        out->grid[i] = word32(event, GPHI_NODE_FUNCTION + 1 + i);
        out->block[i] = word32(event, GPHI_NODE_FUNCTION + 4 + i);
    }
    out->shared_bytes = word32(event, GPHI_NODE_FUNCTION + 7);
    out->context = gphi_event_word(event, GPHI_NODE_FUNCTION + 8);
    out->cooperative = word32(event, GPHI_NODE_FUNCTION + 9);
    out->priority = (int32_t)word32(event, GPHI_NODE_FUNCTION + 10);
    if (params && params->bytes > 0) {
        out->buffer = (const unsigned char *)(params + 1);
        out->buffer_bytes = params->bytes;
    }
    if (!function)
        return true;
    out->function = function->name;
    for (uint32_t i = 0; i < function->arg_count; i++) {
        const gph_kernel_arg *arg = &function->args[i];
        if (arg->offset > out->buffer_bytes ||
            arg->bytes > out->buffer_bytes - arg->offset)
            return true; /* not of this launch */
    }
    out->args = function->args;
    out->arg_count = function->arg_count;
    return true;
}

/* The driver's struct of a node, at least as long as it must be; NULL: cut off. */
static const void *struct_of(const gphi_event *event, size_t bytes)
{
    return gphi_bytes_of(event, GPHI_PART_STRUCT, 0, bytes);
}

static bool read_memory(const gphi_event *event, gph_node *out)
{
    const CUdeviceptr *freed = struct_of(event, sizeof(*freed));
    const CUDA_MEM_ALLOC_NODE_PARAMS *made = struct_of(event, sizeof(*made));
    if (out->kind == GPH_NODE_MEM_FREE && freed)
        out->u.memory.address = *freed;
    else if (out->kind == GPH_NODE_MEM_ALLOC && made)
        out->u.memory =
            (gph_memory_params){.address = made->dptr, .bytes = made->bytesize};
    else
        return false;
    return true;
}

static bool read_fill(const gphi_event *event, gph_memset_params *out)
{
    const CUDA_MEMSET_NODE_PARAMS *from = struct_of(event, sizeof(*from));
    if (!from)
        return false;
    *out = gphi_memset_from_cuda(from);
    return out->element_bytes == 1 || out->element_bytes == 2 || out->element_bytes == 4;
}

static bool read_copy(const gphi_event *event, gph_memcpy_params *out)
{
    const CUDA_MEMCPY3D *from = struct_of(event, sizeof(*from));
    if (from)
        *out = gphi_memcpy_from_cuda(from);
    return from;
}

static bool read_host(const gphi_event *event, gph_host_params *out)
{
    const CUDA_HOST_NODE_PARAMS *from = struct_of(event, sizeof(*from));
    if (from)
        *out = gphi_host_from_cuda(from);
    return from;
}

static bool read_event(const gphi_event *event, gph_event_params *out)
{
    const uint64_t *from = struct_of(event, sizeof(*from));
    if (from)
        out->event = *from;
    return from;
}

/* A log of an older library has no operations: then it is a node of its kind, no more. */
static bool read_batch(const gphi_model *model, const gphi_part *part, uint32_t count,
                       uint64_t context, gph_batch_params *out)
{
    const CUstreamBatchMemOpParams *from = part ? gphi_part_bytes(part) : NULL;
    gphi_vec *operations = &model->own->operations;
    operations->count = 0;
    out->context = context;
    if (!from || part->bytes / sizeof(*from) < count)
        return true;
    gph_mem_op *to = count > 0 ? gphi_vec_add(operations, count) : NULL;
    if (count > 0 && !to)
        return false;
    for (uint32_t i = 0; i < count; i++)
        to[i] = gphi_mem_op_from_cuda(&from[i]);
    out->ops = to;
    out->count = count;
    return true;
}

static bool read_batch_node(const gphi_model *model, const gphi_event *event,
                            gph_batch_params *out)
{
    const CUDA_BATCH_MEM_OP_NODE_PARAMS *from = struct_of(event, sizeof(*from));
    return !from || read_batch(model, gphi_event_part(event, GPHI_PART_ARRAY, 0),
                               from->count, (uint64_t)(uintptr_t)from->ctx, out);
}

bool gphi_node_read(const gphi_model *model, const gphi_event *event, gph_node *out)
{
    const uint64_t kind = gphi_event_word(event, GPHI_NODE_TYPE);
    memset(out, 0, sizeof(*out));
    if (kind > GPH_NODE_CONDITIONAL)
        return false;
    out->kind = (gph_node_kind)kind;
    switch (out->kind) {
    case GPH_NODE_KERNEL: return read_kernel(model, event, &out->u.kernel);
    case GPH_NODE_MEMCPY: return read_copy(event, &out->u.memcpy);
    case GPH_NODE_MEMSET: return read_fill(event, &out->u.memset);
    case GPH_NODE_MEM_ALLOC:
    case GPH_NODE_MEM_FREE: return read_memory(event, out);
    case GPH_NODE_HOST: return read_host(event, &out->u.host);
    case GPH_NODE_EVENT_RECORD:
    case GPH_NODE_EVENT_WAIT: return read_event(event, &out->u.event);
    case GPH_NODE_BATCH_MEM_OP: return read_batch_node(model, event, &out->u.batch);
    default: return true; /* semaphores, conditions: a node of its kind, no more */
    }
}

/* The struct of one kind of node, and of nodes of any kind, whose members are alike. */
static bool read_struct(gph_node_kind kind, const void *params, size_t bytes,
                        gph_node *out)
{
    *out = (gph_node){.kind = kind};
    switch (kind) {
    case GPH_NODE_KERNEL:
        if (bytes >= sizeof(CUDA_KERNEL_NODE_PARAMS))
            gphi_kernel_from_cuda(params, &out->u.kernel);
        return bytes >= sizeof(CUDA_KERNEL_NODE_PARAMS);
    case GPH_NODE_MEMCPY:
        if (bytes >= sizeof(CUDA_MEMCPY3D))
            out->u.memcpy = gphi_memcpy_from_cuda(params);
        return bytes >= sizeof(CUDA_MEMCPY3D);
    case GPH_NODE_MEMSET:
        if (bytes >= sizeof(CUDA_MEMSET_NODE_PARAMS))
            out->u.memset = gphi_memset_from_cuda(params);
        return bytes >= sizeof(CUDA_MEMSET_NODE_PARAMS);
    case GPH_NODE_HOST:
        if (bytes >= sizeof(CUDA_HOST_NODE_PARAMS))
            out->u.host = gphi_host_from_cuda(params);
        return bytes >= sizeof(CUDA_HOST_NODE_PARAMS);
    default: return false;
    }
}

static bool read_any(const CUgraphNodeParams *any, gph_node *out)
{
    switch (any->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return read_struct(GPH_NODE_KERNEL, &any->kernel, sizeof(any->kernel), out);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return read_struct(GPH_NODE_MEMCPY, &any->memcpy.copyParams,
                           sizeof(any->memcpy.copyParams), out);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return read_struct(GPH_NODE_MEMSET, &any->memset, sizeof(any->memset), out);
    default: return false;
    }
}

/* The setter's struct for a batch, and the operations that it points at. */
static bool wanted_batch(const gphi_model *model, const gphi_event *event,
                         const CUDA_BATCH_MEM_OP_NODE_PARAMS *batch, gph_node *out)
{
    *out = (gph_node){.kind = GPH_NODE_BATCH_MEM_OP};
    const gphi_part *part = gphi_event_arg(event, GPHI_PART_ARRAY, 2);
    return part && read_batch(model, part, batch->count, (uint64_t)(uintptr_t)batch->ctx,
                              &out->u.batch);
}

static bool wanted_any(const gphi_model *model, const gphi_event *event,
                       const CUgraphNodeParams *any, gph_node *out)
{
    if (any->type != CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        return read_any(any, out);
    const CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {.ctx = any->memOp.ctx,
                                                 .count = any->memOp.count};
    return wanted_batch(model, event, &batch, out);
}

bool gphi_node_wanted(const gphi_model *model, const gphi_event *event, gph_node *out)
{
    const void *params = gphi_bytes_of(event, GPHI_PART_STRUCT, 2, 1);
    const size_t bytes = params ? ((const gphi_part *)params - 1)->bytes : 0;
    switch (event->u.call.call) {
    case GPHI_CALL_cuGraphExecKernelNodeSetParams:
        return read_struct(GPH_NODE_KERNEL, params, bytes, out);
    case GPHI_CALL_cuGraphExecMemcpyNodeSetParams:
        return read_struct(GPH_NODE_MEMCPY, params, bytes, out);
    case GPHI_CALL_cuGraphExecMemsetNodeSetParams:
        return read_struct(GPH_NODE_MEMSET, params, bytes, out);
    case GPHI_CALL_cuGraphExecHostNodeSetParams:
        return read_struct(GPH_NODE_HOST, params, bytes, out);
    case GPHI_CALL_cuGraphExecBatchMemOpNodeSetParams:
        return bytes >= sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS) &&
               wanted_batch(model, event, params, out);
    case GPHI_CALL_cuGraphExecNodeSetParams:
        return bytes >= sizeof(CUgraphNodeParams) &&
               wanted_any(model, event, params, out);
    default: return false;
    }
}
