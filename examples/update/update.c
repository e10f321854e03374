// SPDX-License-Identifier: Apache-2.0
/* What may change in an executable graph, and what is refused and why. The graph is a row
 * of five nodes, captured again for each change:
 *
 *   fill x ──► clear y ──► y = y * scale + x ──► copy y to z ──► sum of z
 *
 * With CUDA_LOG_FILE=stderr in the environment the driver says a sentence more on each
 * refusal (softcuda, and NVIDIA's since 12.9). */
#include <gph/gph.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static gph_error error;

static void must(gph_status status)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "update: %s %s\n", error.message, error.hint);
    exit(1);
}
#define CU(name, ...) must(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error))
#define LAUNCH(kernel, stream, ...)                                                      \
    CU(LaunchKernel, kernel, 8, 1, 1, 128, 1, 1, 0, stream, (void *[]){__VA_ARGS__}, NULL)

/* ---- calls that libgph has no entry for, with what <cuda.h> says of them ---- */

typedef struct kernel_params { /* CUDA_KERNEL_NODE_PARAMS */
    CUfunction function;
    unsigned grid[3], block[3], shared_bytes;
    void **params, **extra, *kernel;
    CUcontext context;
} kernel_params;

typedef struct update_info { /* CUgraphExecUpdateResultInfo */
    int result;
    CUgraphNode node, from;
} update_info;

static int (*exec_update)(CUgraphExec, CUgraph, update_info *);
static int (*exec_set_kernel)(CUgraphExec, CUgraphNode, const kernel_params *);
static int (*set_enabled)(CUgraphExec, CUgraphNode, unsigned);
static int (*get_roots)(CUgraph, CUgraphNode *, size_t *);
static int (*get_type)(CUgraphNode, int *);

static void find_calls(gph_runtime *gph)
{
    static const struct {
        const char *name;
        void *out;
    } calls[] = {{"cuGraphExecUpdate", &exec_update},
                 {"cuGraphExecKernelNodeSetParams", &exec_set_kernel},
                 {"cuGraphNodeSetEnabled", &set_enabled},
                 {"cuGraphGetRootNodes", &get_roots},
                 {"cuGraphNodeGetType", &get_type}};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        must(gph_cuda_find(gph, calls[i].name, calls[i].out, &error));
}

/* ---- the graph ---- */

enum { N = 1000, NON_BLOCKING = 1 };

static gph_runtime *gph;
static const gph_cuda_calls *cu;
static CUstream stream, urgent, side;
static CUevent event;
static CUfunction fill, scale_add, total;
static CUdeviceptr x, y, z, sum, pool;
static float host[N];

/* What is recorded. */
typedef struct recipe {
    float value;   /* that fill writes */
    unsigned n;    /* of N elements */
    CUdeviceptr z; /* the copy's destination */
    bool more, fork, memset_first, from_host, cooperative, other_kernel;
    CUstream stream;
} recipe;

static recipe plain(float value)
{
    return (recipe){.value = value, .n = N, .z = z, .stream = stream};
}

static void record_start(const recipe *r)
{
    if (r->fork) { /* clear y in parallel with fill x, not after it */
        CU(EventRecord, event, r->stream);
        CU(StreamWaitEvent, side, event, 0);
        CU(MemsetD32Async, y, 0, N, side);
        CU(EventRecord, event, side);
    }
    if (r->memset_first)
        CU(MemsetD32Async, x, 0, N, r->stream);
    else
        LAUNCH(fill, r->stream, &x, (void *)&r->value, (void *)&r->n);
    if (r->fork)
        CU(StreamWaitEvent, r->stream, event, 0);
    else
        CU(MemsetD32Async, y, 0, N, r->stream);
}

static void record_end(const recipe *r)
{
    void *arguments[] = {&sum, (void *)&r->z, (void *)&r->n};
    float seven = 7;
    unsigned one = 1;
    if (r->cooperative)
        CU(LaunchCooperativeKernel, total, 1, 1, 1, 128, 1, 1, 0, r->stream, arguments);
    else if (r->other_kernel)
        LAUNCH(fill, r->stream, &sum, &seven, &one);
    else
        CU(LaunchKernel, total, 1, 1, 1, 128, 1, 1, 0, r->stream, arguments, NULL);
}

static CUgraph record(const recipe *r)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    float half = 0.5f;
    must(gph_capture_begin(gph, r->stream, NULL, &capture, &error));
    record_start(r);
    LAUNCH(scale_add, r->stream, &y, &x, &half, (void *)&r->n);
    if (r->more)
        LAUNCH(scale_add, r->stream, &y, &x, &half, (void *)&r->n);
    if (r->from_host)
        CU(MemcpyHtoDAsync, r->z, host, r->n * sizeof(float), r->stream);
    else
        CU(MemcpyDtoDAsync, r->z, y, r->n * sizeof(float), r->stream);
    record_end(r);
    must(gph_capture_end(capture, &graph, &error));
    return graph;
}

static float launch(CUgraphExec exec)
{
    float result = 0;
    CU(GraphLaunch, exec, stream);
    CU(MemcpyDtoHAsync, &result, sum, sizeof(result), stream);
    CU(StreamSynchronize, stream);
    return result;
}

/* ---- what may change ---- */

static void show(const char *what, CUgraphExec exec)
{
    printf("  %-52s %g\n", what, (double)launch(exec));
}

static void update(CUgraphExec exec, recipe r)
{
    update_info info;
    CUgraph graph = record(&r);
    must(gph_cuda_check(exec_update(exec, graph, &info), "cuGraphExecUpdate", &error));
    CU(GraphDestroy, graph);
}

static CUgraphNode first_node(CUgraph graph)
{
    CUgraphNode node = NULL;
    size_t count = 1;
    must(gph_cuda_check(get_roots(graph, &node, &count), "cuGraphGetRootNodes", &error));
    return node;
}

static int set_fill(CUgraphExec exec, CUgraphNode node, float value)
{
    unsigned n = N;
    const kernel_params params = {.function = fill,
                                  .grid = {8, 1, 1},
                                  .block = {128, 1, 1},
                                  .params = (void *[]){&x, &value, &n}};
    return exec_set_kernel(exec, node, &params);
}

static void show_single_nodes(CUgraphExec exec, CUgraphNode node)
{
    must(gph_cuda_check(set_fill(exec, node, 2), "cuGraphExecKernelNodeSetParams",
                        &error));
    show("one kernel's arguments, by its setter", exec);
    must(gph_cuda_check(set_enabled(exec, node, 0), "cuGraphNodeSetEnabled", &error));
    must(gph_cuda_check(set_fill(exec, node, 3), "cuGraphExecKernelNodeSetParams",
                        &error));
    show("the kernel switched off, with new arguments", exec);
    must(gph_cuda_check(set_enabled(exec, node, 1), "cuGraphNodeSetEnabled", &error));
    show("and on again", exec);
}

static void show_updates(CUgraphExec exec)
{
    update(exec, plain(4));
    show("arguments of all nodes, by a graph that has others", exec);
    recipe r = plain(5);
    r.n = 500;
    update(exec, r);
    show("the sizes of kernels and of a copy of one row", exec);
    r = plain(6);
    r.z = x;
    update(exec, r);
    show("where a copy writes, and what a kernel reads", exec);
    r = plain(6);
    r.other_kernel = true;
    update(exec, r);
    show("another kernel in the place of the last", exec);
}

/* Launches that are under way keep what they were given. */
static void show_under_way(CUgraphExec exec)
{
    float results[3];
    for (int i = 0; i < 3; i++) {
        update(exec, plain((float)(i + 1)));
        CU(GraphLaunch, exec, stream);
        CU(MemcpyDtoHAsync, &results[i], sum, sizeof(results[i]), stream);
    }
    CU(StreamSynchronize, stream);
    printf("  %-52s %g %g %g\n", "three launches in a row, an update before each",
           (double)results[0], (double)results[1], (double)results[2]);
}

/* ---- what is refused ---- */

static const char *name_of(int result)
{
    static const char *const names[] = {
        "SUCCESS",           "ERROR",
        "TOPOLOGY_CHANGED",  "NODE_TYPE_CHANGED",
        "FUNCTION_CHANGED",  "PARAMETERS_CHANGED",
        "NOT_SUPPORTED",     "UNSUPPORTED_FUNCTION_CHANGE",
        "ATTRIBUTES_CHANGED"};
    return result >= 0 && result <= 8 ? names[result] : "?";
}

static const char *kind_of(CUgraphNode node)
{
    int type = -1;
    if (node == NULL)
        return "no node";
    must(gph_cuda_check(get_type(node, &type), "cuGraphNodeGetType", &error));
    return type == 0   ? "a kernel"
           : type == 1 ? "a copy"
           : type == 2 ? "a fill"
                       : "another node";
}

static void say_refusal(int code)
{
    const char *name = "?";
    CU(GetErrorName, code, &name);
    printf("      %d %s", code, name);
}

static void refuse(const char *what, const char *why, CUgraphExec exec, recipe r)
{
    update_info info = {0};
    CUgraph graph = record(&r);
    const int code = exec_update(exec, graph, &info);
    printf("  %s: %s\n", what, why);
    say_refusal(code);
    printf(", %s, %s named\n", name_of(info.result), kind_of(info.node));
    CU(GraphDestroy, graph);
}

static void show_refusals(CUgraphExec exec)
{
    recipe r = plain(9);
    r.more = true;
    refuse("a kernel more", "the number of nodes stays", exec, r);
    r = plain(9);
    r.fork = true;
    refuse("two nodes side by side", "dependencies stay, in their order", exec, r);
    r = plain(9);
    r.memset_first = true;
    refuse("a fill instead of a kernel", "nodes keep their type", exec, r);
    r = plain(9);
    r.from_host = true;
    refuse("a copy from the host", "copies stay between the kinds of memory they name",
           exec, r);
    r = plain(9);
    r.z = pool;
    refuse("a copy to memory of a pool",
           "memory of a context and memory of none do not mix", exec, r);
    r = plain(9);
    r.cooperative = true;
    refuse("a cooperative launch", "kernels stay cooperative or not", exec, r);
}

/* Only where the graph was instantiated to use the priorities of its nodes. */
static void show_priorities(void)
{
    enum { USE_NODE_PRIORITY = 8 };
    const recipe first = plain(1);
    recipe r = plain(2);
    CUgraph graph = record(&first);
    CUgraphExec ordinary = NULL, by_node = NULL;
    CU(GraphInstantiateWithFlags, &ordinary, graph, 0);
    CU(GraphInstantiateWithFlags, &by_node, graph, USE_NODE_PRIORITY);
    r.stream = urgent;
    update(ordinary, r);
    show("captured in a stream of high priority: may be", ordinary);
    refuse("the same, with the flag for node priorities", "priorities stay", by_node, r);
    CU(GraphExecDestroy, ordinary);
    CU(GraphExecDestroy, by_node);
    CU(GraphDestroy, graph);
}

/* ---- */

static void start(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    CUcontext context;
    CUmodule module;
    must(gph_open(&options, &gph, &error));
    cu = gph_cuda(gph);
    find_calls(gph);
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(ModuleLoad, &module, HELLO_PTX);
    CU(ModuleGetFunction, &fill, module, "fill");
    CU(ModuleGetFunction, &scale_add, module, "scale_add");
    CU(ModuleGetFunction, &total, module, "total");
    CU(StreamCreate, &stream, NON_BLOCKING);
    CU(StreamCreate, &side, NON_BLOCKING);
    CU(StreamCreateWithPriority, &urgent, NON_BLOCKING, -1);
    CU(EventCreate, &event, 2);
    CU(MemAlloc, &x, N * sizeof(float));
    CU(MemAlloc, &y, N * sizeof(float));
    CU(MemAlloc, &z, N * sizeof(float));
    CU(MemAlloc, &sum, sizeof(float));
    CU(MemAllocAsync, &pool, N * sizeof(float), stream);
    CU(StreamSynchronize, stream);
}

int main(void)
{
    start();
    const recipe first = plain(1), other = plain(1);
    CUgraph graph = record(&first), foreign = record(&other);
    CUgraphExec exec = NULL;
    CU(GraphInstantiateWithFlags, &exec, graph, 0);
    puts("what may change, and the sum that a launch gives:");
    show("as it was instantiated", exec);
    show_single_nodes(exec, first_node(graph));
    show_updates(exec);
    show_under_way(exec);
    puts("what is refused:");
    show_refusals(exec);
    printf("  a setter with another graph's node: an executable graph has its own\n");
    say_refusal(set_fill(exec, first_node(foreign), 9));
    puts("\nnone of which has changed anything:");
    show("the next launch", exec);
    puts("priorities:");
    show_priorities();
    CU(GraphExecDestroy, exec);
    CU(GraphDestroy, graph);
    CU(GraphDestroy, foreign);
    CU(MemFreeAsync, pool, stream);
    CU(StreamSynchronize, stream);
    CU(DevicePrimaryCtxRelease, 0);
    gph_close(gph);
    return 0;
}
