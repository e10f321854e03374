// SPDX-License-Identifier: Apache-2.0
/* VMM: reserved ranges, physical handles, mappings. A handle's chunks live as long as the
 * handle or a mapping of it; one handle may be mapped at several addresses. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/memory/arena.h"
#include "softcuda/memory/share.h"

#define DEVICES 16u /* SOFT_DEVICE_MAX of softcuda/device */

struct soft_physical {
    soft_memory *memory;
    uint32_t references;  /* handles and mappings */
    uint32_t count;       /* of 2 MiB */
    int file;             /* of its own; -1: the device's */
    uint32_t chunk_count; /* 0 of an import, else count: the device's account */
    uint32_t chunks[];
};

struct soft_mapping {
    soft_physical *physical;
    uint32_t slot, slot_count;
    uint32_t access; /* the widest of all devices': what is mapped */
    uint8_t of_device[DEVICES];
    uint64_t buffer_id;
};

static size_t physical_size(uint32_t chunk_count)
{
    return sizeof(soft_physical) + chunk_count * sizeof(uint32_t);
}

static void release_locked(soft_physical *physical)
{
    if (--physical->references > 0)
        return;
    soft_memory *memory = physical->memory;
    /* The pages of a file of its own go with the last process that has them. */
    if (physical->file >= 0)
        close(physical->file);
    soft_chunks_give(memory, physical->chunk_count, physical->chunks, physical->file < 0);
    soft_memory_count(memory, -(int64_t)(physical->chunk_count * SOFT_CHUNK_BYTES));
    gphi_heap_free(memory->heap, physical, physical_size(physical->chunk_count));
}

static bool whole_chunks(uint64_t bytes)
{
    return bytes > 0 && bytes % SOFT_CHUNK_BYTES == 0;
}

static gph_status need_whole(uint64_t bytes, gph_error *error)
{
    if (whole_chunks(bytes))
        return GPH_OK;
    return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                     "%llu bytes are not a multiple of the granularity, 2 MiB",
                     (unsigned long long)bytes);
}

/* Takes over `file`. */
static gph_status create(soft_memory *memory, uint64_t bytes, int file,
                         soft_physical **out, gph_error *error)
{
    const uint64_t count = bytes / SOFT_CHUNK_BYTES;
    gph_status status = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&memory->mutex);
    soft_physical *physical = NULL;
    if (count <= memory->free_chunk_count)
        physical = gphi_heap_alloc(memory->heap, physical_size((uint32_t)count));
    if (physical) {
        *physical = (soft_physical){.memory = memory,
                                    .references = 1,
                                    .count = (uint32_t)count,
                                    .file = file,
                                    .chunk_count = (uint32_t)count};
        (void)soft_chunks_take(memory, (uint32_t)count, physical->chunks);
        soft_memory_count(memory, (int64_t)bytes);
        *out = physical;
        status = GPH_OK;
    }
    pthread_mutex_unlock(&memory->mutex);
    if (status == GPH_OK)
        return GPH_OK;
    if (file >= 0)
        close(file);
    return gphi_fail(error, status, "no %llu bytes of physical memory are left",
                     (unsigned long long)bytes);
}

gph_status soft_physical_create(soft_memory *memory, uint64_t bytes, soft_physical **out,
                                gph_error *error)
{
    GPHI_TRY(need_whole(bytes, error));
    return create(memory, bytes, -1, out, error);
}

gph_status soft_physical_create_shared(soft_memory *memory, uint64_t bytes,
                                       soft_physical **out, gph_error *error)
{
    int file;
    GPHI_TRY(need_whole(bytes, error));
    GPHI_TRY(
        soft_share_create(SOFT_SHARE_PHYSICAL, memory->physical, bytes, &file, error));
    return create(memory, bytes, file, out, error);
}

gph_status soft_physical_import(soft_memory *memory, int file, soft_physical **out,
                                gph_error *error)
{
    soft_label label;
    if (!soft_share_read(file, SOFT_SHARE_PHYSICAL, &label) ||
        !whole_chunks(label.bytes) || label.bytes / SOFT_CHUNK_BYTES > UINT32_MAX)
        return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                         "file descriptor %d is not memory of cuMemCreate", file);
    const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                         "no file descriptor is left (ulimit -n)");
    pthread_mutex_lock(&memory->mutex);
    soft_physical *physical = gphi_heap_alloc(memory->heap, physical_size(0));
    if (physical)
        *physical = (soft_physical){.memory = memory,
                                    .references = 1,
                                    .count = (uint32_t)(label.bytes / SOFT_CHUNK_BYTES),
                                    .file = own};
    pthread_mutex_unlock(&memory->mutex);
    if (!physical) {
        close(own);
        return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                         "memory for a handle of %llu bytes",
                         (unsigned long long)label.bytes);
    }
    *out = physical;
    return GPH_OK;
}

int soft_physical_file(const soft_physical *physical)
{
    return physical->file;
}

bool soft_physical_is_shared(const soft_physical *physical)
{
    return physical->file >= 0 && physical->chunk_count > 0;
}

void soft_physical_retain(soft_physical *physical)
{
    pthread_mutex_lock(&physical->memory->mutex);
    physical->references++;
    pthread_mutex_unlock(&physical->memory->mutex);
}

void soft_physical_release(soft_physical *physical)
{
    soft_memory *memory = physical->memory;
    pthread_mutex_lock(&memory->mutex);
    release_locked(physical);
    pthread_mutex_unlock(&memory->mutex);
}

/* A run of slots whose first address is a multiple of `step`. */
static uint32_t take_aligned(soft_memory *memory, uint64_t count, uint64_t step)
{
    const uint64_t extra = step / SOFT_CHUNK_BYTES - 1;
    if (count > memory->slot_count || extra > memory->slot_count - count)
        return SOFT_NO_CHUNK;
    const uint32_t slot =
        soft_slots_take(memory, (uint32_t)(count + extra), SOFT_SLOT_RANGE);
    if (slot == SOFT_NO_CHUNK || extra == 0)
        return slot;
    /* What lies around the aligned part goes back. */
    const uint64_t from = soft_slot_address(memory, slot);
    const uint32_t skip =
        (uint32_t)(((from + step - 1) / step * step - from) / SOFT_CHUNK_BYTES);
    soft_slots_give(memory, slot, skip);
    soft_slots_give(memory, slot + skip + (uint32_t)count, (uint32_t)extra - skip);
    return slot + skip;
}

gph_status soft_range_reserve(soft_memory *memory, uint64_t bytes, uint64_t alignment,
                              uint64_t wanted, uint64_t *out, gph_error *error)
{
    GPHI_TRY(need_whole(bytes, error));
    if (alignment & (alignment - 1))
        return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                         "alignment %llu is not a power of two",
                         (unsigned long long)alignment);
    const uint64_t count = bytes / SOFT_CHUNK_BYTES;
    const uint64_t step = alignment > SOFT_CHUNK_BYTES ? alignment : SOFT_CHUNK_BYTES;
    uint32_t slot;
    pthread_mutex_lock(&memory->mutex);
    if (!(wanted && wanted % step == 0 && count <= memory->slot_count &&
          soft_slot_of(memory, wanted, &slot) &&
          soft_slots_take_at(memory, slot, (uint32_t)count, SOFT_SLOT_RANGE)))
        slot = take_aligned(memory, count, step);
    for (uint32_t i = 0; slot != SOFT_NO_CHUNK && i < count; i++) {
        memory->slots[slot + i].range_head = slot;
        memory->slots[slot + i].range_count = (uint32_t)count;
    }
    pthread_mutex_unlock(&memory->mutex);
    if (slot == SOFT_NO_CHUNK)
        return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                         "no %llu MiB of addresses are left on device %u",
                         (unsigned long long)(bytes >> 20), memory->device);
    *out = soft_slot_address(memory, slot);
    return GPH_OK;
}

/* The slots [*slot, *slot + *count) if they are reserved, else false. */
static bool reserved_locked(const soft_memory *memory, uint64_t address, uint64_t bytes,
                            uint32_t *slot, uint32_t *count)
{
    if (!whole_chunks(bytes) || !soft_slot_of(memory, address, slot) ||
        soft_slot_address(memory, *slot) != address ||
        bytes / SOFT_CHUNK_BYTES > memory->slot_count - *slot)
        return false;
    *count = (uint32_t)(bytes / SOFT_CHUNK_BYTES);
    for (uint32_t i = 0; i < *count; i++)
        if (memory->slots[*slot + i].state != SOFT_SLOT_RANGE)
            return false;
    return true;
}

gph_status soft_range_free(soft_memory *memory, uint64_t address, uint64_t bytes,
                           gph_error *error)
{
    uint32_t slot, count;
    const char *why = NULL;
    pthread_mutex_lock(&memory->mutex);
    if (!reserved_locked(memory, address, bytes, &slot, &count) ||
        memory->slots[slot].range_head != slot ||
        memory->slots[slot].range_count != count)
        why = "is not exactly one reservation";
    for (uint32_t i = 0; !why && i < count; i++)
        if (memory->slots[slot + i].mapping)
            why = "still has memory mapped in it";
    if (!why)
        soft_slots_give(memory, slot, count);
    pthread_mutex_unlock(&memory->mutex);
    if (why)
        return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                         "the range of %llu bytes at 0x%llx %s",
                         (unsigned long long)bytes, (unsigned long long)address, why);
    return GPH_OK;
}

static bool map_physical(soft_memory *memory, uint32_t slot,
                         const soft_physical *physical)
{
    if (physical->file < 0)
        return soft_slots_map(memory, slot, physical->count, physical->chunks, PROT_NONE);
    const struct soft_places places = {.file = physical->file};
    return soft_slots_map_places(memory, slot, physical->count, &places, PROT_NONE);
}

gph_status soft_range_map(soft_memory *memory, uint64_t address, uint64_t bytes,
                          soft_physical *physical, gph_error *error)
{
    uint32_t slot, count;
    const char *why = NULL;
    gph_status status = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&memory->mutex);
    if (!reserved_locked(memory, address, bytes, &slot, &count))
        why = "is not reserved";
    else if (physical->memory != memory)
        why = "is on another device than the handle";
    else if (count != physical->count) {
        why = "differs in size from the handle";
        status = CUDA_ERROR_NOT_SUPPORTED;
    }
    for (uint32_t i = 0; !why && i < count; i++)
        if (memory->slots[slot + i].mapping)
            why = "has memory mapped in it already";
    struct soft_mapping *mapping = NULL;
    if (!why) {
        mapping = gphi_heap_alloc(memory->heap, sizeof(*mapping));
        if (!mapping || !map_physical(memory, slot, physical)) {
            gphi_heap_free(memory->heap, mapping, sizeof(*mapping));
            why = "cannot be mapped: the system is out of memory";
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    if (!why) {
        *mapping = (struct soft_mapping){.physical = physical,
                                         .slot = slot,
                                         .slot_count = count,
                                         .buffer_id = soft_next_buffer_id()};
        physical->references++;
        for (uint32_t i = 0; i < count; i++)
            memory->slots[slot + i].mapping = mapping;
    }
    pthread_mutex_unlock(&memory->mutex);
    if (why)
        return gphi_fail(error, status, "the range of %llu bytes at 0x%llx %s",
                         (unsigned long long)bytes, (unsigned long long)address, why);
    return GPH_OK;
}

/* Whether [slot, slot + count) is made of whole mappings, perhaps with gaps between. */
static bool whole_mappings_locked(const soft_memory *memory, uint32_t slot,
                                  uint32_t count, bool gaps)
{
    for (uint32_t i = 0; i < count;) {
        const struct soft_mapping *mapping = memory->slots[slot + i].mapping;
        if (!mapping && gaps) {
            i++;
            continue;
        }
        if (!mapping || mapping->slot != slot + i || mapping->slot_count > count - i)
            return false;
        i += mapping->slot_count;
    }
    return true;
}

static void unmap_locked(soft_memory *memory, struct soft_mapping *mapping)
{
    soft_slots_unmap(memory, mapping->slot, mapping->slot_count);
    for (uint32_t i = 0; i < mapping->slot_count; i++)
        memory->slots[mapping->slot + i].mapping = NULL;
    release_locked(mapping->physical);
    gphi_heap_free(memory->heap, mapping, sizeof(*mapping));
}

gph_status soft_range_unmap(soft_memory *memory, uint64_t address, uint64_t bytes,
                            gph_error *error)
{
    uint32_t slot, count;
    pthread_mutex_lock(&memory->mutex);
    const bool whole = reserved_locked(memory, address, bytes, &slot, &count) &&
                       whole_mappings_locked(memory, slot, count, true);
    for (uint32_t i = 0; whole && i < count;) {
        struct soft_mapping *mapping = memory->slots[slot + i].mapping;
        i += mapping ? mapping->slot_count : 1;
        if (mapping)
            unmap_locked(memory, mapping);
    }
    if (whole)
        soft_memory_note_freed(memory, address, bytes);
    pthread_mutex_unlock(&memory->mutex);
    if (!whole)
        return gphi_fail(
            error, CUDA_ERROR_INVALID_VALUE,
            "%llu bytes at 0x%llx are reserved in part or end within a mapping",
            (unsigned long long)bytes, (unsigned long long)address);
    return GPH_OK;
}

static int prot_of(uint32_t access)
{
    return access == 3 ? PROT_READ | PROT_WRITE : access == 1 ? PROT_READ : PROT_NONE;
}

/* Gives one device its access to a mapping; true if what is mapped changes. */
static bool give(struct soft_mapping *mapping, uint32_t device, uint32_t access)
{
    uint32_t widest = 0;
    mapping->of_device[device] = (uint8_t)access;
    for (uint32_t i = 0; i < DEVICES; i++)
        widest = mapping->of_device[i] > widest ? mapping->of_device[i] : widest;
    const bool changes = widest != mapping->access;
    mapping->access = widest;
    return changes;
}

/* Mapping by mapping: neighbors may be open to other devices. */
static bool give_all_locked(soft_memory *memory, uint32_t slot, uint32_t count,
                            uint32_t device, uint32_t access)
{
    bool done = true;
    for (uint32_t i = 0; i < count;) {
        struct soft_mapping *mapping = memory->slots[slot + i].mapping;
        if (give(mapping, device, access))
            done = soft_slots_protect(memory, mapping->slot, mapping->slot_count,
                                      prot_of(mapping->access)) &&
                   done;
        i += mapping->slot_count;
    }
    return done;
}

gph_status soft_range_set_access_of(soft_memory *memory, uint64_t address, uint64_t bytes,
                                    uint32_t device, uint32_t access, gph_error *error)
{
    if (access != 0 && access != 1 && access != 3)
        return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                         "access %u is not one of 0, 1 (read), 3 (read and write)",
                         access);
    if (device >= DEVICES)
        return gphi_fail(error, CUDA_ERROR_INVALID_VALUE, "there is no device %u",
                         device);
    uint32_t slot, count;
    pthread_mutex_lock(&memory->mutex);
    const bool whole = reserved_locked(memory, address, bytes, &slot, &count) &&
                       whole_mappings_locked(memory, slot, count, false);
    const bool done = whole && give_all_locked(memory, slot, count, device, access);
    if (device != memory->device)
        atomic_store_explicit(&memory->has_peers, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&memory->changes, 1, memory_order_release);
    pthread_mutex_unlock(&memory->mutex);
    if (!whole)
        return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                         "%llu bytes at 0x%llx are not exactly what was mapped",
                         (unsigned long long)bytes, (unsigned long long)address);
    if (!done)
        return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                         "the system refuses access %u to %llu bytes at 0x%llx", access,
                         (unsigned long long)bytes, (unsigned long long)address);
    return GPH_OK;
}

gph_status soft_range_set_access(soft_memory *memory, uint64_t address, uint64_t bytes,
                                 uint32_t access, gph_error *error)
{
    return soft_range_set_access_of(memory, address, bytes, memory->device, access,
                                    error);
}

bool soft_range_has_peers(const soft_memory *memory)
{
    return atomic_load_explicit(&((soft_memory *)(uintptr_t)memory)->has_peers,
                                memory_order_relaxed);
}

uint64_t soft_memory_changes(const soft_memory *memory)
{
    return atomic_load_explicit(&((soft_memory *)(uintptr_t)memory)->changes,
                                memory_order_acquire);
}

static struct soft_mapping *mapping_locked(const soft_memory *memory, uint64_t address)
{
    uint32_t slot;
    if (!soft_slot_of(memory, address, &slot) ||
        memory->slots[slot].state != SOFT_SLOT_RANGE)
        return NULL;
    return memory->slots[slot].mapping;
}

bool soft_range_get_access(soft_memory *memory, uint64_t address, uint32_t *access)
{
    pthread_mutex_lock(&memory->mutex);
    const struct soft_mapping *mapping = mapping_locked(memory, address);
    if (mapping)
        *access = mapping->access;
    pthread_mutex_unlock(&memory->mutex);
    return mapping;
}

bool soft_range_get_access_of(soft_memory *memory, uint64_t address, uint32_t device,
                              uint32_t *access)
{
    pthread_mutex_lock(&memory->mutex);
    const struct soft_mapping *mapping = mapping_locked(memory, address);
    if (mapping)
        *access = device < DEVICES ? mapping->of_device[device] : 0;
    pthread_mutex_unlock(&memory->mutex);
    return mapping;
}

soft_physical *soft_range_physical(soft_memory *memory, uint64_t address)
{
    pthread_mutex_lock(&memory->mutex);
    struct soft_mapping *mapping = mapping_locked(memory, address);
    soft_physical *physical = mapping ? mapping->physical : NULL;
    if (physical)
        physical->references++;
    pthread_mutex_unlock(&memory->mutex);
    return physical;
}

bool soft_range_find(soft_memory *memory, uint64_t address, soft_allocation *out)
{
    const struct soft_mapping *mapping = mapping_locked(memory, address);
    if (!mapping)
        return false;
    *out = (soft_allocation){.base = soft_slot_address(memory, mapping->slot),
                             .bytes = mapping->slot_count * SOFT_CHUNK_BYTES,
                             .kind = SOFT_MEMORY_VMM,
                             .device = memory->device,
                             .flags = mapping->access,
                             .buffer_id = mapping->buffer_id};
    return true;
}

void soft_ranges_drop(soft_memory *memory)
{
    for (uint32_t i = 0; memory->slots && i < memory->slot_count; i++)
        if (memory->slots[i].mapping)
            unmap_locked(memory, memory->slots[i].mapping);
}
