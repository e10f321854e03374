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

void gphi_code_u8(gphi_codec *codec, uint8_t *value);
void gphi_code_u32(gphi_codec *codec, uint32_t *value);
void gphi_code_u64(gphi_codec *codec, uint64_t *value);
void gphi_code_i64(gphi_codec *codec, int64_t *value);
void gphi_code_bytes(gphi_codec *codec, void *bytes, size_t count);

/* The count of an array and, reading, its items, zeroed: none if so many of at least
 * `item_bytes` in the file, or more than `most`, cannot be. Returns the count. */
size_t gphi_code_array(gphi_codec *codec, gphi_vec *items, size_t item_bytes,
                       uint64_t most, const char *what);

/* Fails unless `is_right`, while reading: "byte 17: WHAT VALUE". */
void gphi_code_check(gphi_codec *codec, bool is_right, const char *what, uint64_t value);

static inline bool gphi_code_is_fine(const gphi_codec *codec)
{
    return codec->status == GPH_OK;
}
#endif
