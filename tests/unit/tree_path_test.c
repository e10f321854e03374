// SPDX-License-Identifier: Apache-2.0
/* Which calls of a tree are warm-ups, recordings and replays, and when a path ends,
 * without a driver. Where a test of PyTorch's test_cudagraph_trees.py asserts a count,
 * its name is beside ours. */
#include "unit/tree_words.h"

/* ---- roots ---- */

/* run_simple, separate_recordings */
static void two_shapes_are_two_roots(void)
{
    begin();
    spec s = plain();
    gph_tree_function *fn = add(&s, NULL, 1);
    for (int i = 0; i < 6; i++) {
        const gph_tensor small = user_tensor(&f, 0, 1, (uint64_t)i);
        const gph_tensor large = user_tensor(&f, 1, 3, (uint64_t)i);
        gph_tree_output out = call_on(fn, small);
        CHECK(is_of(out, &s, small));
        out = call_on(fn, large);
        CHECK(is_of(out, &s, large));
    }
    const gph_tree_stats st = stats();
    CHECK(st.roots == 2 && st.nodes == 2);
    CHECK(st.warmups == 2 && st.recordings == 2 && st.replays == 8 && st.eager == 0);
    CHECK(s.calls == 4);
    CHECK(is_dump("f1, f1"));
    end();
}

/* dynamic_warmup: each key is warmed up for itself */
static void each_signature_is_warmed_up(void)
{
    begin_with((gph_tree_options){.warmups = 2});
    spec s = plain();
    gph_tree_function *fn = add(&s, NULL, 1);
    static const gph_tree_action expected[] = {GPH_TREE_WARMED, GPH_TREE_WARMED,
                                               GPH_TREE_RECORDED, GPH_TREE_REPLAYED};
    for (uint32_t units = 1; units <= 2; units++)
        for (int i = 0; i < 4; i++) {
            call_on(fn, user_tensor(&f, 0, units, 5));
            CHECK(last().action == expected[i]);
        }
    CHECK(s.calls == 6);
    end();
}

static void a_key_is_part_of_the_signature(void)
{
    begin();
    spec s = plain();
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    gph_tree_function *fn = NULL;
    opt.name = "keyed";
    opt.input_count = opt.output_count = 1;
    opt.key_count = 2;
    CHECK_OK(gph_tree_function_add(tree, spec_fn, &s, &opt, &fn, &error), error);
    const gph_tree_input input = {.tensor = user_tensor(&f, 0, 1, 9)};
    const value in = value_at(&f, &input.tensor);
    for (int i = 0; i < 6; i++) {
        const int64_t key[2] = {7, i % 2};
        gph_tree_output out = nothing;
        gph_tensor at = {0};
        CHECK_OK(gph_tree_call(tree, fn, key, &input, &out, &error), error);
        CHECK_OK(gph_tree_output_tensor(tree, out, &at, &error), error);
        const value got = value_at(&f, &at);
        const value expected = spec_value(&s, 0, key, 2, &in, 1, 2);
        CHECK(same_value(&got, &expected));
    }
    CHECK(stats().roots == 2 && stats().replays == 2);
    CHECK(gph_tree_call(tree, fn, NULL, &input, NULL, &error) == GPH_E_INVALID);
    end();
}

static void copied_inputs_may_lie_anywhere(void)
{
    begin();
    spec s = plain();
    gph_tree_function *fn = add(&s, NULL, 1);
    for (uint32_t i = 0; i < 8; i++) {
        const gph_tensor at = user_tensor(&f, i, 2, i);
        CHECK(is_of(call_on(fn, at), &s, at));
    }
    CHECK(stats().nodes == 1 && stats().replays == 6 && f.copies == 7);
    end();
}

/* expanded_inputs */
static void strides_are_part_of_the_signature(void)
{
    begin();
    spec s = plain();
    gph_tree_function *fn = add(&s, NULL, 1);
    gph_tensor expanded = user_tensor(&f, 0, 1, 3);
    for (int i = 0; i < 3; i++)
        call_on(fn, expanded);
    expanded.stride[0] = 0;
    for (int i = 0; i < 3; i++)
        call_on(fn, expanded);
    CHECK(stats().roots == 2 && stats().recorded_for[GPH_TREE_SIGNATURE] == 1);
    end();
}

/* ---- paths ---- */

/* function_compiled_multiple_times */
static void a_function_twice_on_a_path(void)
{
    begin();
    spec s = plain();
    gph_tree_function *fn = add(&s, NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 4; i++) {
        step();
        gph_tree_output a = call_on(fn, in), b = call_with(fn, a), c = call_with(fn, b);
        CHECK(is_of(a, &s, in));
        gph_tensor at_a, at_b;
        CHECK_OK(gph_tree_output_tensor(tree, a, &at_a, &error), error);
        CHECK_OK(gph_tree_output_tensor(tree, b, &at_b, &error), error);
        CHECK(is_of(b, &s, at_a) && is_of(c, &s, at_b));
    }
    CHECK(is_dump("f1-f1-f1"));
    CHECK(stats().roots == 1 && stats().restores == 0 && stats().replays == 6);
    end();
}

/* The function of the documentation: 1-{2-4, 3-4}. */
static void branches_share_the_pool(void)
{
    begin();
    spec s[4] = {plain(), plain(), plain(), plain()};
    gph_tree_function *fn[4];
    for (int i = 0; i < 4; i++) {
        gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
        const char name[2] = {(char)('1' + i), '\0'};
        opt.name = name;
        opt.input_count = opt.output_count = 1;
        s[i].salt = (uint64_t)i + 50;
        CHECK_OK(gph_tree_function_add(tree, spec_fn, &s[i], &opt, &fn[i], &error),
                 error);
    }
    /* w: warm-up, r: recorded, +: replayed */
    static const char *const expected[] = {"www", "rrr", "+++", "+ww", "+rr", "+++"};
    static const int is_left[] = {1, 1, 1, 0, 0, 0};
    static const uint64_t restores[] = {0, 0, 0, 1, 2, 2};
    static const char letters[] = {' ', '+', 'r', 'w', 'e'};
    for (int i = 0; i < 6; i++) {
        const gph_tensor in = user_tensor(&f, 0, 2, (uint64_t)i);
        char did[4] = {0};
        gph_tree_output y = call_on(fn[0], in);
        did[0] = letters[last().action];
        CHECK(is_of(y, &s[0], in));
        gph_tree_output z = call_taking(fn[is_left[i] ? 1 : 2], y);
        did[1] = letters[last().action];
        gph_tree_output w = call_taking(fn[3], z);
        did[2] = letters[last().action];
        CHECK(strcmp(did, expected[i]) == 0);
        CHECK(stats().restores == restores[i] && f.restores == restores[i]);
        CHECK(stats().live_outputs == 1 && stats().live_blocks == 1);
        release(w);
        CHECK(f.pools[GPHI_TREE_POOL].count == 0);
    }
    CHECK(is_dump("1-{2-4, 3-4}"));
    CHECK(stats().roots == 1 && stats().nodes == 5);
    end();
}

/* live_outputs_multiple_graphs: two checkpoints, one for the warm-up and one for the
 * recording */
static void a_branch_after_replays_restores_twice(void)
{
    begin();
    spec s[3] = {plain(), plain(), plain()};
    gph_tree_function *root = add(&s[0], NULL, 1), *a = add(&s[1], NULL, 1),
                      *b = add(&s[2], NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 3; i++)
        call_with(a, call_on(root, in));
    CHECK(stats().restores == 0);
    for (int i = 0; i < 4; i++) {
        gph_tree_output y = call_on(root, in);
        gph_tree_output z = call_with(b, y);
        CHECK(is_of(y, &s[0], in));
        gph_tensor at;
        CHECK_OK(gph_tree_output_tensor(tree, y, &at, &error), error);
        CHECK(is_of(z, &s[2], at));
    }
    CHECK(stats().restores == 2 && is_dump("f1-{f2, f3}"));
    end();
}

/* execution_into_recording: live blocks 1, 1, 1, 0, and 0 while it is replayed */
static void books_are_empty_while_replays_run(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 3; i++) {
        gph_tree_output y = call_on(a, in);
        CHECK(f.pools[0].count == (i < 2 ? 1 : 0));
        release(y);
    }
    gph_tree_output y = call_on(a, in); /* replayed */
    CHECK(f.pools[0].count == 0);
    gph_tree_output z = call_taking(b, y); /* warm-up after a checkpoint */
    CHECK(f.pools[0].count == 1 && stats().restores == 1);
    release(z);
    CHECK(f.pools[0].count == 0);
    end();
}

/* A recording that failed after a checkpoint leaves the books full; a replay comes next.
 */
static void a_replay_empties_books_that_were_restored(void)
{
    begin();
    spec s[3] = {plain(), plain(), plain()};
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1),
                      *c = add(&s[2], NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    s[2].capture_fails = 900;
    for (int i = 0; i < 3; i++)
        call_with(b, call_on(a, in));
    for (int i = 0; i < 3; i++) {
        gph_tree_output y = call_on(a, in);
        call_with(c, y); /* a warm-up; a failed recording; an eager call */
        CHECK(f.pools[0].count == (i == 0 ? 2 : i == 1 ? 1 : 0));
        if (i == 0)
            continue;
        gph_tree_output z = call_with(b, y);
        CHECK(last().action == GPH_TREE_REPLAYED && f.pools[0].count == 0);
        gph_tensor at;
        CHECK_OK(gph_tree_output_tensor(tree, y, &at, &error), error);
        CHECK(is_of(z, &s[1], at) && is_of(y, &s[0], in));
    }
    CHECK(stats().restores == 2);
    end();
}

/* accumulate_multiple_recordings: an old output is freed by the next path */
static void outputs_of_the_last_path_are_freed(void)
{
    begin();
    spec s = plain();
    gph_tree_function *fn = add(&s, NULL, 1);
    for (int i = 0; i < 5; i++) {
        call_on(fn, user_tensor(&f, 0, 2, (uint64_t)i));
        CHECK(stats().live_blocks == 1);
        CHECK(f.pools[0].count == (i < 2 ? 1 : 0));
    }
    step();
    CHECK(stats().live_blocks == 0 && f.pools[0].count == 0);
    end();
}

/* end_recording_early: a step ends a path, so the call after it is a root */
static void a_step_ends_a_recorded_path(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 3; i++) {
        step();
        call_on(a, in);
        step();
        call_on(b, in);
    }
    CHECK(is_dump("f1, f2") && stats().restores == 0 && stats().replays == 2);
    end();
}

/* tensor_dies_between_checkpoint: 1 checkpoint, live 1, then 0 */
static void an_output_that_died_after_the_replay_is_not_restored(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    s[0].outputs = 2;
    s[0].units[1] = 1;
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1);
    const gph_tree_input in = {.tensor = user_tensor(&f, 0, 2, 1)};
    gph_tree_output y[2];
    for (int i = 0; i < 3; i++)
        CHECK_OK(gph_tree_call(tree, a, NULL, &in, y, &error), error);
    release(y[1]);
    CHECK(stats().live_blocks == 1 && f.pools[0].count == 0);
    gph_tree_output z = call_with(b, y[0]);
    CHECK(stats().restores == 1 && f.pools[0].count == 2);
    release(y[0]);
    release(z);
    CHECK(f.pools[0].count == 0 && stats().live_blocks == 0);
    end();
}

/* A path also ends when nobody holds anything of it. */
static void a_path_ends_when_nothing_is_held(void)
{
    begin_with((gph_tree_options){.flags = GPH_TREE_EXPLICIT_STEPS});
    spec s[2] = {plain(), plain()};
    gph_tree_function *a = add(&s[0], NULL, 1), *b = add(&s[1], NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 3; i++) {
        release(call_on(a, in));
        release(call_on(b, in));
    }
    CHECK(is_dump("f1, f2") && stats().paths == 6 && stats().steps == 0);
    end();
}

/* A call that reads the path goes on with it, whatever its function. */
static void a_root_function_may_read_the_path(void)
{
    begin();
    spec s = plain();
    gph_tree_function *fn = add(&s, NULL, 1);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 3; i++)
        call_taking(fn, call_on(fn, in));
    CHECK(is_dump("f1-f1") && stats().paths == 3);
    end();
}

static void declared_roots_begin_steps(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    gph_tree_function *a = add(&s[0], NULL, 1), *b = NULL;
    opt.flags = GPH_TREE_FUNCTION_ROOT;
    opt.input_count = opt.output_count = 1;
    CHECK_OK(gph_tree_function_add(tree, spec_fn, &s[1], &opt, &b, &error), error);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    call_on(a, in);
    for (int i = 0; i < 5; i++)
        call_on(b, in);
    CHECK(is_dump("f2") && stats().steps == 6);
    step(); /* from here on only steps begin steps */
    for (int i = 0; i < 2; i++)
        call_on(b, in);
    CHECK(stats().steps == 7 && stats().depth == 2);
    end();
}

/* ---- forwards and backwards ---- */

static const gph_tree_output *pair(gph_tree_function *forward, gph_tensor in)
{
    static gph_tree_output out[2];
    const gph_tree_input input = {.tensor = in};
    CHECK_OK(gph_tree_call(tree, forward, NULL, &input, out, &error), error);
    return out;
}

/* forward_backward, forward_generation, cached_forward_backward: activations die in the
 * backward; the next forward is a root */
static void a_backward_settles_its_forward(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    s[0].outputs = 2;
    s[0].units[1] = 1;
    gph_tree_function *forward = add_kind(&s[0], 1, GPH_TREE_FORWARD);
    gph_tree_function *backward = add_kind(&s[1], 1, GPH_TREE_BACKWARD);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 4; i++) {
        const gph_tree_output *y = pair(forward, in);
        CHECK(stats().due == 1 && stats().live_blocks == 2);
        call_taking(backward, y[1]);
        CHECK(stats().due == 0 && stats().live_blocks == 2);
    }
    CHECK(is_dump("f1-f2") && stats().replays == 4);
    end();
}

/* mark_step, warn_on_pending_backward: nothing ends while a backward is due, but an
 * explicit step does */
static void a_step_waits_for_the_backward(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    s[0].outputs = 2;
    s[0].units[1] = 1;
    gph_tree_function *forward = add_kind(&s[0], 1, GPH_TREE_FORWARD);
    gph_tree_function *backward = add_kind(&s[1], 1, GPH_TREE_BACKWARD);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 3; i++) { /* two micro-batches a step */
        const gph_tree_output a = pair(forward, in)[1], b = pair(forward, in)[1];
        CHECK(stats().due == 2 && stats().depth == 2);
        call_taking(backward, b);
        CHECK(stats().due == 1);
        call_taking(backward, a);
        CHECK(stats().due == 0 && stats().depth == 4);
    }
    CHECK(is_dump("f1-f1-f2-f2") && stats().paths == 3);
    pair(forward, in);
    step();
    CHECK(stats().due == 0 && stats().depth == 0);
    end();
}

/* forward_backward_not_called: 3 recordings */
static void a_backward_that_never_comes_blocks_nothing(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    s[0].outputs = 2;
    s[0].units[1] = 1;
    gph_tree_function *forward = add_kind(&s[0], 1, GPH_TREE_FORWARD);
    gph_tree_function *backward = add_kind(&s[1], 1, GPH_TREE_BACKWARD);
    const gph_tensor in = user_tensor(&f, 0, 2, 1), small = user_tensor(&f, 1, 1, 1);
    for (int i = 0; i < 4; i++) {
        const gph_tree_output *y = pair(forward, small);
        release(y[0]);
        release(y[1]); /* nobody can call its backward any more */
        const gph_tree_output z = pair(forward, in)[1];
        CHECK(stats().due == 1 && stats().depth == 1);
        call_taking(backward, z);
    }
    CHECK(stats().nodes == 3 && is_dump("f1, f1-f2"));
    end();
}

/* forward_with_skipped_cudagraphed_backward: an eager backward settles, too */
static void an_eager_backward_settles_its_forward(void)
{
    begin();
    spec s[2] = {plain(), plain()};
    s[0].outputs = 2;
    s[0].units[1] = 1;
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    gph_tree_function *forward = add_kind(&s[0], 1, GPH_TREE_FORWARD), *backward = NULL;
    opt.kind = GPH_TREE_BACKWARD;
    opt.flags = GPH_TREE_FUNCTION_EAGER;
    opt.input_count = opt.output_count = 1;
    CHECK_OK(gph_tree_function_add(tree, spec_fn, &s[1], &opt, &backward, &error), error);
    const gph_tensor in = user_tensor(&f, 0, 2, 1);
    for (int i = 0; i < 4; i++) {
        call_with(backward, pair(forward, in)[1]);
        CHECK(stats().due == 0);
    }
    CHECK(is_dump("f1") && stats().replays == 2 && stats().eager == 4);
    end();
}

int main(void)
{
    RUN(two_shapes_are_two_roots);
    RUN(each_signature_is_warmed_up);
    RUN(a_key_is_part_of_the_signature);
    RUN(copied_inputs_may_lie_anywhere);
    RUN(strides_are_part_of_the_signature);
    RUN(a_function_twice_on_a_path);
    RUN(branches_share_the_pool);
    RUN(a_branch_after_replays_restores_twice);
    RUN(books_are_empty_while_replays_run);
    RUN(a_replay_empties_books_that_were_restored);
    RUN(outputs_of_the_last_path_are_freed);
    RUN(a_step_ends_a_recorded_path);
    RUN(an_output_that_died_after_the_replay_is_not_restored);
    RUN(a_path_ends_when_nothing_is_held);
    RUN(a_root_function_may_read_the_path);
    RUN(declared_roots_begin_steps);
    RUN(a_backward_settles_its_forward);
    RUN(a_step_waits_for_the_backward);
    RUN(a_backward_that_never_comes_blocks_nothing);
    RUN(an_eager_backward_settles_its_forward);
    return test_done();
}
