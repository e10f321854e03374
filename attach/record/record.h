// SPDX-License-Identifier: Apache-2.0
/* The record of a call: its words, and parts of what its arguments point at. */
#ifndef ATTACH_RECORD_H
#define ATTACH_RECORD_H
#include "attach/driver/call.h"

/* The call's stack, which its record then has; taken before the driver is called. */
void attach_take_stack(attach_call *call);

void attach_record(attach_call *call, CUresult result);
#endif
