// SPDX-License-Identifier: Apache-2.0
/* What the callables of a list know of each other: who was called when, and whose calls
 * overwrite whose outputs. */
#include "base/fail.h"
#include "base/heap.h"
#include "callable/callable.h"

gph_status gphi_group_create(gph_allocator heap, uint32_t count, gphi_group **out,
                             gph_error *error)
{
    gphi_group *group = gphi_heap_alloc(heap, sizeof(*group));
    GPHI_TRY(gphi_made(error, group, "a list of %u callables", count));
    group->heap = heap;
    group->count = count;
    atomic_init(&group->users, 1);
    group->called = gphi_heap_array(heap, count, sizeof(*group->called));
    group->overwrites = gphi_heap_array(heap, count, count);
    if (!group->called || !group->overwrites) {
        gphi_group_release(group);
        return gphi_fail(error, GPH_E_NO_MEMORY, "a list of %u callables", count);
    }
    *out = group;
    return GPH_OK;
}

void gphi_group_release(gphi_group *group)
{
    /* Release and acquire: whoever frees it sees what the others did last. */
    if (!group || atomic_fetch_sub_explicit(&group->users, 1, memory_order_acq_rel) != 1)
        return;
    const size_t count = group->count;
    gphi_heap_free(group->heap, group->called, count * sizeof(*group->called));
    gphi_heap_free(group->heap, group->overwrites, count * count);
    gphi_heap_free(group->heap, group, sizeof(*group));
}

gph_status gphi_group_check(const gphi_group *group, uint32_t self, uint64_t epoch,
                            gph_error *error)
{
    const uint64_t called =
        atomic_load_explicit(&group->called[self], memory_order_relaxed);
    for (uint32_t i = 0; i < group->count; i++)
        if (group->overwrites[(size_t)self * group->count + i] != 0 &&
            atomic_load_explicit(&group->called[i], memory_order_relaxed) > called)
            return gphi_fail(error, GPH_E_STATE,
                             "outputs of call %llu of callable %u of the list were "
                             "overwritten by a later call of callable %u",
                             (unsigned long long)epoch, self, i);
    return GPH_OK;
}
