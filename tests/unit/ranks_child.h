// SPDX-License-Identifier: Apache-2.0
/* Ranks of a test: the test's own program once more, with a role as its argument. What one
 * writes to standard output comes back by a pipe. */
#ifndef RANKS_CHILD_H
#define RANKS_CHILD_H
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RANKS_CHILDREN = 64, RANKS_TEXT = 1200 };

typedef struct ranks_child {
    pid_t process;
    int out;  /* what it writes */
    int wait; /* as waitpid() has it */
    char text[RANKS_TEXT];
    size_t length;
} ranks_child;

static int ranks_jobs;

static void ranks_set(const char *name, unsigned value)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", value);
    setenv(name, text, 1);
}

/* One more job: a name that no other has. */
static void ranks_job(void)
{
    char name[64];
    snprintf(name, sizeof(name), "test %ld %d", (long)getpid(), ranks_jobs++);
    setenv("GPH_RANKS_ID", name, 1);
}

static ranks_child ranks_start(const char *role, unsigned rank, unsigned count)
{
    int ends[2];
    ranks_child child = {.process = -1, .out = -1};
    if (pipe(ends) != 0)
        return child;
    fflush(stdout);
    fflush(stderr);
    ranks_set("GPH_RANK", rank);
    ranks_set("GPH_RANKS", count);
    child.process = fork();
    if (child.process == 0) {
        dup2(ends[1], STDOUT_FILENO);
        for (int fd = 3; fd < 256; fd++)
            close(fd);
        execl("/proc/self/exe", "ranks", role, (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    child.out = ends[0];
    return child;
}

/* Reads until the pipe's end, for 60 s at most, and waits. */
static void ranks_end(ranks_child *child)
{
    for (;;) {
        struct pollfd ready = {.fd = child->out, .events = POLLIN};
        if (poll(&ready, 1, 60000) <= 0) {
            kill(child->process, SIGKILL);
            break;
        }
        const ssize_t got = read(child->out, child->text + child->length,
                                 sizeof(child->text) - 1 - child->length);
        if (got <= 0)
            break;
        child->length += (size_t)got;
    }
    close(child->out);
    while (waitpid(child->process, &child->wait, 0) < 0 && errno == EINTR) {
    }
}

/* All ranks of a job; returns when all have ended. */
static void ranks_run(const char *role, ranks_child *children, unsigned count)
{
    ranks_job();
    for (unsigned rank = 0; rank < count; rank++)
        children[rank] = ranks_start(role, rank, count);
    for (unsigned rank = 0; rank < count; rank++)
        ranks_end(&children[rank]);
}

static int ranks_exited(const ranks_child *child)
{
    return WIFEXITED(child->wait) ? WEXITSTATUS(child->wait) : -WTERMSIG(child->wait);
}

static void ranks_nap_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}
#endif
