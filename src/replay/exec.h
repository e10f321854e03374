// SPDX-License-Identifier: Apache-2.0
/* An executable graph as the folders above replay see it. */
#ifndef GPHI_REPLAY_EXEC_H
#define GPHI_REPLAY_EXEC_H
#include "cuda/defer.h"
#include "cuda/runtime.h"
#include "memory/ledger.h"
#include "replay/query.h"
#include <gph/replay.h>
#include <stdatomic.h>

/* Nodes that an executable has besides those of its graph, by which one sees how far a
 * launch came. The folder sentinel has them; a gph_sentinel, and what it gives an
 * executable, begin with these. They are in a graph only while it is made executable or
 * updated by. */
typedef struct gphi_marks {
    const struct gphi_marks_ops *ops;
    atomic_ullong *launches; /* counted up before each launch */
    atomic_uint *words;      /* `word_count` of them, for a driver that writes them */
    uint32_t word_count;
} gphi_marks;

/* Any thread may call; one at a time for one executable. */
typedef struct gphi_marks_ops {
    /* Adds them to a graph that is to be made executable. `out` is owned by the caller. */
    gph_status (*create)(gph_sentinel *sentinel, const gphi_graph_source *source,
                         gphi_marks **out, gph_error *error);
    void (*destroy)(gphi_marks *marks);
    /* Adds them to a graph by which the executable is to be updated. */
    gph_status (*enter)(gphi_marks *marks, CUgraph graph, gph_error *error);
    /* Takes them out of it again; those among `nodes` become NULL. */
    CUresult (*leave)(gphi_marks *marks, CUgraphNode *nodes[], size_t count);
    /* The executable holds what they were added to last. */
    void (*keep)(gphi_marks *marks, CUgraphExec exec);
    /* Single nodes of it hold what `graph` does. */
    void (*refresh)(gphi_marks *marks, CUgraph graph);
} gphi_marks_ops;

struct gph_sentinel {
    const gphi_marks_ops *ops;
};

/* What the launch reads comes first, in one cache line. */
struct gph_exec {
    const gph_exec *self; /* NULL once destroyed */
    CUresult (*launch)(CUgraphExec, CUstream);
    CUgraphExec handle;
    atomic_ullong *launches; /* of the sentinels; NULL: none */
    gph_runtime *runtime;
    gphi_marks *marks;          /* NULL: no sentinels */
    gph_sentinel *sentinel;     /* whose they are */
    void *extra;                /* of the folder update: what the executable holds */
    void (*extra_free)(void *); /* called with it when the executable is gone */
    uint32_t flags;             /* of gph_exec_options */
    gphi_deferred end;          /* of gph_exec_destroy() */
    gphi_ledger_exec ledger;    /* what the driver took for it */
};

/* gph_exec_create() of a graph whose nodes have names. */
gph_status gphi_exec_create(const gphi_graph_source *source,
                            const gph_exec_options *options, gph_exec **out,
                            gph_error *error);

/* cuGraphExecUpdate, with the sentinels that the executable has. Fails where these could
 * not be added; what the driver said is in *result. */
gph_status gphi_exec_update(gph_exec *exec, CUgraph graph,
                            CUgraphExecUpdateResultInfo *info, CUresult *result,
                            gph_error *error);

/* Each has the other's driver handle then, its sentinels and what the ledger says. */
void gphi_exec_swap(gph_exec *a, gph_exec *b);
#endif
