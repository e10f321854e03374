// SPDX-License-Identifier: Apache-2.0
/* In what order things happen: programmatic edges, events of graphs; and what clones keep
 * of it. */
#include <unistd.h>

#include "graphs.h"

static CUcontext context;
static struct kernels k;

static CUstreamBatchMemOpParams wait_for_1(CUdeviceptr address)
{
    CUstreamBatchMemOpParams out;
    memset(&out, 0, sizeof(out));
    out.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    out.waitValue.address = address;
    out.waitValue.value = 1;
    out.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    return out;
}

/* ---- programmatic edges ---- */

/* add(p, n): n times *p = *p + 1, with pauses, after a wait for the kernels before; the
 * kernels after it may be launched when it begins. Only the last thread adds. */
static const char chain_ptx[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry link(.param .u64 p, .param .u32 n)\n{\n"
    " .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %d<2>;\n"
    " ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n];\n"
    " griddepcontrol.launch_dependents;\n"
    " griddepcontrol.wait;\n"
    " mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 31;\n"
    " @%p1 bra done;\n"
    " mov.u32 %r3, 0;\n"
    "again:\n"
    " ld.volatile.global.u32 %r4, [%d1]; add.u32 %r4, %r4, 1;\n"
    " st.volatile.global.u32 [%d1], %r4;\n"
    " add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r1;\n"
    " @%p2 bra again;\n"
    "done:\n ret;\n}\n";

#define LINKS 6
#define STEPS 2000u

/* Created last to first, so that nothing but the edges can order them. */
static void chain_of(CUgraph graph, CUfunction function, CUdeviceptr words, uint8_t port,
                     uint8_t type)
{
    unsigned steps = STEPS;
    void *args[] = {&words, &steps};
    CUDA_KERNEL_NODE_PARAMS params = one_thread(function, args);
    CUgraphNode nodes[LINKS];
    params.blockDimX = 32;
    for (int i = LINKS; i-- > 0;)
        OK(cu.cuGraphAddKernelNode(&nodes[i], graph, NULL, 0, &params));
    const CUgraphEdgeData data = {.from_port = port, .type = type};
    for (int i = 1; i < LINKS; i++)
        OK(cu.cuGraphAddDependencies(graph, &nodes[i - 1], &nodes[i], &data, 1));
}

static void a_chain_of_programmatic_edges_orders(void)
{
    static const struct {
        uint8_t port, type;
    } edges[] = {{1, 1}, {2, 1}, {0, 0}};
    CUmodule module;
    CUfunction function;
    OK(cu.cuModuleLoadData(&module, chain_ptx));
    OK(cu.cuModuleGetFunction(&function, module, "link"));
    for (int i = 0; i < 3; i++) {
        CUdeviceptr words = new_words();
        CUgraph graph = new_graph();
        chain_of(graph, function, words, edges[i].port, edges[i].type);
        CUgraphExec exec = instantiate(graph);
        for (unsigned n = 1; n <= 20; n++) {
            OK(cu.cuGraphLaunch(exec, NULL));
            CHECK(word_at(words) == n * LINKS * STEPS);
        }
        OK(cu.cuGraphExecDestroy(exec));
        OK(cu.cuGraphDestroy(graph));
        OK(cu.cuMemFree(words));
    }
    OK(cu.cuModuleUnload(module));
}

/* The second kernel waits with griddepcontrol.wait for what the first has written. */
static void a_programmatic_edge_orders(void)
{
    static const char ptx[] =
        ".version 7.8\n.target sm_90\n.address_size 64\n"
        ".visible .entry first(.param .u64 p)\n{\n .reg .b32 %r<2>; .reg .b64 %d<2>;\n"
        " ld.param.u64 %d1, [p];\n griddepcontrol.launch_dependents;\n"
        " mov.u32 %r1, 41; st.global.u32 [%d1], %r1;\n ret;\n}\n"
        ".visible .entry second(.param .u64 p)\n{\n .reg .b32 %r<3>; .reg .b64 %d<2>;\n"
        " ld.param.u64 %d1, [p];\n griddepcontrol.wait;\n"
        " ld.global.u32 %r1, [%d1]; add.u32 %r2, %r1, 1; st.global.u32 [%d1], %r2;\n"
        " ret;\n}\n";
    CUmodule module;
    CUfunction first, second;
    OK(cu.cuModuleLoadData(&module, ptx));
    OK(cu.cuModuleGetFunction(&first, module, "first"));
    OK(cu.cuModuleGetFunction(&second, module, "second"));
    CUdeviceptr words = new_words();
    void *args[] = {&words};
    CUgraph graph = new_graph();
    CUgraphNode a, b;
    const CUDA_KERNEL_NODE_PARAMS one = one_thread(first, args),
                                  two = one_thread(second, args);
    OK(cu.cuGraphAddKernelNode(&b, graph, NULL, 0, &two));
    OK(cu.cuGraphAddKernelNode(&a, graph, NULL, 0, &one));
    const CUgraphEdgeData programmatic = {.from_port = 1, .type = 1};
    OK(cu.cuGraphAddDependencies(graph, &a, &b, &programmatic, 1));
    CUgraphExec exec = instantiate(graph);
    for (int i = 0; i < 100; i++) {
        OK(cu.cuGraphLaunch(exec, NULL));
        CHECK(word_at(words) == 42);
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuModuleUnload(module));
    OK(cu.cuMemFree(words));
}

/* ---- events ---- */

/* The event is reached when its node runs: what another stream does after it is what the
 * rest of the graph waits for. */
static void an_event_is_reached_when_its_node_runs(void)
{
    CUgraph graph = new_graph();
    CUgraphNode record, tail;
    CUevent event;
    CUstream launches, other;
    CUdeviceptr words = new_words();
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuStreamCreate(&launches, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CUstreamBatchMemOpParams wait = wait_for_1(words);
    const CUDA_BATCH_MEM_OP_NODE_PARAMS params = {context, 1, &wait, 0};
    OK(cu.cuGraphAddEventRecordNode(&record, graph, NULL, 0, event));
    OK(cu.cuGraphAddBatchMemOpNode(&tail, graph, &record, 1, &params));
    CUgraphExec exec = instantiate(graph);
    OK(cu.cuGraphLaunch(exec, launches));
    OK(cu.cuStreamWaitEvent(other, event, 0));
    OK(cu.cuStreamWriteValue32(other, words, 1, 0));
    for (int i = 0; i < 3000 && cu.cuStreamQuery(other) == CUDA_ERROR_NOT_READY; i++)
        usleep(1000);
    if (!CHECK(cu.cuStreamQuery(other) == CUDA_SUCCESS)) {
        CUstream rescue; /* so that the program ends */
        OK(cu.cuStreamCreate(&rescue, CU_STREAM_NON_BLOCKING));
        OK(cu.cuStreamWriteValue32(rescue, words, 1, 0));
    }
    OK(cu.cuStreamSynchronize(launches));
    OK(cu.cuStreamSynchronize(other));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuStreamDestroy(launches));
    OK(cu.cuStreamDestroy(other));
    OK(cu.cuEventDestroy(event));
    OK(cu.cuMemFree(words));
}

/* Whether a stream gets done, within some seconds, so that nothing hangs. */
static bool gets_done(CUstream stream)
{
    for (int i = 0; i < 3000 && cu.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY; i++)
        usleep(1000);
    return cu.cuStreamQuery(stream) == CUDA_SUCCESS;
}

/* root (words[0] = 1), wait for `event` after it, then words[1] = 1 */
static CUgraphExec graph_that_waits(CUdeviceptr words, CUevent event)
{
    CUgraph graph = new_graph();
    CUgraphNode root, wait, after;
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = words, .value = 1, .elementSize = 4, .width = 1, .height = 1};
    OK(cu.cuGraphAddMemsetNode(&root, graph, NULL, 0, &fill, context));
    OK(cu.cuGraphAddEventWaitNode(&wait, graph, &root, 1, event));
    fill.dst = words + 4;
    OK(cu.cuGraphAddMemsetNode(&after, graph, &wait, 1, &fill, context));
    CUgraphExec exec = instantiate(graph);
    OK(cu.cuGraphDestroy(graph));
    return exec;
}

/* The event comes after words[2] == 1, which nothing writes but this test. */
static void a_wait_node_holds_what_is_behind_it(void)
{
    CUstream launches, other, reads, lets_go;
    unsigned *got; /* pinned */
    CUevent event;
    CUdeviceptr words = new_words();
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuStreamCreate(&launches, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&reads, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&lets_go, CU_STREAM_NON_BLOCKING));
    OK(cu.cuMemHostAlloc((void **)&got, 4, 0));
    CUgraphExec exec = graph_that_waits(words, event);
    for (unsigned round = 1; round <= 3; round++) {
        OK(cu.cuStreamWaitValue32(other, words + 8, round, CU_STREAM_WAIT_VALUE_EQ));
        OK(cu.cuEventRecord(event, other));
        OK(cu.cuGraphLaunch(exec, launches));
        OK(cu.cuGraphLaunch(exec, launches)); /* a second one queues up after it */
        OK(cu.cuStreamWaitValue32(reads, words, 1, CU_STREAM_WAIT_VALUE_EQ));
        if (CHECK(gets_done(reads))) {
            OK(cu.cuMemcpyDtoHAsync(got, words + 4, 4, reads));
            OK(cu.cuStreamSynchronize(reads));
            CHECK(*got == 0);
        }
        REFUSED(NOT_READY, cu.cuStreamQuery(launches));
        OK(cu.cuStreamWriteValue32(lets_go, words + 8, round, 0));
        OK(cu.cuStreamSynchronize(launches));
        CHECK(word_at(words + 4) == 1);
        OK(cu.cuGraphLaunch(exec, launches)); /* the event is reached */
        OK(cu.cuStreamSynchronize(launches));
        OK(cu.cuMemsetD32(words, 0, 2));
        OK(cu.cuCtxSynchronize());
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuStreamDestroy(launches));
    OK(cu.cuStreamDestroy(other));
    OK(cu.cuStreamDestroy(reads));
    OK(cu.cuStreamDestroy(lets_go));
    OK(cu.cuMemFreeHost(got));
    OK(cu.cuEventDestroy(event));
    OK(cu.cuMemFree(words));
}

/* What the event waits for is written by the graph itself. */
static void a_root_leads_to_the_event(void)
{
    CUstream launches, other;
    CUevent event;
    CUdeviceptr words = new_words();
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuStreamCreate(&launches, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CUgraphExec exec = graph_that_waits(words, event);
    OK(cu.cuStreamWaitValue32(other, words, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cu.cuEventRecord(event, other));
    OK(cu.cuGraphLaunch(exec, launches));
    if (!CHECK(gets_done(launches))) {
        CUstream rescue; /* so that the program ends */
        OK(cu.cuStreamCreate(&rescue, CU_STREAM_NON_BLOCKING));
        OK(cu.cuStreamWriteValue32(rescue, words, 1, 0));
    }
    OK(cu.cuStreamSynchronize(launches));
    CHECK(word_at(words + 4) == 1);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuStreamDestroy(launches));
    OK(cu.cuStreamDestroy(other));
    OK(cu.cuEventDestroy(event));
    OK(cu.cuMemFree(words));
}

/* ---- clones ---- */

static void a_clone_has_the_edges_of_its_original(void)
{
    CUgraph graph = new_graph(), clone = NULL;
    CUgraphNode a = kernel_node(graph, k.nothing), b = kernel_node(graph, k.nothing),
                c = empty_node(graph), copies[3];
    const CUgraphEdgeData programmatic = {.from_port = 1, .type = 1},
                          ordered = {.from_port = 2};
    OK(cu.cuGraphAddDependencies(graph, &b, &a, &programmatic,
                                 1)); /* against the order */
    OK(cu.cuGraphAddDependencies(graph, &a, &c, &ordered, 1));
    OK(cu.cuGraphClone(&clone, graph));
    OK(cu.cuGraphDestroy(graph));
    size_t count = 3;
    OK(cu.cuGraphGetNodes(clone, copies, &count));
    CUgraphNode from[3], to[3];
    CUgraphEdgeData data[3];
    size_t edges = 3;
    OK(cu.cuGraphGetEdges(clone, from, to, data, &edges));
    CHECK(count == 3 && edges == 2);
    for (size_t i = 0; i < edges; i++) {
        const bool first = from[i] == copies[1];
        CHECK(from[i] == copies[first ? 1 : 0] && to[i] == copies[first ? 0 : 2]);
        CHECK(data[i].from_port == (first ? 1 : 2) && data[i].type == (first ? 1 : 0));
    }
    run_graph(clone);
    OK(cu.cuGraphDestroy(clone));
}

/* And the parameters of its nodes, those of child graphs too, apart from the original's.
 */
static void a_clone_has_parameters_of_its_own(void)
{
    CUdeviceptr words = new_words();
    CUgraph child = new_graph(), graph = new_graph(), clone = NULL, inner = NULL;
    CUgraphNode node, inside, parent, copy;
    unsigned value = 3;
    CUdeviceptr place = words + 4;
    void *outer[] = {&words, &value}, *nested[] = {&place, &value};
    CUDA_KERNEL_NODE_PARAMS params = one_thread(k.store, outer);
    OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    params.kernelParams = nested;
    OK(cu.cuGraphAddKernelNode(&inside, child, NULL, 0, &params));
    OK(cu.cuGraphAddChildGraphNode(&parent, graph, NULL, 0, child));
    CUlaunchAttributeValue priority = {.priority = -2}, got = {.priority = 9};
    OK(cu.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &priority));
    OK(cu.cuGraphClone(&clone, graph));
    value = 4;
    params.kernelParams = outer;
    OK(cu.cuGraphKernelNodeSetParams(node, &params));
    OK(cu.cuGraphChildGraphNodeGetGraph(parent, &inner));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(child));
    size_t count = 1;
    OK(cu.cuGraphGetNodes(clone, &copy, &count));
    OK(cu.cuGraphKernelNodeGetAttribute(copy, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got));
    CHECK(got.priority == -2);
    run_graph(clone);
    CHECK(word_at(words) == 3 && word_at(words + 4) == 3);
    OK(cu.cuGraphDestroy(clone));
    OK(cu.cuMemFree(words));
}

static void run(void)
{
    if (!rule_listing) {
        OK(cu.cuCtxGetCurrent(&context));
        k = load_kernels();
    }
    RULE_TEST(M_programmatic_order, a_programmatic_edge_orders);
    RULE_TEST(M_programmatic_order, a_chain_of_programmatic_edges_orders);
    RULE_TEST(M_record_at_node, an_event_is_reached_when_its_node_runs);
    RULE_TEST(M_wait_at_node, a_wait_node_holds_what_is_behind_it);
    RULE_TEST(M_wait_at_node, a_root_leads_to_the_event);
    RULE_TEST(M_clone_whole, a_clone_has_the_edges_of_its_original);
    RULE_TEST(M_clone_whole, a_clone_has_parameters_of_its_own);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
