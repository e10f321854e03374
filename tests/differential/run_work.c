// SPDX-License-Identifier: Apache-2.0
/* The runner's work: the parameters of each kind for nodes, and the same on streams. */
#include <string.h>

#include "run.h"

static uint32_t get_word(const unsigned char *from, int i)
{
    uint32_t out;
    memcpy(&out, from + 4 * i, 4);
    return out;
}

static void CUDA_CB host_work(void *user)
{
    const struct host_job *job = user;
    for (int i = 0; i < CELL_BYTES / 4; i++) {
        const uint32_t word =
            get_word(job->cell, i) * 3u + (uint32_t)job->p[2] + (uint32_t)(i * job->p[0]);
        memcpy(job->cell + 4 * i, &word, 4);
    }
}

static void build_kernel(const struct work *work, struct built *out)
{
    const int32_t *p = work->p;
    int count = 0;
    for (int i = 0; i < 3; i++)
        out->addresses[i] = run_address(p[1 + i]);
    out->value = (unsigned)p[4];
    out->arguments[count++] = &out->addresses[0];
    if (p[0] == KERNEL_MIX || p[0] == KERNEL_ADD || p[0] == KERNEL_FLOAT)
        out->arguments[count++] = &out->addresses[1];
    if (p[0] == KERNEL_ADD || p[0] == KERNEL_FLOAT)
        out->arguments[count++] = &out->addresses[2];
    else
        out->arguments[count++] = &out->value;
    out->u.kernel =
        (CUDA_KERNEL_NODE_PARAMS){.func = run.kernels[p[0]],
                                  .gridDimX = 1,
                                  .gridDimY = 1,
                                  .gridDimZ = 1,
                                  .blockDimX = p[0] == KERNEL_ATOMIC ? 64 : 16,
                                  .blockDimY = 1,
                                  .blockDimZ = 1,
                                  .kernelParams = out->arguments};
    if (work->bad == BAD_SHAPE)
        out->u.kernel.blockDimX = 2000;
}

static bool is_host(int32_t address)
{
    return BUFFER_OF(address) >= BUFFER_PINNED && BUFFER_OF(address) < BUFFER_FIXED;
}

static void build_memcpy(const struct work *work, CUDA_MEMCPY3D *out)
{
    const int32_t *p = work->p;
    const bool nobody = work->bad == BAD_NOBODY; /* of device type, for it is checked */
    const bool unified = (p[5] & 1) && !nobody;
    const CUdeviceptr dst =
        run_address(work->bad == BAD_NOBODY ? ADDRESS(BUFFER_BAD, 0) : p[0]);
    const CUdeviceptr src = run_address(p[1]);
    *out = (CUDA_MEMCPY3D){.WidthInBytes = (size_t)p[2],
                           .Height = (size_t)p[3],
                           .Depth = 1,
                           .srcPitch = p[3] > 1 ? ROW_PITCH : 0,
                           .dstPitch = p[3] > 1 ? ROW_PITCH : 0};
    out->srcMemoryType = unified         ? CU_MEMORYTYPE_UNIFIED
                         : is_host(p[1]) ? CU_MEMORYTYPE_HOST
                                         : CU_MEMORYTYPE_DEVICE;
    out->dstMemoryType = unified                    ? CU_MEMORYTYPE_UNIFIED
                         : is_host(p[0]) && !nobody ? CU_MEMORYTYPE_HOST
                                                    : CU_MEMORYTYPE_DEVICE;
    if (out->srcMemoryType == CU_MEMORYTYPE_HOST)
        out->srcHost = (const void *)src;
    else
        out->srcDevice = src;
    if (out->dstMemoryType == CU_MEMORYTYPE_HOST)
        out->dstHost = (void *)dst;
    else
        out->dstDevice = dst;
    if (work->bad == BAD_SHAPE)
        out->srcMemoryType = (CUmemorytype)99;
}

static void build_memset(const struct work *work, CUDA_MEMSET_NODE_PARAMS *out)
{
    const int32_t *p = work->p;
    *out = (CUDA_MEMSET_NODE_PARAMS){
        .dst = run_address(work->bad == BAD_NOBODY ? ADDRESS(BUFFER_BAD, 0) : p[0]),
        .pitch = p[4] > 1 ? ROW_PITCH : 0,
        .value = (unsigned)p[1],
        .elementSize = work->bad == BAD_SHAPE ? 3 : (unsigned)p[2],
        .width = (size_t)p[3],
        .height = (size_t)p[4]};
}

static void build_host(const struct work *work, CUDA_HOST_NODE_PARAMS *out)
{
    struct host_job *job =
        &run.jobs[run.job_count < JOBS - 1 ? run.job_count++ : JOBS - 1];
    job->cell = (unsigned char *)run_address(work->p[1]);
    memcpy(job->p, work->p, sizeof(job->p));
    *out = (CUDA_HOST_NODE_PARAMS){work->bad == BAD_SHAPE ? NULL : host_work, job};
}

/* write32 value; wait32 until it is there; write64 value + 1; barrier. */
static void build_batch(const struct work *work, struct built *out)
{
    const int32_t *p = work->p;
    const CUdeviceptr at = run_address(p[0]);
    memset(out->operations, 0, sizeof(out->operations));
    out->operations[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    out->operations[0].writeValue.address = at;
    out->operations[0].writeValue.value = (cuuint32_t)p[1];
    out->operations[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    out->operations[1].waitValue.address = at;
    out->operations[1].waitValue.value = (cuuint32_t)p[1];
    out->operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    out->operations[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    out->operations[2].writeValue.address = at;
    out->operations[2].writeValue.value64 = (cuuint64_t)(uint32_t)p[1] + 1;
    out->operations[3].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
    out->u.batch = (CUDA_BATCH_MEM_OP_NODE_PARAMS){
        .ctx = run.context,
        .count = work->bad == BAD_SHAPE ? 0 : (unsigned)p[2],
        .paramArray = out->operations};
}

static void build_alloc(const struct work *work, CUDA_MEM_ALLOC_NODE_PARAMS *out)
{
    *out = (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .handleTypes = work->bad == BAD_NOBODY
                                         ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                         : CU_MEM_HANDLE_TYPE_NONE,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = work->bad == BAD_SHAPE ? SIZE_MAX : (size_t)work->p[1] << 10};
}

static CUdeviceptr freed_address(const struct work *work)
{
    return work->bad == BAD_NOBODY ? 0x1000 : run_address(work->p[0]);
}

void run_build(const struct work *work, struct built *out)
{
    memset(out, 0, sizeof(*out));
    switch (work->kind) {
    case WORK_KERNEL: build_kernel(work, out); return;
    case WORK_MEMCPY: build_memcpy(work, &out->u.memcpy); return;
    case WORK_MEMSET: build_memset(work, &out->u.memset); return;
    case WORK_HOST: build_host(work, &out->u.host); return;
    case WORK_BATCH: build_batch(work, out); return;
    case WORK_ALLOC: build_alloc(work, &out->u.alloc); return;
    case WORK_FREE: out->u.free = freed_address(work); return;
    default: return;
    }
}

static void generic_kernel(const struct built *built, CUgraphNodeParams *out)
{
    const CUDA_KERNEL_NODE_PARAMS *from = &built->u.kernel;
    out->kernel.func = from->func;
    out->kernel.gridDimX = out->kernel.gridDimY = out->kernel.gridDimZ = 1;
    out->kernel.blockDimX = from->blockDimX;
    out->kernel.blockDimY = out->kernel.blockDimZ = 1;
    out->kernel.kernelParams = from->kernelParams;
}

/* For cuGraphAddNode and its kind. A NULL-parameter call has a reserved word set. */
void run_generic(const struct work *work, struct built *built, CUgraphNodeParams *out)
{
    memset(out, 0, sizeof(*out));
    out->type = (CUgraphNodeType)work->kind;
    const int32_t event = work->p[0];
    switch (work->kind) {
    case WORK_KERNEL: generic_kernel(built, out); break;
    case WORK_MEMCPY:
        out->memcpy.copyCtx = run.context;
        out->memcpy.copyParams = built->u.memcpy;
        break;
    case WORK_MEMSET:
        out->memset.dst = built->u.memset.dst;
        out->memset.pitch = built->u.memset.pitch;
        out->memset.value = built->u.memset.value;
        out->memset.elementSize = built->u.memset.elementSize;
        out->memset.width = built->u.memset.width;
        out->memset.height = built->u.memset.height;
        out->memset.ctx = run.context;
        break;
    case WORK_HOST:
        out->host.fn = built->u.host.fn;
        out->host.userData = built->u.host.userData;
        break;
    case WORK_CHILD:
        out->graph.graph = work->p[0] >= 0 ? run.graphs[work->p[0]] : NULL;
        out->graph.ownership = (CUgraphChildGraphNodeOwnership)work->p[1];
        break;
    case WORK_WAIT: out->eventWait.event = run.events[event]; break;
    case WORK_RECORD: out->eventRecord.event = run.events[event]; break;
    case WORK_BATCH:
        out->memOp.ctx = run.context;
        out->memOp.count = built->u.batch.count;
        out->memOp.paramArray = built->u.batch.paramArray;
        break;
    case WORK_ALLOC:
        out->alloc.poolProps = built->u.alloc.poolProps;
        out->alloc.bytesize = built->u.alloc.bytesize;
        break;
    case WORK_FREE: out->free.dptr = built->u.free; break;
    default: break;
    }
    if (work->bad == BAD_NULL)
        out->reserved0[1] = 1;
}

/* ---- on a stream ---- */

static CUresult stream_memset(const struct work *work, CUstream stream)
{
    CUDA_MEMSET_NODE_PARAMS m;
    build_memset(work, &m);
    const unsigned value = m.value;
    if (m.height > 1)
        switch (m.elementSize) {
        case 1:
            return cu.cuMemsetD2D8Async(m.dst, m.pitch, (unsigned char)value, m.width,
                                        m.height, stream);
        case 2:
            return cu.cuMemsetD2D16Async(m.dst, m.pitch, (unsigned short)value, m.width,
                                         m.height, stream);
        default:
            return cu.cuMemsetD2D32Async(m.dst, m.pitch, value, m.width, m.height,
                                         stream);
        }
    switch (m.elementSize) {
    case 1: return cu.cuMemsetD8Async(m.dst, (unsigned char)value, m.width, stream);
    case 2: return cu.cuMemsetD16Async(m.dst, (unsigned short)value, m.width, stream);
    default: return cu.cuMemsetD32Async(m.dst, value, m.width, stream);
    }
}

static CUresult stream_memcpy(const struct work *work, CUstream stream)
{
    CUDA_MEMCPY3D m;
    build_memcpy(work, &m);
    if (m.Height == 1 && work->bad != BAD_SHAPE)
        return cu.cuMemcpyAsync(
            run_address(work->bad == BAD_NOBODY ? ADDRESS(BUFFER_BAD, 0) : work->p[0]),
            run_address(work->p[1]), m.WidthInBytes, stream);
    return cu.cuMemcpy3DAsync(&m, stream);
}

CUresult run_on_stream(const struct work *work, CUstream stream)
{
    struct built built;
    switch (work->kind) {
    case WORK_KERNEL:
        run_build(work, &built);
        return cu.cuLaunchKernel(built.u.kernel.func, 1, 1, 1, built.u.kernel.blockDimX,
                                 1, 1, 0, stream, built.arguments, NULL);
    case WORK_MEMCPY: return stream_memcpy(work, stream);
    case WORK_MEMSET: return stream_memset(work, stream);
    case WORK_HOST:
        run_build(work, &built);
        return cu.cuLaunchHostFunc(stream, built.u.host.fn, built.u.host.userData);
    case WORK_BATCH:
        run_build(work, &built);
        return cu.cuStreamBatchMemOp(stream, built.u.batch.count, built.operations, 0);
    case WORK_ALLOC:
        return cu.cuMemAllocAsync(&run.buffers[BUFFER_ALLOC + work->p[0]],
                                  (size_t)work->p[1] << 10, stream);
    case WORK_FREE: return cu.cuMemFreeAsync(freed_address(work), stream);
    default: return CUDA_ERROR_UNKNOWN;
    }
}
