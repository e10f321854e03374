// SPDX-License-Identifier: Apache-2.0
/* The model as the doctor drives it: records in, a view of each call out. */
#ifndef GPHI_DOCTOR_MODEL_FEED_H
#define GPHI_DOCTOR_MODEL_FEED_H
#include "doctor/model/model.h"

gph_status gphi_model_create(gph_allocator heap, gphi_model **out);
void gphi_model_destroy(gphi_model *model);

/* Takes a record. For a CALL fills *seen, valid until the next; else seen->event is NULL.
 * GPH_E_NO_MEMORY: the model is short of what the record said, no more. */
gph_status gphi_model_feed(gphi_model *model, const gphi_event *event, gphi_seen *seen);
#endif
