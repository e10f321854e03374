// SPDX-License-Identifier: Apache-2.0
/* A file's bytes, all of them. */
#ifndef GPHI_FILE_DISK_H
#define GPHI_FILE_DISK_H
#include "base/vec.h"

/* What a reader accepts unless the options say otherwise. */
#define GPHI_FILE_BYTES_MAX (UINT64_C(256) << 20)

/* Appends a file's bytes to an array of bytes. GPH_E_IO, GPH_E_FORMAT (more than
 * `limit`), GPH_E_NO_MEMORY. */
gph_status gphi_file_read(const char *path, uint64_t limit, gphi_vec *bytes,
                          gph_error *error);
#endif
