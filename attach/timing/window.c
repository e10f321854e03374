// SPDX-License-Identifier: Apache-2.0
/* Windows; see timing.h. What repeats is found as calls come in (rhythm.c), and a
 * few of the repetitions are held, or made a graph of (graph.c).
 *
 *   window: CLOSED -> HELD (a stream waits) -> LET_GO (queued, at a wait, too long)
 *                  -> BUILT (nodes are put into a graph) -> LET_GO (launched)
 *           LET_GO -> CLOSED (the GPU has ended, the result is written) */
#define _GNU_SOURCE
#include "attach/ring/draft.h"
#include "attach/ring/thread.h"
#include "attach/timing/graph.h"
#include "attach/timing/owner.h"
#include "base/clock.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    WINDOWS_MAX = 64, /* in all */
    CALLS_MAX = 192,  /* in a held one: drivers queue some 256 launches, then block */
    CALLS_MIN = 32
};
static const uint64_t hold_ns = 1500000, watchdog_ns = 2000000, settle_ns = 500000;
/* of the watchdog without a call that goes in, and in all: a graph holds nothing up, and
 * a step of a framework takes some ten milliseconds */
static const int build_turns = 10, build_turns_max = 50;

typedef enum window_state { CLOSED, HELD, BUILT, LET_GO } window_state;

static struct {
    gphi_timing_host host;
    gphi_timing_calls cu;
    gphi_timing_gate gate;
    CUcontext context;
    pthread_mutex_t lock; /* of everything below but `state` */
    _Atomic int state;    /* window_state; HELD -> LET_GO by whoever is first */
    _Atomic uint64_t opened_ns;
    _Atomic uint32_t window; /* counts them */
    _Atomic uint32_t taken;  /* calls, in graphs */
    _Atomic int releasing;   /* threads in release() */
    gphi_rhythm *owner;      /* of the window */
    uint32_t thread;         /* that opened it */
    gphi_window_kind kind;
    CUstream streams[GPHI_TIMING_STREAMS];
    uint32_t stream_count, calls, done;
    uint64_t first_ns, last_ns, target, instantiate_ns, interruptions;
    CUevent begin, ends[GPHI_TIMING_STREAMS];
    bool is_whole; /* let go with everything queued */
    bool is_watched;
    sem_t wake;
    gphi_timing_graph graph;
    _Atomic int set_up; /* 0 not yet, 1 going on, 2 done, 3 failed */
} t = {.lock = PTHREAD_MUTEX_INITIALIZER};

atomic_bool gphi_timing_is_on;
/* Of questions, and notes, since the last call; whether a window had a part in this one. */
static _Thread_local uint64_t beside_ns;
static _Thread_local bool is_disturbed;

/* ---- results ---- */

/* `thread`: 0 for this one. */
static void put_record(const uint64_t *words, uint32_t count, uint32_t thread,
                       uint64_t id)
{
    attach_draft draft;
    attach_draft_begin(&draft, GPHI_EVENT_GPU, id);
    attach_draft_words(&draft, words, count);
    draft.head.thread = thread;
    (void)attach_write(&draft);
}

/* How often threads of the process had to leave their processors to others. */
static uint64_t interruptions(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_nivcsw : 0;
}

static void put_window(double ms)
{
    const uint64_t words[] = {GPHI_GPU_WINDOW,
                              t.first_ns,
                              t.first_ns + (uint64_t)(ms * 1e6),
                              (uint64_t)(uintptr_t)t.streams[0],
                              t.first_ns,
                              t.last_ns,
                              t.calls,
                              gphi_rhythm_own_cost(t.owner, 2),
                              t.kind == GPHI_WINDOW_GRAPH,
                              t.instantiate_ns,
                              interruptions() - t.interruptions,
                              gphi_rhythm_own_cost(t.owner, 1),
                              gphi_rhythm_own_cost(t.owner, 3)};
    put_record(words, sizeof(words) / sizeof(words[0]), t.thread, atomic_load(&t.window));
}

/* Where the GPU has ended: the result. Returns whether a new window may begin. */
static bool read_window_locked(void)
{
    double longest = 0;
    if (atomic_load(&t.state) != LET_GO)
        return atomic_load(&t.state) == CLOSED;
    for (uint32_t i = 0; t.is_whole && i < t.stream_count; i++) {
        float ms = 0;
        const CUresult result = t.cu.event_elapsed(&ms, t.begin, t.ends[i]);
        if (result == CUDA_ERROR_NOT_READY)
            return false;
        t.is_whole = result == CUDA_SUCCESS;
        longest = ms > longest ? ms : longest;
    }
    if (t.is_whole)
        put_window(longest);
    atomic_store(&t.state, CLOSED);
    return true;
}

/* While the program goes on launching it would disturb what is measured; so would asking
 * all the time. */
static void settle(void)
{
    const uint64_t from = gphi_clock_ns();
    uint64_t now = from, pause = 20000;
    for (uint32_t i = 0; i < t.stream_count; i++)
        while (now - from < settle_ns &&
               t.cu.event_query(t.ends[i]) == CUDA_ERROR_NOT_READY) {
            const uint64_t until = now + pause;
            while ((now = gphi_clock_ns()) < until)
                ;
            pause *= 2;
        }
}

/* ---- held windows ---- */

/* Whether this caller ends the hold. */
static bool release(void)
{
    int held = HELD;
    (void)atomic_fetch_add(&t.releasing, 1);
    const bool is_first = atomic_compare_exchange_strong(&t.state, &held, LET_GO);
    if (is_first)
        atomic_store(t.gate.word, atomic_load(&t.window));
    (void)atomic_fetch_sub(&t.releasing, 1);
    return is_first;
}

/* By the thread that owns it, with the lock: everything is queued. */
static void end_hold_locked(void)
{
    bool good = true;
    for (uint32_t i = 0; i < t.stream_count; i++)
        good &= t.cu.event_record(t.ends[i], t.streams[i]) == CUDA_SUCCESS;
    t.is_whole = release() && good && t.calls > 0;
    t.owner->next = t.owner->count + 2 * t.owner->period;
}

static bool has_stream_locked(CUstream stream)
{
    for (uint32_t i = 0; i < t.stream_count; i++)
        if (t.streams[i] == stream)
            return true;
    return false;
}

static bool hold_stream_locked(CUstream stream)
{
    if (has_stream_locked(stream))
        return true;
    if (t.stream_count == GPHI_TIMING_STREAMS)
        return false;
    if (t.cu.wait_value(stream, t.gate.at, atomic_load(&t.window),
                        CU_STREAM_WAIT_VALUE_GEQ) != CUDA_SUCCESS)
        return false;
    if (t.stream_count == 0 && t.cu.event_record(t.begin, stream) != CUDA_SUCCESS)
        return false;
    t.streams[t.stream_count++] = stream;
    return true;
}

/* A stream that waits for an event first is held by what it waits for. */
static void tie_stream_locked(CUstream stream)
{
    if (!has_stream_locked(stream) && t.stream_count < GPHI_TIMING_STREAMS)
        t.streams[t.stream_count++] = stream;
}

/* A copy from or to pageable memory waits for what is before it. */
static bool is_pageable(const gphi_timing_call *call)
{
    int word = -1;
    unsigned kind = 0;
    if (call->call == GPHI_CALL_cuMemcpyHtoDAsync)
        word = 1;
    else if (call->call == GPHI_CALL_cuMemcpyDtoHAsync)
        word = 0;
    return word >= 0 && t.cu.attribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                       call->words[word]) != CUDA_SUCCESS;
}

/* A call of the owner while it holds. Whether the window is over. */
static bool go_into_hold_locked(const gphi_timing_call *call)
{
    const bool is_queued = call->class == GPHI_WORK || call->class == GPHI_ORDER;
    const bool is_over =
        t.calls >= t.target || gphi_clock_ns() - atomic_load(&t.opened_ns) > hold_ns;
    if (is_over || !is_queued || is_pageable(call)) {
        end_hold_locked();
        return is_over && is_queued;
    }
    if (call->call == GPHI_CALL_cuStreamWaitEvent)
        tie_stream_locked(call->stream);
    else if (call->class == GPHI_WORK && !hold_stream_locked(call->stream))
        (void)release(); /* not whole: it is not used */
    return false;
}

/* ---- windows that are made a graph ---- */

/* By any thread: what was taken is launched. */
static void run_graph_locked(bool by_owner)
{
    CUcontext ignored;
    atomic_store(&t.state, LET_GO);
    t.is_whole = false;
    if (t.cu.ctx_push(t.context) != CUDA_SUCCESS)
        return; /* the context is gone, and the work with it */
    const gphi_timing_ran ran =
        gphi_timing_graph_run(&t.graph, &t.gate, t.begin, t.ends[0]);
    (void)t.cu.ctx_pop(&ignored);
    t.streams[0] = t.graph.stream[0];
    t.stream_count = 1;
    t.instantiate_ns = ran.instantiate_ns;
    t.is_whole = ran.is_timed && by_owner && t.calls > 0;
}

static gphi_timing_taken take_locked(const gphi_timing_call *call)
{
    CUcontext context = NULL;
    if (t.cu.ctx_current(&context) != CUDA_SUCCESS || context != t.context ||
        is_pageable(call))
        return GPHI_REFUSED;
    (void)atomic_fetch_add(&t.taken, 1);
    return gphi_timing_graph_take(&t.graph, call->call, call->words, call->stream);
}

/* A call of the owner while it builds. Whether the window is over. */
static bool go_into_graph_locked(gphi_rhythm *r, const gphi_timing_call *call,
                                 bool *taken)
{
    const bool is_queued = call->class == GPHI_WORK || call->class == GPHI_ORDER;
    if (is_queued && t.calls < t.target) {
        const gphi_timing_taken now = take_locked(call);
        *taken = now == GPHI_TAKEN;
        if (now != GPHI_REFUSED)
            return false;
    }
    run_graph_locked(true);
    r->next = r->count + 2 * r->period;
    return is_queued;
}

/* ---- both ---- */

/* A call while a window is open: goes into it, or ends it. Whether the driver is not to
 * be called. */
static bool in_window(gphi_rhythm *r, const gphi_timing_call *call)
{
    bool taken = false, is_over = false;
    (void)pthread_mutex_lock(&t.lock);
    const int state = atomic_load(&t.state);
    if (t.owner == r && state == HELD)
        is_over = go_into_hold_locked(call);
    else if (t.owner == r && state == BUILT)
        is_over = go_into_graph_locked(r, call, &taken);
    else if (state == BUILT)
        run_graph_locked(
            false); /* of another thread: it may build on what is not there */
    else if (call->class == GPHI_STOP || call->class == GPHI_CAPTURE)
        (void)release(); /* it may wait for what is held */
    if (is_over) {
        settle();
        gphi_rhythm_go_on(r, t.kind);
    }
    (void)pthread_mutex_unlock(&t.lock);
    return taken;
}

/* Opens the window that is due. Whether the call is in its graph. */
static bool open_locked(gphi_rhythm *r, const gphi_timing_call *call, uint32_t slot)
{
    t.owner = r;
    t.thread = attach_thread();
    t.stream_count = t.calls = 0;
    t.instantiate_ns = 0;
    t.is_whole = false;
    t.interruptions = interruptions();
    t.first_ns = t.last_ns = gphi_clock_ns();
    atomic_store(&t.opened_ns, t.first_ns);
    if (t.kind == GPHI_WINDOW_HELD) {
        atomic_store(&t.window, ++t.gate.next);
        atomic_store(&t.state, HELD);
        (void)sem_post(&t.wake);
        if (!hold_stream_locked(call->stream))
            (void)release();
        t.first_ns = t.last_ns = gphi_clock_ns();
        return false;
    }
    if (!gphi_timing_graph_open(&t.graph, t.context, call->stream, slot))
        return false;
    atomic_store(&t.window, ++t.gate.next);
    atomic_store(&t.state, BUILT);
    (void)sem_post(&t.wake);
    const gphi_timing_taken now = take_locked(call);
    if (now != GPHI_TAKEN)
        run_graph_locked(false);
    return now == GPHI_TAKEN;
}

static bool maybe_open(gphi_rhythm *r, const gphi_timing_call *call)
{
    CUcontext context = NULL;
    bool taken = false;
    if (!gphi_rhythm_is_steady(r) || r->count < r->next || is_pageable(call))
        return false;
    gphi_rhythm_place *place = gphi_rhythm_place_of(r);
    gphi_window_kind kind;
    if (!place || !gphi_rhythm_due(r, place, &kind))
        return false;
    (void)pthread_mutex_lock(&t.lock);
    if (atomic_load(&t.set_up) == 2 && t.done < WINDOWS_MAX &&
        t.host.open_captures() == 0 && read_window_locked() &&
        t.cu.ctx_current(&context) == CUDA_SUCCESS && context == t.context) {
        const uint64_t most = kind == GPHI_WINDOW_HELD ? CALLS_MAX : GPHI_TIMING_NODES;
        /* short repetitions are measured several at a time */
        t.target = r->period;
        while (t.target < CALLS_MIN && !r->has_waits)
            t.target += r->period;
        t.target = t.target > most ? most : t.target;
        t.kind = kind;
        place->count[kind]++;
        t.done++;
        taken = open_locked(r, call, (uint32_t)(place - r->places));
        if (kind == GPHI_WINDOW_GRAPH && !taken)
            place->may[kind] = false;
    }
    (void)pthread_mutex_unlock(&t.lock);
    return taken;
}

static void end_build(uint32_t window)
{
    (void)pthread_mutex_lock(&t.lock);
    if (atomic_load(&t.window) == window && atomic_load(&t.state) == BUILT)
        run_graph_locked(false);
    (void)pthread_mutex_unlock(&t.lock);
}

/* Until it has ended, or nothing more goes into it. */
static void wait_for_window(uint32_t window)
{
    uint32_t taken = atomic_load(&t.taken);
    int idle = 0;
    for (int turn = 0; turn < build_turns_max && idle < build_turns; turn++) {
        const struct timespec pause = {.tv_nsec = (long)watchdog_ns};
        (void)nanosleep(&pause, NULL);
        if (atomic_load(&t.window) != window || atomic_load(&t.state) != BUILT)
            return;
        idle = atomic_load(&t.taken) == taken ? idle + 1 : 0;
        taken = atomic_load(&t.taken);
    }
}

/* Ends a window that nobody else has ended: the host may wait without a call. */
static void *watch(void *unused)
{
    (void)unused;
    for (;;) {
        while (sem_wait(&t.wake) != 0 && errno == EINTR)
            ;
        const uint32_t window = atomic_load(&t.window);
        wait_for_window(window);
        if (atomic_load(&t.window) == window)
            (void)release();
        end_build(window);
    }
    return NULL;
}

/* ---- setting up ---- */

static void put_anchors(const uint64_t *anchors)
{
    uint64_t words[3 + GPHI_ANCHOR_COUNT] = {GPHI_GPU_ANCHORS};
    memcpy(words + 3, anchors, GPHI_ANCHOR_COUNT * sizeof(*anchors));
    put_record(words, 3 + GPHI_ANCHOR_COUNT, 0, 0);
}

static void put_failure(CUresult result, const char *call)
{
    uint64_t words[3 + 4] = {GPHI_GPU_ANCHORS, (uint64_t)result};
    snprintf((char *)&words[3], 32, "%s", call);
    put_record(words, 3 + 4, 0, 0);
}

/* Whether a call went well; if not, says which. */
static bool is_good(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS)
        put_failure(result, call);
    return result == CUDA_SUCCESS;
}

/* What a context needs. `word`: host memory that streams wait for. */
static bool set_up(CUcontext context, void *word)
{
    uint64_t anchors[GPHI_ANCHOR_COUNT] = {0};
    if (!is_good(t.cu.device_pointer(&t.gate.at, word, 0), "cuMemHostGetDevicePointer"))
        return false;
    t.gate.word = word;
    atomic_store(t.gate.word, 0);
    t.context = context;
    bool good = is_good(t.cu.event_create(&t.begin, CU_EVENT_DEFAULT), "cuEventCreate");
    for (int i = 0; good && i < GPHI_TIMING_STREAMS; i++)
        good = is_good(t.cu.event_create(&t.ends[i], CU_EVENT_DEFAULT), "cuEventCreate");
    if (!good)
        return false;
    if (t.is_watched) /* measured, too: an earlier context has ended */
        return true;
    const gphi_timing_failure failure = gphi_timing_anchors(&t.cu, &t.gate, anchors);
    if (failure.call) {
        put_failure(failure.result, failure.call);
        return false;
    }
    pthread_t watcher;
    if (sem_init(&t.wake, 0, 0) != 0 ||
        pthread_create(&watcher, NULL, watch, NULL) != 0) {
        put_failure(CUDA_ERROR_OPERATING_SYSTEM, "pthread_create");
        return false;
    }
    (void)pthread_detach(watcher);
    t.is_watched = true;
    put_anchors(anchors);
    return true;
}

/* Before the first call that works in a context: everything else comes after. */
static bool is_set_up(uint32_t call)
{
    CUcontext context = NULL;
    int not_yet = 0;
    const int now = atomic_load(&t.set_up);
    if (now != 0)
        return now == 2;
    if (call == GPHI_CALL_cuInit || t.host.open_captures() != 0 ||
        t.cu.ctx_current(&context) != CUDA_SUCCESS || !context)
        return false;
    if (!atomic_compare_exchange_strong(&t.set_up, &not_yet, 1))
        return false;
    void *word = NULL;
    const CUresult result = t.cu.host_alloc(&word, 64, CU_MEMHOSTALLOC_DEVICEMAP);
    if (result == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        atomic_store(&t.set_up, 0); /* a primary one that is not retained yet */
    else
        atomic_store(&t.set_up,
                     is_good(result, "cuMemHostAlloc") && set_up(context, word) ? 2 : 3);
    return atomic_load(&t.set_up) == 2;
}

static bool ends_context(uint32_t call)
{
    return call == GPHI_CALL_cuDevicePrimaryCtxRelease ||
           call == GPHI_CALL_cuDevicePrimaryCtxReset || call == GPHI_CALL_cuCtxDestroy;
}

/* Ahead of a call that may end the context: gives back what is ours in it. The next call
 * that works sets up again. */
static void leave_context(void)
{
    CUcontext ignored;
    (void)pthread_mutex_lock(&t.lock);
    if (atomic_load(&t.set_up) == 2) {
        if (atomic_load(&t.state) == BUILT)
            run_graph_locked(false);
        (void)release();
        atomic_store(&t.set_up, t.host.open_captures() == 0 ? 0 : 3);
        atomic_store(&t.state, CLOSED);
        while (atomic_load(&t.releasing) != 0) /* the watchdog, at the word */
            (void)sched_yield();
    }
    if (atomic_load(&t.set_up) == 0 && t.gate.word &&
        t.cu.ctx_push(t.context) == CUDA_SUCCESS) {
        gphi_timing_graph_drop(&t.graph);
        (void)t.cu.event_destroy(t.begin);
        for (int i = 0; i < GPHI_TIMING_STREAMS; i++)
            (void)t.cu.event_destroy(t.ends[i]);
        (void)t.cu.host_free((void *)t.gate.word);
        t.gate.word = NULL;
        (void)t.cu.ctx_pop(&ignored);
    }
    (void)pthread_mutex_unlock(&t.lock);
}

bool gphi_timing_start(const gphi_timing_host *host)
{
    const char *asked = getenv("GPH_DOCTOR_ADVISE");
    if (!asked || strcmp(asked, "1") != 0)
        return false;
    t.host = *host;
#define X(name, symbol)                                                                  \
    {                                                                                    \
        void *found = host->find(#symbol);                                               \
        if (!found) {                                                                    \
            put_failure(CUDA_ERROR_NOT_FOUND, #symbol);                                  \
            return false;                                                                \
        }                                                                                \
        memcpy(&t.cu.name, &found, sizeof(found));                                       \
    }
    GPHI_TIMING_CALLS(X)
#undef X
    t.graph.cu = &t.cu;
    atomic_store(&gphi_timing_is_on, true);
    return true;
}

void gphi_timing_forget(void)
{
    atomic_store(&gphi_timing_is_on, false);
}

/* ---- the two hooks ---- */

bool gphi_timing_before(uint32_t call, const uint64_t *words, uint32_t flags)
{
    gphi_rhythm *r;
    bool taken = false;
    if (ends_context(call)) {
        leave_context();
        return false;
    }
    if (!is_set_up(call))
        return false;
    const gphi_timing_call now = gphi_timing_call_of(call, words, flags);
    if (now.class == GPHI_NOISE || !(r = gphi_owner_enter(&t.cu, t.context)))
        return false;
    const int state = atomic_load(&t.state);
    is_disturbed = state == HELD || state == BUILT;
    if (is_disturbed)
        taken = in_window(r, &now);
    const int then = atomic_load(&t.state);
    if ((now.class == GPHI_WORK || (now.class == GPHI_ORDER && r->after_wait)) &&
        then != HELD && then != BUILT) {
        taken = maybe_open(r, &now);
        is_disturbed |= atomic_load(&t.state) == HELD || atomic_load(&t.state) == BUILT;
    }
    gphi_rhythm_beat(r, &now);
    return taken;
}

/* While a window is open: what is in it. */
static void count_call(gphi_timing_class class, const gphi_timing_end *end)
{
    (void)pthread_mutex_lock(&t.lock);
    if (t.owner == gphi_owner_rhythm() && class == GPHI_WORK) {
        t.calls++;
        t.last_ns = end->end_ns;
    }
    (void)pthread_mutex_unlock(&t.lock);
}

/* What the wrapper has added to a call until now. */
static uint64_t added_ns(const gphi_timing_end *end)
{
    const uint64_t all = gphi_span_ns(end->enter_ns, gphi_clock_ns());
    const uint64_t driver = gphi_span_ns(end->begin_ns, end->end_ns);
    return all > driver ? all - driver : 0;
}

static void read_window(void)
{
    (void)pthread_mutex_lock(&t.lock);
    (void)read_window_locked();
    (void)pthread_mutex_unlock(&t.lock);
    is_disturbed = true;
}

static void look_after(uint32_t call, const gphi_timing_end *end)
{
    gphi_rhythm *r = gphi_owner_rhythm();
    if (atomic_load(&t.set_up) != 2 || !r)
        return;
    const gphi_timing_class class = gphi_timing_class_of(call);
    if (class == GPHI_NOISE) {
        beside_ns += added_ns(end);
        return;
    }
    const int state = atomic_load(&t.state);
    if (state == HELD || state == BUILT)
        count_call(class, end);
    else if (class == GPHI_STOP && state == LET_GO && t.host.open_captures() == 0)
        read_window();
    gphi_rhythm_cost(r, added_ns(end) + beside_ns, is_disturbed);
    beside_ns = 0;
    is_disturbed = false;
}

void gphi_timing_beside(uint64_t ns)
{
    beside_ns += ns;
}

void gphi_timing_after(uint32_t call, const gphi_timing_end *end)
{
    look_after(call, end);
    gphi_owner_leave();
}
