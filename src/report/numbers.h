// SPDX-License-Identifier: Apache-2.0
/* Small numbers for large keys, for files that name the same thing many times. */
#ifndef GPHI_REPORT_NUMBERS_H
#define GPHI_REPORT_NUMBERS_H
#include "base/map.h"
#include "base/vec.h"

/* Keys that were given numbers 0, 1, ... in order of arrival. */
typedef struct report_numbers {
    gphi_map map;
    gphi_vec keys; /* of uint64_t */
} report_numbers;

static inline void numbers_init(report_numbers *numbers, gph_allocator heap)
{
    gphi_map_init(&numbers->map, heap);
    gphi_vec_init(&numbers->keys, heap, sizeof(uint64_t));
}

static inline void numbers_fini(report_numbers *numbers)
{
    gphi_map_fini(&numbers->map);
    gphi_vec_fini(&numbers->keys);
}

/* The key's number; 0 too where memory is short, which `*failed` tells. */
static inline uint32_t number_of(report_numbers *numbers, uint64_t key, bool *failed)
{
    const uint64_t *known = gphi_map_get(&numbers->map, key);
    if (known != NULL)
        return (uint32_t)*known;
    if (gphi_vec_reserve(&numbers->keys, 1) != GPH_OK ||
        gphi_map_set(&numbers->map, key, numbers->keys.count) != GPH_OK) {
        *failed = true;
        return 0;
    }
    *(uint64_t *)gphi_vec_add(&numbers->keys, 1) = key;
    return (uint32_t)(numbers->keys.count - 1);
}
#endif
