// SPDX-License-Identifier: Apache-2.0
/* What capture adds to the driver's: joins, regions, first causes, several at once.
 * On softcuda, or NVIDIA's driver where there is a GPU. */
#define _GNU_SOURCE
#include "replay_run.h"

#include <pthread.h>

/* Nodes that no other one follows. */
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

/* What follows a join of the end waits for all: a memcpy after the launch reads them,
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

    options.streams = NULL; /* a stream that nobody named has no address */
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
        CHECK(gph_replay_create(recording, &device, &replay, &error) != GPH_OK);
        CHECK(replay == NULL);
        if (error.has_node) /* NVIDIA's driver may blame none */
            CHECK(says(segments == 1
                           ? "region sampler: node 1 (host) of graph"
                           : "segment 1 of 2: region sampler: node 0 (host) of graph"));
        gph_recording_destroy(recording);
    }
}

static void a_refused_executable_has_the_words_of_the_log(void)
{
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(runtime, &info);
    if ((info.features & GPH_FEATURE_SOFTCUDA) == 0)
        SKIP("NVIDIA's log has no sentence for many a call");
    gph_capture *capture = begin(GPH_JOIN_ERROR, 0);
    CUgraph graph = NULL;
    CUdeviceptr memory = 0;
    gph_exec *first = NULL, *second = NULL;
    CU(MemAllocAsync, &memory, 4096, stream);
    CU(MemFreeAsync, memory, stream);
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    CHECK_OK(gph_exec_create(runtime, graph, NULL, &first, &error), error);
    CHECK(gph_exec_create(runtime, graph, NULL, &second, &error) == 801);
    CHECK(says("; the driver says: ") && second == NULL);
    CHECK(cu->GraphLaunch(NULL, stream) != GPH_OK);
    CHECK(gph_cuda_check(1, "cuGraphLaunch", &error) == 1 && says("; the driver says: "));
    gph_exec_destroy(first);
    CU(GraphDestroy, graph);
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

/* ---- first causes ---- */

/* What this copy of the program says of itself: "lines", "names" or "none". */
static bool has(const char *what)
{
    const char *all = getenv("TEST_SYMBOLS");
    return strcmp(all != NULL ? all : "lines", what) == 0;
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
    if (!has("lines")) {
        const char *function = strstr(cause->caller, " (");
        CHECK(strncmp(cause->caller, "replay_capture_test+0x", 22) == 0);
        CHECK(function != NULL &&
              strcmp(function, has("names") ? " (prefetch)" : " (?)") == 0);
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

static void an_abort_leaves_the_cause(void)
{
    if (!names_refusals())
        SKIP("this driver does not name refused calls");
    gph_capture *capture = begin(GPH_JOIN_ERROR, 0);
    (void)prefetch();
    CHECK(launch(stream, 0, 1, 1) == CAPTURE_INVALIDATED);
    CHECK_OK(gph_capture_abort(capture, &error), error);
    CHECK(strcmp(gph_cause_last()->call, "cuStreamSynchronize") == 0);
    CHECK(gph_cause_last()->code == CAPTURE_UNSUPPORTED);

    /* A capture that a refusal left as it was did not fail. */
    const gph_cause *cause = gph_cause_last();
    capture = begin(GPH_JOIN_ERROR, 0);
    CHECK(cu->StreamCreate(NULL, 1) == 1);
    CHECK_OK(gph_capture_abort(capture, &error), error);
    CHECK(gph_cause_last() == cause && strcmp(cause->call, "cuStreamSynchronize") == 0);
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
        status = gph_replay_create(recording, NULL, &replay, mine);
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
    RUN(a_refused_executable_has_the_words_of_the_log);
    RUN(wrong_regions_are_refused);
    RUN(a_cause_has_thread_stream_and_place);
    RUN(an_abort_leaves_the_cause);
    RUN(a_call_of_another_thread_is_named);
    RUN(without_a_failure_there_is_no_cause);
    RUN(threads_record_beside_each_other);
    (void)cu->DevicePrimaryCtxRelease(0);
    gph_close(runtime);
    return test_done();
}
