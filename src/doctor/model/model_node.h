// SPDX-License-Identifier: Apache-2.0
/* A node's record as a gph_node. */
#ifndef GPHI_DOCTOR_MODEL_NODE_H
#define GPHI_DOCTOR_MODEL_NODE_H
#include "doctor/model/model.h"

/* Texts, arguments and buffer are the record's and the model's. False: not understood. */
bool gphi_node_read(const gphi_model *model, const gphi_event *event, gph_node *out);

/* The parameters that a call sets by a struct of the driver's; of a kernel's, `params`
 * may be a CUDA_KERNEL_NODE_PARAMS of the call. */
void gphi_node_memcpy(const void *params, gph_memcpy_params *out);
void gphi_node_memset(const void *params, gph_memset_params *out);
#endif
