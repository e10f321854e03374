// SPDX-License-Identifier: Apache-2.0
/* Ladders: the usual ones, planned ones against every subset of rungs, what cannot be,
 * and every allocation failing in turn. And histograms as tables. */
#include <gph/plan.h>
#include <gph/plan_ladder.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
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

/* ---- the usual ladders ---- */

static void expect_ladder(const gph_plan_ladder_rule *rule, const uint64_t *expected,
                          size_t count)
{
    uint64_t rungs[128];
    size_t got = 0;
    gph_error error = {0};
    CHECK_OK(gph_plan_ladder_make(rule, NULL, 0, &got, &error), error);
    CHECK(got == count);
    CHECK_OK(gph_plan_ladder_make(rule, rungs, 128, &got, &error), error);
    if (CHECK(got == count))
        CHECK(memcmp(rungs, expected, count * sizeof(*rungs)) == 0);
}

static void usual_ladders_have_their_rungs(void)
{
    const uint64_t powers[] = {1, 2, 4, 8, 16, 32, 64, 100};
    expect_ladder(&(gph_plan_ladder_rule){.from = 1, .to = 100}, powers, 8);
    const uint64_t from_three[] = {3, 4, 8};
    expect_ladder(&(gph_plan_ladder_rule){.from = 3, .to = 8}, from_three, 3);
    const uint64_t linear[] = {10, 74, 138, 200};
    expect_ladder(&(gph_plan_ladder_rule){GPH_PLAN_LADDER_LINEAR, 0, 10, 200, 64, 0, 0},
                  linear, 4);
    expect_ladder(&(gph_plan_ladder_rule){GPH_PLAN_LADDER_LIST, 0, 0, 0, 0, linear, 4},
                  linear, 4);
    const uint64_t one[] = {7};
    for (uint32_t kind = 0; kind < GPH_PLAN_LADDER_LIST; kind++)
        expect_ladder(&(gph_plan_ladder_rule){kind, 0, 7, 7, 3, 0, 0}, one, 1);
}

/* vLLM's list for 512 sequences has 51 sizes: 1 2 4, 32 to 256, 16 to 512. */
static void the_serving_ladder_is_that_of_vllm(void)
{
    uint64_t expected[64] = {1, 2, 4};
    size_t count = 3;
    for (uint64_t size = 8; size <= 256; size += 8)
        expected[count++] = size;
    for (uint64_t size = 272; size <= 512; size += 16)
        expected[count++] = size;
    CHECK(count == 51);
    gph_plan_ladder_rule rule = {GPH_PLAN_LADDER_SERVING, 0, 1, 512, 0, 0, 0};
    expect_ladder(&rule, expected, count);
    const uint64_t middle[] = {240, 248, 256, 272, 280};
    rule.from = 237;
    rule.to = 280;
    expect_ladder(&rule, middle, 5);
}

static void refused_rule(gph_plan_ladder_rule rule, size_t room, const char *what)
{
    uint64_t rungs[4] = {77, 77, 77, 77};
    size_t count = 77;
    gph_error error = {0};
    CHECK(gph_plan_ladder_make(&rule, rungs, room, &count, &error) == GPH_E_INVALID);
    if (!CHECK(strstr(error.message, what) != NULL))
        fprintf(stderr, "  %s\n", error.message);
    CHECK(count == 77 && rungs[0] == 77);
}

static void wrong_rules_are_refused(void)
{
    const uint64_t falling[] = {3, 3}, zero[] = {0};
    refused_rule((gph_plan_ladder_rule){.from = 0, .to = 4}, 4, "from 0 to 4");
    refused_rule((gph_plan_ladder_rule){.from = 5, .to = 4}, 4, "from 5 to 4");
    refused_rule((gph_plan_ladder_rule){.from = 1, .to = 9}, 4, "5 rungs, room is for 4");
    refused_rule((gph_plan_ladder_rule){.kind = 9, .from = 1, .to = 4}, 4, "numbered 9");
    refused_rule((gph_plan_ladder_rule){.reserved = 1, .from = 1, .to = 4}, 4,
                 "reserved is 1");
    refused_rule((gph_plan_ladder_rule){GPH_PLAN_LADDER_LINEAR, 0, 1, 4, 0, 0, 0}, 4,
                 "step 0");
    refused_rule(
        (gph_plan_ladder_rule){GPH_PLAN_LADDER_LINEAR, 0, 1, UINT64_MAX, 1, 0, 0}, 4,
        "more than 1048576 rungs");
    refused_rule((gph_plan_ladder_rule){GPH_PLAN_LADDER_LIST, 0, 0, 0, 0, falling, 2}, 4,
                 "3 after 3");
    refused_rule((gph_plan_ladder_rule){GPH_PLAN_LADDER_LIST, 0, 0, 0, 0, zero, 1}, 4,
                 "0 after 0");
    refused_rule((gph_plan_ladder_rule){GPH_PLAN_LADDER_LIST, 0, 0, 0, 0, NULL, 1}, 4,
                 "and is NULL");
    const uint64_t high[] = {UINT64_MAX - 1, UINT64_MAX}; /* no rung overflows */
    expect_ladder(&(gph_plan_ladder_rule){.from = UINT64_MAX - 1, .to = UINT64_MAX}, high,
                  2);
    gph_error error = {0};
    CHECK(gph_plan_ladder_make(NULL, NULL, 0, NULL, &error) == GPH_E_INVALID);
}

/* ---- curves ---- */

static void curves_are_straight_between_points(void)
{
    const gph_plan_point points[] = {{10, 100}, {20, 300}, {40, 200}};
    gph_plan_curve curve = {points, 3};
    CHECK(gph_plan_curve_at(&curve, 10) == 100 && gph_plan_curve_at(&curve, 15) == 200 &&
          gph_plan_curve_at(&curve, 20) == 300 && gph_plan_curve_at(&curve, 30) == 250);
    CHECK(gph_plan_curve_at(&curve, 60) == 100 && gph_plan_curve_at(&curve, 100) == 0);
    CHECK(gph_plan_curve_at(&curve, 6) == 20 && gph_plan_curve_at(&curve, 1) == 0);
    curve.count = 1;
    CHECK(gph_plan_curve_at(&curve, 1) == 100 && gph_plan_curve_at(&curve, 1000) == 100);
    curve.count = 0;
    CHECK(gph_plan_curve_at(&curve, 5) == 0);
}

/* ---- planned ladders against all of them ---- */

enum { SIZES = 7, POINTS = 4, RUNGS = SIZES + 3 * POINTS };

struct instance {
    gph_plan_size sizes[SIZES];
    gph_plan_histogram histogram;
    gph_plan_point points[4][POINTS];
    gph_plan_ladder_options options;
    uint64_t rungs[RUNGS]; /* that may be chosen */
    uint32_t rung_count;
};

static gph_plan_curve random_curve(gph_plan_point *points, bool falling)
{
    const uint32_t count = below(POINTS + 1);
    uint64_t size = below(4);
    double value = below(10);
    for (uint32_t i = 0; i < count; i++) {
        points[i] = (gph_plan_point){size, value};
        size += 1 + below(12);
        value = falling ? below(40) : value + below(10);
    }
    return (gph_plan_curve){points, count};
}

static void add_rung(struct instance *in, uint64_t size)
{
    const uint64_t unit = in->options.multiple ? in->options.multiple : 1;
    const uint64_t rung = (size + unit - 1) / unit * unit;
    uint32_t at = 0;
    while (at < in->rung_count && in->rungs[at] < rung)
        at++;
    if (rung == 0 || (at < in->rung_count && in->rungs[at] == rung))
        return;
    memmove(&in->rungs[at + 1], &in->rungs[at],
            (in->rung_count - at) * sizeof(*in->rungs));
    in->rungs[at] = rung;
    in->rung_count++;
}

static void random_instance(struct instance *in, bool falling)
{
    *in = (struct instance){.options = GPH_PLAN_LADDER_OPTIONS_INIT};
    gph_plan_ladder_options *o = &in->options;
    in->histogram = (gph_plan_histogram){in->sizes, 1 + below(SIZES)};
    o->cost = random_curve(in->points[0], falling);
    o->bytes = random_curve(in->points[1], falling);
    o->seconds = random_curve(in->points[2], falling);
    if (below(3) == 0)
        o->eager = random_curve(in->points[3], falling);
    o->bucket_max = below(5);
    o->byte_budget = below(2) ? below(60) : 0;
    o->second_budget = below(2) ? 0.5 * below(120) : 0;
    o->byte_weight = below(2) ? 0.25 * below(8) : 0;
    o->second_weight = below(2) ? 0.25 * below(8) : 0;
    o->multiple = below(4);
    for (size_t i = 0; i < in->histogram.count; i++) {
        in->sizes[i] = (gph_plan_size){1 + below(30), below(9)};
        add_rung(in, in->sizes[i].size);
    }
    const gph_plan_curve *const curves[] = {&o->cost, &o->bytes, &o->seconds};
    for (size_t c = 0; c < 3 && falling; c++)
        for (size_t i = 0; i < curves[c]->count; i++)
            add_rung(in, curves[c]->points[i].size);
}

static double cost_of(const struct instance *in, uint64_t size)
{
    const gph_plan_curve *cost = &in->options.cost;
    return cost->count ? gph_plan_curve_at(cost, size) : (double)size;
}

/* What a subset of the rungs costs; INFINITY if it does not keep the limits. */
static double judge_subset(const struct instance *in, uint32_t subset)
{
    const gph_plan_ladder_options *o = &in->options;
    double bytes = 0, seconds = 0, cost = 0;
    uint32_t count = 0;
    for (uint32_t r = 0; r < in->rung_count; r++)
        if (subset >> r & 1) {
            count++;
            bytes += gph_plan_curve_at(&o->bytes, in->rungs[r]);
            seconds += gph_plan_curve_at(&o->seconds, in->rungs[r]);
        }
    if ((o->bucket_max && count > o->bucket_max) ||
        (o->byte_budget && bytes > (double)o->byte_budget) ||
        (o->second_budget > 0 && seconds > o->second_budget))
        return INFINITY;
    for (size_t i = 0; i < in->histogram.count; i++) {
        const gph_plan_size *s = &in->sizes[i];
        uint32_t r = 0;
        while (r < in->rung_count && (in->rungs[r] < s->size || !(subset >> r & 1)))
            r++;
        if (r == in->rung_count && o->eager.count == 0)
            return INFINITY;
        cost += (double)s->count * (r < in->rung_count
                                        ? cost_of(in, in->rungs[r])
                                        : gph_plan_curve_at(&o->eager, s->size));
    }
    return cost + o->byte_weight * bytes + o->second_weight * seconds;
}

static void check_instance(const struct instance *in)
{
    uint64_t rungs[RUNGS];
    gph_plan_ladder_result got = GPH_SIZED(gph_plan_ladder_result);
    gph_plan_ladder_result judged = GPH_SIZED(gph_plan_ladder_result);
    gph_error error = {0};
    double least = INFINITY;
    for (uint32_t subset = 0; subset < 1u << in->rung_count; subset++)
        least = fmin(least, judge_subset(in, subset));
    const gph_status status =
        gph_plan_ladder(&in->histogram, &in->options, rungs, RUNGS, &got, &error);
    if (isinf(least)) {
        CHECK(status == GPH_E_STATE);
        return;
    }
    if (!CHECK_OK(status, error))
        return;
    uint32_t subset = 0;
    for (uint32_t r = 0, at = 0; r < in->rung_count; r++)
        if (at < got.rung_count && rungs[at] == in->rungs[r]) {
            subset |= 1u << r;
            at++;
        }
    const double cost = judge_subset(in, subset);
    const gph_plan_ladder_options *o = &in->options;
    CHECK(got.exact && fabs(cost - least) <= 1e-9 * (1 + least));
    CHECK(fabs(got.cost + o->byte_weight * got.bytes + o->second_weight * got.seconds -
               cost) <= 1e-9 * (1 + cost));
    CHECK(got.padding >= 0 && got.padding < 1);
    CHECK_OK(
        gph_plan_ladder_judge(&in->histogram, o, rungs, got.rung_count, &judged, &error),
        error);
    got.exact = 0;
    CHECK(memcmp(&got, &judged, sizeof(got)) == 0);
}

static void no_subset_of_rungs_costs_less(void)
{
    for (int round = 0; round < 4000; round++) {
        struct instance in;
        random_instance(&in, false);
        check_instance(&in);
    }
}

static void also_where_curves_fall(void)
{
    for (int round = 0; round < 300; round++) {
        struct instance in;
        random_instance(&in, true);
        if (in.rung_count <= 12)
            check_instance(&in);
    }
}

/* Many sizes, a limit on rungs: against the recurrence in its plainest form. */
static void many_sizes_take_the_recurrence(void)
{
    enum { MANY = 120, MOST = 9 };
    gph_plan_size sizes[MANY];
    double best[MOST + 1][MANY];
    uint64_t rungs[MOST];
    double calls[MANY + 1] = {0};
    for (uint32_t i = 0; i < MANY; i++) {
        sizes[i] = (gph_plan_size){1 + 7 * i + below(7), below(1000)};
        calls[i + 1] = calls[i] + (double)sizes[i].count;
    }
    for (uint32_t k = 1; k <= MOST; k++)
        for (uint32_t j = 0; j < MANY; j++) {
            best[k][j] = calls[j + 1] * (double)sizes[j].size;
            for (uint32_t i = 0; i < j && k > 1; i++)
                best[k][j] =
                    fmin(best[k][j], best[k - 1][i] + (calls[j + 1] - calls[i + 1]) *
                                                          (double)sizes[j].size);
        }
    const gph_plan_histogram histogram = {sizes, MANY};
    gph_plan_ladder_result result = GPH_SIZED(gph_plan_ladder_result);
    gph_error error = {0};
    for (uint32_t k = 1; k <= MOST; k++) {
        CHECK_OK(gph_plan_ladder(&histogram, NULL, rungs, k, &result, &error), error);
        CHECK(result.rung_count == k && result.cost == best[k][MANY - 1] && result.exact);
        CHECK(result.cost >= result.cost_unbounded &&
              fabs(1 - result.padding - result.cost_unbounded / result.cost) < 1e-12);
    }
}

/* So many sizes and rungs that no table of both is made. */
static void the_most_sizes_are_planned(void)
{
    enum { MANY = 65536 };
    gph_plan_size *sizes = calloc(MANY, sizeof(*sizes));
    uint64_t *rungs = calloc(MANY, sizeof(*rungs));
    gph_plan_ladder_result result = GPH_SIZED(gph_plan_ladder_result);
    gph_error error = {0};
    double before = INFINITY;
    for (uint32_t i = 0; i < MANY; i++)
        sizes[i] = (gph_plan_size){1 + 7 * (uint64_t)i + below(7), 1 + below(1000)};
    const gph_plan_histogram histogram = {sizes, MANY};
    for (uint32_t k = 1000; k < MANY; k *= 4) {
        CHECK_OK(gph_plan_ladder(&histogram, NULL, rungs, k, &result, &error), error);
        CHECK(result.rung_count <= k && result.rung_count > k - k / 100 &&
              result.cost < before && result.exact == (result.rung_count == k) &&
              rungs[result.rung_count - 1] == sizes[MANY - 1].size);
        before = result.cost;
    }
    free(sizes);
    free(rungs);
}

/* A budget that binds on a curve that rises, with hundreds of sizes. */
static void budgets_over_many_sizes_are_kept(void)
{
    enum { MANY = 400 };
    static gph_plan_size sizes[MANY];
    uint64_t rungs[MANY];
    const gph_plan_point bytes[] = {{1, 1e6}, {4000, 5e6}},
                         seconds[] = {{1, .2}, {4000, 1}};
    gph_plan_ladder_options options = GPH_PLAN_LADDER_OPTIONS_INIT;
    gph_plan_ladder_result result = GPH_SIZED(gph_plan_ladder_result);
    gph_plan_ladder_result fewer = GPH_SIZED(gph_plan_ladder_result);
    gph_error error = {0};
    for (uint32_t i = 0; i < MANY; i++)
        sizes[i] = (gph_plan_size){1 + 10 * i, 1 + below(1000)};
    const gph_plan_histogram histogram = {sizes, MANY};
    options.bytes = (gph_plan_curve){bytes, 2};
    options.seconds = (gph_plan_curve){seconds, 2};
    options.byte_budget = 60 * 1000 * 1000;
    CHECK_OK(gph_plan_ladder(&histogram, &options, rungs, MANY, &result, &error), error);
    CHECK(result.bytes <= 60e6 && result.bytes > 55e6 && result.rung_count > 12);
    options.second_budget = 9;
    CHECK_OK(gph_plan_ladder(&histogram, &options, rungs, MANY, &fewer, &error), error);
    CHECK(fewer.bytes <= 60e6 && fewer.seconds <= 9 && fewer.cost >= result.cost);
    printf("# 400 sizes under budgets: %zu and %zu rungs, exact %u and %u\n",
           result.rung_count, fewer.rung_count, result.exact, fewer.exact);
}

static void padding_is_the_share_of_what_is_replayed(void)
{
    const gph_plan_size sizes[] = {{3, 10}, {8, 5}, {3, 10}};
    const gph_plan_histogram histogram = {sizes, 3};
    const uint64_t rungs[] = {4, 8};
    gph_plan_ladder_result r = GPH_SIZED(gph_plan_ladder_result);
    gph_error error = {0};
    CHECK_OK(gph_plan_ladder_judge(&histogram, NULL, rungs, 2, &r, &error), error);
    CHECK(r.cost == 120 && r.cost_unbounded == 100 && r.rung_count == 2);
    CHECK(fabs(r.padding - 20.0 / 120) < 1e-15 && r.eager_count == 0);
    const gph_plan_point slow[] = {{1, 50}};
    gph_plan_ladder_options options = GPH_PLAN_LADDER_OPTIONS_INIT;
    options.eager = (gph_plan_curve){slow, 1};
    CHECK_OK(gph_plan_ladder_judge(&histogram, &options, rungs, 1, &r, &error), error);
    CHECK(r.cost == 20 * 4 + 5 * 50 && r.eager_count == 5);
}

/* ---- what cannot be ---- */

static void refused(const gph_plan_histogram *histogram,
                    const gph_plan_ladder_options *options, gph_status code,
                    const char *what)
{
    uint64_t rungs[2] = {77, 77};
    gph_plan_ladder_result result = {.size = sizeof(gph_plan_ladder_result), .cost = 77};
    gph_error error = {0};
    CHECK(gph_plan_ladder(histogram, options, rungs, 2, &result, &error) == code);
    if (!CHECK(strstr(error.message, what) != NULL))
        fprintf(stderr, "  %s\n", error.message);
    CHECK(rungs[0] == 77 && result.cost == 77);
}

static void wrong_input_is_refused(void)
{
    gph_plan_size sizes[] = {{8, 1}, {16, 1}};
    gph_plan_histogram h = {sizes, 2};
    gph_plan_point points[] = {{8, 5}, {16, 9}};
    gph_plan_ladder_options o = GPH_PLAN_LADDER_OPTIONS_INIT;
    refused(NULL, NULL, GPH_E_INVALID, "no sizes");
    sizes[1].size = 0;
    refused(&h, NULL, GPH_E_INVALID, "entry 1: size 0");
    sizes[1] = (gph_plan_size){16, UINT64_MAX};
    refused(&h, NULL, GPH_E_INVALID, "entry 1: more than 2^53 calls");
    sizes[1].count = 1;
    o.cost = (gph_plan_curve){points, 2};
    points[1].size = 8;
    refused(&h, &o, GPH_E_INVALID, "the curve of cost: size 8 follows 8");
    points[1] = (gph_plan_point){16, -1};
    refused(&h, &o, GPH_E_INVALID, "the curve of cost is -1 at 16");
    o.cost.points = NULL;
    refused(&h, &o, GPH_E_INVALID, "NULL");
    points[1].value = 9;
    o.cost = (gph_plan_curve){NULL, 0};
    o.byte_weight = NAN;
    refused(&h, &o, GPH_E_INVALID, "the weight of a byte is");
    o.byte_weight = 0;
    o.multiple = UINT64_MAX;
    refused(&h, &o, GPH_E_INVALID, "the multiple is");
    o.multiple = 0;
    o.bytes = (gph_plan_curve){points, 2};
    o.byte_budget = 8;
    refused(&h, &o, GPH_E_STATE, "at least 9 bytes and 0 seconds");
    o.bytes.count = 1;
    o.byte_budget = 4;
    refused(&h, &o, GPH_E_STATE, "at least 5 bytes and 0 seconds");
    points[1].value = 1e308;
    o = (gph_plan_ladder_options)GPH_PLAN_LADDER_OPTIONS_INIT;
    sizes[1].size = 1 << 20;
    o.cost = (gph_plan_curve){points, 2};
    refused(&h, &o, GPH_E_INVALID, "of size 1048576: cost inf");
    o.cost.count = 0;
    o.bytes = (gph_plan_curve){points, 2};
    refused(&h, &o, GPH_E_INVALID, "of size 1048576: cost 1.04858e+06, inf bytes");
    sizes[1].size = 16;
    gph_error error = {0};
    gph_plan_ladder_result r = {.size = sizeof(gph_plan_ladder_result), .cost = 77};
    const uint64_t falling[] = {8, 8};
    CHECK(gph_plan_ladder(&h, NULL, NULL, 0, &r, &error) == GPH_E_INVALID);
    CHECK(gph_plan_ladder_judge(&h, NULL, falling, 2, &r, &error) == GPH_E_INVALID);
    CHECK(gph_plan_ladder_judge(&h, NULL, falling, 1, &r, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "size 16 is above the ladder") != NULL && r.cost == 77);
}

/* ---- tables ---- */

static const char traffic_text[] = "count, size, cost, bytes, note\n"
                                   "100, 1, 1.5, 1e6, x\n\n"
                                   "20, 8,, 2.5E+6,\n"
                                   "5, 64, 12.25, ,\n";

static void a_table_becomes_a_histogram(void)
{
    gph_plan_traffic *t = NULL;
    gph_error error = {0};
    CHECK_OK(gph_plan_traffic_read(traffic_text, strlen(traffic_text), NULL, &t, &error),
             error);
    const gph_plan_histogram h = gph_plan_traffic_histogram(t);
    CHECK(h.count == 3 && h.sizes[1].size == 8 && h.sizes[1].count == 20);
    gph_plan_ladder_options o = GPH_PLAN_LADDER_OPTIONS_INIT;
    gph_plan_traffic_curves(t, &o);
    CHECK(o.cost.count == 2 && o.cost.points[1].size == 64 &&
          o.cost.points[1].value == 12.25 && o.cost.points[0].value == 1.5);
    CHECK(o.bytes.count == 2 && o.bytes.points[1].value == 2.5e6);
    CHECK(o.eager.count == 0 && o.seconds.count == 0);
    gph_plan_traffic_destroy(t);
}

static void wrong_tables_are_refused(void)
{
    static const char *const wrong[][2] = {
        {"", "empty"},
        {"size\n", "line 1: no column is named count"},
        {"size,count\n1\n", "line 2 has 1 values"},
        {"size,count\n1,2.5\n", "line 2: count is \"2.5\", not a whole number"},
        {"size,count,cost\n1,2,x\n", "line 2: cost is \"x\", not a decimal number"},
        {"size,count,cost\n1,2,-1\n", "line 2: cost is \"-1\""},
        {"size,count,cost\n1,2,.\n", "line 2: cost is \".\""},
        {"size,count,cost\n1,2,1e\n", "line 2: cost is \"1e\""},
        {"size,count,cost\n1,2,1e999\n", "line 2: cost is \"1e999\""},
        {"size,count,cost\n1,2,nan\n", "line 2: cost is \"nan\""},
        {"size,count,cost\n2,2,1\n1,2,1\n", "line 3: size 1 has a cost and follows 2"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        gph_plan_traffic *t = NULL;
        gph_error error = {0};
        CHECK(gph_plan_traffic_read(wrong[i][0], strlen(wrong[i][0]), NULL, &t, &error) ==
                  GPH_E_FORMAT &&
              t == NULL);
        if (!CHECK(strstr(error.message, wrong[i][1]) != NULL))
            fprintf(stderr, "  %s\n", error.message);
    }
}

/* ---- failed allocations ---- */

static gph_status read_with(fault_heap *heap)
{
    const gph_allocator allocator = {fault_realloc, heap};
    gph_plan_traffic *t = NULL;
    gph_error error = {0};
    const gph_status status =
        gph_plan_traffic_read(traffic_text, strlen(traffic_text), &allocator, &t, &error);
    CHECK((t != NULL) == (status == GPH_OK));
    gph_plan_traffic_destroy(t);
    return status;
}

static gph_status plan_with(fault_heap *heap)
{
    const gph_allocator allocator = {fault_realloc, heap};
    const gph_plan_size sizes[] = {{4, 9}, {9, 3}, {12, 7}, {16, 5}, {31, 2}};
    const gph_plan_point points[] = {{4, 3}, {16, 9}};
    const gph_plan_histogram h = {sizes, 5};
    gph_plan_ladder_options o = GPH_PLAN_LADDER_OPTIONS_INIT;
    gph_plan_ladder_result result = {.size = sizeof(gph_plan_ladder_result), .cost = 77};
    uint64_t rungs[5] = {77};
    gph_error error = {0};
    o.allocator = &allocator;
    o.bytes = (gph_plan_curve){points, 2};
    o.byte_budget = 34;
    const gph_status status = gph_plan_ladder(&h, &o, rungs, 5, &result, &error);
    CHECK((result.cost != 77) == (status == GPH_OK));
    CHECK((rungs[0] != 77) == (status == GPH_OK));
    return status;
}

static gph_status judge_with(fault_heap *heap)
{
    const gph_allocator allocator = {fault_realloc, heap};
    const gph_plan_size sizes[] = {{4, 9}, {9, 3}};
    const gph_plan_histogram h = {sizes, 2};
    const uint64_t rungs[] = {9};
    gph_plan_ladder_options o = GPH_PLAN_LADDER_OPTIONS_INIT;
    gph_plan_ladder_result result = {.size = sizeof(gph_plan_ladder_result), .cost = 77};
    gph_error error = {0};
    o.allocator = &allocator;
    const gph_status status = gph_plan_ladder_judge(&h, &o, rungs, 1, &result, &error);
    CHECK((result.cost != 77) == (status == GPH_OK));
    return status;
}

static void sweep(gph_status (*call)(fault_heap *))
{
    gph_status status = GPH_E_NO_MEMORY;
    for (long nth = 0; status != GPH_OK && nth < 1000; nth++) {
        fault_heap heap = {.fail_at = nth};
        status = call(&heap);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK(heap.live_bytes == 0);
        CHECK(status != GPH_OK || nth > 0);
    }
    CHECK(status == GPH_OK);
}

static void failed_allocations_leave_nothing(void)
{
    sweep(read_with);
    sweep(plan_with);
    sweep(judge_with);
}

int main(void)
{
    RUN(usual_ladders_have_their_rungs);
    RUN(the_serving_ladder_is_that_of_vllm);
    RUN(wrong_rules_are_refused);
    RUN(curves_are_straight_between_points);
    RUN(no_subset_of_rungs_costs_less);
    RUN(also_where_curves_fall);
    RUN(many_sizes_take_the_recurrence);
    RUN(the_most_sizes_are_planned);
    RUN(budgets_over_many_sizes_are_kept);
    RUN(padding_is_the_share_of_what_is_replayed);
    RUN(wrong_input_is_refused);
    RUN(a_table_becomes_a_histogram);
    RUN(wrong_tables_are_refused);
    RUN(failed_allocations_leave_nothing);
    return test_done();
}
