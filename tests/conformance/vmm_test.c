// SPDX-License-Identifier: Apache-2.0
/* Virtual memory management: reserve, create, map, access, alias, and the wrong ways. */
#include "driver.h"

static const CUmemAllocationProp prop = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
static const CUmemAccessDesc both = {
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
static size_t unit;

static void granularity_is_two_mib(void)
{
    size_t recommended = 0;
    OK(cu.cuMemGetAllocationGranularity(&recommended, &prop,
                                        CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    CHECK(unit == 2 << 20 && recommended % unit == 0);
    REFUSED(INVALID_VALUE, cu.cuMemGetAllocationGranularity(
                               NULL, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    REFUSED(INVALID_VALUE, cu.cuMemGetAllocationGranularity(
                               &recommended, NULL, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

static void map_use_unmap(void)
{
    CUdeviceptr range = 0;
    CUmemGenericAllocationHandle handle = 0, again = 0;
    CUmemAllocationProp back;
    OK(cu.cuMemAddressReserve(&range, 2 * unit, 0, 0, 0));
    CHECK(range != 0 && range % unit == 0);
    OK(cu.cuMemCreate(&handle, unit, &prop, 0));
    OK(cu.cuMemGetAllocationPropertiesFromHandle(&back, handle));
    CHECK(back.type == prop.type && back.location.id == 0);
    OK(cu.cuMemMap(range, unit, 0, handle, 0));
    if (driver_is_soft) /* no access yet; a device may find out too late */
        REFUSED(INVALID_VALUE, cu.cuMemsetD8(range, 1, 16));
    OK(cu.cuMemSetAccess(range, unit, &both, 1));
    unsigned long long access = 0;
    OK(cu.cuMemGetAccess(&access, &both.location, range));
    CHECK(access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cu.cuMemsetD8(range, 1, unit));
    unsigned char byte = 0;
    OK(cu.cuMemcpyDtoH(&byte, range + unit - 1, 1));
    CHECK(byte == 1);
    OK(cu.cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)range));
    CHECK(again == handle);
    OK(cu.cuMemRelease(again));
    OK(cu.cuMemRelease(handle)); /* the mapping keeps the memory */
    OK(cu.cuMemcpyDtoH(&byte, range, 1));
    CHECK(byte == 1);
    OK(cu.cuMemUnmap(range, unit));
    OK(cu.cuMemAddressFree(range, 2 * unit));
}

static void one_memory_at_two_addresses(void)
{
    CUdeviceptr range = 0;
    CUmemGenericAllocationHandle handle = 0;
    OK(cu.cuMemAddressReserve(&range, 2 * unit, 0, 0, 0));
    OK(cu.cuMemCreate(&handle, unit, &prop, 0));
    OK(cu.cuMemMap(range, unit, 0, handle, 0));
    OK(cu.cuMemMap(range + unit, unit, 0, handle, 0));
    OK(cu.cuMemSetAccess(range, 2 * unit, &both, 1));
    OK(cu.cuMemRelease(handle));
    OK(cu.cuMemsetD8(range, 7, 100));
    OK(cu.cuCtxSynchronize());
    unsigned char byte = 0;
    OK(cu.cuMemcpyDtoH(&byte, range + unit + 99, 1));
    CHECK(byte == 7);
    OK(cu.cuMemUnmap(range, 2 * unit));
    OK(cu.cuMemAddressFree(range, 2 * unit));
}

static void neighbours_are_one_range(void)
{
    CUdeviceptr range = 0;
    CUmemGenericAllocationHandle first = 0, second = 0;
    OK(cu.cuMemAddressReserve(&range, 2 * unit, 0, 0, 0));
    OK(cu.cuMemCreate(&first, unit, &prop, 0));
    OK(cu.cuMemCreate(&second, unit, &prop, 0));
    OK(cu.cuMemMap(range, unit, 0, first, 0));
    OK(cu.cuMemMap(range + unit, unit, 0, second, 0));
    OK(cu.cuMemSetAccess(range, 2 * unit, &both, 1));
    OK(cu.cuMemsetD8(range + unit - 8, 3, 16)); /* over the border */
    unsigned char bytes[16] = {0};
    OK(cu.cuMemcpyDtoH(bytes, range + unit - 8, 16));
    CHECK(bytes[0] == 3 && bytes[15] == 3);
    OK(cu.cuMemUnmap(range, unit));
    OK(cu.cuMemUnmap(range + unit, unit));
    OK(cu.cuMemRelease(first));
    OK(cu.cuMemRelease(second));
    OK(cu.cuMemAddressFree(range, 2 * unit));
}

static void wrong_ways_are_refused(void)
{
    CUdeviceptr range = 0, other = 0;
    CUmemGenericAllocationHandle handle = 0;
    REFUSED(INVALID_VALUE, cu.cuMemAddressReserve(&range, unit + 1, 0, 0, 0));
    REFUSED(INVALID_VALUE, cu.cuMemAddressReserve(&range, 0, 0, 0, 0));
    REFUSED(INVALID_VALUE, cu.cuMemAddressReserve(&range, unit, 0, 0, 1));
    REFUSED(INVALID_VALUE, cu.cuMemAddressReserve(NULL, unit, 0, 0, 0));
    REFUSED(INVALID_VALUE, cu.cuMemCreate(&handle, unit + 1, &prop, 0));
    REFUSED(INVALID_VALUE, cu.cuMemCreate(&handle, unit, NULL, 0));
    REFUSED(INVALID_VALUE, cu.cuMemCreate(&handle, unit, &prop, 1));
    REFUSED(OUT_OF_MEMORY, cu.cuMemCreate(&handle, (size_t)1 << 46, &prop, 0));
    OK(cu.cuMemAddressReserve(&range, 2 * unit, 0, 0, 0));
    OK(cu.cuMemCreate(&handle, unit, &prop, 0));
    /* An H100 maps the whole memory, or none of it. */
    REFUSED(NOT_SUPPORTED, cu.cuMemMap(range, unit, unit, handle, 0));
    REFUSED(NOT_SUPPORTED, cu.cuMemMap(range, 2 * unit, 0, handle, 0));
    REFUSED(NOT_SUPPORTED, cu.cuMemMap(range, unit / 2, 0, handle, 0));
    REFUSED(INVALID_VALUE, cu.cuMemMap(range, 0, 0, handle, 0));
    REFUSED(INVALID_VALUE, cu.cuMemMap(range, unit, 0, handle, 1));
    REFUSED(INVALID_VALUE, cu.cuMemMap(range + 1, unit, 0, handle, 0));
    OK(cu.cuMemMap(range, unit, 0, handle, 0));
    CHECK(cu.cuMemMap(range, unit, 0, handle, 0) != CUDA_SUCCESS); /* mapped already */
    OK(cu.cuMemUnmap(range + unit, unit)); /* nothing is mapped there: nothing to do */
    REFUSED(INVALID_VALUE, cu.cuMemUnmap(range + 1, unit));
    REFUSED(INVALID_VALUE, cu.cuMemSetAccess(range, unit, NULL, 1));
    CHECK(cu.cuMemAddressFree(range, 2 * unit) != CUDA_SUCCESS); /* still mapped */
    REFUSED(INVALID_VALUE, cu.cuMemFree(range));
    OK(cu.cuMemUnmap(range, unit));
    OK(cu.cuMemRelease(handle));
    OK(cu.cuMemAddressFree(range, 2 * unit));
    OK(cu.cuMemAddressReserve(&other, unit, 0, 0, 0));
    OK(cu.cuMemAddressFree(other, unit));
    if (driver_is_soft) {
        REFUSED(INVALID_VALUE, cu.cuMemRelease(handle));
        REFUSED(INVALID_VALUE, cu.cuMemRelease(12345));
        REFUSED(INVALID_VALUE, cu.cuMemAddressFree(other, unit));
    }
}

/* A mapping goes as a whole: half of one is refused, what lies beside it is not looked
 * at. */
static void mappings_end_as_a_whole(void)
{
    CUdeviceptr range = 0;
    CUmemGenericAllocationHandle handle = 0;
    unsigned char byte = 0;
    OK(cu.cuMemAddressReserve(&range, 4 * unit, 0, 0, 0));
    OK(cu.cuMemUnmap(range, unit));
    OK(cu.cuMemCreate(&handle, 2 * unit, &prop, 0));
    OK(cu.cuMemMap(range, 2 * unit, 0, handle, 0));
    REFUSED(INVALID_VALUE, cu.cuMemSetAccess(range, unit, &both, 1));
    OK(cu.cuMemSetAccess(range, 2 * unit, &both, 1));
    OK(cu.cuMemsetD8(range, 5, 2 * unit));
    REFUSED(INVALID_VALUE, cu.cuMemUnmap(range, unit));
    REFUSED(INVALID_VALUE, cu.cuMemUnmap(range + unit, unit));
    OK(cu.cuMemcpyDtoH(&byte, range + unit, 1));
    CHECK(byte == 5);
    OK(cu.cuMemUnmap(range, 3 * unit));
    REFUSED(INVALID_VALUE, cu.cuMemcpyDtoH(&byte, range, 1));
    OK(cu.cuMemRelease(handle));
    OK(cu.cuMemAddressFree(range, 4 * unit));
    REFUSED(INVALID_VALUE, cu.cuMemUnmap(range, unit));
}

int main(void)
{
    DEVICE_OR_SKIP();
    use_primary();
    OK(cu.cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    RUN(granularity_is_two_mib);
    RUN(map_use_unmap);
    RUN(one_memory_at_two_addresses);
    RUN(neighbours_are_one_range);
    RUN(wrong_ways_are_refused);
    RUN(mappings_end_as_a_whole);
    return test_done();
}
