// SPDX-License-Identifier: Apache-2.0
/* Stands for the static CUDA runtime in programs that are built without NVIDIA's: functions
 * of the right names that do nothing and fail. What runs them was not replaced. */
#include "runtime_api.h"

#include <stdio.h>

enum { NOT_REPLACED = 999 };

static cudaError_t fail(const char *name)
{
    fprintf(stderr, "%s was not replaced\n", name);
    return NOT_REPLACED;
}

void **__cudaRegisterFatBinary(void *image)
{
    (void)image;
    fail(__func__);
    return NULL;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
    fail(__func__);
}

void __cudaRegisterFunction(void **handle, const char *host, char *device,
                            const char *name, int limit, void *thread, void *block,
                            dim3 *block_dim, dim3 *grid_dim, int *warp)
{
    (void)handle, (void)host, (void)device, (void)name, (void)limit, (void)thread;
    (void)block, (void)block_dim, (void)grid_dim, (void)warp;
    fail(__func__);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                       size_t bytes, int constant, int global)
{
    (void)handle, (void)host, (void)device, (void)name, (void)ext, (void)bytes;
    (void)constant, (void)global;
    fail(__func__);
}

void __cudaRegisterManagedVar(void **handle, void **pointer, char *device,
                              const char *name, int ext, size_t bytes, int constant,
                              int global)
{
    (void)handle, (void)pointer, (void)device, (void)name, (void)ext, (void)bytes;
    (void)constant, (void)global;
    fail(__func__);
}

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    (void)pointer, (void)bytes;
    return fail(__func__);
}

cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
    (void)pointer, (void)value, (void)bytes;
    return fail(__func__);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    (void)to, (void)from, (void)bytes, (void)kind;
    return fail(__func__);
}

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args,
                             size_t shared, CUstream stream)
{
    (void)func, (void)grid, (void)block, (void)args, (void)shared, (void)stream;
    return fail(__func__);
}

/* Code that the linker leaves as it is, by which static_runtime.py finds the rest. */
unsigned cudaFakeMix(unsigned value);
unsigned cudaFakeMix(unsigned value)
{
    volatile unsigned left = value, right = value * 0x9e3779b9u;
    left += right >> 7, right ^= left << 3, left -= right >> 11, right += left << 5;
    left ^= right >> 13, right -= left << 9, left += right >> 17, right ^= left << 1;
    left -= right >> 19, right += left << 2, left ^= right >> 23, right -= left << 4;
    return left ^ right;
}
