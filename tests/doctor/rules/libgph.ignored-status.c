// SPDX-License-Identifier: Apache-2.0
// libgph.ignored-status
//
// A function of libgph refuses what it cannot do, and changes nothing. Here a callable gets a
// shape that it was not recorded for, and the result of the call before is taken for its own;
// and a pool is asked for memory in a capture that is not bound to it, so that a kernel gets no
// address. Look at the status, and at the message of gph_error.
// also: launch.fault
#include "libgph.h"

static gph_arena *arena;
static gph_pool *pool;

static void open_pool(void)
{
    open_gph();
    must(gph_arena_create(gph, NULL, &arena, &error));
    must(gph_pool_create(arena, NULL, &pool, &error));
}

/* out = in */
static gph_status part(void *user, gph_call *call, gph_error *why)
{
    const int64_t shape[] = {call->inputs[0].shape[0]};
    CUdeviceptr out = 0, in = call->inputs[0].data;
    unsigned n = (unsigned)shape[0];
    (void)user;
    gph_status status =
        gph_pool_alloc(call->pool, n * sizeof(float), call->stream, &out, why);
    if (status != GPH_OK)
        return status;
    call->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_F32, 1, shape);
    return gph_cuda_check(
        (gph_status)LAUNCH(copy, FLOATS / 128, call->stream, &out, &in, &n),
        "cuLaunchKernel", why);
}

static gph_callable *record(gph_tensor in)
{
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    gph_callable *callable = NULL;
    options.function = part;
    options.sample = (gph_arguments){.inputs = &in, .input_count = 1};
    options.pool = pool;
    options.stream = stream;
    options.output_count = 1;
    must(gph_callable_create(gph, &options, &callable, &error));
    return callable;
}

/* What is refused is recorded again. */
static void batches(void)
{
    const CUdeviceptr x = new_floats();
    gph_callable *callable = NULL;
    gph_tensor out = {.data = 0};
    open_pool();
    for (int64_t n = 64; n <= 256; n *= 2) {
        const gph_tensor in = gph_tensor_dense(x, GPH_DTYPE_F32, 1, &n);
        const gph_arguments arguments = {.inputs = &in, .input_count = 1};
        FILL(stream, x, (float)n);
        if (!callable)
            callable = record(in);
        gph_status status = gph_callable_call(callable, &arguments, stream, &out, NULL);
        if (status != GPH_OK) {
            callable = record(in);
            must(gph_callable_call(callable, &arguments, stream, &out, &error));
        }
        printf("%g\n", (double)read_back(out.data));
    }
}

static void first(void)
{
    const CUdeviceptr x = new_floats();
    gph_callable *callable = NULL;
    gph_tensor out = {.data = 0};
    open_pool();
    for (int64_t n = 64; n <= 128; n *= 2) {
        const gph_tensor in = gph_tensor_dense(x, GPH_DTYPE_F32, 1, &n);
        const gph_arguments arguments = {.inputs = &in, .input_count = 1};
        if (!callable)
            callable = record(in);
        (void)!gph_callable_call(callable, &arguments, stream, &out, NULL); // <-- first
        printf("%g\n", (double)read_back(out.data));
    }
}

/* A pool that the capture does not know. */
static void second(void)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    CUdeviceptr out = 0;
    open_pool();
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    (void)!gph_pool_alloc(pool, FLOATS * sizeof(float), stream, &out, NULL); // <-- second
    FILL(stream, out, 1);
    must(gph_exec_launch(end_exec(capture, &graph), stream, &error));
    (void)cuStreamSynchronize(stream);
}

/* Refused, and done in another way. */
static void near(void)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    CUdeviceptr out = 0;
    batches();
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    if (gph_pool_alloc(pool, FLOATS * sizeof(float), stream, &out, NULL) != GPH_OK)
        CU(cuMemAllocAsync(&out, FLOATS * sizeof(float), stream));
    FILL(stream, out, 1);
    CU(cuMemFreeAsync(out, stream));
    must(gph_exec_launch(end_exec(capture, &graph), stream, &error));
    CU(cuStreamSynchronize(stream));
}

BROKEN(first, second, near)
