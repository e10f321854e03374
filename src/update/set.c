// SPDX-License-Identifier: Apache-2.0
/* Parameters as data, given to one node of an executable by the driver's setter. */
#include "graph/convert.h"
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

/* The driver does not report where the arguments are: they are passed as they are. */
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
    CUDA_KERNEL_NODE_PARAMS params = gphi_kernel_to_cuda(kernel, place->is_kern);
    if (kernel->arg_count == 0)
        return set_packed(track, exec, handle, &params, kernel);
    if (kernel->arg_count > POINTERS_ON_STACK) {
        track->scratch.count = 0;
        pointers = gphi_vec_add(&track->scratch, kernel->arg_count);
        if (!pointers)
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < kernel->arg_count; i++)
        pointers[i] = writable(kernel->buffer + kernel->args[i].offset);
    params.kernelParams = pointers;
    return track->runtime->cu.cuGraphExecKernelNodeSetParams(exec, handle, &params);
}

CUresult gphi_node_set(gphi_track *track, CUgraphExec exec, CUgraphNode handle,
                       const gphi_place *place, const char **call)
{
    const gphi_cuda_table *cu = &track->runtime->cu;
    const gph_node *node = place->node;
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_HOST_NODE_PARAMS host;
    const CUevent event = (CUevent)(uintptr_t)node->u.event.event; /* of these kinds */
    switch (node->kind) {
    case GPH_NODE_KERNEL:
        *call = "cuGraphExecKernelNodeSetParams";
        return set_kernel(track, exec, handle, place);
    case GPH_NODE_MEMCPY:
        *call = "cuGraphExecMemcpyNodeSetParams";
        copy = gphi_memcpy_to_cuda(&node->u.memcpy);
        return cu->cuGraphExecMemcpyNodeSetParams(exec, handle, &copy, track->context);
    case GPH_NODE_MEMSET:
        *call = "cuGraphExecMemsetNodeSetParams";
        fill = gphi_memset_to_cuda(&node->u.memset);
        return cu->cuGraphExecMemsetNodeSetParams(exec, handle, &fill, track->context);
    case GPH_NODE_HOST:
        *call = "cuGraphExecHostNodeSetParams";
        host = gphi_host_to_cuda(&node->u.host);
        return cu->cuGraphExecHostNodeSetParams(exec, handle, &host);
    case GPH_NODE_EVENT_RECORD:
        *call = "cuGraphExecEventRecordNodeSetEvent";
        return cu->cuGraphExecEventRecordNodeSetEvent(exec, handle, event);
    case GPH_NODE_EVENT_WAIT:
        *call = "cuGraphExecEventWaitNodeSetEvent";
        return cu->cuGraphExecEventWaitNodeSetEvent(exec, handle, event);
    default: *call = "no setter"; return CUDA_ERROR_NOT_SUPPORTED;
    }
}
