// SPDX-License-Identifier: Apache-2.0
// tree.re-record-storm
//
// A tree of recordings holds the addresses of what is declared static, and which outputs
// were dead. Something that should be still moves in each step, so nearly every step is
// recorded again. Keep the buffer where it is, or declare it an input that is copied. A
// tree of libgph reports this itself.
#include "broken.h"

#include <gph/gph.h>

enum { STEPS = 16 };

static gph_error error;
static gph_runtime *gph;
static gph_arena *arena;
static gph_tree *tree;

static void must(gph_status status)
{
    if (status != GPH_OK)
        printf("libgph: %s\n", error.message);
    EXPECT(status == GPH_OK);
}

/* out = in */
static gph_status part(void *user, gph_call *call, gph_error *why)
{
    const int64_t shape[] = {FLOATS};
    CUdeviceptr out = 0, in = call->inputs[0].data;
    unsigned n = FLOATS;
    void *arguments[] = {&out, &in, &n};
    (void)user;
    gph_status status =
        gph_pool_alloc(call->pool, FLOATS * sizeof(float), call->stream, &out, why);
    if (status != GPH_OK)
        return status;
    call->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_F32, 1, shape);
    return gph_cuda_check((gph_status)cuLaunchKernel(copy, FLOATS / 128, 1, 1, 128, 1, 1,
                                                     0, call->stream, arguments, NULL),
                          "cuLaunchKernel", why);
}

static gph_tree_function *open_tree(uint8_t kind, uint32_t moves)
{
    gph_tree_options options = GPH_TREE_OPTIONS_INIT;
    gph_tree_function_options one = GPH_TREE_FUNCTION_OPTIONS_INIT;
    gph_tree_function *function = NULL;
    options.stream = new_stream();
    options.moves_max = moves;
    options.rerecords_max = 64;
    must(gph_open(NULL, &gph, &error));
    must(gph_arena_create(gph, NULL, &arena, &error));
    must(gph_tree_create(gph, arena, &options, &tree, &error));
    one.name = "layer";
    one.inputs = &kind;
    one.input_count = one.output_count = 1;
    must(gph_tree_function_add(tree, part, NULL, &one, &function, &error));
    return function;
}

static gph_tree_output call(gph_tree_function *function, CUdeviceptr in)
{
    const int64_t shape[] = {FLOATS};
    const gph_tree_input input = {.tensor =
                                      gph_tensor_dense(in, GPH_DTYPE_F32, 1, shape)};
    gph_tree_output out = {0};
    must(gph_tree_call(tree, function, NULL, &input, &out, /* <-- first */
                       &error));
    return out;
}

static void close_tree(void)
{
    gph_tree_destroy(tree);
    gph_arena_destroy(arena);
    gph_close(gph);
}

/* A parameter that is allocated again in every step. */
static void first(void)
{
    gph_tree_function *function = open_tree(GPH_TREE_INPUT_STATIC, 1000);
    for (int i = 0; i < STEPS; i++)
        gph_tree_output_release(tree, call(function, new_floats()));
    close_tree();
}

/* Shapes that differ in each step, in a thread. */
static void run(void *user)
{
    gph_tree_function *function = open_tree(0, 0);
    const CUdeviceptr in = new_floats();
    (void)user;
    for (int i = 0; i < STEPS; i++) {
        const int64_t shape[] = {FLOATS - 8 * i};
        const gph_tree_input input = {.tensor =
                                          gph_tensor_dense(in, GPH_DTYPE_F32, 1, shape)};
        gph_tree_output out = {0};
        for (int k = 0; k < 2; k++) {                        /* a warm-up, a recording */
            must(gph_tree_call(tree, function, NULL, &input, /* <-- second */
                               &out, &error));
            gph_tree_output_release(tree, out);
        }
    }
    close_tree();
}

static void second(void)
{
    in_thread(run, NULL);
}

/* Inputs that move, but are copied; recorded once. */
static void near(void)
{
    gph_tree_function *function = open_tree(0, 0);
    for (int i = 0; i < STEPS; i++)
        gph_tree_output_release(tree, call(function, new_floats()));
    close_tree();
}

BROKEN(first, second, near)
