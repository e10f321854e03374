// SPDX-License-Identifier: Apache-2.0
/* Launches of before CUDA 4: block shape, shared memory and parameters are set in the
 * function, then it is launched (PyCUDA prepares its functions so). Each call is the
 * later cuLaunchKernel() with what was set.
 *
 * As on an H100: a shape that was not set is (1, 1, 1), parameters that were not set are
 * 0, and the size of the parameters is taken as it is given. */
#include <string.h>

#include "softcuda/api/exports.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/limits.h"
#include "softcuda/device/module.h"
#include "softcuda/device/task.h"

/* What has been set in a function. Not for several threads at once, as on a GPU. */
struct soft_prepared {
    unsigned block[3], shared_bytes;
    _Alignas(16) unsigned char params[SOFT_PARAM_BYTES_MAX];
};

static CUresult find(const char *call, CUfunction handle, soft_function **out,
                     struct soft_prepared **prepared)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(call, &context));
    SOFT_TRY(soft_need(handle, "hfunc"));
    SOFT_TRY(soft_function_find(context, handle, out));
    if (!(*out)->prepared) {
        struct soft_prepared *fresh = soft_new(sizeof(*fresh));
        SOFT_TRY(soft_made(fresh, "no memory for the parameters of a function"));
        fresh->block[0] = fresh->block[1] = fresh->block[2] = 1;
        (*out)->prepared = fresh;
    }
    *prepared = (*out)->prepared;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetBlockShape(CUfunction handle, int x, int y, int z)
{
    soft_function *function;
    struct soft_prepared *prepared;
    SOFT_TRY(find(__func__, handle, &function, &prepared));
    const ptx_kernel *kernel = function->code->kernel;
    if (x < 1 || y < 1 || z < 1 || x > SOFT_BLOCK_X_MAX || y > SOFT_BLOCK_Y_MAX ||
        z > SOFT_BLOCK_Z_MAX ||
        (uint64_t)x * (unsigned)y * (unsigned)z > kernel->max_threads)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s: block (%d, %d, %d), it takes 1 to %u threads", kernel->name,
                         x, y, z, kernel->max_threads);
    prepared->block[0] = (unsigned)x;
    prepared->block[1] = (unsigned)y;
    prepared->block[2] = (unsigned)z;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction handle, unsigned int bytes)
{
    soft_function *function;
    struct soft_prepared *prepared;
    SOFT_TRY(find(__func__, handle, &function, &prepared));
    prepared->shared_bytes = bytes;
    return CUDA_SUCCESS;
}

/* Nothing is made of the size: parameters are as many as the kernel has. */
CUresult cuParamSetSize(CUfunction handle, unsigned int bytes)
{
    soft_function *function;
    struct soft_prepared *prepared;
    (void)bytes;
    return find(__func__, handle, &function, &prepared);
}

static CUresult set(const char *call, CUfunction handle, int offset, const void *value,
                    unsigned bytes)
{
    soft_function *function;
    struct soft_prepared *prepared;
    SOFT_TRY(find(call, handle, &function, &prepared));
    SOFT_TRY(soft_need(value, "ptr"));
    if (offset < 0 || bytes > sizeof(prepared->params) ||
        (unsigned)offset > sizeof(prepared->params) - bytes)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%u bytes of parameters at offset %d, there is room for %d",
                         bytes, offset, SOFT_PARAM_BYTES_MAX);
    memcpy(prepared->params + offset, value, bytes);
    return CUDA_SUCCESS;
}

CUresult cuParamSeti(CUfunction handle, int offset, unsigned int value)
{
    return set(__func__, handle, offset, &value, sizeof(value));
}

CUresult cuParamSetf(CUfunction handle, int offset, float value)
{
    return set(__func__, handle, offset, &value, sizeof(value));
}

CUresult cuParamSetv(CUfunction handle, int offset, void *from, unsigned int bytes)
{
    return set(__func__, handle, offset, from, bytes);
}

static CUresult launch(const char *call, CUfunction handle, int width, int height,
                       CUstream stream)
{
    soft_function *function;
    struct soft_prepared *p;
    SOFT_TRY(find(call, handle, &function, &p));
    if (width < 1 || height < 1)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a grid of %d x %d blocks", width,
                         height);
    size_t bytes = sizeof(p->params);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, p->params,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(handle, (unsigned)width, (unsigned)height, 1, p->block[0],
                          p->block[1], p->block[2], p->shared_bytes, stream, NULL, extra);
}

CUresult cuLaunch(CUfunction handle)
{
    return launch(__func__, handle, 1, 1, NULL);
}

CUresult cuLaunchGrid(CUfunction handle, int width, int height)
{
    return launch(__func__, handle, width, height, NULL);
}

CUresult cuLaunchGridAsync(CUfunction handle, int width, int height, CUstream stream)
{
    return launch(__func__, handle, width, height, stream);
}
