// SPDX-License-Identifier: Apache-2.0
/* What drivers of CUDA 12.0 to 12.3 have in place of later calls. */
#ifndef GPHI_CUDA_OLDER_H
#define GPHI_CUDA_OLDER_H
#include "cuda/table.h"

/* Fills entries that are missing where an older form serves. */
void gphi_older_fill(gphi_cuda_table *table, const gphi_cuda_source *source);
#endif
