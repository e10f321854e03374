// SPDX-License-Identifier: Apache-2.0
/* A cache of one axis over a function that hashes its input word by word. */
#include "soak/soak_cache.h"
#include <stdio.h>
#include <string.h>

enum { SIZE_MAX_ASKED = 80, LADDER_LAST = 64, ROW = 8 };

static const uint64_t SALT = UINT64_C(0x5eed);

static uint64_t mix(uint64_t a, uint64_t b)
{
    const uint64_t x =
        (a ^ (b + UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ (x >> 29);
}

size_t soak_cache_bytes(void)
{
    return (size_t)SIZE_MAX_ASKED * ROW * sizeof(uint64_t);
}

static gph_status hash_input(void *user, gph_call *call, gph_error *error)
{
    const soak_ground *ground = user;
    const gph_cuda_calls *cu = gph_cuda(call->runtime);
    const gph_tensor *in = &call->inputs[0];
    CUdeviceptr to = 0, from = in->data;
    uint64_t salt = SALT;
    uint32_t words = (uint32_t)in->shape[0] * ROW;
    gph_status status =
        gph_pool_alloc(call->pool, words * sizeof(uint64_t), call->stream, &to, error);
    if (status != GPH_OK)
        return status;
    void *arguments[] = {&to, &from, &salt, &words};
    status = gph_cuda_check(cu->LaunchKernel(ground->hash_each, (words + 63) / 64, 1, 1,
                                             64, 1, 1, 0, call->stream, arguments, NULL),
                            "cuLaunchKernel", error);
    if (status != GPH_OK) {
        (void)gph_pool_free(call->pool, to, call->stream, NULL);
        return status;
    }
    call->outputs[0] =
        gph_tensor_dense(to, GPH_DTYPE_U64, 2, (const int64_t[]){in->shape[0], ROW});
    return GPH_OK;
}

static gph_status make_cache(const soak_ground *ground, gph_pool *pool, uint64_t seed,
                             gph_cache **out, gph_error *error)
{
    const gph_cache_axis axis = {
        .name = "rows", .ladder = GPH_LADDER_POWERS, .first = 1, .last = LADDER_LAST};
    const gph_cache_tensor tensor = {
        .dtype = GPH_DTYPE_U64, .rank = 2, .shape = {1, ROW}, .axis = {1, 0}};
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    options.pool = pool;
    options.axes = &axis;
    options.axis_count = 1;
    options.inputs = options.outputs = &tensor;
    options.input_count = options.output_count = 1;
    options.function = hash_input;
    options.user = (void *)(uintptr_t)ground;
    options.lazy = seed % 2 != 0 ? GPH_CACHE_LAZY_CALL : GPH_CACHE_LAZY_WORK;
    options.lazy_misses = 1 + (uint32_t)(seed % 3);
    options.own_max = 1 + (uint32_t)(seed % 4);
    return gph_cache_create(ground->runtime, &options, out, error);
}

/* Whether the result is what the function makes of the input. */
static int is_right(const soak_ground *ground, const uint64_t *in, int64_t rows)
{
    static uint64_t got[SIZE_MAX_ASKED * ROW];
    const size_t words = (size_t)rows * ROW;
    if (ground->read(got, ground->out, words * sizeof(*got)) != GPH_OK)
        return 0;
    for (size_t i = 0; i < words; i++)
        if (got[i] != mix(SALT, in[i]))
            return 0;
    return 1;
}

static uint32_t call_cache(const soak_ground *ground, gph_cache *cache, uint64_t draw,
                           uint64_t counts[5])
{
    static uint64_t in[SIZE_MAX_ASKED * ROW];
    const int64_t rows = 1 + (int64_t)(draw % SIZE_MAX_ASKED);
    const size_t words = (size_t)rows * ROW;
    gph_error error = {0};
    for (size_t i = 0; i < words; i++)
        in[i] = mix(draw, i);
    if (ground->write(ground->in, in, words * sizeof(*in)) != GPH_OK)
        return 1;
    const gph_tensor input =
        gph_tensor_dense(ground->in, GPH_DTYPE_U64, 2, (const int64_t[]){rows, ROW});
    gph_tensor output = {.data = ground->out};
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    args.stream = ground->stream;
    args.sizes = &rows;
    args.inputs = &input;
    args.outputs = &output;
    const int may_fail = draw / 1024 % 24 == 0;
    if (may_fail)
        ground->arm((uint32_t)(draw / 4096 % 60));
    gph_status status = gph_cache_call(cache, &args, &error);
    const int has_failed = ground->disarm();
    if (status != GPH_OK && may_fail && has_failed)
        status = gph_cache_call(cache, &args, &error);
    if (status != GPH_OK || !is_right(ground, in, rows)) {
        fprintf(stderr, "a cache, %lld rows: %s\n", (long long)rows,
                status != GPH_OK ? error.message : "the result is wrong");
        return 1;
    }
    counts[args.match.verdict]++;
    return 0;
}

uint32_t soak_cache_run(const soak_ground *ground, uint64_t seed, uint32_t calls,
                        uint64_t counts[5])
{
    gph_error error = {0};
    gph_pool *pool = NULL;
    gph_cache *cache = NULL;
    uint32_t wrong = 0;
    gph_status status = gph_pool_create(ground->arena, NULL, &pool, &error);
    if (status == GPH_OK)
        status = make_cache(ground, pool, seed, &cache, &error);
    uint64_t draw = mix(seed, 1);
    for (uint32_t i = 0; i < calls && status == GPH_OK && wrong == 0; i++) {
        draw = mix(draw, i);
        if (draw / 7 % 5 == 0)
            status = gph_cache_work(cache, ground->stream, NULL, NULL, &error);
        else if (draw / 7 % 37 == 1) /* refused where it is not captured */
            (void)gph_cache_evict(cache, (uint32_t)(draw / 512 % 7), NULL);
        else
            wrong += call_cache(ground, cache, draw, counts);
    }
    if (status != GPH_OK) {
        fprintf(stderr, "a cache: %s\n", error.message);
        wrong++;
    }
    gph_cache_destroy(cache);
    gph_pool_release(pool);
    return wrong;
}
