// SPDX-License-Identifier: Apache-2.0
/* A clock, and the median of what it gave. Who includes it defines _GNU_SOURCE. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H
#include <stdlib.h>
#include <time.h>

static inline double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static inline int sample_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them; of an even number it is the upper one. */
static inline double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), sample_order);
    return values[count / 2];
}

/* Sorts them. What others on the machine do only adds, so this is what a thing takes. */
static inline double lower_quartile(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), sample_order);
    return values[count / 4];
}
#endif
