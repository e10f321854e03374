// SPDX-License-Identifier: Apache-2.0
/* The shipped model: its files load, and a plain C forward pass over the loaded weights
 * gives the logits that PyTorch gave (reference.safetensors) and the right sums. */
#include "decode_reference.h"
#include "examples/decode/tokens.h"
#include "fault.h"
#include "test.h"
#include <math.h>

static fault_heap heap = {.fail_at = -1};
static const gph_allocator allocator = {fault_realloc, &heap};

static void logits_are_pytorchs(void)
{
    static reference_cache past;
    weights w;
    tensors file;
    gph_error error = {0};
    if (!CHECK_OK(weights_load(&allocator, MODEL_DIR, &w, &error), error))
        return;
    CHECK(w.c.layers <= 8 && w.c.inner <= MAX_WIDTH && w.c.width <= MAX_WIDTH);
    if (CHECK_OK(
            tensors_open(&allocator, MODEL_DIR "/reference.safetensors", &file, &error),
            error)) {
        const tensor *ids = tensors_find(&file, "tokens");
        const tensor *logits = tensors_find(&file, "logits");
        static int token[8 * 16];
        static float expected[8 * 16 * 16];
        CHECK(ids->count == 8 * 16 && logits->count == 8 * 16 * 16);
        CHECK_OK(tensors_read_bytes(&file, ids, token, &error), error);
        CHECK_OK(tensors_read(&file, logits, expected, &error), error);
        float apart = 0;
        for (int s = 0; s < 8; s++)
            for (int t = 0; t < 16; t++) {
                float got[16];
                reference_forward(&w, &past, token[s * 16 + t], (uint32_t)t, got);
                for (int v = 0; v < 16; v++)
                    apart = fmaxf(apart, fabsf(got[v] - expected[(s * 16 + t) * 16 + v]));
            }
        printf("# logits differ by at most %g\n", (double)apart);
        CHECK(apart < 1e-3f);
        tensors_close(&file);
    }
    weights_fini(&w);
}

/* Greedy; true if the answer is the sum. */
static bool solves(const weights *w, const problem *p)
{
    static reference_cache past;
    float logits[16] = {0};
    int out[PROBLEM_ANSWER_MAX];
    uint32_t position = 0, count = 0;
    for (; position < p->prompt_count; position++)
        reference_forward(w, &past, p->prompt[position], position, logits);
    while (count < PROBLEM_ANSWER_MAX) {
        int best = 0;
        for (int v = 1; v < 16; v++)
            if (logits[v] > logits[best])
                best = v;
        out[count++] = best;
        if (best == TOKEN_END)
            break;
        reference_forward(w, &past, best, position++, logits);
    }
    unsigned long long answer;
    return answer_read(out, count, &answer) && answer == p->sum;
}

static void adds_held_out_numbers(void)
{
    weights w;
    problem *problems = NULL;
    size_t count = 0, exact = 0;
    gph_error error = {0};
    if (!CHECK_OK(weights_load(&allocator, MODEL_DIR, &w, &error), error))
        return;
    if (CHECK_OK(problems_read(&allocator, MODEL_DIR "/problems.txt", 0, &problems,
                               &count, &error),
                 error)) {
        CHECK(count == 1000);
        for (size_t i = 0; i < 50; i++)
            exact += solves(&w, &problems[i * 20]);
        printf("# %zu of 50 exact\n", exact);
        CHECK(exact >= 49);
        allocator.realloc(allocator.user, problems, count * sizeof(*problems), 0);
    }
    weights_fini(&w);
}

/* train.py's bucket() */
static uint64_t bucket(uint64_t a, uint64_t b)
{
    uint64_t h = (a * 10007 + b * 7919 + 12345) % 2147483647;
    h = h * 48271 % 2147483647;
    return h * 48271 % 2147483647 % 20;
}

static void problems_are_held_out(void)
{
    problem *problems = NULL;
    size_t count = 0;
    gph_error error = {0};
    if (!CHECK_OK(problems_read(&allocator, MODEL_DIR "/problems.txt", 0, &problems,
                                &count, &error),
                  error))
        return;
    for (size_t i = 0; i < count; i++) {
        CHECK(bucket(problems[i].a, problems[i].b) == 0);
        CHECK(problems[i].a + problems[i].b == problems[i].sum);
    }
    allocator.realloc(allocator.user, problems, count * sizeof(*problems), 0);
}

static void survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        fault_heap failing = {.fail_at = nth};
        const gph_allocator seam = {fault_realloc, &failing};
        weights w;
        gph_error error = {0};
        const gph_status status = weights_load(&seam, MODEL_DIR, &w, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        if (status == GPH_OK)
            weights_fini(&w);
        CHECK(atomic_load(&failing.live_bytes) == 0);
        if (status == GPH_OK) {
            CHECK(nth > 5);
            return;
        }
    }
}

int main(void)
{
    RUN(logits_are_pytorchs);
    RUN(adds_held_out_numbers);
    RUN(problems_are_held_out);
    RUN(survives_every_failed_allocation);
    CHECK(atomic_load(&heap.live_bytes) == 0);
    return test_done();
}
