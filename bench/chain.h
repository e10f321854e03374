// SPDX-License-Identifier: Apache-2.0
/* What benches of libgph share: a driver, a kernel, ways to fail, medians. */
#ifndef BENCH_CHAIN_H
#define BENCH_CHAIN_H
#include "sample.h"

#include <gph/gph.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* y[i] = x[i] + 1 */
static const char chain_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry add(.param .u64 py, .param .u64 px, .param .u32 pn)\n"
    "{\n"
    ".reg .pred %p<2>;\n.reg .f32 %f<3>;\n.reg .b32 %r<6>;\n.reg .b64 %d<6>;\n"
    "ld.param.u64 %d1, [py];\nld.param.u64 %d2, [px];\nld.param.u32 %r1, [pn];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
    "mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "setp.ge.u32 %p1, %r5, %r1;\n@%p1 bra DONE;\n"
    "mul.wide.u32 %d3, %r5, 4;\nadd.u64 %d4, %d1, %d3;\nadd.u64 %d5, %d2, %d3;\n"
    "ld.global.f32 %f1, [%d5];\nadd.f32 %f1, %f1, 0f3F800000;\n"
    "st.global.f32 [%d4], %f1;\nDONE:\nret;\n}\n";

static gph_runtime *runtime;
static const gph_cuda_calls *cu;
static CUfunction add;
static CUstream stream;
static gph_arena *arena;
static bool missed;

static inline void must(gph_status status, const char *what, const gph_error *error)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "%s: %s %s\n", what, gph_status_name(status),
            error != NULL ? error->message : "");
    exit(status == GPH_E_UNSUPPORTED ? 77 : 1);
}
/* A call of libgph whose last argument is `error`. */
#define GPH(call)                                                                        \
    do {                                                                                 \
        gph_error why = {0};                                                             \
        gph_error *const error = &why;                                                   \
        must((call), #call, &why);                                                       \
    } while (0)
#define CU(name, ...) must(cu->name(__VA_ARGS__), #name, NULL)

/* A figure and the most that it may be. */
static inline void bar(const char *what, double value, double limit, const char *unit)
{
    const bool bad = value > limit;
    printf("  %-58s %10.3f %s, bar %.3f%s\n", what, value, unit, limit,
           bad ? "  MISSED" : "");
    missed = missed || bad;
}

static inline gph_pool *make_pool(void)
{
    gph_pool *pool = NULL;
    GPH(gph_pool_create(arena, NULL, &pool, error));
    return pool;
}

static inline gph_status launch_add(CUstream where, CUdeviceptr to, CUdeviceptr from,
                                    unsigned count)
{
    void *params[] = {&to, &from, &count};
    return cu->LaunchKernel(add, (count + 127) / 128, 1, 1, 128, 1, 1, 0, where, params,
                            NULL);
}

/* As GPH_DRIVER says; without it a GPU where there is one. */
static inline void open_chain(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    CUcontext context = NULL;
    CUmodule module = NULL;
    if (getenv("GPH_DRIVER") == NULL)
        options.driver = GPH_DRIVER_AUTO;
    GPH(gph_open(&options, &runtime, error));
    gph_driver_info_get(runtime, &info);
    cu = gph_cuda(runtime);
    printf("driver: %s\n", info.driver == GPH_DRIVER_SOFT ? "softcuda" : "NVIDIA's");
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(ModuleLoadData, &module, chain_ptx);
    CU(ModuleGetFunction, &add, module, "add");
    CU(StreamCreate, &stream, 1);
    GPH(gph_arena_create(runtime, NULL, &arena, error));
}
#endif
