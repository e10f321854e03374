// SPDX-License-Identifier: Apache-2.0
/* Programs over the CUDA runtime, for gph doctor on a GPU: built with the static and with the
 * shared runtime, and with per-thread default streams (scripts/gpu_doctor.sh). Each mode
 * breaks one rule, or none:
 *
 *   healthy    a graph, replayed 1,000 times               nothing to say
 *   launches   the same kernels without a graph            perf.launch-bound, if anything
 *   alloc      cudaMalloc() inside a capture               capture.unsafe-call
 *   thread     another thread allocates during a capture   capture.unsafe-call-other-thread
 *   fork       a forked stream that is not joined          capture.unjoined-fork
 *   legacy     work on the legacy stream                   capture.legacy-stream
 *   update     an update with one node more                update.node-count
 *   stale      replayed after its buffer was freed         memory.freed-input
 *   killed     alloc, and then SIGKILL
 *   replay     what doctor costs: 200,000 replays; prints us a replay */
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <unistd.h>

#include <cuda_runtime.h>

__global__ void add(float *x, float by)
{
    x[threadIdx.x] += by;
}

static int say(const char *what, cudaError_t result)
{
    if (result != cudaSuccess)
        printf("%s: %d\n", what, (int)result);
    cudaGetLastError();
    return result == cudaSuccess;
}
#define SAY(call) say(#call, call)

static cudaStream_t stream, side;
static cudaEvent_t event;
static float *x;

static cudaGraph_t record(int kernels, const std::function<void()> &inside)
{
    cudaGraph_t graph = nullptr;
    SAY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < kernels; i++)
        add<<<1, 32, 0, stream>>>(x, 1.0f);
    inside();
    SAY(cudaStreamEndCapture(stream, &graph));
    return graph;
}

static void nothing() {}

static void allocate_inside()
{
    float *more = nullptr;
    SAY(cudaMalloc(&more, 4096));
}

static void allocate_in_thread()
{
    std::thread other(allocate_inside);
    other.join();
}

static void fork_without_join()
{
    SAY(cudaEventRecord(event, stream));
    SAY(cudaStreamWaitEvent(side, event, 0));
    add<<<1, 32, 0, side>>>(x + 32, 1.0f);
}

static void on_the_legacy_stream()
{
    add<<<1, 32, 0, cudaStreamLegacy>>>(x, 1.0f);
    SAY(cudaGetLastError());
}

static void replay(int kernels, int times)
{
    cudaGraphExec_t exec;
    if (!SAY(cudaGraphInstantiate(&exec, record(kernels, nothing), 0)))
        return;
    cudaGraphUpload(exec, stream);
    cudaStreamSynchronize(stream);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < times; i++)
        cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    const std::chrono::duration<double, std::micro> took =
        std::chrono::steady_clock::now() - begin;
    printf("%d replays of %d kernels: %.3f us each\n", times, kernels,
           took.count() / times);
    cudaGraphExecDestroy(exec);
}

static void update_with_more()
{
    cudaGraphExec_t exec;
    SAY(cudaGraphInstantiate(&exec, record(3, nothing), 0));
    cudaGraph_t longer = record(4, nothing);
#if CUDART_VERSION >= 12000
    cudaGraphExecUpdateResultInfo info;
    SAY(cudaGraphExecUpdate(exec, longer, &info));
#endif
    SAY(cudaGraphLaunch(exec, stream));
    SAY(cudaStreamSynchronize(stream));
}

static void replay_freed()
{
    float *input = nullptr;
    SAY(cudaMalloc(&input, 1 << 20));
    cudaGraphExec_t exec;
    SAY(cudaGraphInstantiate(&exec, record(1, [&] {
        SAY(cudaMemcpyAsync(x, input, 128, cudaMemcpyDeviceToDevice, stream));
    }), 0));
    SAY(cudaGraphLaunch(exec, stream));
    SAY(cudaStreamSynchronize(stream));
    SAY(cudaFree(input));
    SAY(cudaGraphLaunch(exec, stream));
    SAY(cudaStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "healthy";
    const auto is = [&](const char *name) { return strcmp(mode, name) == 0; };
    SAY(cudaStreamCreateWithFlags(&stream, is("legacy") ? cudaStreamDefault
                                                        : cudaStreamNonBlocking));
    SAY(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    SAY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    SAY(cudaMalloc(&x, 4096));
    SAY(cudaMemset(x, 0, 4096));
    SAY(cudaDeviceSynchronize());
    if (is("healthy"))
        replay(20, 1000);
    else if (is("launches")) {
        for (int i = 0; i < 20000; i++)
            add<<<1, 32, 0, stream>>>(x, 1.0f);
        SAY(cudaStreamSynchronize(stream));
    } else if (is("replay")) {
        replay(1, 200000);
        replay(20, 50000);
        replay(200, 10000);
    } else if (is("alloc") || is("killed")) {
        record(2, allocate_inside);
        if (is("killed"))
            kill(getpid(), SIGKILL);
    } else if (is("thread"))
        record(2, allocate_in_thread);
    else if (is("fork"))
        record(2, fork_without_join);
    else if (is("legacy"))
        record(2, on_the_legacy_stream);
    else if (is("update"))
        update_with_more();
    else if (is("stale"))
        replay_freed();
    else {
        fprintf(stderr, "runtime: there is no mode %s\n", mode);
        return 2;
    }
    return 0;
}
