// SPDX-License-Identifier: Apache-2.0
/* The driver's own heap objects, with a seam for tests. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/device/heap.h"

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

void *soft_new(size_t bytes)
{
    return fails_now() ? NULL : calloc(1, bytes);
}

void *soft_renew(void *old, size_t bytes)
{
    return fails_now() ? NULL : realloc(old, bytes);
}

void soft_delete(void *block)
{
    free(block);
}

char *soft_new_string(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = soft_new(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}
