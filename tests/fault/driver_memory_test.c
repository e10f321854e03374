// SPDX-License-Identifier: Apache-2.0
/* Each allocation of softcuda's own fails in turn: every call gives
 * CUDA_ERROR_OUT_OF_MEMORY or succeeds, nothing crashes, and afterwards everything works.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/driver.h"
#include "conformance/kernels.h"

static long (*fail_allocation)(long nth);
static int failures; /* of this round */

/* True where the call worked; else it must have been for want of memory. */
static bool worked(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return true;
    failures++;
    if (!CHECK(result == CUDA_ERROR_OUT_OF_MEMORY))
        fprintf(stderr, "  %s gave %d\n", what, (int)result);
    return false;
}
#define TRY(expr) worked(expr, #expr)

/* Before this process uses the driver: in a child for each allocation of cuInit(). */
static void init_survives_every_failed_allocation(void)
{
    bool through = false;
    for (long nth = 0; !through && nth < 1000; nth++) {
        const pid_t child = fork();
        if (child == 0) {
            fail_allocation(nth);
            const CUresult first = cu.cuInit(0);
            fail_allocation(-1);
            const CUresult second = cu.cuInit(0);
            const bool right =
                second == CUDA_SUCCESS &&
                (first == CUDA_SUCCESS || first == CUDA_ERROR_OUT_OF_MEMORY);
            if (!right)
                fprintf(stderr, "  allocation %ld: %d, then %d\n", nth, (int)first,
                        (int)second);
            _exit(!right ? 1 : first == CUDA_SUCCESS ? 2 : 0);
        }
        int ended = 0;
        CHECK(waitpid(child, &ended, 0) == child);
        if (!CHECK(WIFEXITED(ended) && WEXITSTATUS(ended) != 1))
            return;
        through = WEXITSTATUS(ended) == 2;
        CHECK(!through || nth > 0);
    }
    CHECK(through);
}

static void use_memory(void)
{
    CUdeviceptr p = 0;
    void *host = NULL;
    if (TRY(cu.cuMemAlloc(&p, 100000))) {
        TRY(cu.cuMemsetD8(p, 1, 100000));
        OK(cu.cuMemFree(p));
    }
    if (TRY(cu.cuMemAllocHost(&host, 5000)))
        OK(cu.cuMemFreeHost(host));
    CUarray array;
    const CUDA_ARRAY_DESCRIPTOR desc = {
        .Width = 8, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    if (TRY(cu.cuArrayCreate(&array, &desc)))
        OK(cu.cuArrayDestroy(array));
}

static void use_pools(CUstream stream)
{
    CUmemoryPool pool;
    const CUmemPoolProps props = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    if (!TRY(cu.cuMemPoolCreate(&pool, &props)))
        return;
    CUdeviceptr p = 0;
    if (TRY(cu.cuMemAllocFromPoolAsync(&p, 4096, pool, stream)) &&
        !TRY(cu.cuMemFreeAsync(p, stream)))
        OK(cu.cuMemFree(p));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemPoolDestroy(pool));
}

static void use_mappings(void)
{
    CUdeviceptr range = 0;
    CUmemGenericAllocationHandle handle = 0;
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    if (!TRY(cu.cuMemAddressReserve(&range, 2 << 20, 0, 0, 0)))
        return;
    if (TRY(cu.cuMemCreate(&handle, 2 << 20, &prop, 0))) {
        if (TRY(cu.cuMemMap(range, 2 << 20, 0, handle, 0)))
            OK(cu.cuMemUnmap(range, 2 << 20));
        OK(cu.cuMemRelease(handle));
    }
    OK(cu.cuMemAddressFree(range, 2 << 20));
}

static void use_code(void)
{
    CUmodule module;
    CUfunction f;
    CUlibrary library;
    if (TRY(cu.cuModuleLoadData(&module, kernels_ptx))) {
        OK(cu.cuModuleGetFunction(&f, module, "nothing"));
        TRY(cu.cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
        TRY(cu.cuCtxSynchronize());
        OK(cu.cuModuleUnload(module));
    }
    if (TRY(cu.cuLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0))) {
        CUkernel kernel;
        OK(cu.cuLibraryGetKernel(&kernel, library, "nothing"));
        TRY(cu.cuKernelGetFunction(&f, kernel));
        OK(cu.cuLibraryUnload(library));
    }
}

static void one_round(void)
{
    CUcontext context;
    if (!TRY(cu.cuCtxCreate(&context, NULL, 0, 0)))
        return;
    CUstream stream;
    CUlogsCallbackHandle none;
    use_memory();
    use_mappings();
    if (TRY(cu.cuStreamCreate(&stream, 0))) {
        use_pools(stream);
        OK(cu.cuStreamDestroy(stream));
    }
    use_code();
    REFUSED(INVALID_VALUE, cu.cuLogsRegisterCallback(NULL, NULL, &none));
    OK(cu.cuCtxDestroy(context));
}

static size_t free_bytes(void)
{
    size_t free_now = 0, total;
    CUcontext context;
    OK(cu.cuCtxCreate(&context, NULL, 0, 0));
    OK(cu.cuMemGetInfo(&free_now, &total));
    OK(cu.cuCtxDestroy(context));
    return free_now;
}

static void calls_survive_every_failed_allocation(void)
{
    OK(cu.cuInit(0));
    fail_allocation(-1);
    one_round(); /* what is made once is there */
    CHECK(failures == 0);
    const size_t before = free_bytes();
    bool reached = true; /* the failing allocation */
    long nth = 0;
    for (; reached && nth < 20000 && atomic_load(&test_failures) < 20; nth++) {
        failures = 0;
        fail_allocation(nth);
        one_round();
        reached = fail_allocation(-1) < 0;
        CHECK(reached || failures == 0);
    }
    CHECK(!reached && nth > 10);
    failures = 0;
    CHECK(free_bytes() == before);
    one_round();
    CHECK(failures == 0);
}

int main(void)
{
    DRIVER_OR_SKIP();
    *(void **)&fail_allocation = dlsym(driver_library, "gph_softcuda_fail_allocation");
    if (fail_allocation == NULL) {
        printf("only softcuda can be made to fail\n");
        return 77;
    }
    RUN(init_survives_every_failed_allocation);
    RUN(calls_survive_every_failed_allocation);
    return test_done();
}
