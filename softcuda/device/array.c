// SPDX-License-Identifier: Apache-2.0
/* CUarray as pitched device memory, mipmapped arrays as arrays. */
#include "softcuda/device/array.h"

#include <pthread.h>

#include "softcuda/device/alloc.h"
#include "softcuda/kernel/run/texture.h"
#include "softcuda/memory/memory.h"

#define ROW_UNIT 256

struct array {
    CUDA_ARRAY3D_DESCRIPTOR desc;
    struct soft_memory *memory;
    uint64_t base;
    size_t pitch, row_bytes, rows;
    bool is_level; /* of a mipmapped array, which owns it */
    bool is_view;  /* in memory that is not its own */
    struct array *next, *before;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct array *arrays; /* all of the process; under the lock */

struct levels {
    unsigned count;
    uint64_t external; /* where the levels lie, in external memory; 0: each by itself */
    struct soft_memory *memory;
    struct array *array[SOFT_TEXTURE_LEVELS];
};

/* Of the formats that copies of softcuda know; 0 for the others. */
unsigned soft_format_bytes(CUarray_format format)
{
    switch ((int)format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

size_t soft_array_element_bytes(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    return (size_t)desc->NumChannels * soft_format_bytes(desc->Format);
}

#define SHAPES                                                                           \
    (unsigned)(CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_SURFACE_LDST | \
               CUDA_ARRAY3D_TEXTURE_GATHER)

/* What an H200 has besides; it refuses attachments and depth textures. */
#define OTHERS                                                                           \
    (unsigned)(CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING |                     \
               CUDA_ARRAY3D_VIDEO_ENCODE_DECODE)

/* The largest of a kind, as an H100 has them; of a dimension that it lacks 0. */
struct bounds {
    bool (*is)(const CUDA_ARRAY3D_DESCRIPTOR *d);
    size_t width, height, depth;
};

static bool is_layered_row(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return (d->Flags & CUDA_ARRAY3D_LAYERED) != 0 && d->Height == 0;
}
static bool is_layered(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return (d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
}
static bool gathers(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return (d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0;
}
static bool is_stored_row(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return (d->Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0 && d->Height == 0;
}
static bool is_flat(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return d->Depth == 0;
}
static bool is_any(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    (void)d;
    return true;
}

/* What no array can be. */
static CUresult check_bounds(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    static const struct bounds all[] = {
        {is_layered_row, 32768, 0, 2048}, {is_layered, 32768, 32768, 2048},
        {gathers, 32768, 32768, 0},       {is_stored_row, 32768, 0, 0},
        {is_flat, 131072, 65536, 0},      {is_any, 16384, 16384, 32768}};
    const struct bounds *b = all;
    while (!b->is(d))
        b++;
    if (d->Width > b->width || d->Height > b->height || d->Depth > b->depth)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "an array of %zu x %zu x %zu exceeds %zu x %zu x %zu", d->Width,
                         d->Height, d->Depth, b->width, b->height, b->depth);
    return CUDA_SUCCESS;
}

/* Layers need to be some, faces squares in sixes, gathers two dimensions. */
static CUresult check_shape(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const bool cube = (d->Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
    const bool layers = (d->Flags & CUDA_ARRAY3D_LAYERED) != 0;
    if (d->Width == 0 || (d->Depth != 0 && d->Height == 0 && !layers))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "an array of %zu x %zu x %zu",
                         d->Width, d->Height, d->Depth);
    if (layers && d->Depth == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a layered array without layers");
    if (cube && (d->Width != d->Height || d->Depth == 0 ||
                 (layers ? d->Depth % 6 != 0 : d->Depth != 6)))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "a cube map of %zu x %zu with %zu faces", d->Width, d->Height,
                         d->Depth);
    if (gathers(d) && (d->Height == 0 || d->Depth != 0))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "an array for gathers of %zu x %zu x %zu: they need two "
                         "dimensions",
                         d->Width, d->Height, d->Depth);
    return check_bounds(d);
}

/* What no array can be is INVALID_VALUE, what softcuda lacks NOT_SUPPORTED. */
static CUresult check(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    if (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "an array of %u channels, not 1, 2, 4",
                         d->NumChannels);
    if (d->Format == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "an array of format 0");
    if (soft_format_bytes(d->Format) == 0)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "arrays of format 0x%x are not built",
                         (unsigned)d->Format);
    if ((d->Flags & ~(SHAPES | OTHERS)) != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "array flags 0x%x", d->Flags);
    if ((d->Flags & OTHERS) != 0)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "array flags 0x%x are not built",
                         d->Flags);
    return check_shape(d);
}

/* Rows begin at multiples of ROW_UNIT, as a GPU lays out linear arrays. Returns all bytes. */
static uint64_t lay_out(const CUDA_ARRAY3D_DESCRIPTOR *desc, struct array *array)
{
    array->desc = *desc;
    array->row_bytes = desc->Width * desc->NumChannels * soft_format_bytes(desc->Format);
    array->pitch = (array->row_bytes + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT;
    array->rows = desc->Height ? desc->Height : 1;
    return array->pitch * array->rows * (desc->Depth ? desc->Depth : 1);
}

static CUresult free_memory(const struct array *array)
{
    return array->is_view
               ? CUDA_SUCCESS
               : soft_pass(soft_memory_free(array->memory, array->base, soft_error()));
}

static void enlist(struct array *array)
{
    pthread_mutex_lock(&lock);
    array->next = arrays;
    if (arrays)
        arrays->before = array;
    arrays = array;
    pthread_mutex_unlock(&lock);
}

static void delist(struct array *array)
{
    pthread_mutex_lock(&lock);
    *(array->before ? &array->before->next : &arrays) = array->next;
    if (array->next)
        array->next->before = array->before;
    pthread_mutex_unlock(&lock);
}

/* At `view`; 0: in memory of its own. */
static CUresult create(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                       uint64_t view, CUarray *out)
{
    struct array *array = soft_new(sizeof(*array));
    SOFT_TRY(soft_made(array, "no memory for an array"));
    array->memory = context->device->memory;
    array->is_view = view != 0;
    array->base = view;
    const uint64_t bytes = lay_out(desc, array);
    CUresult status = CUDA_SUCCESS;
    if (!array->is_view)
        status = soft_pass(soft_memory_alloc(array->memory, SOFT_MEMORY_DEVICE, bytes, 0,
                                             context, &array->base, soft_error()));
    if (status == CUDA_SUCCESS) {
        status = soft_handle_add(array, SOFT_KIND_ARRAY);
        if (status != CUDA_SUCCESS && free_memory(array) != CUDA_SUCCESS)
            soft_log(CU_LOG_LEVEL_WARNING, "%s", soft_error_text());
    }
    if (status != CUDA_SUCCESS) {
        soft_delete(array);
        return status;
    }
    enlist(array);
    *out = (CUarray)array;
    return CUDA_SUCCESS;
}

CUresult soft_array_create(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                           CUarray *out)
{
    SOFT_TRY(check(desc));
    return create(context, desc, 0, out);
}

static SOFT_FINDER(find, CUarray, struct array, SOFT_KIND_ARRAY,
                   CUDA_ERROR_INVALID_HANDLE, "array")

    static CUresult destroy(struct array *array)
{
    if (!soft_handle_remove(array, SOFT_KIND_ARRAY))
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "%p: not an array", (void *)array);
    delist(array);
    const CUresult status = free_memory(array);
    soft_delete(array);
    return status;
}

CUresult soft_array_destroy(CUarray handle)
{
    struct array *array;
    SOFT_TRY(find(handle, &array));
    return array->is_level ? CUDA_SUCCESS : destroy(array);
}

/* As it was created, with heights and depths of 0. */
CUresult soft_array_describe(CUarray handle, CUDA_ARRAY3D_DESCRIPTOR *out)
{
    struct array *array;
    SOFT_TRY(find(handle, &array));
    *out = array->desc;
    return CUDA_SUCCESS;
}

/* Where it begins, the bytes from row to row and the rows of a plane. */
CUresult soft_array_place(CUarray handle, uint64_t *base, size_t *pitch, size_t *rows)
{
    struct array *array;
    SOFT_TRY(find(handle, &array));
    *base = array->base;
    *pitch = array->pitch;
    *rows = array->rows;
    return CUDA_SUCCESS;
}

CUarray soft_array_holding(uint64_t address, size_t at[3])
{
    pthread_mutex_lock(&lock);
    struct array *array = arrays;
    for (; array; array = array->next) {
        const size_t depth = array->desc.Depth ? array->desc.Depth : 1;
        const uint64_t offset = address - array->base;
        if (offset >= array->pitch * array->rows * depth)
            continue;
        at[0] = offset % array->pitch;
        at[1] = offset / array->pitch % array->rows;
        at[2] = offset / array->pitch / array->rows;
        break;
    }
    pthread_mutex_unlock(&lock);
    return (CUarray)array;
}

/* In bytes, rows and planes. */
CUresult soft_array_check(CUarray handle, const size_t from[3], const size_t extent[3])
{
    struct array *array;
    SOFT_TRY(find(handle, &array));
    const size_t has[3] = {array->row_bytes, array->rows,
                           array->desc.Depth ? array->desc.Depth : 1};
    for (int i = 0; i < 3; i++)
        if (from[i] > has[i] || extent[i] > has[i] - from[i])
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "%zu %s from %zu on: the array has %zu", extent[i],
                             i == 0   ? "bytes"
                             : i == 1 ? "rows"
                                      : "planes",
                             from[i], has[i]);
    return CUDA_SUCCESS;
}

/* ---- mipmapped arrays ---------------------------------------------------------------- */

static size_t halved(size_t size, unsigned level)
{
    return size == 0 ? 0 : size >> level ? size >> level : 1;
}

/* Halvings until every dimension but layers is 1. */
static unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    size_t most = d->Width > d->Height ? d->Width : d->Height;
    if (!is_layered(d) && d->Depth > most)
        most = d->Depth;
    unsigned levels = 1;
    while (most >> levels != 0 && levels < SOFT_TEXTURE_LEVELS)
        levels++;
    return levels;
}

static CUresult drop_levels(struct levels *levels)
{
    CUresult status = CUDA_SUCCESS;
    for (unsigned i = 0; i < levels->count; i++) {
        const CUresult one = destroy(levels->array[i]);
        status = status == CUDA_SUCCESS ? one : status;
    }
    if (levels->external) {
        const CUresult one =
            soft_pass(soft_memory_free(levels->memory, levels->external, soft_error()));
        status = status == CUDA_SUCCESS ? one : status;
    }
    soft_delete(levels);
    return status;
}

static unsigned count_of(const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned count)
{
    const unsigned most = most_levels(desc);
    return count == 0 ? 1 : count > most ? most : count;
}

static CUDA_ARRAY3D_DESCRIPTOR level_of(const CUDA_ARRAY3D_DESCRIPTOR *desc,
                                        unsigned level)
{
    CUDA_ARRAY3D_DESCRIPTOR one = *desc;
    one.Width = halved(desc->Width, level);
    one.Height = halved(desc->Height, level);
    if (!is_layered(desc))
        one.Depth = halved(desc->Depth, level);
    return one;
}

/* In memory of their own, or one after the other from `view` on. */
static CUresult create_levels(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                              unsigned count, uint64_t view, CUmipmappedArray *out)
{
    struct levels *levels = soft_new(sizeof(*levels));
    SOFT_TRY(soft_made(levels, "no memory for a mipmapped array"));
    CUresult status = CUDA_SUCCESS;
    uint64_t at = view;
    count = count_of(desc, count);
    while (levels->count < count && status == CUDA_SUCCESS) {
        const CUDA_ARRAY3D_DESCRIPTOR one = level_of(desc, levels->count);
        struct array unused;
        CUarray array;
        status = create(context, &one, at, &array);
        if (view)
            at += lay_out(&one, &unused);
        if (status == CUDA_SUCCESS) {
            levels->array[levels->count] = (struct array *)array;
            levels->array[levels->count++]->is_level = true;
        }
    }
    if (status == CUDA_SUCCESS)
        status = soft_handle_add(levels, SOFT_KIND_LEVELS);
    if (status != CUDA_SUCCESS) {
        (void)drop_levels(levels);
        return status;
    }
    levels->external = view;
    levels->memory = context->device->memory;
    *out = (CUmipmappedArray)levels;
    return CUDA_SUCCESS;
}

CUresult soft_levels_create(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                            unsigned count, CUmipmappedArray *out)
{
    SOFT_TRY(check(desc));
    return create_levels(context, desc, count, 0, out);
}

CUresult soft_levels_bytes(const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned count,
                           uint64_t *out)
{
    uint64_t bytes = 0;
    SOFT_TRY(check(desc));
    for (unsigned i = 0; i < count_of(desc, count); i++) {
        const CUDA_ARRAY3D_DESCRIPTOR one = level_of(desc, i);
        struct array unused;
        bytes += lay_out(&one, &unused);
    }
    *out = bytes;
    return CUDA_SUCCESS;
}

CUresult soft_levels_view(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                          unsigned count, uint64_t address, CUmipmappedArray *out)
{
    return create_levels(context, desc, count, address, out);
}

static SOFT_FINDER(find_levels, CUmipmappedArray, struct levels, SOFT_KIND_LEVELS,
                   CUDA_ERROR_INVALID_HANDLE, "mipmapped array")

    CUresult soft_levels_destroy(CUmipmappedArray handle)
{
    struct levels *levels;
    SOFT_TRY(find_levels(handle, &levels));
    if (!soft_handle_remove(levels, SOFT_KIND_LEVELS))
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "%p: not a mipmapped array",
                         (void *)handle);
    return drop_levels(levels);
}

CUresult soft_levels_get(CUmipmappedArray handle, unsigned level, CUarray *out,
                         unsigned *count)
{
    struct levels *levels;
    SOFT_TRY(find_levels(handle, &levels));
    if (level >= levels->count)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "level %u of %u", level,
                         levels->count);
    *out = (CUarray)levels->array[level];
    if (count)
        *count = levels->count;
    return CUDA_SUCCESS;
}
