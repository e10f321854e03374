// SPDX-License-Identifier: Apache-2.0
/* Sizes and offsets as the CUDA toolkit has them, where there is one of version 13. */
#include "abi_list.h"

#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#endif

#if defined(CUDART_VERSION) && CUDART_VERSION >= 13000 && CUDART_VERSION < 14000
const abi_row abi_of_toolkit[] = ABI_ROWS;
#else
const abi_row abi_of_toolkit[] = {{NULL, 0}};
#endif
