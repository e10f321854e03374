// SPDX-License-Identifier: Apache-2.0
// cache.padding-waste
//
// Sizes are rounded up to the bucket of a captured graph, and the buckets of this cache
// lie far above the sizes that come: much of the replayed work is padding. Choose buckets
// from the sizes that really come (gph plan --ladder), or let sizes that are far below
// their bucket run without a graph (overshoot_max). A cache of libgph reports this itself.
#include "broken.h"

#include <gph/gph.h>

enum { WIDTH = 4, CALLS = 60, KERNELS = 5 };

static gph_error error;

static void must(gph_status status)
{
    if (status != GPH_OK)
        printf("libgph: %s\n", error.message);
    EXPECT(status == GPH_OK);
}

/* out = in and some times more, [tokens, WIDTH] */
static gph_status model(void *user, gph_call *call, gph_error *why)
{
    const int64_t shape[] = {call->key[0], WIDTH};
    CUdeviceptr out = 0, in = call->inputs[0].data;
    unsigned n = (unsigned)call->key[0] * WIDTH;
    float k = 2;
    void *copied[] = {&out, &in, &n}, *added[] = {&out, &in, &k, &n};
    (void)user;
    gph_status status = gph_pool_alloc(call->pool, n * 4, call->stream, &out, why);
    for (int i = 0; i < KERNELS && status == GPH_OK; i++)
        status = gph_cuda_check((gph_status)cuLaunchKernel(
                                    i == 0 ? copy : scale_add, (n + 127) / 128, 1, 1, 128,
                                    1, 1, 0, call->stream, i == 0 ? copied : added, NULL),
                                "cuLaunchKernel", why);
    if (status == GPH_OK)
        call->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_F32, 2, shape);
    return status;
}

static const gph_cache_tensor tensors[] = {{.dtype = GPH_DTYPE_F32,
                                            .rank = 2,
                                            .shape = {1, WIDTH},
                                            .axis = {1},
                                            .fill = GPH_FILL_ZERO}};

/* Calls with `sizes` in turn, in a cache with the buckets of `axis`. */
static void serve(const gph_cache_axis *axis, const int64_t *sizes, int count)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats();
    gph_runtime *gph = NULL;
    gph_arena *arena = NULL;
    gph_pool *pool = NULL;
    gph_cache *cache = NULL;
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    must(gph_open(NULL, &gph, &error));
    must(gph_arena_create(gph, NULL, &arena, &error));
    must(gph_pool_create(arena, NULL, &pool, &error));
    options.name = "decode";
    options.pool = pool;
    options.axes = axis;
    options.axis_count = 1;
    options.inputs = options.outputs = tensors;
    options.input_count = options.output_count = 1;
    options.function = model;
    must(gph_cache_create(gph, &options, &cache, &error));
    must(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error));
    for (int i = 0; i < CALLS; i++) {
        const int64_t shape[] = {sizes[i % count], WIDTH};
        const gph_tensor input = gph_tensor_dense(in, GPH_DTYPE_F32, 2, shape);
        gph_tensor output = {0};
        gph_cache_call_args args = GPH_CACHE_CALL_INIT;
        args.stream = stream;
        args.sizes = shape;
        args.inputs = &input;
        args.outputs = &output;
        must(gph_cache_call(cache, &args, &error)); /* <-- first and second */
    }
    CU(cuStreamSynchronize(stream));
    gph_cache_destroy(cache);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    gph_close(gph);
}

/* Powers of two are fine buckets, but every size lies just above one. */
static void first(void)
{
    static const int64_t sizes[] = {5, 9, 17, 33};
    const gph_cache_axis axis = {
        .name = "tokens", .ladder = GPH_LADDER_POWERS, .last = 64};
    serve(&axis, sizes, 4);
}

/* One bucket for all, as large as the largest could be; in a thread. */
static void serve_small(void *user)
{
    static const int64_t values[] = {200}, sizes[] = {3, 40, 90};
    const gph_cache_axis axis = {
        .name = "tokens", .ladder = GPH_LADDER_LIST, .values = values, .value_count = 1};
    (void)user;
    serve(&axis, sizes, 3);
}

static void second(void)
{
    in_thread(serve_small, NULL);
}

/* The same powers of two, with sizes that fill them well. */
static void near(void)
{
    static const int64_t sizes[] = {64, 61, 32, 30, 15, 8, 1};
    const gph_cache_axis axis = {
        .name = "tokens", .ladder = GPH_LADDER_POWERS, .last = 64};
    serve(&axis, sizes, 7);
}

BROKEN(first, second, near)
