// SPDX-License-Identifier: Apache-2.0
/* An executable graph as the folders above replay see it. */
#ifndef GPHI_REPLAY_EXEC_H
#define GPHI_REPLAY_EXEC_H
#include "cuda/defer.h"
#include "cuda/runtime.h"
#include "memory/ledger.h"
#include <gph/replay.h>

/* What the launch reads comes first, in one cache line. */
struct gph_exec {
    const gph_exec *self; /* NULL once destroyed */
    CUresult (*launch)(CUgraphExec, CUstream);
    CUgraphExec handle;
    gph_runtime *runtime;
    void *extra;                /* of the folder update: what the executable holds */
    void (*extra_free)(void *); /* called with it when the executable is gone */
    uint32_t flags;             /* of gph_exec_options */
    gphi_deferred end;          /* of gph_exec_destroy() */
    gphi_ledger_exec ledger;    /* what the driver took for it */
};

/* Each has the other's driver handle then, and what the ledger says of it. */
void gphi_exec_swap(gph_exec *a, gph_exec *b);
#endif
