// SPDX-License-Identifier: Apache-2.0
/* What an update would do: what an executable holds against what a graph holds, by the
 * rules of the driver (docs/conformance.md, "Updates of executable graphs"), in its
 * order, so that the first thing that does not fit is the one that it would name. */
#ifndef GPHI_UPDATE_COMPARE_H
#define GPHI_UPDATE_COMPARE_H
#include "update/snapshot.h"

/* Two partners that differ, by their flat numbers. */
typedef struct gphi_changed {
    uint32_t a, b;
} gphi_changed;

typedef struct gphi_comparison {
    const gph_snapshot *a; /* what the executable holds */
    const gph_snapshot *b; /* the new graph */
    uint64_t flags;        /* of the instantiation */
    bool is_stale;         /* the executable's parameters are not known, only what no
                            * update changes */

    /* Found: */
    bool is_identity;  /* node i's partner is node i */
    uint32_t *partner; /* else by a's number: b's; NULL if is_identity */
    uint32_t partner_count;
    gphi_vec changed; /* of gphi_changed */
    bool needs_whole; /* one of them has no setter for what differs */
    bool is_refused;
    bool is_certain;
    CUgraphExecUpdateResult result; /* where refused: what the driver would say */
    const char *rule;               /* and why */
    const char *field;
    char before[96], after[96];
    uint32_t node_a, node_b, from_b; /* flat numbers; GPH_NODE_NONE */
} gphi_comparison;

/* Fills in the second half; gphi_comparison_fini() in each case. Fails with
 * GPH_E_NO_MEMORY. */
gph_status gphi_compare(gphi_comparison *of);
void gphi_comparison_fini(gphi_comparison *of);

/* Why not, or what would be done, in one sentence. */
void gphi_comparison_text(const gphi_comparison *of, char *out, size_t bytes);
#endif
