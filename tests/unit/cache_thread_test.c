// SPDX-License-Identifier: Apache-2.0
/* Many threads replay while one captures, promotes, demotes and evicts. Each thread has a
 * stream of its own; the work of all runs in one order, made by events, as a cache wants
 * it, or is not looked at. */
#include "cache_fixture.h"

#include <gph/cache_figures.h>

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, REPLAYS = 300 };

static uint32_t layers; /* of the model: 8 are enough for a patch */

struct replayer {
    gph_cache *cache;
    CUcontext context;
    uint32_t seed;
    int failures;
    long replayed, refused;
};

static void *replay_all(void *user)
{
    struct replayer *self = user;
    CUstream own = NULL;
    gph_error mine = {0};
    self->failures += cu->CtxSetCurrent(self->context) != 0;
    self->failures += cu->StreamCreate(&own, 1) != 0;
    for (int i = 0; i < REPLAYS && own != NULL; i++) {
        self->seed = self->seed * 1664525u + 1013904223u;
        const uint32_t key = (self->seed >> 10) % 7;
        const int64_t sizes[] = {1 + (self->seed >> 20) % 70};
        gph_cache_match match;
        self->failures += gph_cache_find(self->cache, sizes, &match, &mine) != GPH_OK;
        const gph_status status = gph_cache_replay(self->cache, key, own, &mine);
        self->replayed += status == GPH_OK;
        self->refused += status == GPH_E_STATE;
        if (status != GPH_OK && status != GPH_E_STATE) {
            fprintf(stderr, "  %s\n", mine.message);
            self->failures++;
        }
        if (i % 32 == 0)
            self->failures += cu->StreamSynchronize(own) != 0;
    }
    if (own != NULL) {
        self->failures += cu->StreamSynchronize(own) != 0;
        self->failures += cu->StreamDestroy(own) != 0;
    }
    return NULL;
}

/* Everything that changes a cache, in turn. */
static void change_all(gph_cache *cache)
{
    static char text[8192];
    for (uint32_t i = 0; i < 60; i++) {
        const uint32_t key = i * 5 % 7;
        gph_cache_key_info info = GPH_SIZED(gph_cache_key_info);
        gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
        gph_cache_work_kind kind;
        if (i % 3 == 0)
            (void)gph_cache_evict(cache, key, NULL);
        else if (i % 3 == 1)
            CHECK_OK(gph_cache_start(cache, stream, &key, 1, NULL, NULL, &error), error);
        CHECK_OK(gph_cache_work(cache, stream, &kind, NULL, &error), error);
        CHECK_OK(gph_cache_key_get(cache, key, &info, &error), error);
        gph_cache_stats_get(cache, &stats);
        gph_buffer to = {text, sizeof(text), 0};
        CHECK_OK(gph_cache_write(cache, gph_write_buffer, &to, &error), error);
    }
}

static void replays_go_on_while_the_cache_changes(void)
{
    model m = {.layers = layers};
    gph_cache_options options = model_options(&m);
    options.own_max = 2;
    gph_cache *cache = make_cache(&options);
    struct replayer all[THREADS];
    pthread_t threads[THREADS];
    CUcontext context = NULL;
    if (cache == NULL)
        return;
    CU(CtxGetCurrent, &context);
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    for (uint32_t i = 0; i < THREADS; i++) {
        all[i] = (struct replayer){.cache = cache, .context = context, .seed = i + 1};
        CHECK(pthread_create(&threads[i], NULL, replay_all, &all[i]) == 0);
    }
    change_all(cache);
    long replayed = 0;
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(all[i].failures == 0);
        CHECK(all[i].replayed + all[i].refused == REPLAYS);
        replayed += all[i].replayed;
    }
    CHECK(replayed > 0);
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    for (int64_t tokens = 1; tokens <= 64; tokens += 3) {
        gph_cache_call_args args = GPH_CACHE_CALL_INIT;
        gph_tensor outputs[2] = {{0}};
        CHECK_OK(call_model(cache, tokens, &args, outputs), error);
        CHECK(args.match.key != GPH_CACHE_NONE && is_right(tokens, outputs));
    }
    gph_cache_destroy(cache);
    check_pool_is_empty();
}

struct caller {
    gph_cache *cache;
    CUcontext context;
    int64_t tokens;
    int failures;
};

/* Calls from several threads follow each other: one stream orders their work. */
static void *call_all(void *user)
{
    struct caller *self = user;
    gph_error mine = {0};
    self->failures += cu->CtxSetCurrent(self->context) != 0;
    for (int i = 0; i < 40; i++) {
        const int64_t sizes[] = {self->tokens}, shape[] = {self->tokens, WIDTH};
        const int64_t one[] = {1};
        const gph_tensor inputs[] = {
            gph_tensor_dense(device_x, GPH_DTYPE_F32, 2, shape),
            gph_tensor_dense(device_bias, GPH_DTYPE_F32, 1, one)};
        gph_tensor outputs[2] = {{0}};
        gph_cache_call_args args = GPH_CACHE_CALL_INIT;
        args.stream = stream;
        args.sizes = sizes;
        args.inputs = inputs;
        args.outputs = outputs;
        self->failures += gph_cache_call(self->cache, &args, &mine) != GPH_OK;
    }
    return NULL;
}

static void calls_of_several_threads_follow_each_other(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    options.lazy = GPH_CACHE_LAZY_CALL;
    gph_cache *cache = make_cache(&options);
    struct caller all[THREADS];
    pthread_t threads[THREADS];
    gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
    CUcontext context = NULL;
    if (cache == NULL)
        return;
    CU(CtxGetCurrent, &context);
    for (int i = 0; i < THREADS; i++) {
        all[i] = (struct caller){cache, context, 3 + 17 * i, 0};
        CHECK(pthread_create(&threads[i], NULL, call_all, &all[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(all[i].failures == 0);
    }
    CU(StreamSynchronize, stream);
    gph_cache_stats_get(cache, &stats);
    CHECK(stats.verdicts[GPH_CACHE_EXACT] + stats.verdicts[GPH_CACHE_PADDED] +
              stats.verdicts[GPH_CACHE_MISS] ==
          THREADS * 40);
    gph_cache_destroy(cache);
    check_pool_is_empty();
}

struct starter {
    gph_cache *cache;
    CUcontext context;
    gph_status status;
};

static void *start_too(void *user)
{
    struct starter *self = user;
    (void)cu->CtxSetCurrent(self->context);
    CUstream own = NULL;
    (void)cu->StreamCreate(&own, 1);
    self->status = gph_cache_start(self->cache, own, NULL, 0, NULL, NULL, NULL);
    (void)cu->StreamDestroy(own);
    return NULL;
}

static int start_in_another_thread(void *user, const gph_cache_progress *now)
{
    struct starter *starter = user;
    pthread_t thread;
    if (now->done == 1 && now->phase == GPH_PHASE_WARMUP) {
        CHECK(pthread_create(&thread, NULL, start_too, starter) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    return 0;
}

static void one_thread_captures_at_a_time(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    gph_cache *cache = make_cache(&options);
    if (cache == NULL)
        return;
    struct starter starter = {.cache = cache};
    CU(CtxGetCurrent, &starter.context);
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, start_in_another_thread, &starter,
                             &error),
             error);
    CHECK(starter.status == GPH_E_STATE);
    gph_cache_destroy(cache);
}

int main(void)
{
    if (!set_up())
        return 1;
    RUN(replays_go_on_while_the_cache_changes);
    layers = 8;
    RUN(replays_go_on_while_the_cache_changes);
    RUN(calls_of_several_threads_follow_each_other);
    RUN(one_thread_captures_at_a_time);
    tear_down();
    return test_done();
}
