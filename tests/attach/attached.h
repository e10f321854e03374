// SPDX-License-Identifier: Apache-2.0
/* Runs the program PROGRAM_PATH with the attached library, and reads what its rings say
 * afterwards. */
#ifndef ATTACHED_H
#define ATTACHED_H
#include "event/ring.h"
#include "test.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORDS = 20000 };

/* Sanitizers have no RTLD_DEEPBIND, and start threads in code of their own. */
#if defined(__has_feature)
#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define IS_SANITIZED 0
#endif

static char folder[64];
static gphi_event *records[RECORDS];
static int record_count, ring_count, was_called;
static uint64_t lost; /* records that did not fit */
static int may_lose;  /* the test says that some do not */
static int is_gpu;    /* GPH_DRIVER=cuda: NVIDIA's driver */

static inline void forget(void)
{
    for (int i = 0; i < record_count; i++)
        free(records[i]);
    record_count = ring_count = was_called = 0;
    lost = 0;
}

static inline void read_ring(const char *path)
{
    gphi_event_ring_reader *ring = NULL;
    gph_error error = {0};
    if (!CHECK_OK(gphi_event_ring_open(path, NULL, &ring, &error), error))
        return;
    for (const gphi_event *event; (event = gphi_event_ring_next(ring, true)) != NULL;) {
        if (record_count == RECORDS)
            break;
        const size_t bytes = (size_t)event->units * sizeof(*event);
        gphi_event *copy = malloc(bytes);
        memcpy(copy, event, bytes);
        records[record_count++] = copy;
    }
    lost += gphi_event_ring_lost(ring);
    gphi_event_ring_close(ring);
}

/* Reads all rings, in the order of their names, and removes them. */
static inline void collect(void)
{
    struct dirent **names = NULL;
    const int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[400];
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
        if (strstr(names[i]->d_name, ".ring") != NULL) {
            ring_count++;
            read_ring(path);
        }
        was_called |= strcmp(names[i]->d_name, "called") == 0;
        if (names[i]->d_name[0] != '.')
            unlink(path);
        free(names[i]);
    }
    free(names);
}

static inline int run_with(const char *what, const char *name, const char *value)
{
    forget();
    const pid_t child = fork();
    if (child == 0) {
        setenv("GPH_DOCTOR_DIR", folder, 1);
        setenv("GPH_DOCTOR_RING", "131072", 0);
        if (!is_gpu)
            setenv("LD_LIBRARY_PATH", SOFTCUDA_DIR, 1);
        setenv("TSAN_OPTIONS", "symbolize=0:handle_segv=0",
               1); /* the symbolizer would load us */
        setenv("ASAN_OPTIONS", "symbolize=0:detect_leaks=0:handle_segv=0", 1);
        setenv("CUDA_INJECTION64_PATH", ATTACH_PATH, 1);
        if (name == NULL || strcmp(name, "no preload") != 0)
            setenv("LD_PRELOAD", ATTACH_PATH, 1);
        if (name != NULL)
            setenv(name, value, 1);
        execl(PROGRAM_PATH, PROGRAM_PATH, what, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    collect();
    CHECK(may_lose || lost == 0);
    return status;
}

static inline int run(const char *what)
{
    return run_with(what, NULL, NULL);
}

static inline int exit_of(const char *what)
{
    const int status = run(what);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* The nth record of a kind, or NULL. */
static inline const gphi_event *of_kind(gphi_event_kind kind, int nth)
{
    for (int i = 0; i < record_count; i++)
        if (records[i]->kind == kind && nth-- == 0)
            return records[i];
    return NULL;
}

static inline const gphi_event *call_of(gphi_call_id call, int nth)
{
    for (int i = 0; i < record_count; i++)
        if (records[i]->kind == GPHI_EVENT_CALL && records[i]->u.call.call == call &&
            nth-- == 0)
            return records[i];
    return NULL;
}

static inline int count_of(gphi_event_kind kind)
{
    int count = 0;
    while (of_kind(kind, count) != NULL)
        count++;
    return count;
}

/* False: there is no driver here. */
static inline bool attached_begin(const char *name)
{
    const char *driver = getenv("GPH_DRIVER");
    is_gpu = driver != NULL && strcmp(driver, "cuda") == 0;
    if (!is_gpu && access(SOFTCUDA_DIR "/libcuda.so.1", R_OK) != 0) {
        printf("no softcuda\n");
        return false;
    }
    snprintf(folder, sizeof(folder), "/tmp/%s.%d", name, (int)getpid());
    if (mkdir(folder, 0700) != 0)
        exit(1);
    return true;
}

static inline void attached_end(void)
{
    forget();
    rmdir(folder);
}
#endif
