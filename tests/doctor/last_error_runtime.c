// SPDX-License-Identifier: Apache-2.0
/* As a CUDA runtime keeps errors: the code of a call that failed, by thread, until
 * cudaGetLastError() takes it. The two functions have the runtime's names. */
#include "last_error.h"
#include "rules/driver.h"

static _Thread_local int last;

int last_error_alloc(CUdeviceptr *out, size_t bytes)
{
    const CUresult result = cuMemAlloc(out, bytes);
    if (result != CUDA_SUCCESS)
        last = (int)result;
    return (int)result;
}

int cudaGetLastError(void)
{
    const int was = last;
    last = 0;
    return was;
}

int cudaPeekAtLastError(void)
{
    return last;
}
