// SPDX-License-Identifier: Apache-2.0
/* Keys that share an executable which a kernel changes: results of every key in every
 * order, launches that wait for each other, and what makes keys differ by too much. */
#include "cache_fixture.h"

#include <gph/cache_figures.h>

enum { KEYS = 7, LAYERS = 8, STEPS = 20 };

static gph_cache_stats stats_of(const gph_cache *cache)
{
    gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
    gph_cache_stats_get(cache, &stats);
    return stats;
}

static void call_all(gph_cache *cache)
{
    for (int i = 0; i < 60; i++) {
        const int64_t tokens = 1 + i * 13 % 64;
        gph_cache_call_args args = GPH_CACHE_CALL_INIT;
        gph_tensor outputs[2] = {{0}};
        CHECK_OK(call_model(cache, tokens, &args, outputs), error);
        if (!CHECK(is_right(tokens, outputs)))
            fprintf(stderr, "  %lld tokens\n", (long long)tokens);
    }
}

static void keys_that_differ_in_arguments_and_grids_take_turns(void)
{
    model m = {.layers = LAYERS};
    gph_cache_options options = model_options(&m);
    options.hot_share = 1;
    for (uint32_t cold = 0; cold < 2; cold++) {
        options.cold = cold;
        gph_cache *cache = make_cache(&options);
        if (!cache)
            return;
        CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
        CHECK(stats_of(cache).shared_count == 1);
        CHECK(stats_of(cache).patched_count == (cold == GPH_CACHE_COLD_PATCH));
        CHECK(stats_of(cache).updates == 0);
        call_all(cache); /* 64 tokens are two blocks */
        CHECK(stats_of(cache).updates > 5 && stats_of(cache).updates <= 60);
        end_cache(cache);
        check_pool_is_empty();
    }
}

/* ---- a function that counts its calls, by key ---- */

typedef enum odd {
    NOTHING_ODD,
    ODD_FILL,   /* a fill whose size depends on the key */
    ODD_KERNEL, /* another kernel from 16 tokens on */
    ODD_BLOCK,  /* larger blocks from 16 tokens on */
    ODD_LENGTH  /* a kernel more from 16 tokens on */
} odd;

struct counter {
    odd odd;
    CUdeviceptr at; /* TOKENS_MAX floats a key */
};

static gph_status add_one(const struct counter *self, const gph_call *call, bool is_large)
{
    const int64_t tokens = call->key[0];
    CUdeviceptr y = self->at + (CUdeviceptr)tokens * 64 * 4, none = 0;
    float one = 1;
    unsigned count = (unsigned)tokens;
    void *params[] = {&y, &y, &none, &one, &count};
    return cu->LaunchKernel(kernel_line, (count + 31) / 32, 1, 1, is_large ? 64 : 32, 1,
                            1, 0, call->stream, params, NULL);
}

static gph_status count_calls(void *user, gph_call *call, gph_error *why)
{
    const struct counter *self = user;
    const int64_t tokens = call->key[0];
    const bool is_odd = self->odd != NOTHING_ODD && tokens >= 16;
    const int steps = STEPS + (self->odd == ODD_LENGTH && is_odd);
    gph_status status = GPH_OK;
    for (int i = 0; i < steps && status == GPH_OK; i++)
        status = add_one(self, call, self->odd == ODD_BLOCK && is_odd);
    if (status == GPH_OK && self->odd == ODD_FILL)
        status = cu->MemsetD32Async(device_y, 0, (size_t)tokens, call->stream);
    if (status == GPH_OK && self->odd == ODD_KERNEL) {
        CUdeviceptr sizes = call->inputs[call->input_count - 1].data;
        CUdeviceptr s = device_s, y = device_y;
        unsigned count = 0;
        float one = 1;
        void *total[] = {&s, &y, &sizes}, *line[] = {&y, &y, &s, &one, &count};
        status = cu->LaunchKernel(is_odd ? kernel_total : kernel_line, 1, 1, 1, 1, 1, 1,
                                  0, call->stream, is_odd ? total : line, NULL);
    }
    return gph_cuda_check(status, "counting", why);
}

static gph_cache *make_counter(struct counter *self)
{
    gph_cache_options options = model_options(NULL);
    options.function = count_calls;
    options.user = self;
    options.outputs = NULL;
    options.output_count = 0;
    options.hot_share = 1;
    gph_cache *cache = make_cache(&options);
    if (cache)
        CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    CU(MemsetD32Async, self->at, 0, 65 * 64, stream);
    CU(StreamSynchronize, stream);
    return cache;
}

static void check_counts(const struct counter *self, const int *replays)
{
    static float all[65 * 64];
    CU(MemcpyDtoHAsync, all, self->at, sizeof(all), stream);
    CU(StreamSynchronize, stream);
    for (uint32_t key = 0; key < KEYS; key++) {
        const int64_t tokens = (int64_t)1 << key;
        const int steps = STEPS + (self->odd == ODD_LENGTH && tokens >= 16);
        for (int64_t i = 0; i < 64; i++) {
            const float want = i < tokens ? (float)(replays[key] * steps) : 0;
            if (!CHECK(all[tokens * 64 + i] == want)) {
                fprintf(stderr, "  key %u, %lld: %g, not %g\n", key, (long long)i,
                        (double)all[tokens * 64 + i], (double)want);
                return;
            }
        }
    }
}

/* More than may be queued, nobody waits in between; two streams. */
static void replays_that_are_queued_keep_their_key(void)
{
    struct counter self = {0};
    int replays[KEYS] = {0};
    uint32_t seed = 1;
    CUstream streams[2] = {stream, NULL};
    CU(MemAlloc, &self.at, 65 * 64 * 4);
    gph_cache *cache = make_counter(&self);
    if (!cache || !CU(StreamCreate, &streams[1], 1))
        return;
    CHECK(stats_of(cache).patched_count == 1);
    for (int i = 0; i < 1000; i++) {
        seed = seed * 1664525u + 1013904223u;
        const uint32_t key = (seed >> 10) % KEYS;
        replays[key]++;
        CHECK_OK(gph_cache_replay(cache, key, streams[seed >> 31], &error), error);
    }
    CU(StreamSynchronize, streams[1]);
    check_counts(&self, replays);
    CHECK(stats_of(cache).updates > 500 && stats_of(cache).updates < 1000);
    CU(StreamDestroy, streams[1]);
    end_cache(cache);
    CU(MemFree, self.at);
    check_pool_is_empty();
}

static void keys_that_differ_in_more_are_updated(void)
{
    for (int what = NOTHING_ODD; what <= ODD_LENGTH; what++) {
        struct counter self = {.odd = (odd)what};
        int replays[KEYS] = {0};
        CU(MemAlloc, &self.at, 65 * 64 * 4);
        gph_cache *cache = make_counter(&self);
        if (!cache)
            return;
        /* those from 16 tokens on are alike, and those below */
        const uint32_t want = what == ODD_FILL ? 0 : what == NOTHING_ODD ? 1 : 2;
        CHECK(stats_of(cache).patched_count == want);
        for (uint32_t i = 0; i < 40; i++) {
            replays[i * 3 % KEYS]++;
            CHECK_OK(gph_cache_replay(cache, i * 3 % KEYS, stream, &error), error);
        }
        check_counts(&self, replays);
        end_cache(cache);
        CU(MemFree, self.at);
        check_pool_is_empty();
    }
}

static void keys_come_and_go(void)
{
    struct counter self = {0};
    int replays[KEYS] = {0};
    CU(MemAlloc, &self.at, 65 * 64 * 4);
    gph_cache *cache = make_counter(&self);
    if (!cache)
        return;
    const uint64_t bytes = stats_of(cache).exec_bytes;
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t key = 0; key < KEYS; key++) { /* all of them: the patch goes, too */
            replays[key] += 2;
            for (int i = 0; i < 2; i++)
                CHECK_OK(gph_cache_replay(cache, key, stream, &error), error);
            CU(StreamSynchronize, stream);
            CHECK_OK(gph_cache_evict(cache, key, &error), error);
            CHECK(gph_cache_replay(cache, key, stream, &error) == GPH_E_STATE);
            CHECK(stats_of(cache).patched_count == (key + 1 < KEYS));
        }
        CHECK(stats_of(cache).exec_bytes == 0);
        CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
        CU(MemsetD32Async, self.at, 0, 65 * 64, stream); /* of the warm-ups */
        memset(replays, 0, sizeof(replays));
        CHECK(stats_of(cache).patched_count == 1);
        CHECK(stats_of(cache).exec_bytes == bytes);
    }
    replays[3] = replays[5] = 1;
    CHECK_OK(gph_cache_replay(cache, 3, stream, &error), error);
    CHECK_OK(gph_cache_replay(cache, 5, stream, &error), error);
    check_counts(&self, replays);
    end_cache(cache);
    CU(MemFree, self.at);
    check_pool_is_empty();
}

static void a_hot_key_leaves_the_patch_and_comes_back(void)
{
    model m = {.layers = LAYERS};
    gph_cache_options options = model_options(&m);
    options.own_max = 1;
    gph_cache *cache = make_cache(&options);
    gph_cache_work_kind kind = GPH_CACHE_WORK_NONE;
    uint32_t key = 0;
    if (!cache)
        return;
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    for (int i = 0; i < 100; i++)
        CHECK_OK(gph_cache_replay(cache, i % 10 == 0 ? 3 : 5, stream, &error), error);
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_OWN && key == 5);
    CHECK(stats_of(cache).own_count == 1 && stats_of(cache).patched_count == 1);
    call_all(cache);
    for (int i = 0; i < 400; i++)
        CHECK_OK(gph_cache_replay(cache, 3, stream, &error), error);
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_SHARE && key == 5);
    CHECK_OK(gph_cache_work(cache, stream, &kind, &key, &error), error);
    CHECK(kind == GPH_CACHE_WORK_OWN && key == 3);
    call_all(cache);
    end_cache(cache);
    check_pool_is_empty();
}

static void an_unknown_way_is_refused(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    gph_cache *cache = NULL;
    options.cold = 2;
    CHECK(gph_cache_create(runtime, &options, &cache, &error) == GPH_E_INVALID);
    CHECK(!cache && strstr(error.message, "options.cold 2"));
}

int main(void)
{
    if (!set_up())
        return 1;
    RUN(keys_that_differ_in_arguments_and_grids_take_turns);
    RUN(replays_that_are_queued_keep_their_key);
    RUN(keys_that_differ_in_more_are_updated);
    RUN(keys_come_and_go);
    RUN(a_hot_key_leaves_the_patch_and_comes_back);
    RUN(an_unknown_way_is_refused);
    tear_down();
    return test_done();
}
