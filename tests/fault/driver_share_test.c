// SPDX-License-Identifier: Apache-2.0
/* What processes share, made under want of memory: whole or not at all. One process imports
 * its own memory and pool here; two are in conformance/share_test. */
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance/kernels.h"
#include "fault/sweep.h"

#define FD CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
static const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};

static void memory_is_exported_and_imported(void)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes = FD,
                                      .location = here};
    for (SWEEP(nth)) {
        CUmemGenericAllocationHandle handle = 0, twin = 0;
        int file = -1;
        fail_allocation(nth);
        const bool made = worked(cu.cuMemCreate(&handle, 2 << 20, &prop, 0), nth);
        const bool out =
            made && worked(cu.cuMemExportToShareableHandle(&file, handle, FD, 0), nth);
        const bool fine =
            out &&
            worked(cu.cuMemImportFromShareableHandle(&twin, (void *)(intptr_t)file, FD),
                   nth);
        END_OF_SWEEP(nth, fine);
        if (file >= 0)
            close(file);
        if (fine)
            OK(cu.cuMemRelease(twin));
        if (made)
            OK(cu.cuMemRelease(handle));
    }
    CHECK(swept > 1);
}

static void handles_and_events_come_whole_or_not(void)
{
    for (SWEEP(nth)) {
        CUdeviceptr at = 0;
        CUevent event = NULL;
        CUipcMemHandle memory;
        CUipcEventHandle handle;
        OK(cu.cuMemAlloc(&at, 4096));
        fail_allocation(nth);
        const bool made = worked(
            cu.cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING),
            nth);
        const bool fine = made && worked(cu.cuIpcGetEventHandle(&handle, event), nth) &&
                          worked(cu.cuIpcGetMemHandle(&memory, at), nth) &&
                          worked(cu.cuEventRecord(event, NULL), nth);
        END_OF_SWEEP(nth, fine);
        if (made) {
            OK(cu.cuEventSynchronize(event));
            OK(cu.cuEventDestroy(event));
        }
        OK(cu.cuMemFree(at));
    }
    CHECK(swept > 1);
}

/* The descriptor stays the program's where an import fails. */
static void external_objects_come_whole_or_not(void)
{
    for (SWEEP(nth)) {
        CUexternalMemory memory = NULL;
        CUexternalSemaphore semaphore = NULL;
        CUdeviceptr at = 0;
        CUmipmappedArray levels = NULL;
        int file = memfd_create("external", MFD_CLOEXEC), event = eventfd(0, EFD_CLOEXEC);
        CHECK(ftruncate(file, 1 << 16) == 0);
        const CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
            .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
            .handle.fd = file,
            .size = 1 << 16};
        const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC signals = {
            .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, .handle.fd = event};
        const CUDA_EXTERNAL_MEMORY_BUFFER_DESC all = {.size = 1 << 16};
        const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC image = {
            .arrayDesc = {.Width = 8,
                          .Height = 8,
                          .Format = CU_AD_FORMAT_FLOAT,
                          .NumChannels = 1},
            .numLevels = 2};
        fail_allocation(nth);
        const bool fine =
            worked(cu.cuImportExternalMemory(&memory, &desc), nth) &&
            worked(cu.cuExternalMemoryGetMappedBuffer(&at, memory, &all), nth) &&
            worked(cu.cuExternalMemoryGetMappedMipmappedArray(&levels, memory, &image),
                   nth) &&
            worked(cu.cuImportExternalSemaphore(&semaphore, &signals), nth);
        END_OF_SWEEP(nth, fine);
        if (at)
            OK(cu.cuMemFree(at));
        if (levels)
            OK(cu.cuMipmappedArrayDestroy(levels));
        CHECK(memory ? cu.cuDestroyExternalMemory(memory) == CUDA_SUCCESS
                     : close(file) == 0);
        CHECK(semaphore ? cu.cuDestroyExternalSemaphore(semaphore) == CUDA_SUCCESS
                        : close(event) == 0);
    }
    CHECK(swept > 3);
}

int main(void)
{
    CUstream stream;
    CUfunction store;
    CUdeviceptr memory;
    DRIVER_OR_SKIP();
    if (!can_fail())
        return 77;
    open_sweep(kernels_ptx, &stream, &store, &memory);
    RUN(memory_is_exported_and_imported);
    RUN(handles_and_events_come_whole_or_not);
    RUN(external_objects_come_whole_or_not);
    return test_done();
}
