// SPDX-License-Identifier: Apache-2.0
/* Graphs: captured, built by hand, edited, updated, with memory, children and host nodes. */
#include "check.h"

__global__ void add(int *word, int value)
{
    *word += value;
}

static void note(void *user)
{
    *(int *)user += 1;
}

static int read(int *word)
{
    int value = -1;
    OK(cudaMemcpy(&value, word, sizeof(value), cudaMemcpyDeviceToHost));
    return value;
}

static cudaGraph_t captured(cudaStream_t stream, int *word, int times)
{
    cudaGraph_t graph;
    cudaStream_t side;
    cudaEvent_t fork, join;
    OK(cudaStreamCreate(&side));
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < times; i++)
        add<<<1, 1, 0, stream>>>(word, 1);
    OK(cudaEventRecord(fork, stream));
    OK(cudaStreamWaitEvent(side, fork, 0));
    add<<<1, 1, 0, side>>>(word + 1, 10);
    OK(cudaEventRecord(join, side));
    OK(cudaStreamWaitEvent(stream, join, 0));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    OK(cudaStreamDestroy(side));
    return graph;
}

static void by_hand(cudaStream_t stream, int *word)
{
    cudaGraph_t graph, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t set, kernel, copy, host, alloc, release, child;
    static int calls, result;
    int seven = 7;
    void *args[] = {&word, &seven};
    OK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams fill = {word, 0, 0, 4, 1, 1};
    OK(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &fill));
    cudaKernelNodeParams params = {(void *)add, dim3(1), dim3(1), 0, args, NULL};
    OK(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &params));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, &result, word, 4,
                                cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = {note, &calls};
    OK(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
    cudaMemAllocNodeParams memory = {};
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
    memory.bytesize = 1024;
    OK(cudaGraphAddMemAllocNode(&alloc, graph, NULL, 0, &memory));
    OK(cudaGraphAddMemFreeNode(&release, graph, &alloc, 1, memory.dptr));
    size_t count = 0, edges = 0;
    OK(cudaGraphGetNodes(graph, NULL, &count));
    OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    printf("%zu nodes, %zu edges\n", count, edges);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    printf("by hand %d, %d calls\n", result, calls);

    seven = 9;
    OK(cudaGraphExecKernelNodeSetParams(exec, kernel, &params));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    printf("edited %d, %d calls\n", result, calls);
    cudaKernelNodeParams now;
    OK(cudaGraphKernelNodeGetParams(kernel, &now));
    printf("the node has its stub: %d, and still %d\n", now.func == (void *)add,
           *(int *)now.kernelParams[1]);
    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(copy, &type));
    printf("type %d\n", (int)type);
    OK(cudaGraphNodeSetEnabled(exec, kernel, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    printf("without its kernel %d\n", result);
    FAILS(cudaGraphClone(&clone, graph));

    cudaGraph_t outer;
    cudaGraph_t inner = captured(stream, word, 1);
    OK(cudaGraphCreate(&outer, 0));
    OK(cudaGraphAddChildGraphNode(&child, outer, NULL, 0, inner));
    cudaGraphExec_t whole;
    OK(cudaGraphInstantiate(&whole, outer, 0));
    OK(cudaGraphLaunch(whole, stream));
    OK(cudaStreamSynchronize(stream));
    printf("child %d\n", read(word));
    OK(cudaGraphExecDestroy(whole));
    OK(cudaGraphDestroy(outer));
    OK(cudaGraphDestroy(inner));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

/* Where an array takes part, positions in memory count its elements, too. */
static void from_array(cudaStream_t stream)
{
    static int words[64 * 64], rows[64 * 64];
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<int>();
    cudaMemcpy3DParms copy = {}, read = {};
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    OK(cudaMallocArray(&copy.srcArray, &channels, 64, 64));
    for (int i = 0; i < 64 * 64; i++)
        words[i] = i;
    OK(cudaMemcpy2DToArray(copy.srcArray, 0, 0, words, 256, 256, 64,
                           cudaMemcpyHostToDevice));
    copy.srcPos = make_cudaPos(1, 2, 0);
    copy.dstPtr = make_cudaPitchedPtr(rows, 256, 40, 64);
    copy.dstPos = make_cudaPos(8, 1, 0);
    copy.extent = make_cudaExtent(4, 3, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &copy));
    OK(cudaGraphMemcpyNodeGetParams(node, &read));
    printf("from %zu %zu to %zu %zu, %zu x %zu, kind %d, pitches %zu %zu, rows %zu %zu\n",
           read.srcPos.x, read.srcPos.y, read.dstPos.x, read.dstPos.y, read.extent.width,
           read.extent.height, (int)read.kind, read.srcPtr.pitch, read.dstPtr.pitch,
           read.dstPtr.xsize, read.dstPtr.ysize);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    printf("%d %d %d %d %d\n", rows[64 + 7], rows[64 + 8], rows[64 + 11], rows[64 + 12],
           rows[3 * 64 + 8]);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFreeArray(copy.srcArray));
}

int main()
{
    int *word;
    cudaStream_t stream;
    OK(cudaMalloc(&word, 8));
    OK(cudaMemset(word, 0, 8));
    OK(cudaStreamCreate(&stream));

    cudaGraph_t graph = captured(stream, word, 2), same = captured(stream, word, 2),
                other = captured(stream, word, 3);
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    printf("captured %d %d\n", read(word), read(word + 1));
    OK(cudaGraphExecUpdate(exec, same, &info));
    printf("the same shape: %d\n", info.result == cudaGraphExecUpdateSuccess);
    const cudaError_t refused = cudaGraphExecUpdate(exec, other, &info);
    printf("another: %s, %d\n", cudaGetErrorName(refused), (int)info.result);
    (void)cudaGetLastError();

    cudaStreamCaptureStatus status;
    OK(cudaStreamIsCapturing(stream, &status));
    printf("capturing %d\n", (int)status);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    FAILS(cudaStreamSynchronize(stream));
    cudaGraph_t broken;
    FAILS(cudaStreamEndCapture(stream, &broken));

    by_hand(stream, word);
    from_array(stream);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(same));
    OK(cudaGraphDestroy(other));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(word));
}
