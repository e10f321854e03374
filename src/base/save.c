// SPDX-License-Identifier: Apache-2.0
/* Files are written under another name in the same folder and then renamed. */
#define _GNU_SOURCE
#include "base/save.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/limit.h"

#define NAMES_MAX 100u /* tried before a folder counts as full of them */

gph_status gphi_save_fail(gph_error *error, const char *verb, const char *path)
{
    return gphi_fail(error, GPH_E_IO, "cannot %s %.300s: %s", verb, path,
                     strerror(errno));
}

gph_status gphi_save_write(void *user, const void *data, size_t bytes)
{
    const gphi_save *save = user;
    if (!gphi_limit_write(save->fd, data, bytes))
        return gphi_save_fail(save->error, "write", save->path);
    return GPH_OK;
}

/* A new file beside the target, with the mode that an ordinary one has (mkstemp() would
 * make it private, and the mask can only be read by setting it, for all threads). */
static int open_beside(gphi_save *save, gphi_save_mode mode)
{
    const mode_t bits = mode == GPHI_SAVE_PRIVATE ? 0600 : 0666;
    for (unsigned i = 0; i < NAMES_MAX; i++) {
        const unsigned long long mark = gphi_clock_ns() + i;
        const int length = snprintf(save->fresh, sizeof(save->fresh), "%s.%08llx",
                                    save->target, mark & 0xFFFFFFFF);
        if (length < 0 || (size_t)length >= sizeof(save->fresh)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int fd = open(save->fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, bits);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* One link further; false: `at` is none. */
static bool follow(char *at, size_t bytes)
{
    char to[PATH_MAX];
    const ssize_t length = readlink(at, to, sizeof(to));
    const char *slash = strrchr(at, '/');
    const size_t folder =
        length > 0 && slash && to[0] != '/' ? (size_t)(slash + 1 - at) : 0;
    if (length <= 0 || folder + (size_t)length >= bytes)
        return false;
    memcpy(at + folder, to, (size_t)length);
    at[folder + (size_t)length] = '\0';
    return true;
}

/* Where a symbolic link leads, whether that is there yet or not; false with errno: in a
 * circle. */
static bool find_target(gphi_save *save)
{
    enum { LINKS_MAX = 40 };
    char *real = realpath(save->path, NULL);
    const bool is_circle = !real && errno == ELOOP;
    snprintf(save->target, sizeof(save->target), "%s", real ? real : save->path);
    for (int i = 0; !real && i < LINKS_MAX && follow(save->target, sizeof(save->target));)
        i++;
    free(real);
    errno = is_circle ? ELOOP : errno;
    return !is_circle;
}

gph_status gphi_save_begin(gphi_save *save, const char *path, gphi_save_mode mode,
                           gph_error *error)
{
    struct stat old;
    *save = (gphi_save){.fd = -1, .path = path, .error = error, .through = -1};
    GPHI_TRY(gphi_need(error, path));
    if (strlen(path) + 10 > sizeof(save->fresh))
        return gphi_fail(error, GPH_E_INVALID, "the path has %zu bytes, too many",
                         strlen(path));
    if (!find_target(save))
        return gphi_save_fail(error, "open", path);
    const bool is_there = stat(path, &old) == 0;
    if (is_there && !S_ISREG(old.st_mode)) {
        save->through = open(path, O_WRONLY | O_CLOEXEC);
        if (save->through < 0)
            return gphi_save_fail(error, "open", path);
        save->fd = memfd_create("gph-save", MFD_CLOEXEC);
    } else {
        save->fd = open_beside(save, mode);
    }
    if (save->fd >= 0 && is_there && save->through < 0 && mode == GPHI_SAVE_SHARED)
        (void)fchmod(save->fd, old.st_mode & 07777); /* another's file: as a new one */
    if (save->fd >= 0)
        return GPH_OK;
    const gph_status status = gphi_save_fail(error, "make a file beside", path);
    if (save->through >= 0)
        close(save->through);
    return status;
}

static gph_status write_through(const gphi_save *save)
{
    char part[1 << 16];
    ssize_t bytes = lseek(save->fd, 0, SEEK_SET) == 0 ? 1 : -1;
    while (bytes > 0) {
        bytes = read(save->fd, part, sizeof(part));
        if (bytes > 0 && !gphi_limit_write(save->through, part, (size_t)bytes))
            bytes = -1;
    }
    return bytes == 0 ? GPH_OK : gphi_save_fail(save->error, "write", save->path);
}

gph_status gphi_save_end(gphi_save *save, bool keep)
{
    gph_status status = keep && save->through >= 0 ? write_through(save) : GPH_OK;
    if (save->through >= 0 && close(save->through) != 0 && status == GPH_OK && keep)
        status = gphi_save_fail(save->error, "write", save->path);
    if (close(save->fd) != 0 && status == GPH_OK && keep)
        status = gphi_save_fail(save->error, "write", save->path);
    if (save->fresh[0] == '\0')
        return status;
    if (keep && status == GPH_OK && rename(save->fresh, save->target) != 0)
        status = gphi_save_fail(save->error, "replace", save->path);
    if (!keep || status != GPH_OK)
        unlink(save->fresh);
    return status;
}

gph_status gphi_save_file(const char *path, gphi_save_fill *fill, void *user,
                          gph_error *error)
{
    gphi_save save;
    GPHI_TRY(gphi_save_begin(&save, path, GPHI_SAVE_SHARED, error));
    const gph_status status = fill(user, &save);
    const gph_status ended = gphi_save_end(&save, status == GPH_OK);
    return status != GPH_OK ? status : ended;
}
