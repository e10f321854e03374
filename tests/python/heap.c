// SPDX-License-Identifier: Apache-2.0
/* An allocator of libgph's that fails the nth allocation of this thread's calls, and counts what
 * is held: graphophone.open(allocator=(address, 0)). */
#include <gph/base.h>

#include <stdatomic.h>
#include <stdlib.h>

gph_realloc_fn python_heap;
void python_heap_fail_at(long nth);
long python_heap_live(void);
long python_heap_count(void);

static _Atomic(long) live_bytes, count, fail_at = -1;

/* Counting from 0; -1: none. */
void python_heap_fail_at(long nth)
{
    atomic_store(&count, 0);
    atomic_store(&fail_at, nth);
}

long python_heap_live(void)
{
    return atomic_load(&live_bytes);
}

long python_heap_count(void)
{
    return atomic_load(&count);
}

void *python_heap(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    (void)user;
    if (new_bytes > old_bytes) {
        const long number = atomic_fetch_add(&count, 1);
        if (number == atomic_load(&fail_at))
            return NULL;
    }
    void *moved = NULL;
    if (new_bytes == 0)
        free(pointer);
    else if (!(moved = realloc(pointer, new_bytes)))
        return NULL;
    atomic_fetch_add(&live_bytes, (long)new_bytes - (long)old_bytes);
    return moved;
}
