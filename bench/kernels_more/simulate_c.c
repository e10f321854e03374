// SPDX-License-Identifier: Apache-2.0
/* Simulation and small linear algebra: launches, and the same in C. */
#include "more.h"

static void prepare_bodies(more_job *job)
{
    const size_t n = more_size(job, 1024, 256);
    more_result(job, n * 16, MORE_FLOATS);
    more_floats(job, n * 4, -1, 1);
    more_number(job, n);
    more_line(job, n, 128);
}
static void plain_bodies(const more_job *job)
{
    float *force = more_at(job, 0);
    const float *body = more_at(job, 1);
    const int n = more_int(job, 2);
#pragma omp parallel for
    for (int first = 0; first < n; first += 32) {
        float ax[32] = {0}, ay[32] = {0}, az[32] = {0}, x[32], y[32], z[32];
        for (int i = 0; i < 32; i++) {
            x[i] = body[(first + i) * 4];
            y[i] = body[(first + i) * 4 + 1];
            z[i] = body[(first + i) * 4 + 2];
        }
        for (int k = 0; k < n; k++) {
            const float *o = body + k * 4;
#pragma omp simd
            for (int i = 0; i < 32; i++) {
                const float dx = o[0] - x[i], dy = o[1] - y[i], dz = o[2] - z[i];
                const float r = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
                const float s = o[3] * r * r * r;
                ax[i] += dx * s;
                ay[i] += dy * s;
                az[i] += dz * s;
            }
        }
        for (int i = 0; i < 32; i++) {
            const float all[4] = {ax[i], ay[i], az[i], 0};
            memcpy(force + (first + i) * 4, all, sizeof(all));
        }
    }
}

static void prepare_life(more_job *job)
{
    const size_t side = more_size(job, 512, 64);
    more_result(job, side * side, MORE_BYTES);
    uint8_t *in = more_input(job, side * side);
    for (size_t i = 0; i < side * side; i++)
        in[i] = more_random_number(job) % 3 == 0;
    more_number(job, side);
    more_number(job, side);
    more_plane(job, side, side, 32, 8);
}
static uint8_t lives(const uint8_t *a, const uint8_t *b, const uint8_t *c, int x,
                     int left, int right)
{
    const int n =
        a[left] + a[x] + a[right] + b[left] + b[right] + c[left] + c[x] + c[right];
    return (uint8_t)(n == 3 || (n == 2 && b[x]));
}
static void plain_life(const more_job *job)
{
    uint8_t *out = more_at(job, 0);
    const uint8_t *in = more_at(job, 1);
    const int width = more_int(job, 2), height = more_int(job, 3);
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        const uint8_t *a = in + ((y - 1) & (height - 1)) * width, *b = in + y * width;
        const uint8_t *c = in + ((y + 1) & (height - 1)) * width;
        uint8_t *to = out + y * width;
        to[0] = lives(a, b, c, 0, width - 1, 1);
#pragma omp simd
        for (int x = 1; x < width - 1; x++) {
            const uint8_t n = (uint8_t)(a[x - 1] + a[x] + a[x + 1] + b[x - 1] + b[x + 1] +
                                        c[x - 1] + c[x] + c[x + 1]);
            to[x] = (uint8_t)((n | b[x]) == 3);
        }
        to[width - 1] = lives(a, b, c, width - 1, width - 2, 0);
    }
}

static void prepare_fft(more_job *job)
{
    const size_t n = more_size(job, 131072, 1024);
    more_result(job, n * 8, MORE_FLOATS);
    more_floats(job, n * 2, -1, 1);
    more_number(job, n);
    more_number(job, 256);
    more_line(job, n / 2, 256);
}
/* The angles of a stage are computed once. */
static void plain_fft(const more_job *job)
{
    float *out = more_at(job, 0);
    const float *in = more_at(job, 1);
    const int n = more_int(job, 2), span = more_int(job, 3);
    float c[256], s[256];
    for (int k = 0; k < span; k++) {
        c[k] = cosf(-3.14159265f * (float)k / (float)span);
        s[k] = sinf(-3.14159265f * (float)k / (float)span);
    }
#pragma omp parallel for
    for (int first = 0; first < n / 2; first += span) {
        float *to = out + first * 4, *then = to + span * 2;
        const float *a = in + first * 2, *b = a + n;
#pragma omp simd
        for (int k = 0; k < span; k++) {
            const float x = b[k * 2] * c[k] - b[k * 2 + 1] * s[k];
            const float y = b[k * 2] * s[k] + b[k * 2 + 1] * c[k];
            to[k * 2] = a[k * 2] + x;
            to[k * 2 + 1] = a[k * 2 + 1] + y;
            then[k * 2] = a[k * 2] - x;
            then[k * 2 + 1] = a[k * 2 + 1] - y;
        }
    }
}

static void prepare_mandelbrot(more_job *job)
{
    const size_t width = more_size(job, 256, 40), height = more_size(job, 128, 20);
    more_result(job, width * height * 4, MORE_WORDS);
    more_number(job, width);
    more_number(job, height);
    more_number(job, 200);
    more_plane(job, width, height, 16, 16);
}
/* Eight points side by side until none goes on; squares are rounded, as the kernel's are,
 * since that decides after how many rounds a point leaves. */
static void eight_points(int *n, const float *cr, float ci, int most)
{
    float zr[8] = {0}, zi[8] = {0}, a[8] = {0}, b[8] = {0};
    int left = 1;
    for (int round = 0; round < most && left; round++) {
        left = 0;
#pragma omp simd reduction(| : left)
        for (int k = 0; k < 8; k++) {
            const int goes_on = (a[k] + b[k] < 4.0f) & (n[k] == round);
            n[k] += goes_on;
            left |= goes_on;
            zi[k] = fmaf(zr[k] + zr[k], zi[k], ci);
            zr[k] = a[k] - b[k] + cr[k];
            a[k] = zr[k] * zr[k];
            b[k] = zi[k] * zi[k];
        }
    }
}
static void plain_mandelbrot(const more_job *job)
{
    int *out = more_at(job, 0);
    const int width = more_int(job, 1), height = more_int(job, 2),
              most = more_int(job, 3);
#pragma omp parallel for schedule(dynamic, 4)
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x += 8) {
            float cr[8];
            int n[8] = {0};
            for (int k = 0; k < 8; k++)
                cr[k] = (float)(x + k) * 3.0f / (float)width - 2.0f;
            eight_points(n, cr, (float)y * 2.0f / (float)height - 1.0f, most);
            memcpy(out + y * width + x, n, sizeof(n));
        }
}

static void prepare_transpose(more_job *job)
{
    const size_t side = more_size(job, 512, 64);
    more_result(job, side * side * 4, MORE_FLOATS);
    more_floats(job, side * side, -1, 1);
    more_number(job, side);
    more_number(job, side);
    more_plane(job, side, side / 4, 32, 8);
}
/* By way of a tile that is small enough for the first cache, whose sets rows that are a
 * power of two apart would share. */
static void plain_transpose(const more_job *job)
{
    float *out = more_at(job, 0);
    const float *in = more_at(job, 1);
    const int width = more_int(job, 2), height = more_int(job, 3);
#pragma omp parallel for collapse(2)
    for (int y0 = 0; y0 < height; y0 += 32)
        for (int x0 = 0; x0 < width; x0 += 32) {
            float tile[32][33];
            for (int y = 0; y < 32; y++)
                for (int x = 0; x < 32; x++)
                    tile[x][y] = in[(y0 + y) * width + x0 + x];
            for (int x = 0; x < 32; x++)
                memcpy(out + (x0 + x) * height + y0, tile[x], 32 * 4);
        }
}

static void prepare_cholesky(more_job *job)
{
    const size_t batch = more_size(job, 2048, 304);
    float *a = more_updated(job, batch * 64 * 4, MORE_FLOATS);
    for (size_t i = 0; i < 64; i++)
        for (size_t b = 0; b < batch; b++)
            a[i * batch + b] = i % 9 == 0 ? 8 + more_random_float(job, 0, 1)
                                          : more_random_float(job, -1, 1);
    more_number(job, batch);
    more_line(job, batch, 128);
}
/* Sixteen matrices at a time, number by number side by side. */
static void cholesky_16(float *a, int batch)
{
    float l[8][8][16];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j <= i; j++)
            memcpy(l[i][j], a + (i * 8 + j) * batch, 64);
    for (int j = 0; j < 8; j++) {
        float d[16];
        for (int i = j; i < 8; i++) {
            for (int k = 0; k < j; k++)
#pragma omp simd
                for (int b = 0; b < 16; b++)
                    l[i][j][b] -= l[i][k][b] * l[j][k][b];
#pragma omp simd
            for (int b = 0; b < 16; b++) {
                const float root = sqrtf(l[j][j][b]);
                d[b] = i == j ? 1.0f / root : d[b];
                l[i][j][b] = i == j ? root : l[i][j][b] * d[b];
            }
        }
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j <= i; j++)
            memcpy(a + (i * 8 + j) * batch, l[i][j], 64);
}
static void plain_cholesky(const more_job *job)
{
    float *a = more_at(job, 0);
    const int batch = more_int(job, 1);
#pragma omp parallel for
    for (int first = 0; first < batch; first += 16)
        cholesky_16(a + first, batch);
}

static void prepare_power(more_job *job)
{
    const size_t batch = more_size(job, 8192, 300);
    more_result(job, batch * 64, MORE_FLOATS);
    more_floats(job, batch * 16, -0.5f, 0.5f);
    more_number(job, 13);
    more_number(job, batch);
    more_line(job, batch, 128);
}
typedef float four __attribute__((vector_size(16)));

static inline void times(four to[4], const four a[4], const four b[4])
{
    four t[4];
    for (int y = 0; y < 4; y++)
        t[y] = a[y][0] * b[0] + a[y][1] * b[1] + a[y][2] * b[2] + a[y][3] * b[3];
    memcpy(to, t, sizeof(t));
}
static void plain_power(const more_job *job)
{
    float *out = more_at(job, 0);
    const float *in = more_at(job, 1);
    const int exponent = more_int(job, 2), batch = more_int(job, 3);
#pragma omp parallel for
    for (int b = 0; b < batch; b++) {
        four x[4], r[4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
        memcpy(x, in + b * 16, sizeof(x));
        for (int e = exponent; e > 0; e >>= 1) {
            if (e & 1)
                times(r, r, x);
            if (e > 1)
                times(x, x, x);
        }
        memcpy(out + b * 16, r, sizeof(r));
    }
}

static void prepare_conv(more_job *job)
{
    const size_t channels = more_size(job, 1024, 100), steps = more_size(job, 256, 10);
    more_result(job, channels * steps * 4, MORE_FLOATS);
    more_floats(job, channels * steps, -1, 1);
    more_floats(job, channels * 4, -1, 1);
    more_floats(job, channels, -1, 1);
    more_number(job, channels);
    more_number(job, steps);
    more_plane(job, channels, steps, 128, 1);
}
/* Taps side by side first. */
static void plain_conv(const more_job *job)
{
    float *out = more_at(job, 0);
    const float *in = more_at(job, 1), *weight = more_at(job, 2), *bias = more_at(job, 3);
    const int channels = more_int(job, 4), steps = more_int(job, 5);
    static float taps[4][1024];
    for (int c = 0; c < channels * 4; c++)
        taps[c % 4][c / 4] = weight[c];
#pragma omp parallel for
    for (int t = 0; t < steps; t++) {
        const float *row = in + t * channels;
        float *to = out + t * channels;
        if (t >= 3)
#pragma omp simd
            for (int c = 0; c < channels; c++)
                to[c] = bias[c] + taps[0][c] * row[c - 3 * channels] +
                        taps[1][c] * row[c - 2 * channels] +
                        taps[2][c] * row[c - channels] + taps[3][c] * row[c];
        else
            for (int c = 0; c < channels; c++) {
                to[c] = bias[c];
                for (int k = 3 - t; k < 4; k++)
                    to[c] += taps[k][c] * row[c + (k - 3) * channels];
            }
    }
}

const more_kernel more_simulate[] = {
    {"nbody_tile", "simulate", prepare_bodies, plain_bodies, 1e-3},
    {"life", "simulate", prepare_life, plain_life, 0},
    {"fft_stage", "simulate", prepare_fft, plain_fft, 1e-5},
    {"mandelbrot", "simulate", prepare_mandelbrot, plain_mandelbrot, 0},
    {"transpose_padded", "simulate", prepare_transpose, plain_transpose, 0},
    {"cholesky_batch", "simulate", prepare_cholesky, plain_cholesky, 1e-4},
    {"matrix_power", "simulate", prepare_power, plain_power, 1e-4},
    {"conv1d_depthwise", "simulate", prepare_conv, plain_conv, 1e-5},
    {0}};
