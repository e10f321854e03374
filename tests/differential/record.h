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
/* The next transcript; false at the end. */
bool file_next(const unsigned char **at, const unsigned char *end, struct transcript *t);
#endif
