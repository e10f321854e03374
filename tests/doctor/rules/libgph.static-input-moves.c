// SPDX-License-Identifier: Apache-2.0
// libgph.static-input-moves
//
// Requests come in a ring of buffers, and the input is declared GPH_TREE_INPUT_STATIC to save the
// copy: the function is recorded again for each buffer. Leave the flag out.
#include "libgph.h"

enum { RING = 5, CALLS = 30 };

static gph_tree *tree;
static CUdeviceptr ring[RING];

static gph_status scaled(void *user, gph_call *call, gph_error *why)
{
    static const int64_t shape[] = {FLOATS};
    CUdeviceptr out = 0;
    const gph_status status =
        gph_pool_alloc(call->pool, FLOATS * sizeof(float), call->stream, &out, why);
    (void)user;
    if (status != GPH_OK)
        return status;
    COPY(call->stream, out, call->inputs[0].data);
    SCALE_ADD(call->stream, out, call->inputs[0].data, 2);
    call->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_F32, 1, shape);
    return GPH_OK;
}

static gph_tree_function_options plan(const uint8_t *flags)
{
    gph_arena *arena = NULL;
    gph_tree_options options = GPH_TREE_OPTIONS_INIT;
    gph_tree_function_options out = GPH_TREE_FUNCTION_OPTIONS_INIT;
    open_gph();
    for (int i = 0; i < RING; i++)
        ring[i] = new_floats();
    must(gph_arena_create(gph, NULL, &arena, &error));
    options.stream = stream;
    must(gph_tree_create(gph, arena, &options, &tree, &error));
    out.input_count = out.output_count = 1;
    out.inputs = flags;
    out.name = "embed";
    out.flags = GPH_TREE_FUNCTION_ROOT;
    return out;
}

static void call_tree(gph_tree_function *function, CUdeviceptr in)
{
    static const int64_t shape[] = {FLOATS};
    gph_tree_input input = {.tensor = gph_tensor_dense(in, GPH_DTYPE_F32, 1, shape)};
    gph_tree_output out;
    CUdeviceptr data = 0;
    must(gph_tree_call(tree, function, NULL, &input, &out, &error));
    must(gph_tree_output_data(tree, out, &data, &error));
    (void)read_back(data);
    gph_tree_output_release(tree, out);
}

static const uint8_t is_static[] = {GPH_TREE_INPUT_STATIC}, is_plain[] = {0};

static void first(void)
{
    gph_tree_function *function = NULL;
    const gph_tree_function_options options = plan(is_static);
    must(gph_tree_function_add(tree, scaled, NULL, &options, &function, // <-- first
                               &error));
    for (int i = 0; i < CALLS; i++) {
        FILL(stream, ring[i % RING], (float)i);
        call_tree(function, ring[i % RING]);
    }
}

static void second(void)
{
    gph_tree_function *function = NULL;
    const gph_tree_function_options options = plan(is_static);
    float host[FLOATS] = {0};
    must(gph_tree_function_add(tree, scaled, NULL, &options, &function, // <-- second
                               &error));
    for (int i = 0; i < CALLS; i++) {
        host[0] = (float)i;
        CU(cuMemcpyHtoDAsync(ring[i % RING], host, sizeof(host), stream));
        CU(cuStreamSynchronize(stream));
        call_tree(function, ring[i % RING]);
    }
}

/* Sets of weights, which stay as they are; and the ring without the flag. */
static void near(void)
{
    gph_tree_function *function = NULL;
    gph_tree_function_options options = plan(is_static);
    must(gph_tree_function_add(tree, scaled, NULL, &options, &function, &error));
    for (int i = 0; i < RING; i++)
        FILL(stream, ring[i], (float)i);
    for (int i = 0; i < CALLS; i++)
        call_tree(function, ring[i % RING]);
    options = plan(is_plain);
    must(gph_tree_function_add(tree, scaled, NULL, &options, &function, &error));
    for (int i = 0; i < CALLS; i++) {
        FILL(stream, ring[i % RING], (float)i);
        call_tree(function, ring[i % RING]);
    }
}

BROKEN(first, second, near)
