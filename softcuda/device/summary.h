// SPDX-License-Identifier: Apache-2.0
/* What the driver did in this process: SOFTCUDA_SUMMARY=FILE gets it as JSON when the
 * process ends. */
#ifndef SOFT_DEVICE_SUMMARY_H
#define SOFT_DEVICE_SUMMARY_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct soft_counters {
    atomic_ullong kernels_launched; /* one by one, not by graphs */
    atomic_ullong graphs;           /* instantiated */
    atomic_ullong graph_nodes;      /* in them */
    atomic_ullong graph_launches;
    atomic_ullong launch_host_ns; /* in launches of both kinds, while it is measured */
} soft_counters;

extern soft_counters soft_counted;

/* Whether launches are to be timed. */
bool soft_summary_wanted(void);
#endif
