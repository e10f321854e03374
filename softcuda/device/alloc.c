// SPDX-License-Identifier: Apache-2.0
/* The driver's own heap objects, with a seam for tests. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softcuda/device/alloc.h"

#define HUGE_PAGE ((size_t)2 << 20)

static atomic_long fail_at = -1; /* allocations left before the failing one */

long gph_softcuda_fail_allocation(long nth)
{
    return atomic_exchange(&fail_at, nth);
}

static int fails_now(void)
{
    if (atomic_load_explicit(&fail_at, memory_order_relaxed) < 0)
        return 0;
    return atomic_fetch_sub(&fail_at, 1) == 0;
}

/* What a large graph keeps of its nodes is read from front to back in each launch, a few
 * lines of each: with small pages every node or two misses in the TLB. */
static void advise(void *block, size_t bytes, int advice)
{
    if (!block || bytes < HUGE_PAGE)
        return;
    const uintptr_t from = ((uintptr_t)block + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    const uintptr_t to = ((uintptr_t)block + bytes) / HUGE_PAGE * HUGE_PAGE;
    if (from < to)
        (void)madvise((void *)from, to - from, advice); /* no more than advice */
}

static void *in_huge_pages(void *block, size_t bytes)
{
    advise(block, bytes, MADV_HUGEPAGE);
    return block;
}

void *soft_new(size_t bytes)
{
    return fails_now() ? NULL : in_huge_pages(calloc(1, bytes), bytes);
}

void *soft_new_unset(size_t bytes)
{
    return fails_now() ? NULL : in_huge_pages(malloc(bytes), bytes);
}

void soft_delete(void *block)
{
    free(block);
}

/* ---- rooms ------------------------------------------------------------------------- */

enum { LINE = 64, KEPT_MAX = 128 };

#define KEPT_FROM ((size_t)256 << 10) /* smaller ones are malloc's, which keeps them */
#define KEPT_BYTES_MAX ((size_t)128 << 20)

static struct {
    pthread_mutex_t mutex;
    struct {
        void *room;
        size_t bytes;
    } list[KEPT_MAX];
    size_t bytes;
    unsigned count;
} kept = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static size_t whole(size_t bytes)
{
    const size_t unit = bytes < KEPT_FROM ? LINE : 65536;
    return bytes > SIZE_MAX - unit ? bytes : (bytes + unit - 1) / unit * unit;
}

/* Of that very size, since a graph is often made again. */
static void *take_kept(size_t bytes)
{
    void *found = NULL;
    pthread_mutex_lock(&kept.mutex);
    for (unsigned i = kept.count; i-- > 0 && !found;) {
        if (kept.list[i].bytes != bytes)
            continue;
        found = kept.list[i].room;
        kept.list[i] = kept.list[--kept.count];
        kept.bytes -= bytes;
    }
    pthread_mutex_unlock(&kept.mutex);
    return found;
}

static bool keep(void *room, size_t bytes)
{
    pthread_mutex_lock(&kept.mutex);
    const bool fits = kept.count < KEPT_MAX && bytes <= KEPT_BYTES_MAX - kept.bytes;
    if (fits) {
        kept.list[kept.count].room = room;
        kept.list[kept.count++].bytes = bytes;
        kept.bytes += bytes;
    }
    pthread_mutex_unlock(&kept.mutex);
    return fits;
}

/* aligned_alloc() takes several times as long for small blocks. What malloc gave is written
 * before the room, where there are 16 bytes at least. */
static void *on_line(size_t bytes)
{
    char *block = bytes < SIZE_MAX - LINE ? malloc(bytes + LINE) : NULL;
    if (!block)
        return NULL;
    void **room = (void **)(((uintptr_t)block + LINE) / LINE * LINE);
    room[-1] = block;
    return room;
}

void *soft_room_new(size_t bytes)
{
    const size_t size = whole(bytes);
    if (fails_now())
        return NULL;
    void *room = size >= KEPT_FROM ? take_kept(size) : NULL;
    if (room)
        return room;
    return in_huge_pages(on_line(size), size);
}

void soft_room_delete(void *room, size_t bytes)
{
    const size_t size = whole(bytes);
    if (!room)
        return;
    if (size >= KEPT_FROM) {
        advise(room, size, MADV_FREE);
        if (keep(room, size))
            return;
    }
    free(((void **)room)[-1]);
}

/* As realloc(); the old block stays as it was on failure, and what is new is zeroed. */
static void *heap_realloc(void *user, void *old, size_t old_bytes, size_t bytes)
{
    (void)user;
    if (bytes == 0) {
        soft_delete(old);
        return NULL;
    }
    char *fresh = fails_now() ? NULL : realloc(old, bytes);
    if (fresh && bytes > old_bytes)
        memset(fresh + old_bytes, 0, bytes - old_bytes);
    return fresh;
}

const gph_allocator *soft_allocator(void)
{
    static const gph_allocator heap = {.realloc = heap_realloc};
    return &heap;
}
