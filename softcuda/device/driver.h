// SPDX-License-Identifier: Apache-2.0
/* The driver as a whole: its phase of life, its settings, and what device/ keeps between
 * its own files. */
#ifndef SOFT_DEVICE_DRIVER_H
#define SOFT_DEVICE_DRIVER_H
#include "softcuda/check/mode.h"
#include "softcuda/device/context.h"

enum soft_phase {
    SOFT_PHASE_NEW, /* before cuInit() */
    SOFT_PHASE_READY,
    SOFT_PHASE_ENDING, /* exit handlers run */
    SOFT_PHASE_FORKED, /* a child: nothing of the parent's threads and memory is there */
};

enum soft_phase soft_driver_phase(void);

/* enter.c: the code that every call gives in a phase but READY, and its sentence. */
CUresult soft_driver_refuse(enum soft_phase phase);

/* cuInit(): reads the settings, makes the devices; repeated calls do nothing. */
CUresult soft_driver_init(void);

/* Compute capability that the devices claim, e.g. 90. */
int soft_compute_capability(void);

/* What SOFTCUDA_CHECK asks for. */
soft_check_mode soft_check_wanted(void);

/* context.c: the primary context of a new device, not alive yet. */
CUresult soft_primary_prepare(soft_device *device);
void soft_primary_set_flags(soft_device *device, uint32_t flags);

/* device.c: the memory of a device, and the engine with so many workers (0: one a CPU).
 */
CUresult soft_device_start(soft_device *device, uint32_t workers, uint32_t seed);

/* summary.c: what SOFTCUDA_SUMMARY names is written, when the process ends. */
void soft_summary_write(void);
#endif
