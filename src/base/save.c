// SPDX-License-Identifier: Apache-2.0
/* Files are written under another name in the same folder and then renamed. */
#define _POSIX_C_SOURCE 200809L
#include "base/save.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"

#define NAMES_MAX 100u /* tried before a folder counts as full of them */

gph_status gphi_save_fail(gph_error *error, const char *verb, const char *path)
{
    return gphi_fail(error, GPH_E_IO, "cannot %s %.300s: %s", verb, path,
                     strerror(errno));
}

gph_status gphi_save_write(void *user, const void *data, size_t bytes)
{
    const gphi_save *save = user;
    for (const char *at = data; bytes > 0;) {
        const ssize_t done = write(save->fd, at, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return gphi_save_fail(save->error, "write", save->path);
        at += done;
        bytes -= (size_t)done;
    }
    return GPH_OK;
}

/* A pipe or a terminal cannot be replaced, only written to. */
static gph_status save_in_place(gphi_save *save, gphi_save_fill *fill, void *user)
{
    save->fd = open(save->path, O_WRONLY | O_CLOEXEC);
    if (save->fd < 0)
        return gphi_save_fail(save->error, "open", save->path);
    const gph_status status = fill(user, save);
    if (close(save->fd) != 0 && status == GPH_OK)
        return gphi_save_fail(save->error, "write", save->path);
    return status;
}

/* A new file beside `path`, with the mode that an ordinary one has (mkstemp() would make
 * it private, and the mask can only be read by setting it, for all threads). */
static int open_beside(const char *path, char *fresh, size_t room)
{
    for (unsigned i = 0; i < NAMES_MAX; i++) {
        const unsigned long long mark = gphi_clock_ns() + i;
        snprintf(fresh, room, "%s.%08llx", path, mark & 0xFFFFFFFF);
        const int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static gph_status save_beside(gphi_save *save, const struct stat *old,
                              gphi_save_fill *fill, void *user)
{
    char fresh[PATH_MAX];
    const size_t bytes = strlen(save->path);
    if (bytes + 10 > sizeof(fresh))
        return gphi_fail(save->error, GPH_E_INVALID, "the path has %zu bytes, too many",
                         bytes);
    save->fd = open_beside(save->path, fresh, sizeof(fresh));
    if (save->fd < 0)
        return gphi_save_fail(save->error, "make a file beside", save->path);
    gph_status status = fill(user, save);
    if (status == GPH_OK && old != NULL && fchmod(save->fd, old->st_mode & 07777) != 0)
        status = gphi_save_fail(save->error, "set the mode of", fresh);
    if (close(save->fd) != 0 && status == GPH_OK)
        status = gphi_save_fail(save->error, "write", save->path);
    if (status == GPH_OK && rename(fresh, save->path) != 0)
        status = gphi_save_fail(save->error, "replace", save->path);
    if (status != GPH_OK)
        unlink(fresh);
    return status;
}

gph_status gphi_save_file(const char *path, gphi_save_fill *fill, void *user,
                          gph_error *error)
{
    if (path == NULL)
        return gphi_fail(error, GPH_E_INVALID, "path is NULL");
    gphi_save save = {-1, path, error};
    struct stat old;
    const int is_there = stat(path, &old) == 0;
    if (is_there && !S_ISREG(old.st_mode))
        return save_in_place(&save, fill, user);
    return save_beside(&save, is_there ? &old : NULL, fill, user);
}
