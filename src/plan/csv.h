// SPDX-License-Identifier: Apache-2.0
/* Tables in CSV: a line of column names, then a line a row. Blanks around values and
 * empty lines are allowed, quotes are not. */
#ifndef GPHI_PLAN_CSV_H
#define GPHI_PLAN_CSV_H
#include <gph/base.h>
#include <stdbool.h>

#define GPHI_CSV_COLUMNS_MAX 32u

/* A part of the input. */
typedef struct gphi_span {
    const char *begin;
    size_t bytes;
} gphi_span;

typedef struct gphi_csv {
    gphi_span rest;
    const char *const *names;      /* of the columns that mean something */
    uint32_t name_count, required; /* the first `required` names must be there */
    gph_error *error;
    size_t line; /* the number of the current one, from 1 */
    uint32_t column_count;
    uint32_t columns[GPHI_CSV_COLUMNS_MAX]; /* an index of `names`, or name_count */
} gphi_csv;

/* Reads the line of names. */
gph_status gphi_csv_head(gphi_csv *csv);

/* The next line that is not empty; false at the end. */
bool gphi_csv_next(gphi_csv *csv, gphi_span *line);

/* Receives a value of a column; not called for columns of no meaning. */
typedef gph_status gphi_csv_put(void *row, gphi_csv *csv, uint32_t column,
                                gphi_span value);

/* Returns the values of a line. */
gph_status gphi_csv_row(gphi_csv *csv, gphi_span line, gphi_csv_put *put, void *row);

/* A whole number below 2^64; a decimal number >= 0 such as 12, 0.5 or 1.5e-3. */
gph_status gphi_csv_number(gphi_csv *csv, uint32_t column, gphi_span value,
                           uint64_t *out);
gph_status gphi_csv_decimal(gphi_csv *csv, uint32_t column, gphi_span value, double *out);
#endif
