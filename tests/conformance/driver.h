// SPDX-License-Identifier: Apache-2.0
/* The driver under test: softcuda, or NVIDIA's with GPH_DRIVER=cuda. What these tests
 * assert is what the real driver does; where only softcuda can be asked (garbage handles
 * that crash the real one), a test checks driver_is_soft first. */
#ifndef CONFORMANCE_DRIVER_H
#define CONFORMANCE_DRIVER_H
#include <dlfcn.h>
#include <stdbool.h>

#include "test.h"
#include "tests/driver.h"

/* CHECK, and what the driver said instead. */
#define CHECK_IS(expr, expected)                                                         \
    do {                                                                                 \
        const CUresult is_ = (expr);                                                     \
        if (!CHECK(is_ == (expected)))                                                   \
            fprintf(stderr, "  %s is %d, not %d\n", #expr, (int)is_, (int)(expected));   \
    } while (0)
#define OK(expr) CHECK_IS(expr, CUDA_SUCCESS)
#define REFUSED(code, expr) CHECK_IS(expr, CUDA_ERROR_##code)

/* With ONE=name in the environment a program runs that test alone: what crashes a driver
 * costs no other test's answer. A program whose tests build on each other has no use of it. */
static inline bool test_wanted(const char *name)
{
    const char *one = getenv("ONE");
    return !one || strcmp(one, name) == 0;
}
#undef RUN
#define RUN(test) (test_wanted(#test) ? test_run(#test, test) : (void)0)

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
        if (!driver_load(SOFTCUDA_PATH, &why_)) {                                        \
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
