// SPDX-License-Identifier: Apache-2.0
/* Handles that were seen made, since the driver may crash when it is asked about others.
 * A set that is full knows less, that is all. */
#ifndef ATTACH_HANDLE_H
#define ATTACH_HANDLE_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { ATTACH_STREAMS_MAX = 1 << 12, ATTACH_GRAPHS_MAX = 1 << 16 };

/* Open addressing; 0: free, 1: removed. Flags are the owner's. */
typedef struct attach_set {
    _Atomic uint64_t *keys;
    _Atomic uint8_t *flags;
    uint32_t mask;
} attach_set;

extern const attach_set attach_streams, attach_graphs, attach_kernels;

/* Its place, or -1. */
long attach_set_find(const attach_set *in, uint64_t key);
void attach_set_add(const attach_set *in, uint64_t key, uint8_t flags);
void attach_set_remove(const attach_set *in, uint64_t key);
#endif
