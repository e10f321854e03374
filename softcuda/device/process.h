// SPDX-License-Identifier: Apache-2.0
/* What cuInit() made, for the files of this folder; others ask driver.h and context.h. */
#ifndef SOFT_DEVICE_PROCESS_H
#define SOFT_DEVICE_PROCESS_H
#include "softcuda/device/driver.h"
#include "softcuda/device/settings.h"

/* Written by cuInit() under the lock of driver.c, before `phase` becomes READY; only
 * `phase` changes later. */
extern __attribute__((visibility("hidden"))) struct soft_process {
    _Atomic enum soft_phase phase; /* NEW, which is 0, at first */
    soft_device devices[SOFT_DEVICE_MAX];
    int device_count;
    soft_settings settings;
} soft_process;

void soft_driver_set_phase(enum soft_phase phase);
#endif
