// SPDX-License-Identifier: Apache-2.0
/* Two streams in one graph. Capture begins on `left`; waiting for an event of `left`
 * draws `right` into it (fork), and `left` waits for `right` before the capture ends
 * (join):
 *
 *            fill x ──► scale_add y ──► total ┐
 *   fork ──►                                  ├──► join ──► scale_add sums
 *            fill z ──► total ────────────────┘
 *
 * The program prints the graph that came of it, as libgph describes it. */
#include <gph/gph.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static gph_error error;

static void must(gph_status status)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "fork: %s %s\n", error.message, error.hint);
    exit(1);
}
#define CU(name, ...) must(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error))
#define LAUNCH(kernel, blocks, stream, ...)                                              \
    CU(LaunchKernel, kernel, blocks, 1, 1, 128, 1, 1, 0, stream,                         \
       (void *[]){__VA_ARGS__}, NULL)

enum { N = 1000 };

static const gph_cuda_calls *cu;
static CUfunction fill, scale_add, total;
static CUdeviceptr x, y, z, sums;

static void load_kernels(void)
{
    static char ptx[1 << 20];
    CUmodule module;
    FILE *file = fopen(HELLO_PTX, "rb");
    if (file == NULL || fread(ptx, 1, sizeof(ptx) - 1, file) == 0) {
        perror(HELLO_PTX);
        exit(1);
    }
    fclose(file);
    CU(ModuleLoadData, &module, ptx);
    CU(ModuleGetFunction, &fill, module, "fill");
    CU(ModuleGetFunction, &scale_add, module, "scale_add");
    CU(ModuleGetFunction, &total, module, "total");
    CU(MemAlloc, &x, N * sizeof(float));
    CU(MemAlloc, &y, N * sizeof(float));
    CU(MemAlloc, &z, N * sizeof(float));
    CU(MemAlloc, &sums, 2 * sizeof(float));
    CU(MemsetD8, y, 0, N * sizeof(float));
    must(gph_cuda_check(cu->CtxSynchronize(), "cuCtxSynchronize", &error));
}

static CUgraph record(gph_runtime *gph, CUstream left, CUstream right, CUevent event)
{
    unsigned n = N, one = 1;
    float half = 0.5f, three = 3, ten = 10;
    CUdeviceptr second = sums + sizeof(float);
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    must(gph_capture_begin(gph, left, NULL, &capture, &error));
    CU(EventRecord, event, left); /* fork */
    CU(StreamWaitEvent, right, event, 0);
    LAUNCH(fill, 8, left, &x, &three, &n);
    LAUNCH(scale_add, 8, left, &y, &x, &half, &n);
    LAUNCH(total, 1, left, &sums, &y, &n);
    LAUNCH(fill, 8, right, &z, &ten, &n);
    LAUNCH(total, 1, right, &second, &z, &n);
    CU(EventRecord, event, right); /* join */
    CU(StreamWaitEvent, left, event, 0);
    LAUNCH(scale_add, 1, left, &sums, &second, &half, &one);
    must(gph_capture_end(capture, &graph, &error));
    return graph;
}

static void print_graph(gph_runtime *gph, CUgraph graph)
{
    gph_graph *data = NULL;
    must(gph_graph_describe(gph, graph, &data, &error));
    printf("%u nodes, %zu edges\n", gph_graph_node_count(data),
           gph_graph_edge_count(data));
    for (uint32_t i = 0; i < gph_graph_node_count(data); i++) {
        const gph_node *node = gph_graph_node(data, i);
        printf("  %u: %s %-9s after", i, gph_node_kind_name(node->kind),
               node->u.kernel.function ? node->u.kernel.function : "?");
        bool first = true;
        for (uint32_t from = 0; from < i; from++)
            for (size_t e = 0; e < gph_graph_edge_count(data); e++)
                if (gph_graph_edge(data, e)->from == from &&
                    gph_graph_edge(data, e)->to == i)
                    first = printf(" %u", from) < 0;
        printf("%s\n", first ? " nothing" : "");
    }
    gph_graph_destroy(data);
}

int main(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    gph_runtime *gph = NULL;
    CUcontext context;
    CUstream left, right;
    CUevent event;
    must(gph_open(&options, &gph, &error));
    cu = gph_cuda(gph);
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    load_kernels();
    CU(StreamCreate, &left, 1);
    CU(StreamCreate, &right, 1);
    CU(EventCreate, &event, 2);

    CUgraph graph = record(gph, left, right, event);
    print_graph(gph, graph);
    gph_exec *exec = NULL;
    must(gph_exec_create(gph, graph, NULL, &exec, &error));
    CU(GraphDestroy, graph);
    for (int i = 1; i <= 3; i++) {
        float result;
        must(gph_exec_launch(exec, left, &error));
        CU(MemcpyDtoHAsync, &result, sums, sizeof(result), left);
        CU(StreamSynchronize, left);
        printf("replay %d: %g\n", i, (double)result);
    }
    gph_exec_destroy(exec);
    CU(EventDestroy, event);
    CU(DevicePrimaryCtxRelease, 0);
    gph_close(gph);
    return 0;
}
