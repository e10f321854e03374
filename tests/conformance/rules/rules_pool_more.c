// SPDX-License-Identifier: Apache-2.0
/* What an H100 showed of stream-ordered pools and of virtual memory beside R109-R115, and
 * how captures meet pools. Two devices are asked of softcuda. */
#include <unistd.h>

#include "memory_help.h"

static CUstream stream;
static const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};

static CUmemPoolProps plain(void)
{
    return (CUmemPoolProps){.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = here};
}

static CUmemoryPool new_pool(void)
{
    const CUmemPoolProps props = plain();
    CUmemoryPool pool = NULL;
    OK(cu.cuMemPoolCreate(&pool, &props));
    return pool;
}

static cuuint64_t counter(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    cuuint64_t value = 0xdead;
    OK(cu.cuMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static cuuint64_t reserved(CUmemoryPool pool)
{
    return counter(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
}

static cuuint64_t used(CUmemoryPool pool)
{
    return counter(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
}

static CUdeviceptr take(CUmemoryPool pool, size_t bytes)
{
    CUdeviceptr out = 0;
    OK(cu.cuMemAllocFromPoolAsync(&out, bytes, pool, stream));
    return out;
}

static void keep_all(CUmemoryPool pool)
{
    cuuint64_t threshold = ~0ull;
    OK(cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
}

/* ---- pools ---- */

static void a_device_takes_its_own_pools(void)
{
    CUmemoryPool pool = new_pool(), first = NULL;
    int devices = 0;
    REFUSED(INVALID_VALUE, cu.cuDeviceSetMemPool(9, pool));
    OK(cu.cuDeviceGetDefaultMemPool(&first, 0));
    OK(cu.cuDeviceSetMemPool(0, pool));
    OK(cu.cuDeviceSetMemPool(0, first));
    OK(cu.cuDeviceGetCount(&devices));
    if (devices > 1)
        REFUSED(INVALID_VALUE, cu.cuDeviceSetMemPool(1, pool));
    OK(cu.cuMemPoolDestroy(pool));
}

static void pools_are_of_memory_that_exists(void)
{
    CUmemoryPool pool = NULL;
    CUmemPoolProps props = plain();
    props.location.id = 9;
    REFUSED(INVALID_VALUE, cu.cuMemPoolCreate(&pool, &props));
    props = plain();
    props.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    REFUSED(INVALID_VALUE, cu.cuMemPoolCreate(&pool, &props));
    props = plain();
    props.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
    REFUSED(INVALID_VALUE, cu.cuMemPoolCreate(&pool, &props));
    props = plain();
    props.reserved[0] = 1;
    REFUSED(INVALID_VALUE, cu.cuMemPoolCreate(&pool, &props));
    props = plain();
    props.handleTypes = (CUmemAllocationHandleType)64;
    REFUSED(INVALID_VALUE, cu.cuMemPoolCreate(&pool, &props));
    props = plain();
    props.location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST};
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    REFUSED(INVALID_VALUE, cu.cuMemPoolCreate(&pool, &props));
    props.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
    props.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    REFUSED(INVALID_VALUE, cu.cuMemPoolCreate(&pool, &props));
    CHECK(pool == NULL);
    if (driver_is_soft)
        return; /* has no pools of the host */
    props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    OK(cu.cuMemPoolCreate(&pool, &props));
    OK(cu.cuMemPoolDestroy(pool));
}

static void trims_leave_what_they_are_told(void)
{
    CUmemoryPool pool = new_pool();
    keep_all(pool);
    const CUdeviceptr a = take(pool, 8 * MIB), b = take(pool, 8 * MIB);
    OK(cu.cuStreamSynchronize(stream));
    CHECK(reserved(pool) == STEP && used(pool) == 16 * MIB);
    OK(cu.cuMemFreeAsync(a, stream));
    CHECK(used(pool) == 8 * MIB); /* at once */
    OK(cu.cuMemPoolTrimTo(pool, 0));
    CHECK(reserved(pool) == STEP);
    OK(cu.cuMemFreeAsync(b, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemPoolTrimTo(pool, 40 * MIB));
    CHECK(reserved(pool) == STEP);
    OK(cu.cuMemPoolTrimTo(pool, 1));
    CHECK(reserved(pool) == STEP);
    OK(cu.cuMemPoolTrimTo(pool, 0));
    CHECK(reserved(pool) == 0);
    OK(cu.cuMemPoolDestroy(pool));
}

static void attributes_that_can_be_set(void)
{
    CUmemoryPool pool = new_pool();
    for (int i = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES;
         i <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES; i++) {
        int value = -1;
        OK(cu.cuMemPoolGetAttribute(pool, (CUmemPool_attribute)i, &value));
        CHECK(value == 1);
        value = 0;
        OK(cu.cuMemPoolSetAttribute(pool, (CUmemPool_attribute)i, &value));
        value = -1;
        OK(cu.cuMemPoolGetAttribute(pool, (CUmemPool_attribute)i, &value));
        CHECK(value == 0);
    }
    static const struct {
        CUmemPool_attribute attribute;
        CUresult to_one, to_zero;
    } rows[] = {
        {CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, CUDA_SUCCESS, CUDA_SUCCESS},
        {CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CUDA_ERROR_INVALID_VALUE,
         CUDA_ERROR_INVALID_VALUE},
        {CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS},
        {CU_MEMPOOL_ATTR_USED_MEM_CURRENT, CUDA_ERROR_INVALID_VALUE,
         CUDA_ERROR_INVALID_VALUE},
        {CU_MEMPOOL_ATTR_USED_MEM_HIGH, CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS}};
    for (int i = 0; i < 5; i++) {
        cuuint64_t value = 1;
        CHECK(counter(pool, rows[i].attribute) == 0);
        CHECK_IS(cu.cuMemPoolSetAttribute(pool, rows[i].attribute, &value),
                 rows[i].to_one);
        value = 0;
        CHECK_IS(cu.cuMemPoolSetAttribute(pool, rows[i].attribute, &value),
                 rows[i].to_zero);
    }
    cuuint64_t value = 0;
    REFUSED(INVALID_VALUE,
            cu.cuMemPoolGetAttribute(pool, (CUmemPool_attribute)0, &value));
    REFUSED(INVALID_VALUE,
            cu.cuMemPoolGetAttribute(pool, (CUmemPool_attribute)9, &value));
    REFUSED(INVALID_VALUE,
            cu.cuMemPoolSetAttribute(pool, (CUmemPool_attribute)9, &value));
    OK(cu.cuMemPoolDestroy(pool));
}

static void pools_reserve_in_steps(void)
{
    CUmemoryPool pool = new_pool();
    CUdeviceptr at = take(pool, MIB);
    CHECK(reserved(pool) == STEP);
    OK(cu.cuMemFreeAsync(at, stream));
    OK(cu.cuStreamSynchronize(stream)); /* the threshold is 0 */
    CHECK(reserved(pool) == 0);
    CHECK(counter(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) == STEP);
    keep_all(pool);
    at = take(pool, MIB);
    OK(cu.cuMemFreeAsync(at, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(reserved(pool) == STEP && used(pool) == 0);
    OK(cu.cuMemPoolDestroy(pool));
}

static void devices_without_pools(void)
{
    CUmemoryPool pool = NULL;
    CUmemLocation location = here;
    REFUSED(INVALID_VALUE, cu.cuDeviceGetMemPool(&pool, 9));
    REFUSED(INVALID_DEVICE, cu.cuDeviceGetDefaultMemPool(&pool, 9));
    OK(cu.cuMemGetMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    REFUSED(INVALID_VALUE,
            cu.cuMemGetMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_INVALID));
    REFUSED(INVALID_VALUE,
            cu.cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_INVALID, pool));
    location.id = 9;
    REFUSED(INVALID_VALUE,
            cu.cuMemGetMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
}

static void access_is_all_or_none(void)
{
    CUmemoryPool pool = new_pool();
    CUmemAccessDesc access = {.location = here, .flags = CU_MEM_ACCESS_FLAGS_PROT_NONE};
    CUmemAccess_flags flags = (CUmemAccess_flags)77;
    REFUSED(INVALID_DEVICE, cu.cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    REFUSED(NOT_SUPPORTED, cu.cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    OK(cu.cuMemPoolSetAccess(pool, &access, 1));
    REFUSED(INVALID_VALUE, cu.cuMemPoolSetAccess(pool, NULL, 0));
    REFUSED(INVALID_VALUE, cu.cuMemPoolSetAccess(pool, NULL, 1));
    access.location.id = 9;
    REFUSED(INVALID_DEVICE, cu.cuMemPoolSetAccess(pool, &access, 1));
    access.location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST};
    REFUSED(NOT_SUPPORTED, cu.cuMemPoolSetAccess(pool, &access, 1));
    CUmemLocation location = here;
    OK(cu.cuMemPoolGetAccess(&flags, pool, &location));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    location.id = 9;
    REFUSED(INVALID_VALUE, cu.cuMemPoolGetAccess(&flags, pool, &location));
    location = access.location;
    OK(cu.cuMemPoolGetAccess(&flags, pool, &location));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
    OK(cu.cuMemPoolDestroy(pool));
}

static void plain_pools_are_not_exported(void)
{
    CUmemPoolProps props = plain();
    CUmemoryPool pool = new_pool(), shared = NULL;
    CUmemPoolPtrExportData data;
    int file = -1;
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    OK(cu.cuMemPoolCreate(&shared, &props));
    const CUmemAllocationHandleType fd = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    REFUSED(INVALID_VALUE, cu.cuMemPoolExportToShareableHandle(&file, pool, fd, 0));
    REFUSED(INVALID_VALUE, cu.cuMemPoolExportToShareableHandle(
                               &file, shared, CU_MEM_HANDLE_TYPE_NONE, 0));
    REFUSED(INVALID_VALUE, cu.cuMemPoolExportToShareableHandle(&file, shared, fd, 1));
    const CUdeviceptr at = take(pool, 4096);
    REFUSED(INVALID_VALUE, cu.cuMemPoolExportPointer(&data, at));
    const CUdeviceptr early = take(shared, 4096);
    REFUSED(INVALID_VALUE, cu.cuMemPoolExportPointer(&data, early));
    CHECK(file == -1);
    OK(cu.cuMemPoolExportToShareableHandle(&file, shared, fd, 0));
    OK(cu.cuMemPoolExportPointer(&data, early)); /* after its pool (an H200) */
    close(file);
    OK(cu.cuMemFreeAsync(at, stream));
    OK(cu.cuMemFreeAsync(early, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemPoolDestroy(pool));
    OK(cu.cuMemPoolDestroy(shared));
}

static void nothing_is_an_address(void)
{
    CUdeviceptr at = 77;
    OK(cu.cuMemAllocAsync(&at, 0, stream));
    CHECK(at == 0);
    OK(cu.cuMemFreeAsync(0, stream));
    at = 77;
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuMemAllocAsync(&at, 0, stream));
    OK(cu.cuMemFreeAsync(0, stream));
    CHECK(at == 0);
    CUgraph graph = NULL;
    size_t count = 77;
    OK(cu.cuStreamEndCapture(stream, &graph));
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    CHECK(count == 0);
    OK(cu.cuGraphDestroy(graph));
}

static void frees_are_of_whole_allocations(void)
{
    CUdeviceptr at = 0;
    OK(cu.cuMemAllocAsync(&at, 4096, stream));
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(at + 8, stream));
    OK(cu.cuMemFreeAsync(at, stream));
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(at, stream));
    OK(cu.cuMemAllocAsync(&at, 64, stream));
    OK(cu.cuMemFree(at));
    OK(cu.cuStreamSynchronize(stream));
}

static void plain_memory_is_freed_in_order(void)
{
    CUdeviceptr at = 0;
    unsigned back = 0;
    OK(cu.cuMemAlloc(&at, 4096));
    OK(cu.cuMemsetD32Async(at, 9, 1024, stream));
    OK(cu.cuMemcpyDtoHAsync(&back, at, 4, stream));
    OK(cu.cuMemFreeAsync(at, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(back == 9);
    if (driver_is_soft) /* NVIDIA's driver does not notice, and crashes later */
        REFUSED(INVALID_VALUE, cu.cuMemFree(at));
}

/* ---- captures and pools ---- */

static CUgraph captured_from(CUmemoryPool pool, size_t bytes, CUdeviceptr *out)
{
    CUgraph graph = NULL;
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuMemAllocFromPoolAsync(out, bytes, pool, stream));
    OK(cu.cuMemsetD32Async(*out, 5, 4, stream));
    OK(cu.cuMemFreeAsync(*out, stream));
    OK(cu.cuStreamEndCapture(stream, &graph));
    return graph;
}

static CUDA_MEM_ALLOC_NODE_PARAMS params_of_first(CUgraph graph)
{
    CUgraphNode nodes[8];
    CUDA_MEM_ALLOC_NODE_PARAMS out = {0};
    size_t count = 8;
    OK(cu.cuGraphGetNodes(graph, nodes, &count));
    if (CHECK(count > 0))
        OK(cu.cuGraphMemAllocNodeGetParams(nodes[0], &out));
    return out;
}

static void run_here(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuGraphExecDestroy(exec));
}

static void exportable_pools_are_not_captured(void)
{
    CUmemPoolProps props = plain();
    CUmemoryPool pool = NULL, first = NULL;
    CUdeviceptr at = 0;
    CUgraph graph = NULL;
    size_t count = 77;
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    OK(cu.cuMemPoolCreate(&pool, &props));
    at = take(pool, 4096); /* it is a pool like others */
    OK(cu.cuMemFreeAsync(at, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    REFUSED(NOT_SUPPORTED, cu.cuMemAllocFromPoolAsync(&at, 4096, pool, stream));
    OK(cu.cuStreamEndCapture(stream, &graph));
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    CHECK(count == 0);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuDeviceGetDefaultMemPool(&first, 0));
    OK(cu.cuDeviceSetMemPool(0, pool));
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    REFUSED(NOT_SUPPORTED, cu.cuMemAllocAsync(&at, 4096, stream));
    OK(cu.cuStreamEndCapture(stream, &graph));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuDeviceSetMemPool(0, first));
    OK(cu.cuMemPoolDestroy(pool));
}

static void captured_memory_is_not_the_pools(void)
{
    CUmemPoolProps props = plain();
    CUmemoryPool pool = NULL;
    CUdeviceptr at = 0;
    props.maxSize = 64 * MIB;
    OK(cu.cuMemPoolCreate(&pool, &props));
    CUgraph graph = captured_from(pool, 100 * MIB, &at);
    const CUDA_MEM_ALLOC_NODE_PARAMS params = params_of_first(graph);
    CHECK(params.bytesize == 100 * MIB && params.poolProps.maxSize == 0);
    CHECK(params.accessDescCount == 0 && params.dptr == at);
    run_here(graph);
    CHECK(reserved(pool) == 0 && used(pool) == 0);
    CHECK(counter(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) == 0);
    OK(cu.cuMemPoolDestroy(pool));
    run_here(graph);
    OK(cu.cuGraphDestroy(graph));
}

static void captured_memory_keeps_its_access(void)
{
    int devices = 0, peer = 0;
    OK(cu.cuDeviceGetCount(&devices));
    if (devices > 1)
        OK(cu.cuDeviceCanAccessPeer(&peer, 1, 0));
    if (!peer)
        SKIP("no two devices that reach each other");
    CUmemoryPool pool = new_pool();
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr at = 0;
    CUgraph alone = captured_from(pool, 4096, &at);
    OK(cu.cuMemPoolSetAccess(pool, &access, 1));
    CUgraph shared = captured_from(pool, 4096, &at);
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    OK(cu.cuMemPoolSetAccess(pool, &access, 1));
    CHECK(params_of_first(alone).accessDescCount == 0);
    const CUDA_MEM_ALLOC_NODE_PARAMS params = params_of_first(shared);
    if (CHECK(params.accessDescCount == 1))
        CHECK(params.accessDescs[0].location.id == 1 &&
              params.accessDescs[0].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    run_here(shared);
    OK(cu.cuGraphDestroy(alone));
    OK(cu.cuGraphDestroy(shared));
    OK(cu.cuMemPoolDestroy(pool));
}

/* ---- virtual memory ---- */

static size_t granule(void)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = here};
    size_t bytes = 0;
    OK(cu.cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    return bytes;
}

struct mapped {
    size_t unit;
    CUdeviceptr at;                      /* 4 units */
    CUmemGenericAllocationHandle handle; /* 2 units, mapped at the first two */
};

static struct mapped new_mapping(void)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = here};
    struct mapped m = {.unit = granule()};
    OK(cu.cuMemAddressReserve(&m.at, 4 * m.unit, 0, 0, 0));
    OK(cu.cuMemCreate(&m.handle, 2 * m.unit, &prop, 0));
    OK(cu.cuMemMap(m.at, 2 * m.unit, 0, m.handle, 0));
    return m;
}

static CUresult let_in(const struct mapped *m, size_t bytes)
{
    const CUmemAccessDesc access = {.location = here,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return cu.cuMemSetAccess(m->at, bytes, &access, 1);
}

static void granules_are_whole_and_flags_zero(void)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = here};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    const size_t unit = granule();
    REFUSED(INVALID_VALUE, cu.cuMemAddressReserve(&at, 0, 0, 0, 0));
    REFUSED(INVALID_VALUE, cu.cuMemAddressReserve(&at, unit + 1, 0, 0, 0));
    REFUSED(INVALID_VALUE, cu.cuMemAddressReserve(&at, unit, 0, 0, 1));
    REFUSED(INVALID_VALUE, cu.cuMemAddressReserve(&at, unit, 3, 0, 0));
    REFUSED(INVALID_VALUE, cu.cuMemCreate(&handle, unit + 1, &prop, 0));
    REFUSED(INVALID_VALUE, cu.cuMemCreate(&handle, 0, &prop, 0));
    REFUSED(INVALID_VALUE, cu.cuMemCreate(&handle, unit, &prop, 1));
    struct mapped m = new_mapping();
    OK(cu.cuMemUnmap(m.at, 2 * unit));
    REFUSED(NOT_SUPPORTED, cu.cuMemMap(m.at, unit, unit, m.handle, 0));
    REFUSED(NOT_SUPPORTED, cu.cuMemMap(m.at, unit, 0, m.handle, 0));
    REFUSED(NOT_SUPPORTED, cu.cuMemMap(m.at, unit + 1, 0, m.handle, 0));
    REFUSED(INVALID_VALUE, cu.cuMemMap(m.at, 2 * unit, 0, m.handle, 1));
    OK(cu.cuMemMap(m.at, 2 * unit, 0, m.handle, 0));
    REFUSED(INVALID_VALUE, cu.cuMemMap(m.at + unit, 2 * unit, 0, m.handle, 0));
    OK(cu.cuMemRelease(m.handle)); /* the mapping keeps it */
    REFUSED(INVALID_VALUE, cu.cuMemRelease(m.handle));
    OK(let_in(&m, 2 * unit));
    OK(cu.cuMemsetD32(m.at, 3, 4));
    OK(cu.cuMemUnmap(m.at, 2 * unit));
    OK(cu.cuMemAddressFree(m.at, 4 * unit));
}

static void mappings_are_closed_at_first(void)
{
    struct mapped m = new_mapping();
    unsigned back = 0;
    REFUSED(INVALID_VALUE, cu.cuMemsetD32(m.at, 1, 4));
    REFUSED(INVALID_VALUE, let_in(&m, m.unit));
    OK(let_in(&m, 2 * m.unit));
    OK(cu.cuMemsetD32(m.at, 6, 4));
    OK(cu.cuMemcpyDtoH(&back, m.at, 4));
    CHECK(back == 6);
    OK(cu.cuMemUnmap(m.at, 2 * m.unit));
    OK(cu.cuMemRelease(m.handle));
    OK(cu.cuMemAddressFree(m.at, 4 * m.unit));
}

static void mappings_end_as_a_whole(void)
{
    struct mapped m = new_mapping();
    OK(cu.cuMemMap(m.at + 2 * m.unit, 2 * m.unit, 0, m.handle, 0)); /* a second one */
    REFUSED(INVALID_VALUE, cu.cuMemUnmap(m.at, m.unit));
    REFUSED(INVALID_VALUE, cu.cuMemAddressFree(m.at, 4 * m.unit));
    OK(cu.cuMemUnmap(m.at, 4 * m.unit));
    OK(cu.cuMemUnmap(m.at, 2 * m.unit)); /* nothing is there any more */
    REFUSED(INVALID_VALUE, cu.cuMemAddressFree(m.at, m.unit));
    OK(cu.cuMemAddressFree(m.at, 4 * m.unit));
    OK(cu.cuMemRelease(m.handle));
}

static void run(void)
{
    if (!rule_listing)
        OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    RULE_TEST(M_pool_props, a_device_takes_its_own_pools);
    RULE_TEST(M_pool_props, pools_are_of_memory_that_exists);
    RULE_TEST(R112, trims_leave_what_they_are_told);
    RULE_TEST(M_pool_props, devices_without_pools);
    RULE_TEST(M_pool_access, access_is_all_or_none);
    RULE_TEST(M_pool_export, plain_pools_are_not_exported);
    RULE_TEST(M_pool_attributes, attributes_that_can_be_set);
    RULE_TEST(M_pool_steps, pools_reserve_in_steps);
    RULE_TEST(M_pool_nothing, nothing_is_an_address);
    RULE_TEST(M_pool_frees, frees_are_of_whole_allocations);
    RULE_TEST(M_free_async_memory, plain_memory_is_freed_in_order);
    RULE_TEST(M_pool_exportable, exportable_pools_are_not_captured);
    RULE_TEST(M_pool_captured_apart, captured_memory_is_not_the_pools);
    RULE_TEST(M_pool_captured_access, captured_memory_keeps_its_access);
    RULE_TEST(M_map_flags, granules_are_whole_and_flags_zero);
    RULE_TEST(M_map_access, mappings_are_closed_at_first);
    RULE_TEST(R113, mappings_end_as_a_whole);
    if (!rule_listing)
        OK(cu.cuStreamDestroy(stream));
}

int main(int argc, char **argv)
{
    (void)setenv("SOFTCUDA_DEVICES", "2", 0);
    return rule_main(argc, argv, run);
}
