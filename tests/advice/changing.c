// SPDX-License-Identifier: Apache-2.0
/* Programs whose repetitions are not all alike, for gph doctor --capturable and --advise:
 *
 *   threads    two threads, each with steps of its own on a stream of its own
 *   beside     the same on one stream
 *   hands      a step that three threads launch, one after the other, on one stream
 *   round      the same, queued in rounds of eight; at the end of each two waits
 *   alternate  steps of two shapes take turns
 *   warm-up    the first steps have other calls than the rest
 *   grows      each step works on a little more than the one before
 *   inner      a decoder: a prompt, then a number of tokens that differs
 *   allocates  a step allocates its scratch memory and frees it
 *   two        two buffers take turns
 *   copies     a copy in the step goes to another place each time
 *   reads      a decoder on the legacy stream that reads each token into plain memory
 *   asks       before each launch what frameworks and libraries ask, and set for a kernel
 *
 * None of them does anything that is wrong. */
#include "tests/doctor/rules/broken.h"
#include <semaphore.h>

enum { STEPS = 120, KERNELS = 24, ROUNDS = 30 };

static CUstream stream;
static CUdeviceptr in, out[2];
static float *pinned;

static void set_up(void)
{
    void *memory = NULL;
    stream = new_stream();
    in = new_floats();
    out[0] = new_floats();
    out[1] = new_floats();
    CU(cuMemHostAlloc(&memory, 2 * FLOATS * sizeof(float), 0));
    pinned = memory;
}

static void wait_for(CUstream on)
{
    CU(cuStreamSynchronize(on));
}

/* Kernels over the first `blocks` blocks. */
static void work(CUstream on, CUdeviceptr to, unsigned blocks)
{
    for (int i = 0; i < KERNELS; i++)
        LAUNCH(scale_add, blocks, on, &to, &in, &(float){2.0f}, &(unsigned){FLOATS});
}

static void work_alone(CUstream on, CUdeviceptr to)
{
    CU(cuCtxSetCurrent(context));
    for (int i = 0; i < STEPS; i++) {
        work(on, to, FLOATS / 128);
        wait_for(on);
    }
}

static void *thread_of(void *to)
{
    CUstream own = NULL;
    CU(cuCtxSetCurrent(context));
    CU(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    work_alone(own, *(CUdeviceptr *)to);
    return NULL;
}

static void *thread_beside(void *to)
{
    work_alone(stream, *(CUdeviceptr *)to);
    return NULL;
}

static void two_threads(void *(*run)(void *))
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        EXPECT(pthread_create(&thread[i], NULL, run, &out[i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}

static void threads(void)
{
    two_threads(thread_of);
}

static void beside(void)
{
    two_threads(thread_beside);
}

/* Whose turn it is: 0 is the thread of main(). */
static sem_t turns[3];

static void *backward(void *number)
{
    const int own = *(int *)number;
    CU(cuCtxSetCurrent(context));
    for (int i = 0; i < STEPS; i++) {
        sem_wait(&turns[own]);
        for (int k = 0; k < 8; k++)
            LAUNCH(scale_add, 8, stream, &out[own == 1], &in, &(float){2.0f},
                   &(unsigned){FLOATS});
        sem_post(&turns[(own + 1) % 3]);
    }
    return NULL;
}

/* `queued`: steps of a round. */
static void hand_over(int queued)
{
    pthread_t thread[2];
    int numbers[2] = {1, 2};
    for (int i = 0; i < 3; i++)
        sem_init(&turns[i], 0, 0);
    for (int i = 0; i < 2; i++)
        EXPECT(pthread_create(&thread[i], NULL, backward, &numbers[i]) == 0);
    for (int i = 0; i < STEPS; i++) {
        FILL(stream, out[0], 1.0f);
        FILL(stream, out[1], 1.0f);
        sem_post(&turns[1]);
        sem_wait(&turns[0]);
        for (int k = 0; k < 6; k++)
            LAUNCH(scale_add, 8, stream, &in, &out[0], &(float){0.5f},
                   &(unsigned){FLOATS});
        if (i % queued != queued - 1)
            continue;
        wait_for(stream);
        if (queued == 1)
            continue;
        CU(cuMemcpyDtoHAsync(pinned, in, 4, stream));
        wait_for(stream);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}

static void hands(void)
{
    hand_over(1);
}

static void rounds(void)
{
    hand_over(8);
}

static void alternate(void)
{
    for (int i = 0; i < STEPS; i++) {
        work(stream, out[0], i % 2 == 0 ? 8 : 4);
        wait_for(stream);
    }
}

static void warm_up(void)
{
    for (int i = 0; i < 3; i++) {
        FILL(stream, out[1], 1.0f);
        wait_for(stream);
        work(stream, out[0], 8);
        COPY(stream, out[1], out[0]);
        wait_for(stream);
    }
    for (int i = 0; i < STEPS; i++) {
        work(stream, out[0], 8);
        wait_for(stream);
    }
}

static void grows(void)
{
    for (unsigned i = 0; i < STEPS; i++) {
        work(stream, out[0], 1 + i % 8);
        wait_for(stream);
    }
}

static void inner(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        work(stream, out[1], 8); /* the prompt */
        COPY(stream, out[0], out[1]);
        wait_for(stream);
        for (int token = 0; token < 3 + i * 7 % 11; token++) {
            work(stream, out[0], 1);
            CU(cuMemcpyDtoHAsync(pinned, out[0], 4, stream));
            wait_for(stream);
        }
    }
}

static void allocates(void)
{
    for (int i = 0; i < STEPS; i++) {
        CUdeviceptr scratch = 0;
        CU(cuMemAlloc(&scratch, FLOATS * sizeof(float)));
        work(stream, scratch, 8);
        COPY(stream, out[0], scratch);
        wait_for(stream);
        CU(cuMemFree(scratch));
    }
}

static void two(void)
{
    for (int i = 0; i < STEPS; i++) {
        work(stream, out[i % 2], 8);
        wait_for(stream);
    }
}

static void copies(void)
{
    for (unsigned i = 0; i < STEPS; i++) {
        CU(cuMemcpyHtoDAsync(in, pinned, 128, stream));
        work(stream, out[0], 8);
        CU(cuMemcpyDtoDAsync(out[1] + i * 16, out[0], 16, stream));
        CU(cuMemcpyDtoHAsync(pinned + FLOATS + i * 4, out[0], 16, stream));
        wait_for(stream);
    }
}

static void reads(void)
{
    for (int i = 0; i < STEPS; i++) {
        int token = 0;
        work(NULL, out[0], 8);
        CU(cuMemcpyDtoHAsync(&token, out[0], sizeof(token), NULL));
        wait_for(NULL);
        FILL(NULL, in, (float)(token & 1)); /* the next position, before the next token */
    }
}

/* As PyTorch and cuBLAS do ahead of a kernel. */
static void ask(void)
{
    unsigned flags = 0;
    int active = 0, value = 0;
    CUcontext current = NULL;
    CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CU(cuCtxGetCurrent(&current));
    CU(cuCtxGetFlags(&flags));
    CU(cuStreamGetPriority(stream, &value));
    CU(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, scale_add));
    CU(cuFuncSetAttribute(scale_add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          1024));
    CU(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&value, scale_add, 128, 0,
                                                            0));
}

static void asks(void)
{
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < KERNELS; k++) {
            ask();
            LAUNCH(scale_add, 8, stream, &out[0], &in, &(float){2.0f},
                   &(unsigned){FLOATS});
        }
        wait_for(stream);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"threads", threads},     {"alternate", alternate}, {"warm-up", warm_up},
                {"grows", grows},         {"inner", inner},         {"two", two},
                {"allocates", allocates}, {"copies", copies},       {"reads", reads},
                {"asks", asks},           {"beside", beside},       {"hands", hands},
                {"round", rounds}};
    for (size_t i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (strcmp(argv[1], ways[i].name) != 0)
            continue;
        broken_open();
        set_up();
        ways[i].run();
        return broken_failures > 0;
    }
    fprintf(stderr, "usage: %s WAY\n", argv[0]);
    return 2;
}
