// SPDX-License-Identifier: Apache-2.0
/* A step's kernels called in a plain C loop: no streams, no graph, no scheduler. The same
 * PTX, compiled by the same compiler; each thread of the team calls the block functions
 * of its share of every grid, and a spin barrier is between two kernels. */
#ifndef BENCH_STEP_PLAIN_H
#define BENCH_STEP_PLAIN_H

#include <gph/base.h>
#include <stdint.h>

typedef struct plain_step plain_step;

/* Compiles the PTX and starts threads - 1 threads, which sleep; the caller is the last of
 * the team. Ends the process, with a sentence, if that fails. */
plain_step *plain_step_create(const char *ptx, uint32_t threads);
void plain_step_destroy(plain_step *step);

/* Adds a kernel; arguments as for cuLaunchKernel, copied. grid and block: x and y. */
void plain_step_add(plain_step *step, const char *kernel, const uint32_t grid[2],
                    const uint32_t block[2], uint32_t shared_bytes, void **arguments);
uint32_t plain_step_count(const plain_step *step);
void plain_step_clear(plain_step *step);

/* Runs all kernels `times` times over. The time, in nanoseconds, from where the whole
 * team is awake. */
uint64_t plain_step_run(plain_step *step, uint32_t times);

#endif
