// SPDX-License-Identifier: Apache-2.0
/* Capture three kernels once, then replay them with one launch each time. */
#include <gph/gph.h>
#include <stdio.h>
#include <stdlib.h>

static gph_error error;

static void must(gph_status status)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "hello: %s %s\n", error.message, error.hint);
    exit(1);
}
#define CU(name, ...) must(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error))

int main(void)
{
    /* A GPU where there is one, else softcuda: CPU threads. */
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    gph_runtime *gph = NULL;
    must(gph_open(&options, &gph, &error));
    const gph_cuda_calls *cu = gph_cuda(gph);

    CUcontext context;
    CUmodule module;
    CUstream stream;
    CUfunction fill, scale_add, total;
    CUdeviceptr x, y, sum;
    static char ptx[1 << 20];
    FILE *file = fopen(HELLO_PTX, "rb");
    if (file == NULL || fread(ptx, 1, sizeof(ptx) - 1, file) == 0)
        return perror(HELLO_PTX), 1;
    fclose(file);
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(ModuleLoadData, &module, ptx);
    CU(ModuleGetFunction, &fill, module, "fill");
    CU(ModuleGetFunction, &scale_add, module, "scale_add");
    CU(ModuleGetFunction, &total, module, "total");
    CU(StreamCreate, &stream, 1);
    unsigned n = 1000;
    CU(MemAlloc, &x, n * sizeof(float));
    CU(MemAlloc, &y, n * sizeof(float));
    CU(MemAlloc, &sum, sizeof(float));
    CU(MemsetD8, y, 0, n * sizeof(float));
    must(gph_cuda_check(cu->CtxSynchronize(), "cuCtxSynchronize", &error));

    /* Between begin and end nothing runs: the stream records. */
    float one = 1, two = 2;
    gph_capture *capture;
    CUgraph graph;
    gph_exec *exec;
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    CU(LaunchKernel, fill, 8, 1, 1, 128, 1, 1, 0, stream, (void *[]){&x, &one, &n}, NULL);
    CU(LaunchKernel, scale_add, 8, 1, 1, 128, 1, 1, 0, stream,
       (void *[]){&y, &x, &two, &n}, NULL);
    CU(LaunchKernel, total, 1, 1, 1, 128, 1, 1, 0, stream, (void *[]){&sum, &y, &n},
       NULL);
    must(gph_capture_end(capture, &graph, &error));
    must(gph_exec_create(gph, graph, NULL, &exec, &error));
    CU(GraphDestroy, graph);

    for (int i = 1; i <= 5; i++) { /* y = 2 y + 1, a thousand times side by side */
        float result;
        must(gph_exec_launch(exec, stream, &error));
        CU(MemcpyDtoHAsync, &result, sum, sizeof(result), stream);
        CU(StreamSynchronize, stream);
        printf("replay %d: the sum of %u elements is %g\n", i, n, (double)result);
    }
    gph_exec_destroy(exec);
    CU(ModuleUnload, module);
    CU(DevicePrimaryCtxRelease, 0);
    gph_close(gph);
    return 0;
}
