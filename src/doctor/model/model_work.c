// SPDX-License-Identifier: Apache-2.0
/* Which work ends before which: a vector clock a lane (a stream, mostly), joined by waits
 * for events, by the legacy stream and by what the host waits for. Work remembers the
 * clock it began with; clocks are shared until they change.
 *
 * In doubt work counts as ordered: a wrong "unordered" would be a false alarm. */
#include "base/fail.h"
#include "base/heap.h"
#include "doctor/model/model_state.h"

#include <string.h>

static size_t clock_bytes(uint32_t count)
{
    return sizeof(model_clock) + count * sizeof(uint64_t);
}

static uint64_t clock_at(const model_clock *clock, uint32_t lane)
{
    return clock && lane < clock->count ? clock->at[lane] : 0;
}

void gphi_clock_drop(gphi_model *model, model_clock **clock)
{
    if (*clock && --(*clock)->refs == 0)
        gphi_heap_free(model->heap, *clock, clock_bytes((*clock)->count));
    *clock = NULL;
}

static model_clock *clock_hold(model_clock *clock)
{
    if (clock)
        clock->refs++;
    return clock;
}

static void clock_replace(gphi_model *model, model_clock **clock, model_clock *by)
{
    by = clock_hold(by);
    gphi_clock_drop(model, clock);
    *clock = by;
}

/* Makes it our own, with room for `count` lanes. */
static gph_status clock_open(gphi_model *model, model_clock **clock, uint32_t count)
{
    model_clock *old = *clock;
    if (old && old->refs == 1 && old->count >= count)
        return GPH_OK;
    if (old && old->count > count)
        count = old->count;
    model_clock *made = gphi_heap_alloc(model->heap, clock_bytes(count));
    if (!made)
        return GPH_E_NO_MEMORY;
    made->refs = 1;
    made->count = count;
    for (uint32_t i = 0; old && i < old->count; i++)
        made->at[i] = old->at[i];
    gphi_clock_drop(model, clock);
    *clock = made;
    return GPH_OK;
}

gph_status gphi_clock_join(gphi_model *model, model_clock **into, const model_clock *from,
                           uint32_t lane, uint64_t last)
{
    const uint32_t of_from = from ? from->count : 0;
    bool is_news = lane < LANES && clock_at(*into, lane) < last;
    uint32_t count = is_news ? lane + 1 : 0;
    for (uint32_t i = 0; i < of_from; i++) {
        if (from->at[i] <= clock_at(*into, i))
            continue;
        is_news = true;
        count = count > i + 1 ? count : i + 1;
    }
    if (!is_news)
        return GPH_OK;
    GPHI_TRY(clock_open(model, into, count));
    model_clock *clock = *into;
    for (uint32_t i = 0; i < of_from && i < clock->count; i++)
        if (clock->at[i] < from->at[i])
            clock->at[i] = from->at[i];
    if (lane < LANES && lane < clock->count && clock->at[lane] < last)
        clock->at[lane] = last;
    return GPH_OK;
}

/* ---- lanes ---- */

/* A stream gets its lane when it is used: libraries make many streams and use few. */
static model_lane *lane_of(gphi_model *model, model_stream *stream)
{
    model_lane *lanes = model->own->lanes;
    if (stream->lane != LANE_NONE)
        return &lanes[stream->lane];
    uint32_t best = 0;
    for (uint32_t i = 0; i < LANES; i++) { /* unused, unless all are: the least shared */
        if (lanes[i].streams < lanes[best].streams)
            best = i;
        if (lanes[best].streams == 0)
            break;
    }
    model_lane *lane = &lanes[best];
    const bool is_shared = lane->streams > 0;
    lane->is_blocking = stream->seen.is_blocking || (is_shared && lane->is_blocking);
    lane->is_legacy = stream->seen.is_legacy || (is_shared && lane->is_legacy);
    lane->streams++;
    stream->lane = best;
    return lane;
}

uint64_t gphi_lane_last(const gphi_model *model, const model_stream *stream)
{
    return stream->lane != LANE_NONE ? model->own->lanes[stream->lane].last : 0;
}

void gphi_lane_drop(gphi_model *model, uint32_t lane)
{
    if (lane < LANES && model->own->lanes[lane].streams > 0)
        model->own->lanes[lane].streams--;
}

gph_status gphi_lane_wait(gphi_model *model, model_stream *stream,
                          const model_clock *clock)
{
    return gphi_clock_join(model, &lane_of(model, stream)->clock, clock, LANE_NONE, 0);
}

/* What waits for every other lane: work on the legacy stream (for blocking ones), a wait
 * for a word of memory (in doubt for all). */
static gph_status lane_wait_many(gphi_model *model, model_lane *lane, bool for_all)
{
    for (uint32_t i = 0; i < LANES; i++) {
        const model_lane *other = &model->own->lanes[i];
        if (other != lane && other->last > 0 && (for_all || other->is_blocking))
            GPHI_TRY(gphi_clock_join(model, &lane->clock, other->clock, i, other->last));
    }
    return GPH_OK;
}

static gph_status wait_for_legacy(gphi_model *model, model_lane *lane)
{
    for (uint32_t i = 0; i < LANES; i++) {
        const model_lane *legacy = &model->own->lanes[i];
        if (!legacy->is_legacy || legacy == lane || legacy->last == lane->legacy_seen)
            continue;
        lane->legacy_seen = legacy->last;
        GPHI_TRY(gphi_clock_join(model, &lane->clock, legacy->clock, i, legacy->last));
    }
    return GPH_OK;
}

/* Takes in what the legacy stream's rules make it wait for. */
static gph_status lane_settle(gphi_model *model, model_lane *lane)
{
    if (lane->is_legacy)
        return lane_wait_many(model, lane, false);
    return lane->is_blocking ? wait_for_legacy(model, lane) : GPH_OK;
}

gph_status gphi_lane_now(gphi_model *model, model_stream *stream, model_clock **out)
{
    model_lane *lane = lane_of(model, stream);
    GPHI_TRY(lane_settle(model, lane));
    clock_replace(model, out, lane->clock);
    return gphi_clock_join(model, out, NULL, stream->lane, lane->last);
}

/* ---- the host ---- */

gph_status gphi_host_wait_clock(gphi_model *model, const model_clock *clock)
{
    model->own->host_version++;
    return gphi_clock_join(model, &model->own->host, clock, LANE_NONE, 0);
}

gph_status gphi_host_wait_stream(gphi_model *model, model_stream *stream)
{
    model_lane *lane = lane_of(model, stream);
    GPHI_TRY(lane_settle(model, lane));
    model->own->host_version++;
    return gphi_clock_join(model, &model->own->host, lane->clock, stream->lane,
                           lane->last);
}

gph_status gphi_host_wait_all(gphi_model *model)
{
    model->own->host_version++;
    for (uint32_t i = 0; i < LANES; i++)
        GPHI_TRY(gphi_clock_join(model, &model->own->host, NULL, i,
                                 model->own->lanes[i].last));
    return GPH_OK;
}

/* ---- work ---- */

static model_work *work_place(const gphi_model *model, uint64_t number)
{
    const struct gphi_model_private *own = model->own;
    if (number == 0 || number > model->work_count || own->work_room == 0 ||
        model->work_count - number >= own->work_room)
        return NULL;
    return &own->works[(number - 1) & (own->work_room - 1)];
}

bool gphi_lane_has(gphi_model *model, model_stream *stream, uint64_t work)
{
    const model_work *place = work_place(model, work);
    model_lane *lane = lane_of(model, stream);
    if (!place || place->lane == LANE_NONE || place->lane == stream->lane ||
        lane_settle(model, lane) != GPH_OK)
        return true;
    return clock_at(lane->clock, place->lane) >= work ||
           clock_at(model->own->host, place->lane) >= work;
}

/* Twice the room, until WORK_KEPT; the ring is full when it is called. */
static gph_status work_grow(gphi_model *model)
{
    struct gphi_model_private *own = model->own;
    const size_t room = own->work_room == 0 ? 64 : own->work_room * 2;
    model_work *made = gphi_heap_array(model->heap, room, sizeof(*made));
    if (!made)
        return GPH_E_NO_MEMORY;
    for (uint64_t number = 1; number <= model->work_count; number++) {
        const model_work *old = work_place(model, number);
        if (old)
            made[(number - 1) & (room - 1)] = *old;
    }
    gphi_heap_free(model->heap, own->works, own->work_room * sizeof(*made));
    own->works = made;
    own->work_room = room;
    return GPH_OK;
}

static bool waits_for_memory(uint32_t call)
{
    return call == GPHI_CALL_cuStreamWaitValue32 ||
           call == GPHI_CALL_cuStreamWaitValue64 ||
           call == GPHI_CALL_cuStreamBatchMemOp ||
           call == GPHI_CALL_cuWaitExternalSemaphoresAsync;
}

static gph_status work_waits(gphi_model *model, model_stream *stream, uint32_t call)
{
    struct gphi_model_private *own = model->own;
    model_lane *lane = lane_of(model, stream);
    if (lane->host_seen != own->host_version) {
        lane->host_seen = own->host_version;
        GPHI_TRY(gphi_clock_join(model, &lane->clock, own->host, LANE_NONE, 0));
    }
    GPHI_TRY(lane_settle(model, lane));
    if (waits_for_memory(call))
        GPHI_TRY(lane_wait_many(model, lane, true));
    return GPH_OK;
}

gph_status gphi_work_add(gphi_model *model, model_stream *stream, const gphi_work *work,
                         gphi_work **out)
{
    struct gphi_model_private *own = model->own;
    if (model->work_count >= own->work_room && own->work_room < WORK_KEPT)
        GPHI_TRY(work_grow(model));
    if (!work->is_captured)
        GPHI_TRY(work_waits(model, stream, work->call.call));
    model->work_count++;
    model_work *place = work_place(model, model->work_count);
    gphi_clock_drop(model, &place->clock);
    *place = (model_work){.seen = *work, .lane = LANE_NONE};
    place->seen.number = model->work_count;
    place->seen.stream = &stream->seen;
    if (!work->is_captured) {
        model_lane *lane = lane_of(model, stream);
        place->clock = clock_hold(lane->clock);
        place->lane = stream->lane;
        lane->last = model->work_count;
    }
    *out = &place->seen;
    return GPH_OK;
}

void gphi_work_fini(gphi_model *model)
{
    struct gphi_model_private *own = model->own;
    for (size_t i = 0; i < own->work_room; i++)
        gphi_clock_drop(model, &own->works[i].clock);
    gphi_heap_free(model->heap, own->works, own->work_room * sizeof(*own->works));
    for (uint32_t i = 0; i < LANES; i++)
        gphi_clock_drop(model, &own->lanes[i].clock);
    gphi_clock_drop(model, &own->host);
}

bool gphi_model_ordered(const gphi_model *model, uint64_t a, uint64_t b)
{
    const model_work *first = work_place(model, a);
    if (!first) /* long ago, or nothing */
        return a <= model->work_count;
    if (first->lane == LANE_NONE)
        return false; /* captured: it never ran itself */
    if (b == GPHI_WORK_NOW)
        return clock_at(model->own->host, first->lane) >= a;
    const model_work *second = work_place(model, b);
    if (!second || b <= a || second->lane == LANE_NONE)
        return false;
    return second->lane == first->lane || clock_at(second->clock, first->lane) >= a;
}

const gphi_work *gphi_model_work(const gphi_model *model, uint64_t number)
{
    const model_work *place = work_place(model, number);
    return place ? &place->seen : NULL;
}

const gphi_work *gphi_model_work_next(const gphi_model *model, uint64_t after)
{
    const uint64_t room = model->own->work_room;
    const uint64_t oldest = model->work_count > room ? model->work_count - room + 1 : 1;
    const uint64_t number = after + 1 > oldest ? after + 1 : oldest;
    return after >= model->work_count ? NULL : gphi_model_work(model, number);
}
