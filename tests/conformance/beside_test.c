// SPDX-License-Identifier: Apache-2.0
/* SOFTCUDA_CHECK=race: launches that nothing orders and that touch the same byte are named with
 * both nodes, whichever ran first; each ordered twin of them is not. */
#include <sched.h>

#include "race_graphs.h"

enum { STREAMS = 4 };

static const place whole_too = {0, 1000, 1};

static CUstream streams[STREAMS]; /* do not wait for the default stream */
static CUstream blocking[2];      /* do */
static CUevent events[3];

static CUgraphExec exec_of(kind k, place at)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cu.cuGraphCreate(&graph, 0));
    add(graph, k, at, NULL, 0);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphDestroy(graph));
    return exec;
}

static void kernel_in(CUstream stream, kind k, place at)
{
    CUdeviceptr p = buffer + 4ull * at.first;
    uint32_t count = at.count;
    void *params[] = {&p, &count};
    OK(cu.cuLaunchKernel(functions[k], (count + 63) / 64, 1, 1, 64, 1, 1, 0, stream,
                         params, NULL));
}

static void launch_in(CUgraphExec exec, CUstream stream)
{
    OK(cu.cuGraphLaunch(exec, stream));
}

static void begin(void)
{
    OK(cu.cuCtxSynchronize());
    log_text[0] = '\0';
}

static void expect(const char *what, uint32_t expected)
{
    OK(cu.cuCtxSynchronize());
    if (!CHECK(reports() == expected))
        fprintf(stderr, "%s: %u reports, not %u\n%s", what, reports(), expected,
                log_text);
}

/* ---- order by streams and events --------------------------------------------------- */

/* What comes between a launch in stream 0 and one in stream 1; each but the first orders
 * them. */
typedef enum between {
    NOTHING,
    A_WHILE, /* the first is over for long when the other one is submitted */
    OTHER_EVENT,
    EVENT,
    EVENT_AT_ONCE, /* waited for when it is reached */
    TWO_EVENTS,    /* by a third stream */
    TWO_PAST_EVENTS,
    PAST_OF_CONTEXT, /* all streams wait for it, and the third one goes on */
    STREAM_WAIT,
    STREAM_QUERY,
    EVENT_WAIT,
    EVENT_QUERY,
    CONTEXT_WAIT,
    SYNC_COPY, /* of stream 0: waits for it */
    HOST_FUNCTION,
    FLAG, /* a word that stream 1 waits for */
    BETWEENS
} between;

static const char *const between_names[BETWEENS] = {"nothing",
                                                    "a while",
                                                    "an event of another stream",
                                                    "an event",
                                                    "a past event",
                                                    "two events",
                                                    "two past events",
                                                    "a past event of the context",
                                                    "a wait for the stream",
                                                    "a query of the stream",
                                                    "an event wait",
                                                    "an event query",
                                                    "a wait for the context",
                                                    "a copy",
                                                    "a host function",
                                                    "a flag"};

static atomic_int has_run;

static void CUDA_CB run(void *user)
{
    (void)user;
    atomic_store(&has_run, 1);
}

static void poll_until_ready(CUresult (*query)(void))
{
    CUresult result;
    while ((result = query()) == CUDA_ERROR_NOT_READY)
        sched_yield();
    CHECK(result == CUDA_SUCCESS);
}

static CUresult query_stream(void)
{
    return cu.cuStreamQuery(streams[0]);
}

static CUresult query_event(void)
{
    return cu.cuEventQuery(events[0]);
}

static void all_wait_for(CUevent event)
{
    CUcontext context;
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuCtxWaitEvent(context, event));
}

static void put(between what)
{
    CUdeviceptr flag = side + 4ull * WORDS * 60;
    switch (what) {
    case A_WHILE: usleep(3000); break;
    case OTHER_EVENT:
        OK(cu.cuEventRecord(events[0], streams[2]));
        OK(cu.cuStreamWaitEvent(streams[1], events[0], 0));
        break;
    case EVENT_AT_ONCE:
    case EVENT:
        OK(cu.cuEventRecord(events[0], streams[0]));
        if (what == EVENT_AT_ONCE)
            usleep(3000);
        OK(cu.cuStreamWaitEvent(streams[1], events[0], 0));
        break;
    case TWO_EVENTS:
    case TWO_PAST_EVENTS:
    case PAST_OF_CONTEXT:
        OK(cu.cuEventRecord(events[0], streams[0]));
        if (what != TWO_EVENTS)
            usleep(3000);
        if (what == PAST_OF_CONTEXT)
            all_wait_for(events[0]);
        else
            OK(cu.cuStreamWaitEvent(streams[2], events[0], 0));
        OK(cu.cuEventRecord(events[1], streams[2]));
        OK(cu.cuStreamWaitEvent(streams[1], events[1], 0));
        break;
    case STREAM_WAIT: OK(cu.cuStreamSynchronize(streams[0])); break;
    case STREAM_QUERY: poll_until_ready(query_stream); break;
    case EVENT_WAIT:
        OK(cu.cuEventRecord(events[0], streams[0]));
        OK(cu.cuEventSynchronize(events[0]));
        break;
    case EVENT_QUERY:
        OK(cu.cuEventRecord(events[0], streams[0]));
        poll_until_ready(query_event);
        break;
    case CONTEXT_WAIT: OK(cu.cuCtxSynchronize()); break;
    case SYNC_COPY: {
        uint32_t word;
        OK(cu.cuMemcpyDtoHAsync(&word, flag, 4, streams[0]));
        OK(cu.cuStreamSynchronize(streams[0]));
        break;
    }
    case HOST_FUNCTION:
        atomic_store(&has_run, 0);
        OK(cu.cuLaunchHostFunc(streams[0], run, NULL));
        while (atomic_load(&has_run) == 0)
            sched_yield();
        break;
    case FLAG:
        OK(cu.cuStreamWriteValue32(streams[0], flag, 1, 0));
        OK(cu.cuStreamWaitValue32(streams[1], flag, 1, CU_STREAM_WAIT_VALUE_EQ));
        break;
    default: break;
    }
}

static void graphs_in_two_streams(void)
{
    for (between what = 0; what < BETWEENS; what++) {
        CUgraphExec a = exec_of(WR, whole), b = exec_of(RD, whole_too);
        begin();
        launch_in(a, streams[0]);
        put(what);
        launch_in(b, streams[1]);
        expect(between_names[what], what <= OTHER_EVENT);
        OK(cu.cuGraphExecDestroy(a));
        OK(cu.cuGraphExecDestroy(b));
    }
}

/* The one in front of an event is ordered, the one after it is not. */
static void an_event_orders_what_is_before_it(void)
{
    CUgraphExec a = exec_of(WR, lower), b = exec_of(WR, upper),
                c = exec_of(RD, whole_too);
    begin();
    launch_in(a, streams[0]);
    OK(cu.cuEventRecord(events[0], streams[0]));
    launch_in(b, streams[0]);
    OK(cu.cuStreamWaitEvent(streams[1], events[0], 0));
    launch_in(c, streams[1]);
    expect("around an event", 1);
    CHECK(strstr(log_text, "400 bytes into the allocation of 4096 bytes") != NULL);
    OK(cu.cuGraphExecDestroy(a));
    OK(cu.cuGraphExecDestroy(b));
    OK(cu.cuGraphExecDestroy(c));
}

static void one_stream_and_one_executable_are_in_order(void)
{
    CUgraphExec a = exec_of(WR, whole), b = exec_of(WR, whole_too);
    begin();
    for (int i = 0; i < 3; i++) {
        launch_in(a, streams[0]);
        launch_in(b, streams[0]);
        kernel_in(streams[0], WR, whole);
    }
    expect("one stream", 0);
    for (int i = 0; i < 4; i++)
        launch_in(a, streams[i]);
    expect("one executable", 0);
    OK(cu.cuGraphExecDestroy(a));
    OK(cu.cuGraphExecDestroy(b));
}

/* A graph alone says what it said. */
static void races_within_a_graph_are_reported_as_before(void)
{
    CUgraph graph;
    OK(cu.cuGraphCreate(&graph, 0));
    add(graph, WR, whole, NULL, 0);
    add(graph, WR, whole_too, NULL, 0);
    launch(graph, 3);
    expect("one graph", 1);
    CHECK(said("no path of dependencies orders them"));
    OK(cu.cuGraphDestroy(graph));
}

static void each_pair_is_reported_once(void)
{
    CUgraphExec a = exec_of(WR, whole), b = exec_of(WR, whole_too);
    begin();
    for (int i = 0; i < 200; i++) {
        launch_in(a, streams[0]);
        launch_in(b, streams[1]);
    }
    expect("many launches", 1);
    OK(cu.cuGraphExecDestroy(a));
    OK(cu.cuGraphExecDestroy(b));
}

static void the_default_stream_orders_blocking_ones(void)
{
    for (int ordered = 0; ordered < 2; ordered++)
        for (int pause = 0; pause < 2; pause++) {
            CUgraphExec a = exec_of(WR, whole), b = exec_of(WR, whole_too);
            begin();
            launch_in(a, blocking[0]);
            if (pause)
                usleep(2000);
            if (ordered)
                OK(cu.cuMemsetD32Async(side, 0, 1, NULL));
            launch_in(b, blocking[1]);
            expect(ordered ? "with the default stream" : "without", !ordered);
            OK(cu.cuGraphExecDestroy(a));
            OK(cu.cuGraphExecDestroy(b));
        }
}

/* Who destroys a stream has not waited for its work; who waits for the context has. */
static void a_destroyed_stream_is_waited_for_with_its_context(void)
{
    for (int waits = 0; waits < 2; waits++) {
        CUstream gone;
        begin();
        OK(cu.cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING));
        kernel_in(gone, WR, whole);
        OK(cu.cuStreamDestroy(gone));
        if (waits)
            OK(cu.cuCtxSynchronize());
        kernel_in(streams[1], RD, whole);
        expect(waits ? "a destroyed stream" : "a destroyed stream, at once", !waits);
    }
}

/* ---- what is touched --------------------------------------------------------------- */

static const bool writes[KINDS] = {
    [WR] = true, [AT] = true, [VW] = true, [FILL] = true, [TO] = true, [SET] = true};
static const bool strong[KINDS] = {
    [AT] = true, [VW] = true, [VR] = true, [SET] = true, [AWAIT] = true};

static void every_pair_of_kinds(void)
{
    static const place word = {0, 1, 1};
    for (kind a = 0; a < KINDS; a++)
        for (kind b = 0; b < KINDS; b++) {
            const bool one_word = b == SET || b == AWAIT;
            CUgraphExec one = exec_of(a, whole),
                        other = exec_of(b, one_word ? word : whole_too);
            begin();
            launch_in(one, streams[0]);
            launch_in(other, streams[1]);
            /* What waits for a word may wait for what the other one has done. */
            const bool waits = a == AWAIT || b == AWAIT;
            OK(cu.cuCtxSynchronize());
            if (!waits)
                expect(names[a], (writes[a] || writes[b]) && !(strong[a] && strong[b]));
            OK(cu.cuGraphExecDestroy(one));
            OK(cu.cuGraphExecDestroy(other));
        }
}

static void other_bytes_do_not_race(void)
{
    CUgraphExec a = exec_of(WR, lower), b = exec_of(FILL, upper),
                c = exec_of(TO, (place){200, 56, 2});
    begin();
    launch_in(a, streams[0]);
    launch_in(b, streams[1]);
    launch_in(c, streams[2]);
    expect("side by side", 0);
    OK(cu.cuGraphExecDestroy(a));
    OK(cu.cuGraphExecDestroy(b));
    OK(cu.cuGraphExecDestroy(c));
}

static void work_of_streams_counts(void)
{
    CUgraphExec a = exec_of(WR, whole);
    begin();
    launch_in(a, streams[0]);
    kernel_in(streams[1], RD, whole);
    expect("a kernel beside a graph", 1);
    CHECK(said("and kernel rd (stream 0x"));
    begin();
    OK(cu.cuMemsetD32Async(buffer, 1, 8, streams[1]));
    launch_in(a, streams[0]);
    expect("a graph beside a fill", 1);
    CHECK(said("memset (stream 0x"));
    begin();
    kernel_in(streams[2], WR, whole);
    OK(cu.cuMemcpyDtoDAsync(side, buffer, 4, streams[3]));
    expect("a copy beside a kernel", 1);
    begin();
    kernel_in(streams[2], WR, lower);
    kernel_in(streams[3], RD, upper);
    expect("other words", 0);
    OK(cu.cuGraphExecDestroy(a));
}

/* What was freed is other memory, though it has the same address. */
static void memory_that_is_used_again_is_another(void)
{
    const CUdeviceptr keep = buffer;
    begin();
    for (int i = 0; i < 3; i++) {
        CUdeviceptr memory;
        OK(cu.cuMemAllocAsync(&memory, 4 * WORDS, streams[i % 2]));
        buffer = memory;
        kernel_in(streams[i % 2], WR, whole);
        OK(cu.cuMemFreeAsync(memory, streams[i % 2]));
    }
    buffer = keep;
    expect("memory of a pool", 0);
}

static void a_report_names_both_nodes(void)
{
    CUgraph graphs[2];
    CUgraphExec execs[2];
    CUgraphNode nodes[2];
    char sentence[900];
    for (int i = 0; i < 2; i++) {
        OK(cu.cuGraphCreate(&graphs[i], 0));
        nodes[i] = add(graphs[i], i == 0 ? WR : RD,
                       i == 0 ? (place){100, 100, 0} : (place){170, 10, 1}, NULL, 0);
        OK(cu.cuGraphInstantiateWithFlags(&execs[i], graphs[i], 0));
    }
    begin();
    launch_in(execs[0], streams[0]);
    OK(cu.cuEventRecord(events[2], streams[0]));
    while (cu.cuEventQuery(events[2]) == CUDA_ERROR_NOT_READY)
        sched_yield();
    log_text[0] = '\0';
    launch_in(execs[0], streams[0]);
    usleep(1000);
    launch_in(execs[1], streams[1]);
    expect("both nodes", 1);
    snprintf(
        sentence, sizeof(sentence),
        "race: kernel wr (node %llu of executable 0x%llx) writes 4 bytes (line 13 of "
        "the PTX) and kernel rd (node %llu of executable 0x%llx) reads 4 bytes (line "
        "26 of the PTX, block [0,0,0], thread [0,0,0]) at 0x%llx, 680 bytes into the "
        "allocation of 4096 bytes at 0x%llx; nothing orders these two launches\n",
        id_of(graphs[0], nodes[0]), (unsigned long long)(uintptr_t)execs[0],
        id_of(graphs[1], nodes[1]), (unsigned long long)(uintptr_t)execs[1],
        (unsigned long long)buffer + 680, (unsigned long long)buffer);
    CHECK(said(sentence));
    for (int i = 0; i < 2; i++) {
        OK(cu.cuGraphExecDestroy(execs[i]));
        OK(cu.cuGraphDestroy(graphs[i]));
    }
}

/* ---- launches by kernels ----------------------------------------------------------- */

static const char device_ptx[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 r) cudaGraphLaunch(.param .b64 e, .param .b64 s);\n"
    ".visible .entry fire(.param .u64 exec, .param .u64 stream)\n"
    "{\n"
    "  .reg .b32 %r<2>; .reg .b64 %d<3>;\n"
    "  ld.param.u64 %d1, [exec]; ld.param.u64 %d2, [stream];\n"
    "  { .param .b64 e; .param .b64 s; .param .b32 r;\n"
    "    st.param.b64 [e], %d1; st.param.b64 [s], %d2;\n"
    "    call.uni (r), cudaGraphLaunch, (e, s); ld.param.b32 %r1, [r]; }\n"
    "  ret;\n"
    "}\n";

#define TAIL UINT64_C(0x0100000000000000)
#define FORGET UINT64_C(0x0200000000000000)
#define SIBLING UINT64_C(0x0300000000000000)

static CUfunction fire;

/* One that kernels launch. */
static CUgraphExec device_exec(kind k, place at)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cu.cuGraphCreate(&graph, 0));
    add(graph, k, at, NULL, 0);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph,
                                      CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    OK(cu.cuGraphUpload(exec, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuGraphDestroy(graph));
    return exec;
}

static CUgraphNode add_fire(CUgraph graph, CUgraphExec exec, uint64_t stream,
                            CUgraphNode after)
{
    CUgraphNode node;
    void *params[] = {&exec, &stream};
    const CUDA_KERNEL_NODE_PARAMS kernel = one_thread(fire, params);
    OK(cu.cuGraphAddKernelNode(&node, graph, &after, after != NULL, &kernel));
    return node;
}

enum { BEFORE = 1, AFTER = 2, BESIDE = 4, TWICE = 8, TAIL_TOO = 16, LATER = 32 };

/* A graph of one node that launches another, and nodes that are ordered with it somehow. */
static void launches_by_kernels(void)
{
    static const struct {
        const char *name;
        uint64_t stream;
        int others;
        uint32_t reports;
    } cases[] = {
        {"fired, nothing beside it", FORGET, 0, 0},
        {"fired, a node before the kernel", FORGET, BEFORE, 0},
        {"fired, a node after the kernel", FORGET, AFTER, 1},
        {"fired, a node beside the kernel", FORGET, BESIDE, 1},
        {"fired, another one fired", FORGET, TWICE, 1},
        {"fired, then the tail", FORGET, TAIL_TOO, 0},
        {"fired, then the stream goes on", FORGET, LATER, 0},
        {"a sibling, nothing beside it", SIBLING, 0, 0},
        {"a sibling, a node before the kernel", SIBLING, BEFORE, 0},
        {"a sibling, a node after the kernel", SIBLING, AFTER, 1},
        {"a sibling, beside the tail", SIBLING, TAIL_TOO, 1},
        {"a sibling, then the stream goes on", SIBLING, LATER, 0},
        {"a tail, a node before and one after", TAIL, BEFORE | AFTER, 0},
        {"a tail, a node beside the kernel", TAIL, BESIDE, 0},
        {"a tail after a tail", TAIL, TAIL_TOO, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int others = cases[i].others;
        CUgraphExec target = device_exec(WR, whole), second = device_exec(WR, whole),
                    exec;
        CUgraph graph;
        CUgraphNode node = NULL;
        OK(cu.cuGraphCreate(&graph, 0));
        if (others & BEFORE)
            node = add(graph, WR, lower, NULL, 0);
        node = add_fire(graph, target, cases[i].stream, node);
        if (others & AFTER)
            add(graph, RD, upper, &node, 1);
        if (others & BESIDE)
            add(graph, RD, upper, NULL, 0);
        if (others & (TWICE | TAIL_TOO))
            add_fire(graph, second, others & TWICE ? cases[i].stream : TAIL, node);
        OK(cu.cuGraphInstantiateWithFlags(&exec, graph,
                                          CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
        OK(cu.cuGraphUpload(exec, NULL));
        begin();
        for (int k = 0; k < 3; k++) {
            launch_in(exec, streams[0]);
            if (others & LATER)
                kernel_in(streams[0], WR, whole);
        }
        expect(cases[i].name, cases[i].reports);
        CHECK(strstr(log_text, "refused") == NULL);
        OK(cu.cuGraphExecDestroy(exec));
        OK(cu.cuGraphExecDestroy(target));
        OK(cu.cuGraphExecDestroy(second));
        OK(cu.cuGraphDestroy(graph));
    }
}

/* What a kernel launches is as ordered with other streams as the launch that it came of. */
static void launches_by_kernels_beside_streams(void)
{
    for (int ordered = 0; ordered < 2; ordered++) {
        CUgraphExec target = device_exec(WR, whole), exec;
        CUgraph graph;
        OK(cu.cuGraphCreate(&graph, 0));
        add_fire(graph, target, FORGET, NULL);
        OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
        begin();
        launch_in(exec, streams[0]);
        if (ordered) {
            OK(cu.cuEventRecord(events[0], streams[0]));
            OK(cu.cuStreamWaitEvent(streams[1], events[0], 0));
        }
        kernel_in(streams[1], ordered ? RD : WR, whole);
        expect(ordered ? "an event" : "another stream", !ordered);
        OK(cu.cuGraphExecDestroy(exec));
        OK(cu.cuGraphExecDestroy(target));
        OK(cu.cuGraphDestroy(graph));
    }
}

/* ---- memory ------------------------------------------------------------------------ */

/* Thousands of launches that nobody waits for. */
static void what_is_kept_is_bounded(void)
{
    CUgraphExec a = exec_of(WR, whole);
    begin();
    for (int i = 0; i < 5000; i++)
        kernel_in(streams[0], WR, (place){(uint32_t)i % 900, 64, 0});
    launch_in(a, streams[1]);
    expect("the newest are compared", 1);
    OK(cu.cuGraphExecDestroy(a));
}

int main(void)
{
    CUlogsCallbackHandle handle;
    CUmodule device;
    setenv("SOFTCUDA_CHECK", "race", 1);
    DEVICE_OR_SKIP();
    if (!driver_is_soft) {
        printf("check mode is softcuda's\n");
        return 77;
    }
    use_primary();
    set_up();
    OK(cu.cuModuleLoadData(&device, device_ptx));
    OK(cu.cuModuleGetFunction(&fire, device, "fire"));
    OK(cu.cuMemsetD8(buffer, 0, 4 * WORDS));
    OK(cu.cuMemsetD8(side, 0, 4ull * WORDS * SIDE_MAX));
    for (int i = 0; i < STREAMS; i++)
        OK(cu.cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++)
        OK(cu.cuStreamCreate(&blocking[i], CU_STREAM_DEFAULT));
    for (int i = 0; i < 3; i++)
        OK(cu.cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    OK(cu.cuLogsRegisterCallback(note, NULL, &handle));

    RUN(graphs_in_two_streams);
    RUN(an_event_orders_what_is_before_it);
    RUN(one_stream_and_one_executable_are_in_order);
    RUN(races_within_a_graph_are_reported_as_before);
    RUN(each_pair_is_reported_once);
    RUN(the_default_stream_orders_blocking_ones);
    RUN(a_destroyed_stream_is_waited_for_with_its_context);
    RUN(every_pair_of_kinds);
    RUN(other_bytes_do_not_race);
    RUN(work_of_streams_counts);
    RUN(memory_that_is_used_again_is_another);
    RUN(a_report_names_both_nodes);
    RUN(launches_by_kernels);
    RUN(launches_by_kernels_beside_streams);
    RUN(what_is_kept_is_bounded);
    OK(cu.cuLogsUnregisterCallback(handle));
    return test_done();
}
