// SPDX-License-Identifier: Apache-2.0
/* R29-R40: making executable graphs, uploading and launching them. */
#include <time.h>

#include "graph_text.h"

static CUstream stream, second;

/* ---- a node that others wait for ---- */

static atomic_int gate, reached;

static void CUDA_CB wait_at_gate(void *user)
{
    (void)user;
    atomic_fetch_add(&reached, 1);
    for (int i = 0; i < 20000 && !atomic_load(&gate); i++) {
        const struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
}

static void pause_until_reached(int count)
{
    for (int i = 0; i < 20000 && atomic_load(&reached) < count; i++) {
        const struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
}

static void close_gate(void)
{
    atomic_store(&gate, 0);
    atomic_store(&reached, 0);
}

/* A host function at the gate, and after it a kernel that writes 5. */
static text_graph gated(void)
{
    const text_graph graph = text_build("h1 k2<h1");
    const CUDA_HOST_NODE_PARAMS host = {.fn = wait_at_gate};
    OK(cu.cuGraphHostNodeSetParams(graph.nodes[0], &host));
    return graph;
}

static unsigned read_word(void)
{
    unsigned word = 0xdead;
    OK(cu.cuMemcpyDtoHAsync(&word, text_memory[0], sizeof(word), stream));
    OK(cu.cuStreamSynchronize(stream));
    return word;
}

static void write_word(unsigned word)
{
    OK(cu.cuMemsetD32Async(text_memory[0], word, 1, stream));
    OK(cu.cuStreamSynchronize(stream));
}

/* ---- flags ---- */

enum { AUTO_FREE = 1, UPLOAD = 2, DEVICE = 4, PRIORITY = 8 };

static CUDA_GRAPH_INSTANTIATE_PARAMS with(unsigned flags)
{
    return (CUDA_GRAPH_INSTANTIATE_PARAMS){
        .flags = flags,
        .hUploadStream = stream,
        .hErrNode_out = (CUgraphNode)(uintptr_t)0x77,
        .result_out = (CUgraphInstantiateResult)77,
    };
}

static void each_flag_has_its_call(void)
{
    const text_graph graph = text_build("k1 m2<k1");
    for (unsigned flags = 0; flags < 32; flags++) {
        CUgraphExec exec = NULL;
        const bool fits = flags < 16 && (flags & (AUTO_FREE | DEVICE)) != 5;
        const bool plain = fits && !(flags & UPLOAD);
        CHECK_IS(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, flags),
                 plain ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        CHECK((exec != NULL) == plain);
        if (exec)
            OK(cu.cuGraphExecDestroy(exec));
        exec = NULL;
        CUDA_GRAPH_INSTANTIATE_PARAMS params = with(flags);
        CHECK_IS(cu.cuGraphInstantiateWithParams(&exec, graph.graph, &params),
                 fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        CHECK(params.result_out ==
              (fits ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR));
        CHECK(params.hErrNode_out == NULL);
        CHECK((exec != NULL) == fits);
        if (exec)
            OK(cu.cuGraphExecDestroy(exec));
    }
    OK(cu.cuGraphDestroy(graph.graph));
}

static void the_flags_that_are_told(void)
{
    const text_graph graph = text_build("k1 m2<k1");
    for (unsigned flags = 0; flags < 16; flags++) {
        if ((flags & (AUTO_FREE | DEVICE)) == 5)
            continue;
        CUgraphExec exec = NULL;
        CUDA_GRAPH_INSTANTIATE_PARAMS params = with(flags);
        cuuint64_t got = 77;
        OK(cu.cuGraphInstantiateWithParams(&exec, graph.graph, &params));
        if (driver_is_soft) /* NVIDIA's crashes */
            REFUSED(INVALID_VALUE, cu.cuGraphExecGetFlags(exec, NULL));
        OK(cu.cuGraphExecGetFlags(exec, &got));
        CHECK(got == (flags & (AUTO_FREE | DEVICE)));
        OK(cu.cuGraphExecDestroy(exec));
    }
    OK(cu.cuGraphDestroy(graph.graph));
}

/* ---- what went wrong ---- */

/* The result, and the name of the node that is named; NULL where it succeeds. */
static void expect(const char *text, unsigned flags, CUgraphInstantiateResult result,
                   const char *node)
{
    const text_graph graph = text_build(text);
    CUgraphExec exec = (CUgraphExec)(uintptr_t)0x77;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = with(flags);
    const CUresult code = cu.cuGraphInstantiateWithParams(&exec, graph.graph, &params);
    const bool fits = result == CUDA_GRAPH_INSTANTIATE_SUCCESS;
    const CUgraphNode named = node ? text_find(&graph, node) : NULL;
    if (!CHECK(code == (fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)) ||
        !CHECK(params.result_out == result) || !CHECK(params.hErrNode_out == named))
        fprintf(stderr, "  [%s] flags %u: %d, result %d, node %p\n", text, flags,
                (int)code, (int)params.result_out, (void *)params.hErrNode_out);
    if (code == CUDA_SUCCESS)
        OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
}

#define FITS(text, flags) expect(text, flags, CUDA_GRAPH_INSTANTIATE_SUCCESS, NULL)
#define WRONG(text, flags, result, node)                                                 \
    expect(text, flags, CUDA_GRAPH_INSTANTIATE_##result, node)

static void results_name_a_node(void)
{
    FITS("", 0);
    FITS("k1 m2<k1 e3 h4 r5 w6 g7 c8", 0);
    WRONG("k1 k2<k1 k3<k2 +k3>k2", 0, INVALID_STRUCTURE, "k2");
    WRONG("e0 k1 k2<k1 k3<k2 +k3>k1 k4<k3", 0, INVALID_STRUCTURE, "k1");
    WRONG("k1", 16, ERROR, NULL);
    WRONG("k1 h2<k1", DEVICE, NODE_OPERATION_NOT_SUPPORTED, "h2");
    CUDA_GRAPH_INSTANTIATE_PARAMS params = with(0);
    CUgraphExec exec;
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithParams(&exec, NULL, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_ERROR);
    CHECK(params.hErrNode_out == NULL);
}

static void a_cycle_in_a_child_is_named(void)
{
    const text_graph graph = text_build("k0 g1<k0");
    CUgraph child;
    CUgraphNode inside[2];
    size_t count = 2;
    CUgraphExec exec;
    OK(cu.cuGraphChildGraphNodeGetGraph(graph.nodes[1], &child));
    OK(cu.cuGraphGetNodes(child, inside, &count));
    OK(cu.cuGraphAddDependencies(child, &inside[1], &inside[0], NULL, 1));
    CUDA_GRAPH_INSTANTIATE_PARAMS params = with(0);
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithParams(&exec, graph.graph, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    CHECK(params.hErrNode_out == inside[0]);
    OK(cu.cuGraphDestroy(graph.graph));
}

/* ---- graphs for device launch ---- */

static void what_a_device_graph_may_hold(void)
{
    FITS("k1 m2<k1 c3<m2", DEVICE);
    FITS("g1", DEVICE);
    FITS("m1", DEVICE | UPLOAD | PRIORITY);
    WRONG("", DEVICE, ERROR, NULL);
    WRONG("e1", DEVICE, NODE_OPERATION_NOT_SUPPORTED, "e1");
    WRONG("k1 h2<k1", DEVICE, NODE_OPERATION_NOT_SUPPORTED, "h2");
    WRONG("k1 r2<k1", DEVICE, NODE_OPERATION_NOT_SUPPORTED, "r2");
    WRONG("k1 w2<k1", DEVICE, NODE_OPERATION_NOT_SUPPORTED, "w2");
}

static void the_host_launches_device_graphs(void)
{
    CUgraphExec exec = text_instantiate("k1", DEVICE);
    write_word(1);
    OK(cu.cuGraphLaunch(exec, stream));
    CHECK(read_word() == 5);
    OK(cu.cuGraphExecDestroy(exec));
}

/* ---- child graphs ---- */

static void a_child_graph_is_not_instantiated(void)
{
    const text_graph kid = text_build("k1 m2<k1");
    CUgraph parent, child;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraphNodeParams move = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    move.graph.graph = kid.graph;
    move.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    OK(cu.cuGraphCreate(&parent, 0));
    OK(cu.cuGraphAddNode(&node, parent, NULL, NULL, 0, &move));
    CUDA_GRAPH_INSTANTIATE_PARAMS params = with(0);
    REFUSED(NOT_SUPPORTED, cu.cuGraphInstantiateWithParams(&exec, kid.graph, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_ERROR);
    OK(cu.cuGraphDestroy(parent));
    const text_graph copied = text_build("g1");
    OK(cu.cuGraphChildGraphNodeGetGraph(copied.nodes[0], &child));
    REFUSED(NOT_SUPPORTED, cu.cuGraphInstantiateWithFlags(&exec, child, 0));
    OK(cu.cuGraphDestroy(copied.graph));
}

/* ---- order ---- */

static void launches_of_one_follow_each_other(void)
{
    const text_graph graph = gated();
    CUgraphExec exec, other;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, 0));
    OK(cu.cuGraphInstantiateWithFlags(&other, graph.graph, 0));
    close_gate();
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuGraphLaunch(exec, second));
    pause_until_reached(1);
    const struct timespec pause = {.tv_nsec = 50 * 1000000};
    nanosleep(&pause, NULL);
    CHECK(atomic_load(&reached) == 1);
    CHECK_IS(cu.cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    atomic_store(&gate, 1);
    OK(cu.cuStreamSynchronize(second));
    OK(cu.cuStreamQuery(stream)); /* the first was done before the second */
    CHECK(atomic_load(&reached) == 2);
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuGraphLaunch(other, second)); /* another one need not wait */
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuStreamSynchronize(second));
    CHECK(atomic_load(&reached) == 4);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphExecDestroy(other));
    OK(cu.cuGraphDestroy(graph.graph));
}

static void launches_follow_the_work_of_their_stream(void)
{
    CUgraphExec exec = text_instantiate("k1", 0);
    close_gate();
    write_word(1);
    OK(cu.cuLaunchHostFunc(stream, wait_at_gate, NULL));
    OK(cu.cuMemsetD32Async(text_memory[0], 2, 1, stream));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuMemcpyDtoDAsync(text_memory[1], text_memory[0], 4, stream));
    OK(cu.cuMemsetD32Async(text_memory[0], 3, 1, stream));
    atomic_store(&gate, 1);
    unsigned between = 0;
    OK(cu.cuMemcpyDtoHAsync(&between, text_memory[1], 4, stream));
    CHECK(read_word() == 3);
    CHECK(between == 5);
    OK(cu.cuGraphExecDestroy(exec));
}

/* An upload comes in its turn and holds nobody up. */
static void an_upload_takes_its_turn(void)
{
    const text_graph graph = text_build("k1");
    CUgraphExec exec;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, 0));
    close_gate();
    write_word(1);
    OK(cu.cuLaunchHostFunc(stream, wait_at_gate, NULL));
    OK(cu.cuGraphUpload(exec, stream));
    OK(cu.cuGraphUpload(exec, stream));
    CHECK_IS(cu.cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    OK(cu.cuGraphLaunch(exec, stream));
    atomic_store(&gate, 1);
    CHECK(read_word() == 5);
    OK(cu.cuGraphUpload(exec, NULL));
    OK(cu.cuGraphExecDestroy(exec));
    REFUSED(INVALID_VALUE, cu.cuGraphUpload(NULL, stream));
    OK(cu.cuGraphDestroy(graph.graph));
}

static void an_upload_can_be_part_of_the_call(void)
{
    const text_graph graph = text_build("k1");
    CUgraphExec exec;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = with(UPLOAD);
    write_word(1);
    OK(cu.cuGraphInstantiateWithParams(&exec, graph.graph, &params));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuGraphLaunch(exec, second));
    OK(cu.cuStreamSynchronize(second));
    CHECK(read_word() == 5);
    OK(cu.cuGraphExecDestroy(exec));
    params.hUploadStream = NULL;
    OK(cu.cuGraphInstantiateWithParams(&exec, graph.graph, &params));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
}

/* ---- ends ---- */

static void what_is_destroyed_runs_to_its_end(void)
{
    const text_graph graph = gated();
    CUgraphExec exec;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, 0));
    OK(cu.cuGraphUpload(exec, stream));
    write_word(1);
    close_gate();
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuGraphLaunch(exec, stream));
    pause_until_reached(1);
    OK(cu.cuGraphDestroy(graph.graph));
    OK(cu.cuGraphExecDestroy(exec));
    if (driver_is_soft) { /* NVIDIA's may crash */
        REFUSED(INVALID_VALUE, cu.cuGraphLaunch(exec, stream));
        REFUSED(INVALID_VALUE, cu.cuGraphExecDestroy(exec));
    }
    atomic_store(&gate, 1);
    CHECK(read_word() == 5);
    CHECK(atomic_load(&reached) == 2);
}

static void a_graph_that_is_gone_leaves_its_executable(void)
{
    const text_graph graph = text_build("k1");
    CUgraphExec exec;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, 0));
    OK(cu.cuGraphDestroy(graph.graph));
    write_word(1);
    OK(cu.cuGraphLaunch(exec, stream));
    CHECK(read_word() == 5);
    OK(cu.cuGraphExecDestroy(exec));
}

static void both_outlive_their_context(void)
{
    const text_graph graph = text_build("e1 e2<e1");
    CUcontext context;
    CUgraph made_there;
    CUgraphExec exec;
    CUgraphNode node;
    cuuint64_t flags = 77;
    size_t count = 0;
    OK(cu.cuCtxCreate(&context, NULL, 0, 0));
    OK(cu.cuGraphCreate(&made_there, 0));
    OK(cu.cuGraphAddEmptyNode(&node, made_there, NULL, 0));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, 0));
    OK(cu.cuCtxDestroy(context));
    OK(cu.cuCtxSetCurrent(text_context));
    OK(cu.cuGraphGetNodes(made_there, NULL, &count));
    CHECK(count == 1);
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuGraphExecGetFlags(exec, &flags));
    CHECK(flags == 0);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(made_there));
    OK(cu.cuGraphDestroy(graph.graph));
}

static void a_stream_of_another_context_will_do(void)
{
    CUcontext context;
    CUstream there;
    CUgraphExec exec = text_instantiate("k1", 0);
    write_word(1);
    OK(cu.cuCtxCreate(&context, NULL, 0, 0));
    OK(cu.cuStreamCreate(&there, CU_STREAM_NON_BLOCKING));
    OK(cu.cuGraphLaunch(exec, there));
    OK(cu.cuStreamSynchronize(there));
    OK(cu.cuCtxDestroy(context));
    OK(cu.cuCtxSetCurrent(text_context));
    CHECK(read_word() == 5);
    OK(cu.cuGraphExecDestroy(exec));
}

/* ---- priorities, captures ---- */

static void a_captured_kernel_has_its_streams_priority(void)
{
    int least = 0, greatest = 0;
    CUstream high;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUkernelNodeAttrValue value = {0};
    size_t count = 1;
    unsigned five = 5;
    const CUDA_KERNEL_NODE_PARAMS params = store_params(&text_memory[0], &five);
    OK(cu.cuCtxGetStreamPriorityRange(&least, &greatest));
    OK(cu.cuStreamCreateWithPriority(&high, CU_STREAM_NON_BLOCKING, greatest));
    OK(cu.cuStreamBeginCapture(high, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuLaunchKernel(params.func, 1, 1, 1, 1, 1, 1, 0, high, params.kernelParams,
                         NULL));
    OK(cu.cuStreamEndCapture(high, &graph));
    OK(cu.cuGraphGetNodes(graph, &node, &count));
    OK(cu.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    CHECK(value.priority == greatest);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, PRIORITY));
    write_word(1);
    OK(cu.cuGraphLaunch(exec, stream));
    CHECK(read_word() == 5);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuStreamDestroy(high));
}

/* Against the documents: where the capture's mode lets it. */
static void a_graph_is_instantiated_while_it_is_captured_into(void)
{
    const text_graph graph = text_build("k1"), like = text_build("k1");
    CUgraphExec exec, other;
    CUgraph out;
    CUgraphExecUpdateResultInfo info;
    OK(cu.cuGraphInstantiateWithFlags(&other, like.graph, 0));
    OK(cu.cuStreamBeginCaptureToGraph(stream, graph.graph, graph.nodes, NULL, 1,
                                      CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, 0));
    OK(cu.cuGraphExecUpdate(other, graph.graph, &info));
    OK(cu.cuStreamEndCapture(stream, &out));
    CHECK(out == graph.graph);
    write_word(1);
    OK(cu.cuGraphLaunch(exec, stream));
    CHECK(read_word() == 5);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphExecDestroy(other));
    OK(cu.cuGraphDestroy(graph.graph));
    OK(cu.cuGraphDestroy(like.graph));
}

static void nothing_is_made_without_a_context(void)
{
    CUgraph graph;
    CUgraphExec exec = NULL, made;
    CUcontext context = NULL;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphInstantiateWithFlags(&made, graph, 0));
    OK(cu.cuCtxPopCurrent(&context));
    REFUSED(INVALID_CONTEXT, cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    REFUSED(INVALID_CONTEXT, cu.cuGraphLaunch(made, NULL));
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithFlags(&exec, graph, 0x999));
    REFUSED(INVALID_CONTEXT, cu.cuGraphInstantiateWithFlags(NULL, graph, 0));
    CHECK(exec == NULL);
    OK(cu.cuCtxPushCurrent(context));
    OK(cu.cuGraphExecDestroy(made));
    OK(cu.cuGraphDestroy(graph));
}

static void run(void)
{
    if (!rule_listing) {
        text_start();
        OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        OK(cu.cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    }
    RULE_TEST(R29, each_flag_has_its_call);
    RULE_TEST(R30, results_name_a_node);
    RULE_TEST(R30, a_cycle_in_a_child_is_named);
    RULE_TEST(R31, the_flags_that_are_told);
    RULE_TEST(M_device_graph, what_a_device_graph_may_hold);
    RULE_TEST(M_device_graph, the_host_launches_device_graphs);
    RULE_TEST(M_child_instantiate, a_child_graph_is_not_instantiated);
    RULE_TEST(R33, launches_of_one_follow_each_other);
    RULE_TEST(R33, launches_follow_the_work_of_their_stream);
    RULE_TEST(R36, an_upload_takes_its_turn);
    RULE_TEST(R36, an_upload_can_be_part_of_the_call);
    RULE_TEST(R37, what_is_destroyed_runs_to_its_end);
    RULE_TEST(R37, a_graph_that_is_gone_leaves_its_executable);
    RULE_TEST(R38, a_captured_kernel_has_its_streams_priority);
    RULE_TEST(R39, a_graph_is_instantiated_while_it_is_captured_into);
    RULE_TEST(M_instantiate_context, nothing_is_made_without_a_context);
    RULE_TEST(R40, both_outlive_their_context);
    RULE_TEST(R40, a_stream_of_another_context_will_do);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
