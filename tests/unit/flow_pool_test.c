// SPDX-License-Identifier: Apache-2.0
/* Memory of captured control flow from the pool of the capture: bodies that exclude each
 * other have the same bytes, what lives after them has its own.
 *
 * A case fills a temporary of 2 MiB, a page of its own, and copies a part of it out, so that a wrong address
 * shows in what a replay gives. */
#include "flow_run.h"

enum { CASES = 8, PAGE = 2 << 20, PART = 64 };

static gph_arena *arena;
static gph_pool *pool;
static CUdeviceptr out;

static gph_capture *open_pool(void)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    CHECK_OK(gph_arena_create(runtime, NULL, &arena, &error), error);
    CHECK_OK(gph_pool_create(arena, NULL, &pool, &error), error);
    options.pool = pool;
    options.join = GPH_JOIN_AUTO;
    return open_capture(&options);
}

static void close_pool(void)
{
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static CUdeviceptr take(CUstream where)
{
    CUdeviceptr at = 0;
    CHECK_OK(gph_pool_alloc(pool, PAGE, where, &at, &error), error);
    return at;
}

static void give(CUdeviceptr at, CUstream where)
{
    CHECK_OK(gph_pool_free(pool, at, where, &error), error);
}

static void fill(CUdeviceptr at, unsigned value, CUstream where)
{
    CU(MemsetD32Async, at, value, PAGE / 4, where);
}

static void copy_out(CUdeviceptr at, int index, CUstream where)
{
    CU(MemcpyDtoDAsync, out + (CUdeviceptr)index * PART, at + PAGE - PART, PART, where);
}

static CUdeviceptr temporary(unsigned value, int index)
{
    const CUdeviceptr at = take(stream);
    fill(at, value, stream);
    copy_out(at, index, stream);
    give(at, stream);
    return at;
}

static uint64_t peak(void)
{
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(pool, &stats);
    return stats.peak_bytes;
}

static uint64_t mapped(void)
{
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(pool, &stats);
    return stats.mapped_bytes;
}

static unsigned replayed(struct made *made, int index)
{
    unsigned got[PART / 4] = {0};
    CU(MemsetD32Async, out, 0, CASES * PART / 4, stream);
    CHECK_OK(gph_replay_launch(made->replay, stream, &error), error);
    CU(MemcpyDtoHAsync, got, out + (CUdeviceptr)index * PART, PART, stream);
    CU(StreamSynchronize, stream);
    for (int i = 1; i < PART / 4; i++)
        CHECK(got[i] == got[0]);
    return got[0];
}

/* ---- cases ---- */

static void eight_cases_take_what_one_does(void)
{
    gph_capture *capture = open_pool();
    const gph_condition condition = word_at(word(0));
    CUdeviceptr first = 0;
    CHECK_OK(gph_capture_switch(capture, &condition, CASES, &error), error);
    for (unsigned i = 0; i < CASES; i++) {
        if (i > 0)
            CHECK_OK(gph_capture_case(capture, i, &error), error);
        const CUdeviceptr at = temporary(100 + i, 0);
        first = i == 0 ? at : first;
        CHECK(at == first);
    }
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    struct made made = close_capture(capture);
    CHECK(peak() == PAGE && mapped() == PAGE);
    for (unsigned i = 0; i <= CASES; i++) {
        put(0, i);
        CHECK(replayed(&made, 0) == (i < CASES ? 100 + i : 0));
    }
    drop(&made);
    close_pool();
}

/* if { choice of two, each { if { } else { } } } else { loop { } } */
static void nested_bodies_share_too(void)
{
    gph_capture *capture = open_pool();
    const gph_condition outer = word_at(word(0)), choice = word_at(word(1)),
                        inner = word_at(word(2)), rounds = word_at(word(3));
    CHECK_OK(gph_capture_if(capture, &outer, 2, &error), error);
    CHECK_OK(gph_capture_switch(capture, &choice, 2, &error), error);
    for (unsigned i = 0; i < 2; i++) {
        if (i > 0)
            CHECK_OK(gph_capture_case(capture, i, &error), error);
        CHECK_OK(gph_capture_if(capture, &inner, 2, &error), error);
        temporary(10 + i, 0);
        CHECK_OK(gph_capture_else(capture, &error), error);
        temporary(20 + i, 0);
        CHECK_OK(gph_capture_flow_end(capture, &error), error);
    }
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    CHECK_OK(gph_capture_else(capture, &error), error);
    CHECK_OK(gph_capture_while(capture, &rounds, &error), error);
    temporary(30, 0);
    step(3);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    struct made made = close_capture(capture);
    CHECK(peak() == PAGE && mapped() == PAGE);
    for (unsigned i = 0; i < 16; i++) {
        const unsigned is_then = i & 1, which = i >> 1 & 1, is_inner = i >> 2 & 1,
                       round = i >> 3 & 1;
        put(0, is_then), put(1, which), put(2, is_inner), put(3, 2 * round);
        const unsigned wanted = is_then ? (is_inner ? 10u : 20u) + which
                                : round ? 30u
                                        : 0u;
        CHECK(replayed(&made, 0) == wanted);
    }
    drop(&made);
    close_pool();
}

/* Each case leaves its result in a block of its own, which is read after the choice; a
 * value from before the choice is read after it, too. */
static void what_lives_after_a_body_is_its_own(void)
{
    gph_capture *capture = open_pool();
    const gph_condition condition = word_at(word(0));
    CUdeviceptr left[3];
    const CUdeviceptr before = take(stream);
    fill(before, 7, stream);
    for (int i = 0; i < 3; i++) /* a body that does not run leaves what was there */
        left[i] = 0;
    CHECK_OK(gph_capture_switch(capture, &condition, 3, &error), error);
    for (unsigned i = 0; i < 3; i++) {
        if (i > 0)
            CHECK_OK(gph_capture_case(capture, i, &error), error);
        CHECK(temporary(1, 5) != before);
        left[i] = take(stream);
        fill(left[i], 40 + i, stream);
    }
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    CHECK(left[0] != left[1] && left[0] != left[2] && left[1] != left[2]);
    CHECK(peak() == 4 * PAGE);
    temporary(2, 6);
    CHECK(peak() == 5 * PAGE && mapped() == 5 * PAGE);
    for (int i = 0; i < 3; i++) {
        copy_out(left[i], i, stream);
        give(left[i], stream);
    }
    copy_out(before, 3, stream);
    give(before, stream);
    for (int i = 0; i < 5; i++) /* all of it is there for what comes */
        left[i % 3] = take(stream);
    CHECK(peak() == 5 * PAGE && mapped() == 5 * PAGE);
    struct made made = close_capture(capture);
    for (unsigned i = 0; i < 3; i++) {
        put(0, i);
        CHECK(replayed(&made, (int)i) == 40 + i);
        CHECK(replayed(&made, 3) == 7);
    }
    drop(&made);
    close_pool();
}

/* A stream that joins in a body frees there: the next body has it at once. */
static void forks_of_a_body_share_with_the_next(void)
{
    gph_capture *capture = open_pool();
    const gph_condition condition = word_at(word(0));
    CUdeviceptr forked[2] = {0}, own[2] = {0};
    CHECK_OK(gph_capture_if(capture, &condition, 2, &error), error);
    for (unsigned i = 0; i < 2; i++) {
        if (i > 0)
            CHECK_OK(gph_capture_else(capture, &error), error);
        own[i] = take(stream);
        CHECK_OK(gph_capture_fork(capture, side, &error), error);
        forked[i] = take(side);
        CHECK(forked[i] != own[i]);
        fill(own[i], 50 + i, stream);
        fill(forked[i], 60 + i, side);
        copy_out(own[i], 0, stream);
        copy_out(forked[i], 1, side);
        give(forked[i], side);
        give(own[i], stream);
    }
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    struct made made = close_capture(capture);
    CHECK(peak() == 2 * PAGE && mapped() == 2 * PAGE);
    CHECK((forked[1] == forked[0] || forked[1] == own[0]) &&
          (own[1] == forked[0] || own[1] == own[0]));
    for (unsigned i = 0; i < 2; i++) {
        put(0, 1 - i);
        CHECK(replayed(&made, 0) == 50 + i);
        CHECK(replayed(&made, 1) == 60 + i);
    }
    drop(&made);
    close_pool();
}

/* Each round of a loop chooses: what one round's case leaves for the rest of the body is not
 * the other case's, and what a case frees of the outside is nobody's. */
static void cases_in_a_loop_keep_to_their_round(void)
{
    gph_capture *capture = open_pool();
    const gph_condition rounds = word_at(word(0)), condition = word_at(word(1));
    const CUdeviceptr outside = take(stream);
    fill(outside, 9, stream);
    CHECK_OK(gph_capture_while(capture, &rounds, &error), error);
    const CUdeviceptr shared = take(stream);
    fill(shared, 3, stream);
    CHECK_OK(gph_capture_if(capture, &condition, 2, &error), error);
    copy_out(outside, 0, stream);
    give(outside, stream);
    CHECK(temporary(1, 5) != outside);
    CHECK_OK(gph_capture_else(capture, &error), error);
    CHECK(temporary(2, 5) != outside);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    copy_out(shared, 1, stream);
    give(shared, stream);
    CHECK(temporary(4, 2) != outside);
    step(0);
    step(1);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    struct made made = close_capture(capture);
    CHECK(mapped() == 3 * PAGE);
    for (unsigned first = 0; first < 3; first++) {
        /* the condition of the rounds: first, first - 1, ...; 0 takes the other case */
        put(0, 3), put(1, first);
        CHECK(replayed(&made, 0) == 9);
        put(0, 3), put(1, first);
        CHECK(replayed(&made, 1) == 3);
        put(0, 3), put(1, first);
        CHECK(replayed(&made, 2) == 4);
    }
    drop(&made);
    close_pool();
}

/* Half of a choice, and nothing is left of it. */
static void an_abort_in_a_body_gives_all_back(void)
{
    gph_capture *capture = open_pool();
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    const gph_condition condition = word_at(word(0));
    CHECK_OK(gph_capture_switch(capture, &condition, 3, &error), error);
    temporary(1, 0);
    CHECK_OK(gph_capture_case(capture, 1, &error), error);
    CHECK(take(stream) != 0);
    CHECK_OK(gph_capture_abort(capture, &error), error);
    gph_pool_stats_get(pool, &stats);
    CHECK(stats.allocated_bytes == 0 && stats.recording_count == 0);
    close_pool();
    check_idle();
}

int main(void)
{
    if (!set_up() || !CU(MemAlloc, &out, CASES * PART))
        return test_done();
    RUN(eight_cases_take_what_one_does);
    RUN(nested_bodies_share_too);
    RUN(what_lives_after_a_body_is_its_own);
    RUN(forks_of_a_body_share_with_the_next);
    RUN(cases_in_a_loop_keep_to_their_round);
    RUN(an_abort_in_a_body_gives_all_back);
    return test_done();
}
