// SPDX-License-Identifier: Apache-2.0
/* Compiled code as one block of bytes: what the cache keeps and a soft_code reads. Of a
 * module, what is known of its kernels and globals; of a kernel, its machine code, or the
 * key under which that is.
 *
 *   | head | kernels: record, name, reason, parameters, cuts | globals: record, name,
 *   initial bytes, relocations | objects | information log |
 *
 * A reader checks every size before it uses it, and the hash before anything else. */
#ifndef SOFT_KERNEL_LOAD_PACK_H
#define SOFT_KERNEL_LOAD_PACK_H

#include "base/hash.h"
#include "softcuda/kernel/load/code.h"
#include "softcuda/kernel/load/loader.h"

typedef struct soft_pack_relocation {
    uint64_t offset;
    uint32_t bytes, shift;
    uint32_t global;      /* index, or UINT32_MAX: the function below */
    const char *function; /* symbol "f.<name>", or NULL */
    int64_t addend;
} soft_pack_relocation;

typedef struct soft_pack_global {
    soft_code_global about;
    const unsigned char *init; /* about.bytes long, NULL: zeros */
    soft_pack_relocation *relocations;
    uint32_t relocation_count;
} soft_pack_global;

/* Compiled code taken apart: arrays are the heap's, everything else lies in `data`. */
typedef struct soft_pack {
    unsigned char *data;
    size_t bytes;
    ptx_kernel *kernels;
    uint32_t kernel_count;
    soft_pack_global *globals;
    uint32_t global_count;
    soft_object *objects;
    uint32_t object_count;
    uint32_t ptx_version, ptx_target;
    const char *info;
    gph_allocator heap;
} soft_pack;

typedef struct soft_pack_input {
    gphi_hash128 key;
    const ptx_module *module;   /* NULL: machine code alone */
    const ptx_program *program; /* likewise */
    const soft_object *objects;
    uint32_t object_count;
    const char *info;
} soft_pack_input;

/* Writes; *out is the heap's. Fails with GPH_E_NO_MEMORY. */
GPH_CHECKED gph_status soft_pack_write(const soft_pack_input *input, gph_allocator heap,
                                       unsigned char **out, size_t *bytes,
                                       gph_error *error);
/* Takes `data` apart and owns it on success: soft_pack_fini(). Fails with
 * GPH_E_FORMAT (not written by this build, for another key, damaged), GPH_E_NO_MEMORY. */
GPH_CHECKED gph_status soft_pack_read(unsigned char *data, size_t bytes, gphi_hash128 key,
                                      gph_allocator heap, soft_pack *out);
void soft_pack_fini(soft_pack *pack);

const soft_pack *soft_code_pack(const soft_code *code); /* code.c */

/* What soft_pack_read() makes of a file of the cache, if it has a valid one. */
bool soft_pack_cached(const char *directory, gphi_hash128 key, gph_allocator heap,
                      soft_pack *out);
/* Writes, and keeps what was written in the cache; where that fails, nothing is kept. For
 * what is small: it removes no other file to make room. */
void soft_pack_keep(const soft_pack_input *input, const char *directory,
                    gph_allocator heap);
/* Writes, keeps what was written in the cache (directory NULL: nowhere), and reads it. */
GPH_CHECKED gph_status soft_pack_make(const soft_pack_input *input, const char *directory,
                                      gph_allocator heap, soft_pack *out,
                                      gph_error *error);

#endif
