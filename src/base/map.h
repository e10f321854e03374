// SPDX-License-Identifier: Apache-2.0
/* A hash map from 64-bit keys (handles, addresses) to 64-bit values. */
#ifndef GPHI_BASE_MAP_H
#define GPHI_BASE_MAP_H
#include <gph/base.h>
#include <stdbool.h>

/* Open addressing, linear probing, capacity a power of two, at most 7/8 full; removal
 * shifts later entries back, so there are no tombstones. */
struct gphi_map_slot {
    uint64_t key;
    uint64_t value;
    bool used;
};

typedef struct gphi_map {
    gph_allocator heap;
    size_t count;
    size_t capacity;
    struct gphi_map_slot *slots;
} gphi_map;

/* An empty one; allocates nothing. */
void gphi_map_init(gphi_map *map, gph_allocator heap);
void gphi_map_fini(gphi_map *map);

/* Adds the key or replaces its value. GPH_E_NO_MEMORY leaves the map as it was. */
gph_status gphi_map_set(gphi_map *map, uint64_t key, uint64_t value);

/* Room for `more` keys beyond the count, so that setting them cannot fail. */
gph_status gphi_map_reserve(gphi_map *map, size_t more);

/* The value's place, valid until the map changes, or NULL. */
uint64_t *gphi_map_get(const gphi_map *map, uint64_t key);

/* The value as the pointer that was set as one; NULL: the key is not there. */
static inline void *gphi_map_pointer(const gphi_map *map, uint64_t key)
{
    const uint64_t *value = gphi_map_get(map, key);
    return value ? (void *)(uintptr_t)*value : NULL;
}

/* Counts the key once more, from 0; how often now, or 0: no memory. */
uint64_t gphi_map_count(gphi_map *map, uint64_t key);

/* Whether the key was there. Never allocates. */
bool gphi_map_remove(gphi_map *map, uint64_t key);
#endif
