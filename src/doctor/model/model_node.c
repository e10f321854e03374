// SPDX-License-Identifier: Apache-2.0
/* Nodes from records. */
#include "doctor/model/model_node.h"
#include "doctor/model/model_state.h"
#include "graph/convert.h"

#include <string.h>

void gphi_node_memcpy(const void *params, gph_memcpy_params *out)
{
    CUDA_MEMCPY3D copy;
    memcpy(&copy, params, sizeof(copy));
    *out = gphi_memcpy_from_cuda(&copy);
}

void gphi_node_memset(const void *params, gph_memset_params *out)
{
    CUDA_MEMSET_NODE_PARAMS fill;
    memcpy(&fill, params, sizeof(fill));
    *out = gphi_memset_from_cuda(&fill);
}

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
    if (params != NULL && params->bytes > 0) {
        out->buffer = (const unsigned char *)(params + 1);
        out->buffer_bytes = params->bytes;
    }
    if (function == NULL)
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
    if (out->kind == GPH_NODE_MEM_FREE) {
        const CUdeviceptr *address = struct_of(event, sizeof(*address));
        if (address != NULL)
            out->u.memory.address = *address;
        return address != NULL;
    }
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    const void *from = struct_of(event, sizeof(params));
    if (from == NULL)
        return false;
    memcpy(&params, from, sizeof(params));
    out->u.memory = (gph_memory_params){.address = params.dptr, .bytes = params.bytesize};
    return true;
}

static bool read_fill(const gphi_event *event, gph_memset_params *out)
{
    const void *from = struct_of(event, sizeof(CUDA_MEMSET_NODE_PARAMS));
    if (from == NULL)
        return false;
    gphi_node_memset(from, out);
    return out->element_bytes == 1 || out->element_bytes == 2 || out->element_bytes == 4;
}

static bool read_other(const gphi_event *event, gph_node *out)
{
    const uint64_t *word = struct_of(event, sizeof(*word));
    if (out->kind == GPH_NODE_HOST) {
        const CUDA_HOST_NODE_PARAMS *host = struct_of(event, sizeof(*host));
        if (host == NULL)
            return false;
        out->u.host = gphi_host_from_cuda(host);
    } else if (out->kind == GPH_NODE_EVENT_RECORD || out->kind == GPH_NODE_EVENT_WAIT) {
        if (word == NULL)
            return false;
        out->u.event.event = *word;
    }
    return true; /* batches, semaphores, conditions: a node of its kind, no more */
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
    case GPH_NODE_MEMCPY: {
        const void *from = struct_of(event, sizeof(CUDA_MEMCPY3D));
        if (from != NULL)
            gphi_node_memcpy(from, &out->u.memcpy);
        return from != NULL;
    }
    case GPH_NODE_MEMSET: return read_fill(event, &out->u.memset);
    case GPH_NODE_MEM_ALLOC:
    case GPH_NODE_MEM_FREE: return read_memory(event, out);
    default: return read_other(event, out);
    }
}
