// SPDX-License-Identifier: Apache-2.0
/* Texture and surface references. */
#include "softcuda/device/texref.h"

#include <string.h>

#include "softcuda/device/alloc.h"
#include "softcuda/device/device.h"
#include "softcuda/device/task.h"

static soft_kind kind_of(bool is_surface)
{
    return is_surface ? SOFT_KIND_SURFREF : SOFT_KIND_TEXREF;
}

/* One channel of floats, points, as they lie: what CUDA's own wrappers begin with. */
CUresult soft_texref_create(soft_context *context, uint64_t variable, bool is_surface,
                            soft_texref **out)
{
    soft_texref *ref = soft_new(sizeof(*ref));
    SOFT_TRY(soft_made(ref, "no memory for a texture reference"));
    ref->context = context;
    ref->variable = variable;
    ref->is_surface = is_surface;
    ref->state.desc.is_surface = is_surface;
    ref->state.desc.resource.resType = CU_RESOURCE_TYPE_LINEAR;
    ref->state.format = CU_AD_FORMAT_FLOAT;
    ref->state.channels = 1;
    SOFT_TRY(soft_handle_own(ref, kind_of(is_surface)));
    *out = ref;
    return CUDA_SUCCESS;
}

void soft_texref_hide(soft_texref *ref)
{
    soft_handle_remove(ref, kind_of(ref->is_surface));
}

void soft_texref_destroy(soft_texref *ref)
{
    soft_texref_hide(ref);
    if (ref->object != 0)
        soft_texture_destroy(ref->object, ref->is_surface);
    soft_delete(ref);
}

CUresult soft_texref_find(const void *handle, bool is_surface, soft_texref **out)
{
    if (!soft_handle_is(handle, kind_of(is_surface)))
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "%p is not a %s reference", handle,
                         is_surface ? "surface" : "texture");
    *out = (soft_texref *)(uintptr_t)handle;
    return CUDA_SUCCESS;
}

static bool is_bound(const soft_texref_state *state)
{
    return state->desc.resource.resType != CU_RESOURCE_TYPE_LINEAR ||
           state->desc.resource.res.linear.devPtr != 0;
}

/* The format is the reference's, whenever it was set. */
static soft_texture_desc describe(const soft_texref_state *state)
{
    soft_texture_desc desc = state->desc;
    if (desc.resource.resType == CU_RESOURCE_TYPE_LINEAR) {
        desc.resource.res.linear.format = state->format;
        desc.resource.res.linear.numChannels = state->channels;
    }
    return desc;
}

CUresult soft_texref_set(soft_texref *ref, const soft_texref_state *state)
{
    unsigned long long object = 0;
    if (is_bound(state)) {
        const soft_texture_desc desc = describe(state);
        SOFT_TRY(soft_texture_create(ref->context, &desc, &object));
    }
    if (ref->variable != 0) {
        const CUresult waited = soft_streams_wait(ref->context);
        if (waited != CUDA_SUCCESS) {
            if (object != 0)
                soft_texture_destroy(object, ref->is_surface);
            return waited;
        }
        memcpy(soft_device_reach(ref->variable), &object, sizeof(object));
    }
    if (ref->object != 0)
        soft_texture_destroy(ref->object, ref->is_surface);
    ref->object = object;
    ref->state = *state;
    return CUDA_SUCCESS;
}
