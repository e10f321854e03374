// SPDX-License-Identifier: Apache-2.0
/* Kernels that decide and launch, as nvcc writes the calls (-rdc=true), and what the programs
 * about them share. */
#ifndef BROKEN_DEVICE_H
#define BROKEN_DEVICE_H
#include "broken.h"

#define TAIL 0x0100000000000000ULL
#define FORGET 0x0200000000000000ULL

/* fire(exec, stream, out)         *out = cudaGraphLaunch(exec, stream)
 * fire_all(list, count, stream)   of each in turn
 * again(word, out)                counts the word down, and launches its own graph again
 * set(handle, value)              cudaGraphSetConditional()
 * down(handle, word)              counts the word down, which is then the handle's value
 * set_param(node, value, out)     the first 8 bytes of a node's parameters
 * add(word)                       one more */
/* clang-format off: the lines are PTX's */
static const char device_ptx[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 r) cudaGraphLaunch(.param .b64 e, .param .b64 s);\n"
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
    ".extern .func (.param .b32 r) cudaGraphKernelNodeSetParam(.param .b64 n, .param "
    ".b64 o, .param .b64 v, .param .b64 s);\n"
#define DEVICE_REGS "  .reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %d<6>;\n"
#define DEVICE_FIRE(exec)                                                                \
    "  { .param .b64 e; .param .b64 s; .param .b32 r;\n"                                 \
    "    st.param.b64 [e], " exec "; st.param.b64 [s], %d2;\n"                           \
    "    call.uni (r), cudaGraphLaunch, (e, s); ld.param.b32 %r2, [r]; }\n"
#define DEVICE_SET                                                                       \
    "  { .param .b64 h; .param .b32 v; st.param.b64 [h], %d1; st.param.b32 [v], %r1;\n"  \
    "    call.uni cudaGraphSetConditional, (h, v); }\n"
    ".visible .entry fire(.param .u64 exec, .param .u64 stream, .param .u64 out)\n"
    "{\n" DEVICE_REGS
    "  ld.param.u64 %d1, [exec]; ld.param.u64 %d2, [stream]; ld.param.u64 %d3, "
    "[out];\n" DEVICE_FIRE(
        "%d1") "  st.global.u32 [%d3], %r2;\n  ret;\n}\n"
               ".visible .entry fire_all(.param .u64 list, .param .u64 count, .param "
               ".u64 stream)\n"
               "{\n" DEVICE_REGS
               "  ld.param.u64 %d1, [list]; ld.param.u32 %r1, [count];\n"
               "  ld.param.u64 %d2, [stream];\n"
               "more:\n"
               "  setp.eq.u32 %p1, %r1, 0; @%p1 bra done;\n"
               "  ld.global.u64 %d4, [%d1];\n" DEVICE_FIRE(
                   "%d4") "  add.s64 %d1, %d1, 8; sub.u32 %r1, %r1, 1;\n"
                          "  bra.uni more;\n"
                          "done:\n  ret;\n}\n"
                          ".visible .entry again(.param .u64 word, .param .u64 out)\n"
                          "{\n" DEVICE_REGS
                          "  ld.param.u64 %d1, [word]; ld.param.u64 %d5, [out];\n"
                          "  ld.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra "
                          "done;\n"
                          "  sub.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;\n"
                          "  mov.u64 %d3, %current_graph_exec; mov.u64 %d2, "
                          "0x0100000000000000;\n" DEVICE_FIRE(
                              "%d3") "  st.global.u32 [%d5], %r2;\n"
                                     "done:\n  ret;\n}\n"
                                     ".visible .entry set(.param .u64 handle, .param "
                                     ".u32 value)\n"
                                     "{\n" DEVICE_REGS
                                     "  ld.param.u64 %d1, [handle]; ld.param.u32 %r1, "
                                     "[value];\n" DEVICE_SET "  ret;\n}\n"
                                     ".visible .entry down(.param .u64 handle, .param "
                                     ".u64 word)\n"
                                     "{\n" DEVICE_REGS "  ld.param.u64 %d1, [handle]; "
                                     "ld.param.u64 %d2, [word];\n"
                                     "  ld.global.u32 %r1, [%d2]; sub.u32 %r1, %r1, 1; "
                                     "st.global.u32 [%d2], %r1;\n" DEVICE_SET
                                     "  ret;\n}\n"
                                     ".visible .entry set_param(.param .u64 node, .param "
                                     ".u64 value, .param .u64 out)\n"
                                     "{\n" DEVICE_REGS
                                     "  ld.param.u64 %d1, [node]; ld.param.u64 %d2, "
                                     "[value]; ld.param.u64 %d4, [out];\n"
                                     "  mov.u64 %d3, 0; mov.u64 %d5, 8;\n"
                                     "  { .param .b64 n; .param .b64 o; .param .b64 v; "
                                     ".param .b64 s; .param .b32 r;\n"
                                     "    st.param.b64 [n], %d1; st.param.b64 [o], %d3; "
                                     "st.param.b64 [v], %d2;\n"
                                     "    st.param.b64 [s], %d5;\n"
                                     "    call.uni (r), cudaGraphKernelNodeSetParam, (n, "
                                     "o, v, s);\n"
                                     "    ld.param.b32 %r1, [r]; }\n"
                                     "  st.global.u32 [%d4], %r1;\n  ret;\n}\n"
                                     ".visible .entry add(.param .u64 word)\n"
                                     "{\n" DEVICE_REGS
                                     "  ld.param.u64 %d1, [word]; atom.global.add.u32 "
                                     "%r1, [%d1], 1;\n  ret;\n}\n";
/* clang-format on */

/* The kernel of that name; a driver without device graphs shows nothing. */
BROKEN_UNUSED static CUfunction device_kernel(const char *name)
{
    static CUmodule loaded;
    CUfunction out = NULL;
    if (!loaded && CU(cuModuleLoadData(&loaded, device_ptx)) != CUDA_SUCCESS)
        exit(77);
    CU(cuModuleGetFunction(&out, loaded, name));
    return out;
}

/* One thread of a kernel, launched or captured; as a macro, it has its caller's line. */
#define ONE(name, stream, ...)                                                           \
    CU(cuLaunchKernel(device_kernel(name), 1, 1, 1, 1, 1, 1, 0, (stream),                \
                      (void *[]){__VA_ARGS__}, NULL))

BROKEN_UNUSED static CUDA_KERNEL_NODE_PARAMS one_thread(const char *name,
                                                        void **arguments)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = device_kernel(name),
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = arguments};
}

BROKEN_UNUSED static CUgraphNode add_one(CUgraph graph, CUgraphNode before,
                                         const char *name, void **arguments)
{
    CUgraphNode node = NULL;
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(name, arguments);
    CU(cuGraphAddKernelNode(&node, graph, &before, before != NULL, &params));
    return node;
}

BROKEN_UNUSED static CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    CU(cuGraphCreate(&graph, 0));
    return graph;
}

/* Words of device memory, `value` each. */
BROKEN_UNUSED static CUdeviceptr new_words(unsigned value)
{
    CUdeviceptr out = 0;
    CU(cuMemAlloc(&out, 4096));
    CU(cuMemsetD32(out, value, 1024));
    CU(cuCtxSynchronize());
    return out;
}

BROKEN_UNUSED static unsigned word_at(CUdeviceptr from)
{
    unsigned word = 0;
    CU(cuMemcpyDtoH(&word, from, sizeof(word)));
    return word;
}

BROKEN_UNUSED static CUgraph add_graph(CUdeviceptr word)
{
    CUgraph graph = new_graph();
    add_one(graph, NULL, "add", (void *[]){&word});
    return graph;
}

/* A conditional node of one body, which is given; after `before`. */
BROKEN_UNUSED static CUgraph add_condition(CUgraph graph, CUgraphNode before,
                                           CUgraphConditionalHandle handle,
                                           CUgraphConditionalNodeType type)
{
    CUgraphNode node = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    CU(cuGraphAddNode(&node, graph, &before, NULL, before != NULL, &params));
    return params.conditional.phGraph_out ? params.conditional.phGraph_out[0] : NULL;
}

BROKEN_UNUSED static void launch_and_wait(CUgraphExec exec, CUstream stream)
{
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
}
#endif
