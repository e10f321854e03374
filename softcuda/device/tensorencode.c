// SPDX-License-Identifier: Apache-2.0
/* The rules of cuTensorMapEncode...() as an H200 has them (driver 580): of CUDA's description
 * it does not ask for a map's alignment, nor for the swizzle of 32 bytes with interleaving;
 * it does ask for whole 16 bytes where there is interleaving, too, for a stride of the first
 * dimension that means nothing, and for strides where there are none. */
#include "softcuda/device/tensorencode.h"

#include <string.h>

#include "softcuda/device/driver.h"
#include "softcuda/kernel/run/tensormap.h"

#define SIZE_MAX_OF_TENSOR (1ull << 32)
#define STRIDE_END (1ull << 40)
#define BOX_MAX 256u
#define PIXELS_MAX 1024u
#define STEP_MAX 8u
#define ADDRESS_END (1ull << 57)
#define BOX_BYTES_MAX (228ull << 10) /* shared memory of a multiprocessor */
#define PACKED_BOX 128u /* elements, of the types that are spread to 16 bytes */

_Static_assert(sizeof(soft_tensor_map) <= sizeof(CUtensorMap) &&
                   sizeof(soft_tensor_map) % 8 == 0,
               "ptx_rt_tensor() reads it in words of 8 bytes");

#define REFUSE(...) soft_fail(CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)

/* The two packed types whose 16 elements take 16 bytes in shared memory. */
static bool is_spread(CUtensorMapDataType type)
{
    return type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B ||
           type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
}

static bool is_float(CUtensorMapDataType type)
{
    return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 &&
           type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

/* Bits of one element in memory. */
static uint64_t bits_of(CUtensorMapDataType type)
{
    const uint32_t bytes = soft_tensor_element((uint32_t)type);
    return bytes ? 8ull * bytes : type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B ? 6 : 4;
}

static CUresult check_words(const soft_tensor_desc *d)
{
    if ((unsigned)d->type > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B)
        return REFUSE("%d is not a type of tensors", (int)d->type);
    if ((unsigned)d->interleave > CU_TENSOR_MAP_INTERLEAVE_32B)
        return REFUSE("%d is not a way of interleaving", (int)d->interleave);
    if ((unsigned)d->swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B)
        return REFUSE("%d is not a swizzle", (int)d->swizzle);
    if ((unsigned)d->promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
        return REFUSE("%d is not an L2 promotion", (int)d->promotion);
    if ((unsigned)d->fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return REFUSE("%d is not a fill", (int)d->fill);
    if (d->fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && !is_float(d->type))
        return REFUSE("NaN as the fill of type %d, which is not a floating-point type",
                      (int)d->type);
    const bool is_new = soft_compute_capability() >= 100;
    if (!is_new && (soft_tensor_element((uint32_t)d->type) == 0 ||
                    d->swizzle > CU_TENSOR_MAP_SWIZZLE_128B))
        return REFUSE("type %d with swizzle %d needs compute capability 10.0",
                      (int)d->type, (int)d->swizzle);
    return CUDA_SUCCESS;
}

static CUresult check_sizes(const soft_tensor_desc *d)
{
    const uint64_t unit = is_spread(d->type)                                ? PACKED_BOX
                          : d->type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B ? 2
                                                                            : 1;
    for (uint32_t i = 0; i < d->rank; i++)
        if (d->sizes[i] == 0 || d->sizes[i] > SIZE_MAX_OF_TENSOR)
            return REFUSE("globalDim[%u] is %llu, not 1 ... 2^32", i,
                          (unsigned long long)d->sizes[i]);
    if (d->sizes[0] % unit != 0)
        return REFUSE("globalDim[0] is %llu, not a multiple of %llu",
                      (unsigned long long)d->sizes[0], (unsigned long long)unit);
    return CUDA_SUCCESS;
}

static CUresult check_places(const soft_tensor_desc *d)
{
    const uint64_t address = (uint64_t)(uintptr_t)d->address;
    const uint64_t unit =
        d->interleave == CU_TENSOR_MAP_INTERLEAVE_32B || is_spread(d->type) ? 32 : 16;
    if (address % unit != 0 || address >= ADDRESS_END)
        return REFUSE("globalAddress 0x%llx is not a multiple of %llu below 2^57",
                      (unsigned long long)address, (unsigned long long)unit);
    for (uint32_t i = 0; i + 1 < d->rank; i++) {
        const uint64_t stride = d->strides[i];
        if (stride % unit != 0 || stride >= STRIDE_END)
            return REFUSE("globalStrides[%u] is %llu, not a multiple of %llu below 2^40",
                          i, (unsigned long long)stride, (unsigned long long)unit);
    }
    for (uint32_t i = 0; i < d->rank; i++)
        if (d->steps[i] == 0 || d->steps[i] > STEP_MAX)
            return REFUSE("elementStrides[%u] is %u, not 1 ... 8", i, d->steps[i]);
    return CUDA_SUCCESS;
}

/* The box along the first dimension, which lies in shared memory as it is. */
static CUresult check_inner(const soft_tensor_desc *d, uint64_t count, const char *name)
{
    static const uint32_t spans[] = {0, 32, 64, 128, 128, 128, 128};
    const uint64_t bytes = count * bits_of(d->type) / 8;
    if (is_spread(d->type) && count != PACKED_BOX)
        return REFUSE("%s is %llu, not 128", name, (unsigned long long)count);
    if (bytes % 16 != 0)
        return REFUSE("%s is %llu bytes, not a multiple of 16", name,
                      (unsigned long long)bytes);
    if (d->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE &&
        d->swizzle != CU_TENSOR_MAP_SWIZZLE_NONE && bytes > spans[d->swizzle])
        return REFUSE("%s is %llu bytes, more than the swizzle's %u", name,
                      (unsigned long long)bytes, spans[d->swizzle]);
    return CUDA_SUCCESS;
}

static CUresult check_all(const soft_tensor_desc *d, uint32_t least,
                          const CUtensorMap *out)
{
    if (soft_compute_capability() < 90)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "tensor maps need compute capability 9.0, not %d.%d",
                         soft_compute_capability() / 10, soft_compute_capability() % 10);
    SOFT_TRY(soft_need(out, "tensorMap"));
    SOFT_TRY(soft_need(d->sizes, "globalDim"));
    SOFT_TRY(soft_need(d->steps, "elementStrides"));
    if (d->rank < least || d->rank > PTX_TENSOR_RANK_MAX)
        return REFUSE("%u dimensions, not %u ... 5", d->rank, least);
    SOFT_TRY(soft_need(d->strides, "globalStrides"));
    SOFT_TRY(check_words(d));
    SOFT_TRY(check_sizes(d));
    return check_places(d);
}

static soft_tensor_map map_of(const soft_tensor_desc *d, soft_tensor_kind kind)
{
    soft_tensor_map map;
    memset(&map, 0, sizeof(map));
    map.mark = SOFT_TENSOR_MARK;
    map.kind = (uint8_t)kind;
    map.type = (uint8_t)d->type;
    map.rank = (uint8_t)d->rank;
    map.interleave = (uint8_t)d->interleave;
    map.swizzle = (uint8_t)d->swizzle;
    map.promotion = (uint8_t)d->promotion;
    map.fill = (uint8_t)d->fill;
    map.address = (uint64_t)(uintptr_t)d->address;
    for (uint32_t i = 0; i < d->rank; i++) {
        map.last[i] = (uint32_t)(d->sizes[i] - 1);
        map.step[i] = (uint8_t)d->steps[i];
        if (i != 0)
            map.stride[i - 1] = d->strides[i - 1];
    }
    return map;
}

/* CUDA's type is aligned, but an H200 takes a map anywhere: by bytes. */
static void keep(const soft_tensor_map *map, CUtensorMap *out)
{
    unsigned char *bytes = (unsigned char *)out;
    memset(bytes, 0, sizeof(*out));
    memcpy(bytes, map, sizeof(*map));
}

CUresult soft_tensor_encode_tiled(const soft_tensor_desc *desc, const cuuint32_t *box,
                                  CUtensorMap *out)
{
    uint64_t bytes = bits_of(desc->type) / 8;
    const bool is_interleaved = desc->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE;
    SOFT_TRY(soft_need(box, "boxDim"));
    SOFT_TRY(check_all(desc, is_interleaved ? 3 : 1, out));
    for (uint32_t i = 0; i < desc->rank; i++)
        if (box[i] == 0 || box[i] > BOX_MAX)
            return REFUSE("boxDim[%u] is %u, not 1 ... 256", i, box[i]);
    for (uint32_t i = 0; i < desc->rank && bytes <= BOX_BYTES_MAX; i++)
        bytes *=
            (box[i] + (i == 0 ? 0 : desc->steps[i] - 1)) / (i == 0 ? 1 : desc->steps[i]);
    if (bytes > BOX_BYTES_MAX)
        return REFUSE("a box of more than %llu bytes", BOX_BYTES_MAX);
    SOFT_TRY(check_inner(desc, box[0], "boxDim[0]"));
    soft_tensor_map map = map_of(desc, SOFT_TENSOR_TILED);
    for (uint32_t i = 0; i < desc->rank; i++)
        map.box[i] = (uint16_t)box[i];
    keep(&map, out);
    return CUDA_SUCCESS;
}

/* Corners have 16 bits altogether. */
static CUresult check_corners(const soft_tensor_desc *d, const soft_tensor_pixels *p,
                              uint32_t count)
{
    static const int limits[] = {0, 32768, 128, 16};
    const int limit = limits[d->rank - 2];
    /* W is the first dimension where channels are interleaved, else the second. */
    const uint32_t first = d->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? 1 : 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t size = d->sizes[first + i];
        if (p->lower[i] < -limit || p->lower[i] >= limit || p->upper[i] < -limit ||
            p->upper[i] >= limit)
            return REFUSE("corners %d and %d of dimension %u, not %d ... %d", p->lower[i],
                          p->upper[i], first + i, -limit, limit - 1);
        if ((int64_t)size + p->upper[i] - p->lower[i] <= 0)
            return REFUSE("corners %d and %d leave nothing of the %llu of dimension %u",
                          p->lower[i], p->upper[i], (unsigned long long)size, first + i);
    }
    return CUDA_SUCCESS;
}

static CUresult encode_pixels(const soft_tensor_desc *desc, const soft_tensor_pixels *p,
                              uint32_t corners, soft_tensor_map *map)
{
    SOFT_TRY(check_corners(desc, p, corners));
    if (p->channels == 0 || p->channels > BOX_MAX || p->pixels == 0 ||
        p->pixels > PIXELS_MAX)
        return REFUSE("%u channels of %u pixels, not 1 ... 256 of 1 ... 1024",
                      p->channels, p->pixels);
    SOFT_TRY(check_inner(desc, p->channels, "channelsPerPixel"));
    for (uint32_t i = 0; i < corners; i++) {
        map->lower[i] = (int16_t)p->lower[i];
        map->upper[i] = (int16_t)p->upper[i];
    }
    map->channels = (uint16_t)p->channels;
    map->pixels = (uint16_t)p->pixels;
    return CUDA_SUCCESS;
}

CUresult soft_tensor_encode_im2col(const soft_tensor_desc *desc,
                                   const soft_tensor_pixels *pixels, CUtensorMap *out)
{
    SOFT_TRY(soft_need(pixels->lower, "pixelBoxLowerCorner"));
    SOFT_TRY(soft_need(pixels->upper, "pixelBoxUpperCorner"));
    SOFT_TRY(check_all(desc, 3, out));
    soft_tensor_map map = map_of(desc, SOFT_TENSOR_IM2COL);
    SOFT_TRY(encode_pixels(desc, pixels, desc->rank - 2, &map));
    if ((uint64_t)pixels->channels * pixels->pixels * bits_of(desc->type) / 8 >
        BOX_BYTES_MAX)
        return REFUSE("%u channels of %u pixels are more than %llu bytes",
                      pixels->channels, pixels->pixels, BOX_BYTES_MAX);
    keep(&map, out);
    return CUDA_SUCCESS;
}

CUresult soft_tensor_encode_wide(const soft_tensor_desc *desc,
                                 const soft_tensor_pixels *pixels,
                                 CUtensorMapIm2ColWideMode mode, CUtensorMap *out)
{
    SOFT_TRY(check_all(desc, 3, out));
    if ((unsigned)mode > CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128)
        return REFUSE("%d is not a wide mode", (int)mode);
    soft_tensor_map map = map_of(desc, SOFT_TENSOR_WIDE);
    SOFT_TRY(encode_pixels(desc, pixels, 1, &map));
    map.mode = (uint8_t)mode;
    keep(&map, out);
    return CUDA_SUCCESS;
}

CUresult soft_tensor_replace(CUtensorMap *map, void *address)
{
    SOFT_TRY(soft_need(map, "tensorMap"));
    unsigned char *bytes = (unsigned char *)map; /* as in keep() */
    soft_tensor_map made;
    memcpy(&made, bytes, sizeof(made));
    if (made.mark != SOFT_TENSOR_MARK)
        return REFUSE("what is at %p was not made by cuTensorMapEncode...()",
                      (void *)map);
    if (!address || (uint64_t)(uintptr_t)address % 16 != 0 ||
        (uint64_t)(uintptr_t)address >= ADDRESS_END)
        return REFUSE("globalAddress %p is not a multiple of 16 below 2^57, or NULL",
                      address);
    made.address = (uint64_t)(uintptr_t)address;
    memcpy(bytes, &made, sizeof(made));
    return CUDA_SUCCESS;
}
