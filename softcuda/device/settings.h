// SPDX-License-Identifier: Apache-2.0
/* What the environment asks for, read once by cuInit(). */
#ifndef SOFT_DEVICE_SETTINGS_H
#define SOFT_DEVICE_SETTINGS_H
#include <stdbool.h>

#include "softcuda/check/mode.h"
#include "softcuda/device/context.h"

typedef struct soft_settings {
    int device_count;              /* the visible ones */
    int physical[SOFT_DEVICE_MAX]; /* of each visible one, its number without
                                      CUDA_VISIBLE_DEVICES */
    size_t memory_bytes;           /* a device: SOFTCUDA_MEMORY */
    uint32_t multiprocessors;      /* a device: SOFTCUDA_MULTIPROCESSORS */
    int compute_capability;        /* 90: SOFTCUDA_COMPUTE_CAPABILITY=9.0 */
    uint32_t workers;              /* SOFTCUDA_WORKERS, 1 to 64; 0: one a CPU */
    uint32_t schedule_seed;        /* SOFTCUDA_SCHEDULE_SEED; 0: none */
    bool launch_blocking;          /* CUDA_LAUNCH_BLOCKING is not 0 */
    soft_check_mode check;         /* SOFTCUDA_CHECK */
} soft_settings;

/* SOFTCUDA_DRIVER_VERSION as CUDA writes it, 13000; one that is not understood, which
 * soft_settings_read() refuses, counts as none. Before cuInit(), too. */
int soft_driver_version(void);

/* Refuses a value that it does not understand, with the value. */
CUresult soft_settings_read(soft_settings *out);

/* The UUID of a device; its text begins with "GPU-". */
CUuuid soft_device_uuid(int physical);
#endif
