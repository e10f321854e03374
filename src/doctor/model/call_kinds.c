// SPDX-License-Identifier: Apache-2.0
/* Sorts of calls, and what their arguments name. Names of calls are those of the newest
 * version; the record does not keep older ones apart. */
#include "doctor/model/call_kinds.h"

bool gphi_call_is_begin(uint32_t call)
{
    return call == GPHI_CALL_cuStreamBeginCapture ||
           call == GPHI_CALL_cuStreamBeginCaptureToGraph;
}

bool gphi_call_is_instantiation(uint32_t call)
{
    return call == GPHI_CALL_cuGraphInstantiateWithFlags ||
           call == GPHI_CALL_cuGraphInstantiateWithParams;
}

bool gphi_call_is_start(uint32_t call)
{
    return call == GPHI_CALL_cuGraphLaunch || call == GPHI_CALL_cuGraphUpload;
}

bool gphi_call_is_kernel(uint32_t call)
{
    return call == GPHI_CALL_cuLaunchKernel || call == GPHI_CALL_cuLaunchKernelEx ||
           call == GPHI_CALL_cuLaunchCooperativeKernel;
}

bool gphi_call_is_wait(uint32_t call)
{
    switch (call) {
    case GPHI_CALL_cuStreamSynchronize:
    case GPHI_CALL_cuCtxSynchronize:
    case GPHI_CALL_cuEventSynchronize:
    case GPHI_CALL_cuMemcpyDtoH: /* of pageable memory, which is the rule */
    case GPHI_CALL_cuMemcpy:
    case GPHI_CALL_cuMemcpyHtoD: return true;
    default: return false;
    }
}

bool gphi_call_is_pool_alloc(uint32_t call)
{
    return call == GPHI_CALL_cuMemAllocAsync || call == GPHI_CALL_cuMemAllocFromPoolAsync;
}

bool gphi_call_is_free(uint32_t call)
{
    return call == GPHI_CALL_cuMemFree || call == GPHI_CALL_cuMemFreeAsync;
}

bool gphi_is_launch(const gphi_seen *seen)
{
    return seen->call.call == GPHI_CALL_cuGraphLaunch && seen->call.result == 0 &&
           seen->exec && !seen->capture;
}

uint64_t gphi_launched_kernel(const gphi_model *model, const gphi_event *event)
{
    const bool is_ex = event->u.call.call == GPHI_CALL_cuLaunchKernelEx;
    return gphi_model_kernel(model, gphi_event_word(event, is_ex ? 1 : 0));
}

gphi_launch_shape gphi_launch_shape_of(const gphi_event *event)
{
    const CUlaunchConfig *config =
        event->u.call.call == GPHI_CALL_cuLaunchKernelEx
            ? gphi_bytes_of(event, GPHI_PART_STRUCT, 0, sizeof(*config))
            : NULL;
    uint32_t sizes[7];
    if (config)
        return (gphi_launch_shape){
            {config->gridDimX, config->gridDimY, config->gridDimZ},
            {config->blockDimX, config->blockDimY, config->blockDimZ},
            config->sharedMemBytes};
    for (uint32_t i = 0; i < 7; i++)
        sizes[i] = (uint32_t)gphi_event_word(event, 1 + i);
    return (gphi_launch_shape){
        {sizes[0], sizes[1], sizes[2]}, {sizes[3], sizes[4], sizes[5]}, sizes[6]};
}

const CUDA_MEM_ALLOC_NODE_PARAMS *gphi_added_allocation(const gphi_event *event)
{
    const CUgraphNodeParams *any;
    switch (event->u.call.call) {
    case GPHI_CALL_cuGraphAddMemAllocNode:
        return gphi_bytes_of(event, GPHI_PART_STRUCT, 4,
                             sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
    case GPHI_CALL_cuGraphAddNode:
        any = gphi_bytes_of(event, GPHI_PART_STRUCT, 5, sizeof(*any));
        return any && any->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC
                   ? (const CUDA_MEM_ALLOC_NODE_PARAMS *)&any->alloc
                   : NULL;
    default: return NULL;
    }
}

/* A row, or planes of rows: `height` and `depth` are 0 where a copy has but one. */
gphi_range gphi_copy_range(const gph_memcpy_params *copy, const gph_memcpy_side *side)
{
    const uint64_t rows = copy->height > 0 ? copy->height - 1 : 0;
    const uint64_t planes = copy->depth > 0 ? copy->depth - 1 : 0;
    return (gphi_range){.start = side->address + side->x_bytes +
                                 side->pitch_bytes * (side->y + side->height * side->z),
                        .bytes = copy->width_bytes +
                                 side->pitch_bytes * (rows + planes * side->height)};
}

gphi_range gphi_fill_range(const gph_memset_params *fill)
{
    const uint64_t rows = fill->height > 1 ? fill->height - 1 : 0;
    return (gphi_range){.start = fill->address,
                        .bytes =
                            rows * fill->pitch_bytes + fill->width * fill->element_bytes};
}
