// SPDX-License-Identifier: Apache-2.0
/* What the kernels of kernels/patterns.cu compute, in C. */
#ifndef BENCH_PATTERNS_C_H
#define BENCH_PATTERNS_C_H

#include <stddef.h>
#include <stdint.h>

void c_rmsnorm(float *restrict out, const float *restrict in,
               const float *restrict weight, size_t rows, size_t width);
void c_gemv_rows(float *restrict y, const float *restrict weight, const float *restrict x,
                 size_t rows, size_t columns);
void c_scores(float *restrict out, const float *restrict query, const float *restrict key,
              size_t keys);
void c_scan_blocks(float *restrict out, const float *restrict in, size_t n);
void c_scan(uint32_t *restrict out, const uint32_t *restrict in, size_t n);
void c_stencil(float *restrict out, const float *restrict in, size_t width,
               size_t height);
void c_convolve(float *restrict out, const float *restrict in,
                const float *restrict weight, size_t width, size_t height);
void c_half2_chain(uint16_t *restrict y, const uint16_t *restrict x, const uint16_t a[2],
                   size_t n);
void c_bf162_chain(uint16_t *restrict y, const uint16_t *restrict x, const uint16_t a[2],
                   size_t n);
void c_histogram(uint32_t *restrict out, const uint32_t *restrict in, size_t words);
void c_gemv_dp4a(int32_t *restrict y, const int32_t *restrict weight,
                 const int32_t *restrict x, size_t rows, size_t words);
void c_sort_network(uint32_t *keys, size_t n);

#endif
