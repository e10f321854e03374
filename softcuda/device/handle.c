// SPDX-License-Identifier: Apache-2.0
/* The table of live handles. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "softcuda/device/alloc.h"
#include "softcuda/device/handle.h"
#include "softcuda/device/log.h"

#define EMPTY UINT64_C(0)
#define REMOVED UINT64_C(0xff) /* no address has kind 0xff */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct soft_handle_table *_Atomic soft_handle_table;

static bool fits(const void *object)
{
    return object && (uint64_t)(uintptr_t)object >> 56 == 0;
}

static void put(struct soft_handle_table *table, const void *object, uint64_t word)
{
    size_t slot = soft_handle_slot(table, object);
    uint64_t there;
    while ((there = atomic_load_explicit(&table->entries[slot], memory_order_relaxed)) !=
               EMPTY &&
           there != REMOVED)
        slot = (slot + 1) & table->mask;
    table->used += there == EMPTY;
    /* Pairs with the acquire in soft_handle_is(): who sees the handle sees the object. */
    atomic_store_explicit(&table->entries[slot], word, memory_order_release);
}

/* A table with room for one more entry, and without removed ones if it is a new one. */
static struct soft_handle_table *roomy_locked(void)
{
    struct soft_handle_table *old =
        atomic_load_explicit(&soft_handle_table, memory_order_relaxed);
    if (old && (old->used + 1) * 4 <= (old->mask + 1) * 3)
        return old;
    size_t live = 0;
    for (size_t i = 0; old && i <= old->mask; i++) {
        const uint64_t word =
            atomic_load_explicit(&old->entries[i], memory_order_relaxed);
        live += word != EMPTY && word != REMOVED;
    }
    size_t size = 1024;
    while (size < live * 4)
        size *= 2;
    struct soft_handle_table *fresh =
        soft_new(sizeof(*fresh) + size * sizeof(fresh->entries[0]));
    if (!fresh)
        return NULL;
    fresh->mask = size - 1;
    fresh->older = old; /* a reader may still be in it: it is never freed */
    for (size_t i = 0; old && i <= old->mask; i++) {
        const uint64_t word =
            atomic_load_explicit(&old->entries[i], memory_order_relaxed);
        if (word != EMPTY && word != REMOVED)
            put(fresh, (const void *)(uintptr_t)(word >> 8), word);
    }
    atomic_store_explicit(&soft_handle_table, fresh, memory_order_release);
    return fresh;
}

CUresult soft_handle_add(const void *object, soft_kind kind)
{
    if (!fits(object))
        return soft_fail(CUDA_ERROR_UNKNOWN, "address %p does not fit the handle table",
                         object);
    pthread_mutex_lock(&lock);
    struct soft_handle_table *table = roomy_locked();
    if (table)
        put(table, object, soft_handle_word(object, kind));
    pthread_mutex_unlock(&lock);
    return table ? CUDA_SUCCESS
                 : soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for the handle table");
}

CUresult soft_handle_own(void *object, soft_kind kind)
{
    const CUresult added = soft_handle_add(object, kind);
    if (added != CUDA_SUCCESS)
        soft_delete(object);
    return added;
}

static _Atomic uint64_t *entry_of(struct soft_handle_table *table, const void *object,
                                  soft_kind kind)
{
    if (!table || !fits(object))
        return NULL;
    const uint64_t wanted = soft_handle_word(object, kind);
    for (size_t slot = soft_handle_slot(table, object);;
         slot = (slot + 1) & table->mask) {
        const uint64_t word =
            atomic_load_explicit(&table->entries[slot], memory_order_acquire);
        if (word == wanted)
            return &table->entries[slot];
        if (word == EMPTY)
            return NULL;
    }
}

bool soft_handle_remove(const void *object, soft_kind kind)
{
    pthread_mutex_lock(&lock);
    _Atomic uint64_t *entry = entry_of(
        atomic_load_explicit(&soft_handle_table, memory_order_relaxed), object, kind);
    if (entry)
        atomic_store_explicit(entry, REMOVED, memory_order_release);
    pthread_mutex_unlock(&lock);
    return entry;
}

bool soft_handle_is(const void *object, soft_kind kind)
{
    return entry_of(atomic_load_explicit(&soft_handle_table, memory_order_acquire),
                    object, kind);
}
