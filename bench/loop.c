// SPDX-License-Identifier: Apache-2.0
/* bench/loop: what a step of a loop takes, by whoever starts the next one, beside launches of
 * the same graph; and what the host spends, on softcuda or, with GPH_DRIVER=cuda in the
 * environment, NVIDIA's driver.
 *
 *   bench_loop [NODES WORK]...    kernels of a step, and how long each computes: 1 0, 4 120,
 *                                 30 0 and 30 120 if none are given (120: about 1 us of a GPU)
 *
 * Medians. Steps of a short and of a long loop are timed, their difference is what steps
 * take. Exit status 3 if a bar is missed. */
#define _GNU_SOURCE
#include "line.h"

enum { SAMPLES = 9, WARM = 5, UNROLL = 8, FEW = 16, MANY = 400, TRIALS = 14 };

static const double unroll_bar = 0.7, fastest_bar = 1.05, host_bar = 30;
static int missed;

/* ---- launches by the program ---- */

static double time_launches(gph_exec *exec, int count, bool waits)
{
    const double from = now_us();
    for (int i = 0; i < count; i++) {
        MUST(gph_exec_launch(exec, line.stream, &line.error));
        if (waits)
            MUST(line.cu->StreamSynchronize(line.stream));
    }
    MUST(line.cu->StreamSynchronize(line.stream));
    return now_us() - from;
}

static double launch_us(CUgraph graph, bool waits)
{
    double samples[SAMPLES];
    gph_exec *exec = NULL;
    MUST(gph_exec_create(line.runtime, graph, NULL, &exec, &line.error));
    time_launches(exec, FEW, waits);
    for (int i = 0; i < SAMPLES; i++) {
        const double few = time_launches(exec, FEW, waits);
        samples[i] = (time_launches(exec, MANY, waits) - few) / (MANY - FEW);
    }
    gph_exec_destroy(exec);
    return median(samples, SAMPLES);
}

/* ---- loops ---- */

/* Of the caller's thread, in the last launch and in its wait. */
static double launch_cpu, wait_cpu;

static double thread_us(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e6 + (double)at.tv_nsec * 1e-3;
}

/* The condition stays 1, so the ceiling ends it. `device`: by its clock, or NULL. */
static double time_steps(gph_loop *loop, uint64_t steps, double *device)
{
    gph_loop_result result = GPH_SIZED(gph_loop_result);
    MUST(gph_loop_limits_set(loop, steps, 0, &line.error));
    const double from = now_us(), before = thread_us();
    MUST(gph_loop_launch(loop, line.stream, &line.error));
    const double launched = thread_us();
    if (gph_loop_wait(loop, line.stream, &result, &line.error) != GPH_E_STATE ||
        result.steps != steps) {
        fprintf(stderr, "bench_loop: %s\n", line.error.message);
        exit(1);
    }
    const double took = now_us() - from;
    launch_cpu = launched - before;
    wait_cpu = thread_us() - launched;
    if (device)
        *device = (double)result.ns * 1e-3;
    return took;
}

static double time_loop(gph_loop *loop, uint64_t steps)
{
    return time_steps(loop, steps, NULL);
}

static gph_loop *make(CUgraph body, gph_loop_way way, uint32_t unroll)
{
    gph_loop_options options = GPH_LOOP_OPTIONS_INIT;
    gph_loop *loop = NULL;
    options.way = (uint32_t)way;
    options.condition = line.words;
    options.counter = line.words + 4;
    options.ceiling = MANY;
    options.unroll = unroll;
    options.stream = line.stream;
    MUST(gph_loop_create(line.runtime, body, &options, &loop, &line.error));
    return loop;
}

/* By the device's clock: who waits is woken the later, the longer he slept. */
static double step_us(gph_loop *loop)
{
    double samples[SAMPLES];
    time_loop(loop, FEW);
    for (int i = 0; i < SAMPLES; i++) {
        double few = 0, many = 0;
        time_steps(loop, FEW, &few);
        time_steps(loop, MANY, &many);
        samples[i] = (many - few) / (MANY - FEW);
    }
    return median(samples, SAMPLES);
}

static double way_us(CUgraph body, gph_loop_way way, uint32_t unroll)
{
    gph_loop *loop = make(body, way, unroll);
    const double us = step_us(loop);
    gph_loop_destroy(loop);
    return us;
}

/* A launch of FEW steps, whole. */
static double few_us(gph_loop *loop)
{
    double samples[TRIALS];
    for (int i = 0; i < TRIALS; i++)
        samples[i] = time_loop(loop, FEW);
    return median(samples, TRIALS);
}

/* What `fastest` takes, beside the best of the ways: of launches of FEW steps, as it was
 * chosen by. */
static void check_fastest(CUgraph body)
{
    double us[5] = {0};
    for (int way = GPH_LOOP_WHILE; way <= GPH_LOOP_HOST; way++) {
        gph_loop *one = make(body, (gph_loop_way)way, 1);
        time_loop(one, FEW);
        us[way] = few_us(one);
        gph_loop_destroy(one);
    }
    gph_loop_ways ways = GPH_SIZED(gph_loop_ways);
    gph_loop *loop = make(body, GPH_LOOP_FASTEST, 1);
    for (int i = 0; i < TRIALS; i++)
        time_loop(loop, FEW);
    gph_loop_ways_get(loop, &ways);
    double best = us[GPH_LOOP_WHILE];
    for (int way = GPH_LOOP_WHILE; way <= GPH_LOOP_HOST; way++)
        best = us[way] < best ? us[way] : best;
    const double taken = few_us(loop);
    printf(
        "      %s\n      a launch of %d steps takes %.1f us, %.2f of the best way's, bar "
        "%.2f",
        ways.text, FEW, taken, taken / best, fastest_bar);
    missed += line_misses(taken <= best * fastest_bar);
    gph_loop_destroy(loop);
}

/* ---- rows ---- */

static void row(unsigned nodes, unsigned work)
{
    double us[5] = {0}, many[5] = {0};
    CUgraph body = line_graph(nodes, work, line.words + 4);
    const double queued = launch_us(body, false), waited = launch_us(body, true);
    for (int way = GPH_LOOP_WHILE; way <= GPH_LOOP_HOST; way++) {
        us[way] = way_us(body, (gph_loop_way)way, 1);
        many[way] = way_us(body, (gph_loop_way)way, UNROLL);
    }
    printf("%3u %5u  %8.2f %8.2f  %8.2f %8.2f %8.2f  %8.2f %8.2f %8.2f\n", nodes, work,
           queued, waited, us[2], us[3], us[4], many[2], many[3], many[4]);
    check_fastest(body);
    MUST(line.cu->GraphDestroy(body));
}

/* The rounds' own share: what the deciding kernel and the next start cost, by step. Rounds of
 * twice as many steps say what a step takes by itself. */
static void unrolled(void)
{
    CUgraph body = line_graph(1, 0, line.words + 4);
    for (int way = GPH_LOOP_WHILE; way <= GPH_LOOP_TAIL; way++) {
        const double once = way_us(body, (gph_loop_way)way, UNROLL);
        const double twice = way_us(body, (gph_loop_way)way, 2 * UNROLL);
        const double overhead = 2 * (once - twice);
        printf(
            "unroll %d by %s: a step of one empty kernel %.2f us, %.2f with unroll %d; "
            "overhead %.2f us a step, bar %.2f",
            UNROLL, gph_loop_way_name((gph_loop_way)way), once, twice, 2 * UNROLL,
            overhead, unroll_bar);
        missed += line_misses(overhead <= unroll_bar);
    }
    MUST(line.cu->GraphDestroy(body));
}

/* What the driver's own launch and blocking wait take, of a graph of one kernel that lasts
 * about as long. */
static double bare_cpu_us(double us)
{
    double cpu[SAMPLES];
    CUgraph graph = line_graph(1, (unsigned)(us * 120), line.words + 4);
    gph_exec *exec = NULL;
    CUevent event = NULL;
    MUST(gph_exec_create(line.runtime, graph, NULL, &exec, &line.error));
    MUST(line.cu->EventCreate(&event, 3)); /* blocking, without a time */
    for (int i = -1; i < SAMPLES; i++) {
        const double from = cpu_us();
        MUST(gph_exec_launch(exec, line.stream, &line.error));
        MUST(line.cu->EventRecord(event, line.stream));
        MUST(line.cu->EventSynchronize(event));
        if (i >= 0)
            cpu[i] = cpu_us() - from;
    }
    MUST(line.cu->EventDestroy(event));
    gph_exec_destroy(exec);
    MUST(line.cu->GraphDestroy(graph));
    return median(cpu, SAMPLES);
}

/* A launch and a blocking wait, however many steps. */
static void host_time(void)
{
    CUgraph body = line_graph(4, 120, line.words + 4);
    gph_loop *loop = make(body, GPH_LOOP_DEVICE, 1);
    for (uint64_t steps = 4; steps <= 4000; steps *= 10) {
        double samples[SAMPLES], cpu[SAMPLES], own[2][SAMPLES];
        for (int i = 0; i < WARM; i++) /* its length is known after some */
            time_loop(loop, steps);
        for (int i = 0; i < SAMPLES; i++) {
            const double from = cpu_us();
            samples[i] = time_loop(loop, steps);
            cpu[i] = cpu_us() - from;
            own[0][i] = launch_cpu;
            own[1][i] = wait_cpu;
        }
        const double spent = median(cpu, SAMPLES);
        printf("%5llu steps of 4 kernels on the device: %9.1f us, %5.1f us of the host's "
               "CPU (of the caller's thread %.1f to launch, %.1f to wait), bar %.0f",
               (unsigned long long)steps, median(samples, SAMPLES), spent,
               median(own[0], SAMPLES), median(own[1], SAMPLES), host_bar);
        const double bare = bare_cpu_us(median(samples, SAMPLES));
        printf(" or 1.1 x of a bare launch and blocking wait, %.1f", bare);
        missed += line_misses(spent <= host_bar || spent <= bare * 1.1);
    }
    gph_loop_destroy(loop);
    MUST(line.cu->GraphDestroy(body));
}

int main(int count, char **words)
{
    static const unsigned rows[][2] = {{1, 0}, {4, 120}, {30, 0}, {30, 120}};
    line_open();
    MUST(line.cu->MemsetD32Async(line.words, 1, 1, line.stream));
    MUST(line.cu->StreamSynchronize(line.stream));
    printf("us a step     launches          loop                        loop, unroll %d\n"
           "nodes work   in a row   waited     while     tail     host     while     "
           "tail     "
           "host\n",
           UNROLL);
    for (int i = 1; i + 1 < count; i += 2)
        row((unsigned)atoi(words[i]), (unsigned)atoi(words[i + 1]));
    for (int i = 0; i < 4 && count < 3; i++)
        row(rows[i][0], rows[i][1]);
    unrolled();
    host_time();
    return missed > 0 ? 3 : 0;
}
