// SPDX-License-Identifier: Apache-2.0
/* When work that used freed memory has ended: an event after each free of eager memory.
 *
 * Events are recorded only by the call that names the stream, since a handle that was
 * kept may be dead by then, and never in a stream that is captured. */
#include "base/fail.h"
#include "cuda/status.h"
#include "memory/arena.h"

/* Streams come and go; so many are remembered before places are used again. */
enum { STREAMS_KEPT = 64 };

static struct gphi_stream *stream_at(const gph_arena *arena, uint32_t index)
{
    return gphi_vec_at(&arena->streams, index);
}

/* Of a captured stream, too: a driver before CUDA 13.0 counts the question as unsafe. */
struct gphi_home gphi_stream_home(const gph_arena *arena, CUstream stream)
{
    const gphi_cuda_table *cu = &arena->runtime->cu;
    struct gphi_home home = {NULL, -1};
    CUcontext popped = NULL;
    CUdevice device = -1;
    if (arena->is_alone)
        return home;
    const CUstreamCaptureMode before = gphi_relax(cu);
    if (cu->cuStreamGetCtx(stream, &home.context) != CUDA_SUCCESS)
        home.context = NULL;
    if (home.context && cu->cuCtxPushCurrent(home.context) == CUDA_SUCCESS) {
        if (cu->cuCtxGetDevice(&device) == CUDA_SUCCESS)
            home.device = device;
        gphi_ignore((gph_status)cu->cuCtxPopCurrent(&popped), "it was pushed");
    }
    gphi_unrelax(cu, before);
    return home;
}

gph_status gphi_home_check(const gph_arena *arena, const char *pool, CUstream stream,
                           struct gphi_home home, gph_error *error)
{
    if (home.device == -1 || home.device == arena->device)
        return GPH_OK;
    return gphi_fail(error, GPH_E_INVALID,
                     "pool %s is of device %d, stream %p of device %d", pool,
                     arena->device, (void *)stream, home.device);
}

/* Where there are many, the place of one with no work: all of its tickets have ended, and
 * still have when the place is another's. */
static struct gphi_stream *find_quiet(gph_arena *arena)
{
    if (arena->streams.count < STREAMS_KEPT)
        return NULL;
    gphi_streams_poll(arena);
    for (uint32_t i = 0; i < arena->streams.count; i++)
        if (stream_at(arena, i)->count == 0)
            return stream_at(arena, i);
    return NULL;
}

gph_status gphi_stream_find(gph_arena *arena, CUstream stream, uint32_t *out,
                            gph_error *error)
{
    unsigned long long id = 0;
    GPHI_TRY(gphi_cuda_check(error, arena->runtime->cu.cuStreamGetId(stream, &id),
                             "cuStreamGetId", "stream %p", (void *)stream));
    for (size_t i = arena->streams.count; i-- > 0;)
        if (stream_at(arena, (uint32_t)i)->id == id) {
            *out = (uint32_t)i;
            return GPH_OK;
        }
    struct gphi_stream *fresh = find_quiet(arena);
    if (!fresh)
        fresh = gphi_vec_add(&arena->streams, 1);
    GPHI_TRY(gphi_made(error, fresh, "knowing stream %p", (void *)stream));
    fresh->id = id;
    fresh->home = gphi_stream_home(arena, stream);
    fresh->ended = arena->ticket; /* none of them is its own */
    *out = (uint32_t)(fresh - stream_at(arena, 0));
    return GPH_OK;
}

/* Events are used again: making one is a call, and there is one a free. Each is of one
 * context, and recorded in streams of it alone. */
static gph_status take_event(gph_arena *arena, CUcontext context, CUevent *out,
                             gph_error *error)
{
    struct gphi_spare_event *spare = arena->events.items;
    for (size_t i = arena->events.count; i-- > 0;)
        if (spare[i].context == context) {
            *out = spare[i].event;
            spare[i] = spare[--arena->events.count];
            return GPH_OK;
        }
    /* Room for all that exist, so that giving one back cannot fail. */
    const size_t most = arena->streams.count * GPHI_MARKS_MAX + arena->events.count + 1;
    if (arena->events.capacity < most && gphi_vec_reserve(&arena->events, most) != GPH_OK)
        return gphi_fail(error, GPH_E_NO_MEMORY, "keeping events");
    return gphi_cuda_check(error, gphi_event_create(&arena->runtime->cu, context, out),
                           "cuEventCreate", "an event after a free");
}

static void put_event(gph_arena *arena, CUcontext context, CUevent event)
{
    *(struct gphi_spare_event *)gphi_vec_add(&arena->events, 1) =
        (struct gphi_spare_event){context, event};
}

gph_status gphi_stream_mark(gph_arena *arena, uint32_t index, CUstream stream,
                            uint64_t *ticket, gph_error *error)
{
    struct gphi_stream *s = stream_at(arena, index);
    /* A full ring: the newest event moves up to now, and covers the older work too. */
    const bool is_full = s->count == GPHI_MARKS_MAX;
    struct gphi_mark mark = {0};
    struct gphi_mark *newest =
        &s->marks[(s->head + s->count + GPHI_MARKS_MAX - 1) % GPHI_MARKS_MAX];
    if (is_full)
        mark = *newest;
    else
        GPHI_TRY(take_event(arena, s->home.context, &mark.event, error));
    const CUresult result = arena->runtime->cu.cuEventRecord(mark.event, stream);
    if (result != CUDA_SUCCESS) {
        if (!is_full)
            put_event(arena, s->home.context, mark.event);
        return gphi_cuda_fail(error, (gph_status)result, "cuEventRecord",
                              "after a free in stream %p", (void *)stream);
    }
    mark.last = ++arena->ticket;
    if (!is_full) {
        mark.first = mark.last;
        newest = &s->marks[(s->head + s->count++) % GPHI_MARKS_MAX];
    }
    *newest = mark;
    *ticket = mark.last;
    return GPH_OK;
}

void gphi_streams_poll(gph_arena *arena)
{
    const CUstreamCaptureMode before = gphi_relax(&arena->runtime->cu);
    for (uint32_t i = 0; i < arena->streams.count; i++) {
        struct gphi_stream *s = stream_at(arena, i);
        while (s->count > 0) {
            const struct gphi_mark *oldest = &s->marks[s->head];
            if (arena->runtime->cu.cuEventQuery(oldest->event) != CUDA_SUCCESS)
                break; /* not ready, or no longer known */
            s->ended = oldest->last;
            put_event(arena, s->home.context, oldest->event);
            s->head = (s->head + 1) % GPHI_MARKS_MAX;
            s->count--;
        }
        if (s->count == 0)
            s->ended = arena->ticket;
    }
    gphi_unrelax(&arena->runtime->cu, before);
}

uint64_t gphi_streams_all_ended(const gph_arena *arena)
{
    uint64_t ended = arena->ticket;
    for (uint32_t i = 0; i < arena->streams.count; i++) {
        const struct gphi_stream *s = stream_at(arena, i);
        if (s->count > 0 && s->marks[s->head].first <= ended)
            ended = s->marks[s->head].first - 1;
    }
    return ended;
}

void gphi_streams_fini(gph_arena *arena)
{
    const gphi_cuda_table *cu = &arena->runtime->cu;
    for (uint32_t i = 0; i < arena->streams.count; i++) {
        struct gphi_stream *s = stream_at(arena, i);
        for (uint32_t k = 0; k < s->count; k++)
            gphi_ignore((gph_status)cu->cuEventDestroy(
                            s->marks[(s->head + k) % GPHI_MARKS_MAX].event),
                        "the arena goes");
    }
    GPHI_EACH (const struct gphi_spare_event, spare, &arena->events)
        gphi_ignore((gph_status)cu->cuEventDestroy(spare->event), "the arena goes");
    gphi_vec_fini(&arena->events);
    gphi_vec_fini(&arena->streams);
}
