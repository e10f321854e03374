// SPDX-License-Identifier: Apache-2.0
/* The counters that softcuda writes at the end of a process: the file that the variable
 * SOFTCUDA_SUMMARY names, one flat JSON object of numbers. */
#ifndef SUMMARY_H
#define SUMMARY_H
#include <stdbool.h>
#include <stdio.h>

typedef struct summary {
    unsigned long long kernels_launched; /* one by one, not by graphs */
    unsigned long long graphs;           /* instantiated */
    unsigned long long graph_nodes;      /* in them */
    unsigned long long graph_launches;
    unsigned long long launch_host_ns; /* in launch calls of both sorts */
    unsigned long long peak_device_bytes;
} summary;

/* False if a counter is missing or is no number. */
bool summary_parse(const char *json, summary *out);

void summary_print(const summary *of, const char *driver, FILE *to);
#endif
