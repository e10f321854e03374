// SPDX-License-Identifier: Apache-2.0
/* R64-R69j: which graphs may update an executable one, and what is said of those that
 * may not. What single nodes may become: rules_update_nodes.c. */
#include <time.h>

#include "graph_text.h"

static CUresult update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *out)
{
    memset(out, 0x77, sizeof(*out));
    return cu.cuGraphExecUpdate(exec, graph, out);
}

static const char *name_of(const text_graph *graph, CUgraphNode node)
{
    if (node == NULL)
        return "-";
    for (int i = 0; i < graph->count; i++)
        if (graph->nodes[i] == node)
            return graph->names[i];
    return "?";
}

/* Updates an executable graph of `from` by a graph of `to`: the result, and the names of
 * errorNode and errorFromNode. */
static void expect(const char *from, const char *to, CUgraphExecUpdateResult result,
                   const char *node, const char *dependency)
{
    CUgraphExec exec = text_instantiate(from, 0);
    const text_graph graph = text_build(to);
    CUgraphExecUpdateResultInfo info;
    const CUresult code = update(exec, graph.graph, &info);
    const CUresult wanted = result == CU_GRAPH_EXEC_UPDATE_SUCCESS
                                ? CUDA_SUCCESS
                                : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    if (!CHECK(code == wanted && info.result == result &&
               strcmp(name_of(&graph, info.errorNode), node) == 0 &&
               strcmp(name_of(&graph, info.errorFromNode), dependency) == 0))
        fprintf(stderr, "  [%s] -> [%s]: %d, result %d, node %s from %s\n", from, to,
                (int)code, (int)info.result, name_of(&graph, info.errorNode),
                name_of(&graph, info.errorFromNode));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
}

#define FITS(from, to) expect(from, to, CU_GRAPH_EXEC_UPDATE_SUCCESS, "-", "-")
#define TOPOLOGY(from, to, node, dependency)                                             \
    expect(from, to, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, dependency)
#define TYPE(from, to, node)                                                             \
    expect(from, to, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, node, "-")
#define PARAMETERS(from, to, node)                                                       \
    expect(from, to, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, node, "-")

static void another_number_of_nodes_is_refused(void)
{
    TOPOLOGY("k1 k2<k1", "k1 k2<k1 k3<k2", "-", "-");
    TOPOLOGY("k1 k2<k1 k3<k2", "k1 k2<k1", "-", "-");
    TOPOLOGY("", "k1", "-", "-");
    TOPOLOGY("k1", "", "-", "-");
    FITS("", "");
}

/* The count is that of the moment. */
static void destroyed_nodes_do_not_count(void)
{
    TOPOLOGY("k1 k2<k1 k3<k2", "k1 k2<k1 k3<k2 !k3", "-", "-");
    TOPOLOGY("k1 k2<k1 k3<k2", "k1 k2<k1 k3<k2 !k1", "-", "-");
    FITS("k1 k2<k1 k3<k2", "k1 k2<k1 k3<k2 k4<k3 !k4");
    FITS("k1 k2<k1 k3<k2", "k0 k1<k0 k2<k1 k3<k2 !k0");
    FITS("k1 k2<k1 k3<k2 !k3", "k1 k2<k1");
}

static void the_executable_graph_keeps_its_count(void)
{
    text_graph graph = text_build("k1 k2<k1 k3<k2");
    const text_graph three = text_build("k1 k2<k1 k3<k2");
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, 0));
    text_edit(&graph, "!k3");
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, update(exec, graph.graph, &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(update(exec, three.graph, &info));
    text_edit(&graph, "k4<k2");
    OK(update(exec, graph.graph, &info));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
    OK(cu.cuGraphDestroy(three.graph));
}

static void more_sinks_name_one_of_them(void)
{
    TOPOLOGY("k1 k2<k1 k3<k2", "k1 k2<k1 k3<k1", "k2", "-");
    TOPOLOGY("k1 k2 k3<k1,k2", "k1 k2 k3<k1", "k2", "-");
    TOPOLOGY("k1 k2 k3<k1,k2", "k1 k2 k3", "k2", "-");
    TOPOLOGY("n1 k2<n1", "N1 k2", "N1", "-");
}

static void fewer_sinks_name_none(void)
{
    TOPOLOGY("k1 k2<k1 k3<k1", "k1 k2<k1 k3<k2", "-", "-");
    TOPOLOGY("k1 k2 k3<k1", "k1 k2 k3<k1,k2", "-", "-");
    TOPOLOGY("k1 k2<k1", "k1 k2<k1 +k2>k1", "-", "-"); /* a cycle has none */
}

static void partners_have_as_many_dependencies(void)
{
    TOPOLOGY("e1 e2 e3<e1 e4<e2,e3", "e1 e2 e3<e1,e2 e4<e2,e3", "e3", "-");
    TOPOLOGY("k1 k2<k1 e3<k2", "k1 k2<k1 e3<k2 +k2>k1", "k1", "-");
}

static void dependencies_of_partners_are_partners(void)
{
    TOPOLOGY("k1 k2 k3<k1,k2 k4<k1,k2", "k1 k2 k3<k1,k2 k4<k2,k1", "k3", "k1");
    TOPOLOGY("e1 e2 e3<e1,e2 e4<e1,e2", "e1 e2 e3<e1,e2 e4<e2,e1", "e3", "e1");
}

static void dependencies_are_paired_in_their_order(void)
{
    FITS("k1 k2 k3<k1,k2", "k1 k2 k3<k2,k1");
    TYPE("k1 m2 c3<k1,m2", "k1 m2 c3<m2,k1", "m2");
    TYPE("k1 m2 c3 +k1>c3 +m2>c3", "k1 m2 c3 +m2>c3 +k1>c3", "m2");
    FITS("k1 m2 c3<k1,m2", "m1 k2 c3<k2,m1");
    FITS("e1 k2 m3 +e1>k2 +e1>m3", "e1 k2 m3 +e1>m3 +e1>k2");
}

/* The last one takes the place of an edge that goes. */
static void removed_edges_leave_their_place_to_the_last(void)
{
    FITS("k1 m2 h4 c3<k1,m2,h4 -k1>c3 +k1>c3", "k1 m2 h4 c3<h4,m2,k1");
    TYPE("k1 m2 h4 c3<k1,m2,h4 -k1>c3 +k1>c3", "k1 m2 h4 c3<m2,h4,k1", "m2");
    FITS("k1 m2 h4 c3<k1,m2,h4 !k1", "m2 h4 c3<h4,m2");
}

static void sinks_are_paired_in_the_order_they_became_that(void)
{
    TYPE("k1 m2", "m1 k2", "k2");
    TYPE("k1 m2<k1 c3<k1", "k1 c2<k1 m3<k1", "m3");
    FITS("k1 m2 +k1>m2 -k1>m2", "m1 k2");
    FITS("k1 m2 c3<k1 !c3", "m1 k2");
    FITS("k1 m2 c3<m2,k1 !c3", "m1 k2");
    FITS("k1 m2 c3<k1,m2 !c3", "k1 m2");
}

/* The end of a capture makes a node a sink again. */
static void what_a_capture_ends_with_is_the_youngest_sink(void)
{
    const text_graph graph = text_build("c1 k2");
    CUgraphExec exec;
    CUgraph captured;
    CUstream capturing;
    CUgraphExecUpdateResultInfo info;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, 0));
    OK(update(exec, graph.graph, &info));
    OK(cu.cuStreamCreate(&capturing, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamBeginCaptureToGraph(capturing, graph.graph, graph.nodes, NULL, 1,
                                      CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuStreamEndCapture(capturing, &captured));
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, update(exec, graph.graph, &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    CHECK(info.errorNode == graph.nodes[0]);
    OK(cu.cuStreamDestroy(capturing));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
}

/* Those before the second mention: the first one is the oldest of them, then backwards.
 */
static void a_dependency_that_stands_twice_leaves_younger_sinks(void)
{
    const text_graph graph = text_build("c1 k2 m3");
    const CUgraphNode *n = graph.nodes;
    const CUgraphNode twice[] = {n[1], n[0], n[1]}, more[] = {n[0], n[1], n[2], n[0]};
    CUgraphExec exec;
    CUgraphNode none;
    CUgraphExecUpdateResultInfo info;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, 0));
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(&none, graph.graph, twice, 3));
    /* From c k m to m k c. */
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, update(exec, graph.graph, &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    CHECK(info.errorNode == n[0]);
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(&none, graph.graph, more, 4));
    /* To c m k. */
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, update(exec, graph.graph, &info));
    CHECK(info.errorNode == n[1]);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
}

static void the_order_of_creation_does_not_matter(void)
{
    FITS("k1 m2<k1", "m1 k2 +k2>m1");
    FITS("e1 k2<e1 m3<e1 c4<k2,m3", "e1 m2<e1 k3<e1 c4<k3,m2");
}

static void another_type_is_refused(void)
{
    TYPE("m1", "k1", "k1");
    TYPE("c1", "m1", "m1");
    TYPE("e1", "h1", "h1");
    TYPE("r1", "w1", "w1");
    TYPE("g1", "k1", "k1");
}

/* Breadth first from the last sink; a pair's degree, type and parameters, in that order.
 */
static void the_first_thing_found_is_told(void)
{
    TYPE("k1 k2<k1", "m1 m2<m1", "m2");
    PARAMETERS("k1 n2<k1", "m1 N2<m1", "N2");
    TYPE("n1 k2<n1", "N1 m2<N1", "m2");
    PARAMETERS("n1 n2 n3", "N1 N2 N3", "N3");
    TYPE("k3 n1 k2<n1", "m3 N1 k2<N1", "m3");
    TOPOLOGY("n1 k2", "N1 k2<N1", "-", "-");
}

/* ---- what an update leaves and does ---- */

static CUstream stream;

static unsigned launch(CUgraphExec exec)
{
    unsigned value = 0;
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuMemcpyDtoHAsync(&value, text_memory[0], sizeof(value), stream));
    OK(cu.cuStreamSynchronize(stream));
    return value;
}

/* Two kernels in a row that write `first` and `second` to the same place, and after them
 * a fill of `rows` rows elsewhere. */
static CUgraph two_writes(unsigned first, unsigned second, size_t rows,
                          CUgraphNode *nodes)
{
    CUgraph graph;
    CUDA_KERNEL_NODE_PARAMS params = store_params(&text_memory[0], &first);
    const CUDA_MEMSET_NODE_PARAMS fill = fill_params(text_memory[1], 1, 16, rows);
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddMemsetNode(&nodes[2], graph, NULL, 0, &fill, text_context));
    OK(cu.cuGraphAddKernelNode(&nodes[0], graph, &nodes[2], 1, &params));
    params = store_params(&text_memory[0], &second);
    OK(cu.cuGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &params));
    return graph;
}

static void a_refused_update_changes_nothing(void)
{
    CUgraphNode nodes[3], other[3];
    CUgraph graph = two_writes(1, 2, 1, nodes), refused = two_writes(3, 4, 2, other);
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(launch(exec) == 2);
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, update(exec, refused, &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
    CHECK(info.errorNode == other[2]);
    CHECK(launch(exec) == 2);
    OK(cu.cuGraphNodeSetEnabled(exec, nodes[1], 0));
    CHECK(launch(exec) == 1);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(refused));
}

static void an_update_brings_all_parameters(void)
{
    CUgraphNode nodes[3], other[3];
    CUgraph graph = two_writes(1, 2, 1, nodes), fits = two_writes(3, 4, 1, other);
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(update(exec, fits, &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    CHECK(info.errorNode == NULL && info.errorFromNode == NULL);
    CHECK(launch(exec) == 4);
    OK(cu.cuGraphExecUpdate(exec, graph, NULL)); /* no result is asked for */
    CHECK(launch(exec) == 2);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(fits));
}

/* What is not about the two graphs leaves SUCCESS in the result. */
static void wrong_handles_are_refused(void)
{
    CUgraphNode nodes[3];
    CUgraph graph = two_writes(1, 2, 1, nodes);
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    REFUSED(INVALID_VALUE, update(exec, NULL, &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    REFUSED(INVALID_VALUE, update(NULL, graph, &info));
    OK(cu.cuGraphExecDestroy(exec));
    REFUSED(INVALID_VALUE, update(exec, graph, &info));
    REFUSED(INVALID_VALUE, cu.cuGraphLaunch(exec, stream));
    OK(cu.cuGraphDestroy(graph));
}

static void a_child_graph_cannot_update(void)
{
    const text_graph parent = text_build("g1"), plain = text_build("k1 m2<k1");
    CUgraph child;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    OK(cu.cuGraphChildGraphNodeGetGraph(parent.nodes[0], &child));
    OK(cu.cuGraphInstantiateWithFlags(&exec, plain.graph, 0));
    REFUSED(INVALID_VALUE, update(exec, child, &info));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(parent.graph));
    OK(cu.cuGraphDestroy(plain.graph));
}

/* ---- later launches only ---- */

static atomic_int gate;

static void CUDA_CB wait_at_gate(void *user)
{
    (void)user;
    for (int i = 0; i < 20000 && !atomic_load(&gate); i++) {
        const struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
}

static CUresult set_second(CUgraphExec exec, CUgraphNode node, unsigned value)
{
    const CUDA_KERNEL_NODE_PARAMS params = store_params(&text_memory[0], &value);
    return cu.cuGraphExecKernelNodeSetParams(exec, node, &params);
}

static void edits_count_for_later_launches_only(void)
{
    CUgraphNode nodes[3], other[3];
    CUgraph graph = two_writes(1, 2, 1, nodes), next = two_writes(1, 30, 1, other);
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    unsigned seen[10] = {0};
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphUpload(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    atomic_store(&gate, 0);
    OK(cu.cuLaunchHostFunc(stream, wait_at_gate, NULL));
    for (unsigned i = 0; i < 10; i++) {
        if (i == 4)
            OK(update(exec, next, &info));
        else if (i == 5)
            OK(cu.cuGraphNodeSetEnabled(exec, nodes[1], 0));
        else if (i > 0)
            OK(set_second(exec, nodes[1], 10 + i));
        if (i == 7)
            OK(cu.cuGraphNodeSetEnabled(exec, nodes[1], 1));
        OK(cu.cuGraphLaunch(exec, stream));
        OK(cu.cuMemcpyDtoDAsync(text_memory[1] + 64 + 4 * i, text_memory[0], 4, stream));
    }
    OK(cu.cuGraphExecDestroy(exec)); /* those under way still run */
    OK(cu.cuGraphDestroy(graph));
    atomic_store(&gate, 1);
    OK(cu.cuMemcpyDtoHAsync(seen, text_memory[1] + 64, sizeof(seen), stream));
    OK(cu.cuStreamSynchronize(stream));
    static const unsigned wanted[10] = {2, 11, 12, 13, 30, 1, 1, 17, 18, 19};
    for (int i = 0; i < 10; i++)
        if (!CHECK(seen[i] == wanted[i]))
            fprintf(stderr, "  launch %d saw %u, not %u\n", i, seen[i], wanted[i]);
    OK(cu.cuGraphDestroy(next));
}

static void edits_of_the_graph_do_not_reach_it(void)
{
    CUgraphNode nodes[3];
    CUgraph graph = two_writes(1, 2, 1, nodes);
    CUgraphExec exec;
    unsigned value = 9;
    const CUDA_KERNEL_NODE_PARAMS params = store_params(&text_memory[0], &value);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphKernelNodeSetParams(nodes[1], &params));
    CHECK(launch(exec) == 2);
    OK(cu.cuGraphDestroyNode(nodes[1]));
    CHECK(launch(exec) == 2);
    OK(cu.cuGraphDestroy(graph));
    CHECK(launch(exec) == 2);
    OK(cu.cuGraphExecDestroy(exec));
}

static void run(void)
{
    if (!rule_listing) {
        text_start();
        OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    }
    RULE_TEST(R34, edits_count_for_later_launches_only);
    RULE_TEST(R34, edits_of_the_graph_do_not_reach_it);
    RULE_TEST(R64, another_number_of_nodes_is_refused);
    RULE_TEST(R64, destroyed_nodes_do_not_count);
    RULE_TEST(R64, the_executable_graph_keeps_its_count);
    RULE_TEST(R65, more_sinks_name_one_of_them);
    RULE_TEST(R65, fewer_sinks_name_none);
    RULE_TEST(R66, partners_have_as_many_dependencies);
    RULE_TEST(R66, dependencies_of_partners_are_partners);
    RULE_TEST(R67, dependencies_are_paired_in_their_order);
    RULE_TEST(R67, removed_edges_leave_their_place_to_the_last);
    RULE_TEST(R67, sinks_are_paired_in_the_order_they_became_that);
    RULE_TEST(R67, the_order_of_creation_does_not_matter);
    RULE_TEST(M_sinks_again, what_a_capture_ends_with_is_the_youngest_sink);
    RULE_TEST(M_sinks_again, a_dependency_that_stands_twice_leaves_younger_sinks);
    RULE_TEST(R68, another_type_is_refused);
    RULE_TEST(R68, the_first_thing_found_is_told);
    RULE_TEST(R69g, a_child_graph_cannot_update);
    RULE_TEST(R69j, a_refused_update_changes_nothing);
    RULE_TEST(R69j, an_update_brings_all_parameters);
    RULE_TEST(R69j, wrong_handles_are_refused);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
