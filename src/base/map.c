// SPDX-License-Identifier: Apache-2.0
/* A hash map of 64-bit words. */
#include "base/map.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/heap.h"

enum { CAPACITY_MIN = 16 };

void gphi_map_init(gphi_map *map, gph_allocator heap)
{
    *map = (gphi_map){.heap = heap};
}

void gphi_map_fini(gphi_map *map)
{
    gphi_heap_free(map->heap, map->slots, map->capacity * sizeof(*map->slots));
    gphi_map_init(map, map->heap);
}

/* The key's slot, or the free one where it belongs. */
static struct gphi_map_slot *probe(const gphi_map *map, uint64_t key)
{
    size_t at = (size_t)gphi_hash_mix(key) & (map->capacity - 1);
    while (map->slots[at].used && map->slots[at].key != key)
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

static gph_status grow(gphi_map *map)
{
    gphi_map next = {.heap = map->heap, .count = map->count};
    next.capacity = map->capacity == 0 ? CAPACITY_MIN : map->capacity * 2;
    next.slots = gphi_heap_array(map->heap, next.capacity, sizeof(*next.slots));
    if (!next.slots)
        return GPH_E_NO_MEMORY;

    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].used)
            *probe(&next, map->slots[i].key) = map->slots[i];
    gphi_map_fini(map);
    *map = next;
    return GPH_OK;
}

gph_status gphi_map_reserve(gphi_map *map, size_t more)
{
    while (map->count + more > map->capacity - map->capacity / 8)
        GPHI_TRY(grow(map));
    return GPH_OK;
}

gph_status gphi_map_set(gphi_map *map, uint64_t key, uint64_t value)
{
    uint64_t *old = gphi_map_get(map, key);
    if (old) {
        *old = value;
        return GPH_OK;
    }

    if (map->count + 1 > map->capacity - map->capacity / 8) {
        const gph_status status = grow(map);
        if (status != GPH_OK)
            return status;
    }
    *probe(map, key) = (struct gphi_map_slot){.key = key, .value = value, .used = true};
    map->count++;
    return GPH_OK;
}

uint64_t *gphi_map_get(const gphi_map *map, uint64_t key)
{
    if (map->count == 0)
        return NULL;
    struct gphi_map_slot *slot = probe(map, key);
    return slot->used ? &slot->value : NULL;
}

bool gphi_map_remove(gphi_map *map, uint64_t key)
{
    if (map->count == 0)
        return false;
    struct gphi_map_slot *slot = probe(map, key);
    if (!slot->used)
        return false;

    const size_t mask = map->capacity - 1;
    size_t hole = (size_t)(slot - map->slots);
    for (size_t at = (hole + 1) & mask; map->slots[at].used; at = (at + 1) & mask) {
        const size_t home = (size_t)gphi_hash_mix(map->slots[at].key) & mask;
        /* An entry may move back unless its home lies after the hole. */
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole].used = false;
    map->count--;
    return true;
}

uint64_t gphi_map_count(gphi_map *map, uint64_t key)
{
    uint64_t *count = gphi_map_get(map, key);
    if (count)
        return ++*count;
    return gphi_map_set(map, key, 1) == GPH_OK ? 1 : 0;
}
