// SPDX-License-Identifier: Apache-2.0
/* Ten halvings of a vector, until its sum is small, by one launch: the device decides after
 * each step whether there is another one. The second loop's condition never changes; its
 * ceiling ends it. */
#include <gph/gph.h>
#include <stdio.h>
#include <stdlib.h>

static gph_error error;

static void must(gph_status status)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "loop: %s\n", error.message);
    exit(1);
}
#define CU(name, ...) must(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error))

static gph_runtime *gph;
static const gph_cuda_calls *cu;
static CUstream stream;
static CUdeviceptr x, y, sum, more;
static unsigned n = 1024;

static void fill(CUdeviceptr at, unsigned value, unsigned count)
{
    CU(MemsetD32Async, at, value, count, stream);
}

/* A step: x = x / 2 + y, then its sum, and whether that is above 1. */
static CUgraph record(void)
{
    gph_capture *capture = NULL;
    CUmodule module;
    CUfunction halve, check;
    CUgraph step = NULL;
    float half = 0.5f, limit = 1;
    CU(ModuleLoad, &module, HELLO_PTX);
    CU(ModuleGetFunction, &halve, module, "scale_add");
    CU(ModuleGetFunction, &check, module, "total_above");
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    void *one[] = {&x, &y, &half, &n}, *two[] = {&sum, &more, &x, &limit, &n};
    CU(LaunchKernel, halve, n / 128, 1, 1, 128, 1, 1, 0, stream, one, NULL);
    CU(LaunchKernel, check, 1, 1, 1, 128, 1, 1, 0, stream, two, NULL);
    must(gph_capture_end(capture, &step, &error));
    return step;
}

int main(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    CUcontext context;
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    must(gph_open(&options, &gph, &error));
    cu = gph_cuda(gph);
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(StreamCreate, &stream, 1);
    CU(MemAlloc, &x, n * 4);
    CU(MemAlloc, &y, n * 4);
    CU(MemAlloc, &sum, 8);
    more = sum + 4;
    fill(x, 0x3f800000, n); /* 1024 ones */
    fill(y, 0, n);
    fill(more, 1, 1);

    CUgraph step = record();
    gph_loop_options how = GPH_LOOP_OPTIONS_INIT;
    gph_loop_result result = GPH_SIZED(gph_loop_result);
    gph_loop *loop = NULL;
    how.condition = more;
    how.ceiling = 100;
    how.name = "halving";
    must(gph_loop_create(gph, step, &how, &loop, &error));
    must(gph_loop_launch(loop, stream, &error));
    must(gph_loop_wait(loop, stream, &result, &error));
    float total;
    CU(MemcpyDtoH, &total, sum, 4);
    printf("%llu steps: the sum is %g\n", (unsigned long long)result.steps, total);

    fill(y, 0x3f800000, n); /* now every step adds 1: it never gets small */
    fill(more, 1, 1);
    must(gph_loop_launch(loop, stream, &error));
    if (gph_loop_wait(loop, stream, &result, &error) != GPH_E_STATE)
        return 1;
    const char *why = result.end == GPH_LOOP_CEILING && !result.changed
                          ? "its ceiling ended it, and its condition never changed"
                          : error.message;
    printf("%llu steps: %s\n", (unsigned long long)result.steps, why);
    gph_loop_destroy(loop);
    CU(GraphDestroy, step);
    gph_close(gph);
    return 0;
}
