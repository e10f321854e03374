// SPDX-License-Identifier: Apache-2.0
/* Numbers that Python code reads while work is captured, and what they are at launches of the
 * graph. No driver call shows them: a learning rate, or a module's mode, is the interpreter's. */
#ifndef ATTACH_NUMBERS_H
#define ATTACH_NUMBERS_H
#include "attach/driver/call.h"

/* A capture was begun; it was ended, and gave a graph or none. */
void attach_numbers_begun(void);
void attach_numbers_ended(const attach_call *call, CUresult result);
/* An executable was made of a graph, or updated to it; it, or a graph, is gone; it was launched. */
void attach_numbers_made(uint64_t exec, uint64_t graph);
void attach_numbers_gone(uint64_t exec);
void attach_numbers_graph_gone(uint64_t graph);
void attach_numbers_launched(uint64_t exec);
/* In a child of fork(): the interpreter's state is the child's own. */
void attach_numbers_forked(void);
#endif
