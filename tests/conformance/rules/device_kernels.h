// SPDX-License-Identifier: Apache-2.0
/* Kernels that launch graphs and change nodes, as nvcc writes the calls (-rdc=true), and
 * graphs of one such kernel. */
#ifndef CONFORMANCE_DEVICE_KERNELS_H
#define CONFORMANCE_DEVICE_KERNELS_H
#include "graphs.h"

#define TAIL UINT64_C(0x0100000000000000)
#define FORGET UINT64_C(0x0200000000000000)
#define SIBLING UINT64_C(0x0300000000000000)

#define DEVICE_HEAD ".version 8.0\n.target sm_70\n.address_size 64\n"

/* fire(exec, stream, out): *out = cudaGraphLaunch()
 * fire_all(list, count, stream, out): of each, in turn
 * again(word, out): counts the word down and launches its own graph into the tail
 * current(out): %current_graph_exec; mark(log, value): appends to a log that begins with
 * its length; await(flag, log, value): mark() when the flag is not 0, or after a while;
 * raise(flag, log, value); blocks(word): one more a block; nap(ns)
 * set_param(node, offset, value, bytes, out), set_enabled(node, on, out),
 * set_grid(node, x, out), apply(updates, count, out) */
static const char launch_ptx[] = DEVICE_HEAD
    ".extern .func (.param .b32 r) cudaGraphLaunch(.param .b64 e, .param .b64 s);\n"
    ".visible .entry fire(.param .u64 exec, .param .u64 stream, .param .u64 out)\n"
    "{\n"
    "  .reg .b32 %r<2>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [exec]; ld.param.u64 %d2, [stream]; ld.param.u64 %d3, [out];\n"
    "  { .param .b64 e; .param .b64 s; .param .b32 r;\n"
    "    st.param.b64 [e], %d1; st.param.b64 [s], %d2;\n"
    "    call.uni (r), cudaGraphLaunch, (e, s); ld.param.b32 %r1, [r]; }\n"
    "  st.global.u32 [%d3], %r1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry fire_all(.param .u64 list, .param .u32 count, .param .u64 stream, "
    ".param .u64 out)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %d<5>;\n"
    "  ld.param.u64 %d1, [list]; ld.param.u32 %r1, [count];\n"
    "  ld.param.u64 %d2, [stream]; ld.param.u64 %d3, [out];\n"
    "more:\n"
    "  setp.eq.u32 %p1, %r1, 0; @%p1 bra done;\n"
    "  ld.global.u64 %d4, [%d1];\n"
    "  { .param .b64 e; .param .b64 s; .param .b32 r;\n"
    "    st.param.b64 [e], %d4; st.param.b64 [s], %d2;\n"
    "    call.uni (r), cudaGraphLaunch, (e, s); ld.param.b32 %r2, [r]; }\n"
    "  st.global.u32 [%d3], %r2;\n"
    "  add.s64 %d1, %d1, 8; add.s64 %d3, %d3, 4; sub.u32 %r1, %r1, 1;\n"
    "  bra.uni more;\n"
    "done:\n"
    "  ret;\n"
    "}\n"
    ".visible .entry again(.param .u64 word, .param .u64 out)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %d<5>;\n"
    "  ld.param.u64 %d1, [word]; ld.param.u64 %d2, [out];\n"
    "  ld.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra done;\n"
    "  sub.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;\n"
    "  mov.u64 %d3, %current_graph_exec; mov.u64 %d4, 0x0100000000000000;\n"
    "  { .param .b64 e; .param .b64 s; .param .b32 r;\n"
    "    st.param.b64 [e], %d3; st.param.b64 [s], %d4;\n"
    "    call.uni (r), cudaGraphLaunch, (e, s); ld.param.b32 %r2, [r]; }\n"
    "  st.global.u32 [%d2], %r2;\n"
    "done:\n"
    "  ret;\n"
    "}\n"
    ".visible .entry current(.param .u64 out)\n"
    "{\n"
    "  .reg .b64 %d<3>;\n"
    "  ld.param.u64 %d1, [out]; mov.u64 %d2, %current_graph_exec;\n"
    "  st.global.u64 [%d1], %d2;\n"
    "  ret;\n"
    "}\n";

static const char mark_ptx[] = DEVICE_HEAD
    ".visible .entry mark(.param .u64 log, .param .u32 value)\n"
    "{\n"
    "  .reg .b32 %r<3>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [log]; ld.param.u32 %r1, [value];\n"
    "  atom.global.add.u32 %r2, [%d1], 1;\n"
    "  mul.wide.u32 %d2, %r2, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3+4], %r1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry await(.param .u64 flag, .param .u64 log, .param .u32 value)\n"
    "{\n"
    "  .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %d<5>;\n"
    "  ld.param.u64 %d1, [log]; ld.param.u32 %r1, [value]; ld.param.u64 %d4, [flag];\n"
    "  mov.u32 %r3, 0;\n"
    "more:\n"
    "  ld.volatile.global.u32 %r4, [%d4]; setp.ne.u32 %p1, %r4, 0; @%p1 bra done;\n"
    "  nanosleep.u32 1000; add.u32 %r3, %r3, 1;\n"
    "  setp.lt.u32 %p2, %r3, 1000000; @%p2 bra more;\n"
    "done:\n"
    "  atom.global.add.u32 %r2, [%d1], 1;\n"
    "  mul.wide.u32 %d2, %r2, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3+4], %r1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry raise(.param .u64 flag, .param .u64 log, .param .u32 value)\n"
    "{\n"
    "  .reg .b32 %r<4>; .reg .b64 %d<5>;\n"
    "  ld.param.u64 %d1, [log]; ld.param.u32 %r1, [value]; ld.param.u64 %d4, [flag];\n"
    "  atom.global.add.u32 %r2, [%d1], 1;\n"
    "  mul.wide.u32 %d2, %r2, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3+4], %r1;\n"
    "  membar.gl; mov.u32 %r3, 1; st.volatile.global.u32 [%d4], %r3;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry blocks(.param .u64 word)\n"
    "{\n"
    "  .reg .b32 %r<2>; .reg .b64 %d<2>;\n"
    "  ld.param.u64 %d1, [word]; atom.global.add.u32 %r1, [%d1], 1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry nap(.param .u32 rounds)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<2>;\n"
    "  ld.param.u32 %r1, [rounds];\n"
    "more:\n"
    "  setp.eq.u32 %p1, %r1, 0; @%p1 bra done;\n"
    "  nanosleep.u32 1000; sub.u32 %r1, %r1, 1; bra.uni more;\n"
    "done:\n"
    "  ret;\n"
    "}\n";

static const char update_ptx[] = DEVICE_HEAD
    ".extern .func (.param .b32 r) cudaGraphKernelNodeSetParam(.param .b64 n, .param "
    ".b64 o, .param .b64 v, .param .b64 s);\n"
    ".extern .func (.param .b32 r) cudaGraphKernelNodeSetEnabled(.param .b64 n, .param "
    ".b32 e);\n"
    ".extern .func (.param .b32 r) cudaGraphKernelNodeSetGridDim(.param .b64 n, .param "
    ".align 4 .b8 d[12]);\n"
    ".extern .func (.param .b32 r) cudaGraphKernelNodeUpdatesApply(.param .b64 u, .param "
    ".b64 c);\n"
    ".visible .entry set_param(.param .u64 node, .param .u64 offset, .param .u64 value, "
    ".param .u64 bytes, .param .u64 out)\n"
    "{\n"
    "  .reg .b32 %r<2>; .reg .b64 %d<6>;\n"
    "  ld.param.u64 %d1, [node]; ld.param.u64 %d2, [offset]; ld.param.u64 %d3, [value];\n"
    "  ld.param.u64 %d4, [bytes]; ld.param.u64 %d5, [out];\n"
    "  { .param .b64 n; .param .b64 o; .param .b64 v; .param .b64 s; .param .b32 r;\n"
    "    st.param.b64 [n], %d1; st.param.b64 [o], %d2; st.param.b64 [v], %d3;\n"
    "    st.param.b64 [s], %d4;\n"
    "    call.uni (r), cudaGraphKernelNodeSetParam, (n, o, v, s);\n"
    "    ld.param.b32 %r1, [r]; }\n"
    "  st.global.u32 [%d5], %r1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry set_enabled(.param .u64 node, .param .u32 on, .param .u64 out)\n"
    "{\n"
    "  .reg .b32 %r<3>; .reg .b64 %d<3>;\n"
    "  ld.param.u64 %d1, [node]; ld.param.u32 %r1, [on]; ld.param.u64 %d2, [out];\n"
    "  { .param .b64 n; .param .b32 e; .param .b32 r;\n"
    "    st.param.b64 [n], %d1; st.param.b32 [e], %r1;\n"
    "    call.uni (r), cudaGraphKernelNodeSetEnabled, (n, e); ld.param.b32 %r2, [r]; }\n"
    "  st.global.u32 [%d2], %r2;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry set_grid(.param .u64 node, .param .u32 x, .param .u64 out)\n"
    "{\n"
    "  .reg .b32 %r<4>; .reg .b64 %d<3>;\n"
    "  ld.param.u64 %d1, [node]; ld.param.u32 %r1, [x]; ld.param.u64 %d2, [out];\n"
    "  mov.u32 %r2, 1;\n"
    "  { .param .b64 n; .param .align 4 .b8 d[12]; .param .b32 r;\n"
    "    st.param.b64 [n], %d1; st.param.b32 [d], %r1; st.param.b32 [d+4], %r2;\n"
    "    st.param.b32 [d+8], %r2;\n"
    "    call.uni (r), cudaGraphKernelNodeSetGridDim, (n, d); ld.param.b32 %r3, [r]; }\n"
    "  st.global.u32 [%d2], %r3;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry apply(.param .u64 updates, .param .u64 count, .param .u64 out)\n"
    "{\n"
    "  .reg .b32 %r<2>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [updates]; ld.param.u64 %d2, [count]; ld.param.u64 %d3, [out];\n"
    "  { .param .b64 u; .param .b64 c; .param .b32 r;\n"
    "    st.param.b64 [u], %d1; st.param.b64 [c], %d2;\n"
    "    call.uni (r), cudaGraphKernelNodeUpdatesApply, (u, c); ld.param.b32 %r1, [r]; "
    "}\n"
    "  st.global.u32 [%d3], %r1;\n"
    "  ret;\n"
    "}\n";

static CUmodule modules[3];
static CUcontext context;
static CUstream stream;
static CUdeviceptr log_, word, answer;

static inline CUfunction function(const char *name)
{
    CUfunction found = NULL;
    for (int i = 0; i < 3 && !found; i++)
        if (cu.cuModuleGetFunction(&found, modules[i], name) != CUDA_SUCCESS)
            found = NULL;
    CHECK(found != NULL);
    return found;
}

static inline void set_up(void)
{
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuModuleLoadData(&modules[0], launch_ptx));
    OK(cu.cuModuleLoadData(&modules[1], mark_ptx));
    OK(cu.cuModuleLoadData(&modules[2], update_ptx));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    log_ = new_words();
    word = new_words();
    answer = new_words();
}

static inline CUgraphNode node_behind(CUgraph graph, CUgraphNode before, const char *name,
                                      void **args)
{
    CUgraphNode node = NULL;
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(function(name), args);
    OK(cu.cuGraphAddKernelNode(&node, graph, &before, before != NULL, &params));
    return node;
}

static inline CUgraphNode marks(CUgraph graph, CUgraphNode before, unsigned value)
{
    void *args[] = {&log_, &value};
    return node_behind(graph, before, "mark", args);
}

/* Its answer goes to answer[at]. */
static inline CUgraphNode fires(CUgraph graph, CUgraphNode before, CUgraphExec exec,
                                uint64_t where, unsigned at)
{
    CUdeviceptr out = answer + 4ull * at;
    void *args[] = {&exec, &where, &out};
    return node_behind(graph, before, "fire", args);
}

static inline CUgraphExec for_device(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph,
                                      CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    return exec;
}

/* The graph goes, the executable is uploaded. */
static inline CUgraphExec uploaded(CUgraph graph)
{
    CUgraphExec exec = for_device(graph);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphUpload(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    return exec;
}

static inline CUgraphExec marking(unsigned value)
{
    CUgraph graph = new_graph();
    marks(graph, NULL, value);
    return uploaded(graph);
}

static inline void clear(void)
{
    OK(cu.cuMemsetD32(log_, 0, 1024));
    OK(cu.cuMemsetD32(answer, 99, 1024));
    OK(cu.cuCtxSynchronize());
}

static inline void launch_and_wait(CUgraphExec exec)
{
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
}

/* Whether the log has just these values. */
static inline bool has_logged(unsigned count, const unsigned *values)
{
    unsigned got[64] = {0};
    OK(cu.cuMemcpyDtoH(got, log_, sizeof(got)));
    const bool same =
        got[0] == count &&
        (count == 0 || memcmp(got + 1, values, count * sizeof(*values)) == 0);
    for (unsigned i = 0; !same && i <= got[0] && i < 64; i++)
        fprintf(stderr, "%s%u", i ? ", " : "log of ", got[i]);
    if (!same)
        fputc('\n', stderr);
    return same;
}
#define LOGGED(...)                                                                      \
    CHECK(has_logged(sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned),               \
                     (unsigned[]){__VA_ARGS__}))
#define LOGGED_NOTHING() CHECK(has_logged(0, NULL))
#define ANSWERED(at, expected)                                                           \
    CHECK(word_at(answer + 4ull * (at)) == (unsigned)(expected))
#endif
