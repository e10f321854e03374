// SPDX-License-Identifier: Apache-2.0
/* What the library is to this process, and where its records go. */
#ifndef ATTACH_STATE_H
#define ATTACH_STATE_H
#include "event/ring.h"
#include <stdatomic.h>

typedef enum attach_state {
    ATTACH_NEW,    /* no call yet */
    ATTACH_ON,     /* calls are recorded */
    ATTACH_LOGS,   /* tier 0: the driver's sentences alone */
    ATTACH_FORKED, /* a child of fork() that has not called cuInit() itself */
    ATTACH_OFF
} attach_state;

extern _Atomic uint32_t attach_is;

/* The ring to write to, or NULL. */
gphi_event_ring *attach_ring(void);

/* Another ring, or none, from now on. Returns the one before. */
gphi_event_ring *attach_ring_set(gphi_event_ring *ring);

/* getpid(), without asking: what it was at the last attach_process_note(). */
int attach_process(void);
void attach_process_note(void);
#endif
