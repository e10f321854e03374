// SPDX-License-Identifier: Apache-2.0
/* The core under callables, caches and trees: recordings without an executable, several
 * that take turns in one, buffers of inputs that lie over each other. */
#define _GNU_SOURCE
#include "base/heap.h"
#include "callable/record.h"
#include "unit/callable_run.h"

enum { WORDS = 64, THREADS = WORDS / 4 };

static gphi_record_spec spec_for(gph_function_fn *function, const gph_tensor *inputs,
                                 uint32_t count, uint32_t output_count, uint32_t flags)
{
    return (gphi_record_spec){.function = function,
                              .arguments = args(inputs, count),
                              .pool = pool,
                              .stream = stream,
                              .output_count = output_count,
                              .flags = flags};
}

static void a_recording_may_have_no_executable(void)
{
    const gph_tensor inputs[] = {floats(new_floats(1)), floats(new_floats(10))};
    const gphi_record_spec spec = spec_for(twice_plus, inputs, 2, 1, GPHI_RECORD_NO_EXEC);
    gphi_record *record = NULL;
    if (!CHECK_OK(gphi_record_create(runtime, &spec, &record, &error), error))
        return;
    CHECK(record->exec == NULL && record->graph != NULL && record->kept_count == 3);
    CHECK(gphi_record_launch(record, NULL, inputs, stream, &error) == GPH_E_STATE);
    CHECK(record->launches == 0);
    CHECK_OK(gphi_record_instantiate(record, NULL, &error), error);
    gph_exec *exec = record->exec;
    CHECK_OK(gphi_record_instantiate(record, NULL, &error), error);
    CHECK(exec != NULL && record->exec == exec && record->instantiate_ns > 0);
    CHECK_OK(gphi_record_launch(record, NULL, inputs, stream, &error), error);
    CHECK(first_float(record->outputs[0].data) == 12 && record->launches == 1);
    CHECK(gphi_record_take_exec(record) == exec && record->exec == NULL);
    CHECK_OK(gphi_record_launch(record, exec, inputs, stream, &error), error);
    CU(StreamSynchronize, stream);
    gphi_record_give_exec(record, exec);
    gphi_record_destroy(record);
    gphi_record_destroy(NULL);
    CU(MemFree, inputs[0].data);
    CU(MemFree, inputs[1].data);
}

/* outputs[0]: random words, kernel for kernel; `*user`: how many. */
static gph_status draw(void *user, gph_call *call, gph_error *out)
{
    unsigned n = THREADS, skip = *(const unsigned *)user - 1;
    CUdeviceptr at = 0, rng = call->rng;
    gph_status status = gph_pool_alloc(call->pool, WORDS * 4, call->stream, &at, out);
    call->outputs[0] = gph_tensor_dense(at, GPH_DTYPE_U32, 1, (int64_t[]){WORDS});
    void *params[] = {&at, &n, &rng, &skip};
    if (status == GPH_OK)
        status = gph_cuda_check(cu->LaunchKernel(philox_fill, 1, 1, 1, THREADS, 1, 1, 0,
                                                 call->stream, params, NULL),
                                "cuLaunchKernel", out);
    call->rng_count = skip + 1;
    return status;
}

/* What a launch draws, as an eager call at the same state does. */
static bool draws_as_eager(gphi_record *record, gph_exec *exec, gphi_record_spec *spec)
{
    uint32_t got[WORDS], wanted[WORDS];
    const gph_rng_state state = gph_rng_state_get(spec->rng);
    gph_tensor eager = {0};
    if (!CHECK_OK(gphi_record_launch(record, exec, NULL, stream, &error), error))
        return false;
    const gph_rng_state after = gph_rng_state_get(spec->rng);
    CU(MemcpyDtoHAsync, got, record->outputs[0].data, sizeof(got), stream);
    gph_rng_state_set(spec->rng, state);
    CHECK_OK(gphi_function_run(runtime, spec, GPH_PHASE_EAGER, stream, &eager, &error),
             error);
    CU(MemcpyDtoHAsync, wanted, eager.data, sizeof(wanted), stream);
    CU(StreamSynchronize, stream);
    CHECK_OK(gph_pool_free(pool, eager.data, stream, &error), error);
    return after.offset == gph_rng_state_get(spec->rng).offset &&
           memcmp(got, wanted, sizeof(got)) == 0;
}

static gph_status update_whole(gph_exec *exec, const gphi_record *record)
{
    CUgraphExecUpdateResultInfo info = {0};
    return gph_cuda_check((gph_status)record->runtime->cu.cuGraphExecUpdate(
                              gph_exec_handle(exec), record->graph, &info),
                          "cuGraphExecUpdate", &error);
}

static void recordings_that_draw_take_turns_in_one_executable(void)
{
    enum { RECORDS = 3 };
    unsigned kernels[RECORDS] = {1, 2, 3};
    gphi_record *records[RECORDS];
    gphi_record_spec specs[RECORDS];
    gph_exec *shared = NULL;
    gph_rng *rng = NULL;
    CHECK_OK(gph_rng_create(runtime, 77, &rng, &error), error);
    for (int i = 0; i < RECORDS; i++) {
        specs[i] = spec_for(draw, NULL, 0, 1, GPHI_RECORD_NO_EXEC);
        specs[i].rng = rng;
        specs[i].user = &kernels[i];
        if (!CHECK_OK(gphi_record_create(runtime, &specs[i], &records[i], &error), error))
            return;
    }
    CHECK_OK(gph_exec_create(runtime, records[0]->graph, NULL, &shared, &error), error);
    for (int turn = 0; turn < 30; turn++) {
        const int i = (turn * turn + turn / 4) % RECORDS;
        CHECK_OK(update_whole(shared, records[i]), error);
        CHECK(draws_as_eager(records[i], shared, &specs[i]));
        CHECK(draws_as_eager(records[i], shared, &specs[i])); /* it goes on */
        if (turn % 7 == 0)
            gph_rng_state_set(rng, (gph_rng_state){.seed = (uint64_t)turn});
        CHECK(draws_as_eager(records[i], shared, &specs[i]));
    }
    /* One becomes hot, and cold again. */
    CHECK_OK(gphi_record_instantiate(records[1], NULL, &error), error);
    for (int turn = 0; turn < 6; turn++) {
        gph_rng_take(rng, (uint64_t)turn % 3);
        CHECK(draws_as_eager(records[1], NULL, &specs[1]));
    }
    gph_exec *own = gphi_record_take_exec(records[1]);
    for (int turn = 0; turn < 4; turn++) {
        gph_rng_take(rng, (uint64_t)turn % 2);
        CHECK_OK(update_whole(shared, records[1 + turn % 2]), error);
        CHECK(draws_as_eager(records[1 + turn % 2], shared, &specs[1 + turn % 2]));
    }
    gph_exec_destroy(own);
    gph_exec_destroy(shared);
    for (int i = 0; i < RECORDS; i++)
        gphi_record_destroy(records[i]);
    gph_rng_destroy(rng);
}

static void shared_buffers_lie_over_each_other(void)
{
    enum { RECORDS = 6 };
    const gph_tensor inputs[] = {floats(new_floats(1)), floats(new_floats(10))};
    gphi_record *records[RECORDS];
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    for (int is_shared = 0; is_shared < 2; is_shared++) {
        const gphi_record_spec spec =
            spec_for(twice_plus, inputs, 2, 1,
                     GPHI_RECORD_ORDERED | (is_shared ? GPHI_RECORD_SHARE_INPUTS : 0));
        for (int i = 0; i < RECORDS; i++)
            if (!CHECK_OK(gphi_record_create(runtime, &spec, &records[i], &error), error))
                return;
        gph_pool_stats_get(pool, &stats);
        CHECK(stats.allocation_count == (is_shared ? RECORDS : 3 * RECORDS));
        for (int i = 0; i < RECORDS; i++)
            CHECK(records[i]->kept_count == (is_shared ? 1 : 3));
        CHECK((records[0]->signature.inputs[0].data ==
               records[1]->signature.inputs[0].data) == is_shared);
        for (int turn = 0; turn < 20; turn++) { /* any order: inputs are copied again */
            gphi_record *record = records[turn * 5 % RECORDS];
            CHECK_OK(gphi_record_launch(record, NULL, inputs, stream, &error), error);
            CHECK(first_float(record->outputs[0].data) == 12);
        }
        for (int i = 0; i < RECORDS; i++)
            gphi_record_destroy(records[i]);
    }
    CU(MemFree, inputs[0].data);
    CU(MemFree, inputs[1].data);
}

static gph_status nothing_here(void *user, const gph_break *call, gph_error *out)
{
    (void)user;
    (void)call;
    (void)out;
    return GPH_OK;
}

static gph_status broken(void *user, gph_call *call, gph_error *out)
{
    const gph_status status = twice_plus(user, call, out);
    return status == GPH_OK && call->capture != NULL
               ? gph_capture_break(call->capture, nothing_here, NULL, out)
               : status;
}

static void breaks_share_no_executable(void)
{
    const gph_tensor inputs[] = {floats(new_floats(1)), floats(new_floats(10))};
    const gphi_record_spec spec = spec_for(broken, inputs, 2, 1, GPHI_RECORD_NO_EXEC);
    gphi_record *record = NULL;
    CHECK(gphi_record_create(runtime, &spec, &record, &error) == GPH_E_UNSUPPORTED);
    CHECK(record == NULL);
    CU(MemFree, inputs[0].data);
    CU(MemFree, inputs[1].data);
}

static void a_warm_up_leaves_nothing(void)
{
    int calls[4] = {0};
    const gph_tensor inputs[] = {floats(new_floats(1)), floats(new_floats(10))};
    gphi_record_spec spec = spec_for(twice_plus, inputs, 2, 1, 0);
    gph_tensor out = {0};
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    spec.user = calls;
    CHECK_OK(gphi_function_run(runtime, &spec, GPH_PHASE_WARMUP, stream, &out, &error),
             error);
    CHECK(calls[GPH_PHASE_WARMUP] == 1 && calls[GPH_PHASE_EAGER] == 0);
    gph_pool_stats_get(pool, &stats);
    CHECK(stats.allocation_count == 0);
    CU(StreamSynchronize, stream);
    CU(MemFree, inputs[0].data);
    CU(MemFree, inputs[1].data);
}

static uint32_t draw_word(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static gph_tensor draw_tensor(void)
{
    int64_t shape[GPH_TENSOR_RANK_MAX];
    const uint32_t rank = draw_word() % (GPH_TENSOR_RANK_MAX + 1);
    for (uint32_t i = 0; i < rank; i++)
        shape[i] = draw_word() % 4; /* 0 and 1 among them */
    return gph_tensor_dense(4096, GPH_DTYPE_F32, rank, shape);
}

/* One field, to what it may be or to anything. */
static void change(gph_tensor *tensor)
{
    const uint32_t axis = draw_word() % GPH_TENSOR_RANK_MAX;
    switch (draw_word() % 6) {
    case 0: tensor->shape[axis] = (int64_t)(draw_word() % 5) - 1; break;
    case 1: tensor->stride[axis] = draw_word() % 9; break;
    case 2: tensor->dtype = draw_word() % 20; break;
    case 3: tensor->rank = draw_word() % 3 ? draw_word() % 9 : draw_word(); break;
    case 4: tensor->data = draw_word() % 3 * 4096; break;
    default: *tensor = (gph_tensor){0}; break;
    }
}

/* The quick answer and the long one are the same. */
static void arguments_fit_exactly_when_nothing_differs(void)
{
    enum { MOST = 4 };
    int fitted = 0;
    for (int round = 0; round < 20000; round++) {
        gph_tensor inputs[MOST];
        uint8_t modes[MOST];
        int64_t key[2] = {draw_word() % 2, 1};
        const uint32_t count = draw_word() % (MOST + 1);
        gphi_signature signature;
        for (uint32_t i = 0; i < count; i++) {
            inputs[i] = draw_tensor();
            modes[i] = (uint8_t)(GPH_INPUT_COPY + draw_word() % 3);
        }
        gph_arguments arguments = {inputs, count, draw_word() % 3, key};
        CHECK_OK(
            gphi_signature_init(&signature, gphi_heap(NULL), &arguments, modes, &error),
            error);
        CHECK(gphi_signature_fits(&signature, &arguments));
        for (uint32_t n = draw_word() % 3; n > 0 && count > 0; n--)
            change(&inputs[draw_word() % count]);
        if (draw_word() % 8 == 0)
            key[0] ^= 1;
        gph_mismatch all[64];
        const bool fits = gphi_signature_fits(&signature, &arguments);
        const uint32_t found = gphi_signature_list(&signature, &arguments, all, 64);
        CHECK(fits == (found == 0));
        for (uint32_t i = 0; i < found && i < 64; i++)
            CHECK(all[i].text[0] != '\0' && all[i].got != all[i].recorded);
        fitted += fits;
        gphi_signature_fini(&signature);
    }
    CHECK(fitted > 2000 && fitted < 18000);
}

int main(void)
{
    if (!set_up())
        return 1;
    RUN(a_recording_may_have_no_executable);
    RUN(recordings_that_draw_take_turns_in_one_executable);
    RUN(shared_buffers_lie_over_each_other);
    RUN(breaks_share_no_executable);
    RUN(a_warm_up_leaves_nothing);
    RUN(arguments_fit_exactly_when_nothing_differs);
    return tear_down();
}
