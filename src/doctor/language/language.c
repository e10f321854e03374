// SPDX-License-Identifier: Apache-2.0
/* Sentences in Chinese. The values are read as the English format says, then put where
 * the Chinese one wants them: %2$s is the second value, and a value may be left out. */
#include "doctor/language/language.h"

#include <gph/doctor.h>
#include <gph/explain.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 16, SPEC_BYTES = 32 };

static const gphi_translation rows[] = {
#define ZH(english, chinese) {english, chinese},
#include "doctor/language/zh.def"
#undef ZH
};

static _Thread_local uint32_t now = GPH_EXPLAIN_ENGLISH;

void gphi_language_use(uint32_t language)
{
    now = language;
}

uint32_t gphi_language_named(const char *name)
{
    return !name || strcmp(name, "en") == 0 ? GPH_EXPLAIN_ENGLISH
           : strcmp(name, "zh") == 0        ? GPH_EXPLAIN_CHINESE
                                            : GPH_EXPLAIN_LANGUAGES;
}

bool gphi_language_is_chinese(void)
{
    return now == GPH_EXPLAIN_CHINESE;
}

const gphi_translation *gphi_translations(size_t *count)
{
    *count = sizeof(rows) / sizeof(rows[0]);
    return rows;
}

static int by_english(const void *key, const void *row)
{
    return strcmp(key, ((const gphi_translation *)row)->english);
}

const char *gphi_language_of(const char *english)
{
    if (!gphi_language_is_chinese())
        return english;
    const gphi_translation *row = bsearch(english, rows, sizeof(rows) / sizeof(rows[0]),
                                          sizeof(rows[0]), by_english);
    return row ? row->chinese : english;
}

/* ---- formats ---- */

/* One value: how it is written, and what it is. */
typedef struct value {
    char spec[SPEC_BYTES]; /* of printf(), for the union's member */
    char sort;             /* its last letter */
    bool is_ours;          /* a text without precision, which may be a key */
    union {
        long long number;
        double real;
        const char *text;
    } of;
} value;

/* The conversion at `at`, a percent sign: its end, and the value's number or 0. */
static const char *end_of(const char *at, unsigned *number)
{
    char *after;
    const unsigned long first = strtoul(at + 1, &after, 10);
    *number = after > at + 1 && *after == '$' ? (unsigned)first : 0;
    at += 1 + strcspn(at + 1, "diouxXeEfgGcsp%");
    return *at ? at + 1 : at;
}

/* Reads a value of the conversion [at, end): an integer as the longest there is. */
static void read_value(const char *at, const char *end, value *out, va_list *values)
{
    const size_t modifier = strcspn(at, "hlzjt");
    const size_t bytes = (size_t)(end - at);
    const size_t head = modifier < bytes ? modifier : bytes - 1;
    out->sort = end[-1];
    const bool is_number = strchr("diouxX", out->sort);
    snprintf(out->spec, sizeof(out->spec), "%.*s%s%c", (int)head, at,
             is_number ? "ll" : "", out->sort);
    if (strchr("eEfgG", out->sort))
        out->of.real = va_arg(*values, double);
    else if (out->sort == 's')
        out->of.text = va_arg(*values, const char *);
    else if (!is_number)
        out->of.number = va_arg(*values, int);
    else if (modifier >= bytes || at[modifier] == 'h')
        out->of.number = strchr("di", out->sort) ? va_arg(*values, int)
                                                 : (long long)va_arg(*values, unsigned);
    else
        out->of.number = va_arg(*values, long long); /* as long as long, size_t, ... */
    out->is_ours = out->sort == 's' && !memchr(at, '.', bytes);
}

/* Reads all values of the format; how many, VALUES_MAX + 1: more than there is room for,
 * or such as are not read (%*d, %p). */
static unsigned read_values(const char *format, value *out, va_list *values)
{
    unsigned count = 0;
    for (const char *at = format; (at = strchr(at, '%'));) {
        unsigned number;
        const char *end = end_of(at, &number);
        if (end[-1] == '%') {
            at = end;
            continue;
        }
        const size_t bytes = (size_t)(end - at);
        if (count == VALUES_MAX || memchr(at, '*', bytes) || end[-1] == 'p' ||
            bytes + 2 >= SPEC_BYTES)
            return VALUES_MAX + 1;
        read_value(at, end, &out[count++], values);
        at = end;
    }
    return count;
}

/* Columns of a text on a terminal: a character of three bytes takes two. */
static int columns_of(const char *text)
{
    int columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80
                       ? 1 + ((unsigned char)*text >= 0xe3)
                       : 0;
    return columns;
}

/* Its width is counted in columns, which printf() takes for bytes. */
static void put_ours(gphi_text *text, const value *of)
{
    const char *words = gphi_language_of(of->of.text);
    const int width = atoi(of->spec + 1);
    const int gap = abs(width) - columns_of(words);
    gphi_text_add(text, "%*s", width > 0 && gap > 0 ? gap : 0, "");
    gphi_text_put(text, words);
    gphi_text_add(text, "%*s", width < 0 && gap > 0 ? gap : 0, "");
}

static void put_value(gphi_text *text, const value *of)
{
    char spec[SPEC_BYTES];
    memcpy(spec, of->spec, sizeof(spec));
    if (of->is_ours)
        put_ours(text, of);
    else if (of->sort == 's')
        gphi_text_add(text, spec, of->of.text);
    else if (strchr("eEfgG", of->sort))
        gphi_text_add(text, spec, of->of.real);
    else if (of->sort == 'c')
        gphi_text_add(text, spec, (int)of->of.number);
    else
        gphi_text_add(text, spec, of->of.number);
}

void gphi_text_sayv(gphi_text *text, const char *format, va_list values)
{
    value of[VALUES_MAX];
    va_list again;
    if (!gphi_language_is_chinese()) {
        gphi_text_addv(text, format, values);
        return;
    }
    va_copy(again, values);
    const unsigned count = read_values(format, of, &again);
    va_end(again);
    if (count > VALUES_MAX) {
        gphi_text_addv(text, format, values);
        return;
    }
    const char *at = gphi_language_of(format);
    for (unsigned next = 0; *at;) {
        const size_t plain = strcspn(at, "%");
        gphi_text_put_bytes(text, at, plain);
        at += plain;
        if (!*at)
            return;
        unsigned number;
        const char *end = end_of(at, &number);
        const unsigned index = number ? number - 1 : next;
        if (end[-1] == '%')
            gphi_text_put(text, "%");
        else if (index < count)
            put_value(text, &of[index]);
        next += end[-1] != '%';
        at = end;
    }
}

void gphi_text_say(gphi_text *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    gphi_text_sayv(text, format, values);
    va_end(values);
}

void gphi_language_intov(char *out, size_t bytes, const char *format, va_list values)
{
    gphi_text text;
    gphi_text_fix(&text, out, bytes);
    gphi_text_sayv(&text, format, values);
    size_t last = text.length;
    while (text.length == bytes - 1 && last > 0 && (out[--last] & 0xc0) == 0x80)
        ;
    if (gphi_utf8_bytes(out + last) == 0)
        out[last] = '\0';
}

void gphi_language_into(char *out, size_t bytes, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    gphi_language_intov(out, bytes, format, values);
    va_end(values);
}

gph_status gph_doctor_say(const char *language, gph_write_fn *write, void *user,
                          const char *format, ...)
{
    char buffer[1024];
    gphi_text text;
    va_list values;
    va_start(values, format);
    gphi_language_use(gphi_language_named(language));
    gphi_text_stream(&text, buffer, sizeof(buffer), write, user);
    gphi_text_sayv(&text, format, values);
    va_end(values);
    return gphi_text_end(&text, NULL);
}
