// SPDX-License-Identifier: Apache-2.0
/* A kernel launched through a runtime that is linked statically (fake_runtime.c); its
 * kernels are registered by a constructor, as nvcc's code does. Built as a program, or as a
 * library that tests/runtime/loads.c loads. Prints what the kernel wrote. */
#include "runtime_api.h"

#include <stdbool.h>
#include <stdio.h>

#ifdef WITH_SEGMENT
/* The section in which nvcc points to a program's kernels, and which no strip takes away. */
__attribute__((section(".nvFatBinSegment"), used)) static const int wrapper[6];
#endif

__attribute__((constructor)) static void begin(void)
{
    register_kernels();
}

#ifdef AS_LIBRARY
__attribute__((visibility("default"))) int replaced_run(void);
int replaced_run(void)
#else
int main(void)
#endif
{
    void *y = NULL;
    unsigned n = 3, value = 0;
    void *args[] = {&y, &n};
    const dim3 one = {1, 1, 1}, block = {32, 1, 1};
    const bool is_done =
        cudaMalloc(&y, 4 * sizeof(value)) == cudaSuccess &&
        cudaMemset(y, 1, 4 * sizeof(value)) == cudaSuccess &&
        cudaLaunchKernel(&add_one, one, block, args, 0, NULL) == cudaSuccess &&
        cudaMemcpy(&value, y, sizeof(value), cudaMemcpyDeviceToHost) == cudaSuccess;
    printf("%s 0x%x\n", is_done ? "launched" : "failed", value);
    return !is_done || value != 0x01010102;
}
