// SPDX-License-Identifier: Apache-2.0
/* Conditional nodes under want of memory, and loops that never end. */
#include "conformance/kernels.h"
#include "fault/sweep.h"

static CUcontext context;
static CUstream stream;
static CUfunction store;
static CUdeviceptr memory;
static char said[4096];

static void listen(void *unused, CUlogLevel level, char *message, size_t length)
{
    (void)unused, (void)level;
    if (strlen(said) + length < sizeof(said))
        strncat(said, message, length);
}

static CUresult add_conditional(CUgraph graph, CUgraphConditionalHandle handle, int type,
                                unsigned size, CUgraph *bodies)
{
    CUgraphNode node;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = (CUgraphConditionalNodeType)type;
    params.conditional.size = size;
    params.conditional.ctx = context;
    const CUresult result = cu.cuGraphAddNode(&node, graph, NULL, NULL, 0, &params);
    for (unsigned i = 0; result == CUDA_SUCCESS && i < size; i++)
        bodies[i] = params.conditional.phGraph_out[i];
    return result;
}

static void add_store(CUgraph graph, unsigned value)
{
    CUgraphNode node;
    void *args[] = {&memory, &value};
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(store, args);
    OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
}

/* An IF in a SWITCH: which value is stored is said by the handles' defaults. */
static CUgraph nested(unsigned value)
{
    CUgraph graph, ways[2], inner[2];
    CUgraphConditionalHandle outer, deep;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphConditionalHandleCreate(&outer, graph, context, 1, 1));
    OK(cu.cuGraphConditionalHandleCreate(&deep, graph, context, 0, 1));
    OK(add_conditional(graph, outer, CU_GRAPH_COND_TYPE_SWITCH, 2, ways));
    add_store(ways[0], 1000);
    OK(add_conditional(ways[1], deep, CU_GRAPH_COND_TYPE_IF, 2, inner));
    add_store(inner[0], 2000);
    add_store(inner[1], value);
    return graph;
}

static unsigned stored(CUgraphExec exec)
{
    unsigned word = 0;
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemcpyDtoH(&word, memory, sizeof(word)));
    return word;
}

static void handles_and_nodes_come_whole_or_not(void)
{
    for (SWEEP(nth)) {
        CUgraph graph, bodies[3];
        CUgraphConditionalHandle handle = 0;
        size_t count = 9;
        OK(cu.cuGraphCreate(&graph, 0));
        fail_allocation(nth);
        const bool made =
            worked(cu.cuGraphConditionalHandleCreate(&handle, graph, context, 1, 1), nth);
        const bool fine =
            made &&
            worked(add_conditional(graph, handle, CU_GRAPH_COND_TYPE_SWITCH, 3, bodies),
                   nth);
        END_OF_SWEEP(nth, fine);
        OK(cu.cuGraphGetNodes(graph, NULL, &count));
        CHECK(count == fine);
        if (made && !fine) /* the handle is free as before */
            OK(add_conditional(graph, handle, CU_GRAPH_COND_TYPE_SWITCH, 3, bodies));
        OK(cu.cuGraphDestroy(graph));
    }
    CHECK(swept > 5);
}

static void instantiation_gives_all_or_nothing(void)
{
    CUgraph graph = nested(7);
    for (SWEEP(nth)) {
        CUgraphExec exec = NULL;
        fail_allocation(nth);
        const bool fine = worked(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), nth);
        END_OF_SWEEP(nth, fine);
        CHECK(fine == (exec != NULL));
        if (!fine)
            continue;
        CHECK(stored(exec) == 7);
        OK(cu.cuGraphExecDestroy(exec));
    }
    CHECK(swept > 10);
    OK(cu.cuGraphDestroy(graph));
}

static void an_update_does_all_or_nothing(void)
{
    CUgraph graph = nested(7), other = nested(8);
    for (SWEEP(nth)) {
        CUgraphExec exec;
        CUgraphExecUpdateResultInfo info;
        OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
        fail_allocation(nth);
        const bool fine = worked(cu.cuGraphExecUpdate(exec, other, &info), nth);
        END_OF_SWEEP(nth, fine);
        CHECK(stored(exec) == (fine ? 8 : 7));
        OK(cu.cuGraphExecDestroy(exec));
    }
    CHECK(swept > 2);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(other));
}

/* Nothing is allocated for a launch, however often its bodies run. */
static void launches_need_no_memory(void)
{
    CUgraph graph = nested(7);
    CUgraphExec exec;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(stored(exec) == 7);
    fail_allocation(0);
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(fail_allocation(-1) == 0);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* The last: the context is over. */
static void an_endless_loop_is_ended_with_its_rounds(void)
{
    CUgraph graph, body;
    CUgraphConditionalHandle handle;
    CUgraphExec exec;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphConditionalHandleCreate(&handle, graph, context, 1, 1));
    OK(add_conditional(graph, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &body));
    add_store(body, 1);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    said[0] = '\0';
    OK(cu.cuGraphLaunch(exec, stream));
    CHECK(cu.cuStreamSynchronize(stream) == CUDA_ERROR_LAUNCH_TIMEOUT);
    unsigned long long rounds = 0;
    const char *has = strstr(said, " has run ");
    CHECK(has != NULL && sscanf(has, " has run %llu rounds", &rounds) == 1 &&
          rounds > 100);
    CHECK(strstr(said, "WHILE node (node ") != NULL);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

int main(void)
{
    setenv("SOFTCUDA_GRAPH_TIMEOUT_MS", "300", 1);
    DRIVER_OR_SKIP();
    if (!can_fail())
        return 77;
    context = open_sweep(kernels_ptx, &stream, &store, &memory);
    CUlogsCallbackHandle handle;
    OK(cu.cuLogsRegisterCallback(listen, NULL, &handle));
    RUN(handles_and_nodes_come_whole_or_not);
    RUN(instantiation_gives_all_or_nothing);
    RUN(an_update_does_all_or_nothing);
    RUN(launches_need_no_memory);
    RUN(an_endless_loop_is_ended_with_its_rounds);
    OK(cu.cuLogsUnregisterCallback(handle));
    return test_done();
}
