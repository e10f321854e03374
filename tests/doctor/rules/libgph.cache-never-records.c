// SPDX-License-Identifier: Apache-2.0
// libgph.cache-never-records
//
// A cache with the default options.lazy counts what it misses and captures in gph_cache_work(),
// which nobody calls: every call runs eagerly, forever. Call it between steps, capture the keys
// with gph_cache_start(), or let the calls capture (GPH_CACHE_LAZY_CALL).
#include "libgph.h"

enum { CALLS = 24, MOST = 64 };

static gph_pool *pool;
static CUdeviceptr x;

static gph_status twice(void *user, gph_call *call, gph_error *why)
{
    const unsigned count = (unsigned)call->inputs[0].shape[0];
    CUdeviceptr out = 0;
    const gph_status status =
        gph_pool_alloc(call->pool, count * sizeof(float), call->stream, &out, why);
    (void)user;
    if (status != GPH_OK)
        return status;
    LAUNCH(copy, 1, call->stream, &out, &(CUdeviceptr){call->inputs[0].data},
           &(unsigned){count});
    call->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_F32, 1, call->inputs[0].shape);
    return GPH_OK;
}

static const gph_cache_axis axis = {
    .name = "rows", .ladder = GPH_LADDER_POWERS, .first = 8, .last = MOST};
static const gph_cache_tensor rows = {
    .dtype = GPH_DTYPE_F32, .rank = 1, .shape = {1}, .axis = {1}};

static gph_cache_options options_of(uint32_t lazy)
{
    gph_arena *arena = NULL;
    open_gph();
    x = new_floats();
    must(gph_arena_create(gph, NULL, &arena, &error));
    must(gph_pool_create(arena, NULL, &pool, &error));
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    options.pool = pool;
    options.axes = &axis;
    options.inputs = options.outputs = &rows;
    options.axis_count = options.input_count = options.output_count = 1;
    options.function = twice;
    options.lazy = lazy;
    return options;
}

static void call_cache(gph_cache *cache, int64_t count)
{
    gph_tensor in = gph_tensor_dense(x, GPH_DTYPE_F32, 1, &count), out = {0};
    gph_cache_call_args call = GPH_CACHE_CALL_INIT;
    call.stream = stream;
    call.sizes = &count;
    call.inputs = &in;
    call.outputs = &out;
    must(gph_cache_call(cache, &call, &error));
    (void)read_back(out.data);
    if (call.match.key == GPH_CACHE_NONE)
        must(gph_pool_free(pool, out.data, stream, &error));
}

static void first(void)
{
    gph_cache *cache = NULL;
    const gph_cache_options options = options_of(GPH_CACHE_LAZY_WORK);
    must(gph_cache_create(gph, &options, &cache, &error)); // <-- first
    for (int i = 0; i < CALLS; i++)
        call_cache(cache, 1 + i * 7 % MOST);
    gph_cache_destroy(cache);
}

static void second(void)
{
    gph_cache *cache = NULL;
    const gph_cache_options options = options_of(GPH_CACHE_LAZY_OFF);
    must(gph_cache_create(gph, &options, &cache, &error)); // <-- second
    for (int i = 0; i < CALLS; i++)
        call_cache(cache, MOST);
}

/* One works between its steps, one captures in the calls, one is called only a few times. */
static void near(void)
{
    gph_cache *cache = NULL;
    gph_cache_options options = options_of(GPH_CACHE_LAZY_WORK);
    must(gph_cache_create(gph, &options, &cache, &error));
    for (int i = 0; i < CALLS; i++) {
        call_cache(cache, 1 + i * 7 % MOST);
        if (i > 20)
            must(gph_cache_work(cache, stream, NULL, NULL, &error));
    }
    gph_cache_destroy(cache);
    must(gph_cache_create(gph, &options, &cache, &error));
    for (int i = 0; i < 8; i++)
        call_cache(cache, MOST);
    gph_cache_destroy(cache);
    options.lazy = GPH_CACHE_LAZY_CALL;
    options.lazy_misses = 18;
    must(gph_cache_create(gph, &options, &cache, &error));
    for (int i = 0; i < CALLS; i++)
        call_cache(cache, MOST);
    gph_cache_destroy(cache);
}

BROKEN(first, second, near)
