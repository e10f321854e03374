// SPDX-License-Identifier: Apache-2.0
/* A heap whose nth allocation fails, and the live bytes it has given out. */
#ifndef FAULT_H
#define FAULT_H
#include <gph/base.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct fault_heap {
    atomic_long fail_at; /* calls left before the failing one; negative: never fails */
    atomic_long live_bytes;
} fault_heap;

static void *fault_realloc(void *user, void *ptr, size_t old_size, size_t new_size)
{
    fault_heap *heap = user;
    if (new_size == 0) {
        atomic_fetch_sub(&heap->live_bytes, (long)old_size);
        free(ptr);
        return NULL;
    }
    if (atomic_fetch_sub(&heap->fail_at, 1) == 0)
        return NULL;
    void *fresh = realloc(ptr, new_size);
    if (fresh)
        atomic_fetch_add(&heap->live_bytes, (long)new_size - (long)old_size);
    return fresh;
}
#endif
