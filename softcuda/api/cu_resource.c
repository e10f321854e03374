// SPDX-License-Identifier: Apache-2.0
/* What a device has to be divided: its multiprocessors, in the units of compute capability
 * 9.0. Green contexts, which would get a part, are not built: workers take what is ready,
 * whoever launched it. */
#include <string.h>

#include "softcuda/api/exports.h"
#include "softcuda/device/context.h"
#include "softcuda/device/limits.h"

#define UNIT 8u /* multiprocessors of the smallest part, and of each step */

static CUresult give(CUdevResource *out, CUdevResourceType type)
{
    SOFT_TRY(soft_need(out, "resource"));
    if (type != CU_DEV_RESOURCE_TYPE_SM)
        return soft_fail(CUDA_ERROR_INVALID_RESOURCE_TYPE,
                         "%d is not a type of device resource", (int)type);
    memset(out, 0, sizeof(*out));
    out->type = CU_DEV_RESOURCE_TYPE_SM;
    out->sm = (CUdevSmResource){.smCount = SOFT_MULTIPROCESSORS,
                                .minSmPartitionSize = UNIT,
                                .smCoscheduledAlignment = UNIT};
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetDevResource(CUdevice ordinal, CUdevResource *out,
                                CUdevResourceType type)
{
    soft_device *device;
    SOFT_TRY(soft_enter(__func__));
    SOFT_TRY(soft_device_find(ordinal, &device));
    return give(out, type);
}

CUresult cuCtxGetDevResource(CUcontext handle, CUdevResource *out, CUdevResourceType type)
{
    soft_context *context;
    SOFT_TRY(soft_enter(__func__));
    SOFT_TRY(soft_context_find(handle, &context));
    return give(out, type);
}

/* As many groups of at least `least` multiprocessors as fit, *groups at most; without
 * `result` their number alone. A part has UNIT multiprocessors at least. */
CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *groups,
                                     const CUdevResource *input, CUdevResource *remaining,
                                     unsigned int flags, unsigned int least)
{
    SOFT_TRY(soft_enter(__func__));
    SOFT_TRY(soft_need(groups, "nbGroups"));
    SOFT_TRY(soft_need(input, "input"));
    if (flags > (CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                 CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "split flags 0x%x", flags);
    if (input->type != CU_DEV_RESOURCE_TYPE_SM)
        return soft_fail(CUDA_ERROR_INVALID_RESOURCE_TYPE,
                         "a device resource of type %d cannot be split",
                         (int)input->type);
    const unsigned all = input->sm.smCount;
    const unsigned size = least <= UNIT ? UNIT
                          : least > all ? least
                                        : (least + UNIT - 1) / UNIT * UNIT;
    if (size > all || all == 0)
        return soft_fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                         "a part of %u multiprocessors of %u, in units of %u", size, all,
                         UNIT);
    const unsigned fit = (all - all % UNIT) / size;
    if (!result) {
        *groups = fit;
        return CUDA_SUCCESS;
    }
    if (*groups > fit)
        *groups = fit;
    const CUdevResource whole = *input; /* it may be one of the results */
    for (unsigned i = 0; i < *groups; i++) {
        result[i] = whole;
        result[i].sm.smCount = size;
    }
    if (remaining) {
        *remaining = whole;
        remaining->sm.smCount = all - *groups * size;
    }
    return CUDA_SUCCESS;
}
