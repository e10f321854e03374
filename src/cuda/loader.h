// SPDX-License-Identifier: Apache-2.0
/* Chooses the driver of the process and opens it. */
#ifndef GPHI_CUDA_LOADER_H
#define GPHI_CUDA_LOADER_H
#include "cuda/table.h"

typedef struct gphi_driver gphi_driver;

/* The driver asked for, opened or already open; one count. GPH_DRIVER_DEFAULT is settled
 * by GPH_DRIVER. `softcuda_path` may be NULL. */
gph_status gphi_driver_retain(gph_driver wanted, const char *softcuda_path,
                              gphi_driver **out, gph_error *error);
void gphi_driver_release(gphi_driver *driver);

/* Lent until the last release. */
const gphi_cuda_source *gphi_driver_source(const gphi_driver *driver);
#endif
