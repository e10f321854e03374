// SPDX-License-Identifier: Apache-2.0
/* Communicators of several processes, side by side. */
#ifndef GPHI_DOCTOR_RANKS_H
#define GPHI_DOCTOR_RANKS_H
#include "doctor/examination.h"

/* A rank of a communicator. */
typedef struct gphi_member {
    gphi_process *process;
    gphi_comm *comm;
} gphi_member;

/* Those of one communicator, by rank. */
typedef struct gphi_group {
    const gphi_member *of;
    size_t count;
    bool is_whole; /* what they did can be compared */
} gphi_group;

/* All of them, to be given to gphi_vec_fini(), also after a failure. */
gph_status gphi_members(const gph_doctor *doctor, gphi_vec *out);
/* The next group from `*at` on, which begins with 0 and is moved past it. */
bool gphi_group_next(const gphi_vec *members, size_t *at, gphi_group *out);

/* "rank 1 (process 4711)", or "process 4711". */
const char *gphi_say_process(const gphi_model *model);
/* "it ended with exit status 3". */
const char *gphi_say_ended(const gphi_process *process);

/* As the member "ranks" of the object that is being written. Fails with GPH_E_NO_MEMORY. */
gph_status gphi_ranks_json(gphi_text *text, const gph_doctor *doctor);
#endif
