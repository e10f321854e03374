// SPDX-License-Identifier: Apache-2.0
/* The link stub: a libcuda.so with every name of the driver and empty functions, so
 * that ordinary driver-API programs link with -lcuda where no driver is installed. Its
 * soname is the driver's, which is what such a program then loads. */
#include "cuda/calls.h"

/* The code that NVIDIA's own stub returns. */
#define X(symbol, name, version, per_thread, arguments)                                  \
    __attribute__((visibility("default"))) CUresult symbol(void);                        \
    CUresult symbol(void)                                                                \
    {                                                                                    \
        return CUDA_ERROR_STUB_LIBRARY;                                                  \
    }
GPHI_CUDA_SYMBOLS(X)
#undef X
