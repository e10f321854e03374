// SPDX-License-Identifier: Apache-2.0
/* Host memory that captures hold is watched: free() and realloc() of the program pass
 * through here, and a block that holds such an address is noted. The marks that the C
 * library leaves in free memory are gone as soon as it is given out again, which is when
 * it hurts. A program that captures no such address pays one load a call.
 *
 *   watched[]   address, is_freed     append only; at most WATCHED addresses */
#define _GNU_SOURCE
#include "attach/track/freed.h"
#include "attach/driver/find.h"
#include "attach/driver/symbol.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum { WATCHED = 64 };

typedef struct watched_host {
    _Atomic uint64_t address;
    atomic_bool is_freed;
} watched_host;

static watched_host watched[WATCHED];
static atomic_uint watched_count; /* of slots taken; the last may not have its address */

static watched_host *watched_at(uint64_t address)
{
    const uint32_t count = atomic_load_explicit(&watched_count, memory_order_acquire);
    for (uint32_t i = 0; i < count && i < WATCHED; i++)
        if (atomic_load_explicit(&watched[i].address, memory_order_relaxed) == address)
            return &watched[i];
    return NULL;
}

void attach_freed_watch(uint64_t address)
{
    watched_host *at = watched_at(address);
    if (at) {
        atomic_store(&at->is_freed, false);
        return;
    }
    if (atomic_load(&watched_count) >= WATCHED)
        return;
    const uint32_t slot = atomic_fetch_add(&watched_count, 1);
    if (slot < WATCHED)
        atomic_store(&watched[slot].address, address);
}

bool attach_freed_since(uint64_t address)
{
    const watched_host *at = watched_at(address);
    return at && atomic_load(&at->is_freed);
}

/* Sanitizers have a free() of their own, which ours would hide. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_OTHER_HEAP
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_OTHER_HEAP
#endif
#endif

#ifdef HAS_OTHER_HEAP
void attach_freed_prepare(void) {}
#else

typedef void free_function(void *);
typedef void *realloc_function(void *, size_t);

static free_function *_Atomic real_free;
static realloc_function *_Atomic real_realloc;

/* The next library's: an allocator of the program's own is before the C library's.
 * NULL: it is being looked up by this thread, which frees nothing of weight meanwhile. */
static void *look_up(const char *name)
{
    static _Thread_local bool is_looking;
    if (is_looking)
        return NULL;
    is_looking = true;
    void *found = attach_next(name);
    is_looking = false;
    return found;
}

static free_function *next_free(void)
{
    free_function *next = atomic_load_explicit(&real_free, memory_order_relaxed);
    if (!next) {
        next = (free_function *)(uintptr_t)look_up("free");
        atomic_store_explicit(&real_free, next, memory_order_relaxed);
    }
    return next;
}

static realloc_function *next_realloc(void)
{
    realloc_function *next = atomic_load_explicit(&real_realloc, memory_order_relaxed);
    if (!next) {
        next = (realloc_function *)(uintptr_t)look_up("realloc");
        atomic_store_explicit(&real_realloc, next, memory_order_relaxed);
    }
    return next;
}

void attach_freed_prepare(void)
{
    next_free();
    next_realloc();
}

/* The bytes of a block that the program gives back; 0: nothing there is watched. */
static uint64_t watched_bytes(void *block)
{
    if (atomic_load_explicit(&watched_count, memory_order_relaxed) == 0 || !block)
        return 0;
    return malloc_usable_size(block);
}

static void note_freed(uint64_t from, uint64_t bytes)
{
    const uint32_t count = atomic_load_explicit(&watched_count, memory_order_acquire);
    for (uint32_t i = 0; bytes != 0 && i < count && i < WATCHED; i++)
        if (atomic_load_explicit(&watched[i].address, memory_order_relaxed) - from <
            bytes)
            atomic_store_explicit(&watched[i].is_freed, true, memory_order_relaxed);
}

ATTACH_API void free(void *block)
{
    free_function *next = next_free();
    note_freed((uint64_t)(uintptr_t)block, watched_bytes(block));
    if (next)
        next(block);
}

ATTACH_API void *realloc(void *block, size_t bytes)
{
    realloc_function *next = next_realloc();
    const uint64_t from = (uint64_t)(uintptr_t)block, old = watched_bytes(block);
    void *moved = next ? next(block, bytes) : NULL;
    if (moved && (uint64_t)(uintptr_t)moved != from)
        note_freed(from, old);
    return moved;
}
#endif
