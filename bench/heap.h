// SPDX-License-Identifier: Apache-2.0
/* The C library's heap as an allocator, for code that wants one by name. */
#ifndef BENCH_HEAP_H
#define BENCH_HEAP_H
#include <gph/base.h>
#include <stdlib.h>

static void *heap_realloc(void *user, void *old, size_t old_bytes, size_t bytes)
{
    (void)user;
    (void)old_bytes;
    if (bytes != 0)
        return realloc(old, bytes);
    free(old);
    return NULL;
}

static const gph_allocator heap = {.realloc = heap_realloc};
#endif
