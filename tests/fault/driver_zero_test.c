// SPDX-License-Identifier: Apache-2.0
/* Every exported symbol is called with nothing but zeros, and with a dead handle for each
 * argument: each gives an answer. (NVIDIA's driver crashes on some: softcuda only.) */
#include "conformance/driver.h"

typedef CUresult entry_fn(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                          uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static const char *const symbols[] = {
#define X(symbol, name, version, per_thread, args) #symbol,
    GPHI_CUDA_SYMBOLS(X)
#undef X
};

static bool is_result(CUresult result)
{
    switch (result) {
#define X(name, value, text)                                                             \
    case name: return true;
        GPHI_CUDA_RESULTS(X)
#undef X
    }
    return false;
}

static void call_with(const char *symbol, uint64_t x)
{
    entry_fn *entry;
    *(void **)&entry = dlsym(driver_library, symbol);
    if (!CHECK(entry != NULL))
        return;
    CUcontext context = NULL; /* an earlier call may have ended it */
    OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
    OK(cu.cuCtxSetCurrent(context));
    const CUresult result = entry(x, x, x, x, x, x, x, x, x, x, x, x);
    if (!CHECK(is_result(result)))
        fprintf(stderr, "  %s gave %d\n", symbol, (int)result);
    (void)cu.cuDevicePrimaryCtxRelease(0); /* it may just have been reset */
}

static void every_symbol_takes_zeros(void)
{
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
        call_with(symbols[i], 0);
}

static const char *const of_handles[] = {"cuCtxDestroy_v2",
                                         "cuCtxPushCurrent_v2",
                                         "cuCtxSetCurrent",
                                         "cuModuleUnload",
                                         "cuLibraryUnload",
                                         "cuStreamDestroy_v2",
                                         "cuStreamSynchronize",
                                         "cuStreamQuery",
                                         "cuEventDestroy_v2",
                                         "cuEventSynchronize",
                                         "cuEventQuery",
                                         "cuEventRecord",
                                         "cuGraphDestroy",
                                         "cuGraphExecDestroy",
                                         "cuGraphLaunch",
                                         "cuGraphUpload",
                                         "cuGraphDestroyNode",
                                         "cuMemPoolDestroy",
                                         "cuMemPoolTrimTo",
                                         "cuArrayDestroy",
                                         "cuFuncSetCacheConfig",
                                         "cuFuncLoad",
                                         "cuLaunchKernel",
                                         "cuLaunchCooperativeKernel",
                                         "cuStreamBeginCapture_v2",
                                         "cuStreamEndCapture",
                                         "cuMemFree_v2",
                                         "cuMemFreeHost",
                                         "cuMemHostUnregister",
                                         "cuMemRelease",
                                         "cuMemUnmap",
                                         "cuMemAddressFree",
                                         "cuLogsUnregisterCallback",
                                         "cuMemFreeAsync",
                                         "cuCtxDisablePeerAccess",
                                         "cuKernelSetCacheConfig",
                                         "cuUserObjectRelease",
                                         "cuDeviceSetMemPool",
                                         "cuStreamWaitEvent",
                                         "cuGraphNodeGetType",
                                         "cuLaunchHostFunc"};

/* Handles are looked up before anything else is read, so calls whose first argument is a
 * handle are safe with garbage in all others. */
static void calls_of_handles_refuse_garbage(void)
{
    static uint64_t garbage[512];
    for (size_t i = 0; i < sizeof(of_handles) / sizeof(of_handles[0]); i++) {
        entry_fn *entry;
        *(void **)&entry = dlsym(driver_library, of_handles[i]);
        CUcontext context = NULL;
        OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
        OK(cu.cuCtxSetCurrent(context));
        const uint64_t wrong[] = {8, (uint64_t)(uintptr_t)garbage,
                                  (uint64_t)(uintptr_t)context, UINT64_MAX,
                                  UINT64_MAX << 56};
        for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
            if (wrong[k] == (uint64_t)(uintptr_t)context &&
                strncmp(of_handles[i], "cuCtx", 5) == 0)
                continue;
            const uint64_t g = (uint64_t)(uintptr_t)garbage;
            const CUresult result = entry(wrong[k], g, g, g, g, g, g, g, g, g, g, g);
            if (!CHECK(result != CUDA_SUCCESS && is_result(result)))
                fprintf(stderr, "  %s(0x%llx) gave %d\n", of_handles[i],
                        (unsigned long long)wrong[k], (int)result);
        }
        OK(cu.cuDevicePrimaryCtxRelease(0));
    }
}

int main(void)
{
    DEVICE_OR_SKIP();
    if (!driver_is_soft) {
        printf("zeros crash the real driver\n");
        return 77;
    }
    RUN(every_symbol_takes_zeros);
    RUN(calls_of_handles_refuse_garbage);
    return test_done();
}
