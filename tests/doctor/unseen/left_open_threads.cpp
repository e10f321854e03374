// SPDX-License-Identifier: Apache-2.0
// A recorder throws away a capture that a forgotten synchronize has broken; a loader thread
// then cannot allocate, and the next recording of the stream cannot begin.
#include "app.h"
#include <stdexcept>
#include <string>
#include <thread>

static CUstream stream;
static CUfunction inc;
static CUcontext current;

static void check(CUresult result)
{
    if (result != CUDA_SUCCESS)
        throw std::runtime_error("CUDA error " + std::to_string(result));
}

static CUgraph record(CUdeviceptr p, bool verbose)
{
    unsigned n = 64;
    CUgraph graph = nullptr;
    check(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    void *arguments[] = {&p, &n};
    check(cuLaunchKernel(inc, 1, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr));
    if (verbose)
        check(cuStreamSynchronize(stream)); /* <- here */
    check(cuStreamEndCapture(stream, &graph));
    return graph;
}

static int load()
{
    CUdeviceptr p = 0;
    cuCtxSetCurrent(current);
    return cuMemAlloc(&p, 1 << 20) != CUDA_SUCCESS;
}

int main()
{
    int bad = 0;
    app_start();
    cuCtxGetCurrent(&current);
    inc = app_kernel("inc");
    CUdeviceptr p = app_alloc(256);
    cuStreamCreate(&stream, 1);
    try {
        record(p, true);
    } catch (const std::exception &error) {
        puts(error.what());
    }
    std::thread([&] { bad += load(); }).join();
    try {
        record(p, false);
    } catch (const std::exception &error) {
        puts(error.what());
        bad++;
    }
    return bad ? 5 : 0;
}
