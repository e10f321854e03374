// SPDX-License-Identifier: Apache-2.0
/* Memory: allocations of every kind, copies in every direction, variables. */
#include "check.h"
#include <cstring>

__device__ int words[4] = {1, 2, 3, 4};
__constant__ int factor = 5;
__managed__ int both = 6;

__global__ void scale()
{
    words[threadIdx.x] *= factor;
    if (threadIdx.x == 0)
        both += 1;
}

int main()
{
    int host[16], back[16] = {0};
    for (int i = 0; i < 16; i++)
        host[i] = i * i;

    int *device, *other, *pinned, *managed;
    OK(cudaMalloc(&device, sizeof(host)));
    OK(cudaMalloc(&other, sizeof(host)));
    OK(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
    OK(cudaMemcpy(other, device, sizeof(host), cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(back, other, sizeof(host), cudaMemcpyDefault));
    printf("copied %d %d\n", back[3], back[15]);
    OK(cudaMemset(device, 1, 8));
    OK(cudaMemcpy(back, device, 12, cudaMemcpyDeviceToHost));
    printf("set %#x %#x %d\n", back[0], back[1], back[2]);

    size_t pitch;
    char *area;
    OK(cudaMallocPitch(&area, &pitch, 10, 4));
    OK(cudaMemset2D(area, pitch, 7, 10, 4));
    char rows[4][12] = {{0}};
    OK(cudaMemcpy2D(rows, 12, area, pitch, 10, 4, cudaMemcpyDeviceToHost));
    printf("area %d %d %d, pitch %s\n", rows[0][0], rows[3][9], rows[3][10],
           pitch >= 10 && pitch % 32 == 0 ? "aligned" : "odd");

    OK(cudaMallocHost(&pinned, 64));
    OK(cudaMallocManaged(&managed, 64));
    cudaPointerAttributes of;
    OK(cudaPointerGetAttributes(&of, device));
    printf("device memory is of type %d\n", of.type);
    OK(cudaPointerGetAttributes(&of, pinned));
    printf("pinned memory is of type %d\n", of.type);
    OK(cudaPointerGetAttributes(&of, managed));
    printf("managed memory is of type %d\n", of.type);
    OK(cudaPointerGetAttributes(&of, host));
    printf("other memory is of type %d\n", of.type);

    const int ten = 10;
    OK(cudaMemcpyToSymbol(factor, &ten, sizeof(ten)));
    scale<<<1, 4>>>();
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(back, words, sizeof(words)));
    printf("variables %d %d, %d\n", back[0], back[3], both);
    size_t bytes;
    OK(cudaGetSymbolSize(&bytes, words));
    printf("a variable of %zu bytes\n", bytes);

    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    void *ordered;
    OK(cudaMallocAsync(&ordered, 256, stream));
    OK(cudaMemsetAsync(ordered, 3, 256, stream));
    OK(cudaMemcpyAsync(pinned, ordered, 4, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(ordered, stream));
    OK(cudaStreamSynchronize(stream));
    printf("ordered %#x\n", pinned[0]);

    FAILS(cudaMemcpy(device, host, 4, (cudaMemcpyKind)9));
    FAILS(cudaMemcpyFromSymbol(back, words, 64));
    FAILS(cudaMallocPitch(&area, NULL, 10, 4));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(area));
    OK(cudaFree(device));
    OK(cudaFree(NULL));
    OK(cudaFree(managed));
    OK(cudaFreeHost(pinned));
}
