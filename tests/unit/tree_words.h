// SPDX-License-Identifier: Apache-2.0
/* A tree on tree_fake.h, and short words for what tests do with it. */
#ifndef TREE_WORDS_H
#define TREE_WORDS_H
#include "unit/tree_fake.h"

static fake f;
static fault_heap heap;
static gph_tree *tree;
static gph_error error;
static gph_tree_options options = GPH_TREE_OPTIONS_INIT;

static inline gph_allocator test_heap(void)
{
    return (gph_allocator){fault_realloc, &heap};
}

static inline void begin(void)
{
    heap = (fault_heap){.fail_at = -1};
    fake_init(&f);
    error = (gph_error){0};
    gphi_tree_backend *backend = &f.base;
    tree = NULL;
    CHECK_OK(gphi_tree_create(test_heap(), backend, &options, &tree, &error), error);
}

static inline void begin_with(gph_tree_options with)
{
    options = with;
    options.size = sizeof(options);
    begin();
    options = (gph_tree_options){.size = sizeof(options)};
}

static inline void end(void)
{
    gph_tree_destroy(tree);
    CHECK(atomic_load(&heap.live_bytes) == 0);
}

static inline gph_tree_function *add(spec *s, const uint8_t *inputs, uint32_t count)
{
    static uint64_t salts;
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    gph_tree_function *out = NULL;
    s->salt = ++salts;
    opt.inputs = inputs;
    opt.input_count = count;
    opt.output_count = s->outputs;
    CHECK_OK(gph_tree_function_add(tree, spec_fn, s, &opt, &out, &error), error);
    return out;
}

static inline gph_tree_function *add_kind(spec *s, uint32_t count, gph_tree_kind kind)
{
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    gph_tree_function *out = NULL;
    opt.kind = kind;
    opt.input_count = count;
    opt.output_count = s->outputs;
    CHECK_OK(gph_tree_function_add(tree, spec_fn, s, &opt, &out, &error), error);
    return out;
}

/* One input and one output of 2 units, one temporary. */
static inline spec plain(void)
{
    return (spec){.temporaries = 1, .outputs = 1, .units = {2}};
}

static inline gph_tree_output call(gph_tree_function *function, gph_tree_input input)
{
    gph_tree_output out[OUTPUTS_MAX] = {0};
    CHECK_OK(gph_tree_call(tree, function, NULL, &input, out, &error), error);
    return out[0];
}

static inline gph_tree_output call_on(gph_tree_function *function, gph_tensor tensor)
{
    return call(function, (gph_tree_input){.tensor = tensor});
}

static inline gph_tree_output call_with(gph_tree_function *function,
                                        gph_tree_output output)
{
    return call(function, (gph_tree_input){.output = output});
}

/* The output is released by the call. */
static inline gph_tree_output call_taking(gph_tree_function *function,
                                          gph_tree_output output)
{
    return call(function, (gph_tree_input){.output = output, .take = 1});
}

static inline void release(gph_tree_output output)
{
    gph_tree_output_release(tree, output);
}

static inline void step(void)
{
    CHECK_OK(gph_tree_step_begin(tree, &error), error);
}

static inline gph_tree_stats stats(void)
{
    gph_tree_stats out = GPH_SIZED(gph_tree_stats);
    gph_tree_stats_get(tree, &out);
    return out;
}

static inline gph_tree_event last(void)
{
    gph_tree_event out = GPH_SIZED(gph_tree_event);
    gph_tree_event_get(tree, &out);
    return out;
}

static inline bool is_last(gph_tree_action action, gph_tree_reason reason)
{
    const gph_tree_event event = last();
    if (event.action == action && event.reason == reason)
        return true;
    fprintf(stderr, "  action %d, reason %d: %s\n", (int)event.action, (int)event.reason,
            event.text);
    return false;
}

static inline bool is_dump(const char *expected)
{
    char text[512];
    gph_buffer to = {text, sizeof(text), 0};
    CHECK_OK(gph_tree_write(tree, GPH_TREE_SHORT, gph_write_buffer, &to, &error), error);
    if (strcmp(text, expected) == 0)
        return true;
    fprintf(stderr, "  the tree is %s\n", text);
    return false;
}

/* The output holds what the function makes of a tensor of the user's. */
static inline bool is_of(gph_tree_output output, const spec *s, gph_tensor input)
{
    gph_tensor tensor = {0};
    if (!CHECK_OK(gph_tree_output_tensor(tree, output, &tensor, &error), error))
        return false;
    const value in = value_at(&f, &input), got = value_at(&f, &tensor);
    const value expected = spec_value(s, 0, NULL, 0, &in, 1, s->units[0]);
    return same_value(&got, &expected);
}

static const gph_tree_output nothing = {0};
#endif
