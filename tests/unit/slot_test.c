// SPDX-License-Identifier: Apache-2.0
/* Slots on a driver: each replay sees what was bound when it was launched, however many
 * are queued; rings and windows wait, and never lose anything. */
#define _POSIX_C_SOURCE 200809L
#include "update_world.h"
#include <gph/slot.h>

#include <time.h>

/* take: out[1 + out[0]++] = *p. follow: the same of **p. */
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry take(.param .u64 p, .param .u64 out)\n"
                          "{\n.reg .b64 %a<6>;\n.reg .b32 %r<4>;\n"
                          "ld.param.u64 %a1, [p];\nld.param.u64 %a2, [out];\n"
                          "ld.global.u32 %r1, [%a1];\nld.global.u32 %r2, [%a2];\n"
                          "mul.wide.u32 %a3, %r2, 4;\nadd.u64 %a4, %a2, %a3;\n"
                          "st.global.u32 [%a4+4], %r1;\nadd.u32 %r2, %r2, "
                          "1;\nst.global.u32 [%a2], %r2;\nret;\n}\n"
                          ".visible .entry follow(.param .u64 p, .param .u64 out)\n"
                          "{\n.reg .b64 %a<6>;\n.reg .b32 %r<4>;\n"
                          "ld.param.u64 %a1, [p];\nld.param.u64 %a2, [out];\n"
                          "ld.global.u64 %a1, [%a1];\n"
                          "ld.global.u32 %r1, [%a1];\nld.global.u32 %r2, [%a2];\n"
                          "mul.wide.u32 %a3, %r2, 4;\nadd.u64 %a4, %a2, %a3;\n"
                          "st.global.u32 [%a4+4], %r1;\nadd.u32 %r2, %r2, "
                          "1;\nst.global.u32 [%a2], %r2;\nret;\n}\n";

enum { OUT_WORDS = 4096, BUFFERS = 4, BIG = 2 << 20 };

static CUfunction take, follow;
static CUdeviceptr out;
static CUdeviceptr buffers[BUFFERS]; /* each begins with 1000 + its number */
static gph_slot_buffer *pages[BUFFERS];
static CUstream second;
static atomic_int gate;

static void CUDA_CB wait_at_gate(void *user)
{
    (void)user;
    for (int i = 0; i < 20000 && !atomic_load(&gate); i++) {
        const struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
}

/* Work of the stream waits until open_gate(). */
static void close_gate(void)
{
    atomic_store(&gate, 0);
    OK(world.cu->cuLaunchHostFunc(world.stream, wait_at_gate, NULL));
}

static void open_gate(void)
{
    atomic_store(&gate, 1);
}

static void begin_out(void)
{
    OK(world.cu->cuMemsetD32Async(out, 0, OUT_WORDS, world.stream));
    OK(world.cu->cuStreamSynchronize(world.stream));
}

/* What the replays saw, in their order. */
static const uint32_t *read_out(uint32_t count)
{
    static uint32_t words[OUT_WORDS];
    OK(world.cu->cuStreamSynchronize(world.stream));
    OK(world.cu->cuStreamSynchronize(second));
    OK(world.cu->cuMemcpyDtoH(words, out, sizeof(words)));
    CHECK(words[0] == count);
    return words + 1;
}

static void launch_kernel(CUfunction function, CUdeviceptr from, CUstream stream)
{
    void *arguments[] = {&from, &out};
    OK(world.cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
}

static gph_slots *make_table(const gph_slot *slots, uint32_t count,
                             const gph_slots_options *options)
{
    gph_slots *table = NULL;
    FINE(gph_slots_create(world.runtime, slots, count, options, &table, &world.error));
    return table;
}

/* A graph that reads each slot in turn. */
static gph_exec *capture(gph_slots *table, const gph_slot *slots, uint32_t count)
{
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    gph_exec *exec = NULL;
    CUgraph graph = NULL;
    OK(world.cu->cuStreamBeginCapture(world.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FINE(gph_slots_feed(table, world.stream, &world.error));
    for (uint32_t i = 0; i < count; i++)
        launch_kernel(slots[i].kind == GPH_SLOT_INDIRECT ? follow : take,
                      gph_slots_address(table, i), world.stream);
    OK(world.cu->cuStreamEndCapture(world.stream, &graph));
    options.upload_stream = world.stream;
    FINE(gph_exec_create(world.runtime, graph, &options, &exec, &world.error));
    OK(world.cu->cuGraphDestroy(graph));
    return exec;
}

static uint64_t state = 3;

static unsigned below(unsigned limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % limit;
}

static gph_slots_stats stats_of(const gph_slots *table)
{
    gph_slots_stats stats = GPH_SIZED(gph_slots_stats);
    gph_slots_stats_get(table, &stats);
    return stats;
}

/* ---- INDIRECT ---- */

static const gph_slot two_words[] = {{.name = "first", .kind = GPH_SLOT_INDIRECT},
                                     {.name = "second", .kind = GPH_SLOT_INDIRECT}};

static void queued_replays_keep_what_they_were_bound_to(void)
{
    gph_slots *table = make_table(two_words, 2, NULL);
    gph_exec *exec = capture(table, two_words, 2);
    uint32_t wanted[2 * 60];
    begin_out();
    close_gate();
    for (uint32_t i = 0; i < 60; i++) {
        const unsigned a = below(BUFFERS), b = below(BUFFERS);
        if (i == 0 || below(2) || a != b) {
            FINE(gph_slots_bind(table, 0, buffers[a], &world.error));
            FINE(gph_slots_bind(table, 1, buffers[b], &world.error));
            wanted[2 * i] = 1000 + a;
            wanted[2 * i + 1] = 1000 + b;
        } else {
            wanted[2 * i] = wanted[2 * i - 2];
            wanted[2 * i + 1] = wanted[2 * i - 1];
        }
        FINE(gph_slots_launch(table, &exec, 1, world.stream, &world.error));
    }
    open_gate();
    CHECK(memcmp(read_out(120), wanted, sizeof(wanted)) == 0);
    CHECK(stats_of(table).launch_count == 60 && stats_of(table).wait_count == 0);
    gph_exec_destroy(exec);
    gph_slots_destroy(table);
}

/* Far more replays than rows. */
static void a_ring_goes_round(void)
{
    gph_slots_options options = GPH_SLOTS_OPTIONS_INIT;
    options.depth = 4;
    gph_slots *table = make_table(two_words, 1, &options);
    gph_exec *exec = capture(table, two_words, 1);
    begin_out();
    for (uint32_t i = 0; i < 1000; i++) {
        FINE(gph_slots_bind(table, 0, buffers[i % 3], &world.error));
        FINE(gph_slots_launch(table, &exec, 1, world.stream, &world.error));
    }
    const uint32_t *seen = read_out(1000);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < 1000; i++)
        wrong += seen[i] != 1000 + i % 3;
    CHECK(wrong == 0);
    CHECK(stats_of(table).wait_count > 0);
    gph_exec_destroy(exec);
    gph_slots_destroy(table);
}

static void a_full_ring_waits_and_gives_up(void)
{
    gph_slots_options options = GPH_SLOTS_OPTIONS_INIT;
    options.depth = 4;
    options.wait_ns = 20000000;
    gph_slots *table = make_table(two_words, 1, &options);
    gph_exec *exec = capture(table, two_words, 1);
    begin_out();
    close_gate();
    for (uint32_t i = 0; i < 4; i++) {
        FINE(gph_slots_bind(table, 0, buffers[i % BUFFERS], &world.error));
        FINE(gph_slots_launch(table, &exec, 1, world.stream, &world.error));
    }
    CHECK(gph_slots_launch(table, &exec, 1, world.stream, &world.error) == GPH_E_STATE);
    CHECK(strstr(world.error.message, "none began") != NULL);
    open_gate();
    OK(world.cu->cuStreamSynchronize(world.stream));
    FINE(gph_slots_launch(table, &exec, 1, world.stream, &world.error));
    const uint32_t *seen = read_out(5);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(seen[i] == 1000 + (i < 4 ? i : 3));
    gph_exec_destroy(exec);
    gph_slots_destroy(table);
}

static void graphs_without_their_table_are_found_out(void)
{
    gph_slots_options options = GPH_SLOTS_OPTIONS_INIT;
    options.depth = 2;
    gph_slots *table = make_table(two_words, 1, &options);
    gph_exec *exec = capture(table, two_words, 1), *other = NULL;
    begin_out();
    FINE(gph_slots_bind(table, 0, buffers[0], &world.error));
    FINE(gph_slots_launch(table, &exec, 1, world.stream, &world.error));
    for (int i = 0; i < 5; i++)
        FINE(gph_exec_launch(exec, world.stream, &world.error)); /* the wrong door */
    OK(world.cu->cuStreamSynchronize(world.stream));
    gph_status status = GPH_OK;
    for (int i = 0; i < 3 && status == GPH_OK; i++)
        status = gph_slots_launch(table, &exec, 1, world.stream, &world.error);
    CHECK(status == GPH_E_STATE);
    CHECK(strstr(world.error.message, "gph_slots_launch() only") != NULL);
    gph_exec_destroy(exec);
    gph_slots_destroy(table);

    table = make_table(two_words, 1, &options);
    CUgraph graph = NULL;
    OK(world.cu->cuStreamBeginCapture(world.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(world.cu->cuMemsetD32Async(out, 0, 1, world.stream)); /* no feed */
    OK(world.cu->cuStreamEndCapture(world.stream, &graph));
    gph_exec_options exec_options = GPH_EXEC_OPTIONS_INIT;
    exec_options.upload_stream = world.stream;
    FINE(gph_exec_create(world.runtime, graph, &exec_options, &other, &world.error));
    FINE(gph_slots_bind(table, 0, buffers[0], &world.error));
    status = GPH_OK;
    for (int i = 0; i < 3 && status == GPH_OK; i++)
        status = gph_slots_launch(table, &other, 1, world.stream, &world.error);
    CHECK(status == GPH_E_STATE && strstr(world.error.message, "gph_slots_feed") != NULL);
    gph_exec_destroy(other);
    OK(world.cu->cuGraphDestroy(graph));
    gph_slots_destroy(table);
}

/* Work before any capture, as warm-ups are, and in two streams by turns. */
static void eager_work_and_other_streams_are_in_order(void)
{
    gph_slots *table = make_table(two_words, 1, NULL);
    gph_exec *exec = capture(table, two_words, 1);
    begin_out();
    for (uint32_t i = 0; i < 40; i++) {
        CUstream stream = i % 3 == 1 ? second : world.stream;
        FINE(gph_slots_bind(table, 0, buffers[i % BUFFERS], &world.error));
        if (i % 4 == 3) {
            FINE(gph_slots_feed(table, stream, &world.error));
            launch_kernel(follow, gph_slots_address(table, 0), stream);
        } else {
            FINE(gph_slots_launch(table, &exec, 1, stream, &world.error));
        }
    }
    const uint32_t *seen = read_out(40);
    for (uint32_t i = 0; i < 40; i++)
        CHECK(seen[i] == 1000 + i % BUFFERS);
    gph_exec_destroy(exec);
    gph_slots_destroy(table);
}

static void many_words_are_fed_at_once(void)
{
    static gph_slot slots[600];
    for (int i = 0; i < 600; i++)
        slots[i] = (gph_slot){.kind = GPH_SLOT_INDIRECT};
    gph_slots *table = make_table(slots, 600, NULL);
    gph_exec *exec = capture(table, slots, 600);
    for (int round = 0; round < 3; round++) {
        begin_out();
        for (uint32_t i = 0; i < 600; i++)
            FINE(gph_slots_bind(table, i, buffers[(i + (uint32_t)round) % BUFFERS],
                                &world.error));
        FINE(gph_slots_launch(table, &exec, 1, world.stream, &world.error));
        const uint32_t *seen = read_out(600);
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < 600; i++)
            wrong += seen[i] != 1000 + (i + (uint32_t)round) % BUFFERS;
        CHECK(wrong == 0);
    }
    gph_exec_destroy(exec);
    gph_slots_destroy(table);
}

/* ---- COPY ---- */

static void copies_reach_the_replay_that_they_were_bound_for(void)
{
    const gph_slot slots[] = {{.name = "a", .kind = GPH_SLOT_COPY, .bytes = 64},
                              {.name = "b", .kind = GPH_SLOT_COPY, .bytes = 4096},
                              {.name = "c", .kind = GPH_SLOT_INDIRECT}};
    gph_slots *table = make_table(slots, 3, NULL);
    gph_exec *exec = capture(table, slots, 3);
    uint32_t wanted[3 * 30];
    unsigned bound[3] = {0, 0, 0};
    begin_out();
    close_gate();
    for (uint32_t i = 0; i < 30; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            if (i == 0 || below(2)) {
                bound[k] = below(BUFFERS);
                FINE(gph_slots_bind(table, k, buffers[bound[k]], &world.error));
            }
            wanted[3 * i + k] = 1000 + bound[k];
        }
        FINE(gph_slots_launch(table, &exec, 1, world.stream, &world.error));
    }
    open_gate();
    CHECK(memcmp(read_out(90), wanted, sizeof(wanted)) == 0);
    CHECK(stats_of(table).copy_count > 20 && stats_of(table).copy_count < 60);
    CHECK(gph_slots_find(table, "b") == 1 && gph_slots_find(table, "x") == -1);
    gph_exec_destroy(exec);
    gph_slots_destroy(table);
}

static void a_copy_slot_may_lie_where_the_caller_wants(void)
{
    const gph_slot slot = {
        .kind = GPH_SLOT_COPY, .bytes = 64, .address = world.at[AT_SECOND]};
    gph_slots *table = make_table(&slot, 1, NULL);
    gph_exec *exec = capture(table, &slot, 1);
    CHECK(gph_slots_address(table, 0) == world.at[AT_SECOND]);
    begin_out();
    FINE(gph_slots_bind(table, 0, buffers[2], &world.error));
    FINE(gph_slots_launch(table, &exec, 1, world.stream, &world.error));
    FINE(gph_slots_bind(table, 0, world.at[AT_SECOND], &world.error)); /* is there */
    FINE(gph_slots_launch(table, &exec, 1, world.stream, &world.error));
    const uint32_t *seen = read_out(2);
    CHECK(seen[0] == 1002 && seen[1] == 1002 && stats_of(table).copy_count == 1);
    gph_exec_destroy(exec);
    gph_slots_destroy(table);
}

/* ---- REMAP ---- */

static void capture_windows(gph_slots *table, const gph_slot *slots, uint32_t count,
                            gph_exec **execs)
{
    for (uint32_t w = 0; w < gph_slots_window_count(table); w++) {
        FINE(gph_slots_window_set(table, w, &world.error));
        execs[w] = capture(table, slots, count);
    }
}

static void buffers_are_mapped_where_the_graph_reads(void)
{
    const gph_slot slots[] = {{.kind = GPH_SLOT_REMAP, .bytes = BIG},
                              {.kind = GPH_SLOT_REMAP, .bytes = 100},
                              {.kind = GPH_SLOT_INDIRECT}};
    gph_slots *table = make_table(slots, 3, NULL);
    gph_exec *execs[2] = {NULL, NULL};
    uint32_t wanted[3 * 40];
    CHECK(gph_slots_window_count(table) == 2);
    for (uint32_t k = 0; k < 2; k++)
        FINE(gph_slots_bind_buffer(table, k, pages[k], &world.error));
    capture_windows(table, slots, 3, execs);
    begin_out();
    for (uint32_t i = 0; i < 40; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            const unsigned which = below(BUFFERS);
            FINE(gph_slots_bind_buffer(table, k, pages[which], &world.error));
            wanted[3 * i + k] = 1000 + which;
        }
        FINE(gph_slots_launch(table, execs, 2, world.stream, &world.error));
    }
    CHECK(memcmp(read_out(120), wanted, sizeof(wanted)) == 0);
    CHECK(stats_of(table).map_count > 10);
    for (int w = 0; w < 2; w++)
        gph_exec_destroy(execs[w]);
    gph_slots_destroy(table);
}

static void two_buffers_by_turns_map_nothing(void)
{
    const gph_slot slot = {.kind = GPH_SLOT_REMAP, .bytes = BIG};
    gph_slots *table = make_table(&slot, 1, NULL);
    gph_exec *execs[2] = {NULL, NULL};
    FINE(gph_slots_bind_buffer(table, 0, pages[0], &world.error));
    capture_windows(table, &slot, 1, execs);
    begin_out();
    uint64_t mapped = 0;
    for (uint32_t i = 0; i < 100; i++) {
        FINE(gph_slots_bind_buffer(table, 0, pages[i % 2], &world.error));
        FINE(gph_slots_launch(table, execs, 2, world.stream, &world.error));
        if (i == 3)
            mapped = stats_of(table).map_count;
    }
    const uint32_t *seen = read_out(100);
    for (uint32_t i = 0; i < 100; i++)
        CHECK(seen[i] == 1000 + i % 2);
    CHECK(stats_of(table).map_count == mapped && stats_of(table).revive_count >= 96);
    for (int w = 0; w < 2; w++)
        gph_exec_destroy(execs[w]);
    gph_slots_destroy(table);
}

/* A replay under way keeps its pages; one window alone has to wait for it. */
static void nothing_is_unmapped_under_a_replay(void)
{
    const gph_slot slot = {.kind = GPH_SLOT_REMAP, .bytes = BIG};
    gph_slots_options options = GPH_SLOTS_OPTIONS_INIT;
    options.windows = 1;
    options.wait_ns = 20000000;
    gph_slots *table = make_table(&slot, 1, &options);
    gph_exec *exec = NULL;
    FINE(gph_slots_bind_buffer(table, 0, pages[0], &world.error));
    capture_windows(table, &slot, 1, &exec);
    begin_out();
    close_gate();
    FINE(gph_slots_launch(table, &exec, 1, world.stream, &world.error));
    FINE(gph_slots_bind_buffer(table, 0, pages[1], &world.error));
    CHECK(gph_slots_launch(table, &exec, 1, world.stream, &world.error) == GPH_E_STATE);
    CHECK(gph_slots_window_set(table, 0, &world.error) == GPH_E_STATE);
    open_gate();
    OK(world.cu->cuStreamSynchronize(world.stream));
    FINE(gph_slots_launch(table, &exec, 1, world.stream, &world.error));
    const uint32_t *seen = read_out(2);
    CHECK(seen[0] == 1000 && seen[1] == 1001);
    gph_exec_destroy(exec);
    gph_slots_destroy(table);
}

/* A window holds the pages of a buffer that is gone, and knows a new one from it. */
static void a_buffer_that_is_gone_leaves_its_pages(void)
{
    const gph_slot slot = {.kind = GPH_SLOT_REMAP, .bytes = BIG};
    gph_slots *table = make_table(&slot, 1, NULL);
    gph_exec *execs[2] = {NULL, NULL};
    FINE(gph_slots_bind_buffer(table, 0, pages[0], &world.error));
    capture_windows(table, &slot, 1, execs);
    begin_out();
    for (uint32_t i = 0; i < 6; i++) {
        gph_slot_buffer *fresh = NULL;
        const uint32_t value = 7000 + i;
        FINE(gph_slot_buffer_create(world.runtime, BIG, &fresh, &world.error));
        OK(world.cu->cuMemcpyHtoD(gph_slot_buffer_address(fresh), &value, 4));
        FINE(gph_slots_bind_buffer(table, 0, fresh, &world.error));
        FINE(gph_slots_launch(table, execs, 2, world.stream, &world.error));
        OK(world.cu->cuStreamSynchronize(world.stream));
        gph_slot_buffer_destroy(fresh);
        FINE(gph_slots_bind_buffer(table, 0, pages[0], &world.error));
    }
    const uint32_t *seen = read_out(6);
    for (uint32_t i = 0; i < 6; i++)
        CHECK(seen[i] == 7000 + i);
    for (int w = 0; w < 2; w++)
        gph_exec_destroy(execs[w]);
    gph_slots_destroy(table);
}

static void memory_that_was_mapped_can_be_adopted(void)
{
    gph_slot_buffer *buffer = NULL;
    const uint32_t value = 4321;
    OK(world.cu->cuMemcpyHtoD(world.at[AT_MAPPED], &value, 4));
    FINE(gph_slot_buffer_adopt(world.runtime, world.at[AT_MAPPED], WORLD_PAGE, &buffer,
                               &world.error));
    CHECK(gph_slot_buffer_address(buffer) == world.at[AT_MAPPED]);
    const gph_slot slot = {.kind = GPH_SLOT_REMAP, .bytes = 4096};
    gph_slots *table = make_table(&slot, 1, NULL);
    gph_exec *execs[2] = {NULL, NULL};
    FINE(gph_slots_bind_buffer(table, 0, buffer, &world.error));
    capture_windows(table, &slot, 1, execs);
    begin_out();
    FINE(gph_slots_launch(table, execs, 2, world.stream, &world.error));
    CHECK(read_out(1)[0] == 4321);
    for (int w = 0; w < 2; w++)
        gph_exec_destroy(execs[w]);
    gph_slots_destroy(table);
    gph_slot_buffer_destroy(buffer);
    CHECK(gph_slot_buffer_adopt(world.runtime, buffers[0], WORLD_PAGE, &buffer,
                                &world.error) > 0);
    CHECK(gph_slot_buffer_adopt(world.runtime, world.at[AT_MAPPED], 4096, &buffer,
                                &world.error) == GPH_E_INVALID);
    CHECK(gph_slot_buffer_adopt(world.runtime, 0, WORLD_PAGE, &buffer, &world.error) ==
          GPH_E_INVALID);
}

/* ---- refusals ---- */

static void wrong_tables_are_refused(void)
{
    gph_slots *table = NULL;
    gph_slot slot = {.kind = GPH_SLOT_COPY, .bytes = 16};
    gph_slots_options options = GPH_SLOTS_OPTIONS_INIT;
#define REFUSED(slots, count, opt)                                                       \
    CHECK(gph_slots_create(world.runtime, slots, count, opt, &table, &world.error) ==    \
          GPH_E_INVALID)
    REFUSED(NULL, 1, NULL);
    REFUSED(&slot, 0, NULL);
    REFUSED(&slot, 5000, NULL);
    options.depth = 3;
    REFUSED(&slot, 1, &options);
    options.depth = 0;
    options.windows = 9;
    REFUSED(&slot, 1, &options);
    slot.bytes = 0;
    REFUSED(&slot, 1, NULL);
    slot = (gph_slot){.kind = GPH_SLOT_PULL + 1, .bytes = 16};
    REFUSED(&slot, 1, NULL);
    slot = (gph_slot){.kind = GPH_SLOT_COPY, .flags = 1, .bytes = 16};
    REFUSED(&slot, 1, NULL);
    CHECK(table == NULL);
    gph_slots_destroy(NULL);
}

static void wrong_uses_are_refused(void)
{
    const gph_slot slots[] = {{.name = "x", .kind = GPH_SLOT_INDIRECT},
                              {.kind = GPH_SLOT_REMAP, .bytes = 2 * BIG}};
    gph_slots *table = make_table(slots, 2, NULL);
    gph_exec *execs[2] = {NULL, NULL};
    gph_slot_buffer *large = NULL;
    CHECK(gph_slots_bind(table, 2, buffers[0], &world.error) == GPH_E_INVALID);
    CHECK(gph_slots_bind(table, 0, 0, &world.error) == GPH_E_INVALID);
    CHECK(gph_slots_bind(table, 1, buffers[0], &world.error) == GPH_E_INVALID);
    CHECK(gph_slots_bind(NULL, 0, buffers[0], &world.error) == GPH_E_INVALID);
    CHECK(gph_slots_bind_buffer(table, 1, pages[0], &world.error) == GPH_E_INVALID);
    CHECK(gph_slots_bind_buffer(table, 1, NULL, &world.error) == GPH_E_INVALID);
    CHECK(gph_slots_window_set(table, 2, &world.error) == GPH_E_INVALID);
    CHECK(gph_slots_window_set(NULL, 0, &world.error) == GPH_E_INVALID);
    CHECK(gph_slots_feed(NULL, world.stream, &world.error) == GPH_E_INVALID);
    CHECK(gph_slots_feed(table, world.stream, &world.error) == GPH_E_INVALID);
    CHECK(strstr(world.error.message, "slot 0 (x) was never bound") != NULL);
    FINE(gph_slot_buffer_create(world.runtime, 2 * BIG, &large, &world.error));
    FINE(gph_slots_bind_buffer(table, 1, large, &world.error));
    FINE(gph_slots_bind(table, 0, buffers[0], &world.error));
    capture_windows(table, slots, 1, execs);
    CHECK(gph_slots_launch(table, execs, 1, world.stream, &world.error) == GPH_E_INVALID);
    CHECK(gph_slots_launch(table, NULL, 2, world.stream, &world.error) == GPH_E_INVALID);
    CHECK(gph_slots_launch(NULL, execs, 2, world.stream, &world.error) == GPH_E_INVALID);
    CHECK(gph_slots_address(table, 2) == 0 && gph_slots_address(NULL, 0) == 0);
    CHECK(gph_slots_window_count(NULL) == 0 && gph_slots_find(NULL, "x") == -1);
    CHECK(gph_slot_buffer_create(world.runtime, 0, &large, &world.error) ==
          GPH_E_INVALID);
    CHECK(gph_slot_buffer_address(NULL) == 0);
    gph_slot_buffer_destroy(NULL);
    FINE(gph_slots_launch(table, execs, 2, world.stream, &world.error));
    OK(world.cu->cuStreamSynchronize(world.stream));
    for (int w = 0; w < 2; w++)
        gph_exec_destroy(execs[w]);
    gph_slots_destroy(table);
    gph_slot_buffer_destroy(large);
}

int main(void)
{
    const int code = world_open();
    if (code != 0)
        return code;
    CUmodule module;
    OK(world.cu->cuModuleLoadData(&module, ptx));
    OK(world.cu->cuModuleGetFunction(&take, module, "take"));
    OK(world.cu->cuModuleGetFunction(&follow, module, "follow"));
    OK(world.cu->cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    OK(world.cu->cuMemAlloc(&out, 4 * OUT_WORDS));
    for (uint32_t i = 0; i < BUFFERS; i++) {
        const uint32_t value = 1000 + i;
        OK(world.cu->cuMemAlloc(&buffers[i], 4096));
        OK(world.cu->cuMemcpyHtoD(buffers[i], &value, 4));
        FINE(gph_slot_buffer_create(world.runtime, BIG, &pages[i], &world.error));
        OK(world.cu->cuMemcpyHtoD(gph_slot_buffer_address(pages[i]), &value, 4));
    }
    RUN(queued_replays_keep_what_they_were_bound_to);
    RUN(a_ring_goes_round);
    RUN(a_full_ring_waits_and_gives_up);
    RUN(graphs_without_their_table_are_found_out);
    RUN(eager_work_and_other_streams_are_in_order);
    RUN(many_words_are_fed_at_once);
    RUN(copies_reach_the_replay_that_they_were_bound_for);
    RUN(a_copy_slot_may_lie_where_the_caller_wants);
    RUN(buffers_are_mapped_where_the_graph_reads);
    RUN(two_buffers_by_turns_map_nothing);
    RUN(nothing_is_unmapped_under_a_replay);
    RUN(a_buffer_that_is_gone_leaves_its_pages);
    RUN(memory_that_was_mapped_can_be_adopted);
    RUN(wrong_tables_are_refused);
    RUN(wrong_uses_are_refused);
    for (uint32_t i = 0; i < BUFFERS; i++)
        gph_slot_buffer_destroy(pages[i]);
    gph_close(world.runtime);
    return test_done();
}
