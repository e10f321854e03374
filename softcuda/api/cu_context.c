// SPDX-License-Identifier: Apache-2.0
/* Contexts: created ones, the primary ones, and the current one's properties.
 *
 * Calls that take a context look it up first, and a dead one says why it died. Those
 * without one take the top of the thread's stack. Limits, cache and bank settings are
 * kept for programs that read them back. */
#include "softcuda/api/exports.h"
#include "softcuda/device/driver.h"
#include "softcuda/device/stream.h"
#include "softcuda/device/task.h"
#include "softcuda/kernel/run/launch.h"
#include "softcuda/memory/memory.h"

/* Three ways to wait, of which at most one; the other known bits are taken and change
 * nothing here. */
static CUresult check_flags(unsigned flags)
{
    const unsigned schedule = flags & CU_CTX_SCHED_MASK;
    if ((flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0 ||
        (schedule != 0 && schedule != CU_CTX_SCHED_SPIN &&
         schedule != CU_CTX_SCHED_YIELD && schedule != CU_CTX_SCHED_BLOCKING_SYNC))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%x are not context flags", flags);
    return CUDA_SUCCESS;
}

/* ---- created contexts -------------------------------------------------------------- */

/* A created context becomes current on the calling thread, and keeps no reference more
 * than that and its own. */
static CUresult create(CUcontext *out, unsigned flags, CUdevice ordinal)
{
    SOFT_TRY(soft_need(out, "pctx"));
    SOFT_TRY(check_flags(flags));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    soft_context *context;
    SOFT_TRY(soft_context_create(device, flags, &context));
    const CUresult pushed = soft_context_push((soft_current){context, NULL});
    if (pushed != CUDA_SUCCESS) {
        soft_context_destroy(context);
        return pushed;
    }
    *out = (CUcontext)context;
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *out, unsigned int flags, CUdevice device)
{
    SOFT_TRY(soft_enter(__func__));
    return create(out, flags, device);
}

/* Affinities are for MPS servers: a GPU without one refuses them in the same way. */
CUresult cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *params, int count,
                        unsigned int flags, CUdevice device)
{
    SOFT_TRY(soft_enter(__func__));
    if (count < 0 || (count > 0 && !params))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d affinities at %p", count,
                         (void *)params);
    if (count > 0)
        return soft_fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
                         "execution affinities are not supported");
    return create(out, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *params, unsigned int flags,
                        CUdevice device)
{
    SOFT_TRY(soft_enter(__func__));
    if (params && params->execAffinityParams && params->numExecAffinityParams > 0)
        return soft_fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
                         "execution affinities are not supported");
    if (params && params->cigParams)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "graphics sharing is not supported");
    return create(out, flags, device);
}

/* NULL is INVALID_VALUE, and what is not a context INVALID_CONTEXT, as an H100 has it
 * (docs/conformance.md). */
CUresult cuCtxDestroy_v2(CUcontext handle)
{
    SOFT_TRY(soft_enter_with(__func__, handle, "ctx"));
    soft_context *context;
    SOFT_TRY(soft_context_find(handle, &context));
    return soft_context_destroy(context);
}

/* Counts uses of the current context: the last cuCtxDetach() destroys it. */
CUresult cuCtxAttach(CUcontext *out, unsigned int flags)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "pctx"));
    if (flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x, not 0", flags);
    atomic_fetch_add(&context->attached, 1);
    *out = (CUcontext)context;
    return CUDA_SUCCESS;
}

/* NULL is INVALID_CONTEXT here, unlike in cuCtxDestroy(). */
CUresult cuCtxDetach(CUcontext handle)
{
    SOFT_TRY(soft_enter(__func__));
    soft_context *context;
    if (!handle)
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT, "ctx is NULL");
    SOFT_TRY(soft_context_find(handle, &context));
    unsigned attached = atomic_load(&context->attached);
    while (attached > 0)
        if (atomic_compare_exchange_weak(&context->attached, &attached, attached - 1))
            return CUDA_SUCCESS;
    return soft_context_destroy(context);
}

/* A context may be on several stacks, and on one several times. */
CUresult cuCtxPushCurrent_v2(CUcontext handle)
{
    SOFT_TRY(soft_enter_with(__func__, handle, "ctx"));
    soft_current seen;
    SOFT_TRY(soft_context_find_seen(handle, &seen));
    return soft_context_push(seen);
}

static CUcontext handle_of(soft_current seen)
{
    return seen.green ? soft_green_view(seen.green) : (CUcontext)seen.context;
}

/* A context that was destroyed meanwhile is popped all the same, and the call says so. */
CUresult cuCtxPopCurrent_v2(CUcontext *out)
{
    SOFT_TRY(soft_enter(__func__));
    soft_current seen;
    SOFT_TRY(soft_context_pop(&seen));
    if (out)
        *out = handle_of(seen);
    return CUDA_SUCCESS;
}

/* It replaces the top of the stack, NULL pops it: pushes and pops of libraries above
 * stay in step. */
CUresult cuCtxSetCurrent(CUcontext handle)
{
    SOFT_TRY(soft_enter(__func__));
    soft_current seen = {NULL, NULL};
    if (handle)
        SOFT_TRY(soft_context_find_seen(handle, &seen));
    return soft_context_set(seen);
}

/* NULL where there is none, which is not an error. */
CUresult cuCtxGetCurrent(CUcontext *out)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pctx"));
    *out = handle_of((soft_current){soft_context_current(), soft_green_current()});
    return CUDA_SUCCESS;
}

/* ---- the current one, or one that is named ----------------------------------------- */

/* NULL names the current context. */
static CUresult named_seen(CUcontext handle, soft_current *out)
{
    if (handle)
        return soft_context_find_seen(handle, out);
    *out = (soft_current){soft_context_current(), soft_green_current()};
    if (!out->context)
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT,
                         "no context is current on this thread");
    return soft_green_check(out->green);
}

static CUresult named(CUcontext handle, soft_context **out)
{
    soft_current seen;
    SOFT_TRY(named_seen(handle, &seen));
    *out = seen.context;
    return CUDA_SUCCESS;
}

/* A destroyed context has a device still, which an H100 does not give out. */
static CUresult get_device(CUdevice *out, CUcontext handle)
{
    SOFT_TRY(soft_need(out, "device"));
    soft_context *context;
    SOFT_TRY(named(handle, &context));
    if (!atomic_load(&context->alive))
        return soft_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context %p is destroyed",
                         (void *)context);
    *out = context->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *out)
{
    SOFT_TRY(soft_enter(__func__));
    return get_device(out, NULL);
}

CUresult cuCtxGetDevice_v2(CUdevice *out, CUcontext handle)
{
    SOFT_TRY(soft_enter(__func__));
    return get_device(out, handle);
}

/* Captures of the context forbid it (R93); what was freed in stream order goes back to
 * the system only at such points. A green context waits for its own streams alone, the
 * primary one for those of its green contexts, too. */
static CUresult synchronize(soft_current seen)
{
    SOFT_TRY(soft_context_check(seen.context));
    SOFT_TRY(soft_capture_check_context(seen));
    SOFT_TRY(soft_streams_wait_seen(seen));
    soft_memory_synchronized(seen.context->device->memory);
    return CUDA_SUCCESS;
}

/* Also after an error: then it gives the error. */
CUresult cuCtxSynchronize(void)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    return synchronize((soft_current){context, soft_green_current()});
}

CUresult cuCtxSynchronize_v2(CUcontext handle)
{
    SOFT_TRY(soft_enter(__func__));
    soft_current seen;
    SOFT_TRY(named_seen(handle, &seen));
    return synchronize(seen);
}

/* Never used again: programs key caches by it. */
CUresult cuCtxGetId(CUcontext handle, unsigned long long *out)
{
    SOFT_TRY(soft_enter_with(__func__, out, "ctxId"));
    soft_current seen;
    SOFT_TRY(named_seen(handle, &seen));
    *out = seen.green ? seen.green->id : seen.context->id;
    return CUDA_SUCCESS;
}

/* Contexts of all versions are alike. */
CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int *out)
{
    SOFT_TRY(soft_enter_with(__func__, out, "version"));
    soft_context *context;
    SOFT_TRY(named(handle, &context));
    *out = 3020; /* of cuCtxCreate_v2 and all later ones */
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int *out)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "flags"));
    *out = context->flags;
    return CUDA_SUCCESS;
}

/* Of the current context alone: a primary one is set through its device. */
CUresult cuCtxSetFlags(unsigned int flags)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(check_flags(flags));
    context->flags = flags;
    return CUDA_SUCCESS;
}

/* ---- limits and hints -------------------------------------------------------------- */

enum { PENDING_LEAST = 32 }; /* launches by kernels: an H200 takes no less */

/* What an H100 does not have. */
static CUresult check_limit(CUlimit limit)
{
    if (limit < 0 || limit >= CU_LIMIT_MAX)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a limit", (int)limit);
    if (limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH ||
        limit == CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED)
        return soft_fail(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit %d is not supported",
                         (int)limit);
    return CUDA_SUCCESS;
}

/* As set, or as a new context of an H100 has it. */
CUresult cuCtxGetLimit(size_t *out, CUlimit limit)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "pvalue"));
    SOFT_TRY(check_limit(limit));
    *out = context->limits[limit];
    return CUDA_SUCCESS;
}

/* The device heap can only be resized while nothing was allocated in it, the others are
 * promises that softcuda keeps anyway. */
CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(check_limit(limit));
    switch ((int)limit) {
    case CU_LIMIT_MALLOC_HEAP_SIZE:
        if (value == context->limits[limit])
            return CUDA_SUCCESS;
        if (!soft_kernel_env_set_heap(context->kernels, value))
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "the device heap is in use: it keeps its %zu bytes",
                             context->limits[limit]);
        break;
    case CU_LIMIT_STACK_SIZE:
        if (value > 512 * 1024)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "a stack of %zu bytes a thread exceeds 524288", value);
        break;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
        if (value > 128)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "an L2 fetch granularity of %zu exceeds 128", value);
        break;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
        value = value < PENDING_LEAST ? PENDING_LEAST : value;
        soft_kernel_env_set_pending(context->kernels, value);
        break;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: break;
    default:
        return soft_fail(CUDA_ERROR_NOT_PERMITTED, "limit %d cannot be set", (int)limit);
    }
    context->limits[limit] = value;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *out)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "pconfig"));
    *out = context->cache_config;
    return CUDA_SUCCESS;
}

/* Kept and given back; there is no cache whose split could change. */
CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a cache configuration",
                         (int)config);
    context->cache_config = config;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *out)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "pConfig"));
    *out = context->shared_config;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    if (config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE ||
        config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%d is not a shared memory configuration", (int)config);
    (void)context; /* has no effect on this compute capability, there as here */
    return CUDA_SUCCESS;
}

/* Both arguments may be NULL: programs ask for one end. */
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    if (least)
        *least = 0;
    if (greatest)
        *greatest = SOFT_PRIORITY_GREATEST;
    return CUDA_SUCCESS;
}

/* Nothing persists, so nothing is to be reset. */
CUresult cuCtxResetPersistingL2Cache(void)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    return CUDA_SUCCESS;
}

/* As of a GPU without MPS. */
CUresult cuCtxGetExecAffinity(CUexecAffinityParam *out, CUexecAffinityType type)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "pExecAffinity"));
    return soft_fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
                     "execution affinity %d is not supported", (int)type);
}

/* ---- primary contexts -------------------------------------------------------------- */

/* The first reference makes it alive, with the flags that were set before; it does not
 * become current. */
CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice ordinal)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pctx"));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    soft_context *context;
    SOFT_TRY(soft_primary_retain(device, &context));
    *out = (CUcontext)context;
    return CUDA_SUCCESS;
}

/* The last release ends what runs in it; more releases than retains are
 * INVALID_CONTEXT. */
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal)
{
    SOFT_TRY(soft_enter(__func__));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    return soft_primary_release(device);
}

SOFT_OLDER(cuDevicePrimaryCtxRelease, (CUdevice ordinal),
           cuDevicePrimaryCtxRelease_v2(ordinal))

/* Ends the context whatever its count: other threads that have it current get
 * CONTEXT_IS_DESTROYED. */
CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal)
{
    SOFT_TRY(soft_enter(__func__));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    return soft_primary_reset(device);
}

SOFT_OLDER(cuDevicePrimaryCtxReset, (CUdevice ordinal),
           cuDevicePrimaryCtxReset_v2(ordinal))

/* They count when it comes alive the next time. */
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned int flags)
{
    SOFT_TRY(soft_enter(__func__));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    SOFT_TRY(check_flags(flags));
    soft_primary_set_flags(device, flags);
    return CUDA_SUCCESS;
}

SOFT_OLDER(cuDevicePrimaryCtxSetFlags, (CUdevice ordinal, unsigned int flags),
           cuDevicePrimaryCtxSetFlags_v2(ordinal, flags))

/* Of the flags those that were set last, alive or not. */
CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned int *flags, int *active)
{
    SOFT_TRY(soft_enter_with(__func__, flags, "flags"));
    SOFT_TRY(soft_need(active, "active"));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    *flags = device->primary->flags;
    *active = atomic_load(&device->primary->alive);
    return CUDA_SUCCESS;
}
