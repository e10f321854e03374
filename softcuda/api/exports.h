// SPDX-License-Identifier: Apache-2.0
/* The prototypes of all exported symbols. Every file of api/ includes it. */
#ifndef SOFT_API_EXPORTS_H
#define SOFT_API_EXPORTS_H
#include <gph/base.h>
#include <stdbool.h>

#include "cuda/calls.h"

#define X(symbol, name, version, per_thread, args) GPH_API CUresult CUDAAPI symbol args;
GPHI_CUDA_SYMBOLS(X)
#undef X

/* A call in both of its variants: `per_thread` says whether stream 0 is the thread's own
 * default stream (`suffix`: _ptsz, or _ptds where the call has no stream) or the legacy
 * one. */
#define SOFT_TWINS(name, suffix, parameters, expr)                                       \
    CUresult name parameters                                                             \
    {                                                                                    \
        const bool per_thread = false;                                                   \
        return expr;                                                                     \
    }                                                                                    \
    CUresult name##suffix parameters                                                     \
    {                                                                                    \
        const bool per_thread = true;                                                    \
        return expr;                                                                     \
    }

/* A call whose older signature says the same as a newer one. */
#define SOFT_OLDER(name, parameters, expr)                                               \
    CUresult name parameters                                                             \
    {                                                                                    \
        return expr;                                                                     \
    }
#endif
