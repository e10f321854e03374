// SPDX-License-Identifier: Apache-2.0
/* Kernels that launch kernels (-rdc=true): order, streams and events of a block, tails, errors
 * of launches, memory, recursion, the same in a graph. */
#include "check.h"
#include <algorithm>

__device__ int order[256], place, total;

__global__ void mark(int what)
{
    order[atomicAdd(&place, 1)] = what;
}

__global__ void add(int what)
{
    atomicAdd(&total, what);
}

static void show(const char *name)
{
    int marks[256], count, zero = 0;
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(&count, place, sizeof(count)));
    OK(cudaMemcpyFromSymbol(marks, order, sizeof(marks)));
    OK(cudaMemcpyToSymbol(place, &zero, sizeof(zero)));
    printf("%s:", name);
    for (int i = 0; i < count; i++)
        printf(" %d", marks[i]);
    printf("\n");
}

/* ---- order ---- */

__global__ void one_stream()
{
    if (threadIdx.x == 0)
        for (int i = 0; i < 4; i++)
            mark<<<1, 1>>>(i);
    __syncthreads();
    if (threadIdx.x == 40) /* the block's stream, not the thread's */
        mark<<<1, 1>>>(4);
}

__global__ void tails()
{
    mark<<<1, 1, 0, cudaStreamTailLaunch>>>(20);
    mark<<<1, 1>>>(11);
    mark<<<1, 1, 0, cudaStreamTailLaunch>>>(21);
}

__global__ void tail_of_tail(int what)
{
    order[atomicAdd(&place, 1)] = what;
    if (what >= 100)
        return;
    tail_of_tail<<<1, 1, 0, cudaStreamTailLaunch>>>(10 * what + 1);
    tail_of_tail<<<1, 1, 0, cudaStreamTailLaunch>>>(10 * what + 2);
    if (what < 10)
        tail_of_tail<<<1, 1>>>(10 * what + 3);
}

__global__ void two_streams()
{
    cudaStream_t first, second;
    cudaEvent_t done;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    mark<<<1, 1, 0, first>>>(1);
    cudaEventRecord(done, first);
    cudaStreamWaitEvent(second, done, 0);
    mark<<<1, 1, 0, second>>>(2);
    cudaEventRecord(done, second);
    cudaStreamWaitEvent(first, done, 0);
    mark<<<1, 1, 0, first>>>(3);
    cudaEventDestroy(done);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    order[250] = cudaGetLastError();
}

__global__ void of_all_threads()
{
    add<<<2, 2>>>(1);
    add<<<1, 1, 0, cudaStreamFireAndForget>>>(1000);
}

static void orders()
{
    one_stream<<<1, 64>>>();
    mark<<<1, 1>>>(99); /* after all that the kernel before it has launched */
    show("one stream");
    tails<<<1, 1>>>();
    mark<<<1, 1>>>(99);
    show("tails");
    tail_of_tail<<<1, 1>>>(1);
    mark<<<1, 1>>>(99);
    show("tails of tails");
    two_streams<<<1, 1>>>();
    show("two streams");
    of_all_threads<<<4, 32>>>();
    int sum;
    OK(cudaMemcpyFromSymbol(&sum, total, sizeof(sum)));
    printf("all threads: %d\n", sum);
}

/* ---- errors, per thread ---- */

__global__ void __launch_bounds__(64) small() {}

__global__ void wrong()
{
    cudaStream_t stream;
    if (threadIdx.x == 1)
        small<<<1, 2000>>>();
    __syncthreads();
    printf("thread %d: %s\n", threadIdx.x, cudaGetErrorName(cudaPeekAtLastError()));
    if (threadIdx.x == 0)
        return;
    printf("%s, then %s\n", cudaGetErrorString(cudaGetLastError()),
           cudaGetErrorString(cudaGetLastError()));
    small<<<0, 1>>>();
    printf("no blocks: %d\n", cudaGetLastError());
    small<<<1, 65>>>();
    printf("beyond its bounds: %d\n", cudaGetLastError());
    small<<<1, 1, 1 << 20>>>();
    printf("too much shared memory: %d\n", cudaGetLastError());
    printf("a blocking stream: %d\n", cudaStreamCreateWithFlags(&stream, cudaStreamDefault));
    printf("last: %d\n", cudaGetLastError());
}

template <int TAIL> __global__ void deeper(int level, int last)
{
    atomicMax(&total, level);
    if (level == last)
        return;
    if (TAIL)
        deeper<TAIL><<<1, 1, 0, cudaStreamTailLaunch>>>(level + 1, last);
    else
        deeper<TAIL><<<1, 1>>>(level + 1, last);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        printf("level %d: %s\n", level, cudaGetErrorName(error));
}

template <int TAIL> static void depth(const char *name, int last)
{
    int deepest = 0;
    OK(cudaMemcpyToSymbol(total, &deepest, sizeof(deepest)));
    deeper<TAIL><<<1, 1>>>(1, last);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(&deepest, total, sizeof(deepest)));
    printf("%s: level %d\n", name, deepest);
}

static void errors()
{
    wrong<<<1, 2>>>();
    OK(cudaDeviceSynchronize());
    depth<0>("depth", 40);
    depth<1>("tails in turn", 300);
}

/* ---- memory ---- */

struct curve {
    float from, by;
    int count;
    float *points;
};

__global__ void fill_curve(curve *c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < c->count)
        c->points[i] = c->from + i * c->by;
}

__global__ void sum_curve(const curve *c, float *out)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        for (int i = 0; i < c->count; i++)
            *out += c->points[i];
}

__global__ void free_curves(curve *all)
{
    cudaFree(all[threadIdx.x].points);
}

/* Each thread asks for as much memory as its curve needs. */
__global__ void draw(curve *all, float *out)
{
    curve *c = &all[threadIdx.x];
    c->count = 10 << threadIdx.x;
    if (cudaMalloc((void **)&c->points, c->count * sizeof(float)) != cudaSuccess)
        return;
    cudaMemsetAsync(c->points, 0, c->count * sizeof(float));
    fill_curve<<<(c->count + 31) / 32, 32>>>(c);
    cudaMemsetAsync(out + threadIdx.x, 0, sizeof(float));
    sum_curve<<<1, 1>>>(c, out + threadIdx.x);
    cudaMemcpyAsync(out + 4 + threadIdx.x, out + threadIdx.x, sizeof(float),
                    cudaMemcpyDeviceToDevice);
}

static void memory()
{
    curve host[4] = {{0, 1}, {1, 0.5f}, {2, 0.25f}, {-1, 0}}, *all;
    float sums[8], *out;
    OK(cudaMalloc(&all, sizeof(host)));
    OK(cudaMalloc(&out, sizeof(sums)));
    OK(cudaMemcpy(all, host, sizeof(host), cudaMemcpyHostToDevice));
    draw<<<1, 4>>>(all, out);
    free_curves<<<1, 4>>>(all);
    OK(cudaMemcpy(sums, out, sizeof(sums), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4; i++)
        printf("curve %d: %g %g\n", i, sums[i], sums[4 + i]);
    OK(cudaFree(all));
    OK(cudaFree(out));
}

/* ---- recursion ---- */

__global__ void insertion(int *at, int left, int right)
{
    for (int i = left + 1; i <= right; i++)
        for (int k = i; k > left && at[k - 1] > at[k]; k--) {
            const int other = at[k];
            at[k] = at[k - 1];
            at[k - 1] = other;
        }
}

__global__ void quicksort(int *at, int left, int right, int depth)
{
    if (depth == 12 || right - left < 16) {
        insertion<<<1, 1>>>(at, left, right);
        return;
    }
    int low = left, high = right;
    const int pivot = at[(left + right) / 2];
    while (low <= high) {
        while (at[low] < pivot)
            low++;
        while (at[high] > pivot)
            high--;
        if (low <= high) {
            const int other = at[low];
            at[low++] = at[high];
            at[high--] = other;
        }
    }
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (left < high)
        quicksort<<<1, 1, 0, stream>>>(at, left, high, depth + 1);
    cudaStreamDestroy(stream);
    if (low < right)
        quicksort<<<1, 1>>>(at, low, right, depth + 1);
}

/* Blocks of a tree of squares, each with the points that lie in it. */
__global__ void divide(const float2 *points, int count, float x, float y, float size,
                       int depth, int *leaves)
{
    __shared__ int inside;
    if (threadIdx.x == 0)
        inside = 0;
    __syncthreads();
    const float left = x + (blockIdx.x & 1) * size, low = y + (blockIdx.x >> 1) * size;
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        if (points[i].x >= left && points[i].x < left + size && points[i].y >= low &&
            points[i].y < low + size)
            atomicAdd(&inside, 1);
    __syncthreads();
    if (threadIdx.x != 0 || inside == 0)
        return;
    if (inside <= 4 || depth == 6)
        atomicAdd(&leaves[depth], 1);
    else
        divide<<<4, 32>>>(points, count, left, low, size / 2, depth + 1, leaves);
}

static void recursion()
{
    enum { COUNT = 2000 };
    static int host[COUNT];
    static float2 points[256];
    unsigned draw = 1;
    for (int i = 0; i < COUNT; i++)
        host[i] = (draw = draw * 1664525 + 1013904223) >> 8;
    for (auto &p : points) {
        p.x = ((draw = draw * 1664525 + 1013904223) >> 8) / 16777216.0f;
        p.y = p.x * (((draw = draw * 1664525 + 1013904223) >> 8) / 16777216.0f);
    }
    int *at, *leaves, found[7];
    float2 *there;
    OK(cudaMalloc(&at, sizeof(host)));
    OK(cudaMemcpy(at, host, sizeof(host), cudaMemcpyHostToDevice));
    quicksort<<<1, 1>>>(at, 0, COUNT - 1, 0);
    OK(cudaMemcpy(host, at, sizeof(host), cudaMemcpyDeviceToHost));
    printf("sorted: %s\n", std::is_sorted(host, host + COUNT) ? "yes" : "no");
    OK(cudaFree(at));
    OK(cudaMalloc(&there, sizeof(points)));
    OK(cudaMalloc(&leaves, sizeof(found)));
    OK(cudaMemcpy(there, points, sizeof(points), cudaMemcpyHostToDevice));
    OK(cudaMemset(leaves, 0, sizeof(found)));
    divide<<<4, 32>>>(there, 256, 0, 0, 0.5f, 0, leaves);
    OK(cudaMemcpy(found, leaves, sizeof(found), cudaMemcpyDeviceToHost));
    printf("leaves:");
    for (int leaf : found)
        printf(" %d", leaf);
    printf("\n");
    OK(cudaFree(there));
    OK(cudaFree(leaves));
}

/* ---- what a kernel asks, what a graph holds ---- */

__device__ void (*const table[])(int) = {mark, add};

__global__ void by_table(int which, int what)
{
    table[which]<<<1, 1>>>(what);
}

__global__ void __launch_bounds__(128) asked(double *out)
{
    __shared__ double room[8];
    room[threadIdx.x % 8] = *out;
    __syncthreads();
    *out = room[0];
}

__global__ void ask()
{
    int device, count, version, warp;
    size_t pending;
    cudaFuncAttributes about;
    cudaGetDevice(&device);
    cudaGetDeviceCount(&count);
    cudaRuntimeGetVersion(&version);
    cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
    cudaDeviceGetLimit(&pending, cudaLimitDevRuntimePendingLaunchCount);
    cudaFuncGetAttributes(&about, asked);
    printf("device %d of %d, version %d, warps of %d, %d pending, shared %d, threads %d\n", device,
           count > 0, version / 1000, warp, (int)pending, (int)about.sharedSizeBytes,
           about.maxThreadsPerBlock);
}

static void graphs()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    by_table<<<1, 1>>>(0, 5);
    show("by its address");
    ask<<<1, 1>>>();
    OK(cudaDeviceSynchronize());
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    tails<<<1, 1, 0, stream>>>();
    mark<<<1, 1, 0, stream>>>(30);
    tails<<<1, 1, 0, stream>>>();
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        OK(cudaGraphLaunch(exec, stream));
    show("graph");
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
}

/* ---- last: a child's fault ends the context ---- */

__global__ void write_to(int *at)
{
    *at = 1;
}

__global__ void faulty()
{
    write_to<<<1, 1>>>(nullptr);
    mark<<<1, 1, 0, cudaStreamTailLaunch>>>(1);
}

int main()
{
    orders();
    errors();
    memory();
    recursion();
    graphs();
    faulty<<<1, 1>>>();
    printf("fault: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("again: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
