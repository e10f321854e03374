// SPDX-License-Identifier: Apache-2.0
/* bench/tree: what a call of a tree costs beside the launch of its graph, on a GPU or on
 * softcuda (GPH_DRIVER), and what its pool takes beside the eager program.
 *
 *   bench_tree [--rounds N]
 *
 *   raw    cuGraphLaunch of the same graphs, recorded outside a tree
 *   exec   gph_exec_launch of them
 *   tree   gph_tree_call, all hits; steps and releases counted in
 *
 * Copied inputs are copied by the graph itself (PULL slots), or by a call as before.
 * Host time a call: BATCH calls are timed as one, then the stream is waited for. The
 * three take turns, and each figure is a median of all rounds. bench/torch_graphs.py
 * prints the same for PyTorch. */
#include "replay/copy.h"
#include "sample.h"

#include <gph/gph.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static gph_error error;

static void must(gph_status status)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "bench_tree: %s %s\n", error.message, error.hint);
    exit(1);
}
#define CU(name, ...) must(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error))

enum { N = 256, WEIGHTS = 7, GRAPHS_MAX = 24, BATCH = 32, ROUNDS_MAX = 2000 };

static gph_runtime *gph;
static const gph_cuda_calls *cu;
static CUstream stream;
static CUfunction mix_eight;
static CUdeviceptr x, weights[WEIGHTS];
static gph_arena *arena;
static int rounds = 200;

/* ---- a function: some small kernels in a row, one output ---- */

typedef struct chain {
    unsigned kernels;
} chain;

static gph_status run_chain(void *user, gph_call *call, gph_error *why)
{
    const chain *c = user;
    const int64_t shape[] = {N};
    unsigned n = N;
    CUdeviceptr out = 0, in = call->inputs[0].data;
    gph_status status = gph_pool_alloc(call->pool, N * 4, call->stream, &out, why);
    for (unsigned i = 0; i < c->kernels && status == GPH_OK; i++) {
        CUdeviceptr w[WEIGHTS];
        void *arguments[3 + WEIGHTS] = {&out, &in};
        for (unsigned k = 0; k < WEIGHTS; k++) {
            w[k] = k + 1 < call->input_count ? call->inputs[k + 1].data : weights[k];
            arguments[2 + k] = &w[k];
        }
        arguments[2 + WEIGHTS] = &n;
        status = gph_cuda_check(cu->LaunchKernel(mix_eight, 1, 1, 1, N, 1, 1, 0,
                                                 call->stream, arguments, NULL),
                                "cuLaunchKernel", why);
        in = out;
    }
    call->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_F32, 1, shape);
    return status;
}

/* ---- programs: a row of graphs a step ---- */

typedef struct program {
    const char *name;
    int graphs;       /* a step */
    unsigned kernels; /* a graph */
    uint32_t statics; /* static inputs besides the first */
    uint32_t copied;  /* of the inputs of a step, the first ones */
    bool by_calls;    /* before the launch, instead of inside the graph */
} program;

static const program programs[] = {
    {"1 graph of 1 kernel, 8 static inputs", 1, 1, WEIGHTS, 0, false},
    {"1 graph of 1 kernel, 1 copied input", 1, 1, 0, 1, false},
    {"  the same, copied by a call", 1, 1, 0, 1, true},
    {"1 graph of 40 kernels, 8 static inputs", 1, 40, WEIGHTS, 0, false},
    {"1 graph of 40 kernels, 8 copied inputs", 1, 40, WEIGHTS, 8, false},
    {"3 graphs of 1 kernel, 8 inputs", 3, 1, WEIGHTS, 0, false},
    {"24 graphs of 10 kernels, 8 inputs", 24, 10, WEIGHTS, 0, false},
};

static chain work;
static gph_tree *tree;
static gph_tree_function *function;
static gph_tree_input inputs[1 + WEIGHTS];
static gph_callable *callables[GRAPHS_MAX];
static gph_exec *execs[GRAPHS_MAX];
static CUgraphExec handles[GRAPHS_MAX];

static gph_tensor floats(CUdeviceptr at)
{
    return gph_tensor_dense(at, GPH_DTYPE_F32, 1, (const int64_t[]){N});
}

static void record_alone(const program *p, gph_pool *pool)
{
    static const uint8_t modes[1 + WEIGHTS] = {
        GPH_INPUT_STATIC, GPH_INPUT_STATIC, GPH_INPUT_STATIC, GPH_INPUT_STATIC,
        GPH_INPUT_STATIC, GPH_INPUT_STATIC, GPH_INPUT_STATIC, GPH_INPUT_STATIC};
    gph_tensor sample[1 + WEIGHTS];
    sample[0] = floats(x);
    for (int i = 0; i < WEIGHTS; i++)
        sample[i + 1] = floats(weights[i]);
    for (int i = 0; i < p->graphs; i++) {
        gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
        options.function = run_chain;
        options.user = &work;
        options.sample.inputs = sample;
        options.sample.input_count = 1 + p->statics;
        options.modes = modes;
        options.output_count = 1;
        options.pool = pool;
        options.stream = stream;
        must(gph_callable_create(gph, &options, &callables[i], &error));
        execs[i] = gph_callable_exec(callables[i]);
        handles[i] = gph_exec_handle(execs[i]);
    }
}

static void make_tree(const program *p)
{
    uint8_t flags[1 + WEIGHTS];
    gph_tree_options options = GPH_TREE_OPTIONS_INIT;
    gph_tree_function_options one = GPH_TREE_FUNCTION_OPTIONS_INIT;
    memset(flags, GPH_TREE_INPUT_STATIC, sizeof(flags));
    memset(flags, 0, p->copied);
    gph->copy_way = p->by_calls ? GPHI_COPY_BATCH : GPHI_COPY_AUTO;
    options.stream = stream;
    one.name = "chain";
    one.inputs = flags;
    one.input_count = 1 + p->statics;
    one.output_count = 1;
    must(gph_tree_create(gph, arena, &options, &tree, &error));
    must(gph_tree_function_add(tree, run_chain, &work, &one, &function, &error));
    memset(inputs, 0, sizeof(inputs));
    for (uint32_t i = 0; i < p->statics; i++)
        inputs[i + 1].tensor = floats(weights[i]);
}

/* A step: each graph reads the one before, which is released. */
static void step_tree(const program *p)
{
    gph_tree_output out = {0};
    inputs[0] = (gph_tree_input){.tensor = floats(x)};
    for (int i = 0; i < p->graphs; i++) {
        if (gph_tree_call(tree, function, NULL, inputs, &out, &error) != GPH_OK)
            must(error.code);
        inputs[0].output = out;
        inputs[0].take = 1;
    }
    gph_tree_output_release(tree, out);
}

static void step_raw(const program *p)
{
    for (int i = 0; i < p->graphs; i++)
        if (cu->GraphLaunch(handles[i], stream) != 0)
            exit(1);
}

static void step_exec(const program *p)
{
    for (int i = 0; i < p->graphs; i++)
        must(gph_exec_launch(execs[i], stream, &error));
}

static double time_batch(void (*step)(const program *), const program *p)
{
    const int batch = p->graphs > 1 ? BATCH / 4 : BATCH;
    const double start = now_us();
    for (int i = 0; i < batch; i++)
        step(p);
    const double spent = now_us() - start;
    CU(StreamSynchronize, stream);
    return spent / batch;
}

static void measure(const program *p)
{
    static double raw[ROUNDS_MAX], exec[ROUNDS_MAX], hit[ROUNDS_MAX];
    gph_pool *pool;
    gph_tree_stats before = GPH_SIZED(gph_tree_stats);
    gph_tree_stats after = GPH_SIZED(gph_tree_stats);
    work.kernels = p->kernels;
    must(gph_pool_create(arena, NULL, &pool, &error));
    record_alone(p, pool);
    make_tree(p);
    for (int i = 0; i < 4; i++)
        step_tree(p);
    gph_tree_stats_get(tree, &before);
    for (int i = -rounds / 10; i < rounds; i++) { /* the first ones are not counted */
        const int at = i < 0 ? 0 : i;
        raw[at] = time_batch(step_raw, p);
        exec[at] = time_batch(step_exec, p);
        hit[at] = time_batch(step_tree, p);
    }
    gph_tree_stats_get(tree, &after);
    if (after.calls - before.calls != after.replays - before.replays) {
        fprintf(stderr, "bench_tree: not all calls were hits\n");
        exit(1);
    }
    const double r = median(raw, rounds), e = median(exec, rounds),
                 h = median(hit, rounds);
    printf("%-40s raw %7.2f  exec %7.2f  tree %7.2f us a step; tree - exec %+.3f us a "
           "graph\n",
           p->name, r, e, h, (h - e) / p->graphs);
    gph_tree_destroy(tree);
    for (int i = 0; i < p->graphs; i++)
        gph_callable_destroy(callables[i]);
    gph_pool_release(pool);
}

/* ---- memory ---- */

enum { LAYERS = 24, LARGE = 1 << 20 };

/* A layer with a temporary of twice its output. */
static gph_status run_layer(void *user, gph_call *call, gph_error *why)
{
    CUdeviceptr out = 0, temporary = 0;
    (void)user;
    gph_status status =
        gph_pool_alloc(call->pool, 2 * LARGE, call->stream, &temporary, why);
    if (status == GPH_OK)
        status = gph_pool_alloc(call->pool, LARGE, call->stream, &out, why);
    if (status == GPH_OK)
        status = gph_cuda_check(cu->MemsetD8Async(temporary, 1, 2 * LARGE, call->stream),
                                "cuMemsetD8Async", why);
    if (status == GPH_OK)
        status = gph_cuda_check(
            cu->MemcpyDtoDAsync(out, call->inputs[0].data, LARGE, call->stream),
            "cuMemcpyDtoDAsync", why);
    if (status == GPH_OK)
        status = gph_pool_free(call->pool, temporary, call->stream, why);
    call->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_U8, 1, (const int64_t[]){LARGE});
    return status;
}

/* Every layer keeps its output alive until two later ones have run (a residual). */
static uint64_t eager_peak(CUdeviceptr first)
{
    CUdeviceptr held[LAYERS];
    gph_pool *pool;
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    gph_tensor in = gph_tensor_dense(first, GPH_DTYPE_U8, 1, (const int64_t[]){LARGE});
    must(gph_pool_create(arena, NULL, &pool, &error));
    options.function = run_layer;
    options.pool = pool;
    options.stream = stream;
    options.output_count = 1;
    for (int i = 0; i < LAYERS; i++) {
        const gph_arguments arguments = {.inputs = &in, .input_count = 1};
        gph_tensor out = {0};
        must(gph_function_call(gph, &options, &arguments, stream, &out, &error));
        held[i] = out.data;
        in = out;
        if (i >= 2)
            must(gph_pool_free(pool, held[i - 2], stream, &error));
    }
    gph_pool_stats_get(pool, &stats);
    for (int i = LAYERS - 2; i < LAYERS; i++)
        must(gph_pool_free(pool, held[i], stream, &error));
    CU(StreamSynchronize, stream);
    gph_pool_release(pool);
    return stats.peak_bytes;
}

/* Each layer recorded by itself, in a pool of its own or in one for all. */
static uint64_t callables_peak(CUdeviceptr first, int is_shared)
{
    static const uint8_t mode = GPH_INPUT_STATIC;
    gph_callable *made[LAYERS];
    gph_pool *pools[LAYERS];
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    uint64_t peak = 0;
    gph_tensor in = gph_tensor_dense(first, GPH_DTYPE_U8, 1, (const int64_t[]){LARGE});
    for (int i = 0; i < LAYERS; i++) {
        gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
        if (i == 0 || !is_shared)
            must(gph_pool_create(arena, NULL, &pools[i], &error));
        options.pool = pools[is_shared ? 0 : i];
        options.function = run_layer;
        options.sample.inputs = &in;
        options.sample.input_count = 1;
        options.modes = &mode;
        options.output_count = 1;
        options.stream = stream;
        must(gph_callable_create(gph, &options, &made[i], &error));
        in = gph_callable_output(made[i], 0);
    }
    for (int i = 0; i < (is_shared ? 1 : LAYERS); i++) {
        gph_pool_stats_get(pools[i], &stats);
        peak += stats.peak_bytes;
    }
    for (int i = LAYERS; i-- > 0;)
        gph_callable_destroy(made[i]);
    for (int i = 0; i < (is_shared ? 1 : LAYERS); i++)
        gph_pool_release(pools[i]);
    return peak;
}

static void measure_memory(void)
{
    static const uint8_t is_static = GPH_TREE_INPUT_STATIC;
    CUdeviceptr first;
    gph_tree_function *layer[2];
    gph_tree_function_options one = GPH_TREE_FUNCTION_OPTIONS_INIT;
    gph_tree_options options = GPH_TREE_OPTIONS_INIT;
    gph_pool *pool;
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    gph_tree_stats counts = GPH_SIZED(gph_tree_stats);
    CU(MemAlloc, &first, LARGE);
    const uint64_t eager = eager_peak(first);
    options.stream = stream;
    one.inputs = &is_static;
    one.input_count = one.output_count = 1;
    must(gph_tree_create(gph, arena, &options, &tree, &error));
    for (int i = 0; i < 2; i++)
        must(gph_tree_function_add(tree, run_layer, NULL, &one, &layer[i], &error));
    for (int step = 0; step < 12; step++) { /* other layers every third step */
        gph_tree_output held[LAYERS];
        gph_tree_input in = {
            .tensor = gph_tensor_dense(first, GPH_DTYPE_U8, 1, (const int64_t[]){LARGE})};
        must(gph_tree_step_begin(tree, &error));
        for (int i = 0; i < LAYERS; i++) {
            must(gph_tree_call(tree, layer[(step / 3 >> i / 8) & 1], NULL, &in, &held[i],
                               &error));
            in = (gph_tree_input){.output = held[i]};
            if (i >= 2)
                gph_tree_output_release(tree, held[i - 2]);
        }
    }
    gph_tree_objects(tree, NULL, &pool);
    gph_pool_stats_get(pool, &stats);
    gph_tree_stats_get(tree, &counts);
    printf("%-40s eager peak %.2f MiB, tree of %u recordings %.2f MiB (%.3f x), pages "
           "%.2f MiB\n",
           "24 layers, branches", (double)eager / (1 << 20), counts.nodes,
           (double)stats.peak_bytes / (1 << 20), (double)stats.peak_bytes / (double)eager,
           (double)stats.mapped_bytes / (1 << 20));
    printf("%-40s a pool each %.2f MiB, callables in one pool %.2f MiB\n",
           "the same layers, one path", (double)callables_peak(first, 0) / (1 << 20),
           (double)callables_peak(first, 1) / (1 << 20));
    gph_tree_destroy(tree);
}

static void open_driver(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    CUcontext context;
    CUmodule module;
    must(gph_open(&options, &gph, &error));
    gph_driver_info_get(gph, &info);
    cu = gph_cuda(gph);
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(ModuleLoad, &module, TREE_PTX);
    CU(ModuleGetFunction, &mix_eight, module, "mix_eight");
    CU(StreamCreate, &stream, 1);
    CU(MemAlloc, &x, N * 4);
    CU(MemsetD8, x, 0, N * 4);
    for (int i = 0; i < WEIGHTS; i++) {
        CU(MemAlloc, &weights[i], N * 4);
        CU(MemsetD8, weights[i], 0, N * 4);
    }
    /* `stream` does not wait for the default one */
    must(gph_cuda_check(cu->CtxSynchronize(), "cuCtxSynchronize", &error));
    must(gph_arena_create(gph, NULL, &arena, &error));
    printf("bench_tree: %s, %d rounds\n", info.path, rounds);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *end = NULL;
        if (strcmp(argv[i], "--rounds") != 0 || i + 1 == argc ||
            (rounds = (int)strtol(argv[++i], &end, 10)) < 10 || *end != '\0' ||
            rounds > ROUNDS_MAX) {
            fprintf(stderr, "usage: bench_tree [--rounds 10..%d]\n", ROUNDS_MAX);
            return 2;
        }
    }
    open_driver();
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        measure(&programs[i]);
    measure_memory();
    gph_arena_destroy(arena);
    gph_close(gph);
    return 0;
}
