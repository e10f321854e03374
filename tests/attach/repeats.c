// SPDX-License-Identifier: Apache-2.0
/* Programs that repeat their work, for the windows of --advise: whatever the attached
 * library does with a repetition, memory must be as the host computes it, and each call
 * must give what it gives without the library. argv[1] says which; prints the sums. */
#define _GNU_SOURCE
#include "cuda/prototypes.h"
#include "step_ptx.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 64, BYTES = WORDS * 4, BUFFERS = 4, ROUNDS = 60 };

static CUcontext context;
static CUstream stream, side;
static CUfunction step, put;
static CUevent fork_event, join_event, before;
static CUdeviceptr buffer[BUFFERS], pinned_at;
static _Atomic uint32_t *pinned;
static uint32_t model[BUFFERS][WORDS];
static int bad;

#define IS(expected, expr) is((expected), (expr), #expr, __LINE__)
#define OK(expr) IS(CUDA_SUCCESS, expr)
static void is(CUresult expected, CUresult result, const char *what, int line)
{
    if (result == expected)
        return;
    printf("line %d: %s: %d, not %d\n", line, what, (int)result, (int)expected);
    bad = 1;
}

static void start(void)
{
    CUmodule module;
    void *host;
    OK(cuInit(0));
    /* current, gone, and there again */
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuCtxSynchronize());
    OK(cuDevicePrimaryCtxRelease_v2(0));
    IS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuModuleLoadData(&module, step_ptx));
    OK(cuModuleGetFunction(&step, module, "step"));
    OK(cuModuleGetFunction(&put, module, "put"));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork_event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join_event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&before, CU_EVENT_DISABLE_TIMING));
    OK(cuMemHostAlloc(&host, 4 * BYTES, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer_v2(&pinned_at, host, 0));
    pinned = host;
    memset(host, 0, 4 * BYTES);
    for (int i = 0; i < BUFFERS; i++) {
        OK(cuMemAlloc_v2(&buffer[i], BYTES));
        OK(cuMemsetD32_v2(buffer[i], (unsigned)i + 1, WORDS));
        for (int w = 0; w < WORDS; w++)
            model[i][w] = (uint32_t)i + 1;
    }
    OK(cuCtxSynchronize());
}

/* ---- what is done, on the GPU and in the model
 * -----------------------------------------
 */

static void count(int at, uint32_t a, uint32_t b)
{
    for (int w = 0; w < WORDS; w++)
        model[at][w] = model[at][w] * a + b;
}

static void launch(CUstream on, int at, uint32_t a, uint32_t b)
{
    void *arguments[] = {&buffer[at], &a, &b};
    OK(cuLaunchKernel(step, 1, 1, 1, WORDS, 1, 1, 0, on, arguments, NULL));
    count(at, a, b);
}

static void launch_ex(int at, uint32_t a, uint32_t b, int kind)
{
    CUlaunchAttribute attributes[2] = {
        {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = 0},
        {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1}};
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = WORDS,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = stream,
                                   .attrs = attributes,
                                   .numAttrs = (unsigned)kind};
    void *arguments[] = {&buffer[at], &a, &b};
    OK(cuLaunchKernelEx(&config, step, arguments, NULL));
    count(at, a, b);
}

static void launch_extra(int at, uint32_t a, uint32_t b)
{
    struct {
        CUdeviceptr p;
        uint32_t a, b;
    } packed = {buffer[at], a, b};
    size_t bytes = sizeof(packed);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(step, 1, 1, 1, WORDS, 1, 1, 0, stream, NULL, extra));
    count(at, a, b);
}

static void fills(uint32_t value)
{
    OK(cuMemsetD8Async(buffer[3], (unsigned char)value, BYTES / 4, stream));
    OK(cuMemsetD16Async(buffer[3] + BYTES / 4, (unsigned short)value, BYTES / 8, stream));
    OK(cuMemsetD32Async(buffer[3] + BYTES / 2, value, WORDS / 2, stream));
    for (int w = 0; w < WORDS; w++)
        model[3][w] = w < WORDS / 4   ? (value & 0xFF) * 0x01010101U
                      : w < WORDS / 2 ? (value & 0xFFFF) * 0x10001U
                                      : value;
}

static void copies(uint32_t value)
{
    for (int w = 0; w < WORDS; w++) /* the copy of the round before has ended */
        atomic_store(&pinned[w], value + (uint32_t)w);
    OK(cuMemcpyHtoDAsync_v2(buffer[2], (const void *)pinned, BYTES, stream));
    OK(cuMemcpyDtoDAsync_v2(buffer[1], buffer[2], BYTES / 2, stream));
    OK(cuMemcpyAsync(buffer[1] + BYTES / 2, buffer[2], BYTES / 2, stream));
    OK(cuMemcpyDtoHAsync_v2((void *)(pinned + WORDS), buffer[1], BYTES, stream));
    for (int w = 0; w < WORDS; w++) {
        model[2][w] = value + (uint32_t)w;
        model[1][w] = value + (uint32_t)(w % (WORDS / 2));
    }
}

static void fork_join(uint32_t value)
{
    OK(cuEventRecord(fork_event, stream));
    OK(cuStreamWaitEvent(side, fork_event, 0));
    launch(side, 1, 3, value);
    launch(stream, 0, 5, value);
    OK(cuEventRecord(join_event, side));
    OK(cuStreamWaitEvent(stream, join_event, 0));
    OK(cuMemcpyDtoDAsync_v2(buffer[2], buffer[1], BYTES, stream));
    memcpy(model[2], model[1], BYTES);
    OK(cuEventRecord(fork_event, stream)); /* twice in a round */
    OK(cuStreamWaitEvent(side, fork_event, 0));
    launch(side, 2, 7, 1);
    OK(cuEventRecord(join_event, side));
    OK(cuStreamWaitEvent(stream, join_event, 0));
}

static void finish(void)
{
    uint32_t now[WORDS];
    OK(cuCtxSynchronize());
    for (int i = 0; i < BUFFERS; i++) {
        uint32_t sum = 0;
        OK(cuMemcpyDtoH_v2(now, buffer[i], BYTES));
        if (memcmp(now, model[i], BYTES) != 0) {
            printf("buffer %d: %u %u, not %u %u\n", i, now[0], now[WORDS - 1],
                   model[i][0], model[i][WORDS - 1]);
            bad = 1;
        }
        for (int w = 0; w < WORDS; w++)
            sum = sum * 31 + now[w];
        printf("%08x\n", sum);
    }
}

/* ---- the programs
 * ----------------------------------------------------------------------
 */

static void all(void)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        OK(cuStreamWaitEvent(stream, before, 0));
        launch(stream, 0, 3, i);
        launch_ex(0, 5, 1, 0);
        launch_ex(0, 7, i, 1);
        launch_ex(0, 9, i, 2);
        launch_extra(0, 11, i);
        fills(i * 0x01020304U);
        copies(i);
        fork_join(i);
        for (int k = 0; k < 8; k++)
            launch(stream, 3, 3, i);
        OK(cuEventRecord(before, stream));
        if (i % 3 == 0)
            OK(cuEventSynchronize(before));
        OK(cuStreamSynchronize(stream));
        if (atomic_load(&pinned[WORDS + 5]) != i + 5) {
            printf("round %u: the host reads %u\n", i, atomic_load(&pinned[WORDS + 5]));
            bad = 1;
        }
    }
}

/* The host waits without a call of the driver. */
static void spin(void)
{
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        for (int k = 0; k < 10; k++)
            launch(stream, 0, 3, i);
        void *arguments[] = {&pinned_at, &i};
        OK(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
        while (atomic_load(&pinned[0]) != i)
            ;
        if (i % 8 == 0)
            OK(cuStreamSynchronize(stream));
    }
}

static void poll(void)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < 10; k++)
            launch(stream, 0, 3, i);
        OK(cuEventRecord(before, stream));
        CUresult result;
        while ((result = i % 2 ? cuStreamQuery(stream) : cuEventQuery(before)) ==
               CUDA_ERROR_NOT_READY)
            ;
        OK(result);
    }
}

static sem_t queued, read_back;

/* Reads what the other thread has queued, without knowing its streams. */
static void *reader(void *unused)
{
    (void)unused;
    OK(cuCtxSetCurrent(context));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t now[WORDS];
        sem_wait(&queued);
        OK(cuCtxSynchronize());
        OK(cuMemcpyDtoH_v2(now, buffer[0], BYTES));
        if (memcmp(now, model[0], BYTES) != 0) {
            printf("round %u: the other thread reads %u, not %u\n", i, now[0],
                   model[0][0]);
            bad = 1;
        }
        sem_post(&read_back);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t other;
    sem_init(&queued, 0, 0);
    sem_init(&read_back, 0, 0);
    pthread_create(&other, NULL, reader, NULL);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < 20; k++)
            launch(stream, 0, 3, i);
        sem_post(&queued);
        sem_wait(&read_back);
    }
    pthread_join(other, NULL);
}

/* A step of two threads, one after the other: half of what is queued is the other's. */
static void *follower(void *unused)
{
    (void)unused;
    OK(cuCtxSetCurrent(context));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        sem_wait(&queued);
        for (int k = 0; k < 10; k++)
            launch(stream, 0, 5, i);
        if (i % 16 == 15) /* breaks the rhythm */
            copies(i);
        sem_post(&read_back);
    }
    return NULL;
}

static void hands_over(void)
{
    pthread_t other;
    sem_init(&queued, 0, 0);
    sem_init(&read_back, 0, 0);
    pthread_create(&other, NULL, follower, NULL);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < 10; k++)
            launch(stream, 0, 3, i);
        sem_post(&queued);
        sem_wait(&read_back);
        launch(stream, 0, 7, i);
        OK(cuStreamSynchronize(stream));
    }
    pthread_join(other, NULL);
}

static void errors(void)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        void *arguments[] = {&buffer[0], &i, &i};
        for (int k = 0; k < 6; k++)
            launch(stream, 0, 3, i);
        IS(CUDA_ERROR_INVALID_VALUE,
           cuLaunchKernel(step, 0, 1, 1, WORDS, 1, 1, 0, stream, arguments, NULL));
        IS(CUDA_ERROR_INVALID_HANDLE,
           cuLaunchKernel(NULL, 1, 1, 1, WORDS, 1, 1, 0, stream, arguments, NULL));
        for (int k = 0; k < 6; k++)
            launch(stream, 0, 5, i);
        OK(cuStreamSynchronize(stream));
    }
}

static void allocations(void)
{
    for (uint32_t i = 0; i < ROUNDS / 3; i++) {
        CUdeviceptr now;
        for (int k = 0; k < 6; k++)
            launch(stream, 0, 3, i);
        OK(cuMemAllocAsync(&now, BYTES, stream));
        OK(cuMemcpyDtoDAsync_v2(now, buffer[0], BYTES, stream));
        for (int k = 0; k < 6; k++)
            launch(stream, 0, 5, i);
        OK(cuMemcpyDtoDAsync_v2(buffer[1], now, BYTES, stream));
        OK(cuMemFreeAsync(now, stream));
        OK(cuStreamSynchronize(stream));
        memcpy(model[1], model[0], BYTES);
        uint32_t power = 1, sum = 0; /* as it was before the second six */
        for (int k = 0; k < 6; k++) {
            sum = sum * 5 + i;
            power *= 5;
        }
        uint32_t inverse = 1; /* of a power of five, modulo 2^32 */
        for (int k = 0; k < 5; k++)
            inverse *= 2 - power * inverse;
        for (int w = 0; w < WORDS; w++)
            model[1][w] = (model[0][w] - sum) * inverse;
    }
}

static void legacy(void)
{
    CUstream blocking;
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < 6; k++)
            launch(NULL, 0, 3, i);
        launch(blocking, 0, 5, i); /* waits for the legacy stream, and it for this */
        for (int k = 0; k < 6; k++)
            launch(NULL, 0, 7, i);
        OK(cuStreamSynchronize(NULL));
    }
}

static void queued_ahead(void)
{
    for (uint32_t i = 0; i < 8 * ROUNDS; i++)
        launch(i % 2 == 0 ? stream : side, (int)(i % 2), 3, i);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } programs[] = {
        {"all", all},         {"spin", spin},           {"poll", poll},
        {"threads", threads}, {"errors", errors},       {"allocations", allocations},
        {"legacy", legacy},   {"queued", queued_ahead}, {"hands", hands_over}};
    start();
    for (size_t i = 0; argc > 1 && i < sizeof(programs) / sizeof(programs[0]); i++)
        if (strcmp(programs[i].name, argv[1]) == 0) {
            programs[i].run();
            finish();
            return bad;
        }
    fprintf(stderr, "usage: repeats PROGRAM\n");
    return 2;
}
