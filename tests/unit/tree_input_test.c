// SPDX-License-Identifier: Apache-2.0
/* Inputs of a tree that move, are written or leave the pool, and what cannot be recorded,
 * without a driver. Names of PyTorch's test_cudagraph_trees.py are beside ours. */
#include "unit/tree_words.h"

/* ---- static inputs ---- */

static const uint8_t second_static[] = {0, GPH_TREE_INPUT_STATIC};

static gph_tree_output call_two(gph_tree_function *fn, gph_tensor a, gph_tensor b)
{
    const gph_tree_input in[] = {{.tensor = a}, {.tensor = b}};
    gph_tree_output out[OUTPUTS_MAX] = {0};
    CHECK_OK(gph_tree_call(tree, fn, NULL, in, out, &error), error);
    return out[0];
}

/* multi_dispatch_*, rerecord_if_static_input_address_changed: a swapped parameter is a
 * second recording, swapping back uses the first */
static void a_moved_static_input_is_recorded_once_each(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    gph_tree_function *a = add(&s[0], second_static, 2);
    gph_tree_function *b = add(&s[1], second_static, 2);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    const gph_tensor w[] = {user_tensor(&f, 1, 2, 2), user_tensor(&f, 2, 2, 3)};
    for (int i = 0; i < 3; i++) {
        call_two(a, in, w[0]);
        call_two(b, in, w[0]);
    }
    for (int i = 0; i < 6; i++) {
        call_two(a, in, w[i % 2]);
        if (i == 1) {
            const gph_tree_event event = last();
            CHECK(event.reason == GPH_TREE_STATIC && event.input == 1);
            CHECK(event.was == w[0].data && event.is == w[1].data);
            CHECK(strstr(event.text, "a static input has moved: input 1 was 0x") != NULL);
        }
        call_two(b, in, w[i % 2]);
    }
    CHECK(stats().nodes == 4 && stats().recorded_for[GPH_TREE_STATIC] == 1);
    CHECK(is_dump("f1-f2, f1-f2"));
    end();
}

/* multi_dispatch_child_node (siblings below one parent), _parent_node (the child below
 * each of two parents) */
static void siblings_and_doubled_children(void)
{
    begin();
    spec s[3] = {plain(), plain(), plain()};
    gph_tree_function *a = add(&s[0], second_static, 2);
    gph_tree_function *b = add(&s[1], second_static, 2);
    gph_tree_function *c = add(&s[2], second_static, 2);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    const gph_tensor w[] = {user_tensor(&f, 1, 2, 2), user_tensor(&f, 2, 2, 3)};
    for (int i = 0; i < 8; i++) { /* b has two recordings below a, c one below each */
        call_two(a, in, w[0]);
        call_two(b, in, w[i / 2 % 2]);
        call_two(c, in, w[0]);
    }
    CHECK(stats().nodes == 5 && is_dump("f1-{f2-f3, f2-f3}"));
    for (int i = 0; i < 2; i++) { /* another parent: all three again */
        call_two(a, in, w[1]);
        call_two(b, in, w[0]);
        call_two(c, in, w[0]);
    }
    CHECK(stats().nodes == 8 && is_dump("f1-{f2-f3, f2-f3}, f1-f2-f3"));
    CHECK(stats().roots == 2);
    end();
}

static void a_static_input_that_keeps_moving_is_copied(void)
{
    begin_with((gph_tree_options){.moves_max = 3, .settle = 5});
    spec s = plain();
    gph_tree_function *fn = add(&s, second_static, 2);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    const value first = value_at(&f, &in);
    uint64_t nodes = 0;
    for (uint32_t i = 0; i < 20; i++) {
        const gph_tensor w = user_tensor(&f, 1 + i, 2, i);
        gph_tensor at;
        CHECK_OK(gph_tree_output_tensor(tree, call_two(fn, in, w), &at, &error), error);
        const value both[] = {first, value_at(&f, &w)};
        const value expected = spec_value(&s, 0, NULL, 0, both, 2, 2),
                    got = value_at(&f, &at);
        CHECK(same_value(&got, &expected));
        if (i == 6)
            nodes = stats().nodes;
    }
    /* One recording, one for each of three moves, one that copies. */
    CHECK(nodes == 5 && stats().nodes == 5 && stats().demotions == 1);
    CHECK(stats().eager == 0);

    const gph_tensor w = user_tensor(&f, 1, 2, 1);
    for (int i = 0; i < 20; i++)
        call_two(fn, in, w);
    CHECK(stats().promotions == 1 && stats().nodes <= 6);
    CHECK(last().action == GPH_TREE_REPLAYED);

    /* It moves again, and the recording that copies is still there. */
    nodes = stats().nodes;
    for (uint32_t i = 0; i < 4; i++)
        call_two(fn, in, user_tensor(&f, 30 + i, 2, i));
    CHECK(stats().demotions == 2 && stats().nodes == nodes + 3);
    CHECK(last().action == GPH_TREE_REPLAYED);
    end();
}

static void recordings_in_a_place_are_limited(void)
{
    begin_with((gph_tree_options){.rerecords_max = 2, .moves_max = 1000, .backoff = 4});
    spec s = plain();
    gph_tree_function *fn = add(&s, second_static, 2);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    char did[40] = {0};
    for (uint32_t i = 0; i < 24; i++) {
        const gph_tensor w = user_tensor(&f, 1 + i, 2, i);
        gph_tensor at;
        CHECK_OK(gph_tree_output_tensor(tree, call_two(fn, in, w), &at, &error), error);
        const value both[] = {value_at(&f, &in), value_at(&f, &w)};
        const value expected = spec_value(&s, 0, NULL, 0, both, 2, 2),
                    got = value_at(&f, &at);
        CHECK(same_value(&got, &expected));
        did[i] = " +rwe"[last().action];
        if (last().action == GPH_TREE_EAGER)
            CHECK(last().reason == GPH_TREE_LIMIT);
    }
    /* First, two moves, four eager calls, one more try, eight eager calls, one more. */
    CHECK(strcmp(did, "wrrreeeereeeeeeeereeeeee") == 0);
    CHECK(stats().eager_for[GPH_TREE_LIMIT] == stats().eager);
    /* What was recorded is still replayed. */
    call_two(fn, in, user_tensor(&f, 2, 2, 1));
    CHECK(last().action == GPH_TREE_REPLAYED);
    end();
}

/* Beyond the limit shapes run beside the tree, and what comes after them is replayed. */
static void shapes_in_a_place_are_limited(void)
{
    begin_with((gph_tree_options){.rerecords_max = 1, .backoff = 1000});
    spec s[2] = {plain(), plain()};
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1);
    gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 3; i++)
        call_with(b, call_on(a, in));
    for (uint32_t i = 0; i < 60; i++) { /* the same bytes in other shapes */
        in.rank = 2;
        in.shape[1] = 1;
        in.stride[1] = 1 + i / 2;
        gph_tree_output y = call_on(a, in);
        if (i < 16)
            continue;
        CHECK(is_last(GPH_TREE_EAGER, GPH_TREE_LIMIT));
        gph_tensor at;
        CHECK_OK(gph_tree_output_tensor(tree, y, &at, &error), error);
        CHECK(is_of(call_with(b, y), &s[1], at));
    }
    CHECK(stats().recorded_for[GPH_TREE_SIGNATURE] == 8);
    CHECK(stats().eager_for[GPH_TREE_LIMIT] == 44);
    CHECK(last().action == GPH_TREE_REPLAYED);
    end();
}

/* ---- managed inputs ---- */

/* tensor_no_longer_in_pool: recorded again, with one checkpoint, two below the root */
static void an_input_that_left_the_pool_is_recorded_again(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1), copy = user_tensor(&f, 1, 2, 7);
    for (int i = 0; i < 3; i++)
        call_with(b, call_on(a, in));
    for (int i = 0; i < 2; i++) {
        gph_tree_output y = call_on(a, in);
        CHECK_OK(gph_tree_output_copy(tree, y, copy.data, 2 * UNIT, &error), error);
        CHECK(is_of(call_on(b, copy), &s[1], copy));
        CHECK(i != 0 || is_last(GPH_TREE_RECORDED, GPH_TREE_MANAGED));
    }
    CHECK(stats().restores == 1 && is_dump("f1-{f2, f2}"));
    CHECK(stats().replays == 2 + 2 + 1);
    end();
}

static void another_output_of_the_path_is_another_recording(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    s[0].outputs = 2;
    s[0].units[1] = 2;
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1);
    const gph_tree_input in = {.tensor = user_tensor(&f, 0, 2, 1)};
    for (int i = 0; i < 6; i++) {
        gph_tree_output y[2];
        gph_tensor at;
        CHECK_OK(gph_tree_call(tree, a, NULL, &in, y, &error), error);
        CHECK_OK(gph_tree_output_tensor(tree, y[i % 2], &at, &error), error);
        CHECK(is_of(call_with(b, y[i % 2]), &s[1], at));
    }
    CHECK(stats().recorded_for[GPH_TREE_MANAGED] == 1 && stats().nodes == 3);
    end();
}

/* ---- what cannot be recorded ---- */

static const uint8_t mutated[] = {GPH_TREE_INPUT_MUTATED};
static const uint8_t static_mutated[] = {GPH_TREE_INPUT_MUTATED | GPH_TREE_INPUT_STATIC};

/* mutation_on_inp */
static void a_function_that_writes_an_eager_input_runs_eagerly(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    s[0].mutates = s[1].mutates = 1;
    gph_tree_function *foreign = add(&s[0], mutated, 1);
    gph_tree_function *buffer = add(&s[1], static_mutated, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1), kept = user_tensor(&f, 1, 2, 2);
    value expected = value_at(&f, &in), expected_kept = value_at(&f, &kept);
    for (int i = 0; i < 4; i++) {
        call_on(foreign, in);
        CHECK(is_last(GPH_TREE_EAGER, GPH_TREE_MUTATION) && last().input == 0);
        call_on(buffer, kept);
        expected = spec_value(&s[0], 100, NULL, 0, &expected, 1, 2);
        expected_kept = spec_value(&s[1], 100, NULL, 0, &expected_kept, 1, 2);
        const value got = value_at(&f, &in), got_kept = value_at(&f, &kept);
        CHECK(same_value(&got, &expected) && same_value(&got_kept, &expected_kept));
    }
    CHECK(stats().eager_for[GPH_TREE_MUTATION] == 4 && is_dump("f2"));
    CHECK(f.pools[0].count == 0);
    end();
}

/* mutation_cudagraph_managed_tensors: outputs of the path may be written, copies of them
 * may not */
static void an_output_of_the_path_may_be_written(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    s[1].mutates = 1;
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], mutated, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1), copy = user_tensor(&f, 1, 2, 7);
    for (int i = 0; i < 4; i++) {
        gph_tree_output y = call_on(a, in);
        gph_tensor at;
        CHECK_OK(gph_tree_output_tensor(tree, y, &at, &error), error);
        const value before = value_at(&f, &at);
        call_with(b, y);
        const value after = value_at(&f, &at),
                    expected = spec_value(&s[1], 100, NULL, 0, &before, 1, 2);
        CHECK(same_value(&after, &expected));
    }
    CHECK(stats().eager == 0 && is_dump("f1-f2"));
    gph_tree_output y = call_on(a, in);
    CHECK_OK(gph_tree_output_copy(tree, y, copy.data, 2 * UNIT, &error), error);
    call_on(b, copy);
    CHECK(is_last(GPH_TREE_EAGER, GPH_TREE_MUTATION) && stats().eager == 1);
    end();
}

static void a_function_that_cannot_be_captured_runs_eagerly(void)
{
    begin_with((gph_tree_options){.backoff = 3});
    spec s[2] = {plain(), plain()};
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1);
    s[0].capture_fails = 900; /* CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED */
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    char did[40] = {0};
    for (int i = 0; i < 16; i++) {
        if (i == 12)
            s[0].capture_fails = GPH_OK;
        gph_tree_output y = call_on(a, in);
        CHECK(is_of(y, &s[0], in));
        did[i] = " +rwe"[last().action];
        if (i == 1) {
            CHECK(is_last(GPH_TREE_EAGER, GPH_TREE_CAPTURE));
            CHECK(strstr(last().text, "it synchronizes") != NULL);
        }
        gph_tensor at;
        CHECK_OK(gph_tree_output_tensor(tree, y, &at, &error), error);
        CHECK(is_of(call_with(b, y), &s[1], at));
    }
    /* Tried, 3 eager, tried, 6 eager, recorded. */
    CHECK(strcmp(did, "weeeeeeeeeeer+++") == 0);
    CHECK(stats().eager_for[GPH_TREE_CAPTURE] == stats().eager);
    end();
}

static void without_device_memory_it_runs_eagerly(void)
{
    begin();
    spec s = plain();
    gph_tree_function *fn = add(&s, NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    call_on(fn, in);
    f.fail_at = 0;
    CHECK(is_of(call_on(fn, in), &s, in));
    CHECK(is_last(GPH_TREE_EAGER, GPH_TREE_MEMORY));
    end();
}

static void what_the_pool_refuses_runs_eagerly(void)
{
    begin();
    spec s = plain();
    gph_tree_function *fn = add(&s, NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 3; i++)
        call_on(fn, in);
    f.fail_with = GPH_E_STATE;
    f.fail_at = 0;
    CHECK(is_of(call_on(fn, in), &s, in));
    CHECK(is_last(GPH_TREE_EAGER, GPH_TREE_OVERLAP));
    CHECK(is_of(call_on(fn, in), &s, in) && last().action == GPH_TREE_REPLAYED);
    end();
}

static void declared_eager_is_eager(void)
{
    begin_with((gph_tree_options){.flags = GPH_TREE_STRICT});
    spec s[2] = {plain(), plain()};
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    gph_tree_function *a = NULL, *b = add(&s[1], NULL, 1);
    opt.flags = GPH_TREE_FUNCTION_EAGER;
    opt.input_count = opt.output_count = 1;
    CHECK_OK(gph_tree_function_add(tree, spec_fn, &s[0], &opt, &a, &error), error);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 4; i++) {
        gph_tree_output x = call_on(b, in), y = call_with(a, x);
        CHECK(is_last(GPH_TREE_EAGER, GPH_TREE_DECLARED));
        gph_tree_output z = call_with(b, y); /* copied: it may lie anywhere */
        gph_tensor at;
        CHECK_OK(gph_tree_output_tensor(tree, y, &at, &error), error);
        CHECK(is_of(z, &s[1], at));
        CHECK(f.pools[GPHI_TREE_BESIDE].count == 1);
        release(y);
        CHECK(f.pools[GPHI_TREE_BESIDE].count == 0);
    }
    CHECK(is_dump("f1-f1"));
    /* An eager output ends with its path, as any other. */
    gph_tree_output y = call_on(a, in);
    call_on(b, in);
    step();
    CUdeviceptr data;
    CHECK(gph_tree_output_data(tree, y, &data, &error) == GPH_E_STATE);
    CHECK(f.pools[GPHI_TREE_BESIDE].count == 0);
    end();
}

static void long_paths_go_on_eagerly(void)
{
    begin_with((gph_tree_options){.depth_max = 3, .flags = GPH_TREE_EXPLICIT_STEPS});
    spec s = plain();
    gph_tree_function *fn = add(&s, NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 3; i++) {
        step();
        gph_tree_output y = call_on(fn, in);
        for (int k = 1; k < 6; k++) {
            gph_tree_output z = call_with(fn, y);
            gph_tensor at;
            CHECK_OK(gph_tree_output_tensor(tree, y, &at, &error), error);
            CHECK(is_of(z, &s, at));
            release(y);
            y = z;
        }
        CHECK(is_last(GPH_TREE_EAGER, GPH_TREE_DEPTH));
    }
    CHECK(stats().nodes == 3 && stats().eager_for[GPH_TREE_DEPTH] == 9);
    end();
}

static void more_outputs_than_a_word_has_bits(void)
{
    begin_with((gph_tree_options){.flags = GPH_TREE_EXPLICIT_STEPS});
    spec s = plain();
    s.outputs = 3;
    s.units[1] = s.units[2] = 1;
    gph_tree_function *fn = add(&s, NULL, 1);
    const gph_tree_input in = {.tensor = user_tensor(&f, 0, 2, 1)};
    for (int i = 0; i < 3; i++) {
        gph_tree_output y[50][3];
        step();
        for (int k = 0; k < 50; k++) {
            CHECK_OK(gph_tree_call(tree, fn, NULL, &in, y[k], &error), error);
            if (k % 2 == 1)
                release(y[k][1]);
        }
        CHECK(stats().live_blocks == 125);
        for (int k = 0; k < 50; k++)
            CHECK(is_of(y[k][0], &s, in.tensor));
    }
    CHECK(stats().nodes == 50 && stats().replays == 50);
    end();
}

int main(void)
{
    RUN(a_moved_static_input_is_recorded_once_each);
    RUN(siblings_and_doubled_children);
    RUN(a_static_input_that_keeps_moving_is_copied);
    RUN(recordings_in_a_place_are_limited);
    RUN(shapes_in_a_place_are_limited);
    RUN(an_input_that_left_the_pool_is_recorded_again);
    RUN(another_output_of_the_path_is_another_recording);
    RUN(a_function_that_writes_an_eager_input_runs_eagerly);
    RUN(an_output_of_the_path_may_be_written);
    RUN(a_function_that_cannot_be_captured_runs_eagerly);
    RUN(without_device_memory_it_runs_eagerly);
    RUN(what_the_pool_refuses_runs_eagerly);
    RUN(declared_eager_is_eager);
    RUN(long_paths_go_on_eagerly);
    RUN(more_outputs_than_a_word_has_bits);
    return test_done();
}
