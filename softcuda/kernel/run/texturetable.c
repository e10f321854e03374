// SPDX-License-Identifier: Apache-2.0
/* Texture and surface objects by handle, 1 on, as a GPU numbers them. Kernels look without a
 * lock: places are never freed, and one that was removed stays as it was until it is given
 * away again, the longest removed first.
 *
 *   chunks[handle / CHUNK] -> places[handle % CHUNK]: alive, texture, next in the queue */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "softcuda/kernel/run/texture.h"

#define CHUNK 256u
#define CHUNKS 256u
/* Removed ones that stay readable: programs launch, destroy and go on, so kernels that are
 * still queued name them. 3.5 MB where a program has had so many. */
#define KEPT 4096u

struct place {
    soft_texture texture;
    atomic_bool alive;
    uint32_t next; /* removed after it */
};

static _Atomic(struct place *) chunks[CHUNKS];
static struct {
    pthread_mutex_t mutex;
    uint32_t used; /* handles given so far */
    uint32_t first, last, removed;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct place *place_of(uint64_t handle)
{
    if (handle == 0 || handle >= (uint64_t)CHUNK * CHUNKS)
        return NULL;
    struct place *chunk =
        atomic_load_explicit(&chunks[handle / CHUNK], memory_order_acquire);
    return chunk ? &chunk[handle % CHUNK] : NULL;
}

/* Under the lock. 0: none. */
static uint32_t take_place(void)
{
    const bool full = table.used + 1 >= CHUNK * CHUNKS;
    if (table.removed > KEPT || (full && table.removed > 0)) {
        const uint32_t handle = table.first;
        table.first = place_of(handle)->next;
        table.removed--;
        return handle;
    }
    const uint32_t handle = full ? 0 : table.used + 1;
    if (handle != 0 && !atomic_load(&chunks[handle / CHUNK])) {
        struct place *chunk = calloc(CHUNK, sizeof(*chunk));
        if (!chunk)
            return 0;
        atomic_store_explicit(&chunks[handle / CHUNK], chunk, memory_order_release);
    }
    table.used += handle != 0;
    return handle;
}

uint64_t soft_texture_add(const soft_texture *texture)
{
    pthread_mutex_lock(&table.mutex);
    const uint32_t handle = take_place();
    if (handle != 0) {
        struct place *place = place_of(handle);
        place->texture = *texture;
        atomic_store_explicit(&place->alive, true, memory_order_release);
    }
    pthread_mutex_unlock(&table.mutex);
    return handle;
}

bool soft_texture_remove(uint64_t handle)
{
    pthread_mutex_lock(&table.mutex);
    struct place *place = place_of(handle);
    const bool was = place && atomic_exchange(&place->alive, false);
    if (was) {
        if (table.removed++ == 0)
            table.first = (uint32_t)handle;
        else
            place_of(table.last)->next = (uint32_t)handle;
        table.last = (uint32_t)handle;
    }
    pthread_mutex_unlock(&table.mutex);
    return was;
}

const soft_texture *soft_texture_find(uint64_t handle, bool *alive)
{
    struct place *place = place_of(handle);
    if (alive)
        *alive = place && atomic_load_explicit(&place->alive, memory_order_acquire);
    return place && place->texture.levels > 0 ? &place->texture : NULL;
}
