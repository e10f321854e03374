// SPDX-License-Identifier: Apache-2.0
/* The first pass runs each of 160 layers and makes its event; the second captures them all,
 * with the same events. They live as long as the program, which is short. */
#include "app.h"
#include <vector>

struct Layer {
    CUevent done = nullptr;
};

int main()
{
    app_start();
    CUfunction copyk = app_kernel("copyk");
    CUstream main_stream, side;
    OK(cuStreamCreate(&main_stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
    CUdeviceptr in = app_alloc(256), out = app_alloc(256), kept = app_alloc(256);
    unsigned n = 64;
    void *first[] = {&out, &in, &n}, *second[] = {&kept, &out, &n};
    std::vector<Layer> layers(160);
    CUevent join;
    OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    auto pass = [&] {
        for (Layer &layer : layers) {
            if (!layer.done)
                OK(cuEventCreate(&layer.done, CU_EVENT_DISABLE_TIMING));
            OK(cuLaunchKernel(copyk, 1, 1, 1, 64, 1, 1, 0, main_stream, first, nullptr));
            OK(cuEventRecord(layer.done, main_stream));
            OK(cuStreamWaitEvent(side, layer.done, 0));
            OK(cuLaunchKernel(copyk, 1, 1, 1, 64, 1, 1, 0, side, second, nullptr));
            OK(cuEventRecord(join, side));
            OK(cuStreamWaitEvent(main_stream, join, 0));
        }
    };
    pass();
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(main_stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    pass();
    OK(cuStreamEndCapture(main_stream, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 4; i++)
        OK(cuGraphLaunch(x, main_stream));
    OK(cuStreamSynchronize(main_stream));
    OK(cuEventDestroy(join));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
