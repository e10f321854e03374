// SPDX-License-Identifier: Apache-2.0
/* Runtimes inside objects whose names were stripped, by the tables that static_runtime.py
 * wrote (its head says how a table looks).
 *
 *     the object's code   ....[.......anchor.........]....
 *     a table             offset of the anchor, offsets of functions, hashes of both
 *
 * The anchor is looked for at every place where the linker may have put the runtime; then
 * every function must be what the table says, else the object has another runtime. Tables
 * are a file of the user's: what is not as it should be is passed over. */
#include "base/hash.h"
#include "softcuda/runtime/inside.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALIGNED = 16, NAME_MAX_BYTES = 128, PATH_ROOM = 4096 };

static const char mark[] = "gph-static-runtime 1\n";
static const char *tables; /* the file; NULL: there is none */
static const char *tables_end;

/* A line. Of the anchor, `size` is its first eight bytes; the last one is called "end". */
typedef struct line {
    uint64_t hash, offset, bytes, size;
    char name[NAME_MAX_BYTES];
} line;

/* Code to look in: the object's segment, as it is in memory. */
typedef struct code {
    const unsigned char *bytes;
    uint64_t size;
} code;

/* ---- the file --------------------------------------------------------------------------- */

/* libc may not have its environment yet: this runs before its constructors. */
static const char *variable(char **environment, const char *name)
{
    const size_t length = strlen(name);
    for (; environment && *environment; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

void rt_tables_open(char **environment)
{
    char path[PATH_ROOM];
    struct stat info;
    const char *base = variable(environment, "XDG_CACHE_HOME"), *inside = "";
    if (!base || base[0] != '/') {
        base = variable(environment, "HOME");
        inside = "/.cache";
    }
    if (!base || base[0] != '/' ||
        snprintf(path, sizeof(path), "%s%s/graphophone/static-runtimes.txt", base,
                 inside) >= (int)sizeof(path))
        return;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    void *got = MAP_FAILED;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
        got = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (got == MAP_FAILED)
        return;
    tables = got;
    tables_end = tables + info.st_size;
}

/* Small letters and digits, up to the next space. */
static bool read_number(const char **at, const char *end, uint64_t *out)
{
    const char *from = *at;
    *out = 0;
    for (; *at < end && **at != ' ' && **at != '\n'; (*at)++) {
        const char digit = **at;
        const bool is_letter = digit >= 'a' && digit <= 'f';
        if ((!is_letter && (digit < '0' || digit > '9')) || *at - from == 16)
            return false;
        *out = *out << 4 | (uint64_t)(is_letter ? digit - 'a' + 10 : digit - '0');
    }
    const bool is_word = *at > from && *at < end && **at == ' ';
    *at += is_word;
    return is_word;
}

/* False: the table ends, or what is there cannot be read; `at` stays. */
static bool read_line(const char **at, line *out)
{
    const char *from = *at;
    const char *end =
        from < tables_end ? memchr(from, '\n', (size_t)(tables_end - from)) : NULL;
    if (!end || !read_number(&from, end, &out->hash) ||
        !read_number(&from, end, &out->offset) || !read_number(&from, end, &out->bytes) ||
        !read_number(&from, end, &out->size) || end - from >= NAME_MAX_BYTES)
        return false;
    memcpy(out->name, from, (size_t)(end - from));
    out->name[end - from] = '\0';
    *at = end + 1;
    return true;
}

/* The first line after the mark of the next table. */
static const char *next_table(const char *at)
{
    const size_t length = sizeof(mark) - 1;
    for (; at && (size_t)(tables_end - at) > length; at++) {
        if (memcmp(at, mark, length) == 0)
            return at + length;
        at = memchr(at, '\n', (size_t)(tables_end - at));
        if (!at)
            break;
    }
    return NULL;
}

/* ---- a table and an object ------------------------------------------------------------------ */

static bool is_there(const code *in, uint64_t from, const line *what)
{
    return from <= in->size && what->offset <= in->size - from &&
           what->bytes <= in->size - from - what->offset &&
           gphi_hash_fnv(GPHI_HASH_FNV_START, in->bytes + from + what->offset,
                         what->bytes) == what->hash;
}

/* The next function; false: there is none, and `whole` says whether the table ends there. */
static bool next_function(const char **at, line *out, bool *whole)
{
    const bool is_line = read_line(at, out);
    *whole = is_line && strcmp(out->name, "end") == 0;
    return is_line && !*whole;
}

/* Every function where it should be, and the table whole. */
static bool is_runtime(const code *in, uint64_t from, const char *functions)
{
    line function;
    rt_names names = {0};
    bool whole;
    while (next_function(&functions, &function, &whole)) {
        if (!is_there(in, from, &function))
            return false;
        rt_names_see(&names, function.name);
    }
    return whole && rt_names_major(&names) != 0;
}

/* Where the runtime begins: its first byte's distance from the segment's, UINT64_MAX: it is
 * not there. Few places have the anchor's first eight bytes, so few are hashed. */
static uint64_t search(const code *in, const line *anchor, const char *functions)
{
    for (uint64_t from = 0;
         in->size >= sizeof(uint64_t) && anchor->offset <= in->size - sizeof(uint64_t) &&
         from <= in->size - sizeof(uint64_t) - anchor->offset;
         from += ALIGNED) {
        uint64_t first;
        memcpy(&first, in->bytes + from + anchor->offset, sizeof(first));
        if (first == anchor->size && is_there(in, from, anchor) &&
            is_runtime(in, from, functions))
            return from;
    }
    return UINT64_MAX;
}

static void take(rt_inside *out, uint64_t start, const char *functions)
{
    line function;
    rt_names names = {0};
    bool whole;
    for (const char *at = functions; next_function(&at, &function, &whole);)
        rt_names_see(&names, function.name);
    out->major = rt_names_major(&names);
    while (next_function(&functions, &function, &whole))
        rt_inside_add(out, function.name, start + function.offset, function.size);
}

static void look_in(rt_inside *out, const code *in)
{
    for (const char *at = next_table(tables); at && out->major == 0;
         at = next_table(at)) {
        line anchor;
        if (!read_line(&at, &anchor) || strcmp(anchor.name, "anchor") != 0)
            continue;
        const uint64_t from = search(in, &anchor, at);
        if (from != UINT64_MAX)
            take(out, (uint64_t)(uintptr_t)in->bytes + from, at);
    }
}

void rt_inside_stripped(rt_inside *out)
{
    size_t next = 0;
    out->count = 0;
    out->major = 0;
    for (const Elf64_Phdr *segment;
         out->major == 0 && (segment = rt_elf_code(out->elf, &next));) {
        /* Pieces of code are aligned in the segment as they are in memory. */
        const uint64_t skip = -segment->p_vaddr & (ALIGNED - 1);
        if (segment->p_memsz > skip)
            look_in(out,
                    &(code){(const unsigned char *)(uintptr_t)(out->base +
                                                               segment->p_vaddr + skip),
                            segment->p_memsz - skip});
    }
}
