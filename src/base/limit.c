// SPDX-License-Identifier: Apache-2.0
/* Writes during which SIGXFSZ is blocked for the thread that makes them. */
#define _GNU_SOURCE
#include "base/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct guard {
    sigset_t before, signal;
};

static void begin(struct guard *guard)
{
    sigemptyset(&guard->signal);
    sigaddset(&guard->signal, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &guard->signal, &guard->before);
}

/* The signal goes to the thread that wrote: it is taken from the queue, unless the program
 * had blocked it itself and may wait for it. */
static void end(const struct guard *guard)
{
    const int error = errno;
    const struct timespec now = {0};
    if (error == EFBIG && !sigismember(&guard->before, SIGXFSZ))
        (void)sigtimedwait(&guard->signal, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
    errno = error;
}

static bool write_all(int fd, const char *at, size_t bytes, off_t to)
{
    struct guard guard;
    begin(&guard);
    errno = 0;
    while (bytes > 0) {
        const ssize_t done = to >= 0 ? pwrite(fd, at, bytes, to) : write(fd, at, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            break;
        at += done;
        to += to >= 0 ? done : 0;
        bytes -= (size_t)done;
    }
    end(&guard);
    return bytes == 0;
}

bool gphi_limit_write(int fd, const void *data, size_t bytes)
{
    return write_all(fd, data, bytes, -1);
}

bool gphi_limit_write_at(int fd, const void *data, size_t bytes, off_t at)
{
    return write_all(fd, data, bytes, at);
}

int gphi_limit_allocate(int fd, off_t bytes)
{
    struct guard guard;
    begin(&guard);
    const int refused = posix_fallocate(fd, 0, bytes);
    errno = refused;
    end(&guard);
    return refused;
}

bool gphi_limit_allows(uint64_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           limit.rlim_cur >= bytes;
}
