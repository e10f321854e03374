// SPDX-License-Identifier: Apache-2.0
/* bench/replay --team: a chain of grids, each split over the team, as one program of the
 * engine and as an OpenMP loop in one parallel region (a static share each, and a barrier
 * after each grid): what the hand-over from grid to grid costs. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "replay_team.h"

enum { GRIDS = 60, BLOCKS = 64, ROUNDS_MAX = 101 };

static uint32_t block_rounds;
static replay_fn *block_fn;

static void grid_parts(void *argument, soft_parts *parts, soft_worker *worker)
{
    (void)worker;
    uint64_t first, count;
    while ((count = soft_parts_claim(parts, 0, &first)) != 0)
        for (uint64_t i = 0; i < count; i++)
            block_fn(argument);
}

static double engine_us(soft_engine *engine, soft_queue *queue, soft_program *program,
                        const soft_work *works, int count)
{
    soft_point point = {0};
    const uint64_t from = gphi_clock_ns();
    for (int i = 0; i < count; i++) {
        if (soft_queue_launch(queue, program, works, NULL, NULL, NULL, 0, &point) != 0)
            exit(1);
        soft_point_wait(engine, point);
    }
    return (double)(gphi_clock_ns() - from) / 1e3 / count / (double)GRIDS;
}

static double openmp_us(int threads, int count)
{
    const uint64_t from = gphi_clock_ns();
    for (int i = 0; i < count; i++) {
#pragma omp parallel num_threads(threads)
        for (int g = 0; g < GRIDS; g++) {
#pragma omp for schedule(static)
            for (int b = 0; b < BLOCKS; b++)
                block_fn(&block_rounds);
        }
    }
    return (double)(gphi_clock_ns() - from) / 1e3 / count / (double)GRIDS;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void pause_ms(long ms)
{
    const struct timespec t = {.tv_nsec = ms * 1000000};
    nanosleep(&t, NULL);
}

void replay_team(soft_engine *engine, replay_fn *fn, double round_ns, int threads,
                 int rounds, int least)
{
    static const double grid_us[] = {5, 20, 100, 400};
    static soft_work works[GRIDS];
    static uint8_t kinds[GRIDS];
    soft_edge edges[GRIDS - 1];
    soft_queue *queue;
    soft_program *program;
    gph_error error;
    block_fn = fn;
    for (uint32_t g = 0; g < GRIDS; g++) {
        kinds[g] = SOFT_WORK_PARTS;
        works[g] = (soft_work){.kind = SOFT_WORK_PARTS,
                               .run_parts = grid_parts,
                               .argument = &block_rounds,
                               .parts = BLOCKS};
        if (g > 0)
            edges[g - 1] = (soft_edge){g - 1, g};
    }
    printf("a chain of %d grids of %d blocks, us a grid, %d threads, %d rounds in turn\n"
           "%10s %10s %10s %10s %10s\n",
           GRIDS, BLOCKS, threads, rounds, "work", "bound", "engine", "OpenMP", "ratio");
    for (size_t c = 0; c < sizeof(grid_us) / sizeof(*grid_us); c++) {
        double ours[ROUNDS_MAX], theirs[ROUNDS_MAX];
        block_rounds = (uint32_t)(grid_us[c] * 1e3 / (double)BLOCKS / round_ns);
        if (soft_queue_create(engine, 0, &queue, &error) != GPH_OK ||
            soft_program_create(engine, GRIDS, edges, GRIDS - 1, kinds, NULL, &program,
                                &error) != GPH_OK) {
            fprintf(stderr, "bench_replay: %s\n", error.message);
            exit(1);
        }
        const int count = (int)(40000 / grid_us[c] / (double)GRIDS) + 1;
        for (int r = 0; r < rounds; r++) {
            pause_ms(5);
            engine_us(engine, queue, program, works, 5 + count / 4);
            ours[r] = engine_us(engine, queue, program, works, count);
            pause_ms(20); /* OpenMP's threads spin for a while, too */
            openmp_us(threads, 1 + count / 4);
            theirs[r] = openmp_us(threads, count);
        }
        qsort(ours, (size_t)rounds, sizeof(double), compare);
        qsort(theirs, (size_t)rounds, sizeof(double), compare);
        const int at = least ? 0 : rounds / 2;
        printf("%10.1f %10.2f %10.2f %10.2f %10.2f\n", grid_us[c], grid_us[c] / threads,
               ours[at], theirs[at], ours[at] / theirs[at]);
        fflush(stdout);
        soft_program_destroy(program);
        soft_queue_release(queue);
    }
}
