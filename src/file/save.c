// SPDX-License-Identifier: Apache-2.0
/* Graph files on disk: a file is there whole, or as it was before. */
#define _POSIX_C_SOURCE 200809L
#include "base/fail.h"
#include "base/heap.h"
#include "base/vec.h"
#include <gph/file.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t BYTES_MAX_DEFAULT = UINT64_C(256) << 20;

typedef gph_status write_graph_fn(const gph_graph *, const gph_file_options *,
                                  gph_write_fn *, void *, gph_error *);

struct sink {
    int fd;
    const char *path;
    gph_error *error;
};

static gph_status fail_io(gph_error *error, const char *verb, const char *path)
{
    return gphi_fail(error, GPH_E_IO, "cannot %s %.300s: %s", verb, path,
                     strerror(errno));
}

static gph_status write_to_fd(void *user, const void *data, size_t bytes)
{
    const struct sink *sink = user;
    for (const char *at = data; bytes > 0;) {
        const ssize_t done = write(sink->fd, at, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail_io(sink->error, "write", sink->path);
        at += done;
        bytes -= (size_t)done;
    }
    return GPH_OK;
}

/* A pipe or a terminal cannot be replaced, only written to. */
static gph_status save_in_place(const gph_graph *graph, const gph_file_options *options,
                                const char *path, write_graph_fn *write_graph,
                                gph_error *error)
{
    struct sink sink = {open(path, O_WRONLY | O_CLOEXEC), path, error};
    if (sink.fd < 0)
        return fail_io(error, "open", path);
    const gph_status status = write_graph(graph, options, write_to_fd, &sink, error);
    close(sink.fd);
    return status;
}

static gph_status save(const gph_graph *graph, const gph_file_options *options,
                       const char *path, write_graph_fn *write_graph, gph_error *error)
{
    if (path == NULL)
        return gphi_fail(error, GPH_E_INVALID, "path is NULL");
    struct stat old;
    const int is_there = stat(path, &old) == 0;
    if (is_there && !S_ISREG(old.st_mode))
        return save_in_place(graph, options, path, write_graph, error);

    char fresh[PATH_MAX];
    if (snprintf(fresh, sizeof(fresh), "%s.XXXXXX", path) >= (int)sizeof(fresh))
        return gphi_fail(error, GPH_E_INVALID, "the path has %zu bytes, too many",
                         strlen(path));
    struct sink sink = {mkstemp(fresh), path, error};
    if (sink.fd < 0)
        return fail_io(error, "make a file beside", path);
    const mode_t mask = umask(0);
    umask(mask);
    gph_status status = write_graph(graph, options, write_to_fd, &sink, error);
    if (status == GPH_OK &&
        fchmod(sink.fd, is_there ? old.st_mode & 07777 : 0666 & ~mask) != 0)
        status = fail_io(error, "set the mode of", fresh);
    if (close(sink.fd) != 0 && status == GPH_OK)
        status = fail_io(error, "write", path);
    if (status == GPH_OK && rename(fresh, path) != 0)
        status = fail_io(error, "replace", path);
    if (status != GPH_OK)
        unlink(fresh);
    return status;
}

gph_status gph_json_save(const gph_graph *graph, const gph_file_options *options,
                         const char *path, gph_error *error)
{
    return save(graph, options, path, gph_json_write, error);
}

gph_status gph_dot_save(const gph_graph *graph, const gph_file_options *options,
                        const char *path, gph_error *error)
{
    return save(graph, options, path, gph_dot_write, error);
}

/* Reads until the end or beyond the limit; a file's size is not believed, since a pipe
 * has none. */
static gph_status read_all(int fd, const char *path, uint64_t limit, gphi_vec *text,
                           gph_error *error)
{
    for (;;) {
        if (text->count > limit)
            return gphi_fail(error, GPH_E_FORMAT, "%.300s is larger than %llu bytes",
                             path, (unsigned long long)limit);
        if (gphi_vec_reserve(text, 65536) != GPH_OK)
            return gphi_fail(error, GPH_E_NO_MEMORY, "reading %.300s", path);
        const ssize_t done = read(fd, gphi_vec_at(text, text->count), 65536);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail_io(error, "read", path);
        if (done == 0)
            return GPH_OK;
        text->count += (size_t)done;
    }
}

gph_status gph_json_load(const char *path, const gph_file_options *options,
                         gph_graph **out, gph_error *error)
{
    gph_file_options opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), options, error));
    if (path == NULL || out == NULL)
        return gphi_fail(error, GPH_E_INVALID, "path or out is NULL");
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_io(error, "open", path);

    gphi_vec text;
    gphi_vec_init(&text, gphi_heap(opt.allocator), 1);
    const uint64_t limit = opt.bytes_max != 0 ? opt.bytes_max : BYTES_MAX_DEFAULT;
    gph_status status = read_all(fd, path, limit, &text, error);
    if (status == GPH_OK)
        status = gph_json_read(text.items, text.count, options, out, error);
    gphi_vec_fini(&text);
    close(fd);
    return status;
}
