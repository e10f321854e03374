// SPDX-License-Identifier: Apache-2.0
/* The Python frames of the calling thread. Nothing of Python is linked: what the process
 * exports is looked up once Python is seen in it.
 *
 * Frames are read where they lie, with the interpreter's lock or without, and no reference
 * is taken: no other thread changes those of this one, and a garbage collection inside a
 * capture could destroy what must not be destroyed there.
 *
 *     thread state ──> frame ──> code object ──> file, name
 *                        └─────> the frame that called it
 *
 * Where all this lies is known for 3.6 to 3.12; later versions say it themselves, in a
 * table for debuggers that _PyRuntime begins with. A code object is believed when its
 * type, and those of its texts, are Python's: then Python's own functions read them. */
#define _GNU_SOURCE
#include "attach/peek/python.h"
#include "attach/peek/memory.h"
#include "base/hash.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 64, BLOCK_MAX = 512 };

#define NEEDED(X)                                                                        \
    X(int, Py_IsInitialized, (void))                                                     \
    X(const char *, Py_GetVersion, (void))                                               \
    X(char *, PyGILState_GetThisThreadState, (void))                                     \
    X(int, PyCode_Addr2Line, (const void *, int))                                        \
    X(int, PyFrame_GetLineNumber, (const void *))                                        \
    X(intptr_t, PyUnicode_GetLength, (const void *))                                     \
    X(uint32_t, PyUnicode_ReadChar, (const void *, intptr_t))

static struct {
#define X(type, name, arguments) type(*name) arguments;
    NEEDED(X)
#undef X
    const void *PyCode_Type, *PyUnicode_Type;
} py;

/* Bytes from the start of what each lies in. */
static struct layout {
    uint16_t via;   /* in the thread state: a pointer to where `frame` is; 0: itself */
    uint16_t frame; /* the innermost one */
    uint16_t previous, code, next_code; /* in a frame; next_code 0: frames are objects */
    uint16_t owner, copy;               /* copy: which of a code's copies runs, or 0 */
    uint16_t file, name, first_code, copies; /* in a code object */
    uint16_t type;                           /* in each object */
} at;

/* By minor version, from 3.6. */
static const struct layout fixed[] = {
    {.frame = 24, .previous = 24, .code = 32, .file = 96, .name = 104, .type = 8},
    {.frame = 24, .previous = 24, .code = 32, .file = 96, .name = 104, .type = 8},
    {.frame = 24, .previous = 24, .code = 32, .file = 104, .name = 112, .type = 8},
    {.frame = 24, .previous = 24, .code = 32, .file = 104, .name = 112, .type = 8},
    {.frame = 24, .previous = 24, .code = 32, .file = 104, .name = 112, .type = 8},
    {56, 8, 48, 32, 56, 69, 0, 112, 120, 184, 0, 8},
    {56, 0, 8, 0, 56, 70, 0, 112, 120, 192, 0, 8},
};

/* By minor version, from 3.13: which words of the table are what. */
static const struct {
    uint8_t thread_frame, frames; /* the block on frames, and after it that on code */
    uint8_t frame_words, code_words;
} tables[] = {{23, 28, 6, 10}, {26, 31, 8, 11}, {26, 39, 8, 11}};

static atomic_bool is_sure;        /* that everything lies as `at` says */
static _Atomic int state;          /* 0 not looked for, 1 being looked for, 2 there */
static _Atomic uint64_t looked_at; /* `loaded` of the last look */

static bool read_table(long minor)
{
    enum { COOKIE, VERSION, FREE_THREADED };
    const uint64_t *words = dlsym(RTLD_DEFAULT, "_PyRuntime");
    const size_t which = (size_t)minor - 13;
    if (!words || which >= sizeof(tables) / sizeof(*tables) ||
        memcmp(words, "xdebugpy", 8) != 0 ||
        words[VERSION] >> 16 != 0x300U + (uint64_t)minor)
        return false;
    const uint64_t *frame = words + tables[which].frames;
    const uint64_t *code = frame + tables[which].frame_words;
    const uint64_t *object = code + tables[which].code_words;
    at = (struct layout){
        .frame = (uint16_t)words[tables[which].thread_frame],
        .previous = (uint16_t)frame[1],
        .code = (uint16_t)frame[2],
        .next_code = (uint16_t)frame[3],
        .owner = (uint16_t)frame[5],
        .file = (uint16_t)code[1],
        .name = (uint16_t)code[2],
        .first_code = (uint16_t)code[9],
        .type = (uint16_t)object[1],
    };
    if (words[FREE_THREADED] && minor >= 14) {
        at.copy = (uint16_t)frame[7];
        at.copies = (uint16_t)code[10];
    }
    return true;
}

static bool know_version(void)
{
    const char *version = py.Py_GetVersion(); /* "3.12.1 (main, ..." */
    const long minor = strncmp(version, "3.", 2) == 0 ? strtol(version + 2, NULL, 10) : 0;
    if (minor >= 13)
        return read_table(minor);
    if (minor < 6)
        return false;
    at = fixed[minor - 6];
    return true;
}

bool attach_python_is_known(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == 2;
}

bool attach_python_is_there(uint64_t loaded)
{
    int expected = 0;
    if (attach_python_is_known())
        return true;
    if (atomic_exchange(&looked_at, loaded) == loaded)
        return false;
    if (!atomic_compare_exchange_strong(&state, &expected, 1))
        return false;
    bool all = true;
#define X(type, name, arguments)                                                         \
    *(void **)&py.name = all ? dlsym(RTLD_DEFAULT, #name) : NULL;                        \
    all = all && py.name;
    NEEDED(X)
#undef X
    if (all) {
        py.PyCode_Type = dlsym(RTLD_DEFAULT, "PyCode_Type");
        py.PyUnicode_Type = dlsym(RTLD_DEFAULT, "PyUnicode_Type");
        all = know_version();
    }
    atomic_store_explicit(&state, all ? 2 : 0, memory_order_release);
    return all;
}

/* ---- reading ---- */

/* The kernel reads until one stack has held to all types: then everything lies where we
 * think, and what this thread is running stays there while we look. */
static bool look(void *to, const void *from, size_t bytes)
{
    if (!atomic_load_explicit(&is_sure, memory_order_relaxed))
        return attach_read(to, from, bytes);
    memcpy(to, from, bytes);
    return true;
}

/* What lies `place` bytes into a block that was read. */
static uint64_t word(const char *block, size_t place)
{
    uint64_t out;
    memcpy(&out, block + place, sizeof(out));
    return out;
}

static const char *pointer(const char *block, size_t place)
{
    return (const char *)(uintptr_t)word(block, place);
}

static bool is_a(const char *object, const void *type)
{
    const void *its = NULL;
    return type && look(&its, object + at.type, sizeof(its)) && its == type;
}

/* Adds the characters of a Python text; false: it is not one, or too long. */
static bool put_text(char *text, size_t bytes, size_t *used, const char *object)
{
    if (!is_a(object, py.PyUnicode_Type))
        return false;
    const intptr_t length = py.PyUnicode_GetLength(object);
    for (intptr_t i = 0; i < length; i++) {
        const uint32_t c = py.PyUnicode_ReadChar(object, i);
        char utf8[4];
        size_t count = 0;
        if (c < 0x80)
            utf8[count++] = c >= ' ' ? (char)c : '?';
        else if (c >= 0xDC80 && c <= 0xDCFF) /* a byte that was not UTF-8 */
            utf8[count++] = (char)c;
        else {
            const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
            utf8[count++] = (char)(0xFF00 >> (more + 1) | (int)(c >> 6 * more));
            for (int k = more - 1; k >= 0; k--)
                utf8[count++] = (char)(0x80 | (c >> 6 * k & 0x3F));
        }
        if (count >= bytes - *used)
            return false;
        memcpy(text + *used, utf8, count);
        *used += count;
    }
    return true;
}

/* The line that a frame is at, of a code object that starts with `block`. */
static int line_of(const char *frame, const char *copy, const char *code,
                   const char *block)
{
    if (at.next_code == 0)
        return py.PyFrame_GetLineNumber(frame);
    const char *start = code + at.first_code;
    if (at.copies != 0) { /* without the lock each thread runs a copy of its own */
        int32_t which;
        memcpy(&which, copy + at.copy, sizeof(which));
        const char *from =
            pointer(block, at.copies) + (1 + (size_t)which) * sizeof(start);
        if (!look(&start, from, sizeof(start)))
            return 0;
    }
    return py.PyCode_Addr2Line(code, (int)(pointer(copy, at.next_code) - start));
}

/* Adds "file:line function\n", whole or not at all; false: it does not fit. */
static bool put_frame(char *text, size_t bytes, size_t *used, const char *frame,
                      const char *copy)
{
    enum { OF_INTERPRETER = 3 }; /* a frame's owner from here on: it runs no code */
    char block[BLOCK_MAX], line[16];
    const char *code =
        (const char *)((uintptr_t)pointer(copy, at.code) & ~(uintptr_t)3); /* marks */
    if ((at.owner != 0 && copy[at.owner] >= OF_INTERPRETER) ||
        !is_a(code, py.PyCode_Type))
        return true;
    const size_t size = (at.copies > at.name ? at.copies : at.name) + sizeof(uint64_t);
    if (size > sizeof(block) || !look(block, code, size))
        return true;
    size_t now = *used;
    const int count =
        snprintf(line, sizeof(line), ":%d ", line_of(frame, copy, code, block));
    if (!put_text(text, bytes, &now, pointer(block, at.file)) ||
        (size_t)count >= bytes - now)
        return false;
    memcpy(text + now, line, (size_t)count);
    now += (size_t)count;
    if (!put_text(text, bytes, &now, pointer(block, at.name)) || bytes - now < 2)
        return false;
    text[now++] = '\n';
    *used = now;
    return true;
}

/* The innermost frame of the thread; *size: what of a frame is read. NULL: none. */
static const char *innermost(size_t *size, size_t room)
{
    const char *from = py.Py_IsInitialized() ? py.PyGILState_GetThisThreadState() : NULL;
    const char *frame = NULL;
    const uint16_t ends[] = {at.previous, at.code, at.next_code, at.owner, at.copy};
    *size = 0;
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        *size = ends[i] + sizeof(uint64_t) > *size ? ends[i] + sizeof(uint64_t) : *size;
    if (!from || *size > room ||
        (at.via != 0 && !look(&from, from + at.via, sizeof(from))) ||
        !look(&frame, from + at.frame, sizeof(frame)))
        return NULL;
    return frame;
}

size_t attach_python(char *text, size_t bytes)
{
    size_t used = 0, size;
    char copy[BLOCK_MAX];
    const char *frame = innermost(&size, sizeof(copy));
    for (int i = 0; i < FRAMES_MAX && frame && look(copy, frame, size); i++) {
        if (!put_frame(text, bytes, &used, frame, copy))
            break;
        frame = pointer(copy, at.previous);
    }
    if (used > 0)
        atomic_store_explicit(&is_sure, true, memory_order_relaxed);
    text[used] = '\0';
    return used;
}

bool attach_python_is_cheap(void)
{
    return attach_python_is_known() && at.next_code != 0;
}

/* A code object that is gone may give its address to another: its texts are hashed with
 * it, by where they lie. */
bool attach_python_key(uint64_t *key)
{
    size_t size;
    char copy[BLOCK_MAX];
    if (at.next_code == 0 || !atomic_load_explicit(&is_sure, memory_order_relaxed))
        return false;
    uint64_t hash = GPHI_HASH_START;
    const char *frame = innermost(&size, sizeof(copy));
    const bool has_any = frame != NULL;
    for (int i = 0; i < FRAMES_MAX && frame; i++) {
        memcpy(copy, frame, size);
        const char *code =
            (const char *)((uintptr_t)pointer(copy, at.code) & ~(uintptr_t)3);
        hash = gphi_hash_word(hash, (uintptr_t)code);
        hash = gphi_hash_word(hash, word(copy, at.next_code));
        if (code && is_a(code, py.PyCode_Type)) {
            hash = gphi_hash_word(hash, word(code, at.file));
            hash = gphi_hash_word(hash, word(code, at.name));
        }
        frame = pointer(copy, at.previous);
    }
    *key = hash;
    return has_any;
}
