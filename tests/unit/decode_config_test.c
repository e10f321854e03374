// SPDX-License-Identifier: Apache-2.0
/* config.json and the texts of examples/decode: what is read, what is refused. */
#include "examples/decode/tokens.h"
#include "examples/decode/weights.h"
#include "fault.h"
#include "test.h"
#include <math.h>
#include <unistd.h>

static fault_heap heap = {.fail_at = -1};
static const gph_allocator allocator = {fault_realloc, &heap};

#define SIZES                                                                            \
    "\"vocab_size\":100,\"hidden_size\":64,\"intermediate_size\":96,"                    \
    "\"num_hidden_layers\":2,\"num_attention_heads\":4"

static gph_status read_config(const char *text, config *out, gph_error *error)
{
    return config_read(&allocator, text, strlen(text), out, error);
}

static void missing_values_have_llamas_defaults(void)
{
    config c;
    gph_error error = {0};
    if (!CHECK_OK(read_config("{" SIZES "}", &c, &error), error))
        return;
    CHECK(c.kv_heads == 4 && c.head_dim == 16 && c.positions == 2048 && c.end == -1);
    CHECK(!c.tied && c.theta == 10000 && fabsf(c.eps - 1e-6f) < 1e-9f && c.factor == 0);
}

static void reads_old_and_new_rope_settings(void)
{
    config c;
    gph_error error = {0};
    CHECK_OK(
        read_config("{" SIZES ",\"rope_theta\":500.0,\"rope_scaling\":null}", &c, &error),
        error);
    CHECK(c.theta == 500);
    CHECK_OK(read_config("{" SIZES ",\"rope_parameters\":{\"rope_theta\":300,"
                         "\"rope_type\":\"default\"}}",
                         &c, &error),
             error);
    CHECK(c.theta == 300 && c.factor == 0);
    CHECK_OK(read_config("{" SIZES
                         ",\"rope_theta\":5e5,\"rope_scaling\":{\"factor\":32.0,"
                         "\"low_freq_factor\":1.0,\"high_freq_factor\":4.0,"
                         "\"original_max_position_embeddings\":8192,"
                         "\"rope_type\":\"llama3\"},\"eos_token_id\":[7,8]}",
                         &c, &error),
             error);
    CHECK(c.factor == 32 && c.low == 1 && c.high == 4 && c.trained_positions == 8192);
    CHECK(c.end == 7);
}

static const struct {
    const char *text;
    gph_status status;
    const char *says;
} bad[] = {
    {"[]", GPH_E_FORMAT, "not a JSON object"},
    {"{\"vocab_size\":100}", GPH_E_FORMAT, "no hidden_size"},
    {"{" SIZES ",\"vocab_size\":0}", GPH_OK, ""}, /* the first of equals counts */
    {"{\"vocab_size\":0}", GPH_E_FORMAT, "vocab_size is 0"},
    {"{\"vocab_size\":\"x\"}", GPH_E_FORMAT, "not a size"},
    {"{\"vocab_size\":99999999999}", GPH_E_FORMAT, "vocab_size is 99999999999"},
    {"{" SIZES ",\"model_type\":\"gpt2\"}", GPH_E_UNSUPPORTED, "gpt2"},
    {"{" SIZES ",\"hidden_act\":\"gelu\"}", GPH_E_UNSUPPORTED, "gelu"},
    {"{" SIZES ",\"attention_bias\":true}", GPH_E_UNSUPPORTED, "attention_bias"},
    {"{" SIZES ",\"num_key_value_heads\":3}", GPH_E_FORMAT, "share 3"},
    {"{" SIZES ",\"head_dim\":15}", GPH_E_FORMAT, "odd"},
    {"{" SIZES ",\"rms_norm_eps\":-1}", GPH_E_FORMAT, "rms_norm_eps"},
    {"{" SIZES ",\"rms_norm_eps\":1e999}", GPH_E_FORMAT, "rms_norm_eps"},
    {"{" SIZES ",\"eos_token_id\":100}", GPH_E_FORMAT, "eos_token_id"},
    {"{" SIZES ",\"rope_scaling\":{\"type\":\"yarn\"}}", GPH_E_UNSUPPORTED, "yarn"},
    {"{" SIZES ",\"rope_scaling\":{\"type\":\"llama3\"}}", GPH_E_FORMAT, "no factor"},
};

static void refuses_models_that_would_not_run(void)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        config c;
        gph_error error = {0};
        if (!CHECK(read_config(bad[i].text, &c, &error) == bad[i].status) ||
            !CHECK(strstr(error.message, bad[i].says) != NULL))
            fprintf(stderr, "  %s: %s\n", bad[i].text, error.message);
    }
}

static gph_status problems_of(const char *text, problem **out, size_t *count,
                              gph_error *error)
{
    char path[64];
    snprintf(path, sizeof(path), "problems_%ld.tmp", (long)getpid());
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    const gph_status status = problems_read(&allocator, path, 0, out, count, error);
    unlink(path);
    return status;
}

static void reads_problems(void)
{
    problem *list = NULL;
    size_t count = 0;
    gph_error error = {0};
    if (!CHECK_OK(problems_of("12+3=15\r\n9999+1=10000", &list, &count, &error), error))
        return;
    CHECK(count == 2 && list[0].a == 12 && list[0].b == 3 && list[1].sum == 10000);
    static const int tokens[] = {1, 2, TOKEN_PLUS, 3, TOKEN_EQUALS};
    CHECK(list[0].prompt_count == 5 &&
          memcmp(list[0].prompt, tokens, sizeof(tokens)) == 0);
    allocator.realloc(allocator.user, list, count * sizeof(*list), 0);
}

static void refuses_lines_that_are_no_problem(void)
{
    static const char *const lines[] = {"",          "\n",     "1+2",       "1+2=x",
                                        "12345+1=1", "1-2=3",  "1+2=3 ",    "+1=1",
                                        "1+=1",      "1+2=\n", "1+2=123456"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        problem *list = NULL;
        size_t count = 0;
        gph_error error = {0};
        if (!CHECK(problems_of(lines[i], &list, &count, &error) == GPH_E_FORMAT))
            fprintf(stderr, "  accepted: %s\n", lines[i]);
        CHECK(list == NULL);
    }
}

static void reads_answers_backwards(void)
{
    static const int good[] = {1, 0, 8, 1, TOKEN_END}, open[] = {1, 2}, sign[] = {10, 12};
    unsigned long long value = 0;
    CHECK(answer_read(good, 5, &value) && value == 1801);
    CHECK(!answer_read(open, 2, &value) && !answer_read(sign, 2, &value));
    CHECK(!answer_read(good + 4, 1, &value) && !answer_read(good, 0, &value));
}

static void reads_token_ids(void)
{
    int *ids = NULL;
    size_t count = 0;
    gph_error error = {0};
    if (CHECK_OK(token_ids_read(&allocator, "0,15,3", 16, &ids, &count, &error), error)) {
        CHECK(count == 3 && ids[1] == 15);
        allocator.realloc(allocator.user, ids, count * sizeof(*ids), 0);
    }
    static const char *const wrong[] = {
        "", "16", "1,", ",1", "1 2", "-1", "1,x", "1,,2", "99999999999999999999"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK(token_ids_read(&allocator, wrong[i], 16, &ids, &count, &error) ==
              GPH_E_INVALID);
}

int main(void)
{
    RUN(missing_values_have_llamas_defaults);
    RUN(reads_old_and_new_rope_settings);
    RUN(refuses_models_that_would_not_run);
    RUN(reads_problems);
    RUN(refuses_lines_that_are_no_problem);
    RUN(reads_answers_backwards);
    RUN(reads_token_ids);
    CHECK(atomic_load(&heap.live_bytes) == 0);
    return test_done();
}
