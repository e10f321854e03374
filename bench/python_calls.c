// SPDX-License-Identifier: Apache-2.0
/* bench/python_calls: the calls of C that bench/python_calls.py is compared with. Each makes
 * `count` calls and returns what they took, in ns; a failure is below 0. */
#define _GNU_SOURCE
#include "sample.h"

#include <gph/gph.h>

double time_replay(gph_replay *replay, CUstream stream, int count);
double time_exec(gph_exec *exec, CUstream stream, int count);
double time_callable(gph_callable *callable, const gph_tensor *inputs,
                     uint32_t input_count, CUstream stream, int count);
double time_tree(gph_tree *tree, gph_tree_function *function, const gph_tensor *inputs,
                 uint32_t input_count, int count);
double time_cache(gph_cache *cache, int64_t size, const gph_tensor *inputs,
                  CUstream stream, int count);

double time_replay(gph_replay *replay, CUstream stream, int count)
{
    gph_status status = GPH_OK;
    const double begun = now_us();
    for (int i = 0; i < count && status == GPH_OK; i++)
        status = gph_replay_launch(replay, stream, NULL);
    return status == GPH_OK ? 1e3 * (now_us() - begun) : -1;
}

double time_exec(gph_exec *exec, CUstream stream, int count)
{
    gph_status status = GPH_OK;
    const double begun = now_us();
    for (int i = 0; i < count && status == GPH_OK; i++)
        status = gph_exec_launch(exec, stream, NULL);
    return status == GPH_OK ? 1e3 * (now_us() - begun) : -1;
}

double time_callable(gph_callable *callable, const gph_tensor *inputs,
                     uint32_t input_count, CUstream stream, int count)
{
    gph_status status = GPH_OK;
    const gph_arguments arguments = {.inputs = inputs, .input_count = input_count};
    const double begun = now_us();
    for (int i = 0; i < count && status == GPH_OK; i++)
        status = gph_callable_call(callable, &arguments, stream, NULL, NULL);
    return status == GPH_OK ? 1e3 * (now_us() - begun) : -1;
}

double time_tree(gph_tree *tree, gph_tree_function *function, const gph_tensor *inputs,
                 uint32_t input_count, int count)
{
    enum { MOST = 16 };
    gph_tree_input given[MOST] = {0};
    gph_tree_output output = {0};
    gph_status status = GPH_OK;
    for (uint32_t i = 0; i < input_count && i < MOST; i++)
        given[i].tensor = inputs[i];
    const double begun = now_us();
    for (int i = 0; i < count && status == GPH_OK; i++) {
        status = gph_tree_call(tree, function, NULL, given, &output, NULL);
        gph_tree_output_release(tree, output);
    }
    return status == GPH_OK ? 1e3 * (now_us() - begun) : -1;
}

double time_cache(gph_cache *cache, int64_t size, const gph_tensor *inputs,
                  CUstream stream, int count)
{
    gph_status status = GPH_OK;
    gph_tensor output = {0};
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    args.stream = stream;
    args.sizes = &size;
    args.inputs = inputs;
    args.outputs = &output;
    const double begun = now_us();
    for (int i = 0; i < count && status == GPH_OK; i++) {
        output.data = 0;
        status = gph_cache_call(cache, &args, NULL);
    }
    return status == GPH_OK ? 1e3 * (now_us() - begun) : -1;
}
