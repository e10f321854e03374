// SPDX-License-Identifier: Apache-2.0
/* Buffered text to a caller's function. */
#include "file/writer.h"
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void gphi_writer_begin(gphi_writer *writer, gph_write_fn *write, void *user)
{
    writer->write = write;
    writer->user = user;
    writer->status = GPH_OK;
    writer->used = 0;
}

static void flush(gphi_writer *writer)
{
    if (writer->status == GPH_OK && writer->used > 0)
        writer->status = writer->write(writer->user, writer->buffer, writer->used);
    writer->used = 0;
}

gph_status gphi_writer_end(gphi_writer *writer, gph_error *error)
{
    flush(writer);
    if (writer->status != GPH_OK && error != NULL && error->code != writer->status)
        return gphi_fail(error, writer->status, "the writer's function returned %d",
                         (int)writer->status);
    return writer->status;
}

void gphi_put_bytes(gphi_writer *writer, const char *bytes, size_t count)
{
    while (count > 0) {
        if (writer->used == sizeof(writer->buffer))
            flush(writer);
        const size_t room = sizeof(writer->buffer) - writer->used;
        const size_t part = count < room ? count : room;
        memcpy(writer->buffer + writer->used, bytes, part);
        writer->used += part;
        bytes += part;
        count -= part;
    }
}

void gphi_put(gphi_writer *writer, const char *text)
{
    gphi_put_bytes(writer, text, strlen(text));
}

void gphi_putf(gphi_writer *writer, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    gphi_put(writer, text);
}

/* Bytes of the UTF-8 character at `text`, 0 if it is none (RFC 3629). */
static size_t utf8_bytes(const unsigned char *text)
{
    const unsigned char a = text[0];
    const size_t count = a < 0x80 ? 1 : a < 0xc2 ? 0 : a < 0xe0 ? 2 : a < 0xf0 ? 3 : 4;
    if (a > 0xf4)
        return 0;
    for (size_t i = 1; i < count; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((a == 0xe0 && text[1] < 0xa0) || (a == 0xed && text[1] > 0x9f) ||
        (a == 0xf0 && text[1] < 0x90) || (a == 0xf4 && text[1] > 0x8f))
        return 0;
    return count;
}

void gphi_put_json_text(gphi_writer *writer, const char *text)
{
    gphi_put(writer, "\"");
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        const size_t count = utf8_bytes(at);
        if (count == 0)
            gphi_put(writer, "\xef\xbf\xbd"); /* U+FFFD */
        else if (*at == '"' || *at == '\\')
            gphi_putf(writer, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            gphi_putf(writer, "\\u%04x", *at);
        else
            gphi_put_bytes(writer, (const char *)at, count);
        at += count == 0 ? 1 : count;
    }
    gphi_put(writer, "\"");
}
