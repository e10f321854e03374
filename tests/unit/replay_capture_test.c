// SPDX-License-Identifier: Apache-2.0
/* What capture adds to the driver's: joins, regions, breaks, held objects, first causes.
 * On softcuda, or NVIDIA's driver where there is a GPU. */
#define _GNU_SOURCE
#include "test.h"
#include <gph/gph.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

/* *p = *p * a + b: the order of two shows in the result. */
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry step(.param .u64 pp, .param .u32 pa, .param "
                          ".u32 pb)\n"
                          "{\n"
                          ".reg .b32 %r<4>;\n.reg .b64 %d<2>;\n"
                          "ld.param.u64 %d1, [pp];\n"
                          "ld.param.u32 %r1, [pa];\n"
                          "ld.param.u32 %r2, [pb];\n"
                          "ld.global.u32 %r3, [%d1];\n"
                          "mad.lo.u32 %r3, %r3, %r1, %r2;\n"
                          "st.global.u32 [%d1], %r3;\n"
                          "ret;\n"
                          "}\n";

enum { WORDS = 8 };
enum { CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901, CAPTURE_UNJOINED = 904 };

static gph_runtime *runtime;
static const gph_cuda_calls *cu;
static CUfunction step;
static CUstream stream, side, third;
static CUevent forked, joined;
static CUdeviceptr words; /* WORDS of 32 bits */
static gph_error error;

#define CU(name, ...)                                                                    \
    CHECK_OK(gph_cuda_check(cu->name(__VA_ARGS__), #name, &error), error)

static gph_status launch(CUstream where, int word, unsigned int a, unsigned int b)
{
    CUdeviceptr at = words + 4 * (CUdeviceptr)word;
    void *params[] = {&at, &a, &b};
    return gph_cuda_check(
        cu->LaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, where, params, NULL),
        "cuLaunchKernel", &error);
}

static unsigned int read_word(int word)
{
    unsigned int value = 0;
    CU(MemcpyDtoHAsync, &value, words + 4 * (CUdeviceptr)word, 4, stream);
    CU(StreamSynchronize, stream);
    return value;
}

static void clear_words(void)
{
    CU(MemsetD32Async, words, 0, WORDS, stream);
    CU(StreamSynchronize, stream);
}

static gph_capture *begin(gph_join_mode join, uint32_t flags)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    options.join = join;
    options.flags = flags;
    gph_capture *capture = NULL;
    CHECK_OK(gph_capture_begin(runtime, stream, &options, &capture, &error), error);
    return capture;
}

static void check_not_capturing(CUstream which)
{
    int status = -1;
    CU(StreamIsCapturing, which, &status);
    CHECK(status == 0);
}

/* Whatever went wrong before: all streams run, and capture again with forks. */
static void check_streams_are_usable(void)
{
    check_not_capturing(stream);
    check_not_capturing(side);
    check_not_capturing(third);
    gph_capture *capture = begin(GPH_JOIN_ERROR, 0);
    CUgraph graph = NULL;
    CHECK_OK(gph_capture_fork(capture, side, &error), error);
    CHECK_OK(launch(side, 7, 1, 1), error);
    CHECK_OK(gph_capture_join(capture, side, &error), error);
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    if (graph != NULL)
        CU(GraphDestroy, graph);
}

/* Whether everything comes before the last node, or, with no single last one, whether
 * only `ends` nodes have no successor. */
static uint32_t count_leaves(const gph_graph *data)
{
    uint32_t leaves = 0;
    for (uint32_t i = 0; i < gph_graph_node_count(data); i++) {
        bool has_next = false;
        for (size_t e = 0; e < gph_graph_edge_count(data); e++)
            has_next |= gph_graph_edge(data, e)->from == i;
        leaves += !has_next;
    }
    return leaves;
}

static gph_graph *describe(CUgraph graph)
{
    gph_graph *data = NULL;
    CHECK_OK(gph_graph_describe(runtime, graph, &data, &error), error);
    return data;
}

/* ---- joins ---- */

static void forks_and_joins_need_no_events_of_the_program(void)
{
    gph_capture *capture = begin(GPH_JOIN_ERROR, 0);
    CUgraph graph = NULL;
    CHECK_OK(launch(stream, 0, 1, 1), error);
    CHECK_OK(gph_capture_fork(capture, side, &error), error);
    CHECK_OK(gph_capture_fork(capture, third, &error), error);
    CHECK_OK(launch(side, 1, 1, 1), error);
    CHECK_OK(launch(third, 2, 1, 1), error);
    CHECK_OK(gph_capture_join(capture, side, &error), error);
    CHECK_OK(gph_capture_join(capture, third, &error), error);
    CHECK_OK(launch(stream, 0, 2, 0), error);
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    gph_graph *data = describe(graph);
    CHECK(gph_graph_node_count(data) == 4 && gph_graph_edge_count(data) == 5);
    CHECK(count_leaves(data) == 1);
    gph_graph_destroy(data);
    CU(GraphDestroy, graph);
}

/* Two forks, one of the library and one of the program; neither comes back. */
static gph_status forget_forks(gph_capture *capture)
{
    gph_status status = launch(stream, 0, 1, 5);
    if (status == GPH_OK)
        status = gph_capture_fork(capture, side, &error);
    if (status == GPH_OK)
        status = launch(side, 1, 1, 6);
    if (status == GPH_OK)
        status = gph_cuda_check(cu->EventRecord(forked, stream), "cuEventRecord", &error);
    if (status == GPH_OK)
        status = gph_cuda_check(cu->StreamWaitEvent(third, forked, 0),
                                "cuStreamWaitEvent", &error);
    if (status == GPH_OK)
        status = launch(third, 2, 1, 7);
    if (status == GPH_OK)
        status = launch(third, 2, 10, 0);
    return status;
}

static void forgotten_forks_are_joined_at_the_end(void)
{
    clear_words();
    gph_capture *capture = begin(GPH_JOIN_AUTO, 0);
    CUgraph graph = NULL;
    gph_exec *exec = NULL;
    CHECK_OK(forget_forks(capture), error);
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    gph_graph *data = describe(graph);
    CHECK(gph_graph_node_count(data) == 4 && gph_graph_edge_count(data) == 3);
    CHECK(count_leaves(data) == 2); /* both are ends of the one graph */
    gph_graph_destroy(data);

    CHECK_OK(gph_exec_create(runtime, graph, NULL, &exec, &error), error);
    CHECK_OK(gph_exec_launch(exec, stream, &error), error);
    CHECK(read_word(0) == 5 && read_word(1) == 6 && read_word(2) == 70);
    gph_exec_destroy(exec);
    CU(GraphDestroy, graph);
    check_streams_are_usable();
}

/* What follows a join of the end waits for all: a memcpy behind the launch reads them,
 * and a child graph in another capture has one end. */
static void an_automatic_join_waits_for_all_streams(void)
{
    gph_capture *capture = begin(GPH_JOIN_AUTO, 0);
    gph_recording *recording = NULL;
    gph_graph *data = NULL;
    CHECK_OK(forget_forks(capture), error);
    CHECK_OK(gph_capture_join(capture, side, &error), error); /* one remembered */
    CHECK_OK(launch(stream, 3, 1, 1), error);
    CHECK_OK(gph_capture_finish(capture, &recording, &error), error);
    CHECK_OK(gph_recording_describe(recording, 0, &data, &error), error);
    CHECK(gph_graph_node_count(data) == 5 && count_leaves(data) == 2);
    gph_graph_destroy(data);
    gph_recording_destroy(recording);
}

static void a_capture_without_forks_is_left_alone(void)
{
    for (int join = GPH_JOIN_ERROR; join <= GPH_JOIN_NAME; join++) {
        gph_capture *capture = begin((gph_join_mode)join, 0);
        CUgraph graph = NULL;
        CHECK_OK(launch(stream, 0, 1, 1), error);
        CHECK_OK(launch(stream, 0, 1, 1), error);
        CHECK_OK(gph_capture_end(capture, &graph, &error), error);
        gph_graph *data = describe(graph);
        CHECK(gph_graph_node_count(data) == 2 && gph_graph_edge_count(data) == 1);
        gph_graph_destroy(data);
        CU(GraphDestroy, graph);
        CHECK_OK(gph_capture_end(begin((gph_join_mode)join, 0), &graph, &error), error);
        CU(GraphDestroy, graph); /* empty */
    }
}

static bool says(const char *what)
{
    const bool is_there = strstr(error.message, what) != NULL;
    if (!is_there)
        fprintf(stderr, "  no \"%s\" in: %s\n", what, error.message);
    return is_there;
}

static void forgotten_forks_are_named(void)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    options.join = GPH_JOIN_NAME;
    options.streams = &third;
    options.stream_count = 1;
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    CHECK_OK(gph_capture_begin(runtime, stream, &options, &capture, &error), error);
    CHECK_OK(gph_region_push(capture, "prefetch", &error), error);
    CHECK_OK(forget_forks(capture), error);
    CHECK(gph_capture_end(capture, &graph, &error) == CAPTURE_UNJOINED && graph == NULL);
    char expected[200];
    snprintf(expected, sizeof(expected),
             "stream %p ends with node 1 (kernel step, region prefetch)", (void *)side);
    CHECK(says(expected));
    snprintf(expected, sizeof(expected),
             "stream %p ends with node 3 (kernel step, region prefetch)", (void *)third);
    CHECK(says(expected));
    CHECK(strstr(error.hint, "GPH_JOIN_AUTO") != NULL);
    check_streams_are_usable();

    options.streams = NULL; /* a stream that nobody told of has no address */
    options.stream_count = 0;
    CHECK_OK(gph_capture_begin(runtime, stream, &options, &capture, &error), error);
    CU(EventRecord, forked, stream);
    CU(StreamWaitEvent, side, forked, 0);
    CHECK_OK(launch(side, 1, 1, 1), error);
    CHECK(gph_capture_end(capture, &graph, &error) == CAPTURE_UNJOINED);
    CHECK(says("not joined: a stream ends with node 0 (kernel step)"));
    check_streams_are_usable();
}

static void many_forgotten_forks_are_counted(void)
{
    enum { MANY = 12 };
    CUstream streams[MANY];
    gph_capture *capture = begin(GPH_JOIN_NAME, 0);
    CUgraph graph = NULL;
    for (int i = 0; i < MANY; i++) {
        CU(StreamCreate, &streams[i], 1);
        CHECK_OK(gph_capture_fork(capture, streams[i], &error), error);
        CHECK_OK(launch(streams[i], i % WORDS, 1, 1), error);
    }
    CHECK(gph_capture_end(capture, &graph, &error) == CAPTURE_UNJOINED);
    CHECK(says("; and "));
    CHECK(says(" more"));
    for (int i = 0; i < MANY; i++)
        CU(StreamDestroy, streams[i]);
    check_streams_are_usable();
}

/* ---- regions ---- */

static gph_status do_nothing(void *user, const gph_break *call, gph_error *failure)
{
    (void)user;
    (void)call;
    (void)failure;
    return GPH_OK;
}

static void nodes_have_the_names_of_their_regions(void)
{
    gph_capture *capture = begin(GPH_JOIN_AUTO, 0);
    gph_recording *recording = NULL;
    CHECK_OK(launch(stream, 0, 1, 1), error);
    CHECK_OK(gph_region_push(capture, "layer.17", &error), error);
    CHECK_OK(launch(stream, 0, 1, 1), error);
    CHECK_OK(gph_region_push(capture, "attn", &error), error);
    CHECK_OK(gph_capture_fork(capture, side, &error), error);
    CHECK_OK(launch(side, 1, 1, 1), error);
    CHECK_OK(launch(stream, 0, 1, 1), error);
    CHECK_OK(gph_region_pop(capture, &error), error);
    CU(MemsetD32Async, words, 0, 1, stream);
    CHECK_OK(gph_region_pop(capture, &error), error);
    CHECK(gph_region_pop(capture, &error) == GPH_E_STATE);
    CHECK_OK(launch(stream, 0, 1, 1), error);
    CHECK_OK(gph_region_push(capture, "left open", &error), error);
    CHECK_OK(launch(stream, 0, 1, 1), error);
    CHECK_OK(gph_capture_finish(capture, &recording, &error), error);

    static const char *const names[] = {
        NULL,       "layer.17", "layer.17/attn", "layer.17/attn",
        "layer.17", NULL,       "left open"};
    gph_graph *data = NULL;
    CHECK_OK(gph_recording_describe(recording, 0, &data, &error), error);
    if (!CHECK(gph_graph_node_count(data) == 7))
        return;
    for (uint32_t i = 0; i < 7; i++) {
        const char *name = gph_recording_region(recording, 0, i);
        const char *described = gph_graph_node(data, i)->name;
        CHECK((name == NULL) == (names[i] == NULL));
        CHECK(name == NULL || strcmp(name, names[i]) == 0);
        CHECK((described == NULL) == (names[i] == NULL));
        CHECK(described == NULL || strcmp(described, names[i]) == 0);
    }
    CHECK(strcmp(gph_graph_node(data, 2)->u.kernel.function, "step") == 0);
    CHECK(gph_recording_region(recording, 0, 7) == NULL);
    CHECK(gph_recording_region(recording, 1, 0) == NULL);
    gph_graph_destroy(data);
    gph_recording_destroy(recording);
}

static void on_host(void *user)
{
    (void)user;
}

static void a_refused_instantiation_names_the_region(void)
{
    gph_exec_options device = GPH_EXEC_OPTIONS_INIT;
    device.flags = 4; /* device launch: no host nodes */
    for (int segments = 1; segments <= 2; segments++) {
        gph_capture *capture = begin(GPH_JOIN_ERROR, 0);
        gph_recording *recording = NULL;
        gph_replay *replay = NULL;
        CHECK_OK(launch(stream, 0, 1, 1), error);
        if (segments == 2)
            CHECK_OK(gph_capture_break(capture, do_nothing, NULL, &error), error);
        CHECK_OK(gph_region_push(capture, "sampler", &error), error);
        CU(LaunchHostFunc, stream, on_host, NULL);
        CHECK_OK(gph_region_pop(capture, &error), error);
        CHECK_OK(gph_capture_finish(capture, &recording, &error), error);
        CHECK(gph_recording_instantiate(recording, &device, &replay, &error) != GPH_OK);
        CHECK(replay == NULL);
        if (error.has_node) /* NVIDIA's driver may blame none */
            CHECK(says(segments == 1
                           ? "region sampler: node 1 (host) of graph"
                           : "segment 1 of 2: region sampler: node 0 (host) of graph"));
        gph_recording_destroy(recording);
    }
}

static void wrong_regions_are_refused(void)
{
    gph_capture *capture = begin(GPH_JOIN_ERROR, 0);
    CHECK(gph_region_push(capture, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_region_push(capture, "", &error) == GPH_E_INVALID);
    CHECK(gph_region_push(NULL, "a", &error) == GPH_E_INVALID);
    CHECK(gph_region_pop(NULL, &error) == GPH_E_INVALID);
    CHECK(gph_region_pop(capture, &error) == GPH_E_STATE);
    CHECK(gph_capture_fork(capture, stream, &error) == GPH_E_INVALID);
    CHECK(gph_capture_fork(capture, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_capture_join(capture, stream, &error) == GPH_E_INVALID);
    CHECK(gph_capture_hold(capture, NULL, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_capture_output(capture, words, &error) == GPH_E_STATE);
    CHECK(gph_capture_break(capture, NULL, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_capture_abort(capture, &error) == GPH_OK);
    check_streams_are_usable();
}

/* ---- breaks ---- */

struct breaks {
    int calls, replays, with_values;
    unsigned int seen;
    gph_status fail_with;
};

static gph_status on_break(void *user, const gph_break *call, gph_error *failure)
{
    struct breaks *breaks = user;
    breaks->calls++;
    breaks->replays += call->is_replay != 0;
    breaks->with_values += call->has_values != 0;
    (void)failure;
    if (breaks->fail_with != GPH_OK)
        return breaks->fail_with;
    /* What no capture allows, and work between the segments. */
    unsigned int value = 0;
    gph_status status = cu->MemcpyDtoHAsync(&value, words, 4, call->stream);
    if (status == GPH_OK)
        status = cu->StreamSynchronize(call->stream);
    breaks->seen = value;
    return status != GPH_OK ? status : launch(call->stream, 0, 1, 100);
}

/* word 0: + 1, break (+ 100), * 2, break (+ 100), + 3 */
static gph_recording *record_with_breaks(struct breaks *breaks, uint32_t flags)
{
    gph_capture *capture = begin(GPH_JOIN_AUTO, flags);
    gph_recording *recording = NULL;
    CHECK_OK(gph_region_push(capture, "first", &error), error);
    CHECK_OK(launch(stream, 0, 1, 1), error);
    CHECK_OK(gph_capture_break(capture, on_break, &breaks[0], &error), error);
    CHECK_OK(gph_capture_fork(capture, side, &error), error);
    CHECK_OK(launch(side, 1, 1, 1), error);
    CHECK_OK(launch(stream, 0, 2, 0), error);
    CHECK_OK(gph_capture_break(capture, on_break, &breaks[1], &error), error);
    CHECK_OK(gph_region_pop(capture, &error), error);
    CHECK_OK(launch(stream, 0, 1, 3), error);
    CHECK_OK(gph_capture_finish(capture, &recording, &error), error);
    return recording;
}

static void segments_are_replayed_with_host_calls_between(void)
{
    clear_words();
    struct breaks breaks[2] = {{0}};
    gph_recording *recording = record_with_breaks(breaks, 0);
    CHECK(gph_recording_segment_count(recording) == 3);
    CHECK(breaks[0].calls == 1 && breaks[0].replays == 0 && breaks[0].with_values == 0);
    CHECK(read_word(0) == 200); /* only the work of the breaks has run */
    CHECK(gph_recording_graph(recording, 2) != NULL);
    CHECK(gph_recording_graph(recording, 3) == NULL);
    CHECK(strcmp(gph_recording_region(recording, 1, 0), "first") == 0);
    CHECK(gph_recording_region(recording, 2, 0) == NULL);

    gph_replay *replay = NULL;
    CHECK_OK(gph_recording_instantiate(recording, NULL, &replay, &error), error);
    gph_recording_destroy(recording); /* the replay lives on */
    unsigned int expected = 0;
    clear_words();
    for (int i = 0; i < 5; i++) {
        CHECK_OK(gph_replay_launch(replay, stream, &error), error);
        expected = (expected + 1 + 100) * 2 + 100 + 3;
        CHECK(read_word(0) == expected);
        CHECK(breaks[1].seen == expected - 103);
    }
    CHECK(breaks[0].replays == 5 && breaks[1].with_values == 5);
    CHECK(gph_replay_exec(replay, 2) != NULL && gph_replay_exec(replay, 3) == NULL);

    breaks[0].fail_with = GPH_E_IO; /* the second segment is not launched */
    clear_words();
    CHECK(gph_replay_launch(replay, stream, &error) == GPH_E_IO);
    CHECK(says("break 0: its function returned GPH_E_IO"));
    CHECK(read_word(0) == 1);
    gph_replay_destroy(replay);
    check_streams_are_usable();
}

static void a_recording_that_runs_gives_breaks_real_values(void)
{
    clear_words();
    struct breaks breaks[2] = {{0}};
    gph_recording *recording = record_with_breaks(breaks, GPH_CAPTURE_RUN);
    CHECK(breaks[0].seen == 1 && breaks[1].seen == 202);
    CHECK(breaks[0].with_values == 1 && breaks[0].replays == 0);
    CHECK(read_word(0) == 305 && read_word(1) == 1); /* as one eager run */
    gph_recording_destroy(recording);
}

static void a_failed_break_gives_everything_back(void)
{
    struct breaks breaks = {.fail_with = GPH_E_IO};
    for (uint32_t flags = 0; flags <= GPH_CAPTURE_RUN; flags++) {
        gph_capture *capture = begin(GPH_JOIN_AUTO, flags);
        gph_recording *recording = NULL;
        CUgraph graph = NULL;
        CHECK_OK(launch(stream, 0, 1, 1), error);
        CHECK(gph_capture_break(capture, on_break, &breaks, &error) == GPH_E_IO);
        CHECK(says("break 0"));
        CHECK(gph_capture_finish(capture, &recording, &error) == GPH_E_STATE);
        CHECK(gph_capture_end(capture, &graph, &error) == GPH_E_STATE);
        CHECK(gph_region_push(capture, "a", &error) == GPH_E_STATE);
        CHECK(says("only be aborted"));
        check_not_capturing(stream);
        CHECK(gph_capture_abort(capture, &error) == GPH_OK && recording == NULL);
        check_streams_are_usable();
    }
}

static gph_capture *inner;

static gph_status misuse_in_break(void *user, const gph_break *call, gph_error *failure)
{
    (void)user;
    CUgraph graph = NULL;
    CHECK(gph_capture_end(inner, &graph, failure) == GPH_E_STATE);
    CHECK(gph_capture_abort(inner, failure) == GPH_E_STATE);
    CHECK(gph_region_push(inner, "a", failure) == GPH_E_STATE);
    check_not_capturing(call->stream);
    return GPH_OK;
}

static void a_break_cannot_end_its_capture(void)
{
    inner = begin(GPH_JOIN_ERROR, 0);
    CUgraph graph = NULL;
    CHECK_OK(gph_capture_break(inner, misuse_in_break, NULL, &error), error);
    CHECK(gph_capture_end(inner, &graph, &error) == GPH_E_STATE && graph == NULL);
    CHECK(strstr(error.hint, "gph_capture_finish") != NULL);
    CHECK(gph_capture_abort(inner, &error) == GPH_OK);
    check_streams_are_usable();
}

/* ---- what is held ---- */

static void count(void *user)
{
    ++*(int *)user;
}

static void held_objects_live_as_long_as_replays(void)
{
    int released = 0;
    gph_capture *capture = begin(GPH_JOIN_ERROR, 0);
    gph_recording *recording = NULL;
    gph_replay *first = NULL, *second = NULL;
    CUgraph graph = NULL;
    CHECK_OK(gph_capture_hold(capture, count, &released, &error), error);
    CHECK_OK(gph_capture_hold(capture, count, &released, &error), error);
    CHECK(gph_capture_end(capture, &graph, &error) == GPH_E_STATE);
    CHECK_OK(gph_capture_finish(capture, &recording, &error), error);
    CHECK_OK(gph_recording_instantiate(recording, NULL, &first, &error), error);
    CHECK_OK(gph_recording_instantiate(recording, NULL, &second, &error), error);
    gph_recording_destroy(recording);
    gph_replay_destroy(first);
    CHECK(released == 0);
    capture = begin(GPH_JOIN_ERROR, 0); /* destroyed meanwhile: later */
    gph_replay_destroy(second);
    CHECK(released == 0);
    CHECK(gph_capture_abort(capture, &error) == GPH_OK);
    CHECK(released == 2);

    capture = begin(GPH_JOIN_ERROR, 0); /* a capture that fails releases, too */
    CHECK_OK(gph_capture_hold(capture, count, &released, &error), error);
    CHECK(cu->StreamSynchronize(stream) == CAPTURE_UNSUPPORTED);
    CHECK(gph_capture_finish(capture, &recording, &error) == CAPTURE_INVALIDATED);
    CHECK(released == 3);
    gph_recording_destroy(NULL);
    gph_replay_destroy(NULL);
    CHECK(gph_replay_launch(NULL, stream, &error) == GPH_E_INVALID);
    check_streams_are_usable();
}

/* A capture that libgph knows nothing of is not spoilt by a destruction. */
static void a_foreign_capture_survives_a_destruction(void)
{
    gph_cuda_fn found = NULL, end = NULL;
    CHECK_OK(gph_cuda_find(runtime, "cuStreamBeginCapture", &found, &error), error);
    CHECK_OK(gph_cuda_find(runtime, "cuStreamEndCapture", &end, &error), error);
    gph_status (*begin_foreign)(CUstream, int) = (gph_status(*)(CUstream, int))found;
    gph_status (*end_foreign)(CUstream, CUgraph *) =
        (gph_status(*)(CUstream, CUgraph *))end;
    for (int mode = 0; mode <= 2; mode++) {
        CUgraph graph = NULL;
        gph_exec *exec = NULL;
        CHECK_OK(gph_capture_end(begin(GPH_JOIN_ERROR, 0), &graph, &error), error);
        CHECK_OK(gph_exec_create(runtime, graph, NULL, &exec, &error), error);
        CU(GraphDestroy, graph);
        CHECK(begin_foreign(stream, mode) == GPH_OK);
        CHECK_OK(launch(stream, 0, 1, 1), error);
        gph_exec_destroy(exec);
        CHECK_OK(launch(stream, 0, 1, 1), error);
        CHECK(end_foreign(stream, &graph) == GPH_OK);
        CU(GraphDestroy, graph);
    }
}

/* ---- first causes ---- */

static bool names_refusals(void)
{
    gph_driver_info info;
    gph_driver_describe(runtime, &info);
    return (info.features & GPH_FEATURE_LOGS) != 0;
}

static bool has_lines(void)
{
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    return library != NULL && dlsym(library, "dwfl_begin") != NULL;
}

__attribute__((noinline)) static int prefetch(void)
{
    const gph_status status = cu->StreamSynchronize(stream); /* the line is named */
    CHECK(status == CAPTURE_UNSUPPORTED);
    return __LINE__ - 2;
}

__attribute__((noinline)) static void a_cause_has_thread_stream_and_place(void)
{
    if (!names_refusals())
        SKIP("this driver does not name refused calls");
    gph_capture *capture = begin(GPH_JOIN_ERROR, 0);
    CUgraph graph = NULL;
    CHECK_OK(launch(stream, 0, 1, 1), error);
    const int line = prefetch();
    CHECK(cu->StreamQuery(stream) != 0); /* a consequence */
    CHECK(gph_capture_end(capture, &graph, &error) == CAPTURE_INVALIDATED);

    const gph_cause *cause = gph_cause_last();
    CHECK(strcmp(cause->call, "cuStreamSynchronize") == 0);
    CHECK(cause->code == CAPTURE_UNSUPPORTED && cause->is_own == 1 && cause->thread != 0);
    CHECK(cause->time_ns > 0 && cause->time_ns < 60000000000u);
    CHECK(strstr(cause->stack, "#0 ") != NULL);
    if (cause->text[0] != '\0')
        CHECK(cause->stream == stream);
    if (!has_lines()) {
        CHECK(strncmp(cause->caller, "replay_capture_test+0x", 22) == 0);
        CHECK(strstr(cause->stack, "need libdw.so.1") != NULL);
        return;
    }
    char place[100];
    snprintf(place, sizeof(place), "replay_capture_test.c:%d (prefetch)", line);
    if (!CHECK(strcmp(cause->caller, place) == 0))
        fprintf(stderr, "  %s\n%s", cause->caller, cause->stack);
    CHECK(says(place));
    CHECK(strstr(cause->stack, "a_cause_has_thread_stream_and_place, ") != NULL);
    check_streams_are_usable();
}

static void *synchronize_elsewhere(void *user)
{
    CHECK(cu->CtxSetCurrent(user) == 0);
    CHECK(cu->CtxSynchronize() == CAPTURE_UNSUPPORTED);
    return NULL;
}

static void a_call_of_another_thread_is_named(void)
{
    if (!names_refusals())
        SKIP("this driver does not name refused calls");
    CUcontext context = NULL;
    CU(CtxGetCurrent, &context);
    for (int mode = GPH_CAPTURE_GLOBAL; mode <= GPH_CAPTURE_RELAXED; mode++) {
        gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
        options.mode = (uint32_t)mode;
        gph_capture *capture = NULL;
        CUgraph graph = NULL;
        pthread_t thread;
        CHECK_OK(gph_capture_begin(runtime, stream, &options, &capture, &error), error);
        CHECK(pthread_create(&thread, NULL, synchronize_elsewhere, context) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK(cu->MemsetD32Async(words, 0, 1, stream) == CAPTURE_INVALIDATED);
        CHECK(gph_capture_end(capture, &graph, &error) == CAPTURE_INVALIDATED);
        const gph_cause *cause = gph_cause_last();
        CHECK(strcmp(cause->call, "cuCtxSynchronize") == 0 && cause->is_own == 0);
        CHECK(says(", on thread "));
    }
    check_streams_are_usable();
}

static void without_a_failure_there_is_no_cause(void)
{
    gph_capture *capture = begin(GPH_JOIN_AUTO, 0);
    CUgraph graph = NULL;
    CHECK(cu->StreamSynchronize(stream) != 0);
    CHECK(gph_capture_end(capture, &graph, &error) != GPH_OK);
    capture = begin(GPH_JOIN_ERROR, 0);
    CHECK_OK(gph_capture_fork(capture, side, &error), error);
    CHECK_OK(launch(side, 1, 1, 1), error);
    CHECK(gph_capture_end(capture, &graph, &error) == CAPTURE_UNJOINED);
    CHECK(strcmp(gph_cause_last()->call, "cuStreamSynchronize") != 0);
    check_streams_are_usable();
}

/* ---- threads ---- */

struct worker {
    CUcontext context;
    CUdeviceptr word;
    int failures;
};

static gph_status record_alone(struct worker *worker, CUstream own, CUstream other,
                               gph_error *mine)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    options.join = GPH_JOIN_AUTO;
    gph_capture *capture = NULL;
    gph_recording *recording = NULL;
    gph_replay *replay = NULL;
    gph_status status = gph_capture_begin(runtime, own, &options, &capture, mine);
    if (status != GPH_OK)
        return status;
    status = gph_region_push(capture, "alone", mine);
    if (status == GPH_OK)
        status = gph_capture_fork(capture, other, mine);
    if (status == GPH_OK)
        status = cu->MemsetD32Async(worker->word, 3, 1, other);
    if (status != GPH_OK) {
        (void)gph_capture_abort(capture, NULL);
        return status;
    }
    status = gph_capture_finish(capture, &recording, mine);
    if (status == GPH_OK)
        status = gph_recording_instantiate(recording, NULL, &replay, mine);
    gph_recording_destroy(recording);
    if (status == GPH_OK)
        status = gph_replay_launch(replay, own, mine);
    if (status == GPH_OK)
        status = cu->StreamSynchronize(own);
    gph_replay_destroy(replay);
    return status;
}

static void *capture_alone(void *user)
{
    struct worker *worker = user;
    gph_error mine = {0};
    CUstream own = NULL, other = NULL;
    int bad = cu->CtxSetCurrent(worker->context) != 0 || cu->StreamCreate(&own, 1) != 0 ||
              cu->StreamCreate(&other, 1) != 0;
    for (int i = 0; i < 20 && !bad; i++)
        if (record_alone(worker, own, other, &mine) != GPH_OK) {
            fprintf(stderr, "  %s\n", mine.message);
            bad = 1;
        }
    worker->failures = bad;
    (void)cu->StreamDestroy(own);
    (void)cu->StreamDestroy(other);
    return NULL;
}

/* Captures in all threads, whose replays are destroyed while others capture. */
static void threads_record_beside_each_other(void)
{
    struct worker workers[4] = {{0}};
    pthread_t threads[4];
    CUcontext context = NULL;
    CU(CtxGetCurrent, &context);
    for (int i = 0; i < 4; i++) {
        workers[i] = (struct worker){context, words + 4 * (CUdeviceptr)i, 0};
        CHECK(pthread_create(&threads[i], NULL, capture_alone, &workers[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(workers[i].failures == 0);
    }
    CHECK(read_word(2) == 3);
}

static bool set_up(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = GPH_DRIVER_AUTO;
    const gph_status status = gph_open(&options, &runtime, &error);
    if (status != GPH_OK) {
        printf("%s: %s\n", status == GPH_E_UNSUPPORTED ? "skipped" : "failed",
               error.message);
        exit(status == GPH_E_UNSUPPORTED ? 77 : 1);
    }
    cu = gph_cuda(runtime);
    CUcontext context = NULL;
    CUmodule module = NULL;
    return CU(DevicePrimaryCtxRetain, &context, 0) && CU(CtxSetCurrent, context) &&
           CU(ModuleLoadData, &module, ptx) &&
           CU(ModuleGetFunction, &step, module, "step") && CU(StreamCreate, &stream, 1) &&
           CU(StreamCreate, &side, 1) && CU(StreamCreate, &third, 1) &&
           CU(EventCreate, &forked, 2) && CU(EventCreate, &joined, 2) &&
           CU(MemAlloc, &words, 4 * WORDS) && CHECK_OK(launch(stream, 0, 1, 1), error) &&
           CU(StreamSynchronize, stream);
}

int main(void)
{
    if (!set_up())
        return 1;
    RUN(forks_and_joins_need_no_events_of_the_program);
    RUN(forgotten_forks_are_joined_at_the_end);
    RUN(an_automatic_join_waits_for_all_streams);
    RUN(a_capture_without_forks_is_left_alone);
    RUN(forgotten_forks_are_named);
    RUN(many_forgotten_forks_are_counted);
    RUN(nodes_have_the_names_of_their_regions);
    RUN(a_refused_instantiation_names_the_region);
    RUN(wrong_regions_are_refused);
    RUN(segments_are_replayed_with_host_calls_between);
    RUN(a_recording_that_runs_gives_breaks_real_values);
    RUN(a_failed_break_gives_everything_back);
    RUN(a_break_cannot_end_its_capture);
    RUN(held_objects_live_as_long_as_replays);
    RUN(a_foreign_capture_survives_a_destruction);
    RUN(a_cause_has_thread_stream_and_place);
    RUN(a_call_of_another_thread_is_named);
    RUN(without_a_failure_there_is_no_cause);
    RUN(threads_record_beside_each_other);
    (void)cu->DevicePrimaryCtxRelease(0);
    gph_close(runtime);
    return test_done();
}
