// SPDX-License-Identifier: Apache-2.0
/* Names and texts of errors; the thread's last one.
 *
 * A program that checks each call compares numbers; one that prints them wants NVIDIA's
 * words, since people search for these. Where the driver has the error, its text is the
 * driver's, so that softcuda says the same in both interfaces. */
#include "softcuda/runtime/entry.h"

static const struct {
    cudaError_t error;
    const char *name;
    const char *text; /* of an error of the runtime's own; NULL: the driver has it */
} errors[] = {
#define X(error, name, text) {error, "cuda" name, text},
#include "cuda/runtime_errors.def"
#undef X
};

enum { ERROR_COUNT = sizeof(errors) / sizeof(*errors) };

GPH_API const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < ERROR_COUNT; i++)
        if (errors[i].error == error)
            return errors[i].name;
    return "unrecognized error code";
}

GPH_API const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error)
{
    const rt_driver *cu;
    const char *text = NULL;
    for (size_t i = 0; i < ERROR_COUNT; i++)
        if (errors[i].error == error && errors[i].text)
            return errors[i].text;
    if (rt_load(&cu, RT_LEGACY) == cudaSuccess)
        cu->cuGetErrorString((CUresult)error, &text);
    return text ? text : "unrecognized error code";
}

GPH_API cudaError_t cudaGetLastError(void);
cudaError_t cudaGetLastError(void)
{
    return rt_last_error(1);
}

GPH_API cudaError_t cudaPeekAtLastError(void);
cudaError_t cudaPeekAtLastError(void)
{
    return rt_last_error(0);
}
