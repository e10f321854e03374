// SPDX-License-Identifier: Apache-2.0
/* A program whose tensors come from an allocator that reports as PyTorch's does
 * (c10_cuda.cpp): its graphs, and what becomes of the tensors that they were captured
 * with. usage: blocks taken|kept|temporary|old */
#include "blocks.h"
#include "../rules/broken.h"

enum { STEPS = 6 };

static CUdeviceptr input, weight, output;

static CUgraphExec record(CUstream stream)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, output, weight, 1);
    SCALE_ADD(stream, output, input, 1);
    return end_capture(stream);
}

/* A new input, the graph, and its result. */
static void step(CUgraphExec exec, CUstream stream, CUdeviceptr result)
{
    float host[FLOATS] = {1}, seen = 0;
    CU(cuMemcpyHtoD(input, host, sizeof(host)));
    CU(cuGraphLaunch(exec, stream));
    const CUdeviceptr mean = tensor_new();
    COPY(stream, mean, result); /* <-- old */
    CU(cuMemcpyDtoHAsync(&seen, mean, sizeof(seen), stream));
    CU(cuStreamSynchronize(stream));
    tensor_delete(mean);
}

int main(int argc, char **argv)
{
    long heard[4];
    const char *way = argc == 2 ? argv[1] : "";
    broken_open();
    CUstream stream = new_stream();
    const CUdeviceptr old = tensor_new();
    input = tensor_new(), weight = tensor_new(), output = tensor_new();
    COPY(stream, old, input);
    SCALE_ADD(stream, old, weight, 1);
    CU(cuStreamSynchronize(stream));
    tensor_on_host();
    CUgraphExec exec = record(stream);
    step(exec, stream, strcmp(way, "old") == 0 ? old : output);
    if (strcmp(way, "taken") == 0) { /* another tensor, which lies there */
        tensor_delete(weight);       /* <-- taken */
        weight = tensor_new();
    }
    if (strcmp(way, "temporary") == 0) /* of no graph */
        tensor_delete(old), (void)tensor_new();
    for (int i = 1; i < STEPS; i++)
        step(exec, stream, strcmp(way, "old") == 0 ? old : output);
    CU(cuGraphExecDestroy(exec));
    c10_heard(heard);
    printf("%ld taken, %ld given back, %ld others, %ld bytes\n", heard[0], heard[1],
           heard[2], heard[3]);
    return 0;
}
