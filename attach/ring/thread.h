// SPDX-License-Identifier: Apache-2.0
/* What the library keeps of each thread. */
#ifndef ATTACH_THREAD_H
#define ATTACH_THREAD_H
#include "event/ring.h"
#include <stdbool.h>

typedef struct attach_local {
    uint32_t thread; /* the kernel's number, 0: not asked yet */
    uint16_t busy;   /* own code runs: calls are passed on */
    uint16_t depth;  /* wrapped calls that have not returned */
    bool has_no_slot;
    gphi_event_slot *slot; /* in the ring; NULL: none yet */
    uintptr_t outermost;   /* frame of the call at depth 0 */
    uint8_t mode; /* of captures, as cuThreadExchangeStreamCaptureMode() left it */
    uint8_t kind; /* 0 not asked, 1 the program's, 2 the driver's: host functions */
    uint8_t is_told;
    uint64_t last_node; /* that a call of this thread captured */
} attach_local;

extern __thread attach_local attach_me __attribute__((tls_model("initial-exec")));

/* The kernel's number of this thread. */
uint32_t attach_thread(void);
#endif
