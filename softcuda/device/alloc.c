// SPDX-License-Identifier: Apache-2.0
/* The driver's own heap objects, with a seam for tests. */
#include <stdatomic.h>
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
static void *in_huge_pages(void *block, size_t bytes)
{
    if (!block || bytes < HUGE_PAGE)
        return block;
    const uintptr_t from = ((uintptr_t)block + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    const uintptr_t to = ((uintptr_t)block + bytes) / HUGE_PAGE * HUGE_PAGE;
    if (from < to)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE); /* advice */
    return block;
}

void *soft_new(size_t bytes)
{
    return fails_now() ? NULL : in_huge_pages(calloc(1, bytes), bytes);
}

void soft_delete(void *block)
{
    free(block);
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
