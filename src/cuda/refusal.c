// SPDX-License-Identifier: Apache-2.0
/* Listens to the driver's log callback, which comes on the thread of the refused call.
 *
 *   watches -> watch (capture of thread 7) -> watch (capture of thread 9) -> NULL
 *
 * The mutex is a leaf: nothing is called while it is held, since the driver may hold
 * locks of its own when it calls us. */
#include "cuda/refusal.h"
#include "base/thread.h"

#include <stdio.h>
#include <string.h>

static gphi_mutex watch_mutex = GPHI_MUTEX_INIT;
static gphi_watch *watches;

static gphi_mutex open_mutex = GPHI_MUTEX_INIT;
static unsigned open_count;
static CUlogsCallbackHandle callback;

static const char returning[] = "Returning ";
static const char from[] = " from ";

/* The call that a line "Returning ... from cuX" names, or NULL if it is no such line. */
static const char *call_of(const char *line)
{
    if (strncmp(line, returning, sizeof(returning) - 1) != 0)
        return NULL;
    const char *at = strstr(line, from);
    return at != NULL ? at + sizeof(from) - 1 : NULL;
}

static void add_line(struct gphi_refusal *first, uint64_t thread, const char *line)
{
    const char *call = call_of(line);
    if (first->thread == 0) {
        first->thread = thread;
        if (call == NULL) {
            snprintf(first->text, sizeof(first->text), "%s", line);
            return;
        }
    }
    if (call != NULL && first->thread == thread)
        snprintf(first->call, sizeof(first->call), "%.*s", (int)strcspn(call, " .,:;"),
                 call);
    if (first->thread == thread)
        first->is_complete = true;
}

static void note(void *user, CUlogLevel level, char *message, size_t bytes)
{
    (void)user;
    if (level != CU_LOG_LEVEL_ERROR)
        return;
    char line[300];
    const int most = (int)sizeof(line) - 1;
    snprintf(line, sizeof(line), "%.*s", bytes < (size_t)most ? (int)bytes : most,
             message);
    line[strcspn(line, "\n")] = '\0';
    const uint64_t thread = gphi_thread_id();

    gphi_mutex_lock(&watch_mutex);
    for (gphi_watch *watch = watches; watch != NULL; watch = watch->next) {
        struct gphi_refusal *first =
            watch->thread == thread ? &watch->own : &watch->other;
        if (!first->is_complete)
            add_line(first, thread, line);
    }
    gphi_mutex_unlock(&watch_mutex);
}

bool gphi_refusal_open(const gphi_cuda_table *cu)
{
    if (!gphi_cuda_has(cu, cuLogsRegisterCallback))
        return false;

    gphi_mutex_lock(&open_mutex);
    const bool is_told = open_count > 0 || cu->cuLogsRegisterCallback(
                                               note, NULL, &callback) == CUDA_SUCCESS;
    open_count += is_told;
    gphi_mutex_unlock(&open_mutex);
    return is_told;
}

void gphi_refusal_close(const gphi_cuda_table *cu)
{
    gphi_mutex_lock(&open_mutex);
    if (--open_count == 0)
        cu->cuLogsUnregisterCallback(callback);
    gphi_mutex_unlock(&open_mutex);
}

void gphi_watch_begin(gphi_watch *watch)
{
    *watch = (gphi_watch){.thread = gphi_thread_id()};
    gphi_mutex_lock(&watch_mutex);
    watch->next = watches;
    watch->link = &watches;
    if (watches != NULL)
        watches->link = &watch->next;
    watches = watch;
    gphi_mutex_unlock(&watch_mutex);
}

void gphi_watch_end(gphi_watch *watch)
{
    gphi_mutex_lock(&watch_mutex);
    if (watch->link != NULL) {
        *watch->link = watch->next;
        if (watch->next != NULL)
            watch->next->link = watch->link;
        watch->link = NULL;
    }
    gphi_mutex_unlock(&watch_mutex);
}
