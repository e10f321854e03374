// SPDX-License-Identifier: Apache-2.0
/* The ledger: pools, recordings and executables, and what the driver says. */
#include "memory/ledger.h"
#include "base/fail.h"
#include "base/heap.h"
#include "cuda/status.h"
#include "memory/pool.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the device ---- */

enum { DEVICES = 64 };

static _Atomic int64_t page_bytes[DEVICES];
static gphi_mutex measure_mutex = GPHI_MUTEX_INIT; /* around an instantiation */
static gphi_mutex exec_mutex = GPHI_MUTEX_INIT;    /* guards the list; the innermost */
static gphi_ledger_exec *execs;

static bool is_device(int device)
{
    return device >= 0 && device < DEVICES;
}

void gphi_ledger_pages(int device, int64_t bytes)
{
    if (is_device(device)) /* relaxed: a sum */
        atomic_fetch_add_explicit(&page_bytes[device], bytes, memory_order_relaxed);
}

static int64_t pages_now(int device)
{
    return is_device(device)
               ? atomic_load_explicit(&page_bytes[device], memory_order_relaxed)
               : 0;
}

/* ---- executables ---- */

void gphi_ledger_exec_begin(const gph_runtime *runtime, gphi_ledger_measure *measure)
    GPHI_LOCK_ATTRIBUTE(no_thread_safety_analysis)
{
    size_t free_bytes = 0, total = 0;
    CUdevice device = -1;
    gphi_mutex_lock(&measure_mutex);
    *measure = (gphi_ledger_measure){.device = -1};
    if (runtime->cu.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
        runtime->cu.cuMemGetInfo(&free_bytes, &total) != CUDA_SUCCESS)
        return;
    *measure = (gphi_ledger_measure){device, free_bytes, pages_now(device)};
}

void gphi_ledger_exec_end(const gph_runtime *runtime, const gphi_ledger_measure *measure,
                          gphi_ledger_exec *entry, const void *exec)
    GPHI_LOCK_ATTRIBUTE(no_thread_safety_analysis)
{
    size_t free_bytes = 0, total = 0;
    int64_t taken = 0;
    if (entry != NULL && measure->device >= 0 &&
        runtime->cu.cuMemGetInfo(&free_bytes, &total) == CUDA_SUCCESS)
        taken = (int64_t)measure->free_bytes - (int64_t)free_bytes -
                (pages_now(measure->device) - measure->page_bytes);
    gphi_mutex_unlock(&measure_mutex);
    if (entry == NULL)
        return;
    gphi_mutex_lock(&exec_mutex);
    *entry = (gphi_ledger_exec){.next = execs,
                                .exec = exec,
                                .device = measure->device,
                                .bytes = taken > 0 ? (uint64_t)taken : 0};
    if (execs != NULL)
        execs->previous = entry;
    execs = entry;
    gphi_mutex_unlock(&exec_mutex);
}

void gphi_ledger_exec_remove(gphi_ledger_exec *entry)
{
    gphi_mutex_lock(&exec_mutex);
    if (entry->previous != NULL)
        entry->previous->next = entry->next;
    else if (execs == entry)
        execs = entry->next;
    if (entry->next != NULL)
        entry->next->previous = entry->previous;
    gphi_mutex_unlock(&exec_mutex);
}

void gphi_ledger_exec_swap(gphi_ledger_exec *a, gphi_ledger_exec *b)
{
    gphi_mutex_lock(&exec_mutex);
    const uint64_t bytes = a->bytes;
    const int device = a->device;
    a->bytes = b->bytes;
    a->device = b->device;
    b->bytes = bytes;
    b->device = device;
    gphi_mutex_unlock(&exec_mutex);
}

uint64_t gphi_ledger_exec_bytes(int device)
{
    uint64_t bytes = 0;
    gphi_mutex_lock(&exec_mutex);
    for (const gphi_ledger_exec *e = execs; e != NULL; e = e->next)
        bytes += e->device == device ? e->bytes : 0;
    gphi_mutex_unlock(&exec_mutex);
    return bytes;
}

/* ---- own and shared ---- */

/* A span of a recording begins or ends. */
struct edge {
    uint64_t at;
    uint32_t recording; /* its place among the pool's */
    bool is_begin;
};

static int by_place(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

struct bytes {
    uint64_t own, all;
};

static const struct gphi_recording *recording_at(const gph_pool *pool, size_t i)
{
    return *(struct gphi_recording **)gphi_vec_at(&pool->recordings, i);
}

/* Sweeps over the spans of all recordings: where one alone is, the bytes are its own. The
 * sum of the places of those that are there is the place of the one, where it is alone.
 */
static gph_status sweep(const gph_pool *pool, struct bytes *bytes)
{
    gphi_vec edges;
    gphi_vec_init(&edges, pool->arena->heap, sizeof(struct edge));
    for (uint32_t i = 0; i < pool->recordings.count; i++) {
        const gphi_vec *writes = &recording_at(pool, i)->writes;
        bytes[i] = (struct bytes){0, 0};
        struct edge *pair =
            writes->count > 0 ? gphi_vec_add(&edges, 2 * writes->count) : NULL;
        if (writes->count > 0 && pair == NULL) {
            gphi_vec_fini(&edges);
            return GPH_E_NO_MEMORY;
        }
        for (size_t k = 0; k < writes->count; k++) {
            const struct gphi_span *span = gphi_vec_at(writes, k);
            *pair++ = (struct edge){span->first, i, true};
            *pair++ = (struct edge){span->end, i, false};
            bytes[i].all += span->end - span->first;
        }
    }
    struct edge *items = edges.items;
    if (edges.count > 0)
        qsort(items, edges.count, sizeof(*items), by_place);
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
    if (count > 0 && (bytes == NULL || sweep(pool, bytes) != GPH_OK))
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
        const struct gphi_recording *r = recording_at(pool, i);
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

static void read_execs(int device, struct reader *reader)
{
    gphi_mutex_lock(&exec_mutex);
    for (const gphi_ledger_exec *e = execs; e != NULL; e = e->next) {
        char name[32];
        const gph_ledger_entry entry = {
            .kind = GPH_LEDGER_EXEC, .object = e->exec, .own_bytes = e->bytes};
        if (e->device != device)
            continue;
        snprintf(name, sizeof(name), "exec %p", e->exec);
        add_entry(reader, &entry, name);
    }
    gphi_mutex_unlock(&exec_mutex);
}

static gph_status read_total(const gph_arena *arena, gph_ledger_total *total,
                             gph_error *error)
{
    size_t free_bytes = 0, device_bytes = 0;
    const CUresult result = arena->runtime->cu.cuMemGetInfo(&free_bytes, &device_bytes);
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuMemGetInfo",
                              "the ledger of device %d", arena->device);
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

gph_status gph_ledger_get(gph_arena *arena, gph_ledger_entry *entries, uint32_t capacity,
                          uint32_t *count, gph_ledger_total *total, gph_error *error)
{
    if (arena == NULL || count == NULL || (entries == NULL && capacity > 0))
        return gphi_fail(error, GPH_E_INVALID, "arena, entries or count is NULL");
    struct reader reader = {entries, capacity, 0};
    gph_ledger_total read = {0};
    gph_status status = GPH_OK;
    gphi_mutex_lock(&arena->mutex);
    for (const gph_pool *p = arena->pools; p != NULL && status == GPH_OK; p = p->next)
        status = read_pool(p, &reader, error);
    if (status == GPH_OK && total != NULL)
        status = read_total(arena, &read, error);
    gphi_mutex_unlock(&arena->mutex);
    if (status != GPH_OK)
        return status;
    read_execs(arena->device, &reader);
    *count = reader.count;
    if (total != NULL)
        gphi_struct_write(total, &read, sizeof(read));
    return GPH_OK;
}
