// SPDX-License-Identifier: Apache-2.0
/* What all commands read and print with. */
#ifndef OUTPUT_H
#define OUTPUT_H
#include <gph/gph.h>
#include <stdbool.h>
#include <stdio.h>

/* Says why, on standard error, and returns EXIT_FAILED. */
int fail(const gph_error *error);

/* Reads a driver's name as --driver takes it; false after a message. NULL: the variable
 * GPH_DRIVER decides, and auto where that is not set. */
bool driver_parse(const char *word, gph_driver *out);

/* Opens it; NULL after a message. */
gph_runtime *driver_open(gph_driver driver);

const char *driver_name(gph_driver driver);

/* At most `most` bytes of a stream, in memory of malloc's; NULL with errno set. */
char *read_stream(FILE *from, size_t most, size_t *bytes);

/* Whether standard error is a terminal that takes escapes: TERM is set, and not dumb. */
bool has_terminal(void);

/* A row of two columns. */
void put_row(FILE *to, const char *left, const char *format, ...) GPH_PRINTF(3, 4);

/* "1.5 GiB"; lent until the next call. */
const char *bytes_text(unsigned long long bytes);
#endif
