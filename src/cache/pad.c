// SPDX-License-Identifier: Apache-2.0
/* Copies and fills of boxes, in as few driver calls as their shape allows.
 *
 *   dimensions   [4][3][8 of 16]      a box of a tensor with gaps
 *   collapsed    rows of 8, height 12 one 2D copy, if both tensors step alike
 *   else         a loop over what is left, the innermost first: an odometer
 *
 * A driver call costs microseconds and padding is mostly a tail of the outermost
 * dimension, which collapses to a single row. Fills with the last slice double what is
 * there, so n slices take log2(n) copies. */
#include "cache/pad.h"
#include "base/fail.h"
#include "cache/layout.h"
#include "cuda/status.h"

#include <string.h>

/* What is left of a box once rows are made: loops, the innermost first. */
struct level {
    uint64_t count;
    uint64_t step_a, step_b; /* bytes */
};

/* Merges dimensions that follow each other in both tensors. Returns the levels. */
static uint32_t collapse(const gph_tensor *a, const gph_tensor *b, const int64_t *counts,
                         struct level *levels, uint64_t *width)
{
    const uint64_t element = gphi_dtype_bytes(a->dtype);
    uint32_t used = 0;
    *width = element;
    for (uint32_t d = a->rank; d-- > 0;) {
        const struct level next = {(uint64_t)counts[d], (uint64_t)a->stride[d] * element,
                                   (uint64_t)b->stride[d] * element};
        struct level *last = used > 0 ? &levels[used - 1] : NULL;
        if (next.count == 1)
            continue;
        if (!last && next.step_a == *width && next.step_b == *width)
            *width *= next.count;
        else if (last && next.step_a == last->step_a * last->count &&
                 next.step_b == last->step_b * last->count)
            last->count *= next.count;
        else
            levels[used++] = next;
    }
    return used;
}

gph_status gphi_pad_walk(const gph_tensor *a, const gph_tensor *b, const int64_t *counts,
                         gphi_rows_fn *each, void *user, gph_error *error)
{
    struct level levels[GPH_TENSOR_RANK_MAX];
    uint64_t at[GPH_TENSOR_RANK_MAX] = {0};
    struct gphi_rows rows = {.height = 1};
    for (uint32_t d = 0; d < a->rank; d++)
        if (counts[d] <= 0)
            return GPH_OK;
    const uint32_t used = collapse(a, b, counts, levels, &rows.width);
    if (used > 0) {
        rows.height = levels[0].count;
        rows.pitch_a = levels[0].step_a;
        rows.pitch_b = levels[0].step_b;
    }
    for (;;) {
        GPHI_TRY(each(user, &rows, error));
        uint32_t l = 1;
        for (; l < used; l++) { /* an odometer */
            rows.offset_a += levels[l].step_a;
            rows.offset_b += levels[l].step_b;
            if (++at[l] < levels[l].count)
                break;
            rows.offset_a -= levels[l].step_a * levels[l].count;
            rows.offset_b -= levels[l].step_b * levels[l].count;
            at[l] = 0;
        }
        if (l >= used)
            return GPH_OK;
    }
}

struct work {
    const gph_runtime *runtime;
    CUdeviceptr to, from;
    CUstream stream;
    uint64_t value;
    uint32_t element; /* bytes; 0: fill with zero bytes */
};

/* Unified addresses, so that the driver finds out where each side lies: a caller's input may
 * be on another device. */
static gph_status copy_rows(void *user, const struct gphi_rows *rows, gph_error *error)
{
    const struct work *work = user;
    const gphi_cuda_table *cu = &work->runtime->cu;
    const CUdeviceptr to = work->to + rows->offset_a, from = work->from + rows->offset_b;
    CUresult result = CUDA_SUCCESS;
    if (rows->height == 1) {
        result = cu->cuMemcpyAsync(to, from, rows->width, work->stream);
    } else {
        const CUDA_MEMCPY2D copy = {
            .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
            .srcDevice = from,
            .srcPitch = rows->pitch_b,
            .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
            .dstDevice = to,
            .dstPitch = rows->pitch_a,
            .WidthInBytes = rows->width,
            .Height = rows->height,
        };
        result = cu->cuMemcpy2DAsync(&copy, work->stream);
    }
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result,
                              rows->height == 1 ? "cuMemcpyAsync" : "cuMemcpy2DAsync",
                              "copying %llu rows of %llu bytes from 0x%llx to 0x%llx",
                              (unsigned long long)rows->height,
                              (unsigned long long)rows->width, from, to);
    return GPH_OK;
}

gph_status gphi_pad_copy(const gph_runtime *runtime, const gph_tensor *to,
                         const gph_tensor *from, const int64_t *counts, CUstream stream,
                         gph_error *error)
{
    struct work work = {
        .runtime = runtime, .to = to->data, .from = from->data, .stream = stream};
    return gphi_pad_walk(to, from, counts, copy_rows, &work, error);
}

/* Elements of 8 bytes are two columns of 4, one row an element. */
static CUresult fill_words(const struct work *work, const struct gphi_rows *rows)
{
    const gphi_cuda_table *cu = &work->runtime->cu;
    for (uint64_t y = 0; y < rows->height; y++)
        for (uint32_t half = 0; half < 2; half++) {
            const CUresult result = cu->cuMemsetD2D32Async(
                work->to + rows->offset_a + y * rows->pitch_a + 4 * half, 8,
                (unsigned)(work->value >> (32 * half)), 1, rows->width / 8, work->stream);
            if (result != CUDA_SUCCESS)
                return result;
        }
    return CUDA_SUCCESS;
}

static gph_status fill_rows(void *user, const struct gphi_rows *rows, gph_error *error)
{
    const struct work *work = user;
    const gphi_cuda_table *cu = &work->runtime->cu;
    const CUdeviceptr to = work->to + rows->offset_a;
    const bool is_one = rows->height == 1;
    const size_t pitch = is_one ? rows->width : rows->pitch_a, height = rows->height;
    const size_t width = rows->width / (work->element == 0 ? 1 : work->element);
    const CUstream stream = work->stream;
    const unsigned value = (unsigned)work->value;
    CUresult result = CUDA_SUCCESS;
    switch (work->element) {
    case 8: result = fill_words(work, rows); break;
    case 4:
        result = is_one ? cu->cuMemsetD32Async(to, value, width, stream)
                        : cu->cuMemsetD2D32Async(to, pitch, value, width, height, stream);
        break;
    case 2:
        result = is_one ? cu->cuMemsetD16Async(to, (unsigned short)value, width, stream)
                        : cu->cuMemsetD2D16Async(to, pitch, (unsigned short)value, width,
                                                 height, stream);
        break;
    default:
        result = is_one ? cu->cuMemsetD8Async(to, (unsigned char)value, width, stream)
                        : cu->cuMemsetD2D8Async(to, pitch, (unsigned char)value, width,
                                                height, stream);
    }
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuMemsetAsync",
                              "filling %llu rows of %llu bytes at 0x%llx",
                              (unsigned long long)height, (unsigned long long)rows->width,
                              to);
    return GPH_OK;
}

/* Repeats slice `real[d] - 1` of dimension d to its end, twice as many each time. */
static gph_status repeat_last(const gph_runtime *runtime, const gph_tensor *tensor,
                              uint32_t d, const int64_t *counts, int64_t real,
                              CUstream stream, gph_error *error)
{
    const uint64_t slice = (uint64_t)tensor->stride[d] * gphi_dtype_bytes(tensor->dtype);
    int64_t box[GPH_TENSOR_RANK_MAX];
    memcpy(box, counts, sizeof(box));
    const int64_t all = counts[d];
    for (int64_t done = 0; done < all;) {
        /* the last real slice, then it and those made of it */
        const int64_t have = done + 1;
        gph_tensor from = *tensor, to = *tensor;
        box[d] = have < all - done ? have : all - done;
        from.data += (uint64_t)(real - 1) * slice;
        to.data += (uint64_t)(real + done) * slice;
        GPHI_TRY(gphi_pad_copy(runtime, &to, &from, box, stream, error));
        done += box[d];
    }
    return GPH_OK;
}

gph_status gphi_pad_fill(const gph_runtime *runtime, const gph_cache_tensor *rule,
                         const gph_tensor *tensor, const int64_t *real, CUstream stream,
                         gph_error *error)
{
    if (rule->fill == GPH_FILL_KEEP)
        return GPH_OK;
    /* inner dimensions first, so that slices of outer ones are whole when repeated */
    for (uint32_t d = tensor->rank; d-- > 0;) {
        int64_t counts[GPH_TENSOR_RANK_MAX] = {0};
        if (real[d] >= tensor->shape[d])
            continue;
        for (uint32_t e = 0; e < tensor->rank; e++)
            counts[e] = e < d ? real[e] : tensor->shape[e];
        counts[d] = tensor->shape[d] - real[d];
        if (rule->fill == GPH_FILL_LAST && real[d] > 0) {
            GPHI_TRY(repeat_last(runtime, tensor, d, counts, real[d], stream, error));
            continue;
        }
        const uint32_t bytes = gphi_dtype_bytes(tensor->dtype);
        const bool is_zero = rule->fill != GPH_FILL_VALUE || rule->value == 0;
        struct work work = {.runtime = runtime,
                            .to = tensor->data +
                                  (uint64_t)real[d] * (uint64_t)tensor->stride[d] * bytes,
                            .stream = stream,
                            .value = is_zero ? 0 : rule->value,
                            .element = is_zero ? 0 : bytes};
        GPHI_TRY(gphi_pad_walk(tensor, tensor, counts, fill_rows, &work, error));
    }
    return GPH_OK;
}
