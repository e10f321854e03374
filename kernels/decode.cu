// SPDX-License-Identifier: Apache-2.0
/* The kernels of examples/decode: one step of a Llama-architecture model.
 *
 * A kernel works on rows. In a decode step row r is slot r of the batch; in a prefill the
 * rows are the tokens of one or several prompts. Which slot a row belongs to and where in
 * its sequence it is, slot[r] and position[r], lies in device memory and is advanced
 * there, so that a captured step can be replayed for every token. A row whose position is
 * negative is idle: nothing is computed or written for it.
 *
 *   x       [rows][width]                         the residual stream
 *   qkv     [rows][heads + 2 kv_heads][head_dim]  queries, keys, values
 *   keys    [slots][kv_heads][context][head_dim]  of one layer; values likewise
 *   weight  [inputs][stride]                      transposed from the file's layout; its
 *                                                 columns are padded to a multiple of 64
 */
#include "decode.cuh"
#include "math.cuh"

extern __shared__ float dynamic_shared[];

/* Sum over the block, of whole warps; `part` holds a float a warp. Every thread gets the
 * result. */
__device__ __forceinline__ float block_sum(float x, float *part)
{
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    x = warp_sum(x);
    __syncthreads(); /* part may still be read from the last call */
    if (lane == 0)
        part[warp] = x;
    __syncthreads();
    return warp_sum(lane < blockDim.x / WARP ? part[lane] : 0.0f);
}

__device__ __forceinline__ float block_max(float x, float *part)
{
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    x = warp_max(x);
    __syncthreads();
    if (lane == 0)
        part[warp] = x;
    __syncthreads();
    return warp_max(part[lane < blockDim.x / WARP ? lane : 0]);
}

/* A block a row. */
KERNEL embed(float *x, const float *table, const int *token, const int *position,
             u32 width)
{
    const u32 row = blockIdx.x;
    if (position[row] < 0)
        return;
    const float *from = table + (u64)token[row] * width;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        x[(u64)row * width + i] = from[i];
}

/* A block a row: x / sqrt(mean(x^2) + eps) * weight. */
KERNEL rms_norm(float *out, const float *x, const float *weight, const int *position,
                u32 width, float eps)
{
    __shared__ float part[WARP];
    const u64 row = blockIdx.x;
    if (position[row] < 0)
        return;
    float sum = 0;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        sum += x[row * width + i] * x[row * width + i];
    const float scale = rsqrtf(block_sum(sum, part) / (float)width + eps);
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        out[row * width + i] = x[row * width + i] * scale * weight[i];
}

/* One row times a matrix. Block (32, 8): 32 columns, the inputs split eight ways. */
KERNEL matvec(float *out, const float *x, const float *weight, const int *position,
              matrix_t size)
{
    __shared__ float part[8][32];
    const u32 row = blockIdx.y, inputs = size.inputs;
    if (position[row] < 0)
        return;
    const u32 column = blockIdx.x * 32 + threadIdx.x;
    const float *in = x + (u64)row * inputs;
    float sum = 0;
    u32 k0 = 0;
    for (; k0 + 64 <= inputs; k0 += 64) {
#pragma unroll
        for (u32 i = 0; i < 64; i += 8) {
            const u32 k = k0 + i + threadIdx.y;
            sum += in[k] * weight[(u64)k * size.stride + column];
        }
    }
    for (; k0 < inputs; k0 += 8) {
        const u32 k = k0 + threadIdx.y;
        if (k < inputs)
            sum += in[k] * weight[(u64)k * size.stride + column];
    }
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < size.outputs) {
#pragma unroll
        for (u32 i = 1; i < 8; i++)
            sum += part[i][threadIdx.x];
        out[(u64)row * size.outputs + column] = sum;
    }
}

/* A few rows times a matrix. Block of 64: 64 columns of 8 rows; x passes through shared
 * memory 32 inputs at a time, every weight is read once for the 8 rows. */
KERNEL matmul(float *out, const float *x, const float *weight, const int *position,
              u32 rows, matrix_t size)
{
    __shared__ float tile[8][32];
    const u32 inputs = size.inputs, row0 = blockIdx.y * 8;
    const u32 column = blockIdx.x * 64 + threadIdx.x;
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (u32 k0 = 0; k0 < inputs; k0 += 32) {
        for (u32 i = threadIdx.x; i < 256; i += 64) {
            const u32 row = row0 + i / 32, k = k0 + i % 32;
            tile[i / 32][i % 32] =
                row < rows && k < inputs ? x[(u64)row * inputs + k] : 0.0f;
        }
        __syncthreads();
        const float *w = weight + (u64)k0 * size.stride + column;
        if (k0 + 32 <= inputs) {
#pragma unroll 8
            for (u32 k = 0; k < 32; k++) {
                const float factor = w[(u64)k * size.stride];
#pragma unroll
                for (u32 r = 0; r < 8; r++)
                    sum[r] += tile[r][k] * factor;
            }
        } else {
            for (u32 k = 0; k < inputs - k0; k++) {
                const float factor = w[(u64)k * size.stride];
#pragma unroll
                for (u32 r = 0; r < 8; r++)
                    sum[r] += tile[r][k] * factor;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 r = 0; r < 8; r++)
        if (column < size.outputs && row0 + r < rows && position[row0 + r] >= 0)
            out[(u64)(row0 + r) * size.outputs + column] = sum[r];
}

/* Rotates queries and keys in place: dimension i goes with i + head_dim / 2, by the angle
 * position * rate[i]. Grid (heads + kv_heads, rows). */
KERNEL rotary(float *qkv, const float *rate, const int *position, u32 stride,
              u32 head_dim)
{
    const u32 row = blockIdx.y, half = head_dim / 2;
    if (position[row] < 0)
        return;
    float *head = qkv + (u64)row * stride + blockIdx.x * head_dim;
    for (u32 i = threadIdx.x; i < half; i += blockDim.x) {
        float sine, cosine;
        sincosf((float)position[row] * rate[i], &sine, &cosine);
        const float a = head[i], b = head[i + half];
        head[i] = a * cosine - b * sine;
        head[i + half] = b * cosine + a * sine;
    }
}

/* Puts the rows' keys and values into the cache. Grid (kv_heads, rows). `kv` points at
 * the first key of row 0. */
KERNEL kv_append(float *keys, float *values, const float *kv, const rows_t rows,
                 u32 stride, shape_t shape)
{
    const u32 row = blockIdx.y, head = blockIdx.x;
    const int position = rows.position[row];
    if (position < 0)
        return;
    const float *key = kv + (u64)row * stride + head * shape.head_dim;
    const float *value = key + shape.kv_heads * shape.head_dim;
    const u64 at =
        (((u64)rows.slot[row] * shape.kv_heads + head) * shape.context + (u32)position) *
        shape.head_dim;
    for (u32 i = threadIdx.x; i < shape.head_dim; i += blockDim.x) {
        keys[at + i] = key[i];
        values[at + i] = value[i];
    }
}

/* Attention of one query over its slot's cache up to its own position: a decode step, or
 * a row of a prefill whose keys have all been appended. Grid (heads, rows), whole warps;
 * dynamic shared memory: a float a position of the context. */
KERNEL attention(float *out, const float *qkv, const float *keys, const float *values,
                 const rows_t rows, shape_t shape)
{
    __shared__ float part[WARP];
    float *score = dynamic_shared;
    const u32 row = blockIdx.y, head = blockIdx.x, d = shape.head_dim;
    if (rows.position[row] < 0)
        return;
    const u32 count = (u32)rows.position[row] + 1;
    const u32 kv_head = head / (shape.heads / shape.kv_heads);
    const u64 base = ((u64)rows.slot[row] * shape.kv_heads + kv_head) * shape.context * d;
    const float *query = qkv + ((u64)row * (shape.heads + 2 * shape.kv_heads) + head) * d;

    float top = -3.4e38f;
    for (u32 j0 = 0; j0 < count; j0 += blockDim.x) { /* a key a thread */
        const u32 j = j0 + threadIdx.x, safe = j < count ? j : count - 1;
        const float *key = keys + base + (u64)safe * d;
        float dot = 0;
        for (u32 i = 0; i < d; i++)
            dot += query[i] * key[i];
        if (j < count) {
            score[j] = dot * shape.scale;
            top = fmaxf(top, score[j]);
        }
    }
    top = block_max(top, part);
    float sum = 0;
    for (u32 j = threadIdx.x; j < count; j += blockDim.x) {
        score[j] = __expf(score[j] - top);
        sum += score[j];
    }
    sum = block_sum(sum, part); /* its barriers also publish the scores */
    for (u32 i0 = 0; i0 < d; i0 += blockDim.x) { /* a dimension a thread */
        const u32 i = i0 + threadIdx.x, safe = i < d ? i : d - 1;
        const float *value = values + base + safe;
        float mix = 0;
#pragma unroll 4
        for (u32 j = 0; j < count; j++)
            mix += score[j] * value[(u64)j * d];
        if (i < d)
            out[((u64)row * shape.heads + head) * d + i] = mix / sum;
    }
}

/* out = silu(gate) * up, with gate and up side by side in a row. Grid (x, rows). */
KERNEL swiglu(float *out, const float *gate_up, const int *position, u32 inner)
{
    const u64 row = blockIdx.y;
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (position[row] < 0 || i >= inner)
        return;
    const float gate = gate_up[row * 2 * inner + i],
                up = gate_up[row * 2 * inner + inner + i];
    out[row * inner + i] = gate / (1.0f + __expf(-gate)) * up;
}

/* x += y. Grid (x, rows). */
KERNEL residual_add(float *x, const float *y, const int *position, u32 width)
{
    const u64 row = blockIdx.y;
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (position[row] >= 0 && i < width)
        x[row * width + i] += y[row * width + i];
}

/* The last token's row of each prompt, side by side. A block a prompt. */
KERNEL gather(float *out, const float *x, const int *index, u32 width)
{
    const u64 from = (u64)index[blockIdx.x] * width, to = (u64)blockIdx.x * width;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        out[to + i] = x[from + i];
}

/* Of x * sharpness, in place; sharpness is 1 / temperature. A block a row. */
KERNEL softmax(float *x, const int *position, u32 width, float sharpness)
{
    __shared__ float part[WARP];
    float *row = x + (u64)blockIdx.x * width;
    if (position[blockIdx.x] < 0)
        return;
    float top = -3.4e38f;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        top = fmaxf(top, row[i] * sharpness);
    top = block_max(top, part);
    float sum = 0;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        sum += __expf(row[i] * sharpness - top);
    sum = block_sum(sum, part);
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        row[i] = __expf(row[i] * sharpness - top) / sum;
}

/* The index of the greatest logit, the lowest of equals. A block a row. */
KERNEL argmax(int *next, const float *logits, const int *position, u32 width)
{
    __shared__ float part[WARP];
    __shared__ int where[WARP];
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const float *row = logits + (u64)blockIdx.x * width;
    if (position[blockIdx.x] < 0)
        return;
    float top = -3.4e38f;
    int at = 0x7fffffff;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        if (row[i] > top) {
            top = row[i];
            at = (int)i;
        }
    for (int step = 16; step > 0; step >>= 1) {
        const float other = __shfl_xor_sync(ALL_LANES, top, step);
        const int there = __shfl_xor_sync(ALL_LANES, at, step);
        if (other > top || (other == top && there < at)) {
            top = other;
            at = there;
        }
    }
    if (lane == 0) {
        part[warp] = top;
        where[warp] = at;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 w = 1; w < blockDim.x / WARP; w++)
            if (part[w] > top || (part[w] == top && where[w] < at)) {
                top = part[w];
                at = where[w];
            }
        next[blockIdx.x] = at < (int)width ? at : 0; /* all NaN: token 0 */
    }
}

/* Philox 4x32-10 (Salmon et al., SC11): 32 random bits from a key and a counter. */
__device__ __forceinline__ u32 philox(u64 key, u32 c0, u32 c1)
{
    u32 k0 = (u32)key, k1 = (u32)(key >> 32), c2 = 0, c3 = 0;
    for (int round = 0; round < 10; round++) {
        const u32 h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
        const u32 h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
        c0 = h1 ^ c1 ^ k0;
        c1 = l1;
        c2 = h0 ^ c3 ^ k1;
        c3 = l0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c0;
}

/* Draws a token from the nucleus: the most probable tokens that together reach top_p (and
 * whatever ties with the last of them). The threshold is found bit by bit, since positive
 * floats are ordered as their bits are; so nothing is sorted. The random number depends
 * on seed, sequence and position alone: the same in every batch and mode.
 * A block of 128 a row. */
KERNEL top_p(int *next, const float *probability, const int *position,
             const int *sequence, u32 width, sampling_t sampling)
{
    __shared__ float part[WARP];
    __shared__ float mass[128];
    const float *row = probability + (u64)blockIdx.x * width;
    if (position[blockIdx.x] < 0)
        return;
    int bits = 0;
    for (int bit = 1 << 29; bit > 0; bit >>= 1) {
        const float least = __int_as_float(bits | bit);
        float sum = 0;
        for (u32 i = threadIdx.x; i < width; i += blockDim.x)
            sum += row[i] >= least ? row[i] : 0.0f;
        if (block_sum(sum, part) >= sampling.top_p)
            bits |= bit;
    }
    const float least = __int_as_float(bits);
    const u32 share = (width + 127) / 128, first = threadIdx.x * share;
    float sum = 0;
    for (u32 i = first; i < first + share && i < width; i++)
        sum += row[i] >= least ? row[i] : 0.0f;
    mass[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0;
        for (u32 i = 0; i < 128; i++)
            total += mass[i];
        const u32 random =
            philox(sampling.seed, (u32)sequence[blockIdx.x], (u32)position[blockIdx.x]);
        float left = (float)(random >> 8) * 0x1p-24f * total;
        u32 owner = 0;
        while (owner < 127 && (mass[owner] <= left || mass[owner] == 0.0f)) {
            left -= mass[owner];
            owner++;
        }
        /* rounding can leave nothing at the end: then the last token that counts */
        u32 chosen = 0;
        for (u32 i = 0; i < width; i++) {
            if (i >= owner * share && row[i] >= least) {
                chosen = i;
                if (left < row[i])
                    break;
                left -= row[i];
            } else if (row[i] >= least) {
                chosen = i;
            }
        }
        next[blockIdx.x] = (int)chosen;
    }
}

/* Keeps the logits of this step: log[step % steps][row]. A block a row. */
KERNEL record(float *log, const float *logits, const int *position, const u32 *step,
              u32 width, u32 steps)
{
    if (position[blockIdx.x] < 0)
        return;
    float *to = log + ((u64)(*step % steps) * gridDim.x + blockIdx.x) * width;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        to[i] = logits[(u64)blockIdx.x * width + i];
}

/* How many of the thread's slots are live after the step. */
__device__ __forceinline__ u32 advance_slots(const state_t state, const int *next, int *given,
                                             u32 slots, int end)
{
    u32 live = 0;
    for (u32 s = threadIdx.x; s < slots; s += blockDim.x) {
        const int position = state.position[s];
        if (position < 0) {
            given[s] = -1;
            continue;
        }
        const bool last = next[s] == end || position + 1 >= state.limit[s];
        state.token[s] = next[s];
        state.position[s] = last ? -1 : position + 1;
        given[s] = next[s];
        live += !last;
    }
    return live;
}

/* Ends a decode step: every live slot takes its token and moves on, or becomes idle. The
 * ring, in host memory, reports the last steps to the host: per slot the token, -1 where
 * the slot was idle. One block. */
KERNEL advance(state_t state, const int *next, int *ring, u32 slots, u32 depth, int end)
{
    advance_slots(state, next, ring + (u64)(*state.step % depth) * slots, slots, end);
    __syncthreads();
    if (threadIdx.x == 0)
        *state.step += 1;
}

/* The same, and whether a loop of such steps goes on. One block of whole warps. */
KERNEL advance_while(state_t state, const int *next, int *ring, u32 slots, u32 depth, int end,
                     going_t *loop)
{
    __shared__ float part[WARP];
    const u32 mine =
        advance_slots(state, next, ring + (u64)(*state.step % depth) * slots, slots, end);
    const u32 live = (u32)block_sum((float)mine, part); /* exact: slots are few */
    if (threadIdx.x == 0) {
        *state.step += 1;
        loop->seen += live <= loop->least;
        loop->going = loop->seen < loop->lag;
    }
}

/* Ends a prefill: prompt i starts decoding in slot[i], unless its first token ended it.
 */
KERNEL place(state_t state, const int *next, const start_t *start, u32 count, int end)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const u32 s = (u32)start[i].slot;
    const bool last = next[i] == end || start[i].position >= start[i].limit;
    state.token[s] = next[i];
    state.limit[s] = start[i].limit;
    state.sequence[s] = start[i].sequence;
    state.position[s] = last ? -1 : start[i].position;
}

/* A request's prompt as the rows of a prefill, those beyond it idle. `to` as the host lays it
 * out for a prefill: token, position and slot by row; last row, its position, sequence,
 * start. One block. */
KERNEL unpack(const ask_t *ask, int *to)
{
    const u32 r = threadIdx.x;
    const int count = (int)ask->count;
    if (r < ASK_TOKENS) {
        to[r] = (int)r < count ? ask->token[r] : 0;
        to[ASK_TOKENS + r] = (int)r < count ? (int)r : -1;
        to[2 * ASK_TOKENS + r] = ask->start.slot;
    }
    if (r > 0)
        return;
    int *rest = to + 3 * ASK_TOKENS;
    rest[0] = count - 1;
    rest[1] = count - 1;
    rest[2] = ask->start.sequence;
    *(start_t *)(rest + 3) = ask->start;
}

/* Says the first token of a request's answer, in host memory. */
KERNEL say_first(int *out, const int *next, const ask_t *ask)
{
    out[ask->start.sequence] = next[0];
}

/* The rows of a step over some of the slots: row r is slot active[r], or idle where that
 * is negative. One block. */
KERNEL pick(state_t state, const int *active, const picked_t out, u32 rows)
{
    for (u32 r = threadIdx.x; r < rows; r += blockDim.x) {
        const int s = active[r];
        out.slot[r] = s < 0 ? 0 : s;
        out.token[r] = s < 0 ? 0 : state.token[s];
        out.position[r] = s < 0 ? -1 : state.position[s];
        out.sequence[r] = s < 0 ? 0 : state.sequence[s];
    }
}

/* Ends such a step: every row's slot takes its token and moves on, or becomes idle.
 * given[r] is the row's token, -1 where it was idle. One block. */
KERNEL put_back(state_t state, const int *active, const int *next, int *given, u32 rows,
                int end)
{
    for (u32 r = threadIdx.x; r < rows; r += blockDim.x) {
        const int s = active[r];
        const int position = s < 0 ? -1 : state.position[s];
        if (position < 0) {
            given[r] = -1;
            continue;
        }
        const bool last = next[r] == end || position + 1 >= state.limit[s];
        state.token[s] = next[r];
        state.position[s] = last ? -1 : position + 1;
        given[r] = next[r];
    }
}

/* The rows of a look ahead in one slot: its last token, then guesses of what follows, as
 * many as fit before its limit. One block. */
KERNEL look_ahead(state_t state, u32 slot, const guesses_t guesses, const picked_t out)
{
    const u32 rows = 1 + guesses.first_count + guesses.more_count;
    for (u32 r = threadIdx.x; r < rows; r += blockDim.x) {
        const int position = state.position[slot] + (int)r;
        const bool fits = state.position[slot] >= 0 && position < state.limit[slot];
        out.slot[r] = (int)slot;
        out.position[r] = fits ? position : -1;
        out.sequence[r] = state.sequence[slot];
        out.token[r] = r == 0 ? state.token[slot]
                       : r <= guesses.first_count
                           ? guesses.first[r - 1]
                           : guesses.more[r - 1 - guesses.first_count];
    }
}

/* By how much the greatest logit of a row beats the second: how sure the model is. A
 * block of 128 a row; 0 for an idle one. */
KERNEL margin(float *out, const float *logits, const int *position, u32 width)
{
    __shared__ float best[128], second[128];
    const float *row = logits + (u64)blockIdx.x * width;
    float top = -3.4e38f, next = -3.4e38f;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x) {
        next = fmaxf(next, fminf(top, row[i]));
        top = fmaxf(top, row[i]);
    }
    best[threadIdx.x] = top;
    second[threadIdx.x] = next;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (u32 i = 1; i < 128; i++) {
        next = fmaxf(fmaxf(next, second[i]), fminf(top, best[i]));
        top = fmaxf(top, best[i]);
    }
    out[blockIdx.x] = position[blockIdx.x] < 0 ? 0.0f : top - next;
}

/* Ends a look ahead: guesses hold as long as each is what the model says after the row
 * before it. given[0] is how many tokens that gives, given[1] and on are they. One thread.
 */
KERNEL accept(state_t state, u32 slot, const picked_t row, const int *next, int *given,
              u32 rows, int end)
{
    u32 count = 0;
    bool more = row.position[0] >= 0;
    while (more) {
        const int token = next[count];
        const int position = row.position[count];
        count++;
        given[count] = token;
        const bool last = token == end || position + 1 >= state.limit[slot];
        state.token[slot] = token;
        state.position[slot] = last ? -1 : position + 1;
        more = !last && count < rows && row.position[count] >= 0 &&
               row.token[count] == token;
    }
    given[0] = (int)count;
}
