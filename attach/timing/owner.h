// SPDX-License-Identifier: Apache-2.0
/* Whose rhythm a call belongs to: threads share one until one of them calls while another
 * is in a call. From then on it has its own, if there is one left. */
#ifndef GPHI_ATTACH_TIMING_OWNER_H
#define GPHI_ATTACH_TIMING_OWNER_H
#include "attach/timing/rhythm.h"

/* This thread's, or NULL. If it is the shared one, no other thread has it until
 * gphi_owner_leave(). `context`: the one that is measured. */
gphi_rhythm *gphi_owner_enter(const gphi_timing_calls *cu, CUcontext context);

/* This thread's, without entering it. */
gphi_rhythm *gphi_owner_rhythm(void);

void gphi_owner_leave(void);
#endif
