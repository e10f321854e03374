// SPDX-License-Identifier: Apache-2.0
/* A worker process is forked after the graph was made, and launches it there: the driver of
 * the parent is not the child's. The child says "no" in its exit status alone. */
#define _GNU_SOURCE
#include "app.h"
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    CUgraph g;
    CUgraphExec x;
    CUstream s;
    unsigned n = 64;
    int status;
    app_start();
    CUfunction copyk = app_kernel("copyk");
    CUdeviceptr in = app_alloc(256), out = app_alloc(256);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    RUN(copyk, 1, 64, s, &out, &in, &n);
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    pid_t worker = fork(); /* <- here */
    if (worker == 0)
        _exit(cuGraphLaunch(x, s) != CUDA_SUCCESS);
    waitpid(worker, &status, 0);
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
