// SPDX-License-Identifier: Apache-2.0
/* Code as text is read where the driver has just read it: in memory up to its 0, or in the
 * file. Machine code and what fat binaries compress say nothing here. */
#define _GNU_SOURCE
#include "attach/track/code.h"
#include "access/access.h"
#include "attach/ring/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MAX = 16 << 20, NAME_MAX_BYTES = 1 << 12 };

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
