// SPDX-License-Identifier: Apache-2.0
/* Address planning: against all orders tried one by one, on inputs that cannot be, with
 * pinned and aligned buffers, and with every allocation failing in turn. */
#include <gph/plan.h>
#include <stdbool.h>
#include <string.h>

#include "fault.h"
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

static void random_buffers(gph_plan_buffer *out, uint32_t count, uint32_t sizes,
                           bool aligned)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t lower = below(8);
        out[i] = buffer(lower, lower + 1 + below(5), 1 + below(sizes));
        if (aligned)
            out[i].alignment = 1u << below(4);
    }
}

/* ---- the lowest plan, by trying all orders ---- */

struct orders {
    const gph_plan_buffer *buffers;
    uint32_t count;
    uint64_t offsets[8], best;
    bool placed[8];
};

static bool live_together(const gph_plan_buffer *a, const gph_plan_buffer *b)
{
    return a->lower < b->upper && b->lower < a->upper;
}

/* Every plan that cannot be pushed down comes of some order in which each buffer is put
 * on top of those before it that it lives with. */
static void try_orders(struct orders *o, uint32_t done, uint64_t height)
{
    if (height >= o->best)
        return;
    if (done == o->count) {
        o->best = height;
        return;
    }
    for (uint32_t i = 0; i < o->count; i++) {
        if (o->placed[i])
            continue;
        const gph_plan_buffer *b = &o->buffers[i];
        uint64_t at = 0;
        for (uint32_t k = 0; k < o->count; k++) {
            const uint64_t top = o->offsets[k] + o->buffers[k].size;
            if (o->placed[k] && live_together(b, &o->buffers[k]) && top > at)
                at = top;
        }
        const uint64_t unit = b->alignment ? b->alignment : 1;
        o->offsets[i] = (at + unit - 1) / unit * unit;
        o->placed[i] = true;
        const uint64_t top = o->offsets[i] + b->size;
        try_orders(o, done + 1, top > height ? top : height);
        o->placed[i] = false;
    }
}

static void small_plans_are_the_lowest(bool aligned)
{
    for (int round = 0; round < 300; round++) {
        gph_plan_buffer buffers[7];
        uint64_t offsets[7], height = 0;
        const uint32_t count = 1 + below(7);
        random_buffers(buffers, count, 12, aligned);
        struct orders all = {.buffers = buffers, .count = count, .best = UINT64_MAX};
        try_orders(&all, 0, 0);
        gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
        gph_plan_result result = GPH_SIZED(gph_plan_result);
        gph_error error = {0};
        options.time_limit_s = 20;
        CHECK_OK(gph_plan_addresses(buffers, count, &options, offsets, &result, &error),
                 error);
        CHECK_OK(gph_plan_check(buffers, count, offsets, &height, &error), error);
        CHECK(height == result.height && result.height == all.best && result.optimal);
        CHECK(result.lower_bound <= result.height);
        if (all.best > result.lower_bound) { /* and one byte less cannot be */
            options.capacity = all.best - 1;
            CHECK(gph_plan_addresses(buffers, count, &options, offsets, NULL, &error) ==
                  GPH_E_STATE);
            CHECK(strstr(error.message, "proven") != NULL);
        }
    }
}

static void without_alignment(void)
{
    small_plans_are_the_lowest(false);
}

static void with_alignment(void)
{
    small_plans_are_the_lowest(true);
}

/* ---- what is asked for ---- */

static void upper_ends_are_exclusive(void)
{
    const gph_plan_buffer buffers[] = {buffer(0, 5, 100), buffer(5, 9, 100)};
    uint64_t offsets[2];
    gph_plan_result result = GPH_SIZED(gph_plan_result);
    gph_error error = {0};
    CHECK_OK(gph_plan_addresses(buffers, 2, NULL, offsets, &result, &error), error);
    CHECK(offsets[0] == 0 && offsets[1] == 0 && result.height == 100);
}

static void pinned_buffers_stay(void)
{
    for (int round = 0; round < 100; round++) {
        gph_plan_buffer buffers[40];
        uint64_t offsets[40];
        gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
        gph_error error = {0};
        random_buffers(buffers, 40, 100, true);
        for (uint32_t i = 0; i < 3; i++) {
            buffers[i].pinned = 1;
            buffers[i].offset = i * 128;
        }
        options.time_limit_s = 0.001;
        CHECK_OK(gph_plan_addresses(buffers, 40, &options, offsets, NULL, &error), error);
        CHECK_OK(gph_plan_check(buffers, 40, offsets, NULL, &error), error);
        CHECK(offsets[0] == 0 && offsets[1] == 128 && offsets[2] == 256);
    }
}

static void hard_buffers(gph_plan_buffer *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t lower = below(1000);
        out[i] = buffer(lower, lower + 1 + below(300), 1 + below(5000));
    }
}

static void steps_make_it_repeatable(void)
{
    gph_plan_buffer buffers[120];
    uint64_t first[120], second[120];
    gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
    gph_error error = {0};
    hard_buffers(buffers, 120);
    options.time_limit_s = 1000;
    options.step_limit = 20000;
    CHECK_OK(gph_plan_addresses(buffers, 120, &options, first, NULL, &error), error);
    CHECK_OK(gph_plan_addresses(buffers, 120, &options, second, NULL, &error), error);
    CHECK(memcmp(first, second, sizeof(first)) == 0);
}

static int stop_at_once(void *user, const gph_plan_progress *now)
{
    ++*(int *)user;
    CHECK(now->height >= now->lower_bound && now->lower_bound > 0 &&
          now->limit_s == 1000);
    return 1;
}

static void progress_may_end_it(void)
{
    gph_plan_buffer buffers[120];
    uint64_t offsets[120];
    int calls = 0;
    gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
    gph_error error = {0};
    hard_buffers(buffers, 120);
    options.time_limit_s = 1000;
    options.progress = stop_at_once;
    options.progress_user = &calls;
    CHECK_OK(gph_plan_addresses(buffers, 120, &options, offsets, NULL, &error), error);
    CHECK(calls == 1);
    CHECK_OK(gph_plan_check(buffers, 120, offsets, NULL, &error), error);
}

static void many_buffers_are_planned_greedily(void)
{
    enum { MANY = 20000 };
    gph_plan_buffer *buffers = calloc(MANY, sizeof(*buffers));
    uint64_t *offsets = calloc(MANY, sizeof(*offsets));
    gph_plan_result result = GPH_SIZED(gph_plan_result);
    gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
    gph_error error = {0};
    for (uint32_t i = 0; i < MANY; i++) {
        const uint32_t lower = below(MANY);
        buffers[i] = buffer(lower, lower + 1 + below(200), 256 * (1 + below(100)));
    }
    options.time_limit_s = 0.01;
    CHECK_OK(gph_plan_addresses(buffers, MANY, &options, offsets, &result, &error),
             error);
    CHECK_OK(gph_plan_check(buffers, MANY, offsets, NULL, &error), error);
    CHECK(result.height >= result.lower_bound &&
          result.height < result.lower_bound + result.lower_bound / 2);
    free(buffers);
    free(offsets);
}

/* However many live together. Rules that look at all of those would not end today. */
static void limits_hold_whatever_lives_together(void)
{
    enum { MANY = 200000 };
    gph_plan_buffer *buffers = calloc(MANY, sizeof(*buffers));
    uint64_t *offsets = calloc(MANY, sizeof(*offsets));
    gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
    options.time_limit_s = 0.5;
    for (uint32_t shape = 0; shape < 5; shape++) {
        gph_plan_result result = GPH_SIZED(gph_plan_result);
        gph_error error = {0};
        for (uint32_t i = 0; i < MANY; i++) {
            const uint32_t bytes = 1 + below(5000), lower = below(MANY);
            buffers[i] = shape == 0   ? buffer(0, 1, bytes)
                         : shape == 1 ? buffer(i, 2 * MANY - i, bytes)
                         : shape == 2 ? buffer(i, i + MANY / 2, bytes)
                                      : buffer(lower, lower + 1 + below(MANY), bytes);
            buffers[i].alignment = shape == 3 ? UINT64_C(1) << below(13) : 0;
            buffers[i].pinned = shape == 4 && i % 1000 == 0;
            buffers[i].offset = (uint64_t)i * 5000;
        }
        CHECK_OK(gph_plan_addresses(buffers, MANY, &options, offsets, &result, &error),
                 error);
        CHECK_OK(gph_plan_check(buffers, MANY, offsets, NULL, &error), error);
        CHECK(result.elapsed_s < 60 && result.height >= result.lower_bound);
        CHECK(shape > 1 || result.optimal);
        uint64_t height = 0;
        offsets[MANY / 2] = offsets[MANY / 2 - 1];
        CHECK(shape == 4 ||
              gph_plan_check(buffers, MANY, offsets, &height, &error) == GPH_E_INVALID);
    }
    free(buffers);
    free(offsets);
}

/* As many as the exact search takes, of which each step looks at all. */
static void limits_hold_in_the_search(void)
{
    enum { MANY = 3900 };
    gph_plan_buffer *buffers = calloc(MANY, sizeof(*buffers));
    uint64_t *offsets = calloc(MANY, sizeof(*offsets));
    gph_plan_result result = GPH_SIZED(gph_plan_result);
    gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
    gph_error error = {0};
    for (uint32_t i = 0; i < MANY; i++) {
        buffers[i] = buffer(below(100), 100 + below(100), 1 + below(50000));
        buffers[i].alignment = 1 + below(700);
    }
    options.time_limit_s = 0.5;
    CHECK_OK(gph_plan_addresses(buffers, MANY, &options, offsets, &result, &error),
             error);
    CHECK(result.elapsed_s < 60);
    free(buffers);
    free(offsets);
}

static void no_buffers_take_no_bytes(void)
{
    gph_plan_result result = {.size = sizeof(gph_plan_result), .height = 77};
    gph_error error = {0};
    CHECK_OK(gph_plan_addresses(NULL, 0, NULL, NULL, &result, &error), error);
    CHECK(result.height == 0 && result.optimal);
}

/* ---- wrong input ---- */

static void refused(const gph_plan_buffer *buffers, size_t count,
                    const gph_plan_options *options, const char *what)
{
    uint64_t offsets[2] = {77, 77};
    gph_plan_result result = {.size = sizeof(gph_plan_result), .height = 77};
    gph_error error = {0};
    CHECK(gph_plan_addresses(buffers, count, options, offsets, &result, &error) ==
          GPH_E_INVALID);
    if (!CHECK(strstr(error.message, what) != NULL))
        fprintf(stderr, "  %s\n", error.message);
    CHECK(offsets[0] == 77 && offsets[1] == 77 && result.height == 77);
}

static void wrong_input_is_refused(void)
{
    gph_plan_buffer two[] = {buffer(0, 5, 100), buffer(2, 9, 100)};
    gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
    refused(NULL, 2, NULL, "buffers is NULL");
    two[1].upper = 2;
    refused(two, 2, NULL, "buffer 1 lives from 2 to 2");
    two[1] = buffer(2, 9, 0);
    refused(two, 2, NULL, "buffer 1 has 0 bytes");
    two[1] = buffer(2, 9, UINT64_MAX);
    refused(two, 2, NULL, "2^62");
    two[1] = buffer(2, 9, 1);
    two[1].alignment = UINT64_MAX;
    refused(two, 2, NULL, "2^62");
    two[1] = buffer(2, 9, 100);
    two[1].body = 3;
    refused(two, 2, NULL, "buffer 1 is of body 3: there are 0");
    two[1] = buffer(2, 9, 100);
    two[0].pinned = two[1].pinned = 1;
    two[1].offset = 99;
    refused(two, 2, NULL, "buffers 0 and 1 live at the same time");
    two[1].alignment = 64;
    refused(two, 2, NULL, "pinned at 99, not a multiple of its alignment 64");
    two[0].pinned = two[1].pinned = 0;
    options.capacity = 199;
    refused(two, 2, &options, "capacity is 199 bytes, and 200 live");
    options.capacity = 0;
    options.time_limit_s = -1;
    refused(two, 2, &options, "time limit is -1 s");
}

static void wrong_plans_are_named(void)
{
    gph_plan_buffer two[] = {buffer(0, 5, 100), buffer(2, 9, 100)};
    uint64_t offsets[] = {0, 99}, height = 77;
    gph_error error = {0};
    CHECK(gph_plan_check(two, 2, offsets, &height, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "buffers 0 and 1") != NULL && height == 77);
    two[1].alignment = 8;
    offsets[1] = 100;
    CHECK(gph_plan_check(two, 2, offsets, &height, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "buffer 1 is at 100") != NULL);
    offsets[1] = UINT64_MAX - 7;
    CHECK(gph_plan_check(two, 2, offsets, &height, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "beyond 2^64") != NULL);
    offsets[1] = 104;
    CHECK_OK(gph_plan_check(two, 2, offsets, &height, &error), error);
    CHECK(height == 204);
}

/* ---- tables ---- */

static gph_status read_text(const char *text, gph_plan_table **out, gph_error *error)
{
    return gph_plan_table_read(text, strlen(text), NULL, out, error);
}

static void a_table_becomes_buffers(void)
{
    gph_plan_table *table = NULL;
    gph_error error = {0};
    CHECK_OK(read_text("offset , size,upper,lower,note,id,alignment\r\n"
                       "\n, 10, 5, 1, whatever, a b ,64\r\n128,20,9,2,,,\n",
                       &table, &error),
             error);
    CHECK(gph_plan_table_count(table) == 2);
    const gph_plan_buffer *b = gph_plan_table_buffers(table);
    CHECK(b[0].lower == 1 && b[0].upper == 5 && b[0].size == 10 && b[0].alignment == 64 &&
          !b[0].pinned);
    CHECK(b[1].lower == 2 && b[1].upper == 9 && b[1].size == 20 && b[1].alignment == 0 &&
          b[1].pinned && b[1].offset == 128);
    CHECK(strcmp(gph_plan_table_id(table, 0), "a b") == 0);
    CHECK(strcmp(gph_plan_table_id(table, 1), "") == 0);
    gph_plan_table_destroy(table);
}

static void wrong_tables_are_refused(void)
{
    static const char *const wrong[][2] = {
        {"", "empty"},
        {"\n \n", "empty"},
        {"id,lower,upper\n", "line 1: no column is named size"},
        {"id,lower,upper,size,id\n", "line 1: two columns named id"},
        {"id,lower,upper,size\na,1,2\n", "line 2 has 3 values, the first line has 4"},
        {"id,lower,upper,size\na,1,2,3,4\n", "line 2 has more values than the 4"},
        {"id,lower,upper,size\n\na,1,2,-3\n", "line 3: size is \"-3\""},
        {"id,lower,upper,size\na,1,,3\n", "line 2: upper is \"\""},
        {"id,lower,upper,size\na,18446744073709551616,2,3\n", "line 2: lower is"},
        {"id,lower,upper,size,offset\na,1,2,3,x\n", "line 2: offset is \"x\""},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        gph_plan_table *table = NULL;
        gph_error error = {0};
        CHECK(read_text(wrong[i][0], &table, &error) == GPH_E_FORMAT && table == NULL);
        if (!CHECK(strstr(error.message, wrong[i][1]) != NULL))
            fprintf(stderr, "  %s\n", error.message);
    }
}

static void tables_survive_failed_allocations(void)
{
    const char *text = "id,lower,upper,size\nfirst,1,2,3\nsecond,2,3,4\n";
    gph_status status = GPH_E_NO_MEMORY;
    for (long nth = 0; status != GPH_OK && nth < 100; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        gph_plan_table *table = NULL;
        gph_error error = {0};
        status = gph_plan_table_read(text, strlen(text), &allocator, &table, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK((table != NULL) == (status == GPH_OK));
        gph_plan_table_destroy(table);
        CHECK(heap.live_bytes == 0);
    }
    CHECK(status == GPH_OK);
}

static void failed_allocations_leave_nothing(void)
{
    gph_plan_buffer buffers[24];
    uint64_t offsets[24];
    gph_status status = GPH_E_NO_MEMORY;
    hard_buffers(buffers, 24);
    for (long nth = 0; status != GPH_OK; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
        gph_error error = {0};
        options.allocator = &allocator;
        options.step_limit = 4000;
        options.time_limit_s = 100;
        memset(offsets, 0x5A, sizeof(offsets));
        status = gph_plan_addresses(buffers, 24, &options, offsets, NULL, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK(status == GPH_OK || offsets[0] == 0x5A5A5A5A5A5A5A5A);
        CHECK(heap.live_bytes == 0);
        if (!CHECK(nth < 10000))
            break;
    }
}

int main(void)
{
    RUN(without_alignment);
    RUN(with_alignment);
    RUN(upper_ends_are_exclusive);
    RUN(pinned_buffers_stay);
    RUN(steps_make_it_repeatable);
    RUN(progress_may_end_it);
    RUN(many_buffers_are_planned_greedily);
    RUN(limits_hold_whatever_lives_together);
    RUN(limits_hold_in_the_search);
    RUN(no_buffers_take_no_bytes);
    RUN(wrong_input_is_refused);
    RUN(wrong_plans_are_named);
    RUN(failed_allocations_leave_nothing);
    RUN(a_table_becomes_buffers);
    RUN(wrong_tables_are_refused);
    RUN(tables_survive_failed_allocations);
    return test_done();
}
