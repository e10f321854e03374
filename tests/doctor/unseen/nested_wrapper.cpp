// SPDX-License-Identifier: Apache-2.0
/* A wrapper that captures a piece at its first call is inside one that captures the
 * whole model. The inner begin is refused; the outer capture goes on, and ends. */
#include "app.h"
#include <vector>

struct Piece {
    CUfunction kernel;
    CUdeviceptr data;
    CUgraphExec exec = nullptr;
    void body(CUstream s)
    {
        unsigned n = 64;
        void *a[] = {&data, &n};
        OK(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, s, a, nullptr));
    }
    bool call(CUstream s)
    {
        CUgraph g = nullptr;
        if (exec)
            return cuGraphLaunch(exec, s) == 0;
        if (cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED)) /* <- here */
            return false;
        body(s);
        OK(cuStreamEndCapture(s, &g));
        OK(cuGraphInstantiateWithFlags(&exec, g, 0));
        return cuGraphLaunch(exec, s) == 0;
    }
};

int main()
{
    app_start();
    CUstream s;
    CUgraph g = nullptr;
    CUgraphExec x;
    OK(cuStreamCreate(&s, 1));
    CUdeviceptr p = app_alloc(1024);
    std::vector<Piece> pieces;
    for (int i = 0; i < 3; i++)
        pieces.push_back({app_kernel("inc"), p});
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    int failed = 0;
    for (Piece &piece : pieces)
        failed += !piece.call(s);
    OK(cuStreamEndCapture(s, &g));
    printf("%d pieces are missing\n", failed);
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
