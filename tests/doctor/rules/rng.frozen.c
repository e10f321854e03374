// SPDX-License-Identifier: Apache-2.0
// rng.frozen
//
// Seed and offset of a random generator are arguments of the kernel, so the graph holds
// them: every replay draws the same numbers. Keep the state in device memory and advance
// it inside the graph or before each launch, or set the kernel's parameter.
#include "broken.h"

/* dropout(float *out, const float *in, unsigned seed, unsigned n), with the seed by
 * value; philox_normal(float *out, const unsigned *state, unsigned n), with the state in
 * memory; advance(unsigned *state). */
static const char ptx[] = BROKEN_HEAD
    ".visible .entry dropout(.param .u64 out, .param .u64 in, .param .u32 seed,\n"
    "                        .param .u32 n)\n"
    "{\n" BROKEN_INDEX
    "  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.u32 %r6, [seed];\n"
    "  add.s64 %d3, %d1, %d7; add.s64 %d4, %d2, %d7; ld.global.f32 %f1, [%d4];\n"
    "  mad.lo.u32 %r7, %r1, 1664525, %r6; and.b32 %r7, %r7, 64;\n"
    "  setp.eq.u32 %p2, %r7, 0; @%p2 mov.f32 %f1, 0f00000000;\n"
    "  st.global.f32 [%d3], %f1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry philox_normal(.param .u64 out, .param .u64 state, .param .u32 n)\n"
    "{\n" BROKEN_INDEX "  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [state];\n"
    "  ld.global.u32 %r6, [%d2]; mad.lo.u32 %r7, %r1, 1664525, %r6;\n"
    "  cvt.rn.f32.u32 %f1, %r7; add.s64 %d3, %d1, %d7; st.global.f32 [%d3], %f1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry advance(.param .u64 state, .param .u32 n)\n"
    "{\n" BROKEN_INDEX
    "  ld.param.u64 %d1, [state]; ld.global.u32 %r6, [%d1]; add.u32 %r6, %r6, 97;\n"
    "  st.global.u32 [%d1], %r6;\n"
    "  ret;\n"
    "}\n";

enum { STEPS = 4, BYTES = FLOATS * sizeof(float) };

static CUfunction kernel_of(const char *name)
{
    CUmodule own = NULL;
    CUfunction out = NULL;
    CU(cuModuleLoadData(&own, ptx));
    CU(cuModuleGetFunction(&out, own, name));
    return out;
}

/* The seed was a counter of the host's. */
static void first(void)
{
    static float y[FLOATS];
    CUstream stream = new_stream();
    CUfunction dropout = kernel_of("dropout");
    const CUdeviceptr in = new_floats(), out = new_floats();
    unsigned seed = 1;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, in, 1);
    LAUNCH(dropout, 8, stream, /* <-- first */
           &(CUdeviceptr){out}, &(CUdeviceptr){in}, &seed, &(unsigned){FLOATS});
    SCALE_ADD(stream, in, out, 1);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        seed++;
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(y, out, BYTES, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

/* Made by hand; the masks are copied to the host inside the graph. */
static void second(void)
{
    static float y[FLOATS];
    CUstream stream = new_stream();
    CUdeviceptr in = new_floats(), out = new_floats();
    unsigned seed = 7, n = FLOATS;
    void *arguments[] = {&out, &in, &seed, &n};
    const CUDA_KERNEL_NODE_PARAMS draws = floats_kernel(kernel_of("dropout"), arguments);
    CUDA_MEMCPY3D copies = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                            .srcDevice = out,
                            .dstMemoryType = CU_MEMORYTYPE_HOST,
                            .dstHost = y,
                            .WidthInBytes = BYTES,
                            .Height = 1,
                            .Depth = 1};
    CUgraph graph = NULL;
    CUgraphNode nodes[3];
    CUgraphExec exec = NULL;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&nodes[0], graph, NULL, 0, &draws)); // <-- second
    CU(cuGraphAddMemcpyNode(&nodes[1], graph, nodes, 1, &copies, context));
    copies.srcDevice = in;
    CU(cuGraphAddMemcpyNode(&nodes[2], graph, nodes, 2, &copies, context));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < STEPS; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* The state lies in memory and is advanced in the graph; a seed by value is set before
 * each launch; and a state is filled from outside. */
static void near(void)
{
    static float y[FLOATS];
    CUstream stream = new_stream();
    CUfunction normal = kernel_of("philox_normal"), advance = kernel_of("advance");
    CUdeviceptr in = new_floats(), out = new_floats();
    const CUdeviceptr state = new_floats(), outside = new_floats();
    unsigned seed = 7, n = FLOATS;
    void *arguments[] = {&out, &in, &seed, &n};
    CUDA_KERNEL_NODE_PARAMS draws = floats_kernel(kernel_of("dropout"), arguments);
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec execs[3];
    for (int i = 0; i < 2; i++) {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        LAUNCH(normal, 8, stream, &(CUdeviceptr){out},
               &(CUdeviceptr){i == 0 ? state : outside}, &(unsigned){FLOATS});
        SCALE_ADD(stream, in, out, 1);
        if (i == 0)
            LAUNCH(advance, 1, stream, &(CUdeviceptr){state}, &(unsigned){1});
        execs[i] = end_capture(stream);
    }
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &draws));
    CU(cuGraphInstantiateWithFlags(&execs[2], graph, 0));
    for (int i = 0; i < STEPS; i++) {
        seed++;
        CU(cuGraphExecKernelNodeSetParams(execs[2], node, &draws));
        CU(cuMemsetD32Async(outside, seed, 1, stream));
        for (int k = 0; k < 3; k++) {
            CU(cuGraphLaunch(execs[k], stream));
            CU(cuMemcpyDtoHAsync(y, out, BYTES, stream));
        }
        CU(cuMemcpyDtoHAsync(y, in, BYTES, stream));
        CU(cuStreamSynchronize(stream));
    }
    for (int i = 0; i < 3; i++)
        CU(cuGraphExecDestroy(execs[i]));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
