// SPDX-License-Identifier: Apache-2.0
/* The driver under test: softcuda, or NVIDIA's with GPH_DRIVER=cuda. What these tests
 * assert is what the real driver does; where only softcuda can be asked (garbage handles
 * that crash the real one), a test checks driver_is_soft first. */
#ifndef CONFORMANCE_DRIVER_H
#define CONFORMANCE_DRIVER_H
#include <dlfcn.h>
#include <stdbool.h>

#include "cuda/calls.h"
#include "test.h"

struct driver {
#define X(name, version, args) CUresult(CUDAAPI *name) args;
    GPHI_CUDA_CALLS(X)
#undef X
};

static struct driver cu;
static void *driver_library;
static bool driver_is_soft;

/* CHECK, and what the driver said instead. */
#define CHECK_IS(expr, expected)                                                         \
    do {                                                                                 \
        const CUresult is_ = (expr);                                                     \
        if (!CHECK(is_ == (expected)))                                                   \
            fprintf(stderr, "  %s is %d, not %d\n", #expr, (int)is_, (int)(expected));   \
    } while (0)
#define OK(expr) CHECK_IS(expr, CUDA_SUCCESS)
#define REFUSED(code, expr) CHECK_IS(expr, CUDA_ERROR_##code)

/* False where the driver cannot be opened, with the reason in *why. */
static inline bool driver_load(const char **why)
{
    const char *wanted = getenv("GPH_DRIVER");
    driver_is_soft = wanted == NULL || strcmp(wanted, "cuda") != 0;
    const char *path = driver_is_soft ? SOFTCUDA_PATH : "libcuda.so.1";
    driver_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (driver_library == NULL) {
        *why = dlerror();
        return false;
    }
    CUresult (*get)(const char *, void **, int, cuuint64_t,
                    CUdriverProcAddressQueryResult *);
    *(void **)&get = dlsym(driver_library, "cuGetProcAddress_v2");
    if (get == NULL) {
        *why = "the driver is older than CUDA 12";
        return false;
    }
    CUdriverProcAddressQueryResult status;
#define X(name, version, args)                                                           \
    if (get(#name, (void **)&cu.name, version, 0, &status) != CUDA_SUCCESS)              \
        cu.name = NULL;
    GPHI_CUDA_CALLS(X)
#undef X
    return true;
}

static inline bool device_wanted(void)
{
    int count = 0;
    return cu.cuInit(0) == CUDA_SUCCESS && cu.cuDeviceGetCount(&count) == CUDA_SUCCESS &&
           count > 0;
}

/* Ends a test program that has no driver to ask. */
#define DRIVER_OR_SKIP()                                                                 \
    do {                                                                                 \
        const char *why_ = NULL;                                                         \
        if (!driver_load(&why_)) {                                                       \
            printf("no driver: %s\n", why_);                                             \
            return 77;                                                                   \
        }                                                                                \
    } while (0)
#define DEVICE_OR_SKIP()                                                                 \
    do {                                                                                 \
        DRIVER_OR_SKIP();                                                                \
        if (!device_wanted()) {                                                          \
            printf("no device\n");                                                       \
            return 77;                                                                   \
        }                                                                                \
    } while (0)

/* The primary context of device 0, current. */
static inline CUcontext use_primary(void)
{
    CUcontext context = NULL;
    OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
    OK(cu.cuCtxSetCurrent(context));
    return context;
}
#endif
