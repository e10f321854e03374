// SPDX-License-Identifier: Apache-2.0
/* Parts of a device's multiprocessors, as CUdevResource names them. */
#ifndef SOFT_API_RESOURCE_H
#define SOFT_API_RESOURCE_H
#include "cuda/abi.h"

/* Which ones, kept in the part of a CUdevResource that is the driver's own. Those of a
 * device are numbered; a part of a split has a run of them. */
typedef struct soft_part {
    uint32_t mark;         /* SOFT_PART_MARK: a driver's call has made it */
    int32_t device;        /* ordinal */
    uint32_t split;        /* not 0: which call has split it off */
    uint32_t first, count; /* multiprocessors */
} soft_part;
#define SOFT_PART_MARK 0x736d7031u

/* A whole device, or what a green context has: it may be split. */
void soft_resource_fill(CUdevResource *out, const soft_part *part);

/* A CUdevResourceDesc points to one; it lives as long as the process. */
typedef struct soft_resources {
    soft_part part; /* of several: the first one's first, and the sum of all */
    struct soft_resources *next;
} soft_resources;

/* `type` must be multiprocessors; `part` is copied into *out. */
CUresult soft_resource_give(const soft_part *part, CUdevResourceType type,
                            CUdevResource *out);
#endif
