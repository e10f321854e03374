// SPDX-License-Identifier: Apache-2.0
/* cuTexRef*, cuSurfRef*: references, which CUDA 12 took out of its headers and drivers kept.
 *
 * A setter changes a copy of what was set before and gives that to softcuda/device, which
 * takes it or refuses it as a texture object would be. */
#include <string.h>

#include "softcuda/api/exports.h"
#include "softcuda/device/array.h"
#include "softcuda/device/module.h"
#include "softcuda/device/texref.h"

#define ADDRESS_UNIT 512u       /* CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT */
#define TEXELS_MOST 0x10000000u /* CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH */

/* ---- of modules -------------------------------------------------------------------- */

/* Of either kind, by the name in the PTX. */
static CUresult get_reference(const char *call, void **out, CUmodule handle,
                              const char *name, bool is_surface)
{
    SOFT_TRY(soft_enter_context(call, NULL));
    SOFT_TRY(soft_need(out, is_surface ? "pSurfRef" : "pTexRef"));
    SOFT_TRY(soft_need(name, "name"));
    soft_module *module;
    SOFT_TRY(soft_module_find(handle, &module));
    soft_texref *ref;
    SOFT_TRY(soft_module_reference(module, name, is_surface, &ref));
    *out = ref;
    return CUDA_SUCCESS;
}

/* The same each time; it goes with the module. */
CUresult cuModuleGetTexRef(CUtexref *out, CUmodule module, const char *name)
{
    return get_reference(__func__, (void **)out, module, name, false);
}

CUresult cuModuleGetSurfRef(CUsurfref *out, CUmodule module, const char *name)
{
    return get_reference(__func__, (void **)out, module, name, true);
}

/* No instruction can name such a one; programs set one up and read it back. */
CUresult cuTexRefCreate(CUtexref *out)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "pTexRef"));
    soft_texref *ref;
    SOFT_TRY(soft_texref_create(context, 0, false, &ref));
    *out = (CUtexref)ref;
    return CUDA_SUCCESS;
}

/* Only what cuTexRefCreate() made. */
CUresult cuTexRefDestroy(CUtexref handle)
{
    soft_texref *ref;
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_texref_find(handle, false, &ref));
    if (ref->variable != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the reference is a module's: it goes with the module");
    soft_texref_destroy(ref);
    return CUDA_SUCCESS;
}

/* A module's references are every kernel's that names them. The call gave a reference one of
 * the texture units that devices had; an H200 refuses it for every unit, the default too. */
CUresult cuParamSetTexRef(CUfunction function_handle, int unit, CUtexref handle)
{
    soft_context *context;
    soft_function *function;
    soft_texref *ref;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_function_find(context, function_handle, &function));
    SOFT_TRY(soft_texref_find(handle, false, &ref));
    return soft_fail(CUDA_ERROR_INVALID_VALUE,
                     "the device has no texture unit %d to give out: kernels find the "
                     "reference by its name",
                     unit);
}

/* ---- binding ----------------------------------------------------------------------- */

/* The state is a copy, for the setter to change. */
static CUresult enter(const char *call, const void *handle, bool is_surface,
                      soft_texref **ref, soft_texref_state *state)
{
    SOFT_TRY(soft_enter_context(call, NULL));
    SOFT_TRY(soft_texref_find(handle, is_surface, ref));
    *state = (*ref)->state;
    return CUDA_SUCCESS;
}

/* An array brings its format; without CU_TRSA_OVERRIDE_FORMAT the reference has it already.
 * cuTexRefSetAddress() of nothing unbinds. */
static CUresult set_array(const char *call, const void *handle, bool is_surface,
                          CUarray array, unsigned flags)
{
    soft_texref *ref;
    soft_texref_state state;
    SOFT_TRY(enter(call, handle, is_surface, &ref, &state));
    const unsigned known = is_surface ? 0 : CU_TRSA_OVERRIDE_FORMAT;
    if (flags & ~known)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x, at most 0x%x", flags,
                         known);
    CUDA_ARRAY3D_DESCRIPTOR desc;
    SOFT_TRY(soft_array_describe(array, &desc));
    if (!is_surface && flags == 0 &&
        (state.format != desc.Format || state.channels != desc.NumChannels))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the reference has format 0x%x with %u channels, the array 0x%x "
                         "with %u, and CU_TRSA_OVERRIDE_FORMAT is not given",
                         (unsigned)state.format, state.channels, (unsigned)desc.Format,
                         desc.NumChannels);
    state.format = desc.Format;
    state.channels = desc.NumChannels;
    memset(&state.desc.resource, 0, sizeof(state.desc.resource));
    state.desc.resource.resType = CU_RESOURCE_TYPE_ARRAY;
    state.desc.resource.res.array.hArray = array;
    return soft_texref_set(ref, &state);
}

CUresult cuTexRefSetArray(CUtexref handle, CUarray array, unsigned int flags)
{
    return set_array(__func__, handle, false, array, flags);
}

/* Surfaces are read and written as they lie: no format is overridden. */
CUresult cuSurfRefSetArray(CUsurfref handle, CUarray array, unsigned int flags)
{
    return set_array(__func__, handle, true, array, flags);
}

/* All of its levels; how one is chosen, the mipmap setters say. */
CUresult cuTexRefSetMipmappedArray(CUtexref handle, CUmipmappedArray levels,
                                   unsigned int flags)
{
    soft_texref *ref;
    soft_texref_state state;
    CUarray first;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    SOFT_TRY(enter(__func__, handle, false, &ref, &state));
    if (flags != CU_TRSA_OVERRIDE_FORMAT)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x, not 0x1", flags);
    SOFT_TRY(soft_levels_get(levels, 0, &first, NULL));
    SOFT_TRY(soft_array_describe(first, &desc));
    state.format = desc.Format;
    state.channels = desc.NumChannels;
    memset(&state.desc.resource, 0, sizeof(state.desc.resource));
    state.desc.resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    state.desc.resource.res.mipmap.hMipmappedArray = levels;
    return soft_texref_set(ref, &state);
}

/* Texture memory begins at multiples of a unit: the program adds *offset to the index. */
CUresult cuTexRefSetAddress_v2(size_t *offset, CUtexref handle, CUdeviceptr address,
                               size_t bytes)
{
    soft_texref *ref;
    soft_texref_state state;
    SOFT_TRY(enter(__func__, handle, false, &ref, &state));
    const size_t skipped = address % ADDRESS_UNIT;
    if (!offset && skipped != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "ByteOffset is NULL, and 0x%llx is not a multiple of %u",
                         (unsigned long long)address, ADDRESS_UNIT);
    const size_t texel = (size_t)soft_format_bytes(state.format) * state.channels;
    if (texel == 0 && bytes != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%x is not a format of texels",
                         (unsigned)state.format);
    if (bytes != 0 && bytes / texel > TEXELS_MOST)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%zu texels, at most %u",
                         bytes / texel, TEXELS_MOST);
    memset(&state.desc.resource, 0, sizeof(state.desc.resource));
    state.desc.resource.resType = CU_RESOURCE_TYPE_LINEAR;
    state.desc.resource.res.linear.devPtr = address - skipped;
    state.desc.resource.res.linear.sizeInBytes = bytes + skipped;
    SOFT_TRY(soft_texref_set(ref, &state));
    if (offset)
        *offset = skipped;
    return CUDA_SUCCESS;
}

/* Rows at a pitch, whose format the descriptor brings. */
CUresult cuTexRefSetAddress2D_v3(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR *desc,
                                 CUdeviceptr address, size_t pitch)
{
    soft_texref *ref;
    soft_texref_state state;
    SOFT_TRY(enter(__func__, handle, false, &ref, &state));
    SOFT_TRY(soft_need(desc, "desc"));
    state.format = desc->Format;
    state.channels = desc->NumChannels;
    memset(&state.desc.resource, 0, sizeof(state.desc.resource));
    state.desc.resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    state.desc.resource.res.pitch2D.devPtr = address;
    state.desc.resource.res.pitch2D.format = desc->Format;
    state.desc.resource.res.pitch2D.numChannels = desc->NumChannels;
    state.desc.resource.res.pitch2D.width = desc->Width;
    state.desc.resource.res.pitch2D.height = desc->Height;
    state.desc.resource.res.pitch2D.pitchInBytes = pitch;
    return soft_texref_set(ref, &state);
}

SOFT_OLDER(cuTexRefSetAddress2D_v2,
           (CUtexref handle, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr address,
            size_t pitch),
           cuTexRefSetAddress2D_v3(handle, desc, address, pitch))

/* ---- what is bound ----------------------------------------------------------------- */

/* Memory of one row or several answers to one call, and so does no memory at all. */
static CUresult get_resource(const char *call, const void *handle, bool is_surface,
                             const void *out, const char *name, CUresourcetype type,
                             const soft_texref **ref)
{
    soft_texref *found;
    SOFT_TRY(soft_enter_context(call, NULL));
    SOFT_TRY(soft_need(out, name));
    SOFT_TRY(soft_texref_find(handle, is_surface, &found));
    const CUresourcetype is = found->state.desc.resource.resType;
    const bool is_memory =
        type == CU_RESOURCE_TYPE_LINEAR && is == CU_RESOURCE_TYPE_PITCH2D;
    if (is != type && !is_memory)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the reference is not bound to what the call asks for");
    *ref = found;
    return CUDA_SUCCESS;
}

/* `member` of what is bound, which CUDA's headers call `argument`. */
#define BOUND(name, type, reference, is_surface, argument, resource_type, member)        \
    CUresult name(type *out, reference handle)                                           \
    {                                                                                    \
        const soft_texref *ref;                                                          \
        SOFT_TRY(get_resource(__func__, handle, is_surface, out, argument,               \
                              resource_type, &ref));                                     \
        *out = ref->state.desc.resource.res.member;                                      \
        return CUDA_SUCCESS;                                                             \
    }

BOUND(cuTexRefGetArray, CUarray, CUtexref, false, "phArray", CU_RESOURCE_TYPE_ARRAY,
      array.hArray)
BOUND(cuSurfRefGetArray, CUarray, CUsurfref, true, "phArray", CU_RESOURCE_TYPE_ARRAY,
      array.hArray)
BOUND(cuTexRefGetMipmappedArray, CUmipmappedArray, CUtexref, false, "phMipmappedArray",
      CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, mipmap.hMipmappedArray)

/* Where texture memory begins, not the address that was given; 0: bound to nothing. */
CUresult cuTexRefGetAddress_v2(CUdeviceptr *out, CUtexref handle)
{
    const soft_texref *ref;
    SOFT_TRY(get_resource(__func__, handle, false, out, "pdptr", CU_RESOURCE_TYPE_LINEAR,
                          &ref));
    const CUDA_RESOURCE_DESC *r = &ref->state.desc.resource;
    *out = r->resType == CU_RESOURCE_TYPE_LINEAR ? r->res.linear.devPtr
                                                 : r->res.pitch2D.devPtr;
    return CUDA_SUCCESS;
}

/* ---- how it is read ---------------------------------------------------------------- */

/* A setter: `changes` is done to what was set before. */
#define SETTER(name, parameters, changes)                                                \
    CUresult name parameters                                                             \
    {                                                                                    \
        soft_texref *ref;                                                                \
        soft_texref_state state;                                                         \
        SOFT_TRY(enter(__func__, handle, false, &ref, &state));                          \
        changes;                                                                         \
        return soft_texref_set(ref, &state);                                             \
    }

static CUresult check_axis(int axis)
{
    return axis >= 0 && axis < 3
               ? CUDA_SUCCESS
               : soft_fail(CUDA_ERROR_INVALID_VALUE, "dimension %d, of 0 to 2", axis);
}

/* The format is judged when memory is bound: an H200. */
static CUresult check_channels(int channels)
{
    return channels == 1 || channels == 2 || channels == 4
               ? CUDA_SUCCESS
               : soft_fail(CUDA_ERROR_INVALID_VALUE, "texels of %d channels", channels);
}

static CUresult check_choice(unsigned value, unsigned most, const char *what)
{
    return value <= most
               ? CUDA_SUCCESS
               : soft_fail(CUDA_ERROR_INVALID_VALUE, "%u is not %s", value, what);
}

/* CU_TRSF_SEAMLESS_CUBEMAP came after references. */
static CUresult check_flags(unsigned flags)
{
    const unsigned known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                           CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
    return (flags & ~known) == 0
               ? CUDA_SUCCESS
               : soft_fail(CUDA_ERROR_INVALID_VALUE, "texture flags 0x%x", flags);
}

SETTER(cuTexRefSetFormat, (CUtexref handle, CUarray_format format, int channels),
       SOFT_TRY(check_channels(channels));
       state.format = format; state.channels = (unsigned)channels)
SETTER(cuTexRefSetAddressMode, (CUtexref handle, int axis, CUaddress_mode mode),
       SOFT_TRY(check_axis(axis));
       SOFT_TRY(check_choice((unsigned)mode, CU_TR_ADDRESS_MODE_BORDER,
                             "an address mode"));
       state.desc.texture.addressMode[axis] = mode)
SETTER(cuTexRefSetFilterMode, (CUtexref handle, CUfilter_mode mode),
       SOFT_TRY(check_choice((unsigned)mode, CU_TR_FILTER_MODE_LINEAR, "a filter mode"));
       state.desc.texture.filterMode = mode)
SETTER(cuTexRefSetMipmapFilterMode, (CUtexref handle, CUfilter_mode mode),
       SOFT_TRY(check_choice((unsigned)mode, CU_TR_FILTER_MODE_LINEAR, "a filter mode"));
       state.desc.texture.mipmapFilterMode = mode)
SETTER(cuTexRefSetMipmapLevelBias, (CUtexref handle, float bias),
       state.desc.texture.mipmapLevelBias = bias)
SETTER(cuTexRefSetMipmapLevelClamp, (CUtexref handle, float least, float most),
       state.desc.texture.minMipmapLevelClamp = least;
       state.desc.texture.maxMipmapLevelClamp = most)
SETTER(cuTexRefSetMaxAnisotropy, (CUtexref handle, unsigned int most),
       state.desc.texture.maxAnisotropy = most)
SETTER(cuTexRefSetBorderColor, (CUtexref handle, float *color),
       SOFT_TRY(soft_need(color, "pBorderColor"));
       memcpy(state.desc.texture.borderColor, color, 4 * sizeof(*color)))
SETTER(cuTexRefSetFlags, (CUtexref handle, unsigned int flags),
       SOFT_TRY(check_flags(flags));
       state.desc.texture.flags = flags)

static void put_format(const soft_texref_state *s, CUarray_format *format, int *channels)
{
    if (format)
        *format = s->format;
    if (channels)
        *channels = (int)s->channels;
}

static void put_clamp(const CUDA_TEXTURE_DESC *texture, float *least, float *most)
{
    if (least)
        *least = texture->minMipmapLevelClamp;
    if (most)
        *most = texture->maxMipmapLevelClamp;
}

/* A getter: `gives`, with `s`, what is set. */
#define GETTER(name, parameters, gives)                                                  \
    CUresult name parameters                                                             \
    {                                                                                    \
        soft_texref *ref;                                                                \
        SOFT_TRY(soft_enter_context(__func__, NULL));                                    \
        SOFT_TRY(soft_texref_find(handle, false, &ref));                                 \
        const soft_texref_state *s = &ref->state;                                        \
        gives;                                                                           \
        return CUDA_SUCCESS;                                                             \
    }
/* One value, which goes to `out`, in CUDA's headers `argument`. */
#define GETTER_OF(name, type, argument, value)                                           \
    GETTER(name, (type * out, CUtexref handle), SOFT_TRY(soft_need(out, argument));      \
           *out = (value))

GETTER_OF(cuTexRefGetFilterMode, CUfilter_mode, "pfm", s->desc.texture.filterMode)
GETTER_OF(cuTexRefGetMipmapFilterMode, CUfilter_mode, "pfm",
          s->desc.texture.mipmapFilterMode)
GETTER_OF(cuTexRefGetMipmapLevelBias, float, "pbias", s->desc.texture.mipmapLevelBias)
GETTER_OF(cuTexRefGetMaxAnisotropy, int, "pmaxAniso", (int)s->desc.texture.maxAnisotropy)
GETTER_OF(cuTexRefGetFlags, unsigned int, "pFlags", s->desc.texture.flags)
GETTER(cuTexRefGetAddressMode, (CUaddress_mode * out, CUtexref handle, int axis),
       SOFT_TRY(soft_need(out, "pam"));
       SOFT_TRY(check_axis(axis)); *out = s->desc.texture.addressMode[axis])
/* Either output of the next two may be NULL. */
GETTER(cuTexRefGetFormat, (CUarray_format * format, int *channels, CUtexref handle),
       put_format(s, format, channels))
GETTER(cuTexRefGetMipmapLevelClamp, (float *least, float *most, CUtexref handle),
       put_clamp(&s->desc.texture, least, most))
/* Four floats, whatever the format is. */
GETTER(cuTexRefGetBorderColor, (float *out, CUtexref handle),
       SOFT_TRY(soft_need(out, "pBorderColor"));
       memcpy(out, s->desc.texture.borderColor, 4 * sizeof(*out)))
