// SPDX-License-Identifier: Apache-2.0
/* Memory that is freed all at once: a list of chunks, the newest filled from its start.
 *
 *   arena -> chunk (newest) -> chunk -> ... -> chunk (oldest)
 *
 * Holds a parsed module, and a compiled program. */
#ifndef SOFT_PTX_PTX_ARENA_H
#define SOFT_PTX_PTX_ARENA_H

#include <gph/base.h>

typedef struct ptx_arena ptx_arena;

/* An arena that never takes more than about `limit_bytes` from `allocator` (copied; NULL
 * means malloc). NULL if there is no memory. Thread: one at a time. */
ptx_arena *ptx_arena_create(const gph_allocator *allocator, size_t limit_bytes);
void ptx_arena_destroy(ptx_arena *arena); /* takes NULL */

/* `count` zeroed elements of `bytes` each, aligned for any type; a unique address even
 * for none. NULL: no memory, or the limit is reached (ptx_arena_is_full()). */
void *ptx_arena_alloc(ptx_arena *arena, size_t count, size_t bytes);
int ptx_arena_is_full(const ptx_arena *arena); /* the limit refused a request */

/* `bytes` zeroed bytes without alignment, for text. */
char *ptx_arena_room(ptx_arena *arena, size_t bytes);
/* A copy of `length` bytes of text and a NUL. */
char *ptx_arena_text(ptx_arena *arena, const char *text, size_t length);
char *ptx_arena_format(ptx_arena *arena, const char *format, ...) GPH_PRINTF(2, 3);

#endif
