// SPDX-License-Identifier: Apache-2.0
/* The allocator seam over the C library's heap. */
#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void *libc_realloc(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

gph_allocator gphi_heap(const gph_allocator *allocator)
{
    if (allocator && allocator->realloc)
        return *allocator;
    return (gph_allocator){.realloc = libc_realloc};
}

void *gphi_heap_alloc(gph_allocator heap, size_t bytes)
{
    assert(bytes != 0);
    void *ptr = heap.realloc(heap.user, NULL, 0, bytes);
    if (ptr)
        memset(ptr, 0, bytes);
    return ptr;
}

void *gphi_heap_array(gph_allocator heap, size_t count, size_t item_bytes)
{
    if (count > SIZE_MAX / item_bytes)
        return NULL;
    return gphi_heap_alloc(heap, count * item_bytes);
}

void gphi_heap_free(gph_allocator heap, void *ptr, size_t bytes)
{
    if (ptr)
        heap.realloc(heap.user, ptr, bytes, 0);
}

char *gphi_heap_text(gph_allocator heap, const char *text)
{
    if (!text)
        return NULL;
    const size_t bytes = strlen(text) + 1;
    char *copy = gphi_heap_alloc(heap, bytes);
    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}

void gphi_heap_text_free(gph_allocator heap, char *text)
{
    if (text)
        gphi_heap_free(heap, text, strlen(text) + 1);
}
