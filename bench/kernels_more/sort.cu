// SPDX-License-Identifier: Apache-2.0
/* Sorting, ranks and merging. */
#define KERNEL extern "C" __global__ void

/* 512 keys and their values, 256 threads. */
KERNEL bitonic_pairs(unsigned *keys, unsigned *values)
{
    __shared__ unsigned k[512], v[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    k[t] = keys[base + t];
    v[t] = values[base + t];
    k[t + 256] = keys[base + t + 256];
    v[t + 256] = values[base + t + 256];
    for (int size = 2; size <= 512; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            int a = 2 * t - (t & (step - 1)), b = a + step;
            bool up = (a & size) == 0;
            if ((k[a] > k[b]) == up) {
                unsigned x = k[a], y = v[a];
                k[a] = k[b];
                v[a] = v[b];
                k[b] = x;
                v[b] = y;
            }
        }
    __syncthreads();
    keys[base + t] = k[t];
    values[base + t] = v[t];
    keys[base + t + 256] = k[t + 256];
    values[base + t + 256] = v[t + 256];
}

/* Counts of one byte of the keys, 2,048 keys a block: out[digit][block]. */
KERNEL radix_histogram(unsigned *out, const unsigned *keys, int shift)
{
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < 8; i++) {
        unsigned key = keys[blockIdx.x * 2048 + i * 256 + threadIdx.x];
        atomicAdd(&bins[(key >> shift) & 255], 1);
    }
    __syncthreads();
    out[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

/* Where 256 keys of a block move, by 4 of their bits: stable; offset[digit][block] is given. */
KERNEL radix_scatter(unsigned *out, const unsigned *keys, const unsigned *offset, int shift)
{
    __shared__ unsigned count[8][16];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane < 16)
        count[warp][lane] = 0;
    __syncwarp();
    unsigned key = keys[blockIdx.x * 256 + threadIdx.x];
    unsigned digit = (key >> shift) & 15;
    unsigned peers = __match_any_sync(0xffffffff, digit);
    unsigned rank = __popc(peers & ((1u << lane) - 1));
    if (rank == 0)
        count[warp][digit] = __popc(peers);
    __syncthreads();
    if (threadIdx.x < 16) {
        unsigned sum = offset[threadIdx.x * gridDim.x + blockIdx.x];
        for (int w = 0; w < 8; w++) {
            unsigned n = count[w][threadIdx.x];
            count[w][threadIdx.x] = sum;
            sum += n;
        }
    }
    __syncthreads();
    out[count[warp][digit] + rank] = key;
}

/* Two sorted runs of n to one of 2n; a thread finds where its 16 begin and merges them. */
KERNEL merge_path(unsigned *out, const unsigned *a, const unsigned *b, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    if (first >= 2 * n)
        return;
    int low = max(0, first - n), high = min(first, n);
    while (low < high) {
        int mid = (low + high) / 2;
        if (a[mid] <= b[first - 1 - mid])
            low = mid + 1;
        else
            high = mid;
    }
    int i = low, j = first - low;
    for (int k = 0; k < 16; k++) {
        bool left = j >= n || (i < n && a[i] <= b[j]);
        out[first + k] = left ? a[i++] : b[j++];
    }
}

/* The rank of each of a block's 256 keys, by counting. */
KERNEL rank_count(unsigned *rank, const float *keys)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    float mine = keys[blockIdx.x * 256 + t];
    s[t] = mine;
    __syncthreads();
    int r = 0;
    for (int i = 0; i < 256; i++)
        r += s[i] < mine || (s[i] == mine && i < t);
    rank[blockIdx.x * 256 + t] = r;
}
