// SPDX-License-Identifier: Apache-2.0
/* R61-R63: child graphs, copied and moved; and what is not deleted. */
#include "graphs.h"

static struct kernels k;

static CUgraphNode store_node(CUgraph graph, CUdeviceptr address, unsigned value)
{
    CUgraphNode node = NULL;
    void *args[] = {&address, &value};
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(k.store, args);
    OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    return node;
}

static CUresult move_into(CUgraphNode *node, CUgraph parent, CUgraph child)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = child;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    return cu.cuGraphAddNode(node, parent, NULL, NULL, 0, &params);
}

static bool can_move(void)
{
    CUgraph parent = new_graph(), child = new_graph();
    CUgraphNode node;
    const bool can = move_into(&node, parent, child) == CUDA_SUCCESS;
    OK(cu.cuGraphDestroy(parent));
    if (!can)
        OK(cu.cuGraphDestroy(child));
    return can;
}

static void a_child_is_a_copy(void)
{
    CUdeviceptr words = new_words();
    CUgraph child = new_graph(), parent = new_graph(), inner = NULL;
    CUgraphNode node, copy;
    CUgraphNode original = store_node(child, words, 1);
    OK(cu.cuGraphAddChildGraphNode(&node, parent, NULL, 0, child));
    store_node(child, words + 4, 1); /* comes too late */
    OK(cu.cuGraphChildGraphNodeGetGraph(node, &inner));
    CHECK(inner != child && node_count(inner) == 1);
    OK(cu.cuGraphNodeFindInClone(&copy, original, inner));
    store_node(inner, words + 8, 1); /* shows */
    OK(cu.cuGraphDestroy(child));
    run_graph(parent);
    CHECK(word_at(words) == 1 && word_at(words + 4) == 0 && word_at(words + 8) == 1);
    REFUSED(INVALID_VALUE, cu.cuGraphDestroy(inner));
    OK(cu.cuGraphDestroy(parent));
    OK(cu.cuMemFree(words));
}

/* One path through a child, and a child of a child. */
static void children_keep_their_place(void)
{
    CUdeviceptr words = new_words();
    CUgraph innermost = new_graph(), middle = new_graph(), top = new_graph();
    CUgraphNode first, inside, outside, last;
    store_node(innermost, words, 2);
    OK(cu.cuGraphAddChildGraphNode(&inside, middle, NULL, 0, innermost));
    last = store_node(top, words, 3);
    OK(cu.cuGraphAddChildGraphNode(&outside, top, NULL, 0, middle));
    first = store_node(top, words, 1);
    OK(cu.cuGraphAddDependencies(top, &first, &outside, NULL, 1));
    OK(cu.cuGraphAddDependencies(top, &outside, &last, NULL, 1));
    run_graph(top);
    CHECK(word_at(words) == 3);
    OK(cu.cuGraphDestroy(innermost));
    OK(cu.cuGraphDestroy(middle));
    OK(cu.cuGraphDestroy(top));
    OK(cu.cuMemFree(words));
}

static void memory_nodes_are_not_copied_into_a_child(void)
{
    if (!has_memory_nodes()) {
        SKIP("no memory nodes");
        return;
    }
    CUgraph child = new_graph(), parent = new_graph();
    CUgraphNode node = UNTOUCHED;
    alloc_node(child);
    REFUSED(NOT_SUPPORTED, cu.cuGraphAddChildGraphNode(&node, parent, NULL, 0, child));
    CHECK(node == UNTOUCHED && node_count(parent) == 0);
    if (can_move()) { /* nor into itself */
        OK(move_into(&node, parent, child));
        CUgraphNode again = UNTOUCHED;
        REFUSED(NOT_SUPPORTED,
                cu.cuGraphAddChildGraphNode(&again, child, NULL, 0, child));
        CHECK(again == UNTOUCHED && node_count(child) == 1);
    } else {
        OK(cu.cuGraphDestroy(child));
    }
    OK(cu.cuGraphDestroy(parent));
}

static void a_moved_child_belongs_to_its_parent(void)
{
    if (!can_move()) {
        SKIP("the driver is older than 12.9");
        return;
    }
    CUdeviceptr words = new_words();
    CUgraph child = new_graph(), parent = new_graph(), other = new_graph(), got = NULL;
    CUgraphNode node, again = UNTOUCHED;
    CUgraphExec exec = NULL;
    store_node(child, words, 1);
    OK(move_into(&node, parent, child));
    OK(cu.cuGraphChildGraphNodeGetGraph(node, &got));
    CHECK(got == child);
    REFUSED(NOT_SUPPORTED, cu.cuGraphInstantiateWithFlags(&exec, child, 0));
    REFUSED(INVALID_VALUE, cu.cuGraphDestroy(child));
    REFUSED(NOT_SUPPORTED, move_into(&again, other, child));
    REFUSED(NOT_SUPPORTED, cu.cuGraphAddChildGraphNode(&again, other, NULL, 0, child));
    CHECK(again == UNTOUCHED && exec == NULL && node_count(other) == 0);
    store_node(child, words + 4, 2); /* it can still be edited */
    run_graph(parent);
    CHECK(word_at(words) == 1 && word_at(words + 4) == 2);
    OK(cu.cuGraphDestroy(parent));
    OK(cu.cuGraphDestroy(other));
    OK(cu.cuMemFree(words));
}

static void memory_with_an_executable_is_not_moved(void)
{
    if (!can_move() || !has_memory_nodes()) {
        SKIP("the driver is older than 12.9");
        return;
    }
    CUgraph child = new_graph(), parent = new_graph();
    CUgraphNode node = UNTOUCHED;
    alloc_node(child);
    CUgraphExec exec = instantiate(child);
    REFUSED(NOT_SUPPORTED, move_into(&node, parent, child));
    CHECK(node == UNTOUCHED && node_count(parent) == 0);
    OK(cu.cuGraphExecDestroy(exec));
    OK(move_into(&node, parent, child));
    OK(cu.cuGraphDestroy(parent));
}

/* Before anything else about the call is looked at. */
static void edges_of_memory_graphs_stay(void)
{
    if (!has_memory_nodes()) {
        SKIP("no memory nodes");
        return;
    }
    CUgraph graph = new_graph();
    CUgraphNode alloc = alloc_node(graph), other = empty_node(graph);
    REFUSED(NOT_SUPPORTED, cu.cuGraphRemoveDependencies(graph, NULL, NULL, NULL, 0));
    REFUSED(NOT_SUPPORTED, cu.cuGraphRemoveDependencies(graph, NULL, NULL, NULL, 1));
    REFUSED(NOT_SUPPORTED,
            cu.cuGraphRemoveDependencies(graph, &alloc, &other, NULL, 1)); /* no edge */
    OK(cu.cuGraphAddDependencies(graph, &alloc, &other, NULL, 1));
    REFUSED(NOT_SUPPORTED, cu.cuGraphRemoveDependencies(graph, &alloc, &other, NULL, 1));
    CHECK(edge_count(graph) == 1);
    OK(cu.cuGraphDestroy(graph));
}

static void a_graph_that_captures_can_be_moved(void)
{
    if (!can_move()) {
        SKIP("the driver is older than 12.9");
        return;
    }
    CUgraph child = new_graph(), parent = new_graph(), got = NULL;
    CUgraphNode node;
    CUstream stream;
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamBeginCaptureToGraph(stream, child, NULL, NULL, 0,
                                      CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(move_into(&node, parent, child));
    OK(cu.cuStreamEndCapture(stream, &got));
    CHECK(got == child);
    REFUSED(INVALID_VALUE, cu.cuGraphDestroy(child));
    OK(cu.cuStreamDestroy(stream));
    OK(cu.cuGraphDestroy(parent));
}

/* Every other value of ownership means a copy. */
static void a_graph_is_not_its_own_child(void)
{
    CUgraph child = new_graph(), parent = new_graph(), got = NULL;
    CUgraphNode node = UNTOUCHED;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = child;
    params.graph.ownership = (CUgraphChildGraphNodeOwnership)2;
    OK(cu.cuGraphAddNode(&node, parent, NULL, NULL, 0, &params));
    OK(cu.cuGraphChildGraphNodeGetGraph(node, &got));
    CHECK(got != child);
    if (driver_is_soft) { /* the real one crashes */
        REFUSED(INVALID_VALUE,
                cu.cuGraphAddChildGraphNode(&node, parent, NULL, 0, parent));
        REFUSED(INVALID_VALUE, move_into(&node, parent, parent));
    }
    OK(cu.cuGraphDestroy(child));
    OK(cu.cuGraphDestroy(parent));
}

/* Neither into itself nor into what it contains: the tree stays a tree. */
static void a_parent_is_not_moved_into_its_child(void)
{
    if (!driver_is_soft) {
        SKIP("the real driver may crash");
        return;
    }
    CUgraph child = new_graph(), parent = new_graph();
    CUgraphNode node, again = UNTOUCHED;
    OK(move_into(&node, parent, child));
    REFUSED(INVALID_VALUE, move_into(&again, child, parent));
    CHECK(again == UNTOUCHED);
    OK(cu.cuGraphDestroy(parent));
}

static void run(void)
{
    if (!rule_listing)
        k = load_kernels();
    RULE_TEST(R61, a_child_is_a_copy);
    RULE_TEST(R61, children_keep_their_place);
    RULE_TEST(R62, memory_nodes_are_not_copied_into_a_child);
    RULE_TEST(R63, a_moved_child_belongs_to_its_parent);
    RULE_TEST(R63, a_graph_that_captures_can_be_moved);
    RULE_TEST(R63, a_graph_is_not_its_own_child);
    RULE_TEST(R63, a_parent_is_not_moved_into_its_child);
    RULE_TEST(M_move_exec, memory_with_an_executable_is_not_moved);
    RULE_TEST(R48, edges_of_memory_graphs_stay);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
