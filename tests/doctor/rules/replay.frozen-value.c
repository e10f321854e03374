// SPDX-License-Identifier: Apache-2.0
// replay.frozen-value
//
// An argument by value was another one in each step before the capture: a step's number, a rate
// that decays. The graph has the one that it was captured with, in every launch. Set it before
// each launch, or keep it in device memory that the graph reads and something advances. A graph
// for each value, and parameters that are set, are right.
#include "broken.h"

enum { STEPS = 6 };

static CUdeviceptr x, y;
static float rate = 1;

static void step(CUstream stream)
{
    SCALE_ADD(stream, y, x, rate); // <-- first
    COPY(stream, x, y);
    rate *= 0.5F;
}

static void run(CUgraphExec exec, CUstream stream)
{
    float seen[STEPS];
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(&seen[i], y, sizeof(seen[i]), stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

static void first(void)
{
    CUstream stream = new_stream();
    x = new_floats(), y = new_floats();
    for (int i = 0; i < 3; i++)
        step(stream);
    CU(cuStreamSynchronize(stream));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    step(stream);
    run(end_capture(stream), stream);
}

/* One kernel, whose number is that of the step, and a node made by hand. */
static void second(void)
{
    CUstream stream = new_stream();
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    unsigned number = 0, one = 1;
    x = new_floats();
    for (; number < 3; number++) {
        LAUNCH(poke, 1, stream, &x, &number, &one);
        (void)float_at(x, 0);
    }
    CUDA_KERNEL_NODE_PARAMS kernel = floats_kernel(poke, (void *[]){&x, &number, &one});
    kernel.gridDimX = 1;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel)); // <-- second
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < STEPS; i++, number++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        (void)float_at(x, 0);
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Parameters with holes, where anything lies: an empty functor, and a struct of 4 + 4 bytes. */
static const char holes_ptx[] =
    BROKEN_HEAD ".visible .entry holes(.param .u64 out, .param .align 1 .b8 empty[1], "
                ".param .align 8 .b8 how[16])\n{\n"
                ".reg .b32 %r; .reg .b64 %a;\n"
                "ld.param.u64 %a, [out]; ld.param.u32 %r, [how];\n"
                "st.global.u32 [%a], %r; ret;\n}\n";

static void garbage(CUstream stream, CUfunction kernel, uint64_t at)
{
    static const uint64_t left[] = {0xf2d9b0f8, 0x1722bb6c, 0xea66bc80, 0x82557930};
    unsigned char empty = (unsigned char)(149 - 52 * at + 77 * at * at);
    struct {
        uint32_t number, hole;
        uint64_t end;
    } how = {7, (uint32_t)left[at], left[(at + 1) % 4] | left[0] << 32};
    CU(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&x, &empty, &how},
                      NULL));
}

static void holes(CUstream stream)
{
    CUmodule other;
    CUfunction kernel;
    if (CU(cuModuleLoadData(&other, holes_ptx)) != CUDA_SUCCESS)
        return;
    CU(cuModuleGetFunction(&kernel, other, "holes"));
    for (uint64_t i = 0; i < 3; i++) {
        garbage(stream, kernel, i);
        (void)float_at(x, 0);
    }
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    garbage(stream, kernel, 3);
    run(end_capture(stream), stream);
}

/* The node's parameters are set; a graph for each of two values; warm-up with one value; and
 * a start-up that fills many buffers, each with its own. */
static void near(void)
{
    CUstream stream = new_stream();
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec execs[3];
    x = new_floats(), y = new_floats();
    holes(stream);
    for (int i = 0; i < 4; i++)
        FILL(stream, i < 2 ? x : y, (float)i);
    for (int i = 0; i < 3; i++)
        step(stream);
    CUDA_KERNEL_NODE_PARAMS kernel =
        floats_kernel(scale_add, (void *[]){&y, &x, &rate, &(unsigned){FLOATS}});
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    CU(cuGraphInstantiateWithFlags(&execs[0], graph, 0));
    for (int i = 0; i < STEPS; i++) {
        rate *= 0.5F;
        CU(cuGraphExecKernelNodeSetParams(execs[0], node, &kernel));
        CU(cuGraphLaunch(execs[0], stream));
    }
    CU(cuGraphDestroy(graph));
    for (int i = 1; i < 3; i++) {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        step(stream);
        execs[i] = end_capture(stream);
    }
    for (int i = 0; i < STEPS; i++)
        CU(cuGraphLaunch(execs[1 + i % 2], stream));
    CU(cuStreamSynchronize(stream));
    rate = 2;
    for (int i = 0; i < 3; i++, rate = 2)
        step(stream);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 9);
    run(end_capture(stream), stream);
    for (int i = 0; i < 3; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

BROKEN(first, second, near)
