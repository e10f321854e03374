// SPDX-License-Identifier: Apache-2.0
// Graphs, hash tables, queues, locks: atomics of every kind.

#define KERNEL extern "C" __global__ void
#define FULL 0xffffffffu

KERNEL bfs_level(const int *neighbour, int degree, int *level, int now, int *changed, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || level[v] != now)
        return;
    for (int k = 0; k < degree; k++) {
        int to = neighbour[v * degree + k];
        if (level[to] > now + 1) {
            level[to] = now + 1;
            *changed = 1;
        }
    }
}

KERNEL bfs_queue(const int *neighbour, int degree, const int *frontier, int frontier_size,
                 int *visited, int *next, int *next_size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= frontier_size)
        return;
    int v = frontier[i];
    for (int k = 0; k < degree; k++) {
        int to = neighbour[v * degree + k];
        if (atomicExch(&visited[to], 1) == 0)
            next[atomicAdd(next_size, 1)] = to;
    }
}

__device__ int find_root(volatile int *parent, int x)
{
    while (parent[x] != x)
        x = parent[x];
    return x;
}
KERNEL union_find(const int *from, const int *to, int *parent, int *root, int edges, int n)
{
    for (int i = threadIdx.x; i < edges; i += blockDim.x) {
        int a = from[i], b = to[i];
        for (;;) {
            a = find_root(parent, a);
            b = find_root(parent, b);
            if (a == b)
                break;
            int high = max(a, b), low = min(a, b);
            int old = atomicCAS(&parent[high], high, low);
            if (old == high)
                break;
            a = old;
            b = low;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        root[i] = find_root(parent, i);
}

KERNEL union_find_flatten(int *parent, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int root = i;
    while (parent[root] != root)
        root = parent[root];
    parent[i] = root;
}

KERNEL pagerank_pull(const int *neighbour, int degree, const float *rank, float *next, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < degree; k++)
        sum += rank[neighbour[v * degree + k]] / (float)degree;
    next[v] = 0.15f / (float)n + 0.85f * sum;
}

KERNEL sssp_relax(const int *neighbour, const int *weight, int degree, const int *distance,
                  int *next, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    int d = distance[v];
    for (int k = 0; k < degree; k++)
        atomicMin(&next[neighbour[v * degree + k]], d + (weight[v * degree + k] & 15));
}

KERNEL hash_insert(const unsigned *key, unsigned *slot, int *count, int n, unsigned slots)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned k = (key[i] & 255) + 1;
    for (unsigned at = k * 2654435761u % slots;; at = (at + 1) % slots) {
        unsigned old = atomicCAS(&slot[at], 0u, k);
        if (old == 0u)
            atomicAdd(count, 1);
        if (old == 0u || old == k)
            break;
    }
}

KERNEL hash_lookup(const unsigned *key, const unsigned *slot, int *found, int n, unsigned slots)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned k = key[i], at = k % slots;
    int result = -1;
    for (unsigned probe = 0; probe < 8; probe++, at = (at + 1) % slots)
        if (slot[at] == k) {
            result = (int)at;
            break;
        }
    found[i] = result;
}

KERNEL count_triangles(const unsigned *adjacency, unsigned long long *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int count = 0;
    for (int j = 0; j < i; j++)
        if (adjacency[i] >> j & 1)
            count += __popc(adjacency[i] & adjacency[j] & ((1u << j) - 1));
    atomicAdd(total, (unsigned long long)count);
}

KERNEL pointer_jumping(const int *next, int *hops, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int at = i, steps = 0;
    for (int r = 0; r < rounds && next[at] != at; r++) {
        at = next[at];
        steps++;
    }
    hops[i] = at * 1000 + steps;
}

__device__ int bucket_lock[16];
KERNEL locked_update(const int *bucket, const int *value, volatile int *sum, volatile int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int b = bucket[i] & 15;
    bool done = false;
    while (!done) {
        if (atomicCAS(&bucket_lock[b], 0, 1) == 0) {
            __threadfence();
            sum[b] = sum[b] + value[i];
            count[b] = count[b] + 1;
            __threadfence();
            atomicExch(&bucket_lock[b], 0);
            done = true;
        }
    }
}

KERNEL bit_flags(const int *in, unsigned *all_or, unsigned *all_and, unsigned *all_xor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicOr(all_or, 1u << (in[i] & 15));
        atomicAnd(all_and, ~(1u << (in[i] & 15)));
        atomicXor(all_xor, (unsigned)in[i]);
    }
}

__device__ double atomic_add_double(double *at, double x)
{
    unsigned long long *word = (unsigned long long *)at, old = *word, seen;
    do {
        seen = old;
        old = atomicCAS(word, seen, __double_as_longlong(x + __longlong_as_double(seen)));
    } while (seen != old);
    return __longlong_as_double(old);
}
KERNEL sum_double_cas(const int *in, double *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomic_add_double(sum, 0.5 * in[i]);
}

__device__ void atomic_max_float(float *at, float x)
{
    int old = __float_as_int(*at);
    while (x > __int_as_float(old)) {
        int seen = atomicCAS((int *)at, old, __float_as_int(x));
        if (seen == old)
            break;
        old = seen;
    }
}
KERNEL max_float_cas(const float *in, float *most, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomic_max_float(most, in[i]);
}

KERNEL filter_aggregated(const int *in, int *out, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || in[i] % 3 != 0)
        return;
    unsigned active = __activemask();
    int lane = threadIdx.x & 31, leader = __ffs(active) - 1, base = 0;
    if (lane == leader)
        base = atomicAdd(count, __popc(active));
    base = __shfl_sync(active, base, leader);
    out[base + __popc(active & ((1u << lane) - 1))] = in[i];
}

KERNEL ticket_order(int *out, unsigned *ticket, int n)
{
    __shared__ unsigned first;
    if (threadIdx.x == 0)
        first = atomicAdd(ticket, blockDim.x);
    __syncthreads();
    unsigned at = first + threadIdx.x;
    if (at < n)
        out[at] = 1 + (int)at;
}
