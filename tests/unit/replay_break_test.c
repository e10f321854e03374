// SPDX-License-Identifier: Apache-2.0
/* Captures in segments with host calls between, what recordings hold, and what becomes of
 * it when a capture fails or something is destroyed meanwhile. */
#define _GNU_SOURCE
#include "replay_run.h"

#include <unistd.h>

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
    CHECK_OK(gph_replay_create(recording, NULL, &replay, &error), error);
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
    CHECK_OK(gph_replay_create(recording, NULL, &first, &error), error);
    CHECK_OK(gph_replay_create(recording, NULL, &second, &error), error);
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

static atomic_int work_done;

static void work_slowly(void *user)
{
    (void)user;
    usleep(50000);
    atomic_store(&work_done, 1);
}

static void check_work_done(void *user)
{
    *(int *)user = atomic_load(&work_done) ? 1 : 2;
}

static void what_has_run_ends_before_it_is_given_back(void)
{
    struct breaks breaks = {.fail_with = GPH_E_IO};
    int released = 0;
    gph_capture *capture = begin(GPH_JOIN_ERROR, GPH_CAPTURE_RUN);
    atomic_store(&work_done, 0);
    CU(LaunchHostFunc, stream, work_slowly, NULL);
    CHECK_OK(gph_capture_hold(capture, check_work_done, &released, &error), error);
    CHECK(gph_capture_break(capture, on_break, &breaks, &error) == GPH_E_IO);
    CHECK(released == 0 && gph_capture_abort(capture, &error) == GPH_OK);
    CHECK(released == 1);
    check_streams_are_usable();
}

/* A capture that libgph knows nothing of is not invalidated by a destruction. */
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

int main(void)
{
    if (!set_up())
        return 1;
    RUN(segments_are_replayed_with_host_calls_between);
    RUN(a_recording_that_runs_gives_breaks_real_values);
    RUN(a_failed_break_gives_everything_back);
    RUN(a_break_cannot_end_its_capture);
    RUN(held_objects_live_as_long_as_replays);
    RUN(what_has_run_ends_before_it_is_given_back);
    RUN(a_foreign_capture_survives_a_destruction);
    (void)cu->DevicePrimaryCtxRelease(0);
    gph_close(runtime);
    return test_done();
}
