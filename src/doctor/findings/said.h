// SPDX-License-Identifier: Apache-2.0
/* What the driver itself said of a call: the sentence of its log, which comes in before
 * the call's record, from the thread that makes the call. Kept once a process. */
#ifndef GPHI_DOCTOR_SAID_H
#define GPHI_DOCTOR_SAID_H
#include "doctor/model/model.h"

enum { GPHI_SAID_KEPT = 16, GPHI_SAID_BYTES = 320 };

typedef struct gphi_said_line {
    uint64_t time_ns;
    uint32_t thread;
    char text[GPHI_SAID_BYTES];
} gphi_said_line;

/* The last lines of all threads. All zero is an empty one. */
typedef struct gphi_said {
    gphi_said_line lines[GPHI_SAID_KEPT];
    uint32_t next;
} gphi_said;

/* Takes a LOG record; ignores others, and lines that only repeat a call's result. */
void gphi_said_note(gphi_said *said, const gphi_event *event);

/* The reason given for this call, or "". Lent until the next note. */
const char *gphi_said_of(const gphi_said *said, const gphi_call *call);

/* What its sentences of today and softcuda's mean. */
bool gphi_said_backing(const char *text); /* an operand moves to memory of another sort */
bool gphi_said_foreign(const char *text); /* a node is not of the executable's graph */

/* Whether it has a text in it, whatever the case of letters. */
bool gphi_said_has(const char *text, const char *part);
#endif
