// SPDX-License-Identifier: Apache-2.0
/* Blocks of LZ4, read without its library: the attached library depends on nothing.
 *
 *   sequence   token (high: literals, low: 4 less than the match's length; 15: more bytes
 *              follow), literals, u16 how far back the match begins. The last has no match. */
#include "access/fatbin.h"

#include <string.h>

/* A length of 15 goes on in bytes, up to one that is not 255. */
static bool read_length(const unsigned char **at, const unsigned char *end,
                        size_t *length)
{
    unsigned char more = 255;
    if (*length != 15)
        return true;
    while (more == 255) {
        if (*at == end)
            return false;
        more = *(*at)++;
        *length += more;
    }
    return true;
}

size_t gphi_lz4_unpack(const unsigned char *from, size_t bytes, char *to, size_t room)
{
    enum { MATCH_MIN = 4 };
    const unsigned char *at = from, *end = from + bytes;
    size_t written = 0;
    while (at < end) {
        const unsigned token = *at++;
        size_t literals = token >> 4, match = token & 15;
        if (!read_length(&at, end, &literals) || literals > (size_t)(end - at) ||
            literals > room - written)
            return 0;
        memcpy(to + written, at, literals);
        at += literals;
        written += literals;
        if (at == end)
            return written;
        if (end - at < 2)
            return 0;
        const size_t back = (size_t)gphi_fatbin_word(at, 2);
        at += 2;
        if (!read_length(&at, end, &match) || back == 0 || back > written ||
            match > room - written || match + MATCH_MIN > room - written)
            return 0;
        match += MATCH_MIN;
        for (size_t i = 0; i < match; i++, written++) /* it may reach into itself */
            to[written] = to[written - back];
    }
    return 0;
}
