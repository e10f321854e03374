// SPDX-License-Identifier: Apache-2.0
/* How many blocks of a kernel an H100 would hold at once. */
#ifndef SOFT_DEVICE_OCCUPANCY_H
#define SOFT_DEVICE_OCCUPANCY_H
#include <stdint.h>

#include "softcuda/ptx/compile.h"

/* How many blocks of a kernel one multiprocessor holds at a time, as an H100 counts. */
uint32_t soft_occupancy(const ptx_kernel *kernel, uint32_t threads,
                        uint64_t dynamic_shared_bytes);
#endif
