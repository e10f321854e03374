// SPDX-License-Identifier: Apache-2.0
/* The JSON reader: one pass over a copy of the text, an explicit stack of containers. */
#include "json.h"

#include "fail.h"
#include <math.h>
#include <stdlib.h>

typedef struct reader {
    json *doc;
    const char *original; /* the caller's text, for line and column */
    char *at, *end;
    gph_error *error;
    uint32_t open[JSON_DEPTH_MAX]; /* the containers that `at` is inside */
    uint32_t last[JSON_DEPTH_MAX]; /* and the last value of each so far, 0 if none */
    uint32_t depth;
} reader;

static gph_status wrong(reader *r, const char *what)
{
    size_t line = 1, column = 1;
    const char *end = r->original + (r->at - r->doc->text - 1);
    for (const char *c = r->original; c < end; c++) {
        column++;
        if (*c == '\n') {
            line++;
            column = 1;
        }
    }
    return fail(r->error, GPH_E_FORMAT, "JSON line %zu column %zu: %s", line, column,
                what);
}

static void skip_space(reader *r)
{
    while (r->at < r->end &&
           (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
}

/* Four hexadecimal digits at `c`, or -1. */
static int hex4(const char *c, const char *end)
{
    if (end - c < 4)
        return -1;
    int value = 0;
    for (int i = 0; i < 4; i++) {
        const char d = c[i];
        int digit = -1;
        if (d >= '0' && d <= '9')
            digit = d - '0';
        else if (d >= 'a' && d <= 'f')
            digit = d - 'a' + 10;
        else if (d >= 'A' && d <= 'F')
            digit = d - 'A' + 10;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static char *put_utf8(char *to, int code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 63));
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

/* What follows \u, surrogate pairs joined. `at` is after the u. */
static gph_status read_unicode(reader *r, char **to)
{
    int code = hex4(r->at, r->end);
    if (code < 0)
        return wrong(r, "\\u needs four hexadecimal digits");
    if (code == 0)
        return wrong(r, "a zero character in a string");
    r->at += 4;
    if (code >= 0xd800 && code < 0xe000) {
        int low = -1;
        if (code < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u')
            low = hex4(r->at + 2, r->end);
        if (low < 0xdc00 || low >= 0xe000)
            return wrong(r, "half a surrogate pair");
        r->at += 6;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    *to = put_utf8(*to, code);
    return GPH_OK;
}

/* A string, unescaped in place, where its zero takes the place of the closing quote at
 * the latest. at is on the opening quote. */
static gph_status read_string(reader *r, const char **out)
{
    static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *start = ++r->at, *to = start;
    for (;;) {
        if (r->at == r->end)
            return wrong(r, "the text ends inside a string");
        const unsigned char c = (unsigned char)*r->at;
        if (c == '"')
            break;
        if (c < 32)
            return wrong(r, "a control character in a string");
        r->at++;
        if (c != '\\') {
            *to++ = (char)c;
            continue;
        }
        if (r->at == r->end)
            return wrong(r, "the text ends inside a string");
        const char escape = *r->at++;
        const char *known = escape ? strchr(plain, escape) : NULL;
        if (known != NULL)
            *to++ = meant[known - plain];
        else if (escape == 'u')
            TRY(read_unicode(r, &to));
        else
            return wrong(r, "an unknown escape in a string");
    }
    r->at++;
    *to = 0;
    *out = start;
    return GPH_OK;
}

static bool is_digit(const reader *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

/* The number's text moves one byte down, over the byte before it, so that a zero fits
 * after it; that byte is white space, a bracket, a comma or a colon, and has been read.
 * A number at the very start of the document has byte 0 of the copy before it. */
static gph_status read_number(reader *r, const char **out)
{
    char *start = r->at;
    if (*r->at == '-')
        r->at++;
    if (!is_digit(r))
        return wrong(r, "a number without digits");
    const char *digits = r->at;
    const bool zero = *digits == '0';
    while (is_digit(r))
        r->at++;
    if (zero && r->at - digits > 1)
        return wrong(r, "a number with a leading zero");
    if (r->at < r->end && *r->at == '.') {
        r->at++;
        if (!is_digit(r))
            return wrong(r, "no digit after the point");
        while (is_digit(r))
            r->at++;
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
            r->at++;
        if (!is_digit(r))
            return wrong(r, "no digit in the exponent");
        while (is_digit(r))
            r->at++;
    }
    if (r->at - start > 64)
        return wrong(r, "a number of more than 64 characters");
    memmove(start - 1, start, (size_t)(r->at - start));
    r->at[-1] = 0;
    *out = start - 1;
    return GPH_OK;
}

static bool take_word(reader *r, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static gph_status node_add(reader *r, json_kind kind, const char *key, uint32_t *index)
{
    json *doc = r->doc;
    if (doc->count == JSON_NODES_MAX)
        return wrong(r, "more than 1048576 values");
    if (doc->count == doc->capacity) {
        const uint32_t grown = doc->capacity ? doc->capacity * 2 : 64;
        json_node *node = heap_grow(&doc->heap, doc->node, doc->capacity * sizeof(*node),
                                    grown * sizeof(*node));
        if (node == NULL)
            return fail(r->error, GPH_E_NO_MEMORY, "reading JSON: %u values", grown);
        doc->node = node;
        doc->capacity = grown;
    }
    *index = doc->count++;
    doc->node[*index] = (json_node){.kind = kind, .key = key};
    if (r->depth > 0) {
        json_node *parent = &doc->node[r->open[r->depth - 1]];
        uint32_t *last = &r->last[r->depth - 1];
        if (*last != 0)
            doc->node[*last].next = *index;
        else
            parent->first = *index;
        *last = *index;
        parent->count++;
    }
    return GPH_OK;
}

/* One value; of a container only its opening bracket. */
static gph_status read_value(reader *r, const char *key)
{
    if (r->at == r->end)
        return wrong(r, "the text ends where a value is due");
    const char c = *r->at;
    const char *text = NULL;
    json_kind kind;
    if (c == '{' || c == '[') {
        if (r->depth == JSON_DEPTH_MAX)
            return wrong(r, "nested deeper than 32");
        kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        r->at++;
    } else if (c == '"') {
        kind = JSON_STRING;
        TRY(read_string(r, &text));
    } else if (c == '-' || (c >= '0' && c <= '9')) {
        kind = JSON_NUMBER;
        TRY(read_number(r, &text));
    } else if (take_word(r, "true")) {
        kind = JSON_TRUE;
    } else if (take_word(r, "false")) {
        kind = JSON_FALSE;
    } else if (take_word(r, "null")) {
        kind = JSON_NULL;
    } else {
        return wrong(r, "no JSON value starts like this");
    }
    uint32_t index;
    TRY(node_add(r, kind, key, &index));
    r->doc->node[index].text = text;
    if (kind == JSON_OBJECT || kind == JSON_ARRAY) {
        r->open[r->depth] = index;
        r->last[r->depth] = 0;
        r->depth++;
    }
    return GPH_OK;
}

/* What comes next inside the innermost open container: its end, or one more value. */
static gph_status read_inside(reader *r)
{
    const json_node *parent = &r->doc->node[r->open[r->depth - 1]];
    const bool object = parent->kind == JSON_OBJECT, first = parent->count == 0;
    if (r->at == r->end)
        return wrong(r, object ? "the text ends inside an object"
                               : "the text ends inside an array");
    if (*r->at == (object ? '}' : ']')) {
        r->at++;
        r->depth--;
        return GPH_OK;
    }
    if (!first) {
        if (*r->at != ',')
            return wrong(r, "a comma or the end is due");
        r->at++;
        skip_space(r);
    }
    const char *key = NULL;
    if (object) {
        if (r->at == r->end || *r->at != '"')
            return wrong(r, "a member's name is due");
        TRY(read_string(r, &key));
        skip_space(r);
        if (r->at == r->end || *r->at != ':')
            return wrong(r, "a colon is due");
        r->at++;
        skip_space(r);
    }
    return read_value(r, key);
}

gph_status json_read(const gph_allocator *heap, const char *text, size_t bytes, json *out,
                     gph_error *error)
{
    if (bytes > JSON_BYTES_MAX)
        return fail(error, GPH_E_FORMAT, "%zu bytes of JSON, %d is the most", bytes,
                    JSON_BYTES_MAX);
    json doc = {.heap = *heap, .text_bytes = bytes + 1};
    doc.text = heap_alloc(heap, doc.text_bytes);
    if (doc.text == NULL)
        return fail(error, GPH_E_NO_MEMORY, "reading %zu bytes of JSON", bytes);
    doc.text[0] = ' '; /* room for a number at the very start */
    memcpy(doc.text + 1, text, bytes);
    reader r = {.doc = &doc,
                .original = text,
                .at = doc.text + 1,
                .end = doc.text + 1 + bytes,
                .error = error};
    skip_space(&r);
    gph_status status = read_value(&r, NULL);
    while (status == GPH_OK && r.depth > 0) {
        skip_space(&r);
        status = read_inside(&r);
    }
    skip_space(&r);
    if (status == GPH_OK && r.at != r.end)
        status = wrong(&r, "something follows the value");
    if (status != GPH_OK) {
        json_fini(&doc);
        return status;
    }
    *out = doc;
    return GPH_OK;
}

void json_fini(json *doc)
{
    heap_free(&doc->heap, doc->text, doc->text_bytes);
    heap_free(&doc->heap, doc->node, doc->capacity * sizeof(*doc->node));
    *doc = (json){0};
}

const json_node *json_member(const json *doc, const json_node *object, const char *key)
{
    if (object == NULL || object->kind != JSON_OBJECT)
        return NULL;
    for (uint32_t i = object->first; i != 0; i = doc->node[i].next)
        if (strcmp(doc->node[i].key, key) == 0)
            return &doc->node[i];
    return NULL;
}

bool json_u64(const json_node *node, uint64_t *out)
{
    if (node == NULL || node->kind != JSON_NUMBER)
        return false;
    uint64_t value = 0;
    for (const char *c = node->text; *c != 0; c++) {
        if (*c < '0' || *c > '9')
            return false;
        const uint64_t digit = (uint64_t)(*c - '0');
        if (value > ((uint64_t)INT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

bool json_double(const json_node *node, double *out)
{
    if (node == NULL || node->kind != JSON_NUMBER)
        return false;
    const double value = strtod(node->text, NULL);
    if (!isfinite(value))
        return false;
    *out = value;
    return true;
}
