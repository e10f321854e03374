// SPDX-License-Identifier: Apache-2.0
/* Each allocation of softcuda's own fails in turn while a capture begins, takes work of
 * each kind, is asked, changed and ended: what fails gives CUDA_ERROR_OUT_OF_MEMORY and
 * leaves the capture as it was, so that the same call works afterwards. */
#include <string.h>

#include "conformance/driver.h"
#include "conformance/kernels.h"

static long (*fail_allocation)(long nth);

static CUstream a, b;
static CUevent fork_event, join_event, plain_event;
static CUfunction store;
static CUdeviceptr memory;
static CUgraph into; /* that a capture begins into */
static CUdeviceptr allocated;

static CUresult put(CUstream stream)
{
    unsigned value = 7;
    void *params[] = {&memory, &value};
    return cu.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

/* ---- what a capture is, to be compared ---- */

struct picture {
    CUstreamCaptureStatus a, b;
    CUgraph graph;
    size_t nodes, edges, count;
    CUgraphNode last; /* of what the next node of a depends on */
};

static struct picture look(void)
{
    struct picture out;
    const CUgraphNode *nodes = NULL;
    const CUgraphEdgeData *data = NULL;
    memset(&out, 0, sizeof(out));
    OK(cu.cuStreamIsCapturing(b, &out.b));
    OK(cu.cuStreamGetCaptureInfo(a, &out.a, NULL, &out.graph, &nodes, &data, &out.count));
    out.last = out.count ? nodes[out.count - 1] : NULL;
    if (out.graph) {
        OK(cu.cuGraphGetNodes(out.graph, NULL, &out.nodes));
        OK(cu.cuGraphGetEdges(out.graph, NULL, NULL, NULL, &out.edges));
    }
    return out;
}

static bool same(const struct picture *x, const struct picture *y)
{
    return x->a == y->a && x->b == y->b && x->graph == y->graph && x->nodes == y->nodes &&
           x->edges == y->edges && x->count == y->count && x->last == y->last;
}

/* ---- the calls ---- */

static void CUDA_CB nothing(void *user)
{
    (void)user;
}

static CUresult kernel(void)
{
    return put(a);
}

static CUresult serialized_kernel(void)
{
    unsigned value = 7;
    void *params[] = {&memory, &value};
    CUlaunchAttribute attributes[2] = {
        {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION},
        {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT}};
    attributes[0].value.programmaticStreamSerializationAllowed = 1;
    attributes[1].value.programmaticEvent.event = plain_event;
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 1,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = a,
                                   .attrs = attributes,
                                   .numAttrs = 2};
    return cu.cuLaunchKernelEx(&config, store, params, NULL);
}

static CUresult fill(void)
{
    return cu.cuMemsetD32Async(memory, 1, 4, a);
}

static CUresult copy(void)
{
    return cu.cuMemcpyDtoDAsync(memory, memory + 64, 4, a);
}

static CUresult host(void)
{
    return cu.cuLaunchHostFunc(a, nothing, NULL);
}

static CUresult batch(void)
{
    CUstreamBatchMemOpParams ops[3];
    memset(ops, 0, sizeof(ops));
    for (int i = 0; i < 3; i++) {
        ops[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        ops[i].writeValue.address = memory;
    }
    return cu.cuStreamBatchMemOp(a, 3, ops, 0);
}

static CUresult allocation(void)
{
    return cu.cuMemAllocAsync(&allocated, 1 << 20, a);
}

static CUresult release(void)
{
    return cu.cuMemFreeAsync(allocated, a);
}

static CUresult record_event(void)
{
    return cu.cuEventRecord(fork_event, a);
}

static CUresult record_external(void)
{
    return cu.cuEventRecordWithFlags(plain_event, a, CU_EVENT_RECORD_EXTERNAL);
}

static CUresult wait_external(void)
{
    return cu.cuStreamWaitEvent(a, plain_event, CU_EVENT_WAIT_EXTERNAL);
}

static CUresult fork_stream(void)
{
    return cu.cuStreamWaitEvent(b, fork_event, 0);
}

static CUresult join_stream(void)
{
    return cu.cuStreamWaitEvent(a, join_event, 0);
}

static CUresult set_dependencies(void)
{
    CUstreamCaptureStatus status;
    CUgraphNode nodes[1];
    const CUgraphNode *now = NULL;
    const CUgraphEdgeData *data;
    size_t count = 0;
    const CUresult asked =
        cu.cuStreamGetCaptureInfo(a, &status, NULL, NULL, &now, &data, &count);
    if (asked != CUDA_SUCCESS)
        return asked;
    nodes[0] = now[0];
    return cu.cuStreamUpdateCaptureDependencies(a, nodes, NULL, 1,
                                                CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

/* ---- sweeps ---- */

static bool worked(CUresult result, long nth)
{
    if (result == CUDA_SUCCESS)
        return true;
    if (!CHECK(result == CUDA_ERROR_OUT_OF_MEMORY))
        fprintf(stderr, "  allocation %ld: %d\n", nth, (int)result);
    return false;
}

/* Fails each allocation of the call in turn, until it works. */
static void sweep(const char *name, CUresult (*call)(void))
{
    const struct picture before = look();
    long failed = 0;
    for (long nth = 0; nth < 500 && test_failures < 20; nth++) {
        fail_allocation(nth);
        const bool fine = worked(call(), nth);
        const bool none_failed = fail_allocation(-1) >= 0;
        if (fine) {
            CHECK(none_failed); /* nothing is done without what was asked for */
            break;
        }
        failed++;
        const struct picture now = look();
        if (!CHECK(same(&before, &now)))
            fprintf(stderr, "  %s, allocation %ld\n", name, nth);
    }
    printf("# %s: %ld allocations failed\n", name, failed);
}

#define SWEEP(call) sweep(#call, call)

static CUgraph end_and_run(void)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    fail_allocation(0); /* an end needs none */
    const CUresult ended = cu.cuStreamEndCapture(a, &graph);
    fail_allocation(-1);
    OK(ended);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, b));
    OK(cu.cuStreamSynchronize(b));
    OK(cu.cuGraphExecDestroy(exec));
    return graph;
}

static CUresult begin_new(void)
{
    return cu.cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED);
}

static CUresult begin_into(void)
{
    CUgraphNode first;
    size_t count = 1;
    OK(cu.cuGraphGetNodes(into, &first, &count));
    return cu.cuStreamBeginCaptureToGraph(a, into, &first, NULL, 1,
                                          CU_STREAM_CAPTURE_MODE_RELAXED);
}

static void captures_begin_or_do_not(void)
{
    CUgraphNode node;
    CUgraph graph = NULL;
    SWEEP(begin_new);
    OK(put(a));
    OK(cu.cuGraphDestroy(end_and_run()));
    OK(cu.cuGraphCreate(&into, 0));
    OK(cu.cuGraphAddEmptyNode(&node, into, NULL, 0));
    SWEEP(begin_into);
    OK(put(a));
    graph = end_and_run();
    CHECK(graph == into);
    OK(cu.cuGraphDestroy(graph));
}

static void work_is_captured_or_is_not(void)
{
    OK(begin_new());
    OK(put(a));
    SWEEP(kernel);
    SWEEP(serialized_kernel);
    SWEEP(fill);
    SWEEP(copy);
    SWEEP(host);
    SWEEP(batch);
    SWEEP(allocation);
    SWEEP(release);
    SWEEP(record_external);
    SWEEP(wait_external);
    SWEEP(set_dependencies);
    const struct picture now = look();
    CHECK(now.nodes == 11);
    OK(cu.cuGraphDestroy(end_and_run()));
}

static void streams_join_or_do_not(void)
{
    OK(begin_new());
    OK(put(a));
    SWEEP(record_event);
    SWEEP(fork_stream);
    OK(put(b));
    OK(put(a));
    OK(cu.cuEventRecord(join_event, b));
    SWEEP(join_stream);
    OK(put(a));
    const struct picture now = look();
    CHECK(now.nodes == 4 && now.edges == 4);
    OK(cu.cuGraphDestroy(end_and_run()));
}

/* A stream that goes cannot refuse to: its unjoined work may be lost, and the capture
 * then says so at its end. */
static void streams_go_in_any_case(void)
{
    for (long nth = 0; nth < 4; nth++) {
        CUstream side;
        CUgraph graph = (CUgraph)&memory;
        OK(cu.cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
        OK(begin_new());
        OK(put(a));
        OK(cu.cuEventRecord(fork_event, a));
        OK(cu.cuStreamWaitEvent(side, fork_event, 0));
        OK(put(side));
        fail_allocation(nth);
        const CUresult gone = cu.cuStreamDestroy(side);
        fail_allocation(-1);
        OK(gone);
        const CUresult ended = cu.cuStreamEndCapture(a, &graph);
        CHECK(ended == CUDA_ERROR_STREAM_CAPTURE_UNJOINED ||
              ended == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        CHECK(graph == NULL);
    }
}

int main(void)
{
    DRIVER_OR_SKIP();
    *(void **)&fail_allocation = dlsym(driver_library, "gph_softcuda_fail_allocation");
    if (fail_allocation == NULL) {
        printf("only softcuda can be made to fail\n");
        return 77;
    }
    CUmodule module;
    OK(cu.cuInit(0));
    use_primary();
    OK(cu.cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cu.cuEventCreate(&fork_event, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuEventCreate(&join_event, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuEventCreate(&plain_event, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&store, module, "store"));
    OK(cu.cuMemAlloc(&memory, 4096));
    RUN(captures_begin_or_do_not);
    RUN(work_is_captured_or_is_not);
    RUN(streams_join_or_do_not);
    RUN(streams_go_in_any_case);
    return test_done();
}
