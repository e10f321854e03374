// SPDX-License-Identifier: Apache-2.0
/* Rules update.left-disabled and update.read-not-set: edits that were begun and not brought to
 * an end. */
#ifndef GPHI_DOCTOR_UPDATE_LEFT_H
#define GPHI_DOCTOR_UPDATE_LEFT_H
#include "doctor/findings/rule.h"

/* A node that was switched off after it had run. */
typedef struct gphi_left {
    uint64_t made; /* of the executable: number of the call */
    uint64_t node; /* as the executable has it */
    const gphi_exec_state *exec;
    gphi_call off, launch, read; /* read: of what it would have made; number 0: never */
    uint64_t launches;           /* with it off */
    bool is_back;                /* it was switched on, at any time */
} gphi_left;

/* A kernel node whose parameters are read; node 0: see is_set. */
typedef struct gphi_unset {
    uint64_t node;
    const gphi_exec_state *exec; /* that was launched after it was read */
    gphi_call read, launch;
    uint64_t rounds; /* read, then launched */
    bool is_read;    /* since the last launch */
    bool is_set; /* of item 0: a node was; else: a whole graph was taken up after it */
} gphi_unset;

/* Each has a list for its state. */
void gphi_left_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_left_end(gphi_rule_run *run);
void gphi_unset_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_unset_end(gphi_rule_run *run);
#endif
