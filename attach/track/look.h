// SPDX-License-Identifier: Apache-2.0
/* When a graph is looked at: its snapshots, and whether the last one still says how it
 * is. */
#ifndef ATTACH_LOOK_H
#define ATTACH_LOOK_H
#include "attach/driver/call.h"

/* Flags of a graph: of another one, which owns it; it was captured into. */
enum { ATTACH_IS_CHILD = 1, ATTACH_IS_TARGET = 2 };

/* Some graph was changed, or may have been. */
void attach_graph_edited(void);

/* The graph that a call has given or taken. */
void attach_graph_look(const attach_call *call, gphi_snapshot_why why, uint64_t exec,
                       CUresult result);
#endif
