// SPDX-License-Identifier: Apache-2.0
/* Any bytes as calls of the graph API on softcuda: a byte names the call, the next ones
 * its arguments, as places in tables of handles. Handles stay in the tables after their
 * objects died, so dead and foreign ones are as frequent as good ones. Every call must
 * come back with some code; afterwards all that the calls made is taken down, and no
 * device memory may be missing. Aborts otherwise. */
#include "calls_arguments.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- calls: building ---- */

static void create_graph(void)
{
    CUgraph *out = &graphs[byte() % GRAPHS];
    if (cu.cuGraphCreate(out, byte() == 255) == CUDA_SUCCESS)
        keep(GRAPH, (uint64_t)(uintptr_t)*out);
}

static void destroy_graph(void)
{
    (void)cu.cuGraphDestroy(a_graph());
}

static void clone_graph(void)
{
    CUgraph *out = &graphs[byte() % GRAPHS];
    if (cu.cuGraphClone(out, a_graph()) == CUDA_SUCCESS)
        keep(GRAPH, (uint64_t)(uintptr_t)*out);
}

static void find_in_clone(void)
{
    (void)cu.cuGraphNodeFindInClone(new_node(), a_node(), a_graph());
}

static void add_plain(void)
{
    CUcontext context = world.context;
    const CUgraph graph = a_graph();
    CUgraphNode *out = new_node();
    const struct list deps = some_nodes();
    switch (byte() % 8) {
    case 0: (void)cu.cuGraphAddEmptyNode(out, graph, deps.nodes, deps.count); break;
    case 1: {
        const CUDA_KERNEL_NODE_PARAMS p = a_kernel();
        (void)cu.cuGraphAddKernelNode(out, graph, deps.nodes, deps.count, &p);
        break;
    }
    case 2: {
        const CUDA_MEMSET_NODE_PARAMS p = a_fill();
        (void)cu.cuGraphAddMemsetNode(out, graph, deps.nodes, deps.count, &p, context);
        break;
    }
    case 3: {
        const CUDA_MEMCPY3D p = a_copy();
        (void)cu.cuGraphAddMemcpyNode(out, graph, deps.nodes, deps.count, &p, context);
        break;
    }
    case 4: {
        const CUDA_HOST_NODE_PARAMS p = a_function();
        (void)cu.cuGraphAddHostNode(out, graph, deps.nodes, deps.count, &p);
        break;
    }
    case 5:
        (void)cu.cuGraphAddChildGraphNode(out, graph, deps.nodes, deps.count, a_graph());
        break;
    case 6:
        (void)cu.cuGraphAddEventRecordNode(out, graph, deps.nodes, deps.count,
                                           an_event());
        break;
    default:
        (void)cu.cuGraphAddEventWaitNode(out, graph, deps.nodes, deps.count, an_event());
    }
}

static void add_batch(void)
{
    const CUDA_BATCH_MEM_OP_NODE_PARAMS p = a_batch();
    const struct list deps = some_nodes();
    (void)cu.cuGraphAddBatchMemOpNode(new_node(), a_graph(), deps.nodes, deps.count, &p);
}

static void add_alloc(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS p = an_allocation();
    const struct list deps = some_nodes();
    const CUgraph graph = a_graph();
    if (cu.cuGraphAddMemAllocNode(new_node(), graph, deps.nodes, deps.count, &p) == 0) {
        keep(BLOCK, p.dptr);
        blocks[byte() % BLOCKS] = p.dptr;
    }
}

static void add_free(void)
{
    const struct list deps = some_nodes();
    (void)cu.cuGraphAddMemFreeNode(new_node(), a_graph(), deps.nodes, deps.count,
                                   blocks[byte() % BLOCKS]);
}

static void add_any(void)
{
    CUgraphNodeParams p = any_params();
    const struct list deps = some_nodes();
    const CUgraphEdgeData edges[3] = {an_edge(), an_edge(), an_edge()};
    const CUgraph graph = a_graph();
    const CUresult result = cu.cuGraphAddNode(new_node(), graph, deps.nodes,
                                              byte() % 2 ? edges : NULL, deps.count, &p);
    if (result == CUDA_SUCCESS && p.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
        keep(BLOCK, p.alloc.dptr);
        blocks[byte() % BLOCKS] = p.alloc.dptr;
    }
}

static void edit_edges(void)
{
    const CUgraph graph = a_graph();
    const struct list from = some_nodes(), to = some_nodes();
    const CUgraphEdgeData edges[3] = {an_edge(), an_edge(), an_edge()};
    const uint32_t how = byte();
    const size_t count = from.count < to.count ? from.count : to.count;
    if (how & 1)
        (void)cu.cuGraphAddDependencies(graph, from.nodes, to.nodes,
                                        how & 2 ? edges : NULL, count);
    else
        (void)cu.cuGraphRemoveDependencies(graph, from.nodes, to.nodes,
                                           how & 2 ? edges : NULL, count);
}

static void destroy_node(void)
{
    (void)cu.cuGraphDestroyNode(a_node());
}

/* ---- calls: questions ---- */

static void ask_graph(void)
{
    CUgraphNode from[4], to[4];
    CUgraphEdgeData edges[4];
    size_t count = byte() % 5;
    const CUgraph graph = a_graph();
    switch (byte() % 4) {
    case 0: (void)cu.cuGraphGetNodes(graph, from, &count); break;
    case 1: (void)cu.cuGraphGetRootNodes(graph, from, &count); break;
    case 2: (void)cu.cuGraphGetEdges(graph, from, to, edges, &count); break;
    default:
        (void)cu.cuGraphDebugDotPrint(graph, "/dev/null", byte() | (unsigned)byte() << 8);
    }
}

static void ask_node(void)
{
    CUgraphNode others[4];
    CUgraphEdgeData edges[4];
    CUgraphNodeType type;
    CUgraph child;
    CUevent event;
    CUdeviceptr address;
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_MEMCPY3D copy;
    CUDA_HOST_NODE_PARAMS host;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
    size_t count = byte() % 5;
    const CUgraphNode node = a_node();
    switch (byte() % 12) {
    case 0: (void)cu.cuGraphNodeGetType(node, &type); break;
    case 1: (void)cu.cuGraphNodeGetDependencies(node, others, edges, &count); break;
    case 2: (void)cu.cuGraphNodeGetDependentNodes(node, others, NULL, &count); break;
    case 3: (void)cu.cuGraphKernelNodeGetParams(node, &kernel); break;
    case 4: (void)cu.cuGraphMemsetNodeGetParams(node, &fill); break;
    case 5: (void)cu.cuGraphMemcpyNodeGetParams(node, &copy); break;
    case 6: (void)cu.cuGraphHostNodeGetParams(node, &host); break;
    case 7:
        if (cu.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS)
            graphs[byte() % GRAPHS] = child;
        break;
    case 8: (void)cu.cuGraphEventRecordNodeGetEvent(node, &event); break;
    case 9: (void)cu.cuGraphMemAllocNodeGetParams(node, &alloc); break;
    case 10: (void)cu.cuGraphMemFreeNodeGetParams(node, &address); break;
    default: (void)cu.cuGraphBatchMemOpNodeGetParams(node, &batch);
    }
}

/* ---- calls: parameters ---- */

static void set_on_graph(void)
{
    const CUgraphNode node = a_node();
    switch (byte() % 7) {
    case 0: {
        const CUDA_KERNEL_NODE_PARAMS p = a_kernel();
        (void)cu.cuGraphKernelNodeSetParams(node, &p);
        break;
    }
    case 1: {
        const CUDA_MEMSET_NODE_PARAMS p = a_fill();
        (void)cu.cuGraphMemsetNodeSetParams(node, &p);
        break;
    }
    case 2: {
        const CUDA_MEMCPY3D p = a_copy();
        (void)cu.cuGraphMemcpyNodeSetParams(node, &p);
        break;
    }
    case 3: {
        const CUDA_HOST_NODE_PARAMS p = a_function();
        (void)cu.cuGraphHostNodeSetParams(node, &p);
        break;
    }
    case 4: (void)cu.cuGraphEventRecordNodeSetEvent(node, an_event()); break;
    case 5: (void)cu.cuGraphEventWaitNodeSetEvent(node, an_event()); break;
    default: {
        CUgraphNodeParams p = any_params();
        (void)cu.cuGraphNodeSetParams(node, &p);
    }
    }
}

static void set_on_exec(void)
{
    const CUgraphExec exec = an_exec();
    const CUgraphNode node = a_node();
    unsigned enabled;
    switch (byte() % 9) {
    case 0: {
        const CUDA_KERNEL_NODE_PARAMS p = a_kernel();
        (void)cu.cuGraphExecKernelNodeSetParams(exec, node, &p);
        break;
    }
    case 1: {
        const CUDA_MEMSET_NODE_PARAMS p = a_fill();
        (void)cu.cuGraphExecMemsetNodeSetParams(exec, node, &p, world.context);
        break;
    }
    case 2: {
        const CUDA_MEMCPY3D p = a_copy();
        (void)cu.cuGraphExecMemcpyNodeSetParams(exec, node, &p, world.context);
        break;
    }
    case 3: {
        const CUDA_HOST_NODE_PARAMS p = a_function();
        (void)cu.cuGraphExecHostNodeSetParams(exec, node, &p);
        break;
    }
    case 4: (void)cu.cuGraphExecChildGraphNodeSetParams(exec, node, a_graph()); break;
    case 5: (void)cu.cuGraphExecEventRecordNodeSetEvent(exec, node, an_event()); break;
    case 6: (void)cu.cuGraphNodeSetEnabled(exec, node, byte() % 3); break;
    case 7: (void)cu.cuGraphNodeGetEnabled(exec, node, &enabled); break;
    default: {
        CUgraphNodeParams p = any_params();
        (void)cu.cuGraphExecNodeSetParams(exec, node, &p);
    }
    }
}

static void set_attribute(void)
{
    CUkernelNodeAttrValue value;
    memset(&value, 0, sizeof(value));
    const CUkernelNodeAttrID id = (CUkernelNodeAttrID)(byte() % 18);
    const CUgraphNode node = a_node();
    value.priority = (int)byte() - 128;
    if (byte() % 2)
        (void)cu.cuGraphKernelNodeSetAttribute(node, id, &value);
    else if (cu.cuGraphKernelNodeGetAttribute(node, id, &value) == CUDA_SUCCESS)
        (void)cu.cuGraphKernelNodeCopyAttributes(a_node(), node);
}

/* ---- calls: executables ---- */

static void instantiate(void)
{
    CUgraphExec *out = &execs[byte() % EXECS];
    const CUgraph graph = a_graph();
    const uint32_t flags = byte() % 20;
    CUgraphExec exec = NULL;
    CUresult result;
    if (byte() % 2) {
        CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = flags, .hUploadStream = a_stream()};
        result = cu.cuGraphInstantiateWithParams(&exec, graph, &p);
    } else {
        result = cu.cuGraphInstantiateWithFlags(&exec, graph, flags);
    }
    if (result == CUDA_SUCCESS) {
        keep(EXEC, (uint64_t)(uintptr_t)exec);
        *out = exec;
    }
}

static void launch(void)
{
    (void)cu.cuGraphLaunch(an_exec(), a_stream());
}

static void upload(void)
{
    (void)cu.cuGraphUpload(an_exec(), a_stream());
}

static void update(void)
{
    CUgraphExecUpdateResultInfo info;
    (void)cu.cuGraphExecUpdate(an_exec(), a_graph(), &info);
}

static void destroy_exec(void)
{
    cuuint64_t flags;
    const CUgraphExec exec = an_exec();
    (void)cu.cuGraphExecGetFlags(exec, &flags);
    (void)cu.cuGraphExecDestroy(exec);
}

/* ---- calls: streams and captures ---- */

static void begin(void)
{
    const CUstreamCaptureMode mode = (CUstreamCaptureMode)(byte() % 4);
    (void)cu.cuStreamBeginCapture(a_stream(), mode);
}

static void begin_into(void)
{
    const struct list deps = some_nodes();
    const CUgraphEdgeData edges[3] = {an_edge(), an_edge(), an_edge()};
    const CUstreamCaptureMode mode = (CUstreamCaptureMode)(byte() % 3);
    const CUgraph graph = a_graph();
    (void)cu.cuStreamBeginCaptureToGraph(a_stream(), graph, deps.nodes,
                                         byte() % 2 ? edges : NULL, deps.count, mode);
}

static bool is_kept(CUgraph graph)
{
    for (uint32_t i = 0; i < made_count; i++)
        if (made[i].kind == GRAPH && made[i].handle == (uint64_t)(uintptr_t)graph)
            return true;
    return false;
}

static void end_capture(void)
{
    CUgraph graph = NULL;
    CUgraph *out = &graphs[byte() % GRAPHS];
    if (cu.cuStreamEndCapture(a_stream(), &graph) != CUDA_SUCCESS || graph == NULL)
        return;
    if (!is_kept(graph))
        keep(GRAPH, (uint64_t)(uintptr_t)graph);
    *out = graph;
}

static void ask_capture(void)
{
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph = NULL;
    const CUgraphNode *deps;
    const CUgraphEdgeData *edges;
    size_t count;
    const CUstream stream = a_stream();
    (void)cu.cuStreamIsCapturing(stream, &status);
    if (cu.cuStreamGetCaptureInfo(stream, &status, &id, &graph, &deps, &edges, &count) ==
            CUDA_SUCCESS &&
        status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        graphs[byte() % GRAPHS] = graph;
}

static void edit_capture(void)
{
    struct list deps = some_nodes();
    const CUgraphEdgeData edges[3] = {an_edge(), an_edge(), an_edge()};
    const CUstream stream = a_stream();
    (void)cu.cuStreamUpdateCaptureDependencies(
        stream, deps.nodes, byte() % 2 ? edges : NULL, deps.count, byte() % 3);
}

static void exchange_mode(void)
{
    CUstreamCaptureMode mode = (CUstreamCaptureMode)(byte() % 4);
    (void)cu.cuThreadExchangeStreamCaptureMode(&mode);
}

static void event(void)
{
    const CUevent which = an_event();
    const CUstream stream = a_stream();
    switch (byte() % 6) {
    case 0: (void)cu.cuEventRecord(which, stream); break;
    case 1: (void)cu.cuEventRecordWithFlags(which, stream, byte() % 3); break;
    case 2: (void)cu.cuEventQuery(which); break;
    case 3: (void)cu.cuEventSynchronize(which); break;
    default: (void)cu.cuStreamWaitEvent(stream, which, byte() % 3);
    }
}

static void work(void)
{
    const CUstream stream = a_stream();
    switch (byte() % 6) {
    case 0: {
        const CUDA_KERNEL_NODE_PARAMS k = a_kernel();
        (void)cu.cuLaunchKernel(k.func, k.gridDimX, 1, 1, k.blockDimX, 1, 1,
                                k.sharedMemBytes, stream, k.kernelParams, NULL);
        break;
    }
    case 1: (void)cu.cuMemsetD32Async(an_address(), byte(), byte() % 16, stream); break;
    case 2:
        (void)cu.cuMemcpyDtoDAsync(an_address(), an_address(), byte() % 64, stream);
        break;
    case 3: (void)cu.cuLaunchHostFunc(stream, do_nothing, NULL); break;
    case 4: (void)cu.cuStreamSynchronize(stream); break;
    default: (void)cu.cuStreamQuery(stream);
    }
}

static void memory(void)
{
    CUdeviceptr *block = &blocks[byte() % BLOCKS], fresh = 0;
    const CUstream stream = a_stream();
    switch (byte() % 6) {
    case 0:
        if (cu.cuMemAllocAsync(&fresh, 64ull * byte(), stream) == CUDA_SUCCESS && fresh) {
            keep(BLOCK, fresh);
            *block = fresh;
        }
        break;
    case 1:
        if (cu.cuMemAlloc(&fresh, 64ull * byte()) == CUDA_SUCCESS) {
            keep(BLOCK, fresh);
            *block = fresh;
        }
        break;
    case 2: (void)cu.cuMemFreeAsync(*block, stream); break;
    case 3: (void)cu.cuMemFree(*block); break;
    case 4: (void)cu.cuDeviceGraphMemTrim(0); break;
    default: (void)cu.cuCtxSynchronize();
    }
}

static void user_object(void)
{
    CUuserObject *object = &objects[byte() % OBJECTS];
    const uint32_t how = byte();
    const CUgraph graph = a_graph();
    switch (how % 3) {
    case 0: {
        CUuserObject fresh = NULL;
        if (cu.cuUserObjectCreate(&fresh, &world, do_nothing, 1 + how % 2,
                                  CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) == CUDA_SUCCESS) {
            for (uint32_t i = 0; i < 1 + how % 2; i++)
                keep(OBJECT, (uint64_t)(uintptr_t)fresh);
            *object = fresh;
        }
        break;
    }
    case 1: (void)cu.cuGraphRetainUserObject(graph, *object, how >> 6, 0); break;
    default: (void)cu.cuGraphReleaseUserObject(graph, *object, how >> 6);
    }
}

/* ---- an input ---- */

static void (*const calls[])(void) = {
    create_graph, destroy_graph, clone_graph,   find_in_clone, add_plain,    add_plain,
    add_plain,    add_batch,     add_alloc,     add_free,      add_any,      edit_edges,
    edit_edges,   destroy_node,  ask_graph,     ask_node,      set_on_graph, set_on_exec,
    set_on_exec,  set_attribute, instantiate,   instantiate,   launch,       launch,
    upload,       update,        destroy_exec,  begin,         begin_into,   end_capture,
    ask_capture,  edit_capture,  exchange_mode, event,         work,         memory,
    user_object};

static void take_down(uint32_t i)
{
    void *const handle = (void *)(uintptr_t)made[i].handle;
    switch (made[i].kind) {
    case GRAPH: (void)cu.cuGraphDestroy(handle); break;
    case EXEC: (void)cu.cuGraphExecDestroy(handle); break;
    case OBJECT: (void)cu.cuUserObjectRelease(handle, 1); break;
    default: (void)cu.cuMemFree(made[i].handle);
    }
}

/* Everything goes; a context in error goes, too. */
static void clean_up(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    for (int i = 0; i < STREAMS + 2; i++) {
        CUgraph graph = NULL;
        if (cu.cuStreamEndCapture(world.streams[i], &graph) == CUDA_SUCCESS &&
            graph != NULL && !is_kept(graph))
            keep(GRAPH, (uint64_t)(uintptr_t)graph);
    }
    (void)cu.cuThreadExchangeStreamCaptureMode(&mode);
    const bool is_lost = cu.cuCtxSynchronize() != CUDA_SUCCESS;
    /* In the order of the kinds: executables, then memory that no graph frees any more.
     */
    for (made_kind kind = 0; kind < MADE_KINDS; kind++)
        for (uint32_t i = 0; i < made_count; i++)
            if (made[i].kind == kind)
                take_down(i);
    made_count = 0;
    memset(graphs, 0, sizeof(graphs));
    memset(nodes, 0, sizeof(nodes));
    memset(execs, 0, sizeof(execs));
    memset(blocks, 0, sizeof(blocks));
    memset(objects, 0, sizeof(objects));
    if (is_lost) {
        (void)cu.cuCtxDestroy(world.context);
        make_world();
    }
}

static void check_free_memory(void)
{
    CUmemoryPool pool;
    size_t free_bytes, total;
    cuuint64_t used = 0;
    ENSURE(cu.cuCtxSynchronize() == CUDA_SUCCESS);
    ENSURE(cu.cuDeviceGetDefaultMemPool(&pool, 0) == CUDA_SUCCESS);
    ENSURE(cu.cuMemPoolTrimTo(pool, 0) == CUDA_SUCCESS);
    ENSURE(cu.cuDeviceGraphMemTrim(0) == CUDA_SUCCESS);
    ENSURE(cu.cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,
                                           &used) == CUDA_SUCCESS);
    ENSURE(used == 0);
    ENSURE(cu.cuMemGetInfo(&free_bytes, &total) == CUDA_SUCCESS);
    ENSURE(free_bytes == world.free_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint32_t inputs;
    if (cu.cuInit == NULL) {
        load_driver();
        make_world();
    }
    at = data;
    end = data + size;
    for (uint32_t i = 0; i < CALLS_MOST && at < end; i++)
        calls[byte() % (sizeof(calls) / sizeof(calls[0]))]();
    clean_up();
    /* Giving memory back and getting it again is what takes longest. */
    if (++inputs % 64 == 0)
        check_free_memory();
    return 0;
}
