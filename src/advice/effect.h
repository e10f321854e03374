// SPDX-License-Identifier: Apache-2.0
/* What a capture makes of a call: the matrix of call x mode x kind of stream, as measured
 * on an H100 (driver 580). */
#ifndef GPHI_ADVICE_EFFECT_H
#define GPHI_ADVICE_EFFECT_H
#include <stdbool.h>
#include <stdint.h>

typedef enum gphi_effect {
    GPHI_EFFECT_NONE,        /* allowed, and leaves no trace: no beat */
    GPHI_EFFECT_HOST,        /* allowed, not recorded: done once, at capture */
    GPHI_EFFECT_CAPTURED,    /* becomes a node */
    GPHI_EFFECT_ORDER,       /* becomes an edge, or nothing */
    GPHI_EFFECT_UNSAFE,      /* 900 in global and thread-local mode, allowed in relaxed */
    GPHI_EFFECT_STREAM,      /* unsafe on any stream; 900 in any mode on a captured one */
    GPHI_EFFECT_ALWAYS,      /* 900 in any mode */
    GPHI_EFFECT_STREAM_ONLY, /* work that capture refuses: 900 in any mode */
    GPHI_EFFECT_LEGACY,  /* synchronous work: on the legacy stream, and waits. 906 while a
                            blocking stream captures, else it escapes */
    GPHI_EFFECT_DROPPED, /* 900, and the graph lacks it without another word */
    GPHI_EFFECT_EVENT,   /* asks an event: 907 if it was recorded in the capture, else
                            unsafe */
    GPHI_EFFECT_CAPTURE  /* is of a capture or of graphs */
} gphi_effect;

gphi_effect gphi_effect_of(uint32_t call);

/* Whether the host waits there for the GPU. */
bool gphi_effect_waits(uint32_t call);

/* What comes of it, as a clause: "900 in global and thread-local mode, allowed in relaxed
 * mode". NULL: nothing to say. */
const char *gphi_effect_text(gphi_effect effect);
#endif
