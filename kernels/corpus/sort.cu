// SPDX-License-Identifier: Apache-2.0
// Sorting, merging, histograms.

#define KERNEL extern "C" __global__ void
#define FULL 0xffffffffu

KERNEL bitonic_block(int *data)
{
    __shared__ int s[256];
    unsigned t = threadIdx.x, base = blockIdx.x * 256;
    s[t] = data[base + t];
    __syncthreads();
    for (unsigned size = 2; size <= 256; size *= 2)
        for (unsigned step = size / 2; step > 0; step /= 2) {
            unsigned other = t ^ step;
            if (other > t) {
                int a = s[t], b = s[other];
                bool up = (t & size) == 0;
                if ((a > b) == up) {
                    s[t] = b;
                    s[other] = a;
                }
            }
            __syncthreads();
        }
    data[base + t] = s[t];
}

KERNEL bitonic_global_step(int *data, int size, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ step;
    if (other > i) {
        int a = data[i], b = data[other];
        if ((a > b) == ((i & size) == 0)) {
            data[i] = b;
            data[other] = a;
        }
    }
}

KERNEL odd_even_sort(short *data)
{
    __shared__ short s[128];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * 128 + t];
    __syncthreads();
    for (int round = 0; round < 128; round++) {
        if ((t & 1) == (round & 1) && t + 1 < 128) {
            short a = s[t], b = s[t + 1];
            if (a > b) {
                s[t] = b;
                s[t + 1] = a;
            }
        }
        __syncthreads();
    }
    data[blockIdx.x * 128 + t] = s[t];
}

// Two bits of one block's keys at a time.
KERNEL radix_sort_block(unsigned *data)
{
    __shared__ unsigned keys[128];
    __shared__ unsigned counts[4][128];
    int t = threadIdx.x;
    keys[t] = data[blockIdx.x * 128 + t];
    for (int shift = 0; shift < 32; shift += 2) {
        __syncthreads();
        unsigned key = keys[t], digit = key >> shift & 3;
        for (unsigned d = 0; d < 4; d++)
            counts[d][t] = digit == d;
        __syncthreads();
        for (int step = 1; step < 128; step *= 2) {
            unsigned add[4];
            for (int d = 0; d < 4; d++)
                add[d] = t >= step ? counts[d][t - step] : 0;
            __syncthreads();
            for (int d = 0; d < 4; d++)
                counts[d][t] += add[d];
            __syncthreads();
        }
        unsigned to = counts[digit][t] - 1;
        for (unsigned d = 0; d < digit; d++)
            to += counts[d][127];
        keys[to] = key;
    }
    __syncthreads();
    data[blockIdx.x * 128 + t] = keys[t];
}

// One bit: zeros to the front of each warp's 32 keys, order kept.
KERNEL radix_split_warp(const unsigned *in, unsigned *out, int bit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    unsigned key = in[i], is_one = key >> bit & 1;
    unsigned ones = __ballot_sync(FULL, is_one), below = (1u << lane) - 1;
    int to = is_one ? __popc(~ones) + __popc(ones & below) : __popc(~ones & below);
    out[i - lane + to] = key;
}

KERNEL merge_by_rank(const int *a, const int *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2 * n)
        return;
    bool first = i < n;
    int x = first ? a[i] : b[i - n], low = 0, high = n;
    const int *other = first ? b : a;
    while (low < high) {
        int middle = (low + high) / 2;
        if (first ? other[middle] < x : other[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    out[(first ? i : i - n) + low] = x;
}

KERNEL rank_sort(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = in[i], rank = 0;
    for (int k = 0; k < n; k++)
        rank += in[k] < x || (in[k] == x && k < i);
    out[rank] = x;
}

KERNEL insertion_sort_local(const int *in, int *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, a[12];
    for (int i = 0; i < 12; i++)
        a[i] = in[12 * t + i];
    for (int i = 1; i < 12; i++) {
        int x = a[i], k = i;
        while (k > 0 && a[k - 1] > x) {
            a[k] = a[k - 1];
            k--;
        }
        a[k] = x;
    }
    for (int i = 0; i < 12; i++)
        out[12 * t + i] = a[i];
}

KERNEL bitonic_warp(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, x = in[i];
#pragma unroll
    for (int size = 2; size <= 32; size *= 2)
#pragma unroll
        for (int step = size / 2; step > 0; step /= 2) {
            int y = __shfl_xor_sync(FULL, x, step);
            bool low = ((lane & step) == 0) == ((lane & size) == 0);
            x = low ? min(x, y) : max(x, y);
        }
    out[i] = x;
}

KERNEL counting_sort_block(const unsigned char *in, unsigned char *out)
{
    __shared__ int counts[16];
    int t = threadIdx.x, key = in[blockIdx.x * 128 + t] & 15;
    if (t < 16)
        counts[t] = 0;
    __syncthreads();
    atomicAdd(&counts[key], 1);
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < 16; i++) {
            int c = counts[i];
            counts[i] = sum;
            sum += c;
        }
    }
    __syncthreads();
    out[blockIdx.x * 128 + atomicAdd(&counts[key], 1)] = (unsigned char)key;
}

KERNEL histogram_global(const unsigned char *in, unsigned *bins, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&bins[in[i]], 1u);
}

KERNEL histogram_shared(const unsigned char *in, unsigned *bins, int n)
{
    __shared__ unsigned s[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        s[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&s[in[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], s[i]);
}

KERNEL histogram_matched(const unsigned char *in, unsigned *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int key = in[i] & 15;
    unsigned same = __match_any_sync(__activemask(), key);
    if (__ffs(same) - 1 == (int)(threadIdx.x & 31))
        atomicAdd(&bins[key], __popc(same));
}

KERNEL histogram_private(const unsigned char *in, unsigned *out, int per_thread)
{
    unsigned counts[8] = {0};
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < per_thread; i++)
        counts[in[t * per_thread + i] & 7]++;
    for (int k = 0; k < 8; k++)
        out[8 * t + k] = counts[k];
}

KERNEL weighted_histogram(const int *key, const float *weight, float *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[key[i] & 31], weight[i]);
}
