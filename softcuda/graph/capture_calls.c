// SPDX-License-Identifier: Apache-2.0
/* What each call of the driver means to captures that are open. The entry points do not
 * ask themselves: where they are entered (device/enter.c), find their stream
 * (device/stream.c) or their event (device/event.c), the call is looked up here, by the
 * name that soft_enter() was given. Nothing of it happens while nothing captures. */
#include <stdlib.h>
#include <string.h>

#include "cuda/calls.h"
#include "softcuda/graph/capturing.h"

enum row_id {
#define X(name, version, args) ROW_##name,
    GPHI_CUDA_CALLS(X)
#undef X
        ROW_COUNT
};

/* What becomes of a capture that a call runs into. */
enum harm { NONE, REFUSE, INVALIDATE };

struct class {
    enum harm capturing; /* the call's stream captures */
    enum harm legacy;    /* it is the legacy one, and a blocking stream captures */
    bool unsafe_at_once; /* forbidden by modes and threads, whatever it is given */
    bool unsafe_aside;   /* likewise, unless its stream captures */
    const char *hint;
    bool adds; /* to the capture of its stream: INVALIDATED where that is */
};

#define RELAX                                                                            \
    "make the call before the capture, or in a thread that "                             \
    "cuThreadExchangeStreamCaptureMode has made relaxed"
static const struct class SAFE = {.hint = ""};
static const struct class UNSAFE = {.unsafe_at_once = true, .hint = RELAX};
static const struct class CONTEXT = {.hint = "end the capture first"};
static const struct class WORK = {.legacy = INVALIDATE, .hint = "", .adds = true};
static const struct class PROPERTY = {.legacy = INVALIDATE, .hint = "", .adds = true};
static const struct class STREAM = {.legacy = INVALIDATE, .hint = ""};
static const struct class SYNC = {
    INVALIDATE, INVALIDATE, false, false, "use the asynchronous form of the call", false};
static const struct class ATTACH = {
    INVALIDATE, INVALIDATE, false, true, "make the call before or after the capture",
    false};
static const struct class WAIT = {INVALIDATE, INVALIDATE, false, true, RELAX, false};
static const struct class MEMORY = {NONE, INVALIDATE, false, true, RELAX, true};
static const struct class REFUSED = {
    INVALIDATE, INVALIDATE, false, false, "make the call before or after the capture",
    false};
static const struct class DROPPED = {
    REFUSE, INVALIDATE, false, false, "make the call before or after the capture", false};
static const struct class ASK = {.legacy = REFUSE, .hint = ""};
static const struct class EVENT = {.unsafe_aside = true, .hint = RELAX};
static const struct class TIME = {.hint = ""};

struct row {
    const char *name;
    const struct class *class;
    const char *hint;
};

static const struct row rows[ROW_COUNT] = {
#define CALL(name, class, hint) [ROW_##name] = {#name, &class, hint},
#include "softcuda/graph/capture_calls.def"
#undef CALL
};

/* Each call of the driver is in the table: a second line for one is a warning. */
enum {
    CALLS_CLASSED = 0
#define CALL(name, class, hint) +1
#include "softcuda/graph/capture_calls.def"
#undef CALL
};
_Static_assert((int)CALLS_CLASSED == (int)ROW_COUNT,
               "capture_calls.def lacks calls of cuda/calls.h");

/* ---- look-up ----------------------------------------------------------------------- */

static const struct row *sorted[ROW_COUNT];

static int by_name(const void *a, const void *b)
{
    const struct row *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

void soft_capture_calls_install(void)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        sorted[i] = &rows[i];
    qsort(sorted, ROW_COUNT, sizeof(sorted[0]), by_name);
}

/* Without _ptsz, _ptds, _v2. */
static size_t base_length(const char *symbol)
{
    size_t length = strlen(symbol);
    if (length > 5 && (strcmp(symbol + length - 5, "_ptsz") == 0 ||
                       strcmp(symbol + length - 5, "_ptds") == 0))
        length -= 5;
    if (length > 3 && symbol[length - 3] == '_' && symbol[length - 2] == 'v')
        length -= 3;
    return length;
}

/* NULL: the call means nothing to captures. */
static const struct row *search_row(const char *symbol)
{
    const size_t length = base_length(symbol);
    size_t low = 0, high = ROW_COUNT;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const char *name = sorted[middle]->name;
        int order = strncmp(name, symbol, length);
        if (order == 0)
            order = name[length] != '\0';
        if (order == 0)
            return sorted[middle]->class == &SAFE ? NULL : sorted[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Names of calls are literals: a thread asks for the same few again and again. */
static const struct row *find_row(const char *symbol)
{
    enum { KNOWN = 32 };
    static _Thread_local struct {
        const char *symbol;
        const struct row *row;
    } known[KNOWN];
    if (!symbol || !soft_rule(M_C01_matrix))
        return NULL;
    const size_t place = ((uintptr_t)symbol >> 4) % KNOWN;
    if (known[place].symbol != symbol) {
        known[place].symbol = symbol;
        known[place].row = search_row(symbol);
    }
    return known[place].row;
}

static const char *hint_of(const struct row *row)
{
    return row->hint[0] != '\0' ? row->hint : row->class->hint;
}

/* ---- refusals ---------------------------------------------------------------------- */

static CUresult refuse(const struct row *row, struct soft_capture *capture,
                       bool invalidates, const char *why)
{
    char name[SOFT_CAPTURE_NAME_BYTES];
    const CUresult code = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (invalidates)
        soft_capture_invalidate(capture, code);
    return soft_fail(code, "%s %s %s%s: %s", row->name, why,
                     soft_capture_name(capture, name),
                     invalidates ? ", which is now invalid" : "", hint_of(row));
}

/* The call's stream captures. */
static CUresult refuse_capturing(const struct row *row, soft_stream *stream)
{
    struct soft_capture *capture = soft_capture_of(stream);
    if (!capture)
        return CUDA_SUCCESS;
    const bool waits = row->class == &WAIT;
    if (waits ? !soft_rule(R93)
              : !(row->class == &DROPPED ? soft_rule(M_C12_dropped) : soft_rule(R98)))
        return CUDA_SUCCESS;
    if (capture->invalidated && row->class == &DROPPED)
        return soft_capture_refuse_invalidated(capture);
    return refuse(row, capture, row->class->capturing == INVALIDATE,
                  waits ? "cannot be answered in" : "cannot become part of");
}

/* Whether the capture forbids this thread's unsafe calls (R95). */
static bool forbids(const struct soft_capture *capture, CUstreamCaptureMode own)
{
    if (own == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (soft_capture_is_mine(capture))
        return capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return own != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
           capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

/* Every capture that forbids the call is invalid; the sentence names the caller's own. */
static CUresult check_unsafe(const struct row *row)
{
    const CUstreamCaptureMode own = soft_thread_self()->capture_mode;
    struct soft_capture *named = NULL;
    for (struct soft_capture *c = soft_captures; c && soft_rule(R95); c = c->next) {
        if (!forbids(c, own))
            continue;
        soft_capture_invalidate(c, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        if (!named || !soft_capture_is_mine(named))
            named = c;
    }
    if (!named)
        return CUDA_SUCCESS;
    return refuse(row, named, true,
                  soft_capture_is_mine(named)
                      ? "may not be called in the thread of"
                      : "may not be called, from this thread either, during");
}

/* Whether a stream of a capture would have to be waited for by a legacy stream. */
static bool holds_up(const soft_stream *s, const soft_stream *legacy)
{
    return s->context == legacy->context && s->green == legacy->green &&
           soft_stream_is_blocking(s);
}

static struct soft_capture *blocking_capture(const soft_stream *legacy)
{
    for (struct soft_capture *c = soft_captures; c; c = c->next)
        for (const soft_stream *s = c->streams; s; s = s->next_in_capture)
            if (holds_up(s, legacy))
                return c;
    return NULL;
}

/* The legacy stream is used: captures of blocking streams of its context end (R94). */
static CUresult check_implicit(const struct row *row, const soft_stream *legacy)
{
    char name[SOFT_CAPTURE_NAME_BYTES];
    const CUresult code = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    struct soft_capture *first = blocking_capture(legacy);
    if (!first || row->class->legacy == NONE || !soft_rule(R94))
        return CUDA_SUCCESS;
    soft_capture_name(first, name);
    if (row->class->legacy == REFUSE)
        return soft_fail(code,
                         "%s: the legacy stream cannot be asked during %s, a stream that "
                         "is not CU_STREAM_NON_BLOCKING",
                         row->name, name);
    for (struct soft_capture *c = soft_captures; c; c = c->next)
        for (const soft_stream *s = c->streams; s; s = s->next_in_capture)
            if (holds_up(s, legacy))
                soft_capture_invalidate(c, code);
    return soft_fail(code,
                     "%s uses the legacy stream, which would have to wait for %s: create "
                     "that stream with CU_STREAM_NON_BLOCKING, or use another one here",
                     row->name, name);
}

/* ---- the places at which calls come by --------------------------------------------- */

CUresult soft_capture_entered(const char *call)
{
    const struct row *row = find_row(call);
    if (!row || !row->class->unsafe_at_once)
        return CUDA_SUCCESS;
    soft_graph_lock();
    const CUresult result = check_unsafe(row);
    soft_graph_unlock();
    return result;
}

CUresult soft_capture_asks_stream(soft_stream *stream)
{
    const struct row *row = find_row(soft_thread_self()->call);
    if (!row)
        return CUDA_SUCCESS;
    const bool legacy = stream->kind == SOFT_STREAM_LEGACY;
    if (!legacy && !soft_stream_captures(stream) && !row->class->unsafe_aside)
        return CUDA_SUCCESS;
    CUresult result = CUDA_SUCCESS;
    soft_graph_lock();
    const struct soft_capture *capture = soft_capture_of(stream);
    const bool captures = capture;
    if (legacy)
        result = check_implicit(row, stream);
    else if (captures && row->class->capturing != NONE)
        result = refuse_capturing(row, stream);
    else if (captures && capture->invalidated && row->class->adds && soft_rule(R97))
        result = soft_capture_refuse_invalidated(capture);
    if (result == CUDA_SUCCESS && !captures && row->class->unsafe_aside)
        result = check_unsafe(row);
    soft_graph_unlock();
    return result;
}

static CUresult refuse_captured(const struct row *row, const soft_event *event)
{
    char name[SOFT_CAPTURE_NAME_BYTES];
    const CUresult code = CUDA_ERROR_CAPTURED_EVENT;
    struct soft_capture *capture = soft_capture_by_id(event->capture_id);
    if ((!capture || capture->invalidated) && !soft_rule(M_C09_over))
        return CUDA_SUCCESS;
    if (!capture || capture->invalidated)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s: the event was recorded in a capture that is over or "
                         "invalid, so it is an edge of that graph; record it again",
                         row->name);
    if (row->class == &EVENT)
        soft_capture_invalidate(capture, code);
    return soft_fail(code,
                     "%s: the event was recorded in %s%s: it is an edge of a graph; "
                     "CU_EVENT_RECORD_EXTERNAL records it at launch",
                     row->name, soft_capture_name(capture, name),
                     row->class == &EVENT ? ", which is now invalid" : "");
}

CUresult soft_capture_asks_event(soft_event *event)
{
    const struct row *row = find_row(soft_thread_self()->call);
    if (!row)
        return CUDA_SUCCESS;
    soft_graph_lock();
    pthread_mutex_lock(&event->mutex);
    const bool captured = event->state == SOFT_EVENT_CAPTURED;
    pthread_mutex_unlock(&event->mutex);
    CUresult result = CUDA_SUCCESS;
    if (captured && soft_rule(R93))
        result = refuse_captured(row, event);
    else if (row->class->unsafe_aside)
        result = check_unsafe(row);
    soft_graph_unlock();
    return result;
}

/* A green context has the streams that are of it, a context all of its own. */
static bool is_in(const struct soft_capture *capture, soft_current seen)
{
    for (const soft_stream *s = capture->streams; s; s = s->next_in_capture)
        if (s->context == seen.context && (!seen.green || s->green == seen.green))
            return true;
    return false;
}

CUresult soft_capture_asks_context(soft_current context)
{
    const struct row *row = find_row(soft_thread_self()->call);
    if (!row || !soft_rule(R93))
        return CUDA_SUCCESS;
    struct soft_capture *named = NULL;
    CUresult result = CUDA_SUCCESS;
    soft_graph_lock();
    for (struct soft_capture *c = soft_captures; c; c = c->next)
        if (is_in(c, context)) {
            soft_capture_invalidate(c, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
            named = c;
        }
    if (named)
        result = refuse(row, named, true, "cannot wait for a context during");
    soft_graph_unlock();
    return result;
}

void soft_capture_green_gone(const soft_green *green)
{
    const soft_current seen = {green->context, (soft_green *)(uintptr_t)green};
    soft_graph_lock();
    for (struct soft_capture *c = soft_captures; c; c = c->next)
        if (is_in(c, seen))
            soft_capture_invalidate(c, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    soft_graph_unlock();
}
