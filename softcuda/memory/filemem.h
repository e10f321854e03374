// SPDX-License-Identifier: Apache-2.0
/* Memory that something else has made (cuImportExternalMemory): a file that can be mapped. */
#ifndef SOFT_MEMORY_FILEMEM_H
#define SOFT_MEMORY_FILEMEM_H
#include "softcuda/memory/memory.h"

typedef struct soft_external {
    int file;       /* borrowed */
    uint64_t begin; /* of the bytes, in the file */
    uint64_t bytes;
} soft_external;

/* Fails with UNKNOWN where the file cannot be mapped, or has fewer bytes. */
GPH_CHECKED gph_status soft_external_open(int file, uint64_t bytes, soft_external *out,
                                          gph_error *error);
/* A range of it at an address of its own, which soft_memory_free() gives back; the file may
 * be closed meanwhile. Fails with INVALID_VALUE beyond its bytes, with OUT_OF_MEMORY. */
GPH_CHECKED gph_status soft_external_map(soft_memory *memory,
                                         const soft_external *external, uint64_t offset,
                                         uint64_t bytes, void *owner, uint64_t *out,
                                         gph_error *error);

/* Inside softcuda/memory, with memory->mutex held: whether that was a mapping of one, which is
 * gone; and all of a context. */
bool soft_external_free(soft_memory *memory, uint64_t address);
void soft_external_free_owner(soft_memory *memory, const void *owner);
#endif
