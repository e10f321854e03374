// SPDX-License-Identifier: Apache-2.0
/* Transcripts as bytes, and files of them. */
#ifndef RECORD_H
#define RECORD_H
#include "differential.h"

enum { RECORD_BYTES_MAX = STEPS_MAX * (2 + 5 * STEP_ARGS + 6 + 5 * ANSWER_VALUES) + 512 };

size_t transcript_write(const struct transcript *t, unsigned char *to);
bool transcript_read(const unsigned char *from, size_t bytes, struct transcript *t);

/* The whole file, unpacked; NULL with a message if it cannot be read. free() it. */
unsigned char *file_read(const char *path, size_t *bytes);
/* Writes the file packed; false with a message if that cannot be. */
bool file_pack(const char *to, const unsigned char *plain, size_t bytes);
/* A transcript with its length before it; the bytes taken. RECORD_BYTES_MAX fit. */
size_t transcript_frame(const struct transcript *t, unsigned char *to);
/* The next transcript; false at the end. */
bool file_next(const unsigned char **at, const unsigned char *end, struct transcript *t);
#endif
