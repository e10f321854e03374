// SPDX-License-Identifier: Apache-2.0
/* R1-R14: nodes, dependencies, edges, lists. */
#include "graphs.h"

static struct kernels k;

static void no_dependencies_make_a_root(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = empty_node(graph), other = UNTOUCHED, roots[2];
    size_t count = 2;
    OK(cu.cuGraphGetRootNodes(graph, roots, &count));
    CHECK(count == 1 && roots[0] == node);
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(&other, graph, NULL, 1));
    CHECK(other == UNTOUCHED && node_count(graph) == 1);
    OK(cu.cuGraphAddEmptyNode(&other, graph, &node, 0));
    count = 2;
    OK(cu.cuGraphGetRootNodes(graph, roots, &count));
    CHECK(count == 2 && roots[0] == other && roots[1] == node); /* the last one first */
    OK(cu.cuGraphDestroy(graph));
}

static void dependencies_are_named_once(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = empty_node(graph), twice[] = {node, node}, other = UNTOUCHED;
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(&other, graph, twice, 2));
    CHECK(other == UNTOUCHED && node_count(graph) == 1 && edge_count(graph) == 0);
    OK(cu.cuGraphDestroy(graph));
}

static void many_dependencies_are_named_once(void)
{
    enum { MANY = 100 };
    CUgraph graph = new_graph();
    CUgraphNode nodes[MANY], other = UNTOUCHED;
    for (int i = 0; i < MANY; i++)
        nodes[i] = empty_node(graph);
    CUgraphNode kept = nodes[MANY - 1];
    nodes[MANY - 1] = nodes[3];
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(&other, graph, nodes, MANY));
    nodes[MANY - 1] = kept;
    OK(cu.cuGraphAddEmptyNode(&other, graph, nodes, MANY));
    CHECK(edge_count(graph) == MANY);
    OK(cu.cuGraphDestroy(graph));
}

static void edges_stay_in_one_graph(void)
{
    CUgraph graph = new_graph(), elsewhere = new_graph();
    CUgraphNode a = empty_node(graph), b = empty_node(graph), far = empty_node(elsewhere);
    CUgraphNode both[] = {a, far}, other = UNTOUCHED;
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(&other, graph, both, 2));
    REFUSED(INVALID_VALUE, cu.cuGraphAddDependencies(graph, &a, &far, NULL, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphAddDependencies(graph, &far, &a, NULL, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphAddDependencies(elsewhere, &a, &b, NULL, 1));
    CHECK(edge_count(graph) == 0 && edge_count(elsewhere) == 0);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(elsewhere));
}

static void an_edge_is_added_once(void)
{
    CUgraph graph = new_graph();
    CUgraphNode a = empty_node(graph), b = empty_node(graph);
    OK(cu.cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphAddDependencies(graph, &a, &a, NULL, 1));
    CHECK(edge_count(graph) == 1);
    OK(cu.cuGraphDestroy(graph));
}

/* A self edge is found before any is added; an edge that exists only when it is its turn.
 */
static void what_stays_of_edges_refused(void)
{
    CUgraph graph = new_graph();
    CUgraphNode a = empty_node(graph), b = empty_node(graph);
    CUgraphNode from[] = {a, a}, itself[] = {b, a}, again[] = {b, b};
    REFUSED(INVALID_VALUE, cu.cuGraphAddDependencies(graph, from, itself, NULL, 2));
    CHECK(edge_count(graph) == 0);
    REFUSED(INVALID_VALUE, cu.cuGraphAddDependencies(graph, from, again, NULL, 2));
    CHECK(edge_count(graph) == 1);
    OK(cu.cuGraphDestroy(graph));
}

static void no_edges_need_no_arrays(void)
{
    CUgraph graph = new_graph();
    CUgraphNode a = empty_node(graph);
    OK(cu.cuGraphAddDependencies(graph, NULL, NULL, NULL, 0));
    OK(cu.cuGraphAddDependencies(graph, &a, NULL, NULL, 0));
    OK(cu.cuGraphRemoveDependencies(graph, NULL, NULL, NULL, 0));
    OK(cu.cuGraphRemoveDependencies(graph, NULL, &a, NULL, 0));
    REFUSED(INVALID_VALUE, cu.cuGraphAddDependencies(graph, &a, NULL, NULL, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphAddDependencies(graph, NULL, NULL, NULL, 1));
    OK(cu.cuGraphDestroy(graph));
}

static void an_edge_that_is_not_there_stays_away(void)
{
    CUgraph graph = new_graph(), elsewhere = new_graph();
    CUgraphNode a = empty_node(graph), b = empty_node(graph), c = empty_node(graph);
    OK(cu.cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphRemoveDependencies(graph, &b, &a, NULL, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphRemoveDependencies(elsewhere, &a, &b, NULL, 1));
    CHECK(edge_count(graph) == 1);
    CUgraphNode from[] = {a, a}, to[] = {b, c}; /* the first goes before the second is
                                                   looked for */
    REFUSED(INVALID_VALUE, cu.cuGraphRemoveDependencies(graph, from, to, NULL, 2));
    CHECK(edge_count(graph) == 0);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(elsewhere));
}

/* The data of an edge is not compared when it is removed. */
static void an_edge_goes_whatever_data_is_named(void)
{
    const CUgraphEdgeData programmatic = {.from_port = 1, .type = 1},
                          other = {.from_port = 2, .type = 1};
    CUgraph graph = new_graph();
    CUgraphNode a = kernel_node(graph, k.nothing), b = kernel_node(graph, k.nothing);
    OK(cu.cuGraphAddDependencies(graph, &a, &b, &programmatic, 1));
    OK(cu.cuGraphRemoveDependencies(graph, &a, &b, NULL, 1));
    OK(cu.cuGraphAddDependencies(graph, &a, &b, &programmatic, 1));
    OK(cu.cuGraphRemoveDependencies(graph, &a, &b, &other, 1));
    OK(cu.cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    OK(cu.cuGraphRemoveDependencies(graph, &a, &b, &other, 1));
    CHECK(edge_count(graph) == 0);
    OK(cu.cuGraphDestroy(graph));
}

static void a_cycle_is_found_at_instantiation(void)
{
    CUgraph graph = new_graph();
    CUgraphNode a = empty_node(graph), b = empty_node(graph), c = empty_node(graph);
    OK(cu.cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    OK(cu.cuGraphAddDependencies(graph, &b, &a, NULL, 1));
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    CUgraphExec exec = NULL;
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithParams(&exec, graph, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    CHECK(params.hErrNode_out == a || params.hErrNode_out == b);
    CHECK(params.hErrNode_out != c);
    OK(cu.cuGraphDestroy(graph));
}

static void a_graph_of_nothing_runs(void)
{
    CUgraph graph = new_graph();
    run_graph(graph);
    OK(cu.cuGraphDestroy(graph));
}

static void a_destroyed_node_takes_its_edges_along(void)
{
    CUgraph graph = new_graph();
    CUgraphNode a = empty_node(graph), b = empty_node(graph), c = empty_node(graph);
    OK(cu.cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    OK(cu.cuGraphAddDependencies(graph, &b, &c, NULL, 1));
    OK(cu.cuGraphDestroyNode(b));
    CHECK(edge_count(graph) == 0 && node_count(graph) == 2);
    if (driver_is_soft) { /* the real one reads what the handle points to, or crashes */
        CUgraphNodeType type;
        REFUSED(INVALID_VALUE, cu.cuGraphNodeGetType(b, &type));
        REFUSED(INVALID_VALUE, cu.cuGraphDestroyNode(b));
    }
    REFUSED(INVALID_VALUE, cu.cuGraphAddDependencies(graph, &b, &c, NULL, 1));
    OK(cu.cuGraphDestroy(graph));
}

static void lists_fill_the_room_that_is_left(void)
{
    CUgraph graph = new_graph();
    CUgraphNode a = empty_node(graph), b = empty_node(graph);
    OK(cu.cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    CUgraphNode from[3] = {UNTOUCHED, UNTOUCHED, UNTOUCHED}, to[3];
    size_t count = 3;
    OK(cu.cuGraphGetNodes(graph, from, &count));
    CHECK(count == 2 && from[0] == a && from[1] == b && from[2] == NULL);
    count = 1;
    OK(cu.cuGraphGetNodes(graph, from, &count));
    CHECK(count == 1 && from[0] == a);
    count = 0;
    REFUSED(INVALID_VALUE, cu.cuGraphGetNodes(graph, from, &count));
    REFUSED(INVALID_VALUE, cu.cuGraphGetNodes(graph, from, NULL));
    count = 3;
    REFUSED(INVALID_VALUE, cu.cuGraphGetEdges(graph, from, NULL, NULL, &count));
    REFUSED(INVALID_VALUE, cu.cuGraphGetEdges(graph, NULL, to, NULL, &count));
    OK(cu.cuGraphGetEdges(graph, from, to, NULL, &count));
    CHECK(count == 1 && from[0] == a && to[0] == b && from[1] == NULL && to[2] == NULL);
    OK(cu.cuGraphDestroy(graph));
}

/* C5: nodes in the order they were added, whatever their edges; roots by when they became
 * roots, the last one first; edges by their first node. */
static void lists_have_an_order(void)
{
    CUgraph graph = new_graph();
    CUgraphNode n[5], got[5], from[5], to[5];
    for (int i = 0; i < 5; i++)
        n[i] = empty_node(graph);
    OK(cu.cuGraphAddDependencies(graph, &n[4], &n[0], NULL, 1));
    OK(cu.cuGraphAddDependencies(graph, &n[3], &n[4], NULL, 1));
    OK(cu.cuGraphAddDependencies(graph, &n[1], &n[3], NULL, 1));
    size_t count = 5;
    OK(cu.cuGraphGetNodes(graph, got, &count));
    CHECK(memcmp(got, n, sizeof(n)) == 0);
    count = 5;
    OK(cu.cuGraphGetEdges(graph, from, to, NULL, &count));
    CHECK(count == 3 && from[0] == n[1] && from[1] == n[3] && from[2] == n[4]);
    OK(cu.cuGraphRemoveDependencies(graph, &n[3], &n[4], NULL, 1));
    count = 5;
    OK(cu.cuGraphGetRootNodes(graph, got, &count));
    CHECK(count == 3 && got[0] == n[4] && got[1] == n[2] && got[2] == n[1]);
    OK(cu.cuGraphDestroy(graph));
}

/* Not in the order in which those of the original became roots. */
static void roots_of_a_clone_are_as_old_as_its_nodes(void)
{
    CUgraph graph = new_graph(), clone;
    CUgraphNode n[4], got[4], roots[4];
    for (int i = 0; i < 4; i++)
        n[i] = empty_node(graph);
    OK(cu.cuGraphAddDependencies(graph, &n[0], &n[1], NULL, 1));
    OK(cu.cuGraphRemoveDependencies(graph, &n[0], &n[1], NULL, 1)); /* the youngest */
    size_t count = 4;
    OK(cu.cuGraphGetRootNodes(graph, roots, &count));
    CHECK(count == 4 && roots[0] == n[1] && roots[1] == n[3] && roots[2] == n[2]);
    OK(cu.cuGraphClone(&clone, graph));
    OK(cu.cuGraphGetNodes(clone, got, &count));
    OK(cu.cuGraphGetRootNodes(clone, roots, &count));
    CHECK(count == 4);
    for (int i = 0; i < 4; i++)
        CHECK(roots[i] == got[3 - i]);
    OK(cu.cuGraphDestroy(clone));
    OK(cu.cuGraphDestroy(graph));
}

static void edge_data_is_not_lost_in_silence(void)
{
    const CUgraphEdgeData programmatic = {.from_port = 1, .type = 1};
    CUgraph graph = new_graph();
    CUgraphNode a = kernel_node(graph, k.nothing), b = kernel_node(graph, k.nothing);
    CUgraphNode from[2], to[2];
    CUgraphEdgeData data[2];
    OK(cu.cuGraphAddDependencies(graph, &a, &b, &programmatic, 1));
    size_t count = 2;
    REFUSED(LOSSY_QUERY, cu.cuGraphGetEdges(graph, from, to, NULL, &count));
    CHECK(count == 2);
    REFUSED(LOSSY_QUERY, cu.cuGraphNodeGetDependencies(b, from, NULL, &count));
    REFUSED(LOSSY_QUERY, cu.cuGraphNodeGetDependentNodes(a, to, NULL, &count));
    OK(cu.cuGraphNodeGetDependencies(b, NULL, NULL, &count));
    CHECK(count == 1);
    count = 2;
    OK(cu.cuGraphGetEdges(graph, from, to, data, &count));
    CHECK(count == 1 && data[0].type == 1 && data[0].from_port == 1);
    count = 2;
    OK(cu.cuGraphNodeGetDependentNodes(a, to, data, &count));
    CHECK(count == 1 && to[0] == b && data[0].type == 1);
    OK(cu.cuGraphDestroy(graph));
}

static void edge_data_comes_with_its_nodes(void)
{
    CUgraph graph = new_graph();
    CUgraphNode a = empty_node(graph);
    CUgraphEdgeData data[2];
    size_t count = 2;
    REFUSED(INVALID_VALUE, cu.cuGraphGetEdges(graph, NULL, NULL, data, &count));
    REFUSED(INVALID_VALUE, cu.cuGraphNodeGetDependencies(a, NULL, data, &count));
    REFUSED(INVALID_VALUE, cu.cuGraphNodeGetDependentNodes(a, NULL, data, &count));
    OK(cu.cuGraphDestroy(graph));
}

struct edge_case {
    CUgraphEdgeData data;
    bool from_kernel, to_kernel;
    bool good;
};

static void try_edges(const struct edge_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CUgraph graph = new_graph();
        CUgraphNode from =
            cases[i].from_kernel ? kernel_node(graph, k.nothing) : empty_node(graph);
        CUgraphNode to =
            cases[i].to_kernel ? kernel_node(graph, k.nothing) : empty_node(graph);
        const CUresult result =
            cu.cuGraphAddDependencies(graph, &from, &to, &cases[i].data, 1);
        if (!CHECK(result == (cases[i].good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)))
            fprintf(stderr, "  edge %zu: %d\n", i, (int)result);
        if (cases[i].good)
            run_graph(graph);
        OK(cu.cuGraphDestroy(graph));
    }
}

static void programmatic_edges_join_kernels(void)
{
    static const struct edge_case cases[] = {
        {{.type = 1, .from_port = 1}, true, true, true},
        {{.type = 1, .from_port = 2}, true, true, true},
        {{.from_port = 2}, true, true, true},
        {{.from_port = 2}, true, false, true},
        {{.type = 1}, true, true, false},
        {{.from_port = 1}, true, true, false},
        {{.type = 2}, true, true, false},
        {{.type = 2, .from_port = 1}, true, true, false},
        {{.type = 1, .from_port = 1}, true, false, false},
        {{.type = 1, .from_port = 2}, true, false, false},
        {{.type = 1}, false, true, false},
    };
    try_edges(cases, sizeof(cases) / sizeof(cases[0]));
}

static void only_kernels_have_ports(void)
{
    static const struct edge_case cases[] = {
        {{0}, false, false, true},
        {{.from_port = 3}, true, true, false},
        {{.to_port = 1}, true, true, false},
        {{.reserved = {1}}, true, true, false},
        {{.reserved = {0, 0, 0, 0, 1}}, true, true, false},
        {{.from_port = 2}, false, true, false},
    };
    try_edges(cases, sizeof(cases) / sizeof(cases[0]));
}

static void run(void)
{
    if (!rule_listing)
        k = load_kernels();
    RULE_TEST(R1, no_dependencies_make_a_root);
    RULE_TEST(R2, dependencies_are_named_once);
    RULE_TEST(R2, many_dependencies_are_named_once);
    RULE_TEST(R3, edges_stay_in_one_graph);
    RULE_TEST(R4, an_edge_is_added_once);
    RULE_TEST(R4, what_stays_of_edges_refused);
    RULE_TEST(R5, no_edges_need_no_arrays);
    RULE_TEST(R6, an_edge_that_is_not_there_stays_away);
    RULE_TEST(R6, an_edge_goes_whatever_data_is_named);
    RULE_TEST(R7, a_cycle_is_found_at_instantiation);
    RULE_TEST(R8, a_graph_of_nothing_runs);
    RULE_TEST(R9, a_destroyed_node_takes_its_edges_along);
    RULE_TEST(R10, lists_fill_the_room_that_is_left);
    RULE_TEST(R10, lists_have_an_order);
    RULE_TEST(M_clone_roots, roots_of_a_clone_are_as_old_as_its_nodes);
    RULE_TEST(R11, edge_data_is_not_lost_in_silence);
    RULE_TEST(R12, edge_data_comes_with_its_nodes);
    RULE_TEST(R13, programmatic_edges_join_kernels);
    RULE_TEST(R14, only_kernels_have_ports);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
