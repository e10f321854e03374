// SPDX-License-Identifier: Apache-2.0
/* cuInit(), versions, error names, and calls that do nothing here.
 *
 * cuInit() may be called again and by several threads at once; what it makes lives as
 * long as the process. Versions and error names need no cuInit(), and work in a forked
 * child and while the process ends, too. */
#include <string.h>

#include "softcuda/api/exports.h"
#include "softcuda/device/driver.h"
#include "softcuda/device/settings.h"
#include "softcuda/graph/graph.h"

CUresult cuInit(unsigned int flags)
{
    soft_thread_self()->call = __func__;
    if (flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x, not 0", flags);
    soft_capture_install();
    return soft_driver_init();
}

CUresult cuDriverGetVersion(int *version)
{
    soft_thread_self()->call = __func__;
    SOFT_TRY(soft_need(version, "driverVersion"));
    *version = soft_driver_version();
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **out)
{
    soft_thread_self()->call = __func__;
    SOFT_TRY(soft_need(out, "pStr"));
    const char *name = soft_result_name(error);
    *out = strcmp(name, "unknown") == 0 ? NULL : name;
    return *out ? CUDA_SUCCESS
                : soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a result code",
                            (int)error);
}

CUresult cuGetErrorString(CUresult error, const char **out)
{
    soft_thread_self()->call = __func__;
    SOFT_TRY(soft_need(out, "pStr"));
    switch (error) {
#define X(name, value, text)                                                             \
    case name: *out = text; return CUDA_SUCCESS;
        GPHI_CUDA_RESULTS(X)
#undef X
    }
    *out = NULL;
    return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a result code", (int)error);
}

CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    soft_thread_self()->call = __func__;
    if (!table || !id)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL",
                         !table ? "ppExportTable" : "pExportTableId");
    *table = NULL;
    return soft_fail(
        CUDA_ERROR_INVALID_VALUE,
        "private tables do not exist here; NVIDIA's CUDA runtime asks for them: "
        "gph run replaces it by softcuda's own, inside what was stripped "
        "of its symbols once static_runtime.py, beside softcuda, has read the "
        "toolkit's libcudart_static.a");
}

CUresult cuProfilerInitialize(const char *config, const char *output, CUoutput_mode mode)
{
    (void)config, (void)output, (void)mode;
    SOFT_TRY(soft_enter(__func__));
    return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "there is no profiler to set up");
}

CUresult cuProfilerStart(void)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    return CUDA_SUCCESS;
}

CUresult cuProfilerStop(void)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    return CUDA_SUCCESS;
}

CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                    CUflushGPUDirectRDMAWritesScope scope)
{
    (void)target, (void)scope;
    SOFT_TRY(soft_enter_context(__func__, NULL));
    return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "there is no GPUDirect RDMA here");
}
