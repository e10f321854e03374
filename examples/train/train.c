// SPDX-License-Identifier: Apache-2.0
/* Trains a small network three times from the same start: eagerly, with the whole step
 * (forward, backward, optimizer) as one graph, and with a graph for each of the three.
 * Weights and losses must come out equal, bit by bit.
 *
 *   train [--steps N] [--zero inside|outside] [--seed N] [--time] [--trace FILE]
 *
 * Gradients add up in a buffer that must be cleared: by a node at the head of the graph
 * (inside), or by the loop (outside). An overflow of the f16 gradients skips the step;
 * only the device looks at it, so that nothing waits. */
#define _GNU_SOURCE
#include "network.h"

#include "examples/trace.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS_MAX = 100000, NON_BLOCKING = 1 };

static gph_error error;
static gph_runtime *gph;
static const gph_cuda_calls *cu;

static void must(gph_status status)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "train: %s %s\n", error.message, error.hint);
    exit(1);
}
#define CU(name, ...) must(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error))

/* ---- what all three loops share ---- */

static struct settings {
    int steps;
    bool is_inside, is_timed;
    uint64_t seed;
    const char *trace; /* a file, or NULL */
} settings = {.steps = 200, .is_inside = true, .seed = 1};

static network net;
static gph_arena *arena;
static gph_pool *pool;
static gph_rng *rng;
static CUstream stream;
static CUdeviceptr data, labels, losses;
static gph_tensor weights, velocities, gradients;
static float *start; /* weights before the first step */

/* What a loop leaves. */
typedef struct outcome {
    float *losses, *weights;
    int skipped;
    float scale;
    unsigned calls; /* of the driver a step */
    double us;      /* of the host a step, and until the device is done */
} outcome;

/* Numbers in [-1, 1) that are the same everywhere. */
static float draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(*state >> 32) / 2147483648.0f;
}

/* Four classes, each around a point of its own. */
static void make_data(void)
{
    static float host[BATCHES * ROWS * INS], centers[CLASSES][INS];
    static int32_t host_labels[BATCHES * ROWS];
    uint64_t state = settings.seed;
    for (int i = 0; i < CLASSES * INS; i++)
        centers[i / INS][i % INS] = draw(&state);
    for (int row = 0; row < BATCHES * ROWS; row++) {
        host_labels[row] = (int)(draw(&state) * 1000 + 1000) % CLASSES;
        for (int i = 0; i < INS; i++)
            host[row * INS + i] = centers[host_labels[row]][i] + 2 * draw(&state);
    }
    CU(MemAlloc, &data, sizeof(host));
    CU(MemAlloc, &labels, sizeof(host_labels));
    CU(MemcpyHtoD, data, host, sizeof(host));
    CU(MemcpyHtoD, labels, host_labels, sizeof(host_labels));

    start = malloc((size_t)weight_count * sizeof(float));
    if (start == NULL)
        exit(1);
    for (int64_t i = 0; i < weight_count; i++)
        start[i] = draw(&state) * (i < (INS + 1) * HIDDEN ? 0.25f : 0.125f);
}

static gph_tensor new_weights(void)
{
    CUdeviceptr at = 0;
    CU(MemAlloc, &at, (size_t)weight_count * sizeof(float));
    return tensor_of(at, GPH_DTYPE_F32, 1, weight_count);
}

static void reset(void)
{
    const size_t count = (size_t)weight_count;
    CU(MemcpyHtoDAsync, weights.data, start, count * sizeof(float), stream);
    CU(MemsetD32Async, velocities.data, 0, count, stream);
    CU(MemsetD32Async, gradients.data, 0, count, stream);
    must(network_reset(&net, stream, &error));
    gph_rng_state_set(rng, (gph_rng_state){.seed = settings.seed});
    CU(StreamSynchronize, stream);
}

/* x and labels of a step; the caller has 2 of them. */
static void set_batch(gph_tensor *inputs, int at)
{
    const CUdeviceptr batch = (CUdeviceptr)(at % BATCHES);
    inputs[0] = tensor_of(data + batch * ROWS * INS * 4, GPH_DTYPE_F32, ROWS, INS);
    inputs[1] =
        gph_tensor_dense(labels + batch * ROWS * 4, GPH_DTYPE_I32, 1, (int64_t[]){ROWS});
}

/* What the loop clears; inside, the graph does. */
static void clear_outside(void)
{
    if (!settings.is_inside)
        CU(MemsetD32Async, gradients.data, 0, (size_t)weight_count, stream);
}

static gph_callable_options options_of(gph_function_fn *function,
                                       const gph_tensor *inputs, uint32_t count,
                                       const uint8_t *modes)
{
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    options.function = function;
    options.user = &net;
    options.sample = (gph_arguments){.inputs = inputs, .input_count = count};
    options.modes = modes;
    options.pool = pool;
    options.stream = stream;
    return options;
}

/* Inputs of a whole step; the weights stay where they are. */
static const uint8_t step_modes[] = {GPH_INPUT_COPY, GPH_INPUT_COPY, GPH_INPUT_STATIC,
                                     GPH_INPUT_STATIC, GPH_INPUT_STATIC};

static gph_callable_options step_options(const gph_tensor *inputs)
{
    gph_callable_options options = options_of(step, inputs, 5, step_modes);
    options.output_count = 1;
    options.rng = rng;
    options.name = "step";
    if (settings.is_inside) {
        options.clear = &gradients;
        options.clear_count = 1;
    }
    return options;
}

/* ---- the three loops ---- */

static void run_eager(void)
{
    gph_tensor inputs[5] = {[2] = weights, velocities, gradients}, loss;
    const gph_callable_options options = step_options(inputs);
    for (int i = 0; i < settings.steps; i++) {
        set_batch(inputs, i);
        clear_outside();
        must(gph_function_call(gph, &options, NULL, stream, &loss, &error));
        CU(MemcpyDtoDAsync, losses + 4 * (CUdeviceptr)i, loss.data, 4, stream);
        must(gph_pool_free(pool, loss.data, stream, &error));
    }
}

/* --trace: what the step allocates, and when. */
static void save_trace(const gph_callable *callable)
{
    gph_pool_range ranges[256];
    gph_plan_buffer buffers[256];
    uint32_t count = 0, kept = 0, last = 0;
    must(gph_pool_ranges(pool, gph_callable_recording(callable), ranges, 256, &count,
                         &error));
    for (uint32_t i = 0; i < count && i < 256; i++)
        if (ranges[i].last != UINT32_MAX && ranges[i].last > last)
            last = ranges[i].last;
    for (uint32_t i = 0; i < count && i < 256; i++)
        if (ranges[i].kind != GPH_RANGE_INPUT)
            buffers[kept++] = (gph_plan_buffer){
                .lower = ranges[i].first,
                .upper = ranges[i].last == UINT32_MAX ? last + 1 : ranges[i].last,
                .size = ranges[i].bytes};
    if (count > 256 || !trace_save(settings.trace, buffers, kept)) {
        fprintf(stderr, "train: %s was not written\n", settings.trace);
        exit(1);
    }
}

static void run_captured(void)
{
    gph_tensor inputs[5] = {[2] = weights, velocities, gradients}, loss;
    gph_output copied = {.policy = GPH_OUTPUT_COPIED};
    gph_callable *callable = NULL;
    set_batch(inputs, 0);
    gph_callable_options options = step_options(inputs);
    options.outputs = &copied;
    must(gph_callable_create(gph, &options, &callable, &error));
    for (int i = 0; i < settings.steps; i++) {
        set_batch(inputs, i);
        clear_outside();
        loss.data = losses + 4 * (CUdeviceptr)i;
        must(gph_callable_call(callable, &options.sample, stream, &loss, &error));
    }
    CU(StreamSynchronize, stream);
    if (settings.trace != NULL)
        save_trace(callable);
    gph_callable_destroy(callable);
}

/* Forward and backward are recorded as a pair, in the order of their calls; what forward
 * saves stays in the pool for backward. */
static void make_parts(gph_callable **parts, gph_callable **optimizer,
                       const gph_tensor *inputs, const gph_output *outputs)
{
    static const uint8_t managed[] = {GPH_INPUT_MANAGED, GPH_INPUT_MANAGED,
                                      GPH_INPUT_MANAGED, GPH_INPUT_MANAGED,
                                      GPH_INPUT_MANAGED, GPH_INPUT_STATIC};
    static const gph_source sources[] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 0}};
    gph_tensor saved[SAVED + 1] = {[SAVED] = gradients};
    gph_callable_options fore = options_of(forward, inputs, 3, step_modes);
    fore.output_count = FORWARD_OUTPUTS;
    fore.outputs = outputs;
    fore.rng = rng;
    fore.name = "forward";
    gph_callable_options back = options_of(backward, saved, SAVED + 1, managed);
    back.sources = sources;
    back.name = "backward";
    if (settings.is_inside) {
        back.clear = &gradients;
        back.clear_count = 1;
    }
    must(gph_callables_create(gph, &fore, &back, 1, parts, &error));
    gph_callable_options last = options_of(optimize, inputs + 2, 3, step_modes + 2);
    last.name = "optimizer";
    must(gph_callable_create(gph, &last, optimizer, &error));
}

static void run_parts(void)
{
    gph_tensor inputs[5] = {[2] = weights, velocities, gradients};
    gph_tensor out[FORWARD_OUTPUTS];
    const gph_output outputs[FORWARD_OUTPUTS] = {{.policy = GPH_OUTPUT_COPIED}};
    gph_callable *parts[2], *optimizer = NULL;
    set_batch(inputs, 0);
    make_parts(parts, &optimizer, inputs, outputs);
    const gph_arguments arguments = {.inputs = inputs, .input_count = 3};
    for (int i = 0; i < settings.steps; i++) {
        set_batch(inputs, i);
        clear_outside();
        out[0].data = losses + 4 * (CUdeviceptr)i;
        must(gph_callable_call(parts[0], &arguments, stream, out, &error));
        must(gph_callable_call(parts[1], NULL, stream, NULL, &error));
        must(gph_callable_call(optimizer, NULL, stream, NULL, &error));
    }
    CU(StreamSynchronize, stream);
    gph_callable_destroy(optimizer);
    gph_callable_destroy(parts[1]);
    gph_callable_destroy(parts[0]);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Runs a loop from the start and reads what it left. */
static outcome train(void (*loop)(void))
{
    outcome out = {.losses = calloc((size_t)settings.steps, sizeof(float)),
                   .weights = calloc((size_t)weight_count, sizeof(float))};
    int32_t counts[2] = {0};
    if (out.losses == NULL || out.weights == NULL)
        exit(1);
    reset();
    const unsigned calls = net.calls;
    const double begin = now_us();
    loop();
    CU(StreamSynchronize, stream);
    out.us = (now_us() - begin) / settings.steps;
    out.calls = (net.calls - calls) / (unsigned)settings.steps;
    CU(MemcpyDtoH, out.losses, losses, (size_t)settings.steps * sizeof(float));
    CU(MemcpyDtoH, out.weights, weights.data, (size_t)weight_count * sizeof(float));
    CU(MemcpyDtoH, counts, net.counts, sizeof(counts));
    CU(MemcpyDtoH, &out.scale, net.scale, sizeof(float));
    out.skipped = counts[1];
    return out;
}

/* ---- what is printed ---- */

static bool compare(const char *what, const outcome *got, const outcome *eager)
{
    int different = 0;
    for (int i = 0; i < settings.steps; i++)
        different += memcmp(&got->losses[i], &eager->losses[i], sizeof(float)) != 0;
    const bool is_equal =
        memcmp(got->weights, eager->weights, (size_t)weight_count * sizeof(float)) == 0;
    printf("%-34s %d of %d losses differ from eager; weights %s", what, different,
           settings.steps, is_equal ? "equal" : "DIFFER");
    if (settings.is_timed)
        printf("; %.1f us a step, eager %.1f", got->us, eager->us);
    printf("\n");
    return different == 0 && is_equal && got->skipped == eager->skipped;
}

static void usage(void)
{
    fprintf(stderr,
            "usage: train [--steps N] [--zero inside|outside] [--seed N] [--time] "
            "[--trace FILE]\n");
    exit(2);
}

static void read_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--time") == 0) {
            settings.is_timed = true;
            continue;
        }
        char *end = NULL;
        const long number = strtol(value, &end, 10);
        const bool is_number = *value != '\0' && *end == '\0';
        if (strcmp(argv[i], "--steps") == 0 && is_number && number > 0 &&
            number <= STEPS_MAX)
            settings.steps = (int)number;
        else if (strcmp(argv[i], "--trace") == 0 && *value != '\0')
            settings.trace = value;
        else if (strcmp(argv[i], "--seed") == 0 && is_number)
            settings.seed = (uint64_t)number;
        else if (strcmp(argv[i], "--zero") == 0 && strcmp(value, "inside") == 0)
            settings.is_inside = true;
        else if (strcmp(argv[i], "--zero") == 0 && strcmp(value, "outside") == 0)
            settings.is_inside = false;
        else
            usage();
        i++;
    }
}

static void open_all(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    CUcontext context = NULL;
    const char *asked = getenv("GPH_DRIVER");
    options.driver = asked == NULL ? GPH_DRIVER_AUTO : GPH_DRIVER_DEFAULT;
    must(gph_open(&options, &gph, &error));
    gph_driver_info_get(gph, &info);
    fprintf(stderr, "driver: %s\n", info.path);
    cu = gph_cuda(gph);
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(StreamCreate, &stream, NON_BLOCKING);
    must(gph_arena_create(gph, NULL, &arena, &error));
    must(gph_pool_create(arena, NULL, &pool, &error));
    must(gph_rng_create(gph, settings.seed, &rng, &error));
    must(network_open(&net, gph, TRAIN_PTX, &error));
    make_data();
    weights = new_weights();
    velocities = new_weights();
    gradients = new_weights();
    CU(MemAlloc, &losses, (size_t)settings.steps * sizeof(float));
}

static void close_all(void)
{
    CU(MemFree, weights.data);
    CU(MemFree, velocities.data);
    CU(MemFree, gradients.data);
    CU(MemFree, losses);
    CU(MemFree, data);
    CU(MemFree, labels);
    network_close(&net);
    gph_rng_destroy(rng);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    CU(StreamDestroy, stream);
    (void)cu->DevicePrimaryCtxRelease(0);
    gph_close(gph);
    free(start);
}

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    open_all();
    printf("%d layers, %lld weights, batches of %d, f16 with f32 master weights; "
           "gradients cleared %s\n",
           LAYERS, (long long)weight_count, ROWS,
           settings.is_inside ? "inside" : "outside");

    const outcome eager = train(run_eager);
    const outcome captured = train(run_captured);
    const outcome parts = train(run_parts);
    for (int i = 0; i<settings.steps; i += settings.steps> 8 ? settings.steps / 8 : 1)
        printf("step %5d  loss %.4f\n", i, (double)eager.losses[i]);
    printf("step %5d  loss %.4f  scale %g, %d steps skipped\n", settings.steps - 1,
           (double)eager.losses[settings.steps - 1], (double)eager.scale, eager.skipped);
    bool is_right = compare("the step as one graph:", &captured, &eager);
    is_right &= compare("forward, backward, optimizer:", &parts, &eager);
    const int outside = settings.is_inside ? 0 : 1;
    printf("launches a step: eager %u kernels%s; one graph %d, and 1 copy in, 1 out\n",
           eager.calls, settings.is_inside ? " and a memset" : "", 1 + outside);

    const outcome all[] = {eager, captured, parts};
    for (int i = 0; i < 3; i++) {
        free(all[i].losses);
        free(all[i].weights);
    }
    close_all();
    return is_right ? 0 : 1;
}
