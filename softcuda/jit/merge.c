// SPDX-License-Identifier: Apache-2.0
/* A kernel that a compiler unrolled has the same code between barriers over and over, with
 * other offsets and summands. softcuda/ptx writes one function for what is the same by
 * letter; here constants become parameters:
 *
 *   define internal i1 @"b.k.R4"(ptr %a3)       define internal i1 @"b.k.R4"(ptr %a3, i32 %k0)
 *     %a7 = add i32 %a6, 12                       %a7 = add i32 %a6, %k0
 *   define internal i1 @"b.k.R8"(ptr %a3)
 *     %a7 = add i32 %a6, 13
 *
 *   call i1 @"b.k.R4"(ptr %ctx.1)               call i1 @"b.k.R4"(ptr %ctx.1, i32 12)
 *   call i1 @"b.k.R8"(ptr %ctx.1)               call i1 @"b.k.R4"(ptr %ctx.1, i32 13)
 *
 * Only whole numbers at the end of the lines of `lines`, so bytes of results stay. Not for
 * the best code, which makes use of what it knows of a constant. */
#include "softcuda/jit/merge.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "softcuda/jit/form.h"

#define SITES_MAX 48u /* of a function; each costs a parameter */
#define NONE UINT32_MAX

typedef struct site {
    const char *text; /* of the constant */
    uint32_t bytes;
    bool is_wide; /* i64, else i32 */
} site;

typedef struct region {
    const char *text; /* from its `define` */
    size_t bytes;
    uint32_t site, site_count;
    uint32_t same;    /* the first with the same text but for constants */
    uint32_t members; /* of that one */
} region;

typedef struct merge {
    region *regions;
    uint32_t count, room;
    site *sites;
    uint32_t site_count, site_room;
    uint32_t *by_shape, *by_name; /* tables of regions; NONE: free */
    uint32_t mask;
    char *out;
    size_t out_bytes, out_room;
    bool has_failed; /* no memory */
} merge;

/* From `call i1 @"` to the name. */
#define CALL_NAME_AT (sizeof("call i1 @\"") - 1)

static const char *line_end(const char *line, const char *end)
{
    const char *at = memchr(line, '\n', (size_t)(end - line));
    return at ? at : end;
}

static bool begins(const char *at, const char *end, const char *text)
{
    return gphi_text_begins_in(at, (size_t)(end - at), text);
}

/* The constant at the end of a line, if it may become a parameter. */
static bool find_site(const char *line, const char *end, site *out)
{
    static const char *const lines[] = {
        "add i", "sub i", "mul i", "and i", "or i", "xor i", "getelementptr i8, ptr "};
    const char *from = end;
    while (from > line && from[-1] >= '0' && from[-1] <= '9')
        from--;
    if (from == end || from == line || end - from > 20)
        return false;
    from -= from[-1] == '-';
    const char *is =
        begins(line, end, "  %") ? memchr(line, '=', (size_t)(end - line)) : NULL;
    if (!is || end - is < 8 || from - is < 8)
        return false;
    const char *what = is + 2;
    for (uint32_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (!begins(what, end, lines[i]))
            continue;
        const char *rest = what + strlen(lines[i]);
        const bool moves = *lines[i] == 'g';
        const bool is_wide = moves || begins(rest, end, "64 ");
        if (!is_wide && !begins(rest, end, "32 "))
            return false;
        *out = (site){from, (uint32_t)(end - from), is_wide};
        return begins(from - (moves ? 6 : 2), end, moves ? ", i64 " : ", ");
    }
    return false;
}

static bool grow(void **array, uint32_t *room, uint32_t count, size_t bytes)
{
    if (count < *room)
        return true;
    const uint32_t more = *room ? 2 * *room : 256;
    void *now = realloc(*array, more * bytes);
    if (!now)
        return false;
    *array = now;
    *room = more;
    return true;
}

static bool add_region(merge *m, const char *text, const char *end)
{
    if (!grow((void **)&m->regions, &m->room, m->count, sizeof(*m->regions)))
        return false;
    region *r = &m->regions[m->count++];
    *r = (region){.text = text, .bytes = (size_t)(end - text), .site = m->site_count};
    for (const char *line = text; line < end; line = line_end(line, end) + 1) {
        site found;
        if (!find_site(line, line_end(line, end), &found))
            continue;
        if (!grow((void **)&m->sites, &m->site_room, m->site_count, sizeof(*m->sites)))
            return false;
        m->sites[m->site_count++] = found;
    }
    r->site_count = m->site_count - r->site;
    return true;
}

/* A function ends with the first line that is a brace. */
static bool find_regions(merge *m, const char *ir, const char *end)
{
    for (const char *line = ir; line < end; line = line_end(line, end) + 1) {
        if (!begins(line, end, SOFT_REGION_START))
            continue;
        const char *last = line;
        while (last < end && *last != '}')
            last = line_end(last, end) + 1;
        last = last < end ? line_end(last, end) : end;
        if (!add_region(m, line, last))
            return false;
        line = last;
    }
    return true;
}

/* ---- which are the same ------------------------------------------------------------- */

static const char *name_end(const char *name)
{
    return strchr(name, '"');
}

/* The text after the name, between constants: the piece before site n. */
static const char *piece(const merge *m, const region *r, uint32_t n, size_t *bytes)
{
    const site *sites = &m->sites[r->site];
    const char *from = n == 0 ? name_end(r->text + SOFT_REGION_NAME)
                              : sites[n - 1].text + sites[n - 1].bytes;
    const char *to = n < r->site_count ? sites[n].text : r->text + r->bytes;
    *bytes = (size_t)(to - from);
    return from;
}

static uint64_t shape_of(const merge *m, const region *r)
{
    uint64_t hash = GPHI_HASH_START;
    for (uint32_t n = 0; n <= r->site_count; n++) {
        size_t bytes;
        const char *text = piece(m, r, n, &bytes);
        hash = gphi_hash_bytes(hash, text, bytes);
    }
    return hash;
}

static bool is_same(const merge *m, const region *a, const region *b)
{
    if (a->site_count != b->site_count || a->site_count > SITES_MAX)
        return false;
    for (uint32_t n = 0; n <= a->site_count; n++) {
        size_t bytes, others;
        const char *text = piece(m, a, n, &bytes), *other = piece(m, b, n, &others);
        if (bytes != others || memcmp(text, other, bytes) != 0)
            return false;
    }
    return true;
}

static uint64_t hash_name(const char *name)
{
    return gphi_hash_bytes(GPHI_HASH_START, name, (size_t)(name_end(name) - name));
}

/* The place of a region of that name, or a free one. */
static uint32_t *find_name(const merge *m, const char *name)
{
    const size_t bytes = (size_t)(name_end(name) - name) + 1; /* with the quote */
    for (uint32_t at = (uint32_t)hash_name(name);; at++) {
        uint32_t *entry = &m->by_name[at & m->mask];
        if (*entry == NONE ||
            memcmp(m->regions[*entry].text + SOFT_REGION_NAME, name, bytes) == 0)
            return entry;
    }
}

static uint32_t find_first(const merge *m, uint32_t index)
{
    for (uint32_t at = (uint32_t)shape_of(m, &m->regions[index]);; at++) {
        uint32_t *entry = &m->by_shape[at & m->mask];
        if (*entry == NONE)
            *entry = index;
        if (*entry == index || is_same(m, &m->regions[*entry], &m->regions[index]))
            return *entry;
    }
}

/* False: no two are the same, or no memory. */
static bool find_same(merge *m)
{
    bool any = false;
    m->mask = 63;
    while (m->mask < 2 * m->count)
        m->mask = 2 * m->mask + 1;
    const size_t bytes = (m->mask + 1ull) * sizeof(uint32_t);
    m->by_shape = malloc(bytes);
    m->by_name = malloc(bytes);
    if (!m->by_shape || !m->by_name)
        return false;
    memset(m->by_shape, 0xff, bytes); /* NONE */
    memset(m->by_name, 0xff, bytes);
    for (uint32_t i = 0; i < m->count; i++) {
        region *r = &m->regions[i];
        *find_name(m, r->text + SOFT_REGION_NAME) = i;
        r->same = find_first(m, i);
        m->regions[r->same].members++;
        any |= r->same != i;
    }
    return any;
}

/* ---- the new text ------------------------------------------------------------------- */

static void put(merge *m, const char *text, size_t bytes)
{
    if (m->out_bytes + bytes + 1 > m->out_room) {
        const size_t room = 2 * m->out_room + bytes + 4096;
        char *out = m->has_failed ? NULL : realloc(m->out, room);
        m->has_failed |= !out;
        if (!out)
            return;
        m->out = out;
        m->out_room = room;
    }
    memcpy(m->out + m->out_bytes, text, bytes);
    m->out_bytes += bytes;
    m->out[m->out_bytes] = '\0';
}

static void put_text(merge *m, const char *text)
{
    put(m, text, strlen(text));
}

static void put_number(merge *m, uint32_t n)
{
    char digits[12];
    uint32_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    put(m, digits + at, sizeof(digits) - at);
}

/* Parameters of the merged function, or what a call hands over for them. */
static void put_constants(merge *m, const region *r, bool is_call)
{
    for (uint32_t n = 0; n < r->site_count; n++) {
        const site *s = &m->sites[r->site + n];
        put_text(m, s->is_wide ? ", i64 " : ", i32 ");
        if (is_call) {
            put(m, s->text, s->bytes);
        } else {
            put_text(m, "%k");
            put_number(m, n);
        }
    }
}

/* The first of several. Its parameters end with the first ")": no type has one. */
static void put_merged(merge *m, const region *r)
{
    const char *rest = memchr(r->text, ')', r->bytes);
    put(m, r->text, (size_t)(rest - r->text));
    put_constants(m, r, false);
    for (uint32_t n = 0; n <= r->site_count; n++) {
        size_t bytes;
        const char *text = piece(m, r, n, &bytes);
        const char *from = n == 0 ? rest : text;
        put(m, from, (size_t)(text + bytes - from));
        if (n < r->site_count) {
            put_text(m, "%k");
            put_number(m, n);
        }
    }
}

static void put_call(merge *m, const char *line, const char *end, const char *call)
{
    const char *name = call + CALL_NAME_AT;
    const uint32_t index = *find_name(m, name);
    const region *r = index != NONE ? &m->regions[index] : NULL;
    const region *first = r ? &m->regions[r->same] : NULL;
    if (!first || first->members < 2) {
        put(m, line, (size_t)(end - line));
        return;
    }
    const char *own = first->text + SOFT_REGION_NAME;
    put(m, line, (size_t)(name - line));
    put(m, own, (size_t)(name_end(own) - own));
    const char *rest = name_end(name); /* ends with ")" */
    put(m, rest, (size_t)(end - 1 - rest));
    put_constants(m, r, true);
    put_text(m, ")");
}

static const char *find_call(const char *line, const char *end)
{
    const char *is =
        begins(line, end, "  %back.") ? memchr(line, '=', (size_t)(end - line)) : NULL;
    return is && begins(is, end, "= call i1 @\"b.") ? is + 2 : NULL;
}

static void write_all(merge *m, const char *ir, const char *end)
{
    uint32_t next = 0;
    for (const char *line = ir; line < end; line = line_end(line, end) + 1) {
        if (next < m->count && line == m->regions[next].text) {
            const region *r = &m->regions[next];
            if (r->same == next && r->members > 1)
                put_merged(m, r);
            else if (r->same == next)
                put(m, r->text, r->bytes);
            line = r->text + r->bytes - 1;
            put_text(m, "\n");
            next++;
            continue;
        }
        const char *last = line_end(line, end), *call = find_call(line, last);
        if (call)
            put_call(m, line, last, call);
        else
            put(m, line, (size_t)(last - line));
        put_text(m, "\n");
    }
}

char *soft_merge(const char *ir, size_t *bytes)
{
    const char *const end = ir + *bytes;
    merge m = {.count = 0};
    if (find_regions(&m, ir, end) && find_same(&m))
        write_all(&m, ir, end);
    if (m.has_failed) {
        free(m.out);
        m.out = NULL;
    }
    free(m.regions);
    free(m.sites);
    free(m.by_shape);
    free(m.by_name);
    if (m.out)
        *bytes = m.out_bytes;
    return m.out;
}
