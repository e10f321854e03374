// SPDX-License-Identifier: Apache-2.0
/* Structs of the driver and parameters of nodes, member by member. */
#include "graph/convert.h"

#include <string.h>

static uint64_t of_pointer(const void *pointer)
{
    return (uintptr_t)pointer;
}

static void *to_pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

void gphi_kernel_from_cuda(const CUDA_KERNEL_NODE_PARAMS *from, gph_kernel_params *to)
{
    to->handle = from->func ? of_pointer(from->func) : of_pointer(from->kern);
    to->grid[0] = from->gridDimX;
    to->grid[1] = from->gridDimY;
    to->grid[2] = from->gridDimZ;
    to->block[0] = from->blockDimX;
    to->block[1] = from->blockDimY;
    to->block[2] = from->blockDimZ;
    to->shared_bytes = from->sharedMemBytes;
    to->context = of_pointer(from->ctx);
}

CUDA_KERNEL_NODE_PARAMS gphi_kernel_to_cuda(const gph_kernel_params *from, bool is_kern)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = is_kern ? NULL : to_pointer(from->handle),
                                     .gridDimX = from->grid[0],
                                     .gridDimY = from->grid[1],
                                     .gridDimZ = from->grid[2],
                                     .blockDimX = from->block[0],
                                     .blockDimY = from->block[1],
                                     .blockDimZ = from->block[2],
                                     .sharedMemBytes = from->shared_bytes,
                                     .kern = is_kern ? to_pointer(from->handle) : NULL,
                                     /* A function has its own. */
                                     .ctx = is_kern ? to_pointer(from->context) : NULL};
}

/* The driver has one pointer a sort of memory, of which the type says which counts. */
static uint64_t side_address(CUmemorytype type, const void *host, CUdeviceptr device,
                             CUarray array)
{
    switch (type) {
    case CU_MEMORYTYPE_HOST: return of_pointer(host);
    case CU_MEMORYTYPE_ARRAY: return of_pointer(array);
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED: break;
    }
    return device;
}

gph_memcpy_params gphi_memcpy_from_cuda(const CUDA_MEMCPY3D *from)
{
    return (gph_memcpy_params){
        .dst = {.memory = (uint32_t)from->dstMemoryType,
                .lod = (uint32_t)from->dstLOD,
                .address = side_address(from->dstMemoryType, from->dstHost,
                                        from->dstDevice, from->dstArray),
                .x_bytes = from->dstXInBytes,
                .y = from->dstY,
                .z = from->dstZ,
                .pitch_bytes = from->dstPitch,
                .height = from->dstHeight},
        .src = {.memory = (uint32_t)from->srcMemoryType,
                .lod = (uint32_t)from->srcLOD,
                .address = side_address(from->srcMemoryType, from->srcHost,
                                        from->srcDevice, from->srcArray),
                .x_bytes = from->srcXInBytes,
                .y = from->srcY,
                .z = from->srcZ,
                .pitch_bytes = from->srcPitch,
                .height = from->srcHeight},
        .width_bytes = from->WidthInBytes,
        .height = from->Height,
        .depth = from->Depth};
}

CUDA_MEMCPY3D gphi_memcpy_to_cuda(const gph_memcpy_params *from)
{
    CUDA_MEMCPY3D to = {.dstMemoryType = (CUmemorytype)from->dst.memory,
                        .dstLOD = from->dst.lod,
                        .dstXInBytes = (size_t)from->dst.x_bytes,
                        .dstY = (size_t)from->dst.y,
                        .dstZ = (size_t)from->dst.z,
                        .dstPitch = (size_t)from->dst.pitch_bytes,
                        .dstHeight = (size_t)from->dst.height,
                        .srcMemoryType = (CUmemorytype)from->src.memory,
                        .srcLOD = from->src.lod,
                        .srcXInBytes = (size_t)from->src.x_bytes,
                        .srcY = (size_t)from->src.y,
                        .srcZ = (size_t)from->src.z,
                        .srcPitch = (size_t)from->src.pitch_bytes,
                        .srcHeight = (size_t)from->src.height,
                        .WidthInBytes = (size_t)from->width_bytes,
                        .Height = (size_t)from->height,
                        .Depth = (size_t)from->depth};
    switch (from->dst.memory) {
    case GPH_MEMORY_HOST: to.dstHost = to_pointer(from->dst.address); break;
    case GPH_MEMORY_ARRAY: to.dstArray = to_pointer(from->dst.address); break;
    default: to.dstDevice = from->dst.address; break;
    }
    switch (from->src.memory) {
    case GPH_MEMORY_HOST: to.srcHost = to_pointer(from->src.address); break;
    case GPH_MEMORY_ARRAY: to.srcArray = to_pointer(from->src.address); break;
    default: to.srcDevice = from->src.address; break;
    }
    return to;
}

gph_memset_params gphi_memset_from_cuda(const CUDA_MEMSET_NODE_PARAMS *from)
{
    return (gph_memset_params){.address = from->dst,
                               .pitch_bytes = from->pitch,
                               .width = from->width,
                               .height = from->height,
                               .value = from->value,
                               .element_bytes = from->elementSize};
}

CUDA_MEMSET_NODE_PARAMS gphi_memset_to_cuda(const gph_memset_params *from)
{
    return (CUDA_MEMSET_NODE_PARAMS){.dst = from->address,
                                     .pitch = (size_t)from->pitch_bytes,
                                     .value = from->value,
                                     .elementSize = from->element_bytes,
                                     .width = (size_t)from->width,
                                     .height = (size_t)from->height};
}

gph_host_params gphi_host_from_cuda(const CUDA_HOST_NODE_PARAMS *from)
{
    return (gph_host_params){.function = (uintptr_t)from->fn,
                             .user = of_pointer(from->userData)};
}

CUDA_HOST_NODE_PARAMS gphi_host_to_cuda(const gph_host_params *from)
{
    CUDA_HOST_NODE_PARAMS to = {.userData = to_pointer(from->user)};
    const uintptr_t function = (uintptr_t)from->function;
    memcpy(&to.fn, &function, sizeof(to.fn));
    return to;
}

/* Barriers and flushes have neither an address nor a value. */
gph_mem_op gphi_mem_op_from_cuda(const CUstreamBatchMemOpParams *from)
{
    gph_mem_op to = {.operation = (uint32_t)from->operation};
    switch (from->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        to.flags = from->waitValue.flags;
        to.address = from->waitValue.address;
        to.value = from->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32
                       ? from->waitValue.value
                       : from->waitValue.value64;
        break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        to.flags = from->writeValue.flags;
        to.address = from->writeValue.address;
        to.value = from->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32
                       ? from->writeValue.value
                       : from->writeValue.value64;
        break;
    default: break;
    }
    return to;
}
