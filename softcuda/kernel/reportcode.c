// SPDX-License-Identifier: Apache-2.0
/* What the machine code of a kernel says: how wide its vectors are. Read from the
 * disassembly, so that it is what runs, not what was hoped for. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/kernel/report.h"

void report_add(report_text *text, const char *format, ...)
{
    va_list args;
    for (int attempt = 0; attempt < 2 && !text->failed; attempt++) {
        const size_t room = text->capacity - text->length;
        va_start(args, format);
        const int n = vsnprintf(text->bytes ? text->bytes + text->length : NULL, room,
                                format, args);
        va_end(args);
        if (n >= 0 && (size_t)n < room) {
            text->length += (size_t)n;
            return;
        }
        const size_t capacity = text->capacity * 2 + (size_t)(n < 0 ? 0 : n) + 256;
        char *grown = realloc(text->bytes, capacity);
        if (grown == NULL) {
            text->failed = true;
            return;
        }
        text->bytes = grown;
        text->capacity = capacity;
    }
}

void report_add_string(report_text *text, const char *string)
{
    if (string == NULL) {
        report_add(text, "null");
        return;
    }
    report_add(text, "\"");
    for (const char *at = string; *at != '\0'; at++) {
        const unsigned char c = (unsigned char)*at;
        if (c == '"' || c == '\\')
            report_add(text, "\\%c", c);
        else if (c == '\n')
            report_add(text, "\\n");
        else if (c < 0x20)
            report_add(text, "\\u%04x", c);
        else
            report_add(text, "%c", c);
    }
    report_add(text, "\"");
}

/* The instructions of one function. */
struct line {
    uint64_t offset;
    int64_t target; /* of a jump backwards, -1: none */
    uint32_t vector_bits;
};

struct listing {
    struct line *lines;
    size_t count, capacity;
    uint64_t bytes;
    bool failed;
    report_text *assembly;
};

static bool is_packed(const char *mnemonic, size_t length)
{
    if (length < 3)
        return false;
    const char *last = mnemonic + length - 2;
    if (strncmp(last, "ps", 2) == 0 || strncmp(last, "pd", 2) == 0)
        return true;
    /* Integer vectors: paddd, vpaddd, ... but not push, pop, prefetch. */
    const bool vex = mnemonic[0] == 'v' && mnemonic[1] == 'p';
    const bool old = mnemonic[0] == 'p' && strncmp(mnemonic, "pu", 2) != 0 &&
                     strncmp(mnemonic, "po", 2) != 0 && strncmp(mnemonic, "pr", 2) != 0;
    return vex || old;
}

#if defined(__x86_64__)
static uint32_t vector_bits(const char *text)
{
    if (strstr(text, "%zmm") != NULL)
        return 512;
    if (strstr(text, "%ymm") != NULL)
        return 256;
    while (*text == '\t' || *text == ' ')
        text++;
    return strstr(text, "%xmm") != NULL && is_packed(text, strcspn(text, " \t")) ? 128
                                                                                 : 0;
}
#else
static uint32_t vector_bits(const char *text)
{
    static const char *const shapes[] = {".4s", ".2d", ".8h", ".16b"};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        if (strstr(text, shapes[i]) != NULL)
            return 128;
    (void)is_packed;
    return 0;
}
#endif

/* The distance of a jump, as LLVM prints it: "\tjne\t-45", "\tb.ne\t#-64". */
static bool jump_distance(const char *text, long *out)
{
    while (*text == '\t' || *text == ' ')
        text++;
    const bool is_jump = text[0] == 'j' || text[0] == 'b' ||
                         strncmp(text, "cb", 2) == 0 || strncmp(text, "tb", 2) == 0;
    const char *number = strrchr(text, '\t');
    if (!is_jump || number == NULL)
        return false;
    const char *last = strrchr(number, ' ');
    number = last != NULL ? last + 1 : number + 1;
    if (*number == '#')
        number++;
    char *end;
    *out = strtol(number, &end, 0);
    return end != number && *end == '\0';
}

static void take_line(void *user, uint64_t offset, const char *text)
{
    struct listing *listing = user;
    if (listing->assembly != NULL)
        report_add(listing->assembly, "%6llx:%s\n", (unsigned long long)offset, text);
    if (listing->count == listing->capacity) {
        const size_t capacity = listing->capacity * 2 + 256;
        struct line *grown = realloc(listing->lines, capacity * sizeof(*grown));
        if (grown == NULL) {
            listing->failed = true;
            return;
        }
        listing->lines = grown;
        listing->capacity = capacity;
    }
    long distance = 0;
    const bool jump = jump_distance(text, &distance) && distance < 0;
    /* Where the instruction ends is known with the next one; see report_read_code(). */
    listing->lines[listing->count++] =
        (struct line){offset, jump ? distance : INT64_MAX, vector_bits(text)};
}

static uint64_t end_of(const struct listing *listing, size_t i)
{
    return i + 1 < listing->count ? listing->lines[i + 1].offset : listing->bytes;
}

/* The widest vector between the target of a jump backwards and the jump. */
static uint32_t widest_in_loops(const struct listing *listing)
{
    uint32_t widest = 0;
    for (size_t i = 0; i < listing->count; i++) {
        const struct line *jump = &listing->lines[i];
        if (jump->target == INT64_MAX)
            continue;
#if defined(__x86_64__)
        const int64_t from = (int64_t)end_of(listing, i);
#else
        const int64_t from = (int64_t)jump->offset;
#endif
        const int64_t target = from + jump->target;
        for (size_t k = i + 1; k-- > 0 && (int64_t)listing->lines[k].offset >= target;)
            if (listing->lines[k].vector_bits > widest)
                widest = listing->lines[k].vector_bits;
    }
    return widest;
}

void report_read_code(const soft_jit_api *jit, const soft_image *image,
                      const soft_image_function *function, bool want_assembly,
                      report_code *out)
{
    *out = (report_code){.code_bytes = function->bytes};
    struct listing listing = {.bytes = function->bytes,
                              .assembly = want_assembly ? &out->assembly : NULL};
    if (jit->disassemble(image->base + function->start, function->bytes, take_line,
                         &listing) == 0)
        out->vector_bits = widest_in_loops(&listing);
    if (listing.failed)
        out->assembly.failed = true;
    free(listing.lines);
}
