// SPDX-License-Identifier: Apache-2.0
/* What benches of kernels beside C share: softcuda, and the order of samples. */
#include "beside.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

#define TRIES 5

static struct {
    const char *program;
    const gph_cuda_calls *cu;
    CUstream stream;
    gph_error error;
} side;

static void must(gph_status status, const char *what)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "%s: %s: %s %s\n", side.program, what, side.error.message,
            side.error.hint);
    exit(1);
}
#define CU(name, ...)                                                                    \
    must(gph_cuda_check(side.cu->name(__VA_ARGS__), "cu" #name, &side.error), #name)

void beside_open(const char *program, const char *threads)
{
    gph_options options = GPH_OPTIONS_INIT;
    gph_runtime *gph;
    CUcontext context;
    side.program = program;
    setenv("SOFTCUDA_TIER", "best", 0);
    setenv("SOFTCUDA_WORKERS", threads, 1);
    omp_set_num_threads(atoi(threads));
    options.driver = GPH_DRIVER_SOFT;
    must(gph_open(&options, &gph, &side.error), "gph_open");
    side.cu = gph_cuda(gph);
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(StreamCreate, &side.stream, 1);
}

CUmodule beside_module(const char *path)
{
    static char ptx[1 << 20];
    CUmodule module;
    FILE *file = fopen(path, "rb");
    const size_t bytes = file ? fread(ptx, 1, sizeof(ptx) - 1, file) : 0;
    if (bytes == 0 || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    ptx[bytes] = '\0';
    CU(ModuleLoadData, &module, ptx);
    return module;
}

CUfunction beside_function(CUmodule module, const char *name)
{
    CUfunction function;
    CU(ModuleGetFunction, &function, module, name);
    return function;
}

void *beside_memory(size_t bytes)
{
    CUdeviceptr at;
    CU(MemAlloc, &at, bytes);
    return (void *)(uintptr_t)at;
}

void beside_free(void *memory)
{
    if (memory)
        CU(MemFree, (CUdeviceptr)(uintptr_t)memory);
}

void beside_launch(CUfunction function, const unsigned grid[3], const unsigned block[3],
                   void **params)
{
    CU(LaunchKernel, function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0,
       side.stream, params, NULL);
    CU(StreamSynchronize, side.stream);
}

/* Threads of the side that ran last spin for a while, on the other side's cores. */
static void settle(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static double sample(const beside_side *s)
{
    double best = 1e30;
    settle();
    for (unsigned k = 0; k < TRIES; k++) {
        s->reset(s->user);
        const double from = now_us();
        s->work(s->user);
        const double took = now_us() - from;
        best = took < best ? took : best;
    }
    return best;
}

void beside_measure(const beside_side *soft, const beside_side *plain, unsigned samples,
                    double medians[2])
{
    static double a[BESIDE_SAMPLES_MAX], b[BESIDE_SAMPLES_MAX];
    for (unsigned s = 0; s < samples; s++) {
        a[s] = sample(soft);
        b[s] = sample(plain);
    }
    medians[0] = median(a, (int)samples);
    medians[1] = median(b, (int)samples);
}
