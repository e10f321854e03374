// SPDX-License-Identifier: Apache-2.0
/* Histograms with curves, in CSV. */
#include <gph/plan_ladder.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/vec.h"
#include "plan/csv.h"

enum { SIZE, COUNT, COST, EAGER, BYTES, SECONDS, COLUMNS, CURVES = COLUMNS - COST };

static const char *const names[COLUMNS] = {"size",  "count", "cost",
                                           "eager", "bytes", "seconds"};

struct gph_plan_traffic {
    gph_allocator heap;
    gphi_vec sizes;          /* of gph_plan_size */
    gphi_vec curves[CURVES]; /* of gph_plan_point; those of COST to SECONDS */
};

/* A line under way. */
struct row {
    gph_plan_size size;
    double values[CURVES];
    bool has[CURVES];
};

static gph_status put_value(void *user, gphi_csv *csv, uint32_t column, gphi_span value)
{
    struct row *row = user;
    if (column == SIZE)
        return gphi_csv_number(csv, column, value, &row->size.size);
    if (column == COUNT)
        return gphi_csv_number(csv, column, value, &row->size.count);
    row->has[column - COST] = value.bytes != 0;
    if (value.bytes == 0)
        return GPH_OK;
    return gphi_csv_decimal(csv, column, value, &row->values[column - COST]);
}

static gph_status add_point(gphi_vec *curve, const struct row *row, uint32_t which,
                            const gphi_csv *csv)
{
    const gph_plan_point *last =
        curve->count ? (const gph_plan_point *)gphi_vec_at(curve, curve->count - 1)
                     : NULL;
    if (last && last->size >= row->size.size)
        return gphi_fail(csv->error, GPH_E_FORMAT,
                         "line %zu: size %llu has a %s and follows %llu: sizes with one "
                         "must rise",
                         csv->line, (unsigned long long)row->size.size,
                         names[COST + which], (unsigned long long)last->size);
    const gph_plan_point point = {row->size.size, row->values[which]};
    GPHI_TRY(gphi_made(csv->error, gphi_vec_push(curve, &point) == GPH_OK,
                       "reading line %zu", csv->line));
    return GPH_OK;
}

static gph_status read_rows(gph_plan_traffic *t, gphi_csv *csv)
{
    gphi_span line;
    GPHI_TRY(gphi_csv_head(csv));
    while (gphi_csv_next(csv, &line)) {
        struct row row = {.size = {0, 0}};
        GPHI_TRY(gphi_csv_row(csv, line, put_value, &row));
        GPHI_TRY(gphi_made(csv->error, gphi_vec_push(&t->sizes, &row.size) == GPH_OK,
                           "reading line %zu", csv->line));
        for (uint32_t c = 0; c < CURVES; c++)
            if (row.has[c])
                GPHI_TRY(add_point(&t->curves[c], &row, c, csv));
    }
    return GPH_OK;
}

gph_status gph_plan_traffic_read(const char *text, size_t bytes,
                                 const gph_allocator *allocator, gph_plan_traffic **out,
                                 gph_error *error)
{
    GPHI_TRY(gphi_need(error, out));
    GPHI_TRY(gphi_need_named(error, __func__, text || bytes == 0, "text"));
    const gph_allocator heap = gphi_heap(allocator);
    gph_plan_traffic *t = gphi_heap_alloc(heap, sizeof(*t));
    GPHI_TRY(gphi_made(error, t, "reading a histogram"));
    t->heap = heap;
    gphi_vec_init(&t->sizes, heap, sizeof(gph_plan_size));
    for (uint32_t c = 0; c < CURVES; c++)
        gphi_vec_init(&t->curves[c], heap, sizeof(gph_plan_point));
    gphi_csv csv = {.rest = {text, bytes},
                    .names = names,
                    .name_count = COLUMNS,
                    .required = COUNT + 1,
                    .error = error};
    const gph_status status = read_rows(t, &csv);
    if (status != GPH_OK) {
        gph_plan_traffic_destroy(t);
        return status;
    }
    *out = t;
    return GPH_OK;
}

void gph_plan_traffic_destroy(gph_plan_traffic *t)
{
    if (!t)
        return;
    gphi_vec_fini(&t->sizes);
    for (uint32_t c = 0; c < CURVES; c++)
        gphi_vec_fini(&t->curves[c]);
    gphi_heap_free(t->heap, t, sizeof(*t));
}

gph_plan_histogram gph_plan_traffic_histogram(const gph_plan_traffic *t)
{
    return (gph_plan_histogram){(const gph_plan_size *)t->sizes.items, t->sizes.count};
}

void gph_plan_traffic_curves(const gph_plan_traffic *t, gph_plan_ladder_options *options)
{
    gph_plan_curve *const to[CURVES] = {&options->cost, &options->eager, &options->bytes,
                                        &options->seconds};
    for (uint32_t c = 0; c < CURVES; c++)
        if (t->curves[c].count != 0)
            *to[c] = (gph_plan_curve){(const gph_plan_point *)t->curves[c].items,
                                      t->curves[c].count};
}
