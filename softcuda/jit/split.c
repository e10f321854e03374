// SPDX-License-Identifier: Apache-2.0
/* What LLVM keeps of a module is some seven times its text, until the last function has
 * machine code. So a large kernel becomes several modules:
 *
 *   declare ...                       all batches
 *   define internal ... @x_...        all batches: each takes in what it calls
 *   define void @"b.k"                batch 0
 *   define internal i1 @"b.k.R7"      batch 1    0 declares it; hidden, no longer internal
 *   define internal i1 @"b.k.R9"      batch 2
 *   attributes, !0 = ...              all batches
 *
 * The text is softcuda/ptx's own: a function begins with its `define` and ends before the
 * next line that begins with `define`, `declare`, `attributes` or @. */
#include "softcuda/jit/split.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "softcuda/jit/form.h"

enum kind { COMMON, KERNEL, REGION };

typedef struct span {
    const char *text;
    size_t bytes;
    uint32_t kind, batch;
} span;

struct soft_split {
    span *spans;
    uint32_t count, room, batch_count;
};

/* A kernel's function: "b.", "n.", "t.", "w." and its name. */
static enum kind kind_of(const char *line)
{
    if (gphi_text_begins(line, SOFT_REGION_START))
        return REGION;
    const char *name = gphi_text_begins(line, "define ") ? strchr(line, '@') : NULL;
    if (!name || name[1] != '"' || name[2] == '\0' || name[3] != '.')
        return COMMON;
    return strchr("bntw", name[2]) ? KERNEL : COMMON;
}

static bool add(soft_split *s, const char *text, enum kind kind)
{
    if (s->count == s->room) {
        const uint32_t room = s->room ? 2 * s->room : 64;
        span *spans = realloc(s->spans, room * sizeof(*spans));
        if (!spans)
            return false;
        s->spans = spans;
        s->room = room;
    }
    s->spans[s->count++] = (span){.text = text, .kind = kind};
    return true;
}

static bool begins_span(const char *line)
{
    return gphi_text_begins(line, "define ") || gphi_text_begins(line, "declare ") ||
           gphi_text_begins(line, "attributes ") || *line == '@';
}

/* Neighbors of the common kind are one span. */
static bool find_spans(soft_split *s, const char *ir, size_t bytes)
{
    const char *const end = ir + bytes;
    if (!add(s, ir, COMMON))
        return false;
    for (const char *line = ir; line < end;) {
        const enum kind kind = kind_of(line);
        const bool joins = kind == COMMON && s->spans[s->count - 1].kind == COMMON;
        if (begins_span(line) && !joins && !add(s, line, kind))
            return false;
        const char *next = memchr(line, '\n', (size_t)(end - line));
        line = next ? next + 1 : end;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const char *next = i + 1 < s->count ? s->spans[i + 1].text : end;
        s->spans[i].bytes = (size_t)(next - s->spans[i].text);
    }
    return true;
}

/* In the order of the text, so that neighbors stay neighbors. */
static void share_out(soft_split *s, size_t regions, size_t batch_bytes, uint32_t most)
{
    uint32_t count = (uint32_t)(1 + (regions - 1) / batch_bytes);
    count = count < most - 1 ? count : most - 1;
    size_t before = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->spans[i].kind != REGION)
            continue;
        s->spans[i].batch = 1 + (uint32_t)((uint64_t)before * count / regions);
        before += s->spans[i].bytes;
    }
    s->batch_count = 1 + count;
}

soft_split *soft_split_create(const char *ir, size_t bytes, size_t batch_bytes,
                              uint32_t most)
{
    if (bytes <= 2 * batch_bytes || most < 2)
        return NULL;
    soft_split *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    if (find_spans(s, ir, bytes)) {
        size_t regions = 0;
        for (uint32_t i = 0; i < s->count; i++)
            regions += s->spans[i].kind == REGION ? s->spans[i].bytes : 0;
        if (regions > batch_bytes) {
            share_out(s, regions, batch_bytes, most);
            return s;
        }
    }
    soft_split_destroy(s);
    return NULL;
}

void soft_split_destroy(soft_split *split)
{
    if (!split)
        return;
    free(split->spans);
    free(split);
}

uint32_t soft_split_count(const soft_split *split)
{
    return split->batch_count;
}

static char *put(char *to, const char *text, size_t bytes)
{
    memcpy(to, text, bytes);
    return to + bytes;
}

/* In its own batch a region's function is seen by others; in the kernels' it is declared
 * by its first line, without the brace. */
static char *put_region(char *to, const span *region, bool whole)
{
    const size_t word = sizeof("define internal") - 1;
    const char *rest = region->text + word;
    to = whole ? put(to, "define hidden", sizeof("define hidden") - 1)
               : put(to, "declare hidden", sizeof("declare hidden") - 1);
    if (whole)
        return put(to, rest, region->bytes - word);
    const char *line = memchr(rest, '\n', region->bytes - word);
    const size_t bytes = line ? (size_t)(line - rest) : region->bytes - word;
    to = put(to, rest, bytes > 0 && rest[bytes - 1] == '{' ? bytes - 1 : bytes);
    return put(to, "\n", 1);
}

char *soft_split_text(const soft_split *split, uint32_t batch, size_t *bytes)
{
    size_t room = 1;
    for (uint32_t i = 0; i < split->count; i++) {
        const span *part = &split->spans[i];
        if (part->kind == COMMON || part->batch == batch || batch == 0)
            room += part->bytes + 1;
    }
    char *text = malloc(room), *to = text;
    if (!text)
        return NULL;
    for (uint32_t i = 0; i < split->count; i++) {
        const span *part = &split->spans[i];
        if (part->kind == REGION && (batch == 0 || part->batch == batch))
            to = put_region(to, part, batch != 0);
        else if (part->kind == COMMON || (part->kind == KERNEL && batch == 0))
            to = put(to, part->text, part->bytes);
    }
    *to = '\0';
    *bytes = (size_t)(to - text);
    return text;
}
