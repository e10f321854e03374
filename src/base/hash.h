// SPDX-License-Identifier: Apache-2.0
/* Hashes of the process: of words, bytes and texts, for tables that live in memory. None
 * of the values may reach a file, but those of gphi_hash_fnv() and gphi_hash128_bytes(). */
#ifndef GPHI_BASE_HASH_H
#define GPHI_BASE_HASH_H
#include <stddef.h>
#include <stdint.h>

/* What a chain of gphi_hash_word() and the like begins with. */
#define GPHI_HASH_START UINT64_C(0xa0761d6478bd642f)

/* FNV-1a's basis and prime (Fowler, Noll, Vo). */
#define GPHI_HASH_FNV_START UINT64_C(0xcbf29ce484222325)
#define GPHI_HASH_FNV_PRIME UINT64_C(0x100000001b3)

/* A word by itself: all of its bits change all of the result's (the finalizer of
 * splitmix64; Steele, Lea, Flood 2014). Handles and addresses differ in few bits. */
static inline uint64_t gphi_hash_mix(uint64_t word)
{
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

/* One more word of a chain: both halves of a product of 64 by 64 bits (as in wyhash, Wang
 * Yi 2019), which is one multiplication where gphi_hash_mix() takes two. */
static inline uint64_t gphi_hash_word(uint64_t hash, uint64_t word)
{
    __extension__ typedef unsigned __int128 wide;
    const wide product = (wide)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Bytes of a chain; the count is part of it. */
uint64_t gphi_hash_bytes(uint64_t hash, const void *data, size_t bytes);

/* A text of a chain; NULL is as "". */
uint64_t gphi_hash_text(uint64_t hash, const char *text);

/* FNV-1a of bytes, from GPHI_HASH_FNV_START or an earlier value: the one that files hold.
 */
uint64_t gphi_hash_fnv(uint64_t hash, const void *data, size_t bytes);

/* MurmurHash3 x64 128, for keys and checksums of files: against accidents, not against
 * attackers. */
typedef struct gphi_hash128 {
    uint64_t low, high;
} gphi_hash128;

/* Chained: `seed` is the hash of what came before. */
gphi_hash128 gphi_hash128_bytes(gphi_hash128 seed, const void *data, size_t bytes);
#endif
