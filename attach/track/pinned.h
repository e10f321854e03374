// SPDX-License-Identifier: Apache-2.0
/* Pinned memory that a copy has yet to write, closed to the host until somebody waits. */
#ifndef ATTACH_PINNED_H
#define ATTACH_PINNED_H
#include "attach/driver/call.h"
#include <stdatomic.h>

/* Whether it is asked for (GPH_DOCTOR_PINNED=1). */
extern atomic_bool attach_pinned_is_on;

/* Once, with the ring. */
void attach_pinned_start(void);

/* Before each call: opens everything, if the call may wait, free, or let the host know of an end. */
void attach_pinned_before(const attach_call *call);

/* After a call that succeeded: closes what a copy is to write, if the signal would be caught here. */
void attach_pinned_after(const attach_call *call, bool (*is_caught)(void));

/* By the handler of SIGSEGV. Whether that memory was closed and is open now, so that the
 * instruction can run again; *bytes: what a copy was to write there, 0: nothing, or it is said. */
bool attach_pinned_open(uint64_t address, uint64_t *first, uint64_t *bytes);

/* In a child of fork(): everything is opened, for good. */
void attach_pinned_forked(void);
#endif
