// SPDX-License-Identifier: Apache-2.0
/* Names of statuses, and what a driver call returned as an error. */
#include "cuda/status.h"
#include "base/fail.h"
#include "cuda/abi.h"

#include <stdarg.h>
#include <stdio.h>

const char *gph_status_name(gph_status status)
{
    const char *ours = gphi_status_name(status);
    if (ours != NULL)
        return ours;
    switch ((CUresult)status) {
#define X(name, value, text)                                                             \
    case name: return #name;
        GPHI_CUDA_RESULTS(X)
#undef X
    }
    return "CUDA_ERROR_?";
}

const char *gph_status_text(gph_status status)
{
    const char *ours = gphi_status_text(status);
    if (status == GPH_OK || status < 0)
        return ours != NULL ? ours : "";
    switch ((CUresult)status) {
#define X(name, value, text)                                                             \
    case name: return text;
        GPHI_CUDA_RESULTS(X)
#undef X
    }
    return "an error code newer than this build";
}

static void fail_with(gph_error *error, gph_status result, const char *call,
                      const char *format, va_list values)
{
    char what[256] = "";
    vsnprintf(what, sizeof(what), format, values);
    gphi_fail(error, result, "%s: %s returned %s (%s)", what, call,
              gph_status_name(result), gph_status_text(result));
    if (error != NULL)
        error->call = call;
}

gph_status gphi_cuda_fail(gph_error *error, gph_status result, const char *call,
                          const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fail_with(error, result, call, format, values);
    va_end(values);
    return result;
}

gph_status gphi_cuda_check(gph_error *error, CUresult result, const char *call,
                           const char *format, ...)
{
    va_list values;
    if (result == CUDA_SUCCESS)
        return GPH_OK;
    va_start(values, format);
    fail_with(error, (gph_status)result, call, format, values);
    va_end(values);
    return (gph_status)result;
}

gph_status gph_cuda_check(gph_status status, const char *call, gph_error *error)
{
    if (status == GPH_OK)
        return GPH_OK;
    gphi_fail(error, status, "%s returned %s (%s)", call, gph_status_name(status),
              gph_status_text(status));
    if (error != NULL)
        error->call = call;
    return status;
}
