// SPDX-License-Identifier: Apache-2.0
/* Capture three kernels once, then replay them with one launch each time. */
#include <gph/gph.h>
#include <stdio.h>
#include <stdlib.h>

static gph_error error;

static void must(gph_status status)
{
    if (status != GPH_OK) {
        fprintf(stderr, "hello: %s %s\n", error.message, error.hint);
        exit(1);
    }
}
#define CU(name, ...) must(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error))
#define LAUNCH(kernel, blocks, ...)                                                      \
    CU(LaunchKernel, kernel, blocks, 1, 1, 128, 1, 1, 0, stream,                         \
       (void *[]){__VA_ARGS__}, 0)

int main(void)
{
    static char ptx[1 << 20];
    FILE *file = fopen(HELLO_PTX, "rb");
    if (file == NULL || fread(ptx, 1, sizeof(ptx) - 1, file) == 0 || fclose(file) != 0)
        return perror(HELLO_PTX), 1;

    gph_options options = GPH_OPTIONS_INIT; /* a GPU where there is one, else softcuda */
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    gph_runtime *gph;
    must(gph_open(&options, &gph, &error));
    const gph_cuda_calls *cu = gph_cuda(gph);
    CUcontext context;
    CUmodule module;
    CUstream stream;
    CUfunction fill, scale_add, total;
    CUdeviceptr x, y, sum;
    unsigned n = 1000;
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(ModuleLoadData, &module, ptx);
    CU(ModuleGetFunction, &fill, module, "fill");
    CU(ModuleGetFunction, &scale_add, module, "scale_add");
    CU(ModuleGetFunction, &total, module, "total");
    CU(StreamCreate, &stream, 1);
    CU(MemAlloc, &x, n * sizeof(float));
    CU(MemAlloc, &y, n * sizeof(float));
    CU(MemAlloc, &sum, sizeof(float));
    CU(MemsetD8Async, y, 0, n * sizeof(float), stream);

    float one = 1, two = 2; /* between begin and end nothing runs: the stream records */
    gph_capture *capture;
    CUgraph graph;
    gph_exec *exec;
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    LAUNCH(fill, 8, &x, &one, &n);
    LAUNCH(scale_add, 8, &y, &x, &two, &n); /* y = 2 y + x */
    LAUNCH(total, 1, &sum, &y, &n);
    must(gph_capture_end(capture, &graph, &error));
    must(gph_exec_create(gph, graph, NULL, &exec, &error));
    CU(GraphDestroy, graph);

    for (int i = 1; i <= 5; i++) {
        float result;
        must(gph_exec_launch(exec, stream, &error)); /* all three kernels */
        CU(MemcpyDtoHAsync, &result, sum, sizeof(result), stream);
        CU(StreamSynchronize, stream);
        printf("replay %d: the sum of %u elements is %g\n", i, n, (double)result);
    }
    gph_exec_destroy(exec);
    CU(DevicePrimaryCtxRelease, 0);
    gph_close(gph);
    return 0;
}
