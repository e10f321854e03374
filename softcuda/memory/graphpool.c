// SPDX-License-Identifier: Apache-2.0
/* What backs the addresses of graphs: segments of a pool of the device, bound to
 * arenas when a graph is uploaded or launched.
 *
 *   bind   1. keep    segments that nobody else uses now
 *          2. find    for the others: a segment of the pool whose work is done or comes
 *                     before in the same queue; a new one; one to wait for
 *          3. map     slots whose chunk is not the segment's
 *
 * An arena is mapped again only when nothing runs in it: where something does, the launch
 * waits for the other user of its segment instead. Memory that is live belongs to one
 * arena; others that had its segment before get another one at their next launch. */
#include <string.h>
#include <sys/mman.h>

#include "base/heap.h"
#include "base/vec.h"
#include "softcuda/memory/grapharena.h"

static bool reserve_use(const soft_memory *memory, struct graph_use *use, uint32_t more)
{
    soft_graph_use_drop_reached(use);
    void *fresh = gphi_array_room(memory->heap, use->points, &use->capacity,
                                  (size_t)use->count + more, sizeof(*use->points));
    if (!fresh)
        return false;
    use->points = fresh;
    return true;
}

/* There is room: reserved by the bind, one for the launch and one for each free of what
 * it leaves. */
static void add_use(struct graph_use *use, soft_point point, uint64_t owner)
{
    soft_graph_use_drop_reached(use);
    if (soft_point_reached(point))
        return;
    for (uint32_t i = 0; i < use->count; i++)
        if (use->points[i].point.queue == point.queue && use->points[i].owner == owner) {
            if (use->points[i].point.sequence < point.sequence)
                use->points[i].point = point;
            return;
        }
    if (use->count == use->capacity)
        return; /* cannot be: see reserve_points() */
    use->points[use->count].point = point;
    use->points[use->count++].owner = owner;
}

void soft_graph_waits_fini(soft_graph_waits *waits)
{
    if (waits->capacity)
        gphi_heap_free(waits->heap, waits->points,
                       waits->capacity * sizeof(*waits->points));
    *waits = (soft_graph_waits){0};
}

static bool add_wait(const soft_memory *memory, soft_graph_waits *waits, soft_point point)
{
    soft_point *fresh = gphi_array_room(memory->heap, waits->points, &waits->capacity,
                                        waits->count + 1, sizeof(*fresh));
    if (!fresh)
        return false;
    waits->points = fresh;
    waits->heap = memory->heap;
    waits->points[waits->count++] = point;
    return true;
}

static struct graph_segment *new_segment(soft_memory *memory)
{
    struct graph_pool *pool = memory->graphs;
    struct graph_segment *segment = gphi_heap_alloc(memory->heap, sizeof(*segment));
    if (!segment)
        return NULL;
    for (uint32_t i = 0; i < SOFT_SEGMENT_CHUNKS; i++)
        segment->chunks[i] = SOFT_NO_CHUNK;
    segment->made = pool->stamp;
    segment->next = pool->segments;
    pool->segments = segment;
    pool->segment_count++;
    if (pool->segment_count > pool->segment_high)
        pool->segment_high = pool->segment_count;
    return segment;
}

static void give_chunks(soft_memory *memory, struct graph_segment *segment)
{
    struct graph_pool *pool = memory->graphs;
    for (uint32_t i = SOFT_SEGMENT_CHUNKS; i-- > 0;) {
        if (segment->chunks[i] == SOFT_NO_CHUNK)
            continue;
        soft_chunks_give(memory, 1, &segment->chunks[i], true);
        segment->chunks[i] = SOFT_NO_CHUNK;
        pool->chunk_count--;
    }
    pool->used_count -= segment->used != 0;
    segment->used = 0;
}

static void free_segment(soft_memory *memory, struct graph_segment **at)
{
    struct graph_pool *pool = memory->graphs;
    struct graph_segment *segment = *at;
    *at = segment->next;
    give_chunks(memory, segment);
    pool->segment_count--;
    soft_graph_use_fini(memory, &segment->use);
    gphi_heap_free(memory->heap, segment, sizeof(*segment));
}

/* The other arenas that have a segment let go of it; false if something runs in one,
 * which then keeps it until its next launch. */
static bool evict_others(const soft_memory *memory, const struct graph_segment *segment,
                         const soft_graph_arena *mine)
{
    bool all = true;
    for (soft_graph_arena *a = memory->graphs->arenas; a; a = a->after)
        for (uint32_t i = 0; a != mine && i < soft_arena_segments(a); i++) {
            if (a->segments[i] != segment)
                continue;
            if (soft_graph_use_reached(&a->use))
                soft_arena_unbind_segment(a, i);
            else
                all = false;
        }
    return all;
}

void soft_graph_trim(soft_memory *memory)
{
    pthread_mutex_lock(&memory->mutex);
    struct graph_segment **at = memory->graphs ? &memory->graphs->segments : NULL;
    while (at && *at) {
        struct graph_segment *segment = *at;
        if (segment->live > 0 || !soft_graph_use_reached(&segment->use) ||
            !evict_others(memory, segment, NULL))
            at = &segment->next;
        else
            free_segment(memory, at);
    }
    pthread_mutex_unlock(&memory->mutex);
}

void soft_graph_pool_drop(soft_memory *memory)
{
    struct graph_pool *pool = memory->graphs;
    if (!pool)
        return;
    while (pool->arenas) {
        pool->arenas->references = 1;
        soft_arena_drop_reference(pool->arenas);
    }
    while (pool->segments)
        free_segment(memory, &pool->segments);
    gphi_heap_free(memory->heap, pool, sizeof(*pool));
    memory->graphs = NULL;
}

/* ---- binding ----------------------------------------------------------------------- */

/* One bind on one device. */
struct bind {
    const soft_graph_user *user;
    soft_queue *queue;
    soft_memory *memory;
    soft_graph_waits *waits;
};

/* Whether work that goes to the queue now comes after every use of a segment. */
static bool ordered(const struct bind *bind, struct graph_segment *segment)
{
    soft_graph_use_drop_reached(&segment->use);
    for (uint32_t i = 0; i < segment->use.count; i++)
        if (segment->use.points[i].point.queue != bind->queue &&
            segment->use.points[i].owner != bind->user->id)
            return false;
    return true;
}

static bool wait_for(const struct bind *bind, const struct graph_segment *segment)
{
    for (uint32_t i = 0; i < segment->use.count; i++)
        if (segment->use.points[i].point.queue != bind->queue &&
            segment->use.points[i].owner != bind->user->id &&
            !add_wait(bind->memory, bind->waits, segment->use.points[i].point))
            return false;
    return true;
}

static bool has_segment(const soft_graph_arena *arena,
                        const struct graph_segment *segment)
{
    for (uint32_t i = 0; i < soft_arena_segments(arena); i++)
        if (arena->segments[i] == segment)
            return true;
    return false;
}

/* Whether an arena may use a segment for this launch, but for the order. */
static bool allowed(const struct bind *bind, const soft_graph_arena *arena,
                    const struct graph_segment *segment)
{
    if (segment->stamp == bind->memory->graphs->stamp)
        return false; /* another part of the same launch does */
    if (bind->user->alone && segment->binders > 0 && !has_segment(arena, segment))
        return false;
    return segment->live == 0 || segment->holder == arena;
}

static void take(const struct bind *bind, soft_graph_arena *arena, uint32_t index,
                 struct graph_segment *segment)
{
    segment->stamp = bind->memory->graphs->stamp;
    if (arena->segments[index] != segment) {
        soft_arena_unbind_segment(arena, index);
        arena->segments[index] = segment;
        segment->binders++;
    }
    if ((arena->holds[index] & GRAPH_HOLDS) && segment->binders > 1)
        (void)evict_others(bind->memory, segment, arena); /* as far as they can */
}

/* The best segment of the pool for a part that has none it can keep. */
static struct graph_segment *
find_segment(const struct bind *bind, const soft_graph_arena *arena, bool must_be_ordered)
{
    for (struct graph_segment *s = bind->memory->graphs->segments; s; s = s->next)
        if (allowed(bind, arena, s) && (!must_be_ordered || ordered(bind, s)))
            return s;
    return NULL;
}

/* How many chunks a part of an arena needs beyond those that a segment has. */
static uint32_t chunks_short(const soft_graph_arena *arena, uint32_t index,
                             const struct graph_segment *segment)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < SOFT_SEGMENT_CHUNKS; i++) {
        const uint32_t at = index * SOFT_SEGMENT_CHUNKS + i;
        bool needed = false;
        if (at < arena->slot_count)
            (void)soft_arena_slot(arena, at, &needed);
        count += needed && (!segment || segment->chunks[i] == SOFT_NO_CHUNK);
    }
    return count;
}

static bool fill_chunks(soft_graph_arena *arena, uint32_t index)
{
    soft_memory *memory = arena->memory;
    struct graph_pool *pool = memory->graphs;
    struct graph_segment *segment = arena->segments[index];
    if (chunks_short(arena, index, segment) > memory->free_chunk_count)
        return false;
    for (uint32_t i = 0; i < SOFT_SEGMENT_CHUNKS; i++) {
        const uint32_t at = index * SOFT_SEGMENT_CHUNKS + i;
        bool needed = false;
        if (at < arena->slot_count)
            (void)soft_arena_slot(arena, at, &needed);
        if (!needed || segment->chunks[i] != SOFT_NO_CHUNK)
            continue;
        (void)soft_chunks_take(memory, 1, &segment->chunks[i]); /* counted above */
        if (++pool->chunk_count > pool->chunk_high)
            pool->chunk_high = pool->chunk_count;
    }
    return true;
}

static bool is_touched(const soft_graph_arena *arena, uint32_t index)
{
    for (uint32_t r = 0; r < arena->region_count; r++) {
        const struct graph_region *region = &arena->regions[r];
        const uint32_t first = region->first / SOFT_SEGMENT_CHUNKS;
        const uint32_t end = (region->first + region->touched + SOFT_SEGMENT_CHUNKS - 1) /
                             SOFT_SEGMENT_CHUNKS;
        if (region->touched > 0 && index >= first && index < end)
            return true;
    }
    return false;
}

/* What allocations touch counts as used from this bind on, late ones, too. */
static void count_used(const struct bind *bind, soft_graph_arena *arena)
{
    struct graph_pool *pool = bind->memory->graphs;
    for (uint32_t i = 0; i < soft_arena_segments(arena); i++) {
        struct graph_segment *segment = arena->segments[i];
        if (!segment || segment->used || !is_touched(arena, i))
            continue;
        segment->used = pool->stamp;
        if (++pool->used_count > pool->used_high)
            pool->used_high = pool->used_count;
    }
    arena->grown = false;
}

/* Finds a segment for a part of an arena that nothing runs in. */
static bool find_other(const struct bind *bind, soft_graph_arena *arena, uint32_t index)
{
    struct graph_pool *pool = bind->memory->graphs;
    struct graph_segment *segment = find_segment(bind, arena, true);
    const uint32_t needed = chunks_short(arena, index, NULL);
    if (!segment && pool->promised + needed <= bind->memory->free_chunk_count) {
        segment = new_segment(bind->memory);
        pool->promised += needed;
    }
    if (!segment) {
        segment = find_segment(bind, arena, false);
        if (!segment || !wait_for(bind, segment))
            return false;
    }
    take(bind, arena, index, segment);
    return true;
}

/* Which parts need a segment: those with a needed slot, and what was asked for together
 * with them. */
static void mark_parts(const struct bind *bind, soft_graph_arena *arena)
{
    const uint32_t count = soft_arena_segments(arena);
    for (uint32_t i = 0; i < count;) {
        const uint32_t first = i, growth = arena->growths[i];
        bool needed = false;
        do {
            needed |= arena->ready ? arena->segments[i] != NULL
                                   : chunks_short(arena, i, NULL) > 0;
            i++;
        } while (bind->user->whole && growth > 0 && i < count &&
                 arena->growths[i] == growth);
        for (uint32_t k = first; needed && k < i; k++)
            if (!arena->ready || arena->segments[k])
                arena->holds[k] |= GRAPH_PART;
    }
}

/* Steps 1 and 2 for one arena. */
static soft_graph_bound choose(const struct bind *bind, soft_graph_arena *arena,
                               soft_point *wait)
{
    const bool idle = soft_graph_use_reached(&arena->use);
    mark_parts(bind, arena);
    for (uint32_t i = 0; i < soft_arena_segments(arena); i++) {
        struct graph_segment *segment = arena->segments[i];
        if (!(arena->holds[i] & GRAPH_PART))
            continue;
        const bool stays = segment && allowed(bind, arena, segment);
        if (stays && (ordered(bind, segment) || !idle)) {
            if (!wait_for(bind, segment))
                return SOFT_GRAPH_NO_ROOM;
            take(bind, arena, i, segment);
        } else if (!idle && segment) {
            *wait = arena->use.points[0].point;
            return SOFT_GRAPH_BUSY;
        } else if (!find_other(bind, arena, i)) {
            return SOFT_GRAPH_NO_ROOM;
        }
    }
    return SOFT_GRAPH_BOUND;
}

/* Step 3: maps runs of slots whose chunks are not the segments' yet. */
static bool map_arena(soft_graph_arena *arena)
{
    soft_memory *memory = arena->memory;
    for (uint32_t at = 0; at < arena->slot_count;) {
        uint32_t chunks[SOFT_SEGMENT_CHUNKS], count = 0;
        bool needed;
        const uint32_t first = soft_arena_slot(arena, at, &needed);
        for (; needed && count < SOFT_SEGMENT_CHUNKS; count++) {
            const uint32_t next = at + count;
            if (next / SOFT_SEGMENT_CHUNKS != at / SOFT_SEGMENT_CHUNKS ||
                next >= arena->slot_count ||
                soft_arena_slot(arena, next, &needed) != first + count || !needed)
                break;
            chunks[count] = arena->segments[at / SOFT_SEGMENT_CHUNKS]
                                ->chunks[next % SOFT_SEGMENT_CHUNKS];
            if (memory->slots[first + count].chunk == chunks[count])
                break;
        }
        const uint64_t before = memory->map_calls;
        if (count > 0 &&
            !soft_slots_map(memory, first, count, chunks, PROT_READ | PROT_WRITE))
            return false;
        memory->graphs->maps += memory->map_calls - before;
        at += count ? count : 1;
    }
    return true;
}

/* A bind failed: what it took again goes back. */
static void undo(const struct bind *bind)
{
    struct graph_pool *pool = bind->memory->graphs;
    for (uint32_t a = 0; a < bind->user->arena_count; a++) {
        soft_graph_arena *arena = bind->user->arenas[a];
        if (arena->memory != bind->memory)
            continue;
        for (uint32_t i = 0; i < soft_arena_segments(arena); i++)
            if (arena->segments[i] && (arena->segments[i]->made == pool->stamp ||
                                       arena->segments[i]->used == pool->stamp))
                soft_arena_unbind_segment(arena, i);
    }
    pool->segment_high = pool->segment_high_before;
    pool->used_high = pool->used_high_before;
    for (struct graph_segment **at = &pool->segments; *at;)
        if ((*at)->made == pool->stamp) {
            free_segment(bind->memory, at);
        } else {
            if ((*at)->used == pool->stamp)
                give_chunks(bind->memory, *at);
            at = &(*at)->next;
        }
}

/* Which parts will hold live memory. */
static void mark_holds(const struct bind *bind)
{
    const soft_graph_user *user = bind->user;
    for (uint32_t a = 0; a < user->arena_count; a++)
        if (user->arenas[a]->memory == bind->memory && user->arenas[a]->holds)
            memset(user->arenas[a]->holds, 0, user->arenas[a]->segment_capacity);
    for (uint32_t i = 0; i < user->unfreed_count; i++) {
        const soft_graph_alloc *alloc = user->unfreed[i];
        uint32_t first, end;
        if (alloc->arena->memory != bind->memory)
            continue;
        soft_alloc_segments(alloc, &first, &end);
        for (; first < end; first++)
            alloc->arena->holds[first] = GRAPH_HOLDS;
    }
}

/* Room for the point of the launch, and one for each free of what is live then. */
static bool reserve_points(const struct bind *bind, soft_graph_arena *arena)
{
    const uint32_t more = bind->user->unfreed_count + 1;
    if (!reserve_use(bind->memory, &arena->use, more + arena->live_count))
        return false;
    for (uint32_t i = 0; i < soft_arena_segments(arena); i++)
        if (arena->segments[i] && !reserve_use(bind->memory, &arena->segments[i]->use,
                                               more + arena->segments[i]->live))
            return false;
    return true;
}

static soft_graph_bound bind_on(const struct bind *bind, soft_point *wait)
{
    const soft_graph_user *user = bind->user;
    struct graph_pool *pool = bind->memory->graphs;
    pool->stamp++;
    pool->promised = 0;
    pool->segment_high_before = pool->segment_high;
    pool->used_high_before = pool->used_high;
    soft_graph_bound bound = SOFT_GRAPH_BOUND;
    mark_holds(bind);
    for (uint32_t a = 0; bound == SOFT_GRAPH_BOUND && a < user->arena_count; a++)
        if (user->arenas[a]->memory == bind->memory)
            bound = choose(bind, user->arenas[a], wait);
    for (uint32_t a = 0; bound == SOFT_GRAPH_BOUND && a < user->arena_count; a++) {
        soft_graph_arena *arena = user->arenas[a];
        if (arena->memory != bind->memory)
            continue;
        bool done = reserve_points(bind, arena);
        for (uint32_t i = 0; done && !arena->ready && i < soft_arena_segments(arena); i++)
            if (arena->segments[i])
                done = fill_chunks(arena, i);
        if (done && (arena->grown || !arena->ready))
            count_used(bind, arena);
        if (done && !arena->ready)
            done = arena->ready = map_arena(arena);
        if (!done)
            bound = SOFT_GRAPH_NO_ROOM;
    }
    if (bound != SOFT_GRAPH_BOUND)
        undo(bind);
    return bound;
}

soft_graph_bound soft_graph_bind(const soft_graph_user *user, soft_queue *queue,
                                 soft_graph_waits *waits, soft_point *wait)
{
    soft_graph_bound bound = SOFT_GRAPH_BOUND;
    for (uint32_t a = 0; bound == SOFT_GRAPH_BOUND && a < user->arena_count; a++) {
        soft_memory *memory = user->arenas[a]->memory;
        bool seen = false;
        for (uint32_t b = 0; b < a; b++)
            seen |= user->arenas[b]->memory == memory;
        if (seen)
            continue;
        const struct bind bind = {user, queue, memory, waits};
        pthread_mutex_lock(&memory->mutex);
        bound = bind_on(&bind, wait);
        pthread_mutex_unlock(&memory->mutex);
    }
    return bound;
}

/* ---- live memory ------------------------------------------------------------------- */

static void make_live(soft_graph_alloc *alloc)
{
    soft_graph_arena *arena = alloc->arena;
    soft_memory *memory = arena->memory;
    struct graph_pool *pool = memory->graphs;
    if (alloc->live)
        return; /* freed and allocated again by this launch */
    alloc->live = true;
    alloc->info.buffer_id = soft_next_buffer_id();
    arena->live_count++;
    arena->references++;
    uint32_t first, end;
    soft_alloc_segments(alloc, &first, &end);
    for (; first < end; first++) {
        arena->segments[first]->live++;
        arena->segments[first]->holder = arena;
    }
    pool->live_bytes += alloc->info.bytes;
    soft_memory_count(memory, (int64_t)alloc->info.bytes);
}

void soft_graph_launched(const soft_graph_user *user, soft_point done)
{
    for (uint32_t a = 0; a < user->arena_count; a++) {
        soft_graph_arena *arena = user->arenas[a];
        pthread_mutex_lock(&arena->memory->mutex);
        add_use(&arena->use, done, user->id);
        for (uint32_t i = 0; i < soft_arena_segments(arena); i++)
            if (arena->segments[i])
                add_use(&arena->segments[i]->use, done, user->id);
        pthread_mutex_unlock(&arena->memory->mutex);
    }
    for (uint32_t i = 0; i < user->unfreed_count; i++) {
        soft_memory *memory = user->unfreed[i]->arena->memory;
        pthread_mutex_lock(&memory->mutex);
        make_live(user->unfreed[i]);
        pthread_mutex_unlock(&memory->mutex);
    }
}

bool soft_graph_alloc_claim(soft_graph_alloc *alloc)
{
    soft_memory *memory = alloc->arena->memory;
    pthread_mutex_lock(&memory->mutex);
    const bool live = alloc->live && !alloc->claimed;
    if (live)
        alloc->claimed = true;
    pthread_mutex_unlock(&memory->mutex);
    return live;
}

void soft_graph_alloc_keep(soft_graph_alloc *alloc)
{
    soft_memory *memory = alloc->arena->memory;
    pthread_mutex_lock(&memory->mutex);
    alloc->claimed = false;
    pthread_mutex_unlock(&memory->mutex);
}

void soft_graph_alloc_freed(soft_graph_alloc *alloc, soft_point freed)
{
    soft_graph_arena *arena = alloc->arena;
    soft_memory *memory = arena->memory;
    pthread_mutex_lock(&memory->mutex);
    alloc->live = alloc->claimed = false;
    arena->live_count--;
    add_use(&arena->use, freed, 0);
    uint32_t first, end;
    soft_alloc_segments(alloc, &first, &end);
    for (; first < end; first++) {
        arena->segments[first]->live--;
        add_use(&arena->segments[first]->use, freed, 0);
    }
    memory->graphs->live_bytes -= alloc->info.bytes;
    soft_memory_count(memory, -(int64_t)alloc->info.bytes);
    soft_memory_note_freed(memory, alloc->info.base, alloc->info.bytes);
    soft_arena_drop_reference(arena);
    pthread_mutex_unlock(&memory->mutex);
}

/* ---- figures ----------------------------------------------------------------------- */

void soft_graph_get_stats(soft_memory *memory, soft_graph_stats *out)
{
    *out = (soft_graph_stats){0};
    pthread_mutex_lock(&memory->mutex);
    const struct graph_pool *pool = memory->graphs;
    if (pool)
        *out = (soft_graph_stats){
            .live_bytes = pool->live_bytes,
            .used_bytes = pool->used_count * SOFT_SEGMENT_BYTES,
            .used_high_bytes = pool->used_high * SOFT_SEGMENT_BYTES,
            .reserved_bytes = pool->segment_count * SOFT_SEGMENT_BYTES,
            .reserved_high_bytes = pool->segment_high * SOFT_SEGMENT_BYTES,
            .physical_bytes = pool->chunk_count * SOFT_CHUNK_BYTES,
            .physical_high_bytes = pool->chunk_high * SOFT_CHUNK_BYTES,
            .maps = pool->maps};
    pthread_mutex_unlock(&memory->mutex);
}

void soft_graph_reset_high(soft_memory *memory, bool used, bool reserved)
{
    pthread_mutex_lock(&memory->mutex);
    struct graph_pool *pool = memory->graphs;
    if (pool && used)
        pool->used_high = pool->used_count;
    if (pool && reserved)
        pool->segment_high = pool->segment_count;
    pthread_mutex_unlock(&memory->mutex);
}
