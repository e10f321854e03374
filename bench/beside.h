// SPDX-License-Identifier: Apache-2.0
/* Kernels on softcuda beside plain C for the same work: both read the same bytes, as
 * softcuda's device memory is host memory, and run in turn. What fails ends the program. */
#ifndef BENCH_BESIDE_H
#define BENCH_BESIDE_H
#include <gph/gph.h>

#define BESIDE_SAMPLES_MAX 101

/* Threads on both sides; the kernels are compiled with all optimizations at once, as one that
 * runs often is in the end, unless the environment says otherwise. `program` is for
 * messages: lent. */
void beside_open(const char *program, const char *threads);

CUmodule beside_module(const char *path);
CUfunction beside_function(CUmodule module, const char *name);

/* Of the device; zeros are not promised. beside_free() takes NULL. */
void *beside_memory(size_t bytes);
void beside_free(void *memory);

/* Launches and waits. */
void beside_launch(CUfunction function, const unsigned grid[3], const unsigned block[3],
                   void **params);

/* One of the two sides. */
typedef struct beside_side {
    void (*reset)(void *user); /* before each run of `work`, not timed */
    void (*work)(void *user);
    void *user;
} beside_side;

/* Microseconds: the medians of `samples` of each side in turn; a sample is the fastest of a
 * few, since a machine that others use as well only adds. */
void beside_measure(const beside_side *soft, const beside_side *plain, unsigned samples,
                    double medians[2]);

#endif
