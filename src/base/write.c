// SPDX-License-Identifier: Apache-2.0
/* Ready-made receivers of text: the caller's memory, and a stream of the C library. */
#include <gph/base.h>

#include <stdio.h>
#include <string.h>

gph_status gph_write_buffer(void *user, const void *data, size_t bytes)
{
    gph_buffer *to = user;
    if (to->bytes > 0) {
        const size_t used = to->length < to->bytes ? to->length : to->bytes - 1;
        const size_t room = to->bytes - 1 - used;
        const size_t fits = bytes < room ? bytes : room;
        memcpy(to->text + used, data, fits);
        to->text[used + fits] = 0;
    }
    to->length += bytes;
    return GPH_OK;
}

gph_status gph_write_file(void *user, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, user) == bytes ? GPH_OK : GPH_E_IO;
}
