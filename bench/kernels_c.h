// SPDX-License-Identifier: Apache-2.0
/* The kernels of kernels/bench.cu as plain C loops: the peer that bench/kernels times. */
#ifndef BENCH_KERNELS_C_H
#define BENCH_KERNELS_C_H
#include <stddef.h>

void c_saxpy(float *y, const float *x, float a, size_t n);
void c_copy(float *out, const float *in, size_t n);
void c_transpose(float *out, const float *in, size_t width, size_t height);
void c_gemv(float *y, const float *weight, const float *x, size_t rows, size_t columns);
float c_reduce(const float *in, size_t n);
void c_softmax_rows(float *out, const float *in, size_t rows, size_t width);
void c_matmul(float *c, const float *a, const float *b, size_t n);
#endif
