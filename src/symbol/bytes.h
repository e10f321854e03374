// SPDX-License-Identifier: Apache-2.0
/* Reading numbers from bytes that nobody vouches for: what is not there reads as 0, and
 * `is_short` says so from then on. */
#ifndef GPHI_SYMBOL_BYTES_H
#define GPHI_SYMBOL_BYTES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct gphi_bytes {
    const uint8_t *at, *end;
    bool is_short;
} gphi_bytes;

static inline size_t gphi_bytes_left(const gphi_bytes *bytes)
{
    return (size_t)(bytes->end - bytes->at);
}

/* The next `count` bytes, or NULL. */
static inline const uint8_t *gphi_bytes_take(gphi_bytes *bytes, uint64_t count)
{
    const uint8_t *at = bytes->at;
    if (count > gphi_bytes_left(bytes)) {
        bytes->is_short = true;
        bytes->at = bytes->end;
        return NULL;
    }
    bytes->at += count;
    return at;
}

/* A little-endian number of 1 to 8 bytes. */
static inline uint64_t gphi_bytes_number(gphi_bytes *bytes, unsigned size)
{
    uint64_t value = 0;
    const uint8_t *at = gphi_bytes_take(bytes, size);
    for (unsigned i = size; at && i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

/* LEB128 (DWARF 5, 7.6); bits over 64 are dropped. */
static inline uint64_t gphi_bytes_uleb(gphi_bytes *bytes)
{
    uint64_t value = 0;
    for (unsigned shift = 0; bytes->at < bytes->end; shift += 7) {
        const uint8_t byte = *bytes->at++;
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if ((byte & 0x80) == 0)
            return value;
    }
    bytes->is_short = true;
    return 0;
}

static inline int64_t gphi_bytes_sleb(gphi_bytes *bytes)
{
    const uint8_t *from = bytes->at;
    const uint64_t value = gphi_bytes_uleb(bytes);
    const size_t bits = 7 * (size_t)(bytes->at - from);
    const bool is_negative = bytes->at > from && (bytes->at[-1] & 0x40) != 0;
    return (int64_t)(is_negative && bits < 64 ? value | ~UINT64_C(0) << bits : value);
}

/* A text with its zero; "" where there is none. */
static inline const char *gphi_bytes_text(gphi_bytes *bytes)
{
    const char *text = (const char *)bytes->at;
    const size_t left = gphi_bytes_left(bytes);
    const uint8_t *zero = left > 0 ? memchr(text, 0, left) : NULL;
    if (!zero) {
        bytes->is_short = true;
        bytes->at = bytes->end;
        return "";
    }
    bytes->at = zero + 1;
    return text;
}

/* Those from `offset` on; none where that is beyond the end. */
static inline gphi_bytes gphi_bytes_from(gphi_bytes all, uint64_t offset)
{
    if (offset > gphi_bytes_left(&all))
        return (gphi_bytes){all.end, all.end, true};
    return (gphi_bytes){offset > 0 ? all.at + offset : all.at, all.end, false};
}

/* The length that a unit begins with (DWARF 5, 7.4), at `offset` of a section: the unit's
 * bytes after it, and where the next unit begins (0: none does). False: it is longer than
 * what is there. */
static inline bool gphi_bytes_unit(gphi_bytes section, uint64_t offset, gphi_bytes *out,
                                   bool *is_64, uint64_t *next)
{
    *out = gphi_bytes_from(section, offset);
    *next = 0;
    uint64_t length = gphi_bytes_number(out, 4);
    *is_64 = length == 0xffffffff;
    if (*is_64)
        length = gphi_bytes_number(out, 8);
    if (out->is_short || length > gphi_bytes_left(out))
        return false;
    out->end = out->at + length;
    if (out->end < section.end)
        *next = (uint64_t)(out->end - section.at);
    return true;
}
#endif
