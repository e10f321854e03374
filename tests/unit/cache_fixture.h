// SPDX-License-Identifier: Apache-2.0
/* A driver, a pool, and a small model whose results are known for every size:
 *
 *   t = 2 x + 1          a temporary, [tokens, 4]
 *   y = 3 t + bias[0]    output 0, [tokens, 4]
 *   s = sum of y         output 1, a scalar; over the real tokens alone */
#ifndef CACHE_FIXTURE_H
#define CACHE_FIXTURE_H
#include "runtime.h"
#include <stdlib.h>

static const char fixture_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    /* y[i] = a x[i] + b[0], b may be 0: 1.0 */
    ".visible .entry line(.param .u64 py, .param .u64 px, .param .u64 pb, .param .f32 pa,"
    " .param .u32 pn)\n"
    "{\n"
    ".reg .pred %p<3>;\n.reg .f32 %f<5>;\n.reg .b32 %r<6>;\n.reg .b64 %d<8>;\n"
    "ld.param.u64 %d1, [py];\nld.param.u64 %d2, [px];\nld.param.u64 %d6, [pb];\n"
    "ld.param.f32 %f1, [pa];\nld.param.u32 %r1, [pn];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
    "mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "setp.ge.u32 %p1, %r5, %r1;\n@%p1 bra DONE;\n"
    "mov.f32 %f4, 0f3F800000;\n"
    "setp.eq.u64 %p2, %d6, 0;\n@%p2 bra NONE;\n"
    "ld.global.f32 %f4, [%d6];\n"
    "NONE:\n"
    "mul.wide.u32 %d3, %r5, 4;\nadd.u64 %d4, %d1, %d3;\nadd.u64 %d5, %d2, %d3;\n"
    "ld.global.f32 %f2, [%d5];\nfma.rn.f32 %f3, %f2, %f1, %f4;\n"
    "st.global.f32 [%d4], %f3;\n"
    "DONE:\nret;\n}\n"
    /* s[0] = sum of y[0 .. 4 sizes[0]) */
    ".visible .entry total(.param .u64 ps, .param .u64 py, .param .u64 pz)\n"
    "{\n"
    ".reg .pred %p<2>;\n.reg .f32 %f<3>;\n.reg .b64 %d<8>;\n"
    "ld.param.u64 %d1, [ps];\nld.param.u64 %d2, [py];\nld.param.u64 %d3, [pz];\n"
    "ld.global.u64 %d4, [%d3];\nshl.b64 %d4, %d4, 4;\nadd.u64 %d5, %d2, %d4;\n"
    "mov.f32 %f1, 0f00000000;\n"
    "LOOP:\nsetp.ge.u64 %p1, %d2, %d5;\n@%p1 bra DONE;\n"
    "ld.global.f32 %f2, [%d2];\nadd.f32 %f1, %f1, %f2;\nadd.u64 %d2, %d2, 4;\n"
    "bra LOOP;\n"
    "DONE:\nst.global.f32 [%d1], %f1;\nret;\n}\n"
    ".visible .entry other(.param .u64 p)\n{\nret;\n}\n";

enum { WIDTH = 4, TOKENS_MAX = 1024 };

static CUfunction kernel_line, kernel_total, kernel_other;
static CUstream stream;
static gph_arena *arena;
static gph_pool *pool;
static CUdeviceptr device_x, device_bias, device_y, device_s;

/* What the model is given beside its inputs. */
typedef struct model {
    int64_t fail_at;       /* tokens at which it refuses; 0: none */
    int64_t sync_at;       /* tokens at which it does what no capture allows */
    int64_t short_at;      /* tokens at which output 0 is too short */
    int64_t longer_at;     /* tokens from which its graph has one node more */
    int64_t other_at;      /* tokens at which it launches a kernel that no others do */
    uint32_t calls[4];     /* by gph_phase */
    int64_t order[256];    /* tokens of warm-ups and captures, in their order */
    uint32_t order_count;  /* of `order` */
    uint32_t layers;       /* of 2 kernels each; 0: 1 */
    uint64_t workspace_at; /* bytes a token of a workspace that it keeps; 0: none */
    uint64_t workspace_bytes;
    CUdeviceptr workspace;
} model;

static gph_status launch_line(const gph_call *call, CUdeviceptr y, CUdeviceptr x,
                              CUdeviceptr bias, float factor, unsigned count)
{
    void *params[] = {&y, &x, &bias, &factor, &count};
    return cu->LaunchKernel(kernel_line, (count + 127) / 128, 1, 1, 128, 1, 1, 0,
                            call->stream, params, NULL);
}

/* t = 2 x + 1; y = 3 t + bias[0], through a temporary. */
static gph_status run_layer(const gph_call *call, CUdeviceptr y, CUdeviceptr x,
                            unsigned count, gph_error *why)
{
    CUdeviceptr t = 0;
    gph_status status = gph_pool_alloc(call->pool, count * 4, call->stream, &t, why);
    if (status != GPH_OK)
        return status;
    status = launch_line(call, t, x, 0, 2, count);
    if (status == GPH_OK)
        status = launch_line(call, y, t, call->inputs[1].data, 3, count);
    const gph_status freed = gph_pool_free(call->pool, t, call->stream, why);
    return status != GPH_OK ? gph_cuda_check(status, "cuLaunchKernel", why) : freed;
}

/* A workspace that grows and is kept, as libraries do it: rather more for few tokens. */
static gph_status grow_workspace(model *m, const gph_call *call, gph_error *why)
{
    const uint64_t bytes = m->workspace_at * (uint64_t)(TOKENS_MAX - call->key[0]);
    if (bytes <= m->workspace_bytes)
        return GPH_OK;
    gph_status status = GPH_OK;
    if (m->workspace != 0)
        status = gph_pool_free(call->pool, m->workspace, call->stream, why);
    m->workspace = 0;
    m->workspace_bytes = 0;
    if (status == GPH_OK)
        status = gph_pool_alloc(call->pool, bytes, call->stream, &m->workspace, why);
    if (status == GPH_OK)
        m->workspace_bytes = bytes;
    return status;
}

static gph_status run_model(void *user, gph_call *call, gph_error *why)
{
    model *m = user;
    const int64_t tokens = call->key[0];
    const unsigned count = (unsigned)tokens * WIDTH;
    CUdeviceptr y = 0, s = 0;
    m->calls[call->phase]++;
    if (call->phase != GPH_PHASE_EAGER && m->order_count < 256)
        m->order[m->order_count++] = tokens;
    if (tokens == m->fail_at) {
        if (why != NULL) {
            *why = (gph_error){.code = GPH_E_UNSUPPORTED};
            snprintf(why->message, sizeof(why->message), "no model for %lld tokens",
                     (long long)tokens);
        }
        return GPH_E_UNSUPPORTED;
    }
    if (tokens == m->sync_at)
        (void)cu->StreamSynchronize(call->stream);
    gph_status status = grow_workspace(m, call, why);
    if (status == GPH_OK)
        status = gph_pool_alloc(call->pool, count * 4, call->stream, &y, why);
    if (status == GPH_OK)
        status = gph_pool_alloc(call->pool, 4, call->stream, &s, why);
    if (status == GPH_OK)
        status = run_layer(call, y, call->inputs[0].data, count, why);
    for (uint32_t i = 1; i < m->layers && status == GPH_OK; i++)
        status = run_layer(call, y, call->inputs[0].data, count, why);
    if (status == GPH_OK && m->longer_at > 0 && tokens >= m->longer_at)
        status = cu->MemsetD32Async(s, 7, 1, call->stream);
    if (status == GPH_OK && tokens == m->other_at) {
        void *params[] = {&s};
        status = cu->LaunchKernel(kernel_other, 1, 1, 1, 1, 1, 1, 0, call->stream, params,
                                  NULL);
    }
    if (status == GPH_OK) {
        CUdeviceptr sizes = call->inputs[call->input_count - 1].data;
        void *params[] = {&s, &y, &sizes};
        status = gph_cuda_check(cu->LaunchKernel(kernel_total, 1, 1, 1, 1, 1, 1, 0,
                                                 call->stream, params, NULL),
                                "cuLaunchKernel", why);
    }
    if (status != GPH_OK) {
        if (y != 0)
            (void)gph_pool_free(call->pool, y, call->stream, NULL);
        if (s != 0)
            (void)gph_pool_free(call->pool, s, call->stream, NULL);
        return status;
    }
    const int64_t shape[] = {tokens == m->short_at ? tokens - 1 : tokens, WIDTH};
    call->outputs[0] = gph_tensor_dense(y, GPH_DTYPE_F32, 2, shape);
    call->outputs[1] = gph_tensor_dense(s, GPH_DTYPE_F32, 0, NULL);
    return GPH_OK;
}

static const gph_cache_tensor model_inputs[] = {
    {.dtype = GPH_DTYPE_F32,
     .rank = 2,
     .shape = {1, WIDTH},
     .axis = {1},
     .fill = GPH_FILL_ZERO},
    {.dtype = GPH_DTYPE_F32, .rank = 1, .shape = {1}},
};
static const gph_cache_tensor model_outputs[] = {
    {.dtype = GPH_DTYPE_F32, .rank = 2, .shape = {1, WIDTH}, .axis = {1}},
    {.dtype = GPH_DTYPE_F32},
};
static gph_cache_axis tokens_axis = {
    .name = "tokens", .ladder = GPH_LADDER_POWERS, .last = 64};

static gph_cache_options model_options(model *m)
{
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    options.name = "model";
    options.pool = pool;
    options.axes = &tokens_axis;
    options.axis_count = 1;
    options.inputs = model_inputs;
    options.input_count = 2;
    options.outputs = model_outputs;
    options.output_count = 2;
    options.function = run_model;
    options.user = m;
    return options;
}

/* The caller's tensors: x[i] = i, bias 0.5. */
static inline gph_status call_model(gph_cache *cache, int64_t tokens,
                                    gph_cache_call_args *args, gph_tensor outputs[2])
{
    const int64_t shape[] = {tokens, WIDTH}, one[] = {1};
    const gph_tensor inputs[] = {gph_tensor_dense(device_x, GPH_DTYPE_F32, 2, shape),
                                 gph_tensor_dense(device_bias, GPH_DTYPE_F32, 1, one)};
    args->size = sizeof(*args);
    args->stream = stream;
    args->sizes = &tokens;
    args->inputs = inputs;
    args->outputs = outputs;
    const gph_status status = gph_cache_call(cache, args, &error);
    args->sizes = NULL;
    args->inputs = NULL;
    return status;
}

/* Whether the results are those of `tokens` tokens. */
static inline bool is_right(int64_t tokens, const gph_tensor outputs[2])
{
    static float y[TOKENS_MAX * WIDTH];
    float s = -1, want_s = 0;
    const size_t count = (size_t)tokens * WIDTH;
    bool right = outputs[0].rank == 2 && outputs[0].shape[0] == tokens;
    if (!CU(MemcpyDtoHAsync, y, outputs[0].data, count * 4, stream) ||
        !CU(MemcpyDtoHAsync, &s, outputs[1].data, 4, stream) ||
        !CU(StreamSynchronize, stream))
        return false;
    for (size_t i = 0; i < count; i++) {
        const float want = 3 * (2 * (float)i + 1) + 0.5f;
        right = right && y[i] == want;
        want_s += want;
    }
    return right && s > want_s * 0.9999f && s < want_s * 1.0001f;
}

static inline gph_cache *make_cache(const gph_cache_options *options)
{
    gph_cache *cache = NULL;
    CHECK_OK(gph_cache_create(runtime, options, &cache, &error), error);
    return cache;
}

/* Work ends before its memory is somebody else's. */
static inline void end_cache(gph_cache *cache)
{
    CU(StreamSynchronize, stream);
    gph_cache_destroy(cache);
}

/* Nothing of a cache that is gone is left in the pool. */
static inline void check_pool_is_empty(void)
{
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(pool, &stats);
    CHECK(stats.allocation_count == 0 && stats.recording_count == 0);
}

static bool make_memory(void)
{
    static float host[TOKENS_MAX * WIDTH];
    const float bias = 0.5f;
    for (int i = 0; i < TOKENS_MAX * WIDTH; i++)
        host[i] = (float)i;
    return CHECK_OK(gph_arena_create(runtime, NULL, &arena, &error), error) &&
           CHECK_OK(gph_pool_create(arena, NULL, &pool, &error), error) &&
           CU(MemAlloc, &device_x, sizeof(host)) && CU(MemAlloc, &device_bias, 4) &&
           CU(MemAlloc, &device_y, sizeof(host)) && CU(MemAlloc, &device_s, 4) &&
           CU(MemcpyHtoD, device_x, host, sizeof(host)) &&
           CU(MemcpyHtoD, device_bias, &bias, 4);
}

/* On a runtime that is open: context, kernels, memory. */
static bool use_runtime(void)
{
    CUcontext context = NULL;
    CUmodule module = NULL;
    cu = gph_cuda(runtime);
    return CU(DevicePrimaryCtxRetain, &context, 0) && CU(CtxSetCurrent, context) &&
           CU(ModuleLoadData, &module, fixture_ptx) &&
           CU(ModuleGetFunction, &kernel_line, module, "line") &&
           CU(ModuleGetFunction, &kernel_total, module, "total") &&
           CU(ModuleGetFunction, &kernel_other, module, "other") &&
           CU(StreamCreate, &stream, 1) && make_memory();
}

#ifndef FIXTURE_WITHOUT_SET_UP
static bool set_up(void)
{
    runtime_open(GPH_DRIVER_AUTO, NULL);
    return use_runtime();
}

static void tear_down(void)
{
    check_pool_is_empty();
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    gph_close(runtime);
}
#endif
#endif
