// SPDX-License-Identifier: Apache-2.0
/* A family of graphs on a real driver: every answer gives the right result, memory is
 * shared, executables are shared, and what went wrong is reported. */
#include "cache_fixture.h"

#include <gph/cache_figures.h>

static void every_size_gives_what_an_eager_call_gives(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    gph_cache *cache = make_cache(&options);
    if (cache == NULL)
        return;
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    for (int64_t tokens = 1; tokens <= 70; tokens++) {
        gph_cache_call_args args = GPH_CACHE_CALL_INIT;
        gph_tensor outputs[2] = {{0}};
        if (!CHECK_OK(call_model(cache, tokens, &args, outputs), error))
            break;
        const bool is_power = (tokens & (tokens - 1)) == 0;
        CHECK(args.match.verdict == (tokens > 64 ? GPH_CACHE_EAGER
                                     : is_power  ? GPH_CACHE_EXACT
                                                 : GPH_CACHE_PADDED));
        if (!CHECK(is_right(tokens, outputs)))
            fprintf(stderr, "  %lld tokens\n", (long long)tokens);
        CHECK(outputs[0].stride[0] == WIDTH && outputs[1].rank == 0);
    }
    gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
    gph_cache_stats_get(cache, &stats);
    CHECK(stats.verdicts[GPH_CACHE_EXACT] == 7);
    CHECK(stats.verdicts[GPH_CACHE_PADDED] == 64 - 7);
    CHECK(stats.verdicts[GPH_CACHE_EAGER] == 6 && stats.reasons[GPH_CACHE_BEYOND] == 6);
    CHECK(stats.real_units == 64 * 65 / 2 && stats.captured_count == 7);
    CHECK(m.calls[GPH_PHASE_EAGER] == 6);
    end_cache(cache);
    check_pool_is_empty();
}

static void results_go_where_the_caller_wants_them(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    gph_cache *cache = make_cache(&options);
    if (cache == NULL)
        return;
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    const int64_t sizes[] = {5, 64, 70};
    for (int i = 0; i < 3; i++) {
        gph_cache_call_args args = GPH_CACHE_CALL_INIT;
        gph_tensor outputs[2] = {{.data = device_y}, {.data = device_s}};
        CHECK_OK(call_model(cache, sizes[i], &args, outputs), error);
        CHECK(outputs[0].data == device_y && outputs[1].data == device_s);
        /* what was lent is gone, what was copied is not */
        gph_cache_call_args other = GPH_CACHE_CALL_INIT;
        gph_tensor lent[2] = {{0}};
        CHECK_OK(call_model(cache, 3, &other, lent), error);
        CHECK(is_right(sizes[i], outputs));
    }
    end_cache(cache);
}

struct steps {
    gph_cache_progress seen[64];
    uint32_t count, end_at;
};

static int note_step(void *user, const gph_cache_progress *now)
{
    struct steps *steps = user;
    if (steps->count < 64)
        steps->seen[steps->count] = *now;
    return ++steps->count == steps->end_at;
}

static void a_start_warms_all_keys_then_captures_the_largest_first(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    struct steps steps = {.count = 0};
    options.warmup = 2;
    gph_cache *cache = make_cache(&options);
    if (cache == NULL)
        return;
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, note_step, &steps, &error), error);
    CHECK(m.calls[GPH_PHASE_WARMUP] == 14 && m.calls[GPH_PHASE_CAPTURE] == 7);
    for (uint32_t i = 0; i < 14; i++)
        CHECK(m.order[i] == 64 >> (i / 2));
    for (uint32_t i = 14; i < 21; i++)
        CHECK(m.order[i] == 64 >> (i - 14));
    CHECK(steps.count == 14);
    CHECK(steps.seen[0].phase == GPH_PHASE_WARMUP && steps.seen[0].done == 1);
    CHECK(steps.seen[0].total == 7 && steps.seen[0].key == 6);
    CHECK(steps.seen[13].phase == GPH_PHASE_CAPTURE && steps.seen[13].done == 7);
    CHECK(steps.seen[13].left_ns == 0 && steps.seen[12].left_ns > 0);
    /* once more: there is nothing left to do */
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, note_step, &steps, &error), error);
    CHECK(steps.count == 14);
    end_cache(cache);
}

/* ---- with one run ---- */

static void one_run_is_enough_where_no_capture_shows_otherwise(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    struct steps steps = {.count = 0};
    options.warmup = GPH_CACHE_WARM_LARGEST;
    gph_cache *cache = make_cache(&options);
    if (cache == NULL)
        return;
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, note_step, &steps, &error), error);
    CHECK(m.calls[GPH_PHASE_WARMUP] == 1 && m.order[0] == 64);
    CHECK(m.calls[GPH_PHASE_CAPTURE] == 7 && steps.count == 7);
    CHECK(steps.seen[6].done == 7 && steps.seen[6].left_ns == 0);
    for (int64_t tokens = 1; tokens <= 64; tokens += 9) {
        gph_cache_call_args args = GPH_CACHE_CALL_INIT;
        gph_tensor outputs[2] = {{0}};
        CHECK_OK(call_model(cache, tokens, &args, outputs), error);
        CHECK(args.match.key != GPH_CACHE_NONE && is_right(tokens, outputs));
    }
    end_cache(cache);
    check_pool_is_empty();
}

static void all_keys_are_run_where_a_capture_keeps_memory_or_fails(void)
{
    for (int way = 0; way < 2; way++) {
        model m = {.workspace_at = way == 0 ? 64 : 0, .sync_at = way == 0 ? 0 : 8};
        gph_cache_options options = model_options(&m);
        gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
        options.warmup = GPH_CACHE_WARM_LARGEST;
        gph_cache *cache = make_cache(&options);
        if (cache == NULL)
            return;
        const gph_status status =
            gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error);
        CHECK((status == GPH_OK) == (way == 0)); /* 8 tokens cannot be captured at all */
        gph_cache_stats_get(cache, &stats);
        CHECK(stats.captured_count == (way == 0 ? 7 : 6));
        CHECK(m.calls[GPH_PHASE_WARMUP] == 1 + 7); /* the largest, then all */
        CHECK(m.workspace_bytes == m.workspace_at * (TOKENS_MAX - 1));
        for (int64_t tokens = 1; tokens <= 64; tokens += 9) {
            gph_cache_call_args args = GPH_CACHE_CALL_INIT;
            gph_tensor outputs[2] = {{0}};
            CHECK_OK(call_model(cache, tokens, &args, outputs), error);
            CHECK(args.match.key != GPH_CACHE_NONE && is_right(tokens, outputs));
        }
        end_cache(cache);
        if (m.workspace != 0)
            CHECK_OK(gph_pool_free(pool, m.workspace, stream, &error), error);
        check_pool_is_empty();
    }
}

static void a_start_can_be_ended(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    struct steps steps = {.end_at = 9};
    gph_cache *cache = make_cache(&options);
    if (cache == NULL)
        return;
    CHECK(gph_cache_start(cache, stream, NULL, 0, note_step, &steps, &error) ==
          GPH_E_STATE);
    CHECK(strstr(error.message, "2 of 7 keys (capture)") != NULL);
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    gph_tensor outputs[2] = {{0}};
    CHECK_OK(call_model(cache, 3, &args, outputs), error); /* 32 is the least there is */
    CHECK(args.match.verdict == GPH_CACHE_PADDED && args.match.key == 5);
    CHECK(args.match.wanted == 2 && is_right(3, outputs));
    end_cache(cache);
}

static void a_key_that_fails_does_not_stop_the_others(void)
{
    model m = {.fail_at = 8, .sync_at = 32, .short_at = 2};
    gph_cache_options options = model_options(&m);
    gph_cache *cache = make_cache(&options);
    gph_cache_key_info info = GPH_SIZED(gph_cache_key_info);
    if (cache == NULL)
        return;
    CHECK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error) != GPH_OK);
    CHECK(strstr(error.message, "3 of 7 keys failed") != NULL);
    for (uint32_t k = 0; k < 7; k++) {
        CHECK_OK(gph_cache_key_get(cache, k, &info, &error), error);
        const bool bad = k == 3 || k == 5 || k == 1;
        CHECK(info.values[0] == 1 << k);
        CHECK((info.status != GPH_OK) == bad && (info.message[0] != '\0') == bad);
        CHECK(info.reason == (bad ? GPH_CACHE_FAILED : GPH_CACHE_FITS));
        CHECK((info.exec == GPH_CACHE_EXEC_NONE) == bad);
    }
    CHECK_OK(gph_cache_key_get(cache, 3, &info, &error), error);
    CHECK(info.status == GPH_E_UNSUPPORTED);
    CHECK(strcmp(info.message, "no model for 8 tokens") == 0);
    CHECK_OK(gph_cache_key_get(cache, 5, &info, &error), error);
    if (!CHECK(!names_refusals() || strstr(info.message, "cuStreamSynchronize") != NULL))
        fprintf(stderr, "  %s\n", info.message);
    CHECK_OK(gph_cache_key_get(cache, 1, &info, &error), error);
    CHECK(strstr(info.message,
                 "model, warm-up: output 0: shape[0] is 1, the options say 2") != NULL);
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    gph_tensor outputs[2] = {{0}};
    CHECK_OK(call_model(cache, 7, &args, outputs), error); /* 8 failed: 16 serves */
    CHECK(args.match.key == 4 && is_right(7, outputs));
    m.fail_at = m.sync_at = m.short_at = 0;
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    CHECK_OK(call_model(cache, 7, &args, outputs), error);
    CHECK(args.match.key == 3 && is_right(7, outputs));
    CHECK_OK(gph_cache_key_get(cache, 3, &info, &error), error);
    CHECK(info.status == GPH_OK && info.message[0] == '\0');
    end_cache(cache);
    check_pool_is_empty();
}

/* Bytes of the graphs of a ladder, and of its largest key alone. */
static void tensor_bytes_of(uint32_t rungs, uint64_t *all, uint64_t *largest)
{
    model m = {.layers = 3};
    gph_cache_options options = model_options(&m);
    const gph_cache_axis axis = {.name = "tokens",
                                 .ladder = GPH_LADDER_LINEAR,
                                 .first = TOKENS_MAX / rungs,
                                 .step = TOKENS_MAX / rungs,
                                 .last = TOKENS_MAX};
    options.axes = &axis;
    for (int alone = 0; alone < 2; alone++) {
        gph_cache *cache = make_cache(&options);
        if (cache == NULL)
            return;
        const uint32_t last = gph_cache_key_count(cache) - 1;
        CHECK_OK(gph_cache_start(cache, stream, alone ? &last : NULL, (uint32_t)alone,
                                 NULL, NULL, &error),
                 error);
        gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
        gph_cache_stats_get(cache, &stats);
        CHECK(stats.captured_count == (alone ? 1 : last + 1));
        CHECK(stats.shared_count == 1 && stats.own_count == 0);
        *(alone ? largest : all) = stats.tensor_bytes;
        end_cache(cache);
    }
}

static void all_graphs_take_the_memory_of_the_largest(void)
{
    const uint32_t rungs[] = {7, 67};
    for (int i = 0; i < 2; i++) {
        uint64_t all = 0, largest = 0;
        tensor_bytes_of(rungs[i], &all, &largest);
        CHECK(largest > 3 * TOKENS_MAX * WIDTH * 4); /* x, t, y */
        if (!CHECK((double)all <= 1.02 * (double)largest))
            fprintf(stderr, "  %u graphs: %llu, the largest: %llu\n", rungs[i],
                    (unsigned long long)all, (unsigned long long)largest);
    }
}

/* ---- callbacks ---- */

struct filled {
    model m; /* first, so that it serves run_model() as well */
    uint32_t calls, wrong;
    int64_t sizes, value;
};

static gph_status note_fill(void *user, const gph_cache_fill *fill, gph_error *why)
{
    struct filled *filled = user;
    (void)why;
    filled->calls++;
    filled->sizes = fill->sizes[0];
    filled->value = fill->values[0];
    filled->wrong += fill->input_count != 2 || fill->axis_count != 1 ||
                     fill->inputs[0].shape[0] != fill->values[0];
    /* a request that does no harm: 9 everywhere */
    const size_t real = (size_t)fill->sizes[0] * WIDTH;
    const size_t all = (size_t)fill->values[0] * WIDTH;
    return cu->MemsetD32Async(fill->inputs[0].data + real * 4, 0x41100000, all - real,
                              fill->stream);
}

static void the_callback_writes_the_padding(void)
{
    struct filled filled = {.calls = 0};
    gph_cache_options options = model_options(&filled.m);
    options.fill = note_fill;
    gph_cache *cache = make_cache(&options);
    if (cache == NULL)
        return;
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    CHECK(filled.calls == 7 && filled.sizes == 0 && filled.value == 1);
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    gph_tensor outputs[2] = {{0}}, input;
    CHECK_OK(call_model(cache, 5, &args, outputs), error);
    CHECK(filled.calls == 8 && filled.sizes == 5 && filled.value == 8);
    CHECK(is_right(5, outputs)); /* the sum looks at the real tokens alone */
    CHECK_OK(gph_cache_input(cache, 3, 0, &input, &error), error);
    float host[8 * WIDTH];
    CU(MemcpyDtoHAsync, host, input.data, sizeof(host), stream);
    CU(StreamSynchronize, stream);
    CHECK(host[5 * WIDTH - 1] == 5 * WIDTH - 1 && host[5 * WIDTH] == 9);
    CHECK(host[8 * WIDTH - 1] == 9);
    CHECK_OK(call_model(cache, 8, &args, outputs), error);
    CHECK(filled.calls == 8 && filled.wrong == 0); /* exact: no padding */
    end_cache(cache);
}

struct voters {
    model m;
    uint32_t local, joint;
    gph_status status;
};

static gph_status vote(void *user, uint32_t local, uint32_t *joint, gph_error *why)
{
    struct voters *voters = user;
    (void)why;
    voters->local = local;
    *joint = voters->joint;
    return voters->status;
}

static void all_ranks_do_what_they_agreed_on(void)
{
    struct voters voters = {.joint = 3};
    gph_cache_options options = model_options(&voters.m);
    options.agree = vote;
    gph_cache *cache = make_cache(&options);
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    gph_tensor outputs[2] = {{0}};
    if (cache == NULL)
        return;
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    CHECK_OK(call_model(cache, 7, &args, outputs), error);
    CHECK(voters.local == 3 && args.match.key == 3 && is_right(7, outputs));
    voters.joint = 5; /* another rank has more tokens */
    CHECK_OK(call_model(cache, 8, &args, outputs), error);
    CHECK(args.match.verdict == GPH_CACHE_PADDED && args.match.key == 5);
    CHECK(is_right(8, outputs));
    voters.joint = GPH_CACHE_NONE;
    CHECK_OK(call_model(cache, 8, &args, outputs), error);
    CHECK(args.match.verdict == GPH_CACHE_EAGER);
    CHECK(args.match.reason == GPH_CACHE_DISAGREED && is_right(8, outputs));
    voters.joint = 2;
    CHECK(call_model(cache, 8, &args, outputs) == GPH_E_STATE); /* 4 do not hold 8 */
    CHECK(strstr(error.message, "key 2") != NULL);
    voters.joint = 77;
    CHECK(call_model(cache, 8, &args, outputs) == GPH_E_STATE);
    voters.joint = GPH_CACHE_NONE;
    CHECK_OK(call_model(cache, 100, &args, outputs), error);
    CHECK(voters.local == GPH_CACHE_NONE && args.match.reason == GPH_CACHE_BEYOND);
    voters.status = GPH_E_IO;
    CHECK(call_model(cache, 8, &args, outputs) == GPH_E_IO);
    end_cache(cache);
}

/* ---- in place ---- */

static void inputs_may_be_written_in_their_place(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    gph_cache *cache = make_cache(&options);
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    gph_tensor outputs[2] = {{0}}, x, other, bias, sizes;
    const int64_t tokens[] = {5};
    if (cache == NULL)
        return;
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    CHECK_OK(gph_cache_input(cache, 3, 0, &x, &error), error);
    CHECK_OK(gph_cache_input(cache, 6, 0, &other, &error), error);
    CHECK_OK(gph_cache_input(cache, 3, 1, &bias, &error), error);
    CHECK(x.data == other.data && x.shape[0] == 8 && other.shape[0] == 64);
    CHECK(gph_cache_input(cache, 3, 3, &x, &error) == GPH_E_INVALID);
    CU(MemcpyDtoDAsync, x.data, device_x, 8 * WIDTH * 4, stream);
    CU(MemcpyDtoDAsync, bias.data, device_bias, 4, stream);
    args.stream = stream;
    args.sizes = tokens;
    args.outputs = outputs;
    CHECK_OK(gph_cache_call(cache, &args, &error), error);
    CHECK(args.match.verdict == GPH_CACHE_PADDED && is_right(5, outputs));

    CU(MemcpyDtoDAsync, x.data, device_x, 8 * WIDTH * 4, stream);
    CHECK_OK(gph_cache_input(cache, 3, 2, &sizes, &error), error);
    CHECK(sizes.dtype == GPH_DTYPE_I64 && sizes.shape[0] == 1);
    const int64_t eight = 8;
    CU(MemcpyHtoDAsync, sizes.data, &eight, 8, stream);
    CHECK_OK(gph_cache_replay(cache, 3, stream, &error), error);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_OK(gph_cache_output(cache, 3, i, &outputs[i], &error), error);
    CHECK(is_right(8, outputs));
    const int64_t too_many[] = {100};
    args.sizes = too_many;
    CHECK(gph_cache_call(cache, &args, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "no key holds") != NULL);
    /* a miss: the function is called on the buffers */
    CHECK_OK(gph_cache_evict(cache, 3, &error), error);
    for (uint32_t k = 4; k < 7; k++)
        CHECK_OK(gph_cache_evict(cache, k, &error), error);
    CU(MemcpyDtoDAsync, x.data, device_x, 8 * WIDTH * 4, stream);
    args.sizes = tokens;
    CHECK_OK(gph_cache_call(cache, &args, &error), error);
    CHECK(args.match.verdict == GPH_CACHE_MISS && is_right(5, outputs));
    end_cache(cache);
}

/* ---- refusals ---- */

static void a_call_in_a_capture_is_eager(void)
{
    model m = {0};
    gph_cache_options options = model_options(&m);
    options.lazy = GPH_CACHE_LAZY_CALL;
    gph_cache *cache = make_cache(&options);
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    gph_tensor outputs[2] = {{0}};
    gph_capture *capture = NULL;
    if (cache == NULL)
        return;
    CHECK_OK(gph_capture_begin(runtime, stream, NULL, &capture, &error), error);
    /* the capture is not of the cache's pool, so the function cannot allocate */
    CHECK(call_model(cache, 8, &args, outputs) == GPH_E_STATE);
    CHECK(args.match.verdict == GPH_CACHE_EAGER);
    CHECK(args.match.reason == GPH_CACHE_IN_CAPTURE);
    CHECK(gph_capture_abort(capture, &error) == GPH_OK);
    CHECK_OK(call_model(cache, 8, &args, outputs), error);
    CHECK(args.match.verdict == GPH_CACHE_EXACT && is_right(8, outputs));
    end_cache(cache);
    check_pool_is_empty();
}

/* ---- several axes ---- */

enum { ROWS_MAX = 4, COLUMNS_MAX = 8 };

/* y = (mode + 2) x + 1 over [rows, columns]; offsets [rows + 1] are only looked at. */
static gph_status run_grid(void *user, gph_call *call, gph_error *why)
{
    const int64_t *key = call->key;
    const unsigned count = (unsigned)(key[0] * key[1]);
    CUdeviceptr y = 0;
    (void)user;
    gph_status status = gph_pool_alloc(call->pool, count * 4, call->stream, &y, why);
    if (status != GPH_OK)
        return status;
    status = launch_line(call, y, call->inputs[0].data, 0, (float)key[2] + 2, count);
    call->outputs[0] = gph_tensor_dense(y, GPH_DTYPE_F32, 2, key);
    return gph_cuda_check(status, "cuLaunchKernel", why);
}

static void check_grid(gph_cache *cache, int64_t rows, int64_t columns, int64_t mode)
{
    const int64_t sizes[] = {rows, columns, mode}, offsets[] = {rows + 1};
    const gph_tensor inputs[] = {gph_tensor_dense(device_x, GPH_DTYPE_F32, 2, sizes),
                                 gph_tensor_dense(device_x, GPH_DTYPE_I64, 1, offsets)};
    gph_tensor output = {.data = device_y};
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    float y[ROWS_MAX * COLUMNS_MAX] = {0};
    args.stream = stream;
    args.sizes = sizes;
    args.inputs = inputs;
    args.outputs = &output;
    if (!CHECK_OK(gph_cache_call(cache, &args, &error), error))
        return;
    CHECK(args.match.key != GPH_CACHE_NONE);
    CU(MemcpyDtoHAsync, y, device_y, (size_t)(rows * columns) * 4, stream);
    CU(StreamSynchronize, stream);
    int wrong = 0;
    for (int64_t i = 0; i < rows * columns; i++)
        wrong += y[i] != ((float)mode + 2) * (float)i + 1;
    if (!CHECK(wrong == 0))
        fprintf(stderr, "  %lld x %lld, mode %lld\n", (long long)rows, (long long)columns,
                (long long)mode);
}

/* After a call of 3 x 7 in mode 1. */
static void check_padding_of_grid(const gph_cache *cache)
{
    gph_tensor offsets, sizes;
    int64_t host[ROWS_MAX + 1], want[ROWS_MAX + 1], real[3];
    const int64_t values[] = {4, 8, 1};
    const uint32_t key = gph_cache_key(cache, values);
    CHECK_OK(gph_cache_input(cache, key, 1, &offsets, &error), error);
    CHECK_OK(gph_cache_input(cache, key, 2, &sizes, &error), error);
    CU(MemcpyDtoHAsync, host, offsets.data, sizeof(host), stream);
    CU(MemcpyDtoHAsync, want, device_x, sizeof(want), stream);
    CU(MemcpyDtoHAsync, real, sizes.data, sizeof(real), stream);
    CU(StreamSynchronize, stream);
    CHECK(memcmp(host, want, 4 * sizeof(int64_t)) == 0); /* of 3 rows */
    CHECK(host[4] == want[3]);                           /* the last again */
    CHECK(real[0] == 3 && real[1] == 7 && real[2] == 1);
}

static void several_axes_are_padded_and_modes_are_kept_apart(void)
{
    const int64_t modes[] = {0, 1};
    const gph_cache_axis axes[] = {
        {.name = "rows", .ladder = GPH_LADDER_POWERS, .last = ROWS_MAX},
        {.name = "columns",
         .ladder = GPH_LADDER_LINEAR,
         .first = 3,
         .step = 3,
         .last = COLUMNS_MAX},
        {.name = "mode",
         .ladder = GPH_LADDER_LIST,
         .discrete = 1,
         .values = modes,
         .value_count = 2}};
    const gph_cache_tensor inputs[] = {{.dtype = GPH_DTYPE_F32,
                                        .rank = 2,
                                        .shape = {1, 1},
                                        .axis = {1, 2},
                                        .fill = GPH_FILL_VALUE,
                                        .value = 0x3f800000},
                                       {.dtype = GPH_DTYPE_I64,
                                        .rank = 1,
                                        .shape = {1},
                                        .extra = {1},
                                        .axis = {1},
                                        .fill = GPH_FILL_LAST}};
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    options.pool = pool;
    options.axes = axes;
    options.axis_count = 3;
    options.inputs = inputs;
    options.input_count = 2;
    options.outputs = inputs;
    options.output_count = 1;
    options.function = run_grid;
    gph_cache *cache = make_cache(&options);
    if (cache == NULL)
        return;
    CHECK(gph_cache_key_count(cache) == 3 * 3 * 2);
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    for (int64_t rows = 1; rows <= ROWS_MAX; rows++)
        for (int64_t columns = 1; columns <= COLUMNS_MAX; columns++)
            for (int64_t mode = 0; mode < 2; mode++)
                check_grid(cache, rows, columns, mode);
    check_grid(cache, 3, 7, 1);
    check_padding_of_grid(cache);
    end_cache(cache);
    check_pool_is_empty();
}

/* ---- figures ---- */

static void a_forecast_is_within_a_tenth(void)
{
    model m = {.layers = 4};
    gph_cache_options options = model_options(&m);
    gph_cache_axis axis = {.name = "tokens",
                           .ladder = GPH_LADDER_LINEAR,
                           .first = 64,
                           .step = 64,
                           .last = TOKENS_MAX};
    options.axes = &axis;
    gph_cache *cache = make_cache(&options);
    gph_cache_trace traces[2] = {GPH_SIZED(gph_cache_trace), GPH_SIZED(gph_cache_trace)};
    gph_plan_buffer buffers[2][64];
    gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
    gph_cache_forecast forecast = GPH_SIZED(gph_cache_forecast);
    if (cache == NULL)
        return;
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    gph_cache_stats_get(cache, &stats);
    const uint32_t keys[2] = {1, 9}; /* not the largest */
    for (int i = 0; i < 2; i++) {
        CHECK_OK(gph_cache_trace_get(cache, keys[i], buffers[i], 64, &traces[i], &error),
                 error);
        CHECK(traces[i].buffer_count == 6 && traces[i].node_count == 9);
        CHECK(traces[i].seconds > 0);
    }
    CHECK(gph_cache_trace_get(cache, 1, buffers[0], 3, &traces[0], &error) ==
          GPH_E_INVALID);
    options.pool = NULL;
    options.function = NULL;
    CHECK_OK(gph_cache_forecast_make(&options, traces, 2, NULL, &forecast, &error),
             error);
    CHECK(forecast.key_count == 16 && forecast.guessed_count == 14);
    const double ratio = (double)forecast.tensor_bytes / (double)stats.tensor_bytes;
    if (!CHECK(ratio > 0.9 && ratio < 1.1))
        fprintf(stderr, "  forecast %llu, taken %llu\n",
                (unsigned long long)forecast.tensor_bytes,
                (unsigned long long)stats.tensor_bytes);
    const double execs = (double)forecast.shared_exec_bytes / (double)stats.exec_bytes;
    CHECK(execs > 0.9 && execs < 1.1 && forecast.seconds > 0);
    CHECK(forecast.separate_bytes > 4 * forecast.tensor_bytes);
    CHECK_OK(gph_cache_forecast_make(&options, traces, 1, NULL, &forecast, &error),
             error);
    CHECK(forecast.seconds == 0);
    traces[0].values[0] = 65;
    CHECK(gph_cache_forecast_make(&options, traces, 2, NULL, &forecast, &error) ==
          GPH_E_INVALID);
    CHECK(gph_cache_forecast_make(&options, NULL, 0, NULL, &forecast, &error) ==
          GPH_E_INVALID);
    end_cache(cache);
}

static void a_dump_tells_everything(void)
{
    model m = {.fail_at = 16};
    gph_cache_options options = model_options(&m);
    gph_cache *cache = make_cache(&options);
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    gph_tensor outputs[2] = {{0}};
    static char text[8192], cut[40];
    if (cache == NULL)
        return;
    CHECK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error) ==
          GPH_E_UNSUPPORTED);
    CHECK_OK(call_model(cache, 5, &args, outputs), error);
    CHECK_OK(call_model(cache, 99, &args, outputs), error);
    gph_buffer whole = {text, sizeof(text), 0}, part = {cut, sizeof(cut), 0};
    CHECK_OK(gph_cache_write(cache, gph_write_buffer, &whole, &error), error);
    CHECK(whole.length == strlen(text));
    const char *words[] = {"model: 7 keys", "tokens 64",
                           "shared",        "no model for 16 tokens",
                           "6 captured",    "1 calls: a size is beyond"};
    for (int i = 0; i < 6; i++)
        if (!CHECK(strstr(text, words[i]) != NULL))
            fprintf(stderr, "  no \"%s\" in\n%s", words[i], text);
    CHECK_OK(gph_cache_write(cache, gph_write_buffer, &part, &error), error);
    CHECK(part.length == whole.length && strlen(cut) == 39);
    end_cache(cache);
}

/* Keys whose kernels have all been run are not run, but where a workspace asks for it. */
static void each_kernel_is_run_before_captures(void)
{
    static const struct {
        int64_t other_at;
        uint64_t workspace_at;
        uint32_t warmups, captures;
    } cases[] = {{0, 0, 1, 7}, {64, 0, 1, 7}, {8, 0, 2, 14}, {0, 64, 8, 9}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        model m = {.other_at = cases[i].other_at, .workspace_at = cases[i].workspace_at};
        gph_cache_options options = model_options(&m);
        gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
        options.warmup = GPH_CACHE_WARM_KERNELS;
        gph_cache *cache = make_cache(&options);
        if (cache == NULL)
            return;
        CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
        gph_cache_stats_get(cache, &stats);
        CHECK(stats.captured_count == 7);
        CHECK(m.calls[GPH_PHASE_WARMUP] == cases[i].warmups);
        if (!CHECK(m.calls[GPH_PHASE_CAPTURE] == cases[i].captures))
            fprintf(stderr, "  case %zu: %u captures\n", i, m.calls[GPH_PHASE_CAPTURE]);
        for (int64_t tokens = 1; tokens <= 64; tokens += 9) {
            gph_cache_call_args args = GPH_CACHE_CALL_INIT;
            gph_tensor outputs[2] = {{0}};
            CHECK_OK(call_model(cache, tokens, &args, outputs), error);
            CHECK(args.match.key != GPH_CACHE_NONE && is_right(tokens, outputs));
        }
        end_cache(cache);
        if (m.workspace != 0)
            CHECK_OK(gph_pool_free(pool, m.workspace, stream, &error), error);
        check_pool_is_empty();
    }
}

int main(void)
{
    if (!set_up())
        return 1;
    RUN(every_size_gives_what_an_eager_call_gives);
    RUN(results_go_where_the_caller_wants_them);
    RUN(a_start_warms_all_keys_then_captures_the_largest_first);
    RUN(one_run_is_enough_where_no_capture_shows_otherwise);
    RUN(all_keys_are_run_where_a_capture_keeps_memory_or_fails);
    RUN(a_start_can_be_ended);
    RUN(a_key_that_fails_does_not_stop_the_others);
    RUN(all_graphs_take_the_memory_of_the_largest);
    RUN(the_callback_writes_the_padding);
    RUN(all_ranks_do_what_they_agreed_on);
    RUN(inputs_may_be_written_in_their_place);
    RUN(a_call_in_a_capture_is_eager);
    RUN(several_axes_are_padded_and_modes_are_kept_apart);
    RUN(a_forecast_is_within_a_tenth);
    RUN(a_dump_tells_everything);
    RUN(each_kernel_is_run_before_captures);
    tear_down();
    return test_done();
}
