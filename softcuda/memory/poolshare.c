// SPDX-License-Identifier: Apache-2.0
/* Pools between processes. A pool with a file descriptor keeps its memory in a file of its
 * own, in which slot n of the device's range is at place n: an address says where in the
 * file its bytes are, and the exporter may end without the importer losing them. */
#include <fcntl.h>
#include <unistd.h>

#include "base/fail.h"
#include "softcuda/memory/import.h"

gph_status soft_pool_create_shared(soft_memory *memory, const soft_pool_policy *policy,
                                   soft_pool **out, gph_error *error)
{
    int file;
    GPHI_TRY(soft_share_create(SOFT_SHARE_POOL, memory->physical, memory->range_bytes,
                               &file, error));
    return soft_pool_make(memory, policy, file, out, error);
}

gph_status soft_pool_import(soft_memory *memory, int file, soft_pool **out,
                            gph_error *error)
{
    soft_label label;
    if (!soft_share_read(file, SOFT_SHARE_POOL, &label))
        return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                         "file descriptor %d is not a memory pool", file);
    const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                         "no file descriptor is left (ulimit -n)");
    const soft_pool_policy policy = {.follow_event_dependencies = 1,
                                     .allow_opportunistic = 1,
                                     .allow_internal_dependencies = 1};
    GPHI_TRY(soft_pool_make(memory, &policy, own, out, error));
    (*out)->is_import = true;
    return GPH_OK;
}

int soft_pool_file(const soft_pool *pool)
{
    return pool->heap.file;
}

void soft_pool_export(soft_pool *pool)
{
    pthread_mutex_lock(&pool->heap.memory->mutex);
    pool->is_export = true;
    pthread_mutex_unlock(&pool->heap.memory->mutex);
}

bool soft_pool_is_import(const soft_pool *pool)
{
    return pool->is_import;
}

/* Written once, with the pool. */
static bool identify(const soft_pool *pool, soft_share_handle *handle)
{
    soft_label label;
    if (!soft_share_read(pool->heap.file, SOFT_SHARE_POOL, &label))
        return false;
    handle->id[0] = label.id[0];
    handle->id[1] = label.id[1];
    return true;
}

gph_status soft_pool_export_pointer(soft_memory *memory, uint64_t address,
                                    soft_share_handle *out, gph_error *error)
{
    soft_share_handle handle = {.kind = SOFT_SHARE_POOL, .file = -1};
    pthread_mutex_lock(&memory->mutex);
    const struct soft_block *block = soft_block_at(memory, address);
    const bool known = block && block->used && !block->pending && block->info.pool &&
                       address == block->info.base && block->info.pool->is_export &&
                       identify(block->info.pool, &handle);
    if (known) {
        handle.offset = block->info.base - soft_memory_base(memory);
        handle.bytes = block->info.bytes;
        handle.serial = block->info.buffer_id;
    }
    pthread_mutex_unlock(&memory->mutex);
    if (!known)
        return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                         "0x%llx is not live memory of a pool whose handle was exported",
                         (unsigned long long)address);
    soft_share_seal(&handle);
    *out = handle;
    return GPH_OK;
}

bool soft_pool_is_of(const soft_pool *pool, int file)
{
    soft_label mine, theirs;
    return pool->is_import && soft_share_read(pool->heap.file, SOFT_SHARE_POOL, &mine) &&
           soft_share_read(file, SOFT_SHARE_POOL, &theirs) &&
           mine.id[0] == theirs.id[0] && mine.id[1] == theirs.id[1];
}

uint64_t soft_pool_live(soft_pool *pool)
{
    pthread_mutex_lock(&pool->heap.memory->mutex);
    soft_imports_reap(pool->heap.memory);
    const uint64_t live = pool->live_count;
    pthread_mutex_unlock(&pool->heap.memory->mutex);
    return live;
}

/* Whether the data is of this import, and lies in its file. */
static bool belongs(const soft_pool *pool, const soft_share_handle *handle)
{
    soft_label label;
    return pool->is_import && soft_share_is_sealed(handle, SOFT_SHARE_POOL) &&
           handle->bytes > 0 &&
           soft_share_read(pool->heap.file, SOFT_SHARE_POOL, &label) &&
           label.id[0] == handle->id[0] && label.id[1] == handle->id[1] &&
           handle->offset < label.bytes && handle->bytes <= label.bytes - handle->offset;
}

gph_status soft_pool_import_pointer(soft_pool *pool, const soft_share_handle *handle,
                                    uint64_t *out, gph_error *error)
{
    soft_memory *memory = pool->heap.memory;
    if (!belongs(pool, handle))
        return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                         "the data is not of a pointer that was exported from this pool");
    const struct soft_places places = {
        .file = pool->heap.file, .first = (uint32_t)(handle->offset / SOFT_CHUNK_BYTES)};
    pthread_mutex_lock(&memory->mutex);
    soft_imports_reap(memory);
    struct soft_import *import = soft_import_of(memory, handle);
    if (import) {
        import->opens++;
    } else {
        import = soft_import_add(memory, &places, handle->offset % SOFT_CHUNK_BYTES,
                                 handle->bytes, handle);
        if (import) {
            import->info.kind = SOFT_MEMORY_POOL;
            import->info.pool = pool;
            pool->live_count++;
        }
    }
    if (import)
        *out = import->info.base;
    pthread_mutex_unlock(&memory->mutex);
    if (!import)
        return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                         "no addresses are left for %llu bytes of another process",
                         (unsigned long long)handle->bytes);
    return GPH_OK;
}
