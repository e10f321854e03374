// SPDX-License-Identifier: Apache-2.0
/* cuGreenCtx*: green contexts, their streams and events.
 *
 * A green context keeps the primary context of its device alive, and has its memory and
 * modules. Where NVIDIA's documents leave a code open it is CUDA 13.0's nearest; calls on
 * a stream whose green context is destroyed are CONTEXT_IS_DESTROYED, as on an H200. */
#include "softcuda/api/exports.h"
#include "softcuda/api/resource.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/stream.h"

/* ---- life -------------------------------------------------------------------------- */

/* `context` is retained by the caller, who lets it go if this fails. */
static CUresult make(const soft_part *part, soft_context *context, soft_green **out)
{
    soft_green *green = soft_new(sizeof(*green));
    SOFT_TRY(soft_made(green, "no memory for a green context"));
    green->context = context;
    green->context_id = context->id;
    green->id = soft_context_next_id();
    green->first = part->first;
    green->count = part->count;
    atomic_store(&green->references, 1);
    CUresult status = soft_green_add_stream(green);
    if (status != CUDA_SUCCESS)
        goto release;
    status = soft_handle_add(&green->view, SOFT_KIND_GREEN_VIEW);
    if (status != CUDA_SUCCESS)
        goto drop_streams;
    status = soft_handle_add(green, SOFT_KIND_GREEN);
    if (status != CUDA_SUCCESS)
        goto remove_view;
    soft_green_begin(green);
    *out = green;
    return CUDA_SUCCESS;

remove_view:
    soft_handle_remove(&green->view, SOFT_KIND_GREEN_VIEW);
drop_streams:
    soft_green_drop_streams(green);
release:
    soft_green_release(green);
    return status;
}

/* The descriptor is judged before the flags, the device before both. */
CUresult cuGreenCtxCreate(CUgreenCtx *out, CUdevResourceDesc description,
                          CUdevice ordinal, unsigned int flags)
{
    SOFT_TRY(soft_enter_with(__func__, out, "phCtx"));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    if (!soft_handle_is(description, SOFT_KIND_RESOURCES))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%p is not a resource descriptor",
                         (void *)description);
    if (flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "flags are 0x%x: 0x1, the default stream, is required", flags);
    const soft_part *part = &((const soft_resources *)description)->part;
    if (part->device != ordinal)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the descriptor has multiprocessors of device %d, not of %d",
                         (int)part->device, ordinal);
    soft_context *context;
    SOFT_TRY(soft_primary_retain(device, &context));
    soft_green *green = NULL;
    const CUresult made = make(part, context, &green);
    if (made != CUDA_SUCCESS) {
        (void)soft_primary_release(device);
        return made;
    }
    *out = (CUgreenCtx)green;
    return CUDA_SUCCESS;
}

/* Work under way is waited for. Its streams stay for cuStreamDestroy(). */
CUresult cuGreenCtxDestroy(CUgreenCtx handle)
{
    SOFT_TRY(soft_enter(__func__));
    if (!soft_handle_remove(handle, SOFT_KIND_GREEN))
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT, "%p is not a green context",
                         (void *)handle);
    soft_green *green = (soft_green *)handle;
    soft_handle_remove(&green->view, SOFT_KIND_GREEN_VIEW);
    /* The primary context may have been reset, and with it the streams are gone. */
    if (soft_green_end(green)) {
        soft_device *device = green->context->device;
        soft_green_drop_streams(green);
        if (green->context->id == green->context_id)
            (void)soft_primary_release(device);
    }
    soft_green_release(green);
    return CUDA_SUCCESS;
}

/* The same handle each time; it ends with the green context. */
CUresult cuCtxFromGreenCtx(CUcontext *out, CUgreenCtx handle)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pContext"));
    soft_green *green;
    SOFT_TRY(soft_green_find(handle, &green));
    *out = soft_green_view(green);
    return CUDA_SUCCESS;
}

/* What it was made of, as one piece that may be split. */
CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource *out,
                                  CUdevResourceType type)
{
    SOFT_TRY(soft_enter(__func__));
    soft_green *green;
    SOFT_TRY(soft_green_find(handle, &green));
    const soft_part part = {.mark = SOFT_PART_MARK,
                            .device = green->context->device->ordinal,
                            .first = green->first,
                            .count = green->count};
    return soft_resource_give(&part, type, out);
}

/* NULL names the current one. */
CUresult cuGreenCtxGetId(CUgreenCtx handle, unsigned long long *out)
{
    SOFT_TRY(soft_enter_with(__func__, out, "greenCtxId"));
    soft_green *green = handle ? NULL : soft_green_current();
    if (!green)
        SOFT_TRY(soft_green_find(handle, &green));
    SOFT_TRY(soft_green_check(green));
    *out = green->id;
    return CUDA_SUCCESS;
}

/* ---- streams ----------------------------------------------------------------------- */

/* Whatever is current; no legacy stream orders it, so it has to be non-blocking. */
CUresult cuGreenCtxStreamCreate(CUstream *out, CUgreenCtx handle, unsigned int flags,
                                int priority)
{
    SOFT_TRY(soft_enter_with(__func__, out, "phStream"));
    soft_green *green;
    SOFT_TRY(soft_green_find(handle, &green));
    SOFT_TRY(soft_context_check(green->context));
    if (flags != CU_STREAM_NON_BLOCKING)
        return soft_fail(
            CUDA_ERROR_INVALID_VALUE,
            "flags are 0x%x: a stream of a green context is non-blocking (1)", flags);
    soft_stream *stream;
    SOFT_TRY(soft_stream_create((soft_current){green->context, green}, flags,
                                soft_stream_clamp_priority(priority), &stream));
    *out = (CUstream)stream;
    return CUDA_SUCCESS;
}

/* A default stream is of the one that is current. */
CUresult cuStreamGetGreenCtx(CUstream handle, CUgreenCtx *out)
{
    soft_stream *stream;
    SOFT_TRY(soft_enter_stream(__func__, handle, false, &stream));
    SOFT_TRY(soft_need(out, "phCtx"));
    *out = (CUgreenCtx)stream->green;
    return CUDA_SUCCESS;
}
