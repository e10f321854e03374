// SPDX-License-Identifier: Apache-2.0
/* R78, R69b: which kernel nodes are ones that kernels change, and what their graphs are. Each
 * step that a driver may take badly is a test by itself: one crashed an H100's driver. */
#include "device_nodes.h"

static void the_attribute_stays(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = marks(graph, NULL, 1), plain = marks(graph, NULL, 2);
    CUlaunchAttributeValue value;
    CUgraphDeviceNode again = NULL;
    REFUSED(INVALID_VALUE, set_attribute(node, 2, NULL));
    REFUSED(INVALID_VALUE, set_attribute(node, -1, NULL));
    OK(set_attribute(plain, 0, NULL));
    const CUgraphDeviceNode handle = updatable(node);
    OK(set_attribute(node, 1, &again));
    CHECK(again == handle);
    OK(cu.cuGraphKernelNodeGetAttribute(node, UPDATABLE, &value));
    CHECK(value.deviceUpdatableKernelNode.deviceUpdatable == 1);
    CHECK(value.deviceUpdatableKernelNode.devNode == handle);
    CHECK(updatable(marks(graph, NULL, 3)) != handle);
    REFUSED(NOT_SUPPORTED, set_attribute(node, 0, NULL));
    REFUSED(NOT_SUPPORTED, cu.cuGraphKernelNodeCopyAttributes(node, plain));
    REFUSED(NOT_SUPPORTED, cu.cuGraphKernelNodeCopyAttributes(plain, node));
    REFUSED(NOT_SUPPORTED, cu.cuGraphDestroyNode(node));
    OK(cu.cuGraphDestroyNode(plain));
    OK(cu.cuGraphKernelNodeGetAttribute(node, UPDATABLE, &value));
    CHECK(value.deviceUpdatableKernelNode.devNode == handle);
    OK(cu.cuGraphDestroy(graph));
}

static void the_graph_is_not_cloned(void)
{
    struct target t = target_of(7, false);
    CUgraph copy = NULL;
    REFUSED(NOT_SUPPORTED, cu.cuGraphClone(&copy, t.graph));
    drop(&t);
}

static void there_is_one_executable(void)
{
    struct target t = target_of(7, false);
    CUgraphExec second = NULL;
    REFUSED(NOT_SUPPORTED, cu.cuGraphInstantiateWithFlags(&second, t.graph, 0));
    clear();
    launch_and_wait(t.exec);
    LOGGED(7);
    drop(&t);
}

static void what_a_refused_second_one_names(void)
{
    struct target t = target_of(7, false);
    CUgraphExec second = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = 0};
    REFUSED(NOT_SUPPORTED, cu.cuGraphInstantiateWithParams(&second, t.graph, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_ERROR && !params.hErrNode_out);
    clear();
    launch_and_wait(t.exec);
    LOGGED(7);
    drop(&t);
}

/* tries: refused ones, while the first is there. */
static void replace_the_executable(unsigned tries, bool run_first)
{
    struct target t = target_of(7, false);
    CUgraphExec second = NULL;
    clear();
    if (run_first)
        launch_and_wait(t.exec);
    for (unsigned i = 0; i < tries; i++)
        REFUSED(NOT_SUPPORTED, cu.cuGraphInstantiateWithFlags(&second, t.graph, 0));
    OK(cu.cuGraphExecDestroy(t.exec));
    t.exec = instantiate(t.graph);
    launch_and_wait(t.exec);
    if (run_first)
        LOGGED(7, 7);
    else
        LOGGED(7);
    drop(&t);
}

static void one_may_follow_another(void)
{
    replace_the_executable(0, true);
}

static void one_may_follow_one_that_never_ran(void)
{
    replace_the_executable(0, false);
}

static void one_may_follow_refused_ones(void)
{
    replace_the_executable(2, true);
}

/* The first has no launch and no upload when others are refused, and goes. */
static void one_may_follow_refused_ones_at_once(void)
{
    replace_the_executable(2, false);
}

/* A parent with a copy of the target's graph, and its executable if there is one. NVIDIA's
 * driver crashes when the second of the two graphs is destroyed: there both stay. */
static void drop_both(const struct target *t, CUgraph parent, CUgraphExec exec)
{
    OK(cu.cuCtxSynchronize());
    if (!driver_is_soft)
        return;
    if (exec)
        OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(parent));
    drop(t);
}

static void children_are_added(void)
{
    struct target t = target_of(7, true);
    CUgraph parent = new_graph();
    CUgraphNode child = NULL;
    OK(cu.cuGraphAddChildGraphNode(&child, parent, NULL, 0, t.graph));
    clear();
    launch_and_wait(t.exec);
    LOGGED(7);
    drop_both(&t, parent, NULL);
}

static void children_are_instantiated(void)
{
    struct target t = target_of(7, true);
    CUgraph parent = new_graph();
    CUgraphNode child = NULL;
    OK(cu.cuGraphAddChildGraphNode(&child, parent, NULL, 0, t.graph));
    drop_both(&t, parent, instantiate(parent));
}

/* ahead: the copy is taken from a graph that has no executable yet. */
static void run_as_a_child(bool ahead)
{
    struct target t = {.graph = new_graph()};
    CUgraph parent = new_graph();
    CUgraphNode child = NULL;
    t.node = marks(t.graph, NULL, 7);
    t.handle = updatable(t.node);
    if (!ahead)
        t.exec = instantiate(t.graph);
    OK(cu.cuGraphAddChildGraphNode(&child, parent, NULL, 0, t.graph));
    if (ahead)
        t.exec = instantiate(t.graph);
    CUgraphExec exec = instantiate(parent);
    clear();
    launch_and_wait(exec);
    LOGGED(7);
    launch_and_wait(t.exec);
    LOGGED(7, 7);
    drop_both(&t, parent, exec);
}

static void children_run(void)
{
    run_as_a_child(false);
}

static void children_run_that_were_added_ahead(void)
{
    run_as_a_child(true);
}

static void children_run_where_the_first_is_gone(void)
{
    if (!driver_is_soft)
        SKIP("NVIDIA's driver crashes");
    CUgraph graph = new_graph(), parent = new_graph();
    CUgraphNode child = NULL;
    updatable(marks(graph, NULL, 7));
    OK(cu.cuGraphAddChildGraphNode(&child, parent, NULL, 0, graph));
    OK(cu.cuGraphDestroy(graph));
    CUgraphExec exec = instantiate(parent);
    clear();
    launch_and_wait(exec);
    LOGGED(7);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(parent));
}

static void a_copy_has_its_handle(void)
{
    struct target t = target_of(7, false);
    CUgraph parent = new_graph(), inner = NULL;
    CUgraphNode child = NULL, node = NULL;
    CUlaunchAttributeValue value;
    size_t count = 1;
    memset(&value, 0, sizeof(value));
    OK(cu.cuGraphAddChildGraphNode(&child, parent, NULL, 0, t.graph));
    OK(cu.cuGraphChildGraphNodeGetGraph(child, &inner));
    OK(cu.cuGraphGetNodes(inner, &node, &count));
    OK(cu.cuGraphKernelNodeGetAttribute(node, UPDATABLE, &value));
    CHECK(value.deviceUpdatableKernelNode.deviceUpdatable == 1);
    CHECK(value.deviceUpdatableKernelNode.devNode == t.handle);
    REFUSED(NOT_SUPPORTED, set_attribute(node, 0, NULL));
    drop_both(&t, parent, NULL);
}

/* Two executables have a node of that handle: kernels change that of the one which came to the
 * device last. Another upload of the other one does not bring it back: it is there already. */
static void a_handle_is_of_the_last_first_upload(void)
{
    struct target t = target_of(7, true);
    CUgraph parent = new_graph();
    CUgraphNode child = NULL;
    OK(cu.cuGraphAddChildGraphNode(&child, parent, NULL, 0, t.graph));
    CUgraphExec exec = instantiate(parent), setter = setter_of(t.handle, 8);
    OK(cu.cuGraphUpload(exec, stream));
    clear();
    launch_and_wait(setter);
    ANSWERED(0, 0);
    launch_and_wait(exec);
    launch_and_wait(t.exec);
    LOGGED(8, 7);
    value_of(0, 9);
    launch_and_wait(setter);
    launch_and_wait(exec);
    launch_and_wait(t.exec);
    LOGGED(8, 7, 9, 7);
    OK(cu.cuGraphUpload(t.exec, stream));
    launch_and_wait(setter);
    launch_and_wait(exec);
    launch_and_wait(t.exec);
    LOGGED(8, 7, 9, 7, 9, 7);
    OK(cu.cuGraphExecDestroy(setter));
    drop_both(&t, parent, exec);
}

/* What R78 says of a graph with such a node does not go for a graph with that as a child. */
static void parents_are_as_others(void)
{
    struct target t = target_of(7, false);
    CUgraph parent = new_graph(), copy = NULL;
    CUgraphNode child = NULL;
    OK(cu.cuGraphAddChildGraphNode(&child, parent, NULL, 0, t.graph));
    CUgraphExec first = instantiate(parent), second = instantiate(parent);
    OK(cu.cuGraphClone(&copy, parent));
    clear();
    launch_and_wait(first);
    launch_and_wait(second);
    LOGGED(7, 7);
    if (driver_is_soft) {
        OK(cu.cuGraphExecDestroy(second));
        OK(cu.cuGraphDestroy(copy));
    }
    drop_both(&t, parent, first);
}

static void parents_are_updated(void)
{
    struct target t = {.graph = new_graph()};
    CUgraph plain = new_graph(), parents[2] = {new_graph(), new_graph()};
    CUgraphExec execs[2];
    CUgraphExecUpdateResultInfo info;
    updatable(marks(t.graph, NULL, 7));
    marks(plain, NULL, 8);
    for (int i = 0; i < 2; i++) {
        CUgraphNode child = NULL;
        OK(cu.cuGraphAddChildGraphNode(&child, parents[i], NULL, 0,
                                       i == 0 ? t.graph : plain));
        execs[i] = instantiate(parents[i]);
    }
    const int steps[][2] = {{0, 1}, {1, 0}, {0, 0}}; /* executable, graph */
    for (int i = 0; i < 3; i++) {
        info.result = CU_GRAPH_EXEC_UPDATE_ERROR;
        OK(cu.cuGraphExecUpdate(execs[steps[i][0]], parents[steps[i][1]], &info));
        CHECK(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    }
    clear();
    launch_and_wait(execs[0]);
    launch_and_wait(execs[1]);
    LOGGED(7, 7);
    OK(cu.cuGraphExecDestroy(execs[1]));
    OK(cu.cuGraphDestroy(parents[1]));
    OK(cu.cuGraphDestroy(plain));
    drop_both(&t, parents[0], execs[0]);
}

/* Of an executable's child graph: its node stays what it was. */
static void children_are_exchanged(void)
{
    if (!driver_is_soft)
        SKIP("NVIDIA's driver frees the node twice where two graphs have it");
    CUgraph graphs[2] = {new_graph(), new_graph()}, parents[2];
    CUgraphExec execs[2];
    CUgraphNode children[2];
    updatable(marks(graphs[0], NULL, 7));
    marks(graphs[1], NULL, 8);
    for (int i = 0; i < 2; i++) {
        parents[i] = new_graph();
        OK(cu.cuGraphAddChildGraphNode(&children[i], parents[i], NULL, 0, graphs[i]));
        execs[i] = instantiate(parents[i]);
    }
    for (int i = 0; i < 2; i++)
        OK(cu.cuGraphExecChildGraphNodeSetParams(execs[i], children[i], graphs[1 - i]));
    clear();
    for (int i = 0; i < 2; i++) {
        OK(cu.cuGraphUpload(execs[i], stream));
        launch_and_wait(execs[i]);
    }
    LOGGED(8, 7);
    for (int i = 0; i < 2; i++) {
        OK(cu.cuGraphExecDestroy(execs[i]));
        OK(cu.cuGraphDestroy(parents[i]));
        OK(cu.cuGraphDestroy(graphs[i]));
    }
}

static void captured_launches_have_it(void)
{
    CUgraph graph;
    unsigned seven = 7;
    void *args[] = {&log_, &seven};
    CUlaunchAttribute attribute = {.id = UPDATABLE};
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream,
                             .attrs = &attribute,
                             .numAttrs = 1};
    attribute.value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    clear();
    REFUSED(NOT_SUPPORTED, cu.cuLaunchKernelEx(&config, function("mark"), args, NULL));
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cu.cuLaunchKernelEx(&config, function("mark"), args, NULL));
    OK(cu.cuStreamEndCapture(stream, &graph));
    const CUgraphDeviceNode handle = attribute.value.deviceUpdatableKernelNode.devNode;
    CUgraphNode node = NULL;
    CUlaunchAttributeValue value;
    size_t count = 1;
    OK(cu.cuGraphGetNodes(graph, &node, &count));
    OK(cu.cuGraphKernelNodeGetAttribute(node, UPDATABLE, &value));
    CHECK(handle && value.deviceUpdatableKernelNode.devNode == handle);
    CUgraphExec exec = instantiate_and_drop(graph), setter = setter_of(handle, 8);
    launch_and_wait(exec);
    launch_and_wait(setter);
    ANSWERED(0, 0);
    launch_and_wait(exec);
    LOGGED(7, 8);
    OK(cu.cuGraphExecDestroy(setter));
    OK(cu.cuGraphExecDestroy(exec));
}

/* An executable from before does not know it, and the graph has another one. */
static void nodes_become_it_later(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = marks(graph, NULL, 1);
    CUgraphExec before = instantiate(graph);
    const CUgraphDeviceNode handle = updatable(node);
    CUgraphExec setter = setter_of(handle, 8);
    clear();
    OK(cu.cuGraphUpload(before, stream));
    launch_and_wait(setter);
    ANSWERED(0, 1);
    launch_and_wait(before);
    LOGGED(1);
    CUgraphExec after = instantiate(graph);
    launch_and_wait(after);
    launch_and_wait(setter);
    ANSWERED(0, 0);
    launch_and_wait(after);
    LOGGED(1, 1, 8);
    OK(set_attribute(marks(graph, NULL, 2), 1, NULL));
    OK(cu.cuGraphExecDestroy(setter));
    OK(cu.cuGraphExecDestroy(before));
    OK(cu.cuGraphExecDestroy(after));
    OK(cu.cuGraphDestroy(graph));
}

static void updates_leave_it_out(void)
{
    struct target t = target_of(7, false);
    CUgraph plain = new_graph();
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    marks(plain, NULL, 8);
    CUgraphExec exec = instantiate(plain);
    REFUSED(NOT_SUPPORTED, cu.cuGraphExecUpdate(t.exec, plain, &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS && !info.errorNode);
    info.result = CU_GRAPH_EXEC_UPDATE_ERROR;
    REFUSED(NOT_SUPPORTED, cu.cuGraphExecUpdate(exec, t.graph, &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS && !info.errorNode);
    clear();
    launch_and_wait(exec);
    launch_and_wait(t.exec);
    LOGGED(8, 7);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(plain));
    drop(&t);
}

static void run(void)
{
    if (!rule_listing)
        set_up();
    RULE_TEST(R78, the_attribute_stays);
    RULE_TEST(R78, the_graph_is_not_cloned);
    RULE_TEST(R78, there_is_one_executable);
    RULE_TEST(R78, what_a_refused_second_one_names);
    RULE_TEST(R78, one_may_follow_another);
    RULE_TEST(R78, one_may_follow_one_that_never_ran);
    RULE_TEST(R78, one_may_follow_refused_ones);
    RULE_TEST(R78, one_may_follow_refused_ones_at_once);
    RULE_TEST(R78, children_are_added);
    RULE_TEST(R78, children_are_instantiated);
    RULE_TEST(R78, children_run);
    RULE_TEST(R78, children_run_that_were_added_ahead);
    RULE_TEST(R78, children_run_where_the_first_is_gone);
    RULE_TEST(M_updatable_copy, a_copy_has_its_handle);
    RULE_TEST(M_updatable_copy, a_handle_is_of_the_last_first_upload);
    RULE_TEST(M_updatable_copy, parents_are_as_others);
    RULE_TEST(M_updatable_copy, parents_are_updated);
    RULE_TEST(M_updatable_copy, children_are_exchanged);
    RULE_TEST(R78, captured_launches_have_it);
    RULE_TEST(R78, nodes_become_it_later);
    RULE_TEST(R69b, updates_leave_it_out);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
