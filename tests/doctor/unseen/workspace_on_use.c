// SPDX-License-Identifier: Apache-2.0
#include "kit.h"
/* Ops called through pointers, each with a workspace made on first use. */
typedef struct op op;
struct op {
    void (*run)(op *, CUdeviceptr, CUstream);
    CUdeviceptr workspace;
};
static unsigned n = 2048;

static CUdeviceptr workspace_of(op *o)
{
    if (!o->workspace)
        if (cuMemAlloc(&o->workspace, n * sizeof(float))) /* <- here */
            fprintf(stderr, "no workspace\n");
    return o->workspace;
}

static void op_double(op *o, CUdeviceptr x, CUstream s)
{
    CUdeviceptr w = workspace_of(o);
    LAUNCH(kernel("twice"), n, s, &w, &x, &n);
    LAUNCH(kernel("twice"), n, s, &x, &w, &n);
}

static void op_bump(op *o, CUdeviceptr x, CUstream s)
{
    float one = 1;
    (void)o;
    LAUNCH(kernel("add"), n, s, &x, &one, &n);
}

int main(void)
{
    device_open();
    CUstream s = stream_new();
    CUdeviceptr x = floats(n);
    op ops[] = {{op_bump, 0}, {op_double, 0}, {op_bump, 0}};
    CUgraph g;
    CUgraphExec e;
#ifdef FIXED
    for (int i = 0; i < 3; i++)
        ops[i].run(&ops[i], x, s);
    CK(cuStreamSynchronize(s));
#endif
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < 3; i++)
        ops[i].run(&ops[i], x, s);
    CK(cuStreamEndCapture(s, &g));
    CK(cuGraphInstantiate(&e, g, 0));
    for (int i = 0; i < 16; i++)
        CK(cuGraphLaunch(e, s));
    CK(cuStreamSynchronize(s));
    printf("%g\n", first(x));
    CK(cuGraphExecDestroy(e));
    CK(cuGraphDestroy(g));
    for (int i = 0; i < 3; i++)
        if (ops[i].workspace)
            CK(cuMemFree(ops[i].workspace));
    CK(cuMemFree(x));
    CK(cuStreamDestroy(s));
    return 0;
}
