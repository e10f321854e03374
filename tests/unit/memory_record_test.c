// SPDX-License-Identifier: Apache-2.0
/* Recordings: allocations in captures, what frees are used again by whom, failures. */
#include "memory_common.h"

static gph_arena *arena;
static gph_pool *pool;

static void setup(void)
{
    arena = open_arena(0);
    pool = open_pool(arena, "p");
}

static void teardown(void)
{
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void destroy(CUgraph graph)
{
    if (graph != NULL)
        CU(GraphDestroy, graph);
}

static void a_capture_allocates_and_grows(void)
{
    setup();
    const gph_recording_id id = begin(pool, streams[0], "first");
    const long queries = shim_calls(SHIM_cuEventQuery);
    const long records = shim_calls(SHIM_cuEventRecord);
    const CUdeviceptr a = alloc(pool, 9 * MiB, streams[0]); /* grows while captured */
    fill(a, 1, 9 * MiB, streams[0]);
    const CUdeviceptr b = alloc(pool, MiB, streams[0]);
    fill(b, 2, MiB, streams[0]);
    give(pool, a, streams[0]);
    const CUdeviceptr c = alloc(pool, 8 * MiB, streams[0]);
    CHECK(c == a); /* what the capture freed, later work of it uses */
    fill(c, 3, 8 * MiB, streams[0]);
    give(pool, c, streams[0]);
    CHECK(stats_of(pool).mapped_bytes == 10 * MiB);
    CHECK(shim_calls(SHIM_cuEventQuery) == queries);
    CHECK(shim_calls(SHIM_cuEventRecord) == records); /* no event call in a capture */
    CUgraph graph = end(pool, id, streams[0], &b, 1);

    gph_pool_range ranges[4];
    uint32_t count = 0;
    CHECK_OK(gph_pool_ranges(pool, id, ranges, 4, &count, &error), error);
    CHECK(count == 3);
    CHECK(ranges[0].kind == GPH_RANGE_TEMPORARY && ranges[0].first == 1 &&
          ranges[0].last == 3);
    CHECK(ranges[1].kind == GPH_RANGE_OUTPUT && ranges[1].address == b &&
          ranges[1].last == UINT32_MAX && ranges[1].first == 2);
    CHECK(ranges[2].address == a && ranges[2].bytes == 8 * MiB && ranges[2].first == 4 &&
          ranges[2].last == 5);
    CHECK(ranges[2].recording == id && ranges[2].maker == id &&
          ranges[2].stream == streams[0]);

    /* The replay works on these addresses. */
    gph_exec *exec = NULL;
    CHECK_OK(gph_exec_create(runtime, graph, NULL, &exec, &error), error);
    CHECK_OK(gph_exec_launch(exec, streams[0], &error), error);
    unsigned int word[2] = {0};
    CU(StreamSynchronize, streams[0]);
    CU(MemcpyDtoH, &word[0], b, 4);
    CU(MemcpyDtoH, &word[1], c, 4);
    CHECK(word[0] == 2 && word[1] == 3);
    gph_exec_destroy(exec);
    destroy(graph);
    /* The output lives on; forgetting frees it. */
    CHECK(stats_of(pool).allocation_count == 1 && stats_of(pool).recording_count == 1);
    gph_pool_record_forget(pool, id);
    CHECK(stats_of(pool).allocation_count == 0 && stats_of(pool).recording_count == 0);
    teardown();
}

static void two_graphs_share_their_temporaries(void)
{
    /* torch's test_graph_two_successive: a shared pool saves exactly what both need. */
    setup();
    CUgraph graphs[7] = {NULL};
    for (int i = 0; i < 7; i++) {
        const uint64_t bytes = (uint64_t)(7 - i) * 2 * MiB;
        const gph_recording_id id = begin(pool, streams[0], NULL);
        const CUdeviceptr t = alloc(pool, bytes, streams[0]);
        const CUdeviceptr u = alloc(pool, bytes, streams[0]);
        fill(u, 1, bytes, streams[0]);
        give(pool, t, streams[0]);
        give(pool, u, streams[0]);
        graphs[i] = end(pool, id, streams[0], NULL, 0);
    }
    CHECK(stats_of(pool).mapped_bytes == 28 * MiB); /* the largest alone */
    CHECK(stats_of(pool).recording_count == 7);
    for (int i = 0; i < 7; i++)
        destroy(graphs[i]);
    /* Pages of recordings stay, whatever is trimmed. */
    uint64_t freed = 1;
    CHECK_OK(gph_arena_trim(arena, 0, &freed, &error), error);
    CHECK(freed == 0 && stats_of(pool).mapped_bytes == 28 * MiB);
    for (uint32_t id = 1; id <= 7; id++)
        gph_pool_record_forget(pool, id);
    CHECK_OK(gph_arena_trim(arena, 0, &freed, &error), error);
    CHECK(freed == 28 * MiB);
    teardown();
}

static void forked_streams_follow(void)
{
    /* cuda_graph_allocator_propagates_stream, side_stream_memory_allocation */
    setup();
    CUdeviceptr outside = 0;
    const gph_recording_id id = begin(pool, streams[0], "fork");
    follow(streams[1], streams[0]);
    const CUdeviceptr a = alloc(pool, MiB, streams[1]);
    fill(a, 7, MiB, streams[1]);
    /* A stream that did not join is eager, and does not get what the capture freed. */
    give(pool, a, streams[1]);
    outside = alloc(pool, MiB, streams[2]);
    CHECK(outside != a);
    const CUdeviceptr b = alloc(pool, MiB, streams[1]);
    CHECK(b == a);
    follow(streams[0], streams[1]);
    CUgraph graph = end(pool, id, streams[0], &b, 1);
    gph_pool_range ranges[4];
    uint32_t count = 0;
    CHECK_OK(gph_pool_ranges(pool, id, ranges, 4, &count, &error), error);
    CHECK(count == 2 && ranges[0].stream == streams[1]);
    give(pool, outside, streams[2]);
    destroy(graph);
    teardown();
}

static void what_is_freed_is_used_again_behind_all_of_its_users(void)
{
    /* graph_capture_reclaim_2_streams and _4_streams */
    for (int users = 2; users <= 4; users++) {
        setup();
        const gph_recording_id id = begin(pool, streams[0], "reclaim");
        for (int i = 1; i < users; i++)
            follow(streams[i], streams[0]);
        const CUdeviceptr a = alloc(pool, 2 * MiB, streams[0]);
        fill(a, 1, MiB, streams[0]);
        for (int i = 1; i < users; i++) {
            follow(streams[i], streams[0]);
            CU(MemcpyDtoDAsync, a + (uint64_t)i * 4096, a, 4, streams[i]);
            CHECK_OK(gph_pool_use(pool, a, streams[i], &error), error);
        }
        give(pool, a, streams[0]);
        const CUdeviceptr early = alloc(pool, 2 * MiB, streams[0]);
        CHECK(early != a); /* no other user has been joined */
        for (int i = 1; i < users; i++) {
            const CUdeviceptr b = alloc(pool, 2 * MiB, streams[0]);
            CHECK(b != a);
            give(pool, b, streams[0]);
            follow(streams[0], streams[i]);
        }
        const CUdeviceptr late = alloc(pool, 2 * MiB, streams[0]);
        CHECK(late != 0);
        const CUdeviceptr later = alloc(pool, 2 * MiB, streams[0]);
        CHECK(late == a || later == a);
        CHECK(stats_of(pool).mapped_bytes == 6 * MiB);
        destroy(end(pool, id, streams[0], NULL, 0));
        teardown();
    }
}

static void another_stream_uses_it_when_it_is_behind(void)
{
    setup();
    const gph_recording_id id = begin(pool, streams[0], "across");
    follow(streams[1], streams[0]);
    const CUdeviceptr small = alloc(pool, 512, streams[1]);
    const CUdeviceptr a = alloc(pool, 2 * MiB, streams[1]);
    fill(a, 1, 64, streams[1]);
    give(pool, a, streams[1]);
    fill(small, 2, 64, streams[1]); /* after the free */
    const CUdeviceptr b = alloc(pool, 2 * MiB, streams[0]);
    CHECK(b != a);
    follow(streams[0], streams[1]);
    /* Both halves: one freed by its own stream, one by the other, in one piece. */
    give(pool, b, streams[0]);
    const CUdeviceptr c = alloc(pool, 3 * MiB, streams[0]);
    CHECK(c == a && b == a + 2 * MiB);
    CHECK(stats_of(pool).mapped_bytes == 6 * MiB);
    destroy(end(pool, id, streams[0], NULL, 0));
    teardown();
}

static void memory_in_use_before_the_capture_waits_for_its_work(void)
{
    /* graph_capture_pre_capture_stream_use */
    setup();
    CUdeviceptr big = 0;
    CU(MemAlloc, &big, 64 * MiB);
    const CUdeviceptr a = alloc(pool, 2 * MiB, streams[2]);
    CHECK_OK(gph_pool_use(pool, a, streams[1], &error), error);
    occupy(streams[1], big);
    const int busy = cu->StreamQuery(streams[1]) != 0;
    const gph_recording_id id = begin(pool, streams[0], "pre");
    give(pool, a, streams[0]);
    const CUdeviceptr b = alloc(pool, 2 * MiB, streams[0]);
    CHECK(b != a); /* not in this capture, ended or not */
    give(pool, b, streams[0]);
    destroy(end(pool, id, streams[0], NULL, 0));
    const CUdeviceptr c = alloc(pool, 2 * MiB, streams[3]);
    if (busy && cu->StreamQuery(streams[1]) != 0)
        CHECK(c != a);
    CU(StreamSynchronize, streams[1]);
    give(pool, c, streams[3]);
    CU(StreamSynchronize, streams[3]);
    CHECK(alloc(pool, 4 * MiB, streams[3]) != 0);
    CHECK(stats_of(pool).mapped_bytes == 4 * MiB);
    CU(MemFree, big);
    teardown();
}

static void a_failed_capture_gives_everything_back(void)
{
    setup();
    const CUdeviceptr kept = alloc(pool, MiB, streams[0]);
    const CUdeviceptr passed = alloc(pool, 512 * 1024, streams[0]);
    const CUdeviceptr used = alloc(pool, 512, streams[0]);
    CHECK_OK(gph_pool_use(pool, passed, streams[3], &error), error);
    CU(StreamSynchronize, streams[0]);
    const gph_pool_stats before = stats_of(pool);
    for (int i = 0; i < 3; i++) {
        const gph_recording_id id = begin(pool, streams[0], "fails");
        const CUdeviceptr t = alloc(pool, 100 * 1024, streams[0]);
        CHECK_OK(gph_pool_use(pool, used, streams[0], &error), error);
        give(pool, kept, streams[0]);
        give(pool, passed, streams[0]);
        alloc(pool, 300 * 1024, streams[0]);
        const CUdeviceptr u = alloc(pool, 5 * MiB, streams[0]);
        give(pool, t, streams[0]);
        give(pool, u, streams[0]);
        if (i == 1)
            CHECK(cu->StreamSynchronize(streams[0]) != GPH_OK); /* invalid from now on */
        CUdeviceptr more = 0;
        if (i == 1) {
            CHECK(gph_pool_alloc(pool, 512, streams[0], &more, &error) ==
                  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
            CHECK_OK(gph_pool_free(pool, used, streams[0], &error), error);
        }
        CUgraph graph = NULL;
        const CUresult ended = plain->cu.cuStreamEndCapture(streams[0], &graph);
        CHECK((ended == CUDA_SUCCESS) == (i != 1));
        destroy(graph);
        if (i == 2) /* forgetting an open one is an abort */
            gph_pool_record_forget(pool, id);
        else
            gph_pool_record_abort(pool, id);
        gph_pool_record_abort(pool, id); /* ignored */
        const gph_pool_stats after = stats_of(pool);
        CHECK(after.allocated_bytes == before.allocated_bytes);
        CHECK(after.requested_bytes == before.requested_bytes);
        CHECK(after.allocation_count == 3 && after.recording_count == 0);
    }
    gph_pool_range live[3];
    uint32_t count = 0;
    gph_pool_live(pool, live, 3, &count);
    CHECK(count == 3 && live[0].address == kept && live[0].bytes == MiB);
    CHECK(live[1].address == passed && live[2].address == used);
    give(pool, kept, streams[0]);
    give(pool, passed, streams[0]); /* still waits for stream 3, too */
    give(pool, used, streams[0]);
    /* An eager allocation and another capture work. */
    give(pool, alloc(pool, MiB, streams[0]), streams[0]);
    const gph_recording_id id = begin(pool, streams[0], "works");
    give(pool, alloc(pool, MiB, streams[0]), streams[0]);
    destroy(end(pool, id, streams[0], NULL, 0));
    /* A capture left open goes with the pool. */
    CHECK_OK(
        gph_pool_record_begin(pool, streams[0], NULL, &(gph_recording_id){0}, &error),
        error);
    teardown();
}

static void wrong_calls_are_refused(void)
{
    setup();
    gph_pool *other = open_pool(arena, "other");
    gph_recording_id id = 0, none = 0;
    CUdeviceptr p = 0;
    const CUdeviceptr eager = alloc(pool, 512, streams[1]);
    CHECK(gph_pool_record_begin(NULL, streams[0], NULL, &id, &error) == GPH_E_INVALID);
    id = begin(pool, streams[0], "open");
    CHECK(gph_pool_record_begin(pool, streams[1], NULL, &none, &error) == GPH_E_STATE);
    CHECK(strstr(error.message, "pool p has an open recording, open") != NULL);
    CHECK(gph_pool_record_begin(other, streams[0], NULL, &none, &error) == GPH_E_STATE);
    CHECK(gph_pool_alloc(other, 512, streams[0], &p, &error) == GPH_E_STATE);
    CHECK(strstr(error.message, "is captured, but not into pool other") != NULL);
    const CUdeviceptr own = alloc(pool, 512, streams[0]);
    CHECK(gph_pool_free(pool, own, streams[1], &error) == GPH_E_STATE);
    CHECK(gph_pool_use(pool, own, streams[1], &error) == GPH_E_STATE);
    CHECK_OK(gph_pool_use(pool, eager, streams[0], &error), error);
    CHECK(gph_pool_free(pool, eager, streams[1], &error) == GPH_E_STATE);
    CHECK(strstr(error.message, "belongs to recording open, which is open") != NULL);
    gph_checkpoint *point = NULL;
    CHECK(gph_checkpoint_take(pool, &point, &error) == GPH_E_STATE && point == NULL);
    CHECK(gph_pool_replay(pool, id, &error) == GPH_E_INVALID);
    CHECK(gph_pool_may_replay(pool, id, id, GPH_REPLAY_AFTER, NULL, &error) ==
          GPH_E_INVALID);
    CHECK(gph_pool_alloc_at(pool, own, 512, streams[0], &error) == GPH_E_STATE);
    CUgraph graph = end_capture(streams[0]);
    CHECK(gph_pool_record_end(pool, id + 1, NULL, 0, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_pool_record_end(pool, id, &eager, 1, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_pool_record_end(pool, id, NULL, 1, NULL, &error) == GPH_E_INVALID);
    CHECK_OK(gph_pool_record_end(pool, id, &own, 1, NULL, &error), error);
    CHECK(gph_pool_record_end(pool, id, &own, 1, NULL, &error) == GPH_E_INVALID);
    gph_pool_record_abort(pool, id); /* not open: ignored */
    CHECK(stats_of(pool).recording_count == 1);
    uint32_t count = 0;
    CHECK(gph_pool_ranges(pool, 77, NULL, 0, &count, &error) == GPH_E_INVALID);
    CHECK(gph_pool_record_input(pool, 77, eager, 512, &error) == GPH_E_INVALID);
    CHECK(gph_pool_record_input(pool, id, eager, 513, &error) == GPH_E_INVALID);
    CHECK(gph_pool_record_input(pool, id, own, 512, &error) == GPH_E_INVALID);
    CHECK(gph_pool_record_input(pool, id, 4096, 512, &error) == GPH_E_INVALID);
    destroy(graph);

    /* A capture that nobody bound. */
    CU(StreamSynchronize, streams[0]);
    CHECK(plain->cu.cuStreamBeginCapture(streams[0], 1) == CUDA_SUCCESS);
    CHECK(gph_pool_alloc(pool, 512, streams[0], &p, &error) == GPH_E_STATE);
    CHECK(gph_pool_free(pool, eager, streams[0], &error) == GPH_E_STATE);
    CHECK(gph_pool_record_begin(pool, streams[0], NULL, &none, &error) == GPH_E_STATE);
    destroy(end_capture(streams[0]));
    CHECK(p == 0 && none == 0);
    gph_pool_release(other);
    teardown();
}

static void a_capture_that_is_short_of_memory_goes_on(void)
{
    /* graph_capture_oom */
    arena = open_arena(16 * MiB);
    pool = open_pool(arena, "small");
    const gph_recording_id id = begin(pool, streams[0], "r");
    CUdeviceptr a = alloc(pool, 10 * MiB, streams[0]), b = 0;
    CHECK(gph_pool_alloc(pool, 10 * MiB, streams[0], &b, &error) ==
          CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(b == 0 && strstr(error.message, "pool small holds 10485760 bytes") != NULL);
    give(pool, a, streams[0]);
    b = alloc(pool, 10 * MiB, streams[0]);
    CHECK(b == a);
    fill(b, 1, 64, streams[0]);
    CUgraph graph = end(pool, id, streams[0], &b, 1);
    CHECK(graph != NULL);
    destroy(graph);
    teardown();
}

static void nothing_is_unmapped_while_a_capture_is_open(void)
{
    setup();
    gph_pool *other = open_pool(arena, "other");
    uint64_t freed = 1;
    const CUdeviceptr a = alloc(other, 8 * MiB, streams[1]);
    const CUdeviceptr b = alloc(other, 512, streams[1]);
    give(other, a, streams[1]);
    give(other, b, streams[1]);
    CU(StreamSynchronize, streams[1]);
    gph_pool_release(other); /* 10 MiB are idle */
    const long unmaps = shim_calls(SHIM_cuMemUnmap);
    const long creates = shim_calls(SHIM_cuMemCreate);
    const gph_recording_id id = begin(pool, streams[0], "r");
    CHECK_OK(gph_arena_trim(arena, 0, &freed, &error), error);
    CHECK(freed == 0);
    const CUdeviceptr c = alloc(pool, 6 * MiB, streams[0]);
    CHECK(c == a && shim_calls(SHIM_cuMemCreate) == creates); /* where they lie */
    alloc(pool, 20 * MiB, streams[0]);
    CHECK(shim_calls(SHIM_cuMemUnmap) == unmaps);
    CUgraph graph = end_capture(streams[0]);
    gph_pool_record_abort(pool, id);
    destroy(graph);
    CHECK_OK(gph_arena_trim(arena, 0, &freed, &error), error);
    CHECK(freed == 26 * MiB);

    /* Nor while another capture of libgph is: destroying waits for it, too. */
    give(pool, alloc(pool, 2 * MiB, streams[0]), streams[0]);
    CU(StreamSynchronize, streams[0]);
    gph_capture *capture = NULL;
    CHECK_OK(gph_capture_begin(runtime, streams[2], NULL, &capture, &error), error);
    CHECK_OK(gph_arena_trim(arena, 0, &freed, &error), error);
    CHECK(freed == 0);
    CHECK_OK(gph_capture_abort(capture, &error), error);
    CHECK_OK(gph_arena_trim(arena, 0, &freed, &error), error);
    CHECK(freed == 2 * MiB);
    teardown();
}

static void segments_are_one_recording(void)
{
    setup();
    const gph_recording_id id = begin(pool, streams[0], "segments");
    follow(streams[1], streams[0]);
    const CUdeviceptr a = alloc(pool, 2 * MiB, streams[1]);
    fill(a, 1, 64, streams[1]);
    give(pool, a, streams[1]);
    const CUdeviceptr across = alloc(pool, MiB, streams[0]);
    follow(streams[0], streams[1]);
    destroy(end_capture(streams[0]));
    const CUdeviceptr eager = alloc(pool, 2 * MiB, streams[0]); /* between them */
    CHECK(eager != a);
    CHECK(plain->cu.cuStreamBeginCapture(streams[0], 1) == CUDA_SUCCESS);
    const CUdeviceptr b = alloc(pool, 2 * MiB, streams[0]);
    CHECK(b == a); /* the graphs run one after the other */
    give(pool, across, streams[0]);
    give(pool, b, streams[0]);
    destroy(end(pool, id, streams[0], NULL, 0));
    CHECK(stats_of(pool).allocation_count == 1);
    give(pool, eager, streams[0]);
    teardown();
}

static char warned[512];
static int warnings;

static void keep_warning(void *user, gph_log_level level, const char *area,
                         const char *message)
{
    (void)user;
    if (level == GPH_LOG_WARN && strcmp(area, "memory") == 0) {
        warnings++;
        snprintf(warned, sizeof(warned), "%s", message);
    }
}

static void a_cached_workspace_is_named(void)
{
    /* workspace_allocation_error */
    setup();
    uint32_t kept = 0;
    const gph_recording_id id = begin(pool, streams[0], "blas");
    const CUdeviceptr out = alloc(pool, 4096, streams[0]);
    give(pool, alloc(pool, 512, streams[0]), streams[0]);
    const CUdeviceptr workspace = alloc(pool, 8 * MiB, streams[0]);
    destroy(end_capture(streams[0]));
    warnings = 0;
    gph_log_set(keep_warning, NULL);
    CHECK_OK(gph_pool_record_end(pool, id, &out, 1, &kept, &error), error);
    gph_log_set(NULL, NULL);
    CHECK(kept == 1 && warnings == 1);
    CHECK(strstr(warned, "blas of pool p keeps 8388608 bytes") != NULL);
    CHECK(strstr(warned, "event 4") != NULL);
    gph_pool_range ranges[4];
    uint32_t count = 0;
    CHECK_OK(gph_pool_ranges(pool, id, ranges, 4, &count, &error), error);
    CHECK(count == 3 && ranges[2].kind == GPH_RANGE_KEPT);
    CHECK(ranges[2].address == workspace);
    teardown();
}

static void a_hundred_captures_do_not_grow_memory(void)
{
    /* repeat_graph_capture_cublas_workspace_memory */
    setup();
    for (int i = 0; i < 100; i++) {
        const gph_recording_id id = begin(pool, streams[0], NULL);
        const CUdeviceptr out = alloc(pool, MiB, streams[0]);
        give(pool, alloc(pool, 5 * MiB, streams[0]), streams[0]);
        destroy(end(pool, id, streams[0], &out, 1));
        gph_pool_record_forget(pool, id);
    }
    CHECK(stats_of(pool).mapped_bytes == 6 * MiB);
    teardown();
}

static void wrong_ranges_leave_nothing_behind(const gph_pool_range *one, uint32_t ones,
                                              CUdeviceptr beyond)
{
    gph_recording_id c = 0;
    const gph_pool_stats before = stats_of(pool);
    CHECK(gph_pool_record_restore(pool, NULL, one, ones, &c, &error) == GPH_E_STATE);
    gph_pool_range bad = one[0];
    bad.bytes = 0;
    CHECK(gph_pool_record_restore(pool, NULL, &bad, 1, &c, &error) == GPH_E_INVALID);
    bad = one[0];
    bad.kind = GPH_RANGE_EAGER;
    CHECK(gph_pool_record_restore(pool, NULL, &bad, 1, &c, &error) == GPH_E_INVALID);
    bad = one[0];
    bad.address = beyond;
    CHECK(gph_pool_record_restore(pool, NULL, &bad, 1, &c, &error) == GPH_E_INVALID);
    CHECK(c == 0 && stats_of(pool).recording_count == 2);
    CHECK(stats_of(pool).allocated_bytes == before.allocated_bytes);
}

static void a_recording_is_made_again_from_its_ranges(void)
{
    setup();
    CUdeviceptr base = 0;
    uint64_t bytes = 0;
    gph_arena_range(arena, &base, &bytes);
    const CUdeviceptr input = alloc(pool, MiB, streams[0]);
    const gph_recording_id first = begin(pool, streams[0], "first");
    const CUdeviceptr t = alloc(pool, 2 * MiB, streams[0]);
    const CUdeviceptr out = alloc(pool, MiB, streams[0]);
    give(pool, t, streams[0]);
    destroy(end(pool, first, streams[0], &out, 1));
    const gph_recording_id second = begin(pool, streams[0], "second");
    const CUdeviceptr u = alloc(pool, 2 * MiB, streams[0]);
    CHECK(u == t);
    give(pool, out, streams[0]);
    destroy(end(pool, second, streams[0], &u, 1));
    CHECK_OK(gph_pool_record_input(pool, second, input, MiB, &error), error);
    gph_pool_range one[4], two[4];
    uint32_t ones = 0, twos = 0;
    CHECK_OK(gph_pool_ranges(pool, first, one, 4, &ones, &error), error);
    CHECK_OK(gph_pool_ranges(pool, second, two, 4, &twos, &error), error);
    CHECK(ones == 2 && twos == 3);
    teardown();

    /* As in a new process: the same addresses. */
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    options.base = base;
    options.reserve_bytes = bytes;
    CHECK_OK(gph_arena_create(runtime, &options, &arena, &error), error);
    pool = open_pool(arena, "q");
    gph_recording_id a = 0, b = 0;
    CHECK_OK(gph_pool_alloc_at(pool, input, MiB, streams[0], &error), error);
    CHECK_OK(gph_pool_record_restore(pool, "first", one, ones, &a, &error), error);
    CHECK(stats_of(pool).allocation_count == 2);
    for (uint32_t i = 0; i < twos; i++) {
        two[i].maker = two[i].kind == GPH_RANGE_INPUT && two[i].maker == first ? a : 0;
        two[i].recording = UINT32_MAX; /* nobody's */
    }
    CHECK_OK(gph_pool_record_restore(pool, "second", two, twos, &b, &error), error);
    CHECK(stats_of(pool).allocation_count == 3);
    CHECK(gph_pool_may_replay(pool, a, b, GPH_REPLAY_AFTER, NULL, &error) == GPH_OK);
    CHECK(gph_pool_may_replay(pool, b, a, GPH_REPLAY_AFTER, NULL, &error) == GPH_E_STATE);
    CHECK(gph_pool_replay(pool, b, &error) == GPH_E_STATE); /* a has not run */
    CHECK_OK(gph_pool_replay(pool, a, &error), error);
    CHECK_OK(gph_pool_replay(pool, b, &error), error);

    wrong_ranges_leave_nothing_behind(one, ones, base + bytes);
    teardown();
}

static void gph_capture_records_into_a_pool(void)
{
    setup();
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    options.pool = pool;
    CHECK_OK(gph_capture_begin(runtime, streams[0], &options, &capture, &error), error);
    const CUdeviceptr a = alloc(pool, MiB, streams[0]);
    fill(a, 1, MiB, streams[0]);
    CHECK_OK(gph_capture_abort(capture, &error), error);
    CHECK(stats_of(pool).allocation_count == 0 && stats_of(pool).recording_count == 0);
    (void)graph;
    teardown();
}

int main(void)
{
    if (!open_driver())
        return 77;
    RUN(a_capture_allocates_and_grows);
    RUN(two_graphs_share_their_temporaries);
    RUN(forked_streams_follow);
    RUN(what_is_freed_is_used_again_behind_all_of_its_users);
    RUN(another_stream_uses_it_when_it_is_behind);
    RUN(memory_in_use_before_the_capture_waits_for_its_work);
    RUN(a_failed_capture_gives_everything_back);
    RUN(wrong_calls_are_refused);
    RUN(a_capture_that_is_short_of_memory_goes_on);
    RUN(nothing_is_unmapped_while_a_capture_is_open);
    RUN(segments_are_one_recording);
    RUN(a_cached_workspace_is_named);
    RUN(a_hundred_captures_do_not_grow_memory);
    RUN(a_recording_is_made_again_from_its_ranges);
    RUN(gph_capture_records_into_a_pool);
    close_driver();
    return test_done();
}
