// SPDX-License-Identifier: Apache-2.0
/* Chains of short kernels on the driver that GPH_DRIVER names (softcuda where it is not
 * set), for benches of what the device decides. What fails ends the program. Who includes it
 * defines _GNU_SOURCE. */
#ifndef BENCH_LINE_H
#define BENCH_LINE_H
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sample.h"
#include "tests/node.h"
#include <gph/gph.h>

/* work(count, word, never): a thread that computes a chain of `count` values, each from the
 * one before, writes the last one where `never` says, which is nowhere, and adds 1 to the
 * word, if there is one. */
static const char line_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry work(.param .u32 count, .param .u64 word, .param .u64 never)\n"
    "{\n.reg .pred %p<4>;\n.reg .b32 %r<6>;\n.reg .b64 %d<3>;\n"
    "ld.param.u32 %r1, [count];\nld.param.u64 %d1, [word];\nld.param.u64 %d2, [never];\n"
    "mov.u32 %r2, %r1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra DONE;\n"
    "AGAIN:\nshr.u32 %r3, %r2, 7;\nxor.b32 %r2, %r2, %r3;\n"
    "mad.lo.u32 %r2, %r2, 1664525, %r1;\nsub.u32 %r1, %r1, 1;\n"
    "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra AGAIN;\n"
    "DONE:\nsetp.eq.u64 %p3, %d2, 0;\n@%p3 bra COUNT;\nst.global.u32 [%d2], %r2;\n"
    "COUNT:\nsetp.eq.u64 %p2, %d1, 0;\n@%p2 bra END;\n"
    "ld.global.u32 %r4, [%d1];\nadd.u32 %r4, %r4, 1;\nst.global.u32 [%d1], %r4;\n"
    "END:\nret;\n}\n";

static struct {
    gph_runtime *runtime;
    const gph_cuda_calls *cu;
    CUresult(CUDAAPI *add_kernel)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t,
                                  const CUDA_KERNEL_NODE_PARAMS *);
    CUfunction work;
    CUstream stream;
    CUdeviceptr words; /* 64 bytes, zeros */
    bool is_gpu;
    gph_error error;
} line;

static void line_must(gph_status status, const char *what)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "%s: %d %s\n", what, (int)status, line.error.message);
    exit(1);
}
#define MUST(call) line_must((gph_status)(call), #call)

static void line_open(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    const char *wanted = getenv("GPH_DRIVER");
    gph_cuda_fn found;
    CUcontext context;
    CUmodule module;
    line.is_gpu = wanted && strcmp(wanted, "cuda") == 0;
    options.driver = line.is_gpu ? GPH_DRIVER_CUDA : GPH_DRIVER_SOFT;
    MUST(gph_open(&options, &line.runtime, &line.error));
    line.cu = gph_cuda(line.runtime);
    MUST(gph_cuda_find(line.runtime, "cuGraphAddKernelNode", &found, &line.error));
    line.add_kernel = (__typeof__(line.add_kernel))found;
    MUST(line.cu->DevicePrimaryCtxRetain(&context, 0));
    MUST(line.cu->CtxSetCurrent(context));
    MUST(line.cu->ModuleLoadData(&module, line_ptx));
    MUST(line.cu->ModuleGetFunction(&line.work, module, "work"));
    MUST(line.cu->StreamCreate(&line.stream, 1));
    MUST(line.cu->MemAlloc(&line.words, 64));
    MUST(line.cu->MemsetD32Async(line.words, 0, 16, line.stream));
    MUST(line.cu->StreamSynchronize(line.stream));
}

/* `count` kernels, one after the other; the last adds 1 to `word`. */
static CUgraph line_graph(unsigned count, unsigned work, CUdeviceptr word)
{
    CUgraph graph;
    CUgraphNode last = NULL;
    MUST(line.cu->GraphCreate(&graph, 0));
    for (unsigned i = 0; i < count; i++) {
        CUdeviceptr to = i + 1 == count ? word : 0, never = 0;
        void *arguments[] = {&work, &to, &never};
        const CUDA_KERNEL_NODE_PARAMS params = one_thread(line.work, arguments);
        CUgraphNode node;
        MUST(line.add_kernel(&node, graph, &last, last != NULL, &params));
        last = node;
    }
    return graph;
}

/* Of this thread. */
static double cpu_us(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e6 + (double)used.tv_nsec * 1e-3;
}

/* Bars are of a GPU; on softcuda they are said, and none is missed. Whether this one is. */
static bool line_misses(bool is_met)
{
    printf("%s\n", is_met        ? ""
                   : line.is_gpu ? ": MISSED"
                                 : ": not met, which a GPU has to");
    return !is_met && line.is_gpu;
}
#endif
