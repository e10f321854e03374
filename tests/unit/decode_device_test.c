// SPDX-License-Identifier: Apache-2.0
/* The kernels of kernels/decode.cu on a driver: logits of prefills and of decode steps
 * against PyTorch's, greedy tokens against the sums, modes and batches against each
 * other. GPH_DRIVER says on which driver. */
#include "examples/decode/batch.h"
#include "examples/decode/tokens.h"
#include "fault.h"
#include "test.h"
#include <math.h>

enum { SEQUENCES = 8, LENGTH = 16, VOCAB = 16 };

static fault_heap heap = {.fail_at = -1};
static const gph_allocator allocator = {fault_realloc, &heap};
static const char *missing; /* why there is no driver here */

static int tokens[SEQUENCES * LENGTH];
static float expected[SEQUENCES * LENGTH * VOCAB];
static weights model;

/* A decoder that is ready, and what one test runs on it. */
typedef struct fixture {
    device d;
    decoder m;
    sequence list[SEQUENCES];
    int out[SEQUENCES][PROBLEM_ANSWER_MAX];
} fixture;

static const decoder_options plain = {.slots = SEQUENCES,
                                      .context = LENGTH,
                                      .queue = 2,
                                      .temperature = 1,
                                      .seed = 1,
                                      .keep_logits = true};

static uint32_t prompt_length(int which)
{
    uint32_t count = 0;
    while (tokens[which * LENGTH + (int)count] != TOKEN_EQUALS)
        count++;
    return count + 1;
}

static bool setup(fixture *f, const decoder_options *options)
{
    gph_error error = {0};
    const device_options how = {.kernels = KERNELS_DIR};
    *f = (fixture){0};
    const gph_status status = device_open(&allocator, &how, &f->d, &error);
    if (status == GPH_E_UNSUPPORTED) {
        missing = "no driver here";
        return false;
    }
    if (!CHECK_OK(status, error))
        return false;
    if (!CHECK_OK(decoder_init(&f->m, &f->d, &model, options, &error), error)) {
        device_close(&f->d);
        return false;
    }
    for (int i = 0; i < SEQUENCES; i++)
        f->list[i] = (sequence){.prompt = tokens + i * LENGTH,
                                .prompt_count = prompt_length(i),
                                .new_max = LENGTH - prompt_length(i),
                                .out = f->out[i]};
    return true;
}

static void teardown(fixture *f)
{
    decoder_fini(&f->m);
    device_close(&f->d);
}

static float difference(const float *got, int which, uint32_t position)
{
    float apart = 0;
    for (int v = 0; v < VOCAB; v++) {
        const float d =
            fabsf(got[v] - expected[(which * LENGTH + (int)position) * VOCAB + v]);
        apart = d <= apart ? apart : d; /* a NaN sticks */
    }
    return apart;
}

static void prefill_gives_pytorchs_logits(void)
{
    static fixture f;
    gph_error error = {0};
    float apart = 0;
    if (!setup(&f, &plain))
        SKIP(missing ? missing : "setup failed");
    for (uint32_t length = 1; length < LENGTH; length++) {
        prompt list[SEQUENCES];
        for (int i = 0; i < SEQUENCES; i++)
            list[i] = (prompt){.token = tokens + i * LENGTH,
                               .count = length,
                               .slot = i,
                               .limit = LENGTH,
                               .sequence = i};
        if (!CHECK_OK(decoder_reset(&f.m, &error), error) ||
            !CHECK_OK(decoder_prefill(&f.m, list, SEQUENCES, &error), error))
            break;
        for (int i = 0; i < SEQUENCES; i++)
            apart = fmaxf(apart, difference(f.m.kept + i * VOCAB, i, length - 1));
    }
    printf("# logits differ by at most %g\n", (double)apart);
    CHECK(apart < 1e-3f);
    teardown(&f);
}

/* All sequences start together, so row i of every step is sequence i. */
static void check_steps(const fixture *f, const batch_stats *stats)
{
    float apart = 0;
    for (int i = 0; i < SEQUENCES; i++) {
        const uint32_t start = prompt_length(i);
        apart = fmaxf(apart, difference(f->m.kept + i * VOCAB, i, start - 1));
        for (uint32_t k = 0; k + 1 < f->list[i].out_count; k++)
            apart = fmaxf(
                apart, difference(f->m.kept + ((k + 1) * SEQUENCES + (uint32_t)i) * VOCAB,
                                  i, start + k));
        for (uint32_t k = 0; k < f->list[i].out_count; k++)
            CHECK(f->out[i][k] == tokens[i * LENGTH + (int)(start + k)]);
        CHECK(f->out[i][f->list[i].out_count - 1] == TOKEN_END);
    }
    printf("# %llu steps, logits differ by at most %g\n",
           (unsigned long long)stats->steps, (double)apart);
    CHECK(apart < 1e-3f);
}

static void decode_gives_pytorchs_tokens_and_logits(void)
{
    static fixture f;
    gph_error error = {0};
    if (!setup(&f, &plain))
        SKIP(missing ? missing : "setup failed");
    for (int mode = MODE_EAGER; mode < MODE_COUNT; mode++) {
        const batch_options how = {.mode = (decode_mode)mode};
        batch_stats stats;
        if (CHECK_OK(batch_run(&f.m, &how, f.list, SEQUENCES, &stats, &error), error))
            check_steps(&f, &stats);
    }
    teardown(&f);
}

/* All steps of all answers in one launch, whoever starts the rounds. */
static void whole_answers_are_one_launch(void)
{
    static fixture f;
    gph_error error = {0};
    decoder_options options = plain;
    options.ring = LENGTH;
    if (!setup(&f, &options))
        SKIP(missing ? missing : "setup failed");
    for (int way = GPH_LOOP_FASTEST; way <= GPH_LOOP_HOST; way++) {
        const batch_options how = {.mode = MODE_LOOP, .way = (gph_loop_way)way};
        batch_stats stats;
        if (CHECK_OK(batch_run(&f.m, &how, f.list, SEQUENCES, &stats, &error), error)) {
            check_steps(&f, &stats);
            CHECK(stats.loops == 1 && stats.launches == 1 && stats.steps > 4);
            CHECK(way < GPH_LOOP_WHILE || stats.ways.way == (uint32_t)way);
        }
    }
    teardown(&f);
}

/* Runs all sequences; true if every token is as in `wanted`, which the first run fills.
 */
static bool same_tokens(const decoder_options *options, decode_mode mode, bool fill,
                        int wanted[SEQUENCES][PROBLEM_ANSWER_MAX])
{
    static fixture f;
    gph_error error = {0};
    batch_stats stats;
    bool same = true;
    if (!setup(&f, options))
        return missing != NULL;
    const batch_options how = {.mode = mode};
    if (CHECK_OK(batch_run(&f.m, &how, f.list, SEQUENCES, &stats, &error), error)) {
        if (fill)
            memcpy(wanted, f.out, sizeof(f.out));
        for (int i = 0; i < SEQUENCES; i++)
            same = same &&
                   memcmp(wanted[i], f.out[i], f.list[i].out_count * sizeof(int)) == 0;
    }
    teardown(&f);
    return same;
}

static void samples_alike_in_every_mode_batch_and_queue(void)
{
    static int wanted[SEQUENCES][PROBLEM_ANSWER_MAX];
    decoder_options options = plain;
    options.top_p = 0.99f;
    options.temperature = 3; /* warm enough to go astray */
    options.keep_logits = false;
    CHECK(same_tokens(&options, MODE_EAGER, true, wanted));
    if (missing)
        SKIP(missing);
    CHECK(same_tokens(&options, MODE_GRAPH, false, wanted));
    CHECK(same_tokens(&options, MODE_LOOP, false, wanted));
    options.queue = 5;
    options.slots = 3;
    CHECK(same_tokens(&options, MODE_GRAPH, false, wanted));
    CHECK(same_tokens(&options, MODE_LOOP, false, wanted));
    options.ring = LENGTH;
    CHECK(same_tokens(&options, MODE_LOOP, false, wanted));
    options.queue = 1;
    CHECK(same_tokens(&options, MODE_EAGER, false, wanted));
}

/* A nucleus that holds one token is greedy; so is a temperature near zero. */
static void a_tiny_nucleus_is_greedy(void)
{
    static int wanted[SEQUENCES][PROBLEM_ANSWER_MAX];
    decoder_options options = plain;
    options.keep_logits = false;
    CHECK(same_tokens(&options, MODE_EAGER, true, wanted));
    if (missing)
        SKIP(missing);
    options.top_p = 0.01f;
    CHECK(same_tokens(&options, MODE_GRAPH, false, wanted));
    options.top_p = 1;
    options.temperature = 0.01f;
    CHECK(same_tokens(&options, MODE_EAGER, false, wanted));
}

/* Opens, decodes and closes with a heap whose nth allocation fails. */
static gph_status run_with(fault_heap *failing, gph_error *error)
{
    static fixture f;
    const gph_allocator seam = {fault_realloc, failing};
    const device_options how = {.kernels = KERNELS_DIR};
    batch_stats stats;
    f = (fixture){0};
    gph_status status = device_open(&seam, &how, &f.d, error);
    if (status != GPH_OK)
        return status;
    status = decoder_init(&f.m, &f.d, &model, &plain, error);
    for (int i = 0; i < SEQUENCES; i++)
        f.list[i] = (sequence){.prompt = tokens + i * LENGTH,
                               .prompt_count = prompt_length(i),
                               .new_max = LENGTH - prompt_length(i),
                               .out = f.out[i]};
    if (status == GPH_OK)
        status = batch_run(&f.m, &(batch_options){.mode = MODE_GRAPH}, f.list, SEQUENCES,
                           &stats, error);
    if (status == GPH_OK)
        check_steps(&f, &stats);
    teardown(&f);
    return status;
}

static void survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        fault_heap failing = {.fail_at = nth};
        gph_error error = {0};
        const gph_status status = run_with(&failing, &error);
        if (status == GPH_E_UNSUPPORTED)
            SKIP("no driver here");
        if (!CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY))
            fprintf(stderr, "  allocation %ld: %s\n", nth, error.message);
        CHECK(atomic_load(&failing.live_bytes) == 0);
        if (status == GPH_OK) {
            printf("# %ld allocations\n", nth);
            CHECK(nth > 5);
            return;
        }
    }
}

static void refuses_what_does_not_fit(void)
{
    static fixture f;
    gph_error error = {0};
    batch_stats stats;
    decoder_options options = plain;
    if (!setup(&f, &options))
        SKIP(missing ? missing : "setup failed");
    decoder other;
    options.context = model.c.positions + 1;
    CHECK(decoder_init(&other, &f.d, &model, &options, &error) == GPH_E_INVALID);
    f.m.o.queue = 17;
    CHECK(batch_run(&f.m, &(batch_options){.mode = MODE_EAGER}, f.list, 1, &stats,
                    &error) == GPH_E_INVALID);
    f.m.o.queue = 2;
    prompt empty = {.token = tokens};
    CHECK(decoder_prefill(&f.m, &empty, 0, &error) == GPH_E_INVALID);
    teardown(&f);
    const device_options nowhere = {.kernels = "/no/such/folder"};
    CHECK(device_open(&allocator, &nowhere, &f.d, &error) == GPH_E_INVALID);
}

int main(void)
{
    gph_error error = {0};
    tensors file;
    if (!CHECK_OK(weights_load(&allocator, MODEL_DIR, &model, &error), error) ||
        !CHECK_OK(
            tensors_open(&allocator, MODEL_DIR "/reference.safetensors", &file, &error),
            error))
        return 1;
    CHECK_OK(tensors_read_bytes(&file, tensors_find(&file, "tokens"), tokens, &error),
             error);
    CHECK_OK(tensors_read(&file, tensors_find(&file, "logits"), expected, &error), error);
    tensors_close(&file);
    RUN(prefill_gives_pytorchs_logits);
    RUN(decode_gives_pytorchs_tokens_and_logits);
    RUN(whole_answers_are_one_launch);
    RUN(samples_alike_in_every_mode_batch_and_queue);
    RUN(a_tiny_nucleus_is_greedy);
    RUN(survives_every_failed_allocation);
    RUN(refuses_what_does_not_fit);
    weights_fini(&model);
    if (atomic_load(&heap.live_bytes) != 0) {
        printf("not ok leaks %ld bytes\n", atomic_load(&heap.live_bytes));
        return 1;
    }
    return test_done();
}
