// SPDX-License-Identifier: Apache-2.0
/* Each allocation of softcuda's own fails in turn while graphs are instantiated, updated,
 * changed node by node, uploaded and launched: what fails gives
 * CUDA_ERROR_OUT_OF_MEMORY and leaves everything as it was. */
#include <string.h>
#include <time.h>

#include "conformance/driver.h"
#include "conformance/kernels.h"
#include "fault/sweep.h"

static CUcontext context;
static CUstream stream;
static CUfunction store;
static CUdeviceptr memory; /* words: kernel, fill, copy, batch, in the child */
static CUevent events[2];

/* ---- a graph with a node of each kind, in one of two variants ---- */

enum { KERNEL, FILL, COPY, HOST, RECORD, WAIT, BATCH, CHILD, EMPTY, NODES };

typedef struct built {
    CUgraph graph;
    CUgraphNode nodes[NODES];
} built;

static atomic_int host_calls[2];

static void CUDA_CB count_call(void *user)
{
    const struct timespec pause = {.tv_nsec = 200000}; /* a launch stays under way */
    nanosleep(&pause, NULL);
    atomic_fetch_add(&host_calls[*(int *)user], 1);
}

static int variants[2] = {0, 1};

/* What the nodes of a variant are given: kept as long as the calls use it. */
typedef struct params {
    CUdeviceptr at;
    unsigned value;
    void *arguments[2];
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_MEMCPY3D copy;
    CUDA_HOST_NODE_PARAMS host;
    CUstreamBatchMemOpParams op;
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
} params;

static void describe(params *p, int variant, CUdeviceptr at)
{
    memset(p, 0, sizeof(*p));
    p->at = at;
    p->value = 10 + (unsigned)variant;
    p->arguments[0] = &p->at;
    p->arguments[1] = &p->value;
    p->kernel = one_thread(store, p->arguments);
    p->fill = (CUDA_MEMSET_NODE_PARAMS){.dst = memory + 4,
                                        .value = 20 + (unsigned)variant,
                                        .elementSize = 4,
                                        .width = 1,
                                        .height = 1};
    p->copy = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = memory + (variant ? 0 : 4),
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstDevice = memory + 8,
                              .WidthInBytes = 4,
                              .Height = 1,
                              .Depth = 1};
    p->host = (CUDA_HOST_NODE_PARAMS){.fn = count_call, .userData = &variants[variant]};
    p->op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    p->op.writeValue.address = memory + 12;
    p->op.writeValue.value = 30 + (unsigned)variant;
    p->batch =
        (CUDA_BATCH_MEM_OP_NODE_PARAMS){.ctx = context, .count = 1, .paramArray = &p->op};
}

static CUgraph child_graph(int variant)
{
    CUgraph graph;
    CUgraphNode node;
    params p;
    describe(&p, variant, memory + 16);
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &p.kernel));
    return graph;
}

static built build(int variant)
{
    built b;
    params p;
    describe(&p, variant, memory);
    CUgraph child = child_graph(variant), g;
    CUgraphNode *n = b.nodes;
    OK(cu.cuGraphCreate(&g, 0));
    b.graph = g;
    OK(cu.cuGraphAddKernelNode(&n[KERNEL], g, NULL, 0, &p.kernel));
    OK(cu.cuGraphAddMemsetNode(&n[FILL], g, &n[KERNEL], 1, &p.fill, context));
    OK(cu.cuGraphAddMemcpyNode(&n[COPY], g, &n[FILL], 1, &p.copy, context));
    OK(cu.cuGraphAddHostNode(&n[HOST], g, &n[COPY], 1, &p.host));
    OK(cu.cuGraphAddEventRecordNode(&n[RECORD], g, &n[HOST], 1, events[variant]));
    OK(cu.cuGraphAddEventWaitNode(&n[WAIT], g, &n[RECORD], 1, events[variant]));
    OK(cu.cuGraphAddBatchMemOpNode(&n[BATCH], g, &n[WAIT], 1, &p.batch));
    OK(cu.cuGraphAddChildGraphNode(&n[CHILD], g, &n[BATCH], 1, child));
    OK(cu.cuGraphAddEmptyNode(&n[EMPTY], g, &n[CHILD], 1));
    OK(cu.cuGraphDestroy(child));
    return b;
}

/* What a launch does: bit i is set where node i is of the second variant. */
static unsigned observe(CUgraphExec exec)
{
    unsigned words[5] = {0}, seen = 0;
    OK(cu.cuStreamSynchronize(stream));
    atomic_store(&host_calls[0], 0);
    atomic_store(&host_calls[1], 0);
    OK(cu.cuMemsetD32Async(memory, 99, 5, stream));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuMemcpyDtoHAsync(words, memory, sizeof(words), stream));
    OK(cu.cuStreamSynchronize(stream));
    seen |= (unsigned)(words[0] == 11) << KERNEL;
    seen |= (unsigned)(words[1] == 21) << FILL;
    seen |= (unsigned)(words[2] == words[0]) << COPY;
    seen |= (unsigned)atomic_load(&host_calls[1]) << HOST;
    seen |= (unsigned)(words[3] == 31) << BATCH;
    seen |= (unsigned)(words[4] == 11) << CHILD;
    CHECK(words[0] == 10 || words[0] == 11);
    CHECK(words[1] == 20 || words[1] == 21);
    CHECK(words[2] == words[0] || words[2] == words[1]);
    CHECK(words[3] == 30 || words[3] == 31);
    CHECK(words[4] == 10 || words[4] == 11);
    CHECK(atomic_load(&host_calls[0]) + atomic_load(&host_calls[1]) == 1);
    return seen;
}

enum { ALL = 1 << KERNEL | 1 << FILL | 1 << COPY | 1 << HOST | 1 << BATCH | 1 << CHILD };

static CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

/* ---- sweeps ---- */

static CUuserObject retain_object(CUgraph graph)
{
    static int anything;
    CUuserObject object = NULL;
    OK(cu.cuUserObjectCreate(&object, &anything, count_destroyed, 1,
                             CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cu.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    return object;
}

static void instantiation_gives_all_or_nothing(void)
{
    const built b = build(0);
    const CUgraphExec untouched = (CUgraphExec)(uintptr_t)0x77;
    atomic_store(&destroyed, 0);
    retain_object(b.graph);
    for (SWEEP(nth)) {
        CUgraphExec exec = untouched;
        CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
                                           .hUploadStream = stream};
        fail_allocation(nth);
        const bool fine =
            worked(cu.cuGraphInstantiateWithParams(&exec, b.graph, &p), nth);
        END_OF_SWEEP(nth, fine);
        CHECK(fine == (exec != untouched));
        CHECK(p.result_out ==
              (fine ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR));
        if (!fine)
            continue;
        CHECK(observe(exec) == 0);
        OK(cu.cuGraphExecDestroy(exec));
    }
    CHECK(swept > 10);
    CHECK(atomic_load(&destroyed) == 0);
    OK(cu.cuGraphDestroy(b.graph));
    wait_for_destructors(1);
}

static void an_update_does_all_or_nothing(void)
{
    const built b = build(0), other = build(1);
    CUgraphExec exec = instantiate(b.graph);
    CUgraphExecUpdateResultInfo info;
    atomic_store(&destroyed, 0);
    retain_object(other.graph);
    for (int busy = 0; busy < 2; busy++)
        for (SWEEP(nth)) {
            if (busy) /* it needs a set of parameters of its own */
                OK(cu.cuGraphLaunch(exec, stream));
            fail_allocation(nth);
            const bool fine = worked(cu.cuGraphExecUpdate(exec, other.graph, &info), nth);
            END_OF_SWEEP(nth, fine);
            OK(cu.cuStreamSynchronize(stream));
            CHECK(observe(exec) == (fine ? ALL : 0));
            OK(cu.cuGraphExecUpdate(exec, b.graph, &info));
        }
    CHECK(swept > 10);
    CHECK(observe(exec) == 0);
    OK(cu.cuGraphDestroy(other.graph));
    wait_for_destructors(1); /* the executable holds none: it was updated back */
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(b.graph));
}

static CUresult set(CUgraphExec exec, const built *b, int node, int variant)
{
    params p;
    const CUgraphNode n = b->nodes[node];
    describe(&p, variant, memory);
    switch (node) {
    case KERNEL: return cu.cuGraphExecKernelNodeSetParams(exec, n, &p.kernel);
    case FILL: return cu.cuGraphExecMemsetNodeSetParams(exec, n, &p.fill, context);
    case COPY: return cu.cuGraphExecMemcpyNodeSetParams(exec, n, &p.copy, context);
    case HOST: return cu.cuGraphExecHostNodeSetParams(exec, n, &p.host);
    case RECORD: return cu.cuGraphExecEventRecordNodeSetEvent(exec, n, events[variant]);
    case WAIT: return cu.cuGraphExecEventWaitNodeSetEvent(exec, n, events[variant]);
    case BATCH: return cu.cuGraphExecBatchMemOpNodeSetParams(exec, n, &p.batch);
    default: {
        CUgraph child = child_graph(variant);
        const CUresult result = cu.cuGraphExecChildGraphNodeSetParams(exec, n, child);
        OK(cu.cuGraphDestroy(child));
        return result;
    }
    }
}

/* A child graph is built outside what fails. */
static CUresult set_failing(CUgraphExec exec, const built *b, int node, long nth)
{
    if (node != CHILD) {
        fail_allocation(nth);
        return set(exec, b, node, 1);
    }
    CUgraph child = child_graph(1);
    fail_allocation(nth);
    const CUresult result =
        cu.cuGraphExecChildGraphNodeSetParams(exec, b->nodes[CHILD], child);
    const long left = fail_allocation(-1);
    OK(cu.cuGraphDestroy(child));
    fail_allocation(left); /* for the end of the sweep */
    return result;
}

static void setters_do_all_or_nothing(void)
{
    const built b = build(0);
    CUgraphExec exec = instantiate(b.graph);
    for (int node = 0; node < EMPTY; node++)
        for (int busy = 0; busy < 2; busy++)
            for (SWEEP(nth)) {
                if (busy)
                    OK(cu.cuGraphLaunch(exec, stream));
                const bool fine = worked(set_failing(exec, &b, node, nth), nth);
                END_OF_SWEEP(nth, fine);
                CHECK(observe(exec) == (fine ? (unsigned)(1 << node) & ALL : 0));
                OK(set(exec, &b, node, 0));
            }
    CHECK(observe(exec) == 0);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(b.graph));
}

static void switches_do_all_or_nothing(void)
{
    const built b = build(0);
    CUgraphExec exec = instantiate(b.graph);
    for (SWEEP(nth)) {
        unsigned enabled = 7;
        OK(cu.cuGraphLaunch(exec, stream));
        fail_allocation(nth);
        const bool fine = worked(cu.cuGraphNodeSetEnabled(exec, b.nodes[KERNEL], 0), nth);
        END_OF_SWEEP(nth, fine);
        OK(cu.cuGraphNodeGetEnabled(exec, b.nodes[KERNEL], &enabled));
        CHECK(enabled == !fine);
        OK(cu.cuGraphNodeSetEnabled(exec, b.nodes[KERNEL], 1));
        CHECK(observe(exec) == 0);
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(b.graph));
}

static void launches_run_or_do_not(void)
{
    const built b = build(0);
    for (SWEEP(nth)) {
        CUgraphExec exec = instantiate(b.graph);
        unsigned words[5];
        OK(cu.cuMemsetD32Async(memory, 99, 5, stream));
        OK(cu.cuStreamSynchronize(stream));
        fail_allocation(nth);
        const bool fine = worked(cu.cuGraphLaunch(exec, stream), nth);
        OK(cu.cuStreamSynchronize(stream));
        END_OF_SWEEP(nth, fine);
        OK(cu.cuMemcpyDtoH(words, memory, sizeof(words)));
        CHECK(words[0] == (fine ? 10 : 99));
        CHECK(words[4] == (fine ? 10 : 99));
        CHECK(observe(exec) == 0);
        OK(cu.cuGraphExecDestroy(exec));
    }
    OK(cu.cuGraphDestroy(b.graph));
}

/* ---- memory nodes ---- */

static CUgraph memory_graph(unsigned value, CUdeviceptr *out)
{
    CUgraph graph;
    CUgraphNode alloc, write;
    CUDA_MEM_ALLOC_NODE_PARAMS p = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}},
        .bytesize = 1 << 20};
    params w;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    describe(&w, 0, p.dptr);
    w.value = value;
    OK(cu.cuGraphAddKernelNode(&write, graph, &alloc, 1, &w.kernel));
    *out = p.dptr;
    return graph;
}

static void memory_moves_or_stays(void)
{
    CUdeviceptr p, q;
    CUgraph graph = memory_graph(1, &p), other = memory_graph(2, &q);
    CUgraphExec exec = instantiate(graph);
    CUgraphExecUpdateResultInfo info;
    for (SWEEP(nth)) {
        unsigned word = 0;
        fail_allocation(nth);
        const bool fine = worked(cu.cuGraphExecUpdate(exec, other, &info), nth);
        END_OF_SWEEP(nth, fine);
        CUgraphExec second = NULL;
        OK(cu.cuGraphInstantiateWithFlags(&second, fine ? graph : other, 0));
        REFUSED(NOT_SUPPORTED,
                cu.cuGraphInstantiateWithFlags(&second, fine ? other : graph, 0));
        OK(cu.cuGraphExecDestroy(second));
        OK(cu.cuGraphLaunch(exec, stream));
        OK(cu.cuStreamSynchronize(stream));
        OK(cu.cuMemcpyDtoH(&word, fine ? q : p, 4));
        CHECK(word == (fine ? 2 : 1));
        OK(cu.cuMemFree(fine ? q : p));
        OK(cu.cuGraphExecUpdate(exec, graph, &info));
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(other));
}

/* A launch or upload that finds no memory leaves nothing live and nothing held. */
static void memory_is_there_or_not(void)
{
    CUdeviceptr p;
    CUgraph graph = memory_graph(1, &p);
    for (int upload = 0; upload < 2; upload++)
        for (SWEEP(nth)) {
            CUgraphExec exec = instantiate(graph);
            OK(cu.cuDeviceGraphMemTrim(0));
            fail_allocation(nth);
            const bool fine = worked(upload ? cu.cuGraphUpload(exec, stream)
                                            : cu.cuGraphLaunch(exec, stream),
                                     nth);
            OK(cu.cuStreamSynchronize(stream));
            END_OF_SWEEP(nth, fine);
            if (upload || !fine)
                OK(cu.cuGraphLaunch(exec, stream));
            REFUSED(INVALID_VALUE, cu.cuGraphLaunch(exec, stream)); /* p is live */
            OK(cu.cuStreamSynchronize(stream));
            OK(cu.cuMemFree(p));
            OK(cu.cuGraphExecDestroy(exec));
        }
    OK(cu.cuGraphDestroy(graph));
}

int main(void)
{
    DRIVER_OR_SKIP();
    if (!can_fail())
        return 77;
    context = open_sweep(kernels_ptx, &stream, &store, &memory);
    for (int i = 0; i < 2; i++)
        OK(cu.cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    RUN(instantiation_gives_all_or_nothing);
    RUN(an_update_does_all_or_nothing);
    RUN(setters_do_all_or_nothing);
    RUN(switches_do_all_or_nothing);
    RUN(launches_run_or_do_not);
    RUN(memory_moves_or_stays);
    RUN(memory_is_there_or_not);
    return test_done();
}
