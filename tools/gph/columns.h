// SPDX-License-Identifier: Apache-2.0
/* Text in the columns of a terminal: a Chinese character takes two, and may stand at the
 * end of a line. */
#ifndef COLUMNS_H
#define COLUMNS_H
#include <stddef.h>
#include <stdio.h>

/* Bytes of the UTF-8 character at `text`, 0 if they are none. */
size_t columns_character(const char *text, size_t bytes);

int columns_of(const char *text);

/* The text in lines of at most 79 columns, each behind `indent` spaces; the first line has
 * `used` columns already. Ends the last line. */
void columns_wrap(const char *text, int indent, int used, FILE *to);
#endif
