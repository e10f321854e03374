// SPDX-License-Identifier: Apache-2.0
/* A function whose path the host chooses as it goes, the one of PyTorch's documentation
 * of graph trees:
 *
 *   1: y = x * x * x
 *   sum(y) > 0 ?  2: z = y ^ y  :  3: z = |y| ^ |y|
 *   4: out = z * random
 *
 * It is called with numbers above zero, then below. Each of its four parts is warmed up,
 * recorded and replayed where it is in the path, so part 4 is recorded twice, once
 * after 2 and once after 3. Every result is compared with that of an eager run. */
#include <gph/gph.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gph_error error;

static void must(gph_status status)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "tree: %s %s\n", error.message, error.hint);
    exit(1);
}
#define CU(name, ...) must(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error))

enum { N = 1000, BYTES = N * 4, PARTS = 4 };

static gph_runtime *gph;
static const gph_cuda_calls *cu;
static CUstream stream;
static CUfunction kernels[PARTS], sum;
static CUdeviceptr x, total;

/* ---- the parts: each allocates its output and launches one kernel ---- */

static gph_status part(void *user, gph_call *call, gph_error *why)
{
    const int64_t shape[] = {N};
    const int number = (int)((CUfunction *)user - kernels);
    CUdeviceptr in = call->inputs[0].data, out = 0, words = call->rng;
    unsigned n = N;
    gph_status status = gph_pool_alloc(call->pool, BYTES, call->stream, &out, why);
    if (status != GPH_OK)
        return status;
    void *plain[] = {&out, &in, &n}, *random[] = {&out, &in, &words, &n};
    if (number == 3)
        call->rng_count = 1; /* one number a thread */
    status =
        gph_cuda_check(cu->LaunchKernel(kernels[number], 8, 1, 1, 128, 1, 1, 0,
                                        call->stream, number == 3 ? random : plain, NULL),
                       "cuLaunchKernel", why);
    if (status != GPH_OK) {
        (void)gph_pool_free(call->pool, out, call->stream, NULL);
        return status;
    }
    call->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_F32, 1, shape);
    return GPH_OK;
}

/* What the host decides by. */
static int is_positive(CUdeviceptr y)
{
    float host = 0;
    unsigned n = N;
    void *arguments[] = {&total, &y, &n};
    CU(LaunchKernel, sum, 1, 1, 1, 128, 1, 1, 0, stream, arguments, NULL);
    CU(MemcpyDtoHAsync, &host, total, sizeof(host), stream);
    CU(StreamSynchronize, stream);
    return host > 0;
}

/* ---- the function, in a tree and eagerly ---- */

static gph_tree *tree;
static gph_tree_function *functions[PARTS];
static gph_tree_output last_y;

static void say(char *line, size_t room)
{
    static const char *const words[] = {"", "replayed", "recorded", "warm-up", "eager"};
    gph_tree_event event = GPH_SIZED(gph_tree_event);
    gph_tree_event_get(tree, &event);
    const size_t length = strlen(line);
    snprintf(line + length, room - length, "  %s %-8s", event.function,
             words[event.action]);
}

static gph_tree_output call(int number, gph_tree_input input, char *line, size_t room)
{
    gph_tree_output out;
    must(gph_tree_call(tree, functions[number], NULL, &input, &out, &error));
    say(line, room);
    return out;
}

static void run_in_tree(float *result, char *line, size_t room)
{
    const int64_t shape[] = {N};
    gph_tree_input input = {.tensor = gph_tensor_dense(x, GPH_DTYPE_F32, 1, shape)};
    CUdeviceptr data;
    last_y = call(0, input, line, room);
    must(gph_tree_output_data(tree, last_y, &data, &error));
    const int branch = is_positive(data) ? 1 : 2;
    input = (gph_tree_input){.output = last_y, .take = 1}; /* y is needed no more */
    input.output = call(branch, input, line, room);
    const gph_tree_output out = call(3, input, line, room);
    must(gph_tree_output_data(tree, out, &data, &error));
    CU(MemcpyDtoHAsync, result, data, BYTES, stream);
    CU(StreamSynchronize, stream);
}

static CUdeviceptr run_part(int number, CUdeviceptr in, gph_pool *pool, gph_rng *rng)
{
    const int64_t shape[] = {N};
    const gph_tensor input = gph_tensor_dense(in, GPH_DTYPE_F32, 1, shape);
    const gph_arguments arguments = {.inputs = &input, .input_count = 1};
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    gph_tensor output = {0};
    options.function = part;
    options.user = &kernels[number];
    options.pool = pool;
    options.rng = rng;
    options.stream = stream;
    options.output_count = 1;
    must(gph_function_call(gph, &options, &arguments, stream, &output, &error));
    return output.data;
}

static void run_eagerly(float *result, gph_pool *pool, gph_rng *rng)
{
    const CUdeviceptr y = run_part(0, x, pool, rng);
    const CUdeviceptr z = run_part(is_positive(y) ? 1 : 2, y, pool, rng);
    const CUdeviceptr out = run_part(3, z, pool, rng);
    CU(MemcpyDtoHAsync, result, out, BYTES, stream);
    CU(StreamSynchronize, stream);
    must(gph_pool_free(pool, y, stream, &error));
    must(gph_pool_free(pool, z, stream, &error));
    must(gph_pool_free(pool, out, stream, &error));
}

/* ---- the program ---- */

static void open_driver(void)
{
    static const char *const names[] = {"cube", "power", "power_absolute",
                                        "times_random"};
    gph_options options = GPH_OPTIONS_INIT; /* a GPU where there is one, else softcuda */
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    CUcontext context;
    CUmodule module;
    must(gph_open(&options, &gph, &error));
    cu = gph_cuda(gph);
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(ModuleLoad, &module, TREE_PTX);
    for (int i = 0; i < PARTS; i++)
        CU(ModuleGetFunction, &kernels[i], module, names[i]);
    CU(ModuleGetFunction, &sum, module, "sum");
    CU(StreamCreate, &stream, 1); /* non-blocking */
    CU(MemAlloc, &x, BYTES);
    CU(MemAlloc, &total, sizeof(float));
}

static void make_tree(gph_arena *arena, gph_rng *rng)
{
    static const char *const names[] = {"1", "2", "3", "4"};
    gph_tree_options options = GPH_TREE_OPTIONS_INIT;
    options.stream = stream;
    options.rng = rng;
    must(gph_tree_create(gph, arena, &options, &tree, &error));
    for (int i = 0; i < PARTS; i++) {
        gph_tree_function_options one = GPH_TREE_FUNCTION_OPTIONS_INIT;
        one.name = names[i];
        one.input_count = one.output_count = 1;
        must(gph_tree_function_add(tree, part, &kernels[i], &one, &functions[i], &error));
    }
}

/* One call of the function, in both ways. */
static void run(float value, gph_pool *pool, gph_rng *eager_rng)
{
    static float in_tree[N], eager[N];
    char line[200] = "";
    unsigned bits;
    memcpy(&bits, &value, sizeof(bits));
    CU(MemsetD32Async, x, bits, N, stream);
    run_in_tree(in_tree, line, sizeof(line));
    run_eagerly(eager, pool, eager_rng);
    gph_tree_stats stats = GPH_SIZED(gph_tree_stats);
    gph_tree_stats_get(tree, &stats);
    printf("x = %5.2f: %s  checkpoints restored: %u, as eager: %s\n", (double)value, line,
           (unsigned)stats.restores,
           memcmp(in_tree, eager, sizeof(eager)) == 0 ? "yes" : "NO");
}

static void print_tree(void)
{
    gph_tree_stats stats = GPH_SIZED(gph_tree_stats);
    printf("the tree: ");
    must(gph_tree_write(tree, GPH_TREE_SHORT, gph_write_file, stdout, &error));
    gph_tree_stats_get(tree, &stats);
    printf(" (%u recordings of %d functions)\n", stats.nodes, PARTS);
}

int main(void)
{
    static const float values[] = {1.1f, 1.2f, 1.3f, -1.1f, -1.2f, -1.3f, 1.4f, -1.4f};
    gph_arena *arena;
    gph_pool *pool;
    gph_rng *rng, *eager_rng;
    gph_tree_event event = GPH_SIZED(gph_tree_event);
    open_driver();
    must(gph_arena_create(gph, NULL, &arena, &error));
    must(gph_pool_create(arena, NULL, &pool, &error));
    must(gph_rng_create(gph, 2026, &rng, &error));
    must(gph_rng_create(gph, 2026, &eager_rng, &error));
    make_tree(arena, rng);

    for (int i = 0; i < 8; i++) {
        run(values[i], pool, eager_rng);
        if (i == 2 || i == 7)
            print_tree();
        if (i == 4) {
            gph_tree_event_get(tree, &event);
            printf("part 4 again: %s\n", event.text);
        }
    }

    /* y was released when part 2 or 3 took it; hold one beyond its step instead. */
    const int64_t shape[] = {N};
    gph_tree_input input = {.tensor = gph_tensor_dense(x, GPH_DTYPE_F32, 1, shape)};
    gph_tree_output held, next;
    CUdeviceptr data;
    must(gph_tree_call(tree, functions[0], NULL, &input, &held, &error));
    must(gph_tree_output_data(tree, held, &data, &error));
    must(gph_tree_call(tree, functions[0], NULL, &input, &next, &error));
    if (gph_tree_output_data(tree, held, &data, &error) != GPH_OK)
        printf("an output used too late: %s: %s\n", gph_status_name(error.code),
               error.message);

    gph_tree_destroy(tree);
    gph_rng_destroy(eager_rng);
    gph_rng_destroy(rng);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    gph_close(gph);
    return 0;
}
