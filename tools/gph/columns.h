// SPDX-License-Identifier: Apache-2.0
/* Text in the columns of a terminal: a Chinese character takes two, and may be at the
 * end of a line. */
#ifndef COLUMNS_H
#define COLUMNS_H
#include <stddef.h>
#include <stdio.h>

/* Bytes of the UTF-8 character at `text`, 0 if they are none. */
size_t columns_character(const char *text, size_t bytes);

/* Bytes of what no name may hold, 0: none is at `text`. Controls of ASCII, those that UTF-8
 * writes as C2 80 to C2 9F, and what ends a line or turns the direction in Unicode: as
 * src/base/plain.h has it for the libraries. */
size_t columns_control(const char *text, size_t bytes);

int columns_of(const char *text);

/* The text in lines of at most 79 columns, fewer on a narrower terminal, each after `indent`
 * spaces; the first line has `used` columns already. Ends the last line. */
void columns_wrap(const char *text, int indent, int used, FILE *to);

/* Likewise, but only where it is too long for the terminal that `to` is: for other files
 * it stays one line. */
void columns_fold(const char *text, int indent, int used, FILE *to);

/* What is printed between begin and end gets its long lines folded, under the indent that
 * they have, if `to` is a terminal. */
typedef struct folded {
    FILE *to, *memory;
    char *text;
    size_t bytes;
} folded;

FILE *fold_begin(folded *of, FILE *to); /* where to print meanwhile */
void fold_end(folded *of);
#endif
