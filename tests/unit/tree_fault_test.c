// SPDX-License-Identifier: Apache-2.0
/* Bad arguments, failures of everything that may fail, and dumps of a tree, without a
 * driver. */
#include "unit/tree_words.h"

/* ---- the rest ---- */

static gph_status calls_its_tree(void *user, gph_call *in, gph_error *why)
{
    gph_tree_function **self = user;
    (void)in;
    CHECK(gph_tree_step_begin(tree, why) == GPH_E_STATE);
    return gph_tree_call(tree, *self, NULL, NULL, NULL, why);
}

static void a_function_cannot_call_its_tree(void)
{
    begin();
    gph_tree_function *self = NULL;
    CHECK_OK(gph_tree_function_add(tree, calls_its_tree, &self, NULL, &self, &error),
             error);
    CHECK(gph_tree_call(tree, self, NULL, NULL, NULL, &error) == GPH_E_STATE);
    CHECK(strstr(error.message, "in use") != NULL);
    CHECK(stats().calls == 0);
    end();
}

static void bad_arguments_are_refused(void)
{
    begin();
    spec s = plain();
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    gph_tree_function *fn = NULL;
    const uint8_t unknown[] = {8};
    gph_tree_options bad = GPH_TREE_OPTIONS_INIT;
    gph_tree *none = NULL;
    bad.flags = 8;
    CHECK(gphi_tree_create(test_heap(), &f.base, &bad, &none, &error) == GPH_E_INVALID);
    CHECK(gph_tree_create(NULL, NULL, NULL, &none, &error) == GPH_E_INVALID);
    CHECK(gph_tree_function_add(tree, NULL, NULL, NULL, &fn, &error) == GPH_E_INVALID);
    CHECK(gph_tree_function_add(NULL, spec_fn, NULL, NULL, &fn, &error) == GPH_E_INVALID);
    opt.kind = 3;
    CHECK(gph_tree_function_add(tree, spec_fn, &s, &opt, &fn, &error) == GPH_E_INVALID);
    opt.kind = 0;
    opt.flags = 4;
    CHECK(gph_tree_function_add(tree, spec_fn, &s, &opt, &fn, &error) == GPH_E_INVALID);
    opt.flags = 0;
    opt.input_count = 1;
    opt.inputs = unknown;
    CHECK(gph_tree_function_add(tree, spec_fn, &s, &opt, &fn, &error) == GPH_E_INVALID);
    opt.inputs = NULL;
    opt.output_count = UINT32_MAX;
    CHECK(gph_tree_function_add(tree, spec_fn, &s, &opt, &fn, &error) == GPH_E_INVALID);
    CHECK(fn == NULL);

    fn = add(&s, NULL, 1);
    gph_tree_input in = {.tensor = user_tensor(&f, 0, 1, 1)};
    gph_tree_output out = {.call = 7};
    CHECK(gph_tree_call(NULL, fn, NULL, &in, &out, &error) == GPH_E_INVALID);
    CHECK(gph_tree_call(tree, NULL, NULL, &in, &out, &error) == GPH_E_INVALID);
    CHECK(gph_tree_call(tree, fn, NULL, NULL, &out, &error) == GPH_E_INVALID);
    CHECK(gph_tree_call(tree, fn, NULL, &in, NULL, &error) == GPH_E_INVALID);
    in.tensor.rank = 9;
    CHECK(gph_tree_call(tree, fn, NULL, &in, &out, &error) == GPH_E_INVALID);
    CHECK(out.call == 7 && stats().calls == 0);
    CHECK(gph_tree_step_begin(NULL, &error) == GPH_E_INVALID);
    gph_buffer nowhere = {0};
    CHECK(gph_tree_write(tree, (gph_tree_form)9, gph_write_buffer, &nowhere, &error) ==
          GPH_E_INVALID);
    CHECK(gph_tree_write(tree, GPH_TREE_SHORT, NULL, NULL, &error) == GPH_E_INVALID);
    gph_tree_output_release(NULL, out);
    gph_tree_destroy(NULL);
    end();
}

/* The length of the whole text, of which `text` has what fits. */
static size_t written(gph_tree_form form, char *text, size_t bytes)
{
    gph_buffer to = {text, bytes, 0};
    CHECK_OK(gph_tree_write(tree, form, gph_write_buffer, &to, &error), error);
    return to.length;
}

static void a_dump_tells_the_whole_tree(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    gph_tree_function *a = NULL, *b = add(&s[1], NULL, 1);
    opt.name = "a \"q\"";
    opt.input_count = opt.output_count = 1;
    CHECK_OK(gph_tree_function_add(tree, spec_fn, &s[0], &opt, &a, &error), error);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 3; i++)
        call_with(b, call_on(a, in));
    char text[2048], half[20];
    const size_t length = written(GPH_TREE_LONG, text, sizeof(text));
    CHECK(length == strlen(text));
    CHECK(strstr(text, "node 2: \"f1\" below node 1, recorded: first, hits: 1\n") !=
          NULL);
    CHECK(strstr(text, "  input 0: copied f64[16]\n") != NULL);
    CHECK(strstr(text, "  input 0: managed f64[16] at 0x") != NULL);
    CHECK(strstr(text, ", block 1\n") != NULL);
    CHECK(written(GPH_TREE_LONG, half, sizeof(half)) == length);
    CHECK(strlen(half) == sizeof(half) - 1);
    CHECK(written(GPH_TREE_LONG, NULL, 0) == length);
    CHECK(written(GPH_TREE_DOT, text, sizeof(text)) > 0);
    CHECK(strstr(text, "n1 [label=\"a \\\"q\\\"\\nnode 1, 1 hits\"]") != NULL);
    CHECK(strstr(text, "n1 -> n2 [label=\"first\"]") != NULL);
    end();
}

static void a_dump_tells_views_keys_and_reasons(void)
{
    static const uint8_t second_static[] = {0, GPH_TREE_INPUT_STATIC};
    begin();
    spec s[3] = {plain(), plain(), plain()};
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    gph_tree_function *a = add(&s[0], NULL, 1), *b = NULL, *c = add(&s[2], NULL, 1);
    s[1].outputs = 3;
    s[1].units[2] = 1;
    s[1].view_input[0] = 1;
    s[1].view_input[1] = 2;
    s[2].capture_fails = 900;
    opt.inputs = second_static;
    opt.input_count = 2;
    opt.output_count = 3;
    opt.key_count = 1;
    CHECK_OK(gph_tree_function_add(tree, spec_fn, &s[1], &opt, &b, &error), error);
    const gph_tensor in = user_tensor(&f, 0, 2, 1), weight = user_tensor(&f, 1, 2, 2);
    const int64_t key = -5;
    for (int i = 0; i < 3; i++) {
        gph_tree_output y = call_on(a, in), z = call_taking(a, y), w[3];
        const gph_tree_input both[] = {{.output = z}, {.tensor = weight}};
        CHECK_OK(gph_tree_call(tree, b, &key, both, w, &error), error);
        call_with(c, z);
    }
    char text[4096];
    CHECK(written(GPH_TREE_LONG, text, sizeof(text)) > 0);
    CHECK(strstr(text, "  key 0: -5\n") != NULL);
    CHECK(strstr(text, "  input 1: static f64[16] at 0x") != NULL);
    CHECK(strstr(text, ", in block 1 of an earlier call\n") != NULL);
    CHECK(strstr(text, ", not of the path\n") != NULL);
    CHECK(strstr(text, "  dead before: 0\n") != NULL);
    CHECK(strstr(text, "\"f2\" runs eagerly: it synchronizes\n") != NULL);
    CHECK(strstr(text, "  eager, capture: 2\n") != NULL);
    end();
}

/* Keys come from files, too. */
static void words_that_are_no_key_are_told(void)
{
    begin();
    spec s = plain();
    static const uint8_t flags[] = {0, GPH_TREE_INPUT_STATIC};
    gph_tree_function *fn = add(&s, flags, 2);
    const gph_tree_input in[] = {{.tensor = user_tensor(&f, 0, 2, 1)},
                                 {.tensor = user_tensor(&f, 1, 2, 2)}};
    for (int i = 0; i < 2; i++) {
        gph_tree_output out[OUTPUTS_MAX];
        CHECK_OK(gph_tree_call(tree, fn, NULL, in, out, &error), error);
    }
    const gphi_tree_node *node = *(gphi_tree_node **)tree->nodes.items;
    uint64_t key[32] = {0};
    CHECK(node->key_words == 8 && node->key_words < 32);
    memcpy(key, node->key, node->key_words * sizeof(*key));
    CHECK(gphi_tree_key_is_sound(fn, key, 8, node->kinds));
    for (uint32_t words = 0; words < 20; words++)
        CHECK(words == 8 || !gphi_tree_key_is_sound(fn, key, words, node->kinds));
    key[1] += UINT64_C(200) << 32; /* rank */
    CHECK(!gphi_tree_key_is_sound(fn, key, 8, node->kinds));
    key[1] = node->key[1] | UINT64_C(1) << 56; /* copied, no more */
    CHECK(!gphi_tree_key_is_sound(fn, key, 8, node->kinds));
    key[1] = node->key[1];
    key[0]++; /* another function's */
    CHECK(!gphi_tree_key_is_sound(fn, key, 8, node->kinds));
    end();
}

/* The third call of a path fails in turn in each of its steps; the next one is right. */
static void a_failed_operation_leaves_the_tree_usable(void)
{
    for (long nth = 0; nth < 12; nth++) {
        begin();
        spec s[3] = {plain(), plain(), plain()};
        gph_tree_function *fn[3];
        for (int i = 0; i < 3; i++)
            fn[i] = add(&s[i], NULL, 1);
        f.fail_with = 700;
        for (int i = 0; i < 12; i++) {
            const gph_tensor in = user_tensor(&f, 0, 2, (uint64_t)i);
            gph_tree_output y = nothing, z[2] = {{0}};
            if (i >= 4)
                f.fail_at = nth;
            gph_tree_input input = {.tensor = in};
            while (gph_tree_call(tree, fn[0], NULL, &input, &y, &error) != GPH_OK)
                CHECK(error.code == 700);
            input = (gph_tree_input){.output = y};
            gph_tree_function *second = fn[1 + (i >= 4)];
            while (gph_tree_call(tree, second, NULL, &input, z, &error) != GPH_OK)
                CHECK(error.code == 700);
            CHECK(is_of(y, &s[0], in));
            gph_tensor at;
            CHECK_OK(gph_tree_output_tensor(tree, y, &at, &error), error);
            CHECK(is_of(z[0], &s[1 + (i >= 4)], at));
        }
        f.fail_at = -1;
        end();
    }
}

static void run_program(bool must_work)
{
    spec s[3] = {plain(), plain(), plain()};
    gph_tree_function *fn[3] = {NULL};
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    opt.input_count = opt.output_count = 1;
    for (int i = 0; i < 3; i++) {
        gph_status status =
            gph_tree_function_add(tree, spec_fn, &s[i], &opt, &fn[i], &error);
        CHECK(status == GPH_OK || (!must_work && status == GPH_E_NO_MEMORY));
        if (status != GPH_OK)
            status = gph_tree_function_add(tree, spec_fn, &s[i], &opt, &fn[i], &error);
        CHECK_OK(status, error); /* one allocation fails, the next does not */
    }
    for (int i = 0; i < 9; i++) {
        const gph_tensor in = user_tensor(&f, 0, 2, (uint64_t)i);
        gph_tree_input input = {.tensor = in};
        gph_tree_output y = nothing, z = nothing;
        while (gph_tree_call(tree, fn[0], NULL, &input, &y, &error) != GPH_OK)
            CHECK(!must_work && error.code == GPH_E_NO_MEMORY);
        input = (gph_tree_input){.output = y};
        gph_tree_function *second = fn[1 + (i >= 4)];
        while (gph_tree_call(tree, second, NULL, &input, &z, &error) != GPH_OK)
            CHECK(!must_work && error.code == GPH_E_NO_MEMORY);
        gph_tensor at;
        CHECK(is_of(y, &s[0], in));
        CHECK_OK(gph_tree_output_tensor(tree, y, &at, &error), error);
        CHECK(is_of(z, &s[1 + (i >= 4)], at));
    }
    CHECK(is_dump("f1-{f2, f3}"));
}

static void each_failed_allocation_leaves_the_tree_usable(void)
{
    bool has_ended = false;
    for (long nth = 0; nth < 1000 && !has_ended; nth++) {
        heap = (fault_heap){.fail_at = nth};
        fake_init(&f);
        tree = NULL;
        const gph_status status =
            gphi_tree_create(test_heap(), &f.base, NULL, &tree, &error);
        CHECK((tree != NULL) == (status == GPH_OK));
        if (tree != NULL)
            run_program(false);
        else
            CHECK(status == GPH_E_NO_MEMORY);
        gph_tree_destroy(tree);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        has_ended = atomic_load(&heap.fail_at) >= 0;
    }
    CHECK(has_ended);
}

static void a_replay_allocates_nothing(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 3; i++)
        call_taking(b, call_on(a, in));
    atomic_store(&heap.fail_at, 0);
    for (int i = 0; i < 100; i++)
        call_taking(b, call_on(a, in));
    CHECK(stats().replays == 202 && atomic_load(&heap.fail_at) == 0);
    end();
}

int main(void)
{
    RUN(a_function_cannot_call_its_tree);
    RUN(bad_arguments_are_refused);
    RUN(a_dump_tells_the_whole_tree);
    RUN(a_dump_tells_views_keys_and_reasons);
    RUN(words_that_are_no_key_are_told);
    RUN(a_failed_operation_leaves_the_tree_usable);
    RUN(each_failed_allocation_leaves_the_tree_usable);
    RUN(a_replay_allocates_nothing);
    return test_done();
}
