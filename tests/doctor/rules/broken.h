// SPDX-License-Identifier: Apache-2.0
/* What the programs of this folder share. Each shows one rule of gph doctor:
 *
 *     static void first(void)  { ... }    one way to break it,
 *     static void second(void) { ... }    another, by other calls,
 *     static void near(void)   { ... }    and what looks alike and is right.
 *     BROKEN(first, second, near)
 *
 * `program first` runs one of them with a context and the kernels below. The line that
 * the doctor must blame ends with the mark <-- first, or <-- second. A head comment of
 *     // RULE-ID
 *     //
 *     // What is wrong, why, how to put it right.
 *     // also: other.rule          (a rule that first or second break as well)
 * is the text of the rule's page. */
#ifndef BROKEN_H
#define BROKEN_H
#define _GNU_SOURCE 1 /* barriers, short sleeps */
#include "driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BROKEN_UNUSED __attribute__((unused))

/* A call whose failure is printed, no more: broken programs go on, as real ones do. */
#define CU(call) broken_print((call), #call, __LINE__)

/* What must hold all the same. A program that fails it ends with 1. */
#define EXPECT(condition) broken_expect((condition) ? 1 : 0, #condition, __LINE__)

static int broken_failures;

BROKEN_UNUSED static CUresult broken_print(CUresult result, const char *call, int line)
{
    if (result != CUDA_SUCCESS) {
        const char *name = NULL;
        if (cuGetErrorName(result, &name) != CUDA_SUCCESS || name == NULL)
            name = "unknown error";
        printf("line %d: %.*s: %d %s\n", line, (int)strcspn(call, "("), call, (int)result,
               name);
        fflush(stdout);
    }
    return result;
}

BROKEN_UNUSED static void broken_expect(int holds, const char *condition, int line)
{
    if (holds)
        return;
    printf("line %d: not so: %s\n", line, condition);
    broken_failures++;
}

#define BROKEN_HEAD ".version 6.3\n.target sm_70\n.address_size 64\n"
/* %r1 = index of the thread in the grid; leaves if it is not below n */
#define BROKEN_INDEX                                                                     \
    "  .reg .pred %p<3>; .reg .f32 %f<6>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"           \
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"              \
    "  mad.lo.s32 %r1, %r2, %r3, %r4;\n"                                                 \
    "  ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r1, %r5; @%p1 ret;\n"                    \
    "  mul.wide.u32 %d7, %r1, 4;\n"

/* fill(float *out, float value, unsigned n)              out[i] = value
 * scale_add(float *out, const float *in, float k, unsigned n)   out[i] += k * in[i]
 * copy(float *out, const float *in, unsigned n)          out[i] = in[i]
 * spin(unsigned long long ns, unsigned n)                waits so long
 * trap(unsigned n)                                       an error of the device, 719
 * poke(unsigned *out, unsigned value, unsigned n)        out[0] = value, if n > 0
 * and a variable: counter, 4 bytes. */
static const char broken_ptx[] = BROKEN_HEAD
    ".visible .global .align 4 .u32 counter = 0;\n"
    ".visible .entry fill(.param .u64 out, .param .f32 value, .param .u32 n)\n"
    "{\n" BROKEN_INDEX "  ld.param.u64 %d1, [out]; ld.param.f32 %f1, [value];\n"
    "  add.s64 %d2, %d1, %d7; st.global.f32 [%d2], %f1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry scale_add(.param .u64 out, .param .u64 in, .param .f32 k,\n"
    "                          .param .u32 n)\n"
    "{\n" BROKEN_INDEX
    "  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.f32 %f1, [k];\n"
    "  add.s64 %d3, %d1, %d7; add.s64 %d4, %d2, %d7;\n"
    "  ld.global.f32 %f2, [%d3]; ld.global.f32 %f3, [%d4];\n"
    "  fma.rn.f32 %f4, %f1, %f3, %f2; st.global.f32 [%d3], %f4;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry copy(.param .u64 out, .param .u64 in, .param .u32 n)\n"
    "{\n" BROKEN_INDEX "  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in];\n"
    "  add.s64 %d3, %d1, %d7; add.s64 %d4, %d2, %d7;\n"
    "  ld.global.f32 %f2, [%d4]; st.global.f32 [%d3], %f2;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry spin(.param .u64 ns, .param .u32 n)\n"
    "{\n" BROKEN_INDEX "  ld.param.u64 %d1, [ns]; mov.u64 %d2, %globaltimer;\n"
    "again:\n"
    "  mov.u64 %d3, %globaltimer; sub.u64 %d4, %d3, %d2;\n"
    "  setp.lt.u64 %p2, %d4, %d1; @%p2 bra again;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry trap(.param .u32 n)\n"
    "{\n" BROKEN_INDEX "  trap;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry poke(.param .u64 out, .param .u32 value, .param .u32 n)\n"
    "{\n" BROKEN_INDEX
    "  ld.param.u64 %d1, [out]; ld.param.u32 %r6, [value]; st.global.u32 [%d1], %r6;\n"
    "  ret;\n"
    "}\n";

enum { FLOATS = 1024 };

static CUcontext context;
static CUmodule module;
static CUfunction fill, scale_add, copy, spin, trap, poke;

/* Launches. Each is one call of cuLaunchKernel, so the doctor's stacks have these as
 * their innermost frame; `LAUNCH` at the call's place has none. */
#define LAUNCH(kernel, blocks, stream, ...)                                              \
    CU(cuLaunchKernel((kernel), (blocks), 1, 1, 128, 1, 1, 0, (stream),                  \
                      (void *[]){__VA_ARGS__}, NULL))
#define FILL(stream, out, value)                                                         \
    LAUNCH(fill, FLOATS / 128, stream, &(CUdeviceptr){(out)}, &(float){(value)},         \
           &(unsigned){FLOATS})
#define SCALE_ADD(stream, out, in, k)                                                    \
    LAUNCH(scale_add, FLOATS / 128, stream, &(CUdeviceptr){(out)}, &(CUdeviceptr){(in)}, \
           &(float){(k)}, &(unsigned){FLOATS})
#define COPY(stream, out, in)                                                            \
    LAUNCH(copy, FLOATS / 128, stream, &(CUdeviceptr){(out)}, &(CUdeviceptr){(in)},      \
           &(unsigned){FLOATS})
#define SPIN(stream, microseconds)                                                       \
    LAUNCH(spin, 1, stream, &(unsigned long long){(microseconds)*1000ULL}, &(unsigned){1})

/* FLOATS floats of device memory, all 0. */
BROKEN_UNUSED static CUdeviceptr new_floats(void)
{
    CUdeviceptr out = 0;
    CU(cuMemAlloc(&out, FLOATS * sizeof(float)));
    CU(cuMemsetD32(out, 0, FLOATS));
    CU(cuStreamSynchronize(NULL)); /* streams that do not block would not wait for it */
    return out;
}

BROKEN_UNUSED static float float_at(CUdeviceptr from, unsigned index)
{
    float value = 0;
    CU(cuMemcpyDtoH(&value, from + index * sizeof(float), sizeof(value)));
    return value;
}

/* A stream that does not wait for the legacy stream. */
BROKEN_UNUSED static CUstream new_stream(void)
{
    CUstream out = NULL;
    CU(cuStreamCreate(&out, CU_STREAM_NON_BLOCKING));
    return out;
}

BROKEN_UNUSED static CUevent new_event(void)
{
    CUevent out = NULL;
    CU(cuEventCreate(&out, CU_EVENT_DISABLE_TIMING));
    return out;
}

/* `side` goes on from where `stream` is; and back. */
BROKEN_UNUSED static void fork_to(CUstream stream, CUstream side, CUevent event)
{
    CU(cuEventRecord(event, stream));
    CU(cuStreamWaitEvent(side, event, 0));
}

BROKEN_UNUSED static void join_from(CUstream stream, CUstream side, CUevent event)
{
    fork_to(side, stream, event);
}

typedef struct broken_work {
    void (*run)(void *user);
    void *user;
} broken_work;

BROKEN_UNUSED static void *broken_thread(void *work)
{
    const broken_work *of = (const broken_work *)work;
    CU(cuCtxSetCurrent(context));
    of->run(of->user);
    return NULL;
}

/* Runs `run(user)` in a thread of its own, to its end. */
BROKEN_UNUSED static void in_thread(void (*run)(void *user), void *user)
{
    broken_work work = {run, user};
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, broken_thread, &work) == 0);
    pthread_join(thread, NULL);
}

/* Ends a capture: what it captured, ready to launch; the graph is gone. */
BROKEN_UNUSED static CUgraphExec end_capture(CUstream stream)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    return exec;
}

/* Instantiates, launches, waits, and destroys executable and graph. */
BROKEN_UNUSED static void replay_once(CUgraph graph, CUstream stream)
{
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* A graph of one kernel, which fills `out`. */
BROKEN_UNUSED static CUgraph fill_graph(CUstream stream, CUdeviceptr out)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, out, 5);
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* A kernel over FLOATS floats as the parameters of a node. */
BROKEN_UNUSED static CUDA_KERNEL_NODE_PARAMS floats_kernel(CUfunction kernel,
                                                           void **arguments)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = kernel,
                                     .gridDimX = FLOATS / 128,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 128,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = arguments};
}

static void broken_open(void)
{
    CUdevice device;
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    CU(cuDevicePrimaryCtxRetain(&context, device));
    CU(cuCtxSetCurrent(context));
    if (CU(cuModuleLoadData(&module, broken_ptx)) != CUDA_SUCCESS)
        exit(77); /* no driver, or one that cannot compile: nothing is shown */
    CU(cuModuleGetFunction(&fill, module, "fill"));
    CU(cuModuleGetFunction(&scale_add, module, "scale_add"));
    CU(cuModuleGetFunction(&copy, module, "copy"));
    CU(cuModuleGetFunction(&spin, module, "spin"));
    CU(cuModuleGetFunction(&trap, module, "trap"));
    CU(cuModuleGetFunction(&poke, module, "poke"));
}

BROKEN_UNUSED static int broken_main(int argc, char **argv, void (*const ways[3])(void))
{
    static const char *const names[] = {"first", "second", "near"};
    for (int i = 0; i < 3 && argc == 2; i++) {
        if (strcmp(argv[1], names[i]) != 0)
            continue;
        broken_open();
        ways[i]();
        fflush(stdout);
        return broken_failures > 0;
    }
    fprintf(stderr, "usage: %s first|second|near\n", argv[0]);
    return 2;
}

#define BROKEN(first, second, near)                                                      \
    int main(int argc, char **argv)                                                      \
    {                                                                                    \
        return broken_main(argc, argv,                                                   \
                           (void (*const[])(void)){(first), (second), (near)});          \
    }
#endif
