// SPDX-License-Identifier: Apache-2.0
/* Hashes of bytes. */
#include "base/hash.h"

#include <string.h>

uint64_t gphi_hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t word;
    hash = gphi_hash_word(hash, bytes);
    for (size_t left = bytes; left > 0;) {
        const size_t part = left < sizeof(word) ? left : sizeof(word);
        word = 0;
        memcpy(&word, at, part);
        hash = gphi_hash_word(hash, word);
        at += part;
        left -= part;
    }
    return hash;
}

uint64_t gphi_hash_text(uint64_t hash, const char *text)
{
    return gphi_hash_bytes(hash, text, text != NULL ? strlen(text) : 0);
}

uint64_t gphi_hash_fnv(uint64_t hash, const void *data, size_t bytes)
{
    for (const unsigned char *at = data, *end = at + bytes; at != end; at++)
        hash = (hash ^ *at) * GPHI_HASH_FNV_PRIME;
    return hash;
}
