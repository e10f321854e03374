// SPDX-License-Identifier: Apache-2.0
/* What was read of a board. */
#ifndef GPHI_SENTINEL_PROGRESS_H
#define GPHI_SENTINEL_PROGRESS_H
#include "base/save.h"
#include "base/vec.h"
#include <gph/sentinel.h>

struct gph_progress {
    gph_allocator heap;
    uint64_t process;
    gphi_vec execs; /* each begins with its gph_progress_exec */
};

/* Of the bytes of a board, whose head was checked; `only` the block of that offset, or 0.
 */
gph_status gphi_progress_take(gph_allocator heap, const char *memory, uint64_t bytes,
                              uint64_t only, gph_progress **out, gph_error *error);
#endif
