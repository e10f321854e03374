// SPDX-License-Identifier: Apache-2.0
/* One kernel stacks the outputs of five replays, as it would five tensors: the five
 * pointers in its argument are one. */
#include "app.h"
#include <vector>

struct Five {
    CUdeviceptr from[5];
};

int main()
{
    app_start();
    static const char ptx[] =
        ".version 6.3\n.target sm_70\n.address_size 64\n"
        ".visible .entry stack5(.param .u64 to, .param .align 8 .b8 from[40])\n"
        "{ .reg .b64 %d<6>; .reg .f32 %f1; .reg .b32 %r1;\n"
        "  ld.param.u64 %d1, [to]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4;\n"
        "  ld.param.u64 %d2, [from]; add.s64 %d4, %d2, %d3; ld.global.f32 %f1, [%d4];\n"
        "  add.s64 %d5, %d1, %d3; st.global.f32 [%d5], %f1; ret; }\n";
    CUmodule module;
    CUfunction stack5, scale = app_kernel("scale"), copyk = app_kernel("copyk");
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&stack5, module, "stack5"));
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamCreate(&s, 1));
    CUdeviceptr in = app_alloc(256), out = app_alloc(256), all = app_alloc(4096);
    float two = 2, host[64] = {0};
    unsigned n = 64;
    OK(cuStreamBeginCapture(s, 0));
    OK(cuLaunchKernel(copyk, 1, 1, 1, 64, 1, 1, 0, s, std::vector<void *>{&out, &in, &n}.data(), nullptr));
    OK(cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, s, std::vector<void *>{&out, &two, &n}.data(), nullptr));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    Five five;
    for (int i = 0; i < 5; i++) {
        host[1] = (float)i;
        OK(cuMemcpyHtoDAsync(in, host, 256, s));
        OK(cuGraphLaunch(x, s));
        OK(cuStreamSynchronize(s));
        five.from[i] = out;
    }
    void *a[] = {&all, &five};
    OK(cuLaunchKernel(stack5, 1, 1, 1, 64, 1, 1, 0, s, a, nullptr)); /* <- here */
    OK(cuStreamSynchronize(s)); /* the copy's stream, the legacy one, does not wait for s */
    OK(cuMemcpyDtoH(host, all, 256));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return host[1] != 8;
}
