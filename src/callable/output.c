// SPDX-License-Identifier: Apache-2.0
/* Allocations of a pool, before and after a function ran.
 *
 * A function returns tensors, which may be views of what it allocated, of inputs, or of
 * memory of somebody else. What is to be freed is therefore found by lists: an
 * allocation that holds an output, and was not there before the call, is the call's.
 * Lists are read into room that is made before the function runs, since inside a capture
 * nothing may fail for want of memory on the host. */
#include "callable/output.h"
#include "base/fail.h"
#include "base/heap.h"

/* Allocations that a function may add before the list is read again without a result. */
enum { SLACK = 256 };

static bool holds(const gph_pool_range *range, CUdeviceptr address)
{
    return address >= range->address && address - range->address < range->bytes;
}

static gph_status make_room(gphi_held *blocks, uint32_t count, gph_error *error)
{
    gphi_held_fini(blocks);
    blocks->room = count + SLACK;
    blocks->ranges =
        gphi_heap_array(blocks->heap, blocks->room, 2 * sizeof(*blocks->ranges));
    if (!blocks->ranges) {
        blocks->room = 0;
        return gphi_fail(error, GPH_E_NO_MEMORY, "listing %u allocations of a pool",
                         count);
    }
    blocks->later = blocks->ranges + blocks->room;
    return GPH_OK;
}

gph_status gphi_held_read(gphi_held *blocks, gph_allocator heap, gph_pool *pool,
                          gph_error *error)
{
    *blocks = (gphi_held){.heap = heap, .pool = pool};
    uint32_t count = 0;
    gph_pool_live(pool, NULL, 0, &count);
    do {
        GPHI_TRY(make_room(blocks, count, error));
        gph_pool_live(pool, blocks->ranges, blocks->room, &count);
    } while (count > blocks->room); /* other threads allocate */
    blocks->count = count;
    return GPH_OK;
}

gph_status gphi_held_read_recording(gphi_held *blocks, gph_allocator heap, gph_pool *pool,
                                    gph_recording_id id, gph_error *error)
{
    *blocks = (gphi_held){.heap = heap, .pool = pool};
    uint32_t count = 0;
    GPHI_TRY(gph_pool_ranges(pool, id, NULL, 0, &count, error));
    GPHI_TRY(make_room(blocks, count, error));
    const gph_status status =
        gph_pool_ranges(pool, id, blocks->ranges, blocks->room, &count, error);
    if (status != GPH_OK) {
        gphi_held_fini(blocks);
        return status;
    }
    blocks->count = count < blocks->room ? count : blocks->room;
    return GPH_OK;
}

void gphi_held_fini(gphi_held *blocks)
{
    gphi_heap_free(blocks->heap, blocks->ranges,
                   blocks->room * 2 * sizeof(*blocks->ranges));
    blocks->ranges = blocks->later = NULL;
    blocks->room = blocks->count = 0;
}

const gph_pool_range *gphi_held_find(const gphi_held *blocks, CUdeviceptr address)
{
    for (uint32_t i = 0; i < blocks->count; i++)
        if (holds(&blocks->ranges[i], address) && blocks->ranges[i].last == UINT32_MAX)
            return &blocks->ranges[i];
    return NULL;
}

static bool was_there(const gphi_held *before, CUdeviceptr address)
{
    for (uint32_t i = 0; i < before->count; i++)
        if (holds(&before->ranges[i], address))
            return true;
    return false;
}

static bool holds_any(const gph_pool_range *range, const CUdeviceptr *addresses,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (addresses[i] != 0 && holds(range, addresses[i]))
            return true;
    return false;
}

static bool holds_output(const gph_pool_range *range, const gph_tensor *outputs,
                         uint32_t count)
{
    for (uint32_t i = 0; outputs && i < count; i++)
        if (outputs[i].data != 0 && holds(range, outputs[i].data))
            return true;
    return false;
}

gph_status gphi_held_free_new(const gphi_held *before, const CUdeviceptr *made,
                              const gph_tensor *outputs, uint32_t count, CUstream stream,
                              gph_error *error)
{
    uint32_t live = 0;
    gph_status status = GPH_OK;
    gph_pool_live(before->pool, before->later, before->room, &live);
    if (live > before->room)
        return gphi_fail(error, GPH_E_STATE,
                         "a call left more than %d allocations in the pool", SLACK);
    for (uint32_t i = 0; i < live; i++) {
        const gph_pool_range *range = &before->later[i];
        if (!holds_any(range, made, count) || holds_output(range, outputs, count) ||
            was_there(before, range->address))
            continue;
        const gph_status freed = gph_pool_free(before->pool, range->address, stream,
                                               status == GPH_OK ? error : NULL);
        status = status == GPH_OK ? freed : status;
    }
    return status;
}

static bool is_kept(const gphi_record *record, CUdeviceptr address)
{
    for (uint32_t i = 0; i < record->kept_count; i++)
        if (record->kept[i] == address)
            return true;
    return false;
}

gph_status gphi_held_drop(const gphi_held *own, const CUdeviceptr *addresses,
                          uint32_t count, const gphi_record *record, CUstream stream,
                          gph_error *error)
{
    for (uint32_t i = 0; i < own->count; i++) {
        const gph_pool_range *range = &own->ranges[i];
        if (range->last == UINT32_MAX && range->kind != GPH_RANGE_INPUT &&
            holds_any(range, addresses, count) && !is_kept(record, range->address))
            GPHI_TRY(gph_pool_free(own->pool, range->address, stream, error));
    }
    return GPH_OK;
}

gph_status gphi_held_keep(const gphi_held *own, const gph_tensor *tensor, uint32_t index,
                          gphi_record *record, gph_error *error)
{
    if (tensor->data == 0)
        return GPH_OK;
    const gph_pool_range *found = gphi_held_find(own, tensor->data);
    for (uint32_t i = 0; !found && i < own->count; i++)
        if (holds(&own->ranges[i], tensor->data) &&
            own->ranges[i].kind == GPH_RANGE_TEMPORARY)
            return gphi_fail(error, GPH_E_INVALID,
                             "output %u: the function has freed its memory at 0x%llx",
                             index, tensor->data);
    if (!found || found->kind == GPH_RANGE_INPUT)
        return GPH_OK;
    const uint64_t past = tensor->data - found->address + gph_tensor_bytes(tensor);
    if (past > found->bytes)
        return gphi_fail(error, GPH_E_INVALID,
                         "output %u: it ends %llu bytes past its allocation", index,
                         (unsigned long long)(past - found->bytes));
    if (!is_kept(record, found->address))
        record->kept[record->kept_count++] = found->address;
    return GPH_OK;
}
