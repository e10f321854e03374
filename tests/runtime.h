// SPDX-License-Identifier: Apache-2.0
/* libgph on a driver, for tests of what a program sees: softcuda, or NVIDIA's where there
 * is a GPU. One runtime a process. Public headers only. */
#ifndef TEST_RUNTIME_H
#define TEST_RUNTIME_H
#include "test.h"
#include <gph/gph.h>

#include <stdbool.h>

enum { CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901, CAPTURE_UNJOINED = 904 };

static gph_runtime *runtime;
static const gph_cuda_calls *cu; /* of `runtime` */
static gph_error error;

#define CU(name, ...)                                                                    \
    CHECK_OK(gph_cuda_check(cu->name(__VA_ARGS__), #name, &error), error)

/* Without a driver the process ends: 77, ctest's code for a skipped test. */
static inline void runtime_open(gph_driver driver, const gph_allocator *allocator)
{
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = driver;
    options.allocator = allocator;
    const gph_status status = gph_open(&options, &runtime, &error);
    if (status != GPH_OK) {
        printf("%s: %s\n", status == GPH_E_UNSUPPORTED ? "skipped" : "failed",
               error.message);
        exit(status == GPH_E_UNSUPPORTED ? 77 : 1);
    }
    cu = gph_cuda(runtime);
}

/* Whether the driver's log says what it refuses. */
static inline bool names_refusals(void)
{
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(runtime, &info);
    return (info.features & GPH_FEATURE_LOGS) != 0;
}

/* Whether the last error has these words. */
static inline bool says(const char *what)
{
    const bool is_there = strstr(error.message, what) != NULL;
    if (!is_there)
        fprintf(stderr, "  no \"%s\" in: %s\n", what, error.message);
    return is_there;
}
#endif
