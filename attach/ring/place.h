// SPDX-License-Identifier: Apache-2.0
/* Tables of keys that only grow, without a lock: whoever puts a key first gives it its
 * place, and it keeps it. */
#ifndef ATTACH_PLACE_H
#define ATTACH_PLACE_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The place of `key` among `size` keys, a power of two, 0 being free; taken if it was not
 * there. -1: there is no room near its hash. */
static inline long attach_place(_Atomic uint64_t *keys, uint32_t size, uint64_t hash,
                                uint64_t key, bool *is_new)
{
    enum { PROBES = 64 };
    for (uint32_t i = 0; i < PROBES; i++) {
        const uint32_t at = (uint32_t)(hash + i) & (size - 1);
        uint64_t there = atomic_load_explicit(&keys[at], memory_order_acquire);
        *is_new = there == 0 && atomic_compare_exchange_strong(&keys[at], &there, key);
        if (*is_new || there == key)
            return at;
    }
    return -1;
}
#endif
