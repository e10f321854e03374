// SPDX-License-Identifier: Apache-2.0
/* Stream-ordered allocation and memory pools. */
#include "driver.h"

static CUstream stream;
static const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};

static CUmemoryPool create(void)
{
    CUmemoryPool pool = NULL;
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = here};
    OK(cu.cuMemPoolCreate(&pool, &props));
    return pool;
}

static uint64_t number(CUmemoryPool pool, CUmemPool_attribute what)
{
    uint64_t value = 12345;
    OK(cu.cuMemPoolGetAttribute(pool, what, &value));
    return value;
}

static void memory_is_ordered_by_the_stream(void)
{
    CUdeviceptr p = 0;
    unsigned char back[256] = {0};
    OK(cu.cuMemAllocAsync(&p, 256, stream));
    OK(cu.cuMemsetD8Async(p, 3, 256, stream));
    OK(cu.cuMemcpyDtoHAsync(back, p, 256, stream));
    OK(cu.cuMemFreeAsync(p, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(back[0] == 3 && back[255] == 3);
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(p, stream));
    OK(cu.cuMemAllocAsync(&p, 0, stream)); /* unlike cuMemAlloc, on an H100 too */
    CHECK(p == 0);
    OK(cu.cuMemFreeAsync(p, stream));
    REFUSED(INVALID_VALUE, cu.cuMemAllocAsync(NULL, 16, stream));
    REFUSED(OUT_OF_MEMORY, cu.cuMemAllocAsync(&p, (size_t)1 << 46, stream));
}

static void same_stream_reuses_what_it_freed(void)
{
    CUdeviceptr p = 0, q = 0;
    CUmemoryPool pool = create();
    OK(cu.cuMemAllocFromPoolAsync(&p, 1 << 20, pool, stream));
    OK(cu.cuMemFreeAsync(p, stream));
    OK(cu.cuMemAllocFromPoolAsync(&q, 1 << 20, pool, stream));
    CHECK(p == q);
    OK(cu.cuMemFreeAsync(q, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemPoolDestroy(pool));
}

static void ordinary_free_takes_pool_memory(void)
{
    CUdeviceptr p = 0;
    OK(cu.cuMemAllocAsync(&p, 256, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemFree(p));
    OK(cu.cuMemAlloc(&p, 256));
    OK(cu.cuMemFree(p));
}

static void counters_follow(void)
{
    CUmemoryPool pool = create();
    CUdeviceptr p = 0;
    uint64_t threshold = UINT64_MAX, zero = 0, one = 1;
    CHECK(number(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) == 0);
    OK(cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    CHECK(number(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) == UINT64_MAX);
    OK(cu.cuMemAllocFromPoolAsync(&p, 1 << 20, pool, stream));
    CHECK(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 1 << 20);
    CHECK(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= 1 << 20);
    OK(cu.cuMemFreeAsync(p, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0);
    CHECK(number(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) == 1 << 20);
    CHECK(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) > 0);
    OK(cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero));
    CHECK(number(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) == 0);
    REFUSED(INVALID_VALUE,
            cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &one));
    REFUSED(INVALID_VALUE,
            cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &zero));
    OK(cu.cuMemPoolTrimTo(pool, 0));
    CHECK(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
    OK(cu.cuMemPoolDestroy(pool));
}

static void synchronizing_trims_to_the_threshold(void)
{
    CUmemoryPool pool = create();
    CUdeviceptr p = 0;
    OK(cu.cuMemAllocFromPoolAsync(&p, 8 << 20, pool, stream));
    OK(cu.cuMemFreeAsync(p, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
    OK(cu.cuMemPoolDestroy(pool));
}

static void reuse_switches_start_on(void)
{
    CUmemoryPool pool = create();
    for (int i = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES;
         i <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES; i++) {
        int on = -1, off = 0;
        OK(cu.cuMemPoolGetAttribute(pool, (CUmemPool_attribute)i, &on));
        CHECK(on == 1);
        OK(cu.cuMemPoolSetAttribute(pool, (CUmemPool_attribute)i, &off));
        OK(cu.cuMemPoolGetAttribute(pool, (CUmemPool_attribute)i, &on));
        CHECK(on == 0);
    }
    REFUSED(INVALID_VALUE,
            cu.cuMemPoolGetAttribute(pool, (CUmemPool_attribute)99, &pool));
    OK(cu.cuMemPoolDestroy(pool));
}

static void a_device_has_a_current_pool(void)
{
    CUmemoryPool first = NULL, now = NULL, mine = create();
    OK(cu.cuDeviceGetDefaultMemPool(&first, 0));
    OK(cu.cuDeviceGetMemPool(&now, 0));
    CHECK(first != NULL && first == now);
    REFUSED(INVALID_VALUE, cu.cuMemPoolDestroy(first));
    OK(cu.cuDeviceSetMemPool(0, mine));
    OK(cu.cuDeviceGetMemPool(&now, 0));
    CHECK(now == mine);
    CUdeviceptr p = 0;
    OK(cu.cuMemAllocAsync(&p, 4096, stream));
    CUmemoryPool of = NULL;
    OK(cu.cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    CHECK(of == mine);
    OK(cu.cuMemFreeAsync(p, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemPoolDestroy(mine)); /* the default one is current again (R109) */
    OK(cu.cuDeviceGetMemPool(&now, 0));
    CHECK(now == first);
    REFUSED(INVALID_DEVICE, cu.cuDeviceGetDefaultMemPool(&first, 1000));
    REFUSED(INVALID_VALUE, cu.cuDeviceGetDefaultMemPool(NULL, 0));
}

static void a_destroyed_pool_outlives_its_memory(void)
{
    CUmemoryPool pool = create();
    CUdeviceptr p = 0;
    unsigned char back = 0;
    OK(cu.cuMemAllocFromPoolAsync(&p, 64, pool, stream));
    OK(cu.cuMemPoolDestroy(pool));
    OK(cu.cuMemsetD8Async(p, 9, 64, stream));
    OK(cu.cuMemcpyDtoHAsync(&back, p, 1, stream));
    OK(cu.cuMemFreeAsync(p, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(back == 9);
}

static void properties_are_checked(void)
{
    CUmemoryPool pool = NULL;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = here};
    REFUSED(INVALID_VALUE, cu.cuMemPoolCreate(NULL, &props));
    REFUSED(INVALID_VALUE, cu.cuMemPoolCreate(&pool, NULL));
    props.location.id = 1000;
    CHECK(cu.cuMemPoolCreate(&pool, &props) != CUDA_SUCCESS);
    props.location.id = 0;
    props.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
    REFUSED(INVALID_VALUE, cu.cuMemPoolCreate(&pool, &props));
    CHECK(pool == NULL);
}

static void access_is_read_and_set(void)
{
    CUmemoryPool pool = create();
    CUmemLocation location = here;
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    OK(cu.cuMemPoolGetAccess(&flags, pool, &location));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    const CUmemAccessDesc desc = {.location = here,
                                  .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cu.cuMemPoolSetAccess(pool, &desc, 1));
    const CUmemAccessDesc none = {.location = here,
                                  .flags = CU_MEM_ACCESS_FLAGS_PROT_NONE};
    CHECK(cu.cuMemPoolSetAccess(pool, &none, 1) != CUDA_SUCCESS);
    OK(cu.cuMemPoolDestroy(pool));
}

static void managed_pools_give_memory_that_the_host_sees(void)
{
    CUmemoryPool pool = NULL;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED};
    for (int type = CU_MEM_LOCATION_TYPE_NONE; type <= CU_MEM_LOCATION_TYPE_DEVICE;
         type++) {
        props.location.type = (CUmemLocationType)type;
        OK(cu.cuMemPoolCreate(&pool, &props));
        CUdeviceptr p = 0;
        OK(cu.cuMemAllocFromPoolAsync(&p, 4096, pool, stream));
        OK(cu.cuMemsetD8Async(p, 7, 4096, stream));
        OK(cu.cuStreamSynchronize(stream));
        unsigned char *at = (unsigned char *)(uintptr_t)p;
        CHECK(at[0] == 7 && at[4095] == 7);
        memset(at, 9, 4096);
        unsigned char back = 0;
        OK(cu.cuMemcpyDtoH(&back, p + 4095, 1));
        CHECK(back == 9);
        unsigned managed = 0;
        OK(cu.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
        CHECK(managed == 1);
        OK(cu.cuMemFreeAsync(p, stream));
        OK(cu.cuStreamSynchronize(stream));
        OK(cu.cuMemPoolDestroy(pool));
    }
    props.location.type = (CUmemLocationType)99;
    pool = NULL;
    REFUSED(NOT_SUPPORTED, cu.cuMemPoolCreate(&pool, &props));
    CHECK(pool == NULL);
    REFUSED(NOT_SUPPORTED,
            cu.cuMemGetDefaultMemPool(&pool, &props.location, props.allocType));
    const CUmemLocation nowhere = {.type = CU_MEM_LOCATION_TYPE_NONE};
    REFUSED(INVALID_VALUE, cu.cuMemGetMemPool(&pool, (CUmemLocation *)&nowhere,
                                              CU_MEM_ALLOCATION_TYPE_PINNED));
}

static void managed_memory_has_pools_of_its_own(void)
{
    const CUmemAllocationType managed = CU_MEM_ALLOCATION_TYPE_MANAGED;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED,
                            .location = here};
    CUmemLocation place = here, nowhere = {.type = CU_MEM_LOCATION_TYPE_NONE};
    CUmemoryPool pool = NULL, mine = NULL, first = NULL, plain = NULL;
    OK(cu.cuMemGetDefaultMemPool(&first, &place, managed));
    OK(cu.cuMemGetDefaultMemPool(&pool, &nowhere, managed));
    OK(cu.cuDeviceGetDefaultMemPool(&plain, 0));
    CHECK(first && pool && first != plain && pool != plain);
    OK(cu.cuMemPoolCreate(&mine, &props));
    OK(cu.cuMemSetMemPool(&place, managed, mine));
    OK(cu.cuMemGetMemPool(&pool, &place, managed));
    CHECK(pool == mine);
    OK(cu.cuMemPoolDestroy(mine)); /* the default one serves again */
    OK(cu.cuMemGetMemPool(&pool, &place, managed));
    /* NVIDIA's driver, 580.159: the pool of the device's own memory. */
    CHECK(driver_is_soft ? pool == first : pool == plain);
    REFUSED(INVALID_VALUE, cu.cuMemPoolDestroy(first));
}

/* Page-locked memory in stream order; a pool of a NUMA node can go to another process. */
static void pools_of_the_host_give_its_memory(void)
{
    CUmemLocation places[] = {{.type = CU_MEM_LOCATION_TYPE_HOST},
                              {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA}};
    for (unsigned i = 0; i < 2; i++) {
        const CUmemPoolProps props = {
            .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
            .location = places[i],
            .handleTypes = i == 0 ? CU_MEM_HANDLE_TYPE_NONE
                                  : CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
        CUmemoryPool pool = NULL, first = NULL;
        CUdeviceptr p = 0;
        CUmemorytype type = (CUmemorytype)0;
        OK(cu.cuMemGetDefaultMemPool(&first, &places[i], CU_MEM_ALLOCATION_TYPE_PINNED));
        OK(cu.cuMemPoolCreate(&pool, &props));
        CHECK(pool && first && pool != first);
        CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
        CUmemAccessDesc access[] = {
            {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
             .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
            {.location = places[0], .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
        OK(cu.cuMemPoolGetAccess(&flags, pool, &access[0].location));
        CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
        OK(cu.cuMemPoolGetAccess(&flags, pool, &places[0]));
        CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        OK(cu.cuMemPoolSetAccess(pool, access, 2));
        OK(cu.cuMemAllocFromPoolAsync(&p, 4096, pool, stream));
        OK(cu.cuStreamSynchronize(stream));
        OK(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
        CHECK(type == CU_MEMORYTYPE_HOST);
        volatile uint32_t *words = (uint32_t *)(uintptr_t)p;
        words[1] = 7;
        OK(cu.cuMemsetD32(p, 5, 1));
        OK(cu.cuCtxSynchronize());
        CHECK(words[0] == 5 && words[1] == 7);
        OK(cu.cuMemFreeAsync(p, stream));
        REFUSED(INVALID_VALUE, cu.cuDeviceSetMemPool(0, pool));
        OK(cu.cuStreamSynchronize(stream));
        OK(cu.cuMemPoolDestroy(pool));
    }
}

int main(void)
{
    DEVICE_OR_SKIP();
    use_primary();
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    RUN(memory_is_ordered_by_the_stream);
    RUN(same_stream_reuses_what_it_freed);
    RUN(ordinary_free_takes_pool_memory);
    RUN(counters_follow);
    RUN(synchronizing_trims_to_the_threshold);
    RUN(reuse_switches_start_on);
    RUN(a_device_has_a_current_pool);
    RUN(a_destroyed_pool_outlives_its_memory);
    RUN(properties_are_checked);
    RUN(access_is_read_and_set);
    RUN(managed_pools_give_memory_that_the_host_sees);
    RUN(managed_memory_has_pools_of_its_own);
    RUN(pools_of_the_host_give_its_memory);
    OK(cu.cuStreamDestroy(stream));
    return test_done();
}
