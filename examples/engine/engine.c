// SPDX-License-Identifier: Apache-2.0
/* How an engine adopts libgph: its forward pass becomes a function over tensors; pool,
 * buckets, padding, warm-up, capture, replay, and the way out where nothing fits are the
 * library's. The model here is a stand-in: LAYERS kernels over tokens x WIDTH floats. */
#include <gph/gph.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 64, LAYERS = 12, TOKENS_MAX = 64 };

typedef struct engine {
    gph_runtime *gph;
    const gph_cuda_calls *cu;
    CUstream stream;
    CUfunction scale_add, fill;
    gph_arena *arena; /* all device memory of the graphs */
    gph_pool *pool;
    gph_cache *cache;
    uint64_t launches; /* of kernels, by the host */
    gph_error error;
} engine;

#define TRY(call)                                                                        \
    do {                                                                                 \
        const gph_status status_ = (call);                                               \
        if (status_ != GPH_OK)                                                           \
            return status_;                                                              \
    } while (0)
#define CU(e, name, ...)                                                                 \
    TRY(gph_cuda_check((e)->cu->name(__VA_ARGS__), "cu" #name, &(e)->error))

static gph_status launch(engine *e, CUstream stream, CUfunction kernel, unsigned items,
                         void **arguments)
{
    e->launches++;
    return gph_cuda_check(e->cu->LaunchKernel(kernel, (items + 127) / 128, 1, 1, 128, 1,
                                              1, 0, stream, arguments, NULL),
                          "cuLaunchKernel", &e->error);
}

/* The engine's own forward pass: y = ((x / 2 + 1) / 2 + 1) / 2 ... What it allocates
 * comes from the call's pool; where its work goes is the call's stream. That is all it
 * has to know. */
static gph_status forward(void *user, gph_call *call, gph_error *error)
{
    engine *e = user;
    const gph_tensor *x = &call->inputs[0];
    unsigned n = (unsigned)(x->shape[0] * WIDTH);
    float one = 1, half = 0.5f;
    CUdeviceptr ones = 0, y = 0;
    TRY(gph_pool_alloc(call->pool, n * sizeof(float), call->stream, &ones, error));
    TRY(gph_pool_alloc(call->pool, n * sizeof(float), call->stream, &y, error));
    CU(e, MemcpyDtoDAsync, y, x->data, n * sizeof(float), call->stream);
    TRY(launch(e, call->stream, e->fill, n, (void *[]){&ones, &one, &n}));
    for (int layer = 0; layer < LAYERS; layer++)
        TRY(launch(e, call->stream, e->scale_add, n, (void *[]){&y, &ones, &half, &n}));
    call->outputs[0] = gph_tensor_dense(y, GPH_DTYPE_F32, 2, x->shape);
    return gph_pool_free(call->pool, ones, call->stream, error);
}

static gph_status open_device(engine *e)
{
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    TRY(gph_open(&options, &e->gph, &e->error));
    e->cu = gph_cuda(e->gph);
    CUcontext context;
    CUmodule module;
    CU(e, DevicePrimaryCtxRetain, &context, 0);
    CU(e, CtxSetCurrent, context);
    CU(e, ModuleLoad, &module, HELLO_PTX);
    CU(e, ModuleGetFunction, &e->scale_add, module, "scale_add");
    CU(e, ModuleGetFunction, &e->fill, module, "fill");
    CU(e, StreamCreate, &e->stream, 1); /* non-blocking */
    return GPH_OK;
}

/* Buckets of 1, 2, 4, ... 64 tokens; at most twice the work for padding. */
static gph_status make_graphs(engine *e)
{
    const gph_cache_axis tokens = {
        .name = "tokens", .ladder = GPH_LADDER_POWERS, .last = TOKENS_MAX};
    const gph_cache_tensor rows = {.dtype = GPH_DTYPE_F32,
                                   .rank = 2,
                                   .shape = {1, WIDTH}, /* 1 x tokens, WIDTH */
                                   .axis = {1, 0},
                                   .fill = GPH_FILL_ZERO};
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    TRY(gph_arena_create(e->gph, NULL, &e->arena, &e->error));
    TRY(gph_pool_create(e->arena, NULL, &e->pool, &e->error));
    options.pool = e->pool;
    options.axes = &tokens;
    options.inputs = options.outputs = &rows;
    options.axis_count = options.input_count = options.output_count = 1;
    options.function = forward;
    options.user = e;
    options.overshoot_max = 2;
    TRY(gph_cache_create(e->gph, &options, &e->cache, &e->error));
    return gph_cache_start(e->cache, e->stream, NULL, 0, NULL, NULL, &e->error);
}

/* One request: `count` tokens in, the first and the last value out. */
static gph_status serve(engine *e, int64_t count)
{
    static float host[2 * TOKENS_MAX * WIDTH];
    const size_t bytes = (size_t)count * WIDTH * sizeof(float);
    const int64_t shape[] = {count, WIDTH};
    CUdeviceptr x;
    for (int64_t i = 0; i < count * WIDTH; i++)
        host[i] = (float)count;
    TRY(gph_pool_alloc(e->pool, bytes, e->stream, &x, &e->error));
    CU(e, MemcpyHtoDAsync, x, host, bytes, e->stream);

    gph_tensor in = gph_tensor_dense(x, GPH_DTYPE_F32, 2, shape), out = {0};
    gph_cache_call_args call = GPH_CACHE_CALL_INIT;
    call.stream = e->stream;
    call.sizes = &count;
    call.inputs = &in;
    call.outputs = &out;
    const uint64_t before = e->launches;
    TRY(gph_cache_call(e->cache, &call, &e->error));

    CU(e, MemcpyDtoHAsync, host, out.data, bytes, e->stream);
    CU(e, StreamSynchronize, e->stream);
    TRY(gph_pool_free(e->pool, x, e->stream, &e->error));
    char why[256];
    gph_buffer text = {why, sizeof(why), 0};
    TRY(gph_cache_match_write(e->cache, &call.match, &count, gph_write_buffer, &text,
                              &e->error));
    printf("%3lld tokens: %2llu kernels launched one by one, y is %.4f to %.4f; %s\n",
           (long long)count, (unsigned long long)(e->launches - before), (double)host[0],
           (double)host[count * WIDTH - 1], why);
    return GPH_OK;
}

static gph_status run(engine *e)
{
    static const int64_t requests[] = {1, 8, 5, 64, 33, 100, 3, 64};
    TRY(open_device(e));
    TRY(make_graphs(e));
    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
        TRY(serve(e, requests[i]));
    gph_cache_stats now = GPH_SIZED(gph_cache_stats);
    gph_cache_stats_get(e->cache, &now);
    printf("%u graphs, %u executables of their own and %u shared\n", now.captured_count,
           now.own_count, now.shared_count);
    return GPH_OK;
}

int main(void)
{
    engine e = {0};
    const gph_status status = run(&e);
    if (status != GPH_OK)
        printf("engine: %s\n", e.error.message);
    gph_cache_destroy(e.cache); /* in this order; NULL is allowed */
    gph_pool_release(e.pool);
    gph_arena_destroy(e.arena);
    gph_close(e.gph);
    return status != GPH_OK;
}
