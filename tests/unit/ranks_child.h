// SPDX-License-Identifier: Apache-2.0
/* Ranks of a test: the test's own program once more, with a role as its argument. What one
 * writes to standard output comes back by a pipe. */
#ifndef RANKS_CHILD_H
#define RANKS_CHILD_H
#include "base/hash.h"
#include "test.h"
#include <gph/gph.h>

#include <dirent.h>
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

/* With the environment as it is. */
static ranks_child ranks_start_as(const char *role)
{
    int ends[2];
    ranks_child child = {.process = -1, .out = -1};
    if (pipe(ends) != 0)
        return child;
    fflush(stdout);
    fflush(stderr);
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

static ranks_child ranks_start(const char *role, unsigned rank, unsigned count)
{
    ranks_set("GPH_RANK", rank);
    ranks_set("GPH_RANKS", count);
    return ranks_start_as(role);
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
/* Whether the file of the job named by GPH_RANKS_ID is there: see src/ranks/meeting.c. */
__attribute__((unused)) static int ranks_has_file(void)
{
    char path[128];
    const char *name = getenv("GPH_RANKS_ID");
    const gphi_hash128 hash = gphi_hash128_bytes((gphi_hash128){0}, name, strlen(name));
    snprintf(path, sizeof(path), "/dev/shm/gph-ranks-%u-%016llx%016llx",
             (unsigned)geteuid(), (unsigned long long)hash.high,
             (unsigned long long)hash.low);
    return access(path, F_OK) == 0;
}

/* All have ended well and wrote this. */
__attribute__((unused)) static void ranks_check(ranks_child *children, unsigned count,
                                                const char *text)
{
    for (unsigned rank = 0; rank < count; rank++) {
        CHECK(ranks_exited(&children[rank]) == 0);
        if (!CHECK(strcmp(children[rank].text, text) == 0))
            fprintf(stderr, "rank %u: %s\n", rank, children[rank].text);
    }
}

/* ---- in a rank ---- */

typedef struct ranks_role {
    const char *name;
    int (*run)(void);
} ranks_role;

__attribute__((unused)) static int ranks_play(const ranks_role *roles, size_t count,
                                              const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, roles[i].name) == 0)
            return roles[i].run();
    return 98;
}
#define RANKS_ROLE(roles, name) ranks_play(roles, sizeof(roles) / sizeof(roles[0]), name)

static gph_error ranks_error;

/* What the parent reads: the status, and the message. */
__attribute__((unused)) static int ranks_say(gph_status status)
{
    printf("%d %s", (int)status, status == GPH_OK ? "" : ranks_error.message);
    return status == GPH_OK ? 0 : 1;
}

/* Joins the job, or says why not and ends. RANKS_PATIENCE has its patience in ms. */
__attribute__((unused)) static gph_ranks *ranks_open(void)
{
    gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
    gph_ranks *ranks = NULL;
    const char *patience = getenv("RANKS_PATIENCE");
    options.patience_ns =
        UINT64_C(1000000) * (uint64_t)(patience ? atoi(patience) : 20000);
    options.notice_ns = UINT64_C(100000000);
    if (gph_ranks_open(&options, &ranks, &ranks_error) == GPH_OK)
        return ranks;
    ranks_say(ranks_error.code);
    exit(0);
}
#endif
