// SPDX-License-Identifier: Apache-2.0
/* Calls are asked for as a program asks: by name and version, through cuGetProcAddress. */
#include "driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct driver cu;
void *driver_library;
bool driver_is_soft;
CUcontext driver_context;

bool driver_wants_soft(void)
{
    const char *wanted = getenv("GPH_DRIVER");
    return wanted == NULL || strcmp(wanted, "cuda") != 0;
}

bool driver_load(const char *softcuda, const char **why)
{
    CUresult (*get)(const char *, void **, int, cuuint64_t,
                    CUdriverProcAddressQueryResult *);
    CUdriverProcAddressQueryResult status;
    driver_is_soft = driver_wants_soft();
    driver_library =
        dlopen(driver_is_soft ? softcuda : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver_library == NULL) {
        *why = dlerror();
        return false;
    }
    *(void **)&get = dlsym(driver_library, "cuGetProcAddress_v2");
    if (get == NULL) {
        *why = "the driver is older than CUDA 12";
        return false;
    }
#define X(name, version, args)                                                           \
    if (get(#name, (void **)&cu.name, version, 0, &status) != CUDA_SUCCESS)              \
        cu.name = NULL;
    GPHI_CUDA_CALLS(X)
#undef X
    return true;
}

CUresult driver_start(void)
{
    CUresult result = cu.cuInit(0);
    if (result == CUDA_SUCCESS)
        result = cu.cuDevicePrimaryCtxRetain(&driver_context, 0);
    return result == CUDA_SUCCESS ? cu.cuCtxSetCurrent(driver_context) : result;
}
