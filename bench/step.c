// SPDX-License-Identifier: Apache-2.0
/* bench/step: one decode step of examples/decode, with its shipped model, on softcuda:
 *
 *   eager   30 calls of cuLaunchKernel a step, STEPS steps queued, then a synchronize
 *   graph   the step captured once, STEPS launches by libgph, then a synchronize
 *   plain   the same compiled kernels in a plain C loop (step_plain.h)
 *
 * with as many threads each, in turn, medians. Every run starts from the same state and
 * all three must leave the same logits, byte for byte.
 *
 *   bench_step [SAMPLES [eager | graph | plain]]     (default 15; one way: to profile it)
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/decode/decoder.h"
#include "heap.h"
#include "sample.h"
#include "step_plain.h"

enum {
    SAMPLES_MAX = 101,
    STEPS = 16, /* in flight, as many as decode allows */
    RUNS = 3,   /* a sample, after one that is not measured */
    TIMED = 4,  /* launching is timed in the first steps: a stream takes 256 launches, and
                   then the host waits for it and helps the workers */
    CONTEXT = 32,
    FIRST = 8, /* the position at which each run starts */
    PTX_BYTES_MAX = 1 << 20
};

typedef enum way { EAGER, GRAPH, PLAIN, WAYS } way;
static const char *const way_names[WAYS] = {"eager", "graph", "plain"};

/* One size of batch. */
typedef struct bench {
    device *d;
    decoder m;
    gph_exec *exec;
    plain_step *plain;
    float *expected; /* logits of all steps of the first run */
    size_t log_bytes;
    double step_us[WAYS][SAMPLES_MAX];
    double launch_us[WAYS][SAMPLES_MAX]; /* the host's CPU time in a launch */
    double wall_us[WAYS][SAMPLES_MAX];   /* with what other threads took its CPU */
} bench;

static gph_error error;

static void must(gph_status status, const char *what)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "bench_step: %s: %s %s\n", what, error.message, error.hint);
    exit(1);
}

/* ---- the plain loop learns the step from the calls that decode makes ----------------
 */

static bench *recorded;

static gph_status record_launch(CUfunction function, unsigned grid_x, unsigned grid_y,
                                unsigned grid_z, unsigned block_x, unsigned block_y,
                                unsigned block_z, unsigned shared_bytes, CUstream stream,
                                void **arguments, void **extra)
{
    static const char *const names[] = {
#define X(name) #name,
        DECODE_KERNELS(X)
#undef X
    };
    (void)stream;
    (void)extra;
    if (grid_z != 1 || block_z != 1)
        return 801; /* CUDA_ERROR_NOT_SUPPORTED */
    for (int i = 0; i < KERNEL_COUNT; i++)
        if (recorded->d->kernel[i] == function)
            plain_step_add(recorded->plain, names[i], (uint32_t[]){grid_x, grid_y},
                           (uint32_t[]){block_x, block_y}, shared_bytes, arguments);
    return GPH_OK;
}

static void learn_step(bench *b)
{
    const gph_cuda_calls *calls = b->d->cu;
    gph_cuda_calls recording = *calls;
    recording.LaunchKernel = record_launch;
    recorded = b;
    b->d->cu = &recording;
    plain_step_clear(b->plain);
    must(decoder_step(&b->m, &error), "learning the step");
    b->d->cu = calls;
}

static void capture_step(bench *b)
{
    gph_capture *capture;
    CUgraph graph;
    must(gph_capture_begin(b->d->runtime, b->d->stream, NULL, &capture, &error),
         "gph_capture_begin");
    must(decoder_step(&b->m, &error), "decoder_step");
    must(gph_capture_end(capture, &graph, &error), "gph_capture_end");
    must(gph_exec_create(b->d->runtime, graph, NULL, &b->exec, &error),
         "gph_exec_create");
    must(gph_cuda_check(b->d->cu->GraphDestroy(graph), "cuGraphDestroy", &error),
         "cuGraphDestroy");
}

/* ---- measuring ----------------------------------------------------------------------
 */

/* Softcuda's device memory is host memory: written directly, nothing is launched. */
static void start_again(bench *b)
{
    const state_t *state = &b->m.state;
    for (uint32_t s = 0; s < b->m.o.slots; s++) {
        state->token[s] = (int)(s % 10);
        state->position[s] = FIRST;
        state->limit[s] = CONTEXT;
        state->sequence[s] = (int)s;
    }
    *state->step = 0;
    memset((void *)(uintptr_t)b->m.log, 0, b->log_bytes);
}

/* The time that this thread has run: the workers are as many as the CPUs, so the host
 * shares one of them while they work. */
static uint64_t thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What launching the first steps took the host: of its CPU time, and by the wall clock.
 */
typedef struct host_time {
    uint64_t cpu_ns, wall_ns;
} host_time;

/* All steps once, in nanoseconds. */
static uint64_t run(bench *b, way how, host_time *host)
{
    *host = (host_time){0};
    start_again(b);
    if (how == PLAIN) {
        return plain_step_run(b->plain, STEPS);
    }
    const uint64_t from = device_clock_ns(), cpu_from = thread_ns();
    for (int i = 0; i < STEPS; i++) {
        if (how == GRAPH)
            must(gph_exec_launch(b->exec, b->d->stream, &error), "gph_exec_launch");
        else
            must(decoder_step(&b->m, &error), "decoder_step");
        if (i != TIMED - 1)
            continue;
        host->cpu_ns = thread_ns() - cpu_from;
        host->wall_ns = device_clock_ns() - from;
    }
    must(gph_cuda_check(b->d->cu->StreamSynchronize(b->d->stream), "cuStreamSynchronize",
                        &error),
         "cuStreamSynchronize");
    return device_clock_ns() - from;
}

static void compare(const bench *b, way how)
{
    if (memcmp(b->expected, (void *)(uintptr_t)b->m.log, b->log_bytes) == 0)
        return;
    fprintf(stderr, "bench_step: batch %u, %s: other logits than the first run's\n",
            b->m.o.slots, way_names[how]);
    exit(1);
}

static void sample(bench *b, way how, int index)
{
    host_time host;
    uint64_t all = 0, cpu = 0, wall = 0;
    (void)run(b, how, &host);
    for (int r = 0; r < RUNS; r++) {
        all += run(b, how, &host);
        cpu += host.cpu_ns;
        wall += host.wall_ns;
    }
    compare(b, how);
    const double launches =
        how == GRAPH ? TIMED * RUNS : TIMED * RUNS * plain_step_count(b->plain);
    b->step_us[how][index] = (double)all / 1e3 / (STEPS * RUNS);
    b->launch_us[how][index] = (double)cpu / 1e3 / launches;
    b->wall_us[how][index] = (double)wall / 1e3 / launches;
}

static void print(bench *b, int samples)
{
    double step[WAYS], launch[WAYS];
    for (int w = 0; w < WAYS; w++) {
        step[w] = median(b->step_us[w], samples);
        launch[w] = median(b->launch_us[w], samples);
    }
    const double loss = step[GRAPH] / step[PLAIN];
    printf("batch %u, us a step   eager %.1f   graph %.1f   plain %.1f\n", b->m.o.slots,
           step[EAGER], step[GRAPH], step[PLAIN]);
    printf("  eager launch, us      %6.2f   <= 3 %s   (wall clock %.2f)\n", launch[EAGER],
           launch[EAGER] <= 3 ? "" : "MISSED", median(b->wall_us[EAGER], samples));
    printf("  graph launch, us      %6.2f            (wall clock %.2f)\n", launch[GRAPH],
           median(b->wall_us[GRAPH], samples));
    printf("  graph / plain         %6.2f   <= 1.15 %s\n", loss,
           loss <= 1.15 ? "" : "MISSED");
    printf("  graph / eager         %6.2f\n", step[GRAPH] / step[EAGER]);
}

static void measure(device *d, const weights *w, plain_step *plain, uint32_t slots,
                    int samples, int only)
{
    static bench b;
    const decoder_options options = {
        .slots = slots, .context = CONTEXT, .queue = STEPS, .keep_logits = true};
    b = (bench){.d = d, .plain = plain};
    must(decoder_init(&b.m, d, w, &options, &error), "decoder_init");
    must(decoder_reset(&b.m, &error), "decoder_reset");
    b.m.c.end = -1; /* no token ends a sequence: every run is as long */
    b.log_bytes = (size_t)STEPS * slots * b.m.c.vocab * sizeof(float);
    learn_step(&b);
    capture_step(&b);
    host_time host;
    (void)run(&b, EAGER, &host);
    b.expected = malloc(b.log_bytes);
    if (b.expected == NULL || b.m.log_steps < STEPS)
        must(GPH_E_NO_MEMORY, "logits");
    memcpy(b.expected, (void *)(uintptr_t)b.m.log, b.log_bytes);
    for (int s = 0; s < samples; s++)
        for (int how = 0; how < WAYS; how++)
            if (only < 0 || only == how)
                sample(&b, (way)how, s);
    if (only < 0)
        print(&b, samples);
    else
        printf("batch %u, %s: %.1f us a step\n", slots, way_names[only],
               median(b.step_us[only], samples));
    free(b.expected);
    gph_exec_destroy(b.exec);
    decoder_fini(&b.m);
}

/* As many workers as CPUs, here and in the driver; SOFTCUDA_WORKERS asks for others. */
static uint32_t team_size(void)
{
    const char *asked = getenv("SOFTCUDA_WORKERS");
    cpu_set_t set;
    uint32_t count = asked != NULL ? (uint32_t)atoi(asked) : 0;
    if (count == 0 && sched_getaffinity(0, sizeof(set), &set) == 0)
        count = (uint32_t)CPU_COUNT(&set);
    return count != 0 ? count : 1;
}

int main(int argc, char **argv)
{
    const int samples = argc > 1 ? atoi(argv[1]) : 15;
    int only = argc > 2 ? WAYS : -1;
    for (int w = 0; argc > 2 && w < WAYS; w++)
        only = strcmp(argv[2], way_names[w]) == 0 ? w : only;
    if (samples < 1 || samples > SAMPLES_MAX || only == WAYS) {
        fprintf(stderr,
                "usage: bench_step [SAMPLES [eager | graph | plain]], "
                "1 to %d samples\n",
                SAMPLES_MAX);
        return 2;
    }
    setenv("SOFTCUDA_JIT", BENCH_JIT, 0);
    weights w;
    device d;
    char *ptx = NULL;
    size_t bytes = 0;
    must(weights_load(&heap, BENCH_MODEL, &w, &error), BENCH_MODEL);
    const device_options options = {.driver = GPH_DRIVER_SOFT, .kernels = BENCH_KERNELS};
    must(device_open(&heap, &options, &d, &error), "device_open");
    must(file_read(&heap, d.ptx_path, PTX_BYTES_MAX - 1, &ptx, &bytes, &error),
         d.ptx_path);
    const uint32_t threads = team_size();
    plain_step *plain = plain_step_create(ptx, threads);
    printf("%u threads, microseconds, medians of %d; plain: the same kernels in a C "
           "loop\n\n",
           threads, samples);
    measure(&d, &w, plain, 1, samples, only);
    measure(&d, &w, plain, 32, samples, only);
    plain_step_destroy(plain);
    heap.realloc(heap.user, ptx, bytes, 0);
    device_close(&d);
    weights_fini(&w);
    return 0;
}
