// SPDX-License-Identifier: Apache-2.0
/* Who holds which bytes of a device, beside the books of pools: pages of all arenas, and
 * what the driver took for executables. Any thread. */
#ifndef GPHI_MEMORY_LEDGER_H
#define GPHI_MEMORY_LEDGER_H
#include "cuda/runtime.h"

/* Pages come (bytes > 0) or go. */
void gphi_ledger_pages(int device, int64_t bytes);

/* Lies in an executable, so that noting it cannot fail. */
typedef struct gphi_ledger_exec {
    struct gphi_ledger_exec *previous, *next;
    const void *exec; /* gph_exec */
    int device;
    uint64_t bytes;
} gphi_ledger_exec;

/* What the driver's free memory was before an instantiation. One thread measures at a
 * time: from begin to end the others wait. */
typedef struct gphi_ledger_measure {
    int device; /* -1: nothing could be asked */
    uint64_t free_bytes;
    int64_t page_bytes;
} gphi_ledger_measure;
void gphi_ledger_exec_begin(const gph_runtime *runtime, gphi_ledger_measure *measure);
/* `entry` NULL: it was not made. */
void gphi_ledger_exec_end(const gph_runtime *runtime, const gphi_ledger_measure *measure,
                          gphi_ledger_exec *entry, const void *exec);
void gphi_ledger_exec_remove(gphi_ledger_exec *entry);
/* The driver's memory changes its owner, as when handles are swapped. */
void gphi_ledger_exec_swap(gphi_ledger_exec *a, gphi_ledger_exec *b);

/* Each executable of a device; the list is locked meanwhile. */
typedef void gphi_ledger_see(void *user, const gphi_ledger_exec *entry);
void gphi_ledger_exec_each(int device, gphi_ledger_see *see, void *user);

/* Of all executables of a device. */
uint64_t gphi_ledger_exec_bytes(int device);
#endif
