// SPDX-License-Identifier: Apache-2.0
/* One process, two devices: graphs of both, memory of each, and what is refused because it
 * is the other's. On softcuda by SOFTCUDA_DEVICES; on a machine of two GPUs likewise. */
#include "fault.h"
#include "runtime.h"

/* *p = *p * a + b: the order of two shows in the result. */
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry step(.param .u64 pp, .param .u32 pa, .param "
                          ".u32 pb)\n"
                          "{\n"
                          ".reg .b32 %r<4>;\n.reg .b64 %d<2>;\n"
                          "ld.param.u64 %d1, [pp];\n"
                          "ld.param.u32 %r1, [pa];\n"
                          "ld.param.u32 %r2, [pb];\n"
                          "ld.global.u32 %r3, [%d1];\n"
                          "mad.lo.u32 %r3, %r3, %r1, %r2;\n"
                          "st.global.u32 [%d1], %r3;\n"
                          "ret;\n"
                          "}\n";

#define MiB (1ull << 20)

/* What a test has of each device. */
static struct device {
    CUcontext context;
    CUfunction step;
    CUstream stream;
    CUdeviceptr word;
    gph_arena *arena;
    gph_pool *pool;
} dev[2];

static void use(int device)
{
    CU(CtxSetCurrent, dev[device].context);
}

/* The device's context must be current: a launch is refused from another one's. */
static gph_status step_in(CUstream stream, int device, CUdeviceptr at, unsigned a,
                          unsigned b)
{
    void *params[] = {&at, &a, &b};
    return gph_cuda_check(
        cu->LaunchKernel(dev[device].step, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL),
        "cuLaunchKernel", &error);
}

static gph_status step(int device, unsigned a, unsigned b)
{
    return step_in(dev[device].stream, device, dev[device].word, a, b);
}

static unsigned read(CUdeviceptr at)
{
    unsigned value = 0;
    for (int d = 0; d < 2; d++)
        CU(StreamSynchronize, dev[d].stream);
    CU(MemcpyDtoH, &value, at, 4);
    return value;
}

static void set(CUdeviceptr at, unsigned value)
{
    CU(MemcpyHtoD, at, &value, 4); /* whichever device is current */
}

static bool start(void)
{
    int count = 0;
    CU(DeviceGetCount, &count);
    if (count < 2) {
        printf("skipped: %d devices, two are needed\n", count);
        return false;
    }
    for (int d = 0; d < 2; d++) {
        gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
        CUmodule module = NULL;
        CU(DevicePrimaryCtxRetain, &dev[d].context, d);
        use(d);
        CU(ModuleLoadData, &module, ptx);
        CU(ModuleGetFunction, &dev[d].step, module, "step");
        CU(StreamCreate, &dev[d].stream, 1);
        CU(MemAlloc, &dev[d].word, 4);
        options.reserve_bytes = 64 * MiB;
        CHECK_OK(gph_arena_create(runtime, &options, &dev[d].arena, &error), error);
        const gph_pool_options named = {.size = sizeof(named),
                                        .name = d == 0 ? "zero" : "one"};
        CHECK_OK(gph_pool_create(dev[d].arena, &named, &dev[d].pool, &error), error);
    }
    return atomic_load(&test_failures) == 0;
}

static void stop(void)
{
    for (int d = 0; d < 2; d++) {
        use(1 - d); /* whichever is current */
        gph_pool_release(dev[d].pool);
        gph_arena_destroy(dev[d].arena);
    }
    for (int d = 0; d < 2; d++)
        CU(DevicePrimaryCtxRelease, d);
    gph_close(runtime);
}

/* ---- graphs of both ---- */

/* A captured chain: kernel on 0, its result over to 1, kernel there, back, kernel here. */
static gph_recording *record_chain(gph_join_mode join, bool by_hand)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    gph_capture *capture = NULL;
    gph_recording *recording = NULL;
    options.join = join;
    use(0);
    if (!CHECK_OK(gph_capture_begin(runtime, dev[0].stream, &options, &capture, &error),
                  error))
        return NULL;
    CHECK_OK(gph_region_push(capture, "zero", &error), error);
    CHECK_OK(step(0, 3, 1), error);
    CHECK_OK(gph_region_pop(capture, &error), error);
    CHECK_OK(gph_capture_fork(capture, dev[1].stream, &error), error);
    CU(MemcpyAsync, dev[1].word, dev[0].word, 4, dev[1].stream);
    use(1);
    CHECK_OK(step(1, 5, 2), error);
    CU(MemcpyAsync, dev[0].word, dev[1].word, 4, dev[1].stream);
    if (by_hand) {
        CHECK_OK(gph_capture_join(capture, dev[1].stream, &error), error);
        use(0);
        CHECK_OK(step(0, 7, 3), error);
    }
    const gph_status status = gph_capture_finish(capture, &recording, &error);
    if (join == GPH_JOIN_NAME)
        CHECK(status == CAPTURE_UNJOINED);
    else
        CHECK_OK(status, error);
    return recording;
}

/* Whichever context is current, and in whichever device's stream it is launched. */
static void a_graph_of_two_devices_replays(void)
{
    gph_recording *recording = record_chain(GPH_JOIN_ERROR, true);
    gph_replay *replay = NULL;
    if (!recording)
        return;
    for (int maker = 0; maker < 2; maker++) {
        use(maker);
        if (!CHECK_OK(gph_replay_create(recording, NULL, &replay, &error), error))
            break;
        for (unsigned i = 0; i < 4; i++) {
            use(i % 2 == 0 ? 0 : 1);
            set(dev[0].word, i);
            CHECK_OK(gph_replay_launch(replay, dev[i / 2].stream, &error), error);
            CHECK(read(dev[0].word) == ((i * 3 + 1) * 5 + 2) * 7 + 3);
        }
        gph_replay_destroy(replay);
        replay = NULL;
    }
    gph_recording_destroy(recording);
}

static void a_forgotten_join_of_the_other_device_is_added(void)
{
    gph_recording *recording = record_chain(GPH_JOIN_AUTO, false);
    gph_replay *replay = NULL;
    if (!recording)
        return;
    use(0);
    if (CHECK_OK(gph_replay_create(recording, NULL, &replay, &error), error)) {
        set(dev[0].word, 9);
        CHECK_OK(gph_replay_launch(replay, dev[0].stream, &error), error);
        CHECK(read(dev[0].word) == (9 * 3 + 1) * 5 + 2);
    }
    gph_replay_destroy(replay);
    gph_recording_destroy(recording);
    CHECK(!record_chain(GPH_JOIN_NAME, false));
    CHECK(says("memcpy"));
}

/* It is data: five nodes in a row, and a file of it reads the same. */
static void it_is_described(void)
{
    gph_recording *recording = record_chain(GPH_JOIN_ERROR, true);
    gph_graph *graph = NULL;
    if (!recording)
        return;
    if (CHECK_OK(gph_recording_describe(recording, 0, &graph, &error), error)) {
        CHECK(gph_graph_node_count(graph) == 5);
        CHECK(strcmp(gph_recording_region(recording, 0, 0), "zero") == 0);
    }
    gph_graph_destroy(graph);
    gph_recording_destroy(recording);
}

/* ---- memory of each ---- */

static void pools_refuse_streams_of_the_other_device(void)
{
    for (int d = 0; d < 2; d++)
        for (int current = 0; current < 2; current++) {
            CUdeviceptr at = 0;
            gph_recording_id id = 0;
            gph_pool_stats before = GPH_SIZED(gph_pool_stats), after = before;
            use(current);
            gph_pool_stats_get(dev[d].pool, &before);
            CHECK(gph_pool_alloc(dev[d].pool, 1024, dev[1 - d].stream, &at, &error) ==
                  GPH_E_INVALID);
            CHECK(says(d == 0 ? "pool zero is of device 0" : "pool one is of device 1"));
            CHECK(says(d == 0 ? "of device 1" : "of device 0"));
            CHECK(gph_pool_record_begin(dev[d].pool, dev[1 - d].stream, NULL, &id,
                                        &error) == GPH_E_INVALID);
            CHECK(at == 0 && id == 0);
            gph_pool_stats_get(dev[d].pool, &after);
            const size_t from =
                offsetof(gph_pool_stats, mapped_bytes); /* after padding */
            CHECK(memcmp(&before.mapped_bytes, &after.mapped_bytes,
                         sizeof(before) - from) == 0);
        }
}

static void a_capture_refuses_the_pool_of_another_device(void)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    gph_capture *capture = NULL;
    CUdeviceptr at = 0;
    use(0);
    options.pool = dev[1].pool;
    CHECK(gph_capture_begin(runtime, dev[0].stream, &options, &capture, &error) ==
          GPH_E_INVALID);
    CHECK(says("pool one is of device 1"));
    int capturing = -1;
    CU(StreamIsCapturing, dev[0].stream, &capturing);
    CHECK(!capture && capturing == 0);

    options.pool = dev[0].pool; /* and in a stream that joins */
    if (!CHECK_OK(gph_capture_begin(runtime, dev[0].stream, &options, &capture, &error),
                  error))
        return;
    CHECK_OK(gph_capture_fork(capture, dev[1].stream, &error), error);
    CHECK(gph_pool_alloc(dev[0].pool, 512, dev[1].stream, &at, &error) == GPH_E_INVALID);
    CHECK(says("pool zero is of device 0"));
    CHECK_OK(gph_pool_alloc(dev[0].pool, 512, dev[0].stream, &at, &error), error);
    CHECK_OK(gph_pool_free(dev[0].pool, at, dev[0].stream, &error), error);
    CHECK_OK(gph_capture_join(capture, dev[1].stream, &error), error);
    gph_recording *recording = NULL; /* a refusal did not invalidate it */
    CHECK_OK(gph_capture_finish(capture, &recording, &error), error);
    gph_recording_destroy(recording);
}

/* What a stream of the other device copies is freed after that copy, not before. */
static void memory_is_freed_behind_the_other_device(void)
{
    for (int current = 0; current < 2; current++) {
        CUdeviceptr at = 0, next = 0;
        CUevent ready = NULL;
        use(0);
        set(dev[0].word, 11);
        CU(EventCreate, &ready, 2);
        CHECK_OK(gph_pool_alloc(dev[0].pool, 1 * MiB, dev[0].stream, &at, &error), error);
        CU(MemcpyAsync, at, dev[0].word, 4, dev[0].stream);
        CU(EventRecord, ready, dev[0].stream);
        CU(StreamWaitEvent, dev[1].stream, ready, 0);
        CU(MemcpyAsync, dev[1].word, at, 4, dev[1].stream);
        use(current);
        CHECK_OK(gph_pool_use(dev[0].pool, at, dev[1].stream, &error), error);
        CHECK_OK(gph_pool_free(dev[0].pool, at, dev[0].stream, &error), error);
        CHECK_OK(gph_pool_alloc(dev[0].pool, 1 * MiB, dev[0].stream, &next, &error),
                 error);
        CHECK_OK(gph_pool_free(dev[0].pool, next, dev[1].stream, &error), error);
        CHECK(read(dev[1].word) == 11);
        CU(EventDestroy, ready);
    }
}

/* A graph with memory of two pools, one a device: each belongs to a recording of its own. */
static void a_graph_has_memory_of_both_pools(void)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    gph_capture *capture = NULL;
    gph_recording *recording = NULL;
    gph_replay *replay = NULL;
    gph_recording_id other = 0;
    CUdeviceptr at[2] = {0, 0};
    options.pool = dev[0].pool;
    use(0);
    CHECK_OK(gph_pool_record_begin(dev[1].pool, dev[1].stream, "there", &other, &error),
             error);
    if (!CHECK_OK(gph_capture_begin(runtime, dev[0].stream, &options, &capture, &error),
                  error))
        return;
    CHECK_OK(gph_pool_alloc(dev[0].pool, 4096, dev[0].stream, &at[0], &error), error);
    CU(MemcpyAsync, at[0], dev[0].word, 4, dev[0].stream);
    CHECK_OK(step_in(dev[0].stream, 0, at[0], 2, 1), error);
    /* A pool's memory is its device's alone: an H200 refuses to copy it in the other's stream. */
    CU(MemcpyAsync, dev[0].word, at[0], 4, dev[0].stream);
    CHECK_OK(gph_capture_fork(capture, dev[1].stream, &error), error);
    CHECK_OK(gph_pool_alloc(dev[1].pool, 4096, dev[1].stream, &at[1], &error), error);
    use(1); /* a captured copy is of the current context, a kernel of its own */
    CU(MemcpyAsync, at[1], dev[0].word, 4, dev[1].stream);
    CHECK_OK(step_in(dev[1].stream, 1, at[1], 3, 1), error);
    CU(MemcpyAsync, dev[1].word, at[1], 4, dev[1].stream);
    CHECK_OK(gph_pool_free(dev[1].pool, at[1], dev[1].stream, &error), error);
    CHECK_OK(gph_capture_join(capture, dev[1].stream, &error), error);
    CHECK_OK(gph_pool_free(dev[0].pool, at[0], dev[0].stream, &error), error);
    CHECK_OK(gph_capture_finish(capture, &recording, &error), error);
    CHECK_OK(gph_pool_record_end(dev[1].pool, other, NULL, 0, NULL, &error), error);
    if (recording && CHECK_OK(gph_replay_create(recording, NULL, &replay, &error), error))
        for (unsigned i = 0; i < 3; i++) {
            set(dev[0].word, i);
            CHECK_OK(gph_pool_replay(dev[1].pool, other, &error), error);
            CHECK_OK(gph_replay_launch(replay, dev[0].stream, &error), error);
            CHECK(read(dev[1].word) == (i * 2 + 1) * 3 + 1);
        }
    gph_replay_destroy(replay);
    gph_recording_destroy(recording);
    gph_pool_record_forget(dev[1].pool, other);
}

/* Whichever device is current, a ledger is that of its arena's. */
static void ledgers_are_of_their_device(void)
{
    CUdeviceptr at = 0, large = 0;
    gph_ledger_entry entries[16];
    gph_ledger_total total[2][2];
    uint32_t count = 0;
    use(1);
    CHECK_OK(gph_pool_alloc(dev[1].pool, 20 * MiB, dev[1].stream, &at, &error), error);
    CU(MemAlloc, &large, 48 * MiB); /* of device 1 alone, and nobody's */
    for (int current = 0; current < 2; current++)
        for (int d = 0; d < 2; d++) {
            total[current][d] = (gph_ledger_total)GPH_SIZED(gph_ledger_total);
            use(current);
            CHECK_OK(gph_ledger_get(dev[d].arena, entries, 16, &count, &total[current][d],
                                    &error),
                     error);
            CHECK(count >= 1 && strcmp(entries[0].name, d == 0 ? "zero" : "one") == 0);
        }
    for (int d = 0; d < 2; d++) {
        CHECK(total[0][d].mapped_bytes == total[1][d].mapped_bytes);
        CHECK(total[0][d].driver_bytes == total[1][d].driver_bytes);
        CHECK(total[0][d].foreign_bytes == total[1][d].foreign_bytes);
    }
    CHECK(total[0][1].mapped_bytes >= 20 * MiB && total[0][0].mapped_bytes < 20 * MiB);
    CHECK(total[0][1].foreign_bytes >= 48 * MiB);
    CU(MemFree, large);
    use(0);
    CHECK_OK(gph_pool_free(dev[1].pool, at, dev[1].stream, &error), error);
}

/* An arena that was made while another device was current has no context to ask in. */
static void a_ledger_without_a_context_refuses(void)
{
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    gph_arena *arena = NULL;
    gph_ledger_total total = GPH_SIZED(gph_ledger_total);
    uint32_t count = 0;
    options.device = 1;
    options.reserve_bytes = 8 * MiB;
    use(0);
    if (!CHECK_OK(gph_arena_create(runtime, &options, &arena, &error), error))
        return;
    CHECK(gph_ledger_get(arena, NULL, 0, &count, &total, &error) == GPH_E_STATE);
    CHECK(says("the ledger of device 1, with a context of device 0"));
    CHECK_OK(gph_ledger_get(arena, NULL, 0, &count, NULL, &error), error);
    use(1);
    CHECK_OK(gph_ledger_get(arena, NULL, 0, &count, &total, &error), error);
    CHECK(total.driver_bytes > 0);
    use(0);
    gph_arena_destroy(arena);
}

/* ---- callables ---- */

/* out = in * 3 + 4 */
static gph_status triple(void *user, gph_call *call, gph_error *why)
{
    (void)user;
    const int64_t one = 1;
    CUdeviceptr out = 0;
    gph_status status = gph_pool_alloc(call->pool, 4, call->stream, &out, why);
    if (status == GPH_OK)
        status =
            gph_cuda_check(cu->MemcpyAsync(out, call->inputs[0].data, 4, call->stream),
                           "cuMemcpyAsync", why);
    if (status == GPH_OK)
        status = step_in(call->stream, 0, out, 3, 4);
    if (status == GPH_OK)
        call->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_I32, 1, &one);
    return status;
}

/* Inputs are copied, so they may come from wherever they are; outputs go there. */
static void a_callable_takes_inputs_of_the_other_device(void)
{
    const int64_t one = 1;
    gph_tensor here = gph_tensor_dense(dev[0].word, GPH_DTYPE_I32, 1, &one);
    gph_tensor there = gph_tensor_dense(dev[1].word, GPH_DTYPE_I32, 1, &one), out = {0};
    const gph_output copied = {.policy = GPH_OUTPUT_COPIED};
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    gph_callable *callable = NULL;
    options.function = triple;
    options.sample = (gph_arguments){.inputs = &here, .input_count = 1};
    options.outputs = &copied;
    options.output_count = 1;
    options.pool = dev[0].pool;
    options.stream = dev[0].stream;
    use(0);
    if (!CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error))
        return;
    for (unsigned i = 5; i < 8; i++) {
        set(dev[1].word, i);
        const gph_arguments arguments = {.inputs = &there, .input_count = 1};
        out.data = dev[1].word;
        CHECK_OK(gph_callable_call(callable, &arguments, dev[0].stream, &out, &error),
                 error);
        CHECK(read(dev[1].word) == i * 3 + 4);
    }
    use(1); /* of a current context that is not its own it says so */
    const gph_arguments arguments = {.inputs = &there, .input_count = 1};
    CHECK(gph_callable_check(callable, &arguments, NULL, 0, NULL, &error) ==
          GPH_E_INVALID);
    CHECK(says("device is 1, recorded 0"));
    use(0);
    gph_callable_destroy(callable);
}

/* It would be recorded into memory that its kernels cannot reach. */
static void a_callable_refuses_the_pool_of_another_device(void)
{
    const int64_t one = 1;
    const gph_tensor here = gph_tensor_dense(dev[0].word, GPH_DTYPE_I32, 1, &one);
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    gph_callable *callable = NULL;
    options.function = triple;
    options.sample = (gph_arguments){.inputs = &here, .input_count = 1};
    options.output_count = 1;
    options.pool = dev[1].pool;
    options.stream = dev[0].stream;
    use(0);
    CHECK(gph_callable_create(runtime, &options, &callable, &error) == GPH_E_INVALID);
    CHECK(says("pool one is of device 1") && !callable);
}

/* ---- failures ---- */

/* All that needs both devices, with another heap: a capture of two devices and two pools. */
static gph_status all_of_it(gph_runtime *own, gph_arena *arena[2], gph_pool *pool[2],
                            gph_recording **recording)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    gph_capture *capture = NULL;
    CUdeviceptr at[2] = {0, 0};
    gph_status status = GPH_OK;
    for (int d = 0; d < 2 && status == GPH_OK; d++) {
        gph_arena_options how = GPH_ARENA_OPTIONS_INIT;
        how.reserve_bytes = 8 * MiB;
        use(d);
        status = gph_arena_create(own, &how, &arena[d], &error);
        if (status == GPH_OK)
            status = gph_pool_create(arena[d], NULL, &pool[d], &error);
        if (status == GPH_OK)
            status = gph_pool_alloc(pool[d], 512, dev[d].stream, &at[d], &error);
        if (status == GPH_OK)
            status = gph_pool_use(pool[d], at[d], dev[1 - d].stream, &error);
        if (status == GPH_OK)
            status = gph_pool_free(pool[d], at[d], dev[d].stream, &error);
    }
    use(0);
    options.pool = pool[0];
    if (status == GPH_OK)
        status = gph_capture_begin(own, dev[0].stream, &options, &capture, &error);
    if (status != GPH_OK)
        return status;
    status = gph_capture_fork(capture, dev[1].stream, &error);
    if (status == GPH_OK)
        status = gph_pool_alloc(pool[0], 512, dev[0].stream, &at[0], &error);
    if (status == GPH_OK)
        status = gph_pool_free(pool[0], at[0], dev[0].stream, &error);
    if (status == GPH_OK)
        status = gph_capture_join(capture, dev[1].stream, &error);
    if (status == GPH_OK)
        return gph_capture_finish(capture, recording, &error);
    gph_capture_abort(capture, NULL);
    return status;
}

static void every_failed_allocation_leaves_nothing(void)
{
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(runtime, &info);
    use(0);
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        gph_options options = GPH_OPTIONS_INIT;
        gph_runtime *own = NULL;
        gph_arena *arena[2] = {NULL, NULL};
        gph_pool *pool[2] = {NULL, NULL};
        gph_recording *recording = NULL;
        options.driver = info.driver;
        options.allocator = &allocator;
        gph_status status = gph_open(&options, &own, &error);
        if (status == GPH_OK)
            status = all_of_it(own, arena, pool, &recording);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK((recording != NULL) == (status == GPH_OK));
        gph_recording_destroy(recording);
        for (int d = 0; d < 2; d++) {
            CU(StreamSynchronize, dev[d].stream);
            gph_pool_release(pool[d]);
            gph_arena_destroy(arena[d]);
        }
        gph_close(own);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK)
            return;
    }
}

int main(void)
{
    runtime_open(getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO, NULL);
    if (!start())
        return atomic_load(&test_failures) ? 1 : 77;
    RUN(a_graph_of_two_devices_replays);
    RUN(a_forgotten_join_of_the_other_device_is_added);
    RUN(it_is_described);
    RUN(pools_refuse_streams_of_the_other_device);
    RUN(a_capture_refuses_the_pool_of_another_device);
    RUN(memory_is_freed_behind_the_other_device);
    RUN(a_graph_has_memory_of_both_pools);
    RUN(ledgers_are_of_their_device);
    RUN(a_ledger_without_a_context_refuses);
    RUN(a_callable_takes_inputs_of_the_other_device);
    RUN(a_callable_refuses_the_pool_of_another_device);
    RUN(every_failed_allocation_leaves_nothing);
    stop();
    return test_done();
}
