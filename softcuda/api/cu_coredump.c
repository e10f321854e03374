// SPDX-License-Identifier: Apache-2.0
/* Settings of core dumps: those of a context, and of the process for contexts to come
 * (device/coredump.c). */
#include "softcuda/api/exports.h"
#include "softcuda/device/context.h"

CUresult cuCoredumpGetAttribute(CUcoredumpSettings which, void *value, size_t *size)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    return soft_coredump_get(&context->coredump, which, value, size);
}

CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings which, void *value, size_t *size)
{
    SOFT_TRY(soft_enter(__func__));
    return soft_coredump_get(NULL, which, value, size);
}

CUresult cuCoredumpSetAttribute(CUcoredumpSettings which, void *value, size_t *size)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    return soft_coredump_set(&context->coredump, which, value, size);
}

CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings which, void *value, size_t *size)
{
    SOFT_TRY(soft_enter(__func__));
    return soft_coredump_set(NULL, which, value, size);
}
