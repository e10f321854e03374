// SPDX-License-Identifier: Apache-2.0
/* R15-R28: parameters of nodes, clones, event nodes, batches of memory operations,
 * attributes of kernel nodes. */
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "graphs.h"

static struct kernels k;
static CUcontext context;

/* ---- parameters ---- */

static void what_is_reserved_is_zero(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = UNTOUCHED, other = kernel_node(graph, k.nothing);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    OK(cu.cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params.reserved0[0] = 1;
    REFUSED(INVALID_VALUE, cu.cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EMPTY, .reserved2 = 1};
    REFUSED(INVALID_VALUE, cu.cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EMPTY};
    params.reserved1[28] = 1;
    REFUSED(INVALID_VALUE, cu.cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params = (CUgraphNodeParams){.type = (CUgraphNodeType)77};
    REFUSED(INVALID_VALUE, cu.cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EMPTY};
    REFUSED(INVALID_VALUE, cu.cuGraphNodeSetParams(other, &params));
    OK(cu.cuGraphNodeSetParams(node, &params));
    OK(cu.cuGraphDestroy(graph));
}

static void typed_calls_want_their_type(void)
{
    CUgraph graph = new_graph(), child;
    CUgraphNode node = empty_node(graph), kernel = kernel_node(graph, k.nothing);
    CUDA_KERNEL_NODE_PARAMS params;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_HOST_NODE_PARAMS host;
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
    CUevent event;
    REFUSED(INVALID_VALUE, cu.cuGraphKernelNodeGetParams(node, &params));
    REFUSED(INVALID_VALUE, cu.cuGraphMemsetNodeGetParams(kernel, &fill));
    REFUSED(INVALID_VALUE, cu.cuGraphHostNodeGetParams(kernel, &host));
    REFUSED(INVALID_VALUE, cu.cuGraphBatchMemOpNodeGetParams(kernel, &batch));
    REFUSED(INVALID_VALUE, cu.cuGraphChildGraphNodeGetGraph(kernel, &child));
    REFUSED(INVALID_VALUE, cu.cuGraphEventRecordNodeGetEvent(kernel, &event));
    OK(cu.cuGraphDestroy(graph));
}

struct packed {
    CUdeviceptr pointer;
    unsigned value;
};

static void arguments_come_one_way(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = UNTOUCHED;
    CUdeviceptr words = new_words();
    struct packed packed = {words, 2};
    size_t bytes = 12;
    void *args[] = {&packed.pointer, &packed.value};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    CUDA_KERNEL_NODE_PARAMS params = one_thread(k.store, args);
    params.extra = extra;
    REFUSED(INVALID_VALUE, cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    params.kernelParams = NULL;
    OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    CUlaunchAttributeValue value = {.cooperative = 1};
    REFUSED(INVALID_VALUE, cu.cuGraphKernelNodeSetAttribute(
                               node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    params.kernelParams = args;
    params.extra = NULL;
    OK(cu.cuGraphKernelNodeSetParams(node, &params));
    OK(cu.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    params.kernelParams = NULL;
    params.extra = extra;
    REFUSED(INVALID_VALUE, cu.cuGraphKernelNodeSetParams(node, &params));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuMemFree(words));
}

static void arguments_are_copied(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUdeviceptr words = new_words();
    struct packed packed = {words, 5};
    size_t bytes = 12;
    void *args[] = {&packed.pointer, &packed.value};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    CUDA_KERNEL_NODE_PARAMS params = one_thread(k.store, args), got;
    OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    packed.value = 6;
    OK(cu.cuGraphKernelNodeGetParams(node, &got));
    CHECK(got.extra == NULL && got.kernelParams != NULL && got.kernelParams != args);
    CHECK(got.func == k.store && *(unsigned *)got.kernelParams[1] == 5);
    run_graph(graph);
    CHECK(word_at(words) == 5);
    params.kernelParams = NULL;
    params.extra = extra;
    OK(cu.cuGraphKernelNodeSetParams(node, &params));
    packed.value = 7;
    OK(cu.cuGraphKernelNodeGetParams(node, &got));
    CHECK(got.kernelParams == NULL && got.extra != NULL && got.extra != extra);
    run_graph(graph);
    CHECK(word_at(words) == 6);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuMemFree(words));
}

static void a_kernel_node_needs_a_function(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = UNTOUCHED;
    CUDA_KERNEL_NODE_PARAMS params = one_thread(NULL, NULL), got;
    REFUSED(INVALID_HANDLE, cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    params.func = k.nothing;
    OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    OK(cu.cuGraphKernelNodeGetParams(node, &got));
    CHECK(got.ctx == context && got.kern == NULL);
    params.gridDimX = 0;
    REFUSED(INVALID_VALUE, cu.cuGraphKernelNodeSetParams(node, &params));
    OK(cu.cuGraphDestroy(graph));
}

static void fills_have_elements(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUdeviceptr words = new_words();
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = words, .pitch = 1, .value = 9, .elementSize = 4, .width = 4, .height = 1};
    OK(cu.cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    const CUDA_MEMSET_NODE_PARAMS good = fill;
#define BAD(field, bad)                                                                  \
    fill = good;                                                                         \
    fill.field = bad;                                                                    \
    REFUSED(INVALID_VALUE, cu.cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context))
    BAD(elementSize, 3);
    BAD(height, 2); /* the pitch counts then */
    BAD(width, 0);
    BAD(height, 0);
    BAD(dst, 0);
    run_graph(graph);
    CHECK(word_at(words) == 9 && word_at(words + 16) == 0);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuMemFree(words));
}

static void copies_obey_the_rules_of_copies(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUdeviceptr words = new_words();
    static unsigned host[4] = {1, 2, 3, 4};
    const CUDA_MEMCPY3D good = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = host,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = words,
                                .WidthInBytes = 8,
                                .Height = 1,
                                .Depth = 1};
    CUDA_MEMCPY3D copy = good;
    OK(cu.cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    copy.WidthInBytes = 0;
    REFUSED(INVALID_VALUE,
            cu.cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    copy = good;
    copy.srcMemoryType = (CUmemorytype)9;
    REFUSED(INVALID_VALUE,
            cu.cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    copy = good;
    copy.Height = 2;
    copy.srcPitch = 4;
    REFUSED(INVALID_VALUE,
            cu.cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    run_graph(graph);
    CHECK(word_at(words + 4) == 2 && word_at(words + 8) == 0);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuMemFree(words));
}

/* ---- clones ---- */

static void memory_nodes_are_not_cloned(void)
{
    if (!has_memory_nodes()) {
        SKIP("no memory nodes");
        return;
    }
    CUgraph graph = new_graph(), clone = (CUgraph)UNTOUCHED;
    alloc_node(graph);
    REFUSED(NOT_SUPPORTED, cu.cuGraphClone(&clone, graph));
    CHECK(clone == (CUgraph)UNTOUCHED);
    OK(cu.cuGraphDestroy(graph));
}

static void a_clone_knows_its_copies(void)
{
    CUgraph graph = new_graph(), other = new_graph(), clone, second;
    CUgraphNode a = kernel_node(graph, k.nothing), b = empty_node(graph);
    CUgraphNode foreign = empty_node(other), copy, again, found;
    OK(cu.cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    OK(cu.cuGraphClone(&clone, graph));
    OK(cu.cuGraphClone(&second, clone));
    CHECK(node_count(clone) == 2 && edge_count(clone) == 1);
    OK(cu.cuGraphNodeFindInClone(&copy, a, clone));
    OK(cu.cuGraphNodeFindInClone(&again, copy, second));
    CHECK(copy != a && again != copy);
    CUgraphNode late = empty_node(graph);
    found = UNTOUCHED;
    REFUSED(INVALID_VALUE, cu.cuGraphNodeFindInClone(&found, late, clone));
    CHECK(found == NULL);
    REFUSED(INVALID_VALUE, cu.cuGraphNodeFindInClone(&found, a, second));
    REFUSED(INVALID_VALUE, cu.cuGraphNodeFindInClone(&found, a, graph));
    REFUSED(INVALID_VALUE, cu.cuGraphNodeFindInClone(&found, foreign, clone));
    REFUSED(INVALID_VALUE, cu.cuGraphNodeFindInClone(&found, copy, clone));
    OK(cu.cuGraphNodeFindInClone(&copy, b, clone));
    OK(cu.cuGraphDestroyNode(copy));
    REFUSED(INVALID_VALUE, cu.cuGraphNodeFindInClone(&found, b, clone));
    OK(cu.cuGraphNodeFindInClone(&copy, a, clone));
    OK(cu.cuGraphDestroy(second));
    OK(cu.cuGraphDestroy(clone));
    OK(cu.cuGraphDestroy(other));
    OK(cu.cuGraphDestroy(graph));
}

/* ---- host functions ---- */

static CUresult called_back;

static void CUDA_CB calls_cuda(void *user)
{
    int *count = user;
    int devices;
    *count += 1;
    called_back = cu.cuDeviceGetCount(&devices);
}

static void host_nodes_need_a_function(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node;
    int count = 0;
    CUDA_HOST_NODE_PARAMS params = {NULL, &count};
    REFUSED(INVALID_VALUE, cu.cuGraphAddHostNode(&node, graph, NULL, 0, &params));
    params.fn = calls_cuda;
    OK(cu.cuGraphAddHostNode(&node, graph, NULL, 0, &params));
    run_graph(graph);
    CHECK(count == 1);
    /* "may return": NVIDIA's driver lets some calls pass. */
    CHECK(!driver_is_soft || called_back == CUDA_ERROR_NOT_PERMITTED);
    OK(cu.cuGraphDestroy(graph));
}

/* ---- memory operations ---- */

static CUstreamBatchMemOpParams write_of(CUdeviceptr address, unsigned value)
{
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof(op));
    op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = address;
    op.writeValue.value = value;
    return op;
}

static CUstreamBatchMemOpParams wait_of(CUdeviceptr address, unsigned value,
                                        unsigned flags)
{
    CUstreamBatchMemOpParams op = write_of(address, value);
    op.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    op.waitValue.flags = flags;
    return op;
}

static void batches_are_copied_and_limited(void)
{
    static CUstreamBatchMemOpParams ops[300];
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUdeviceptr words = new_words(), managed;
    OK(cu.cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    for (int i = 0; i < 300; i++)
        ops[i] = write_of(words + 4 * (CUdeviceptr)(i % 4), 3);
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {context, 4, ops, 0}, got;
    OK(cu.cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    ops[0].writeValue.value = 4;
    OK(cu.cuGraphBatchMemOpNodeGetParams(node, &got));
    CHECK(got.count == 4 && got.paramArray != ops && got.flags == 0);
    CHECK(got.ctx == context && got.paramArray[0].writeValue.value == 3);
    run_graph(graph);
    CHECK(word_at(words) == 3 && word_at(words + 12) == 3);
    OK(cu.cuGraphBatchMemOpNodeSetParams(node, &params));
    run_graph(graph);
    CHECK(word_at(words) == 4);
    CUstream stream;
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamBatchMemOp(stream, 0, ops, 0));
    OK(cu.cuStreamBatchMemOp(stream, 255, ops, 0));
    REFUSED(INVALID_VALUE, cu.cuStreamBatchMemOp(stream, 256, ops, 0));
    REFUSED(INVALID_VALUE, cu.cuStreamBatchMemOp(stream, 1, ops, 1));
    REFUSED(INVALID_VALUE, cu.cuStreamWriteValue32(stream, managed, 1, 0));
    REFUSED(INVALID_VALUE, cu.cuStreamWriteValue32(stream, words + 2, 1, 0));
    REFUSED(INVALID_VALUE, cu.cuStreamWriteValue64(stream, words + 4, 1, 0));
    REFUSED(INVALID_VALUE, cu.cuStreamWriteValue32(stream, words, 1, 1));
    REFUSED(INVALID_VALUE, cu.cuStreamWriteValue32(stream, 0, 1, 0));
    REFUSED(INVALID_VALUE, cu.cuStreamWriteValue32(stream, words + 4096, 1, 0));
    REFUSED(INVALID_VALUE, cu.cuStreamWaitValue32(stream, words, 1, 4));
    REFUSED(NOT_SUPPORTED,
            cu.cuStreamWaitValue32(stream, words, 1, CU_STREAM_WAIT_VALUE_FLUSH));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuStreamDestroy(stream));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuMemFree(managed));
    OK(cu.cuMemFree(words));
}

/* A node takes any aligned address; the launch asks what is there. */
static void a_batch_node_is_judged_at_its_launch(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = UNTOUCHED;
    CUdeviceptr words = new_words(), managed;
    OK(cu.cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    CUstreamBatchMemOpParams op = write_of(words + 2, 1);
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {context, 1, &op, 0};
    REFUSED(INVALID_VALUE, cu.cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    op = write_of(words, 1);
    params.ctx = NULL;
    REFUSED(INVALID_VALUE, cu.cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    params = (CUDA_BATCH_MEM_OP_NODE_PARAMS){context, 1, &op, 1};
    REFUSED(INVALID_VALUE, cu.cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    CHECK(node == UNTOUCHED);
    params.flags = 0;
    params.count = 0;
    OK(cu.cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    params.count = 1;
    op = write_of(managed, 1);
    OK(cu.cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    CUgraphExec exec = instantiate(graph);
    REFUSED(INVALID_VALUE, cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuStreamSynchronize(NULL));
    OK(cu.cuGraphExecDestroy(exec));
    op = write_of(words, 7);
    OK(cu.cuGraphBatchMemOpNodeSetParams(node, &params));
    run_graph(graph);
    CHECK(word_at(words) == 7);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuMemFree(managed));
    OK(cu.cuMemFree(words));
}

/* Each of these is met at once, or the stream would hang. */
static void waits_compare_in_four_ways(void)
{
    CUdeviceptr words = new_words();
    CUstream stream;
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamWriteValue32(stream, words, 5, 0));
    OK(cu.cuStreamWaitValue32(stream, words, 5, CU_STREAM_WAIT_VALUE_EQ));
    OK(cu.cuStreamWaitValue32(stream, words, 4, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cu.cuStreamWaitValue32(stream, words, 0xfffffff0u, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cu.cuStreamWaitValue32(stream, words, 4, CU_STREAM_WAIT_VALUE_AND));
    OK(cu.cuStreamWaitValue32(stream, words, 0xfffffff0u, CU_STREAM_WAIT_VALUE_NOR));
    OK(cu.cuStreamWriteValue64(stream, words + 8, UINT64_C(5) << 32, 0));
    OK(cu.cuStreamWaitValue64(stream, words + 8, UINT64_C(4) << 32,
                              CU_STREAM_WAIT_VALUE_GEQ));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(word_at(words) == 5 && word_at(words + 12) == 5);
    OK(cu.cuStreamDestroy(stream));
    OK(cu.cuMemFree(words));
}

/* A stream waits; it does not hold up another one, which writes. */
static void a_wait_holds_its_stream_only(void)
{
    CUdeviceptr words = new_words();
    CUstream waits, writes;
    OK(cu.cuStreamCreate(&waits, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&writes, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamWaitValue32(waits, words, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cu.cuStreamWriteValue32(waits, words + 4, 2, 0));
    usleep(2000);
    REFUSED(NOT_READY, cu.cuStreamQuery(waits));
    OK(cu.cuStreamWriteValue32(writes, words, 1, 0));
    OK(cu.cuStreamSynchronize(waits));
    CHECK(word_at(words + 4) == 2);
    OK(cu.cuStreamDestroy(waits));
    OK(cu.cuStreamDestroy(writes));
    OK(cu.cuMemFree(words));
}

/* In a graph: the node that waits comes first, and the one that writes beside it. */
static void a_wait_holds_its_branch_only(void)
{
    CUdeviceptr words = new_words();
    CUgraph graph = new_graph();
    CUgraphNode waits, batch, writes;
    CUstreamBatchMemOpParams wait = wait_of(words, 1, CU_STREAM_WAIT_VALUE_EQ),
                             after = write_of(words + 4, 2), one = write_of(words, 1);
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {context, 1, &wait, 0};
    OK(cu.cuGraphAddBatchMemOpNode(&waits, graph, NULL, 0, &params));
    params.paramArray = &after;
    OK(cu.cuGraphAddBatchMemOpNode(&batch, graph, &waits, 1, &params));
    params.paramArray = &one;
    OK(cu.cuGraphAddBatchMemOpNode(&writes, graph, NULL, 0, &params));
    run_graph(graph);
    CHECK(word_at(words + 4) == 2);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuMemFree(words));
}

static void memory_operations_are_captured(void)
{
    CUdeviceptr words = new_words();
    CUstream stream;
    CUgraph graph = NULL;
    CUgraphNode nodes[4];
    size_t count = 4;
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cu.cuStreamWriteValue32(stream, words, 3, 0));
    OK(cu.cuStreamWaitValue32(stream, words, 3, CU_STREAM_WAIT_VALUE_EQ));
    OK(cu.cuStreamWriteValue32(stream, words + 4, 8, 0));
    OK(cu.cuStreamEndCapture(stream, &graph));
    CHECK(word_at(words + 4) == 0);
    OK(cu.cuGraphGetNodes(graph, nodes, &count));
    CHECK(count == 3);
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    OK(cu.cuGraphNodeGetType(nodes[1], &type));
    CHECK(type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    run_graph(graph);
    CHECK(word_at(words + 4) == 8);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuStreamDestroy(stream));
    OK(cu.cuMemFree(words));
}

/* ---- event nodes ---- */

static void event_nodes_record_and_wait(void)
{
    CUgraph graph = new_graph();
    CUgraphNode record, wait;
    CUevent event, other, got;
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuEventCreate(&other, CU_EVENT_DISABLE_TIMING));
    REFUSED(INVALID_VALUE, cu.cuGraphAddEventRecordNode(&record, graph, NULL, 0, NULL));
    OK(cu.cuGraphAddEventWaitNode(&wait, graph, NULL, 0, other)); /* never recorded */
    OK(cu.cuGraphAddEventRecordNode(&record, graph, &wait, 1, event));
    OK(cu.cuGraphEventRecordNodeGetEvent(record, &got));
    CHECK(got == event);
    CUgraphExec exec = instantiate(graph);
    for (int i = 0; i < 3; i++) {
        OK(cu.cuGraphLaunch(exec, NULL));
        OK(cu.cuEventSynchronize(event));
        OK(cu.cuEventQuery(event));
    }
    REFUSED(INVALID_VALUE, cu.cuGraphEventRecordNodeSetEvent(wait, other));
    OK(cu.cuStreamSynchronize(NULL));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuEventDestroy(event));
    OK(cu.cuEventDestroy(other));
}

static void semaphores_of_a_node_are_alive(void)
{
    if (!driver_is_soft) {
        SKIP("NVIDIA's driver takes no eventfd as a semaphore");
        return;
    }
    CUgraph graph = new_graph();
    CUgraphNode node = UNTOUCHED;
    CUgraphExec exec;
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, .handle.fd = eventfd(0, 0)};
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS each = {.flags = 0};
    CUexternalSemaphore semaphore = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL,
                                .extSemSignal = {&semaphore, &each, 1}};
    OK(cu.cuImportExternalSemaphore(&semaphore, &desc));
    const CUexternalSemaphore imported = semaphore;
    OK(cu.cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    semaphore = NULL; /* the node has a copy */
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuStreamSynchronize(NULL));
    OK(cu.cuDestroyExternalSemaphore(imported));
    REFUSED(INVALID_VALUE, cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* ---- attributes ---- */

static void attributes_of_nodes_are_theirs(void)
{
    CUgraph graph = new_graph();
    CUgraphNode a = kernel_node(graph, k.nothing), b = kernel_node(graph, k.nothing);
    static const int of_launches[] = {0, 3, 6, 7, 11, 12, 15, 16, 17};
    CUlaunchAttributeValue value;
    memset(&value, 0, sizeof(value));
    for (size_t i = 0; i < sizeof(of_launches) / sizeof(of_launches[0]); i++)
        REFUSED(INVALID_VALUE, cu.cuGraphKernelNodeGetAttribute(
                                   a, (CUlaunchAttributeID)of_launches[i], &value));
    value.priority = -7; /* more than there is */
    OK(cu.cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    OK(cu.cuGraphKernelNodeGetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    CHECK(value.priority == -5);
    memset(&value, 0, sizeof(value));
    value.sharedMemCarveout = 50;
    const CUlaunchAttributeID carveout =
        CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    OK(cu.cuGraphKernelNodeSetAttribute(a, carveout, &value));
    value.sharedMemCarveout = 101;
    REFUSED(INVALID_VALUE, cu.cuGraphKernelNodeSetAttribute(a, carveout, &value));
    memset(&value, 0, sizeof(value));
    value.clusterDim.x = 2;
    value.clusterDim.y = value.clusterDim.z = 1;
    REFUSED(INVALID_CLUSTER_SIZE, cu.cuGraphKernelNodeSetAttribute(
                                      a, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    OK(cu.cuGraphKernelNodeCopyAttributes(b, a));
    OK(cu.cuGraphKernelNodeGetAttribute(b, carveout, &value));
    CHECK(value.sharedMemCarveout == 50);
    OK(cu.cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    CHECK(value.priority == -5);
    OK(cu.cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
                                        &value));
    CHECK(value.memSyncDomainMap.default_ == 0 && value.memSyncDomainMap.remote == 1);
    CUgraphNode empty = empty_node(graph);
    REFUSED(INVALID_VALUE, cu.cuGraphKernelNodeGetAttribute(
                               empty, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    CUgraph clone;
    CUgraphNode copy;
    OK(cu.cuGraphClone(&clone, graph));
    OK(cu.cuGraphNodeFindInClone(&copy, a, clone));
    OK(cu.cuGraphKernelNodeGetAttribute(copy, carveout, &value));
    CHECK(value.sharedMemCarveout == 50);
    OK(cu.cuGraphDestroy(clone));
    OK(cu.cuGraphDestroy(graph));
}

static void run(void)
{
    if (!rule_listing) {
        OK(cu.cuCtxGetCurrent(&context));
        k = load_kernels();
    }
    RULE_TEST(R15, what_is_reserved_is_zero);
    RULE_TEST(R17, typed_calls_want_their_type);
    RULE_TEST(R18, arguments_come_one_way);
    RULE_TEST(R19, arguments_are_copied);
    RULE_TEST(R20, a_kernel_node_needs_a_function);
    RULE_TEST(R21, fills_have_elements);
    RULE_TEST(R22, copies_obey_the_rules_of_copies);
    RULE_TEST(R23, memory_nodes_are_not_cloned);
    RULE_TEST(R24, a_clone_knows_its_copies);
    RULE_TEST(R25, host_nodes_need_a_function);
    RULE_TEST(R26, batches_are_copied_and_limited);
    RULE_TEST(R26, a_batch_node_is_judged_at_its_launch);
    RULE_TEST(R26, waits_compare_in_four_ways);
    RULE_TEST(R26, a_wait_holds_its_stream_only);
    RULE_TEST(R26, a_wait_holds_its_branch_only);
    RULE_TEST(R26, memory_operations_are_captured);
    RULE_TEST(R27, event_nodes_record_and_wait);
    RULE_TEST(R28, semaphores_of_a_node_are_alive);
    RULE_TEST(M_kernel_attributes, attributes_of_nodes_are_theirs);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
