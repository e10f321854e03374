// SPDX-License-Identifier: Apache-2.0
/* Rule update.edit-without-effect: a graph is edited after what is launched was made of
 * it. */
#ifndef GPHI_DOCTOR_UPDATE_EDIT_H
#define GPHI_DOCTOR_UPDATE_EDIT_H
#include "doctor/history/history.h"

typedef struct gphi_edit_state {
    gphi_map graph_of; /* node -> the graph it was added to */
    gphi_map since;    /* node -> number of the call that added it */
    gphi_map child_in; /* graph -> the one that has a copy of it, or that it lies in */
    gphi_map added;    /* graph -> number of the call that copied it into another */
    gphi_vec edits;    /* of those that nothing has taken up yet */
    gphi_vec over;     /* of gphi_over */
} gphi_edit_state;

/* A node of an executable that is set. */
typedef struct gphi_over {
    uint64_t made, node; /* the key; made: the executable's call */
    gphi_exec_history *exec;
    gphi_call first, launch, found; /* found: by name, through libgph, last */
    uint64_t finds;
    uint64_t times, each; /* since the last launch; before each */
    uint64_t rounds;
    bool is_elsewhere; /* at other places too, or not as often each time */
} gphi_over;

/* update_over.c */
void gphi_over_event(gphi_rule_run *run, gphi_vec *all, const gphi_event *event);
void gphi_over_call(gphi_rule_run *run, gphi_vec *all, const gphi_seen *seen);
void gphi_over_end(gphi_rule_run *run, const gphi_vec *all);

void gphi_edit_init(gphi_rule_run *run);
void gphi_edit_event(gphi_rule_run *run, const gphi_event *event);
void gphi_edit_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_edit_end(gphi_rule_run *run);
void gphi_edit_fini(gphi_rule_run *run);
#endif
