// SPDX-License-Identifier: Apache-2.0
// Simulation, finance, fractals, transforms, dynamic programming.

#define KERNEL extern "C" __global__ void
typedef unsigned int u32;

KERNEL nbody_naive(const float4 *body, float4 *force, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 me = body[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
        float4 other = body[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
        float inverse = 1.0f / sqrtf(d2), f = other.w * inverse * inverse * inverse;
        ax += f * dx;
        ay += f * dy;
        az += f * dz;
    }
    force[i] = make_float4(ax, ay, az, 0.0f);
}

KERNEL nbody_tiled(const float4 *body, float4 *force, int n)
{
    __shared__ float4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = body[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int base = 0; base < n; base += 64) {
        tile[threadIdx.x] = body[base + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 64; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float f = tile[j].w * inverse * inverse * inverse;
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
        __syncthreads();
    }
    force[i] = make_float4(ax, ay, az, 0.0f);
}

KERNEL mandelbrot(int *out, int width, int height, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float cr = -2.0f + 3.0f * (float)x / (float)width, ci = -1.0f + 2.0f * (float)y / (float)height;
    float zr = 0.0f, zi = 0.0f;
    int i = 0;
    while (i < limit && zr * zr + zi * zi < 4.0f) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
        i++;
    }
    out[y * width + x] = i;
}

KERNEL julia_double(int *out, int width, double cr, double ci)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % width, y = i / width;
    double zr = 3.0 * x / width - 1.5, zi = 3.0 * y / width - 1.5;
    int n = 0;
    for (; n < 64; n++) {
        double r2 = zr * zr, i2 = zi * zi;
        if (r2 + i2 > 4.0)
            break;
        zi = 2.0 * zr * zi + ci;
        zr = r2 - i2 + cr;
    }
    out[i] = n;
}

__device__ float normal_cdf(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float c = 0.39894228f * expf(-0.5f * d * d) *
              (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f +
               k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0.0f ? 1.0f - c : c;
}
KERNEL black_scholes(const float *spot, const float *strike, const float *years, float *call,
                     float *put, float rate, float volatility, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = spot[i] * 50.0f + 5.0f, x = strike[i] * 50.0f + 5.0f, t = years[i] * 5.0f + 0.25f;
    float root = sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root, discount = expf(-rate * t);
    call[i] = s * normal_cdf(d1) - x * discount * normal_cdf(d2);
    put[i] = x * discount * normal_cdf(-d2) - s * normal_cdf(-d1);
}

__device__ u32 next_random(u32 *state)
{
    u32 old = *state;
    *state = old * 747796405u + 2891336453u;
    u32 word = ((old >> ((old >> 28) + 4)) ^ old) * 277803737u;
    return (word >> 22) ^ word;
}
KERNEL monte_carlo_pi(u32 seed, int trials, u32 *inside)
{
    u32 state = seed + blockIdx.x * blockDim.x + threadIdx.x, hits = 0;
    for (int i = 0; i < trials; i++) {
        float x = (float)(next_random(&state) >> 8) * (1.0f / 16777216.0f);
        float y = (float)(next_random(&state) >> 8) * (1.0f / 16777216.0f);
        hits += x * x + y * y < 1.0f;
    }
    atomicAdd(inside, hits);
}

KERNEL random_walk(u32 seed, int steps, int *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, x = 0, y = 0;
    u32 state = seed ^ t;
    for (int i = 0; i < steps; i++) {
        switch (next_random(&state) & 3) {
        case 0: x++; break;
        case 1: x--; break;
        case 2: y++; break;
        default: y--; break;
        }
    }
    out[2 * t] = x;
    out[2 * t + 1] = y;
}

KERNEL binomial_option(const float *spot, float *out, float up, float down, float p, float discount)
{
    __shared__ float value[2][65];
    int t = threadIdx.x, from = 0;
    float s = spot[blockIdx.x] * 20.0f + 90.0f;
    for (int i = 0; i < t; i++)
        s *= up;
    for (int i = t; i < 64; i++)
        s *= down;
    value[0][t] = fmaxf(s - 100.0f, 0.0f);
    __syncthreads();
    for (int step = 62; step >= 0; step--) {
        if (t <= step)
            value[1 - from][t] = discount * (p * value[from][t + 1] + (1.0f - p) * value[from][t]);
        from = 1 - from;
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = value[from][0];
}

KERNEL lorenz_rk4(double *state, int steps, double h)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    double x[3] = {1.0 + 0.001 * t, 1.0, 1.0};
    for (int s = 0; s < steps; s++) {
        double k[4][3];
#pragma unroll
        for (int stage = 0; stage < 4; stage++) {
            double w = stage == 0 ? 0.0 : stage == 3 ? h : 0.5 * h, p[3];
#pragma unroll
            for (int i = 0; i < 3; i++)
                p[i] = stage == 0 ? x[i] : x[i] + w * k[stage - 1][i];
            k[stage][0] = 10.0 * (p[1] - p[0]);
            k[stage][1] = p[0] * (28.0 - p[2]) - p[1];
            k[stage][2] = p[0] * p[1] - 8.0 / 3.0 * p[2];
        }
        for (int i = 0; i < 3; i++)
            x[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
    }
    for (int i = 0; i < 3; i++)
        state[3 * t + i] = x[i];
}

KERNEL collatz_lengths(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = i + 1;
    int steps = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        steps++;
    }
    out[i] = steps;
}

KERNEL sieve_block(int *primes_below)
{
    __shared__ unsigned char composite[1024];
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += blockDim.x)
        composite[i] = i < 2;
    __syncthreads();
    for (int p = 2; p * p < 1024; p++) {
        if (!composite[p])
            for (int i = p * p + t * p; i < 1024; i += blockDim.x * p)
                composite[i] = 1;
        __syncthreads();
    }
    for (int i = t; i < 1024; i += blockDim.x)
        primes_below[i] = !composite[i];
}

struct spring {
    float stiffness, damping, dt;
    int steps;
};
KERNEL oscillators(spring params, float2 *state, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 s = state[i];
    for (int k = 0; k < params.steps; k++) {
        float a = -params.stiffness * s.x - params.damping * s.y;
        s.y += a * params.dt;
        s.x += s.y * params.dt;
    }
    state[i] = s;
}

// ---- transforms ----

KERNEL fft64_shared(const float2 *in, float2 *out)
{
    __shared__ float2 s[64];
    int t = threadIdx.x, base = blockIdx.x * 64;
    for (int i = t; i < 64; i += 32)
        s[__brev(i) >> 26] = in[base + i];
    __syncthreads();
    for (int half = 1; half < 64; half *= 2) {
        int k = t % half, a = t / half * 2 * half + k, b = a + half;
        float sine, cosine;
        sincospif(-(float)k / (float)half, &sine, &cosine);
        float2 u = s[a], v = s[b];
        float2 w = make_float2(v.x * cosine - v.y * sine, v.x * sine + v.y * cosine);
        s[a] = make_float2(u.x + w.x, u.y + w.y);
        s[b] = make_float2(u.x - w.x, u.y - w.y);
        __syncthreads();
    }
    for (int i = t; i < 64; i += 32)
        out[base + i] = s[i];
}

KERNEL dft_naive(const float *in, float2 *out, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    float re = 0.0f, im = 0.0f;
    for (int i = 0; i < n; i++) {
        float sine, cosine;
        sincosf(-6.2831853f * (float)(i * k % n) / (float)n, &sine, &cosine);
        re += in[i] * cosine;
        im += in[i] * sine;
    }
    out[k] = make_float2(re, im);
}

KERNEL walsh_hadamard(const int *in, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    s[t] = in[base + t];
    s[t + 128] = in[base + t + 128];
    for (int half = 1; half < 256; half *= 2) {
        __syncthreads();
        int a = t / half * 2 * half + t % half, x = s[a], y = s[a + half];
        s[a] = x + y;
        s[a + half] = x - y;
    }
    __syncthreads();
    out[base + t] = s[t];
    out[base + t + 128] = s[t + 128];
}

KERNEL haar_step(const float *in, float *low, float *high, int half)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < half) {
        low[i] = (in[2 * i] + in[2 * i + 1]) * 0.5f;
        high[i] = (in[2 * i] - in[2 * i + 1]) * 0.5f;
    }
}

// ---- dynamic programming ----

KERNEL lcs_wavefront(const unsigned char *a, const unsigned char *b, int *out)
{
    __shared__ int row[3][65];
    int t = threadIdx.x, pair = blockIdx.x;
    row[0][t] = row[1][t] = row[2][t] = 0;
    if (t == 0)
        row[0][64] = row[1][64] = row[2][64] = 0;
    __syncthreads();
    for (int d = 0; d < 127; d++) {
        int j = d - t;
        if (j >= 0 && j < 64) {
            // row[x][i]: anti-diagonal x, row i (1-based)
            int diagonal = j == 0 ? 0 : row[(d + 1) % 3][t];
            int left = j == 0 ? 0 : row[(d + 2) % 3][t + 1], up = row[(d + 2) % 3][t];
            if (t == 0)
                diagonal = up = 0;
            row[d % 3][t + 1] = (a[pair * 64 + t] & 3) == (b[pair * 64 + j] & 3)
                                    ? diagonal + 1
                                    : max(left, up);
        }
        __syncthreads();
    }
    if (t == 63)
        out[pair] = row[126 % 3][64];
}

KERNEL edit_distance(const unsigned char *a, const unsigned char *b, int *out, int pairs)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= pairs)
        return;
    int row[17];
    for (int j = 0; j <= 16; j++)
        row[j] = j;
    for (int i = 1; i <= 16; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= 16; j++) {
            int cost = diagonal + ((a[16 * t + i - 1] & 3) != (b[16 * t + j - 1] & 3));
            diagonal = row[j];
            row[j] = min(cost, min(row[j], row[j - 1]) + 1);
        }
    }
    out[t] = row[16];
}

KERNEL knapsack_block(const int *weight, const int *value, int *out, int items)
{
    __shared__ int best[2][128];
    int t = threadIdx.x, from = 0;
    best[0][t] = 0;
    __syncthreads();
    for (int i = 0; i < items; i++) {
        int w = weight[blockIdx.x * items + i] % 30 + 1, v = value[blockIdx.x * items + i] % 100;
        int x = best[from][t];
        if (t >= w)
            x = max(x, best[from][t - w] + v);
        best[1 - from][t] = x;
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = best[from][t];
}

KERNEL floyd_warshall_block(const int *in, int *out)
{
    __shared__ int d[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    d[y][x] = x == y ? 0 : in[blockIdx.x * 256 + y * 16 + x] % 100 + 1;
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        int through = d[y][k] + d[k][x];
        __syncthreads();
        if (through < d[y][x])
            d[y][x] = through;
        __syncthreads();
    }
    out[blockIdx.x * 256 + y * 16 + x] = d[y][x];
}
