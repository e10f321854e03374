// SPDX-License-Identifier: Apache-2.0
/* A graph as it is, in records: GRAPH, NODE for each node, EDGES; then its children's. */
#ifndef ATTACH_SNAPSHOT_H
#define ATTACH_SNAPSHOT_H
#include "event/event.h"

typedef struct attach_snapshot_request {
    uint64_t graph, exec, capture;
    uint64_t same_as; /* a snapshot after which nothing was changed, or 0 */
    gphi_snapshot_why why;
} attach_snapshot_request;
/* Its number if the same graph would read the same at the next time: all of it was
 * written, it has no children, and no copy whose host memory an executable must know.
 * Else 0. */
uint64_t attach_snapshot(const attach_snapshot_request *request);
/* From now on nodes are asked for their priority and whether they are cooperative: a
 * stream, a launch or a node was given one. */
void attach_note_attributes(void);
#endif
