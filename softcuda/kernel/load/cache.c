// SPDX-License-Identifier: Apache-2.0
/* Files of the cache. Whatever is wrong with a file is a miss, never an error.
 *
 *   directory/   0700 and ours, or it is not used: who may write there decides what runs
 *     <key>.gphcode      written beside, then renamed: readers see all of it or nothing
 *
 * A hit sets the file's time, and a write now and then, once in 1/64 of the directory's limit,
 * deletes the files that were not used for longest where there is more. No lock: two processes that compile
 * the same write the same bytes. */
#include "softcuda/kernel/load/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/limit.h"
#include "base/vec.h"

#define FILE_BYTES_MAX (1ull << 30)
#define LIMIT_DEFAULT (512ull << 20)
#define LOOKS_A_LIMIT 64u
#define SUFFIX ".code"

bool soft_cache_directory(const char *setting, char path[SOFT_CACHE_PATH_MAX])
{
    if (!setting)
        setting = getenv("SOFTCUDA_CACHE");
    if (setting && setting[0] != '\0') {
        if (strcmp(setting, "off") == 0)
            return false;
        return snprintf(path, SOFT_CACHE_PATH_MAX, "%s", setting) < SOFT_CACHE_PATH_MAX;
    }
    const char *base = getenv("XDG_CACHE_HOME");
    const char *inside = "";
    if (!base || base[0] != '/') {
        base = getenv("HOME");
        inside = "/.cache";
    }
    return base && base[0] == '/' &&
           snprintf(path, SOFT_CACHE_PATH_MAX, "%s%s/softcuda", base, inside) <
               SOFT_CACHE_PATH_MAX;
}

uint64_t soft_cache_limit(void)
{
    const char *text = getenv("SOFTCUDA_CACHE_BYTES");
    if (!text || text[0] < '0' || text[0] > '9')
        return LIMIT_DEFAULT;
    char *end;
    const unsigned long long bytes = strtoull(text, &end, 10);
    return *end == '\0' ? bytes : LIMIT_DEFAULT;
}

static void file_name(gphi_hash128 key, char name[64])
{
    snprintf(name, 64, "%016llx%016llx" SUFFIX, (unsigned long long)key.high,
             (unsigned long long)key.low);
}

/* Ours, and nobody else may write to it. */
static bool is_trusted(const struct stat *info)
{
    return info->st_uid == geteuid() && (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Opened once and used by its descriptor: what is checked is what is read and written,
 * whatever is renamed meanwhile. */
static int open_directory(const char *path)
{
    const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat info;
    if (directory < 0)
        return -1;
    if (fstat(directory, &info) != 0 || !is_trusted(&info)) {
        close(directory);
        return -1;
    }
    return directory;
}

static bool read_whole(int file, unsigned char *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = read(file, to + done, bytes - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* A regular file of a sane size; anything else is a miss. */
static bool read_file(int file, gph_allocator heap, unsigned char **out, size_t *bytes)
{
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || !is_trusted(&info) ||
        info.st_size <= 0 || (uint64_t)info.st_size > FILE_BYTES_MAX)
        return false;
    const size_t size = (size_t)info.st_size;
    unsigned char *data = gphi_heap_alloc(heap, size);
    if (!data)
        return false;
    if (!read_whole(file, data, size)) {
        gphi_heap_free(heap, data, size);
        return false;
    }
    *out = data;
    *bytes = size;
    return true;
}

bool soft_cache_read(const char *directory, gphi_hash128 key, gph_allocator heap,
                     unsigned char **out, size_t *bytes)
{
    char name[64];
    file_name(key, name);
    const int folder = open_directory(directory);
    if (folder < 0)
        return false;
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    bool read = false;
    if (file >= 0) {
        read = read_file(file, heap, out, bytes);
        if (read)
            futimens(file, NULL); /* used just now: the last to be removed */
        close(file);
    }
    close(folder);
    return read;
}

/* mkdir -p, each 0700. */
static void make_directories(const char *path)
{
    char part[SOFT_CACHE_PATH_MAX];
    if ((size_t)snprintf(part, sizeof(part), "%s", path) >= sizeof(part))
        return;
    for (char *at = part + 1; *at != '\0'; at++)
        if (*at == '/') {
            *at = '\0';
            mkdir(part, 0700);
            *at = '/';
        }
    mkdir(part, 0700);
}

struct kept {
    char name[64];
    uint64_t bytes;
    struct timespec used;
};

/* Oldest first. */
static int compare_used(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

/* Fills `files`; what there is no memory to note counts, too, and stays. The bytes of all. */
static uint64_t list_files(int folder, gphi_vec *files)
{
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
    if (!stream) {
        if (copy >= 0)
            close(copy);
        return 0;
    }
    uint64_t total = 0;
    for (struct dirent *entry; (entry = readdir(stream));) {
        struct stat info;
        struct kept file;
        const size_t length = strlen(entry->d_name);
        if (length < sizeof(SUFFIX) || length >= sizeof(file.name) ||
            strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) != 0 ||
            fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        memcpy(file.name, entry->d_name, length + 1);
        file.bytes = (uint64_t)info.st_size;
        file.used = info.st_mtim;
        total += file.bytes;
        gphi_ignore(gphi_vec_push(files, &file), "others are removed in its place");
    }
    closedir(stream);
    return total;
}

/* Deletes down to the limit. Another process may delete the same: both are right. */
static void make_room(int folder, uint64_t limit)
{
    gphi_vec files;
    gphi_vec_init(&files, gphi_heap(NULL), sizeof(struct kept));
    uint64_t total = list_files(folder, &files);
    if (total > limit && files.count > 1) {
        qsort(files.items, files.count, sizeof(struct kept), compare_used);
        for (size_t i = 0; i + 1 < files.count && total > limit; i++) {
            const struct kept *file = gphi_vec_at(&files, i);
            if (unlinkat(folder, file->name, 0) == 0)
                total -= file->bytes;
        }
    }
    gphi_vec_fini(&files);
}

/* Whether a write looks at all files, tens of thousands: by its key, which is a hash, so that
 * processes that write little each take turns without knowing of others. */
static bool has_turn(gphi_hash128 key, size_t bytes, uint64_t limit)
{
    return limit != UINT64_MAX && key.low % (limit / LOOKS_A_LIMIT + 1) < bytes;
}

bool soft_cache_write(const char *directory, gphi_hash128 key, const void *data,
                      size_t bytes, uint64_t limit)
{
    char name[64], other[96];
    file_name(key, name);
    snprintf(other, sizeof(other), "%s.%ld.%p", name, (long)getpid(), (void *)&name);
    int folder = open_directory(directory);
    if (folder < 0) {
        make_directories(directory);
        folder = open_directory(directory);
    }
    if (folder < 0)
        return false;
    const int file =
        openat(folder, other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool written = false;
    if (file >= 0) {
        written = gphi_limit_write(file, data, bytes);
        written = close(file) == 0 && written;
        written = written && renameat(folder, other, folder, name) == 0;
        if (written && has_turn(key, bytes, limit))
            make_room(folder, limit);
        else if (!written)
            unlinkat(folder, other, 0);
    }
    close(folder);
    return written;
}
