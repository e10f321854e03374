// SPDX-License-Identifier: Apache-2.0
/* Noting accesses. A thread remembers the pages that it met last, so that most accesses
 * take no lock: they set bits that are set already. */
#include "softcuda/check/trace.h"

#include <string.h>

#include "base/hash.h"
#include "base/heap.h"
#include "base/vec.h"
#include "softcuda/check/touched.h"

#define TABLE_LEAST 16u

/* Of one trace in one launch, so what was forgotten is not found again. */
static atomic_uint_fast64_t last_serial;

static uint64_t next_serial(void)
{
    return atomic_fetch_add_explicit(&last_serial, 1, memory_order_relaxed) + 1;
}

static uint64_t hash(uint64_t page, uint32_t line, uint8_t kind)
{
    return gphi_hash_word(gphi_hash_word(GPHI_HASH_START, page * 8 + kind), line);
}

soft_trace *soft_trace_create(struct soft_race *race)
{
    soft_trace *trace = gphi_heap_alloc(race->heap, sizeof(*trace));
    if (!trace)
        return NULL;
    trace->race = race;
    atomic_init(&trace->serial, next_serial());
    pthread_mutex_init(&trace->mutex, NULL);
    return trace;
}

void soft_trace_destroy(soft_trace *trace)
{
    if (!trace)
        return;
    const gph_allocator heap = trace->race->heap;
    gphi_heap_free(heap, trace->table, trace->capacity * sizeof(*trace->table));
    gphi_heap_free(heap, trace->spans, trace->span_capacity * sizeof(*trace->spans));
    pthread_mutex_destroy(&trace->mutex);
    gphi_heap_free(heap, trace, sizeof(*trace));
}

/* The entries themselves are the race's. */
void soft_trace_forget(soft_trace *trace)
{
    pthread_mutex_lock(&trace->mutex);
    atomic_store_explicit(&trace->serial, next_serial(), memory_order_relaxed);
    if (trace->count > 0)
        memset(trace->table, 0, trace->capacity * sizeof(*trace->table));
    trace->count = trace->span_count = 0;
    trace->ran.kernel = NULL;
    pthread_mutex_unlock(&trace->mutex);
}

/* An empty entry, or NULL. */
static struct touched *take_entry(struct soft_race *race)
{
    struct touched *entry = NULL;
    pthread_mutex_lock(&race->mutex);
    if (race->spare) {
        entry = race->spare;
        race->spare = entry->next;
    } else if (race->touched_count < TOUCHED_MOST) {
        if (!race->filling || race->filled == SLAB_COUNT) {
            struct slab *next = race->filling ? race->filling->next : race->slabs;
            if (!next) {
                next = gphi_heap_alloc(race->heap, sizeof(*next));
                if (next && race->filling)
                    race->filling->next = next;
                else if (next)
                    race->slabs = next;
            }
            if (next) {
                race->filling = next;
                race->filled = 0;
            }
        }
        if (race->filling && race->filled < SLAB_COUNT) {
            entry = &race->filling->entries[race->filled++];
            race->touched_count++;
        }
    }
    pthread_mutex_unlock(&race->mutex);
    if (!entry)
        atomic_store_explicit(&race->incomplete, true, memory_order_relaxed);
    return entry;
}

/* A table that cannot grow gets longer chains, and nothing is lost. */
static bool grow_table(soft_trace *trace)
{
    const gph_allocator heap = trace->race->heap;
    const uint32_t capacity = trace->capacity ? 2 * trace->capacity : TABLE_LEAST;
    struct touched **table = gphi_heap_array(heap, capacity, sizeof(*table));
    if (!table)
        return false;
    for (uint32_t i = 0; i < trace->capacity; i++)
        for (struct touched *t = trace->table[i], *next; t; t = next) {
            struct touched **place =
                &table[hash(t->page, t->line, t->kind) & (capacity - 1)];
            next = t->next;
            t->next = *place;
            *place = t;
        }
    gphi_heap_free(heap, trace->table, trace->capacity * sizeof(*trace->table));
    trace->table = table;
    trace->capacity = capacity;
    return true;
}

/* With the trace's mutex: two workers may meet the same page first. */
static struct touched *add_locked(soft_trace *trace, uint64_t page,
                                  const soft_touch *touch, uint8_t kind)
{
    if (trace->count >= trace->capacity && !grow_table(trace) && trace->capacity == 0) {
        atomic_store_explicit(&trace->race->incomplete, true, memory_order_relaxed);
        return NULL;
    }
    struct touched *entry = take_entry(trace->race);
    if (!entry)
        return NULL;
    for (uint32_t i = 0; i < TOUCHED_WORDS; i++)
        atomic_store_explicit(&entry->bits[i], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < FIRST_COUNT; i++)
        atomic_store_explicit(&entry->first[i], UINT64_MAX, memory_order_relaxed);
    entry->page = page;
    entry->line = touch->line;
    entry->kind = kind;
    entry->bytes = (uint8_t)touch->bytes;
    struct touched **place =
        &trace->table[hash(page, touch->line, kind) & (trace->capacity - 1)];
    entry->next = *place;
    *place = entry;
    trace->count++;
    return entry;
}

static struct touched *find(soft_trace *trace, soft_trace_memory *memory, uint64_t page,
                            const soft_touch *touch)
{
    const uint8_t kind =
        (uint8_t)((touch->write ? KIND_WRITE : 0) | (touch->strong ? KIND_STRONG : 0));
    const uint64_t key = hash(page, touch->line, kind);
    const uint64_t serial = atomic_load_explicit(&trace->serial, memory_order_relaxed);
    struct soft_trace_seen *seen =
        &memory->seen[key % (sizeof(memory->seen) / sizeof(memory->seen[0]))];
    if (seen->serial == serial && seen->page == page && seen->line == touch->line &&
        seen->kind == kind)
        return seen->touched;
    pthread_mutex_lock(&trace->mutex);
    struct touched *entry =
        trace->capacity ? trace->table[key & (trace->capacity - 1)] : NULL;
    while (entry &&
           (entry->page != page || entry->line != touch->line || entry->kind != kind))
        entry = entry->next;
    if (!entry)
        entry = add_locked(trace, page, touch, kind);
    pthread_mutex_unlock(&trace->mutex);
    if (entry)
        *seen = (struct soft_trace_seen){serial, page, touch->line, kind, entry};
    return entry;
}

/* The least is kept: of the lowest address, then of the first block and thread. */
static void note_first(struct touched *entry, uint32_t offset, const soft_touch *touch)
{
    _Atomic uint64_t *place = &entry->first[offset / FIRST_BYTES];
    const uint64_t mine = (uint64_t)(offset % FIRST_BYTES) << 56 |
                          (touch->block & 0xffffffffffull) << 16 |
                          (touch->thread & 0xffff);
    uint64_t now = atomic_load_explicit(place, memory_order_relaxed);
    while (mine < now &&
           !atomic_compare_exchange_weak_explicit(place, &now, mine, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
}

static void set_bits(struct touched *entry, uint32_t offset, uint32_t bytes)
{
    while (bytes > 0) {
        const uint32_t bit = offset % 64;
        const uint32_t take = bytes < 64 - bit ? bytes : 64 - bit;
        const uint64_t mask = (take == 64 ? ~0ull : (1ull << take) - 1) << bit;
        _Atomic uint64_t *word = &entry->bits[offset / 64];
        if ((atomic_load_explicit(word, memory_order_relaxed) & mask) != mask)
            atomic_fetch_or_explicit(word, mask, memory_order_relaxed);
        offset += take;
        bytes -= take;
    }
}

void soft_trace_touch(soft_trace *trace, soft_trace_memory *memory,
                      const soft_touch *touch)
{
    uint64_t address = touch->address;
    for (uint32_t left = touch->bytes; left > 0;) {
        const uint32_t offset = (uint32_t)(address % TOUCHED_BYTES);
        const uint32_t take =
            left < TOUCHED_BYTES - offset ? left : TOUCHED_BYTES - offset;
        struct touched *entry = find(trace, memory, address / TOUCHED_BYTES, touch);
        if (!entry)
            return;
        set_bits(entry, offset, take);
        if (address == touch->address)
            note_first(entry, offset, touch);
        address += take;
        left -= take;
    }
}

/* Rows of copies and fills are kept as ranges: they touch each byte, so bits would say
 * no more. */
static void add_span_locked(soft_trace *trace, uint64_t start, uint64_t bytes,
                            uint8_t kind)
{
    struct span *spans =
        gphi_array_room(trace->race->heap, trace->spans, &trace->span_capacity,
                        trace->span_count + 1ull, sizeof(*spans));
    if (!spans) {
        atomic_store_explicit(&trace->race->incomplete, true, memory_order_relaxed);
        return;
    }
    trace->spans = spans;
    trace->spans[trace->span_count++] = (struct span){start, start + bytes, kind};
}

void soft_trace_rows(soft_trace *trace, const soft_touched_rows *touched)
{
    uint64_t bytes = touched->bytes, rows = touched->rows;
    const uint8_t kind = (uint8_t)((touched->write ? KIND_WRITE : 0) |
                                   (touched->strong ? KIND_STRONG : 0));
    if (bytes == 0 || rows == 0)
        return;
    if (rows > 1 && touched->pitch == bytes) {
        bytes *= rows;
        rows = 1;
    }
    pthread_mutex_lock(&trace->mutex);
    for (uint64_t y = 0; y < rows; y++)
        add_span_locked(trace, touched->address + y * touched->pitch, bytes, kind);
    pthread_mutex_unlock(&trace->mutex);
}

void soft_trace_kernel(soft_trace *trace, const char *name, const uint32_t grid[3],
                       const uint32_t block[3])
{
    pthread_mutex_lock(&trace->mutex);
    trace->ran.kernel = name;
    memcpy(trace->ran.grid, grid, sizeof(trace->ran.grid));
    memcpy(trace->ran.block, block, sizeof(trace->ran.block));
    pthread_mutex_unlock(&trace->mutex);
}

bool soft_trace_excuses(soft_trace *trace, uint64_t address, uint64_t bytes)
{
    const struct soft_race *race = trace->race;
    bool excused = false;
    uint32_t i, end;
    soft_race_find_windows(race, address, address + bytes, &i, &end);
    for (; i < end && !excused; i++) {
        const soft_race_window *w = &race->windows[i];
        excused = address >= w->base && address + bytes <= w->base + w->bytes;
    }
    return excused;
}

/* ---- rounds ------------------------------------------------------------------------ */

static void add_bits(struct touched *to, const struct touched *from)
{
    for (uint32_t i = 0; i < TOUCHED_WORDS; i++)
        atomic_fetch_or_explicit(
            &to->bits[i], atomic_load_explicit(&from->bits[i], memory_order_relaxed),
            memory_order_relaxed);
    for (uint32_t i = 0; i < FIRST_COUNT; i++) {
        const uint64_t mine = atomic_load_explicit(&from->first[i], memory_order_relaxed);
        if (mine < atomic_load_explicit(&to->first[i], memory_order_relaxed))
            atomic_store_explicit(&to->first[i], mine, memory_order_relaxed);
    }
}

/* The entry goes over, or its bits do and it is there for the next round. */
static void merge_entry(soft_trace *to, struct touched *entry)
{
    const uint64_t key = hash(entry->page, entry->line, entry->kind);
    struct touched *same = to->capacity ? to->table[key & (to->capacity - 1)] : NULL;
    while (same && (same->page != entry->page || same->line != entry->line ||
                    same->kind != entry->kind))
        same = same->next;
    if (same || (to->count >= to->capacity && !grow_table(to) && to->capacity == 0)) {
        struct soft_race *race = to->race;
        if (same)
            add_bits(same, entry);
        else
            atomic_store_explicit(&race->incomplete, true, memory_order_relaxed);
        pthread_mutex_lock(&race->mutex);
        entry->next = race->spare;
        race->spare = entry;
        pthread_mutex_unlock(&race->mutex);
        return;
    }
    struct touched **place = &to->table[key & (to->capacity - 1)];
    entry->next = *place;
    *place = entry;
    to->count++;
}

/* A copy touches the same rows in each round, most often. */
static void merge_spans(soft_trace *to, const soft_trace *from)
{
    for (uint32_t i = 0; i < from->span_count; i++) {
        const struct span *span = &from->spans[i];
        const struct span *same = i < to->span_count ? &to->spans[i] : NULL;
        if (!same || same->start != span->start || same->end != span->end ||
            same->kind != span->kind)
            add_span_locked(to, span->start, span->end - span->start, span->kind);
    }
}

void soft_trace_merge(soft_trace *trace)
{
    soft_trace *to = trace->outer;
    pthread_mutex_lock(&trace->mutex);
    pthread_mutex_lock(&to->mutex);
    for (uint32_t i = 0; i < trace->capacity; i++)
        for (struct touched *entry = trace->table[i], *next; entry; entry = next) {
            next = entry->next;
            merge_entry(to, entry);
        }
    merge_spans(to, trace);
    if (trace->ran.kernel) {
        to->ran.kernel = trace->ran.kernel;
        memcpy(to->ran.grid, trace->ran.grid, sizeof(to->ran.grid));
        memcpy(to->ran.block, trace->ran.block, sizeof(to->ran.block));
    }
    pthread_mutex_unlock(&to->mutex);
    pthread_mutex_unlock(&trace->mutex);
    soft_trace_forget(trace);
}
