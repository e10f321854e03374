// SPDX-License-Identifier: Apache-2.0
/* Paths as texts. */
#ifndef GPHI_BASE_PATH_H
#define GPHI_BASE_PATH_H
#include <string.h>

/* The part after the last slash; NULL for NULL. */
static inline const char *gphi_path_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}
#endif
