// SPDX-License-Identifier: Apache-2.0
/* What a thread is in the middle of. */
#ifndef ATTACH_INSIDE_H
#define ATTACH_INSIDE_H
#include "attach/driver/call.h"

void attach_inside_prepare(void);
/* Before a call at depth 0: its stack, its slot; the second when its time is known. */
void attach_inside_begin(attach_call *call);
void attach_inside_enter(const attach_call *call);
void attach_inside_leave(void);
#endif
