// SPDX-License-Identifier: Apache-2.0
/* The calls of rules_capture_matrix.c: what each needs before a capture begins, the call
 * itself, and what it leaves behind. A call that did not succeed has changed nothing. */
#ifndef CAPTURE_CALLS_H
#define CAPTURE_CALLS_H
#include "../kernels.h"
#include "rule.h"

#define PAGE 65536u

static struct {
    CUcontext context;
    CUstream capturing; /* the stream that captures: blocking or not, by cell */
    CUstream other;     /* never captures, non-blocking */
    CUevent recorded, later, fresh;
    CUdeviceptr at;
    void *pinned;
    CUmodule module;
    CUfunction nothing;
    CUmemoryPool pool, default_pool;
    CUgraph graph, empty;
    char dot_path[32];
    CUgraphExec exec;
    CUdeviceptr managed;
    size_t granularity;
    /* What one cell makes and takes away. */
    CUdeviceptr memory, range;
    CUmemGenericAllocationHandle handle;
    void *host;
    CUstream stream;
    CUevent event;
    CUmodule spare_module;
    CUlibrary library;
    CUgraph spare_graph;
    CUgraphExec spare_exec;
    CUmemoryPool spare_pool;
    CUarray array;
    CUmipmappedArray mipmap;
    CUtexObject texture;
    CUuserObject object;
} b;

static _Alignas(PAGE) char ordinary[2 * PAGE];

static void ignore(void *user)
{
    (void)user;
}

static void ignore_status(CUstream stream, CUresult status, void *user)
{
    (void)stream, (void)status, (void)user;
}

static CUmemLocation here(void)
{
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
}

static CUmemAllocationProp physical(void)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = here()};
}

static CUmemPoolProps pooled(void)
{
    return (CUmemPoolProps){.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = here()};
}

static CUmemAccessDesc reading_and_writing(void)
{
    return (CUmemAccessDesc){here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
}

/* before, call, after: one line where a call needs no more. */
struct call {
    const char *name;
    void (*before)(void);
    CUresult (*run)(void);
    void (*after)(CUresult result);
};

#define CALL(name, expr)                                                                 \
    static CUresult name(void)                                                           \
    {                                                                                    \
        return expr;                                                                     \
    }
#define BEFORE(name, statement)                                                          \
    static void name(void)                                                               \
    {                                                                                    \
        statement;                                                                       \
    }
/* What a call that succeeded has made is released. */
#define MADE(name, expr)                                                                 \
    static void name(CUresult result)                                                    \
    {                                                                                    \
        if (result == CUDA_SUCCESS)                                                      \
            OK(expr);                                                                    \
    }
/* What a call should have released, and did not, is released. */
#define KEPT(name, expr)                                                                 \
    static void name(CUresult result)                                                    \
    {                                                                                    \
        if (result != CUDA_SUCCESS)                                                      \
            OK(expr);                                                                    \
    }

/* ---- memory ---- */

CALL(mem_alloc, cu.cuMemAlloc(&b.memory, 4096))
MADE(free_memory, cu.cuMemFree(b.memory))
static CUresult mem_alloc_pitch(void)
{
    size_t pitch;
    return cu.cuMemAllocPitch(&b.memory, &pitch, 64, 4, 4);
}
BEFORE(have_memory, OK(cu.cuMemAlloc(&b.memory, 4096)))
CALL(mem_free, cu.cuMemFree(b.memory))
KEPT(kept_memory, cu.cuMemFree(b.memory))
CALL(mem_free_null, cu.cuMemFree(0))
CALL(mem_alloc_host, cu.cuMemAllocHost(&b.host, 4096))
CALL(mem_host_alloc, cu.cuMemHostAlloc(&b.host, 4096, 0))
MADE(free_host, cu.cuMemFreeHost(b.host))
BEFORE(have_host, OK(cu.cuMemAllocHost(&b.host, 4096)))
CALL(mem_free_host, cu.cuMemFreeHost(b.host))
KEPT(kept_host, cu.cuMemFreeHost(b.host))
CALL(mem_host_register, cu.cuMemHostRegister(ordinary, PAGE, 0))
MADE(unregister, cu.cuMemHostUnregister(ordinary))
BEFORE(have_registered, OK(cu.cuMemHostRegister(ordinary, PAGE, 0)))
CALL(mem_host_unregister, cu.cuMemHostUnregister(ordinary))
KEPT(kept_registered, cu.cuMemHostUnregister(ordinary))
CALL(mem_host_pointer, cu.cuMemHostGetDevicePointer(&b.memory, b.pinned, 0))
static CUresult mem_host_flags(void)
{
    unsigned flags;
    return cu.cuMemHostGetFlags(&flags, b.pinned);
}
CALL(mem_managed, cu.cuMemAllocManaged(&b.memory, 4096, CU_MEM_ATTACH_GLOBAL))
CALL(mem_advise, cu.cuMemAdvise(b.managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here()))
static CUresult mem_range(void)
{
    int value = 0;
    return cu.cuMemRangeGetAttribute(&value, sizeof(value),
                                     CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, b.managed, 4096);
}
static CUresult mem_info(void)
{
    size_t free_bytes, total;
    return cu.cuMemGetInfo(&free_bytes, &total);
}
static CUresult mem_address_range(void)
{
    size_t bytes;
    CUdeviceptr base;
    return cu.cuMemGetAddressRange(&base, &bytes, b.at);
}
static CUresult pointer_get(void)
{
    CUmemorytype type;
    return cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, b.at);
}
static CUresult pointer_set(void)
{
    int off = 0;
    return cu.cuPointerSetAttribute(&off, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, b.at);
}

static const CUDA_ARRAY_DESCRIPTOR flat = {16, 16, CU_AD_FORMAT_FLOAT, 1};
static const CUDA_ARRAY3D_DESCRIPTOR deep = {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
CALL(array_create, cu.cuArrayCreate(&b.array, &flat))
CALL(array_3d_create, cu.cuArray3DCreate(&b.array, &deep))
MADE(destroy_array, cu.cuArrayDestroy(b.array))
BEFORE(have_array, OK(cu.cuArrayCreate(&b.array, &flat)))
CALL(array_destroy, cu.cuArrayDestroy(b.array))
KEPT(kept_array, cu.cuArrayDestroy(b.array))
static CUresult array_describe(void)
{
    CUDA_ARRAY_DESCRIPTOR out;
    return cu.cuArrayGetDescriptor(&out, b.array);
}
static void drop_array(CUresult result)
{
    (void)result;
    OK(cu.cuArrayDestroy(b.array));
}
CALL(mipmap_create, cu.cuMipmappedArrayCreate(&b.mipmap, &deep, 2))
MADE(destroy_mipmap, cu.cuMipmappedArrayDestroy(b.mipmap))
static CUresult texture_create(void)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    const CUDA_TEXTURE_DESC texture = {0};
    resource.res.array.hArray = b.array;
    return cu.cuTexObjectCreate(&b.texture, &resource, &texture, NULL);
}
static void drop_texture(CUresult result)
{
    if (result == CUDA_SUCCESS)
        OK(cu.cuTexObjectDestroy(b.texture));
    drop_array(result);
}

/* ---- virtual memory ---- */

CALL(va_reserve, cu.cuMemAddressReserve(&b.range, b.granularity, 0, 0, 0))
MADE(free_range, cu.cuMemAddressFree(b.range, b.granularity))
BEFORE(have_range, OK(cu.cuMemAddressReserve(&b.range, b.granularity, 0, 0, 0)))
CALL(va_free, cu.cuMemAddressFree(b.range, b.granularity))
KEPT(kept_range, cu.cuMemAddressFree(b.range, b.granularity))
static CUresult va_create(void)
{
    const CUmemAllocationProp prop = physical();
    return cu.cuMemCreate(&b.handle, b.granularity, &prop, 0);
}
MADE(release_handle, cu.cuMemRelease(b.handle))
BEFORE(have_handle, OK(va_create()))
CALL(va_release, cu.cuMemRelease(b.handle))
KEPT(kept_handle, cu.cuMemRelease(b.handle))
BEFORE(have_both, have_range(); have_handle())
CALL(va_map, cu.cuMemMap(b.range, b.granularity, 0, b.handle, 0))
static void drop_map(CUresult result)
{
    if (result == CUDA_SUCCESS)
        OK(cu.cuMemUnmap(b.range, b.granularity));
    OK(cu.cuMemRelease(b.handle));
    OK(cu.cuMemAddressFree(b.range, b.granularity));
}
BEFORE(have_map, have_both(); OK(va_map()))
static CUresult va_access(void)
{
    const CUmemAccessDesc desc = reading_and_writing();
    return cu.cuMemSetAccess(b.range, b.granularity, &desc, 1);
}
static void drop_mapped(CUresult result)
{
    (void)result;
    drop_map(CUDA_SUCCESS);
}
CALL(va_unmap, cu.cuMemUnmap(b.range, b.granularity))
static void drop_unmapped(CUresult result)
{
    drop_map(result == CUDA_SUCCESS ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS);
}

/* ---- pools ---- */

static CUresult pool_create(void)
{
    const CUmemPoolProps props = pooled();
    return cu.cuMemPoolCreate(&b.spare_pool, &props);
}
MADE(destroy_pool, cu.cuMemPoolDestroy(b.spare_pool))
BEFORE(have_pool, OK(pool_create()))
CALL(pool_destroy, cu.cuMemPoolDestroy(b.spare_pool))
KEPT(kept_pool, cu.cuMemPoolDestroy(b.spare_pool))
CALL(pool_trim, cu.cuMemPoolTrimTo(b.pool, 0))
static CUresult pool_get(void)
{
    cuuint64_t value;
    return cu.cuMemPoolGetAttribute(b.pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value);
}
static CUresult pool_set(void)
{
    cuuint64_t value = 0;
    return cu.cuMemPoolSetAttribute(b.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value);
}
static CUresult pool_set_access(void)
{
    const CUmemAccessDesc desc = reading_and_writing();
    return cu.cuMemPoolSetAccess(b.pool, &desc, 1);
}
static CUresult pool_get_access(void)
{
    CUmemLocation location = here();
    CUmemAccess_flags flags;
    return cu.cuMemPoolGetAccess(&flags, b.pool, &location);
}
CALL(device_get_pool, cu.cuDeviceGetMemPool(&b.spare_pool, 0))
CALL(device_default_pool, cu.cuDeviceGetDefaultMemPool(&b.spare_pool, 0))
CALL(device_set_pool, cu.cuDeviceSetMemPool(0, b.default_pool))
CALL(alloc_capturing, cu.cuMemAllocAsync(&b.memory, 4096, b.capturing))
CALL(alloc_other, cu.cuMemAllocAsync(&b.memory, 4096, b.other))
CALL(alloc_pool_capturing,
     cu.cuMemAllocFromPoolAsync(&b.memory, 4096, b.pool, b.capturing))
CALL(alloc_pool_other, cu.cuMemAllocFromPoolAsync(&b.memory, 4096, b.pool, b.other))
CALL(alloc_legacy, cu.cuMemAllocAsync(&b.memory, 4096, CU_STREAM_LEGACY))
MADE(free_pooled, cu.cuMemFreeAsync(b.memory, b.other))
BEFORE(have_pooled, OK(cu.cuMemAllocAsync(&b.memory, 4096, b.other)))
CALL(free_legacy, cu.cuMemFreeAsync(b.memory, CU_STREAM_LEGACY))
CALL(free_other, cu.cuMemFreeAsync(b.memory, b.other))
CALL(free_capturing, cu.cuMemFreeAsync(b.memory, b.capturing))
KEPT(kept_pooled, cu.cuMemFreeAsync(b.memory, b.other))
CALL(graph_trim, cu.cuDeviceGraphMemTrim(0))
static CUresult graph_mem_get(void)
{
    cuuint64_t value;
    return cu.cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value);
}
static CUresult graph_mem_set(void)
{
    cuuint64_t value = 0;
    return cu.cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value);
}

/* ---- modules, functions, contexts ---- */

CALL(module_load, cu.cuModuleLoadData(&b.spare_module, kernels_ptx))
MADE(unload, cu.cuModuleUnload(b.spare_module))
BEFORE(have_module, OK(module_load()))
CALL(module_unload, cu.cuModuleUnload(b.spare_module))
KEPT(kept_module, cu.cuModuleUnload(b.spare_module))
static CUresult module_function(void)
{
    CUfunction function;
    return cu.cuModuleGetFunction(&function, b.module, "store");
}
static CUresult module_global(void)
{
    size_t bytes;
    CUdeviceptr at;
    return cu.cuModuleGetGlobal(&at, &bytes, b.module, "counter");
}
CALL(library_load,
     cu.cuLibraryLoadData(&b.library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0))
MADE(unload_library, cu.cuLibraryUnload(b.library))
BEFORE(have_library, OK(library_load()))
CALL(library_unload, cu.cuLibraryUnload(b.library))
KEPT(kept_library, cu.cuLibraryUnload(b.library))
static CUresult library_function(void)
{
    CUkernel kernel;
    CUfunction function;
    const CUresult result = cu.cuLibraryGetKernel(&kernel, b.library, "nothing");
    return result ? result : cu.cuKernelGetFunction(&function, kernel);
}
static void drop_library(CUresult result)
{
    (void)result;
    OK(cu.cuLibraryUnload(b.library));
}
static CUresult func_get(void)
{
    int value;
    return cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, b.nothing);
}
CALL(func_set,
     cu.cuFuncSetAttribute(b.nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                           1024))
CALL(func_cache, cu.cuFuncSetCacheConfig(b.nothing, CU_FUNC_CACHE_PREFER_L1))
CALL(func_load, cu.cuFuncLoad(b.nothing))
static CUresult occupancy(void)
{
    int blocks;
    return cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, b.nothing, 32, 0);
}
CALL(ctx_synchronize, cu.cuCtxSynchronize())
CALL(ctx_set_limit, cu.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048))
static CUresult ctx_get_limit(void)
{
    size_t value;
    return cu.cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE);
}
CALL(ctx_set_cache, cu.cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE))
static CUresult ctx_get_cache(void)
{
    CUfunc_cache value;
    return cu.cuCtxGetCacheConfig(&value);
}
CALL(ctx_reset_l2, cu.cuCtxResetPersistingL2Cache())
static CUresult ctx_priorities(void)
{
    int least, greatest;
    return cu.cuCtxGetStreamPriorityRange(&least, &greatest);
}
static CUresult ctx_push_pop(void)
{
    CUcontext popped;
    const CUresult result = cu.cuCtxPushCurrent(b.context);
    return result ? result : cu.cuCtxPopCurrent(&popped);
}
static CUresult primary_retain_release(void)
{
    CUcontext context;
    const CUresult result = cu.cuDevicePrimaryCtxRetain(&context, 0);
    return result ? result : cu.cuDevicePrimaryCtxRelease(0);
}
static CUresult ctx_flags(void)
{
    unsigned flags;
    return cu.cuCtxGetFlags(&flags);
}
CALL(ctx_record, cu.cuCtxRecordEvent(b.context, b.event))
CALL(ctx_wait, cu.cuCtxWaitEvent(b.context, b.recorded))
CALL(profiler_start, cu.cuProfilerStart())
CALL(profiler_stop, cu.cuProfilerStop())

/* ---- streams and events ---- */

CALL(stream_create, cu.cuStreamCreate(&b.stream, CU_STREAM_NON_BLOCKING))
MADE(destroy_stream, cu.cuStreamDestroy(b.stream))
BEFORE(have_stream, OK(stream_create()))
CALL(stream_destroy, cu.cuStreamDestroy(b.stream))
KEPT(kept_stream, cu.cuStreamDestroy(b.stream))
CALL(query_capturing, cu.cuStreamQuery(b.capturing))
CALL(query_other, cu.cuStreamQuery(b.other))
CALL(query_legacy, cu.cuStreamQuery(CU_STREAM_LEGACY))
CALL(sync_capturing, cu.cuStreamSynchronize(b.capturing))
CALL(sync_other, cu.cuStreamSynchronize(b.other))
CALL(sync_legacy, cu.cuStreamSynchronize(CU_STREAM_LEGACY))
CALL(sync_per_thread, cu.cuStreamSynchronize(CU_STREAM_PER_THREAD))
CALL(wait_capturing, cu.cuStreamWaitEvent(b.capturing, b.recorded, 0))
CALL(wait_capturing_fresh, cu.cuStreamWaitEvent(b.capturing, b.fresh, 0))
CALL(wait_capturing_external,
     cu.cuStreamWaitEvent(b.capturing, b.recorded, CU_EVENT_WAIT_EXTERNAL))
CALL(wait_other, cu.cuStreamWaitEvent(b.other, b.recorded, 0))
CALL(wait_legacy, cu.cuStreamWaitEvent(CU_STREAM_LEGACY, b.recorded, 0))
static CUresult stream_flags(void)
{
    unsigned flags;
    return cu.cuStreamGetFlags(b.capturing, &flags);
}
static CUresult stream_priority(void)
{
    int priority;
    return cu.cuStreamGetPriority(b.capturing, &priority);
}
static CUresult stream_id(void)
{
    unsigned long long id;
    return cu.cuStreamGetId(b.capturing, &id);
}
static CUresult stream_id_legacy(void)
{
    unsigned long long id;
    return cu.cuStreamGetId(CU_STREAM_LEGACY, &id);
}
static CUresult stream_context(void)
{
    CUcontext context;
    return cu.cuStreamGetCtx(b.capturing, &context);
}
static CUresult stream_context_legacy(void)
{
    CUcontext context;
    return cu.cuStreamGetCtx(CU_STREAM_LEGACY, &context);
}
static CUresult stream_get_attribute(void)
{
    CUstreamAttrValue value;
    return cu.cuStreamGetAttribute(b.capturing, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
}
static CUresult stream_set_attribute(void)
{
    const CUstreamAttrValue value = {.syncPolicy = CU_SYNC_POLICY_AUTO};
    return cu.cuStreamSetAttribute(b.capturing,
                                   CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value);
}
static CUresult stream_device(void)
{
    CUdevice device;
    return cu.cuStreamGetDevice(b.capturing, &device);
}
static CUresult stream_flags_other(void)
{
    unsigned flags;
    return cu.cuStreamGetFlags(b.other, &flags);
}
static CUresult stream_flags_legacy(void)
{
    unsigned flags;
    return cu.cuStreamGetFlags(CU_STREAM_LEGACY, &flags);
}
static CUresult stream_priority_legacy(void)
{
    int priority;
    return cu.cuStreamGetPriority(CU_STREAM_LEGACY, &priority);
}
static CUresult stream_device_legacy(void)
{
    CUdevice device;
    return cu.cuStreamGetDevice(CU_STREAM_LEGACY, &device);
}
static CUresult stream_get_attribute_legacy(void)
{
    CUstreamAttrValue value;
    return cu.cuStreamGetAttribute(CU_STREAM_LEGACY, CU_LAUNCH_ATTRIBUTE_PRIORITY,
                                   &value);
}
CALL(stream_copy_attributes, cu.cuStreamCopyAttributes(b.capturing, b.other))
CALL(attach_capturing,
     cu.cuStreamAttachMemAsync(b.capturing, b.managed, 0, CU_MEM_ATTACH_GLOBAL))
CALL(attach_other, cu.cuStreamAttachMemAsync(b.other, b.managed, 0, CU_MEM_ATTACH_GLOBAL))
CALL(prefetch_capturing, cu.cuMemPrefetchAsync(b.managed, 4096, here(), 0, b.capturing))
CALL(prefetch_other, cu.cuMemPrefetchAsync(b.managed, 4096, here(), 0, b.other))
CALL(callback_capturing, cu.cuStreamAddCallback(b.capturing, ignore_status, NULL, 0))
CALL(callback_legacy, cu.cuStreamAddCallback(CU_STREAM_LEGACY, ignore_status, NULL, 0))
CALL(prefetch_legacy, cu.cuMemPrefetchAsync(b.managed, 4096, here(), 0, CU_STREAM_LEGACY))
CALL(attach_legacy,
     cu.cuStreamAttachMemAsync(CU_STREAM_LEGACY, b.managed, 0, CU_MEM_ATTACH_GLOBAL))
CALL(callback_other, cu.cuStreamAddCallback(b.other, ignore_status, NULL, 0))
CALL(begin_capturing,
     cu.cuStreamBeginCapture(b.capturing, CU_STREAM_CAPTURE_MODE_RELAXED))
CALL(begin_legacy,
     cu.cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_RELAXED))
static CUresult begin_other(void)
{
    CUgraph graph;
    const CUresult result =
        cu.cuStreamBeginCapture(b.other, CU_STREAM_CAPTURE_MODE_RELAXED);
    if (result != CUDA_SUCCESS || cu.cuStreamEndCapture(b.other, &graph) != CUDA_SUCCESS)
        return result;
    return cu.cuGraphDestroy(graph);
}
static CUresult end_other(void)
{
    CUgraph graph;
    return cu.cuStreamEndCapture(b.other, &graph);
}
static CUresult end_legacy(void)
{
    CUgraph graph;
    return cu.cuStreamEndCapture(CU_STREAM_LEGACY, &graph);
}
static CUresult is_capturing(void)
{
    CUstreamCaptureStatus status;
    return cu.cuStreamIsCapturing(b.capturing, &status);
}
static CUresult is_capturing_legacy(void)
{
    CUstreamCaptureStatus status;
    return cu.cuStreamIsCapturing(CU_STREAM_LEGACY, &status);
}
static CUresult info_of(CUstream stream)
{
    CUstreamCaptureStatus status;
    return cu.cuStreamGetCaptureInfo(stream, &status, NULL, NULL, NULL, NULL, NULL);
}
CALL(info_capturing, info_of(b.capturing))
CALL(info_legacy, info_of(CU_STREAM_LEGACY))
CALL(update_capturing,
     cu.cuStreamUpdateCaptureDependencies(b.capturing, NULL, NULL, 0, 0))
CALL(update_other, cu.cuStreamUpdateCaptureDependencies(b.other, NULL, NULL, 0, 0))
CALL(update_legacy,
     cu.cuStreamUpdateCaptureDependencies(CU_STREAM_LEGACY, NULL, NULL, 0, 0))
CALL(write_capturing, cu.cuStreamWriteValue32(b.capturing, b.at, 1, 0))
CALL(write_other, cu.cuStreamWriteValue32(b.other, b.at, 1, 0))
CALL(write_legacy, cu.cuStreamWriteValue32(CU_STREAM_LEGACY, b.at, 1, 0))
static CUresult batch_capturing(void)
{
    CUstreamBatchMemOpParams op = {
        .writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = b.at}};
    return cu.cuStreamBatchMemOp(b.capturing, 1, &op, 0);
}
CALL(wait_value_capturing, cu.cuStreamWaitValue32(b.capturing, b.at, 0, 0))
CALL(event_create, cu.cuEventCreate(&b.event, 0))
MADE(destroy_event, cu.cuEventDestroy(b.event))
BEFORE(have_event, OK(event_create()))
CALL(event_destroy, cu.cuEventDestroy(b.event))
KEPT(kept_event, cu.cuEventDestroy(b.event))
static void drop_event(CUresult result)
{
    (void)result;
    OK(cu.cuEventDestroy(b.event));
}
CALL(event_query, cu.cuEventQuery(b.recorded))
CALL(event_query_fresh, cu.cuEventQuery(b.fresh))
static CUresult event_query_captured(void)
{
    const CUresult result = cu.cuEventRecord(b.event, b.capturing);
    return result ? result : cu.cuEventQuery(b.event);
}
CALL(event_synchronize, cu.cuEventSynchronize(b.recorded))
static CUresult event_synchronize_captured(void)
{
    const CUresult result = cu.cuEventRecord(b.event, b.capturing);
    return result ? result : cu.cuEventSynchronize(b.event);
}
static CUresult event_elapsed(void)
{
    float ms;
    return cu.cuEventElapsedTime(&ms, b.recorded, b.later);
}
static CUresult event_elapsed_captured(void)
{
    float ms;
    const CUresult result = cu.cuEventRecord(b.event, b.capturing);
    return result ? result : cu.cuEventElapsedTime(&ms, b.recorded, b.event);
}
CALL(record_capturing, cu.cuEventRecord(b.event, b.capturing))
CALL(record_external,
     cu.cuEventRecordWithFlags(b.event, b.capturing, CU_EVENT_RECORD_EXTERNAL))
CALL(record_other, cu.cuEventRecord(b.event, b.other))
CALL(record_legacy, cu.cuEventRecord(b.event, CU_STREAM_LEGACY))

#include "capture_work_calls.h"
#endif
