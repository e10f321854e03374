// SPDX-License-Identifier: Apache-2.0
/* A growing array. */
#include "base/vec.h"
#include "base/heap.h"

#include <string.h>

enum { CAPACITY_FIRST = 8 };

void gphi_vec_init(gphi_vec *vec, gph_allocator heap, size_t item_bytes)
{
    *vec = (gphi_vec){.heap = heap, .item_bytes = item_bytes};
}

void gphi_vec_fini(gphi_vec *vec)
{
    gphi_heap_free(vec->heap, vec->items, vec->capacity * vec->item_bytes);
    gphi_vec_init(vec, vec->heap, vec->item_bytes);
}

gph_status gphi_vec_reserve(gphi_vec *vec, size_t more)
{
    const size_t most = SIZE_MAX / vec->item_bytes / 2;
    if (more <= vec->capacity - vec->count)
        return GPH_OK;
    if (more > most || vec->count > most - more)
        return GPH_E_NO_MEMORY;

    size_t capacity = vec->capacity == 0 ? CAPACITY_FIRST : vec->capacity * 2;
    if (capacity < vec->count + more)
        capacity = vec->count + more;
    void *items =
        vec->heap.realloc(vec->heap.user, vec->items, vec->capacity * vec->item_bytes,
                          capacity * vec->item_bytes);
    if (!items)
        return GPH_E_NO_MEMORY;
    vec->items = items;
    vec->capacity = capacity;
    return GPH_OK;
}

void *gphi_vec_add(gphi_vec *vec, size_t count)
{
    /* Of none, too, it returns a place: NULL is for failures alone. */
    if (gphi_vec_reserve(vec, count > 0 ? count : 1) != GPH_OK)
        return NULL;
    void *first = gphi_vec_at(vec, vec->count);
    memset(first, 0, count * vec->item_bytes);
    vec->count += count;
    return first;
}

gph_status gphi_vec_push(gphi_vec *vec, const void *item)
{
    void *place = gphi_vec_add(vec, 1);
    if (!place)
        return GPH_E_NO_MEMORY;
    memcpy(place, item, vec->item_bytes);
    return GPH_OK;
}

void *gphi_vec_keyed(gphi_vec *vec, const void *key, size_t key_bytes, size_t most)
{
    for (size_t i = 0; i < vec->count; i++)
        if (memcmp(gphi_vec_at(vec, i), key, key_bytes) == 0)
            return gphi_vec_at(vec, i);
    void *place = vec->count < most ? gphi_vec_add(vec, 1) : NULL;
    if (place)
        memcpy(place, key, key_bytes);
    return place;
}

void gphi_vec_remove(gphi_vec *vec, size_t index)
{
    memmove(gphi_vec_at(vec, index), gphi_vec_at(vec, index + 1),
            (vec->count - index - 1) * vec->item_bytes);
    vec->count--;
}

int gphi_by_first(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void *gphi_array_room(gph_allocator heap, void *items, uint32_t *capacity, size_t count,
                      size_t item_bytes)
{
    size_t room = *capacity != 0 ? *capacity : CAPACITY_FIRST / 2;
    if (count <= *capacity)
        return items;
    if (count > UINT32_MAX / 2 || count > SIZE_MAX / item_bytes / 2)
        return NULL;
    while (room < count)
        room *= 2;
    void *grown =
        heap.realloc(heap.user, items, *capacity * item_bytes, room * item_bytes);
    if (grown)
        *capacity = (uint32_t)room;
    return grown;
}

static uint64_t first_of(const void *item)
{
    uint64_t first; /* copied: an item may be of any type that begins with one */
    memcpy(&first, item, sizeof(first));
    return first;
}

size_t gphi_vec_upto(const gphi_vec *vec, uint64_t key)
{
    size_t low;
    GPHI_HALVE(low, vec->count, at, first_of(gphi_vec_at(vec, at)) <= key);
    return low;
}
