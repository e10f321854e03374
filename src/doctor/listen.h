// SPDX-License-Identifier: Apache-2.0
/* What the doctor lets its neighbors (advice, report) see. */
#ifndef GPHI_DOCTOR_LISTEN_H
#define GPHI_DOCTOR_LISTEN_H
#include "doctor/model/model.h"
#include <gph/doctor.h>

/* Gets each record after the model has seen it; `seen` is NULL where it is no CALL, or
 * one that never returned. Both are valid for the call only. */
typedef gph_status gphi_listener(void *user, const gphi_event *event,
                                 const gphi_seen *seen, gph_error *error);

enum { GPHI_LISTENERS_MAX = 4 };

/* Adds a listener, from the next record on; with NULL takes away that of `user`. A
 * failure of its own ends the reading with that failure. At most GPHI_LISTENERS_MAX. */
void gphi_doctor_listen(gph_doctor *doctor, gphi_listener *listener, void *user);

/* The model of the process whose record is being read, or was last; of several processes
 * each has its own. For the doctor's life; NULL before the first record. */
gphi_model *gphi_doctor_model(gph_doctor *doctor);

/* A gph_explain_language: of what is said of it. */
uint32_t gphi_doctor_language(const gph_doctor *doctor);

/* The frames of a stack number of a record, innermost of the program first, symbolized;
 * lent until gph_doctor_destroy(). NULL and *count 0 if there are none. Numbers
 * are of the doctor: no two processes have the same. */
const gph_place *gphi_doctor_frames(gph_doctor *doctor, uint32_t stack, uint32_t *count);
#endif
