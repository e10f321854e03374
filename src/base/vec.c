// SPDX-License-Identifier: Apache-2.0
/* A growing array. */
#include "base/vec.h"
#include "base/heap.h"

#include <string.h>

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

    size_t capacity = vec->capacity == 0 ? 8 : vec->capacity * 2;
    if (capacity < vec->count + more)
        capacity = vec->count + more;
    void *items =
        vec->heap.realloc(vec->heap.user, vec->items, vec->capacity * vec->item_bytes,
                          capacity * vec->item_bytes);
    if (items == NULL)
        return GPH_E_NO_MEMORY;
    vec->items = items;
    vec->capacity = capacity;
    return GPH_OK;
}

void *gphi_vec_add(gphi_vec *vec, size_t count)
{
    if (gphi_vec_reserve(vec, count) != GPH_OK)
        return NULL;
    void *first = gphi_vec_at(vec, vec->count);
    memset(first, 0, count * vec->item_bytes);
    vec->count += count;
    return first;
}
