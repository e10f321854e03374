// SPDX-License-Identifier: Apache-2.0
/* Memory pools: attributes, what is used, limits, access, the device's pool, and pointers
 * that go through a descriptor. */
#include "check.h"
#include <cstdint>

static cudaStream_t stream;

static cudaMemPool_t make(size_t most, cudaMemAllocationHandleType types)
{
    cudaMemPool_t pool = NULL;
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.handleTypes = types;
    props.location.type = cudaMemLocationTypeDevice;
    props.maxSize = most;
    OK(cudaMemPoolCreate(&pool, &props));
    return pool;
}

static unsigned long long value(cudaMemPool_t pool, cudaMemPoolAttr which)
{
    uint64_t got = 0;
    OK(cudaMemPoolGetAttribute(pool, which, &got));
    return got;
}

static void attributes(cudaMemPool_t pool)
{
    for (int which = 1; which <= 8; which++)
        printf("attribute %d is %llu\n", which, value(pool, (cudaMemPoolAttr)which));
    int no = 0;
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &no));
    printf("opportunistic %d\n", (int)value(pool, cudaMemPoolReuseAllowOpportunistic));
    uint64_t bytes = 8 << 20;
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes));
    printf("threshold %llu\n", value(pool, cudaMemPoolAttrReleaseThreshold));
    FAILS(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes));
    FAILS(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes));
    bytes = 0;
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes));
}

static void *allocations(cudaMemPool_t pool)
{
    void *kept = NULL, *other = NULL;
    OK(cudaMallocFromPoolAsync(&kept, 1 << 20, pool, stream));
    OK(cudaMallocFromPoolAsync(&other, 3 << 20, pool, stream));
    printf("used %llu\n", value(pool, cudaMemPoolAttrUsedMemCurrent));
    OK(cudaFreeAsync(other, stream));
    OK(cudaStreamSynchronize(stream));
    printf("used %llu, at most %llu\n", value(pool, cudaMemPoolAttrUsedMemCurrent),
           value(pool, cudaMemPoolAttrUsedMemHigh));
    FAILS(cudaMallocFromPoolAsync(&other, 128 << 20, pool, stream));
    FAILS(cudaMallocFromPoolAsync(&other, 0, pool, stream));
    OK(cudaMemPoolTrimTo(pool, 0));
    FAILS(cudaFreeAsync(NULL, stream));
    FAILS(cudaFreeAsync((void *)0x1000, stream));
    return kept;
}

static void access(cudaMemPool_t pool)
{
    cudaMemAccessFlags flags;
    cudaMemAccessDesc wanted = {};
    wanted.location.type = cudaMemLocationTypeDevice;
    wanted.flags = cudaMemAccessFlagsProtReadWrite;
    OK(cudaMemPoolGetAccess(&flags, pool, &wanted.location));
    printf("access %d\n", flags);
    OK(cudaMemPoolSetAccess(pool, &wanted, 1));
    wanted.flags = cudaMemAccessFlagsProtNone;
    FAILS(cudaMemPoolSetAccess(pool, &wanted, 1));
    wanted.flags = cudaMemAccessFlagsProtRead;
    FAILS(cudaMemPoolSetAccess(pool, &wanted, 1));
    wanted.location.id = 99;
    FAILS(cudaMemPoolGetAccess(&flags, pool, &wanted.location));
}

static void of_the_device(cudaMemPool_t pool)
{
    cudaMemPool_t first, current;
    void *memory;
    OK(cudaDeviceGetDefaultMemPool(&first, 0));
    OK(cudaDeviceSetMemPool(0, pool));
    OK(cudaDeviceGetMemPool(&current, 0));
    printf("the device's: %d\n", current == pool);
    OK(cudaMallocAsync(&memory, 256, stream));
    printf("used %llu\n", value(pool, cudaMemPoolAttrUsedMemCurrent));
    OK(cudaFree(memory));
    OK(cudaDeviceSetMemPool(0, first));
    FAILS(cudaMemPoolDestroy(first));
    FAILS(cudaMemPoolCreate(&current, NULL));
}

static void through_a_descriptor()
{
    cudaMemPool_t pool = make(0, cudaMemHandleTypePosixFileDescriptor), imported;
    cudaMemPoolPtrExportData data;
    int file = -1, word = 0;
    void *memory, *again, *none;
    OK(cudaMemPoolExportToShareableHandle(&file, pool,
                                          cudaMemHandleTypePosixFileDescriptor, 0));
    OK(cudaMallocFromPoolAsync(&memory, 4096, pool, stream));
    OK(cudaMemsetAsync(memory, 5, 4096, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemPoolExportPointer(&data, memory));
    OK(cudaMemPoolImportFromShareableHandle(&imported, (void *)(uintptr_t)file,
                                            cudaMemHandleTypePosixFileDescriptor, 0));
    OK(cudaMemPoolImportPointer(&again, imported, &data));
    OK(cudaMemcpy(&word, again, 4, cudaMemcpyDefault));
    printf("imported %#x\n", word);
    FAILS(cudaMallocFromPoolAsync(&none, 64, imported, stream));
    OK(cudaFreeAsync(again, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaFreeAsync(memory, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemPoolDestroy(imported));
    OK(cudaMemPoolDestroy(pool));
}

int main()
{
    OK(cudaStreamCreate(&stream));
    cudaMemPool_t pool = make(64 << 20, cudaMemHandleTypeNone);
    int file;
    FAILS(cudaMemPoolExportToShareableHandle(&file, pool,
                                             cudaMemHandleTypePosixFileDescriptor, 0));
    attributes(pool);
    void *kept = allocations(pool);
    access(pool);
    of_the_device(pool);
    OK(cudaFreeAsync(kept, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemPoolDestroy(pool));
    through_a_descriptor();
    OK(cudaStreamDestroy(stream));
}
