// SPDX-License-Identifier: Apache-2.0
/* What a cache changes by itself between steps: who shares an executable, what is
 * captured because it was missed, what goes because the budget is exceeded. */
#include "cache_fixture.h"

#include <gph/cache_figures.h>

static void graphs_of_one_topology_share_an_executable(void)
{
    model m = {.longer_at = 16};
    gph_cache_options options = model_options(&m);
    gph_cache *cache = make_cache(&options);
    gph_cache_key_info info = GPH_SIZED(gph_cache_key_info);
    gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
    if (cache == NULL)
        return;
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    gph_cache_stats_get(cache, &stats);
    CHECK(stats.shared_count == 2 && stats.own_count == 0 && stats.captured_count == 7);
    CHECK_OK(gph_cache_key_get(cache, 0, &info, &error), error);
    CHECK(info.exec == GPH_CACHE_EXEC_SHARED && info.shared_with == 4);
    CHECK(info.node_count == 3);
    CHECK_OK(gph_cache_key_get(cache, 6, &info, &error), error);
    CHECK(info.shared_with == 3 && info.node_count == 4);
    for (int i = 0; i < 40; i++) {
        const int64_t tokens = 1 + i * 13 % 64;
        gph_cache_call_args args = GPH_CACHE_CALL_INIT;
        gph_tensor outputs[2] = {{0}};
        CHECK_OK(call_model(cache, tokens, &args, outputs), error);
        CHECK(is_right(tokens, outputs));
    }
    gph_cache_stats_get(cache, &stats);
    CHECK(stats.updates > 5 && stats.updates <= 40);
    end_cache(cache);
}

static void a_hot_key_gets_its_own_executable_and_loses_it(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    options.own_max = 1;
    gph_cache *cache = make_cache(&options);
    gph_cache_work_kind kind = GPH_CACHE_WORK_NONE;
    gph_cache_key_info info = GPH_SIZED(gph_cache_key_info);
    gph_cache_stats before = GPH_SIZED(gph_cache_stats);
    gph_cache_stats after = GPH_SIZED(gph_cache_stats);
    uint32_t key = 0;
    if (cache == NULL)
        return;
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_NONE);
    for (int i = 0; i < 100; i++)
        CHECK_OK(gph_cache_replay(cache, i % 10 == 0 ? 3 : 5, stream, &error), error);
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_OWN && key == 5);
    CHECK_OK(gph_cache_key_get(cache, 5, &info, &error), error);
    CHECK(info.exec == GPH_CACHE_EXEC_OWN && info.exec_bytes > 0 && info.exact == 90);
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_NONE);
    gph_cache_stats_get(cache, &before);
    CHECK(before.own_count == 1 && before.shared_count == 1);
    for (int i = 0; i < 100; i++)
        CHECK_OK(gph_cache_replay(cache, i % 10 == 0 ? 5 : 3, stream, &error), error);
    gph_cache_stats_get(cache, &after);
    CHECK(after.updates - before.updates <= 1); /* 3 held the shared one throughout */
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_SHARE && key == 5);
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_OWN && key == 3);
    for (int64_t tokens = 1; tokens <= 64; tokens += 7) {
        gph_cache_call_args args = GPH_CACHE_CALL_INIT;
        gph_tensor outputs[2] = {{0}};
        CHECK_OK(call_model(cache, tokens, &args, outputs), error);
        CHECK(is_right(tokens, outputs));
    }
    end_cache(cache);
    options.hot_share = -1; /* everybody its own */
    cache = make_cache(&options);
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    gph_cache_stats_get(cache, &after);
    CHECK(after.own_count == 7 && after.shared_count == 0);
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_NONE);
    end_cache(cache);
    check_pool_is_empty();
}

static void what_is_missed_most_is_captured_first(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    options.lazy_misses = 2;
    gph_cache *cache = make_cache(&options);
    gph_cache_work_kind kind = GPH_CACHE_WORK_NONE;
    gph_cache_key_info info = GPH_SIZED(gph_cache_key_info);
    uint32_t key = 0;
    if (cache == NULL)
        return;
    const int64_t sizes[] = {5, 30, 6, 7, 31, 64};
    for (int i = 0; i < 6; i++) {
        gph_cache_call_args args = GPH_CACHE_CALL_INIT;
        gph_tensor outputs[2] = {{0}};
        CHECK_OK(call_model(cache, sizes[i], &args, outputs), error);
        CHECK(args.match.verdict == GPH_CACHE_MISS && is_right(sizes[i], outputs));
    }
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_CAPTURE && key == 3); /* 8 tokens, thrice */
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_CAPTURE && key == 5); /* 32, twice */
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_NONE); /* 64 once */
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    gph_tensor outputs[2] = {{0}};
    CHECK_OK(call_model(cache, 5, &args, outputs), error);
    CHECK(args.match.verdict == GPH_CACHE_PADDED && args.match.key == 3);
    CHECK(is_right(5, outputs));
    CHECK_OK(gph_cache_key_get(cache, 3, &info, &error), error);
    CHECK(info.misses == 3 && info.padded == 1 && info.waste == 3 && info.captures == 1);
    end_cache(cache);
    options.lazy = GPH_CACHE_LAZY_CALL;
    cache = make_cache(&options);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(call_model(cache, 5, &args, outputs), error);
        CHECK(args.match.verdict == (i == 0 ? GPH_CACHE_MISS : GPH_CACHE_PADDED));
        CHECK(is_right(5, outputs));
    }
    end_cache(cache);
    options.lazy = GPH_CACHE_LAZY_OFF;
    cache = make_cache(&options);
    for (int i = 0; i < 3; i++)
        CHECK_OK(call_model(cache, 5, &args, outputs), error);
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_NONE && args.match.verdict == GPH_CACHE_MISS);
    end_cache(cache);
    check_pool_is_empty();
}

static void a_budget_evicts_what_was_not_used_for_longest(void)
{
    gph_driver_info driver = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(runtime, &driver);
    if (driver.driver != GPH_DRIVER_SOFT)
        SKIP("a GPU's driver takes memory for executables in lumps");
    model m = {0};
    gph_cache_options options = model_options(&m);
    options.hot_share = -1; /* an executable each, so that each key weighs something */
    gph_cache *cache = make_cache(&options);
    gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
    gph_cache_key_info info = GPH_SIZED(gph_cache_key_info);
    if (cache == NULL)
        return;
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    gph_cache_stats_get(cache, &stats);
    end_cache(cache);
    CHECK(stats.exec_bytes > 0);
    options.budget_bytes = stats.tensor_bytes + stats.exec_bytes * 5 / 7 + 64;
    options.lazy_misses = 1;
    cache = make_cache(&options);
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    gph_cache_stats_get(cache, &stats);
    CHECK(stats.captured_count == 5); /* the largest: 4 to 64 */
    CHECK_OK(gph_cache_key_get(cache, 0, &info, &error), error);
    CHECK(info.reason == GPH_CACHE_EVICTED);
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    gph_tensor outputs[2] = {{0}};
    const int64_t sizes[] = {16, 4, 64, 32, 1}; /* not 8 */
    for (int i = 0; i < 5; i++)
        CHECK_OK(call_model(cache, sizes[i], &args, outputs), error);
    CHECK(args.match.key == 2 && args.match.wanted == 0); /* 1 as 4 */
    gph_cache_work_kind kind = GPH_CACHE_WORK_NONE;
    uint32_t key = 0;
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_CAPTURE && key == 0);
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_EVICT && key == 3);
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_NONE);
    CHECK_OK(call_model(cache, 8, &args, outputs), error);
    CHECK(args.match.key == 4 && args.match.wanted == 3 && is_right(8, outputs));
    CHECK(gph_cache_evict(cache, 3, &error) == GPH_E_STATE);
    CHECK(gph_cache_evict(cache, 99, &error) == GPH_E_INVALID);
    CHECK_OK(gph_cache_evict(cache, 4, &error), error);
    CHECK(gph_cache_replay(cache, 4, stream, &error) == GPH_E_STATE);
    CHECK(strstr(error.message, "evicted") != NULL);
    end_cache(cache);
    check_pool_is_empty();
}

int main(void)
{
    if (!set_up())
        return 1;
    RUN(graphs_of_one_topology_share_an_executable);
    RUN(a_hot_key_gets_its_own_executable_and_loses_it);
    RUN(what_is_missed_most_is_captured_first);
    RUN(a_budget_evicts_what_was_not_used_for_longest);
    tear_down();
    return test_done();
}
