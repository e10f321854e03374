// SPDX-License-Identifier: Apache-2.0
/* Memory that something else has made, at addresses of a device: any file that can be
 * mapped.
 *
 *   memfd, shm, dma-buf       [bytes ...............]
 *   softcuda's cuMemCreate    [bytes ...............| label]
 *   Mesa's Vulkan on the CPU  [size, offset, id | .. ][bytes .....]
 *
 * A file that its maker may shrink is taken as well: who reads past its end faults. */
#include "softcuda/memory/filemem.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "softcuda/memory/import.h"

#define MESA_NAME "/memfd:llvmpipe memory fd"

/* What Mesa writes where its files begin (os_memory_fd.c, 22.3). */
struct mesa_header {
    uint64_t size, offset;
};

static bool is_mesa(int file, uint64_t size, struct mesa_header *out)
{
    char path[32], name[sizeof(MESA_NAME)];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    const ssize_t read = readlink(path, name, sizeof(name) - 1);
    return read == (ssize_t)sizeof(MESA_NAME) - 1 &&
           memcmp(name, MESA_NAME, (size_t)read) == 0 &&
           pread(file, out, sizeof(*out), 0) == (ssize_t)sizeof(*out) &&
           out->size == size && out->offset < size;
}

/* Where the bytes of a file lie. */
static void find_bytes(int file, uint64_t size, soft_external *out)
{
    soft_label label;
    struct mesa_header mesa;
    out->file = file;
    out->begin = 0;
    out->bytes = size;
    if (soft_share_read(file, SOFT_SHARE_PHYSICAL, &label)) {
        out->bytes = label.bytes;
    } else if (is_mesa(file, size, &mesa)) {
        out->begin = mesa.offset;
        out->bytes = size - mesa.offset;
    }
}

gph_status soft_external_open(int file, uint64_t bytes, soft_external *out,
                              gph_error *error)
{
    soft_external found;
    /* Of a dma-buf, too, whose status has no size. */
    const off_t size = file < 0 ? -1 : lseek(file, 0, SEEK_END);
    void *page = size <= 0 ? MAP_FAILED
                           : mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED)
        return gphi_fail(error, CUDA_ERROR_UNKNOWN,
                         "file descriptor %d cannot be mapped for reading and writing",
                         file);
    munmap(page, 1);
    find_bytes(file, (uint64_t)size, &found);
    if (bytes > found.bytes)
        return gphi_fail(error, CUDA_ERROR_UNKNOWN,
                         "file descriptor %d has %llu bytes, not %llu", file,
                         (unsigned long long)found.bytes, (unsigned long long)bytes);
    found.bytes = bytes;
    *out = found;
    return GPH_OK;
}

gph_status soft_external_map(soft_memory *memory, const soft_external *external,
                             uint64_t offset, uint64_t bytes, void *owner, uint64_t *out,
                             gph_error *error)
{
    if (bytes == 0 || offset > external->bytes || bytes > external->bytes - offset)
        return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                         "%llu bytes from %llu on, of external memory of %llu",
                         (unsigned long long)bytes, (unsigned long long)offset,
                         (unsigned long long)external->bytes);
    const uint64_t at = external->begin + offset;
    const struct soft_places places = {.file = external->file,
                                       .first = (uint32_t)(at / SOFT_CHUNK_BYTES)};
    const soft_share_handle none = {
        0}; /* found again by nobody: each mapping is its own */
    pthread_mutex_lock(&memory->mutex);
    struct soft_import *import =
        soft_import_add(memory, &places, at % SOFT_CHUNK_BYTES, bytes, &none);
    if (import) {
        import->info.kind = SOFT_MEMORY_EXTERNAL;
        import->info.owner = owner;
        *out = import->info.base;
    }
    pthread_mutex_unlock(&memory->mutex);
    if (import)
        return GPH_OK;
    return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                     "no addresses are left for %llu bytes of external memory",
                     (unsigned long long)bytes);
}

bool soft_external_free(soft_memory *memory, uint64_t address)
{
    struct soft_import *import = soft_import_at(memory, address);
    if (!import || import->info.kind != SOFT_MEMORY_EXTERNAL ||
        import->info.base != address)
        return false;
    soft_memory_note_freed(memory, address, import->info.bytes);
    soft_import_drop(memory, import);
    return true;
}

void soft_external_free_owner(soft_memory *memory, const void *owner)
{
    for (struct soft_import *import = memory->imports; import;) {
        struct soft_import *next = import->next;
        if (import->info.kind == SOFT_MEMORY_EXTERNAL && import->info.owner == owner)
            (void)soft_external_free(memory, import->info.base);
        import = next;
    }
}
