// SPDX-License-Identifier: Apache-2.0
/* REMAP slots: windows of fixed addresses with pages that change. Mapping is left alone
 * as long as what it maps is what is wanted, so that buffers that take turns, as many as
 * there are windows, cost no call. A stale mapping stays until its window is needed for
 * something else and its last replay is done. */
#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "slot/slots.h"

/* Addresses alone: pages come with the first binding. */
static CUresult create_window(gph_slots *slots, struct gphi_window *window,
                              const char **call)
{
    const gphi_cuda_table *cu = &slots->runtime->cu;
    *call = "cuEventCreate";
    CUresult result = cu->cuEventCreate(&window->event, CU_EVENT_DISABLE_TIMING);
    if (result != CUDA_SUCCESS) {
        window->event = NULL;
        return result;
    }
    *call = "cuMemAddressReserve";
    for (uint32_t i = 0; i < slots->count; i++) {
        const struct gphi_slot *slot = &slots->slots[i];
        if (slot->kind != GPH_SLOT_REMAP)
            continue;
        CUdeviceptr address = 0;
        result = cu->cuMemAddressReserve(&address, (size_t)slot->bytes, 0, 0, 0);
        if (result != CUDA_SUCCESS)
            return result;
        window->ranges[slot->place] =
            (struct gphi_range){.address = address, .bytes = slot->bytes};
    }
    return CUDA_SUCCESS;
}

/* A mapping is of whole pages, so a slot of a few bytes takes one as well. */
static gph_status round_up(gph_slots *slots, gph_error *error)
{
    size_t granularity = 0;
    int can_map = 0;
    const gphi_cuda_table *cu = &slots->runtime->cu;
    GPHI_TRY(gphi_slots_check(
        cu->cuDeviceGetAttribute(&can_map,
                                 CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                 slots->device),
        "cuDeviceGetAttribute", error));
    if (!can_map)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "device %d cannot map memory: no slot can be REMAP",
                         slots->device);
    const CUmemAllocationProp props = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = slots->device}};
    GPHI_TRY(gphi_slots_check(cu->cuMemGetAllocationGranularity(
                                  &granularity, &props, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                              "cuMemGetAllocationGranularity", error));
    for (uint32_t i = 0; i < slots->count; i++)
        if (slots->slots[i].kind == GPH_SLOT_REMAP)
            slots->slots[i].bytes =
                (slots->slots[i].bytes + granularity - 1) / granularity * granularity;
    return GPH_OK;
}

gph_status gphi_windows_create(gph_slots *slots, gph_error *error)
{
    if (slots->range_count == 0) {
        slots->window_count = 1;
        return GPH_OK;
    }
    GPHI_TRY(round_up(slots, error));
    for (uint32_t i = 0; i < slots->window_count; i++) {
        const char *call;
        struct gphi_window *window = &slots->windows[i];
        window->ranges = gphi_heap_array(slots->runtime->heap, slots->range_count,
                                         sizeof(*window->ranges));
        GPHI_TRY(gphi_made(error, window->ranges, "%u windows", slots->window_count));
        const CUresult result = create_window(slots, window, &call);
        GPHI_TRY(gphi_slots_check(result, call, error));
    }
    return GPH_OK;
}

static CUresult unmap(const gph_slots *slots, struct gphi_range *range)
{
    if (range->mapped == 0)
        return CUDA_SUCCESS;
    const CUresult result =
        slots->runtime->cu.cuMemUnmap(range->address, (size_t)range->bytes);
    if (result == CUDA_SUCCESS)
        range->mapped = 0;
    return result;
}

void gphi_windows_destroy(gph_slots *slots)
{
    const gphi_cuda_table *cu = &slots->runtime->cu;
    CUresult first = CUDA_SUCCESS;
    for (uint32_t i = 0; i < GPHI_WINDOWS_MAX; i++) {
        struct gphi_window *window = &slots->windows[i];
        for (uint32_t k = 0; window->ranges && k < slots->range_count; k++) {
            struct gphi_range *range = &window->ranges[k];
            CUresult result = unmap(slots, range);
            if (result == CUDA_SUCCESS && range->address != 0)
                result = cu->cuMemAddressFree(range->address, (size_t)range->bytes);
            first = first == CUDA_SUCCESS ? result : first;
        }
        if (window->event) {
            const CUresult result = cu->cuEventDestroy(window->event);
            first = first == CUDA_SUCCESS ? result : first;
        }
        gphi_heap_free(slots->runtime->heap, window->ranges,
                       slots->range_count * sizeof(*window->ranges));
    }
    if (first != CUDA_SUCCESS)
        gphi_log("slot", GPH_LOG_ERROR, "addresses of slots stay reserved: %s",
                 gph_status_name((gph_status)first));
}

/* ---- replays ---- */

static bool is_mapped(const gph_slots *slots, const struct gphi_window *window,
                      const struct gphi_slot *slot)
{
    (void)slots;
    return slot->kind != GPH_SLOT_REMAP || !slot->buffer ||
           window->ranges[slot->place].mapped == slot->buffer->id;
}

static uint32_t missing(const gph_slots *slots, const struct gphi_window *window)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < slots->count; i++)
        count += !is_mapped(slots, window, &slots->slots[i]);
    return count;
}

/* Nothing of a window may change under a replay. */
static gph_status wait_for(gph_slots *slots, struct gphi_window *window, gph_error *error)
{
    const gphi_cuda_table *cu = &slots->runtime->cu;
    const uint64_t from = gphi_clock_ns();
    uint32_t round = 0;
    CUresult result = CUDA_SUCCESS;
    if (!window->is_used)
        return GPH_OK;
    if (window->is_unsure) /* all that could have been in its place */
        GPHI_TRY(gphi_slots_check(cu->cuCtxSynchronize(), "cuCtxSynchronize", error));
    while (!window->is_unsure &&
           (result = cu->cuEventQuery(window->event)) == CUDA_ERROR_NOT_READY) {
        slots->stats.wait_count += round == 0;
        if (!gphi_slots_pause(slots, from, &round))
            return gphi_fail(error, GPH_E_STATE,
                             "what is bound cannot be mapped: the last replay of its "
                             "window did not end within %.3f s",
                             (double)slots->wait_ns / 1e9);
    }
    GPHI_TRY(gphi_slots_check(result, "cuEventQuery", error));
    window->is_used = window->is_unsure = false;
    return GPH_OK;
}

static CUresult map(gph_slots *slots, struct gphi_range *range,
                    const gph_slot_buffer *buffer, const char **call)
{
    const gphi_cuda_table *cu = &slots->runtime->cu;
    const CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = slots->device},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    *call = "cuMemUnmap";
    CUresult result = unmap(slots, range);
    if (result != CUDA_SUCCESS)
        return result;
    *call = "cuMemMap";
    result = cu->cuMemMap(range->address, (size_t)range->bytes, 0, buffer->handle, 0);
    if (result != CUDA_SUCCESS)
        return result;
    *call = "cuMemSetAccess";
    result = cu->cuMemSetAccess(range->address, (size_t)range->bytes, &access, 1);
    /* Mapped, but not to be used: it counts as nobody's. */
    range->mapped = result == CUDA_SUCCESS ? buffer->id : UINT64_MAX;
    return result;
}

gph_status gphi_window_map(gph_slots *slots, uint32_t index, gph_error *error)
{
    struct gphi_window *window = &slots->windows[index];
    if (slots->range_count == 0 || missing(slots, window) == 0)
        return GPH_OK;
    GPHI_TRY(wait_for(slots, window, error));
    for (uint32_t i = 0; i < slots->count; i++) {
        const struct gphi_slot *slot = &slots->slots[i];
        const char *call;
        if (is_mapped(slots, window, slot))
            continue;
        const CUresult result =
            map(slots, &window->ranges[slot->place], slot->buffer, &call);
        GPHI_TRY(gphi_slots_check(result, call, error));
        slots->stats.map_count++;
    }
    return GPH_OK;
}

gph_status gphi_window_choose(gph_slots *slots, uint32_t *out, gph_error *error)
{
    uint32_t best = 0, least = UINT32_MAX;
    *out = 0;
    if (slots->range_count == 0)
        return GPH_OK;
    for (uint32_t i = 0; i < slots->window_count; i++) {
        const uint32_t count = missing(slots, &slots->windows[i]);
        if (count < least || (count == least && slots->windows[i].last_use <
                                                    slots->windows[best].last_use)) {
            best = i;
            least = count;
        }
    }
    GPHI_TRY(gphi_window_map(slots, best, error));
    slots->stats.revive_count += least == 0;
    *out = best;
    return GPH_OK;
}

void gphi_window_used(gph_slots *slots, uint32_t index, CUstream stream)
{
    struct gphi_window *window = &slots->windows[index];
    if (slots->range_count == 0)
        return;
    const CUresult result = slots->runtime->cu.cuEventRecord(window->event, stream);
    window->is_used = true;
    window->is_unsure = result != CUDA_SUCCESS;
    window->last_use = slots->stats.launch_count;
}
