// SPDX-License-Identifier: Apache-2.0
// Control flow, calls, local memory, the run time's functions, warps.
#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>

#define KERNEL extern "C" __global__ void
#define FULL 0xffffffffu
namespace cg = cooperative_groups;

KERNEL tiny_machine(const unsigned char *code, int length, int *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, a = t, b = 1;
    for (int pc = 0; pc < length; pc++) {
        switch (code[pc] % 9) {
        case 0: a += b; break;
        case 1: a -= b; break;
        case 2: a *= 3; break;
        case 3: b ^= a; break;
        case 4: a = b << (a & 3); break;
        case 5: b = (int)__popc((unsigned)a); break;
        case 6: a = max(a, b); break;
        case 7: b++; break;
        default: a = ~a; break;
        }
    }
    out[t] = a ^ b;
}

KERNEL switch_per_thread(const int *kind, const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    switch (kind[i] & 7) {
    case 0: v = v * v; break;
    case 1: v = fabsf(v); break;
    case 2: v = floorf(v * 8.0f); break;
    case 3: v = v + 1.0f; break;
    case 4: v = 1.0f / (v + 2.0f); break;
    case 5: v = sqrtf(fabsf(v)); break;
    case 6: v = -v; break;
    case 7: v = copysignf(3.0f, v); break;
    }
    out[i] = v;
}

KERNEL count_words(const unsigned char *text, int *words, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, count = 0, state = 0;
    for (int i = 0; i < columns; i++) {
        bool is_space = (text[row * columns + i] & 3) == 0;
        if (state == 0 && !is_space) {
            state = 1;
            count++;
        } else if (state == 1 && is_space) {
            state = 0;
        }
    }
    words[row] = count;
}

__device__ __noinline__ float f_square(float x) { return x * x; }
__device__ __noinline__ float f_cube(float x) { return x * x * x; }
__device__ __noinline__ float f_half(float x) { return 0.5f * x; }
typedef float (*unary)(float);
__device__ unary functions[3] = {f_square, f_cube, f_half};
KERNEL call_through_table(const int *which, const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = functions[(unsigned)which[i] % 3](x[i]);
}

struct pair {
    int low, high;
};
__device__ __noinline__ pair order(int a, int b)
{
    pair p = {min(a, b), max(a, b)};
    return p;
}
__device__ __noinline__ int weigh(pair p, int *changes)
{
    if (p.low < 0)
        ++*changes;
    return p.high - p.low;
}
KERNEL call_noinline(const int *a, const int *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, changes = 0;
    if (i < n) {
        int w = weigh(order(a[i], b[i]), &changes);
        out[i] = 2 * w + changes;
    }
}

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
KERNEL recursive_fibonacci(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fibonacci(i % 12);
}

KERNEL local_stack(const int *left, const int *right, int *out, int nodes)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, stack[32], top = 0, sum = 0;
    stack[top++] = t % nodes;
    for (int visits = 0; top > 0 && visits < 40; visits++) {
        int node = stack[--top];
        sum = sum * 31 + node;
        if (left[node] > node && top < 32)
            stack[top++] = left[node];
        if (right[node] > node && top < 32)
            stack[top++] = right[node];
    }
    out[t] = sum;
}

KERNEL local_matrix(const float *in, float *out, int k)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float m[5][5];
    for (int i = 0; i < 25; i++)
        m[i / 5][i % 5] = in[25 * t + i];
    float sum = 0.0f;
    for (int i = 0; i < 5; i++)
        sum += m[i][(i * k) % 5] - m[(i + k) % 5][i];
    out[t] = sum;
}

KERNEL print_few(int n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 2)
        printf("thread %d of %d: %5.2f %s\n", i, n, i * 1.5, i ? "odd" : "even");
    out[i] = i;
}

KERNEL assert_holds(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < n);
    out[i] = in[i] + 1;
}

KERNEL clock_advances(int *out)
{
    long long start = clock64();
    int x = threadIdx.x;
    for (int i = 0; i < 100; i++)
        x = x * 1664525 + 1013904223;
    long long end = clock64();
    out[blockIdx.x * blockDim.x + threadIdx.x] = (end >= start) + (x == 1 ? 2 : 0);
}

KERNEL grid_sync_rounds(int *data, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        int x = data[(i + 1) % n] + data[(i + n - 1) % n];
        grid.sync();
        data[i] = x % 1000;
        grid.sync();
    }
}

KERNEL syncwarp_exchange(const int *in, int *out)
{
    __shared__ int s[4][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[warp][lane] = in[i];
    __syncwarp();
    int x = s[warp][31 - lane];
    __syncwarp();
    s[warp][(lane + 5) % 32] = x;
    __syncwarp();
    out[i] = s[warp][lane];
}

KERNEL dynamic_shared_reverse(const short *in, short *out)
{
    extern __shared__ short buffer[];
    int t = threadIdx.x, n = blockDim.x;
    buffer[t] = in[blockIdx.x * n + t];
    __syncthreads();
    out[blockIdx.x * n + t] = buffer[n - 1 - t];
}

KERNEL early_return_then_barrier(const int *in, int *out, int n)
{
    __shared__ int s[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    s[threadIdx.x] = in[i];
    __syncthreads();
    int next = min((int)threadIdx.x + 1, min((int)blockDim.x, n - (int)(blockIdx.x * blockDim.x)) - 1);
    out[i] = s[next] - s[threadIdx.x];
}

KERNEL relax_until_stable(int *data, int limit)
{
    __shared__ int s[128];
    __shared__ int changed;
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * 128 + t];
    int round = 0;
    do {
        __syncthreads();
        if (t == 0)
            changed = 0;
        __syncthreads();
        int x = t > 0 ? min(s[t], s[t - 1] + 3) : s[t];
        __syncthreads();
        if (x != s[t]) {
            s[t] = x;
            changed = 1;
        }
        __syncthreads();
    } while (changed && ++round < limit);
    data[blockIdx.x * 128 + t] = s[t];
}

KERNEL barrier_under_uniform_if(const float *in, float *out, int smooth)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = in[i];
    float x = s[t];
    if (smooth > 0) {
        __syncthreads();
        x = 0.5f * s[t] + 0.25f * (s[(t + 63) & 63] + s[(t + 1) & 63]);
    } else if (blockIdx.x == 1) {
        __syncthreads();
        x = s[63 - t];
    }
    out[i] = x;
}

// Half of the warps leave their loop early: each warp's own trips hold its own barrier.
KERNEL warps_with_own_barrier(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x, warp = t / 32;
    s[t] = in[blockIdx.x * 128 + t];
    for (int r = 0; r <= warp; r++) {
        __syncwarp();
        int x = s[warp * 32 + ((t + 1) & 31)];
        __syncwarp();
        s[t] += x;
    }
    __syncthreads();
    out[blockIdx.x * 128 + t] = s[127 - t];
}

KERNEL producer_consumer_named(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x & 63;
    if (threadIdx.x < 64) {
        s[t] = in[blockIdx.x * 64 + t] * 2;
        asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        out[blockIdx.x * 64 + t] = s[63 - t];
    }
}

KERNEL vote_any_all(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    int any = __any_sync(FULL, x > 90), all = __all_sync(FULL, x > -95);
    out[i] = (any ? 1 : 0) | (all ? 2 : 0);
}

KERNEL ballot_ranks(const unsigned *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    unsigned x = in[i] & 7;
    int rank = 0;
    for (unsigned v = 0; v < 8; v++) {
        unsigned lanes = __ballot_sync(FULL, x == v);
        if (x > v)
            rank += __popc(lanes);
        else if (x == v)
            rank += __popc(lanes & ((1u << lane) - 1));
    }
    out[i] = rank;
}

KERNEL pack_bits(const int *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned word = __ballot_sync(FULL, i < n && in[i] < 0);
    if ((threadIdx.x & 31) == 0)
        out[i / 32] = word;
}

KERNEL newton_until_all(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = fabsf(in[i]) + 0.5f, x = a;
    for (int k = 0; k < 40; k++) {
        float next = 0.5f * (x + a / x);
        bool done = next == x;
        x = next;
        if (__all_sync(FULL, done))
            break;
    }
    out[i] = x;
}

KERNEL match_groups(const int *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, all;
    unsigned same = __match_any_sync(FULL, in[i] & 3);
    __match_all_sync(FULL, in[i] >> 31, &all);
    out[i] = same + (unsigned)(all != 0);
}

KERNEL shuffle_under_condition(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    if ((threadIdx.x & 31) < 16) {
        x += __shfl_xor_sync(0x0000ffffu, x, 3);
        x ^= __shfl_xor_sync(0x0000ffffu, x, 8);
    }
    out[i] = x;
}

KERNEL rotate_in_segments(const int *in, int *out, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = __shfl_sync(FULL, in[i], threadIdx.x + by, 8);
    double d = __shfl_down_sync(FULL, (double)x * 0.5, 2, 16);
    out[i] = x + (int)d;
}

KERNEL heap_list(int *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int *list = (int *)malloc(16 * sizeof(int));
    if (list == nullptr) {
        out[t] = -1;
        return;
    }
    for (int i = 0; i < 16; i++)
        list[i] = i * t;
    int sum = 0;
    for (int i = 15; i >= 0; i--)
        sum = sum * 3 + list[i];
    free(list);
    out[t] = sum;
}

struct config {
    int rows, columns;
    float scale[4];
    double bias;
    unsigned char flags[8];
};
KERNEL struct_parameter(const config c, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < c.rows * c.columns)
        out[i] = (float)i * c.scale[i & 3] + (float)c.bias + (float)c.flags[i & 7];
}

KERNEL __launch_bounds__(64, 2) bounded_triple_loop(int *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            if ((i + j + t) % 5 == 0)
                continue;
            for (int k = 0; k < (t & 3); k++) {
                if (k * i > 20)
                    goto next;
                sum += i * j - k;
            }
        next:
            sum ^= j;
        }
    out[t] = sum;
}

KERNEL binary_search_many(const int *sorted, int n, const int *key, int *at, int keys)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= keys)
        return;
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (sorted[middle] < key[i])
            low = middle + 1;
        else
            high = middle;
    }
    at[i] = low;
}
