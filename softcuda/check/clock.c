// SPDX-License-Identifier: Apache-2.0
/* Clocks: merged when something is submitted, waited for or recorded. */
#include "softcuda/check/clock.h"

#include <string.h>

#include "base/heap.h"

void soft_clocks_init(struct clocks *clocks, gph_allocator heap)
{
    *clocks = (struct clocks){.heap = heap};
    gphi_map_init(&clocks->lanes, heap);
}

void soft_clocks_fini(struct clocks *clocks)
{
    for (struct lane *lane = clocks->list, *next; lane; lane = next) {
        next = lane->next;
        gphi_heap_free(clocks->heap, lane, sizeof(*lane));
    }
    gphi_map_fini(&clocks->lanes);
}

/* True: it has grown. */
static bool merge(struct clock *into, const struct clock *from)
{
    bool grew = false;
    for (int i = 0; i < CLOCK_COLUMNS; i++)
        if (from->at[i] > into->at[i]) {
            into->at[i] = from->at[i];
            grew = true;
        }
    return grew;
}

static struct lane *find(const struct clocks *clocks, const soft_queue *queue)
{
    return gphi_map_pointer(&clocks->lanes, (uint64_t)(uintptr_t)queue);
}

static struct lane *find_or_make(struct clocks *clocks, const soft_queue *queue)
{
    struct lane *lane = find(clocks, queue);
    if (lane || clocks->is_lost)
        return lane;
    lane = gphi_heap_alloc(clocks->heap, sizeof(*lane));
    if (!lane || gphi_map_set(&clocks->lanes, (uint64_t)(uintptr_t)queue,
                              (uint64_t)(uintptr_t)lane) != GPH_OK) {
        gphi_heap_free(clocks->heap, lane, sizeof(*lane));
        clocks->is_lost = true;
        return NULL;
    }
    *lane = (struct lane){.next = clocks->list, .queue = queue, .column = -1};
    clocks->list = lane;
    return lane;
}

struct lane *soft_clocks_lane(struct clocks *clocks, const soft_queue *queue)
{
    struct lane *lane = find_or_make(clocks, queue);
    if (!lane || lane->column >= 0)
        return lane;
    if (clocks->columns == CLOCK_COLUMNS) {
        clocks->is_lost = true;
        return NULL;
    }
    lane->column = clocks->columns++;
    clocks->queues[lane->column] = queue;
    return lane;
}

/* All that is submitted by now. */
static struct clock all(const struct clocks *clocks)
{
    struct clock out = {0};
    for (int i = 0; i < clocks->columns; i++)
        out.at[i] = soft_queue_tail(clocks->queues[i]).sequence;
    return out;
}

/* The last change that holds at `sequence`; of those that are forgotten the oldest kept. */
static const struct clock *at(const struct change *changes, uint32_t count,
                              uint64_t sequence)
{
    const struct clock *found = count == LANE_CHANGES ? &changes[0].clock : NULL;
    for (uint32_t i = 0; i < count && changes[i].from <= sequence; i++)
        found = &changes[i].clock;
    return found;
}

/* What comes before who waits for a point. */
static struct clock clock_of(const struct clocks *clocks, soft_point point)
{
    struct clock out = {0};
    if (!point.queue || point.sequence == 0)
        return out;
    const struct lane *lane = find(clocks, point.queue);
    if (!lane)
        return all(clocks); /* another process's, perhaps */
    const struct clock *before = at(lane->changes, lane->count, point.sequence);
    if (before)
        out = *before;
    if (lane->column >= 0 && point.sequence > out.at[lane->column])
        out.at[lane->column] = point.sequence;
    return out;
}

/* A change of `changes` from a submission on, which are in order. */
static void add_change(struct change *changes, uint32_t *count, uint64_t from,
                       const struct clock *clock)
{
    if (*count > 0 && changes[*count - 1].from >= from) {
        (void)merge(&changes[*count - 1].clock, clock);
        return;
    }
    struct clock whole = *clock;
    if (*count > 0)
        (void)merge(&whole, &changes[*count - 1].clock);
    if (*count == LANE_CHANGES)
        memmove(changes, changes + 1, --*count * sizeof(*changes));
    changes[(*count)++] = (struct change){from, whole};
}

static void change_lane(struct lane *lane, uint64_t from, const struct clock *clock)
{
    struct clock now = {0};
    if (lane->count > 0)
        now = lane->changes[lane->count - 1].clock;
    if (merge(&now, clock))
        add_change(lane->changes, &lane->count, from, &now);
}

void soft_clocks_after(struct clocks *clocks, const soft_queue *queue, soft_point point)
{
    struct lane *lane = find_or_make(clocks, queue);
    if (!lane || point.queue == queue)
        return;
    const struct clock before = clock_of(clocks, point);
    change_lane(lane, soft_queue_tail(queue).sequence + 1, &before);
}

void soft_clocks_alias(struct clocks *clocks, soft_point point, soft_point of)
{
    struct lane *lane = point.queue ? find_or_make(clocks, point.queue) : NULL;
    const struct clock before = clock_of(clocks, of);
    if (lane)
        change_lane(lane, point.sequence, &before);
}

void soft_clocks_waited(struct clocks *clocks, soft_point point)
{
    const struct clock before = clock_of(clocks, point);
    if (merge(&clocks->host, &before))
        clocks->waits++;
}

void soft_clocks_leave(struct clocks *clocks, soft_point last)
{
    const struct clock before = clock_of(clocks, last);
    (void)merge(&clocks->gone, &before);
}

void soft_clocks_after_gone(struct clocks *clocks, const soft_queue *queue)
{
    struct lane *lane = find_or_make(clocks, queue);
    if (lane)
        change_lane(lane, soft_queue_tail(queue).sequence + 1, &clocks->gone);
}

void soft_clocks_waited_gone(struct clocks *clocks)
{
    if (merge(&clocks->host, &clocks->gone))
        clocks->waits++;
}

struct clock soft_clocks_next(struct clocks *clocks, struct lane *lane)
{
    struct clock now = {0};
    const uint64_t next = soft_queue_tail(lane->queue).sequence + 1;
    if (lane->host_seen != clocks->waits) {
        lane->host_seen = clocks->waits;
        change_lane(lane, next, &clocks->host);
    }
    if (lane->count > 0)
        now = lane->changes[lane->count - 1].clock;
    now.at[lane->column] = next - 1;
    now.number = ++clocks->numbers;
    return now;
}

void soft_clocks_acquire(struct clocks *clocks, struct lane *lane, uint64_t from)
{
    const struct clock now = all(clocks);
    add_change(lane->acquired, &lane->acquired_count, from, &now);
}

void soft_clocks_flag(struct clocks *clocks, const struct clock *by, int column,
                      uint64_t sequence)
{
    struct clock now = *by;
    if (sequence > now.at[column])
        now.at[column] = sequence;
    add_change(clocks->flagged, &clocks->flagged_count, by->number, &now);
}

bool soft_clocks_before(const struct clocks *clocks, int column, uint64_t sequence,
                        const struct clock *after)
{
    if (after->at[column] >= sequence)
        return true;
    const struct clock *flagged =
        at(clocks->flagged, clocks->flagged_count, after->number - 1);
    if (flagged && flagged->at[column] >= sequence)
        return true;
    for (const struct lane *lane = clocks->list; lane; lane = lane->next) {
        const struct clock *acquired =
            lane->acquired_count == 0
                ? NULL
                : at(lane->acquired, lane->acquired_count, after->at[lane->column]);
        if (acquired && acquired->at[column] >= sequence)
            return true;
    }
    return false;
}
