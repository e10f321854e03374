// SPDX-License-Identifier: Apache-2.0
/* cuIpc of memory: allocations of cuMemAlloc, found by a handle of 64 bytes.
 *
 *   handle -> process, descriptor of its ledger, entry, serial
 *   ledger -> entry: address and size; for each slot, which chunk it shows; the device's file
 *
 * A serial that is 0 or another one says that the allocation was freed. The ledger is made
 * with the first export; chunks of an exported allocation stay where they are until it is
 * freed. What is mapped already stays good when the exporter ends. */
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/memory/import.h"

#define ENTRIES 8192u

struct entry {
    _Atomic uint64_t serial; /* 0: free. Release after the rest; partner: open_entry() */
    uint64_t address, bytes;
};

/* What the file holds; written by its process alone. */
struct shown {
    int32_t store; /* descriptor of the device's file */
    uint32_t slot_count;
    uint64_t store_id[2];
    uint64_t base; /* address of slot 0 */
    struct entry entries[ENTRIES];
    _Atomic uint32_t chunks[]; /* by slot */
};

struct soft_ledger {
    int file;
    uint64_t id[2];
    uint64_t bytes, last_serial;
    struct shown *shown;
};

static uint64_t shown_bytes(uint32_t slot_count)
{
    return sizeof(struct shown) + slot_count * sizeof(uint32_t);
}

/* ---- export ------------------------------------------------------------------------ */

static gph_status make_ledger(soft_memory *memory, gph_error *error)
{
    soft_label store, label;
    if (!soft_share_read(memory->file, SOFT_SHARE_DEVICE, &store))
        return gphi_fail(error, CUDA_ERROR_NOT_SUPPORTED,
                         "the memory of device %u lies in no file, as this process may "
                         "not make one so large (ulimit -f): it cannot be shared",
                         memory->device);
    struct soft_ledger ledger = {.bytes = shown_bytes(memory->slot_count)};
    GPHI_TRY(soft_share_create(SOFT_SHARE_LEDGER, memory->physical, ledger.bytes,
                               &ledger.file, error));
    struct soft_ledger *kept = gphi_heap_alloc(memory->heap, sizeof(*kept));
    ledger.shown =
        mmap(NULL, ledger.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ledger.file, 0);
    if (!kept || ledger.shown == MAP_FAILED ||
        !soft_share_read(ledger.file, SOFT_SHARE_LEDGER, &label)) {
        if (ledger.shown != MAP_FAILED)
            munmap(ledger.shown, ledger.bytes);
        gphi_heap_free(memory->heap, kept, sizeof(*kept));
        close(ledger.file);
        return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY, "memory for a ledger");
    }
    memcpy(ledger.id, label.id, sizeof(ledger.id));
    ledger.shown->store = memory->file;
    ledger.shown->slot_count = memory->slot_count;
    memcpy(ledger.shown->store_id, store.id, sizeof(store.id));
    ledger.shown->base = soft_slot_address(memory, 0);
    *kept = ledger;
    memory->ledger = kept;
    return GPH_OK;
}

void soft_ledger_drop(soft_memory *memory)
{
    struct soft_ledger *ledger = memory->ledger;
    if (!ledger)
        return;
    munmap(ledger->shown, ledger->bytes);
    close(ledger->file);
    gphi_heap_free(memory->heap, ledger, sizeof(*ledger));
    memory->ledger = NULL;
}

static void write_entry(soft_memory *memory, struct soft_block *block, uint32_t at)
{
    struct soft_ledger *ledger = memory->ledger;
    struct entry *entry = &ledger->shown->entries[at];
    uint32_t slot;
    if (!soft_slot_of(memory, block->info.base, &slot))
        return; /* a block lies in the range */
    const uint64_t end = block->info.base + block->info.bytes;
    for (; soft_slot_address(memory, slot) < end; slot++)
        atomic_store_explicit(&ledger->shown->chunks[slot], memory->slots[slot].chunk,
                              memory_order_relaxed);
    entry->address = block->info.base;
    entry->bytes = block->info.bytes;
    atomic_store_explicit(&entry->serial, ++ledger->last_serial, memory_order_release);
    block->exported = at + 1;
}

void soft_ledger_forget(soft_memory *memory, struct soft_block *block)
{
    if (block->exported == 0)
        return;
    atomic_store_explicit(&memory->ledger->shown->entries[block->exported - 1].serial, 0,
                          memory_order_release);
    block->exported = 0;
}

static gph_status export_locked(soft_memory *memory, struct soft_block *block,
                                soft_share_handle *out, gph_error *error)
{
    if (!memory->ledger)
        GPHI_TRY(make_ledger(memory, error));
    const struct soft_ledger *ledger = memory->ledger;
    if (block->exported == 0) {
        uint32_t at = 0;
        while (at < ENTRIES && atomic_load_explicit(&ledger->shown->entries[at].serial,
                                                    memory_order_relaxed) != 0)
            at++;
        if (at == ENTRIES)
            return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                             "%u allocations are shared already", ENTRIES);
        write_entry(memory, block, at);
    }
    *out = (soft_share_handle){
        .kind = SOFT_SHARE_LEDGER,
        .process = getpid(),
        .file = ledger->file,
        .entry = block->exported - 1,
        .id = {ledger->id[0], ledger->id[1]},
        .serial = atomic_load_explicit(
            &ledger->shown->entries[block->exported - 1].serial, memory_order_relaxed)};
    soft_share_seal(out);
    return GPH_OK;
}

gph_status soft_ipc_export(soft_memory *memory, uint64_t address, soft_share_handle *out,
                           gph_error *error)
{
    pthread_mutex_lock(&memory->mutex);
    struct soft_block *block = soft_block_at(memory, address);
    const bool known = block && block->used && !block->pending &&
                       block->info.kind == SOFT_MEMORY_DEVICE &&
                       address - block->info.base < block->info.bytes;
    const gph_status status =
        known ? export_locked(memory, block, out, error) : CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&memory->mutex);
    if (!known)
        return gphi_fail(error, status, "0x%llx is not of cuMemAlloc",
                         (unsigned long long)address);
    return status;
}

/* ---- import ------------------------------------------------------------------------ */

/* What a handle leads to. */
struct found {
    uint64_t offset, bytes; /* in the first chunk */
    uint32_t count;
    uint32_t *chunks; /* of the memory's allocator */
    int store;
};

/* Copies an entry out of another process' ledger. Nothing there is believed. */
static bool copy_entry(soft_memory *memory, const struct shown *shown,
                       const soft_label *label, const soft_share_handle *handle,
                       struct found *out)
{
    const struct entry *entry = &shown->entries[handle->entry];
    const uint32_t slots = shown->slot_count;
    if (shown_bytes(slots) != label->bytes ||
        atomic_load_explicit(&((struct entry *)(uintptr_t)entry)->serial,
                             memory_order_acquire) != handle->serial)
        return false;
    const uint64_t at = entry->address - shown->base, bytes = entry->bytes;
    const uint64_t range = slots * SOFT_CHUNK_BYTES;
    if (at >= range || bytes == 0 || bytes > range - at)
        return false;
    const uint64_t first = at / SOFT_CHUNK_BYTES;
    out->offset = at % SOFT_CHUNK_BYTES;
    out->bytes = bytes;
    out->count =
        (uint32_t)((out->offset + bytes + SOFT_CHUNK_BYTES - 1) / SOFT_CHUNK_BYTES);
    out->chunks = gphi_heap_array(memory->heap, out->count, sizeof(*out->chunks));
    for (uint32_t i = 0; out->chunks && i < out->count; i++)
        out->chunks[i] =
            atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)&shown->chunks[first + i],
                                 memory_order_relaxed);
    return out->chunks;
}

/* The device's file of the other process, which must hold every chunk. */
static bool open_store(const struct shown *shown, const soft_share_handle *handle,
                       struct found *out)
{
    soft_label label;
    out->store = soft_share_reach(handle->process, shown->store, SOFT_SHARE_DEVICE,
                                  shown->store_id, &label);
    if (out->store < 0)
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        if (out->chunks[i] >= label.bytes / SOFT_CHUNK_BYTES)
            return false;
    return true;
}

static bool follow(soft_memory *memory, const soft_share_handle *handle,
                   struct found *out)
{
    soft_label label;
    const int file = soft_share_reach(handle->process, handle->file, SOFT_SHARE_LEDGER,
                                      handle->id, &label);
    if (file < 0 || handle->entry >= ENTRIES || handle->serial == 0 ||
        label.bytes < sizeof(struct shown)) {
        if (file >= 0)
            close(file);
        return false;
    }
    struct shown *shown = mmap(NULL, label.bytes, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (shown == MAP_FAILED)
        return false;
    const bool found =
        copy_entry(memory, shown, &label, handle, out) && open_store(shown, handle, out);
    munmap(shown, label.bytes);
    return found;
}

static struct soft_import *open_locked(soft_memory *memory,
                                       const soft_share_handle *handle, bool *known)
{
    struct soft_import *import = soft_import_of(memory, handle);
    *known = true;
    if (import) {
        import->opens++;
        return import;
    }
    struct found found = {.store = -1};
    const bool is_there = follow(memory, handle, &found);
    const struct soft_places places = {.file = found.store, .list = found.chunks};
    *known = is_there || (found.count > 0 && !found.chunks); /* no memory for the list */
    if (is_there)
        import = soft_import_add(memory, &places, found.offset, found.bytes, handle);
    if (import)
        import->info.kind = SOFT_MEMORY_SHARED;
    if (found.store >= 0)
        close(found.store);
    gphi_heap_free(memory->heap, found.chunks, found.count * sizeof(*found.chunks));
    return import;
}

gph_status soft_ipc_open(soft_memory *memory, const soft_share_handle *handle,
                         uint64_t *out, gph_error *error)
{
    bool known;
    pthread_mutex_lock(&memory->mutex);
    const struct soft_import *import = open_locked(memory, handle, &known);
    if (import)
        *out = import->info.base;
    pthread_mutex_unlock(&memory->mutex);
    if (import)
        return GPH_OK;
    if (known)
        return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                         "no addresses are left for the memory of process %d",
                         handle->process);
    return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                     "process %d does not have that memory any more: it was freed, or "
                     "the process has ended, or is of another user or PID namespace",
                     handle->process);
}

gph_status soft_ipc_close(soft_memory *memory, uint64_t address, gph_error *error)
{
    pthread_mutex_lock(&memory->mutex);
    struct soft_import *import = soft_import_at(memory, address);
    const bool ours =
        import && import->info.kind == SOFT_MEMORY_SHARED && import->info.base == address;
    if (ours && --import->opens == 0) {
        soft_memory_note_freed(memory, address, import->info.bytes);
        soft_import_drop(memory, import);
    }
    pthread_mutex_unlock(&memory->mutex);
    if (ours)
        return GPH_OK;
    return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                     "0x%llx is not of cuIpcOpenMemHandle", (unsigned long long)address);
}
