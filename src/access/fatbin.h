// SPDX-License-Identifier: Apache-2.0
/* Fatbins, as nvcc and clang embed them. The layout is not documented by NVIDIA; these are
 * the fields in use, read byte by byte since an image may be of any alignment.
 *
 *   wrapper   u32 0x466243b1, u32 version, u64 address of the data
 *   data      u32 0xba55ed50, u16 version, u16 bytes of this header, u64 bytes after it
 *   entry     u16 kind (1 PTX, 2 ELF, 8 LTOIR), u16, u32 header bytes, u64 payload bytes,
 *             u32 compressed bytes, u32, u16 minor, u16 major, u32 architecture,
 *             u32, u32, u64 flags, u64, u64 bytes when decompressed */
#ifndef GPHI_ACCESS_FATBIN_H
#define GPHI_ACCESS_FATBIN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPHI_FATBIN_WRAPPER 0x466243b1u
#define GPHI_FATBIN_DATA 0xba55ed50u
enum { GPHI_FATBIN_HEADER_BYTES = 16, GPHI_FATBIN_ENTRY_BYTES = 64 };

typedef enum gphi_fatbin_kind {
    GPHI_FATBIN_PTX = 1,
    GPHI_FATBIN_LTOIR = 8
} gphi_fatbin_kind;

typedef enum gphi_fatbin_flag {
    GPHI_FATBIN_LZ4 = 0x2000,
    GPHI_FATBIN_ZSTD = 0x8000
} gphi_fatbin_flag;

typedef struct gphi_fatbin_entry {
    uint32_t kind, architecture;
    uint64_t flags, plain_bytes;
    const unsigned char *payload;
    uint64_t payload_bytes; /* as it is compressed, if it is */
    uint64_t used;          /* of the fatbin, with its header */
} gphi_fatbin_entry;

/* Little endian, of any alignment. */
static inline uint64_t gphi_fatbin_word(const unsigned char *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/* The bytes of a fatbin, as its header says, and where its entries begin. */
static inline uint64_t gphi_fatbin_bytes(const unsigned char *data, uint64_t *first)
{
    *first = gphi_fatbin_word(data + 6, 2);
    return *first + gphi_fatbin_word(data + 8, 8);
}

/* The entry at `offset` of `bytes`. False: it is cut short. */
static inline bool gphi_fatbin_read(const unsigned char *data, uint64_t offset,
                                    uint64_t bytes, gphi_fatbin_entry *out)
{
    const unsigned char *at = data + offset;
    if (bytes - offset < GPHI_FATBIN_ENTRY_BYTES)
        return false;
    const uint64_t header = gphi_fatbin_word(at + 4, 4);
    const uint64_t payload = gphi_fatbin_word(at + 8, 8);
    if (header < GPHI_FATBIN_ENTRY_BYTES || header > bytes - offset ||
        payload > bytes - offset - header)
        return false;
    const uint64_t flags = gphi_fatbin_word(at + 40, 8);
    const uint64_t packed = (flags & (GPHI_FATBIN_LZ4 | GPHI_FATBIN_ZSTD)) != 0
                                ? gphi_fatbin_word(at + 16, 4)
                                : 0;
    *out = (gphi_fatbin_entry){
        .kind = (uint32_t)gphi_fatbin_word(at, 2),
        .architecture = (uint32_t)gphi_fatbin_word(at + 28, 4),
        .flags = flags,
        .plain_bytes = gphi_fatbin_word(at + 56, 8),
        .payload = at + header,
        .payload_bytes = packed != 0 && packed <= payload ? packed : payload,
        .used = header + payload,
    };
    return true;
}

/* What an LZ4 block of `bytes` holds: how much was written to `to`, 0 if it is damaged or
 * does not fit into `room`. */
size_t gphi_lz4_unpack(const unsigned char *from, size_t bytes, char *to, size_t room);
#endif
