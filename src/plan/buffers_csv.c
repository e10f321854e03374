// SPDX-License-Identifier: Apache-2.0
/* Tables of buffers, in CSV. */
#include <gph/plan.h>
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/save.h"
#include "base/text.h"
#include "base/vec.h"
#include "plan/bodies_csv.h"

enum { ID, LOWER, UPPER, SIZE, ALIGNMENT, OFFSET, BODIES, COLUMNS };

static const char *const names[COLUMNS] = {"id",        "lower",  "upper", "size",
                                           "alignment", "offset", "bodies"};

struct gph_plan_table {
    gph_allocator heap;
    gphi_vec buffers; /* of gph_plan_buffer */
    gphi_vec ids;     /* of size_t: where in `text` */
    gphi_vec text;    /* of char: ids, each with its zero */
    gphi_body_names bodies;
};

/* A line under way. */
struct row {
    gph_plan_table *table;
    gph_plan_buffer buffer;
};

static gph_status put_id(gph_plan_table *table, gphi_csv *csv, gphi_span value)
{
    size_t *at = gphi_vec_add(&table->ids, 1);
    const size_t begin = table->text.count;
    char *text = gphi_vec_add(&table->text, value.bytes + 1);
    GPHI_TRY(gphi_made(csv->error, at && text, "reading line %zu", csv->line));
    if (value.bytes != 0)
        memcpy(text, value.begin, value.bytes);
    *at = begin;
    return GPH_OK;
}

static gph_status put_value(void *user, gphi_csv *csv, uint32_t column, gphi_span value)
{
    struct row *row = user;
    gph_plan_buffer *b = &row->buffer;
    switch (column) {
    case ID: return put_id(row->table, csv, value);
    case LOWER: return gphi_csv_number(csv, column, value, &b->lower);
    case UPPER: return gphi_csv_number(csv, column, value, &b->upper);
    case SIZE: return gphi_csv_number(csv, column, value, &b->size);
    case ALIGNMENT:
        if (value.bytes == 0)
            return GPH_OK;
        return gphi_csv_number(csv, column, value, &b->alignment);
    case BODIES:
        return gphi_bodies_read(&row->table->bodies, csv, column, value, &b->body);
    default: /* OFFSET */
        b->pinned = value.bytes != 0;
        return b->pinned ? gphi_csv_number(csv, column, value, &b->offset) : GPH_OK;
    }
}

static gph_status read_rows(gph_plan_table *table, gphi_csv *csv)
{
    gphi_span line;
    GPHI_TRY(gphi_csv_head(csv));
    while (gphi_csv_next(csv, &line)) {
        struct row row = {.table = table};
        GPHI_TRY(gphi_csv_row(csv, line, put_value, &row));
        GPHI_TRY(gphi_made(csv->error,
                           gphi_vec_push(&table->buffers, &row.buffer) == GPH_OK,
                           "reading line %zu", csv->line));
    }
    return GPH_OK;
}

gph_status gph_plan_table_read(const char *text, size_t bytes,
                               const gph_allocator *allocator, gph_plan_table **out,
                               gph_error *error)
{
    GPHI_TRY(gphi_need(error, out));
    GPHI_TRY(gphi_need_named(error, __func__, text || bytes == 0, "text"));
    const gph_allocator heap = gphi_heap(allocator);
    gph_plan_table *table = gphi_heap_alloc(heap, sizeof(*table));
    GPHI_TRY(gphi_made(error, table, "reading a table"));
    table->heap = heap;
    gphi_vec_init(&table->buffers, heap, sizeof(gph_plan_buffer));
    gphi_vec_init(&table->ids, heap, sizeof(size_t));
    gphi_vec_init(&table->text, heap, 1);
    gphi_body_names_init(&table->bodies, heap);
    gphi_csv csv = {.rest = {text, bytes},
                    .names = names,
                    .name_count = COLUMNS,
                    .required = SIZE + 1,
                    .error = error};
    const gph_status status = read_rows(table, &csv);
    if (status != GPH_OK) {
        gph_plan_table_destroy(table);
        return status;
    }
    *out = table;
    return GPH_OK;
}

void gph_plan_table_destroy(gph_plan_table *table)
{
    if (!table)
        return;
    gphi_vec_fini(&table->buffers);
    gphi_vec_fini(&table->ids);
    gphi_vec_fini(&table->text);
    gphi_body_names_fini(&table->bodies);
    gphi_heap_free(table->heap, table, sizeof(*table));
}

const gph_plan_buffer *gph_plan_table_buffers(const gph_plan_table *table)
{
    return table->buffers.items;
}

size_t gph_plan_table_count(const gph_plan_table *table)
{
    return table->buffers.count;
}

const gph_plan_body *gph_plan_table_bodies(const gph_plan_table *table, size_t *count)
{
    *count = table->bodies.items.count;
    return table->bodies.items.items;
}

const char *gph_plan_table_id(const gph_plan_table *table, size_t index)
{
    const size_t *at = gphi_vec_at(&table->ids, index);
    return gphi_vec_at(&table->text, *at);
}

/* ---- writing ---- */

static gph_status write_rows(const gph_plan_table *table, const uint64_t *offsets,
                             gph_write_fn *write, void *user, gph_error *error)
{
    char buffer[4096];
    gphi_text out;
    gphi_text_stream(&out, buffer, sizeof(buffer), write, user);
    const gph_plan_buffer *b = gph_plan_table_buffers(table);
    const bool has_bodies = table->bodies.items.count != 0;
    gphi_text_add(&out, "id,lower,upper,size,offset%s\n", has_bodies ? ",bodies" : "");
    for (size_t i = 0; i < table->buffers.count; i++) {
        gphi_text_put(&out, gph_plan_table_id(table, i));
        gphi_text_add(&out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, b[i].lower,
                      b[i].upper, b[i].size, offsets[i]);
        if (has_bodies)
            gphi_text_put(&out, ",");
        gphi_bodies_write(&table->bodies, b[i].body, &out);
        gphi_text_put(&out, "\n");
    }
    return gphi_text_end(&out, error);
}

static gph_status check_rows(const gph_plan_table *table, const uint64_t *offsets,
                             const char *function, gph_error *error)
{
    GPHI_TRY(gphi_need_named(error, function, table != NULL, "table"));
    return gphi_need_named(error, function, offsets || table->buffers.count == 0,
                           "offsets");
}

gph_status gph_plan_table_write(const gph_plan_table *table, const uint64_t *offsets,
                                gph_status (*write)(void *, const void *, size_t),
                                void *user, gph_error *error)
{
    GPHI_TRY(check_rows(table, offsets, __func__, error));
    GPHI_TRY(gphi_need(error, write));
    return write_rows(table, offsets, write, user, error);
}

/* A table and its offsets on the way to a file. */
struct saving {
    const gph_plan_table *table;
    const uint64_t *offsets;
};

static gph_status fill(void *user, gphi_save *to)
{
    const struct saving *s = user;
    return write_rows(s->table, s->offsets, gphi_save_write, to, to->error);
}

gph_status gph_plan_table_save(const gph_plan_table *table, const uint64_t *offsets,
                               const char *path, gph_error *error)
{
    GPHI_TRY(check_rows(table, offsets, __func__, error));
    struct saving saving = {table, offsets};
    return gphi_save_file(path, fill, &saving, error);
}
