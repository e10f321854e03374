// SPDX-License-Identifier: Apache-2.0
/* What this library does at some calls besides recording them (attach_hook). */
#ifndef ATTACH_HOOK_H
#define ATTACH_HOOK_H
#include "attach/driver/call.h"

/* Around the driver, with `busy` set. */
void attach_hook_before(attach_call *call);
/* What the program gets. */
CUresult attach_hook_after(attach_call *call, CUresult result);
#endif
