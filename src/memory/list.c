// SPDX-License-Identifier: Apache-2.0
/* All ranges of a recording, or all live allocations, as a vector: whoever wants them need
 * not know how many there are. */
#include "base/fail.h"
#include "memory/pool.h"

gph_status gphi_pool_list(const gph_pool *pool, gph_recording_id id, uint32_t more,
                          gphi_vec *out, gph_error *error)
{
    uint32_t count = 0;
    do { /* other threads allocate between the two looks */
        if (id == 0)
            gph_pool_live(pool, NULL, 0, &count);
        else
            GPHI_TRY(gph_pool_ranges(pool, id, NULL, 0, &count, error));
        out->count = 0;
        GPHI_TRY(gphi_made(error, gphi_vec_reserve(out, (size_t)count + more) == GPH_OK,
                           "a list of %u allocations", count));
        const uint32_t room = (uint32_t)out->capacity;
        if (id == 0)
            gph_pool_live(pool, out->items, room, &count);
        else
            GPHI_TRY(gph_pool_ranges(pool, id, out->items, room, &count, error));
    } while (count > out->capacity);
    out->count = count;
    return GPH_OK;
}
