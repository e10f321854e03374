// SPDX-License-Identifier: Apache-2.0
/* Random numbers and what is made of them. */
#define KERNEL extern "C" __global__ void

/* Philox 4x32-10, four numbers in (0, 1] a thread. */
KERNEL philox(float4 *out, unsigned seed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint4 c = make_uint4(i, 0, 0, 0);
    unsigned k0 = seed, k1 = 0xcafef00d;
    for (int round = 0; round < 10; round++) {
        unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
        unsigned h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        c = make_uint4(h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    const float scale = 2.3283064e-10f;
    out[i] = make_float4(c.x * scale + scale / 2, c.y * scale + scale / 2,
                         c.z * scale + scale / 2, c.w * scale + scale / 2);
}

/* Points in a quarter circle, counted a thread. */
KERNEL monte_carlo(unsigned *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = i * 747796405u + 2891336453u, inside = 0;
    for (int k = 0; k < rounds; k++) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        float x = (s >> 8) * (1.0f / 16777216.0f);
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        float y = (s >> 8) * (1.0f / 16777216.0f);
        if (x * x + y * y < 1.0f)
            inside++;
    }
    out[i] = inside;
}

/* Dropout with a hash of the place, scale kept. */
KERNEL dropout(float *out, unsigned char *mask, const float *in, unsigned seed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned h = i ^ seed;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    h ^= h >> 16;
    bool keep = (h >> 8) >= 1677721;
    mask[i] = keep;
    out[i] = keep ? in[i] * (1.0f / 0.9f) : 0.0f;
}

/* European options. */
__device__ float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float c = 0.39894228f * expf(-0.5f * d * d) *
              (k * (0.31938153f +
                    k * (-0.356563782f +
                         k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - c : c;
}
KERNEL black_scholes(float *call, float *put, const float *price, const float *strike,
                     const float *years, float rate, float volatility, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = price[i], x = strike[i], t = years[i], root = sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root;
    float n1 = normal(d1), n2 = normal(d2), e = expf(-rate * t);
    call[i] = s * n1 - x * e * n2;
    put[i] = x * e * (1.0f - n2) - s * (1.0f - n1);
}
