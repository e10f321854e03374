// SPDX-License-Identifier: Apache-2.0
/* bench/callable: what a call of a callable costs the host, beside the launch under it.
 *
 *   bench_callable [ROUNDS [NODES]]
 *
 * A graph of 40 small kernels with 8 inputs. In each round each way is taken 20 times,
 * one way after the other, with the device idle at the start; medians of rounds.
 * GPH_DRIVER chooses the driver, softcuda unless it is set. */
#define _GNU_SOURCE
#include "sample.h"

#include <gph/gph.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char ptx[] = ".version 6.3\n.target sm_70\n.address_size 64\n"
                          ".visible .entry nothing(.param .u64 p) { ret; }\n";

enum { INPUTS = 8, CALLS = 20, ROUNDS_MAX = 10001, BYTES = 4096, NON_BLOCKING = 1 };

static gph_error error;
static gph_runtime *gph;
static const gph_cuda_calls *cu;
static CUfunction nothing;
static CUstream stream;
static gph_pool *pool;
static int nodes = 40;

static void must(gph_status status)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "bench_callable: %s %s\n", error.message, error.hint);
    exit(1);
}
#define CU(name, ...) must(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error))

static gph_status put_nodes(void *user, gph_call *call, gph_error *out)
{
    (void)user;
    CUdeviceptr p = call->inputs[0].data;
    void *params[] = {&p};
    gph_status status = GPH_OK;
    for (int i = 0; i < nodes && status == GPH_OK; i++)
        status = gph_cuda_check(
            cu->LaunchKernel(nothing, 1, 1, 1, 32, 1, 1, 0, call->stream, params, NULL),
            "cuLaunchKernel", out);
    call->rng_count = 4;
    return status;
}

static gph_tensor inputs[INPUTS];

static gph_callable *make(const uint8_t *modes, uint32_t flags, gph_rng *rng)
{
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    gph_callable *callable = NULL;
    options.function = put_nodes;
    options.sample = (gph_arguments){.inputs = inputs, .input_count = INPUTS};
    options.modes = modes;
    options.pool = pool;
    options.stream = stream;
    options.flags = flags;
    options.rng = rng;
    must(gph_callable_create(gph, &options, &callable, &error));
    return callable;
}

/* ---- the ways ---- */

static gph_callable *plain, *unordered, *copying, *drawing;
static CUgraphExec raw;
static gph_exec *exec;
static gph_arguments arguments = {.inputs = inputs, .input_count = INPUTS};

static void by_driver(void)
{
    CU(GraphLaunch, raw, stream);
}
static void by_exec(void)
{
    must(gph_exec_launch(exec, stream, &error));
}
static void by_callable(void)
{
    must(gph_callable_call(plain, &arguments, stream, NULL, &error));
}
static void by_unordered(void)
{
    must(gph_callable_call(unordered, &arguments, stream, NULL, &error));
}
static void by_drawing(void)
{
    must(gph_callable_call(drawing, &arguments, stream, NULL, &error));
}
static void by_copying(void)
{
    must(gph_callable_call(copying, &arguments, stream, NULL, &error));
}
static void one_by_one(void)
{
    for (uint32_t i = 0; i < INPUTS; i++)
        CU(MemcpyDtoDAsync, gph_callable_input(copying, i).data, inputs[i].data, BYTES,
           stream);
    CU(GraphLaunch, gph_exec_handle(gph_callable_exec(copying)), stream);
}

static const struct way {
    const char *text;
    void (*run)(void);
} ways[] = {
    {"cuGraphLaunch", by_driver},
    {"gph_exec_launch", by_exec},
    {"gph_callable_call, 8 static inputs", by_callable},
    {"  without the check of the pool's order", by_unordered},
    {"  with a generator that moves on", by_drawing},
    {"gph_callable_call, 8 copied inputs", by_copying},
    {"  the same by 8 cuMemcpyDtoDAsync, cuGraphLaunch", one_by_one},
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };
enum { DRIVER, EXEC, CALLABLE };

static double samples[WAYS][ROUNDS_MAX], above[ROUNDS_MAX];

static void measure(int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < WAYS; i++) {
            const int way = (i + round) % WAYS; /* nobody is always the first */
            CU(StreamSynchronize, stream);
            const double start = now_us();
            for (int call = 0; call < CALLS; call++)
                ways[way].run();
            samples[way][round] = (now_us() - start) / CALLS;
        }
    CU(StreamSynchronize, stream);
    for (int round = 0; round < rounds; round++)
        above[round] = samples[CALLABLE][round] - samples[EXEC][round];
}

static int report(int rounds)
{
    double medians[WAYS];
    for (int i = 0; i < WAYS; i++) {
        medians[i] = median(samples[i], rounds);
        printf("%-52s %8.3f us   cuGraphLaunch %+.3f\n", ways[i].text, medians[i],
               medians[i] - medians[DRIVER]);
    }
    const double got = median(above, rounds);
    const int is_missed = got > 0.2;
    printf("a call without copies: gph_exec_launch %+.3f us   <= +0.2 %s\n", got,
           is_missed ? "MISSED" : "");
    return is_missed ? 3 : 0;
}

static void open_driver(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    CUcontext context = NULL;
    CUmodule module = NULL;
    options.driver = getenv("GPH_DRIVER") != NULL ? GPH_DRIVER_DEFAULT : GPH_DRIVER_SOFT;
    must(gph_open(&options, &gph, &error));
    gph_driver_info_get(gph, &info);
    printf("%s, version %d\n", info.path, info.version);
    cu = gph_cuda(gph);
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(ModuleLoadData, &module, ptx);
    CU(ModuleGetFunction, &nothing, module, "nothing");
    CU(StreamCreate, &stream, NON_BLOCKING);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 301;
    nodes = argc > 2 ? atoi(argv[2]) : nodes;
    if (rounds < 1 || rounds > ROUNDS_MAX || nodes < 1) {
        fprintf(stderr, "usage: bench_callable [ROUNDS [NODES]]\n");
        return 2;
    }
    gph_arena *arena = NULL;
    gph_rng *rng = NULL;
    CUdeviceptr data = 0;
    open_driver();
    must(gph_arena_create(gph, NULL, &arena, &error));
    must(gph_pool_create(arena, NULL, &pool, &error));
    must(gph_rng_create(gph, 1, &rng, &error));
    CU(MemAlloc, &data, INPUTS * BYTES);
    for (CUdeviceptr i = 0; i < INPUTS; i++)
        inputs[i] = gph_tensor_dense(data + i * BYTES, GPH_DTYPE_F32, 2,
                                     (int64_t[]){32, BYTES / 128});
    uint8_t fixed[INPUTS];
    memset(fixed, GPH_INPUT_STATIC, sizeof(fixed));
    plain = make(fixed, 0, NULL);
    unordered = make(fixed, GPH_CALLABLE_ANY_ORDER, NULL);
    drawing = make(fixed, 0, rng);
    copying = make(NULL, 0, NULL);
    exec = gph_callable_exec(plain);
    raw = gph_exec_handle(exec);
    for (int i = 0; i < WAYS; i++)
        ways[i].run();
    measure(rounds);
    const int result = report(rounds);
    gph_callable_destroy(plain);
    gph_callable_destroy(unordered);
    gph_callable_destroy(drawing);
    gph_callable_destroy(copying);
    CU(MemFree, data);
    gph_rng_destroy(rng);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    CU(StreamDestroy, stream);
    gph_close(gph);
    return result;
}
