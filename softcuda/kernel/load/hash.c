// SPDX-License-Identifier: Apache-2.0
/* MurmurHash3 x64 128 (Austin Appleby, public domain), chained by its seed. */
#include "softcuda/kernel/load/hash.h"

#include <string.h>

#define C1 0x87c37b91114253d5ull
#define C2 0x4cf5ad432745937full

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

static void mix(soft_hash *h, uint64_t a, uint64_t b)
{
    h->low ^= rotate(a * C1, 31) * C2;
    h->low = (rotate(h->low, 27) + h->high) * 5 + 0x52dce729;
    h->high ^= rotate(b * C2, 33) * C1;
    h->high = (rotate(h->high, 31) + h->low) * 5 + 0x38495ab5;
}

soft_hash soft_hash_bytes(const void *data, size_t bytes, soft_hash seed)
{
    const unsigned char *at = data;
    soft_hash h = seed;
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
