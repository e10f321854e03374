// SPDX-License-Identifier: Apache-2.0
/* The arena: every request is cut from the newest chunk, and each chunk is twice as large
 * as the one before, so that a module costs the allocator a dozen calls.
 *
 *   newest --> | head | used ......... | at: free space (left) |
 *              next --> | head | a large request of its own |
 *                       next --> ...
 *
 * Chunks come zeroed from the heap, and nothing is given back before the end: what is
 * handed out is zero without a memset. */
#include "softcuda/ptx/ptx_arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/heap.h"

#define CHUNK_BYTES_MIN ((size_t)8 << 10)
#define CHUNK_BYTES_MAX ((size_t)1 << 20)

struct chunk {
    struct chunk *next;
    size_t bytes; /* with this head */
    alignas(max_align_t) unsigned char data[];
};

struct ptx_arena {
    gph_allocator heap;
    struct chunk *newest;
    unsigned char *at; /* free space of the newest chunk */
    size_t left;
    size_t taken, limit; /* from the heap */
    size_t chunk_bytes;  /* of the next chunk */
    int is_full;
};

ptx_arena *ptx_arena_create(const gph_allocator *allocator, size_t limit_bytes)
{
    const gph_allocator heap = gphi_heap(allocator);
    ptx_arena *arena = gphi_heap_alloc(heap, sizeof(*arena));
    if (!arena)
        return NULL;
    *arena =
        (ptx_arena){.heap = heap, .limit = limit_bytes, .chunk_bytes = CHUNK_BYTES_MIN};
    return arena;
}

void ptx_arena_destroy(ptx_arena *arena)
{
    if (!arena)
        return;
    struct chunk *chunk = arena->newest;
    while (chunk) {
        struct chunk *next = chunk->next;
        gphi_heap_free(arena->heap, chunk, chunk->bytes);
        chunk = next;
    }
    gphi_heap_free(arena->heap, arena, sizeof(*arena));
}

int ptx_arena_is_full(const ptx_arena *arena)
{
    return arena->is_full;
}

/* A chunk with `bytes` free. A large request gets a chunk of its own after the newest,
 * so that the free space of the newest is not lost. */
static struct chunk *add_chunk(ptx_arena *arena, size_t bytes)
{
    const size_t head = sizeof(struct chunk);
    if (bytes > arena->limit || arena->taken > arena->limit - bytes) {
        arena->is_full = 1;
        return NULL;
    }
    struct chunk *chunk = gphi_heap_alloc(arena->heap, head + bytes);
    if (!chunk)
        return NULL;
    chunk->bytes = head + bytes;
    arena->taken += bytes;
    return chunk;
}

static void *take_large(ptx_arena *arena, size_t bytes)
{
    struct chunk *chunk = add_chunk(arena, bytes);
    if (!chunk)
        return NULL;
    if (!arena->newest) {
        arena->newest = chunk;
    } else {
        chunk->next = arena->newest->next;
        arena->newest->next = chunk;
    }
    return chunk->data;
}

static void *take(ptx_arena *arena, size_t bytes, size_t align)
{
    size_t skip = !arena->at ? 0 : (size_t)(-(uintptr_t)arena->at & (align - 1));
    if (skip > arena->left || bytes > arena->left - skip) {
        if (bytes > arena->chunk_bytes / 2)
            return take_large(arena, bytes);
        struct chunk *chunk = add_chunk(arena, arena->chunk_bytes);
        if (!chunk)
            return NULL;
        chunk->next = arena->newest;
        arena->newest = chunk;
        arena->at = chunk->data;
        arena->left = arena->chunk_bytes;
        if (arena->chunk_bytes < CHUNK_BYTES_MAX)
            arena->chunk_bytes *= 2;
        skip = 0;
    }
    void *ptr = arena->at + skip;
    arena->at += skip + bytes;
    arena->left -= skip + bytes;
    return ptr;
}

void *ptx_arena_alloc(ptx_arena *arena, size_t count, size_t bytes)
{
    if (bytes != 0 && count > SIZE_MAX / bytes / 2) {
        arena->is_full = 1;
        return NULL;
    }
    const size_t total = count * bytes;
    return take(arena, total == 0 ? 1 : total, alignof(max_align_t));
}

char *ptx_arena_room(ptx_arena *arena, size_t bytes)
{
    return take(arena, bytes, 1);
}

char *ptx_arena_text(ptx_arena *arena, const char *text, size_t length)
{
    char *copy = take(arena, length + 1, 1);
    if (copy)
        memcpy(copy, text, length); /* chunks are zeroed: the NUL is there */
    return copy;
}

char *ptx_arena_format(ptx_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : take(arena, (size_t)length + 1, 1);
    if (!text)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}
