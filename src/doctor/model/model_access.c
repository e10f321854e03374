// SPDX-License-Identifier: Apache-2.0
/* What kernels do with what they are given, by name: ACCESS comes when code is loaded,
 * before a handle of it is known. Where two modules have a kernel of one name that differ,
 * nothing is known of it. */
#include "access/access.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/heap.h"
#include "doctor/model/model_state.h"

#include <string.h>

enum { KERNELS_MAX = 1 << 14, BYTES_SHIFT = 40, FLAGS_SHIFT = 32 };

static bool is_same(const model_access *known, const gphi_event *event)
{
    for (uint32_t i = 0; i < known->count; i++)
        if (known->words[i] != gphi_event_word(event, i))
            return false;
    return known->count == event->word_count;
}

gph_status gphi_access_feed(gphi_model *model, const gphi_event *event)
{
    struct gphi_model_private *own = model->own;
    const uint64_t name = gphi_hash_text(GPHI_HASH_START, gphi_event_text(event, 0));
    model_access *known = gphi_map_pointer(&own->accesses, name);
    if (known) {
        known->is_unclear = known->is_unclear || !is_same(known, event);
        return GPH_OK;
    }
    if (own->access_list.count >= KERNELS_MAX || event->word_count < 2)
        return GPH_OK;
    GPHI_TRY(gphi_vec_reserve(&own->access_list, 1));
    const uint32_t count = event->word_count;
    model_access *made =
        gphi_heap_alloc(model->heap, sizeof(*made) + count * sizeof(uint64_t));
    if (!made)
        return GPH_E_NO_MEMORY;
    *(void **)gphi_vec_add(&own->access_list, 1) = made;
    made->count = count;
    for (uint32_t i = 0; i < count; i++)
        made->words[i] = gphi_event_word(event, i);
    return gphi_map_set(&own->accesses, name, (uint64_t)(uintptr_t)made);
}

void gphi_access_fini(gphi_model *model)
{
    struct gphi_model_private *own = model->own;
    for (size_t i = 0; i < own->access_list.count; i++) {
        model_access *one = gphi_vec_pointer(&own->access_list, i);
        gphi_heap_free(model->heap, one, sizeof(*one) + one->count * sizeof(uint64_t));
    }
    gphi_vec_fini(&own->access_list);
    gphi_map_fini(&own->accesses);
}

/* Of another kernel with the same name: its arguments take as many bytes, or it is not. */
static bool is_of(const model_access *access, const gphi_function *function)
{
    if (function->arg_count == 0)
        return true; /* the driver does not say */
    const gph_kernel_arg *last = &function->args[function->arg_count - 1];
    return last->offset + last->bytes == access->words[0];
}

gphi_word_use gphi_model_word_use(const gphi_model *model, uint64_t kernel,
                                  uint32_t offset)
{
    const gphi_word_use unclear = {.is_known = false};
    const gphi_function *function = gphi_model_kernel_function(model, kernel);
    const model_access *access =
        function && function->name
            ? gphi_map_pointer(&model->own->accesses,
                               gphi_hash_text(GPHI_HASH_START, function->name))
            : NULL;
    if (!access || access->is_unclear || !is_of(access, function))
        return unclear;
    gphi_word_use use = {.is_known = access->words[1] == 0};
    for (uint32_t i = 2; i < access->count; i++) {
        if ((uint32_t)access->words[i] != offset)
            continue;
        const uint32_t flags = access->words[i] >> FLAGS_SHIFT & 0xff;
        use.is_known = use.is_known && (flags & GPHI_ACCESS_LEAVES) == 0;
        use.reads = (flags & GPHI_ACCESS_READS) != 0;
        use.writes = (flags & (GPHI_ACCESS_WRITES | GPHI_ACCESS_ADDS)) != 0;
        use.only_adds = (flags & GPHI_ACCESS_WRITES) == 0;
        use.store_bytes = (uint32_t)(access->words[i] >> BYTES_SHIFT);
    }
    return use;
}
