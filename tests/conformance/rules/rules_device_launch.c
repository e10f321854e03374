// SPDX-License-Identifier: Apache-2.0
/* R71-R77: graphs that kernels launch. */
#include "device_kernels.h"

/* Executables that are given out and destroyed together. */
enum { MANY = 260 };
static CUgraphExec many[MANY];
static unsigned many_count;

static CUgraphExec keep(CUgraphExec exec)
{
    if (CHECK(many_count < MANY))
        many[many_count++] = exec;
    return exec;
}

static void drop_all(void)
{
    OK(cu.cuCtxSynchronize());
    while (many_count > 0)
        OK(cu.cuGraphExecDestroy(many[--many_count]));
}

/* A host's graph that launches `exec`; its answer is answer[0]. */
static CUgraphExec launcher(CUgraphExec exec, uint64_t where)
{
    CUgraph graph = new_graph();
    fires(graph, NULL, exec, where, 0);
    CUgraphExec made = keep(instantiate(graph));
    OK(cu.cuGraphDestroy(graph));
    return made;
}

/* One that launches all of a list in turn. */
static CUgraphExec launcher_of(CUdeviceptr list, unsigned count, uint64_t where)
{
    CUgraph graph = new_graph();
    void *args[] = {&list, &count, &where, &answer};
    node_behind(graph, NULL, "fire_all", args);
    CUgraphExec made = keep(instantiate(graph));
    OK(cu.cuGraphDestroy(graph));
    return made;
}

static CUdeviceptr list_of(const CUgraphExec *execs, unsigned count)
{
    CUdeviceptr list = 0;
    OK(cu.cuMemAlloc(&list, count * sizeof(*execs)));
    OK(cu.cuMemcpyHtoD(list, execs, count * sizeof(*execs)));
    return list;
}

/* ---- uploads ----------------------------------------------------------------------- */

/* All are kept to the end: a new executable may lie where one was that is gone, and then an H100
 * launches what was uploaded there. */
static void a_launch_wants_an_upload(void)
{
    static const uint64_t streams[] = {TAIL, FORGET, SIBLING};
    for (int i = 0; i < 3; i++) {
        CUgraph graph = new_graph();
        marks(graph, NULL, 7);
        CUgraphExec exec = keep(for_device(graph));
        OK(cu.cuGraphDestroy(graph));
        CUgraphExec host = launcher(exec, streams[i]);
        clear();
        launch_and_wait(host);
        ANSWERED(0, 1);
        LOGGED_NOTHING();
        OK(cu.cuGraphUpload(exec, stream));
        launch_and_wait(host);
        ANSWERED(0, 0);
        LOGGED(7);
    }
    drop_all();
}

static void the_flag_and_the_host_upload(void)
{
    for (int by_host = 0; by_host < 2; by_host++) {
        CUgraph graph = new_graph();
        CUgraphExec exec = NULL;
        CUDA_GRAPH_INSTANTIATE_PARAMS params = {
            .flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH, .hUploadStream = stream};
        if (!by_host)
            params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
        marks(graph, NULL, 7);
        OK(cu.cuGraphInstantiateWithParams(&exec, graph, &params));
        keep(exec);
        CUgraphExec host = launcher(exec, TAIL);
        clear();
        if (by_host)
            launch_and_wait(exec);
        launch_and_wait(host);
        ANSWERED(0, 0);
        if (by_host)
            LOGGED(7, 7);
        else
            LOGGED(7);
        OK(cu.cuGraphDestroy(graph));
        drop_all();
    }
}

static void an_edit_wants_another_upload(void)
{
    CUgraph graph = new_graph();
    unsigned value = 9;
    void *args[] = {&log_, &value};
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(function("mark"), args);
    const CUgraphNode node = marks(graph, NULL, 7);
    CUgraphExec exec = keep(for_device(graph)), host = launcher(exec, TAIL);
    OK(cu.cuGraphUpload(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuGraphExecKernelNodeSetParams(exec, node, &params));
    clear();
    launch_and_wait(host);
    ANSWERED(0, 0);
    LOGGED(7);
    OK(cu.cuGraphUpload(exec, stream));
    launch_and_wait(host);
    LOGGED(7, 9);
    value = 11;
    OK(cu.cuGraphExecKernelNodeSetParams(exec, node, &params));
    launch_and_wait(exec);
    launch_and_wait(host);
    LOGGED(7, 9, 11, 11);
    OK(cu.cuGraphNodeSetEnabled(exec, node, 0));
    launch_and_wait(host);
    LOGGED(7, 9, 11, 11, 11);
    OK(cu.cuGraphUpload(exec, stream));
    launch_and_wait(host);
    LOGGED(7, 9, 11, 11, 11);
    OK(cu.cuGraphDestroy(graph));
    drop_all();
}

/* ---- where to, and from where ------------------------------------------------------ */

static void there_are_three_streams(void)
{
    static const uint64_t wrong[] = {0, 1, 2, 3, UINT64_C(0x0400000000000000), TAIL + 1};
    CUgraphExec exec = keep(marking(7));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        clear();
        launch_and_wait(launcher(exec, wrong[i]));
        ANSWERED(0, 1);
        LOGGED_NOTHING();
    }
    clear();
    launch_and_wait(launcher(NULL, TAIL));
    ANSWERED(0, 1);
    LOGGED_NOTHING();
    drop_all();
}

static void graphs_launch_graphs(void)
{
    static const uint64_t streams[] = {TAIL, FORGET, SIBLING};
    for (int i = 0; i < 3; i++) {
        CUgraph graph = new_graph();
        CUgraphExec last = keep(marking(3)), middle;
        fires(graph, marks(graph, NULL, 2), last, streams[i], 1);
        middle = keep(uploaded(graph));
        CUgraphExec first = launcher(middle, streams[i]);
        for (int launch = 0; launch < 3; launch++) {
            clear();
            launch_and_wait(first);
            ANSWERED(0, 0);
            ANSWERED(1, 0);
            LOGGED(2, 3);
        }
        drop_all();
    }
}

/* Outside a graph a kernel that launches graphs is not launched. */
static void a_kernel_alone_launches_nothing(void)
{
    CUgraphExec exec = keep(marking(7));
    uint64_t where = TAIL;
    void *args[] = {&exec, &where, &answer};
    REFUSED(NOT_SUPPORTED,
            cu.cuLaunchKernel(function("fire"), 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    OK(cu.cuStreamSynchronize(stream));
    drop_all();
}

static void captured_kernels_launch(void)
{
    CUgraph graph;
    CUgraphExec exec = keep(marking(7));
    uint64_t where = TAIL;
    void *args[] = {&exec, &where, &answer};
    clear();
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cu.cuLaunchKernel(function("fire"), 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    OK(cu.cuStreamEndCapture(stream, &graph));
    CUgraphExec host = keep(instantiate(graph));
    OK(cu.cuGraphDestroy(graph));
    launch_and_wait(host);
    ANSWERED(0, 0);
    LOGGED(7);
    drop_all();
}

static void kernels_that_launch_are_of_one_context(void)
{
    CUgraph graph = new_graph();
    CUcontext second, popped;
    CUmodule module;
    CUfunction fire;
    CUgraphExec exec = keep(marking(7)), host = NULL;
    uint64_t where = TAIL;
    void *args[] = {&exec, &where, &answer};
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = 0};
    CUgraphNode node = NULL;
    fires(graph, NULL, exec, TAIL, 0);
    OK(cu.cuCtxCreate(&second, NULL, 0, 0));
    OK(cu.cuModuleLoadData(&module, launch_ptx));
    OK(cu.cuModuleGetFunction(&fire, module, "fire"));
    const CUDA_KERNEL_NODE_PARAMS kernel = one_thread(fire, args);
    OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    OK(cu.cuCtxPopCurrent(&popped));
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithParams(&host, graph, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED);
    CHECK(params.hErrNode_out == node);
    if (host)
        keep(host);
    OK(cu.cuGraphDestroy(graph));
    drop_all();
    OK(cu.cuCtxDestroy(second));
}

/* A function that launches graphs, where none did when the graph was instantiated. */
static void a_kernel_does_not_begin_to_launch(void)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphExec exec = keep(marking(7));
    uint64_t where = TAIL;
    void *args[] = {&exec, &where, &answer};
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(function("fire"), args);
    const CUgraphNode node = marks(graph, NULL, 1);
    CUgraphExec host = keep(instantiate(graph));
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    fires(other, NULL, exec, TAIL, 0);
    REFUSED(INVALID_VALUE, cu.cuGraphExecKernelNodeSetParams(host, node, &params));
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, cu.cuGraphExecUpdate(host, other, &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(other));
    drop_all();
}

/* ---- how many ---------------------------------------------------------------------- */

static void one_launch_at_a_time(void)
{
    static const uint64_t streams[] = {TAIL, FORGET, SIBLING};
    for (int i = 0; i < 3; i++) {
        CUgraph graph = new_graph();
        unsigned rounds = 2000; /* it is pending when the second one comes */
        void *args[] = {&rounds};
        marks(graph, node_behind(graph, NULL, "nap", args), 7);
        CUgraphExec exec = keep(uploaded(graph));
        const CUgraphExec twice[] = {exec, exec};
        const CUdeviceptr list = list_of(twice, 2);
        CUgraphExec host = launcher_of(list, 2, streams[i]);
        for (int launch = 0; launch < 2; launch++) {
            clear();
            launch_and_wait(host);
            ANSWERED(0, 0);
            ANSWERED(1, 1);
            LOGGED(7);
        }
        drop_all();
        OK(cu.cuMemFree(list));
    }
}

/* `count` graphs, of which the last does not fit. */
static void fits_but_one(unsigned count, uint64_t where)
{
    static CUgraphExec execs[MANY];
    for (unsigned i = 0; i < count; i++)
        execs[i] = keep(marking(7));
    const CUdeviceptr list = list_of(execs, count);
    CUgraphExec host = launcher_of(list, count, where);
    for (int launch = 0; launch < 2; launch++) {
        clear();
        launch_and_wait(host);
        unsigned refused = 0;
        for (unsigned i = 0; i + 1 < count; i++)
            refused += word_at(answer + 4ull * i) != 0;
        CHECK(refused == 0);
        ANSWERED(count - 1, 1);
        CHECK(word_at(log_) == count - 1);
    }
    drop_all();
    OK(cu.cuMemFree(list));
}

static void a_run_forgets_120_graphs(void)
{
    fits_but_one(121, FORGET);
}

/* 119 graphs into an environment, among them one whose kernel launches two siblings. */
static void siblings_are_counted_where_they_are(void)
{
    static const uint64_t streams[] = {FORGET, SIBLING};
    for (int i = 0; i < 2; i++) {
        enum { COUNT = 119 };
        CUgraphExec execs[COUNT], two[] = {keep(marking(7)), keep(marking(7))};
        CUgraph graph = new_graph();
        CUdeviceptr list = list_of(two, 2), out = answer + 2048;
        unsigned count = 2;
        uint64_t where = SIBLING;
        void *args[] = {&list, &count, &where, &out};
        node_behind(graph, NULL, "fire_all", args);
        for (int k = 0; k + 1 < COUNT; k++)
            execs[k] = keep(marking(7));
        execs[COUNT - 1] = keep(uploaded(graph));
        const CUdeviceptr all = list_of(execs, COUNT);
        clear();
        launch_and_wait(launcher_of(all, COUNT, streams[i]));
        ANSWERED(COUNT - 1, 0);
        ANSWERED(512, 0);
        ANSWERED(513, 1);
        CHECK(word_at(log_) == COUNT);
        drop_all();
        OK(cu.cuMemFree(all));
        OK(cu.cuMemFree(list));
    }
}

static void a_run_has_255_tails(void)
{
    fits_but_one(256, TAIL);
}

static void a_run_has_120_siblings(void)
{
    fits_but_one(121, SIBLING);
}

static CUgraphExec launches_itself(bool twice)
{
    CUgraph graph = new_graph();
    CUdeviceptr second = answer + 4;
    void *args[] = {&word, &answer}, *more[] = {&word, &second};
    CUgraphNode node = node_behind(graph, marks(graph, NULL, 5), "again", args);
    if (twice)
        node_behind(graph, node, "again", more);
    return keep(uploaded(graph));
}

static void a_graph_launches_itself(void)
{
    CUgraphExec exec = launches_itself(false);
    for (int launch = 0; launch < 2; launch++) {
        clear();
        OK(cu.cuMemsetD32(word, 20, 1));
        OK(cu.cuCtxSynchronize());
        launch_and_wait(exec);
        ANSWERED(0, 0);
        CHECK(word_at(word) == 0 && word_at(log_) == 21);
    }
    clear();
    OK(cu.cuMemsetD32(word, 8, 1));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuGraphLaunch(exec, stream)); /* the second comes when the first is over */
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(word_at(word) == 0 && word_at(log_) == 10);
    drop_all();
}

static void but_not_twice(void)
{
    CUgraphExec exec = launches_itself(true);
    clear();
    OK(cu.cuMemsetD32(word, 2, 1));
    OK(cu.cuCtxSynchronize());
    launch_and_wait(exec);
    ANSWERED(0, 0);
    ANSWERED(1, 1);
    LOGGED(5, 5);
    drop_all();
}

/* ---- order ------------------------------------------------------------------------- */

static void tails_run_in_order(void)
{
    CUgraph middle = new_graph(), graph = new_graph();
    CUgraphExec one = keep(marking(1)), two = keep(marking(2)), three = keep(marking(3));
    marks(middle, fires(middle, fires(middle, NULL, two, TAIL, 1), three, TAIL, 2), 8);
    CUgraphExec first = keep(uploaded(middle));
    CUgraphNode node = fires(graph, fires(graph, NULL, first, TAIL, 0), one, TAIL, 3);
    marks(graph, node, 9);
    CUgraphExec host = keep(instantiate(graph));
    OK(cu.cuGraphDestroy(graph));
    for (int launch = 0; launch < 3; launch++) {
        clear();
        launch_and_wait(host);
        LOGGED(9, 8, 2, 3, 1);
    }
    drop_all();
}

static void tails_come_after_what_was_forgotten(void)
{
    CUgraph slow = new_graph(), graph = new_graph();
    unsigned rounds = 2000;
    void *args[] = {&rounds};
    CUgraphExec inner = keep(marking(4)), tail = keep(marking(6));
    CUgraphNode node = node_behind(slow, NULL, "nap", args);
    fires(slow, node, inner, FORGET, 1);
    CUgraphExec forgotten = keep(uploaded(slow));
    marks(graph, fires(graph, fires(graph, NULL, tail, TAIL, 2), forgotten, FORGET, 0),
          9);
    CUgraphExec host = keep(instantiate(graph));
    OK(cu.cuGraphDestroy(graph));
    clear();
    launch_and_wait(host);
    unsigned got[5] = {0};
    OK(cu.cuMemcpyDtoH(got, log_, sizeof(got)));
    CHECK(got[0] == 3 && got[1] + got[2] == 13 && got[3] == 6);
    drop_all();
}

/* A sibling that waits for the launcher's tail. */
static void siblings_hold_up_no_tail(void)
{
    CUgraph waiting = new_graph(), raising = new_graph(), graph = new_graph();
    unsigned eight = 8, nine = 9;
    void *waits[] = {&word, &log_, &eight}, *raises[] = {&word, &log_, &nine};
    node_behind(waiting, NULL, "await", waits);
    node_behind(raising, NULL, "raise", raises);
    CUgraphExec sibling = keep(uploaded(waiting)), tail = keep(uploaded(raising));
    fires(graph, fires(graph, NULL, sibling, SIBLING, 0), tail, TAIL, 1);
    CUgraphExec host = keep(instantiate(graph));
    OK(cu.cuGraphDestroy(graph));
    clear();
    OK(cu.cuMemsetD32(word, 0, 1));
    OK(cu.cuCtxSynchronize());
    launch_and_wait(host);
    ANSWERED(0, 0);
    ANSWERED(1, 0);
    LOGGED(9, 8);
    drop_all();
}

/* Two graphs that launch each other, and a copy after them in the stream. */
static void the_stream_waits_for_all(void)
{
    CUgraph graph = new_graph();
    unsigned rounds = 500, seen = 0;
    void *args[] = {&rounds};
    CUgraphExec last = keep(marking(3));
    CUgraphNode node = node_behind(graph, NULL, "nap", args);
    fires(graph, node, last, SIBLING, 1);
    CUgraphExec middle = keep(uploaded(graph)), host = launcher(middle, SIBLING);
    CUevent event;
    OK(cu.cuEventCreate(&event, 0));
    clear();
    OK(cu.cuGraphLaunch(host, stream));
    OK(cu.cuMemcpyDtoDAsync(word, log_, 4, stream));
    OK(cu.cuEventRecord(event, stream));
    OK(cu.cuEventSynchronize(event));
    OK(cu.cuMemcpyDtoH(&seen, word, 4));
    CHECK(seen == 1);
    OK(cu.cuEventDestroy(event));
    drop_all();
}

static void a_graph_knows_itself(void)
{
    CUgraph graph = new_graph();
    CUgraphExec seen = NULL;
    void *args[] = {&answer};
    node_behind(graph, NULL, "current", args);
    CUgraphExec host = keep(instantiate(graph));
    CUgraphExec exec = keep(uploaded(graph));
    clear();
    launch_and_wait(host);
    OK(cu.cuMemcpyDtoH(&seen, answer, sizeof(seen)));
    CHECK(!seen);
    launch_and_wait(exec);
    OK(cu.cuMemcpyDtoH(&seen, answer, sizeof(seen)));
    CHECK(seen == exec);
    clear();
    CUgraph other = new_graph();
    CUdeviceptr out = answer + 64;
    uint64_t where = TAIL;
    void *fire[] = {&exec, &where, &out};
    node_behind(other, NULL, "fire", fire);
    launch_and_wait(keep(instantiate(other)));
    OK(cu.cuMemcpyDtoH(&seen, answer, sizeof(seen)));
    CHECK(seen == exec);
    OK(cu.cuGraphDestroy(other));
    drop_all();
}

/* The last test: the context is over. */
static void it_was_instantiated_for_it(void)
{
    CUgraph graph = new_graph();
    marks(graph, NULL, 7);
    CUgraphExec exec = instantiate(graph), host = launcher(exec, TAIL);
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuGraphLaunch(host, stream));
    CHECK(cu.cuStreamSynchronize(stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void run(void)
{
    if (!rule_listing)
        set_up();
    RULE_TEST(R72, a_launch_wants_an_upload);
    RULE_TEST(R72, the_flag_and_the_host_upload);
    RULE_TEST(R72, an_edit_wants_another_upload);
    RULE_TEST(R74, there_are_three_streams);
    RULE_TEST(R74, graphs_launch_graphs);
    RULE_TEST(R74, a_kernel_alone_launches_nothing);
    RULE_TEST(R74, captured_kernels_launch);
    RULE_TEST(R71, kernels_that_launch_are_of_one_context);
    RULE_TEST(R71, a_kernel_does_not_begin_to_launch);
    RULE_TEST(R73, one_launch_at_a_time);
    RULE_TEST(R75, a_run_forgets_120_graphs);
    RULE_TEST(R75, a_run_has_255_tails);
    RULE_TEST(R75, a_run_has_120_siblings);
    RULE_TEST(R75, siblings_are_counted_where_they_are);
    RULE_TEST(R75, a_graph_launches_itself);
    RULE_TEST(R75, but_not_twice);
    RULE_TEST(R76, tails_run_in_order);
    RULE_TEST(R76, tails_come_after_what_was_forgotten);
    RULE_TEST(R76, siblings_hold_up_no_tail);
    RULE_TEST(R77, the_stream_waits_for_all);
    RULE_TEST(R77, a_graph_knows_itself);
    RULE_TEST(R72, it_was_instantiated_for_it);
}

int main(int argc, char **argv)
{
    /* A graph that waits for another one holds a worker meanwhile. */
    setenv("SOFTCUDA_WORKERS", "4", 0);
    return rule_main(argc, argv, run);
}
