// SPDX-License-Identifier: Apache-2.0
/* What most of these programs start with: a context, the kernels, and short words for
 * calls. */
#ifndef APP_H
#define APP_H
#include "cu.h"
#include "kernels.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call)                                                                         \
    do {                                                                                 \
        CUresult ok_ = (call);                                                           \
        if (ok_ != CUDA_SUCCESS) {                                                       \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, ok_);      \
            exit(3);                                                                     \
        }                                                                                \
    } while (0)
#define RUN(function, blocks, threads, stream, ...)                                      \
    cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream,                     \
                   (void *[]){__VA_ARGS__}, NULL)

static CUcontext app_context;
static CUmodule app_module;

static inline void app_start(void)
{
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&app_context, 0));
    OK(cuCtxSetCurrent(app_context));
    OK(cuModuleLoadData(&app_module, kernels_ptx));
}
static inline CUfunction app_kernel(const char *name)
{
    CUfunction function;
    OK(cuModuleGetFunction(&function, app_module, name));
    return function;
}
static inline CUdeviceptr app_alloc(size_t bytes)
{
    CUdeviceptr address;
    OK(cuMemAlloc(&address, bytes));
    OK(cuMemsetD8(address, 0, bytes));
    OK(cuCtxSynchronize());
    return address;
}
#endif
