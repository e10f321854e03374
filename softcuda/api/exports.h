// SPDX-License-Identifier: Apache-2.0
/* The prototypes of all exported symbols. Every file of api/ includes it. */
#ifndef SOFT_API_EXPORTS_H
#define SOFT_API_EXPORTS_H
#include <gph/base.h>

#include "cuda/calls.h"

#define X(symbol, name, version, per_thread, args) GPH_API CUresult CUDAAPI symbol args;
GPHI_CUDA_SYMBOLS(X)
#undef X
#endif
