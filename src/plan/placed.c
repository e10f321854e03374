// SPDX-License-Identifier: Apache-2.0
/* Which of the placed buffers live together with another one. */
#include "plan/placed.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define EXPENSIVE                                                                        \
    16u         /* looks at the list, for one that the tree finds and that is sorted */
#define FEW 64u /* are sorted at once */
#define DEPTH_MAX 64u /* of the stack: two a level of the tree */

/* In order of the first section, by counting. */
static gph_status sort_by_begin(gphi_placed *t)
{
    const gphi_problem *p = t->problem;
    const size_t room = (size_t)p->section_count + 1;
    uint32_t *next = gphi_heap_array(p->heap, room, sizeof(*next));
    if (!next)
        return GPH_E_NO_MEMORY;
    memset(next, 0, room * sizeof(*next));
    for (uint32_t i = 0; i < p->count; i++)
        next[p->first[i] + 1]++;
    for (uint32_t s = 0; s < p->section_count; s++)
        next[s + 1] += next[s];
    for (uint32_t i = 0; i < p->count; i++) {
        t->leaf[i] = next[p->first[i]]++;
        t->by_begin[t->leaf[i]] = i;
    }
    gphi_heap_free(p->heap, next, room * sizeof(*next));
    return GPH_OK;
}

/* For each buffer, whether looking at all that is placed is cheaper than finding those that live
 * together with it, and sorting them. */
static gph_status find_crowded(gphi_placed *t)
{
    const gphi_problem *p = t->problem;
    const size_t room = (size_t)p->section_count + 1;
    uint32_t *alive = gphi_heap_array(p->heap, 2 * room, sizeof(*alive));
    if (!alive)
        return GPH_E_NO_MEMORY;
    uint32_t *begun = alive, *ended = alive + room; /* up to a section, before one */
    memset(alive, 0, 2 * room * sizeof(*alive));
    for (uint32_t i = 0; i < p->count; i++) {
        begun[p->first[i]]++;
        ended[p->last[i] + 1]++;
    }
    for (size_t s = 1; s < room; s++) {
        begun[s] += begun[s - 1];
        ended[s] += ended[s - 1];
    }
    for (uint32_t i = 0; i < p->count; i++) {
        const uint32_t together = begun[p->last[i]] - ended[p->first[i]];
        t->crowded[i] = (uint64_t)together * EXPENSIVE > p->count && together > FEW;
        t->is_crowded |= t->crowded[i];
    }
    gphi_heap_free(p->heap, alive, 2 * room * sizeof(*alive));
    return GPH_OK;
}

gph_status gphi_placed_init(gphi_placed *t, const gphi_problem *p)
{
    *t = (gphi_placed){.problem = p, .leaf_count = 1};
    while (t->leaf_count < p->count)
        t->leaf_count *= 2;
    t->by_begin = gphi_heap_array(p->heap, p->count, sizeof(uint32_t));
    t->leaf = gphi_heap_array(p->heap, p->count, sizeof(uint32_t));
    t->found = gphi_heap_array(p->heap, p->count, sizeof(*t->found));
    t->offsets = gphi_heap_array(p->heap, p->count, sizeof(*t->offsets));
    t->crowded = gphi_heap_array(p->heap, p->count, sizeof(*t->crowded));
    if (!t->crowded || find_crowded(t) != GPH_OK)
        return GPH_E_NO_MEMORY;
    t->by_offset = t->is_crowded ? gphi_levels_create(p) : NULL;
    t->stack = gphi_heap_array(p->heap, DEPTH_MAX, sizeof(uint32_t));
    t->end = gphi_heap_array(p->heap, (size_t)t->leaf_count * 2, sizeof(uint32_t));
    if (!t->by_begin || !t->leaf || !t->found || !t->stack || !t->end || !t->offsets ||
        (t->is_crowded && !t->by_offset))
        return GPH_E_NO_MEMORY;
    gphi_placed_clear(t);
    return sort_by_begin(t);
}

void gphi_placed_fini(gphi_placed *t)
{
    const gphi_problem *p = t->problem;
    gphi_heap_free(p->heap, t->by_begin, p->count * sizeof(uint32_t));
    gphi_heap_free(p->heap, t->leaf, p->count * sizeof(uint32_t));
    gphi_heap_free(p->heap, t->found, p->count * sizeof(*t->found));
    gphi_heap_free(p->heap, t->offsets, p->count * sizeof(*t->offsets));
    gphi_heap_free(p->heap, t->crowded, p->count * sizeof(*t->crowded));
    gphi_levels_destroy(t->by_offset);
    gphi_heap_free(p->heap, t->stack, DEPTH_MAX * sizeof(uint32_t));
    gphi_heap_free(p->heap, t->end, (size_t)t->leaf_count * 2 * sizeof(uint32_t));
}

void gphi_placed_clear(gphi_placed *t)
{
    memset(t->end, 0, (size_t)t->leaf_count * 2 * sizeof(*t->end));
    if (t->by_offset)
        gphi_levels_clear(t->by_offset);
}

void gphi_placed_add(gphi_placed *t, uint32_t buffer, uint64_t offset)
{
    const uint32_t end = t->problem->last[buffer] + 1;
    t->offsets[buffer] = offset;
    for (uint32_t node = t->leaf_count + t->leaf[buffer]; node != 0; node /= 2)
        if (t->end[node] < end)
            t->end[node] = end;
    if (t->by_offset)
        gphi_levels_add(t->by_offset, buffer, offset);
}

void gphi_placed_drop(gphi_placed *t, uint32_t buffer)
{
    uint32_t node = t->leaf_count + t->leaf[buffer];
    t->end[node] = 0;
    for (node /= 2; node != 0; node /= 2) {
        const uint32_t left = t->end[2 * node], right = t->end[2 * node + 1];
        t->end[node] = left > right ? left : right;
    }
    if (t->by_offset)
        gphi_levels_drop(t->by_offset, buffer, t->offsets[buffer]);
}

static void meet_by_tree(gphi_placed *t, uint32_t buffer)
{
    const gphi_problem *p = t->problem;
    uint32_t depth = 0;
    t->found_count = 0;
    t->stack[depth++] = 1;
    while (depth != 0) {
        const uint32_t node = t->stack[--depth];
        if (t->end[node] <= p->first[buffer])
            continue;
        if (node >= t->leaf_count) {
            const uint32_t other = t->by_begin[node - t->leaf_count];
            if (gphi_plan_meet(p, other, buffer))
                t->found[t->found_count++] = (gphi_level){t->offsets[other], other};
            continue;
        }
        /* What begins first below the right child: is it too late already? */
        uint32_t right = 2 * node + 1;
        while (right < t->leaf_count)
            right *= 2;
        right -= t->leaf_count;
        if (right < p->count && p->first[t->by_begin[right]] <= p->last[buffer])
            t->stack[depth++] = 2 * node + 1;
        t->stack[depth++] = 2 * node;
    }
    qsort(t->found, t->found_count, sizeof(*t->found), gphi_by_first);
}

void gphi_placed_meet(gphi_placed *t, uint32_t buffer)
{
    if (t->crowded[buffer])
        t->found_count = gphi_levels_meet(t->by_offset, buffer, t->found);
    else
        meet_by_tree(t, buffer);
}
