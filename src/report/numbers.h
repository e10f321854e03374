// SPDX-License-Identifier: Apache-2.0
/* Small numbers for large keys, for files that name the same thing many times. */
#ifndef GPHI_REPORT_NUMBERS_H
#define GPHI_REPORT_NUMBERS_H
#include "report/report.h"

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

/* The key's number; 0 also if memory is short, which `*failed` shows. */
static inline uint32_t number_of(report_numbers *numbers, uint64_t key, bool *failed)
{
    uint32_t number = 0;
    uint64_t *at = gphi_report_item(&numbers->keys, &numbers->map, key, &number);
    if (!at) {
        *failed = true;
        return 0;
    }
    *at = key;
    return number;
}
#endif
