// SPDX-License-Identifier: Apache-2.0
/* Function attributes, for functions and for kernels of libraries. */
#ifndef SOFT_API_CU_FUNCTION_H
#define SOFT_API_CU_FUNCTION_H
#include "softcuda/device/context.h"
#include "softcuda/ptx/compile.h"

typedef struct soft_attributes {
    const ptx_kernel *kernel;
    int ptx_target;         /* 70 for sm_70 */
    int dynamic_shared_max; /* negative: as a new function has it */
    int carveout;
    int cluster[3], cluster_more; /* as they were set */
} soft_attributes;

CUresult soft_attribute_get(const soft_attributes *from, CUfunction_attribute attribute,
                            int *out);
/* Whether an attribute may be set to a value. */
CUresult soft_attribute_check(const ptx_kernel *kernel, CUfunction_attribute attribute,
                              int value);
CUresult soft_param_info(const ptx_kernel *kernel, size_t index, size_t *offset,
                         size_t *bytes);
#endif
