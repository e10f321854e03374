// SPDX-License-Identifier: Apache-2.0
/* What a file is, by its first bytes: a command that was given the wrong one says so. */
#ifndef SEEMS_H
#define SEEMS_H
#include <gph/gph.h>

/* Of what a command may take. Names of files mean nothing. */
typedef enum file_use {
    FILE_GRAPH,  /* gph inspect: JSON or a recipe */
    FILE_GRAPHS, /* gph diff: JSON */
    FILE_TABLE,  /* gph plan */
    FILE_SIZES,  /* gph plan --ladder */
    FILE_EVENTS  /* gph doctor --events */
} file_use;

/* Like fail_file(), where the contents are at fault: if the file at `path` is of another
 * kind than `use` takes, the message says what it seems to be, what the command takes, and
 * which command takes this file. `named` is its name as the user gave it. */
int fail_contents(const char *path, const char *named, file_use use,
                  const gph_error *error);

/* The same of a file that was read. */
int fail_read(const char *text, size_t bytes, const char *named, file_use use,
              const gph_error *error);
#endif
