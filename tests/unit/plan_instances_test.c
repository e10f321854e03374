// SPDX-License-Identifier: Apache-2.0
/* Address planning where it is hard: the public instances within their capacity, a
 * recorded trace near its bound, tight random ones, and failed allocations on the way. */
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

static gph_plan_table *load(const char *name)
{
    static char text[1 << 20];
    char path[512];
    gph_plan_table *table = NULL;
    gph_error error = {0};
    snprintf(path, sizeof(path), PLAN_TRACES "/%s.csv", name);
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL))
        return NULL;
    const size_t bytes = fread(text, 1, sizeof(text), file);
    fclose(file);
    CHECK_OK(gph_plan_table_read(text, bytes, NULL, &table, &error), error);
    return table;
}

/* As each was published: it fits, within a minute. The steps are the same everywhere, so
 * that a slow machine does not decide. */
static void public_instances_fit(void)
{
    enum { CAPACITY = 1048576 };
    for (const char *c = "ABCDEFGHIJK"; *c != '\0'; c++) {
        char name[64];
        uint64_t offsets[600], height = 0;
        gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
        gph_plan_result result = GPH_SIZED(gph_plan_result);
        gph_error error = {0};
        snprintf(name, sizeof(name), "minimalloc/%c.1048576", *c);
        gph_plan_table *table = load(name);
        if (table == NULL)
            return;
        const size_t count = gph_plan_table_count(table);
        const gph_plan_buffer *buffers = gph_plan_table_buffers(table);
        options.capacity = CAPACITY;
        options.time_limit_s = 600;
        options.step_limit = 2000000;
        if (CHECK(count <= 600) && CHECK_OK(gph_plan_addresses(buffers, count, &options,
                                                               offsets, &result, &error),
                                            error)) {
            CHECK_OK(gph_plan_check(buffers, count, offsets, &height, &error), error);
            CHECK(height == result.height && height <= CAPACITY);
        }
        printf("# %c: %llu steps, %.2f s\n", *c, (unsigned long long)result.steps,
               result.elapsed_s);
        gph_plan_table_destroy(table);
    }
}

static void traces_are_planned_near_their_bounds(void)
{
    static const char *const names[] = {"resnet50/resnet50", "examples/decode",
                                        "examples/train"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        gph_plan_table *table = load(names[i]);
        gph_plan_result result = GPH_SIZED(gph_plan_result);
        gph_error error = {0};
        if (table == NULL)
            continue;
        const size_t count = gph_plan_table_count(table);
        uint64_t *offsets = calloc(count, sizeof(*offsets));
        CHECK_OK(gph_plan_addresses(gph_plan_table_buffers(table), count, NULL, offsets,
                                    &result, &error),
                 error);
        CHECK((double)result.height <= 1.01 * (double)result.lower_bound);
        free(offsets);
        gph_plan_table_destroy(table);
    }
}

/* Two halves in time, each cut out of a full rectangle, with walls across: there is a
 * plan without a free byte. */
static uint32_t cut(gph_plan_buffer *out, uint32_t count, uint64_t begin, uint64_t end,
                    uint64_t size)
{
    const bool by_time = end - begin > 1 && below(2) != 0;
    if (size < 400 || (size < 3000 && below(4) != 0)) {
        out[count] = (gph_plan_buffer){.lower = begin, .upper = end, .size = size};
        return count + 1;
    }
    if (by_time) {
        const uint64_t at = begin + 1 + below((uint32_t)(end - begin - 1));
        count = cut(out, count, begin, at, size);
        return cut(out, count, at, end, size);
    }
    const uint64_t at = 100 * (1 + below((uint32_t)(size / 100 - 1)));
    count = cut(out, count, begin, end, at);
    return cut(out, count, begin, end, size - at);
}

static void tight_plans_hold_whatever_was_tried(void)
{
    int found = 0;
    for (int round = 0; round < 12; round++) {
        static gph_plan_buffer buffers[4000]; /* some 100 are cut */
        static uint64_t offsets[4000];
        gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
        gph_error error = {0};
        uint32_t count = 0;
        buffers[count++] = (gph_plan_buffer){.lower = 0, .upper = 60, .size = 700};
        buffers[count++] = (gph_plan_buffer){.lower = 10, .upper = 60, .size = 300};
        count = cut(buffers, count, 0, 10, 9300);
        count = cut(buffers, count, 10, 30, 9000);
        count = cut(buffers, count, 30, 60, 9000);
        if (!CHECK(count < 2000))
            return;
        for (uint32_t i = 0; i < count; i++)
            buffers[i].alignment = round % 2 ? 100 : 0;
        options.capacity = 10000;
        options.time_limit_s = 600;
        options.step_limit = 150000;
        const gph_status status =
            gph_plan_addresses(buffers, count, &options, offsets, NULL, &error);
        CHECK(status == GPH_OK || status == GPH_E_STATE);
        CHECK(status == GPH_OK || strstr(error.message, "proven") == NULL);
        if (status == GPH_OK)
            CHECK_OK(gph_plan_check(buffers, count, offsets, NULL, &error), error);
        found += status == GPH_OK;
    }
    printf("# %d of 12 tight plans\n", found);
    CHECK(found > 0);
}

/* Far enough for every part of the search to be on its way. */
static void failed_allocations_leave_nothing(void)
{
    gph_plan_table *table = load("minimalloc/A.1048576");
    gph_status status = GPH_E_NO_MEMORY;
    if (table == NULL)
        return;
    const size_t count = gph_plan_table_count(table);
    for (long nth = 0; status == GPH_E_NO_MEMORY && nth < 1000; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
        uint64_t offsets[600] = {77};
        gph_error error = {0};
        options.allocator = &allocator;
        options.capacity = 1048576;
        options.step_limit = 45000;
        options.time_limit_s = 600;
        status = gph_plan_addresses(gph_plan_table_buffers(table), count, &options,
                                    offsets, NULL, &error);
        CHECK(status == GPH_E_STATE || status == GPH_E_NO_MEMORY);
        CHECK(offsets[0] == 77 && heap.live_bytes == 0);
    }
    CHECK(status == GPH_E_STATE); /* the steps end before the plan is found */
    gph_plan_table_destroy(table);
}

int main(void)
{
    RUN(public_instances_fit);
    RUN(traces_are_planned_near_their_bounds);
    RUN(tight_plans_hold_whatever_was_tried);
    RUN(failed_allocations_leave_nothing);
    return test_done();
}
