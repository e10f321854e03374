// SPDX-License-Identifier: Apache-2.0
/* Presence is known by the names of symbolic links in the doctor's folder: they need no
 * room on a full disk, and `ulimit -f` does not count them.
 *
 *   seen/PID.here     -> name   the library is in this program
 *   seen/PID.left     -> name   it was, to the end: exit(), _exit(), return
 *   seen/PID.fork     -> name   a child of fork() that still runs
 *   seen/TID-N.forks          a thread forks; the child takes it away
 *   seen/PID.ring     -> bytes, and bytes wanted: the ring of a process that used the driver
 *   seen/PID.refused  -> errno  why such a process has none
 *   seen/PID.deaf     -> name   its calls do not come by here: only the driver's log is heard
 *
 * A process that has gone and whose link still says "here" was killed, or replaced itself
 * by a program that the library did not get into. Without the folder `seen` there is
 * no trace. Signal-safe; after fork() and vfork(), too. */
#define _GNU_SOURCE
#include "attach/presence.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_BYTES = 17 }; /* of a thread: 15, and the end */

static char folder[PATH_MAX];

const char *attach_presence_folder(void)
{
    return folder[0] != '\0' ? folder : NULL;
}

static void path_of(char *out, size_t bytes, const char *kind)
{
    snprintf(out, bytes, "%s/seen/%ld.%s", folder, (long)getpid(), kind);
}

static void link_to(const char *kind, const char *text)
{
    char path[PATH_MAX + 64];
    const int saved = errno;
    path_of(path, sizeof(path), kind);
    if (symlink(text, path) != 0 && errno == EEXIST && unlink(path) == 0 &&
        symlink(text, path) != 0)
        errno = 0; /* nobody reads it then */
    errno = saved;
}

static void link_name(const char *kind)
{
    char name[NAME_BYTES] = "";
    prctl(PR_GET_NAME, name);
    link_to(kind, name[0] != '\0' ? name : "?");
}

static void drop(const char *kind)
{
    char path[PATH_MAX + 64];
    path_of(path, sizeof(path), kind);
    unlink(path);
}

void attach_presence_begin(void)
{
    const char *of = getenv("GPH_DOCTOR_DIR");
    if (!of || strlen(of) >= sizeof(folder))
        return;
    strcpy(folder, of);
    drop("fork"); /* of the same process, before exec() */
    link_name("here");
}

/* The parent may end before the child comes to say that it is there. */
static __thread unsigned fork_count;
static __thread long fork_thread;

static void path_of_fork(char *out, size_t bytes)
{
    snprintf(out, bytes, "%s/seen/%ld-%u.forks", folder, fork_thread, fork_count);
}

void attach_presence_forks(void)
{
    char path[PATH_MAX + 64];
    const int saved = errno;
    fork_thread = syscall(SYS_gettid);
    fork_count++;
    path_of_fork(path, sizeof(path));
    if (symlink("fork", path) != 0)
        errno = saved; /* there is no doctor that counts */
}

void attach_presence_forked(void)
{
    char path[PATH_MAX + 64];
    link_name("fork");
    path_of_fork(path, sizeof(path));
    unlink(path);
}

void attach_presence_end(void)
{
    char from[PATH_MAX + 64], to[PATH_MAX + 64];
    const int saved = errno;
    if (folder[0] == '\0')
        return;
    path_of(from, sizeof(from), "here");
    path_of(to, sizeof(to), "left");
    rename(from, to);
    drop("fork");
    errno = saved;
}

void attach_presence_ring(size_t bytes, size_t wanted)
{
    char text[64];
    snprintf(text, sizeof(text), "%zu %zu", bytes, wanted);
    link_to("ring", text);
}

void attach_presence_deaf(void)
{
    link_name("deaf");
}

void attach_presence_refused(int code)
{
    char text[32];
    snprintf(text, sizeof(text), "%d", code);
    link_to("refused", text);
}
