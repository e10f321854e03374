// SPDX-License-Identifier: Apache-2.0
/* Capture three kernels once, then replay them with one launch each time. */
#include <gph/gph.h>
#include <stdio.h>
#include <stdlib.h>

static gph_error error;
#define MUST(call) ((call) == GPH_OK ? (void)0 : (puts(error.message), exit(1)))
#define CU(name, ...) MUST(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error))
#define LAUNCH(kernel, blocks, ...)                                                      \
    CU(LaunchKernel, kernel, blocks, 1, 1, 128, 1, 1, 0, stream,                         \
       (void *[]){__VA_ARGS__}, 0)

int main(void)
{
    gph_options options = GPH_OPTIONS_INIT; /* a GPU where there is one, else softcuda */
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    gph_runtime *gph;
    MUST(gph_open(&options, &gph, &error));
    const gph_cuda_calls *cu = gph_cuda(gph);
    CUcontext context;
    CUmodule module;
    CUstream stream;
    CUfunction fill, scale_add, total;
    CUdeviceptr x, y, sum;
    unsigned n = 1000;
    float one = 1, two = 2, result;
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(ModuleLoad, &module, HELLO_PTX);
    CU(ModuleGetFunction, &fill, module, "fill");
    CU(ModuleGetFunction, &scale_add, module, "scale_add");
    CU(ModuleGetFunction, &total, module, "total");
    CU(StreamCreate, &stream, 1); /* non-blocking */
    CU(MemAlloc, &x, n * sizeof(float));
    CU(MemAlloc, &y, n * sizeof(float));
    CU(MemAlloc, &sum, sizeof(float));
    CU(MemsetD8Async, y, 0, n * sizeof(float), stream);

    gph_capture *capture; /* between begin and end nothing runs: the stream records */
    CUgraph graph;
    gph_exec *exec;
    MUST(gph_capture_begin(gph, stream, NULL, &capture, &error));
    LAUNCH(fill, 8, &x, &one, &n);
    LAUNCH(scale_add, 8, &y, &x, &two, &n); /* y = 2 y + x */
    LAUNCH(total, 1, &sum, &y, &n);
    MUST(gph_capture_end(capture, &graph, &error));
    MUST(gph_exec_create(gph, graph, NULL, &exec, &error));

    for (int i = 1; i <= 5; i++) {
        MUST(gph_exec_launch(exec, stream, &error)); /* all three kernels */
        CU(MemcpyDtoHAsync, &result, sum, sizeof(result), stream);
        CU(StreamSynchronize, stream);
        printf("replay %d: the sum of %u elements is %g\n", i, n, (double)result);
    }
    gph_exec_destroy(exec);
    CU(GraphDestroy, graph);
    gph_close(gph);
    return 0;
}
