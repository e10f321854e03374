// SPDX-License-Identifier: Apache-2.0
/* What all commands read and print with. */
#ifndef OUTPUT_H
#define OUTPUT_H
#include <gph/gph.h>
#include <stdbool.h>
#include <stdio.h>

/* Says why, on standard error, and returns EXIT_FAILED. */
int fail(const gph_error *error);

/* The same with the name of the file that it is about, as the user gave it. */
int fail_file(const char *path, const gph_error *error);

/* Reads a driver's name as --driver takes it; false after a message. NULL: the variable
 * GPH_DRIVER decides, and auto where that is not set. */
bool driver_parse(const char *word, gph_driver *out);

/* Opens it; NULL after a message. */
gph_runtime *driver_open(gph_driver driver);

const char *driver_name(gph_driver driver);

/* At most `most` bytes of a stream, in memory of malloc's; NULL with errno set. */
char *read_stream(FILE *from, size_t most, size_t *bytes);

/* A whole file of less than `most` bytes, in memory of malloc's; `-` is standard input.
 * NULL after a message. */
char *read_file(const char *path, size_t most, size_t *bytes);

/* A file for what takes a path, and reads it twice or by its size. What is a pipe, or `-`,
 * is copied into memory first. */
typedef struct input {
    const char *path; /* to be opened */
    int copy;         /* or -1 */
    char name[32];    /* of the copy */
} input;

/* False after a message. */
bool input_open(const char *path, input *out);
void input_close(input *in);

/* Whether both name one plain file, or one that is not there yet. What is not a plain file
 * takes several outputs. NULL and `-` name none. */
bool is_same_file(const char *a, const char *b);

/* Before any file is opened: one that took the place of a closed standard stream would be
 * read or written in its stead. */
void output_begin(void);

/* Whether a file can be written at `path`, asked before what it is to hold takes its time.
 * False after a message. */
bool output_can_be(const char *path);

/* Ends what was written to standard output so far: a full disk must not look like success.
 * False after a message. */
bool output_end(void);

/* Whether standard error is a terminal that takes escapes: TERM is set, and not dumb. */
bool has_terminal(void);

/* A text of a file or an argument, with what a terminal would act on as \x1b. */
void put_text(FILE *to, const char *text);

/* A row of two columns. */
void put_row(FILE *to, const char *left, const char *format, ...) GPH_PRINTF(3, 4);

/* "1.5 GiB"; lent until the next call. */
const char *bytes_text(double bytes);

/* "en" or "zh", by LC_ALL, LC_MESSAGES and LANG. */
const char *locale_language(void);
#endif
