// SPDX-License-Identifier: Apache-2.0
/* A node's record as a gph_node. */
#ifndef GPHI_DOCTOR_MODEL_NODE_H
#define GPHI_DOCTOR_MODEL_NODE_H
#include "doctor/model/model.h"

/* Texts, arguments and buffer are the record's and the model's, the operations of a batch
 * until the next node is read. False: not understood. */
bool gphi_node_read(const gphi_model *model, const gphi_event *event, gph_node *out);

/* The parameters that a setter of an executable's node was given, by its own struct or by
 * that for any node; of a kernel without its arguments. False: of a kind that is not
 * looked into. */
bool gphi_node_wanted(const gphi_model *model, const gphi_event *event, gph_node *out);
#endif
