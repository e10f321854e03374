// SPDX-License-Identifier: Apache-2.0
/* Text that is put together piece by piece. */
#include "base/text.h"
#include "base/fail.h"
#include "base/heap.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ROOM_FIRST = 256 };

void gphi_text_init(gphi_text *text, gph_allocator heap)
{
    *text = (gphi_text){.heap = heap};
}

void gphi_text_fix(gphi_text *text, char *buffer, size_t bytes)
{
    *text = (gphi_text){.bytes = buffer, .room = bytes, .is_fixed = 1};
    buffer[0] = '\0';
}

void gphi_text_stream(gphi_text *text, char *buffer, size_t bytes, gph_write_fn *write,
                      void *user)
{
    *text = (gphi_text){
        .bytes = buffer, .room = bytes, .is_fixed = 1, .write = write, .user = user};
}

void gphi_text_fini(gphi_text *text)
{
    if (!text->is_fixed)
        gphi_heap_free(gphi_heap(&text->heap), text->bytes, text->room);
    gphi_text_init(text, text->heap);
}

static void flush(gphi_text *text)
{
    if (text->status == GPH_OK && text->length > 0)
        text->status = text->write(text->user, text->bytes, text->length);
    text->length = 0;
}

/* Room for `more` bytes and a zero: grows, or says how many of them fit. */
static size_t make_room(gphi_text *text, size_t more)
{
    const size_t left = text->room - text->length;
    if (more < left)
        return more;
    if (text->is_fixed)
        return left - 1;
    const gph_allocator heap = gphi_heap(&text->heap);
    const size_t wanted = text->length + more + 1;
    const size_t twice = text->room != 0 ? 2 * text->room : ROOM_FIRST;
    const size_t room = wanted > twice ? wanted : twice;
    char *bytes = heap.realloc(heap.user, text->bytes, text->room, room);
    if (!bytes) {
        text->status = GPH_E_NO_MEMORY;
        return 0;
    }
    text->bytes = bytes;
    text->room = room;
    return more;
}

void gphi_text_put_bytes(gphi_text *text, const char *piece, size_t bytes)
{
    while (text->write && text->status == GPH_OK && bytes >= text->room - text->length) {
        const size_t part = text->room - text->length;
        memcpy(text->bytes + text->length, piece, part);
        text->length += part;
        piece += part;
        bytes -= part;
        flush(text);
    }
    if (text->status != GPH_OK)
        return;
    const size_t fits = make_room(text, bytes);
    if (text->status != GPH_OK)
        return;
    if (fits > 0)
        memcpy(text->bytes + text->length, piece, fits);
    text->length += fits;
    text->bytes[text->length] = '\0';
}

void gphi_text_put(gphi_text *text, const char *piece)
{
    gphi_text_put_bytes(text, piece, strlen(piece));
}

/* The kinds of values that most formats have, and no others. A writer of code adds millions
 * of them, which printf takes three times as long for. */
static bool is_plain(const char *format)
{
    for (const char *at = strchr(format, '%'); at; at = strchr(at + 1, '%')) {
        at++;
        if (*at == 'l' && at[1] == 'l')
            at += 2;
        else if (*at == 's' || *at == 'c' || *at == '%')
            continue;
        if (*at != 'u' && *at != 'd')
            return false;
    }
    return true;
}

static void put_number(gphi_text *text, uint64_t number, bool is_negative)
{
    char digits[24], *at = digits + sizeof(digits);
    uint64_t left = is_negative ? 0 - number : number;
    do
        *--at = (char)('0' + left % 10);
    while ((left /= 10) != 0);
    if (is_negative)
        *--at = '-';
    gphi_text_put_bytes(text, at, (size_t)(digits + sizeof(digits) - at));
}

/* One value; returns where the format goes on. */
static const char *put_value(gphi_text *text, const char *kind, va_list *values)
{
    const bool is_long = *kind == 'l';
    kind += is_long ? 2 : 0;
    if (*kind == 's') {
        const char *piece = va_arg(*values, const char *);
        gphi_text_put(text, piece ? piece : "(null)");
    } else if (*kind == 'c') {
        const char one = (char)va_arg(*values, int);
        gphi_text_put_bytes(text, &one, 1);
    } else if (*kind == 'u') {
        put_number(text,
                   is_long ? va_arg(*values, unsigned long long)
                           : va_arg(*values, unsigned),
                   false);
    } else if (*kind == 'd') {
        const long long number =
            is_long ? va_arg(*values, long long) : va_arg(*values, int);
        put_number(text, (uint64_t)number, number < 0);
    } else {
        gphi_text_put_bytes(text, "%", 1);
    }
    return kind + 1;
}

static void add_plain(gphi_text *text, const char *format, va_list *values)
{
    const char *next;
    while ((next = strchr(format, '%')) != NULL) {
        gphi_text_put_bytes(text, format, (size_t)(next - format));
        format = put_value(text, next + 1, values);
    }
    gphi_text_put(text, format);
}

void gphi_text_addv(gphi_text *text, const char *format, va_list values)
{
    va_list again;
    if (text->status != GPH_OK)
        return;
    if (is_plain(format)) {
        va_copy(again, values);
        add_plain(text, format, &again);
        va_end(again);
        return;
    }
    va_copy(again, values);
    const size_t left = text->room - text->length;
    char *const end = left > 0 ? text->bytes + text->length : NULL;
    const int count = vsnprintf(end, left, format, values);
    const size_t bytes = count > 0 ? (size_t)count : 0;
    if (bytes < left || count < 0) {
        text->length += bytes;
    } else if (!text->write) {
        const size_t fits = make_room(text, bytes);
        if (text->status == GPH_OK) {
            vsnprintf(text->bytes + text->length, fits + 1, format, again);
            text->length += fits;
        }
    } else { /* longer than what is left of the stream's buffer: by way of a block */
        gphi_text block = {0};
        gphi_text_addv(&block, format, again);
        if (block.status == GPH_OK)
            gphi_text_put_bytes(text, block.bytes, block.length);
        else
            text->status = block.status;
        gphi_text_fini(&block);
    }
    va_end(again);
}

void gphi_text_add(gphi_text *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    gphi_text_addv(text, format, values);
    va_end(values);
}

gph_status gphi_text_end(gphi_text *text, gph_error *error)
{
    if (text->write)
        flush(text);
    if (text->status == GPH_OK || !error || error->code == text->status)
        return text->status;
    if (text->status == GPH_E_NO_MEMORY)
        return gphi_fail(error, GPH_E_NO_MEMORY, "writing a text");
    return gphi_fail(error, text->status, "the writer's function returned %d",
                     (int)text->status);
}

char *gphi_text_take(gphi_text *text)
{
    gphi_text_put(text, ""); /* a text without pieces is "" */
    char *bytes = text->status == GPH_OK ? text->bytes : NULL;
    if (!bytes)
        gphi_text_fini(text);
    gphi_text_init(text, text->heap);
    return bytes;
}

size_t gphi_utf8_bytes(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    const size_t count = b[0] < 0x80   ? 1
                         : b[0] < 0xc2 ? 0
                         : b[0] < 0xe0 ? 2
                         : b[0] < 0xf0 ? 3
                         : b[0] < 0xf5 ? 4
                                       : 0;
    for (size_t i = 1; i < count; i++)
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    const int is_overlong =
        (b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xf0 && b[1] < 0x90);
    const int is_too_high =
        (b[0] == 0xed && b[1] > 0x9f) || (b[0] == 0xf4 && b[1] > 0x8f);
    return is_overlong || is_too_high ? 0 : count;
}
