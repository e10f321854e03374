// SPDX-License-Identifier: Apache-2.0
/* Which streams are capturing, and what the driver says of them. */
#ifndef ATTACH_CAPTURE_H
#define ATTACH_CAPTURE_H
#include "attach/driver/call.h"

/* In the process, now. */
uint32_t attach_open_captures(void);

/* Whether one was ever begun. */
bool attach_has_captured(void);

typedef struct attach_status {
    uint8_t status; /* CUstreamCaptureStatus; 0xFF: not asked */
    uint64_t capture, node;
} attach_status;

/* Of the stream that a call works on. */
attach_status attach_ask(const attach_call *call, CUresult result);

/* The capture that the call is about to end, or 0. */
uint64_t attach_capture_before_end(const attach_call *call);

/* A capture was begun; the call that should end it has returned, and it may have; a
 * stream, a context is gone, and its captures with it. */
void attach_capture_begun(const attach_call *call);
void attach_capture_ended(const attach_call *call);
void attach_capture_stream_gone(uint64_t stream);
void attach_capture_context_gone(void);

/* In a child of fork(): none is open. */
void attach_capture_forked(void);
#endif
