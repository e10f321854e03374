// SPDX-License-Identifier: Apache-2.0
/* bench/graph: what executable graphs cost, through the driver API of softcuda or, with
 * GPH_DRIVER=cuda in the environment, of NVIDIA's driver.
 *
 *   bench_graph [ROUNDS]
 *
 * What a node costs in small and large graphs (bytes are those of malloc). Medians of rounds:
 * instantiating and replaying 100,000 nodes, updating 1,000 nodes as a
 * whole, setting one of them. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static const char ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry nothing(.param .u64 p, .param .u32 v) { ret; }\n";

#include "driver.h"

enum { MANY = 100000, SOME = 1000, ROUNDS_MAX = 1001 };

static CUfunction nothing;
static CUstream stream;
static CUdeviceptr memory;
static int rounds = 15;
static int missed;

static void open_driver(void)
{
    driver_must_open(BENCH_SOFTCUDA);
    CUmodule module;
    CU(cuModuleLoadData, &module, ptx);
    CU(cuModuleGetFunction, &nothing, module, "nothing");
    CU(cuMemAlloc, &memory, 1 << 20);
    CU(cuStreamCreate, &stream, 1);
}

/* ---- graphs -------------------------------------------------------------------------
 */

typedef enum kind { EMPTY, KERNEL, FILL, COPY } kind;

static unsigned value;
static CUDA_KERNEL_NODE_PARAMS kernel_params(void)
{
    static void *arguments[] = {&memory, &value};
    return one_thread(nothing, arguments);
}

static CUDA_MEMSET_NODE_PARAMS fill_params(void)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = memory, .value = value, .elementSize = 4, .width = 4, .height = 1};
}

static CUDA_MEMCPY3D copy_params(void)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = memory + 4096 + value % 64 * 16,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = memory,
                           .WidthInBytes = 16,
                           .Height = 1,
                           .Depth = 1};
}

static CUgraphNode add(CUgraph graph, kind what, const CUgraphNode *after)
{
    const CUDA_KERNEL_NODE_PARAMS kernel = kernel_params();
    const CUDA_MEMSET_NODE_PARAMS fill = fill_params();
    const CUDA_MEMCPY3D copy = copy_params();
    const size_t count = after != NULL;
    CUgraphNode node = NULL;
    switch (what) {
    case EMPTY: CU(cuGraphAddEmptyNode, &node, graph, after, count); break;
    case KERNEL: CU(cuGraphAddKernelNode, &node, graph, after, count, &kernel); break;
    case FILL:
        CU(cuGraphAddMemsetNode, &node, graph, after, count, &fill, driver_context);
        break;
    case COPY:
        CU(cuGraphAddMemcpyNode, &node, graph, after, count, &copy, driver_context);
        break;
    }
    return node;
}

static CUgraph chain(kind what, int count, CUgraphNode *nodes)
{
    CUgraph graph;
    CUgraphNode last = NULL;
    CU(cuGraphCreate, &graph, 0);
    for (int i = 0; i < count; i++) {
        last = add(graph, what, last ? &last : NULL);
        if (nodes)
            nodes[i] = last;
    }
    return graph;
}

/* ---- measuring ----------------------------------------------------------------------
 */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void report(const char *what, double *samples, double per, const char *unit,
                   double asked)
{
    qsort(samples, (size_t)rounds, sizeof(*samples), by_size);
    const double got = samples[rounds / 2] / per;
    printf("%-46s %10.2f %s (least %.2f)", what, got, unit, samples[0] / per);
    if (asked > 0)
        printf(", asked %g%s", asked, got <= asked ? "" : ": MISSED");
    printf("\n");
    missed += asked > 0 && got > asked;
}

static double samples[3][ROUNDS_MAX];

static void many_nodes(kind what, const char *name, double instantiate, double replay)
{
    CUgraph graph = chain(what, MANY, NULL);
    for (int i = 0; i < rounds; i++) {
        CUgraphExec exec;
        uint64_t from = gphi_clock_ns();
        CU(cuGraphInstantiateWithFlags, &exec, graph, 0);
        samples[0][i] = (double)(gphi_clock_ns() - from);
        CU(cuGraphUpload, exec, stream);
        for (int k = 0; k < 5; k++) { /* the first launches are measured by softcuda */
            CU(cuGraphLaunch, exec, stream);
            CU(cuStreamSynchronize, stream);
        }
        from = gphi_clock_ns();
        CU(cuGraphLaunch, exec, stream);
        CU(cuStreamSynchronize, stream);
        samples[1][i] = (double)(gphi_clock_ns() - from);
        from = gphi_clock_ns();
        CU(cuGraphExecDestroy, exec);
        samples[2][i] = (double)(gphi_clock_ns() - from);
    }
    char line[100];
    snprintf(line, sizeof(line), "instantiate a chain of %d %s", MANY, name);
    report(line, samples[0], MANY, "ns a node", instantiate);
    snprintf(line, sizeof(line), "replay it");
    report(line, samples[1], MANY, "ns a node", replay);
    report("destroy it", samples[2], MANY, "ns a node", 0);
    CU(cuGraphDestroy, graph);
}

static void update_with(CUgraphExec exec, CUgraph graph)
{
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphExecUpdate, exec, graph, &info);
}

static void whole_updates(kind what, const char *name, double asked)
{
    static CUgraphNode nodes[SOME];
    value = 1;
    CUgraph graph = chain(what, SOME, nodes), other = chain(what, SOME, NULL);
    value = 2;
    CUgraph changed = chain(what, SOME, NULL);
    CUgraphExec exec;
    CU(cuGraphInstantiateWithFlags, &exec, graph, 0);
    CU(cuGraphUpload, exec, stream);
    CU(cuStreamSynchronize, stream);
    for (int i = 0; i < rounds; i++) {
        update_with(exec, graph);
        uint64_t from = gphi_clock_ns();
        update_with(exec, other);
        samples[0][i] = (double)(gphi_clock_ns() - from);
        from = gphi_clock_ns();
        update_with(exec, changed);
        samples[1][i] = (double)(gphi_clock_ns() - from);
    }
    char line[100];
    snprintf(line, sizeof(line), "update %d %s, none changed", SOME, name);
    report(line, samples[0], 1e3, "us", asked);
    snprintf(line, sizeof(line), "update %d %s, all changed", SOME, name);
    report(line, samples[1], 1e3, "us", 0);
    CU(cuGraphExecDestroy, exec);
    CU(cuGraphDestroy, graph);
    CU(cuGraphDestroy, other);
    CU(cuGraphDestroy, changed);
}

static void set_one(CUgraphExec exec, kind what, CUgraphNode node)
{
    value++;
    const CUDA_KERNEL_NODE_PARAMS kernel = kernel_params();
    const CUDA_MEMSET_NODE_PARAMS fill = fill_params();
    const CUDA_MEMCPY3D copy = copy_params();
    switch (what) {
    case KERNEL: CU(cuGraphExecKernelNodeSetParams, exec, node, &kernel); break;
    case FILL:
        CU(cuGraphExecMemsetNodeSetParams, exec, node, &fill, driver_context);
        break;
    case COPY:
        CU(cuGraphExecMemcpyNodeSetParams, exec, node, &copy, driver_context);
        break;
    case EMPTY: CU(cuGraphNodeSetEnabled, exec, node, value & 1); break;
    }
}

/* `between` launches: every set finds a launch under way. */
static void single_sets(kind graph_of, kind set, const char *name, int between)
{
    static CUgraphNode nodes[SOME];
    CUgraph graph = chain(graph_of, SOME, nodes);
    CUgraphExec exec;
    CU(cuGraphInstantiateWithFlags, &exec, graph, 0);
    CU(cuGraphUpload, exec, stream);
    CU(cuGraphLaunch, exec, stream);
    CU(cuStreamSynchronize, stream);
    for (int i = 0; i < rounds; i++) {
        double sum = 0;
        for (int k = 0; k < 100; k++) {
            if (between)
                CU(cuGraphLaunch, exec, stream);
            const uint64_t from = gphi_clock_ns();
            set_one(exec, set, nodes[k * 7 % SOME]);
            sum += (double)(gphi_clock_ns() - from);
        }
        samples[0][i] = sum / 100;
        CU(cuStreamSynchronize, stream);
    }
    report(name, samples[0], 1e3, "us", 0);
    CU(cuGraphExecDestroy, exec);
    CU(cuGraphDestroy, graph);
}

/* What a kernel node costs in a chain of so many: instantiating it, a whole update that changes
 * it, and the bytes of graph and executable. The sizes take turns. */
enum { SIZES = 3, TURNS = 9 };
struct sized {
    int count, again; /* again: so often a turn */
    CUgraph graph, other;
    CUgraphExec exec;
    double first_ns, bytes, made[TURNS], changed[TURNS], launched[TURNS];
};

static double median(double *of, int count)
{
    qsort(of, (size_t)count, sizeof(*of), by_size);
    return of[count / 2];
}

/* All of malloc: before anything was given back that softcuda would keep for the next graph. */
static void hold(struct sized *sized)
{
    const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    value = 1;
    sized->graph = chain(KERNEL, sized->count, NULL);
    const uint64_t from = gphi_clock_ns();
    CU(cuGraphInstantiateWithFlags, &sized->exec, sized->graph, 0);
    sized->first_ns = (double)(gphi_clock_ns() - from) / sized->count;
    sized->bytes = (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before);
}

static void take_turn(struct sized *sized, int turn)
{
    double made = 0, changed = 0;
    for (int i = 0; i < sized->again; i++) {
        CU(cuGraphExecDestroy, sized->exec);
        const uint64_t from = gphi_clock_ns();
        CU(cuGraphInstantiateWithFlags, &sized->exec, sized->graph, 0);
        const uint64_t instantiated = gphi_clock_ns();
        update_with(sized->exec, sized->other);
        changed += (double)(gphi_clock_ns() - instantiated);
        made += (double)(instantiated - from);
    }
    sized->made[turn] = made / sized->again / sized->count;
    sized->changed[turn] = changed / sized->again / sized->count;
    for (int k = 0; k < 6; k++) { /* the first are measured, and wake workers */
        const uint64_t from = gphi_clock_ns();
        CU(cuGraphLaunch, sized->exec, stream);
        sized->launched[turn] = (double)(gphi_clock_ns() - from);
        CU(cuStreamSynchronize, stream);
    }
}

static void costs_by_size(void)
{
    static struct sized sizes[SIZES] = {{.count = SOME, .again = 20},
                                        {.count = 10 * SOME, .again = 4},
                                        {.count = MANY, .again = 1}};
    CUgraphExec warm;
    CU(cuGraphInstantiateWithFlags, &warm, chain(KERNEL, 1, NULL), 0); /* compiles */
    for (int i = 0; i < SIZES; i++)
        hold(&sizes[i]);
    value = 2;
    for (int i = 0; i < SIZES; i++)
        sizes[i].other = chain(KERNEL, sizes[i].count, NULL);
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < SIZES; i++)
            take_turn(&sizes[i], turn);
    double first_made = 0, first_changed = 0;
    for (int i = 0; i < SIZES; i++) {
        const double made = median(sizes[i].made, TURNS);
        const double changed = median(sizes[i].changed, TURNS);
        first_made = i == 0 ? made : first_made;
        first_changed = i == 0 ? changed : first_changed;
        printf("%6d kernels, a node: instantiate %.0f ns (%.2f x; the first time %.0f), "
               "update %.0f ns (%.2f x), %.0f bytes; cuGraphLaunch alone %.0f ns\n",
               sizes[i].count, made, made / first_made, sizes[i].first_ns, changed,
               changed / first_changed, sizes[i].bytes / sizes[i].count,
               median(sizes[i].launched, TURNS));
        CU(cuGraphExecDestroy, sizes[i].exec);
        CU(cuGraphDestroy, sizes[i].graph);
        CU(cuGraphDestroy, sizes[i].other);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench_graph [ROUNDS], 1 to %d\n", ROUNDS_MAX);
        return 2;
    }
    open_driver();
    costs_by_size();
    many_nodes(EMPTY, "empty nodes", 500, 15);
    many_nodes(KERNEL, "empty kernels", 500, 15);
    whole_updates(KERNEL, "kernels", 60);
    whole_updates(FILL, "fills", 0);
    whole_updates(COPY, "copies", 0);
    single_sets(KERNEL, KERNEL, "set one kernel of 1000", 0);
    single_sets(KERNEL, KERNEL, "the same with launches under way", 1);
    single_sets(FILL, FILL, "set one fill of 1000", 0);
    single_sets(COPY, COPY, "set one copy of 1000", 0);
    single_sets(KERNEL, EMPTY, "switch one kernel of 1000", 0);
    return missed ? 3 : 0;
}
