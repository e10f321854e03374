// SPDX-License-Identifier: Apache-2.0
/* SOFTCUDA_CHECK=memory: host code that touches pinned memory which a queued copy has yet
 * to write. The pages are kept from everybody until the copy runs; a fault there is said,
 * once a copy, and the program goes on. Copies that have run are not looked at, so what is
 * said is true, but a read that comes too late to be too early is not seen. */
#ifndef SOFT_MEMORY_PENDING_H
#define SOFT_MEMORY_PENDING_H
#include <stdbool.h>
#include <stdint.h>

/* Any thread. Memory that is not of cuMemHostAlloc() shares its pages with the rest of the
 * program and is left alone: false then, and where too many are under way. */
bool soft_pending_begin(uint64_t address, uint64_t bytes);
/* The copy runs now, or never will. */
void soft_pending_end(uint64_t address, uint64_t bytes);
/* In a signal handler: whether the fault was of such a page, and the access can go on.
 * *offset: in the destination, which has *bytes; 0 bytes: nothing is to be said. */
bool soft_pending_open(uint64_t address, uint64_t *offset, uint64_t *bytes);

#endif
