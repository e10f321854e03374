// SPDX-License-Identifier: Apache-2.0
/* Graphs by hand: nodes, edges, what may be asked, instantiation, launch. The rule that a
 * test holds is in its comment (R-numbers of docs/conformance rules). */
#include "driver.h"
#include "kernels.h"

#include <sys/stat.h>
#include <unistd.h>

static CUmodule module;
static CUfunction store, add, nothing;

static CUgraphNode add_store(CUgraph graph, const CUgraphNode *after, size_t count,
                             CUdeviceptr at, unsigned value)
{
    void *params[] = {&at, &value};
    const CUDA_KERNEL_NODE_PARAMS p = one_thread(store, params);
    CUgraphNode node = NULL;
    OK(cu.cuGraphAddKernelNode(&node, graph, after, count, &p));
    return node;
}

static CUgraphNode add_empty(CUgraph graph, const CUgraphNode *after, size_t count)
{
    CUgraphNode node = NULL;
    OK(cu.cuGraphAddEmptyNode(&node, graph, after, count));
    return node;
}

static unsigned word_at(CUdeviceptr at)
{
    unsigned out = 0xdead;
    OK(cu.cuMemcpyDtoH(&out, at, sizeof(out)));
    return out;
}

static void launch_once(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuStreamSynchronize(NULL));
    OK(cu.cuGraphExecDestroy(exec));
}

static atomic_int host_calls;

static void CUDA_CB count_call(void *user)
{
    (void)user;
    atomic_fetch_add(&host_calls, 1);
}

/* Every kind of node in one graph: memset, kernel, memcpy, host, empty, child. */
static void nodes_of_every_kind_run_in_order(void)
{
    CUgraph graph, child;
    CUdeviceptr at;
    OK(cu.cuMemAlloc(&at, 64));
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphCreate(&child, 0));
    const CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = at, .value = 0x11, .elementSize = 1, .width = 64, .height = 1};
    CUcontext context;
    OK(cu.cuCtxGetCurrent(&context));
    CUgraphNode n[6];
    OK(cu.cuGraphAddMemsetNode(&n[0], graph, NULL, 0, &fill, context));
    n[1] = add_store(graph, &n[0], 1, at, 77);
    static unsigned landed[16];
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = at,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = landed,
                                .WidthInBytes = 64,
                                .Height = 1,
                                .Depth = 1};
    OK(cu.cuGraphAddMemcpyNode(&n[2], graph, &n[1], 1, &copy, context));
    const CUDA_HOST_NODE_PARAMS host = {count_call, NULL};
    OK(cu.cuGraphAddHostNode(&n[3], graph, &n[2], 1, &host));
    n[4] = add_empty(graph, &n[3], 1);
    CUgraphNode first = add_store(child, NULL, 0, at + 4, 5);
    add_store(child, &first, 1, at + 4, 6);
    OK(cu.cuGraphAddChildGraphNode(&n[5], graph, &n[4], 1, child));
    CUgraphNode last = add_store(graph, &n[5], 1, at + 8, 9);

    atomic_store(&host_calls, 0);
    CUgraphExec exec;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuStreamSynchronize(NULL));
    CHECK(atomic_load(&host_calls) == 3);
    CHECK(landed[0] == 77 && landed[1] == 0x11111111);
    CHECK(word_at(at + 4) == 6 && word_at(at + 8) == 9);

    CUgraphNodeType type;
    static const CUgraphNodeType types[] = {
        CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY,
        CU_GRAPH_NODE_TYPE_HOST,   CU_GRAPH_NODE_TYPE_EMPTY,  CU_GRAPH_NODE_TYPE_GRAPH};
    for (int i = 0; i < 6; i++) {
        OK(cu.cuGraphNodeGetType(n[i], &type));
        CHECK(type == types[i]);
    }
    OK(cu.cuGraphNodeGetType(last, &type));
    CUgraph inner;
    size_t count = 0;
    OK(cu.cuGraphChildGraphNodeGetGraph(n[5], &inner));
    OK(cu.cuGraphGetNodes(inner, NULL, &count));
    CHECK(inner != child && count == 2); /* R61: a clone */
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(child));
    OK(cu.cuMemFree(at));
}

/* R1, R2, R3. */
static void wrong_dependencies_are_refused(void)
{
    CUgraph graph, other;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphCreate(&other, 0));
    CUgraphNode a = add_empty(graph, NULL, 0), foreign = add_empty(other, NULL, 0), out;
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(&out, graph, NULL, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(&out, graph, &foreign, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(NULL, graph, NULL, 0));
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(&out, NULL, NULL, 0));
    CUgraphNode twice[] = {a, a};
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(&out, graph, twice, 2));
    size_t count = 9;
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    CHECK(count == 1);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(other));
}

/* R4, R5, R6, R9. */
static void edges_come_and_go(void)
{
    CUgraph graph, other;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphCreate(&other, 0));
    CUgraphNode a = add_empty(graph, NULL, 0), b = add_empty(graph, NULL, 0),
                c = add_empty(graph, &b, 1), foreign = add_empty(other, NULL, 0);
    OK(cu.cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphAddDependencies(graph, &a, &a, NULL, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphAddDependencies(graph, &a, &foreign, NULL, 1));
    OK(cu.cuGraphAddDependencies(graph, NULL, NULL, NULL, 0));
    OK(cu.cuGraphRemoveDependencies(graph, &a, NULL, NULL, 0));
    REFUSED(INVALID_VALUE, cu.cuGraphRemoveDependencies(graph, &a, &c, NULL, 1));

    CUgraphNode from[4], to[4];
    size_t count = 4;
    OK(cu.cuGraphGetEdges(graph, from, to, NULL, &count));
    CHECK(count == 2 && from[2] == NULL && to[3] == NULL); /* R10 */
    REFUSED(INVALID_VALUE, cu.cuGraphGetEdges(graph, from, NULL, NULL, &count));
    OK(cu.cuGraphRemoveDependencies(graph, &a, &b, NULL, 1));
    OK(cu.cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
    CHECK(count == 1);

    OK(cu.cuGraphDestroyNode(b)); /* R9: its edges go with it */
    OK(cu.cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
    CHECK(count == 0);
    OK(cu.cuGraphGetRootNodes(graph, NULL, &count));
    CHECK(count == 2);
    CUgraphNode nodes[3];
    count = 3;
    OK(cu.cuGraphGetNodes(graph, nodes, &count));
    CHECK(count == 2 && nodes[0] == a && nodes[1] == c && nodes[2] == NULL);
    OK(cu.cuGraphNodeGetDependencies(c, NULL, NULL, &count));
    CHECK(count == 0);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(other));
}

/* R7. */
static void a_cycle_is_found_at_instantiation(void)
{
    CUgraph graph;
    CUgraphExec exec = NULL;
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode a = add_empty(graph, NULL, 0), b = add_empty(graph, &a, 1),
                c = add_empty(graph, &b, 1);
    OK(cu.cuGraphAddDependencies(graph, &c, &a, NULL, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithParams(&exec, graph, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    CHECK(params.hErrNode_out == a || params.hErrNode_out == b ||
          params.hErrNode_out == c);
    CHECK(exec == NULL);
    OK(cu.cuGraphRemoveDependencies(graph, &c, &a, NULL, 1));
    OK(cu.cuGraphInstantiateWithParams(&exec, graph, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);
    CHECK(params.hErrNode_out == NULL);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* R8, R29, R31. */
static void flags_of_instantiation(void)
{
    CUgraph graph;
    CUgraphExec exec;
    cuuint64_t flags = 99;
    OK(cu.cuGraphCreate(&graph, 0));
    launch_once(graph); /* empty */
    const CUDA_KERNEL_NODE_PARAMS p = one_thread(nothing, NULL);
    CUgraphNode node;
    OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &p));
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithFlags(&exec, graph, 0x3e7));
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithFlags(
                               &exec, graph,
                               CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph,
                                      CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    OK(cu.cuGraphExecGetFlags(exec, &flags));
    CHECK(flags == 0); /* an H100's driver does not report this one */
    OK(cu.cuGraphExecDestroy(exec));
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithFlags(
                               &exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph,
                                      CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    OK(cu.cuGraphExecGetFlags(exec, &flags));
    CHECK(flags == CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    OK(cu.cuGraphExecDestroy(exec));
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD};
    OK(cu.cuGraphInstantiateWithParams(&exec, graph, &params));
    OK(cu.cuGraphExecGetFlags(exec, &flags));
    CHECK(flags == 0);
    OK(cu.cuGraphUpload(exec, NULL));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    REFUSED(INVALID_VALUE, cu.cuGraphCreate(&graph, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphCreate(NULL, 0));
}

/* R19: arguments are copied at the call; R34: edits do not reach an executable graph. */
static void parameters_belong_to_the_node(void)
{
    CUgraph graph;
    CUdeviceptr at;
    OK(cu.cuMemAlloc(&at, 8));
    OK(cu.cuGraphCreate(&graph, 0));
    unsigned value = 1;
    void *params[] = {&at, &value};
    CUDA_KERNEL_NODE_PARAMS p = one_thread(store, params), seen;
    CUgraphNode node;
    OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &p));
    value = 2;
    launch_once(graph);
    CHECK(word_at(at) == 1);

    OK(cu.cuGraphKernelNodeGetParams(node, &seen));
    CHECK(seen.func == store && seen.gridDimX == 1 && seen.blockDimZ == 1);
    CHECK(*(unsigned *)seen.kernelParams[1] == 1);
    CHECK(*(CUdeviceptr *)seen.kernelParams[0] == at);

    CUgraphExec exec;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    value = 3;
    OK(cu.cuGraphKernelNodeSetParams(node, &p));
    OK(cu.cuGraphLaunch(exec, NULL));
    CHECK(word_at(at) == 1);
    launch_once(graph);
    CHECK(word_at(at) == 3);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuMemFree(at));
}

/* R17, R21, R25. (R18, kernelParams and extra both set: an H100 takes it.) */
static void wrong_parameters_are_refused(void)
{
    CUgraph graph;
    CUgraphNode node;
    CUcontext context;
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode empty = add_empty(graph, NULL, 0);
    CUDA_KERNEL_NODE_PARAMS seen;
    CUDA_HOST_NODE_PARAMS host = {NULL, NULL};
    REFUSED(INVALID_VALUE, cu.cuGraphKernelNodeGetParams(empty, &seen));
    REFUSED(INVALID_VALUE, cu.cuGraphHostNodeGetParams(empty, &host));
    REFUSED(INVALID_VALUE, cu.cuGraphAddHostNode(&node, graph, NULL, 0, &host));
    CUdeviceptr at;
    OK(cu.cuMemAlloc(&at, 16));
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = at, .elementSize = 3, .width = 1, .height = 1};
    REFUSED(INVALID_VALUE,
            cu.cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    CUDA_KERNEL_NODE_PARAMS wide = one_thread(nothing, NULL);
    wide.blockDimX = 2000;
    REFUSED(INVALID_VALUE, cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &wide));
    size_t count = 9;
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    CHECK(count == 1);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuMemFree(at));
}

/* R37: what is destroyed in flight still runs. */
static void destroyed_in_flight_still_runs(void)
{
    CUdeviceptr at;
    CUgraph graph;
    OK(cu.cuMemAlloc(&at, 4));
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode last = add_store(graph, NULL, 0, at, 0);
    for (unsigned i = 1; i < 200; i++)
        last = add_store(graph, &last, 1, at, i);
    CUgraphExec exec;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphDestroy(graph));
    for (int i = 0; i < 20; i++)
        OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuStreamSynchronize(NULL));
    CHECK(word_at(at) == 199);
    OK(cu.cuMemFree(at));
}

/* R33: launches of one executable graph follow each other, in whichever streams. */
static void launches_of_one_exec_serialize(void)
{
    static const char ptx[] =
        PTX_HEAD ".visible .entry twice(.param .u64 p)\n"
                 "{\n"
                 "  .reg .b32 %r<3>; .reg .b64 %d<2>;\n"
                 "  ld.param.u64 %d1, [p];\n"
                 "  ld.volatile.global.u32 %r1, [%d1]; add.u32 %r2, %r1, 1;\n"
                 "  st.volatile.global.u32 [%d1], %r2;\n"
                 "  ret;\n"
                 "}\n";
    CUmodule own;
    CUfunction twice;
    OK(cu.cuModuleLoadData(&own, ptx));
    OK(cu.cuModuleGetFunction(&twice, own, "twice"));
    CUdeviceptr at;
    OK(cu.cuMemAlloc(&at, 4));
    OK(cu.cuMemsetD32(at, 0, 1));
    OK(cu.cuCtxSynchronize()); /* a fill is asynchronous, the streams do not wait */
    CUgraph graph;
    OK(cu.cuGraphCreate(&graph, 0));
    void *params[] = {&at};
    const CUDA_KERNEL_NODE_PARAMS p = one_thread(twice, params);
    CUgraphNode node = NULL;
    for (int i = 0; i < 10; i++) {
        CUgraphNode before = node;
        OK(cu.cuGraphAddKernelNode(&node, graph, &before, before != NULL, &p));
    }
    CUgraphExec exec;
    CUstream streams[4];
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 4; i++)
        OK(cu.cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 200; i++)
        OK(cu.cuGraphLaunch(exec, streams[i % 4]));
    OK(cu.cuCtxSynchronize());
    CHECK(word_at(at) == 2000);
    for (int i = 0; i < 4; i++)
        OK(cu.cuStreamDestroy(streams[i]));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuModuleUnload(own));
    OK(cu.cuMemFree(at));
}

/* R27: an event node records at each launch; a wait node holds the graph back. */
static void event_nodes_record_and_wait(void)
{
    CUdeviceptr at;
    CUgraph graph;
    CUgraphNode n[3];
    CUevent before, after;
    CUstream stream;
    OK(cu.cuMemAlloc(&at, 4));
    OK(cu.cuEventCreate(&before, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuEventCreate(&after, CU_EVENT_DEFAULT));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddEventWaitNode(&n[0], graph, NULL, 0, before));
    n[1] = add_store(graph, &n[0], 1, at, 5);
    OK(cu.cuGraphAddEventRecordNode(&n[2], graph, &n[1], 1, after));
    CUevent seen;
    OK(cu.cuGraphEventRecordNodeGetEvent(n[2], &seen));
    CHECK(seen == after);
    CUgraphExec exec;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, stream)); /* an empty event is satisfied */
    OK(cu.cuEventSynchronize(after));
    CHECK(word_at(at) == 5);
    OK(cu.cuEventRecord(before, stream));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuEventSynchronize(after));
    OK(cu.cuEventQuery(after));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuStreamDestroy(stream));
    OK(cu.cuEventDestroy(before));
    OK(cu.cuEventDestroy(after));
    OK(cu.cuMemFree(at));
}

static void a_wide_graph_with_joins_computes_right(void)
{
    enum { WIDTH = 64 };
    CUdeviceptr at;
    CUgraph graph;
    OK(cu.cuMemAlloc(&at, 4 * (WIDTH + 1)));
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode root = add_store(graph, NULL, 0, at, 1), wide[WIDTH];
    for (unsigned i = 0; i < WIDTH; i++)
        wide[i] = add_store(graph, &root, 1, at + 4 * (i + 1ull), i);
    add_store(graph, wide, WIDTH, at, 42);
    for (int round = 0; round < 20; round++)
        launch_once(graph);
    CHECK(word_at(at) == 42);
    for (unsigned i = 0; i < WIDTH; i++)
        CHECK(word_at(at + 4 * (i + 1ull)) == i);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuMemFree(at));
}

static void dot_shows_every_node(void)
{
    CUgraph graph;
    char path[] = "/tmp/gph-dot-XXXXXX", line[512];
    const int file = mkstemp(path);
    CHECK(file >= 0);
    close(file);
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode a = add_empty(graph, NULL, 0);
    add_empty(graph, &a, 1);
    OK(cu.cuGraphDebugDotPrint(graph, path, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
    FILE *dot = fopen(path, "r");
    int arrows = 0, digraph = 0;
    while (dot && fgets(line, sizeof(line), dot)) {
        arrows += strstr(line, "->") != NULL;
        digraph += strstr(line, "digraph") != NULL;
    }
    CHECK(dot && digraph == 1 && arrows >= 1);
    if (dot)
        fclose(dot);
    unlink(path);
    REFUSED(OPERATING_SYSTEM, cu.cuGraphDebugDotPrint(graph, "/nowhere/x.dot", 0));
    OK(cu.cuGraphDestroy(graph));
}

/* As a device such as /dev/null, which must not be replaced by a file. */
static void dot_is_written_through_links(void)
{
    CUgraph graph;
    struct stat there;
    char path[] = "/tmp/gph-dot-XXXXXX", link[64];
    const int file = mkstemp(path);
    CHECK(file >= 0);
    close(file);
    snprintf(link, sizeof(link), "%s.link", path);
    CHECK(symlink(path, link) == 0);
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphDebugDotPrint(graph, link, 0));
    CHECK(lstat(link, &there) == 0 && S_ISLNK(there.st_mode));
    CHECK(stat(path, &there) == 0 && there.st_size > 0);
    unlink(link);
    unlink(path);
    OK(cu.cuGraphDestroy(graph));
}

/* Only where a wrong handle does not crash. */
static void dead_handles_are_refused(void)
{
    if (!driver_is_soft)
        SKIP("the real driver reads what a wrong handle points to");
    CUgraph graph;
    CUgraphExec exec;
    int not_a_graph[32] = {0};
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode node = add_empty(graph, NULL, 0);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphDestroy(graph));
    CUgraphNodeType type;
    REFUSED(INVALID_VALUE, cu.cuGraphDestroy(graph));
    REFUSED(INVALID_VALUE, cu.cuGraphNodeGetType(node, &type));
    REFUSED(INVALID_VALUE, cu.cuGraphDestroyNode(node));
    REFUSED(INVALID_VALUE, cu.cuGraphDestroy((CUgraph)not_a_graph));
    OK(cu.cuGraphExecDestroy(exec));
    REFUSED(INVALID_VALUE, cu.cuGraphExecDestroy(exec));
    REFUSED(INVALID_VALUE, cu.cuGraphLaunch(exec, NULL));
}

int main(void)
{
    DEVICE_OR_SKIP();
    use_primary();
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&store, module, "store"));
    OK(cu.cuModuleGetFunction(&add, module, "add"));
    OK(cu.cuModuleGetFunction(&nothing, module, "nothing"));
    RUN(nodes_of_every_kind_run_in_order);
    RUN(wrong_dependencies_are_refused);
    RUN(edges_come_and_go);
    RUN(a_cycle_is_found_at_instantiation);
    RUN(flags_of_instantiation);
    RUN(parameters_belong_to_the_node);
    RUN(wrong_parameters_are_refused);
    RUN(destroyed_in_flight_still_runs);
    RUN(launches_of_one_exec_serialize);
    RUN(event_nodes_record_and_wait);
    RUN(a_wide_graph_with_joins_computes_right);
    RUN(dot_shows_every_node);
    RUN(dot_is_written_through_links);
    RUN(dead_handles_are_refused);
    OK(cu.cuModuleUnload(module));
    return test_done();
}
