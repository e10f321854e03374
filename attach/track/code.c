// SPDX-License-Identifier: Apache-2.0
/* Code as text is read where the driver has just read it: in memory up to its 0, or in the
 * file; of a fat binary, the text that fits the device best. Machine code says nothing here.
 * LZ4 is read here; of zstd the system's library is used, if it has one. */
#define _GNU_SOURCE
#include "attach/track/code.h"
#include "access/access.h"
#include "access/fatbin.h"
#include "attach/driver/find.h"
#include "attach/ring/draft.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MAX = 16 << 20, PACKED_MAX = 64 << 20, NAME_MAX_BYTES = 1 << 12 };

static void report(void *user, const gphi_access *kernel)
{
    (void)user;
    uint64_t words[2 + GPHI_ACCESS_WORDS];
    char name[NAME_MAX_BYTES];
    if (kernel->name_length >= sizeof(name))
        return;
    memcpy(name, kernel->name, kernel->name_length);
    name[kernel->name_length] = '\0';
    words[0] = kernel->bytes;
    words[1] = kernel->goes_elsewhere;
    for (uint32_t i = 0; i < kernel->count; i++)
        words[2 + i] = kernel->words[i].offset | (uint64_t)kernel->words[i].flags << 32 |
                       (uint64_t)kernel->words[i].store_bytes << 40;
    attach_tell(GPHI_EVENT_ACCESS, 0, 0, words, 2 + kernel->count, name);
}

/* Comments may come first. Machine code has bytes there that no text has. */
static bool is_text(const char *code, size_t length)
{
    enum { LOOKED_AT = 64 };
    for (size_t i = 0; i < LOOKED_AT && i < length; i++)
        if ((unsigned char)code[i] < '\t' || (unsigned char)code[i] >= 0x7f)
            return false;
    return length > 0;
}

static void read_text(const char *code, size_t length)
{
    const size_t room_bytes = gphi_access_room();
    if (!is_text(code, length) || length > TEXT_MAX)
        return;
    void *room = mmap(NULL, room_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return;
    gphi_access_read(code, length, room, report, NULL);
    munmap(room, room_bytes);
}

/* ---- fat binaries ---- */

static uint32_t architecture(void)
{
    int major = 0, minor = 0;
    ATTACH_ASK(cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
               0);
    ATTACH_ASK(cuDeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
               0);
    return (uint32_t)(major * 10 + minor);
}

typedef size_t unpack_fn(void *to, size_t room, const void *from, size_t bytes);

/* Looked for once; the program's own calls do not come here. */
static size_t unpack_zstd(const gphi_fatbin_entry *entry, char *to, size_t room)
{
    static _Atomic(unpack_fn *) known;
    static atomic_flag is_asked = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&is_asked)) {
        void *library = dlopen("libzstd.so.1", RTLD_LAZY | RTLD_LOCAL);
        unpack_fn *found = NULL;
        void *symbol = library ? attach_symbol_in(library, "ZSTD_decompress") : NULL;
        memcpy(&found, &symbol, sizeof(found));
        atomic_store(&known, found);
    }
    unpack_fn *unpack = atomic_load(&known);
    const size_t got =
        unpack ? unpack(to, room, entry->payload, entry->payload_bytes) : 0;
    return got <= room ? got : 0; /* its errors are the largest numbers */
}

/* A process's kernels are read up to so many bytes: a framework has thousands. */
static bool is_affordable(uint64_t bytes)
{
    static _Atomic uint64_t spent;
    return atomic_fetch_add(&spent, bytes) + bytes <= PACKED_MAX;
}

static void read_entry(const gphi_fatbin_entry *entry)
{
    const uint64_t plain = entry->plain_bytes;
    if ((entry->flags & (GPHI_FATBIN_LZ4 | GPHI_FATBIN_ZSTD)) == 0) {
        if (is_affordable(entry->payload_bytes))
            read_text((const char *)entry->payload,
                      strnlen((const char *)entry->payload, entry->payload_bytes));
        return;
    }
    if (plain == 0 || plain > TEXT_MAX || !is_affordable(plain))
        return;
    char *text = mmap(NULL, (size_t)plain, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED)
        return;
    const size_t got = (entry->flags & GPHI_FATBIN_ZSTD) != 0
                           ? unpack_zstd(entry, text, (size_t)plain)
                           : gphi_lz4_unpack(entry->payload, (size_t)entry->payload_bytes,
                                             text, (size_t)plain);
    if (got > 0)
        read_text(text, strnlen(text, got));
    munmap(text, (size_t)plain);
}

/* What a newer device would take may be other code than what runs here. */
static void read_fatbin(const unsigned char *data, uint64_t most)
{
    uint64_t offset = 0;
    const uint64_t end = gphi_fatbin_bytes(data, &offset);
    const uint32_t newest = architecture();
    gphi_fatbin_entry entry, best = {0};
    if (offset < GPHI_FATBIN_HEADER_BYTES || end < offset || end > most)
        return;
    for (; offset < end; offset += entry.used) {
        if (!gphi_fatbin_read(data, offset, end, &entry))
            return;
        if (entry.kind == GPHI_FATBIN_PTX && entry.architecture <= newest &&
            entry.architecture > best.architecture)
            best = entry;
    }
    if (best.payload)
        read_entry(&best);
}

/* Nothing that ends before its fourth byte is one. */
static bool is_fatbin(const void *code)
{
    const unsigned char *data = code;
    for (int i = 0; i < 3; i++)
        if (data[i] == 0)
            return false;
    const uint64_t magic = gphi_fatbin_word(data, 4);
    if (magic == GPHI_FATBIN_WRAPPER)
        data = (const unsigned char *)(uintptr_t)gphi_fatbin_word(data + 8, 8);
    else if (magic != GPHI_FATBIN_DATA)
        return false;
    if (data && gphi_fatbin_word(data, 4) == GPHI_FATBIN_DATA)
        read_fatbin(data, UINT64_MAX);
    return true;
}

/* ---- where code comes from ---- */

static void read_file(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat is;
    if (file < 0)
        return;
    if (fstat(file, &is) == 0 && S_ISREG(is.st_mode) && is.st_size > 0 &&
        is.st_size <= TEXT_MAX) {
        void *code = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (code != MAP_FAILED) {
            if ((size_t)is.st_size > GPHI_FATBIN_HEADER_BYTES &&
                gphi_fatbin_word(code, 4) == GPHI_FATBIN_DATA)
                read_fatbin(code, (uint64_t)is.st_size);
            else
                read_text(code, (size_t)is.st_size);
            munmap(code, (size_t)is.st_size);
        }
    }
    close(file);
}

/* Up to its 0; no more is read if its first bytes are not text. */
static void read_memory(const char *code)
{
    size_t length = 0;
    if (is_fatbin(code))
        return;
    while (length < 4 && code[length] != '\0')
        length++;
    if (length == 4 && is_text(code, length))
        read_text(code, strnlen(code, TEXT_MAX + 1));
}

static void read_data(const char *code, size_t bytes)
{
    if (code)
        read_text(code, strnlen(code, bytes));
}

void attach_code_loaded(const attach_call *call)
{
    const int before = errno;
    const uint64_t *words = call->words; /* as many as the call has arguments */
    const void *const first = (const void *)(uintptr_t)words[1];
    const bool is_ptx = words[1] == CU_JIT_INPUT_PTX;
    switch (call->symbol->call) {
    case GPHI_CALL_cuModuleLoad:
    case GPHI_CALL_cuLibraryLoadFromFile: read_file(first); break;
    case GPHI_CALL_cuLinkAddFile:
        if (is_ptx)
            read_file((const void *)(uintptr_t)words[2]);
        break;
    case GPHI_CALL_cuLinkAddData:
        if (is_ptx)
            read_data((const void *)(uintptr_t)words[2], (size_t)words[3]);
        break;
    default: read_memory(first); break;
    }
    errno = before;
}
