// SPDX-License-Identifier: Apache-2.0
/* Arrays: memory in an order of its own, with channels of one format.
 *
 * They can be made, described and copied; mipmapped ones have several levels, each an array.
 */
#include "softcuda/runtime/arrays.h"
#include "softcuda/runtime/copies.h"

/* Kinds of a channel, as cudaChannelFormatKind counts them. */
enum { KIND_SIGNED = 0, KIND_UNSIGNED = 1, KIND_FLOAT = 2, KIND_NONE = 3 };

/* ---- channels ----------------------------------------------------------------------- */

GPH_API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                           int kind);
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

/* Channels are equally wide: 8, 16 or 32 bits; 1, 2 or 4 of them. */
int rt_channels_to_driver(const struct cudaChannelFormatDesc *from, CUarray_format *out)
{
    const int bits = from->x;
    const int count = 1 + (from->y != 0) + (from->z != 0) + (from->w != 0);
    const int all[4] = {from->x, from->y, from->z, from->w};
    for (int i = 0; i < 4; i++)
        if (all[i] != (i < count ? bits : 0))
            return 0;
    if (count == 3 || (bits != 8 && bits != 16 && bits != 32))
        return 0;
    if (from->f == KIND_FLOAT && bits != 8)
        *out = bits == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    else if (from->f == KIND_UNSIGNED)
        *out = bits == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
               : bits == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
                            : CU_AD_FORMAT_UNSIGNED_INT32;
    else if (from->f == KIND_SIGNED)
        *out = bits == 8    ? CU_AD_FORMAT_SIGNED_INT8
               : bits == 16 ? CU_AD_FORMAT_SIGNED_INT16
                            : CU_AD_FORMAT_SIGNED_INT32;
    else
        return 0;
    return count;
}

struct cudaChannelFormatDesc rt_channels_to_runtime(CUarray_format format, unsigned count)
{
    struct cudaChannelFormatDesc out = {.f = KIND_NONE};
    int bits = 0;
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8: bits = 8, out.f = KIND_UNSIGNED; break;
    case CU_AD_FORMAT_UNSIGNED_INT16: bits = 16, out.f = KIND_UNSIGNED; break;
    case CU_AD_FORMAT_UNSIGNED_INT32: bits = 32, out.f = KIND_UNSIGNED; break;
    case CU_AD_FORMAT_SIGNED_INT8: bits = 8, out.f = KIND_SIGNED; break;
    case CU_AD_FORMAT_SIGNED_INT16: bits = 16, out.f = KIND_SIGNED; break;
    case CU_AD_FORMAT_SIGNED_INT32: bits = 32, out.f = KIND_SIGNED; break;
    case CU_AD_FORMAT_HALF: bits = 16, out.f = KIND_FLOAT; break;
    case CU_AD_FORMAT_FLOAT: bits = 32, out.f = KIND_FLOAT; break;
    default: break;
    }
    out.x = bits;
    out.y = count > 1 ? bits : 0;
    out.z = out.w = count > 2 ? bits : 0;
    return out;
}

/* ---- arrays ------------------------------------------------------------------------- */

/* Heights and depths of 0 say how many dimensions there are. */
cudaError_t rt_array_shape(const struct cudaChannelFormatDesc *channels,
                           struct cudaExtent extent, unsigned flags,
                           CUDA_ARRAY3D_DESCRIPTOR *out)
{
    if (!channels)
        return cudaErrorInvalidValue;
    *out = (CUDA_ARRAY3D_DESCRIPTOR){.Width = extent.width,
                                     .Height = extent.height,
                                     .Depth = extent.depth,
                                     .Flags = flags};
    out->NumChannels = (unsigned)rt_channels_to_driver(channels, &out->Format);
    return out->NumChannels == 0 ? cudaErrorInvalidChannelDescriptor : cudaSuccess;
}

static cudaError_t allocate(const rt_driver *cu, CUarray *out,
                            const struct cudaChannelFormatDesc *channels,
                            struct cudaExtent extent, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    const cudaError_t result =
        out ? rt_array_shape(channels, extent, flags, &shape) : cudaErrorInvalidValue;
    return result != cudaSuccess ? result : (cudaError_t)cu->cuArray3DCreate(out, &shape);
}

static cudaError_t allocate_levels(const rt_driver *cu, CUmipmappedArray *out,
                                   const struct cudaChannelFormatDesc *channels,
                                   struct cudaExtent extent, unsigned levels,
                                   unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    const cudaError_t result =
        out ? rt_array_shape(channels, extent, flags, &shape) : cudaErrorInvalidValue;
    return result != cudaSuccess
               ? result
               : (cudaError_t)cu->cuMipmappedArrayCreate(out, &shape, levels);
}

static cudaError_t release_levels(const rt_driver *cu, CUmipmappedArray array)
{
    return array ? (cudaError_t)cu->cuMipmappedArrayDestroy(array) : cudaSuccess;
}

/* The widest 1-D texture of linear memory, in elements. */
static cudaError_t widest(const rt_driver *cu, size_t *out,
                          const struct cudaChannelFormatDesc *channels, int device)
{
    CUarray_format format;
    const int count = channels ? rt_channels_to_driver(channels, &format) : 0;
    return count == 0 ? cudaErrorInvalidValue
                      : (cudaError_t)cu->cuDeviceGetTexture1DLinearMaxWidth(
                            out, format, (unsigned)count, device);
}

static cudaError_t describe(const rt_driver *cu, struct cudaChannelFormatDesc *channels,
                            struct cudaExtent *extent, unsigned *flags, CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    const CUresult result = cu->cuArray3DGetDescriptor(&shape, array);
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    if (channels)
        *channels = rt_channels_to_runtime(shape.Format, shape.NumChannels);
    if (extent)
        *extent = (struct cudaExtent){shape.Width, shape.Height, shape.Depth};
    if (flags)
        *flags = shape.Flags;
    return cudaSuccess;
}

static cudaError_t release(const rt_driver *cu, CUarray array)
{
    return array ? (cudaError_t)cu->cuArrayDestroy(array) : cudaSuccess;
}

RT_ENTRY(cudaMallocArray,
         (CUarray *, out, const struct cudaChannelFormatDesc *, channels, size_t, width,
          size_t, height, unsigned, flags),
         allocate(cu, out, channels, (struct cudaExtent){width, height, 0}, flags))
RT_ENTRY(cudaMalloc3DArray,
         (CUarray *, out, const struct cudaChannelFormatDesc *, channels,
          struct cudaExtent, extent, unsigned, flags),
         allocate(cu, out, channels, extent, flags))
RT_ENTRY(cudaMallocMipmappedArray,
         (CUmipmappedArray *, out, const struct cudaChannelFormatDesc *, channels,
          struct cudaExtent, extent, unsigned, levels, unsigned, flags),
         allocate_levels(cu, out, channels, extent, levels, flags))
RT_ENTRY(cudaFreeMipmappedArray, (CUmipmappedArray, array), release_levels(cu, array))
RT_ENTRY(cudaGetMipmappedArrayLevel,
         (CUarray *, out, CUmipmappedArray, array, unsigned, level),
         cu->cuMipmappedArrayGetLevel(out, array, level))
RT_ENTRY(cudaArrayGetPlane, (CUarray *, out, CUarray, array, unsigned, plane),
         cu->cuArrayGetPlane(out, array, plane))
RT_ENTRY(cudaArrayGetMemoryRequirements,
         (CUDA_ARRAY_MEMORY_REQUIREMENTS *, out, CUarray, array, int, device),
         cu->cuArrayGetMemoryRequirements(out, array, device))
RT_ENTRY(cudaMipmappedArrayGetMemoryRequirements,
         (CUDA_ARRAY_MEMORY_REQUIREMENTS *, out, CUmipmappedArray, array, int, device),
         cu->cuMipmappedArrayGetMemoryRequirements(out, array, device))
RT_ENTRY(cudaArrayGetSparseProperties,
         (CUDA_ARRAY_SPARSE_PROPERTIES *, out, CUarray, array),
         cu->cuArrayGetSparseProperties(out, array))
RT_ENTRY(cudaMipmappedArrayGetSparseProperties,
         (CUDA_ARRAY_SPARSE_PROPERTIES *, out, CUmipmappedArray, array),
         cu->cuMipmappedArrayGetSparseProperties(out, array))
RT_EARLY(cudaDeviceGetTexture1DLinearMaxWidth,
         (size_t *, out, const struct cudaChannelFormatDesc *, channels, int, device),
         widest(cu, out, channels, device))
RT_ENTRY(cudaFreeArray, (CUarray, array), release(cu, array))
RT_ENTRY(cudaGetChannelDesc, (struct cudaChannelFormatDesc *, out, CUarray, array),
         describe(cu, out, NULL, NULL, array))
RT_ENTRY(cudaArrayGetInfo,
         (struct cudaChannelFormatDesc *, channels, struct cudaExtent *, extent,
          unsigned *, flags, CUarray, array),
         describe(cu, channels, extent, flags, array))

/* ---- copies of rows ------------------------------------------------------------------- */

/* One side of a copy: `array` at byte `x` of row `y`, or memory with a pitch. */
typedef struct side {
    CUarray array;
    void *memory;
    size_t pitch, x, y;
} side;

/* Rows in memory that would lie in each other; of one row a pitch is asked for only if it is
 * there (an H200). */
static cudaError_t check_pitch(const side *memory, size_t width, size_t height)
{
    if (memory->array || width <= memory->pitch || width == 0 || height == 0)
        return cudaSuccess;
    if (height > 1)
        return cudaErrorInvalidPitchValue;
    return memory->pitch == 0 ? cudaSuccess : cudaErrorInvalidValue;
}

/* Widths and positions are in bytes here, also where an array takes part. */
static cudaError_t copy_area(const rt_driver *cu, side to, side from, size_t width,
                             size_t height, int kind, CUstream stream, bool waits)
{
    struct cudaMemcpy3DParms probe = {.kind = (enum cudaMemcpyKind)kind,
                                      .srcPtr = {from.memory, from.pitch, width, height},
                                      .dstPtr = {to.memory, to.pitch, width, height},
                                      .extent = {width, height, 1}};
    CUDA_MEMCPY3D copy;
    cudaError_t result = rt_copy_to_driver(cu, &probe, &copy);
    if (result == cudaSuccess)
        result = check_pitch(from.array ? &to : &from, width, height);
    if (result != cudaSuccess)
        return result;
    if (from.array) {
        copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.srcArray = from.array;
    }
    if (to.array) {
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = to.array;
    }
    copy.srcXInBytes = from.x, copy.srcY = from.y;
    copy.dstXInBytes = to.x, copy.dstY = to.y;
    return (cudaError_t)(waits ? cu->cuMemcpy3D(&copy)
                               : cu->cuMemcpy3DAsync(&copy, stream));
}

#define ARRAY_SIDE(array, x, y) ((side){array, NULL, 0, x, y})
#define MEMORY_SIDE(memory, pitch) ((side){NULL, memory, pitch, 0, 0})

RT_TWINS(cudaMemcpy2DToArray, _ptds,
         (CUarray, to, size_t, x, size_t, y, void *, from, size_t, pitch, size_t, width,
          size_t, height, int, kind),
         copy_area(cu, ARRAY_SIDE(to, x, y), MEMORY_SIDE(from, pitch), width, height,
                   kind, NULL, true))
RT_TWINS(cudaMemcpy2DToArrayAsync, _ptsz,
         (CUarray, to, size_t, x, size_t, y, void *, from, size_t, pitch, size_t, width,
          size_t, height, int, kind, CUstream, stream),
         copy_area(cu, ARRAY_SIDE(to, x, y), MEMORY_SIDE(from, pitch), width, height,
                   kind, stream, false))
RT_TWINS(cudaMemcpy2DFromArray, _ptds,
         (void *, to, size_t, pitch, CUarray, from, size_t, x, size_t, y, size_t, width,
          size_t, height, int, kind),
         copy_area(cu, MEMORY_SIDE(to, pitch), ARRAY_SIDE(from, x, y), width, height,
                   kind, NULL, true))
RT_TWINS(cudaMemcpy2DFromArrayAsync, _ptsz,
         (void *, to, size_t, pitch, CUarray, from, size_t, x, size_t, y, size_t, width,
          size_t, height, int, kind, CUstream, stream),
         copy_area(cu, MEMORY_SIDE(to, pitch), ARRAY_SIDE(from, x, y), width, height,
                   kind, stream, false))
RT_TWINS(cudaMemcpy2DArrayToArray, _ptds,
         (CUarray, to, size_t, to_x, size_t, to_y, CUarray, from, size_t, from_x, size_t,
          from_y, size_t, width, size_t, height, int, kind),
         copy_area(cu, ARRAY_SIDE(to, to_x, to_y), ARRAY_SIDE(from, from_x, from_y),
                   width, height, kind, NULL, true))
/* ---- copies of a run: from a place in a row on, over as many rows as it takes ----------- */

/* A run of `bytes` in memory, and where it lies in an array. */
typedef struct run {
    CUarray array;
    size_t x, y;
    char *memory;
    size_t bytes;
    int kind;
    bool reads; /* the array */
} run;

/* Rows from byte `done` of the run on. */
static cudaError_t copy_piece(const rt_driver *cu, const run *of, size_t done,
                              size_t width, size_t height, CUstream stream, bool waits)
{
    size_t row = 0;
    const cudaError_t known = rt_row_bytes(cu, of->array, &row);
    if (known != cudaSuccess || width == 0 || height == 0)
        return known;
    const size_t place = of->y * row + of->x + done;
    const side array = ARRAY_SIDE(of->array, place % row, place / row);
    const side memory = MEMORY_SIDE(of->memory + done, width);
    return of->reads
               ? copy_area(cu, memory, array, width, height, of->kind, stream, waits)
               : copy_area(cu, array, memory, width, height, of->kind, stream, waits);
}

/* The rest of the first row, whole rows, the beginning of the last. */
static cudaError_t copy_run(const rt_driver *cu, run of, CUstream stream, bool waits)
{
    size_t row = 0;
    cudaError_t result = rt_row_bytes(cu, of.array, &row);
    if (result != cudaSuccess)
        return result;
    const size_t rest = of.x % row == 0 ? 0 : row - of.x % row;
    const size_t first = of.bytes < rest ? of.bytes : rest;
    const size_t rows = (of.bytes - first) / row;
    const size_t last = of.bytes - first - rows * row;
    result = copy_piece(cu, &of, 0, first, 1, stream, waits);
    if (result == cudaSuccess)
        result = copy_piece(cu, &of, first, row, rows, stream, waits);
    if (result == cudaSuccess)
        result = copy_piece(cu, &of, first + rows * row, last, 1, stream, waits);
    return result;
}

#define TO_RUN ((run){to, x, y, from, bytes, kind, false})
#define FROM_RUN ((run){from, x, y, to, bytes, kind, true})

RT_TWINS(cudaMemcpyToArray, _ptds,
         (CUarray, to, size_t, x, size_t, y, char *, from, size_t, bytes, int, kind),
         copy_run(cu, TO_RUN, NULL, true))
RT_TWINS(cudaMemcpyFromArray, _ptds,
         (char *, to, CUarray, from, size_t, x, size_t, y, size_t, bytes, int, kind),
         copy_run(cu, FROM_RUN, NULL, true))
RT_TWINS(cudaMemcpyToArrayAsync, _ptsz,
         (CUarray, to, size_t, x, size_t, y, char *, from, size_t, bytes, int, kind,
          CUstream, stream),
         copy_run(cu, TO_RUN, stream, false))
RT_TWINS(cudaMemcpyFromArrayAsync, _ptsz,
         (char *, to, CUarray, from, size_t, x, size_t, y, size_t, bytes, int, kind,
          CUstream, stream),
         copy_run(cu, FROM_RUN, stream, false))
RT_TWINS(cudaMemcpyArrayToArray, _ptds,
         (CUarray, to, size_t, to_x, size_t, to_y, CUarray, from, size_t, from_x, size_t,
          from_y, size_t, bytes, int, kind),
         copy_area(cu, ARRAY_SIDE(to, to_x, to_y), ARRAY_SIDE(from, from_x, from_y),
                   bytes, 1, kind, NULL, true))
