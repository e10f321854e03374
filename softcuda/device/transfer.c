// SPDX-License-Identifier: Apache-2.0
/* Copies and fills as tasks: what each address is, and whether the whole range belongs to
 * one allocation (or to mappings that follow each other). */
#include <stdatomic.h>
#include <string.h>

#include "softcuda/device/array.h"
#include "softcuda/device/device.h"
#include "softcuda/device/task.h"
#include "softcuda/memory/fault.h"
#include "softcuda/memory/graphmem.h"
#include "softcuda/memory/pending.h"
#include "softcuda/rules/rules.h"

#define FLAG_WORDS 16u /* in a row of a fill: more are data */

/* What an end of a transfer is, beside right. */
struct nature {
    bool pageable; /* host memory that the driver does not know */
    bool idle;     /* memory of a graph that is not allocated now */
};

static CUresult check_device_range(soft_device *device, uint64_t address, uint64_t bytes,
                                   const char *what, struct nature *nature)
{
    const uint64_t end = address + bytes;
    for (uint64_t at = address; at < end;) {
        soft_allocation allocation;
        uint32_t access;
        if (!soft_memory_find(device->memory, at, &allocation)) {
            nature->idle =
                soft_rule(M_names_freed)
                    ? soft_graph_nameable(device->memory, at, end - at, &allocation)
                    : soft_graph_known(device->memory, at, end - at, &allocation);
            if (nature->idle)
                return CUDA_SUCCESS;
            char text[256];
            soft_memory_describe(device->memory, at, text, sizeof(text));
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "%s of %llu bytes at 0x%llx: address 0x%llx is %s", what,
                             (unsigned long long)bytes, (unsigned long long)address,
                             (unsigned long long)at, text);
        }
        if (allocation.kind == SOFT_MEMORY_VMM && soft_rule(M_map_access) &&
            (!soft_range_get_access(device->memory, at, &access) || access == 0))
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "%s at 0x%llx: the mapping at 0x%llx has no access, see "
                             "cuMemSetAccess",
                             what, (unsigned long long)address,
                             (unsigned long long)allocation.base);
        at = allocation.base + allocation.bytes;
        if (at < end && allocation.kind != SOFT_MEMORY_VMM)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "%s of %llu bytes at 0x%llx: the allocation at 0x%llx ends "
                             "%llu bytes before",
                             what, (unsigned long long)bytes, (unsigned long long)address,
                             (unsigned long long)allocation.base,
                             (unsigned long long)(end - at));
    }
    return CUDA_SUCCESS;
}

/* Host memory that the driver knows must hold the whole range, too. */
static CUresult check_known_host(const soft_allocation *known, uint64_t address,
                                 uint64_t bytes, const char *what)
{
    if (address + bytes <= known->base + known->bytes)
        return CUDA_SUCCESS;
    return soft_fail(
        CUDA_ERROR_INVALID_VALUE,
        "%s of %llu bytes at 0x%llx: the host memory at 0x%llx has %llu bytes", what,
        (unsigned long long)bytes, (unsigned long long)address,
        (unsigned long long)known->base, (unsigned long long)known->bytes);
}

/* One end of a copy; `bytes` from its first byte to its last. */
static CUresult check_end(CUmemorytype type, uint64_t address, uint64_t bytes,
                          const char *what, struct nature *nature)
{
    *nature = (struct nature){0};
    if (bytes == 0)
        return CUDA_SUCCESS;
    if (address == 0 || address + bytes < address)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s of %llu bytes at 0x%llx", what,
                         (unsigned long long)bytes, (unsigned long long)address);
    soft_device *device = soft_device_holding(address);
    if (device)
        return check_device_range(device, address, bytes, what, nature);
    soft_allocation known;
    if (soft_host_find(address, &known))
        return check_known_host(&known, address, bytes, what);
    if (type == CU_MEMORYTYPE_DEVICE)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s of %llu bytes: 0x%llx is neither device memory nor host "
                         "memory that the driver knows",
                         what, (unsigned long long)bytes, (unsigned long long)address);
    nature->pageable = true;
    return CUDA_SUCCESS;
}

/* From the first to after the last byte of width x height x depth. */
static bool extent_of(const soft_copy *copy, size_t pitch, size_t slice, uint64_t *out)
{
    uint64_t rows, planes, sum;
    if (copy->width == 0 || copy->height == 0 || copy->depth == 0) {
        *out = 0;
        return true;
    }
    if (__builtin_mul_overflow(pitch, copy->height - 1, &rows) ||
        __builtin_mul_overflow(slice, copy->depth - 1, &planes) ||
        __builtin_add_overflow(rows, planes, &sum) ||
        __builtin_add_overflow(sum, copy->width, out))
        return false;
    return true;
}

/* Where an end begins, and its pitches. */
static CUresult place(const soft_copy_end *end, const soft_copy *copy, const char *what,
                      uint64_t *address, size_t *pitch, size_t *slice)
{
    uint64_t base;
    size_t rows = end->height;
    *pitch = end->pitch;
    switch (end->type) {
    case CU_MEMORYTYPE_HOST: base = (uint64_t)(uintptr_t)end->host; break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED: base = end->device; break;
    case CU_MEMORYTYPE_ARRAY:
        SOFT_TRY(soft_array_place(end->array, &base, pitch, &rows));
        SOFT_TRY(
            soft_array_check(end->array, (const size_t[3]){end->x, end->y, end->z},
                             (const size_t[3]){copy->width, copy->height, copy->depth}));
        break;
    default:
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s: %d is not a memory type", what,
                         (int)end->type);
    }
    if (*pitch == 0)
        *pitch = end->x + copy->width;
    if (rows == 0)
        rows = end->y + copy->height;
    if (soft_rule(R22) && copy->height > 1 && *pitch < end->x + copy->width)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s: the pitch of %zu bytes is less than the %zu of a row", what,
                         *pitch, end->x + copy->width);
    if (copy->depth > 1 && rows < end->y + copy->height)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s: planes of %zu rows are less than the %zu copied", what,
                         rows, end->y + copy->height);
    *slice = *pitch * rows;
    *address = base + end->x + end->y * *pitch + end->z * *slice;
    if (base == 0 && copy->width * copy->height * copy->depth != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL", what);
    return CUDA_SUCCESS;
}

CUresult soft_task_copy(soft_context *context, const CUDA_MEMCPY3D *c, soft_task *out)
{
    (void)context;
    const soft_copy_end to = soft_copy_target(c), from = soft_copy_source(c);
    soft_copy copy = {.width = c->WidthInBytes,
                      .height = c->Height,
                      .depth = c->Depth,
                      .dst_type = c->dstMemoryType,
                      .src_type = c->srcMemoryType};
    SOFT_TRY(
        place(&to, &copy, "destination", &copy.dst, &copy.dst_pitch, &copy.dst_slice));
    SOFT_TRY(place(&from, &copy, "source", &copy.src, &copy.src_pitch, &copy.src_slice));
    uint64_t dst_bytes, src_bytes;
    if (!extent_of(&copy, copy.dst_pitch, copy.dst_slice, &dst_bytes) ||
        !extent_of(&copy, copy.src_pitch, copy.src_slice, &src_bytes))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "a copy of %zu x %zu x %zu bytes exceeds the address range",
                         copy.width, copy.height, copy.depth);
    struct nature dst, src;
    SOFT_TRY(check_end(copy.dst_type, copy.dst, dst_bytes, "destination", &dst));
    SOFT_TRY(check_end(copy.src_type, copy.src, src_bytes, "source", &src));
    copy.dst_pageable = dst.pageable;
    copy.src_pageable = src.pageable;
    out->kind = SOFT_TASK_COPY;
    out->names_idle = dst.idle || src.idle;
    out->u.copy = copy;
    return CUDA_SUCCESS;
}

static CUresult check_elements(const CUDA_MEMSET_NODE_PARAMS *f)
{
    if (f->elementSize != 1 && f->elementSize != 2 && f->elementSize != 4)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "elements of %u bytes, not 1, 2 or 4",
                         f->elementSize);
    if (f->dst % f->elementSize != 0 || (f->height > 1 && f->pitch % f->elementSize != 0))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "destination 0x%llx, pitch %zu: no multiple of the %u bytes of "
                         "an element",
                         (unsigned long long)f->dst, f->pitch, f->elementSize);
    return CUDA_SUCCESS;
}

/* All but where it goes; *bytes from the first to the last. */
static CUresult shape_of_fill(const CUDA_MEMSET_NODE_PARAMS *f, size_t *bytes)
{
    if (soft_rule(R21))
        SOFT_TRY(check_elements(f));
    size_t row;
    if (__builtin_mul_overflow(f->width, f->elementSize, &row) ||
        __builtin_mul_overflow(f->height > 1 ? f->height - 1 : 0, f->pitch, bytes) ||
        __builtin_add_overflow(*bytes, row, bytes))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "a fill of %zu x %zu elements exceeds the address range",
                         f->width, f->height);
    if (f->height > 1 && f->pitch < row)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the pitch of %zu bytes is less than the %zu of a row", f->pitch,
                         row);
    if (row == 0 || f->height == 0)
        *bytes = 0;
    return CUDA_SUCCESS;
}

static void make_fill(const CUDA_MEMSET_NODE_PARAMS *f, const struct nature *dst,
                      soft_task *out)
{
    out->kind = SOFT_TASK_FILL;
    out->names_idle = dst->idle;
    out->u.fill = (soft_fill){.dst = f->dst,
                              .pitch = f->pitch,
                              .width = f->width,
                              .height = f->height,
                              .value = f->value,
                              .element = f->elementSize};
}

CUresult soft_task_fill(soft_context *context, const CUDA_MEMSET_NODE_PARAMS *f,
                        soft_task *out)
{
    (void)context;
    size_t bytes;
    struct nature dst = {0};
    SOFT_TRY(shape_of_fill(f, &bytes));
    if (bytes != 0)
        SOFT_TRY(check_end(CU_MEMORYTYPE_DEVICE, f->dst, bytes, "destination", &dst));
    make_fill(f, &dst, out);
    return CUDA_SUCCESS;
}

CUresult soft_task_fill_captured(const CUDA_MEMSET_NODE_PARAMS *f, soft_task *out)
{
    size_t bytes;
    struct nature dst = {0};
    SOFT_TRY(shape_of_fill(f, &bytes));
    soft_thread *self = soft_thread_self();
    self->only_warns = true;
    (void)check_end(CU_MEMORYTYPE_DEVICE, f->dst, bytes, "destination", &dst);
    self->only_warns = false;
    make_fill(f, &dst, out);
    return CUDA_SUCCESS;
}

CUresult soft_fill_check(const soft_fill *fill)
{
    struct nature dst = {0};
    const size_t bytes = (fill->height > 1 ? fill->height - 1 : 0) * fill->pitch +
                         fill->width * fill->element;
    if (fill->width == 0 || fill->height == 0)
        return CUDA_SUCCESS;
    const soft_device *device = soft_device_holding(fill->dst);
    soft_allocation found;
    if (device && soft_graph_known(device->memory, fill->dst, bytes, &found))
        return CUDA_SUCCESS; /* there when it runs, as far as the graph goes */
    return check_end(CU_MEMORYTYPE_DEVICE, fill->dst, bytes, "destination", &dst);
}

/* ---- doing them ----
 * What was checked when they were made may be freed since, and what is allocated later
 * (memory of pools and graphs) could not be: whether there is memory is found out by
 * touching it. */

/* A single word may be one that others write meanwhile: programs ask for flags so. */
static void copy_row(unsigned char *to, const unsigned char *from, size_t bytes)
{
    if (bytes != 4 || ((uintptr_t)to | (uintptr_t)from) % 4 != 0) {
        memmove(to, from, bytes);
        return;
    }
    _Atomic uint32_t *const word = (_Atomic uint32_t *)(uintptr_t)from;
    atomic_store_explicit((_Atomic uint32_t *)(uintptr_t)to,
                          atomic_load_explicit(word, memory_order_relaxed),
                          memory_order_relaxed);
}

static uint64_t bytes_of_rows(const soft_copy *copy, size_t pitch, size_t slice)
{
    if (copy->width == 0 || copy->height == 0 || copy->depth == 0)
        return 0;
    return (copy->depth - 1) * slice + (copy->height - 1) * pitch + copy->width;
}

/* The program's address of a byte that the host sees at `seen`. */
static uint64_t name_of(uint64_t base, const void *reached, uint64_t seen)
{
    return base + (seen - (uint64_t)(uintptr_t)reached);
}

struct copying {
    const soft_copy *copy;
    unsigned char *dst;
    const unsigned char *src;
};

static void copy_rows(void *argument)
{
    const struct copying *c = argument;
    const soft_copy *copy = c->copy;
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            copy_row(c->dst + z * copy->dst_slice + y * copy->dst_pitch,
                     c->src + z * copy->src_slice + y * copy->src_pitch, copy->width);
}

bool soft_copy_run(const soft_copy *copy, uint64_t *lost)
{
    struct copying c = {.copy = copy,
                        .dst = soft_device_reach(copy->dst),
                        .src = soft_device_reach(copy->src)};
    const uint64_t dst_bytes = bytes_of_rows(copy, copy->dst_pitch, copy->dst_slice);
    soft_fault_scope scope;
    scope.ranges[0] = (soft_fault_range){(uint64_t)(uintptr_t)c.dst, dst_bytes};
    scope.ranges[1] =
        (soft_fault_range){(uint64_t)(uintptr_t)c.src,
                           bytes_of_rows(copy, copy->src_pitch, copy->src_slice)};
    if (soft_fault_run(&scope, copy_rows, &c))
        return true;
    *lost = scope.address - scope.ranges[0].first < dst_bytes
                ? name_of(copy->dst, c.dst, scope.address)
                : name_of(copy->src, c.src, scope.address);
    return false;
}

/* Of one row: others leave bytes between that are anybody's. */
static bool is_row(const soft_copy *copy)
{
    return copy->height == 1 && copy->depth == 1 && copy->dst_type != CU_MEMORYTYPE_ARRAY;
}

void soft_copy_closes(const soft_copy *copy)
{
    if (soft_check_memory_wanted() && is_row(copy) && !copy->dst_pageable)
        (void)soft_pending_begin(copy->dst, copy->width);
}

void soft_copy_opens(const soft_copy *copy)
{
    if (is_row(copy))
        soft_pending_end(copy->dst, copy->width);
}

/* Words that somebody may be waiting for, as memory operations and kernels do: a program
 * opens a gate with a fill. */
static void fill_words(_Atomic uint32_t *row, const soft_fill *fill)
{
    for (size_t i = 0; i < fill->width; i++)
        atomic_store_explicit(&row[i], fill->value, memory_order_relaxed);
}

static void fill_row(void *row, const soft_fill *fill)
{
    if (fill->element == 4 && fill->width <= FLAG_WORDS) {
        fill_words(row, fill);
        return;
    }
    switch (fill->element) {
    case 1: memset(row, (int)(fill->value & 0xff), fill->width); break;
    case 2:
        for (size_t i = 0; i < fill->width; i++)
            ((uint16_t *)row)[i] = (uint16_t)fill->value;
        break;
    default:
        for (size_t i = 0; i < fill->width; i++)
            ((uint32_t *)row)[i] = fill->value;
    }
}

struct filling {
    const soft_fill *fill;
    unsigned char *dst;
};

static void fill_rows(void *argument)
{
    const struct filling *f = argument;
    for (size_t y = 0; y < f->fill->height; y++)
        fill_row(f->dst + y * f->fill->pitch, f->fill);
}

bool soft_fill_run(const soft_fill *fill, uint64_t *lost)
{
    struct filling f = {.fill = fill, .dst = soft_device_reach(fill->dst)};
    const size_t rows_before = fill->height > 1 ? fill->height - 1 : 0;
    soft_fault_scope scope;
    scope.ranges[0] =
        (soft_fault_range){(uint64_t)(uintptr_t)f.dst,
                           rows_before * fill->pitch + fill->width * fill->element};
    scope.ranges[1] = (soft_fault_range){0, 0};
    if (soft_fault_run(&scope, fill_rows, &f))
        return true;
    *lost = name_of(fill->dst, f.dst, scope.address);
    return false;
}
