// SPDX-License-Identifier: Apache-2.0
/* Reading tables in CSV. */
#include "plan/csv.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static gphi_span trim(gphi_span s)
{
    while (s.bytes != 0 && is_blank(s.begin[0])) {
        s.begin++;
        s.bytes--;
    }
    while (s.bytes != 0 && is_blank(s.begin[s.bytes - 1]))
        s.bytes--;
    return s;
}

/* Takes what is before `end`, and `end` itself; all if it is not there. */
static gphi_span take(gphi_span *rest, char end)
{
    const char *at =
        rest->bytes ? (const char *)memchr(rest->begin, end, rest->bytes) : NULL;
    const size_t bytes = at ? (size_t)(at - rest->begin) : rest->bytes;
    const gphi_span taken = {rest->begin, bytes};
    rest->begin += bytes + (at != NULL);
    rest->bytes -= bytes + (at != NULL);
    return trim(taken);
}

bool gphi_csv_next(gphi_csv *csv, gphi_span *line)
{
    while (csv->rest.bytes != 0) {
        *line = take(&csv->rest, '\n');
        csv->line++;
        if (line->bytes != 0)
            return true;
    }
    return false;
}

static int shown(gphi_span s)
{
    return s.bytes < 60 ? (int)s.bytes : 60;
}

static uint32_t column_of(const gphi_csv *csv, gphi_span name)
{
    uint32_t c = 0;
    while (c < csv->name_count && (strlen(csv->names[c]) != name.bytes ||
                                   memcmp(csv->names[c], name.begin, name.bytes) != 0))
        c++;
    return c;
}

gph_status gphi_csv_head(gphi_csv *csv)
{
    gphi_span line;
    bool seen[GPHI_CSV_COLUMNS_MAX + 1] = {false};
    /* What Windows puts before UTF-8 is not a part of the first name. */
    if (csv->rest.bytes >= 3 && memcmp(csv->rest.begin, "\xef\xbb\xbf", 3) == 0) {
        csv->rest.begin += 3;
        csv->rest.bytes -= 3;
    }
    if (!gphi_csv_next(csv, &line))
        return gphi_fail(csv->error, GPH_E_FORMAT,
                         "the table is empty: a line of column names is missing");
    while (line.bytes != 0) {
        const uint32_t c = column_of(csv, take(&line, ','));
        if (csv->column_count == GPHI_CSV_COLUMNS_MAX)
            return gphi_fail(csv->error, GPH_E_FORMAT, "line %zu: more than %u columns",
                             csv->line, GPHI_CSV_COLUMNS_MAX);
        if (c != csv->name_count && seen[c])
            return gphi_fail(csv->error, GPH_E_FORMAT, "line %zu: two columns named %s",
                             csv->line, csv->names[c]);
        seen[c] = true;
        csv->columns[csv->column_count++] = c;
    }
    for (uint32_t c = 0; c < csv->required; c++)
        if (!seen[c])
            return gphi_fail(csv->error, GPH_E_FORMAT, "line %zu: no column is named %s",
                             csv->line, csv->names[c]);
    return GPH_OK;
}

gph_status gphi_csv_row(gphi_csv *csv, gphi_span line, gphi_csv_put *put, void *row)
{
    for (uint32_t i = 0; i < csv->column_count; i++) {
        if (!line.begin)
            return gphi_fail(csv->error, GPH_E_FORMAT,
                             "line %zu has %u values, the first line has %u", csv->line,
                             i, csv->column_count);
        const bool is_last = line.bytes == 0 || !memchr(line.begin, ',', line.bytes);
        const gphi_span value = take(&line, ',');
        if (csv->columns[i] != csv->name_count)
            GPHI_TRY(put(row, csv, csv->columns[i], value));
        if (is_last)
            line = (gphi_span){NULL, 0};
    }
    if (line.begin)
        return gphi_fail(csv->error, GPH_E_FORMAT,
                         "line %zu has more values than the %u of the first line",
                         csv->line, csv->column_count);
    return GPH_OK;
}

gph_status gphi_csv_number(gphi_csv *csv, uint32_t column, gphi_span value, uint64_t *out)
{
    uint64_t number = 0;
    bool good = value.bytes != 0;
    for (size_t i = 0; i < value.bytes && good; i++) {
        const unsigned digit = (unsigned)(value.begin[i] - '0');
        good = digit < 10 && number <= (UINT64_MAX - digit) / 10;
        number = number * 10 + digit;
    }
    if (!good)
        return gphi_fail(csv->error, GPH_E_FORMAT,
                         "line %zu: %s is \"%.*s\", not a whole number below 2^64",
                         csv->line, csv->names[column], shown(value), value.begin);
    *out = number;
    return GPH_OK;
}

/* Digits from `*at` on, added to *number, each moving *scale down by `step`. */
static size_t read_digits(gphi_span value, size_t *at, double *number, int *scale,
                          int step)
{
    const size_t begin = *at;
    for (; *at < value.bytes; ++*at) {
        const unsigned digit = (unsigned)(value.begin[*at] - '0');
        if (digit > 9)
            break;
        *number = *number * 10 + digit;
        *scale -= step;
    }
    return *at - begin;
}

/* Not strtod(): that one reads what the locale says, and wants a zero at the end. */
gph_status gphi_csv_decimal(gphi_csv *csv, uint32_t column, gphi_span value, double *out)
{
    size_t at = 0;
    double number = 0, exponent = 0;
    int scale = 0, unused = 0;
    size_t digits = read_digits(value, &at, &number, &scale, 0);
    if (at < value.bytes && value.begin[at] == '.') {
        at++;
        digits += read_digits(value, &at, &number, &scale, 1);
    }
    bool good = digits != 0 && value.bytes <= 300;
    if (good && at < value.bytes && (value.begin[at] == 'e' || value.begin[at] == 'E')) {
        const bool minus = ++at < value.bytes && value.begin[at] == '-';
        at += at < value.bytes && (minus || value.begin[at] == '+');
        good = read_digits(value, &at, &exponent, &unused, 0) != 0 && exponent < 1000;
        exponent = minus ? -exponent : exponent;
    }
    if (good)
        number *= pow(10, exponent + scale);
    if (!good || at != value.bytes || !isfinite(number))
        return gphi_fail(csv->error, GPH_E_FORMAT,
                         "line %zu: %s is \"%.*s\", not a decimal number", csv->line,
                         csv->names[column], shown(value), value.begin);
    *out = number;
    return GPH_OK;
}
