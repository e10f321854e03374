// SPDX-License-Identifier: Apache-2.0
/* Images of bytes: launches, and the same in C. */
#include "more.h"

static size_t side_of(const more_job *job)
{
    return more_size(job, 512, 50);
}

static void prepare_resize(more_job *job)
{
    const size_t to = side_of(job), from = to * 3 / 4;
    more_result(job, to * to, MORE_BYTES);
    more_bytes(job, from * from);
    more_number(job, from);
    more_number(job, from);
    more_number(job, to);
    more_number(job, to);
    more_plane(job, to, to, 16, 16);
}
static float place(int i, int from, int to)
{
    const float at = ((float)i + 0.5f) * (float)from / (float)to - 0.5f;
    return fminf(fmaxf(at, 0.0f), (float)from - 1.0f);
}
/* Where a column comes from is the same in each row. */
static void plain_resize(const more_job *job)
{
    uint8_t *out = more_at(job, 0);
    const uint8_t *in = more_at(job, 1);
    const int width = more_int(job, 2), height = more_int(job, 3);
    const int to_width = more_int(job, 4), to_height = more_int(job, 5);
    static int x0[512];
    static float ax[512];
    for (int x = 0; x < to_width; x++) {
        const float f = place(x, width, to_width);
        x0[x] = (int)f;
        ax[x] = f - (float)x0[x];
    }
#pragma omp parallel for
    for (int y = 0; y < to_height; y++) {
        const float fy = place(y, height, to_height);
        const int y0 = (int)fy, y1 = y0 + 1 < height ? y0 + 1 : height - 1;
        const uint8_t *upper = in + y0 * width, *lower = in + y1 * width;
        const float ay = fy - (float)y0;
#pragma omp simd
        for (int x = 0; x < to_width; x++) {
            const int a = x0[x], b = a + 1 < width ? a + 1 : width - 1;
            const float top = (float)upper[a] * (1 - ax[x]) + (float)upper[b] * ax[x];
            const float low = (float)lower[a] * (1 - ax[x]) + (float)lower[b] * ax[x];
            out[y * to_width + x] = (uint8_t)(top * (1 - ay) + low * ay + 0.5f);
        }
    }
}

static void prepare_filter(more_job *job)
{
    const size_t side = side_of(job);
    more_result(job, side * side, MORE_BYTES);
    more_bytes(job, side * side);
    more_number(job, side);
    more_number(job, side);
    more_plane(job, side, side, 32, 8);
}
static void plain_sobel(const more_job *job)
{
    uint8_t *out = more_at(job, 0);
    const uint8_t *in = more_at(job, 1);
    const int width = more_int(job, 2), height = more_int(job, 3);
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        uint8_t *to = out + y * width;
        if (y == 0 || y == height - 1) {
            memset(to, 0, (size_t)width);
            continue;
        }
        const uint8_t *a = in + (y - 1) * width, *b = a + width, *c = b + width;
        to[0] = to[width - 1] = 0;
#pragma omp simd
        for (int x = 1; x < width - 1; x++) {
            const int16_t dx = (int16_t)(a[x + 1] + 2 * b[x + 1] + c[x + 1] - a[x - 1] -
                                         2 * b[x - 1] - c[x - 1]);
            const int16_t dy = (int16_t)(c[x - 1] + 2 * c[x] + c[x + 1] - a[x - 1] -
                                         2 * a[x] - a[x + 1]);
            const int16_t p = (int16_t)(dx < 0 ? -dx : dx),
                          q = (int16_t)(dy < 0 ? -dy : dy);
            const int16_t sum = (int16_t)(p + q);
            to[x] = (uint8_t)(sum > 255 ? 255 : sum);
        }
    }
}

static inline void order(uint8_t *a, uint8_t *b)
{
    const uint8_t x = *a, y = *b;
    *a = x < y ? x : y;
    *b = x < y ? y : x;
}

/* Rows with one column more on both sides: no edge in the loop. */
static void plain_median(const more_job *job)
{
    uint8_t *out = more_at(job, 0);
    const uint8_t *in = more_at(job, 1);
    const int width = more_int(job, 2), height = more_int(job, 3);
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        uint8_t row[3][514];
        for (int j = 0; j < 3; j++) {
            const int from = y + j - 1 < 0        ? 0
                             : y + j - 1 < height ? y + j - 1
                                                  : height - 1;
            memcpy(row[j] + 1, in + from * width, (size_t)width);
            row[j][0] = row[j][1];
            row[j][width + 1] = row[j][width];
        }
#pragma omp simd
        for (int x = 0; x < width; x++) {
            uint8_t a = row[0][x], b = row[0][x + 1], c = row[0][x + 2];
            uint8_t d = row[1][x], e = row[1][x + 1], f = row[1][x + 2];
            uint8_t g = row[2][x], h = row[2][x + 1], i = row[2][x + 2];
            order(&b, &c), order(&e, &f), order(&h, &i), order(&a, &b), order(&d, &e);
            order(&g, &h), order(&b, &c), order(&e, &f), order(&h, &i), order(&a, &d);
            order(&f, &i), order(&e, &h), order(&d, &g), order(&b, &e), order(&c, &f);
            order(&e, &h), order(&e, &c), order(&g, &e), order(&e, &c);
            out[y * width + x] = e;
        }
    }
}

static void prepare_yuv(more_job *job)
{
    const size_t pixels = more_size(job, 262144, 1000);
    for (int k = 0; k < 3; k++)
        more_result(job, pixels, MORE_BYTES);
    more_bytes(job, pixels * 3);
    more_number(job, pixels);
    more_line(job, pixels, 256);
}
static void plain_yuv(const more_job *job)
{
    uint8_t *luma = more_at(job, 0), *u = more_at(job, 1), *v = more_at(job, 2);
    const uint8_t *rgb = more_at(job, 3);
    const int pixels = more_int(job, 4);
#pragma omp parallel for simd
    for (int i = 0; i < pixels; i++) {
        const int r = rgb[i * 3], g = rgb[i * 3 + 1], b = rgb[i * 3 + 2];
        luma[i] = (uint8_t)(((66 * r + 129 * g + 25 * b + 128) >> 8) + 16);
        u[i] = (uint8_t)(((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128);
        v[i] = (uint8_t)(((112 * r - 94 * g - 18 * b + 128) >> 8) + 128);
    }
}

static void prepare_histogram(more_job *job)
{
    const size_t n = more_size(job, 262144, 3000);
    more_updated(job, 256 * 4, MORE_WORDS);
    more_bytes(job, n);
    more_number(job, n);
    more_line(job, 16 * 256, 256);
}
/* Four tables a thread: counts of equal neighbors need not wait for one another. */
static void plain_histogram(const more_job *job)
{
    uint32_t *out = more_at(job, 0);
    const uint8_t *in = more_at(job, 1);
    const int n = more_int(job, 2);
#pragma omp parallel
    {
        uint32_t bins[4][256] = {{0}};
#pragma omp for
        for (int i = 0; i < n / 4; i++)
            for (int k = 0; k < 4; k++)
                bins[k][in[i * 4 + k]]++;
#pragma omp critical
        for (int b = 0; b < 256; b++)
            out[b] += bins[0][b] + bins[1][b] + bins[2][b] + bins[3][b];
    }
    for (int i = n / 4 * 4; i < n; i++)
        out[in[i]]++;
}

static void prepare_equalize(more_job *job)
{
    const size_t n = more_size(job, 262144, 3000);
    more_result(job, n, MORE_BYTES);
    more_bytes(job, n);
    uint32_t *sums = more_input(job, 256 * 4);
    for (uint32_t i = 0; i < 256; i++)
        sums[i] = (i ? sums[i - 1] : 0) + more_random_number(job) % 2000;
    more_number(job, sums[0]);
    more_number(job, n);
    more_line(job, 16 * 256, 256);
}
static void plain_equalize(const more_job *job)
{
    uint8_t *out = more_at(job, 0), table[256];
    const uint8_t *in = more_at(job, 1);
    const uint32_t *sums = more_at(job, 2), least = job->a[3].number;
    const int n = more_int(job, 4);
    const float scale = 255.0f / (float)(sums[255] - least);
    for (int i = 0; i < 256; i++)
        table[i] =
            sums[i] < least ? 0 : (uint8_t)((float)(sums[i] - least) * scale + 0.5f);
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        out[i] = table[in[i]];
}

static void prepare_blend(more_job *job)
{
    const size_t n = more_size(job, 262144, 1000);
    more_result(job, n * 4, MORE_BYTES);
    more_bytes(job, n * 4);
    more_bytes(job, n * 4);
    more_number(job, n);
    more_line(job, n, 256);
}
/* Two channels a word; x / 255 to nearest by a sum and two shifts. */
static inline uint32_t mix(uint32_t a, uint32_t b, uint32_t t)
{
    const uint32_t x = (a & 0xff00ff) * t + (b & 0xff00ff) * (255 - t) + 0x800080;
    return (x + (x >> 8 & 0xff00ff)) >> 8 & 0xff00ff;
}
static void plain_blend(const more_job *job)
{
    uint32_t *out = more_at(job, 0);
    const uint32_t *over = more_at(job, 1), *under = more_at(job, 2);
    const int n = more_int(job, 3);
#pragma omp parallel for simd
    for (int i = 0; i < n; i++) {
        const uint32_t a = over[i], b = under[i], t = a >> 24;
        out[i] = mix(a, b, t) | (mix(a >> 8, b >> 8, t) & 0xff) << 8 | 0xff000000u;
    }
}

const more_kernel more_image[] = {
    {"resize_bilinear", "image", prepare_resize, plain_resize, 1},
    {"sobel", "image", prepare_filter, plain_sobel, 0},
    {"median_3x3", "image", prepare_filter, plain_median, 0},
    {"rgb_to_yuv", "image", prepare_yuv, plain_yuv, 0},
    {"byte_histogram", "image", prepare_histogram, plain_histogram, 0},
    {"equalize", "image", prepare_equalize, plain_equalize, 1},
    {"alpha_blend", "image", prepare_blend, plain_blend, 0},
    {0}};
