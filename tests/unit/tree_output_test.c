// SPDX-License-Identifier: Apache-2.0
/* How long outputs of a tree live, what they say when they are gone, and views, without a
 * driver. Names of PyTorch's test_cudagraph_trees.py are beside ours. */
#include "unit/tree_words.h"

/* ---- who lives how long ---- */

static void living_too_long_is_recorded_again(void)
{
    begin();
    spec s[3] = {plain(), plain(), plain()};
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1),
                      *c = add(&s[2], NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 3; i++) /* y is dead when c is recorded */
        call_with(c, call_taking(b, call_on(a, in)));
    CHECK(stats().nodes == 3);
    for (int i = 0; i < 3; i++) { /* y lives on: c may not write over it */
        gph_tree_output y = call_on(a, in);
        gph_tree_output z = call_with(b, y);
        gph_tree_output w = call_with(c, z);
        CHECK(i != 0 || is_last(GPH_TREE_RECORDED, GPH_TREE_LIVENESS));
        gph_tensor at;
        CHECK(is_of(y, &s[0], in));
        CHECK_OK(gph_tree_output_tensor(tree, z, &at, &error), error);
        CHECK(is_of(w, &s[2], at));
    }
    CHECK(stats().nodes == 4 && stats().recorded_for[GPH_TREE_LIVENESS] == 1);
    CHECK(stats().restores == 1);
    /* Dying earlier than recorded is fine: either recording fits. */
    call_with(c, call_taking(b, call_on(a, in)));
    CHECK(last().action == GPH_TREE_REPLAYED && stats().nodes == 4);
    CHECK(is_dump("f1-f2-{f3, f3}"));
    end();
}

static void strict_trees_refuse_what_lives_too_long(void)
{
    begin_with((gph_tree_options){.flags = GPH_TREE_STRICT});
    spec s[3] = {plain(), plain(), plain()};
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1),
                      *c = add(&s[2], NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 3; i++)
        call_with(c, call_taking(b, call_on(a, in)));
    gph_tree_output y = call_on(a, in);
    gph_tree_input z = {.output = call_with(b, y)};
    gph_tree_output out = nothing;
    CHECK(gph_tree_call(tree, c, NULL, &z, &out, &error) == GPH_E_STATE);
    CHECK(strstr(error.message, "is held") != NULL && out.call == 0);
    CHECK(strstr(error.message, " would be recorded, but the tree is strict, below") !=
          NULL);
    CHECK(stats().restores == 0 && stats().nodes == 3);
    release(y); /* now it fits */
    CHECK_OK(gph_tree_call(tree, c, NULL, &z, &out, &error), error);
    CHECK(last().action == GPH_TREE_REPLAYED);
    end();
}

/* error_on_dealloc_use, error_on_dealloc_use2: on every call, in the same words */
static void an_overwritten_output_is_the_same_error_on_every_call(void)
{
    begin();
    spec s = plain();
    gph_tree_function *fn = add(&s, NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    gph_tree_output old = call_on(fn, in);
    for (unsigned i = 2; i <= 1000; i++) {
        gph_tree_output fresh = call_on(fn, in);
        char expected[200];
        snprintf(expected, sizeof(expected),
                 "output 0 of \"f1\", made by call %u, was overwritten by call %u of "
                 "\"f1\", which began another path",
                 i - 1, i);
        CUdeviceptr data = 5;
        CHECK(gph_tree_output_data(tree, old, &data, &error) == GPH_E_STATE);
        CHECK(strcmp(error.message, expected) == 0 && data == 5);
        CHECK(error.hint[0] != '\0');
        gph_tensor tensor;
        CHECK(gph_tree_output_tensor(tree, old, &tensor, &error) == GPH_E_STATE);
        CHECK(gph_tree_output_retain(tree, old, &error) == GPH_E_STATE);
        CHECK(gph_tree_output_copy(tree, old, in.data, 1000, &error) == GPH_E_STATE);
        gph_tree_input input = {.output = old};
        CHECK(gph_tree_call(tree, fn, NULL, &input, &old, &error) == GPH_E_STATE);
        release(old); /* ignored */
        CHECK(stats().live_outputs == 1);
        old = fresh;
    }
    CHECK(stats().calls == 1000);
    end();
}

static void an_old_output_names_the_call_that_came_next(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    gph_tree_output first = call_on(a, in), other = call_with(b, first);
    for (int i = 0; i < 700; i++)
        call_on(a, in);
    CUdeviceptr data;
    CHECK(gph_tree_output_data(tree, other, &data, &error) == GPH_E_STATE);
    CHECK(strcmp(error.message, "output 0 of \"f2\", made by call 2, was overwritten by "
                                "call 3 of \"f1\", which began another path") == 0);
    for (int i = 0; i < 700; i++)
        call_on(a, in);
    CHECK(gph_tree_output_data(tree, other, &data, &error) == GPH_E_STATE);
    CHECK(strstr(error.message, "more than 1024 paths ago") != NULL);
    first = call_on(a, in);
    step();
    CHECK(gph_tree_output_data(tree, first, &data, &error) == GPH_E_STATE);
    CHECK(strstr(error.message, "given up when its path ended") != NULL);
    call_on(b, in);
    CHECK(gph_tree_output_data(tree, first, &data, &error) == GPH_E_STATE);
    CHECK(strstr(error.message, "of \"f2\", which began") != NULL);
    end();
}

static void a_released_output_is_an_error(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 3; i++) {
        gph_tree_output y = call_on(a, in), z = call_with(b, y);
        CUdeviceptr data;
        CHECK_OK(gph_tree_output_retain(tree, y, &error), error);
        release(y);
        CHECK_OK(gph_tree_output_data(tree, y, &data, &error), error);
        release(y);
        CHECK(gph_tree_output_data(tree, y, &data, &error) == GPH_E_STATE);
        CHECK(strstr(error.message, "output 0 of \"f1\", made by call") != NULL);
        CHECK(strstr(error.message, "was released") != NULL);
        release(y); /* once too often: ignored */
        CHECK(stats().live_outputs == 1);
        release(z);
    }
    end();
}

static void an_output_can_be_copied_out(void)
{
    begin();
    spec s = plain();
    gph_tree_function *fn = add(&s, NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1), kept = user_tensor(&f, 1, 2, 9);
    gph_tree_output y = call_on(fn, in);
    CHECK(gph_tree_output_copy(tree, y, kept.data, 2 * UNIT - 1, &error) ==
          GPH_E_INVALID);
    CHECK_OK(gph_tree_output_copy(tree, y, kept.data, 2 * UNIT, &error), error);
    const value v = value_at(&f, &in), expected = spec_value(&s, 0, NULL, 0, &v, 1, 2);
    const value got = value_at(&f, &kept);
    CHECK(same_value(&got, &expected));
    end();
}

static void handles_of_others_are_refused(void)
{
    begin();
    spec s = plain();
    gph_tree_function *fn = add(&s, NULL, 1);
    gph_tree_output y = call_on(fn, user_tensor(&f, 0, 2, 1));
    CUdeviceptr data;
    gph_tree_output foreign[] = {nothing, y, y, y, y};
    foreign[1].tree++;
    foreign[2].call += 7;
    foreign[3].slot = 12345;
    foreign[4].function = 99;
    foreign[4].call = 0;
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        const gph_status status = gph_tree_output_data(tree, foreign[i], &data, &error);
        CHECK(status == (i == 3 ? GPH_E_STATE : GPH_E_INVALID));
        release(foreign[i]);
    }
    CHECK(stats().live_outputs == 1);
    end();
}

/* ---- views ---- */

/* peristed_output_livenes, aliased_storage_single_weakref, aliased_output_checkpoint: two
 * outputs, one block, freed when both are released */
static void a_view_keeps_its_block(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    s[0].outputs = 2;
    s[0].view_output[1] = 1;
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1);
    const gph_tree_input in = {.tensor = user_tensor(&f, 0, 2, 1)};
    for (int i = 0; i < 4; i++) {
        gph_tree_output y[2];
        CHECK_OK(gph_tree_call(tree, a, NULL, &in, y, &error), error);
        CHECK(stats().live_outputs == 2 && stats().live_blocks == 1);
        release(y[0]);
        CHECK(stats().live_blocks == 1 && is_of(y[1], &s[0], in.tensor));
        if (i == 3) { /* restored once, for one block */
            gph_tree_output z = call_with(b, y[1]);
            CHECK(f.pools[0].count == 2 && stats().restores == 1);
            release(z);
        }
        release(y[1]);
        CHECK(stats().live_blocks == 0 && f.pools[0].count == 0);
    }
    end();
}

/* An output that is a view of an earlier one keeps that one's block. */
static void a_view_of_an_input_keeps_the_input(void)
{
    begin();
    spec s[3] = {plain(), plain(), plain()};
    s[1].view_input[0] = 1;
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1),
                      *c = add(&s[2], NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 5; i++) {
        gph_tree_output y = call_on(a, in), view = call_taking(b, y);
        CHECK(stats().live_blocks == 1 && stats().live_outputs == 1);
        gph_tree_output z = call_with(c, view);
        CHECK(is_of(view, &s[0], in) && stats().live_blocks == 2);
        release(view);
        CHECK(stats().live_blocks == 1);
        release(z);
    }
    CHECK(stats().nodes == 3);
    end();
}

/* output_alias: an output that is a copied input */
static void a_view_of_a_copied_input_is_a_block(void)
{
    begin();
    spec s = plain();
    s.view_input[0] = 1;
    gph_tree_function *fn = add(&s, NULL, 1);
    for (int i = 0; i < 4; i++) {
        const gph_tensor in = user_tensor(&f, (uint32_t)i, 2, (uint64_t)i);
        gph_tree_output y = call_on(fn, in);
        gph_tensor at;
        CHECK_OK(gph_tree_output_tensor(tree, y, &at, &error), error);
        const value got = value_at(&f, &at), expected = value_at(&f, &in);
        CHECK(same_value(&got, &expected));
        CHECK(stats().live_blocks ==
              (i == 0 ? 0 : 1)); /* a warm-up gives the tensor back */
        release(y);
        CHECK(stats().live_blocks == 0);
    }
    end();
}

/* constant_output, aliased_static_parameter, alias_of_parameter */
static void a_static_input_as_output_is_nobodys_block(void)
{
    begin();
    spec s = plain();
    s.outputs = 2;
    s.view_input[1] = 2;
    static const uint8_t flags[] = {0, GPH_TREE_INPUT_STATIC};
    gph_tree_function *fn = add(&s, flags, 2);
    const gph_tree_input in[] = {{.tensor = user_tensor(&f, 0, 2, 1)},
                                 {.tensor = user_tensor(&f, 1, 2, 2)}};
    for (int i = 0; i < 3; i++) {
        gph_tree_output y[2];
        CUdeviceptr data = 0;
        CHECK_OK(gph_tree_call(tree, fn, NULL, in, y, &error), error);
        CHECK(stats().live_outputs == 2 && stats().live_blocks == 1);
        CHECK_OK(gph_tree_output_data(tree, y[1], &data, &error), error);
        CHECK(data == in[1].tensor.data);
        release(y[0]);
        release(y[1]);
    }
    CHECK(stats().replays == 1);
    end();
}

/* empty_storage, empty_cpu_tensor */
static void an_output_without_elements_has_no_block(void)
{
    begin();
    spec s = plain();
    s.outputs = 2;
    s.units[1] = 0;
    gph_tree_function *fn = add(&s, NULL, 1);
    const gph_tree_input in = {.tensor = user_tensor(&f, 0, 2, 1)};
    for (int i = 0; i < 3; i++) {
        gph_tree_output y[2];
        CHECK_OK(gph_tree_call(tree, fn, NULL, &in, y, &error), error);
        CHECK(stats().live_blocks == 1 && stats().live_outputs == 2);
        release(y[0]);
        CHECK(stats().live_blocks == 0 && stats().live_outputs == 1);
    }
    end();
}

int main(void)
{
    RUN(living_too_long_is_recorded_again);
    RUN(strict_trees_refuse_what_lives_too_long);
    RUN(an_overwritten_output_is_the_same_error_on_every_call);
    RUN(an_old_output_names_the_call_that_came_next);
    RUN(a_released_output_is_an_error);
    RUN(an_output_can_be_copied_out);
    RUN(handles_of_others_are_refused);
    RUN(a_view_keeps_its_block);
    RUN(a_view_of_an_input_keeps_the_input);
    RUN(a_view_of_a_copied_input_is_a_block);
    RUN(a_static_input_as_output_is_nobodys_block);
    RUN(an_output_without_elements_has_no_block);
    return test_done();
}
