// SPDX-License-Identifier: Apache-2.0
/* Records what a driver answers: children run the programs, so that one that crashes the
 * driver, or never ends, costs itself alone. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "result.h"

enum { WAIT_MS = 15000, START_MS = 60000, GIVE_UP = 3 };

struct log {
    FILE *file;
    uint32_t first, last, next;
    bool plain; /* this pass */
    double end;
    int lines, lost[QUESTIONS];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The seed from `at` on that is run in this pass; last + 1: none. */
static uint32_t next_of(const struct log *log, uint32_t at)
{
    while (at <= log->last && ((question_of(at) == PLAIN) != log->plain ||
                               log->lost[question_of(at)] >= GIVE_UP))
        at++;
    return at;
}

static void run_all(const struct log *log, int to)
{
    static struct device_program p;
    static struct result is, should;
    char line[LINE_BYTES + 1];
    const char *why = NULL;
    if (!drive_open(&why)) {
        printf("no driver: %s\n", why);
        fflush(stdout);
        _exit(77);
    }
    for (uint32_t at = log->next; at <= log->last && now() < log->end;
         at = next_of(log, at + 1)) {
        draw_program(&p, at);
        model_program(&p, &should);
        drive_program(&p, &is);
        (void)results_equal(at, &is, &should);
        fflush(stdout);
        result_line(at, &is, line);
        strcat(line, "\n");
        if (write(to, line, strlen(line)) < 0 || is.code != 0)
            _exit(3); /* a context that is over runs nothing more */
    }
    _exit(0);
}

/* Lines of a child into the file; whether the last one came in time. */
static bool take_lines(struct log *log, int from)
{
    struct pollfd wait = {.fd = from, .events = POLLIN};
    char bytes[4096];
    int limit = START_MS;
    while (poll(&wait, 1, limit) > 0) {
        const ssize_t count = read(from, bytes, sizeof(bytes));
        if (count <= 0)
            return true;
        fwrite(bytes, 1, (size_t)count, log->file);
        for (ssize_t i = 0; i < count; i++)
            if (bytes[i] == '\n') {
                log->lines++;
                log->next = next_of(log, log->next + 1);
            }
        limit = WAIT_MS;
    }
    return false;
}

static void lose(struct log *log, const char *how)
{
    fprintf(log->file, "%u %s\n", log->next, how);
    printf("%u (%s) %s\n", log->next, question_names[question_of(log->next)], how);
    log->lost[question_of(log->next)]++;
    log->next = next_of(log, log->next + 1);
}

/* One child, up to what it cannot do; false: a driver cannot be had. */
static bool run_child(struct log *log)
{
    int ends[2], status = 0;
    fflush(NULL);
    if (pipe(ends) != 0)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_all(log, ends[1]);
    }
    close(ends[1]);
    const bool in_time = child > 0 && take_lines(log, ends[0]);
    close(ends[0]);
    if (child <= 0)
        return false;
    if (!in_time)
        kill(child, SIGKILL);
    waitpid(child, &status, 0);
    if (!in_time)
        lose(log, "never ended");
    else if (WIFSIGNALED(status))
        lose(log, "crashed");
    return !WIFEXITED(status) || WEXITSTATUS(status) != 77;
}

int record_programs(const char *path, uint32_t first, uint32_t last, double seconds)
{
    struct log log = {.first = first, .last = last, .end = now() + seconds};
    const double began = now();
    bool good = true;
    log.file = fopen(path, "w");
    if (!log.file) {
        perror(path);
        return 1;
    }
    for (int pass = 0; pass < 2 && good; pass++) {
        log.plain = pass == 0;
        log.next = next_of(&log, first);
        while (good && log.next <= last && now() < log.end)
            good = run_child(&log);
    }
    fclose(log.file);
    printf("%d programs in %.1f s\n", log.lines, now() - began);
    for (int i = 0; i < QUESTIONS; i++)
        if (log.lost[i] >= GIVE_UP)
            printf("left out from the third that was lost on: %s\n", question_names[i]);
    return good && log.lines > 0 ? 0 : 1;
}
