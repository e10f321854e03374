// SPDX-License-Identifier: Apache-2.0
/* R101-R103: what captured launches are ordered by, which edges they get, and their
 * priority. */
#include "capture_bench.h"

/* ---- R101: order with eager work ---- */

static atomic_int gate;

static void wait_at_gate(void *user)
{
    (void)user;
    for (int i = 0; i < 20000000 && atomic_load(&gate) == 0; i++)
        ;
}

/* Nothing orders a graph after what its stream did before the capture; the stream itself
 * goes on after it. */
static void captures_leave_their_streams_order(void)
{
    CUgraphExec exec;
    atomic_store(&gate, 0);
    OK(cu.cuLaunchHostFunc(s.a, wait_at_gate, NULL));
    OK(put(s.a, 0, 1));
    OK(begin(s.a, RELAXED));
    OK(put(s.a, 1, 2));
    CUgraph graph = end(s.a);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, s.b));
    OK(cu.cuStreamSynchronize(s.b)); /* while a is at the gate */
    OK(cu.cuMemcpyDtoDAsync(s.at + 8, s.at, 4, s.a));
    atomic_store(&gate, 1);
    OK(cu.cuStreamSynchronize(s.a));
    CHECK(word(0) == 1 && word(1) == 2 && word(2) == 1);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* ---- R102, R103: programmatic edges ---- */

static CUresult launch_with(CUstream stream, CUlaunchAttribute attribute)
{
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 1,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = stream,
                                   .attrs = &attribute,
                                   .numAttrs = 1};
    return cu.cuLaunchKernelEx(&config, s.nothing, NULL, NULL);
}

static CUlaunchAttribute serialization(void)
{
    CUlaunchAttribute out = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
    out.value.programmaticStreamSerializationAllowed = 1;
    return out;
}

static CUlaunchAttribute trigger(CUevent event, int flags, int at_start)
{
    CUlaunchAttribute out = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT};
    out.value.programmaticEvent.event = event;
    out.value.programmaticEvent.flags = flags;
    out.value.programmaticEvent.triggerAtBlockStart = at_start;
    return out;
}

static CUlaunchAttribute completion(CUevent event)
{
    CUlaunchAttribute out = {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};
    out.value.launchCompletionEvent.event = event;
    return out;
}

/* The data of the only edge between two kernels. */
static CUgraphEdgeData only_edge(CUgraph graph)
{
    CUgraphNode from[4], to[4];
    CUgraphEdgeData data[4] = {{.from_port = 99}};
    size_t count = 4;
    OK(cu.cuGraphGetEdges(graph, from, to, data, &count));
    CHECK(count == 1);
    return data[0];
}

static int priority_of_the_node(CUgraph graph)
{
    CUgraphNode node;
    CUkernelNodeAttrValue value = {.priority = 77};
    size_t count = 1;
    OK(cu.cuGraphGetNodes(graph, &node, &count));
    OK(cu.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    OK(cu.cuGraphDestroy(graph));
    return value.priority;
}

static void kernels_keep_their_priority(void)
{
    int least = 0, greatest = 0;
    CUstream urgent;
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY};
    attribute.value.priority = -2;
    OK(cu.cuCtxGetStreamPriorityRange(&least, &greatest));
    OK(cu.cuStreamCreateWithPriority(&urgent, CU_STREAM_NON_BLOCKING, greatest));
    OK(begin(urgent, GLOBAL));
    OK(put(urgent, 0, 1));
    CHECK(priority_of_the_node(end(urgent)) == greatest);
    OK(begin(urgent, GLOBAL));
    OK(launch_with(urgent, attribute));
    CHECK(priority_of_the_node(end(urgent)) == -2);
    OK(cu.cuStreamDestroy(urgent));
}

static CUkernelNodeAttrValue attribute_of_the_node(CUgraph graph, CUlaunchAttributeID id)
{
    CUgraphNode node;
    CUkernelNodeAttrValue value;
    size_t count = 1;
    memset(&value, 0, sizeof(value));
    OK(cu.cuGraphGetNodes(graph, &node, &count));
    OK(cu.cuGraphKernelNodeGetAttribute(node, id, &value));
    return value;
}

static void kernels_keep_their_attributes(void)
{
    CUstreamAttrValue domain, window;
    CUlaunchAttribute own = {.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN};
    memset(&domain, 0, sizeof(domain));
    memset(&window, 0, sizeof(window));
    domain.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
    window.accessPolicyWindow =
        (CUaccessPolicyWindow){.base_ptr = (void *)s.at,
                               .num_bytes = 64,
                               .hitRatio = 0.5f,
                               .hitProp = CU_ACCESS_PROPERTY_PERSISTING};
    OK(cu.cuStreamSetAttribute(s.a, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &domain));
    OK(cu.cuStreamSetAttribute(s.a, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &window));
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    CUgraph graph = end(s.a);
    CHECK(
        attribute_of_the_node(graph, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN).memSyncDomain ==
        CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
    const CUaccessPolicyWindow kept =
        attribute_of_the_node(graph, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
            .accessPolicyWindow;
    CHECK(kept.base_ptr == (void *)s.at && kept.num_bytes == 64);
    OK(cu.cuGraphDestroy(graph));
    own.value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
    OK(begin(s.a, GLOBAL));
    OK(launch_with(s.a, own));
    graph = end(s.a);
    CHECK(
        attribute_of_the_node(graph, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN).memSyncDomain ==
        CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
    run_graph(graph);
    OK(cu.cuGraphDestroy(graph));
}

static void clusters_divide_the_grid(void)
{
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    cluster.value.clusterDim.x = 2; /* of a grid of 1 */
    cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
    OK(begin(s.a, GLOBAL));
    REFUSED(INVALID_CLUSTER_SIZE, launch_with(s.a, cluster));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    cluster.value.clusterDim.x = 0;
    OK(begin(s.a, GLOBAL));
    REFUSED(INVALID_CLUSTER_SIZE, launch_with(s.a, cluster));
    end_with(s.a, 0);
}

static void serialized_launches_get_programmatic_edges(void)
{
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    OK(launch_with(s.a, serialization()));
    CHECK(half_edge(s.a).type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
    CUgraph graph = end(s.a);
    CUgraphEdgeData edge = only_edge(graph);
    CHECK(edge.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC && edge.to_port == 0 &&
          edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    run_graph(graph);
    CHECK(word(0) == 1);
    OK(cu.cuGraphDestroy(graph));
    OK(begin(s.a, GLOBAL)); /* after what is not a kernel, a full one */
    OK(cu.cuMemsetD32Async(s.at, 0, 1, s.a));
    OK(launch_with(s.a, serialization()));
    graph = end(s.a);
    edge = only_edge(graph);
    CHECK(edge.from_port == 0 && edge.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
    OK(cu.cuGraphDestroy(graph));
}

static void kernels_record_ports(void)
{
    const struct {
        CUlaunchAttribute attribute;
        int port, type;
    } rows[] = {{trigger(s.other, 0, 0), 1, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
                {trigger(s.other, 0, 1), 2, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
                {completion(s.other), 2, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT}};
    for (int i = 0; i < 3; i++) {
        OK(begin(s.a, GLOBAL));
        OK(launch_with(s.a, rows[i].attribute));
        CHECK(half_edge(s.a).from_port == 0); /* a itself waits in full */
        OK(cu.cuStreamWaitEvent(s.a, s.other, 0));
        CHECK(half_edge(s.a).from_port == 0);
        OK(cu.cuStreamWaitEvent(s.b, s.other, 0));
        const CUgraphEdgeData edge = half_edge(s.b);
        CHECK(edge.from_port == rows[i].port && edge.type == rows[i].type);
        OK(put(s.b, 0, 1));
        join_b();
        CUgraph graph = end(s.a);
        const CUgraphEdgeData kept = only_edge(graph);
        CHECK(kept.from_port == rows[i].port && kept.type == rows[i].type);
        OK(cu.cuGraphDestroy(graph));
    }
}

/* What is after such an event keeps its half edge, whatever kind of node it is. */
static void half_edges_stay_as_they_are(void)
{
    OK(begin(s.a, GLOBAL));
    OK(launch_with(s.a, trigger(s.other, 0, 0)));
    OK(cu.cuStreamWaitEvent(s.b, s.other, 0));
    OK(cu.cuEventRecord(s.fork, s.b));
    OK(cu.cuStreamWaitEvent(s.c, s.fork, 0));
    CHECK(half_edge(s.c).from_port == 1 && half_edge(s.c).type == 1);
    OK(cu.cuMemsetD32Async(s.at, 7, 1, s.b));
    join_b();
    CUgraph graph = end(s.a);
    const CUgraphEdgeData edge = only_edge(graph);
    CHECK(edge.from_port == 1 && edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    OK(cu.cuGraphDestroy(graph));
}

static void kernels_record_plain_events_only(void)
{
    OK(begin(s.a, GLOBAL));
    REFUSED(NOT_SUPPORTED, launch_with(s.a, trigger(s.timing, 0, 0)));
    REFUSED(NOT_SUPPORTED,
            launch_with(s.a, trigger(s.other, CU_EVENT_RECORD_EXTERNAL, 0)));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    end_with(s.a, 0);
    REFUSED(NOT_SUPPORTED, launch_with(s.a, trigger(s.timing, 0, 0)));
    REFUSED(ILLEGAL_STATE,
            launch_with(s.a, trigger(s.other, CU_EVENT_RECORD_EXTERNAL, 0)));
    OK(launch_with(s.a, trigger(s.other, 0, 0)));
    OK(cu.cuEventSynchronize(s.other));
}

/* Half edges that a program sets, or begins with. */
static void half_edges_follow_the_rules_of_edges(void)
{
    static const CUgraphEdgeData good = {.from_port = 1, .type = 1};
    static const CUgraphEdgeData bad[] = {
        {.from_port = 1}, {.to_port = 1}, {.reserved = {1}}, {.from_port = 3}};
    CUgraphNode extra;
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    CUgraphNode first = frontier(s.a);
    OK(cu.cuGraphAddEmptyNode(&extra, captured_graph(s.a), NULL, 0));
    for (int i = 0; i < 4; i++)
        REFUSED(INVALID_VALUE,
                cu.cuStreamUpdateCaptureDependencies(s.a, &first, &bad[i], 1, 1));
    REFUSED(INVALID_VALUE,
            cu.cuStreamUpdateCaptureDependencies(s.a, &extra, &good, 1, 1));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cu.cuStreamUpdateCaptureDependencies(s.a, &first, &good, 1, 1));
    CHECK(half_edge(s.a).from_port == 1 && half_edge(s.a).type == 1);
    OK(cu.cuStreamUpdateCaptureDependencies(s.a, &first, NULL, 1, 0));
    CHECK(half_edge(s.a).from_port == 0 && half_edge(s.a).type == 0); /* in full now */
    CUgraph graph = end(s.a);
    REFUSED(INVALID_VALUE,
            cu.cuStreamBeginCaptureToGraph(s.a, graph, &extra, &good, 1, GLOBAL));
    REFUSED(INVALID_VALUE,
            cu.cuStreamBeginCaptureToGraph(s.a, graph, &first, &bad[0], 1, GLOBAL));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cu.cuGraphDestroy(graph));
}

static void run(void)
{
    CAPTURE_TEST(M_captured_attributes, kernels_keep_their_attributes);
    CAPTURE_TEST(M_cluster_shape, clusters_divide_the_grid);
    CAPTURE_TEST(M_captured_priority, kernels_keep_their_priority);
    CAPTURE_TEST(R101, captures_leave_their_streams_order);
    CAPTURE_TEST(R102, serialized_launches_get_programmatic_edges);
    CAPTURE_TEST(R102, kernels_record_ports);
    CAPTURE_TEST(R102, half_edges_stay_as_they_are);
    CAPTURE_TEST(R102, kernels_record_plain_events_only);
    CAPTURE_TEST(R103, half_edges_follow_the_rules_of_edges);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
