// SPDX-License-Identifier: Apache-2.0
/* Rule update.edit-without-effect: a graph is edited after what is launched was made of
 * it. */
#ifndef GPHI_DOCTOR_UPDATE_EDIT_H
#define GPHI_DOCTOR_UPDATE_EDIT_H
#include "doctor/findings/rule.h"

typedef struct gphi_edit_state {
    gphi_map graph_of; /* node -> the graph it was added to */
    gphi_map since;    /* node -> number of the call that added it */
    gphi_map child_in; /* graph -> the one that has a copy of it, or that it lies in */
    gphi_map added;    /* graph -> number of the call that copied it into another */
    gphi_vec edits;    /* of those that nothing has taken up yet */
} gphi_edit_state;

void gphi_edit_init(gphi_rule_run *run);
void gphi_edit_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_edit_end(gphi_rule_run *run);
void gphi_edit_fini(gphi_rule_run *run);
#endif
