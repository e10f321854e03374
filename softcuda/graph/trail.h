// SPDX-License-Identifier: Apache-2.0
/* gph_softcuda_trail(): who runs a launch says in words, one a node, how far it came. */
#ifndef SOFT_GRAPH_TRAIL_H
#define SOFT_GRAPH_TRAIL_H
#include "softcuda/graph/exec.h"

/* Where an executable's words are. Launches hold it, too. */
typedef struct soft_trail soft_trail;

/* `words`: one a node of the top graph. */
CUresult soft_trail_create(const soft_shape *shape, _Atomic uint32_t *words,
                           soft_trail **out);
void soft_trail_release(soft_trail *trail); /* takes NULL */

/* What a launch does. */
typedef struct soft_trail_run {
    const soft_work *works;
    soft_run_fn *done;
    void *argument; /* of `done` */
} soft_trail_run;

/* The same, and words are written: of nodes that run in `version`. Without memory for it,
 * as it was. soft_trail_end() of a launch that is not submitted. */
soft_trail_run soft_trail_begin(soft_trail *trail, const soft_version *version,
                                soft_trail_run run);
void soft_trail_end(soft_trail_run run);
#endif
