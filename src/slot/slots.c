// SPDX-License-Identifier: Apache-2.0
/* Tables of slots: making them, and binding. */
#include "slot/slots.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "event/note.h"

#include <string.h>

static const uint64_t WAIT_NS = UINT64_C(10000000000);
enum { DEPTH = 64, WINDOWS = 2 };

/* ---- making ---- */

static gph_status read_options(const gph_slots_options *options, gph_slots_options *out,
                               gph_error *error)
{
    GPHI_TRY(gphi_options_read(out, sizeof(*out), "gph_slots_options", options, error));
    out->depth = out->depth == 0 ? DEPTH : out->depth;
    out->windows = out->windows == 0 ? WINDOWS : out->windows;
    out->wait_ns = out->wait_ns == 0 ? WAIT_NS : out->wait_ns;
    if ((out->depth & (out->depth - 1)) != 0 || out->depth > GPHI_DEPTH_MAX)
        return gphi_fail(error, GPH_E_INVALID,
                         "options.depth %u is not a power of two up to %d", out->depth,
                         GPHI_DEPTH_MAX);
    if (out->windows > GPHI_WINDOWS_MAX)
        return gphi_fail(error, GPH_E_INVALID, "options.windows %u: at most %d",
                         out->windows, GPHI_WINDOWS_MAX);
    if ((out->flags & ~(uint32_t)GPH_SLOTS_ONE_EXEC) != 0)
        return gphi_fail(error, GPH_E_INVALID, "options.flags 0x%x: only 0x%x are known",
                         out->flags, (unsigned)GPH_SLOTS_ONE_EXEC);
    return GPH_OK;
}

static gph_status check_slots(const gph_slot *slots, uint32_t count,
                              const gph_slots_options *options, gph_error *error)
{
    const uint32_t stride = options->slot_bytes;
    gph_slot read;
    const gph_slot *slot = &read;
    if (count == 0 || count > GPHI_SLOTS_MAX)
        return gphi_fail(error, GPH_E_INVALID, "%u slots: 1 to %d are possible", count,
                         GPHI_SLOTS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        GPHI_TRY(gphi_element_read(&read, sizeof(read), slots, stride, i, error));
        if (slot->kind < GPH_SLOT_COPY || slot->kind > GPH_SLOT_PULL || slot->flags != 0)
            return gphi_fail(error, GPH_E_INVALID, "slot %u: kind %u, flags 0x%x", i,
                             slot->kind, slot->flags);
        if (slot->kind != GPH_SLOT_INDIRECT &&
            (slot->bytes == 0 || slot->bytes > UINT64_C(1) << 48))
            return gphi_fail(error, GPH_E_INVALID, "slot %u: %llu bytes", i,
                             (unsigned long long)slot->bytes);
        if ((options->flags & GPH_SLOTS_ONE_EXEC) != 0 &&
            (slot->kind == GPH_SLOT_COPY || slot->kind == GPH_SLOT_REMAP))
            return gphi_fail(error, GPH_E_INVALID,
                             "slot %u is copied or mapped before the launch: "
                             "GPH_SLOTS_ONE_EXEC is for tables without such slots",
                             i);
    }
    return GPH_OK;
}

/* Whose address is the same in all replays. */
static bool is_fixed(const struct gphi_slot *slot)
{
    return slot->kind == GPH_SLOT_COPY || slot->kind == GPH_SLOT_PULL;
}

static uint32_t *counter_of(gph_slots *table, gph_slot_kind kind)
{
    switch (kind) {
    case GPH_SLOT_COPY: return &table->copy_count;
    case GPH_SLOT_INDIRECT: return &table->word_count;
    case GPH_SLOT_PULL: return &table->pull_count;
    case GPH_SLOT_REMAP: break;
    }
    return &table->range_count;
}

/* After check_slots() has read all of them. */
static bool fill_slots(gph_slots *table, const gph_slot *slots, uint32_t stride)
{
    gph_slot from;
    const gph_allocator heap = table->runtime->heap;
    table->slots = gphi_heap_array(heap, table->count, sizeof(*table->slots));
    if (!table->slots)
        return false;
    for (uint32_t i = 0; i < table->count; i++) {
        struct gphi_slot *slot = &table->slots[i];
        if (gphi_element_read(&from, sizeof(from), slots, stride, i, NULL) != GPH_OK)
            return false;
        slot->kind = (gph_slot_kind)from.kind;
        slot->bytes = from.bytes;
        slot->name = gphi_heap_text(heap, from.name);
        if (from.name && !slot->name)
            return false;
        if (is_fixed(slot))
            slot->address = from.address;
        slot->place = (*counter_of(table, slot->kind))++;
    }
    /* Words of PULL slots follow the others, so that one kernel finds them in a row. */
    for (uint32_t i = 0; i < table->count; i++)
        if (table->slots[i].kind == GPH_SLOT_PULL)
            table->slots[i].place += table->word_count;
    table->row_words = table->pull_count + table->word_count + (table->word_count == 0);
    table->word_count += table->pull_count;
    return true;
}

/* So that a launch allocates nothing. */
static bool allocate_arrays(gph_slots *table)
{
    const gph_allocator heap = table->runtime->heap;
    if (table->copy_count > 0) {
        table->to = gphi_heap_array(heap, table->copy_count, sizeof(*table->to));
        table->from = gphi_heap_array(heap, table->copy_count, sizeof(*table->from));
        table->sizes = gphi_heap_array(heap, table->copy_count, sizeof(*table->sizes));
        if (!table->to || !table->from || !table->sizes)
            return false;
    }
    if (table->word_count > 0)
        table->bound = gphi_heap_array(heap, table->word_count, sizeof(*table->bound));
    return table->word_count == 0 || table->bound;
}

/* A launch looks at one number instead of all slots. */
static void note_bound(gph_slots *slots, struct gphi_slot *slot)
{
    slots->unbound -= !slot->is_bound;
    slot->is_bound = true;
}

/* What nobody binds is not copied. */
static void bind_to_themselves(gph_slots *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        struct gphi_slot *slot = &table->slots[i];
        if (slot->kind != GPH_SLOT_PULL)
            continue;
        table->bound[slot->place] = slot->address;
        note_bound(table, slot);
    }
}

/* On failure the table is half built, which destroy_now() takes. */
static gph_status make_driver_side(gph_slots *table, gph_error *error)
{
    const gphi_cuda_table *cu = &table->runtime->cu;
    GPHI_TRY(
        gphi_slots_check(cu->cuCtxGetDevice(&table->device), "cuCtxGetDevice", error));
    CUevent order = NULL;
    GPHI_TRY(gphi_slots_check(cu->cuEventCreate(&order, CU_EVENT_DISABLE_TIMING),
                              "cuEventCreate", error));
    table->order = order;
    for (uint32_t i = 0; i < table->count; i++) {
        struct gphi_slot *slot = &table->slots[i];
        if (!is_fixed(slot) || slot->address != 0)
            continue;
        CUdeviceptr address = 0;
        GPHI_TRY(gphi_slots_check(cu->cuMemAlloc(&address, (size_t)slot->bytes),
                                  "cuMemAlloc", error));
        slot->address = address;
        slot->owns_address = true;
    }
    if (table->copy_count > 1)
        GPHI_TRY(gphi_copier_retain(table->runtime, &table->copier, error));
    bind_to_themselves(table);
    GPHI_TRY(gphi_ring_create(table, error));
    return gphi_windows_create(table, error);
}

/* Takes half-built ones. */
static void destroy_now(void *user)
{
    gph_slots *table = user;
    const gph_allocator heap = table->runtime->heap;
    const gphi_cuda_table *cu = &table->runtime->cu;
    gphi_copier_release(table->copier);
    gphi_ring_destroy(table);
    gphi_windows_destroy(table);
    CUresult result = CUDA_SUCCESS;
    if (table->order)
        result = cu->cuEventDestroy(table->order);
    for (uint32_t i = 0; table->slots && i < table->count; i++) {
        if (table->slots[i].owns_address && result == CUDA_SUCCESS)
            result = cu->cuMemFree(table->slots[i].address);
        gphi_heap_text_free(heap, table->slots[i].name);
    }
    if (result != CUDA_SUCCESS)
        gphi_log("slot", GPH_LOG_ERROR, "buffers of slots stay: %s",
                 gph_status_name((gph_status)result));
    gphi_heap_free(heap, table->bound, table->word_count * sizeof(*table->bound));
    gphi_heap_free(heap, table->sizes, table->copy_count * sizeof(*table->sizes));
    gphi_heap_free(heap, table->from, table->copy_count * sizeof(*table->from));
    gphi_heap_free(heap, table->to, table->copy_count * sizeof(*table->to));
    gphi_heap_free(heap, table->slots, table->count * sizeof(*table->slots));
    gphi_heap_free(heap, table, sizeof(*table));
}

void gph_slots_destroy(gph_slots *slots)
{
    if (slots) /* freeing disturbs captures of any thread */
        gphi_defer(&slots->end, destroy_now, slots);
}

gph_status gph_slots_create(gph_runtime *runtime, const gph_slot *slots, uint32_t count,
                            const gph_slots_options *options, gph_slots **out,
                            gph_error *error)
{
    gph_slots_options opt;
    GPHI_TRY(gphi_need(error, runtime, slots, out));
    GPHI_TRY(read_options(options, &opt, error));
    GPHI_TRY(check_slots(slots, count, &opt, error));
    gph_slots *table = gphi_heap_alloc(runtime->heap, sizeof(*table));
    GPHI_TRY(gphi_made(error, table, "a table of %u slots", count));
    table->runtime = runtime;
    table->count = table->unbound = count;
    table->depth = opt.depth;
    table->window_count = opt.windows;
    table->wait_ns = opt.wait_ns;
    table->is_for_one = (opt.flags & GPH_SLOTS_ONE_EXEC) != 0;
    gph_status status = GPH_OK;
    if (!fill_slots(table, slots, opt.slot_bytes) || !allocate_arrays(table))
        status = gphi_fail(error, GPH_E_NO_MEMORY, "a table of %u slots", count);
    else
        status = make_driver_side(table, error);
    if (status != GPH_OK) {
        gph_slots_destroy(table);
        return status;
    }
    *out = table;
    return GPH_OK;
}

/* ---- asking ---- */

CUdeviceptr gph_slots_address(const gph_slots *slots, uint32_t index)
{
    if (!slots || index >= slots->count)
        return 0;
    const struct gphi_slot *slot = &slots->slots[index];
    switch (slot->kind) {
    case GPH_SLOT_COPY:
    case GPH_SLOT_PULL: return slot->address;
    case GPH_SLOT_INDIRECT: return slots->words + slot->place * sizeof(uint64_t);
    case GPH_SLOT_REMAP: break;
    }
    return slots->windows[slots->chosen].ranges[slot->place].address;
}

int64_t gph_slots_find(const gph_slots *slots, const char *name)
{
    for (uint32_t i = 0; slots && name && i < slots->count; i++)
        if (slots->slots[i].name && strcmp(slots->slots[i].name, name) == 0)
            return i;
    return -1;
}

uint32_t gph_slots_window_count(const gph_slots *slots)
{
    return slots ? slots->window_count : 0;
}

gph_status gph_slots_window_set(gph_slots *slots, uint32_t window, gph_error *error)
{
    if (!slots || window >= slots->window_count)
        return gphi_fail(error, GPH_E_INVALID, "there is no window %u of %u", window,
                         gph_slots_window_count(slots));
    GPHI_TRY(gphi_window_map(slots, window, error));
    slots->chosen = window;
    return GPH_OK;
}

void gph_slots_stats_get(const gph_slots *slots, gph_slots_stats *out)
{
    const gph_slots_stats none = {0};
    gphi_struct_write(out, slots ? &slots->stats : &none, sizeof(none));
}

/* ---- binding ---- */

/* PULL slots are not the doctor's: a tree binds its own at each call. */
__attribute__((noinline, cold)) static void
tell_bound(const gph_slots *slots, const struct gphi_slot *slot, CUdeviceptr buffer)
{
    const uint32_t index = (uint32_t)(slot - slots->slots);
    const uint64_t words[] = {
        (uint64_t)(uintptr_t)slots,
        index,
        (uint64_t)slot->kind,
        buffer,
        slot->bytes,
        slot->kind == GPH_SLOT_REMAP ? 0 : gph_slots_address(slots, index)};
    if (slot->kind != GPH_SLOT_PULL)
        gphi_note(GPHI_NOTE_SLOT, slot->name, words, 6);
}

static void take_bound(gph_slots *slots, struct gphi_slot *slot, CUdeviceptr buffer)
{
    note_bound(slots, slot);
    if (gphi_note_is_on())
        tell_bound(slots, slot, buffer);
}

static void bind_address(gph_slots *slots, struct gphi_slot *slot, CUdeviceptr buffer)
{
    take_bound(slots, slot, buffer);
    if (slot->kind == GPH_SLOT_INDIRECT || slot->kind == GPH_SLOT_PULL) {
        slots->bound[slot->place] = buffer;
        return;
    }
    slot->bound = buffer;
    slots->dirty += !slot->is_dirty;
    slot->is_dirty = true;
}

gph_status gph_slots_bind(gph_slots *slots, uint32_t index, CUdeviceptr buffer,
                          gph_error *error)
{
    if (!slots || index >= slots->count || buffer == 0)
        return gphi_fail(error, GPH_E_INVALID, "slot %u of %u, buffer 0x%llx", index,
                         slots ? slots->count : 0, (unsigned long long)buffer);
    struct gphi_slot *slot = &slots->slots[index];
    if (slot->kind == GPH_SLOT_REMAP)
        return gphi_fail(error, GPH_E_INVALID,
                         "slot %u maps its buffer: gph_slots_bind_buffer() binds it",
                         index);
    bind_address(slots, slot, buffer);
    return GPH_OK;
}

gph_status gph_slots_bind_buffer(gph_slots *slots, uint32_t index,
                                 gph_slot_buffer *buffer, gph_error *error)
{
    GPHI_TRY(gphi_need(error, slots, buffer));
    if (index >= slots->count)
        return gphi_fail(error, GPH_E_INVALID, "there is no slot %u of %u", index,
                         slots->count);
    struct gphi_slot *slot = &slots->slots[index];
    if (slot->kind != GPH_SLOT_INDIRECT && buffer->bytes < slot->bytes)
        return gphi_fail(error, GPH_E_INVALID, "slot %u has %llu bytes, the buffer %llu",
                         index, (unsigned long long)slot->bytes,
                         (unsigned long long)buffer->bytes);
    if (slot->kind != GPH_SLOT_REMAP) {
        bind_address(slots, slot, buffer->address);
        return GPH_OK;
    }
    take_bound(slots, slot, 0);
    slot->buffer = buffer;
    return GPH_OK;
}
