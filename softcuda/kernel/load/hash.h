// SPDX-License-Identifier: Apache-2.0
/* A 128-bit hash (MurmurHash3 x64 128) for keys and checksums of the disk cache: against
 * accidents, not against attackers, whom the owner of the files keeps out. */
#ifndef SOFT_KERNEL_LOAD_HASH_H
#define SOFT_KERNEL_LOAD_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct soft_hash {
    uint64_t low, high;
} soft_hash;

/* Chained: `seed` is the hash of what came before. */
soft_hash soft_hash_bytes(const void *data, size_t bytes, soft_hash seed);

#endif
