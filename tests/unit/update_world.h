// SPDX-License-Identifier: Apache-2.0
/* What tests of updates and slots use: a driver (GPH_DRIVER, softcuda if it is not
 * set), kernels, memory of every sort, and graphs made from descriptions that are easy to
 * change in one place. */
#ifndef UPDATE_WORLD_H
#define UPDATE_WORLD_H
#include "cuda/loader.h"
#include "cuda/runtime.h"
#include "test.h"
#include <gph/update.h>
#include <stdbool.h>

/* store: *p = v. other: *p = v + w. */
static const char world_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry store(.param .u64 p, .param .u32 v)\n"
    "{\n.reg .b64 %a<2>;\n.reg .b32 %r<2>;\n"
    "ld.param.u64 %a1, [p];\nld.param.u32 %r1, [v];\nst.global.u32 [%a1], %r1;\nret;\n}\n"
    ".visible .entry other(.param .u64 p, .param .u32 v, .param .u32 w)\n"
    "{\n.reg .b64 %a<2>;\n.reg .b32 %r<4>;\n"
    "ld.param.u64 %a1, [p];\nld.param.u32 %r1, [v];\nld.param.u32 %r2, [w];\n"
    "add.u32 %r3, %r1, %r2;\nst.global.u32 [%a1], %r3;\nret;\n}\n";

enum { WORLD_BYTES = 1 << 16, WORLD_PAGE = 2 << 20 };

/* Sorts of memory, by where they are from. */
enum {
    AT_DEVICE,
    AT_SECOND,
    AT_FOREIGN, /* of another context */
    AT_MANAGED,
    AT_PINNED,
    AT_PAGEABLE,
    AT_POOL,
    AT_MAPPED,
    AT_COUNT
};

static struct {
    gph_runtime *runtime;
    gphi_cuda_table *cu;
    CUcontext context, other_context;
    CUfunction store, other, foreign_store;
    CUstream stream;
    CUevent events[2];
    CUdeviceptr at[AT_COUNT];
    gph_error error;
} world;

static char world_pageable[WORLD_BYTES];

#define OK(call) CHECK((call) == CUDA_SUCCESS)
#define FINE(expr) CHECK_OK(expr, world.error)

static void world_map(void)
{
    CUmemGenericAllocationHandle handle;
    const CUmemAllocationProp props = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    const CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr *at = &world.at[AT_MAPPED];
    OK(world.cu->cuMemAddressReserve(at, WORLD_PAGE, 0, 0, 0));
    OK(world.cu->cuMemCreate(&handle, WORLD_PAGE, &props, 0));
    OK(world.cu->cuMemMap(*at, WORLD_PAGE, 0, handle, 0));
    OK(world.cu->cuMemSetAccess(*at, WORLD_PAGE, &access, 1));
    OK(world.cu->cuMemRelease(handle));
}

/* 0, or ctest's code for a skipped test. */
static int world_open(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    const char *wanted = getenv("GPH_DRIVER");
    options.driver =
        wanted != NULL && strcmp(wanted, "cuda") == 0 ? GPH_DRIVER_CUDA : GPH_DRIVER_SOFT;
    if (gph_open(&options, &world.runtime, &world.error) != GPH_OK) {
        printf("skipped: %s\n", world.error.message);
        return 77;
    }
    gphi_cuda_table *cu = world.cu = &world.runtime->cu;
    CUmodule module;
    void *host = NULL;
    OK(cu->cuDevicePrimaryCtxRetain(&world.context, 0));
    OK(cu->cuCtxCreate(&world.other_context, NULL, 0, 0));
    OK(cu->cuModuleLoadData(&module, world_ptx));
    OK(cu->cuModuleGetFunction(&world.foreign_store, module, "store"));
    OK(cu->cuMemAlloc(&world.at[AT_FOREIGN], WORLD_BYTES));
    OK(cu->cuCtxSetCurrent(world.context));
    OK(cu->cuModuleLoadData(&module, world_ptx));
    OK(cu->cuModuleGetFunction(&world.store, module, "store"));
    OK(cu->cuModuleGetFunction(&world.other, module, "other"));
    OK(cu->cuStreamCreate(&world.stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++) {
        OK(cu->cuEventCreate(&world.events[i], CU_EVENT_DISABLE_TIMING));
        OK(cu->cuMemAlloc(&world.at[AT_DEVICE + i], WORLD_BYTES));
    }
    OK(cu->cuMemAllocManaged(&world.at[AT_MANAGED], WORLD_BYTES, CU_MEM_ATTACH_GLOBAL));
    OK(cu->cuMemHostAlloc(&host, WORLD_BYTES, CU_MEMHOSTALLOC_DEVICEMAP));
    world.at[AT_PINNED] = (CUdeviceptr)(uintptr_t)host;
    world.at[AT_PAGEABLE] = (CUdeviceptr)(uintptr_t)world_pageable;
    OK(cu->cuMemAllocAsync(&world.at[AT_POOL], WORLD_BYTES, world.stream));
    OK(cu->cuStreamSynchronize(world.stream));
    world_map();
    return atomic_load(&test_failures) > 0;
}

/* ---- graphs from descriptions -------------------------------------------------------
 */

typedef enum spec_kind {
    SPEC_KERNEL,
    SPEC_COPY,
    SPEC_FILL,
    SPEC_HOST,
    SPEC_EMPTY,
    SPEC_RECORD,
    SPEC_WAIT,
    SPEC_BATCH,
    SPEC_CHILD,
    SPEC_KINDS
} spec_kind;

enum { SPEC_NODES = 12, SPEC_DEPS = 4 };

typedef struct spec_node {
    spec_kind kind;
    int dep_count, deps[SPEC_DEPS];
    /* Kernels. */
    int function; /* 0 store, 1 other, 2 store of another context */
    unsigned grid, block, shared, value, cooperative;
    int priority;
    uint64_t slot; /* where it writes, in words */
    /* Copies and fills; `slot` too. */
    int to, from; /* AT_ */
    bool unified;
    unsigned width, rows, pitch, element;
    /* The rest. */
    int event, host, ops, op_wide;
} spec_node;

typedef struct spec {
    int count;
    spec_node nodes[SPEC_NODES];
} spec;

static void CUDA_CB spec_host_0(void *user)
{
    (void)user;
}

static void CUDA_CB spec_host_1(void *user)
{
    (void)user;
}

static CUresult spec_add_kernel(CUgraph graph, const spec_node *from, CUgraphNode *out,
                                const CUgraphNode *deps)
{
    CUdeviceptr address = world.at[AT_DEVICE] + 4 * from->slot;
    unsigned value = from->value, more = 1000;
    void *arguments[] = {&address, &value, &more};
    const CUDA_KERNEL_NODE_PARAMS params = {.func = from->function == 0 ? world.store
                                                    : from->function == 1
                                                        ? world.other
                                                        : world.foreign_store,
                                            .gridDimX = from->grid,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = from->block,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .sharedMemBytes = from->shared,
                                            .kernelParams = arguments};
    CUresult result = world.cu->cuGraphAddKernelNode(out, graph, deps,
                                                     (size_t)from->dep_count, &params);
    if (result == CUDA_SUCCESS && from->cooperative) {
        const CUkernelNodeAttrValue value_on = {.cooperative = 1};
        result = world.cu->cuGraphKernelNodeSetAttribute(
            *out, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value_on);
    }
    if (result == CUDA_SUCCESS && from->priority != 0) {
        const CUkernelNodeAttrValue value_of = {.priority = from->priority};
        result = world.cu->cuGraphKernelNodeSetAttribute(
            *out, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value_of);
    }
    return result;
}

static bool is_host(int at)
{
    return at == AT_PINNED || at == AT_PAGEABLE;
}

static CUresult spec_add_copy(CUgraph graph, const spec_node *from, CUgraphNode *out,
                              const CUgraphNode *deps)
{
    CUDA_MEMCPY3D copy = {.WidthInBytes = from->width,
                          .Height = from->rows,
                          .Depth = 1,
                          .srcPitch = from->rows > 1 ? from->pitch : 0,
                          .dstPitch = from->rows > 1 ? from->pitch : 0};
    const CUdeviceptr dst = world.at[from->to] + 4 * from->slot,
                      src = world.at[from->from] + 2048;
    copy.dstMemoryType = from->unified       ? CU_MEMORYTYPE_UNIFIED
                         : is_host(from->to) ? CU_MEMORYTYPE_HOST
                                             : CU_MEMORYTYPE_DEVICE;
    copy.srcMemoryType = from->unified         ? CU_MEMORYTYPE_UNIFIED
                         : is_host(from->from) ? CU_MEMORYTYPE_HOST
                                               : CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = copy.dstMemoryType == CU_MEMORYTYPE_HOST ? 0 : dst;
    copy.srcDevice = copy.srcMemoryType == CU_MEMORYTYPE_HOST ? 0 : src;
    copy.dstHost = (void *)(uintptr_t)(copy.dstDevice == 0 ? dst : 0);
    copy.srcHost = (void *)(uintptr_t)(copy.srcDevice == 0 ? src : 0);
    return world.cu->cuGraphAddMemcpyNode(out, graph, deps, (size_t)from->dep_count,
                                          &copy, world.context);
}

static CUresult spec_add_fill(CUgraph graph, const spec_node *from, CUgraphNode *out,
                              const CUgraphNode *deps)
{
    const CUDA_MEMSET_NODE_PARAMS fill = {.dst = world.at[from->to] + 4 * from->slot,
                                          .value = from->value,
                                          .elementSize = from->element,
                                          .width = from->width / from->element,
                                          .height = from->rows,
                                          .pitch = from->rows > 1 ? from->pitch : 0};
    return world.cu->cuGraphAddMemsetNode(out, graph, deps, (size_t)from->dep_count,
                                          &fill, world.context);
}

static CUresult spec_add_batch(CUgraph graph, const spec_node *from, CUgraphNode *out,
                               const CUgraphNode *deps)
{
    CUstreamBatchMemOpParams ops[4];
    memset(ops, 0, sizeof(ops));
    for (int i = 0; i < from->ops; i++) {
        ops[i].writeValue.operation = from->op_wide ? CU_STREAM_MEM_OP_WRITE_VALUE_64
                                                    : CU_STREAM_MEM_OP_WRITE_VALUE_32;
        ops[i].writeValue.address = world.at[AT_DEVICE] + 4096 + 8 * (size_t)i;
        ops[i].writeValue.value = from->value;
    }
    const CUDA_BATCH_MEM_OP_NODE_PARAMS params = {
        .ctx = world.context, .count = (unsigned)from->ops, .paramArray = ops};
    return world.cu->cuGraphAddBatchMemOpNode(out, graph, deps, (size_t)from->dep_count,
                                              &params);
}

/* A kernel, and a fill after it; `value` and `rows` as the node says. */
static CUresult spec_add_child(CUgraph graph, const spec_node *from, CUgraphNode *out,
                               const CUgraphNode *deps)
{
    CUgraph child = NULL;
    CUgraphNode first = NULL, second = NULL;
    spec_node inner = *from;
    inner.dep_count = 0;
    CUresult result = world.cu->cuGraphCreate(&child, 0);
    if (result == CUDA_SUCCESS)
        result = spec_add_kernel(child, &inner, &first, NULL);
    inner.dep_count = 1;
    if (result == CUDA_SUCCESS)
        result = spec_add_fill(child, &inner, &second, &first);
    if (result == CUDA_SUCCESS)
        result = world.cu->cuGraphAddChildGraphNode(out, graph, deps,
                                                    (size_t)from->dep_count, child);
    if (child != NULL)
        OK(world.cu->cuGraphDestroy(child));
    return result;
}

static CUresult spec_add(CUgraph graph, const spec_node *from, const CUgraphNode *made,
                         CUgraphNode *out)
{
    CUgraphNode deps[SPEC_DEPS];
    const size_t count = (size_t)from->dep_count;
    for (size_t i = 0; i < count; i++)
        deps[i] = made[from->deps[i]];
    const CUDA_HOST_NODE_PARAMS host = {.fn = from->host ? spec_host_1 : spec_host_0,
                                        .userData = (void *)(uintptr_t)(from->value + 1)};
    switch (from->kind) {
    case SPEC_KERNEL: return spec_add_kernel(graph, from, out, deps);
    case SPEC_COPY: return spec_add_copy(graph, from, out, deps);
    case SPEC_FILL: return spec_add_fill(graph, from, out, deps);
    case SPEC_BATCH: return spec_add_batch(graph, from, out, deps);
    case SPEC_CHILD: return spec_add_child(graph, from, out, deps);
    case SPEC_HOST: return world.cu->cuGraphAddHostNode(out, graph, deps, count, &host);
    case SPEC_RECORD:
        return world.cu->cuGraphAddEventRecordNode(out, graph, deps, count,
                                                   world.events[from->event]);
    case SPEC_WAIT:
        return world.cu->cuGraphAddEventWaitNode(out, graph, deps, count,
                                                 world.events[from->event]);
    case SPEC_EMPTY:
    case SPEC_KINDS: break;
    }
    return world.cu->cuGraphAddEmptyNode(out, graph, deps, count);
}

/* NULL: the driver takes no such graph. */
static inline CUgraph spec_build(const spec *from, CUgraphNode *nodes)
{
    CUgraph graph = NULL;
    OK(world.cu->cuGraphCreate(&graph, 0));
    for (int i = 0; i < from->count; i++) {
        if (spec_add(graph, &from->nodes[i], nodes, &nodes[i]) == CUDA_SUCCESS)
            continue;
        OK(world.cu->cuGraphDestroy(graph));
        return NULL;
    }
    return graph;
}

/* A node that every driver takes, of its own place in memory. */
static inline spec_node spec_default(spec_kind kind, uint64_t slot)
{
    return (spec_node){.kind = kind,
                       .grid = 1,
                       .block = 1,
                       .slot = slot,
                       .to = AT_SECOND,
                       .from = AT_DEVICE,
                       .width = 16,
                       .rows = 1,
                       .pitch = 256,
                       .element = 4,
                       .ops = 2};
}
#endif
