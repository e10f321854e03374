// SPDX-License-Identifier: Apache-2.0
/* Files on disk: one is there whole, or as it was before. */
#ifndef GPHI_BASE_SAVE_H
#define GPHI_BASE_SAVE_H
#include <gph/base.h>
#include <stdbool.h>

/* Who may read the file. */
typedef enum gphi_save_mode {
    GPHI_SAVE_SHARED,  /* as the umask has it */
    GPHI_SAVE_PRIVATE, /* the owner alone: it holds what a core file does */
} gphi_save_mode;

/* A file that is being written: under another name in its folder, which becomes the asked
 * one at the end. What a symbolic link names is replaced, not the link. What is not a
 * plain file, such as a pipe or a device, is written through. */
typedef struct gphi_save {
    int fd;           /* to write to; one can seek in it */
    const char *path; /* as the caller has it; for messages; borrowed until the end */
    gph_error *error;
    int through;       /* what is written through at the end, or -1 */
    char target[4096]; /* what is replaced */
    char fresh[4096];  /* what is written until then; empty: in memory */
} gphi_save;

/* Begins one. GPH_E_INVALID, GPH_E_IO. */
gph_status gphi_save_begin(gphi_save *save, const char *path, gphi_save_mode mode,
                           gph_error *error);

/* All of `bytes`. `save` is a gphi_save: the signature is that of a gph_write_fn. */
gph_status gphi_save_write(void *save, const void *data, size_t bytes);

/* Ends it: the file is there whole or, unless `keep`, or where that fails, as it was
 * before. GPH_E_IO. */
gph_status gphi_save_end(gphi_save *save, bool keep);

/* Calls gphi_save_write() as often as it likes. */
typedef gph_status gphi_save_fill(void *user, gphi_save *save);

/* Lets `fill` write a file. GPH_E_INVALID, GPH_E_IO, or what `fill` returns. */
gph_status gphi_save_file(const char *path, gphi_save_fill *fill, void *user,
                          gph_error *error);

/* GPH_E_IO with errno's words: "cannot `verb` `path`: ...". */
gph_status gphi_save_fail(gph_error *error, const char *verb, const char *path);
#endif
