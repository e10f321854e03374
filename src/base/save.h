// SPDX-License-Identifier: Apache-2.0
/* Files on disk: one is there whole, or as it was before. */
#ifndef GPHI_BASE_SAVE_H
#define GPHI_BASE_SAVE_H
#include <gph/base.h>

/* A file that is being written. */
typedef struct gphi_save {
    int fd;
    const char *path; /* as the caller has it; for messages */
    gph_error *error;
} gphi_save;

/* All of `bytes`. `save` is a gphi_save: the signature is that of a gph_write_fn. */
gph_status gphi_save_write(void *save, const void *data, size_t bytes);

/* Calls gphi_save_write() as often as it likes. */
typedef gph_status gphi_save_fill(void *user, gphi_save *save);

/* Lets `fill` write a file, which replaces that at `path` when it is whole. What is no
 * plain file, such as a pipe, is written through. GPH_E_INVALID, GPH_E_IO, or what `fill`
 * returns. */
gph_status gphi_save_file(const char *path, gphi_save_fill *fill, void *user,
                          gph_error *error);

/* GPH_E_IO with errno's words: "cannot `verb` `path`: ...". */
gph_status gphi_save_fail(gph_error *error, const char *verb, const char *path);
#endif
