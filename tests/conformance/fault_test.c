// SPDX-License-Identifier: Apache-2.0
/* Kernels that fail: the error is the context's from then on. On an H100 it is the whole
 * process's, which gets no other context any more; softcuda goes on with a fresh one. So
 * each test is a process of its own there. */
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"
#include "kernels.h"

static const char trap_ptx[] = PTX_HEAD ".visible .entry wrong() { trap; }\n";

static CUcontext context;
static CUmodule module;

static void begin(const char *ptx)
{
    OK(cu.cuCtxCreate(&context, NULL, 0, 0));
    OK(cu.cuModuleLoadData(&module, ptx));
}

/* Destroying works; whether the call still returns the error is the driver's choice. */
static void end(CUresult error)
{
    const CUresult ended = cu.cuCtxDestroy(context);
    CHECK(ended == CUDA_SUCCESS || ended == error);
}

/* Everything that would do work gives the error; the context can still be destroyed. */
static void is_dead_of(CUresult error)
{
    CUdeviceptr p;
    CUstream stream;
    CHECK_IS(cu.cuCtxSynchronize(), error);
    CHECK_IS(cu.cuCtxSynchronize(), error);
    CHECK_IS(cu.cuMemAlloc(&p, 16), error);
    CHECK_IS(cu.cuStreamCreate(&stream, 0), error);
    end(error);
    if (!driver_is_soft) {
        CHECK_IS(cu.cuCtxCreate(&context, NULL, 0, 0), error);
        return;
    }
    OK(cu.cuCtxCreate(&context, NULL, 0, 0));
    OK(cu.cuMemAlloc(&p, 16));
    OK(cu.cuMemsetD8(p, 1, 16));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemFree(p));
    OK(cu.cuCtxDestroy(context));
}

static void a_store_to_nowhere_is_an_illegal_address(void)
{
    begin(kernels_ptx);
    CUfunction f;
    CUdeviceptr nowhere = 16;
    unsigned v = 1;
    void *params[] = {&nowhere, &v};
    OK(cu.cuModuleGetFunction(&f, module, "store"));
    OK(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    is_dead_of(CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void a_freed_large_allocation_is_nowhere(void)
{
    begin(kernels_ptx);
    CUfunction f;
    CUdeviceptr p;
    unsigned v = 1;
    OK(cu.cuMemAlloc(&p, 64 << 20));
    OK(cu.cuMemFree(p));
    void *params[] = {&p, &v};
    OK(cu.cuModuleGetFunction(&f, module, "store"));
    OK(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    is_dead_of(CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void a_trap_is_a_launch_failure(void)
{
    begin(trap_ptx);
    CUfunction f;
    OK(cu.cuModuleGetFunction(&f, module, "wrong"));
    OK(cu.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    is_dead_of(CUDA_ERROR_LAUNCH_FAILED);
}

static void work_behind_a_fault_does_not_run(void)
{
    begin(kernels_ptx);
    CUfunction f;
    CUdeviceptr nowhere = 16;
    unsigned v = 1;
    void *params[] = {&nowhere, &v};
    unsigned *host = NULL;
    OK(cu.cuMemAllocHost((void **)&host, 4));
    *host = 5;
    OK(cu.cuModuleGetFunction(&f, module, "store"));
    OK(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    (void)cu.cuMemsetD32((CUdeviceptr)(uintptr_t)host, 6, 1);
    CHECK_IS(cu.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(*host == 5);
    end(CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void in_a_process(void (*test)(void))
{
    if (driver_is_soft) {
        test();
        return;
    }
    fflush(NULL);
    const pid_t child = fork(); /* before cuInit(): a driver does not survive a fork */
    if (child == 0) {
        if (device_wanted())
            test();
        else
            printf("no device\n");
        fflush(NULL);
        _exit(atomic_load(&test_failures) != 0);
    }
    int ended = -1;
    CHECK(waitpid(child, &ended, 0) == child && ended == 0);
}

#define ALONE(test)                                                                      \
    static void test##_alone(void)                                                       \
    {                                                                                    \
        in_a_process(test);                                                              \
    }
ALONE(a_store_to_nowhere_is_an_illegal_address)
ALONE(a_freed_large_allocation_is_nowhere)
ALONE(a_trap_is_a_launch_failure)
ALONE(work_behind_a_fault_does_not_run)

int main(void)
{
    DRIVER_OR_SKIP();
    if (driver_is_soft && !device_wanted()) {
        printf("no device\n");
        return 77;
    }
    RUN(a_store_to_nowhere_is_an_illegal_address_alone);
    RUN(a_freed_large_allocation_is_nowhere_alone);
    RUN(a_trap_is_a_launch_failure_alone);
    RUN(work_behind_a_fault_does_not_run_alone);
    return test_done();
}
