// SPDX-License-Identifier: Apache-2.0
/* bench/update: what libgph's updates and edits cost beside the driver's own calls, on
 * softcuda or, with GPH_DRIVER=cuda in the environment, NVIDIA's driver.
 *
 *   bench_update [ROUNDS]
 *
 * Both sides take turns in every round, so that what disturbs one disturbs the other;
 * medians, and their ratio against the bar. Exit status 3 if one is missed. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cuda/runtime.h"
#include "tests/node.h"
#include <gph/gph.h>

static const char ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry nothing(.param .u64 p, .param .u32 v) { ret; }\n";

#define DRIVER_CALLS(X)                                                                  \
    X(cuGraphAddKernelNode, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t,        \
                             const CUDA_KERNEL_NODE_PARAMS *))                           \
    X(cuGraphExecUpdate, (CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *))          \
    X(cuGraphExecKernelNodeSetParams,                                                    \
      (CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *))

static struct {
#define X(name, arguments) CUresult(CUDAAPI *name) arguments;
    DRIVER_CALLS(X)
#undef X
} raw;

enum { NODES = 1000, ROUNDS_MAX = 1001, SAMPLES = 2 };

static gph_runtime *runtime;
static const gph_cuda_calls *cu;
static CUfunction nothing;
static CUstream stream;
static CUdeviceptr memory;
static int rounds = 101;
static int missed;
static gph_error error;

static void must(gph_status status, const char *what)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "bench_update: %s: %d %s\n", what, (int)status, error.message);
    exit(1);
}
#define MUST(call) must((gph_status)(call), #call)

static void open_driver(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    const char *wanted = getenv("GPH_DRIVER");
    options.driver =
        wanted != NULL && strcmp(wanted, "cuda") == 0 ? GPH_DRIVER_CUDA : GPH_DRIVER_SOFT;
    MUST(gph_open(&options, &runtime, &error));
    cu = gph_cuda(runtime);
    gph_cuda_fn found;
#define X(name, arguments)                                                               \
    MUST(gph_cuda_find(runtime, #name, &found, &error));                                 \
    raw.name = (CUresult(CUDAAPI *) arguments)found;
    DRIVER_CALLS(X)
#undef X
    CUcontext context;
    CUmodule module;
    MUST(cu->DevicePrimaryCtxRetain(&context, 0));
    MUST(cu->CtxSetCurrent(context));
    MUST(cu->ModuleLoadData(&module, ptx));
    MUST(cu->ModuleGetFunction(&nothing, module, "nothing"));
    MUST(cu->StreamCreate(&stream, 1));
    MUST(cu->MemAlloc(&memory, 4096));
}

/* ---- graphs -------------------------------------------------------------------------
 */

static unsigned value;

static CUDA_KERNEL_NODE_PARAMS kernel_params(void)
{
    static void *arguments[] = {&memory, &value};
    return one_thread(nothing, arguments);
}

/* A chain whose first `changed` kernels have another argument. */
static CUgraph chain(unsigned changed, CUgraphNode *nodes)
{
    CUgraph graph;
    MUST(cu->GraphCreate(&graph, 0));
    for (unsigned i = 0; i < NODES; i++) {
        value = i < changed ? 2 : 1;
        const CUDA_KERNEL_NODE_PARAMS params = kernel_params();
        MUST(raw.cuGraphAddKernelNode(&nodes[i], graph, i ? &nodes[i - 1] : NULL, i > 0,
                                      &params));
    }
    return graph;
}

static gph_exec *make(CUgraph graph, bool tracked)
{
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    gph_exec *exec = NULL;
    options.upload_stream = stream;
    MUST(gph_exec_create(runtime, graph, &options, &exec, &error));
    if (tracked)
        MUST(gph_exec_track(exec, graph, NULL, &error));
    MUST(cu->StreamSynchronize(stream));
    return exec;
}

/* ---- measuring ----------------------------------------------------------------------
 */

static double samples[SAMPLES][ROUNDS_MAX];

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *of)
{
    qsort(of, (size_t)rounds, sizeof(*of), by_size);
    return of[rounds / 2];
}

/* samples[0] is the driver's, samples[1] ours, in ns. */
static void report(const char *what, double bar)
{
    const double theirs = median(samples[0]), ours = median(samples[1]);
    const double ratio = ours / theirs;
    printf("%-52s %9.2f us, driver %9.2f us, ratio %5.2f", what, ours / 1e3, theirs / 1e3,
           ratio);
    if (bar > 0)
        printf(", bar %.2f%s", bar, ratio <= bar ? "" : ": MISSED");
    printf("\n");
    missed += bar > 0 && ratio > bar;
}

#define TIME(to, ...)                                                                    \
    do {                                                                                 \
        const uint64_t from_ = gphi_clock_ns();                                          \
        __VA_ARGS__;                                                                     \
        (to) = (double)(gphi_clock_ns() - from_);                                        \
    } while (0)

static void set_raw(CUgraphExec exec, const CUgraphNode *nodes, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        value = 100 + i;
        const CUDA_KERNEL_NODE_PARAMS params = kernel_params();
        MUST(raw.cuGraphExecKernelNodeSetParams(exec, nodes[i * (NODES / count)],
                                                &params));
    }
}

static void set_named(gph_exec *exec, unsigned count)
{
    static gph_edit edits[NODES];
    static unsigned values[NODES];
    for (unsigned i = 0; i < count; i++) {
        values[i] = 100 + i;
        edits[i] = (gph_edit){.node = i * (NODES / count),
                              .what = GPH_EDIT_ARG,
                              .index = 1,
                              .bytes = sizeof(values[i]),
                              .data = &values[i]};
    }
    MUST(gph_exec_edit(exec, edits, count, &error));
}

static void named_edits(unsigned count)
{
    static CUgraphNode nodes[NODES];
    enum { AGAIN = 20 };
    CUgraph graph = chain(0, nodes);
    gph_exec *plain = make(graph, false), *exec = make(graph, true);
    CUgraphExec handle = gph_exec_handle(plain);
    set_named(exec, count); /* the first one copies what it holds */
    for (int i = 0; i < rounds; i++) {
        TIME(samples[0][i],
             for (int k = 0; k < AGAIN; k++) set_raw(handle, nodes, count));
        TIME(samples[1][i], for (int k = 0; k < AGAIN; k++) set_named(exec, count));
        samples[0][i] /= AGAIN;
        samples[1][i] /= AGAIN;
    }
    char line[80];
    snprintf(line, sizeof(line), "named edits: %u of %d nodes", count, NODES);
    report(line, 1.2);
    gph_exec_destroy(exec);
    gph_exec_destroy(plain);
    MUST(cu->GraphDestroy(graph));
}

static CUresult CUDAAPI returns_at_once(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS *params)
{
    (void)exec, (void)node, (void)params;
    return CUDA_SUCCESS;
}

/* The same with a setter that does nothing: what is left are both sides' own. */
static void edits_alone(unsigned count)
{
    static CUgraphNode nodes[NODES];
    enum { AGAIN = 100 };
    const double edits = (double)AGAIN * count;
    CUgraph graph = chain(0, nodes);
    gph_exec *exec = make(graph, true);
    set_named(exec, count);
    const gphi_cuda_table cu_before = runtime->cu;
    const __typeof__(raw) raw_before = raw;
    runtime->cu.cuGraphExecKernelNodeSetParams = returns_at_once;
    raw.cuGraphExecKernelNodeSetParams = returns_at_once;
    for (int i = 0; i < rounds; i++) {
        TIME(samples[0][i], for (int k = 0; k < AGAIN; k++) set_raw(NULL, nodes, count));
        TIME(samples[1][i], for (int k = 0; k < AGAIN; k++) set_named(exec, count));
        samples[0][i] /= edits;
        samples[1][i] /= edits;
    }
    runtime->cu = cu_before;
    raw = raw_before;
    printf("    without the driver: %.1f ns an edit, by hand %.1f ns\n",
           median(samples[1]), median(samples[0]));
    gph_exec_destroy(exec);
    MUST(cu->GraphDestroy(graph));
}

/* Graphs that are new to libgph, as after a capture; `changed` nodes differ each time. */
static void new_graphs(unsigned changed, bool tracked)
{
    static CUgraphNode nodes[NODES], more[NODES];
    CUgraph graph = chain(0, nodes), other = chain(changed, more);
    gph_exec *plain = make(graph, false), *exec = make(graph, tracked);
    CUgraphExecUpdateResultInfo info;
    for (int i = 0; i < rounds; i++) {
        CUgraph to = i % 2 ? graph : other;
        TIME(samples[0][i],
             MUST(raw.cuGraphExecUpdate(gph_exec_handle(plain), to, &info)));
        TIME(samples[1][i], MUST(gph_exec_update(exec, to, NULL, NULL, &error)));
    }
    char line[80];
    snprintf(line, sizeof(line), "new graph%s, %u of %d nodes differ",
             tracked ? ", tracked" : "", changed, NODES);
    report(line, 1.1);
    gph_exec_destroy(exec);
    gph_exec_destroy(plain);
    MUST(cu->GraphDestroy(other));
    MUST(cu->GraphDestroy(graph));
}

/* Two graphs that were described once take turns in one executable. */
static void known_graphs(unsigned changed)
{
    static CUgraphNode nodes[NODES], more[NODES];
    CUgraph graphs[2] = {chain(0, nodes), chain(changed, more)};
    gph_exec *plain = make(graphs[0], false), *exec = make(graphs[0], true);
    gph_snapshot *snapshots[2];
    CUgraphExecUpdateResultInfo info;
    for (int i = 0; i < 2; i++)
        MUST(gph_snapshot_take(runtime, graphs[i], &snapshots[i], &error));
    for (int i = 0; i < rounds; i++) {
        gph_update_options options = GPH_UPDATE_OPTIONS_INIT;
        options.snapshot = snapshots[(i + 1) % 2];
        CUgraph to = graphs[(i + 1) % 2];
        TIME(samples[0][i],
             MUST(raw.cuGraphExecUpdate(gph_exec_handle(plain), to, &info)));
        TIME(samples[1][i], MUST(gph_exec_update(exec, to, &options, NULL, &error)));
    }
    gph_update_stats stats = GPH_SIZED(gph_update_stats);
    gph_exec_update_stats_get(exec, &stats);
    char line[80];
    snprintf(line, sizeof(line), "known graph, %u of %d nodes differ", changed, NODES);
    report(line, 0);
    printf("    ways: nothing %llu, nodes %llu, whole %llu; cross-over %u nodes\n",
           (unsigned long long)stats.nothing_count, (unsigned long long)stats.nodes_count,
           (unsigned long long)stats.whole_count, stats.crossover);
    for (int i = 0; i < 2; i++)
        gph_snapshot_release(snapshots[i]);
    gph_exec_destroy(exec);
    gph_exec_destroy(plain);
    for (int i = 0; i < 2; i++)
        MUST(cu->GraphDestroy(graphs[i]));
}

/* What a description costs, beside the update that it would be for. */
static void descriptions(void)
{
    static CUgraphNode nodes[NODES];
    CUgraph graph = chain(0, nodes);
    gph_exec *exec = make(graph, true);
    CUgraphExecUpdateResultInfo info;
    for (int i = 0; i < rounds; i++) {
        gph_snapshot *snapshot;
        TIME(samples[0][i],
             MUST(raw.cuGraphExecUpdate(gph_exec_handle(exec), graph, &info)));
        TIME(samples[1][i], MUST(gph_snapshot_take(runtime, graph, &snapshot, &error)));
        gph_snapshot_release(snapshot);
    }
    report("describing a graph, beside a whole update by it", 0);
    gph_exec_destroy(exec);
    MUST(cu->GraphDestroy(graph));
}

/* ---- sentinels ----------------------------------------------------------------------
 */

enum { SHORT = 200 };

static gph_exec *short_chain(gph_sentinel *sentinel)
{
    const CUDA_KERNEL_NODE_PARAMS params = kernel_params();
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    gph_exec *exec = NULL;
    MUST(cu->GraphCreate(&graph, 0));
    for (int i = 0; i < SHORT; i++)
        MUST(raw.cuGraphAddKernelNode(&node, graph, &node, i > 0, &params));
    options.upload_stream = stream;
    options.sentinel = sentinel;
    MUST(gph_exec_create(runtime, graph, &options, &exec, &error));
    MUST(cu->GraphDestroy(graph));
    return exec;
}

static double replay_us(gph_exec *exec)
{
    const uint64_t from = gphi_clock_ns();
    MUST(gph_exec_launch(exec, stream, &error));
    MUST(cu->StreamSynchronize(stream));
    return (double)(gphi_clock_ns() - from) / 1e3;
}

/* A chain of kernels, launched and waited for: what a sentinel at each `every`th adds. */
static void sentinels(uint32_t every)
{
    static double plain[ROUNDS_MAX], marked[ROUNDS_MAX];
    gph_sentinel_options options = GPH_SENTINEL_OPTIONS_INIT;
    gph_sentinel *sentinel = NULL;
    options.every = every;
    MUST(gph_sentinel_create(runtime, &options, &sentinel, &error));
    gph_exec *execs[] = {short_chain(NULL), short_chain(sentinel)};
    for (int i = -10; i < rounds; i++) {
        const int at = i < 0 ? 0 : i;
        plain[at] = replay_us(execs[0]);
        marked[at] = replay_us(execs[1]);
    }
    const double a = median(plain), b = median(marked);
    printf("sentinels: chain of %d kernels %.2f us, one at each %u%s %.2f us: %+.3f us a "
           "sentinel\n",
           SHORT, a, every, every == 1 ? "st" : "th", b,
           (b - a) / (SHORT / (double)every));
    gph_exec_destroy(execs[0]);
    gph_exec_destroy(execs[1]);
    gph_sentinel_destroy(sentinel);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench_update [ROUNDS], 1 to %d\n", ROUNDS_MAX);
        return 2;
    }
    open_driver();
    named_edits(1);
    edits_alone(1);
    named_edits(10);
    edits_alone(10);
    named_edits(100);
    edits_alone(100);
    new_graphs(0, false);
    new_graphs(1, false);
    new_graphs(NODES, false);
    new_graphs(NODES, true);
    known_graphs(0);
    known_graphs(1);
    known_graphs(20);
    known_graphs(NODES);
    descriptions();
    sentinels(1);
    sentinels(8);
    sentinels(50);
    gph_close(runtime);
    return missed ? 3 : 0;
}
