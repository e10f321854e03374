// SPDX-License-Identifier: Apache-2.0
/* Callables on a driver: signatures, inputs, outputs, lists, failures, threads. */
#define _GNU_SOURCE
#include "unit/callable_run.h"

#include <pthread.h>

/* A callable of twice_plus() over two inputs that are copied. */
static gph_callable *make_twice(const gph_tensor *inputs)
{
    gph_callable_options options = options_for(twice_plus, inputs, 2, 1);
    gph_callable *callable = NULL;
    CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error);
    return callable;
}

static void a_call_gives_what_the_function_gives(void)
{
    int calls[4] = {0};
    const gph_tensor inputs[] = {floats(new_floats(1)), floats(new_floats(10))};
    gph_callable_options options = options_for(twice_plus, inputs, 2, 1);
    options.user = calls;
    options.warmup_count = 2;
    gph_callable *callable = NULL;
    if (!CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error))
        return;
    CHECK(calls[GPH_PHASE_WARMUP] == 2 && calls[GPH_PHASE_CAPTURE] == 1);
    for (int i = 0; i < 5; i++) {
        gph_tensor eager, out;
        const gph_tensor now[] = {floats(new_floats((float)i)), inputs[1]};
        const gph_arguments arguments = args(now, 2);
        CHECK_OK(gph_callable_call(callable, &arguments, stream, &out, &error), error);
        CHECK(first_float(out.data) == 2 * (float)i + 10);
        CHECK(out.rank == 1 && out.shape[0] == N && out.dtype == GPH_DTYPE_F32);
        CHECK_OK(gph_function_call(runtime, &options, &arguments, stream, &eager, &error),
                 error);
        CHECK(first_float(eager.data) == 2 * (float)i + 10);
        CHECK(gph_pool_free(pool, eager.data, stream, &error) == GPH_OK);
        CU(MemFree, now[0].data);
    }
    CHECK(calls[GPH_PHASE_CAPTURE] == 1 && calls[GPH_PHASE_EAGER] == 5);
    gph_callable_destroy(callable);
    CU(MemFree, inputs[0].data);
    CU(MemFree, inputs[1].data);
}

/* Calls with one input changed; the message of the refusal. */
static const char *refusal(gph_callable *callable, const gph_arguments *arguments)
{
    gph_tensor out = {.data = 77};
    memset(&error, 0, sizeof(error));
    const gph_status called =
        gph_callable_call(callable, arguments, stream, &out, &error);
    CHECK(called == GPH_E_INVALID && out.data == 77 && out.rank == 0);
    CHECK(gph_callable_epoch(callable) == 0);
    CHECK(gph_callable_check(callable, arguments, NULL, 0, NULL, &error) == called);
    return error.message;
}

#define REFUSED(text) CHECK(strcmp(refusal(callable, &arguments), text) == 0)

static void a_difference_is_named(void)
{
    CUdeviceptr x = new_floats(1), w = new_floats(2);
    const int64_t shape[] = {4, 64}, key[] = {7, 1};
    gph_tensor inputs[] = {floats(x), floats(w)};
    inputs[0] = gph_tensor_dense(x, GPH_DTYPE_F32, 2, shape);
    gph_callable_options options = options_for(twice_plus, inputs, 2, 1);
    const uint8_t modes[] = {GPH_INPUT_COPY, GPH_INPUT_STATIC};
    options.modes = modes;
    options.sample.key = key;
    options.sample.key_count = 2;
    gph_callable *callable = NULL;
    if (!CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error))
        return;
    gph_tensor now[3] = {inputs[0], inputs[1], inputs[1]};
    int64_t other[] = {7, 1, 0};
    gph_arguments arguments = {now, 2, 2, other};

    now[0].shape[1] = 65;
    REFUSED("input 0: shape[1] is 65, recorded 64");
    now[0] = inputs[0];
    now[0].stride[0] = 128;
    REFUSED("input 0: stride[0] is 128, recorded 64");
    now[0] = gph_tensor_dense(x, GPH_DTYPE_F32, 1, shape);
    REFUSED("input 0: rank is 1, recorded 2");
    now[0] = inputs[0];
    now[0].dtype = GPH_DTYPE_F16;
    REFUSED("input 0: dtype is f16, recorded f32");
    now[0] = inputs[0];
    now[0].data = 0;
    REFUSED("input 0: it has no data");
    now[0] = inputs[0];
    other[1] = 2;
    REFUSED("key[1] is 2, recorded 1");
    other[1] = 1;
    arguments.key_count = 3;
    REFUSED("the key has 3 words, recorded 2");
    arguments.key_count = 2;
    arguments.input_count = 3;
    REFUSED("3 inputs, recorded 2");
    arguments.input_count = 2;
    now[1].data = x;
    CHECK(strstr(refusal(callable, &arguments), "input 1: a static input is at 0x") !=
          NULL);
    CHECK(gph_callable_check(callable, &arguments, NULL, 3, NULL, &error) ==
          GPH_E_INVALID);

    gph_mismatch all[2];
    uint32_t count = 0;
    now[0].shape[0] = 5;
    now[0].shape[1] = 65;
    other[0] = -1;
    CHECK(gph_callable_check(callable, &arguments, all, 2, &count, &error) ==
          GPH_E_INVALID);
    CHECK(count == 4 && all[0].kind == GPH_MISMATCH_KEY && all[0].got == -1);
    CHECK(all[1].kind == GPH_MISMATCH_SHAPE && all[1].index == 0 && all[1].axis == 0 &&
          all[1].got == 5 && all[1].recorded == 4);
    gph_callable_destroy(callable);
    CU(MemFree, x);
    CU(MemFree, w);
}

static void what_differs_in_nothing_fits(void)
{
    CUdeviceptr x = new_floats(1);
    gph_tensor inputs[] = {gph_tensor_dense(x, GPH_DTYPE_F32, 2, (int64_t[]){1, N}),
                           floats(x)};
    gph_callable *callable = make_twice(inputs);
    gph_tensor now[] = {inputs[0], inputs[1]}, out;
    now[0].stride[0] = 99;  /* of an axis of one element */
    now[0].shape[5] = 1234; /* beyond the rank */
    gph_arguments arguments = args(now, 2);
    CHECK_OK(gph_callable_call(callable, &arguments, stream, &out, &error), error);
    CHECK(first_float(out.data) == 3);
    memset(now, 0, sizeof(now)); /* as they lie there */
    CHECK_OK(gph_callable_call(callable, &arguments, stream, &out, &error), error);
    CHECK(first_float(out.data) == 3);
    CHECK_OK(gph_callable_call(callable, NULL, stream, NULL, &error), error);
    now[0] = gph_callable_input(callable, 0); /* written in its place */
    CU(MemsetD32Async, now[0].data, 0, N, stream);
    CHECK_OK(gph_callable_call(callable, &arguments, stream, &out, &error), error);
    CHECK(first_float(out.data) == 1);
    CHECK(gph_callable_epoch(callable) == 4);
    CHECK(gph_callable_input(callable, 2).dtype == 0);
    CHECK(gph_callable_output(callable, 1).dtype == 0);
    CHECK(gph_callable_output(callable, 0).data == out.data);
    gph_callable_destroy(callable);
    CU(MemFree, x);
}

/* outputs[0] = column sums' stand-in: copies the row that an expanded tensor repeats. */
static gph_status copy_row(void *user, gph_call *call, gph_error *out)
{
    (void)user;
    CUdeviceptr at = 0;
    gph_status status =
        gph_pool_alloc(call->pool, N * sizeof(float), call->stream, &at, out);
    if (status != GPH_OK)
        return status;
    call->outputs[0] = floats(at);
    return put_copy(at, call->inputs[0].data, call->stream, out);
}

static void an_expanded_input_is_copied_once(void)
{
    CUdeviceptr x = new_floats(5), y = new_floats(6);
    gph_tensor wide = gph_tensor_dense(x, GPH_DTYPE_F32, 2, (int64_t[]){1000, N}), out;
    wide.stride[0] = 0;
    CHECK(gph_tensor_bytes(&wide) == N * sizeof(float));
    gph_callable_options options = options_for(copy_row, &wide, 1, 1);
    gph_callable *callable = NULL;
    CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error);
    wide.data = y;
    const gph_arguments arguments = args(&wide, 1);
    CHECK_OK(gph_callable_call(callable, &arguments, stream, &out, &error), error);
    CHECK(first_float(out.data) == 6);
    gph_callable_destroy(callable);
    CU(MemFree, x);
    CU(MemFree, y);
}

static void outputs_go_where_they_are_wanted(void)
{
    const gph_tensor inputs[] = {floats(new_floats(1)), floats(new_floats(10))};
    CUdeviceptr mine = new_floats(0), later = new_floats(0);
    gph_output output = {.policy = GPH_OUTPUT_INTO, .into = floats(mine)};
    gph_callable_options options = options_for(twice_plus, inputs, 2, 1);
    options.outputs = &output;
    gph_callable *into = NULL, *copied = NULL;
    gph_tensor out = {0};
    const gph_arguments arguments = args(inputs, 2);
    CHECK_OK(gph_callable_create(runtime, &options, &into, &error), error);
    output.policy = GPH_OUTPUT_COPIED;
    CHECK_OK(gph_callable_create(runtime, &options, &copied, &error), error);

    CHECK_OK(gph_callable_call(into, &arguments, stream, &out, &error), error);
    CHECK(out.data == mine && first_float(mine) == 12);
    out = (gph_tensor){.data = later};
    CHECK_OK(gph_callable_call(copied, &arguments, stream, &out, &error), error);
    CHECK(out.data == later && out.shape[0] == N && first_float(later) == 12);
    out.data = 0; /* nowhere */
    CHECK_OK(gph_callable_call(copied, &arguments, stream, &out, &error), error);
    CHECK(out.data == 0 && out.shape[0] == N);
    gph_callable_destroy(into);
    gph_callable_destroy(copied);
    CU(MemFree, mine);
    CU(MemFree, later);
    CU(MemFree, inputs[0].data);
    CU(MemFree, inputs[1].data);
}

/* Ignores where its output is wanted: outputs 0 and 1 are halves of one allocation,
 * output 2 is the input. */
static gph_status views(void *user, gph_call *call, gph_error *out)
{
    (void)user;
    CUdeviceptr both = 0;
    gph_status status =
        gph_pool_alloc(call->pool, 2 * N * sizeof(float), call->stream, &both, out);
    if (status != GPH_OK)
        return status;
    call->outputs[0] = floats(both);
    call->outputs[1] = floats(both + N * sizeof(float));
    call->outputs[2] = call->inputs[0];
    status = put_copy(both, call->inputs[0].data, call->stream, out);
    if (status == GPH_OK)
        status =
            put_copy(both + N * sizeof(float), call->inputs[0].data, call->stream, out);
    if (status == GPH_OK)
        status = put_scale_add(both, both, 2, call->stream, out);
    return status;
}

static void outputs_may_be_views(void)
{
    CUdeviceptr x = new_floats(4), mine = new_floats(0);
    const gph_tensor input = floats(x);
    gph_output wanted[3] = {{0}, {.policy = GPH_OUTPUT_INTO, .into = floats(mine)}, {0}};
    gph_callable_options options = options_for(views, &input, 1, 3);
    options.warmup_count = 1;
    options.flags = GPH_CALLABLE_SHARE_INPUTS;
    for (int is_into = 0; is_into < 2; is_into++) {
        gph_tensor out[3];
        gph_callable *callable = NULL;
        const gph_arguments arguments = args(&input, 1);
        CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error);
        CHECK_OK(gph_callable_call(callable, &arguments, stream, out, &error), error);
        CHECK(first_float(out[0].data) == 12 && first_float(out[1].data) == 4 &&
              first_float(out[2].data) == 4);
        CHECK((out[1].data == mine) == is_into);
        CHECK(out[2].data == gph_callable_input(callable, 0).data);
        gph_callable_destroy(callable);

        gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
        CHECK_OK(gph_function_call(runtime, &options, &arguments, stream, out, &error),
                 error);
        CHECK(out[2].data == x && first_float(out[0].data) == 12);
        gph_pool_stats_get(pool, &stats);
        CHECK(stats.allocation_count == 1); /* both halves, once */
        CHECK_OK(gph_pool_free(pool, out[0].data, stream, &error), error);
        options.outputs = wanted;
    }
    CU(MemFree, x);
    CU(MemFree, mine);
}

/* grad += x, into a buffer of the caller's: inputs are x and grad. */
static gph_status accumulate(void *user, gph_call *call, gph_error *out)
{
    (void)user;
    return put_scale_add(call->inputs[1].data, call->inputs[0].data, 1, call->stream,
                         out);
}

static void buffers_that_add_up_are_cleared_inside_or_outside(void)
{
    CUdeviceptr x = new_floats(3), grad = new_floats(0);
    const gph_tensor inputs[] = {floats(x), floats(grad)};
    const uint8_t modes[] = {GPH_INPUT_COPY, GPH_INPUT_STATIC};
    gph_callable_options options = options_for(accumulate, inputs, 2, 0);
    const gph_arguments arguments = args(inputs, 2);
    options.modes = modes;
    for (int is_inside = 0; is_inside < 2; is_inside++) {
        gph_callable *callable = NULL;
        CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error);
        CU(MemsetD32Async, grad, 0, N, stream);
        for (int i = 1; i <= 3; i++) {
            CHECK_OK(gph_callable_call(callable, &arguments, stream, NULL, &error),
                     error);
            CHECK(first_float(grad) == (is_inside ? 3 : 3 * (float)i));
        }
        CU(MemsetD32Async, grad, 0, N, stream); /* outside */
        CHECK_OK(gph_callable_call(callable, &arguments, stream, NULL, &error), error);
        CHECK(first_float(grad) == 3);
        gph_callable_destroy(callable);
        options.clear = &inputs[1];
        options.clear_count = 1;
    }
    gph_callable *none = NULL;
    gph_tensor gaps = inputs[1];
    gaps.stride[0] = 2;
    options.clear = &gaps;
    CHECK(gph_callable_create(runtime, &options, &none, &error) == GPH_E_INVALID);
    CHECK(none == NULL && strstr(error.message, "clear 0") != NULL);
    CU(MemFree, x);
    CU(MemFree, grad);
}

static void lent_outputs_have_an_epoch(void)
{
    const gph_tensor inputs[] = {floats(new_floats(1)), floats(new_floats(10))};
    gph_callable *callable = make_twice(inputs);
    CHECK(gph_callable_epoch_check(callable, 0, &error) == GPH_E_INVALID);
    CHECK_OK(gph_callable_call(callable, NULL, stream, NULL, &error), error);
    CHECK_OK(gph_callable_epoch_check(callable, 1, &error), error);
    CHECK(gph_callable_epoch_check(callable, 2, &error) == GPH_E_INVALID);
    CHECK_OK(gph_callable_call(callable, NULL, stream, NULL, &error), error);
    CHECK(gph_callable_epoch_check(callable, 1, &error) == GPH_E_STATE);
    CHECK(strcmp(error.message, "outputs of call 1 were overwritten by call 2") == 0);
    CHECK_OK(gph_callable_epoch_check(callable, 2, &error), error);
    gph_callable_destroy(callable);
    CU(MemFree, inputs[0].data);
    CU(MemFree, inputs[1].data);
}

/* What a failing function does. */
enum failure { FAIL_SELF, FAIL_SILENT, FAIL_SYNC, FAIL_FREED, FAIL_NO_DATA, FAIL_KINDS };

static gph_status failing(void *user, gph_call *call, gph_error *out)
{
    const int kind = *(const int *)user;
    CUdeviceptr at = 0;
    if (call->phase == GPH_PHASE_WARMUP)
        return twice_plus(NULL, call, out);
    gph_status status = twice_plus(NULL, call, out);
    if (status != GPH_OK)
        return status;
    switch (kind) {
    case FAIL_SELF:
        snprintf(out->message, sizeof(out->message), "no luck");
        out->code = GPH_E_IO;
        return GPH_E_IO;
    case FAIL_SILENT: return GPH_E_IO;
    case FAIL_SYNC: (void)cu->StreamSynchronize(call->stream); return GPH_OK;
    case FAIL_FREED:
        return gph_pool_free(call->pool, call->outputs[0].data, call->stream, out);
    default:
        at = call->outputs[0].data;
        call->outputs[0].data = 0;
        return gph_pool_free(call->pool, at, call->stream, out);
    }
}

static void a_failed_recording_gives_everything_back(void)
{
    static const char *const texts[FAIL_KINDS] = {
        "no luck", "the function returned GPH_E_IO", "cuStreamEndCapture",
        "output 0: the function has freed", "output 0: the function gave it no data"};
    const gph_tensor inputs[] = {floats(new_floats(1)), floats(new_floats(10))};
    gph_rng *rng = NULL;
    CHECK_OK(gph_rng_create(runtime, 1, &rng, &error), error);
    gph_rng_take(rng, 5);
    gph_pool_stats before = GPH_SIZED(gph_pool_stats);
    gph_pool_stats after = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(pool, &before);
    for (int kind = 0; kind < FAIL_KINDS; kind++) {
        gph_callable_options options = options_for(failing, inputs, 2, 1);
        gph_callable *callable = NULL;
        int capturing = 1;
        options.user = &kind;
        options.rng = rng;
        options.warmup_count = 1;
        memset(&error, 0, sizeof(error));
        CHECK(gph_callable_create(runtime, &options, &callable, &error) != GPH_OK);
        CHECK(callable == NULL);
        if (!CHECK(strstr(error.message, texts[kind]) != NULL))
            fprintf(stderr, "  %s\n", error.message);
        CU(StreamIsCapturing, stream, &capturing);
        CHECK(capturing == 0);
        gph_pool_stats_get(pool, &after);
        CHECK(after.allocation_count == before.allocation_count &&
              after.recording_count == before.recording_count &&
              after.users == before.users);
        CHECK(gph_rng_state_get(rng).offset == 5);
        options.function = twice_plus;
        options.user = NULL;
        CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error);
        CHECK_OK(gph_callable_call(callable, NULL, stream, NULL, &error), error);
        CU(StreamSynchronize, stream);
        gph_callable_destroy(callable);
    }
    gph_rng_destroy(rng);
    CU(MemFree, inputs[0].data);
    CU(MemFree, inputs[1].data);
}

static void bad_options_are_named(void)
{
    gph_tensor input = floats(new_floats(0));
    gph_output output = {.policy = GPH_OUTPUT_INTO};
    uint8_t mode = 9;
    gph_callable *callable = NULL;
    const struct {
        const char *text;
        gph_callable_options options;
    } rows[] = {
#define ROW(text, ...)                                                                   \
    {                                                                                    \
        text,                                                                            \
        {                                                                                \
            .size = sizeof(gph_callable_options), .pool = pool, .stream = stream,        \
            __VA_ARGS__                                                                  \
        }                                                                                \
    }
        ROW("options.function is NULL", .output_count = 0),
        ROW("options.flags 0x80", .function = copy_row, .flags = 0x80),
        ROW("output 0: its buffer has no data", .function = copy_row, .outputs = &output,
            .output_count = 1),
        ROW("input 0: 9 is not a gph_input_mode", .function = copy_row,
            .sample = {&input, 1, 0, NULL}, .modes = &mode),
        ROW("gph_callable_create: arguments->inputs is NULL", .function = copy_row,
            .sample = {NULL, 1, 0, NULL}),
        ROW("options.clear is NULL", .function = copy_row, .clear_count = 1),
#undef ROW
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        CHECK(gph_callable_create(runtime, &rows[i].options, &callable, &error) ==
              GPH_E_INVALID);
        if (!CHECK(strstr(error.message, rows[i].text) != NULL))
            fprintf(stderr, "  %s\n", error.message);
    }
    CU(MemFree, input.data);
}

static void bad_tensors_are_named(void)
{
    gph_tensor input = floats(new_floats(0));
    gph_callable *callable = NULL;
    CHECK(gph_callable_create(NULL, NULL, &callable, &error) == GPH_E_INVALID);
    CHECK(gph_callable_create(runtime, NULL, &callable, &error) == GPH_E_INVALID);
    gph_callable_options options = options_for(copy_row, &input, 1, 1);
    input.shape[0] = -1;
    CHECK(gph_callable_create(runtime, &options, &callable, &error) == GPH_E_INVALID);
    input.shape[0] = INT64_MAX;
    CHECK(gph_callable_create(runtime, &options, &callable, &error) == GPH_E_INVALID);
    input.rank = 99;
    CHECK(gph_callable_create(runtime, &options, &callable, &error) == GPH_E_INVALID);
    input = floats(input.data);
    input.dtype = 0;
    CHECK(gph_callable_create(runtime, &options, &callable, &error) == GPH_E_INVALID);
    input = floats(input.data);
    options.stream = NULL; /* the legacy stream cannot be captured */
    CHECK(gph_callable_create(runtime, &options, &callable, &error) != GPH_OK);
    options.stream = stream;
    options.warmup_count = 1;
    const CUdeviceptr data = input.data;
    input.data = 0;
    CHECK(gph_callable_create(runtime, &options, &callable, &error) == GPH_E_INVALID);
    CHECK(strcmp(error.message, "warm-up: input 0: it has no data to warm up with") == 0);
    CHECK(callable == NULL);
    CHECK(gph_callable_call(NULL, NULL, stream, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_callable_check(NULL, NULL, NULL, 0, NULL, &error) == GPH_E_INVALID);
    gph_callable_destroy(NULL);
    CU(MemFree, data);
}

/* Nothing in, nothing out, no work. */
static gph_status nothing(void *user, gph_call *call, gph_error *out)
{
    (void)user;
    (void)out;
    CHECK(call->input_count == 0 && call->key_count == 1 && call->key[0] == 4);
    return GPH_OK;
}

static void a_function_of_nothing_works(void)
{
    const int64_t key[] = {4};
    gph_callable_options options = options_for(nothing, NULL, 0, 0);
    options.sample.key = key;
    options.sample.key_count = 1;
    options.flags = GPH_CALLABLE_KEEP_GRAPH;
    options.name = "nothing";
    gph_callable *callable = NULL;
    CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error);
    CHECK_OK(gph_callable_call(callable, &options.sample, stream, NULL, &error), error);
    size_t count = 1;
    CU(GraphGetNodes, gph_callable_graph(callable), NULL, &count);
    CHECK(count == 0 && gph_callable_exec(callable) != NULL);
    CHECK(gph_callable_recording(callable) != 0);
    const gph_arguments none = {0};
    CHECK(gph_callable_call(callable, &none, stream, NULL, &error) == GPH_E_INVALID);
    CHECK(strcmp(error.message, "nothing, replay: the key has 0 words, recorded 1") == 0);
    CU(StreamSynchronize, stream);
    gph_callable_destroy(callable);
}

/* More than the pool may have. */
static gph_status greedy(void *user, gph_call *call, gph_error *out)
{
    CUdeviceptr at = 0;
    (void)user;
    gph_status status = gph_pool_alloc(call->pool, 1 << 20, call->stream, &at, out);
    call->outputs[0] = floats(at);
    return status == GPH_OK ? gph_pool_alloc(call->pool, 64 << 20, call->stream, &at, out)
                            : status;
}

static void a_capture_that_runs_out_of_memory_ends_cleanly(void)
{
    enum { OUT_OF_MEMORY = 2 };
    gph_pool_options small = GPH_POOL_OPTIONS_INIT;
    gph_pool *scarce = NULL;
    gph_callable *callable = NULL;
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    int capturing = 1;
    small.max_bytes = 8 << 20;
    CHECK_OK(gph_pool_create(arena, &small, &scarce, &error), error);
    gph_callable_options options = options_for(greedy, NULL, 0, 1);
    options.pool = scarce;
    CHECK(gph_callable_create(runtime, &options, &callable, &error) == OUT_OF_MEMORY);
    CHECK(callable == NULL);
    CU(StreamIsCapturing, stream, &capturing);
    CHECK(capturing == 0);
    gph_pool_stats_get(scarce, &stats);
    CHECK(stats.allocation_count == 0 && stats.recording_count == 0 && stats.users == 1);
    gph_pool_release(scarce);
}

static void recording_again_takes_no_more_memory(void)
{
    const gph_tensor inputs[] = {floats(new_floats(1)), floats(new_floats(10))};
    gph_pool_stats first = GPH_SIZED(gph_pool_stats);
    gph_pool_stats last = GPH_SIZED(gph_pool_stats);
    for (int i = 0; i < 100; i++) {
        gph_callable *callable = make_twice(inputs);
        CHECK_OK(gph_callable_call(callable, NULL, stream, NULL, &error), error);
        gph_pool_stats_get(pool, i == 0 ? &first : &last);
        CU(StreamSynchronize, stream);
        gph_callable_destroy(callable);
    }
    CHECK(last.mapped_bytes == first.mapped_bytes);
    CHECK(last.allocation_count == first.allocation_count);
    CU(MemFree, inputs[0].data);
    CU(MemFree, inputs[1].data);
}

/* Its work goes into another stream than it should, which runs it at once. */
static gph_status astray(void *user, gph_call *call, gph_error *out)
{
    (void)call;
    return gph_cuda_check(
        cu->MemsetD32Async(*(const CUdeviceptr *)user, 0, N, other_stream),
        "cuMemsetD32Async", out);
}

static char logged[512];

static void keep_line(void *user, gph_log_level level, const char *area,
                      const char *message)
{
    (void)user;
    if (level == GPH_LOG_WARN && strcmp(area, "callable") == 0)
        snprintf(logged, sizeof(logged), "%s", message);
}

static void a_recording_of_nothing_is_told(void)
{
    CUdeviceptr at = new_floats(1);
    gph_callable_options options = options_for(astray, NULL, 0, 0);
    gph_callable *callable = NULL;
    options.user = &at;
    options.name = "astray";
    logged[0] = '\0';
    gph_log_set(keep_line, NULL);
    CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error);
    gph_log_set(NULL, NULL);
    CHECK(strstr(logged, "astray recorded no work") == logged);
    CU(StreamSynchronize, other_stream);
    gph_callable_destroy(callable);
    CU(MemFree, at);
}

/* Its output is right in all phases but one, user's. */
static gph_status types_wrongly(void *user, gph_call *call, gph_error *out)
{
    (void)out;
    call->outputs[0] = call->inputs[0];
    if (call->phase == *(uint32_t *)user)
        call->outputs[0].dtype = 77;
    return GPH_OK;
}

static void an_error_over_tensors_names_function_and_phase(void)
{
    static const struct {
        uint32_t phase;
        const char *text;
    } rows[] = {
        {GPH_PHASE_EAGER, "norm, eager call: output 0: 77 is not a gph_dtype"},
        {GPH_PHASE_WARMUP, "norm, warm-up: output 0: 77 is not a gph_dtype"},
        {GPH_PHASE_CAPTURE, "norm, recording: output 0: 77 is not a gph_dtype"},
        {0, "norm, replay: input 0: dtype is f16, recorded f32"},
    };
    gph_tensor input = floats(new_floats(1)), out = {0};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        gph_callable_options options = options_for(types_wrongly, &input, 1, 1);
        const gph_arguments arguments = args(&input, 1);
        gph_callable *callable = NULL;
        uint32_t phase = rows[i].phase;
        options.user = &phase;
        options.name = "norm";
        options.warmup_count = 1;
        gph_status status = GPH_OK;
        if (phase == GPH_PHASE_EAGER)
            status =
                gph_function_call(runtime, &options, &arguments, stream, &out, &error);
        else
            status = gph_callable_create(runtime, &options, &callable, &error);
        if (phase == 0) {
            gph_tensor half = input;
            half.dtype = GPH_DTYPE_F16;
            const gph_arguments wrong = args(&half, 1);
            status = gph_callable_call(callable, &wrong, stream, &out, &error);
        }
        CHECK(status == GPH_E_INVALID);
        if (!CHECK(strcmp(error.message, rows[i].text) == 0))
            fprintf(stderr, "  %s\n", error.message);
        gph_callable_destroy(callable);
    }
    input.shape[0] = (int64_t)1 << 61;
    gph_callable_options options = options_for(types_wrongly, &input, 1, 1);
    gph_callable *callable = NULL;
    CHECK(gph_callable_create(runtime, &options, &callable, &error) == GPH_E_INVALID);
    CHECK(strcmp(error.message, "recording: input 0: f32[2305843009213693952] spans more "
                                "than 2^62 bytes") == 0);
    CU(MemFree, input.data);
}

/* ---- the first cause ---- */

/* Ignores what the driver refuses, and fails at its next call. */
static gph_status ignores_a_refusal(void *user, gph_call *call, gph_error *out)
{
    (void)user;
    if (call->phase == GPH_PHASE_CAPTURE)
        (void)cu->StreamSynchronize(call->stream);
    return put_copy(call->inputs[0].data, call->inputs[0].data, call->stream, out);
}

static void a_recording_that_fails_names_the_first_cause(void)
{
    if (!names_refusals())
        SKIP("this driver does not name refused calls");
    const gph_tensor input = floats(new_floats(1));
    gph_callable_options options = options_for(ignores_a_refusal, &input, 1, 0);
    gph_callable *callable = NULL;
    CHECK(gph_callable_create(runtime, &options, &callable, &error) ==
          CAPTURE_INVALIDATED);
    const gph_cause *cause = gph_cause_last();
    CHECK(strcmp(cause->call, "cuStreamSynchronize") == 0);
    CHECK(cause->code == CAPTURE_UNSUPPORTED && cause->is_own == 1);
    CHECK(says("cuMemcpyDtoDAsync returned CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"));
    CHECK(says("the first refusal since the capture began, on its own thread"));
    CHECK(says(": cuStreamSynchronize") && says(cause->text) && says(cause->caller));
    CHECK(callable == NULL && error.hint[0] != '\0');
    CU(MemFree, input.data);
}

int main(void)
{
    if (!set_up())
        return 1;
    RUN(a_call_gives_what_the_function_gives);
    RUN(a_difference_is_named);
    RUN(an_error_over_tensors_names_function_and_phase);
    RUN(a_recording_that_fails_names_the_first_cause);
    RUN(what_differs_in_nothing_fits);
    RUN(an_expanded_input_is_copied_once);
    RUN(outputs_go_where_they_are_wanted);
    RUN(outputs_may_be_views);
    RUN(buffers_that_add_up_are_cleared_inside_or_outside);
    RUN(lent_outputs_have_an_epoch);
    RUN(a_failed_recording_gives_everything_back);
    RUN(bad_options_are_named);
    RUN(bad_tensors_are_named);
    RUN(a_function_of_nothing_works);
    RUN(a_capture_that_runs_out_of_memory_ends_cleanly);
    RUN(recording_again_takes_no_more_memory);
    RUN(a_recording_of_nothing_is_told);
    return tear_down();
}
