// SPDX-License-Identifier: Apache-2.0
#include "kit.h"
/* A JIT: generated code is unloaded once it is "in the graph". */
static const char *const generated =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry generated(.param .u64 x){.reg .b64 %rd<3>; .reg .f32 %f<3>;\n"
    "ld.param.u64 %rd1,[x]; ld.global.f32 %f1,[%rd1]; add.f32 %f1,%f1,0f3F800000;\n"
    "st.global.f32 [%rd1],%f1; ret;}\n";
typedef struct jit {
    CUmodule module;
    CUfunction f;
} jit;

static void jit_compile(jit *j)
{
    CK(cuModuleLoadData(&j->module, generated));
    CK(cuModuleGetFunction(&j->f, j->module, "generated"));
}

static void jit_drop(jit *j)
{
    CK(cuModuleUnload(j->module));
}

int main(void)
{
    device_open();
    CUstream s = stream_new();
    CUdeviceptr x = floats(1);
    jit j;
    CUgraph g;
    CUgraphExec e;
    jit_compile(&j);
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 4; i++)
        CK(cuLaunchKernel(j.f, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&x}, NULL));
    CK(cuStreamEndCapture(s, &g));
    CK(cuGraphInstantiate(&e, g, 0));
#ifndef FIXED
    jit_drop(&j);
#endif
    for (int i = 0; i < 10; i++)
        CK(cuGraphLaunch(e, s)); /* <- here */
    CK(cuStreamSynchronize(s));
    CK(cuGraphExecDestroy(e));
    CK(cuGraphDestroy(g));
#ifdef FIXED
    jit_drop(&j);
#endif
    CK(cuMemFree(x));
    CK(cuStreamDestroy(s));
    return 0;
}
