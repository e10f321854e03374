// SPDX-License-Identifier: Apache-2.0
/* Dispatch inside.
 *
 *   host      sent ──> queue (pinned): [kind, arguments] [kind, arguments] ...
 *                        │
 *   device    start ──> round ── launches a graph for each request, one of each graph
 *             (host)     │ ^      └> block of the graph: the arguments
 *                        └─┘ into the tail: the next round, when they have ended
 *
 * Numbers only grow: `sent` is the host's, `taken` and `done` the device's, so neither side
 * needs an atomic operation on the other's memory, which a GPU across a bus does not have.
 *
 * The resident graph ends after a while without work. It counts `sleeps` up and then reads
 * `sent` again; who sends counts `sent` up and then reads `sleeps`, with a fence between,
 * each: so one of both sees the other. Where both do, one resident graph too many is
 * started, which the stream orders after the first and which ends after a while itself. */
#ifndef GPHI_DISPATCH_DISPATCH_H
#define GPHI_DISPATCH_DISPATCH_H
#include "base/thread.h"
#include "device/kernels.h"
#include "kernels/dispatch.cuh"
#include <gph/dispatch.h>
#include <gph/replay.h>
#include <stdbool.h>

struct gph_dispatch {
    gph_runtime *runtime;
    gph_dispatch_options options;
    char *name;
    dispatch_plan plan;
    dispatch_host *host;     /* pinned, the queue after it */
    dispatch_request *queue; /* as the host sees it */
    CUdeviceptr memory;      /* dispatch_device, entries, blocks */
    gphi_kernels *kernels;
    CUstream stream; /* of the resident graph alone */
    gph_exec *execs[DISPATCH_ENTRIES];
    uint32_t kinds[DISPATCH_ENTRIES];
    uint32_t count;
    gph_exec *resident, *start; /* NULL until gph_dispatch_start() */
    gphi_mutex mutex;           /* of who sends: what follows */
    uint64_t sent, starts, full;
    gphi_deferred end;
};

/* What the driver said to a call for it. */
gph_status gphi_dispatch_check(const gph_dispatch *dispatch, CUresult result,
                               const char *call, gph_error *error);
#endif
