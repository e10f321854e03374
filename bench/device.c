// SPDX-License-Identifier: Apache-2.0
/* bench/device: what loops, launches and updates from the device cost, through the driver
 * API of softcuda or, with GPH_DRIVER=cuda in the environment, of NVIDIA's driver.
 *
 *   bench_device [SAMPLES]
 *
 * A launch of the host that does a thing many times less one that does it once, divided by
 * how often: medians, and the quarter that was faster. Beside them what the engine takes for
 * a graph of one empty kernel that the host launches. Bars are softcuda's (issue 14). */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/driver.h"
#include "bench/sample.h"

/* step(handle, word): counts down and sets what is left; again(word): counts down and
 * launches its own graph into the tail; fire(list, count): fire and forget; change(node,
 * value, count): sets a parameter again and again */
static const char ptx[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
    ".extern .func (.param .b32 r) cudaGraphLaunch(.param .b64 e, .param .b64 s);\n"
    ".extern .func (.param .b32 r) cudaGraphKernelNodeSetParam(.param .b64 n, .param "
    ".b64 o, .param .b64 v, .param .b64 s);\n"
    ".visible .entry nothing(.param .u64 p) { ret; }\n"
    ".visible .entry step(.param .u64 handle, .param .u64 word)\n"
    "{\n"
    "  .reg .b32 %r<3>; .reg .b64 %d<3>;\n"
    "  ld.param.u64 %d1, [handle]; ld.param.u64 %d2, [word];\n"
    "  ld.global.u32 %r1, [%d2]; add.u32 %r2, %r1, -1; st.global.u32 [%d2], %r2;\n"
    "  { .param .b64 h; .param .b32 v; st.param.b64 [h], %d1; st.param.b32 [v], %r2;\n"
    "    call.uni cudaGraphSetConditional, (h, v); }\n"
    "  ret;\n"
    "}\n"
    ".visible .entry again(.param .u64 word)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [word]; ld.global.u32 %r1, [%d1];\n"
    "  setp.eq.u32 %p1, %r1, 0; @%p1 bra done;\n"
    "  sub.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;\n"
    "  mov.u64 %d2, %current_graph_exec; mov.u64 %d3, 0x0100000000000000;\n"
    "  { .param .b64 e; .param .b64 s; .param .b32 r;\n"
    "    st.param.b64 [e], %d2; st.param.b64 [s], %d3;\n"
    "    call.uni (r), cudaGraphLaunch, (e, s); ld.param.b32 %r2, [r]; }\n"
    "done:\n"
    "  ret;\n"
    "}\n"
    ".visible .entry fire(.param .u64 list, .param .u64 word)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [list]; ld.param.u64 %d2, [word]; ld.global.u32 %r1, [%d2];\n"
    "  mov.u64 %d2, 0x0200000000000000;\n"
    "more:\n"
    "  setp.eq.u32 %p1, %r1, 0; @%p1 bra done;\n"
    "  ld.global.u64 %d3, [%d1];\n"
    "  { .param .b64 e; .param .b64 s; .param .b32 r;\n"
    "    st.param.b64 [e], %d3; st.param.b64 [s], %d2;\n"
    "    call.uni (r), cudaGraphLaunch, (e, s); ld.param.b32 %r2, [r]; }\n"
    "  add.s64 %d1, %d1, 8; sub.u32 %r1, %r1, 1;\n"
    "  bra.uni more;\n"
    "done:\n"
    "  ret;\n"
    "}\n"
    ".visible .entry change(.param .u64 node, .param .u64 value, .param .u64 word)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %d<6>;\n"
    "  ld.param.u64 %d1, [node]; ld.param.u64 %d2, [value]; ld.param.u64 %d3, [word];\n"
    "  ld.global.u32 %r1, [%d3]; mov.u64 %d4, 0; mov.u64 %d5, 8;\n"
    "more:\n"
    "  setp.eq.u32 %p1, %r1, 0; @%p1 bra done;\n"
    "  { .param .b64 n; .param .b64 o; .param .b64 v; .param .b64 s; .param .b32 r;\n"
    "    st.param.b64 [n], %d1; st.param.b64 [o], %d4; st.param.b64 [v], %d2;\n"
    "    st.param.b64 [s], %d5;\n"
    "    call.uni (r), cudaGraphKernelNodeSetParam, (n, o, v, s);\n"
    "    ld.param.b32 %r2, [r]; }\n"
    "  sub.u32 %r1, %r1, 1;\n"
    "  bra.uni more;\n"
    "done:\n"
    "  ret;\n"
    "}\n";

enum { SAMPLES_MAX = 1001, FORGOTTEN = 100 };

static CUstream stream;
static CUmodule module;
static CUdeviceptr word, list;
static int samples = 25, missed;

static CUgraphNode kernel(CUgraph graph, const CUgraphNode *before, const char *name,
                          void **arguments)
{
    CUfunction function;
    CUgraphNode node;
    CU(cuModuleGetFunction, &function, module, name);
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(function, arguments);
    CU(cuGraphAddKernelNode, &node, graph, before, before != NULL, &params);
    return node;
}

static CUgraphExec instantiate(CUgraph graph, unsigned flags)
{
    CUgraphExec exec;
    CU(cuGraphInstantiateWithFlags, &exec, graph, flags);
    CU(cuGraphUpload, exec, stream);
    CU(cuStreamSynchronize, stream);
    return exec;
}

static double launch_us(CUgraphExec exec, unsigned count)
{
    CU(cuMemsetD32, word, count, 1);
    driver_must(cu.cuCtxSynchronize(), "cuCtxSynchronize");
    const double from = now_us();
    CU(cuGraphLaunch, exec, stream);
    CU(cuStreamSynchronize, stream);
    return now_us() - from;
}

static double each[SAMPLES_MAX];
static double floor_ns; /* a launch by the host, in a row */

/* asked: 0, or ns that it may take on softcuda. */
static void say(const char *name, double asked)
{
    const double got = median(each, samples);
    printf("%-44s %9.1f ns (a quarter below %.1f)", name, got, each[samples / 4]);
    if (floor_ns > 0)
        printf(", %.2f of a host's launch", got / floor_ns);
    else
        floor_ns = got;
    if (asked > 0 && driver_is_soft) {
        printf(", asked %g%s", asked, got <= asked ? "" : ": MISSED");
        missed += got > asked;
    }
    printf("\n");
}

/* What one of `count` takes. */
static void measure(const char *name, CUgraphExec exec, unsigned count, double asked)
{
    for (int i = -3; i < samples; i++) {
        const double one = launch_us(exec, 1), all = launch_us(exec, count);
        if (i >= 0)
            each[i] = (all - one) * 1e3 / (count - 1);
    }
    say(name, asked);
}

/* The engine's floor: launches by the host, in a row and each waited for. */
static void host_launches(void)
{
    enum { COUNT = 500 };
    CUgraph graph;
    void *arguments[] = {&word};
    CU(cuGraphCreate, &graph, 0);
    kernel(graph, NULL, "nothing", arguments);
    CUgraphExec exec = instantiate(graph, 0);
    for (int waits = 0; waits < 2; waits++) {
        for (int i = -3; i < samples; i++) {
            const double from = now_us();
            for (int k = 0; k < COUNT; k++) {
                CU(cuGraphLaunch, exec, stream);
                if (waits)
                    CU(cuStreamSynchronize, stream);
            }
            CU(cuStreamSynchronize, stream);
            if (i >= 0)
                each[i] = (now_us() - from) * 1e3 / COUNT;
        }
        say(waits ? "the same, each waited for"
                  : "the host launches a graph of one kernel",
            0);
    }
    CU(cuGraphExecDestroy, exec);
    CU(cuGraphDestroy, graph);
}

/* `count` IF nodes one after the other, each with a handle and an empty kernel. */
static CUgraphExec row_of_ifs(unsigned count, unsigned value)
{
    CUgraph graph;
    CUgraphNode node = NULL;
    void *arguments[] = {&word};
    CU(cuGraphCreate, &graph, 0);
    for (unsigned i = 0; i < count; i++) {
        CUgraphNode before = node;
        CUgraphNodeParams params;
        memset(&params, 0, sizeof(params));
        params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
        params.conditional.type = CU_GRAPH_COND_TYPE_IF;
        params.conditional.size = 1;
        params.conditional.ctx = driver_context;
        CU(cuGraphConditionalHandleCreate, &params.conditional.handle, graph,
           driver_context, value, 1);
        CU(cuGraphAddNode, &node, graph, &before, NULL, before != NULL, &params);
        kernel(params.conditional.phGraph_out[0], NULL, "nothing", arguments);
    }
    CUgraphExec exec = instantiate(graph, 0);
    CU(cuGraphDestroy, graph);
    return exec;
}

static void branches(const char *name, unsigned value, double asked)
{
    enum { COUNT = 1000 };
    CUgraphExec one = row_of_ifs(1, value), all = row_of_ifs(COUNT, value);
    for (int i = -3; i < samples; i++) {
        const double least = launch_us(one, 1), most = launch_us(all, 1);
        if (i >= 0)
            each[i] = (most - least) * 1e3 / (COUNT - 1);
    }
    say(name, asked);
    CU(cuGraphExecDestroy, one);
    CU(cuGraphExecDestroy, all);
}

/* A WHILE node whose body has a deciding kernel and `more` empty ones. */
static void loops(const char *name, int more, double asked)
{
    CUgraph graph;
    CUgraphNode node;
    CUgraphConditionalHandle handle;
    CU(cuGraphCreate, &graph, 0);
    CU(cuGraphConditionalHandleCreate, &handle, graph, driver_context, 1, 1);
    CUgraphNodeParams params;
    memset(&params, 0, sizeof(params));
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    params.conditional.size = 1;
    params.conditional.ctx = driver_context;
    CU(cuGraphAddNode, &node, graph, NULL, NULL, 0, &params);
    void *arguments[] = {&handle, &word};
    CUgraph body = params.conditional.phGraph_out[0];
    node = kernel(body, NULL, "step", arguments);
    for (int i = 0; i < more; i++)
        node = kernel(body, &node, "nothing", &arguments[1]);
    CUgraphExec exec = instantiate(graph, 0);
    measure(name, exec, 20000, asked);
    CU(cuGraphExecDestroy, exec);
    CU(cuGraphDestroy, graph);
}

static void launches_itself(void)
{
    CUgraph graph;
    void *arguments[] = {&word};
    CU(cuGraphCreate, &graph, 0);
    kernel(graph, NULL, "again", arguments);
    CUgraphExec exec = instantiate(graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    measure("a graph launches itself into its tail", exec, 20000, 150);
    CU(cuGraphExecDestroy, exec);
    CU(cuGraphDestroy, graph);
}

static void fires_and_forgets(void)
{
    CUgraphExec execs[FORGOTTEN];
    CUgraph graph, host;
    void *nothing[] = {&word}, *arguments[] = {&list, &word};
    CU(cuGraphCreate, &graph, 0);
    CU(cuGraphCreate, &host, 0);
    kernel(graph, NULL, "nothing", nothing);
    for (int i = 0; i < FORGOTTEN; i++)
        execs[i] = instantiate(graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    CU(cuMemcpyHtoD, list, execs, sizeof(execs));
    kernel(host, NULL, "fire", arguments);
    CUgraphExec exec = instantiate(host, 0);
    measure("fire and forget, of 100 graphs of one kernel", exec, FORGOTTEN, 150);
    CU(cuGraphExecDestroy, exec);
    for (int i = 0; i < FORGOTTEN; i++)
        CU(cuGraphExecDestroy, execs[i]);
    CU(cuGraphDestroy, host);
    CU(cuGraphDestroy, graph);
}

static void changes(void)
{
    CUgraph graph, host;
    CUgraphNode node;
    CUlaunchAttributeValue value;
    void *nothing[] = {&word};
    memset(&value, 0, sizeof(value));
    value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    CU(cuGraphCreate, &graph, 0);
    CU(cuGraphCreate, &host, 0);
    node = kernel(graph, NULL, "nothing", nothing);
    CU(cuGraphKernelNodeSetAttribute, node,
       CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value);
    CUgraphExec changed = instantiate(graph, 0);
    void *arguments[] = {&value.deviceUpdatableKernelNode.devNode, &list, &word};
    kernel(host, NULL, "change", arguments);
    CUgraphExec exec = instantiate(host, 0);
    measure("a kernel sets a parameter of a node", exec, 20000, 0);
    CU(cuGraphExecDestroy, exec);
    CU(cuGraphExecDestroy, changed);
    CU(cuGraphDestroy, host);
    CU(cuGraphDestroy, graph);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        samples = atoi(argv[1]);
    if (samples < 1 || samples > SAMPLES_MAX) {
        fprintf(stderr, "usage: bench_device [SAMPLES], 1 to %d\n", SAMPLES_MAX);
        return 2;
    }
    driver_must_open(BENCH_SOFTCUDA);
    CU(cuModuleLoadData, &module, ptx);
    CU(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    CU(cuMemAlloc, &word, 4096);
    CU(cuMemAlloc, &list, 4096);
    host_launches();
    branches("IF, its body is not run", 0, 40);
    branches("IF, its body of one kernel is run", 1, 40);
    loops("WHILE, a round: the deciding kernel", 0, 60);
    loops("the same and 8 empty kernels", 8, 0);
    launches_itself();
    fires_and_forgets();
    changes();
    return missed ? 3 : 0;
}
