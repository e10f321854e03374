// SPDX-License-Identifier: Apache-2.0
/* Tensors in the pools of graphs, of an allocator that reports as PyTorch's does (c10_cuda.cpp).
 * usage: pools shared|in_order|given_back|held */
#include "../rules/broken.h"
#include "blocks.h"

#include <stdbool.h>

enum { STEPS = 6 };

static CUdeviceptr input, weight, output;

static void feed(CUgraphExec exec, CUstream stream)
{
    float host[FLOATS] = {1};
    CU(cuMemcpyHtoD(input, host, sizeof(host)));
    CU(cuGraphLaunch(exec, stream));
}

/* Two graphs of one pool: the second one's result lies where the first one had a tensor. */
static void share(CUstream stream, bool is_in_order)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    const CUdeviceptr inside = tensor_new();
    SCALE_ADD(stream, inside, input, 1);
    SCALE_ADD(stream, output, inside, 1);
    tensor_delete(inside);
    CUgraphExec first = end_capture(stream);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL)); /* <-- shared */
    const CUdeviceptr result = tensor_new();
    SCALE_ADD(stream, result, weight, 1);
    CUgraphExec second = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        feed(is_in_order ? first : second, stream);
        CU(cuGraphLaunch(is_in_order ? second : first, stream));
        SCALE_ADD(stream, output, result, 1);
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(first));
    CU(cuGraphExecDestroy(second));
}

static CUdeviceptr gradient;

/* As autograd's thread has it. */
static void backward(void *stream)
{
    gradient = tensor_new();
    SCALE_ADD(stream, gradient, output, 1);
}

static void train(CUstream stream, bool is_held)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    SCALE_ADD(stream, output, input, 1);
    in_thread(backward, stream);
    CUgraphExec exec = end_capture(stream);
    if (!is_held)
        tensor_delete(gradient); /* <-- given_back */
    for (int i = 0; i < STEPS; i++) {
        feed(exec, stream);
        if (is_held)
            SCALE_ADD(stream, weight, gradient, 1);
        CU(cuStreamSynchronize(stream));
    }
    if (is_held)
        tensor_delete(gradient);
    CU(cuGraphExecDestroy(exec));
}

int main(int argc, char **argv)
{
    long heard[4];
    const char *way = argc == 2 ? argv[1] : "";
    broken_open();
    CUstream stream = new_stream();
    input = tensor_new(), weight = tensor_new(), output = tensor_new();
    tensor_on_host();
    if (strcmp(way, "shared") == 0 || strcmp(way, "in_order") == 0)
        share(stream, strcmp(way, "in_order") == 0);
    else
        train(stream, strcmp(way, "held") == 0);
    c10_heard(heard);
    printf("%ld taken, %ld given back, %ld others, %ld bytes\n", heard[0], heard[1],
           heard[2], heard[3]);
    return 0;
}
