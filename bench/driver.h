// SPDX-License-Identifier: Apache-2.0
/* Benches of the driver API itself: what fails ends the program.
 *
 *   driver_must_open(BENCH_SOFTCUDA);
 *   CU(cuStreamCreate, &stream, 0); */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H
#include <stdio.h>
#include <stdlib.h>

#include "tests/driver.h"

static void driver_must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s: error %d\n", what, (int)result);
    exit(1);
}
#define CU(name, ...) driver_must(cu.name(__VA_ARGS__), #name)

/* With the first device's primary context current. */
static inline void driver_must_open(const char *softcuda)
{
    const char *why;
    if (!driver_load(softcuda, &why)) {
        fprintf(stderr, "%s\n", why);
        exit(1);
    }
    driver_must(driver_start(), "the first device");
}
#endif
