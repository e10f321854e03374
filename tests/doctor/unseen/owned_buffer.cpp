// SPDX-License-Identifier: Apache-2.0
/* The graph's scratch belongs to a unique_ptr, which gives it back after the capture; the
 * pool hands it out again. A worker does it all, through a std::function: names and stacks
 * are of the program's own functions. */
#include "app.h"
#include <functional>
#include <memory>
#include <thread>

struct Scratch {
    CUdeviceptr address = 0;
    CUstream stream;
    Scratch(size_t bytes, CUstream on) : stream(on)
    {
        OK(cuMemAllocAsync(&address, bytes, stream));
    }
    ~Scratch() { OK(cuMemFreeAsync(address, stream)); }
    Scratch(const Scratch &) = delete;
};

static void serve(CUstream s)
{
    CUdeviceptr in = app_alloc(256);
    CUfunction copyk = app_kernel("copyk");
    unsigned n = 64;
    float host[64];
    CUgraph g;
    CUgraphExec x;
    auto scratch = std::make_unique<Scratch>(256, s);
    OK(cuStreamSynchronize(s));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    void *arguments[] = {&scratch->address, &in, &n};
    OK(cuLaunchKernel(copyk, 1, 1, 1, 64, 1, 1, 0, s, arguments, nullptr));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphLaunch(x, s));
    scratch.reset();
    Scratch state(256, s);
    OK(cuMemsetD32Async(state.address, 0x41200000, n, s));
    for (int i = 0; i < 4; i++)
        OK(cuGraphLaunch(x, s)); /* <- here */
    OK(cuMemcpyDtoHAsync(host, state.address, 256, s));
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    OK(cuMemFree(in));
}

int main()
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    std::function<void()> job = [s] {
        OK(cuCtxSetCurrent(app_context));
        serve(s);
    };
    std::thread worker([&job] { job(); });
    worker.join();
    OK(cuStreamDestroy(s));
    return 0;
}
