// SPDX-License-Identifier: Apache-2.0
/* Random numbers and what is made of them: launches, and the same in C. */
#include "more.h"

static void prepare_philox(more_job *job)
{
    const size_t n = more_size(job, 65536, 1000);
    more_result(job, n * 16, MORE_FLOATS);
    more_number(job, 1234);
    more_number(job, n);
    more_line(job, n, 256);
}
static void plain_philox(const more_job *job)
{
    float *out = more_at(job, 0);
    const uint32_t seed = job->a[1].number;
    const int n = more_int(job, 2);
    const float scale = 2.3283064e-10f;
#pragma omp parallel for simd
    for (int i = 0; i < n; i++) {
        uint32_t x = (uint32_t)i, y = 0, z = 0, w = 0, k0 = seed, k1 = 0xcafef00du;
        for (int round = 0; round < 10; round++) {
            const uint64_t a = (uint64_t)0xD2511F53u * x, b = (uint64_t)0xCD9E8D57u * z;
            x = (uint32_t)(b >> 32) ^ y ^ k0;
            y = (uint32_t)b;
            z = (uint32_t)(a >> 32) ^ w ^ k1;
            w = (uint32_t)a;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        out[i * 4] = (float)x * scale + scale / 2;
        out[i * 4 + 1] = (float)y * scale + scale / 2;
        out[i * 4 + 2] = (float)z * scale + scale / 2;
        out[i * 4 + 3] = (float)w * scale + scale / 2;
    }
}

static void prepare_monte_carlo(more_job *job)
{
    const size_t n = more_size(job, 8192, 512);
    more_result(job, n * 4, MORE_WORDS);
    more_number(job, 64);
    more_line(job, n, 256);
}
static inline uint32_t next(uint32_t s)
{
    s ^= s << 13;
    s ^= s >> 17;
    return s ^ s << 5;
}
static void plain_monte_carlo(const more_job *job)
{
    uint32_t *out = more_at(job, 0);
    const int rounds = more_int(job, 1), n = (int)(job->grid[0] * job->block[0]);
#pragma omp parallel for
    for (int first = 0; first < n; first += 32) {
        uint32_t s[32], inside[32] = {0};
        for (int i = 0; i < 32; i++)
            s[i] = (uint32_t)(first + i) * 747796405u + 2891336453u;
        for (int k = 0; k < rounds; k++)
#pragma omp simd
            for (int i = 0; i < 32; i++) {
                const uint32_t a = next(s[i]), b = next(a);
                const float x = (float)(int32_t)(a >> 8) * (1.0f / 16777216.0f);
                const float y = (float)(int32_t)(b >> 8) * (1.0f / 16777216.0f);
                inside[i] += fmaf(x, x, y * y) < 1.0f;
                s[i] = b;
            }
        memcpy(out + first, inside, sizeof(inside));
    }
}

static void prepare_dropout(more_job *job)
{
    const size_t n = more_size(job, 262144, 1000);
    more_result(job, n * 4, MORE_FLOATS);
    more_result(job, n, MORE_BYTES);
    more_floats(job, n, -1, 1);
    more_number(job, 99);
    more_number(job, n);
    more_line(job, n, 256);
}
static void plain_dropout(const more_job *job)
{
    float *out = more_at(job, 0);
    uint8_t *mask = more_at(job, 1);
    const float *in = more_at(job, 2);
    const uint32_t seed = job->a[3].number;
    const int n = more_int(job, 4);
#pragma omp parallel for simd
    for (int i = 0; i < n; i++) {
        uint32_t h = (uint32_t)i ^ seed;
        h = (h ^ (h >> 16)) * 0x85ebca6bu;
        h = (h ^ (h >> 13)) * 0xc2b2ae35u;
        h ^= h >> 16;
        const int keep = (int32_t)(h >> 8) >= 1677721;
        mask[i] = (uint8_t)keep;
        out[i] = keep ? in[i] * (1.0f / 0.9f) : 0.0f;
    }
}

static void prepare_options(more_job *job)
{
    const size_t n = more_size(job, 65536, 1000);
    more_result(job, n * 4, MORE_FLOATS);
    more_result(job, n * 4, MORE_FLOATS);
    more_floats(job, n, 5, 30);
    more_floats(job, n, 1, 100);
    more_floats(job, n, 0.25f, 10);
    more_real(job, 0.02f);
    more_real(job, 0.3f);
    more_number(job, n);
    more_line(job, n, 256);
}
static inline float normal(float d)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float c =
        0.39894228f * more_exp(-0.5f * d * d) *
        (k * (0.31938153f +
              k * (-0.356563782f +
                   k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - c : c;
}
static void plain_options(const more_job *job)
{
    float *call = more_at(job, 0), *put = more_at(job, 1);
    const float *price = more_at(job, 2), *strike = more_at(job, 3),
                *years = more_at(job, 4);
    const float rate = job->a[5].real, volatility = job->a[6].real;
    const int n = more_int(job, 7);
#pragma omp parallel for simd
    for (int i = 0; i < n; i++) {
        const float s = price[i], x = strike[i], t = years[i], root = sqrtf(t);
        const float d1 = (more_log(s / x) + (rate + 0.5f * volatility * volatility) * t) /
                         (volatility * root);
        const float d2 = d1 - volatility * root;
        const float n1 = normal(d1), n2 = normal(d2), e = more_exp(-rate * t);
        call[i] = s * n1 - x * e * n2;
        put[i] = x * e * (1.0f - n2) - s * (1.0f - n1);
    }
}

const more_kernel more_random[] = {
    {"philox", "random", prepare_philox, plain_philox, 1e-6},
    {"monte_carlo", "random", prepare_monte_carlo, plain_monte_carlo, 0},
    {"dropout", "random", prepare_dropout, plain_dropout, 1e-6},
    {"black_scholes", "random", prepare_options, plain_options, 1e-3},
    {0}};
