// SPDX-License-Identifier: Apache-2.0
/* The ledger as a caller reads it: pools and recordings by the books of an arena,
 * executables by ledger.c, and what the driver says beside them. */
#include "base/fail.h"
#include "base/heap.h"
#include "cuda/status.h"
#include "memory/ledger.h"
#include "memory/pool.h"

#include <gph/memory_ledger.h>

#include <stdio.h>
#include <stdlib.h>

/* ---- own and shared ---- */

/* A span of a recording begins or ends. */
struct edge {
    uint64_t at;        /* first: they are sorted by it */
    uint32_t recording; /* its place among the pool's */
    bool is_begin;
};

struct bytes {
    uint64_t own, all;
};

/* Sweeps over the spans of all recordings: where one alone is, the bytes are its own. The
 * sum of the places of those that are there is the place of the one, where it is alone.
 */
static gph_status sweep(const gph_pool *pool, struct bytes *bytes)
{
    gphi_vec edges;
    gphi_vec_init(&edges, pool->arena->heap, sizeof(struct edge));
    for (uint32_t i = 0; i < pool->recordings.count; i++) {
        const gphi_vec *writes = &gphi_recording_at(pool, i)->writes;
        bytes[i] = (struct bytes){0, 0};
        struct edge *pair =
            writes->count > 0 ? gphi_vec_add(&edges, 2 * writes->count) : NULL;
        if (writes->count > 0 && !pair) {
            gphi_vec_fini(&edges);
            return GPH_E_NO_MEMORY;
        }
        GPHI_EACH (const struct gphi_span, span, writes) {
            *pair++ = (struct edge){span->first, i, true};
            *pair++ = (struct edge){span->end, i, false};
            bytes[i].all += span->end - span->first;
        }
    }
    struct edge *items = edges.items;
    if (edges.count > 0)
        qsort(items, edges.count, sizeof(*items), gphi_by_first);
    uint64_t there = 0, places = 0;
    for (size_t i = 0; i < edges.count; i++) {
        if (i > 0 && there == 1)
            bytes[places].own += items[i].at - items[i - 1].at;
        there += items[i].is_begin ? 1 : (uint64_t)-1;
        places +=
            items[i].is_begin ? items[i].recording : (uint64_t)0 - items[i].recording;
    }
    gphi_vec_fini(&edges);
    return GPH_OK;
}

/* ---- reading ---- */

struct reader {
    gph_ledger_entry *entries;
    uint32_t capacity, count;
};

/* Counts on beyond the room, so that a caller learns how much he needs. */
static void add_entry(struct reader *reader, const gph_ledger_entry *entry,
                      const char *name)
{
    if (reader->count < reader->capacity) {
        reader->entries[reader->count] = *entry;
        snprintf(reader->entries[reader->count].name, sizeof(entry->name), "%s", name);
    }
    reader->count++;
}

static gph_status read_pool(const gph_pool *pool, struct reader *reader, gph_error *error)
{
    const gph_allocator heap = pool->arena->heap;
    const size_t count = pool->recordings.count;
    struct bytes *bytes = count > 0 ? gphi_heap_array(heap, count, sizeof(*bytes)) : NULL;
    gph_status status = GPH_OK;
    if (count > 0 && (!bytes || sweep(pool, bytes) != GPH_OK))
        status = gphi_fail(error, GPH_E_NO_MEMORY, "the ledger of pool %s", pool->name);
    if (status == GPH_OK) {
        const gph_ledger_entry entry = {.kind = GPH_LEDGER_POOL,
                                        .object = pool,
                                        .own_bytes = pool->blocks.live_bytes,
                                        .pool_bytes =
                                            pool->mapped_pages * pool->arena->page_bytes};
        add_entry(reader, &entry, pool->name);
    }
    for (size_t i = 0; i < count && status == GPH_OK; i++) {
        const struct gphi_recording *r = gphi_recording_at(pool, i);
        const gph_ledger_entry entry = {.kind = GPH_LEDGER_RECORDING,
                                        .id = r->id,
                                        .object = pool,
                                        .own_bytes = bytes[i].own,
                                        .shared_bytes = bytes[i].all - bytes[i].own};
        add_entry(reader, &entry, r->name);
    }
    gphi_heap_free(heap, bytes, count * sizeof(*bytes));
    return status;
}

static void add_exec(void *user, const gphi_ledger_exec *e)
{
    char name[32];
    const gph_ledger_entry entry = {
        .kind = GPH_LEDGER_EXEC, .object = e->exec, .own_bytes = e->bytes};
    snprintf(name, sizeof(name), "exec %p", e->exec);
    add_entry(user, &entry, name);
}

/* The driver answers for the current context's device. */
static CUresult ask_device(const gph_arena *arena, size_t *free_bytes, size_t *bytes)
{
    const gphi_cuda_table *cu = &arena->runtime->cu;
    CUcontext context = arena->context;
    const CUresult pushed = context ? cu->cuCtxPushCurrent(context) : CUDA_SUCCESS;
    if (pushed != CUDA_SUCCESS)
        return pushed;
    const CUresult result = cu->cuMemGetInfo(free_bytes, bytes);
    if (context)
        gphi_ignore((gph_status)cu->cuCtxPopCurrent(&context), "it was pushed");
    return result;
}

static gph_status read_total(const gph_arena *arena, gph_ledger_total *total,
                             gph_error *error)
{
    size_t free_bytes = 0, device_bytes = 0;
    CUdevice current = arena->device;
    if (!arena->context && !arena->is_alone &&
        arena->runtime->cu.cuCtxGetDevice(&current) == CUDA_SUCCESS &&
        current != arena->device)
        return gphi_fail(error, GPH_E_STATE,
                         "the ledger of device %d, with a context of device %d",
                         arena->device, current);
    GPHI_TRY(gphi_cuda_check(error, ask_device(arena, &free_bytes, &device_bytes),
                             "cuMemGetInfo", "the ledger of device %d", arena->device));
    const uint64_t pages = arena->total_pages * arena->page_bytes;
    *total = (gph_ledger_total){
        .mapped_bytes = arena->owned_pages * arena->page_bytes,
        .cached_bytes = gphi_arena_cached(arena) * arena->page_bytes,
        .exec_bytes = gphi_ledger_exec_bytes(arena->device),
        .budget_bytes = arena->budget_pages != UINT64_MAX
                            ? arena->budget_pages * arena->page_bytes
                            : 0,
        .driver_bytes = device_bytes - free_bytes,
    };
    const uint64_t known = pages + total->exec_bytes;
    total->foreign_bytes = total->driver_bytes > known ? total->driver_bytes - known : 0;
    return GPH_OK;
}

/* Executables come last, without the arena's lock: they are of all of its device. */
gph_status gph_ledger_get(gph_arena *arena, gph_ledger_entry *entries, uint32_t capacity,
                          uint32_t *count, gph_ledger_total *total, gph_error *error)
{
    GPHI_TRY(gphi_need(error, arena, count));
    GPHI_TRY(gphi_need_named(error, __func__, entries || capacity == 0, "entries"));
    struct reader reader = {entries, capacity, 0};
    gph_ledger_total read = {0};
    gph_status status = GPH_OK;
    gphi_mutex_lock(&arena->mutex);
    for (const gph_pool *p = arena->pools; p && status == GPH_OK; p = p->next)
        status = read_pool(p, &reader, error);
    if (status == GPH_OK && total)
        status = read_total(arena, &read, error);
    gphi_mutex_unlock(&arena->mutex);
    if (status != GPH_OK)
        return status;
    gphi_ledger_exec_each(arena->device, add_exec, &reader);
    *count = reader.count;
    if (total)
        gphi_struct_write(total, &read, sizeof(read));
    return GPH_OK;
}
