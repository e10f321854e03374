// SPDX-License-Identifier: Apache-2.0
/* Graphs that kernels launch and nodes that kernels change, under want of memory; and
 * launches without an end. */
#include "fault/sweep.h"

#include "conformance/rules/device_kernels.h"

static char said[4096];

static void listen(void *unused, CUlogLevel level, char *message, size_t length)
{
    (void)unused, (void)level;
    if (strlen(said) + length < sizeof(said))
        strncat(said, message, length);
}

/* Nodes become such that kernels change or stay as they are. */
static void an_attribute_is_set_or_not(void)
{
    for (SWEEP(nth)) {
        CUgraph graph = new_graph(), copy = new_graph();
        CUgraphNode node = marks(graph, NULL, 1), child;
        CUlaunchAttributeValue value;
        memset(&value, 0, sizeof(value));
        value.deviceUpdatableKernelNode.deviceUpdatable = 1;
        fail_allocation(nth);
        const bool made =
            worked(cu.cuGraphKernelNodeSetAttribute(
                       node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value),
                   nth);
        const bool fine =
            made &&
            worked(cu.cuGraphAddChildGraphNode(&child, copy, NULL, 0, graph), nth);
        END_OF_SWEEP(nth, fine);
        CHECK(node_count(copy) == fine);
        CHECK(cu.cuGraphDestroyNode(node) ==
              (made ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS));
        OK(cu.cuGraphDestroy(copy));
        OK(cu.cuGraphDestroy(graph));
    }
    CHECK(swept > 5);
}

/* A graph with a node that kernels change, for the device; its setter; a launcher. */
struct made {
    CUgraph graph;
    CUgraphNode node;
    CUgraphDeviceNode handle;
};

static struct made make(unsigned value)
{
    struct made m = {.graph = new_graph()};
    CUlaunchAttributeValue attribute;
    memset(&attribute, 0, sizeof(attribute));
    attribute.deviceUpdatableKernelNode.deviceUpdatable = 1;
    m.node = marks(m.graph, NULL, value);
    OK(cu.cuGraphKernelNodeSetAttribute(
        m.node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &attribute));
    m.handle = attribute.deviceUpdatableKernelNode.devNode;
    return m;
}

static void instantiation_gives_all_or_nothing(void)
{
    struct made m = make(7);
    for (SWEEP(nth)) {
        CUgraphExec exec = NULL;
        CUDA_GRAPH_INSTANTIATE_PARAMS params = {
            .flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                     CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
            .hUploadStream = stream};
        fail_allocation(nth);
        const bool fine =
            worked(cu.cuGraphInstantiateWithParams(&exec, m.graph, &params), nth);
        END_OF_SWEEP(nth, fine);
        if (!CHECK(fine == (exec != NULL)) || !fine)
            continue;
        CUgraph graph = new_graph();
        fires(graph, NULL, exec, TAIL, 0);
        clear();
        run_graph(graph);
        ANSWERED(0, 0);
        LOGGED(7);
        OK(cu.cuGraphDestroy(graph));
        OK(cu.cuGraphExecDestroy(exec));
    }
    CHECK(swept > 10);
    OK(cu.cuGraphDestroy(m.graph));
}

static void setters_do_all_or_nothing(void)
{
    struct made m = make(7);
    unsigned value = 8;
    void *args[] = {&log_, &value};
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(function("mark"), args);
    for (SWEEP(nth)) {
        CUgraphExec exec = instantiate(m.graph);
        launch_and_wait(exec);
        fail_allocation(nth);
        const bool set =
            worked(cu.cuGraphExecKernelNodeSetParams(exec, m.node, &params), nth);
        const bool fine = set && worked(cu.cuGraphNodeSetEnabled(exec, m.node, 0), nth);
        END_OF_SWEEP(nth, fine);
        clear();
        launch_and_wait(exec);
        if (fine)
            LOGGED_NOTHING();
        else if (set)
            LOGGED(8);
        else
            LOGGED(7);
        OK(cu.cuGraphExecDestroy(exec));
    }
    CHECK(swept >= 3);
    OK(cu.cuGraphDestroy(m.graph));
}

/* Neither a launch by the host nor what kernels do in it needs memory, once the engine
 * has its plans. */
static void kernels_need_no_memory(void)
{
    struct made m = make(7);
    CUgraph graph = new_graph(), self = new_graph();
    size_t offset = 8, bytes = 4;
    CUdeviceptr nine = answer + 512, out = answer + 4;
    void *set[] = {&m.handle, &offset, &nine, &bytes, &out};
    void *again[] = {&word, &answer};
    node_behind(self, marks(self, NULL, 5), "again", again);
    CUgraphExec exec = uploaded(m.graph), loops = uploaded(self);
    CUgraphNode node = node_behind(graph, NULL, "set_param", set);
    fires(graph, fires(graph, node, exec, FORGET, 2), loops, TAIL, 3);
    CUgraphExec host = instantiate(graph);
    for (int round = 0; round < 7; round++) {
        clear();
        OK(cu.cuMemsetD32(nine, 9, 1));
        OK(cu.cuMemsetD32(word, 3, 1));
        OK(cu.cuCtxSynchronize());
        if (round > 4)
            fail_allocation(0);
        OK(cu.cuGraphLaunch(host, stream));
        OK(cu.cuStreamSynchronize(stream));
        if (round > 4)
            CHECK(fail_allocation(-1) == 0);
        for (unsigned i = 0; i < 4; i++)
            ANSWERED(i, 0);
        CHECK(word_at(log_) == 5 && word_at(log_ + 4) == 9 && word_at(word) == 0);
    }
    OK(cu.cuGraphExecDestroy(host));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphExecDestroy(loops));
    OK(cu.cuGraphDestroy(graph));
}

/* What is destroyed while it is pending still runs. */
static void handles_go_while_it_runs(void)
{
    CUgraph graph = new_graph(), self = new_graph();
    void *again[] = {&word, &answer};
    node_behind(self, marks(self, NULL, 5), "again", again);
    CUgraphExec exec = uploaded(self);
    fires(graph, NULL, exec, TAIL, 1);
    CUgraphExec host = instantiate(graph);
    OK(cu.cuGraphDestroy(graph));
    clear();
    OK(cu.cuMemsetD32(word, 200, 1));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuGraphLaunch(host, stream));
    OK(cu.cuGraphExecDestroy(host));
    while (word_at(word) > 190)
        ;
    OK(cu.cuStreamSynchronize(stream));
    CHECK(word_at(word) == 0 && word_at(log_) == 201);
    OK(cu.cuGraphExecDestroy(exec));
}

/* The last: the context is over. */
static void launches_without_an_end_are_counted(void)
{
    CUgraph self = new_graph();
    void *again[] = {&word, &answer};
    node_behind(self, NULL, "again", again);
    CUgraphExec exec = uploaded(self);
    OK(cu.cuMemsetD32(word, UINT32_MAX, 1));
    OK(cu.cuCtxSynchronize());
    said[0] = '\0';
    OK(cu.cuGraphLaunch(exec, stream));
    CHECK(cu.cuStreamSynchronize(stream) == CUDA_ERROR_LAUNCH_TIMEOUT);
    unsigned long long count = 0;
    const char *has = strstr(said, "have launched ");
    CHECK(has && sscanf(has, "have launched %llu graphs", &count) == 1 && count > 100);
    OK(cu.cuGraphExecDestroy(exec));
}

int main(void)
{
    setenv("SOFTCUDA_GRAPH_TIMEOUT_MS", "300", 1);
    DRIVER_OR_SKIP();
    if (!can_fail())
        return 77;
    OK(cu.cuInit(0));
    use_primary();
    set_up();
    CUlogsCallbackHandle handle;
    OK(cu.cuLogsRegisterCallback(listen, NULL, &handle));
    RUN(an_attribute_is_set_or_not);
    RUN(instantiation_gives_all_or_nothing);
    RUN(setters_do_all_or_nothing);
    RUN(kernels_need_no_memory);
    RUN(handles_go_while_it_runs);
    RUN(launches_without_an_end_are_counted);
    OK(cu.cuLogsUnregisterCallback(handle));
    return test_done();
}
