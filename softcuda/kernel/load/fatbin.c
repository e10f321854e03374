// SPDX-License-Identifier: Apache-2.0
/* From a module image to its PTX, with the libraries that it calls. */
#include "softcuda/kernel/load/fatbin.h"

#include <stdbool.h>
#include <string.h>

#include "access/fatbin.h"
#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/kernel/load/code.h"
#include "softcuda/ptx/link.h"

#ifdef SOFT_WITH_LZ4
#include <lz4.h>
#endif
#ifdef SOFT_WITH_ZSTD
#include <zstd.h>
#endif

#define LTOIR_MAGIC 0x7f4e43edu /* of what NVRTC makes with -dlto */
#define ARCHITECTURE_MAX 90u

struct entry {
    gphi_fatbin_entry is;
    bool has_code; /* machine code is in the fatbin, too */
};

static gph_status cut_short(gph_error *error, uint64_t offset)
{
    return gphi_fail(error, SOFT_ERROR_INVALID_IMAGE,
                     "the fatbin ends inside the entry at byte %llu",
                     (unsigned long long)offset);
}

/* The newest target that this build takes: more of the program is known then. */
static bool is_better(const gphi_fatbin_entry *entry, const gphi_fatbin_entry *best)
{
    if (!best->payload)
        return true;
    const bool fits = entry->architecture <= ARCHITECTURE_MAX;
    const bool best_fits = best->architecture <= ARCHITECTURE_MAX;
    if (fits != best_fits)
        return fits;
    return fits ? entry->architecture > best->architecture
                : entry->architecture < best->architecture;
}

static gph_status refuse_ltoir(gph_error *error, gph_status code, const char *what)
{
    return gphi_fail(
        error, code,
        "%s LTOIR: link it by nvJitLink with -lto, which makes PTX of it, or "
        "compile without -dlto (nvcc: code=compute_90, not lto_90)",
        what);
}

static gph_status find_entry(const unsigned char *data, uint64_t bytes,
                             struct entry *best, gph_error *error)
{
    uint64_t header = 0;
    const uint64_t end = gphi_fatbin_bytes(data, &header), after = end - header;
    if (header < GPHI_FATBIN_HEADER_BYTES || header > bytes || after > bytes - header)
        return gphi_fail(error, SOFT_ERROR_INVALID_IMAGE,
                         "the fatbin says it has %llu bytes, but %llu are there",
                         (unsigned long long)(header + after), (unsigned long long)bytes);
    uint32_t others = 0, ltoir = 0;
    *best = (struct entry){0};
    for (uint64_t offset = header; offset < end;) {
        gphi_fatbin_entry entry;
        if (!gphi_fatbin_read(data, offset, end, &entry))
            return cut_short(error, offset);
        if (entry.kind == GPHI_FATBIN_PTX && is_better(&entry, &best->is))
            best->is = entry;
        else if (entry.kind == GPHI_FATBIN_LTOIR)
            ltoir++;
        else if (entry.kind != GPHI_FATBIN_PTX)
            others++;
        offset += entry.used;
    }
    best->has_code = others + ltoir > 0;
    if (best->is.payload)
        return GPH_OK;
    if (ltoir > 0)
        return refuse_ltoir(error, SOFT_ERROR_NO_BINARY_FOR_GPU,
                            "the fatbin has no PTX, but");
    gphi_fail(error, SOFT_ERROR_NO_BINARY_FOR_GPU,
              "the fatbin has no PTX, only %u entries of machine code", others);
    gphi_hint(error, "compile with -gencode arch=compute_90,code=compute_90");
    return SOFT_ERROR_NO_BINARY_FOR_GPU;
}

/* Each gives the bytes that it wrote, 0 for damaged input, NO_LIBRARY if left out. */
#define NO_LIBRARY SIZE_MAX

static size_t decompress_zstd(const gphi_fatbin_entry *entry, size_t bytes, char *to,
                              size_t room)
{
#ifdef SOFT_WITH_ZSTD
    const size_t got = ZSTD_decompress(to, room, entry->payload, bytes);
    return ZSTD_isError(got) ? 0 : got;
#else
    (void)entry, (void)bytes, (void)to, (void)room;
    return NO_LIBRARY;
#endif
}

static size_t decompress_lz4(const gphi_fatbin_entry *entry, size_t bytes, char *to,
                             size_t room)
{
#ifdef SOFT_WITH_LZ4
    const int got =
        LZ4_decompress_safe((const char *)entry->payload, to, (int)bytes, (int)room);
    return got > 0 ? (size_t)got : 0;
#else
    (void)entry, (void)bytes, (void)to, (void)room;
    return NO_LIBRARY;
#endif
}

/* The kind of compression is in the flags; one that this build was made without is
 * refused by name. */
static gph_status decompress(const gphi_fatbin_entry *entry, char *to, size_t room,
                             size_t *given, gph_error *error)
{
    const bool zstd = (entry->flags & GPHI_FATBIN_ZSTD) != 0;
    const size_t bytes = (size_t)entry->payload_bytes;
    const size_t got = zstd ? decompress_zstd(entry, bytes, to, room)
                            : decompress_lz4(entry, bytes, to, room);
    if (got == NO_LIBRARY)
        return gphi_fail(error, SOFT_ERROR_NO_BINARY_FOR_GPU,
                         "the fatbin is compressed with %s, which this build lacks",
                         zstd ? "zstd" : "LZ4");
    if (got == 0)
        return gphi_fail(error, SOFT_ERROR_INVALID_IMAGE,
                         "the compressed PTX in the fatbin is damaged");
    *given = got;
    return GPH_OK;
}

static gph_status unpack(const gphi_fatbin_entry *entry, soft_ptx_text *out,
                         gph_error *error)
{
    if (entry->plain_bytes == 0 || entry->plain_bytes > PTX_TEXT_BYTES_MAX ||
        entry->payload_bytes > PTX_TEXT_BYTES_MAX)
        return gphi_fail(
            error, SOFT_ERROR_INVALID_IMAGE,
            "a compressed PTX of %llu bytes in a fatbin, at most %u are read",
            (unsigned long long)entry->plain_bytes, PTX_TEXT_BYTES_MAX);
    out->owned_bytes = (size_t)entry->plain_bytes;
    out->owned = gphi_heap_alloc(out->heap, out->owned_bytes);
    GPHI_TRY(
        gphi_made(error, out->owned, "%zu bytes of PTX in a fatbin", out->owned_bytes));
    const gph_status status =
        decompress(entry, out->owned, out->owned_bytes, &out->bytes, error);
    if (status != GPH_OK)
        soft_ptx_text_fini(out);
    out->text = out->owned;
    return status;
}

/* Where the number of .version is, and how long it is; 0: nowhere. */
static size_t find_version(const char *text, size_t bytes, size_t *at)
{
    static const char word[] = ".version";
    const char *found = memmem(text, bytes, word, sizeof(word) - 1);
    if (!found)
        return 0;
    const char *end = text + bytes, *from = found + sizeof(word) - 1;
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    *at = (size_t)(from - text);
    size_t length = 0;
    while (from + length < end &&
           ((from[length] >= '0' && from[length] <= '9') || from[length] == '.'))
        length++;
    return length;
}

static bool takes_newer; /* from every image: soft_ptx_take_newer() */

void soft_ptx_take_newer(bool takes)
{
    takes_newer = takes;
}

/* A GPU runs the machine code beside PTX that is newer than its driver (CUDA's minor version
 * compatibility): its PTX is taken as of the newest version that is known here, and what that
 * lacks makes its kernel unsupported. */
static gph_status take_newer(soft_ptx_text *text, gph_error *error)
{
    static const char newest[] = "9.0";
    size_t at;
    const size_t length = find_version(text->text, text->bytes, &at);
    if (length < sizeof(newest) - 1 || text->text[at] != '9' || text->text[at + 1] != '.')
        return GPH_OK; /* older, or the parser says what it is */
    if (!text->owned) {
        char *copy = gphi_heap_alloc(text->heap, text->bytes);
        GPHI_TRY(gphi_made(error, copy, "%zu bytes of PTX in a fatbin", text->bytes));
        memcpy(copy, text->text, text->bytes);
        text->owned_bytes = text->bytes;
        text->text = text->owned = copy;
    }
    memset(text->owned + at, ' ', length);
    memcpy(text->owned + at, newest, sizeof(newest) - 1);
    return GPH_OK;
}

static gph_status read_fatbin(const unsigned char *data, size_t bytes, soft_ptx_text *out,
                              gph_error *error)
{
    if (bytes == 0)
        bytes = (size_t)gphi_fatbin_bytes(data, &(uint64_t){0});
    if (bytes < GPHI_FATBIN_HEADER_BYTES)
        return gphi_fail(error, SOFT_ERROR_INVALID_IMAGE, "a fatbin of %zu bytes", bytes);
    struct entry entry = {0};
    GPHI_TRY(find_entry(data, bytes, &entry, error));
    if (entry.is.flags & (GPHI_FATBIN_LZ4 | GPHI_FATBIN_ZSTD)) {
        GPHI_TRY(unpack(&entry.is, out, error));
    } else {
        out->text = (const char *)entry.is.payload;
        out->bytes = (size_t)entry.is.payload_bytes;
    }
    out->bytes = strnlen(out->text, out->bytes); /* padded with NULs */
    return entry.has_code || takes_newer ? take_newer(out, error) : GPH_OK;
}

/* What has no .version anywhere is not PTX; a driver says so before it asks the compiler.
 */
static bool is_ptx(const char *text, size_t bytes)
{
    static const char word[] = ".version";
    const char *at = text;
    size_t left = bytes;
    while (left >= sizeof(word) - 1 && (at = memchr(at, '.', left))) {
        left = bytes - (size_t)(at - text);
        if (left >= sizeof(word) - 1 && memcmp(at, word, sizeof(word) - 1) == 0)
            return true;
        at++;
        left--;
    }
    return false;
}

/* Whether what begins with the magic of ELF goes on as machine code for a GPU does: 64
 * bits, little endian, version 1, for machine 190. bytes 0: as many as there are. */
static bool is_gpu_code(const unsigned char *data, size_t bytes)
{
    static const unsigned char ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    if (bytes != 0 && bytes < 64)
        return false;
    for (size_t i = 0; i < sizeof(ident);
         i++) /* what is shorter differs before its end */
        if (data[i] != ident[i])
            return false;
    return gphi_fatbin_word(data + 18, 2) == 190;
}

/* The text with what it calls of the device library, if it calls any. */
static gph_status add_runtime(soft_ptx_text *text, gph_error *error)
{
    const ptx_link_input input = {text->text, text->bytes, "the module"};
    char *linked;
    size_t bytes;
    GPHI_TRY(ptx_link_runtime(&input, &text->heap, &linked, &bytes, error));
    if (!linked)
        return GPH_OK;
    gphi_heap_free(text->heap, text->owned, text->owned_bytes);
    text->text = text->owned = linked;
    text->bytes = bytes;
    text->owned_bytes = bytes + 1;
    return GPH_OK;
}

gph_status soft_ptx_find(const void *image, size_t bytes, const gph_allocator *allocator,
                         soft_ptx_text *out, gph_error *error)
{
    const unsigned char *data = image;
    if (!data || (bytes != 0 && bytes < 4))
        return gphi_fail(error, SOFT_ERROR_INVALID_IMAGE,
                         "a module image of %zu bytes: neither PTX nor a fatbin", bytes);
    soft_ptx_text text = {.heap = gphi_heap(allocator)};
    uint32_t magic = 0; /* a text may be shorter than four bytes, if it ends in a NUL */
    for (unsigned i = 0; i < 4; i++) {
        magic |= (uint32_t)data[i] << 8 * i;
        if (data[i] == '\0')
            break;
    }
    if (magic == GPHI_FATBIN_WRAPPER) {
        if (bytes != 0 && bytes < 24)
            return gphi_fail(error, SOFT_ERROR_INVALID_IMAGE,
                             "a fatbin wrapper of %zu bytes", bytes);
        data = (const unsigned char *)(uintptr_t)gphi_fatbin_word(data + 8, 8);
        if (!data || gphi_fatbin_word(data, 4) != GPHI_FATBIN_DATA)
            return gphi_fail(error, SOFT_ERROR_INVALID_IMAGE,
                             "a fatbin wrapper that points to no fatbin");
        GPHI_TRY(read_fatbin(data, 0, &text, error));
    } else if (magic == GPHI_FATBIN_DATA) {
        GPHI_TRY(read_fatbin(data, bytes, &text, error));
    } else if (magic == 0x464c457fu) { /* "\177ELF" */
        if (!is_gpu_code(data, bytes))
            return gphi_fail(error, SOFT_ERROR_INVALID_IMAGE,
                             "the image begins as ELF and is not machine code for a GPU");
        gphi_fail(
            error, SOFT_ERROR_NO_BINARY_FOR_GPU,
            "the image is machine code for a GPU (ELF), PTX is needed; a client of a "
            "toolkit newer than the driver (Warp) gives PTX where "
            "SOFTCUDA_DRIVER_VERSION is its toolkit's");
        return SOFT_ERROR_NO_BINARY_FOR_GPU;
    } else if (magic == LTOIR_MAGIC) {
        return refuse_ltoir(error, SOFT_ERROR_INVALID_IMAGE, "the image is");
    } else {
        text.text = image;
        text.bytes = bytes != 0 ? strnlen(image, bytes) : strlen(image);
        if (!is_ptx(text.text, text.bytes))
            return gphi_fail(error, SOFT_ERROR_INVALID_IMAGE,
                             "%zu bytes that are neither PTX (no .version) nor a fatbin",
                             text.bytes);
        if (takes_newer)
            GPHI_TRY(take_newer(&text, error));
    }
    const gph_status status = add_runtime(&text, error);
    if (status == GPH_OK)
        *out = text;
    else
        soft_ptx_text_fini(&text);
    return status;
}

void soft_ptx_text_fini(soft_ptx_text *text)
{
    gphi_heap_free(text->heap, text->owned, text->owned_bytes);
    *text = (soft_ptx_text){.heap = text->heap};
}
