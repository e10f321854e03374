// SPDX-License-Identifier: Apache-2.0
/* Functions of rules.error that stand in files of their own. */
#ifndef GPHI_DOCTOR_RULES_ERROR_H
#define GPHI_DOCTOR_RULES_ERROR_H
#include "doctor/rules/rules.h"

/* error.refused-call: `state` is a list of these. */
typedef struct gphi_refused {
    gphi_call call;
    bool is_handled;
    bool is_known; /* another rule has reported it */
    char said[200];
} gphi_refused;

void gphi_error_refused_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_error_refused_end(gphi_rule_run *run);
#endif
