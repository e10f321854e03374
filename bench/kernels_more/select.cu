// SPDX-License-Identifier: Apache-2.0
/* Selection and searching. */
#define KERNEL extern "C" __global__ void

/* The 8 largest of a row of 1,024 and where they are, a warp a row. */
KERNEL topk_warp(float *value, int *index, const float *in, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float v[32];
#pragma unroll
    for (int i = 0; i < 32; i++)
        v[i] = in[row * 1024 + i * 32 + lane];
    for (int k = 0; k < 8; k++) {
        float best = -INFINITY;
        int at = 0;
#pragma unroll
        for (int i = 0; i < 32; i++)
            if (v[i] > best) {
                best = v[i];
                at = i * 32 + lane;
            }
        for (int step = 16; step > 0; step /= 2) {
            float other = __shfl_xor_sync(0xffffffff, best, step);
            int there = __shfl_xor_sync(0xffffffff, at, step);
            if (other > best || (other == best && there < at)) {
                best = other;
                at = there;
            }
        }
        if (lane == 0) {
            value[row * 8 + k] = best;
            index[row * 8 + k] = at;
        }
#pragma unroll
        for (int i = 0; i < 32; i++)
            if (i * 32 + lane == at)
                v[i] = -INFINITY;
    }
}

/* Where the largest of each row is, a block of 256 a row. */
KERNEL argmax_rows(int *out, const float *in, int width)
{
    __shared__ float value[256];
    __shared__ int index[256];
    int t = threadIdx.x, at = 0;
    float best = -INFINITY;
    for (int i = t; i < width; i += 256) {
        float x = in[blockIdx.x * width + i];
        if (x > best) {
            best = x;
            at = i;
        }
    }
    value[t] = best;
    index[t] = at;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step && (value[t + step] > value[t] ||
                         (value[t + step] == value[t] && index[t + step] < index[t]))) {
            value[t] = value[t + step];
            index[t] = index[t + step];
        }
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = index[0];
}

/* What is over the threshold, in any order of warps. */
KERNEL compact_ballot(unsigned *out, unsigned *count, const unsigned *in, unsigned least,
                      int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned x = i < n ? in[i] : 0;
    bool keep = i < n && x >= least;
    unsigned mask = __ballot_sync(0xffffffff, keep);
    unsigned base = 0;
    if (lane == 0 && mask)
        base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(0xffffffff, base, 0);
    if (keep)
        out[base + __popc(mask & ((1u << lane) - 1))] = x;
}

KERNEL lower_bound(int *out, const int *sorted, const int *query, int n, int queries)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries)
        return;
    int key = query[i], low = 0, high = n;
    while (low < high) {
        int mid = (low + high) >> 1;
        if (sorted[mid] < key)
            low = mid + 1;
        else
            high = mid;
    }
    out[i] = low;
}

/* Open addressing; 0 is an empty place. */
KERNEL hash_probe(unsigned *out, const uint2 *table, const unsigned *query, unsigned mask,
                  int queries)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries)
        return;
    unsigned key = query[i], at = key * 2654435761u & mask, found = 0xffffffff;
    for (;;) {
        uint2 slot = table[at];
        if (slot.x == key) {
            found = slot.y;
            break;
        }
        if (slot.x == 0)
            break;
        at = (at + 1) & mask;
    }
    out[i] = found;
}
