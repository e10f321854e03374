// SPDX-License-Identifier: Apache-2.0
/* bench/replay: graphs of small nodes, replayed by the engine of softcuda and, in the
 * same program, by OpenMP, a serial loop and those of oneTBB, Taskflow, Marl and dispenso
 * that were found. Nanoseconds a node: medians of rounds in which the executors take
 * turns.
 *
 *   bench_replay [--threads N] [--rounds N] [--shape N] [--task N] [--least 1]
 *                [--ours | --driver | --team | --costs]
 *
 * --driver instead replays CUDA graphs of empty kernels through softcuda's driver API.
 *
 * --team runs a chain of grids that are split over the team, beside OpenMP.
 *
 * --costs times instantiating and submitting, and what a hand-over takes here at least.
 *
 * Every executor calls the same function for a node, and is checked once: each node ran,
 * after its predecessors. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "replay.h"
#include "replay_team.h"
#include "softcuda/engine/engine.h"

/* ---- the node ---------------------------------------------------------------------- */

static bool least; /* print the least, not the median: for a machine with other load */
static double round_ns; /* what one round costs, measured */

__attribute__((noinline)) static void node_body(uint32_t *rounds)
{
    uint64_t value = (uintptr_t)rounds | 1;
    for (uint32_t i = *rounds; i > 0; i--) {
        value *= 0x9e3779b97f4a7c15u;
        __asm__ volatile("" : "+r"(value));
    }
}

static void calibrate(void)
{
    uint32_t rounds = 1000000;
    double best = 1e9;
    for (int i = 0; i < 10; i++) {
        const uint64_t from = gphi_clock_ns();
        node_body(&rounds);
        const double ns = (double)(gphi_clock_ns() - from) / rounds;
        best = ns < best ? ns : best;
    }
    round_ns = best;
}

/* For the check: the order in which nodes ran. */
static const replay_graph *checked;
static atomic_uint *check_runs;
static atomic_uint check_wrong;

static void node_check(uint32_t *rounds)
{
    const uint32_t i = (uint32_t)(rounds - checked->rounds);
    const unsigned before = atomic_load(&check_runs[i]);
    for (uint32_t e = checked->pred_first[i]; e < checked->pred_first[i + 1]; e++)
        if (atomic_load(&check_runs[checked->from[e]]) != before + 1)
            atomic_fetch_add(&check_wrong, 1);
    atomic_fetch_add(&check_runs[i], 1);
}

/* ---- serial and ours --------------------------------------------------------------- */

struct replay_peer {
    const replay_graph *graph;
    replay_fn *fn;
    soft_engine *engine;
    soft_queue *queue;
    soft_program *program;
    soft_work *works;
};

static soft_engine *engine; /* one for all graphs */

static replay_peer *serial_build(const replay_graph *graph, replay_fn *fn, int threads)
{
    (void)threads;
    replay_peer *peer = calloc(1, sizeof(*peer));
    peer->graph = graph;
    peer->fn = fn;
    return peer;
}

static void serial_replay(replay_peer *peer)
{
    replay_fn *volatile fn = peer->fn;
    for (uint32_t i = 0; i < peer->graph->node_count; i++)
        fn(&peer->graph->rounds[i]);
}

static void serial_destroy(replay_peer *peer)
{
    free(peer);
}

const replay_executor replay_serial = {"serial", serial_build, serial_replay,
                                       serial_destroy};

/* What a kernel of one block does: claim it, run it. */
static replay_fn *ours_fn;
static void ours_kernel(void *argument, soft_parts *parts, soft_worker *worker)
{
    (void)worker;
    uint64_t first;
    while (soft_parts_claim(parts, 0, &first) != 0)
        ours_fn(argument);
}

static replay_peer *ours_build(const replay_graph *graph, replay_fn *fn, int threads)
{
    (void)threads;
    replay_peer *peer = calloc(1, sizeof(*peer));
    gph_error error = {0};
    peer->graph = graph;
    peer->fn = fn;
    peer->works = calloc(graph->node_count, sizeof(*peer->works));
    uint8_t *kinds = calloc(graph->node_count, 1);
    soft_edge *edges = calloc(graph->edge_count, sizeof(*edges));
    for (uint32_t i = 0; i < graph->node_count; i++) {
        kinds[i] = SOFT_WORK_PARTS;
        peer->works[i] = (soft_work){.kind = SOFT_WORK_PARTS,
                                     .run_parts = ours_kernel,
                                     .argument = &graph->rounds[i],
                                     .parts = 1};
    }
    for (uint32_t i = 0; i < graph->edge_count; i++)
        edges[i] = (soft_edge){graph->from[i], graph->to[i]};
    if (soft_queue_create(engine, 0, &peer->queue, &error) != GPH_OK ||
        soft_program_create(engine, graph->node_count, edges, graph->edge_count, kinds,
                            NULL, &peer->program, &error) != GPH_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    free(kinds);
    free(edges);
    return peer;
}

static void ours_replay(replay_peer *peer)
{
    soft_point point;
    ours_fn = peer->fn;
    if (soft_queue_launch(peer->queue, peer->program, peer->works, NULL, NULL, NULL, 0,
                          &point) != GPH_OK)
        exit(1);
    soft_point_wait(engine, point);
}

static void ours_destroy(replay_peer *peer)
{
    soft_program_destroy(peer->program);
    soft_queue_release(peer->queue);
    free(peer->works);
    free(peer);
}

const replay_executor replay_ours = {"ours", ours_build, ours_replay, ours_destroy};

/* ---- measuring --------------------------------------------------------------------- */

static const replay_executor *const executors[] = {
    &replay_ours,
#ifdef REPLAY_TBB
    &replay_tbb_flow,   &replay_tbb_light,
#endif
#ifdef REPLAY_TASKFLOW
    &replay_taskflow,
#endif
#ifdef REPLAY_MARL
    &replay_marl,
#endif
#ifdef REPLAY_DISPENSO
    &replay_dispenso,
#endif
#ifdef REPLAY_OMP
    &replay_omp_depend,
#endif
    &replay_serial,
};
enum { EXECUTORS = sizeof(executors) / sizeof(executors[0]), ROUNDS_MAX = 101 };

static const struct task {
    const char *name;
    double ns;
    bool skewed; /* 90 % of the nodes 0.5 x, 10 % 5.5 x */
} tasks[] = {{"empty", 0, false},
             {"1 us", 1000, false},
             {"skewed 1 us", 1000, true},
             {"skewed 10 us", 10000, true}};
enum { TASKS = sizeof(tasks) / sizeof(tasks[0]) };

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void set_costs(replay_graph *graph, const struct task *task)
{
    uint64_t state = 7;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double factor = !task->skewed ? 1 : (state >> 33) % 10 == 0 ? 5.5 : 0.5;
        graph->rounds[i] = (uint32_t)(task->ns * factor / round_ns);
    }
}

/* ns a node that no schedule on `threads` threads can beat. */
static double bound_of(const replay_graph *graph, int threads)
{
    double *end = calloc(graph->node_count, sizeof(*end)), work = 0, path = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        for (uint32_t e = graph->pred_first[i]; e < graph->pred_first[i + 1]; e++)
            end[i] = end[graph->from[e]] > end[i] ? end[graph->from[e]] : end[i];
        end[i] += graph->rounds[i] * round_ns;
        work += graph->rounds[i] * round_ns;
        path = end[i] > path ? end[i] : path;
    }
    free(end);
    return (work / threads > path ? work / threads : path) / graph->node_count;
}

static bool check(const replay_executor *executor, const replay_graph *graph, int threads)
{
    checked = graph;
    check_runs = calloc(graph->node_count, sizeof(*check_runs));
    atomic_store(&check_wrong, 0);
    replay_peer *peer = executor->build(graph, node_check, threads);
    for (int i = 0; i < 20; i++)
        executor->replay(peer);
    executor->destroy(peer);
    bool good = executor == &replay_serial || atomic_load(&check_wrong) == 0;
    for (uint32_t i = 0; i < graph->node_count; i++)
        good = good && atomic_load(&check_runs[i]) == 20;
    free(check_runs);
    return good;
}

/* One turn: a few unmeasured replays after a pause, so that the threads of the one before
 * sleep, then about 15 ms of replays. ns a node. */
static double turn(const replay_executor *executor, replay_peer *peer,
                   const replay_graph *graph, double guess_ns)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    nanosleep(&pause, NULL);
    uint64_t from = gphi_clock_ns();
    do
        executor->replay(peer);
    while (gphi_clock_ns() - from < 2000000);
    const double replay_ns = guess_ns * graph->node_count;
    int count = (int)(15e6 / (replay_ns + 1000));
    count = count < 3 ? 3 : count > 20000 ? 20000 : count;
    from = gphi_clock_ns();
    for (int i = 0; i < count; i++)
        executor->replay(peer);
    return (double)(gphi_clock_ns() - from) / count / graph->node_count;
}

static void measure(replay_graph *graph, const struct task *task, int threads, int rounds,
                    int first, int end)
{
    static double times[EXECUTORS][ROUNDS_MAX];
    replay_peer *peers[EXECUTORS] = {0};
    double median[EXECUTORS] = {0};
    set_costs(graph, task);
    for (int x = first; x < end; x++) {
        peers[x] = executors[x]->build(graph, node_body, threads);
        for (int i = 0; i < 12; i++) /* costs are learned in the first launches */
            executors[x]->replay(peers[x]);
    }
    for (int r = 0; r < rounds; r++)
        for (int x = first; x < end; x++)
            times[x][r] = turn(executors[x], peers[x], graph,
                               r == 0 ? task->ns / 2 + 50 : times[x][0]);
    double best = 1e18;
    printf("%-16s %-13s %8.1f", graph->name, task->name, bound_of(graph, threads));
    for (int x = first; x < end; x++) {
        executors[x]->destroy(peers[x]);
        qsort(times[x], (size_t)rounds, sizeof(double), compare);
        median[x] = times[x][least ? 0 : rounds / 2];
        if (x != 0 && executors[x] != &replay_serial && median[x] < best)
            best = median[x];
        printf(" %9.1f", median[x]);
    }
    if (best < 1e18)
        printf(" %9.2f", median[0] / best);
    const double bound = bound_of(graph, threads);
    if (bound > 0)
        printf(" %6.0f %%", 100 * bound / median[0]);
    printf("\n");
    fflush(stdout);
}

/* What instantiating and submitting cost. */
static void measure_costs(void)
{
    enum { NODES = 100000, SUBMITS = 900 };
    gph_error error = {0};
    soft_queue *queue = NULL;
    soft_edge *edges = calloc(NODES, sizeof(*edges));
    uint8_t *kinds = calloc(NODES, 1); /* SOFT_WORK_EMPTY */
    soft_work *works = calloc(NODES, sizeof(*works));
    for (uint32_t i = 1; i < NODES; i++)
        edges[i - 1] = (soft_edge){i / 3, i};
    double create[9], launch[9], submit[9];
    uint32_t rounds = (uint32_t)(1000 / round_ns);
    const soft_work microsecond = {.kind = SOFT_WORK_PARTS,
                                   .run_parts = ours_kernel,
                                   .argument = &rounds,
                                   .parts = 1};
    ours_fn = node_body;
    if (soft_queue_create(engine, 0, &queue, &error) != GPH_OK)
        exit(1);
    for (int r = 0; r < 9; r++) {
        soft_program *program = NULL;
        soft_point point = {0};
        uint64_t from = gphi_clock_ns();
        if (soft_program_create(engine, NODES, edges, NODES - 1, kinds, NULL, &program,
                                &error) != GPH_OK)
            exit(1);
        create[r] = (double)(gphi_clock_ns() - from) / NODES;
        from = gphi_clock_ns();
        soft_queue_launch(queue, program, works, NULL, NULL, NULL, 0, &point);
        soft_point_wait(engine, point);
        launch[r] = (double)(gphi_clock_ns() - from) / NODES;
        from = gphi_clock_ns();
        for (int i = 0; i < SUBMITS; i++)
            soft_queue_submit(queue, &microsecond, NULL, 0, &point);
        submit[r] = (double)(gphi_clock_ns() - from) / SUBMITS;
        soft_point_wait(engine, point);
        soft_program_destroy(program);
    }
    qsort(create, 9, sizeof(double), compare);
    qsort(launch, 9, sizeof(double), compare);
    qsort(submit, 9, sizeof(double), compare);
    const int at = least ? 0 : 4;
    printf("%d empty nodes: instantiate %.1f ns a node, launch %.2f ns a node; a submit "
           "of 1 us of work: %.0f ns\n",
           NODES, create[at], launch[at], submit[at]);
    free(edges);
    free(kinds);
    free(works);
}

#ifdef REPLAY_SOFTCUDA
static void measure_driver(int threads, int rounds, int only_shape)
{
    double times[ROUNDS_MAX];
    printf(
        "softcuda, %d workers: cuGraphLaunch and cuStreamSynchronize of empty kernels, "
        "ns a node, %s of %d rounds\n",
        threads, least ? "least" : "median", rounds);
    for (int shape = 0; shape < SHAPE_COUNT; shape++) {
        if (only_shape >= 0 && only_shape != shape)
            continue;
        replay_graph *graph = replay_graph_make(shape);
        const uint64_t from = gphi_clock_ns();
        replay_peer *peer = replay_softcuda.build(graph, NULL, threads);
        const double build_ns = (double)(gphi_clock_ns() - from) / graph->node_count;
        for (int r = 0; r < rounds; r++)
            times[r] = turn(&replay_softcuda, peer, graph, 10);
        replay_softcuda.destroy(peer);
        qsort(times, (size_t)rounds, sizeof(double), compare);
        printf("%-16s %9.1f   (adding and instantiating: %.0f)\n", graph->name,
               times[least ? 0 : rounds / 2], build_ns);
        fflush(stdout);
        replay_graph_free(graph);
    }
}
#endif

static int number(int argc, char **argv, const char *name, int otherwise)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return atoi(argv[i + 1]);
    return otherwise;
}

static void heading(int threads, int rounds, int end)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof(set), &set);
    printf("%d threads, %d CPUs, ns a node, medians of %d rounds in turn; bound = "
           "max(work / threads, critical path); ratio = ours / better peer\n",
           threads, CPU_COUNT(&set), rounds);
    printf("%-16s %-13s %8s", "shape", "task", "bound");
    for (int x = 0; x < end; x++)
        printf(" %9s", executors[x]->name);
    printf(" %9s %8s\n", "ratio", "of bound");
}

int main(int argc, char **argv)
{
    const int threads = number(argc, argv, "--threads", 4);
    int rounds = number(argc, argv, "--rounds", 9);
    const int only_shape = number(argc, argv, "--shape", -1);
    const int only_task = number(argc, argv, "--task", -1);
    least = number(argc, argv, "--least", 0) != 0;
    const bool ours = argc > 1 && strcmp(argv[argc - 1], "--ours") == 0;
    const int end = ours ? 1 : EXECUTORS;
    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
#ifdef REPLAY_SOFTCUDA
    if (argc > 1 && strcmp(argv[argc - 1], "--driver") == 0) {
        measure_driver(threads, rounds, only_shape);
        return 0;
    }
#endif
    calibrate();
    const soft_engine_options options = {.workers = (uint32_t)threads};
    gph_error error = {0};
    if (soft_engine_create(&options, &engine, &error) != GPH_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
#ifdef REPLAY_OMP
    if (argc > 1 && strcmp(argv[argc - 1], "--team") == 0) {
        replay_team(engine, node_body, round_ns, threads, rounds, least);
        soft_engine_destroy(engine);
        return 0;
    }
#endif
    if (argc > 1 && strcmp(argv[argc - 1], "--costs") == 0) {
        measure_costs();
        soft_engine_destroy(engine);
        replay_hand_over(threads);
        return 0;
    }
    heading(threads, rounds, end);
    for (int shape = 0; shape < SHAPE_COUNT; shape++) {
        replay_graph *graph = replay_graph_make(shape);
        for (int x = 0; x < end; x++)
            if (!check(executors[x], graph, threads))
                printf("%s: %s BREAKS THE ORDER\n", graph->name, executors[x]->name);
        for (int t = 0; t < TASKS; t++)
            if ((only_shape < 0 || only_shape == shape) &&
                (only_task < 0 || only_task == t))
                measure(graph, &tasks[t], threads, rounds, 0, end);
        replay_graph_free(graph);
    }
    soft_engine_destroy(engine);
    return 0;
}
