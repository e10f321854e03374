// SPDX-License-Identifier: Apache-2.0
/* The function of PyTorch's documentation of graph trees, for examples/tree and its
 * tests and benchmark. */
#include "math.cuh"

__device__ __forceinline__ float logf_approx(float x)
{
    return __nvvm_lg2_approx_f(x) * 0.6931471805599453f;
}

/* out = x * x * x */
KERNEL cube(float *out, const float *x, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] * x[i] * x[i];
}

/* out = y ^ y, for y > 0 */
KERNEL power(float *out, const float *y, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __expf(y[i] * logf_approx(y[i]));
}

/* out = |y| ^ |y| */
KERNEL power_absolute(float *out, const float *y, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float x = y[i] < 0 ? -y[i] : y[i];
        out[i] = __expf(x * logf_approx(x));
    }
}

/* First of the four numbers that Philox4x32-10 (Salmon and others, 2011) gives for a
 * counter. */
__device__ __forceinline__ u32 philox(u64 seed, u64 offset, u64 counter)
{
    u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
    u32 c0 = (u32)offset, c1 = (u32)(offset >> 32), c2 = (u32)counter,
        c3 = (u32)(counter >> 32);
    for (int round = 0; round < 10; round++) {
        const u32 h0 = __umulhi(0xd2511f53u, c0), l0 = 0xd2511f53u * c0;
        const u32 h1 = __umulhi(0xcd9e8d57u, c2), l1 = 0xcd9e8d57u * c2;
        c0 = h1 ^ c1 ^ k0;
        c1 = l1;
        c2 = h0 ^ c3 ^ k1;
        c3 = l0;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return c0;
}

/* out = z * a number of [0, 1) for each element. `words`: seed and offset. */
KERNEL times_random(float *out, const float *z, const u64 *words, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = z[i] * (float)(philox(words[0], words[1], i) >> 8) * 0x1p-24f;
}

/* *out = the sum of x. One block of 128. */
KERNEL sum(float *out, const float *x, u32 n)
{
    __shared__ float part[4];
    float own = 0;
    for (u32 i = threadIdx.x; i < n; i += blockDim.x)
        own += x[i];
    own = warp_sum(own);
    if (threadIdx.x % WARP == 0)
        part[threadIdx.x / WARP] = own;
    __syncthreads();
    if (threadIdx.x == 0)
        *out = part[0] + part[1] + part[2] + part[3];
}

/* out = x * w0 + w1 + ... + w6: a small kernel that reads eight tensors. */
KERNEL mix_eight(float *out, const float *x, const float *w0, const float *w1,
                 const float *w2, const float *w3, const float *w4, const float *w5,
                 const float *w6, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] * w0[i] + w1[i] + w2[i] + w3[i] + w4[i] + w5[i] + w6[i];
}

/* For random programs: fills `to` with a hash of a salt and of up to four tensors. A unit
 * is eight words, of which the first counts; see tests/unit/tree_spec.h. One block. */
static __device__ __forceinline__ u64 mix(u64 a, u64 b)
{
    const u64 x = (a ^ (b + 0x9e3779b97f4a7c15ull)) * 0xbf58476d1ce4e5b9ull;
    return x ^ (x >> 29);
}

struct hashed {
    const u64 *from[4];
    u32 units[4];
};

KERNEL hash_store(u64 *to, u32 units, u64 salt, hashed in)
{
    __shared__ u64 hash;
    if (threadIdx.x == 0) {
        u64 own = salt;
        for (int i = 0; i < 4; i++)
            for (u32 unit = 0; unit < in.units[i]; unit++)
                own = mix(own, in.from[i][unit * 8]);
        hash = own;
    }
    __syncthreads();
    for (u32 word = threadIdx.x; word < units * 8; word += blockDim.x)
        to[word] = mix(hash, word / 8) + word % 8;
}

/* Word by word: padding does not matter. */
KERNEL hash_each(u64 *to, const u64 *from, u64 salt, u32 words)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < words)
        to[i] = mix(salt, from[i]);
}
