// SPDX-License-Identifier: Apache-2.0
/* Text on its way to a caller's function, in pieces of a few kilobytes. The first failure
 * sticks: writers go on without asking, and gphi_writer_end() tells. */
#ifndef GPHI_FILE_WRITER_H
#define GPHI_FILE_WRITER_H
#include <gph/file.h>

typedef struct gphi_writer {
    gph_write_fn *write;
    void *user;
    gph_status status; /* of the first failure */
    size_t used;
    char buffer[4096];
} gphi_writer;

void gphi_writer_begin(gphi_writer *writer, gph_write_fn *write, void *user);
gph_status gphi_writer_end(gphi_writer *writer, gph_error *error);

void gphi_put(gphi_writer *writer, const char *text);
void gphi_put_bytes(gphi_writer *writer, const char *bytes, size_t count);

/* At most 255 bytes at once: numbers and short words. */
void gphi_putf(gphi_writer *writer, const char *format, ...) GPH_PRINTF(2, 3);

/* A text between double quotes, as JSON wants it. Bytes that are no UTF-8 become U+FFFD.
 */
void gphi_put_json_text(gphi_writer *writer, const char *text);
#endif
