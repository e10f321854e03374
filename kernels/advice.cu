// SPDX-License-Identifier: Apache-2.0
/* What bench/advice lets run beside the other kernels: one too small to count, one as
 * long as it is reported, and the layers of a small convolutional net. */
#include "math.cuh"

/* x = x a + b, a few elements. */
KERNEL tiny(float *x, float a, float b, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = fmaf(x[i], a, b);
}

/* The same `rounds` times, one after the other. */
KERNEL spin(float *x, u32 rounds)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (u32 r = 0; r < rounds; r++)
        value = fmaf(value, 0.999f, 0.001f);
    x[i] = value;
}

/* out[o][y][x] = relu(sum of in[c][y + dy][x + dx] * w[o][c][dy][dx]): 3 x 3 with a zero
 * border. A thread an output. */
KERNEL conv3(float *out, const float *in, const float *w, u32 ins, u32 outs, u32 size)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outs * size * size)
        return;
    const u32 x = i % size, y = i / size % size, o = i / (size * size);
    float sum = 0.0f;
    for (u32 c = 0; c < ins; c++) {
        const float *from = in + c * size * size, *weight = w + (o * ins + c) * 9;
        for (u32 k = 0; k < 9; k++) {
            const u32 at_x = x + k % 3, at_y = y + k / 3; /* one more than it is */
            if (at_x > 0 && at_x <= size && at_y > 0 && at_y <= size)
                sum = fmaf(from[(at_y - 1) * size + at_x - 1], weight[k], sum);
        }
    }
    out[i] = sum > 0.0f ? sum : 0.0f;
}

/* The greatest of 2 x 2; `size` is that of the input. */
KERNEL pool2(float *out, const float *in, u32 channels, u32 size)
{
    const u32 half = size / 2, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= channels * half * half)
        return;
    const u32 x = i % half, y = i / half % half, c = i / (half * half);
    const float *from = in + c * size * size + 2 * y * size + 2 * x;
    out[i] = fmaxf(fmaxf(from[0], from[1]), fmaxf(from[size], from[size + 1]));
}
