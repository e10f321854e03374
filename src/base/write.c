// SPDX-License-Identifier: Apache-2.0
/* Ready-made receivers of text: the caller's memory, a stream of the C library, a file. */
#include "base/fail.h"
#include "base/save.h"

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

gph_status gph_bytes_save(const char *path, const void *data, size_t bytes,
                          gph_error *error)
{
    gphi_save save;
    GPHI_TRY(gphi_save_begin(&save, path, GPHI_SAVE_SHARED, error));
    const gph_status status = gphi_save_write(&save, data, bytes);
    const gph_status ended = gphi_save_end(&save, status == GPH_OK);
    return status != GPH_OK ? status : ended;
}
