// SPDX-License-Identifier: Apache-2.0
/* Objects out of descriptors. Which descriptors are refused is what an H100 refuses. */
#include "softcuda/device/texobject.h"

#include <pthread.h>
#include <string.h>

#include "base/vec.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/array.h"
#include "softcuda/kernel/run/texture.h"

#define ADDRESS_UNIT 512u /* CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT */
#define PITCH_UNIT 32u
#define PITCH_MOST 2097120u
#define ANISOTROPY_MOST 16u
#define KNOWN_FLAGS                                                                      \
    (CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |           \
     CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP)

/* By handle; places of destroyed ones are empty. */
static struct {
    pthread_mutex_t mutex;
    soft_texture_desc **list;
    uint32_t capacity;
} objects = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- what a format means ---------------------------------------------------------------- */

static CUresult take_format(CUarray_format format, unsigned channels, soft_texture *out)
{
    const unsigned bytes = soft_format_bytes(format);
    if (bytes == 0 || (channels != 1 && channels != 2 && channels != 4))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "texels of format 0x%x with %u channels", (unsigned)format,
                         channels);
    out->channels = (uint8_t)channels;
    out->channel_bytes = (uint8_t)bytes;
    switch ((int)format) {
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_FLOAT: out->texel = SOFT_TEXEL_FLOAT; break;
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT32: out->texel = SOFT_TEXEL_SIGNED; break;
    default: out->texel = SOFT_TEXEL_UNSIGNED;
    }
    return CUDA_SUCCESS;
}

/* ---- resources --------------------------------------------------------------------------- */

static CUresult take_array(CUarray array, soft_texture *out, unsigned number)
{
    CUDA_ARRAY3D_DESCRIPTOR desc;
    uint64_t base;
    size_t pitch, rows;
    SOFT_TRY(soft_need(array, "the resource's array"));
    SOFT_TRY(soft_array_describe(array, &desc));
    SOFT_TRY(soft_array_place(array, &base, &pitch, &rows));
    if (number == 0)
        SOFT_TRY(take_format(desc.Format, desc.NumChannels, out));
    const bool planes = (desc.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    out->is_cube = (desc.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
    out->layers = planes ? (uint32_t)desc.Depth : 0;
    out->level[number] = (soft_texture_level){
        .base = base,
        .pitch = pitch,
        .slice = pitch * rows,
        .width = (uint32_t)desc.Width,
        .height = (uint32_t)rows,
        .depth = planes || desc.Depth == 0 ? 1 : (uint32_t)desc.Depth};
    out->is_row = desc.Height == 0;
    out->is_flat = desc.Depth == 0;
    out->levels = number + 1;
    return CUDA_SUCCESS;
}

static CUresult take_levels(CUmipmappedArray levels, soft_texture *out)
{
    unsigned count = 1;
    SOFT_TRY(soft_need(levels, "the resource's mipmapped array"));
    for (unsigned i = 0; i < count; i++) {
        CUarray array;
        SOFT_TRY(soft_levels_get(levels, i, &array, &count));
        SOFT_TRY(take_array(array, out, i));
    }
    return CUDA_SUCCESS;
}

static CUresult check_address(CUdeviceptr address)
{
    if (address == 0 || address % ADDRESS_UNIT != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "texture memory at 0x%llx, not at a multiple of %u",
                         (unsigned long long)address, ADDRESS_UNIT);
    return CUDA_SUCCESS;
}

static CUresult take_linear(const CUDA_RESOURCE_DESC *r, soft_texture *out)
{
    SOFT_TRY(take_format(r->res.linear.format, r->res.linear.numChannels, out));
    SOFT_TRY(check_address(r->res.linear.devPtr));
    const size_t texel = (size_t)out->channels * out->channel_bytes;
    out->is_memory = out->is_row = out->is_flat = true;
    out->level[0] =
        (soft_texture_level){.base = r->res.linear.devPtr,
                             .width = (uint32_t)(r->res.linear.sizeInBytes / texel),
                             .height = 1,
                             .depth = 1};
    out->levels = 1;
    return CUDA_SUCCESS;
}

static CUresult take_pitched(const CUDA_RESOURCE_DESC *r, soft_texture *out)
{
    const size_t width = r->res.pitch2D.width, height = r->res.pitch2D.height,
                 pitch = r->res.pitch2D.pitchInBytes;
    SOFT_TRY(take_format(r->res.pitch2D.format, r->res.pitch2D.numChannels, out));
    SOFT_TRY(check_address(r->res.pitch2D.devPtr));
    if (pitch % PITCH_UNIT != 0 || pitch > PITCH_MOST)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "a pitch of %zu bytes, no multiple of %u up to %u", pitch,
                         PITCH_UNIT, PITCH_MOST);
    if (width > 131072 || height > 65000)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "pitched texture memory of %zu x %zu exceeds 131072 x 65000",
                         width, height);
    out->is_flat = true;
    out->level[0] = (soft_texture_level){.base = r->res.pitch2D.devPtr,
                                         .pitch = pitch,
                                         .width = (uint32_t)width,
                                         .height = (uint32_t)height,
                                         .depth = 1};
    out->levels = 1;
    return CUDA_SUCCESS;
}

static CUresult take_resource(const soft_texture_desc *desc, soft_texture *out)
{
    const CUDA_RESOURCE_DESC *r = &desc->resource;
    if (r->flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "resource flags 0x%x", r->flags);
    if (desc->is_surface && r->resType != CU_RESOURCE_TYPE_ARRAY)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "a surface of resource type %d, not of an array",
                         (int)r->resType);
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY: return take_array(r->res.array.hArray, out, 0);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return take_levels(r->res.mipmap.hMipmappedArray, out);
    case CU_RESOURCE_TYPE_LINEAR: return take_linear(r, out);
    case CU_RESOURCE_TYPE_PITCH2D: return take_pitched(r, out);
    default:
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "resource type %d", (int)r->resType);
    }
}

/* ---- how it is read ------------------------------------------------------------------------ */

static CUresult check_reading(const CUDA_TEXTURE_DESC *t)
{
    for (int i = 0; i < 3; i++)
        if ((unsigned)t->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
            return soft_fail(CUDA_ERROR_INVALID_VALUE, "address mode %d",
                             (int)t->addressMode[i]);
    if ((unsigned)t->filterMode > CU_TR_FILTER_MODE_LINEAR ||
        (unsigned)t->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "filter modes %d and %d",
                         (int)t->filterMode, (int)t->mipmapFilterMode);
    if ((t->flags & ~(unsigned)KNOWN_FLAGS) != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "texture flags 0x%x", t->flags);
    return CUDA_SUCCESS;
}

static void take_reading(const CUDA_TEXTURE_DESC *t, soft_texture *out)
{
    for (int i = 0; i < 3; i++)
        out->modes[i] = (uint8_t)t->addressMode[i];
    memcpy(out->border, t->borderColor, sizeof(out->border));
    out->bias = t->mipmapLevelBias;
    out->least = t->minMipmapLevelClamp;
    out->most = t->maxMipmapLevelClamp;
    out->normalized = (t->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    out->linear = t->filterMode == CU_TR_FILTER_MODE_LINEAR;
    out->linear_levels = t->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
    out->integers = (t->flags & CU_TRSF_READ_AS_INTEGER) != 0;
    out->srgb = (t->flags & CU_TRSF_SRGB) != 0;
}

/* A view of the whole: other formats than the resource's would be read as they are, which
 * is not built. */
static CUresult check_view(const soft_texture_desc *desc, const soft_texture *texture)
{
    const CUDA_RESOURCE_VIEW_DESC *v = &desc->view;
    if (!desc->has_view)
        return CUDA_SUCCESS;
    if (v->format == CU_RES_VIEW_FORMAT_NONE || v->width != texture->level[0].width)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "a view of format %d and width %zu of a resource of width %u",
                         (int)v->format, v->width, texture->level[0].width);
    return CUDA_SUCCESS;
}

/* ---- objects -------------------------------------------------------------------------------- */

/* Under the lock. */
static bool make_room(uint32_t handle)
{
    const uint32_t before = objects.capacity;
    soft_texture_desc **list = gphi_array_room(
        *soft_allocator(), objects.list, &objects.capacity, handle + 1, sizeof(*list));
    if (!list)
        return false;
    memset(list + before, 0, (objects.capacity - before) * sizeof(*list));
    objects.list = list;
    return true;
}

static CUresult keep(const soft_texture *texture, soft_texture_desc *kept,
                     unsigned long long *out)
{
    pthread_mutex_lock(&objects.mutex);
    const uint64_t handle = soft_texture_add(texture);
    const bool there =
        handle != 0 && (handle < objects.capacity || make_room((uint32_t)handle));
    if (there)
        objects.list[handle] = kept;
    else if (handle != 0)
        (void)soft_texture_remove(handle);
    pthread_mutex_unlock(&objects.mutex);
    if (!there)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a texture object");
    *out = handle;
    return CUDA_SUCCESS;
}

CUresult soft_texture_create(soft_context *context, const soft_texture_desc *desc,
                             unsigned long long *out)
{
    soft_texture texture;
    (void)context;
    memset(&texture, 0, sizeof(texture));
    texture.is_surface = desc->is_surface;
    if (!desc->is_surface)
        SOFT_TRY(check_reading(&desc->texture));
    SOFT_TRY(take_resource(desc, &texture));
    if (!desc->is_surface)
        take_reading(&desc->texture, &texture);
    SOFT_TRY(check_view(desc, &texture));
    soft_texture_desc *kept = soft_new(sizeof(*kept));
    SOFT_TRY(soft_made(kept, "no memory for a texture object"));
    *kept = *desc;
    const CUresult status = keep(&texture, kept, out);
    if (status != CUDA_SUCCESS)
        soft_delete(kept);
    return status;
}

/* Under the lock. */
static soft_texture_desc *find(unsigned long long handle, bool is_surface)
{
    soft_texture_desc *desc = handle < objects.capacity ? objects.list[handle] : NULL;
    return desc && desc->is_surface == is_surface ? desc : NULL;
}

void soft_texture_destroy(unsigned long long handle, bool is_surface)
{
    pthread_mutex_lock(&objects.mutex);
    soft_texture_desc *desc = find(handle, is_surface);
    if (desc) {
        objects.list[handle] = NULL;
        (void)soft_texture_remove(handle);
    }
    pthread_mutex_unlock(&objects.mutex);
    if (desc)
        soft_delete(desc);
}

CUresult soft_texture_describe(unsigned long long handle, bool is_surface,
                               soft_texture_desc *out)
{
    pthread_mutex_lock(&objects.mutex);
    const soft_texture_desc *desc = find(handle, is_surface);
    if (desc)
        *out = *desc;
    pthread_mutex_unlock(&objects.mutex);
    if (!desc)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx: not a %s object", handle,
                         is_surface ? "surface" : "texture");
    return CUDA_SUCCESS;
}
