// SPDX-License-Identifier: Apache-2.0
/* Listens to the driver's log callback, which comes on the thread of the refused call.
 *
 *   watches -> watch (capture of thread 7) -> watch (capture of thread 9) -> NULL
 *
 * The mutex is a leaf: nothing is called while it is held, since the driver may hold
 * locks of its own when it calls us. */
#include "cuda/refusal.h"
#include "base/clock.h"
#include "base/thread.h"
#include "cuda/status.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gphi_mutex watch_mutex = GPHI_MUTEX_INIT;
static gphi_watch *watches;
/* Of `watches`, so that a refusal that nobody watches costs no lock. Relaxed: who watches
 * sees the refusals of its own thread, and of others those that come after it. */
static atomic_uint watch_count;

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
    return at ? at + sizeof(from) - 1 : NULL;
}

static int code_of(const char *line)
{
    return (int)strtol(line + sizeof(returning) - 1, NULL, 10);
}

/* Codes by which a capture is refused or invalidated, in cuda.h a row of their own, but for
 * what every call says once it is: a consequence. */
bool gphi_refusal_is_of_capture(const struct gphi_refusal *refusal)
{
    return refusal->code >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
           refusal->code <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD &&
           refusal->code != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

/* The refusal whose second line this thread owes. */
static struct gphi_refusal *half_told(gphi_watch *watch, uint64_t thread)
{
    for (unsigned i = watch->count; i-- > 0;)
        if (watch->refusals[i].thread == thread)
            return watch->refusals[i].is_complete ? NULL : &watch->refusals[i];
    return NULL;
}

/* The place of one more of the watch's own thread, or of others: half of all each, so
 * that neither pushes the other out. When the half is full, the last of it, unless a
 * cause is among them. */
static struct gphi_refusal *place_for(gphi_watch *watch, bool is_own)
{
    struct gphi_refusal *last = NULL;
    unsigned count = 0;
    bool has_cause = false;
    for (unsigned i = 0; i < watch->count; i++) {
        struct gphi_refusal *at = &watch->refusals[i];
        if ((at->thread == watch->thread) != is_own)
            continue;
        last = at;
        count++;
        has_cause = has_cause || gphi_refusal_is_of_capture(at);
    }
    if (count < GPHI_REFUSALS / 2)
        return &watch->refusals[watch->count];
    return has_cause ? NULL : last;
}

/* How much of it is the name that <cuda.h> declares: NVIDIA's driver says cuMemAlloc_v2,
 * cuLaunchKernel_ptsz. */
static int name_length(const char *call)
{
    const size_t length = strcspn(call, " .,:;");
    for (size_t i = 1; i < length; i++)
        if (call[i] == '_' && (call[i + 1] == 'v' || strncmp(call + i, "_pt", 3) == 0))
            return (int)i;
    return (int)length;
}

struct line {
    const char *text;
    const char *call; /* in `text`, or NULL: it is a sentence */
    uint64_t thread;
    uint64_t time_ns;
    gphi_stack stack;
};

static void add_line(gphi_watch *watch, const struct line *line)
{
    struct gphi_refusal *at = half_told(watch, line->thread);
    if (at && !line->call) {
        at->is_complete = true; /* another sentence: the second line does not come */
        at = NULL;
    }
    if (!at) {
        at = place_for(watch, line->thread == watch->thread);
        if (!at)
            return;
        watch->count += at == &watch->refusals[watch->count];
        *at = (struct gphi_refusal){.thread = line->thread,
                                    .time_ns = line->time_ns - watch->begin_ns,
                                    .stack = line->stack};
    }
    if (!line->call) {
        snprintf(at->text, sizeof(at->text), "%s", line->text);
        return;
    }
    snprintf(at->call, sizeof(at->call), "%.*s", name_length(line->call), line->call);
    at->code = code_of(line->text);
    at->is_complete = true;
}

/* Whether the line begins a refusal that some watch has a place for: the stack is what
 * costs, and others may be refused all the time. */
static bool wants_stack(const struct line *line)
{
    bool is_wanted = false;
    gphi_mutex_lock(&watch_mutex);
    for (gphi_watch *watch = watches; watch && !is_wanted; watch = watch->next)
        is_wanted = (!line->call || !half_told(watch, line->thread)) &&
                    place_for(watch, line->thread == watch->thread);
    gphi_mutex_unlock(&watch_mutex);
    return is_wanted;
}

static void note(void *user, CUlogLevel level, char *message, size_t bytes)
{
    (void)user;
    if (level != CU_LOG_LEVEL_ERROR)
        return;
    char text[300];
    const int most = (int)sizeof(text) - 1;
    snprintf(text, sizeof(text), "%.*s", bytes < (size_t)most ? (int)bytes : most,
             message);
    text[strcspn(text, "\n")] = '\0';
    const char *call = call_of(text);
    if (call)
        gphi_cuda_hear_call(call, name_length(call), code_of(text));
    else
        gphi_cuda_hear_text(text);
    if (atomic_load_explicit(&watch_count, memory_order_relaxed) == 0)
        return;
    struct line line = {.text = text,
                        .call = call,
                        .thread = gphi_thread_id(),
                        .time_ns = gphi_clock_ns()};
    if (wants_stack(&line))
        gphi_stack_take(&line.stack, 0);

    gphi_mutex_lock(&watch_mutex);
    for (gphi_watch *watch = watches; watch; watch = watch->next)
        add_line(watch, &line);
    gphi_mutex_unlock(&watch_mutex);
}

bool gphi_refusal_open(const gphi_cuda_table *cu)
{
    if (!gphi_cuda_has(cu, cuLogsRegisterCallback))
        return false;

    gphi_stack_prepare();
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
    *watch = (gphi_watch){.thread = gphi_thread_id(), .begin_ns = gphi_clock_ns()};
    atomic_fetch_add_explicit(&watch_count, 1, memory_order_relaxed);
    gphi_mutex_lock(&watch_mutex);
    watch->next = watches;
    watch->link = &watches;
    if (watches)
        watches->link = &watch->next;
    watches = watch;
    gphi_mutex_unlock(&watch_mutex);
}

void gphi_watch_end(gphi_watch *watch)
{
    gphi_mutex_lock(&watch_mutex);
    if (watch->link) {
        *watch->link = watch->next;
        if (watch->next)
            watch->next->link = watch->link;
        watch->link = NULL;
        atomic_fetch_sub_explicit(&watch_count, 1, memory_order_relaxed);
    }
    gphi_mutex_unlock(&watch_mutex);
}

const struct gphi_refusal *gphi_watch_first(const gphi_watch *watch, bool all_threads)
{
    const struct gphi_refusal *best = NULL;
    int best_rank = 5;
    for (unsigned i = 0; i < watch->count; i++) {
        const struct gphi_refusal *refusal = &watch->refusals[i];
        const bool is_other = !all_threads && refusal->thread != watch->thread;
        const int rank = refusal->code == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                             ? 4
                             : 2 * is_other + !gphi_refusal_is_of_capture(refusal);
        if (rank < best_rank || (rank == best_rank && refusal->time_ns < best->time_ns)) {
            best = refusal;
            best_rank = rank;
        }
    }
    return best;
}

CUstream gphi_refusal_stream(const struct gphi_refusal *refusal)
{
    static const char word[] = "stream 0x";
    const char *at = strstr(refusal->text, word);
    if (!at)
        return NULL;
    return (CUstream)(uintptr_t)strtoull(at + sizeof(word) - 1, NULL, 16); // NOLINT
}
