// SPDX-License-Identifier: Apache-2.0
/* Launching with what is bound: copies, the ring's row, the window; then the graph. */
#include "base/fail.h"
#include "slot/slots.h"

/* ---- copies ---- */

/* Only what was bound since the last launch: what was copied then is still there. */
static uint32_t list_copies(gph_slots *slots)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < slots->count; i++) {
        const struct gphi_slot *slot = &slots->slots[i];
        if (!slot->is_dirty || slot->bound == slot->address)
            continue;
        slots->to[count] = slot->address;
        slots->from[count] = slot->bound;
        slots->sizes[count++] = (size_t)slot->bytes;
    }
    return count;
}

static gph_status copy_bound(gph_slots *slots, CUstream stream, gph_error *error)
{
    uint64_t bytes = 0;
    if (slots->dirty == 0)
        return GPH_OK;
    const uint32_t count = list_copies(slots);
    for (uint32_t i = 0; i < count; i++)
        bytes += slots->sizes[i];
    const gphi_copies copies = {
        .to = slots->to, .from = slots->from, .bytes = slots->sizes, .count = count};
    GPHI_TRY(gphi_copy(slots->runtime, slots->copier, &copies, stream, error));
    slots->stats.copy_count += count;
    slots->stats.copy_bytes += bytes;
    return GPH_OK;
}

/* Once the launch is queued. */
static void note_copied(gph_slots *slots)
{
    for (uint32_t i = 0; slots->dirty > 0 && i < slots->count; i++) {
        slots->dirty -= slots->slots[i].is_dirty;
        slots->slots[i].is_dirty = false;
    }
}

/* ---- order ---- */

/* After what the table launched in another stream. The driver orders launches of one
 * executable itself: GPH_SLOTS_ONE_EXEC. */
__attribute__((noinline, cold)) static gph_status
order_behind(gph_slots *slots, CUstream stream, gph_error *error)
{
    const gphi_cuda_table *cu = &slots->runtime->cu;
    GPHI_TRY(gphi_slots_check(cu->cuEventRecord(slots->order, slots->stream),
                              "cuEventRecord", error));
    GPHI_TRY(gphi_slots_check(cu->cuStreamWaitEvent(stream, slots->order, 0),
                              "cuStreamWaitEvent", error));
    slots->stream = stream; /* whatever happens: the order holds from now on */
    return GPH_OK;
}

static gph_status check_bound(const gph_slots *slots, gph_error *error)
{
    if (slots->unbound == 0)
        return GPH_OK;
    for (uint32_t i = 0; i < slots->count; i++)
        if (!slots->slots[i].is_bound)
            return gphi_fail(error, GPH_E_INVALID, "slot %u (%.60s) was never bound", i,
                             slots->slots[i].name ? slots->slots[i].name : "no name");
    return GPH_OK;
}

/* ---- launches ---- */

/* All but the launch itself. */
static gph_status prepare(gph_slots *slots, CUstream stream, gph_error *error)
{
    if (slots->has_stream && slots->stream != stream && !slots->is_for_one)
        GPHI_TRY(order_behind(slots, stream, error));
    if (slots->word_count > 0)
        GPHI_TRY(gphi_ring_write(slots, error));
    return copy_bound(slots, stream, error);
}

static void note_launched(gph_slots *slots, uint32_t window, CUstream stream)
{
    if (slots->word_count > 0)
        gphi_ring_push(slots);
    if (slots->dirty > 0)
        note_copied(slots);
    slots->stream = stream;
    slots->has_stream = true;
    slots->stats.launch_count++;
    gphi_window_used(slots, window, stream);
}

gph_status gph_slots_launch(gph_slots *slots, gph_exec *const *execs, uint32_t count,
                            CUstream stream, gph_error *error)
{
    uint32_t window = 0;
    if (!slots || !execs || count != slots->window_count)
        return gphi_fail(error, GPH_E_INVALID, "%u executables for %u windows", count,
                         gph_slots_window_count(slots));
    GPHI_TRY(check_bound(slots, error));
    GPHI_TRY(gphi_window_choose(slots, &window, error));
    GPHI_TRY(prepare(slots, stream, error));
    GPHI_TRY(gph_exec_launch(execs[window], stream, error));
    note_launched(slots, window, stream);
    return GPH_OK;
}

gph_status gph_slots_feed(gph_slots *slots, CUstream stream, gph_error *error)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    GPHI_TRY(gphi_need(error, slots));
    GPHI_TRY(gphi_slots_check(slots->runtime->cu.cuStreamIsCapturing(stream, &status),
                              "cuStreamIsCapturing", error));
    if (status != CU_STREAM_CAPTURE_STATUS_NONE)
        return slots->word_count > 0 ? gphi_ring_feed(slots, stream, error) : GPH_OK;

    GPHI_TRY(check_bound(slots, error));
    GPHI_TRY(gphi_window_map(slots, slots->chosen, error));
    GPHI_TRY(prepare(slots, stream, error));
    if (slots->word_count > 0)
        GPHI_TRY(gphi_ring_feed(slots, stream, error));
    note_launched(slots, slots->chosen, stream);
    /* What comes after is not known: the window is in use until all is done. */
    slots->windows[slots->chosen].is_unsure = slots->range_count > 0;
    return GPH_OK;
}
