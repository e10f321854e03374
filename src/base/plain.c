// SPDX-License-Identifier: Apache-2.0
/* Byte by byte, with the beginning of a color or a character kept until it is complete:
 *
 *   ESC [ 0 m, ESC [ 1 m, ESC [ 1 ; 3 x m     pass, where there are colors
 *   C2 80 .. C2 9F                            controls in UTF-8
 *   other controls                            '?' */
#include "base/plain.h"

#include <string.h>

enum { ESCAPE = 0x1b, LATIN = 0xc2, PIECE = 256 };

typedef struct piece {
    char bytes[PIECE];
    size_t count;
} piece;

static gph_status flush(gphi_plain *plain, piece *out)
{
    const size_t count = out->count;
    out->count = 0;
    return count > 0 ? plain->write(plain->user, out->bytes, count) : GPH_OK;
}

static bool is_control(unsigned char byte)
{
    return (byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7f;
}

/* The kept bytes, which became nothing; their first one as '?' if it was an escape. There
 * is room: a piece is flushed well before it is full. */
static void give_up(gphi_plain *plain, piece *out)
{
    for (size_t i = 0; i < plain->held_bytes; i++)
        out->bytes[out->count++] = plain->held[i] == ESCAPE ? '?' : (char)plain->held[i];
    plain->held_bytes = 0;
}

static bool is_colour(const unsigned char *held, size_t bytes)
{
    const char *text = (const char *)held + 1;
    if (bytes == 4)
        return memcmp(text, "[0m", 3) == 0 || memcmp(text, "[1m", 3) == 0;
    return bytes == 7 && memcmp(text, "[1;3", 4) == 0 && text[4] >= '0' &&
           text[4] <= '7' && text[5] == 'm';
}

/* Whether the byte belonged to what is kept. */
static bool go_on(gphi_plain *plain, piece *out, unsigned char byte)
{
    if (plain->held[0] == LATIN) {
        plain->held_bytes = 0;
        if (byte < 0x80 || byte >= 0xa0)
            out->bytes[out->count++] = (char)LATIN;
        else
            out->bytes[out->count++] = '?';
        return byte >= 0x80 && byte < 0xa0;
    }
    if (is_control(byte) || byte >= 0x7f || byte == '\n' || byte == '\t') {
        give_up(plain, out);
        return false;
    }
    plain->held[plain->held_bytes++] = byte;
    if (is_colour(plain->held, plain->held_bytes)) {
        memcpy(out->bytes + out->count, plain->held, plain->held_bytes);
        out->count += plain->held_bytes;
        plain->held_bytes = 0;
    } else if (plain->held_bytes == 7)
        give_up(plain, out);
    return true;
}

gph_status gphi_plain_write(void *user, const void *data, size_t bytes)
{
    gphi_plain *plain = user;
    const unsigned char *at = data;
    piece out = {.count = 0};
    for (size_t i = 0; i < bytes; i++) {
        if (out.count + 2 * sizeof(plain->held) > PIECE) {
            const gph_status status = flush(plain, &out);
            if (status != GPH_OK)
                return status;
        }
        if (plain->held_bytes > 0 && go_on(plain, &out, at[i]))
            continue;
        if (at[i] == LATIN || (at[i] == ESCAPE && plain->has_colours))
            plain->held[plain->held_bytes++] = at[i];
        else
            out.bytes[out.count++] = is_control(at[i]) ? '?' : (char)at[i];
    }
    return flush(plain, &out);
}

/* ---- names ---- */

/* U+0080 to U+009F; U+2028 and U+2029, which separate lines; U+202A to U+202E and U+2066 to
 * U+2069, which turn what follows around. */
size_t gphi_control_bytes(const char *at, size_t left)
{
    const unsigned char *b = (const unsigned char *)at;
    if (b[0] < 0x80)
        return b[0] != '\0' && (is_control(b[0]) || b[0] == '\n' || b[0] == '\t');
    if (b[0] == LATIN)
        return left > 1 && b[1] >= 0x80 && b[1] < 0xa0 ? 2 : 0;
    if (b[0] != 0xe2 || left < 3)
        return 0;
    const bool is_turn = (b[1] == 0x80 && b[2] >= 0xa8 && b[2] <= 0xae) ||
                         (b[1] == 0x81 && b[2] >= 0xa6 && b[2] <= 0xa9);
    return is_turn ? 3 : 0;
}

bool gphi_is_plain(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (gphi_control_bytes(text + i, bytes - i) > 0)
            return false;
    return true;
}

void gphi_make_plain(char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes;) {
        const size_t control = gphi_control_bytes(text + i, bytes - i);
        memset(text + i, '?', control);
        i += control > 0 ? control : 1;
    }
}

void gphi_text_put_name(gphi_text *text, const char *name)
{
    for (size_t left = strlen(name), bytes; left > 0; name += bytes, left -= bytes) {
        const size_t control = gphi_control_bytes(name, left);
        for (bytes = control;
             bytes < left && gphi_control_bytes(name + bytes, left - bytes) == 0;)
            bytes++;
        gphi_text_put(text, control > 0 ? "?" : "");
        gphi_text_put_bytes(text, name + control, bytes - control);
    }
}
