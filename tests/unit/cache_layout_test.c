// SPDX-License-Identifier: Apache-2.0
/* Shape buckets without a driver: ladders, look-ups, reasons. */
#include "base/heap.h"
#include "cache/layout.h"
#include "fault.h"
#include "test.h"

#include <string.h>

static gph_error error;

static gph_cache_axis powers(const char *name, int64_t last)
{
    return (gph_cache_axis){.name = name, .ladder = GPH_LADDER_POWERS, .last = last};
}

static gph_cache_axis list(const char *name, const int64_t *values, uint32_t count)
{
    return (gph_cache_axis){
        .name = name, .ladder = GPH_LADDER_LIST, .values = values, .value_count = count};
}

static gph_status make(gphi_layout *out, const gph_cache_axis *axes, uint32_t count)
{
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    options.axes = axes;
    options.axis_count = count;
    memset(&error, 0, sizeof(error));
    return gphi_layout_init(out, &options, gphi_heap(NULL), &error);
}

static void capture_all(gphi_layout *layout)
{
    for (uint32_t k = 0; k < layout->key_count; k++)
        if (gphi_layout_state(layout, k) != GPH_CACHE_NOT_WANTED)
            gphi_layout_mark(layout, k, GPH_CACHE_FITS);
    gphi_layout_serve(layout);
}

static gph_cache_match find(const gphi_layout *layout, int64_t a, int64_t b)
{
    const int64_t sizes[] = {a, b};
    gph_cache_match match;
    memset(&match, 0x5a, sizeof(match));
    gphi_layout_find(layout, sizes, &match);
    return match;
}

static void ladders_are_made_as_they_say(void)
{
    const int64_t values[] = {64, 1, 3, 100000};
    const gph_cache_axis axes[] = {
        powers("a", 100),
        {.name = "b", .ladder = GPH_LADDER_LINEAR, .first = 8, .last = 30, .step = 8},
        list("c", values, 4)};
    const int64_t want[3][8] = {
        {1, 2, 4, 8, 16, 32, 64, 100}, {8, 16, 24, 30}, {1, 3, 64, 100000}};
    const uint32_t counts[] = {8, 4, 4};
    gphi_layout layout;
    if (!CHECK_OK(make(&layout, axes, 3), error))
        return;
    CHECK(layout.key_count == 8 * 4 * 4);
    for (int a = 0; a < 3; a++) {
        CHECK(layout.axes[a].count == counts[a]);
        CHECK(memcmp(layout.axes[a].values, want[a], counts[a] * sizeof(int64_t)) == 0);
    }
    CHECK(layout.axes[0].rungs != NULL && layout.axes[2].rungs == NULL);
    for (int a = 0; a < 3; a++) /* table and search agree with a walk */
        for (int64_t size = 0; size < 200; size++) {
            uint32_t rung = 0;
            while (rung < counts[a] && want[a][rung] < size)
                rung++;
            CHECK(gphi_axis_rung(&layout.axes[a], size) == rung);
        }
    CHECK(gphi_axis_rung(&layout.axes[2], 100001) == 4);
    CHECK(gphi_axis_rung(&layout.axes[2], -1) == 4);
    gphi_layout_fini(&layout);
}

static void a_ladder_is_planned_for_what_occurs(void)
{
    const int64_t sizes[] = {3, 17, 17, 60, 500};
    const uint64_t counts[] = {1000, 800, 200, 10, 1};
    gph_cache_axis axis = {.name = "tokens",
                           .ladder = GPH_LADDER_PLANNED,
                           .values = sizes,
                           .counts = counts,
                           .value_count = 5,
                           .rungs_max = 3};
    gphi_layout layout;
    if (!CHECK_OK(make(&layout, &axis, 1), error))
        return;
    /* 60 as 500 would cost 4,400, 3 as 17 14,000, 17 as 60 43,000 */
    const int64_t want[] = {3, 17, 500};
    CHECK(layout.axes[0].count == 3);
    CHECK(memcmp(layout.axes[0].values, want, sizeof(want)) == 0);
    gphi_layout_fini(&layout);
    axis.rungs_max = 0;
    axis.bucket_cost = 5000; /* more expensive than what the fourth saves */
    if (!CHECK_OK(make(&layout, &axis, 1), error))
        return;
    CHECK(layout.axes[0].count == 3);
    gphi_layout_fini(&layout);
}

static void sizes_find_their_keys(void)
{
    const int64_t modes[] = {0, 1, 7};
    gph_cache_axis axes[] = {powers("tokens", 64), list("mode", modes, 3)};
    axes[1].discrete = 1;
    gphi_layout layout;
    if (!CHECK_OK(make(&layout, axes, 2), error))
        return;
    gph_cache_match match = find(&layout, 5, 1);
    CHECK(match.verdict == GPH_CACHE_MISS && match.reason == GPH_CACHE_NOT_CAPTURED);
    CHECK(match.key == GPH_CACHE_NONE && match.wanted == 3 * 3 + 1);
    capture_all(&layout);
    match = find(&layout, 5, 1);
    CHECK(match.verdict == GPH_CACHE_PADDED && match.key == 10 && match.wanted == 10);
    match = find(&layout, 8, 7);
    CHECK(match.verdict == GPH_CACHE_EXACT && match.key == 11);
    match = find(&layout, 64, 0);
    CHECK(match.verdict == GPH_CACHE_EXACT && match.key == 18);
    match = find(&layout, 65, 0);
    CHECK(match.verdict == GPH_CACHE_EAGER && match.reason == GPH_CACHE_BEYOND);
    CHECK(match.axis == 0 && match.key == GPH_CACHE_NONE);
    match = find(&layout, 8, 2);
    CHECK(match.reason == GPH_CACHE_NO_VALUE && match.axis == 1);
    match = find(&layout, 0, 0);
    CHECK(match.reason == GPH_CACHE_BAD_SIZE && match.axis == 0);
    match = find(&layout, INT64_MIN, 0);
    CHECK(match.reason == GPH_CACHE_BAD_SIZE);
    match = find(&layout, 1, INT64_MAX);
    CHECK(match.reason == GPH_CACHE_NO_VALUE);
    gphi_layout_fini(&layout);
}

/* The least captured key that holds the sizes, by looking at all. */
static uint32_t least_by_walk(const gphi_layout *layout, const int64_t *sizes)
{
    double best = 0;
    uint32_t found = GPH_CACHE_NONE;
    for (uint32_t k = 0; k < layout->key_count; k++)
        if (gphi_layout_state(layout, k) == GPH_CACHE_FITS &&
            gphi_layout_holds(layout, k, sizes) &&
            (found == GPH_CACHE_NONE || layout->volume[k] < best)) {
            best = layout->volume[k];
            found = k;
        }
    return found;
}

static void the_least_captured_key_serves(void)
{
    const int64_t modes[] = {0, 1};
    gph_cache_axis axes[] = {powers("tokens", 32), powers("requests", 8),
                             list("mode", modes, 2)};
    axes[2].discrete = 1;
    gphi_layout layout;
    if (!CHECK_OK(make(&layout, axes, 3), error))
        return;
    uint32_t seed = 1;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 6; i++) {
            seed = seed * 1103515245u + 12345u;
            gphi_layout_mark(&layout, (seed >> 8) % layout.key_count,
                             seed >> 30 ? GPH_CACHE_FITS : GPH_CACHE_EVICTED);
        }
        gphi_layout_serve(&layout);
        int wrong = 0;
        for (int64_t t = 1; t <= 32; t++)
            for (int64_t r = 1; r <= 8; r++)
                for (int64_t m = 0; m < 2; m++) {
                    const int64_t sizes[] = {t, r, m};
                    gph_cache_match match;
                    gphi_layout_find(&layout, sizes, &match);
                    const uint32_t key = least_by_walk(&layout, sizes);
                    wrong += key == GPH_CACHE_NONE
                                 ? match.key != key
                                 : match.key == GPH_CACHE_NONE ||
                                       layout.volume[match.key] != layout.volume[key] ||
                                       !gphi_layout_holds(&layout, match.key, sizes);
                }
        CHECK(wrong == 0);
    }
    gphi_layout_fini(&layout);
}

static void too_much_padding_is_refused(void)
{
    gph_cache_axis axis = powers("tokens", 64);
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    gphi_layout layout;
    options.axes = &axis;
    options.axis_count = 1;
    options.overshoot_max = 1.5;
    if (!CHECK_OK(gphi_layout_init(&layout, &options, gphi_heap(NULL), &error), error))
        return;
    capture_all(&layout);
    CHECK(find(&layout, 33, 0).reason == GPH_CACHE_OVERSHOOT);
    CHECK(find(&layout, 33, 0).verdict == GPH_CACHE_EAGER);
    CHECK(find(&layout, 43, 0).verdict == GPH_CACHE_PADDED);
    gphi_layout_mark(&layout, 5, GPH_CACHE_EVICTED); /* 32: 64 is too large for 30 */
    gphi_layout_serve(&layout);
    CHECK(find(&layout, 30, 0).verdict == GPH_CACHE_MISS);
    CHECK(find(&layout, 30, 0).reason == GPH_CACHE_EVICTED);
    gphi_layout_fini(&layout);
}

static int only_squares(void *user, const int64_t *values)
{
    (void)user;
    return values[0] == values[1];
}

static void keys_may_be_unwanted(void)
{
    gph_cache_axis axes[] = {powers("x", 8), powers("y", 8)};
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    gphi_layout layout;
    options.axes = axes;
    options.axis_count = 2;
    options.wanted = only_squares;
    if (!CHECK_OK(gphi_layout_init(&layout, &options, gphi_heap(NULL), &error), error))
        return;
    CHECK(find(&layout, 3, 1).wanted == 2 * 4 + 2); /* 4 x 4 */
    capture_all(&layout);
    CHECK(find(&layout, 3, 1).key == 10);
    CHECK(find(&layout, 4, 4).verdict == GPH_CACHE_EXACT);
    gphi_layout_fini(&layout);
}

static void explain(const gphi_layout *layout, const gph_cache_match *match,
                    const int64_t *sizes, char *to, size_t bytes)
{
    gphi_text text;
    gphi_text_fix(&text, to, bytes);
    gphi_layout_explain(layout, match, sizes, &text);
}

static void reasons_are_sentences_with_values(void)
{
    const int64_t modes[] = {0, 1};
    gph_cache_axis axes[] = {powers("tokens", 64), list("mode", modes, 2)};
    axes[1].discrete = 1;
    gphi_layout layout;
    char text[256];
    if (!CHECK_OK(make(&layout, axes, 2), error))
        return;
    const struct {
        int64_t sizes[2];
        const char *want;
    } cases[] = {
        {{3208, 0}, "eager: tokens 3208 is beyond the largest value, 64"},
        {{1, 5}, "eager: mode 5 is not one of its 2 values"},
        {{0, 1}, "eager: tokens 0 is below 1"},
        {{5, 1},
         "miss: tokens 5, mode 1 as tokens 8, mode 1: the key has not been "
         "captured"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        gph_cache_match match;
        gphi_layout_find(&layout, cases[i].sizes, &match);
        explain(&layout, &match, cases[i].sizes, text, sizeof(text));
        if (!CHECK(strcmp(text, cases[i].want) == 0))
            fprintf(stderr, "  %s\n", text);
    }
    capture_all(&layout);
    const int64_t sizes[] = {5, 1};
    gph_cache_match match;
    gphi_layout_find(&layout, sizes, &match);
    explain(&layout, &match, sizes, text, sizeof(text));
    CHECK(strcmp(text, "padded: tokens 5, mode 1 as tokens 8, mode 1") == 0);
    explain(&layout, &match, sizes, text, 10);
    CHECK(strcmp(text, "padded: t") == 0);
    for (int i = 0; i < GPH_CACHE_REASON_COUNT; i++)
        CHECK(strcmp(gph_cache_reason_text((gph_cache_reason)i), "no such reason") != 0);
    CHECK(strcmp(gph_cache_reason_text((gph_cache_reason)GPH_CACHE_REASON_COUNT),
                 "no such reason") == 0);
    gphi_layout_fini(&layout);
}

static void refused(const gph_cache_options *options, const char *word)
{
    gphi_layout layout;
    memset(&error, 0, sizeof(error));
    CHECK(gphi_layout_init(&layout, options, gphi_heap(NULL), &error) == GPH_E_INVALID);
    if (!CHECK(strstr(error.message, word) != NULL))
        fprintf(stderr, "  %s\n", error.message);
    gphi_layout_fini(&layout);
}

static void bad_axes_are_refused(void)
{
    const int64_t twice[] = {1, 2, 1}, zero[] = {0, 1};
    const gph_cache_axis bad[] = {
        {.name = NULL, .ladder = GPH_LADDER_POWERS, .last = 4},
        {.name = "a", .ladder = 9, .last = 4},
        {.name = "a", .ladder = GPH_LADDER_POWERS, .first = 8, .last = 4},
        {.name = "a", .ladder = GPH_LADDER_POWERS, .first = -1, .last = 4},
        {.name = "a", .ladder = GPH_LADDER_LINEAR, .last = 4},
        {.name = "a", .ladder = GPH_LADDER_LINEAR, .last = INT64_MAX, .step = 1},
        {.name = "a", .ladder = GPH_LADDER_LINEAR, .last = 1 << 20, .step = 1},
        {.name = "a", .ladder = GPH_LADDER_LIST},
        {.name = "a", .ladder = GPH_LADDER_LIST, .values = twice, .value_count = 3},
        {.name = "a", .ladder = GPH_LADDER_LIST, .values = zero, .value_count = 2},
        {.name = "a", .ladder = GPH_LADDER_PLANNED, .values = zero, .value_count = 2},
    };
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    refused(&options, "0 axes");
    options.axis_count = 1;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        options.axes = &bad[i];
        refused(&options, "ax");
    }
    gph_cache_axis many[] = {powers("a", 1 << 20), powers("b", 1 << 20),
                             powers("c", 1 << 20), powers("d", 1 << 20)};
    options.axes = many;
    options.axis_count = 4;
    refused(&options, "more than 65536 keys");
    many[1].name = "a";
    options.axis_count = 2;
    refused(&options, "named a");
    options.axis_count = 1;
    options.overshoot_max = 0.5;
    refused(&options, "overshoot_max 0.5");
}

static void bad_tensors_are_refused(void)
{
    const gph_cache_axis axis = powers("tokens", 1 << 20);
    const struct {
        gph_cache_tensor tensor;
        const char *word;
    } bad[] = {
        {{.dtype = 99}, "gph_dtype"},
        {{.dtype = GPH_DTYPE_F32, .rank = 9}, "rank 9"},
        {{.dtype = GPH_DTYPE_F32, .rank = 1, .shape = {1}, .axis = {2}}, "axis 1"},
        {{.dtype = GPH_DTYPE_F32, .rank = 1, .shape = {0}}, "shape 0"},
        {{.dtype = GPH_DTYPE_F32, .rank = 1, .shape = {4}, .extra = {1}}, "extra 1"},
        {{.dtype = GPH_DTYPE_F32, .rank = 1, .shape = {INT64_MAX}, .axis = {1}}, "2^48"},
        {{.dtype = GPH_DTYPE_F32, .fill = 7}, "gph_fill_rule"},
        {{.dtype = GPH_DTYPE_C128, .fill = GPH_FILL_VALUE, .value = 1}, "16 bytes"},
    };
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    options.axes = &axis;
    options.axis_count = 1;
    options.input_count = 1;
    refused(&options, "inputs");
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        options.inputs = &bad[i].tensor;
        refused(&options, bad[i].word);
    }
}

static void every_failed_allocation_is_survived(void)
{
    const int64_t sizes[] = {3, 17, 60};
    const uint64_t counts[] = {10, 5, 1};
    const gph_cache_axis axes[] = {powers("x", 64),
                                   {.name = "y",
                                    .ladder = GPH_LADDER_PLANNED,
                                    .values = sizes,
                                    .counts = counts,
                                    .value_count = 3}};
    const gph_cache_tensor input = {
        .dtype = GPH_DTYPE_F32, .rank = 1, .shape = {1}, .axis = {1}};
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    options.axes = axes;
    options.axis_count = 2;
    options.inputs = &input;
    options.input_count = 1;
    bool swept = false;
    for (long nth = 0; nth < 1000 && !swept; nth++) {
        fault_heap heap = {.fail_at = nth};
        gphi_layout layout;
        const gph_status status = gphi_layout_init(
            &layout, &options, (gph_allocator){fault_realloc, &heap}, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        gphi_layout_fini(&layout);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        swept = status == GPH_OK;
        CHECK(!swept || nth > 5);
    }
    CHECK(swept);
}

int main(void)
{
    RUN(ladders_are_made_as_they_say);
    RUN(a_ladder_is_planned_for_what_occurs);
    RUN(sizes_find_their_keys);
    RUN(the_least_captured_key_serves);
    RUN(too_much_padding_is_refused);
    RUN(keys_may_be_unwanted);
    RUN(reasons_are_sentences_with_values);
    RUN(bad_axes_are_refused);
    RUN(bad_tensors_are_refused);
    RUN(every_failed_allocation_is_survived);
    return test_done();
}
