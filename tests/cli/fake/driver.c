// SPDX-License-Identifier: Apache-2.0
/* A libcuda.so.1 that passes for softcuda and does next to nothing, so that `gph run` is
 * tested where softcuda cannot be built: it counts calls of cuInit as launches. Compiled
 * with FAKE_NVIDIA it passes for NVIDIA's. The variables FAKE_VERSION, FAKE_DEVICES and
 * FAKE_INIT (a CUresult) say what it answers. */
#include "cuda/abi.h"
#include <gph/softcuda.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT CUresult cuInit(unsigned int flags);
EXPORT CUresult cuDriverGetVersion(int *version);
EXPORT CUresult cuDeviceGetCount(int *count);
EXPORT CUresult cuGetProcAddress_v2(const char *name, void **out, int version,
                                    cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *found);

static atomic_int inits;

static int answer(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text != NULL ? atoi(text) : otherwise;
}

#ifndef FAKE_NVIDIA
const char *gph_softcuda_version(void)
{
    const char *text = getenv("FAKE_SOFTCUDA_VERSION");
    return text ? text : "fake";
}
#endif

static void write_summary(void)
{
    FILE *file = fopen(getenv("SOFTCUDA_SUMMARY"), "w");
    if (file == NULL)
        return;
    fprintf(file,
            "{\"kernels_launched\": %d, \"graphs\": 2, \"graph_nodes\": 30,\n"
            "\"graph_launches\": 8, \"launch_host_ns\": 15000, "
            "\"peak_device_bytes\": 3145728}\n",
            atomic_load(&inits));
    fclose(file);
}

CUresult cuInit(unsigned int flags)
{
    if (atomic_fetch_add(&inits, 1) == 0 && getenv("SOFTCUDA_SUMMARY") != NULL)
        atexit(write_summary);
    return flags == 0 ? (CUresult)answer("FAKE_INIT", 0) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDriverGetVersion(int *version)
{
    *version = answer("FAKE_VERSION", 13000);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    *count = answer("FAKE_DEVICES", 0);
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *found)
{
    CUresult (*const init)(unsigned int) = cuInit;
    CUresult (*const get_version)(int *) = cuDriverGetVersion;
    CUresult (*const count_devices)(int *) = cuDeviceGetCount;
    (void)version;
    (void)flags;
    *found = CU_GET_PROC_ADDRESS_SUCCESS;
    if (strcmp(name, "cuInit") == 0)
        memcpy(out, &init, sizeof(*out));
    else if (strcmp(name, "cuDriverGetVersion") == 0)
        memcpy(out, &get_version, sizeof(*out));
    else if (strcmp(name, "cuDeviceGetCount") == 0)
        memcpy(out, &count_devices, sizeof(*out));
    else
        *found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}
