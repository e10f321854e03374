// SPDX-License-Identifier: Apache-2.0
/* Two files of relocatable device code (-rdc=true): functions and variables of the other
 * one, names that are private to each, a loop that a kernel ends. */
#include "check.h"

extern __device__ int factor;
extern __device__ int twice(int value);
int second_file();
static __device__ int own = 3; /* the other file has one of the same name */

__global__ void first(int *out)
{
    out[threadIdx.x] = twice(threadIdx.x) * factor + own;
}

__global__ void count_down(int *left, cudaGraphConditionalHandle handle)
{
    cudaGraphSetConditional(handle, --*left > 0);
}

int main()
{
    int *memory, host[4];
    OK(cudaMalloc(&memory, sizeof(host)));
    first<<<1, 4>>>(memory);
    OK(cudaMemcpy(host, memory, sizeof(host), cudaMemcpyDeviceToHost));
    printf("first %d %d %d %d\n", host[0], host[1], host[2], host[3]);
    printf("second %d\n", second_file());

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t loop, body;
    int five = 5;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    OK(cudaGraphAddNode(&loop, graph, NULL, NULL, 0, &params));
    void *args[] = {&memory, &handle};
    cudaKernelNodeParams kernel = {(void *)count_down, dim3(1), dim3(1), 0, args, NULL};
    OK(cudaGraphAddKernelNode(&body, params.conditional.phGraph_out[0], NULL, 0, &kernel));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaMemcpy(memory, &five, 4, cudaMemcpyHostToDevice));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(host, memory, 4, cudaMemcpyDeviceToHost));
    printf("looped to %d\n", host[0]);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}
