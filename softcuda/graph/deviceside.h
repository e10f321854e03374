// SPDX-License-Identifier: Apache-2.0
/* Launches by kernels (R72-R77): what an executable graph needs that kernels launch, or
 * whose own kernels launch others.
 *
 *   launch of the host ── all that comes of it ─┬─ the graph ── fire and forget ── ...
 *                                               ├─ siblings
 *                                               └─ tails, one after the other
 *
 * A scope is open while something in it runs: a graph's own has its nodes and what it fired
 * and forgot, a launch's has the graph and its siblings. When a graph's scope closes, its
 * first tail takes the graph's place in the scope around it, the other tails follow
 * it. Without one the place is free. When the launch's scope closes, the stream
 * goes on.
 *
 * Nothing is allocated for it: an executable runs once at a time, so all that a run needs
 * lies in it, and it is at most in one list of tails. Each has a queue of the engine for its
 * runs, so that what may run side by side does. */
#ifndef SOFT_GRAPH_DEVICESIDE_H
#define SOFT_GRAPH_DEVICESIDE_H

#include "softcuda/check/beside.h"
#include "softcuda/graph/exec.h"

#define SOFT_CAME_MAX 120u
#define SOFT_TAILS_MAX 255u

typedef struct soft_side soft_side;

/* What `exec` needs; *out is NULL where kernels neither launch it nor launch from it. With
 * the reason in `result` where kernels that launch are of several contexts (R71). */
CUresult soft_side_create(soft_exec *exec, const soft_flat *flat,
                          CUDA_GRAPH_INSTANTIATE_PARAMS *result, soft_side **out);
void soft_side_destroy(soft_side *side); /* nothing of it runs; takes NULL */

/* What kernels of it ask; side may be NULL. */
soft_kernel_graph *soft_side_face(soft_side *side);
/* What the stream waits for after a launch. */
soft_queue *soft_side_fence(const soft_side *side);

/* The executable's mutex held: kernels launch `version` from now on. */
void soft_side_upload(soft_side *side, soft_version *version);
/* The same in two steps, around a launch by the host: its kernels may launch the graph again
 * before the call that queues it returns. `keeps` false: it was not queued after all. */
void soft_side_begin_upload(soft_side *side, soft_version *version);
void soft_side_settle(soft_side *side, bool keeps);
/* A launch by the host: what it waits for, and that it is not submitted after all. */
soft_point soft_side_begin(soft_side *side);
void soft_side_cancel(soft_side *side);
/* Check mode: what the launch by the host is, which is over in a moment; taken. side may be
 * NULL. */
void soft_side_keep(soft_side *side, soft_unit *unit);
/* The nodes of a launch by the host have run. */
void soft_side_leave(soft_side *side, soft_worker *worker);

#endif
