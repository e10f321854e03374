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
    return gphi_hash_bytes(hash, text, text ? strlen(text) : 0);
}

uint64_t gphi_hash_fnv(uint64_t hash, const void *data, size_t bytes)
{
    for (const unsigned char *at = data, *end = at + bytes; at != end; at++)
        hash = (hash ^ *at) * GPHI_HASH_FNV_PRIME;
    return hash;
}

/* ---- MurmurHash3 x64 128 (Austin Appleby, public domain), chained by its seed ---- */

#define MURMUR_1 0x87c37b91114253d5ull
#define MURMUR_2 0x4cf5ad432745937full

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static uint64_t finish(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

static void mix(gphi_hash128 *h, uint64_t a, uint64_t b)
{
    h->low ^= rotate(a * MURMUR_1, 31) * MURMUR_2;
    h->low = (rotate(h->low, 27) + h->high) * 5 + 0x52dce729;
    h->high ^= rotate(b * MURMUR_2, 33) * MURMUR_1;
    h->high = (rotate(h->high, 31) + h->low) * 5 + 0x38495ab5;
}

gphi_hash128 gphi_hash128_bytes(gphi_hash128 seed, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    gphi_hash128 h = seed;
    size_t left = bytes;
    uint64_t pair[2];
    for (; left >= sizeof(pair); left -= sizeof(pair), at += sizeof(pair)) {
        memcpy(pair, at, sizeof(pair));
        mix(&h, pair[0], pair[1]);
    }
    memset(pair, 0, sizeof(pair));
    if (left != 0)
        memcpy(pair, at, left);
    mix(&h, pair[0], pair[1]);
    h.low ^= bytes;
    h.high ^= bytes;
    h.low += h.high;
    h.high += h.low;
    h.low = finish(h.low);
    h.high = finish(h.high);
    h.low += h.high;
    h.high += h.low;
    return h;
}
