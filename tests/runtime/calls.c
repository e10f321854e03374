// SPDX-License-Identifier: Apache-2.0
/* A program of the CUDA runtime, as nvcc makes them: memory, launches, variables, graphs
 * and the thread's last error. */
#define _GNU_SOURCE
#include "runtime_api.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { N = 1000, BLOCK = 256, GRID = (N + BLOCK - 1) / BLOCK };

static unsigned *words; /* N of them, on the device */

#define OK(call) CHECK((call) == cudaSuccess)

static cudaError_t launch(void *y, unsigned n, CUstream stream)
{
    dim3 grid, block;
    size_t shared;
    CUstream where;
    void *args[] = {&y, &n};
    if (__cudaPushCallConfiguration((dim3){GRID, 1, 1}, (dim3){BLOCK, 1, 1}, 0, stream))
        return cudaGetLastError();
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &where));
    return cudaLaunchKernel(&add_one, grid, block, args, shared, where);
}

static unsigned read_word(unsigned index)
{
    unsigned value = 0;
    OK(cudaMemcpy(&value, words + index, sizeof(value), cudaMemcpyDeviceToHost));
    return value;
}

static unsigned counted(void)
{
    unsigned value = 0;
    OK(cudaMemcpyFromSymbol(&value, &sum, sizeof(value), 0, cudaMemcpyDeviceToHost));
    return value;
}

static void clear(void)
{
    const unsigned zero = 0;
    OK(cudaMemset(words, 0, N * sizeof(*words)));
    OK(cudaMemcpyToSymbol(&sum, &zero, sizeof(zero), 0, cudaMemcpyHostToDevice));
}

static void devices_are_described(void)
{
    int count = 0, device = -1, version = 0;
    struct cudaDeviceProp found;
    OK(cudaGetDeviceCount(&count));
    OK(cudaGetDevice(&device));
    OK(cudaRuntimeGetVersion(&version));
    OK(cudaGetDeviceProperties(&found, 0));
    CHECK(count >= 1 && device == 0 && version == (RT_MAJOR == 12 ? 12090 : 13000));
    CHECK(found.warpSize == 32 && found.maxThreadsPerBlock == 1024 && found.major >= 5);
    CHECK(found.maxGridSize[0] == 0x7fffffff && found.totalGlobalMem > 0);
    CHECK(found.sharedMemPerBlock == 49152 && found.multiProcessorCount > 0);
    CHECK(cudaSetDevice(count) == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

static void memory_is_what_it_says(void)
{
    struct cudaPointerAttributes about;
    void *host, *managed, *none = words;
    OK(cudaMallocHost(&host, 64));
    OK(cudaMallocManaged(&managed, 64, 1));
    OK(cudaPointerGetAttributes(&about, words));
    CHECK(about.type == cudaMemoryTypeDevice && about.device == 0);
    OK(cudaPointerGetAttributes(&about, host));
    CHECK(about.type == cudaMemoryTypeHost && about.hostPointer == host);
    OK(cudaPointerGetAttributes(&about, managed));
    CHECK(about.type == cudaMemoryTypeManaged);
    OK(cudaPointerGetAttributes(&about, &about));
    CHECK(about.type == cudaMemoryTypeUnregistered && about.device == -2);
    OK(cudaMalloc(&none, 0));
    CHECK(!none);
    OK(cudaFree(NULL));
    OK(cudaFree(managed));
    OK(cudaFreeHost(host));
}

static void areas_are_copied(void)
{
    unsigned char from[4][10], to[4][10];
    void *area;
    size_t pitch;
    for (int i = 0; i < 40; i++)
        from[i / 10][i % 10] = (unsigned char)i;
    memset(to, 0, sizeof(to));
    OK(cudaMallocPitch(&area, &pitch, 10, 4));
    CHECK(pitch >= 10 && pitch % 256 == 0);
    OK(cudaMemcpy2D(area, pitch, from, 10, 10, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(to, 10, area, pitch, 10, 4, cudaMemcpyDefault));
    CHECK(memcmp(from, to, sizeof(to)) == 0);
    CHECK(cudaMemcpy2D(to, 5, area, pitch, 10, 4, cudaMemcpyDeviceToHost) ==
          cudaErrorInvalidPitchValue);
    CHECK(cudaMemcpy(to, area, 4, 9) == cudaErrorInvalidMemcpyDirection);
    CHECK(cudaGetLastError() == cudaErrorInvalidMemcpyDirection);
    OK(cudaFree(area));
}

static void arrays_are_copied(void)
{
    const struct cudaChannelFormatDesc floats = {32, 32, 0, 0, 2}, odd = {32, 8, 0, 0, 2};
    struct cudaChannelFormatDesc found;
    struct cudaExtent extent;
    unsigned flags;
    float from[2][8], to[2][8];
    void *array;
    for (int i = 0; i < 16; i++)
        from[i / 8][i % 8] = (float)i;
    memset(to, 0, sizeof(to));
    CHECK(cudaMallocArray(&array, &odd, 4, 2, 0) == cudaErrorInvalidChannelDescriptor);
    CHECK(cudaGetLastError() == cudaErrorInvalidChannelDescriptor);
    OK(cudaMallocArray(&array, &floats, 4, 2, 0));
    OK(cudaArrayGetInfo(&found, &extent, &flags, array));
    CHECK(memcmp(&found, &floats, sizeof(found)) == 0 && extent.width == 4 &&
          extent.height == 2);
    OK(cudaMemcpy2DToArray(array, 0, 0, from, 32, 32, 2, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DFromArray(to, 32, array, 8, 1, 24, 1, cudaMemcpyDeviceToHost));
    CHECK(to[0][0] == from[1][2] && to[0][5] == from[1][7] && to[0][6] == 0);
    OK(cudaFreeArray(array));
}

static void kernels_run(void)
{
    struct cudaFuncAttributes about;
    int blocks = 0;
    clear();
    OK(launch(words, N, NULL));
    OK(launch(words, 10, NULL));
    CHECK(read_word(9) == 2 && read_word(10) == 1 && read_word(N - 1) == 1);
    CHECK(counted() == N + 10);
    OK(cudaFuncGetAttributes(&about, &add_one));
    CHECK(about.maxThreadsPerBlock == 1024 && about.numRegs > 0);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &add_one, 256, 0));
    CHECK(blocks > 0);
}

/* 12's runtime has two errors of its own; 13's has the driver's, as on an H100. */
enum {
    WRONG_SHAPE = RT_MAJOR == 12 ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue,
    NOT_REGISTERED =
        RT_MAJOR == 12 ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle
};

static void wrong_launches_have_the_runtimes_errors(void)
{
    struct cudaFuncAttributes about;
    const cudaLaunchConfig_t empty = {.gridDim = {0, 1, 1}, .blockDim = {1, 1, 1}};
    void *y = words;
    unsigned n = N;
    void *args[] = {&y, &n};
    const dim3 one = {1, 1, 1}, none = {0, 1, 1}, large = {2048, 1, 1};
    CHECK(cudaLaunchKernelExC(&empty, &add_one, args) == WRONG_SHAPE);
    CHECK(cudaLaunchCooperativeKernel(&add_one, none, one, args, 0, NULL) == WRONG_SHAPE);
    CHECK(cudaLaunchKernel(&add_one, none, one, args, 0, NULL) == WRONG_SHAPE);
    CHECK(cudaLaunchKernel(&add_one, one, large, args, 0, NULL) == WRONG_SHAPE);
    CHECK(cudaPeekAtLastError() == WRONG_SHAPE);
    CHECK(cudaGetLastError() == WRONG_SHAPE);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaLaunchKernel(&no_kernel, one, one, args, 0, NULL) ==
          cudaErrorInvalidDeviceFunction);
    CHECK(cudaLaunchKernel(&words, one, one, args, 0, NULL) == NOT_REGISTERED);
    CHECK(cudaFuncGetAttributes(&about, &words) == NOT_REGISTERED);
    CHECK(cudaGetLastError() == NOT_REGISTERED);
    CHECK(cudaMemcpyToSymbol(&words, &n, 4, 0, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyToSymbol(&sum, &n, 4, 2, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidSymbol), "cudaErrorInvalidSymbol") ==
          0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorInvalidDeviceFunction),
                 "invalid device function") == 0);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

static void managed_variables_are_the_hosts_too(void)
{
    const dim3 one = {1, 1, 1};
    size_t bytes = 0;
    CHECK(__cudaInitModule(fat_handle) == 1);
    if (!CHECK(shared_word))
        return;
    CHECK(*shared_word == 5);
    *shared_word = 20;
    OK(cudaLaunchKernel(&touch, one, one, NULL, 0, NULL));
    OK(cudaDeviceSynchronize());
    CHECK(*shared_word == 21);
    OK(cudaGetSymbolSize(&bytes, &shared_word));
    CHECK(bytes == 4);
}

static void captures_become_graphs(void)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    size_t count = 1;
    struct cudaKernelNodeParams params;
    void *y = words;
    unsigned few = 7;
    void *args[] = {&y, &few};
    clear();
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, 0));
    OK(launch(words, N, stream));
    CHECK(cudaDeviceSynchronize() == 900);
    CHECK(cudaGetLastError() == 900);
    CHECK(cudaStreamEndCapture(stream, &graph) == 901);
    CHECK(cudaGetLastError() == 901);
    OK(cudaStreamBeginCapture(stream, 0));
    OK(launch(words, N, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphGetNodes(graph, &node, &count));
    OK(cudaGraphKernelNodeGetParams(node, &params));
    CHECK(params.func == (void *)&add_one && params.gridDim.x == GRID &&
          params.blockDim.x == BLOCK);
    OK(cudaGraphLaunch(exec, stream));
    params.kernelParams = args;
    OK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(read_word(6) == 2 && read_word(7) == 1);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
}

static void nodes_are_added_by_hand(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode fill, kernel, read, total, other;
    unsigned out[2] = {0, 0};
    unsigned n = N;
    void *y = words;
    void *args[] = {&y, &n};
    struct cudaMemcpy3DParms copied;
    const struct cudaMemsetParams zeros = {words, 0, 3, 4, N, 1};
    const struct cudaKernelNodeParams work = {.func = (void *)&add_one,
                                              .gridDim = {GRID, 1, 1},
                                              .blockDim = {BLOCK, 1, 1},
                                              .kernelParams = args};
    struct cudaGraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = work};
    clear();
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &zeros));
    OK(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &work));
    OK(cudaGraphAddNode(&other, graph, &kernel, NULL, 1, &any));
    OK(cudaGraphAddMemcpyNode1D(&read, graph, &other, 1, &out[0], words, 4,
                                cudaMemcpyDeviceToHost));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&total, graph, &other, 1, &out[1], &sum, 4, 0,
                                        cudaMemcpyDeviceToHost));
    OK(cudaGraphMemcpyNodeGetParams(read, &copied));
    CHECK(copied.kind == cudaMemcpyDeviceToHost && copied.dstPtr.ptr == &out[0] &&
          copied.srcPtr.ptr == words && copied.extent.width == 4);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaStreamSynchronize(NULL));
    CHECK(out[0] == 5 && out[1] == 2 * N);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

static void *on_its_own_stream(void *unused)
{
    unsigned value = 42;
    (void)unused;
    OK(cudaMemcpyAsync_ptsz(words, &value, 4, cudaMemcpyHostToDevice, NULL));
    OK(cudaStreamSynchronize_ptsz(NULL));
    CHECK(cudaGetLastError() == cudaSuccess); /* the other thread's error is not ours */
    return NULL;
}

static void threads_have_their_own_stream_and_error(void)
{
    pthread_t thread;
    CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
    if (!CHECK(pthread_create(&thread, NULL, on_its_own_stream, NULL) == 0))
        return;
    pthread_join(thread, NULL);
    CHECK(read_word(0) == 42);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

static void a_device_begins_anew_after_a_reset(void)
{
    OK(cudaDeviceReset());
    OK(cudaMalloc((void **)&words, N * sizeof(*words)));
    clear();
    OK(launch(words, N, NULL));
    CHECK(read_word(0) == 1 && counted() == N);
}

static void wait_for(void *go)
{
    while (!atomic_load((atomic_int *)go))
        usleep(1000);
}

/* As an H200: what is not ready does not stay an error; host memory can be mapped always,
 * and a reset forgets the other flags; nothing of managed memory is none. */
static void what_an_h200_says_of_flags_and_streams(void)
{
    unsigned flags = 0;
    void *managed = words;
    atomic_int go = 0;
    CUstream stream;
    OK(cudaGetDeviceFlags(&flags));
    CHECK(flags == 8);
    OK(cudaSetDeviceFlags(2));
    OK(cudaGetDeviceFlags(&flags));
    CHECK(flags == 10);
    OK(cudaStreamCreate(&stream));
    OK(cudaLaunchHostFunc(stream, wait_for, &go));
    CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
    CHECK(cudaGetLastError() == cudaSuccess);
    atomic_store(&go, 1);
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
    OK(cudaMallocManaged(&managed, 0, 1));
    CHECK(!managed);
    CHECK(cudaMallocManaged(&managed, 0, 7) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    OK(cudaDeviceReset());
    OK(cudaGetDeviceFlags(&flags));
    CHECK(flags == 8);
    OK(cudaMalloc((void **)&words, N * sizeof(*words)));
}

static void what_is_missing_says_so(void)
{
    CHECK(cudaVDPAUSetVDPAUDevice(0, NULL, NULL) == cudaErrorNotSupported);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
}

/* As in a process without OpenGL on a GPU. */
static void graphics_have_no_resources(void)
{
    void *resource = NULL;
    CHECK(cudaGraphicsUnregisterResource(NULL) == cudaErrorInvalidResourceHandle);
    CHECK(cudaGraphicsGLRegisterBuffer(&resource, 1, 0) == 304);
    CHECK(cudaGraphicsGLRegisterBuffer(&resource, 0, 0) == cudaErrorInvalidValue);
    CHECK(cudaGraphicsGLRegisterBuffer(&resource, 1, 99) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(!resource);
}

int main(void)
{
    register_kernels();
    OK(cudaMalloc((void **)&words, N * sizeof(*words)));
    RUN(devices_are_described);
    RUN(memory_is_what_it_says);
    RUN(areas_are_copied);
    RUN(arrays_are_copied);
    RUN(kernels_run);
    RUN(wrong_launches_have_the_runtimes_errors);
    RUN(managed_variables_are_the_hosts_too);
    RUN(captures_become_graphs);
    RUN(nodes_are_added_by_hand);
    RUN(threads_have_their_own_stream_and_error);
    RUN(a_device_begins_anew_after_a_reset);
    RUN(what_an_h200_says_of_flags_and_streams);
    RUN(what_is_missing_says_so);
    RUN(graphics_have_no_resources);
    OK(cudaFree(words));
    __cudaUnregisterFatBinary(fat_handle);
    return test_done();
}
