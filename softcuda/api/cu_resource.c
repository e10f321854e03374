// SPDX-License-Identifier: Apache-2.0
/* What a device has to be divided: its multiprocessors, in the units of its compute
 * capability.
 *
 *   device [ 0 1 2 ... 131 ]  -- split by 16 -->  [ 0..15 ] [ 16..31 ]  rest [ 32..131 ]
 *                                                     |
 *   green context <-- create -- descriptor <-- generate, of parts of one split
 *        |
 *        +-- cuGreenCtxGetDevResource() --> [ 0..15 ], which may be split again
 *
 * Parts of one size fill what there is. An H200 has one of 8 fewer than fit its 132, as some
 * of its clusters of multiprocessors have no room for two; larger ones are as here.
 *
 * Programs copy CUdevResource as they like, so each carries which ones it means, and is
 * looked at before it is believed. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "softcuda/api/exports.h"
#include "softcuda/api/resource.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/driver.h"
#include "softcuda/device/green.h"

/* The smallest part, and the steps of larger ones: the guide's, "Green Contexts". */
struct unit {
    unsigned least, step;
};

/* No GPU of its capability is as small as softcuda's own default: a device that is less than
 * two of its parts has pairs, so that what divides a GPU divides it, too. */
static struct unit unit_of_device(void)
{
    const int capability = soft_compute_capability();
    const struct unit unit = capability >= 90   ? (struct unit){8, 8}
                             : capability >= 80 ? (struct unit){4, 2}
                             : capability >= 70 ? (struct unit){2, 2}
                                                : (struct unit){1, 1};
    return unit.least > 2 && soft_multiprocessors() < 2 * unit.least ? (struct unit){2, 2}
                                                                     : unit;
}

/* The mark goes where CUDA keeps its own: programs may only copy it. */
void soft_resource_fill(CUdevResource *out, const soft_part *part)
{
    memset(out, 0, sizeof(*out));
    out->type = CU_DEV_RESOURCE_TYPE_SM;
    _Static_assert(sizeof(*part) <= sizeof(out->_internal_padding), "it fits");
    memcpy(out->_internal_padding, part, sizeof(*part));
    const struct unit unit = unit_of_device();
    out->sm = (CUdevSmResource){.smCount = part->count,
                                .minSmPartitionSize = unit.least,
                                .smCoscheduledAlignment = unit.step};
}

/* The pointer is judged before the type, as everywhere in the driver. */
CUresult soft_resource_give(const soft_part *part, CUdevResourceType type,
                            CUdevResource *out)
{
    SOFT_TRY(soft_need(out, "resource"));
    if (type != CU_DEV_RESOURCE_TYPE_SM)
        return soft_fail(CUDA_ERROR_INVALID_RESOURCE_TYPE,
                         "%d is not a type of device resource", (int)type);
    soft_resource_fill(out, part);
    return CUDA_SUCCESS;
}

/* The whole device, whichever green contexts there are: parts may overlap. */
static soft_part all_of(const soft_device *device)
{
    return (soft_part){.mark = SOFT_PART_MARK,
                       .device = device->ordinal,
                       .count = soft_multiprocessors()};
}

CUresult cuDeviceGetDevResource(CUdevice ordinal, CUdevResource *out,
                                CUdevResourceType type)
{
    soft_device *device;
    SOFT_TRY(soft_enter(__func__));
    SOFT_TRY(soft_device_find(ordinal, &device));
    const soft_part all = all_of(device);
    return soft_resource_give(&all, type, out);
}

/* Those of the green context that it names, if it names one. */
CUresult cuCtxGetDevResource(CUcontext handle, CUdevResource *out, CUdevResourceType type)
{
    soft_current seen;
    SOFT_TRY(soft_enter(__func__));
    SOFT_TRY(soft_context_find_seen(handle, &seen));
    soft_part part = all_of(seen.context->device);
    if (seen.green) {
        part.first = seen.green->first;
        part.count = seen.green->count;
    }
    return soft_resource_give(&part, type, out);
}

/* ---- splitting --------------------------------------------------------------------- */

/* What a resource means: as some call has filled it, of a device that is there. */
static CUresult read_part(const CUdevResource *in, soft_part *out)
{
    if (in->type != CU_DEV_RESOURCE_TYPE_SM)
        return soft_fail(CUDA_ERROR_INVALID_RESOURCE_TYPE,
                         "a device resource of type %d, not multiprocessors",
                         (int)in->type);
    memcpy(out, in->_internal_padding, sizeof(*out));
    if (out->mark != SOFT_PART_MARK || out->count != in->sm.smCount ||
        !soft_device_at(out->device) || out->count > soft_multiprocessors() ||
        out->first > soft_multiprocessors() - out->count)
        return soft_fail(
            CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
            "a resource of %u multiprocessors that no call of the driver has "
            "given out",
            in->sm.smCount);
    return CUDA_SUCCESS;
}

/* Clusters are promised to a part by its steps; a program that wants none has smaller
 * ones, pairs that share a texture unit. */
static CUresult size_of_groups(const soft_part *whole, unsigned flags, unsigned least,
                               unsigned *size, unsigned *fit)
{
    struct unit unit = unit_of_device();
    if ((flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) && unit.least > 2)
        unit.least = unit.step = 2;
    const unsigned all = whole->count;
    *size = least > unit.least ? least : unit.least;
    if (*size <= all) { /* all of them are a part, too, whatever the step is */
        const unsigned steps = (*size + unit.step - 1) / unit.step * unit.step;
        *size = steps < all ? steps : all;
    }
    if (*size > all)
        return soft_fail(
            CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
            "a part of %u multiprocessors of %u, at least %u and in steps of "
            "%u; SOFTCUDA_MULTIPROCESSORS says how many a device has",
            *size, all, unit.least, unit.step);
    *fit = all / *size;
    return CUDA_SUCCESS;
}

/* What is left; where nothing is, its type says so. */
static void fill_rest(CUdevResource *out, const soft_part *rest)
{
    if (rest->count > 0)
        soft_resource_fill(out, rest);
    else
        memset(out, 0, sizeof(*out));
}

/* As many groups of at least `least` multiprocessors as fit, *groups at most; without
 * `result` their number alone. */
CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *groups,
                                     const CUdevResource *input, CUdevResource *remaining,
                                     unsigned int flags, unsigned int least)
{
    static atomic_uint splits;
    SOFT_TRY(soft_enter(__func__));
    SOFT_TRY(soft_need(groups, "nbGroups"));
    SOFT_TRY(soft_need(input, "input"));
    /* Both known flags together are refused, and so is a place for no group: an H200. */
    if (flags > CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE ||
        (result && *groups == 0))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "split flags 0x%x, %u groups", flags,
                         *groups);
    soft_part whole;
    unsigned size, fit;
    SOFT_TRY(read_part(input, &whole));
    if (whole.split != 0)
        return soft_fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                         "a part of a split cannot be split: make a green context of it, "
                         "and split what cuGreenCtxGetDevResource gives");
    SOFT_TRY(size_of_groups(&whole, flags, least, &size, &fit));
    if (!result) {
        *groups = fit;
        return CUDA_SUCCESS;
    }
    if (*groups > fit)
        *groups = fit;
    soft_part part = whole; /* `input` may be one of the results */
    part.split = atomic_fetch_add_explicit(&splits, 1, memory_order_relaxed) + 1;
    part.count = size;
    for (unsigned i = 0; i < *groups; i++, part.first += size)
        soft_resource_fill(&result[i], &part);
    part.count = whole.count - *groups * size;
    if (remaining)
        fill_rest(remaining, &part);
    return CUDA_SUCCESS;
}

/* ---- descriptors ------------------------------------------------------------------- */

/* No call destroys one, so equal ones are one. */
static CUresult resources_of(const soft_part *part, soft_resources **out)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static soft_resources *all;
    CUresult status = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    soft_resources *found = all;
    while (found && memcmp(&found->part, part, sizeof(*part)) != 0)
        found = found->next;
    if (!found) {
        found = soft_new(sizeof(*found));
        status = soft_made(found, "no memory for a resource descriptor");
        if (status == CUDA_SUCCESS)
            status = soft_handle_own(found, SOFT_KIND_RESOURCES);
        if (status == CUDA_SUCCESS) {
            found->part = *part;
            found->next = all;
            all = found;
        }
    }
    pthread_mutex_unlock(&lock);
    if (status == CUDA_SUCCESS)
        *out = found;
    return status;
}

/* Several are of one split, each of them once. */
static CUresult check_beside(const soft_part *part, const CUdevResource *before,
                             unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        soft_part other;
        SOFT_TRY(read_part(&before[i], &other));
        if (part->split == 0 || other.split != part->split || other.first == part->first)
            return soft_fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                             "resources %u and %u are not two parts of one split", i,
                             count);
    }
    return CUDA_SUCCESS;
}

/* `*out` may be given to any number of green contexts. */
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *out, CUdevResource *resources,
                                   unsigned int count)
{
    SOFT_TRY(soft_enter_with(__func__, out, "phDesc"));
    SOFT_TRY(soft_need(resources, "resources"));
    if (count == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "nbResources is 0");
    soft_part sum, part;
    SOFT_TRY(read_part(&resources[0], &sum));
    for (unsigned i = 1; i < count; i++) {
        SOFT_TRY(read_part(&resources[i], &part));
        SOFT_TRY(check_beside(&part, resources, i));
        sum.first = part.first < sum.first ? part.first : sum.first;
        sum.count += part.count;
    }
    sum.split = 0;
    soft_resources *made = NULL;
    SOFT_TRY(resources_of(&sum, &made));
    *out = (CUdevResourceDesc)made;
    return CUDA_SUCCESS;
}
