// SPDX-License-Identifier: Apache-2.0
/* An ordinary program of the driver API, linked with -lcuda (the stub) as usual: a kernel
 * launched once, then a graph of five launched ten times. It knows nothing of libgph. */
#include "cuda/prototypes.h"

#include <stdio.h>
#include <stdlib.h>

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry count(.param .u64 p)\n"
                          "{\n"
                          ".reg .b32 %r<4>; .reg .b64 %d<4>;\n"
                          "ld.param.u64 %d1, [p];\n"
                          "mov.u32 %r1, %tid.x;\n"
                          "mul.wide.u32 %d2, %r1, 4;\n"
                          "add.u64 %d3, %d1, %d2;\n"
                          "ld.global.u32 %r2, [%d3];\n"
                          "add.u32 %r3, %r2, %r1;\n"
                          "st.global.u32 [%d3], %r3;\n"
                          "ret;\n"
                          "}\n";

static void must(CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return;
    const char *name = "?";
    (void)cuGetErrorName(result, &name);
    printf("%s: %s\n", call, name);
    exit(1);
}
#define MUST(call, ...) must(call(__VA_ARGS__), #call)

static void replay(CUfunction count, void **params)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    MUST(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    MUST(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    for (int i = 0; i < 5; i++)
        MUST(cuLaunchKernel, count, 1, 1, 1, 64, 1, 1, 0, stream, params, NULL);
    MUST(cuStreamEndCapture, stream, &graph);
    MUST(cuGraphInstantiateWithFlags, &exec, graph, 0);
    for (int i = 0; i < 10; i++)
        MUST(cuGraphLaunch, exec, stream);
    MUST(cuStreamSynchronize, stream);
    MUST(cuGraphExecDestroy, exec);
    MUST(cuGraphDestroy, graph);
    MUST(cuStreamDestroy_v2, stream);
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction count;
    CUdeviceptr numbers;
    unsigned int host[64] = {0};
    MUST(cuInit, 0);
    MUST(cuDeviceGet, &device, 0);
    MUST(cuDevicePrimaryCtxRetain, &context, device);
    MUST(cuCtxSetCurrent, context);
    MUST(cuModuleLoadData, &module, ptx);
    MUST(cuModuleGetFunction, &count, module, "count");
    MUST(cuMemAlloc_v2, &numbers, sizeof(host));
    MUST(cuMemsetD32_v2, numbers, 0, 64);
    void *params[] = {&numbers};
    MUST(cuLaunchKernel, count, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL);
    MUST(cuCtxSynchronize, );
    replay(count, params);
    MUST(cuMemcpyDtoH_v2, host, numbers, sizeof(host));
    printf("numbers[63] is %u\n", host[63]); /* 63, 51 times */
    MUST(cuMemFree_v2, numbers);
    MUST(cuModuleUnload, module);
    MUST(cuDevicePrimaryCtxRelease_v2, device);
    return 0;
}
