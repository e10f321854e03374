// SPDX-License-Identifier: Apache-2.0
/* The disk cache of compiled code: one file a module, named by its key. */
#ifndef SOFT_KERNEL_LOAD_CACHE_H
#define SOFT_KERNEL_LOAD_CACHE_H

#include <gph/base.h>
#include <stdbool.h>

#include "base/hash.h"

#define SOFT_CACHE_PATH_MAX 4096

/* Where files are kept: SOFTCUDA_CACHE, $XDG_CACHE_HOME/softcuda, ~/.cache/softcuda.
 * setting: NULL: as the environment says; "off"; or a directory. False: no cache. */
bool soft_cache_directory(const char *setting, char path[SOFT_CACHE_PATH_MAX]);

/* Reads a file. False: there is none, or it is not to be trusted (another owner, others
 * may write it, the directory likewise). *out is the heap's, *bytes long. */
bool soft_cache_read(const char *directory, gphi_hash128 key, gph_allocator heap,
                     unsigned char **out, size_t *bytes);

/* Writes a file under another name and renames it into place; makes the directory;
 * removes the files longest unused when there are more than `limit` bytes: not at each write,
 * since it looks at all files, but about once in limit / 64 bytes; never by UINT64_MAX.
 * False: no file was written, which costs time later and nothing else. */
bool soft_cache_write(const char *directory, gphi_hash128 key, const void *data,
                      size_t bytes, uint64_t limit);

/* SOFTCUDA_CACHE_BYTES, or 512 MiB. */
uint64_t soft_cache_limit(void);

#endif
