// SPDX-License-Identifier: Apache-2.0
/* bench/dispatch: requests that a resident graph serves, beside launches by the host: how
 * many a second, how long one takes, what the host spends, and what a resident graph that
 * has nothing to do takes from other streams. On softcuda or, with GPH_DRIVER=cuda in the
 * environment, NVIDIA's driver.
 *
 *   bench_dispatch [NODES WORK]   kernels of a request, and how long each computes (4 0)
 *
 * Medians. Exit status 3 if a bar is missed. */
#define _GNU_SOURCE
#include "line.h"

enum { SAMPLES = 9, MANY = 2000, ONES = 200, KIND = 1, OTHERS = 20, OTHER_NODES = 50 };

static const double others_bar = 0.95;
static unsigned nodes = 4, work;

/* Both sides' figures: us of a request in a row, alone, and of the host. */
struct figures {
    double row, alone, cpu;
};

static void print(const char *what, const struct figures *f)
{
    printf("%-34s %9.0f requests/s  %7.2f us alone  %6.2f us of the host's CPU each\n",
           what, 1e6 / f->row, f->alone, f->cpu);
}

/* ---- by the host ---- */

static struct figures by_host(CUgraph graph)
{
    double row[SAMPLES], alone[SAMPLES], cpu[SAMPLES];
    gph_exec *exec = NULL;
    MUST(gph_exec_create(line.runtime, graph, NULL, &exec, &line.error));
    for (int i = 0; i < SAMPLES; i++) {
        const double used = cpu_us();
        double from = now_us();
        for (int k = 0; k < MANY; k++)
            MUST(gph_exec_launch(exec, line.stream, &line.error));
        cpu[i] = (cpu_us() - used) / MANY;
        MUST(line.cu->StreamSynchronize(line.stream));
        row[i] = (now_us() - from) / MANY;
        from = now_us();
        for (int k = 0; k < ONES; k++) {
            MUST(gph_exec_launch(exec, line.stream, &line.error));
            MUST(line.cu->StreamSynchronize(line.stream));
        }
        alone[i] = (now_us() - from) / ONES;
    }
    gph_exec_destroy(exec);
    return (struct figures){median(row, SAMPLES), median(alone, SAMPLES),
                            median(cpu, SAMPLES)};
}

/* ---- by a dispatch ---- */

static gph_dispatch *make(gph_dispatch_order order, int copies, uint32_t idle_us)
{
    gph_dispatch_options options = GPH_DISPATCH_OPTIONS_INIT;
    gph_dispatch *dispatch = NULL;
    options.order = (uint32_t)order;
    options.capacity = 4096;
    options.idle_us = idle_us;
    options.wait_ns = 10000000000;
    MUST(gph_dispatch_create(line.runtime, &options, &dispatch, &line.error));
    for (int i = 0; i < copies; i++) {
        CUgraph graph = line_graph(nodes, work, 0);
        MUST(gph_dispatch_add(dispatch, KIND, graph, &line.error));
        MUST(line.cu->GraphDestroy(graph));
    }
    MUST(gph_dispatch_start(dispatch, &line.error));
    return dispatch;
}

static void send(gph_dispatch *dispatch)
{
    MUST(gph_dispatch_send(dispatch, KIND, NULL, 0, NULL, &line.error));
}

static struct figures by_device(gph_dispatch *dispatch)
{
    double row[SAMPLES], alone[SAMPLES], cpu[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        send(dispatch); /* wakes it */
        MUST(gph_dispatch_wait(dispatch, 0, &line.error));
        const double used = cpu_us();
        double from = now_us();
        for (int k = 0; k < MANY; k++)
            send(dispatch);
        cpu[i] = (cpu_us() - used) / MANY;
        MUST(gph_dispatch_wait(dispatch, 0, &line.error));
        row[i] = (now_us() - from) / MANY;
        from = now_us();
        for (int k = 0; k < ONES; k++) {
            send(dispatch);
            MUST(gph_dispatch_wait(dispatch, 0, &line.error));
        }
        alone[i] = (now_us() - from) / ONES;
    }
    return (struct figures){median(row, SAMPLES), median(alone, SAMPLES),
                            median(cpu, SAMPLES)};
}

static void dispatched(const char *what, gph_dispatch_order order, int copies)
{
    gph_dispatch *dispatch = make(order, copies, 100000);
    const struct figures f = by_device(dispatch);
    print(what, &f);
    gph_dispatch_destroy(dispatch);
}

/* What a request costs that finds the resident graph asleep. */
static void from_sleep(void)
{
    double alone[SAMPLES];
    gph_dispatch *dispatch = make(GPH_DISPATCH_IN_ORDER, 1, 1);
    for (int i = 0; i < SAMPLES; i++) {
        MUST(gph_dispatch_stop(dispatch, &line.error));
        const double from = now_us();
        send(dispatch);
        MUST(gph_dispatch_wait(dispatch, 0, &line.error));
        alone[i] = now_us() - from;
    }
    printf("%-34s %31.2f us alone\n", "dispatch, from its sleep", median(alone, SAMPLES));
    gph_dispatch_destroy(dispatch);
}

/* ---- what others lose ---- */

static double time_others(gph_exec *exec)
{
    const double from = now_us();
    for (int i = 0; i < OTHERS; i++)
        MUST(gph_exec_launch(exec, line.stream, &line.error));
    MUST(line.cu->StreamSynchronize(line.stream));
    return now_us() - from;
}

static int others(void)
{
    double without[SAMPLES], with[SAMPLES];
    gph_dispatch *dispatch = make(GPH_DISPATCH_IN_ORDER, 1, 10000000);
    CUgraph graph = line_graph(OTHER_NODES, 1000, 0);
    gph_exec *exec = NULL;
    MUST(gph_exec_create(line.runtime, graph, NULL, &exec, &line.error));
    MUST(line.cu->GraphDestroy(graph));
    time_others(exec);
    for (int i = 0; i < SAMPLES; i++) {
        without[i] = time_others(exec);
        send(dispatch);
        MUST(gph_dispatch_wait(dispatch, 0, &line.error));
        with[i] = time_others(exec);
        MUST(gph_dispatch_stop(dispatch, &line.error));
    }
    const double speed = median(without, SAMPLES) / median(with, SAMPLES);
    gph_exec_destroy(exec);
    gph_dispatch_destroy(dispatch);
    printf("another stream beside a resident graph without work: %.3f of its speed, bar "
           "%.2f",
           speed, others_bar);
    return line_misses(speed >= others_bar) ? 3 : 0;
}

int main(int count, char **words)
{
    if (count > 2) {
        nodes = (unsigned)atoi(words[1]);
        work = (unsigned)atoi(words[2]);
    }
    line_open();
    printf("requests of %u kernels, work %u\n", nodes, work);
    CUgraph graph = line_graph(nodes, work, 0);
    const struct figures host = by_host(graph);
    MUST(line.cu->GraphDestroy(graph));
    print("the host's launches", &host);
    dispatched("dispatch in order, 1 graph", GPH_DISPATCH_IN_ORDER, 1);
    dispatched("dispatch in order, 16 graphs", GPH_DISPATCH_IN_ORDER, 16);
    dispatched("dispatch side by side, 16 graphs", GPH_DISPATCH_SIDE_BY_SIDE, 16);
    from_sleep();
    return others();
}
