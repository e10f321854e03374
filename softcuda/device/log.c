// SPDX-License-Identifier: Apache-2.0
/* The log door. Lines go to CUDA_LOG_FILE (a path, stdout or stderr), to SOFTCUDA_LOG
 * likewise, to the callbacks of cuLogsRegisterCallback(), and into a ring that
 * cuLogsDumpToFile() and cuLogsDumpToMemory() read.
 *
 *   [12:00:00.123][4242][CUDA][E] sentence
 *   [12:00:00.123][4242][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemAlloc
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda/calls.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/context.h"
#include "softcuda/device/logring.h"
#include "softcuda/device/verdict.h"

#define LINE_BYTES 768
#define RING_LINES 100 /* what CUDA keeps, too */

struct callback {
    CUlogsCallback function;
    void *user;
    struct callback *next;
};

/* Recursive: a callback may unregister itself. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct callback *callbacks;
static char ring[RING_LINES][LINE_BYTES];
static uint32_t ring_end; /* lines ever written; the iterator of cuLogsCurrent() */
static FILE *files[2];
static pthread_once_t files_once = PTHREAD_ONCE_INIT;
static _Thread_local bool logging; /* a callback that logs does not come back here */

static FILE *open_log(const char *name)
{
    if (!name || name[0] == '\0')
        return NULL;
    if (strcmp(name, "stdout") == 0)
        return stdout;
    if (strcmp(name, "stderr") == 0)
        return stderr;
    return fopen(name, "ae");
}

static void open_files(void)
{
    files[0] = open_log(getenv("CUDA_LOG_FILE"));
    files[1] = open_log(getenv("SOFTCUDA_LOG"));
}

const char *soft_result_name(CUresult code)
{
    switch (code) {
#define X(name, value, text)                                                             \
    case name: return #name;
        GPHI_CUDA_RESULTS(X)
#undef X
    }
    return "unknown";
}

/* The name as a program writes it: without _v2, _ptsz and the like. */
static const char *call_name(const char *symbol)
{
    static const struct {
        const char *symbol, *name;
    } names[] = {
#define X(symbol, name, version, per_thread, args) {#symbol, #name},
        GPHI_CUDA_SYMBOLS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i].symbol, symbol) == 0)
            return names[i].name;
    return symbol;
}

static void stamp(char *out, size_t bytes, CUlogLevel level)
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    snprintf(out, bytes, "[%02d:%02d:%02d.%03ld][%ld][CUDA][%c] ", parts.tm_hour,
             parts.tm_min, parts.tm_sec, now.tv_nsec / 1000000, (long)getpid(),
             level == CU_LOG_LEVEL_ERROR ? 'E' : 'W');
}

static void write_line(CUlogLevel level, const char *text)
{
    char head[64];
    stamp(head, sizeof(head), level);
    pthread_once(&files_once, open_files);
    pthread_mutex_lock(&lock);
    char *line = ring[ring_end++ % RING_LINES];
    snprintf(line, LINE_BYTES, "%s%s", head, text);
    for (int i = 0; i < 2; i++)
        if (files[i]) {
            fprintf(files[i], "%s%s\n", head, text);
            fflush(files[i]);
        }
    /* Called with the lock held, so that unregistering waits for a running callback. */
    if (!logging) {
        logging = true;
        for (struct callback *c = callbacks, *next; c; c = next) {
            next = c->next;
            c->function(c->user, level, (char *)(uintptr_t)text, strlen(text));
        }
        logging = false;
    }
    pthread_mutex_unlock(&lock);
}

void soft_refuse(CUresult code, const char *format, ...)
{
    if (logging)
        return;
    char text[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (soft_thread_self()->only_warns) {
        write_line(CU_LOG_LEVEL_WARNING, text);
        return;
    }
    write_line(CU_LOG_LEVEL_ERROR, text);
    const char *call = soft_thread_self()->call;
    if (call) {
        soft_verdict_refused(call_name(call), code, soft_result_name(code));
        snprintf(text, sizeof(text), "Returning %d (%s) from %s", (int)code,
                 soft_result_name(code), call_name(call));
        write_line(CU_LOG_LEVEL_ERROR, text);
    }
}

gph_error *soft_error(void)
{
    soft_thread *self = soft_thread_self();
    if (!self->error) {
        /* Not soft_new(): what says that an allocation failed is not one of those that a
         * test makes fail. */
        self->error = calloc(1, sizeof(*self->error));
        soft_thread_keep();
    }
    if (self->error)
        self->error->message[0] = '\0'; /* not all of it: launches come by here */
    return self->error;
}

const char *soft_error_text(void)
{
    const gph_error *error = soft_thread_self()->error;
    return error && error->message[0] ? error->message : "no reason given";
}

CUresult soft_pass(gph_status status)
{
    CUresult code = (CUresult)status;
    switch (status) {
    case GPH_OK: return CUDA_SUCCESS;
    case GPH_E_INVALID: code = CUDA_ERROR_INVALID_VALUE; break;
    case GPH_E_NO_MEMORY: code = CUDA_ERROR_OUT_OF_MEMORY; break;
    case GPH_E_UNSUPPORTED: code = CUDA_ERROR_NOT_SUPPORTED; break;
    case GPH_E_FORMAT: code = CUDA_ERROR_INVALID_IMAGE; break;
    case GPH_E_STATE: code = CUDA_ERROR_ILLEGAL_STATE; break;
    default:
        if (status < 0)
            code = CUDA_ERROR_UNKNOWN;
    }
    return soft_fail(code, "%s", soft_error_text());
}

void soft_log(CUlogLevel level, const char *format, ...)
{
    if (logging)
        return;
    char text[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    write_line(level, text);
}

void soft_say(CUlogLevel level, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    soft_log(level, "%s", text);
    if (files[0] != stderr && files[1] != stderr)
        fprintf(stderr, "softcuda: %s\n", text);
}

CUresult soft_log_callback_add(CUlogsCallback function, void *user, void **out)
{
    struct callback *fresh = soft_new(sizeof(*fresh));
    SOFT_TRY(soft_made(fresh, "no memory for a log callback"));
    *fresh = (struct callback){.function = function, .user = user};
    SOFT_TRY(soft_handle_own(fresh, SOFT_KIND_LOG_CALLBACK));
    pthread_mutex_lock(&lock);
    fresh->next = callbacks;
    callbacks = fresh;
    pthread_mutex_unlock(&lock);
    *out = fresh;
    return CUDA_SUCCESS;
}

bool soft_log_callback_remove(void *handle)
{
    if (!soft_handle_remove(handle, SOFT_KIND_LOG_CALLBACK))
        return false;
    pthread_mutex_lock(&lock);
    struct callback **link = &callbacks;
    while (*link != handle)
        link = &(*link)->next;
    *link = (*link)->next;
    pthread_mutex_unlock(&lock);
    soft_delete(handle);
    return true;
}

uint32_t soft_log_end(void)
{
    pthread_mutex_lock(&lock);
    const uint32_t end = ring_end;
    pthread_mutex_unlock(&lock);
    return end;
}

uint32_t soft_log_line(uint32_t index, char *out, size_t bytes)
{
    pthread_mutex_lock(&lock);
    const uint32_t begin = ring_end > RING_LINES ? ring_end - RING_LINES : 0;
    if (index < begin)
        index = begin;
    out[0] = '\0';
    if (index < ring_end)
        snprintf(out, bytes, "%s", ring[index % RING_LINES]);
    const uint32_t next = index < ring_end ? index + 1 : index;
    pthread_mutex_unlock(&lock);
    return next;
}
