// SPDX-License-Identifier: Apache-2.0
/* A driver, a pool, a stream and a few functions over tensors, for tests of callables: on
 * softcuda, or on a GPU where there is one. Public headers only. */
#ifndef CALLABLE_RUN_H
#define CALLABLE_RUN_H
#include "runtime.h"
#include <stdlib.h>

static gph_arena *arena;
static gph_pool *pool;
static CUstream stream, other_stream;
static CUcontext context;
static CUfunction scale_add, philox_fill;

enum { N = 256 }; /* elements of most tensors */

static inline bool open_driver(void)
{
    runtime_open(GPH_DRIVER_AUTO, NULL);
    CUmodule hello = NULL, train = NULL;
    return CU(DevicePrimaryCtxRetain, &context, 0) && CU(CtxSetCurrent, context) &&
           CU(ModuleLoad, &hello, HELLO_PTX) && CU(ModuleLoad, &train, TRAIN_PTX) &&
           CU(ModuleGetFunction, &scale_add, hello, "scale_add") &&
           CU(ModuleGetFunction, &philox_fill, train, "philox_fill") &&
           CU(StreamCreate, &stream, 1) && CU(StreamCreate, &other_stream, 1);
}

static inline bool set_up(void)
{
    return open_driver() &&
           CHECK_OK(gph_arena_create(runtime, NULL, &arena, &error), error) &&
           CHECK_OK(gph_pool_create(arena, NULL, &pool, &error), error);
}

/* Everything is given back: the pool is empty but for us. */
static inline int tear_down(void)
{
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(pool, &stats);
    if (stats.allocation_count != 0 || stats.recording_count != 0 || stats.users != 1) {
        fprintf(stderr, "left over: %u allocations, %u recordings, %u users\n",
                stats.allocation_count, stats.recording_count, stats.users);
        test_failed++;
    }
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    (void)cu->StreamDestroy(stream);
    (void)cu->StreamDestroy(other_stream);
    (void)cu->DevicePrimaryCtxRelease(0);
    gph_close(runtime);
    return test_done();
}

/* Device memory of the caller's, filled with value, value + 1, ... */
static inline CUdeviceptr new_floats(float value)
{
    CUdeviceptr at = 0;
    float host[N];
    for (int i = 0; i < N; i++)
        host[i] = value + (float)i;
    CU(MemAlloc, &at, sizeof(host));
    CU(MemcpyHtoDAsync, at, host, sizeof(host), stream);
    CU(StreamSynchronize, stream);
    return at;
}

static inline float first_float(CUdeviceptr at)
{
    float host = -1;
    CU(MemcpyDtoHAsync, &host, at, sizeof(host), stream);
    CU(StreamSynchronize, stream);
    return host;
}

static inline gph_tensor floats(CUdeviceptr at)
{
    return gph_tensor_dense(at, GPH_DTYPE_F32, 1, (int64_t[]){N});
}

/* y = y * scale + x */
static inline gph_status put_scale_add(CUdeviceptr y, CUdeviceptr x, float scale,
                                       CUstream where, gph_error *out)
{
    unsigned n = N;
    void *params[] = {&y, &x, &scale, &n};
    return gph_cuda_check(cu->LaunchKernel(scale_add, (N + 127) / 128, 1, 1, 128, 1, 1, 0,
                                           where, params, NULL),
                          "cuLaunchKernel", out);
}

static inline gph_status put_copy(CUdeviceptr to, CUdeviceptr from, CUstream where,
                                  gph_error *out)
{
    return gph_cuda_check(cu->MemcpyDtoDAsync(to, from, N * sizeof(float), where),
                          "cuMemcpyDtoDAsync", out);
}

/* outputs[0] = 2 inputs[0] + inputs[1], through a temporary. `user`: counts the calls, an
 * int for each phase, or NULL. */
static inline gph_status twice_plus(void *user, gph_call *call, gph_error *out)
{
    CUdeviceptr sum = 0, spare = 0;
    if (user != NULL)
        ((int *)user)[call->phase]++;
    gph_status status = GPH_OK;
    if (call->outputs[0].data == 0) {
        status = gph_pool_alloc(call->pool, N * sizeof(float), call->stream, &sum, out);
        call->outputs[0] = floats(sum);
    }
    if (status == GPH_OK)
        status = gph_pool_alloc(call->pool, N * sizeof(float), call->stream, &spare, out);
    if (status == GPH_OK)
        status = put_copy(spare, call->inputs[0].data, call->stream, out);
    if (status == GPH_OK)
        status = put_scale_add(spare, call->inputs[1].data, 2, call->stream, out);
    if (status == GPH_OK)
        status = put_copy(call->outputs[0].data, spare, call->stream, out);
    if (spare != 0)
        gph_pool_free(call->pool, spare, call->stream, NULL);
    if (status != GPH_OK && sum != 0)
        gph_pool_free(call->pool, sum, call->stream, NULL);
    return status;
}

static inline gph_callable_options options_for(gph_function_fn *function,
                                               const gph_tensor *inputs, uint32_t count,
                                               uint32_t output_count)
{
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    options.function = function;
    options.sample.inputs = inputs;
    options.sample.input_count = count;
    options.output_count = output_count;
    options.pool = pool;
    options.stream = stream;
    return options;
}

static inline gph_arguments args(const gph_tensor *inputs, uint32_t count)
{
    return (gph_arguments){.inputs = inputs, .input_count = count};
}
#endif
