// SPDX-License-Identifier: Apache-2.0
/* Access of one device to another's memory. All devices' memory is mapped in the process,
 * so what a GPU's page tables refuse is looked up here: where there are several devices,
 * kernels are compiled to ask before each access.
 *
 *   memory            may be used by
 *   cuMemAlloc        contexts that enabled access to its device
 *   a pool            devices named by cuMemPoolSetAccess
 *   a graph           devices named by the alloc node
 *   a mapping         devices named by cuMemSetAccess, its own as any other          */
#include "softcuda/device/peer.h"

#include <stdio.h>

#include "softcuda/device/device.h"
#include "softcuda/device/poolobject.h"
#include "softcuda/memory/graphmem.h"
#include "softcuda/rules/rules.h"

static atomic_uint_fast64_t changes; /* of who may use what */

void soft_peer_changed(void)
{
    /* Release: pairs with the acquire of a thread that remembers. */
    atomic_fetch_add_explicit(&changes, 1, memory_order_release);
}

static bool may_use(const soft_context *context, const soft_device *holder,
                    const soft_allocation *found, uint64_t address, bool write)
{
    const int own = context->device->ordinal;
    uint32_t access = 3;
    switch (found->kind) {
    case SOFT_MEMORY_DEVICE:
        return holder == context->device ||
               (atomic_load_explicit(&((soft_context *)(uintptr_t)context)->peers,
                                     memory_order_relaxed) >>
                    holder->ordinal &
                1);
    case SOFT_MEMORY_POOL: {
        soft_pool_object *pool = soft_pool_object_of(found->pool);
        return !pool || atomic_load(&pool->access[own]) != 0;
    }
    case SOFT_MEMORY_GRAPH:
        return holder == context->device || (found->flags >> own & 1) ||
               !soft_rule(G_wider_mapping);
    case SOFT_MEMORY_VMM:
        (void)soft_range_get_access_of(holder->memory, address, (uint32_t)own, &access);
        return write ? access == 3 : access != 0;
    default: return true;
    }
}

/* What has the byte. Memory of graphs may be allocated and freed by a launch without
 * anybody else ever seeing it live. */
static bool find_allocation(const soft_device *holder, uint64_t address,
                            soft_allocation *out)
{
    return soft_graph_known(holder->memory, address, 1, out) ||
           soft_memory_find(holder->memory, address, out);
}

/* What a thread met last. */
struct remembered {
    uint64_t context_id, changes, memory_changes, base, bytes;
    const soft_device *holder;
};
static _Thread_local struct remembered last;

static bool recall(const soft_context *context, uint64_t address)
{
    return address - last.base < last.bytes && last.context_id == context->id &&
           last.changes == atomic_load_explicit(&changes, memory_order_acquire) &&
           last.memory_changes == soft_memory_changes(last.holder->memory);
}

bool soft_peer_may_use(const soft_context *context, uint64_t address, bool write)
{
    const soft_device *own = context->device;
    if (soft_memory_contains(own->memory, address) && !soft_range_has_peers(own->memory))
        return true;
    if (!soft_rule(M_peer_access) || (!write && recall(context, address)))
        return true;
    const soft_device *holder = soft_device_holding(address);
    soft_allocation found;
    struct remembered now = {.context_id = context->id,
                             .changes =
                                 atomic_load_explicit(&changes, memory_order_acquire)};
    if (holder)
        now.memory_changes = soft_memory_changes(holder->memory);
    if (!holder || !find_allocation(holder, address, &found))
        return true; /* no device memory: not ours to judge */
    if (!may_use(context, holder, &found, address, write))
        return false;
    now.base = found.base;
    now.bytes = found.bytes;
    now.holder = holder;
    last = now;
    return true;
}

static const char *how_to_ask(const soft_device *holder, uint64_t address)
{
    soft_allocation found;
    if (!find_allocation(holder, address, &found))
        return "cuCtxEnablePeerAccess";
    switch (found.kind) {
    case SOFT_MEMORY_POOL: return "cuMemPoolSetAccess";
    case SOFT_MEMORY_VMM: return "cuMemSetAccess";
    case SOFT_MEMORY_GRAPH: return "accessDescs of the alloc node";
    default: return "cuCtxEnablePeerAccess";
    }
}

void soft_peer_explain(const soft_context *context, uint64_t address, char *text,
                       size_t bytes)
{
    const soft_device *holder = soft_device_holding(address);
    snprintf(text, bytes,
             "memory of device %d, to which device %d was given no access (%s)",
             holder->ordinal, context->device->ordinal, how_to_ask(holder, address));
}

CUresult soft_peer_check(const soft_context *context, uint64_t address, bool write)
{
    char text[200];
    if (soft_device_count() < 2 || soft_peer_may_use(context, address, write))
        return CUDA_SUCCESS;
    soft_peer_explain(context, address, text, sizeof(text));
    return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx: %s", (unsigned long long)address,
                     text);
}
