// SPDX-License-Identifier: Apache-2.0
/* The kernels of kernels/bench.cu on softcuda against the same loops in C with OpenMP:
 * each in cache and out of cache, both sides in turn, medians, ratio. One sample is a few
 * launches in a row and a synchronize, against as many parallel regions. bench_kernels
 * [SAMPLES [KERNEL]]          (default 15, all) */
#include <gph/gph.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels_c.h"

#define SAMPLES_MAX 101

static gph_error error;
static const gph_cuda_calls *cu;
static CUstream stream;
static CUmodule module;

static void must(gph_status status, const char *what)
{
    if (status != GPH_OK) {
        fprintf(stderr, "bench_kernels: %s: %s %s\n", what, error.message, error.hint);
        exit(1);
    }
}
#define CU(name, ...)                                                                    \
    must(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error), #name)

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* One case: the same data on both sides; softcuda's device memory is host memory, so both
 * sides read the very same bytes. */
struct bench_case {
    const char *name;
    size_t n, m; /* elements, or rows and columns */
    int repeats; /* launches a sample */
    float *in, *in2, *out, *check;
};

static float *device_floats(size_t count, unsigned seed)
{
    CUdeviceptr at;
    CU(MemAlloc, &at, count * sizeof(float));
    float *p = (float *)(uintptr_t)at;
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = (float)(seed >> 8) / 16777216.0f - 0.5f;
    }
    return p;
}

static void launch(const char *kernel, const unsigned grid[2], const unsigned block[2],
                   void **params)
{
    static struct {
        const char *name;
        CUfunction function;
    } known[16];
    size_t i = 0;
    while (known[i].name && strcmp(known[i].name, kernel) != 0)
        i++;
    if (known[i].name == NULL) {
        CU(ModuleGetFunction, &known[i].function, module, kernel);
        known[i].name = kernel;
    }
    CU(LaunchKernel, known[i].function, grid[0], grid[1], 1, block[0], block[1], 1, 0,
       stream, params, NULL);
}

static void soft_side(const struct bench_case *c)
{
    unsigned n = (unsigned)c->n, m = (unsigned)c->m;
    float a = 1.0001f;
    const unsigned line[2] = {256, 1};
    if (strcmp(c->name, "saxpy") == 0)
        launch("saxpy", (unsigned[]){n / 256, 1}, line,
               (void *[]){(void *)&c->out, (void *)&c->in, &a, &n});
    else if (strcmp(c->name, "copy") == 0)
        launch("copy", (unsigned[]){n / 256, 1}, line,
               (void *[]){(void *)&c->out, (void *)&c->in, &n});
    else if (strcmp(c->name, "transpose") == 0)
        launch("transpose", (unsigned[]){m / 32, n / 32}, (unsigned[]){32, 8},
               (void *[]){(void *)&c->out, (void *)&c->in, &m, &n});
    else if (strcmp(c->name, "gemv") == 0)
        launch("gemv", (unsigned[]){n / 256, 1}, line,
               (void *[]){(void *)&c->out, (void *)&c->in, (void *)&c->in2, &n, &m});
    else if (strcmp(c->name, "reduce") == 0)
        launch("reduce", (unsigned[]){64, 1}, line,
               (void *[]){(void *)&c->out, (void *)&c->in, &n});
    else if (strcmp(c->name, "softmax") == 0)
        launch("softmax_rows", (unsigned[]){n, 1}, line,
               (void *[]){(void *)&c->out, (void *)&c->in, &m});
    else
        launch("matmul_tiled", (unsigned[]){n / 16, n / 16}, (unsigned[]){16, 16},
               (void *[]){(void *)&c->out, (void *)&c->in, (void *)&c->in2, &n});
}

static void c_side(const struct bench_case *c)
{
    if (strcmp(c->name, "saxpy") == 0)
        c_saxpy(c->check, c->in, 1.0001f, c->n);
    else if (strcmp(c->name, "copy") == 0)
        c_copy(c->check, c->in, c->n);
    else if (strcmp(c->name, "transpose") == 0)
        c_transpose(c->check, c->in, c->m, c->n);
    else if (strcmp(c->name, "gemv") == 0)
        c_gemv(c->check, c->in, c->in2, c->n, c->m);
    else if (strcmp(c->name, "reduce") == 0)
        c->check[0] = c_reduce(c->in, c->n);
    else if (strcmp(c->name, "softmax") == 0)
        c_softmax_rows(c->check, c->in, c->n, c->m);
    else
        c_matmul(c->check, c->in, c->in2, c->n);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Both sides agree, or the figures mean nothing. */
static void compare(const struct bench_case *c, size_t count)
{
    if (strcmp(c->name, "reduce") == 0) {
        double sum = 0;
        for (int i = 0; i < 64; i++)
            sum += (double)c->out[i];
        if (fabs(sum - (double)c->check[0]) > 1e-4 * (double)c->n) {
            fprintf(stderr, "reduce: %g against %g\n", sum, (double)c->check[0]);
            exit(1);
        }
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(c->out[i] - c->check[i]) <= 1e-3f + 1e-3f * fabsf(c->check[i]))) {
            fprintf(stderr, "%s: element %zu is %g against %g\n", c->name, i,
                    (double)c->out[i], (double)c->check[i]);
            exit(1);
        }
}

/* Threads of the side that ran last spin for a while, on the other side's cores. */
static void settle(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void measure(struct bench_case *c, int samples, const char *place, double bar)
{
    const bool is_square = strcmp(c->name, "matmul") == 0;
    const size_t inner = c->m ? c->n * c->m : c->n;
    const size_t elements = is_square ? c->n * c->n : inner;
    const size_t results = strcmp(c->name, "gemv") == 0 ? c->n : elements;
    c->in = device_floats(elements, 1);
    c->in2 = device_floats(is_square ? elements : c->m + 1, 2);
    c->out = device_floats(results, 3);
    c->check = device_floats(results, 3);
    double soft[SAMPLES_MAX], plain[SAMPLES_MAX];
    for (int s = -2; s < samples; s++) {
        settle();
        const double t0 = now_us();
        for (int r = 0; r < c->repeats; r++)
            soft_side(c);
        CU(StreamSynchronize, stream);
        const double t1 = now_us();
        settle();
        const double t2 = now_us();
        for (int r = 0; r < c->repeats; r++)
            c_side(c);
        const double t3 = now_us();
        if (s == -2)
            compare(c, results);
        if (s >= 0) {
            soft[s] = (t1 - t0) / c->repeats;
            plain[s] = (t3 - t2) / c->repeats;
        }
    }
    qsort(soft, (size_t)samples, sizeof(double), by_value);
    qsort(plain, (size_t)samples, sizeof(double), by_value);
    const double a = soft[samples / 2], b = plain[samples / 2];
    printf("%-10s %-13s %11.1f %11.1f %8.2f   <= %.1f %s\n", c->name, place, a, b, a / b,
           bar, a / b <= bar ? "" : "MISSED");
    CU(MemFree, (CUdeviceptr)(uintptr_t)c->in);
    CU(MemFree, (CUdeviceptr)(uintptr_t)c->in2);
    CU(MemFree, (CUdeviceptr)(uintptr_t)c->out);
    CU(MemFree, (CUdeviceptr)(uintptr_t)c->check);
}

static void open_soft(void)
{
    static char ptx[1 << 20];
    FILE *file = fopen(BENCH_PTX, "rb");
    if (file == NULL || fread(ptx, 1, sizeof(ptx) - 1, file) == 0 || fclose(file) != 0) {
        perror(BENCH_PTX);
        exit(1);
    }
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = GPH_DRIVER_SOFT;
    gph_runtime *gph;
    CUcontext context;
    must(gph_open(&options, &gph, &error), "gph_open");
    cu = gph_cuda(gph);
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(ModuleLoadData, &module, ptx);
    CU(StreamCreate, &stream, 1);
}

int main(int argc, char **argv)
{
    setenv("SOFTCUDA_TIER", "best", 0); /* what a kernel that runs often comes to */
    int samples = argc > 1 ? atoi(argv[1]) : 15;
    const char *only = argc > 2 ? argv[2] : NULL;
    if (samples < 1 || samples > SAMPLES_MAX) {
        fprintf(stderr, "usage: bench_kernels [SAMPLES [KERNEL]], 1 to %d\n",
                SAMPLES_MAX);
        return 2;
    }
    open_soft();
    static const struct {
        const char *name;
        double bar;
        size_t n, m, big_n, big_m;
        int repeats;
    } rows[] = {{"saxpy", 1.3, 1 << 18, 0, 1 << 25, 0, 20},
                {"copy", 1.3, 1 << 18, 0, 1 << 25, 0, 20},
                {"transpose", 1.3, 512, 512, 4096, 4096, 20},
                {"gemv", 1.3, 1024, 256, 8192, 4096, 20},
                {"reduce", 1.5, 1 << 18, 0, 1 << 25, 0, 20},
                {"softmax", 1.5, 256, 1024, 8192, 4096, 20},
                {"matmul", 1.5, 256, 0, 1024, 0, 4}};
    printf("microseconds a launch, medians of %d; C: gcc -O3 -march=native -fopenmp\n\n",
           samples);
    printf("kernel     data             softcuda           C    ratio   bar\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (only != NULL && strcmp(only, rows[i].name) != 0)
            continue;
        struct bench_case c = {.name = rows[i].name,
                               .n = rows[i].n,
                               .m = rows[i].m,
                               .repeats = rows[i].repeats};
        measure(&c, samples, "in cache", rows[i].bar);
        c.n = rows[i].big_n;
        c.m = rows[i].big_m;
        c.repeats = 1;
        measure(&c, samples, "out of cache", rows[i].bar);
    }
    return 0;
}
