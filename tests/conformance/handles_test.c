// SPDX-License-Identifier: Apache-2.0
/* Every call on graphs, nodes and executable graphs with NULL, with handles of another
 * graph, and, where the driver is softcuda (NVIDIA's crashes), with destroyed handles and
 * with addresses that are none. All are refused, nothing is written, nothing crashes. */
#include <string.h>

#include "driver.h"
#include "kernels.h"

typedef struct handles {
    CUgraph graph;
    CUgraphNode node; /* a kernel's */
    CUgraphExec exec;
} handles;

static CUcontext context;
static CUfunction nothing;
static CUdeviceptr memory;
static CUevent event;
static CUstream stream;
static CUuserObject object;

static CUDA_KERNEL_NODE_PARAMS kernel;
static CUDA_MEMCPY3D copy;
static CUDA_MEMSET_NODE_PARAMS fill;
static CUDA_HOST_NODE_PARAMS host;
static CUstreamBatchMemOpParams op;
static CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
static CUDA_MEM_ALLOC_NODE_PARAMS alloc;
static CUgraphNodeParams any;
static CUkernelNodeAttrValue attribute;

/* What calls may write: all bytes 0x77 before each. */
static union out {
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraphNodeType type;
    CUevent event;
    CUdeviceptr address;
    size_t count;
    unsigned number;
    cuuint64_t flags;
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_HOST_NODE_PARAMS host;
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    CUkernelNodeAttrValue attribute;
    CUgraphExecUpdateResultInfo info;
    CUDA_GRAPH_INSTANTIATE_PARAMS instantiate;
} out;

/* X(call, arguments): h.graph, h.node or h.exec is what the list varies. */
#define GRAPH_CALLS(X)                                                                   \
    X(cuGraphAddKernelNode, (&out.node, h.graph, NULL, 0, &kernel))                      \
    X(cuGraphAddMemcpyNode, (&out.node, h.graph, NULL, 0, &copy, context))               \
    X(cuGraphAddMemsetNode, (&out.node, h.graph, NULL, 0, &fill, context))               \
    X(cuGraphAddHostNode, (&out.node, h.graph, NULL, 0, &host))                          \
    X(cuGraphAddEmptyNode, (&out.node, h.graph, NULL, 0))                                \
    X(cuGraphAddEventRecordNode, (&out.node, h.graph, NULL, 0, event))                   \
    X(cuGraphAddEventWaitNode, (&out.node, h.graph, NULL, 0, event))                     \
    X(cuGraphAddBatchMemOpNode, (&out.node, h.graph, NULL, 0, &batch))                   \
    X(cuGraphAddMemAllocNode, (&out.node, h.graph, NULL, 0, &alloc))                     \
    X(cuGraphAddMemFreeNode, (&out.node, h.graph, NULL, 0, memory))                      \
    X(cuGraphAddNode, (&out.node, h.graph, NULL, NULL, 0, &any))                         \
    X(cuGraphClone, (&out.graph, h.graph))                                               \
    X(cuGraphGetNodes, (h.graph, NULL, &out.count))                                      \
    X(cuGraphGetRootNodes, (h.graph, NULL, &out.count))                                  \
    X(cuGraphGetEdges, (h.graph, NULL, NULL, NULL, &out.count))                          \
    X(cuGraphAddDependencies, (h.graph, NULL, NULL, NULL, 0))                            \
    X(cuGraphRemoveDependencies, (h.graph, NULL, NULL, NULL, 0))                         \
    X(cuGraphInstantiateWithFlags, (&out.exec, h.graph, 0))                              \
    X(cuGraphDebugDotPrint, (h.graph, "/dev/null", 0))                                   \
    X(cuGraphRetainUserObject, (h.graph, object, 1, 0))                                  \
    X(cuGraphReleaseUserObject, (h.graph, object, 1))                                    \
    X(cuGraphDestroy, (h.graph))

#define NODE_CALLS(X)                                                                    \
    X(cuGraphKernelNodeGetParams, (h.node, &out.kernel))                                 \
    X(cuGraphKernelNodeSetParams, (h.node, &kernel))                                     \
    X(cuGraphMemcpyNodeGetParams, (h.node, &out.copy))                                   \
    X(cuGraphMemcpyNodeSetParams, (h.node, &copy))                                       \
    X(cuGraphMemsetNodeGetParams, (h.node, &out.fill))                                   \
    X(cuGraphMemsetNodeSetParams, (h.node, &fill))                                       \
    X(cuGraphHostNodeGetParams, (h.node, &out.host))                                     \
    X(cuGraphHostNodeSetParams, (h.node, &host))                                         \
    X(cuGraphChildGraphNodeGetGraph, (h.node, &out.graph))                               \
    X(cuGraphEventRecordNodeGetEvent, (h.node, &out.event))                              \
    X(cuGraphEventRecordNodeSetEvent, (h.node, event))                                   \
    X(cuGraphEventWaitNodeGetEvent, (h.node, &out.event))                                \
    X(cuGraphEventWaitNodeSetEvent, (h.node, event))                                     \
    X(cuGraphBatchMemOpNodeGetParams, (h.node, &out.batch))                              \
    X(cuGraphBatchMemOpNodeSetParams, (h.node, &batch))                                  \
    X(cuGraphMemAllocNodeGetParams, (h.node, &out.alloc))                                \
    X(cuGraphMemFreeNodeGetParams, (h.node, &out.address))                               \
    X(cuGraphNodeSetParams, (h.node, &any))                                              \
    X(cuGraphNodeGetType, (h.node, &out.type))                                           \
    X(cuGraphNodeGetDependencies, (h.node, NULL, NULL, &out.count))                      \
    X(cuGraphNodeGetDependentNodes, (h.node, NULL, NULL, &out.count))                    \
    X(cuGraphNodeFindInClone, (&out.node, h.node, h.graph))                              \
    X(cuGraphKernelNodeGetAttribute,                                                     \
      (h.node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &out.attribute))                            \
    X(cuGraphKernelNodeSetAttribute, (h.node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute)) \
    X(cuGraphKernelNodeCopyAttributes, (h.node, h.node))                                 \
    X(cuGraphDestroyNode, (h.node))

/* An executable graph and a node. */
#define SETTER_CALLS(X)                                                                  \
    X(cuGraphExecKernelNodeSetParams, (h.exec, h.node, &kernel))                         \
    X(cuGraphExecMemcpyNodeSetParams, (h.exec, h.node, &copy, context))                  \
    X(cuGraphExecMemsetNodeSetParams, (h.exec, h.node, &fill, context))                  \
    X(cuGraphExecHostNodeSetParams, (h.exec, h.node, &host))                             \
    X(cuGraphExecBatchMemOpNodeSetParams, (h.exec, h.node, &batch))                      \
    X(cuGraphExecChildGraphNodeSetParams, (h.exec, h.node, h.graph))                     \
    X(cuGraphExecEventRecordNodeSetEvent, (h.exec, h.node, event))                       \
    X(cuGraphExecEventWaitNodeSetEvent, (h.exec, h.node, event))                         \
    X(cuGraphExecNodeSetParams, (h.exec, h.node, &any))                                  \
    X(cuGraphNodeSetEnabled, (h.exec, h.node, 0))                                        \
    X(cuGraphNodeGetEnabled, (h.exec, h.node, &out.number))

#define EXEC_CALLS(X)                                                                    \
    X(cuGraphExecGetFlags, (h.exec, &out.flags))                                         \
    X(cuGraphUpload, (h.exec, stream))                                                   \
    X(cuGraphLaunch, (h.exec, stream))                                                   \
    X(cuGraphExecDestroy, (h.exec))

typedef struct row {
    const char *name;
    CUresult (*call)(handles h);
} row;

#define X(call, arguments)                                                               \
    static CUresult do_##call(handles h)                                                 \
    {                                                                                    \
        return cu.call arguments;                                                        \
    }
GRAPH_CALLS(X)
NODE_CALLS(X)
SETTER_CALLS(X)
EXEC_CALLS(X)
#undef X

#define X(call, arguments) {#call, do_##call},
static const row graph_rows[] = {GRAPH_CALLS(X)};
static const row node_rows[] = {NODE_CALLS(X)};
static const row setter_rows[] = {SETTER_CALLS(X)};
static const row exec_rows[] = {EXEC_CALLS(X)};
#undef X
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static void refuse(const row *r, handles h, const char *what)
{
    static union out before;
    memset(&before, 0x77, sizeof(before));
    out = before;
    const CUresult code = r->call(h);
    if (!CHECK(code == CUDA_ERROR_INVALID_VALUE))
        fprintf(stderr, "  %s with %s gives %d\n", r->name, what, (int)code);
    if (!CHECK(memcmp(&out, &before, sizeof(out)) == 0))
        fprintf(stderr, "  %s with %s has written something\n", r->name, what);
}

/* ---- */

static handles make(void)
{
    handles h;
    OK(cu.cuGraphCreate(&h.graph, 0));
    OK(cu.cuGraphAddKernelNode(&h.node, h.graph, NULL, 0, &kernel));
    OK(cu.cuGraphInstantiateWithFlags(&h.exec, h.graph, 0));
    return h;
}

static void drop(handles h)
{
    OK(cu.cuGraphExecDestroy(h.exec));
    OK(cu.cuGraphDestroy(h.graph));
}

/* All calls with `bad` in each of its members in turn, beside good ones. Nothing is made
 * meanwhile, so that the addresses of what was destroyed stay unused. */
static void refuse_all(handles bad, handles good, const char *what)
{
    for (size_t i = 0; i < COUNT(graph_rows); i++)
        refuse(&graph_rows[i], bad, what);
    handles h = good;
    h.node = bad.node;
    for (size_t i = 0; i < COUNT(node_rows); i++)
        refuse(&node_rows[i], h, what);
    for (size_t i = 0; i < COUNT(setter_rows); i++)
        refuse(&setter_rows[i], h, what);
    h = good;
    h.exec = bad.exec;
    for (size_t i = 0; i < COUNT(setter_rows); i++)
        refuse(&setter_rows[i], h, what);
    for (size_t i = 0; i < COUNT(exec_rows); i++)
        refuse(&exec_rows[i], h, what);
    OK(cu.cuGraphLaunch(good.exec, stream));
    OK(cu.cuStreamSynchronize(stream));
}

static void null_is_refused(void)
{
    const handles good = make();
    refuse_all((handles){0}, good, "NULL");
    drop(good);
}

/* Those that take two handles. */
static void null_in_either_place_is_refused(void)
{
    const handles good = make();
    CUgraphExecUpdateResultInfo info;
    CUgraphNode node;
    REFUSED(INVALID_VALUE, cu.cuGraphExecUpdate(NULL, good.graph, &info));
    REFUSED(INVALID_VALUE, cu.cuGraphExecUpdate(good.exec, NULL, &info));
    REFUSED(INVALID_VALUE, cu.cuGraphAddChildGraphNode(&node, NULL, NULL, 0, good.graph));
    REFUSED(INVALID_VALUE, cu.cuGraphAddChildGraphNode(&node, good.graph, NULL, 0, NULL));
    REFUSED(INVALID_VALUE, cu.cuGraphNodeFindInClone(&node, good.node, NULL));
    REFUSED(INVALID_VALUE, cu.cuGraphKernelNodeCopyAttributes(good.node, NULL));
    REFUSED(INVALID_VALUE, cu.cuGraphKernelNodeCopyAttributes(NULL, good.node));
    REFUSED(INVALID_VALUE, cu.cuGraphRetainUserObject(good.graph, NULL, 1, 0));
    REFUSED(INVALID_VALUE,
            cu.cuGraphAddEventRecordNode(&node, good.graph, NULL, 0, NULL));
    REFUSED(INVALID_VALUE, cu.cuGraphAddEventWaitNode(&node, good.graph, NULL, 0, NULL));
    drop(good);
}

static void nodes_of_another_graph_are_refused(void)
{
    const handles good = make(), other = make();
    handles h = good;
    h.node = other.node;
    for (size_t i = 0; i < COUNT(setter_rows); i++)
        refuse(&setter_rows[i], h, "a node of another graph");
    CUgraphNode node;
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(&node, good.graph, &other.node, 1));
    REFUSED(INVALID_VALUE,
            cu.cuGraphAddDependencies(good.graph, &good.node, &other.node, NULL, 1));
    drop(good);
    drop(other);
}

static void destroyed_handles_are_refused(void)
{
    if (!driver_is_soft)
        SKIP("NVIDIA's driver crashes");
    const handles good = make(), dead = make();
    drop(dead);
    refuse_all(dead, good, "destroyed handles");
    drop(good);
}

static void a_destroyed_node_is_refused(void)
{
    if (!driver_is_soft)
        SKIP("NVIDIA's driver crashes");
    handles h = make();
    OK(cu.cuGraphDestroyNode(h.node));
    for (size_t i = 0; i < COUNT(node_rows); i++)
        refuse(&node_rows[i], h, "a destroyed node");
    for (size_t i = 0; i < COUNT(setter_rows); i++)
        refuse(&setter_rows[i], h, "a destroyed node");
    drop(h);
}

static void other_addresses_are_refused(void)
{
    if (!driver_is_soft)
        SKIP("NVIDIA's driver crashes");
    static long long bytes[64];
    void *const garbage[] = {bytes, (void *)(uintptr_t)0x10, (void *)(uintptr_t)-16,
                             (void *)(uintptr_t)&refuse};
    const handles good = make();
    for (size_t i = 0; i < COUNT(garbage); i++)
        refuse_all((handles){garbage[i], garbage[i], garbage[i]}, good,
                   "an address of nothing");
    refuse_all((handles){(CUgraph)event, (CUgraphNode)event, (CUgraphExec)event}, good,
               "an event");
    refuse_all(
        (handles){(CUgraph)good.exec, (CUgraphNode)good.graph, (CUgraphExec)good.node},
        good, "handles of another kind");
    drop(good);
}

/* What nodes refer to. */
static void destroyed_events_contexts_and_streams_are_refused(void)
{
    if (!driver_is_soft)
        SKIP("NVIDIA's driver crashes");
    const handles h = make();
    CUgraphNode node;
    CUevent dead;
    CUcontext gone;
    CUstream closed;
    OK(cu.cuEventCreate(&dead, 0));
    OK(cu.cuEventDestroy(dead));
    OK(cu.cuCtxCreate(&gone, NULL, 0, 0));
    OK(cu.cuStreamCreate(&closed, 0));
    OK(cu.cuStreamDestroy(closed));
    OK(cu.cuCtxDestroy(gone));
    OK(cu.cuCtxSetCurrent(context));
    CHECK(cu.cuGraphAddEventRecordNode(&node, h.graph, NULL, 0, dead) != CUDA_SUCCESS);
    CHECK(cu.cuGraphAddEventWaitNode(&node, h.graph, NULL, 0, dead) != CUDA_SUCCESS);
    CHECK(cu.cuGraphAddMemsetNode(&node, h.graph, NULL, 0, &fill, gone) != CUDA_SUCCESS);
    CHECK(cu.cuGraphAddMemcpyNode(&node, h.graph, NULL, 0, &copy, gone) != CUDA_SUCCESS);
    CHECK(cu.cuGraphLaunch(h.exec, closed) != CUDA_SUCCESS);
    CHECK(cu.cuGraphUpload(h.exec, closed) != CUDA_SUCCESS);
    OK(cu.cuGraphLaunch(h.exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    drop(h);
}

static void CUDA_CB do_nothing(void *user)
{
    (void)user;
}

static void start(void)
{
    CUmodule module;
    use_primary();
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&nothing, module, "nothing"));
    OK(cu.cuMemAlloc(&memory, 4096));
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuUserObjectCreate(&object, &memory, do_nothing, 1,
                             CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    kernel = one_thread(nothing, NULL);
    copy = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = memory,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = memory + 64,
                           .WidthInBytes = 4,
                           .Height = 1,
                           .Depth = 1};
    fill = (CUDA_MEMSET_NODE_PARAMS){
        .dst = memory, .elementSize = 4, .width = 4, .height = 1};
    host = (CUDA_HOST_NODE_PARAMS){.fn = do_nothing};
    op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = memory;
    batch =
        (CUDA_BATCH_MEM_OP_NODE_PARAMS){.ctx = context, .count = 1, .paramArray = &op};
    alloc = (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}},
        .bytesize = 4096};
    any = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_HOST};
    any.host.fn = do_nothing;
}

int main(void)
{
    DEVICE_OR_SKIP();
    start();
    RUN(null_is_refused);
    RUN(null_in_either_place_is_refused);
    RUN(nodes_of_another_graph_are_refused);
    RUN(destroyed_handles_are_refused);
    RUN(a_destroyed_node_is_refused);
    RUN(other_addresses_are_refused);
    RUN(destroyed_events_contexts_and_streams_are_refused);
    OK(cu.cuUserObjectRelease(object, 1));
    return test_done();
}
