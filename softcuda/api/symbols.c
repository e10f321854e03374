// SPDX-License-Identifier: Apache-2.0
/* Every exported symbol with its address. Only addresses are taken, so the symbols are
 * declared without their arguments: the real prototypes would need a cast each. */
#include "softcuda/api/symbols.h"

#include "cuda/calls.h"

#define X(symbol, name, version, per_thread, args) int symbol(void);
GPHI_CUDA_SYMBOLS(X)
#undef X

const soft_symbol soft_symbols[] = {
#define X(symbol, name, version, per_thread, args) {#name, version, per_thread, symbol},
    GPHI_CUDA_SYMBOLS(X)
#undef X
};
const size_t soft_symbol_count = sizeof(soft_symbols) / sizeof(soft_symbols[0]);
