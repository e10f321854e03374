// SPDX-License-Identifier: Apache-2.0
/* Little-endian numbers to and from bytes, by one description of a format for both ways:
 * the same function writes a record into the codec or reads it from there. The first
 * failure sticks; after it everything reads as zero, and nothing is written. */
#ifndef GPHI_FILE_CODEC_H
#define GPHI_FILE_CODEC_H
#include "base/vec.h"
#include <stdbool.h>

typedef struct gphi_codec {
    bool is_reading;
    gph_status status;
    gph_error *error;
    gphi_vec *to;              /* writing: bytes */
    const unsigned char *from; /* reading */
    size_t count;              /* of `from` */
    size_t at;                 /* bytes read */
} gphi_codec;

/* A number of 1, 4 or 8 bytes, the long way: writing, and failures. */
uint64_t gphi_code_number(gphi_codec *codec, uint64_t value, size_t bytes);
void gphi_code_wrong(gphi_codec *codec, const char *what, uint64_t value);

/* Reading is most of loading, so its success path is inline. */
static inline uint64_t gphi_code_quick(gphi_codec *codec, uint64_t value, size_t bytes)
{
    if (!codec->is_reading || codec->status != GPH_OK || codec->count - codec->at < bytes)
        return gphi_code_number(codec, value, bytes);
    const unsigned char *at = codec->from + codec->at;
    codec->at += bytes;
    value = 0;
    for (size_t i = 0; i < bytes; i++) /* one load on a little-endian machine */
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static inline void gphi_code_u8(gphi_codec *codec, uint8_t *value)
{
    *value = (uint8_t)gphi_code_quick(codec, *value, 1);
}

static inline void gphi_code_u32(gphi_codec *codec, uint32_t *value)
{
    *value = (uint32_t)gphi_code_quick(codec, *value, 4);
}

static inline void gphi_code_u64(gphi_codec *codec, uint64_t *value)
{
    *value = gphi_code_quick(codec, *value, 8);
}

static inline void gphi_code_i64(gphi_codec *codec, int64_t *value)
{
    *value = (int64_t)gphi_code_quick(codec, (uint64_t)*value, 8);
}

void gphi_code_bytes(gphi_codec *codec, void *bytes, size_t count);

/* The count of an array and, reading, its items, zeroed: none if so many of at least
 * `item_bytes` in the file, or more than `most`, cannot be. Returns the count. */
size_t gphi_code_array(gphi_codec *codec, gphi_vec *items, size_t item_bytes,
                       uint64_t most, const char *what);

/* Fails unless `is_right`, while reading: "before byte 17: WHAT VALUE". */
static inline void gphi_code_check(gphi_codec *codec, bool is_right, const char *what,
                                   uint64_t value)
{
    if (!is_right)
        gphi_code_wrong(codec, what, value);
}

static inline bool gphi_code_is_fine(const gphi_codec *codec)
{
    return codec->status == GPH_OK;
}
#endif
