// SPDX-License-Identifier: Apache-2.0
/* The driver's calls as a table of typed pointers, and where they come from. */
#ifndef GPHI_CUDA_TABLE_H
#define GPHI_CUDA_TABLE_H
#include "cuda/calls.h"
#include <gph/cuda.h>
#include <stdbool.h>

/* Every call that cuda/calls.h lists. No entry is NULL: what the driver lacks returns
 * CUDA_ERROR_NOT_SUPPORTED; ask gphi_cuda_has() before relying on a late one. */
typedef struct gphi_cuda_table {
#define X(name, version, arguments) CUresult(*name) arguments;
    GPHI_CUDA_CALLS(X)
#undef X
} gphi_cuda_table;

/* Where a driver's entry points come from: a library, or a test's own. */
typedef struct gphi_cuda_source {
    /* The call's address in the version asked for, or NULL. Any thread. */
    gph_cuda_fn (*find)(void *user, const char *name, int version);
    void *user;
    gph_driver kind;  /* GPH_DRIVER_CUDA or GPH_DRIVER_SOFT */
    const char *path; /* lives as long as the source */
    const char *why;  /* static */
} gphi_cuda_source;

/* Fills every entry. */
void gphi_cuda_table_fill(gphi_cuda_table *table, const gphi_cuda_source *source);

/* The CUDA version that brought the present signature of a call, 0 if there is no such
 * name. */
int gphi_cuda_call_version(const char *name);

/* What the entries of missing calls point to. */
CUresult gphi_cuda_missing(void);
#define gphi_cuda_has(table, name)                                                       \
    ((gph_cuda_fn)(table)->name != (gph_cuda_fn)gphi_cuda_missing)
#endif
