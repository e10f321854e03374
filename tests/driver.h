// SPDX-License-Identifier: Apache-2.0
/* The driver that tests, fuzzers and benches ask by its calls: softcuda, or NVIDIA's with
 * GPH_DRIVER=cuda. One a process: its calls are in `cu`. */
#ifndef DRIVER_H
#define DRIVER_H
#include <stdbool.h>

#include "cuda/calls.h"
#include "tests/node.h"

struct driver {
#define X(name, version, args) CUresult(CUDAAPI *name) args;
    GPHI_CUDA_CALLS(X)
#undef X
};

extern struct driver cu; /* NULL: a call that this driver lacks */
extern void *driver_library;
extern bool driver_is_soft;
extern CUcontext driver_context; /* the first device's primary one; driver_start() */

/* Whether softcuda is wanted: known without a driver. */
bool driver_wants_soft(void);

/* Opens softcuda at that path, or NVIDIA's. False where it cannot be, and *why. */
bool driver_load(const char *softcuda, const char **why);

/* Makes the primary context of device 0 current. */
CUresult driver_start(void);
#endif
