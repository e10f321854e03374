// SPDX-License-Identifier: Apache-2.0
/* Sizes and offsets as the CUDA toolkit has them, where its headers are those of
 * RT_MAJOR. */
#include "abi_list.h"

#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#endif

#ifndef RT_MAJOR
#define RT_MAJOR 13
#endif
#if defined(CUDART_VERSION) && CUDART_VERSION / 1000 == RT_MAJOR
const abi_row abi_of_toolkit[] = ABI_ROWS;
#else
const abi_row abi_of_toolkit[] = {{NULL, 0}};
#endif
