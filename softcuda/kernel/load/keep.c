// SPDX-License-Identifier: Apache-2.0
/* Packs in the disk cache: looked for, and kept. One from there is checked as one from a
 * stranger would be. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "softcuda/kernel/load/cache.h"
#include "softcuda/kernel/load/pack.h"

bool soft_pack_cached(const char *directory, gphi_hash128 key, gph_allocator heap,
                      soft_pack *out)
{
    unsigned char *data;
    size_t bytes;
    if (!soft_cache_read(directory, key, heap, &data, &bytes))
        return false;
    if (soft_pack_read(data, bytes, key, heap, out) == GPH_OK)
        return true;
    gphi_heap_free(heap, data, bytes);
    gphi_log("softcuda", GPH_LOG_INFO, "a file of the cache in %s is not valid",
             directory);
    return false;
}

static void keep(const char *directory, gphi_hash128 key, const unsigned char *data,
                 size_t bytes, uint64_t limit)
{
    if (!soft_cache_write(directory, key, data, bytes, limit))
        gphi_log("softcuda", GPH_LOG_INFO, "compiled code could not be kept in %s",
                 directory);
}

void soft_pack_keep(const soft_pack_input *input, const char *directory,
                    gph_allocator heap)
{
    unsigned char *data;
    size_t bytes;
    if (soft_pack_write(input, heap, &data, &bytes, NULL) != GPH_OK)
        return;
    keep(directory, input->key, data, bytes, UINT64_MAX); /* small */
    gphi_heap_free(heap, data, bytes);
}

gph_status soft_pack_make(const soft_pack_input *input, const char *directory,
                          gph_allocator heap, soft_pack *out, gph_error *error)
{
    unsigned char *data;
    size_t bytes;
    GPHI_TRY(soft_pack_write(input, heap, &data, &bytes, error));
    if (directory)
        keep(directory, input->key, data, bytes, soft_cache_limit());
    const gph_status status = soft_pack_read(data, bytes, input->key, heap, out);
    if (status == GPH_OK)
        return GPH_OK;
    gphi_heap_free(heap, data, bytes);
    return gphi_fail(error, status, "reading compiled code of %zu bytes", bytes);
}
