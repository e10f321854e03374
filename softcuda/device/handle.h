// SPDX-License-Identifier: Apache-2.0
/* The table of live handles. A program may pass any pointer as a handle: it is looked up
 * here before anything after it is read.
 *
 *   table ->  [ address << 8 | kind ] [ empty ] [ address << 8 | kind ] [ removed ] ...
 *
 * Open addressing, one atomic word an entry, so that a look-up takes no lock: readers
 * probe until an empty entry. A table that grows is replaced; the old one stays readable
 * until the process ends. */
#ifndef SOFT_DEVICE_HANDLE_H
#define SOFT_DEVICE_HANDLE_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "cuda/abi.h"

typedef enum soft_kind {
    SOFT_KIND_CONTEXT = 1,
    SOFT_KIND_MODULE,
    SOFT_KIND_FUNCTION,
    SOFT_KIND_LIBRARY,
    SOFT_KIND_KERNEL,
    SOFT_KIND_STREAM,
    SOFT_KIND_EVENT,
    SOFT_KIND_GRAPH,
    SOFT_KIND_GRAPH_NODE,
    SOFT_KIND_GRAPH_EXEC,
    SOFT_KIND_POOL,
    SOFT_KIND_ARRAY,
    SOFT_KIND_LEVELS,
    SOFT_KIND_USER_OBJECT,
    SOFT_KIND_LINK,
    SOFT_KIND_LOG_CALLBACK,
    SOFT_KIND_PHYSICAL,
    SOFT_KIND_GREEN,
    SOFT_KIND_GREEN_VIEW, /* its CUcontext: device/green.h */
    SOFT_KIND_RESOURCES,
    SOFT_KIND_TEXREF,
    SOFT_KIND_SURFREF,
    SOFT_KIND_EXTERNAL_MEMORY,
    SOFT_KIND_SEMAPHORE,
} soft_kind;

/* Makes `object` a valid handle of a kind. OUT_OF_MEMORY where the table
 * cannot grow. */
CUresult soft_handle_add(const void *object, soft_kind kind);

/* The same for the last step of making an object: soft_delete()s it on failure. */
CUresult soft_handle_own(void *object, soft_kind kind);

/* Makes it invalid. False if it was not of that kind: the caller lost a race, or the
 * handle never was one. */
bool soft_handle_remove(const void *object, soft_kind kind);

/* Whether `object` is a live handle of a kind. Any pointer may be asked about. */
bool soft_handle_is(const void *object, soft_kind kind);

/* handle.c's alone, but for the look-up below. */
struct soft_handle_table {
    size_t mask;
    size_t used; /* entries that are not empty, removed ones too; under the lock */
    struct soft_handle_table *older;
    _Atomic uint64_t entries[];
};
/* Published with release, read with acquire. */
extern struct soft_handle_table *_Atomic soft_handle_table
    __attribute__((visibility("hidden")));

/* User-space addresses have at most 56 bits, so the kind fits below them. */
static inline uint64_t soft_handle_word(const void *object, soft_kind kind)
{
    return (uint64_t)(uintptr_t)object << 8 | (uint64_t)kind;
}
static inline size_t soft_handle_slot(const struct soft_handle_table *table,
                                      const void *object)
{
    return gphi_hash_word(GPHI_HASH_START, (uintptr_t)object) & table->mask;
}

/* soft_handle_is() of what is a handle nearly always and is in its own slot mostly: on the
 * path of every launch. */
static inline bool soft_handle_is_near(const void *object, soft_kind kind)
{
    const struct soft_handle_table *table =
        atomic_load_explicit(&soft_handle_table, memory_order_acquire);
    return (table && (uint64_t)(uintptr_t)object >> 56 == 0 &&
            atomic_load_explicit(&((struct soft_handle_table *)(uintptr_t)table)
                                      ->entries[soft_handle_slot(table, object)],
                                 memory_order_acquire) ==
                soft_handle_word(object, kind)) ||
           soft_handle_is(object, kind);
}

/* The function that looks a handle of one kind up: `refusal` where it is none. */
#define SOFT_FINDER(name, handle_type, type, kind, refusal, what)                        \
    CUresult name(handle_type handle, type **out)                                        \
    {                                                                                    \
        if (!soft_handle_is(handle, kind))                                               \
            return soft_fail(refusal, "%p is no " what, (void *)handle);                 \
        *out = (type *)handle;                                                           \
        return CUDA_SUCCESS;                                                             \
    }
#endif
