// SPDX-License-Identifier: Apache-2.0
/* What was written of each graph. */
#include "attach/track/look.h"
#include "attach/track/handle.h"
#include "attach/track/snapshot.h"

/* Of each graph: its last snapshot that reads the same again, or 0, and how many edits of
 * any graph there had been. */
static _Atomic uint64_t edit_count, graph_snapshots[ATTACH_GRAPHS_MAX],
    graph_edits[ATTACH_GRAPHS_MAX];

void attach_graph_edited(void)
{
    atomic_fetch_add(&edit_count, 1);
}

/* Graphs whose handle the caller owns can be asked about whatever the call said;
 * others live as long as their parents, which we do not know. */
void attach_graph_look(const attach_call *call, gphi_snapshot_why why, uint64_t exec,
                       CUresult result)
{
    attach_snapshot_request request = {.graph = call->words[1], .exec = exec, .why = why};
    if (why == GPHI_SNAPSHOT_CAPTURED) {
        request.graph = attach_filled(call, 1);
        request.capture = call->capture;
    }
    const long place = attach_set_find(&attach_graphs, request.graph);
    if (place < 0 || (result != CUDA_SUCCESS &&
                      (atomic_load(&attach_graphs.flags[place]) & ATTACH_IS_CHILD) != 0))
        return;
    const uint64_t edits = atomic_load(&edit_count);
    if (why != GPHI_SNAPSHOT_CAPTURED && atomic_load(&graph_edits[place]) == edits)
        request.same_as = atomic_load(&graph_snapshots[place]);
    const uint64_t number = attach_snapshot(&request);
    atomic_store(&graph_edits[place], edits);
    atomic_store(&graph_snapshots[place], number);
}
