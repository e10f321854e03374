// SPDX-License-Identifier: Apache-2.0
/* Parameters as data, given to one node of an executable by the driver's setter. */
#include "base/heap.h"
#include "update/track.h"

#include <string.h>

enum { POINTERS_ON_STACK = 32 };

/* The driver's structures want pointers without const; it reads only. */
static void *writable(const void *pointer)
{
    void *out;
    memcpy(&out, &pointer, sizeof(out));
    return out;
}

static void *pointer_to(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* The driver does not tell where the arguments lie: they go as they are. */
static CUresult set_packed(const gphi_track *track, CUgraphExec exec, CUgraphNode handle,
                           CUDA_KERNEL_NODE_PARAMS *params,
                           const gph_kernel_params *kernel)
{
    size_t bytes = kernel->buffer_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, writable(kernel->buffer),
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    if (bytes > 0)
        params->extra = extra;
    return track->runtime->cu.cuGraphExecKernelNodeSetParams(exec, handle, params);
}

static CUresult set_kernel(gphi_track *track, CUgraphExec exec, CUgraphNode handle,
                           const gphi_place *place)
{
    const gph_kernel_params *kernel = &place->node->u.kernel;
    void *on_stack[POINTERS_ON_STACK], **pointers = on_stack;
    CUDA_KERNEL_NODE_PARAMS params = {
        .func = place->is_kern ? NULL : pointer_to(kernel->handle),
        .gridDimX = kernel->grid[0],
        .gridDimY = kernel->grid[1],
        .gridDimZ = kernel->grid[2],
        .blockDimX = kernel->block[0],
        .blockDimY = kernel->block[1],
        .blockDimZ = kernel->block[2],
        .sharedMemBytes = kernel->shared_bytes,
        .kern = place->is_kern ? pointer_to(kernel->handle) : NULL,
        /* A function has its own. */
        .ctx = place->is_kern ? pointer_to(kernel->context) : NULL};
    if (kernel->arg_count == 0)
        return set_packed(track, exec, handle, &params, kernel);
    if (kernel->arg_count > POINTERS_ON_STACK) {
        track->scratch.count = 0;
        pointers = gphi_vec_add(&track->scratch, kernel->arg_count);
        if (pointers == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < kernel->arg_count; i++)
        pointers[i] = writable(kernel->buffer + kernel->args[i].offset);
    params.kernelParams = pointers;
    return track->runtime->cu.cuGraphExecKernelNodeSetParams(exec, handle, &params);
}

#define SIDE(params, side, from)                                                         \
    do {                                                                                 \
        (params).side##MemoryType = (CUmemorytype)(from)->memory;                        \
        (params).side##LOD = (from)->lod;                                                \
        (params).side##XInBytes = (size_t)(from)->x_bytes;                               \
        (params).side##Y = (size_t)(from)->y;                                            \
        (params).side##Z = (size_t)(from)->z;                                            \
        (params).side##Pitch = (size_t)(from)->pitch_bytes;                              \
        (params).side##Height = (size_t)(from)->height;                                  \
        if ((from)->memory == GPH_MEMORY_HOST)                                           \
            (params).side##Host = pointer_to((from)->address);                           \
        else if ((from)->memory == GPH_MEMORY_ARRAY)                                     \
            (params).side##Array = pointer_to((from)->address);                          \
        else                                                                             \
            (params).side##Device = (from)->address;                                     \
    } while (0)

static CUresult set_memcpy(const gphi_track *track, CUgraphExec exec, CUgraphNode handle,
                           const gph_memcpy_params *copy)
{
    CUDA_MEMCPY3D params = {.WidthInBytes = (size_t)copy->width_bytes,
                            .Height = (size_t)copy->height,
                            .Depth = (size_t)copy->depth};
    SIDE(params, dst, &copy->dst);
    SIDE(params, src, &copy->src);
    return track->runtime->cu.cuGraphExecMemcpyNodeSetParams(exec, handle, &params,
                                                             track->context);
}

static CUresult set_memset(const gphi_track *track, CUgraphExec exec, CUgraphNode handle,
                           const gph_memset_params *fill)
{
    const CUDA_MEMSET_NODE_PARAMS params = {.dst = fill->address,
                                            .pitch = (size_t)fill->pitch_bytes,
                                            .value = fill->value,
                                            .elementSize = fill->element_bytes,
                                            .width = (size_t)fill->width,
                                            .height = (size_t)fill->height};
    return track->runtime->cu.cuGraphExecMemsetNodeSetParams(exec, handle, &params,
                                                             track->context);
}

static CUresult set_host(const gphi_track *track, CUgraphExec exec, CUgraphNode handle,
                         const gph_host_params *host)
{
    CUDA_HOST_NODE_PARAMS params = {.userData = pointer_to(host->user)};
    const uintptr_t function = (uintptr_t)host->function;
    memcpy(&params.fn, &function, sizeof(params.fn));
    return track->runtime->cu.cuGraphExecHostNodeSetParams(exec, handle, &params);
}

CUresult gphi_node_set(gphi_track *track, CUgraphExec exec, CUgraphNode handle,
                       const gphi_place *place, const char **call)
{
    const gphi_cuda_table *cu = &track->runtime->cu;
    const gph_node *node = place->node;
    switch (node->kind) {
    case GPH_NODE_KERNEL:
        *call = "cuGraphExecKernelNodeSetParams";
        return set_kernel(track, exec, handle, place);
    case GPH_NODE_MEMCPY:
        *call = "cuGraphExecMemcpyNodeSetParams";
        return set_memcpy(track, exec, handle, &node->u.memcpy);
    case GPH_NODE_MEMSET:
        *call = "cuGraphExecMemsetNodeSetParams";
        return set_memset(track, exec, handle, &node->u.memset);
    case GPH_NODE_HOST:
        *call = "cuGraphExecHostNodeSetParams";
        return set_host(track, exec, handle, &node->u.host);
    case GPH_NODE_EVENT_RECORD:
        *call = "cuGraphExecEventRecordNodeSetEvent";
        return cu->cuGraphExecEventRecordNodeSetEvent(exec, handle,
                                                      pointer_to(node->u.event.event));
    case GPH_NODE_EVENT_WAIT:
        *call = "cuGraphExecEventWaitNodeSetEvent";
        return cu->cuGraphExecEventWaitNodeSetEvent(exec, handle,
                                                    pointer_to(node->u.event.event));
    default: *call = "no setter"; return CUDA_ERROR_NOT_SUPPORTED;
    }
}
