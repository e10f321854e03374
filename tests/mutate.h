// SPDX-License-Identifier: Apache-2.0
/* Changes to inputs, in an order that is always the same: bits, bytes, numbers at their
 * ends, parts that are moved, left out or put in twice. */
#ifndef MUTATE_H
#define MUTATE_H
#include <stdint.h>
#include <string.h>

static uint64_t mutate_state = 0x9E3779B97F4A7C15u;

static size_t mutate_below(size_t most)
{
    mutate_state = mutate_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(mutate_state >> 33) % most;
}

/* One change; the size after it. There is room for twice the size that is not 0. */
static size_t mutate(uint8_t *data, size_t size, size_t room)
{
    static const uint64_t ends[] = {
        0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX};
    const size_t at = mutate_below(size), from = mutate_below(size);
    size_t part = 1 + mutate_below(size < 64 ? size : 64);
    part = part > size - at ? size - at : part;
    part = part > size - from ? size - from : part;
    switch (mutate_below(6)) {
    case 0: data[at] ^= (uint8_t)(1u << mutate_below(8)); return size;
    case 1: data[at] = (uint8_t)mutate_below(256); return size;
    case 2:
        part = part < 8 ? part : 8;
        memcpy(data + at, &ends[mutate_below(sizeof(ends) / sizeof(*ends))], part);
        return size;
    case 3: memmove(data + at, data + from, part); return size;
    case 4:
        if (part == size)
            return size;
        memmove(data + at, data + at + part, size - at - part);
        return size - part;
    default:
        if (size + part > room)
            return size;
        memmove(data + at + part, data + at, size - at);
        return size + part;
    }
}

#endif
