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

enum { SAMPLES = 9, UNROLL = 8, FEW = 16, MANY = 400, TRIALS = 12 };

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

/* The condition stays 1, so the ceiling ends it. */
static double time_loop(gph_loop *loop, uint64_t steps)
{
    gph_loop_result result = GPH_SIZED(gph_loop_result);
    MUST(gph_loop_limits_set(loop, steps, 0, &line.error));
    const double from = now_us();
    MUST(gph_loop_launch(loop, line.stream, &line.error));
    if (gph_loop_wait(loop, line.stream, &result, &line.error) != GPH_E_STATE ||
        result.steps != steps) {
        fprintf(stderr, "bench_loop: %s\n", line.error.message);
        exit(1);
    }
    return now_us() - from;
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

static double step_us(gph_loop *loop)
{
    double samples[SAMPLES];
    time_loop(loop, FEW);
    for (int i = 0; i < SAMPLES; i++) {
        const double few = time_loop(loop, FEW);
        samples[i] = (time_loop(loop, MANY) - few) / (MANY - FEW);
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

/* What `fastest` takes, beside the best of the ways. */
static void check_fastest(CUgraph body, const double us[5])
{
    gph_loop_ways ways = GPH_SIZED(gph_loop_ways);
    gph_loop *loop = make(body, GPH_LOOP_FASTEST, 1);
    for (int i = 0; i < TRIALS; i++)
        time_loop(loop, FEW);
    gph_loop_ways_get(loop, &ways);
    double best = us[GPH_LOOP_WHILE];
    for (int way = GPH_LOOP_WHILE; way <= GPH_LOOP_HOST; way++)
        best = us[way] < best ? us[way] : best;
    printf("      %s\n      the way that was taken is %.2f of the best, bar %.2f",
           ways.text, us[ways.way] / best, fastest_bar);
    missed += line_misses(us[ways.way] <= best * fastest_bar);
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
    check_fastest(body, us);
    MUST(line.cu->GraphDestroy(body));
}

/* The rounds' own share: what the deciding kernel and the next start cost, by step. A body of
 * two kernels takes more than one of one by what a kernel in a body takes. */
static void unrolled(void)
{
    CUgraph one = line_graph(1, 0, line.words + 4),
            two = line_graph(2, 0, line.words + 4);
    for (int way = GPH_LOOP_WHILE; way <= GPH_LOOP_TAIL; way++) {
        const double a = way_us(one, (gph_loop_way)way, UNROLL);
        const double b = way_us(two, (gph_loop_way)way, UNROLL);
        printf("unroll %d by %s: a step of one empty kernel %.2f us, of which the kernel "
               "%.2f; "
               "overhead %.2f us a step, bar %.2f",
               UNROLL, gph_loop_way_name((gph_loop_way)way), a, b - a, a - (b - a),
               unroll_bar);
        missed += line_misses(a - (b - a) <= unroll_bar);
    }
    MUST(line.cu->GraphDestroy(one));
    MUST(line.cu->GraphDestroy(two));
}

/* A launch and a blocking wait, however many steps. */
static void host_time(void)
{
    CUgraph body = line_graph(4, 120, line.words + 4);
    gph_loop *loop = make(body, GPH_LOOP_DEVICE, 1);
    for (uint64_t steps = 4; steps <= 4000; steps *= 10) {
        double samples[SAMPLES], cpu[SAMPLES];
        time_loop(loop, steps);
        for (int i = 0; i < SAMPLES; i++) {
            const double from = cpu_us();
            samples[i] = time_loop(loop, steps);
            cpu[i] = cpu_us() - from;
        }
        const double spent = median(cpu, SAMPLES);
        printf("%5llu steps of 4 kernels on the device: %9.1f us, %5.1f us of the host's "
               "CPU, "
               "bar %.0f",
               (unsigned long long)steps, median(samples, SAMPLES), spent, host_bar);
        missed += line_misses(spent <= host_bar);
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
