// SPDX-License-Identifier: Apache-2.0
/* A sorted list in chunks. A chunk that is full is cut in two, and joins the next one when
 * both together are half full, so chunks are never more than a few times what they must be. */
#include "plan/levels.h"

#include <string.h>

#define CHUNK 256u

struct item {
    uint64_t key;
    uint32_t buffer, first, last;
};

struct chunk {
    uint32_t count, first,
        last; /* sections between which its buffers live, and maybe more */
    struct item items[CHUNK];
};

struct gphi_levels {
    const gphi_problem *problem;
    struct chunk **chunks; /* in order; those from `count` on are free */
    uint32_t count, room;
};

static size_t chunks_of(const gphi_problem *p)
{
    return (size_t)p->count * 4 / CHUNK + 3;
}

gphi_levels *gphi_levels_create(const gphi_problem *p)
{
    gphi_levels *l = gphi_heap_alloc(p->heap, sizeof(*l));
    if (!l)
        return NULL;
    *l = (gphi_levels){.problem = p};
    l->chunks = gphi_heap_array(p->heap, chunks_of(p), sizeof(struct chunk *));
    for (size_t i = 0; l->chunks && i < chunks_of(p); i++, l->room++) {
        l->chunks[i] = gphi_heap_alloc(p->heap, sizeof(struct chunk));
        if (!l->chunks[i])
            break;
    }
    if (l->room < chunks_of(p)) {
        gphi_levels_destroy(l);
        return NULL;
    }
    gphi_levels_clear(l);
    return l;
}

void gphi_levels_destroy(gphi_levels *l)
{
    if (!l)
        return;
    const gphi_problem *p = l->problem;
    for (uint32_t i = 0; i < l->room; i++)
        gphi_heap_free(p->heap, l->chunks[i], sizeof(struct chunk));
    gphi_heap_free(p->heap, l->chunks, chunks_of(p) * sizeof(struct chunk *));
    gphi_heap_free(p->heap, l, sizeof(*l));
}

void gphi_levels_clear(gphi_levels *l)
{
    l->count = 1;
    l->chunks[0]->count = 0;
}

/* The last chunk that begins at or below the key; of equal keys and buffers, too. */
static uint32_t chunk_of(const gphi_levels *l, uint64_t key, uint32_t buffer)
{
    uint32_t low = 0, high = l->count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        const struct item *first = &l->chunks[middle]->items[0];
        if (first->key < key || (first->key == key && first->buffer <= buffer))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The first place whose item is not below it. */
static uint32_t place_in(const struct chunk *c, uint64_t key, uint32_t buffer)
{
    uint32_t low = 0, high = c->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct item *item = &c->items[middle];
        if (item->key < key || (item->key == key && item->buffer < buffer))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void measure(struct chunk *c)
{
    c->first = UINT32_MAX;
    c->last = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        c->first = c->items[i].first < c->first ? c->items[i].first : c->first;
        c->last = c->items[i].last > c->last ? c->items[i].last : c->last;
    }
}

/* A free chunk comes after chunk `at`. */
static struct chunk *insert_chunk(gphi_levels *l, uint32_t at)
{
    struct chunk *fresh = l->chunks[l->count];
    memmove(&l->chunks[at + 2], &l->chunks[at + 1],
            (l->count - at - 1) * sizeof(*l->chunks));
    l->chunks[at + 1] = fresh;
    l->count++;
    return fresh;
}

static void cut(gphi_levels *l, uint32_t at)
{
    struct chunk *c = l->chunks[at], *fresh = insert_chunk(l, at);
    fresh->count = c->count / 2;
    c->count -= fresh->count;
    memcpy(fresh->items, &c->items[c->count], fresh->count * sizeof(struct item));
    measure(c);
    measure(fresh);
}

static void join(gphi_levels *l, uint32_t at)
{
    struct chunk *c = l->chunks[at], *next = l->chunks[at + 1];
    memcpy(&c->items[c->count], next->items, next->count * sizeof(struct item));
    c->count += next->count;
    l->count--;
    memmove(&l->chunks[at + 1], &l->chunks[at + 2],
            (l->count - at - 1) * sizeof(*l->chunks));
    l->chunks[l->count] = next;
    measure(c);
}

void gphi_levels_add(gphi_levels *l, uint32_t buffer, uint64_t key)
{
    const gphi_problem *p = l->problem;
    uint32_t at = chunk_of(l, key, buffer);
    if (l->chunks[at]->count == CHUNK) {
        cut(l, at);
        at = chunk_of(l, key, buffer);
    }
    struct chunk *c = l->chunks[at];
    const uint32_t place = place_in(c, key, buffer);
    const struct item fresh = {key, buffer, p->first[buffer], p->last[buffer]};
    memmove(&c->items[place + 1], &c->items[place], (c->count - place) * sizeof(fresh));
    c->items[place] = fresh;
    if (c->count++ == 0) {
        c->first = fresh.first;
        c->last = fresh.last;
    }
    c->first = fresh.first < c->first ? fresh.first : c->first;
    c->last = fresh.last > c->last ? fresh.last : c->last;
}

void gphi_levels_drop(gphi_levels *l, uint32_t buffer, uint64_t key)
{
    const uint32_t at = chunk_of(l, key, buffer);
    struct chunk *c = l->chunks[at];
    const uint32_t place = place_in(c, key, buffer);
    c->count--;
    memmove(&c->items[place], &c->items[place + 1],
            (c->count - place) * sizeof(*c->items));
    const uint32_t enough =
        c->count == 0 ? CHUNK : CHUNK / 2; /* none is empty beside others */
    if (at + 1 < l->count && c->count + l->chunks[at + 1]->count <= enough)
        join(l, at);
    else if (at > 0 && c->count + l->chunks[at - 1]->count <= enough)
        join(l, at - 1);
}

static uint32_t without_excluded(const gphi_problem *p, uint32_t buffer,
                                 gphi_level *found, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (gphi_plan_meet(p, found[i].buffer, buffer))
            found[kept++] = found[i];
    return kept;
}

uint32_t gphi_levels_meet(const gphi_levels *l, uint32_t buffer, gphi_level *found)
{
    const gphi_problem *p = l->problem;
    const uint32_t first = p->first[buffer], last = p->last[buffer];
    uint32_t count = 0;
    for (uint32_t k = 0; k < l->count; k++) {
        const struct chunk *c = l->chunks[k];
        if (c->first > last || c->last < first)
            continue;
        for (uint32_t i = 0; i < c->count; i++) {
            const struct item *item = &c->items[i];
            found[count] = (gphi_level){item->key, item->buffer};
            count += item->first <= last && item->last >= first && item->buffer != buffer;
        }
    }
    return p->bodies.has_choice ? without_excluded(p, buffer, found, count) : count;
}
