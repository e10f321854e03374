// SPDX-License-Identifier: Apache-2.0
/* vprintf() of kernels: one call is one write to stdout. The arguments lie in a buffer,
 * each aligned to its size: int 4 bytes, long, pointer and double 8.
 *
 * Format and strings are copied by functions of the section "soft_text" first, so that a
 * bad pointer is the kernel's fault and not the driver's. Each conversion is then handed
 * to the C library by itself, with the type that PTX says it has. */
#include <stdio.h>
#include <string.h>

#include "softcuda/kernel/run/place.h"
#include "softcuda/kernel/run/rtcalls.h"

#define FORMAT_BYTES 2048u
#define STRING_BYTES 1024u
#define OUTPUT_BYTES 8192u

struct print {
    const ptx_block *block;
    uint64_t arguments; /* address of the next one */
    char out[OUTPUT_BYTES];
    size_t length;
};

static uint64_t argument(struct print *print, size_t bytes)
{
    uint64_t value = 0;
    print->arguments = (print->arguments + bytes - 1) & ~(uint64_t)(bytes - 1);
    soft_text_copy(&value, soft_rtcall_reach(print->block, print->arguments), bytes);
    print->arguments += bytes;
    return value;
}

static void put(struct print *print, const char *text, size_t length)
{
    const size_t room = sizeof(print->out) - print->length;
    if (length > room)
        length = room;
    memcpy(print->out + print->length, text, length);
    print->length += length;
}

/* One conversion, taken apart. */
struct conversion {
    char flags[8];
    int width, precision; /* -1: none */
    unsigned longs;       /* l's; z, j and t count as one */
    char type;
};

static int number(struct print *print, const char **at)
{
    if (**at == '*') {
        (*at)++;
        return (int)(uint32_t)argument(print, 4);
    }
    int value = -1;
    while (**at >= '0' && **at <= '9') {
        value = (value < 0 ? 0 : value) * 10 + (**at - '0');
        if (value > 4096)
            value = 4096;
        (*at)++;
    }
    return value;
}

static const char *read_conversion(struct print *print, const char *at,
                                   struct conversion *c)
{
    memset(c, 0, sizeof(*c));
    size_t flags = 0;
    while (*at != '\0' && strchr("-+ #0", *at)) {
        if (flags + 1 < sizeof(c->flags))
            c->flags[flags++] = *at;
        at++;
    }
    c->width = number(print, &at);
    if (c->width < -1) { /* a negative `*` asks for the left */
        if (flags + 1 < sizeof(c->flags))
            c->flags[flags++] = '-';
        c->width = c->width < -4096 ? 4096 : -c->width;
    }
    c->precision = -1;
    if (*at == '.') {
        at++;
        c->precision = number(print, &at);
        if (c->precision < 0)
            c->precision = 0;
    }
    while (*at != '\0' && strchr("hlLzjt", *at)) {
        c->longs += *at != 'h';
        at++;
    }
    c->type = *at;
    return *at != '\0' ? at + 1 : at;
}

/* A format for the C library out of the parts, `length` being "" or "ll". */
static void make_format(const struct conversion *c, const char *length, char *out,
                        size_t bytes)
{
    char width[16] = "", precision[16] = "";
    if (c->width >= 0)
        snprintf(width, sizeof(width), "%d", c->width);
    if (c->precision >= 0)
        snprintf(precision, sizeof(precision), ".%d", c->precision);
    snprintf(out, bytes, "%%%s%s%s%s%c", c->flags, width, precision, length, c->type);
}

static void put_string(struct print *print, const struct conversion *c)
{
    char text[STRING_BYTES], format[64], piece[STRING_BYTES + 4200];
    const uint64_t address = argument(print, 8);
    if (address == 0) {
        memcpy(text, "(null)", 7);
    } else {
        const size_t most = c->precision >= 0 && (size_t)c->precision < sizeof(text) - 1
                                ? (size_t)c->precision
                                : sizeof(text) - 1;
        const char *from = soft_rtcall_reach(print->block, address);
        const size_t length = soft_text_length(from, most);
        soft_text_copy(text, from, length);
        text[length] = '\0';
    }
    make_format(c, "", format, sizeof(format));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int n = snprintf(piece, sizeof(piece), format, text);
#pragma GCC diagnostic pop
    put(print, piece, n > 0 ? (size_t)n : 0);
}

static void put_conversion(struct print *print, const struct conversion *c)
{
    char format[64], piece[4600];
    int n = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    switch (c->type) {
    case 'd':
    case 'i':
        make_format(c, "ll", format, sizeof(format));
        if (c->longs != 0)
            n = snprintf(piece, sizeof(piece), format, (long long)argument(print, 8));
        else
            n = snprintf(piece, sizeof(piece), format,
                         (long long)(int32_t)argument(print, 4));
        break;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        make_format(c, "ll", format, sizeof(format));
        n = snprintf(piece, sizeof(piece), format,
                     (unsigned long long)argument(print, c->longs != 0 ? 8 : 4));
        break;
    case 'c':
        make_format(c, "", format, sizeof(format));
        n = snprintf(piece, sizeof(piece), format, (int)argument(print, 4));
        break;
    case 'p':
        make_format(c, "", format, sizeof(format));
        n = snprintf(piece, sizeof(piece), format, (void *)(uintptr_t)argument(print, 8));
        break;
    default: { /* a A e E f F g G */
        double value;
        const uint64_t bits = argument(print, 8);
        memcpy(&value, &bits, sizeof(value));
        make_format(c, "", format, sizeof(format));
        n = snprintf(piece, sizeof(piece), format, value);
    }
    }
#pragma GCC diagnostic pop
    if (n > 0)
        put(print, piece, (size_t)n < sizeof(piece) ? (size_t)n : sizeof(piece) - 1);
}

/* Returns the number of arguments, as CUDA's vprintf does. */
static uint32_t format_all(struct print *print, const char *format)
{
    uint32_t count = 0;
    for (const char *at = format; *at != '\0';) {
        const char *percent = strchr(at, '%');
        const size_t plain = percent ? (size_t)(percent - at) : strlen(at);
        put(print, at, plain);
        if (!percent)
            break;
        if (percent[1] == '%') {
            put(print, "%", 1);
            at = percent + 2;
            continue;
        }
        struct conversion c;
        at = read_conversion(print, percent + 1, &c);
        if (c.type == '\0' || !strchr("diuxXocpsaAeEfFgG", c.type)) {
            put(print, percent, (size_t)(at - percent)); /* not known: unchanged */
            continue;
        }
        count++;
        if (c.type == 's')
            put_string(print, &c);
        else
            put_conversion(print, &c);
    }
    return count;
}

uint32_t ptx_rt_vprintf(ptx_block *block, uint32_t thread, uint64_t format,
                        uint64_t arguments)
{
    (void)thread;
    char text[FORMAT_BYTES];
    struct print print;
    print.block = block;
    print.arguments = arguments;
    print.length = 0;
    if (format == 0)
        return UINT32_MAX;
    const char *from = soft_rtcall_reach(block, format);
    const size_t length = soft_text_length(from, sizeof(text) - 1);
    soft_text_copy(text, from, length);
    text[length] = '\0';
    const uint32_t count = format_all(&print, text);
    /* stdio's lock makes it one piece; no fault can happen while it is held. */
    fwrite(print.out, 1, print.length, stdout);
    return count;
}
