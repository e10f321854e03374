// SPDX-License-Identifier: Apache-2.0
/* Device, host and managed memory: allocation, registration, what an address is. */
#include <sys/mman.h>

#include "driver.h"

static void allocations_are_distinct_and_aligned(void)
{
    CUdeviceptr p[16];
    for (int i = 0; i < 16; i++) {
        OK(cu.cuMemAlloc(&p[i], 100));
        CHECK(p[i] != 0 && p[i] % 256 == 0);
        for (int k = 0; k < i; k++)
            CHECK(p[k] + 100 <= p[i] || p[i] + 100 <= p[k]);
    }
    for (int i = 0; i < 16; i++)
        OK(cu.cuMemFree(p[i]));
}

static void wrong_sizes_and_addresses_are_refused(void)
{
    CUdeviceptr p = 77;
    REFUSED(INVALID_VALUE, cu.cuMemAlloc(&p, 0));
    REFUSED(INVALID_VALUE, cu.cuMemAlloc(NULL, 16));
    REFUSED(OUT_OF_MEMORY, cu.cuMemAlloc(&p, (size_t)1 << 46));
    REFUSED(OUT_OF_MEMORY, cu.cuMemAlloc(&p, SIZE_MAX));
    CHECK(p == 0); /* an H100's driver leaves no address */
    OK(cu.cuMemFree(0));
    OK(cu.cuMemAlloc(&p, 1024));
    REFUSED(INVALID_VALUE, cu.cuMemFree(p + 256));
    OK(cu.cuMemFree(p));
    REFUSED(INVALID_VALUE, cu.cuMemFree(p));
    int on_the_stack = 0;
    REFUSED(INVALID_VALUE, cu.cuMemFree((CUdeviceptr)(uintptr_t)&on_the_stack));
}

static void info_moves_with_large_allocations(void)
{
    size_t before = 0, during = 0, after = 0, total = 0;
    CUdeviceptr p;
    OK(cu.cuMemGetInfo(&before, &total));
    CHECK(before > 0 && before <= total);
    OK(cu.cuMemAlloc(&p, 32 << 20));
    OK(cu.cuMemGetInfo(&during, &total));
    CHECK(before - during >= 32 << 20);
    OK(cu.cuMemFree(p));
    OK(cu.cuMemGetInfo(&after, &total));
    CHECK(after == before);
    OK(cu.cuMemGetInfo(NULL, &total)); /* an H100 gives what is asked for */
    OK(cu.cuMemGetInfo(&after, NULL));
    OK(cu.cuMemGetInfo(NULL, NULL));
}

static void ranges_lead_to_their_allocation(void)
{
    CUdeviceptr p, base = 0;
    size_t bytes = 0;
    OK(cu.cuMemAlloc(&p, 1000));
    OK(cu.cuMemGetAddressRange(&base, &bytes, p + 10));
    CHECK(base == p && bytes == 1000);
    OK(cu.cuMemGetAddressRange(&base, NULL, p));
    OK(cu.cuMemGetAddressRange(NULL, &bytes, p));
    OK(cu.cuMemFree(p));
    REFUSED(NOT_FOUND, cu.cuMemGetAddressRange(&base, &bytes, 16));
    CHECK(base == 0 && bytes == 0);
    REFUSED(NOT_FOUND, cu.cuMemGetAddressRange(&base, &bytes, p));
}

static void pitched_rows(void)
{
    CUdeviceptr p;
    size_t pitch = 0;
    OK(cu.cuMemAllocPitch(&p, &pitch, 100, 10, 4));
    CHECK(pitch >= 100 && pitch % 512 == 0);
    OK(cu.cuMemsetD2D8(p, pitch, 1, 100, 10));
    OK(cu.cuMemFree(p));
    REFUSED(INVALID_VALUE, cu.cuMemAllocPitch(&p, &pitch, 100, 10, 3));
    REFUSED(INVALID_VALUE, cu.cuMemAllocPitch(&p, NULL, 100, 10, 4));
}

/* ---- host memory ---- */

static void pinned_memory_is_host_memory(void)
{
    void *host = NULL;
    unsigned flags = 0;
    CUdeviceptr device = 0;
    OK(cu.cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_PORTABLE));
    memset(host, 7, 4096);
    OK(cu.cuMemHostGetFlags(&flags, host));
    CHECK((flags & CU_MEMHOSTALLOC_PORTABLE) != 0);
    OK(cu.cuMemHostGetDevicePointer(&device, host, 0));
    CHECK(device == (CUdeviceptr)(uintptr_t)host);
    REFUSED(INVALID_VALUE, cu.cuMemHostGetDevicePointer(&device, host, 1));
    OK(cu.cuMemFreeHost(host));
    REFUSED(INVALID_VALUE, cu.cuMemFreeHost(host));
    OK(cu.cuMemAllocHost(&host, 100));
    REFUSED(INVALID_VALUE, cu.cuMemFreeHost((char *)host + 8));
    OK(cu.cuMemFreeHost(host));
    REFUSED(INVALID_VALUE, cu.cuMemHostAlloc(&host, 16, 0x100));
    CHECK(host == NULL);
    REFUSED(INVALID_VALUE, cu.cuMemHostAlloc(NULL, 16, 0));
    host = &flags;
    OK(cu.cuMemAllocHost(&host, 0)); /* unlike device memory, on an H100 too */
    CHECK(host == NULL);
}

static void ordinary_memory_can_be_registered(void)
{
    void *pages =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CUdeviceptr device = 0;
    unsigned flags;
    REFUSED(INVALID_VALUE, cu.cuMemHostGetDevicePointer(&device, pages, 0));
    OK(cu.cuMemHostRegister(pages, 8192, CU_MEMHOSTREGISTER_DEVICEMAP));
    REFUSED(HOST_MEMORY_ALREADY_REGISTERED, cu.cuMemHostRegister(pages, 4096, 0));
    OK(cu.cuMemHostGetDevicePointer(&device, pages, 0));
    CHECK(device == (CUdeviceptr)(uintptr_t)pages);
    OK(cu.cuMemHostGetFlags(&flags, pages));
    REFUSED(INVALID_VALUE, cu.cuMemHostUnregister((char *)pages + 4096));
    OK(cu.cuMemHostUnregister(pages));
    REFUSED(HOST_MEMORY_NOT_REGISTERED, cu.cuMemHostUnregister(pages));
    REFUSED(INVALID_VALUE, cu.cuMemHostRegister(NULL, 4096, 0));
    REFUSED(INVALID_VALUE, cu.cuMemHostRegister(pages, 0, 0));
    munmap(pages, 8192);
}

static int range_says(CUdeviceptr p, size_t bytes, CUmem_range_attribute attribute)
{
    int value = 77;
    OK(cu.cuMemRangeGetAttribute(&value, sizeof(value), attribute, p, bytes));
    return value;
}

#define HALF ((size_t)2 << 20)

static void advice_on_managed_memory_is_kept(void)
{
    CUdeviceptr p = 0;
    const CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                        host = {.type = CU_MEM_LOCATION_TYPE_HOST};
    OK(cu.cuMemAllocManaged(&p, 2 * HALF, CU_MEM_ATTACH_GLOBAL));
    static const int fresh[] = {0, -2, -2, -2, 0, -2, 0, -2};
    for (int i = 1; i <= 8; i++)
        CHECK(range_says(p, 2 * HALF, (CUmem_range_attribute)i) == fresh[i - 1]);
    OK(cu.cuMemAdvise(p, HALF, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    OK(cu.cuMemAdvise(p, 2 * HALF, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    OK(cu.cuMemAdvise(p, 2 * HALF, CU_MEM_ADVISE_SET_ACCESSED_BY, device));
    OK(cu.cuMemPrefetchAsync(p, 2 * HALF, device, 0, NULL));
    static const int expected[] = {0, -1, 0, 0, 2, -1, 1, 0};
    for (int i = 1; i <= 8; i++) {
        CHECK(range_says(p, 2 * HALF, (CUmem_range_attribute)i) == expected[i - 1]);
        CHECK(range_says(p, HALF, (CUmem_range_attribute)i) ==
              (i == 1 ? 1 : expected[i - 1]));
    }
    int list[4] = {7, 7, 7, 7}, two[2] = {7, 7};
    OK(cu.cuMemRangeGetAttribute(list, sizeof(list), CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                                 p, 2 * HALF));
    CHECK(list[0] == 0 && list[1] == -2 && list[2] == -2 && list[3] == -2);
    OK(cu.cuMemAdvise(p, 2 * HALF, CU_MEM_ADVISE_SET_ACCESSED_BY, host));
    OK(cu.cuMemRangeGetAttribute(list, sizeof(list), CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                                 p, 2 * HALF));
    CHECK(list[0] == 0 && list[1] == -1 && list[2] == -2); /* devices come first */
    void *data[] = {&two[0], &two[1]};
    size_t sizes[] = {4, 4};
    CUmem_range_attribute which[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                     CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
    OK(cu.cuMemRangeGetAttributes(data, sizes, which, 2, p + HALF - 4096, 8192));
    printf("# of a range that has it by half: %d %d\n", two[0], two[1]);
    CHECK(!driver_is_soft || (two[0] == 0 && two[1] == -1));
    OK(cu.cuMemAdvise(p + HALF, HALF, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    CHECK(range_says(p, 2 * HALF, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY) == 1);
    OK(cu.cuMemAdvise(p + 4096, 4096, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, host));
    CHECK(range_says(p, 8192, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION) == -2);
    CHECK(range_says(p + 8192, 8192, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION) == -1);
    CHECK(range_says(p, 4096, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION) == -1);
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemFree(p));
    OK(cu.cuMemAllocManaged(&p, 2 * HALF, CU_MEM_ATTACH_GLOBAL)); /* there again, maybe */
    for (int i = 1; i <= 8; i++)
        CHECK(range_says(p, 2 * HALF, (CUmem_range_attribute)i) == fresh[i - 1]);
    OK(cu.cuMemFree(p));
}

static void wrong_questions_about_ranges_are_refused(void)
{
    CUdeviceptr p = 0, d = 0;
    int value[2] = {7, 7};
    OK(cu.cuMemAllocManaged(&p, 8192, CU_MEM_ATTACH_GLOBAL));
    OK(cu.cuMemAlloc(&d, 8192));
#define ASK(data, bytes, attribute, address, count)                                      \
    REFUSED(INVALID_VALUE,                                                               \
            cu.cuMemRangeGetAttribute(data, bytes, (CUmem_range_attribute)(attribute),   \
                                      address, count))
    ASK(value, 4, 0, p, 4096);
    ASK(value, 4, 9, p, 4096);
    ASK(value, 8, 1, p, 4096);
    ASK(value, 0, 1, p, 4096);
    ASK(NULL, 4, 1, p, 4096);
    ASK(value, 4, 1, d, 4096);
    CHECK(value[0] == 7 && value[1] == 7);
    OK(cu.cuMemFree(p));
    OK(cu.cuMemFree(d));
}

static void managed_memory_is_read_by_both(void)
{
    CUdeviceptr p = 0;
    OK(cu.cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL));
    unsigned *host = (unsigned *)(uintptr_t)p;
    host[0] = 1;
    OK(cu.cuMemsetD32(p, 5, 16));
    OK(cu.cuCtxSynchronize());
    CHECK(host[0] == 5 && host[15] == 5);
    const CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    OK(cu.cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device));
    OK(cu.cuMemPrefetchAsync(p, 4096, device, 0, NULL));
    OK(cu.cuCtxSynchronize());
    CHECK(host[1] == 5);
    OK(cu.cuMemFree(p));
    OK(cu.cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_HOST));
    OK(cu.cuStreamAttachMemAsync(NULL, p, 0, CU_MEM_ATTACH_GLOBAL));
    REFUSED(INVALID_VALUE, cu.cuStreamAttachMemAsync(NULL, p, 0, CU_MEM_ATTACH_SINGLE));
    REFUSED(INVALID_VALUE, cu.cuStreamAttachMemAsync(NULL, p, 0, 7));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemFree(p));
    REFUSED(INVALID_VALUE, cu.cuMemAllocManaged(&p, 4096, 0));
    REFUSED(INVALID_VALUE, cu.cuMemAllocManaged(&p, 0, CU_MEM_ATTACH_GLOBAL));
}

static CUmemLocation last_prefetched(CUdeviceptr p)
{
    CUmemLocation at = {.id = -7};
    int type = -7, id = -7;
    OK(cu.cuMemRangeGetAttribute(&type, sizeof(type),
                                 CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, p,
                                 4096));
    OK(cu.cuMemRangeGetAttribute(
        &id, sizeof(id), CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, p, 4096));
    at.type = (CUmemLocationType)type;
    at.id = id;
    return at;
}

/* A location is of the ranges from its first to that of the next location. */
static void managed_ranges_move_together(void)
{
    CUdeviceptr p[3];
    size_t sizes[3], firsts[2] = {0, 2}, none[2] = {0, 3}, back[2] = {1, 2};
    CUmemLocation where[2] = {{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                              {.type = CU_MEM_LOCATION_TYPE_HOST}};
    CUstream stream;
    if (!cu.cuMemPrefetchBatchAsync)
        SKIP("the driver is older than 13.0");
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 3; i++) {
        OK(cu.cuMemAllocManaged(&p[i], sizes[i] = 4096, CU_MEM_ATTACH_GLOBAL));
        *(unsigned *)(uintptr_t)p[i] = 42;
    }
    OK(cu.cuMemPrefetchBatchAsync(p, sizes, 3, where, firsts, 2, 0, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(last_prefetched(p[0]).type == CU_MEM_LOCATION_TYPE_DEVICE);
    CHECK(last_prefetched(p[1]).type == CU_MEM_LOCATION_TYPE_DEVICE);
    CHECK(last_prefetched(p[2]).type == CU_MEM_LOCATION_TYPE_HOST);
    for (int i = 0; i < 3; i++)
        CHECK(*(unsigned *)(uintptr_t)p[i] == 42);
    REFUSED(INVALID_VALUE,
            cu.cuMemPrefetchBatchAsync(p, sizes, 0, where, firsts, 2, 0, stream));
    REFUSED(INVALID_VALUE,
            cu.cuMemPrefetchBatchAsync(p, sizes, 3, where, firsts, 2, 1, stream));
    REFUSED(INVALID_VALUE,
            cu.cuMemPrefetchBatchAsync(p, sizes, 3, where, none, 2, 0, stream));
    REFUSED(INVALID_VALUE,
            cu.cuMemPrefetchBatchAsync(p, sizes, 3, where, back, 2, 0, stream));
    REFUSED(INVALID_VALUE,
            cu.cuMemPrefetchBatchAsync(p, sizes, 1, where, firsts, 2, 0, stream));
    REFUSED(INVALID_VALUE,
            cu.cuMemPrefetchBatchAsync(NULL, sizes, 3, where, firsts, 2, 0, stream));
    OK(cu.cuMemDiscardBatchAsync(p, sizes, 2, 0, stream));
    REFUSED(INVALID_VALUE, cu.cuMemDiscardBatchAsync(p, sizes, 2, 1, stream));
    OK(cu.cuMemDiscardAndPrefetchBatchAsync(p, sizes, 3, &where[1], firsts, 1, 0,
                                            stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(last_prefetched(p[0]).type == CU_MEM_LOCATION_TYPE_HOST);
    for (int i = 0; i < 3; i++)
        OK(cu.cuMemFree(p[i]));
    OK(cu.cuStreamDestroy(stream));
}

/* ---- what an address is ---- */

static unsigned long long ask(CUpointer_attribute what, CUdeviceptr address)
{
    unsigned long long value = 0;
    OK(cu.cuPointerGetAttribute(&value, what, address));
    return value;
}

static void device_pointers_have_attributes(void)
{
    CUdeviceptr p;
    CUcontext context = NULL;
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuMemAlloc(&p, 5000));
    CHECK(ask(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 8) == CU_MEMORYTYPE_DEVICE);
    CHECK(ask(CU_POINTER_ATTRIBUTE_CONTEXT, p) == (uintptr_t)context);
    CHECK(ask(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p + 8) == p + 8);
    CHECK(ask(CU_POINTER_ATTRIBUTE_IS_MANAGED, p) == 0);
    CHECK((int)ask(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p) == 0);
    CHECK(ask(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + 4999) == p);
    CHECK(ask(CU_POINTER_ATTRIBUTE_RANGE_SIZE, p) == 5000);
    CHECK((int)ask(CU_POINTER_ATTRIBUTE_MAPPED, p) == 1);
    void *host = NULL;
    REFUSED(INVALID_VALUE,
            cu.cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p));
    const unsigned long long id = ask(CU_POINTER_ATTRIBUTE_BUFFER_ID, p);
    OK(cu.cuMemFree(p));
    OK(cu.cuMemAlloc(&p, 5000));
    CHECK(ask(CU_POINTER_ATTRIBUTE_BUFFER_ID, p) != id);
    OK(cu.cuMemFree(p));
}

static void host_and_managed_pointers_have_attributes(void)
{
    void *host = NULL;
    CUdeviceptr p;
    OK(cu.cuMemAllocHost(&host, 64));
    const CUdeviceptr h = (CUdeviceptr)(uintptr_t)host;
    CHECK(ask(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, h) == CU_MEMORYTYPE_HOST);
    CHECK(ask(CU_POINTER_ATTRIBUTE_HOST_POINTER, h) == h);
    CHECK(ask(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, h) == h);
    OK(cu.cuMemFreeHost(host));
    OK(cu.cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_GLOBAL));
    CHECK(ask(CU_POINTER_ATTRIBUTE_IS_MANAGED, p) == 1);
    CHECK(ask(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p) == CU_MEMORYTYPE_DEVICE);
    OK(cu.cuMemFree(p));
}

static void set_sync_memops(CUdeviceptr p, unsigned on)
{
    OK(cu.cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
}

/* The attribute is the allocation's, and ends with it. cuda-bindings' own test sets and reads it. */
static void sync_memops_reads_what_was_set(void)
{
    CUdeviceptr p, other;
    OK(cu.cuMemAlloc(&p, 5000));
    OK(cu.cuMemAllocManaged(&other, 64, CU_MEM_ATTACH_GLOBAL));
    CHECK(ask(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p) == 0);
    set_sync_memops(p, 1);
    CHECK(ask(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p + 100) == 1);
    CHECK(ask(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, other) == 1); /* managed memory's */
    set_sync_memops(other, 0);
    CHECK(ask(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, other) == 0);
    set_sync_memops(other, 1);
    set_sync_memops(p, 0);
    set_sync_memops(p, 0);
    CHECK(ask(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p) == 0);
    CHECK(ask(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, other) == 1);
    set_sync_memops(p, 1);
    OK(cu.cuMemFree(p));
    OK(cu.cuMemAlloc(&p, 5000));
    CHECK(ask(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p) == 0);
    OK(cu.cuMemFree(p));
    OK(cu.cuMemFree(other));
}

static void unknown_pointers_are_told_apart(void)
{
    int local = 0, ordinal = 0;
    unsigned type = 9;
    void *host = &type;
    const CUdeviceptr address = (CUdeviceptr)(uintptr_t)&local;
    REFUSED(INVALID_VALUE,
            cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *values[] = {&type, &ordinal, &host};
    OK(cu.cuPointerGetAttributes(3, which, values, address));
    CHECK(type == 0);
    CHECK(ordinal == CU_DEVICE_INVALID);
    CHECK(host == &local);
    REFUSED(INVALID_VALUE, cu.cuPointerGetAttributes(0, which, values, address));
    REFUSED(INVALID_VALUE, cu.cuPointerGetAttributes(3, NULL, values, address));
    CUdeviceptr p;
    OK(cu.cuMemAlloc(&p, 64));
    REFUSED(INVALID_VALUE, cu.cuPointerGetAttribute(&type, (CUpointer_attribute)999, p));
    REFUSED(INVALID_VALUE,
            cu.cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    OK(cu.cuPointerGetAttributes(3, which, values, p));
    CHECK(type == CU_MEMORYTYPE_DEVICE && ordinal == 0 && host == NULL);
    OK(cu.cuMemFree(p));
}

int main(void)
{
    DEVICE_OR_SKIP();
    use_primary();
    RUN(allocations_are_distinct_and_aligned);
    RUN(wrong_sizes_and_addresses_are_refused);
    RUN(info_moves_with_large_allocations);
    RUN(ranges_lead_to_their_allocation);
    RUN(pitched_rows);
    RUN(pinned_memory_is_host_memory);
    RUN(ordinary_memory_can_be_registered);
    RUN(managed_memory_is_read_by_both);
    RUN(managed_ranges_move_together);
    RUN(advice_on_managed_memory_is_kept);
    RUN(wrong_questions_about_ranges_are_refused);
    RUN(device_pointers_have_attributes);
    RUN(host_and_managed_pointers_have_attributes);
    RUN(sync_memops_reads_what_was_set);
    RUN(unknown_pointers_are_told_apart);
    return test_done();
}
