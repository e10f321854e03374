// SPDX-License-Identifier: Apache-2.0
/* The file of a bundle: a header, then the contents, packed by zstd where a build has it.
 *
 *   0  "gphr" 0d 0a 1a 0a      16  bytes of the contents     40  which checksum
 *   8  version                 24  bytes that follow         44  0
 *  12  1: packed by zstd       32  checksum of these */
#include "base/fail.h"
#include "base/log.h"
#include "file/bundle.h"
#include "file/codec.h"

#include <string.h>
#if GPHI_HAS_XXHASH
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif
#if GPHI_HAS_ZSTD
#include <zstd.h>
#endif

static const unsigned char magic[8] = {'g', 'p', 'h', 'r', '\r', '\n', 0x1a, '\n'};
enum { HEADER_BYTES = 48, PACKED_ZSTD = 1, CHECKSUM_NONE = 0, CHECKSUM_XXH3 = 1 };

/* XXH3 costs less than reading the file does. It finds damage, not forgery. */
static uint64_t checksum(const void *bytes, size_t count, uint32_t *kind)
{
#if GPHI_HAS_XXHASH
    *kind = CHECKSUM_XXH3;
    return XXH3_64bits(bytes, count);
#else
    (void)bytes, (void)count;
    *kind = CHECKSUM_NONE;
    return 0;
#endif
}

/* Packs `contents` in place where that is possible. Returns PACKED_ZSTD or 0. */
static uint32_t pack(gphi_vec *contents)
{
#if GPHI_HAS_ZSTD
    const size_t room = ZSTD_compressBound(contents->count);
    gphi_vec packed;
    gphi_vec_init(&packed, contents->heap, 1);
    size_t bytes = 0;
    if (gphi_vec_add(&packed, room))
        bytes = ZSTD_compress(packed.items, room, contents->items, contents->count, 1);
    if (bytes > 0 && !ZSTD_isError(bytes)) {
        gphi_vec_fini(contents);
        packed.count = bytes;
        *contents = packed;
        return PACKED_ZSTD;
    }
    gphi_vec_fini(&packed); /* unpacked is right too */
#else
    (void)contents;
#endif
    return 0;
}

struct header {
    uint32_t version, packed, checksum_kind, zero;
    uint64_t unpacked_bytes, bytes, checksum;
};

/* 48 bytes with the magic; offsets are those in the drawing above. */
static void code_header(gphi_codec *codec, struct header *header)
{
    gphi_code_u32(codec, &header->version);
    gphi_code_u32(codec, &header->packed);
    gphi_code_u64(codec, &header->unpacked_bytes);
    gphi_code_u64(codec, &header->bytes);
    gphi_code_u64(codec, &header->checksum);
    gphi_code_u32(codec, &header->checksum_kind);
    gphi_code_u32(codec, &header->zero);
}

/* The contents are built in memory first: the header has their size and checksum. */
static gph_status write_bundle(gphi_bundle *bundle, bool is_plain, gphi_vec *out,
                               gph_error *error)
{
    uint32_t none = 0; /* the text has its first zero, even if nothing was named */
    GPHI_TRY(gphi_made(error, gphi_bundle_text_add(bundle, "", &none) == GPH_OK,
                       "writing a recipe"));
    gphi_vec contents;
    gphi_vec_init(&contents, bundle->heap, 1);
    gphi_codec codec = {.to = &contents, .error = error};
    gphi_bundle_code(bundle, &codec, UINT64_MAX);
    struct header header = {.version = GPHI_BUNDLE_VERSION,
                            .unpacked_bytes = contents.count};
    if (gphi_code_is_fine(&codec)) {
        header.packed = is_plain ? 0 : pack(&contents);
        header.bytes = contents.count;
        if (!is_plain)
            header.checksum =
                checksum(contents.items, contents.count, &header.checksum_kind);
        unsigned char head[sizeof(magic)];
        memcpy(head, magic, sizeof(head));
        codec.to = out;
        gphi_code_bytes(&codec, head, sizeof(head));
        code_header(&codec, &header);
        gphi_code_bytes(&codec, contents.items, contents.count);
    }
    gphi_vec_fini(&contents);
    return codec.status;
}

/* What users get; the plain way has neither packing nor checksum. */
gph_status gphi_bundle_write(gphi_bundle *bundle, gphi_vec *out, gph_error *error)
{
    return write_bundle(bundle, false, out, error);
}

gph_status gphi_bundle_write_plain(gphi_bundle *bundle, gphi_vec *out, gph_error *error)
{
    return write_bundle(bundle, true, out, error);
}

/* The size is within the limits by now: a small file cannot unpack to a huge one. */
static gph_status unpack(const struct header *header, const unsigned char *bytes,
                         gphi_vec *out, gph_error *error)
{
    if (header->packed != PACKED_ZSTD)
        return gphi_fail(error, GPH_E_FORMAT, "byte 12: packed by method %u",
                         header->packed);
#if GPHI_HAS_ZSTD
    GPHI_TRY(gphi_made(error, gphi_vec_add(out, (size_t)header->unpacked_bytes),
                       "unpacking %llu bytes",
                       (unsigned long long)header->unpacked_bytes));
    const size_t done =
        ZSTD_decompress(out->items, out->count, bytes, (size_t)header->bytes);
    if (ZSTD_isError(done) || done != header->unpacked_bytes)
        return gphi_fail(
            error, GPH_E_FORMAT, "byte %d: cannot be unpacked into %llu bytes: %s",
            HEADER_BYTES, (unsigned long long)header->unpacked_bytes,
            ZSTD_isError(done) ? ZSTD_getErrorName(done) : "there are fewer");
    return GPH_OK;
#else
    (void)bytes, (void)out;
    return gphi_fail(error, GPH_E_UNSUPPORTED,
                     "the file is packed by zstd, which this build lacks");
#endif
}

/* Before anything is unpacked or believed. A build without xxHash reads files of one
 * with it, and says that nothing was compared. */
static gph_status check_header(const struct header *header, const unsigned char *bytes,
                               size_t count, const struct gphi_bundle_limits *limits,
                               gph_error *error)
{
    if (header->version != GPHI_BUNDLE_VERSION)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "byte 8: version %u of the format; this library reads %d",
                         header->version, GPHI_BUNDLE_VERSION);
    if (header->unpacked_bytes > limits->unpacked_bytes)
        return gphi_fail(error, GPH_E_FORMAT, "byte 16: %llu bytes, more than %llu",
                         (unsigned long long)header->unpacked_bytes,
                         (unsigned long long)limits->unpacked_bytes);
    if (header->bytes != count - HEADER_BYTES)
        return gphi_fail(error, GPH_E_FORMAT,
                         "byte 24: %llu bytes should follow, but %zu do",
                         (unsigned long long)header->bytes, count - HEADER_BYTES);
    if (header->zero != 0 || header->checksum_kind > CHECKSUM_XXH3)
        return gphi_fail(error, GPH_E_FORMAT, "byte 40: checksum of kind %u",
                         header->checksum_kind);
    uint32_t kind = CHECKSUM_NONE;
    const uint64_t found = checksum(bytes, (size_t)header->bytes, &kind);
    if (kind == header->checksum_kind && kind != CHECKSUM_NONE &&
        found != header->checksum)
        return gphi_fail(error, GPH_E_FORMAT,
                         "byte 32: checksum %016llx, but that of the bytes is %016llx",
                         (unsigned long long)header->checksum, (unsigned long long)found);
    if (kind != header->checksum_kind)
        gphi_log("file", GPH_LOG_INFO, "the recipe's checksum is not compared");
    return GPH_OK;
}

/* Whatever fails, the bundle is empty again: nobody sees a half-read one. */
gph_status gphi_bundle_read(gphi_bundle *bundle, const void *bytes, size_t count,
                            const struct gphi_bundle_limits *limits, gph_error *error)
{
    const size_t head = count < sizeof(magic) ? count : sizeof(magic);
    if (head == 0 || memcmp(bytes, magic, head) != 0)
        return gphi_fail(error, GPH_E_FORMAT, "this is not a recipe");
    gphi_codec codec = {
        .is_reading = true, .error = error, .from = bytes, .count = count, .at = head};
    struct header header = {0};
    code_header(&codec, &header);
    GPHI_TRY(codec.status);
    const unsigned char *contents = (const unsigned char *)bytes + HEADER_BYTES;
    GPHI_TRY(check_header(&header, contents, count, limits, error));

    gphi_vec unpacked;
    gphi_vec_init(&unpacked, bundle->heap, 1);
    gph_status status = GPH_OK;
    codec.from = contents;
    codec.count = (size_t)header.bytes;
    codec.at = 0;
    if (header.packed != 0) {
        status = unpack(&header, contents, &unpacked, error);
        codec.from = unpacked.items;
        codec.count = unpacked.count;
    }
    if (status == GPH_OK) {
        gphi_bundle_code(bundle, &codec, limits->nodes);
        status = codec.status;
    }
    gphi_vec_fini(&unpacked);
    if (status != GPH_OK) {
        const gph_allocator heap = bundle->heap;
        gphi_bundle_fini(bundle);
        gphi_bundle_init(bundle, heap);
    }
    return status;
}
