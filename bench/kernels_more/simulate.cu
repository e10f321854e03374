// SPDX-License-Identifier: Apache-2.0
/* Simulation and small linear algebra. */
#define KERNEL extern "C" __global__ void

KERNEL nbody_tile(float4 *force, const float4 *body, int n)
{
    __shared__ float4 tile[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 me = body[i];
    float ax = 0, ay = 0, az = 0;
    for (int first = 0; first < n; first += 128) {
        tile[threadIdx.x] = body[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 128; k++) {
            float4 o = tile[k];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float s = o.w * r * r * r;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        __syncthreads();
    }
    force[i] = make_float4(ax, ay, az, 0.0f);
}

/* Edges wrap around; sides are powers of two. */
KERNEL life(unsigned char *out, const unsigned char *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int left = (x - 1) & (width - 1), right = (x + 1) & (width - 1);
    int up = ((y - 1) & (height - 1)) * width, down = ((y + 1) & (height - 1)) * width;
    int row = y * width;
    int n = in[up + left] + in[up + x] + in[up + right] + in[row + left] + in[row + right] +
            in[down + left] + in[down + x] + in[down + right];
    out[row + x] = n == 3 || (n == 2 && in[row + x]);
}

/* One stage of a radix-2 transform of n complex numbers, from one buffer to the other. */
KERNEL fft_stage(float2 *out, const float2 *in, int n, int span)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n / 2)
        return;
    int k = t & (span - 1);
    float2 a = in[t], b = in[t + n / 2];
    float s, c;
    __sincosf(-3.14159265f * k / span, &s, &c);
    float2 r = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    int to = (t - k) * 2 + k;
    out[to] = make_float2(a.x + r.x, a.y + r.y);
    out[to + span] = make_float2(a.x - r.x, a.y - r.y);
}

KERNEL mandelbrot(int *out, int width, int height, int most)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float cr = x * 3.0f / width - 2.0f, ci = y * 2.0f / height - 1.0f, zr = 0, zi = 0;
    int n = 0;
    while (n < most && zr * zr + zi * zi < 4.0f) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
        n++;
    }
    out[y * width + x] = n;
}

/* Block (32, 8), a tile of 32 x 32 with a column that nobody reads. */
KERNEL transpose_padded(float *out, const float *in, int width, int height)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

/* A matrix of 8 x 8 a thread, number by number side by side: a[element][matrix]. */
KERNEL cholesky_batch(float *a, int batch)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch)
        return;
    float l[8][8];
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j <= i; j++)
            l[i][j] = a[(i * 8 + j) * batch + b];
#pragma unroll
    for (int j = 0; j < 8; j++) {
#pragma unroll
        for (int k = 0; k < j; k++)
            l[j][j] -= l[j][k] * l[j][k];
        l[j][j] = sqrtf(l[j][j]);
        float d = 1.0f / l[j][j];
#pragma unroll
        for (int i = j + 1; i < 8; i++) {
#pragma unroll
            for (int k = 0; k < j; k++)
                l[i][j] -= l[i][k] * l[j][k];
            l[i][j] *= d;
        }
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j <= i; j++)
            a[(i * 8 + j) * batch + b] = l[i][j];
}

/* Powers of 4 x 4 matrices by squaring, a matrix a thread. */
KERNEL matrix_power(float *out, const float *in, int exponent, int batch)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch)
        return;
    float x[16], r[16], t[16];
    for (int i = 0; i < 16; i++) {
        x[i] = in[b * 16 + i];
        r[i] = i % 5 == 0;
    }
    for (int e = exponent; e > 0; e >>= 1) {
        if (e & 1) {
            for (int i = 0; i < 16; i++) {
                t[i] = 0;
                for (int k = 0; k < 4; k++)
                    t[i] += r[i / 4 * 4 + k] * x[k * 4 + i % 4];
            }
            for (int i = 0; i < 16; i++)
                r[i] = t[i];
        }
        for (int i = 0; i < 16; i++) {
            t[i] = 0;
            for (int k = 0; k < 4; k++)
                t[i] += x[i / 4 * 4 + k] * x[k * 4 + i % 4];
        }
        for (int i = 0; i < 16; i++)
            x[i] = t[i];
    }
    for (int i = 0; i < 16; i++)
        out[b * 16 + i] = r[i];
}

/* Four taps of the past of each channel; channels side by side. */
KERNEL conv1d_depthwise(float *out, const float *in, const float *weight, const float *bias,
                        int channels, int steps)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y;
    if (c >= channels)
        return;
    float sum = bias[c];
    for (int k = 0; k < 4; k++)
        if (t + k >= 3)
            sum += weight[c * 4 + k] * in[(t + k - 3) * channels + c];
    out[t * channels + c] = sum;
}
