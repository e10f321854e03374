// SPDX-License-Identifier: Apache-2.0
/* What the patterns share: the driver, three kernels, and a way to give up. */
#ifndef PATTERNS_COMMON_H
#define PATTERNS_COMMON_H
#include <gph/gph.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct common {
    gph_runtime *gph;
    const gph_cuda_calls *cu;
    CUstream stream;
    CUfunction fill, scale_add, total;
    gph_arena *arena;
    gph_pool *pool;
    unsigned launches; /* calls that put work on the device */
    gph_error error;
} common;

#define MUST(call) ((call) == GPH_OK ? (void)0 : (puts(c->error.message), exit(1)))
#define CU(name, ...)                                                                    \
    MUST(gph_cuda_check(c->cu->name(__VA_ARGS__), "cu" #name, &c->error))
/* Launches a kernel over n items. */
#define LAUNCH(kernel, n, ...)                                                           \
    (c->launches++,                                                                      \
     gph_cuda_check(c->cu->LaunchKernel(c->kernel, ((n) + 127) / 128, 1, 1, 128, 1, 1,   \
                                        0, c->stream, (void *[]){__VA_ARGS__}, NULL),    \
                    "cuLaunchKernel", &c->error))

/* The value at a device address, once all work has ended. */
static inline float read_float(common *c, CUdeviceptr from)
{
    float value = 0;
    CU(MemcpyDtoHAsync, &value, from, sizeof(value), c->stream);
    CU(StreamSynchronize, c->stream);
    return value;
}

/* Each prints what goes wrong or costs too much, and what to do instead. */
void pattern_padding(common *c);
void pattern_branch(common *c);
void pattern_preallocation(common *c);
void pattern_segments(common *c);
void pattern_prefill(common *c);

#endif
