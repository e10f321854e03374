// SPDX-License-Identifier: Apache-2.0
/* A cache for a while: random sizes, captures, evictions and failures. */
#ifndef SOAK_CACHE_H
#define SOAK_CACHE_H
#include <gph/gph.h>

/* What the programs of soak_cache.c use. */
typedef struct soak_ground {
    gph_runtime *runtime;
    gph_arena *arena;
    CUstream stream;
    CUfunction hash_each;
    CUdeviceptr in, out; /* soak_cache_bytes() each */
    /* Past the shim that fails. */
    gph_status (*read)(void *to, CUdeviceptr from, size_t bytes);
    gph_status (*write)(CUdeviceptr to, const void *from, size_t bytes);
    void (*arm)(uint32_t nth);
    int (*disarm)(void); /* whether a call has failed */
} soak_ground;

size_t soak_cache_bytes(void);

/* One cache, `calls` calls. Returns how many results were wrong, or calls refused for no
 * reason; adds to the counts. */
uint32_t soak_cache_run(const soak_ground *ground, uint64_t seed, uint32_t calls,
                        uint64_t counts[5]);
#endif
