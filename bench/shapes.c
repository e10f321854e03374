// SPDX-License-Identifier: Apache-2.0
/* bench/shapes: shapes and habits beside those of bench/replay, through the driver API:
 * what a node or a launch takes where graphs fork and join, nest, copy, loop, take turns, or
 * are launched by several threads and streams. The chain of kernels and the single kernel
 * come first: every other row is said as a multiple of its simple one.
 *
 *   bench_shapes [SAMPLES]
 *
 * GPH_DRIVER=cuda asks NVIDIA's driver. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/driver.h"
#include "bench/sample.h"

/* step(handle, word): counts down and sets what is left */
static const char ptx[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
    ".visible .entry nothing() { ret; }\n"
    ".visible .entry step(.param .u64 handle, .param .u64 word)\n"
    "{\n"
    "  .reg .b32 %r<3>; .reg .b64 %d<3>;\n"
    "  ld.param.u64 %d1, [handle]; ld.param.u64 %d2, [word];\n"
    "  ld.global.u32 %r1, [%d2]; add.u32 %r2, %r1, -1; st.global.u32 [%d2], %r2;\n"
    "  { .param .b64 h; .param .b32 v; st.param.b64 [h], %d1; st.param.b32 [v], %r2;\n"
    "    call.uni cudaGraphSetConditional, (h, v); }\n"
    "  ret;\n"
    "}\n";

enum { SAMPLES_MAX = 101, STREAMS = 4, MANY = 64, ROUNDS = 1000 };

static CUfunction nothing, step;
static CUdeviceptr word;
static CUstream streams[STREAMS];
static int samples = 9;
static double each[SAMPLES_MAX];
static double node_ns, launch_ns; /* of the simple shapes */

/* ---- graphs ------------------------------------------------------------------------ */

typedef enum kind { KERNEL, MEMSET, MEMCPY, EMPTY, HOST } kind;

static void CUDA_CB host_does_nothing(void *unused)
{
    (void)unused;
}

static CUgraphNode add(CUgraph graph, kind what, const CUgraphNode *after, size_t count)
{
    CUgraphNode node;
    const CUDA_KERNEL_NODE_PARAMS kernel = one_thread(nothing, NULL);
    const CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = word + 64, .elementSize = 4, .width = 16, .height = 1};
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = word + 64,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = word + 256,
                                .WidthInBytes = 64,
                                .Height = 1,
                                .Depth = 1};
    const CUDA_HOST_NODE_PARAMS host = {.fn = host_does_nothing};
    switch (what) {
    case KERNEL: CU(cuGraphAddKernelNode, &node, graph, after, count, &kernel); break;
    case MEMSET:
        CU(cuGraphAddMemsetNode, &node, graph, after, count, &fill, driver_context);
        break;
    case MEMCPY:
        CU(cuGraphAddMemcpyNode, &node, graph, after, count, &copy, driver_context);
        break;
    case EMPTY: CU(cuGraphAddEmptyNode, &node, graph, after, count); break;
    case HOST: CU(cuGraphAddHostNode, &node, graph, after, count, &host); break;
    }
    return node;
}

static CUgraph new_graph(void)
{
    CUgraph graph;
    CU(cuGraphCreate, &graph, 0);
    return graph;
}

/* Consumes the graph. */
static CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec;
    CU(cuGraphInstantiateWithFlags, &exec, graph, 0);
    CU(cuGraphUpload, exec, streams[0]);
    CU(cuStreamSynchronize, streams[0]);
    CU(cuGraphDestroy, graph);
    return exec;
}

/* The kinds by turns. */
static CUgraph chain(const kind *kinds, unsigned kind_count, unsigned count)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    for (unsigned i = 0; i < count; i++)
        node = add(graph, kinds[i % kind_count], &node, i > 0);
    return graph;
}

/* Layers of so many nodes by turns, each node after all of the layer before. */
static CUgraph layers(unsigned first, unsigned second, unsigned count, unsigned *nodes)
{
    CUgraphNode before[MANY], now[MANY];
    CUgraph graph = new_graph();
    unsigned had = 0;
    for (unsigned layer = 0; *nodes < count; layer++) {
        const unsigned wide = layer % 2 == 0 ? first : second;
        for (unsigned i = 0; i < wide; i++)
            now[i] = add(graph, KERNEL, before, had);
        memcpy(before, now, wide * sizeof(*now));
        *nodes += had = wide;
    }
    return graph;
}

static CUgraph children(unsigned count, unsigned inside)
{
    const kind kernel = KERNEL;
    CUgraph graph = new_graph(), child = chain(&kernel, 1, inside);
    CUgraphNode node = NULL;
    for (unsigned i = 0; i < count; i++) {
        const CUgraphNode before = node;
        CU(cuGraphAddChildGraphNode, &node, graph, &before, i > 0, child);
    }
    CU(cuGraphDestroy, child);
    return graph;
}

/* A WHILE node whose body has a deciding kernel and `more` empty ones. */
static CUgraph loop(unsigned more)
{
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUgraphNodeParams params;
    memset(&params, 0, sizeof(params));
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    CU(cuGraphConditionalHandleCreate, &params.conditional.handle, graph, driver_context,
       1, 1);
    params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    params.conditional.size = 1;
    params.conditional.ctx = driver_context;
    CU(cuGraphAddNode, &node, graph, NULL, NULL, 0, &params);
    CUgraph body = params.conditional.phGraph_out[0];
    void *arguments[] = {&params.conditional.handle, &word};
    const CUDA_KERNEL_NODE_PARAMS decide = one_thread(step, arguments);
    CU(cuGraphAddKernelNode, &node, body, NULL, 0, &decide);
    for (unsigned i = 0; i < more; i++)
        node = add(body, KERNEL, &node, 1);
    return graph;
}

/* ---- rows -------------------------------------------------------------------------- */

static void say(const char *name, double simple, const char *of)
{
    const double ns = median(each, samples);
    printf("%-58s %9.1f ns a %s", name, ns, of);
    if (simple > 0)
        printf("  %6.2f x%s", ns / simple, ns > 3 * simple ? "  over 3" : "");
    printf("\n");
    fflush(stdout);
}

static void launch_and_wait(CUgraphExec exec)
{
    CU(cuGraphLaunch, exec, streams[0]);
    CU(cuStreamSynchronize, streams[0]);
}

/* A graph launched and waited for, by node. Ends the executable. */
static double nodes_row(const char *name, CUgraphExec exec, unsigned nodes,
                        unsigned rounds)
{
    int count = (int)(2000000 / (nodes * 10 + 100));
    count = rounds > 0 ? 20 : count < 3 ? 3 : count;
    for (int i = -2; i < samples; i++) {
        double us = 0;
        for (int k = 0; k < count; k++) {
            if (rounds > 0) {
                CU(cuMemsetD32, word, rounds, 1);
                driver_must(cu.cuCtxSynchronize(), "cuCtxSynchronize");
            }
            const double from = now_us();
            launch_and_wait(exec);
            us += now_us() - from;
        }
        if (i >= 0)
            each[i] = us * 1e3 / count / nodes;
    }
    say(name, node_ns, rounds > 0 ? "round" : "node");
    CU(cuGraphExecDestroy, exec);
    return median(each, samples);
}

/* What `run` does, `count` launches a time. */
static double launches_row(const char *name, void (*run)(CUgraphExec *),
                           CUgraphExec *execs, int count)
{
    for (int i = -2; i < samples; i++) {
        const double from = now_us();
        run(execs);
        if (i >= 0)
            each[i] = (now_us() - from) * 1e3 / count;
    }
    say(name, launch_ns, "launch");
    return median(each, samples);
}

static void wait_for_all(void)
{
    for (int s = 0; s < STREAMS; s++)
        CU(cuStreamSynchronize, streams[s]);
}

static void one_waited(CUgraphExec *execs)
{
    for (int i = 0; i < ROUNDS; i++)
        launch_and_wait(execs[0]);
}

static void one_in_a_row(CUgraphExec *execs)
{
    for (int i = 0; i < ROUNDS; i++)
        CU(cuGraphLaunch, execs[0], streams[0]);
    wait_for_all();
}

static void many_waited(CUgraphExec *execs)
{
    for (int i = 0; i < ROUNDS; i++)
        launch_and_wait(execs[i % MANY]);
}

static void many_in_a_row(CUgraphExec *execs)
{
    for (int i = 0; i < ROUNDS; i++)
        CU(cuGraphLaunch, execs[i % MANY], streams[0]);
    wait_for_all();
}

/* One thread, a graph on each of four streams, then it waits for all. */
static void streams_waited(CUgraphExec *execs)
{
    for (int i = 0; i < ROUNDS; i += STREAMS) {
        for (int s = 0; s < STREAMS; s++)
            CU(cuGraphLaunch, execs[s], streams[s]);
        wait_for_all();
    }
}

static void streams_in_a_row(CUgraphExec *execs)
{
    for (int i = 0; i < ROUNDS; i++)
        CU(cuGraphLaunch, execs[i % STREAMS], streams[i % STREAMS]);
    wait_for_all();
}

/* From stream to stream by events, as a pipeline does. */
static void relay(CUgraphExec *execs, bool waits)
{
    static CUevent events[STREAMS];
    for (int s = 0; s < STREAMS && !events[s]; s++)
        CU(cuEventCreate, &events[s], CU_EVENT_DISABLE_TIMING);
    for (int i = 0; i < ROUNDS; i++) {
        const int s = i % STREAMS, next = (i + 1) % STREAMS;
        CU(cuGraphLaunch, execs[s], streams[s]);
        CU(cuEventRecord, events[s], streams[s]);
        CU(cuStreamWaitEvent, streams[next], events[s], 0);
        if (waits && next == 0)
            CU(cuStreamSynchronize, streams[s]);
    }
    wait_for_all();
}

static void relay_in_a_row(CUgraphExec *execs)
{
    relay(execs, false);
}

static void relay_waited(CUgraphExec *execs)
{
    relay(execs, true);
}

/* ---- threads ----------------------------------------------------------------------- */

struct launcher {
    CUgraphExec exec;
    CUstream stream;
};
static atomic_int ready, go;

static void *launch_alone(void *user)
{
    const struct launcher *own = user;
    driver_must(cu.cuCtxSetCurrent(driver_context), "cuCtxSetCurrent");
    atomic_fetch_add(&ready, 1);
    while (!atomic_load(&go))
        sched_yield();
    for (int i = 0; i < ROUNDS; i++) {
        CU(cuGraphLaunch, own->exec, own->stream);
        CU(cuStreamSynchronize, own->stream);
    }
    return NULL;
}

/* `count` threads, each with a graph and a stream: the time of all launches by their number. */
static void threads_row(const char *name, CUgraphExec *execs, int count)
{
    for (int i = -2; i < samples; i++) {
        pthread_t threads[STREAMS];
        struct launcher launchers[STREAMS];
        atomic_store(&ready, 0);
        atomic_store(&go, 0);
        for (int t = 0; t < count; t++) {
            launchers[t] = (struct launcher){execs[t], streams[t]};
            if (pthread_create(&threads[t], NULL, launch_alone, &launchers[t]) != 0)
                exit(1);
        }
        while (atomic_load(&ready) < count)
            sched_yield();
        const double from = now_us();
        atomic_store(&go, 1);
        for (int t = 0; t < count; t++)
            pthread_join(threads[t], NULL);
        if (i >= 0)
            each[i] = (now_us() - from) * 1e3 / ROUNDS / count;
    }
    say(name, launch_ns, "launch");
}

/* ---- all of it --------------------------------------------------------------------- */

static void by_nodes(void)
{
    static const kind mixed[] = {MEMSET, KERNEL, MEMCPY, KERNEL};
    static const kind kinds[] = {KERNEL, MEMSET, MEMCPY, EMPTY, HOST};
    node_ns =
        nodes_row("chain of 1,000 kernels", instantiate(chain(kinds, 1, 1000)), 1000, 0);
    unsigned nodes = 0;
    CUgraphExec exec = instantiate(layers(1, 2, 4000, &nodes));
    nodes_row("diamonds: 1, 2, 1, 2, ...", exec, nodes, 0);
    nodes = 0;
    exec = instantiate(layers(MANY, 1, 4000, &nodes));
    nodes_row("wide, narrow, wide: 64, 1, 64, ...", exec, nodes, 0);
    nodes = 0;
    exec = instantiate(layers(8, 8, 4000, &nodes));
    nodes_row("layers of 8, each after all 8 before", exec, nodes, 0);
    nodes_row("100 child graphs of 10 kernels", instantiate(children(100, 10)), 1000, 0);
    nodes_row("1,000 child graphs of a kernel", instantiate(children(1000, 1)), 1000, 0);
    nodes_row("chain of 1,000 memsets of 64 bytes",
              instantiate(chain(&kinds[MEMSET], 1, 1000)), 1000, 0);
    nodes_row("chain of 1,000 copies of 64 bytes",
              instantiate(chain(&kinds[MEMCPY], 1, 1000)), 1000, 0);
    nodes_row("memset, kernel, copy, kernel, ...", instantiate(chain(mixed, 4, 1000)),
              1000, 0);
    nodes_row("chain of 1,000 empty nodes", instantiate(chain(&kinds[EMPTY], 1, 1000)),
              1000, 0);
    nodes_row("chain of 100 host functions", instantiate(chain(&kinds[HOST], 1, 100)),
              100, 0);
    nodes_row("WHILE of 1,000 rounds, the deciding kernel", instantiate(loop(0)), ROUNDS,
              ROUNDS);
    nodes_row("the same and 8 empty kernels", instantiate(loop(8)), ROUNDS, ROUNDS);
}

static void by_launches(int size)
{
    const kind kernel = KERNEL;
    CUgraphExec execs[MANY];
    for (int i = 0; i < MANY; i++)
        execs[i] = instantiate(chain(&kernel, 1, (unsigned)size));
    printf("-- graphs of %d kernel%s\n", size, size == 1 ? "" : "s");
    launch_ns = 0;
    launch_ns =
        launches_row("one graph, each launch waited for", one_waited, execs, ROUNDS);
    launches_row("one graph, in a row", one_in_a_row, execs, ROUNDS);
    launches_row("64 graphs in turn, each waited for", many_waited, execs, ROUNDS);
    launches_row("64 graphs in turn, in a row", many_in_a_row, execs, ROUNDS);
    launches_row("4 streams, a graph each, then waited for", streams_waited, execs,
                 ROUNDS);
    launches_row("4 streams in turn, in a row", streams_in_a_row, execs, ROUNDS);
    launches_row("4 streams, each after the one before by an event", relay_in_a_row,
                 execs, ROUNDS);
    launches_row("the same, each fourth waited for", relay_waited, execs, ROUNDS);
    threads_row("2 threads with a stream each, each launch waited for", execs, 2);
    threads_row("4 threads with a stream each, each launch waited for", execs, STREAMS);
    for (int i = 0; i < MANY; i++)
        CU(cuGraphExecDestroy, execs[i]);
}

int main(int argc, char **argv)
{
    CUmodule module;
    samples = argc > 1 ? atoi(argv[1]) : samples;
    if (samples < 1 || samples > SAMPLES_MAX || argc > 2) {
        fprintf(stderr, "usage: bench_shapes [SAMPLES], 1 to %d\n", SAMPLES_MAX);
        return 2;
    }
    driver_must_open(BENCH_SOFTCUDA);
    CU(cuModuleLoadData, &module, ptx);
    CU(cuModuleGetFunction, &nothing, module, "nothing");
    CU(cuModuleGetFunction, &step, module, "step");
    CU(cuMemAlloc, &word, 4096);
    for (int s = 0; s < STREAMS; s++)
        CU(cuStreamCreate, &streams[s], CU_STREAM_NON_BLOCKING);
    printf("medians of %d; multiples of the first row of each part\n", samples);
    by_nodes();
    by_launches(1);
    by_launches(10);
    return 0;
}
