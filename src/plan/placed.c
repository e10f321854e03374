// SPDX-License-Identifier: Apache-2.0
/* Which of the placed buffers live together with another one. */
#include "plan/placed.h"

#include <string.h>

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

gph_status gphi_placed_init(gphi_placed *t, const gphi_problem *p)
{
    *t = (gphi_placed){.problem = p, .leaf_count = 1};
    while (t->leaf_count < p->count)
        t->leaf_count *= 2;
    t->by_begin = gphi_heap_array(p->heap, p->count, sizeof(uint32_t));
    t->leaf = gphi_heap_array(p->heap, p->count, sizeof(uint32_t));
    t->found = gphi_heap_array(p->heap, p->count, sizeof(uint32_t));
    t->stack = gphi_heap_array(p->heap, DEPTH_MAX, sizeof(uint32_t));
    t->end = gphi_heap_array(p->heap, (size_t)t->leaf_count * 2, sizeof(uint32_t));
    if (!t->by_begin || !t->leaf || !t->found || !t->stack || !t->end)
        return GPH_E_NO_MEMORY;
    gphi_placed_clear(t);
    return sort_by_begin(t);
}

void gphi_placed_fini(gphi_placed *t)
{
    const gphi_problem *p = t->problem;
    gphi_heap_free(p->heap, t->by_begin, p->count * sizeof(uint32_t));
    gphi_heap_free(p->heap, t->leaf, p->count * sizeof(uint32_t));
    gphi_heap_free(p->heap, t->found, p->count * sizeof(uint32_t));
    gphi_heap_free(p->heap, t->stack, DEPTH_MAX * sizeof(uint32_t));
    gphi_heap_free(p->heap, t->end, (size_t)t->leaf_count * 2 * sizeof(uint32_t));
}

void gphi_placed_clear(gphi_placed *t)
{
    memset(t->end, 0, (size_t)t->leaf_count * 2 * sizeof(*t->end));
}

void gphi_placed_add(gphi_placed *t, uint32_t buffer)
{
    const uint32_t end = t->problem->last[buffer] + 1;
    for (uint32_t node = t->leaf_count + t->leaf[buffer]; node != 0; node /= 2)
        if (t->end[node] < end)
            t->end[node] = end;
}

void gphi_placed_meet(gphi_placed *t, uint32_t buffer)
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
                t->found[t->found_count++] = other;
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
}
