// SPDX-License-Identifier: Apache-2.0
/* Where the arguments of a graph's kernels came from: the variables that kernelParams named
 * when a kernel was captured or added. The driver copied them then; a program that changes
 * them later, and launches the graph, may think that it has the new values. */
#ifndef ATTACH_SOURCE_H
#define ATTACH_SOURCE_H
#include "attach/driver/call.h"
#include "attach/track/function.h"

/* A kernel became `node` of a graph with these parameters. */
void attach_source_note(uint64_t node, const attach_layout *layout, void **params);
/* A snapshot has the node: its variables are the executable's from now on, if `exec` is
 * not 0. */
void attach_source_node(uint64_t exec, uint64_t node, uint64_t snapshot);
/* The same for all nodes of a snapshot, which is not written again. */
void attach_source_same(uint64_t exec, uint64_t snapshot);
/* An executable has been made; nothing is known of it. */
void attach_source_forget(uint64_t exec);
/* It is about to be launched: writes HOST with the variables' values, the first times. */
void attach_source_launch(const attach_call *call);
#endif
