// SPDX-License-Identifier: Apache-2.0
// libgph.padding-kept
//
// The function takes the last element of its input; a call of 33 is replayed in the graph for 64,
// whose last element is what an earlier call left there (GPH_FILL_KEEP). Choose a fill rule that
// leaves the result as it is (here GPH_FILL_LAST), or read the real sizes, the last input.
#include "libgph.h"

static gph_pool *pool;
static CUdeviceptr x;
static enum { BY_COPY, BY_KERNEL, BY_SIZES } way;

static gph_status last_of(void *user, gph_call *call, gph_error *why)
{
    const CUdeviceptr at = call->inputs[0].data +
                           (CUdeviceptr)(call->inputs[0].shape[0] - 1) * sizeof(float);
    CUdeviceptr out = 0;
    const gph_status status = gph_pool_alloc(call->pool, 8, call->stream, &out, why);
    (void)user;
    if (status != GPH_OK)
        return status;
    if (way == BY_COPY)
        CU(cuMemcpyDtoDAsync(out, at, sizeof(float), call->stream));
    else
        LAUNCH(copy, 1, call->stream, &out, &(CUdeviceptr){at}, &(unsigned){1});
    if (way == BY_SIZES) /* stands for a kernel that reads them */
        LAUNCH(copy, 1, call->stream, &(CUdeviceptr){out + sizeof(float)},
               &(CUdeviceptr){call->inputs[1].data}, &(unsigned){1});
    call->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_F32, 1, (int64_t[]){1});
    return GPH_OK;
}

static gph_cache_options options_of(const gph_cache_tensor *input,
                                    const gph_cache_tensor *output)
{
    static const gph_cache_axis axis = {
        .name = "tokens", .ladder = GPH_LADDER_POWERS, .first = 8, .last = 64};
    gph_arena *arena = NULL;
    if (!gph)
        open_gph();
    x = new_floats();
    must(gph_arena_create(gph, NULL, &arena, &error));
    must(gph_pool_create(arena, NULL, &pool, &error));
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    options.pool = pool;
    options.axes = &axis;
    options.inputs = input;
    options.outputs = output;
    options.axis_count = options.input_count = options.output_count = 1;
    options.function = last_of;
    return options;
}

static void serve(gph_cache *cache, const int64_t *counts, int count)
{
    must(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error));
    for (int i = 0; i < count; i++) {
        gph_tensor in = gph_tensor_dense(x, GPH_DTYPE_F32, 1, &counts[i]), out = {0};
        gph_cache_call_args call = GPH_CACHE_CALL_INIT;
        call.stream = stream;
        call.sizes = &counts[i];
        call.inputs = &in;
        call.outputs = &out;
        must(gph_cache_call(cache, &call, &error));
        (void)read_back(out.data);
    }
}

static const int64_t falling[] = {64, 33, 60};
static const gph_cache_tensor kept = {.dtype = GPH_DTYPE_F32,
                                      .rank = 1,
                                      .shape = {1},
                                      .axis = {1}},
                              one = {.dtype = GPH_DTYPE_F32, .rank = 1, .shape = {1}};

static void first(void)
{
    gph_cache *cache = NULL;
    const gph_cache_options options = options_of(&kept, &one);
    way = BY_COPY;
    must(gph_cache_create(gph, &options, &cache, &error)); // <-- first
    serve(cache, falling, 3);
}

static void second(void)
{
    static const int64_t sizes[] = {20, 60, 17, 40};
    gph_cache *cache = NULL;
    gph_cache_options options = options_of(&kept, &one);
    way = BY_KERNEL;
    options.name = "last token";
    must(gph_cache_create(gph, &options, &cache, &error)); // <-- second
    serve(cache, sizes, 4);
}

/* The real sizes are read; the rest is filled; calls only grow; a row of output for each of
 * input. */
static void near(void)
{
    static const int64_t growing[] = {33, 60, 64};
    gph_cache_tensor filled = kept;
    gph_cache *cache = NULL;
    gph_cache_options options = options_of(&kept, &one);
    way = BY_SIZES;
    must(gph_cache_create(gph, &options, &cache, &error));
    serve(cache, falling, 3);
    way = BY_KERNEL;
    filled.fill = GPH_FILL_LAST;
    options = options_of(&filled, &one);
    must(gph_cache_create(gph, &options, &cache, &error));
    serve(cache, falling, 3);
    options = options_of(&kept, &one);
    must(gph_cache_create(gph, &options, &cache, &error));
    serve(cache, growing, 3);
}

BROKEN(first, second, near)
