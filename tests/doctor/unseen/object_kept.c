// SPDX-License-Identifier: Apache-2.0
/* Each request's graph owns its scratch memory through a user object. The object begins with
 * two references, the graph takes over one, and nobody gives back the other. */
#include "app.h"
#ifdef FIXED
#define REFERENCES 1
#else
#define REFERENCES 2
#endif

static void request(CUstream s, CUfunction f, CUdeviceptr out, CUdeviceptr in)
{
    CUgraph g;
    CUgraphExec x;
    CUuserObject owner;
    unsigned n = 64;
    OK(cuUserObjectCreate(&owner, malloc(1 << 14), free, REFERENCES, /* <- here */
                          1));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < 4; i++)
        RUN(f, 1, 64, s, &out, &in, &n);
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphRetainUserObject(g, owner, 1, 1));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphDestroy(g));
    for (int i = 0; i < 6; i++)
        OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(x));
}

int main(void)
{
    CUstream s;
    app_start();
    CUfunction copyk = app_kernel("copyk");
    CUdeviceptr in = app_alloc(256), out = app_alloc(256);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 24; i++)
        request(s, copyk, out, in);
    return 0;
}
