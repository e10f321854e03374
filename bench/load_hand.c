// SPDX-License-Identifier: Apache-2.0
/* bench/load by the driver's own calls: what no load can take less than. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "driver.h"
#include "load.h"

enum { THREADS_MAX = 16, BYTES = 64 << 20 };

enum { ADDING, INSTANTIATING, UPLOADING, STEPS };

static struct {
    CUfunction layers[LOAD_KERNELS];
    CUdeviceptr base;
    CUgraphExec *execs;
    int graph_count, uploads;
    atomic_int next;
    _Atomic uint64_t spent[STEPS];
} hand;

static void open_hand(void)
{
    CUmodule module;
    size_t bytes;
    driver_must_open(BENCH_SOFTCUDA);
    CU(cuModuleLoadData, &module, load_ptx(&bytes));
    for (int i = 0; i < LOAD_KERNELS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "layer%d", i);
        CU(cuModuleGetFunction, &hand.layers[i], module, name);
    }
    CU(cuMemAlloc, &hand.base, BYTES);
    CU(cuMemsetD32, hand.base, 0, 1024);
}

static CUgraphNode add(CUgraph graph, int number, int node, const CUgraphNode *after,
                       size_t count)
{
    struct load_node given = load_node_at(hand.base, number, node);
    void *arguments[] = {&given.sum, &given.a, &given.b, &given.c, &given.n, &given.s};
    const CUDA_KERNEL_NODE_PARAMS params = {.func = hand.layers[node % LOAD_KERNELS],
                                            .gridDimX = given.blocks,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = 32,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .kernelParams = arguments};
    CUgraphNode out;
    CU(cuGraphAddKernelNode, &out, graph, after, count, &params);
    return out;
}

static CUgraph build(int number)
{
    const int count = load_node_count(number, hand.graph_count);
    CUgraphNode after[2];
    size_t joined = 0;
    CUgraph graph;
    CU(cuGraphCreate, &graph, 0);
    for (int node = 0; node < count; node++) {
        const int is_beside = load_is_beside(node, count);
        CUgraphNode beside = NULL;
        if (is_beside)
            beside = add(graph, number, node++, after, joined);
        after[0] = add(graph, number, node, after, joined);
        after[1] = beside;
        joined = is_beside ? 2 : 1;
    }
    return graph;
}

static void *build_some(void *user)
{
    CUstream stream;
    (void)user;
    CU(cuCtxSetCurrent, driver_context);
    CU(cuStreamCreate, &stream, 1);
    for (int i; (i = atomic_fetch_add(&hand.next, 1)) < hand.graph_count;) {
        const uint64_t from = gphi_clock_ns();
        const CUgraph graph = build(i);
        const uint64_t built = gphi_clock_ns();
        CU(cuGraphInstantiateWithFlags, &hand.execs[i], graph, 0);
        const uint64_t made = gphi_clock_ns();
        if (hand.uploads)
            CU(cuGraphUpload, hand.execs[i], stream);
        const uint64_t uploaded = gphi_clock_ns();
        CU(cuGraphDestroy, graph);
        hand.spent[ADDING] += built - from;
        hand.spent[INSTANTIATING] += made - built;
        hand.spent[UPLOADING] += uploaded - made;
    }
    CU(cuStreamSynchronize, stream);
    return NULL;
}

static void check_launches(void)
{
    unsigned int sum = 0;
    for (int i = 0; i < hand.graph_count; i++)
        CU(cuGraphLaunch, hand.execs[i], NULL);
    CU(cuMemcpyDtoH, &sum, hand.base, sizeof(sum));
    if (sum == load_sum(hand.graph_count))
        return;
    fprintf(stderr, "bench_load: by hand the graphs made %u of %u\n", sum,
            load_sum(hand.graph_count));
    exit(1);
}

void load_by_hand(int graph_count, int threads, int uploads)
{
    pthread_t others[THREADS_MAX];
    threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    hand.graph_count = graph_count;
    hand.uploads = uploads;
    hand.execs = calloc((size_t)graph_count, sizeof(CUgraphExec));
    open_hand();
    const uint64_t from = gphi_clock_ns();
    for (int i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, build_some, NULL) != 0)
            exit(1);
    build_some(NULL);
    for (int i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    const uint64_t passed = gphi_clock_ns() - from;
    check_launches();
    printf("%llu", (unsigned long long)passed);
    for (int i = 0; i < STEPS; i++)
        printf(" %llu", (unsigned long long)hand.spent[i]);
    printf("\n");
}
