// SPDX-License-Identifier: Apache-2.0
/* Checks what the caller passes and cuts time into sections. */
#include "plan/problem.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/vec.h"

#define BYTES_MAX (UINT64_C(1) << 62) /* sums stay far from overflow */

static gph_status check_buffer(const gph_plan_buffer *b, size_t at, uint32_t bodies,
                               uint64_t *sum, gph_error *error)
{
    if (b->upper <= b->lower)
        return gphi_fail(
            error, GPH_E_INVALID,
            "buffer %zu lives from %llu to %llu: it must end after it begins", at,
            (unsigned long long)b->lower, (unsigned long long)b->upper);
    if (b->size == 0)
        return gphi_fail(error, GPH_E_INVALID, "buffer %zu has 0 bytes", at);
    const uint64_t most = b->alignment > b->size ? b->alignment : b->size;
    if (most > BYTES_MAX - *sum || b->alignment > BYTES_MAX - *sum - most)
        return gphi_fail(
            error, GPH_E_INVALID,
            "buffers up to number %zu take more than 2^62 bytes (%llu bytes, "
            "alignment %llu)",
            at, (unsigned long long)b->size, (unsigned long long)b->alignment);
    *sum += most + b->alignment;
    if (b->body > bodies)
        return gphi_fail(error, GPH_E_INVALID, "buffer %zu is of body %u: there are %u",
                         at, b->body, bodies);
    if (!b->pinned)
        return GPH_OK;
    if (b->alignment > 1 && b->offset % b->alignment != 0)
        return gphi_fail(
            error, GPH_E_INVALID,
            "buffer %zu is pinned at %llu, not a multiple of its alignment %llu", at,
            (unsigned long long)b->offset, (unsigned long long)b->alignment);
    if (b->offset > BYTES_MAX - b->size)
        return gphi_fail(error, GPH_E_INVALID,
                         "buffer %zu is pinned at %llu: beyond 2^62", at,
                         (unsigned long long)b->offset);
    return GPH_OK;
}

static uint32_t index_of(const uint64_t *times, uint32_t count, uint64_t time)
{
    const uint64_t *at =
        (const uint64_t *)bsearch(&time, times, count, sizeof(*times), gphi_by_first);
    return (uint32_t)(at - times);
}

/* Sections lie between neighboring times at which some life begins or ends. */
static gph_status cut(gphi_problem *p)
{
    const size_t room = (size_t)p->count * 2;
    uint64_t *times = gphi_heap_array(p->heap, room, sizeof(*times));
    if (!times)
        return GPH_E_NO_MEMORY;
    for (uint32_t i = 0; i < p->count; i++) {
        times[2 * i] = p->buffers[i].lower;
        times[2 * i + 1] = gphi_bodies_upper(&p->bodies, &p->buffers[i]);
    }
    qsort(times, room, sizeof(*times), gphi_by_first);
    uint32_t count = 0;
    for (size_t i = 0; i < room; i++)
        if (count == 0 || times[count - 1] != times[i])
            times[count++] = times[i];
    p->section_count = count - 1;
    for (uint32_t i = 0; i < p->count; i++) {
        p->first[i] = index_of(times, count, p->buffers[i].lower);
        p->last[i] =
            index_of(times, count, gphi_bodies_upper(&p->bodies, &p->buffers[i])) - 1;
    }
    gphi_heap_free(p->heap, times, room * sizeof(*times));
    return GPH_OK;
}

/* Of a body in a section: what begins and what ends at its border. */
struct change {
    uint32_t section, body;
    uint64_t bytes; /* modulo 2^64; sums are right again */
};

static int by_section(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return (x->section > y->section) - (x->section < y->section);
}

/* The bytes that live in each section; the most of them, and the highest pinned end, are
 * what no plan is lower than. */
static gph_status measure(gphi_problem *p)
{
    const size_t room = (size_t)p->count * 2;
    struct change *changes = gphi_heap_array(p->heap, room, sizeof(*changes));
    if (!changes)
        return GPH_E_NO_MEMORY;
    for (uint32_t i = 0; i < p->count; i++) {
        const gph_plan_buffer *b = &p->buffers[i];
        changes[2 * i] = (struct change){p->first[i], b->body, b->size};
        changes[2 * i + 1] = (struct change){p->last[i] + 1, b->body, 0 - b->size};
        if (b->pinned && b->offset + b->size > p->bound)
            p->bound = b->offset + b->size;
    }
    qsort(changes, room, sizeof(*changes), by_section);
    size_t at = 0;
    for (uint32_t s = 0; s < p->section_count; s++) {
        while (at < room && changes[at].section <= s) {
            gphi_bodies_add(&p->bodies, changes[at].body, changes[at].bytes);
            at++;
        }
        p->live[s] = gphi_bodies_bytes(&p->bodies);
        if (p->live[s] > p->bound)
            p->bound = p->live[s];
    }
    gphi_heap_free(p->heap, changes, room * sizeof(*changes));
    return GPH_OK;
}

gph_status gphi_problem_init(gphi_problem *p, const gph_plan_buffer *buffers,
                             size_t count, const gph_plan_body *bodies, size_t body_count,
                             gph_allocator heap, gph_error *error)
{
    *p = (gphi_problem){.heap = heap, .buffers = buffers};
    if (count > UINT32_MAX / 4)
        return gphi_fail(error, GPH_E_INVALID, "%zu buffers: at most %u are planned",
                         count, UINT32_MAX / 4);
    uint64_t sum = 0;
    GPHI_TRY(gphi_bodies_init(&p->bodies, bodies, body_count, heap, error));
    for (size_t i = 0; i < count; i++) {
        GPHI_TRY(check_buffer(&buffers[i], i, p->bodies.count, &sum, error));
        p->pinned |= buffers[i].pinned != 0;
    }
    if (count == 0)
        return GPH_OK;
    p->count = (uint32_t)count;
    p->first = gphi_heap_array(heap, count, sizeof(*p->first));
    p->last = gphi_heap_array(heap, count, sizeof(*p->last));
    p->live = gphi_heap_array(heap, count * 2, sizeof(*p->live));
    return gphi_made(
        error, p->first && p->last && p->live && cut(p) == GPH_OK && measure(p) == GPH_OK,
        "planning %zu buffers", count);
}

void gphi_problem_fini(gphi_problem *p)
{
    gphi_heap_free(p->heap, p->first, p->count * sizeof(*p->first));
    gphi_heap_free(p->heap, p->last, p->count * sizeof(*p->last));
    gphi_heap_free(p->heap, p->live, (size_t)p->count * 2 * sizeof(*p->live));
    gphi_bodies_fini(&p->bodies);
}

int gphi_plan_by_key(const void *a, const void *b)
{
    const gphi_keyed *x = (const gphi_keyed *)a, *y = (const gphi_keyed *)b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

double gphi_plan_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)(*state * UINT64_C(2685821657736338717) >> 11) * 0x1p-53;
}

bool gphi_plan_is_over(gphi_plan_clock *clock)
{
    const uint64_t now = gphi_clock_ns();
    if (now >= clock->end_ns || (clock->step_limit && clock->steps >= clock->step_limit))
        clock->over = true;
    if (clock->over || !clock->progress || now < clock->next_ns)
        return clock->over;
    clock->next_ns = now + 100 * 1000 * 1000;
    clock->now.elapsed_s = (double)(now - clock->begin_ns) / 1e9;
    clock->now.steps = clock->steps;
    if (clock->progress(clock->user, &clock->now) != 0)
        clock->over = true;
    return clock->over;
}
