// SPDX-License-Identifier: Apache-2.0
/* bench/memory: without traces, what libgph's ways to hold the memory of many graphs take
 * (memory_ways.c). With traces, the pages of a graph's alloc nodes, beside the
 * largest sum of bytes that are allocated at once: through the driver API of softcuda or,
 * with GPH_DRIVER=cuda in the environment, of NVIDIA's driver, which reports reserved
 * memory alone.
 *
 *   bench_memory [--limit RATIO] [--unit BYTES] [TRACE.csv...]
 *
 * A trace has a line a buffer: id,first step,step after the last,bytes. It becomes a row
 * of alloc and free nodes, in the order of its steps. MISSED, and exit status 3, where
 * the physical peak is more than RATIO times that sum, or a launch after the first one
 * maps anything. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gph/softcuda.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "memory_ways.h"

#include "driver.h"

static gph_status (*ask)(int, gph_softcuda_memory *); /* NULL: a GPU's driver */

#define MIB 1048576.0
enum { BUFFERS_MAX = 4096, LAUNCHES = 20 };

typedef struct buffer {
    long long first, end;
    size_t bytes;
    CUdeviceptr address;
} buffer;

typedef struct event {
    long long step;
    int begins; /* frees come first */
    int buffer;
} event;

static buffer buffers[BUFFERS_MAX];
static event events[2 * BUFFERS_MAX];
static CUstream stream;
static double limit;
static size_t unit = 1;
static bool missed;

static void open_driver(void)
{
    driver_must_open(BENCH_SOFTCUDA);
    *(void **)&ask = dlsym(driver_library, "gph_softcuda_memory_get");
    CU(cuStreamCreate, &stream, 1);
}

/* ---- traces ---- */

static int read_trace(const char *path)
{
    char line[256];
    int count = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    while (fgets(line, sizeof(line), file)) {
        unsigned long long bytes;
        buffer *b = &buffers[count];
        if (sscanf(line, "%*d,%lld,%lld,%llu", &b->first, &b->end, &bytes) != 3)
            continue; /* the headline */
        if (bytes == 0 || b->end <= b->first || ++count > BUFFERS_MAX - 1) {
            fprintf(stderr, "bench_memory: %s: %s", path, line);
            exit(1);
        }
        b->bytes = (size_t)bytes * unit;
    }
    fclose(file);
    return count;
}

static int compare(const void *a, const void *b)
{
    const event *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->begins != y->begins)
        return x->begins - y->begins;
    return x->buffer - y->buffer;
}

/* In the order of the steps; the largest sum of bytes at once. */
static size_t sort_events(int count)
{
    size_t live = 0, most = 0;
    for (int i = 0; i < count; i++) {
        events[2 * i] = (event){buffers[i].first, 1, i};
        events[2 * i + 1] = (event){buffers[i].end, 0, i};
    }
    qsort(events, 2 * (size_t)count, sizeof(*events), compare);
    for (int i = 0; i < 2 * count; i++) {
        const size_t bytes = buffers[events[i].buffer].bytes;
        live = events[i].begins ? live + bytes : live - bytes;
        if (live > most)
            most = live;
    }
    return most;
}

static CUgraph build(int count)
{
    CUgraph graph;
    CUgraphNode last = NULL, node;
    CU(cuGraphCreate, &graph, 0);
    for (int i = 0; i < 2 * count; i++) {
        buffer *b = &buffers[events[i].buffer];
        if (events[i].begins) {
            CUDA_MEM_ALLOC_NODE_PARAMS params = {
                .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                              .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}},
                .bytesize = b->bytes};
            CU(cuGraphAddMemAllocNode, &node, graph, &last, last != NULL, &params);
            b->address = params.dptr;
        } else {
            CU(cuGraphAddMemFreeNode, &node, graph, &last, 1, b->address);
        }
        last = node;
    }
    return graph;
}

/* ---- measuring ---- */

static gph_softcuda_memory tell(void)
{
    gph_softcuda_memory memory = GPH_SIZED(gph_softcuda_memory);
    if (ask != NULL && ask(0, &memory) != GPH_OK)
        exit(1);
    return memory;
}

static double launch_us(CUgraphExec exec)
{
    const uint64_t from = gphi_clock_ns();
    CU(cuGraphLaunch, exec, stream);
    const uint64_t until = gphi_clock_ns();
    CU(cuStreamSynchronize, stream);
    return (double)(until - from) / 1e3;
}

static void measure(const char *path)
{
    const int count = read_trace(path);
    const size_t live = sort_events(count);
    CUgraphExec exec;
    uint64_t reserved = 0;
    CU(cuDeviceGraphMemTrim, 0);
    CUgraph graph = build(count);
    CU(cuGraphInstantiateWithFlags, &exec, graph, 0);
    const double first = launch_us(exec);
    const gph_softcuda_memory mapped = tell();
    double later = 1e30;
    for (int i = 0; i < LAUNCHES; i++) {
        const double us = launch_us(exec);
        later = us < later ? us : later;
    }
    const gph_softcuda_memory after = tell();
    CU(cuDeviceGetGraphMemAttribute, 0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
       &reserved);
    const double physical = ask ? (double)after.graph_bytes : (double)reserved;
    const double ratio = physical / (double)live;
    const uint64_t maps = after.graph_map_calls - mapped.graph_map_calls;
    const bool bad = (limit > 0 && ratio > limit) || maps > 0;
    missed |= bad;
    const char *name = strrchr(path, '/');
    printf("%-22s %5d buffers, at once %8.1f MiB, behind them %8.1f (%.3f), reserved "
           "%6.0f; first launch %7.0f us, later ones %4.0f us and %llu mappings%s\n",
           name ? name + 1 : path, count, (double)live / MIB, physical / MIB, ratio,
           (double)reserved / MIB, first, later, (unsigned long long)maps,
           bad ? " MISSED" : "");
    CU(cuGraphExecDestroy, exec);
    CU(cuGraphDestroy, graph);
}

int main(int argc, char **argv)
{
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2)
        if (strcmp(argv[at], "--limit") == 0)
            limit = atof(argv[at + 1]);
        else if (strcmp(argv[at], "--unit") == 0)
            unit = (size_t)strtoull(argv[at + 1], NULL, 10);
    if (unit == 0 || (at < argc && argv[at][0] == '-')) {
        fprintf(stderr,
                "usage: bench_memory [--limit RATIO] [--unit BYTES] [TRACE.csv...]\n");
        return 2;
    }
    if (at == argc)
        return print_ways() ? 3 : 0;
    open_driver();
    for (; at < argc; at++)
        measure(argv[at]);
    return missed ? 3 : 0;
}
