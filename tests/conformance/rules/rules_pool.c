// SPDX-License-Identifier: Apache-2.0
/* R109-R115: pools, virtual memory, events and contexts, which graphs use. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "memory_help.h"

static const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
static CUstream stream;
static CUcontext primary;

static CUmemoryPool new_pool(int device)
{
    const CUmemPoolProps props = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
    CUmemoryPool pool = NULL;
    OK(cu.cuMemPoolCreate(&pool, &props));
    return pool;
}

static uint64_t reserved(CUmemoryPool pool)
{
    uint64_t bytes = 0;
    OK(cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes));
    return bytes;
}

/* ---- R109 ---- */

static void the_default_pool_stays(void)
{
    CUmemoryPool standard = NULL, now = NULL, mine = new_pool(0);
    OK(cu.cuDeviceGetDefaultMemPool(&standard, 0));
    REFUSED(INVALID_VALUE, cu.cuMemPoolDestroy(standard));
    OK(cu.cuDeviceSetMemPool(0, mine));
    OK(cu.cuDeviceGetMemPool(&now, 0));
    CHECK(now == mine);
    OK(cu.cuMemPoolDestroy(mine));
    OK(cu.cuDeviceGetMemPool(&now, 0));
    CHECK(now == standard);
}

static void memory_outlives_its_pool(void)
{
    CUmemoryPool pool = new_pool(0);
    CUdeviceptr p = 0;
    OK(cu.cuMemAllocFromPoolAsync(&p, MIB, pool, stream));
    OK(cu.cuMemPoolDestroy(pool));
    OK(cu.cuMemsetD32Async(p, 77, MIB / 4, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(word_at(p + MIB - 4) == 77);
    OK(cu.cuMemFreeAsync(p, stream));
    OK(cu.cuStreamSynchronize(stream));
}

/* ---- R110 ---- */

static void another_devices_pool_cannot_be_current(void)
{
    int count = 0;
    OK(cu.cuDeviceGetCount(&count));
    if (count < 2)
        SKIP("one device");
    CUmemoryPool other = new_pool(1), before = NULL, now = NULL;
    OK(cu.cuDeviceGetMemPool(&before, 0));
    REFUSED(INVALID_VALUE, cu.cuDeviceSetMemPool(0, other));
    OK(cu.cuDeviceGetMemPool(&now, 0));
    CHECK(now == before);
    OK(cu.cuDeviceSetMemPool(1, other));
    OK(cu.cuMemPoolDestroy(other));
}

/* ---- R111 ---- */

static void pools_of_the_host_are_limited(void)
{
    CUmemoryPool pool = NULL;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT}};
    REFUSED(INVALID_VALUE, cu.cuMemPoolCreate(&pool, &props));
    props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    REFUSED(INVALID_VALUE, cu.cuMemPoolCreate(&pool, &props));
    CHECK(pool == NULL);
}

/* ---- R112 ---- */

static void a_trim_keeps_what_it_is_told(void)
{
    CUmemoryPool pool = new_pool(0);
    CUdeviceptr p = 0;
    uint64_t keep = UINT64_MAX;
    OK(cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    OK(cu.cuMemAllocFromPoolAsync(&p, 128 * MIB, pool, stream));
    OK(cu.cuMemFreeAsync(p, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(reserved(pool) >= 128 * MIB);
    OK(cu.cuMemPoolTrimTo(pool, 64 * MIB));
    CHECK(reserved(pool) >= 64 * MIB);
    OK(cu.cuMemPoolTrimTo(pool, 0));
    CHECK(reserved(pool) == 0);
    OK(cu.cuMemPoolDestroy(pool));
}

static void CUDA_CB hold(void *gate)
{
    for (int i = 0; i < 20000 && !atomic_load((atomic_bool *)gate); i++)
        usleep(1000);
}

static void a_free_that_is_not_reached_is_kept(void)
{
    static atomic_bool gate;
    CUmemoryPool pool = new_pool(0);
    CUdeviceptr p = 0;
    uint64_t keep = UINT64_MAX;
    atomic_store(&gate, false);
    OK(cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    OK(cu.cuMemAllocFromPoolAsync(&p, 64 * MIB, pool, stream));
    OK(cu.cuLaunchHostFunc(stream, hold, &gate));
    OK(cu.cuMemFreeAsync(p, stream));
    OK(cu.cuMemPoolTrimTo(pool, 0));
    CHECK(reserved(pool) >= 64 * MIB);
    atomic_store(&gate, true);
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemPoolTrimTo(pool, 0));
    CHECK(reserved(pool) == 0);
    OK(cu.cuMemPoolDestroy(pool));
}

/* ---- R113 ---- */

static const CUmemAllocationProp physical = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
static const CUmemAccessDesc both = {
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static void mappings_are_whole(void)
{
    size_t unit = 0;
    CUdeviceptr range = 0;
    CUmemGenericAllocationHandle handle = 0;
    OK(cu.cuMemGetAllocationGranularity(&unit, &physical,
                                        CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    REFUSED(INVALID_VALUE, cu.cuMemAddressReserve(&range, unit + 1, 0, 0, 0));
    REFUSED(INVALID_VALUE, cu.cuMemCreate(&handle, unit + 1, &physical, 0));
    OK(cu.cuMemAddressReserve(&range, 4 * unit, 0, 0, 0));
    OK(cu.cuMemCreate(&handle, 2 * unit, &physical, 0));
    REFUSED(NOT_SUPPORTED, cu.cuMemMap(range, unit, unit, handle, 0));
    REFUSED(INVALID_VALUE, cu.cuMemMap(range, 2 * unit, 0, handle, 1));
    OK(cu.cuMemMap(range, 2 * unit, 0, handle, 0));
    CHECK(cu.cuMemMap(range, 2 * unit, 0, handle, 0) != CUDA_SUCCESS);
    REFUSED(INVALID_VALUE, cu.cuMemUnmap(range, unit));
    REFUSED(INVALID_VALUE, cu.cuMemSetAccess(range, unit, &both, 1));
    CHECK(cu.cuMemAddressFree(range, 4 * unit) != CUDA_SUCCESS);
    OK(cu.cuMemUnmap(range, 2 * unit));
    OK(cu.cuMemRelease(handle));
    OK(cu.cuMemAddressFree(range, 4 * unit));
}

static void a_mapping_keeps_its_memory(void)
{
    size_t unit = 0;
    CUdeviceptr range = 0;
    unsigned long long access = 77;
    CUmemGenericAllocationHandle handle = 0;
    OK(cu.cuMemGetAllocationGranularity(&unit, &physical,
                                        CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    OK(cu.cuMemAddressReserve(&range, unit, 0, 0, 0));
    OK(cu.cuMemCreate(&handle, unit, &physical, 0));
    OK(cu.cuMemMap(range, unit, 0, handle, 0));
    OK(cu.cuMemGetAccess(&access, &here, range));
    CHECK(access == CU_MEM_ACCESS_FLAGS_PROT_NONE);
    OK(cu.cuMemSetAccess(range, unit, &both, 1));
    OK(cu.cuMemRelease(handle));
    OK(cu.cuMemsetD32(range, 5, unit / 4));
    CHECK(word_at(range + unit - 4) == 5);
    OK(cu.cuMemUnmap(range, unit));
    REFUSED(INVALID_VALUE, cu.cuMemsetD32(range, 5, 1));
    OK(cu.cuMemAddressFree(range, unit));
}

/* ---- R114 ---- */

static void events_belong_to_a_context(void)
{
    CUcontext other = NULL;
    CUevent event = NULL;
    CUstream foreign = NULL;
    OK(cu.cuEventCreate(&event, 0));
    OK(cu.cuCtxCreate(&other, NULL, 0, 0));
    OK(cu.cuStreamCreate(&foreign, CU_STREAM_NON_BLOCKING));
    REFUSED(INVALID_HANDLE, cu.cuEventRecord(event, foreign));
    OK(cu.cuStreamDestroy(foreign));
    OK(cu.cuCtxDestroy(other));
    OK(cu.cuCtxSetCurrent(primary));
    OK(cu.cuEventRecord(event, stream));
    OK(cu.cuEventDestroy(event));
}

static void times_need_two_reached_events(void)
{
    static atomic_bool gate;
    CUevent a = NULL, b = NULL, silent = NULL;
    float ms = -1;
    atomic_store(&gate, false);
    OK(cu.cuEventCreate(&a, 0));
    OK(cu.cuEventCreate(&b, 0));
    OK(cu.cuEventCreate(&silent, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuEventRecord(a, stream));
    OK(cu.cuEventRecord(silent, stream));
    REFUSED(INVALID_HANDLE, cu.cuEventElapsedTime(&ms, a, b));
    OK(cu.cuLaunchHostFunc(stream, hold, &gate));
    OK(cu.cuEventRecord(b, stream));
    REFUSED(NOT_READY, cu.cuEventElapsedTime(&ms, a, b));
    REFUSED(INVALID_HANDLE, cu.cuEventElapsedTime(&ms, a, silent));
    CHECK(ms == -1);
    atomic_store(&gate, true);
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuEventElapsedTime(&ms, a, b));
    CHECK(ms >= 0);
    OK(cu.cuEventDestroy(a));
    OK(cu.cuEventDestroy(b));
    OK(cu.cuEventDestroy(silent));
}

/* ---- R115 ---- */

static void a_destroyed_context_is_popped(void)
{
    CUcontext other = NULL, now = NULL;
    OK(cu.cuCtxPushCurrent(primary));
    OK(cu.cuCtxCreate(&other, NULL, 0, 0));
    OK(cu.cuCtxGetCurrent(&now));
    CHECK(now == other);
    OK(cu.cuCtxDestroy(other));
    OK(cu.cuCtxGetCurrent(&now));
    CHECK(now == primary);
    OK(cu.cuCtxPopCurrent(&now));
    OK(cu.cuCtxSetCurrent(primary));
}

struct elsewhere {
    CUcontext context;
    pthread_barrier_t meet;
    CUresult answer;
};

static void *use_elsewhere(void *user)
{
    struct elsewhere *e = user;
    CUdeviceptr p = 0;
    OK(cu.cuCtxSetCurrent(e->context));
    pthread_barrier_wait(&e->meet);
    pthread_barrier_wait(&e->meet); /* destroyed meanwhile */
    e->answer = cu.cuMemAlloc(&p, 64);
    return NULL;
}

static void other_threads_are_told(void)
{
    struct elsewhere e = {0};
    pthread_t thread;
    CHECK(pthread_barrier_init(&e.meet, NULL, 2) == 0);
    OK(cu.cuCtxCreate(&e.context, NULL, 0, 0));
    CHECK(pthread_create(&thread, NULL, use_elsewhere, &e) == 0);
    pthread_barrier_wait(&e.meet);
    OK(cu.cuCtxDestroy(e.context));
    pthread_barrier_wait(&e.meet);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&e.meet);
    CHECK_IS(e.answer, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cu.cuCtxSetCurrent(primary));
}

static void its_memory_may_stay(void)
{
    CUcontext other = NULL;
    CUdeviceptr pooled = 0, range = 0;
    CUmemGenericAllocationHandle handle = 0;
    const size_t bytes = 2 * MIB;
    OK(cu.cuCtxCreate(&other, NULL, 0, 0));
    OK(cu.cuMemAllocAsync(&pooled, 4096, CU_STREAM_PER_THREAD));
    OK(cu.cuMemsetD32Async(pooled, 11, 1024, CU_STREAM_PER_THREAD));
    OK(cu.cuMemAddressReserve(&range, bytes, 0, 0, 0));
    OK(cu.cuMemCreate(&handle, bytes, &physical, 0));
    OK(cu.cuMemMap(range, bytes, 0, handle, 0));
    OK(cu.cuMemSetAccess(range, bytes, &both, 1));
    OK(cu.cuMemsetD32(range, 12, 1024));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuCtxDestroy(other));
    OK(cu.cuCtxSetCurrent(primary));
    CHECK(word_at(pooled) == 11);
    CHECK(word_at(range) == 12);
    OK(cu.cuMemFree(pooled));
    OK(cu.cuMemUnmap(range, bytes));
    OK(cu.cuMemRelease(handle));
    OK(cu.cuMemAddressFree(range, bytes));
}

static void run(void)
{
    if (!rule_listing) {
        OK(cu.cuCtxGetCurrent(&primary));
        OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    }
    RULE_TEST(R109, the_default_pool_stays);
    RULE_TEST(R109, memory_outlives_its_pool);
    RULE_TEST(R110, another_devices_pool_cannot_be_current);
    RULE_TEST(R111, pools_of_the_host_are_limited);
    RULE_TEST(R112, a_trim_keeps_what_it_is_told);
    RULE_TEST(R112, a_free_that_is_not_reached_is_kept);
    RULE_TEST(R113, mappings_are_whole);
    RULE_TEST(R113, a_mapping_keeps_its_memory);
    RULE_TEST(R114, events_belong_to_a_context);
    RULE_TEST(R114, times_need_two_reached_events);
    RULE_TEST(R115, a_destroyed_context_is_popped);
    RULE_TEST(R115, other_threads_are_told);
    RULE_TEST(R115, its_memory_may_stay);
    if (!rule_listing)
        OK(cu.cuStreamDestroy(stream));
}

int main(int argc, char **argv)
{
    setenv("SOFTCUDA_DEVICES", "2", 0);
    return rule_main(argc, argv, run);
}
