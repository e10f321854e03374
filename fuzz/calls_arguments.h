// SPDX-License-Identifier: Apache-2.0
/* What the fuzzer of graph calls works with: the driver, things that live as long as
 * nothing invalidates the context, tables of handles, and arguments made of bytes. */
#ifndef FUZZ_CALLS_ARGUMENTS_H
#define FUZZ_CALLS_ARGUMENTS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/driver.h"

#define ENSURE(cond)                                                                     \
    do {                                                                                 \
        if (!(cond)) {                                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                   \
            abort();                                                                     \
        }                                                                                \
    } while (0)

enum {
    GRAPHS = 8,
    NODES = 24,
    EXECS = 6,
    STREAMS = 4,
    EVENTS = 4,
    BLOCKS = 8,
    OBJECTS = 4
};
enum { CALLS_MOST = 200, MADE_MOST = 4 * CALLS_MOST };

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry nothing() { ret; }\n"
                          ".visible .entry store(.param .u64 p, .param .u32 v)\n"
                          "{\n"
                          "  .reg .b32 %r<2>; .reg .b64 %d<2>;\n"
                          "  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [v];\n"
                          "  st.global.u32 [%d1], %r1;\n"
                          "  ret;\n"
                          "}\n";

/* What lives as long as nothing invalidates the context. */
static struct world {
    CUcontext context;
    CUfunction functions[2];
    CUstream streams[STREAMS + 2]; /* the last two: legacy, of the thread */
    CUevent events[EVENTS];
    CUdeviceptr ground; /* 4 KiB that is always there */
    size_t free_bytes;
} world;

static CUgraph graphs[GRAPHS];
static CUgraphNode nodes[NODES];
static CUgraphExec execs[EXECS];
static CUdeviceptr blocks[BLOCKS];
static CUuserObject objects[OBJECTS];

/* Everything that a call has made, for the end. */
typedef enum made_kind { EXEC, BLOCK, GRAPH, OBJECT, MADE_KINDS } made_kind;
static struct made {
    made_kind kind;
    uint64_t handle;
} made[MADE_MOST];
static uint32_t made_count;

static const uint8_t *at, *end;

static uint32_t byte(void)
{
    return at < end ? *at++ : 0;
}

static void keep(made_kind kind, uint64_t handle)
{
    ENSURE(made_count < MADE_MOST);
    made[made_count++] = (struct made){kind, handle};
}

/* ---- the world ---- */

static void load_driver(void)
{
    const char *why;
    ENSURE(driver_load(SOFTCUDA_PATH, &why) && driver_is_soft);
    ENSURE(cu.cuInit(0) == CUDA_SUCCESS);
}

static void make_world(void)
{
    CUmodule module;
    size_t total;
    ENSURE(cu.cuCtxCreate(&world.context, NULL, 0, 0) == CUDA_SUCCESS);
    ENSURE(cu.cuModuleLoadData(&module, ptx) == CUDA_SUCCESS);
    ENSURE(cu.cuModuleGetFunction(&world.functions[0], module, "nothing") == 0);
    ENSURE(cu.cuModuleGetFunction(&world.functions[1], module, "store") == 0);
    for (int i = 0; i < STREAMS; i++)
        ENSURE(cu.cuStreamCreate(&world.streams[i], i % 2 ? CU_STREAM_NON_BLOCKING
                                                          : CU_STREAM_DEFAULT) == 0);
    world.streams[STREAMS] = CU_STREAM_LEGACY;
    world.streams[STREAMS + 1] = CU_STREAM_PER_THREAD;
    for (int i = 0; i < EVENTS; i++)
        ENSURE(cu.cuEventCreate(&world.events[i], i % 2 ? CU_EVENT_DISABLE_TIMING : 0) ==
               0);
    ENSURE(cu.cuMemAlloc(&world.ground, 4096) == CUDA_SUCCESS);
    /* Pools keep what they have until check_free_memory(). */
    CUmemoryPool pool;
    cuuint64_t keep_all = UINT64_MAX;
    ENSURE(cu.cuDeviceGetDefaultMemPool(&pool, 0) == CUDA_SUCCESS);
    ENSURE(cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep_all) ==
           CUDA_SUCCESS);
    if (world.free_bytes == 0)
        ENSURE(cu.cuMemGetInfo(&world.free_bytes, &total) == CUDA_SUCCESS);
}

/* ---- arguments ---- */

static CUgraph a_graph(void)
{
    return graphs[byte() % GRAPHS];
}

static CUgraphNode a_node(void)
{
    return nodes[byte() % NODES];
}

static CUgraphExec an_exec(void)
{
    return execs[byte() % EXECS];
}

static CUstream a_stream(void)
{
    return world.streams[byte() % (STREAMS + 2)];
}

static CUevent an_event(void)
{
    return world.events[byte() % EVENTS];
}

/* Mostly what may be read and written. */
static CUdeviceptr an_address(void)
{
    const uint32_t which = byte();
    return (which % 3 ? world.ground : blocks[which % BLOCKS]) + 4ull * (byte() % 64);
}

/* Up to three nodes to depend on. */
struct list {
    CUgraphNode nodes[3];
    size_t count;
};

static struct list some_nodes(void)
{
    struct list list = {.count = byte() % 4};
    for (size_t i = 0; i < list.count; i++)
        list.nodes[i] = a_node();
    return list;
}

static CUgraphEdgeData an_edge(void)
{
    const uint32_t bits = byte();
    return (CUgraphEdgeData){.from_port = (unsigned char)(bits & 3),
                             .to_port = (unsigned char)(bits >> 7),
                             .type = (unsigned char)(bits >> 2 & 3)};
}

static CUgraphNode *new_node(void)
{
    return &nodes[byte() % NODES];
}

static CUDA_KERNEL_NODE_PARAMS a_kernel(void)
{
    static CUdeviceptr where;
    static unsigned value;
    static void *arguments[] = {&where, &value};
    const uint32_t shape = byte();
    where = world.ground + 4ull * (byte() % 64);
    value = shape;
    return (CUDA_KERNEL_NODE_PARAMS){.func = world.functions[shape & 1],
                                     .gridDimX = shape >> 1 & 3,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = shape >> 3 & 7,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .sharedMemBytes = shape >> 6 << 15,
                                     .kernelParams = arguments};
}

static CUDA_MEMSET_NODE_PARAMS a_fill(void)
{
    const uint32_t shape = byte();
    return (CUDA_MEMSET_NODE_PARAMS){.dst = an_address(),
                                     .pitch = 64,
                                     .value = shape,
                                     .elementSize = shape & 7,
                                     .width = shape >> 3 & 7,
                                     .height = shape >> 6};
}

static CUDA_MEMCPY3D a_copy(void)
{
    const uint32_t shape = byte();
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = an_address(),
                           .srcPitch = 64,
                           .srcHeight = 4,
                           .dstMemoryType =
                               shape & 1 ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE,
                           .dstDevice = an_address(),
                           .dstPitch = 64,
                           .dstHeight = 4,
                           .WidthInBytes = shape >> 1 & 15,
                           .Height = shape >> 5 & 3,
                           .Depth = 1 + (shape >> 7)};
}

static void CUDA_CB do_nothing(void *user)
{
    (void)user;
}

static CUDA_HOST_NODE_PARAMS a_function(void)
{
    return (CUDA_HOST_NODE_PARAMS){byte() % 8 ? do_nothing : NULL, NULL};
}

static CUDA_BATCH_MEM_OP_NODE_PARAMS a_batch(void)
{
    static CUstreamBatchMemOpParams ops[2];
    memset(ops, 0, sizeof(ops));
    for (int i = 0; i < 2; i++) {
        ops[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        ops[i].writeValue.address = an_address();
    }
    return (CUDA_BATCH_MEM_OP_NODE_PARAMS){
        .ctx = world.context, .count = byte() % 3, .paramArray = ops};
}

static CUDA_MEM_ALLOC_NODE_PARAMS an_allocation(void)
{
    const uint32_t shape = byte();
    return (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, shape == 255}},
        .bytesize = (shape & 15) << (shape >> 4 & 3) * 7};
}

/* The generic form of a node, of any kind, with an odd bit here and there. */
static CUgraphNodeParams any_params(void)
{
    CUgraphNodeParams p;
    memset(&p, 0, sizeof(p));
    p.type = (CUgraphNodeType)(byte() % 16);
    switch ((int)p.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
        const CUDA_KERNEL_NODE_PARAMS kernel = a_kernel();
        p.kernel.func = kernel.func;
        p.kernel.gridDimX = p.kernel.gridDimY = p.kernel.gridDimZ = 1;
        p.kernel.blockDimX = kernel.blockDimX;
        p.kernel.blockDimY = p.kernel.blockDimZ = 1;
        p.kernel.kernelParams = kernel.kernelParams;
        break;
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        p.memcpy.copyCtx = world.context;
        p.memcpy.copyParams = a_copy();
        break;
    case CU_GRAPH_NODE_TYPE_HOST: p.host.fn = do_nothing; break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        p.graph.graph = a_graph();
        p.graph.ownership = (CUgraphChildGraphNodeOwnership)(byte() % 3);
        break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: p.eventWait.event = an_event(); break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: p.eventRecord.event = an_event(); break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        p.alloc.poolProps = an_allocation().poolProps;
        p.alloc.bytesize = byte();
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE: p.free.dptr = blocks[byte() % BLOCKS]; break;
    default: break; /* without parameters: EMPTY is fine, others are refused */
    }
    const uint32_t odd = byte();
    if (odd >= 240)
        ((unsigned char *)&p)[byte() % sizeof(p.type)] ^= 1u << odd % 8;
    return p;
}
#endif
