// SPDX-License-Identifier: Apache-2.0
/* What docs/guide.html shows, done and measured: a step of kernels launched one by one and
 * as a graph, the calls of a capture, three graphs over one pool, a tree that grows a
 * branch, a loop that the device ends. Prints JSON; scripts/guide.py makes the page of it.
 */
#define _POSIX_C_SOURCE 200809L
#include <gph/gph.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 4096, BYTES = N * 4, KERNELS = 8, STEPS = 201, CALLS_MAX = KERNELS + 4 };

static gph_error error;
static gph_runtime *gph;
static const gph_cuda_calls *cu;
static CUstream stream;
static CUfunction scale_add, total_above;
static CUdeviceptr x, y, sum;

static void must(gph_status status)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "guide: %s %s\n", error.message, error.hint);
    exit(1);
}
#define CU(name, ...) must(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error))

/* ---- what the host did, and when ---- */

typedef struct call_seen {
    const char *name;
    double begin, end; /* us from the step's begin */
} call_seen;

typedef struct step_seen {
    call_seen calls[CALLS_MAX];
    int count;
    double started, done; /* done: the host knows that the work has ended, in us */
} step_seen;

static double now_us(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e6 + (double)at.tv_nsec * 1e-3;
}

static void begin_step(step_seen *step)
{
    *step = (step_seen){.started = now_us()};
}

#define SEEN(step, text, what)                                                           \
    do {                                                                                 \
        call_seen *seen_ = &(step)->calls[(step)->count++];                              \
        seen_->name = text;                                                              \
        seen_->begin = now_us() - (step)->started;                                       \
        what;                                                                            \
        seen_->end = now_us() - (step)->started;                                         \
    } while (0)

static void end_step(step_seen *step)
{
    SEEN(step, "cuStreamSynchronize", CU(StreamSynchronize, stream));
    step->done = now_us() - step->started;
}

static int by_length(const void *left, const void *right)
{
    const double a = ((const step_seen *)left)->done,
                 b = ((const step_seen *)right)->done;
    return (a > b) - (a < b);
}

static void print_calls(const step_seen *step)
{
    printf("\"us\": %.2f, \"calls\": [", step->done);
    for (int i = 0; i < step->count; i++)
        printf("%s\n    [\"%s\", %.2f, %.2f]", i ? "," : "", step->calls[i].name,
               step->calls[i].begin, step->calls[i].end);
    printf("]");
}

/* The step of median length. */
static void print_median(const char *name, step_seen *steps, const char *end)
{
    qsort(steps, STEPS, sizeof(*steps), by_length);
    printf("  \"%s\": {", name);
    print_calls(&steps[STEPS / 2]);
    printf("}%s\n", end);
}

/* ---- scenes 1 and 2: eager beside graph, and how the graph came to be ---- */

static void launch(CUdeviceptr out, CUdeviceptr in, float scale)
{
    unsigned n = N;
    void *arguments[] = {&out, &in, &scale, &n};
    CU(LaunchKernel, scale_add, N / 128, 1, 1, 128, 1, 1, 0, stream, arguments, NULL);
}

static void print_steps(void)
{
    static step_seen eager[STEPS], graph[STEPS];
    step_seen made;
    gph_capture *capture;
    CUgraph recorded;
    gph_exec *exec;

    begin_step(&made);
    SEEN(&made, "gph_capture_begin",
         must(gph_capture_begin(gph, stream, NULL, &capture, &error)));
    for (int i = 0; i < KERNELS; i++)
        SEEN(&made, "cuLaunchKernel", launch(i % 2 ? x : y, i % 2 ? y : x, 0.5f));
    SEEN(&made, "gph_capture_end", must(gph_capture_end(capture, &recorded, &error)));
    SEEN(&made, "gph_exec_create",
         must(gph_exec_create(gph, recorded, NULL, &exec, &error)));
    made.done = now_us() - made.started;

    for (int n = 0; n < STEPS; n++) { /* in turns: what disturbs one disturbs both */
        begin_step(&eager[n]);
        for (int i = 0; i < KERNELS; i++)
            SEEN(&eager[n], "cuLaunchKernel", launch(i % 2 ? x : y, i % 2 ? y : x, 0.5f));
        end_step(&eager[n]);
        begin_step(&graph[n]);
        SEEN(&graph[n], "gph_exec_launch", must(gph_exec_launch(exec, stream, &error)));
        end_step(&graph[n]);
    }
    printf("  \"kernels\": %d, \"steps\": %d,\n  \"made\": {", KERNELS, STEPS);
    print_calls(&made);
    printf("},\n");
    print_median("eager", eager, ",");
    print_median("graph", graph, ",");
    gph_exec_destroy(exec);
    CU(GraphDestroy, recorded);
}

/* ---- scene 3: three graphs over one pool ---- */

/* A chain of `count` temporaries, two of which live at a time, and an output. */
static gph_recording *record(gph_pool *pool, const char *name, int count, uint64_t bytes)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    gph_capture *capture;
    gph_recording *out;
    CUdeviceptr last = x, next;
    options.pool = pool;
    options.name = name;
    must(gph_capture_begin(gph, stream, &options, &capture, &error));
    for (int i = 0; i <= count; i++) {
        must(gph_pool_alloc(pool, i == count ? BYTES : bytes, stream, &next, &error));
        launch(next, last, 1);
        if (i > 0)
            must(gph_pool_free(pool, last, stream, &error));
        last = next;
    }
    must(gph_capture_output(capture, last, &error));
    must(gph_capture_finish(capture, &out, &error));
    return out;
}

static void print_ranges(const gph_pool *pool, const gph_recording *recording,
                         CUdeviceptr base)
{
    enum { RANGES_MAX = 32 };
    gph_pool_range ranges[RANGES_MAX];
    uint32_t count = 0;
    must(gph_pool_ranges(pool, gph_recording_pool_id(recording), ranges, RANGES_MAX,
                         &count, &error));
    for (uint32_t i = 0; i < count && i < RANGES_MAX; i++)
        printf("%s\n      [%llu, %llu, %d, %u, %u]", i ? "," : "",
               (unsigned long long)(ranges[i].address - base),
               (unsigned long long)ranges[i].bytes, (int)ranges[i].kind, ranges[i].first,
               ranges[i].last == UINT32_MAX ? 0 : ranges[i].last);
}

static void print_pool(gph_arena *arena)
{
    static const struct {
        const char *name;
        int count;
        uint64_t bytes;
    } graphs[] = {{"batch 1", 4, 65536}, {"batch 2", 4, 131072}, {"batch 4", 4, 262144}};
    gph_recording *made[3];
    gph_pool *pool;
    CUdeviceptr base;
    gph_arena_range(arena, &base, NULL);
    must(gph_pool_create(arena, NULL, &pool, &error));
    printf("  \"pool\": [");
    for (int i = 0; i < 3; i++) {
        made[i] = record(pool, graphs[i].name, graphs[i].count, graphs[i].bytes);
        printf("%s\n    {\"name\": \"%s\", \"ranges\": [", i ? "," : "", graphs[i].name);
        print_ranges(pool, made[i], base);
        printf("]}");
    }
    printf("],\n");
    for (int i = 0; i < 3; i++)
        gph_recording_destroy(made[i]);
    gph_pool_release(pool);
}

/* ---- scene 4: a tree that grows a branch ---- */

static gph_status part(void *user, gph_call *call, gph_error *why)
{
    const int64_t shape[] = {N};
    CUdeviceptr in = call->inputs[0].data, out = 0;
    float scale = 1;
    unsigned n = N;
    void *arguments[] = {&out, &in, &scale, &n};
    (void)user;
    gph_status status = gph_pool_alloc(call->pool, BYTES, call->stream, &out, why);
    if (status != GPH_OK)
        return status;
    status = gph_cuda_check(cu->LaunchKernel(scale_add, N / 128, 1, 1, 128, 1, 1, 0,
                                             call->stream, arguments, NULL),
                            "cuLaunchKernel", why);
    if (status != GPH_OK)
        (void)gph_pool_free(call->pool, out, call->stream, NULL);
    else
        call->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_F32, 1, shape);
    return status;
}

/* One path: embed, one of two branches, head. */
static void run_path(gph_tree *tree, gph_tree_function *const *functions,
                     const int *parts)
{
    static const char *const words[] = {"", "replayed", "recorded", "warm-up", "eager"};
    const int64_t shape[] = {N};
    gph_tree_input input = {.tensor = gph_tensor_dense(x, GPH_DTYPE_F32, 1, shape)};
    gph_tree_output out = {0};
    printf("{\"calls\": [");
    for (int i = 0; i < 3; i++) {
        gph_tree_event event = GPH_SIZED(gph_tree_event);
        must(gph_tree_call(tree, functions[parts[i]], NULL, &input, &out, &error));
        gph_tree_event_get(tree, &event);
        printf("%s[\"%s\", \"%s\", %u]", i ? ", " : "", event.function,
               words[event.action], event.node);
        input = (gph_tree_input){.output = out, .take = 1};
    }
    gph_tree_output_release(tree, out);
    CU(StreamSynchronize, stream);
    printf("], \"tree\": \"");
    must(gph_tree_write(tree, GPH_TREE_SHORT, gph_write_file, stdout, &error));
    printf("\"}");
}

static void print_tree(gph_arena *arena)
{
    static const char *const names[] = {"embed", "dense", "sparse", "head"};
    static const int paths[][3] = {{0, 1, 3}, {0, 1, 3}, {0, 1, 3}, {0, 2, 3},
                                   {0, 2, 3}, {0, 2, 3}, {0, 1, 3}};
    gph_tree_options options = GPH_TREE_OPTIONS_INIT;
    gph_tree_function *functions[4];
    gph_tree *tree;
    options.stream = stream;
    must(gph_tree_create(gph, arena, &options, &tree, &error));
    for (int i = 0; i < 4; i++) {
        gph_tree_function_options one = GPH_TREE_FUNCTION_OPTIONS_INIT;
        one.name = names[i];
        one.input_count = one.output_count = 1;
        must(gph_tree_function_add(tree, part, NULL, &one, &functions[i], &error));
    }
    printf("  \"tree\": [");
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        printf("%s\n    ", i ? "," : "");
        run_path(tree, functions, paths[i]);
    }
    printf("],\n");
    gph_tree_destroy(tree);
}

/* ---- scene 5: a loop on the device ---- */

/* x = x / 2 + y, its sum, and whether that is above 1. */
static CUgraph record_round(void)
{
    gph_capture *capture;
    CUgraph round;
    CUdeviceptr more = sum + 4;
    float limit = 1;
    unsigned n = N;
    void *arguments[] = {&sum, &more, &x, &limit, &n};
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    launch(x, y, 0.5f);
    CU(LaunchKernel, total_above, 1, 1, 1, 128, 1, 1, 0, stream, arguments, NULL);
    must(gph_capture_end(capture, &round, &error));
    return round;
}

/* The loop with a ceiling: after so many rounds it ends at the latest. */
static uint64_t run_loop(CUgraph round, uint64_t ceiling, float *after, double *us)
{
    gph_loop_options how = GPH_LOOP_OPTIONS_INIT;
    gph_loop_result result = GPH_SIZED(gph_loop_result);
    gph_loop *loop;
    how.condition = sum + 4;
    how.ceiling = ceiling;
    how.name = "halving";
    CU(MemsetD32Async, x, 0x3f800000, N, stream); /* N ones */
    CU(MemsetD32Async, y, 0, N, stream);
    CU(MemsetD32Async, sum + 4, 1, 1, stream);
    CU(StreamSynchronize, stream);
    must(gph_loop_create(gph, round, &how, &loop, &error));
    const double began = now_us();
    must(gph_loop_launch(loop, stream, &error));
    const gph_status status = gph_loop_wait(loop, stream, &result, &error);
    *us = now_us() - began;
    if (status != GPH_OK && result.end != GPH_LOOP_CEILING)
        must(status);
    CU(MemcpyDtoH, after, sum, 4);
    gph_loop_destroy(loop);
    return result.steps;
}

static void print_loop(void)
{
    CUgraph round = record_round();
    float after = 0;
    double us = 0;
    const uint64_t steps = run_loop(round, 100, &after, &us);
    printf("  \"loop\": {\"rounds\": %llu, \"us\": %.2f, \"sums\": [",
           (unsigned long long)steps, us);
    for (uint64_t i = 1; i <= steps; i++) {
        (void)run_loop(round, i, &after, &us);
        printf("%s%g", i > 1 ? ", " : "", (double)after);
    }
    printf("]}\n");
    CU(GraphDestroy, round);
}

/* ---- the program ---- */

static void open_driver(void)
{
    gph_options options = GPH_OPTIONS_INIT; /* a GPU where there is one, else softcuda */
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    CUcontext context;
    CUmodule module;
    char name[96] = "";
    must(gph_open(&options, &gph, &error));
    cu = gph_cuda(gph);
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(DeviceGetName, name, (int)sizeof(name), 0);
    CU(ModuleLoad, &module, HELLO_PTX);
    CU(ModuleGetFunction, &scale_add, module, "scale_add");
    CU(ModuleGetFunction, &total_above, module, "total_above");
    CU(StreamCreate, &stream, 1); /* non-blocking */
    CU(MemAlloc, &x, BYTES);
    CU(MemAlloc, &y, BYTES);
    CU(MemAlloc, &sum, 8);
    CU(MemsetD8Async, x, 0, BYTES, stream);
    CU(MemsetD8Async, y, 0, BYTES, stream);
    launch(x, y, 1); /* the kernel is loaded before anything is timed */
    CU(StreamSynchronize, stream);
    printf("{\n  \"device\": \"%s\",\n", name);
}

int main(void)
{
    gph_arena *arena;
    open_driver();
    must(gph_arena_create(gph, NULL, &arena, &error));
    print_steps();
    print_pool(arena);
    print_tree(arena);
    print_loop();
    printf("}\n");
    gph_arena_destroy(arena);
    gph_close(gph);
    return 0;
}
