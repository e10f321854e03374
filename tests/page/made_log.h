// SPDX-License-Identifier: Apache-2.0
/* Logs of programs that never ran, of any length, for tests of the report. */
#ifndef MADE_LOG_H
#define MADE_LOG_H
#include <gph/base.h>

typedef struct made_log_options {
    uint32_t calls;    /* about so many driver calls; 0: not one */
    uint32_t nodes;    /* of one more graph, a lattice; 0: none */
    int is_hostile;    /* names that try to break out of a page */
    int has_gpu_times; /* as if measured */
    int is_crowded;    /* instead: many threads, streams, captures and allocations */
} made_log_options;

/* An eager phase and a graph phase of the same kernels on one thread, copies and a
 * capture that fails on another, memory that is used again, a cache and a tree. */
gph_status made_log_write(const char *path, const made_log_options *options,
                          gph_error *error);
#endif
