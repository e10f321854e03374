// SPDX-License-Identifier: Apache-2.0
/* A library that is linked with the runtime. Opened by dlopen() it and the runtime are in no
 * scope but their own. */
#include "last_error.h"
#include "rules/driver.h"

int client_alloc(CUdeviceptr *out, size_t bytes)
{
    return last_error_alloc(out, bytes);
}

int client_clear(void)
{
    return cudaGetLastError();
}

int client_step(CUfunction kernel, CUstream stream, void **arguments)
{
    const CUresult result =
        cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, arguments, NULL);
    if (result != CUDA_SUCCESS)
        return (int)result;
    return cudaPeekAtLastError();
}
