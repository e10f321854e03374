// SPDX-License-Identifier: Apache-2.0
/* The rules of instantiate.*, by file. */
#ifndef GPHI_DOCTOR_RULES_INSTANTIATE_H
#define GPHI_DOCTOR_RULES_INSTANTIATE_H
#include "doctor/findings/rule.h"

/* A graph that captures record into, of instantiate.appended-capture. */
typedef struct gphi_recorded_into {
    uint64_t graph;         /* first: the key */
    gphi_call begin, again; /* of the first capture, and of one after an instantiation */
    uint64_t executables;
} gphi_recorded_into;

void gphi_rule_appended_capture(gphi_rule_run *run, const gphi_seen *seen);
#endif
