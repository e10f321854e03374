// SPDX-License-Identifier: Apache-2.0
/* Kernels of many regions: the code of each region becomes a function of its own, since
 * what LLVM does with one function grows much faster than its size. What stays in the
 * kernel's function is the way from region to region.
 *
 *   R7:                                      define i1 @"b.k.R7"(what it uses) {
 *     %back = call i1 @"b.k.R7"(...)           copies of the scalars it uses
 *     br i1 %back, R7.back, R7.after           its code
 *                                              the scalars back, `ret`
 *
 * A region's code is written as ever, into a text of its own. Which names it uses and
 * does not define is read from that text; by its name each is known to be a scalar of the
 * kernel (u., off.: by address, copied in and out), a slot for one thread at a time (made
 * again), or a value that never changes (handed over). In the function all names are
 * numbers, in the order of the code: so regions that do the same, if with other registers
 * (a loop that the compiler before us unrolled), have the same text, and one function. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/ptx/shape/fast.h"

#define REGIONS_MAX 32u
#define SHORT_INSNS 400u

typedef struct name {
    const char *text; /* after the % */
    uint32_t bytes;
    uint32_t id;  /* what it is called in the function: "a<id>" */
    bool defined; /* in the region's code, as a value or a label */
} name;

typedef struct names {
    name *table; /* by hash; text NULL: free */
    uint32_t mask, count;
    name **used; /* in the order of the code */
    uint32_t used_count;
} names;

enum { PART_UNKNOWN, PART_VALUE, PART_SCALAR, PART_SLOT };

/* LLVM gets many short regions done in one function, too, and keeps scalars in registers. */
uint32_t ptx_regions_max(const ptx_shape *s)
{
    return s->function->insn_count <= SHORT_INSNS ? 2 * REGIONS_MAX : REGIONS_MAX;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '_';
}

static name *find(names *n, const char *text, uint32_t bytes)
{
    for (uint32_t at = (uint32_t)gphi_hash_bytes(GPHI_HASH_START, text, bytes);; at++) {
        name *entry = &n->table[at & n->mask];
        if (!entry->text) {
            *entry = (name){text, bytes, n->count++, false};
            return entry;
        }
        if (entry->bytes == bytes && memcmp(entry->text, text, bytes) == 0)
            return entry;
    }
}

static uint32_t name_length(const char *at, const char *end)
{
    uint32_t bytes = 0;
    while (at + bytes < end && is_name_char(at[bytes]))
        bytes++;
    return bytes;
}

/* What a line defines: a label at its beginning, or a value. */
static void note_definition(names *n, const char *line, const char *end)
{
    const char *at = line;
    while (at < end && *at == ' ')
        at++;
    const bool value = at < end && *at == '%';
    at += value;
    const uint32_t bytes = name_length(at, end);
    const char *after = at + bytes;
    if (bytes > 0 && after < end && (value ? *after == ' ' : *after == ':') &&
        (!value || (end - after > 2 && after[1] == '=')))
        find(n, at, bytes)->defined = true;
}

static void note_uses(names *n, const char *line, const char *end)
{
    bool quoted = false;
    for (const char *at = line; at < end; at++) {
        quoted ^= *at == '"';
        if (quoted || *at != '%')
            continue;
        const uint32_t bytes = name_length(at + 1, end);
        const bool label = at - line >= 6 && memcmp(at - 6, "label ", 6) == 0;
        if (bytes > 0 && !label)
            n->used[n->used_count++] = find(n, at + 1, bytes);
    }
}

typedef void line_fn(names *n, const char *line, const char *end);

static void each_line(names *n, const gphi_text *text, line_fn *fn)
{
    const char *const end = text->bytes + text->length;
    for (const char *line = text->bytes; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next : end;
        fn(n, line, next);
        line = next + 1;
    }
}

/* Names that the text uses and does not define, each once. */
static names free_names(ptx_fast *f, const gphi_text *text)
{
    names n = {.mask = 63};
    uint32_t most = 0;
    for (size_t i = 0; i < text->length; i++)
        most += text->bytes[i] == '%' || text->bytes[i] == ':';
    /* At most half full: probing is short, and a free place is always found. */
    while (n.mask < 2 * most)
        n.mask = 2 * n.mask + 1;
    n.table =
        ptx_scratch(f->s->memory, PTX_SCRATCH_NAMES, n.mask + 1ull, sizeof(*n.table));
    n.used = ptx_scratch(f->s->memory, PTX_SCRATCH_USED, most + 1ull, sizeof(*n.used));
    memset(n.table, 0, (n.mask + 1ull) * sizeof(*n.table));
    each_line(&n, text, note_definition);
    each_line(&n, text, note_uses);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n.used_count; i++)
        if (!n.used[i]->defined) { /* and from here on listed, so not again */
            n.used[i]->defined = true;
            n.used[kept++] = n.used[i];
        }
    n.used_count = kept;
    return n;
}

static bool is(const name *n, const char *text)
{
    return n->bytes == strlen(text) && memcmp(n->text, text, n->bytes) == 0;
}

static bool begins(const name *n, const char *text)
{
    return n->bytes > strlen(text) && memcmp(n->text, text, strlen(text)) == 0;
}

/* The number after the last point of a name; it is followed by something that is not a digit. */
static uint32_t number_of(const name *n)
{
    uint32_t at = n->bytes;
    while (at > 0 && n->text[at - 1] != '.')
        at--;
    return (uint32_t)strtoul(n->text + at, NULL, 10);
}

/* Names are ours alone, so their beginnings say what they are. A name that is missing
 * here costs speed only: all_known() then leaves the region where it is. */
static int kind_of(const ptx_fast *f, const name *n, const char *scan, char *type,
                   size_t room)
{
    static const char *const pointers[] = {"block",  "grid",    "zero",      "shared",
                                           "params", "scratch", "localbase", "known"};
    static const char *const words[] = {"ntid.x",  "ntid.y",  "ntid.z",
                                        "ctaid.x", "ctaid.y", "ctaid.z",
                                        "threads", "warps",   "lanes32"};
    static const struct {
        const char *name, *type;
    } slots[] = {{"cc", "i1"},
                 {"warp.a", "<32 x i64>"},
                 {"warp.b", "<32 x i32>"},
                 {"warp.c", "<32 x i32>"},
                 {"warp.m", "<32 x i32>"},
                 {"warp.one", "i32"},
                 {"warp.two", "i32"},
                 {"mat.tmp", "[42 x [32 x i64]]"}};
    const char *found = NULL;
    int kind = PART_VALUE;
    for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++)
        found = is(n, pointers[i]) ? "ptr" : found;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        found = is(n, words[i]) ? "i32" : found;
    if (begins(n, "ctx.") || begins(n, "mask.") || begins(n, "live."))
        found = "ptr";
    else if (is(n, "lanes"))
        found = "i64";
    else if (is(n, "one.row"))
        found = "i1";
    else if (scan[0] == '%' && is(n, scan + 1))
        found = "i32";
    if (!found) {
        kind = PART_SLOT;
        for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
            found = is(n, slots[i].name) ? slots[i].type : found;
        if (begins(n, "r.") || begins(n, "load."))
            found = ptx_fast_type(f, number_of(n));
        else if (begins(n, "mk.") || begins(n, "lv."))
            found = "i8";
        else if (begins(n, "call."))
            found = "i128";
    }
    if (!found && (begins(n, "u.") || begins(n, "off."))) {
        kind = PART_SCALAR;
        found = ptx_fast_type(f, number_of(n));
    }
    if (!found && begins(n, "p.")) {
        const uint64_t bytes = f->s->function->variables[number_of(n)].bytes;
        snprintf(type, room, "[%llu x i8]", (unsigned long long)(bytes ? bytes : 1));
        return PART_SLOT;
    }
    snprintf(type, room, "%s", found ? found : "");
    return found ? kind : PART_UNKNOWN;
}

/* ---- writing ---------------------------------------------------------------------- */

/* What the kernel hands over, by its own names: values, and the addresses of scalars. */
static void write_arguments(ptx_fast *f, const names *n, const char *scan, gphi_text *out)
{
    char type[48];
    bool first = true;
    for (uint32_t i = 0; i < n->used_count; i++) {
        const name *m = n->used[i];
        const int kind = kind_of(f, m, scan, type, sizeof(type));
        if (kind == PART_SLOT)
            continue;
        gphi_text_add(out, "%s%s %%%.*s", first ? "" : ", ",
                      kind == PART_SCALAR ? "ptr" : type, (int)m->bytes, m->text);
        first = false;
    }
}

static void write_parameters(ptx_fast *f, const names *n, const char *scan,
                             gphi_text *out)
{
    char type[48];
    bool first = true;
    for (uint32_t i = 0; i < n->used_count; i++) {
        const name *m = n->used[i];
        const int kind = kind_of(f, m, scan, type, sizeof(type));
        if (kind == PART_SLOT)
            continue;
        gphi_text_add(out, "%s%s %%%s%u", first ? "" : ", ",
                      kind == PART_SCALAR ? "ptr" : type,
                      kind == PART_SCALAR ? "in" : "a", m->id);
        first = false;
    }
}

static void write_slots(ptx_fast *f, const names *n, const char *scan, gphi_text *out)
{
    char type[48];
    for (uint32_t i = 0; i < n->used_count; i++) {
        const name *m = n->used[i];
        const int kind = kind_of(f, m, scan, type, sizeof(type));
        const uint32_t id = m->id;
        if (kind == PART_VALUE)
            continue;
        const bool wide = begins(m, "call.") || begins(m, "p.");
        gphi_text_add(out, "  %%a%u = alloca %s%s\n", id, type,
                      wide ? ", align 128" : "");
        if (is(m, "cc"))
            gphi_text_add(out, "  store i1 false, ptr %%a%u\n", id);
        if (kind == PART_SCALAR)
            gphi_text_add(out,
                          "  %%old%u = load %s, ptr %%in%u\n"
                          "  store %s %%old%u, ptr %%a%u\n",
                          id, type, id, type, id, id);
    }
}

static void write_return(ptx_fast *f, names *n, const char *scan, const char *label,
                         gphi_text *out)
{
    char type[48], own[48];
    snprintf(own, sizeof(own), "R%u.%s", f->region, label);
    gphi_text_add(out, "a%u:\n", find(n, own, (uint32_t)strlen(own))->id);
    for (uint32_t i = 0; i < n->used_count; i++) {
        const name *m = n->used[i];
        if (kind_of(f, m, scan, type, sizeof(type)) == PART_SCALAR)
            gphi_text_add(out,
                          "  %%%s%u = load %s, ptr %%a%u\n"
                          "  store %s %%%s%u, ptr %%in%u\n",
                          label, m->id, type, m->id, type, label, m->id, m->id);
    }
    gphi_text_add(out, "  ret i1 %s\n", strcmp(label, "back") == 0 ? "true" : "false");
}

/* A line of the region's code, by the names of the function: its label, if it begins with
 * one, and whatever follows a %. */
static void write_line(names *n, const char *line, const char *end, gphi_text *out)
{
    const uint32_t label = name_length(line, end);
    const char *from = line;
    bool quoted = false;
    if (label > 0 && line + label < end && line[label] == ':') {
        gphi_text_add(out, "a%u", find(n, line, label)->id);
        from = line + label;
    }
    for (const char *at = from; at < end; at++) {
        quoted ^= *at == '"';
        const uint32_t bytes = quoted || *at != '%' ? 0 : name_length(at + 1, end);
        if (bytes == 0)
            continue;
        gphi_text_put_bytes(out, from, (size_t)(at - from));
        gphi_text_add(out, "%%a%u", find(n, at + 1, bytes)->id);
        from = at + 1 + bytes;
        at += bytes;
    }
    gphi_text_put_bytes(out, from, (size_t)(end - from));
    gphi_text_put(out, "\n");
}

static void write_function(ptx_fast *f, names *n, const char *scan, gphi_text *out)
{
    const gphi_text *code = &f->s->program->part;
    const char *const end = code->bytes + code->length;
    write_parameters(f, n, scan, out);
    gphi_text_put(out, ") noinline nounwind {\n");
    write_slots(f, n, scan, out);
    for (const char *line = code->bytes; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next : end;
        write_line(n, line, next, out);
        line = next + 1;
    }
    write_return(f, n, scan, "after", out);
    if (f->again)
        write_return(f, n, scan, "back", out);
    gphi_text_put(out, "}\n\n");
}

/* The region whose function has this text, of those written before; else the current one,
 * which is noted. A hash of 128 bits is taken for the text, as in the cache. */
static uint32_t find_same(ptx_fast *f, const gphi_text *function)
{
    const gphi_hash128 hash =
        gphi_hash128_bytes((gphi_hash128){0, 0}, function->bytes, function->length);
    if (!f->parts) {
        f->part_mask = 63;
        while (f->part_mask < 2 * f->s->region_count)
            f->part_mask = 2 * f->part_mask + 1;
        f->parts = ptx_alloc(f->s->memory, f->part_mask + 1ull, sizeof(*f->parts));
    }
    for (uint32_t at = (uint32_t)hash.low;; at++) {
        ptx_part_hash *entry = &f->parts[at & f->part_mask];
        if (!entry->is_used)
            *entry = (ptx_part_hash){hash, f->region, true};
        if (entry->hash.low == hash.low && entry->hash.high == hash.high)
            return entry->region;
    }
}

static void pass_failure(const gphi_text *from, gphi_text *to)
{
    if (from->status != GPH_OK)
        to->status = from->status;
}

/* Loops of different functions may share their nodes, so each function has the first. */
void ptx_fast_begin_part(ptx_fast *f)
{
    ptx_build *p = f->s->program;
    p->part.length = 0;
    memcpy(f->loop_nodes, p->loop_nodes, sizeof(f->loop_nodes));
    memset(p->loop_nodes, 0, sizeof(p->loop_nodes));
    f->again = false;
    f->emit.out = &p->part;
}

static void give_back_nodes(ptx_fast *f)
{
    ptx_build *p = f->s->program;
    for (uint32_t kind = 0; kind < PTX_LOOP_KINDS; kind++)
        if (p->loop_nodes[kind] < f->loop_nodes[kind])
            p->loop_nodes[kind] = f->loop_nodes[kind];
}

static bool all_known(ptx_fast *f, const names *n, const char *scan)
{
    char type[48];
    for (uint32_t i = 0; i < n->used_count; i++)
        if (kind_of(f, n->used[i], scan, type, sizeof(type)) == PART_UNKNOWN)
            return false;
    return true;
}

static void write_call(ptx_fast *f, const names *n, const char *scan, uint32_t region)
{
    gphi_text *out = &f->s->program->text;
    const uint32_t own = f->region;
    gphi_text_add(out, "  %%back.%u = call i1 @\"b.%s.R%u\"(", own, f->s->function->name,
                  region);
    write_arguments(f, n, scan, out);
    gphi_text_put(out, ")\n");
    if (f->again)
        gphi_text_add(out, "  br i1 %%back.%u, label %%R%u.back, label %%R%u.after\n",
                      own, own, own);
    else
        gphi_text_add(out, "  br label %%R%u.after\n", own);
}

void ptx_fast_end_part(ptx_fast *f, const char *scan)
{
    ptx_build *p = f->s->program;
    f->emit.out = &p->text;
    give_back_nodes(f);
    pass_failure(&p->part, &p->text);
    if (p->part.status != GPH_OK || p->part.length == 0)
        return;
    names n = free_names(f, &p->part);
    if (!all_known(f, &n, scan)) { /* right in any case, only larger */
        gphi_text_put_bytes(&p->text, p->part.bytes, p->part.length);
        return;
    }
    p->function.length = 0;
    write_function(f, &n, scan, &p->function);
    pass_failure(&p->function, &p->text);
    if (p->function.status != GPH_OK)
        return;
    const uint32_t region = find_same(f, &p->function);
    if (region == f->region) {
        gphi_text_add(&p->parts, "define internal i1 @\"b.%s.R%u\"(",
                      f->s->function->name, region);
        gphi_text_put_bytes(&p->parts, p->function.bytes, p->function.length);
    }
    write_call(f, &n, scan, region);
}

void ptx_fast_write_parts(ptx_fast *f)
{
    ptx_build *p = f->s->program;
    pass_failure(&p->parts, &p->text);
    if (p->parts.length > 0 && p->parts.status == GPH_OK)
        gphi_text_put_bytes(&p->text, p->parts.bytes, p->parts.length);
    p->parts.length = 0;
}
