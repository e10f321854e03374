// SPDX-License-Identifier: Apache-2.0
/* Errors of what is NULL, not known, or not a function: kernels, arrays, textures, libraries. */
#include "check.h"
#include <cstring>

__global__ void own(int *out)
{
    *out = 1;
}

static const char library_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry other() { ret; }\n";

/* NULL is not a function; an address that was never registered is a wrong handle, but where a
 * function is asked for by its symbol. */
static void functions()
{
    int unknown;
    const void *none = NULL, *other = &unknown;
    cudaFuncAttributes attributes;
    cudaFunction_t function;
    cudaKernel_t kernel;
    const char *name;
    int blocks;
    FAILS(cudaFuncGetAttributes(&attributes, none));
    FAILS(cudaFuncGetAttributes(&attributes, other));
    FAILS(cudaFuncSetAttribute(none, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    FAILS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, none, 32, 0));
    FAILS(cudaFuncGetName(&name, none));
    FAILS(cudaFuncGetName(&name, other));
    FAILS(cudaGetFuncBySymbol(&function, none));
    FAILS(cudaGetFuncBySymbol(&function, other));
    FAILS(cudaGetKernel(&kernel, none));
    FAILS(cudaGetKernel(&kernel, other));
    FAILS(cudaLaunchKernel(none, dim3(1), dim3(1), NULL, 0, 0));
    FAILS(cudaLaunchKernel(other, dim3(1), dim3(1), NULL, 0, 0));
}

static void nodes()
{
    int *out;
    void *arguments[] = {&out};
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaLibrary_t library;
    cudaKernel_t kernel;
    cudaKernelNodeParams params = {}, read;
    OK(cudaMalloc(&out, sizeof(int)));
    OK(cudaGraphCreate(&graph, 0));
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
    FAILS(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    params.func = (void *)own;
    OK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    OK(cudaGraphKernelNodeGetParams(node, &read));
    printf("its own %d\n", read.func == (void *)own);
    OK(cudaLibraryLoadData(&library, library_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&kernel, library, "other"));
    params.func = (void *)kernel;
    params.kernelParams = NULL;
    OK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    FAILS(cudaGraphKernelNodeGetParams(node, &read)); /* the runtime has no name for it */
    OK(cudaGraphDestroy(graph));
    OK(cudaLibraryUnload(library));
    OK(cudaFree(out));
}

static void arrays()
{
    static char rows[64 * 256];
    const cudaChannelFormatDesc words = cudaCreateChannelDesc<int>();
    cudaArray_t array;
    OK(cudaMallocArray(&array, &words, 64, 64));
    FAILS(cudaMemcpy2DToArray(array, 0, 0, rows, 16, 256, 64, cudaMemcpyHostToDevice));
    FAILS(cudaMemcpy2DFromArray(rows, 16, array, 0, 0, 256, 64, cudaMemcpyDeviceToHost));
    FAILS(cudaMemcpy2DToArray(array, 0, 0, rows, 16, 256, 1, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DToArray(array, 0, 0, rows, 0, 256, 1, cudaMemcpyHostToDevice));
    FAILS(
        cudaMemcpy2DToArrayAsync(array, 0, 0, rows, 16, 256, 64, cudaMemcpyHostToDevice));
    FAILS(cudaMemcpy2DFromArrayAsync(rows, 16, array, 0, 0, 256, 64,
                                     cudaMemcpyDeviceToHost));
    OK(cudaMemcpy2DToArray(array, 0, 0, rows, 256, 256, 64, cudaMemcpyHostToDevice));
    OK(cudaFreeArray(array));
}

static void textures()
{
    cudaResourceDesc resource = {};
    cudaTextureDesc texture = {};
    cudaTextureObject_t object;
    cudaSurfaceObject_t surface;
    resource.resType = cudaResourceTypeArray;
    FAILS(cudaCreateTextureObject(&object, &resource, &texture, NULL));
    FAILS(cudaCreateTextureObject(&object, &resource, NULL, NULL));
    FAILS(cudaCreateSurfaceObject(&surface, &resource));
    FAILS(cudaCreateTextureObject(&object, NULL, &texture, NULL));
    resource.resType = cudaResourceTypeMipmappedArray;
    FAILS(cudaCreateTextureObject(&object, &resource, &texture, NULL));
}

int main()
{
    OK(cudaFree(0));
    functions();
    nodes();
    arrays();
    textures();
    return 0;
}
