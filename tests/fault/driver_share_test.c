// SPDX-License-Identifier: Apache-2.0
/* What processes share, made under want of memory: whole or not at all. One process imports
 * its own memory and pool here; two are in conformance/share_test. */
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
    return test_done();
}
