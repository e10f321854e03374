// SPDX-License-Identifier: Apache-2.0
/* Address planning where there are too many buffers for the exact search: the lists and the
 * skyline beside plain loops, a training step's trace, plans that are repaired, and every
 * allocation failing in turn. */
#include <gph/plan.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "plan/levels.h"
#include "plan/skyline.h"
#include "test.h"

static uint64_t random_state = 88172645463325252ull;

static uint32_t below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state % n);
}

static gph_plan_buffer buffer(uint64_t lower, uint64_t upper, uint64_t size)
{
    return (gph_plan_buffer){.lower = lower, .upper = upper, .size = size};
}

static const gph_plan_body cases[] = {{.choice = 1}, {.choice = 1}};

enum { SOME = 1500, TIMES = 400 };

static gph_plan_buffer some[SOME];

static void make_some(gphi_problem *problem)
{
    gph_error error = {0};
    for (uint32_t i = 0; i < SOME; i++) {
        const uint64_t lower = below(TIMES);
        some[i] = buffer(lower, lower + 1 + below(i % 5 ? 20 : 300), 1 + below(1000));
    }
    CHECK_OK(gphi_problem_init(problem, some, SOME, NULL, 0, gphi_heap(NULL), &error),
             error);
}

/* Added and dropped at random; what is met is what a loop finds, in order. */
static void lists_find_what_lives_together(void)
{
    gphi_problem problem;
    make_some(&problem);
    gphi_levels *levels = gphi_levels_create(&problem);
    static uint64_t keys[SOME];
    static bool in[SOME];
    static gphi_level found[SOME];
    for (uint32_t round = 0; levels && round < 20000; round++) {
        const uint32_t at = below(SOME);
        /* Rising and falling numbers of them: chunks are cut, and join. */
        if (!in[at] && below(10000) < (round / 5000 % 2 ? 2000u : 9000u)) {
            keys[at] = below(300);
            gphi_levels_add(levels, at, keys[at]);
            in[at] = true;
        } else if (in[at]) {
            gphi_levels_drop(levels, at, keys[at]);
            in[at] = false;
        }
        if (round % 100 != 0)
            continue;
        const uint32_t asked = below(SOME);
        const uint32_t count = gphi_levels_meet(levels, asked, found);
        uint32_t expected = 0;
        for (uint32_t i = 0; i < SOME; i++)
            expected += in[i] && gphi_plan_meet(&problem, i, asked);
        CHECK(count == expected);
        for (uint32_t i = 0; i < count; i++)
            CHECK(in[found[i].buffer] && found[i].key == keys[found[i].buffer] &&
                  (i == 0 || found[i - 1].key <= found[i].key));
    }
    CHECK(levels != NULL);
    gphi_levels_destroy(levels);
    gphi_problem_fini(&problem);
}

static void a_skyline_is_the_highest_of_its_range(void)
{
    gphi_problem problem;
    gphi_skyline skyline;
    static uint64_t height[2 * TIMES];
    make_some(&problem);
    CHECK(gphi_skyline_init(&skyline, &problem) == GPH_OK);
    for (uint32_t i = 0; i < SOME; i++) {
        const uint32_t first = problem.first[i], last = problem.last[i];
        uint64_t most = 0;
        for (uint32_t s = first; s <= last; s++)
            most = height[s] > most ? height[s] : most;
        CHECK(gphi_skyline_most(&skyline, first, last) == most);
        gphi_skyline_raise(&skyline, first, last, most + some[i].size);
        for (uint32_t s = first; s <= last; s++)
            height[s] = most + some[i].size;
    }
    gphi_skyline_fini(&skyline);
    gphi_problem_fini(&problem);
}

static gph_plan_result planned(const gph_plan_buffer *buffers, size_t count,
                               const gph_plan_options *options)
{
    gph_plan_result result = GPH_SIZED(gph_plan_result);
    uint64_t *offsets = calloc(count, sizeof(*offsets)), height = 0;
    gph_error error = {0};
    CHECK_OK(gph_plan_addresses(buffers, count, options, offsets, &result, &error),
             error);
    CHECK_OK(gph_plan_check(buffers, count, offsets, &height, &error), error);
    CHECK(height == result.height);
    free(offsets);
    return result;
}

/* Forward, what is kept for the way back; backward in the other order, with gradients that
 * live shortly. Returns how many buffers. */
static size_t training_step(gph_plan_buffer *out, uint32_t layers)
{
    static const uint64_t mib[] = {16, 48, 16, 64, 64, 16, 1, 8};
    size_t count = 0;
    const uint64_t ops = (uint64_t)layers * 8;
    for (uint64_t op = 0; op < ops; op++) {
        const uint64_t size = (mib[op % 8] << 20) + 256 * below(16);
        const bool kept = op % 8 != 2 && op % 8 != 5;
        out[count++] =
            buffer(op, kept ? 2 * ops - op + below(3) : op + 1 + below(4), size);
        if (kept)
            out[count++] = buffer(2 * ops - op, 2 * ops - op + 2 + below(6), size);
    }
    return count;
}

static void a_training_step_is_near_its_bound(void)
{
    enum { LAYERS = 400 };
    gph_plan_buffer *buffers = calloc((size_t)LAYERS * 16, sizeof(*buffers));
    gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
    options.time_limit_s = 4;
    const size_t count = training_step(buffers, LAYERS);
    const gph_plan_result result = planned(buffers, count, &options);
    CHECK(count > 5000);
    CHECK((double)result.height <= 1.001 * (double)result.lower_bound);
    free(buffers);
}

/* A block of memory and time, cut again and again: no byte is to spare. */
static void cut(gph_plan_buffer *out, uint32_t count)
{
    out[0] = buffer(0, 16384, 1 << 24);
    for (uint32_t done = 1; done < count;) {
        gph_plan_buffer *b = &out[below(done)];
        const uint64_t time = b->upper - b->lower;
        if (below(2) != 0 && time >= 2) {
            const uint64_t at = b->lower + 1 + below((uint32_t)time - 1);
            out[done++] = buffer(at, b->upper, b->size);
            b->upper = at;
        } else if (b->size >= 2) {
            const uint64_t size = 1 + below((uint32_t)b->size - 1);
            out[done++] = buffer(b->lower, b->upper, b->size - size);
            b->size = size;
        }
    }
}

static void plans_are_repaired(void)
{
    enum { CUTS = 400 };
    static gph_plan_buffer buffers[CUTS];
    gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
    cut(buffers, CUTS);
    options.bodies = cases; /* the exact search leaves such problems alone */
    options.body_count = 2;
    options.time_limit_s = 100;
    options.step_limit = 1;
    const uint64_t before = planned(buffers, CUTS, &options).height;
    options.step_limit = 5000;
    const gph_plan_result after = planned(buffers, CUTS, &options);
    CHECK(after.lower_bound == 1 << 24);
    CHECK(after.height < before);
    CHECK(planned(buffers, CUTS, &options).height == after.height); /* repeatable */
}

static void failed_allocations_leave_nothing(void)
{
    enum { FEW = 150 };
    gph_plan_buffer buffers[FEW];
    uint64_t offsets[FEW];
    gph_status status = GPH_E_NO_MEMORY;
    for (uint32_t i = 0; i < FEW; i++) {
        buffers[i] = buffer(below(9), 10 + below(9), 1 + below(1000));
        buffers[i].body = below(3);
    }
    for (long nth = 0; status != GPH_OK && CHECK(nth < 1000); nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
        gph_error error = {0};
        options.allocator = &allocator;
        options.bodies = cases;
        options.body_count = 2;
        options.step_limit = 50;
        options.time_limit_s = 10;
        status = gph_plan_addresses(buffers, FEW, &options, offsets, NULL, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK(heap.live_bytes == 0);
    }
}

static uint32_t draw(uint64_t *state, uint32_t n)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 20) % n);
}

/* The lowest plan that any order finds of this one is 18 % above the bound and is not repaired in
 * seconds, while the one in order of time is: both have their try. */
static void a_few_giants_among_many_tiny_ones(void)
{
    enum { COUNT = 20000, GIANTS = 12 };
    uint64_t state = 88172645463325252ull + 977;
    gph_plan_buffer *buffers = calloc(COUNT, sizeof(*buffers));
    uint64_t *offsets = calloc(COUNT, sizeof(*offsets));
    gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
    gph_plan_result result = GPH_SIZED(gph_plan_result);
    gph_error error = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        const bool is_giant = i < GIANTS;
        const uint64_t at = draw(&state, COUNT);
        const uint64_t size =
            is_giant ? (1ull + draw(&state, 8)) << 28 : 16 * (1ull + draw(&state, 200));
        const uint64_t length = is_giant ? COUNT / 4 + draw(&state, COUNT / 3)
                                         : 1 + draw(&state, draw(&state, 4) ? 8 : 900);
        buffers[i] = buffer(at, at + length, size);
    }
    options.time_limit_s = 2;
    CHECK_OK(gph_plan_addresses(buffers, COUNT, &options, offsets, &result, &error),
             error);
    printf("# giants and tiny ones: %.4f %% over the bound\n",
           100.0 * ((double)result.height / (double)result.lower_bound - 1));
    CHECK((double)result.height <= 1.01 * (double)result.lower_bound);
    free(buffers);
    free(offsets);
}

int main(void)
{
    RUN(lists_find_what_lives_together);
    RUN(a_skyline_is_the_highest_of_its_range);
    RUN(a_training_step_is_near_its_bound);
    RUN(plans_are_repaired);
    RUN(a_few_giants_among_many_tiny_ones);
    RUN(failed_allocations_leave_nothing);
    return test_done();
}
