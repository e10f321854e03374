// SPDX-License-Identifier: Apache-2.0
/* The allocator seam: every allocation of the library goes through one of these. */
#ifndef GPHI_BASE_HEAP_H
#define GPHI_BASE_HEAP_H
#include <gph/base.h>

/* The caller's allocator, or the C library's heap where it gave none. */
gph_allocator gphi_heap(const gph_allocator *allocator);

/* Zeroed memory, or NULL. `bytes` must not be 0. */
void *gphi_heap_alloc(gph_allocator heap, size_t bytes);

/* Zeroed memory for `count` items, or NULL, also if the product overflows. Neither may be
 * 0. */
void *gphi_heap_array(gph_allocator heap, size_t count, size_t item_bytes);

/* `bytes` as they were asked for. NULL is allowed. */
void gphi_heap_free(gph_allocator heap, void *ptr, size_t bytes);

/* A copy of a text; free it with gphi_heap_text_free(). NULL gives NULL. */
char *gphi_heap_text(gph_allocator heap, const char *text);
void gphi_heap_text_free(gph_allocator heap, char *text);
#endif
