// SPDX-License-Identifier: Apache-2.0
// Prefix sums and compaction.

#define KERNEL extern "C" __global__ void
#define FULL 0xffffffffu

KERNEL scan_hillis(const int *in, int *out)
{
    __shared__ int s[2][256];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int to = 1 - from;
        s[to][t] = t >= step ? s[from][t] + s[from][t - step] : s[from][t];
        from = to;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = s[from][t];
}

KERNEL scan_blelloch(const int *in, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x, base = blockIdx.x * 256, offset = 1;
    s[2 * t] = in[base + 2 * t];
    s[2 * t + 1] = in[base + 2 * t + 1];
    for (int d = 128; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0)
        s[255] = 0;
    for (int d = 1; d < 256; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            int x = s[a];
            s[a] = s[b];
            s[b] += x;
        }
    }
    __syncthreads();
    out[base + 2 * t] = s[2 * t];
    out[base + 2 * t + 1] = s[2 * t + 1];
}

KERNEL scan_warp(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, x = in[i];
#pragma unroll
    for (int step = 1; step < 32; step <<= 1) {
        int y = __shfl_up_sync(FULL, x, step);
        if (lane >= step)
            x += y;
    }
    out[i] = x;
}

__device__ int scan_in_warp(int x, int lane)
{
    for (int step = 1; step < 32; step <<= 1) {
        int y = __shfl_up_sync(FULL, x, step);
        x += lane >= step ? y : 0;
    }
    return x;
}
KERNEL scan_block_shuffle(const int *in, int *out, int *totals)
{
    __shared__ int warps[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int x = scan_in_warp(in[i], lane);
    if (lane == 31)
        warps[warp] = x;
    __syncthreads();
    if (warp == 0)
        warps[lane] = scan_in_warp(lane < blockDim.x / 32 ? warps[lane] : 0, lane);
    __syncthreads();
    if (warp > 0)
        x += warps[warp - 1];
    out[i] = x;
    if (threadIdx.x == blockDim.x - 1)
        totals[blockIdx.x] = x;
}

KERNEL scan_add_offsets(int *data, const int *offsets)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0)
        data[i] += offsets[blockIdx.x - 1];
}

// status: 0 nothing, 1 sum of the block, 2 sum up to and with the block; in the high word.
KERNEL scan_lookback(const int *in, int *out, volatile unsigned long long *status, int *ticket)
{
    __shared__ int s[128];
    __shared__ int block, before;
    int t = threadIdx.x;
    if (t == 0)
        block = atomicAdd(ticket, 1);
    __syncthreads();
    s[t] = in[block * 128 + t];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        int x = t >= step ? s[t - step] : 0;
        __syncthreads();
        s[t] += x;
        __syncthreads();
    }
    if (t == 127) {
        int sum = 0;
        if (block > 0) {
            status[block] = 1ull << 32 | (unsigned)s[127];
            __threadfence();
            for (int at = block - 1; at >= 0;) {
                unsigned long long word = status[at];
                if (word >> 32 == 0)
                    continue;
                sum += (int)(unsigned)word;
                if (word >> 32 == 2)
                    break;
                at--;
            }
        }
        before = sum;
        __threadfence();
        status[block] = 2ull << 32 | (unsigned)(sum + s[127]);
    }
    __syncthreads();
    out[block * 128 + t] = s[t] + before;
}

KERNEL scan_segmented(const int *in, const unsigned char *head, int *out)
{
    __shared__ int s[128];
    __shared__ int f[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    f[t] = (head[i] & 7) == 0;
    __syncthreads();
    for (int step = 1; step < 128; step <<= 1) {
        int x = 0, g = 0;
        if (t >= step && !f[t]) {
            x = s[t - step];
            g = f[t - step];
        }
        __syncthreads();
        s[t] += x;
        f[t] |= g;
        __syncthreads();
    }
    out[i] = s[t];
}

KERNEL compact_atomic(const int *in, int *out, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0)
        out[atomicAdd(count, 1)] = in[i];
}

KERNEL compact_ballot(const int *in, int *out, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int x = i < n ? in[i] : 0;
    unsigned keep = __ballot_sync(FULL, x > 0);
    int base = 0;
    if (lane == 0)
        base = atomicAdd(count, __popc(keep));
    base = __shfl_sync(FULL, base, 0);
    if (x > 0)
        out[base + __popc(keep & ((1u << lane) - 1))] = x;
}

KERNEL compact_block(const int *in, int *out, int *counts)
{
    __shared__ int s[128];
    int t = threadIdx.x, x = in[blockIdx.x * 128 + t], keep = (x & 3) == 0;
    s[t] = keep;
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        int y = t >= step ? s[t - step] : 0;
        __syncthreads();
        s[t] += y;
        __syncthreads();
    }
    if (keep)
        out[blockIdx.x * 128 + s[t] - 1] = x;
    if (t == 127)
        counts[blockIdx.x] = s[127];
}

KERNEL scan_serial_chunks(const int *in, int *out, int chunk)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int i = 0; i < chunk; i++) {
        sum += in[t * chunk + i];
        out[t * chunk + i] = sum;
    }
}
