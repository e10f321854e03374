// SPDX-License-Identifier: Apache-2.0
/* What the tests of captures on a real driver share: softcuda, or NVIDIA's where there is
 * a GPU; a kernel, three streams, some words of memory. */
#ifndef REPLAY_RUN_H
#define REPLAY_RUN_H
#include "runtime.h"

/* *p = *p * a + b: the order of two shows in the result. */
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry step(.param .u64 pp, .param .u32 pa, .param "
                          ".u32 pb)\n"
                          "{\n"
                          ".reg .b32 %r<4>;\n.reg .b64 %d<2>;\n"
                          "ld.param.u64 %d1, [pp];\n"
                          "ld.param.u32 %r1, [pa];\n"
                          "ld.param.u32 %r2, [pb];\n"
                          "ld.global.u32 %r3, [%d1];\n"
                          "mad.lo.u32 %r3, %r3, %r1, %r2;\n"
                          "st.global.u32 [%d1], %r3;\n"
                          "ret;\n"
                          "}\n";

enum { WORDS = 8 };

static CUfunction step;
static CUstream stream, side, third;
static CUevent forked, joined;
static CUdeviceptr words; /* WORDS of 32 bits */

static gph_status launch(CUstream where, int word, unsigned int a, unsigned int b)
{
    CUdeviceptr at = words + 4 * (CUdeviceptr)word;
    void *params[] = {&at, &a, &b};
    return gph_cuda_check(
        cu->LaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, where, params, NULL),
        "cuLaunchKernel", &error);
}

static unsigned int read_word(int word)
{
    unsigned int value = 0;
    CU(MemcpyDtoHAsync, &value, words + 4 * (CUdeviceptr)word, 4, stream);
    CU(StreamSynchronize, stream);
    return value;
}

static void clear_words(void)
{
    CU(MemsetD32Async, words, 0, WORDS, stream);
    CU(StreamSynchronize, stream);
}

static gph_capture *begin(gph_join_mode join, uint32_t flags)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    options.join = join;
    options.flags = flags;
    gph_capture *capture = NULL;
    CHECK_OK(gph_capture_begin(runtime, stream, &options, &capture, &error), error);
    return capture;
}

static void check_not_capturing(CUstream which)
{
    int status = -1;
    CU(StreamIsCapturing, which, &status);
    CHECK(status == 0);
}

/* Whatever went wrong before: all streams run, and capture again with forks. */
static void check_streams_are_usable(void)
{
    check_not_capturing(stream);
    check_not_capturing(side);
    check_not_capturing(third);
    gph_capture *capture = begin(GPH_JOIN_ERROR, 0);
    CUgraph graph = NULL;
    CHECK_OK(gph_capture_fork(capture, side, &error), error);
    CHECK_OK(launch(side, 7, 1, 1), error);
    CHECK_OK(gph_capture_join(capture, side, &error), error);
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    if (graph != NULL)
        CU(GraphDestroy, graph);
}

static bool set_up(void)
{
    runtime_open(GPH_DRIVER_AUTO, NULL);
    CUcontext context = NULL;
    CUmodule module = NULL;
    return CU(DevicePrimaryCtxRetain, &context, 0) && CU(CtxSetCurrent, context) &&
           CU(ModuleLoadData, &module, ptx) &&
           CU(ModuleGetFunction, &step, module, "step") && CU(StreamCreate, &stream, 1) &&
           CU(StreamCreate, &side, 1) && CU(StreamCreate, &third, 1) &&
           CU(EventCreate, &forked, 2) && CU(EventCreate, &joined, 2) &&
           CU(MemAlloc, &words, 4 * WORDS) && CHECK_OK(launch(stream, 0, 1, 1), error) &&
           CU(StreamSynchronize, stream);
}
#endif
