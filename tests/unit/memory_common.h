// SPDX-License-Identifier: Apache-2.0
/* A driver, a context and streams for tests of pools: softcuda, or a GPU. Beneath libgph
 * lies a table of calls that can be counted and made to fail:
 *
 *   shim.fail_at   calls left before the failing one; negative: none fails
 *   shim.busy      queries of events that still answer "not ready"
 *   shim.taken     the answer to a wish for addresses that are taken; 0: others are given
 *   shim.calls[]   how often each was made
 *   shim.made[]    how often it worked */
#ifndef MEMORY_COMMON_H
#define MEMORY_COMMON_H
#include "cuda/runtime.h"
#include "memory/pool.h"
#include "memory_blocks_check.h"
#include "test.h"
#include <gph/memory.h>
#include <gph/replay.h>

#include <inttypes.h>
#include <stdbool.h>

#define MiB (1ull << 20)

static gph_runtime *plain, *runtime; /* the driver; the same with the shim beneath */
static const gph_cuda_calls *cu;
static CUcontext context;
static CUstream streams[5];
static gph_error error;

#define CU(name, ...)                                                                    \
    CHECK_OK(gph_cuda_check(cu->name(__VA_ARGS__), #name, &error), error)

/* ---- the shim ---- */

/* The calls that a pool makes: name, and how it is called. */
#define SHIM_CALLS(X)                                                                    \
    X(cuMemAddressReserve,                                                               \
      (CUdeviceptr * a, size_t b, size_t c, CUdeviceptr d, unsigned long long e),        \
      (a, b, c, d, e))                                                                   \
    X(cuMemCreate,                                                                       \
      (CUmemGenericAllocationHandle * a, size_t b, const CUmemAllocationProp *c,         \
       unsigned long long d),                                                            \
      (a, b, c, d))                                                                      \
    X(cuMemMap,                                                                          \
      (CUdeviceptr a, size_t b, size_t c, CUmemGenericAllocationHandle d,                \
       unsigned long long e),                                                            \
      (a, b, c, d, e))                                                                   \
    X(cuMemSetAccess, (CUdeviceptr a, size_t b, const CUmemAccessDesc *c, size_t d),     \
      (a, b, c, d))                                                                      \
    X(cuEventCreate, (CUevent * a, unsigned int b), (a, b))                              \
    X(cuEventRecord, (CUevent a, CUstream b), (a, b))                                    \
    X(cuEventQuery, (CUevent a), (a))                                                    \
    X(cuStreamGetId, (CUstream a, unsigned long long *b), (a, b))                        \
    X(cuStreamGetCaptureInfo,                                                            \
      (CUstream a, CUstreamCaptureStatus * b, cuuint64_t * c, CUgraph * d,               \
       const CUgraphNode **e, const CUgraphEdgeData **f, size_t *g),                     \
      (a, b, c, d, e, f, g))                                                             \
    X(cuGraphNodeGetDependencies,                                                        \
      (CUgraphNode a, CUgraphNode * b, CUgraphEdgeData * c, size_t * d), (a, b, c, d))   \
    X(cuMemGetInfo, (size_t * a, size_t * b), (a, b))                                    \
    X(cuCtxGetDevice, (CUdevice * a), (a))                                               \
    X(cuDeviceTotalMem, (size_t * a, CUdevice b), (a, b))                                \
    X(cuDeviceGetAttribute, (int *a, CUdevice_attribute b, CUdevice c), (a, b, c))       \
    X(cuMemGetAllocationGranularity,                                                     \
      (size_t * a, const CUmemAllocationProp *b, CUmemAllocationGranularity_flags c),    \
      (a, b, c))

/* Those that give back: counted where they worked, never made to fail. */
#define SHIM_BACK(X)                                                                     \
    X(cuMemUnmap, (CUdeviceptr a, size_t b), (a, b))                                     \
    X(cuMemRelease, (CUmemGenericAllocationHandle a), (a))                               \
    X(cuMemAddressFree, (CUdeviceptr a, size_t b), (a, b))                               \
    X(cuEventDestroy, (CUevent a), (a))

enum shim_call {
#define X(name, types, args) SHIM_##name,
    SHIM_CALLS(X) SHIM_BACK(X)
#undef X
        SHIM_COUNT
};

static struct {
    atomic_long fail_at;
    CUresult fail_with;
    atomic_long busy;
    CUresult taken;
    atomic_long calls[SHIM_COUNT], made[SHIM_COUNT];
} shim = {.fail_at = -1, .fail_with = CUDA_ERROR_UNKNOWN};

static CUresult shim_count(enum shim_call call, CUresult result)
{
    if (result == CUDA_SUCCESS)
        atomic_fetch_add(&shim.made[call], 1);
    return result;
}

/* A GPU is late with its work; softcuda mostly is not. */
static bool shim_is_busy(enum shim_call call)
{
    if (call != SHIM_cuEventQuery || atomic_load(&shim.busy) <= 0)
        return false;
    return atomic_fetch_sub(&shim.busy, 1) > 0;
}

#define X(name, types, args)                                                             \
    static CUresult shim_##name types                                                    \
    {                                                                                    \
        atomic_fetch_add(&shim.calls[SHIM_##name], 1);                                   \
        if (atomic_load(&shim.fail_at) >= 0 && atomic_fetch_sub(&shim.fail_at, 1) == 0)  \
            return shim.fail_with;                                                       \
        if (shim_is_busy(SHIM_##name))                                                   \
            return CUDA_ERROR_NOT_READY;                                                 \
        return shim_count(SHIM_##name, plain->cu.name args);                             \
    }
SHIM_CALLS(X)
#undef X
#define X(name, types, args)                                                             \
    static CUresult shim_##name types                                                    \
    {                                                                                    \
        atomic_fetch_add(&shim.calls[SHIM_##name], 1);                                   \
        return shim_count(SHIM_##name, plain->cu.name args);                             \
    }
SHIM_BACK(X)
#undef X

/* Drivers refuse addresses that are taken, or give others; softcuda gives others. */
static CUresult shim_reserve(CUdeviceptr *out, size_t bytes, size_t alignment,
                             CUdeviceptr wish, unsigned long long flags)
{
    const CUresult result = shim_cuMemAddressReserve(out, bytes, alignment, wish, flags);
    if (result != CUDA_SUCCESS || shim.taken == CUDA_SUCCESS || wish == 0 || *out == wish)
        return result;
    CHECK(plain->cu.cuMemAddressFree(*out, bytes) == CUDA_SUCCESS);
    atomic_fetch_sub(&shim.made[SHIM_cuMemAddressReserve], 1);
    return shim.taken;
}

/* Executables that take memory of the driver, as on a GPU: softcuda's take none. */
static atomic_long driver_took;
static long driver_takes; /* for each */
static void (*while_instantiating)(void);

static CUresult shim_instantiate(CUgraphExec *exec, CUgraph graph,
                                 CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    const CUresult result = plain->cu.cuGraphInstantiateWithParams(exec, graph, params);
    if (result == CUDA_SUCCESS)
        atomic_fetch_add(&driver_took, driver_takes);
    if (while_instantiating != NULL)
        while_instantiating();
    return result;
}

static CUresult shim_exec_destroy(CUgraphExec exec)
{
    atomic_fetch_sub(&driver_took, driver_takes);
    return plain->cu.cuGraphExecDestroy(exec);
}

static CUresult shim_free_bytes(size_t *free_bytes, size_t *total)
{
    const CUresult result = shim_cuMemGetInfo(free_bytes, total);
    if (result == CUDA_SUCCESS)
        *free_bytes -= (size_t)atomic_load(&driver_took);
    return result;
}

static gph_cuda_fn shim_find(void *user, const char *name, int version)
{
    (void)user;
    if (strcmp(name, "cuMemAddressReserve") == 0)
        return (gph_cuda_fn)shim_reserve;
    if (strcmp(name, "cuMemGetInfo") == 0)
        return (gph_cuda_fn)shim_free_bytes;
    if (strcmp(name, "cuGraphInstantiateWithParams") == 0)
        return (gph_cuda_fn)shim_instantiate;
    if (strcmp(name, "cuGraphExecDestroy") == 0)
        return (gph_cuda_fn)shim_exec_destroy;
#define X(call, types, args)                                                             \
    if (strcmp(name, #call) == 0)                                                        \
        return (gph_cuda_fn)shim_##call;
    SHIM_CALLS(X)
    SHIM_BACK(X)
#undef X
    return plain->source.find(plain->source.user, name, version);
}

static inline long shim_calls(enum shim_call call)
{
    return atomic_load(&shim.calls[call]);
}

static inline long shim_made(enum shim_call call)
{
    return atomic_load(&shim.made[call]);
}

/* ---- driver and streams ---- */

/* A runtime whose host memory comes from `heap`, which may be NULL. */
static gph_runtime *open_shim(const gph_allocator *heap)
{
    gphi_cuda_source source = plain->source;
    gph_runtime *fresh = NULL;
    source.find = shim_find;
    CHECK_OK(gphi_runtime_create(heap, &source, &fresh, &error), error);
    return fresh;
}

/* False: there is no driver here. */
static inline bool open_driver(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    CUdevice device = 0;
    options.driver = GPH_DRIVER_DEFAULT;
    if (getenv("GPH_DRIVER") == NULL)
        options.driver = GPH_DRIVER_SOFT;
    if (gph_open(&options, &plain, &error) != GPH_OK) {
        printf("%s\n", error.message);
        return false;
    }
    cu = gph_cuda(plain);
    CU(DeviceGet, &device, 0);
    CU(DevicePrimaryCtxRetain, &context, device);
    CU(CtxSetCurrent, context);
    for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++)
        CU(StreamCreate, &streams[i], 1);
    runtime = open_shim(NULL);
    return runtime != NULL;
}

static inline void close_driver(void)
{
    gph_close(runtime);
    for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++)
        CU(StreamDestroy, streams[i]);
    CU(DevicePrimaryCtxRelease, 0);
    gph_close(plain);
}

static inline uint64_t device_free(void)
{
    size_t bytes = 0, total = 0;
    CU(MemGetInfo, &bytes, &total);
    return bytes;
}

/* ---- arenas and pools ---- */

static inline gph_arena *open_arena(uint64_t budget)
{
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    gph_arena *arena = NULL;
    options.reserve_bytes = 512 * MiB;
    options.budget_bytes = budget;
    CHECK_OK(gph_arena_create(runtime, &options, &arena, &error), error);
    return arena;
}

static inline gph_pool *open_pool(gph_arena *arena, const char *name)
{
    gph_pool_options options = GPH_POOL_OPTIONS_INIT;
    gph_pool *pool = NULL;
    options.name = name;
    CHECK_OK(gph_pool_create(arena, &options, &pool, &error), error);
    return pool;
}

static inline CUdeviceptr alloc(gph_pool *pool, uint64_t bytes, CUstream stream)
{
    CUdeviceptr address = 0;
    CHECK_OK(gph_pool_alloc(pool, bytes, stream, &address, &error), error);
    return address;
}

static inline void give(gph_pool *pool, CUdeviceptr address, CUstream stream)
{
    CHECK_OK(gph_pool_free(pool, address, stream, &error), error);
}

static inline gph_pool_stats stats_of(const gph_pool *pool)
{
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(pool, &stats);
    CHECK(blocks_are_right(&pool->blocks));
    return stats;
}

/* Gives a stream work for some milliseconds. `big`: 64 MiB. */
static inline void occupy(CUstream stream, CUdeviceptr big)
{
    const int count = plain->info.driver == GPH_DRIVER_SOFT ? 20 : 2000;
    for (int i = 0; i < count; i++)
        CU(MemsetD32Async, big, 1, 16 * MiB, stream);
}

/* Bytes that the driver counts: exact on softcuda, as good as that on a GPU. */
static inline bool is_about(uint64_t bytes, uint64_t expected)
{
    const uint64_t off = bytes > expected ? bytes - expected : expected - bytes;
    return off <= (plain->info.driver == GPH_DRIVER_SOFT ? 0 : 2 * MiB);
}

/* ---- captures ---- */

static inline gph_recording_id begin(gph_pool *pool, CUstream stream, const char *name)
{
    gph_recording_id id = 0;
    CHECK_OK(gph_pool_record_begin(pool, stream, name, &id, &error), error);
    CHECK_OK(gph_cuda_check((gph_status)plain->cu.cuStreamBeginCapture(
                                stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                            "cuStreamBeginCapture", &error),
             error);
    return id;
}

static inline CUgraph end_capture(CUstream stream)
{
    CUgraph graph = NULL;
    CHECK_OK(gph_cuda_check((gph_status)plain->cu.cuStreamEndCapture(stream, &graph),
                            "cuStreamEndCapture", &error),
             error);
    return graph;
}

static inline CUgraph end(gph_pool *pool, gph_recording_id id, CUstream stream,
                          const CUdeviceptr *outputs, uint32_t output_count)
{
    CUgraph graph = end_capture(stream);
    CHECK_OK(gph_pool_record_end(pool, id, outputs, output_count, NULL, &error), error);
    return graph;
}

/* `to` waits for what `from` has been given. */
static inline void follow(CUstream to, CUstream from)
{
    CUevent event = NULL;
    CU(EventCreate, &event, 2);
    CU(EventRecord, event, from);
    CU(StreamWaitEvent, to, event, 0);
    CU(EventDestroy, event);
}

static inline void fill(CUdeviceptr address, unsigned int value, uint64_t bytes,
                        CUstream stream)
{
    CU(MemsetD32Async, address, value, bytes / 4, stream);
}
#endif
