// SPDX-License-Identifier: Apache-2.0
/* Streams, events and threads; built with the legacy and the per-thread default stream. */
#include "check.h"
#include <thread>

__global__ void hold(volatile int *go, int *out)
{
    while (*go == 0)
        ;
    *out = 1;
}

__global__ void add(int *word)
{
    atomicAdd(word, 1);
}

static void count(void *user)
{
    *(int *)user += 1;
}

static void status_is_given(cudaStream_t, cudaError_t status, void *user)
{
    *(int *)user = status == cudaSuccess ? 3 : -1;
}

int main()
{
    int *go, *out, *word, *value, calls = 0, called = 0;
    cudaStream_t one, two;
    cudaEvent_t begin, end;
    OK(cudaHostAlloc(&go, 4, cudaHostAllocMapped));
    OK(cudaHostAlloc(&out, 4, cudaHostAllocMapped));
    OK(cudaHostAlloc(&value, 4, 0));
    OK(cudaMalloc(&word, 4));
    OK(cudaMemset(word, 0, 4));
    OK(cudaDeviceSynchronize());
    *go = 0, *out = 0;
    OK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithPriority(&two, cudaStreamNonBlocking, -1));
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));

    OK(cudaEventRecord(begin, one));
    hold<<<1, 1, 0, one>>>(go, out);
    OK(cudaEventRecord(end, one));
    printf("runs: %s\n", cudaGetErrorName(cudaStreamQuery(one)));
    printf("not yet: %s\n", cudaGetErrorName(cudaEventQuery(end)));
    (void)cudaGetLastError();
    OK(cudaStreamWaitEvent(two, end, 0));
    add<<<1, 32, 0, two>>>(word);
    OK(cudaLaunchHostFunc(two, count, &calls));
    OK(cudaStreamAddCallback(two, status_is_given, &called, 0));
    printf("waits %d\n", calls);
    *go = 1;
    OK(cudaStreamSynchronize(two));
    float ms = -1;
    OK(cudaEventElapsedTime(&ms, begin, end));
    printf("done %d, %d, %d, time %d\n", *out, calls, called, ms >= 0);

    std::thread threads[4];
    for (std::thread &each : threads)
        each = std::thread([=] {
            for (int i = 0; i < 10; i++)
                add<<<1, 1>>>(word);
            OK(cudaStreamSynchronize(0));
        });
    for (std::thread &each : threads)
        each.join();
    OK(cudaMemcpy(value, word, 4, cudaMemcpyDeviceToHost));
    printf("threads %d\n", *value);

    std::thread other([] {
        cudaEvent_t none = NULL;
        printf("another thread: %s\n", cudaGetErrorName(cudaEventQuery(none)));
        printf("its last: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
    });
    other.join();
    printf("this thread's last: %s\n", cudaGetErrorName(cudaGetLastError()));
    int priority = 0, device = -1;
    unsigned flags = 0;
    OK(cudaStreamGetPriority(two, &priority));
    OK(cudaStreamGetFlags(two, &flags));
    OK(cudaStreamGetDevice(two, &device));
    printf("priority %d, flags %u, device %d\n", priority, flags, device);
    OK(cudaEventDestroy(begin));
    OK(cudaEventDestroy(end));
    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(two));
}
