// SPDX-License-Identifier: Apache-2.0
/* What an executable remembers: its contents, and the graph whose node handles the
 * driver's setters want.
 *
 *   base       snapshot of the graph that it was made from: handles
 *   contents   snapshot of the graph that it was updated by last, or a copy that edits
 *              changed; at first the same as base
 *   to_base    by contents' number: base's. NULL: the same */
#ifndef GPHI_UPDATE_TRACK_H
#define GPHI_UPDATE_TRACK_H
#include "replay/exec.h"
#include "update/compare.h"
#include "update/snapshot.h"

typedef struct gphi_track {
    gph_runtime *runtime;
    gph_snapshot *base;     /* one reference; NULL: only statistics are kept */
    gph_snapshot *contents; /* one reference */
    uint32_t *to_base;      /* contents' count; NULL: the same numbers */
    bool is_own;            /* contents is a copy that edits may change */
    bool is_stale;          /* what the nodes hold is not known any more */
    CUgraph owned;          /* destroyed with the executable; NULL */
    CUcontext context;      /* of copies and fills */
    uint8_t *off;           /* by base's number: switched off; base->count of them */
    gphi_vec undo;          /* scratch of edits, kept */
    gphi_vec scratch;       /* pointers to arguments, kept */
    gph_update_stats stats;
} gphi_track;

/* The executable's, or NULL. */
gphi_track *gphi_track_of(const gph_exec *exec);

/* The executable's; made, without snapshots, if there is none. */
gph_status gphi_track_need(gph_exec *exec, gphi_track **out, gph_error *error);

/* Fails with GPH_E_STATE if it remembers no graph. */
gph_status gphi_track_check(const gph_exec *exec, gphi_track **out, gph_error *error);

/* Frees what it had and takes another; of the contents that it has now. */
void gphi_track_map_set(gphi_track *track, uint32_t *to_base);

/* base's number of a node of contents. */
static inline uint32_t gphi_to_base(const gphi_track *track, uint32_t flat)
{
    return track->to_base ? track->to_base[flat] : flat;
}

/* Where to_base says a node of base; GPH_NODE_NONE if nowhere. */
uint32_t gphi_base_find(const gphi_track *track, uint32_t flat);

/* contents' number of a node of base; GPH_NODE_NONE if there is none. */
static inline uint32_t gphi_from_base(const gphi_track *track, uint32_t flat)
{
    return track->to_base ? gphi_base_find(track, flat) : flat;
}

/* set.c: gives one node of the executable the parameters of a place, by its setter. */
CUresult gphi_node_set(gphi_track *track, CUgraphExec exec, CUgraphNode handle,
                       const gphi_place *place, const char **call);

/* report.c: what a comparison found. Takes nothing; `report` was begun. */
void gphi_report_fill(gph_update_report *report, const gphi_comparison *from);
/* The same, of what the driver said itself. */
void gphi_report_driver(gph_update_report *report, const gph_runtime *runtime,
                        CUgraph graph, const CUgraphExecUpdateResultInfo *info);
/* Frees what it held, and begins it. GPH_E_INVALID if it is of no known size. */
gph_status gphi_report_begin(gph_update_report *report, gph_error *error);
#endif
