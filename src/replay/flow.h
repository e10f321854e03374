// SPDX-License-Identifier: Apache-2.0
/* Control flow that is captured, or was: who is in which graph.
 *
 *   root graph    a ── set ── IF ── b           the stream is captured into one of them at
 *                             │                 a time; what is around it waits on the
 *   body 0                    ├─ c ── set ── WHILE ── d    stack of open ones
 *   body 0 of body 0          │              └─ e ── set
 *   body 1                    └─ f
 */
#ifndef GPHI_REPLAY_FLOW_H
#define GPHI_REPLAY_FLOW_H
#include "device/setters.h"
#include "replay/capture.h"
#include <gph/replay_flow.h>

typedef struct gphi_flow_body {
    CUgraph graph;    /* the driver's */
    CUgraphNode node; /* that has it */
    gphi_vec regions; /* of uint32_t, as in gphi_segment */
    uint64_t handle;  /* CUgraphConditionalHandle */
    uint32_t count;   /* of its nodes, once it is closed */
    uint32_t first;   /* GPH_FLOW_HOST: its first segment; 0: it has none */
} gphi_flow_body;

/* Of a recording. */
typedef struct gphi_flow {
    gph_flow_kind kind;
    gph_flow_way way;
    uint32_t depth;
    uint32_t region;  /* 1 + index of its name; 0: none */
    uint32_t segment; /* in which it is */
    uint32_t count;   /* of bodies */
    gphi_flow_body *bodies;
    CUgraphNode
        set[2];      /* kernels of the caller's that set the handle: before the node, at
                           the end of a loop's body; NULL: libgph's, or several */
    CUgraph *graphs; /* of the bodies, for gph_flow */
    char *reason;    /* or NULL */
    gph_condition condition; /* GPH_FLOW_HOST */
    uint32_t end;            /* GPH_FLOW_HOST: the segment after it */
} gphi_flow;

/* Of a capture: around what is captured now. */
typedef struct gphi_flow_open {
    uint32_t flow; /* index in the recording */
    uint32_t at;   /* the body that is open */
    gph_condition condition;
    bool is_inline;       /* kernels with a flag: nothing below is of one */
    bool is_host;         /* segments of their own: nothing below is of one */
    size_t first;         /* of those: nodes of the graph before the open branch */
    uint32_t outer_loop;  /* gphi_pool_loop() of what is around it */
    gphi_segment outer;   /* `current` of the capture while none of it was open */
    gphi_vec outer_nodes; /* and its `nodes` */
} gphi_flow_open;

static inline gphi_flow *gphi_flow_at(const gph_recording *recording, size_t index)
{
    return gphi_vec_at(&recording->flows, index);
}

/* An empty one with bodies, or GPH_E_NO_MEMORY. */
gph_status gphi_flow_init(gphi_flow *flow, gph_allocator heap, uint32_t count);
void gphi_flow_fini(gphi_flow *flow, gph_allocator heap);

/* The region that was open when it began, or NULL. */
const char *gphi_flow_region(const gph_recording *recording, const gphi_flow *flow);

/* Nodes of its largest body. */
uint32_t gphi_flow_largest(const gphi_flow *flow);

/* Recordings whose conditional nodes may be asked for, as long as their graphs live. */
void gphi_flow_list_add(gph_recording *recording);
void gphi_flow_list_remove(gph_recording *recording);

/* Ends the bookkeeping of what is open; `current` is the segment's own again. */
void gphi_flow_unwind(gph_capture *capture);

/* Whether the stream is captured into a body, which is the driver's graph. Branches in line
 * have nothing in them, so they can only be the innermost; where the host chooses, it does
 * so everywhere. */
static inline bool gphi_flow_in_body(const gph_capture *capture)
{
    const size_t count = capture->flows.count;
    const gphi_flow_open *open = capture->flows.items;
    return count > 0 && !open[0].is_host && (count > 1 || !open[0].is_inline);
}

/* Refuses to go on while something is open: `what` cannot be in a body. */
gph_status gphi_flow_check_closed(const gph_capture *capture, const char *what,
                                  gph_error *error);

/* "case 2 of the choice of region x: " before a failure of what is captured. */
void gphi_flow_place(const gph_capture *capture, gph_error *error);

/* ---- conditions ---- */

gph_status gphi_condition_read(const gph_condition *condition, gph_flow_kind kind,
                               gph_condition *out, gph_error *error);

/* The constant of a comparison as the kernels take it: its own bytes, low ones first. */
uint64_t gphi_condition_constant(const gph_condition *condition);

/* Captures what sets the handles before the nodes, and at the end of a loop's body. */
gph_status gphi_condition_set(gph_capture *capture, const gph_condition *condition,
                              gphi_flow *flow, gph_error *error);

/* Captures a kernel that sets the flags of branches in line. */
gph_status gphi_condition_flag(const gph_capture *capture, const gph_condition *condition,
                               gph_error *error);

/* Captures a kernel that sets a handle to a constant. */
gph_status gphi_condition_put(gph_capture *capture, uint64_t handle, uint32_t value,
                              gph_error *error);

/* ---- chosen by the host: flow_host.c ---- */

/* Refuses what the host cannot decide. */
gph_status gphi_host_check(const gph_capture *capture, const gph_condition *condition,
                           gph_error *error);

/* Ends the segment before the flow, or a body, and begins the next. */
gph_status gphi_host_begin(gph_capture *capture, const gphi_flow_open *open,
                           gph_error *error);
gph_status gphi_host_close(gph_capture *capture, const gphi_flow_open *open,
                           gph_error *error);

/* What is captured now is this body, or what comes after all of them. */
void gphi_host_open_body(gph_capture *capture, const gphi_flow_open *open);
void gphi_host_end(gph_capture *capture, const gphi_flow_open *open);

/* The segment of a replay that comes after one; where a value decides it, once the stream has
 * come there. */
gph_status gphi_host_next(const gph_recording *recording, uint32_t segment,
                          CUstream stream, uint32_t *out, gph_error *error);

/* ---- bodies ---- */

/* Refuses all but kernels among the nodes from `first` on of the graph that is captured, and
 * counts them all. */
gph_status gphi_flagged_check(const gph_capture *capture, size_t first, size_t *count,
                              gph_error *error);

/* Refuses what the body that was just captured cannot hold, and counts its nodes. */
gph_status gphi_body_check(const gph_capture *capture, gphi_flow_body *body,
                           gph_error *error);
#endif
