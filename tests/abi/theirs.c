// SPDX-License-Identifier: Apache-2.0
/* The facts of tests/abi/facts.inc as the toolkit's header states them, and every
 * prototype of our call list compared with the toolkit's: those fail to compile. */
#define __CUDA_API_VERSION_INTERNAL /* shows the older signatures too */
#include <cuda.h>
#include <cudaProfiler.h>

#define GPHI_CUDA_ABI_H /* cuda/calls.h must not bring our types in beside theirs */
#include "abi_facts.h"
#include "cuda/calls.h"

#define SIZE(type) {"sizeof(" #type ")", (long long)sizeof(type)},
#define OFFSET(type, field) {#type "." #field, (long long)offsetof(type, field)},
#define VALUE(name) {#name, (long long)(name)},

const struct abi_fact abi_theirs[] = {
#include "facts.inc"
};
const size_t abi_theirs_count = sizeof(abi_theirs) / sizeof(abi_theirs[0]);

#define X(symbol, name, version, per_thread, args)                                       \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&symbol), CUresult(*) args),  \
                   #symbol " has another prototype in <cuda.h>");
GPHI_CUDA_SYMBOLS(X)
#undef X
