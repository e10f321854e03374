// SPDX-License-Identifier: Apache-2.0
/* The kernels of kernels/patterns.cu on softcuda against the best C for the same work, in
 * turn, medians and ratio, what is in the cache, so that the code counts and not the
 * memory. The rest of the table, simple kernels and the tiled product, is bench_kernels.
 *
 *   bench_patterns [SAMPLES [THREADS [PATTERN]]]          (default 15, 2, all)
 *
 * One thread on both sides is the steadier figure where others use the machine, too: a
 * parallel region of OpenMP waits for its slowest thread. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beside.h"
#include "patterns_c.h"

#define SIDE 512u                /* of images */
#define COUNT (SIDE * SIDE)      /* of everything else */
#define WIDTH 1024u              /* of rows */
#define BLOCKS_MAX (COUNT / 256) /* of the look-back */

static CUmodule module;
static unsigned samples = 15;

/* Both sides read the same bytes: softcuda's device memory is host memory. */
static union buffer {
    float *f;
    uint32_t *u;
    int32_t *i;
    uint16_t *h;
    CUdeviceptr at;
} in, in2, out, check, state;

enum kind { FLOATS, NUMBERS, BYTES, HALVES, BRAINS };

__extension__ typedef _Float16 number16;

typedef struct pattern {
    const char *name;
    enum kind kind;
    double bar;
    unsigned grid[2], block[2];
    void (*plain)(void);
    unsigned results;
    bool in_place; /* the output is input, too: set again before each sample */
    unsigned arguments[3], argument_count;
    unsigned inputs; /* in, in2; then the state of the look-back */
    bool waits;
} pattern;

static const uint16_t half_pair[2] = {0x3801, 0x3801}, brain_pair[2] = {0x3f01, 0x3f01};

static void plain_rmsnorm(void)
{
    c_rmsnorm(check.f, in.f, in2.f, COUNT / WIDTH, WIDTH);
}
static void plain_gemv(void)
{
    c_gemv_rows(check.f, in.f, in2.f, COUNT / WIDTH, WIDTH);
}
static void plain_scores(void)
{
    c_scores(check.f, in2.f, in.f, COUNT / 128);
}
static void plain_scan_blocks(void)
{
    c_scan_blocks(check.f, in.f, COUNT);
}
static void plain_scan(void)
{
    c_scan(check.u, in.u, COUNT);
}
static void plain_stencil(void)
{
    c_stencil(check.f, in.f, SIDE, SIDE);
}
static void plain_convolve(void)
{
    c_convolve(check.f, in.f, in2.f, SIDE, SIDE);
}
static void plain_half2(void)
{
    c_half2_chain(check.h, in.h, half_pair, (size_t)COUNT * 2);
}
static void plain_bf162(void)
{
    c_bf162_chain(check.h, in.h, brain_pair, (size_t)COUNT * 2);
}
static void plain_histogram(void)
{
    c_histogram(check.u, in.u, COUNT);
}
static void plain_dp4a(void)
{
    c_gemv_dp4a(check.i, in.i, in2.i, 1024, COUNT / 1024);
}
static void plain_sort(void)
{
    c_sort_network(check.u, COUNT);
}

#define HALF_PAIR 0x38013801u
#define BRAIN_PAIR 0x3f013f01u

static const pattern patterns[] = {
    {"rmsnorm_warp4",
     FLOATS,
     1.5,
     {COUNT / WIDTH / 8, 1},
     {32, 8},
     plain_rmsnorm,
     COUNT,
     false,
     {WIDTH / 4},
     1,
     2,
     false},
    {"gemv_warp4",
     FLOATS,
     1.5,
     {COUNT / WIDTH / 8, 1},
     {256, 1},
     plain_gemv,
     COUNT / WIDTH,
     false,
     {COUNT / WIDTH, WIDTH / 4},
     2,
     2,
     false},
    {"gemv_warp",
     FLOATS,
     1.5,
     {COUNT / WIDTH / 8, 1},
     {256, 1},
     plain_gemv,
     COUNT / WIDTH,
     false,
     {COUNT / WIDTH, WIDTH},
     2,
     2,
     false},
    {"scores",
     FLOATS,
     1.5,
     {16, 1},
     {256, 1},
     plain_scores,
     COUNT / 128,
     false,
     {COUNT / 128},
     1,
     3,
     false},
    {"scan_blocks",
     FLOATS,
     2,
     {COUNT / 256, 1},
     {256, 1},
     plain_scan_blocks,
     COUNT,
     false,
     {COUNT},
     1,
     1,
     false},
    {"stencil_tile",
     FLOATS,
     1.5,
     {SIDE / 32, SIDE / 8},
     {32, 8},
     plain_stencil,
     COUNT,
     false,
     {SIDE, SIDE},
     2,
     1,
     false},
    {"convolve_tile",
     FLOATS,
     1.5,
     {SIDE / 16, SIDE / 16},
     {16, 16},
     plain_convolve,
     COUNT,
     false,
     {SIDE, SIDE},
     2,
     2,
     false},
    {"half2_chain",
     HALVES,
     1.3,
     {COUNT / 256, 1},
     {256, 1},
     plain_half2,
     COUNT,
     true,
     {HALF_PAIR, COUNT},
     2,
     1,
     false},
    {"bf162_chain",
     BRAINS,
     1.3,
     {COUNT / 256, 1},
     {256, 1},
     plain_bf162,
     COUNT,
     true,
     {BRAIN_PAIR, COUNT},
     2,
     1,
     false},
    {"histogram",
     NUMBERS,
     1.5,
     {16, 1},
     {256, 1},
     plain_histogram,
     256,
     true,
     {COUNT},
     1,
     1,
     false},
    {"gemv_dp4a",
     BYTES,
     1.5,
     {4, 1},
     {256, 1},
     plain_dp4a,
     1024,
     false,
     {1024, COUNT / 1024},
     2,
     2,
     false},
    {"sort_network",
     NUMBERS,
     1.5,
     {COUNT / 512, 1},
     {256, 1},
     plain_sort,
     COUNT,
     true,
     {0},
     0,
     0,
     false},
    {"scan_lookback",
     BYTES,
     5,
     {COUNT / 256, 1},
     {256, 1},
     plain_scan,
     COUNT,
     false,
     {COUNT},
     1,
     1,
     true},
};

/* Numbers of about 1, whatever the kind. */
static void fill(union buffer b, enum kind kind, unsigned seed)
{
    for (unsigned i = 0; i < COUNT; i++) {
        seed = seed * 1664525u + 1013904223u;
        const unsigned r = seed >> 8;
        if (kind == FLOATS)
            b.f[i] = (float)r / 16777216.0f - 0.5f;
        else if (kind == HALVES)
            b.u[i] = 0x30003000u + (r & 0x07ff07ffu);
        else if (kind == BRAINS)
            b.u[i] = 0x3e003e00u + (r & 0x00ff00ffu);
        else
            b.u[i] = seed ^ r << 8;
    }
}

static void reset(const pattern *p, union buffer b)
{
    if (p->in_place && strcmp(p->name, "histogram") == 0)
        memset(b.u, 0, (size_t)p->results * 4);
    else if (p->in_place)
        fill(b, p->kind, 3);
    if (p->waits)
        memset(state.u, 0, BLOCKS_MAX * 8);
}

static void soft_side(const pattern *p, CUfunction function)
{
    unsigned numbers[3];
    void *params[8];
    unsigned n = 0;
    params[n++] = (void *)&out.at;
    if (p->inputs == 3) /* the query is before the keys */
        params[n++] = (void *)&in2.at;
    if (p->inputs >= 1)
        params[n++] = (void *)&in.at;
    if (p->inputs == 2)
        params[n++] = (void *)&in2.at;
    if (p->waits)
        params[n++] = (void *)&state.at;
    for (unsigned k = 0; k < p->argument_count; k++) {
        numbers[k] = p->arguments[k];
        params[n++] = &numbers[k];
    }
    beside_launch(function, (unsigned[]){p->grid[0], p->grid[1], 1},
                  (unsigned[]){p->block[0], p->block[1], 1}, params);
}

static double value_at(const pattern *p, union buffer b, unsigned i)
{
    float f;
    const uint32_t bits = b.u[i] << 16;
    number16 h;
    switch (p->kind) {
    case FLOATS: return (double)b.f[i];
    case HALVES: memcpy(&h, &b.h[i], sizeof(h)); return (double)(float)h;
    case BRAINS: memcpy(&f, &bits, sizeof(f)); return (double)f;
    default: return (double)b.u[i];
    }
}

/* Both sides agree, or the figures mean nothing. */
static void compare(const pattern *p)
{
    const double near = p->kind == HALVES ? 4e-3 : p->kind == BRAINS ? 3e-2 : 1e-3;
    const double slack = p->kind == NUMBERS || p->kind == BYTES ? 0 : near;
    for (unsigned i = 0; i < p->results; i++) {
        const double a = value_at(p, out, i), b = value_at(p, check, i);
        if (!(fabs(a - b) <= slack * (1 + fabs(b)))) {
            fprintf(stderr, "bench_patterns: %s: element %u is %g, in C %g\n", p->name, i,
                    a, b);
            exit(1);
        }
    }
}

/* A pattern and its kernel: what a side is handed. */
typedef struct pair {
    const pattern *p;
    CUfunction function;
} pair;

static void soft_reset(void *user)
{
    reset(((const pair *)user)->p, out);
}
static void soft_work(void *user)
{
    const pair *both = user;
    soft_side(both->p, both->function);
}
static void plain_reset(void *user)
{
    reset(((const pair *)user)->p, check);
}
static void plain_work(void *user)
{
    ((const pair *)user)->p->plain();
}

static void measure(const pattern *p)
{
    pair both = {p, beside_function(module, p->name)};
    const beside_side soft = {soft_reset, soft_work, &both};
    const beside_side plain = {plain_reset, plain_work, &both};
    double took[2];
    fill(in, p->kind, 1);
    fill(in2, p->kind, 2);
    soft.reset(&both);
    soft.work(&both);
    plain.reset(&both);
    plain.work(&both);
    compare(p);
    beside_measure(&soft, &plain, samples, took);
    const double ratio = took[0] / took[1];
    printf("%-14s %11.1f %11.1f %8.2f   <= %.1f %s\n", p->name, took[0], took[1], ratio,
           p->bar, ratio <= p->bar ? "" : "MISSED");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *threads = argc > 2 ? argv[2] : "2", *only = argc > 3 ? argv[3] : NULL;
    if (argc > 1)
        samples = (unsigned)atoi(argv[1]);
    if (samples < 1 || samples > BESIDE_SAMPLES_MAX || atoi(threads) < 1) {
        fprintf(stderr,
                "usage: bench_patterns [SAMPLES [THREADS [PATTERN]]], 1 to %d samples\n",
                BESIDE_SAMPLES_MAX);
        return 2;
    }
    beside_open("bench_patterns", threads);
    module = beside_module(BENCH_PTX);
    union buffer *all[] = {&in, &in2, &out, &check, &state};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        all[i]->f = beside_memory(COUNT * sizeof(float));
    printf("microseconds a launch and wait, medians of %u, %s threads; C: -O3 "
           "-march=native -fopenmp\n\n"
           "pattern           softcuda           C    ratio   bar\n",
           samples, threads);
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        if (only == NULL || strcmp(only, patterns[i].name) == 0)
            measure(&patterns[i]);
    return 0;
}
