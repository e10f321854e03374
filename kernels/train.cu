// SPDX-License-Identifier: Apache-2.0
/* The kernels of a small network in mixed precision, for examples/train: weights and
 * activations in f16, sums, gradients and the master copy of the weights in f32. Sums are
 * taken in one order, and nothing is approximated by an instruction of the device, so
 * that runs can be compared bit by bit, those of different devices too. */
#include "math.cuh"

typedef _Float16 half;

/* e^x for x <= 0: 2^n times a polynomial of what is left, which is at most ln 2 / 2. */
__device__ __forceinline__ float exp_of(float x)
{
    if (x < -80.0f)
        return 0.0f;
    const float n = __nvvm_round_f(x * 1.4426950408889634f);
    float r = fmaf(n, -0.693145751953125f, x);
    r = fmaf(n, -1.428606765330187e-6f, r);
    float p = fmaf(r, 1.0f / 720, 1.0f / 120);
    p = fmaf(p, r, 1.0f / 24);
    p = fmaf(p, r, 1.0f / 6);
    p = fmaf(p, r, 0.5f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    return p * __int_as_float(((int)n + 127) << 23);
}

/* The logarithm of a normal x: its exponent, and the series of artanh for the rest. */
__device__ __forceinline__ float log_of(float x)
{
    const int bits = __float_as_int(x);
    const float m = __int_as_float((bits & 0x007fffff) | 0x3f800000);
    const float t = (m - 1.0f) / (m + 1.0f), t2 = t * t;
    float p = fmaf(t2, 1.0f / 13, 1.0f / 11);
    p = fmaf(p, t2, 1.0f / 9);
    p = fmaf(p, t2, 1.0f / 7);
    p = fmaf(p, t2, 1.0f / 5);
    p = fmaf(p, t2, 1.0f / 3);
    p = fmaf(p, t2, 1.0f);
    return fmaf((float)((bits >> 23) - 127), 0.6931471805599453f, 2.0f * t * p);
}

/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): four random words for a counter of
 * four words and a key of two. */
__device__ __forceinline__ void philox(u32 *c, u64 key)
{
    u32 k0 = (u32)key, k1 = (u32)(key >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const u32 high0 = __umulhi(0xD2511F53u, c[0]), low0 = 0xD2511F53u * c[0];
        const u32 high1 = __umulhi(0xCD9E8D57u, c[2]), low1 = 0xCD9E8D57u * c[2];
        c[0] = high1 ^ c[1] ^ k0;
        c[1] = low1;
        c[2] = high0 ^ c[3] ^ k1;
        c[3] = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

/* out[4 i] to out[4 i + 3]: random words of thread i, which lies `skip` blocks after the
 * generator's offset. rng: seed and offset. */
KERNEL philox_fill(u32 *out, u32 n, const u64 *rng, u32 skip)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const u64 offset = rng[1] + skip;
    u32 c[4] = {(u32)offset, (u32)(offset >> 32), i, 0};
    philox(c, rng[0]);
    for (int k = 0; k < 4; k++)
        out[4 * i + (u32)k] = c[k];
}

KERNEL to_half(half *y, const float *x, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (half)x[i];
}

/* y[row][out] = x[row][in] w[out][in] + b[out]; b lies after w. */
KERNEL linear(half *y, const half *x, const half *w, u32 rows, u32 ins, u32 outs)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * outs)
        return;
    const u32 row = i / outs, out = i % outs;
    float sum = (float)w[ins * outs + out];
    for (u32 k = 0; k < ins; k++)
        sum = fmaf((float)x[row * ins + k], (float)w[out * ins + k], sum);
    y[i] = (half)sum;
}

/* Negative ones are zero, and of the others one in four, as Philox has it. */
KERNEL relu_dropout(half *y, const half *x, u32 n, const u64 *rng, u32 skip)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const u64 offset = rng[1] + skip;
    u32 c[4] = {(u32)offset, (u32)(offset >> 32), i, 0};
    philox(c, rng[0]);
    const float value = (float)x[i];
    y[i] = (half)(value > 0.0f && c[0] >= 0x40000000u ? value * (4.0f / 3.0f) : 0.0f);
}

KERNEL relu_dropout_grad(half *dx, const half *dy, const half *y, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dx[i] = (half)((float)y[i] > 0.0f ? (float)dy[i] * (4.0f / 3.0f) : 0.0f);
}

/* Mean cross entropy of `rows` rows, and its gradient times the scale. One block of 32, a
 * thread a row. */
KERNEL loss_and_grad(float *loss, half *grad, const half *logits, const int *labels,
                     u32 outs, const float *scale)
{
    const u32 row = threadIdx.x;
    const half *z = logits + row * outs;
    float most = (float)z[0], sum = 0.0f;
    for (u32 k = 1; k < outs; k++)
        most = fmaxf(most, (float)z[k]);
    for (u32 k = 0; k < outs; k++)
        sum += exp_of((float)z[k] - most);
    const float log_sum = log_of(sum);
    const u32 label = (u32)labels[row];
    for (u32 k = 0; k < outs; k++) {
        const float p = exp_of((float)z[k] - most) / sum;
        grad[row * outs + k] =
            (half)((p - (k == label ? 1.0f : 0.0f)) * (*scale / (float)WARP));
    }
    const float total = warp_sum(log_sum + most - (float)z[label]);
    if (row == 0)
        *loss = total / (float)WARP;
}

/* dw[out][in] += dy[row][out] x[row][in], and the same for b after it. */
KERNEL weight_grad(float *dw, const half *dy, const half *x, u32 rows, u32 ins, u32 outs)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (ins + 1) * outs)
        return;
    const int is_bias = i >= ins * outs;
    const u32 out = is_bias ? i - ins * outs : i / ins, in = i % ins;
    float sum = dw[i];
    for (u32 row = 0; row < rows; row++)
        sum = fmaf((float)dy[row * outs + out], is_bias ? 1.0f : (float)x[row * ins + in],
                   sum);
    dw[i] = sum;
}

/* dx[row][in] = dy[row][out] w[out][in] */
KERNEL input_grad(half *dx, const half *dy, const half *w, u32 rows, u32 ins, u32 outs)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * ins)
        return;
    const u32 row = i / ins, in = i % ins;
    float sum = 0.0f;
    for (u32 k = 0; k < outs; k++)
        sum = fmaf((float)dy[row * outs + k], (float)w[k * ins + in], sum);
    dx[i] = (half)sum;
}

/* *overflow becomes nonzero if a gradient is not a number or infinite. */
KERNEL find_overflow(int *overflow, const float *grad, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (__float_as_int(grad[i]) & 0x7f800000) == 0x7f800000)
        atomicAdd(overflow, 1);
}

/* Momentum; nothing at all after an overflow. */
KERNEL optimize(float *w, float *velocity, const float *grad, u32 n, const float *scale,
                const int *overflow, float rate)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || *overflow != 0)
        return;
    velocity[i] = fmaf(0.9f, velocity[i], grad[i] / *scale);
    w[i] = fmaf(-rate, velocity[i], w[i]);
}

/* Halves the scale after an overflow, doubles it after 50 good steps. counts: good steps
 * since, steps skipped. One thread. */
KERNEL update_scale(float *scale, int *overflow, int *counts)
{
    if (*overflow != 0) {
        *scale = *scale * 0.5f;
        counts[0] = 0;
        counts[1]++;
    } else if (++counts[0] == 50) {
        *scale = *scale * 2.0f;
        counts[0] = 0;
    }
    *overflow = 0;
}
