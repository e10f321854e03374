// SPDX-License-Identifier: Apache-2.0
/* Folders of rings, and what killed doctors leave of them.
 *
 *   owner -> "PID START NAMESPACE BOOT"   whose it is: a link, as those in `seen` are
 *   PID.ring                              of each process that used the driver
 *   PID.N.board                           how far its replays are
 *   seen/                                 doctor_seen.c
 *
 * A number may be another process's by now, in another namespace or on another machine that
 * shares TMPDIR: only who is surely gone is taken for gone. */
#define _GNU_SOURCE
#include "doctor_folder.h"
#include "doctor_seen.h"
#include "launch.h"
#include "option.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWNER_BYTES = 256 };
static const char prefix[] = "gph-doctor";

bool doctor_folder_is_split(const char *path)
{
    return strpbrk(path, " :");
}

/* ---- owners ---- */

/* A line of a file of the kernel's; "" where it cannot be read. */
static void read_line(const char *path, char *out, size_t bytes)
{
    FILE *file = fopen(path, "r");
    if (!file || !fgets(out, (int)bytes, file))
        out[0] = '\0';
    if (file)
        fclose(file);
    out[strcspn(out, "\n")] = '\0';
}

/* How a process is known for good: number, start in ticks since the boot, namespace of
 * numbers, boot. False: it is not there. */
static bool owner_of(long number, char *out)
{
    char path[64], stat[1024], boot[64], space[64] = "";
    /* qemu's user mode makes up its own process's /proc/PID/stat, with a later start. */
    snprintf(path, sizeof(path), "/proc/%ld/task/%ld/stat", number, number);
    read_line(path, stat, sizeof(stat));
    const char *at = strrchr(stat, ')'); /* of its name; then 20 words to its start */
    for (int i = 0; i < 20 && at; i++)
        at = strchr(at + 1, ' ');
    if (!at)
        return false;
    read_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
    if (readlink("/proc/self/ns/pid", space, sizeof(space) - 1) < 0)
        space[0] = '\0';
    snprintf(out, OWNER_BYTES, "%ld %llu %s %s", number, strtoull(at, NULL, 10), space,
             boot);
    return true;
}

/* Whether its doctor is gone. Without the link it is not known; nor where namespace or
 * boot are others than ours. */
static bool is_orphan(const char *folder)
{
    char path[PATH_MAX], said[OWNER_BYTES] = "", now[OWNER_BYTES], own[OWNER_BYTES];
    if (snprintf(path, sizeof(path), "%s/owner", folder) >= (int)sizeof(path) ||
        readlink(path, said, sizeof(said) - 1) <= 0 || !owner_of(getpid(), own))
        return false;
    const char *where = strchr(said, ' '), *ours = strchr(own, ' ') + 1;
    where = where ? strchr(where + 1, ' ') : NULL;
    if (!where || strcmp(where, strchr(ours, ' ')) != 0)
        return false;
    return !owner_of(strtol(said, NULL, 10), now) || strcmp(said, now) != 0;
}

/* ---- removal ---- */

/* The attached library makes no folders in it; `seen` is ours. */
static void remove_files(const char *folder)
{
    DIR *list = opendir(folder);
    const struct dirent *entry;
    while (list && (entry = readdir(list)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(list), entry->d_name, 0);
    if (list)
        closedir(list);
    rmdir(folder);
}

void doctor_folder_remove(const char *folder)
{
    char seen[PATH_MAX + 8];
    snprintf(seen, sizeof(seen), "%s/seen", folder);
    remove_files(seen);
    remove_files(folder);
}

/* Beside a new folder: those of this user whose doctor and programs are gone. */
static void remove_orphans(const char *beside)
{
    char place[PATH_MAX], path[PATH_MAX];
    const struct dirent *entry;
    struct stat info;
    snprintf(place, sizeof(place), "%s", beside);
    char *slash = strrchr(place, '/');
    *slash = '\0';
    DIR *list = opendir(slash != place ? place : "/");
    while (list && (entry = readdir(list))) {
        const size_t bytes = sizeof(prefix) - 1;
        if (strncmp(entry->d_name, prefix, bytes) != 0 || entry->d_name[bytes] != '-' ||
            snprintf(path, sizeof(path), "%s/%s", place, entry->d_name) >=
                (int)sizeof(path) ||
            lstat(path, &info) != 0 || !S_ISDIR(info.st_mode) ||
            info.st_uid != geteuid() || !is_orphan(path) || doctor_seen_runs(path, 0))
            continue;
        doctor_folder_remove(path);
    }
    if (list)
        closedir(list);
}

/* ---- making ---- */

static bool begin(const char *folder)
{
    char path[PATH_MAX], owner[OWNER_BYTES];
    if (snprintf(path, sizeof(path), "%s/owner", folder) >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    return (!owner_of(getpid(), owner) || symlink(owner, path) == 0) &&
           doctor_seen_begin(folder);
}

bool doctor_folder_make(char *out, size_t bytes, const char *library)
{
    char whole[PATH_MAX];
    launch_temporary(out, bytes, prefix);
    bool is_made = mkdtemp(out);
    if (is_made && realpath(out, whole) && strlen(whole) < bytes)
        strcpy(out, whole);
    if (is_made && doctor_folder_is_split(library) && doctor_folder_is_split(out)) {
        rmdir(out);
        snprintf(out, bytes, "/tmp/%s-XXXXXX", prefix);
        is_made = mkdtemp(out);
    }
    if (is_made)
        remove_orphans(out);
    if (is_made && begin(out))
        return true;
    fprintf(stderr, "gph doctor: %s: %s\n", out, strerror(errno));
    return false;
}

/* ---- reading ---- */

static bool copy_file(const char *from, const char *to)
{
    char part[1 << 16];
    ssize_t bytes = 1;
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out =
        in >= 0 ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    while (out >= 0 && bytes > 0) {
        bytes = read(in, part, sizeof(part));
        if (bytes > 0 && write(out, part, (size_t)bytes) != bytes)
            bytes = -1;
    }
    const int code = errno;
    if (out >= 0)
        close(out);
    if (in >= 0)
        close(in);
    errno = code;
    return out >= 0 && bytes == 0;
}

static bool ends_with(const char *name, const char *end)
{
    const char *dot = strrchr(name, '.');
    return dot && strcmp(dot, end) == 0;
}

/* With their boards. How many rings were copied; < 0: errno. */
static int copy_rings(const char *folder, const char *copy)
{
    char from[PATH_MAX], to[PATH_MAX];
    const struct dirent *entry;
    int count = 0;
    DIR *list = opendir(folder);
    if (!list)
        return -1;
    while (count >= 0 && (entry = readdir(list))) {
        const bool is_ring = ends_with(entry->d_name, ".ring");
        if (!is_ring && !ends_with(entry->d_name, ".board"))
            continue;
        if (snprintf(from, sizeof(from), "%s/%s", folder, entry->d_name) >=
                (int)sizeof(from) ||
            snprintf(to, sizeof(to), "%s/%s", copy, entry->d_name) >= (int)sizeof(to) ||
            !copy_file(from, to))
            count = -1;
        else
            count += is_ring;
    }
    closedir(list);
    return count;
}

/* A ring gives back what was read, so a copy is read. */
int doctor_folder_read(gph_doctor *doctor, const char *folder)
{
    char copy[PATH_MAX];
    gph_error error = {0};
    int code = EXIT_FAILED;
    launch_temporary(copy, sizeof(copy), prefix);
    if (!mkdtemp(copy)) {
        fprintf(stderr, "gph doctor: %s: %s\n", copy, strerror(errno));
        return EXIT_FAILED;
    }
    const int count = copy_rings(folder, copy);
    if (count < 0)
        fprintf(stderr, "gph doctor: cannot copy the rings of %s to %s: %s\n", folder,
                copy, strerror(errno));
    else if (count == 0)
        fprintf(stderr,
                "gph doctor: %s is a folder without a ring: --events takes a file of "
                "--save-events, or what a killed gph doctor left in TMPDIR\n",
                folder);
    else if (gph_doctor_poll(doctor, copy, 1, &error) != GPH_OK)
        fail(&error);
    else
        code = EXIT_OK;
    remove_files(copy);
    return code;
}
