// SPDX-License-Identifier: Apache-2.0
/* Sets of handles, without a lock. */
#include "attach/track/handle.h"
#include "base/hash.h"

enum { KERNELS = 1 << 15, PROBES = 128, REMOVED = 1 };

static _Atomic uint64_t stream_keys[ATTACH_STREAMS_MAX], graph_keys[ATTACH_GRAPHS_MAX],
    kernel_keys[KERNELS];
static _Atomic uint8_t stream_flags[ATTACH_STREAMS_MAX], graph_flags[ATTACH_GRAPHS_MAX],
    kernel_flags[KERNELS];

const attach_set attach_streams = {stream_keys, stream_flags, ATTACH_STREAMS_MAX - 1};
const attach_set attach_graphs = {graph_keys, graph_flags, ATTACH_GRAPHS_MAX - 1};
const attach_set attach_kernels = {kernel_keys, kernel_flags, KERNELS - 1};

static uint32_t first_place(uint64_t key)
{
    return (uint32_t)gphi_hash_mix(key);
}

long attach_set_find(const attach_set *in, uint64_t key)
{
    for (uint32_t i = 0, at = first_place(key); i < PROBES; i++, at++) {
        const uint64_t there =
            atomic_load_explicit(&in->keys[at & in->mask], memory_order_acquire);
        if (there == key)
            return at & in->mask;
        if (there == 0)
            return -1;
    }
    return -1;
}

void attach_set_add(const attach_set *in, uint64_t key, uint8_t flags)
{
    long place = key > REMOVED ? attach_set_find(in, key) : 0;
    if (key <= REMOVED)
        return;
    for (uint32_t i = 0, at = first_place(key); place < 0 && i < PROBES; i++, at++) {
        uint64_t there = atomic_load(&in->keys[at & in->mask]);
        if (there <= REMOVED &&
            atomic_compare_exchange_strong(&in->keys[at & in->mask], &there, key))
            place = at & in->mask;
    }
    if (place >= 0)
        atomic_store(&in->flags[place], flags);
}

void attach_set_remove(const attach_set *in, uint64_t key)
{
    const long place = attach_set_find(in, key);
    if (place >= 0)
        atomic_store(&in->keys[place], REMOVED);
}
