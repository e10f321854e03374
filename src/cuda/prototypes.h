// SPDX-License-Identifier: Apache-2.0
/* A prototype for each symbol of the driver. Whoever defines them, or finds them at run time,
 * includes this for their types: nothing is linked by it. */
#ifndef GPHI_CUDA_PROTOTYPES_H
#define GPHI_CUDA_PROTOTYPES_H
#include "cuda/calls.h"

#define GPHI_PROTOTYPE(symbol, name, version, per_thread, arguments)                     \
    CUresult symbol arguments;
GPHI_CUDA_SYMBOLS(GPHI_PROTOTYPE)
#undef GPHI_PROTOTYPE
#endif
