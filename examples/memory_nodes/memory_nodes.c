// SPDX-License-Identifier: Apache-2.0
/* Memory that belongs to a graph: an alloc node makes it, a free node ends it, and the
 * driver decides which memory backs the addresses, in steps of 32 MiB. Three ways to such
 * nodes, what they share, and what that costs after each step:
 *
 *   by hand   alloc x ──► fill x ──► out = sum of x ──► free x
 *   capture   cuMemAllocAsync, the two kernels, cuMemFreeAsync on a capturing stream
 *   child     a graph with such nodes, moved into another one */
#include <gph/gph.h>
#include <stdio.h>
#include <stdlib.h>

static gph_error error;

static void must(gph_status status)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "memory_nodes: %s %s\n", error.message, error.hint);
    exit(1);
}
#define CU(name, ...) must(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error))
#define CALL(name, ...) must(gph_cuda_check(name(__VA_ARGS__), #name, &error))

enum { N = 1000, NON_BLOCKING = 1, INVALID_VALUE = 1, NOT_SUPPORTED = 801 };
#define MIB (1ull << 20)

/* ---- calls that libgph has no entry for, with what <cuda.h> says of them ---- */

typedef struct location { /* CUmemLocation */
    int type, id;
} location;

typedef struct alloc_params { /* CUDA_MEM_ALLOC_NODE_PARAMS */
    int type, handle_types;   /* its CUmemPoolProps, up to `reserved` */
    location where;
    void *attributes;
    size_t max_bytes;
    unsigned short usage;
    unsigned char reserved[54];
    const void *access;
    size_t access_count, bytes;
    CUdeviceptr address; /* the driver's answer */
} alloc_params;

typedef struct kernel_params { /* CUDA_KERNEL_NODE_PARAMS */
    CUfunction function;
    unsigned grid[3], block[3], shared_bytes;
    void **params, **extra, *kernel;
    CUcontext context;
} kernel_params;

typedef struct child_params { /* CUgraphNodeParams, of a child graph */
    int type, reserved[3];
    CUgraph graph;
    int ownership;
    char rest[220];
    long long reserved_too;
} child_params;

enum { PINNED = 1, ON_DEVICE = 1, CHILD_GRAPH = 4, MOVE = 1 };
enum { RESERVED_NOW = 2, RESERVED_HIGH = 3 }; /* CUgraphMem_attribute */

typedef CUgraphNode node; /* dependencies are arrays of them */
static int (*cuGraphAddMemAllocNode)(node *, CUgraph, const node *, size_t,
                                     alloc_params *);
static int (*cuGraphAddMemFreeNode)(node *, CUgraph, const node *, size_t, CUdeviceptr);
static int (*cuGraphAddKernelNode)(node *, CUgraph, const node *, size_t,
                                   const kernel_params *);
static int (*cuGraphAddChildGraphNode)(node *, CUgraph, const node *, size_t, CUgraph);
static int (*cuGraphAddNode)(node *, CUgraph, const node *, const void *, size_t,
                             child_params *);
static int (*cuGraphUpload)(CUgraphExec, CUstream);
static int (*cuDeviceGraphMemTrim)(CUdevice);
static int (*cuDeviceGetGraphMemAttribute)(CUdevice, int, void *);
static int (*cuDeviceSetGraphMemAttribute)(CUdevice, int, void *);

static gph_runtime *gph;
static const gph_cuda_calls *cu;
static CUfunction fill, total;
static CUstream stream, other;
static CUdeviceptr out; /* ordinary memory: what a launch computed */

static void find_calls(void)
{
#define FIND(name) must(gph_cuda_find(gph, #name, (void *)&name, &error))
    FIND(cuGraphAddMemAllocNode);
    FIND(cuGraphAddMemFreeNode);
    FIND(cuGraphAddKernelNode);
    FIND(cuGraphAddChildGraphNode);
    FIND(cuGraphAddNode);
    FIND(cuGraphUpload);
    FIND(cuDeviceGraphMemTrim);
    FIND(cuDeviceGetGraphMemAttribute);
    FIND(cuDeviceSetGraphMemAttribute);
}

/* ---- nodes, each after `before` (NULL: after none) ---- */

static node add_alloc(CUgraph graph, node before, size_t bytes, CUdeviceptr *address)
{
    node added;
    alloc_params params = {.type = PINNED, .where = {ON_DEVICE, 0}, .bytes = bytes};
    CALL(cuGraphAddMemAllocNode, &added, graph, &before, before != NULL, &params);
    *address = params.address; /* from now on, and in every launch */
    return added;
}

static node add_free(CUgraph graph, node before, CUdeviceptr address)
{
    node added;
    CALL(cuGraphAddMemFreeNode, &added, graph, &before, before != NULL, address);
    return added;
}

static node add_kernel(CUgraph graph, node before, CUfunction function, unsigned blocks,
                       void **arguments)
{
    node added;
    const kernel_params params = {.function = function,
                                  .grid = {blocks, 1, 1},
                                  .block = {128, 1, 1},
                                  .params = arguments};
    CALL(cuGraphAddKernelNode, &added, graph, &before, 1, &params);
    return added;
}

static node add_fill(CUgraph graph, node before, CUdeviceptr x, float value)
{
    unsigned n = N;
    return add_kernel(graph, before, fill, 8, (void *[]){&x, &value, &n});
}

static node add_total(CUgraph graph, node before, CUdeviceptr x)
{
    unsigned n = N;
    return add_kernel(graph, before, total, 1, (void *[]){&out, &x, &n});
}

/* alloc, fill, sum, free. */
static CUgraph make_graph(size_t bytes, float value)
{
    CUgraph graph;
    CUdeviceptr x;
    CU(GraphCreate, &graph, 0);
    node last = add_alloc(graph, NULL, bytes, &x);
    last = add_fill(graph, last, x, value);
    last = add_total(graph, last, x);
    add_free(graph, last, x);
    return graph;
}

/* ---- telling ---- */

static void begin(const char *title)
{
    uint64_t zero = 0;
    must(gph_cuda_check(cu->CtxSynchronize(), "cuCtxSynchronize", &error));
    CALL(cuDeviceGraphMemTrim, 0);
    CALL(cuDeviceSetGraphMemAttribute, 0, RESERVED_HIGH, &zero);
    puts(title);
}

static void footprint(const char *step)
{
    uint64_t now, high;
    CALL(cuDeviceGetGraphMemAttribute, 0, RESERVED_NOW, &now);
    CALL(cuDeviceGetGraphMemAttribute, 0, RESERVED_HIGH, &high);
    printf("  %-48s %4llu MiB, at most %llu\n", step, (unsigned long long)(now / MIB),
           (unsigned long long)(high / MIB));
}

static float value_at(CUdeviceptr address)
{
    float value;
    CU(MemcpyDtoH, &value, address, sizeof(value));
    return value;
}

static void launch(CUgraphExec exec, CUstream in)
{
    CU(GraphLaunch, exec, in);
    CU(StreamSynchronize, in);
}

static void destroy(CUgraphExec exec, CUgraph graph)
{
    CU(GraphExecDestroy, exec);
    CU(GraphDestroy, graph);
}

/* ---- three ways ---- */

static void by_hand(void)
{
    CUgraphExec exec;
    begin("by hand: alloc 40 MiB, fill, sum, free");
    CUgraph graph = make_graph(40 * MIB, 1);
    footprint("the nodes are added");
    CU(GraphInstantiateWithFlags, &exec, graph, 0);
    footprint("the graph is instantiated");
    launch(exec, stream);
    footprint("it was launched: memory comes with that");
    launch(exec, other);
    footprint("it was launched again, in another stream");
    printf("  the sum is %g\n", (double)value_at(out));
    destroy(exec, graph);
    footprint("both are destroyed: the memory is kept");
    CALL(cuDeviceGraphMemTrim, 0);
    footprint("it is trimmed");
}

static void by_capture(void)
{
    gph_capture *capture = NULL;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr x, y;
    unsigned n = N;
    float two = 2, three = 3;
    begin("by capture: two allocations of 20 MiB, one after the other's free");
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    CU(MemAllocAsync, &x, 20 * MIB, stream);
    CU(LaunchKernel, fill, 8, 1, 1, 128, 1, 1, 0, stream, (void *[]){&x, &two, &n}, NULL);
    CU(MemFreeAsync, x, stream);
    CU(MemAllocAsync, &y, 20 * MIB, stream);
    CU(LaunchKernel, fill, 8, 1, 1, 128, 1, 1, 0, stream, (void *[]){&y, &three, &n},
       NULL);
    CU(LaunchKernel, total, 1, 1, 1, 128, 1, 1, 0, stream, (void *[]){&out, &y, &n},
       NULL);
    CU(MemFreeAsync, y, stream);
    must(gph_capture_end(capture, &graph, &error));
    printf("  reuse: the second one has %s\n",
           x == y ? "the address of the first" : "an address of its own");
    CU(GraphInstantiateWithFlags, &exec, graph, 0);
    CALL(cuGraphUpload, exec, stream);
    CU(StreamSynchronize, stream);
    footprint("it was uploaded, and not launched yet");
    launch(exec, other);
    printf("  the sum is %g\n", (double)value_at(out));
    destroy(exec, graph);
}

static void as_child(void)
{
    CUgraph parent, child = make_graph(MIB, 4);
    CUgraphExec exec;
    node added;
    child_params params = {.type = CHILD_GRAPH, .graph = child, .ownership = MOVE};
    begin("in a child graph");
    CU(GraphCreate, &parent, 0);
    if (cuGraphAddChildGraphNode(&added, parent, NULL, 0, child) == NOT_SUPPORTED)
        puts("  a graph with memory nodes cannot be copied into another one");
    CALL(cuGraphAddNode, &added, parent, NULL, NULL, 0, &params);
    if (cu->GraphInstantiateWithFlags(&exec, child, 0) == NOT_SUPPORTED)
        puts("  it was moved: it is its parent's now, and runs in that alone");
    CU(GraphInstantiateWithFlags, &exec, parent, 0);
    launch(exec, stream);
    footprint("the parent was launched");
    printf("  the sum is %g\n", (double)value_at(out));
    destroy(exec, parent); /* and the child with it */
}

/* ---- what is shared, and what is not ---- */

static void aliasing(void)
{
    CUgraph graphs[3];
    CUgraphExec execs[3];
    begin("three graphs of 64 MiB that never overlap");
    for (int i = 0; i < 3; i++) {
        graphs[i] = make_graph(64 * MIB, (float)(5 + i));
        CU(GraphInstantiateWithFlags, &execs[i], graphs[i], 0);
    }
    for (int i = 0; i < 3; i++) {
        launch(execs[i], i == 1 ? other : stream);
        printf("  the sum is %g\n", (double)value_at(out));
    }
    footprint("all were launched: on the same memory");
    for (int i = 0; i < 3; i++)
        destroy(execs[i], graphs[i]);
}

static void unfreed(void)
{
    CUgraph graph, frees;
    CUgraphExec exec, freeing;
    CUdeviceptr x;
    begin("an allocation of 64 MiB that its graph does not free");
    CU(GraphCreate, &graph, 0);
    node last = add_alloc(graph, NULL, 64 * MIB, &x);
    add_fill(graph, last, x, 8);
    CU(GraphInstantiateWithFlags, &exec, graph, 0);
    launch(exec, stream);
    printf("  after the launch it holds %g\n", (double)value_at(x));
    if (cu->GraphLaunch(exec, stream) == INVALID_VALUE)
        puts("  another launch is refused as long as it is live");
    CU(MemFreeAsync, x, stream); /* one way to end it: in the order of a stream */
    launch(exec, stream);
    CU(MemFree, x); /* another: at once */
    launch(exec, stream);
    CUgraph apart = make_graph(64 * MIB, 9);
    CUgraphExec beside;
    CU(GraphInstantiateWithFlags, &beside, apart, 0);
    launch(beside, stream);
    footprint("another graph of 64 MiB has memory of its own");
    destroy(beside, apart);
    destroy(exec, graph);
    CALL(cuDeviceGraphMemTrim, 0);
    footprint("both graphs are gone, and memory was trimmed");
    printf("  and yet it holds %g\n", (double)value_at(x));
    CU(GraphCreate, &frees, 0);
    add_free(frees, NULL, x); /* a third way: the launch of another graph */
    CU(GraphInstantiateWithFlags, &freeing, frees, 0);
    launch(freeing, stream);
    CALL(cuDeviceGraphMemTrim, 0);
    footprint("another graph freed it, and memory was trimmed");
    destroy(freeing, frees);
}

int main(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    CUcontext context;
    CUmodule module;
    must(gph_open(&options, &gph, &error));
    cu = gph_cuda(gph);
    find_calls();
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(ModuleLoad, &module, HELLO_PTX);
    CU(ModuleGetFunction, &fill, module, "fill");
    CU(ModuleGetFunction, &total, module, "total");
    CU(StreamCreate, &stream, NON_BLOCKING);
    CU(StreamCreate, &other, NON_BLOCKING);
    CU(MemAlloc, &out, sizeof(float));

    by_hand();
    by_capture();
    as_child();
    aliasing();
    unfreed();

    CU(MemFree, out);
    CU(DevicePrimaryCtxRelease, 0);
    gph_close(gph);
    return 0;
}
