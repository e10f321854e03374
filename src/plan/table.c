// SPDX-License-Identifier: Apache-2.0
/* Tables of buffers, in CSV. */
#include <gph/plan.h>
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/vec.h"

#define COLUMNS_MAX 32u

typedef enum column { ID, LOWER, UPPER, SIZE, ALIGNMENT, OFFSET, COLUMNS } column;

static const char *const names[COLUMNS] = {"id",   "lower",     "upper",
                                           "size", "alignment", "offset"};

struct gph_plan_table {
    gph_allocator heap;
    gphi_vec buffers; /* of gph_plan_buffer */
    gphi_vec ids;     /* of size_t: where in `text` */
    gphi_vec text;    /* of char: ids, each with its zero */
};

/* A part of the input. */
struct span {
    const char *begin;
    size_t bytes;
};

struct reader {
    gph_plan_table *table;
    struct span rest;
    size_t line; /* the number of the current one, from 1 */
    uint32_t column_count;
    column columns[COLUMNS_MAX]; /* COLUMNS: of no meaning */
    gph_error *error;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct span trim(struct span s)
{
    while (s.bytes != 0 && is_blank(s.begin[0])) {
        s.begin++;
        s.bytes--;
    }
    while (s.bytes != 0 && is_blank(s.begin[s.bytes - 1]))
        s.bytes--;
    return s;
}

/* Takes what stands before `end`, and `end` itself; all if it is not there. */
static struct span take(struct span *rest, char end)
{
    const char *at =
        rest->bytes ? (const char *)memchr(rest->begin, end, rest->bytes) : NULL;
    const size_t bytes = at ? (size_t)(at - rest->begin) : rest->bytes;
    const struct span taken = {rest->begin, bytes};
    rest->begin += bytes + (at != NULL);
    rest->bytes -= bytes + (at != NULL);
    return trim(taken);
}

static bool next_line(struct reader *r, struct span *line)
{
    while (r->rest.bytes != 0) {
        *line = take(&r->rest, '\n');
        r->line++;
        if (line->bytes != 0)
            return true;
    }
    return false;
}

static int shown(struct span s)
{
    return s.bytes < 60 ? (int)s.bytes : 60;
}

static column column_of(struct span name)
{
    column c = ID;
    while (c < COLUMNS && (strlen(names[c]) != name.bytes ||
                           memcmp(names[c], name.begin, name.bytes) != 0))
        c++;
    return c;
}

static gph_status read_head(struct reader *r)
{
    struct span line;
    bool seen[COLUMNS + 1] = {false};
    if (!next_line(r, &line))
        return gphi_fail(r->error, GPH_E_FORMAT,
                         "the table is empty: a line of column names is missing");
    while (line.bytes != 0) {
        const struct span name = take(&line, ',');
        const column c = column_of(name);
        if (r->column_count == COLUMNS_MAX)
            return gphi_fail(r->error, GPH_E_FORMAT, "line %zu: more than %u columns",
                             r->line, COLUMNS_MAX);
        if (c != COLUMNS && seen[c])
            return gphi_fail(r->error, GPH_E_FORMAT, "line %zu: two columns named %s",
                             r->line, names[c]);
        seen[c] = true;
        r->columns[r->column_count++] = c;
    }
    for (column c = ID; c <= SIZE; c++)
        if (!seen[c])
            return gphi_fail(r->error, GPH_E_FORMAT, "line %zu: no column is named %s",
                             r->line, names[c]);
    return GPH_OK;
}

static gph_status read_number(struct reader *r, column c, struct span value,
                              uint64_t *out)
{
    uint64_t number = 0;
    bool good = value.bytes != 0;
    for (size_t i = 0; i < value.bytes && good; i++) {
        const unsigned digit = (unsigned)(value.begin[i] - '0');
        good = digit < 10 && number <= (UINT64_MAX - digit) / 10;
        number = number * 10 + digit;
    }
    if (!good)
        return gphi_fail(r->error, GPH_E_FORMAT,
                         "line %zu: %s is \"%.*s\", no whole number below 2^64", r->line,
                         names[c], shown(value), value.begin);
    *out = number;
    return GPH_OK;
}

static gph_status read_id(struct reader *r, struct span value)
{
    gph_plan_table *table = r->table;
    size_t *at = (size_t *)gphi_vec_add(&table->ids, 1);
    const size_t begin = table->text.count;
    char *text = (char *)gphi_vec_add(&table->text, value.bytes + 1);
    if (at == NULL || text == NULL)
        return gphi_fail(r->error, GPH_E_NO_MEMORY, "no memory for line %zu", r->line);
    if (value.bytes != 0)
        memcpy(text, value.begin, value.bytes);
    *at = begin;
    return GPH_OK;
}

static gph_status read_value(struct reader *r, column c, struct span value,
                             gph_plan_buffer *b)
{
    switch (c) {
    case ID: return read_id(r, value);
    case LOWER: return read_number(r, c, value, &b->lower);
    case UPPER: return read_number(r, c, value, &b->upper);
    case SIZE: return read_number(r, c, value, &b->size);
    case ALIGNMENT:
        return value.bytes != 0 ? read_number(r, c, value, &b->alignment) : GPH_OK;
    case OFFSET:
        b->pinned = value.bytes != 0;
        return b->pinned ? read_number(r, c, value, &b->offset) : GPH_OK;
    case COLUMNS: break;
    }
    return GPH_OK;
}

static gph_status read_row(struct reader *r, struct span line)
{
    gph_plan_buffer b = {0};
    for (uint32_t i = 0; i < r->column_count; i++) {
        if (line.begin == NULL)
            return gphi_fail(r->error, GPH_E_FORMAT,
                             "line %zu has %u values, the first line has %u", r->line, i,
                             r->column_count);
        const bool is_last =
            line.bytes == 0 || memchr(line.begin, ',', line.bytes) == NULL;
        const struct span value = take(&line, ',');
        GPHI_TRY(read_value(r, r->columns[i], value, &b));
        if (is_last)
            line = (struct span){NULL, 0};
    }
    if (line.begin != NULL)
        return gphi_fail(r->error, GPH_E_FORMAT,
                         "line %zu has more values than the %u of the first line",
                         r->line, r->column_count);
    gph_plan_buffer *to = (gph_plan_buffer *)gphi_vec_add(&r->table->buffers, 1);
    if (to == NULL)
        return gphi_fail(r->error, GPH_E_NO_MEMORY, "no memory for line %zu", r->line);
    *to = b;
    return GPH_OK;
}

gph_status gph_plan_table_read(const char *text, size_t bytes,
                               const gph_allocator *allocator, gph_plan_table **out,
                               gph_error *error)
{
    if (out == NULL || (text == NULL && bytes != 0))
        return gphi_fail(error, GPH_E_INVALID, "%s is NULL",
                         out == NULL ? "out" : "text");
    const gph_allocator heap = gphi_heap(allocator);
    gph_plan_table *table = (gph_plan_table *)gphi_heap_alloc(heap, sizeof(*table));
    if (table == NULL)
        return gphi_fail(error, GPH_E_NO_MEMORY, "no memory for a table");
    table->heap = heap;
    gphi_vec_init(&table->buffers, heap, sizeof(gph_plan_buffer));
    gphi_vec_init(&table->ids, heap, sizeof(size_t));
    gphi_vec_init(&table->text, heap, 1);
    struct reader r = {.table = table, .rest = {text, bytes}, .error = error};
    struct span line;
    gph_status status = read_head(&r);
    while (status == GPH_OK && next_line(&r, &line))
        status = read_row(&r, line);
    if (status != GPH_OK) {
        gph_plan_table_destroy(table);
        return status;
    }
    *out = table;
    return GPH_OK;
}

void gph_plan_table_destroy(gph_plan_table *table)
{
    if (table == NULL)
        return;
    gphi_vec_fini(&table->buffers);
    gphi_vec_fini(&table->ids);
    gphi_vec_fini(&table->text);
    gphi_heap_free(table->heap, table, sizeof(*table));
}

const gph_plan_buffer *gph_plan_table_buffers(const gph_plan_table *table)
{
    return (const gph_plan_buffer *)table->buffers.items;
}

size_t gph_plan_table_count(const gph_plan_table *table)
{
    return table->buffers.count;
}

const char *gph_plan_table_id(const gph_plan_table *table, size_t index)
{
    const size_t *at = (const size_t *)gphi_vec_at(&table->ids, index);
    return (const char *)gphi_vec_at(&table->text, *at);
}
