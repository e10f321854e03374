// SPDX-License-Identifier: Apache-2.0
/* Many threads use one driver at once: own streams and modules, shared contexts. */
#include <pthread.h>

#include "driver.h"
#include "kernels.h"

enum { THREADS = 6, ROUNDS = 20, COUNT = 512 };

static CUcontext shared;

static void add_once(CUfunction add, CUstream stream)
{
    static const float a[COUNT] = {1, 2, 3};
    float c[COUNT];
    CUdeviceptr da, dc;
    unsigned n = COUNT;
    OK(cu.cuMemAlloc(&da, sizeof(a)));
    OK(cu.cuMemAllocAsync(&dc, sizeof(c), stream));
    OK(cu.cuMemcpyHtoDAsync(da, a, sizeof(a), stream));
    void *params[] = {&dc, &da, &da, &n};
    OK(cu.cuLaunchKernel(add, COUNT / 64, 1, 1, 64, 1, 1, 0, stream, params, NULL));
    OK(cu.cuMemcpyDtoHAsync(c, dc, sizeof(c), stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(c[0] == 2 && c[2] == 6 && c[COUNT - 1] == 0);
    OK(cu.cuMemFreeAsync(dc, stream));
    OK(cu.cuMemFree(da));
}

static void *uses_the_shared_context(void *unused)
{
    (void)unused;
    OK(cu.cuCtxSetCurrent(shared));
    for (int i = 0; i < ROUNDS; i++) {
        CUmodule module;
        CUfunction add;
        CUstream stream;
        OK(cu.cuModuleLoadData(&module, kernels_ptx));
        OK(cu.cuModuleGetFunction(&add, module, "add"));
        OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        add_once(add, stream);
        add_once(add, CU_STREAM_PER_THREAD);
        OK(cu.cuStreamDestroy(stream));
        OK(cu.cuModuleUnload(module));
    }
    return NULL;
}

static void *makes_contexts(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS / 2; i++) {
        CUcontext mine = NULL;
        CUmodule module;
        CUfunction add;
        OK(cu.cuCtxCreate(&mine, NULL, 0, 0));
        OK(cu.cuModuleLoadData(&module, kernels_ptx));
        OK(cu.cuModuleGetFunction(&add, module, "add"));
        add_once(add, NULL);
        OK(cu.cuCtxDestroy(mine));
    }
    return NULL;
}

static void *makes_mistakes(void *unused)
{
    (void)unused;
    OK(cu.cuCtxSetCurrent(shared));
    for (int i = 0; i < ROUNDS * 5; i++) {
        CUdevice device;
        CUdeviceptr p;
        REFUSED(INVALID_DEVICE, cu.cuDeviceGet(&device, 99));
        REFUSED(INVALID_VALUE, cu.cuMemAlloc(&p, 0));
    }
    return NULL;
}

static void threads_share_a_driver(void)
{
    void *(*const bodies[THREADS])(void *) = {
        uses_the_shared_context, uses_the_shared_context, uses_the_shared_context,
        makes_contexts,          makes_contexts,          makes_mistakes};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, bodies[i], NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    OK(cu.cuCtxSynchronize());
}

/* A library's module is made once a context, whichever thread asks first. */
static CUlibrary library;

static void *asks_for_the_kernel(void *unused)
{
    (void)unused;
    OK(cu.cuCtxSetCurrent(shared));
    CUkernel kernel = NULL;
    CUfunction function = NULL;
    OK(cu.cuLibraryGetKernel(&kernel, library, "nothing"));
    OK(cu.cuKernelGetFunction(&function, kernel));
    OK(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, NULL,
                         NULL));
    OK(cu.cuStreamSynchronize(CU_STREAM_PER_THREAD));
    return function;
}

static void a_library_loads_once(void)
{
    OK(cu.cuLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
    pthread_t threads[THREADS];
    void *functions[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, asks_for_the_kernel, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], &functions[i]);
    for (int i = 1; i < THREADS; i++)
        CHECK(functions[i] == functions[0]);
    OK(cu.cuLibraryUnload(library));
}

int main(void)
{
    DEVICE_OR_SKIP();
    shared = use_primary();
    RUN(threads_share_a_driver);
    RUN(a_library_loads_once);
    return test_done();
}
