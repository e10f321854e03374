// SPDX-License-Identifier: Apache-2.0
/* Launches: shapes, shared memory, templates, attributes, cooperative groups, errors. */
#include "check.h"
#include <cooperative_groups.h>

template <typename T> __global__ void sum(T *out, const T *in, int n)
{
    extern __shared__ __align__(16) char room[];
    T *part = (T *)room;
    part[threadIdx.x] = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        part[threadIdx.x] += in[i];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = part[0];
}

__global__ void shape(unsigned *out)
{
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        atomicAdd(out, blockDim.x * blockDim.y * blockDim.z);
}

__global__ void all_blocks(int *out)
{
    atomicAdd(&out[0], 1);
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0)
        out[1 + blockIdx.x] = out[0];
}

__global__ void __launch_bounds__(128) bounded(int *out)
{
    *out = 1;
}

template <typename T> static void sum_of(const char *name)
{
    T host[100], result, *in, *out;
    for (int i = 0; i < 100; i++)
        host[i] = (T)i / 4;
    OK(cudaMalloc(&in, sizeof(host)));
    OK(cudaMalloc(&out, sizeof(T)));
    OK(cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice));
    sum<T><<<1, 64, 64 * sizeof(T)>>>(out, in, 100);
    OK(cudaGetLastError());
    OK(cudaMemcpy(&result, out, sizeof(T), cudaMemcpyDeviceToHost));
    printf("sum of %s %g\n", name, (double)result);
    OK(cudaFree(in));
    OK(cudaFree(out));
}

int main()
{
    sum_of<int>("int");
    sum_of<float>("float");
    sum_of<double>("double");

    unsigned *count, threads;
    OK(cudaMalloc(&count, 64));
    OK(cudaMemset(count, 0, 64));
    shape<<<dim3(2, 3, 4), dim3(4, 2, 8)>>>(count);
    OK(cudaMemcpy(&threads, count, 4, cudaMemcpyDeviceToHost));
    printf("%u threads\n", threads);

    int *many, seen[5];
    OK(cudaMalloc(&many, 64));
    OK(cudaMemset(many, 0, 64));
    void *args[] = {&many};
    OK(cudaLaunchCooperativeKernel(all_blocks, dim3(4), dim3(32), args, 0, 0));
    OK(cudaMemcpy(seen, many, sizeof(seen), cudaMemcpyDeviceToHost));
    printf("cooperative %d %d %d\n", seen[0], seen[1], seen[4]);

    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = 0;
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    config.attrs = &attribute;
    config.numAttrs = 1;
    OK(cudaLaunchKernelEx(&config, bounded, many));
    OK(cudaMemcpy(seen, many, 4, cudaMemcpyDeviceToHost));
    printf("with attributes %d\n", seen[0]);

    int blocks = 0, best = 0, least = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 0));
    OK(cudaOccupancyMaxPotentialBlockSize(&least, &best, bounded, 0, 0));
    printf("fits %d, best %d\n", blocks > 0, best <= 128 && best > 0 && least > 0);
    cudaFuncAttributes of;
    OK(cudaFuncGetAttributes(&of, bounded));
    printf("at most %d threads, %zu bytes shared\n", of.maxThreadsPerBlock,
           of.sharedSizeBytes);

    bounded<<<1, 256>>>(many);
    printf("too many for its bounds: %s\n", cudaGetErrorName(cudaGetLastError()));
    bounded<<<0, 1>>>(many);
    printf("an empty grid: %s\n", cudaGetErrorName(cudaGetLastError()));
    bounded<<<1, 2048>>>(many);
    printf("a large block: %s\n", cudaGetErrorName(cudaGetLastError()));
    bounded<<<1, 1, 1 << 20>>>(many);
    printf("much shared memory: %s\n", cudaGetErrorName(cudaGetLastError()));
    FAILS(cudaFuncGetAttributes(&of, (const void *)main));
    OK(cudaDeviceSynchronize());
}
