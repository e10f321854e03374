// SPDX-License-Identifier: Apache-2.0
// Blocks that work warp by warp: ballots, shuffles, shared memory and atomics together.

#define KERNEL extern "C" __global__ void
#define FULL 0xffffffffu

KERNEL compact_block_ballot(const int *in, int *out, int *count, int n)
{
    __shared__ int offset[9];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    bool keep = i < n && in[i] % 2 == 0;
    unsigned lanes = __ballot_sync(FULL, keep);
    if (lane == 0)
        offset[warp + 1] = __popc(lanes);
    __syncthreads();
    if (threadIdx.x == 0) {
        int warps = blockDim.x / 32;
        offset[0] = 0;
        for (int w = 1; w <= warps; w++)
            offset[w] += offset[w - 1];
        int base = atomicAdd(count, offset[warps]);
        for (int w = 0; w < warps; w++)
            offset[w] += base;
    }
    __syncthreads();
    if (keep)
        out[offset[warp] + __popc(lanes & ((1u << lane) - 1))] = in[i];
}

KERNEL count_by_votes(const int *in, int *out, int low, int high)
{
    __shared__ int below[8], within[8];
    int x = in[blockIdx.x * blockDim.x + threadIdx.x], warp = threadIdx.x / 32;
    unsigned is_below = __ballot_sync(FULL, x < low);
    unsigned is_within = __ballot_sync(FULL, x >= low && x < high);
    if (threadIdx.x % 32 == 0) {
        below[warp] = __popc(is_below);
        within[warp] = __popc(is_within);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int a = 0, b = 0;
        for (int w = 0; w < blockDim.x / 32; w++) {
            a += below[w];
            b += within[w];
        }
        out[2 * blockIdx.x] = a;
        out[2 * blockIdx.x + 1] = b;
    }
}

KERNEL radix_sort_ballot(unsigned *data)
{
    __shared__ unsigned keys[128];
    __shared__ int zeros[4];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    unsigned key = data[blockIdx.x * 128 + t] & 0xff;
    for (int bit = 0; bit < 8; bit++) {
        bool one = key >> bit & 1;
        unsigned ones = __ballot_sync(FULL, one);
        if (lane == 0)
            zeros[warp] = 32 - __popc(ones);
        __syncthreads();
        int all = zeros[0] + zeros[1] + zeros[2] + zeros[3], before = 0;
        for (int w = 0; w < warp; w++)
            before += zeros[w];
        int mine = __popc(~ones & ((1u << lane) - 1));
        int to = one ? all + (warp * 32 - before) + (lane - mine) : before + mine;
        keys[to] = key;
        __syncthreads();
        key = keys[t];
        __syncthreads();
    }
    data[blockIdx.x * 128 + t] = key;
}

KERNEL prefix_max_block(const int *in, int *out)
{
    __shared__ int last[4];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, x = in[blockIdx.x * 128 + t];
    for (int step = 1; step < 32; step *= 2) {
        int y = __shfl_up_sync(FULL, x, step);
        if (lane >= step)
            x = max(x, y);
    }
    if (lane == 31)
        last[warp] = x;
    __syncthreads();
    for (int w = 0; w < warp; w++)
        x = max(x, last[w]);
    out[blockIdx.x * 128 + t] = x;
}

KERNEL vote_histogram(const unsigned char *in, unsigned *bins)
{
    __shared__ unsigned s[8];
    int t = threadIdx.x, lane = t & 31;
    if (t < 8)
        s[t] = 0;
    __syncthreads();
    int key = in[blockIdx.x * blockDim.x + t] & 7;
    for (int k = 0; k < 8; k++) {
        unsigned lanes = __ballot_sync(FULL, key == k);
        if (lane == k)
            atomicAdd(&s[k], (unsigned)__popc(lanes));
    }
    __syncthreads();
    if (t < 8)
        atomicAdd(&bins[t], s[t]);
}

KERNEL argmax_packed(const unsigned *in, unsigned long long *best)
{
    __shared__ unsigned long long warps[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    unsigned long long x = (unsigned long long)in[i] << 32 | (unsigned)i;
    for (int step = 16; step > 0; step >>= 1) {
        unsigned long long y = __shfl_down_sync(FULL, x, step);
        x = y > x ? y : x;
    }
    if (lane == 0)
        warps[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; w++)
            x = warps[w] > x ? warps[w] : x;
        atomicMax(best, x);
    }
}

// The running maximum and sum of a row in one pass.
KERNEL softmax_online(const float *in, float *out, int columns)
{
    __shared__ float most_of[4], sum_of[4];
    const float *row = in + blockIdx.x * columns;
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    float most = -1e30f, sum = 0.0f;
    for (int i = t; i < columns; i += blockDim.x) {
        float x = row[i], higher = fmaxf(most, x);
        sum = sum * expf(most - higher) + expf(x - higher);
        most = higher;
    }
    for (int step = 16; step > 0; step >>= 1) {
        float other_most = __shfl_xor_sync(FULL, most, step);
        float other_sum = __shfl_xor_sync(FULL, sum, step), higher = fmaxf(most, other_most);
        sum = sum * expf(most - higher) + other_sum * expf(other_most - higher);
        most = higher;
    }
    if (lane == 0) {
        most_of[warp] = most;
        sum_of[warp] = sum;
    }
    __syncthreads();
    float all = fmaxf(fmaxf(most_of[0], most_of[1]), fmaxf(most_of[2], most_of[3])), total = 0.0f;
    for (int w = 0; w < 4; w++)
        total += sum_of[w] * expf(most_of[w] - all);
    for (int i = t; i < columns; i += blockDim.x)
        out[blockIdx.x * columns + i] = expf(row[i] - all) / total;
}

KERNEL queue_push(const int *in, int *queue, int *tail, int threshold)
{
    __shared__ int pushed;
    int lane = threadIdx.x & 31, x = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x == 0)
        pushed = 0;
    __syncthreads();
    unsigned lanes = __ballot_sync(FULL, x > threshold);
    int base = 0;
    if (lane == 0 && lanes != 0) {
        base = atomicAdd(tail, __popc(lanes));
        atomicAdd(&pushed, __popc(lanes));
    }
    base = __shfl_sync(FULL, base, 0);
    if (x > threshold)
        queue[1 + base + __popc(lanes & ((1u << lane) - 1))] = x;
    __syncthreads();
    if (threadIdx.x == 0 && pushed == 0)
        atomicAdd(queue, 1); // blocks that had nothing to push
}

KERNEL variance_block(const float *in, float *out)
{
    __shared__ float s[8], q[8];
    float x = in[blockIdx.x * blockDim.x + threadIdx.x], y = x * x;
    for (int step = 16; step > 0; step >>= 1) {
        x += __shfl_down_sync(FULL, x, step);
        y += __shfl_down_sync(FULL, y, step);
    }
    if (threadIdx.x % 32 == 0) {
        s[threadIdx.x / 32] = x;
        q[threadIdx.x / 32] = y;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float a = 0.0f, b = 0.0f;
        for (int w = 0; w < blockDim.x / 32; w++) {
            a += s[w];
            b += q[w];
        }
        float mean = a / (float)blockDim.x;
        out[blockIdx.x] = b / (float)blockDim.x - mean * mean;
    }
}

KERNEL transpose_in_registers(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 3;
    int x[4];
    for (int k = 0; k < 4; k++)
        x[k] = in[i * 4 + k];
#pragma unroll
    for (int step = 1; step < 4; step *= 2) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            if ((k & step) == 0) {
                int send = lane & step ? x[k] : x[k ^ step];
                int got = __shfl_xor_sync(FULL, send, step);
                if (lane & step)
                    x[k] = got;
                else
                    x[k ^ step] = got;
            }
    }
    for (int k = 0; k < 4; k++)
        out[i * 4 + k] = x[k];
}
