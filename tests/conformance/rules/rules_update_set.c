// SPDX-License-Identifier: Apache-2.0
/* R16, R69h, R69i, R69k: setters of single nodes, which nodes they take, and nodes that
 * are switched off. */
#include "graph_text.h"

static CUstream stream;

static CUresult set_kernel(CUgraphExec exec, CUgraphNode node, unsigned value)
{
    const CUDA_KERNEL_NODE_PARAMS params = store_params(&text_memory[0], &value);
    return cu.cuGraphExecKernelNodeSetParams(exec, node, &params);
}

static unsigned launch(CUgraphExec exec)
{
    unsigned value = 0;
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuMemcpyDtoHAsync(&value, text_memory[0], sizeof(value), stream));
    OK(cu.cuStreamSynchronize(stream));
    return value;
}

static CUgraphExec instantiate(const text_graph *graph)
{
    CUgraphExec exec = NULL;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph->graph, 0));
    return exec;
}

/* ---- which nodes ---- */

static void setters_want_nodes_of_the_own_graph(void)
{
    text_graph graph = text_build("k1 k2<k1"), other = text_build("k1 k2<k1");
    CUgraphExec exec = instantiate(&graph), foreign = instantiate(&other);
    OK(set_kernel(exec, graph.nodes[1], 11));
    CHECK(launch(exec) == 11);
    REFUSED(INVALID_VALUE, set_kernel(exec, other.nodes[1], 12));
    REFUSED(INVALID_VALUE, set_kernel(exec, NULL, 12));
    text_edit(&graph, "k3<k2");
    REFUSED(INVALID_VALUE, set_kernel(exec, graph.nodes[2], 12));
    CHECK(launch(exec) == 11);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphExecDestroy(foreign));
    OK(cu.cuGraphDestroy(graph.graph));
    OK(cu.cuGraphDestroy(other.graph));
}

static void two_executable_graphs_share_the_nodes(void)
{
    const text_graph graph = text_build("k1 k2<k1");
    CUgraphExec first = instantiate(&graph), second = instantiate(&graph);
    OK(set_kernel(first, graph.nodes[1], 21));
    OK(set_kernel(second, graph.nodes[1], 22));
    CHECK(launch(first) == 21);
    CHECK(launch(second) == 22);
    OK(cu.cuGraphExecDestroy(first));
    OK(cu.cuGraphExecDestroy(second));
    OK(cu.cuGraphDestroy(graph.graph));
}

static void removed_nodes_are_refused(void)
{
    text_graph graph = text_build("k1 k2<k1");
    CUgraphExec exec = instantiate(&graph);
    unsigned enabled = 7;
    text_edit(&graph, "!k2");
    REFUSED(INVALID_VALUE, set_kernel(exec, graph.nodes[1], 3));
    REFUSED(INVALID_VALUE, cu.cuGraphNodeGetEnabled(exec, graph.nodes[1], &enabled));
    CHECK(enabled == 7);
    OK(cu.cuGraphDestroy(graph.graph));
    REFUSED(INVALID_VALUE, set_kernel(exec, graph.nodes[0], 3));
    CHECK(launch(exec) == 5);
    OK(cu.cuGraphExecDestroy(exec));
}

/* The nodes of the graph that updated it do not become its own. */
static void an_update_does_not_change_which(void)
{
    const text_graph graph = text_build("k1 k2<k1"), other = text_build("k1 k2<k1");
    CUgraphExec exec = instantiate(&graph);
    CUgraphExecUpdateResultInfo info;
    OK(cu.cuGraphExecUpdate(exec, other.graph, &info));
    OK(set_kernel(exec, graph.nodes[1], 15));
    REFUSED(INVALID_VALUE, set_kernel(exec, other.nodes[1], 16));
    CHECK(launch(exec) == 15);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
    OK(cu.cuGraphDestroy(other.graph));
}

static void clones_have_nodes_of_their_own(void)
{
    const text_graph graph = text_build("k1");
    CUgraph clone;
    CUgraphNode copy;
    CUgraphExec exec = instantiate(&graph), of_clone;
    OK(cu.cuGraphClone(&clone, graph.graph));
    OK(cu.cuGraphNodeFindInClone(&copy, graph.nodes[0], clone));
    OK(cu.cuGraphInstantiateWithFlags(&of_clone, clone, 0));
    REFUSED(INVALID_VALUE, set_kernel(exec, copy, 13));
    REFUSED(INVALID_VALUE, set_kernel(of_clone, graph.nodes[0], 14));
    OK(set_kernel(of_clone, copy, 14));
    CHECK(launch(of_clone) == 14);
    CHECK(launch(exec) == 5);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphExecDestroy(of_clone));
    OK(cu.cuGraphDestroy(clone));
    OK(cu.cuGraphDestroy(graph.graph));
}

static void setters_want_their_type(void)
{
    const text_graph graph = text_build("k1");
    CUgraphExec exec = instantiate(&graph);
    const CUgraphNode node = graph.nodes[0];
    const CUDA_MEMSET_NODE_PARAMS fill = fill_params(text_memory[0], 1, 4, 1);
    const CUDA_MEMCPY3D copy = copy_params(text_memory[0], text_memory[1], 4, 1);
    const CUDA_HOST_NODE_PARAMS host = {.fn = text_nothing};
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_HOST};
    any.host.fn = text_nothing;
    REFUSED(INVALID_VALUE,
            cu.cuGraphExecMemsetNodeSetParams(exec, node, &fill, text_context));
    REFUSED(INVALID_VALUE,
            cu.cuGraphExecMemcpyNodeSetParams(exec, node, &copy, text_context));
    REFUSED(INVALID_VALUE, cu.cuGraphExecHostNodeSetParams(exec, node, &host));
    REFUSED(INVALID_VALUE, cu.cuGraphExecEventRecordNodeSetEvent(exec, node, text_event));
    REFUSED(INVALID_VALUE, cu.cuGraphExecEventWaitNodeSetEvent(exec, node, text_event));
    REFUSED(INVALID_VALUE,
            cu.cuGraphExecChildGraphNodeSetParams(exec, node, graph.graph));
    REFUSED(INVALID_VALUE, cu.cuGraphExecNodeSetParams(exec, node, &any));
    CHECK(launch(exec) == 5);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
}

static atomic_int host_calls;

static void CUDA_CB count_call(void *user)
{
    atomic_fetch_add(&host_calls, *(int *)user);
}

/* One setter for all types; host functions and events change freely. */
static void the_generic_setter_takes_every_type(void)
{
    static int ten = 10;
    const text_graph graph = text_build("e1 h2<e1 r3<h2 w4<r3 k5<w4");
    CUgraphExec exec = instantiate(&graph);
    CUevent event;
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_HOST};
    params.host.fn = count_call;
    params.host.userData = &ten;
    atomic_store(&host_calls, 0);
    OK(cu.cuGraphExecNodeSetParams(exec, graph.nodes[1], &params));
    params.host.fn = NULL;
    REFUSED(INVALID_VALUE, cu.cuGraphExecNodeSetParams(exec, graph.nodes[1], &params));
    CUgraphNodeParams record = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD};
    record.eventRecord.event = event;
    OK(cu.cuGraphExecNodeSetParams(exec, graph.nodes[2], &record));
    CUgraphNodeParams wait = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT};
    wait.eventWait.event = event;
    OK(cu.cuGraphExecNodeSetParams(exec, graph.nodes[3], &wait));
    CUgraphNodeParams kernel = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    unsigned value = 77;
    const CUDA_KERNEL_NODE_PARAMS store = store_params(&text_memory[0], &value);
    kernel.kernel.func = store.func;
    kernel.kernel.gridDimX = kernel.kernel.gridDimY = kernel.kernel.gridDimZ = 1;
    kernel.kernel.blockDimX = kernel.kernel.blockDimY = kernel.kernel.blockDimZ = 1;
    kernel.kernel.kernelParams = store.kernelParams;
    OK(cu.cuGraphExecNodeSetParams(exec, graph.nodes[4], &kernel));
    CUgraphNodeParams empty = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    OK(cu.cuGraphExecNodeSetParams(exec, graph.nodes[0], &empty));
    kernel.reserved0[1] = 1;
    REFUSED(INVALID_VALUE, cu.cuGraphExecNodeSetParams(exec, graph.nodes[4], &kernel));
    CHECK(launch(exec) == 77);
    CHECK(atomic_load(&host_calls) == 10);
    OK(cu.cuEventQuery(event));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuEventDestroy(event));
    OK(cu.cuGraphDestroy(graph.graph));
}

/* ---- memory nodes ---- */

static void memory_nodes_have_no_setter(void)
{
    CUgraph graph;
    CUgraphNode alloc, release;
    CUgraphExec exec;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}},
        .bytesize = 1 << 20};
    OK(cu.cuGraphCreate(&graph, 0));
    const CUresult built = cu.cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params);
    if (built == CUDA_ERROR_NOT_SUPPORTED && driver_is_soft)
        SKIP("there are no memory nodes");
    OK(built);
    OK(cu.cuGraphAddMemFreeNode(&release, graph, &alloc, 1, params.dptr));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    CUgraphNodeParams set = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    set.alloc.poolProps = params.poolProps;
    set.alloc.bytesize = params.bytesize;
    REFUSED(NOT_SUPPORTED, cu.cuGraphExecNodeSetParams(exec, alloc, &set));
    REFUSED(NOT_SUPPORTED, cu.cuGraphNodeSetParams(alloc, &set));
    CUgraphNodeParams set_free = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    set_free.free.dptr = params.dptr;
    REFUSED(NOT_SUPPORTED, cu.cuGraphExecNodeSetParams(exec, release, &set_free));
    REFUSED(NOT_SUPPORTED, cu.cuGraphNodeSetParams(release, &set_free));
    /* Parameters of another type are the first mistake. */
    const CUDA_MEMSET_NODE_PARAMS fill = fill_params(text_memory[0], 1, 4, 1);
    CUgraphNodeParams other = {.type = CU_GRAPH_NODE_TYPE_HOST};
    other.host.fn = text_nothing;
    REFUSED(INVALID_VALUE,
            cu.cuGraphExecMemsetNodeSetParams(exec, alloc, &fill, text_context));
    REFUSED(INVALID_VALUE, cu.cuGraphExecNodeSetParams(exec, release, &other));
    REFUSED(INVALID_VALUE, cu.cuGraphNodeSetParams(alloc, &other));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* ---- child graphs ---- */

static void a_child_graph_takes_new_parameters(void)
{
    const text_graph graph = text_build("g1"), same = text_build("l1 m2<l1");
    CUgraphExec exec = instantiate(&graph);
    OK(cu.cuGraphExecChildGraphNodeSetParams(exec, graph.nodes[0], same.graph));
    OK(cu.cuMemsetD32Async(text_memory[0], 42, 1, stream));
    CHECK(launch(exec) == 0x01010101); /* what the fill writes */
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
    OK(cu.cuGraphDestroy(same.graph));
}

static void a_child_graph_keeps_its_order_of_creation(void)
{
    static const char *const wrong[] = {"k1 m2", "m1 k2 +k2>m1", "k1 m2<k1 k3<m2", "k1"};
    const text_graph graph = text_build("g1");
    CUgraphExec exec = instantiate(&graph);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const text_graph other = text_build(wrong[i]);
        REFUSED(GRAPH_EXEC_UPDATE_FAILURE,
                cu.cuGraphExecChildGraphNodeSetParams(exec, graph.nodes[0], other.graph));
        OK(cu.cuGraphDestroy(other.graph));
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
}

/* A parent with a child graph of `from`, whose executable gets one of `to`. */
static CUresult set_child(const char *from, const char *to)
{
    const text_graph inner = text_build(from), other = text_build(to);
    CUgraph parent;
    CUgraphNode node;
    CUgraphExec exec;
    OK(cu.cuGraphCreate(&parent, 0));
    OK(cu.cuGraphAddChildGraphNode(&node, parent, NULL, 0, inner.graph));
    OK(cu.cuGraphInstantiateWithFlags(&exec, parent, 0));
    const CUresult result =
        cu.cuGraphExecChildGraphNodeSetParams(exec, node, other.graph);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(parent));
    OK(cu.cuGraphDestroy(inner.graph));
    OK(cu.cuGraphDestroy(other.graph));
    return result;
}

/* Where an update follows the order of dependencies and sinks. */
static void a_child_graph_is_paired_by_creation(void)
{
    static const char from[] = "k1 m2 k3<k1,m2";
    OK(set_child(from, from));
    OK(set_child(from, "k1 m2 k3<m2,k1"));
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, set_child(from, "m2 k1 k3<k1,m2"));
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, set_child(from, "k1 m2 k3<k1"));
    OK(set_child("k1 m2<k1", "k1 m2 +k1>m2"));
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, set_child("k1 m2", "m2 k1"));
    OK(set_child("k1 k2<k1 k3<k1", "k1 k3<k1 k2<k1"));
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, set_child("k1 k2<k1 m3<k1", "k1 m3<k1 k2<k1"));
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, set_child("k1 n2<k1", "k1 N2<k1"));
    OK(set_child("g1 k2<g1", "g1 k2<g1"));
}

/* Graphs that belong to a node may be read, too. */
static void a_child_graph_may_come_from_a_node(void)
{
    const text_graph graph = text_build("g1"), kid = text_build("k1 m2<k1");
    CUgraphExec exec = instantiate(&graph);
    CUgraph child, parent;
    CUgraphNode node;
    CUgraphNodeParams move = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    OK(cu.cuGraphChildGraphNodeGetGraph(graph.nodes[0], &child));
    OK(cu.cuGraphExecChildGraphNodeSetParams(exec, graph.nodes[0], child));
    move.graph.graph = kid.graph;
    move.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    OK(cu.cuGraphCreate(&parent, 0));
    OK(cu.cuGraphAddNode(&node, parent, NULL, NULL, 0, &move));
    OK(cu.cuGraphExecChildGraphNodeSetParams(exec, graph.nodes[0], kid.graph));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(parent));
    OK(cu.cuGraphDestroy(graph.graph));
}

static void a_child_graph_has_sinks_in_their_order(void)
{
    const text_graph kid = text_build("k1 m2");
    CUgraph parent, child;
    CUgraphNode node, none, inside[2];
    CUgraphExec exec;
    size_t count = 2;
    OK(cu.cuGraphCreate(&parent, 0));
    OK(cu.cuGraphAddChildGraphNode(&node, parent, NULL, 0, kid.graph));
    OK(cu.cuGraphChildGraphNodeGetGraph(node, &child));
    OK(cu.cuGraphGetNodes(child, inside, &count));
    OK(cu.cuGraphInstantiateWithFlags(&exec, parent, 0));
    OK(cu.cuGraphExecChildGraphNodeSetParams(exec, node, child));
    const CUgraphNode twice[2] = {inside[0], inside[0]};
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(&none, child, twice, 2));
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE,
            cu.cuGraphExecChildGraphNodeSetParams(exec, node, child));
    OK(cu.cuGraphExecChildGraphNodeSetParams(exec, node, kid.graph));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(parent));
    OK(cu.cuGraphDestroy(kid.graph));
}

static void nodes_inside_a_child_graph_are_set_by_its_handle(void)
{
    const text_graph graph = text_build("g1");
    CUgraphExec exec = instantiate(&graph);
    CUgraph child;
    CUgraphNode inside[2];
    CUgraphNodeType type;
    size_t count = 2;
    OK(cu.cuGraphChildGraphNodeGetGraph(graph.nodes[0], &child));
    OK(cu.cuGraphGetNodes(child, inside, &count));
    for (size_t i = 0; i < count; i++) {
        OK(cu.cuGraphNodeGetType(inside[i], &type));
        if (type == CU_GRAPH_NODE_TYPE_MEMSET)
            OK(cu.cuGraphNodeSetEnabled(exec, inside[i], 0));
        else
            OK(set_kernel(exec, inside[i], 33));
    }
    CHECK(launch(exec) == 33);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
}

/* ---- switched off ---- */

static void only_some_nodes_can_be_switched_off(void)
{
    const text_graph graph = text_build("k1 m2<k1 c3<m2 e4 h5 r6 w7 g8");
    CUgraphExec exec = instantiate(&graph);
    for (int i = 0; i < graph.count; i++) {
        unsigned enabled = 77;
        const CUresult code = i < 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
        CHECK_IS(cu.cuGraphNodeGetEnabled(exec, graph.nodes[i], &enabled), code);
        CHECK(enabled == (i < 3 ? 1 : 77));
        CHECK_IS(cu.cuGraphNodeSetEnabled(exec, graph.nodes[i], 0), code);
        CHECK_IS(cu.cuGraphNodeSetEnabled(exec, graph.nodes[i], 5), code);
        CHECK_IS(cu.cuGraphNodeGetEnabled(exec, graph.nodes[i], &enabled), code);
        CHECK(enabled == (i < 3 ? 1 : 77));
    }
    REFUSED(INVALID_VALUE, cu.cuGraphNodeGetEnabled(exec, graph.nodes[0], NULL));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
}

static void a_node_that_is_off_does_nothing(void)
{
    const text_graph graph = text_build("k1 k2<k1"), other = text_build("k1 k2<k1");
    CUgraphExec exec = instantiate(&graph);
    CUgraphExecUpdateResultInfo info;
    unsigned enabled = 77;
    OK(set_kernel(exec, graph.nodes[0], 1));
    OK(set_kernel(exec, graph.nodes[1], 2));
    CHECK(launch(exec) == 2);
    OK(cu.cuGraphNodeSetEnabled(exec, graph.nodes[1], 0));
    CHECK(launch(exec) == 1);
    OK(set_kernel(exec, graph.nodes[1], 3));
    CHECK(launch(exec) == 1);
    OK(cu.cuGraphNodeSetEnabled(exec, graph.nodes[1], 1));
    CHECK(launch(exec) == 3);
    OK(cu.cuGraphNodeSetEnabled(exec, graph.nodes[1], 0));
    OK(cu.cuGraphNodeSetEnabled(exec, graph.nodes[0], 0));
    OK(cu.cuMemsetD32Async(text_memory[0], 99, 1, stream));
    CHECK(launch(exec) == 99);
    OK(cu.cuGraphExecUpdate(exec, other.graph, &info));
    OK(cu.cuGraphNodeGetEnabled(exec, graph.nodes[1], &enabled));
    CHECK(enabled == 0);
    CHECK(launch(exec) == 99);
    OK(cu.cuGraphNodeSetEnabled(exec, graph.nodes[1], 1));
    CHECK(launch(exec) == 5);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
    OK(cu.cuGraphDestroy(other.graph));
}

static void run(void)
{
    if (!rule_listing) {
        text_start();
        OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    }
    RULE_TEST(R16, memory_nodes_have_no_setter);
    RULE_TEST(R69h, only_some_nodes_can_be_switched_off);
    RULE_TEST(R69h, a_node_that_is_off_does_nothing);
    RULE_TEST(R69i, setters_want_nodes_of_the_own_graph);
    RULE_TEST(R69i, two_executable_graphs_share_the_nodes);
    RULE_TEST(R69i, removed_nodes_are_refused);
    RULE_TEST(R69i, an_update_does_not_change_which);
    RULE_TEST(R69i, clones_have_nodes_of_their_own);
    RULE_TEST(R69i, setters_want_their_type);
    RULE_TEST(R69i, the_generic_setter_takes_every_type);
    RULE_TEST(R69k, a_child_graph_takes_new_parameters);
    RULE_TEST(R69k, a_child_graph_keeps_its_order_of_creation);
    RULE_TEST(R69k, a_child_graph_is_paired_by_creation);
    RULE_TEST(R69k, a_child_graph_may_come_from_a_node);
    RULE_TEST(M_child_sinks, a_child_graph_has_sinks_in_their_order);
    RULE_TEST(R69k, nodes_inside_a_child_graph_are_set_by_its_handle);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
