// SPDX-License-Identifier: Apache-2.0
/* bench/capture: what gph_capture adds to the driver's capture. The same memsets are
 * captured by the driver's own calls and by libgph, plain, with forks that the end joins,
 * with regions and with breaks; rounds in turn, medians, ratios to the driver's own.
 *
 *   bench_capture [ROUNDS]          GPH_DRIVER says which driver */
#define _GNU_SOURCE
#include <gph/gph.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

enum { FORKS = 8, ROUNDS_MAX = 1000 };

typedef enum way { DRIVER, PLAIN, FORGOTTEN, REGIONS, BREAKS, WAYS } way;

static const char *const way_names[WAYS] = {
    "the driver's own", "gph_capture", "8 forgotten forks", "100 regions", "8 breaks"};

static gph_runtime *runtime;
static const gph_cuda_calls *cu;
static CUstream stream, sides[FORKS];
static CUdeviceptr words;
static gph_status (*begin_capture)(CUstream, int);
static gph_status (*end_capture)(CUstream, CUgraph *);
static gph_error error;

static void must(gph_status status, const char *what)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "bench_capture: %s: %s %s\n", what, gph_status_name(status),
            error.message);
    exit(1);
}

static void fill(CUstream where)
{
    must(cu->MemsetD32Async(words, 0, 1, where), "cuMemsetD32Async");
}

static gph_status nothing(void *user, const gph_break *call, gph_error *failure)
{
    (void)user;
    (void)call;
    (void)failure;
    return GPH_OK;
}

/* Before node i of `nodes`. */
static void step(gph_capture *capture, way how, int i, int nodes)
{
    if (how == REGIONS && i % (nodes / 100) == 0) {
        char name[32];
        snprintf(name, sizeof(name), "layer.%d", i / (nodes / 100));
        if (i > 0)
            must(gph_region_pop(capture, &error), "pop");
        must(gph_region_push(capture, name, &error), "push");
    }
    if (how == BREAKS && i > 0 && i % (nodes / (FORKS + 1)) == 0)
        must(gph_capture_break(capture, nothing, NULL, &error), "break");
}

static uint64_t time_driver(int nodes)
{
    CUgraph graph = NULL;
    const uint64_t start = gphi_clock_ns();
    must(begin_capture(stream, GPH_CAPTURE_THREAD - 1), "cuStreamBeginCapture");
    for (int i = 0; i < nodes; i++)
        fill(stream);
    must(end_capture(stream, &graph), "cuStreamEndCapture");
    const uint64_t took = gphi_clock_ns() - start;
    must(cu->GraphDestroy(graph), "cuGraphDestroy");
    return took;
}

static uint64_t time_capture(way how, int nodes)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    gph_capture *capture = NULL;
    gph_recording *recording = NULL;
    options.join = how == FORGOTTEN ? GPH_JOIN_AUTO : GPH_JOIN_ERROR;
    const uint64_t start = gphi_clock_ns();
    must(gph_capture_begin(runtime, stream, &options, &capture, &error), "begin");
    for (int i = 0; i < nodes; i++) {
        step(capture, how, i, nodes);
        if (how == FORGOTTEN && i < FORKS) {
            must(gph_capture_fork(capture, sides[i], &error), "fork");
            fill(sides[i]);
        } else {
            fill(stream);
        }
    }
    must(gph_capture_finish(capture, &recording, &error), "finish");
    const uint64_t took = gphi_clock_ns() - start;
    gph_recording_destroy(recording);
    return took;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void measure(int nodes, int rounds)
{
    static uint64_t times[WAYS][ROUNDS_MAX];
    for (int round = -1; round < rounds; round++) /* the first warms up */
        for (way how = DRIVER; how < WAYS; how++) {
            const uint64_t took =
                how == DRIVER ? time_driver(nodes) : time_capture(how, nodes);
            times[how][round < 0 ? 0 : round] = took;
        }
    for (way how = DRIVER; how < WAYS; how++)
        qsort(times[how], (size_t)rounds, sizeof(**times), by_value);
    const double base = (double)times[DRIVER][rounds / 2];
    for (way how = DRIVER; how < WAYS; how++) {
        const double median = (double)times[how][rounds / 2];
        printf("%6d nodes  %-18s %9.1f us  %5.2f x\n", nodes, way_names[how],
               median / 1e3, median / base);
    }
}

/* What a refused call costs while somebody watches, and the words for it. */
static void measure_refusal(int rounds)
{
    static uint64_t calls[ROUNDS_MAX], words_of[ROUNDS_MAX];
    for (int i = 0; i < rounds; i++) {
        gph_capture *capture = NULL;
        CUgraph graph = NULL;
        must(gph_capture_begin(runtime, stream, NULL, &capture, &error), "begin");
        const uint64_t start = gphi_clock_ns();
        if (cu->StreamSynchronize(stream) == GPH_OK)
            fprintf(stderr, "bench_capture: a captured stream was synchronized\n");
        calls[i] = gphi_clock_ns() - start;
        if (gph_capture_end(capture, &graph, &error) == GPH_OK)
            fprintf(stderr, "bench_capture: an invalid capture ended well\n");
        words_of[i] = gphi_clock_ns() - start - calls[i];
    }
    qsort(calls, (size_t)rounds, sizeof(*calls), by_value);
    qsort(words_of, (size_t)rounds, sizeof(*words_of), by_value);
    printf("a refused call, with its stack: %.1f us; the failed end, in words: %.1f "
           "us\n%s\n",
           (double)calls[rounds / 2] / 1e3, (double)words_of[rounds / 2] / 1e3,
           error.message);
}

static void set_up(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    if (getenv("GPH_DRIVER") == NULL)
        options.driver = GPH_DRIVER_AUTO;
    must(gph_open(&options, &runtime, &error), "gph_open");
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(runtime, &info);
    printf("driver: %s (%s)\n", info.path, info.why);
    cu = gph_cuda(runtime);
    CUcontext context = NULL;
    must(cu->DevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    must(cu->CtxSetCurrent(context), "cuCtxSetCurrent");
    must(cu->StreamCreate(&stream, 1), "cuStreamCreate");
    for (int i = 0; i < FORKS; i++)
        must(cu->StreamCreate(&sides[i], 1), "cuStreamCreate");
    must(cu->MemAlloc(&words, 64), "cuMemAlloc");
    gph_cuda_fn found = NULL;
    must(gph_cuda_find(runtime, "cuStreamBeginCapture", &found, &error), "find");
    begin_capture = (gph_status(*)(CUstream, int))found;
    must(gph_cuda_find(runtime, "cuStreamEndCapture", &found, &error), "find");
    end_capture = (gph_status(*)(CUstream, CUgraph *))found;
}

int main(int count, char **words_given)
{
    int rounds = count > 1 ? atoi(words_given[1]) : 15;
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench_capture [ROUNDS], 1 to %d\n", ROUNDS_MAX);
        return 2;
    }
    set_up();
    measure(100, rounds);
    measure(1000, rounds);
    measure(10000, rounds);
    measure_refusal(rounds);
    gph_close(runtime);
    return 0;
}
