// SPDX-License-Identifier: Apache-2.0
/* Attention over pages of keys and values: heads of 128, pages of 16 tokens laid out
 * [page][head][token][128]. */
#define KERNEL extern "C" __global__ void
#define PAGE 16
#define DIM 128

__device__ float warp_sum(float x)
{
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffff, x, step);
    return x;
}
__device__ float warp_max(float x)
{
    for (int step = 16; step > 0; step /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, step));
    return x;
}

/* Grid (heads, sequences), 4 warps, a key a warp. */
KERNEL paged_scores(float *score, const float4 *query, const float4 *key, const int *page,
                    int tokens)
{
    int head = blockIdx.x, heads = gridDim.x, sequence = blockIdx.y;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float4 q = query[(sequence * heads + head) * 32 + lane];
    const int *pages = page + sequence * (tokens / PAGE);
    for (int t = warp; t < tokens; t += 4) {
        size_t at = ((size_t)pages[t / PAGE] * heads + head) * PAGE + t % PAGE;
        float4 k = key[at * 32 + lane];
        float sum = warp_sum(q.x * k.x + q.y * k.y + q.z * k.z + q.w * k.w);
        if (lane == 0)
            score[(sequence * heads + head) * tokens + t] = sum * 0.08838835f;
    }
}

/* A thread a column of the values. */
KERNEL paged_values(float *out, const float *weight, const float *value, const int *page,
                    int tokens)
{
    int head = blockIdx.x, heads = gridDim.x, sequence = blockIdx.y;
    const float *p = weight + (sequence * heads + head) * tokens;
    const int *pages = page + sequence * (tokens / PAGE);
    float sum = 0;
    for (int t = 0; t < tokens; t++) {
        size_t at = ((size_t)pages[t / PAGE] * heads + head) * PAGE + t % PAGE;
        sum += p[t] * value[at * DIM + threadIdx.x];
    }
    out[(sequence * heads + head) * DIM + threadIdx.x] = sum;
}

/* Maximum and sum in one pass, a warp a row. */
KERNEL softmax_online(float *out, const float *in, int rows, int width)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float *x = in + (size_t)row * width;
    float top = -INFINITY, sum = 0;
    for (int i = lane; i < width; i += 32) {
        float next = fmaxf(top, x[i]);
        sum = sum * __expf(top - next) + __expf(x[i] - next);
        top = next;
    }
    float all = warp_max(top);
    sum = warp_sum(sum * __expf(top - all));
    for (int i = lane; i < width; i += 32)
        out[(size_t)row * width + i] = __expf(x[i] - all) / sum;
}

/* Row r looks at columns 0 to r. */
KERNEL softmax_causal(float *out, const float *in, int width)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= width)
        return;
    const float *x = in + (size_t)row * width;
    float top = -INFINITY, sum = 0;
    for (int i = lane; i <= row; i += 32)
        top = fmaxf(top, x[i]);
    top = warp_max(top);
    for (int i = lane; i <= row; i += 32)
        sum += __expf(x[i] - top);
    sum = warp_sum(sum);
    for (int i = lane; i < width; i += 32)
        out[(size_t)row * width + i] = i <= row ? __expf(x[i] - top) / sum : 0.0f;
}

/* A thread a query of 32, keys and values by tiles of 32 in shared memory. */
KERNEL attention_tile(float *out, const float *query, const float *key, const float *value,
                      int n)
{
    __shared__ float k[32][32], v[32][32];
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float q[32], sum[32], top = -INFINITY, total = 0;
    for (int d = 0; d < 32; d++) {
        q[d] = query[row * 32 + d] * 0.17677669f;
        sum[d] = 0;
    }
    for (int first = 0; first < n; first += 32) {
        __syncthreads();
        for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) {
            k[i / 32][i % 32] = key[first * 32 + i];
            v[i / 32][i % 32] = value[first * 32 + i];
        }
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float s = 0;
            for (int d = 0; d < 32; d++)
                s += q[d] * k[j][d];
            float next = fmaxf(top, s), scale = __expf(top - next), p = __expf(s - next);
            total = total * scale + p;
            for (int d = 0; d < 32; d++)
                sum[d] = sum[d] * scale + p * v[j][d];
            top = next;
        }
    }
    for (int d = 0; d < 32; d++)
        out[row * 32 + d] = sum[d] / total;
}

/* New keys and values to the places that slots name; a block a token. */
KERNEL kv_write(float *keys, float *values, const float *key, const float *value,
                const int *slot, int heads)
{
    int token = blockIdx.x, at = slot[token];
    if (at < 0)
        return;
    int page = at / PAGE, offset = at % PAGE;
    for (int i = threadIdx.x; i < heads * DIM; i += blockDim.x) {
        int head = i / DIM, d = i % DIM;
        size_t to = (((size_t)page * heads + head) * PAGE + offset) * DIM + d;
        keys[to] = key[(size_t)token * heads * DIM + i];
        values[to] = value[(size_t)token * heads * DIM + i];
    }
}

/* Halves of each head rotated by the position's angles; a block a token. */
KERNEL rope(float *x, const float *cosine, const float *sine, const int *position,
            int heads)
{
    int token = blockIdx.x, p = position[token];
    for (int i = threadIdx.x; i < heads * (DIM / 2); i += blockDim.x) {
        int head = i / (DIM / 2), d = i % (DIM / 2);
        float *at = x + ((size_t)token * heads + head) * DIM + d;
        float c = cosine[p * (DIM / 2) + d], s = sine[p * (DIM / 2) + d];
        float a = at[0], b = at[DIM / 2];
        at[0] = a * c - b * s;
        at[DIM / 2] = b * c + a * s;
    }
}
