// SPDX-License-Identifier: Apache-2.0
// launch.assert
//
// An assert() of a kernel failed in a replay: CUDA_ERROR_ASSERT at a later call, and the
// context is of no use from then on. A replay runs with the values that were captured, so
// look at what the input buffers hold at the replay, not at the capture.
#include "broken.h"

/* below(in, limit, n): assert(in[i] < limit) */
static const char assert_ptx[] = BROKEN_HEAD
    ".global .align 1 .b8 said[17] = {105, 110, 91, 105, 93, 32, 60, 32, 108, 105, 109,\n"
    "                                 105, 116, 0};\n"
    ".global .align 1 .b8 file[8] = {98, 46, 99, 117, 0};\n"
    ".global .align 1 .b8 func[8] = {98, 101, 108, 111, 119, 0};\n"
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c,\n"
    "                           .param .b64 d, .param .b64 e);\n"
    ".visible .entry below(.param .u64 in, .param .f32 limit, .param .u32 n)\n"
    "{\n" BROKEN_INDEX "  ld.param.u64 %d1, [in]; ld.param.f32 %f1, [limit];\n"
    "  add.s64 %d2, %d1, %d7; ld.global.f32 %f2, [%d2];\n"
    "  setp.lt.f32 %p2, %f2, %f1; @%p2 ret;\n"
    "  mov.u64 %d1, said; cvta.global.u64 %d1, %d1;\n"
    "  mov.u64 %d2, file; cvta.global.u64 %d2, %d2;\n"
    "  mov.u64 %d3, func; cvta.global.u64 %d3, %d3;\n"
    "  {\n"
    "    .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
    "    st.param.b64 [a], %d1; st.param.b64 [b], %d2; st.param.b32 [c], 12;\n"
    "    st.param.b64 [d], %d3; st.param.b64 [e], 1;\n"
    "    call.uni __assertfail, (a, b, c, d, e);\n"
    "  }\n"
    "  ret;\n"
    "}\n";

static CUfunction load_below(void)
{
    CUmodule loaded = NULL;
    CUfunction out = NULL;
    if (CU(cuModuleLoadData(&loaded, assert_ptx)) != CUDA_SUCCESS)
        exit(77);
    CU(cuModuleGetFunction(&out, loaded, "below"));
    return out;
}

/* The input is beyond the limit in the second replay. */
static void first(void)
{
    CUfunction below = load_below();
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    LAUNCH(below, FLOATS / 128, stream, &x, &(float){1}, &(unsigned){FLOATS});
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    FILL(stream, x, 2);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream)); /* <-- first */
}

/* By hand, with a child graph; found by an event. */
static void second(void)
{
    CUfunction below = load_below();
    CUstream stream = new_stream();
    CUevent event = new_event();
    CUdeviceptr x = new_floats();
    CUgraph inner = NULL, graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUDA_KERNEL_NODE_PARAMS params = {.func = below,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 128,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams =
                                          (void *[]){&x, &(float){-1}, &(unsigned){128}}};
    CU(cuGraphCreate(&inner, 0));
    CU(cuGraphAddKernelNode(&node, inner, NULL, 0, &params));
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuEventRecord(event, stream)); /* <-- second, where it is noticed so early */
    CU(cuEventSynchronize(event));    /* <-- second */
}

/* Within the limit. */
static void near(void)
{
    CUfunction below = load_below();
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    LAUNCH(below, FLOATS / 128, stream, &x, &(float){1}, &(unsigned){FLOATS});
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
