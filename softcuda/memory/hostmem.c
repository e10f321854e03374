// SPDX-License-Identifier: Apache-2.0
/* Host memory that CUDA knows: allocated by cuMemHostAlloc or registered by its owner.
 * One registry a process, sorted by address; lookups are rare beside launches. */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/vec.h"
#include "softcuda/memory/arena.h"

static struct {
    pthread_rwlock_t lock;
    soft_allocation *entries; /* sorted by base, never overlapping */
    size_t count;
    uint32_t capacity;
} registry = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* The first entry that ends after `address`. */
static size_t find_locked(uint64_t address)
{
    const soft_allocation *entry = registry.entries;
    size_t low;
    GPHI_HALVE(low, registry.count, at, entry[at].base + entry[at].bytes <= address);
    return low;
}

/* The last one takes the array along: a process that is done keeps nothing. */
static void remove_locked(size_t at)
{
    registry.count--;
    memmove(&registry.entries[at], &registry.entries[at + 1],
            (registry.count - at) * sizeof(*registry.entries));
    if (registry.count > 0)
        return;
    gphi_heap_free(gphi_heap(NULL), registry.entries,
                   registry.capacity * sizeof(*registry.entries));
    registry.entries = NULL;
    registry.capacity = 0;
}

/* HOST_MEMORY_ALREADY_REGISTERED on overlap, or GPH_E_NO_MEMORY. */
static gph_status add(const soft_allocation *entry)
{
    gph_status status = GPH_OK;
    pthread_rwlock_wrlock(&registry.lock);
    const size_t at = find_locked(entry->base);
    if (at < registry.count && registry.entries[at].base < entry->base + entry->bytes) {
        status = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
        goto unlock;
    }
    soft_allocation *entries =
        gphi_array_room(gphi_heap(NULL), registry.entries, &registry.capacity,
                        registry.count + 1, sizeof(*entries));
    if (!entries) {
        status = GPH_E_NO_MEMORY;
        goto unlock;
    }
    registry.entries = entries;
    memmove(&registry.entries[at + 1], &registry.entries[at],
            (registry.count - at) * sizeof(*registry.entries));
    registry.entries[at] = *entry;
    registry.count++;
unlock:
    pthread_rwlock_unlock(&registry.lock);
    return status;
}

gph_status soft_host_alloc(uint64_t bytes, uint32_t flags, void *owner, uint64_t *out,
                           gph_error *error)
{
    if (bytes == 0)
        return gphi_fail(error, CUDA_ERROR_INVALID_VALUE, "a host allocation of 0 bytes");
    void *fresh = bytes > SIZE_MAX / 2
                      ? MAP_FAILED
                      : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED)
        return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                         "the system has no %llu bytes of host memory",
                         (unsigned long long)bytes);
    const soft_allocation entry = {.base = (uint64_t)(uintptr_t)fresh,
                                   .bytes = bytes,
                                   .kind = SOFT_MEMORY_HOST,
                                   .flags = flags,
                                   .buffer_id = soft_next_buffer_id(),
                                   .owner = owner};
    const gph_status status = add(&entry);
    if (status != GPH_OK) {
        munmap(fresh, bytes);
        return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                         "no memory to note a host allocation of %llu bytes",
                         (unsigned long long)bytes);
    }
    *out = entry.base;
    return GPH_OK;
}

gph_status soft_host_free(uint64_t address, gph_error *error)
{
    pthread_rwlock_wrlock(&registry.lock);
    const size_t at = find_locked(address);
    const bool ours = at < registry.count && registry.entries[at].base == address &&
                      registry.entries[at].kind == SOFT_MEMORY_HOST;
    if (ours) {
        munmap((void *)(uintptr_t)address, registry.entries[at].bytes);
        remove_locked(at);
    }
    pthread_rwlock_unlock(&registry.lock);
    if (ours)
        return GPH_OK;
    return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                     "0x%llx is not the start of a host allocation",
                     (unsigned long long)address);
}

gph_status soft_host_register(uint64_t address, uint64_t bytes, uint32_t flags,
                              void *owner, gph_error *error)
{
    if (address == 0 || bytes == 0 || address + bytes < address)
        return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                         "cannot register %llu bytes at 0x%llx",
                         (unsigned long long)bytes, (unsigned long long)address);
    const soft_allocation entry = {.base = address,
                                   .bytes = bytes,
                                   .kind = SOFT_MEMORY_REGISTERED,
                                   .flags = flags,
                                   .buffer_id = soft_next_buffer_id(),
                                   .owner = owner};
    const gph_status status = add(&entry);
    if (status == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
        return gphi_fail(error, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                         "part of the %llu bytes at 0x%llx is registered already",
                         (unsigned long long)bytes, (unsigned long long)address);
    if (status != GPH_OK)
        return gphi_fail(error, status, "registering host memory");
    return GPH_OK;
}

gph_status soft_host_unregister(uint64_t address, gph_error *error)
{
    pthread_rwlock_wrlock(&registry.lock);
    const size_t at = find_locked(address);
    const bool ours = at < registry.count && registry.entries[at].base == address &&
                      registry.entries[at].kind == SOFT_MEMORY_REGISTERED;
    const bool inside = at < registry.count && !ours &&
                        registry.entries[at].base < address &&
                        registry.entries[at].kind == SOFT_MEMORY_REGISTERED;
    if (ours)
        remove_locked(at);
    pthread_rwlock_unlock(&registry.lock);
    if (ours)
        return GPH_OK;
    return gphi_fail(
        error, inside ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
        "0x%llx is not the start of registered host memory", (unsigned long long)address);
}

bool soft_host_find(uint64_t address, soft_allocation *out)
{
    pthread_rwlock_rdlock(&registry.lock);
    const size_t at = find_locked(address);
    const bool found = at < registry.count && registry.entries[at].base <= address;
    if (found)
        *out = registry.entries[at];
    pthread_rwlock_unlock(&registry.lock);
    return found;
}

void soft_host_free_owner(void *owner)
{
    pthread_rwlock_wrlock(&registry.lock);
    for (size_t i = registry.count; i-- > 0;) {
        const soft_allocation *entry = &registry.entries[i];
        if (entry->owner != owner)
            continue;
        if (entry->kind == SOFT_MEMORY_HOST)
            munmap((void *)(uintptr_t)entry->base, entry->bytes);
        remove_locked(i);
    }
    pthread_rwlock_unlock(&registry.lock);
}
