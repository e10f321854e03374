// SPDX-License-Identifier: Apache-2.0
/* SOFTCUDA_CHECK=memory: each access of a kernel against what is allocated, byte by byte.
 *
 * A thread remembers the allocations that it met last and the count of changes at that
 * time; as long as nothing was freed or unmapped since, further accesses to them take no
 * lock. */
#include <stdatomic.h>
#include <stdio.h>

#include "softcuda/memory/grapharena.h"

#define SEEN_COUNT 8u /* a kernel goes round a handful of arrays */

struct seen {
    const soft_memory *memory;
    uint64_t changes, base, bytes;
    bool writable;
};
static _Thread_local struct seen seen[SEEN_COUNT];
static _Thread_local uint32_t last, oldest;

/* Device memory that `memory` holds: an allocation, or a mapped range with its access. */
static bool check_device(soft_memory *memory, uint64_t address, uint64_t bytes,
                         bool write, soft_check *out)
{
    /* Read before the look-up: a change meanwhile makes the entry stale, not wrong. */
    const uint64_t changes = atomic_load_explicit(&memory->changes, memory_order_acquire);
    soft_allocation found;
    bool is_graph;
    /* Not remembered: it ends without a change that is counted. */
    if (soft_memory_find_held(memory, address, &found) &&
        address + bytes <= found.base + found.bytes) {
        out->at = soft_memory_reach(memory, address);
        return true;
    }
    if (!soft_graph_find_open(memory, address, &is_graph, &found) &&
        (is_graph || !soft_memory_find(memory, address, &found))) {
        soft_memory_describe(memory, address, out->reason, sizeof(out->reason));
        return false;
    }
    const bool writable = found.kind != SOFT_MEMORY_VMM || found.flags == 3;
    if (found.kind == SOFT_MEMORY_VMM && found.flags == 0) {
        snprintf(out->reason, sizeof(out->reason), "mapped without access");
        return false;
    }
    if (write && !writable) {
        snprintf(out->reason, sizeof(out->reason), "mapped for reading only");
        return false;
    }
    if (address + bytes > found.base + found.bytes) {
        snprintf(out->reason, sizeof(out->reason),
                 "ends %llu bytes past the allocation of %llu bytes at 0x%llx",
                 (unsigned long long)(address + bytes - found.base - found.bytes),
                 (unsigned long long)found.bytes, (unsigned long long)found.base);
        return false;
    }
    last = oldest++ % SEEN_COUNT;
    seen[last] = (struct seen){memory, changes, found.base, found.bytes, writable};
    out->at = soft_memory_reach(memory, address);
    return true;
}

/* The memory that a remembered allocation with all these bytes is of, or NULL. */
static const soft_memory *recall(soft_memory *const *memories, uint32_t count,
                                 uint64_t address, uint64_t bytes, bool write)
{
    for (uint32_t i = 0; i < SEEN_COUNT; i++) {
        const uint32_t at = (last + i) % SEEN_COUNT;
        const struct seen *s = &seen[at];
        if (address - s->base >= s->bytes || bytes > s->bytes - (address - s->base) ||
            (write && !s->writable))
            continue;
        for (uint32_t m = 0; m < count; m++) /* it may be gone: asked by its address */
            if (memories[m] == s->memory &&
                atomic_load_explicit(&memories[m]->changes, memory_order_acquire) ==
                    s->changes) {
                last = at;
                return s->memory;
            }
    }
    return NULL;
}

bool soft_check_access(soft_memory *const *memories, uint32_t count, uint64_t address,
                       uint64_t bytes, bool write, soft_check *out)
{
    const soft_memory *known = recall(memories, count, address, bytes, write);
    if (known) {
        out->at = soft_memory_reach(known, address);
        return true;
    }
    for (uint32_t i = 0; i < count; i++)
        if (soft_memory_contains(memories[i], address))
            return check_device(memories[i], address, bytes, write, out);
    soft_allocation host;
    out->at = address;
    if (soft_host_find(address, &host) && address + bytes <= host.base + host.bytes)
        return true;
    snprintf(out->reason, sizeof(out->reason),
             "no memory of the GPU; ordinary host memory is not for kernels");
    return false;
}
