// SPDX-License-Identifier: Apache-2.0
/* Texts as JSON (RFC 8259). */
#include "base/json.h"
#include "base/plain.h"

#include <inttypes.h>
#include <string.h>

static int is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x7f && c != '"' && c != '\\';
}

/* One character that is not plain ASCII, of at most `left` bytes; how many it took. */
static size_t put_other(gphi_text *text, const char *at, size_t left)
{
    char whole[5] = {0}; /* one that is cut is followed by a zero */
    memcpy(whole, at, left < 4 ? left : 4);
    const size_t bytes = gphi_utf8_bytes(whole);
    const unsigned char *b = (const unsigned char *)at;
    if (bytes > 1 && !gphi_is_plain(at, bytes)) /* of two or three bytes */
        gphi_text_add(text, "\\u%04x",
                      bytes == 2 ? (b[0] & 31U) << 6 | (b[1] & 63U)
                                 : (b[0] & 15U) << 12 | (b[1] & 63U) << 6 | (b[2] & 63U));
    else if (bytes > 1)
        gphi_text_put_bytes(text, at, bytes);
    else if (bytes == 0)
        gphi_text_put(text, "\xef\xbf\xbd"); /* U+FFFD */
    else if (*at == '"' || *at == '\\')
        gphi_text_add(text, "\\%c", *at);
    else
        gphi_text_add(text, "\\u%04x", (unsigned)*at);
    return bytes > 1 ? bytes : 1;
}

void gphi_json_bytes(gphi_text *text, const char *value, size_t bytes)
{
    gphi_text_put(text, "\"");
    for (size_t i = 0; i < bytes;) {
        const size_t from = i;
        while (i < bytes && is_plain(value[i]))
            i++;
        gphi_text_put_bytes(text, value + from, i - from);
        if (i < bytes)
            i += put_other(text, value + i, bytes - i);
    }
    gphi_text_put(text, "\"");
}

void gphi_json_text(gphi_text *text, const char *value)
{
    if (value)
        gphi_json_bytes(text, value, strlen(value));
    else
        gphi_text_put(text, "null");
}

void gphi_json_member(gphi_text *text, const char *name, const char *value)
{
    gphi_text_add(text, ",\"%s\":", name);
    gphi_json_text(text, value);
}

void gphi_json_number(gphi_text *text, const char *name, uint64_t value)
{
    gphi_text_add(text, ",\"%s\":%" PRIu64, name, value);
}

void gphi_json_list(gphi_text *text, const char *name, const char *const *values,
                    size_t count)
{
    gphi_text_add(text, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        gphi_text_put(text, i > 0 ? "," : "");
        gphi_json_text(text, values[i]);
    }
    gphi_text_put(text, "]");
}
