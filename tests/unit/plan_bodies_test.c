// SPDX-License-Identifier: Apache-2.0
/* Address planning with bodies: cases of a choice share memory, loops keep what their next
 * round reads; random trees of them beside all orders tried one by one, tables, and every
 * allocation failing in turn. */
#include <gph/plan.h>
#include <stdbool.h>
#include <string.h>

#include "fault.h"
#include "test.h"

enum { BUFFERS = 6, BODIES = 6, CASES = 8 };

static uint64_t random_state = 88172645463325252ull;

static uint32_t below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state % n);
}

static gph_plan_buffer buffer(uint64_t lower, uint64_t upper, uint64_t size,
                              uint32_t body)
{
    return (gph_plan_buffer){.lower = lower, .upper = upper, .size = size, .body = body};
}

static uint64_t height_of(const gph_plan_buffer *buffers, size_t count,
                          const gph_plan_body *bodies, size_t body_count, uint64_t *bound)
{
    gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
    gph_plan_result result = GPH_SIZED(gph_plan_result);
    uint64_t offsets[64], height = 0;
    gph_error error = {0};
    options.bodies = bodies;
    options.body_count = body_count;
    options.time_limit_s = 0.005;
    CHECK_OK(gph_plan_addresses(buffers, count, &options, offsets, &result, &error),
             error);
    CHECK_OK(gph_plan_check_bodies(buffers, count, bodies, body_count, offsets, &height,
                                   &error),
             error);
    CHECK(height == result.height && result.lower_bound <= height);
    *bound = result.lower_bound;
    return height;
}

static void cases_share_memory(void)
{
    gph_plan_body bodies[CASES];
    gph_plan_buffer buffers[2 * CASES + 1];
    uint64_t bound = 0;
    for (uint32_t i = 0; i < CASES; i++) {
        bodies[i] = (gph_plan_body){.choice = 7};
        buffers[2 * i] = buffer(0, 10, 600, i + 1); /* what a case leaves lives on */
        buffers[2 * i + 1] = buffer(2, 6, 400, i + 1);
    }
    buffers[2 * CASES] = buffer(0, 10, 50, 0);
    const uint64_t shared = height_of(buffers, 2 * CASES + 1, bodies, CASES, &bound);
    CHECK(shared == 1050 && bound == 1050);
    for (uint32_t i = 0; i < CASES; i++)
        bodies[i].choice = i + 1; /* each an IF of its own: all may run */
    const uint64_t apart = height_of(buffers, 2 * CASES + 1, bodies, CASES, &bound);
    CHECK(apart == CASES * 1000 + 50 && bound == apart);
    printf("  a choice of %d cases of 1,000 bytes: %llu bytes, %llu where they do not "
           "exclude each other\n",
           CASES, (unsigned long long)shared - 50, (unsigned long long)apart - 50);
}

/* IF {A; IF {B} else {C}} else {D}: B and C share, D shares with all of them. */
static void nested_choices_share(void)
{
    const gph_plan_body bodies[] = {{.choice = 1},
                                    {.choice = 1},
                                    {.parent = 1, .choice = 1},
                                    {.parent = 1, .choice = 1}};
    const gph_plan_buffer buffers[] = {buffer(0, 9, 100, 1), buffer(0, 9, 30, 3),
                                       buffer(0, 9, 50, 4), buffer(0, 9, 120, 2)};
    uint64_t bound = 0;
    CHECK(height_of(buffers, 4, bodies, 4, &bound) == 150 && bound == 150);
}

static void loops_keep_what_their_next_round_reads(void)
{
    const gph_plan_body bodies[] = {{.lower = 10, .upper = 20}};
    gph_plan_buffer buffers[] = {buffer(5, 12, 100, 0), buffer(14, 18, 100, 1)};
    uint64_t bound = 0;
    /* By time they could share; the next round reads the first one again. */
    CHECK(height_of(buffers, 2, bodies, 1, &bound) == 200 && bound == 200);
    buffers[0].lower = 11; /* made again in each round */
    buffers[0].body = 1;
    CHECK(height_of(buffers, 2, bodies, 1, &bound) == 100 && bound == 100);
    /* The end of an inner loop's rounds lies in those of the outer one. */
    const gph_plan_body two[] = {{.lower = 10, .upper = 40},
                                 {.parent = 1, .lower = 15, .upper = 20}};
    const gph_plan_buffer kept[] = {buffer(5, 17, 100, 0), buffer(30, 35, 100, 1)};
    CHECK(height_of(kept, 2, two, 2, &bound) == 200 && bound == 200);
}

/* ---- beside all orders ---- */

struct orders {
    const gph_plan_buffer *buffers;
    const gph_plan_body *bodies;
    uint32_t count;
    uint64_t offsets[BUFFERS], best;
    bool placed[BUFFERS];
};

/* Written down plainly: the bodies around both, from the outside. */
static bool exclude(const gph_plan_body *bodies, uint32_t a, uint32_t b)
{
    for (uint32_t x = a; x != 0; x = bodies[x - 1].parent)
        for (uint32_t y = b; y != 0; y = bodies[y - 1].parent)
            if (x != y && bodies[x - 1].parent == bodies[y - 1].parent &&
                bodies[x - 1].choice != 0 && bodies[x - 1].choice == bodies[y - 1].choice)
                return true;
    return false;
}

static bool conflict(const struct orders *o, uint32_t a, uint32_t b)
{
    const gph_plan_buffer *x = &o->buffers[a], *y = &o->buffers[b];
    return x->lower < y->upper && y->lower < x->upper &&
           !exclude(o->bodies, x->body, y->body);
}

static void try_orders(struct orders *o, uint32_t done, uint64_t height)
{
    if (height >= o->best)
        return;
    if (done == o->count)
        o->best = height;
    for (uint32_t i = 0; i < o->count; i++) {
        if (o->placed[i])
            continue;
        uint64_t at = 0;
        for (uint32_t k = 0; k < o->count; k++) {
            const uint64_t top = o->offsets[k] + o->buffers[k].size;
            if (o->placed[k] && conflict(o, i, k) && top > at)
                at = top;
        }
        o->offsets[i] = at;
        o->placed[i] = true;
        const uint64_t top = at + o->buffers[i].size;
        try_orders(o, done + 1, top > height ? top : height);
        o->placed[i] = false;
    }
}

static void random_trees_are_planned(void)
{
    uint32_t lowest = 0;
    const uint32_t rounds = 400;
    for (uint32_t round = 0; round < rounds; round++) {
        gph_plan_body bodies[BODIES] = {{0}};
        gph_plan_buffer buffers[BUFFERS];
        for (uint32_t i = 0; i < BODIES; i++)
            bodies[i] = (gph_plan_body){.parent = below(i + 1), .choice = 1 + below(2)};
        for (uint32_t i = 0; i < BUFFERS; i++) {
            const uint32_t lower = below(5);
            buffers[i] =
                buffer(lower, lower + 1 + below(4), 1 + below(12), below(BODIES + 1));
        }
        struct orders all = {
            .buffers = buffers, .bodies = bodies, .count = BUFFERS, .best = UINT64_MAX};
        uint64_t bound = 0;
        try_orders(&all, 0, 0);
        const uint64_t height = height_of(buffers, BUFFERS, bodies, BODIES, &bound);
        CHECK(bound <= all.best && height >= all.best);
        lowest += height == all.best;
    }
    /* Disturbed greedy orders find the lowest of six buffers, but need not. */
    CHECK(lowest >= rounds - rounds / 50);
}

/* ---- refusals ---- */

static void refused(const gph_plan_body *bodies, size_t count, uint32_t body,
                    const char *says)
{
    const gph_plan_buffer one = buffer(0, 1, 1, body);
    gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
    uint64_t offset = 77;
    gph_error error = {0};
    options.bodies = bodies;
    options.body_count = count;
    CHECK(gph_plan_addresses(&one, 1, &options, &offset, NULL, &error) == GPH_E_INVALID);
    if (!CHECK(strstr(error.message, says)))
        fprintf(stderr, "  %s\n", error.message);
    CHECK(offset == 77);
}

static void wrong_bodies_are_refused(void)
{
    const gph_plan_body self[] = {{.parent = 1, .choice = 1}};
    const gph_plan_body empty[] = {{.lower = 3, .upper = 3}};
    const gph_plan_body good[] = {{.choice = 1}};
    refused(good, 1, 2, "buffer 0 is of body 2: there are 1");
    refused(self, 1, 0, "body 1 is in body 1, which does not come before it");
    refused(empty, 1, 0, "body 1 is of a loop with rounds from 3 to 3");
    refused(good, 4097, 0, "4097 bodies: at most 4096");
    refused(NULL, 1, 0, "options.bodies is NULL");
}

static void clashes_are_named(void)
{
    const gph_plan_body bodies[] = {{.choice = 1}, {.choice = 1}};
    gph_plan_buffer two[] = {buffer(0, 5, 100, 1), buffer(2, 9, 100, 2)};
    const uint64_t offsets[] = {0, 0};
    uint64_t height = 0;
    gph_error error = {0};
    CHECK_OK(gph_plan_check_bodies(two, 2, bodies, 2, offsets, &height, &error), error);
    CHECK(height == 100);
    two[1].body = 1;
    CHECK(gph_plan_check_bodies(two, 2, bodies, 2, offsets, &height, &error) ==
          GPH_E_INVALID);
    CHECK(strstr(error.message, "buffers 0 and 1 live at the same time"));
    CHECK(gph_plan_check(two, 2, offsets, NULL, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "buffer 0 is of body 1: there are 0"));
}

/* ---- tables ---- */

static gph_status read_table(const char *text, const gph_allocator *allocator,
                             gph_plan_table **table, gph_error *error)
{
    return gph_plan_table_read(text, strlen(text), allocator, table, error);
}

static const char good_table[] = "id,lower,upper,size,bodies\n"
                                 "a,0,9,100,\n"
                                 "b,1,5,10,s:0\n"
                                 "c,1,5,20,s:1\n"
                                 "d,2,4,30,s:1/w@2-4\n"
                                 "e,2,4,40,s:0/w:0\n";

struct written {
    char text[512];
    size_t bytes;
};

static gph_status write_text(void *user, const void *bytes, size_t count)
{
    struct written *to = user;
    if (to->bytes + count >= sizeof(to->text))
        return GPH_E_IO;
    memcpy(to->text + to->bytes, bytes, count);
    to->bytes += count;
    return GPH_OK;
}

static void a_table_names_bodies(void)
{
    gph_plan_table *table = NULL;
    gph_error error = {0};
    struct written to = {.bytes = 0};
    size_t count = 0;
    const uint64_t offsets[5] = {0};
    CHECK_OK(read_table(good_table, NULL, &table, &error), error);
    const gph_plan_body *bodies = gph_plan_table_bodies(table, &count);
    const gph_plan_buffer *b = gph_plan_table_buffers(table);
    CHECK(count == 4 && b[0].body == 0 && b[1].body == 1 && b[2].body == 2 &&
          b[3].body == 3 && b[4].body == 4);
    CHECK(bodies[0].choice != 0 && bodies[0].choice == bodies[1].choice);
    CHECK(bodies[2].parent == 2 && bodies[2].choice == 0 && bodies[2].lower == 2 &&
          bodies[2].upper == 4);
    CHECK(bodies[3].parent == 1 && bodies[3].choice != 0);
    CHECK_OK(gph_plan_table_write(table, offsets, write_text, &to, &error), error);
    CHECK(strcmp(to.text, "id,lower,upper,size,offset,bodies\n"
                          "a,0,9,100,0,\nb,1,5,10,0,s:0\nc,1,5,20,0,s:1\n"
                          "d,2,4,30,0,s:1/w@2-4\ne,2,4,40,0,s:0/w:0\n") == 0);
    gph_plan_table_destroy(table);
}

static void wrong_ways_are_refused(void)
{
    static const char *const ways[][2] = {
        {"s", "line 2: bodies has \"s\", neither CHOICE:CASE nor LOOP@LOWER-UPPER"},
        {":1", "bodies has \":1\""},
        {"s:x", "line 2: bodies is \"x\", not a whole number"},
        {"s:1//t:2", "bodies has \"\""},
        {"w@1", "bodies has \"w@1\""},
    };
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        gph_plan_table *table = NULL;
        gph_error error = {0};
        char text[128];
        snprintf(text, sizeof(text), "id,lower,upper,size,bodies\na,0,1,1,%s\n",
                 ways[i][0]);
        CHECK(read_table(text, NULL, &table, &error) == GPH_E_FORMAT && !table);
        if (!CHECK(strstr(error.message, ways[i][1])))
            fprintf(stderr, "  %s\n", error.message);
    }
}

static void failed_allocations_leave_nothing(void)
{
    fault_heap heap = {.fail_at = -1};
    const gph_allocator allocator = {fault_realloc, &heap};
    long nth = 0;
    for (gph_status status = GPH_E_NO_MEMORY; status != GPH_OK && nth < 1000; nth++) {
        gph_plan_table *table = NULL;
        gph_error error = {0};
        gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
        uint64_t offsets[5];
        atomic_store(&heap.fail_at, nth);
        status = read_table(good_table, &allocator, &table, &error);
        if (status == GPH_OK) {
            options.bodies = gph_plan_table_bodies(table, &options.body_count);
            options.allocator = &allocator;
            status = gph_plan_addresses(gph_plan_table_buffers(table), 5, &options,
                                        offsets, NULL, &error);
        }
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        gph_plan_table_destroy(table);
        CHECK(atomic_load(&heap.live_bytes) == 0);
    }
    CHECK(nth > 20 && nth < 1000);
}

int main(void)
{
    RUN(cases_share_memory);
    RUN(nested_choices_share);
    RUN(loops_keep_what_their_next_round_reads);
    RUN(random_trees_are_planned);
    RUN(wrong_bodies_are_refused);
    RUN(clashes_are_named);
    RUN(a_table_names_bodies);
    RUN(wrong_ways_are_refused);
    RUN(failed_allocations_leave_nothing);
    return test_done();
}
