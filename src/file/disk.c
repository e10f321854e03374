// SPDX-License-Identifier: Apache-2.0
/* Graph files on disk. */
#define _POSIX_C_SOURCE 200809L
#include "file/disk.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/save.h"
#include <gph/file.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

typedef gph_status write_graph_fn(const gph_graph *, const gph_file_options *,
                                  gph_write_fn *, void *, gph_error *);

/* A graph and how it is written. */
struct job {
    const gph_graph *graph;
    const gph_file_options *options;
    write_graph_fn *write_graph;
};

static gph_status fill(void *user, gphi_save *to)
{
    const struct job *job = user;
    return job->write_graph(job->graph, job->options, gphi_save_write, to, to->error);
}

/* The file appears under its name when it is whole (base/save.h). */
static gph_status save(const gph_graph *graph, const gph_file_options *options,
                       const char *path, write_graph_fn *write_graph, gph_error *error)
{
    struct job job = {graph, options, write_graph};
    return gphi_save_file(path, fill, &job, error);
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

static bool is_large(int fd, uint64_t limit)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
           (uint64_t)info.st_size > limit;
}

/* Reads until the end or beyond the limit; a file's size is believed only where it is too
 * large, since a pipe has none. */
static gph_status read_fd(int fd, const char *path, uint64_t limit, gphi_vec *bytes,
                          gph_error *error)
{
    for (;;) {
        if (bytes->count > limit || (bytes->count == 0 && is_large(fd, limit)))
            return gphi_fail(error, GPH_E_FORMAT, "%.300s is larger than %llu bytes",
                             path, (unsigned long long)limit);
        GPHI_TRY(gphi_made(error, gphi_vec_reserve(bytes, 65536) == GPH_OK,
                           "reading %.300s", path));
        const ssize_t done = read(fd, gphi_vec_at(bytes, bytes->count), 65536);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return gphi_save_fail(error, "read", path);
        if (done == 0)
            return GPH_OK;
        bytes->count += (size_t)done;
    }
}

/* By hand and not by fread(): errno has to be that of the call. */
gph_status gphi_file_read(const char *path, uint64_t limit, gphi_vec *bytes,
                          gph_error *error)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return gphi_save_fail(error, "open", path);
    const gph_status status = read_fd(fd, path, limit, bytes, error);
    close(fd);
    return status;
}

gph_status gph_json_load(const char *path, const gph_file_options *options,
                         gph_graph **out, gph_error *error)
{
    gph_file_options opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_file_options", options, error));
    GPHI_TRY(gphi_need(error, path, out));
    gphi_vec text;
    gphi_vec_init(&text, gphi_heap(opt.allocator), 1);
    const uint64_t limit = opt.bytes_max != 0 ? opt.bytes_max : GPHI_FILE_BYTES_MAX;
    gph_status status = gphi_file_read(path, limit, &text, error);
    if (status == GPH_OK &&
        (status = gph_json_read(text.items, text.count, options, out, error)) != GPH_OK)
        gphi_fail_in(error, "%.300s: ", path);
    gphi_vec_fini(&text);
    return status;
}
