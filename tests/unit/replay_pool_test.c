// SPDX-License-Identifier: Apache-2.0
/* Captures that are bound to a pool: what they allocate is the recording's, and comes
 * back when they fail. On softcuda, or NVIDIA's driver where there is a GPU. */
#include "runtime.h"

static CUstream stream, side;
static gph_arena *arena;
static gph_pool *pool;

enum { BYTES = 1 << 16 };

static gph_capture *begin(uint32_t flags)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    options.pool = pool;
    options.name = "step";
    options.join = GPH_JOIN_AUTO;
    options.flags = flags;
    gph_capture *capture = NULL;
    CHECK_OK(gph_capture_begin(runtime, stream, &options, &capture, &error), error);
    return capture;
}

static gph_pool_stats stats(void)
{
    gph_pool_stats out = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(pool, &out);
    return out;
}

static CUdeviceptr allocate(CUstream where)
{
    CUdeviceptr address = 0;
    CHECK_OK(gph_pool_alloc(pool, BYTES, where, &address, &error), error);
    CU(MemsetD32Async, address, 7, BYTES / 4, where);
    return address;
}

/* A temporary, and an output made of it in a forked stream and a second segment. */
static gph_status nothing(void *user, const gph_break *call, gph_error *failure)
{
    (void)user;
    (void)call;
    (void)failure;
    return GPH_OK;
}

static gph_recording *record(uint32_t flags, bool with_break, CUdeviceptr *out)
{
    gph_capture *capture = begin(flags);
    gph_recording *recording = NULL;
    const CUdeviceptr temporary = allocate(stream);
    CHECK_OK(gph_capture_fork(capture, side, &error), error);
    *out = allocate(side);
    CHECK_OK(gph_capture_join(capture, side, &error), error);
    if (with_break)
        CHECK_OK(gph_capture_break(capture, nothing, NULL, &error), error);
    CU(MemcpyDtoDAsync, *out, temporary, BYTES, stream);
    CHECK_OK(gph_pool_free(pool, temporary, stream, &error), error);
    CHECK_OK(gph_capture_output(capture, *out, &error), error);
    CHECK_OK(gph_capture_finish(capture, &recording, &error), error);
    return recording;
}

static void allocations_belong_to_the_recording(void)
{
    for (int with_break = 0; with_break <= 1; with_break++) {
        const gph_pool_stats before = stats();
        CUdeviceptr out = 0;
        gph_replay *replay = NULL;
        gph_recording *recording = record(0, with_break, &out);
        const gph_recording_id id = gph_recording_pool_id(recording);
        gph_pool_range ranges[8];
        uint32_t count = 0;
        CHECK(id != 0);
        CHECK_OK(gph_pool_ranges(pool, id, ranges, 8, &count, &error), error);
        int outputs = 0, temporaries = 0;
        for (uint32_t i = 0; i < count && i < 8; i++) {
            outputs += ranges[i].kind == GPH_RANGE_OUTPUT && ranges[i].address == out;
            temporaries += ranges[i].kind == GPH_RANGE_TEMPORARY;
        }
        CHECK(outputs == 1 && temporaries == 1);
        CHECK(stats().allocation_count == before.allocation_count + 1);

        CHECK_OK(gph_replay_create(recording, NULL, &replay, &error), error);
        CHECK_OK(gph_replay_launch(replay, stream, &error), error);
        unsigned int value = 0;
        CU(MemcpyDtoHAsync, &value, out, 4, stream);
        CU(StreamSynchronize, stream);
        CHECK(value == 7);
        gph_recording_destroy(recording);
        CHECK(stats().recording_count == before.recording_count + 1);
        gph_replay_destroy(replay); /* the last of it: the output is free */
        CHECK(stats().recording_count == before.recording_count);
        CHECK(stats().allocation_count == before.allocation_count);
        CHECK(stats().users == before.users);
    }
}

static void a_failed_capture_gives_memory_back(void)
{
    const gph_pool_stats before = stats();
    gph_recording *recording = NULL;
    gph_capture *capture = begin(0);
    allocate(stream);
    CHECK(gph_capture_abort(capture, &error) == GPH_OK);
    CHECK(stats().allocation_count == before.allocation_count);

    capture = begin(0);
    allocate(stream);
    CHECK(cu->StreamSynchronize(stream) != 0);
    CHECK(gph_capture_finish(capture, &recording, &error) == CAPTURE_INVALIDATED);
    CHECK(stats().allocation_count == before.allocation_count);
    CHECK(stats().recording_count == before.recording_count && recording == NULL);

    capture = begin(0); /* an output that is none: the capture is still the caller's */
    allocate(stream);
    CHECK_OK(gph_capture_output(capture, 512, &error), error);
    CHECK(gph_capture_finish(capture, &recording, &error) == GPH_E_INVALID);
    CHECK(gph_capture_finish(capture, &recording, &error) == GPH_E_STATE);
    CHECK(gph_capture_abort(capture, &error) == GPH_OK && recording == NULL);
    CHECK(stats().allocation_count == before.allocation_count);
    CHECK(stats().users == before.users);
}

static void wrong_uses_are_refused(void)
{
    CUgraph graph = NULL;
    gph_capture *capture = begin(0), *second = NULL;
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    options.pool = pool;
    CHECK(gph_capture_end(capture, &graph, &error) == GPH_E_STATE && says("has a pool"));
    CHECK(gph_capture_output(capture, 0, &error) == GPH_E_INVALID);
    CHECK(gph_capture_begin(runtime, side, &options, &second, &error) == GPH_E_STATE);
    CHECK(second == NULL && gph_capture_abort(capture, &error) == GPH_OK);
    int status = -1;
    CU(StreamIsCapturing, side, &status);
    CHECK(status == 0);
}

/* Reads `from`, which becomes its input, into an output of its own. */
static gph_recording *record_reader(CUdeviceptr from, CUdeviceptr *out)
{
    gph_capture *capture = begin(0);
    gph_recording *recording = NULL;
    CHECK_OK(gph_pool_use(pool, from, stream, &error), error);
    *out = allocate(stream);
    CU(MemcpyDtoDAsync, *out, from, BYTES, stream);
    CHECK_OK(gph_capture_output(capture, *out, &error), error);
    CHECK_OK(gph_capture_finish(capture, &recording, &error), error);
    return recording;
}

static gph_replay *instantiate(gph_recording *recording)
{
    gph_replay *replay = NULL;
    CHECK_OK(gph_replay_create(recording, NULL, &replay, &error), error);
    gph_recording_destroy(recording);
    return replay;
}

static void a_replay_out_of_order_is_refused(void)
{
    CUdeviceptr made = 0, copied = 0, over = 0;
    gph_replay *maker = instantiate(record(0, false, &made));
    gph_replay *reader = instantiate(record_reader(made, &copied));
    CHECK_OK(gph_pool_free(pool, made, stream, &error), error);
    CU(StreamSynchronize, stream);
    gph_replay *third = instantiate(record(0, false, &over));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(gph_replay_launch(maker, stream, &error), error);
        CHECK_OK(gph_replay_launch(reader, stream, &error), error);
        unsigned int value = 0;
        CU(MemcpyDtoHAsync, &value, copied, 4, stream);
        CU(StreamSynchronize, stream);
        CHECK(value == 7);
        CHECK_OK(gph_replay_launch(third, stream, &error), error); /* lies over it */
        CHECK(gph_replay_launch(reader, stream, &error) == GPH_E_STATE);
        CHECK(error.message[0] != '\0');
    }
    CU(StreamSynchronize, stream);
    gph_replay_destroy(third);
    gph_replay_destroy(reader);
    gph_replay_destroy(maker);
}

static void a_recording_that_runs_is_noted_by_the_pool(void)
{
    CUdeviceptr out = 0;
    gph_recording *recording = record(GPH_CAPTURE_RUN, true, &out);
    unsigned int value = 0;
    CU(MemcpyDtoHAsync, &value, out, 4, stream);
    CU(StreamSynchronize, stream);
    CHECK(value == 7);
    gph_recording_destroy(recording);
}

static bool set_up(void)
{
    runtime_open(GPH_DRIVER_AUTO, NULL);
    CUcontext context = NULL;
    return CU(DevicePrimaryCtxRetain, &context, 0) && CU(CtxSetCurrent, context) &&
           CU(StreamCreate, &stream, 1) && CU(StreamCreate, &side, 1) &&
           CHECK_OK(gph_arena_create(runtime, NULL, &arena, &error), error) &&
           CHECK_OK(gph_pool_create(arena, NULL, &pool, &error), error);
}

int main(void)
{
    if (!set_up())
        return 1;
    RUN(allocations_belong_to_the_recording);
    RUN(a_failed_capture_gives_memory_back);
    RUN(wrong_uses_are_refused);
    RUN(a_replay_out_of_order_is_refused);
    RUN(a_recording_that_runs_is_noted_by_the_pool);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    (void)cu->DevicePrimaryCtxRelease(0);
    gph_close(runtime);
    return test_done();
}
