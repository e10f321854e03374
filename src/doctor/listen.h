// SPDX-License-Identifier: Apache-2.0
/* What the doctor lets its neighbours (advice, report) see. */
#ifndef GPHI_DOCTOR_LISTEN_H
#define GPHI_DOCTOR_LISTEN_H
#include "doctor/model.h"
#include <gph/doctor.h>

/* Gets each record after the model has seen it; `seen` is NULL where it is no CALL. Both
 * are valid for the call only. */
typedef gph_status gphi_listener(void *user, const gphi_event *event,
                                 const gphi_seen *seen, gph_error *error);

/* Sets the listener, from the next record on; NULL: none. A failure of its own ends the
 * reading with that failure. */
void gphi_doctor_listen(gph_doctor *doctor, gphi_listener *listener, void *user);

/* The model, for the doctor's life. */
gphi_model *gphi_doctor_model(gph_doctor *doctor);

/* The frames of a stack number of a record, innermost of the program first, symbolized;
 * lent until gph_doctor_destroy(). NULL and *count 0 if there are none. After
 * gph_doctor_finish(). */
const gph_place *gphi_doctor_frames(gph_doctor *doctor, uint32_t stack, uint32_t *count);
#endif
