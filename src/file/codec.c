// SPDX-License-Identifier: Apache-2.0
/* Numbers, bytes and counts of a format, the long way: writing, and what fails. */
#include "file/codec.h"
#include "base/fail.h"

#include <string.h>

/* The next bytes: to write into, or to read from; NULL after a failure. */
static unsigned char *next(gphi_codec *codec, size_t count)
{
    if (codec->status != GPH_OK)
        return NULL;
    if (!codec->is_reading) {
        unsigned char *to = gphi_vec_add(codec->to, count);
        if (!to)
            codec->status = gphi_fail(codec->error, GPH_E_NO_MEMORY, "writing %zu bytes",
                                      codec->to->count + count);
        return to;
    }
    if (count > codec->count - codec->at) {
        codec->status =
            gphi_fail(codec->error, GPH_E_FORMAT, "byte %zu: %zu bytes are missing",
                      codec->at, count - (codec->count - codec->at));
        return NULL;
    }
    codec->at += count;
    return (unsigned char *)codec->from + codec->at - count;
}

/* Byte by byte: files are little-endian on every machine. */
uint64_t gphi_code_number(gphi_codec *codec, uint64_t value, size_t bytes)
{
    unsigned char *at = next(codec, bytes);
    if (!at)
        return codec->is_reading ? 0 : value;
    if (codec->is_reading)
        value = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (codec->is_reading)
            value |= (uint64_t)at[i] << (8 * i);
        else
            at[i] = (unsigned char)(value >> (8 * i));
    }
    return value;
}

/* memcpy() of nothing may not have a NULL pointer, hence the test. */
void gphi_code_bytes(gphi_codec *codec, void *bytes, size_t count)
{
    if (count == 0)
        return;
    unsigned char *at = next(codec, count);
    if (!at)
        return;
    if (codec->is_reading)
        memcpy(bytes, at, count);
    else
        memcpy(at, bytes, count);
}

/* The count is believed only as far as bytes follow, so that a small file cannot ask for
 * a large allocation. */
size_t gphi_code_array(gphi_codec *codec, gphi_vec *items, size_t item_bytes,
                       uint64_t most, const char *what)
{
    uint64_t count = items->count;
    gphi_code_u64(codec, &count);
    if (!codec->is_reading || codec->status != GPH_OK)
        return codec->is_reading ? 0 : items->count;
    const size_t left = codec->count - codec->at;
    if (count > most || count > left / item_bytes)
        codec->status = gphi_fail(
            codec->error, GPH_E_FORMAT,
            "byte %zu: %llu %s, but at most %llu are allowed in "
            "the %zu bytes that follow",
            codec->at - 8, (unsigned long long)count, what,
            (unsigned long long)(left / item_bytes < most ? left / item_bytes : most),
            left);
    else if (count > 0 && !gphi_vec_add(items, (size_t)count))
        codec->status = gphi_fail(codec->error, GPH_E_NO_MEMORY, "reading %llu %s",
                                  (unsigned long long)count, what);
    return codec->status == GPH_OK ? (size_t)count : 0;
}

/* What is written was checked when it was made; the first failure sticks. */
void gphi_code_wrong(gphi_codec *codec, const char *what, uint64_t value)
{
    if (codec->is_reading && codec->status == GPH_OK)
        codec->status = gphi_fail(codec->error, GPH_E_FORMAT, "before byte %zu: %s %llu",
                                  codec->at, what, (unsigned long long)value);
}
