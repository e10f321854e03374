// SPDX-License-Identifier: Apache-2.0
/* The kernels of this folder on softcuda against the best C for the same work, in turn,
 * medians, ratios and how those are distributed; what is in the cache, so that the code counts
 * and not the memory. They were written without a look at the compiler.
 *
 *   bench_kernels_more [SAMPLES [THREADS [KERNEL]]]          (default 9, 2, all)
 *   bench_kernels_more --check [KERNEL]      small sizes, results alone: a test */
#include "more.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/beside.h"
#include "bench/sample.h"

#define KERNELS_MAX 200

/* Arguments ------------------------------------------------------------------------ */

static more_argument *next_argument(more_job *job)
{
    if (job->count == MORE_ARGUMENTS)
        abort();
    return &job->a[job->count++];
}

void *more_input(more_job *job, size_t bytes)
{
    more_argument *a = next_argument(job);
    a->bytes = bytes;
    a->device = a->plain = beside_memory(bytes);
    memset(a->device, 0, bytes);
    return a->device;
}

uint32_t more_random_number(more_job *job)
{
    job->seed = job->seed * 1664525u + 1013904223u;
    return job->seed ^ job->seed >> 16;
}

float more_random_float(more_job *job, float low, float high)
{
    return low + (high - low) * (float)(more_random_number(job) >> 8) / 16777216.0f;
}

float *more_floats(more_job *job, size_t count, float low, float high)
{
    float *to = more_input(job, count * sizeof(*to));
    for (size_t i = 0; i < count; i++)
        to[i] = more_random_float(job, low, high);
    return to;
}

uint32_t *more_numbers(more_job *job, size_t count, uint32_t below)
{
    uint32_t *to = more_input(job, count * sizeof(*to));
    for (size_t i = 0; i < count; i++)
        to[i] = below ? more_random_number(job) % below : more_random_number(job);
    return to;
}

uint8_t *more_bytes(more_job *job, size_t count)
{
    uint8_t *to = more_input(job, count);
    for (size_t i = 0; i < count; i++)
        to[i] = (uint8_t)(more_random_number(job) >> 9);
    return to;
}

void more_result(more_job *job, size_t bytes, enum more_kind kind)
{
    more_argument *a = next_argument(job);
    a->bytes = bytes;
    a->kind = kind;
    a->device = beside_memory(bytes);
    a->plain = beside_memory(bytes);
    memset(a->device, 0, bytes);
    memset(a->plain, 0, bytes);
}

void *more_updated(more_job *job, size_t bytes, enum more_kind kind)
{
    more_result(job, bytes, kind);
    more_argument *a = &job->a[job->count - 1];
    a->initial = beside_memory(bytes);
    return memset(a->initial, 0, bytes);
}

void more_number(more_job *job, size_t number)
{
    next_argument(job)->number = (uint32_t)number;
}

void more_real(more_job *job, float real)
{
    more_argument *a = next_argument(job);
    a->real = real;
    a->is_real = true;
}

void more_line(more_job *job, size_t threads, unsigned block)
{
    more_plane(job, threads, 1, block, 1);
}

void more_plane(more_job *job, size_t width, size_t height, unsigned x, unsigned y)
{
    job->block[0] = x;
    job->block[1] = y;
    job->grid[0] = (unsigned)((width + x - 1) / x);
    job->grid[1] = (unsigned)((height + y - 1) / y);
    job->grid[2] = job->block[2] = 1;
}

/* Both sides ------------------------------------------------------------------------ */

typedef struct run {
    const more_kernel *kernel;
    CUfunction function;
    more_job job;
} run;

static void reset(more_job *job, bool plain)
{
    for (unsigned i = 0; i < job->count; i++)
        if (job->a[i].initial)
            memcpy(plain ? job->a[i].plain : job->a[i].device, job->a[i].initial,
                   job->a[i].bytes);
}
static void soft_reset(void *user)
{
    reset(&((run *)user)->job, false);
}
static void plain_reset(void *user)
{
    reset(&((run *)user)->job, true);
}

static void soft_work(void *user)
{
    run *r = user;
    void *params[MORE_ARGUMENTS];
    for (unsigned i = 0; i < r->job.count; i++) {
        more_argument *a = &r->job.a[i];
        params[i] = a->device ? (void *)&a->device
                              : (a->is_real ? (void *)&a->real : (void *)&a->number);
    }
    beside_launch(r->function, r->job.grid, r->job.block, params);
}
static void plain_work(void *user)
{
    run *r = user;
    r->kernel->plain(&r->job);
}

static double value_at(const void *from, enum more_kind kind, size_t i)
{
    more_half h;
    switch (kind) {
    case MORE_FLOATS: return (double)((const float *)from)[i];
    case MORE_BYTES: return (double)((const uint8_t *)from)[i];
    case MORE_HALVES:
        memcpy(&h, (const uint16_t *)from + i, sizeof(h));
        return (double)(float)h;
    case MORE_BRAINS: return (double)more_of_brain(((const uint16_t *)from)[i]);
    default: return (double)((const uint32_t *)from)[i];
    }
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool same_argument(const run *r, unsigned argument)
{
    const more_argument *a = &r->job.a[argument];
    const size_t size = a->kind == MORE_BYTES                              ? 1
                        : a->kind == MORE_HALVES || a->kind == MORE_BRAINS ? 2
                                                                           : 4;
    const size_t count = a->bytes / size;
    if (a->kind == MORE_ANY_ORDER) {
        qsort(a->device, count, size, by_number);
        qsort(a->plain, count, size, by_number);
    }
    for (size_t i = 0; i < count; i++) {
        const double x = value_at(a->device, a->kind, i);
        const double y = value_at(a->plain, a->kind, i);
        const double unit = a->kind == MORE_BYTES ? 1 : 1 + fabs(y);
        if (fabs(x - y) <= r->kernel->slack * unit)
            continue;
        fprintf(stderr, "%s: element %zu of argument %u is %g, in C %g\n",
                r->kernel->name, i, argument, x, y);
        return false;
    }
    return true;
}

/* Both sides agree, or the figures mean nothing. */
static bool same(const run *r)
{
    bool is_same = true;
    for (unsigned i = 0; i < r->job.count; i++)
        if (r->job.a[i].kind != MORE_INPUT)
            is_same = same_argument(r, i) && is_same;
    return is_same;
}

static CUmodule module_of(const char *name)
{
    static struct {
        const char *name;
        CUmodule module;
    } known[16];
    char path[512];
    size_t i = 0;
    while (known[i].name && strcmp(known[i].name, name) != 0)
        i++;
    if (known[i].name)
        return known[i].module;
    snprintf(path, sizeof(path), "%s/%s.ptx", MORE_PTX, name);
    known[i].name = name;
    known[i].module = beside_module(path);
    return known[i].module;
}

static void release(run *r)
{
    for (unsigned i = 0; i < r->job.count; i++) {
        more_argument *a = &r->job.a[i];
        if (a->plain != a->device)
            beside_free(a->plain);
        beside_free(a->device);
        beside_free(a->initial);
    }
}

/* False where the results differ. `took`: microseconds, soft and plain; samples of 0: none. */
static bool try_kernel(const more_kernel *kernel, unsigned samples, double took[2])
{
    run r = {.kernel = kernel, .job = {.small = samples == 0, .seed = 1}};
    r.function = beside_function(module_of(kernel->module), kernel->name);
    kernel->prepare(&r.job);
    const beside_side soft = {soft_reset, soft_work, &r};
    const beside_side plain = {plain_reset, plain_work, &r};
    soft.reset(&r);
    soft.work(&r);
    plain.reset(&r);
    plain.work(&r);
    const bool is_same = same(&r);
    if (samples)
        beside_measure(&soft, &plain, samples, took);
    release(&r);
    return is_same;
}

/* The table ------------------------------------------------------------------------- */

static const more_kernel *const tables[] = {
    more_sparse, more_sort,   more_select,   more_attention, more_quant, more_backward,
    more_image,  more_random, more_simulate, more_text,      more_rows};

static void print_distribution(double *ratios, int count)
{
    const double limits[] = {1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 1e30};
    if (count == 0)
        return;
    const double middle = median(ratios, count); /* which sorts them */
    printf("\n%d kernels: median %.2f, worst %.2f\n", count, middle, ratios[count - 1]);
    for (int i = 0, k = 0; k < 8; k++) {
        const int from = i;
        while (i < count && ratios[i] <= limits[k])
            i++;
        if (k < 7)
            printf("to %4.1f  %3d\n", limits[k], i - from);
        else
            printf("over     %3d\n", i - from);
    }
}

static int run_all(unsigned samples, const char *only)
{
    static double ratios[KERNELS_MAX];
    int count = 0, wrong = 0;
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (const more_kernel *k = tables[t]; k->name; k++) {
            double took[2];
            if (only && strcmp(only, k->name) != 0)
                continue;
            if (!try_kernel(k, samples, took)) {
                wrong++;
                continue;
            }
            if (samples) {
                printf("%-10s %-20s %11.1f %11.1f %8.2f\n", k->module, k->name, took[0],
                       took[1], took[0] / took[1]);
                ratios[count] = took[0] / took[1];
                fflush(stdout);
            }
            count++;
        }
    if (samples)
        print_distribution(ratios, count);
    else
        printf("%d kernels agree with C, %d differ\n", count, wrong);
    return wrong > 0 || count == 0;
}

int main(int argc, char **argv)
{
    const bool check = argc > 1 && strcmp(argv[1], "--check") == 0;
    const int named = check ? 2 : 3;
    const char *threads = !check && argc > 2 ? argv[2] : "2";
    const int samples = check ? 0 : argc > 1 ? atoi(argv[1]) : 9;
    if (samples < !check || samples > BESIDE_SAMPLES_MAX || atoi(threads) < 1) {
        fprintf(
            stderr,
            "usage: bench_kernels_more [SAMPLES [THREADS [KERNEL]]], 1 to %d samples\n"
            "       bench_kernels_more --check [KERNEL]\n",
            BESIDE_SAMPLES_MAX);
        return 2;
    }
    beside_open("bench_kernels_more", threads);
    if (!check)
        printf("microseconds a launch and wait, medians of %d, %s threads; C: -O3 "
               "-march=native -fopenmp\n\n"
               "class      kernel                  softcuda           C    ratio\n",
               samples, threads);
    return run_all((unsigned)samples, argc > named ? argv[named] : NULL);
}
