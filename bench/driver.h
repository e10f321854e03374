// SPDX-License-Identifier: Apache-2.0
/* A driver by its symbols, for benches of the driver API itself. Who includes it has said
 * which calls it needs, in a list of X(symbol, arguments):
 *
 *   #define DRIVER_CALLS(X) X(cuInit, (unsigned int)) ...
 *   #include "driver.h"
 *   driver_open(driver_path("/path/of/softcuda's/libcuda.so.1"));
 *   CU(cuStreamCreate, &stream, 0);
 *
 * cuInit, cuDevicePrimaryCtxRetain and cuCtxSetCurrent are always there. */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/abi.h"

#define DRIVER_START_CALLS(X)                                                            \
    X(cuInit, (unsigned int))                                                            \
    X(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                 \
    X(cuCtxSetCurrent, (CUcontext))

static struct {
#define X(name, arguments) CUresult(CUDAAPI *name) arguments;
    DRIVER_START_CALLS(X)
    DRIVER_CALLS(X)
#undef X
} cu;

static CUcontext driver_context; /* the first device's primary one */

static void driver_must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s: error %d\n", what, (int)result);
    exit(1);
}
#define CU(name, ...) driver_must(cu.name(__VA_ARGS__), #name)

/* softcuda, unless GPH_DRIVER=cuda is in the environment. */
static inline const char *driver_path(const char *softcuda)
{
    const char *wanted = getenv("GPH_DRIVER");
    return wanted != NULL && strcmp(wanted, "cuda") == 0 ? "libcuda.so.1" : softcuda;
}

static inline void driver_find(void *library, const char *name, void *out)
{
    void *const symbol = dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "the driver has no %s\n", name);
        exit(1);
    }
    memcpy(out, &symbol, sizeof(symbol));
}

/* The library, with the first device's primary context current. Ends the program if that
 * is not to be had. */
static inline void *driver_open(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define X(name, arguments) driver_find(library, #name, &cu.name);
    DRIVER_START_CALLS(X)
    DRIVER_CALLS(X)
#undef X
    CU(cuInit, 0);
    CU(cuDevicePrimaryCtxRetain, &driver_context, 0);
    CU(cuCtxSetCurrent, driver_context);
    return library;
}
#endif
