// SPDX-License-Identifier: Apache-2.0
/* Callables, a list of them and a generator on softcuda, while each call of the driver
 * and each allocation fails in turn: stream, pool, generator and memory come back.
 *
 *   libgph ── shim (counts what it gave out, fails the n-th call) ── softcuda */
#include "base/fail.h"
#include "cuda/runtime.h"
#include "fault.h"
#include "replay/copy.h"
#include "shim.h"
#include "test.h"
#include <gph/callable.h>

static struct {
    atomic_int graphs, execs, events, streams, modules, memory;
} live;

static atomic_int seen_copies; /* but those of a batch */
static int
    lacks_below; /* the batched copy is there in this version of CUDA, and older ones */
static int old_batches;

static const struct shim_rule rules[] = {
    SHIM_CALL(cuCtxGetCurrent),
    SHIM_CALL(cuCtxGetDevice),
    SHIM_CALL(cuPointerGetAttributes),
    SHIM_CALL(cuFuncLoad),
    SHIM_CALL(cuModuleGetFunction),
    SHIM_CALL(cuMemCreate),
    SHIM_CALL(cuMemAddressReserve),
    SHIM_CALL(cuMemMap),
    SHIM_CALL(cuMemSetAccess),
    SHIM_CALL(cuStreamIsCapturing),
    SHIM_CALL(cuStreamBeginCapture),
    SHIM_CALL(cuStreamGetCaptureInfo),
    SHIM_CALL(cuStreamSynchronize),
    SHIM_CALL(cuLaunchKernel),
    SHIM_CALL(cuMemsetD8Async),
    SHIM_CALL(cuMemsetD32Async),
    SHIM_CALL(cuGraphLaunch),
    SHIM_CALL(cuGraphDestroyNode),
    SHIM_CALL(cuGraphKernelNodeSetParams),
    SHIM_CALL(cuGraphExecKernelNodeSetParams),
    SHIM_GIVE(cuModuleLoadData, live.modules, 1),
    SHIM_GIVE(cuModuleUnload, live.modules, -1),
    SHIM_GIVE(cuMemAlloc, live.memory, 1),
    SHIM_GIVE(cuMemFree, live.memory, -1),
    SHIM_GIVE(cuStreamCreate, live.streams, 1),
    SHIM_GIVE(cuStreamDestroy, live.streams, -1),
    SHIM_GIVE(cuEventCreate, live.events, 1),
    SHIM_GIVE(cuEventDestroy, live.events, -1),
    SHIM_GIVE(cuStreamEndCapture, live.graphs, 1),
    SHIM_GIVE(cuGraphDestroy, live.graphs, -1),
    SHIM_GIVE(cuGraphInstantiateWithParams, live.execs, 1),
    SHIM_GIVE(cuGraphExecDestroy, live.execs, -1),
    SHIM_GIVE(cuMemcpyAsync, seen_copies, 1),
    SHIM_GIVE(cuMemcpyDtoDAsync, seen_copies, 1),
    SHIM_CALL(cuMemcpyBatchAsync),
    SHIM_END,
};

/* As drivers of CUDA 12.8 have it. */
static CUresult old_batch(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
                          CUmemcpyAttributes *attributes, size_t *first,
                          size_t attribute_count, size_t *failed, CUstream s)
{
    old_batches++;
    *failed = SIZE_MAX;
    return below.cuMemcpyBatchAsync(to, from, bytes, count, attributes, first,
                                    attribute_count, s);
}

static bool find_old(const char *name, int version, gph_cuda_fn *out)
{
    if (lacks_below == 0 || strcmp(name, "cuMemcpyBatchAsync") != 0)
        return false;
    *out = version > lacks_below ? NULL : (gph_cuda_fn)old_batch;
    return true;
}

static CUstream stream;
static CUdeviceptr words;

enum { BYTES = 1024 };

static gph_tensor bytes_at(CUdeviceptr at)
{
    return gph_tensor_dense(at, GPH_DTYPE_U8, 1, (int64_t[]){BYTES});
}

/* outputs[0] = inputs[0]; outputs[1] = zeros. Takes numbers; a temporary. */
static gph_status copy_and_clear(void *user, gph_call *call, gph_error *error)
{
    (void)user;
    const gph_cuda_calls *cu = gph_cuda(call->runtime);
    CUdeviceptr at[3] = {0};
    gph_status status = GPH_OK;
    for (int i = 0; i < 3 && status == GPH_OK; i++)
        status = gph_pool_alloc(call->pool, BYTES, call->stream, &at[i], error);
    if (status == GPH_OK)
        status = gph_cuda_check(
            cu->MemcpyDtoDAsync(at[0], call->inputs[0].data, BYTES, call->stream),
            "cuMemcpyDtoDAsync", error);
    if (status == GPH_OK)
        status = gph_cuda_check(cu->MemsetD8Async(at[1], 0, BYTES, call->stream),
                                "cuMemsetD8Async", error);
    if (status == GPH_OK)
        status = gph_pool_free(call->pool, at[2], call->stream, error);
    for (int i = 0; status != GPH_OK && i < 3; i++)
        if (at[i] != 0)
            gph_pool_free(call->pool, at[i], call->stream, NULL);
    call->rng_count = call->rng != 0 && call->key_count == 0 ? 4 : 0;
    if (status == GPH_OK) {
        call->outputs[0] = bytes_at(at[0]);
        call->outputs[1] = bytes_at(at[1]);
    }
    return status;
}

static const uint8_t managed[] = {GPH_INPUT_MANAGED, GPH_INPUT_COPY};

/* A forward and a backward, called twice with numbers taken in between. */
static gph_status use_list(gph_runtime *runtime, gph_pool *pool, gph_rng *rng,
                           gph_error *error)
{
    const gph_source sources[] = {{0, 0}, {0, 0}};
    const gph_output copied[] = {{.policy = GPH_OUTPUT_COPIED},
                                 {.policy = GPH_OUTPUT_INTO, .into = bytes_at(words)}};
    const gph_tensor inputs[] = {bytes_at(words), bytes_at(words + BYTES)};
    const gph_tensor none[] = {{0}, inputs[1]};
    const int64_t key = 1;
    gph_callable_options options[2] = {GPH_CALLABLE_OPTIONS_INIT,
                                       GPH_CALLABLE_OPTIONS_INIT};
    for (int i = 0; i < 2; i++) {
        options[i].function = copy_and_clear;
        options[i].sample = (gph_arguments){i == 0 ? inputs : none, 2, (uint32_t)i, &key};
        options[i].modes = i == 0 ? NULL : managed;
        options[i].sources = i == 0 ? NULL : sources;
        options[i].outputs = i == 0 ? NULL : copied;
        options[i].pool = pool;
        options[i].stream = stream;
        options[i].rng = rng;
        options[i].output_count = 2;
        options[i].warmup_count = 1;
        options[i].clear = &inputs[1];
        options[i].clear_count = 1;
        options[i].name = "part";
    }
    gph_callable *list[2] = {NULL, NULL};
    GPHI_TRY(gph_callables_create(runtime, &options[0], &options[1], 1, list, error));
    gph_status status = GPH_OK;
    for (int i = 0; i < 2 && status == GPH_OK; i++) {
        gph_tensor out[2] = {{.data = words + 2 * BYTES}, {0}};
        status = gph_callable_call(list[0], &options[0].sample, stream, NULL, error);
        if (status == GPH_OK)
            status = gph_callable_call(list[1], NULL, stream, out, error);
        gph_rng_take(rng, 1);
    }
    below.cuStreamSynchronize(stream);
    gph_callable_destroy(list[0]);
    gph_callable_destroy(list[1]);
    GPHI_TRY(status);
    gph_tensor out[2];
    options[0].outputs = copied;
    GPHI_TRY(gph_function_call(runtime, &options[0], NULL, stream, out, error));
    return gph_pool_free(pool, out[0].data, stream, error);
}

static gph_status with_pool(gph_runtime *runtime, gph_pool *pool, gph_error *error)
{
    gph_rng *rng = NULL;
    GPHI_TRY(gph_rng_create(runtime, 1, &rng, error));
    const gph_status status = use_list(runtime, pool, rng, error);
    below.cuStreamSynchronize(stream);
    gph_rng_destroy(rng);
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(pool, &stats);
    CHECK(stats.recording_count == 0 && stats.users == 1);
    /* What could not be given back failed the call. */
    CHECK(stats.allocation_count == 0 || status != GPH_OK);
    return status;
}

static gph_status do_it_all(gph_runtime *runtime)
{
    gph_error error = {0};
    gph_arena *arena = NULL;
    gph_pool *pool = NULL;
    gph_status status = gph_arena_create(runtime, NULL, &arena, &error);
    if (status == GPH_OK)
        status = gph_pool_create(arena, NULL, &pool, &error);
    if (status == GPH_OK)
        status = with_pool(runtime, pool, &error);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    CHECK(error.code == status);
    CHECK((status == GPH_OK) == (error.message[0] == '\0'));
    return status;
}

static void check_nothing_is_left(long nth)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    const bool fine = CHECK(below.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
                            status == CU_STREAM_CAPTURE_STATUS_NONE) &&
                      CHECK(live.graphs == 0 && live.execs == 0) &&
                      CHECK(live.events == 0 && live.streams == 0) &&
                      CHECK(live.modules == 0 && live.memory == 0) &&
                      CHECK(gphi_capture_open_count() == 0);
    if (!fine)
        fprintf(stderr, "  failure %ld\n", nth);
}

/* Inputs and outputs are copied by a kernel, or as the driver can. */
static void fail_every_driver_call(gphi_copy_way way)
{
    gph_runtime *runtime = NULL;
    gph_error error = {0};
    CHECK_OK(gphi_runtime_create(NULL, &shim_source, &runtime, &error), error);
    runtime->copy_way = way;
    long nth = 0;
    for (bool is_done = false; !is_done && nth < 3000 && test_failures < 20; nth++) {
        shim.fail_at = nth;
        const gph_status status = do_it_all(runtime);
        is_done = shim.fail_at >= 0;
        shim.fail_at = -1;
        check_nothing_is_left(nth);
        CHECK(!is_done || status == GPH_OK);
    }
    CHECK(nth > 50);
    gph_close(runtime);
}

static void survives_every_failed_driver_call(void)
{
    fail_every_driver_call(GPHI_COPY_BATCH);
    fail_every_driver_call(GPHI_COPY_KERNEL);
}

static void fail_every_allocation(gphi_copy_way way)
{
    long nth = 1; /* 0 is the runtime's own */
    for (bool is_done = false; !is_done && nth < 3000 && test_failures < 20; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        gph_runtime *runtime = NULL;
        CHECK(gphi_runtime_create(&allocator, &shim_source, &runtime, NULL) == GPH_OK);
        runtime->copy_way = way;
        const gph_status status = do_it_all(runtime);
        is_done = atomic_load(&heap.fail_at) >= 0;
        CHECK(status == (is_done ? GPH_OK : GPH_E_NO_MEMORY) || status == GPH_OK);
        check_nothing_is_left(nth);
        gph_close(runtime);
        CHECK(atomic_load(&heap.live_bytes) == 0);
    }
    CHECK(nth > 40);
}

static void survives_every_failed_allocation(void)
{
    fail_every_allocation(GPHI_COPY_BATCH);
    fail_every_allocation(GPHI_COPY_KERNEL);
}

/* Driver calls of a call; while it runs, no allocation would work. */
static int calls_of(gph_callable *callable, const gph_arguments *arguments,
                    gph_tensor *outputs, fault_heap *heap)
{
    gph_error error = {0};
    const long before = shim.calls;
    atomic_store(&heap->fail_at, 0);
    CHECK_OK(gph_callable_call(callable, arguments, stream, outputs, &error), error);
    CHECK(atomic_load(&heap->fail_at) == 0); /* and none was asked for */
    atomic_store(&heap->fail_at, -1);
    return (int)(shim.calls - before);
}

/* By the kernel each address that is not the pool's is asked about. */
static void count_calls(gphi_copy_way way, int asked_in, int asked_out)
{
    fault_heap heap = {.fail_at = -1};
    const gph_allocator allocator = {fault_realloc, &heap};
    gph_error error = {0};
    gph_runtime *runtime = NULL;
    gph_arena *arena = NULL;
    gph_pool *pool = NULL;
    gph_rng *rng = NULL;
    gph_callable *callable = NULL;
    const gph_output copied[] = {{.policy = GPH_OUTPUT_COPIED},
                                 {.policy = GPH_OUTPUT_COPIED}};
    const gph_tensor inputs[] = {bytes_at(words), bytes_at(words + BYTES)};
    CHECK_OK(gphi_runtime_create(&allocator, &shim_source, &runtime, &error), error);
    runtime->copy_way = way;
    CHECK_OK(gph_arena_create(runtime, NULL, &arena, &error), error);
    CHECK_OK(gph_pool_create(arena, NULL, &pool, &error), error);
    CHECK_OK(gph_rng_create(runtime, 1, &rng, &error), error);
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    options.function = copy_and_clear;
    options.sample = (gph_arguments){inputs, 2, 0, NULL};
    options.outputs = copied;
    options.pool = pool;
    options.stream = stream;
    options.rng = rng;
    options.output_count = 2;
    if (CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error)) {
        gph_tensor outputs[2] = {{.data = words + 2 * BYTES}, {0}};
        CHECK(calls_of(callable, NULL, NULL, &heap) == 1);
        const int in = 2 + asked_in, out = 1 + asked_out;
        CHECK(calls_of(callable, &options.sample, NULL, &heap) == in); /* a copy of all */
        CHECK(calls_of(callable, &options.sample, outputs, &heap) == in + out);
        gph_rng_take(rng, 1);
        CHECK(calls_of(callable, NULL, NULL, &heap) == 3); /* two edits */
        CHECK(calls_of(callable, NULL, NULL, &heap) == 1);
    }
    below.cuStreamSynchronize(stream);
    gph_callable_destroy(callable);
    gph_rng_destroy(rng);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    gph_close(runtime);
    CHECK(atomic_load(&heap.live_bytes) == 0);
    check_nothing_is_left(0);
}

static void a_call_allocates_nothing_and_calls_once(void)
{
    count_calls(GPHI_COPY_BATCH, 0, 0);
    count_calls(GPHI_COPY_KERNEL, 2, 2);
}

/* A forward whose launch is refused made nothing, and overwrote nothing. */
static void a_refused_launch_is_not_noted(void)
{
    gph_error error = {0};
    gph_runtime *runtime = NULL;
    gph_arena *arena = NULL;
    gph_pool *pool = NULL;
    gph_callable *list[2] = {NULL, NULL};
    const gph_source sources[] = {{0, 0}, {0, 0}};
    const gph_tensor inputs[] = {bytes_at(words), bytes_at(words + BYTES)};
    const gph_tensor none[] = {{0}, inputs[1]};
    CHECK_OK(gphi_runtime_create(NULL, &shim_source, &runtime, &error), error);
    CHECK_OK(gph_arena_create(runtime, NULL, &arena, &error), error);
    CHECK_OK(gph_pool_create(arena, NULL, &pool, &error), error);
    gph_callable_options options[2] = {GPH_CALLABLE_OPTIONS_INIT,
                                       GPH_CALLABLE_OPTIONS_INIT};
    for (int i = 0; i < 2; i++) {
        options[i].function = copy_and_clear;
        options[i].sample = (gph_arguments){i == 0 ? inputs : none, 2, 0, NULL};
        options[i].modes = i == 0 ? NULL : managed;
        options[i].sources = i == 0 ? NULL : sources;
        options[i].pool = pool;
        options[i].stream = stream;
        options[i].output_count = 2;
    }
    CHECK_OK(gph_callables_create(runtime, &options[0], &options[1], 1, list, &error),
             error);
    for (int copies = 0; copies < 2; copies++) {
        const gph_arguments *arguments = copies != 0 ? &options[0].sample : NULL;
        shim.fail_at = copies; /* the launch; after the copy, if there is one */
        CHECK(gph_callable_call(list[0], arguments, stream, NULL, &error) ==
              CUDA_ERROR_UNKNOWN);
        shim.fail_at = -1;
        const gph_status status = gph_callable_call(list[1], NULL, stream, NULL, &error);
        if (copies == 0) {
            CHECK(status == GPH_E_STATE && strstr(error.message, "not been replayed"));
            CHECK_OK(gph_callable_call(list[0], NULL, stream, NULL, &error), error);
            CHECK_OK(gph_callable_call(list[1], NULL, stream, NULL, &error), error);
        } else {
            CHECK_OK(status, error); /* what the call before made is still there */
        }
    }
    below.cuStreamSynchronize(stream);
    gph_callable_destroy(list[0]);
    gph_callable_destroy(list[1]);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    gph_close(runtime);
    check_nothing_is_left(0);
}

static void older_drivers_copy_as_they_can(void)
{
    int made[3] = {0};
    for (int i = 0; i < 3; i++) {
        gph_runtime *runtime = NULL;
        lacks_below = i == 0 ? 0 : i == 1 ? 12080 : 12000;
        seen_copies = old_batches = 0;
        CHECK(gphi_runtime_create(NULL, &shim_source, &runtime, NULL) == GPH_OK);
        CHECK(do_it_all(runtime) == GPH_OK);
        CHECK((old_batches > 0) == (i == 1));
        made[i] = seen_copies;
        gph_close(runtime);
        check_nothing_is_left(i);
    }
    lacks_below = 0;
    CHECK(made[1] == made[0] && made[2] > made[0]);
}

int main(void)
{
    if (!shim_open(GPH_DRIVER_SOFT, rules))
        return 77;
    shim.special = find_old;
    CUcontext context = NULL;
    const bool is_up =
        below.cuInit(0) == 0 && below.cuDevicePrimaryCtxRetain(&context, 0) == 0 &&
        below.cuCtxSetCurrent(context) == 0 && below.cuStreamCreate(&stream, 1) == 0 &&
        below.cuMemAlloc(&words, 3 * BYTES) == 0;
    if (!CHECK(is_up))
        return 1;
    RUN(a_call_allocates_nothing_and_calls_once);
    RUN(a_refused_launch_is_not_noted);
    RUN(older_drivers_copy_as_they_can);
    RUN(survives_every_failed_driver_call);
    RUN(survives_every_failed_allocation);
    shim_close();
    return test_done();
}
