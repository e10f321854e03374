// SPDX-License-Identifier: Apache-2.0
/* What a cache refuses, and in which words. A refusal changes nothing. */
#include "cache_fixture.h"

static void wrong_inputs_are_named(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    gph_cache *cache = make_cache(&options);
    if (cache == NULL)
        return;
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    const int64_t shape[] = {5, WIDTH}, wide[] = {5, WIDTH + 1}, one[] = {1};
    const int64_t sizes[] = {5};
    gph_tensor good[] = {gph_tensor_dense(device_x, GPH_DTYPE_F32, 2, shape),
                         gph_tensor_dense(device_bias, GPH_DTYPE_F32, 1, one)};
    gph_tensor bad[] = {gph_tensor_dense(device_x, GPH_DTYPE_I32, 2, shape),
                        gph_tensor_dense(device_x, GPH_DTYPE_F32, 1, shape),
                        gph_tensor_dense(device_x, GPH_DTYPE_F32, 2, wide), good[0]};
    const char *words[] = {"i32 of rank 2", "f32 of rank 1", "shape[1] is 5",
                           "stride[0] is 8"};
    bad[3].stride[0] = 8;
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    gph_tensor outputs[2] = {{0}};
    args.stream = stream;
    args.sizes = sizes;
    args.outputs = outputs;
    for (int i = 0; i < 4; i++) {
        const gph_tensor inputs[] = {bad[i], good[1]};
        args.inputs = inputs;
        CHECK(gph_cache_call(cache, &args, &error) == GPH_E_INVALID);
        if (!CHECK(strstr(error.message, words[i]) != NULL))
            fprintf(stderr, "  %s\n", error.message);
    }
    args.inputs = good;
    CHECK_OK(gph_cache_call(cache, &args, &error), error);
    CHECK(is_right(5, outputs));
    args.size = 4;
    CHECK(gph_cache_call(cache, &args, &error) == GPH_E_INVALID);
    end_cache(cache);
}

static void wrong_calls_are_refused(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    gph_cache *cache = make_cache(&options);
    if (cache == NULL)
        return;
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    CHECK(gph_cache_call(NULL, &args, &error) == GPH_E_INVALID);
    CHECK(gph_cache_replay(cache, 7, stream, &error) == GPH_E_INVALID);
    CHECK(gph_cache_replay(NULL, 0, stream, &error) == GPH_E_INVALID);
    CHECK(gph_cache_start(cache, NULL, NULL, 0, NULL, NULL, &error) == GPH_E_INVALID);
    const uint32_t none = 99;
    CHECK(gph_cache_start(cache, stream, &none, 1, NULL, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_cache_work(NULL, stream, NULL, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_cache_find(cache, NULL, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_cache_key_get(cache, 7, NULL, &error) == GPH_E_INVALID);
    gph_cache_stats_get(NULL, NULL);
    gph_buffer none_written = {0};
    CHECK(gph_cache_write(NULL, gph_write_buffer, &none_written, &error) ==
          GPH_E_INVALID);
    CHECK(gph_cache_key_count(NULL) == 0);
    CHECK(gph_cache_ladder(cache, 1, NULL) == NULL);
    gph_cache_destroy(NULL);
    end_cache(cache);
}

static void wrong_options_are_refused(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    gph_cache *out = NULL;
    CHECK(gph_cache_create(runtime, NULL, &out, &error) == GPH_E_INVALID);
    options.pool = NULL;
    CHECK(gph_cache_create(runtime, &options, &out, &error) == GPH_E_INVALID);
    options = model_options(&m);
    options.lazy = 5;
    CHECK(gph_cache_create(runtime, &options, &out, &error) == GPH_E_INVALID);
    options.lazy = 0;
    options.hot_share = 1.5;
    CHECK(gph_cache_create(runtime, &options, &out, &error) == GPH_E_INVALID);
    CHECK(out == NULL);
}

int main(void)
{
    if (!set_up())
        return 1;
    RUN(wrong_inputs_are_named);
    RUN(wrong_calls_are_refused);
    RUN(wrong_options_are_refused);
    tear_down();
    return test_done();
}
